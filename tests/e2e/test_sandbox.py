#!/usr/bin/env python3
"""The sandbox around real commands of the real program: what it keeps, what it says, who gets out, and what is left."""
import atexit
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from harness import LIMIT, YARE, Screen, Server, World, check, main, processes_with, wait_until


def bash(command, **more):
    return {"tool_use": {"name": "Bash", "input": dict(command=command, **more)}}


def results(server):
    """The text of every tool result of the last request, in order."""
    found = []
    for m in server.requests()[-1]["body"]["messages"]:
        if isinstance(m["content"], list):
            for b in m["content"]:
                if b["type"] == "tool_result":
                    c = b["content"]
                    found.append(c if isinstance(c, str) else "".join(x.get("text", "") for x in c))
    return found


def settings(w, value):
    path = w.home + "/.config/yare/settings.json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(value, f)


def outside():
    """A file that is nobody's, and not in /tmp, of which there is another one inside."""
    path = tempfile.mktemp(prefix="yare-outside-", dir="/var/tmp")
    atexit.register(lambda: [os.remove(p) for p in (path, path + "2") if os.path.exists(p)])
    return path


def python(code):
    return "python3 -c %s" % json.dumps(code)


def ask(w, commands, *args, **kw):
    """Runs the commands one after the other in print mode; the results as the model saw them."""
    calls = [[c if isinstance(c, dict) else bash(c)] for c in commands]
    server = Server(w, {"responses": calls + [[{"text": "Over."}]]})
    try:
        run = w.print_mode("go", *args, env=dict(server.env, IS_SANDBOX="1", **kw))
        check(run.returncode == 0 and "Over." in run.stdout, run)
        return results(server)
    finally:
        server.close()


def audit(w):
    found = []
    for top, _, names in os.walk(w.home):
        for name in names:
            if "audit" in name:
                with open(os.path.join(top, name)) as f:
                    found += [json.loads(line) for line in f]
    return json.dumps(found)


class Origin:
    """A server on this machine that says hello."""

    def __init__(self):
        origin = self
        self.paths = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                origin.paths.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"hello from the origin\n")

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def writes_stay_inside():
    """Nobody is asked, nothing outside is touched, and the model hears why."""
    w = World()
    out = outside()
    try:
        inside, beside, temp, git = ask(
            w, [python("open('inside.txt','w').write('x')"), python("open('%s','w').write('x')" % out),
                "t=$(mktemp) && echo yes > \"$t\" && cat \"$t\"", python("open('.git/hooks/pre-commit','w')")],
            "--sandbox", "auto")
        check(w.exists("inside.txt"), inside)
        check(not os.path.exists(out) and "Exit code 1" in beside, beside)
        check("sandbox" in beside.lower(), "the model is not told of the sandbox:", beside)
        check("yes" in temp, temp)
        check("Exit code 1" in git, git)
        check("it runs inside the sandbox (bwrap)" in audit(w), audit(w))
    finally:
        w.close()


def rules_still_hold():
    """What the sandbox would hold needs no yes; deny rules and protected files are no matter of it."""
    w = World()
    settings(w, {"permissions": {"deny": ["Bash(touch:*)"]}})
    try:
        denied, protected = ask(w, ["touch a", "echo x > .yare/settings.json"], "--sandbox", "auto")
        check("permission denied" in denied and not w.exists("a"), denied)
        check("permission denied" in protected and not w.exists(".yare/settings.json"), protected)
    finally:
        w.close()


def no_network():
    w = World()
    origin = Origin()
    try:
        (text,) = ask(w, [python("import socket; socket.create_connection(('127.0.0.1', %d), 5)" % origin.port)],
                      "--sandbox", "bwrap")
        check("Exit code 1" in text and not origin.paths, text)
    finally:
        origin.close()
        w.close()


FETCH = "import urllib.request; print(urllib.request.urlopen('http://%s:%d/%s', timeout=20).read().decode())"


def allowed_hosts_alone():
    w = World()
    origin = Origin()
    settings(w, {"sandbox": {"enabled": True, "network": {"allowedDomains": ["localhost"]}}})
    try:
        good, bad, name = ask(w, [python(FETCH % ("localhost", origin.port, "good")),
                                  python(FETCH % ("127.0.0.1", origin.port, "bad")),
                                  python(FETCH % ("evil.example", 80, "worse"))])
        check("hello from the origin" in good, good)
        check(origin.paths == ["/good"], origin.paths)
        for text, host in ((bad, "127.0.0.1"), (name, "evil.example")):
            check("Exit code 1" in text and "'%s' is not in sandbox.network.allowedDomains" % host in text, text)
    finally:
        origin.close()
        w.close()


def an_untrusted_folder_opens_nothing():
    """Its own settings may tighten the sandbox, nothing else."""
    w = World(trust=False)
    out = outside()
    settings(w, {"sandbox": {"enabled": True}})
    w.write(".yare/settings.json", json.dumps({"sandbox": {
        "enabled": False, "excludedCommands": ["python3"], "filesystem": {"allowWrite": ["/var/tmp"]},
        "network": {"allowedDomains": ["localhost"]}}}))
    origin = Origin()
    try:
        text, net = ask(w, [python("open('%s','w')" % out), python(FETCH % ("localhost", origin.port, "x"))])
        check("Exit code 1" in text and not os.path.exists(out), text)
        check("Exit code 1" in net and not origin.paths, net)
    finally:
        origin.close()
        w.close()


def who_wants_out_is_denied_where_nobody_answers():
    w = World()
    out = outside()
    try:
        (text,) = ask(w, [bash(python("open('%s','w')" % out), dangerouslyDisableSandbox=True)], "--sandbox", "auto",
                      "--allowedTools", "Bash")
        check("it asks to run outside the sandbox" in text and not os.path.exists(out), text)
        settings(w, {"sandbox": {"enabled": True, "allowUnsandboxedCommands": False}})
        (text,) = ask(w, [bash("echo hi", dangerouslyDisableSandbox=True)])
        check("sandbox.allowUnsandboxedCommands is off" in text, text)
    finally:
        w.close()


def excluded_and_switched_off():
    """Both are decisions: they stand in the audit log. An excluded command asks as it would without a sandbox."""
    w = World()
    out = outside()
    write = python("open('%s','w')" % out)
    settings(w, {"sandbox": {"enabled": True, "excludedCommands": ["python3"]}})
    try:
        (text,) = ask(w, [write])
        check("permission denied" in text and not os.path.exists(out), text)
        (text,) = ask(w, [write], "--allowedTools", "Bash(%s)" % write)
        check(os.path.exists(out), text)
        check("sandbox.excludedCommands names it" in audit(w), audit(w))
        os.remove(out)
        (text,) = ask(w, [write], "--sandbox", "off", "--allowedTools", "Bash(%s)" % write)
        check(os.path.exists(out), text)
        check("it was switched off (--sandbox)" in audit(w), audit(w))
    finally:
        w.close()


def without_a_back_end():
    """What was asked for cannot be had: said and, where the settings want it so, nothing runs."""
    w = World()
    settings(w, {"sandbox": {"failIfUnavailable": True}})
    try:
        (text,) = ask(w, ["echo ran"], "--sandbox", "landlock", YARE_TEST_LANDLOCK_ABI="0")
        check("sandbox.failIfUnavailable" in text and "Landlock" in text, text)
        settings(w, {})
        (text,) = ask(w, ["echo ran"], "--sandbox", "landlock", YARE_TEST_LANDLOCK_ABI="0")
        check("ran" in text, text)
        check("it runs unconfined, there is no sandbox here" in audit(w), audit(w))
    finally:
        w.close()


def landlock():
    """Without bubblewrap's walls nothing is allowed on the sandbox's strength, and what is allowed is kept from outside."""
    w = World()
    out = outside()
    write = python("open('%s','w')" % out)
    origin = Origin()
    connect = python("import socket; socket.create_connection(('127.0.0.1', %d), 5)" % origin.port)
    try:
        (text,) = ask(w, [write], "--sandbox", "landlock")
        check("permission denied" in text, text)
        text, net, inside = ask(w, [write, connect, "echo x > inside.txt"], "--sandbox", "landlock",
                                "--permission-mode", "bypass")
        check("Exit code 1" in text and not os.path.exists(out) and "sandbox" in text.lower(), text)
        check("Exit code 1" in net and not origin.paths, net)
        check(w.exists("inside.txt"), inside)
        check("it runs inside the sandbox (landlock)" in audit(w), audit(w))
    finally:
        origin.close()
        w.close()


def default_leaves_the_day_alone():
    """Nothing is set: a command that a rule allows runs as in a shell."""
    w = World()
    out = outside()
    write = python("open('%s','w')" % out)
    try:
        (text,) = ask(w, [write], "--allowedTools", "Bash(%s)" % write)
        check(os.path.exists(out), text)
    finally:
        w.close()


def explained_as_it_would_run():
    w = World()

    def explain(command):
        return subprocess.run([YARE, "perm", "explain", command], cwd=w.project, env=w.env, capture_output=True, text=True,
                              timeout=LIMIT).stdout

    command = "touch notes.txt && echo hi >> notes.txt"
    check(explain(command).startswith("ask") and "L8" not in explain(command), explain(command))
    settings(w, {"sandbox": {"enabled": True, "excludedCommands": ["make"]}})
    check(explain(command).startswith("allow") and "the sandbox confines it" in explain(command), explain(command))
    check("it would run outside the sandbox" in explain("make all"), explain("make all"))
    w.close()


def on_the_screen():
    """/sandbox switches it, a wish to get out asks, and a yes lets that one command out."""
    w = World()
    out = outside()
    write = python("open('%s','w')" % out)
    server = Server(w, {"responses": [[bash(write)], [{"text": "First."}],
                                      [bash(write, dangerouslyDisableSandbox=True)], [{"text": "Second."}],
                                      [bash("echo x > inside.txt; touch %s" % out)], [{"text": "Third."}]]})
    s = Screen(w, 120, 36, [], server.env)
    try:
        s.wait_for(r"default")
        s.say("/sandbox on")
        s.wait_for(r"sandbox: on \(/sandbox\)")
        s.say("one")
        s.wait_for(r"First\.")
        check(not os.path.exists(out), "written")
        check(any("sandbox" in t for t in results(server)), results(server))
        s.say("two")
        s.wait_for(r"only a person lets")
        s.answer("y")
        s.wait_for(r"Second\.")
        check(os.path.exists(out), results(server))
        s.say("!touch by-hand.txt && touch %s2" % out)
        wait_until(lambda: os.path.exists(out + "2"), "what a person typed to run outside")
        s.keys("C-d")
        check(s.exit_status() == 0, "exit status", s.exit_status())
    finally:
        s.close()
        server.close()
        w.close()


def background_and_a_kill():
    """A command behind is confined as well, is told why it failed, and nothing outlives yare, however that ends."""
    w = World()
    out = outside()
    marker = "walled_%d" % os.getpid()
    server = Server(w, {"responses": [
        [bash("sh -c 'sleep 1000; : %s'" % marker, run_in_background=True),
         bash("until test -e go; do sleep 0.05; done; " + python("open('%s','w')" % out), run_in_background=True)],
        [{"text": "Started."}]], "match": [{"if": "what now", "then": [{"text": "Seen."}], "again": True}]})
    s = Screen(w, 120, 36, ["--sandbox", "bwrap"], server.env)
    try:
        s.wait_for(r"default")
        s.say("start them")
        s.wait_for(r"Started\.")
        wait_until(lambda: processes_with(marker), "the command to run")
        w.write("go", "")
        s.wait_for(r"bash_2.*(exit|failed)|exit 1")
        s.say("what now")
        s.wait_for(r"Seen\.")
        check(not os.path.exists(out), "written")
        told = json.dumps(server.requests()[-1]["body"])
        check("Background command bash_2" in told and "sandbox" in told, told[-3000:])
        os.kill(s.pid(), signal.SIGKILL)
        wait_until(lambda: not processes_with(marker), lambda: "the command to end: %r" % processes_with(marker))
    finally:
        s.close()
        server.close()
        w.close()


if not shutil.which("bwrap"):
    sys.exit("bubblewrap is needed: these tests run the real thing")
main(explained_as_it_would_run, writes_stay_inside, rules_still_hold, no_network, allowed_hosts_alone, an_untrusted_folder_opens_nothing,
     who_wants_out_is_denied_where_nobody_answers, excluded_and_switched_off, without_a_back_end, landlock,
     default_leaves_the_day_alone, on_the_screen, background_and_a_kill)
