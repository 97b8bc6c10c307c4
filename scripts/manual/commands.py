"""The commands of a program, from what its argument parser says of itself, as text for man(7)."""

import json
import re
import subprocess

from roff import bold, escaped, inline, protected


def described(program):
    """The root command, as `--experimental-dump-help` prints it."""
    text = subprocess.run(
        [program, "--experimental-dump-help"], check=True, capture_output=True, text=True
    ).stdout
    return json.loads(text)["command"]


def leaves(command, path=()):
    """Every command that does something, with its full name."""
    path = path + (command["commandName"],)
    inner = [each for each in command.get("subcommands", []) if shown(each)]
    if not inner:
        yield path, command
    for each in inner:
        yield from leaves(each, path)


def shown(command):
    return command["commandName"] != "help" and command.get("shouldDisplay", True)


def arguments(command):
    """Those that belong to this command; a flag and its opposite are one."""
    out = []
    for each in command.get("arguments", []):
        if not each.get("shouldDisplay", True) or each.get("valueName") in ("help", "version"):
            continue
        if out and each["kind"] == out[-1]["kind"] == "flag" and same(each, out[-1]):
            out[-1] = {**out[-1], "names": out[-1]["names"] + each["names"]}
        else:
            out.append(each)
    return out


def same(one, other):
    return one.get("abstract") == other.get("abstract")


def common(command):
    """The options that most commands have; they are explained once."""
    every = [arguments(leaf) for _, leaf in leaves(command)]
    out = []
    for each in (each for those in every for each in those if each["kind"] != "positional"):
        if each not in out and sum(each in those for those in every) * 2 > len(every):
            out.append(each)
    return out


def spelled(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def value(argument):
    return r"\fI" + escaped(argument.get("valueName", "value").upper(), literal=True) + r"\fP"


def synopsis(path, command):
    words = [bold(" ".join(path))]
    for each in arguments(command):
        if each["kind"] == "positional":
            word = value(each) + (" ..." if each.get("isRepeating") else "")
        else:
            word = "|".join(bold(spelled(name)) for name in each["names"] if name["kind"] == "long")
            if each["kind"] == "option":
                word += " " + value(each)
            if each.get("isRepeating"):
                word += " ..."
        words.append(f"[{word}]" if each.get("isOptional") else word)
    return " ".join(words)


def options(those):
    out = []
    for each in those:
        if each["kind"] == "positional":
            tag = value(each)
        else:
            tag = ", ".join(bold(spelled(name)) for name in each["names"])
            if each["kind"] == "option":
                tag += " " + value(each)
        # Help is written for a terminal, where the names of options are not set apart.
        text = " ".join(filter(None, (each.get("abstract"), each.get("discussion"))))
        choices = each.get("allValueStrings") or each.get("allValues")
        if choices and each["kind"] == "option":
            text += f" (values: {', '.join(choices)})"
        if each.get("defaultValue") and each["kind"] != "flag":
            text += f" (default: {each['defaultValue']})"
        out += [".TP", tag, protected(inline(text.strip()))]
    return out


EVERYWHERE = [
    (r"\fB\-h\fP, \fB\-\-help\fP", "Show help for the command."),
    (r"\fB\-\-version\fP", "Show the version."),
]


def section(command):
    """All commands, one heading for each."""
    shared = common(command)
    out = [".SS Options of most commands", *options(shared)]
    for tag, text in EVERYWHERE:
        out += [".TP", tag, text]
    for path, leaf in leaves(command):
        out += [".SS " + escaped(" ".join(path[1:]), literal=True), synopsis(path, leaf)]
        for text in (leaf.get("abstract"), leaf.get("discussion")):
            for paragraph in re.split(r"\n\s*\n", (text or "").strip()):
                if paragraph:
                    out += [".PP", protected(inline(" ".join(paragraph.split())))]
        out += options([each for each in arguments(leaf) if each not in shared])
    return out


def overview(command):
    """One line for each command."""
    out = []
    for path, leaf in leaves(command):
        out += [synopsis(path, leaf), ".br"]
    return out[:-1]
