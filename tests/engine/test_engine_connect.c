/* Another provider between turns, and what can be chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fakes/rig.h"

/* ---- the floor above ---- */

struct above {
    struct scripted *other;
    bool fails;
    char *where, *model, *saved;
};

static bool
connect_fake(void *user, const char *where, const char *model, struct model_provider **ret,
             char **ret_model, struct err *err)
{
    struct above *a = user;
    if (a->fails)
        return err_set(err, ERR_NET, "nobody is there");
    a->where = xstrdup(where);
    a->model = xstrdup(model ? model : "only");
    *ret = scripted_provider(a->other);
    (*ret)->name = "openai";
    *ret_model = xstrdup(a->model);
    return true;
}

static bool
save_fake(void *user, char **ret_file, struct err *err)
{
    (void)err;
    struct above *a = user;
    a->saved = xasprintf("%s %s", a->where, a->model);
    *ret_file = xstrdup("/the/file");
    return true;
}

static char *
servers_fake(void *user)
{
    (void)user;
    return xstrdup("somebody on 127.0.0.1:1");
}

static void
begin(struct rig *r, struct above *a)
{
    *a = (struct above){.other = scripted_new()};
    rig_init(r);
    r->seams.user = a;
    r->seams.connect = connect_fake;
    r->seams.servers = servers_fake;
    r->seams.save_connection = save_fake;
    scripted_provider(r->script)->name = "anthropic";
    scripted_reply(a->other);
    scripted_text(a->other, "from the other");
    scripted_end(a->other, STOP_END_TURN);
    rig_says(r, "from the first");
}

static void
end(struct rig *r, struct above *a)
{
    rig_end(r);
    scripted_free(a->other);
    free(a->where);
    free(a->model);
    free(a->saved);
}

static bool
says(const struct event *e, const void *arg)
{
    return (e->kind == EV_NOTICE && strstr(e->u.notice.text, arg)) ||
           (e->kind == EV_ERROR && strstr(e->u.error.err.text, arg));
}

static const struct cJSON *
find_model(const struct cJSON *tree, const char *id)
{
    for (const struct cJSON *m = json_first(json_at(tree, "models")); m; m = json_next(m))
        if (str_is(json_str(m, "id"), id))
            return m;
    return NULL;
}

/* ---- tests ---- */

static void
test_the_provider_is_swapped_between_turns(void **state)
{
    (void)state;
    struct rig r;
    struct above a;
    begin(&r, &a);
    rig_start(&r);
    rig_kind(&r, EV_SESSION);
    rig_post(&r, OP_COMMAND, "/connect  there   m2 --save");
    const struct event *e = rig_kind(&r, EV_SESSION);
    assert_string_equal(e->u.session.model, "m2");
    assert_string_equal(e->u.session.provider, "openai");
    assert_false(e->u.session.cleared);
    rig_until(&r, says, "saved in /the/file");
    assert_string_equal(a.saved, "there m2");
    rig_post(&r, OP_SUBMIT, "hello");
    e = rig_result(&r);
    assert_string_equal(e->u.result.text, "from the other");
    assert_int_equal(scripted_requests(r.script), 0);
    assert_string_equal(scripted_request(a.other, 0)->model, "m2");
    end(&r, &a);
}

static void
test_a_failure_leaves_all_as_it_was(void **state)
{
    (void)state;
    struct rig r;
    struct above a;
    begin(&r, &a);
    a.fails = true;
    rig_start(&r);
    rig_kind(&r, EV_SESSION);
    rig_post(&r, OP_COMMAND, "/connect there");
    rig_until(&r, says, "nobody is there");
    rig_post(&r, OP_COMMAND, "/connect a b c");
    rig_until(&r, says, "usage");
    rig_post(&r, OP_COMMAND, "/connect");
    rig_until(&r, says, "somebody on 127.0.0.1:1");
    rig_post(&r, OP_SUBMIT, "hello");
    assert_string_equal(rig_result(&r)->u.result.text, "from the first");
    end(&r, &a);
}

static void
test_aliases_stay_with_their_maker(void **state)
{
    (void)state;
    struct rig r;
    struct above a;
    begin(&r, &a);
    rig_start(&r);
    rig_kind(&r, EV_SESSION);
    rig_post(&r, OP_COMMAND, "/connect there");
    assert_string_equal(rig_kind(&r, EV_SESSION)->u.session.model, "only");
    rig_post(&r, OP_SET_MODEL, "opus");
    rig_until(&r, says, "another provider's model");
    rig_post(&r, OP_SET_MODEL, "claude-opus-5-5"); /* whole ids may be known there */
    assert_string_equal(rig_kind(&r, EV_SESSION)->u.session.model, "claude-opus-5-5");
    end(&r, &a);
}

static void
test_models_are_listed(void **state)
{
    (void)state;
    struct rig r;
    struct above a;
    begin(&r, &a);
    r.cfg.model = "sonnet";
    r.cfg.context_window = 50000;
    rig_start(&r);
    assert_int_equal(rig_kind(&r, EV_SESSION)->u.session.context_window, 50000);
    struct cJSON *tree = rig_ask(&r, QUERY_MODELS, "");
    const struct cJSON *opus = find_model(tree, "claude-opus-5-5");
    assert_true(json_bool(find_model(tree, "claude-sonnet-5-5"), "current", false));
    assert_false(json_bool(opus, "current", true));
    assert_int_equal(json_int(opus, "context", 0), 1000000);
    assert_true(json_num(opus, "price.out", 0) == 20);
    assert_null(find_model(tree, "offline-pilot"));
    json_free(tree);
    rig_post(&r, OP_COMMAND, "/connect there m2");
    rig_kind(&r, EV_SESSION);
    tree = rig_ask(&r, QUERY_MODELS,
                   ""); /* it has no server to ask: what is in use is there all the same */
    assert_true(json_bool(find_model(tree, "m2"), "current", false));
    assert_true(json_is_null(json_at(find_model(tree, "m2"), "price")));
    json_free(tree);
    end(&r, &a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_provider_is_swapped_between_turns),
        cmocka_unit_test(test_a_failure_leaves_all_as_it_was),
        cmocka_unit_test(test_aliases_stay_with_their_maker),
        cmocka_unit_test(test_models_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
