"""Markdown, as the pages under docs/ use it, as text for man(7)."""

import re

# What roff reads as a command, or what terminals and printers would change into something else.
SPECIAL = {
    "\\": r"\e",
    "~": r"\(ti",
    "^": r"\(ha",
    "`": r"\(ga",
    "–": r"\(en",
    "—": r"\(em",
    "…": "...",
    "×": r"\(mu",
    "→": r"\(->",
    "“": r"\(lq",
    "”": r"\(rq",
    "\N{NO-BREAK SPACE}": r"\ ",
}

# Pages that are manual pages too.
PAGES = {
    "configuration.md": "realm-agent.yaml(5)",
    "operations.md": "realm-agent(8)",
    "server.md": "realm-server(8)",
}

# Pages that are manual pages as a whole, in section 7, each with what it is.
TOPICS = {
    "client-resets.md": "what a client reset of a local realm does, and how to carry one out by hand",
    "control-api.md": "the control socket of realm-agent: requests, events, states",
    "encryption-at-rest.md": "encrypt the disk below realm files",
    "errors.md": "error codes and exit status of realm-agent and realm-server, and what to do",
    "flexible-sync.md": "queryable fields and roles of apps whose clients sync by queries",
    "local-realm.md": "read and write a local realm with SQL",
    "logs.md": "levels, categories, fields and messages of the log of realm-agent",
    "metrics.md": "metrics and health checks of realm-server",
    "moving-an-app.md": "move an app of the hosted service to realm-server",
    "plugins.md": "handlers of errors, client resets and rejected writes",
    "scaling.md": "several processes of realm-server on one database",
}
PAGES |= {file: f"realm-{file.removesuffix('.md')}(7)" for file in TOPICS}


def escaped(text, literal=False):
    """Text that roff prints as it stands; in literal text a hyphen is the ASCII one, to be copied."""
    out = "".join(SPECIAL.get(character, character) for character in text)
    if literal:
        out = out.replace("-", r"\-").replace("'", r"\(aq")
    return out


def protected(line):
    """A line that does not begin with a request by accident."""
    return "\\&" + line if line.startswith((".", "'")) else line


def bold(text):
    return r"\fB" + escaped(text, literal=True) + r"\fP"


def breakable(text, limit=40):
    """Long code without blanks may be broken behind slashes, commas and ampersands."""
    if all(len(word) < limit for word in text.split()):
        return text
    return re.sub(r"([/,&?]|,)(?=[^\s])", r"\1\\:", text)


def inline(text):
    """Code, emphasis and links within a paragraph."""
    out = []
    pattern = re.compile(
        r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)"
        r"|\*\*(?P<strong>.+?)\*\*"
        r"|(?<!\w)\*(?P<soft>[^*\s][^*]*)\*"
        r"|\[(?P<label>[^\]]+)\]\((?P<target>[^)]+)\)",
        re.DOTALL,
    )
    position = 0
    for match in pattern.finditer(text):
        out.append(escaped(text[position : match.start()]))
        position = match.end()
        if match["code"]:
            out.append(breakable(bold(match["code"])))
        elif match["strong"]:
            out.append(r"\fB" + inline(match["strong"]) + r"\fP")
        elif match["soft"]:
            out.append(r"\fI" + inline(match["soft"]) + r"\fP")
        else:
            out.append(link(match["label"], match["target"]))
    out.append(escaped(text[position:]))
    return "".join(out)


def link(label, target):
    if "://" in target:
        return inline(label) + " <" + escaped(target, literal=True) + ">"
    file = target.split("#")[0].split("/")[-1]
    page = PAGES.get(file)
    if page:
        name, section = page[:-1].split("(")
        return bold(name) + f"({section})"
    return inline(label)


def paragraph(lines):
    return protected(inline(" ".join(line.strip() for line in lines)))


def cells(row):
    """The cells of a row; a bar within code is written `\\|`."""
    parts = re.split(r"(?<!\\)\|", row.strip().strip("|"))
    return [part.strip().replace(r"\|", "|") for part in parts]


def table(lines):
    """A table as a list: its first column as tags, the last as text, what is between on a line."""
    header, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
    out = []
    for row in rows:
        out += [".TP", protected(inline(row[0]))]
        facts = [
            f"{inline(name)}: {inline(cell)}" if name else inline(cell)
            for name, cell in zip(header[1:-1], row[1:-1])
            if cell
        ]
        if facts:
            out += [protected("; ".join(facts)), ".br"]
        out.append(protected(inline(row[-1])))
    return out


def code(lines, first):
    out = [] if first else [".sp"]
    out += [".RS 4", ".EX", *(protected(escaped(line, literal=True)) for line in lines)]
    return out + [".EE", ".RE"]


BULLET = re.compile(r"^(?P<mark>[*-]|\d+\.) +")


def blocks(text):
    """Paragraphs, lists, tables and code of a page, without its first heading."""
    out = []
    lines = text.split("\n")
    at = 0
    first = True
    while at < len(lines):
        line = lines[at]
        # A manual page has no pictures.
        if not line.strip() or line.startswith(("<!--", "![")):
            at += 1
            continue
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            title = line.lstrip("#").strip()
            # Keys and commands in a heading keep their case.
            name = title.replace("`", "")
            heading = ".SS " if level > 2 else ".SH "
            out.append(heading + quoted(name.upper() if level == 2 and name == title else name))
            first = True
            at += 1
        elif line.startswith(("```", "    ")):
            if line.startswith("```"):
                end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
                body, at = lines[at + 1 : end], end + 1
            else:
                end = at
                while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                    end += 1
                body, at = [each[4:] for each in lines[at:end]], end
                while body and not body[-1].strip():
                    body.pop()
            out += code(body, first)
            first = False
        elif line.startswith("|"):
            end = at
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            out += table(lines[at:end])
            at = end
            first = False
        elif BULLET.match(line):
            mark = BULLET.match(line)
            width = mark.end()
            end = at + 1
            while end < len(lines) and (
                lines[end].startswith(" " * width)
                or (not lines[end].strip() and end + 1 < len(lines) and lines[end + 1].startswith(" " * width))
            ):
                end += 1
            item = [line[width:]] + [each[width:] for each in lines[at + 1 : end]]
            tag = r"\(bu" if mark["mark"] in "*-" else mark["mark"]
            out.append(f".IP {tag} {2 if mark['mark'] in '*-' else 4}")
            # What follows the first paragraph of an item stays at its indentation.
            out += [".IP" if each == ".PP" else each for each in blocks("\n".join(item))]
            at = end
            first = False
        else:
            end = at
            while (
                end < len(lines)
                and lines[end].strip()
                and not lines[end].startswith(("#", "|", "```"))
                and not BULLET.match(lines[end])
            ):
                end += 1
            # A heading is followed by its text without a space between.
            if not first:
                out.append(".PP")
            out.append(paragraph(lines[at:end]))
            at = end
            first = False
    return out


def quoted(text):
    return '"' + escaped(text, literal=True).replace('"', r"\(dq") + '"'
