#!/usr/bin/env python3
"""Becomes a program whose time of day a file moves (moved-clock.c); its monotonic time stays.

    with-clock.py FILE PROGRAM [ARGUMENT...]

FILE has an offset in seconds, such as `+3600`; a change counts within a tenth of a second.
"""
import os
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.abspath(__file__)) + "/moved-clock.c"


def compiler():
    """Swift's toolchain has one."""
    return shutil.which("clang") or shutil.which("cc")


def library(file):
    """The compiled source, beside the file; made at first use."""
    path = os.path.dirname(os.path.abspath(file)) + "/moved-clock.so"
    if not os.path.exists(path):
        new = f"{path}.{os.getpid()}"
        subprocess.run([compiler(), "-shared", "-fPIC", "-O2", "-o", new, SOURCE, "-ldl"], check=True)
        os.replace(new, path)
    return path


if __name__ == "__main__":
    os.execve(sys.argv[2], sys.argv[2:], {**os.environ, "LD_PRELOAD": library(sys.argv[1]), "MOVED_CLOCK": sys.argv[1]})
