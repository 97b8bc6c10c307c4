#!/usr/bin/env python3
"""Imports generated documents with `realm-server import data`, and measures rate, processor time and memory.

    Benchmarks/import.py .build-release/release [--documents N] [--partitions P] [--json] [--keep DIR]

Each document has ten scalar fields, about 250 bytes of BSON. The first import goes into an empty SQLite store,
the second one finds everything as it is. Flatness compares the last tenth of the first import with its first.
"""

import argparse
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SCHEMA = """classes:
  Order:
    primary_key: _id
    properties:
      _id: object_id
      store: string?
      name: string
      note: string
      count: int
      size: int
      price: double
      active: bool
      at: timestamp
      customer: object_id
      state: string?
"""
MAP = """app: bench-aaaaa
partition:
  key: store
  type: string
  required: false
collections:
  shop.orders: Order
"""
BLOCK = 10_000


def text(name, value):
    data = value.encode()
    return b"\x02" + name + b"\0" + struct.pack("<i", len(data) + 1) + data + b"\0"


def template(store):
    """One document, with the places of its id, count and price."""
    body = b"\x07_id\0"
    places = {"id": 4 + len(body)}
    body += bytes(12)
    body += text(b"store", store) + text(b"name", "order of a customer")
    body += text(b"note", "left at the door, call before, and ring twice; fragile, keep upright")
    body += b"\x10count\0"
    places["count"] = 4 + len(body)
    body += bytes(4)
    body += b"\x12size\0" + struct.pack("<q", 1 << 40) + b"\x01price\0"
    places["price"] = 4 + len(body)
    body += bytes(8)
    body += b"\x08active\0\x01" + b"\x09at\0" + struct.pack("<q", 1_700_000_000_000)
    body += b"\x07customer\0" + bytes(range(12)) + text(b"state", "delivered") + b"\0"
    return struct.pack("<i", len(body) + 4) + body, places


def generate(path, documents, partitions):
    """Writes a BSON file. Ids ascend, as those of drivers do; partitions take turns."""
    made = [template(f"store-{number:06}") for number in range(partitions)]
    length = len(made[0][0])
    places = made[0][1]
    seconds = 0x65000000
    with open(path, "wb") as file:
        for start in range(0, documents, BLOCK):
            count = min(BLOCK, documents - start)
            block = bytearray(b"".join(made[(start + i) % partitions][0] for i in range(count)))
            for i in range(count):
                number = start + i
                at = i * length
                struct.pack_into(">IIHH", block, at + places["id"], seconds + number // 1000,
                                 number & 0xFFFFFFFF, 7, number % 1000)
                struct.pack_into("<i", block, at + places["count"], number & 0x7FFFFFFF)
                struct.pack_into("<d", block, at + places["price"], number / 8)
            file.write(block)
    return length


def run(command, environment):
    """Runs the command; returns seconds, processor seconds, peak MiB and progress (second, documents)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment)
    progress = [(0.0, 0)]
    peak = 0
    for line in process.stderr:
        found = re.search(r"(\d+) documents", line)
        if found:
            progress.append((time.monotonic() - begun, int(found[1])))
        else:
            print(line, end="", file=sys.stderr)
        peak = max(peak, anonymous_memory(process.pid))
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0) if process.returncode is None else (0, 0, None)
    seconds = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if status != 0:
        sys.exit(f"status {status}: {output}")
    return seconds, cpu, usage.ru_maxrss / 1024, peak, progress, output


def anonymous_memory(pid):
    """MiB that are the process's own, without mapped files, which the kernel may write out."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(r"RssAnon:\s+(\d+)", file.read())
            return int(found[1]) / 1024 if found else 0
    except OSError:
        return 0


def rates(progress, total, seconds):
    """Documents per second in the first and the last tenth, between the samples that enclose them."""
    samples = progress + [(seconds, total)]

    def at(count):
        for (t0, d0), (t1, d1) in zip(samples, samples[1:]):
            if d0 <= count <= d1:
                return t0 + (t1 - t0) * ((count - d0) / max(1, d1 - d0))
        return seconds

    tenth = total // 10
    return tenth / max(0.001, at(tenth)), tenth / max(0.001, seconds - at(total - tenth))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--keep", help="a directory that stays")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="realm-import-")
    os.makedirs(folder, exist_ok=True)
    try:
        source = f"{folder}/orders.bson"
        begun = time.monotonic()
        length = generate(source, options.documents, options.partitions)
        print(f"{options.documents} documents of {length} bytes of BSON, "
              f"{options.partitions} partitions, made in {time.monotonic() - begun:.0f} s")
        with open(f"{folder}/schema.yaml", "w") as file:
            file.write(SCHEMA)
        with open(f"{folder}/map.yaml", "w") as file:
            file.write(MAP)
        with open(f"{folder}/server.yaml", "w") as file:
            file.write(f"""version: 1
server: {{ storage: "sqlite:{folder}/server.sqlite" }}
apps:
  bench-aaaaa:
    sync: {{ partition_key: store, partition_type: string }}
    schema: {folder}/schema.yaml
""")
        command = [f"{options.binaries}/realm-server", "import", "data", "--config",
                   f"{folder}/server.yaml", "--app", "bench-aaaaa", "--map", f"{folder}/map.yaml",
                   f"shop.orders={source}"]
        environment = dict(os.environ, TMPDIR=folder)
        for name in ["first", "again"]:
            with open("/proc/loadavg") as file:
                load = file.read().split()[0]
            seconds, cpu, resident, anonymous, progress, output = run(command, environment)
            first, last = rates(progress, options.documents, seconds)
            print(f"{name}: {options.documents / seconds:.0f}/s, {seconds:.0f} s, "
                  f"{cpu * 1e6 / options.documents:.1f} us of processor time each, peak "
                  f"{resident:.0f} MiB resident, {anonymous:.0f} MiB of its own (sampled), first "
                  f"tenth {first:.0f}/s, last {last:.0f}/s ({100 * last / first:.0f} %), load "
                  f"before {load}")
            print(f"  {output.strip()}")
        size = sum(os.path.getsize(f"{folder}/{n}") for n in os.listdir(folder)
                   if n.startswith("server.sqlite"))
        print(f"store: {size / (1 << 20):.0f} MiB")
    finally:
        if not options.keep:
            shutil.rmtree(folder)


main()
