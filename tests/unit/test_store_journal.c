#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/json.h"
#include "store/journal.h"
#include "unit/session_record.h"
#include "unit/temp_dir.h"

#define SESSION "3f2b1c00-0000-4000-8000-000000000001"

struct fixture {
    char *dir, *path;
    struct journal *j;
};

static int
set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->dir = temp_dir_make();
    f->path = fs_join(f->dir, "projects/-work/" SESSION ".jsonl");
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    journal_close(f->j);
    temp_dir_remove(f->dir);
    free(f->path);
    free(f);
    return 0;
}

static void
open_journal(struct fixture *f)
{
    struct err err;
    journal_close(f->j);
    f->j = journal_open(f->path, &err);
    if (!f->j)
        fail_msg("%s", err.text);
}

static struct message *
text_message(enum role role, const char *text)
{
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    return message_build(b);
}

static void
append(struct fixture *f, enum role role, const char *text, char ret_uuid[37])
{
    struct message *m = text_message(role, text);
    struct err err;
    if (!journal_append_message(f->j, SESSION, "/work", m, &err))
        fail_msg("%s", err.text);
    if (ret_uuid)
        memcpy(ret_uuid, m->uuid, 37);
    message_free(m);
}

/* "text|text|..." of the conversation as it would be resumed. */
static void
expect_conversation(struct fixture *f, const char *want)
{
    struct journal_index ix;
    struct err err;
    struct buf got;
    size_t n;
    buf_init(&got, 65536);
    assert_true(journal_index_load(f->path, &ix, &err));
    struct message **list = journal_messages(&ix, &n, &err);
    assert_non_null(list);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(&got, '|');
        for (size_t k = 0; k < list[i]->n_blocks; k++)
            buf_add_str(&got, list[i]->blocks[k].text);
        message_free(list[i]);
    }
    free(list);
    journal_index_release(&ix);
    assert_string_equal(buf_cstr(&got), want);
    buf_release(&got);
}

static void
write_raw(struct fixture *f, const char *text)
{
    temp_file_write(f->dir, "projects/-work/" SESSION ".jsonl", text);
}

static void
what_was_written_is_read(void **state)
{
    struct fixture *f = *state;
    struct journal_index ix;
    struct stat st;
    struct err err;
    size_t n;
    open_journal(f);
    append_session_record(f->j, SESSION, "/work", true);
    append(f, ROLE_USER, "hello", NULL);
    struct message *m =
        message_parse(STR("{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
                          "\"thinking\":\"h\\u00e4\",\"signature\":\"s\"},"
                          "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"n\":"
                          "12345678901234567890}}]}"),
                      &err);
    assert_non_null(m);
    m->model = xstrdup("claude-x");
    m->api_id = xstrdup("msg_1");
    m->hidden = m->partial = true;
    assert_true(journal_append_message(f->j, SESSION, "/work", m, &err));
    assert_true(journal_append_note(f->j, SESSION, "mode", NULL, STR("{\"mode\":\"plan\"}"), &err));
    assert_true(journal_append_note(f->j, SESSION, "usage", "turn", (struct str){0}, &err));
    assert_true(journal_sync(f->j, &err));

    assert_true(journal_index_load(f->path, &ix, &err));
    assert_int_equal(ix.n, 5);
    assert_int_equal(ix.torn_at, -1);
    static const char *const types[] = {"session", "user", "assistant", "mode", "usage"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(ix.entries[i].type, types[i]);
    assert_true(str_is(journal_member(&ix, 3, "mode"), "\"plan\""));
    assert_null(journal_member(&ix, 3, "none").ptr);
    struct message **list = journal_messages(&ix, &n, &err);
    assert_int_equal(n, 2);
    assert_true(str_eq(list[1]->json, m->json)); /* byte for byte */
    assert_string_equal(list[1]->uuid, m->uuid);
    assert_string_equal(list[1]->model, "claude-x");
    assert_string_equal(list[1]->api_id, "msg_1");
    assert_true(list[1]->hidden && list[1]->partial);
    assert_false(list[0]->hidden || list[0]->partial);
    assert_true(clock_wall_ms() - list[1]->wall_ms < 60000);
    for (size_t i = 0; i < n; i++)
        message_free(list[i]);
    free(list);
    message_free(m);
    journal_index_release(&ix);
    journal_index_release(&ix);

    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    char *folder = fs_dirname(f->path);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    free(folder);
}

static void
reopening_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    char first[37], second[37];
    open_journal(f);
    assert_string_equal(journal_parent(f->j), "");
    append(f, ROLE_USER, "a", first);
    assert_string_equal(journal_parent(f->j), first);
    open_journal(f);
    assert_string_equal(journal_parent(f->j), first);
    append(f, ROLE_ASSISTANT, "b", second);
    assert_true(journal_append_note(f->j, SESSION, "usage", NULL, STR("{\"x\":1}"), NULL));
    open_journal(f);
    assert_string_equal(journal_parent(f->j), second);
    append(f, ROLE_USER, "c", NULL);
    expect_conversation(f, "a|b|c");
}

static void
a_second_writer_is_refused(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    open_journal(f);
    assert_null(journal_open(f->path, &err));
    assert_non_null(strstr(err.text, "open in another yare"));
}

static void
a_rewind_is_a_branch(void **state)
{
    struct fixture *f = *state;
    char a[37], b[37];
    struct err err;
    open_journal(f);
    append(f, ROLE_USER, "a", a);
    append(f, ROLE_ASSISTANT, "b", b);
    append(f, ROLE_USER, "c", NULL);
    append(f, ROLE_ASSISTANT, "d", NULL);
    assert_true(journal_rewind(f->j, SESSION, b, &err));
    expect_conversation(f, "a|b");
    open_journal(f);
    assert_string_equal(journal_parent(f->j), b);
    append(f, ROLE_USER, "e", NULL);
    expect_conversation(f, "a|b|e");
    assert_true(journal_append_note(f->j, SESSION, "mode", NULL, STR("{\"mode\":\"x\"}"), &err));
    expect_conversation(f, "a|b|e");
    assert_true(journal_rewind(f->j, SESSION, NULL, &err));
    expect_conversation(f, "");
    append(f, ROLE_USER, "anew", NULL);
    expect_conversation(f, "anew");
}

static void
a_compaction_begins_anew(void **state)
{
    struct fixture *f = *state;
    open_journal(f);
    append(f, ROLE_USER, "old", NULL);
    journal_set_parent(f->j, NULL);
    append(f, ROLE_USER, "summary", NULL);
    append(f, ROLE_ASSISTANT, "on", NULL);
    expect_conversation(f, "summary|on");
}

static size_t
whole_records(const char *path, int64_t *ret_torn)
{
    struct journal_index ix;
    assert_true(journal_index_load(path, &ix, NULL));
    size_t n = ix.n;
    *ret_torn = ix.torn_at;
    journal_index_release(&ix);
    return n;
}

/* Cut at every byte of the last three records: every whole one is there, and the next append fits on. */
static void
cut_anywhere(void **state)
{
    struct fixture *f = *state;
    open_journal(f);
    for (int i = 0; i < 4; i++)
        append(f, i % 2 ? ROLE_ASSISTANT : ROLE_USER, "text \\ \"quoted\" \xC3\xA4 } ]", NULL);
    journal_close(f->j);
    f->j = NULL;
    char *all = temp_file_read(f->dir, "projects/-work/" SESSION ".jsonl");
    size_t len = strlen(all), ends[5] = {0}, n = 0;
    for (size_t i = 0; i < len; i++)
        if (all[i] == '\n')
            ends[++n] = i + 1;
    assert_int_equal(n, 4);
    for (size_t cut = ends[1]; cut <= len; cut++) {
        int64_t torn;
        size_t want = 0;
        while (want < 4 && ends[want + 1] - 1 <= cut) /* whole even without its newline */
            want++;
        char c = all[cut];
        all[cut] = '\0';
        write_raw(f, all);
        all[cut] = c;
        assert_int_equal(whole_records(f->path, &torn), want);
        assert_int_equal(torn, cut > ends[want] ? (int64_t)ends[want] : -1);
        if (cut % 7 && cut != ends[want + (want < 4)] - 1 && cut + 1 != ends[want])
            continue; /* the write is tried at some of them and at all borders */
        open_journal(f);
        append(f, ROLE_USER, "next", NULL);
        assert_int_equal(whole_records(f->path, &torn), want + 1);
        assert_int_equal(torn, -1);
    }
    free(all);
}

static void
foreign_records_are_kept_and_skipped(void **state)
{
    struct fixture *f = *state;
    static const char lines[] =
        "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"type\":\"no\",\"uuid\":\"x\"}}\n"
        "not json at all {\n"
        "\n"
        "[1,2]\n"
        "{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{\"role\":"
        "\"user\",\"content\":\"hi\"},"
        "\"uuid\":\"11111111-0000-4000-8000-000000000000\",\"timestamp\":\"2026-01-02T03:04:05."
        "678Z\"}\n"
        "{\"parentUuid\":\"11111111-0000-4000-8000-000000000000\",\"isSidechain\":true,\"type\":"
        "\"user\","
        "\"message\":{\"role\":\"user\",\"content\":\"side\"},\"uuid\":\"55555555-0000-4000-8000-"
        "000000000000\"}\n"
        "{\"parentUuid\":\"11111111-0000-4000-8000-000000000000\",\"type\":\"assistant\","
        "\"message\":{\"id\":\"m1\","
        "\"model\":\"x\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"one\"}],"
        "\"usage\":{}},"
        "\"uuid\":\"22222222-0000-4000-8000-000000000000\"}\n"
        "{\"parentUuid\":\"22222222-0000-4000-8000-000000000000\",\"type\":\"assistant\","
        "\"message\":{\"id\":\"m1\","
        "\"model\":\"x\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"two\"}],"
        "\"usage\":{}},"
        "\"uuid\":\"33333333-0000-4000-8000-000000000000\"}\n"
        "{\"parentUuid\":\"33333333-0000-4000-8000-000000000000\",\"type\":\"user\",\"message\":{"
        "\"role\":\"robot\"},"
        "\"uuid\":\"44444444-0000-4000-8000-000000000000\"}\n"
        "{\"parentUuid\":\"99999999-0000-4000-8000-000000000000\",\"type\":\"user\",\"message\":{"
        "\"role\":\"user\","
        "\"content\":\"lost parent\"},\"uuid\":\"66666666-0000-4000-8000-000000000000\"}\n"
        "{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"x\"}\n";
    write_raw(f, lines);
    struct journal_index ix;
    size_t n;
    assert_true(journal_index_load(f->path, &ix, NULL));
    assert_int_equal(ix.n, 10);
    assert_string_equal(ix.entries[1].type, "");
    struct message **list = journal_messages(&ix, &n, NULL);
    assert_int_equal(n, 3);
    assert_int_equal(list[0]->wall_ms, 1767323045678);
    assert_string_equal(list[1]->api_id, "m1");
    assert_true(str_is(list[1]->json,
                       "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
                       "{\"type\":\"text\",\"text\":\"two\"}]}"));
    for (size_t i = 0; i < n; i++)
        message_free(list[i]);
    free(list);
    journal_index_release(&ix);
    open_journal(f);
    append(f, ROLE_USER, "mine", NULL);
    expect_conversation(f, "hi|onetwo|lost parent|mine");
    char *text = temp_file_read(f->dir, "projects/-work/" SESSION ".jsonl");
    assert_memory_equal(text, lines, sizeof lines - 1);
    free(text);
}

static void
a_ring_of_parents_ends(void **state)
{
    struct fixture *f = *state;
    write_raw(f, "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"message\":{\"role\":"
                 "\"user\",\"content\":\"1\"}}\n"
                 "{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"role\":"
                 "\"user\",\"content\":\"2\"}}\n");
    expect_conversation(f, "1|2");
}

static void
any_bytes_are_safe(void **state)
{
    struct fixture *f = *state;
    static const char *const odd[] = {
        "{",
        "}",
        "{\"",
        "{\"type",
        "{\"type\"",
        "{\"type\":",
        "{\"type\":\"",
        "{\"type\":}}}]]",
        "{\"type\":\"a\\\"}",
        "{\"type\":\"\\u0041\"}",
        "{\"uuid\":5,\"type\":[}",
        "{\"type\":\"this type has a name of many letters\"}",
        "{]",
        "{\"a\":{\"b\":[",
        "\"\\",
        "{\"message\":{},\"type\":\"user\",\"uuid\":\"q\"}",
        "{\"type\":\"user\",\"uuid\":\"r\",\"message\":\"text\"}",
        "\xFF\xFE{}",
    };
    struct buf all;
    buf_init(&all, 65536);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        buf_addf(&all, "%s\n", odd[i]);
    write_raw(f, buf_cstr(&all));
    buf_release(&all);
    expect_conversation(f, "");
    open_journal(f);
    append(f, ROLE_USER, "fine", NULL);
    expect_conversation(f, "fine");
}

static void
empty_and_missing_files(void **state)
{
    struct fixture *f = *state;
    struct journal_index ix;
    struct err err;
    assert_false(journal_index_load(f->path, &ix, &err));
    assert_int_equal(err.sys, ENOENT);
    write_raw(f, "");
    expect_conversation(f, "");
    write_raw(f, "\n\n");
    expect_conversation(f, "");
    assert_false(journal_index_load(f->dir, &ix, &err));
    assert_null(journal_open("/proc/version/x/y.jsonl", &err));
}

/* A disk that fills up, by the limit on a file's size: what was there stays, and later it goes on. */
static void
a_failed_write_is_undone(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    open_journal(f);
    append(f, ROLE_USER, "before", NULL);
    struct stat st, after;
    assert_int_equal(stat(f->path, &st), 0);
    struct rlimit old, tight;
    getrlimit(RLIMIT_FSIZE, &old);
    tight = old;
    tight.rlim_cur = (rlim_t)st.st_size + 100;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    struct message *m = text_message(ROLE_ASSISTANT, long_text);
    char parent[37];
    memcpy(parent, journal_parent(f->j), sizeof parent);
    bool ok = journal_append_message(f->j, SESSION, "/work", m, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    assert_int_equal(err.sys, EFBIG);
    assert_non_null(strstr(err.text, "file system '/"));
    assert_int_equal(stat(f->path, &after), 0);
    assert_int_equal(after.st_size, st.st_size);
    assert_string_equal(journal_parent(f->j), parent);
    message_free(m);
    append(f, ROLE_ASSISTANT, "after", NULL);
    expect_conversation(f, "before|after");
}

static void
line_breaks_inside_a_record(void **state)
{
    struct fixture *f = *state;
    struct err err;
    open_journal(f);
    assert_true(journal_append(f->j, STR("{\"type\":\r\n\"x\"}"), &err));
    assert_false(journal_append_note(f->j, SESSION, "x", NULL, STR("{\"a\":"), &err));
    assert_false(journal_append_note(f->j, SESSION, "x", NULL, STR("{\"uuid\":\"twice\"}"), &err));
    assert_true(journal_append_note(f->j, SESSION, "x", NULL, STR(" {\"a\":\n1} "), &err));
    struct journal_index ix;
    assert_true(journal_index_load(f->path, &ix, &err));
    assert_int_equal(ix.n, 2);
    assert_string_equal(ix.entries[0].type, "x");
    assert_true(str_is(journal_member(&ix, 1, "a"), "1"));
    journal_index_release(&ix);
}

static void
killed_while_writing(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 5; round++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            struct journal *j = journal_open(f->path, NULL);
            for (int i = 0; j; i++) {
                struct message *m = text_message(i % 2 ? ROLE_ASSISTANT : ROLE_USER, "x");
                if (!journal_append_message(j, SESSION, "/work", m, NULL))
                    _exit(1);
                message_free(m);
                if (i == 20 && write(ready[1], "r", 1) != 1)
                    _exit(1);
            }
            _exit(1);
        }
        char c;
        assert_int_equal(read(ready[0], &c, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ready[0]);
        close(ready[1]);
        int64_t torn;
        size_t n = whole_records(f->path, &torn);
        assert_true(n >= 21);
        open_journal(f); /* the lock went with the process */
        append(f, ROLE_USER, "resumed", NULL);
        assert_int_equal(whole_records(f->path, &torn), n + 1);
        journal_close(f->j);
        f->j = NULL;
    }
}

static void
large_files_open_fast(void **state)
{
    struct fixture *f = *state;
    struct buf all;
    buf_init(&all, BUF_MAX);
    char *text = xmalloc(4001);
    memset(text, 'y', 4000);
    text[4000] = '\0';
    for (int i = 0; all.len < 21u << 20; i++)
        buf_addf(&all,
                 "{\"parentUuid\":%s,\"cwd\":\"/"
                 "work\",\"type\":\"%s\",\"message\":{\"role\":\"%s\",\"content\":["
                 "{\"type\":\"text\",\"text\":\"%s "
                 "\\\"%d\\\"\"}]},\"uuid\":\"%08d-0000-4000-8000-000000000000\"}\n",
                 "\"x\"", i % 2 ? "assistant" : "user", i % 2 ? "assistant" : "user", text, i, i);
    free(text);
    write_raw(f, buf_cstr(&all));
    buf_release(&all);
    struct journal_index ix;
    size_t n;
    int64_t before = clock_mono_us();
    assert_true(journal_index_load(f->path, &ix, NULL));
    int64_t loaded = clock_mono_us();
    struct message **list = journal_messages(&ix, &n, NULL);
    print_message("21 MB: index %lld us, %zu messages %lld us\n", (long long)(loaded - before), n,
                  (long long)(clock_mono_us() - loaded));
    assert_int_equal(n, ix.n);
    /* Target 80 ms; a sanitizer and a busy machine get room. */
    assert_true(loaded - before < 1000000);
    for (size_t i = 0; i < n; i++)
        message_free(list[i]);
    free(list);
    journal_index_release(&ix);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_written_is_read),
        CASE(reopening_goes_on_where_it_was),
        CASE(a_second_writer_is_refused),
        CASE(a_rewind_is_a_branch),
        CASE(a_compaction_begins_anew),
        CASE(cut_anywhere),
        CASE(foreign_records_are_kept_and_skipped),
        CASE(a_ring_of_parents_ends),
        CASE(any_bytes_are_safe),
        CASE(empty_and_missing_files),
        CASE(a_failed_write_is_undone),
        CASE(line_breaks_inside_a_record),
        CASE(killed_while_writing),
        CASE(large_files_open_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
