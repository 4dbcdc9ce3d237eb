/* The server's own count of tokens: asked for near a limit only, once a turn, and harmless when it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/count.h"
#include "fakes/rig.h"

static int asked;
static int64_t answer; /* negative: it fails */

static bool
count(void *self, const struct model_request *req, int timeout_ms, int64_t *ret, struct err *err)
{
    (void)self;
    asked++;
    assert_true(req->n_messages > 0);
    assert_true(timeout_ms > 0 && timeout_ms < 10000);
    if (answer < 0)
        return err_set(err, ERR_NET, "down");
    *ret = answer;
    return true;
}

static void
test_near(void **state)
{
    (void)state;
    assert_true(context_is_near(97000, 100000));
    assert_true(context_is_near(103000, 100000));
    assert_false(context_is_near(96000, 100000));
    assert_false(context_is_near(104000, 100000));
    assert_false(context_is_near(0, 0));
}

/* A conversation whose last answer was `tokens` long, in a window of 100,000; then another prompt. */
static void
talk(struct rig *r, int64_t tokens, int prompts)
{
    rig_init(r);
    r->cfg.context_window = 100000;
    for (int i = 0; i <= prompts; i++) {
        scripted_reply(r->script);
        scripted_text(r->script, "fine");
        scripted_usage(r->script, tokens, 10);
        scripted_end(r->script, STOP_END_TURN);
    }
    scripted_provider(r->script)->count = count;
    asked = 0;
    rig_start(r);
    for (int i = 0; i < prompts; i++) {
        rig_post(r, OP_SUBMIT, "and now?");
        (void)rig_result(r);
    }
}

static void
test_it_is_asked_near_a_limit_alone(void **state)
{
    (void)state;
    struct rig r;
    answer = 50000;
    talk(&r, 50000, 3);
    assert_int_equal(asked, 0);
    rig_end(&r);
    talk(&r, 83500, 2); /* compaction is due at 85,000 */
    assert_int_equal(asked, 1);
    rig_end(&r);
}

static void
test_a_count_that_fails_is_harmless(void **state)
{
    (void)state;
    struct rig r;
    answer = -1;
    talk(&r, 83500, 3);
    assert_int_equal(asked, 2);
    assert_string_equal(r.ev[r.n - 1]->u.result.exit, "completed");
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_it_is_asked_near_a_limit_alone),
        cmocka_unit_test(test_a_count_that_fails_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
