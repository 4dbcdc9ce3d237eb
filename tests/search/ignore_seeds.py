#!/usr/bin/env python3
"""Random trees with random ignore files: the walk must find exactly the files that git lists.

  tests/search/ignore_seeds.py LIST_FILES [--first 1] [--count 200] [--keep]

Each seed makes a repository (or a worktree of one) with files of awkward names, tracked files that rules speak of, nested
repositories, links, excludes in all the places git knows, and .ignore files in some.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from git_files import difference, expected, git, listing, walked  # noqa: E402

NAMES = [b"a", b"b", b"ab", b"abc", b"foo", b"bar", b"foo.c", b"bar.o", b"x.o", b"foo.tmp", b"build", b"src", b"doc",
         b".hid", b"A", b"sp ace", b"trail ", b"tab\t", "é".encode(), "größe.c".encode(), b"\xff.bin", b"[x]", b"#hash",
         b"!bang", b"a*b", b"back\\slash", b"q?", b"-dash", b"a-b", b"a]b", b"{a,b}", b"new\nline", b"~tilde"]
CLASSES = [b"[ab]", b"[!a]", b"[^a]", b"[a-c]", b"[[:alpha:]]", b"[[:upper:]x]", b"[]a]", b"[!]a]", b"[a-]", b"[\\]x]", b"[a",
           b"[[:nope:]]", b"[[:alpha:", b"[/]", b"[-a]", b"[a-\\c]", b"[c-a]", b"[[.a.]]", b"[\\", b"[[:]", b"[[::]]", b"[a[:digit:]-z]"]


def escape(rng, name):
    out = b""
    for c in name:
        c = bytes([c])
        if c in b"*?[\\" or (rng.random() < 0.05 and c != b"\n"):
            out += b"\\"
        out += c
    if out[:1] in (b"#", b"!"):
        out = b"\\" + out
    if out.endswith(b" ") and rng.random() < 0.7:
        out = out[:-1] + b"\\ "
    return out.replace(b"\n", b"?")


def component(rng):
    name = escape(rng, rng.choice(NAMES))
    roll = rng.random()
    if roll < 0.45:
        return name
    if roll < 0.6:
        return b"*" + name[rng.randrange(len(name) + 1):]
    if roll < 0.68:
        return name[:rng.randrange(len(name) + 1)] + b"*"
    if roll < 0.75:
        i = rng.randrange(len(name) + 1)
        return name[:i] + b"?" + name[i + 1:]
    if roll < 0.83:
        i = rng.randrange(len(name) + 1)
        return name[:i] + rng.choice(CLASSES) + name[i + 1:]
    if roll < 0.93:
        return rng.choice([b"*", b"**", b"**", b"***", b"*?", b"?*", b"**" + name, name + b"**", b"*.*"])
    return name[:2] + b"*" + name[2:]


def pattern(rng):
    parts = [component(rng) for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3, 4]))]
    line = rng.choice([b"/"] * 12 + [b"\\/", b"//"]).join(parts)
    if rng.random() < 0.2:
        line = b"/" + line
    if rng.random() < 0.2:
        line += b"/"
    if rng.random() < 0.25:
        line = b"!" + line
    if rng.random() < 0.06:
        line += rng.choice([b" ", b"  ", b"\\", b"\t", b"\\\\ ", b"\r", b" \\ ", b"\0x"])
    if rng.random() < 0.04:
        line = rng.choice([b"", b"#" + line, b" " + line, b"/", b"!", b"**/", b"!/", b"\xef\xbb\xbf" + line])
    return line


def ignore_text(rng, negated=True):
    lines = [pattern(rng) for _ in range(rng.randrange(1, 7))]
    if not negated:
        lines = [x for x in lines if not x.lstrip(b"\xef\xbb\xbf").startswith(b"!")]
    text = rng.choice([b"\n"] * 6 + [b"\r\n"]).join(lines)
    if rng.random() < 0.8:
        text += b"\n"
    return (b"\xef\xbb\xbf" if rng.random() < 0.05 else b"") + text


def put(path, data):
    try:
        with open(path, "wb") as f:
            f.write(data)
    except (IsADirectoryError, FileNotFoundError, NotADirectoryError):
        pass


def bare_init(folder):
    """What `git init` leaves, without starting a process."""
    for d in (b"objects", b"refs/heads", b"info"):
        os.makedirs(os.path.join(folder, b".git", d))
    put(os.path.join(folder, b".git/HEAD"), b"ref: refs/heads/main\n")
    put(os.path.join(folder, b".git/config"), b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n")


class Tree:
    def __init__(self, rng, root):
        self.rng, self.root = rng, root
        self.dirs, self.files, self.nested = [], [], []

    def fill(self, folder, depth):
        rng = self.rng
        self.dirs.append(folder)
        for name in rng.sample(NAMES, rng.randrange(1, 8)):
            path = os.path.join(folder, name)
            roll = rng.random()
            if roll < 0.4 and depth < 4:
                os.mkdir(path)
                self.fill(path, depth + 1)
            elif roll < 0.46:
                os.symlink(rng.choice([b".", b"..", b"a", b"/etc/passwd", b"nowhere"]), path)
                self.files.append(path)
            elif roll < 0.47:
                os.mkfifo(path)
            else:
                put(path, b"x\n")
                self.files.append(path)
        if rng.random() < (0.9 if depth == 0 else 0.35):
            put(os.path.join(folder, b".gitignore"), ignore_text(rng))
        elif rng.random() < 0.05:
            os.symlink(b"foo", os.path.join(folder, b".gitignore"))

    def nest(self, env):
        rng = self.rng
        folder = rng.choice(self.dirs[1:] or self.dirs)
        if folder == self.root or os.path.lexists(os.path.join(folder, b".git")):
            return
        bare_init(folder)
        if rng.random() < 0.5:
            put(os.path.join(folder, b".git/info/exclude"), ignore_text(rng))
        self.nested.append(folder)


def global_excludes(rng, home, env):
    text = ignore_text(rng)
    where = rng.randrange(4)
    if where == 0:
        os.makedirs(home + b"/.config/git")
        put(home + b"/.config/git/ignore", text)
    elif where == 1:
        put(home + b"/.gitconfig", b'[core] ; comment\n\texcludesFile = "~/my ignore" # more\n')
        put(home + b"/my ignore", text)
    elif where == 2:
        env[b"XDG_CONFIG_HOME"] = home + b"/xdg"
        os.makedirs(home + b"/xdg/git")
        put(home + b"/xdg/git/config", b"[include]\n\tpath = more\n")
        put(home + b"/xdg/git/more", b"[CORE]\nExcludesfile = " + home + b"/my\\\n.ignore\n")
        put(home + b"/my.ignore", text)


def track(rng, tree, env):
    """Some files into the index, ignored or not; some of those go from the disk again."""
    inside = [f for f in tree.files if not any(f.startswith(n + b"/") for n in tree.nested)]
    chosen = [f for f in inside if rng.random() < 0.3]
    if not chosen:
        return
    version = rng.choice(["2", "2", "3", "4"])
    flags = ["--add", "--", *chosen]
    git(tree.root, "-c", f"index.version={version}", "update-index", f"--index-version={version}", *flags, env=env, check=False)
    if rng.random() < 0.15:
        git(tree.root, "update-index", "--split-index", env=env)
    for f in chosen:
        if rng.random() < 0.1:
            os.unlink(f)


def worktree(rng, tree, env):
    """Makes the tree a worktree of a repository beside it: .git becomes a file."""
    main = tree.root + b"-main"
    own = main + b"/.git/worktrees/w"
    bare_init(main)
    os.makedirs(own)
    put(own + b"/HEAD", b"ref: refs/heads/w\n")
    put(own + b"/commondir", b"../..\n")
    put(own + b"/gitdir", tree.root + b"/.git\n")
    if os.path.exists(tree.root + b"/.git/info/exclude"):
        os.rename(tree.root + b"/.git/info/exclude", main + b"/.git/info/exclude")
    shutil.rmtree(tree.root + b"/.git")
    put(tree.root + b"/.git", b"gitdir: " + own + b"\n")


def make(seed, top):
    rng = random.Random(seed)
    home, root = os.path.join(top, b"home"), os.path.join(top, b"tree")
    os.mkdir(home)
    os.mkdir(root)
    env = {b"PATH": os.environb[b"PATH"], b"HOME": home, b"GIT_CONFIG_NOSYSTEM": b"1", b"LC_ALL": b"C.UTF-8",
           b"GIT_CEILING_DIRECTORIES": top, b"ASAN_OPTIONS": b"detect_leaks=0"}
    tree = Tree(rng, root)
    tree.fill(root, 0)
    bare_init(root)
    if rng.random() < 0.4:
        put(root + b"/.git/info/exclude", ignore_text(rng))
    if rng.random() < 0.5:
        global_excludes(rng, home, env)
    dot = rng.random() < 0.2
    if rng.random() < 0.1:
        worktree(rng, tree, env)
    if not dot and rng.random() < 0.4:
        for _ in range(rng.randrange(1, 3)):
            tree.nest(env)
    if not dot and rng.random() < 0.6:
        track(rng, tree, env)
    if dot:
        for d in tree.dirs:
            if rng.random() < 0.4:
                put(os.path.join(d, b".ignore"), ignore_text(rng, negated=False))
    return tree, env, dot


def check(seed, tool, keep):
    top = os.fsencode(tempfile.mkdtemp(prefix="yare-seed-"))
    try:
        tree, env, dot = make(seed, top)
        want = expected(tree.root, env)
        if dot:
            want &= expected(tree.root, env, ("-co", "--exclude-per-directory=.ignore"))
        roots, wants = [tree.root], [want]
        others = listing(tree.root, "-o", "--exclude-standard", env=env) & want
        folders = sorted({os.path.dirname(f) for f in others} - {b""})
        if folders:
            sub = random.Random(seed).choice(folders)
            roots.append(os.path.join(tree.root, sub))
            wants.append({f[len(sub) + 1:] for f in want if f.startswith(sub + b"/")})
        for root, w, got in zip(roots, wants, walked(tool, roots, env)):
            diff = difference(w, got)
            if diff:
                return f"seed {seed}, {os.fsdecode(root[len(top):])}: {diff}" + (f"\n  kept in {os.fsdecode(top)}" if keep else "")
        return ""
    finally:
        if not keep:
            shutil.rmtree(top)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tool")
    ap.add_argument("--first", type=int, default=1)
    ap.add_argument("--count", type=int, default=200)
    ap.add_argument("--keep", action="store_true")
    a = ap.parse_args()
    if not shutil.which("git"):
        print("git is missing: nothing to compare with")
        return 77
    bad = [r for r in (check(s, a.tool, a.keep) for s in range(a.first, a.first + a.count)) if r]
    for r in bad[:20]:
        print(r)
    print(f"{a.count} trees, {len(bad)} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
