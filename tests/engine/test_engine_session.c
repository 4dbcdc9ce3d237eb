/* Sessions: order, queues, backpressure, cancels everywhere, resume. */
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
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/session.h"

static void
test_prompts_run_in_order(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says_behind(&r, 0, "first");
    rig_says(&r, "second");
    rig_says(&r, "third");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "one");
    rig_post(&r, OP_SUBMIT, "two");
    rig_post(&r, OP_SUBMIT, "three");
    scripted_open_gate(r.script, 0);
    assert_string_equal(rig_result(&r)->u.result.text, "first");
    assert_string_equal(rig_result(&r)->u.result.text, "second");
    assert_string_equal(rig_result(&r)->u.result.text, "third");
    assert_int_equal(scripted_request(r.script, 2)->n_messages, 5);
    rig_end(&r);
}

/* What there is no room for has its end too: who waits for a result of each prompt must not wait for ever. */
static void
test_a_prompt_too_many_has_its_end(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says_behind(&r, 0, "first");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "one");
    rig_kind(&r, EV_TURN);
    for (int i = 0; i < 257; i++)
        rig_post(&r, OP_SUBMIT, "more");
    const struct event *e = rig_ends(&r, "model_error", "error_during_execution", 1);
    assert_non_null(strstr(e->u.result.errors, "prompts wait already"));
    rig_post(&r, OP_QUIT, NULL);
    rig_kind(&r, EV_CLOSED);
    assert_int_equal(rig_count(&r, EV_RESULT), 258);
    rig_end(&r);
}

/* Nobody reads, so the engine waits, and what is posted meanwhile is more than it can hold. */
static void
test_what_the_inbox_cannot_hold_has_its_end(void **state)
{
    enum { POSTED = 20000 };
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says_behind(&r, 0, "first");
    rig_start(&r);
    for (int i = 0; i < POSTED; i++)
        rig_post(&r, OP_SUBMIT, "more");
    for (int i = 0; i < POSTED - 257; i++) /* one runs, 256 wait */
        (void)rig_result(&r);
    rig_stop(&r);
    assert_int_equal(rig_count(&r, EV_RESULT), POSTED);
    rig_end(&r);
}

static void
test_a_steer_joins_after_the_results(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_calls(&r, "t1", "Read", "{\"name\":\"a\",\"gate\":1}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    rig_post(&r, OP_STEER, "no, not this");
    rig_post(&r, OP_STEER, "look at b too");
    rig_post(&r, OP_UNSTEER, "no, not this");
    assert_string_equal(rig_kind(&r, EV_ANSWER)->u.answer.json, "{\"taken_back\":true}");
    rig_post(&r, OP_UNSTEER, "no, not this");
    assert_string_equal(rig_kind(&r, EV_ANSWER)->u.answer.json, "{\"taken_back\":false}");
    rig_post(&r, OP_QUERY, NULL); /* answered: the steer was taken before */
    rig_kind(&r, EV_ANSWER);
    toys_open(1);
    assert_string_equal(rig_result(&r)->u.result.text, "done");
    const struct scripted_request *q = scripted_request(r.script, 1);
    const char *res = strstr(q->messages[2], "tool_result"),
               *typed = strstr(q->messages[2], "look at b");
    assert_true(res && typed && res < typed);
    assert_int_equal(rig_count(&r, EV_USER), 2);
    rig_end(&r);
}

/* A command's name is one whatever lies in "/": a sender that looked there may have taken it for words. */
static void
test_a_steer_that_is_a_command_runs(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_calls(&r, "t1", "Read", "{\"name\":\"a\",\"gate\":1}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    rig_post(&r, OP_STEER, "/mode acceptEdits");
    assert_int_equal(rig_kind(&r, EV_MODE)->u.mode.mode, PERM_ACCEPT_EDITS);
    toys_open(1);
    rig_result(&r);
    assert_null(strstr(scripted_request(r.script, 1)->messages[2], "/mode acceptEdits"));
    rig_end(&r);
}

/* What is typed while a turn runs names files as any prompt does. */
static void
test_a_steer_attaches_its_files(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    char *file = fs_join(r.root, "notes.txt");
    assert_true(fs_write_atomic(file, STR("content of the notes"), 0644, &err));
    free(file);
    rig_calls(&r, "t1", "Read", "{\"name\":\"a\",\"gate\":1}");
    rig_says(&r, "done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_tool(&r, "t1", PHASE_DELTA, TOOL_RUNNING);
    rig_post(&r, OP_STEER, "see @notes.txt too");
    rig_post(&r, OP_QUERY, NULL); /* answered: the steer was taken before */
    rig_kind(&r, EV_ANSWER);
    toys_open(1);
    assert_string_equal(rig_kind(&r, EV_NOTICE)->u.notice.text, "attached notes.txt (1 line)");
    rig_result(&r);
    const char *m = scripted_request(r.script, 1)->messages[2];
    const char *typed = strstr(m, "see @notes"), *content = strstr(m, "content of the notes");
    assert_true(typed && content && typed < content);
    rig_end(&r);
}

/* What was piped in beside a prompt is no person's word. */
static void
test_piped_input_names_no_files(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    char *file = fs_join(r.root, "notes.txt");
    assert_true(fs_write_atomic(file, STR("content of the notes"), 0644, &err));
    free(file);
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "sum it up\n\n" PIPED_BEGIN "\nsee @notes.txt\n" PIPED_END);
    const char *m = scripted_request(r.script, 0)->messages[0];
    assert_non_null(strstr(m, "see @notes.txt"));
    assert_null(strstr(m, "content of the notes"));
    rig_end(&r);
}

static void
test_a_steer_too_late_is_the_next_prompt(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says_behind(&r, 0, "done");
    rig_says(&r, "also done");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_TURN);
    rig_post(&r, OP_STEER, "and this");
    rig_settle(&r);
    scripted_open_gate(r.script, 0);
    rig_result(&r);
    assert_string_equal(rig_result(&r)->u.result.text, "also done");
    rig_end(&r);
}

/* Who interrupts does not want the next thing to begin by itself: it is its sender's again. */
static void
test_an_interrupt_starts_no_steer(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says_behind(&r, 0, "done");
    rig_says(&r, "the next");
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_TURN);
    rig_post(&r, OP_STEER, "and this");
    rig_settle(&r);
    engine_cancel(r.e, CANCEL_USER);
    assert_string_equal(rig_result(&r)->u.result.exit, "aborted_streaming");
    scripted_open_gate(r.script, 0);
    rig_submit(&r, "something else");
    assert_int_equal(rig_count(&r, EV_USER), 2);
    rig_end(&r);
}

/* ---- a slow reader ---- */

static void
test_a_slow_reader_slows_the_engine_and_loses_nothing(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    /* Each block is three events that cannot merge: 400 of them are far more than the queue holds. */
    for (int i = 0; i < 400; i++)
        scripted_text(r.script, "abc");
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    engine_cancel(r.e, CANCEL_NONE); /* cancels nothing */
    const struct event *e = rig_result(&r);
    assert_int_equal(strlen(e->u.result.text), 1200);
    size_t ends = 0;
    for (size_t i = 0; i < r.n; i++)
        ends += r.ev[i]->kind == EV_BLOCK && r.ev[i]->phase == PHASE_END;
    assert_int_equal(ends, 400);
    rig_end(&r);
}

static void
test_a_cancel_works_while_the_queue_is_full(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    for (int i = 0; i < 400; i++)
        scripted_text(r.script, "abc");
    scripted_gate(r.script, 0); /* never opened */
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    rig_kind(&r, EV_TURN);
    engine_cancel(r.e, CANCEL_USER);
    assert_string_equal(rig_result(&r)->u.result.exit, "aborted_streaming");
    rig_end(&r);
}

static void
test_an_engine_nobody_reads_can_be_freed(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    for (int i = 0; i < 400; i++)
        scripted_text(r.script, "abc");
    scripted_end(r.script, STOP_END_TURN);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    engine_free(r.e);
    r.e = NULL;
    rig_end(&r);
}

/* ---- a cancel at every event ---- */

static void
long_job(struct rig *r)
{
    rig_init(r);
    scripted_reply(r->script);
    scripted_thinking(r->script, "let me think", "sig");
    scripted_text(r->script, "I will look.");
    scripted_tool(r->script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_tool(r->script, "t2", "Edit", "{\"name\":\"b\"}");
    scripted_end(r->script, STOP_TOOL_USE);
    scripted_reply(r->script);
    scripted_tool(r->script, "t3", "Bash", "{\"command\":\"make\"}");
    scripted_text(r->script, "and");
    scripted_tool(r->script, "t4", "Read", "{\"name\":\"c\"}");
    scripted_end(r->script, STOP_TOOL_USE);
    rig_says(r, "All is done.");
    /* For what comes after the cancel. */
    rig_says(r, "spare one");
    rig_says(r, "spare two");
}

static bool
any_event(const struct event *e, const void *arg)
{
    (void)e;
    (void)arg;
    return true;
}

/* Cancels when event number `at` arrives; true: the job was over before that. */
static bool
cancel_at(size_t at)
{
    struct rig r;
    long_job(&r);
    rig_start(&r);
    rig_post(&r, OP_SUBMIT, "go");
    bool over = false;
    for (size_t i = 0; i <= at && !over; i++)
        over = rig_until(&r, any_event, NULL)->kind == EV_RESULT;
    if (!over) {
        engine_cancel(r.e, CANCEL_USER);
        rig_result(&r);
    }
    rig_post(&r, OP_SUBMIT, "go on");
    const struct event *e = rig_result(&r);
    assert_string_equal(e->u.result.exit, "completed");
    rig_end(&r); /* checks that every request was legal */
    return over;
}

static void
test_a_cancel_at_every_event_leaves_a_legal_request(void **state)
{
    (void)state;
    size_t at = 0;
    while (!cancel_at(at))
        at++;
    assert_true(at > 30);
}

/* ---- resume ---- */

static void
test_resume_shows_and_continues(void **state)
{
    (void)state;
    struct rig r, again;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "looking");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "done");
    rig_start(&r);
    rig_submit(&r, "first prompt");
    char *id = xstrdup(engine_session_id(r.e));
    rig_stop(&r);
    const struct scripted_request *before = scripted_request(r.script, 1);

    again = r;
    again.script = scripted_new();
    again.ev = NULL;
    again.n = again.cap = again.seen = 0;
    rig_says(&again, "welcome back");
    again.cfg.resume_id = id;
    rig_start(&again);
    assert_true(rig_kind(&again, EV_SESSION)->u.session.resumed);
    const struct event *u = rig_kind(&again, EV_USER);
    assert_true(u->u.user.replayed);
    assert_string_equal(u->u.user.text, "first prompt");
    assert_true(rig_tool(&again, "t1", PHASE_END, TOOL_DONE)->u.tool.replayed);
    rig_post(&again, OP_SUBMIT, "second prompt");
    assert_string_equal(rig_result(&again)->u.result.text, "welcome back");
    const struct scripted_request *q = scripted_request(again.script, 0);
    assert_int_equal(q->n_messages, 5);
    for (size_t i = 0; i < before->n_messages; i++)
        assert_string_equal(before->messages[i], q->messages[i]);
    rig_stop(&again);
    rig_check_requests(&again);
    for (size_t i = 0; i < again.n; i++)
        event_free(again.ev[i]);
    free(again.ev);
    scripted_free(again.script);
    free(id);
    rig_end(&r);
}

/* A process that is killed in mid-turn; its session is resumed in this one. */
static void
test_resume_after_a_kill(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "back again");
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rig child;
        rig_init(&child);
        child.cfg.data_dir = r.data;
        child.cfg.root = child.cfg.cwd = r.root;
        scripted_reply(child.script);
        scripted_tool(child.script, "t1", "Read", "{\"name\":\"a\",\"gate\":1}");
        scripted_end(child.script, STOP_TOOL_USE);
        child.cfg.session_id = "11111111-2222-4333-8444-555555555555";
        rig_start(&child);
        rig_post(&child, OP_SUBMIT, "go");
        rig_kind(&child, EV_MESSAGE); /* the answer with its open call is in the journal */
        if (write(tell[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    char c;
    assert_int_equal(read(tell[0], &c, 1), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    r.cfg.resume_id = "11111111-2222-4333-8444-555555555555";
    rig_start(&r);
    rig_tool(&r, "t1", PHASE_END, -1);
    rig_post(&r, OP_SUBMIT, "go on");
    assert_string_equal(rig_result(&r)->u.result.text, "back again");
    const struct scripted_request *q = scripted_request(r.script, 0);
    assert_int_equal(q->n_messages, 3);
    assert_non_null(strstr(q->messages[2], "interrupted"));
    close(tell[0]);
    close(tell[1]);
    rig_end(&r);
}

static void
test_an_open_session_is_refused_elsewhere(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "hello");
    rig_start(&r);
    rig_submit(&r, "go");
    struct engine_config cfg = r.cfg;
    struct scripted *other = scripted_new();
    cfg.take_provider = scripted_provider(other);
    cfg.resume_id = engine_session_id(r.e);
    struct err err = {0};
    assert_null(engine_start(&cfg, &err));
    assert_true(err.text[0]);
    cfg.resume_id = "no-such-session";
    err_clear(&err);
    assert_null(engine_start(&cfg, &err));
    assert_true(err.text[0]);
    scripted_free(other);
    rig_end(&r);
}

static void
test_a_fork_leaves_the_original_alone(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "hello");
    rig_start(&r);
    rig_submit(&r, "go");
    struct engine_config cfg = r.cfg;
    struct scripted *other = scripted_new();
    scripted_reply(other);
    scripted_text(other, "forked");
    scripted_end(other, STOP_END_TURN);
    cfg.take_provider = scripted_provider(other);
    cfg.resume_id = engine_session_id(r.e);
    cfg.fork = true;
    struct err err = {0};
    struct engine *e = engine_start(&cfg, &err);
    assert_non_null(e);
    assert_string_not_equal(engine_session_id(e), engine_session_id(r.e));
    engine_post(e, op_new(OP_SUBMIT, "elsewhere"));
    struct event *ev;
    bool over = false;
    while (!over && (ev = engine_next_event(e, 30000)) != NULL) {
        over = ev->kind == EV_RESULT;
        event_free(ev);
    }
    assert_int_equal(scripted_request(other, 0)->n_messages, 3);
    engine_free(e);
    scripted_free(other);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prompts_run_in_order),
        cmocka_unit_test(test_a_prompt_too_many_has_its_end),
        cmocka_unit_test(test_what_the_inbox_cannot_hold_has_its_end),
        cmocka_unit_test(test_a_steer_joins_after_the_results),
        cmocka_unit_test(test_a_steer_that_is_a_command_runs),
        cmocka_unit_test(test_a_steer_attaches_its_files),
        cmocka_unit_test(test_piped_input_names_no_files),
        cmocka_unit_test(test_a_steer_too_late_is_the_next_prompt),
        cmocka_unit_test(test_an_interrupt_starts_no_steer),
        cmocka_unit_test(test_a_slow_reader_slows_the_engine_and_loses_nothing),
        cmocka_unit_test(test_a_cancel_works_while_the_queue_is_full),
        cmocka_unit_test(test_an_engine_nobody_reads_can_be_freed),
        cmocka_unit_test(test_a_cancel_at_every_event_leaves_a_legal_request),
        cmocka_unit_test(test_resume_shows_and_continues),
        cmocka_unit_test(test_resume_after_a_kill),
        cmocka_unit_test(test_an_open_session_is_refused_elsewhere),
        cmocka_unit_test(test_a_fork_leaves_the_original_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
