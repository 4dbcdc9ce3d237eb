#!/usr/bin/env python3
"""How often would a day of ordinary work be interrupted?

  day.py YARE [--limit PERCENT]

day.txt holds a person's rules and 150 commands of a coding agent's day.  The project they are about is made for real in
a temporary folder (a git repository with the files they name), all commands go to one `yare perm check` in default mode,
and every prompt is printed with its reason.  Exit status 1 where more than 10 % of the commands would ask, where one is
denied, or where an answer is missing.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

FILES = """
README.md CMakeLists.txt Makefile .clang-format .env .gitignore
src/main.c src/config.c src/parser.c src/parser_old.c src/Makefile include/demo.h include/config.h
tests/test_parser.c tests/data/one.ini tests/py/test_report.py
docs/authors.txt docs/old.md docs/guide.md
build/demo build/libdemo.a build/logs/svc.log
web/package.json web/package-lock.json web/tsconfig.json web/src/api.ts web/src/index.ts
web/src/components/Button.tsx web/src/components/Button.test.tsx web/dist/index.html web/node_modules/react/package.json
scripts/report.py scripts/requirements.txt scripts/release.sh
svc/go.mod svc/cmd/svc/main.go svc/internal/api/health.go svc/internal/api/health_test.go
Cargo.toml crates/codec/Cargo.toml crates/codec/src/lib.rs
""".split()


def read_day(path):
    """The rules and the commands of day.txt."""
    rules, commands = {"allow": [], "ask": [], "deny": []}, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            kind, colon, rule = line.partition(": ")
            if not line or line.startswith("#"):
                continue
            if colon and kind in rules:
                rules[kind].append(rule)
            else:
                commands.append(json.loads(line) if line.startswith('"') else line)
    return rules, commands


def make_project(root):
    for name in FILES:
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write("x\n")
    git = ["git", "-C", root, "-c", "user.name=test", "-c", "user.email=test@example.org"]
    subprocess.run(git + ["init", "-q", "-b", "main"], check=True)
    subprocess.run(git + ["add", "README.md", "src", "include"], check=True)
    subprocess.run(git + ["commit", "-q", "--no-gpg-sign", "-m", "start"], check=True)


def ask_yare(yare, records, home):
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home, "LANG": "C.UTF-8",
           "YARE_CONFIG_DIR": os.path.join(home, "config"), "YARE_DATA_DIR": os.path.join(home, "data")}
    run = subprocess.run([yare, "perm", "check"], input="".join(json.dumps(r) + "\n" for r in records),
                         capture_output=True, text=True, timeout=300, env=env, cwd=home)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(records):
        sys.exit("%d answers for %d commands: %s" % (len(answers), len(records), run.stderr.strip()[-300:]))
    return answers


def reason(answer):
    """The findings that kept the call from running, in one line."""
    texts = [f.get("reason", "") for f in answer.get("findings") or [] if f.get("decision") == answer["decision"]]
    return "; ".join(dict.fromkeys(t for t in texts if t)) or "no rule allows it"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("yare")
    ap.add_argument("--limit", type=float, default=10.0, help="highest share of prompts, in percent")
    a = ap.parse_args()
    rules, commands = read_day(os.path.join(HERE, "day.txt"))
    top = os.path.realpath(tempfile.mkdtemp(prefix="day-"))
    try:
        root, home = os.path.join(top, "demo"), os.path.join(top, "home")
        os.makedirs(home)
        make_project(root)
        records = [{"id": str(i), "tool": "Bash", "input": {"command": c}, "mode": "default", "rules": rules,
                    "root": root, "cwd": root, "home": home} for i, c in enumerate(commands)]
        answers = ask_yare(os.path.abspath(a.yare), records, home)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    stopped = [(c, r) for c, r in zip(commands, answers) if r.get("decision") != "allow"]
    denied = [c for c, r in stopped if r.get("decision") != "ask"]
    for c, r in stopped:
        print("%-5s %s\n      %s" % (r.get("decision"), json.dumps(c)[1:-1][:150], reason(r)[:200].replace(top, "")))
    share = 100.0 * len(stopped) / len(commands)
    print("%d prompts for %d commands: %.1f %% (at most %.0f %%)" % (len(stopped), len(commands), share, a.limit))
    return 1 if share > a.limit or denied else 0


sys.exit(main())
