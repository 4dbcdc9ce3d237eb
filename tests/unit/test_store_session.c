#include "unit/unit.h"

#include "base/clock.h"
#include "store/journal.h"
#include "store/session.h"
#include "unit/session_record.h"
#include "unit/temp_dir.h"

#define ROOT "/no/such/project"

static int
set_up(void **state)
{
    *state = temp_dir_make();
    return 0;
}

static int
tear_down(void **state)
{
    clock_set_fake(NULL);
    temp_dir_remove(*state);
    return 0;
}

static struct clock_fake now;

/* A session with one prompt, its records stamped from `ms` on. */
static void
make(const char *data, const char *id, int64_t ms, bool print, const char *prompt)
{
    struct session_paths p;
    struct err err;
    session_paths_make(data, ROOT, id, &p);
    now.wall_ms = ms;
    clock_set_fake(&now);
    struct journal *j = journal_open(p.journal, &err);
    assert_non_null(j);
    append_session_record(j, id, ROOT, print);
    if (prompt) {
        struct message_builder *b = message_builder_new(ROLE_USER);
        message_add_text(b, str_from(prompt));
        struct message *m = message_build(b);
        now.wall_ms += 1000;
        m->wall_ms = now.wall_ms;
        assert_true(journal_append_message(j, id, ROOT, m, &err));
        message_free(m);
    }
    journal_close(j);
    session_paths_release(&p);
}

#define A "aaaaaaaa-0000-4000-8000-000000000001"
#define B "bbbbbbbb-0000-4000-8000-000000000002"
#define C "bbbbbbbb-1111-4000-8000-000000000003"
#define D "dddddddd-0000-4000-8000-000000000004"

static void
paths(void **state)
{
    (void)state;
    struct session_paths p;
    session_paths_make("/data", "/home/me/my.project", A, &p);
    assert_string_equal(p.dir, "/data/projects/-home-me-my-project");
    assert_string_equal(p.journal, "/data/projects/-home-me-my-project/" A ".jsonl");
    assert_string_equal(p.side, "/data/projects/-home-me-my-project/" A);
    assert_string_equal(p.spill, "/data/projects/-home-me-my-project/" A "/tool-results");
    assert_string_equal(p.audit, "/data/projects/-home-me-my-project/" A "/audit.jsonl");
    session_paths_release(&p);
    session_paths_release(&p);
}

static void
none_is_no_error(void **state)
{
    struct session_info *list;
    size_t n = 7;
    char id[37] = "x";
    struct err err;
    assert_true(session_list(*state, ROOT, &list, &n, &err));
    assert_int_equal(n, 0);
    session_list_free(list, n);
    assert_true(session_find(*state, ROOT, NULL, id, &err));
    assert_string_equal(id, "");
    assert_false(session_find(*state, ROOT, "gone", id, &err));
    assert_non_null(strstr(err.text, "'gone'"));
}

static void
listed_by_their_last_record(void **state)
{
    struct session_info *list;
    size_t n;
    make(*state, A, 3000000, false, "  first line \nsecond");
    make(*state, B, 9000000, false, "esc \033[31m here");
    make(*state, C, 6000000, true, "printed");
    make(*state, D, 8000000, false, NULL);
    assert_true(session_list(*state, ROOT, &list, &n, NULL));
    assert_int_equal(n, 4);
    static const char *const order[] = {B, D, C, A};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(list[i].id, order[i]);
    assert_string_equal(list[3].title, "first line");
    assert_null(strchr(list[0].title, '\033'));
    assert_string_equal(list[1].title, "(no prompt yet)");
    assert_string_equal(list[3].cwd, ROOT);
    assert_int_equal(list[3].created_ms, 3000000);
    assert_int_equal(list[3].last_ms, 3001000);
    assert_int_equal(list[3].messages, 1);
    assert_true(list[3].bytes > 100);
    assert_true(list[2].print_mode);
    assert_false(list[3].print_mode);
    session_list_free(list, n);
}

static void
continue_takes_the_newest_interactive_one(void **state)
{
    char id[37];
    make(*state, A, 3000000, false, "a");
    make(*state, B, 2000000, false, "b");
    make(*state, C, 6000000, true, "printed");
    make(*state, D, 8000000, false, NULL);
    assert_true(session_find(*state, ROOT, NULL, id, NULL));
    assert_string_equal(id, A);
    assert_true(session_find(*state, ROOT, "", id, NULL));
    assert_string_equal(id, A);
}

static void
found_by_id_prefix_and_title(void **state)
{
    char id[37];
    struct err err;
    make(*state, A, 3000000, false, "Fix the Build");
    make(*state, B, 2000000, false, "b");
    make(*state, C, 6000000, true, "printed");
    assert_true(session_find(*state, ROOT, B, id, &err));
    assert_string_equal(id, B);
    assert_true(session_find(*state, ROOT, "aaaa", id, &err));
    assert_string_equal(id, A);
    assert_true(session_find(*state, ROOT, "bbbbbbbb-1", id, &err));
    assert_string_equal(id, C);
    assert_false(session_find(*state, ROOT, "bbbb", id, &err));
    assert_non_null(strstr(err.text, "2 sessions"));
    assert_true(session_find(*state, ROOT, "fix the build", id, &err));
    assert_string_equal(id, A);
    assert_true(session_find(*state, ROOT, "FIX the", id, &err)); /* how one alone begins */
    assert_string_equal(id, A);
    assert_false(session_find(*state, ROOT, "the build", id, &err));
    make(*state, D, 8000000, false, "fix the docs");
    assert_false(session_find(*state, ROOT, "fix the", id, &err));
    assert_non_null(strstr(err.text, "2 sessions begin with 'fix the'"));

    struct session_paths p;
    session_paths_make(*state, ROOT, B, &p);
    struct journal *j = journal_open(p.journal, &err);
    assert_true(journal_append_note(j, B, "custom-title", NULL,
                                    STR("{\"customTitle\":\"The \\u00fcber one\"}"), &err));
    journal_close(j);
    session_paths_release(&p);
    assert_true(session_find(*state, ROOT,
                             "the \xC3\x9C"
                             "ber one",
                             id, &err));
    assert_string_equal(id, B);
    assert_true(session_find(*state, ROOT, "the \xC3\xBC", id, &err)); /* its name */
    assert_string_equal(id, B);
}

static void
one_broken_file_hides_nothing(void **state)
{
    struct session_info *list;
    size_t n;
    make(*state, A, 3000000, false, "a");
    struct session_paths p;
    session_paths_make(*state, ROOT, B, &p);
    temp_file_write(p.dir, B ".jsonl", "garbage\n{\"type\":\"user\"\n\0");
    temp_file_write(p.dir, C ".jsonl", "");
    temp_file_write(p.dir, "a name that is far too long to be the id of any session.jsonl", "{}\n");
    assert_true(fs_mkdirs(p.side, 0700, NULL));
    char *folder = fs_join(p.dir, D ".jsonl");
    assert_true(fs_mkdirs(folder, 0700, NULL));
    free(folder);
    session_paths_release(&p);
    assert_true(session_list(*state, ROOT, &list, &n, NULL));
    assert_int_equal(n, 3);
    session_list_free(list, n);
    char id[37];
    assert_true(session_find(*state, ROOT, NULL, id, NULL));
    assert_string_equal(id, A);
}

/* "/x/a-b" and "/x/a/b" share a folder; each sees its own. */
static void
neighbours_with_one_slug(void **state)
{
    char *one = fs_join(*state, "a/b"), *two = fs_join(*state, "a-b"), id[37];
    struct session_info *list;
    struct err err;
    size_t n;
    assert_true(fs_mkdirs(one, 0700, NULL));
    assert_true(fs_mkdirs(two, 0700, NULL));
    const char *const roots[] = {one, two}, *const ids[] = {A, B};
    for (size_t i = 0; i < 2; i++) {
        struct session_paths p;
        session_paths_make(*state, roots[i], ids[i], &p);
        struct journal *j = journal_open(p.journal, &err);
        struct message *m = message_parse(STR("{\"role\":\"user\",\"content\":\"x\"}"), &err);
        append_session_record(j, ids[i], roots[i], false);
        assert_true(journal_append_message(j, ids[i], roots[i], m, &err));
        message_free(m);
        journal_close(j);
        session_paths_release(&p);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(session_list(*state, roots[i], &list, &n, &err));
        assert_int_equal(n, 1);
        assert_string_equal(list[0].id, ids[i]);
        session_list_free(list, n);
        assert_true(session_find(*state, roots[i], NULL, id, &err));
        assert_string_equal(id, ids[i]);
    }
    free(one);
    free(two);
}

static void
passport_there_and_back(void **state)
{
    (void)state;
    struct passport p, q;
    struct buf json, again;
    struct err err;
    passport_init(&p);
    snprintf(p.id, sizeof p.id, "%s", A);
    snprintf(p.user, sizeof p.user, "me");
    snprintf(p.mode, sizeof p.mode, "plan");
    p.model = xstrdup("m");
    p.created_ms = 1767323045678;
    p.project_root = xstrdup("/p\"q");
    p.cwd = xstrdup("/c");
    p.status = SESSION_ERROR;
    p.last_error = xstrdup("oops");
    p.running = xcalloc(2, sizeof *p.running);
    p.running[0] = xstrdup("toolu_1");
    p.running[1] = xstrdup("toolu_2");
    p.n_running = 2;
    p.cost_usd = 1.25;
    p.api_ms = 12;
    p.tool_ms = 34;
    p.n_usage = 1;
    p.usage[0] = (struct session_model_usage){
        .model = xstrdup("m"), .input = 1LL << 40, .output = 2, .cost_usd = -1};
    p.latch_fast = true;
    p.turns = 9;
    buf_init(&json, 65536);
    buf_init(&again, 65536);
    passport_write(&p, &json);
    if (!passport_read(buf_str(&json), &q, &err))
        fail_msg("%s", err.text);
    passport_write(&q, &again);
    assert_string_equal(buf_cstr(&json), buf_cstr(&again));
    assert_int_equal(q.status, SESSION_ERROR);
    assert_int_equal(q.usage[0].input, 1LL << 40);
    assert_true(q.usage[0].cost_usd < 0);
    assert_null(q.git_head);
    assert_null(q.original_cwd);
    assert_string_equal(q.running[1], "toolu_2");
    passport_release(&p);
    passport_release(&q);
    passport_release(&q);
    buf_release(&json);
    buf_release(&again);
}

static void
passport_from_bad_bytes(void **state)
{
    (void)state;
    struct passport p;
    struct err err;
    static const char *const bad[] = {"",
                                      "{}",
                                      "[]",
                                      "{\"schema\":1}",
                                      "{\"schema\":\"1\",\"id\":\"x\"}",
                                      "{\"schema\":0,\"id\":\"x\"}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(passport_read(str_from(bad[i]), &p, &err));
    assert_false(passport_read(STR("{\"schema\":2,\"id\":\"x\"}"), &p, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "newer"));
    assert_true(passport_read(
        STR("{\"schema\":1,\"id\":\"0123456789012345678901234567890123456789\",\"usage\":[1,{}],"
            "\"running\":[5,\"a\"],\"status\":\"dreaming\",\"cwd\":7,\"new\":true}"),
        &p, &err));
    assert_int_equal(strlen(p.id), 36);
    assert_int_equal(p.n_running, 1);
    assert_int_equal(p.status, SESSION_IDLE);
    passport_release(&p);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        CASE(none_is_no_error),
        CASE(listed_by_their_last_record),
        CASE(continue_takes_the_newest_interactive_one),
        CASE(found_by_id_prefix_and_title),
        CASE(one_broken_file_hides_nothing),
        CASE(neighbours_with_one_slug),
        cmocka_unit_test(passport_there_and_back),
        cmocka_unit_test(passport_from_bad_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
