#!/usr/bin/env python3
"""Measures what idle sessions cost a server: real connections on loopback, one session each.

    Benchmarks/idle.py BIN-DIRECTORY [CONNECTIONS]

Every connection binds a session of a new client file of one partition, takes its first DOWNLOAD and the
answer to its MARK, and then says nothing. Reports the server's memory before and after, divided by the
connections, and the processor time it takes within ten seconds of silence.
"""

import base64
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

PATH = "/api/client/v2.0/app/bench"


def memory_in_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmRSS"):
                return int(line.split()[1])


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count * 2 + 1000), hard))
    directory = tempfile.mkdtemp(prefix="realm-idle-")
    with open(f"{directory}/server.yaml", "w") as file:
        file.write(f"""version: 1
server:
  listen: 127.0.0.1:0
  storage: sqlite:{directory}/server.sqlite
  log: {{ level: warn, output: stderr }}
apps:
  bench: {{ development_mode: true, providers: {{ anonymous: true }} }}
""")
    server = subprocess.Popen([f"{sys.argv[1]}/realm-server", "serve", "--config",
                               f"{directory}/server.yaml", "--port-file", f"{directory}/port"])
    try:
        while not os.path.exists(f"{directory}/port"):
            if server.poll() is not None:
                sys.exit("the server does not start")
            time.sleep(0.02)
        port = int(open(f"{directory}/port").read())
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{PATH}/auth/providers/anon-user/login", b"{}", method="POST")
        token = json.load(urllib.request.urlopen(request))["access_token"]

        connections = []
        # The first few bring in what every later one shares.
        for number in range(count + 20):
            if number == 20:
                before = memory_in_kib(server.pid)
            connection = Connection(port, token)
            connection.send('bind 1 8 0 1 0\n"bench1"')
            ident, salt = re.match(r"ident 1 (\d+) (\d+)", connection.expect("ident")).groups()
            connection.send(f"ident 1 {ident} {salt} 0 0 0 0\n")
            connection.send("mark 1 1\n")
            connection.expect("download")
            connection.expect("mark")
            connections.append(connection)
        after = memory_in_kib(server.pid)
        print(f"{count} idle sessions: {(after - before) / count:.1f} KiB each, "
              f"the server has {after / 1024:.0f} MiB")
        began = cpu_seconds(server.pid)
        time.sleep(10)
        print(f"processor time in 10 s of silence: {cpu_seconds(server.pid) - began:.2f} s")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        shutil.rmtree(directory, ignore_errors=True)


main()
