#!/usr/bin/env python3
"""Becomes a program whose clock a file moves, by Debian's libfaketime; its monotonic time stays.

    with-clock.py FILE PROGRAM [ARGUMENT...]

FILE has an offset, such as `+3600`, `-5d` or `+0`; a change counts within a second. The library makes a semaphore and shared
memory at its start and names them in the environment. That moves the environment, below which Swift programs look for
their arguments; so both are made here, and named before the program starts.
"""
import ctypes
import glob
import os
import struct
import sys

LIBRARIES = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
NAME = f"/realm-clock-{os.getuid()}"


def environment(file):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sem_open.restype = ctypes.c_void_p
    if not libc.sem_open(NAME.encode(), os.O_CREAT, 0o600, 1):
        sys.exit(f"with-clock: the semaphore {NAME}: {os.strerror(ctypes.get_errno())}")
    # Two counters, then times of the start: unknown ones have -1 nanoseconds.
    shared = struct.pack("QQ", 0, 0) + struct.pack("qq", 0, -1) * 6
    descriptor = os.open(f"/dev/shm{NAME}", os.O_RDWR | os.O_CREAT, 0o600)
    os.write(descriptor, shared)
    os.close(descriptor)
    return {"LD_PRELOAD": LIBRARIES[0], "FAKETIME_SHARED": f"{NAME} {NAME}", "FAKETIME_TIMESTAMP_FILE": file,
            "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


if __name__ == "__main__":
    if not LIBRARIES:
        sys.exit("with-clock: the package faketime is not installed")
    os.execve(sys.argv[2], sys.argv[2:], {**os.environ, **environment(sys.argv[1])})
