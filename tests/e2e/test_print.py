#!/usr/bin/env python3
"""Print mode: formats, exit codes, denied tools, resume, wrong usage."""
import json
import os
import signal
import subprocess

from harness import LIMIT, YARE, Server, World, check, main, wait_until


def lines_of(run):
    return [json.loads(line) for line in run.stdout.splitlines()]


def text_json_and_stream():
    w = World()
    run = w.print_mode("find next_token")
    check(run.returncode == 0 and "parse.c" in run.stdout, run)
    run = w.print_mode("read README.md", "--output-format", "json")
    result = json.loads(run.stdout)
    check(result["subtype"] == "success" and not result["is_error"] and result["type"] == "result", run.stdout)
    run = w.print_mode("read README.md then list src", "--output-format", "stream-json")
    lines = lines_of(run)
    check(lines[0]["type"] == "system" and lines[0]["subtype"] == "init", lines[0])
    check(lines[-1]["type"] == "result" and lines[-1]["num_turns"] == 3, lines[-1])
    uses = [b["id"] for l in lines if l["type"] == "assistant" for b in l["message"]["content"] if b["type"] == "tool_use"]
    answers = [b["tool_use_id"] for l in lines if l["type"] == "user" for b in l["message"]["content"]
               if b["type"] == "tool_result"]
    check(len(uses) == 2 and uses == answers, uses, answers)
    check(all(l["session_id"] == lines[0]["session_id"] and l["uuid"] for l in lines), "session_id and uuid everywhere")
    w.close()


def files_that_git_ignores_are_not_found():
    """By the program as it is linked: its libraries had two functions of one name once."""
    w = World()
    w.write(".gitignore", "?.o\n*.l[ao]g\n/d/*.t\nsub/**/deep\n")
    for path in ("a.o", "bb.o", "x.log", "x.lag", "x.leg", "d/q.t", "d/e/q.t", "sub/deep", "sub/a/b/deep", "sub/a/b/flat"):
        w.write(path, "x\n")
    git = dict(w.env, GIT_CONFIG_GLOBAL="/dev/null")
    subprocess.run(["git", "init", "-q"], cwd=w.project, env=git, check=True)
    want = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=w.project, env=git, check=True,
                          capture_output=True, text=True).stdout.split()
    run = w.print_mode("find files **/*", "--output-format", "stream-json")
    results = [b["content"] for l in lines_of(run) if l["type"] == "user" for b in l["message"]["content"]
               if b["type"] == "tool_result"]
    text = results[0] if isinstance(results[0], str) else "".join(b["text"] for b in results[0])
    found = [line for line in text.split() if w.exists(line)]
    check(sorted(found) == sorted(want) and "bb.o" in want and "a.o" not in want, found, want, run)
    w.close()


def a_slash_command_answers_on_standard_output():
    w = World()
    run = w.print_mode("/context")
    check(run.returncode == 0 and "context" in run.stdout, run)
    words = run.stdout.splitlines()[0]
    check(words not in run.stderr, "it is told twice", run)
    run = w.print_mode("/help")
    check("/compact" in run.stdout and "!COMMAND" in run.stdout and not run.stdout.endswith("\n\n"), run)
    for form in "json", "stream-json":
        run = w.print_mode("/context", "--output-format", form)
        result = json.loads(run.stdout.splitlines()[-1])
        check(not result["is_error"] and words in result["result"] and words not in run.stderr, result, run.stderr)
    run = w.print_mode("/mode nonsense")
    check(run.returncode == 1 and "unknown mode 'nonsense'" in run.stderr and not run.stdout, run)
    w.close()


def an_unknown_slash_command_is_refused():
    """It is no prompt, as in the panes; a path is one."""
    w = World()
    server = Server(w, {"responses": [[{"text": "Seen."}]] * 3})
    for typed, word in ("/nope", "unknown command '/nope'"), ("/ex the rest", "/exit, /export"), ("/vim", "not available in yare"):
        run = w.print_mode(typed, env=server.env)
        check(run.returncode == 1 and word in run.stderr and not run.stdout, run)
        check("command_failed" not in run.stderr, run.stderr)
        run = w.print_mode(typed, "--output-format", "json", env=server.env)
        result = json.loads(run.stdout)
        check(run.returncode == 1 and result["is_error"] and word in result["errors"][0], result)
    check(not server.requests(), "an unknown command went to the model")
    for typed in "/etc/hosts is short", "/notes.md is long", "/etc has many files":
        run = w.print_mode(typed, env=server.env)
        check(run.returncode == 0 and "Seen." in run.stdout, run)
    check(len(server.requests()) == 3, "a path is a prompt")
    server.close()
    w.close()


def denied_is_not_failure():
    w = World()
    run = w.print_mode("run touch never", "--output-format", "json")
    result = json.loads(run.stdout)
    check(run.returncode == 0, run)
    check(not w.exists("never"), "a command ran that nobody approved")
    check(result["permission_denials"][0]["tool_name"] == "Bash", result)
    run = w.print_mode("run touch never")
    told = [line for line in run.stderr.splitlines() if "denied: Bash" in line]
    check(len(told) == 1 and "touch never" in told[0], run)
    run = w.print_mode("run touch allowed", "--allowedTools", "Bash(touch:*) Read")
    check(w.exists("allowed"), run)
    w.close()


def continue_and_resume():
    w = World()
    run = w.print_mode("read README.md", "--output-format", "json")
    sid = json.loads(run.stdout)["session_id"]
    run = w.print_mode("help", "--resume", sid[:8], "--output-format", "json")
    check(json.loads(run.stdout)["session_id"] == sid, run)
    run = w.print_mode("help", "--resume", sid, "--fork-session", "--output-format", "json")
    check(json.loads(run.stdout)["session_id"] != sid, run)
    run = subprocess.run([YARE, "sessions"], cwd=w.project, env=w.env, capture_output=True, text=True)
    check(sid in run.stdout and "read README.md" in run.stdout, run)
    run = w.print_mode("help", "--resume", "no-such-session")
    check(run.returncode == 1 and "no-such-session" in run.stderr, run)  # as `yare export` has it
    w.close()


def piped_input_stands_behind_the_argument():
    w = World()
    server = Server(w, {"responses": [[{"text": "Seen."}]]})
    env = dict(w.env, **server.env)
    for piped, word in (("one line of a log\n@README.md\n", True), ("", False), (" \n", False)):
        before = len(server.requests())
        run = subprocess.run([YARE, "-p", "what went wrong?"], cwd=w.project, env=env, capture_output=True, text=True,
                             input=piped, timeout=LIMIT)
        check(run.returncode == 0 and "Seen." in run.stdout, run)
        told = json.dumps(server.requests()[before]["body"]["messages"])
        check("what went wrong?" in told, told)
        check(("one line of a log" in told) == word and ("<piped-input>" in told) == word, told)
        check("The person named" not in told, "a piped name attached a file", told)
    held = subprocess.Popen([YARE, "-p", "and now?"], cwd=w.project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    try:  # nobody writes and nobody closes
        check(held.wait(timeout=LIMIT) == 0, held)
        check("nothing came on standard input" in held.stderr.read(), "it says why it waited")
    finally:
        held.kill()
        held.communicate()
    server.close()
    w.close()


def wrong_usage():
    w = World()
    for args, word in ((["--no-such"], "--no-such"), (["-p", "--output-format", "xml", "x"], "xml"),
                       (["-p", "--max-turns", "0", "x"], "--max-turns"), (["--worktree"], "not available in yare"),
                       (["-p", "--permission-mode", "yolo", "x"], "yolo"), (["-p", "a", "b"], "one prompt"),
                       (["-p", "--events", "-", "help"], "'-' is none"),
                       (["-p", "--model"], "--model"), (["--session-id", "7"], "UUID"),
                       (["-p", "--settings", "{bad", "help"], "--settings '{...}'"),
                       (["-p", "--settings", "nofile.json", "help"], "nofile.json: there is no such"),
                       (["-p", "--add-dir", "/no/such", "help"], "no folder '/no/such'")):
        run = subprocess.run([YARE, *args], cwd=w.project, env=w.env, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, timeout=LIMIT)
        check(run.returncode == 2 and word in run.stderr, args, run)
    run = subprocess.run([YARE, "-p"], cwd=w.project, env=w.env, capture_output=True, text=True, input=" \n")
    check(run.returncode == 2, run)
    run = w.print_mode("help", "--settings", '{"permissions": {"deny": ["Bash(rm"]}}')
    check(run.returncode == 0 and "settings: --settings:1 deny rule 'Bash(rm' IS NOT IN FORCE" in run.stderr, run)
    run = w.print_mode("help", "--settings", "{}", "--add-dir", "..")
    check(run.returncode == 0, run)
    run = subprocess.run([YARE, "-p"], cwd=w.project, env=w.env, capture_output=True, text=True, input="list src\n")
    check(run.returncode == 0 and "parse.c" in run.stdout, run)
    run = subprocess.run([YARE, "--version"], capture_output=True, text=True)
    check(run.returncode == 0 and run.stdout.startswith("yare "), run)
    run = subprocess.run([YARE], cwd=w.project, env=dict(w.env, TERM="dumb"), capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    check(run.returncode != 0 and "-p" in run.stderr, run)
    if os.geteuid() == 0:
        run = w.print_mode("help", "--permission-mode", "bypass")
        check(run.returncode == 2, run)
    w.close()


def a_disk_that_takes_no_session_is_told_at_the_start():
    w = World()
    w.env["YARE_DATA_DIR"] = w.project + "/README.md/data"
    run = w.print_mode("help")
    check(run.returncode == 1 and "sessions cannot be written below" in run.stderr, run)
    w.close()


def untrusted_folder_only_narrows():
    w = World(trust=False)
    w.write(".yare/settings.json", json.dumps({"permissions": {"allow": ["Bash(touch:*)"], "deny": ["Read(README.md)"]}}))
    run = w.print_mode("run touch never")
    check(not w.exists("never") and "not trusted" in run.stderr, run)
    run = w.print_mode("read README.md")
    check("The parser lives" not in run.stdout, run)
    run = w.print_mode("run touch now", "--trust")
    check(w.exists("now"), run)
    w.close()


def max_turns_and_errors():
    w = World()
    run = w.print_mode("read README.md then list src then list", "--max-turns", "1", "--output-format", "json")
    check(run.returncode == 1 and json.loads(run.stdout)["subtype"] == "error_max_turns", run)
    server = Server(w, {"responses": [[{"status": 401, "body": {"type": "error", "error": {
        "type": "authentication_error", "message": "invalid x-api-key"}}}]]})
    run = w.print_mode("hello", "--output-format", "json", env=server.env)
    check(run.returncode == 1 and json.loads(run.stdout)["subtype"] == "error_during_execution", run)
    check(len(server.requests()) == 1, "a 401 was tried again")
    server.close()
    w.close()


def signals():
    for sig, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        w = World()
        p = subprocess.Popen([YARE, "-p", "--allowedTools", "Bash", "--output-format", "stream-json",
                              "run touch begun; sleep 987"], cwd=w.project, env=w.env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        wait_until(lambda: w.exists("begun"), "the command to begin")
        p.send_signal(sig)
        out, _ = p.communicate(timeout=LIMIT)
        check(p.returncode == code, "signal", sig, "gave", p.returncode)
        last = json.loads(out.splitlines()[-1])
        check(last["type"] == "result" and last["terminal_reason"] == "aborted_tools", last)
        w.close()


main(a_slash_command_answers_on_standard_output, an_unknown_slash_command_is_refused, piped_input_stands_behind_the_argument, text_json_and_stream, files_that_git_ignores_are_not_found,
     denied_is_not_failure, continue_and_resume, wrong_usage,
     a_disk_that_takes_no_session_is_told_at_the_start, untrusted_folder_only_narrows,
     max_turns_and_errors, signals)
