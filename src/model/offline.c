/*
 * The offline pilot: a model stream like any other, made without a network or a model. It keeps no state of its own: where it stands in
 * its plan is read from the conversation, for each request anew (tool_use ids carry the step), so a resumed session goes on rightly.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/uuid.h"
#include "model/pilot.h"
#include "model/provider.h"

#define ID_PREFIX "toolu_off_"
#define EXCERPT_LINES 12
#define MAX_TRIES 4

struct provider {
    struct model_provider pub;
    int pace_us;
};

/* A delta that owns its text. */
struct planned {
    struct delta d;
    char *text, *id, *name;
};

struct stream {
    struct model_stream pub;
    struct planned *deltas;
    size_t n, cap, at;
    int pace_us;
    int64_t due_us;
    int blocks;
    int64_t out_chars;
};

/* Where the conversation stands: the plan, and what the last tool call gave. */
struct situation {
    struct pilot_plan plan;
    size_t step;     /* the step to go on with */
    int tries;       /* tool calls already made for it */
    char *last_tool; /* tool of the last call, NULL: none yet */
    struct str result;
    bool failed;
};

/* ---- reading the conversation ---- */

static bool
is_reminder(struct str text)
{
    return str_starts(str_trim(text), "<system-reminder>");
}

static bool
has_results(const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_RESULT)
            return true;
    return false;
}

static void
add_prompt_text(const struct message *m, struct buf *out)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind != BLOCK_TEXT || is_reminder(b->text))
            continue;
        if (out->len)
            buf_adds(out, " then ");
        buf_add_str(out, b->text);
    }
}

/* The newest user message that is a prompt; what was typed into the running turn after it joins the plan. */
static void
find_plan(const struct model_request *req, struct pilot_plan *ret)
{
    struct buf text;
    size_t from = 0;
    buf_init(&text, BUF_MAX);
    for (size_t i = req->n_messages; i-- > 0;) {
        const struct message *m = req->messages[i];
        if (m->role != ROLE_USER || has_results(m) || m->hidden)
            continue;
        add_prompt_text(m, &text);
        from = i + 1;
        if (text.len)
            break;
    }
    for (size_t i = from; i < req->n_messages; i++)
        if (req->messages[i]->role == ROLE_USER && has_results(req->messages[i]))
            add_prompt_text(req->messages[i], &text);
    pilot_parse(buf_str(&text), ret);
    buf_release(&text);
}

static const struct block *
find_block(const struct message *m, enum block_kind kind)
{
    for (size_t i = m->n_blocks; i-- > 0;)
        if (m->blocks[i].kind == kind)
            return &m->blocks[i];
    return NULL;
}

static void
read_situation(const struct model_request *req, struct situation *s)
{
    unsigned step;
    int tries;
    char id[128];

    *s = (struct situation){0};
    find_plan(req, &s->plan);
    if (req->n_messages < 2)
        return;
    const struct block *result = find_block(req->messages[req->n_messages - 1], BLOCK_TOOL_RESULT);
    const struct block *use = find_block(req->messages[req->n_messages - 2], BLOCK_TOOL_USE);
    if (!result || !use)
        return;
    snprintf(id, sizeof id, "%.*s", (int)use->id.len, use->id.ptr);
    if (sscanf(id, ID_PREFIX "%u_%d_", &step, &tries) != 2)
        return;
    s->step = step;
    s->tries = tries;
    s->last_tool = str_dup(use->name);
    s->result = result->text;
    s->failed = result->is_error;
}

/* ---- writing the answer ---- */

static struct planned *
add(struct stream *s, enum delta_kind kind, int index)
{
    ARRAY_GROW(s->deltas, s->n, s->cap);
    struct planned *p = &s->deltas[s->n++];
    *p = (struct planned){.d = {.kind = kind, .index = index}};
    return p;
}

static void
set_text(struct stream *s, struct planned *p, struct str text)
{
    p->text = str_dup(text);
    p->d.text = str_make(p->text, text.len);
    s->out_chars += (int64_t)text.len;
}

/* The next piece, about a word, never inside a grapheme. */
static size_t
piece(struct str s, size_t from)
{
    size_t at = from;
    int w;
    while (at < s.len && at - from < 24) {
        at += text_grapheme(s, at, &w);
        if (s.ptr[at - 1] == ' ' || s.ptr[at - 1] == '\n')
            break;
    }
    return at;
}

static void
add_pieces(struct stream *s, enum delta_kind kind, int index, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = piece(text, at);
        set_text(s, add(s, kind, index), str_sub(text, at, end - at));
        at = end;
    }
}

static void
say(struct stream *s, struct str text)
{
    if (str_trim(text).len == 0)
        return;
    int index = s->blocks++;
    add(s, DELTA_BLOCK_START, index)->d.block = BLOCK_TEXT;
    add_pieces(s, DELTA_TEXT, index, text);
    add(s, DELTA_BLOCK_STOP, index);
}

static void
call(struct stream *s, size_t step, int tries, const char *tool, const struct buf *input)
{
    char uuid[UUID_LEN + 1];
    int index = s->blocks++;
    uuid_make(uuid);
    struct planned *p = add(s, DELTA_BLOCK_START, index);
    p->d.block = BLOCK_TOOL_USE;
    p->id = xasprintf(ID_PREFIX "%zu_%d_%.12s", step, tries, uuid + 24);
    p->name = xstrdup(tool);
    p->d.id = str_from(p->id);
    p->d.name = str_from(p->name);
    add_pieces(s, DELTA_INPUT_JSON, index, buf_str(input));
    add(s, DELTA_BLOCK_STOP, index);
}

static void
excerpt(struct buf *out, struct str text)
{
    struct str rest = text, line;
    int n = 0, more = 0;
    buf_adds(out, "```\n");
    while (str_split(&rest, '\n', &line)) {
        if (n++ < EXCERPT_LINES)
            buf_addf(out, "%.*s\n", (int)line.len, line.ptr);
        else
            more++;
    }
    buf_adds(out, "```\n");
    if (more)
        buf_addf(out, "and %d more lines.\n", more);
}

/* Which tool call a step makes now, by what came before. NULL: the step is over. */
static const char *
next_tool(const struct pilot_step *step, const struct situation *now)
{
    const char *last = now->last_tool;
    bool again = now->failed && now->tries < MAX_TRIES && str_contains(now->result, STR("ead"));
    switch (step->verb) {
    case PILOT_READ:
        return last ? NULL : "Read";
    case PILOT_LIST:
        return last ? NULL : "Bash";
    case PILOT_FIND:
        return last ? NULL : "Grep";
    case PILOT_GLOB:
        return last ? NULL : "Glob";
    case PILOT_RUN:
        return last ? NULL : "Bash";
    case PILOT_TODO:
        return last ? NULL : "TodoWrite";
    case PILOT_REPLACE:
        return !last ? "Read" : strcmp(last, "Read") == 0 && !now->failed ? "Edit" : NULL;
    case PILOT_WRITE:
        /* Write refuses a file that was not read: then it is read first. */
        if (!last)
            return "Write";
        if (strcmp(last, "Write") == 0)
            return again ? "Read" : NULL;
        return now->failed ? NULL : "Write";
    case PILOT_HELP:
    case PILOT_UNKNOWN:
        break;
    }
    return NULL;
}

static void
put_path(struct jw *w, const char *key, const char *path, const char *cwd)
{
    if (path[0] == '/' || !cwd) {
        jw_kcstr(w, key, path);
        return;
    }
    char *full = xasprintf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
    jw_kcstr(w, key, full);
    free(full);
}

static void
quote_shell(struct buf *out, const char *s)
{
    buf_addc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *s);
    }
    buf_addc(out, '\'');
}

static void
put_command(struct jw *w, const struct pilot_step *step)
{
    struct buf command;
    buf_init(&command, BUF_MAX);
    if (step->verb == PILOT_RUN) {
        buf_adds(&command, step->a);
    } else {
        buf_adds(&command, "ls -la");
        if (step->a && step->a[0]) {
            buf_adds(&command, " -- ");
            quote_shell(&command, step->a);
        }
    }
    jw_kstr(w, "command", buf_str(&command));
    buf_release(&command);
}

static void
put_todos(struct jw *w, const char *items)
{
    struct str rest = str_from(items), item;
    bool first = true;
    jw_key(w, "todos");
    jw_array(w);
    while (str_split(&rest, '\n', &item)) {
        jw_object(w);
        jw_kstr(w, "content", item);
        jw_kcstr(w, "status", first ? "in_progress" : "pending");
        jw_kstr(w, "activeForm", item);
        jw_end(w);
        first = false;
    }
    jw_end(w);
}

static void
write_input(struct buf *out, const struct pilot_step *step, const char *tool, const char *cwd)
{
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    if (strcmp(tool, "Bash") == 0) {
        put_command(&w, step);
    } else if (strcmp(tool, "Grep") == 0) {
        jw_kcstr(&w, "pattern", step->a);
        if (step->b)
            put_path(&w, "path", step->b, cwd);
        jw_kcstr(&w, "output_mode", "content");
        jw_kbool(&w, "-n", true);
    } else if (strcmp(tool, "Glob") == 0) {
        jw_kcstr(&w, "pattern", step->a);
    } else if (strcmp(tool, "TodoWrite") == 0) {
        put_todos(&w, step->a);
    } else if (strcmp(tool, "Write") == 0) {
        put_path(&w, "file_path", step->b, cwd);
        jw_kcstr(&w, "content", step->a);
    } else {
        put_path(&w, "file_path",
                 step->verb == PILOT_REPLACE ? step->c
                 : step->verb == PILOT_WRITE ? step->b
                                             : step->a,
                 cwd);
        if (strcmp(tool, "Edit") == 0) {
            jw_kcstr(&w, "old_string", step->a);
            jw_kcstr(&w, "new_string", step->b);
        }
    }
    jw_end(&w);
}

static void
announce(struct buf *text, const struct pilot_step *step, const char *tool)
{
    if (strcmp(tool, "Read") == 0)
        buf_addf(text, "Reading `%s`.",
                 step->verb == PILOT_REPLACE ? step->c
                 : step->verb == PILOT_WRITE ? step->b
                                             : step->a);
    else if (strcmp(tool, "Grep") == 0)
        buf_addf(text, "Looking for `%s`%s%s.", step->a, step->b ? " in " : "",
                 step->b ? step->b : "");
    else if (strcmp(tool, "Glob") == 0)
        buf_addf(text, "Looking for files like `%s`.", step->a);
    else if (strcmp(tool, "Edit") == 0)
        buf_addf(text, "Editing `%s`.", step->c);
    else if (strcmp(tool, "Write") == 0)
        buf_addf(text, "Writing `%s`.", step->b);
    else if (strcmp(tool, "TodoWrite") == 0)
        buf_adds(text, "Keeping the list.");
    else
        buf_adds(text, step->verb == PILOT_LIST ? "Listing the files." : "Running the command.");
}

/* What a finished step gave. */
static void
report(struct buf *text, const struct pilot_step *step, const struct situation *now)
{
    if (now->failed) {
        buf_adds(text, "That did not work:\n\n");
        excerpt(text, now->result);
        if (now->step + 1 < now->plan.n)
            buf_addf(text, "I stop here; %zu of %zu steps are left.\n", now->plan.n - now->step - 1,
                     now->plan.n);
        return;
    }
    switch (step->verb) {
    case PILOT_FIND:
    case PILOT_GLOB:
    case PILOT_LIST:
    case PILOT_RUN:
    case PILOT_READ:
        excerpt(text, now->result);
        break;
    case PILOT_REPLACE:
        buf_addf(text, "`%s` is changed.\n", step->c);
        break;
    case PILOT_WRITE:
        buf_addf(text, "`%s` is written.\n", step->b);
        break;
    case PILOT_TODO:
        buf_adds(text, "The list is kept.\n");
        break;
    case PILOT_HELP:
    case PILOT_UNKNOWN:
        break;
    }
}

static void
talk(struct buf *text, const struct pilot_step *step)
{
    if (step->verb == PILOT_UNKNOWN)
        buf_addf(text, "I do not understand \"%s\".\n\n", step->a);
    buf_adds(text, pilot_help);
}

/* Goes through the plan from where the conversation stands until a tool must run. True: a tool was called. */
static bool
go_on(struct stream *s, struct situation *now, const char *cwd, struct buf *text)
{
    for (; now->step < now->plan.n; now->step++) {
        const struct pilot_step *step = &now->plan.steps[now->step];
        const char *tool = next_tool(step, now);
        if (tool) {
            struct buf input;
            announce(text, step, tool);
            say(s, buf_str(text));
            buf_init(&input, BUF_MAX);
            write_input(&input, step, tool, cwd);
            call(s, now->step, now->tries + 1, tool, &input);
            buf_release(&input);
            return true;
        }
        if (now->last_tool)
            report(text, step, now);
        else
            talk(text, step);
        if (now->failed)
            break;
        free(now->last_tool);
        now->last_tool = NULL;
        now->tries = 0;
        if (text->len)
            buf_addc(text, '\n');
    }
    if (now->plan.n == 0)
        buf_adds(text, pilot_help);
    else if (!now->failed && now->plan.n > 1)
        buf_addf(text, "All %zu steps are done.\n", now->plan.n);
    say(s, buf_str(text));
    return false;
}

static void
plan_answer(struct stream *s, const struct model_request *req)
{
    struct situation now;
    struct buf text;
    char uuid[UUID_LEN + 1];
    int64_t in_chars = (int64_t)req->tools.len;

    for (size_t i = 0; i < req->n_messages; i++)
        in_chars += (int64_t)req->messages[i]->json.len;
    for (size_t i = 0; i < req->n_system; i++)
        in_chars += (int64_t)req->system[i].len;
    uuid_make(uuid);
    struct planned *start = add(s, DELTA_MESSAGE_START, 0);
    start->id = xasprintf("msg_off_%s", uuid);
    start->d.id = str_from(start->id);
    start->d.name = STR("offline-pilot");
    start->d.usage = (struct usage){.input = in_chars / 4, .estimated = true};
    read_situation(req, &now);
    buf_init(&text, BUF_MAX);
    bool called = go_on(s, &now, req->cwd, &text);
    struct planned *end = add(s, DELTA_USAGE, 0);
    end->d.usage =
        (struct usage){.input = in_chars / 4, .output = s->out_chars / 4 + 1, .estimated = true};
    end->d.stop = called ? STOP_TOOL_USE : STOP_END_TURN;
    buf_release(&text);
    free(now.last_tool);
    pilot_plan_release(&now.plan);
}

/* ---- the stream ---- */

static void
stream_free(struct model_stream *base)
{
    struct stream *s = (struct stream *)base;
    for (size_t i = 0; i < s->n; i++) {
        free(s->deltas[i].text);
        free(s->deltas[i].id);
        free(s->deltas[i].name);
    }
    free(s->deltas);
    free(s);
}

/* Waits until the next piece is due. False: woken, or the caller's time ran out first. */
static bool
wait_due(struct stream *s, int wake_fd, int timeout_ms)
{
    int64_t now = clock_mono_us(), left = s->due_us - now;
    struct pollfd p = {.fd = wake_fd, .events = POLLIN};
    if (left > 0) {
        int64_t ms = (left + 999) / 1000;
        bool ours = timeout_ms < 0 || ms <= timeout_ms;
        if (poll(&p, 1, ours ? (int)ms : timeout_ms) > 0 || !ours)
            return false;
    }
    s->due_us = clock_mono_us() + s->pace_us;
    return true;
}

static enum model_step
stream_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
            struct err *err)
{
    struct stream *s = (struct stream *)base;
    (void)err;
    if (s->at == s->n)
        return MODEL_DONE;
    if (s->pace_us && s->deltas[s->at].d.text.len && !wait_due(s, wake_fd, timeout_ms))
        return MODEL_IDLE;
    *ret = s->deltas[s->at++].d;
    return MODEL_DELTA;
}

static const struct model_stream_ops stream_ops = {stream_next, stream_free};

static struct model_stream *
start(void *self, const struct model_request *req, struct err *err)
{
    struct provider *p = self;
    struct stream *s = xcalloc(1, sizeof *s);
    (void)err;
    s->pub.ops = &stream_ops;
    s->pace_us = p->pace_us;
    plan_answer(s, req);
    return &s->pub;
}

struct model_provider *
offline_provider_new(int pace_us)
{
    struct provider *p = xcalloc(1, sizeof *p);
    p->pace_us = pace_us;
    p->pub = (struct model_provider){"offline", p, start, free};
    return &p->pub;
}
