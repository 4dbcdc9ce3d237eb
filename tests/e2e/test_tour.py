#!/usr/bin/env python3
"""The tour, key by key, on two sizes of screen; and that nothing is left of it."""
import glob
import os
import pathlib

from harness import Screen, World, check, main, wait_until

STEPS = 20


class Tour(Screen):
    def __init__(self, world, width, height, args=("tour",)):
        world.env["TMPDIR"] = world.top + "/tmp"
        os.makedirs(world.env["TMPDIR"], exist_ok=True)
        self.before = tree(world.project), tree(world.home)
        super().__init__(world, width, height, args)

    def at(self, n):
        self.wait_for(r"%d/%d " % (n, STEPS))

    def wait_for_last(self, words):
        """tmux scrolls a dead pane: what was written last may stand above it."""
        wait_until(lambda: words in self.tmux("capture-pane", "-p", "-S", "-50"), words)

    def left(self):
        return glob.glob(self.world.env["TMPDIR"] + "/*")

    def check_gone(self):
        check(not self.left(), "left behind:", self.left())
        check((tree(self.world.project), tree(self.world.home)) == self.before, "something of the person's was touched")


def tree(top):
    return {str(p): p.read_bytes() if p.is_file() else None for p in pathlib.Path(top).rglob("*")}


def answer_when_asked(t, key):
    t.wait_for(r"permission 1 of 1")
    t.answer(key)


def from_start_to_end(width, height):
    w = World()
    t = Tour(w, width, height)
    t.at(1)
    t.keys("Enter")
    t.at(2)
    t.keys("Enter")
    t.at(3)
    t.keys("Enter")
    t.at(4)
    t.keys("M-2")
    t.keys("Enter")
    t.at(5)
    notes = glob.glob(t.left()[0] + "/*/notes/list.txt")[0]
    t.keys("Enter")
    t.at(6)
    answer_when_asked(t, "y")
    t.at(7)
    check("mend the sail" in open(notes).read(), "the edit did not happen")
    t.keys("Enter")
    t.at(8)
    answer_when_asked(t, "n")
    t.type("the list is needed")
    t.wait_for("list is")
    t.keys("Enter")
    t.at(9)
    check(os.path.exists(notes), "the denied command ran")
    t.keys("M-a")
    t.at(10)
    t.wait_for("auto")
    t.keys("M-a")
    t.at(11)
    t.keys("Enter")
    t.at(12)
    t.keys("M-4")
    t.at(13)
    t.type("x")
    t.at(14)
    t.keys("M-m")
    t.wait_for("meters|context")
    t.keys("Escape")
    t.at(15)
    t.keys("Enter")
    t.at(16)
    t.keys("C-t")
    t.at(17)
    t.keys("C-f")
    t.type("colour")
    t.keys("Enter")
    t.at(18)
    check("type colour" not in t.text(), "the search found its own instruction", t.text())
    t.keys("Enter")
    t.at(19)
    t.keys("Enter")
    t.at(20)
    t.wait_for("ANTHROPIC_API_KEY")  # "KEY" in it is no key of the keyboard
    t.keys("Enter")
    code = t.exit_status()
    check(code == 0, "exit status", code, t.tmux("capture-pane", "-p", "-S", "-60"))
    t.wait_for_last("folder is gone again")
    t.check_gone()
    t.close()
    w.close()


def from_start_to_end_at_80x24():
    from_start_to_end(80, 24)


def from_start_to_end_at_40x12():
    from_start_to_end(40, 12)


def every_step_can_be_skipped():
    w = World()
    t = Tour(w, 80, 24)
    for n in (1, 2, 3, 4, 5, 7, 9, 10, 11, *range(14, STEPS + 1)):
        t.at(n)
        if n == 3:
            t.keys("C-u")
            t.type("skip")
            t.keys("Enter")
        else:
            t.keys("Escape")
    check(t.exit_status() == 0, "exit status")
    t.check_gone()
    t.close()
    w.close()


def leaving_in_the_middle_clears_up():
    for n, key in ((1, "C-d"), (6, "C-c")):
        w = World()
        t = Tour(w, 80, 24)
        t.at(1)
        if n == 6:
            for step in (1, 2, 3, 4):
                t.at(step)
                t.keys("Escape")
            t.at(5)
            t.keys("Enter")
            t.at(6)
            t.wait_for("permission 1 of 1")
            t.keys("M-1")
            t.keys("C-c")
            t.at(7)
            t.keys("C-u")
            t.keys("C-d")
        else:
            t.keys(key)
        check(t.exit_status() == 0, "exit status")
        t.check_gone()
        t.close()
        w.close()


def what_the_person_left_stays():
    w = World()
    t = Tour(w, 80, 24)
    t.at(1)
    project = glob.glob(t.left()[0] + "/harbour")[0]
    with open(project + "/mine.txt", "w") as f:
        f.write("mine\n")
    t.keys("C-d")
    t.exit_status()
    t.wait_for_last("it stays:")
    check(os.path.exists(project + "/mine.txt"), "it went away")
    check(sorted(os.listdir(os.path.dirname(project))) == ["harbour"], os.listdir(os.path.dirname(project)))
    t.close()
    w.close()


def a_signal_clears_up_too():
    w = World()
    t = Tour(w, 80, 24)
    t.at(1)
    os.kill(t.pid(), 15)
    check(t.exit_status() == 143, "exit status")
    t.check_gone()
    t.close()
    w.close()


def tour_typed_to_the_pilot_goes_there_and_comes_back():
    w = World()
    w.write("README.md", "# demo\n")
    t = Tour(w, 80, 24, ("--provider", "offline"))
    t.wait_for("offline pilot")
    t.say("read README.md")
    t.wait_for("# demo")
    t.say("tour")
    t.at(1)
    t.keys("C-d")
    t.wait_for("# demo")
    t.wait_for("offline pilot")
    check(not t.left(), "left behind:", t.left())
    t.keys("C-d")
    check(t.exit_status() == 0, "exit status")
    t.close()
    w.close()


def the_tour_leads_back_to_a_session_that_was_only_looked_at():
    w = World()
    w.write("README.md", "# demo\n")
    first = Screen(w, 80, 24, ("--provider", "offline"))
    first.wait_for("offline pilot")
    first.say("read README.md")
    first.wait_for("# demo")
    first.keys("C-d")
    first.exit_status()
    first.close()
    t = Tour(w, 80, 24, ("--provider", "offline", "-c"))
    t.wait_for("# demo")
    t.say("/tour")
    t.at(1)
    t.keys("C-d")
    t.wait_for("# demo")
    t.keys("C-d")
    check(t.exit_status() == 0, "exit status")
    t.close()
    w.close()


def a_newcomer_is_offered_it():
    w = World()
    found = w.journals()
    for j in found:
        os.remove(j)
    for d in glob.glob(w.home + "/.local/share/yare/projects/*"):
        for f in glob.glob(d + "/*"):
            os.remove(f) if os.path.isfile(f) else None
    s = Screen(w, 80, 24)
    s.wait_for(r"two-minute tour")
    s.say("read README.md")
    s.wait_for("The parser lives")
    s.keys("C-d")
    s.exit_status()
    s.close()
    s = Screen(w, 80, 24)
    s.wait_for("shown around")
    s.keys("a")
    s.wait_for("> a")
    check("two-minute" not in s.text(), "offered again")
    s.close()
    w.close()


def in_print_mode_the_pilot_says_where_it_is():
    w = World()
    before = tree(w.project)
    run = w.print_mode("tour", "--provider", "offline")
    check(run.returncode == 0 and "yare tour" in run.stdout, run)
    check(tree(w.project) == before, "the project was touched")
    w.close()


if __name__ == "__main__":
    main(from_start_to_end_at_80x24, from_start_to_end_at_40x12, every_step_can_be_skipped, leaving_in_the_middle_clears_up,
         what_the_person_left_stays, a_signal_clears_up_too, tour_typed_to_the_pilot_goes_there_and_comes_back,
         the_tour_leads_back_to_a_session_that_was_only_looked_at,
         a_newcomer_is_offered_it, in_print_mode_the_pilot_says_where_it_is)
