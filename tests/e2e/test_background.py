#!/usr/bin/env python3
"""Commands in the background: moved there with a key, listed, looked at, stopped; nothing is left behind however yare ends."""
import os
import signal

from harness import Screen, Server, World, check, main, processes_with, wait_until


def bash(command, **more):
    return {"tool_use": {"name": "Bash", "input": dict(command=command, **more)}}


def gone(marker):
    wait_until(lambda: not processes_with(marker), lambda: "%s to be gone: %r" % (marker, processes_with(marker)))


def results(server):
    """The text of every tool result of the last request, in order."""
    found = []
    for m in server.requests()[-1]["body"]["messages"]:
        if isinstance(m["content"], list):
            for b in m["content"]:
                if b["type"] == "tool_result":
                    c = b["content"]
                    found.append(c if isinstance(c, str) else "".join(x.get("text", "") for x in c))
                elif b["type"] == "text":
                    found.append(b["text"])
    return found


def sent_behind_and_looked_at(width, height, key):
    w = World()
    marker = "behind_%d_%d" % (os.getpid(), width)
    command = "echo first-line; sh -c 'sleep 1000; : %s'; true" % marker
    server = Server(w, {"responses": [[bash(command)], [{"text": "Going on."}]], "match": [
        {"if": "what now", "then": [{"text": "All seen."}], "again": True}]})
    s = Screen(w, width, height, ["--permission-mode", "bypass"], dict(server.env, IS_SANDBOX="1"))
    try:
        s.wait_for(r"bypass")
        s.say("start it")
        wait_until(lambda: processes_with(marker), "the command to run")
        if width >= 100:
            s.wait_for(r"● Bash .*sh -c")
            s.wait_for(r"first-line")
            s.wait_for(r"└.*sleep 1000")
        if key == "pane":
            s.keys("M-4")
            s.type("b")
        else:
            s.keys("C-b")
        s.wait_for(r"Going on\.")
        check(processes_with(marker), "the command was ended")
        if width >= 100:
            s.wait_for(r"& Bash +bash_1")
        s.keys("Escape")
        s.keys("M-4")
        s.keys("Enter")
        s.wait_for(r"(?m)^first-line")
        s.wait_for(r"running")
        check("q close" in s.text(), s.text())
        s.type("x")
        s.wait_for(r"(?m)cancelled")
        gone(marker)
        s.type("q")
        s.wait_gone(r"q close")
        s.keys("M-1")
        s.say("what now")
        s.wait_for(r"All seen\.")
        told = [t for t in results(server) if "Background command bash_1" in t]
        check(len(told) == 1 and "stopped by the person" in told[0], told)
        # a single Ctrl+C ends nothing
        s.wait_idle()
        s.keys("C-c")
        s.wait_for(r"again quits")
        check(not s.dead(), "Ctrl+C ended it")
        s.wait_gone(r"again quits")
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status", s.exit_status())
    finally:
        s.close()
        server.close()
        w.close()


def wide():
    sent_behind_and_looked_at(120, 36, "pane")


def middle():
    sent_behind_and_looked_at(80, 24, "ctrl")


def small():
    sent_behind_and_looked_at(40, 12, "ctrl")


def none_is_left(how):
    w = World()
    marker = "left_%d_%s" % (os.getpid(), how)
    command = "setsid sh -c 'trap \"\" INT TERM HUP; sleep 1000; : %s' & sh -c 'sleep 1000; : %s'" % (marker, marker)
    server = Server(w, {"responses": [[bash(command, run_in_background=True)], [{"text": "Going on."}]]})
    s = Screen(w, 80, 24, ["--permission-mode", "bypass"], dict(server.env, IS_SANDBOX="1"))
    try:
        s.wait_for(r"bypass")
        s.say("start it")
        s.wait_for(r"Going on\.")
        check(processes_with(marker), "the command does not run")
        if how == "quit":
            s.keys("C-d")
        else:
            os.kill(s.pid(), signal.SIGKILL)
        gone(marker)
    finally:
        s.close()
        server.close()
        w.close()


def none_is_left_after_quit():
    none_is_left("quit")


def none_is_left_after_a_kill():
    none_is_left("kill")


def print_mode_waits_a_little():
    w = World()
    marker = "print_%d" % os.getpid()
    short = "sleep 1; echo %s > short-done" % marker
    long = "sleep 1000; : %s" % marker
    server = Server(w, {"responses": [[bash(short, run_in_background=True), bash(long, run_in_background=True)],
                                      [{"text": "Started."}]]})
    try:
        run = w.print_mode("start", "--permission-mode", "bypass", env=dict(server.env, IS_SANDBOX="1"))
        check(run.returncode == 0 and "Started." in run.stdout, run)
        check(w.exists("short-done"), run, results(server), "what would have ended by itself was ended")
        gone(marker)
    finally:
        server.close()
        w.close()


def a_flood_leaves_the_screen_usable():
    w = World()
    marker = "flood_%d" % os.getpid()
    server = Server(w, {"responses": [[bash("yes %s" % marker, timeout=600000)], [{"text": "Seen."}]]})
    s = Screen(w, 120, 36, ["--permission-mode", "bypass"], dict(server.env, IS_SANDBOX="1"))
    try:
        s.wait_for(r"bypass")
        s.say("flood")
        s.wait_for(r"● Bash .*MB")
        s.type("typed-while-it-floods")
        s.wait_for(r"typed-while-it-floods")
        s.keys("M-4")
        s.keys("Enter")
        s.wait_for(r"following")
        s.wait_for(r"(?m)^%s" % marker)
        s.type("x")
        s.type("q")
        s.wait_for(r"Seen\.")
        gone(marker)
        text = results(server)[-1]
        check("stopped by the person" in text and "output cut here" in text and len(text) < 12000, text[:300])
    finally:
        s.close()
        server.close()
        w.close()


def nothing_waits_for_a_terminal():
    """What would ask on standard input, on the terminal, or wait for a FIFO ends or times out."""
    w = World()
    commands = ["cat; echo cat-ended", "read x; echo read-$?", "git init -q . && git commit --allow-empty; echo commit-$?",
                "cat < /dev/tty; echo tty-$?", "mkfifo pipe; cat pipe"]
    calls = [[bash(c, timeout=3000)] for c in commands]
    server = Server(w, {"responses": calls + [[{"text": "Over."}]]})
    try:
        run = w.print_mode("start", "--allowedTools", "Bash", env=server.env)
        check(run.returncode == 0 and "Over." in run.stdout, run)
        text = "\n".join(results(server))
        for word in ("cat-ended", "read-1", "commit-", "tty-1", "still running in the background as task bash_1"):
            check(word in text, word, "is not in", text)
    finally:
        server.close()
        w.close()


def a_copy_is_told_that_they_run():
    w = World()
    marker = "forked_%d" % os.getpid()
    server = Server(w, {"responses": [[bash("sleep 1000; : %s" % marker, run_in_background=True)], [{"text": "Started."}]], "match": [
        {"if": "what now", "then": [{"text": "All seen."}], "again": True}]})
    s = Screen(w, 120, 36, ["--permission-mode", "bypass"], dict(server.env, IS_SANDBOX="1"))
    try:
        s.wait_for(r"bypass")
        s.say("start it")
        s.wait_for(r"Started\.")
        s.say("/fork")
        s.wait_for(r"copy")
        s.say("what now")
        s.wait_for(r"All seen\.")
        told = "\n".join(results(server))
        check(processes_with(marker), "the command was ended")
        check("copy of another one, whose background commands still run: bash_1" in told, told)
        check("opened again" not in told, told)
        s.keys("C-d")
    finally:
        s.close()
        server.close()
        w.close()


main(wide, middle, small, none_is_left_after_quit, none_is_left_after_a_kill, print_mode_waits_a_little,
     a_copy_is_told_that_they_run, a_flood_leaves_the_screen_usable, nothing_waits_for_a_terminal)
