/* Keys from a helper command: got, kept, renewed, and never told. The inner provider is a fake that remembers its key. */
#include "unit/unit.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "model/keyed.h"
#include "unit/temp_dir.h"

static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};

/* ---- the inner provider: refuses keys that are not `accepted` ---- */

struct inner {
    struct model_provider pub;
    char *key;
    const char **accepted;
};

struct inner_stream {
    struct model_stream pub;
    struct inner *in;
    int step;
};

static int inners; /* alive */

static enum model_step
inner_next(struct model_stream *base, int wake_fd, int timeout_ms, struct delta *ret,
           struct err *err)
{
    (void)wake_fd, (void)timeout_ms;
    struct inner_stream *s = (struct inner_stream *)base;
    if (strcmp(s->in->key, *s->in->accepted) != 0) {
        err_set(err, ERR_HTTP, "401 invalid x-api-key");
        err->http = 401;
        return MODEL_FAILED;
    }
    if (s->step++)
        return MODEL_DONE;
    *ret = (struct delta){.kind = DELTA_TEXT, .text = str_from(s->in->key)};
    return MODEL_DELTA;
}

static void
inner_stream_free(struct model_stream *s)
{
    free(s);
}

static const struct model_stream_ops inner_ops = {inner_next, inner_stream_free};

static struct model_stream *
inner_start(void *self, const struct model_request *req, struct err *err)
{
    (void)req, (void)err;
    struct inner_stream *s = xcalloc(1, sizeof *s);
    s->pub.ops = &inner_ops;
    s->in = self;
    return &s->pub;
}

static void
inner_free(void *self)
{
    struct inner *in = self;
    inners--;
    free(in->key);
    free(in);
}

static struct model_provider *
make(void *user, const char *key)
{
    struct inner *in = xcalloc(1, sizeof *in);
    inners++;
    in->key = xstrdup(key);
    in->accepted = user;
    in->pub = (struct model_provider){
        .name = "inner", .self = in, .start = inner_start, .free = inner_free};
    return &in->pub;
}

/* ---- asking ---- */

/* The key that answered, yours; NULL with err. */
static char *
ask(struct model_provider *p, struct err *err)
{
    struct model_request req = {.model = "m"};
    struct delta d;
    struct model_stream *s = p->start(p->self, &req, err);
    if (!s)
        return NULL;
    enum model_step step;
    while ((step = model_stream_next(s, -1, 1000, &d, err)) == MODEL_IDLE)
        ;
    char *key = step == MODEL_DELTA ? str_dup(d.text) : NULL;
    model_stream_free(s);
    return key;
}

static void
assert_key(struct model_provider *p, const char *want)
{
    struct err err = {0};
    char *key = ask(p, &err);
    if (!key)
        fail_msg("%s", err.text);
    assert_string_equal(key, want);
    free(key);
}

static void
a_refused_key_is_renewed_once(void **state)
{
    (void)state;
    char *dir = temp_dir_make();
    const char *accepted = "k2";
    temp_file_write(dir, "key", "  k1 \n");
    struct keyed_config c = {.name = "inner",
                             .command = "cat key",
                             .cwd = dir,
                             .env = env,
                             .make = make,
                             .user = &accepted};
    struct model_provider *p = keyed_provider_new(&c);
    struct err err = {0};
    assert_null(ask(p, &err)); /* k1, renewed as k1: refused for good */
    assert_int_equal(err.http, 401);
    assert_non_null(strstr(err.text, "apiKeyHelper"));
    temp_file_write(dir, "key", "k2\n");
    assert_key(p, "k2");
    accepted = "k3";
    temp_file_write(dir, "key", "k3\n");
    assert_key(p, "k3");
    temp_file_write(dir, "key", "k4\n"); /* still good: not asked again */
    assert_key(p, "k3");
    model_provider_free(p);
    assert_int_equal(inners, 0);
    temp_dir_remove(dir);
}

static void
an_old_key_is_renewed_before_it_is_used(void **state)
{
    (void)state;
    char *dir = temp_dir_make();
    const char *accepted = "first";
    struct keyed_config c = {.name = "inner",
                             .command = "echo call >>calls; cat key",
                             .cwd = dir,
                             .env = env,
                             .ttl_ms = 1,
                             .first_key = "first",
                             .make = make,
                             .user = &accepted};
    struct model_provider *p = keyed_provider_new(&c);
    temp_file_write(dir, "key", "second");
    accepted = "second";
    for (int64_t until = clock_mono_ms() + 2; clock_mono_ms() < until;)
        ;
    assert_key(p, "second");
    char *calls = temp_file_read(dir, "calls");
    assert_string_equal(calls, "call\n");
    free(calls);
    model_provider_free(p);
    temp_dir_remove(dir);
}

static void
what_a_helper_does_wrong_is_said_without_the_key(void **state)
{
    (void)state;
    static const struct {
        const char *command, *want;
    } cases[] = {
        {"exit 3", "status 3"},
        {"true", "printed nothing"},
        {"echo topsecret; echo two", "no key"},
        {"echo topsecret >&2; exit 1", "status 1"},
        {"kill -9 $$", "signal 9"},
        {"no-such-command-here", "not found"},
        {"head -c 100000 /dev/zero | tr '\\0' x", "no key"},
        {"if", "status 2"},
        {"yes", "no key"}, /* which never ends: it is not waited for */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        struct key_helper h = {.command = cases[i].command, .env = env};
        assert_null(key_helper_get(&h, NULL, &err));
        if (!strstr(err.text, cases[i].want) || strstr(err.text, "topsecret"))
            fail_msg("%s: %s", cases[i].command, err.text);
    }
    struct err err = {0};
    struct key_helper h = {.command = "echo noise >&2; printf ' k-1\\n'", .env = env};
    char *key = key_helper_get(&h, NULL, &err);
    assert_string_equal(key, "k-1");
    key_free(key);
}

static void
a_helper_that_hangs_ends_with_its_time(void **state)
{
    (void)state;
    struct err err = {0};
    struct key_helper h = {.command = "sleep 600", .env = env, .timeout_ms = 50};
    assert_null(key_helper_get(&h, NULL, &err));
    assert_int_equal(err.code, ERR_TIMEOUT);
    struct cancel *c = cancel_new(NULL);
    cancel_fire(c, CANCEL_TERM);
    h.timeout_ms = 0;
    assert_null(key_helper_get(&h, c, &err));
    assert_int_equal(err.code, ERR_CANCELLED);
    cancel_free(c);
}

static void
the_stream_wakes_while_the_helper_runs(void **state)
{
    (void)state;
    const char *accepted = "k";
    struct keyed_config c = {
        .name = "inner", .command = "sleep 600", .env = env, .make = make, .user = &accepted};
    struct model_provider *p = keyed_provider_new(&c);
    struct model_request req = {.model = "m"};
    struct delta d;
    struct err err = {0};
    struct model_stream *s = p->start(p->self, &req, &err);
    assert_non_null(s);
    int wake = eventfd(1, EFD_CLOEXEC);
    assert_int_equal(model_stream_next(s, wake, -1, &d, &err), MODEL_IDLE);
    assert_int_equal(model_stream_next(s, -1, 10, &d, &err), MODEL_IDLE);
    close(wake);
    model_stream_free(s); /* the helper goes with it */
    model_provider_free(p);
    assert_int_equal(inners, 0);
}

int
main(void)
{
    signal(SIGPIPE, SIG_IGN);
    proc_set_supervisor(SUPERVISE_HELPER);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_key_is_renewed_once),
        cmocka_unit_test(an_old_key_is_renewed_before_it_is_used),
        cmocka_unit_test(what_a_helper_does_wrong_is_said_without_the_key),
        cmocka_unit_test(a_helper_that_hangs_ends_with_its_time),
        cmocka_unit_test(the_stream_wakes_while_the_helper_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
