#!/usr/bin/env python3
"""'Always': what is saved covers the same command and its variants; where no rule is narrow it is this very command, this session."""
from harness import Screen, Server, World, check, main, wait_until

RULES = ".yare/settings.local.json"


def bash(command):
    return [{"tool_use": {"name": "Bash", "input": {"command": command}}}]


def over(n):
    return [{"text": "Over %d." % n}]


def turns(*commands):
    """Each command is a turn of its own."""
    rows = []
    for n, command in enumerate(commands, 1):
        rows += [bash(command), over(n)]
    return {"responses": rows}


def screen(w, server, width=100, height=30):
    s = Screen(w, width, height, env=server.env)
    s.wait_for("default .* ctx")
    return s


def a_saved_rule_covers_the_same_and_a_variant():
    w = World()
    w.write("Makefile", "unit:\n\t@echo ran $(V)\n")
    server = Server(w, turns("make unit && git add -A && git commit -m 'first words' 2>&1 | tail -3", "make unit && git add -A && git commit -m 'first words' 2>&1 | tail -3",
                             "make unit V=2 && git add README.md && git commit -m 'other words' 2>&1 | tail"))
    s = screen(w, server)
    try:
        s.say("commit it")
        s.wait_for("a always")
        s.answer("a")
        for rule in ("make unit", "git add", "git commit"):
            s.wait_for(r"Bash\(" + rule + r":\*\)")
        check(not w.exists(RULES), "nothing is saved before Enter")
        s.wait_for("Enter saves")
        s.keys("Enter")
        s.wait_for(r"Over 1\.")
        check(w.read(RULES).count("Bash(") == 3, w.read(RULES))
        for n in (2, 3):
            s.say("again")
            s.wait_for(r"Over %d\." % n)
    finally:
        s.close()
    server.close()
    w.close()


def where_nothing_is_narrow_it_is_this_command_and_session():
    w = World()
    w.write("x.sh", "echo ran\n")
    server = Server(w, turns("sh ./x.sh", "sh ./x.sh", "sh ./x.sh two", "sh ./x.sh", "sh ./x.sh"))
    s = screen(w, server)
    try:
        s.say("run it")
        s.wait_for("a this session")
        s.answer("a")
        s.wait_for("No narrow rule")
        s.keys("Enter")
        s.wait_for(r"Over 1\.")
        s.say("again")
        s.wait_for(r"Over 2\.")
        s.say("with two")
        s.wait_for("a this session")
        s.answer("y")
        s.wait_for(r"Over 3\.")
        check(not w.exists(RULES), "no rule was saved")
        s.say("/permissions")  # it is named there, and taken back
        s.wait_for(r"allow sh \./x\.sh")
        s.keys("d")
        s.wait_for("y takes it back")
        s.keys("y")
        s.wait_gone("until the session ends")
        s.keys("Escape")
        s.wait_for("taken back, it asks again")
        s.say("after that")
        s.wait_for("a this session")
        s.answer("a")
        s.wait_for("No narrow rule")
        s.keys("Enter")
        s.wait_for(r"Over 4\.")
        s.say("/clear")
        s.say("once more")
        s.wait_for("a this session")
        s.answer("y")
        s.wait_for(r"Over 5\.")
    finally:
        s.close()
    server.close()
    w.close()


def a_long_command_is_scrolled_through_first():
    w = World()
    long = "echo " + " ".join("word%03d" % i for i in range(300)) + " > out.txt && make unit"
    w.write("Makefile", "unit:\n\t@true\n")
    server = Server(w, turns(long))
    s = screen(w, server, 80, 24)
    try:
        s.say("run it")
        s.wait_for("y once")
        check("a always" not in s.text(), s.text())
        s.answer("a")
        s.wait_for("before all of it was seen")
        s.keys("w")
        s.wait_for("w less")
        while "more, PgDn" in s.text():  # what was drawn counts, not what a burst of keys passes over
            before = s.text()
            s.keys("PageDown")
            wait_until(lambda: s.text() != before, "another page")
        s.wait_for("a always")
        s.keys("a")
        s.wait_for("Enter saves")
        s.keys("Enter")
        s.wait_for(r"Over 1\.")
        check("make unit" in w.read(RULES), w.read(RULES))
    finally:
        s.close()
    server.close()
    w.close()


main(a_saved_rule_covers_the_same_and_a_variant, where_nothing_is_narrow_it_is_this_command_and_session,
     a_long_command_is_scrolled_through_first)
