#include "engine/judge_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/message.h"
#include "engine/ask.h"
#include "engine/judge_answer.h"

/* Room for a little thinking before the one line. */
#define ANSWER_TOKENS 2000
#define STREAM_MAX ((size_t)256 << 10)

extern const char prompt_classifier_md[];
extern const size_t prompt_classifier_md_len;

struct judge_run *
judge_run_new(const struct judge_question *q, struct cancel *session)
{
    struct judge_run *r = xcalloc(1, sizeof *r);
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, q->text);
    r->ticket = q->ticket;
    r->key = str_dup(q->key);
    r->model = xstrdup(q->model);
    r->second_model = xstrdup(q->second_model);
    r->session_id = xstrdup(q->session_id);
    r->provider = q->provider;
    r->question = message_build(b);
    r->timeout_ms = q->timeout_ms;
    r->cancel = cancel_new(session);
    return r;
}

void
judge_run_free(struct judge_run *r)
{
    if (!r)
        return;
    free(r->key);
    free(r->model);
    free(r->second_model);
    free(r->session_id);
    message_free(r->question);
    cancel_free(r->cancel);
    free(r);
}

/* ---- the request ---- */

static void __attribute__((format(printf, 3, 4)))
fail(struct judge_run *r, enum judge_how how, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->answer.how = how;
    judge_reason_set(&r->answer, str_from(text));
}

static void
read_answer(struct judge_run *r, const struct stream_blocks *blocks)
{
    const char *why = NULL;
    enum stop_reason stop = stream_blocks_stop(blocks);
    struct buf text;
    if (stop == STOP_REFUSAL) {
        fail(r, JUDGE_REFUSED, "the classifier refused to answer");
        return;
    }
    buf_init(&text, JUDGE_ANSWER_MAX);
    if (stop != STOP_END_TURN && stop != STOP_SEQUENCE && stop != STOP_NONE)
        why = stop == STOP_MAX_TOKENS ? "it was cut off" : "it did not end as an answer does";
    else
        why = ask_text(blocks, &text);
    if (!why && judge_answer_parse(buf_str(&text), &r->answer, &why))
        r->answer.how = JUDGE_VERDICT;
    else
        fail(r, JUDGE_JUNK, "its answer cannot be used: %s", why);
    buf_release(&text);
}

/* One request to one model. */
static void
ask(struct judge_run *r, const char *model, int64_t until, struct err *err)
{
    const struct ask a = {
        .provider = r->provider,
        .model = model,
        .session_id = r->session_id,
        .system = str_make(prompt_classifier_md, prompt_classifier_md_len),
        .question = r->question,
        .max_tokens = ANSWER_TOKENS,
        .cancel = r->cancel,
        .until_ms = until,
        .max_bytes = STREAM_MAX,
    };
    (void)snprintf(r->answer.model, sizeof r->answer.model, "%s", model);
    struct stream_blocks *blocks = stream_blocks_new();
    switch (ask_run(&a, blocks, err)) {
    case ASK_DONE:
        read_answer(r, blocks);
        break;
    case ASK_CANCELLED:
        fail(r, JUDGE_ERROR, "it was interrupted");
        break;
    case ASK_TIMEOUT:
        fail(r, JUDGE_TIMEOUT, "it did not answer within %d s", (r->timeout_ms + 999) / 1000);
        break;
    case ASK_LONG:
        fail(r, JUDGE_JUNK, "its answer is too long");
        break;
    case ASK_FAILED:
        fail(r, JUDGE_ERROR, "it could not be asked: %s", err->text);
        break;
    }
    ask_add_usage(&r->answer.usage, &a, blocks);
    stream_blocks_free(blocks);
}

void
judge_run(struct judge_run *r)
{
    struct err err = {0};
    int64_t began = clock_mono_ms(), until = began + r->timeout_ms;
    r->answer = (struct judge_answer){.ticket = r->ticket, .how = JUDGE_ERROR};
    if (!r->question)
        fail(r, JUDGE_ERROR, "the question could not be written");
    else
        ask(r, r->model, until, &err);
    if (err.http == 404 && r->second_model) {
        err_clear(&err);
        r->answer.reason[0] = '\0';
        ask(r, r->second_model, until, &err);
    }
    r->answer.took_ms = clock_mono_ms() - began;
}
