#include "unit/tool_bench.h"

static void
unescape(const char *s, struct buf *out)
{
    buf_init(out, BUF_MAX);
    for (; *s; s++) {
        if (*s != '\\') {
            buf_addc(out, *s);
            continue;
        }
        s++;
        if (*s == 'x') {
            char hex[3] = {s[1], s[2], '\0'};
            buf_addc(out, (char)strtol(hex, NULL, 16));
            s += 2;
        } else {
            buf_addc(out, *s == 'n' ? '\n' : *s == 'r' ? '\r' : *s == 't' ? '\t' : *s);
        }
    }
}

static void
edit_input(struct buf *json, const char *path, struct str old, struct str new_text)
{
    struct jw w;

    buf_init(json, BUF_MAX);
    jw_init(&w, json);
    jw_object(&w);
    jw_kcstr(&w, "file_path", path);
    jw_kstr(&w, "old_string", old);
    jw_kstr(&w, "new_string", new_text);
    jw_end(&w);
}

static void
check_case(const struct text_case *c)
{
    struct bench b;
    struct buf file, old, new_text, want, json;
    const char *expect = c->line[3];
    bool tolerant = *expect == '*';

    bench_init(&b);
    unescape(c->line[0], &file);
    unescape(c->line[1], &old);
    unescape(c->line[2], &new_text);
    unescape(expect + tolerant, &want);
    bench_put(&b, "f", buf_str(&file));
    bench_run(&b, "Read", "{'file_path':'f'}");
    assert_false(b.r.is_error);
    edit_input(&json, "f", buf_str(&old), buf_str(&new_text));
    const char *text = bench_run_raw(&b, "Edit", buf_str(&json));
    struct buf got = bench_get(&b, "f");
    if (*expect == '!') {
        if (!b.r.is_error || !strstr(text, expect + 1) || !str_eq(buf_str(&got), buf_str(&file)))
            fail_msg("line %d: wanted '%s', got: %s", c->number, expect, text);
    } else if (b.r.is_error || !str_eq(buf_str(&got), buf_str(&want))) {
        fail_msg("line %d: wrong bytes '%s'; %s", c->number, buf_cstr(&got), text);
    } else if (tolerant != (strstr(text, "did not match exactly") != NULL)) {
        fail_msg("line %d: tolerance said wrongly: %s", c->number, text);
    }
    buf_release(&got);
    buf_release(&json);
    buf_release(&file);
    buf_release(&old);
    buf_release(&new_text);
    buf_release(&want);
    bench_release(&b);
}

static void
test_cases(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/edit_match.txt", 4, check_case) >= 25);
}

static void
test_unread_and_stale(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "f", STR("one\ntwo\n"));
    assert_has(bench_run(&b, "Edit", "{'file_path':'f','old_string':'one','new_string':'1'}"),
               "not been read");
    assert_true(b.r.is_error);
    bench_run(&b, "Read", "{'file_path':'f'}");
    bench_put(&b, "f", STR("one\nTWO\n"));
    assert_has(bench_run(&b, "Edit", "{'file_path':'f','old_string':'one','new_string':'1'}"),
               "modified since it was read");
    assert_has(buf_cstr(&b.r.text), "-two\n+TWO");
    assert_has(bench_run(&b, "Write", "{'file_path':'f','content':'x'}"), "modified since");
    struct buf got = bench_get(&b, "f");
    assert_string_equal(buf_cstr(&got), "one\nTWO\n");
    buf_release(&got);
    /* written again with the same bytes: a touch is no change */
    bench_run(&b, "Read", "{'file_path':'f'}");
    bench_put(&b, "f", STR("one\nTWO\n"));
    bench_run(&b, "Edit", "{'file_path':'f','old_string':'one','new_string':'1'}");
    assert_false(b.r.is_error);
    /* an edit of one's own counts as seen */
    bench_run(&b, "Edit", "{'file_path':'f','old_string':'1','new_string':'eins'}");
    assert_false(b.r.is_error);
    assert_string_equal(b.r.summary, "+1 -1");
    assert_has(buf_cstr(&b.r.text), "     1\teins\n     2\tTWO");
    assert_has(buf_cstr(&b.r.display), "@@ -1,2 +1,2 @@\n-1\n+eins\n TWO\n");
    bench_release(&b);
}

static void
test_replace_all(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "f", STR("a b a\r\na\n"));
    bench_run(&b, "Read", "{'file_path':'f'}");
    bench_run(&b, "Edit",
              "{'file_path':'f','old_string':'a','new_string':'xy','replace_all':'true'}");
    assert_false(b.r.is_error);
    struct buf got = bench_get(&b, "f");
    assert_string_equal(buf_cstr(&got), "xy b xy\r\nxy\n");
    assert_has(buf_cstr(&b.r.text), "All 3 occurrences");
    buf_release(&got);
    bench_release(&b);
}

static void
test_create_and_empty(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    assert_has(
        bench_run(&b, "Edit", "{'file_path':'new/deep/f','old_string':'','new_string':'hi\\n'}"),
        "created successfully");
    struct buf got = bench_get(&b, "new/deep/f");
    assert_string_equal(buf_cstr(&got), "hi\n");
    buf_release(&got);
    assert_has(bench_run(&b, "Edit", "{'file_path':'new/deep/f','old_string':'','new_string':'x'}"),
               "not empty");
    assert_has(bench_run(&b, "Edit", "{'file_path':'none','old_string':'a','new_string':'x'}"),
               "does not exist");
    bench_release(&b);
}

static void
test_same_strings(void **state)
{
    (void)state;
    struct err err;
    struct cJSON *input =
        json_parse(STR("{\"file_path\":\"f\",\"old_string\":\"a\",\"new_string\":\"a\"}"), &err);

    assert_false(tool_validate(tool_find(STR("Edit")), input, &err));
    assert_has(err.text, "the same");
    json_free(input);
}

static void
test_mode_and_symlink(void **state)
{
    (void)state;
    struct bench b;
    struct stat st;

    bench_init(&b);
    bench_put(&b, "real", STR("a\n"));
    char *real = bench_path(&b, "real"), *link = bench_path(&b, "link");
    assert_int_equal(chmod(real, 0751), 0);
    assert_int_equal(symlink("real", link), 0);
    bench_run(&b, "Read", "{'file_path':'link'}");
    bench_run(&b, "Edit", "{'file_path':'link','old_string':'a','new_string':'b'}");
    assert_false(b.r.is_error);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(real, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0751);
    struct buf got = bench_get(&b, "real");
    assert_string_equal(buf_cstr(&got), "b\n");
    buf_release(&got);
    free(real);
    free(link);
    bench_release(&b);
}

static void
test_write(void **state)
{
    (void)state;
    struct bench b;
    struct stat st;

    bench_init(&b);
    assert_has(bench_run(&b, "Write", "{'file_path':'d/f.txt','content':'a\\nb\\n'}"),
               "created successfully");
    assert_string_equal(b.r.summary, "+2 -0");
    char *path = bench_path(&b, "d/f.txt");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0600, 0600);
    free(path);
    /* one's own file needs no read */
    assert_has(bench_run(&b, "Write", "{'file_path':'d/f.txt','content':'a\\nc\\n'}"),
               "has been updated");
    assert_string_equal(b.r.summary, "+1 -1");
    bench_put(&b, "crlf",
              STR("\xEF\xBB\xBF"
                  "a\r\nb\r\n"));
    assert_has(bench_run(&b, "Write", "{'file_path':'crlf','content':'x\\n'}"), "not been read");
    bench_run(&b, "Read", "{'file_path':'crlf'}");
    bench_run(&b, "Write", "{'file_path':'crlf','content':'x\\ny\\n'}");
    struct buf got = bench_get(&b, "crlf");
    assert_string_equal(buf_cstr(&got), "\xEF\xBB\xBF"
                                        "x\r\ny\r\n");
    buf_release(&got);
    assert_has(bench_run(&b, "Write", "{'file_path':'d','content':'x'}"), "is a folder");
    bench_release(&b);
}

static void
test_preview(void **state)
{
    (void)state;
    struct bench b;
    struct buf out;
    struct err err;
    const struct tool *edit = tool_find(STR("Edit"));

    bench_init(&b);
    buf_init(&out, BUF_MAX);
    bench_put(&b, "f", STR("a\nb\n"));
    bench_run(&b, "Read", "{'file_path':'f'}");
    struct cJSON *input =
        json_parse(STR("{\"file_path\":\"f\",\"old_string\":\"b\",\"new_string\":\"c\"}"), &err);
    edit->preview(&b.ctx, input, &out);
    assert_string_equal(buf_cstr(&out), "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    json_free(input);
    struct buf got = bench_get(&b, "f");
    assert_string_equal(buf_cstr(&got), "a\nb\n");
    buf_release(&got);
    buf_release(&out);
    bench_release(&b);
}

/* Only what the session knows and may know: not that there is a file outside the project. */
static void
test_precheck(void **state)
{
    (void)state;
    struct bench b;
    static const struct {
        const char *path;
        bool read, ok;
    } rows[] = {{"f", false, false},
                {"f", true, true},
                {"missing", false, true},
                {"/etc/hostname", false, true}};

    bench_init(&b);
    bench_put(&b, "f", STR("a\n"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf why;
        struct err err;
        buf_init(&why, BUF_MAX);
        if (rows[i].read)
            bench_run(&b, "Read", "{'file_path':'f'}");
        char *text = xasprintf("{\"file_path\":\"%s\",\"content\":\"x\"}", rows[i].path);
        struct cJSON *input = json_parse(str_from(text), &err);
        assert_int_equal(tool_find(STR("Write"))->precheck(&b.ctx, input, &why), rows[i].ok);
        assert_int_equal(why.len == 0, rows[i].ok);
        json_free(input);
        free(text);
        buf_release(&why);
    }
    bench_release(&b);
}

/* An edit that cannot apply is known to fail before anybody is asked. */
static void
test_precheck_of_an_edit(void **state)
{
    (void)state;
    struct bench b;
    static const struct {
        const char *old;
        bool ok;
    } rows[] = {{"return 2;", true}, {"return 1;", false}, {"twice", false}};

    bench_init(&b);
    bench_put(&b, "f", STR("return 2;\ntwice twice\n"));
    bench_run(&b, "Read", "{'file_path':'f'}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf why;
        struct err err;
        buf_init(&why, BUF_MAX);
        char *text = xasprintf("{\"file_path\":\"f\",\"old_string\":\"%s\",\"new_string\":\"x\"}",
                               rows[i].old);
        struct cJSON *input = json_parse(str_from(text), &err);
        assert_int_equal(tool_find(STR("Edit"))->precheck(&b.ctx, input, &why), rows[i].ok);
        assert_int_equal(why.len == 0, rows[i].ok);
        json_free(input);
        free(text);
        buf_release(&why);
    }
    bench_release(&b);
}

/* Every byte outside the hunk stays, whatever bytes they are. */
static void
test_random_bytes_stay(void **state)
{
    (void)state;
    uint32_t seed = 12345;

    for (int round = 0; round < 60; round++) {
        struct bench b;
        struct buf file, want;
        bench_init(&b);
        buf_init(&file, BUF_MAX);
        buf_init(&want, BUF_MAX);
        for (int i = 0; i < 300; i++) {
            seed = seed * 1664525u + 1013904223u;
            char c = (char)((seed >> 16 & 0xFF) | 1);
            buf_addc(&file, c);
            if (i == 150)
                buf_adds(&file, "\nTHE NEEDLE\r\n");
        }
        if ((unsigned char)file.data[0] >= 0xFE)
            file.data[0] = 'x';
        const char *at = strstr(file.data, "THE NEEDLE");
        buf_add(&want, file.data, (size_t)(at - file.data));
        buf_adds(&want, "CHANGED");
        buf_adds(&want, at + 10);
        bench_put(&b, "f", buf_str(&file));
        bench_run(&b, "Read", "{'file_path':'f'}");
        assert_false(b.r.is_error);
        bench_run(&b, "Edit", "{'file_path':'f','old_string':'THE NEEDLE','new_string':'CHANGED'}");
        struct buf got = bench_get(&b, "f");
        assert_true(str_eq(buf_str(&got), buf_str(&want)));
        buf_release(&got);
        buf_release(&file);
        buf_release(&want);
        bench_release(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_unread_and_stale),
        cmocka_unit_test(test_replace_all),
        cmocka_unit_test(test_create_and_empty),
        cmocka_unit_test(test_same_strings),
        cmocka_unit_test(test_mode_and_symlink),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_preview),
        cmocka_unit_test(test_precheck),
        cmocka_unit_test(test_precheck_of_an_edit),
        cmocka_unit_test(test_random_bytes_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
