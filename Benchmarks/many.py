#!/usr/bin/env python3
"""Measures what many realms cost one agent: real processes on loopback, all realms of one user.

    Benchmarks/many.py BIN-DIRECTORY [REALMS] [SECONDS]

Opens the realms with new files, each with a partition and a row of its own; restarts the agent, and waits until
all realms are open and connected again; then everything is silent. Reports the times, and the agent's memory,
threads, descriptors and processor time within the seconds of silence. Then one row is written into each of a few
realms, to see that silent ones still notice commits.
"""

import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time

from harness import Bench, Process, connect, insert, record, wait

# Settles connections and timers before the silence is measured.
CALM = 25


class ManyAgent(Process):
    """An agent with realms `r0` ... of one user."""

    def __init__(self, bench, name, count):
        self.directory = f"{bench.directory}/{name}"
        self.config = f"{bench.directory}/{name}.yaml"
        self.program = f"{bench.binaries}/realm-agent"
        self.count = count
        with open(self.config, "w") as file:
            file.write(f"""version: 1
agent:
  data_directory: {self.directory}
  control_socket: {self.directory}.sock
  log: {{ level: warn, output: stderr }}
apps:
  app: {{ app_id: bench, base_url: "http://127.0.0.1:{bench.port}", backoff: {{ initial: 100ms }} }}
users:
  u: {{ app: app, provider: anonymous }}
realms:
""")
            for n in range(count):
                file.write(f"  r{n}: {{ user: u, partition: {{ string: \"{name}-{n}\" }}, "
                           f"schema: {bench.directory}/schema.yaml }}\n")
        super().__init__(name, f"{bench.directory}/{name}.log",
                         [self.program, "run", "--config", self.config])
        bench.processes.append(self)

    def path(self, n):
        return f"{self.directory}/realms/r{n}/r{n}.sqlite"

    def status(self, field=None):
        if field:
            return super().status(field)
        result = subprocess.run([self.program, "status", "--config", self.config, "--json"],
                                capture_output=True, check=False)
        return json.loads(result.stdout)["realms"] if result.returncode == 0 else []

    def are_open(self):
        realms = self.status()
        return len(realms) == self.count and all(realm["state"] == "open" for realm in realms)

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    @property
    def private_kib(self):
        """Memory that is this process's own: what its files share is left out."""
        total = 0
        with open(f"/proc/{self.pid}/smaps_rollup") as rollup:
            for row in rollup:
                if row.startswith(("Private_Dirty:", "Private_Clean:")):
                    total += int(row.split()[1])
        return total

    def report(self, when):
        print(f"{when:<26} {self.memory_in_kib / 1024:6.0f} MiB ({self.private_kib / 1024:.0f} private), "
              f"{self.status('Threads')} threads, {self.descriptors} descriptors, at most {self.peak_in_mib:.0f} MiB")


def opened(agent, began):
    wait(agent.are_open, f"{agent.count} realms", 900, 0.2)
    return time.perf_counter() - began


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = count * 8 + 500
    limit = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    with Bench(sys.argv[1]) as bench:
        began = time.perf_counter()
        agent = ManyAgent(bench, "many", count)
        created = opened(agent, began)
        cpu = agent.cpu_seconds
        print(f"many: {count} realms of one user in one agent")
        print(f"new files, until all are open     {created:6.2f} s, {cpu:.2f} s of CPU")
        for n in range(min(count, 5)):
            db = connect(agent.path(n))
            insert(db, 0, 10, 10)
            db.close()
        time.sleep(1)
        agent.stop()

        began = time.perf_counter()
        agent = ManyAgent(bench, "many", count)
        again = opened(agent, began)
        print(f"started again, until all are open {again:6.2f} s, {agent.cpu_seconds:.2f} s of CPU")
        agent.report("just opened")
        time.sleep(CALM)
        before = agent.cpu_seconds
        time.sleep(seconds)
        used = agent.cpu_seconds - before
        agent.report("silent")
        for key, value in (("memory", agent.memory_in_kib / 1024), ("threads", agent.status("Threads")),
                           ("descriptors", agent.descriptors), ("cpu", used / seconds * 100), ("open", again)):
            record(f"many.{count}.{key}", value)
        print(f"idle processor time        {used / seconds * 100:6.2f} % of a core within {seconds} s")

        delays = []
        for n in range(0, count, max(1, count // 20)):
            db = connect(agent.path(n))
            began = time.perf_counter()
            insert(db, 1_000_000, 1, 1)
            wait(lambda: db.execute("SELECT 1 FROM _realm_capture LIMIT 1").fetchone() is None, "capture",
                 60, 0.0005)
            delays.append((time.perf_counter() - began) * 1000)
            db.close()
        print(f"a commit in a silent realm is captured after {statistics.median(delays):.1f} ms (median), "
              f"{max(delays):.1f} ms at most")


if __name__ == "__main__":
    main()
