#!/usr/bin/env python3
"""When things go wrong, with the real program: nothing listens, the server falls silent, the money is used up, the model goes round in a
circle. The person reads what happened and what to do, and nothing that came is lost."""
import json
import socket
import time

from harness import Screen, Server, World, check, main

READ = {"tool_use": {"id": "toolu_%d", "name": "Read", "input": {"file_path": "a.txt"}}}
SETTINGS, SPENT = "../home/.config/yare/settings.json", "../home/.local/share/yare/spend.json"
DEAR = {"usage": {"input_tokens": 150000, "output_tokens": 900}}


def reads(n):
    use = dict(READ["tool_use"], id="toolu_%d" % n)
    return [{"tool_use": use}]


def result_of(run):
    return json.loads(run.stdout.strip().split("\n")[-1])


def nothing_listens():
    w = World()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    began = time.monotonic()
    run = w.print_mode("hello", env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % port, "ANTHROPIC_API_KEY": "k"})
    check(run.returncode == 1, run)
    check("nothing listens there" in run.stderr and "start the server" in run.stderr, run)
    check(time.monotonic() - began < 45, "that took", time.monotonic() - began)  # seconds of waiting, not minutes
    w.close()


def a_silent_server_is_asked_once_more():
    w = World()
    w.write(SETTINGS, '{"api": {"stall": 1}}')
    server = Server(w, {"responses": [[{"text": "The first half, "}, {"delay_ms": 20000}], [{"text": "the second half."}]]})
    run = w.print_mode("go", env=server.env)
    check(run.returncode == 0 and "The first half, the second half." in run.stdout, run)
    check(len(server.requests()) == 2 and all(r["illegal"] is None for r in server.requests()), server.requests())
    server.close()
    w.close()


def print_mode_ends_at_the_budget():
    w = World()
    w.write("a.txt", "words\n")
    server = Server(w, {"responses": [reads(1) + [DEAR], [{"text": "never"}]]})
    run = w.print_mode("go", "--model", "claude-opus-5-5", "--max-budget-usd", "1", "--output-format", "json", env=server.env)
    r = result_of(run)
    check(run.returncode == 1 and r["subtype"] == "error_max_budget_usd" and r["is_error"], run)
    check(len(server.requests()) == 1 and 0.5 < r["total_cost_usd"] < 1, r)
    day = json.loads(w.read(SPENT))
    check(abs(day["usd"] - r["total_cost_usd"]) < 1e-6, day, r["total_cost_usd"])
    server.close()
    w.close()


def the_person_is_asked_to_raise_it():
    w = World()
    w.write("a.txt", "words\n")
    w.write(SETTINGS, '{"budget": {"session": 1}}')
    server = Server(w, {"responses": [reads(1) + [DEAR], [{"text": "All done now."}]]})
    s = Screen(w, 110, 32, ["--model", "claude-opus-5-5"], server.env)
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for(r"budget to \$2")
    s.wait_for(r"budget of \$1\.00")

    check(len(server.requests()) == 1, server.requests())
    s.answer("y")
    s.wait_for("All done now")
    s.wait_for(r"of \$2")
    check(len(server.requests()) == 2, server.requests())
    s.close()
    server.close()
    w.close()


def a_circle_is_stopped():
    w = World()
    w.write("a.txt", "words\n")
    server = Server(w, {"responses": [reads(i) for i in range(9)]})
    run = w.print_mode("go", "--output-format", "json", env=server.env)
    r = result_of(run)
    check(run.returncode == 1 and r["subtype"] == "error_during_execution", run)
    check("goes round in a circle" in " ".join(r["errors"]), r)
    check(len(server.requests()) <= 4, len(server.requests()))
    server.close()
    w.close()


def the_next_model_takes_over():
    w = World()
    w.write(SETTINGS, '{"fallbackModel": ["gone-1", "claude-haiku-5-5"], "retries": 1}')
    gone = {"status": 404, "body": {"type": "error", "error": {"type": "not_found_error", "message": "model: not here"}}}
    server = Server(w, {"responses": [[{"text": "Taken over."}]],
                        "match": [{"model": "opus", "then": [gone], "again": True}, {"model": "gone-1", "then": [gone], "again": True}]})
    run = w.print_mode("go", "--model", "claude-opus-5-5", env=server.env)
    check(run.returncode == 0 and "Taken over." in run.stdout, run)
    asked = [json.loads(r["body"])["model"] if isinstance(r["body"], str) else r["body"]["model"] for r in server.requests()]
    check(asked == ["claude-opus-5-5", "gone-1", "claude-haiku-5-5"], asked)
    server.close()
    w.close()


main(nothing_listens, a_silent_server_is_asked_once_more, print_mode_ends_at_the_budget, the_person_is_asked_to_raise_it, a_circle_is_stopped,
     the_next_model_takes_over)
