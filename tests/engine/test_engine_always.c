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

int
main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--supervise") == 0)
        supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_holds_for_this_session_alone),
        cmocka_unit_test(nothing_that_is_reserved_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
