#!/usr/bin/env python3
"""A loopback model server for tests: speaks the streaming Messages API from a script, checks that what it is sent is legal.

  model_server.py --script FILE --log FILE [--port 0] [--dribble BYTES] [--max-seconds N]

Prints "listening on PORT" first; ends when standard input closes (or after --max-seconds).  The log gets one JSON line a request:
{"n", "path", "headers", "body", "illegal": reason or null}.  An illegal request is answered 400.

The script is {"responses": [RESPONSE, ...], "match": [{"if": WORD, "then": RESPONSE}, ...]}.  A request is answered by the first
`match` row whose WORD is in its last user message (rows come before the list; each row is used once unless "again" is true), else by
the next response of the list; past its end the last one is used again.  A RESPONSE is a list of steps:
  {"text": "..."}  {"thinking": "...", "signature": "..."}  {"tool_use": {"id"?, "name", "input"}}
  {"generate": {"tokens": n, "seed": s}}   long Markdown, the same for the same seed
  {"delay_ms": n}  pause      {"ping": true}     {"raw": "bytes as they are"}
  {"usage": {...}} of the message   {"stop_reason": "..."}  (default: tool_use where a tool was called, else end_turn)
  {"cut": true}    close the connection here        {"error": {"type", "message"}}   an error event after 200
  {"status": 529, "headers": {...}, "body": {...}}  instead of a stream (first step)
  {"tokens_per_second": n}  pace of what follows
"""
import argparse
import http.server
import json
import random
import re
import sys
import threading
import time

WORDS = ("parser token stream buffer window engine cache module thread event queue reads writes keeps finds lists the a each of "
         "with into over and when").split()


def strip_cache(value):
    """The value without cache_control marks, which move from request to request."""
    if isinstance(value, dict):
        return {k: strip_cache(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [strip_cache(v) for v in value]
    return value


def legality(body):
    """Why the request is illegal, or None."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "no messages"
    if messages[0]["role"] != "user":
        return "the first message is not the user's"
    marks = json.dumps(body).count('"cache_control"')
    if marks > 4:
        return "%d cache breakpoints" % marks
    open_ids, seen = [], set()
    for i, m in enumerate(messages):
        blocks = m["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if not blocks:
            return "message %d is empty" % i
        if i and messages[i - 1]["role"] == m["role"]:
            return "message %d has the role of the one before" % i
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if open_ids and (m["role"] != "user" or sorted(results) != sorted(open_ids)):
            return "message %d answers %s, open were %s" % (i, results, open_ids)
        if results and not open_ids:
            return "message %d answers calls that are not open: %s" % (i, results)
        kinds = [b["type"] == "tool_result" for b in blocks]
        if kinds != sorted(kinds, reverse=True):
            return "message %d: results do not come first" % i
        for b in blocks:
            if b["type"] == "text" and not b["text"].strip():
                return "message %d has an empty text block" % i
            if b["type"] == "tool_result" and b.get("content") in ("", []):
                return "message %d has an empty result" % i
        open_ids = [b["id"] for b in blocks if b["type"] == "tool_use"] if m["role"] == "assistant" else []
        if len(set(open_ids)) != len(open_ids) or seen & set(open_ids):
            return "message %d repeats a tool_use id" % i
        seen |= set(open_ids)
    if open_ids:
        return "the last message leaves calls open: %s" % open_ids
    names = [t["name"] for t in body.get("tools", [])]
    if len(set(names)) != len(names):
        return "a tool is listed twice"
    for key in ("model", "max_tokens"):
        if key not in body:
            return "no " + key
    return None


def raw_parts(text):
    """The bytes of tools, system and each message as they stand in the body, cache marks taken out."""
    text = text.replace(',"cache_control":{"type":"ephemeral"}', "")
    decoder, parts = json.JSONDecoder(), {}
    for key in ("tools", "system"):
        at = re.search(r'[{,]"%s":' % key, text)
        if at:
            _, end = decoder.raw_decode(text, at.end())
            parts[key] = text[at.end():end]
    at = text.index('"messages":[') + len('"messages":[')
    parts["messages"] = []
    while text[at] != "]":
        if text[at] == ",":
            at += 1
        _, end = decoder.raw_decode(text, at)
        parts["messages"].append(text[at:end])
        at = end
    return parts


def extends(before, now):
    """Why the request does not extend the one before byte for byte, or None."""
    for key in ("tools", "system"):
        if before.get(key) != now.get(key):
            return key + " changed"
    n = len(before["messages"])
    for i in range(n):
        if i >= len(now["messages"]) or now["messages"][i] != before["messages"][i]:
            return "message %d changed" % i
    return None


def markdown(tokens, seed):
    """About that many tokens of Markdown, four characters each."""
    rng, out, size = random.Random(seed), [], 0
    while size < tokens * 4:
        kind = rng.randrange(6)
        if kind == 0:
            piece = "\n## %s\n\n" % " ".join(rng.choices(WORDS, k=3)).title()
        elif kind == 1:
            piece = "".join("- %s\n" % " ".join(rng.choices(WORDS, k=8)) for _ in range(3)) + "\n"
        elif kind == 2:
            piece = "```c\n" + "".join("int %s_%d = %d;\n" % (rng.choice(WORDS), i, rng.randrange(99)) for i in range(5)) + "```\n\n"
        else:
            piece = " ".join(rng.choices(WORDS, k=40)).capitalize() + ".\n\n"
        out.append(piece)
        size += len(piece)
    return "".join(out)


class Answer:
    """Writes one response's steps as server-sent events."""

    def __init__(self, wfile, dribble):
        self.wfile, self.dribble = wfile, dribble
        self.index, self.pace, self.usage, self.stop = 0, 0, {}, None

    def write(self, data):
        if isinstance(data, str):
            data = data.encode()
        step = self.dribble or len(data)
        for at in range(0, len(data), step or 1):
            self.wfile.write(data[at:at + step])
            self.wfile.flush()

    def event(self, name, value):
        self.write("event: %s\ndata: %s\n\n" % (name, json.dumps(dict({"type": name}, **value), ensure_ascii=False)))

    def block(self, start, deltas):
        self.event("content_block_start", {"index": self.index, "content_block": start})
        for d in deltas:
            if self.pace:
                time.sleep(1.0 / self.pace)
            self.event("content_block_delta", {"index": self.index, "delta": d})
        self.event("content_block_stop", {"index": self.index})
        self.index += 1

    def step(self, s, n):
        """False: the connection is to be cut."""
        if "delay_ms" in s:
            time.sleep(s["delay_ms"] / 1000.0)
        elif "text" in s or "generate" in s:
            text = s["text"] if "text" in s else markdown(s["generate"]["tokens"], s["generate"].get("seed", 1))
            self.block({"type": "text", "text": ""},
                       [{"type": "text_delta", "text": p} for p in re.findall(r"\S{0,12}\s?|\s", text) if p])
        elif "thinking" in s:
            self.block({"type": "thinking", "thinking": "", "signature": ""},
                       [{"type": "thinking_delta", "thinking": p} for p in re.findall(r".{1,9}", s["thinking"], re.S)] +
                       [{"type": "signature_delta", "signature": s.get("signature", "c2ln")}])
        elif "tool_use" in s:
            use = s["tool_use"]
            text = use["input"] if isinstance(use["input"], str) else json.dumps(use["input"], ensure_ascii=False)
            self.stop = self.stop or "tool_use"
            self.block({"type": "tool_use", "id": use.get("id", "toolu_%d_%d" % (n, self.index)), "name": use["name"], "input": {}},
                       [{"type": "input_json_delta", "partial_json": p} for p in re.findall(r".{1,11}", text, re.S)])
        elif "ping" in s:
            self.event("ping", {})
        elif "raw" in s:
            self.write(s["raw"])
        elif "error" in s:
            self.event("error", {"error": s["error"]})
            return False
        elif "cut" in s:
            return False
        elif "usage" in s:
            self.usage = s["usage"]
        elif "stop_reason" in s:
            self.stop = s["stop_reason"]
        elif "tokens_per_second" in s:
            self.pace = s["tokens_per_second"]
        return True

    def run(self, steps, n, model):
        for s in steps:
            if "usage" in s:
                self.usage = s["usage"]
            if "stop_reason" in s:
                self.stop = s["stop_reason"]
        start = dict({"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
                     **{k: v for k, v in self.usage.items() if k != "output_tokens"})
        self.event("message_start", {"message": {"id": "msg_%d" % n, "type": "message", "role": "assistant", "model": model,
                                                 "content": [], "stop_reason": None, "usage": start}})
        for s in steps:
            if not self.step(s, n):
                return
        self.event("message_delta", {"delta": {"stop_reason": self.stop or "end_turn", "stop_sequence": None},
                                     "usage": {"output_tokens": self.usage.get("output_tokens", 20)}})
        self.event("message_stop", {})


class State:
    def __init__(self, script, log, dribble):
        self.responses, self.matches = script.get("responses", []), [dict(m) for m in script.get("match", [])]
        self.log, self.dribble = open(log, "a"), dribble
        self.lock, self.n, self.before = threading.Lock(), 0, {}

    def choose(self, body):
        last = json.dumps(body["messages"][-1], ensure_ascii=False)
        for m in self.matches:
            if m["if"] in last and (m.get("again") or not m.get("used")):
                m["used"] = True
                return m["then"]
        if not self.responses:
            return [{"text": "No response is scripted."}]
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]

    def take(self, path, headers, text):
        """Records the request; returns its number, the response and why it is illegal."""
        with self.lock:
            self.n += 1
            body = json.loads(text)
            illegal = legality(body)
            if not illegal and path.endswith("/messages"):
                parts = raw_parts(text)
                first = parts["messages"][0]
                before = self.before.get(first)
                illegal = extends(before, parts) if before else None
                self.before[first] = parts
            self.log.write(json.dumps({"n": self.n, "path": path, "headers": headers, "body": body, "illegal": illegal}) + "\n")
            self.log.flush()
            return self.n, None if illegal else self.choose(body), illegal, body.get("model", "")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *args):
        pass

    def plain(self, status, value, headers=None):
        data = json.dumps(value).encode()
        self.send_response(status)
        for k, v in dict({"content-type": "application/json", "content-length": str(len(data)), "request-id": "req_test"},
                         **(headers or {})).items():
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        headers = {k.lower(): v for k, v in self.headers.items()}
        if self.path.endswith("/count_tokens"):
            self.plain(200, {"input_tokens": len(text) // 4})
            return
        n, steps, illegal, model = self.state.take(self.path, headers, text)
        if illegal:
            self.plain(400, {"type": "error", "error": {"type": "invalid_request_error", "message": illegal}})
            return
        if steps and "status" in steps[0]:
            self.plain(steps[0]["status"], steps[0].get("body", {}), steps[0].get("headers"))
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("request-id", "req_%d" % n)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            Answer(self.wfile, self.state.dribble).run(steps, n, model)
        except (BrokenPipeError, ConnectionResetError):
            pass


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--script", required=True)
    ap.add_argument("--log", required=True)
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--dribble", type=int, default=0, help="bytes a write")
    ap.add_argument("--max-seconds", type=float, default=600)
    a = ap.parse_args()
    with open(a.script) as f:
        Handler.state = State(json.load(f), a.log, a.dribble)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", a.port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    watchdog = threading.Timer(a.max_seconds, server.shutdown)
    watchdog.daemon = True
    watchdog.start()
    print("listening on %d" % server.server_address[1], flush=True)
    sys.stdin.read()
    server.shutdown()


main()
