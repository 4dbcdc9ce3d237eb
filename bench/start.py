#!/usr/bin/env python3
"""Start-up, idle cost and tool overlap of yare, beside references measured in the same run.

  bench/start.py build/release/yare [--runs 40] [--json FILE]

Rows are those of the design's table that apply so far; ratios carry over to other machines, milliseconds do not.
"""
import argparse
import fcntl
import json
import os
import pty
import re
import select
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build_puts(folder):
    src = folder + "/puts.c"
    with open(src, "w") as f:
        f.write('#include <stdio.h>\nint main(void) { return puts("yare 0") < 0; }\n')
    subprocess.run(["cc", "-O2", "-o", folder + "/puts", src], check=True)
    return [folder + "/puts"]


def build_curses(folder):
    src = folder + "/floor.c"
    with open(src, "w") as f:
        f.write("#include <curses.h>\nint main(void) { initscr(); cbreak(); noecho(); addstr(\"> \"); refresh();\n"
                "int c; while ((c = getch()) != 4) { addch((chtype)c); refresh(); } endwin(); return 0; }\n")
    subprocess.run(["cc", "-O2", "-o", folder + "/floor", src, "-lncursesw", "-ltinfo"], check=True)
    return [folder + "/floor"]


def wall(argv, env, runs):
    """Median milliseconds from spawn to exit; the two commands of a comparison are interleaved by the caller."""
    t = time.perf_counter()
    for _ in range(runs):
        p = os.posix_spawn(argv[0], argv, env, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        os.waitpid(p, 0)
    return (time.perf_counter() - t) * 1000 / runs


def interleaved(a, b, env, rounds, runs=10):
    pairs = [(wall(a, env, runs), wall(b, env, runs)) for _ in range(rounds)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


class Pty:
    def __init__(self, argv, env, cwd, size=(40, 120)):
        self.start = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[0], size[1], 0, 0))
        self.seen = b""

    def read_until(self, pattern, limit=20):
        """Milliseconds from the start until the pattern was painted."""
        end = time.perf_counter() + limit
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.perf_counter()))
            if not ready:
                raise SystemExit("not painted: %r" % self.seen[-2000:])
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                raise SystemExit("ended: %r" % self.seen[-2000:])
        return (time.perf_counter() - self.start) * 1000

    def drain(self, seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            if select.select([self.fd], [], [], max(0, end - time.perf_counter()))[0]:
                self.seen += os.read(self.fd, 65536)

    def send(self, data):
        os.write(self.fd, data)

    def close(self):
        try:
            self.send(b"\x03\x04")
            self.drain(0.3)
        except OSError:
            pass
        try:
            os.kill(self.pid, 15)
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def pss_kb(pid):
    with open("/proc/%d/smaps_rollup" % pid) as f:
        return int(re.search(r"^Pss:\s+(\d+)", f.read(), re.M).group(1))


def switches(pid):
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, task)) as f:
            total += sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", f.read()))
    return total


def echo_ms(p, keys=40):
    out = []
    for i in range(keys):
        p.drain(0.03)
        mark = len(p.seen)
        t = time.perf_counter()
        p.send(b"abcdefghij"[i % 10:i % 10 + 1])
        while len(p.seen) == mark:
            select.select([p.fd], [], [], 5)
            p.seen += os.read(p.fd, 65536)
        out.append((time.perf_counter() - t) * 1000)
    return statistics.median(out), sorted(out)[int(len(out) * 0.99)]


def server(folder, script):
    path, log = folder + "/script.json", folder + "/log.jsonl"
    with open(path, "w") as f:
        json.dump(script, f)
    p = subprocess.Popen([sys.executable, TOP + "/tests/fakes/model_server.py", "--script", path, "--log", log], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    port = re.search(r"\d+$", p.stdout.readline().strip()).group()
    return p, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:" + port, "ANTHROPIC_API_KEY": "k"}


def timed_job(yare, env, folder, script):
    p, more = server(folder, script)
    t = time.perf_counter()
    run = subprocess.run([yare, "-p", "go"], cwd=folder + "/proj", env=dict(env, **more), capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    took = (time.perf_counter() - t) * 1000
    p.stdin.close()
    p.wait()
    if run.returncode:
        raise SystemExit(run.stderr)
    return took


def decision_ms(yare, folder):
    record = {"root": folder, "cwd": folder, "tool": "Bash",
              "input": {"command": "cd a && npm test 2>&1 | grep -v x | tail -5; git status; sudo rm -rf build"},
              "rules": {"allow": ["Bash(tool%d *)" % i for i in range(40)], "deny": ["Read(**/.env)", "Bash(git push:*)"]}}
    lines = (json.dumps(record) + "\n") * 2000
    t = time.perf_counter()
    subprocess.run([yare, "perm", "check"], input=lines, capture_output=True, text=True, check=True)
    return (time.perf_counter() - t) * 1000 / 2000


def bash(command):
    return {"tool_use": {"name": "Bash", "input": {"command": command}}}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("yare")
    ap.add_argument("--runs", type=int, default=40)
    ap.add_argument("--json")
    a = ap.parse_args()
    yare = os.path.abspath(a.yare)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="yare-bench-"))
    os.makedirs(folder + "/proj")
    env = {"HOME": folder, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    rows = []

    def row(name, value, unit, target, reference=None):
        rows.append({"measure": name, "value": round(value, 3), "unit": unit, "target": target,
                     "ratio": round(value / reference, 2) if reference else None})

    try:
        puts, floor = build_puts(folder), build_curses(folder)
        y, r = interleaved([yare, "--version"], puts, env, a.runs)
        row("--version", y, "ms", "1.5x a program that only calls puts", r)
        row("  (a program that only calls puts)", r, "ms", "")
        row("installed size", os.path.getsize(yare) / 2 ** 20, "MiB", "under 15")
        firsts, floors = [], []
        for _ in range(max(5, a.runs // 4)):
            p = Pty([yare, "--provider", "offline"], env, folder + "/proj")
            firsts.append(p.read_until(rb"default"))
            p.close()
            p = Pty(floor, env, folder + "/proj")
            floors.append(p.read_until(rb"> "))
            p.close()
        row("exec to prompt painted", statistics.median(firsts), "ms", "15", statistics.median(floors))
        row("  (bare curses echo)", statistics.median(floors), "ms", "")
        p = Pty([yare, "--provider", "offline"], env, folder + "/proj")
        p.read_until(rb"default")
        p.drain(1)
        row("idle memory before the first request", pss_kb(p.pid) / 1024, "MB PSS", "10")
        before = switches(p.pid)
        p.drain(10)
        row("idle wake-ups in 10 s", switches(p.pid) - before, "", "0")
        p50, p99 = echo_ms(p)
        row("key to echo, p50", p50, "ms", "1")
        row("key to echo, p99", p99, "ms", "3")
        p.send(b"\x15read x.txt\r")
        p.drain(1.5)
        row("idle memory after a request", pss_kb(p.pid) / 1024, "MB PSS", "20")
        p.close()
        row("permission decision, 42 rules", decision_ms(yare, folder + "/proj"), "ms", "2")
        one = [[{"tokens_per_second": 100}, bash("sleep 1"), {"text": "x " * 100}], [{"text": "done"}]]
        row("one sleep 1, then 1 s of stream", timed_job(yare, env, folder, {"responses": one}), "ms", "under 1300")
        three = [[bash("sleep 1"), bash("sleep 1"), bash("sleep 1")], [{"text": "done"}]]
        row("three sleep 1 at once", timed_job(yare, env, folder, {"responses": three}), "ms", "under 1300 (1050)")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for r in rows:
        print("%-40s %10.2f %-7s %-10s %s" % (r["measure"], r["value"], r["unit"],
                                              "%.2fx" % r["ratio"] if r["ratio"] else "", r["target"]))
    if a.json:
        with open(a.json, "w") as f:
            json.dump(rows, f, indent=1)


main()
