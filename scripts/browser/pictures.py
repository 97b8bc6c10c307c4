#!/usr/bin/env python3
"""Photographs the console as it is now.

    pictures.py ADDRESS DIRECTORY
"""

import sys
from pathlib import Path

from driver import Browser, eventually

console, directory = sys.argv[1:]
directory = Path(directory)
directory.mkdir(parents=True, exist_ok=True)

with Browser(size="1180,980") as browser:
    browser.open(console)
    browser.open(f"{console.partition('?')[0]}?app=shop-abcde")
    eventually("the app's users", lambda: "till-7@example.com" in browser.text())
    browser.screenshot(directory / "console.png")
