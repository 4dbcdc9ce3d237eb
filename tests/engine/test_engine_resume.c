/* Sessions as each released version wrote them, and as faults left them: all of them go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/conversation.h"
#include "store/session.h"
#include "store/store.h"

#define ID "11111111-2222-4333-8444-555555555555"

static void
read_all(const char *path, struct buf *out)
{
    struct err err = {0};
    buf_init(out, BUF_MAX);
    if (!fs_read(path, BUF_MAX, out, &err))
        fail_msg("%s", err.text);
}

/* Puts `bytes` where the rig's session ID lives; the path is yours. */
static char *
plant(struct rig *r, struct str bytes)
{
    struct session_paths p;
    struct err err = {0};
    session_paths_make(r->data, r->root, ID, &p);
    assert_true(fs_mkdirs(p.dir, 0700, &err));
    assert_true(fs_write_atomic(p.journal, bytes, 0600, &err));
    char *path = xstrdup(p.journal);
    session_paths_release(&p);
    r->cfg.resume_id = ID;
    return path;
}

/* ---- fixtures ---- */

struct fixture {
    const char *name;
    size_t shown; /* messages of the transcript, with those that close a cut turn */
    size_t sent;  /* messages of the next request */
    const char *holds, *notice;
};
static const struct fixture v1[] = {
    {"plain", 2, 3, "help", NULL},          {"tools", 8, 9, "hello", NULL},
    {"torn", 8, 9, "hello", "was torn"},    {"cut_turn", 3, 3, "interrupted", "cut off"},
    {"unknown_types", 8, 9, "hello", NULL}, {"compacted", 10, 3, "Summary of what", NULL},
    {"rewound", 4, 5, "hello", NULL},
};

static void
goes_on(const struct fixture *f)
{
    struct rig r;
    struct buf before, after;
    char *file = xasprintf(TEST_DIR "/fixtures/sessions/v1/%s.jsonl", f->name);
    rig_init(&r);
    read_all(file, &before);
    char *path = plant(&r, buf_str(&before));
    rig_says(&r, "welcome back");
    rig_start(&r);
    assert_true(rig_kind(&r, EV_SESSION)->u.session.resumed);
    rig_kind(&r, EV_USAGE);
    assert_int_equal(rig_told(&r, f->notice ? f->notice : "\001"), f->notice ? 1 : 0);
    struct cJSON *tree = rig_ask(&r, QUERY_HISTORY, NULL);
    if (json_int(tree, "total", 0) != (int64_t)f->shown)
        fail_msg("%s: %lld messages", f->name, (long long)json_int(tree, "total", 0));
    json_free(tree);
    rig_post(&r, OP_SUBMIT, "go on");
    assert_string_equal(rig_result(&r)->u.result.text, "welcome back");
    const struct scripted_request *q = scripted_request(r.script, 0);
    bool held = false;
    for (size_t i = 0; i < q->n_messages; i++)
        held |= strstr(q->messages[i], f->holds) != NULL;
    if (q->n_messages != f->sent || !held)
        fail_msg("%s: %zu messages were sent", f->name, q->n_messages);
    rig_stop(&r);
    read_all(path, &after);
    const char *last = memrchr(before.data, '\n', before.len);
    size_t whole = (size_t)(last - before.data) + 1; /* a torn tail goes, all else stays */
    assert_true(after.len > whole);
    assert_memory_equal(before.data, after.data, whole);
    buf_release(&before);
    buf_release(&after);
    free(path);
    free(file);
    rig_end(&r);
}

static void
test_what_version_1_wrote_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(v1); i++)
        goes_on(&v1[i]);
}

/* Cut at every byte of the last three records: it resumes, and says what was left out. */
static void
test_cut_at_any_byte(void **state)
{
    (void)state;
    struct buf all;
    read_all(TEST_DIR "/fixtures/sessions/v1/tools.jsonl", &all);
    size_t from = all.len, records = 0;
    while (from > 0 && records < 3)
        records += all.data[--from - 1] == '\n';
    for (size_t cut = from; cut <= all.len; cut += cut % 9 ? 1 : 8) {
        struct rig r;
        rig_init(&r);
        char *path = plant(&r, str_make(all.data, cut));
        rig_start(&r);
        rig_kind(&r, EV_USAGE);
        bool whole = all.data[cut - 1] == '\n' || all.data[cut] == '\n';
        assert_int_equal(rig_told(&r, "was torn"), whole ? 0 : 1);
        assert_true(rig_count(&r, EV_USER) >= 2);
        free(path);
        rig_end(&r);
    }
    buf_release(&all);
}

/* Killed while the model answered: nothing of the answer is there, and that is told. */
static void
test_a_prompt_without_its_answer_is_told(void **state)
{
    (void)state;
    struct rig r;
    struct buf all;
    read_all(TEST_DIR "/fixtures/sessions/v1/plain.jsonl", &all);
    const char *user = strstr(buf_cstr(&all), "\"type\":\"user\"");
    const char *end = strchr(user, '\n');
    rig_init(&r);
    char *path = plant(&r, str_make(all.data, (size_t)(end + 1 - all.data)));
    rig_start(&r);
    rig_kind(&r, EV_USAGE);
    assert_int_equal(rig_told(&r, "cut off before it was answered"), 1);
    assert_int_equal(rig_count(&r, EV_USER), 1);
    free(path);
    buf_release(&all);
    rig_end(&r);
}

/* The clock was set back since: no session is of a time before now by less than nothing. */
static void
test_a_session_of_the_future_is_of_now(void **state)
{
    (void)state;
    struct rig r;
    struct buf all;
    read_all(TEST_DIR "/fixtures/sessions/v1/plain.jsonl", &all);
    for (char *at = all.data; (at = strstr(at, "\"2026-")) != NULL; at++)
        memcpy(at, "\"2999-", 6);
    rig_init(&r);
    char *path = plant(&r, buf_str(&all));
    rig_start(&r);
    rig_kind(&r, EV_USAGE);
    rig_post(&r, OP_COMMAND, "/sessions");
    rig_kind(&r, EV_NOTICE);
    assert_int_equal(rig_told(&r, "11111111  0 min ago"), 1);
    free(path);
    buf_release(&all);
    rig_end(&r);
}

/* ---- what else may have happened ---- */

static void
test_a_newer_passport_is_not_written_over(void **state)
{
    (void)state;
    static const char newer[] = "{\"schema\":99,\"id\":\"" ID "\",\"secret\":1}";
    struct rig r;
    struct buf b;
    struct err err = {0};
    uint64_t version;
    rig_init(&r);
    read_all(TEST_DIR "/fixtures/sessions/v1/plain.jsonl", &b);
    char *path = plant(&r, buf_str(&b));
    buf_release(&b);
    struct store *store = store_open("memory:", &err);
    assert_true(store_put(store, "passport:" ID, str_from(newer), STORE_ANY, &version, &err));
    r.cfg.store = store;
    rig_says(&r, "hello");
    rig_start(&r);
    rig_submit(&r, "go on");
    assert_int_equal(rig_told(&r, "use a newer yare"), 1);
    rig_stop(&r);
    buf_init(&b, BUF_MAX);
    assert_true(store_get(store, "passport:" ID, &b, &version, &err));
    assert_string_equal(buf_cstr(&b), newer);
    buf_release(&b);
    free(path);
    rig_end(&r);
    store_close(store);
}

/* The folder it runs in goes away: records go on into the same file. */
static void
test_a_deleted_folder_keeps_its_journal(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_submit(&r, "first");
    char *id = xstrdup(engine_session_id(r.e));
    char *moved = xasprintf("%s.moved", r.root);
    assert_int_equal(rename(r.root, moved), 0);
    rig_post(&r, OP_SUBMIT, "second");
    assert_string_equal(rig_result(&r)->u.result.text, "two");
    assert_int_equal(rename(moved, r.root), 0);
    struct session_paths p;
    session_paths_make(r.data, r.root, id, &p);
    struct conversation *conv = conversation_open(p.journal, NULL, NULL, NULL);
    assert_int_equal(conversation_len(conv), 4);
    conversation_free(conv);
    session_paths_release(&p);
    free(moved);
    free(id);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_version_1_wrote_goes_on),
        cmocka_unit_test(test_cut_at_any_byte),
        cmocka_unit_test(test_a_prompt_without_its_answer_is_told),
        cmocka_unit_test(test_a_session_of_the_future_is_of_now),
        cmocka_unit_test(test_a_newer_passport_is_not_written_over),
        cmocka_unit_test(test_a_deleted_folder_keeps_its_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
