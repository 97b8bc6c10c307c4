#!/usr/bin/env python3
"""Handler plugin: keeps what the server refused, one JSON line for each write, for people to look at.

    plugins:
      keep-rejects:
        use: exec
        command: [/usr/local/lib/realm-agent/keep_rejects.py, /var/lib/realm-agent/rejects.jsonl]
    realms:
      stock: { on_error: [keep-rejects] }
"""
import json
import os
import sys


def main() -> None:
    request = json.load(sys.stdin)
    if request["version"] != 1:
        sys.exit(f"version {request['version']} of the contract is unknown to this plugin")
    if request["kind"] != "write_rejected":
        return  # No answer means: continue.
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        for reject in request["rejects"]:
            print(json.dumps({"realm": request["realm"], **reject}, sort_keys=True), file=file)
        file.flush()
        os.fsync(file.fileno())
    json.dump({"decision": "continue", "note": f"{len(request['rejects'])} kept"}, sys.stdout)


main()
