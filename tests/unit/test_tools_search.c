#include "unit/tool_bench.h"

#include <fcntl.h>
#include <time.h>

#include "tools/grep_literal.h"

static void
set_time(struct bench *b, const char *rel, int seconds)
{
    char *path = bench_path(b, rel);
    struct timespec t[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
    free(path);
}

static void
make_files(struct bench *b)
{
    bench_put(b, ".git/HEAD", STR("x"));
    bench_put(b, ".gitignore", STR("*.o\nbuild/\n"));
    bench_put(b, "a.c", STR("int main(void)\n{\n    return 0;\n}\n"));
    bench_put(b, "src/b.c", STR("alpha\nbeta\nMain gamma\ndelta\nepsilon\n"));
    bench_put(b, "src/c.py", STR("def main():\n    pass\n"));
    bench_put(b, "src/c.o", STR("main\n"));
    bench_put(b, "build/x.c", STR("main\n"));
    bench_put(b, "bin.dat", str_make("ma\0in main\n", 11));
    set_time(b, "a.c", 1000);
    set_time(b, "src/b.c", 3000);
    set_time(b, "src/c.py", 2000);
}

static void
test_glob(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    make_files(&b);
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'**/*.c'}"), "src/b.c\na.c");
    assert_string_equal(b.r.summary, "2 files");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'*.{c,py}'}"), "src/b.c\nsrc/c.py\na.c");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'src/*.c'}"), "src/b.c");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'src/**'}"), "src/b.c\nsrc/c.py");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'./src/b.c'}"), "src/b.c");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'*.py','path':'src'}"), "src/c.py");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'%s/src/*.py'}", b.root), "src/c.py");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'*.nope'}"), "No files found");
    assert_has(bench_run(&b, "Glob", "{'pattern':'../*'}"), "leads out");
    assert_has(bench_run(&b, "Glob", "{'pattern':'/etc/*.conf'}"), "leads out");
    assert_has(bench_run(&b, "Glob", "{'pattern':'*','path':'nowhere'}"), "does not exist");
    bench_release(&b);
}

static void
test_glob_cap(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    for (int i = 0; i < 130; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%03d", i);
        bench_put(&b, name, STR("x"));
        set_time(&b, name, 1000 + i);
    }
    const char *text = bench_run(&b, "Glob", "{'pattern':'f*'}");
    assert_true(strncmp(text, "f129\nf128\n", 10) == 0);
    assert_has(text, "\nf030\n(Results are truncated: the newest 100 of 130 files.");
    bench_release(&b);
}

static void
test_grep_modes(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    make_files(&b);
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'main'}"),
                        "Found 2 files\nsrc/c.py\na.c");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'main','-i':true}"),
                        "Found 3 files\nsrc/b.c\nsrc/c.py\na.c");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'main','output_mode':'content'}"),
                        "a.c:1:int main(void)\nsrc/c.py:1:def main():");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'main','output_mode':'content','-n':false}"),
        "a.c:int main(void)\nsrc/c.py:def main():");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'ma(i)n','output_mode':'content','-o':true}"),
        "a.c:1:main\nsrc/c.py:1:main");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'a$','output_mode':'count','glob':'*.c'}"),
        "src/b.c:4\n\nFound 4 total occurrences across 1 file.");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'main','type':'py'}"),
                        "Found 1 file\nsrc/c.py");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'main','glob':'!*.py'}"),
                        "Found 1 file\na.c");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'gamma','path':'src/b.c','output_mode':'content'}"),
        "3:Main gamma");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'nothing at all'}"), "No files found");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'nothing','output_mode':'content'}"),
                        "No matches found");
    assert_false(b.r.is_error);
    bench_release(&b);
}

static void
test_grep_context(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "f", STR("1\n2\nX\n4\n5\n6\n7\nX\nX\n10\n"));
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'X','path':'f','output_mode':'content','-C':1}"),
        "2-2\n3:X\n4-4\n--\n7-7\n8:X\n9:X\n10-10");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'X','path':'f','output_mode':'content','-A':2,'-B':0}"),
        "3:X\n4-4\n5-5\n--\n8:X\n9:X\n10-10");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'X','path':'f','output_mode':'content','context':'3'}"),
        "1-1\n2-2\n3:X\n4-4\n5-5\n6-6\n7-7\n8:X\n9:X\n10-10");
    bench_release(&b);
}

static void
test_grep_paging(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    for (int i = 1; i <= 400; i++)
        buf_addf(&text, "hit %d\n", i);
    bench_put(&b, "f", buf_str(&text));
    buf_release(&text);
    assert_has(bench_run(&b, "Grep", "{'pattern':'hit','output_mode':'content'}"),
               "Go on with offset 250.");
    assert_string_equal(
        bench_run(
            &b, "Grep",
            "{'pattern':'hit','path':'f','output_mode':'content','head_limit':2,'offset':250}"),
        "251:hit 251\n252:hit 252\n\n[Showing 2 lines from offset 250; more follow. Go on with "
        "offset 252.]");
    bench_run(&b, "Grep", "{'pattern':'hit','path':'f','output_mode':'content','head_limit':0}");
    assert_has(buf_cstr(&b.r.text), "400:hit 400");
    bench_release(&b);
}

static void
test_grep_patterns(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "f", STR("foo\r\nbar baz\r\n\r\nqux\r\n"));
    bench_put(&b, "u", STR("Größe café\nlast"));
    bench_put(&b, "bad", STR("x \xff é needle\n"));
    bench_put(&b, "w", str_make("\xff\xfew\0i\0d\0e\0\n\0", 12));
    bench_put(&b, "bom",
              STR("\xef\xbb\xbf"
                  "first\n"));
#define ONE(p, f) "{'pattern':'" p "','path':'" f "','output_mode':'content'}"
    assert_string_equal(bench_run(&b, "Grep", ONE("o$", "f")), "1:foo");
    assert_string_equal(bench_run(&b, "Grep", ONE("foo\\\\s+bar", "f")), "No matches found");
    assert_string_equal(bench_run(&b, "Grep", ONE("[^x]bar", "f")), "No matches found");
    assert_string_equal(bench_run(&b, "Grep", ONE("bar(?!x)", "f")), "2:bar baz");
    assert_string_equal(bench_run(&b, "Grep", ONE("(?<=bar )baz", "f")), "2:bar baz");
    assert_string_equal(bench_run(&b, "Grep", ONE("^$", "f")), "3:");
    assert_string_equal(bench_run(&b, "Grep", ONE("gr.sse|CAF.$", "u")), "No matches found");
    assert_string_equal(
        bench_run(&b, "Grep",
                  "{'pattern':'GRÖ.E caf.$','path':'u','output_mode':'content','-i':true}"),
        "1:Größe café");
    assert_string_equal(bench_run(&b, "Grep", ONE("needle", "bad")), "1:x \xef\xbf\xbd é needle");
    assert_string_equal(bench_run(&b, "Grep", ONE("wide", "w")), "1:wide");
    assert_string_equal(bench_run(&b, "Grep", ONE("^first", "bom")), "1:first");
    assert_string_equal(bench_run(&b, "Grep",
                                  "{'pattern':'foo.+baz','path':'f','output_mode':'content',"
                                  "'multiline':true}"),
                        "1:foo\n2:bar baz");
    bench_release(&b);
}

static void
test_grep_literal(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"[a-z]+ing\\b", "ing"},
        {"foo.*barbaz", "barbaz"},
        {"abcd?ef", "abc"},
        {"abc(d|e)", "abc"},
        {"abc|def", "=abc,def"},
        {"ab", "=ab"},
        {"a", ""},
        {"(?i)abcdef", ""},
        {"abc{2}", "ab"},
        {"a\\.bcd+", "a.bcd"},
        {"\\Qabc", ""},
        {"x[]abc]yzw", "yzw"},
        {"plain\\(", "=plain("},
        {"x.(abc)?", ""},
        {"x(abc|de)+y", "abc,de"},
        {"(abc|d)y", ""},
        {"(?:abc|def){0,2}gh", "gh"},
        {"\\b(foo|bar)\\b", "foo,bar"},
        {"(one(two|three))\\(", "one"},
        {"abc|", ""},
        {"abc|d*", ""},
        {"(abc", ""},
        {"a1|b2|c3|d4|e5|f6|g7|h8|i9", ""},
        {"[[:alpha:]]abcd", ""},
        {"fooé*bar", "foo"},
        {"(?!abc)def", ""},
        {"\\d+abc\\x41", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct literals l;
        struct buf out;
        buf_init(&out, BUF_MAX);
        grep_required_literals(str_from(rows[i][0]), false, &l);
        for (size_t k = 0; k < l.n; k++)
            buf_addf(&out, "%s%s", k ? "," : l.exact ? "=" : "", buf_cstr(&l.text[k]));
        if (strcmp(buf_cstr(&out), rows[i][1]) != 0)
            fail_msg("'%s' gives '%s', not '%s'", rows[i][0], buf_cstr(&out), rows[i][1]);
        grep_literals_release(&l);
        buf_release(&out);
    }
    struct bench b;
    bench_init(&b);
    bench_put(&b, "f", STR("running\nrun\nswimming, running\nings\n"));
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'[a-z]+ing$','path':'f','output_mode':'content'}"),
        "1:running\n3:swimming, running");
    bench_release(&b);
}

static void
test_grep_errors(void **state)
{
    (void)state;
    struct err err;
    struct cJSON *input = json_parse(STR("{\"pattern\":\"a(b\"}"), &err);

    assert_false(tool_validate(tool_find(STR("Grep")), input, &err));
    assert_has(err.text, "does not compile");
    json_free(input);
    input = json_parse(STR("{\"pattern\":\"a\",\"type\":\"nope\"}"), &err);
    assert_false(tool_validate(tool_find(STR("Grep")), input, &err));
    assert_has(err.text, "'type' is not known");
    json_free(input);
}

/* A pattern that explodes must end, and say so. */
static void
test_grep_too_hard(void **state)
{
    (void)state;
    struct bench b;
    struct buf text;

    bench_init(&b);
    buf_init(&text, BUF_MAX);
    for (int i = 0; i < 60; i++)
        buf_adds(&text, "aaaaaaaaaa");
    bench_put(&b, "f", buf_str(&text));
    buf_release(&text);
    assert_has(bench_run(&b, "Grep", "{'pattern':'(a|a?)+b(?=c)|(a+)+$x'}"),
               "took too long in 1 file (f)");
    bench_release(&b);
}

static void
test_grep_link_and_special(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    bench_put(&b, "d/f", STR("needle\n"));
    char *link = bench_path(&b, "link"), *fifo = bench_path(&b, "fifo");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'needle|root'}"), "Found 1 file\nd/f");
    free(link);
    free(fifo);
    bench_release(&b);
}

static void
test_cancel(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    make_files(&b);
    cancel_fire(b.ctx.cancel, CANCEL_USER);
    assert_has(bench_run(&b, "Grep", "{'pattern':'main'}"), "interrupted");
    assert_true(b.r.is_error);
    assert_has(bench_run(&b, "Glob", "{'pattern':'*'}"), "interrupted");
    bench_release(&b);
}

/* Enough files for several threads: the order stays that of the walk. */
static void
test_grep_many(void **state)
{
    (void)state;
    struct bench b;
    struct buf want;

    bench_init(&b);
    buf_init(&want, BUF_MAX);
    for (int i = 0; i < 120; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%d/f%03d", i / 60, i);
        bench_put(&b, name, STR("hay\nneedle\n"));
        buf_addf(&want, "%s%s:2:needle", i ? "\n" : "", name);
    }
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'needle','output_mode':'content'}"),
                        buf_cstr(&want));
    buf_release(&want);
    bench_release(&b);
}

/* ---- what the rules keep back ---- */

/* Stands for rules about ".env" and "vault/". */
static bool
may_read(void *user, const char *path)
{
    (void)user;
    return path[0] == '/' && !str_ends(str_from(path), "/.env") && !strstr(path, "/vault/");
}

static void
put_secrets(struct bench *b)
{
    bench_init(b);
    b->ctx.may_read = may_read;
    bench_put(b, "a.txt", STR("KEY=open\n"));
    bench_put(b, ".env", STR("KEY=hidden\n"));
    bench_put(b, "sub/.env", STR("KEY=hidden\n"));
    bench_put(b, "vault/deep/b.txt", STR("KEY=hidden\n"));
}

static void
put_link(struct bench *b, const char *name, const char *target)
{
    char *link = bench_path(b, name);
    assert_int_equal(symlink(target, link), 0);
    free(link);
}

static void
test_grep_leaves_out_what_may_not_be_read(void **state)
{
    (void)state;
    struct bench b;

    put_secrets(&b);
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'KEY','output_mode':'content'}"),
                        "a.txt:1:KEY=open\n\n[3 files left out by a deny rule]");
    assert_false(b.r.is_error);
    assert_string_equal(b.r.summary, "1 match in 1 file");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'KEY'}"),
                        "Found 1 file\na.txt\n\n[3 files left out by a deny rule]");
    assert_string_equal(
        bench_run(&b, "Grep", "{'pattern':'hidden','path':'sub','output_mode':'count'}"),
        "No matches found\n\n[1 file left out by a deny rule]");
    /* what a filter leaves out anyway is no news */
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'KEY','glob':'a.*'}"),
                        "Found 1 file\na.txt");
    b.ctx.kept_by = "a deny or ask rule";
    assert_has(bench_run(&b, "Grep", "{'pattern':'KEY'}"),
               "[3 files left out by a deny or ask rule]");
    b.ctx.may_read = NULL;
    assert_has(bench_run(&b, "Grep", "{'pattern':'KEY'}"), "Found 4 files");
    bench_release(&b);
}

/* Many threads count together. */
static void
test_grep_counts_all_it_leaves_out(void **state)
{
    (void)state;
    struct bench b;

    bench_init(&b);
    b.ctx.may_read = may_read;
    for (int i = 0; i < 240; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%d/%s", i, i % 3 ? "open" : ".env");
        bench_put(&b, name, STR("KEY\n"));
    }
    const char *text = bench_run(&b, "Grep", "{'pattern':'KEY'}");
    assert_has(text, "Found 160 files\n");
    assert_has(text, "\n\n[80 files left out by a deny rule]");
    assert_has(bench_run(&b, "Glob", "{'pattern':'**'}"), "newest 100 of 160 files");
    assert_has(buf_cstr(&b.r.text), "[80 files left out by a deny rule]");
    bench_release(&b);
}

static void
test_grep_knows_a_hidden_file_by_every_path(void **state)
{
    (void)state;
    struct bench b;
    static const char *const paths[] = {".env", "sub/.env", "innocent", "sub/../.env",
                                        "folder/deep/b.txt"};

    put_secrets(&b);
    put_link(&b, "innocent", ".env");
    put_link(&b, "folder", "vault");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        assert_string_equal(bench_run(&b, "Grep",
                                      "{'pattern':'KEY','path':'%s','output_mode':'content'}",
                                      paths[i]),
                            "No matches found\n\n[1 file left out by a deny rule]");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'KEY','path':'folder'}"),
                        "No files found\n\n[1 file left out by a deny rule]");
    /* a link's own name counts as well: the folder it stands in is no cover */
    put_link(&b, "sub/vault", "..");
    assert_string_equal(bench_run(&b, "Grep", "{'pattern':'open','path':'sub/vault/a.txt'}"),
                        "No files found\n\n[1 file left out by a deny rule]");
    bench_release(&b);
}

static void
test_glob_lists_no_name_that_may_not_be_read(void **state)
{
    (void)state;
    struct bench b;

    put_secrets(&b);
    put_link(&b, "innocent", "vault/deep/b.txt");
    put_link(&b, "folder", "vault");
    put_link(&b, "nowhere", "gone");
    const char *text = bench_run(&b, "Glob", "{'pattern':'**/*'}");
    assert_has(text, "a.txt");
    assert_has(text, "nowhere");
    assert_has(text, "\n\n[4 files left out by a deny rule]");
    if (strstr(text, ".env") || strstr(text, "b.txt") || strstr(text, "innocent"))
        fail_msg("%s", text);
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'*','path':'folder'}"),
                        "No files found\n\n[1 file left out by a deny rule]");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'vault/deep/*'}"),
                        "No files found\n\n[1 file left out by a deny rule]");
    assert_string_equal(bench_run(&b, "Glob", "{'pattern':'a.*'}"), "a.txt");
    bench_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glob),
        cmocka_unit_test(test_glob_cap),
        cmocka_unit_test(test_grep_modes),
        cmocka_unit_test(test_grep_context),
        cmocka_unit_test(test_grep_paging),
        cmocka_unit_test(test_grep_patterns),
        cmocka_unit_test(test_grep_errors),
        cmocka_unit_test(test_grep_literal),
        cmocka_unit_test(test_grep_too_hard),
        cmocka_unit_test(test_grep_link_and_special),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_grep_many),
        cmocka_unit_test(test_grep_leaves_out_what_may_not_be_read),
        cmocka_unit_test(test_grep_knows_a_hidden_file_by_every_path),
        cmocka_unit_test(test_grep_counts_all_it_leaves_out),
        cmocka_unit_test(test_glob_lists_no_name_that_may_not_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
