"""What the end-to-end tests share: the real yare under a tmux server of the test's own, or in print mode, against a
loopback model server.  Conditions are waited for, never slept for.  Only processes that a test started are ended."""
import itertools
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
YARE = os.environ.get("YARE_BIN") or os.path.join(HERE, "../../build/dev/yare")
YARE = os.path.abspath(YARE)
SERVER = os.path.join(HERE, "../fakes/model_server.py")
# Sanitizer builds on a busy machine are slow; a limit is only there so that a broken run ends.
LIMIT = float(os.environ.get("YARE_TEST_LIMIT", "60"))


SOCKETS = itertools.count()


class Failed(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failed(" ".join(str(w) for w in what))


def wait_until(condition, what, limit=LIMIT):
    """Polls until condition() is true; what may be a function that describes the state."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed("waited %g s for %s" % (limit, what() if callable(what) else what))
        select.select([], [], [], 0.02)


class World:
    """A throw-away home and project."""

    def __init__(self, trust=True):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="yare-e2e-"))
        self.home = self.top + "/home"
        self.project = self.top + "/proj"
        os.makedirs(self.home)
        os.makedirs(self.project + "/src")
        self.write("src/parse.c", "int next_token(void)\n{\n    return 1;\n}\n")
        self.write("README.md", "# demo\nThe parser lives in src.\n")
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color",
                    "XDG_CONFIG_HOME": self.home + "/.config", "XDG_DATA_HOME": self.home + "/.local/share",
                    "YARE_LOCAL_SERVERS": ""}  # what runs on the tester's machine is no part of a test
        for k in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "YARE_LOG"):
            if k in os.environ:
                self.env[k] = os.environ[k]
        if trust:
            self.trust()

    def write(self, path, text):
        full = os.path.join(self.project, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as f:
            f.write(text)

    def read(self, path):
        with open(os.path.join(self.project, path)) as f:
            return f.read()

    def exists(self, path):
        return os.path.exists(os.path.join(self.project, path))

    def trust(self):
        run = self.print_mode("help", "--trust", "--provider", "offline")
        check(run.returncode == 0, "--trust run failed:", run.stderr)

    def print_mode(self, prompt, *args, **kw):
        env = dict(self.env, **kw.pop("env", {}))
        return subprocess.run([YARE, "-p", *args, prompt], cwd=self.project, env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT, **kw)

    def journals(self):
        found = []
        for folder, _, files in os.walk(self.home + "/.local/share/yare/projects"):
            found += [os.path.join(folder, f) for f in files
                      if re.fullmatch(r"[0-9a-f-]{36}\.jsonl", f)]
        return sorted(found, key=os.path.getmtime)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Screen:
    """One program in one pane of a tmux server that this object owns."""

    def __init__(self, world, width, height, args=(), env=None, shell=False):
        self.world = world
        # a server that was told to end may still be there when the next screen of the same world begins
        self.socket = world.top + "/tmux%d.sock" % next(SOCKETS)
        env = dict(world.env, **(env or {}))
        words = ["env", "-i"] + ["%s=%s" % kv for kv in sorted(env.items())]
        words += ["bash", "--norc", "--noprofile"] if shell else [YARE, *args]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "-c", world.project,
                  " ".join(quote(w) for w in words), ";", "set-option", "-g", "remain-on-exit", "on", ";",
                  "set-option", "-s", "escape-time", "10", ";", "set-option", "-g", "status", "off", ";",
                  "resize-window", "-x", str(width), "-y", str(height))

    def tmux(self, *args, **kw):
        run = subprocess.run(["tmux", "-S", self.socket, *args], capture_output=True, text=True,
                             env=dict(self.world.env, TERM="xterm-256color"), **kw)
        if run.returncode != 0:
            raise Failed("tmux %s: %s" % (args[0], run.stderr.strip()))
        return run.stdout

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def type(self, text):
        self.tmux("send-keys", "-l", "--", text)

    def paste(self, text):
        self.tmux("load-buffer", "-", input=text)
        self.tmux("paste-buffer", "-p")

    def say(self, text):
        """Types a prompt and sends it once the screen shows it."""
        self.type(text)
        self.wait_for(re.escape(text[-10:]))
        self.keys("Enter")

    def answer(self, key):
        """Answers the request in the permission pane.  Keys within 300 ms after a new one took the pane are ignored, so this waits
        until the pane says that it stands there for a second."""
        self.wait_for(r"waited [1-9]")
        self.keys("M-3")
        self.type(key)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, pattern, limit=LIMIT):
        return wait_until(lambda: re.search(pattern, self.text()),
                          lambda: "/%s/ on the screen:\n%s" % (pattern, self.text()), limit)

    def wait_gone(self, pattern, limit=LIMIT):
        return wait_until(lambda: not re.search(pattern, self.text()),
                          lambda: "/%s/ to leave the screen:\n%s" % (pattern, self.text()), limit)

    def wait_idle(self):
        """No turn runs: the spinner has left the status line."""
        return self.wait_gone("[\u280b\u2819\u2839\u2838\u283c\u2834\u2826\u2827\u2807\u280f]")

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def dead(self):
        return self.tmux("display-message", "-p", "#{pane_dead}").strip() == "1"

    def exit_status(self):
        """Of the program; minus the signal where one ended it."""
        wait_until(self.dead, lambda: "the program to end:\n" + self.text())
        query = ("display-message", "-p", "#{pane_dead_status}/#{pane_dead_signal}")
        # tmux 3.3 now and then sleeps through a child's end (it stays a zombie); the end of another one wakes it.
        wait_until(lambda: self.tmux(*query).strip() != "/" or self.tmux("run-shell", "true"), "the exit status")
        status, sig = self.tmux(*query).strip().split("/")
        return int(status) if status else -int(sig)

    def pid(self):
        return int(self.tmux("display-message", "-p", "#{pane_pid}").strip())

    def close(self):
        try:
            self.tmux("kill-server")
        except Failed:
            pass


def thread_sanitizer():
    """Whether the program under test was built with ThreadSanitizer."""
    with open(YARE, "rb") as f:
        return b"__tsan_init" in f.read()


def quote(word):
    return "'" + word.replace("'", "'\\''") + "'"


class Server:
    """The loopback model server with a script; `requests()` gives what it was sent."""

    def __init__(self, world, script, *args):
        self.log = world.top + "/requests.jsonl"
        path = world.top + "/script.json"
        with open(path, "w") as f:
            json.dump(script, f)
        self.process = subprocess.Popen([sys.executable, SERVER, "--script", path, "--log", self.log, "--port", "0",
                                         *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().strip()
        check(line, "the model server did not start")
        self.port = int(re.search(r"\d+$", line).group())
        self.env = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % self.port, "ANTHROPIC_API_KEY": "test-key"}

    def requests(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as f:
            return [json.loads(line) for line in f if line.strip()]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=LIMIT)


class LocalServer:
    """A stand-in for a model server of the person's own; see tests/fakes/local_server.py for the routes."""

    def __init__(self, world, routes):
        number = len([f for f in os.listdir(world.top) if f.startswith("local-")])
        self.log = "%s/local-%d.jsonl" % (world.top, number)
        path = "%s/local-%d.json" % (world.top, number)
        with open(path, "w") as f:
            json.dump(routes, f)
        open(self.log, "w").close()
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "../fakes/local_server.py"), "--routes", path,
                                         "--log", self.log], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = "http://127.0.0.1:%d" % self.port

    def requests(self):
        with open(self.log) as f:
            return [json.loads(line) for line in f if line.strip()]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=LIMIT)


def descendants(pid):
    """Every process below pid now, by /proc."""
    children = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                rest = f.read().rsplit(")", 1)[1].split()
            children.setdefault(int(rest[1]), []).append(int(name))
        except (OSError, IndexError):
            continue
    found, todo = [], [pid]
    while todo:
        for c in children.get(todo.pop(), []):
            found.append(c)
            todo.append(c)
    return found


def processes_with(marker):
    """Processes whose command line holds the marker (a word no other test uses)."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open("/proc/%s/cmdline" % name, "rb") as f:
                    if marker.encode() in f.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


def main(*tests):
    """Runs the tests; prints one line each and a count; exit status 1 when one failed."""
    failed = 0
    only = sys.argv[1:]
    tests = [t for t in tests if not only or t.__name__ in only]
    for test in tests:
        try:
            test()
            print("ok   " + test.__name__)
        except (Failed, subprocess.TimeoutExpired) as e:
            failed += 1
            print("FAIL %s: %s" % (test.__name__, e))
    print("%d passed, %d failed" % (len(tests) - failed, failed))
    sys.exit(1 if failed else 0)
