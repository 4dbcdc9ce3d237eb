#include "engine/side.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/message.h"
#include "engine/ask.h"
#include "engine/core.h"
#include "engine/retry.h"

#define STREAM_MAX ((size_t)8 << 20)
#define ANSWER_MAX ((size_t)1 << 20)
#define LET_GO_MAX 4 /* of a server that answers none of them */

struct side_call {
    /* Settled before the thread begins. */
    const char *purpose;
    char *model, *session_id;
    struct str system;
    const struct message *question;
    struct model_provider *provider;
    struct waker *wake;
    struct cancel *cancel;
    struct retry_policy retry;
    int max_tokens, timeout_ms;

    /* The call's thread, until done. */
    struct side_answer answer;
    int64_t took_ms;
    atomic_bool done;

    /* The engine thread. */
    pthread_t thread;
    bool has_thread, dropped;
    struct side_call *next;
};

/* ---- on the call's thread ---- */

static void
read_answer(struct side_call *s, const struct stream_blocks *blocks)
{
    struct side_answer *a = &s->answer;
    struct buf text;
    a->stop = stream_blocks_stop(blocks);
    buf_init(&text, ANSWER_MAX);
    const char *why = a->stop == STOP_REFUSAL ? "the model refused" : ask_text(blocks, &text);
    if (!why && !str_trim(buf_str(&text)).len)
        why = "the answer is empty";
    if (a->stop == STOP_CONTEXT_EXCEEDED && !text.len) {
        err_set(&a->err, ERR_LIMIT, "the question does not fit the model's window");
        memcpy(a->err.kind, "prompt_too_long", sizeof "prompt_too_long");
    } else if (why) {
        err_set(&a->err, ERR_INVALID, "%s", why);
    } else {
        a->ok = true;
        a->text = buf_take(&text);
    }
    buf_release(&text);
}

/* True: it is over, well or not; else err says what may be curable. */
static bool
attempt(struct side_call *s, int64_t until)
{
    struct side_answer *a = &s->answer;
    const struct ask ask = {
        .provider = s->provider,
        .model = s->model,
        .session_id = s->session_id,
        .system = s->system,
        .question = s->question,
        .max_tokens = s->max_tokens,
        .cancel = s->cancel,
        .until_ms = until,
        .max_bytes = STREAM_MAX,
    };
    struct stream_blocks *blocks = stream_blocks_new();
    err_clear(&a->err);
    enum ask_end end = ask_run(&ask, blocks, &a->err);
    if (end == ASK_DONE)
        read_answer(s, blocks);
    else if (end == ASK_CANCELLED)
        err_set(&a->err, ERR_CANCELLED, "it was interrupted");
    else if (end == ASK_TIMEOUT)
        err_set(&a->err, ERR_TIMEOUT, "no answer within %d s", (s->timeout_ms + 999) / 1000);
    else if (end == ASK_LONG)
        err_set(&a->err, ERR_LIMIT, "the answer is too long");
    ask_add_usage(&a->usage, &ask, blocks);
    stream_blocks_free(blocks);
    return end != ASK_FAILED;
}

/* False: cancelled meanwhile. */
static bool
wait_ms(struct side_call *s, int64_t ms)
{
    struct pollfd p = {.fd = cancel_fd(s->cancel), .events = POLLIN};
    int64_t until = clock_mono_ms() + ms, left;
    while ((left = until - clock_mono_ms()) > 0 && cancel_fired(s->cancel) == CANCEL_NONE)
        (void)poll(&p, 1, (int)left);
    return cancel_fired(s->cancel) == CANCEL_NONE;
}

static void
ask_until_answered(struct side_call *s)
{
    int64_t began = clock_mono_ms(), until = began + s->timeout_ms, waited = 0;
    for (int failed = 1; !attempt(s, until); failed++) {
        uint32_t bits = 0;
        (void)!getrandom(&bits, sizeof bits, 0);
        int64_t delay = retry_delay(&s->retry, &s->answer.err, failed, waited, bits);
        if (delay < 0 || clock_mono_ms() + delay >= until)
            break;
        log_info("side", "%s: %s; again in %lld ms", s->purpose, s->answer.err.text,
                 (long long)delay);
        waited += delay;
        if (!wait_ms(s, delay)) {
            err_set(&s->answer.err, ERR_CANCELLED, "it was interrupted");
            break;
        }
    }
    s->took_ms = clock_mono_ms() - began;
}

static void *
work(void *user)
{
    struct side_call *s = user;
    struct waker *wake = s->wake;
    ask_until_answered(s);
    atomic_store_explicit(&s->done, true, memory_order_release);
    waker_signal(wake); /* s is joined before it is freed */
    return NULL;
}

/* ---- on the engine's ---- */

struct side_call *
side_start(struct core *c, const struct side_question *q, struct cancel *cancel)
{
    struct side_call *s = xcalloc(1, sizeof *s);
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, q->ask);
    s->purpose = q->purpose;
    s->model = xstrdup(q->model ? q->model : c->model);
    s->session_id = xstrdup(c->session_id);
    s->system = q->system;
    s->question = message_build(b);
    s->provider = c->provider;
    s->wake = c->wake;
    s->cancel = cancel_new(cancel);
    s->retry = (struct retry_policy){c->seams.retry_base_ms, q->retries};
    s->max_tokens = q->max_tokens;
    s->timeout_ms = q->timeout_ms;
    s->next = c->sides;
    c->sides = s;
    struct err broke = {0};
    bool may = spend_allows_call(c, s->purpose, s->model, q->ask.len, s->max_tokens, &broke);
    if (s->question && may)
        s->has_thread = pthread_create(&s->thread, NULL, work, s) == 0;
    if (!may) {
        s->answer.err = broke;
        atomic_store(&s->done, true);
    } else if (!s->has_thread) {
        err_set(&s->answer.err, ERR_LIMIT,
                s->question ? "no thread could be made for it" : "the question is too large");
        atomic_store(&s->done, true);
    }
    return s;
}

bool
side_done(const struct side_call *s)
{
    return atomic_load_explicit(&s->done, memory_order_acquire);
}

void
side_count(struct core *c, const char *purpose, const char *model, const struct usage *u)
{
    struct usage main_request = c->usage.running;
    struct buf note;
    if (!u->input && !u->output && !u->cache_read && !u->cache_write)
        return;
    buf_init(&note, 4096);
    c->usage.running = *u;
    c->usage.purpose = purpose;
    c->usage.turn = c->passport.turns + c->state.turn;
    usage_write_note(&c->usage, model, u, &note);
    core_note(c, "usage", NULL, buf_str(&note));
    usage_commit(&c->usage, &c->passport, model, catalog_find(model));
    spend_note(c);
    c->usage.running = main_request;
    core_emit(c, usage_event(&c->usage, c->info, c->max_budget_usd));
    buf_release(&note);
}

/* It has ended, or is waited for: counted, taken out of the list and freed. */
static void
finish(struct core *c, struct side_call *s, struct side_answer *ret)
{
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    for (struct side_call **at = &c->sides; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    c->passport.api_ms += s->took_ms;
    /* One that was asked in another session is not this one's cost. */
    if (strcmp(s->session_id, c->session_id) == 0)
        side_count(c, s->purpose, s->model, &s->answer.usage);
    if (ret)
        *ret = s->answer;
    else
        free(s->answer.text);
    free(s->model);
    free(s->session_id);
    message_free(s->question);
    cancel_free(s->cancel);
    free(s);
}

void
side_take(struct core *c, struct side_call *s, struct side_answer *ret)
{
    finish(c, s, ret);
}

void
side_drop(struct core *c, struct side_call *s)
{
    if (!s)
        return;
    s->dropped = true;
    cancel_fire(s->cancel, CANCEL_STOP);
    side_reap(c);
}

void
side_let_go(struct core *c, struct side_call *s)
{
    size_t before = 0;
    if (!s)
        return;
    for (const struct side_call *k = c->sides; k; k = k->next)
        before += k->dropped;
    if (before >= LET_GO_MAX)
        cancel_fire(s->cancel, CANCEL_STOP);
    s->dropped = true;
    side_reap(c);
}

void
side_reap(struct core *c)
{
    struct side_call *next;
    for (struct side_call *s = c->sides; s; s = next) {
        next = s->next;
        if (s->dropped && side_done(s))
            finish(c, s, NULL);
    }
}

void
side_close(struct core *c)
{
    for (struct side_call *s = c->sides; s; s = s->next)
        cancel_fire(s->cancel, CANCEL_TERM);
    while (c->sides)
        finish(c, c->sides, NULL);
}
