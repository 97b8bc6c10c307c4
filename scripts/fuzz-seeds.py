#!/usr/bin/env python3
"""Makes the inputs that fuzzing begins with: from the golden vectors, the examples, and Tests/Corpus/Fuzz.

    scripts/fuzz-seeds.py seeds DIRECTORY           a folder of small files for each target
    scripts/fuzz-seeds.py keep DIRECTORY [COUNT]    the smallest files of each target into Tests/Corpus/Fuzz

Tests/Corpus/Fuzz has a text for each target, with an input on each line in base64; `make test` replays them.
"""
import base64
import glob
import gzip
import hashlib
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VECTORS = f"{ROOT}/Tests/Vectors"
CORPUS = f"{ROOT}/Tests/Corpus/Fuzz"
LARGEST = 4096  # bytes: large inputs make every step slow
MOST = 1500  # for each target; the rest repeats what these reach


def lines(pattern):
    for path in sorted(glob.glob(f"{VECTORS}/{pattern}")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def files(pattern):
    for path in sorted(glob.glob(f"{ROOT}/{pattern}", recursive=True)):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                yield path, file.read()


def changesets():
    for name in ("valid", "malformed"):
        for vector in lines(f"changeset/{name}.jsonl.gz"):
            yield bytes.fromhex(vector["hex"])


def merges():
    for vector in lines("transform/hand.jsonl.gz"):
        sides = [b"".join(bytes.fromhex(part["hex"]) for part in vector[side][:1]) for side in ("local", "remote")]
        yield len(sides[0]).to_bytes(2, "big") + b"".join(sides)


def messages(direction):
    for vector in lines("wire/*.jsonl.gz"):
        if vector["dir"] == direction and vector["opcode"] in ("binary", "text"):
            data = bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()
            yield (b"\1" if vector["scenario"].startswith("flx") else b"\0") + data


def connections():
    scenarios = {}
    for message in lines("wire/*.jsonl.gz"):
        if message["dir"] == "c2s" and message["opcode"] in ("binary", "text"):
            data = bytes.fromhex(message["hex"]) if "hex" in message else message["text"].encode()
            if len(data) < 1 << 16:
                key = (message["scenario"], message["conn"])
                scenarios[key] = scenarios.get(key, b"") + len(data).to_bytes(2, "big") + data
    for (scenario, _), data in scenarios.items():
        yield bytes([21 if scenario.startswith("flx") else 20]) + data


def dumps():
    for path, data in files("Tests/Vectors/migration/data/**/*"):
        if not path.endswith(".gz"):
            yield bytes([254, 1 if path.endswith(".bson") else 0]) + data
    for path, data in files("Tests/Vectors/migration/bad/*"):
        yield bytes([16, 1 if path.endswith(".bson") else 0]) + data


def exports():
    for app in sorted(glob.glob(f"{VECTORS}/migration/apps/*")):
        parts = []
        for path, data in files(os.path.relpath(app, ROOT) + "/**/*"):
            name = os.path.relpath(path, app).encode()
            parts.append(name + b"\n" + data if name.endswith(b".json") else name)
        yield b"\n--\n".join(parts)
    for _, data in files("Tests/Vectors/migration/users/*.json"):
        yield b"users.json\n" + data


def bodies():
    """Of the control API, by the number that selects the request."""
    for number, body in [
            (0, {"timeout_in_seconds": 5}), (1, {"directions": ["upload"], "until_open": True}), (2, {"seconds": 1.5}),
            (3, {"path": "/srv/a.sqlite", "to_local": True, "partition": "string:x"}), (4, {"force": True}),
            (5, {"mode": "manual", "dry_run": True, "token": "t"}),
            (6, {"operations": [{"op": "add", "class": "Task", "query": "TRUEPREDICATE", "name": "n"}], "wait": True}),
            (7, {"force": False, "token": "a", "token_id": "b", "calls_function": True}), (8, {"repair": True}),
            (9, {"name": "n"}), (10, {"level": "debug", "category": "sync"})]:
        yield bytes([number]) + json.dumps(body).encode()


def requests():
    app = "/api/client/v2.0/app/test-app"
    login = {"username": "a@example.com", "password": "secret", "options": {"device": {"deviceId": "0", "sdk": "x"}}}
    for line, body in [
            (f"GET {app}/location", None), (f"POST {app}/auth/providers/local-userpass/login link=true", login),
            (f"POST {app}/auth/providers/anon-user/login", {"options": {"device": {}}}),
            (f"POST {app}/auth/providers/api-key/login", {"key": "k"}),
            (f"POST {app}/auth/providers/custom-token/login", {"token": "a.b.c"}),
            (f"POST {app}/auth/providers/local-userpass/reset/call", {"email": "a", "password": "b", "arguments": [1]}),
            (f"POST {app}/functions/call", {"name": "f", "arguments": [{"$oid": "5f63e882536d46e471877901"}]}),
            ("POST /api/client/v2.0/auth/session", None), ("GET /api/client/v2.0/auth/api_keys/1", None),
            (f"PUT {app}/push/providers/gcm/registration", {"registrationToken": "t"}), ("GET /healthz", None)]:
        yield line.encode() + b"\n" + (json.dumps(body).encode() if body else b"")


def zones():
    for name in ("UTC", "Europe/Vienna", "America/New_York", "Asia/Kathmandu"):
        path = f"/usr/share/zoneinfo/{name}"
        if os.path.exists(path):
            with open(path, "rb") as file:
                yield b"\0" + file.read()
    for line in ("30 2 * * *", "*/5 0-6 1,15 * 1-5", "0 0 29 2 *", "@daily", "0 12 * JAN-MAR SUN"):
        yield b"\1" + line.encode()
    for window in ("mon-fri 08:00-18:00", "sat 22:00-06:00", "daily 00:00-24:00"):
        yield b"\2" + window.encode()


def rules():
    for text in ("true", "partition == user.id OR user.data.role == 'manager'", "NOT (partition IN {'a', 'b'})",
                 "user.custom_data.stores.@count > 3 AND partition BEGINSWITH 'x'"):
        yield text.encode()
    for _, data in files("Tests/Vectors/migration/rules/*.json"):
        for rule in json.loads(data):
            yield json.dumps(rule).encode()


def queries():
    """Of each form: the recording has hundreds of most. Its properties get the names of the target's class."""
    names = {"int": "count", "str": "title", "dec": "price", "dbl": "ratio", "flt": "ratio", "date": "at", "ts": "at",
             "mix": "any"}
    for number, vector in enumerate(lines("query/hand.jsonl.gz")):
        if number % 13 == 0 and isinstance(vector["text"], str):
            text = re.sub(r"\b(int|str|dec|dbl|flt|date|ts)_[rn]\b|\bmix\b",
                          lambda match: names[match.group(0).split("_")[0]], vector["text"])
            text = re.sub(r"\bl_\w+\b", "tags", text)
            yield re.sub(r"\bd_\w+\b", "notes", text).encode()


def records():
    for data in changesets():
        yield b"\1" + data
    for key in (b"\0" + bytes(9), b"\0\0" + bytes(8), b"\0\xff" + bytes(16)):
        yield key
    yield b'\2{"name":"x","list":[1,2.5,null]}'
    yield b"\3\3" + bytes(60)


def documents():
    """Stored objects of the class of `DocumentInput`: canonical, and nearly."""
    values = {"_id": ["1", "-0"], "a": ["-9223372036854775808", "007", "1.0", "1e2"], "b": ["true", "tru"],
              "c": ['"x"', '"\\u0000"', '{"$string":{"base64":"/w=="}}'], "d": ['"AQI="', '"AQJ="', '""'],
              "e": ['"2026-02-03T04:05:06.000000007Z"', '"2026-02-31T24:59:59.999999999Z"', '"@1.2"', '"2026-02-03"'],
              "f": ["1.5", "-0.0", "1e+16", ".5", '{"$numberDouble":"-0.0"}'], "g": ["0.1", "5"],
              "h": ['"12.50"', '"NaN"'], "i": ['"5f63e882536d46e471877901"'],
              "j": ['"6f1c6a5e-0f2b-4c5e-9a53-2b1c6a5e0f2b"'], "k": ['[1,{"a":"b"}]', '{"$date":"@1.2"}', "null"]}
    for round in range(5):
        chosen = [f'"{name}":{texts[min(round, len(texts) - 1)]}' for name, texts in values.items()]
        yield ("{" + ",".join(chosen) + "}").encode()
    for name, texts in values.items():
        for text in texts + ["null"]:
            yield ("{" + ",".join(f'"{other}":{text if other == name else "null" if other != "_id" else "1"}'
                                  for other in values) + "}").encode()


SEEDS = {
    "changeset": changesets,
    "merge": merges,
    "client-message": lambda: messages("c2s"),
    "server-message": lambda: messages("s2c"),
    "connection": connections,
    "document": documents,
    "bson": lambda: (data for path, data in files("Tests/Vectors/migration/**/*.bson")),
    "extended-json": lambda: (data for path, data in files("Tests/Vectors/migration/data/**/*.json")),
    "yaml": lambda: (data for path, data in files("Tests/Corpus/Configuration/*")),
    "agent-configuration": lambda: (data for path, data in files("Tests/Corpus/Configuration/*")),
    "schedule": zones,
    "query": queries,
    "access-rule": rules,
    "client-request": requests,
    "control-request": bodies,
    "server-record": records,
    "dump": dumps,
    "app-export": exports,
    "capture-log": lambda: (bytes([kind]) + hashlib.sha512(bytes([n])).digest() for kind in (0, 1) for n in range(40)),
    "realm-file": lambda: (hashlib.sha512(bytes([n])).digest()[:n % 60 + 4] for n in range(80)),
}


def kept(target):
    path = f"{CORPUS}/{target}.txt"
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            for line in file:
                yield base64.b64decode(line)


def seeds(directory):
    for target, make in SEEDS.items():
        os.makedirs(f"{directory}/{target}", exist_ok=True)
        inputs = sorted({data for data in make() if len(data) <= LARGEST}, key=lambda data: (len(data), data))
        step = max(1, len(inputs) // MOST)
        # What fuzzing has found is kept whole.
        for data in inputs[::step] + list(kept(target)):
            with open(f"{directory}/{target}/{hashlib.sha1(data).hexdigest()}", "wb") as file:
                file.write(data)


def keep(directory, count):
    os.makedirs(CORPUS, exist_ok=True)
    for target in SEEDS:
        inputs = set(kept(target))
        found = sorted((data for path in glob.glob(f"{directory}/{target}/*") for data in [open(path, "rb").read()]
                        if len(data) <= 600), key=lambda data: (len(data), data))
        step = max(1, len(found) // count)
        inputs.update(found[::step])
        if inputs:
            with open(f"{CORPUS}/{target}.txt", "w", encoding="ascii") as file:
                for data in sorted(inputs, key=lambda data: (len(data), data)):
                    file.write(base64.b64encode(data).decode() + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "seeds":
        seeds(sys.argv[2])
    else:
        keep(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 60)
