#include "unit/tool_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "base/glob.h"

static void
check_glob(const struct text_case *c)
{
    unsigned flags = 0;

    if (strstr(c->line[2], "fold"))
        flags |= GLOB_FOLD_CASE;
    if (strstr(c->line[2], "braces"))
        flags |= GLOB_BRACES;
    bool want = strncmp(c->line[2], "yes", 3) == 0;
    if (glob_match(str_from(c->line[0]), str_from(c->line[1]), flags) != want)
        fail_msg("line %d: '%s' against '%s' should be %s", c->number, c->line[0], c->line[1],
                 c->line[2]);
}

static void
test_match(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/glob_match.txt", 3, check_glob) > 40);
}

static void
check_ignore(const struct text_case *c)
{
    char *patterns = xstrdup(c->line[0]);
    struct str path = str_from(c->line[1]);
    bool is_dir = str_ends(path, "/");
    struct ignore *ig = ignore_new(NULL, "");

    for (char *p = patterns; *p; p++)
        if (*p == ';')
            *p = '\n';
    ignore_add_text(ig, str_from(patterns));
    path.len -= is_dir;
    bool got = ignore_match(ig, path, is_dir);
    if (got != (strcmp(c->line[2], "ignored") == 0))
        fail_msg("line %d: '%s' with '%s' should be %s", c->number, c->line[1], c->line[0],
                 c->line[2]);
    ignore_free(ig);
    free(patterns);
}

static void
test_ignore(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/ignore_match.txt", 3, check_ignore) > 10);
}

static void
test_ignore_child_wins(void **state)
{
    (void)state;
    struct ignore *top = ignore_new(NULL, ""), *sub = ignore_new(top, "sub");

    ignore_add_text(top, STR("*.log\n"));
    ignore_add_text(sub, STR("!keep.log\n/only\n"));
    assert_true(ignore_match(sub, STR("sub/a.log"), false));
    assert_false(ignore_match(sub, STR("sub/keep.log"), false));
    assert_true(ignore_match(sub, STR("keep.log"), false));
    assert_true(ignore_match(sub, STR("sub/only"), false));
    assert_false(ignore_match(sub, STR("sub/x/only"), false));
    ignore_free(sub);
    ignore_free(top);
}

/* Many stars and a path that never matches: a cost that is a power and no product would not come back. */
static void
test_match_is_not_exponential(void **state)
{
    (void)state;
    struct buf pattern, path;

    buf_init(&pattern, BUF_MAX);
    buf_init(&path, BUF_MAX);
    for (int i = 0; i < 200; i++) {
        buf_adds(&pattern, "**/*a*a*");
        buf_adds(&path, "aaaaaaaaaaaaaaaaaaaa/");
        buf_adds(&pattern, "/");
    }
    buf_adds(&pattern, "b");
    assert_false(glob_match(buf_str(&pattern), buf_str(&path), 0));
    buf_release(&pattern);
    buf_release(&path);
}

static void
put(const char *root, const char *rel, const char *text)
{
    char *path = fs_join(root, rel), *dir = fs_dirname(path);
    struct err err;

    assert_true(fs_mkdirs(dir, 0755, &err));
    assert_true(fs_write_atomic(path, str_from(text), 0644, &err));
    free(dir);
    free(path);
}

struct seen {
    struct buf list;
    int stop_after;
    struct cancel *fire;
};

static bool
note(void *user, const char *rel, bool is_dir)
{
    struct seen *s = user;

    buf_addf(&s->list, "%s%s\n", rel, is_dir ? "/" : "");
    if (s->fire)
        cancel_fire(s->fire, CANCEL_USER);
    return s->stop_after == 0 || --s->stop_after > 0;
}

static char *
make_tree(void)
{
    char tmpl[] = "/tmp/yare-walk-XXXXXX";
    char *root = xstrdup(mkdtemp(tmpl));

    put(root, ".git/HEAD", "x");
    put(root, ".git/info/exclude", "excluded.txt\n");
    put(root, ".gitignore", "*.o\n/build/\n!keep.o\n");
    put(root, "a.c", "");
    put(root, "a.o", "");
    put(root, "keep.o", "");
    put(root, "excluded.txt", "");
    put(root, "build/x.c", "");
    put(root, "src/.ignore", "gen.c\n");
    put(root, "src/gen.c", "");
    put(root, "src/main.c", "");
    put(root, "src/main.o", "");
    put(root, ".hidden", "");
    char *link = fs_join(root, "loop");
    assert_int_equal(symlink(".", link), 0);
    free(link);
    return root;
}

static void
remove_tree(char *root)
{
    char *cmd[] = {"rm", "-rf", root, NULL};
    test_run(cmd);
    free(root);
}

static void
test_walk(void **state)
{
    (void)state;
    char *root = make_tree();
    struct seen s = {.stop_after = 0};
    struct glob_walk w = {.root = root, .visit = note, .user = &s};

    buf_init(&s.list, BUF_MAX);
    assert_true(glob_walk(&w));
    assert_string_equal(buf_cstr(&s.list), ".gitignore\n.hidden\na.c\nkeep.o\nloop\nsrc/\n"
                                           "src/.ignore\nsrc/main.c\n");
    buf_clear(&s.list);
    w.no_ignore = true;
    assert_true(glob_walk(&w));
    assert_non_null(strstr(buf_cstr(&s.list), "build/x.c\n"));
    assert_null(strstr(buf_cstr(&s.list), ".git/"));

    buf_clear(&s.list);
    char *src = fs_join(root, "src");
    w.no_ignore = false;
    w.root = src;
    assert_true(glob_walk(&w));
    assert_string_equal(buf_cstr(&s.list), ".ignore\nmain.c\n");
    free(src);
    buf_release(&s.list);
    remove_tree(root);
}

static void
test_walk_stops(void **state)
{
    (void)state;
    char *root = make_tree();
    struct seen s = {.stop_after = 2};
    struct glob_walk w = {.root = root, .visit = note, .user = &s};

    buf_init(&s.list, BUF_MAX);
    assert_false(glob_walk(&w));
    assert_string_equal(buf_cstr(&s.list), ".gitignore\n.hidden\n");
    buf_clear(&s.list);
    s = (struct seen){.list = s.list, .fire = cancel_new(NULL)};
    w.cancel = s.fire;
    assert_false(glob_walk(&w));
    assert_string_equal(buf_cstr(&s.list), ".gitignore\n");
    cancel_free(s.fire);
    buf_release(&s.list);
    remove_tree(root);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_ignore),
        cmocka_unit_test(test_ignore_child_wins),
        cmocka_unit_test(test_match_is_not_exponential),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_walk_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
