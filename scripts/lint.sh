#!/bin/sh
# What the formatter does not look at: build products under version control, leftovers, long files.
set -eu

fail=0
say() {
    echo "lint: $1" >&2
    fail=1
}

tracked=$(git ls-files | grep -E '(^|/)(\.build|\.run|Package\.resolved)(/|$)' || true)
[ -z "$tracked" ] || say "build products are under version control: $tracked"

unfinished=$(git grep -nE '\b(TODO|FIXME|XXX)\b|fatalError\(|try!' -- Sources Tests | grep -v 'ArchitectureTests' || true)
[ -z "$unfinished" ] || say "unfinished or trapping code:
$unfinished"

for file in $(git ls-files '*.swift'); do
    lines=$(wc -l <"$file")
    [ "$lines" -le 700 ] || say "$file has $lines lines; what would a reader come for?"
done

for script in $(git ls-files '*.sh' .ci/run); do
    sh -n "$script" 2>/dev/null || bash -n "$script" || say "$script does not parse"
done

# docs/local-realm.md, "Opening it" says why. What is checked: commands of pages and scripts, those that
# Swift tests start, and Python's connections.
impatient=$(git grep -nP '\bsqlite3 (?!(-\w+ )*-cmd .?["'\''][.]timeout )(?=[-./$'\''%A-Z]|"[./$\\]|\w+[.]sqlite)|run\("sqlite3", (?!.*"[.]timeout )|^ *"sqlite3",$|sqlite3[.]connect\((?!.*timeout=)' \
    -- ':!scripts/lint.sh' || true)
[ -z "$impatient" ] || say "sqlite3 without a busy timeout (-cmd '.timeout 10000'):
$impatient"

# A loop of a test that spins until something happens never ends when it does not: TestSupport has
# `eventually` and `until`, which give up.
endless=$(git grep -nE '^ *while .*(\{ *(await )?(Task\.(yield|sleep)|usleep)|sleep\()' -- Tests || true)
endless="$endless$(git grep -nE '(until|while) .*; do *sleep [0-9.]+; *done' -- '*.sh' || true)"
endless="$endless$(git ls-files 'Tests/*.swift' | xargs perl -0777 -ne '
    while (/^ *(?:while|repeat)\b[^\n]*\{[^{}]*\b(?:yield|u?sleep)\([^{}]*\}/mg) {
        print "$ARGV:", 1 + (substr($_, 0, $-[0]) =~ tr{\n}{}), ": spins without a limit\n";
    }')"
[ -z "$endless" ] || say "loops without a limit:
$endless"

exit $fail
