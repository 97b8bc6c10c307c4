"""A server and agents for one run of a benchmark: real processes on loopback, in a directory of their own."""

import json
import os
import shutil
import signal
import socket
import sqlite3
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
INSERT = f'INSERT INTO "Item"({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)'
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


class OwnCPU:
    """Processor time of this program from here on."""

    def __init__(self):
        self.before = time.process_time()

    @property
    def seconds(self):
        return time.process_time() - self.before


def insert(db, first, count, size):
    """The seconds that it takes to insert rows, `size` of them in each transaction."""
    began = time.perf_counter()
    for start in range(first, first + count, size):
        db.execute("BEGIN IMMEDIATE")
        db.executemany(INSERT, rows(start, min(size, first + count - start)))
        db.execute("COMMIT")
    return time.perf_counter() - began


def wait(condition, what, seconds=600, pause=0.0005):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(pause)


class Process:
    """A program of ours, and what it costs."""

    def __init__(self, name, log, command):
        self.name = name
        with open(log, "ab") as output:
            self.popen = subprocess.Popen(command, stdout=output, stderr=output)
        self.pid = self.popen.pid

    def status(self, field):
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        sys.exit(f"{self.name} has no {field}")

    @property
    def peak_in_mib(self):
        return self.status("VmHWM") / 1024

    @property
    def memory_in_kib(self):
        return self.status("VmRSS")

    @property
    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
        self.popen.wait(120)


class Agent(Process):
    """An agent with one realm."""

    def __init__(self, bench, name):
        self.config = f"{bench.directory}/{name}.yaml"
        self.program = f"{bench.binaries}/realm-agent"
        self.path = f"{bench.directory}/{name}/realms/r/r.sqlite"
        super().__init__(name, f"{bench.directory}/{name}.log",
                         [self.program, "run", "--config", self.config])
        self.db = None
        wait(self.is_ready, f"agent {name}", 60, 0.01)
        self.db = connect(self.path)

    def is_ready(self):
        try:
            uri = f"file:{self.path}?mode=ro"
            sqlite3.connect(uri, timeout=60, uri=True).execute('SELECT 1 FROM "Item"')
            return True
        except sqlite3.Error:
            return False

    def tell(self, *words):
        subprocess.run([self.program, *words, "--config", self.config], check=True,
                       stdout=subprocess.DEVNULL)

    def value(self, sql, *parameters):
        row = self.db.execute(sql, parameters).fetchone()
        return row[0] if row else None

    @property
    def count(self):
        return self.value('SELECT count(*) FROM "Item"')

    @property
    def is_captured(self):
        return self.value("SELECT 1 FROM _realm_capture LIMIT 1") is None

    @property
    def uploaded(self):
        """Bytes of local changesets that the server has acknowledged, and of all."""
        return self.db.execute("SELECT uploaded_bytes, uploadable_bytes FROM _realm_state").fetchone()

    @property
    def is_uploaded(self):
        done, all_of_it = self.uploaded
        return done == all_of_it


class Bench:
    """One server, and the directory that everything of the run is in."""

    def __init__(self, binaries):
        self.binaries = binaries
        self.directory = tempfile.mkdtemp(prefix="realm-bench-")
        self.processes = []
        self.server = None
        self.port = None
        # Microseconds of CPU that plain SQLite takes for an insert, once measured.
        self.plain_cpu = None

    def __enter__(self):
        self.server, self.port = self.start_server(
            "server", f"sqlite:{self.directory}/server/server.sqlite")
        return self

    def start_server(self, name, storage):
        """A process of the server, and its port."""
        with open(f"{self.directory}/{name}.yaml", "w") as file:
            file.write(f"""version: 1
server:
  listen: 127.0.0.1:0
  admin_socket: {self.directory}/{name}-admin.sock
  storage: "{storage}"
  log: {{ level: warn, output: stderr }}
  limits: {{ connections: 20000, connections_per_address: 20000, connections_per_user: 20000 }}
apps:
  bench:
    sync: {{ mode: partition, partition_key: site, partition_type: string }}
    development_mode: true
    quotas: {{ realms: 0, client_files: 0, sessions: 0, bytes: 0 }}
    providers: {{ anonymous: true }}
""")
        with open(f"{self.directory}/schema.yaml", "w") as file:
            file.write(SCHEMA)
        port_file = f"{self.directory}/{name}.port"
        server = Process(name, f"{self.directory}/{name}.log", [
            f"{self.binaries}/realm-server", "serve", "--config", f"{self.directory}/{name}.yaml",
            "--port-file", port_file])
        self.processes.append(server)

        def has_port():
            if server.popen.poll() is not None:
                sys.exit("the server does not start:\n" + self.log(name))
            return os.path.exists(port_file) and os.path.getsize(port_file) > 0

        wait(has_port, "the server", 60, 0.01)
        with open(port_file) as file:
            return server, int(file.read())

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def log(self, name):
        with open(f"{self.directory}/{name}.log", errors="replace") as file:
            return file.read()

    def agent(self, name, port=None, partition="x"):
        """Starts an agent that syncs at once."""
        with open(f"{self.directory}/{name}.yaml", "w") as file:
            file.write(f"""version: 1
agent:
  data_directory: {self.directory}/{name}
  control_socket: {self.directory}/{name}.sock
  log: {{ level: warn, output: stderr }}
apps:
  app: {{ app_id: bench, base_url: "http://127.0.0.1:{port or self.port}", backoff: {{ initial: 100ms }} }}
users:
  {name}: {{ app: app, provider: anonymous }}
realms:
  r:
    user: {name}
    partition: {{ string: "{partition}" }}
    schema: {self.directory}/schema.yaml
""")
        agent = Agent(self, name)
        self.processes.append(agent)
        return agent

    def plain_inserts(self, objects, size):
        """The baseline: seconds for the same rows in a bare table of plain SQLite."""
        path = f"{self.directory}/bare.sqlite"
        bare = connect(path)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute(BARE)
        cpu = OwnCPU()
        seconds = insert(bare, 0, objects, size)
        self.plain_cpu = cpu.seconds / objects * 1e6
        bare.close()
        os.remove(path)
        return seconds


class Used:
    """Processor time that processes take from here on."""

    def __init__(self, *processes):
        self.before = [(process, process.cpu_seconds) for process in processes]

    def per_object(self, process, objects):
        """Microseconds of a process for each object."""
        before = next(before for other, before in self.before if other is process)
        return (process.cpu_seconds - before) / objects * 1e6

    def text(self, objects):
        return ", ".join(f"{process.name} {(process.cpu_seconds - before) / objects * 1e6:.1f}"
                         for process, before in self.before) + " us of CPU per object"


def record(key, value, plain=None):
    """Adds a figure for the table of `Benchmarks/table.py`, and what plain SQLite took in the same run."""
    path = os.environ.get("REALM_BENCHMARK_RECORD")
    if not path:
        return
    figure = {"key": key, "value": value}
    if plain is not None:
        figure["plain"] = plain
    with open(path, "a") as file:
        file.write(json.dumps(figure) + "\n")


def line(what, objects, seconds, plain=None):
    text = f"{what:<34} {objects / seconds:9.0f} objects/s  {seconds:6.2f} s"
    return text + (f"  {seconds / plain:5.2f} times the plain time" if plain else "")
