#!/usr/bin/env python3
"""Measures both directions on their own: objects up from one agent, and down to fresh ones.

    Benchmarks/transfer.py BIN-DIRECTORY [OBJECTS] [PER-TRANSACTION]

Up: the rows are in the file and captured while the realm is suspended; measured is from `resume` until the
last one is acknowledged. Down: a fresh agent, from the start of its process until the last row is in its
file: once from the history, then, every object having been updated three times, from state.
"""

import sys
import time

from harness import Bench, OwnCPU, Used, insert, line, record, wait


def timed_upload(agent):
    began = time.perf_counter()
    agent.tell("resume", "r")
    samples = []
    while not agent.is_uploaded:
        samples.append((time.perf_counter() - began, *agent.uploaded))
        if time.perf_counter() - began > 900:
            sys.exit(f"{agent.name}: not within 900 s")
        time.sleep(0.005)
    seconds = time.perf_counter() - began
    return seconds, samples + [(seconds, *agent.uploaded)]


def rates_by_tenth(objects, samples):
    """Objects per second in each tenth of the upload, by what is acknowledged."""
    first, last = samples[0][1], samples[-1][1]
    rates, begin = [], samples[0][0]
    tenth = 1
    for moment, done, _ in samples:
        while tenth <= 10 and done - first >= (last - first) * tenth / 10:
            tenth += 1
            rates.append(moment)
    edges = [begin] + rates
    return [objects / 10 / max(1e-9, b - a) for a, b in zip(edges, edges[1:])]


def peaks(*processes):
    return "at most " + ", ".join(f"{p.name} {p.peak_in_mib:.0f} MiB" for p in processes)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    objects = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
    with Bench(sys.argv[1]) as bench:
        server = bench.server
        plain = bench.plain_inserts(objects, size)
        print(f"transfer: {objects} objects of 10 fields, {size} per transaction")
        print(line("plain SQLite insert", objects, plain))

        up = bench.agent("up")
        wait(lambda: up.is_uploaded, "the schema", 60)
        up.tell("suspend", "r")
        used = Used(up)
        cpu = OwnCPU()
        captured = insert(up.db, 0, objects, size)
        inserted = cpu.seconds / objects * 1e6
        began = time.perf_counter()
        wait(lambda: up.is_captured, "capture", pause=0.005)
        print(line("insert with capture", objects, captured, plain))
        print(line("and until the last is captured", objects, captured + time.perf_counter() - began,
                   plain) + f"; {used.text(objects)}")
        print(f"CPU of the program: {inserted:.2f} us per insert, {inserted / bench.plain_cpu:.2f} times the plain one's")
        drained = used.per_object(up, objects)
        kind = "one" if size >= objects else objects

        def keep(what, value):
            record(f"transfer.{kind}.{what}", value, bench.plain_cpu)

        keep("insert", inserted)

        used = Used(server, up)
        seconds, samples = timed_upload(up)
        uploaded = used.per_object(up, objects)
        received = used.per_object(server, objects)
        keep("up.drain", drained)
        keep("up.upload", uploaded)
        keep("server.upload", received)
        record(f"transfer.{kind}.up.rate", objects / seconds, objects / plain)
        print(line("up, until all is acknowledged", objects, seconds, plain) + f"; {used.text(objects)}")
        keep("up.peak", up.peak_in_mib)
        print(f"  {up.uploaded[1] / objects:.0f} bytes of changesets per object; {peaks(server, up)}")
        if objects >= 500_000:
            rates = rates_by_tenth(objects, samples)
            print("  by tenths: " + " ".join(f"{rate / 1000:.0f}k" for rate in rates) + " objects/s")

        def down(name, what):
            used = Used(server)
            began = time.perf_counter()
            fresh = bench.agent(name)
            wait(lambda: fresh.count == objects, what, 900, 0.002)
            seconds = time.perf_counter() - began
            per_object = fresh.cpu_seconds / objects * 1e6
            keep(f"{name}.agent", per_object)
            record(f"transfer.{kind}.{name}.rate", objects / seconds, objects / plain)
            keep(f"{name}.server", used.per_object(server, objects))
            keep(f"{name}.peak", fresh.peak_in_mib)
            keep("server.peak", server.peak_in_mib)
            print(line(what, objects, seconds, plain)
                  + f"; {used.text(objects)}, {name} {per_object:.1f}")
            print(f"  {peaks(server, fresh)}")
            fresh.stop()

        down("down1", "down, from the history")
        for round in range(3):
            up.db.execute("UPDATE \"Item\" SET a = a + 1, c = 'again ' || c, h = ?1 || h, d = ?1",
                          (f"round {round} ",))
            wait(lambda: up.is_captured, "capture", pause=0.005)
        wait(lambda: up.is_uploaded, "the updates", 900, 0.005)
        down("down2", "down, from state that is made now")
        down("down3", "down, from state")


if __name__ == "__main__":
    main()
