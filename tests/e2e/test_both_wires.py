#!/usr/bin/env python3
"""One scripted job of twelve tool calls over both wires, in print mode and on the screen: the same files, the same conversation, the
same transcript, and nothing but legal requests, each of which extends the one before."""
import json
import os
import re

from harness import Screen, Server, World, check, main, wait_until

CALLS = 12


def job(p):
    def call(n, name, **given):
        return {"tool_use": {"id": "call_%02d" % n, "name": name, "input": given}}

    todo = [{"content": "Rename the function", "activeForm": "Renaming", "status": "in_progress"},
            {"content": "Run it", "activeForm": "Running", "status": "pending"}]
    return {"responses": [
        [{"text": "First the plan."}, call(1, "TodoWrite", todos=todo),
         call(2, "Glob", pattern="**/*.c"), call(3, "Grep", pattern="next_token", output_mode="content"),
         call(4, "Read", file_path=p + "/src/parse.c")],
        [{"text": "A name that is not there, then the edit."}, call(5, "Read", file_path=p + "/src/missing.c"),
         call(6, "Edit", file_path=p + "/src/parse.c", old_string="return 1;", new_string="return 42; /* caf\u00e9 \U0001f600 */")],
        [call(7, "Write", file_path=p + "/notes.md", content="# notes\n\n- one\n- two \\n kept\n"),
         call(8, "Bash", command="touch built && cat notes.md", description="build")],
        [{"text": "And what fails:"}, call(9, "Bash", command="ls nowhere-at-all")],
        [call(10, "Grep", pattern="no such word", path=p + "/src"), call(11, "Bash", command="wc -l src/parse.c"),
         call(12, "Edit", file_path=p + "/notes.md", old_string="- two", new_string="- 2")],
        [{"text": "All **done**: twelve calls.\n\n```c\nreturn 42;\n```\n"}]]}


WIRES = {
    "anthropic": (lambda port: {"ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % port, "ANTHROPIC_API_KEY": "test-key"}),
    "openai": (lambda port: {"OPENAI_BASE_URL": "http://127.0.0.1:%d/v1" % port, "OPENAI_API_KEY": "test-key"}),
}
ARGS = ("--model", "test-model", "--permission-mode", "acceptEdits", "--allowedTools", "Bash(touch:*)")


def plain(text, w):
    return text.replace(w.project, "/P").replace(w.home, "/H")


def conversation(w):
    """What the journal holds of messages, without ids and times of this run."""
    with open(w.journals()[-1]) as f:
        records = [json.loads(line) for line in f]
    return [json.loads(plain(json.dumps(r["message"]), w)) for r in records if r["type"] in ("user", "assistant")]


def files(w):
    found = {}
    for folder, _, names in os.walk(w.project):
        for name in names:
            if ".yare" not in folder:
                with open(os.path.join(folder, name), "rb") as f:
                    found[os.path.relpath(os.path.join(folder, name), w.project)] = f.read()
    return found


def legal(server, path):
    requests = server.requests()
    check([r["illegal"] for r in requests] == [None] * 6, [r["illegal"] for r in requests])
    check(all(r["path"].split("?")[0] == path for r in requests), requests[0]["path"])


def same(a, b, what):
    check(a == b, what, "differ:", json.dumps(a, default=repr)[:6000], "\n---\n", json.dumps(b, default=repr)[:6000])


PATHS = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}


def in_print_mode(wire):
    w = World()
    server = Server(w, job(w.project), "--dribble", "7")
    run = w.print_mode("make it return 42", *ARGS, "--output-format", "stream-json", env=WIRES[wire](server.port))
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    check(run.returncode == 0 and lines[-1]["subtype"] == "success", run)
    legal(server, PATHS[wire])
    uses = [b["name"] for line in lines if line["type"] == "assistant" for b in line["message"]["content"] if b["type"] == "tool_use"]
    check(len(uses) == CALLS, uses)
    got = {"files": files(w), "conversation": conversation(w), "answer": lines[-1]["result"], "calls": uses}
    server.close()
    w.close()
    return got


def screen_text(s):
    """The transcript full screen from its beginning, without what a clock or a price makes of it."""
    s.keys("C-o")
    # One capture that is whole: full width, and the same as the one before.
    shots = ["", ""]

    def settled():
        shots[:] = [shots[1], s.text()]
        return shots[0] == shots[1] and "\u252c" not in shots[1]
    wait_until(settled, s.text)
    text = shots[1]
    text = re.sub(r"yare-e2e-\w{8}", "yare-e2e-WORLD", text)
    text = re.sub(r"\b\d+(\.\d+)?\s?(ms|s)\b", "T", text.split("\u251c", 1)[0])
    return re.sub(r" +", " ", text)


def on_the_screen(wire):
    w = World()
    server = Server(w, job(w.project), "--dribble", "7")
    s = Screen(w, 120, 90, ARGS, env=WIRES[wire](server.port))
    try:
        s.wait_for(r"accept")
        s.say("make it return 42")
        s.wait_for(r"twelve calls")
        wait_until(lambda: len(server.requests()) == 6, "six requests")
        s.wait_idle()
        legal(server, PATHS[wire])
        got = {"files": files(w), "conversation": conversation(w), "screen": plain(screen_text(s), w)}
        s.keys("C-o")
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status")
        return got
    finally:
        s.close()
        server.close()
        w.close()


def print_mode_is_the_same_over_both_wires():
    a, b = in_print_mode("anthropic"), in_print_mode("openai")
    for what in a:
        same(a[what], b[what], what)


def the_screen_is_the_same_over_both_wires():
    a, b = on_the_screen("anthropic"), on_the_screen("openai")
    for what in a:
        same(a[what], b[what], what)
    printed = in_print_mode("anthropic")
    same(a["files"], printed["files"], "the files of screen and print mode")
    same(a["conversation"], printed["conversation"], "the conversations of screen and print mode")


if __name__ == "__main__":
    main(print_mode_is_the_same_over_both_wires, the_screen_is_the_same_over_both_wires)
