#!/usr/bin/env python3
"""Files of yare's own that are broken, and file systems that are full: it starts, names the file, and nothing whole is lost."""
import json
import os
import random
import re
import shutil

from harness import Screen, Server, World, check, main

BROKEN = ('{"models": [', "[]", "", '{"models": [{"id": 7}]}', '{"models": "x"}', "\x00\xff\xfe" * 40, "[" * 100000)
CONFIG = "/.config/yare/"
DATA = "/.local/share/yare/"


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)


def a_broken_model_catalogue():
    """Named, and the built-in one counts; what is right in it still holds."""
    w = World()
    path = w.home + CONFIG + "models.json"
    for text in BROKEN:
        put(path, text)
        run = w.print_mode("help", "--provider", "offline")
        check(run.returncode == 0, text[:20], run.returncode, run.stderr)
        check("models.json" in run.stderr, text[:20], "is not named:", run.stderr)
    put(path, BROKEN[0])
    s = Screen(w, 80, 24, ["--provider", "offline"])
    s.wait_for(r"models\.json")
    s.say("read README.md")
    s.wait_for("The parser lives in src")
    s.close()
    w.close()


def a_broken_prompt_history():
    """What can be read of it comes back; what cannot does no harm, and new prompts are kept."""
    w = World()
    path = w.home + DATA + "history.jsonl"
    good = json.dumps({"t": 1, "text": "an old prompt", "project": w.project}) + "\n"
    for rubbish in ("{\"t\": 1, \"text\": \"torn", "\x00\x01\x02\n" * 50, "[" * 5000 + "\n", "null\n7\n[]\n\"x\"\n",
                    "{\"text\": {\"a\": 1}}\n", "x" * (5 << 20) + "\n"):
        put(path, rubbish.rstrip("\n") + "\n" + good)
        s = Screen(w, 80, 24, ["--provider", "offline"])
        s.wait_for("offline")
        s.keys("Up")
        s.wait_for("an old prompt")
        s.keys("C-c")
        s.wait_gone("> an old prompt")
        s.say("read README.md")
        s.wait_for("The parser lives in src")
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status")
        s.close()
        with open(path, "rb") as f:
            check(b"read README.md" in f.read(), "the new prompt is not kept")
    w.close()


def flipped(text, rng):
    """A few bytes changed, cut out or put in, anywhere."""
    b = bytearray(text)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(b) + 1)
        how = rng.randrange(3)
        if how == 0 and at < len(b):
            b[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del b[at:at + rng.randrange(1, 40)]
        else:
            b[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 20)))
    return bytes(b)


def state_files(w):
    found = []
    for top in (w.home + CONFIG, w.home + DATA):
        for folder, _, files in os.walk(top):
            found += [os.path.join(folder, f) for f in files if not f.endswith("lock")]
    return sorted(found)


def random_bytes_in_any_file():
    """Whatever is broken, yare starts in the folder, lists what there is and does a job; a journal with a torn place still opens.
    Settings that cannot be read may hold a deny rule: then the call is denied, and says why."""
    w = World()
    put(w.home + CONFIG + "settings.json", json.dumps({"permissions": {"allow": ["Bash(echo *)"]}, "notify": "bell"}, indent=1))
    put(w.home + CONFIG + "models.json", json.dumps({"models": [{"id": "mine", "context": 9000, "max_output": 1000}]}))
    put(w.home + CONFIG + "keybindings.json", "{}")
    s = Screen(w, 80, 24, ["--provider", "offline"])
    s.wait_for("offline")
    s.say("read README.md")
    s.wait_for("The parser lives in src")
    s.say("/rename Broken Work")
    s.wait_gone(r"> /rename")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    whole = {path: open(path, "rb").read() for path in state_files(w)}
    check(len(whole) >= 6, "state files:", sorted(whole))
    session = re.sub(r"\.jsonl$", "", os.path.basename(next(p for p in whole if re.search(r"projects/.*\.jsonl$", p))))
    rng = random.Random(11)
    for path in whole:
        for _ in range(5):
            for p, text in whole.items():
                put(p, text)
            put(path, flipped(whole[path], rng))
            run = w.print_mode("read README.md", "--provider", "offline")
            held = path.endswith("/settings.json") and path in run.stderr and "denied: Read" in run.stderr
            check(run.returncode == 0 and (held or "The parser lives in src" in run.stdout), path, run.returncode, run.stdout, run.stderr)
            more = w.print_mode("help", "--provider", "offline", "--resume", session)
            known = more.returncode == 0 or path.endswith(session + ".jsonl")
            check(known and more.returncode >= 0, path, more.returncode, more.stdout, more.stderr)
            check(more.returncode == 0 or more.stderr.strip(), path, "failed without a word")
    w.close()


main(a_broken_model_catalogue, a_broken_prompt_history, random_bytes_in_any_file)
