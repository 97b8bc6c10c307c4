#!/usr/bin/env python3
"""Measures what capture costs a program that inserts: its own processor time, beside a bare table's.

    Benchmarks/capture.py BIN-DIRECTORY [OBJECTS] [PER-TRANSACTION]

Once with ten scalar columns, once with JSON columns: a list, a set, a dictionary, an embedded object and Mixed.
The realm is suspended and its agent stopped meanwhile, so that triggers and checks are all that is added.
"""

import sys

from harness import BARE, Bench, INSERT, OwnCPU, SCHEMA, connect, record, rows, wait

RICH = """  Rich:
    primary_key: _id
    properties:
      _id: int
      name: string
      tags: list<string>
      marks: set<int>
      counts: dictionary<int>
      place: embedded<Place>
      any: mixed
  Place:
    embedded: true
    properties:
      street: string
      number: int
"""
RICH_INSERT = 'INSERT INTO "Rich"(_id, name, tags, marks, counts, place, any) VALUES (?,?,?,?,?,?,?)'
RICH_BARE = """CREATE TABLE "Rich"(_id INT NOT NULL PRIMARY KEY, name TEXT NOT NULL, tags TEXT NOT NULL,
    marks TEXT NOT NULL, counts TEXT NOT NULL, place TEXT, any TEXT) STRICT"""


def rich_rows(first, count):
    for n in range(first, first + count):
        yield (n, f"name {n}", f'["a{n}","b","c"]', f"[{n},{n + 1}]", f'{{"x":{n},"y":2}}',
               f'{{"street":"Street {n}","number":{n}}}', f"{n}")


def cpu_per_insert(db, sql, make, objects, size):
    cpu = OwnCPU()
    for start in range(0, objects, size):
        db.execute("BEGIN IMMEDIATE")
        db.executemany(sql, make(start, min(size, objects - start)))
        db.execute("COMMIT")
    return cpu.seconds / objects * 1e6


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    objects = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
    with Bench(sys.argv[1]) as bench:
        with open(f"{bench.directory}/schema.yaml", "w") as file:
            file.write(SCHEMA + RICH)
        agent = bench.agent("a")
        wait(lambda: agent.is_uploaded, "the schema", 60)
        agent.stop()
        bare = connect(f"{bench.directory}/bare.sqlite")
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute(BARE)
        bare.execute(RICH_BARE)
        print(f"capture: {objects} inserts, {size} per transaction, CPU of the program")
        for name, sql, make in (("scalars", INSERT, rows), ("json", RICH_INSERT, rich_rows)):
            plain = cpu_per_insert(bare, sql, make, objects, size)
            captured = cpu_per_insert(agent.db, sql, make, objects, size)
            print(f"{name:<10} plain {plain:5.2f} us, captured {captured:5.2f} us: {captured / plain:.2f} times")
            record(f"capture.{name}.ratio", captured / plain)
            record(f"capture.{name}.cpu", captured, plain)


if __name__ == "__main__":
    main()
