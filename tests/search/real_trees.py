#!/usr/bin/env python3
"""Trees as they are found on machines: the walk must find exactly the files that git lists.

  tests/search/real_trees.py LIST_FILES REPOSITORY

A clone of the repository, and copies of two system folders (names only: the files are empty) made into repositories, with rules made
from the names that occur in them and some ignored files tracked. What a machine does not have is left out, and said.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from git_files import difference, expected, git, walked  # noqa: E402

MAX_FILES = 60000


def copy_names(source, target):
    """The same folders, files and links, without content; how many."""
    n = 0
    for folder, dirs, files in os.walk(source):
        to = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(to, exist_ok=True)
        for name in files + [d for d in dirs if os.path.islink(os.path.join(folder, d))]:
            if n >= MAX_FILES:
                return n
            path = os.path.join(folder, name)
            if os.path.islink(path):
                os.symlink(os.readlink(path), os.path.join(to, name))
            else:
                os.close(os.open(os.path.join(to, name), os.O_CREAT | os.O_WRONLY, 0o644))
            n += 1
    return n


def rules(rng, folder):
    """Ignore rules made of what is there."""
    names = os.listdir(folder)
    lines = []
    for name in rng.sample(names, min(len(names), rng.randrange(1, 8))):
        plain = "".join("\\" + c if c in "*?[\\!# " else c for c in name)
        stem, dot, ext = name.partition(".")
        lines.append(rng.choice([plain, "/" + plain, plain + "/", "*" + dot + ext if ext else plain, name[:2] + "*", "**/" + plain,
                                 plain + "/**", "!" + plain, "[" + name[0] + "]*" if name[0] not in "]\\^!" else plain]))
    return "\n".join(lines) + "\n"


def make_repository(source, target, env, rng):
    n = copy_names(source, target)
    root = os.fsencode(target)
    git(root, "init", "-q", ".", env=env)
    folders = [d for d, _, _ in os.walk(target) if ".git" not in d.split("/")]
    for d in [target] + rng.sample(folders, min(len(folders), 40)):
        with open(d + "/.gitignore", "w") as f:
            f.write(rules(rng, d))
    ignored = git(root, "ls-files", "-oiz", "--exclude-standard", env=env).split(b"\0")[:-1]
    chosen = rng.sample(ignored, min(len(ignored) // 2, 300))
    if chosen:
        git(root, "add", "-f", "--", *chosen, env=env)
    git(root, "add", "--", "README*", env=env, check=False)
    return n


def compare(name, tool, target, env):
    root = os.fsencode(target)
    want, got = expected(root, env), walked(tool, [root], env)[0]
    skipped = git(root, "ls-files", "-oiz", "--exclude-standard", env=env).count(b"\0")
    tracked = git(root, "ls-files", "-ciz", "--exclude-standard", env=env).count(b"\0")
    diff = difference(want, got)
    print(f"{name}: {len(want)} files listed, {skipped} ignored, {tracked} ignored but tracked: {diff or 'the same'}")
    return not diff


def main():
    tool, repository = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which("git"):
        print("git is missing")
        return 77
    top = tempfile.mkdtemp(prefix="yare-trees-")
    env = {b"PATH": os.environb[b"PATH"], b"HOME": os.fsencode(top), b"GIT_CONFIG_NOSYSTEM": b"1", b"LC_ALL": b"C.UTF-8"}
    rng, ok, ran = random.Random(7), True, 0
    try:
        if os.path.exists(repository + "/.git"):
            subprocess.run(["git", "clone", "-q", "--no-hardlinks", "--depth=1", "file://" + os.path.abspath(repository), top + "/clone"], check=True)
            for path in ("build/x.o", "build/deep/er/y", "node_modules/z/index.js", "src/new file.c"):
                os.makedirs(os.path.dirname(f"{top}/clone/{path}"), exist_ok=True)
                open(f"{top}/clone/{path}", "w").close()
            ok &= compare("a clone of this repository", tool, top + "/clone", env)
            ran += 1
        for source in ("/usr/include", "/usr/share/doc", "/usr/lib/python3", "/usr/share/perl"):
            if ran == 3:
                break
            if not os.path.isdir(source):
                print(f"{source}: not here")
                continue
            target = f"{top}/{os.path.basename(source)}"
            make_repository(source, target, env, rng)
            ok &= compare(source, tool, target, env)
            ran += 1
    finally:
        shutil.rmtree(top)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
