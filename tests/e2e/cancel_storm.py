#!/usr/bin/env python3
"""Cancels a running job at many random moments by Esc, SIGINT, SIGTERM and SIGKILL, then goes on with the session.

  cancel_storm.py YARE [--moments 200] [--seed 1]

For each moment: no process of the job is alive 5 s later, every message that was put out is in the journal, the prompt is in the
journal once it was acknowledged, and the next request is legal (the model server checks).  Exit status 1 when one of that does not hold.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time

ap = argparse.ArgumentParser()
ap.add_argument("yare")
ap.add_argument("--moments", type=int, default=200)
ap.add_argument("--seed", type=int, default=1)
args = ap.parse_args()
sys.argv = sys.argv[:1]
os.environ["YARE_BIN"] = os.path.abspath(args.yare)

from harness import LIMIT, YARE, Failed, Screen, Server, World, check, processes_with, wait_until  # noqa: E402


BUSY = r"[\u2801-\u28ff] \d+s|running|interrupting"  # the spinner in the last line, and a tool's row


def script(mark):
    """About 1.2 s: text, two commands at once, one that leaves a child behind, text."""
    nap = "sleep 0.2%s" % mark
    return {"match": [{"if": "go on please", "then": [{"text": "Going on."}], "again": True}], "responses": [
        [{"tokens_per_second": 60}, {"text": "I will run a few things for you now."},
         {"tool_use": {"name": "Bash", "input": {"command": nap + "; echo one"}}},
         {"tool_use": {"name": "Bash", "input": {"command": nap + "; echo two"}}},
         {"text": "While they run I talk a little."}],
        [{"text": "Next."}, {"tool_use": {"name": "Bash", "input": {"command": "(trap '' TERM INT; sleep 60%s) & %s" % (mark, nap)}}},
         {"tool_use": {"name": "Write", "input": {"file_path": "made.txt", "content": "x"}}}],
        [{"tokens_per_second": 60}, {"text": "That is all there was to do here, I think."}]]}


def journal_text(world):
    text = ""
    for path in world.journals():
        with open(path, errors="replace") as f:
            text += f.read()
    return text


def put_out(out):
    """uuids of the conversation's messages among the lines of stream-json; a torn last line was not put out."""
    found, sid = [], None
    for line in out.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        value = json.loads(line)
        sid = value.get("session_id") or sid
        if value["type"] in ("assistant", "user"):
            found.append(value["uuid"])
    return found, sid


def in_print_mode(world, server, delay, sig):
    p = subprocess.Popen([YARE, "-p", "--allowedTools", "Bash,Write", "--output-format", "stream-json", "start the job"],
                         cwd=world.project, env=dict(world.env, **server.env), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        out, err = p.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        p.send_signal(sig)
        out, err = p.communicate(timeout=LIMIT)
    want = {signal.SIGINT: (130, 0), signal.SIGTERM: (143, 0), signal.SIGKILL: (-9, 0)}[sig]
    check(p.returncode in want, "exit status", p.returncode, err)
    return put_out(out)


def on_the_screen(world, server, delay):
    s = Screen(world, 80, 24, ["--allowedTools", "Bash,Write"], env=server.env)
    try:
        s.wait_for("default")
        s.say("start the job")
        end = time.monotonic() + delay
        wait_until(lambda: time.monotonic() > end, "the moment")
        s.keys("Escape")
        end = time.monotonic() + 0.2  # a letter right behind the Esc byte would make the two one key, Alt and the letter
        wait_until(lambda: time.monotonic() > end, "Esc to be a key of its own")
        s.wait_gone(BUSY, LIMIT)
        s.type("go on please")
        s.wait_for("> go on please")
        s.keys("Enter")
        s.wait_for("Going on", LIMIT)
        s.keys("C-d")
        s.exit_status()
    finally:
        s.close()


def moment(i, rng):
    mark = "%06d" % rng.randrange(10 ** 6)
    how = ("esc", signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 4]
    delay = rng.uniform(0.02, 1.5)
    world = World()
    server = Server(world, script(mark))
    try:
        uuids, sid = [], None
        if how == "esc":
            on_the_screen(world, server, delay)
        else:
            uuids, sid = in_print_mode(world, server, delay, how)
        wait_until(lambda: not processes_with(mark), lambda: "processes %s to end" % processes_with(mark), 5)
        text = journal_text(world)
        for u in uuids:
            check(u in text, "message", u, "was put out and is not in the journal")
        if server.requests():
            check("start the job" in text, "a request left before its prompt was in the journal")
        if how != "esc" and sid and "start the job" in text:
            run = world.print_mode("go on please", "--resume", sid, env=server.env)
            check(run.returncode == 0 and "Going on." in run.stdout, "resume:", run)
        for r in server.requests():
            check(r["illegal"] is None, "illegal request:", r["illegal"])
    except (Failed, subprocess.TimeoutExpired) as e:
        raise Failed("moment %d (%s after %.3f s): %s" % (i, how, delay, e)) from None
    finally:
        server.close()
        world.close()


def main():
    rng = random.Random(args.seed)
    failed = 0
    for i in range(args.moments):
        try:
            moment(i, rng)
        except Failed as e:
            failed += 1
            print(e, flush=True)
        if i % 20 == 19:
            print("%d moments, %d failed" % (i + 1, failed), flush=True)
    print("%d passed, %d failed" % (args.moments - failed, failed))
    sys.exit(1 if failed else 0)


main()
