#!/usr/bin/env python3
"""Measures two processes of the server on one PostgreSQL database, beside plain SQL of the same run.

    Benchmarks/cluster.py BIN-DIRECTORY [--objects N] [--commits N] [--seconds N] [--many N] [--sessions N]
        [--only PART ...]

The parts are agents, raw, latency, tenths, slow and sessions; all of them take about ten minutes. It starts a PostgreSQL of its own, with syncs to the disk, from PGBIN or /usr/lib/postgresql/*/bin. The aims
are those of docs/spec/server-postgres.md, section 10, for two idle cores. Uploads of 1, 4 and 64 clients are
those of raw connections (rawclient.py), each of which waits for its acknowledgement; all others are agents'.
Behind the processor time of the servers stand that of the database and of the raw clients, which share the
machine.
"""

import argparse
import glob
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import time

import clusterscale
import rawclient
from harness import Bench, Used, insert, wait
from latency import delays, report


def line(what, rate, unit, aim, plain):
    print(f"{what:<44} {rate:9.0f} {unit:<10} aim {aim:>7}   plain SQL {plain:9.0f}", flush=True)


class Database:
    """A PostgreSQL server for one run."""

    def __init__(self, directory):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.programs = os.environ.get("PGBIN") or (found[-1] if found else "")
        if not os.path.exists(f"{self.programs}/initdb"):
            sys.exit("no initdb: install postgresql, or set PGBIN")
        self.directory = f"{directory}/postgresql"
        os.mkdir(self.directory)
        # PostgreSQL does not run as root.
        self.user = []
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chmod(directory, 0o755)
            os.chown(self.directory, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
                         "--clear-groups"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.run("initdb", "-D", "data", "-U", "realm", "--auth=trust", "-E", "UTF8",
                 "--locale=C.UTF-8", "--no-instructions")
        self.run("pg_ctl", "-D", "data", "-w", "-s", "-l", "log", "-o",
                 f"-p {self.port} -k {self.directory} -c listen_addresses=127.0.0.1", "start")
        self.sql("CREATE DATABASE realm", "postgres")

    def run(self, program, *arguments):
        outcome = subprocess.run([*self.user, f"{self.programs}/{program}", *arguments],
                                 cwd=self.directory, capture_output=True, text=True)
        if outcome.returncode:
            sys.exit(f"{program}: {outcome.stdout}{outcome.stderr}")
        return outcome.stdout

    def sql(self, text, database="realm"):
        return self.run("psql", "-h", self.directory, "-p", str(self.port), "-U", "realm", "-X", "-A",
                        "-t", "-v", "ON_ERROR_STOP=1", "-c", text, database)

    @property
    def cpu_seconds(self):
        """Of the server and all its processes, also those that have ended."""
        with open(f"{self.directory}/data/postmaster.pid") as file:
            main = int(file.readline())
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(path.split("/")[2]) == main:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == main:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def transactions_per_second(self, script, clients, count, port=None):
        path = f"{self.directory}/script.sql"
        with open(path, "w") as file:
            file.write(script)
        host, port = ("127.0.0.1", port) if port else (self.directory, self.port)
        output = self.run("pgbench", "-h", host, "-p", str(port), "-U", "realm", "-n",
                          "-M", "prepared", "-f", path, "-c", str(clients), "-j", str(min(2, clients)),
                          "-t", str(count), "realm")
        return float(re.search(r"tps = ([0-9.]+)", output).group(1))

    def plain(self, size, clients, count):
        """Transactions per second that insert objects and one entry of history, one file each."""
        self.sql("CREATE TABLE plain_object (file int8, key int8, document jsonb, "
                 "PRIMARY KEY (file, key)) WITH (fillfactor = 80); "
                 "CREATE TABLE plain_history (id bigserial PRIMARY KEY, changeset bytea)")
        self.sql("CREATE SEQUENCE plain_key")
        rate = self.transactions_per_second(f"""BEGIN;
INSERT INTO plain_object SELECT :client_id, nextval('plain_key'), jsonb_build_object('_id', n, 'c', 'name',
  'd', repeat('x', 40), 'e', n / 7.0, 'h', repeat('text of row', 5), 'i', repeat('ab', 32))
  FROM generate_series(1, {size}) n;
INSERT INTO plain_history (changeset) VALUES (decode(repeat('ab', {size * 150}), 'hex'));
COMMIT;
""", clients, count)
        self.sql("DROP TABLE plain_object, plain_history; DROP SEQUENCE plain_key")
        return rate

    def restart(self):
        self.run("pg_ctl", "-D", "data", "-w", "-s", "-m", "immediate", "-l", "log", "-o",
                 f"-p {self.port} -k {self.directory} -c listen_addresses=127.0.0.1", "restart")

    def stop(self):
        self.run("pg_ctl", "-D", "data", "-w", "-s", "-m", "fast", "stop")


class Cluster(Bench):
    """Two processes on one database."""

    def __enter__(self):
        self.database = Database(self.directory)
        self.servers = [self.start_server(name, self.storage()) for name in ("one", "two")]
        self.server, self.port = self.servers[0]
        return self

    def storage(self, port=None):
        return f"postgresql://realm@127.0.0.1:{port or self.database.port}/realm?sslmode=disable"

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.stop()
        self.database.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


def upload(agents, count, size):
    """Seconds in which all agents upload what they captured while they were suspended."""
    for agent in agents:
        wait(lambda: agent.is_uploaded, "the schema", 60)
        agent.tell("suspend", "r")
    for position, agent in enumerate(agents):
        insert(agent.db, (position + 1) * 10_000_000, count, size)
        wait(lambda: agent.is_captured, "capture", pause=0.005)
    began = time.perf_counter()
    for agent in agents:
        agent.tell("resume", "r")
    for agent in agents:
        wait(lambda: agent.is_uploaded, f"the uploads of {agent.name}", 900, 0.005)
    return time.perf_counter() - began


def raw_uploads(bench, clients, files, seconds, servers=None):
    """Prints how many objects raw clients upload, one in each UPLOAD."""
    servers = servers or bench.servers
    tokens = [rawclient.log_in(port) for _, port in servers]
    name = f"raw {clients} {files} {len(servers)}"
    connected = []
    for number in range(clients):
        position = number % len(servers)
        connected.append(rawclient.Client(servers[position][1], tokens[position],
                                          f"{name} {number % files}"))
    for client in connected[:files]:
        rawclient.publish_schema(client)
    used = Used(*(server for server, _ in servers))
    database, own = bench.database.cpu_seconds, time.process_time()
    rate, times = rawclient.upload_all(connected, seconds)
    database, own = bench.database.cpu_seconds - database, time.process_time() - own
    for client in connected:
        client.socket.close()
    return rate, times, (f"{used.text(len(times))}; the database {database / len(times) * 1e6:.1f}, "
                         f"the clients {own / len(times) * 1e6:.1f}")


def raw_line(bench, clients, files, seconds, aim, servers=None):
    # The disk's speed varies: plain SQL before and after.
    before = bench.database.plain(1, min(clients, 16), 500)
    rate, times, used = raw_uploads(bench, clients, files, seconds, servers)
    plain = (before + bench.database.plain(1, min(clients, 16), 500)) / 2
    processes = len(servers or bench.servers)
    line(f"1-object uploads, {clients} clients, {files} files, {processes} p.", rate, "uploads/s", aim,
         plain)
    print(f"  acknowledged after {times[len(times) // 2] * 1e3:.1f} ms (median), "
          f"{times[int(len(times) * 0.99)] * 1e3:.1f} ms (99th percentile); {used}")


def agents_part(bench, objects, commits):
    database = bench.database
    print(f"cluster: {objects} objects, 1000 per transaction; {commits} commits of one object")
    plain_large = database.plain(1000, 1, max(10, objects // 1000))
    plain_small = database.plain(1, 4, commits)
    ports = [port for _, port in bench.servers]

    up = bench.agent("up", ports[0])
    used = Used(*(server for server, _ in bench.servers))
    seconds = upload([up], objects, 1000)
    line("1000-object uploads, one file", objects / seconds, "objects/s", 30_000, plain_large * 1000)
    print(f"  {used.text(objects)}")

    began = time.perf_counter()
    fresh = bench.agent("down", ports[1])
    wait(lambda: fresh.count == objects, "the first download")
    seconds = time.perf_counter() - began
    line("first download, the other process", objects / seconds, "objects/s", 50_000,
         plain_large * 1000)

    agents = [bench.agent(f"large{n}", ports[n % 2], f"large{n}") for n in range(4)]
    plain_large = database.plain(1000, 4, max(10, objects // 4000))
    seconds = upload(agents, objects // 4, 1000)
    line("1000-object uploads, 4 files", objects / seconds, "objects/s", 35_000, plain_large * 1000)

    agents = [bench.agent(f"small{n}", ports[n % 2], "small") for n in range(4)]
    seconds = upload(agents, commits, 1)
    line("1-object uploads, one file, 4 clients", 4 * commits / seconds, "uploads/s", 1_500,
         plain_small)
    agents = [bench.agent(f"files{n}", ports[n % 2], f"file{n}") for n in range(4)]
    seconds = upload(agents, commits, 1)
    line("1-object uploads, 4 files, 4 clients", 4 * commits / seconds, "uploads/s", 2_000,
         plain_small)


def raw_part(bench, seconds):
    one = bench.servers[:1]
    raw_line(bench, 1, 1, seconds, "-", one)
    raw_line(bench, 4, 1, seconds, "-")
    raw_line(bench, 64, 1, seconds, 1_500)
    raw_line(bench, 64, 16, seconds, 2_000, one)
    raw_line(bench, 64, 16, seconds, 2_000)


def latency_part(bench):
    ports = [port for _, port in bench.servers]
    source, target = bench.agent("a", ports[0], "near"), bench.agent("b", ports[1], "near")
    insert(source.db, 0, 1, 1)
    wait(lambda: target.count == 1, "the first row")
    report("commit to visible, other process", delays(200, source.db, target.db, 1))
    print("  aim: median 25 ms, 99th percentile 100 ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binaries")
    parser.add_argument("--objects", type=int, default=50_000, help="of an agent's upload")
    parser.add_argument("--commits", type=int, default=2_000, help="of one object, for each agent")
    parser.add_argument("--seconds", type=float, default=10, help="of each line of raw clients")
    parser.add_argument("--many", type=int, default=1_000_000, help="objects in one file, by tenths")
    parser.add_argument("--sessions", type=int, default=10_000, help="that say nothing")
    parser.add_argument("--only", nargs="+", metavar="PART",
                        default=["agents", "raw", "latency", "tenths", "slow", "sessions"])
    given = parser.parse_args()
    clusterscale.allow_connections(given.sessions)
    with Cluster(given.binaries) as bench:
        parts = {
            "agents": lambda: agents_part(bench, given.objects, given.commits),
            "raw": lambda: raw_part(bench, given.seconds),
            "latency": lambda: latency_part(bench),
            "tenths": lambda: clusterscale.tenths(bench, given.many),
            "slow": lambda: clusterscale.slow_database(bench, given.seconds),
            "sessions": lambda: clusterscale.sessions(bench, given.sessions, 30),
        }
        for name in given.only:
            if name not in parts:
                sys.exit(f"{name}: the parts are {', '.join(parts)}")
            parts[name]()


main()
