"""A folder with a project, a home and secrets in it, and commands run in the sandbox there."""
import json
import os
import shutil
import signal
import subprocess
import tempfile

TOOL = os.environ["SANDBOX_TOOL"]
# One that every account can run; the interpreter of a test runner may lie in a closed home.
PYTHON = next((p for p in ("/usr/bin/python3", "/usr/local/bin/python3") if os.path.exists(p)), None)
NOBODY = 65534
COPY = None  # of TOOL, where every account can run it; made before there are threads, for a forked child would hold it open


class Failed(Exception):
    pass


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.explained = "\n".join(l[9:] for l in err.splitlines() if l.startswith("explain: "))

    def __str__(self):
        return f"ended with {self.code}\n--- output\n{self.out}\n--- error\n{self.err}"


class Box:
    """kind: the back end; uid None: this account."""

    def __init__(self, kind, uid=None, base="/var/tmp"):
        self.kind, self.uid = kind, uid
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="yare-box-", dir=base))
        self.tool = TOOL
        self.env = {}
        for name in ("project", "home", "home/.ssh", "home/.aws", "outside", "data", "config", "tmp"):
            os.makedirs(f"{self.base}/{name}")
        self.write("home/.ssh/id_ed25519", "KEY-OF-SSH")
        self.write("home/.aws/credentials", "KEY-OF-AWS")
        self.write("home/.netrc", "KEY-OF-NETRC")
        self.write("home/server.pem", "KEY-OF-PEM")
        self.write("home/.bashrc", "# mine\n")
        self.write("data/auth.json", "KEY-OF-YARE")
        self.write("config/settings.json", "KEY-OF-CONFIG")
        self.write("outside/there", "as it was")
        self.write("project/file", "text\n")
        self.project, self.home, self.outside = (f"{self.base}/{n}" for n in ("project", "home", "outside"))
        self.tmp = f"{self.base}/tmp"
        if uid is not None:
            self.tool = COPY or TOOL
            self.give()

    def give(self):
        """All that is in the box to the account that runs in it."""
        if self.uid is None:
            return
        for top, dirs, files in os.walk(self.base):
            for name in [*dirs, *files, "."]:
                os.lchown(os.path.join(top, name), self.uid, self.uid)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        if getattr(self, "uid", None) is not None:
            os.lchown(path, self.uid, self.uid)
        return path

    def read(self, name):
        with open(os.path.join(self.base, name), encoding="utf-8") as f:
            return f.read()

    def there(self, name):
        return os.path.lexists(os.path.join(self.base, name))

    def settings(self, **sandbox):
        return ["--settings", self.write("settings.json", json.dumps({"sandbox": sandbox}))]

    def args(self, options=(), root=None, cwd=None):
        root = root or self.project
        return [self.tool, self.kind, root, "--home", self.home, "--data", f"{self.base}/data", "--config",
                f"{self.base}/config", "--cwd", cwd or root, *options]

    def environment(self, extra=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("YARE_", "GIT_"))}
        env |= {"HOME": self.home, "TMPDIR": self.tmp, "ASAN_OPTIONS": "detect_leaks=0", "LC_ALL": "C.UTF-8",
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
                "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        if self.uid is not None:
            env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        return env | self.env | (extra or {})

    def as_account(self, argv):
        if self.uid is None:
            return argv
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *argv]

    def outside_run(self, *argv, cwd=None):
        """Not confined: what the person does."""
        subprocess.run(self.as_account(list(argv)), cwd=cwd or self.project, env=self.environment(), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self, argv, options=(), **kw):
        return subprocess.Popen(self.as_account([*self.args(options, kw.get("root"), kw.get("cwd")), "--", *argv]),
                                env=self.environment(kw.get("env")), cwd=self.project, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def run(self, argv, options=(), **kw):
        p = self.start(argv, options, **kw)
        try:
            out, err = p.communicate(timeout=kw.get("timeout", 90))
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            raise Failed(f"did not end: {argv}") from None
        return Result(p.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def sh(self, script, options=(), **kw):
        return self.run(["bash", "-c", script], options, **kw)

    def py(self, script, options=(), **kw):
        return self.run([PYTHON, "-c", script], options, **kw)

    def plan(self, options=()):
        out = subprocess.run(self.as_account([*self.args(options), "--show"]), env=self.environment(), check=True,
                             capture_output=True, text=True).stdout
        return json.loads(out)

    def remove(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.base], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.base, ignore_errors=True)


def want(condition, what, result=""):
    if not condition:
        raise Failed(f"{what}\n{result}")


def refused(result, *explained):
    """The command failed, and the sandbox took the blame in words that hold each of these."""
    want(result.code != 0, "it should have failed", result)
    for text in explained:
        want(text in result.explained, f"should be explained with '{text}'", result)
