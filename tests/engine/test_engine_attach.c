/* What the model is told beside results and prompts: when, once, within bounds, and never what it may not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "engine/attach.h"
#include "engine/attach_private.h"
#include "engine/core.h"
#include "fakes/rig.h"

static int calls;

static void
read_call(struct rig *r, const char *name)
{
    char *path = fs_join(r->root, name), *input = xasprintf("{\"file_path\":\"%s\"}", path);
    char *id = xasprintf("t%d", ++calls);
    rig_calls(r, id, "Read", input);
    free(id);
    free(input);
    free(path);
}

static void
begin(struct rig *r) /* the real tools and rules */
{
    rig_init(r);
    r->seams = (struct engine_seams){.retry_base_ms = 1, .kill_wait_ms = 2000};
}

static void
ask(struct rig *r, const char *text)
{
    rig_post(r, OP_SUBMIT, text);
    assert_int_equal(rig_result(r)->u.result.exit_code, 0);
}

/* The last message of the newest request. */
static const char *
newest(struct rig *r)
{
    const struct scripted_request *q =
        scripted_request(r->script, scripted_requests(r->script) - 1);
    return q->messages[q->n_messages - 1];
}

static size_t
hidden_with(const struct rig *r, const char *word)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->ev[i]->kind == EV_USER && r->ev[i]->u.user.hidden && r->ev[i]->u.user.text &&
             strstr(r->ev[i]->u.user.text, word);
    return n;
}

static void
test_a_changed_file_is_told_once(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_put(&r, "a.txt", "one\ntwo\nthree\n");
    rig_put(&r, "b.txt", "same\n");
    read_call(&r, "a.txt");
    read_call(&r, "b.txt");
    for (int i = 0; i < 4; i++)
        rig_says(&r, "seen");
    rig_start(&r);
    ask(&r, "look");
    rig_put(&r, "a.txt", "one\nTWO CHANGED\nthree\n");
    rig_put(&r, "b.txt", "same\n"); /* another mtime, the same words */
    ask(&r, "again");
    const char *m = newest(&r);
    assert_non_null(strstr(m, "+TWO CHANGED"));
    assert_non_null(strstr(m, "-two"));
    assert_null(strstr(m, "b.txt"));
    assert_int_equal(hidden_with(&r, "+TWO CHANGED"), 1);
    ask(&r, "and again");
    assert_null(strstr(newest(&r), "TWO CHANGED"));
    char *path = fs_join(r.root, "a.txt");
    unlink(path);
    free(path);
    ask(&r, "gone");
    assert_non_null(strstr(newest(&r), "not there any more"));
    rig_end(&r);
}

static void
test_a_denied_file_is_not_shown(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    r.cfg.cli_settings = "{\"permissions\":{\"deny\":[\"Read(./secret.txt)\"]}}";
    rig_put(&r, "a.txt", "harmless\n");
    rig_put(&r, "secret.txt", "the-password\n");
    read_call(&r, "a.txt");
    rig_says(&r, "seen");
    rig_says(&r, "seen");
    rig_start(&r);
    ask(&r, "look");
    char *a = fs_join(r.root, "a.txt"), *secret = fs_join(r.root, "secret.txt");
    unlink(a);
    assert_int_equal(symlink(secret, a), 0);
    ask(&r, "again");
    assert_null(strstr(newest(&r), "the-password"));
    free(a);
    free(secret);
    rig_end(&r);
}

static void
test_a_long_change_is_cut(void **state)
{
    (void)state;
    struct rig r;
    struct buf b;
    begin(&r);
    rig_put(&r, "a.txt", "start\n");
    read_call(&r, "a.txt");
    rig_says(&r, "seen");
    rig_says(&r, "seen");
    rig_start(&r);
    ask(&r, "look");
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 5000; i++)
        buf_addf(&b, "line %d of many\n", i);
    rig_put(&r, "a.txt", buf_cstr(&b));
    buf_release(&b);
    ask(&r, "again");
    assert_non_null(strstr(newest(&r), "read the file before you rely on it"));
    assert_true(strlen(newest(&r)) < 2 * ATTACH_TEXT_MAX);
    rig_end(&r);
}

static void
test_instructions_of_a_folder_come_with_it(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_put(&r, "sub/CLAUDE.md", "SUB-RULE\n");
    rig_put(&r, "sub/x.txt", "x\n");
    rig_put(&r, "sub/y.txt", "y\n");
    rig_put(&r, ".claude/rules/txt.md", "---\npaths: 'sub/y.*'\n---\nY-RULE\n");
    read_call(&r, "sub/x.txt");
    read_call(&r, "sub/y.txt");
    rig_says(&r, "seen");
    rig_start(&r);
    ask(&r, "look");
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_non_null(strstr(q->messages[q->n_messages - 1], "SUB-RULE"));
    assert_null(strstr(q->messages[q->n_messages - 1], "Y-RULE"));
    assert_null(strstr(newest(&r), "SUB-RULE"));
    assert_non_null(strstr(newest(&r), "Y-RULE"));
    assert_int_equal(hidden_with(&r, "SUB-RULE"), 1);
    rig_end(&r);
}

static void
test_open_todos_are_remembered_now_and_then(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    rig_calls(&r, "todo", "TodoWrite",
              "{\"todos\":[{\"content\":\"first thing\",\"status\":\"pending\",\"activeForm\":"
              "\"doing\"},{\"content\":\"done thing\",\"status\":\"completed\",\"activeForm\":"
              "\"doing\"}]}");
    for (int i = 0; i < 30; i++)
        rig_says(&r, "fine");
    rig_start(&r);
    for (int i = 0; i < 28; i++)
        ask(&r, "go on");
    size_t told = hidden_with(&r, "first thing");
    assert_int_equal(told, 2);
    assert_int_equal(hidden_with(&r, "done thing"), 0);
    rig_end(&r);
}

static void
test_the_mode_is_told_when_it_changes(void **state)
{
    (void)state;
    struct rig r;
    begin(&r);
    for (int i = 0; i < 14; i++)
        rig_says(&r, "fine");
    rig_start(&r);
    ask(&r, "one");
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = PERM_PLAN;
    engine_post(r.e, op);
    for (int i = 0; i < 12; i++)
        ask(&r, "two");
    assert_int_equal(hidden_with(&r, "The permission mode is now"), 1);
    assert_int_equal(hidden_with(&r, "Plan mode is still on"), 1);
    rig_end(&r);
}

static void
test_the_date_is_told_past_midnight(void **state)
{
    (void)state;
    struct clock_fake fake = {.mono_us = 1, .wall_ms = INT64_C(1764547199000)};
    struct attach_told told = {.turn = 1};
    struct core c = {.told = &told};
    struct buf b;
    buf_init(&b, 4096);
    clock_set_fake(&fake);
    attach_today(told.date);
    assert_string_equal(told.date, "2025-11-30");
    assert_false(attach_date(&c, &b));
    fake.wall_ms += 1000;
    assert_true(attach_date(&c, &b));
    assert_non_null(strstr(buf_cstr(&b), "2025-12-01"));
    assert_false(attach_date(&c, &b));
    clock_set_fake(NULL);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_changed_file_is_told_once),
        cmocka_unit_test(test_a_denied_file_is_not_shown),
        cmocka_unit_test(test_a_long_change_is_cut),
        cmocka_unit_test(test_instructions_of_a_folder_come_with_it),
        cmocka_unit_test(test_open_todos_are_remembered_now_and_then),
        cmocka_unit_test(test_the_mode_is_told_when_it_changes),
        cmocka_unit_test(test_the_date_is_told_past_midnight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
