#!/usr/bin/env python3
"""A network of two hosts with a link between them that can be made as bad as wished.

Two network namespaces are made, joined by a TUN device in each; what goes in at one comes out at the
other after a delay, or not at all. Prints the process ids whose /proc/PID/ns/net the namespaces are,
then obeys lines on standard input:

    set DELAY_MS LOSS_PERCENT RATE_KBIT   (each way; a rate of 0 is no limit)
    down, up                              (the first host's end)

and answers each with "ok". Ends with its input. Needs the right to make namespaces (CAP_SYS_ADMIN) and
/dev/net/tun; exits with status 77 and a reason where the kernel forbids them.
"""
import ctypes
import fcntl
import heapq
import os
import random
import selectors
import signal
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
HOSTS = [("link0", "10.98.0.1", "10.98.0.2"), ("link1", "10.98.0.2", "10.98.0.1")]
QUEUE_SECONDS = 4.0  # of a limited rate; what would wait longer is dropped

libc = ctypes.CDLL(None, use_errno=True)


def check(code, what):
    if code != 0:
        print(f"{what}: {os.strerror(ctypes.get_errno())}")
        sys.exit(77)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def make_host(name, address, peer):
    """A namespace, and its end of the link; the process that keeps it sleeps until it is killed."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    check(libc.unshare(CLONE_NEWNET), "a network namespace cannot be made")
    try:
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_NO_PI))
    except OSError as error:
        print(f"a TUN device cannot be made: {error.strerror}")
        sys.exit(77)
    ip("link", "set", "lo", "up")
    ip("address", "add", address, "peer", peer, "dev", name)
    up(name)
    keeper = os.fork()
    if keeper == 0:
        os.close(tun)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        while True:
            signal.pause()
    check(libc.setns(own, CLONE_NEWNET), "the namespace cannot be left")
    os.close(own)
    return tun, keeper


def up(name):
    ip("link", "set", name, "up", "txqueuelen", "2000")
    ip("route", "replace", "default", "dev", name)


def inside(keeper, work, *arguments):
    """Does something in the namespace of a keeper."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    other = os.open(f"/proc/{keeper}/ns/net", os.O_RDONLY)
    check(libc.setns(other, CLONE_NEWNET), "setns")
    work(*arguments)
    check(libc.setns(own, CLONE_NEWNET), "setns")
    os.close(own)
    os.close(other)


def obey(words, keeper, link):
    if words[0] == "set":
        link.update(delay=float(words[1]) / 1000, loss=float(words[2]), rate=float(words[3]) * 1000)
    elif words[0] == "down":
        inside(keeper, ip, "link", "set", HOSTS[0][0], "down")
    elif words[0] == "up":
        inside(keeper, up, HOSTS[0][0])
    print("ok", flush=True)


def carry(ends, keeper):
    link = {"delay": 0.0, "loss": 0.0, "rate": 0.0}
    free_at = {end: 0.0 for end in ends}
    queue, number = [], 0
    selector = selectors.DefaultSelector()
    for end, other in zip(ends, reversed(ends)):
        selector.register(end, selectors.EVENT_READ, other)
    selector.register(0, selectors.EVENT_READ)
    commands = b""
    while True:
        wait = max(0.0, queue[0][0] - time.monotonic()) if queue else None
        for key, _ in selector.select(wait):
            if key.fd == 0:
                piece = os.read(0, 4096)
                if not piece:
                    return
                *lines, commands = (commands + piece).split(b"\n")
                for line in lines:
                    obey(line.decode().split(), keeper, link)
                continue
            for _ in range(64):
                try:
                    packet = os.read(key.fd, 65536)
                except OSError:  # nothing there, or the device is down
                    break
                if random.random() * 100 < link["loss"]:
                    continue
                start = max(time.monotonic(), free_at[key.fd])
                if link["rate"] > 0:
                    if start - time.monotonic() > QUEUE_SECONDS:
                        continue
                    start += len(packet) * 8 / link["rate"]
                    free_at[key.fd] = start
                number += 1
                heapq.heappush(queue, (start + link["delay"], number, key.data, packet))
        now = time.monotonic()
        while queue and queue[0][0] <= now:
            _, _, end, packet = heapq.heappop(queue)
            try:
                os.write(end, packet)
            except OSError:  # the device is down
                pass


def main():
    ends = [make_host(*host) for host in HOSTS]
    try:
        print(*[keeper for _, keeper in ends], flush=True)
        carry([tun for tun, _ in ends], ends[0][1])
    finally:
        for _, keeper in ends:
            os.kill(keeper, signal.SIGKILL)


main()
