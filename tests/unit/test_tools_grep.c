/* Grep by every way it can find a line: all must agree with matching each line by itself; encodings, limits, options. */
#include "unit/tool_bench.h"

#include "tools/grep_find.h"
#include "tools/grep_pattern.h"

/* ---- the finder ---- */

static unsigned
next_random(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    return *seed >> 16 & 0x7fff;
}

static size_t
slow_find(const struct literals *l, struct str s, size_t from, bool fold)
{
    for (size_t i = from; i < s.len; i++)
        for (size_t k = 0; k < l->n; k++) {
            struct str lit = buf_str(&l->text[k]), at = str_sub(s, i, lit.len);
            size_t same = 0;
            while (at.len == lit.len && same < lit.len &&
                   (at.ptr[same] == lit.ptr[same] ||
                    (fold && (at.ptr[same] | 0x20) == lit.ptr[same] && lit.ptr[same] >= 'a')))
                same++;
            if (same == lit.len)
                return i;
        }
    return (size_t)-1;
}

static void
test_finder_agrees_with_a_slow_search(void **state)
{
    (void)state;
    static const char *const patterns[] = {"ab",
                                           "abc",
                                           "aabb",
                                           "ab|ca|bb",
                                           "b.?aab",
                                           "c`",
                                           "`ab@",
                                           "ca`ba@b|a@a|`aac",
                                           "cba|`@|abcabcabcabcabcabc"};
    unsigned seed = 1;

    for (int round = 0; round < 4000; round++) {
        char text[200];
        bool fold = round & 1;
        size_t n = next_random(&seed) % sizeof text, from = n ? next_random(&seed) % n : 0;
        for (size_t i = 0; i < n; i++)
            text[i] = "abcABC`@\n"[next_random(&seed) % 9];
        struct literals l;
        struct grep_finder f;
        grep_required_literals(str_from(patterns[(size_t)round / 2 % ARRAY_LEN(patterns)]), fold,
                               &l);
        assert_true(l.n > 0);
        grep_finder_init(&f, &l, fold);
        char *exact =
            n ? memcpy(malloc(n), text, n) : NULL; /* so that reading past its end is seen */
        struct str s = str_make(exact, n);
        size_t want = slow_find(&l, s, from, fold), got = grep_find(&f, s, from);
        if (l.n == 1)
            assert_int_equal(got, want);
        else
            assert_int_equal(got == (size_t)-1, want == (size_t)-1);
        free(exact);
        grep_literals_release(&l);
    }
}

/* ---- all ways agree ---- */

static size_t
count_by_line(const char *pattern, bool fold, struct str text)
{
    struct err err;
    struct grep_pattern *p = grep_pattern_new(str_from(pattern), fold, false, &err);
    struct grep_matcher *m = grep_matcher_new(p);
    struct str line;
    size_t n = 0, a, b;

    text.len--; /* its last newline */
    while (str_split(&text, '\n', &line))
        n += grep_match(m, line, 0, false, &a, &b) == GREP_FOUND;
    grep_matcher_free(m);
    grep_pattern_free(p);
    return n;
}

static void
make_text(struct buf *out, unsigned seed)
{
    static const char *const words[] = {"foo", "bar", "Foo_bar", "int", "  ",  "xqz", "",
                                        "ſo",  "K",   "größe",   "(",   "key", "SO",  "fo"};

    for (int i = 0; i < 3000; i++) {
        for (unsigned k = next_random(&seed) % 5; k; k--)
            buf_adds(out, words[next_random(&seed) % ARRAY_LEN(words)]);
        buf_addc(out, '\n');
    }
}

static void
test_all_ways_agree(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "foo",        "fo+",        "foo|bar|xqz", "(foo|xqz)int", "^foo",
        "bar$",       "^$",         "[a-z]+_bar",  "so",           "k",
        "key",        "gr.ße",      "größe",       "\\(",          "f.*r",
        "(?<!f)oo",   "(o)\\1",     "\\bfoo\\b",   "x?q",          "(?:ab)*",
        "in{1,2}t",   "foo\\s*bar", "[^a-z]int",   "x|",           "nowhere",
        "foo(?=bar)", "\\w+int",    "o\\z",        "(?i)FOO",      "fo|fo+o",
        "a++r",       "\\Aint",
    };
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    make_text(&text, 7);
    bench_put(&b, "f", buf_str(&text));
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        for (int fold = 0; fold < 2; fold++) {
            struct buf json;
            buf_init(&json, BUF_MAX);
            buf_adds(&json, "{\"path\":\"f\",\"output_mode\":\"count\",\"pattern\":");
            json_quote(&json, str_from(patterns[i]));
            buf_addf(&json, ",\"-i\":%s}", fold ? "true" : "false");
            const char *got = bench_run_raw(&b, "Grep", buf_str(&json));
            size_t want = count_by_line(patterns[i], fold, buf_str(&text));
            char line[40] = "No matches found";
            if (want)
                snprintf(line, sizeof line, "f:%zu\n", want);
            if (strncmp(got, line, strlen(line)) != 0)
                fail_msg("'%s'%s: %s, not %s", patterns[i], fold ? " -i" : "", got, line);
            buf_release(&json);
        }
    buf_release(&text);
    bench_release(&b);
}

/* ---- encodings ---- */

#define CONTENT(p, f) "{'pattern':'" p "','path':'" f "','output_mode':'content'}"

static void
test_text_is_found_in_any_encoding(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "latin", STR("one\ncaf\xe9 d'\xe9t\xe9\nna\xefve\n"));
    bench_put(&b, "stray", STR("é ü ö ä needle \xff\n"));
    bench_put(&b, "le", str_make("\xff\xfeh\0\xe9\0\n\0x\0\n\0", 12));
    bench_put(&b, "be", str_make("\xfe\xff\0h\0\xe9\0\n", 8));
    bench_put(&b, "late", str_make("text\n\0needle\n", 13));
    assert_string_equal(bench_run(&b, "Grep", CONTENT("café", "latin")), "2:café d'été");
    assert_string_equal(bench_run(&b, "Grep", CONTENT("na\\\\wve", "latin")), "3:naïve");
    assert_string_equal(bench_run(&b, "Grep", CONTENT("needle", "stray")),
                        "1:é ü ö ä needle \xef\xbf\xbd");
    assert_string_equal(bench_run(&b, "Grep", CONTENT("hé", "le")), "1:hé");
    assert_string_equal(bench_run(&b, "Grep", CONTENT("^h", "be")), "1:hé");
    assert_string_equal(bench_run(&b, "Grep", CONTENT("needle", "late")), "No matches found");
    bench_release(&b);
}

/* ---- options ---- */

static void
test_globs_and_types(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "a.c", STR("x1\n"));
    bench_put(&b, "b.h", STR("x1\n"));
    bench_put(&b, "s/c.ts", STR("x1\n"));
    bench_put(&b, "s/d,e.md", STR("x1\n"));
    bench_put(&b, "s/Makefile", STR("x1\n"));
#define COUNT(more) bench_run(&b, "Grep", "{'pattern':'x1','output_mode':'count'," more "}")
    assert_has(COUNT("'glob':'*.c,*.h'"), "Found 2 total occurrences across 2 files.");
    assert_has(COUNT("'glob':'*.c *.md'"), "across 2 files.");
    assert_has(COUNT("'glob':'*.{c,h},*.ts'"), "across 3 files.");
    assert_has(COUNT("'glob':'d\\\\,e.md'"), "s/d,e.md:1\n");
    assert_has(COUNT("'glob':'s/**'"), "across 3 files.");
    assert_has(COUNT("'glob':'s/**,!*.ts'"), "across 2 files.");
    assert_has(COUNT("'glob':'*.ts','type':'ts'"), "across 1 file.");
    assert_has(COUNT("'type':'make'"), "s/Makefile:1\n");
    bench_release(&b);
}

/* Grep searches what Glob lists, but for links, binary and empty files; odd names come out as valid text. */
static void
test_same_files_as_glob(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, ".git/HEAD", STR("x1\n"));
    bench_put(&b, ".git/info/exclude", STR("out\n"));
    bench_put(&b, ".gitignore", STR("x1\n*.o\n"));
    bench_put(&b, ".hidden/f", STR("x1\n"));
    bench_put(&b, "a.o", STR("x1\n"));
    bench_put(&b, "out", STR("x1\n"));
    bench_put(&b, "bad\xff", STR("x1\n"));
    bench_put(&b, "sub/.git/HEAD", STR("x1\n"));
    bench_put(&b, "sub/b.o", STR("x1\n"));
    char *link = bench_path(&b, "link");
    assert_int_equal(symlink("sub/b.o", link), 0);
    free(link);
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'x1','output_mode':'content'}"),
                        ".gitignore:1:x1\n.hidden/f:1:x1\nbad\xef\xbf\xbd:1:x1\nsub/b.o:1:x1");
    assert_has(bench_run(&b, "Glob", "{'pattern':'**/*'}"), "sub/b.o");
    assert_string_equal(b.r.summary, "5 files");
    setenv("CLAUDE_CODE_GLOB_NO_IGNORE", "true", 1);
    bench_run(&b, "Glob", "{'pattern':'**/*'}");
    assert_string_equal(b.r.summary, "7 files");
    unsetenv("CLAUDE_CODE_GLOB_NO_IGNORE");
    b.ctx.home = b.root;
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'~/sub/*'}"), "sub/b.o");
    bench_release(&b);
}

static void
test_offset_beyond_and_group_marks(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "f", STR("--\nX\n--\ny\n"));
    bench_put(&b, "g", STR("X\n"));
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'^--$','path':'f','output_mode':'content','-n':false}"),
        "--\n--");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'X','output_mode':'content','-A':1}"),
                        "f:2:X\nf-3---\n--\ng:1:X");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'X','output_mode':'content','offset':9}"),
                        "No lines at this offset");
    assert_has(bench_run(&b, "Grep", "{'pattern':'X','output_mode':'count','head_limit':1}"),
               "f:1\n\n[Showing 1 lines from offset 0; more follow. Go on with offset 1.]\n\nFound "
               "2 total");
    bench_release(&b);
}

/* A large answer is cut, and says so; a large file is searched to its end, with right line numbers. */
static void
test_a_large_answer_is_cut_and_says_so(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    while (text.len < 20 << 20)
        buf_adds(&text, "an ordinary line of text that is here many times, é and all\n");
    size_t lines = text.len / 61;
    buf_adds(&text, "the needle is last\n");
    bench_put(&b, "big", buf_str(&text));
    buf_release(&text);
    char want[64];
    snprintf(want, sizeof want, "%zu:the needle is last", lines + 1);
    assert_string_equal(bench_run(&b, "Grep", CONTENT("needle", "big")), want);
    assert_string_equal(bench_run(&b, "Grep", CONTENT("n[e]+dle", "big")), want);
    assert_has(
        bench_run(&b, "Grep",
                  "{'pattern':'ordinary','path':'big','output_mode':'content','head_limit':0}"),
        "[Cut at 4 MB.");
    assert_true(b.r.text.len < (5 << 20));
    bench_release(&b);
}

static void
test_long_lines_show_the_match(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    for (int i = 0; i < 1000; i++)
        buf_adds(&text, "é");
    buf_adds(&text, "needle");
    for (int i = 0; i < 1000; i++)
        buf_adds(&text, "y");
    buf_adds(&text, "\nneedle");
    bench_put(&b, "f", buf_str(&text));
    const char *got = bench_run(&b, "Grep", CONTENT("needle", "f"));
    assert_true(strncmp(got, "1:[1900 bytes ...] é", 20) == 0);
    assert_has(got, "éneedley");
    assert_has(got, "y [... line cut, 3006 bytes in all]\n2:needle");
    assert_true(strlen(got) < 700);
    assert_has(bench_run(&b, "Grep", CONTENT("^é", "f")), "1:éé");
    buf_release(&text);
    bench_release(&b);
}

static void
test_pattern_errors_say_where(void **state)
{
    (void)state;
    struct err err;
    struct cJSON *input = json_parse(STR("{\"pattern\":\"abc[z-a]\"}"), &err);

    assert_false(tool_validate(tool_find(STR("Grep")), input, &err));
    assert_has(err.text, "range out of order");
    assert_has(err.text, "at offset 6");
    json_free(input);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finder_agrees_with_a_slow_search),
        cmocka_unit_test(test_all_ways_agree),
        cmocka_unit_test(test_text_is_found_in_any_encoding),
        cmocka_unit_test(test_globs_and_types),
        cmocka_unit_test(test_same_files_as_glob),
        cmocka_unit_test(test_offset_beyond_and_group_marks),
        cmocka_unit_test(test_a_large_answer_is_cut_and_says_so),
        cmocka_unit_test(test_long_lines_show_the_match),
        cmocka_unit_test(test_pattern_errors_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
