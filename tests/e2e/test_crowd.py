#!/usr/bin/env python3
"""Twenty processes in one project, each with sessions of its own, for YARE_CROWD_SECONDS (default 4): no lost record, no
cross-talk, settings and trust intact.  And two that want the same session: the second is refused, or forks."""
import json
import os
import subprocess
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h

PROCESSES = 20
SECONDS = float(os.environ.get("YARE_CROWD_SECONDS", "4"))


def run(world, *args, stdin=None):
    return subprocess.run([h.YARE, "-p", "--provider", "offline", *args], env=world.env, cwd=world.project, input=stdin,
                          stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, text=True, timeout=h.LIMIT * 3)


def journals(world):
    """Every journal on disk by its session, found in one walk."""
    found = {}
    for folder, _, files in os.walk(world.home + "/.local/share/yare/projects"):
        for name in files:
            if name.endswith(".jsonl"):
                found.setdefault(name[:-len(".jsonl")], []).append(os.path.join(folder, name))
    return found


def journal(world, session, found=None):
    paths = (journals(world) if found is None else found).get(session, [])
    h.check(len(paths) == 1, "journals of", session, ":", paths)
    with open(paths[0]) as f:
        return [json.loads(line) for line in f]


def prompts(records):
    """What was typed, from the journal."""
    out = []
    for r in records:
        if r["type"] != "user" or r.get("isMeta"):
            continue
        content = r["message"]["content"]
        out += [b["text"] for b in content if b["type"] == "text" and not b["text"].startswith("<system-reminder>")]
    return out


class Worker(threading.Thread):
    def __init__(self, world, n, until):
        super().__init__()
        self.world, self.n, self.until, self.sessions, self.problems = world, n, until, {}, []

    def once(self, k):
        session, said = str(uuid.uuid4()), []
        for step in range(3):
            text = "run echo worker %d round %d step %d" % (self.n, k, step)
            which = ["--session-id", session] if step == 0 else ["--resume", session]
            done = run(self.world, "--trust", *which, "--allowedTools", "Bash(echo *)", text)
            if done.returncode or "worker %d round %d step %d" % (self.n, k, step) not in done.stdout:
                self.problems.append((text, done.returncode, done.stdout[-300:], done.stderr[-300:]))
                return
            said.append(text)
        self.sessions[session] = said

    def run(self):
        k = 0
        while k == 0 or time.monotonic() < self.until:
            self.once(k)
            k += 1


def check_session(world, session, said, found):
    records = journal(world, session, found)
    h.check(prompts(records) == said, session, "holds", prompts(records), "not", said)
    h.check(records[0]["type"] == "session" and records[0]["id"] == session)
    h.check(all(r["sessionId"] == session for r in records), "cross-talk in", session)
    ids = [r["uuid"] for r in records if "uuid" in r]
    h.check(len(ids) == len(set(ids)), "a record twice in", session)
    calls = [b["id"] for r in records if r["type"] == "assistant" for b in r["message"]["content"] if b["type"] == "tool_use"]
    results = [b["tool_use_id"] for r in records if r["type"] == "user" for b in r["message"]["content"] if b["type"] == "tool_result"]
    h.check(calls == results and len(calls) == len(said), "calls and results of", session)


def a_crowd(world):
    settings = world.project + "/.yare/settings.json"
    text = '{"permissions": {"deny": ["Bash(rm *)"]}, "x": "%s"}\n' % ("y" * 2000)
    world.write(".yare/settings.json", text)
    world.trust()
    workers = [Worker(world, n, time.monotonic() + SECONDS) for n in range(PROCESSES)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    problems = [p for w in workers for p in w.problems]
    h.check(not problems, len(problems), "runs failed, the first:", problems[:1])
    sessions = {s: said for w in workers for s, said in w.sessions.items()}
    found = journals(world)
    for session, said in sessions.items():
        check_session(world, session, said, found)
    with open(settings) as f:
        h.check(f.read() == text, "the settings changed")
    for folder, _, files in os.walk(world.home + "/.config/yare"):
        for name in (f for f in files if not f.endswith("lock")):
            with open(os.path.join(folder, name)) as f:
                json.loads(f.read())
            h.check(".tmp" not in name, "left behind:", name)
    listed = subprocess.run([h.YARE, "sessions"], env=world.env, cwd=world.project, capture_output=True, text=True)
    # only so many are listed, and the list says so
    h.check(len(sessions) >= 1000 or all(s in listed.stdout for s in sessions), "a session is not listed")
    print("%d sessions, %d runs by %d processes at once" % (len(sessions), 3 * len(sessions), PROCESSES))


def the_same_session(world):
    session = str(uuid.uuid4())
    holder = subprocess.Popen([h.YARE, "-p", "--provider", "offline", "--session-id", session, "--input-format", "stream-json",
                               "--output-format", "stream-json"], env=world.env, cwd=world.project, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = {"type": "user", "message": {"role": "user", "content": "help"}}
        holder.stdin.write(json.dumps(line) + "\n")
        holder.stdin.flush()
        while json.loads(holder.stdout.readline())["type"] != "result":
            pass
        before = len(journal(world, session))
        second = run(world, "--resume", session, "help")
        h.check(second.returncode == 1 and "open in another yare" in second.stderr, second.returncode, second.stderr)
        h.check(len(journal(world, session)) == before, "the refused one wrote")
        fork = run(world, "--resume", session, "--fork-session", "--output-format", "json", "help")
        h.check(fork.returncode == 0, fork.stderr)
        copy = json.loads(fork.stdout)["session_id"]
        h.check(copy != session and len(journal(world, session)) == before, "the original was touched")
        h.check(len(prompts(journal(world, copy))) == 2, prompts(journal(world, copy)))
    finally:
        holder.stdin.close()
        holder.wait(timeout=h.LIMIT)
    h.check(run(world, "--resume", session, "help").returncode == 0, "the lock outlived its process")


def exports(world):
    session = str(uuid.uuid4())
    h.check(run(world, "--session-id", session, "--allowedTools", "Bash(echo *)", "run echo '```' fence").returncode == 0)
    yare = lambda *a: subprocess.run([h.YARE, *a], env=world.env, cwd=world.project, capture_output=True, text=True)
    md = yare("export", session[:8])
    h.check(md.returncode == 0 and "> run echo" in md.stdout and "````\n" in md.stdout, md.stdout, md.stderr)
    h.check(yare("sessions", "rename", session, "Fence Work").returncode == 0)
    h.check("Fence Work" in yare("sessions", "fence", "work").stdout, "not found by its name")
    js = yare("export", "fence work", "--format", "json", "-o", "talk.json")
    h.check(js.returncode == 0 and json.loads(world.read("talk.json"))[0]["role"] == "user", js.stderr)
    h.check(os.stat(world.project + "/talk.json").st_mode & 0o777 == 0o600, "mode")
    again = yare("export", session, "-o", "talk.json")
    h.check(again.returncode == 1 and "--force" in again.stderr, again.stderr)
    h.check(yare("export", session, "-o", "talk.json", "--force").returncode == 0)
    out = yare("export", session, "-o", "-")
    h.check(out.returncode == 0 and "> run echo" in out.stdout, "-o - is not standard output:", out.stdout, out.stderr)
    out = yare("export", session, "-o", "-", "--format", "json")
    h.check(out.returncode == 0 and json.loads(out.stdout)[0]["role"] == "user", out.stdout)
    h.check(not os.path.exists(world.project + "/-"), "a file named -")
    h.check(yare("export").returncode == 2 and yare("export", "nosuch").returncode == 1)
    h.check(session in yare("sessions", "--all").stdout)


def on_a_world(test):
    def run_it():
        world = h.World()
        test(world)
        world.close()
    run_it.__name__ = test.__name__
    return run_it


h.main(*map(on_a_world, (the_same_session, exports, a_crowd)))
