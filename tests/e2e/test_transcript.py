#!/usr/bin/env python3
"""The transcript in the real program: what reaches the terminal while text streams, and that all of it can be got back."""
import os
import re
import unicodedata

from harness import Screen, Server, World, check, main, wait_until
from terminal import Terminal

LINES = "".join("line %03d of the stream\n\n" % i for i in range(500))


class Asked(Terminal):
    """A terminal that says it has synchronized updates when asked."""
    asked = False

    def __init__(self, world, env, args=()):
        super().__init__(world, env, args)

    def hear(self, data):
        if not self.asked and b"\x1b[?2026$p" in self.out:
            self.asked = True
            os.write(self.master, b"\x1b[?2026;2$y")


def a_stream_neither_flickers_nor_costs():
    w = World()
    server = Server(w, {"responses": [[{"generate": {"tokens": 5000, "seed": 4}}, {"text": "\n\nThe-last-word."}]]})
    t = Asked(w, server.env)
    t.wait_for(rb"ctx")
    wait_until(lambda: t.asked and t.take(0.3) == b"", "the terminal's answer to be read")
    before = len(t.out)
    t.write(b"go\r")
    # the seconds that a turn counts keep the screen busy until it is over
    wait_until(lambda: t.take(1.5) == b"" and b"last-word" in t.out[before:], "the end")
    out = t.out[before:]
    check(b"\x1b[2J" not in out and b"\x1b[3J" not in out, "the screen was cleared")
    check(len(out) <= 6 * 20000, "20,000 bytes of text cost", len(out))
    # all that is drawn stands inside a frame's brackets
    outside = re.sub(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", b"", out, flags=re.S)
    check(b"\x1b[?2026h" in out and not re.search(rb"[a-z]{3}", outside), "outside of brackets:", outside[:300])
    t.close()
    server.close()
    w.close()


def lines_on(screen):
    return [int(n) for n in re.findall(r"line (\d{3})", screen.text())]


def settled_lines_on(screen):
    """A capture may fall between two halves of a frame: the same twice is whole."""
    shots = [None, lines_on(screen)]

    def same():
        shots[:] = [shots[1], lines_on(screen)]
        return shots[0] == shots[1]
    wait_until(same, screen.text)
    return shots[1]


def every_line_comes_back_once():
    text = "".join("line %03d\n" % i for i in range(500))
    for width, height in ((20, 6), (40, 10)):
        w = World()
        server = Server(w, {"responses": [[{"text": text}, {"text": "\nThe end."}]]})
        s = Screen(w, width, height, env=server.env)
        s.wait_for("default|>")
        s.say("go")
        s.wait_for(r"The\s+end\.")
        s.keys("M-2")
        s.keys("Home")
        s.wait_for("> go")
        seen, end = [], False
        while not end:
            now = settled_lines_on(s)
            check(now == sorted(set(now)), "on one screen:", now)
            check(not now or not seen or now[0] <= seen[-1] + 1, "left out between", seen[-1:], "and", now)
            seen += [n for n in now if not seen or n > seen[-1]]
            end = re.search(r"The\s+end\.", s.text())
            if not end:
                s.keys("NPage")
                wait_until(lambda: lines_on(s) != now or re.search(r"The\s+end\.", s.text()), lambda: "the page after %s" % now)
        check(seen == list(range(500)), width, height, "lines missing or twice:", seen[:40])
        s.close()
        server.close()
        w.close()


def scrolled_up_nothing_moves():
    w = World()
    server = Server(w, {"responses": [[{"text": LINES}, {"text": "\n\nFirst end."}],
                                      [{"delay_ms": 300}, {"text": "news one\n\nnews two\n\nSecond end."}]]})
    s = Screen(w, 80, 24, env=server.env)
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for(r"First end\.")
    s.say("more")
    s.keys("PPage")
    s.wait_for(r"line 48\d")
    s.wait_for(r"\d+ new, End shows")
    before = s.text().split("\n")[1:12]
    s.wait_for(r"[5-9] new, End shows")
    check(s.text().split("\n")[1:12] == before, "the text moved")
    s.keys("End")
    s.wait_for(r"Second end\.")
    s.wait_gone(r"new, End shows")
    s.close()
    server.close()
    w.close()


def other_terms_scroll():
    for term in ("screen", "tmux-256color", "xterm"):
        w = World()
        server = Server(w, {"responses": [[{"text": LINES}, {"text": "\n\nThe end."}]]})
        s = Screen(w, 80, 24, env=dict(server.env, TERM=term))
        s.wait_for("ctx|default")
        s.say("go")
        s.wait_for(r"The end\.")
        s.keys("PPage")
        s.wait_gone(r"The end\.")
        s.keys("NPage")
        s.wait_for(r"The end\.")
        s.tmux("send-keys", "-l", "\x1b[<64;10;5M")
        s.wait_gone(r"The end\.")
        s.close()
        server.close()
        w.close()


def shrinking_mangles_nothing():
    w = World()
    text = "A sentence of some length that has to be wrapped at any width. " * 3
    server = Server(w, {"responses": [[{"text": text + "\n\n| a | b |\n|---|---|\n| one | two |\n\nThe end."}]]})
    s = Screen(w, 120, 36, env=server.env)
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for(r"The end\.")
    rows = lambda: s.text().split("\n")[:30]  # the status below may still count
    before = rows()
    s.resize(10, 20)
    wait_until(lambda: max(len(line) for line in s.text().split("\n")) <= 10, "the narrow screen")
    s.resize(120, 36)
    wait_until(lambda: rows() == before, lambda: "the screen as it was:\n%s\nnot\n%s" % ("\n".join(before), s.text()))
    s.close()
    server.close()
    w.close()


def random_resizes_end_in_the_same_screen():
    """Sizes come and go while text streams; the screen then is that of a program that had this size all along."""
    import random
    rng, shots = random.Random(7), []
    for noisy in (True, False):
        w = World()
        server = Server(w, {"responses": [[{"tokens_per_second": 4000 if noisy else 0}, {"generate": {"tokens": 6000, "seed": 3}},
                                           {"text": "\n\nThe end."}]]})
        s = Screen(w, 90, 30, args=("--model", "claude-sonnet-4-5"), env=server.env)
        s.wait_for("ctx|default")
        s.say("go")
        for _ in range(100 if noisy else 0):
            s.resize(rng.randrange(2, 180), rng.randrange(2, 50))
        s.resize(90, 30)
        s.wait_for(r"The end\.")
        s.wait_gone(r"turn 1 \S+ \S+ \d+s")
        shots.append([line for line in s.text().split("\n")[1:22]])
        s.close()
        server.close()
        w.close()
    check(shots[0] == shots[1], "\n".join(shots[0]), "\nis not\n", "\n".join(shots[1]))


def search_marks_and_counts():
    w = World()
    server = Server(w, {"responses": [[{"text": LINES}, {"text": "\n\nThe end."}]]})
    s = Screen(w, 80, 24, env=server.env)
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for(r"The end\.")
    s.keys("C-f")
    s.type("LINE 123")
    s.keys("Enter")
    s.wait_for("line 123")
    s.wait_for(r"1 of 1 ")
    check(re.search(r"\x1b\[[0-9;]*7[0-9;]*m[^\n]{0,40}line 123", s.tmux("capture-pane", "-e", "-p")), "the hit is not marked")
    s.close()
    server.close()
    w.close()


def links_and_scrollback():
    w = World()
    url = "https://example.org/login?" + "code=0123456789&" * 8 + "end"
    w.write("../opener", "#!/bin/sh\nprintf %s \"$1\" > \"$HOME/opened\"\n")
    os.chmod(w.top + "/opener", 0o755)
    server = Server(w, {"responses": [[{"text": "Go to %s now.\n\nThe end." % url}]]})
    t = Asked(w, dict(server.env, BROWSER=w.top + "/opener"))
    t.wait_for(rb"ctx")
    t.write(b"go\r")
    t.wait_for(rb"The end\.")
    t.take(0.3)
    check(t.out.count(b"\x1b]8;;" + url.encode() + b"\x1b\\") >= 2, "no link on each row")
    check(not os.path.exists(w.home + "/opened"), "opened unasked")
    check(b"\x1b]52;" not in t.out, "the clipboard was written")
    t.write(b"\x1b2")
    t.take(0.2)
    t.write(b"o")
    wait_until(lambda: os.path.exists(w.home + "/opened") and open(w.home + "/opened").read() == url, "the opener")
    before = len(t.out)
    t.write(b"[")
    t.wait_for(rb"scrollback")
    t.take(0.3)
    left, back = t.out.find(b"\x1b[?1049l", before), t.out.rfind(b"\x1b[?1049h")
    check(before < left < back and url.encode() in t.out[left:back], "not on the normal screen")
    check(b"> go" in t.out[left:back], t.out[left:back])
    t.close()
    server.close()
    w.close()


def no_mouse_and_its_toggle():
    w = World()
    t = Asked(w, {}, ("--provider", "offline", "--no-mouse"))
    t.wait_for(rb"ctx")
    t.take(0.3)
    check(not re.search(rb"\x1b\[\?100[0-36]h", t.out), "the mouse was asked for")
    t.write(b"\x18m")
    t.wait_for(rb"\x1b\[\?1002h")
    t.write(b"\x18m")
    t.wait_for(rb"\x1b\[\?1002l")
    t.close()
    w.close()


def columns(text):
    """As the terminal of the test counts them: what a joiner joins takes no columns of its own."""
    return sum(0 if unicodedata.combining(c) or c in "\ufe0f\u200d" or before == "\u200d" else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for before, c in zip(" " + text, text))


def the_border_stays_where_it_is():
    w = World()
    odd = ["plain", "\u65e5\u672c\u8a9e", "e\u0301 combined", "\U0001f600 face", "\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
           "\u00b1 \u00a7 \u25cf \u2460 ambiguous", "\u0e01\u0e33 thai", "\u202ebidi\u202c"]
    server = Server(w, {"responses": [[{"text": "\n\n".join(odd) + "\n\nThe end."}]]})
    s = Screen(w, 120, 36, env=server.env)
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for(r"The end\.")
    rows = s.text().split("\n")[1:24]
    borders = {columns(line[:line.index("\u2502", 1)]) for line in rows if "\u2502" in line[1:]}
    check(len(borders) == 1, "the border stands at", borders, "\n".join(rows))
    s.close()
    server.close()
    w.close()


def a_terminal_where_borders_are_wide():
    w = World()
    t = Asked(w, {}, ("--provider", "offline"))
    t.wait_for(rb"\x1b\[6n")
    t.take(0.2)
    before = len(t.out)
    t.write(b"\x1b[1;3R")
    t.wait_for(rb"\+-+")
    t.take(0.3)
    check("\u2502".encode() not in t.out[before:], "a wide border")
    t.close()
    w.close()


def without_the_other_screen():
    w = World()
    server = Server(w, {"responses": [[{"text": "What the model said last."}]]})
    t = Asked(w, server.env, ("--no-alt-screen",))
    t.wait_for(rb"ctx")
    t.write(b"go\r")
    t.wait_for(rb"said last")
    t.take(0.3)
    before = len(t.out)
    t.write(b"\x04")
    wait_until(lambda: t.take(0.05) == b"" and t.process.poll() is not None, "the end")
    check(b"said last" in t.out[before:] and b"yare resume" in t.out[before:], t.out[before:])
    t.close()
    server.close()
    w.close()


main(a_stream_neither_flickers_nor_costs, every_line_comes_back_once, scrolled_up_nothing_moves, other_terms_scroll,
     shrinking_mangles_nothing, random_resizes_end_in_the_same_screen, search_marks_and_counts, links_and_scrollback,
     no_mouse_and_its_toggle, the_border_stays_where_it_is, a_terminal_where_borders_are_wide, without_the_other_screen)
