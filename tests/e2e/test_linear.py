#!/usr/bin/env python3
"""Plain lines in place of panes: what a screen reader or a dumb terminal gets, on a pseudo terminal of the test's own."""
import os
import re
import signal
import subprocess
import termios

from harness import LIMIT, Server, World, YARE, check, main, wait_until
from terminal import Terminal

SLOW = [{"text": "start "}, {"delay_ms": 60000}, {"text": "end"}]
PROMPT = r"(^|\n)(plan|accept edits|auto \(AFK\))?> $"


class Lines(Terminal):
    """yare on a terminal; `text` is what it has written."""

    def __init__(self, world, args=("--linear", "--provider", "offline"), env=None):
        super().__init__(world, env, args, controlling=True)

    @property
    def text(self):
        return self.out.decode("utf-8", "replace").replace("\r\n", "\n")

    def wait_for(self, pattern, since=0):
        wait_until(lambda: re.search(pattern, self.text[since:]) or (self.take(0.02) and False),
                   lambda: "%s in %s" % (pattern, self.text[-3000:]))

    def type(self, text):
        self.write(text.encode())

    def say(self, line, then=PROMPT):
        """Types a line; waits for what shall follow it."""
        since = len(self.text)
        self.type(line + "\n")
        if then:
            self.wait_for(then, since + len(line))
        return self.text[since:]

    def status(self):
        wait_until(lambda: self.take(0.02) or self.process.poll() is not None, "the end")
        wait_until(lambda: self.process.poll() is not None, lambda: "the end: " + self.text[-2000:])
        self.take(0.05)
        return self.process.returncode

    def check_plain(self, ascii_only=False):
        bad = re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", self.out.replace(b"^C", b""))
        check(not bad, "a control byte was written:", bad and self.out[max(0, bad.start() - 40):bad.end() + 40])
        if ascii_only:
            bad = re.search(rb"[\x80-\xff]", self.out)
            check(not bad, "a byte that is not ASCII was written:", bad and self.out[max(0, bad.start() - 40):])
        check(termios.tcgetattr(self.slave) == self.found, "the line settings differ")


def a_whole_job_by_lines():
    w = World()
    t = Lines(w)
    t.wait_for(PROMPT)
    check("the offline pilot" in t.text, t.text)
    got = t.say("read README.md")
    check("[Read] README.md" in got and "The parser lives in src." in got, got)
    got = t.say("replace `return 1` with `return 2` in src/parse.c", "n no, w why: $")
    check("Permission asked: Edit" in got and "-    return 1;" in got and "+    return 2;" in got, got)
    got = t.say("w", "n no, w why: $")
    check("ask" in got, got)
    got = t.say("y")
    check("return 2" in w.read("src/parse.c"), "the edit did not happen:", got)
    got = t.say("!echo from the shell")
    check("from the shell" in got, got)
    got = t.say("/mode plan", r"\nplan> $")
    got = t.say("/exit", None)
    check(t.status() == 0, "exit", t.process.returncode)
    check(re.search(r"yare resume [0-9a-f-]{36}\n$", t.text), t.text[-200:])
    t.check_plain()
    t.close()
    w.close()


def calls_at_once_are_told_apart():
    w = World()
    bash = lambda command: {"tool_use": {"name": "Bash", "input": {"command": command}}}
    server = Server(w, {"responses": [[bash("echo one"), bash("echo two"), bash("ls no-such-file")], [{"text": "There."}],
                                      [bash("echo alone")], [{"text": "Well."}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    got = t.say("go")
    # a command that fails takes along what still runs beside it; one that is over before the next begins stands below its own line
    for call, ends in ("echo one", "done|cancelled"), ("echo two", "done|cancelled"), ("ls no-such-file", "failed"):
        want = r"\[Bash\] %s(: |\n\[Bash\] )(%s)" % (call, ends)
        check(re.search(want, got), want, "is missing:", got)
    got = t.say("again")
    check("[Bash] echo alone\n[Bash] done" in got, got)  # where one alone runs it is known
    t.type("\x04")
    check(t.status() == 0, "exit", t.process.returncode)
    t.close()
    server.close()
    w.close()


def a_session_without_a_word_is_no_place_to_go_back_to():
    w = World()
    t = Lines(w)
    t.wait_for(PROMPT)
    t.say("read README.md")
    t.say("/clear")
    t.say("/exit", None)
    check(t.status() == 0 and "yare resume" not in t.text, t.text[-300:])
    t.close()
    w.close()


def a_denial_with_its_reason_reaches_the_model():
    w = World()
    server = Server(w, {"responses": [[{"tool_use": {"name": "Bash", "input": {"command": "rm -rf src"}}}], [{"text": "I see."}],
                                      [{"tool_use": {"name": "Bash", "input": {"command": "rm -rf src"}}}], [{"text": "Well."}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    t.say("go", "n no, w why: $")
    t.say("maybe", "answer y, a, n")
    t.say("n", r"reason for the model \(may be empty\): $")
    t.say("keep the sources")
    t.say("again", "n no, w why: $")
    t.say("no not that either")
    sent = str(server.requests())
    check("keep the sources" in sent and "not that either" in sent, "the reasons were not sent")
    check(w.exists("src/parse.c"), "it ran")
    t.type("\x04")
    check(t.status() == 0, "exit", t.process.returncode)
    t.check_plain()
    t.close()
    server.close()
    w.close()


def always_shows_the_rule_before_it_is_saved():
    w = World()
    t = Lines(w)
    t.wait_for(PROMPT)
    got = t.say("run touch made.txt", "n no, w why: $")
    check("y once, a always, n no" in got, got)
    got = t.say("a", "goes back: $")
    check("These rules would be saved in" in got and "allow Edit(/made.txt)" in got, got)
    t.say("x", "n no, w why: $")
    check(not os.path.exists(w.project + "/.yare/settings.local.json"), "saved before the yes")
    t.say("a", "goes back: $")
    t.say("y")
    check(w.exists("made.txt"), "it did not run")
    check(os.path.exists(w.project + "/.yare/settings.local.json"), "the rule was not saved")
    t.type("\x04")
    t.status()
    t.close()
    w.close()


def always_is_offered_only_where_it_is_something():
    w = World()
    server = Server(w, {"responses": [[{"tool_use": {"name": "Bash", "input": {"command": "echo a > .yare/x"}}}], [{"text": "I see."}],
                                      [{"tool_use": {"name": "Bash", "input": {"command": "sh ./x.sh"}}}], [{"text": "Well."}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    got = t.say("go", "n no, w why: $")
    check("y once, n no" in got, "always is offered where there is no rule:", got)
    got = t.say("maybe", "n no, w why: $")
    check("answer y, n (" in got, got)
    t.say("n no")
    got = t.say("again", "n no, w why: $")
    check("y once, a this session, n no" in got, got)
    got = t.say("a", "goes back: $")
    check("until the session ends" in got and "saves" not in got, got)
    t.say("y")
    t.type("\x04")
    check(t.status() == 0, "exit", t.process.returncode)
    t.check_plain()
    t.close()
    server.close()
    w.close()


def ctrl_c_interrupts_and_twice_ends():
    w = World()
    server = Server(w, {"responses": [SLOW, [{"text": "fine"}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    t.say("go", "start")
    since = len(t.text)
    t.type("\x03")
    t.wait_for(PROMPT, since)
    check(re.search(r"\n\(interrupted[,)]", t.text[since:]), t.text[since:])
    check(t.process.poll() is None, "one Ctrl+C ended it")
    got = t.say("still there?")
    check("fine" in got, got)
    since = len(t.text)
    t.type("\x03")
    t.wait_for("Ctrl\\+C again ends yare\n> $", since)
    check(t.process.poll() is None, "one Ctrl+C on an empty prompt ended it")
    t.type("\x03")
    check(t.status() == 0, "exit", t.process.returncode)
    t.check_plain()
    t.close()
    server.close()
    w.close()


def what_was_typed_before_a_request_does_not_answer_it():
    w = World()
    server = Server(w, {"responses": [[{"delay_ms": 700}, {"tool_use": {"name": "Bash", "input": {"command": "rm -rf src"}}}],
                                      [{"text": "ok"}], [{"text": "ok"}], [{"text": "ok"}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    t.type("go\ny\ny\n")
    t.wait_for("n no, w why: $")
    t.take(0.3)
    check(w.exists("src/parse.c"), "an early y allowed it:", t.text)
    t.say("n no")
    check(w.exists("src/parse.c"), "it ran")
    t.type("\x04")
    t.status()
    t.close()
    server.close()
    w.close()


def what_is_typed_at_once_brings_no_prompt_into_its_answer():
    w = World()
    server = Server(w, {"responses": [[{"delay_ms": 300}, {"text": "First."}],
                                      [{"delay_ms": 300}, {"text": "Second."}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    t.type("one\ntwo\nthree\n")  # the first is not in the conversation when the others are read
    t.wait_for("Second.[^>]*" + PROMPT)
    answered = t.text[t.text.index("First."):]
    check(answered.count("\n> ") == 1 and answered.endswith("\n> "), "a prompt stands in the answer:", answered)
    t.type("\x04")
    check(t.status() == 0, "exit", t.process.returncode)
    t.close()
    server.close()
    w.close()


def what_is_typed_meanwhile_brings_no_prompt_into_its_answer():
    w = World()
    server = Server(w, {"responses": [[{"delay_ms": 700}, {"text": "First."}],
                                      [{"tool_use": {"name": "Read", "input": {"file_path": "README.md"}}}], [{"text": "Second."}]]})
    t = Lines(w, ("--linear",), server.env)
    t.wait_for(PROMPT)
    t.type("one\n")
    wait_until(lambda: t.take(0.02) or server.requests(), "the first request")
    t.type("two\n")
    t.wait_for("Second.[^>]*" + PROMPT)
    answered = t.text[t.text.index("First."):]
    check(answered.count("\n> ") == 1 and answered.endswith("\n> "), "a prompt stands in the answer:", answered)
    t.type("\x04")
    check(t.status() == 0, "exit", t.process.returncode)
    t.close()
    server.close()
    w.close()


def chosen_where_no_screen_can_be():
    w = World()
    w.write("umlaut.txt", "na\u00efve \u2014 \u201cquoted\u201d \u65e5\u672c \u2713\x1b[31m\n")
    rows = (({"TERM": "dumb"}, "cannot place the cursor", False), ({"TERM": None}, "TERM is not set", False),
            ({"TERM": "no-such-terminal"}, "not described on this system", False),
            ({"TERM": "xterm-256color", "TERMINFO": "/nowhere", "TERMINFO_DIRS": "/nowhere", "TERM_X": "1"}, None, False),
            ({"TERM": "dumb", "LANG": None, "LC_ALL": "C"}, "plain lines", True),
            ({"TERM": "dumb", "LANG": None, "LC_ALL": "POSIX"}, "plain lines", True))
    for env, says, plain in rows:
        if says is None:
            continue  # ncurses looks into its own folder still: the made-up name above is the missing entry
        t = Lines(w, ("--provider", "offline"), env)
        t.wait_for(PROMPT)
        check(says in t.text, env, "says", t.text)
        got = t.say("read umlaut.txt")
        if plain:
            check('naive -- "quoted" ?? v^[[31m' in got, repr(got))
        else:
            check("na\u00efve \u2014 \u201cquoted\u201d \u65e5\u672c \u2713^[[31m" in got, repr(got))
        t.type("\x04")
        check(t.status() == 0, "exit", t.process.returncode)
        t.check_plain(plain)
        t.close()
    w.close()


def the_screen_comes_up_in_the_c_locale():
    w = World()
    for name in ("C", "POSIX"):
        t = Lines(w, ("--provider", "offline"), {"LANG": None, "LC_ALL": name})
        t.wait_for("ctx")
        check(not re.search(rb"[\x80-\xff]", t.out), name, ": bytes that are not ASCII")
        t.type("\x04")
        check(t.status() == 0, "exit", t.process.returncode)
        t.close()
    w.close()


def a_pipe_is_told_about_print_mode():
    w = World()
    run = subprocess.run([YARE, "--linear"], cwd=w.project, env=w.env, input="hello\n", capture_output=True, text=True, timeout=LIMIT)
    check(run.returncode == 2 and "yare -p" in run.stderr, run)
    w.close()


def signals_end_it():
    for name, status in (("SIGTERM", 143), ("SIGHUP", 143)):
        w = World()
        server = Server(w, {"responses": [SLOW]})
        t = Lines(w, ("--linear",), server.env)
        t.wait_for(PROMPT)
        t.say("go", "start")
        t.process.send_signal(getattr(signal, name))
        check(t.status() == status, name, t.process.returncode)
        t.check_plain()
        t.close()
        server.close()
        w.close()


def the_tour_goes_by_lines_too():
    w = World()
    tmp = w.top + "/tmp"
    os.mkdir(tmp)
    before = sorted(os.listdir(w.project))
    t = Lines(w, ("tour",), {"TERM": "dumb", "TMPDIR": tmp})
    t.wait_for("n no, w why: $")
    check("the colour of the hull" in t.text and "+2. mend the sail" in t.text, t.text)
    t.say("y")
    check("[now]  look around" in t.text, t.text)
    t.type("\x04")
    check(t.status() == 0, "exit", t.process.returncode)
    check("folder is gone again" in t.text, t.text[-300:])
    check(not os.listdir(tmp) and sorted(os.listdir(w.project)) == before, "something is left")
    t.check_plain()
    t.close()
    w.close()


def it_is_recorded_too():
    w = World()
    path = w.top + "/r.jsonl"
    t = Lines(w, ("--linear", "--provider", "offline", "--events", path))
    t.wait_for(PROMPT)
    t.say("read README.md")
    t.type("\x04")
    t.status()
    t.close()
    run = subprocess.run([YARE, "replay", path, "--linear"], cwd=w.project, env=w.env, capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=LIMIT)
    check(run.returncode == 0, run)
    for part in ("> read README.md", "[Read] README.md", "The parser lives in src.", "the recording ends here"):
        check(part in run.stdout, part, "is not in", run.stdout)
    check("\x1b" not in run.stdout, run.stdout)
    w.close()


if __name__ == "__main__":
    main(calls_at_once_are_told_apart, a_whole_job_by_lines, a_session_without_a_word_is_no_place_to_go_back_to, a_denial_with_its_reason_reaches_the_model,
         always_shows_the_rule_before_it_is_saved, always_is_offered_only_where_it_is_something,
         ctrl_c_interrupts_and_twice_ends, what_was_typed_before_a_request_does_not_answer_it,
         what_is_typed_at_once_brings_no_prompt_into_its_answer,
         what_is_typed_meanwhile_brings_no_prompt_into_its_answer, chosen_where_no_screen_can_be,
         the_screen_comes_up_in_the_c_locale, a_pipe_is_told_about_print_mode, signals_end_it,
         the_tour_goes_by_lines_too, it_is_recorded_too)
