/* The conversation that a journal holds: branches, compactions, the index of a live one, large files, search. */
#include "unit/journal_bench.h"

static void
expect_hits(struct conversation *t, const char *what, size_t max, const char *want, bool all)
{
    size_t n;
    bool got_all;
    struct buf got;
    buf_init(&got, 65536);
    struct conversation_hit *hits = conversation_search(t, str_from(what), max, &n, &got_all);
    for (size_t i = 0; i < n; i++)
        buf_addf(&got, "%zu:%s;", hits[i].index, hits[i].excerpt);
    conversation_hits_free(hits, n);
    assert_string_equal(buf_cstr(&got), want);
    assert_int_equal(got_all, all);
    buf_release(&got);
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

/* Zeroed blocks of a disk, a line without its beginning, and what is no record at all: counted, and no way to lose the others. */
static void
lines_that_are_no_records_are_counted(void **state)
{
    struct fixture *f = *state;
    struct err err;
    write_raw(f, "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"message\":{\"role\":"
                 "\"user\",\"content\":\"1\"}}\n"
                 "\"uuid\":\"x\",\"parentUuid\":\"a\"}\n"
                 "{\"ty\n"
                 "[1,2]\n"
                 "{\"type\":\"later-versions\"}\n"
                 "{\"type\":\"assistant\",\"\xff\xfe\x01id\":\"c\",\"parentUuid\":\"a\"}\n"
                 "{\"type\":\"user\",\"isSidechain\":true,\"message\":{}}\n"
                 "{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":\"x\",\"message\":{\"role\":"
                 "\"user\",\"content\":\"2\"}}\n");
    expect_conversation(f, "1|2");
    struct conversation *t = conversation_open(f->path, NULL, NULL, &err);
    assert_int_equal(conversation_unread(t), 4);
    conversation_free(t);
}

static void
large_files_open(void **state)
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
    int64_t before = clock_mono_us();
    struct conversation *t = conversation_open(f->path, NULL, NULL, NULL);
    int64_t opened = clock_mono_us();
    size_t n = conversation_len(t);
    for (size_t i = 0; i < n; i++)
        message_free(conversation_message(t, i));
    print_message("21 MB: opened in %lld us, %zu messages read in %lld us\n",
                  (long long)(opened - before), n, (long long)(clock_mono_us() - opened));
    assert_true(n > 5000);
    conversation_free(t);
}

/* What a compaction left behind is there for people, also when it comes twice. */
static void
a_compaction_keeps_the_transcript(void **state)
{
    struct fixture *f = *state;
    struct err err;
    open_journal(f);
    append(f, ROLE_USER, "old", NULL);
    append(f, ROLE_ASSISTANT, "older", NULL);
    assert_true(journal_compacted(f->j, SESSION, STR("{\"trigger\":\"manual\"}"), &err));
    /* a boundary alone is a compaction that did not come about: the process died between the two */
    struct conversation *t = conversation_open(f->path, NULL, NULL, &err);
    assert_int_equal(conversation_live(t), 0);
    assert_int_equal(conversation_len(t), 2);
    conversation_free(t);
    append(f, ROLE_USER, "summary", NULL);
    append(f, ROLE_ASSISTANT, "on", NULL);
    expect_conversation(f, "old|older|summary|on");
    assert_true(journal_compacted(f->j, SESSION, STR("{}"), &err));
    append(f, ROLE_USER, "again", NULL);
    expect_conversation(f, "old|older|summary|on|again");
    t = conversation_open(f->path, NULL, NULL, &err);
    assert_int_equal(conversation_live(t), 4);
    conversation_free(t);
}

/* The writer tells the index of each message: what it then says is what opening the file anew says. */
static void
a_live_index_is_the_files(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char uuids[6][37];
    open_journal(f);
    append_session_record(f->j, SESSION, "/work", false);
    struct conversation *t = conversation_open(f->path, NULL, NULL, &err);
    assert_int_equal(conversation_len(t), 0);
    for (int i = 0; i < 6; i++) {
        struct message *m = text_message(i % 2 ? ROLE_ASSISTANT : ROLE_USER, "abcdef" + i);
        int64_t offset;
        size_t len;
        assert_true(journal_append_message(f->j, SESSION, "/work", m, &err));
        journal_last(f->j, &offset, &len);
        conversation_add(t, m, offset, len);
        memcpy(uuids[i], m->uuid, 37);
        message_free(m);
    }
    for (size_t i = 0; i < 6; i++) {
        struct message *m = conversation_message(t, i);
        assert_non_null(m);
        assert_string_equal(m->uuid, uuids[i]);
        message_free(m);
    }
    assert_false(conversation_rewind(t, "00000000-0000-4000-8000-000000000000"));
    assert_int_equal(conversation_len(t), 6);
    assert_true(conversation_rewind(t, uuids[2]));
    assert_int_equal(conversation_len(t), 3);
    assert_true(conversation_rewind(t, ""));
    assert_int_equal(conversation_len(t), 0);
    conversation_free(t);
}

static void
found_without_case(void **state)
{
    struct fixture *f = *state;
    open_journal(f);
    append(f, ROLE_USER, "the Needle here", NULL);
    append(f, ROLE_ASSISTANT, "say \"two\nlines\" of it", NULL);
    append(f, ROLE_USER, "\xC3\x84rger und NEEDLE", NULL);
    struct conversation *t = conversation_open(f->path, NULL, NULL, NULL);
    expect_hits(t, "needle", 10, "0:the Needle here;2:\xC3\x84rger und NEEDLE;", true);
    expect_hits(t, "needle", 1, "2:\xC3\x84rger und NEEDLE;", false);
    expect_hits(t, "\"TWO\nlines\"", 10, "1:say \"two lines\" of it;", true);
    expect_hits(t, "\xC3\xA4RGER", 10, "2:\xC3\x84rger und NEEDLE;", true);
    /* what only the envelope holds is no text of the conversation */
    expect_hits(t, SESSION, 10, "", true);
    expect_hits(t, "", 10, "", true);
    expect_hits(NULL, "x", 10, "", true);
    conversation_free(t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_rewind_is_a_branch),      CASE(a_compaction_begins_anew),
        CASE(a_ring_of_parents_ends),    CASE(lines_that_are_no_records_are_counted),
        CASE(large_files_open),          CASE(a_compaction_keeps_the_transcript),
        CASE(a_live_index_is_the_files), CASE(found_without_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
