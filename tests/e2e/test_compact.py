#!/usr/bin/env python3
"""A conversation that is compacted, on the screen at three sizes: /context, /pin, /compact with Esc, and what is sent afterwards."""
import json
import os

from harness import Screen, Server, World, check, main, wait_until

SUMMARY = ("## Task\nTalk about parsers.\n## Constraints\nNone.\n## Files\nsrc/parse.c was read.\n"
           "## State\nThe first part is done.\n## Next step\nThe second part.\n")
TALK = {"generate": {"tokens": 2500, "seed": 3}}


def job(width, height):
    w = World()
    w.write("CLAUDE.md", "Rule one: be brief.\n")
    server = Server(w, {"responses": [[TALK, {"text": "\n\nend-of-one"}, {"usage": {"input_tokens": 9000, "output_tokens": 2500}}],
                                      [{"text": "end-of-two"}]],
                        "match": [{"if": "<conversation>", "then": [{"delay_ms": 600000}, {"text": "never"}]},
                                  {"if": "<conversation>", "then": [{"text": SUMMARY}]}],
                        "extension": False})
    s = Screen(w, width, height, env=server.env)
    s.wait_for("ctx|default")
    s.say("talk about parsers")
    s.wait_for("end-of-one")
    s.say("/pin the port is 4711")
    s.wait_for("1 +the port is 4711")
    s.say("/context")
    if height >= 24:
        s.wait_for("free")
        s.wait_for("compacted by itself at")
    look(s, "context", width)
    s.keys("Escape")
    s.wait_for("4711")
    s.say("/context preview")
    s.wait_for("snip:")
    look(s, "preview", width)
    s.say("/compact the names")
    s.wait_for(r"compacting" if width >= 80 else r"/compact the names|compacting|\ds")
    wait_until(lambda: len(server.requests()) == 2, "the question for a summary")
    s.keys("Escape")
    s.wait_for("interrupted")
    s.say("/compact the names")
    s.wait_for(r"compacted \S+ to \S+\s+tokens")
    look(s, "compacted", width)
    s.say("go on")
    s.wait_for("end-of-two")
    asked = server.requests()
    check(all(r["illegal"] is None for r in asked), [r["illegal"] for r in asked])
    check("the names" in json.dumps(asked[2]["body"]), "what to keep was not asked for")
    last = json.dumps(asked[-1]["body"])
    for words in ("Rule one: be brief.", "the port is 4711", "The second part.", "talk about parsers"):
        check(words in last, words, "is not in the request:", last[:3000])
    check("end-of-one" not in last, "the old answer is still sent")
    s.keys("C-d")
    check(s.exit_status() == 0, "exit status", s.exit_status())
    s.close()
    resumed(w, server, width, height)
    server.close()
    w.close()


def resumed(w, server, width, height):
    """The line stands there again, and the same is sent."""
    before = server.requests()[-1]["body"]["messages"][0]["content"]
    s = Screen(w, width, height, ["-c"], env=server.env)
    s.wait_for(r"end-of-two")
    s.say("once more")
    wait_until(lambda: len(server.requests()) == 5, "the next request")
    now = server.requests()[-1]["body"]["messages"][0]["content"]
    strip = lambda blocks: [b["text"] for b in blocks]
    check(strip(before) == strip(now), "another first message after the resume")
    s.close()


def look(s, name, width):
    """Screens for a person to look at, where a folder for them is given."""
    folder = os.environ.get("YARE_SCREENS")
    if folder:
        with open("%s/%s-%d.txt" % (folder, name, width), "w") as f:
            f.write(s.text())


def at_120x36():
    job(120, 36)


def at_80x24():
    job(80, 24)


def at_40x12():
    job(40, 12)


main(at_120x36, at_80x24, at_40x12)
