/* The simulated model: what it says as the bytes of a stream. It reads, edits, searches and runs commands, several at once, with
 * thinking and words between them, and after some rounds it is done. A summary is written by hand of what the conversation holds. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "sim/session.h"
#include "sim/world.h"

uint64_t
server_input_hash(struct str input)
{
    return str_hash(input) | 1;
}

/* ---- the bytes of a stream ---- */

struct out {
    struct buf *b;
    struct server *s;
    int index;
    int64_t tokens, max; /* of output */
    bool cut;
};

static void
event(struct buf *b, const char *type, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_addf(b, "event: %s\ndata: {\"type\":\"%s\"", type, type);
    buf_vaddf(b, fmt, ap);
    buf_adds(b, "}\n\n");
    va_end(ap);
}

static void
begin(struct out *o, const struct view *v)
{
    int64_t cached = 0;
    for (size_t i = 0; i < v->same; i++)
        cached += v->msgs[i].tokens;
    event(
        o->b, "message_start",
        ",\"message\":{\"id\":\"msg_%u\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
        "\"%s\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":%lld,"
        "\"cache_read_input_tokens\":%lld,\"cache_creation_input_tokens\":0,\"output_tokens\":1}}",
        o->s->n_requests, v->model, (long long)(v->tokens - cached), (long long)cached);
    if (world_pick(8) == 0)
        event(o->b, "ping", "");
}

static void
finish(struct out *o, const char *stop)
{
    event(o->b, "message_delta",
          ",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":"
          "%lld}",
          stop, (long long)(o->tokens > 0 ? o->tokens : 1));
    event(o->b, "message_stop", "");
}

/* A part of a value, as much as there are tokens left for. */
static void
delta(struct out *o, const char *kind, const char *member, struct str text)
{
    int64_t n = count_tokens(text);
    if (o->cut)
        return;
    if (o->tokens + n > o->max) {
        size_t keep = text.len * (size_t)(o->max - o->tokens) / (size_t)(n > 0 ? n : 1);
        text = str_sub(text, 0, keep);
        o->cut = true;
    }
    o->tokens += count_tokens(text);
    buf_addf(o->b,
             "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,"
             "\"delta\":{\"type\":\"%s\",\"%s\":",
             o->index, kind, member);
    json_quote(o->b, text);
    buf_adds(o->b, "}}\n\n");
}

static void
pieces(struct out *o, const char *kind, const char *member, struct str text)
{
    size_t step = text.len / (1 + world_pick(4)) + 1;
    for (size_t i = 0; i < text.len && !o->cut; i += step)
        delta(o, kind, member, str_sub(text, i, step));
}

static void
stop_block(struct out *o)
{
    event(o->b, "content_block_stop", ",\"index\":%d", o->index);
    o->index++;
}

static void
say(struct out *o, struct str text)
{
    if (o->cut)
        return;
    event(o->b, "content_block_start",
          ",\"index\":%d,\"content_block\":{\"type\":\"text\",\"text\":\"\"}", o->index);
    pieces(o, "text_delta", "text", text);
    stop_block(o);
}

static void
sign(struct str thinking, char ret[24])
{
    snprintf(ret, 24, "sig%016llx", (unsigned long long)(str_hash(thinking) * 31 + 7));
}

bool
model_signature_holds(struct str thinking, struct str signature)
{
    char want[24];
    sign(thinking, want);
    return str_is(signature, want);
}

static void
think(struct out *o, struct str text)
{
    char signature[24];
    int64_t n = count_tokens(text);
    if (o->cut || o->tokens + n > o->max)
        return;
    sign(text, signature);
    event(o->b, "content_block_start",
          ",\"index\":%d,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":"
          "\"\"}",
          o->index);
    pieces(o, "thinking_delta", "thinking", text);
    delta(o, "signature_delta", "signature", str_from(signature));
    stop_block(o);
}

static void
call(struct out *o, const char *id, const char *name, struct str input)
{
    if (o->cut)
        return;
    event(o->b, "content_block_start",
          ",\"index\":%d,\"content_block\":{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"%s\","
          "\"input\":{}}",
          o->index, id, name);
    pieces(o, "input_json_delta", "partial_json", input);
    stop_block(o);
}

/* ---- words ---- */

static const char *const words[] = {
    "the",     "parser",  "reads", "token", "cache", "should",  "return",  "buffer",
    "when",    "list",    "empty", "test",  "fails", "because", "handler", "frees",
    "twice",   "module",  "and",   "value", "next",  "change",  "keeps",   "old",
    "callers", "working", "so",    "we",    "move",  "check",   "into",    "loop",
    "before",  "write",   "then",  "run",   "suite", "again",   "to",      "see"};

static void
add_words(struct buf *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_addf(b, "%s%s", i ? " " : "", words[world_pick(ARRAY_LEN(words))]);
    buf_addc(b, '.');
}

static void
say_words(struct out *o, unsigned n, bool thinking)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    add_words(&b, n);
    if (thinking)
        think(o, buf_str(&b));
    else
        say(o, buf_str(&b));
    buf_release(&b);
}

/* ---- calls ---- */

#define IDS_MAX 1024

static const char *
new_id(struct server *s, uint64_t input)
{
    ARRAY_GROW(s->ids, s->n_ids, s->cap_ids);
    struct known_id *k = &s->ids[s->n_ids++];
    snprintf(k->id, sizeof k->id, "toolu_%06u", s->next_id++);
    k->input = input;
    return k->id;
}

static void
add_bash(struct buf *b)
{
    const struct sim_profile *p = sim->profile;
    static const char *const names[] = {"make test", "ls", "make lint", "./check", "git diff"};
    buf_addf(b, "{\"command\":\"%s # size=%u", names[world_pick(ARRAY_LEN(names))],
             world_pick(3)    ? world_pick(400)
             : world_pick(20) ? world_pick(p->result_max + 1)
                              : world_pick(p->huge_max + 1));
    if (world_pick(3) == 0)
        buf_addf(b, " ms=%u", world_pick(20000));
    if (world_pick(6) == 0)
        buf_adds(b, " fail");
    buf_adds(b, "\"}");
}

static void
add_write(struct buf *b, const char *root)
{
    buf_addf(b, "{\"file_path\":\"%s/notes%u.md\",\"content\":\"", root, world_pick(4));
    add_words(b, 20 + world_pick(200));
    buf_adds(b, "\"}");
}

static const char *
add_input(struct buf *b)
{
    const char *root = sim->root;
    unsigned file = world_pick(8), line = world_pick(40);
    switch (world_pick(10)) {
    case 0:
    case 1:
    case 2:
        buf_addf(b, "{\"file_path\":\"%s/f%u.c\",\"limit\":%u}", root, file, 5 + world_pick(60));
        return "Read";
    case 3:
    case 4:
        buf_addf(b,
                 "{\"file_path\":\"%s/f%u.c\",\"old_string\":\"int f%u_%u = 0;\",\"new_string\":"
                 "\"int f%u_%u = %u;\"}",
                 root, file, file, line, file, line, world_pick(9));
        return "Edit";
    case 5:
        add_write(b, root);
        return "Write";
    case 6:
        buf_addf(b, "{\"pattern\":\"f%u_%u\"}", file, line);
        return "Grep";
    case 7:
        buf_adds(b, "{}");
        return "Nosuch";
    default:
        add_bash(b);
        return "Bash";
    }
}

static void
add_call(struct out *o, enum sim_fault f)
{
    struct server *s = o->s;
    struct buf b;
    buf_init(&b, BUF_MAX);
    if (s->n_ids == IDS_MAX) { /* the newest half is enough to repeat one of */
        memmove(s->ids, s->ids + IDS_MAX / 2, IDS_MAX / 2 * sizeof *s->ids);
        s->n_ids -= IDS_MAX / 2;
        s->used_ids_from = s->used_ids_from > IDS_MAX / 2 ? s->used_ids_from - IDS_MAX / 2 : 0;
    }
    const char *name = add_input(&b), *id;
    if (f == F_BAD_INPUT)
        buf_truncate(&b, 1 + world_pick((unsigned)b.len));
    if (f == F_REPEATED_ID && s->n_ids > s->used_ids_from) {
        struct known_id *k =
            &s->ids[s->used_ids_from + world_pick((unsigned)(s->n_ids - s->used_ids_from))];
        k->input = 0; /* two inputs under one id: either may stand in a request */
        id = k->id;
    } else {
        id = new_id(s, f == F_BAD_INPUT ? 0 : server_input_hash(buf_str(&b)));
    }
    call(o, id, name, buf_str(&b));
    if (o->cut && s->n_ids)
        s->ids[s->n_ids - 1].input = 0;
    buf_release(&b);
}

/* ---- an answer ---- */

static bool
is_new_job(const struct view *v)
{
    const struct message *m = v->msgs[v->n - 1].m;
    return m->role == ROLE_USER && m->n_blocks && m->blocks[0].kind != BLOCK_TOOL_RESULT;
}

static int64_t
output_limit(const struct server *s, const struct view *v, enum sim_fault f, bool *ret_window)
{
    int64_t max = v->max_tokens, room = s->window - v->tokens;
    *ret_window = false;
    if (f == F_MAX_TOKENS && max > 30)
        max = 5 + world_pick(60);
    if (f == F_FULL)
        room = 5 + world_pick(60);
    if (room < max) {
        *ret_window = true;
        max = room > 0 ? room : 0;
    }
    return max;
}

static const char *
work(struct out *o, enum sim_fault f)
{
    unsigned calls = 0;
    if (world_pick(3) == 0)
        say_words(o, 5 + world_pick(60), true);
    if (world_pick(2))
        say_words(o, 3 + world_pick(30), false);
    if (f == F_PAUSE)
        return "pause_turn";
    if (o->s->steps_left > 0) {
        o->s->steps_left--;
        calls = 1 + (world_pick(3) == 0 ? world_pick(4) : 0);
    }
    for (unsigned i = 0; i < calls; i++) {
        add_call(o, i == 0 ? f : F_NONE);
        if (i + 1 < calls && world_pick(5) == 0)
            say_words(o, 4, false);
    }
    if (!calls)
        say_words(o, 5 + world_pick(80), false);
    return calls ? "tool_use" : "end_turn";
}

void
model_answer(struct server *s, const struct view *v, enum sim_fault f, struct buf *out)
{
    bool window;
    struct out o = {.b = out, .s = s, .max = output_limit(s, v, f, &window)};
    if (is_new_job(v))
        s->steps_left = world_pick(sim->profile->steps_max + 1);
    begin(&o, v);
    const char *stop = "end_turn";
    if (f == F_EMPTY) {
        s->steps_left = s->steps_left ? s->steps_left - 1 : 0;
    } else if (f == F_REFUSAL) {
        stop = "refusal";
        say_words(&o, 6, false);
    } else {
        stop = work(&o, f);
    }
    if (o.cut)
        stop = window ? "model_context_window_exceeded" : "max_tokens";
    finish(&o, stop);
}

/* ---- side calls ---- */

/* The facts that stand in the conversation, each once. One that is marked as kept is always taken, another may get lost. */
static void
add_facts(const struct view *v, struct buf *b)
{
    struct str all = buf_str(&v->body);
    for (size_t i = 0; i < sim->n_facts; i++) {
        const struct fact *f = &sim->facts[i];
        if (str_contains(all, str_from(f->text)) && (f->pinned || world_pick(100) < 85))
            buf_addf(b, "- %s\n", f->text);
    }
}

static void
add_summary(const struct view *v, struct buf *b)
{
    buf_adds(b, "## Task\n");
    add_words(b, 20 + world_pick(40));
    buf_adds(b, "\n## Constraints\n");
    add_facts(v, b);
    buf_adds(b, "## Decisions\n");
    add_words(b, 10);
    buf_addf(b, "\n## Files\n- %s/f%u.c\n- %s/f%u.c\n## Errors\nnone\n## State\n", sim->root,
             world_pick(8), sim->root, world_pick(8));
    add_words(b, 10 + world_pick(30));
    buf_adds(b, "\n## Next step\n");
    add_words(b, 10 + world_pick(30));
}

/* No summary at all: the model talks on, or asks back. */
static void
add_ramble(struct buf *b)
{
    buf_adds(b, "Sure! Before I do that, ");
    add_words(b, 5 + world_pick(600));
    buf_adds(b, " Shall I go on?");
}

void
model_side_answer(struct server *s, const struct view *v, enum sim_fault f, struct buf *out)
{
    bool window;
    struct out o = {.b = out, .s = s, .max = output_limit(s, v, f, &window)};
    struct buf text;
    buf_init(&text, BUF_MAX);
    const char *stop = "end_turn";
    begin(&o, v);
    if (f == F_REFUSAL) {
        stop = "refusal";
        buf_adds(&text, "I cannot help with that.");
    } else if (f != F_EMPTY && f != F_MAX_TOKENS && v->max_tokens < 400) {
        add_words(&text, 6); /* one line over a batch of tools */
    } else if (f != F_EMPTY) {
        if (f == F_JUNK || sim->profile->no_summary)
            add_ramble(&text);
        else
            add_summary(v, &text);
        if (f == F_MAX_TOKENS)
            o.max = 30;
    }
    if (text.len)
        say(&o, buf_str(&text));
    if (o.cut)
        stop = window ? "model_context_window_exceeded" : "max_tokens";
    finish(&o, stop);
    buf_release(&text);
}
