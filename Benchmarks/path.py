#!/usr/bin/env python3
"""Measures the path SQL insert -> other file: one server, two agents, everything at once.

    Benchmarks/path.py BIN-DIRECTORY [OBJECTS] [PER-TRANSACTION]
"""

import sys
import time

from harness import Bench, Used, insert, line, record, wait


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    objects = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
    with Bench(sys.argv[1]) as bench:
        source, target = bench.agent("a"), bench.agent("b")
        plain = bench.plain_inserts(objects, size)
        members = (bench.server, source, target)
        used = Used(*members)
        began = time.perf_counter()
        captured = insert(source.db, 0, objects, size)
        wait(lambda: target.count == objects, "the other file", pause=0.002)
        whole = time.perf_counter() - began
        cpu = used.text(objects)
        print(f"path: {objects} objects of 10 fields, {size} per transaction")
        print(line("plain SQLite insert", objects, plain))
        print(line("insert with capture, while it syncs", objects, captured, plain))
        print(line("insert -> other file", objects, whole, plain))
        print(cpu)
        record("path.insert.ratio", captured / plain)
        record("path.rate", objects / whole, objects / plain)
        for name, process in (("server", bench.server), ("source", source), ("target", target)):
            record(f"path.{name}.cpu", used.per_object(process, objects), bench.plain_cpu)
        print("at most " + ", ".join(f"{p.name} {p.peak_in_mib:.0f} MiB" for p in members))


main()
