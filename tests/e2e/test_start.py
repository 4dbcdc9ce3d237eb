#!/usr/bin/env python3
"""Start-up: the screen while the engine is on its way, key helpers, which provider and model, and words for what is wrong."""
import json
import os
import re
import shutil
import subprocess

from harness import LIMIT, LocalServer, Screen, Server, World, check, descendants, main, processes_with, wait_until, YARE


def settings(w, value, where="config"):
    path = w.home + "/.config/yare/settings.json" if where == "config" else w.project + "/.yare/settings.json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(value, f, indent=2)
    return path


def base(server):
    """The server's address without a key."""
    return {"ANTHROPIC_BASE_URL": server.env["ANTHROPIC_BASE_URL"]}


def keys_of(server):
    return [r["headers"].get("x-api-key") for r in server.requests()]


def open_gate(w):
    open(w.top + "/gate", "w").close()


def gated(w, then):
    return {"apiKeyHelper": "until test -e '%s/gate'; do sleep 0.02; done; %s" % (w.top, then)}


# ---- the screen while the engine is on its way ----

def typed_and_sent_while_the_helper_sleeps():
    w = World()
    server = Server(w, {"responses": [[{"text": "the answer"}], [{"text": "another"}]]})
    settings(w, gated(w, "echo sesame-key"))
    s = Screen(w, 100, 30, env=base(server))
    s.wait_for("starting")
    s.say("an early prompt")
    s.wait_for("queued")
    s.type("typed on meanwhile")
    s.wait_for("typed on meanwhile")
    check(not server.requests(), "sent before the key was there")
    open_gate(w)
    s.wait_for("the answer")
    s.wait_for("typed on meanwhile")
    check(keys_of(server) == ["sesame-key"], server.requests())
    check("early prompt" in json.dumps(server.requests()[0]["body"]["messages"]), "another prompt")
    s.wait_for("turn 1 ──")  # while the turn runs Ctrl+C is for it, not for what is typed
    s.keys("C-c")
    s.wait_gone("typed on meanwhile")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    server.close()
    s.close()
    w.close()


def quitting_kills_the_helper():
    for keys in (("C-d",), ("C-c", "C-c")):
        w = World()
        marker = "987654%s" % len(keys)
        settings(w, {"apiKeyHelper": "trap '' TERM INT; sleep %s; sleep %s" % (marker, marker)})
        s = Screen(w, 80, 24)
        wait_until(lambda: processes_with(marker), "the helper")
        for k in keys:
            s.keys(k)
        check(s.exit_status() == 0, "exit status")
        wait_until(lambda: not processes_with(marker), "the helper to be gone")
        s.close()
        w.close()


def a_signal_ends_a_start():
    w = World()
    settings(w, {"apiKeyHelper": "sleep 9876543"})
    s = Screen(w, 80, 24)
    wait_until(lambda: processes_with("9876543"), "the helper")
    os.kill(s.pid(), 15)
    check(s.exit_status() == 143, "exit status")
    wait_until(lambda: not processes_with("9876543"), "the helper to be gone")
    s.close()
    w.close()


def a_failing_start_says_why():
    w = World()
    settings(w, gated(w, "echo secret-word >&2; exit 7"))
    s = Screen(w, 100, 24)
    s.wait_for("starting")
    s.say("not to be lost")
    s.wait_for("queued")
    open_gate(w)
    s.wait_for(r"apiKeyHelper ended with[\s│]+status 7")
    s.wait_for("> not to be lost")
    check("secret-word" not in s.text(), s.text())
    s.keys("C-c")
    s.wait_gone("not to be lost")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


def a_start_that_fails_leaves_no_dead_screen():
    w = World()
    for args in (("resume", "nosuch"), ("--resume", "nosuch", "do it")):
        s = Screen(w, 100, 24, args)
        check(s.exit_status() == 1, "exit status", s.text())
        # tmux scrolls a dead pane
        check("yare: no session 'nosuch'" in s.tmux("capture-pane", "-p", "-S", "-50"), s.text())
        s.close()
    w.close()


# ---- keys ----

def a_refused_key_is_renewed():
    w = World()
    refusal = [{"status": 401, "body": {"type": "error", "error": {"type": "authentication_error", "message": "no"}}}]
    server = Server(w, {"responses": [refusal, [{"text": "let in"}]]})
    settings(w, {"apiKeyHelper": "echo x >>'%s/calls'; echo key-$(wc -l <'%s/calls')" % (w.top, w.top)})
    run = w.print_mode("hello", env=base(server))
    check(run.returncode == 0 and "let in" in run.stdout, run)
    check(keys_of(server) == ["key-1", "key-2"], keys_of(server))
    server.close()
    server = Server(w, {"responses": [refusal]})
    run = w.print_mode("hello", env=base(server))
    check(run.returncode == 1 and "apiKeyHelper" in run.stdout + run.stderr, run)
    check("key-3" not in run.stdout + run.stderr and len(server.requests()) - 2 == 2, run, keys_of(server))
    server.close()
    w.close()


def the_key_stays_inside():
    w = World()
    server = Server(w, {"match": [{"tool_result": True, "then": [{"text": "done"}]}],
                        "responses": [[{"tool_use": {"name": "Bash", "input": {"command": "env; ps axeww"}}}]]})
    with open(w.top + "/key", "w") as f:
        f.write("hidden-key-42\n")
    settings(w, {"apiKeyHelper": "cat '%s/key'" % w.top})
    run = w.print_mode("go", "--allowedTools", "Bash", env=dict(base(server), YARE_LOG="debug"))
    check(run.returncode == 0, run)
    body = json.dumps(server.requests()[1]["body"])
    check("CLAUDECODE=1" in body and "hidden-key-42" not in body, "a child sees the key")
    for folder, _, files in os.walk(w.home):
        for f in files:
            with open(os.path.join(folder, f), "rb") as h:
                check(b"hidden-key-42" not in h.read(), "the key is in", f)
    server.close()
    w.close()


def an_untrusted_folders_helper_is_not_run():
    w = World(trust=False)
    settings(w, {"apiKeyHelper": "touch '%s/ran'; echo key" % w.top}, where="project")
    run = w.print_mode("help")
    check(run.returncode == 0 and "offline pilot" in run.stderr, run)
    check(not os.path.exists(w.top + "/ran"), "the project's helper ran")
    w.close()


# ---- which provider ----

ONE = {"GET /v1/models": {"data": [{"id": "only-one"}]}}
TWO = {"GET /v1/models": {"data": [{"id": "first"}, {"id": "second"}]}}


def openai_by_the_environment():
    w = World()
    server = LocalServer(w, ONE)
    env = {"OPENAI_BASE_URL": server.url + "/v1"}
    run = w.print_mode("ping", env=env)
    check(run.returncode == 0 and "pong from only-one" in run.stdout, run)
    check("not available" not in run.stderr and "offline" not in run.stderr, run)
    chats = [r for r in server.requests() if r["path"] == "/v1/chat/completions"]
    check("authorization" not in chats[0]["headers"], chats)
    run = w.print_mode("ping", "--model", "mine", env=dict(env, OPENAI_API_KEY="k", OPENAI_MODEL="other"))
    check("pong from mine" in run.stdout, run)
    check(server.requests()[-1]["headers"]["authorization"] == "Bearer k", server.requests()[-1])
    run = w.print_mode("ping", env=dict(env, OPENAI_MODEL="other"))
    check("pong from other" in run.stdout, run)
    settings(w, {"model": "opus"})  # another program's wish: not for this server
    run = w.print_mode("ping", env=env)
    check("pong from only-one" in run.stdout, run)
    settings(w, {"provider": "openai", "baseUrl": server.url, "model": "set"})
    run = w.print_mode("ping", env={"OPENAI_API_KEY": "for-elsewhere"})
    check("pong from set" in run.stdout, run)
    check("authorization" not in server.requests()[-1]["headers"], "a saved local server got the key")
    server.close()
    w.close()


def what_is_wrong_says_what_to_do():
    w = World()
    server = LocalServer(w, TWO)
    url = server.url + "/v1"
    for args, env, code, words in (
            ((), {"OPENAI_BASE_URL": url}, 2, ("first, second", "--model")),
            (("--model", "opus"), {"OPENAI_BASE_URL": url}, 2, ("'opus'", "anthropic")),
            ((), {"OPENAI_BASE_URL": "127.0.0.1:80"}, 2, ("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")),
            (("--provider", "openai", "--base-url", "http:///x"), {}, 2, ("--base-url", "no host")),
            (("--provider", "openai"), {}, 2, ("OPENAI_API_KEY", "OPENAI_BASE_URL")),
            (("--provider", "openai"), {"OPENAI_API_KEY": "k"}, 2, ("which model", "OPENAI_MODEL")),
            (("--provider", "anthropic"), {}, 2, ("ANTHROPIC_API_KEY", "apiKeyHelper")),
            ((), {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "ftp://x"}, 2, ("ANTHROPIC_BASE_URL", "http")),
            ((), {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, 2, ("127.0.0.1:1", "no connection"))):
        run = w.print_mode("ping", *args, env=env)
        check(run.returncode == code, args, env, run)
        for word in words:
            check(word in run.stderr, word, "is missing:", run.stderr)
    server.close()
    path = settings(w, {"model": "x", "permissions": {"defaultMode": "wild"}})
    run = w.print_mode("help")
    check(run.returncode == 2 and "%s:4" % path in run.stderr and "wild" in run.stderr, run)
    w.close()


def settings_env_counts():
    w = World()
    server = LocalServer(w, ONE)
    settings(w, {"env": {"OPENAI_BASE_URL": server.url + "/v1"}})
    run = w.print_mode("ping")
    check("pong from only-one" in run.stdout, run)
    server.close()
    w.close()


def continue_names_what_there_is():
    w = World()
    run = w.print_mode("help", "-c")
    check(run.returncode == 2 and "-p" in run.stderr and "yare --resume" in run.stderr, run)
    sid = re.search(r"--resume ([0-9a-f-]{36})", run.stderr).group(1)
    run = w.print_mode("help", "--resume", sid)
    check(run.returncode == 0, run)
    s = Screen(w, 160, 24, ("resume", "my", "first"))
    check(s.exit_status() == 1, "exit status", s.text())
    check("in quotes: yare resume 'my first'" in s.tmux("capture-pane", "-p", "-J", "-S", "-50"), s.text())
    s.close()
    run = subprocess.run([YARE, "resume", "my", "first", "one"], cwd=w.project, env=w.env, capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=LIMIT)
    check(run.returncode == 2 and "a title of several words too" in run.stderr, run)
    w.close()


# ---- cost ----

def help_and_version_read_nothing():
    w = World()
    config = w.home + "/.config/yare"
    os.makedirs(config, exist_ok=True)
    os.path.exists(config + "/settings.json") or os.mkfifo(config + "/settings.json")  # whoever reads it waits for ever
    for arg in ("--version", "--help", "-v", "-h"):
        run = subprocess.run([YARE, arg], cwd=w.project, env=dict(w.env, LD_DEBUG="libs"), capture_output=True, text=True,
                             timeout=LIMIT)
        check(run.returncode == 0 and run.stdout, run)
        check("calling init" in run.stderr and "curl" not in run.stderr, arg, "loads libcurl")
    help_text = subprocess.run([YARE, "--help"], env=w.env, capture_output=True, text=True).stdout
    for word in ("perm log", "export", "replay", "doctor", "OPENAI_BASE_URL"):
        check(word in help_text, word, "is not in the help")
    w.close()


def the_pilot_needs_no_libcurl():
    w = World()
    run = w.print_mode("help", env={"LD_DEBUG": "libs"})
    check(run.returncode == 0 and "calling init" in run.stderr and "libcurl" not in run.stderr, "the pilot loads libcurl")
    w.close()


def has_libcurl(pid):
    """Has it, or a process below it, libcurl in its memory?"""
    for p in [pid] + descendants(pid):
        try:
            with open("/proc/%d/maps" % p) as f:
                if "libcurl" in f.read():
                    return True
        except OSError:
            pass  # it ended while we looked
    return False


def libcurl_waits_for_a_key():
    """It is 5 MB with what it brings: a screen that nobody touched is without it."""
    w = World()
    server = Server(w, {"responses": [[{"text": "the answer"}]]})
    s = Screen(w, 100, 30, env=server.env)
    s.wait_for("Type a request")
    check(not has_libcurl(s.pid()), "libcurl is loaded before anybody touched a key")
    s.type("hi")
    wait_until(lambda: has_libcurl(s.pid()), "libcurl is not loaded while a prompt is typed")
    s.say("")
    s.wait_for("the answer")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    server.close()
    w.close()


def dead_path_entries_cost_nothing():
    """PATH is looked at when a command runs: not by the start, and by no key."""
    if not shutil.which("strace"):
        print("     (no strace: not looked at)")
        return
    w = World()
    env = {"PATH": os.environ["PATH"] + "".join(":/nonexistent-path/%d" % i for i in range(200)),
           "ASAN_OPTIONS": "detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"}
    s = Screen(w, 100, 30, env=env, shell=True)
    s.type("exec strace -f -e trace=file -o '%s/trace' '%s'\n" % (w.top, YARE))
    s.wait_for("offline pilot answers")
    s.type("abc /de @x")
    s.wait_for("abc /de @x")
    s.keys("C-c")
    s.wait_gone("abc /de @x")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    with open(w.top + "/trace") as f:
        trace = f.read()
    check("settings.json" in trace, "nothing was traced")
    check("/nonexistent-path/" not in trace, trace.count("/nonexistent-path/"), "looks into PATH")
    s.close()
    w.close()


main(typed_and_sent_while_the_helper_sleeps, quitting_kills_the_helper, a_signal_ends_a_start, a_failing_start_says_why,
     a_start_that_fails_leaves_no_dead_screen,
     a_refused_key_is_renewed, the_key_stays_inside, an_untrusted_folders_helper_is_not_run, openai_by_the_environment,
     what_is_wrong_says_what_to_do, settings_env_counts, continue_names_what_there_is, help_and_version_read_nothing,
     the_pilot_needs_no_libcurl, libcurl_waits_for_a_key, dead_path_entries_cost_nothing)
