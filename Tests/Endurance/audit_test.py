#!/usr/bin/env python3
"""The audit finds what it is there for: a replica with one fault of each kind."""
import json
import os
import sqlite3
import sys
import tempfile

from audit import Audit, Ledger

REPLICA = """
CREATE TABLE Entry(_id TEXT PRIMARY KEY, value, note);
CREATE TABLE Board(_id INTEGER PRIMARY KEY, tokens, names, count);
INSERT INTO Entry VALUES ('good', 1, ''), ('old', 9, ''), ('deleted', 1, ''), ('strange', 1, '');
INSERT INTO Board VALUES (1, '["t1","t1","t9"]', '["n1"]', 3), (2, '[]', '[]', 0);
"""
LEDGER = [
    ["try", 0, [["create", "good", 1]]], ["done", 0, None],
    ["try", 1, [["create", "old", 2]]], ["done", 1, None],
    ["try", 2, [["create", "absent", 2]]], ["done", 2, None],
    ["try", 3, [["create", "deleted", 2]]], ["done", 3, None],
    ["try", 4, [["delete", "deleted"]]], ["done", 4, None],
    ["try", 5, [["append", "t1", 1], ["append", "t2", 1], ["add", "n1", 1], ["count", "c1", 1], ["count", "c2", 2]]],
    ["done", 5, None],
    ["try", 6, [["create", "rolled back", 1]]], ["void", 6, None],
    ["try", 7, [["create", "half", 1], ["append", "t9", 1]]],
]
EXPECTED = [
    "row old has 9 instead of {2}",
    "row absent is lost; it should be {2}",
    "row deleted is deleted, and exists",
    "row strange is in no ledger",
    "append ('t1', 1) exists 2 times",
    "append ('t2', 1) is lost",
    "board 1 counts 3, more than 1",
    "board 2 counts 0 of 1",
    "half of a transaction: [['create', 'half', 1], ['append', 't9', 1]]",
]

with tempfile.TemporaryDirectory() as directory:
    db = sqlite3.connect(f"{directory}/replica.sqlite", timeout=10)
    db.executescript(REPLICA)
    db.close()
    with open(f"{directory}/a.ledger", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in LEDGER)
        file.write('["done", 7')  # cut by a kill
    audit = Audit(Ledger(directory), f"{directory}/replica.sqlite")
    found = (audit.lost, audit.twice, audit.torn, audit.wrong)
    if audit.findings != EXPECTED or found != (4, 4, 1, 1):
        sys.exit(f"{found}\n" + "\n".join(audit.findings))
    os.unlink(f"{directory}/replica.sqlite")
