"""The aims of several processes that need many objects, many sessions or a slow network (cluster.py)."""

import collections
import resource
import select
import socket
import sys
import threading
import time

import rawclient
from harness import Used, insert, wait
from transfer import rates_by_tenth, timed_upload


def allow_connections(count):
    """The servers inherit it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = count + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        sys.exit(f"{wanted} open files are needed, and the hard limit is {hard}: raise it (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def tenths(bench, objects):
    """A file that grows: the last tenth of an upload against the first."""
    agent = bench.agent("many", bench.servers[0][1], "many")
    wait(lambda: agent.is_uploaded, "the schema", 60)
    agent.tell("suspend", "r")
    insert(agent.db, 0, objects, 1000)
    wait(lambda: agent.is_captured, "capture", pause=0.05)
    server = bench.servers[0][0]
    used, database = Used(server, agent), bench.database.cpu_seconds
    seconds, samples = timed_upload(agent)
    database = bench.database.cpu_seconds - database
    rates = rates_by_tenth(objects, samples)
    print(f"{objects} objects in one file: {objects / seconds:.0f} objects/s, by tenths "
          + " ".join(f"{rate / 1000:.1f}k" for rate in rates))
    print(f"  the last tenth at {rates[-1] / rates[0] * 100:.0f} % of the first, aim 80 %; "
          f"{used.text(objects)}; the database {database / objects * 1e6:.1f}")
    agent.stop()


class DelayProxy:
    """Passes bytes on after a delay each way."""

    def __init__(self, port, delay):
        self.target, self.delay = port, delay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            for one, other in ((client, server), (server, client)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.forward, args=(one, other), daemon=True).start()

    def forward(self, source, target):
        """Each piece waits for its own time; the next one may arrive meanwhile."""
        pieces, arrived = collections.deque(), threading.Condition()

        def send():
            while True:
                with arrived:
                    while not pieces:
                        arrived.wait()
                    due, data = pieces.popleft()
                rest = due - time.perf_counter()
                if rest > 0:
                    time.sleep(rest)
                try:
                    if not data:
                        return target.shutdown(socket.SHUT_WR)
                    target.sendall(data)
                except OSError:
                    return

        threading.Thread(target=send, daemon=True).start()
        data = b" "
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            with arrived:
                pieces.append((time.perf_counter() + self.delay, data))
                arrived.notify()


def slow_database(bench, seconds):
    """One client of a process that is a millisecond away from its database, there and back."""
    proxy = DelayProxy(bench.database.port, 0.0005)
    server, port = bench.start_server("far", bench.storage(proxy.port))
    client = rawclient.Client(port, rawclient.log_in(port), "far")
    rawclient.publish_schema(client)
    rate, times = rawclient.upload_all([client], seconds)
    client.socket.close()
    bench.database.sql("CREATE TABLE far (k bigserial PRIMARY KEY, document jsonb)")
    plain = bench.database.transactions_per_second("""\\startpipeline
BEGIN;
SELECT 1;
\\endpipeline
\\startpipeline
INSERT INTO far (document) VALUES ('{"text": "text of object"}');
COMMIT;
\\endpipeline
""", 1, 500, proxy.port)
    bench.database.sql("DROP TABLE far")
    print(f"one client, 1 ms round trip to the database     {rate:6.0f} uploads/s  aim 150   "
          f"plain SQL of two round trips {plain:6.0f}")
    print(f"  acknowledged after {times[len(times) // 2] * 1e3:.1f} ms (median)")
    server.stop()
    proxy.listener.close()


def connections(bench):
    return int(bench.database.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'realm-server'"))


def sessions(bench, count, seconds):
    """Sessions of a file each that say nothing, and what a restart of the database does to them."""
    servers = bench.servers
    tokens = [rawclient.log_in(port) for _, port in servers]

    def connect(number):
        position = number % len(servers)
        return rawclient.Client(servers[position][1], tokens[position], f"idle {number}")

    idle = [connect(number) for number in range(50)]
    time.sleep(seconds)
    before = [server.memory_in_kib for server, _ in servers]
    few = connections(bench)
    began = time.perf_counter()
    idle += [connect(number) for number in range(50, count)]
    took = time.perf_counter() - began
    time.sleep(12)
    memory = sum(server.memory_in_kib for server, _ in servers) - sum(before)
    cpu = [server.cpu_seconds for server, _ in servers]
    database = bench.database.cpu_seconds
    time.sleep(seconds)
    cpu = [server.cpu_seconds - start for (server, _), start in zip(servers, cpu)]
    database = bench.database.cpu_seconds - database
    print(f"{count} idle sessions of {count} files, two processes: {memory / (count - 50):.1f} KiB each "
          f"(aim 20), {connections(bench)} connections to the database ({few} with 50 sessions)")
    print(f"  in {seconds} s of silence the processes take "
          + ", ".join(f"{used / seconds * 100:.2f} %" for used in cpu)
          + f" of a core, the database {database / seconds * 100:.2f} % (aim 0.5 % for the poll); "
          f"{took / (count - 50) * 1e3:.1f} ms for each IDENT, one after the other")
    restart(bench, idle, tokens)


def restart(bench, idle, tokens):
    writers = [rawclient.Client(bench.servers[n % 2][1], tokens[n % 2], "restart") for n in range(8)]
    rawclient.publish_schema(writers[0])
    _, times = rawclient.upload_all(writers, 2)
    sent = len(times)
    for number, writer in enumerate(writers):
        writer.upload([rawclient.created([number * 10_000_000 + 5_000_000])])
    sent += len(writers)
    began = time.perf_counter()
    bench.database.restart()
    up = time.perf_counter() - began
    clients = idle + writers
    bound, reconnected = answers(bench, clients, tokens, began)
    for writer in writers:
        while not writer.is_acknowledged:
            writer.fill()
            writer.take_all()
    stored = int(bench.database.sql(
        "SELECT count(*) FROM realm.object JOIN realm.server_file USING (file_id) "
        "WHERE partition = '\"restart\"'"))
    print(f"restart of the database ({up:.1f} s) with {len(clients)} sessions: all bound and answered "
          f"after {bound:.1f} s (aim 60), {reconnected} of them on new connections; "
          f"{stored} of {sent} uploads stored")
    for client in clients:
        client.socket.close()


def answers(bench, clients, tokens, began):
    """Seconds until each session has answered a MARK, and how many had to connect again."""
    poll = select.poll()
    waiting = {}
    for client in clients:
        try:
            client.mark()
        except OSError:
            pass
        waiting[client.socket.fileno()] = client
        poll.register(client.socket, select.POLLIN)
    reconnected = 0
    while waiting:
        for descriptor, _ in poll.poll(120_000) or sys.exit(f"{len(waiting)} sessions do not answer"):
            client = waiting[descriptor]
            try:
                data = client.socket.recv(1 << 18)
            except OSError:
                data = b""
            if data:
                client.buffer += data
                client.take_all()
                if client.marked == client.marks:
                    poll.unregister(descriptor)
                    del waiting[descriptor]
                continue
            poll.unregister(descriptor)
            del waiting[descriptor]
            client.socket.close()
            position = next(n for n, (_, port) in enumerate(bench.servers) if port == client.port)
            again = rawclient.Client(client.port, tokens[position], client.partition, client)
            if client.last and not again.is_acknowledged:
                again.version -= len(client.last)
                again.upload(client.last)
            client.__dict__.update(again.__dict__)
            reconnected += 1
    return time.perf_counter() - began, reconnected
