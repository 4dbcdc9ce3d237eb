#!/usr/bin/env python3
"""What servers of the chat completions wire do wrong, seen from outside the real program: connections cut in a call, waits they ask for, errors
after status 200, no usage, things they refuse, and calls they leave in the text."""
import json

from harness import Screen, Server, World, check, main

USE = {"tool_use": {"name": "Bash", "input": {"command": "echo ran >> ran.txt"}}}
DONE = [{"text": "All done."}]
HERMES = '<tool_call>\n{"name": "Bash", "arguments": {"command": "echo ran >> ran.txt"}}\n</tool_call>'


def env_of(server):
    return {"OPENAI_BASE_URL": "http://127.0.0.1:%d/v1" % server.port, "OPENAI_API_KEY": "test-key"}


class Run:
    """One prompt in print mode against a script."""

    def __init__(self, responses, *args, allowed="Bash(echo:*)", **script):
        self.w = World()
        self.server = Server(self.w, dict({"responses": responses}, **script), "--dribble", "5")
        self.run = self.w.print_mode("do it", "--model", "m1", "--output-format", "stream-json", "--allowedTools", allowed,
                                     "--permission-mode", "acceptEdits" if allowed else "default", *args,
                                     env=env_of(self.server))
        self.lines = [json.loads(line) for line in self.run.stdout.splitlines()]
        self.result = self.lines[-1]
        self.requests = self.server.requests()

    def close(self):
        self.server.close()
        self.w.close()

    def ran(self):
        return self.w.read("ran.txt").count("ran") if self.w.exists("ran.txt") else 0

    def succeeded(self, n, ran):
        check(self.run.returncode == 0 and self.result["subtype"] == "success", self.run)
        check(self.result["result"] == "All done.", self.result)
        check(len(self.requests) == n, [r["path"] for r in self.requests])
        check(all(r["illegal"] is None for r in self.requests), [r["illegal"] for r in self.requests])
        check(self.ran() == ran, "the command ran %d times, not %d" % (self.ran(), ran))


def cut_in_a_call_runs_nothing():
    for cut in (True, "clean", "reset"):
        r = Run([[{"text": "I will."}, USE, {"cut": cut}], [USE], DONE])
        r.succeeded(3, 1)
        r.close()


def an_error_after_200_is_tried_again():
    r = Run([[{"text": "Hal"}, USE, {"error": {"type": "server_error", "message": "out of memory"}}], [USE], DONE])
    r.succeeded(3, 1)
    r.close()


def an_error_that_lasts_is_told():
    r = Run([[{"text": "Hal"}, {"error": {"type": "invalid_request_error", "message": "no such luck"}}]])
    check(r.run.returncode == 1 and "no such luck" in r.run.stdout + r.run.stderr, r.run)
    check("invalid_request_error" in r.run.stdout + r.run.stderr and "req_1" in r.run.stdout + r.run.stderr, r.run)
    check(len(r.requests) == 1, "asked %d times" % len(r.requests))
    r.close()


def retry_after_is_honoured():
    refusal = {"status": 429, "headers": {"retry-after-ms": "1300", "retry-after": "60"},
               "body": {"error": {"message": "slow down", "type": "rate_limit_error"}}}
    r = Run([[refusal], DONE])
    r.succeeded(2, 0)
    waited = r.requests[1]["at"] - r.requests[0]["at"]
    check(waited >= 1.3, "waited %g s" % waited)
    r.close()


def no_money_is_not_waited_for():
    refusal = {"status": 429, "headers": {"retry-after": "1"},
               "body": {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}}
    r = Run([[refusal], DONE])
    check(r.run.returncode == 1 and len(r.requests) == 1, r.run)
    check("current quota" in r.run.stdout + r.run.stderr, r.run)
    r.close()


def no_usage_is_an_estimate():
    r = Run([[{"usage": None}, USE], [{"usage": None}] + DONE])
    r.succeeded(2, 1)
    check(r.result["usage"]["input_tokens"] > 100 and r.result["usage"]["output_tokens"] > 0, r.result["usage"])
    r.close()
    w = World()
    server = Server(w, {"responses": [[{"usage": None}] + DONE]})
    s = Screen(w, 120, 36, ("--model", "m1"), env=env_of(server))
    try:
        s.wait_for(r"default")
        s.say("do it")
        s.wait_for(r"All done")
        s.wait_for(r"\best\b")
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status")
    finally:
        s.close()
        server.close()
        w.close()


def what_is_refused_is_left_out():
    def refuse(words):
        return [{"status": 400, "body": {"error": {"message": words, "type": "invalid_request_error"}}}]

    r = Run([refuse("Extra inputs are not permitted: stream_options"), [USE, {"tool_use": dict(USE["tool_use"])}],
             refuse("This model only supports single tool-calls at once!"), DONE], extension=False)
    r.succeeded(4, 2)
    bodies = [q["body"] for q in r.requests]
    check(["stream_options" in b for b in bodies] == [True, False, False, False], [sorted(b) for b in bodies])
    check([m["role"] for m in bodies[2]["messages"]][-3:] == ["assistant", "tool", "tool"], bodies[2])
    check([m["role"] for m in bodies[3]["messages"]][-4:] == ["assistant", "tool"] * 2, bodies[3])
    r.close()


def a_call_in_the_text_is_a_call():
    r = Run([[{"text": "I will.\n" + HERMES}], DONE])
    r.succeeded(2, 1)
    r.close()
    quoted = "It says:\n" + HERMES + "\nwhich is a call."
    r = Run([[{"text": quoted}]])
    check(r.run.returncode == 0 and r.result["result"] == quoted and r.ran() == 0, r.run)
    r.close()
    r = Run([[{"text": HERMES}], DONE], allowed="")  # judged like any other
    r.succeeded(2, 0)
    r.close()


def partial_answers_are_followed():
    r = Run([[{"thinking": "hm"}, {"text": "Look: "}, USE], DONE], "--include-partial-messages")
    r.succeeded(2, 1)
    kinds = [line["event"]["type"] for line in r.lines if line["type"] == "stream_event"]
    check(kinds[0] == "message_start" and kinds.count("message_stop") == 2, kinds)
    deltas = [line["event"]["delta"] for line in r.lines if line["type"] == "stream_event" and "delta" in line["event"]]
    check("".join(d.get("text", "") for d in deltas) == "Look: All done.", deltas)
    check(json.loads("".join(d.get("partial_json", "") for d in deltas)) == USE["tool_use"]["input"], deltas)
    r.close()


if __name__ == "__main__":
    main(cut_in_a_call_runs_nothing, an_error_after_200_is_tried_again, an_error_that_lasts_is_told, retry_after_is_honoured,
         no_money_is_not_waited_for, no_usage_is_an_estimate, what_is_refused_is_left_out, a_call_in_the_text_is_a_call,
         partial_answers_are_followed)
