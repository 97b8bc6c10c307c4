# shellcheck shell=bash
# How the proof of the packages says what held. Sourced by prove-package.sh.

failures=0
work=$(mktemp -d)

pass() { echo "ok      $1"; }
fail() {
    echo "FAILED  $1" >&2
    failures=$((failures + 1))
}
loud() { echo >&2; echo "######## NOT PROVED HERE: $1" >&2; echo >&2; }

# What the last command printed, if it did not do what it should.
tell() { sed 's/^/        /' "$work/output" | tail -n 15 >&2; }

# check WHAT COMMAND…: the command succeeds.
check() {
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1; then pass "$what"; else
        fail "$what: $*"
        tell
    fi
}
# refuse WHAT COMMAND…: the command fails.
refuse() {
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        fail "$what: $*"
        tell
    else pass "$what"; fi
}
# eventually WHAT COMMAND…: the command succeeds within a minute.
eventually() {
    local what=$1 end=$((SECONDS + 60))
    shift
    until "$@" >"$work/output" 2>&1; do
        if [ $SECONDS -ge $end ]; then
            fail "$what: $*"
            tell
            return 0
        fi
        sleep 0.2
    done
    pass "$what"
}

# The block of commands of that name in docs/operations.md, without its indentation.
block() {
    awk -v fence='```sh '"$1" '
        open && /^ *```$/ { exit }
        open { print substr($0, indent + 1) }
        { line = $0; sub(/^ */, "", line) }
        !open && line == fence { open = 1; indent = length($0) - length(line) }
    ' docs/operations.md
}
# page NAME: the commands of that block succeed, as they stand on the page.
page() {
    local commands
    commands=$(block "$1")
    if [ -z "$commands" ]; then fail "docs/operations.md has no block named $1"; else
        check "docs/operations.md, $1" inside bash -ec "cd /packages && export PAGER=cat && $commands"
    fi
}
