#!/usr/bin/env python3
"""Makes the manual pages: scripts/manual/manual.py PROGRAMS DIRECTORY

PROGRAMS is the folder of the built programs, DIRECTORY gets one file for each page. The pages of
packaging/manual say what stands where; their directives take the rest from where it is kept true by
tests: commands and options from the programs, keys, codes and procedures from the pages under docs/.

    <!-- synopsis: PROGRAM -->          one line for each command
    <!-- commands: PROGRAM -->          every command with its options
    <!-- page: docs/X.md -->            a whole page but its title
    <!-- section: docs/X.md: TITLE -->  the text under one heading

The topics of roff.py, pages under docs/ that messages name, become pages of section 7 as they are.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

import commands
import roff

ROOT = Path(__file__).resolve().parents[2]
DIRECTIVE = re.compile(r"^<!-- (synopsis|commands|page|section): ([^:]+?)(?:: (.+?))? -->$")


def under(title, text):
    """The text between a heading and the next of its rank or above."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*)", text, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"manual: no heading {title!r}")
    rank = len(found[1])
    return re.split(rf"^#{{1,{rank}}} ", found[2], maxsplit=1, flags=re.MULTILINE)[0]


def directive(kind, subject, title, programs):
    if kind in ("synopsis", "commands"):
        command = commands.described(programs / subject)
        return commands.overview(command) if kind == "synopsis" else commands.section(command)
    text = (ROOT / subject).read_text()
    if kind == "section":
        return roff.blocks(under(title, text))
    return roff.blocks(re.sub(r"\A# .*\n", "", text))


def page(source, programs, version, date):
    """One page: its first line is `# name(section): what it is`."""
    return rendered(source.name, source.read_text(), programs, version, date)


def topic(file, programs, version, date):
    """A page of section 7: a whole page of docs/."""
    name, section = roff.PAGES[file][:-1].split("(")
    text = f"# {name}({section}): {roff.TOPICS[file]}\n\n<!-- page: docs/{file} -->\n"
    return rendered(f"docs/{file}", text, programs, version, date)


def rendered(origin, text, programs, version, date):
    name, section, what = re.match(r"# (\S+)\((\d)\): (.+)\n", text).groups()
    manual = {
        "1": "User Commands",
        "5": "File Formats",
        "7": "Miscellaneous",
        "8": "System Administration",
    }[section]
    out = [
        f'.\\" Made from {origin} by scripts/manual/manual.py.',
        f'.TH {roff.quoted(name.upper())} {section} {date} "realm\\-agent {version}" "{manual}"',
        # Names of commands and files are not to be hyphenated; the macros would begin again.
        ".nr HY 0",
        ".nh",
        ".ad l",
        ".SH NAME",
        rf"{roff.escaped(name, literal=True)} \- {roff.inline(what)}",
    ]
    plain = []
    for line in text.split("\n")[1:] + ["<!-- end -->"]:
        match = DIRECTIVE.match(line)
        if match or line == "<!-- end -->":
            out += roff.blocks("\n".join(plain))
            plain = []
        else:
            plain.append(line)
        if match:
            out += directive(*match.groups(), programs)
    return f"{name}.{section}", "\n".join(out) + "\n"


def main():
    programs, directory = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    version = subprocess.run(
        [programs / "realm-agent", "--version"], check=True, capture_output=True, text=True
    ).stdout.strip()
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    date = time.strftime("%Y-%m-%d", time.gmtime(int(epoch) if epoch else None))
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted((ROOT / "packaging/manual").glob("*.md")):
        file, text = page(source, programs, version, date)
        (directory / file).write_text(text)
    for source in sorted(roff.TOPICS):
        file, text = topic(source, programs, version, date)
        (directory / file).write_text(text)


main()
