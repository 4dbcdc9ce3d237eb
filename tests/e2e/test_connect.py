#!/usr/bin/env python3
"""Model servers on this machine: offered by name, taken by /connect, their real window, kept by --save, and what doctor says."""
import json
import os
import re
import subprocess

from harness import LIMIT, LocalServer, Screen, World, YARE, check, main, wait_until

OLLAMA = {"GET /v1/models": {"data": [{"id": "qwen3:8b", "owned_by": "library"}, {"id": "tiny:1b", "owned_by": "library"}]},
          "GET /api/version": {"version": "0.9"},
          "GET /api/ps": {"body": {"models": []}, "then": {"models": [{"model": "qwen3:8b", "context_length": 40960}]}},
          "POST /api/show": {"model_info": {"qwen3.context_length": 131072}}}
VLLM = {"GET /v1/models": {"data": [{"id": "big", "owned_by": "vllm", "max_model_len": 65536}]}}


def an_offer_by_name_and_no_silent_choice():
    w = World()
    server = LocalServer(w, OLLAMA)
    run = w.print_mode("help", env={"YARE_LOCAL_SERVERS": server.url})
    check(run.returncode == 0 and "offline pilot" in run.stderr, run)
    check("yare: Ollama answers on 127.0.0.1:%d (qwen3:8b, 1 more)" % server.port in run.stderr, run.stderr)
    check("--base-url %s/v1" % server.url in run.stderr, run.stderr)
    check(not [r for r in server.requests() if "chat" in r["path"]], "it was asked without being chosen")
    before = len(server.requests())
    run = w.print_mode("help", "--provider", "offline", env={"YARE_LOCAL_SERVERS": server.url})
    check("Ollama" not in run.stderr and len(server.requests()) == before, "the person chose: nothing is looked for")
    server.close()
    run = w.print_mode("help", env={"YARE_LOCAL_SERVERS": server.url})
    check(run.returncode == 0 and "answers on" not in run.stderr, run)
    w.close()


def connect_on_the_screen_and_save():
    w = World()
    ollama, vllm = LocalServer(w, OLLAMA), LocalServer(w, VLLM)
    env = {"YARE_LOCAL_SERVERS": ollama.url + "," + vllm.url, "OPENAI_API_KEY": ""}
    s = Screen(w, 140, 40, env=env)
    s.wait_for("offline pilot answers")
    s.say("/connect")
    s.wait_for("Ollama on 127.0.0.1:%d: qwen3:8b, tiny:1b" % ollama.port)
    s.wait_for("vLLM on 127.0.0.1:%d: big" % vllm.port)
    s.say("/connect %s" % vllm.url)
    s.wait_for("connected: big .*vLLM.*65536 tokens")
    s.say("ping one")
    s.wait_for("pong from big")
    s.say("/connect ollama")
    s.wait_for("which model of")
    s.say("/connect ollama qwen3:8b --save")
    s.wait_for("connected: qwen3:8b")
    s.wait_for("is only 4096 tokens")
    s.wait_for("OLLAMA_CONTEXT_LENGTH")
    s.wait_for("saved in")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    with open(w.home + "/.config/yare/settings.json") as f:
        saved = json.load(f)
    check(saved == {"provider": "openai", "baseUrl": ollama.url + "/v1", "model": "qwen3:8b"}, saved)
    run = w.print_mode("ping", "--max-turns", "1", env={"OPENAI_API_KEY": "not-for-it"})
    check("offline" not in run.stderr, run)
    chats = [r for r in ollama.requests() if "chat" in r["path"]]
    check(len(chats) == 1 and chats[0]["body"]["model"] == "qwen3:8b", run, chats)
    check(all("authorization" not in r["headers"] for r in ollama.requests()), "the key went to a saved local server")
    ollama.close()
    vllm.close()
    w.close()


def a_server_of_ones_own_is_not_denied():
    """One at an address of its own answers: the list below it does not say that none does."""
    w = World()
    server = LocalServer(w, OLLAMA)
    env = {"OPENAI_BASE_URL": server.url + "/v1", "OPENAI_MODEL": "qwen3:8b", "YARE_LOCAL_SERVERS": ""}
    run = w.print_mode("/connect", env=env)
    check("connected: qwen3:8b (openai, Ollama at 127.0.0.1:%d)" % server.port in run.stdout, run)
    check("no other model server answers" in run.stdout, run)
    run = w.print_mode("/connect", env={"YARE_LOCAL_SERVERS": ""})
    check("no model server answers" in run.stdout, run)
    server.close()
    w.close()


def the_window_is_looked_at_again():
    """Nobody knows the size of a model that is not loaded: the first answer loads it."""
    w = World()
    server = LocalServer(w, OLLAMA)
    env = {"OPENAI_BASE_URL": server.url + "/v1", "OPENAI_MODEL": "qwen3:8b"}
    s = Screen(w, 140, 40, env=env)
    s.wait_for("is not loaded yet; the usual size there is only 4096")
    s.say("ping")
    s.wait_for("pong from qwen3:8b")
    s.wait_for("takes in 40960 tokens")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    server.close()
    w.close()


def a_small_window_is_kept_and_said():
    w = World()
    server = LocalServer(w, dict(OLLAMA, **{"POST /api/show": {"parameters": "num_ctx 9000"}, "GET /api/ps": {"models": []}}))
    env = {"OPENAI_BASE_URL": server.url + "/v1", "OPENAI_MODEL": "qwen3:8b"}
    run = w.print_mode("ping", "--output-format", "json", env=env)
    check(run.returncode == 0, run)
    chat = [r["body"] for r in server.requests() if "chat" in r["path"]][0]
    limit = chat.get("max_tokens") or chat.get("max_completion_tokens")
    check(limit and limit < 9000 - 1000, "an answer of", limit, "does not fit beside the prompt")
    os.makedirs(w.home + "/.config/yare", exist_ok=True)
    with open(w.home + "/.config/yare/settings.json", "w") as f:
        json.dump({"contextWindow": 8000}, f)
    s = Screen(w, 140, 40, env=env)
    s.wait_for("qwen3:8b")
    s.say("/context")
    s.wait_for(r"of 8\.0k tokens")
    s.keys("Escape")
    s.wait_gone("cache breaks")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    server.close()
    w.close()


def errors_leave_the_session_as_it_was():
    w = World()
    s = Screen(w, 140, 40)
    s.wait_for("offline pilot answers")
    for said, want in (("/connect nowhere", "no server known by name"), ("/connect http://127.0.0.1:1/v1 m", "no connection"),
                       ("/connect ftp://x m", "no http or https"), ("/connect openai", "OPENAI_API_KEY"),
                       ("/connect a b c", "usage"), ("/connect --save", "nothing was connected")):
        s.say(said)
        s.wait_for(want)
    s.say("read README.md")
    s.wait_for("The parser lives")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status")
    s.close()
    w.close()


def doctor_says_it_all():
    w = World()
    server = LocalServer(w, OLLAMA)
    os.makedirs(w.home + "/.config/yare", exist_ok=True)
    path = w.home + "/.config/yare/settings.json"
    with open(path, "w") as f:
        f.write('{\n  "wurst": 1,\n  "permissions": {\n    "deny": ["Read(./x)"],\n    "allow": ["Read(./x)"]\n  }\n}\n')
    w.write("AGENTS.md", "Be brief.\n")
    env = dict(w.env, YARE_LOCAL_SERVERS=server.url, ANTHROPIC_API_KEY="sk-secret-1")

    def doctor(**more):
        return subprocess.run([YARE, "doctor"], cwd=w.project, env=dict(env, **more), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT)
    run = doctor()
    check(run.returncode == 0, run)
    for want in (r"version +yare \d", r"terminal +xterm-256color", r"UTF-8", r"sandbox ", r"git ", r"bwrap ",
                 r"provider +anthropic \(by ANTHROPIC_API_KEY\)", r"key +ANTHROPIC_API_KEY", r"Ollama on 127.0.0.1:\d+: qwen3:8b",
                 r"user +%s" % re.escape(path), r"warning +%s:2 " % re.escape(path), r"warning +%s:5 " % re.escape(path), r"AGENTS.md",
                 r"result +nothing is broken; 2 warnings", r"data +.*writable", r"free", r"sessions +1"):
        check(re.search(want, run.stdout), want, "is missing:\n" + run.stdout)
    check("sk-secret" not in run.stdout + run.stderr, "doctor shows the key")
    with open(path, "w") as f:
        f.write('{\n"permissions": {"deny": ["Bash(git push:*"], "allow": ["Bsh(foo)"]}\n}\n')
    run = doctor()
    check(run.returncode == 1, "a deny rule that cannot be read is no error:", run)
    check(re.search(r"BROKEN +%s:2 deny rule .* IS NOT IN FORCE" % re.escape(path), run.stdout), run)
    check(re.search(r"warning +%s:2 allow rule" % re.escape(path), run.stdout), run)
    check(re.search(r"result +1 thing is broken, see BROKEN above; 1 warning$", run.stdout, re.M), run)
    with open(path, "w") as f:
        f.write('{\n"permissions": {"allow": ["Bsh(foo)"]}\n}\n')
    run = doctor()
    check(run.returncode == 0 and re.search(r"result +nothing is broken; 1 warning", run.stdout), run)
    with open(path, "w") as f:
        f.write("{ broken")
    run = doctor()
    check(run.returncode == 1 and path + ":1" in run.stdout, run)
    os.unlink(path)
    run = doctor()
    check(run.returncode == 0 and "all is well" in run.stdout and "memory:" not in run.stdout, run)
    run = doctor(YARE_DATA_DIR="/proc/nowhere")
    check(run.returncode == 1 and "/proc/nowhere" in run.stdout, run)
    run = doctor(ANTHROPIC_API_KEY="", YARE_LOCAL_SERVERS="")
    check(run.returncode == 0 and "offline pilot answers" in run.stdout and "/connect" in run.stdout, run)
    check("no model server answers" in run.stdout, run)
    run = doctor(ANTHROPIC_API_KEY="", YARE_LOCAL_SERVERS="", OPENAI_BASE_URL=server.url + "/v1")
    check(re.search(r"servers +Ollama on 127.0.0.1:\d+ \(OPENAI_BASE_URL\): qwen3:8b", run.stdout), run)
    check("no model server answers" not in run.stdout and "offline pilot answers" not in run.stdout, run)
    run = doctor(ANTHROPIC_API_KEY="", YARE_LOCAL_SERVERS="", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
    check(re.search(r"servers +127.0.0.1:1 \(OPENAI_BASE_URL\) does not say which models it has: ", run.stdout), run)
    check("no model server answers" not in run.stdout, run)
    run = doctor(ANTHROPIC_API_KEY="", OPENAI_BASE_URL="nonsense")
    check(run.returncode == 1 and "OPENAI_BASE_URL" in run.stdout, run)
    server.close()
    w.close()


def doctors_lines_break_between_words():
    w = World()
    s = Screen(w, 70, 100, ("doctor",))
    check(s.exit_status() == 0, "exit status")
    piped = subprocess.run([YARE, "doctor"], cwd=w.project, env=w.env, capture_output=True, text=True, timeout=LIMIT).stdout
    at_terminal = s.text()
    own = ("version", "standard output", "temporary files", "MB free", "limits:")  # another run, another word; the first line has scrolled
    for line in piped.splitlines():
        for word in line.split():
            check(len(word) > 50 or any(o in line for o in own) or word in at_terminal, word, "is broken:\n" + at_terminal)
    s.close()
    w.close()


main(an_offer_by_name_and_no_silent_choice, connect_on_the_screen_and_save, a_server_of_ones_own_is_not_denied, the_window_is_looked_at_again,
     a_small_window_is_kept_and_said,      errors_leave_the_session_as_it_was, doctor_says_it_all, doctors_lines_break_between_words)
