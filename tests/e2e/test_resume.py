#!/usr/bin/env python3
"""A session that is opened again looks as it did: calls with their diffs, ends and summaries, todos, the context meter, the model and
the mode."""
import json
import os
import re
import signal

from harness import Screen, Server, World, check, main, processes_with, wait_until

READ = {"tool_use": {"name": "Read", "input": {"file_path": "src/parse.c"}}}
EDIT = {"tool_use": {"name": "Edit", "input": {"file_path": "src/parse.c", "old_string": "return 1;", "new_string": "return 2;"}}}
TODO = {"tool_use": {"name": "TodoWrite", "input": {"todos": [
    {"content": "mend the parser", "status": "in_progress", "activeForm": "mending"},
    {"content": "run its tests", "status": "pending", "activeForm": "running"}]}}}


def bash(command):
    return {"tool_use": {"name": "Bash", "input": {"command": command, "description": "a command"}}}


def full_screen():
    """A world whose session has an edit, a denied call, a list and an interrupted call."""
    w = World()
    count = {"usage": {"input_tokens": 50000, "output_tokens": 10}}
    server = Server(w, {"responses": [[{"text": "I look first."}, READ], [EDIT], [TODO], [bash("touch denied-file")],
                                      [{"text": "Then something long."}, bash("sleep 300"), count], [{"text": "Back again."}]]})
    s = Screen(w, 120, 36, env=server.env)
    s.wait_for(r"default")
    s.say("/model sonnet")
    s.wait_for(r"the model is now")
    s.say("please mend it")
    s.wait_for(r"y once")
    s.answer("y")
    s.wait_for(r"touch denied-file")
    s.answer("n")
    s.keys("Enter")
    s.wait_for(r"sleep 300.*running")
    s.keys("Escape")
    s.wait_for(r"cancelled")
    s.keys("BTab")
    s.wait_for(r"accept edits")
    return w, server, s


def pane(text):
    """The transcript's part: left of the other panes, without the notices, which are of the run and not of the session."""
    rows = text.split("\n")
    column = next((m.start() for m in (re.search(r"[┬┐]", row) for row in rows) if m), 120)
    found = []
    for row in rows:
        left = row[:column].rstrip("│ ").rstrip()
        found.append(left.rstrip("▲▼█░ "))
    return found


def calls(text):
    """From the prompt on, the transcript's lines; notices are of the run, not of the session."""
    rows = pane(text)
    first = next(i for i, row in enumerate(rows) if "please mend it" in row)
    last = next(i for i, row in enumerate(rows) if i > first and row.startswith("├"))
    return [row for row in rows[first:last] if row.strip("│ ") and not row.startswith("│ ·")]


def it_looks_the_same():
    w, server, s = full_screen()
    try:
        before = s.text()
        s.keys("C-d")
        s.exit_status()
        s.close()
        s = Screen(w, 120, 36, ["-c"], env=server.env)
        s.wait_for(r"sleep 300")
        s.wait_for(r"ctx")
        s.keys("C-t")
        s.wait_for(r"├ todos ─")
        after = s.text()
        check(calls(before) == calls(after), "before:\n%s\nafter:\n%s" % (before, after))
        for word in ("denied", "cancelled", r"\+1 -1", "return 2;", "mending", "accept edits", "sonnet"):
            check(re.search(word, after), word, "is not on:\n" + after)
        check(not re.search(r"ctx\W+0 ?%", after), "the meter stands at nothing:\n" + after)
    finally:
        s.close()
        server.close()
        w.close()


def flags_win():
    w, server, s = full_screen()
    try:
        s.keys("C-d")
        s.exit_status()
        s.close()
        s = Screen(w, 120, 36, ["-c", "--model", "opus", "--permission-mode", "plan"], env=server.env)
        s.wait_for(r"sleep 300")
        s.wait_for(r"opus")
        s.wait_for(r"plan")
        check("sonnet" not in s.text().split("\n")[-1] and "accept edits" not in s.text(), s.text())
    finally:
        s.close()
        server.close()
        w.close()


def the_model_hears_what_ended():
    w = World()
    seconds = str(300000 + os.getpid())  # nobody else's
    call = {"tool_use": {"name": "Bash", "input": {"command": "sleep " + seconds, "description": "waits", "run_in_background": True}}}
    server = Server(w, {"responses": [[call], [{"text": "It waits."}], [{"text": "Back again."}]]})
    s = Screen(w, 120, 36, env=server.env)
    try:
        s.wait_for(r"default")
        s.say("wait a while")
        s.wait_for(r"It waits\.")
        os.kill(s.pid(), signal.SIGKILL)
        s.exit_status()
        s.close()
        s = Screen(w, 120, 36, ["-c"], env=server.env)
        s.wait_for(r"It waits\.")
        s.say("what became of it")
        s.wait_for(r"Back again\.")
        last = json.dumps(server.requests()[-1]["body"]["messages"][-1])
        check("bash_1 (sleep %s)" % seconds in last, "the model was not told:", last)
        wait_until(lambda: not processes_with("sleep\0" + seconds), "the command's end")
    finally:
        s.close()
        server.close()
        w.close()


def the_pilot_has_one_model():
    w = World()
    s = Screen(w, 120, 36, ["--provider", "offline", "--model", "gpt-banana"])
    try:
        s.wait_for(r"gpt-banana\s+is\s+not")
        s.say("/model nonsense")
        s.wait_for(r"'nonsense'\s+was\s+not\s+taken")
        s.say("/rename harbour")
        s.wait_for(r"name is now 'harbour'")
    finally:
        s.close()
        w.close()


if __name__ == "__main__":
    main(it_looks_the_same, flags_win, the_model_hears_what_ended, the_pilot_has_one_model)
