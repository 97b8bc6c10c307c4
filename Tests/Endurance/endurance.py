#!/usr/bin/env python3
"""One server, eight agents and sixteen programs for hours, under kills, clock jumps, full disks and network faults.

    endurance.py BINARIES [--hours N] [--seed N] [--directory PATH] [--keep]

Every program keeps a ledger of its transactions (writer.py). In the end all faults stop, everything syncs, the
replicas are compared with each other, with the server and with the ledgers. Prints a line every minute and the
figures at the end; the status is 0 only if nothing is lost, nothing is there twice and the replicas are equal.
"""
import argparse
import collections
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

from audit import Audit, Ledger, contents, set_aside
from processes import Clock, Disk, Process
from proxy import Network
from writer import BOARDS

AGENTS, PROGRAMS = 8, 2
SCHEMA = """classes:
  Entry:
    primary_key: _id
    properties: { _id: string, value: int, note: string }
  Board:
    primary_key: _id
    properties:
      _id: int
      tokens: list<string>
      names: set<string>
      count: { type: int, counter: true }
"""


class Agent:
    """An agent with its programs, its disk, its clock and its link to the server."""

    def __init__(self, world, number):
        self.world = world
        self.name = f"agent-{number}"
        self.directory = f"{world.directory}/{self.name}"
        self.config = f"{world.directory}/{self.name}.yaml"
        self.disk = Disk(self.directory, 512)
        self.clock = Clock(f"{world.directory}/{self.name}.clock")
        self.link = world.network.link()
        self.file = f"{self.directory}/realms/r/r.sqlite"
        address = f"127.0.0.1:{self.link.port}"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"""version: 1
agent:
  data_directory: {self.directory}
  control_socket: {world.directory}/{self.name}.sock
  log: {{ level: info, output: stderr }}
apps:
  app:
    app_id: endurance
    base_url: "http://{address}"
    location: {{ http: "http://{address}", ws: "ws://{address}" }}
    backoff: {{ initial: 200ms, maximum: 5s }}
users:
  {self.name}: {{ app: app, provider: anonymous }}
realms:
  r:
    user: {self.name}
    partition: {{ string: "x" }}
    schema: {world.directory}/schema.yaml
""")
        command = [f"{world.binaries}/realm-agent", "run", "--config", self.config]
        self.process = Process(self.name, self.clock.moving(command), f"{world.directory}/{self.name}.log")
        self.programs = []
        for position in range(PROGRAMS):
            name = f"{number}{'ab'[position]}"
            self.programs.append(Process(
                f"program {name}",
                [sys.executable, f"{os.path.dirname(os.path.abspath(__file__))}/writer.py", self.file,
                 f"{world.directory}/{name}.ledger", name, f"{world.seed}-{name}"],
                f"{world.directory}/program-{name}.log"))

    def tell(self, *words, timeout=900):
        command = [f"{self.world.binaries}/realm-agent", *words, "--config", self.config]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    @property
    def is_open(self):
        try:
            db = sqlite3.connect(f"file:{self.file}?mode=ro", timeout=20, uri=True)
            try:
                return db.execute('SELECT count(*) FROM "Board"').fetchone()[0] >= 0
            finally:
                db.close()
        except sqlite3.Error:
            return False


class World:
    def __init__(self, binaries, directory, seed):
        self.binaries = binaries
        self.directory = directory
        self.seed = seed
        self.random = random.Random(seed)
        self.figures = collections.Counter()
        self.later = []  # (time, work): the ends of faults
        self.disk = Disk(f"{directory}/server", 2048)
        self.clock = Clock(f"{directory}/server.clock")
        with open(f"{directory}/schema.yaml", "w", encoding="utf-8") as file:
            file.write(SCHEMA)
        # The server must come back at the same address.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.write_server(f"127.0.0.1:{port}")
        command = [f"{binaries}/realm-server", "serve", "--config", f"{directory}/server.yaml"]
        self.server = Process("server", self.clock.moving(command), f"{directory}/server.log")
        self.server.start()
        self.network = Network(port)
        self.agents = [Agent(self, number) for number in range(1, AGENTS + 1)]

    def write_server(self, address):
        with open(f"{self.directory}/server.yaml", "w", encoding="utf-8") as file:
            file.write(f"""version: 1
server:
  listen: {address}
  admin_socket: {self.directory}/admin.sock
  storage: "sqlite:{self.directory}/server/server.sqlite"
  log: {{ level: info, output: stderr }}
apps:
  endurance:
    sync: {{ mode: partition, partition_key: site, partition_type: string }}
    development_mode: true
    providers: {{ anonymous: true }}
""")

    def wait(self, condition, what, seconds=180):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                sys.exit(f"{what}: not within {seconds} s; see {self.directory}")
            time.sleep(0.1)

    @property
    def processes(self):
        for agent in self.agents:
            yield agent.process
        yield self.server

    # Set-up

    def prepare(self):
        first, *others = self.agents
        for agent in self.agents:
            agent.process.start()
        for agent in self.agents:
            self.wait(lambda: agent.is_open, agent.name)
        db = sqlite3.connect(first.file, timeout=60, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        db.executemany('INSERT INTO "Board"(_id) VALUES (?)', [(number,) for number in range(BOARDS)])
        db.execute("COMMIT")
        db.close()
        for agent in [first, *others]:
            outcome = agent.tell("sync", "--wait", "--timeout", "120s")
            if outcome.returncode != 0:
                sys.exit(f"{agent.name} does not sync: {outcome.stderr}")

    # Faults

    def run(self, seconds):
        """Faults of each kind come at random times, with their mean distance in seconds."""
        kinds = [(self.kill_program, 3), (self.kill_agent, 12), (self.stop_agent, 40), (self.kill_server, 45),
                 (self.stop_server, 240), (self.break_link, 8), (self.move_clock, 30), (self.fill_agent_disk, 30),
                 (self.fill_server_disk, 120), (self.freeze, 30)]
        if not Clock.is_possible:
            kinds = [kind for kind in kinds if kind[0] != self.move_clock]
        if not Disk.is_possible:
            kinds = [kind for kind in kinds if kind[0] not in (self.fill_agent_disk, self.fill_server_disk)]
        now = time.monotonic()
        ends, next_line = now + seconds, now + 60
        due = {kind: now + self.random.expovariate(1 / mean) for kind, mean in kinds}
        while now < ends:
            for kind, mean in kinds:
                if due[kind] <= now:
                    kind()
                    due[kind] = time.monotonic() + self.random.expovariate(1 / mean)
            self.end_faults(now)
            self.supervise()
            if now >= next_line:
                self.report(seconds - (ends - now))
                next_line = now + 60
            time.sleep(0.1)
            now = time.monotonic()

    def supervise(self):
        for process in self.processes:
            process.supervise()
        for agent in self.agents:
            for program in agent.programs:
                program.supervise()

    def end_faults(self, now):
        for when, work in [entry for entry in self.later if entry[0] <= now]:
            self.later.remove((when, work))
            work()

    def after(self, seconds, work):
        self.later.append((time.monotonic() + seconds, work))

    def rest(self):
        return self.random.choice([0, 0, 1, 5, 20])

    def kill_program(self):
        agent = self.random.choice(self.agents)
        if self.random.choice(agent.programs).end(signal.SIGKILL, self.random.choice([0, 0, 1, 5])):
            self.figures["programs killed"] += 1

    def kill_agent(self):
        if self.random.choice(self.agents).process.end(signal.SIGKILL, self.rest()):
            self.figures["agents killed"] += 1

    def stop_agent(self):
        if self.random.choice(self.agents).process.end(signal.SIGTERM, self.rest()):
            self.figures["agents stopped"] += 1

    def kill_server(self):
        if self.server.end(signal.SIGKILL, self.rest()):
            self.figures["servers killed"] += 1

    def stop_server(self):
        if self.server.end(signal.SIGTERM, self.rest()):
            self.figures["servers stopped"] += 1

    def freeze(self):
        """A process that stands still for some seconds, as on a machine that swaps or sleeps."""
        process = self.random.choice(list(self.processes))
        if not process.is_running:
            return
        pid = process.popen.pid
        os.kill(pid, signal.SIGSTOP)
        self.figures["processes frozen"] += 1

        def thaw():
            if process.popen is not None and process.popen.pid == pid:
                os.kill(pid, signal.SIGCONT)
        self.after(self.random.uniform(1, 15), thaw)

    def break_link(self):
        link = self.random.choice(self.agents).link
        if link.state != "up":
            return
        link.become(self.random.choice(["cut", "cut", "stalled", "slow"]))
        self.figures["network faults"] += 1
        self.after(self.random.choice([0.1, 1, 5, 30]), lambda: link.become("up"))

    def move_clock(self):
        """Less than the lifetime of a log-in session."""
        clock = self.random.choice([agent.clock for agent in self.agents] + [self.clock])
        clock.set(self.random.choice([0, 1, -1, 60, -60, 3600, -3600, 86_400, -86_400]))
        self.figures["clock jumps"] += 1

    def fill_agent_disk(self):
        self.fill(self.random.choice(self.agents).disk)

    def fill_server_disk(self):
        self.fill(self.disk)

    def fill(self, disk):
        if os.path.exists(disk.ballast):
            return
        disk.fill()
        self.figures["disks filled"] += 1
        self.after(self.random.uniform(2, 15), disk.free)

    # The end

    def heal(self):
        """Ends all faults and all programs, and lets everything sync."""
        for agent in self.agents:
            for program in agent.programs:
                program.end(signal.SIGKILL, 0)
        for _, work in self.later:
            work()
        self.later = []
        for agent in self.agents:
            agent.disk.free()
            agent.link.become("up")
            agent.clock.set(0)
        self.disk.free()
        self.clock.set(0)
        problems = []
        # Twice: what one uploads, all others must download.
        for attempt in (1, 2):
            for agent in self.agents:
                for process in self.processes:
                    process.supervise()
                outcome = None
                for _ in range(30):
                    time.sleep(1)
                    for process in self.processes:
                        process.supervise()
                    outcome = agent.tell("sync", "--wait", "--timeout", "300s")
                    if outcome.returncode == 0:
                        break
                if outcome.returncode != 0 and attempt == 2:
                    problems.append(f"{agent.name} does not sync: {outcome.stderr.strip()}")
        return problems

    def audit(self):
        problems = []
        for process in self.processes:
            process.supervise()
        first = contents(self.agents[0].file)
        for agent in self.agents[1:]:
            if contents(agent.file) != first:
                problems.append(f"{agent.name} differs from {self.agents[0].name}")
        for agent in self.agents:
            outcome = agent.tell("verify", "r")
            if outcome.returncode != 0:
                end = agent.process.popen and agent.process.popen.poll()
                ended = "" if end is None else f" (it has ended with status {end})"
                problems.append(f"{agent.name} differs from the server{ended}: {outcome.stdout}{outcome.stderr}")
        ledger = Ledger(self.directory)
        audit = Audit(ledger, self.agents[0].file)
        self.figures["transactions committed"] = len(ledger.done)
        self.figures["transactions without a known end"] = len(ledger.open)
        self.figures["transactions rolled back"] = ledger.void
        self.figures["writes committed"] = ledger.step_count
        self.figures["set aside"] = sum(set_aside(agent.file) for agent in self.agents)
        for name in ("lost", "twice", "torn", "wrong"):
            self.figures[name] = getattr(audit, name)
        return problems + audit.findings[:200]

    def report(self, seconds):
        done = sum(sum(1 for line in open(f"{self.directory}/{name}", encoding="utf-8", errors="replace")
                       if line.startswith('["done"'))
                   for name in os.listdir(self.directory) if name.endswith(".ledger"))
        figures = ", ".join(f"{value} {name}" for name, value in sorted(self.figures.items()))
        print(f"{seconds / 60:.0f} min: {done} transactions; {figures}; memory in MiB: server "
              f"{self.server.memory_in_mebibytes}, agents "
              f"{max(agent.process.memory_in_mebibytes for agent in self.agents)}; disks in MiB: server "
              f"{self.disk.used_in_mebibytes}, agents {max(agent.disk.used_in_mebibytes for agent in self.agents)}",
              flush=True)

    def end(self):
        for agent in self.agents:
            for program in agent.programs:
                program.end(signal.SIGKILL, 0)
            agent.process.end(signal.SIGTERM, 0)
        self.server.end(signal.SIGTERM, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--directory")
    parser.add_argument("--keep", action="store_true", help="keep the directory also after success")
    arguments = parser.parse_args()
    Disk.prepare()
    directory = arguments.directory or tempfile.mkdtemp(prefix="realm-endurance-")
    os.makedirs(directory, exist_ok=True)
    print(f"seed {arguments.seed}, in {directory}", flush=True)
    for is_possible, what in [(Clock.is_possible, "clock jumps: there is no C compiler"),
                              (Disk.is_possible, "full disks: mounting needs root")]:
        if not is_possible:
            print(f"without {what}", flush=True)
    world = World(os.path.abspath(arguments.binaries), directory, arguments.seed)
    try:
        world.prepare()
        world.run(arguments.hours * 3600)
        problems = world.heal()
        problems += world.audit()
        memory = {process.name: process.memory_in_mebibytes for process in world.processes}
    finally:
        world.end()
    surprises = [text for process in world.processes for text in process.surprises]
    surprises += [text for agent in world.agents for program in agent.programs for text in program.surprises]
    for name, value in world.figures.items():
        print(f"{name:<36} {value:>9}")
    print(f"{'memory in MiB, at most':<36} {max(memory.values()):>9}")
    for text in problems + surprises:
        print(f"PROBLEM: {text}")
    with open(f"{directory}/figures.json", "w", encoding="utf-8") as file:
        json.dump({**world.figures, "seed": arguments.seed, "problems": problems, "surprises": surprises}, file)
    if problems or surprises:
        sys.exit(f"everything is in {directory}")
    if not arguments.keep and not arguments.directory:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
