/* The journal: what was written is read, whatever bytes stand in the file and wherever it was cut. */
#include "unit/journal_bench.h"

static void
what_was_written_is_read(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    struct err err;
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
    m->wall_ms = 1700000000123; /* its own time, as in a fork: not that of the record */
    assert_true(journal_append_message(f->j, SESSION, "/work", m, &err));
    assert_true(journal_append_note(f->j, SESSION, "mode", NULL, STR("{\"mode\":\"plan\"}"), &err));
    assert_true(journal_append_note(f->j, SESSION, "usage", "turn", (struct str){0}, &err));
    assert_true(journal_sync(f->j, &err));

    struct buf notes;
    buf_init(&notes, 4096);
    struct conversation *t = conversation_open(f->path, note_types, &notes, &err);
    assert_non_null(t);
    assert_string_equal(buf_cstr(&notes), "session mode usage ");
    buf_release(&notes);
    assert_int_equal(conversation_torn(t), 0);
    assert_int_equal(conversation_len(t), 2);
    assert_true(conversation_is_user(t, 0));
    assert_false(conversation_is_user(t, 1));
    struct message *first = conversation_message(t, 0), *got = conversation_message(t, 1);
    assert_null(conversation_message(t, 2));
    assert_true(str_eq(got->json, m->json)); /* byte for byte */
    assert_string_equal(got->uuid, m->uuid);
    assert_string_equal(got->model, "claude-x");
    assert_string_equal(got->api_id, "msg_1");
    assert_true(got->hidden && got->partial);
    assert_false(first->hidden || first->partial);
    assert_int_equal(got->wall_ms, 1700000000123);
    assert_true(first->wall_ms > got->wall_ms);
    message_free(first);
    message_free(got);
    message_free(m);
    conversation_free(t);

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
    assert_non_null(strstr(err.text, "--fork-session"));
}

static size_t
whole_records(const char *path, int64_t *ret_torn)
{
    struct records l;
    struct str line;
    int64_t offset, end = -1;
    size_t n = 0;
    assert_true(records_open(&l, path, NULL));
    *ret_torn = l.torn_at;
    while (records_next(&l, &line, &offset)) {
        assert_true(offset > end);
        end = offset + (int64_t)line.len;
        n++;
    }
    assert_true(records_close(&l, path, NULL));
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
    int64_t torn;
    assert_int_equal(whole_records(f->path, &torn), 10);
    struct conversation *t = conversation_open(f->path, NULL, NULL, NULL);
    assert_non_null(t);
    assert_int_equal(conversation_len(t), 4); /* the robot's keeps its place */
    struct message *hi = conversation_message(t, 0), *joined = conversation_message(t, 1);
    assert_int_equal(hi->wall_ms, 1767323045678);
    assert_string_equal(joined->api_id, "m1");
    assert_true(str_is(joined->json,
                       "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
                       "{\"type\":\"text\",\"text\":\"two\"}]}"));
    assert_null(conversation_message(t, 2));
    message_free(hi);
    message_free(joined);
    conversation_free(t);
    open_journal(f);
    append(f, ROLE_USER, "mine", NULL);
    expect_conversation(f, "hi|onetwo|lost parent|mine");
    char *text = temp_file_read(f->dir, "projects/-work/" SESSION ".jsonl");
    assert_memory_equal(text, lines, sizeof lines - 1);
    free(text);
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
    struct err err;
    assert_null(conversation_open(f->path, NULL, NULL, &err));
    assert_int_equal(err.sys, ENOENT);
    write_raw(f, "");
    expect_conversation(f, "");
    write_raw(f, "\n\n");
    expect_conversation(f, "");
    assert_null(conversation_open(f->dir, NULL, NULL, &err));
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
    int64_t torn;
    assert_int_equal(whole_records(f->path, &torn), 2);
    char *text = temp_file_read(f->dir, "projects/-work/" SESSION ".jsonl");
    assert_non_null(strstr(text, "\"a\": 1"));
    free(text);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_written_is_read),
        CASE(reopening_goes_on_where_it_was),
        CASE(a_second_writer_is_refused),
        CASE(cut_anywhere),
        CASE(foreign_records_are_kept_and_skipped),
        CASE(any_bytes_are_safe),
        CASE(empty_and_missing_files),
        CASE(a_failed_write_is_undone),
        CASE(line_breaks_inside_a_record),
        CASE(killed_while_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
