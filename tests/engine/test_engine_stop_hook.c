/* Stop hooks that are never content: their word counts, and no turn is held for ever. */
#include "engine/compact_rig.h"

struct wish {
    int asked;
    int go_on; /* times */
    bool saw_active;
};

static enum stop_hook_answer
wishes(void *user, const char *last_text, bool active, char **ret_reason)
{
    struct wish *w = user;
    (void)last_text;
    w->saw_active |= active;
    if (w->asked++ >= w->go_on)
        return STOP_HOOK_PASS;
    *ret_reason = xasprintf("reason number %d", w->asked);
    return STOP_HOOK_GO_ON;
}

static void
begin_with(struct rig *r, struct wish *w, int64_t window)
{
    begin(r, window);
    r->seams.stop_hook = wishes;
    r->seams.user = w;
}

/* The model is done each time that it is asked. */
static void
begin_answered(struct rig *r, struct wish *w)
{
    begin_with(r, w, 0);
    for (int i = 0; i < 20; i++)
        rig_says(r, "done");
}

static void
test_a_hook_that_is_never_content_is_let_go(void **state)
{
    (void)state;
    struct rig r;
    struct wish w = {.go_on = 1000};
    begin_answered(&r, &w);
    rig_start(&r);
    assert_string_equal(rig_submit(&r, "go")->u.result.exit, "completed");
    assert_int_equal(scripted_requests(r.script), 9); /* the first, and eight for the hook */
    assert_int_equal(w.asked, 9);
    assert_true(w.saw_active);
    assert_has(rig_last_message(&r, 8), "reason number 8");
    assert_int_equal(rig_told(&r, "still is not content"), 1);
    assert_int_equal(rig_told(&r, "reason number 9"), 1);
    w.go_on = 0; /* the session is as good as before */
    assert_string_equal(rig_submit(&r, "go on")->u.result.exit, "completed");
    assert_int_equal(scripted_requests(r.script), 10);
    rig_end(&r);
}

/* Each prompt has its own count. */
static void
test_the_next_prompt_begins_anew(void **state)
{
    (void)state;
    struct rig r;
    struct wish w = {.go_on = 1000};
    begin_answered(&r, &w);
    rig_start(&r);
    rig_submit(&r, "go");
    rig_submit(&r, "go");
    assert_int_equal(scripted_requests(r.script), 18);
    rig_end(&r);
}

/* A hook that sends the model back to work, which it then does, may do so far more often; not for ever. */
static void
test_work_in_between_gives_it_more(void **state)
{
    (void)state;
    struct rig r;
    struct wish w = {.go_on = 1000};
    char id[16], input[64];
    begin_with(&r, &w, 0);
    for (int i = 0; i < 60; i++) {
        snprintf(id, sizeof id, "t%d", i);
        snprintf(input, sizeof input, "{\"name\":\"file %d\"}", i);
        rig_calls(&r, id, "Read", input);
        rig_says(&r, "done");
    }
    rig_start(&r);
    assert_string_equal(rig_submit(&r, "go")->u.result.exit, "completed");
    assert_int_equal(scripted_requests(r.script), 102); /* two, and two each of fifty times */
    assert_int_equal(rig_told(&r, "still is not content"), 1);
    rig_end(&r);
}

static void
test_the_cap_of_turns_holds_for_it_too(void **state)
{
    (void)state;
    struct rig r;
    struct wish w = {.go_on = 1000};
    begin_answered(&r, &w);
    r.cfg.max_turns = 3;
    rig_start(&r);
    assert_string_equal(rig_submit(&r, "go")->u.result.exit, "max_turns");
    assert_int_equal(scripted_requests(r.script), 3);
    rig_end(&r);
}

/* Nothing may be sent: the hook's word cannot be followed, the turn ends and says why, and /clear is the way out. */
static void
test_at_a_full_context_the_turn_ends(void **state)
{
    (void)state;
    struct rig r;
    struct wish w = {.go_on = 1000};
    begin_with(&r, &w, 20000);
    rig_put_settings(&r, "{\"autoCompactEnabled\":false}");
    says(&r, "one", 19900);
    says(&r, "two", 500);
    rig_start(&r);
    const struct event *e = rig_submit(&r, "go");
    assert_string_equal(e->u.result.exit, "blocking_limit");
    assert_has(e->u.result.errors, "the context is full");
    assert_int_equal(w.asked, 1);
    assert_int_equal(scripted_requests(r.script), 1);
    assert_string_equal(rig_submit(&r, "more")->u.result.exit, "blocking_limit");
    assert_int_equal(w.asked, 1);
    w.go_on = 0;
    r.rewrites = true;
    rig_post(&r, OP_COMMAND, "/clear");
    assert_string_equal(rig_submit(&r, "anew")->u.result.exit, "completed");
    rig_end(&r);
}

/* It can be made room: then the hook's word is followed, and the count holds over the compactions. */
static void
test_a_context_that_is_always_full_is_bounded_too(void **state)
{
    (void)state;
    struct rig r;
    struct wish w = {.go_on = 1000};
    struct err down = http(401, "authentication_error", "the key is not valid");
    begin_with(&r, &w, 20000);
    r.rewrites = true;
    for (int i = 0; i < 20; i++) {
        says(&r, "done", 19900);
        scripted_side_fail(r.script, &down);
    }
    rig_start(&r);
    const struct event *e = rig_submit(&r, "go");
    assert_string_equal(e->u.result.exit, "completed");
    assert_int_equal(scripted_requests(r.script), 9);
    assert_int_equal(rig_told(&r, "still is not content"), 1);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hook_that_is_never_content_is_let_go),
        cmocka_unit_test(test_the_next_prompt_begins_anew),
        cmocka_unit_test(test_work_in_between_gives_it_more),
        cmocka_unit_test(test_the_cap_of_turns_holds_for_it_too),
        cmocka_unit_test(test_at_a_full_context_the_turn_ends),
        cmocka_unit_test(test_a_context_that_is_always_full_is_bounded_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
