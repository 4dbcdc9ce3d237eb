/* "Always" where no rule would be narrow: exactly this command, until the session ends. The real chain, real commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/supervise.h"
#include "fakes/real.h"

static void
model_runs(struct rig *r, const char *command, const char *more)
{
    static int n;
    char id[16], *input = xasprintf("{\"command\":\"%s\"%s}", command, more);
    snprintf(id, sizeof id, "t%d", ++n);
    rig_calls(r, id, "Bash", input);
    rig_says(r, "done");
    free(input);
}

static bool
asks_or_ends(const struct event *e, const void *arg)
{
    (void)arg;
    return e->kind == EV_PERM_ASK || e->kind == EV_RESULT;
}

/* The ask that comes, or NULL when the turn ends without one. */
static const struct event *
submit(struct rig *r)
{
    rig_post(r, OP_SUBMIT, "go");
    const struct event *e = rig_until(r, asks_or_ends, NULL);
    return e->kind == EV_PERM_ASK ? e : NULL;
}

#define SCRIPT "sh ./x.sh"

static void
always_holds_for_this_session_alone(void **state)
{
    (void)state;
    struct rig r;
    real_rig_init(&r, "off", NULL);
    model_runs(&r, SCRIPT, "");
    model_runs(&r, SCRIPT, ",\"description\":\"again\",\"timeout\":5000");
    model_runs(&r, SCRIPT " other", "");
    model_runs(&r, SCRIPT, ",\"run_in_background\":true");
    rig_start(&r);
    const struct event *ask = submit(&r);
    assert_non_null(ask);
    assert_int_equal(ask->u.ask.n_rules, 1);
    assert_string_equal(ask->u.ask.rules[0], "Bash(" SCRIPT ")");
    assert_null(ask->u.ask.rules_file);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ALWAYS, NULL, NULL);
    assert_non_null(rig_result(&r));
    assert_null(submit(&r)); /* the same */
    ask = submit(&r);        /* another */
    assert_non_null(ask);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_ONCE, NULL, NULL);
    assert_non_null(rig_result(&r));
    ask = submit(&r); /* the same, but left alone */
    assert_non_null(ask);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, NULL, NULL);
    assert_non_null(rig_result(&r));
    char *file = fs_join(r.root, ".yare/settings.local.json");
    assert_false(fs_exists(file));
    free(file);
    rig_end(&r);
}

/* What a person has to look at each time, and what a rule denies or asks for, is never kept. */
static void
nothing_that_is_reserved_is_kept(void **state)
{
    (void)state;
    static const char *const commands[] = {"rm -rf ~", "python3 a.py", "sh b.sh > .yare/x"};
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        struct rig r;
        real_rig_init(&r, "off", "{\"permissions\":{\"ask\":[\"Bash(python3:*)\"]}}");
        model_runs(&r, commands[i], "");
        rig_start(&r);
        const struct event *ask = submit(&r);
        assert_non_null(ask);
        assert_int_equal(ask->u.ask.n_rules, 0);
        assert_non_null(ask->u.ask.rules_why);
        rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, NULL, NULL);
        assert_non_null(rig_result(&r));
        rig_end(&r);
    }
}

/* ---- what was allowed is told, and taken back ---- */

static void
allow_for_the_session(struct rig *r)
{
    const struct event *ask = submit(r);
    assert_non_null(ask);
    rig_answer(r, ask->u.ask.id, PERM_ANSWER_ALWAYS, NULL, NULL);
    assert_non_null(rig_result(r));
}

/* The newest notice or error, behind a command that is done on the spot. */
static const char *
told(struct rig *r, const char *command)
{
    rig_post(r, OP_COMMAND, command);
    rig_settle(r);
    for (size_t i = r->n; i-- > 0;) {
        if (r->ev[i]->kind == EV_NOTICE)
            return r->ev[i]->u.notice.text;
        if (r->ev[i]->kind == EV_ERROR)
            return r->ev[i]->u.error.err.text;
    }
    return "";
}

static void
what_is_allowed_is_told(void **state)
{
    (void)state;
    struct rig r;
    real_rig_init(&r, "off", NULL);
    model_runs(&r, SCRIPT, "");
    model_runs(&r, "sh ./y.sh", ",\"run_in_background\":true");
    rig_start(&r);
    struct cJSON *rules = rig_ask(&r, QUERY_RULES, "");
    assert_int_equal(json_len(json_at(rules, "session")), 0);
    json_free(rules);
    assert_null(strstr(told(&r, "/permissions"), "until the session ends"));
    allow_for_the_session(&r);
    allow_for_the_session(&r);
    assert_int_equal(rig_told(&r, "/permissions takes it back"), 2);
    rules = rig_ask(&r, QUERY_RULES, "");
    const struct cJSON *list = json_at(rules, "session"), *one = json_first(list);
    assert_int_equal(json_len(list), 2);
    assert_string_equal(json_cstr(one, "command", ""), SCRIPT);
    assert_string_equal(json_cstr(one, "tool", ""), "Bash");
    assert_string_equal(json_cstr(one, "folder", ""), r.root);
    assert_string_equal(json_cstr(one, "who", ""), "person");
    assert_true(json_int(one, "at_ms", 0) > 0);
    assert_false(json_bool(one, "background", true));
    assert_true(json_bool(json_next(one), "background", false));
    json_free(rules);
    struct cJSON *at = rig_ask(&r, QUERY_STATE, "");
    assert_int_equal(json_len(json_at(at, "extensions.allowed")), 2);
    json_free(at);
    const char *said = told(&r, "/permissions");
    assert_non_null(strstr(said, "1 Bash  " SCRIPT "  (in "));
    assert_non_null(strstr(said, "2 Bash  sh ./y.sh  (in "));
    assert_non_null(strstr(told(&r, "/state"), SCRIPT));
    rig_end(&r);
}

static void
what_is_taken_back_asks_at_once(void **state)
{
    (void)state;
    struct rig r;
    real_rig_init(&r, "off", NULL);
    for (int i = 0; i < 3; i++)
        model_runs(&r, i == 1 ? "sh ./y.sh" : SCRIPT, "");
    model_runs(&r, "sh ./y.sh", "");
    rig_start(&r);
    allow_for_the_session(&r);
    allow_for_the_session(&r);
    assert_non_null(strstr(told(&r, "/permissions remove session 3"), "under the number '3'"));
    assert_non_null(strstr(told(&r, "/permissions remove session"), "session NUMBER"));
    assert_non_null(strstr(told(&r, "/permissions remove session 1"), SCRIPT));
    assert_non_null(strstr(told(&r, "/permissions remove session 1"), "under the number '1'"));
    const struct event *ask = submit(&r);
    assert_non_null(ask);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, NULL, NULL);
    assert_non_null(rig_result(&r));
    assert_null(submit(&r)); /* the other one stays */
    struct cJSON *rules = rig_ask(&r, QUERY_RULES, "");
    assert_int_equal(json_len(json_at(rules, "session")), 1);
    assert_int_equal(json_int(json_at(rules, "session.0"), "id", 0), 2);
    json_free(rules);
    rig_end(&r);
}

/* What the command line allows for the session is as much of it, and asks again once it is taken back. */
static void
what_the_command_line_allows_is_taken_back(void **state)
{
    (void)state;
    static const char *const dirs[] = {"../more", "/srv/lib", NULL};
    static const char *const tools[] = {"Bash(touch a.txt)", "Read(//srv/**)", NULL};
    struct rig r;
    real_rig_init(&r, "off", NULL);
    r.cfg.add_dirs = dirs;
    r.cfg.allowed_tools = tools;
    for (int i = 0; i < 2; i++)
        model_runs(&r, "touch a.txt", "");
    rig_start(&r);
    assert_null(submit(&r));
    struct cJSON *rules = rig_ask(&r, QUERY_RULES, "");
    char *more = xasprintf("%s", json_cstr(rules, "session.0.folder", ""));
    assert_int_equal(json_len(json_at(rules, "session")), 2);
    assert_true(str_ends(str_from(more), "/more") && more[0] == '/');
    assert_string_equal(json_cstr(rules, "session.0.who", ""), "--add-dir");
    assert_int_equal(json_len(json_at(rules, "rules")), 2);
    assert_true(json_bool(rules, "rules.0.removable", false));
    json_free(rules);
    assert_non_null(strstr(told(&r, "/permissions"), more));
    char *line = xasprintf("/permissions remove session %s", more);
    assert_non_null(strstr(told(&r, line), "taken back"));
    assert_non_null(strstr(told(&r, line), "nothing is allowed"));
    assert_non_null(strstr(told(&r, "/permissions remove allow Bash(touch a.txt)"), "removed"));
    rules = rig_ask(&r, QUERY_RULES, "");
    assert_int_equal(json_len(json_at(rules, "session")), 1);
    assert_int_equal(json_len(json_at(rules, "rules")), 1);
    json_free(rules);
    const struct event *ask = submit(&r);
    assert_non_null(ask);
    rig_answer(&r, ask->u.ask.id, PERM_ANSWER_NO, NULL, NULL);
    assert_non_null(rig_result(&r));
    free(more);
    free(line);
    rig_end(&r);
}

/* ---- a request that waits is judged anew ---- */

static void
another_mode_tells_the_request_anew(void **state)
{
    (void)state;
    struct rig r;
    real_rig_init(&r, "off", NULL);
    r.cfg.mode = PERM_PLAN;
    model_runs(&r, SCRIPT, "");
    rig_start(&r);
    const struct event *ask = submit(&r);
    assert_non_null(ask);
    uint64_t id = ask->u.ask.id;
    bool plan = false;
    for (size_t i = 0; i < ask->u.ask.decision.n_findings; i++)
        plan |= strstr(ask->u.ask.decision.findings[i].reason, "plan mode") != NULL;
    assert_true(plan);
    rig_post(&r, OP_COMMAND, "/mode default");
    ask = rig_kind(&r, EV_PERM_ASK);
    assert_true(ask->u.ask.id == id);
    assert_true(ask->u.ask.offer == 1);
    for (size_t i = 0; i < ask->u.ask.decision.n_findings; i++)
        assert_null(strstr(ask->u.ask.decision.findings[i].reason, "plan mode"));
    size_t n = rig_count(&r, EV_PERM_ASK);
    (void)told(&r, "/mode default"); /* nothing reads differently */
    assert_int_equal(rig_count(&r, EV_PERM_ASK), n);
    rig_answer(&r, id, PERM_ANSWER_NO, NULL, NULL);
    assert_non_null(rig_result(&r));
    rig_end(&r);
}

/* Trust lets nothing run that asks: it makes the offer anew, and an "always" holds for the offer that was seen. */
static void
trust_makes_the_offer_anew(void **state)
{
    (void)state;
    for (uint64_t seen = 0; seen < 2; seen++) {
        struct rig r;
        real_rig_init(&r, "off", NULL);
        r.cfg.trusted = false;
        model_runs(&r, SCRIPT, "");
        rig_start(&r);
        const struct event *ask = submit(&r);
        assert_non_null(ask);
        assert_int_equal(ask->u.ask.n_rules, 0);
        assert_non_null(strstr(ask->u.ask.rules_why, "not trusted"));
        rig_post(&r, OP_TRUST, NULL);
        ask = rig_kind(&r, EV_PERM_ASK);
        assert_int_equal(ask->u.ask.n_rules, 1);
        assert_null(ask->u.ask.rules_why);
        struct op *op = op_new(OP_PERM_ANSWER, NULL);
        op->perm.ask_id = ask->u.ask.id;
        op->perm.answer = PERM_ANSWER_ALWAYS;
        op->perm.offer = seen;
        engine_post(r.e, op);
        assert_non_null(rig_result(&r));
        struct cJSON *rules = rig_ask(&r, QUERY_RULES, "");
        assert_int_equal(json_len(json_at(rules, "session")), seen);
        json_free(rules);
        rig_end(&r);
    }
}

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_holds_for_this_session_alone),
        cmocka_unit_test(nothing_that_is_reserved_is_kept),
        cmocka_unit_test(what_is_allowed_is_told),
        cmocka_unit_test(what_is_taken_back_asks_at_once),
        cmocka_unit_test(what_the_command_line_allows_is_taken_back),
        cmocka_unit_test(another_mode_tells_the_request_anew),
        cmocka_unit_test(trust_makes_the_offer_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
