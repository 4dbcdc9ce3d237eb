#!/usr/bin/env python3
"""Start-up, memory, latency, drawing cost, overlap, resume and search of yare, beside references measured in the same run.

  bench/run.py build/release/yare [--quick] [--only WORD] [--json FILE]

Ratios carry over to other machines, milliseconds do not.  The targets and the peers' figures are those of the design; the peers were
measured on one machine, by the same kind of harness, against the same kind of model server.
"""
import argparse
import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

import measure as m

ROWS = []


def row(fn):
    """A function that yields (measure, value, unit, target, reference value or None, peers: Claude Code / Codex)."""
    ROWS.append(fn)
    return fn


class Bench:
    def __init__(self, yare, quick):
        self.yare, self.quick = os.path.abspath(yare), quick
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="yare-bench-"))
        self.home, self.project = self.folder + "/home", self.folder + "/proj"
        os.makedirs(self.home)
        os.makedirs(self.project)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", "IS_SANDBOX": "1"}
        self.puts = m.build(self.folder, "puts", m.PUTS)
        self.floor = m.build(self.folder, "floor", m.CURSES, "-lncursesw", "-ltinfo")

    def runs(self, n):
        return max(3, n // 4) if self.quick else n

    def tui(self, model=None, *args):
        """yare on a pty, past its first frame."""
        more = ["--provider", "offline"] if not model else []
        p = m.Pty([self.yare, *more, *args], dict(self.env, **(model.env if model else {})), self.project)
        p.read_until(rb"default|bypass")
        return p

    def print_mode(self, model, *args):
        run = subprocess.run([self.yare, "-p", *args], cwd=self.project, env=dict(self.env, **model.env), capture_output=True, text=True,
                             stdin=subprocess.DEVNULL)
        if run.returncode:
            raise m.BenchError(run.stderr)
        return run.stdout

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- size and start ----

@row
def installed(b):
    yield "installed, MiB", os.path.getsize(b.yare) / 2 ** 20, "MiB", "15", None, "384 / 424"


@row
def version(b):
    y, r = m.interleaved([b.yare, "--version"], [b.puts], b.env, b.runs(40))
    yield "--version", y, "ms", "1.5x puts", r, "19 / 74"
    yield "  a program that only calls puts", r, "ms", "", None, ""


@row
def first_frame(b):
    ours, floors = [], []
    for _ in range(b.runs(16)):
        p = m.Pty([b.yare, "--provider", "offline"], b.env, b.project)
        ours.append(p.read_until(rb"default") * 1000)
        p.close()
        p = m.Pty([b.floor], b.env, b.project)
        floors.append(p.read_until(rb"> ") * 1000)
        p.close()
    yield "exec to prompt painted", statistics.median(ours), "ms", "15", statistics.median(floors), "858 / 96"
    yield "  bare curses echo", statistics.median(floors), "ms", "", None, ""


@row
def idle(b):
    with m.Model(b.folder, [[{"text": "hello"}]]) as model:
        p = b.tui(model)
        p.drain(1)
        yield "idle memory before the first request", m.pss_mb(p.pid), "MB PSS", "10", None, "206 / 109 to 272"
        before = m.switches(p.pid)
        p.drain(10)
        yield "idle wake-ups in 10 s", m.switches(p.pid) - before, "", "0", None, "462 / 105"
        p.send(b"hi\r")
        p.read_until(rb"hello")
        p.drain(1.5)
        yield "idle memory after a request", m.pss_mb(p.pid), "MB PSS", "20", None, "206 / 109 to 272"
        p.close()


# ---- requests ----

@row
def one_shot(b):
    starts, peaks = [], []
    for _ in range(b.runs(12)):
        with m.Model(b.folder, [[{"delay_ms": 200}, {"text": "done"}]]) as model:
            t = time.monotonic()
            p = subprocess.Popen([b.yare, "-p", "say done"], cwd=b.project, env=dict(b.env, **model.env), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            got = model.wait_request(1)
            peaks.append(m.pss_mb(p.pid))
            if p.wait():
                raise m.BenchError("the one-shot failed")
            starts.append((got["at"] - t) * 1000)
            body = got["body"]
    yield "one-shot: exec to model request", statistics.median(starts), "ms", "25", None, "630 / 306"
    yield "one-shot: memory while the model answers", max(peaks), "MB PSS", "15", None, "198 / 138"
    size, tools = len(json.dumps(body, separators=(",", ":"))), len(json.dumps(body["tools"], separators=(",", ":")))
    yield "first request", size / 1000, "kB", "20", None, "50 / 41"
    yield "  of it tools", tools / 1000, "kB", "", None, "32 / 19"


@row
def enter_to_request(b):
    n, waits = b.runs(20), []
    with m.Model(b.folder, [[{"text": "answer number %d." % i}] for i in range(n + 1)]) as model:
        p = b.tui(model)
        for i in range(n):
            p.send(b"prompt %d" % i)
            p.drain(0.1)
            t = time.monotonic()
            p.send(b"\r")
            p.read_until(rb"number %d\." % i)
            p.drain(0.1)
            waits.append((model.requests()[i]["at"] - t) * 1000)
        p.close()
    yield "Enter to model request", statistics.median(waits), "ms", "10", None, "169 / 149"


def gap_ms(asked):
    return statistics.median((r["at"] - r["answered"]) * 1000 for r in asked[1:])


def bare_loop(b, n):
    """The least that such a loop can be: each answer read, bash run, a line written and synced, the next request sent."""
    bash = ["bash", "--norc", "--noprofile", "-c", "echo 1"]
    with m.Model(b.folder, [[m.bash("echo 1")]] * n) as model, open(b.folder + "/bare", "wb", 0) as journal:
        c = http.client.HTTPConnection(model.env["ANTHROPIC_BASE_URL"].split("//")[1])
        c.connect()
        c.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(n):
            c.request("POST", "/v1/messages", json.dumps({"model": "x", "max_tokens": 9, "stream": True,
                                                          "messages": [{"role": "user", "content": "%d " % i + "x" * 13000}]}))
            c.getresponse().read()
            r, w = os.pipe()
            pid = os.posix_spawnp("bash", bash, b.env, file_actions=[(os.POSIX_SPAWN_DUP2, w, 1)])
            os.close(w)
            journal.write(b"x" * 900 + os.read(r, 100))
            os.close(r)
            os.waitpid(pid, 0)
            os.fdatasync(journal.fileno())
        return gap_ms(model.requests())


@row
def tool_loop(b):
    n = b.runs(40)
    with m.Model(b.folder, [[m.bash("echo %d" % i)] for i in range(n)] + [[{"text": "done"}]]) as model:
        b.print_mode(model, "go")
        asked = model.requests()
    bare = bare_loop(b, n)
    yield "reply end to next request in a tool loop, p50", gap_ms(asked), "ms", "4", bare, "44 / 76"
    yield "  bash and a synced line alone", bare, "ms", "", None, ""
    kept = sum(1 for r in asked if not r["illegal"]) / len(asked)
    yield "prefix kept from request to request", kept, "", "1.000", None, "0.999 / 1.000"


# ---- drawing ----

@row
def full_speed(b):
    tokens = 5000 if b.quick else 20000
    with m.Model(b.folder, [[{"generate": {"tokens": tokens, "seed": 7}}, {"text": "\n\nENDMARK"}]]) as model:
        p = b.tui(model)
        cpu, t, mark = m.cpu_seconds(p.pid), time.monotonic(), len(p.seen)
        p.send(b"go\r")
        p.read_until(rb"ENDMARK", 120)
        took, cpu = time.monotonic() - t, m.cpu_seconds(p.pid) - cpu
        p.close()
        # What the server needs alone: the same request by a client that only reads.
        host = model.env["ANTHROPIC_BASE_URL"].split("//")[1]
        c = http.client.HTTPConnection(host)
        t = time.monotonic()
        c.request("POST", "/v1/messages", json.dumps({"model": "x", "max_tokens": 9, "stream": True,
                                                      "messages": [{"role": "user", "content": "x"}]}))
        while c.getresponse().read():
            break
        alone = time.monotonic() - t
    yield "%d tokens at full speed, wall" % tokens, took, "s", "1.0", alone, "1.42 / 18"
    yield "  CPU", cpu, "s", "0.3", None, "2.55 / 19"
    yield "  the server to a client that only reads", alone, "s", "", None, ""


@row
def paced(b):
    tokens, seconds = (1200, 6) if b.quick else (6000, 30)
    with m.Model(b.folder, [[{"tokens_per_second": 200}, {"generate": {"tokens": tokens, "seed": 3}}, {"text": "\n\nENDMARK"}]]) as model:
        p = b.tui(model)
        p.send(b"go\r")
        p.drain(0.5)
        cpu, t, mark, keys = m.cpu_seconds(p.pid), time.monotonic(), len(p.seen), []
        p.read_until(rb"ENDMARK", 120)
        cpu, took, painted = m.cpu_seconds(p.pid) - cpu, time.monotonic() - t, len(p.seen) - mark
        p.close()
    yield "200 tokens/s: share of a core", cpu * 100 / took, "%", "2", None, "25 / 49"
    yield "  bytes to the terminal for %d tokens" % tokens, painted / 1e6, "MB", "%.2f" % (0.16 * tokens / 6000), None, \
        "0.71 / 3.7" if tokens == 6000 else ""
    with m.Model(b.folder, [[{"tokens_per_second": 200}, {"generate": {"tokens": 2000, "seed": 3}}]]) as model:
        p = b.tui(model)
        p.send(b"go\r")
        p.drain(1)
        for i in range(b.runs(100)):
            # A frame of the stream may come before the echo; the key's own letter is looked for.
            letter = b"Q" if i % 2 else b"W"  # no final byte of a control sequence in use
            p.drain(0.03)
            p.at, t = len(p.seen), time.monotonic()
            p.send(letter)
            p.read_until(letter, 5)
            keys.append((time.monotonic() - t) * 1000)
            if i % 40 == 39:
                p.send(b"\x15")
        p.close()
    yield "key to echo while 200 tokens/s stream, p99", m.percentile(keys, 99), "ms", "5", None, "30 / 11"


@row
def echo(b):
    def keys(p):
        out = []
        for i in range(b.runs(200)):
            p.drain(0.02)
            out.append(p.echo(b"abcdefghij"[i % 10:i % 10 + 1]))
        p.close()
        return out
    ours = keys(b.tui())
    p = m.Pty([b.floor], b.env, b.project)
    p.read_until(rb"> ")
    floor = keys(p)
    yield "key to echo idle, p50", statistics.median(ours), "ms", "1", statistics.median(floor), "7.6 / 3.8"
    yield "key to echo idle, p99", m.percentile(ours, 99), "ms", "3", m.percentile(floor, 99), "34 / 15"
    yield "  bare curses echo, p50", statistics.median(floor), "ms", "", None, ""
    yield "  bare curses echo, p99", m.percentile(floor, 99), "ms", "", None, ""


# ---- tools ----

@row
def overlap(b):
    talk = [{"tokens_per_second": 100}, {"text": "x " * 200}]
    script = [[m.bash("sleep 1"), *talk] for _ in range(3)] + [[{"text": "done"}]]
    for name, responses, target, peers in (
            ("3 x sleep 1, 1 s of stream after each", script, "3.03", "3.07 / 3.07"),
            ("3 x sleep 1 at once", [[m.bash("sleep 1")] * 3, [{"text": "done"}]], "1.05", "1.25 / 1.13")):
        with m.Model(b.folder, responses) as model:
            b.print_mode(model, "go")
            asked = model.requests()
        yield name, asked[-1]["at"] - asked[0]["at"], "s", target, None, peers


@row
def decision(b):
    record = {"root": b.project, "cwd": b.project, "tool": "Bash",
              "input": {"command": "cd a && npm test 2>&1 | grep -v x | tail -5; git status; sudo rm -rf build"},
              "rules": {"allow": ["Bash(tool%d *)" % i for i in range(40)], "deny": ["Read(**/.env)", "Bash(git push:*)"]}}
    n = 500 if b.quick else 2000
    t = time.monotonic()
    subprocess.run([b.yare, "perm", "check"], input=(json.dumps(record) + "\n") * n, capture_output=True, text=True, check=True)
    yield "permission decision, 42 rules, 5 parts", (time.monotonic() - t) * 1000 / n, "ms", "2", None, ""


@row
def decisions(b):
    """The chain alone, in processor time: bench/decisions.c (-DYARE_BENCH=ON)."""
    tool = os.path.join(os.path.dirname(os.path.abspath(b.yare)), "bench", "decisions")
    if not os.path.exists(tool):
        raise m.BenchError("%s is not there: configure with -DYARE_BENCH=ON, as scripts/bench does" % tool)
    r = json.loads(subprocess.run([tool, b.project], capture_output=True, text=True, check=True).stdout)
    yield "permission decisions, simple commands", r["simple_per_second"], "/s", "20000", None, ""
    yield "permission decision, 2 kB compound, p99", r["p99_2kb_ms"], "ms", "1", None, ""
    yield "permission decision, 10 kB compound, p99", r["p99_10kb_ms"], "ms", "5", None, ""


# ---- requests ----

@row
def requests(b):
    """What is done between the results of a turn and the first byte on the wire, in processor time, and the memory of a long session whose
    context tiers are at work: bench/request.c (-DYARE_BENCH=ON)."""
    tool = os.path.join(os.path.dirname(os.path.abspath(b.yare)), "bench", "request")
    if not os.path.exists(tool):
        raise m.BenchError("%s is not there: configure with -DYARE_BENCH=ON, as scripts/bench does" % tool)
    turns = 1000 if b.quick else 10000
    folder = os.path.join(b.folder, "request")
    os.makedirs(folder, exist_ok=True)
    r = json.loads(subprocess.run([tool, folder, str(turns)], capture_output=True, text=True, check=True).stdout)
    for wire in ("anthropic", "openai"):
        for n in ("100", "1000", "10000"):
            yield "request behind %s messages, %s" % (n, wire), r["request_us"][wire][n] / 1000, "ms", "", None, ""
        yield "  of 10,000 beside 100, %s" % wire, r["request_us"][wire]["10000"] / r["request_us"][wire]["100"], "x", "1.3", None, ""
        yield "  with the tools and the journal, behind 10,000", r["turn_us"][wire]["10000"] / 1000, "ms", "", None, ""
    yield "memory after %d turns" % turns, r["rss_mb"], "MB", "80", None, ""
    yield "  of it in the last half", r["rss_last_half_mb"], "MB", "1", None, ""


@row
def tiers(b):
    """Each context tier over sessions of 500,000 tokens, in processor time: bench/tiers.c (-DYARE_BENCH=ON)."""
    tool = os.path.join(os.path.dirname(os.path.abspath(b.yare)), "bench", "tiers")
    if not os.path.exists(tool):
        raise m.BenchError("%s is not there: configure with -DYARE_BENCH=ON, as scripts/bench does" % tool)
    r = json.loads(subprocess.run([tool], capture_output=True, text=True, check=True).stdout)
    for tier in ("snip", "micro", "collapse"):
        yield "%s, 500k tokens" % tier, max(v for k, v in r.items() if k.endswith("_%s_ms" % tier)), "ms", "", None, ""
    yield "extract from 2 MB", r["extract_2mb_ms"], "ms", "500", None, ""


# ---- sessions ----

def long_session(b, messages, size):
    """A journal of so many messages and bytes: prompts, tool calls and their results, as a day of work leaves them."""
    with m.Model(b.folder, [[{"text": "seed"}]]) as model:
        b.print_mode(model, "seed")
    folder = next(f for f, _, files in os.walk(b.home + "/.local/share/yare/projects") if any(x.endswith(".jsonl") for x in files))
    session, parent, lines = str(uuid.uuid4()), None, []
    head = {"type": "session", "id": session, "sessionId": session, "cwd": b.project, "root": b.project, "version": "0.1.0",
            "created": "2026-01-01T00:00:00.000Z", "timestamp": "2026-01-01T00:00:00.000Z", "model": "claude-opus-5-5"}
    lines.append(json.dumps(head, separators=(",", ":")))
    filler = "int next_token(struct lexer *lx) { return lx->tokens[lx->at++]; }\n"
    text = filler * int(size / (messages / 4) / len(filler))
    for i in range(messages):
        call, kind = "toolu_%d" % (i // 2), i % 4
        content = {0: [{"type": "text", "text": "prompt number %d" % i}],
                   1: [{"type": "text", "text": "Reading."},
                       {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": "src/parse.c"}}],
                   2: [{"type": "tool_result", "tool_use_id": "toolu_%d" % ((i - 1) // 2), "content": text}],
                   3: [{"type": "text", "text": "It is **done**, number %d%s" % (i, " LASTWORD" if i == messages - 1 else "")}]}[kind]
        role, this = ("assistant" if kind in (1, 3) else "user"), str(uuid.uuid4())
        record = {"type": role, "uuid": this, "parentUuid": parent, "sessionId": session, "timestamp": "2026-01-01T00:00:01.000Z",
                  "cwd": b.project, "version": "0.1.0", "message": {"role": role, "content": content}}
        lines.append(json.dumps(record, separators=(",", ":")))
        parent = this
    with open("%s/%s.jsonl" % (folder, session), "w") as f:
        f.write("\n".join(lines) + "\n")
    os.chmod("%s/%s.jsonl" % (folder, session), 0o600)
    return session


@row
def resume(b):
    session = long_session(b, 2000, 21e6)
    shown, memory = [], []
    for _ in range(b.runs(8)):
        p = m.Pty([b.yare, "--provider", "offline", "--resume", session], b.env, b.project)
        shown.append(p.read_until(rb"LASTWORD") * 1000)
        p.drain(0.5)
        memory.append(m.pss_mb(p.pid))
        p.close()
    yield "resume 2,000 messages, 21 MB: shown", statistics.median(shown), "ms", "80", None, "1197 / -"
    yield "resume 2,000 messages, 21 MB: memory", statistics.median(memory), "MB PSS", "25", None, "244 / -"


# ---- search ----

@row
def search(b):
    tool = os.path.join(os.path.dirname(b.yare), "bench", "search_tool")
    if not os.path.exists(tool):
        raise m.BenchError("%s is not there: configure with -DYARE_BENCH=ON, as scripts/bench does" % tool)
    out = b.folder + "/search.json"
    subprocess.run([sys.executable, m.TOP + "/bench/search.py", tool, "--json", out, "--runs", str(b.runs(15))], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out) as f:
        rows = json.load(f)["rows"]
    for r in rows:
        yield "search: " + r["name"], r["yare_ms"], "ms", "1.0x rg", r.get("rg_ms"), ""
    yield "search: peak memory", max(r["yare_mb"] for r in rows), "MB", "30", None, ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("yare")
    ap.add_argument("--quick", action="store_true", help="fewer runs")
    ap.add_argument("--only", help="only the rows whose function holds this word")
    ap.add_argument("--json", metavar="FILE")
    a = ap.parse_args()
    b, out, failed = Bench(a.yare, a.quick), [], []
    form = "%-46s %10s %-7s %9s  %-10s %s"
    print(form % ("measure", "yare", "", "ratio", "target", "Claude Code / Codex"))
    try:
        for fn in ROWS:
            if a.only and a.only not in fn.__name__:
                continue
            try:
                for name, value, unit, target, reference, peers in fn(b):
                    ratio = value / reference if reference else None
                    out.append({"measure": name.strip(), "value": round(value, 4), "unit": unit, "target": target,
                                "ratio": round(ratio, 3) if ratio else None, "peers": peers})
                    print(form % (name, "%.3g" % value if value < 100 else "%.0f" % value, unit, "%.2fx" % ratio if ratio else "", target,
                                  peers), flush=True)
            except (m.BenchError, subprocess.CalledProcessError, OSError) as e:
                failed.append(fn.__name__)
                print("%s: failed: %s" % (fn.__name__, e), flush=True)
    finally:
        b.close()
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"rows": out, "failed": failed}, f, indent=1)
    return 1 if failed else 0


sys.exit(main())
