#!/usr/bin/env python3
"""Adds what the pages say of each key to a JSON Schema: scripts/manual/schema.py PROGRAM < SCHEMA

Editors show the descriptions. Keys and their meaning come from the tables of docs/configuration.md for
realm-agent, of docs/server.md for realm-server.
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

import roff

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"realm-agent": "docs/configuration.md", "realm-server": "docs/server.md"}


def plain(text):
    """A cell without the marks of Markdown."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return text.replace("`", "").replace("**", "").strip()


def rows(page):
    """The path of each key in the tables of a page, and its description."""
    section = []
    header = None
    for line in page.split("\n"):
        if line.startswith("## "):
            title = line[3:].replace("`", "").strip()
            is_keys = re.fullmatch(r"[a-z]+(\.NAME)?", title)
            section = title.replace("NAME", "*").split(".") if is_keys else []
        if not line.startswith("|"):
            header = None
            continue
        cells = roff.cells(line)
        if header is None:
            header = cells
        elif header[0] == "key" and "meaning" in header and not cells[0].startswith("---"):
            facts = dict(zip(header, cells))
            text = plain(facts["meaning"])
            if not facts["meaning"].startswith("`"):
                text = text[:1].upper() + text[1:]
            text += "."
            for name in ("range", "default"):
                if plain(facts.get(name, "")):
                    text += f" {name.capitalize()}: {plain(facts[name])}."
            keys = re.findall(r"`([A-Za-z_.]+)`", cells[0])
            for key in keys:
                path = key.replace("APP", "*").replace("NAME", "*").split(".")
                # `a.b`, `c` in one cell: c is beside b.
                if len(keys) > 1 and key != keys[0] and "." not in key:
                    path = keys[0].replace("APP", "*").split(".")[:-1] + path
                yield section + path, text


def find(schema, path):
    """Every place of the schema that a path leads to."""
    if not path:
        return [schema]
    out = []
    for each in schema.get("anyOf", []) + schema.get("oneOf", []):
        out += find(each, path)
    inner = schema.get("additionalProperties")
    if path[0] == "*" and isinstance(inner, dict):
        out += find(inner, path[1:])
    elif path[0] in schema.get("properties", {}):
        out += find(schema["properties"][path[0]], path[1:])
    return out


def main():
    schema = json.load(sys.stdin)
    page = (ROOT / PAGES[sys.argv[1]]).read_text()
    for path, text in rows(page):
        for place in find(schema, path):
            place.setdefault("description", text)
    json.dump(schema, sys.stdout, indent=2, ensure_ascii=False)
    print()


main()
