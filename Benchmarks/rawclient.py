"""Raw clients of the sync protocol: connections that upload objects of the benchmarks' class without an agent.

One thread serves any number of them; each sends its next UPLOAD as soon as the one before it is acknowledged.
"""

import base64
import json
import os
import re
import select
import socket
import struct
import sys
import time
import urllib.request

PATH = "/api/client/v2.0/app/bench"


def log_in(port):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{PATH}/auth/providers/anon-user/login", b"{}", method="POST")
    return json.load(urllib.request.urlopen(request))["access_token"]


# MARK: Changesets

def number(value):
    """A signed integer: groups of 7 bits, the last one of 6 bits behind its sign."""
    sign, rest = (0x40, -(value + 1)) if value < 0 else (0, value)
    out = bytearray()
    while rest >> 6:
        out.append(0x80 | rest & 0x7f)
        rest >>= 7
    out.append(sign | rest)
    return bytes(out)


def intern(index, text):
    return number(63) + number(index) + number(len(text)) + text.encode()


INT, STRING = number(1), number(3)


def schema():
    """Class `Small` with an integer key and a text."""
    return (intern(0, "Small") + intern(1, "_id") + number(0) + number(0) + number(0) + number(1) + INT + b"\x00"
            + intern(2, "text") + number(6) + number(0) + number(2) + STRING + b"\x00" + number(0))


def created(keys):
    """One changeset with an object for each key."""
    out = [intern(0, "Small") + intern(1, "text")]
    for key in keys:
        target = number(0) + INT + number(key)
        text = f"text of object {key}".encode()
        out.append(number(2) + target + number(4) + target + number(1) + number(0) + STRING
                   + number(len(text)) + text + b"\x00")
    return b"".join(out)


# MARK: Connections

class Client:
    """A connection with one session of a new client file."""

    def __init__(self, port, token, partition, file=None):
        """`file` is that of an earlier connection, which this one continues."""
        self.partition = partition
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.version = 0
        self.server_version = 0
        self.acknowledged = 0
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
        path = json.dumps(partition).encode()
        self.send(b"bind 1 %d 0 %d 0\n" % (len(path), file is None) + path)
        # The cursor of the last DOWNLOAD, and the newest version with its salt.
        self.position = file.position if file else (b"0", b"0", b"0", b"0")
        if file:
            self.ident = file.ident
            self.version, self.acknowledged = file.version, file.acknowledged
            self.server_version = file.server_version
        else:
            self.ident = re.match(rb"ident 1 (\d+) (\d+)", self.expect(b"ident")).groups()
        self.send(b"ident 1 %s %s %s %s %s %s\n" % (*self.ident, *self.position))
        self.last = []
        self.marks = 0
        self.marked = 0
        self.mark()
        while self.marked < self.marks:
            self.fill()
            self.take_all()

    def fill(self):
        data = self.socket.recv(1 << 18)
        if not data:
            sys.exit("the server closed a connection")
        self.buffer += data

    def send(self, body):
        if len(body) < 126:
            size = bytes([0x80 | len(body)])
        elif len(body) < 1 << 16:
            size = b"\xfe" + struct.pack(">H", len(body))
        else:
            size = b"\xff" + struct.pack(">Q", len(body))
        # A mask of zeros leaves the bytes as they are.
        self.socket.sendall(b"\x82" + size + bytes(4) + body)

    def messages(self):
        """What is complete in the buffer."""
        while True:
            if len(self.buffer) < 2:
                return
            size, start = self.buffer[1] & 127, 2
            if size == 126:
                if len(self.buffer) < 4:
                    return
                size, start = struct.unpack(">H", self.buffer[2:4])[0], 4
            elif size == 127:
                if len(self.buffer) < 10:
                    return
                size, start = struct.unpack(">Q", self.buffer[2:10])[0], 10
            if len(self.buffer) < start + size:
                return
            message, self.buffer = self.buffer[start:start + size], self.buffer[start + size:]
            yield message

    def mark(self):
        self.marks += 1
        self.send(b"mark 1 %d\n" % self.marks)

    def take_all(self):
        for message in self.messages():
            self.take(message)

    def take(self, message):
        """What a DOWNLOAD says about the server's history and this client's uploads."""
        if message.startswith(b"download "):
            fields = message.split(b"\n", 1)[0].split(b" ")
            self.server_version = int(fields[2])
            self.acknowledged = int(fields[6])
            self.position = tuple(fields[2:6])
        elif message.startswith(b"mark "):
            self.marked = int(message.split(b" ")[2])
        elif message.startswith((b"json_error", b"error")):
            sys.exit(f"the server answered {message[:300]}")

    def expect(self, name):
        while True:
            for message in self.messages():
                self.take(message)
                if message.startswith(name):
                    return message
            self.fill()

    def upload(self, changesets):
        """Sends the changesets in one UPLOAD, each of them a version."""
        self.last = changesets
        entries = b""
        for changeset in changesets:
            self.version += 1
            entries += b"%d %d 345600000000 0 %d " % (self.version + 1, self.server_version, len(changeset))
            entries += changeset
        self.send(b"upload 1 0 %d 0 %d %d %d\n" % (
            len(entries), self.version + 1, self.server_version, self.server_version) + entries)

    @property
    def is_acknowledged(self):
        return self.acknowledged == self.version + 1


def upload_all(clients, seconds, base=0, size=1):
    """Uploads for so long with each client, one UPLOAD of `size` objects after the other.

    Returns uploads per second of all, and the delays of all acknowledgements in seconds, in order.
    """
    poll = select.poll()
    by_descriptor = {client.socket.fileno(): client for client in clients}
    next_key, sent, delays = {}, {}, []

    def send(client):
        key = next_key[client]
        next_key[client] = key + size
        sent[client] = time.perf_counter()
        client.upload([created(range(key, key + size))])

    for position, client in enumerate(clients):
        next_key[client] = base + position * 10_000_000
        poll.register(client.socket, select.POLLIN)
    began = time.perf_counter()
    for client in clients:
        send(client)
    waiting = set(clients)
    while waiting:
        for descriptor, _ in poll.poll(30_000) or sys.exit("no acknowledgement within 30 s"):
            client = by_descriptor[descriptor]
            client.fill()
            for message in client.messages():
                client.take(message)
            if client in waiting and client.is_acknowledged:
                now = time.perf_counter()
                delays.append(now - sent[client])
                if now - began < seconds:
                    send(client)
                else:
                    waiting.discard(client)
    took = time.perf_counter() - began
    for client in clients:
        poll.unregister(client.socket)
    return len(delays) / took, sorted(delays)


def publish_schema(client):
    client.upload([schema()])
    while not client.is_acknowledged:
        client.fill()
        for message in client.messages():
            client.take(message)
