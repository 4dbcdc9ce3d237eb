#include "fakes/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "fakes/legal.h"
#include "fakes/toys.h"
#include "store/conversation.h"
#include "store/session.h"

#define PATIENCE_MS 30000

void
rig_init(struct rig *r)
{
    memset(r, 0, sizeof *r);
    snprintf(r->dir, sizeof r->dir, "/tmp/yare-rig-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    r->root = fs_join(r->dir, "root");
    r->data = fs_join(r->dir, "data");
    r->config = fs_join(r->dir, "config");
    struct err err = {0};
    assert_true(fs_mkdirs(r->root, 0755, &err));
    toys_reset();
    r->script = scripted_new();
    r->seams = toys_seams;
    r->cfg = (struct engine_config){
        .model = "scripted",
        .cwd = r->root,
        .root = r->root,
        .home = r->dir,
        .config_dir = r->config,
        .data_dir = r->data,
        .interactive = true,
        .trusted = true,
        .max_retries = 3,
        .mode_scope = 0,
    };
}

void
rig_start(struct rig *r)
{
    struct err err = {0};
    r->cfg.take_provider = scripted_provider(r->script);
    r->cfg.seams = &r->seams;
    r->closed = false;
    r->e = engine_start(&r->cfg, &err);
    if (!r->e)
        fail_msg("engine_start: %s", err.text);
}

void
rig_limit_files(rlim_t bytes)
{
    struct rlimit l;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

void
rig_post(struct rig *r, enum op_kind kind, const char *text)
{
    engine_post(r->e, op_new(kind, text));
}

void
rig_answer(struct rig *r, uint64_t ask_id, enum perm_answer a, const char *reason,
           const char *edited)
{
    struct op *op = op_new(OP_PERM_ANSWER, NULL);
    op->perm.ask_id = ask_id;
    op->perm.answer = a;
    op->perm.reason = xstrdup(reason);
    op->perm.edited_input = xstrdup(edited);
    engine_post(r->e, op);
}

/* ---- events ---- */

static struct event *
read_one(struct rig *r)
{
    struct event *e = engine_next_event(r->e, PATIENCE_MS);
    if (!e)
        return NULL;
    ARRAY_GROW(r->ev, r->n, r->cap);
    r->ev[r->n++] = e;
    r->closed |= e->kind == EV_CLOSED;
    return e;
}

const struct event *
rig_until(struct rig *r, rig_pred pred, const void *arg)
{
    for (;;) {
        while (r->seen < r->n) {
            const struct event *e = r->ev[r->seen++];
            if (pred(e, arg))
                return e;
        }
        if (r->closed || !read_one(r))
            fail_msg("waited in vain; the last event was %s",
                     r->n ? event_kind_name(r->ev[r->n - 1]->kind) : "none");
    }
}

static bool
is_kind(const struct event *e, const void *arg)
{
    return e->kind == *(const enum event_kind *)arg;
}

const struct event *
rig_kind(struct rig *r, enum event_kind kind)
{
    return rig_until(r, is_kind, &kind);
}

const struct event *
rig_result(struct rig *r)
{
    return rig_kind(r, EV_RESULT);
}

struct tool_want {
    const char *id;
    enum event_phase phase;
    int state;
};

static bool
is_tool(const struct event *e, const void *arg)
{
    const struct tool_want *w = arg;
    return e->kind == EV_TOOL && e->phase == w->phase && strcmp(e->u.tool.id, w->id) == 0 &&
           (w->state < 0 || (int)e->u.tool.state == w->state);
}

const struct event *
rig_tool(struct rig *r, const char *id, enum event_phase phase, int state)
{
    const struct tool_want w = {id, phase, state};
    return rig_until(r, is_tool, &w);
}

int
rig_find_tool(const struct rig *r, const char *id, enum event_phase phase, int state)
{
    const struct tool_want w = {id, phase, state};
    for (size_t i = 0; i < r->n; i++)
        if (is_tool(r->ev[i], &w))
            return (int)i;
    return -1;
}

bool
rig_saw_transition(const struct rig *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->ev[i]->kind == EV_TRANSITION && strcmp(r->ev[i]->u.transition.name, name) == 0)
            return true;
    return false;
}

size_t
rig_count(const struct rig *r, enum event_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->ev[i]->kind == kind;
    return n;
}

/* ---- checks ---- */

static void
check_legal(const struct scripted_request *q, size_t at)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_addc(&b, '[');
    for (size_t i = 0; i < q->n_messages; i++) {
        if (i)
            buf_addc(&b, ',');
        buf_adds(&b, q->messages[i]);
    }
    buf_addc(&b, ']');
    const char *why = legal_check_json(buf_str(&b));
    if (why)
        fail_msg("request %zu is not legal: %s\n%s", at, why, buf_cstr(&b));
    buf_release(&b);
}

/* A compaction begins a conversation anew. */
#define COMPACTED "The conversation before this was compacted"

void
rig_check_requests(struct rig *r)
{
    const struct scripted_request *prev = NULL;
    for (size_t i = 0; i < scripted_requests(r->script); i++) {
        const struct scripted_request *q = scripted_request(r->script, i);
        check_legal(q, i);
        assert_true(q->body_same);
        assert_true(q->edition > 0);
        if (prev && q->edition == prev->edition) { /* it has only grown, whatever the test does */
            assert_true(q->n_messages >= prev->n_messages);
            for (size_t k = 0; k < prev->n_messages; k++)
                assert_string_equal(prev->messages[k], q->messages[k]);
        }
        if (prev && !r->rewrites &&
            !(q->n_messages && strstr(q->messages[0], COMPACTED) &&
              strcmp(q->messages[0], prev->messages[0]) != 0)) {
            assert_string_equal(prev->tools, q->tools);
            assert_string_equal(prev->system, q->system);
            assert_true(q->n_messages >= prev->n_messages);
            for (size_t k = 0; k < prev->n_messages; k++)
                assert_string_equal(prev->messages[k], q->messages[k]);
        }
        prev = q;
    }
}

/* Whatever happened, each start has its end. */
static void
check_ends(const struct rig *r)
{
    int blocks = 0, tools = 0, turns = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct event *e = r->ev[i];
        int step = e->phase == PHASE_START ? 1 : e->phase == PHASE_END ? -1 : 0;
        blocks += e->kind == EV_BLOCK ? step : 0;
        tools += e->kind == EV_TOOL ? step : 0;
        turns += e->kind == EV_TURN ? step : 0;
    }
    assert_int_equal(blocks, 0);
    assert_int_equal(tools, 0);
    assert_int_equal(turns, 0);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

void
rig_stop(struct rig *r)
{
    if (!r->e)
        return;
    engine_stop(r->e);
    while (!r->closed && read_one(r))
        ;
    engine_free(r->e);
    r->e = NULL;
    check_ends(r);
}

void
rig_end(struct rig *r)
{
    rig_stop(r);
    rig_check_requests(r);
    for (size_t i = 0; i < r->n; i++)
        event_free(r->ev[i]);
    free(r->ev);
    scripted_free(r->script);
    nftw(r->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(r->root);
    free(r->data);
    free(r->config);
}

/* ---- what tests do all the time ---- */

void
rig_says(struct rig *r, const char *text)
{
    scripted_reply(r->script);
    scripted_text(r->script, text);
    scripted_end(r->script, STOP_END_TURN);
}

void
rig_says_behind(struct rig *r, int gate, const char *text)
{
    scripted_reply(r->script);
    scripted_gate(r->script, gate);
    scripted_text(r->script, text);
    scripted_end(r->script, STOP_END_TURN);
}

struct err
rig_error(enum err_code code, int http, bool retryable, const char *kind, const char *text)
{
    struct err e = {0};
    err_set(&e, code, "%s", text);
    e.http = http;
    e.retryable = retryable;
    snprintf(e.kind, sizeof e.kind, "%s", kind);
    return e;
}

void
rig_calls(struct rig *r, const char *id, const char *name, const char *input)
{
    scripted_reply(r->script);
    scripted_tool(r->script, id, name, input);
    scripted_end(r->script, STOP_TOOL_USE);
}

static void
put(const char *dir, const char *name, const char *text)
{
    struct err err = {0};
    char *path = fs_join(dir, name), *folder = fs_dirname(path);
    if (!fs_mkdirs(folder, 0700, &err) || !fs_write_atomic(path, str_from(text), 0600, &err))
        fail_msg("%s", err.text);
    free(folder);
    free(path);
}

void
rig_put(const struct rig *r, const char *name, const char *text)
{
    put(r->root, name, text);
}

void
rig_put_settings(const struct rig *r, const char *json)
{
    put(r->config, "settings.json", json);
}

void
rig_answer_next(struct rig *r, enum perm_answer a)
{
    rig_answer(r, rig_kind(r, EV_PERM_ASK)->u.ask.id, a, NULL, NULL);
}

const struct event *
rig_ends(struct rig *r, const char *exit, const char *subtype, int code)
{
    const struct event *e = rig_result(r);
    assert_string_equal(e->u.result.exit, exit);
    assert_string_equal(e->u.result.subtype, subtype);
    assert_int_equal(e->u.result.exit_code, code);
    assert_int_equal(e->u.result.is_error, code != 0);
    return e;
}

void
rig_settle(struct rig *r)
{
    rig_post(r, OP_QUERY, NULL);
    rig_kind(r, EV_ANSWER);
}

const struct event *
rig_submit(struct rig *r, const char *text)
{
    rig_post(r, OP_SUBMIT, text);
    return rig_result(r);
}

size_t
rig_told(const struct rig *r, const char *words)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->ev[i]->kind == EV_NOTICE && strstr(r->ev[i]->u.notice.text, words);
    return n;
}

const struct scripted_request *
rig_last_request(struct rig *r)
{
    return scripted_request(r->script, scripted_requests(r->script) - 1);
}

const char *
rig_last_message(struct rig *r, size_t request)
{
    const struct scripted_request *q = scripted_request(r->script, request);
    return q->messages[q->n_messages - 1];
}

struct cJSON *
rig_ask(struct rig *r, enum query_kind query, const char *text)
{
    static uint64_t seq = 500;
    struct op *op = op_new(OP_QUERY, text);
    op->query = query;
    op->seq = ++seq;
    engine_post(r->e, op);
    const struct event *e = rig_kind(r, EV_ANSWER);
    assert_int_equal(e->seq, seq);
    struct err err = {0};
    struct cJSON *tree = json_parse(str_from(e->u.answer.json), &err);
    if (!tree)
        fail_msg("%s: %s", err.text, e->u.answer.json);
    return tree;
}

size_t
rig_stored(const struct rig *r, const char *id)
{
    struct session_paths p;
    struct err err = {0};
    session_paths_make(r->data, r->root, id, &p);
    struct conversation *conv = conversation_open(p.journal, NULL, NULL, &err);
    assert_non_null(conv);
    size_t n = conversation_len(conv);
    conversation_free(conv);
    session_paths_release(&p);
    return n;
}
