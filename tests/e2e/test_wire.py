#!/usr/bin/env python3
"""The main job over the Messages API against the loopback server, its bytes dribbled 7 at a time: in print mode and on the screen.
The server checks each request's legality and that it extends the one before byte for byte."""
import json

from harness import Screen, Server, World, check, main

USAGE = {"input_tokens": 1200, "output_tokens": 40, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50}


def job(w):
    p = w.project
    return {"responses": [
        [{"usage": USAGE}, {"thinking": "First look, then change.", "signature": "c2lnbmF0dXJl"},
         {"text": "I'll look for the function first."},
         {"tool_use": {"name": "Grep", "input": {"pattern": "next_token", "output_mode": "content"}}},
         {"tool_use": {"name": "Read", "input": {"file_path": p + "/src/parse.c"}}}],
        [{"ping": True}, {"text": "Now the edit."},
         {"tool_use": {"name": "Edit", "input": {"file_path": p + "/src/parse.c", "old_string": "return 1;",
                                                  "new_string": "return 42; /* caf\u00e9 \U0001f600 */"}}}],
        [{"tool_use": {"name": "Bash", "input": {"command": "touch built && cat src/parse.c", "description": "build"}}}],
        [{"text": "All **done**: the function returns 42."}]]}


def legal(server, n):
    requests = server.requests()
    check([r["illegal"] for r in requests] == [None] * n, [r["illegal"] for r in requests])
    check(all(r["headers"].get("x-api-key") == "test-key" for r in requests), "the key is sent")
    thinking = [b for m in requests[-1]["body"]["messages"] for b in m["content"] if b["type"] == "thinking"]
    check(thinking == [{"type": "thinking", "thinking": "First look, then change.", "signature": "c2lnbmF0dXJl"}], thinking)


def print_mode():
    w = World()
    server = Server(w, job(w), "--dribble", "7")
    run = w.print_mode("make it return 42", "--output-format", "stream-json", "--allowedTools", "Edit,Bash(touch:*)",
                       env=server.env)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    check(run.returncode == 0 and lines[-1]["subtype"] == "success", run)
    check(lines[-1]["result"].startswith("All **done**"), lines[-1])
    check("return 42; /* caf\u00e9 \U0001f600 */" in w.read("src/parse.c") and w.exists("built"), run)
    check(lines[-1]["usage"]["input_tokens"] == 1200 + 3 * 100, lines[-1]["usage"])
    legal(server, 4)
    server.close()
    w.close()


def on_the_screen():
    w = World()
    server = Server(w, job(w), "--dribble", "7")
    s = Screen(w, 120, 36, env=server.env)
    try:
        s.wait_for(r"default")
        s.say("make it return 42")
        s.wait_for(r"y once")
        s.wait_for(r"return 42;")
        s.answer("y")
        s.wait_for(r"touch built")
        s.wait_for(r"y once")
        s.answer("y")
        s.wait_for(r"the function returns 42")
        s.wait_for(r"\$0\.")
        check("return 42;" in w.read("src/parse.c") and w.exists("built"), "the job's files")
        legal(server, 4)
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status")
    finally:
        s.close()
        server.close()
        w.close()


def a_cut_stream_is_retried():
    w = World()
    server = Server(w, {"responses": [[{"text": "half an ans"}, {"cut": True}],
                                      [{"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}}],
                                      [{"text": "A whole answer."}]]})
    run = w.print_mode("hello", env=server.env)
    check(run.returncode == 0 and "A whole answer." in run.stdout, run)
    check(len(server.requests()) == 3, "three attempts")
    server.close()
    w.close()


def partial_messages():
    w = World()
    server = Server(w, {"responses": [[{"text": "Hello there."}]]}, "--dribble", "7")
    run = w.print_mode("hello", "--output-format", "stream-json", "--include-partial-messages", env=server.env)
    kinds = [json.loads(line)["event"]["type"] for line in run.stdout.splitlines() if '"stream_event"' in line]
    check(kinds[0] == "message_start" and kinds[-1] == "message_stop" and "content_block_delta" in kinds, kinds)
    server.close()
    w.close()


def pauses_go_on_in_the_same_message():
    """What a server pauses between is one message of the model's, which grows at its end; a server that always pauses is asked nine times."""
    w = World()
    pause = {"stop_reason": "pause_turn"}
    server = Server(w, {"responses": [[{"text": "first "}, pause], [{"text": "second "}, pause], [{"text": "third"}]]})
    run = w.print_mode("hello", env=server.env)
    check(run.returncode == 0 and run.stdout == "first second third\n", run)
    requests = server.requests()
    check([r["illegal"] for r in requests] == [None] * 3, [r["illegal"] for r in requests])
    last = requests[-1]["body"]["messages"]
    check([m["role"] for m in last] == ["user", "assistant"], last)
    check([b["text"] for b in last[1]["content"]] == ["first ", "second "], last[1])
    server.close()
    server = Server(w, {"responses": [[{"text": "on and on "}, pause]]})
    run = w.print_mode("hello", env=server.env)
    requests = server.requests()
    check(run.returncode == 0 and len(requests) == 3 + 9 and all(r["illegal"] is None for r in requests), run, len(requests))
    server.close()
    w.close()


main(print_mode, on_the_screen, a_cut_stream_is_retried, partial_messages, pauses_go_on_in_the_same_message)
