#!/usr/bin/env python3
"""The terminal after yare was killed in the middle of its screen: settings, alternate screen, mouse and cursor are what they were."""
import os
import signal

from harness import Screen, World, check, descendants, main, wait_until


def flags(s):
    return s.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").split()


def parent(pid):
    with open("/proc/%d/stat" % pid) as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def guards_below(pid):
    found = []
    for p in descendants(pid):
        try:
            with open("/proc/%d/comm" % p) as f:
                found += [p] if f.read().startswith("yare-superv") else []
        except OSError:
            continue
    return found


def settings(s, w, name):
    """As the shell's own child sees them, so between two prompts each time."""
    s.type("stty -g > %s/%s.part && mv %s/%s.part %s/%s" % ((w.top, name) * 3))
    s.keys("Enter")
    path = w.top + "/" + name
    wait_until(lambda: os.path.exists(path), lambda: "stty -g:\n" + s.text())
    with open(path) as f:
        return f.read()


def killed_while_the_screen_stands():
    w = World()
    s = Screen(w, 80, 24, env={"PS1": "shell> ", "YARE": os.environ["YARE_BIN"]}, shell=True)
    try:
        s.wait_for("shell>")
        before = settings(s, w, "before")
        s.type('"$YARE" --provider offline')
        s.keys("Enter")
        s.wait_for("default")
        check(flags(s)[:2] == ["1", "1"], "alternate screen and mouse while yare runs", flags(s))
        guard = wait_until(lambda: guards_below(s.pid()), "the guard")
        os.kill(parent(guard[0]), signal.SIGKILL)
        wait_until(lambda: flags(s) == ["0", "0", "1"], lambda: "the terminal back: %s" % flags(s))
        check(settings(s, w, "after") == before, "stty -g", before)
        wait_until(lambda: not any(os.path.exists("/proc/%d" % g) for g in guard), "the guard's end")
    finally:
        s.close()
        w.close()


def a_clean_end_needs_no_guard():
    w = World()
    s = Screen(w, 80, 24, env={"PS1": "shell> ", "YARE": os.environ["YARE_BIN"]}, shell=True)
    try:
        s.wait_for("shell>")
        before = settings(s, w, "before")
        s.type('"$YARE" --provider offline')
        s.keys("Enter")
        s.wait_for("default")
        guard = wait_until(lambda: guards_below(s.pid()), "the guard")
        s.keys("C-d")
        s.wait_for("shell>")
        check(settings(s, w, "after") == before, "stty -g", before)
        check(not any(os.path.exists("/proc/%d" % g) for g in guard), "the guard is still there")
    finally:
        s.close()
        w.close()


main(killed_while_the_screen_stands, a_clean_end_needs_no_guard)
