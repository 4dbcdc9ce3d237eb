#!/usr/bin/env python3
"""An answer whose connection breaks at every event, and in the middle of each, over both wires: it is asked for again a bounded number
of times, no call runs from half an input, and each call runs once."""
import concurrent.futures
import json

from harness import Server, World, check, main

AT_ONCE = 6  # most of each run is waiting for the next attempt


def anthropic_events():
    event = lambda kind, **more: "event: %s\ndata: %s\n\n" % (kind, json.dumps(dict(more, type=kind)))
    use = {"type": "tool_use", "id": "toolu_cut", "name": "Bash", "input": {}}
    part = lambda index, kind, key, text: event("content_block_delta", index=index, delta={"type": kind, key: text})
    return [event("message_start", message={"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                                            "stop_reason": None, "usage": {"input_tokens": 5, "output_tokens": 1}}),
            event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            part(0, "text_delta", "text", "I will "), part(0, "text_delta", "text", "write."),
            event("content_block_stop", index=0),
            event("content_block_start", index=1, content_block=use),
            part(1, "input_json_delta", "partial_json", '{"command":"echo ran >'), part(1, "input_json_delta", "partial_json", '> ran.txt"}'),
            event("content_block_stop", index=1),
            event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 9}),
            event("message_stop")]


def chat_events():
    chunk = lambda delta, finish=None: "data: %s\n\n" % json.dumps(
        {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    call = lambda **more: {"tool_calls": [dict({"index": 0}, **more)]}
    return [chunk({"role": "assistant", "content": ""}), chunk({"content": "I will "}), chunk({"content": "write."}),
            chunk(call(id="call_cut", type="function", function={"name": "Bash", "arguments": ""})),
            chunk(call(function={"arguments": '{"command":"echo ran >'})), chunk(call(function={"arguments": '> ran.txt"}'})),
            chunk({}, "tool_calls"), "data: [DONE]\n\n"]


def cut_at(wire, text, whole):
    """The first answer ends after `text`, the second is whole; then all is done."""
    w = World()
    done = [{"tool_result": True, "then": [{"text": "All done."}], "again": True}]
    server = Server(w, {"responses": [[{"bare": text}, {"cut": True}], [{"bare": whole}]], "match": done})
    env = server.env if wire == "anthropic" else {"OPENAI_BASE_URL": "http://127.0.0.1:%d/v1" % server.port, "OPENAI_API_KEY": "k"}
    run = w.print_mode("do it", "--model", "m1", "--allowedTools", "Bash(echo:*)", "--permission-mode", "acceptEdits", env=env)
    said = [wire, "cut behind", text[-60:]]
    check(run.returncode == 0 and "All done." in run.stdout, *said, run)
    check(all(r["illegal"] is None for r in server.requests()), *said, [r["illegal"] for r in server.requests()])
    check(2 <= len(server.requests()) <= 3, *said, len(server.requests()), "requests")
    ran = w.read("ran.txt").count("ran") if w.exists("ran.txt") else 0
    check(ran == 1, *said, "ran", ran, "times")
    server.close()
    w.close()


def at_every_place(wire, events):
    whole, places = "".join(events), []
    for i, e in enumerate(events):
        before = "".join(events[:i])
        places += [before, before + e[:len(e) // 2], before + e[:-1]]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for future in [pool.submit(cut_at, wire, text, whole) for text in places]:
            future.result()
    print("%d places" % len(places))


def over_the_messages_api():
    at_every_place("anthropic", anthropic_events())


def over_chat_completions():
    at_every_place("openai", chat_events())


main(over_the_messages_api, over_chat_completions)
