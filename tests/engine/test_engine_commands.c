/* Commands and queries, the files that join a prompt, and what is told to the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "engine/hidden.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/session.h"

/* ---- commands, queries, memory ---- */

static void
test_commands_answer(void **state)
{
    (void)state;
    static const char *const lines[] = {"/cost",        "/context", "/state", "/help",    "/pin",
                                        "/permissions", "/mode",    "/model", "/nonsense"};
    struct rig r;
    rig_init(&r);
    rig_start(&r);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        rig_post(&r, OP_COMMAND, lines[i]);
        assert_true(rig_kind(&r, EV_NOTICE)->u.notice.text[0]);
    }
    char *old = xstrdup(engine_session_id(r.e));
    rig_post(&r, OP_COMMAND, "/clear");
    const struct event *e = rig_kind(&r, EV_SESSION);
    assert_true(e->u.session.cleared);
    assert_string_not_equal(e->u.session.id, old);
    assert_string_equal(e->u.session.id, engine_session_id(r.e));
    free(old);
    rig_post(&r, OP_COMMAND, "/exit");
    rig_kind(&r, EV_CLOSED);
    rig_end(&r);
}

/* Who posts one as a prompt (a script, with -p) sees in its result that it did not do what it was asked. */
static void
test_a_command_that_fails_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *line, *why; /* NULL: it is done */
    } cases[] = {
        {"/mode sideways", "unknown mode"},
        {"/mode bypass", "bypass is not available"},
        {"/pin remove 9", "there is no pin 9"},
        {"/pin remove that", "which one"},
        {"/pin src/nowhere.c", "is no file"},
        {"/context open 9", "9"},
        {"/context open that", "which one"},
        {"/resume", "which one"},
        {"/resume nobody", "nobody"},
        {"/fork", "nothing to fork"},
        {"/export", "nothing to export"},
        {"/export a.pdf", "not .pdf"},
        {"/export --often a", "usage"},
        {"/permissions remove", "which one"},
        {"/permissions remove allow Bash(x)", "Bash(x)"},
        {"/sandbox maybe", "not 'maybe'"},
        {"/budget lots", "no amount"},
        {"/fast sideways", "not 'sideways'"},
        {"/fast on", "cannot be had"},
        {"/connect a b c d", "usage"},
        {"/connect a", "no other provider"},
        {"/connect --save", "cannot be saved"},
        {"/compact", NULL}, /* it has nothing to do */
        {"/pin", NULL},
        {"/mode plan", NULL},
        {"/pin the port is 5000", NULL},
        {"/rename a name", NULL},
        {"/cost", NULL},
    };
    struct rig r;
    rig_init(&r);
    rig_start(&r);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct event *e = rig_submit(&r, cases[i].line);
        const char *why = cases[i].why, *errors = e->u.result.errors ? e->u.result.errors : "";
        bool ok = why ? strcmp(e->u.result.exit, "command_failed") == 0 && e->u.result.is_error &&
                            e->u.result.exit_code == 1 && strstr(errors, why)
                      : strcmp(e->u.result.exit, "completed") == 0 && !*errors;
        if (!ok)
            fail_msg("%s: %s %d %s", cases[i].line, e->u.result.exit, e->u.result.exit_code,
                     errors);
    }
    rig_end(&r);
}

static void
test_queries_answer_with_json(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "hello there");
    rig_start(&r);
    rig_submit(&r, "find the needle");
    for (int k = QUERY_HISTORY; k <= QUERY_STATE; k++) {
        struct cJSON *tree = rig_ask(&r, (enum query_kind)k, k == QUERY_SEARCH ? "needle" : NULL);
        if (k == QUERY_SEARCH)
            assert_int_equal(json_len(json_at(tree, "hits")), 1);
        if (k == QUERY_SESSIONS)
            assert_int_equal(json_len(json_at(tree, "sessions")), 1);
        if (k == QUERY_HISTORY)
            assert_int_equal(json_int(tree, "total", 0), 2);
        json_free(tree);
    }
    rig_end(&r);
}

static void
test_memory_and_named_files_join_the_first_message(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    char *memory = fs_join(r.root, "AGENTS.md"), *file = fs_join(r.root, "notes.txt");
    assert_true(fs_write_atomic(memory, STR("Always use tabs."), 0644, &err));
    assert_true(fs_write_atomic(file, STR("content of the notes"), 0644, &err));
    rig_says(&r, "ok");
    rig_says(&r, "ok");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "see @notes.txt and @missing.txt");
    assert_string_equal(rig_kind(&r, EV_USER)->u.user.text, "see @notes.txt and @missing.txt");
    assert_string_equal(rig_kind(&r, EV_NOTICE)->u.notice.text,
                        "attached notes.txt (1 line)\nno such file: missing.txt");
    rig_result(&r);
    for (size_t i = 0; i < r.n; i++) /* its content stands in no screen's way */
        assert_true(r.ev[i]->kind != EV_USER || !strstr(r.ev[i]->u.user.text, HIDDEN_FILE));
    char *brief =
        hidden_brief(STR(HIDDEN_FILE "/a b.txt" HIDDEN_FILE_CONTENT "1\n2\n3\n" HIDDEN_END));
    assert_string_equal(brief, "attached /a b.txt (3 lines)"); /* where it is opened again */
    free(brief);
    assert_null(hidden_brief(STR(HIDDEN_FILE "/a")));
    rig_submit(&r, "more");
    const struct scripted_request *q = scripted_request(r.script, 0);
    assert_int_equal(q->n_messages, 1);
    const char *m = strstr(q->messages[0], "Always use tabs"),
               *p = strstr(q->messages[0], "see @notes"),
               *c = strstr(q->messages[0], "content of the notes");
    assert_true(m && p && c && m < p && p < c);
    assert_null(strstr(scripted_request(r.script, 1)->messages[2], "Always use tabs"));
    assert_non_null(strstr(q->system, r.root));
    rig_post(&r, OP_COMMAND, "/memory");
    const struct event *told = rig_kind(&r, EV_NOTICE);
    assert_non_null(strstr(told->u.notice.text, memory));
    assert_non_null(strstr(told->u.notice.text, "16 bytes"));
    free(memory);
    free(file);
    rig_end(&r);
}

/* Nothing of it is sent: a deny rule holds for the instruction files too, and what they import. */
static void
test_what_may_not_be_read_is_no_memory(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    char *memory = fs_join(r.root, "CLAUDE.md"), *file = fs_join(r.root, ".env");
    assert_true(fs_write_atomic(memory, STR("Tabs. @.env"), 0644, &err));
    assert_true(fs_write_atomic(file, STR("KEY=secret"), 0644, &err));
    static const char *const denied[] = {"Read(.env)", NULL};
    r.cfg.disallowed_tools = denied;
    rig_says(&r, "ok");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "a rule denies reading it"));
    rig_result(&r);
    const char *sent = scripted_request(r.script, 0)->messages[0];
    assert_non_null(strstr(sent, "Tabs."));
    assert_null(strstr(sent, "secret"));
    free(memory);
    free(file);
    rig_end(&r);
}

static void
test_the_model_is_told_of_a_mode_change_once(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "ok");
    rig_says(&r, "ok");
    rig_start(&r);
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = PERM_PLAN;
    engine_post(r.e, op);
    rig_submit(&r, "one");
    rig_submit(&r, "two");
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_non_null(strstr(q->messages[0], "The permission mode is now"));
    assert_null(strstr(q->messages[2], "The permission mode is now"));
    rig_end(&r);
}

static void
test_a_prompt_that_cannot_be_journalled_is_not_sent(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    assert_true(fs_write_atomic(r.data, STR("a file in the way"), 0644, &err));
    rig_says(&r, "not reached");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    const struct event *e = rig_result(&r);
    assert_true(e->u.result.is_error);
    assert_int_equal(scripted_requests(r.script), 0);
    assert_int_equal(rig_count(&r, EV_USER), 0);
    rig_end(&r);
}

static void
test_instructions_too_large_are_told(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    rig_says(&r, "hello");
    char *file = fs_join(r.root, "CLAUDE.md"), *text = xcalloc(1, (4u << 20) + 2);
    memset(text, 'x', (4u << 20) + 1);
    assert_true(fs_write_atomic(file, str_from(text), 0644, &err));
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "hi");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "CLAUDE.md"));
    assert_string_equal(rig_result(&r)->u.result.exit, "completed");
    free(file);
    free(text);
    rig_end(&r);
}

/* What is told of a file that may not be read is for the person, under the name that was typed, and stands below the prompt. */
static void
test_a_denied_file_is_told_to_the_person(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    r.seams = (struct engine_seams){.retry_base_ms = 1, .kill_wait_ms = 2000}; /* the real rules */
    r.cfg.cli_settings = "{\"permissions\":{\"deny\":[\"Read(.env)\"]}}";
    rig_put(&r, ".env", "KEY=the-password\n");
    rig_put(&r, "blob", "\xff\xfe\n");
    rig_says(&r, "ok");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "what is in @.env and @blob please");
    const struct event *told = NULL;
    size_t user = 0, note = 0;
    rig_result(&r);
    for (size_t i = 0; i < r.n; i++) {
        if (r.ev[i]->kind == EV_USER && !user)
            user = i;
        if (r.ev[i]->kind == EV_NOTICE && strstr(r.ev[i]->u.notice.text, "attached")) {
            note = i;
            told = r.ev[i];
        }
    }
    assert_non_null(told);
    assert_true(user && user < note);
    assert_string_equal(told->u.notice.text,
                        "not attached: .env: a deny rule names '.env' (rule Read(.env))\n"
                        "not attached: blob: it is no text");
    assert_null(strstr(scripted_request(r.script, 0)->messages[0], "the-password"));
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions_too_large_are_told),
        cmocka_unit_test(test_commands_answer),
        cmocka_unit_test(test_a_command_that_fails_is_an_error),
        cmocka_unit_test(test_queries_answer_with_json),
        cmocka_unit_test(test_a_denied_file_is_told_to_the_person),
        cmocka_unit_test(test_memory_and_named_files_join_the_first_message),
        cmocka_unit_test(test_what_may_not_be_read_is_no_memory),
        cmocka_unit_test(test_the_model_is_told_of_a_mode_change_once),
        cmocka_unit_test(test_a_prompt_that_cannot_be_journalled_is_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
