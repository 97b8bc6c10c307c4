#!/usr/bin/env python3
"""A program that writes into a local realm, as any program would, and keeps a ledger of it.

    writer.py FILE LEDGER NAME SEED

Each transaction has a number. The ledger gets a line before it (`try`), and one after it: `done` once COMMIT has
returned, `void` if the transaction was rolled back. A transaction without a second line may exist or not: the
program was killed, or COMMIT failed. It runs until it is killed, and continues where its ledger ends.
"""
import json
import random
import sqlite3
import sys
import time

BOARDS = 400
PAUSE_IN_SECONDS = 2  # on average, between two transactions


class Program:
    def __init__(self, path, ledger, name, seed):
        self.path = path
        self.name = name
        self.random = random.Random(seed)
        self.rows = {}  # keys of own rows that exist for certain
        self.number = self.resume(ledger)
        self.ledger = open(ledger, "a", encoding="utf-8")
        self.db = None

    def resume(self, ledger):
        """The number of the next transaction. A line that a kill has cut is completed, so that no other is lost."""
        number, tries = 0, {}
        try:
            with open(ledger, "r+", encoding="utf-8") as file:
                text = file.read()
                if text and not text.endswith("\n"):
                    file.write("\n")
        except FileNotFoundError:
            return 0
        for line in text.splitlines():
            try:
                kind, its_number, steps = json.loads(line)
            except ValueError:
                continue
            number = max(number, its_number + 1)
            if kind == "try":
                tries[its_number] = steps
            elif kind == "done":
                self.apply(tries.pop(its_number))
            else:
                tries.pop(its_number)
        # Rows of transactions without an end are left alone from now on.
        for steps in tries.values():
            for step in steps:
                self.rows.pop(step[1], None)
        return number

    def apply(self, steps):
        for step in steps:
            if step[0] in ("create", "update"):
                self.rows[step[1]] = step[2]
            elif step[0] == "delete":
                self.rows.pop(step[1], None)

    def note(self, kind, steps=None):
        self.ledger.write(json.dumps([kind, self.number, steps]) + "\n")
        self.ledger.flush()

    def steps(self):
        """What the next transaction does; no row twice."""
        steps, used = [], set()
        for position in range(self.random.choice([1, 1, 1, 2, 4])):
            token = f"{self.name}.{self.number}.{position}"
            own = [key for key in self.random.sample(list(self.rows), min(4, len(self.rows))) if key not in used]
            kind = self.random.choice(["create", "create", "update", "update", "delete", "append", "append", "add",
                                       "count"])
            if kind in ("update", "delete") and not own:
                kind = "create"
            if kind == "create":
                steps.append([kind, token, self.random.randrange(1 << 40)])
                used.add(token)
            elif kind == "update":
                steps.append([kind, own[0], self.random.randrange(1 << 40)])
                used.add(own[0])
            elif kind == "delete":
                steps.append([kind, own[0]])
                used.add(own[0])
            else:
                steps.append([kind, token, self.random.randrange(BOARDS)])
        return steps

    def write(self, step):
        kind, key = step[0], step[1]
        if kind == "create":
            self.db.execute('INSERT INTO "Entry"(_id, value, note) VALUES (?, ?, ?)',
                            (key, step[2], "x" * (step[2] % 200)))
        elif kind == "update":
            self.expect_one(self.db.execute('UPDATE "Entry" SET value = ? WHERE _id = ?', (step[2], key)), step)
        elif kind == "delete":
            self.expect_one(self.db.execute('DELETE FROM "Entry" WHERE _id = ?', (key,)), step)
        elif kind == "append":
            self.expect_one(self.db.execute("""UPDATE "Board" SET tokens = json_insert(tokens, '$[#]', ?)
                                               WHERE _id = ?""", (key, step[2])), step)
        elif kind == "add":
            self.expect_one(self.db.execute("""UPDATE "Board" SET names = json_insert(names, '$[#]', ?)
                                               WHERE _id = ?""", (key, step[2])), step)
        else:
            self.expect_one(self.db.execute('UPDATE "Board" SET count = count + 1 WHERE _id = ?', (step[2],)), step)

    def expect_one(self, cursor, step):
        """Own rows and boards exist at any time; the audit would find the loss, but not its moment."""
        if cursor.rowcount != 1:
            print(f"{time.time():.3f} {self.name}: {step} met {cursor.rowcount} rows", flush=True)

    def transact(self):
        if self.db is None:
            self.db = sqlite3.connect(f"file:{self.path}?mode=rw", timeout=20, uri=True, isolation_level=None)
        steps = self.steps()
        self.note("try", steps)
        try:
            self.db.execute("BEGIN IMMEDIATE")
            for step in steps:
                self.write(step)
        except sqlite3.Error:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            self.note("void")
            self.number += 1
            raise
        try:
            self.db.execute("COMMIT")
        except sqlite3.Error:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            for step in steps:
                self.rows.pop(step[1], None)
            self.number += 1
            raise
        self.note("done")
        self.number += 1
        self.apply(steps)

    def run(self):
        while True:
            try:
                self.transact()
            except sqlite3.Error as error:
                print(f"{time.time():.3f} {self.name}: {error}", flush=True)
                self.db = None
                time.sleep(1)
            time.sleep(self.random.expovariate(1 / PAUSE_IN_SECONDS))


if __name__ == "__main__":
    Program(*sys.argv[1:]).run()
