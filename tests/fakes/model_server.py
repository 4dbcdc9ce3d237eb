#!/usr/bin/env python3
"""A loopback model server for tests: speaks the streaming Messages API and chat completions, both from one script, and checks that what it is
sent is legal.

  model_server.py --script FILE --log FILE [--port 0] [--dribble BYTES] [--tokens-per-second N] [--no-extension] [--max-seconds N]

Its port is the first line on standard output; it ends when standard input closes (or after --max-seconds).  Standard library only,
Python 3.9 or later; a thread for each connection.

The log gets one JSON line a request: {"n", "path", "from": the client's port, "headers", "body", "illegal": reason or null}.  An illegal
request is answered 400 with the reason.  Legal is: the first role is the user's, roles take turns, each tool_use is answered in the very next message, results
first, no empty text, ids and names that the API takes, at most four cache_control marks and none on thinking; and tools, system and
messages extend byte for byte those of the request before in the same conversation (the one that begins with the same message),
cache_control and top-level scalars aside; a last message of the model's may have gained blocks at its end (it paused).  Of chat completions (POST .../chat/completions): one system message at most, and first; then
user and assistant take turns, each tool call is answered by exactly one message of the role tool, right behind; no empty content; tools and
messages extend those before byte for byte.  --no-extension, or "extension": false in the script, drops that last check: for folds,
rewinds and forks, which change the past on purpose.

The script is {"responses": [RESPONSE, ...], "match": [ROW, ...], "extension": true}.  A request is answered by the first `match` row
that fits, else by the next response of the list; past its end the last one is used again.  A ROW is used once unless it says "again":
  {"if": WORD, "then": RESPONSE}           WORD stands somewhere in the last user message
  {"tool_result": true, "then": RESPONSE}  the last user message has a tool_result (false: it has none)
  {"text": WORD, "then": RESPONSE}         WORD stands in a text block of the last user message
  {"model": WORD, "then": RESPONSE}        WORD stands in the model's name
Several conditions in one row must all hold.
"classifier": [RESPONSE, ...] answers, in order and past its end with the last one, the requests whose system prompt is that of auto mode's
classifier; they take nothing from the others, and their log line has "classifier": true.

A RESPONSE is a list of steps:
  {"text": "..."}        {"thinking": "...", "signature": "..."}       {"redacted_thinking": "data"}
  {"tool_use": {"id"?, "name", "input"}}   the input an object, or a string to be sent as it is (broken JSON, "")
  {"generate": {"tokens": n, "seed": s}}   long Markdown, the same for the same seed
  {"delay_ms": n}        {"ping": true}    {"raw": "bytes as they are"}
  {"bare": "bytes"}      the bytes are the whole stream: nothing is put before or behind them (a cut may follow)
  {"applied_edits": [...]}   what context editing left out of the request, as the answer's context_management says it
  {"usage": {...}}       of the message    {"stop_reason": "..."}   default: tool_use where a tool was called, else end_turn
  {"cut": true}          closes the connection in the middle ("reset": with a TCP reset; "clean": ends the response as if it were whole)
  {"error": {"type", "message"}}           an error event after 200, and the end
  {"status": 529, "headers": {...}, "body": {...} or "text"}   instead of a stream (delays may come before it)
  {"tokens_per_second": n}                 the pace of what follows (0: at once)

The same steps serve chat completions: thinking as reasoning_content, a ping as a comment, usage under its other names; {"usage": null}
sends none.  The "last user message" of a row is there all that follows the last assistant message.  {"content_type": "..."} as a step
changes the header of a stream.

"cache": {"life_s": 300, "tick_s": 30, "min_tokens": 1024} makes the usage of the Messages API that of a prompt cache (prompt_cache.py) whose
clock goes on by tick_s with each request; a log line then has "cache". Requests that are answered with a status are not in the cache.

GET .../models lists the names of the script's "models", and is not logged.
POST /v1/messages/count_tokens is answered with an estimate and not logged.
"""
import argparse
import http.server
import json
import os
import random
import re
import socket
import struct
import sys
import threading
import time

import prompt_cache

WORDS = ("parser token stream buffer window engine cache module thread event queue reads writes keeps finds lists the a each of "
         "with into over and when").split()
STEPS = ("text thinking redacted_thinking tool_use generate delay_ms ping raw bare usage stop_reason cut error status "
         "tokens_per_second content_type applied_edits").split()
CONDITIONS = ("if", "tool_result", "text", "model")
IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")


# ---- is it legal? ----

def blocks_of(message):
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def fault_of_block(b, marks):
    """Why one block cannot be sent, or None; counts its cache mark."""
    kind = b["type"]
    if "cache_control" in b:
        marks.append(kind)
        if kind in ("thinking", "redacted_thinking"):
            return "a cache mark on " + kind
    if kind == "text" and not b["text"].strip():
        return "an empty text block"
    if kind == "thinking" and not b.get("signature"):
        return "thinking without its signature"
    if kind == "tool_use" and not IDENTIFIER.match(b["id"]):
        return "the tool_use id %r" % b["id"]
    if kind == "tool_use" and not isinstance(b["input"], dict):
        return "a tool_use whose input is no object"
    if kind == "tool_result":
        inner = b.get("content")
        if inner in ("", []):
            return "an empty result"
        for part in inner if isinstance(inner, list) else []:
            fault = fault_of_block(part, marks)
            if fault:
                return "in a result: " + fault
    return None


def fault_of_messages(messages, marks):
    open_ids, seen = [], set()
    for i, m in enumerate(messages):
        blocks = blocks_of(m)
        if m["role"] not in ("user", "assistant"):
            return "message %d has the role %r" % (i, m["role"])
        if set(m) != {"role", "content"}:
            return "message %d has more than role and content: %s" % (i, sorted(m))
        if i == 0 and m["role"] != "user":
            return "the first message is not the user's"
        if not blocks:
            return "message %d is empty" % i
        if i and messages[i - 1]["role"] == m["role"]:
            return "message %d has the role of the one before" % i
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if sorted(results) != sorted(open_ids):
            return "message %d answers %s, open were %s" % (i, results, open_ids)
        kinds = [b["type"] == "tool_result" for b in blocks]
        if kinds != sorted(kinds, reverse=True):
            return "message %d: results do not come first" % i
        for b in blocks:
            fault = fault_of_block(b, marks)
            if fault:
                return "message %d has %s" % (i, fault)
        open_ids = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if open_ids and m["role"] != "assistant":
            return "message %d calls tools and is the user's" % i
        if len(set(open_ids)) != len(open_ids) or seen & set(open_ids):
            return "message %d repeats a tool_use id" % i
        seen |= set(open_ids)
    return "the last message leaves calls open: %s" % open_ids if open_ids else None


def fault_of_body(body):
    """Why the request is illegal, or None."""
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        return "no messages"
    for key in ("model", "max_tokens"):
        if not body.get(key):
            return "no " + key
    budget = (body.get("thinking") or {}).get("budget_tokens", 0)
    if budget and not 1024 <= budget < body["max_tokens"]:
        return "budget_tokens %d with max_tokens %d" % (budget, body["max_tokens"])
    marks = []
    fault = fault_of_messages(body["messages"], marks)
    if fault:
        return fault
    for b in body["system"] if isinstance(body.get("system"), list) else []:
        fault = fault_of_block(b, marks)
        if fault:
            return "the system prompt has " + fault
    tools = body.get("tools", [])
    names = [t["name"] for t in tools]
    marks += ["tool" for t in tools if "cache_control" in t]
    if len(set(names)) != len(names):
        return "a tool is listed twice"
    for name in names:
        if not IDENTIFIER.match(name):
            return "the tool name %r" % name
    return "%d cache breakpoints" % len(marks) if len(marks) > 4 else None


# ---- is a chat completion legal? ----

CHAT_KEYS = {"system": {"role", "content"}, "user": {"role", "content"}, "assistant": {"role", "content", "tool_calls"},
             "tool": {"role", "content", "tool_call_id"}}


def fault_of_content(content):
    """Why a content is none, or None."""
    if isinstance(content, str):
        return None if content.strip() else "an empty content"
    if not isinstance(content, list) or not content:
        return "no content"
    for part in content:
        if part.get("type") == "text" and not part["text"].strip():
            return "an empty text part"
        if part.get("type") == "image_url" and not part["image_url"]["url"]:
            return "an image without its address"
        if part.get("type") not in ("text", "image_url"):
            return "a part of the type %r" % part.get("type")
    return None


def fault_of_chat_call(call):
    """Why a tool call cannot be sent, or None."""
    if set(call) != {"id", "type", "function"} or call["type"] != "function" or set(call["function"]) != {"name", "arguments"}:
        return "a call of an odd shape: %s" % sorted(call)
    if not IDENTIFIER.match(call["id"]) or not IDENTIFIER.match(call["function"]["name"]):
        return "a call with an odd id or name: %r %r" % (call["id"], call["function"]["name"])
    if not isinstance(json.loads(call["function"]["arguments"]), dict):
        return "a call whose arguments are no object"
    return None


def fault_of_chat_message(m, before, i):
    role = m["role"]
    if role not in CHAT_KEYS or not set(m) <= CHAT_KEYS[role]:
        return "message %d is %r with %s" % (i, role, sorted(m))
    if role == "system" and i:
        return "message %d is a system message that is not the first" % i
    if role == "assistant" and before not in ("user", "tool"):
        return "message %d is the assistant's behind %r" % (i, before)
    if role == "user" and before == "user":
        return "message %d is the user's, like the one before" % i
    if role == "assistant" and m.get("content") is None:
        return None if m.get("tool_calls") else "message %d says nothing" % i
    fault = fault_of_content(m.get("content"))
    if not fault and role != "user" and not isinstance(m["content"], str):
        fault = "content that is no string"
    return "message %d has %s" % (i, fault) if fault else None


def fault_of_chat_messages(messages):
    open_ids, seen, before = [], set(), None
    for i, m in enumerate(messages):
        fault = fault_of_chat_message(m, before, i)
        if fault:
            return fault
        if m["role"] == "tool":
            if m["tool_call_id"] not in open_ids:
                return "message %d answers %r, open were %s" % (i, m["tool_call_id"], open_ids)
            open_ids.remove(m["tool_call_id"])
        elif open_ids:
            return "message %d stands before the answers of %s" % (i, open_ids)
        for call in m.get("tool_calls", []):
            fault = fault_of_chat_call(call)
            if fault:
                return "message %d has %s" % (i, fault)
            if call["id"] in seen:
                return "message %d repeats the call id %r" % (i, call["id"])
            open_ids.append(call["id"])
            seen.add(call["id"])
        before = m["role"]
    if open_ids:
        return "the last message leaves calls open: %s" % open_ids
    return None if before in ("user", "tool") else "the last message is the %s's" % before


def fault_of_chat(body):
    """Why the request is illegal, or None."""
    if not body.get("messages") or not body.get("model"):
        return "no messages or no model"
    if "max_tokens" in body and "max_completion_tokens" in body:
        return "two limits"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options without stream"
    names = []
    for t in body.get("tools", []):
        if set(t) != {"type", "function"} or t["type"] != "function" or not isinstance(t["function"]["parameters"], dict):
            return "a tool of an odd shape: %s" % sorted(t)
        names.append(t["function"]["name"])
    if len(set(names)) != len(names) or not all(IDENTIFIER.match(n) for n in names):
        return "odd tool names: %s" % names
    return fault_of_chat_messages(body["messages"])


def chat_tail(body):
    """What follows the last assistant message, as one user message of the other wire."""
    blocks = []
    for m in reversed(body["messages"]):
        if m["role"] == "assistant":
            break
        if m["role"] == "tool":
            blocks.insert(0, {"type": "tool_result", "content": m["content"]})
        elif m["role"] == "user":
            parts = [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"]
            blocks[:0] = [p for p in parts if p["type"] == "text"]
    return {"role": "user", "content": blocks}


def chat_parts(text):
    """The bytes of tools, the system message and each other message as they stand in the body."""
    top = dict(members(text, 0))
    messages = [m for _, m in members(top["messages"], 0)]
    system = messages.pop(0) if json.loads(messages[0])["role"] == "system" else None
    return {"tools": top.get("tools"), "system": system, "messages": messages}


# ---- bytes that must stand again ----

def members(text, at):
    """The raw bytes of the members of the array or object that begins at `at`: (key or None, bytes) each."""
    decoder, found = json.JSONDecoder(), []
    space = re.compile(r"[ \t\r\n]*")
    is_object = text[at] == "{"
    at = space.match(text, at + 1).end()
    while text[at] not in "]}":
        key = None
        if is_object:
            key, at = decoder.raw_decode(text, at)
            at = space.match(text, at).end() + 1  # the colon
            at = space.match(text, at).end()
        _, end = decoder.raw_decode(text, at)
        found.append((key, text[at:end]))
        at = space.match(text, end).end()
        if text[at] == ",":
            at = space.match(text, at + 1).end()
    return found


def raw_parts(text):
    """The bytes of tools, system and each message as they stand in the body, cache marks taken out."""
    text = re.sub(r',"cache_control":\{"type":"ephemeral"(,"ttl":"\w+")?\}', "", text)
    top = dict(members(text, 0))
    return {"tools": top.get("tools"), "system": top.get("system"), "messages": [m for _, m in members(top["messages"], 0)]}


def goes_on(m, now, last):
    """Whether a message stands as it was, or is the model's own, then the last, with more blocks behind: what it said after a pause."""
    return now == m or (last and '"role":"assistant"' in m and m.endswith("]}") and now.startswith(m[:-2] + ","))


def fault_of_extension(before, now):
    """Why the request does not extend the one before byte for byte, or None."""
    for key in ("tools", "system"):
        if before[key] != now[key]:
            return key + " changed"
    for i, m in enumerate(before["messages"]):
        if i >= len(now["messages"]):
            return "message %d is gone" % i
        if not goes_on(m, now["messages"][i], i + 1 == len(before["messages"])):
            return "message %d changed: %.300s was %.300s" % (i, now["messages"][i], m)
    return None


# ---- what to answer ----

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


def check_script(script):
    """Stops with a word on a script that cannot be meant."""
    def response(where, steps):
        if not isinstance(steps, list):
            sys.exit("%s: a response is a list of steps" % where)
        for s in steps:
            if not isinstance(s, dict) or not any(k in STEPS for k in s):
                sys.exit("%s: unknown step %r" % (where, s))
    for i, r in enumerate(script.get("responses", [])):
        response("responses[%d]" % i, r)
    for i, r in enumerate(script.get("classifier", [])):
        response("classifier[%d]" % i, r)
    for i, m in enumerate(script.get("match", [])):
        if not any(k in CONDITIONS for k in m):
            sys.exit("match[%d] has no condition" % i)
        response("match[%d]" % i, m.get("then"))


class Cut(Exception):
    """The response ends here, in the middle."""


class Answer:
    """Writes one response's steps as server-sent events."""

    def __init__(self, send, dribble, pace):
        self.send, self.dribble, self.pace = send, dribble, pace
        self.index, self.usage, self.stop, self.due = 0, {}, None, time.monotonic()

    def write(self, data):
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        step = self.dribble or len(data) or 1
        for at in range(0, len(data), step):
            self.send(data[at:at + step])

    def event(self, name, value):
        self.write("event: %s\ndata: %s\n\n" % (name, json.dumps(dict({"type": name}, **value), ensure_ascii=False)))

    def wait(self, text):
        """Sleeps to an absolute time, so that the pace holds over the whole answer."""
        if not self.pace:
            return
        self.due = max(self.due, time.monotonic() - 1) + len(text) / 4.0 / self.pace
        time.sleep(max(0, self.due - time.monotonic()))

    def block(self, start, kind="", key="", pieces=()):
        self.event("content_block_start", {"index": self.index, "content_block": start})
        for p in pieces:
            self.wait(p)
            self.event("content_block_delta", {"index": self.index, "delta": {"type": kind, key: p}})

    def stop_block(self):
        self.event("content_block_stop", {"index": self.index})
        self.index += 1

    def text(self, text):
        self.block({"type": "text", "text": ""}, "text_delta", "text", [p for p in re.findall(r"\S{0,12}\s?|\s", text) if p])
        self.stop_block()

    def thinking(self, text, signature):
        self.block({"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking",
                   re.findall(r".{1,9}", text, re.S))
        self.event("content_block_delta", {"index": self.index, "delta": {"type": "signature_delta", "signature": signature}})
        self.stop_block()

    def tool_use(self, use, n):
        text = use["input"] if isinstance(use["input"], str) else json.dumps(use["input"], ensure_ascii=False)
        self.stop = self.stop or "tool_use"
        self.block({"type": "tool_use", "id": use.get("id", "toolu_%d_%d" % (n, self.index)), "name": use["name"], "input": {}},
                   "input_json_delta", "partial_json", re.findall(r".{1,11}", text, re.S))
        self.stop_block()

    def step(self, s, n):
        if "delay_ms" in s:
            time.sleep(s["delay_ms"] / 1000.0)
        elif "text" in s:
            self.text(s["text"])
        elif "generate" in s:
            self.text(markdown(s["generate"]["tokens"], s["generate"].get("seed", 1)))
        elif "thinking" in s:
            self.thinking(s["thinking"], s.get("signature", "c2ln"))
        elif "redacted_thinking" in s:
            self.block({"type": "redacted_thinking", "data": s["redacted_thinking"]})
            self.stop_block()
        elif "tool_use" in s:
            self.tool_use(s["tool_use"], n)
        elif "ping" in s:
            self.event("ping", {})
        elif "raw" in s:
            self.write(s["raw"])
        elif "error" in s:
            self.event("error", {"error": s["error"]})
            raise Cut("clean")
        elif "cut" in s:
            raise Cut(s["cut"])
        elif "tokens_per_second" in s:
            self.pace = s["tokens_per_second"]

    def bare(self, steps, n):
        for s in steps:
            self.write(s["bare"]) if "bare" in s else self.step(s, n)

    def run(self, steps, n, model):
        edits = [s["applied_edits"] for s in steps if "applied_edits" in s]
        for s in steps:
            self.usage = s.get("usage", self.usage)
            self.stop = s.get("stop_reason", self.stop)
        usage = dict({"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
                     **(self.usage or {}))
        self.event("message_start", {"message": {"id": "msg_%d" % n, "type": "message", "role": "assistant", "model": model,
                                                 "content": [], "stop_reason": None, "usage": dict(usage, output_tokens=1)}})
        for s in steps:
            self.step(s, n)
        more = {"context_management": {"applied_edits": edits[-1]}} if edits else {}
        self.event("message_delta", dict({"delta": {"stop_reason": self.stop or "end_turn", "stop_sequence": None}, "usage": usage}, **more))
        self.event("message_stop", {})


FINISH = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


class ChatAnswer(Answer):
    """The same steps as chunks of a chat completion."""

    def chunk(self, delta, finish=None, **more):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        value = dict({"id": "chatcmpl-%d" % self.n, "object": "chat.completion.chunk", "model": self.model, "choices": [choice]}, **more)
        self.write("data: %s\n\n" % json.dumps(value, ensure_ascii=False))

    def text(self, text):
        for p in re.findall(r"\S{0,12}\s?|\s", text):
            if p:
                self.wait(p)
                self.chunk({"content": p})

    def thinking(self, text, signature):
        for p in re.findall(r".{1,9}", text, re.S):
            self.chunk({"reasoning_content": p})

    def tool_use(self, use, n):
        text = use["input"] if isinstance(use["input"], str) else json.dumps(use["input"], ensure_ascii=False)
        self.stop = self.stop or "tool_use"
        head = {"name": use["name"], "arguments": ""}
        self.chunk({"tool_calls": [{"index": self.index, "id": use.get("id", "call_%d_%d" % (n, self.index)), "type": "function",
                                    "function": head}]})
        for p in re.findall(r".{1,11}", text, re.S):
            self.chunk({"tool_calls": [{"index": self.index, "function": {"arguments": p}}]})
        self.index += 1

    def step(self, s, n):
        if "ping" in s:
            self.write(": ping\n\n")
        elif "error" in s:
            self.write("data: %s\n\n" % json.dumps({"error": s["error"]}))
            raise Cut("clean")
        elif "redacted_thinking" not in s:
            super().step(s, n)

    def run(self, steps, n, model):
        self.n, self.model = n, model
        for s in steps:
            self.usage = s.get("usage", self.usage)
            self.stop = s.get("stop_reason", self.stop)
        self.chunk({"role": "assistant", "content": ""})
        for s in steps:
            self.step(s, n)
        self.chunk({}, FINISH.get(self.stop or "end_turn", self.stop))
        if self.usage is not None and self.with_usage:
            u = dict({"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0}, **self.usage)
            prompt = u["input_tokens"] + u["cache_read_input_tokens"] + u.get("cache_creation_input_tokens", 0)
            self.chunk({}, choices=[], usage={"prompt_tokens": prompt, "completion_tokens": u["output_tokens"],
                                              "total_tokens": prompt + u["output_tokens"],
                                              "prompt_tokens_details": {"cached_tokens": u["cache_read_input_tokens"]}})
        self.write("data: [DONE]\n\n")


class State:
    """The script and what was asked so far; one lock guards all of it."""

    def __init__(self, script, log, extension):
        self.responses, self.matches = list(script.get("responses", [])), [dict(m) for m in script.get("match", [])]
        self.classifier = list(script.get("classifier", []))
        self.extension = extension and script.get("extension", True)
        self.log = open(log, "a")
        self.lock, self.n, self.before = threading.Lock(), 0, {}
        self.answered, self.models = None, script.get("models")
        self.cache = prompt_cache.PromptCache(script["cache"]) if "cache" in script else None

    @staticmethod
    def fits(row, body, chat):
        last = chat_tail(body) if chat else next(m for m in reversed(body["messages"]) if m["role"] == "user")
        blocks = blocks_of(last)
        texts = "\n".join(b["text"] for b in blocks if b["type"] == "text")
        return ((row.get("again") or not row.get("used")) and
                ("if" not in row or row["if"] in json.dumps(last, ensure_ascii=False)) and
                ("text" not in row or row["text"] in texts) and
                ("model" not in row or row["model"] in body["model"]) and
                ("tool_result" not in row or row["tool_result"] == any(b["type"] == "tool_result" for b in blocks)))

    @staticmethod
    def is_classifier(body):
        """The first words of assets/prompts/classifier.md."""
        if not isinstance(body, dict):
            return False
        system = body.get("system") or [m["content"] for m in body.get("messages", []) if m.get("role") == "system"]
        return "You are the permission classifier" in json.dumps(system)

    def choose(self, body, chat):
        if self.is_classifier(body):
            if not self.classifier:
                return [{"text": "No verdict is scripted."}]
            return self.classifier.pop(0) if len(self.classifier) > 1 else self.classifier[0]
        for row in self.matches:
            if self.fits(row, body, chat):
                row["used"] = True
                return row["then"]
        if not self.responses:
            return [{"text": "No response is scripted."}]
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]

    def judge(self, text, chat):
        """The body and why it is illegal, or None."""
        try:
            body = json.loads(text)
            fault = fault_of_chat(body) if chat else fault_of_body(body)
            if fault or not self.extension:
                return body, fault
            parts = chat_parts(text) if chat else raw_parts(text)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as e:
            return text, "a body that cannot be read: %s %s" % (type(e).__name__, e)
        first = (chat, parts["messages"][0])
        before = self.before.get(first)
        fault = fault_of_extension(before, parts) if before else None
        if not fault:
            self.before[first] = parts
        return body, fault

    def take(self, path, client, headers, text):
        """Records the request, when it came and when the last answer had gone (CLOCK_MONOTONIC seconds); gives its number, its
        body, the response and why it is illegal."""
        at, chat = time.monotonic(), path.split("?")[0].endswith("/chat/completions")
        with self.lock:
            self.n += 1
            body, illegal = self.judge(text, chat)
            steps = None if illegal else self.choose(body, chat)
            if self.cache:
                self.cache.last = {"asked": False}
            if self.cache and steps is not None and not chat and not any("status" in s for s in steps):
                steps = [{"usage": dict(self.cache.ask(body, headers.get("anthropic-beta", "")), output_tokens=20)}] + list(steps)
            self.log.write(json.dumps({"n": self.n, "path": path, "from": client, "headers": headers, "body": body,
                                       "illegal": illegal, "cache": self.cache and self.cache.last, "at": at, "answered": self.answered,
                                       "classifier": self.is_classifier(body)}) + "\n")
            self.log.flush()
            if illegal:
                print("illegal request %d: %s" % (self.n, illegal), file=sys.stderr, flush=True)
            return self.n, body, steps, illegal


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that went away is no news
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state, dribble, pace = None, 0, 0

    def log_message(self, *args):
        pass

    def plain(self, n, status, value, headers=None):
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        kind = "text/html" if isinstance(value, str) else "application/json"
        self.send_response(status)
        for k, v in dict({"content-type": kind, "content-length": str(len(data)), "request-id": "req_%d" % n,
                          "x-request-id": "req_%d" % n},
                         **(headers or {})).items():
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(data)

    def fail(self, n, status, kind, message):
        self.plain(n, status, {"type": "error", "error": {"type": kind, "message": message}})

    def do_GET(self):
        if self.path.split("?")[0].endswith("/models") and self.state.models is not None:
            self.plain(0, 200, {"object": "list", "data": [{"id": m, "object": "model"} for m in self.state.models]})
        else:
            self.fail(0, 404, "not_found_error", "no such path: " + self.path)

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        path = self.path.split("?")[0]
        if path.endswith("/messages/count_tokens"):
            self.plain(0, 200, {"input_tokens": len(text) // 4})
        elif path.endswith(("/messages", "/chat/completions")):
            self.messages(text)
        else:
            self.fail(0, 404, "not_found_error", "no such path: " + path)

    def messages(self, text):
        n, body, steps, illegal = self.state.take(self.path, self.client_address[1],
                                                      {k.lower(): v for k, v in self.headers.items()}, text)
        if illegal:
            self.fail(n, 400, "invalid_request_error", illegal)
            return
        steps = list(steps)
        while len(steps) > 1 and "delay_ms" in steps[0] and any("status" in s for s in steps):
            time.sleep(steps.pop(0)["delay_ms"] / 1000.0)
        try:
            if steps and "status" in steps[0]:
                self.plain(n, steps[0]["status"], steps[0].get("body", {}), steps[0].get("headers"))
            else:
                self.stream(n, steps, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def stream(self, n, steps, body):
        kind = next((s["content_type"] for s in steps if "content_type" in s), "text/event-stream; charset=utf-8")
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("request-id", "req_%d" % n)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            chat = self.path.split("?")[0].endswith("/chat/completions")
            answer = (ChatAnswer if chat else Answer)(self.chunk, self.dribble, self.pace)
            answer.with_usage = (body.get("stream_options") or {}).get("include_usage", False)
            if any("bare" in s for s in steps):
                answer.bare(steps, n)
            else:
                answer.run(steps, n, body["model"])
        except Cut as cut:
            how = cut.args[0]
            if how == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if how != "clean":
                self.close_connection = True
                return
        self.state.answered = time.monotonic()
        self.wfile.write(b"0\r\n\r\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--script", required=True)
    ap.add_argument("--log", required=True)
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--dribble", type=int, default=0, help="bytes a write")
    ap.add_argument("--tokens-per-second", type=float, default=0)
    ap.add_argument("--no-extension", action="store_true")
    ap.add_argument("--max-seconds", type=float, default=600)
    a = ap.parse_args()
    with open(a.script) as f:
        script = json.load(f)
    check_script(script)
    Handler.state, Handler.dribble, Handler.pace = State(script, a.log, not a.no_extension), a.dribble, a.tokens_per_second
    server = Server(("127.0.0.1", a.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    watchdog = threading.Timer(a.max_seconds, os._exit, [1])
    watchdog.daemon = True
    watchdog.start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)  # connections that still stream are not waited for


main()
