#!/usr/bin/env python3
"""What goes in: pastes of any size, keys in pieces, long prompts, where the cursor stands, suspend and resume, and how a person who
is elsewhere is called."""
import json
import os
import re
import signal
import termios

from harness import Screen, Server, World, YARE, check, main, wait_until
from terminal import Terminal

SLOW = [{"text": "start "}, {"delay_ms": 60000}, {"text": "end"}]
QUICK = [{"text": "the answer"}]
PASTE, PASTED = b"\x1b[200~", b"\x1b[201~"


def sent(server):
    """The texts of the last user message of each request."""
    found = []
    for r in server.requests():
        content = r["body"]["messages"][-1]["content"]
        found.append([content] if isinstance(content, str) else [b["text"] for b in content if b["type"] == "text"])
    return found


def wait_sent(server, n):
    return wait_until(lambda: len(server.requests()) >= n and sent(server), lambda: "%d requests" % n)


def settle(t):
    wait_until(lambda: t.take(0.1) == b"", "yare to be quiet")


def paste_is_sent(data, shown):
    """Pastes, sees the chip, types a letter that is seen, sends; what the server got is what was pasted."""
    w = World()
    server = Server(w, {"responses": [QUICK]})
    t = Terminal(w, server.env, ())
    t.wait_for(rb"ctx")
    settle(t)
    t.write(PASTE + data + PASTED)
    t.wait_for(shown)
    settle(t)
    before = len(t.out)
    t.write(b"Q")
    t.wait_for(rb"Q")
    check(len(t.out) - before <= 400, "a letter beside the paste cost", len(t.out) - before)
    t.write(b"\x7f\r")
    texts = wait_sent(server, 1)[0]
    check(data.decode() in texts, "what was sent is not what was pasted:", [len(x) for x in texts])
    t.wait_for(rb"the answer")
    check(len(server.requests()) == 1, "sent", len(server.requests()), "times")
    t.close()
    server.close()
    w.close()


def a_megabyte_pasted():
    line = b"0123456789 abcdef \xc3\xa4\xe6\x97\xa5 \"quoted\" \\ \t tab end\n"
    paste_is_sent((line * (1000000 // len(line) + 1))[:1000000].rsplit(b"\n", 1)[0], rb"\[paste 1: [\d,]+ lines, [\d.]+[kM]B\]")


def twenty_thousand_lines_pasted():
    paste_is_sent(b"\n".join(b"line %d" % i for i in range(20000)), rb"\[paste 1: 20,000 lines, \d+kB\]")


def a_paste_and_its_enter_in_one_read():
    w = World()
    server = Server(w, {"responses": [QUICK]})
    t = Terminal(w, server.env, ())
    t.wait_for(rb"ctx")
    settle(t)
    t.write(PASTE + b"one\ntwo" + PASTED + b"\r")
    texts = wait_sent(server, 1)[0]
    check("one\ntwo" in texts, texts)
    t.wait_for(rb"the answer")
    settle(t)
    check(len(server.requests()) == 1, "sent", len(server.requests()), "times")
    t.close()
    server.close()
    w.close()


def keys_cut_in_pieces():
    """64 bytes a read, cut where it falls: no arrow becomes an Esc; then one Esc interrupts, once."""
    w = World()
    server = Server(w, {"responses": [SLOW]})
    t = Terminal(w, server.env, ())
    t.wait_for(rb"ctx")
    t.write(b"go\r")
    t.wait_for(rb"start")
    keys = b"abc" + b"\x1b[D\x1bOC\x1b[1;5D\x1b[1;5C\x1b[H\x1b[F\x1bb\x1bf\x1b[<64;3;3M" * 12
    for i in range(0, len(keys), 64):
        os.write(t.master, keys[i:i + 64])
        t.take(0.04)
    settle(t)
    check(b"interrupting" not in t.out, "a piece of a key was read as Esc")
    t.write(b"\x1b")
    t.wait_for(rb"interrupting")
    check(t.process.poll() is None, "Esc ended yare")
    t.close()
    server.close()
    w.close()


def long_prompt():
    """500 lines: the box keeps to a third, the cursor is on the screen, the transcript stays where it is."""
    w = World()
    s = Screen(w, 80, 24, ["--provider", "offline"])
    s.wait_for("offline")
    for _ in range(10):
        s.tmux("send-keys", *(["l", "C-j"] * 50))
    s.type("last line here")
    s.wait_for("last line here")
    rows = s.text().split("\n")
    rule = max(i for i, row in enumerate(rows) if row.startswith("├"))
    status = next(i for i, row in enumerate(rows) if "default" in row)
    check(status - rule - 1 <= 8, "the box has", status - rule - 1, "rows:\n" + s.text())
    check(rows[0].startswith("┌ transcript"), "the transcript moved:\n" + s.text())
    x, y = map(int, s.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split())
    check(rule < y < status, "the cursor is at row", y)
    check(x == 4 + len("last line here"), "the cursor is at column", x)
    s.keys("C-Home")
    wait_until(lambda: int(s.tmux("display-message", "-p", "#{cursor_y}")) == rule + 1, "the cursor at the first row of the box")
    s.close()
    w.close()


def the_cursor_stands_at_the_insertion():
    """Also while text streams in: input methods draw where the real cursor is."""
    w = World()
    server = Server(w, {"responses": [[{"tokens_per_second": 60}, {"generate": {"tokens": 400, "seed": 3}}]]})
    s = Screen(w, 80, 24, [], server.env)
    s.wait_for("ctx")
    s.say("stream please")
    s.wait_for(r"\d+s ")
    s.type("abc日")
    s.wait_for("abc日")
    cursor = lambda: s.tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}").strip()
    seen = set()
    before = s.text()
    moved = torn = 0
    while moved < 8:
        first, now, second = cursor(), s.text(), cursor()
        if first == second:
            seen.add(first)
        else:
            torn += 1  # tmux was asked while it had half a frame
        moved += now != before
        before = now
    row = next(i for i, line in enumerate(before.split("\n")) if "abc日" in line)
    check(seen == {"%d %d 1" % (4 + 5, row)}, "the cursor was at", seen, "the text stands in row", row)
    check(torn < 4, "the cursor moved between two looks", torn, "times")
    s.close()
    server.close()
    w.close()


def suspended_and_back_in_another_size():
    w = World()
    s = Screen(w, 80, 24, shell=True)
    s.wait_for(r"bash.*[$#]")
    s.type("%s --provider offline" % YARE)
    s.keys("Enter")
    s.wait_for("offline pilot")
    s.type("half a thought")
    s.wait_for("half a thought")
    s.keys("C-z")
    s.wait_for("Stopped")
    s.type("stty -a | grep -o '.icanon' ; echo shell-is-here")
    s.keys("Enter")
    s.wait_for(r"(?m)^shell-is-here")
    s.resize(60, 18)
    s.type("fg")
    s.keys("Enter")
    s.wait_for("half a thought")
    wait_until(lambda: len(s.text().rstrip("\n").split("\n")) == 18, lambda: "18 rows:\n" + s.text())
    first = s.text().split("\n")[0]
    check(first.startswith("┌") and first.rstrip().endswith("┐") and len(first.rstrip()) == 60, "the frame does not fit:\n" + s.text())
    s.type(" goes on")
    s.wait_for("half a thought goes on")
    s.close()
    w.close()


def a_crash_leaves_the_terminal_as_found():
    w = World()
    t = Terminal(w)
    t.wait_for(rb"ctx")
    t.process.send_signal(signal.SIGSEGV)
    wait_until(lambda: t.take(0.05) == b"" and t.process.poll() is not None, "the end")
    wait_until(lambda: t.take(0.05) == b"" and not t.modes_left() and termios.tcgetattr(t.slave) == t.found,
               lambda: "the terminal after SIGSEGV: %s" % t.modes_left())
    check(t.process.returncode != 0, "a crash is no success")
    t.close()
    w.close()


def a_person_elsewhere_is_called_once():
    """By the setting: the bell, OSC 9, or not at all; and nobody who looks at the screen is."""
    ways = {None: (1, 0), "bell": (1, 0), "osc9": (0, 1), "off": (0, 0)}
    for notify, (bells, notes) in ways.items():
        w = World()
        if notify:
            folder = w.home + "/.config/yare"
            os.makedirs(folder, exist_ok=True)
            with open(folder + "/settings.json", "w") as f:
                json.dump({"notify": notify}, f)
        server = Server(w, {"responses": [[{"text": "first answer"}], [{"text": "second answer"}], [{"text": "third answer"}]]})
        t = Terminal(w, server.env, ())
        t.wait_for(rb"ctx")
        settle(t)
        t.write(b"one\r")
        t.wait_for(rb"first answer")
        settle(t)
        count = lambda: (re.sub(rb"\x1b\][^\x07\x1b]*\x07", b"", t.out).count(b"\x07"), t.out.count(b"\x1b]9;"))
        check(count() == (0, 0), notify, "called somebody who is here:", count())
        t.write(b"\x1b[O")
        t.write(b"two\r")
        t.wait_for(rb"second answer")
        settle(t)
        check(count() == (bells, notes), notify, "called", count())
        t.write(b"\x1b[I")
        t.write(b"three\r")
        t.wait_for(rb"third[^\n]*answer")  # it may come in two pieces
        settle(t)
        check(count() == (bells, notes), notify, "called again", count())
        t.close()
        server.close()
        w.close()


def the_theme_is_as_set():
    """Dark and light by the setting, whatever the terminal says of itself."""
    for theme, own, other in (("dark", b"38;5;80m", b"38;5;24m"), ("light", b"38;5;24m", b"38;5;80m")):
        w = World()
        folder = w.home + "/.config/yare"
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/settings.json", "w") as f:
            json.dump({"theme": theme}, f)
        t = Terminal(w, {"COLORFGBG": "0;15" if theme == "dark" else "15;0"})
        t.wait_for(rb"ctx")
        t.wait_for(own)
        settle(t)
        before = len(t.out)
        t.write(b"\x0c")
        wait_until(lambda: t.take(0.05) == b"" and len(t.out) > before + 100, "the screen anew")
        check(own in t.out[before:] and other not in t.out[before:], theme, "is drawn in the other's colours")
        t.close()
        w.close()


def the_line_of_a_shell_command_stands_above_its_output():
    w = World()
    s = Screen(w, 80, 24, ["--provider", "offline"])
    s.wait_for("offline")
    s.type("!echo from-the-shell-$((20+22))")
    s.wait_for(r"\$ !echo")
    s.wait_for("shell")
    s.keys("Enter")
    s.wait_for(r"from-the-shell-42")
    text = s.text()
    check(text.index("!echo") < text.index("from-the-shell-42"), "the output stands first:\n" + text)
    check(text.count("!echo") == 1, "the line is there twice:\n" + text)
    s.close()
    w.close()


main(a_megabyte_pasted, twenty_thousand_lines_pasted, a_paste_and_its_enter_in_one_read, keys_cut_in_pieces, long_prompt,
     the_cursor_stands_at_the_insertion, suspended_and_back_in_another_size, a_crash_leaves_the_terminal_as_found,
     a_person_elsewhere_is_called_once, the_theme_is_as_set, the_line_of_a_shell_command_stands_above_its_output)
