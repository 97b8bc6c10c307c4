#!/bin/bash
# Builds Fuzz/ and runs each of its targets for some minutes; ends with 1 if one found a fault.
#
#   scripts/fuzz.sh MINUTES [TARGET...]
#   scripts/fuzz.sh replay [TARGET...]    the inputs that a run begins with, once each, under the address sanitizer
#
# Each target begins with inputs made from the golden vectors and Tests/Corpus/Fuzz. What is learned stays in
# .build-fuzz/corpus/TARGET, an input that ends a target in .build-fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$1" = replay ]; then
    build=$PWD/.build-fuzz-address
    export REALM_FUZZ_ADDRESS=1
    # What lives as long as the process, and the memory of SQLite and Swift's runtime, is not lost.
    export ASAN_OPTIONS=detect_leaks=0
    limits=(-runs=0 -rss_limit_mb=4096)
else
    build=$PWD/.build-fuzz
    limits=(-max_total_time=$(($1 * 60)) -rss_limit_mb=1024)
fi
shift
swift build --configuration release --package-path Fuzz --scratch-path "$build"
mkdir -p "$build/found"
scripts/fuzz-seeds.py seeds "$build/corpus"
if [ $# = 0 ]; then
    # The names are the raw values of the enum's cases.
    mapfile -t targets < <(sed -n 's/^    case \([a-zA-Z]*\)\( = "\(.*\)"\)\{0,1\}$/\1 \3/p' \
        Fuzz/Targets/FuzzTarget.swift | awk '{ print NF == 2 ? $2 : $1 }')
    set -- "${targets[@]}"
fi
failures=0
for target; do
    mkdir -p "$build/corpus/$target"
    echo "== $target"
    if ! REALM_FUZZ_TARGET=$target SWIFT_BACKTRACE=enable=no "$build/release/fuzz" "${limits[@]}" \
        -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$build/found/$target-" "$build/corpus/$target" >"$build/$target.log" 2>&1; then
        failures=$((failures + 1))
        echo "FAILED; see $build/$target.log"
        tail -n 40 "$build/$target.log"
    fi
    sed -n 's/^stat::number_of_executed_units: */   inputs: /p; s/^stat::peak_rss_mb: */   memory, MiB: /p' \
        "$build/$target.log"
done
[ "$failures" = 0 ]
