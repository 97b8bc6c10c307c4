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

exit $fail
