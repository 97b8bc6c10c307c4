#!/usr/bin/env python3
"""Measures what a user's small realm and `status` wait for while a big realm of the same user downloads.

    Benchmarks/busy.py BIN-DIRECTORY [OBJECTS]

Two agents, each with a realm `big` and a realm `small` of one user, on one connection. One transaction of OBJECTS
rows is uploaded from the first agent; then the second one resumes its big realm. Until that has all rows, single
rows go from small realm to small realm, and the second agent's status is asked for over its control socket.
Reports the medians and the slowest, and what both take while nothing else happens.
"""

import socket
import statistics
import sys
import threading
import time

from harness import Bench, Process, connect, insert, record, wait


class TwoRealms(Process):
    """An agent with the realms `big` and `small` of one user."""

    def __init__(self, bench, name):
        self.config = f"{bench.directory}/{name}.yaml"
        self.program = f"{bench.binaries}/realm-agent"
        self.socket = f"{bench.directory}/{name}.sock"
        with open(self.config, "w") as file:
            file.write(f"""version: 1
agent:
  data_directory: {bench.directory}/{name}
  control_socket: {self.socket}
  log: {{ level: warn, output: stderr }}
apps:
  app: {{ app_id: bench, base_url: "http://127.0.0.1:{bench.port}", backoff: {{ initial: 100ms }} }}
users:
  {name}: {{ app: app, provider: anonymous }}
realms:
""")
            for realm in ("big", "small"):
                file.write(f"  {realm}: {{ user: {name}, partition: {{ string: {realm} }}, "
                           f"schema: {bench.directory}/schema.yaml }}\n")
        super().__init__(name, f"{bench.directory}/{name}.log",
                         [self.program, "run", "--config", self.config])
        bench.processes.append(self)
        self.paths = {realm: f"{bench.directory}/{name}/realms/{realm}/{realm}.sqlite"
                      for realm in ("big", "small")}
        wait(lambda: b'"state":"open"' in self.request("GET", "/v1/realms/small")
             and b'"state":"open"' in self.request("GET", "/v1/realms/big"), f"agent {name}", 60, 0.02)

    def request(self, method, path):
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(120)
                connection.connect(self.socket)
                connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n"
                                   "Content-Length: 0\r\n\r\n".encode())
                response = b""
                while chunk := connection.recv(65536):
                    response += chunk
                return response
        except OSError:
            return b""


class Samples:
    """Times in milliseconds, taken again and again until told to stop."""

    def __init__(self, take):
        self.values = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(take,))
        self.thread.start()

    def run(self, take):
        while not self.stopping.is_set():
            began = time.perf_counter()
            take()
            self.values.append((time.perf_counter() - began) * 1000)
            time.sleep(0.05)

    def end(self):
        self.stopping.set()
        self.thread.join()
        return sorted(self.values)


def report(what, values):
    print(f"{what:<44} median {statistics.median(values):7.1f} ms, slowest {values[-1]:7.1f} ms "
          f"({len(values)} samples)")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    objects = int(sys.argv[2]) if len(sys.argv) > 2 else 500_000
    with Bench(sys.argv[1]) as bench:
        first, second = TwoRealms(bench, "first"), TwoRealms(bench, "second")
        print(f"busy: a download of {objects} objects of one transaction, beside a small realm of the same user")
        second.request("POST", "/v1/realms/big/suspend")
        big = connect(first.paths["big"])
        insert(big, 0, objects, objects)

        def is_uploaded():
            done, all_of_it = big.execute("SELECT uploaded_bytes, uploadable_bytes FROM _realm_state").fetchone()
            return done == all_of_it and big.execute("SELECT 1 FROM _realm_capture LIMIT 1").fetchone() is None

        wait(is_uploaded, "the upload", 900, 0.05)
        numbers = iter(range(1_000_000_000))

        def row():
            key = next(numbers)
            source, target = row.ends
            insert(source, key, 1, 1)
            wait(lambda: target.execute('SELECT 1 FROM "Item" WHERE _id = ?', (key,)).fetchone(),
                 "one row", 120, 0.0005)

        def small_rows():
            row.ends = connect(first.paths["small"]), connect(second.paths["small"])
            row()
            while not small_rows.stopping.is_set():
                began = time.perf_counter()
                row()
                small_rows.values.append((time.perf_counter() - began) * 1000)
                time.sleep(0.05)

        def sample(seconds=None, until=None):
            small_rows.values, small_rows.stopping = [], threading.Event()
            thread = threading.Thread(target=small_rows)
            thread.start()
            statuses = Samples(lambda: second.request("GET", "/v1/status"))
            if seconds:
                time.sleep(seconds)
            else:
                until()
            small_rows.stopping.set()
            thread.join()
            return sorted(small_rows.values), statuses.end()

        rows, statuses = sample(seconds=5)
        report("a row between small realms, else idle", rows)
        report("status, else idle", statuses)

        target = connect(second.paths["big"])

        def download():
            began = time.perf_counter()
            cpu = second.cpu_seconds
            second.request("POST", "/v1/realms/big/resume")
            wait(lambda: target.execute('SELECT max(_id) FROM "Item"').fetchone()[0] == objects - 1,
                 "the download", 900, 0.02)
            download.seconds = time.perf_counter() - began
            download.cpu = second.cpu_seconds - cpu

        rows, statuses = sample(until=download)
        print(f"the big realm took {download.seconds:.1f} s, {download.cpu / objects * 1e6:.1f} us of CPU per object; "
              f"at most {second.peak_in_mib:.0f} MiB")
        report("a row between small realms, meanwhile", rows)
        report("status, meanwhile", statuses)
        record("busy.row", rows[-1])
        record("busy.status", statuses[-1])


if __name__ == "__main__":
    main()
