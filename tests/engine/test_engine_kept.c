/* What a session keeps beside its messages, seen by who opens it again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/fs.h"
#include "base/json.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/session.h"
#include "tools/tool.h"

/* ---- a tool that shows a diff, and one that is named as the list is ---- */

static void
run_edit(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    (void)ctx;
    buf_adds(&ret->text, "edited");
    buf_adds(&ret->display, "@@ -1 +1 @@\n-old\n+new\n");
    for (int64_t i = json_int(input, "size", 0); i > 0; i--)
        buf_addf(&ret->display, "+a line of the diff, number %lld\n", (long long)i);
    snprintf(ret->summary, sizeof ret->summary, "+1 -1");
}

static void
run_todos(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    (void)ctx;
    (void)input;
    buf_adds(&ret->text, "ok");
    buf_adds(&ret->data, "{\"newTodos\":[{\"content\":\"look\",\"status\":\"in_progress\"}]}");
}

static const struct tool *
find(struct str name)
{
    static struct tool edit, todo;
    const struct tool *toy = toys_seams.tool_find(STR("Edit"));
    if (str_is(name, "Edit")) {
        edit = *toy;
        edit.run = run_edit;
        return &edit;
    }
    if (str_is(name, "TodoWrite")) {
        todo = *toy;
        todo.name = "TodoWrite";
        todo.run = run_todos;
        todo.precheck = NULL;
        return &todo;
    }
    return toys_seams.tool_find(name);
}

static void
begin(struct rig *r)
{
    rig_init(r);
    r->seams.tool_find = find;
}

/* Ends the run and opens its session again. */
static void
again(struct rig *r)
{
    static char id[64];
    snprintf(id, sizeof id, "%s", engine_session_id(r->e));
    rig_stop(r);
    for (size_t i = 0; i < r->n; i++)
        event_free(r->ev[i]);
    r->n = r->seen = 0;
    r->cfg.resume_id = id;
    rig_start(r);
    rig_kind(r, EV_CONTEXT); /* the last word of an opened session */
    r->seen = 0;
}

static bool
has_notice(const struct rig *r, const char *word)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->ev[i]->kind == EV_NOTICE && strstr(r->ev[i]->u.notice.text, word))
            return true;
    return false;
}

/* ---- calls ---- */

static void
test_ends_come_back_as_they_were(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Edit", "{\"name\":\"a\"}");
    rig_calls(&r, "t2", "Read", "{\"name\":\"b\",\"perm\":\"deny\"}");
    rig_calls(&r, "t3", "Bash", "{\"command\":\"fail\"}");
    rig_calls(&r, "t4", "Read", "{\"name\":\"c\",\"gate\":1}");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t4", PHASE_DELTA, TOOL_RUNNING);
    engine_cancel(r.e, CANCEL_USER);
    rig_result(&r);
    again(&r);
    const struct event *e = rig_tool(&r, "t1", PHASE_END, TOOL_DONE);
    assert_true(e->u.tool.replayed && e->u.tool.is_diff);
    assert_string_equal(e->u.tool.summary, "+1 -1");
    assert_string_equal(e->u.tool.output, "@@ -1 +1 @@\n-old\n+new\n");
    assert_non_null(strstr(rig_tool(&r, "t2", PHASE_END, TOOL_DENIED)->u.tool.output, "denied"));
    assert_true(rig_tool(&r, "t3", PHASE_END, TOOL_FAILED)->u.tool.is_error);
    assert_false(rig_tool(&r, "t4", PHASE_END, TOOL_CANCELLED)->u.tool.is_diff);
    rig_end(&r);
}

static void
test_a_long_diff_is_kept_in_part(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Edit", "{\"name\":\"a\",\"size\":2000}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "go");
    again(&r);
    const char *out = rig_tool(&r, "t1", PHASE_END, TOOL_DONE)->u.tool.output;
    assert_true(strlen(out) > 15000 && strlen(out) < 17000);
    assert_non_null(strstr(out, "bytes more]"));
    rig_end(&r);
}

/* A copy has its own journal, and shows the same. */
static void
test_a_copy_keeps_them_too(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "Edit", "{\"name\":\"a\"}");
    rig_calls(&r, "t2", "TodoWrite", "{}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "go");
    r.cfg.fork = true;
    again(&r);
    r.cfg.fork = false;
    again(&r);
    assert_string_equal(rig_tool(&r, "t1", PHASE_END, TOOL_DONE)->u.tool.summary, "+1 -1");
    assert_non_null(strstr(rig_kind(&r, EV_TASK)->u.task.json, "look"));
    rig_end(&r);
}

static void
test_todos_come_back(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "t1", "TodoWrite", "{}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "go");
    again(&r);
    assert_string_equal(rig_kind(&r, EV_TASK)->u.task.json,
                        "{\"todos\":[{\"content\":\"look\",\"status\":\"in_progress\"}]}");
    rig_end(&r);
}

/* ---- the context ---- */

static void
test_the_context_is_known_at_once(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    scripted_reply(r.script);
    scripted_usage(r.script, 40000, 2000);
    scripted_text(r.script, "done");
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    rig_submit(&r, "go");
    again(&r);
    assert_int_equal(rig_kind(&r, EV_CONTEXT)->u.context.used, 42000);
    /* What came after is guessed. */
    scripted_reply(r.script);
    scripted_usage(r.script, 43000, 100);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\",\"size\":4000}");
    scripted_end(r.script, STOP_TOOL_USE);
    scripted_reply(r.script);
    struct err err = {0};
    err_set(&err, ERR_INVALID, "no");
    scripted_fail_start(r.script, &err);
    rig_submit(&r, "more");
    again(&r);
    int64_t used = rig_kind(&r, EV_CONTEXT)->u.context.used;
    assert_true(used > 44100 && used < 44300);
    rig_end(&r);
}

/* ---- what was chosen ---- */

static void
set_mode(struct rig *r, enum perm_mode mode)
{
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = mode;
    engine_post(r->e, op);
    rig_kind(r, EV_MODE);
}

static void
first_turn(struct rig *r)
{
    begin(r);
    r->cfg.mode_scope = SCOPE_CLI;
    rig_says(r, "done");
    rig_says(r, "done");
    rig_start(r);
    rig_submit(r, "go");
}

static void
test_model_and_mode_come_back(void **state)
{
    (void)state;
    struct rig r;
    first_turn(&r);
    rig_post(&r, OP_SET_MODEL, "another");
    set_mode(&r, PERM_ACCEPT_EDITS);
    again(&r);
    const struct event *e = rig_kind(&r, EV_SESSION);
    assert_string_equal(e->u.session.model, "another");
    assert_int_equal(e->u.session.mode, PERM_ACCEPT_EDITS);
    r.cfg.model_given = r.cfg.mode_given = true;
    again(&r);
    e = rig_kind(&r, EV_SESSION);
    assert_string_equal(e->u.session.model, "scripted");
    assert_int_equal(e->u.session.mode, PERM_DEFAULT);
    r.cfg.model_given = r.cfg.mode_given = false; /* they are the session's from then on */
    r.cfg.model = "third";
    again(&r);
    e = rig_kind(&r, EV_SESSION);
    assert_string_equal(e->u.session.model, "scripted");
    assert_int_equal(e->u.session.mode, PERM_DEFAULT);
    rig_end(&r);
}

static void
test_what_is_chosen_anew_each_time(void **state)
{
    (void)state;
    static const enum perm_mode modes[] = {PERM_PLAN, PERM_AUTO, PERM_BYPASS};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct rig r;
        begin(&r);
        r.cfg.bypass_allowed = true;
        rig_says(&r, "done");
        rig_start(&r);
        rig_submit(&r, "go");
        set_mode(&r, PERM_ACCEPT_EDITS);
        set_mode(&r, modes[i]);
        again(&r);
        assert_int_equal(rig_kind(&r, EV_SESSION)->u.session.mode, PERM_DEFAULT);
        rig_end(&r);
    }
}

/* A script must not edit because somebody let the screen do so. */
static void
test_print_mode_takes_no_mode_over(void **state)
{
    (void)state;
    struct rig r;
    first_turn(&r);
    set_mode(&r, PERM_ACCEPT_EDITS);
    r.cfg.print_mode = true;
    again(&r);
    assert_int_equal(rig_kind(&r, EV_SESSION)->u.session.mode, PERM_DEFAULT);
    rig_end(&r);
}

static void
plant(struct rig *r, const char *id, const char *model)
{
    struct session_paths p;
    struct err err = {0};
    char *text =
        xasprintf("{\"type\":\"session\",\"id\":\"%s\",\"model\":\"%s\",\"provider\":\"other\"}\n",
                  id, model);
    session_paths_make(r->data, r->root, id, &p);
    assert_true(fs_mkdirs(p.dir, 0700, &err));
    assert_true(fs_write_atomic(p.journal, str_from(text), 0600, &err));
    session_paths_release(&p);
    free(text);
}

static void
test_a_model_that_is_not_here_is_told(void **state)
{
    (void)state;
    static const char id[] = "11111111-2222-4333-8444-555555555555";
    struct rig r;
    begin(&r);
    plant(&r, id, "gone-1");
    r.cfg.resume_id = id;
    rig_start(&r);
    assert_string_equal(rig_kind(&r, EV_SESSION)->u.session.model, "scripted");
    assert_true(has_notice(&r, "held with gone-1"));
    rig_end(&r);
}

static void
test_a_name_is_confirmed(void **state)
{
    (void)state;
    struct rig r;
    first_turn(&r);
    rig_post(&r, OP_COMMAND, "/rename harbour");
    assert_string_equal(rig_kind(&r, EV_NOTICE)->u.notice.text,
                        "this session's name is now 'harbour'");
    rig_end(&r);
}

/* ---- background commands ---- */

static void
add_line(struct rig *r, const char *line)
{
    struct session_paths p;
    session_paths_make(r->data, r->root, engine_session_id(r->e), &p);
    FILE *f = fopen(p.journal, "a");
    assert_non_null(f);
    assert_true(fprintf(f, "%s\n", line) > 0);
    assert_int_equal(fclose(f), 0);
    session_paths_release(&p);
}

static void
test_the_model_hears_of_commands_that_are_over(void **state)
{
    (void)state;
    struct rig r;
    first_turn(&r);
    add_line(&r, "{\"type\":\"task\",\"task\":\"bash_1\",\"what\":\"make\",\"state\":\"running\"}");
    add_line(&r, "{\"type\":\"task\",\"task\":\"bash_2\",\"what\":\"ls\",\"state\":\"running\"}");
    add_line(&r, "{\"type\":\"task\",\"task\":\"bash_2\",\"state\":\"told\"}");
    again(&r);
    rig_submit(&r, "more");
    const struct scripted_request *q = scripted_request(r.script, 1);
    const char *sent = q->messages[q->n_messages - 1];
    assert_non_null(strstr(sent, "bash_1 (make)"));
    assert_null(strstr(sent, "bash_2"));
    rig_says(&r, "done");
    again(&r); /* once is enough */
    rig_submit(&r, "and more");
    q = scripted_request(r.script, 2);
    assert_null(strstr(q->messages[q->n_messages - 1], "bash_1"));
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_come_back_as_they_were),
        cmocka_unit_test(test_a_long_diff_is_kept_in_part),
        cmocka_unit_test(test_a_copy_keeps_them_too),
        cmocka_unit_test(test_todos_come_back),
        cmocka_unit_test(test_the_context_is_known_at_once),
        cmocka_unit_test(test_model_and_mode_come_back),
        cmocka_unit_test(test_what_is_chosen_anew_each_time),
        cmocka_unit_test(test_print_mode_takes_no_mode_over),
        cmocka_unit_test(test_a_model_that_is_not_here_is_told),
        cmocka_unit_test(test_a_name_is_confirmed),
        cmocka_unit_test(test_the_model_hears_of_commands_that_are_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
