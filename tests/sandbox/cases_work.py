"""What must go on working."""
import os
import shutil
import threading

from box import PYTHON, Box, want
from cases_files import only


def fine(r, out=None):
    want(r.code == 0 and not r.explained and (out is None or r.out == out), f"should work (output {out!r})", r)


def case_basics(b):
    fine(b.sh("echo a > f && cat f && mkdir -p d/e && mv f d/e/g && rm -r d && echo done >/dev/null && pwd"), f"a\n{b.project}\n")
    fine(b.sh("t=$(mktemp) && echo x > $t && cat $t && d=$(mktemp -d) && ls -A $d"), "x\n")
    fine(b.sh("echo one | tr o 0 | cat; echo two >&2"), "0ne\ntwo\n")
    fine(b.sh("cat < /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c"), "3\n3\n")
    fine(b.sh("read x; echo end"), "end\n")


def case_exit_codes(b):
    for code in (1, 2, 42, 125, 126, 127, 128, 130, 137, 255):
        r = b.sh(f"exit {code}")
        want(r.code == code, f"{code} became {r.code}", r)
    for sig in (9, 15, 6, 11, 2, 1):
        r = b.sh(f"kill -{sig} $$")
        want(r.code == 97 and f"signal: {sig}" in r.err, f"signal {sig}", r)
    r = b.run(["no-such-program-at-all"])
    want(r.code == 127 and "cannot run" in r.out, "a program that is not there", r)


def case_names(b):
    name = "å 文件 \"q\" 'a' $x"
    os.mkdir(f"{b.project}/{name}")
    b.give()
    fine(b.run(["bash", "-c", "pwd; echo x > 'ü.txt'; ls"], cwd=f"{b.project}/{name}"), f"{b.project}/{name}\nü.txt\n")
    fine(b.sh("echo hi > f; cat f", root=f"{b.project}/{name}"), "hi\n")


def case_sub_folder(b):
    os.makedirs(f"{b.project}/a/b")
    b.give()
    fine(b.sh("pwd; touch ../x; touch here", cwd=f"{b.project}/a/b"), f"{b.project}/a/b\n")
    want(b.there("project/a/x"), "the folder above")


def case_reading_elsewhere(b):
    fine(b.sh(f"cat {b.outside}/there; head -1 /etc/passwd >/dev/null; ls / >/dev/null; ls {b.home} >/dev/null"), "as it was")


def case_folder_outside_as_cwd(b):
    fine(b.sh("pwd; cat there", cwd=b.outside), f"{b.outside}\nas it was")


def case_below_tmp(b):
    other = Box(b.kind, b.uid, base="/tmp")
    try:
        fine(other.sh("echo x > f && cat f && mktemp >/dev/null && pwd"), f"x\n{other.project}\n")
        want(other.read("project/f") == "x\n", "written")
    finally:
        other.remove()


def case_below_home(b):
    root = f"{b.home}/src/app"
    os.makedirs(root)
    b.give()
    fine(b.sh("echo x > f && cat f", root=root), "x\n")


def case_project_by_a_link(b):
    os.symlink(b.project, f"{b.base}/link")
    fine(b.sh("echo x > f && cat f && pwd -P", root=f"{b.base}/link"), f"x\n{b.project}\n")


def case_further_folders(b):
    fine(b.sh(f"echo x > {b.outside}/new", ["--add", b.outside]))


def case_git(b):
    for args in (["init", "-q", "."], ["add", "file"], ["commit", "-qm", "first"]):
        b.outside_run("git", *args)
    fine(b.sh("git status --short && echo x > n && git add n && git commit -qm second && git checkout -qb other && git log --oneline | wc -l && "
              "git stash list && git diff HEAD~1 --stat >/dev/null && git branch -q third && git tag t && git gc -q"), "2\n")
    fine(b.sh("git clone -q . $TMPDIR/c && cd $TMPDIR/c && git log --oneline | wc -l"), "2\n")
    b.outside_run("git", "fsck")


def case_compiler(b):
    cc = shutil.which("cc")
    if cc:
        b.write("project/m.c", "int main(void){return 0;}")
        fine(b.sh("cc -o m m.c && ./m && echo built"), "built\n")
        b.write("project/build.ninja", "rule cc\n  command = cc -c $in -o $out\nbuild a.o: cc m.c\nbuild b.o: cc m.c\n")
        if shutil.which("ninja"):
            fine(b.sh("ninja >/dev/null && ls *.o"), "a.o\nb.o\n")


def case_python(b):
    fine(b.py("import subprocess, tempfile, os, threading\n"
              "print(subprocess.run(['echo', 'x'], capture_output=True, text=True).stdout.strip())\n"
              "t = tempfile.TemporaryDirectory(); t.cleanup()\n"
              "threading.Thread(target=lambda: open('t', 'w').write('x')).start()"), "x\n")
    if b.kind == "bwrap":
        fine(b.py("import multiprocessing as m\nq = m.Queue(); p = m.Process(target=q.put, args=(7,)); p.start(); print(q.get()); p.join()\n"
                  "l = m.Lock(); s = m.shared_memory.SharedMemory(create=True, size=10) if hasattr(m, 'shared_memory') else None"), "7\n")


def case_node(b):
    if shutil.which("node", path="/usr/local/bin:/usr/bin:/bin"):
        fine(b.sh("node -e 'const c = require(\"child_process\"), f = require(\"fs\"); f.writeFileSync(\"x\", \"1\"); "
                  "console.log(c.execSync(\"echo hi\").toString().trim()); f.promises.readFile(\"x\").then(t => console.log(String(t)))'"),
             "hi\n1\n")
    if shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin"):
        b.write("project/package.json", '{"name": "p", "version": "1.0.0", "scripts": {"test": "node -e \\"console.log(42)\\""}}')
        r = b.sh("npm test --silent")
        want(r.code == 0 and "42" in r.out, "npm test", r)


def case_background_and_pipes(b):
    fine(b.sh("sleep 0.1 & wait; (echo a; echo b) | sort -r; exec 3< <(echo c); cat <&3; echo d | tee t; cat <<< e"), "b\na\nc\nd\ne\n")


def case_big_output(b):
    r = b.sh("head -c 5000000 /dev/zero | tr '\\0' x")
    want(r.code == 0 and len(r.out) == 5000000, "output is cut")


def case_environment(b):
    r = b.sh("echo $MINE $YARE_SANDBOX; case $TMPDIR in /*) echo ok;; esac", env={"MINE": "kept"})
    fine(r, f"kept {b.kind}\nok\n")


def case_many_at_once(b):
    bad = []

    def one(i):
        r = b.sh(f"echo {i} > n{i}; cat n{i}; exit {i}")
        if r.code != i or r.out != f"{i}\n":
            bad.append(r)
    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    want(not bad, "commands at once", bad[0] if bad else "")
    left = [n for n in os.listdir(b.project) if n.startswith(".")]
    want(not left, f"placeholders were left: {left}")


def case_temporary_folder_goes(b):
    r = b.sh("echo $TMPDIR; mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; chmod 000 $TMPDIR/a/b; ln -s / $TMPDIR/a/root")
    want(not os.path.exists(r.out.strip()), "the temporary folder was left")
    want(os.listdir(b.tmp) == [], f"left in TMPDIR: {os.listdir(b.tmp)}")


@only("bwrap")
def case_tmp_is_kept_between_commands(b):
    mine = f"{b.base}/mine"
    os.mkdir(mine, 0o700)
    b.give()
    b.sh("echo kept > /tmp/x", ["--tmp", mine])
    fine(b.sh("cat /tmp/x $TMPDIR/x", ["--tmp", mine]), "kept\nkept\n")
    want(b.read("mine/x") == "kept\n", "seen from outside")
