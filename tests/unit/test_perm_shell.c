/*
 * The shell analyser against tests/cases/shell_*.txt. A case is three lines: the command (a newline is written ␤), its leaves
 * and what they do. YARE_PRINT=1 prints the cases as they come out, to be read and put into the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "perm/leaf.h"

static const struct perm_shell_env env = {.cwd = "/proj", .home = "/home/dev", .root = "/proj"};

static const char *const roles[] = {"run", "wrapper", "inner", "assign"};
static const char *const classes[] = {"unknown", "reader", "git-read", "editor", "known", "danger"};
static const char *const effects[] = {"read",        "read-tree", "write", "delete",
                                      "delete-tree", "exec",      "net"};

static void
leaf_write(const struct perm_leaf *l, struct buf *out)
{
    buf_addf(out, "%s%s", roles[l->role], l->transparent ? "~" : "");
    if (l->n_argv) {
        buf_addf(out, " %s [", classes[l->cls]);
        perm_leaf_text(l, false, out);
        buf_addc(out, ']');
    }
    for (size_t i = 0; i < l->n_assigns; i++)
        buf_addf(out, " %.*s=%s%.*s", (int)l->assigns[i].name.len, l->assigns[i].name.ptr,
                 l->assigns[i].value.known ? "" : "?", (int)l->assigns[i].value.text.len,
                 l->assigns[i].value.text.ptr);
    if (!l->cwd || strcmp(l->cwd, "/proj") != 0)
        buf_addf(out, " @%s", l->cwd ? l->cwd : "?");
    if (l->n_argv && !l->name_known)
        buf_adds(out, " ?name");
    else if (!l->argv_known)
        buf_adds(out, " ?args");
    if (l->effects_unknown)
        buf_adds(out, " ?effects");
    if (l->bad_env)
        buf_addf(out, " bad-env:%s", l->bad_env_name);
    if (l->raises_power)
        buf_adds(out, " power");
    if (l->wrapper != SIZE_MAX)
        buf_addf(out, " <%zu", l->wrapper);
}

static void
effects_write(const struct perm_analysis *a, struct buf *out)
{
    if (a->incomplete)
        buf_addf(out, "asks: %s; ", a->why);
    if (a->read_only)
        buf_adds(out, "read-only; ");
    for (size_t i = 0; i < a->n_leaves; i++)
        for (size_t k = 0; k < a->leaves[i].n_effects; k++) {
            const struct perm_effect *e = &a->leaves[i].effects[k];
            static const char *const spans[] = {"", " tracked", " unseen"};
            buf_addf(out, "%s %s%s%s%s%s%s; ", effects[e->kind], e->path ? e->path : "?",
                     e->redirect ? " >" : "", e->glob ? " glob" : "", spans[e->span],
                     e->itself ? " itself" : "", e->below ? " below" : "");
        }
    if (out->len >= 2)
        buf_truncate(out, out->len - 2);
    else
        buf_addc(out, '-');
}

/* "␤" to newlines and back. */
static void
newlines(struct str s, bool to_mark, struct buf *out)
{
    for (size_t i = 0; i < s.len; i++) {
        if (to_mark && s.ptr[i] == '\n')
            buf_adds(out, "␤");
        else if (!to_mark && str_starts(str_sub(s, i, 3), "␤")) {
            buf_addc(out, '\n');
            i += 2;
        } else
            buf_addc(out, s.ptr[i]);
    }
}

static void
render(struct str command, struct buf *leaves, struct buf *does)
{
    struct perm_analysis a;
    struct buf raw;
    buf_init(&raw, BUF_MAX);
    perm_shell_analyse(command, &env, &a);
    for (size_t i = 0; i < a.n_leaves; i++) {
        if (i)
            buf_adds(&raw, " | ");
        leaf_write(&a.leaves[i], &raw);
    }
    if (a.n_leaves == 0)
        buf_addc(&raw, '-');
    newlines(buf_str(&raw), true, leaves);
    buf_clear(&raw);
    effects_write(&a, &raw);
    newlines(buf_str(&raw), true, does);
    buf_release(&raw);
    perm_analysis_release(&a);
}

static void
read_file(const char *name, struct buf *out)
{
    char *path = xasprintf("%s/cases/%s", TEST_DIR, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char block[4096];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    fclose(f);
    free(path);
}

static void
check(struct str command, struct str leaves, struct str does, bool print)
{
    struct buf c, got_leaves, got_does;
    buf_init(&c, BUF_MAX);
    buf_init(&got_leaves, BUF_MAX);
    buf_init(&got_does, BUF_MAX);
    newlines(command, false, &c);
    render(buf_str(&c), &got_leaves, &got_does);
    if (print)
        printf("%.*s\n%s\n%s\n\n", (int)command.len, command.ptr, buf_cstr(&got_leaves),
               buf_cstr(&got_does));
    else if (!str_eq(buf_str(&got_leaves), leaves) || !str_eq(buf_str(&got_does), does))
        fail_msg("%.*s\n want %.*s\n      %.*s\n got  %s\n      %s", (int)command.len, command.ptr,
                 (int)leaves.len, leaves.ptr, (int)does.len, does.ptr, buf_cstr(&got_leaves),
                 buf_cstr(&got_does));
    buf_release(&c);
    buf_release(&got_leaves);
    buf_release(&got_does);
}

static void
run_file(const char *name)
{
    struct buf text;
    buf_init(&text, BUF_MAX);
    read_file(name, &text);
    struct str rest = buf_str(&text), line[3] = {0}, part;
    size_t n = 0, cases = 0;
    bool print = getenv("YARE_PRINT") != NULL;
    while (str_split(&rest, '\n', &part)) {
        if (part.len && n < 3) {
            line[n++] = part;
            continue;
        }
        if (n == 0)
            continue;
        check(line[0], line[1], line[2], print);
        n = 0;
        cases++;
    }
    if (n)
        check(line[0], line[1], line[2], print);
    assert_true(cases > 10);
    buf_release(&text);
}

#define FILE_TEST(topic)                                                                           \
    static void test_##topic(void **state)                                                         \
    {                                                                                              \
        (void)state;                                                                               \
        run_file("shell_" #topic ".txt");                                                          \
    }
FILE_TEST(words)
FILE_TEST(structure)
FILE_TEST(redirect)
FILE_TEST(env)
FILE_TEST(builtins)
FILE_TEST(wrappers)
FILE_TEST(readers)
FILE_TEST(git)
FILE_TEST(editors)
FILE_TEST(differential)
FILE_TEST(tools)

/* Every block of shell_hidden.txt runs touch somehow: it must be seen, or the whole must ask. */
static bool
shows_touch(const struct perm_analysis *a)
{
    bool shown = a->incomplete;
    for (size_t i = 0; i < a->n_leaves; i++) {
        const struct perm_leaf *l = &a->leaves[i];
        shown = shown || (l->name_known && str_is(l->argv[0].text, "touch")) ||
                (l->n_argv && !l->name_known) || l->cls == CLASS_DANGER ||
                (l->effects_unknown && l->cls == CLASS_UNKNOWN);
    }
    return shown && !a->read_only;
}

static void
test_hidden(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, BUF_MAX);
    read_file("shell_hidden.txt", &text);
    struct str rest = buf_str(&text);
    size_t cases = 0;
    while (rest.len) {
        size_t at = 0;
        while (at < rest.len && !str_starts(str_sub(rest, at, 5), "\n---\n"))
            at++;
        struct str block = str_trim(str_sub(rest, 0, at));
        struct perm_analysis a;
        perm_shell_analyse(block, &env, &a);
        if (!shows_touch(&a))
            fail_msg("what this runs is not seen: %.*s", (int)block.len, block.ptr);
        perm_analysis_release(&a);
        cases++;
        rest = str_sub(rest, at + 5, rest.len);
    }
    assert_true(cases > 200);
    buf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_redirect),     cmocka_unit_test(test_env),
        cmocka_unit_test(test_differential), cmocka_unit_test(test_builtins),
        cmocka_unit_test(test_wrappers),     cmocka_unit_test(test_readers),
        cmocka_unit_test(test_git),          cmocka_unit_test(test_editors),
        cmocka_unit_test(test_tools),        cmocka_unit_test(test_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
