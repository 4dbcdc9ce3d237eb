#pragma once
/* The permission pane on a canvas of 44x14, with a view that a test feeds with events. One test program, one pane. */
#include "unit/ui_help.h"

#include "base/json.h"
#include "ui/approval_parts.h"
#include "ui/keys.h"

static struct view v;
static struct approval a;
static struct canvas c;
static int64_t now;
static bool used;

static inline int
setup(void **state)
{
    (void)state;
    view_init(&v);
    approval_init(&a);
    canvas_init(&c, 44, 14);
    now = 10000;
    return 0;
}

static inline int
teardown(void **state)
{
    (void)state;
    view_release(&v);
    approval_release(&a);
    canvas_release(&c);
    return 0;
}

static inline void
draw(void)
{
    approval_sync(&a, &v, now);
    canvas_clear(&c);
    approval_draw(&a, &v, &c, (struct rect){0, 0, c.w, c.h}, true, false, now);
}

/* As the app does it: the pane is drawn, then a key comes a second later. */
static inline struct op *
press(int key)
{
    draw();
    now += 1000;
    struct op *op = approval_key(&a, &v, key, STR(""), now, &used);
    draw();
    return op;
}

static inline void
press_none(int key)
{
    struct op *op = press(key);
    assert_null(op);
}

static inline void
ask(int id, const char *command, const char *findings, const char *rules)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "command", command);
    jw_kcstr(&w, "description", "d\"q");
    jw_end(&w);
    struct buf input, line;
    buf_init(&input, BUF_MAX);
    buf_init(&line, BUF_MAX);
    json_quote(&input, buf_str(&b));
    buf_clear(&b);
    json_quote(&b, str_from(command));
    buf_addf(&line,
             "{\"event\":\"perm_ask\",\"id\":%d,\"tool_use_id\":\"t%d\",\"tool\":\"Bash\","
             "\"command\":%s,\"input\":%s,"
             "\"rules\":%s,\"rules_file\":\"/p/.yare/"
             "settings.local.json\",\"decision\":{\"decision\":\"ask\",\"liftable_by\":"
             "\"person\",\"findings\":%s}}",
             id, id, buf_cstr(&b), buf_cstr(&input), rules, findings);
    apply(&v, buf_cstr(&line));
    buf_release(&b);
    buf_release(&input);
    buf_release(&line);
}
