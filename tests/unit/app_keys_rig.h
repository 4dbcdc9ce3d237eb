#pragma once
/* The whole screen on a canvas, its clock a fake, with an engine that keeps what it is told. One test program, one screen. */
#include "unit/ui_help.h"

#include "ui/app_private.h"

struct engine {
    struct op *told; /* the newest op that is no question */
    struct buf log;  /* all of them: "kind text\n" */
    int cancelled;
};

static inline const char *
op_name(enum op_kind kind)
{
    return kind == OP_SUBMIT    ? "submit"
           : kind == OP_STEER   ? "steer"
           : kind == OP_UNSTEER ? "unsteer"
           : kind == OP_COMMAND ? "command"
           : kind == OP_TRUST   ? "trust"
                                : "other";
}

void
engine_post(struct engine *e, struct op *take_op)
{
    if (take_op->kind == OP_QUERY) {
        op_free(take_op);
        return;
    }
    op_free(e->told);
    e->told = take_op;
    if (!e->log.max)
        buf_init(&e->log, 1 << 16);
    buf_addf(&e->log, "%s %s\n", op_name(take_op->kind), take_op->text ? take_op->text : "");
}

void
engine_cancel(struct engine *e, enum cancel_reason reason)
{
    (void)reason;
    e->cancelled++;
}

struct event *
engine_next_event(struct engine *e, int timeout_ms)
{
    (void)e, (void)timeout_ms;
    return NULL;
}

int
engine_event_fd(struct engine *e)
{
    (void)e;
    return -1;
}

void
engine_stop(struct engine *e)
{
    (void)e;
}

void
engine_free(struct engine *e)
{
    (void)e;
}

static struct app a;
static struct engine engine;
static struct app_options options;
static struct clock_fake fake_time;

static inline int
setup(void **state)
{
    (void)state;
    fake_time = (struct clock_fake){.mono_us = 1000000000, .wall_ms = 1000};
    clock_set_fake(&fake_time);
    keys_reset();
    app_init(&a, &options, 80, 24);
    a.engine = &engine;
    apply(&a.view, "{\"event\":\"session\",\"session\":\"s1\",\"trusted\":true}");
    return 0;
}

static inline int
teardown(void **state)
{
    (void)state;
    app_release(&a);
    op_free(engine.told);
    buf_release(&engine.log);
    engine = (struct engine){0};
    keys_reset();
    clock_set_fake(NULL);
    return 0;
}

static inline void
draw(void)
{
    app_tick(&a, clock_mono_ms());
    app_draw(&a, clock_mono_ms());
}

static inline void
later(int ms)
{
    fake_time.mono_us += (int64_t)ms * 1000;
    draw();
}

static inline void
press(const char *name)
{
    int keys[2];
    if (!keys_parse(name, keys))
        fail_msg("unknown key '%s'", name);
    for (int i = 0; i < 2 && keys[i]; i++)
        app_key(&a, keys[i], STR(""), clock_mono_ms());
    draw();
}

static inline void
load(const char *json)
{
    struct err err;
    if (!keys_load(str_from(json), &err))
        fail_msg("%s", err.text);
}

/* A request that took the focus by itself, its guard over. */
static inline void
ask_unasked(const char *diff)
{
    applyf(&a.view,
           "{\"event\":\"perm_ask\",\"id\":7,\"tool_use_id\":\"t7\",\"tool\":\"Bash\",\"command\":"
           "\"make\","
           "\"input\":\"{\\\"command\\\":\\\"make\\\"}\",\"rules\":[\"Bash(make)\"],\"rules_file\":"
           "\"/p/s.json\"%s%s}",
           diff ? ",\"diff\":" : "", diff ? diff : "");
    draw();
    later(2000);
    later(2000);
    assert_int_equal(a.focus, PANE_APPROVAL);
}

/* The same with a person who chose the pane. */
static inline void
ask(const char *diff)
{
    ask_unasked(diff);
    press("alt+3");
}

static inline enum op_kind
told(void)
{
    assert_non_null(engine.told);
    return engine.told->kind;
}

/* An event as the engine gives it, seen by the whole screen. */
static inline void
take(const char *json)
{
    struct err err;
    struct event *e = event_read(str_from(json), &err);
    if (!e)
        fail_msg("%s: %s", json, err.text);
    app_take(&a, e);
}

/* `e`, another command, Enter; the engine says that this is no approval. */
static inline void
edit(void)
{
    ask(NULL);
    press("e");
    press("x");
    press("enter");
    assert_int_equal(told(), OP_PERM_ANSWER);
    assert_non_null(engine.told->perm.edited_input);
    take("{\"event\":\"perm_decided\",\"ask_id\":7,\"tool_use_id\":\"t7\",\"tool\":\"Bash\","
         "\"who\":\"person\",\"allowed\":false}");
    assert_int_equal(a.view.n_asks, 0);
}

/* Typed, and sent with Enter. */
static inline void
enter(const char *text)
{
    for (const char *p = text; *p; p++)
        app_key(&a, *p, STR(""), clock_mono_ms());
    press("enter");
}

static inline const char *
told_all(void)
{
    return engine.log.max ? buf_cstr(&engine.log) : "";
}
