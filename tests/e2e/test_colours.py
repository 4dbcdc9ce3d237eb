#!/usr/bin/env python3
"""Terminals of few colours, none, or a light background: the same words on all of them, in no colour that the terminal has not."""
import os
import re
import subprocess

from harness import Screen, Server, World, check, main
from terminal import Terminal

# What a terminal may be told: the largest number of a palette's colour, and are 24-bit ones allowed?
KINDS = (("none", {"NO_COLOR": "1"}, 0, False), ("8", {"TERM": "linux"}, 8, False), ("16", {"TERM": "sixteen"}, 16, False),
         ("256", {"TERM": "xterm-256color"}, 256, False), ("light", {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, 256, False),
         ("light of 8", {"TERM": "linux", "COLORFGBG": "0;15"}, 8, False), ("24 bit", {"COLORTERM": "truecolor"}, 256, True))


def job(w):
    """Text with all kinds of markup, a call that fails, one that is refused, and one that waits for an answer."""
    bash = lambda command: {"tool_use": {"name": "Bash", "input": {"command": command}}}
    edit = {"tool_use": {"name": "Edit", "input": {"file_path": w.project + "/src/parse.c", "old_string": "return 1;",
                                                   "new_string": "return 42;"}}}
    return {"responses": [[{"text": "# Plan\n\nA **strong** word, `code`, ~~gone~~ and a [link](https://example.org).\n\n"
                                    "```c\nint x = 1; /* y */\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
                           {"tool_use": {"name": "Read", "input": {"file_path": w.project + "/nosuch.c"}}},
                           {"tool_use": {"name": "Read", "input": {"file_path": w.project + "/src/parse.c"}}}],
                          [edit]]}


SIXTEEN = r"""sixteen|a terminal of sixteen colours,
	colors#16, pairs#256, setaf=\E[%?%p1%{8}%<%t3%p1%d%e9%p1%{8}%-%d%;m, setab=\E[%?%p1%{8}%<%t4%p1%d%e10%p1%{8}%-%d%;m,
	use=xterm-256color,
"""


def settings(w):
    folder = w.home + "/.config/yare"
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/settings.json", "w") as f:
        f.write('{"permissions": {"ask": ["Edit"]}}')
    with open(w.top + "/sixteen.ti", "w") as f:
        f.write(SIXTEEN)
    subprocess.run(["tic", "-x", "-o", w.home + "/.terminfo", w.top + "/sixteen.ti"], check=True, stderr=subprocess.DEVNULL)


def beyond(out, most, direct):
    """Colours in what was written that the terminal has not."""
    found = set()
    for codes in re.findall(rb"\x1b\[([\d;:]*)m", out):
        n = [int(x or 0) for x in re.split(rb"[;:]", codes)]
        i = 0
        while i < len(n):
            if n[i] in (38, 48) and n[i + 1:i + 2] == [5]:
                found |= {("palette", n[i + 2])} if n[i + 2] >= most else set()
                i += 3
            elif n[i] in (38, 48):
                found |= set() if direct else {("direct", codes)}
                i = len(n)
            else:
                basic, bright = 30 <= n[i] <= 37 or 40 <= n[i] <= 47, 90 <= n[i] <= 97 or 100 <= n[i] <= 107
                if (basic and most < 8) or (bright and most < 16):
                    found.add(("basic", n[i]))
                i += 1
    return found


def colours(out):
    return len(re.findall(rb"\x1b\[(?:[\d;:]*[;:])?(?:3[0-8]|4[0-8]|9[0-7])(?:[;:][\d;:]*)?m", out))


def no_colour_that_is_not_there():
    for name, env, most, direct in KINDS:
        w = World()
        settings(w)
        server = Server(w, job(w))
        t = Terminal(w, dict(server.env, **env), (), 120, 36)
        t.wait_for(rb"ctx")
        t.write(b"go\r")
        t.wait_for(rb"waited")
        check(not beyond(t.out, most, direct), name, "was sent", beyond(t.out, most, direct))
        check((colours(t.out) > 0) == (most > 0), name, "has", colours(t.out), "colours")
        t.close()
        server.close()
        w.close()


def words(s):
    """The screen without what counts time."""
    text = re.sub(r"waited \d+s", "waited", s.text())
    return re.sub(r"[\u2801-\u28ff]|turn 1 \S+ \S+ \d+s|\b\d+(\.\d+)?m?s\b", "", text).replace(" ", "").replace("\u2500", "")


def nothing_is_told_by_colour_alone():
    """All terminals show the same words and marks, and without colours the key that takes the answer is still to be seen."""
    for width, height in ((120, 36), (40, 12)):
        w = World()
        settings(w)
        shown = {}
        for name, env, _, _ in KINDS:
            server = Server(w, job(w))
            s = Screen(w, width, height, env=dict(server.env, **env))
            s.wait_for("default|>")
            s.say("go")
            s.wait_for(r"waited [1-9]")
            shown[name] = words(s)
            if name == "none":
                attributes = s.tmux("capture-pane", "-e", "-p")
                check(re.search(r"\x1b\[(?:[\d;]*;)?[147](?:;[\d;]*)?m", attributes), "no bold, underlined or reverse text without colours")
            s.close()
            server.close()
        for name, text in shown.items():
            check(text == shown["256"], "%dx%d" % (width, height), name, "shows\n" + text, "\nand not\n" + shown["256"])
        w.close()


main(no_colour_that_is_not_there, nothing_is_told_by_colour_alone)
