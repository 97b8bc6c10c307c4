#!/usr/bin/env python3
"""Measures the path SQL insert -> other file: one server, two agents, real processes on loopback.

    Benchmarks/path.py BIN-DIRECTORY [OBJECTS] [PER-TRANSACTION]

Reports, all in one run: plain SQLite inserts of the same rows into a bare table (the baseline), inserts
into the realm file (with checks and capture), the whole path until the last row is visible in the other
agent's file, and the time from one commit on one side to its visibility on the other.
"""

import os
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

SCHEMA = """classes:
  Item:
    primary_key: _id
    properties:
      _id: int
      a: int
      b: int?
      c: string
      d: string?
      e: double
      f: bool
      g: timestamp?
      h: string
      i: binary?
"""
COLUMNS = "_id, a, b, c, d, e, f, g, h, i"
BARE = """CREATE TABLE "Item"(_id INT NOT NULL PRIMARY KEY, a INTEGER NOT NULL, b INTEGER, c TEXT NOT NULL,
    d TEXT, e ANY NOT NULL, f INTEGER NOT NULL, g TEXT, h TEXT NOT NULL, i BLOB) STRICT"""


def rows(first, count):
    for n in range(first, first + count):
        yield (n, n * 3, None if n % 5 == 0 else n, f"name {n}", "x" * (n % 40), n / 7, n % 2,
               "2026-01-02T03:04:05.000000000Z", f"text of row number {n}", n.to_bytes(8, "big") * 4)


def connect(path):
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def insert(db, first, count, size):
    statement = f'INSERT INTO "Item"({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)'
    began = time.perf_counter()
    for start in range(first, first + count, size):
        db.execute("BEGIN IMMEDIATE")
        db.executemany(statement, rows(start, min(size, first + count - start)))
        db.execute("COMMIT")
    return time.perf_counter() - began


def wait(condition, what, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(0.0005)


def peak_memory(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binaries = sys.argv[1]
    objects = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
    directory = tempfile.mkdtemp(prefix="realm-path-")
    processes = []

    def start(name, *command):
        log = open(f"{directory}/{name}.log", "ab")
        process = subprocess.Popen(command, stdout=log, stderr=log)
        processes.append(process)
        return process

    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with open(f"{directory}/server.yaml", "w") as file:
            file.write(f"""version: 1
server:
  listen: 127.0.0.1:{port}
  storage: sqlite:{directory}/server/server.sqlite
  log: {{ level: warn, output: stderr }}
apps:
  bench:
    sync: {{ mode: partition, partition_key: site, partition_type: string }}
    development_mode: true
    providers: {{ anonymous: true }}
""")
        with open(f"{directory}/schema.yaml", "w") as file:
            file.write(SCHEMA)
        for name in ("a", "b"):
            with open(f"{directory}/{name}.yaml", "w") as file:
                file.write(f"""version: 1
agent:
  data_directory: {directory}/{name}
  control_socket: {directory}/{name}.sock
  log: {{ level: warn, output: stderr }}
apps:
  app: {{ app_id: bench, base_url: "http://127.0.0.1:{port}", backoff: {{ initial: 100ms }} }}
users:
  {name}: {{ app: app, provider: anonymous }}
realms:
  r: {{ user: {name}, partition: {{ string: x }}, schema: {directory}/schema.yaml }}
""")

        def file_of(name):
            return f"{directory}/{name}/realms/r/r.sqlite"

        def is_ready(name):
            try:
                sqlite3.connect(f"file:{file_of(name)}?mode=ro", uri=True).execute('SELECT 1 FROM "Item"')
                return True
            except sqlite3.Error:
                return False

        server = start("server", f"{binaries}/realm-server", "serve", "--config", f"{directory}/server.yaml")
        agents = {n: start(n, f"{binaries}/realm-agent", "run", "--config", f"{directory}/{n}.yaml")
                  for n in ("a", "b")}
        for name in agents:
            wait(lambda: is_ready(name), f"agent {name}", 60)

        bare = connect(f"{directory}/bare.sqlite")
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute(BARE)
        plain = insert(bare, 0, objects, size)

        members = [("server", server), *agents.items()]
        source, target = connect(file_of("a")), connect(file_of("b"))
        used = {name: cpu_seconds(process.pid) for name, process in members}
        count = 'SELECT count(*) FROM "Item"'
        began = time.perf_counter()
        captured = insert(source, 0, objects, size)
        wait(lambda: target.execute(count).fetchone()[0] == objects, "the other file")
        whole = time.perf_counter() - began
        used = {name: cpu_seconds(process.pid) - used[name] for name, process in members}

        delays = []
        for n in range(50):
            key = objects + n
            began = time.perf_counter()
            insert(source, key, 1, 1)
            wait(lambda: target.execute('SELECT 1 FROM "Item" WHERE _id = ?', (key,)).fetchone(), "one row")
            delays.append((time.perf_counter() - began) * 1000)
        delays.sort()

        print(f"{objects} objects of 10 fields, {size} per transaction")
        print(f"plain SQLite insert        {objects / plain:10.0f} objects/s   1.00")
        print(f"insert with capture        {objects / captured:10.0f} objects/s   {captured / plain:.2f} times the plain time")
        print(f"insert -> other file       {objects / whole:10.0f} objects/s   {whole / plain:.2f} times the plain time")
        print(f"one commit -> visible      median {statistics.median(delays):.1f} ms, slowest of 50 {delays[-1]:.1f} ms")
        for name, process in members:
            per_object = used[name] / objects * 1e6
            print(f"{name:<26} {peak_memory(process.pid):10.0f} MiB at most, {per_object:.1f} us of CPU per object")
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
