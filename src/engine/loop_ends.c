/* How the stream step ends when the answer does not: the text that was on the screen stays, every call has its result. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "engine/fallback.h"
#include "engine/loop_stream.h"
#include "engine/retry.h"

/* No model says more in one answer; a server that never stops must not fill the context for good. */
#define PARTIAL_MAX ((size_t)512 << 10)

struct message *
loop_received_text(const struct loop *l, const struct round *r)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    size_t room = PARTIAL_MAX;
    for (size_t i = 0; r->blocks && i < stream_blocks_len(r->blocks); i++) {
        const struct stream_block *k = stream_blocks_at(r->blocks, i);
        struct str text = k->kind == BLOCK_TEXT ? text_start(k->text, room) : STR("");
        room -= text.len;
        message_add_text(b, text);
    }
    struct message *m = message_build(b);
    if (!m)
        return NULL;
    m->partial = true;
    m->model = xstrdup(l->core->model);
    return m;
}

bool
loop_append_part(struct loop *l, struct message *take_m)
{
    if (!take_m)
        return true;
    message_ref(take_m);
    bool ok = core_append(l->core, take_m, &l->result->err);
    if (ok)
        core_emit_message(l->core, take_m, NULL);
    message_free(take_m);
    return ok;
}

/* Text that was on the screen when it ended is kept and marked; nothing that did not run is. */
static bool
keep_received(struct loop *l, struct round *r, const char *else_stub)
{
    struct message *m = loop_received_text(l, r);
    return m ? loop_append_part(l, m) : loop_append_stub(l, else_stub);
}

/* What is complete, and the results of its calls, whatever became of them. */
static bool
keep_answered(struct loop *l, struct round *r)
{
    return loop_append_part(l, stream_blocks_message(r->blocks, l->core->model, true)) &&
           loop_append_results(l, &l->result->err);
}

enum flow
loop_abort_streaming(struct loop *l, struct round *r)
{
    struct core *c = l->core;
    enum cancel_reason why = cancel_fired(l->turn);
    if (executor_len(c->executor) == 0) {
        if (!keep_received(l, r, "(interrupted before an answer)"))
            return loop_fail(l, &l->result->err);
        return LOOP_END(l, EXIT_ABORTED_STREAMING);
    }
    executor_abort(c->executor, why);
    if (!keep_answered(l, r))
        return loop_fail(l, &l->result->err);
    return LOOP_END(l, EXIT_ABORTED_STREAMING);
}

/* What in the request is large, for a person who has to decide what to drop. */
static void
say_what_is_large(struct loop *l, struct err *err)
{
    const struct state *st = &l->core->state;
    size_t largest = 0, total = 0;
    for (size_t i = 0; i < st->n; i++) {
        total += st->messages[i]->json.len;
        if (st->messages[i]->json.len > st->messages[largest]->json.len)
            largest = i;
    }
    struct err said = *err;
    err_set(
        err, ERR_LIMIT,
        "too long for %s: %zu messages of %zu kB (the largest, number %zu, has %zu kB), tools and "
        "instructions %zu kB. Start anew%s, or a shorter prompt. The server said: %.200s",
        l->core->model, st->n, total / 1000, largest + 1,
        st->n ? st->messages[largest]->json.len / 1000 : 0, prompt_bytes(&l->core->prompt) / 1000,
        l->core->print_mode ? "" : " with /clear", said.text);
    err->http = said.http;
}

enum flow
loop_give_up(struct loop *l, struct round *r, struct err *err)
{
    struct core *c = l->core;
    bool too_long = retry_is_too_long(err);
    bool ok;
    if (executor_started(c->executor)) {
        executor_abort(c->executor, CANCEL_TIMEOUT);
        ok = keep_answered(l, r);
    } else {
        executor_discard(c->executor);
        ok = keep_received(l, r, "(no answer: the request failed)");
    }
    if (!ok)
        log_error("loop", "%s", l->result->err.text);
    if (too_long)
        say_what_is_large(l, err);
    else if (c->print_mode)
        failure_say_print(err);
    else
        failure_say(err);
    l->result->err = *err;
    core_error(c, err, l->result->request_id);
    fallback_give_up(c, err);
    return too_long ? LOOP_END(l, EXIT_PROMPT_TOO_LONG) : LOOP_END(l, EXIT_MODEL_ERROR);
}

/* ---- the last word ---- */

/* A hidden prompt that asks an answer on which was cut off: the next one continues it. */
static bool
is_go_on(const struct message *m)
{
    return m->role == ROLE_USER && m->hidden && m->n_blocks == 1 &&
           m->blocks[0].kind == BLOCK_TEXT &&
           (str_is(m->blocks[0].text, LOOP_GO_ON_CUT) ||
            str_is(m->blocks[0].text, LOOP_GO_ON_BROKEN));
}

static bool
is_said(const struct message *m)
{
    return m->role == ROLE_ASSISTANT && !m->hidden;
}

/* The message that the i-th goes on from: a server paused behind it, or it was cut off and asked on. None: i. */
static size_t
part_before(const struct state *st, size_t i)
{
    if (i >= 1 && is_said(st->messages[i - 1]))
        return i - 1;
    if (i >= 2 && is_go_on(st->messages[i - 1]) && is_said(st->messages[i - 2]))
        return i - 2;
    return i;
}

char *
loop_final_text(const struct state *st)
{
    const struct message *m = state_last(st);
    if (!m || !is_said(m))
        return xstrdup("");
    size_t first = st->n - 1;
    while (part_before(st, first) != first)
        first = part_before(st, first);
    struct buf text;
    buf_init(&text, BUF_MAX);
    for (size_t i = first; i < st->n; i++) {
        if (!is_said(st->messages[i]))
            continue;
        char *part = message_text(st->messages[i]);
        buf_adds(&text, part);
        free(part);
    }
    return buf_take(&text);
}
