"""The processes of a run, and what is done to them: kills, clocks, disks."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time

WITH_CLOCK = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/Tools/with-clock.py"
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
PR_SET_PDEATHSIG = 1


class Clock:
    """The time of day of one program; monotonic time stays. Without a compiler for moved-clock.c it is the machine's."""

    is_possible = bool(shutil.which("clang") or shutil.which("cc"))

    def __init__(self, path):
        self.path = path
        self.set(0)

    def set(self, seconds):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(f"{seconds:+d}\n")
        os.replace(self.path + ".new", self.path)

    def moving(self, command):
        return [sys.executable, WITH_CLOCK, self.path, *command] if self.is_possible else command


class Disk:
    """A small file system in memory, in a mount namespace of this run; a plain directory where that is not allowed."""

    is_possible = False

    @classmethod
    def prepare(cls):
        if os.geteuid() == 0 and libc.unshare(CLONE_NEWNS) == 0:
            cls.is_possible = libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0

    def __init__(self, path, mebibytes):
        self.path = path
        self.ballast = f"{path}/ballast"
        os.makedirs(path, exist_ok=True)
        if self.is_possible and libc.mount(b"tmpfs", path.encode(), b"tmpfs", 0,
                                           f"size={mebibytes}m,mode=700".encode()) != 0:
            raise OSError(ctypes.get_errno(), f"{path} cannot be mounted")

    def fill(self):
        """Leaves not a byte; the programs write meanwhile."""
        with open(self.ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass

    def free(self):
        if os.path.exists(self.ballast):
            os.unlink(self.ballast)

    @property
    def used_in_mebibytes(self):
        space = os.statvfs(self.path)
        return (space.f_blocks - space.f_bfree) * space.f_frsize >> 20


class Process:
    """A program that is started again after it has ended."""

    def __init__(self, name, command, log):
        self.name = name
        self.command = command
        self.log = log
        self.popen = None
        self.rests_until = 0.0
        self.starts = self.kills = 0
        self.surprises = []

    def start(self):
        with open(self.log, "ab") as output:
            self.popen = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.starts += 1

    def supervise(self):
        """Starts it if its time has come. A program that has ended for no reason of ours is a finding."""
        if self.popen is not None:
            status = self.popen.poll()
            if status is None:
                return
            self.surprises.append(f"{self.name} ended with status {status}")
            self.popen = None
            self.rests_until = time.monotonic() + 1
        if time.monotonic() >= self.rests_until:
            self.start()

    @property
    def is_running(self):
        return self.popen is not None and self.popen.poll() is None

    def end(self, number, rest):
        """Ends it with a signal, to be started again after a rest."""
        if not self.is_running:
            return False
        self.popen.send_signal(number)
        self.popen.send_signal(signal.SIGCONT)  # it may be frozen
        try:
            self.popen.wait(60)
        except subprocess.TimeoutExpired:
            self.surprises.append(f"{self.name} has not ended within 60 s of signal {number}")
            self.popen.kill()
            self.popen.wait()
        self.popen = None
        self.rests_until = time.monotonic() + rest
        self.kills += 1
        return True

    @property
    def memory_in_mebibytes(self):
        try:
            with open(f"/proc/{self.popen.pid}/status", encoding="utf-8") as status:
                for line in status:
                    if line.startswith("VmHWM:"):
                        return int(line.split()[1]) >> 10
        except (OSError, AttributeError):
            pass
        return 0
