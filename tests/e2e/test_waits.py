#!/usr/bin/env python3
"""Waiting, seen on the screen: a limit the server names is counted down and can be left, and a suspended yare takes its stream up
again."""
from harness import Screen, Server, World, YARE, check, main, wait_until

LATER = {"status": 429, "headers": {"retry-after": "50"},
         "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down please"}}}


def a_limit_is_counted_down_and_can_be_left():
    w = World()
    server = Server(w, {"responses": [[LATER], [{"text": "the answer"}]]})
    s = Screen(w, 100, 30, env=server.env)
    s.wait_for("ctx|default")
    s.say("go")
    s.wait_for("slow down please")
    s.wait_for(r"\b(50|4\d) ?s")
    s.wait_for(r"\b4\d ?s")
    check(len(server.requests()) == 1, "asked again at once")
    s.keys("Escape")
    s.wait_for("interrupted")
    s.say("again")
    s.wait_for("the answer")
    check(len(server.requests()) == 2 and all(r["illegal"] is None for r in server.requests()), server.requests())
    s.close()
    server.close()
    w.close()


def suspended_in_the_middle_of_an_answer():
    """Ctrl+Z while text streams in; the rest of it stands there after fg, in another size."""
    w = World()
    server = Server(w, {"responses": [[{"tokens_per_second": 200}, {"generate": {"tokens": 300, "seed": 5}}, {"text": "\n\nThe-last-word."}]]})
    s = Screen(w, 80, 24, env=server.env, shell=True)
    s.wait_for(r"bash.*[$#]")
    s.type(YARE)
    s.keys("Enter")
    s.wait_for("ctx|default ")
    s.say("go on")
    s.wait_for(r"turn 1|\d+s ")
    s.keys("C-z")
    s.wait_for("Stopped")
    s.resize(60, 18)
    s.type("fg")
    s.keys("Enter")
    s.wait_for(r"The-last-word\.")
    wait_until(lambda: len(s.text().rstrip("\n").split("\n")) == 18, lambda: "18 rows:\n" + s.text())
    check(len(server.requests()) == 1, "asked", len(server.requests()), "times")
    s.say("is it usable")
    wait_until(lambda: len(server.requests()) == 2, "the next request")
    s.close()
    server.close()
    w.close()


main(a_limit_is_counted_down_and_can_be_left, suspended_in_the_middle_of_an_answer)
