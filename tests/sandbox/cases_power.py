"""Signals, tracing, namespaces, mounts, rights of other accounts, the terminal."""
import os
import platform
import shutil
import subprocess

from box import PYTHON, refused, want
from cases_files import only

# Numbers of x86_64, and of aarch64 where it has them.
CALLS = {  # name: (x86_64, aarch64, arguments)
    "ptrace": (101, 117, "0, 0, 0, 0"), "process_vm_readv": (310, 270, "1, 0, 0, 0, 0, 0"),
    "process_vm_writev": (311, 271, "1, 0, 0, 0, 0, 0"), "kcmp": (312, 272, "1, 1, 0, 0, 0"), "pidfd_getfd": (438, 438, "0, 0, 0"),
    "keyctl": (250, 219, "0, -3, 1"), "add_key": (248, 217, "b'user', b'x', b'y', 1, -3"), "request_key": (249, 218, "b'user', b'x', 0, 0"),
    "bpf": (321, 280, "0, 0, 0"), "perf_event_open": (298, 241, "0, 0, -1, -1, 0"), "userfaultfd": (323, 282, "1"),
    "setns": (308, 268, "0, 0"), "mount": (165, 40, "b'x', b'/tmp', b'tmpfs', 0, 0"), "umount2": (166, 39, "b'/', 0"),
    "pivot_root": (155, 41, "b'/', b'/'"), "chroot": (161, 51, "b'/'"), "open_tree": (428, 428, "-100, b'/', 1"),
    "move_mount": (429, 429, "-1, b'', -1, b'', 0"), "fsopen": (430, 430, "b'tmpfs', 0"), "fsconfig": (431, 431, "-1, 0, 0, 0, 0"),
    "fsmount": (432, 432, "-1, 0, 0"), "fspick": (433, 433, "-100, b'/', 0"), "mount_setattr": (442, 442, "-1, b'', 0, 0, 0"),
    "io_uring_setup": (425, 425, "1, 0"), "io_uring_enter": (426, 426, "-1, 0, 0, 0, 0"), "io_uring_register": (427, 427, "-1, 0, 0, 0"),
    "kexec_load": (246, 104, "0, 0, 0, 0"), "init_module": (175, 105, "0, 0, 0"), "finit_module": (313, 273, "-1, 0, 0"),
    "delete_module": (176, 106, "b'x', 0"), "open_by_handle_at": (304, 265, "-1, 0, 0"), "unshare_user": (272, 97, "0x10000000"),
    "unshare_mount": (272, 97, "0x20000"), "clone_user": (56, 220, "0x10000011, 0, 0, 0, 0"), "swapon": (167, 224, "b'x', 0"),
    "reboot": (169, 142, "0, 0, 0, 0"), "sethostname": (170, 161, "b'x', 1"), "acct": (163, 89, "b'x'"), "syslog": (103, 116, "3, 0, 0"),
    "settimeofday": (164, 170, "0, 0"), "fanotify_init": (300, 262, "0, 0"), "quotactl": (179, 60, "0, b'x', 0, 0"),
}
EPERM, ENOSYS = 1, 38
X86 = platform.machine() == "x86_64"


def case_system_calls(b):
    column = 0 if X86 else 1
    script = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    for name, call in CALLS.items():
        script += (f"ctypes.set_errno(0); r = libc.syscall({call[column]}, {call[2]}); "
                   f"print('{name}', r, ctypes.get_errno(), flush=True)\n")
    script += "ctypes.set_errno(0); r = libc.syscall(435, 0, 0); print('clone3', r, ctypes.get_errno())\n"
    r = b.py(script)
    got = {l.split()[0]: l.split()[1:] for l in r.out.splitlines()}
    for name in CALLS:
        want(got.get(name) == ["-1", str(EPERM)], f"{name}: {got.get(name)}", r)
    want(got.get("clone3") == ["-1", str(ENOSYS)], "clone3", r)


def case_other_call_tables(b):
    if X86:
        r = b.py("import ctypes; ctypes.CDLL(None).syscall(0x40000000 | 39); print('went on')")
        want("went on" not in r.out and r.code == 97, "x32 calls", r)


def case_no_rights(b):
    r = b.sh("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
    want("NoNewPrivs:\t1" in r.out and "Seccomp:\t2" in r.out, "no_new_privs or seccomp", r)
    for line in r.out.splitlines():
        want(not line.startswith("Cap") or int(line.split()[1], 16) == 0 or (line.startswith("CapBnd") and b.kind == "landlock" and b.uid),
             f"capabilities: {line}", r)


def case_signals(b):
    sleeper = subprocess.Popen(["sleep", "100"])
    child = None
    try:
        if b.uid is not None:
            child = subprocess.Popen(b.as_account(["sleep", "100"]))
        for p in filter(None, (sleeper, child)):
            r = b.sh(f"kill -0 {p.pid}; kill -9 {p.pid}")
            want(r.code != 0 and p.poll() is None, "an outside process was signalled", r)
        r = b.sh(f"kill -9 -1; sleep 0.1; true")
        want(all(p.poll() is None for p in filter(None, (sleeper, child))), "kill -1 reached outside")
    finally:
        for p in filter(None, (sleeper, child)):
            p.kill()
            p.wait()


def case_other_processes(b):
    p = subprocess.Popen(b.as_account(["env", "SECRET=KEY-OF-ENV", "sleep", "100"]))
    try:
        r = b.sh(f"cat /proc/{p.pid}/environ /proc/{p.pid}/maps; head -c 10 /proc/{p.pid}/mem; ls /proc/{p.pid}/fd /proc/{p.pid}/root/; "
                 f"cat /proc/*/environ | tr '\\0' '\\n' | grep KEY-OF")
        want("KEY-OF" not in r.out, "another process was read", r)
        r = b.py(f"import ctypes; l = ctypes.CDLL(None, use_errno=True); print(l.ptrace(16, {p.pid}, 0, 0))")
        want(r.out.strip() != "0", "attached", r)
    finally:
        p.kill()
        p.wait()


@only("bwrap")
def case_own_processes_only(b):
    r = b.sh("ls /proc | grep -c '^[0-9]'")
    want(int(r.out) < 8, "other processes show", r)
    want(b.sh("kill -9 1; kill -TERM 1; echo alive").out == "alive\n", "the first process can be killed")
    r = b.sh("cat /proc/1/environ; ls /proc/1/fd; cat /proc/1/maps")
    want(r.code != 0, "the first process can be read", r)


def case_user_namespaces(b):
    if shutil.which("unshare"):
        refused(b.sh("unshare -Ur id"), "namespaces")
        want(b.sh("unshare -rm mount -o remount,rw /").code != 0, "mounts in a namespace")
    if shutil.which("bwrap"):
        want(b.sh("bwrap --bind / / true").code != 0, "bwrap in the sandbox")


def case_mounts(b):
    for script in ("mount -o remount,rw /", f"mount -o remount,rw,bind {b.base}", "mount -t tmpfs x /mnt", f"umount {b.project}",
                   f"mount --bind {b.home} {b.project}"):
        want(b.sh(script).code != 0, f"'{script}' worked")
    refused(b.sh("mount -t tmpfs x /mnt"), "mount")


def case_setuid(b):
    """A program that changes the account gives nothing."""
    if os.geteuid() == 0:
        path = shutil.copy("/usr/bin/id", f"{b.outside}/suid")
        os.chown(path, 0, 0)
        os.chmod(path, 0o4755)
        if b.uid is not None:
            want(b.sh(f"{path} -u").out.strip() == str(b.uid), "another account's rights")
    r = b.py("import os; os.setuid(12345 if os.getuid() != 12345 else 1)")
    want(r.code != 0, "another account", r)
    if shutil.which("sudo"):
        refused(b.sh("sudo -n true"), "rights")


def case_set_id(b):
    """A program in the project that gives this account's rights to whoever starts it would outlive the command."""
    calls = [f"os.chmod('{b.project}/file', 0o4755)", "os.fchmod(os.open('file', os.O_RDONLY), 0o4755)",
             "os.chmod('file', 0o4755, dir_fd=os.open('.', os.O_RDONLY))",
             "[ctypes.CDLL(None).syscall(n, -100, b'file', 0o4755, 0) for n in (452, 268 if os.uname().machine == 'x86_64' else 53)]",
             "os.close(os.open('made', os.O_CREAT | os.O_WRONLY, 0o4755)); f = open('made', 'w'); f.write('x')"]
    for call in calls:
        b.py(f"import ctypes, os\n{call}")
        for name in ("file", "made"):
            want(not b.there(f"project/{name}") or not os.stat(f"{b.project}/{name}").st_mode & 0o4000, f"{call}: set-user-ID")
    if os.geteuid() == 0 and b.uid is None:
        b.sh("chmod 2755 file")
        want(not os.stat(f"{b.project}/file").st_mode & 0o2000, "set-group-ID of the superuser's group")
    want(b.sh("chmod 0755 file && mkdir d && chmod 1777 d && chmod -R u+w d").code == 0, "ordinary modes")
    refused(b.sh("chmod u+s file"), "set-user-ID")


def case_terminal_input(b):
    """TIOCSTI would type on a terminal. The filter refuses it before anything looks at the descriptor."""
    r = b.py("import fcntl, os, termios\ntry: fcntl.ioctl(os.pipe()[0], termios.TIOCSTI, b'x')\nexcept OSError as e: print(e.errno)")
    want(r.out.strip() == "1", "TIOCSTI", r)


def case_other_terminals(b):
    """Those of this account: what a person types there is not to be read, what they read not to be written."""
    ours, theirs = os.openpty()
    try:
        name = os.ttyname(theirs)
        if b.uid is not None:
            os.chown(name, b.uid, b.uid)
        for mode in ("O_RDONLY | os.O_NONBLOCK", "O_WRONLY", "O_RDWR | os.O_NOCTTY"):
            r = b.py(f"import os\nf = os.open('{name}', os.{mode})\nprint('opened')\nos.write(f, b'\\033]0;x\\007')")
            want("opened" not in r.out, f"a terminal was opened, {mode}", r)
        r = b.py("import glob, os\nfor n in glob.glob('/dev/pts/[0-9]*') + glob.glob('/dev/tty?*') + glob.glob('/dev/vcs*'):\n"
                 "    try: print(n, os.open(n, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))\n    except OSError: pass")
        want(r.out == "", "terminals that can be read", r)
    finally:
        os.close(ours)
        os.close(theirs)


def case_own_terminals(b):
    """Tests of a project that make a terminal of their own work, where it can be told from the others."""
    r = b.py("import os; m, s = os.openpty(); os.write(m, b'a\\n'); print(os.read(s, 9))")
    want((r.code == 0) == (b.kind == "bwrap"), "a terminal of its own", r)


def case_own_session(b):
    r = b.py("import os; print(os.getsid(0), os.getpid(), os.getppid())\ntry: open('/dev/tty')\nexcept OSError as e: print('no tty')")
    want("no tty" in r.out, "a terminal", r)


@only("landlock")
def case_older_kernels(b):
    """What each ABI promises, and no more is asked of it."""
    for abi in range(1, 7):
        env = {"YARE_TEST_LANDLOCK_ABI": str(abi)}
        r = b.sh(f"echo a > f && mv f g && mkdir -p d && cat g; echo x > {b.outside}/new; cat {b.home}/.netrc; mv g {b.outside}/; "
                 f"rm {b.outside}/there; ln {b.outside}/there h", env=env)
        want(r.out.startswith("a\n") and "KEY-OF" not in r.out, f"ABI {abi}", r)
        want(b.read("outside/there") == "as it was" and os.listdir(b.outside) == ["there"], f"ABI {abi} wrote outside", r)
        r = b.py("import socket; socket.create_connection(('127.0.0.1', 9))", env=env)
        want("Operation not permitted" in r.out or "PermissionError" in r.out, f"ABI {abi}: a socket", r)
        if abi >= 3:
            b.py(f"import os; os.truncate('{b.outside}/there', 0)", env=env)
            want(b.read("outside/there") == "as it was", f"ABI {abi} emptied a file outside")
        if abi >= 2:
            want(b.sh("mkdir -p k && echo x > y && mv y k/y && cat k/y", env=env).out == "x\n", f"ABI {abi}: between folders")


def case_no_undo_of_landlock(b):
    """Who may add rules may only add walls."""
    want(b.sh("echo x > /etc/yare-was-here").code != 0, "written")
    want(not os.path.exists("/etc/yare-was-here"), "there")


def case_fails_closed(b):
    """A plan that cannot be kept is no command that runs."""
    for args in ([b.tool, "--confine", "/nonexistent", "--", "touch", f"{b.project}/ran"],
                 [b.tool, "--confine", "/dev/null", "--", "touch", f"{b.project}/ran"]):
        r = subprocess.run(b.as_account(args), capture_output=True, text=True, env=b.environment())
        want(r.returncode == 125 and "sandbox could not be set up" in r.stderr, f"{r}")
    plan = b.write("plan", f"kind={b.kind}\0newlimit=1\0bwrap-args\0")
    r = subprocess.run(b.as_account([b.tool, "--confine", plan, "--", "touch", f"{b.project}/ran"]), capture_output=True, env=b.environment())
    want(r.returncode == 125, "a limit that is not understood was passed over")
    if b.kind == "bwrap":
        plan = b.write("plan", "kind=bwrap\0bwrap=/usr/bin/bwrap\0net=0\0bwrap-args\0--ro-bind\0/nonexistent\0/x\0")
        r = subprocess.run(b.as_account([b.tool, "--confine", plan, "--", "touch", f"{b.project}/ran"]), capture_output=True,
                           env=b.environment())
        want(r.returncode == 125, "ran without bubblewrap")
    want(not b.there("project/ran"), "it ran")
