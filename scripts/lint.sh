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
    # The manifest is one list, and cannot be several files.
    [ "$file" = Package.swift ] && [ "$lines" -le 750 ] && continue
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

# docs/GLOSSARY.md, "Phrases". For each pattern: how often it may occur in Sources/Backend, in the other sources, in Tests/ServerTests, in the other tests, and in pages
# (docs/conformance.md quotes names of tests). Lower a ceiling when a count falls; never raise one.
while read -r name server sources server_tests tests pages pattern; do
    count() {
        allowed=$1 where=$2
        shift 2
        lines=$(git grep -nIiP "$pattern" -- "$@" || true)
        found=$([ -z "$lines" ] || printf '%s\n' "$lines" | wc -l)
        [ "${found:-0}" -le "$allowed" ] || say "\"$name\" occurs $found times in $where, $allowed are allowed; \
see docs/GLOSSARY.md, Phrases. The first of them:
$(printf '%s\n' "$lines" | head -n 20)"
    }
    count "$server" "the server" 'Sources/Backend/*.swift'
    count "$sources" "the other sources" 'Sources/*.swift' ':!Sources/Backend'
    count "$server_tests" "ServerTests" 'Tests/ServerTests/*.swift'
    count "$tests" "the other tests" 'Tests/*.swift' ':!Tests/ServerTests'
    count "$pages" "pages" '*.md' '*.yaml' '*.service' '*.timer' ':!docs/spec' ':!docs/GLOSSARY.md' \
        ':!docs/conformance.md' ':!Tests' ':!Benchmarks'
done <<'END'
whoever 0 0 0 0 1 \b(who|what)ever\b|\b(some|any|every|no)body\b
what 0 0 0 0 0 ^\s*/// (what|who|whose|how|where|why)\b
is-no 0 0 0 0 0 (?<!there )\b(is|are) no (?!longer\b|more\b)[a-z]
none 0 0 0 0 0 (?<!there )\b(is|are|be|was) none\b
anew 0 0 0 0 0 \banew\b
goes-on 0 0 0 0 0 \b(go|goes|went|going) on\b
by-itself 0 0 0 0 0 \bby (it|them)sel(f|ves)\b
to-nothing 0 0 0 0 0 \bcom(es?|ing) (to nothing|of)\b|\bcame to nothing\b|\bin the way\b|\blets? go\b|\btakes? leave\b|\bthe matter with\b
of-no-use 0 0 0 0 0 \bof (no|any)( further)? use\b
stands-in 0 0 0 0 0 \bstands?\b
END

exit $fail
