#include "fakes/scripted.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "model/openai_body.h"
#include "model/provider.h"

#define GATES 32

enum step_kind { STEP_DELTA, STEP_GATE, STEP_END, STEP_FAIL, STEP_FAIL_START };
struct step {
    enum step_kind kind;
    struct delta delta;
    char *id, *name, *text; /* what the delta borrows */
    int gate;
    struct err err;
};
enum who { WHO_MAIN, WHO_JUDGE, WHO_SIDE, WHO_COUNT };
struct reply {
    struct step *steps;
    size_t n, cap;
    int next_index;
    enum who who;
};
/* What was asked by one of them. */
struct asked {
    struct scripted_request **list;
    size_t n, cap;
    size_t used; /* replies that were looked at */
};

struct scripted {
    struct model_provider provider;
    struct reply *replies;
    size_t n, cap;
    int gates[GATES];
    pthread_mutex_t lock; /* guards asked */
    struct asked asked[WHO_COUNT];
    struct body_text chat
        [2]; /* the conversation as chat messages: for a server that knows all, and for one that does not */
};

struct scripted_stream {
    struct model_stream base;
    struct scripted *s;
    struct reply *reply;
    size_t at;
};

/* ---- writing ---- */

static struct step *
add_step(struct scripted *s, enum step_kind kind)
{
    struct reply *r = &s->replies[s->n - 1];
    ARRAY_GROW(r->steps, r->n, r->cap);
    struct step *st = &r->steps[r->n++];
    memset(st, 0, sizeof *st);
    st->kind = kind;
    return st;
}

static void
add_delta(struct scripted *s, enum delta_kind kind, int index, enum block_kind block,
          const char *id, const char *name, const char *text, size_t len)
{
    struct step *st = add_step(s, STEP_DELTA);
    st->id = xstrdup(id);
    st->name = xstrdup(name);
    st->text = text ? str_dup(str_make(text, len)) : NULL;
    st->delta = (struct delta){.kind = kind, .index = index, .block = block};
    st->delta.id = str_from(st->id);
    st->delta.name = str_from(st->name);
    st->delta.text = str_from(st->text);
}

static void
begin_reply(struct scripted *s, enum who who)
{
    ARRAY_GROW(s->replies, s->n, s->cap);
    memset(&s->replies[s->n], 0, sizeof *s->replies);
    s->replies[s->n++].who = who;
    add_delta(s, DELTA_MESSAGE_START, 0, BLOCK_TEXT, "msg_1", "scripted", NULL, 0);
}

void
scripted_reply(struct scripted *s)
{
    begin_reply(s, WHO_MAIN);
}

void
scripted_judge_reply(struct scripted *s)
{
    begin_reply(s, WHO_JUDGE);
}

void
scripted_judge_says(struct scripted *s, const char *text)
{
    scripted_judge_reply(s);
    scripted_text(s, text);
    scripted_end(s, STOP_END_TURN);
}

void
scripted_side_reply(struct scripted *s)
{
    begin_reply(s, WHO_SIDE);
}

void
scripted_side_says(struct scripted *s, const char *text)
{
    scripted_side_reply(s);
    scripted_text(s, text);
    scripted_end(s, STOP_END_TURN);
}

void
scripted_side_fail(struct scripted *s, const struct err *err)
{
    scripted_side_reply(s);
    scripted_fail(s, err);
}

static int
next_index(struct scripted *s)
{
    return s->replies[s->n - 1].next_index++;
}

static void
add_pieces(struct scripted *s, enum delta_kind kind, int index, const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i += 7)
        add_delta(s, kind, index, BLOCK_TEXT, NULL, NULL, text + i, len - i < 7 ? len - i : 7);
}

void
scripted_open_text(struct scripted *s, const char *text)
{
    int i = next_index(s);
    add_delta(s, DELTA_BLOCK_START, i, BLOCK_TEXT, NULL, NULL, NULL, 0);
    add_pieces(s, DELTA_TEXT, i, text);
}

void
scripted_text(struct scripted *s, const char *text)
{
    scripted_open_text(s, text);
    add_delta(s, DELTA_BLOCK_STOP, s->replies[s->n - 1].next_index - 1, BLOCK_TEXT, NULL, NULL,
              NULL, 0);
}

void
scripted_thinking(struct scripted *s, const char *text, const char *signature)
{
    int i = next_index(s);
    add_delta(s, DELTA_BLOCK_START, i, BLOCK_THINKING, NULL, NULL, NULL, 0);
    add_pieces(s, DELTA_THINKING, i, text);
    add_delta(s, DELTA_SIGNATURE, i, BLOCK_THINKING, NULL, NULL, signature, strlen(signature));
    add_delta(s, DELTA_BLOCK_STOP, i, BLOCK_THINKING, NULL, NULL, NULL, 0);
}

void
scripted_tool(struct scripted *s, const char *id, const char *name, const char *input)
{
    int i = next_index(s);
    add_delta(s, DELTA_BLOCK_START, i, BLOCK_TOOL_USE, id, name, NULL, 0);
    add_pieces(s, DELTA_INPUT_JSON, i, input);
    add_delta(s, DELTA_BLOCK_STOP, i, BLOCK_TOOL_USE, NULL, NULL, NULL, 0);
}

void
scripted_usage(struct scripted *s, int64_t input, int64_t output)
{
    add_delta(s, DELTA_USAGE, 0, BLOCK_TEXT, NULL, NULL, NULL, 0);
    struct reply *r = &s->replies[s->n - 1];
    r->steps[r->n - 1].delta.usage = (struct usage){.input = input, .output = output};
}

void
scripted_cache(struct scripted *s, int64_t read, int64_t write)
{
    scripted_usage(s, 0, 0);
    struct reply *r = &s->replies[s->n - 1];
    r->steps[r->n - 1].delta.usage = (struct usage){.cache_read = read, .cache_write = write};
}

void
scripted_gate(struct scripted *s, int gate)
{
    add_step(s, STEP_GATE)->gate = gate;
}

void
scripted_end(struct scripted *s, enum stop_reason stop)
{
    scripted_end_with(s, stop, 100, 10);
}

void
scripted_end_with(struct scripted *s, enum stop_reason stop, int64_t input, int64_t output)
{
    scripted_usage(s, input, output);
    struct reply *r = &s->replies[s->n - 1];
    r->steps[r->n - 1].delta.stop = stop;
    add_step(s, STEP_END);
}

void
scripted_fail(struct scripted *s, const struct err *err)
{
    add_step(s, STEP_FAIL)->err = *err;
}

void
scripted_fail_start(struct scripted *s, const struct err *err)
{
    scripted_reply(s);
    struct reply *r = &s->replies[s->n - 1];
    r->steps[0].kind = STEP_FAIL_START;
    r->steps[0].err = *err;
}

/* ---- running ---- */

void
scripted_open_gate(struct scripted *s, int gate)
{
    uint64_t one = 1;
    ssize_t n = write(s->gates[gate], &one, sizeof one);
    (void)n;
}

static bool
wait_gate(int gate, int wake_fd, int timeout_ms)
{
    struct pollfd p[2] = {{.fd = gate, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    return poll(p, 2, timeout_ms) > 0 && (p[0].revents & POLLIN);
}

static enum model_step
stream_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
            struct err *err)
{
    struct scripted_stream *st = (struct scripted_stream *)(void *)base;
    if (st->at == st->reply->n) {
        err_set(err, ERR_NET, "the script of this reply ended early");
        return MODEL_FAILED;
    }
    struct step *step = &st->reply->steps[st->at];
    switch (step->kind) {
    case STEP_DELTA:
        st->at++;
        *ret = step->delta;
        return MODEL_DELTA;
    case STEP_GATE:
        if (wait_gate(st->s->gates[step->gate], wake_fd, timeout_ms))
            st->at++;
        return MODEL_IDLE;
    case STEP_END:
        return MODEL_DONE;
    case STEP_FAIL:
    case STEP_FAIL_START:
        break;
    }
    *err = step->err;
    return MODEL_FAILED;
}

static void
stream_free(struct model_stream *base)
{
    free(base);
}

static const struct model_stream_ops ops = {stream_next, stream_free};

static enum who
who_asks(const struct model_request *req)
{
    static const struct {
        const char *words;
        enum who who;
    } marks[] = {{"You are the permission classifier", WHO_JUDGE},
                 {"You write the summary", WHO_SIDE},
                 {"what a coding agent just did", WHO_SIDE}};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (req->n_system == 1 && !req->tools.len &&
            str_contains(req->system[0], str_from(marks[i].words)))
            return marks[i].who;
    return WHO_MAIN;
}

enum wire { WIRE_MESSAGES, WIRE_CHAT, WIRE_CHAT_PLAIN, WIRE_COUNT };

/* Of a server that takes no system message and one call at a time. */
#define PLAIN (OPENAI_CAP(OPENAI_CAP_system) | OPENAI_CAP(OPENAI_CAP_parallel))

static void
write_whole(const struct model_request *req, struct body_text *text, enum wire wire,
            struct buf *out)
{
    struct str slices[BODY_SLICES];
    unsigned used;
    struct buf scratch;
    buf_init(&scratch, BUF_MAX);
    size_t n = wire == WIRE_MESSAGES
                   ? anthropic_body(req, text, &scratch, slices)
                   : openai_body(req, text, wire == WIRE_CHAT ? 0 : PLAIN, &scratch, slices, &used);
    for (size_t i = 0; i < n; i++)
        buf_add_str(out, slices[i]);
    buf_release(&scratch);
}

/* The body that goes on from the request before, beside one that is written anew. */
static bool
goes_on_the_same(const struct model_request *req, struct body_text *kept, enum wire wire)
{
    struct body_text own = {0};
    struct buf bodies[2];
    buf_init(&bodies[0], BUF_MAX);
    buf_init(&bodies[1], BUF_MAX);
    write_whole(req, &own, wire, &bodies[0]);
    write_whole(req, kept, wire, &bodies[1]);
    bool same = str_eq(buf_str(&bodies[0]), buf_str(&bodies[1]));
    buf_release(&bodies[0]);
    buf_release(&bodies[1]);
    body_text_release(&own);
    return same;
}

/* A call beside the loop keeps no text. */
static bool
is_same_body(struct scripted *s, const struct model_request *req)
{
    struct body_text *kept[WIRE_COUNT] = {req->text, &s->chat[0], &s->chat[1]};
    for (size_t i = 0; req->text && i < WIRE_COUNT; i++)
        if (!goes_on_the_same(req, kept[i], (enum wire)i))
            return false;
    return true;
}

/* The next reply for whoever asks; NULL: there is none left. */
static struct reply *
keep_request(struct scripted *s, const struct model_request *req)
{
    struct scripted_request *r = xcalloc(1, sizeof *r);
    struct buf sys;
    buf_init(&sys, BUF_MAX);
    for (size_t i = 0; i < req->n_system; i++)
        buf_add_str(&sys, req->system[i]);
    r->system = buf_take(&sys);
    r->model = xstrdup(req->model);
    r->tools = str_dup(req->tools);
    r->messages = xcalloc(req->n_messages + 1, sizeof *r->messages);
    r->n_messages = req->n_messages;
    for (size_t i = 0; i < req->n_messages; i++)
        r->messages[i] = str_dup(req->messages[i]->json);
    r->max_tokens = req->max_tokens;
    r->edition = req->edition;
    r->body_same = is_same_body(s, req);
    memcpy(r->message_break, req->message_break, sizeof r->message_break);
    memcpy(r->system_break, req->system_break, sizeof r->system_break);
    enum who who = who_asks(req);
    struct asked *a = &s->asked[who];
    pthread_mutex_lock(&s->lock);
    ARRAY_GROW(a->list, a->n, a->cap);
    a->list[a->n++] = r;
    while (a->used < s->n && s->replies[a->used].who != who)
        a->used++;
    struct reply *reply = a->used < s->n ? &s->replies[a->used++] : NULL;
    pthread_mutex_unlock(&s->lock);
    return reply;
}

static struct model_stream *
provider_start(void *self, const struct model_request *req, struct err *err)
{
    struct scripted *s = self;
    struct reply *r = keep_request(s, req);
    if (!r) {
        err_set(err, ERR_HTTP, "the script has no more replies");
        err->http = 400;
        return NULL;
    }
    if (r->steps[0].kind == STEP_FAIL_START) {
        *err = r->steps[0].err;
        return NULL;
    }
    struct scripted_stream *st = xcalloc(1, sizeof *st);
    st->base.ops = &ops;
    memcpy(st->base.request_id, "req_scripted", 13);
    st->s = s;
    st->reply = r;
    return &st->base;
}

static void
provider_free(void *self)
{
    (void)self; /* the test frees the script, when it has looked at it */
}

struct scripted *
scripted_new(void)
{
    struct scripted *s = xcalloc(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    for (size_t i = 0; i < GATES; i++)
        s->gates[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->provider = (struct model_provider){
        .name = "scripted", .self = s, .start = provider_start, .free = provider_free};
    return s;
}

struct model_provider *
scripted_provider(struct scripted *s)
{
    return &s->provider;
}

static size_t
count(struct scripted *s, enum who who)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->asked[who].n;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static const struct scripted_request *
get(struct scripted *s, enum who who, size_t i)
{
    pthread_mutex_lock(&s->lock);
    const struct scripted_request *r = i < s->asked[who].n ? s->asked[who].list[i] : NULL;
    pthread_mutex_unlock(&s->lock);
    return r;
}

size_t
scripted_requests(struct scripted *s)
{
    return count(s, WHO_MAIN);
}

const struct scripted_request *
scripted_request(struct scripted *s, size_t i)
{
    return get(s, WHO_MAIN, i);
}

size_t
scripted_judge_requests(struct scripted *s)
{
    return count(s, WHO_JUDGE);
}

const struct scripted_request *
scripted_judge_request(struct scripted *s, size_t i)
{
    return get(s, WHO_JUDGE, i);
}

size_t
scripted_side_requests(struct scripted *s)
{
    return count(s, WHO_SIDE);
}

const struct scripted_request *
scripted_side_request(struct scripted *s, size_t i)
{
    return get(s, WHO_SIDE, i);
}

static void
free_request(struct scripted_request *r)
{
    for (size_t i = 0; i < r->n_messages; i++)
        free(r->messages[i]);
    free(r->messages);
    free(r->model);
    free(r->system);
    free(r->tools);
    free(r);
}

void
scripted_free(struct scripted *s)
{
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < s->replies[i].n; k++) {
            free(s->replies[i].steps[k].id);
            free(s->replies[i].steps[k].name);
            free(s->replies[i].steps[k].text);
        }
        free(s->replies[i].steps);
    }
    free(s->replies);
    for (size_t w = 0; w < WHO_COUNT; w++) {
        for (size_t i = 0; i < s->asked[w].n; i++)
            free_request(s->asked[w].list[i]);
        free(s->asked[w].list);
    }
    for (size_t i = 0; i < GATES; i++)
        close(s->gates[i]);
    pthread_mutex_destroy(&s->lock);
    body_text_release(&s->chat[0]);
    body_text_release(&s->chat[1]);
    free(s);
}
