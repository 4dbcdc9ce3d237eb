"""What git says the files of a tree are, and what yare's walk says: shared by the comparisons."""
import os
import subprocess


def git(folder, *args, env, check=True):
    return subprocess.run([b"git", b"-C", folder, *[os.fsencode(a) for a in args]], env=env, check=check,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def listing(folder, *args, env):
    out = git(folder, "ls-files", "-z", *args, env=env)
    return set(out.split(b"\0")) - {b""}


def expected(folder, env, args=("-co", "--exclude-standard")):
    """The files that exist on disk; a nested repository is entered, with git asked again inside."""
    files = set()
    for name in listing(folder, *args, env=env):
        path = os.path.join(folder, name.rstrip(b"/"))
        if os.path.isdir(path) and not os.path.islink(path):
            below = expected(path, env, args)
            files |= {os.path.join(name.rstrip(b"/"), f) for f in below}
        elif os.path.lexists(path):
            files.add(name)
    return files


def walked(tool, roots, env):
    """A list of sets, one a root."""
    p = subprocess.run([os.fsencode(tool), *roots], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise AssertionError(f"{tool}: {p.stderr.decode(errors='replace')}")
    lists, at = [], []
    for part in p.stdout.split(b"\0")[:-1]:
        if part:
            at.append(part)
        else:
            lists.append(at)
            at = []
    for got in lists:
        if len(set(got)) != len(got):
            raise AssertionError("a file is listed twice")
    return [set(x) for x in lists]


def difference(want, got):
    missing, extra = sorted(want - got), sorted(got - want)
    if not missing and not extra:
        return ""
    return f"missing {missing[:8]} ({len(missing)}), extra {extra[:8]} ({len(extra)})"
