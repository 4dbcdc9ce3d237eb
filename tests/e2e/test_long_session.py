#!/usr/bin/env python3
"""A session of 10,000 turns and 200 MB of text: opened, read through and gone on with on the screen in bounded memory."""
import json
import os
import re
import uuid

from harness import Screen, World, YARE, check, main

TURNS = int(os.environ.get("YARE_LONG_TURNS", "10000"))
BYTES = int(os.environ.get("YARE_LONG_BYTES", "20000"))  # of an answer
RSS_MAX = 80 << 10  # kB; builds with sanitizers take more


def resident(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s*(\d+)", f.read()).group(1))


def record(kind, session, world, parent, content, n):
    return {"type": kind, "uuid": str(uuid.UUID(int=n + 1)), "parentUuid": parent, "sessionId": session, "cwd": world.project,
            "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": kind, "content": content}}


def plant(w, session):
    """Beside the journal of a real run, in its words."""
    run = w.print_mode("help", "--provider", "offline", "--session-id", session)
    check(run.returncode == 0, run.stderr)
    path = w.journals()[-1]
    with open(path) as f:
        lines = f.read().splitlines()
    parent, body = json.loads(lines[-1]).get("uuid"), ("words of an answer that nobody reads twice. " * (BYTES // 44 + 1))[:BYTES]
    for line in reversed(lines):
        value = json.loads(line)
        if value["type"] in ("user", "assistant"):
            parent = value["uuid"]
            break
    with open(path, "a") as f:
        for i in range(TURNS):
            for kind, text in (("user", "prompt %05d" % i), ("assistant", "answer %05d %s" % (i, body))):
                r = record(kind, session, w, parent, [{"type": "text", "text": text}], 2 * i + (kind == "assistant"))
                parent = r["uuid"]
                f.write(json.dumps(r) + "\n")
    return os.path.getsize(path)


def ten_thousand_turns():
    w = World()
    session = str(uuid.uuid4())
    size = plant(w, session)
    s = Screen(w, 100, 30, ["--provider", "offline", "--resume", session])
    s.wait_for(r"nobody reads twice", 120)
    pid = s.pid()
    seen = [resident(pid)]
    s.keys("M-2")
    for k in range(200):
        s.keys("PPage")
        if k % 20 == 19:
            seen.append(resident(pid))
    s.keys("Home")
    s.wait_for(r"answer 0000\d|prompt 0000\d|offline pilot", 120)
    seen.append(resident(pid))
    s.keys("End")
    s.wait_for(r"prompt 0999\d|answer 0999\d|nobody reads twice")
    seen.append(resident(pid))
    print("%d MB of journal, %d kB resident at first, %d at most, %d at the end" % (size >> 20, seen[0], max(seen), seen[-1]))
    with open(YARE, "rb") as f:
        check(re.search(rb"__[at]san_init", f.read()) or max(seen) <= RSS_MAX, "resident:", seen)
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


main(ten_thousand_turns)
