#!/usr/bin/env python3
"""Servers that send what they should not, a yare that is killed, streams that are closed or full: nothing is lost, the session goes on."""
import json
import os
import signal
import subprocess

from harness import LIMIT, YARE, Server, World, check, main, wait_until

GO_ON = [{"if": "go on please", "then": [{"text": "Going on."}], "again": True}]
DONE = [{"text": "done."}]


def event(kind, **members):
    return "event: %s\ndata: %s\n\n" % (kind, json.dumps(dict(members, type=kind)))


START = event("message_start", message={"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                                        "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 1}})


def legal(server):
    for r in server.requests():
        check(r["illegal"] is None, "illegal request:", r["illegal"])


def session_of(out):
    return json.loads(out.splitlines()[0])["session_id"]


def runs_and_goes_on(responses, word):
    """The job ends well, its one command ran, and the session can be resumed."""
    w = World()
    server = Server(w, {"responses": responses, "match": GO_ON})
    try:
        run = w.print_mode("start", "--allowedTools", "Bash", "--output-format", "stream-json", env=server.env)
        check(run.returncode == 0 and word in run.stdout, run)
        more = w.print_mode("go on please", "--resume", session_of(run.stdout), env=server.env)
        check(more.returncode == 0 and "Going on." in more.stdout, more)
        legal(server)
    finally:
        server.close()
        w.close()


def a_block_left_open_at_the_end():
    raw = START
    raw += event("content_block_start", index=0, content_block={"type": "tool_use", "id": "toolu_q", "name": "Bash", "input": {}})
    raw += event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"command":"echo it-$((40+2))"}'})
    raw += event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 5})
    raw += event("message_stop")
    runs_and_goes_on([[{"raw": raw}, {"cut": "clean"}], DONE], "it-42")


def ids_that_may_not_go_back():
    def call(name):
        return {"tool_use": {"id": name, "name": "Bash", "input": {"command": "echo it-$((40+2))"}}}
    runs_and_goes_on([[call("functions.Bash:0"), call("a b/\u00fc"), call("x" * 500), call("")], DONE], "it-42")


def counts_out_of_range():
    wild = {"usage": {"input_tokens": -5, "output_tokens": 1e300, "cache_read_input_tokens": 2 ** 63 - 1}}
    runs_and_goes_on([[wild, {"text": "it-42"}]], "it-42")


def an_answer_without_end():
    """It is cut off, the run fails, and what is kept of it does not fill the context for good."""
    w = World()
    raw = START + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    raw += 400 * event("content_block_delta", index=0, delta={"type": "text_delta", "text": "x" * 100000})
    server = Server(w, {"responses": [[{"raw": raw}, {"cut": True}]], "match": GO_ON})
    try:
        run = w.print_mode("start", "--output-format", "stream-json", env=server.env)
        check(run.returncode == 1, run.returncode, run.stderr)
        more = w.print_mode("go on please", "--resume", session_of(run.stdout), env=server.env)
        check(more.returncode == 0 and "Going on." in more.stdout, more.returncode, more.stderr)
        legal(server)
    finally:
        server.close()
        w.close()


def killed_before_the_answer():
    """The request that had left is not changed by the next prompt."""
    w = World()
    slow = [{"tokens_per_second": 1}, {"text": "one two three four five six seven eight nine ten"}]
    call = {"tool_use": {"name": "Bash", "input": {"command": "echo hi"}}}
    server = Server(w, {"responses": [[call], slow], "match": GO_ON})
    try:
        p = subprocess.Popen([YARE, "-p", "--allowedTools", "Bash", "start"], cwd=w.project, env=dict(w.env, **server.env),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(lambda: len(server.requests()) == 2, "the second request")
        p.send_signal(signal.SIGKILL)
        p.wait(timeout=LIMIT)
        sid = os.path.basename(w.journals()[-1])[:-len(".jsonl")]
        more = w.print_mode("go on please", "--resume", sid, env=server.env)
        check(more.returncode == 0 and "Going on." in more.stdout, more)
        legal(server)
    finally:
        server.close()
        w.close()


def standard_streams():
    w = World()
    server = Server(w, {"responses": [DONE]})
    try:
        for redirect, want in ((">/dev/full", 1), ("--output-format stream-json >/dev/full", 1), (">&-", 1), ("<&- >&- 2>&-", 1),
                               ("<&-", 0), ("2>/dev/full", 0)):
            run = subprocess.run(["bash", "-c", '"$0" -p hi ' + redirect, YARE], cwd=w.project, env=dict(w.env, **server.env),
                                 capture_output=True, text=True, timeout=LIMIT)
            check(run.returncode == want, redirect, "exit status", run)
        for path in w.journals():
            with open(path) as f:
                for line in f:
                    json.loads(line)  # nothing else was written there
        for flag in ("--version", "--help"):
            run = subprocess.run(["bash", "-c", '"$0" %s >/dev/full' % flag, YARE], env=w.env, timeout=LIMIT)
            check(run.returncode == 1, flag, "on a full disk gives", run.returncode)
    finally:
        server.close()
        w.close()


def settings_that_cannot_be_read():
    """Said in words, since a deny rule may be among them. While a whole file cannot be read every call asks, and
    is denied where nobody can answer; the run goes on."""
    w = World()
    path = w.home + "/.config/yare/settings.json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for text, word in (('{"permissions": {', "until it is mended"), ('{"permissions": {"deny": "Read"}}', "permissions.deny"),
                       ('{"permissions": {"dney": ["Read"]}}', "did you mean 'deny'"),
                       ('{"permissions": {"deny": ["Bash("]}}', "Bash("), ("[1]", "JSON object"),
                       ('{"x": "%s"}' % ("a" * (10 << 20)), "settings.json"), ("[" * 100000, "settings.json")):
        with open(path, "w") as f:
            f.write(text)
        run = w.print_mode("help", "--provider", "offline")
        check(run.returncode == 0 and word in run.stderr, text[:40], run.returncode, run.stderr)
    explained = subprocess.run([YARE, "perm", "explain", "cat README.md"], cwd=w.project, env=w.env, capture_output=True, text=True)
    check(explained.stdout.startswith("ask (only a person") and "settings.json" in explained.stdout, explained)
    os.remove(path)
    w.write(".yare/settings.json", '{"permissions": {"deny": ["Read(.env)"]')
    run = w.print_mode("run cat README.md", "--provider", "offline", "--permission-mode", "bypass", env={"IS_SANDBOX": "1"})
    check(run.returncode == 0 and ".yare/settings.json:1" in run.stderr and "denied" in run.stderr, run)
    check(w.read("README.md").strip() not in run.stdout, run.stdout)
    w.close()


main(settings_that_cannot_be_read, a_block_left_open_at_the_end, ids_that_may_not_go_back, counts_out_of_range, an_answer_without_end,
     killed_before_the_answer, standard_streams)
