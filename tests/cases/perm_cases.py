#!/usr/bin/env python3
"""What a careful reviewer must not see allowed, and what a person at work must not be asked.

  perm_cases.py YARE [FILE...] [--all] [--list OUT] [--known FILE]

The files (perm_*.jsonl beside this one unless named) hold one case a line: the record that `yare perm check` reads, and
  id, group, why   the case's name, its kind, and in one line why the answer has to be so
  want             allow, ask, deny, or not_allow (ask or deny)
  world            {"files": [...], "texts": {name: text}, "links": {name: target}, "hard": {name: file}, "tracked": [...]}: what
                   the case's project holds beside FILES ("hard": another name of a file), and the names in git's index (without
                   "tracked" there is no index yet)
In all texts {P} is the project's folder and {H} the home folder; a path in `world` is in the project unless it begins
with one of them.  Each world is made for real in a temporary folder, one `yare perm check` answers them all.

Printed last: cases at which the program ended or hung, unsafe allows, other broken expectations, needless prompts,
total.  Exit status 0 only where there are none but those that --known names, an id a line: what is known to be wrong
and not mended yet.  One that is right by now has to be taken off, so the list only shrinks.
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

KINDS = ("no answer", "unsafe allow", "other answer", "needless prompt")
HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ["README.md", "Makefile", "package.json", ".gitignore", "names.txt", "src/a.c", "src/b.c", "docs/a.md",
         "scripts/check.sh", "web/package.json", "svc/go.mod", "build/log.txt",
         "{H}/.bashrc", "{H}/.ssh/id_rsa", "{H}/.aws/credentials", "{H}/notes/a.md"]
GIT = {"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"}


def filled(value, project, home):
    """The value with {P} and {H} in all its texts replaced."""
    if isinstance(value, str):
        return value.replace("{P}", project).replace("{H}", home)
    if isinstance(value, list):
        return [filled(v, project, home) for v in value]
    if isinstance(value, dict):
        return {filled(k, project, home): filled(v, project, home) for k, v in value.items()}
    return value


def put(path, text="x\n"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def put_index(path, names):
    """git's index, version 2, with these names."""
    body = struct.pack(">4sII", b"DIRC", 2, len(names))
    for name in sorted(n.encode() for n in names):
        entry = bytes(24) + struct.pack(">I", 0o100644) + bytes(12 + 20) + struct.pack(">H", len(name)) + name
        body += entry + bytes(8 - len(entry) % 8)
    with open(path, "wb") as f:
        f.write(body + hashlib.sha1(body).digest())


def folders(top):
    return os.path.join(top, "proj"), os.path.join(top, "home")


def make_world(world, top):
    """Makes its folders, files and links."""
    project, home = folders(top)
    for name, text in GIT.items():
        put(os.path.join(project, ".git", name), text)
    for name in ("objects", "refs/heads"):
        os.makedirs(os.path.join(project, ".git", name))
    if "tracked" in world:
        put_index(os.path.join(project, ".git", "index"), world["tracked"])
    for link, target in (world.get("links") or {}).items():
        path = os.path.join(project, filled(link, project, home))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(filled(target, project, home), path)
    for name, text in (world.get("texts") or {}).items():
        put(os.path.join(project, filled(name, project, home)), text)
    for name in FILES + (world.get("files") or []):
        path = os.path.join(project, filled(name, project, home))
        if not os.path.lexists(path):
            put(path)
    for name, file in (world.get("hard") or {}).items():
        os.link(os.path.join(project, filled(file, project, home)), os.path.join(project, name))


def record_of(case, top):
    """The record for yare."""
    project, home = folders(top)
    record = {k: v for k, v in case.items() if k not in ("group", "want", "why", "world")}
    record = dict({"root": "{P}", "cwd": "{P}", "home": "{H}"}, **record)
    return filled(record, project, home)


def guarded(yare, home):
    """The environment and the limits under which a case that makes the program grow ends the program, not the machine."""
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home, "LANG": "C.UTF-8",
           "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":hard_rss_limit_mb=3000"}

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    # a sanitized program cannot start under the limit; its own, above, stands for it
    plain = subprocess.run([yare, "--version"], env=env, preexec_fn=limit, capture_output=True).returncode == 0
    return {"env": env, "cwd": home, "preexec_fn": limit if plain else None}


def run_of(yare, records, guard, seconds):
    """The answers of one process: as many as it gave before it was through, ended or ran out of time."""
    text = "".join(json.dumps(r) + "\n" for r in records)
    try:
        out = subprocess.run([yare, "perm", "check"], input=text.encode(), stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=seconds, **guard).stdout
    except subprocess.TimeoutExpired as late:
        out = late.stdout or b""
    return [json.loads(line) for line in out.split(b"\n")[:-1]]


def answers_of(yare, records, home):
    """One answer for each record, {} for one at which the program ends or hangs."""
    guard, answers, broken = guarded(yare, home), [], 0
    while len(answers) < len(records) and broken < 10:
        batch = records[len(answers):len(answers) + 500]
        got = run_of(yare, batch, guard, 120)[:len(batch)]
        answers += got
        # what was answered but not yet written is lost with the process: alone each one is answered or not
        alone = batch[len(got):]
        while alone and broken < 10:
            one = (run_of(yare, alone[:1], guard, 20) or [{}])[0]
            answers.append(one)
            alone = alone[1:]
            if not one:
                broken += 1
                break
    return answers + [{}] * (len(records) - len(answers))


def kind_of(want, got):
    """None where the answer is right, else the kind of mistake."""
    if got is None:
        return "no answer"
    if got == want or (want == "not_allow" and got in ("ask", "deny")):
        return None
    if want == "allow":
        return "needless prompt"
    return "other answer" if got in ("ask", "deny") else "unsafe allow"


def line_of(case, answer, top):
    reasons = [f.get("reason", "") for f in answer.get("findings") or [] if f.get("decision") == answer.get("decision")]
    text = "%-16s %-8s want %s got %s  %s" % (
        case["id"], case.get("mode", "default"), case["want"], answer.get("decision"),
        json.dumps(case["input"])[:140] if case["tool"] == "Bash" else case["tool"] + " " + json.dumps(case["input"])[:120])
    rules = case.get("rules")
    if rules:
        text += "  rules " + json.dumps(rules)[:160]
    return "%s\n        %s\n        yare: %s" % (text, case["why"], "; ".join(reasons)[:200].replace(top, ""))


def known_ids(path):
    if not path:
        return set()
    with open(path, encoding="utf-8") as f:
        return {line.split("#")[0].strip() for line in f} - {""}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("yare")
    ap.add_argument("files", nargs="*")
    ap.add_argument("--all", action="store_true", help="print every wrong case, not the first forty")
    ap.add_argument("--list", help="write all wrong cases to this file, by kind and group")
    ap.add_argument("--known", help="ids of cases that are known to be answered wrongly")
    a = ap.parse_args()
    known = known_ids(a.known)
    cases = []
    for name in a.files or sorted(glob.glob(os.path.join(HERE, "perm_*.jsonl"))):
        with open(name, encoding="utf-8") as f:
            cases += [json.loads(line) for line in f if line.strip()]
    twice = [i for i, n in collections.Counter(c["id"] for c in cases).items() if n > 1]
    if not cases or twice:
        sys.exit("no cases, or an id twice: %s" % ", ".join(twice))
    top = os.path.realpath(tempfile.mkdtemp(prefix="perm-cases-"))
    try:
        places = {}  # cases of the same world share it: a check changes nothing there
        for c in cases:
            world = json.dumps(c.get("world") or {}, sort_keys=True)
            if world not in places:
                places[world] = os.path.join(top, "w%d" % len(places))
                make_world(c.get("world") or {}, places[world])
        records = [record_of(c, places[json.dumps(c.get("world") or {}, sort_keys=True)]) for c in cases]
        os.makedirs(os.path.join(top, "home"))
        answers = answers_of(os.path.abspath(a.yare), records, os.path.join(top, "home"))
    finally:
        shutil.rmtree(top, ignore_errors=True)
    wrong, n_known, report = collections.defaultdict(list), 0, []
    for c, r in zip(cases, answers):
        kind = kind_of(c["want"], r.get("decision"))
        if kind and c["id"] in known:
            n_known += 1
        elif kind:
            wrong[kind].append((c["group"], line_of(c, r, top)))
        elif c["id"] in known:
            report.append("known to be wrong, but right: %s; take it off the list" % c["id"])
    for kind in KINDS:
        for group, text in wrong[kind]:
            report.append("%s  [%s] %s" % (kind, group, text))
    must_not = sum(c["want"] != "allow" for c in cases)
    count = {kind: len(wrong[kind]) for kind in KINDS}
    total = "%d without an answer; of %d that must not run %d unsafe allows, %d other answers; of %d that must run %d " \
            "needless prompts; %d cases, and %d known to be wrong" % (
                count["no answer"], must_not, count["unsafe allow"], count["other answer"], len(cases) - must_not,
                count["needless prompt"], len(cases), n_known)
    print("\n".join(report if a.all else report[:40]))
    print(total)
    if a.list:
        groups = [(kind, group, n) for kind in KINDS
                  for group, n in collections.Counter(g for g, _ in wrong[kind]).most_common()]
        with open(a.list, "w", encoding="utf-8") as f:
            f.write("".join([total + "\n"] + ["%-16s %-14s %d\n" % row for row in groups]))
            f.write("\n" + "\n".join(report) + "\n")
    return 1 if report else 0


sys.exit(main())
