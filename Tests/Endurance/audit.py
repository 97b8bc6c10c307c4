"""Compares the ledgers of all programs with what the replicas hold."""
import collections
import glob
import json
import sqlite3


class Ledger:
    """All transactions: what must be there, and what may."""

    def __init__(self, directory):
        self.done, self.open = [], []
        self.void = 0
        for path in sorted(glob.glob(f"{directory}/*.ledger")):
            tries = {}
            with open(path, encoding="utf-8") as file:
                for line in file:
                    try:
                        kind, number, steps = json.loads(line)
                    except ValueError:
                        continue  # cut by a kill: a `done` that was not written whole
                    if kind == "try":
                        tries[number] = steps
                    elif kind == "done":
                        self.done.append(tries.pop(number))
                    else:
                        tries.pop(number)
                        self.void += 1
            self.open += tries.values()

    @property
    def step_count(self):
        return sum(len(steps) for steps in self.done)


class Audit:
    """Each finding is a line; `lost` and `twice` count writes."""

    def __init__(self, ledger, replica):
        self.findings = []
        self.lost = self.twice = self.torn = self.wrong = 0
        db = sqlite3.connect(f"file:{replica}?mode=ro", timeout=60, uri=True)
        self.entries = dict(db.execute('SELECT _id, value FROM "Entry"'))
        self.tokens = collections.Counter()
        self.counts = {}
        for board, tokens, names, count in db.execute('SELECT _id, tokens, names, count FROM "Board"'):
            self.tokens.update((token, board) for token in json.loads(tokens))
            self.tokens.update((token, board) for token in json.loads(names))
            self.counts[board] = count
        db.close()
        self.judge_rows(ledger)
        self.judge_tokens(ledger)
        self.judge_counts(ledger)
        for steps in ledger.open:
            self.judge_open(steps)

    def find(self, text):
        self.findings.append(text)

    def judge_rows(self, ledger):
        expected = {}
        for kind, key, *value in (step for steps in ledger.done for step in steps):
            if kind in ("create", "update"):
                expected[key] = {value[0]}
            elif kind == "delete":
                expected[key] = {None}
        # A program leaves a row alone once a transaction with it has no known end.
        for kind, key, *value in (step for steps in ledger.open for step in steps):
            if kind in ("create", "update", "delete"):
                expected.setdefault(key, {None}).add(value[0] if value else None)
        for key, values in expected.items():
            value = self.entries.get(key)
            if value in values:
                continue
            if value is None:
                self.lost += 1
                self.find(f"row {key} is lost; it should be {values}")
            elif values == {None}:
                self.twice += 1
                self.find(f"row {key} is deleted, and exists")
            else:
                self.lost += 1
                self.find(f"row {key} has {value} instead of {values}")
        for key in self.entries.keys() - expected.keys():
            self.wrong += 1
            self.find(f"row {key} is in no ledger")

    def judge_tokens(self, ledger):
        known = set()
        for steps, is_certain in [(steps, True) for steps in ledger.done] + [(steps, False) for steps in ledger.open]:
            for kind, token, *board in steps:
                if kind not in ("append", "add"):
                    continue
                place = (token, board[0])
                known.add(place)
                if self.tokens[place] > 1:
                    self.twice += 1
                    self.find(f"{kind} {place} exists {self.tokens[place]} times")
                elif is_certain and self.tokens[place] == 0:
                    self.lost += 1
                    self.find(f"{kind} {place} is lost")
        for place in +self.tokens - collections.Counter(known):
            if place not in known:
                self.wrong += 1
                self.find(f"{place} is in no ledger")

    def judge_counts(self, ledger):
        low, high = collections.Counter(), collections.Counter()
        for steps in ledger.done:
            low.update(step[2] for step in steps if step[0] == "count")
        for steps in ledger.open:
            high.update(step[2] for step in steps if step[0] == "count")
        for board, count in self.counts.items():
            if count < low[board]:
                self.lost += low[board] - count
                self.find(f"board {board} counts {count} of {low[board]}")
            elif count > low[board] + high[board]:
                self.twice += count - low[board] - high[board]
                self.find(f"board {board} counts {count}, more than {low[board] + high[board]}")

    def judge_open(self, steps):
        """A transaction without a known end is there as a whole, or not at all."""
        seen = set()
        for kind, key, *value in steps:
            if kind == "create":
                seen.add(key in self.entries)
            elif kind in ("append", "add"):
                seen.add(self.tokens[(key, value[0])] > 0)
        if len(seen) > 1:
            self.torn += 1
            self.find(f"half of a transaction: {steps}")


def contents(replica):
    """All rows, for the comparison of replicas."""
    db = sqlite3.connect(f"file:{replica}?mode=ro", timeout=60, uri=True)
    try:
        return [db.execute(f'SELECT * FROM "{table}" ORDER BY _id').fetchall() for table in ("Entry", "Board")]
    finally:
        db.close()


def set_aside(replica):
    """Writes that the file lists as rejected: they are kept, but did not reach the others."""
    db = sqlite3.connect(f"file:{replica}?mode=ro", timeout=60, uri=True)
    try:
        return db.execute("SELECT count(*) FROM _realm_issue").fetchone()[0]
    finally:
        db.close()
