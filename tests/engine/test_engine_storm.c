/* Random jobs under random trouble: interrupts, denials, failing calls, broken streams, calls under an id used before, crashes that
 * tear the journal. Whatever came, each request is legal, and each call ran once at most. YARE_STORM_RUNS (default 40) runs from
 * YARE_STORM_SEED (default 1) on; one that fails names its seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/session.h"

#define REPLIES_MAX 4
#define CALLS_MAX 4
#define SPARE 40 /* replies for whatever is asked after the trouble */

struct storm {
    struct rig r;
    uint64_t random;
    unsigned calls;
    unsigned trouble; /* per cent of events that something happens at */
};

static unsigned
pick(struct storm *s, unsigned n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (unsigned)(s->random >> 16) % n;
}

static struct err
failure(bool retryable)
{
    struct err e = {0};
    err_set(&e, ERR_NET, "the connection broke");
    e.retryable = retryable;
    return e;
}

/* ---- a job ---- */

static void
add_call(struct storm *s)
{
    static const char *const inputs[][2] = {
        {"Read", "{\"name\":\"a\"}"},
        {"Read", "{\"name\":\"a\",\"perm\":\"ask\"}"},
        {"Edit", "{\"name\":\"b\"}"},
        {"Edit", "{\"name\":\"b\",\"perm\":\"ask\"}"},
        {"Edit", "{\"name\":\"unread\"}"},
        {"Edit", "{\"name\":\"b\",\"perm\":\"deny\"}"},
        {"Bash", "{\"command\":\"make\"}"},
        {"Bash", "{\"command\":\"fail\"}"},
        {"Bash", "{\"command\":\"nothing\",\"perm\":\"ask\"}"},
        {"Bash", "{\"command\":"},
        {"Bash", "[1]"},
        {"Nosuch", "{}"},
        {"Read", ""},
        {"Read", "{\"name\":\"a\",\"size\":60000}"},
    };
    char id[32];
    const char *const *in = inputs[pick(s, ARRAY_LEN(inputs))];
    /* now and then an id that was used before */
    unsigned n = s->calls && pick(s, 12) == 0 ? pick(s, s->calls) : s->calls++;
    snprintf(id, sizeof id, "t%u", n);
    scripted_tool(s->r.script, id, in[0], in[1]);
}

static void
add_reply(struct storm *s, bool last)
{
    struct scripted *script = s->r.script;
    struct err broken = failure(true), lost = failure(false);
    scripted_reply(script);
    unsigned kind = pick(s, 20), calls = last ? 0 : pick(s, CALLS_MAX + 1);
    if (kind ==
        0) { /* broken before the first word; what could not be sent at all may be sent otherwise */
        scripted_fail(script, &broken);
        return;
    }
    if (pick(s, 3) == 0)
        scripted_thinking(script, "let me think", pick(s, 4) ? "sig" : "");
    for (unsigned i = 0; i < calls; i++) {
        if (pick(s, 2))
            scripted_text(script, pick(s, 6) ? "some words" : " \n");
        add_call(s);
    }
    if (kind == 1)
        scripted_open_text(script, "half a sen");
    else if (last || pick(s, 2))
        scripted_text(script, pick(s, 8) ? "the end of it" : "");
    if (kind <= 2)
        scripted_fail(script, &broken);
    else if (kind == 3)
        scripted_fail(script, &lost);
    else
        scripted_end(script, kind == 4 ? STOP_MAX_TOKENS : calls ? STOP_TOOL_USE : STOP_END_TURN);
}

static void
add_job(struct storm *s)
{
    unsigned n = 1 + pick(s, REPLIES_MAX);
    for (unsigned i = 0; i < n; i++)
        add_reply(s, i + 1 == n);
    for (int i = 0; i < SPARE; i++) {
        scripted_reply(s->r.script);
        scripted_text(s->r.script, "spare");
        scripted_end(s->r.script, STOP_END_TURN);
    }
}

/* ---- trouble ---- */

static void
answer(struct storm *s, uint64_t ask_id)
{
    switch (pick(s, 5)) {
    case 0:
    case 1:
        rig_answer(&s->r, ask_id, PERM_ANSWER_ONCE, NULL, NULL);
        break;
    case 2:
        rig_answer(&s->r, ask_id, PERM_ANSWER_ALWAYS, NULL, NULL);
        break;
    case 3:
        rig_answer(&s->r, ask_id, PERM_ANSWER_NO, pick(s, 2) ? "not like this" : NULL, NULL);
        break;
    default:
        rig_answer(&s->r, ask_id, PERM_ANSWER_ONCE, NULL, "{\"name\":\"c\",\"command\":\"other\"}");
        break;
    }
}

static void
disturb(struct storm *s, const struct event *e)
{
    char id[32];
    switch (pick(s, 6)) {
    case 0:
        engine_cancel(s->r.e, CANCEL_USER);
        break;
    case 1:
        rig_post(&s->r, OP_STEER, "and look at this");
        break;
    case 2:
        snprintf(id, sizeof id, "t%u", pick(s, s->calls + 1));
        rig_post(&s->r, OP_STOP_TOOL, e->kind == EV_TOOL && pick(s, 2) ? e->u.tool.id : id);
        break;
    case 3: {
        static const enum perm_mode modes[] = {PERM_DEFAULT, PERM_ACCEPT_EDITS, PERM_PLAN};
        struct op *op = op_new(OP_SET_MODE, NULL);
        op->mode = modes[pick(s, ARRAY_LEN(modes))];
        engine_post(s->r.e, op);
        break;
    }
    case 4:
        rig_post(&s->r, OP_SUBMIT, "one more thing");
        break;
    default:
        rig_post(&s->r, OP_COMMAND, "/cost");
        break;
    }
}

static bool
any_event(const struct event *e, const void *arg)
{
    (void)e;
    (void)arg;
    return true;
}

/* Until so many results came, or as many events. */
static void
weather(struct storm *s, size_t results, size_t events)
{
    for (size_t i = 0, n = 0; i < events && n < results; i++) {
        const struct event *e = rig_until(&s->r, any_event, NULL);
        n += e->kind == EV_RESULT;
        if (e->kind == EV_PERM_ASK)
            answer(s, e->u.ask.id);
        else if (e->kind != EV_RESULT && pick(s, 100) < s->trouble)
            disturb(s, e);
    }
}

/* ---- what must hold ---- */

static void
check_each_call_ran_once(const struct rig *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct event *e = r->ev[i];
        if (e->kind != EV_TOOL || e->phase != PHASE_DELTA || e->u.tool.state != TOOL_RUNNING ||
            e->u.tool.output)
            continue;
        for (size_t k = i + 1; k < r->n; k++) {
            const struct event *f = r->ev[k];
            if (f->kind == EV_TOOL && f->phase == PHASE_START &&
                strcmp(f->u.tool.id, e->u.tool.id) == 0)
                for (size_t j = k + 1; j < r->n; j++)
                    if (r->ev[j]->kind == EV_TOOL && r->ev[j]->phase == PHASE_DELTA &&
                        r->ev[j]->u.tool.state == TOOL_RUNNING &&
                        strcmp(r->ev[j]->u.tool.id, e->u.tool.id) == 0)
                        fail_msg("%s ran again", e->u.tool.id);
        }
    }
}

static void
restart(struct storm *s)
{
    for (size_t i = 0; i < s->r.n; i++)
        event_free(s->r.ev[i]);
    s->r.n = s->r.seen = 0;
    scripted_free(s->r.script);
    s->r.script = scripted_new();
    s->calls += 1000; /* ids of the first life stay known */
    add_job(s);
}

/* The process is gone at any moment, and with it the end of the journal's last writes. */
static void
crash_and_resume(struct storm *s)
{
    struct rig *r = &s->r;
    char *id = xstrdup(engine_session_id(r->e));
    struct session_paths p;
    session_paths_make(r->data, r->root, id, &p);
    rig_stop(r);
    rig_check_requests(r);
    check_each_call_ran_once(r);
    struct stat st;
    if (stat(p.journal, &st) == 0 && st.st_size > 400)
        assert_int_equal(truncate(p.journal, 400 + (off_t)pick(s, (unsigned)st.st_size - 399)), 0);
    restart(s);
    r->cfg.resume_id = id;
    rig_start(r);
    session_paths_release(&p);
    rig_post(r, OP_SUBMIT, "go on after the crash");
    weather(s, 1, 400);
    r->cfg.resume_id = NULL;
    free(id);
}

static void
one(uint64_t seed)
{
    struct storm s = {.random = seed * 0x9E3779B97F4A7C15u + 1};
    for (int i = 0; i < 4; i++)
        pick(&s, 2);
    rig_init(&s.r);
    s.r.seams.retry_base_ms = 1;
    s.trouble = pick(&s, 3) * 6;
    add_job(&s);
    rig_start(&s.r);
    rig_post(&s.r, OP_SUBMIT, "go");
    weather(&s, 1, 400);
    if (pick(&s, 2))
        crash_and_resume(&s);
    s.trouble = 0;
    rig_post(&s.r, OP_SUBMIT, "and the last one");
    weather(&s, 1, 400);
    rig_stop(&s.r);
    if (getenv("YARE_STORM_SHOW"))
        for (size_t i = 0; i < s.r.n; i++) {
            struct buf b;
            buf_init(&b, BUF_MAX);
            event_write(s.r.ev[i], &b);
            fprintf(stderr, "%.300s\n", buf_cstr(&b));
            buf_release(&b);
        }
    check_each_call_ran_once(&s.r);
    rig_end(
        &s.r); /* every request was legal and extended the one before; whatever began has ended */
}

static uint64_t
number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void
test_storms_leave_legal_requests(void **state)
{
    (void)state;
    uint64_t first = number("YARE_STORM_SEED", 1), n = number("YARE_STORM_RUNS", 40);
    for (uint64_t seed = first; seed < first + n; seed++) {
        fprintf(stderr, "\rseed %llu ", (unsigned long long)seed);
        one(seed);
    }
    fprintf(stderr, "\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_storms_leave_legal_requests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
