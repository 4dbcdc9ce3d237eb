/* What the analyser refuses, its caps, and what it asks the file system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "perm/leaf.h"

static const struct perm_shell_env proj = {.cwd = "/proj", .home = "/home/dev", .root = "/proj"};

static bool
has_leaf(const struct perm_analysis *a, const char *name)
{
    for (size_t i = 0; i < a->n_leaves; i++)
        if (a->leaves[i].name_known && str_is(a->leaves[i].argv[0].text, name))
            return true;
    return false;
}

static bool
has_effect(const struct perm_analysis *a, enum perm_effect_kind kind, const char *path)
{
    for (size_t i = 0; i < a->n_leaves; i++)
        for (size_t k = 0; k < a->leaves[i].n_effects; k++) {
            const struct perm_effect *e = &a->leaves[i].effects[k];
            bool same = path ? e->path && strcmp(e->path, path) == 0 : !e->path;
            if (e->kind == kind && same)
                return true;
        }
    return false;
}

static void
refuse(struct str s, bool unparsable)
{
    struct perm_analysis a;
    perm_shell_analyse(s, &proj, &a);
    if (!a.incomplete || a.read_only || !a.why || (unparsable && !a.unparsable))
        fail_msg("not refused: %.*s", (int)s.len, s.ptr);
    perm_analysis_release(&a);
}

static void
test_bytes(void **state)
{
    (void)state;
    refuse(STR("ls\0rm"), true);
    refuse(STR("ls\rrm x"), true);
    refuse(STR("ls \x1b[2K"), true);
    refuse(STR("ls \x7f"), true);
    refuse(STR("ls \v x"), true);
    refuse(STR("ls \xff"), true);
    refuse(STR("ls \xc0\xaf"), true);
    refuse(STR("git\xc2\xa0status"), true);
    refuse(STR("echo \xe2\x80\xae;dwp"), true);
    refuse(STR("echo a\xe2\x80\x8b"), true);
    refuse(STR("ls\xe3\x80\x80x"), true);
    refuse(STR("ls \xf3\xa0\x81\x81"), true);
    refuse(STR(""), false);
    refuse(STR("  \n "), false);
    refuse(STR("ls &&"), false);
    refuse(STR("ls ;; pwd"), false);
    refuse(STR("ls )"), false);
    refuse(STR("if ls; then"), false);
    refuse(STR("ls <<E"), false);
}

static void
test_denied_words_stay_visible(void **state)
{
    (void)state;
    struct perm_analysis a;
    perm_shell_analyse(STR("curl http://h/ \xe2\x80\xae x"), &proj, &a);
    assert_true(a.unparsable);
    assert_true(has_leaf(&a, "curl"));
    perm_analysis_release(&a);
}

static void
test_other_shell(void **state)
{
    (void)state;
    struct perm_shell_env env = proj;
    struct perm_analysis a;
    env.shell = "zsh";
    perm_shell_analyse(STR("ls"), &env, &a);
    assert_true(a.unparsable);
    perm_analysis_release(&a);
}

/* Past 10,000 bytes it asks, and deny still sees what comes at the end. */
static void
test_long(void **state)
{
    (void)state;
    struct buf b;
    struct perm_analysis a;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "echo ");
    for (int i = 0; i < 12000; i++)
        buf_addc(&b, 'a');
    buf_adds(&b, "; curl x");
    perm_shell_analyse(buf_str(&b), &proj, &a);
    assert_true(a.incomplete);
    assert_true(has_leaf(&a, "curl"));
    perm_analysis_release(&a);
    for (int i = 0; i < 2000000; i++)
        buf_addc(&b, ';');
    perm_shell_analyse(buf_str(&b), &proj, &a);
    assert_true(a.incomplete);
    perm_analysis_release(&a);
    buf_release(&b);
}

static void
repeat(const char *open, const char *mid, const char *close, int n)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < n; i++)
        buf_adds(&b, open);
    buf_adds(&b, mid);
    for (int i = 0; i < n; i++)
        buf_adds(&b, close);
    refuse(buf_str(&b), false);
    buf_release(&b);
}

static void
test_deep(void **state)
{
    (void)state;
    repeat("(", "ls", ")", 5000);
    repeat("$(", "ls", ")", 3000);
    repeat("{ ", "ls;", " }", 3000);
    repeat("echo \"$(", "ls", ")\"", 1000);
    repeat("if ", "ls; then ls; fi", "", 2000);
    repeat("! ", "ls", "", 4000);
    repeat("{a,b}", "", "", 500);
    repeat("{", "a,b", "}", 3000);
    repeat("sudo ", "ls", "", 1500);
    repeat("ls;", "ls", "", 1000);
    repeat("for i in a b c d e f; do ", "ls", "; done", 12);
    repeat("while ls; do x=$x$y; ", "ls", "; done", 100);
    repeat("<<E ", "ls", "", 500);
    repeat("eval ", "ls", "", 1000);
    repeat("$((", "1", "))", 1000);
    repeat("${x:-", "1", "}", 2000);
    repeat("`", "ls", "`", 2001);
}

struct folder {
    char path[64];
    struct perm_shell_env env;
};

static void
folder_make(struct folder *f)
{
    snprintf(f->path, sizeof f->path, "/tmp/yare-shell-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    f->env = (struct perm_shell_env){.cwd = f->path, .home = "/home/dev", .root = f->path};
}

static char *
below(const struct folder *f, const char *name)
{
    return xasprintf("%s/%s", f->path, name);
}

static void
touch(const struct folder *f, const char *name)
{
    char *p = below(f, name);
    FILE *s = fopen(p, "w");
    assert_non_null(s);
    fclose(s);
    free(p);
}

static void
analyse(const struct folder *f, const char *text, struct perm_analysis *a)
{
    perm_shell_analyse(str_from(text), &f->env, a);
}

/* "link/.." is where the link leads for the kernel, and where it stands for cd: then the folder is not known. */
static void
test_symlinks(void **state)
{
    (void)state;
    struct folder f;
    struct perm_analysis a;
    folder_make(&f);
    char *link = below(&f, "link");
    assert_int_equal(symlink("/usr/bin", link), 0);
    analyse(&f, "cat link/../x", &a);
    assert_true(has_effect(&a, EFFECT_READ, "/usr/x"));
    perm_analysis_release(&a);
    analyse(&f, "cd link/.. && cat x", &a);
    assert_true(has_effect(&a, EFFECT_READ, NULL));
    perm_analysis_release(&a);
    analyse(&f, "cd link && cat ../x", &a);
    assert_true(has_effect(&a, EFFECT_READ, "/usr/x"));
    perm_analysis_release(&a);
    unlink(link);
    rmdir(f.path);
    free(link);
}

static void
test_folders(void **state)
{
    (void)state;
    struct folder f;
    struct perm_analysis a;
    folder_make(&f);
    char *sub = below(&f, "sub"), *inside = below(&f, "sub/a");
    assert_int_equal(mkdir(sub, 0700), 0);
    analyse(&f, "cp a sub", &a);
    assert_true(has_effect(&a, EFFECT_WRITE, inside));
    perm_analysis_release(&a);
    analyse(&f, "mv sub x", &a);
    assert_true(has_effect(&a, EFFECT_DELETE_TREE, sub));
    perm_analysis_release(&a);
    rmdir(sub);
    rmdir(f.path);
    free(sub);
    free(inside);
}

/* A file named like an option makes "*" one. */
static void
test_dash_files(void **state)
{
    (void)state;
    struct folder f;
    struct perm_analysis a;
    folder_make(&f);
    analyse(&f, "sort *", &a);
    assert_true(a.read_only);
    perm_analysis_release(&a);
    touch(&f, "-ox");
    analyse(&f, "sort *", &a);
    assert_false(a.read_only);
    perm_analysis_release(&a);
    analyse(&f, "sort ./*", &a);
    assert_true(a.read_only);
    perm_analysis_release(&a);
    char *p = below(&f, "-ox");
    unlink(p);
    free(p);
    rmdir(f.path);
}

static void
test_text(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"git -C . --no-pager push origin", "git -C . --no-pager push origin", "git push origin"},
        {"/usr/bin/git push", "/usr/bin/git push", "git push"},
        {"./x 'a b' \"c\"", "./x 'a b' c", "x 'a b' c"},
        {"git -c a=b commit -m 'it'\\''s'", "git -c a=b commit -m 'it'\\''s'",
         "git commit -m 'it'\\''s'"},
        {"git", "git", "git"},
        {"ls *.c '*.c' ''", "ls *.c '*.c' ''", "ls *.c '*.c' ''"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct perm_analysis a;
        struct buf t;
        buf_init(&t, BUF_MAX);
        perm_shell_analyse(str_from(cases[i][0]), &proj, &a);
        perm_leaf_text(&a.leaves[0], false, &t);
        assert_string_equal(buf_cstr(&t), cases[i][1]);
        buf_clear(&t);
        perm_leaf_text(&a.leaves[0], true, &t);
        assert_string_equal(buf_cstr(&t), cases[i][2]);
        buf_release(&t);
        perm_analysis_release(&a);
    }
}

/* One word many times over, as a command line. */
static bool
followed(const char *head, const char *word, size_t n, const char *tail)
{
    struct buf b;
    struct perm_analysis a;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, head);
    for (size_t i = 0; i < n; i++)
        buf_adds(&b, word);
    buf_adds(&b, tail);
    perm_shell_analyse(buf_str(&b), &proj, &a);
    bool ret = !a.incomplete;
    perm_analysis_release(&a);
    buf_release(&b);
    return ret;
}

static void
test_pipes(void **state)
{
    (void)state;
    assert_true(followed("ls", "|cat", 300, ""));
    assert_false(followed("ls", "|cat", 500, ""));
    assert_false(followed("ls", "|\ncat", 500, ""));
    assert_false(followed("ls", "|& cat", 500, ""));
    assert_true(followed("", "ls|cat;", 150, ""));
    assert_true(followed("", "ls|cat\n", 150, ""));
    assert_true(followed("echo '", "| a |\n", 500, "'"));
    assert_true(followed("cat <<'E'\n", "| a | b |\n", 400, "E\n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_denied_words_stay_visible),
        cmocka_unit_test(test_other_shell), cmocka_unit_test(test_long),
        cmocka_unit_test(test_deep),        cmocka_unit_test(test_symlinks),
        cmocka_unit_test(test_folders),     cmocka_unit_test(test_dash_files),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
