#!/usr/bin/env python3
"""Measures what idle sessions cost a server: real connections on loopback, one session each.

    Benchmarks/idle.py BIN-DIRECTORY [CONNECTIONS] [SECONDS]

Every connection binds a session of a new client file of one partition, takes its first DOWNLOAD and the
answer to its MARK, and then says nothing. Reports the server's memory before and after, divided by the
connections, and the processor time it takes within the seconds of silence, beside that of the same
server with next to no connections. Then a session of another partition writes, beside all that are silent:
how long each acknowledgement takes, with few and with many. At last one writes to the partition of
all: the time until the last has the DOWNLOAD, and the memory after that.
"""

import resource
import select
import statistics
import sys
import time

from harness import Bench, record
from rawclient import Client, log_in, publish_schema, upload_all

# The first few bring in what every later one shares.
FIRST = 50
# A user may have 5 000 client files.
CLIENTS_OF_USER = 2_000


def silent_cpu(server, seconds):
    began = server.cpu_seconds
    time.sleep(seconds)
    return server.cpu_seconds - began


def wake(clients, writer):
    """Seconds from an UPLOAD to the last DOWNLOAD of all clients of its partition."""
    poll = select.epoll()
    by_descriptor = {client.socket.fileno(): client for client in clients}
    for client in clients:
        poll.register(client.socket, select.EPOLLIN)
    began = time.perf_counter()
    publish_schema(writer)
    version = writer.server_version
    waiting = {client.socket.fileno() for client in clients if client.server_version < version}
    while waiting:
        for descriptor, _ in poll.poll(60) or sys.exit("a session gets no DOWNLOAD within 60 s"):
            client = by_descriptor[descriptor]
            client.fill()
            client.take_all()
            if client.server_version >= version:
                waiting.discard(descriptor)
    poll.close()
    return time.perf_counter() - began


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = count + FIRST + 200
    if hard != resource.RLIM_INFINITY and hard < wanted:
        sys.exit(f"{wanted} open files are needed, and the hard limit is {hard}: raise it (ulimit -Hn)")
    # The server inherits it.
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    with Bench(sys.argv[1]) as bench:
        server = bench.server
        token = log_in(bench.port)
        clients = []

        def connect_more(number):
            nonlocal token
            for _ in range(number):
                if len(clients) % CLIENTS_OF_USER == CLIENTS_OF_USER - 1:
                    token = log_in(bench.port)
                clients.append(Client(bench.port, token, "bench1"))

        busy = Client(bench.port, token, "bench2")
        publish_schema(busy)
        writer = Client(bench.port, token, "bench1")
        connect_more(FIRST)
        few = silent_cpu(server, seconds)
        _, delays_beside_few = upload_all([busy], 5)
        before = server.memory_in_kib
        began = time.perf_counter()
        connect_more(count)
        took = time.perf_counter() - began
        time.sleep(2)
        after = server.memory_in_kib
        many = silent_cpu(server, seconds)
        _, delays = upload_all([busy], 5, base=1_000_000)
        woken_in = wake(clients, writer)
        time.sleep(2)
        awake = server.memory_in_kib

        print(f"idle: {count} sessions, each on a connection of its own")
        print(f"memory        {(after - before) / count:.1f} KiB each; the server has {after / 1024:.0f} MiB, "
              f"{before / 1024:.0f} MiB with {FIRST} sessions")
        record("idle.kib", (after - before) / count)
        record("idle.cpu", many / seconds * 100)
        print(f"processor     {many:.2f} s in {seconds} s of silence, {few:.2f} s with {FIRST} sessions")
        print(f"connecting    {took / count * 1000:.1f} ms each, one after the other")
        for text, times in [(f"{FIRST}", delays_beside_few), (f"{count + FIRST}", delays)]:
            print(f"a write       acknowledged in {statistics.median(times) * 1000:.2f} ms (median), "
                  f"{times[len(times) * 99 // 100] * 1000:.2f} ms (99 %) beside {text} silent sessions")
        print(f"all woken     the last of {len(clients)} has the DOWNLOAD after {woken_in:.2f} s; "
              f"{(awake - before) / count:.1f} KiB each after that")


main()
