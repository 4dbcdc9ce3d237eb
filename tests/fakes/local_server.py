#!/usr/bin/env python3
"""A loopback stand-in for the model servers that people run on their own machine: answers JSON by path.

  local_server.py --routes FILE --log FILE [--port 0] [--max-seconds N]

FILE is {"GET /v1/models": BODY, "POST /api/show": {"status": 404, "body": BODY, "delay_ms": 200}, ...}; anything else is a 404.  A plain
value is a body with status 200; one with "status", "then" or "delay_ms" is taken apart: "then" is the body from the second time on.
POST /v1/chat/completions, unless it is among the routes, streams "pong from MODEL".  The log gets one JSON line a request: {"method",
"path", "headers", "body"}.  Its port is the first line on standard output; it ends when standard input closes.
"""
import argparse
import http.server
import json
import os
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    routes, log, lock, counts = {}, None, threading.Lock(), {}

    def log_message(self, *args):
        pass

    def answer(self, status, value, kind="application/json"):
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def chat(self, body):
        def chunk(delta, finish=None, **more):
            return "data: %s\n\n" % json.dumps(dict({"id": "c1", "object": "chat.completion.chunk", "model": body["model"], "choices": [
                {"index": 0, "delta": delta, "finish_reason": finish}]}, **more))
        text = chunk({"role": "assistant", "content": "pong from "}) + chunk({"content": body["model"]}) + chunk({}, "stop")
        text += "data: %s\n\n" % json.dumps({"id": "c1", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4}})
        self.answer(200, text + "data: [DONE]\n\n", "text/event-stream")

    def handle_one(self, method):
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        body = json.loads(text) if text else None
        key = "%s %s" % (method, self.path)
        with self.lock:
            n = self.counts[key] = self.counts.get(key, 0) + 1
            self.log.write(json.dumps({"method": method, "path": self.path, "body": body,
                                       "headers": {k.lower(): v for k, v in self.headers.items()}}) + "\n")
            self.log.flush()
        route = self.routes.get(key)
        if route is None and key == "POST /v1/chat/completions":
            self.chat(body)
        elif route is None:
            self.answer(404, {"error": "no such path"})
        elif isinstance(route, dict) and any(k in route for k in ("status", "then", "delay_ms")):
            time.sleep(route.get("delay_ms", 0) / 1000.0)
            self.answer(route.get("status", 200), route["then"] if n > 1 and "then" in route else route.get("body", {}))
        else:
            self.answer(200, route)

    def do_GET(self):
        self.handle_one("GET")

    def do_POST(self):
        self.handle_one("POST")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--routes", required=True)
    ap.add_argument("--log", required=True)
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--max-seconds", type=float, default=600)
    a = ap.parse_args()
    with open(a.routes) as f:
        Handler.routes = json.load(f)
    Handler.log = open(a.log, "a")
    server = Server(("127.0.0.1", a.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    watchdog = threading.Timer(a.max_seconds, os._exit, [1])
    watchdog.daemon = True
    watchdog.start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


main()
