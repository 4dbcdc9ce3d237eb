#!/usr/bin/env python3
"""The main job on the offline pilot, in tmux at three sizes: find, edit, run; approve in the pane; look at the screen."""
import re

from harness import Screen, World, check, main, wait_until


def job(width, height):
    w = World()
    s = Screen(w, width, height, ["--provider", "offline"])
    try:
        s.wait_for(r"default")
        s.say("find next_token")
        s.wait_for(r"Grep")
        s.wait_for(r"parse\.c")
        s.say("replace return 1; with return 2; in src/parse.c")
        s.wait_for(r"y once")
        if width >= 60:
            s.wait_for(r"@@ 1")
        check("return 1;" in w.read("src/parse.c"), "the edit ran before it was approved")
        s.answer("y")
        s.wait_gone(r"y once")
        s.wait_for(r"\+ .*return 2;")
        check("return 2;" in w.read("src/parse.c"), "the approved edit did not run")
        s.say("run touch made-by-yare && echo it-ran")
        s.wait_for(r"y once")
        s.answer("w")
        s.wait_for(r"touch made-by-yare")
        s.wait_for(r"L\d|mode|rules")
        s.type("y")
        s.wait_gone(r"y once")
        wait_until(lambda: w.exists("made-by-yare"), lambda: "the approved command:\n" + s.text())
        s.wait_for(r"(?m)^\W*it-ran")
        before = s.text()
        s.keys("M-a")
        s.wait_for(r"auto")
        s.keys("M-a")
        s.wait_for(r"default")
        s.keys("BTab")
        s.wait_for(r"accept ?[eE]dits")
        if width >= 60:
            check(re.search(r"ctx", before), "no context meter:\n" + before)
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status", s.exit_status())
    finally:
        s.close()
        w.close()


def at_120x36():
    job(120, 36)


def at_80x24():
    job(80, 24)


def at_40x12():
    job(40, 12)


def terminal_is_left_as_it_was():
    w = World()
    s = Screen(w, 100, 30, shell=True)
    try:
        s.say("PS1='$ '; clear; echo before-yare; stty -g > stty.before")
        s.wait_for(r"before-yare\n")
        from harness import YARE
        s.type(YARE + " --provider offline; stty -g > stty.after; echo status-$?")
        s.keys("Enter")
        s.wait_for(r"default")
        s.say("help")
        s.wait_for(r"ANTHROPIC_API_KEY")
        s.keys("C-d")
        s.wait_for(r"status-0\n")
        s.wait_for(r"before-yare\n")
        s.wait_for(r"yare resume [0-9a-f]{8}")
        check(w.read("stty.before") == w.read("stty.after"), "stty differs")
        modes = s.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{bracket_paste_flag}")
        check(modes.split()[:3] == ["0", "0", "1"], "modes left on:", modes)
    finally:
        s.close()
        w.close()


def typing_and_pasting():
    w = World()
    s = Screen(w, 80, 24, ["--provider", "offline"])
    try:
        s.wait_for(r"default")
        s.paste("write line one\nline two to pasted.txt")
        s.wait_for(r"line two")
        check(not w.exists("pasted.txt"), "a paste was submitted")
        s.keys("C-c")
        s.wait_gone(r"line two")
        s.type("first prompt is help")
        s.keys("C-c")
        s.type("help")
        s.keys("Enter")
        s.wait_for(r"ANTHROPIC_API_KEY")
        s.wait_gone(r"\d+s ─|\d+s$")  # the turn is over
        s.keys("Up")
        s.wait_for(r"> help")
        s.resize(50, 14)
        s.wait_for(r"> help")
        s.resize(10, 3)
        s.resize(1, 1)
        s.resize(80, 24)
        s.wait_for(r"> help")
        check(not s.dead(), "the resize ended yare")
        s.keys("C-c")
        s.keys("C-c")
        s.keys("C-c")
        check(s.exit_status() == 0, "two Ctrl+C on an empty prompt quit with", s.exit_status())
    finally:
        s.close()
        w.close()


main(at_120x36, at_80x24, at_40x12, terminal_is_left_as_it_was, typing_and_pasting)
