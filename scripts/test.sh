#!/bin/bash
# Runs all tests, which must be built: two halves beside each other, since the end-to-end tests mostly wait for
# programs. What these print is shown when the others have ended.
#
#   scripts/test.sh POSTGRESQL_SUITES [FLAG...]   the suites to repeat on a store in PostgreSQL; flags of `swift build`
set -u
cd "$(dirname "$0")/.."

postgresql_suites=$1
shift
# Not `swift test`: two of them want the same build database, also where nothing is built.
tests=$(swift build "$@" --show-bin-path)/realm-agentPackageTests.xctest
if [ ! -x "$tests" ]; then
    echo "test: $tests is missing; run: make test" >&2
    exit 2
fi
log=$(mktemp -t realm-end-to-end.XXXXXX)
programs=
# Also after Ctrl-C; a process group of their own, so that nothing of them stays.
trap '[ -z "$programs" ] || kill -- "-$programs" 2>/dev/null; rm -f "$log"' EXIT

run() { "$tests" --testing-library swift-testing --no-parallel "$@"; }

set -m
run --filter '^EndToEndTests\.' >"$log" 2>&1 &
programs=$!
set +m
failures=0
run --skip '^EndToEndTests\.' || failures=1
REALM_TEST_STORE=postgresql run --filter "$postgresql_suites" || failures=1
echo "The end-to-end tests, which ran beside these:"
wait "$programs" || failures=1
programs=
cat "$log"
exit "$failures"
