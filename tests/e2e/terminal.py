"""A pseudo terminal of the test's own with yare on it: what it writes, byte for byte, and how it leaves the terminal."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from harness import LIMIT, YARE, check


class Terminal:
    """controlling: Ctrl+C typed here is a signal, as at a shell's prompt."""

    def __init__(self, world, env=None, args=("--provider", "offline"), width=80, height=24, controlling=False):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.found = termios.tcgetattr(self.slave)
        merged = {k: v for k, v in dict(world.env, **(env or {})).items() if v is not None}
        self.process = subprocess.Popen([YARE, *args], stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        cwd=world.project, env=merged, start_new_session=True,
                                        preexec_fn=self.take_terminal if controlling else None)
        self.out = b""

    @staticmethod
    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def hear(self, data):
        """What has just come; for a terminal that answers."""

    def take(self, seconds):
        """What comes until nothing has come for so long."""
        got = b""
        while select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                break
            if not data:
                break
            got += data
            self.out += data
            self.hear(data)
        return got

    def wait_for(self, pattern, limit=LIMIT):
        end = time.monotonic() + limit
        while not re.search(pattern, self.out):
            check(time.monotonic() < end, "waited for", pattern, "in", self.out[-2000:])
            self.take(0.02)

    def write(self, data):
        """All of it, however much: yare's output is taken meanwhile, so that neither waits for the other."""
        left = memoryview(data)
        while left:
            readable, writable, _ = select.select([self.master], [self.master], [], LIMIT)
            check(readable or writable, "yare takes no more input")
            if readable:
                self.out += os.read(self.master, 65536)
            if writable:
                left = left[os.write(self.master, left[:512]):]

    def modes_left(self):
        """Private modes that are not as at the start; wrapping and the cursor begin as on."""
        state = {}
        for numbers, c in re.findall(rb"\x1b\[\?([\d;]+)([hl])", self.out):
            for n in numbers.split(b";"):
                state[n] = c == b"h"
        return [n for n, on in state.items() if on != (n in (b"25", b"7"))]

    def check_left_as_found(self, what):
        check(termios.tcgetattr(self.slave) == self.found, what, ": the line settings differ")
        check(not self.modes_left(), what, ": modes left", self.modes_left())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)
