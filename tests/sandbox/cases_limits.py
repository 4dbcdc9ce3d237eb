"""Memory, processes, size of files, time; and that a killed command leaves nobody behind. Bombs here are bounded: should a limit not
hold, they end by themselves."""
import fcntl
import functools
import os
import time

from box import PYTHON, Failed, refused, want

BOMB = """
import os, sys, time
made = 0
for i in range(300):
    try:
        pid = os.fork()
    except OSError as e:
        print(e, file=sys.stderr); sys.exit(1)
    if pid == 0:
        time.sleep(20); os._exit(0)
    made += 1
print("made", made)
time.sleep(5)
"""
HOG = "import sys\nb = []\nfor i in range(400): b.append(bytearray(1 << 20))\nprint('held', len(b)); import time; time.sleep(5)"
NO_CGROUP = {"YARE_TEST_NO_CGROUP": "1"}


def bomb(case):
    """One at a time, whoever runs this suite on the machine: processes are counted by account, so that a bomb beside takes those which the
    sandbox of this one needs before its command begins."""
    @functools.wraps(case)
    def alone(b):
        with open(__file__, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            case(b)
    return alone


def alive(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read():
                    with open(f"/proc/{pid}/cmdline", "rb") as c:
                        found.append((int(pid), c.read().replace(b"\0", b" ")))
        except OSError:
            pass
    return found


def none_alive(mark):
    for _ in range(200):
        if not alive(mark):
            return
        time.sleep(0.05)
    raise Failed(f"still alive: {alive(mark)}")


@bomb
def case_processes(b):
    refused(b.py(BOMB, b.settings(limits={"processes": 40})), "40 processes", "sandbox.limits.processes")


@bomb
def case_processes_counted(b):
    refused(b.py(BOMB, b.settings(limits={"processes": 40}), env=NO_CGROUP), "40 processes", "sandbox.limits.processes")


@bomb
def case_processes_without_end(b):
    """Refusing is not enough for what goes on trying: it is ended."""
    script = ("import os, time\nend = time.monotonic() + 60\nn = 0\nwhile time.monotonic() < end:\n    try:\n        if n < 100 and os.fork() == 0:\n"
              "            time.sleep(60); os._exit(0)\n        n += 1\n    except OSError: time.sleep(0.01)")
    start = time.monotonic()
    r = b.py(script, b.settings(limits={"processes": 40}))
    refused(r, "40 processes")
    want(time.monotonic() - start < 50, "it was let go on", r)


def case_memory(b):
    refused(b.py(HOG, b.settings(limits={"memoryMB": 100})), "100 MB", "sandbox.limits.memoryMB")


def case_memory_counted(b):
    refused(b.py(HOG, b.settings(limits={"memoryMB": 100}), env=NO_CGROUP), "100 MB", "sandbox.limits.memoryMB")


def case_file_size(b):
    options = b.settings(limits={"fileMB": 3})
    refused(b.sh("head -c 20000000 /dev/zero > big", options), "3 MB", "sandbox.limits.fileMB")
    want(os.path.getsize(f"{b.project}/big") <= 3 << 20, "too large")
    refused(b.sh("truncate -s 10G sparse", options), "3 MB", "sandbox.limits.fileMB")
    want(not b.there("project/sparse") or os.path.getsize(f"{b.project}/sparse") <= 3 << 20, "too large, sparse")
    refused(b.py("f = open('x', 'wb'); f.seek(1 << 33); f.write(b'x'); f.close()", options), "3 MB")


def case_file_size_by_default(b):
    refused(b.sh("truncate -s 10G sparse"), "4096 MB", "sandbox.limits.fileMB")


def case_time(b):
    refused(b.sh("while :; do :; done", b.settings(limits={"cpuSeconds": 1})), "sandbox.limits.cpuSeconds")


def case_core(b):
    want(b.sh("ulimit -c; ulimit -Hc").out.split() == ["0", "0"], "core dumps")


def case_limits_cannot_be_raised(b):
    options = b.settings(limits={"fileMB": 3, "cpuSeconds": 5})
    r = b.sh("ulimit -f unlimited; ulimit -f", options)
    want(r.out.strip() != "unlimited", "raised", r)


def case_survivors(b):
    """Everything ends with the command's tree, whatever it did to its parents, sessions and signals."""
    mark = f"YARE_MARK={os.path.basename(b.base)}"
    script = ("(setsid sleep 100 &) ; (nohup sleep 100 >/dev/null 2>&1 &); (trap '' TERM INT HUP; sleep 100 & wait) & "
              f"{PYTHON} -c 'import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(100)' & "
              "touch started; sleep 100")
    p = b.start(["env", mark, "bash", "-c", script], ["--kill-once", f"{b.project}/started"], env={"YARE_MARK": mark.split("=")[1]})
    p.communicate(timeout=90)
    want(b.there("project/started") and p.returncode == 98, "it was not ended while it ran")
    none_alive(mark)


def case_survivors_of_a_shot_starter(b):
    """The program that started it is killed: the tree goes too."""
    mark = f"YARE_MARK={os.path.basename(b.base)}"
    p = b.start(["env", mark, "bash", "-c", "(setsid sleep 100 &); touch started; sleep 100"])
    end = time.monotonic() + 90
    while not b.there("project/started") and time.monotonic() < end:
        time.sleep(0.02)
    want(b.there("project/started") and p.poll() is None, "it did not start")
    p.kill()
    p.communicate(timeout=60)
    none_alive(mark)


def case_background_after_the_end(b):
    """The command's own end is told at once; what it left goes on until the tree is ended."""
    mark = f"YARE_MARK={os.path.basename(b.base)}"
    start = time.monotonic()
    r = b.sh(f"{mark} sleep 50 >/dev/null 2>&1 & echo fine; exit 4")
    want(r.code == 4 and r.out == "fine\n" and time.monotonic() - start < 40, "the end is not told", r)
    none_alive(mark)
