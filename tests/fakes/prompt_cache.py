"""What a prompt cache does with a request of the Messages API: prefixes of tools, system and messages up to each cache_control mark are kept
for a while, and a later request reads the longest one that it finds at one of its marks or up to twenty blocks before it.  Four characters
are a token.  Model and betas are part of what must match.

  cache = PromptCache({"life_s": 300, "tick_s": 30, "min_tokens": 1024})
  usage = cache.ask(body, "beta-a,beta-b")     # a request comes; the clock goes on by tick_s first

The usage has input_tokens, cache_read_input_tokens and cache_creation_input_tokens; how it came about is in cache.last.
"""
import hashlib
import json

LOOK_BACK = 20


def blocks_of(body):
    """(bytes, marked) of each block, in the order in which the cache compares them."""
    out = []

    def add(where, block):
        block = dict(block)
        marked = block.pop("cache_control", None) is not None
        out.append((where + json.dumps(block, ensure_ascii=False), marked))

    for tool in body.get("tools", []):
        add("tool", tool)
    system = body.get("system") or []
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        add("system", block)
    for i, m in enumerate(body["messages"]):
        content = m["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            add("%d%s" % (i, m["role"]), block)
    return out


class PromptCache:
    def __init__(self, options):
        self.life, self.tick = options.get("life_s", 300), options.get("tick_s", 0)
        self.least = options.get("min_tokens", 1024)
        self.now, self.kept, self.last = 0, {}, {}

    def ask(self, body, betas):
        self.now += self.tick
        self.kept = {k: end for k, end in self.kept.items() if end >= self.now}
        blocks = blocks_of(body)
        h = hashlib.sha256(repr((body["model"], sorted(b.strip() for b in betas.split(",")), body.get("thinking"))).encode())
        keys, sizes, size = [], [], 0
        for text, _ in blocks:
            h.update(text.encode())
            size += len(text)
            keys.append(h.hexdigest())
            sizes.append(size // 4)
        marks = [i for i, b in enumerate(blocks) if b[1]]
        found = -1
        for mark in marks:
            for at in range(mark, max(-1, mark - LOOK_BACK - 1), -1):
                if keys[at] in self.kept:
                    found = max(found, at)
                    break
        read = sizes[found] if found >= 0 else 0
        if found >= 0:
            self.kept[keys[found]] = self.now + self.life
        for mark in marks:
            if sizes[mark] >= self.least:
                self.kept[keys[mark]] = self.now + self.life
        top = sizes[marks[-1]] if marks else 0
        write = max(0, top - read) if top >= self.least else 0
        rest = max(1, size // 4 - read - write)
        self.last = {"asked": True, "blocks": len(blocks), "marks": marks, "found": found, "read": read, "write": write, "input": rest}
        return {"input_tokens": rest, "cache_read_input_tokens": read, "cache_creation_input_tokens": write}
