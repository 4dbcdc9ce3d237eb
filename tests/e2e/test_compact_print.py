#!/usr/bin/env python3
"""Compaction in print mode: its line in stream-json, what is said when it fails, and a fork that reads what its parent kept."""
import json
import re

from harness import Screen, Server, World, check, main, wait_until

SUMMARY = "## Task\nTalk about parsers.\n## State\nThe first part is done.\n## Next step\nThe second part.\n"
TALK = [{"generate": {"tokens": 2500, "seed": 3}}, {"usage": {"input_tokens": 9000, "output_tokens": 2500}}]


def lines_of(run):
    return [json.loads(line) for line in run.stdout.splitlines()]


def result_of(lines):
    results = [m for m in lines if m["type"] == "result"]
    check(len(results) == 1 and lines[-1] is results[0], "results:", results)
    return results[0]


def talk(w, server, *args):
    run = w.print_mode("talk about parsers", *args, env=server.env)
    check(run.returncode == 0, run.stderr)
    return w.journals()[-1].split("/")[-1][:-len(".jsonl")]


def a_boundary_has_its_line():
    w = World()
    server = Server(w, {"responses": [TALK], "match": [{"if": "<conversation>", "then": [{"text": SUMMARY}]}], "extension": False})
    session = talk(w, server)
    run = w.print_mode("/compact the names", "-r", session, "--output-format", "stream-json", env=server.env)
    lines = lines_of(run)
    found = [m for m in lines if m.get("subtype") == "compact_boundary"]
    check(len(found) == 1, run.stdout, run.stderr)
    m = found[0]
    check(m["type"] == "system" and m["session_id"] == session and len(m["uuid"]) == 36, m)
    meta = m["compact_metadata"]
    check(meta["trigger"] == "manual" and meta["pre_tokens"] == 11500 and 0 < meta["post_tokens"] < 11500, m)
    check(not result_of(lines)["is_error"], lines[-1])
    check(all(r["illegal"] is None for r in server.requests()), "illegal requests")
    server.close()
    w.close()


def an_automatic_one_is_told_as_auto():
    w = World()
    near = TALK[:1] + [{"usage": {"input_tokens": 26000, "output_tokens": 2500}}]
    server = Server(w, {"responses": [near, [{"text": "and on"}]],
                        "match": [{"if": "<conversation>", "then": [{"text": SUMMARY}]}], "extension": False})
    settings = ["--settings", '{"contextWindow": 32000}']
    session = talk(w, server, *settings)
    run = w.print_mode("go on", "-r", session, "--output-format", "stream-json", *settings, env=server.env)
    found = [m["compact_metadata"] for m in lines_of(run) if m.get("subtype") == "compact_boundary"]
    check(len(found) == 1 and found[0]["trigger"] == "auto", found, run.stdout, run.stderr)
    check(result_of(lines_of(run))["result"] == "and on", run.stdout)
    server.close()
    w.close()


def a_failed_one_is_told():
    w = World()
    server = Server(w, {"responses": [TALK], "match": [{"if": "<conversation>", "again": True, "then": [{"text": " "}]}], "extension": False})
    session = talk(w, server)
    run = w.print_mode("/compact", "-r", session, "--output-format", "stream-json", env=server.env)
    lines = lines_of(run)
    check(not [m for m in lines if m.get("subtype") == "compact_boundary"], run.stdout)
    check([m for m in lines if "was not compacted: the answer is empty" in m.get("content", "")], run.stdout)
    m = result_of(lines)
    check(run.returncode == 1 and m["is_error"] and m["subtype"] == "error_during_execution", run.returncode, m)
    check(m["errors"] == ["the answer is empty"], m)
    run = w.print_mode("/compact", "-r", session, env=server.env)
    check("was not compacted: the answer is empty" in run.stderr, run.stderr)
    check(run.returncode == 1, run.returncode, run.stderr)
    server.close()
    w.close()


def one_with_nothing_to_do_is_no_failure():
    """A fresh session, and one so short that its summary would be longer."""
    w = World()
    server = Server(w, {"responses": [[{"text": "Hello."}]],
                        "match": [{"if": "<conversation>", "again": True, "then": [{"text": SUMMARY * 20}]}], "extension": False})
    run = w.print_mode("/compact", env=server.env)
    check(run.returncode == 0 and "nothing that could get shorter" in run.stdout and not server.requests(), run)
    check(not run.stderr, run.stderr)
    session = talk(w, server)
    for form in (), ("--output-format", "json"):
        run = w.print_mode("/compact", "-r", session, *form, env=server.env)
        check(run.returncode == 0 and "would not get shorter" in run.stdout, run)
        check(not form or not result_of(lines_of(run))["is_error"], run)
    server.close()
    w.close()


def a_fork_reads_what_its_parent_kept():
    w = World()
    big = [{"tool_use": {"name": "Bash", "input": {"command": "seq 20000"}}}]
    server = Server(w, {"responses": [big, [{"text": "counted"}]], "extension": False})
    session = talk(w, server, "--allowedTools", "Bash(seq:*)")
    kept = re.search(r"/[^ \"\\]*/tool-results/[^ \"\\]*\.txt", json.dumps(server.requests()[-1]["body"])).group()
    check(session in kept, "kept at", kept)
    server.close()
    read = [{"tool_use": {"name": "Read", "input": {"file_path": kept, "offset": 19990, "limit": 3}}}]
    for parent in range(2):  # a fork, and a fork of the fork
        server = Server(w, {"responses": [read, [{"text": "read"}]], "extension": False})
        before = len(server.requests())
        run = w.print_mode("look at it", "-r", session, "--fork-session", "--output-format", "stream-json", env=server.env)
        check(not result_of(lines_of(run))["permission_denials"], run.stdout[-2000:])
        check("19991" in json.dumps(server.requests()[before + 1]["body"]["messages"][-1]), "the kept text was not read")
        session = w.journals()[-1].split("/")[-1][:-len(".jsonl")]
        server.close()
    w.close()


def a_run_that_never_began_has_its_result():
    w = World()
    server = Server(w, {"responses": [[{"delay_ms": 600000}, {"text": "never"}]], "extension": False})
    s = Screen(w, 80, 24, env=server.env)
    s.wait_for("default")
    s.say("hold it")
    session = wait_until(lambda: w.journals() and server.requests() and w.journals()[-1].split("/")[-1][:-len(".jsonl")], "a journal")
    for resumed, why in ((session, "open in another yare"), ("00000000-0000-4000-8000-000000000000", "no session")):
        for kind in ("json", "stream-json"):
            run = w.print_mode("me too", "-r", resumed, "--output-format", kind, env=server.env)
            m = result_of(lines_of(run))
            check(run.returncode in (1, 2) and m["is_error"] and why in m["errors"][0], run.returncode, m)
            check(why in run.stderr, run.stderr)
        run = w.print_mode("me too", "-r", resumed, env=server.env)
        check(run.stdout == "" and why in run.stderr, run.stdout, run.stderr)
    s.close()
    server.close()
    w.close()


main(a_run_that_never_began_has_its_result, a_boundary_has_its_line, an_automatic_one_is_told_as_auto, a_failed_one_is_told,
     one_with_nothing_to_do_is_no_failure, a_fork_reads_what_its_parent_kept)
