#!/usr/bin/env python3
"""yare on a pseudo terminal of the test's own: what it writes and how much, and that it leaves the terminal as it was found."""
import os
import re
import signal
import termios

from harness import Screen, Server, World, YARE, check, main, thread_sanitizer, wait_until
from terminal import Terminal

SLOW = [{"text": "start "}, {"delay_ms": 60000}, {"text": "end"}]
ENDED = {"SIGTERM": 143, "SIGHUP": 143, "SIGABRT": -signal.SIGABRT, "SIGKILL": -signal.SIGKILL}


def signals_leave_the_terminal_as_found():
    w = World()
    server = Server(w, {"responses": [SLOW]})
    for name, status in ENDED.items():
        t = Terminal(w, server.env, ())
        t.wait_for(rb"ctx")
        t.write(b"go\r")
        t.wait_for(rb"start")
        t.process.send_signal(getattr(signal, name))
        wait_until(lambda: t.take(0.05) == b"" and t.process.poll() is not None, name + " to end yare")
        wait_until(lambda: t.take(0.05) == b"" and not t.modes_left() and termios.tcgetattr(t.slave) == t.found,
                   lambda: "the terminal after %s: %s" % (name, t.modes_left()))
        check(t.process.returncode == status, name, t.process.returncode)
        t.close()
    server.close()
    w.close()


def terminals_of_every_kind():
    w = World()
    for env in ({"TERM": "screen"}, {"TERM": "linux"}, {"TERM": "vt100"}, {"TERM": "xterm", "NO_COLOR": "1"},
                {"LC_ALL": "C"}, {"LC_ALL": "POSIX", "TERM": "vt100"}, {"COLORTERM": "truecolor"}):
        t = Terminal(w, env)
        t.wait_for(rb"ctx")
        check(("LC_ALL" in env) == ("\u2500".encode() not in t.out), env, "borders")
        check("NO_COLOR" not in env or not re.search(rb"\x1b\[[0-9;]*(3[0-8]|4[0-8])[;m]", t.out), env, "colours")
        t.write(b"\x04")
        wait_until(lambda: t.take(0.05) == b"" and t.process.poll() is not None, "the end")
        check(t.process.returncode == 0, env, t.process.returncode)
        t.check_left_as_found(env)
        t.close()
    for term in ("dumb", None):
        t = Terminal(w, {"TERM": term})
        t.wait_for(rb"plain lines in place of the full screen")
        t.wait_for(rb"> $")
        t.write(b"\x04")
        wait_until(lambda: t.take(0.05) == b"" and t.process.poll() is not None, "the end")
        check(t.process.returncode == 0 and b"\x1b" not in t.out, term, t.out)
        t.check_left_as_found(term)
        t.close()
    w.close()


def the_normal_screen_keeps_its_lines():
    """--no-alt-screen: what stood there can be scrolled back to, and the answer stays when yare has gone."""
    w = World()
    s = Screen(w, 80, 24, shell=True)
    s.wait_for(r"bash.*[$#]")
    s.type("seq 1001 1030; %s --provider offline --no-alt-screen" % YARE)
    s.keys("Enter")
    s.wait_for("offline pilot")
    check("1030" not in s.text(), "the screen is drawn over what stood there:", s.text())
    s.say("read README.md")
    s.wait_for("The parser lives in src")
    s.wait_gone(r"\u280b|esc")
    s.keys("C-d")
    s.wait_for(r"yare resume [0-9a-f-]{36}")
    everything = s.tmux("capture-pane", "-p", "-S", "-200")
    for word in ("1001", "1030", "The parser lives in src", "yare resume"):
        check(word in everything, word, "is gone:", everything)
    s.close()
    w.close()


def a_key_costs_few_bytes():
    w = World()
    t = Terminal(w)
    t.wait_for(rb"ctx")
    t.take(0.3)
    clears = t.out.count(b"\x1b[2J")
    for c in "a prompt that is long enough to reach the next line of the screen, and some more words":
        t.write(c.encode())
        got = b""
        while not got:
            got = t.take(0.02)
        check(len(got) <= 200, "a key cost", len(got), "bytes")
    check(clears <= 1 and t.out.count(b"\x1b[2J") == clears, "the screen was cleared")
    t.close()
    w.close()


def split_keys_are_keys():
    w = World()
    server = Server(w, {"responses": [SLOW]})
    t = Terminal(w, server.env, ())
    t.wait_for(rb"ctx")
    t.write(b"go\r")
    t.wait_for(rb"start")
    for key in (b"\x1b[D", b"\x1bOC", b"\x1b\r", b"\x1b[<64;3;3M"):
        for byte in key:
            t.write(bytes([byte]))
            t.take(0.02)
    t.take(0.2)
    check(b"interrupt" not in t.out, "part of a key was taken for Esc")
    t.write(b"\x1b")
    t.wait_for(rb"interrupt")
    t.close()
    server.close()
    w.close()


def a_stream_costs_few_bytes():
    w = World()
    server = Server(w, {"responses": [[{"generate": {"tokens": 6000, "seed": 9}}, {"text": "\n\nThe-last-word."}]]})
    t = Terminal(w, server.env, ())
    t.wait_for(rb"ctx")
    t.take(0.3)
    before, clears = len(t.out), t.out.count(b"\x1b[2J")
    t.write(b"go\r")
    t.wait_for(rb"last-word")
    t.take(0.3)
    check(len(t.out) - before <= 160000, "6,000 tokens cost", len(t.out) - before, "bytes")
    check(t.out.count(b"\x1b[2J") == clears, "the screen was cleared")
    t.close()
    server.close()
    w.close()


def switches(pid):
    """Voluntary context switches of all threads: how often any of them woke."""
    total = 0
    threads = os.listdir("/proc/%d/task" % pid)
    if thread_sanitizer():
        del threads[1]  # its own, begun before main(), which wakes ten times a second
    for thread in threads:
        with open("/proc/%d/task/%s/status" % (pid, thread)) as f:
            total += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", f.read(), re.M).group(1))
    return total


def idle_is_idle():
    w = World()
    t = Terminal(w)
    t.wait_for(rb"ctx")
    wait_until(lambda: t.take(1) == b"", "quiet")
    before = switches(t.process.pid)
    check(t.take(3) == b"", "something was painted")
    check(switches(t.process.pid) - before == 0, "woke", switches(t.process.pid) - before, "times in 3 s")
    t.close()
    w.close()


main(signals_leave_the_terminal_as_found, terminals_of_every_kind, the_normal_screen_keeps_its_lines, a_key_costs_few_bytes, split_keys_are_keys,
     a_stream_costs_few_bytes, idle_is_idle)
