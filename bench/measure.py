"""What the benches measure with: a program on a pty of its own, the process tree's memory and CPU, references built on the spot, the
loopback model server.  Only processes started here are ended."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PUTS = '#include <stdio.h>\nint main(void) { return puts("yare 0") < 0; }\n'
CURSES = """#include <curses.h>
int main(void) { initscr(); cbreak(); noecho(); addstr("> "); refresh();
int c; while ((c = getch()) != 4) { addch((chtype)c); refresh(); } endwin(); return 0; }
"""


class BenchError(Exception):
    pass


def build(folder, name, source, *libraries):
    path = "%s/%s" % (folder, name)
    with open(path + ".c", "w") as f:
        f.write(source)
    subprocess.run(["cc", "-O2", "-o", path, path + ".c", *libraries], check=True)
    return path


def wall(argv, env, runs):
    """Mean milliseconds from spawn to exit."""
    t = time.perf_counter()
    for _ in range(runs):
        p = os.posix_spawn(argv[0], argv, env, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        os.waitpid(p, 0)
    return (time.perf_counter() - t) * 1000 / runs


def interleaved(a, b, env, rounds, runs=10):
    """Medians of two commands that take turns, so that a busy machine is busy for both."""
    pairs = [(wall(a, env, runs), wall(b, env, runs)) for _ in range(rounds)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p / 100))]


# ---- process trees ----

def children(pid):
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as f:
                found += [int(c) for c in f.read().split()]
    except OSError:
        pass
    return found


def tree(pid):
    pids, at = [pid], 0
    while at < len(pids):
        pids += children(pids[at])
        at += 1
    return pids


def pss_mb(pid):
    """Of the process and everything below it, MB."""
    kb = 0
    for p in tree(pid):
        try:
            with open("/proc/%d/smaps_rollup" % p) as f:
                kb += int(re.search(r"^Pss:\s+(\d+)", f.read(), re.M).group(1))
        except (OSError, AttributeError):
            pass  # it ended while we looked
    return kb * 1024 / 1e6


def cpu_seconds(pid):
    """Of the one process, all its threads, by its own clock: /proc/PID/stat counts in hundredths of a second."""
    return time.clock_gettime(~pid << 3 | 2)  # what clock_getcpuclockid gives


def switches(pid):
    total = 0
    for p in tree(pid):
        for task in os.listdir("/proc/%d/task" % p):
            with open("/proc/%d/task/%s/status" % (p, task)) as f:
                total += sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", f.read()))
    return total


# ---- a program on a terminal ----

class Pty:
    def __init__(self, argv, env, cwd, size=(40, 120)):
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
        self.seen, self.at = bytearray(), 0  # at: where read_until goes on

    def _take(self, wait):
        if not select.select([self.fd], [], [], max(0, wait))[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise BenchError("the program ended: %r" % bytes(self.seen[-1500:]))
        self.seen += data
        return True

    def read_until(self, pattern, limit=60):
        """Seconds from the program's start until the pattern was painted; each call goes on behind the last match."""
        end = time.monotonic() + limit
        while True:
            m = re.search(pattern, self.seen[self.at:])
            if m:
                self.at += m.end()
                return time.monotonic() - self.started
            if not self._take(end - time.monotonic()):
                raise BenchError("%r was not painted: %r" % (pattern, bytes(self.seen[-1500:])))

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._take(end - time.monotonic())

    def send(self, data):
        os.write(self.fd, data)

    def echo(self, key):
        """Milliseconds until anything came back for a key."""
        mark, t = len(self.seen), time.monotonic()
        self.send(key)
        while len(self.seen) == mark:
            if not self._take(5):
                raise BenchError("no echo of %r" % key)
        return (time.monotonic() - t) * 1000

    def close(self):
        try:
            os.kill(self.pid, signal.SIGTERM)
            while True:
                self._take(5)
        except (OSError, BenchError):
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


# ---- the model ----

class Model:
    """The loopback server with a script; requests() are its records."""

    def __init__(self, folder, responses, *args, **script):
        path, self.log = folder + "/script.json", folder + "/log.jsonl"
        if os.path.exists(self.log):
            os.unlink(self.log)
        with open(path, "w") as f:
            json.dump(dict(script, responses=responses), f)
        self.process = subprocess.Popen([sys.executable, TOP + "/tests/fakes/model_server.py", "--script", path, "--log", self.log,
                                         *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = re.search(r"\d+$", self.process.stdout.readline().strip()).group()
        self.env = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:" + port, "ANTHROPIC_API_KEY": "k"}

    def requests(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as f:
            return [json.loads(line) for line in f if line.endswith("\n")]  # the last one may be half written

    def wait_request(self, n, limit=30):
        end = time.monotonic() + limit
        while len(self.requests()) < n:
            if time.monotonic() > end:
                raise BenchError("request %d never came" % n)
            time.sleep(0.002)
        return self.requests()[n - 1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def bash(command):
    return {"tool_use": {"name": "Bash", "input": {"command": command}}}
