#!/usr/bin/env python3
"""Grep and Glob of yare beside ripgrep and GNU grep, on the same tree, in the same run.

  cmake --preset release -DYARE_BENCH=ON && cmake --build --preset release --target search_tool
  bench/search.py build/release/bench/search_tool [--runs 15] [--tree FOLDER] [--json FILE]

The tree is made by seed: 20,001 files, 174 MB of code-like text in 1,000 folders. Each row is a process from start to end, with the
answers compared; the runs of a row alternate. Ratios carry over to other machines, milliseconds do not. `rg` is Debian's `ripgrep`.
"""
import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FILES, BYTES, FOLDERS = 20001, 174_000_000, 1000
SYLLABLES = "ba co di fu ge hi jo ka lu me no pi ra so tu ve wi xa yo ze str cap len buf tok err".split()
EXTENSIONS = ["c", "h", "py", "ts", "go", "rs", "md", "json"]


def make_lines(rng):
    words = ["".join(rng.choices(SYLLABLES, k=rng.choice([1, 2, 2, 3]))) for _ in range(3000)]
    lines = []
    for i in range(20000):
        w = rng.choices(words, k=8)
        kind = i % 5
        if kind == 0:
            line = f"    {w[0]}_{w[1]} = {w[2]}({w[3]}, {rng.randrange(1000)});"
        elif kind == 1:
            line = f"static int {w[0]}_{w[1]}(struct {w[2]} *{w[3]})"
        elif kind == 2:
            line = f"    /* {' '.join(w)} */"
        elif kind == 3:
            line = f"    if ({w[0]}->{w[1]} > {w[2]} && !{w[3]}) {{"
        else:
            line = f"\treturn {w[0]}_init({w[1]}, \"{w[2]} {w[3]}\");" if i % 3 == 0 else ""
        lines.append(line)
    lines += [f"    // größer {rng.choice(words)} naïve" for _ in range(40)]
    lines += [f"    {rng.choice(words)} qj{i}" for i in range(20)]
    return lines


def make_tree(folder):
    rng = random.Random(1)
    lines, size = make_lines(rng), BYTES // FILES
    subprocess.run(["git", "init", "-q", folder], check=True)
    folders = [folder]
    for i in range(FOLDERS - 1):
        d = os.path.join(rng.choice(folders[-60:]), f"dir{i:03d}")
        os.mkdir(d)
        folders.append(d)
    mean = sum(len(x.encode()) + 1 for x in lines) / len(lines)
    with open(folder + "/.gitignore", "w") as f:
        f.write("*.o\n*.tmp\nnode_modules\n/build/\n")
    for i in range(FILES - 1):
        text = rng.choices(lines, k=max(1, int(rng.uniform(0.1, 1.9) * size / mean)))
        if i % 5000 == 77:
            text.insert(len(text) // 2, "    call RareNeedleHaystack(now);")
        with open(f"{folders[i % FOLDERS]}/f{i:05d}.{EXTENSIONS[i % 8]}", "w", encoding="utf-8") as f:
            f.write("\n".join(text) + "\n")


def grep_rows():
    """name, input of Grep, what rg and grep are asked, and whether the answers are numbers of lines."""
    yield "rare literal", {"pattern": "RareNeedleHaystack", "output_mode": "content"}, ["-n"], "RareNeedleHaystack"
    yield "ignoring case", {"pattern": "rareneedlehaystack", "output_mode": "content", "-i": True}, ["-n", "-i"], "rareneedlehaystack"
    yield "many hits, counted", {"pattern": "[a-z]+_init\\(", "output_mode": "count", "head_limit": 0}, ["-c"], "[a-z]+_init\\("
    yield "many hits, all lines", {"pattern": "[a-z]+_init\\(", "output_mode": "content", "head_limit": 0}, ["-n"], "[a-z]+_init\\("
    yield "many hits, files", {"pattern": "[a-z]+_init\\(", "head_limit": 0}, ["-l"], "[a-z]+_init\\("
    yield "2-byte literal regex", {"pattern": "[a-z]+ qj[0-9]+$", "output_mode": "count", "head_limit": 0}, ["-c"], "[a-z]+ qj[0-9]+$"
    yield "2-byte, frequent", {"pattern": "[a-z]+->[a-z]+ze >", "output_mode": "count", "head_limit": 0}, ["-c"], "[a-z]+->[a-z]+ze >"
    yield "2-byte literal", {"pattern": "qj", "head_limit": 0}, ["-l"], "qj"
    yield "alternatives", {"pattern": "RareNeedle|NobodyHere|Unseen", "output_mode": "content"}, ["-n"], "RareNeedle|NobodyHere|Unseen"
    yield "no literal", {"pattern": "[A-Z][a-z]+[A-Z][a-z]+[A-Z]", "output_mode": "content"}, ["-n"], "[A-Z][a-z]+[A-Z][a-z]+[A-Z]"


def run(argv, env):
    """Milliseconds and the output."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        pid = os.posix_spawn(argv[0], argv, env, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status = os.waitpid(pid, 0)
        ms = (time.perf_counter() - start) * 1000
        if os.waitstatus_to_exitcode(status) > 1:
            sys.exit(f"{argv} failed")
        out.seek(0)
        return ms, out.read().decode(errors="replace")


def peak_mb(argv):
    p = subprocess.run(argv, env=dict(os.environ, SEARCH_PEAK="2"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return round(int(p.stderr.split()[0]) / 1024, 1)


def lines_of(text):
    """Comparable: what names a file, in order of name."""
    return sorted(x for x in (x.removeprefix("./") for x in text.split("\n")) if re.match(r"(dir\d+/)*f\d{5}\.", x))


def measure(name, commands, runs, cwd, compare):
    os.chdir(cwd)
    times, outs = {k: [] for k in commands}, {}
    for i in range(runs + 1):
        for k, argv in commands.items():
            if k == "grep" and i > 3:
                continue
            ms, outs[k] = run(argv, dict(os.environ))
            if i:
                times[k].append(ms)
    row = {"name": name, "yare_mb": peak_mb(commands["yare"])}
    for k in commands:
        row[k + "_ms"] = round(statistics.median(times[k]), 1)
        row[k + "_best_ms"] = round(min(times[k]), 1)
    if "rg" in commands:
        row["ratio"] = round(row["yare_ms"] / row["rg_ms"], 2)
        if compare and "[Cut at" in outs["yare"]:
            row["note"] = "yare stops at its largest answer"
        elif compare and lines_of(outs["yare"]) != lines_of(outs["rg"]):
            row["note"] = "ANSWERS DIFFER"
    return row


def commands_for(tool, input_, flags, pattern, tree, rg, threads):
    c = {"yare": [tool, "Grep", json.dumps(input_), tree]}
    if rg:
        c["rg"] = [rg, f"-j{threads}", "--no-config", "--hidden", "-g!.git", "--no-heading", "--color=never", *flags, "-e", pattern, "."]
    grep = shutil.which("grep")
    if grep:
        c["grep"] = [grep, "-rIEH", "--exclude-dir=.git", *flags, "-e", pattern, "."]
    return c


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tool")
    ap.add_argument("--runs", type=int, default=15)
    ap.add_argument("--tree", default="/var/tmp/yare-search-tree")
    ap.add_argument("--threads", type=int, default=min(os.cpu_count(), 8), help="of ripgrep")
    ap.add_argument("--json")
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    tool, rg = os.path.abspath(a.tool), shutil.which("rg")
    if not rg:
        print("rg is missing (package ripgrep): only yare and grep are measured")
    if not os.path.exists(a.tree + "/done"):
        shutil.rmtree(a.tree, ignore_errors=True)
        os.makedirs(a.tree)
        make_tree(a.tree + "/t")
        open(a.tree + "/done", "w").close()
    tree, rows = a.tree + "/t", []
    for name, input_, flags, pattern in grep_rows():
        if a.only in name:
            rows.append(measure(name, commands_for(tool, input_, flags, pattern, tree, rg, a.threads), a.runs, tree, True))
    if a.only in "listing files":
        listing = {"yare": [tool, "Glob", '{"pattern":"**/*"}', tree]}
        if rg:
            listing["rg"] = [rg, f"-j{a.threads}", "--no-config", "--files", "--hidden", "-g!.git", "."]
        rows.append(measure("listing files", listing, a.runs, tree, False))
    print(f"{'median of ' + str(a.runs):24}{'yare ms':>9}{'rg ms':>9}{'ratio':>7}{'grep ms':>9}{'yare MB':>9}")
    for r in rows:
        print(f"{r['name']:24}{r['yare_ms']:9}{r.get('rg_ms', '-'):>9}{r.get('ratio', '-'):>7}{r.get('grep_ms', '-'):>9}{r['yare_mb']:9}"
              f"  {r.get('note', '')}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"files": FILES, "bytes": BYTES, "threads": a.threads, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
