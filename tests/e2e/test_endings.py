#!/usr/bin/env python3
"""Ends at awkward times: signals while yare starts, waits for its prompt or writes to somebody who does not read, files past a limit, and
text that would command a terminal."""
import json
import os
import pty
import resource
import select
import signal
import subprocess
import time

from harness import LIMIT, Screen, Server, World, check, main, processes_with, wait_until, YARE

LONG = [{"generate": {"tokens": 60000, "seed": 3}}]


def start(w, *args, env=None, **kw):
    kw = dict({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}, **kw)
    return subprocess.Popen([YARE, *args], cwd=w.project, env=dict(w.env, **(env or {})), start_new_session=True, **kw)


def ends(p, code, what):
    try:
        p.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
        check(False, what, "does not end")
    check(p.returncode == code, what, "ended with", p.returncode, "in place of", code)


def blocked_in(pid, fd):
    """True once a thread of the process waits in a read of this descriptor, or in a poll."""
    with open("/proc/%d/syscall" % pid) as f:
        words = f.read().split()
    return words[0] in ("0", "7", "271") and (words[0] != "0" or int(words[1], 16) == fd)


def signals_count_while_the_prompt_is_waited_for():
    w = World()
    for sig, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)):
        r, keep = os.pipe()
        p = start(w, "-p", "--provider", "offline", stdin=r)
        wait_until(lambda: blocked_in(p.pid, 0), "yare to wait for its prompt")
        p.send_signal(sig)
        ends(p, code, "yare -p without its prompt")
        os.close(r)
        os.close(keep)
    w.close()


def signals_count_while_a_key_helper_runs():
    w = World()
    path = w.home + "/.config/yare/settings.json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump({"apiKeyHelper": "sleep 4711.25"}, f)
    for sig, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        p = start(w, "-p", "hi")
        wait_until(lambda: processes_with("4711.25"), "the helper")
        p.send_signal(sig)
        ends(p, code, "yare -p behind a key helper")
        wait_until(lambda: not processes_with("4711.25"), "the helper to be gone")
    w.close()


def signals_count_while_nobody_reads():
    w = World()
    server = Server(w, {"responses": [LONG]}, "--no-extension")
    for args in (["--output-format", "stream-json", "--include-partial-messages"], []):
        for sig, code, early in ((signal.SIGTERM, 143, False), (signal.SIGINT, 130, False), (signal.SIGTERM, 143, True)):
            r, out = os.pipe()
            n = len(server.requests())
            p = start(w, "-p", "hi", *args, env=server.env, stdout=out)
            os.close(out)
            wait_until(lambda: len(server.requests()) > n, "the request")
            if not early:
                wait_until(lambda: "pipe_write" in wchan(p.pid), "yare to be held up by its reader")
            p.send_signal(sig)
            ends(p, code, "yare -p whose output nobody reads")
            os.close(r)
    server.close()
    w.close()


def wchan(pid):
    with open("/proc/%d/syscall" % pid) as f:
        words = f.read().split()
    return "pipe_write" if words[0] in ("1", "20") else ""


def a_recording_nobody_reads_does_not_hold_the_end_up():
    w = World()
    server = Server(w, {"responses": [LONG]})
    os.mkfifo(w.top + "/fifo")
    p = start(w, "-p", "hi", "--events", w.top + "/fifo", env=server.env)
    wait_until(lambda: "pipe_write" in wchan(p.pid), "yare to be held up by its recording")
    p.terminate()
    ends(p, 143, "yare with a recording that nobody reads")
    server.close()
    p = start(w, "replay", w.top + "/fifo", "--linear")
    wait_until(lambda: open("/proc/%d/syscall" % p.pid).read().split()[0] == "257", "the replay to open its file")
    p.send_signal(signal.SIGINT)
    ends(p, 130, "a replay of a pipe that nobody writes")
    w.close()


def a_bad_line_of_stream_input_is_no_success():
    w = World()
    good = json.dumps({"type": "user", "message": {"role": "user", "content": "help"}}) + "\n"
    for text in (good + "no json\n", "no json\n" + good):
        p = subprocess.run([YARE, "-p", "--provider", "offline", "--input-format", "stream-json", "--output-format", "stream-json"],
                           cwd=w.project, env=w.env, input=text, capture_output=True, text=True, timeout=LIMIT)
        check('"subtype":"success"' in p.stdout, "the good line was not answered:", p.stdout[-300:])
        check(p.returncode == 1 and "standard input" in p.stderr, p.returncode, p.stderr)
    w.close()


def files_past_a_limit_are_an_error_not_a_death():
    w = World()
    for limit in (500, 1500):
        p = start(w, "-p", "--provider", "offline", "help",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        _, err = p.communicate(timeout=LIMIT)
        check(p.returncode == 1 and b"File too large" in err, limit, p.returncode, err)
    w.close()


def a_binary_memory_file_is_no_death():
    w = World()
    with open(w.project + "/CLAUDE.md", "wb") as f:
        f.write(b"be kind\n\x00\x01\xff\xfe\x00 and brief\n")
    server = Server(w, {"responses": [[{"text": "fine"}]]})
    p = w.print_mode("hi", env=server.env)
    check(p.returncode == 0 and p.stdout == "fine\n", p)
    check("be kind" in json.dumps(server.requests()[0]["body"]), "the memory was not sent")
    server.close()
    w.close()


def on_a_terminal(w, *args, env=None):
    """What print mode puts on one, both streams."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(w.project)
        os.execve(YARE, [YARE, *args], dict(w.env, **(env or {})))
    out, end = b"", time.monotonic() + LIMIT
    while time.monotonic() < end and select.select([fd], [], [], LIMIT)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        out += data
    os.waitpid(pid, 0)
    os.close(fd)
    return out


def nobody_commands_the_terminal():
    w = World()
    refusal = {"status": 400, "headers": {"request-id": "req_\x1b[31m"},
               "body": {"type": "error", "error": {"type": "odd\u001b[2J", "message": "no\u001b]0;title\u0007"}}}
    server = Server(w, {"responses": [[{"text": "an\u001b]0;title\u0007swer\ttab"}], [refusal]]}, "--no-extension")
    for wire in ({}, {"OPENAI_BASE_URL": server.env["ANTHROPIC_BASE_URL"] + "/v1", "OPENAI_MODEL": "m1"}):
        env = wire or server.env
        if wire:
            server.close()
            server = Server(w, {"responses": [[{"text": "an\u001b]0;title\u0007swer\ttab"}], [refusal]]}, "--no-extension")
            env = {"OPENAI_BASE_URL": server.env["ANTHROPIC_BASE_URL"] + "/v1", "OPENAI_MODEL": "m1"}
        out = on_a_terminal(w, "-p", "hi", env=env)
        check(b"swer\ttab" in out and b"\x1b" not in out and b"\x07" not in out, out)
        out = on_a_terminal(w, "-p", "hi", env=env)
        check(b"400" in out and b"\x1b" not in out and b"\x07" not in out, out)
    server.close()
    server = Server(w, {"responses": [[{"text": "an\u001b]0;title\u0007swer"}], [refusal]]})
    check(w.print_mode("hi", env=server.env).stdout == "an\x1b]0;title\x07swer\n", "a pipe gets the bytes as they are")
    run = w.print_mode("hi", env=server.env)
    check("\x1b" not in run.stderr and "400" in run.stderr, run.stderr)
    server.close()
    w.close()


def perm_check_answers_line_by_line():
    """A co-process that waits for its answer gets it; a person at a terminal is told what is read."""
    w = World()
    p = start(w, "perm", "check", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for command, want in (("ls", "allow"), ("git push", "deny")):
        record = {"id": command, "tool": "Bash", "input": {"command": command}, "rules": {"deny": ["Bash(git push:*)"]}}
        p.stdin.write(json.dumps(record).encode() + b"\n")
        p.stdin.flush()
        check(select.select([p.stdout], [], [], LIMIT)[0], "no answer while the input is open")
        answer = json.loads(p.stdout.readline())
        check(answer["id"] == command and answer["decision"] == want, answer)
    out, err = p.communicate(timeout=LIMIT)
    check(p.returncode == 0 and not out and not err, p.returncode, out, err)
    s = Screen(w, 80, 24, ("perm", "check"))
    s.wait_for("a JSON object a line")
    s.wait_for("yare perm explain 'COMMAND'")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


def refusals_say_what_to_do():
    w = World()
    cases = [(401, {}, "check the API key"), (404, "<html><title>Not here</title></html>", "Not here: check the model's name"),
             (400, "", "no reason was given"), (418, "<html><body><p>tea</p></body></html>", ": tea")]
    server = Server(w, {"responses": [[{"status": s, "body": b}] for s, b, _ in cases]}, "--no-extension")
    for status, _, words in cases:
        run = w.print_mode("hi", env=server.env)
        check(run.returncode == 1 and words in run.stderr, status, run.stderr)
    server.close()
    server = Server(w, {"responses": [[{"status": 520, "body": ""}], [{"text": "there"}]]})
    check(w.print_mode("hi", env=server.env).stdout == "there\n", "a gateway's 520 is not tried again")
    server.close()
    w.close()


def output_that_cannot_be_written_is_told():
    w = World()
    for args in (["--version"], ["--help"], ["doctor"], ["perm", "explain", "ls"], ["sessions"]):
        with open("/dev/full", "w") as full:
            run = subprocess.run([YARE, *args], cwd=w.project, env=w.env, stdin=subprocess.DEVNULL, stdout=full,
                                 stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        check(run.returncode == 1 and "cannot write to standard output" in run.stderr, args, run.returncode, run.stderr)
    w.close()


def a_session_id_in_use_is_refused():
    w = World()
    run = w.print_mode("help", "--output-format", "json")
    sid = json.loads(run.stdout)["session_id"]
    size = os.path.getsize([j for j in w.journals() if sid in j][0])
    run = w.print_mode("read README.md", "--session-id", sid)
    check(run.returncode == 2 and "already" in run.stderr and "--resume" in run.stderr, run)
    check(os.path.getsize([j for j in w.journals() if sid in j][0]) == size, "the other session grew")
    check(w.print_mode("help", "--resume", sid, "--fork-session", "--session-id", sid).returncode == 2, "a copy over its original")
    check(w.print_mode("help", "--resume", sid).returncode == 0, "it cannot be resumed")
    w.close()


def a_key_that_comes_back_is_masked():
    w = World()
    said = "Incorrect API key provided: test-key-0123456789, see the console"
    for wire in ("anthropic", "openai"):
        steps = [[{"status": 401, "body": {"error": {"type": "authentication_error", "message": said}}}],
                 [{"error": {"type": "invalid_request_error", "message": said}}]]
        server = Server(w, {"responses": steps}, "--no-extension")
        url = server.env["ANTHROPIC_BASE_URL"]
        env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test-key-0123456789"} if wire == "anthropic" else {
            "OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "test-key-0123456789", "OPENAI_MODEL": "m1"}
        for _ in steps:
            run = w.print_mode("hi", "--debug", "--events", w.top + "/events.jsonl", env=env)
            check(run.returncode == 1 and "Incorrect API key provided: ***" in run.stderr, run)
            check("0123456789" not in run.stdout + run.stderr, run)
        server.close()
    for folder in (w.home, w.top + "/events.jsonl"):
        found = subprocess.run(["grep", "-rl", "key-0123456789", folder], capture_output=True, text=True).stdout
        check(not found, "the key is in", found)
    w.close()


main(signals_count_while_the_prompt_is_waited_for, signals_count_while_a_key_helper_runs, signals_count_while_nobody_reads,
     a_recording_nobody_reads_does_not_hold_the_end_up, a_bad_line_of_stream_input_is_no_success,
     files_past_a_limit_are_an_error_not_a_death, a_binary_memory_file_is_no_death, nobody_commands_the_terminal, perm_check_answers_line_by_line,
     refusals_say_what_to_do, output_that_cannot_be_written_is_told, a_session_id_in_use_is_refused,
     a_key_that_comes_back_is_masked)
