/* The tiers through the whole engine: what the next request holds, what a resumed session sends, what can be brought back. */
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
#include "fakes/talks.h"
#include "store/journal.h"
#include "store/session.h"

#define ID "11111111-2222-4333-8444-555555555555"

/* ---- the rig of these tests ---- */

static char *
journal_path(const struct rig *r, const char *id)
{
    struct session_paths p;
    struct err err = {0};
    session_paths_make(r->data, r->root, id, &p);
    assert_true(fs_mkdirs(p.dir, 0700, &err));
    char *path = xstrdup(p.journal);
    session_paths_release(&p);
    return path;
}

/* A session that was held before, in the rig's folder. */
static void
plant(struct rig *r, const struct talk *t)
{
    struct err err = {0};
    char *path = journal_path(r, ID);
    struct journal *j = journal_open(path, &err);
    assert_non_null(j);
    assert_true(journal_append(
        j, STR("{\"type\":\"session\",\"id\":\"" ID "\",\"sessionId\":\"" ID "\"}"), &err));
    for (size_t i = 0; i < t->n; i++)
        assert_true(journal_append_message(j, ID, r->root, t->m[i], &err));
    journal_close(j);
    free(path);
    r->cfg.resume_id = ID;
}

static void
begin(struct rig *r, const struct talk *t, int64_t window)
{
    rig_init(r);
    r->cfg.context_window = window;
    r->rewrites = true;
    if (t)
        plant(r, t);
}

static size_t
count(const struct scripted_request *q, const char *what)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_messages; i++)
        for (const char *p = q->messages[i]; (p = strstr(p, what)); p++)
            n++;
    return n;
}

static size_t
bytes(const struct scripted_request *q)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_messages; i++)
        n += strlen(q->messages[i]);
    return n;
}

/* The end of the newest run of a tier. NULL: it did not run. */
static const struct event *
ran(const struct rig *r, const char *tier)
{
    for (size_t i = r->n; i-- > 0;)
        if (r->ev[i]->kind == EV_COMPACT && r->ev[i]->phase == PHASE_END &&
            strcmp(r->ev[i]->u.compact.tier, tier) == 0)
            return r->ev[i];
    return NULL;
}

static size_t
runs(const struct rig *r, const char *tier)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->ev[i]->kind == EV_COMPACT && r->ev[i]->phase == PHASE_END &&
             strcmp(r->ev[i]->u.compact.tier, tier) == 0;
    return n;
}

/* The session as it is on the disk, under another rig: what is sent next there is what is sent next here. */
static void
same_when_resumed(struct rig *r)
{
    struct rig other;
    struct err err = {0};
    struct buf all;
    char *from = journal_path(r, ID);
    buf_init(&all, BUF_MAX);
    assert_true(fs_read(from, BUF_MAX, &all, &err));
    begin(&other, NULL, r->cfg.context_window);
    char *to = journal_path(&other, ID);
    assert_true(fs_write_atomic(to, buf_str(&all), 0600, &err));
    other.cfg.resume_id = ID;
    rig_says(&other, "over there");
    rig_says(r, "over here");
    rig_start(&other);
    rig_submit(&other, "and now the same");
    rig_submit(r, "and now the same");
    const struct scripted_request *a = rig_last_request(r), *b = rig_last_request(&other);
    assert_int_equal(a->n_messages, b->n_messages);
    for (size_t i = 0; i < a->n_messages; i++)
        assert_string_equal(a->messages[i], b->messages[i]);
    rig_end(&other);
    buf_release(&all);
    free(from);
    free(to);
}

/* ---- the tiers ---- */

static void
test_snip_runs_once_and_is_sent_again_when_resumed(void **state)
{
    (void)state;
    struct talk t;
    struct rig r;
    talk_make(&t, TALK_DEBUG, 11, 66000);
    begin(&r, &t, 100000);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_submit(&r, "go on");
    const struct event *e = ran(&r, "snip");
    assert_non_null(e);
    assert_false(e->u.compact.failed);
    assert_true(e->u.compact.before >= 60000 && e->u.compact.after <= 50000);
    assert_non_null(e->u.compact.text);
    assert_true(count(rig_last_request(&r), "[snipped: ") > 10);
    assert_true(bytes(rig_last_request(&r)) < 4 * 52000);
    const struct scripted_request *first = rig_last_request(&r);
    rig_submit(&r, "and on");
    assert_int_equal(runs(&r, "snip"), 1); /* not a little in every turn */
    const struct scripted_request *second = rig_last_request(&r);
    for (size_t i = 0; i < first->n_messages; i++)
        assert_string_equal(first->messages[i], second->messages[i]);
    same_when_resumed(&r);
    rig_end(&r);
    talk_release(&t);
}

static void
test_below_its_percent_nothing_is_touched(void **state)
{
    (void)state;
    struct talk t;
    struct rig r;
    talk_make(&t, TALK_DEBUG, 12, 56000);
    begin(&r, &t, 100000);
    rig_says(&r, "one");
    rig_start(&r);
    rig_submit(&r, "go on");
    assert_int_equal(rig_count(&r, EV_COMPACT), 0);
    assert_int_equal(count(rig_last_request(&r), "[snipped: "), 0);
    rig_end(&r);
    talk_release(&t);
}

/* Prose alone: nothing to snip or to clear, all of it can be folded. */
static void
talk_prose_only(struct talk *t, size_t tokens)
{
    *t = (struct talk){.random = 77};
    while (t->bytes < tokens * 4) {
        char *a = talk_prose(t, 3), *b = talk_prose(t, 60);
        char *asked = xasprintf("Word %llu of the person: %s", (unsigned long long)t->serial, a);
        talk_user(t, asked);
        talk_say(t, b);
        free(a);
        free(b);
        free(asked);
    }
}

static void
test_folds_keep_the_persons_words_and_can_be_opened(void **state)
{
    (void)state;
    struct talk t;
    struct rig r;
    talk_prose_only(&t, 80000);
    begin(&r, &t, 100000);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_submit(&r, "go on");
    assert_non_null(ran(&r, "collapse"));
    assert_null(ran(&r, "snip"));
    const struct scripted_request *q = rig_last_request(&r);
    assert_true(count(q, "[folded: ") >= 1);
    for (size_t i = 0; i < t.n; i++)
        if (t.m[i]->role == ROLE_USER) {
            char *text = message_text(t.m[i]);
            assert_int_equal(count(q, text), 1);
            free(text);
        }
    rig_post(&r, OP_COMMAND, "/context open 1");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "open"));
    rig_submit(&r, "and on");
    q = rig_last_request(&r);
    size_t whole = 0;
    for (size_t i = 0; i < t.n; i++)
        for (size_t k = 0; k < q->n_messages; k++)
            whole += strcmp(q->messages[k], t.m[i]->json.ptr) == 0;
    assert_true(whole > 10);
    same_when_resumed(&r);
    rig_end(&r);
    talk_release(&t);
}

static void
test_a_request_that_is_too_long_drains_the_folds(void **state)
{
    (void)state;
    struct talk t;
    struct rig r;
    talk_prose_only(&t, 50000);
    begin(&r, &t, 100000);
    struct err err = {0};
    err_set(&err, ERR_HTTP, "prompt is too long");
    err.http = 400;
    snprintf(err.kind, sizeof err.kind, "prompt_too_long");
    scripted_reply(r.script);
    scripted_fail(r.script, &err);
    rig_says(&r, "it fits");
    rig_start(&r);
    const struct event *e = rig_submit(&r, "go on");
    assert_string_equal(e->u.result.text, "it fits");
    assert_true(rig_saw_transition(&r, "collapse_drain_retry"));
    assert_true(bytes(rig_last_request(&r)) * 2 < bytes(scripted_request(r.script, 0)));
    same_when_resumed(&r);
    rig_end(&r);
    talk_release(&t);
}

/* In the middle of a tool loop, before each request: what is new and larger than the room is cut, its whole text is kept. */
static void
test_a_result_larger_than_the_room_is_cut(void **state)
{
    (void)state;
    struct rig r;
    begin(&r, NULL, 16000);
    r.cfg.model = "claude-opus-5-5"; /* a million by the catalogue: what the person set counts */
    scripted_reply(r.script);
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\",\"size\":49000}");
    scripted_usage(r.script, 6000, 100);
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "seen");
    rig_start(&r);
    const struct event *e = rig_submit(&r, "read it");
    assert_string_equal(e->u.result.text, "seen");
    assert_non_null(ran(&r, "trim"));
    const struct scripted_request *q = rig_last_request(&r);
    assert_true(bytes(q) < 40000);
    const char *path = strstr(q->messages[2], "Whole text: ");
    assert_non_null(path);
    path += strlen("Whole text: ");
    char *file = str_dup(str_make(path, strcspn(path, " ")));
    struct buf kept;
    struct err err = {0};
    buf_init(&kept, BUF_MAX);
    assert_true(fs_read(file, BUF_MAX, &kept, &err));
    assert_int_equal(kept.len, 49000);
    buf_release(&kept);
    free(file);
    rig_end(&r);
}

static void
test_a_fork_sends_what_its_parent_sends(void **state)
{
    (void)state;
    struct talk t;
    struct rig r;
    talk_make(&t, TALK_DEBUG, 13, 66000);
    begin(&r, &t, 100000);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_submit(&r, "go on");
    const struct scripted_request *parent = rig_last_request(&r);
    assert_true(count(parent, "[snipped: ") > 10);
    rig_post(&r, OP_COMMAND, "/fork");
    rig_kind(&r, EV_SESSION);
    rig_submit(&r, "in the fork");
    const struct scripted_request *fork = rig_last_request(&r);
    assert_true(fork->n_messages > parent->n_messages);
    for (size_t i = 0; i < parent->n_messages; i++)
        assert_string_equal(parent->messages[i], fork->messages[i]);
    rig_end(&r);
    talk_release(&t);
}

static void
test_the_meters_tell_of_tiers(void **state)
{
    (void)state;
    struct talk t;
    struct rig r;
    talk_make(&t, TALK_DEBUG, 14, 66000);
    begin(&r, &t, 100000);
    rig_says(&r, "one");
    rig_start(&r);
    rig_submit(&r, "go on");
    struct cJSON *a = rig_ask(&r, QUERY_METERS, NULL);
    const struct cJSON *tiers = json_at(a, "tiers");
    int64_t before = 0, last = 0;
    for (const struct cJSON *m = json_first(tiers); m; m = json_next(m)) {
        assert_true(json_int(m, "percent", 0) >= last);
        last = json_int(m, "percent", 0);
        if (strcmp(json_cstr(m, "name", ""), "snip") == 0)
            before = json_int(m, "before", 0) - json_int(m, "after", 0);
    }
    assert_true(before >= 10000);
    json_free(a);
    rig_end(&r);
    talk_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snip_runs_once_and_is_sent_again_when_resumed),
        cmocka_unit_test(test_below_its_percent_nothing_is_touched),
        cmocka_unit_test(test_folds_keep_the_persons_words_and_can_be_opened),
        cmocka_unit_test(test_a_request_that_is_too_long_drains_the_folds),
        cmocka_unit_test(test_a_result_larger_than_the_room_is_cut),
        cmocka_unit_test(test_a_fork_sends_what_its_parent_sends),
        cmocka_unit_test(test_the_meters_tell_of_tiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
