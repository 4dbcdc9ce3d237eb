#!/usr/bin/env python3
"""What the shell analysis says will run, held against what a real bash runs.

Every program on the PATH of the sandbox is a recorder; wrappers (env, xargs, find, sh ...) are the real ones and then run recorders. For each
line: a call that was made must be one that the analysis lists, with the same words, folder and prefix variables, and a file that a
redirection changed must be among its effects; or the analysis said of that leaf, or of the whole line, that it does not know.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lines as generator  # noqa: E402

SKIP = 77
DISABLED = "enable -n echo printf test '[' pwd kill true false\n"
Call = collections.namedtuple("Call", "cwd exe argv env")


class World:
    """The folders of the test and the programs in the sandbox."""

    def __init__(self, args):
        self.args = args
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="yare-diff-", dir=args.tmp))
        self.proj, self.home = self.top + "/w/proj", self.top + "/w/home"
        self.bin, self.rt = self.top + "/bin", self.top + "/rt"
        for d in (self.proj, self.home, self.bin, self.rt):
            os.makedirs(d)
        subprocess.run([args.runner, "prepare", self.proj], check=True)
        for name in sorted(set(generator.PROGRAMS) | {"tail", "cut", "uniq", "cp", "mv", "mkdir", "ln", "diff", "rg", "node", "python3", "dirname", "basename", "awk", "tr", "sleep", "chmod", "curl"}):
            shutil.copy(args.recorder, os.path.join(self.bin, name))
        for name in generator.REAL:
            real = shutil.which(name, path="/bin:/usr/bin")
            if real:
                shutil.copy(os.path.realpath(real), os.path.join(self.bin, name))
        with open(self.rt + "/env", "w") as f:
            f.write(DISABLED)
        shutil.copy(args.runner, self.rt + "/runner")
        shutil.copy(os.path.realpath(shutil.which("bash")), self.rt + "/bash")

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def bwrap(self, command):
        out = ["bwrap", "--unshare-all", "--as-pid-1", "--die-with-parent", "--clearenv", "--tmpfs", "/"]
        for d in ("/usr/lib", "/usr/lib64", "/usr/libexec", "/lib", "/lib64"):
            if os.path.islink(d):
                out += ["--symlink", os.readlink(d), d]
            elif os.path.isdir(d):
                out += ["--ro-bind", d, d]
        out += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/log/work", "--bind", self.top + "/w", self.top + "/w"]
        return out + ["--ro-bind", self.rt, "/rt", "--ro-bind", self.bin, "/bin", "--ro-bind", self.bin, "/usr/bin", "--chdir", "/"] + command

    def analyse(self, data):
        out = subprocess.run([self.args.dump, self.proj, self.home], input=data, stdout=subprocess.PIPE, check=True).stdout
        return [json.loads(x) for x in out.splitlines()]

    def execute(self, data, builtins):
        command = self.bwrap(["/rt/runner", "run", self.proj, self.home, builtins])
        p = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode:
            raise RuntimeError("the runner ended with %d: %s" % (p.returncode, p.stderr.decode(errors="replace")[-400:]))
        return list(read_results(p.stdout))


def read_calls(data):
    calls, i = [], 0
    while i + 12 <= len(data):
        n, argc, envc = (int.from_bytes(data[i + k:i + k + 4], sys.byteorder) for k in (0, 4, 8))
        f = data[i + 12:i + 12 + n].split(b"\0")[:-1]
        i += 12 + n
        calls.append(Call(f[0], f[1], f[2:2 + argc], dict(e.split(b"=", 1) for e in f[2 + argc:2 + argc + envc])))
    return calls


def read_results(out):
    i = 0
    while i < len(out):
        end = out.index(b"\n", i)
        _no, late, *sizes = (int(x) for x in out[i:end].split())
        parts, i = [], end + 1
        for n in sizes:
            parts.append(out[i:i + n])
            i += n
        yield {"late": bool(late), "calls": read_calls(parts[0]), "changed": parts[1].split(b"\0")[:-1], "err": parts[2]}


# ---- the comparison ----

def raw(s):
    return s.encode("latin-1")


def pattern(text, path=False):
    """A shell pattern as a compiled expression over bytes."""
    out, i = b"", 0
    while i < len(text):
        c = text[i:i + 1]
        close = text.find(b"]", i + 2) if c == b"[" else -1
        if c == b"\\" and i + 1 < len(text):
            i += 1
            out += re.escape(text[i:i + 1])
        elif c == b"*":
            out += b"[^/]*"
        elif c == b"?":
            out += b"(?:[^/]|[\xc2-\xf4][\x80-\xbf]+)"
        elif close > 0:
            out += b"(?:[^/]|[\xc2-\xf4][\x80-\xbf]+)"  # what is in the brackets is bash's affair
            while close + 1 < len(text) and b"[:" in text[i:close] and text[close - 1:close] == b":":
                close = text.find(b"]", close + 1) if text.find(b"]", close + 1) > 0 else close
                break
            i = close
        else:
            out += re.escape(c)
        i += 1
    return re.compile(out + b"\\Z", re.S)


def unescape(text):
    return re.sub(rb"\\(.)", rb"\1", text, flags=re.S)


def words_match(argv, leaf):
    """Known words are equal, patterns match one word or more, unknown ones stand for any number."""
    spec = leaf["argv"]

    def one(k, w):
        text, known, glob = spec[k]
        if not known:
            return True
        if glob:
            return pattern(raw(text)).match(w) is not None or unescape(raw(text)) == w or raw(text) == w
        return raw(text) == w

    if not leaf["argv_known"] and all(known for _text, known, _glob in spec):
        return len(argv) > 0 and one(0, argv[0])  # only the name is claimed
    reach = {0}
    for k, (_text, known, glob) in enumerate(spec):
        nxt = set()
        many = not known or glob
        for i in reach:
            j = i
            if not known:
                nxt.add(i)
            while j < len(argv) and one(k, argv[j]):
                j += 1
                nxt.add(j)
                if not many:
                    break
        reach = nxt
    return len(argv) in reach


def same_name(call, leaf):
    """exec -a gives another name to the same file."""
    if not leaf["argv"]:
        return call.argv
    text = raw(leaf["argv"][0][0])
    if call.argv and call.argv[0] != text and os.path.basename(call.exe) == os.path.basename(text):
        return [text] + call.argv[1:]
    return call.argv


def runs_its_words(call, leaf):
    """Its name is said to be unknown: it may be that of a program that runs words behind it ("timeo$@ut 5 ls")."""
    if leaf["name_known"] or not leaf["effects_unknown"]:
        return False
    return any(words_match(call.argv, dict(leaf, argv=leaf["argv"][k:])) for k in range(1, len(leaf["argv"])))


def covers(leaf, call):
    """None: it is this leaf; else what differs."""
    if leaf["argv"] and leaf["argv"][0][0] == "xargs" and call.argv[:1] == [b"echo"]:
        return None  # its own command when it is given none
    if not leaf["argv"] or not (words_match(same_name(call, leaf), leaf) or runs_its_words(call, leaf)):
        return "words"
    if leaf["cwds"] and call.cwd not in [raw(os.path.realpath(c)) for c in leaf["cwds"]]:
        return "folder"
    for name, value, known, here in leaf["assigns"]:
        watched = re.match(r"[a-z]\Z|V", name)
        last = [a for a in leaf["assigns"] if a[0] == name][-1][1] == value
        if here and known and watched and last and call.env.get(raw(name)) != raw(value):
            return "variable " + name
    return None


def is_opaque(leaf):
    """It runs a file, or evaluates what it is given: said to be unknown as a whole. So are xargs' words behind an unknown one."""
    if leaf["argv"] and leaf["argv"][0][0] == "xargs" and not leaf["argv_known"]:
        return True
    return any(e["kind"] == "exec" for e in leaf["effects"]) or "evaluate" in (leaf["why"] or "")


def write_is_listed(path, a):
    for leaf in a["leaves"]:
        if leaf["argv"] and leaf["argv"][0][0] == "nohup" and os.path.basename(path) == b"nohup.out":
            return True
        if leaf["role"] == "inner" and leaf["argv"] and not leaf["name_known"]:
            return True  # a text that is not known, redirections and all
        for e in leaf["effects"]:
            if e["kind"] not in ("write", "delete", "delete-tree"):
                continue
            if e["path"] is None:
                return True
            p = raw(e["path"])
            if e["glob"] and pattern(p).match(path) or p == path or os.path.realpath(p) == path:
                return True
            if e["kind"] == "delete-tree" and path.startswith(os.path.realpath(p) + b"/"):
                return True
            parent = os.path.join(os.path.realpath(os.path.dirname(p)), os.path.basename(p))
            if parent == path:
                return True
    return False


def differences(a, result):
    """What the bash did that the analysis neither lists nor calls unknown."""
    out = []
    if a["incomplete"] or any(is_opaque(x) for x in a["leaves"]):
        return out
    for c in result["calls"]:
        why = [covers(x, c) for x in a["leaves"]]
        if None not in why:
            near = sorted({w for w in why if w and w != "words"})
            out.append("ran %r in %s%s" % (c.argv, c.cwd.decode(errors="replace"), " (%s differs)" % ", ".join(near) if near else ""))
    for p in result["changed"]:
        if not write_is_listed(p, a):
            out.append("changed %r" % p)
    return out


def unknown_reason(a):
    """Why the analysis does not know all words and folders, or None."""
    if a["incomplete"]:
        return a["why"]
    for x in a["leaves"]:
        if x["argv"] and not x["name_known"]:
            return "a name"
        if not x["argv_known"]:
            return "words"
        if not x["cwds"]:
            return "a folder"
    return None


# ---- lines ----

def corpus(folder):
    """The commands of the case files."""
    out = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("shell_"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                out += [x.split("\n")[0].replace("␤", "\n") for x in f.read().split("\n\n")]
    return [x for x in out if x and "\0" not in x and not re.search(r"[\ud800-\udfff]", x)]


def make_lines(seed, count, cases):
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.35:
            out.append(("plain", generator.make(rng, False)))
        elif kind < 0.75:
            out.append(("expanding", generator.make(rng, True)))
        else:
            base = rng.choice(cases) if cases and rng.random() < 0.5 else generator.make(rng, rng.random() < 0.6)
            line = generator.mutate(rng, base, cases) if rng.random() < 0.9 else base
            out.append(("mutated", line.replace("\0", "")))
    return [(k, x) for k, x in out if x]


def encode(items):
    return b"".join(x.encode("utf-8", "surrogateescape") + b"\0" for x in items)


class Tally:
    def __init__(self):
        self.lines, self.known, self.calls, self.late = collections.Counter(), collections.Counter(), 0, 0
        self.reasons = {"plain": collections.Counter(), "expanding": collections.Counter(), "mutated": collections.Counter()}
        self.examples = {}


def batch(world, items, builtins, tally=None):
    """[(line, what differs)] of the lines that do."""
    data = encode(x for _k, x in items)
    analyses, results = world.analyse(data), world.execute(data, builtins)
    if len(analyses) != len(items) or len(results) != len(items):
        raise RuntimeError("%d lines, %d analyses, %d results" % (len(items), len(analyses), len(results)))
    bad = []
    for (kind, line), a, r in zip(items, analyses, results):
        diff = differences(a, r)
        if diff:
            bad.append((line, diff, a, r))
        if tally and r["calls"] and b"syntax error" not in r["err"] and b"unexpected EOF" not in r["err"]:
            why = unknown_reason(a)
            tally.lines[kind] += 1
            tally.known[kind] += why is None
            tally.calls += len(r["calls"])
            tally.late += r["late"]
            if why:
                tally.reasons[kind][why] += 1
                old = tally.examples.get((kind, why), [])
                tally.examples[(kind, why)] = sorted(old + [line], key=len)[:6]
    return bad


def minimise(world, line, builtins):
    """The shortest line by taking pieces away that still differs."""
    size = max(1, len(line) // 2)
    while size >= 1:
        tries = [line[:i] + line[i + size:] for i in range(0, len(line), max(1, size // 2))]
        tries = [t for t in dict.fromkeys(tries) if t and t != line]
        bad = batch(world, [("mutated", t) for t in tries], builtins) if tries else []
        if bad:
            line = bad[0][0]
            size = min(size, max(1, len(line) // 2))
        elif size == 1:
            break
        else:
            size //= 2
    return line


def show(world, found, builtins, shorten):
    line, diff, a, _r = found
    print("FALSE KNOWN %r (builtins: %s)" % (line, builtins))
    for d in diff[:4]:
        print("    " + d)
    if shorten:
        small = minimise(world, line, builtins)
        print("  smallest: %r" % small)
        again = batch(world, [("mutated", small)], builtins)
        if again:
            line, diff, a, _r = again[0]
            print("    " + diff[0])
    for x in a["leaves"]:
        print("    leaf %s %s cwds=%s%s" % (x["role"], [w[0] if w[1] else "?" + w[0] for w in x["argv"]], [c.replace(world.proj, "P") for c in x["cwds"]],
                                          " effects unknown" if x["effects_unknown"] else ""))


def run(world, args):
    cases = corpus(args.cases) if args.cases else []
    tally, failed = Tally(), 0
    seeds = [args.seed + i for i in range(args.seeds)]
    for seed in seeds:
        items = make_lines(seed, args.count, cases)
        for at in range(0, len(items), args.batch):
            part = items[at:at + args.batch]
            builtins = "real" if at // args.batch % 3 == 2 else "fake"
            for found in batch(world, part, builtins, tally):
                failed += 1
                if failed <= args.show:
                    show(world, found, builtins, args.minimise)
                    sys.stdout.flush()
    report(tally, seeds, failed, args)
    return failed


def report(tally, seeds, failed, args):
    print("seeds %d..%d, %d lines that ran something, %d calls, %d too slow, %d false known" %
          (seeds[0], seeds[-1], sum(tally.lines.values()), tally.calls, tally.late, failed))
    for kind in ("plain", "expanding", "mutated"):
        n = tally.lines[kind]
        print("  %-9s %6d lines, %5.1f%% known" % (kind, n, 100.0 * tally.known[kind] / n if n else 0))
        for why, k in tally.reasons[kind].most_common(args.reasons):
            print("      %5d %s" % (k, why))
            for x in tally.examples[(kind, why)]:
                print("              %r" % x)


def usable(args):
    if not shutil.which("bwrap") or not shutil.which("bash"):
        return "needs bubblewrap and bash"
    p = subprocess.run(["bwrap", "--unshare-all", "--as-pid-1", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"], stderr=subprocess.PIPE)
    return None if p.returncode == 0 else "bubblewrap cannot run here: " + p.stderr.decode(errors="replace").strip()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    for name in ("dump", "runner", "recorder"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--cases", help="the folder with the case files whose commands are mutated")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seeds", type=int, default=1, help="that many seeds from --seed on")
    p.add_argument("--count", type=int, default=1500, help="lines of each seed")
    p.add_argument("--batch", type=int, default=250)
    p.add_argument("--show", type=int, default=20)
    p.add_argument("--reasons", type=int, default=0, help="print the commonest reasons for not knowing")
    p.add_argument("--minimise", action="store_true")
    p.add_argument("--known", type=float, default=0, help="the least share known, in percent, of lines without expansion")
    p.add_argument("--tmp", default="/var/tmp", help="a folder for the sandbox's files, not below /tmp")
    p.add_argument("--line", action="append", help="look at this line alone")
    args = p.parse_args()
    why = usable(args)
    if why:
        print("skipped: " + why)
        return SKIP
    world = World(args)
    try:
        if args.line:
            return one_by_one(world, args)
        return 1 if run(world, args) else 0
    finally:
        world.close()


def one_by_one(world, args):
    failed = 0
    for line in args.line:
        for builtins in ("fake", "real"):
            data = encode([line])
            a, r = world.analyse(data)[0], world.execute(data, builtins)[0]
            print("%r: %s; ran %s; changed %s; %s" % (line, unknown_reason(a) or "known", [c.argv for c in r["calls"]], r["changed"], r["err"][:200]))
            for found in batch(world, [("mutated", line)], builtins):
                failed += 1
                show(world, found, builtins, False)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
