/* What cannot be written is not said to be done, whatever was asked for. The limit on a file's size fails as a full disk does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "fakes/rig.h"
#include "store/session.h"

static bool
is_notice(const struct event *e, const void *arg)
{
    return e->kind == EV_NOTICE && strstr(e->u.notice.text, arg);
}

static void
command(struct rig *r, const char *text, const char *told)
{
    rig_post(r, OP_COMMAND, text);
    rig_until(r, is_notice, told);
}

static char *
long_words(const char *start, size_t n)
{
    char *text = xcalloc(1, n + 1);
    memset(text, 'w', n);
    memcpy(text, start, strlen(start));
    return text;
}

/* Not even the instruction files have room: nothing is sent, and the prompt is let go of. */
static void
test_instructions_without_room(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    rig_says(&r, "here");
    char *memory = fs_join(r.root, "CLAUDE.md"), *text = long_words("rules ", 5000);
    assert_true(fs_write_atomic(memory, str_from(text), 0644, &err));
    rig_start(&r);
    rig_limit_files(2500);
    rig_post(&r, OP_SUBMIT, "go");
    assert_true(rig_result(&r)->u.result.is_error);
    assert_int_equal(scripted_requests(r.script), 0);
    rig_limit_files(RLIM_INFINITY);
    rig_post(&r, OP_SUBMIT, "room again");
    assert_string_equal(rig_result(&r)->u.result.text, "here");
    free(memory);
    free(text);
    rig_end(&r);
}

static void
test_pins_without_room(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "one");
    char *pin = long_words("/pin a fact ", 3000);
    rig_start(&r);
    rig_submit(&r, "go");
    command(&r, "/pin the port is 4711", "1  the port");
    rig_limit_files(2500);
    command(&r, pin, "file system '/");
    command(&r, "/pin", "1  the port is 4711");
    rig_limit_files(100);
    command(&r, "/pin remove 1", "file system '/");
    command(&r, "/pin", "1  the port is 4711");
    rig_limit_files(RLIM_INFINITY);
    command(&r, "/pin remove 1", "nothing is pinned");
    free(pin);
    rig_end(&r);
}

/* The prompt that was to tell of a pin could not be written: the next one tells. */
static void
test_a_pin_is_told_with_the_prompt_that_is_written(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_submit(&r, "go");
    command(&r, "/pin the port is 4711", "1  the port");
    rig_limit_files(100);
    rig_post(&r, OP_SUBMIT, "no room");
    assert_true(rig_result(&r)->u.result.is_error);
    rig_limit_files(RLIM_INFINITY);
    rig_post(&r, OP_SUBMIT, "room again");
    assert_string_equal(rig_result(&r)->u.result.text, "two");
    const struct scripted_request *q = scripted_request(r.script, 1);
    assert_non_null(strstr(q->messages[q->n_messages - 1], "the port is 4711"));
    rig_end(&r);
}

/* A fork that lacks a pin or an edit of its parent is none. */
static void
test_a_fork_without_room(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "one");
    rig_says(&r, "two");
    char *pin = long_words("/pin a fact ", 3000);
    rig_start(&r);
    rig_submit(&r, "go");
    command(&r, pin, "pinned, and kept");
    rig_limit_files(3500); /* the messages have room, the pin has not */
    rig_post(&r, OP_COMMAND, "/fork");
    const struct event *e = rig_kind(&r, EV_ERROR);
    assert_non_null(strstr(e->u.error.err.text, "file system '/"));
    rig_limit_files(RLIM_INFINITY);
    struct session_info *list;
    struct err err = {0};
    size_t n;
    assert_true(session_list(r.cfg.data_dir, r.root, &list, &n, &err));
    assert_int_equal(n, 1); /* half a copy is none */
    session_list_free(list, n);
    free(pin);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions_without_room),
        cmocka_unit_test(test_pins_without_room),
        cmocka_unit_test(test_a_pin_is_told_with_the_prompt_that_is_written),
        cmocka_unit_test(test_a_fork_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
