/* The stored history as pages of events, places of live events, and what a resume costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "base/json.h"
#include "fakes/rig.h"
#include "fakes/toys.h"
#include "store/conversation.h"
#include "store/journal.h"
#include "store/session.h"

#define ID "11111111-2222-4333-8444-555555555555"

static struct cJSON *
page(struct rig *r, int64_t before)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)before);
    return rig_ask(r, QUERY_HISTORY, before < 0 ? "" : text);
}

/* ---- a journal made by hand ---- */

static struct message *
text_message(enum role role, const char *text)
{
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    return message_build(b);
}

static void
put(struct journal *j, struct message *take_m)
{
    struct err err = {0};
    assert_true(journal_append_message(j, ID, "/w", take_m, &err));
    message_free(take_m);
}

static struct journal *
make_journal(struct rig *r)
{
    struct session_paths p;
    struct err err = {0};
    session_paths_make(r->data, r->root, ID, &p);
    struct journal *j = journal_open(p.journal, &err);
    session_paths_release(&p);
    assert_non_null(j);
    assert_true(journal_append(j, STR("{\"type\":\"session\",\"id\":\"" ID "\"}"), &err));
    r->cfg.resume_id = ID;
    return j;
}

static void
put_call(struct journal *j, const char *id, size_t output)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_tool_use(b, str_from(id), STR("Read"), STR("{\"name\":\"a\"}"));
    put(j, message_build(b));
    b = message_builder_new(ROLE_USER);
    char *text = xmalloc(output + 1);
    memset(text, '\033', output);
    text[output] = '\0';
    message_add_tool_result(b, str_from(id), str_from(text), false);
    free(text);
    put(j, message_build(b));
}

/* ---- pages ---- */

static void
test_pages_meet_and_are_complete(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct journal *j = make_journal(&r);
    for (int i = 0; i < 180; i++) {
        char text[32];
        snprintf(text, sizeof text, "message %d", i);
        put(j, text_message(i % 2 ? ROLE_ASSISTANT : ROLE_USER, text));
    }
    journal_close(j);
    rig_start(&r);
    int64_t before = -1, places = 0;
    for (;;) {
        struct cJSON *tree = page(&r, before);
        int64_t from = json_int(tree, "from", -1), to = json_int(tree, "to", -1), next = from;
        assert_int_equal(json_int(tree, "total", 0), 180);
        assert_int_equal(to, before < 0 ? 180 : before);
        for (const struct cJSON *e = json_first(json_at(tree, "events")); e; e = json_next(e)) {
            struct buf b;
            buf_init(&b, BUF_MAX);
            json_print(e, &b);
            struct event *ev = event_read(buf_str(&b), NULL);
            assert_non_null(ev);
            bool begins = ev->kind == EV_USER || ev->phase == PHASE_START;
            next += begins;
            places += begins;
            assert_int_equal(ev->place, next);
            event_free(ev);
            buf_release(&b);
        }
        assert_int_equal(next, to);
        json_free(tree);
        before = from;
        if (!from)
            break;
    }
    assert_int_equal(places, 180);
    rig_end(&r);
}

/* Wherever a page could begin, results are with their call. */
static void
test_results_stay_with_their_call(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct journal *j = make_journal(&r);
    put(j, text_message(ROLE_USER, "go"));
    for (int i = 0; i < 60; i++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        put_call(j, id, 10);
    }
    put(j, text_message(ROLE_ASSISTANT, "done"));
    journal_close(j);
    rig_start(&r);
    for (int64_t before = 122; before > 50; before--) {
        struct cJSON *tree = page(&r, before);
        int64_t from = json_int(tree, "from", -1);
        assert_true(from >= 0 && before - from >= 50 && before - from <= 51);
        for (const struct cJSON *e = json_first(json_at(tree, "events")); e; e = json_next(e))
            if (!strcmp(json_cstr(e, "event", ""), "tool") &&
                !strcmp(json_cstr(e, "phase", ""), "end"))
                assert_string_equal(json_cstr(e, "state", ""), "done");
        json_free(tree);
    }
    rig_end(&r);
}

static void
test_a_page_of_huge_messages_is_bounded(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct journal *j = make_journal(&r);
    put(j, text_message(ROLE_USER, "go"));
    for (int i = 0; i < 25; i++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        put_call(j, id, 200000); /* control characters: six times as long in JSON */
    }
    /* one message with forty results that no page can part */
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT),
                           *res = message_builder_new(ROLE_USER);
    char *text = xcalloc(1, 50001);
    memset(text, 'x', 50000);
    for (int i = 0; i < 40; i++) {
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        message_add_tool_use(b, str_from(id), STR("Read"), STR("{\"name\":\"a\"}"));
        message_add_tool_result(res, str_from(id), str_from(text), false);
    }
    free(text);
    put(j, message_build(b));
    put(j, message_build(res));
    journal_close(j);
    rig_start(&r);
    int64_t before = -1;
    size_t pages = 0;
    while (before) {
        char arg[32];
        snprintf(arg, sizeof arg, "%lld", (long long)before);
        struct op *op = op_new(OP_QUERY, before < 0 ? "" : arg);
        op->query = QUERY_HISTORY;
        engine_post(r.e, op);
        const char *json = rig_kind(&r, EV_ANSWER)->u.answer.json;
        assert_true(strlen(json) <= (1u << 20) + 4096);
        struct cJSON *tree = json_parse(str_from(json), NULL);
        int64_t from = json_int(tree, "from", -1);
        assert_true(from < json_int(tree, "to", -1));
        assert_true(json_len(json_at(tree, "events")) > 0);
        before = from;
        json_free(tree);
        pages++;
    }
    assert_true(pages < 30);
    rig_end(&r);
}

/* ---- live ---- */

static void
test_live_events_say_where_they_belong(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    scripted_reply(r.script);
    scripted_text(r.script, "looking");
    scripted_tool(r.script, "t1", "Read", "{\"name\":\"a\"}");
    scripted_end(r.script, STOP_TOOL_USE);
    rig_says(&r, "done");
    rig_says(&r, "again");
    rig_start(&r);
    rig_submit(&r, "first");
    rig_submit(&r, "second");
    /* 1 first, 2 looking and t1, 3 its result, 4 done, 5 second, 6 again */
    int64_t users[2] = {1, 5}, ends[4] = {2, 2, 4, 6}, messages[4] = {2, 3, 4, 6};
    size_t u = 0, b = 0, m = 0;
    for (size_t i = 0; i < r.n; i++) {
        const struct event *e = r.ev[i];
        if (e->kind == EV_USER)
            assert_int_equal(e->place, users[u++]);
        else if (e->kind == EV_BLOCK && e->phase == PHASE_END)
            assert_int_equal(e->place, ends[b++]);
        else if (e->kind == EV_TOOL)
            assert_int_equal(e->place, 2);
        else if (e->kind == EV_MESSAGE)
            assert_int_equal(e->place, messages[m++]);
    }
    assert_int_equal(u, 2);
    assert_int_equal(b, 4);
    assert_int_equal(m, 4);
    /* and the same places from the file */
    struct cJSON *tree = page(&r, -1);
    int64_t last = 0;
    for (const struct cJSON *e = json_first(json_at(tree, "events")); e; e = json_next(e)) {
        assert_true(json_int(e, "place", 0) >= last);
        last = json_int(e, "place", 0);
    }
    assert_int_equal(last, 6);
    assert_int_equal(json_int(tree, "total", 0), 6);
    json_free(tree);
    tree = rig_ask(&r, QUERY_SEARCH, "SECOND");
    assert_int_equal(json_int(tree, "hits.0.index", -1), 4);
    assert_string_equal(json_cstr(tree, "hits.0.role", ""), "user");
    assert_true(json_bool(tree, "complete", false));
    json_free(tree);
    rig_end(&r);
}

/* A resume shows the last page; the request that follows holds everything. */
static void
test_a_long_session_resumes_by_its_last_page(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct journal *j = make_journal(&r);
    for (int i = 0; i < 400; i++)
        put(j, text_message(i % 2 ? ROLE_ASSISTANT : ROLE_USER, "text"));
    journal_close(j);
    rig_says(&r, "on it");
    rig_start(&r);
    assert_int_equal(rig_kind(&r, EV_USER)->place, 351);
    struct cJSON *tree = page(&r, 100);
    assert_int_equal(json_int(tree, "from", -1), 50);
    json_free(tree);
    rig_post(&r, OP_SUBMIT, "go on");
    assert_string_equal(rig_result(&r)->u.result.text, "on it");
    assert_int_equal(scripted_request(r.script, 0)->n_messages, 401);
    tree = page(&r, -1);
    assert_int_equal(json_int(tree, "total", 0), 402);
    json_free(tree);
    rig_end(&r);
}

/* ---- commands about sessions ---- */

static void
test_a_name_is_kept_and_found(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "hello");
    rig_start(&r);
    rig_submit(&r, "first");
    char *id = xstrdup(engine_session_id(r.e));
    rig_post(&r, OP_COMMAND, "/rename The Parser");
    assert_string_equal(rig_kind(&r, EV_SESSION)->u.session.title, "The Parser");
    rig_post(&r, OP_COMMAND, "/clear");
    assert_null(rig_kind(&r, EV_SESSION)->u.session.title);
    rig_post(&r, OP_COMMAND, "/resume the parser");
    const struct event *e = rig_kind(&r, EV_SESSION);
    assert_string_equal(e->u.session.id, id);
    assert_string_equal(e->u.session.title, "The Parser");
    assert_true(e->u.session.cleared);
    struct cJSON *tree = rig_ask(&r, QUERY_SESSIONS, "PARSER");
    assert_int_equal(json_len(json_at(tree, "sessions")), 1);
    assert_string_equal(json_cstr(tree, "sessions.0.title", ""), "The Parser");
    json_free(tree);
    tree = rig_ask(&r, QUERY_SESSIONS, "first");
    assert_string_equal(json_cstr(tree, "sessions.0.excerpt", ""), "first");
    json_free(tree);
    free(id);
    rig_end(&r);
}

static void
test_a_fork_goes_on_in_a_copy(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_post(&r, OP_COMMAND, "/fork");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "nothing to fork"));
    rig_submit(&r, "first");
    char *id = xstrdup(engine_session_id(r.e));
    rig_post(&r, OP_COMMAND, "/branch");
    const struct event *e = rig_kind(&r, EV_SESSION);
    assert_string_not_equal(e->u.session.id, id);
    char *copy = xstrdup(e->u.session.id);
    rig_submit(&r, "second");
    assert_int_equal(scripted_request(r.script, 1)->n_messages, 3);
    assert_int_equal(rig_stored(&r, id), 2);
    assert_int_equal(rig_stored(&r, copy), 4);
    free(id);
    free(copy);
    rig_end(&r);
}

static void
test_going_over_fails_softly(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    rig_says(&r, "one");
    rig_says(&r, "two");
    rig_start(&r);
    rig_submit(&r, "first");
    char *id = xstrdup(engine_session_id(r.e));
    rig_post(&r, OP_COMMAND, "/resume nosuch");
    assert_non_null(strstr(rig_kind(&r, EV_ERROR)->u.error.err.text, "nosuch"));
    rig_post(&r, OP_SUBMIT, "second");
    assert_string_equal(rig_result(&r)->u.result.text, "two");
    assert_int_equal(rig_stored(&r, id), 4);
    free(id);
    rig_end(&r);
}

static void
test_an_export_of_the_live_session(void **state)
{
    (void)state;
    struct rig r;
    struct err err = {0};
    rig_init(&r);
    rig_says(&r, "an answer");
    rig_start(&r);
    rig_submit(&r, "a prompt");
    rig_post(&r, OP_COMMAND, "/export talk.md");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "talk.md"));
    char *path = fs_join(r.root, "talk.md");
    struct buf text;
    buf_init(&text, BUF_MAX);
    assert_true(fs_read(path, BUF_MAX, &text, &err));
    assert_non_null(strstr(buf_cstr(&text), "> a prompt"));
    assert_non_null(strstr(buf_cstr(&text), "an answer"));
    buf_release(&text);
    rig_post(&r, OP_COMMAND, "/export talk.md");
    assert_non_null(strstr(rig_kind(&r, EV_ERROR)->u.error.err.text, "--force"));
    rig_post(&r, OP_COMMAND, "/export --format xml a");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "usage"));
    static const char *const wrong[] = {"/export --format --force", "/export --bogus a",
                                        "/export --format md --bogus a"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        rig_post(&r, OP_COMMAND, wrong[i]);
        assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "usage"));
    }
    rig_post(&r, OP_COMMAND, "/export --force -"); /* of a file with that name nobody has a use */
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "yare export "));
    rig_post(&r, OP_COMMAND, "/export --force --format json talk.md");
    rig_kind(&r, EV_NOTICE);
    rig_post(&r, OP_COMMAND, "/export talk.md --force"); /* as the message told */
    assert_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "--force"));
    rig_post(&r, OP_COMMAND, "/export talk.pdf");
    assert_non_null(strstr(rig_kind(&r, EV_NOTICE)->u.notice.text, "not .pdf"));
    free(path);
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_meet_and_are_complete),
        cmocka_unit_test(test_results_stay_with_their_call),
        cmocka_unit_test(test_a_page_of_huge_messages_is_bounded),
        cmocka_unit_test(test_live_events_say_where_they_belong),
        cmocka_unit_test(test_a_long_session_resumes_by_its_last_page),
        cmocka_unit_test(test_a_name_is_kept_and_found),
        cmocka_unit_test(test_a_fork_goes_on_in_a_copy),
        cmocka_unit_test(test_going_over_fails_softly),
        cmocka_unit_test(test_an_export_of_the_live_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
