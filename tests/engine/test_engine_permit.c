/* Asks and answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/rig.h"
#include "fakes/toys.h"

#include <sys/stat.h>

#include "base/fs.h"
#include "base/trust.h"
#include "store/session.h"

static void
ask_script(struct rig *r, const char *name, const char *input)
{
    rig_init(r);
    rig_calls(r, "t1", name, input);
    rig_says(r, "done");
}

static void
go(struct rig *r)
{
    rig_start(r);
    rig_post(r, OP_SUBMIT, "go");
}

static void
test_yes_once(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_string_equal(ask->u.ask.tool, "Edit");
    assert_string_equal(ask->u.ask.rules[0], "Edit(*)");
    assert_int_equal(ask->u.ask.decision.verdict, VERDICT_ASK);
    assert_int_equal(toys_runs(), 0);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    const struct event *d = rig_kind(&r, EV_PERM_DECIDED);
    assert_true(d->u.decided.allowed);
    assert_string_equal(d->u.decided.who, "person");
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(toys_runs(), 1);
    char *path = xasprintf("%s/projects", r.data);
    assert_true(fs_is_dir(path));
    free(path);
    rig_end(&r);
}

/* What would fail in any case costs the person no answer. */
static void
test_nobody_is_asked_about_a_call_that_cannot_work(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"unread\",\"perm\":\"ask\"}");
    go(&r);
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
    assert_int_equal(toys_runs(), 0);
    assert_non_null(strstr(rig_last_message(&r, 1), "read it first"));
    rig_end(&r);
}

static void
test_no_tells_the_model_why(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, "use the other file", NULL);
    const struct event *e = rig_result(&r);
    assert_int_equal(e->u.result.exit_code, 0);
    assert_non_null(strstr(e->u.result.denials, "\"tool_use_id\":\"t1\""));
    assert_non_null(strstr(rig_last_message(&r, 1), "use the other file"));
    assert_int_equal(toys_runs(), 0);
    assert_true(rig_find_tool(&r, "t1", PHASE_END, TOOL_DENIED) >= 0);
    rig_end(&r);
}

static void
test_always_saves_a_rule_that_holds(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    scripted_tool(r.script, "t2", "Edit", "{\"name\":\"b\",\"perm\":\"ask\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "done");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ALWAYS, NULL, NULL);
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 1);
    assert_int_equal(toys_runs(), 2);
    struct buf b;
    struct err err = {0};
    buf_init(&b, BUF_MAX);
    char *file = fs_join(r.root, ".yare/settings.local.json");
    assert_true(fs_read(file, BUF_MAX, &b, &err));
    assert_non_null(strstr(buf_cstr(&b), "Edit(*)"));
    buf_release(&b);
    free(file);
    rig_end(&r);
}

static void
test_the_file_of_saved_rules_stays_out_of_git(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    struct buf b;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    char *git = fs_join(r.root, ".git"), *head = fs_join(git, "HEAD"),
         *file = fs_join(git, "info/exclude"), *ignore = fs_join(r.root, ".gitignore");
    assert_true(fs_mkdirs(git, 0755, &err));
    assert_true(fs_write_atomic(head, STR("ref: refs/heads/main\n"), 0644, &err));
    go(&r);
    rig_answer_next(&r, PERM_ANSWER_ALWAYS);
    rig_result(&r);
    buf_init(&b, BUF_MAX);
    assert_true(fs_read(file, BUF_MAX, &b, &err));
    assert_string_equal(buf_cstr(&b), ".yare/settings.local.json\n");
    assert_false(fs_exists(ignore));
    bool said = false;
    for (size_t i = 0; i < r.n; i++)
        said |= r.ev[i]->kind == EV_NOTICE && strstr(r.ev[i]->u.notice.text, "out of git");
    assert_true(said);
    buf_release(&b);
    free(ignore);
    free(file);
    free(head);
    free(git);
    rig_end(&r);
}

static void
test_no_rule_is_offered_in_an_untrusted_folder(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    r.cfg.trusted = false;
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_int_equal(ask->u.ask.n_rules, 0);
    assert_non_null(strstr(ask->u.ask.rules_why, "not trusted"));
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ALWAYS, NULL, NULL);
    rig_result(&r);
    char *file = fs_join(r.root, ".yare/settings.local.json");
    assert_false(fs_exists(file));
    free(file);
    rig_end(&r);
}

/* The rules allow what it became: it runs at once, and is shown as what runs. */
static void
test_an_edited_call_is_shown_as_what_runs(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, "{\"name\":\"edited\"}");
    rig_result(&r);
    int at = rig_find_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    assert_true(at >= 0);
    assert_non_null(r.ev[at]->u.tool.what);
    assert_string_equal(r.ev[at]->u.tool.what, "edited");
    rig_end(&r);
}

static void
test_an_edited_call_is_judged_again(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    uint64_t first = ask->u.ask.id;
    /* Still to be asked: what runs must be what was shown. */
    rig_answer(&r, first, PERM_ANSWER_ONCE, NULL, "{\"name\":\"edited\",\"perm\":\"ask\"}");
    const struct event *was =
        rig_kind(&r, EV_PERM_DECIDED); /* what had been asked, not what nobody refused */
    assert_string_equal(was->u.decided.what, "a");
    ask = rig_kind(&r, EV_PERM_ASK);
    assert_true(ask->u.ask.id != first);
    assert_non_null(strstr(ask->u.ask.input, "edited"));
    rig_answer(&r, first, PERM_ANSWER_ONCE, NULL, NULL); /* the old one is closed */
    rig_kind(&r, EV_NOTICE);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_result(&r);
    assert_non_null(strstr(rig_last_message(&r, 1), "done edited in"));
    assert_non_null(strstr(rig_last_message(&r, 1), "changed the input"));
    rig_end(&r);
}

static void
test_an_edit_into_a_denied_call_is_denied(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, "{\"bad\":1}"); /* refused, still open */
    rig_kind(&r, EV_ERROR);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, "{\"name\":\"x\",\"perm\":\"deny\"}");
    rig_result(&r);
    assert_int_equal(toys_runs(), 0);
    assert_true(rig_find_tool(&r, "t1", PHASE_END, TOOL_DENIED) >= 0);
    rig_end(&r);
}

static void
test_a_parked_call_lets_safe_ones_pass_and_holds_the_rest(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_tool(r.script, "a1", "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    scripted_tool(r.script, "u1", "Edit", "{\"name\":\"b\"}");
    scripted_tool(r.script, "s1", "Read", "{\"name\":\"c\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "done");
    go(&r);
    uint64_t id = rig_kind(&r, EV_PERM_ASK)->u.ask.id;
    rig_tool(&r, "s1", PHASE_END, TOOL_DONE);
    assert_true(rig_find_tool(&r, "u1", PHASE_DELTA, TOOL_RUNNING) < 0);
    rig_answer(&r, id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_result(&r);
    assert_true(rig_find_tool(&r, "a1", PHASE_END, TOOL_DONE) <
                rig_find_tool(&r, "u1", PHASE_DELTA, TOOL_RUNNING));
    rig_end(&r);
}

static void
test_a_cancel_closes_the_ask(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    rig_kind(&r, EV_PERM_ASK);
    engine_cancel(r.e, CANCEL_USER);
    const struct event *d = rig_kind(&r, EV_PERM_DECIDED);
    assert_string_equal(d->u.decided.who, "abort");
    assert_int_equal(rig_result(&r)->u.result.exit_code, 130);
    rig_end(&r);
}

static void
test_a_mode_change_judges_parked_calls_again(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    r.cfg.bypass_allowed = true;
    go(&r);
    rig_kind(&r, EV_PERM_ASK);
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = PERM_BYPASS;
    engine_post(r.e, op);
    const struct event *d = rig_kind(&r, EV_PERM_DECIDED);
    assert_true(d->u.decided.allowed);
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(toys_runs(), 1);
    rig_end(&r);
}

/* Who goes through the modes with Shift+Tab passes some that would run what waits. */
static void
test_a_mode_on_the_way_runs_nothing(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    r.cfg.bypass_allowed = true;
    go(&r);
    uint64_t id = rig_kind(&r, EV_PERM_ASK)->u.ask.id;
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = PERM_BYPASS;
    op->stepped = true;
    engine_post(r.e, op);
    const struct event *again = rig_kind(&r, EV_PERM_ASK);
    assert_int_equal(again->u.ask.id, id);
    const struct decision *d = &again->u.ask.decision;
    assert_string_equal(d->findings[d->n_findings - 1].layer, "mode");
    assert_int_equal(toys_runs(), 0);
    op = op_new(OP_SET_MODE, NULL); /* chosen by name, it counts */
    op->mode = PERM_BYPASS;
    engine_post(r.e, op);
    assert_true(rig_kind(&r, EV_PERM_DECIDED)->u.decided.allowed);
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    assert_int_equal(toys_runs(), 1);
    rig_end(&r);
}

static void
test_bypass_only_where_the_session_allows_it(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_start(&r);
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = PERM_BYPASS;
    engine_post(r.e, op);
    rig_kind(&r, EV_NOTICE);
    assert_int_equal(rig_count(&r, EV_MODE), 0);
    rig_end(&r);
}

static void
test_nobody_there_means_deny(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    r.cfg.interactive = false;
    go(&r);
    const struct event *e = rig_result(&r);
    assert_int_equal(e->u.result.exit_code, 0);
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
    assert_non_null(strstr(e->u.result.denials, "Edit"));
    assert_non_null(strstr(rig_last_message(&r, 1), "nobody is here to answer"));
    rig_end(&r);
}

static void
test_a_new_deny_is_obeyed_at_once(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    struct err err = {0};
    char *dir = fs_join(r.root, ".yare"), *file = fs_join(dir, "settings.json");
    assert_true(fs_mkdirs(dir, 0755, &err));
    assert_true(fs_write_atomic(file, STR("{\"permissions\":{\"deny\":[\"Edit\"]}}"), 0644, &err));
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_result(&r);
    assert_int_equal(toys_runs(), 0);
    assert_true(rig_find_tool(&r, "t1", PHASE_END, TOOL_DENIED) >= 0);
    free(dir);
    free(file);
    rig_end(&r);
}

/* What was trusted are these very files: what a pull puts in their place only narrows, at once. */
static void
test_changed_settings_lose_their_trust(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    char *dir = fs_join(r.root, ".yare"), *file = fs_join(dir, "settings.json");
    assert_true(fs_mkdirs(dir, 0755, &err));
    assert_true(fs_write_atomic(file, STR("{}"), 0644, &err));
    assert_true(trust_grant(r.cfg.config_dir, r.root, &err));
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_true(fs_write_atomic(file, STR("{\"permissions\":{\"allow\":[\"Bash\"]}}"), 0644, &err));
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "changed since you trusted"));
    assert_false(rig_kind(&r, EV_SESSION)->u.session.trusted);
    rig_result(&r);
    free(dir);
    free(file);
    rig_end(&r);
}

/* A file that is not there yet is watched wherever settings are looked for, also in a folder that was moved. */
static void
test_a_new_deny_in_a_moved_user_folder_is_obeyed(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    char *dir = fs_join(r.data, "moved"), *file = fs_join(dir, "settings.json");
    struct err err = {0};
    assert_true(fs_mkdirs(dir, 0755, &err));
    setenv("CLAUDE_CONFIG_DIR", dir, 1);
    go(&r);
    const struct event *ask = rig_kind(&r, EV_PERM_ASK);
    assert_true(fs_write_atomic(file, STR("{\"permissions\":{\"deny\":[\"Edit\"]}}"), 0644, &err));
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    rig_result(&r);
    assert_int_equal(toys_runs(), 0);
    unsetenv("CLAUDE_CONFIG_DIR");
    free(dir);
    free(file);
    rig_end(&r);
}

static void
test_each_decision_is_in_the_audit_log(void **state)
{
    (void)state;
    struct rig r;
    ask_script(&r, "Edit", "{\"name\":\"a\",\"perm\":\"ask\"}");
    go(&r);
    char *id = xstrdup(engine_session_id(r.e));
    rig_answer_next(&r, PERM_ANSWER_ONCE);
    rig_result(&r);
    struct session_paths paths;
    session_paths_make(r.data, r.root, id, &paths);
    struct buf b;
    struct err err = {0};
    struct stat st;
    buf_init(&b, BUF_MAX);
    assert_true(fs_read(paths.audit, BUF_MAX, &b, &err));
    assert_non_null(strstr(buf_cstr(&b), "\"who\":\"person\""));
    assert_non_null(strstr(buf_cstr(&b), "\"tool_use_id\":\"t1\""));
    assert_int_equal(stat(paths.audit, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    buf_release(&b);
    session_paths_release(&paths);
    free(id);
    rig_end(&r);
}

static void
test_a_person_runs_commands_without_an_ask(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "I see");
    rig_start(&r);
    rig_post(&r, OP_COMMAND, "!make test");
    assert_string_equal(rig_kind(&r, EV_USER)->u.user.text, "!make test");
    rig_result(&r);
    assert_int_equal(scripted_requests(r.script), 0);
    rig_submit(&r, "what did it say");
    assert_int_equal(rig_count(&r, EV_PERM_ASK), 0);
    const struct scripted_request *q = scripted_request(r.script, 0);
    assert_int_equal(q->n_messages, 1);
    assert_non_null(strstr(q->messages[0], "ran make test in"));
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yes_once),
        cmocka_unit_test(test_nobody_is_asked_about_a_call_that_cannot_work),
        cmocka_unit_test(test_no_tells_the_model_why),
        cmocka_unit_test(test_always_saves_a_rule_that_holds),
        cmocka_unit_test(test_the_file_of_saved_rules_stays_out_of_git),
        cmocka_unit_test(test_no_rule_is_offered_in_an_untrusted_folder),
        cmocka_unit_test(test_an_edited_call_is_judged_again),
        cmocka_unit_test(test_an_edited_call_is_shown_as_what_runs),
        cmocka_unit_test(test_an_edit_into_a_denied_call_is_denied),
        cmocka_unit_test(test_a_parked_call_lets_safe_ones_pass_and_holds_the_rest),
        cmocka_unit_test(test_a_cancel_closes_the_ask),
        cmocka_unit_test(test_a_mode_change_judges_parked_calls_again),
        cmocka_unit_test(test_a_mode_on_the_way_runs_nothing),
        cmocka_unit_test(test_bypass_only_where_the_session_allows_it),
        cmocka_unit_test(test_nobody_there_means_deny),
        cmocka_unit_test(test_a_new_deny_is_obeyed_at_once),
        cmocka_unit_test(test_changed_settings_lose_their_trust),
        cmocka_unit_test(test_a_new_deny_in_a_moved_user_folder_is_obeyed),
        cmocka_unit_test(test_each_decision_is_in_the_audit_log),
        cmocka_unit_test(test_a_person_runs_commands_without_an_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
