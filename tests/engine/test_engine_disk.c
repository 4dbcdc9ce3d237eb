/* A disk that fills up in mid-turn. */
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
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/conversation.h"
#include "store/journal.h"
#include "store/session.h"

/* By the limit on a file's size, which fails as a full disk does: the turn ends with the file system's name, what has happened
 * is kept, and all of it is in the journal once there is room. */
static void
a_full_disk(bool with_tool)
{
    struct rig r;
    rig_init(&r);
    char *text = xcalloc(1, 5001);
    memset(text, 'x', 5000);
    scripted_reply(r.script);
    scripted_gate(r.script, 0);
    scripted_text(r.script, text);
    if (with_tool)
        scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_end(r.script, with_tool ? STOP_TOOL_USE : STOP_END_TURN);
    rig_says(&r, "here again");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_TURN);
    rig_limit_files(2500); /* room for the prompt and notes, not for the answer */
    scripted_open_gate(r.script, 0);
    const struct event *e = rig_kind(&r, EV_ERROR);
    assert_non_null(strstr(e->u.error.err.text, "file system '/"));
    assert_true(rig_result(&r)->u.result.is_error);
    assert_int_equal(scripted_requests(r.script), 1);
    rig_post(&r, OP_SUBMIT, "still full");
    assert_true(rig_result(&r)->u.result.is_error);
    assert_int_equal(scripted_requests(r.script), 1);
    rig_post(&r, OP_COMMAND, "/cost"); /* small commands still run */
    rig_kind(&r, EV_NOTICE);
    rig_limit_files(RLIM_INFINITY);
    rig_post(&r, OP_SUBMIT, "room again");
    assert_string_equal(rig_result(&r)->u.result.text, "here again");
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_non_null(strstr(q->messages[1], "xxxx"));
    assert_int_equal(q->n_messages, 3);
    assert_true(!with_tool || strstr(q->messages[2], "tool_result"));
    assert_int_equal(rig_stored(&r, engine_session_id(r.e)), with_tool ? 5 : 4);
    struct cJSON *tree = rig_ask(&r, QUERY_HISTORY, "");
    assert_int_equal(json_int(tree, "total", 0), with_tool ? 5 : 4);
    json_free(tree);
    free(text);
    rig_end(&r);
}

static void
test_a_full_disk_loses_no_answer(void **state)
{
    (void)state;
    a_full_disk(false);
}

static void
test_a_full_disk_loses_no_result(void **state)
{
    (void)state;
    a_full_disk(true);
}

/* What runs when the disk turns out to be full ends as it ends; what has not begun does not begin. */
static void
test_a_full_disk_lets_running_calls_finish(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    char *text = xcalloc(1, 5001);
    memset(text, 'x', 5000);
    scripted_reply(r.script);
    scripted_gate(r.script, 0);
    scripted_text(r.script, text);
    scripted_tool(r.script, "t1", "Edit", "{\"name\":\"a\",\"gate\":1}");
    scripted_tool(r.script, "t2", "Edit", "{\"name\":\"b\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "here again");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_TURN);
    rig_limit_files(2500);
    scripted_open_gate(r.script, 0);
    const struct event *e = rig_tool(&r, "t2", PHASE_END, TOOL_CANCELLED);
    assert_non_null(strstr(e->u.tool.output, "the disk is full"));
    e = rig_kind(&r, EV_NOTICE); /* the person learns of it while the call still runs */
    assert_non_null(strstr(e->u.notice.text, "file system '/"));
    assert_int_equal(rig_find_tool(&r, "t1", PHASE_END, -1), -1);
    toys_open(1);
    assert_false(rig_tool(&r, "t1", PHASE_END, TOOL_DONE)->u.tool.is_error);
    assert_true(rig_result(&r)->u.result.is_error);
    assert_int_equal(toys_runs(), 1);
    rig_limit_files(RLIM_INFINITY);
    rig_post(&r, OP_SUBMIT, "room again");
    assert_string_equal(rig_result(&r)->u.result.text, "here again");
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_int_equal(q->n_messages, 3);
    assert_null(strstr(q->messages[2], "timed out"));
    free(text);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_disk_loses_no_answer),
        cmocka_unit_test(test_a_full_disk_loses_no_result),
        cmocka_unit_test(test_a_full_disk_lets_running_calls_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
