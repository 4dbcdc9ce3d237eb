#!/usr/bin/env python3
"""A recording made by the real program and played back into the real panes."""
import json
import os
import stat
import subprocess

from harness import LIMIT, Screen, World, YARE, check, main, wait_until


def record(w, *prompts):
    path = w.top + "/r.jsonl"
    for p in prompts:
        run = w.print_mode(p, "--provider", "offline", "--events", path)
        check(run.returncode == 0, run)
    return path


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def print_mode_records_and_adds_to_a_recording():
    w = World()
    path = record(w, "read README.md", "list src")
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, oct(os.stat(path).st_mode))
    got = lines(path)
    check([i for i, o in enumerate(got) if "recording" in o][0] == 0, "the header is not first")
    check(sum("recording" in o for o in got) == 2, "two runs make two parts")
    check(all("event" in o or "recording" in o for o in got), got)
    w.close()


def another_file_is_left_alone():
    w = World()
    run = w.print_mode("help", "--provider", "offline", "--events", w.project + "/README.md")
    check(run.returncode == 2 and "no recording" in run.stderr, run)
    check(w.read("README.md").startswith("# demo"), "it was written into")
    w.close()


def what_is_no_recording_is_an_error():
    w = World()
    for args, says in ((["README.md"], "is no recording"), (["nowhere.jsonl"], "nowhere.jsonl"), ([], "usage"),
                       (["README.md", "--speed", "fast"], "--speed"), (["README.md", "--bogus"], "does not belong")):
        run = subprocess.run([YARE, "replay", *args], cwd=w.project, env=w.env, capture_output=True, text=True, timeout=LIMIT)
        check(run.returncode == 2 and says in run.stderr, args, run)
    w.close()


def no_secret_is_recorded():
    w = World()
    path = w.top + "/r.jsonl"
    w.print_mode("run env", "--provider", "offline", "--events", path, "--allowedTools", "Bash(env)",
                 env={"ANTHROPIC_API_KEY": "sk-very-secret", "ANTHROPIC_CUSTOM_HEADERS": "X-Token: also-secret"})
    with open(path) as f:
        text = f.read()
    check("sk-very-secret" not in text and "also-secret" not in text, "a credential was recorded")
    w.close()


def the_panes_show_what_was_recorded():
    w = World()
    path = record(w, "read README.md then list src")
    for width, height in ((80, 24), (40, 12)):
        s = Screen(w, width, height, ("replay", path, "--speed", "max"))
        s.wait_for("over.*ends here|the recording ends|replay, over")
        s.wait_for("steps are done|README")
        s.type("hello")
        s.wait_for("takes no prompts")
        s.keys("C-f")
        s.type("parser lives")
        s.keys("Enter")
        s.wait_for("The parser lives in src")
        s.keys("M-1")
        s.keys("F1")
        s.wait_for("interrupt the")
        s.keys("Escape")
        s.wait_gone("interrupt the")
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status")
        s.close()
    w.close()


def pausing_speed_and_steps():
    w = World()
    path = w.top + "/slow.jsonl"
    with open(path, "w") as f:
        f.write('{"recording":"yare events","format":1,"wall_ms":1}\n'
                '{"event":"session","wall_ms":1000,"id":"s","model":"m","trusted":true}\n')
        for i, word in enumerate(("alpha", "beta", "gamma", "delta")):
            f.write('{"event":"notice","wall_ms":%d,"text":"%s"}\n' % (3600000 * (i + 1), word))
        f.write('{"event":"notice","wall_ms":5')
    s = Screen(w, 80, 24, ("replay", path))
    s.wait_for("replay at 1x")
    s.keys("Space")
    s.wait_for("paused")
    s.type(".")
    s.wait_for("alpha")
    s.keys("Space")
    s.wait_gone("paused")
    s.type("++-")
    s.wait_for("at 2x")
    s.type(".")
    s.wait_for("beta")
    check("gamma" not in s.text(), "an hour went by")
    s.type("..")
    s.wait_for("cut off")
    s.wait_for("4 events|5 events")
    s.keys("C-c")
    s.keys("C-c")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


def a_recording_that_ends_in_a_turn_can_be_left():
    """A request waits in it and a tool runs: Space still pauses, and nothing is interrupted or answered."""
    w = World()
    path = w.top + "/cut.jsonl"
    with open(path, "w") as f:
        for o in ({"recording": "yare events", "format": 1}, {"event": "session", "id": "s", "model": "m", "trusted": True},
                  {"event": "user", "uuid": "u", "text": "go on"}, {"event": "turn", "phase": "start", "n": 1},
                  {"event": "tool", "phase": "start", "id": "t", "name": "Bash", "state": "running", "what": "make"},
                  {"event": "perm_ask", "id": 1, "tool_use_id": "t2", "tool": "Bash", "what": "rm x", "command": "rm x",
                   "decision": {"decision": "ask", "liftable_by": "person", "findings": []}},
                  {"event": "notice", "wall_ms": 99999999, "text": "much later"}):
            f.write(json.dumps(o) + "\n")
    s = Screen(w, 80, 24, ("replay", path))
    s.wait_for("rm x")
    s.wait_for(r"waited [2-9]s")
    s.keys("Space")
    s.wait_for("paused")
    s.keys("M-3")
    s.type("y")
    s.wait_for("nothing is done in it")
    s.keys("M-1")
    s.keys("C-c")
    s.wait_for("again quits")
    s.keys("C-c")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


def a_long_recording_scrolls_and_is_searched():
    w = World()
    path = w.top + "/long.jsonl"
    with open(path, "w") as f:
        f.write('{"recording":"yare events","format":1}\n{"event":"session","id":"s","model":"m","trusted":true}\n')
        for i in range(1, 4001):
            f.write('{"event":"user","place":%d,"uuid":"u%d","text":"question %d"}\n' % (i, i, i))
    s = Screen(w, 80, 24, ("replay", path, "--speed", "max"))
    s.wait_for("4001 events")
    s.keys("C-f")
    s.type("question 77")
    s.keys("Enter")
    s.wait_for(r"> question 77\d? ")
    s.keys("Home")
    s.wait_for(r"> question 1 ")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


def a_session_on_the_screen_is_recorded_with_its_sizes():
    w = World()
    path = w.top + "/r.jsonl"
    s = Screen(w, 80, 24, ("--provider", "offline", "--events", path))
    s.wait_for("offline")
    s.say("read README.md")
    s.wait_for("The parser lives")
    s.resize(100, 30)
    wait_until(lambda: any(o.get("size") == [100, 30] for o in lines(path)), "the new size")
    s.keys("C-d")
    s.exit_status()
    got = lines(path)
    check(got[0]["size"] == [80, 24], got[0])
    check(any(o.get("event") == "user" for o in got), "no prompt in it")
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "mode")
    s.close()
    w.close()


if __name__ == "__main__":
    main(print_mode_records_and_adds_to_a_recording, another_file_is_left_alone, what_is_no_recording_is_an_error,
         no_secret_is_recorded, the_panes_show_what_was_recorded, pausing_speed_and_steps,
         a_long_recording_scrolls_and_is_searched, a_recording_that_ends_in_a_turn_can_be_left, a_session_on_the_screen_is_recorded_with_its_sizes)
