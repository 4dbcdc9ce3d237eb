/* Sessions as files: fences that hold, bytes that stay, files that are not written over. */
#include "unit/unit.h"

#include "base/json.h"
#include "store/export.h"
#include "store/journal.h"
#include "store/shell_line.h"
#include "unit/session_record.h"
#include "unit/temp_dir.h"

#define SESSION "3f2b1c00-0000-4000-8000-000000000001"

struct fixture {
    char *dir, *path, *out;
    struct journal *j;
    struct conversation *conv;
};

static int
set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->dir = temp_dir_make();
    f->path = fs_join(f->dir, SESSION ".jsonl");
    f->out = fs_join(f->dir, "out");
    f->j = journal_open(f->path, NULL);
    append_session_record(f->j, SESSION, "/work", false);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    journal_close(f->j);
    conversation_free(f->conv);
    temp_dir_remove(f->dir);
    free(f->path);
    free(f->out);
    free(f);
    return 0;
}

static void
put(struct fixture *f, struct message_builder *take_b, bool hidden)
{
    struct message *m = message_build(take_b);
    m->hidden = hidden;
    assert_true(journal_append_message(f->j, SESSION, "/work", m, NULL));
    message_free(m);
}

static void
put_text(struct fixture *f, enum role role, const char *text)
{
    struct message_builder *b = message_builder_new(role);
    message_add_text(b, str_from(text));
    put(f, b, false);
}

static void
put_call(struct fixture *f, const char *result)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_tool_use(b, STR("t1"), STR("Bash"), STR("{\"command\":\"cat x\"}"));
    put(f, b, false);
    b = message_builder_new(ROLE_USER);
    message_add_tool_result(b, STR("t1"), str_from(result), false);
    message_add_text(b, STR("<system-reminder>secret of yare</system-reminder>"));
    put(f, b, false);
}

static char *
export_to(struct fixture *f, enum export_format format)
{
    struct err err = {0};
    const struct export_head head = {.title = "A \033 name", .id = SESSION, .cwd = "/work"};
    conversation_free(f->conv);
    f->conv = conversation_open(f->path, NULL, NULL, &err);
    assert_non_null(f->conv);
    if (!export_file(f->conv, &head, format, f->out, true, &err))
        fail_msg("%s", err.text);
    return temp_file_read(f->dir, "out");
}

/* Headings outside of fences, by CommonMark's rules for fences. */
static size_t
headings_outside(const char *text)
{
    struct str rest = str_from(text), line;
    size_t n = 0, open = 0;
    while (str_split(&rest, '\n', &line)) {
        size_t ticks = 0;
        while (ticks < line.len && line.ptr[ticks] == '`')
            ticks++;
        if (!open && ticks >= 3)
            open = ticks;
        else if (open && ticks >= open && ticks == line.len)
            open = 0;
        else if (!open && line.len && line.ptr[0] == '#')
            n++;
    }
    assert_int_equal(open, 0);
    return n;
}

static void
no_content_ends_its_fence(void **state)
{
    struct fixture *f = *state;
    put_text(f, ROLE_USER, "please\n# not a heading\n```\nopen");
    put_call(f, "a\n```\n````\n## not a heading\n``````\n\033[31m");
    put_text(f, ROLE_ASSISTANT, "see:\n````c\n## not a heading\n```");
    put_text(f, ROLE_USER, "thanks");
    char *md = export_to(f, EXPORT_MARKDOWN);
    /* title, prompt, answer, its call, answer, prompt */
    assert_int_equal(headings_outside(md), 6);
    assert_non_null(strstr(md, "> # not a heading\n"));
    assert_non_null(strstr(md, "\n```````\na\n```\n"));
    assert_null(strchr(md, '\033'));
    assert_null(strstr(md, "secret of yare"));
    free(md);
}

static void
what_yare_put_in_stays_out(void **state)
{
    struct fixture *f = *state;
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, STR("hidden words"));
    put(f, b, true);
    put_text(f, ROLE_USER, "shown words");
    char *md = export_to(f, EXPORT_MARKDOWN);
    assert_null(strstr(md, "hidden words"));
    assert_non_null(strstr(md, "> shown words"));
    assert_non_null(strstr(md, SESSION));
    free(md);
}

static void
json_is_what_is_sent(void **state)
{
    struct fixture *f = *state;
    put_text(f, ROLE_USER, "one \xC3\xA4");
    put_call(f, "out");
    char *json = export_to(f, EXPORT_JSON);
    struct cJSON *tree = json_parse(str_from(json), NULL);
    assert_int_equal(json_len(tree), 3);
    for (size_t i = 0; i < 3; i++) {
        struct message *m = conversation_message(f->conv, i);
        char *sent = str_dup(m->json);
        assert_non_null(strstr(json, sent));
        free(sent);
        message_free(m);
    }
    json_free(tree);
    free(json);
    char *lines = export_to(f, EXPORT_JSONL), *all = temp_file_read(f->dir, SESSION ".jsonl");
    assert_non_null(strstr(all, lines)); /* the records as they stand, behind the session's own */
    assert_true(str_starts(str_from(lines), "{\"type\":\"user\""));
    free(all);
    free(lines);
}

static void
nothing_is_written_over(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct stat st;
    const struct export_head head = {0};
    put_text(f, ROLE_USER, "one");
    free(export_to(f, EXPORT_MARKDOWN));
    assert_int_equal(stat(f->out, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    temp_file_write(f->dir, "out", "mine");
    assert_false(export_file(f->conv, &head, EXPORT_JSON, f->out, false, &err));
    assert_non_null(strstr(err.text, "--force"));
    char *text = temp_file_read(f->dir, "out");
    assert_string_equal(text, "mine");
    free(text);
    for (int force = 0; force < 2; force++) {
        assert_false(export_file(f->conv, &head, EXPORT_JSON, "/no/such/folder/x", force, &err));
        assert_non_null(strstr(err.text, "folder that is not there: make it")); /* what to do */
    }
}

/* Not even by force: a pipe or a device stays what it is, and a link goes on leading to its file. */
static void
only_a_file_becomes_another(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct stat st;
    const struct export_head head = {0};
    put_text(f, ROLE_USER, "one");
    free(export_to(f, EXPORT_MARKDOWN));
    char *pipe = fs_join(f->dir, "pipe"), *link = fs_join(f->dir, "link");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_false(export_file(f->conv, &head, EXPORT_JSON, pipe, true, &err));
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(lstat(pipe, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    temp_file_write(f->dir, "target", "mine");
    assert_int_equal(symlink("target", link), 0);
    assert_true(export_file(f->conv, &head, EXPORT_JSON, link, true, &err));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    char *text = temp_file_read(f->dir, "target");
    assert_non_null(strstr(text, "one"));
    free(text);
    free(pipe);
    free(link);
}

/* A full disk leaves what was there, and no half of a file. */
static void
a_full_disk_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    put_text(f, ROLE_USER, "one");
    f->conv = conversation_open(f->path, NULL, NULL, NULL);
    FILE *full = fopen("/dev/full", "w");
    const struct export_head head = {0};
    assert_non_null(full);
    assert_false(export_write(f->conv, &head, EXPORT_MARKDOWN, full));
    fclose(full);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static void
a_command_of_the_person_is_shown_as_one(void **state)
{
    (void)state;
    struct str c, o;
    struct buf b;
    buf_init(&b, 4096);
    shell_line_write(&b, STR("echo shell"), STR("shell"));
    assert_true(shell_line_read(buf_str(&b), &c, &o));
    assert_true(str_is(c, "echo shell") && str_is(o, "shell"));
    buf_clear(&b);
    shell_line_write(&b, STR("true"), STR(""));
    assert_true(shell_line_read(buf_str(&b), &c, &o));
    assert_true(str_is(c, "true") && !o.len);
    assert_false(shell_line_read(STR("<bash-input>ls"), &c, &o));
    assert_false(shell_line_read(STR("<bash-input>\n</bash-output>"), &c, &o));
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_of_the_person_is_shown_as_one),
        CASE(no_content_ends_its_fence),
        CASE(what_yare_put_in_stays_out),
        CASE(json_is_what_is_sent),
        CASE(nothing_is_written_over),
        CASE(only_a_file_becomes_another),
        CASE(a_full_disk_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
