#!/usr/bin/env python3
"""A deny rule for Read and the searches: they run without a question, and what the rule names is in no answer."""
import json
import re

from harness import Screen, Server, World, check, main

RULE = {"permissions": {"deny": ["Read(.env)"], "ask": ["Read(notes.txt)"]}}


def world():
    w = World()
    w.write(".env", "TOKEN=hush-hush\n")
    w.write("src/.env", "TOKEN=hush-hush\n")
    w.write("src/config.c", "TOKEN=open\n")
    w.write("notes.txt", "TOKEN=private\n")
    w.write("../home/.config/yare/settings.json", json.dumps(RULE))
    return w


def call(tool, **args):
    return {"tool_use": {"name": tool, "input": args}}


def results(server):
    """The texts of all tool results that the model was sent last."""
    blocks = [b for m in server.requests()[-1]["body"]["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return [json.dumps(b["content"]) for b in blocks if b["type"] == "tool_result"]


def searches_run_and_leave_it_out():
    w = world()
    server = Server(w, {"responses": [[call("Grep", pattern="TOKEN", output_mode="content"), call("Glob", pattern="**/*")],
                                      [call("Grep", pattern="TOKEN", path=".env")], [{"text": "Over."}]]})
    run = w.print_mode("look for it", "--output-format", "json", env=server.env)
    check(run.returncode == 0, run)
    grep, glob, named = results(server)
    check("TOKEN=open" in grep and "3 files left out by a deny or ask rule" in grep, grep)
    check("src/config.c" in glob and "3 files left out by a deny or ask rule" in glob and "env" not in glob, glob)
    check("a deny rule names" in named, named)
    check("hush" not in json.dumps([r["body"] for r in server.requests()]), "the secret went out")
    denials = json.loads(run.stdout)["permission_denials"]
    check([d["tool_input"].get("path") for d in denials] == [".env"], denials)
    server.close()
    w.close()


def a_yes_lifts_the_ask_rule_and_never_the_deny_rule():
    w = world()
    w.write("../home/.config/yare/settings.json", json.dumps({"permissions": {
        "deny": ["Read(.env)"], "ask": ["Read(notes.txt)", "Grep"]}}))
    server = Server(w, {"responses": [[call("Grep", pattern="TOKEN", path=".", output_mode="content")], [{"text": "Over."}]]})
    s = Screen(w, 100, 30, env=server.env)
    try:
        s.wait_for("default")
        s.say("look for it")
        s.wait_for("y once")
        check(re.search(r"> pattern +TOKEN", s.text()) and '{"pattern"' not in s.text(), s.text())
        s.answer("y")
        s.wait_for("Over.")
        grep, = results(server)
        check("TOKEN=private" in grep and "2 files left out by a deny rule" in grep and "hush" not in grep, grep)
    finally:
        s.close()
        server.close()
        w.close()


main(searches_run_and_leave_it_out, a_yes_lifts_the_ask_rule_and_never_the_deny_rule)
