#!/usr/bin/env python3
"""Runs the benchmarks of the programs, and prints their figures as one table beside what is wanted.

    Benchmarks/table.py BIN-DIRECTORY [--large] [--short] [--only PART ...] [--keep]
    Benchmarks/table.py --compare

A figure in microseconds is processor time for an object; behind it stands its ratio to the processor time of
plain SQLite for the same row, measured in the same run. `--large` adds a million objects, `--short` takes 10 000
and no more than the CPU of transfers. The figures are left in `.build-release/benchmark.json`; `--keep` makes them
`Benchmarks/baseline.json`. `--compare` names the figures that are more than 10 % above those of the baseline.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINE = f"{HERE}/baseline.json"
LAST = f"{HERE}/../.build-release/benchmark.json"

# The script, its arguments, and when it runs.
PARTS = {
    "transfer": ["transfer.py", "100000"],
    "one": ["transfer.py", "100000", "100000"],
    "large": ["transfer.py", "1000000"],
    "short": ["transfer.py", "10000"],
    "path": ["path.py"],
    "capture": ["capture.py"],
    "latency": ["latency.py"],
    "idle": ["idle.py"],
    "many": ["many.py", "500"],
    "more": ["many.py", "5000", "10"],
    "busy": ["busy.py"],
}
USUAL = ["transfer", "one", "path", "capture", "latency", "busy", "many", "idle"]

MICROSECONDS, MEBIBYTES, TIMES, MILLISECONDS, RATE = "us", "MiB", "times", "ms", "objects/s"


def transfers(kind, note):
    """The lines of a transfer; the keys that are added up, the unit, and what is wanted."""
    t = f"transfer.{kind}"
    same = kind != "100000"
    return [
        (f"downloading agent, from the history{note}", [f"{t}.down1.agent"], MICROSECONDS, 4.4),
        (f"downloading agent, from state{note}", [f"{t}.down3.agent"], MICROSECONDS, 4.4),
        (f"server: upload and sending it{note}", [f"{t}.server.upload", f"{t}.down1.server"], MICROSECONDS, 8),
        (f"agent: drain and upload{note}", [f"{t}.up.drain", f"{t}.up.upload"], MICROSECONDS, 6),
        (f"server: snapshot for new clients{note}", [f"{t}.down2.server", f"-{t}.down3.server"], MICROSECONDS,
         None if same else 3),
        (f"up, until all is acknowledged (wall){note}", [f"{t}.up.rate"], RATE, -110_000),
        (f"down to a new agent, from the history (wall){note}", [f"{t}.down1.rate"], RATE, -110_000),
        (f"peak of the server{note}", [f"{t}.server.peak"], MEBIBYTES, 150),
        (f"peak of the uploading agent{note}", [f"{t}.up.peak"], MEBIBYTES, 80),
        (f"peak of the downloading agent{note}", [f"{t}.down1.peak"], MEBIBYTES, 150),
    ]


LINES = (
    transfers("100000", "")
    + transfers("one", ", one transaction")
    + transfers("1000000", ", 10^6 objects")
    + transfers("10000", ", 10 000 objects")
    + [
        ("insert with capture, scalars", ["capture.scalars.ratio"], TIMES, 1.6),
        ("insert with capture, JSON columns", ["capture.json.ratio"], TIMES, 2.5),
        ("inserts while the agent syncs (wall)", ["path.insert.ratio"], TIMES, 2.5),
        ("insert -> other file (wall)", ["path.rate"], RATE, -110_000),
        ("commit to visible, median", ["latency.median"], MILLISECONDS, 3),
        ("commit to visible, 99th percentile", ["latency.p99"], MILLISECONDS, 10),
        ("row of a small realm beside a big one", ["busy.row"], MILLISECONDS, 50),
        ("status beside a big realm", ["busy.status"], MILLISECONDS, 50),
        ("idle session", ["idle.kib"], "KiB", 16),
        ("500 realms: memory", ["many.500.memory"], MEBIBYTES, 60),
        ("500 realms: threads", ["many.500.threads"], "", 32),
        ("500 realms: descriptors", ["many.500.descriptors"], "", 1600),
        ("500 realms: idle CPU", ["many.500.cpu"], "% of a core", 0.5),
        ("500 realms: open again within", ["many.500.open"], "s", None),
        ("5000 realms: open again within", ["many.5000.open"], "s", 10),
    ]
)


def total(figures, keys):
    """The sum of the figures, those with a minus subtracted; None if one is missing."""
    values = [(-1 if key.startswith("-") else 1, figures.get(key.lstrip("-"))) for key in keys]
    if any(figure is None for _, figure in values):
        return None
    return sum(sign * figure["value"] for sign, figure in values)


def is_met(value, wanted):
    """A negative aim is a minimum."""
    return value >= -wanted if wanted < 0 else value <= wanted


def show(figures):
    print(f"\n{'':<50} {'measured':>20}  {'beside plain':>12}  wanted")
    for label, keys, unit, wanted in LINES:
        value = total(figures, keys)
        if value is None:
            continue
        plain = figures[keys[0].lstrip("-")].get("plain")
        ratio = f"{value / plain:.2f} times" if plain and unit == MICROSECONDS else ""
        aim = ""
        if wanted is not None:
            aim = f"{abs(wanted):g}" + (" or more" if wanted < 0 else "")
            aim += "" if is_met(value, wanted) else "  (missed)"
        number = f"{value:.0f}" if value >= 1000 else f"{value:.1f}"
        print(f"{label:<50} {number:>9} {unit:<11}  {ratio:>12}  {aim}".rstrip())


def load(path):
    with open(path) as file:
        return json.load(file)


def measure(binaries, parts):
    with tempfile.NamedTemporaryFile("r", suffix=".json") as record:
        environment = dict(os.environ, REALM_BENCHMARK_RECORD=record.name)
        for part in parts:
            script, *arguments = PARTS[part]
            print(flush=True)
            subprocess.run([f"{HERE}/{script}", binaries, *arguments], check=True, env=environment)
        return {figure["key"]: figure for figure in map(json.loads, record)}


def compare():
    """Names the figures that are worse than the baseline's; only CPU and memory, which other load hardly moves."""
    before, now = load(BASELINE), load(LAST)
    worse = 0
    for label, keys, unit, _ in LINES:
        old, new = total(before, keys), total(now, keys)
        if old is None or new is None or unit not in (MICROSECONDS, MEBIBYTES, "KiB", TIMES):
            continue
        change = (new / old - 1) * 100 if old > 0 else 0
        mark = "slower" if unit == MICROSECONDS else "more"
        if change > 10:
            worse += 1
            print(f"{label:<50} {old:8.1f} -> {new:8.1f} {unit}: {change:.0f} % {mark}")
    print(f"{worse} figures are more than 10 % above the baseline" if worse else
          "no figure is more than 10 % above the baseline")


def main():
    words = sys.argv[1:]
    if words == ["--compare"]:
        return compare()
    if not words or words[0].startswith("--"):
        sys.exit(__doc__)
    binaries, options = words[0], words[1:]
    if "--only" in options:
        at = options.index("--only")
        parts = [word for word in options[at + 1:] if not word.startswith("--")]
        unknown = [part for part in parts if part not in PARTS]
        if unknown or not parts:
            sys.exit(f"unknown part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    elif "--short" in options:
        parts = ["short"]
    else:
        parts = USUAL + (["large", "more"] if "--large" in options else [])
    figures = measure(binaries, parts)
    show(figures)
    # A run of some parts leaves the figures of the others.
    known = load(LAST) if os.path.exists(LAST) else {}
    os.makedirs(os.path.dirname(LAST), exist_ok=True)
    with open(LAST, "w") as file:
        json.dump({**known, **figures}, file, indent=1, sort_keys=True)
        file.write("\n")
    if "--keep" in options:
        baseline = load(BASELINE) if os.path.exists(BASELINE) else {}
        with open(BASELINE, "w") as file:
            json.dump({**baseline, **figures}, file, indent=1, sort_keys=True)
            file.write("\n")


if __name__ == "__main__":
    main()
