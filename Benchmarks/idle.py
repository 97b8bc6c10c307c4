#!/usr/bin/env python3
"""Measures what idle sessions cost a server: real connections on loopback, one session each.

    Benchmarks/idle.py BIN-DIRECTORY [CONNECTIONS] [SECONDS]

Every connection binds a session of a new client file of one partition, takes its first DOWNLOAD and the
answer to its MARK, and then says nothing. Reports the server's memory before and after, divided by the
connections, and the processor time it takes within the seconds of silence, beside that of the same
server with next to no connections.
"""

import base64
import json
import os
import re
import resource
import socket
import struct
import sys
import time
import urllib.request

from harness import Bench, record

PATH = "/api/client/v2.0/app/bench"
# The first few bring in what every later one shares.
FIRST = 50


class Connection:
    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {PATH}/realm-sync?baas_at={token} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Protocol: com.mongodb.realm-sync#14\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            sys.exit(f"the server refused the upgrade: {head.decode()}")

    def fill(self):
        data = self.socket.recv(65536)
        if not data:
            sys.exit("the server closed a connection")
        self.buffer += data

    def send(self, text):
        body = text.encode()
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(body))
        size = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + struct.pack(">H", len(body))
        self.socket.sendall(b"\x82" + size + mask + masked)

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def receive(self):
        size = self.take(2)[1] & 127
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return self.take(size)

    def expect(self, name):
        while True:
            message = self.receive()
            if message.startswith(b"log_message"):
                continue
            if not message.startswith(name.encode()):
                sys.exit(f"wanted {name}, got {message[:100]}")
            return message.decode("utf-8", "replace")

    def bind(self):
        self.send('bind 1 8 0 1 0\n"bench1"')
        ident, salt = re.match(r"ident 1 (\d+) (\d+)", self.expect("ident")).groups()
        self.send(f"ident 1 {ident} {salt} 0 0 0 0\n")
        self.send("mark 1 1\n")
        self.expect("download")
        self.expect("mark")


def silent_cpu(server, seconds):
    began = server.cpu_seconds
    time.sleep(seconds)
    return server.cpu_seconds - began


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
        request = urllib.request.Request(
            f"http://127.0.0.1:{bench.port}{PATH}/auth/providers/anon-user/login", b"{}", method="POST")
        token = json.load(urllib.request.urlopen(request))["access_token"]

        connections = []

        def connect_more(number):
            for _ in range(number):
                connection = Connection(bench.port, token)
                connection.bind()
                connections.append(connection)

        connect_more(FIRST)
        few = silent_cpu(server, seconds)
        before = server.memory_in_kib
        began = time.perf_counter()
        connect_more(count)
        took = time.perf_counter() - began
        time.sleep(2)
        after = server.memory_in_kib
        many = silent_cpu(server, seconds)
        print(f"idle: {count} sessions, each on a connection of its own")
        print(f"memory        {(after - before) / count:.1f} KiB each; the server has {after / 1024:.0f} MiB, "
              f"{before / 1024:.0f} MiB with {FIRST} sessions")
        record("idle.kib", (after - before) / count)
        record("idle.cpu", many / seconds * 100)
        print(f"processor     {many:.2f} s in {seconds} s of silence, {few:.2f} s with {FIRST} sessions")
        print(f"connecting    {took / count * 1000:.1f} ms each, one after the other")


main()
