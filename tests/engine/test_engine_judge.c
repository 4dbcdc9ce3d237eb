/* The classifier's threads: questions are judged side by side, and one that is dropped says what it cost. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cancel.h"
#include "engine/judge.h"
#include "engine/waker.h"
#include "fakes/scripted.h"

#define ANSWER "{\"verdict\":\"allow\",\"confidence\":0.9,\"reason\":\"harmless\"}"

struct bench {
    struct waker wake;
    struct cancel *session;
    struct scripted *script;
    struct judge *judge;
};

static void
begin(struct bench *b)
{
    struct err err = {0};
    assert_true(waker_init(&b->wake, &err));
    b->session = cancel_new(NULL);
    b->script = scripted_new();
    b->judge = judge_new(&b->wake, b->session);
}

static void
end(struct bench *b)
{
    judge_free(b->judge);
    scripted_free(b->script);
    cancel_free(b->session);
    waker_release(&b->wake);
}

static void
answer_behind_gate(struct bench *b, int gate)
{
    scripted_judge_reply(b->script);
    scripted_gate(b->script, gate);
    scripted_text(b->script, ANSWER);
    scripted_end(b->script, STOP_END_TURN);
}

static void
ask(struct bench *b, uint64_t ticket, const char *text)
{
    struct judge_answer now;
    const struct judge_question q = {
        .ticket = ticket,
        .key = str_from(text),
        .text = str_from(text),
        .provider = scripted_provider(b->script),
        .model = "scripted",
        .session_id = "s",
        .timeout_ms = 60000,
    };
    assert_false(judge_start(b->judge, &q, &now));
}

static struct judge_answer
wait_for_answer(struct bench *b)
{
    struct judge_answer a;
    while (!judge_take(b->judge, &a)) {
        assert_true(waker_wait(&b->wake, 30000));
        waker_clear(&b->wake);
    }
    return a;
}

/* The thread that waits for work takes one of two questions; the other one needs a thread of its own. */
static void
ask_two_at_once(void)
{
    struct bench b;
    begin(&b);
    scripted_judge_says(b.script, ANSWER);
    answer_behind_gate(&b, 0);
    answer_behind_gate(&b, 0);
    ask(&b, 1, "first");
    assert_int_equal(wait_for_answer(&b).ticket, 1);
    ask(&b, 2, "second");
    ask(&b, 3, "third");
    for (int ms = 0; scripted_judge_requests(b.script) < 3 && ms < 30000; ms++)
        poll(NULL, 0, 1);
    assert_int_equal(scripted_judge_requests(b.script), 3);
    scripted_open_gate(b.script, 0);
    uint64_t tickets = wait_for_answer(&b).ticket;
    tickets += wait_for_answer(&b).ticket;
    assert_int_equal(tickets, 5);
    end(&b);
}

/* Whether the waiting thread has woken by then is chance, so it is asked more than once. */
static void
test_questions_are_judged_side_by_side(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++)
        ask_two_at_once();
}

static void
test_a_dropped_question_comes_without_its_ticket(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    answer_behind_gate(&b, 0);
    ask(&b, 7, "dropped");
    while (!scripted_judge_requests(b.script))
        poll(NULL, 0, 1);
    judge_drop(b.judge, 7);
    const struct judge_answer a = wait_for_answer(&b);
    assert_int_equal(a.ticket, 0);
    assert_string_equal(a.model, "scripted");
    end(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_questions_are_judged_side_by_side),
        cmocka_unit_test(test_a_dropped_question_comes_without_its_ticket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
