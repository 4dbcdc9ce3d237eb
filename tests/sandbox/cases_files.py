"""Writes outside, reads of secrets."""
import os

from box import PYTHON, refused, want


def only(*kinds):
    def mark(f):
        f.kinds = kinds
        return f
    return mark


def untouched(b):
    want(b.read("outside/there") == "as it was", "the file outside was changed")
    want(os.listdir(b.outside) == ["there"], f"something came to be outside: {os.listdir(b.outside)}")


def case_write_direct(b):
    refused(b.sh(f"echo x > {b.outside}/new"), b.outside, "allowWrite")
    untouched(b)


def case_write_over(b):
    refused(b.sh(f"echo x >> {b.outside}/there"), "allowWrite")
    untouched(b)


def case_write_home(b):
    refused(b.sh(f"echo x >> {b.home}/.bashrc"), "allowWrite")
    want(b.read("home/.bashrc") == "# mine\n", "the start-up file was changed")


def case_write_by_link(b):
    refused(b.sh(f"ln -s {b.outside}/new link && echo x > link"), "allowWrite")
    untouched(b)


def case_write_by_folder_link(b):
    refused(b.sh(f"ln -s {b.outside} d && touch d/new"), "allowWrite")
    untouched(b)


def case_write_by_links_made_before(b):
    os.symlink(b.outside, f"{b.project}/d")
    refused(b.sh("echo x > d/there"), "allowWrite")
    untouched(b)


def case_write_by_hard_link(b):
    r = b.sh(f"ln {b.outside}/there h && echo x > h")
    want(r.code != 0, "a hard link to a file outside", r)
    untouched(b)


def case_move_out(b):
    want(b.sh(f"mv file {b.outside}/").code != 0, "moved out")
    untouched(b)


def case_move_in(b):
    b.sh(f"mv {b.outside}/there .")
    untouched(b)


def case_remove(b):
    want(b.sh(f"rm -f {b.outside}/there").code != 0, "removed outside")
    untouched(b)


def case_rename_folder_outside(b):
    b.sh(f"mv {b.outside} {b.base}/elsewhere")
    untouched(b)


def case_truncate(b):
    b.py(f"import os; os.truncate('{b.outside}/there', 0)")
    untouched(b)


@only("bwrap")
def case_modes_and_times(b):
    before = os.stat(f"{b.outside}/there")
    b.sh(f"chmod 777 {b.outside}/there; touch -d 2001-01-01 {b.outside}/there; setfattr -n user.x -v y {b.outside}/there")
    after = os.stat(f"{b.outside}/there")
    want((before.st_mode, before.st_mtime) == (after.st_mode, after.st_mtime), "mode or time changed outside")


def case_write_by_proc_root(b):
    want(b.sh(f"echo x > /proc/self/root{b.outside}/new").code != 0, "written through /proc/self/root")
    untouched(b)


def case_write_by_descriptor(b):
    r = b.sh(f"exec 9< {b.outside} && echo x > /proc/self/fd/9/new")
    want(r.code != 0, "written through a folder's descriptor", r)
    untouched(b)


def case_reopen_read_only(b):
    r = b.py(f"import os; a = os.open('{b.outside}/there', os.O_RDONLY); "
             "b = os.open(f'/proc/self/fd/{a}', os.O_WRONLY); os.write(b, b'x')")
    want(r.code != 0, "opened again for writing", r)
    untouched(b)


def case_open_beneath_descriptor(b):
    r = b.py(f"import os; d = os.open('{b.outside}', os.O_RDONLY); os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=d)")
    want(r.code != 0, "openat", r)
    untouched(b)


def case_map_shared(b):
    r = b.py(f"import os, mmap; f = os.open('{b.outside}/there', os.O_RDONLY); "
             "m = mmap.mmap(f, 0, prot=mmap.PROT_READ | mmap.PROT_WRITE); m[0:1] = b'X'")
    want(r.code != 0, "mapped for writing", r)
    untouched(b)


def case_descriptors_of_the_starter(b):
    """Nothing but the three standard streams comes in."""
    r = b.sh("ls /proc/self/fd")
    want(r.out.split() == ["0", "1", "2", "3"], "more descriptors than expected (3 is ls's own)", r)


def case_devices(b):
    for path in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda"):
        r = b.sh(f"[ -c {path} ] || [ -b {path} ] && : >> {path}")
        want(r.code != 0, f"{path} can be opened", r)


def case_read_devices(b):
    """The disks hold what the file system hides, and shared memory is other programs'."""
    r = b.py("import glob, os\nfor n in glob.glob('/dev/*') + glob.glob('/dev/*/*'):\n"
             "    if os.path.islink(n) or n.startswith('/dev/fd/') or os.path.basename(n) in ('null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx'): continue\n"
             "    if not os.path.isdir(n):\n"
             "        try: print(n, os.open(n, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))\n        except OSError: pass")
    want(r.out == "", "devices that can be read", r)
    name = f"/dev/shm/yare-{os.path.basename(b.base)}"
    with open(name, "w", encoding="utf-8") as f:
        f.write("KEY-OF-SHM")
    os.chmod(name, 0o644)
    try:
        want("KEY-OF" not in b.sh(f"cat {name}").out, "shared memory was read")
    finally:
        os.unlink(name)
    want(b.sh("head -c 4 /dev/urandom | wc -c; : > /dev/null; head -c 2 /dev/zero | wc -c").out.split() == ["4", "2"], "ordinary devices")


def case_make_device(b):
    r = b.sh("mknod d b 254 0 && head -c 1 d")
    want(r.code != 0, "a block device was made and read", r)
    want(b.sh("mknod /dev/x c 1 1 && head -c1 /dev/x").code != 0, "a device in /dev")


def case_kernel_settings(b):
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/proc/sys/vm/swappiness"):
        want(b.sh(f": >> {path}").code != 0, f"{path} can be opened for writing")
    r = b.sh("for f in $(find /proc /sys -xdev -writable -not -type l -not -path '/proc/[0-9]*' 2>/dev/null); do { : >> $f; } 2>/dev/null && echo $f; done; true")
    # What another account may still write are the settings of the command's own namespaces.
    want(r.out == "" or b.uid is not None, "the kernel's files can be written", r)
    want(b.sh("mkdir /sys/fs/cgroup/memory/x || mkdir /sys/fs/cgroup/x").code != 0, "a cgroup was made")


def case_shared_memory(b):
    name = f"yare-{os.path.basename(b.base)}"
    b.sh(f"echo x > /dev/shm/{name}")
    there = os.path.exists(f"/dev/shm/{name}")
    if there:
        os.unlink(f"/dev/shm/{name}")
    want(not there, "a file came to be in the machine's /dev/shm")


def case_tmp(b):
    name = f"yare-{os.path.basename(b.base)}"
    r = b.sh(f"echo x > /tmp/{name}; cat /tmp/{name}")
    want(not os.path.exists(f"/tmp/{name}"), "a file came to be in the machine's /tmp")
    if b.kind == "bwrap":
        want(r.out == "x\n", "/tmp is of no use", r)


@only("bwrap")
def case_other_tmp(b):
    """What others keep in /tmp is not to be seen, and it is said where it is."""
    path = f"/tmp/yare-{os.path.basename(b.base)}"
    with open(path, "w", encoding="utf-8") as f:
        f.write("theirs")
    try:
        refused(b.sh(f"cat {path}"), "/tmp is the commands' own folder")
    finally:
        os.unlink(path)


# ---- reads ----

SECRETS = {"home/.ssh/id_ed25519": "KEY-OF-SSH", "home/.aws/credentials": "KEY-OF-AWS", "home/.netrc": "KEY-OF-NETRC",
           "home/server.pem": "KEY-OF-PEM", "data/auth.json": "KEY-OF-YARE", "config/settings.json": "KEY-OF-CONFIG"}


def case_secrets(b):
    for name, text in SECRETS.items():
        r = b.sh(f"cat {b.base}/{name}")
        want(text not in r.out, f"{name} was read", r)
        refused(r, "hides", "allowRead")


def case_secrets_by_all_means(b):
    b.sh(f"ln {b.home}/.netrc h; ln -s {b.home}/.ssh s; cp -r {b.home} copy")
    r = b.sh(f"cat h s/* copy/.ssh/* copy/.netrc /proc/self/root{b.home}/.netrc; grep -r KEY-OF {b.base}; "
             f"tar c {b.home} | cat; cd {b.home}/.ssh && cat id_ed25519")
    want("KEY-OF" not in r.out, "a secret was read", r)
    found = [p for p, _, fs in os.walk(b.project) for f in fs if "KEY-OF" in open(os.path.join(p, f), errors="replace").read()]
    want(not found, f"a secret was copied to {found}")


def case_secret_behind_a_link(b):
    """~/.gnupg kept elsewhere by way of a link."""
    b.write("outside2/ring", "KEY-OF-RING")
    os.symlink(f"{b.base}/outside2", f"{b.home}/.gnupg")
    r = b.sh(f"cat {b.home}/.gnupg/ring {b.base}/outside2/ring")
    want("KEY-OF" not in r.out, "read behind the link", r)


def case_environ_of_others(b):
    r = b.sh(f"cat /proc/{os.getpid()}/environ")
    want(r.code != 0, "another process's environment was read", r)


def case_shadow(b):
    r = b.sh("cat /etc/shadow")
    want(r.code != 0 and "root:" not in r.out, "/etc/shadow was read", r)


def case_deny_read_setting(b):
    options = b.settings(filesystem={"denyRead": [b.outside], "allowRead": [f"{b.home}/.aws"]})
    r = b.sh(f"cat {b.outside}/there", options)
    want("as it was" not in r.out, "denyRead", r)
    refused(r, "hides", b.outside)
    want(b.sh(f"cat {b.home}/.aws/credentials", options).out == "KEY-OF-AWS", "allowRead shows it")


def case_deny_rule(b):
    refused(b.sh(f"cat {b.outside}/there", ["--deny", f"Read(/{b.outside}/**)"]), "hides")
    refused(b.sh(f"cat {b.home}/.bashrc", ["--deny", "Read(~/.bashrc)"]), "hides")


@only("bwrap")
def case_deny_in_project(b):
    b.write("project/.env", "KEY-OF-ENV")
    b.write("project/deep/er/.env", "KEY-OF-DEEP")
    b.write("project/private/x", "KEY-OF-PRIVATE")
    options = ["--deny", "Read(.env)", "--deny", "Read(./private/**)"]
    r = b.sh("cat .env deep/er/.env private/x", options)
    want("KEY-OF" not in r.out, "read in the project", r)
    refused(r, "hides", ".env")
    r = b.sh("mv deep shallow; cat shallow/er/.env; mv .env e; cat e; rm -f .env; cp -r . $TMPDIR/c; cat $TMPDIR/c/.env", options)
    want("KEY-OF" not in r.out, "read after a move", r)
    want(b.read("project/.env") == "KEY-OF-ENV", "the denied file was changed")


@only("bwrap")
def case_edit_deny_and_deny_write(b):
    b.write("project/kept/a", "kept")
    b.write("project/also", "kept")
    options = [*b.settings(filesystem={"denyWrite": ["kept"]}), "--deny", "Edit(./also)"]
    refused(b.sh("echo x > kept/a", options), "read-only")
    refused(b.sh("echo x > also", options), "read-only")
    want(b.sh("cat kept/a also", options).out == "keptkept", "reading is fine")
    want(b.read("project/kept/a") + b.read("project/also") == "keptkept", "changed")


def case_allow_write(b):
    options = b.settings(filesystem={"allowWrite": [b.outside]})
    want(b.sh(f"echo x > {b.outside}/new", options).code == 0, "allowWrite")
    r = b.sh(f"echo x > {b.outside}/newer", [*options, "--untrusted"])
    want(r.code == 0, "settings given on the command line count in an untrusted folder too", r)


@only("bwrap")
def case_allow_write_opens_nothing_protected(b):
    os.makedirs(f"{b.project}/.claude")
    b.give()
    options = b.settings(filesystem={"allowWrite": [".claude", "//"]})
    want(b.sh("echo x > .claude/settings.json", options).code != 0, "a protected folder was opened")
    want(b.sh(f"echo x > {b.outside}/new", options).code != 0, "the whole system was opened")


def case_kept_output(b):
    """The session's kept output can be read, and the one file that the caller names be written."""
    b.write("data/spill/out.txt", "kept output")
    own = b.write("data/spill/.cwd", "")
    r = b.sh(f"cat {b.base}/data/spill/out.txt; echo here > {own}; echo x > {b.base}/data/spill/out.txt",
             ["--spill", f"{b.base}/data/spill", "--own", own])
    want("kept output" in r.out and b.read("data/spill/.cwd") == "here\n", "kept output or own file", r)
    want(b.read("data/spill/out.txt") == "kept output", "kept output was changed")
    r = b.sh(f"ls {b.base}/data; cat {b.base}/data/auth.json", ["--spill", f"{b.base}/data/spill"])
    want("KEY-OF" not in r.out, "a hole shows more than itself", r)


def case_root_is_not_taken_from_the_command(b):
    want(b.sh(f"cd {b.outside} && echo x > new").code != 0, "cd widened the sandbox")
    untouched(b)


def case_no_false_blame(b):
    """Trouble that is there without the sandbox too is not the sandbox's."""
    b.write("project/locked", "x", 0o444)
    os.makedirs(f"{b.project}/dir")
    b.give()
    for script in ("cat nowhere", "cat /nowhere/x", "false", "ls /root/nothing-there/x", "echo x > dir", "exit 3",
                   "grep -q nothing file", "echo 'Permission denied'; exit 1", "echo 'error: x: No such file or directory'; exit 2",
                   "cd /proc/1/nowhere"):
        r = b.sh(script)
        want(r.code != 0 and not r.explained, f"blamed for '{script}'", r)
    r = b.sh("echo 'Read-only file system: Network is unreachable'")
    want(r.code == 0 and not r.explained, "blamed for a success", r)
    if b.uid is not None:
        r = b.sh("echo x > locked; cat /etc/sudoers")
        want(not r.explained, "blamed for a mode", r)
