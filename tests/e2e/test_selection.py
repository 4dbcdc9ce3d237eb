#!/usr/bin/env python3
"""What the mouse selects in the transcript of the real program is what was written: no frame, no side column, no wraps; and the
clipboard is written only when somebody asks for it."""
import re

from harness import Screen, Server, World, check, main, wait_until
from terminal import Terminal

PARAGRAPH = "A paragraph that goes on and on, so that it has to be broken over several rows of the pane at any width that is used here, " \
            "with a word of each kind in it: plain, **strong** and `code`, and a last one."
SHOWN = PARAGRAPH.replace("**", "")
CODE = "int main(void)\n{\n    return 0;\n}"
TEXT = PARAGRAPH + "\n\n```c\n" + CODE + "\n```\n\n| a | b |\n|---|---|\n| one | two |\n\nThe end."
TABLE = "a   │ b\none │ two"


def pointer(s, button, x, y, up=False):
    s.tmux("send-keys", "-l", "\x1b[<%d;%d;%d%s" % (button, x + 1, y + 1, "m" if up else "M"))


def drag(s, x0, y0, x1, y1):
    """In steps, as a hand does it."""
    pointer(s, 0, x0, y0)
    for k in range(1, 6):
        pointer(s, 32, x0 + (x1 - x0) * k // 5, y0 + (y1 - y0) * k // 5)
    pointer(s, 0, x1, y1, up=True)


def buffers(s):
    return s.tmux("list-buffers").strip()


def copied(s):
    wait_until(lambda: buffers(s), lambda: "something to be copied:\n" + s.text())
    text = s.tmux("show-buffer")
    s.tmux("delete-buffer")
    return text


def is_marked(s):
    """What is selected is to be seen: there is reverse text."""
    return re.search(r"\x1b\[(?:[\d;]*;)?7(?:;[\d;]*)?m", s.tmux("capture-pane", "-e", "-p"))


def started(w, width, height):
    server = Server(w, {"responses": [[{"tool_use": {"name": "Read", "input": {"file_path": w.project + "/src/parse.c"}}}],
                                      [{"text": TEXT}]]})
    s = Screen(w, width, height, env=server.env)
    s.tmux("set-option", "-s", "set-clipboard", "on")
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for(r"The end\.")
    s.wait_gone("[\u2801-\u28ff] \\d+s")  # the turn is over
    return server, s


def a_drag_takes_what_was_written_and_leaves_the_clipboard_alone():
    for width, height in ((140, 36), (80, 24), (46, 30)):
        w = World()
        server, s = started(w, width, height)
        rows = s.text().split("\n")
        first = next(y for y, row in enumerate(rows) if "A paragraph" in row)
        last = next(y for y, row in enumerate(rows) if "The end." in row)
        check(not is_marked(s), "something is selected already:\n" + s.text())
        left = rows[first].index("A paragraph")
        drag(s, left, first, width - 2, last)  # over the border and whatever stands to the right of it
        wait_until(lambda: is_marked(s), lambda: "the selection to be seen:\n" + s.text())
        check(not buffers(s), "a drag wrote the clipboard")
        s.type("y")
        text = copied(s)
        check(text == SHOWN + "\n\n" + CODE + "\n\n" + TABLE + "\n\nThe end.", "%dx%d gave %r" % (width, height, text))
        # from below upwards, and over the upper border: the same
        drag(s, left + len("The end.") - 1, last, left, first)
        check(not buffers(s), "a drag wrote the clipboard")
        s.type("y")
        text = copied(s)
        check(text == SHOWN + "\n\n" + CODE + "\n\n" + TABLE + "\n\nThe end.", "%dx%d upwards gave %r" % (width, height, text))
        # a part of one row
        drag(s, left + 2, first, left + 10, first)
        s.type("y")
        check(copied(s) == "paragraph", "a part of a row")
        s.close()
        server.close()
        w.close()


def keys_copy_an_answer():
    """Without a mouse: the transcript takes the keys, y gives the item at the cursor as it was written."""
    w = World()
    server, s = started(w, 60, 20)
    s.keys("M-2")
    s.type("y")
    text = copied(s)
    check(text.strip() == TEXT, repr(text))
    s.close()
    server.close()
    w.close()


def without_the_mouse_nothing_is_taken():
    """--no-mouse: the terminal is asked for no mouse, so its own selection works; the same after the key that turns it off."""
    w = World()
    for args, keys in ((("--no-mouse",), b""), ((), b"\x18m")):
        t = Terminal(w, args=("--provider", "offline") + args)
        t.wait_for(rb"ctx")
        if keys:
            t.wait_for(rb"\x1b\[\?1002h")
            t.write(keys)
            t.wait_for(rb"\x1b\[\?1002l")
        state = {}
        for number, c in re.findall(rb"\x1b\[\?(100[0-3]|1006|1015|1016)([hl])", t.out):
            state[number] = c
        check(b"h" not in state.values(), args, "the mouse is on:", state)
        check(b"\x1b]52;" not in t.out, "the clipboard was written")
        t.close()
    w.close()


main(a_drag_takes_what_was_written_and_leaves_the_clipboard_alone, keys_copy_an_answer, without_the_mouse_nothing_is_taken)
