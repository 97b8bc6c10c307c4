#!/usr/bin/env python3
"""Measures the time from a commit in one agent's file to its visibility in another's.

    Benchmarks/latency.py BIN-DIRECTORY [COMMITS]

One row per commit, with a pause of 30 to 70 ms before each. The other file is asked every 0.2 ms. Beside
it stands the same commit in plain SQLite, seen by a second connection.
"""

import os
import random
import statistics
import sys
import time

from harness import BARE, Bench, Used, connect, insert, record, wait


def delays(commits, writer, reader, first):
    generator = random.Random(1)
    result = []
    for key in range(first, first + commits):
        time.sleep(generator.uniform(0.03, 0.07))
        began = time.perf_counter()
        insert(writer, key, 1, 1)
        wait(lambda: reader.execute('SELECT 1 FROM "Item" WHERE _id = ?', (key,)).fetchone(),
             "one row", 60, 0.0002)
        result.append((time.perf_counter() - began) * 1000)
    return sorted(result)


def report(what, values):
    rank = values[min(len(values) - 1, int(len(values) * 0.99))]
    print(f"{what:<28} median {statistics.median(values):6.2f} ms, 99th percentile {rank:6.2f} ms, "
          f"slowest {values[-1]:6.2f} ms")
    return statistics.median(values), rank


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    commits = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    with Bench(sys.argv[1]) as bench:
        path = f"{bench.directory}/bare.sqlite"
        bare = connect(path)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute(BARE)
        source, target = bench.agent("a"), bench.agent("b")
        # The first commit also publishes the schema.
        insert(source.db, 0, 1, 1)
        wait(lambda: target.count == 1, "the first row")
        print(f"latency: {commits} commits of one object")
        plain = report("plain SQLite, one file", delays(max(1, commits // 5), bare, connect(path), 1))
        used = Used(bench.server, source, target)
        median, rank = report("agent -> server -> agent", delays(commits, source.db, target.db, 1))
        print(used.text(commits).replace("per object", "per commit"))
        record("latency.median", median, plain[0])
        record("latency.p99", rank, plain[1])


if __name__ == "__main__":
    main()
