/* Rules over paths, and what paths lead to. */
#include "unit/tool_cases.h"

#include "unit/temp_dir.h"

#include "perm/chain_ctx.h"
#include "perm/overlap.h"

static void
check_path(const struct text_case *c)
{
    static const struct perm_anchor an = {.root = "/proj", .cwd = "/proj", .home = "/home/dev"};
    struct perm_rules rs;
    bool allow = strncmp(c->line[0], "allow", 5) == 0;
    enum verdict list = allow ? VERDICT_ALLOW : VERDICT_DENY;
    perm_rules_init(&rs);
    assert_true(perm_rules_add(&rs, list, strchr(c->line[0], ' ') + 1, SCOPE_USER, false, NULL, 0));
    const char *path = c->line[1], *tool = allow && strstr(c->line[0], "Edit") ? "Edit" : "Read";
    bool match = perm_rules_match_path(&rs, list, tool, &path, 1, &an) != NULL;
    if (match != (strcmp(c->line[2], "yes") == 0))
        fail_msg("line %d: %s and %s: %d", c->number, c->line[0], c->line[1], match);
    perm_rules_release(&rs);
}

static void
test_rules(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/rules_path.txt", 3, check_path) > 40);
}

static void
check_overlap(const struct text_case *c)
{
    bool tree = strstr(c->line[1], "**") != NULL;
    bool hit = path_overlap(str_from(c->line[0]), str_from(c->line[1]), tree, false);
    if (hit != (strcmp(c->line[2], "no") != 0))
        fail_msg("line %d: %s and %s: %d", c->number, c->line[0], c->line[1], hit);
    if (strcmp(c->line[2], "yes") == 0)
        assert_false(tree);
}

static void
test_overlap(void **state)
{
    (void)state;
    assert_true(cases_run(TEST_DIR "/cases/rules_overlap.txt", 3, check_overlap) > 15);
    assert_true(path_overlap(STR("x"), STR("X"), false, true));
}

static void
test_every_name_counts(void **state)
{
    (void)state;
    static const struct perm_anchor an = {.root = "/proj", .cwd = "/proj", .home = "/h"};
    const char *paths[] = {"/proj/src/a", "/etc/a"};
    struct perm_rules rs;
    perm_rules_init(&rs);
    assert_true(perm_rules_add(&rs, VERDICT_ALLOW, "Edit(src/**)", SCOPE_USER, false, NULL, 0));
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Read(//etc/**)", SCOPE_USER, false, NULL, 0));
    assert_non_null(perm_rules_match_path(&rs, VERDICT_ALLOW, "Write", paths, 1, &an));
    assert_null(perm_rules_match_path(&rs, VERDICT_ALLOW, "Write", paths, 2, &an));
    assert_non_null(perm_rules_match_path(&rs, VERDICT_DENY, "Grep", paths, 2, &an));
    /* What may not be read may not be changed; what may be changed may be read. */
    assert_non_null(perm_rules_match_path(&rs, VERDICT_DENY, "Edit", paths, 2, &an));
    assert_non_null(perm_rules_match_path(&rs, VERDICT_ALLOW, "Read", paths, 1, &an));
    perm_rules_release(&rs);
}

static void
test_user_file_anchor(void **state)
{
    (void)state;
    static const struct perm_anchor an = {
        .root = "/proj", .cwd = "/proj", .home = "/h", .config_home = "/h/.claude"};
    const char *in_home = "/h/.claude/x/y", *in_proj = "/proj/x/y";
    struct perm_rules rs;
    perm_rules_init(&rs);
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Read(/x/**)", SCOPE_USER, true, NULL, 0));
    assert_non_null(perm_rules_match_path(&rs, VERDICT_DENY, "Read", &in_home, 1, &an));
    assert_null(perm_rules_match_path(&rs, VERDICT_DENY, "Read", &in_proj, 1, &an));
    perm_rules_release(&rs);
}

static void
test_fold(void **state)
{
    (void)state;
    struct perm_anchor an = {.root = "/proj", .cwd = "/proj", .home = "/h", .fold_case = true};
    const char *path = "/proj/.ENV";
    struct perm_rules rs;
    perm_rules_init(&rs);
    assert_true(perm_rules_add(&rs, VERDICT_DENY, "Read(./.env)", SCOPE_USER, false, NULL, 0));
    assert_non_null(perm_rules_match_path(&rs, VERDICT_DENY, "Read", &path, 1, &an));
    an.fold_case = false;
    assert_null(perm_rules_match_path(&rs, VERDICT_DENY, "Read", &path, 1, &an));
    perm_rules_release(&rs);
}

static void
test_inside(void **state)
{
    (void)state;
    assert_true(path_inside("/a/b", "/a/b", false));
    assert_true(path_inside("/a/b/c", "/a/b", false));
    assert_true(path_inside("/a/b/c", "/a/b/", false));
    assert_true(path_inside("/a", "/", false));
    assert_false(path_inside("/a/bc", "/a/b", false));
    assert_false(path_inside("/a", "/a/b", false));
    assert_false(path_inside("/A/b", "/a", false));
    assert_true(path_inside("/A/b", "/a", true));
}

/* ".." behind a link: by text it stays, for the kernel it leaves. */
static void
test_names_follow_links(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *link = fs_join(dir, "in/link"), *out = fs_join(dir, "out/deep");
    struct path_names n;
    temp_file_write(dir, "in/f", "");
    temp_file_write(dir, "out/deep/f", "");
    assert_int_equal(symlink(out, link), 0);
    char *in = fs_join(dir, "in"), *outside = fs_join(dir, "out/x"), *named = fs_join(dir, "in/x");
    path_names_init(&n, in, "link/../x", false);
    bool saw_named = false, saw_outside = false;
    for (size_t i = 0; i < n.n; i++) {
        saw_named |= strcmp(n.v[i], named) == 0;
        saw_outside |= strcmp(n.v[i], outside) == 0;
    }
    assert_true(saw_named);
    assert_true(saw_outside);
    assert_false(n.lost);
    path_names_release(&n);
    path_names_init(&n, in, ".\u200bgit", true);
    assert_string_equal(fs_basename(n.v[0]), ".git");
    path_names_release(&n);
    free(in);
    free(outside);
    free(named);
    free(link);
    free(out);
    temp_dir_remove(dir);
}

static void
test_protected(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int want; /* 0 no, 1 protected, 2 own */
    } cases[] = {
        {"/r/.git/config", 1},
        {"/r/a/b/.git", 1},
        {"/r/.gitignore", 0},
        {"/r/.GIT/x", 1},
        {"/r/.github/x", 0},
        {"/r/.yare/x", 2},
        {"/r/sub/.yare/x", 2},
        {"/r/yare/x", 0},
        {"/r/.claude/x", 2},
        {"/r/.claude/worktrees/w/x", 0},
        {"/r/.claude/worktrees/w/.git/x", 1},
        {"/r/.vscode", 1},
        {"/r/.bashrc", 1},
        {"/r/.bash_aliases", 1},
        {"/r/bashrc", 0},
        {"/r/.envrc", 1},
        {"/r/.env", 0},
        {"/r/.npmrc", 1},
        {"/r/.mcp.json", 1},
        {"/r/.git./x", 1},
        {"/h/.config/yare/x", 2},
        {"/h/.config/git/x", 1},
        {"/h/.claude.json", 2},
        {"/h/x", 0},
        {"/r/.pnp.cjs", 1},
        {"/r/.husky/x", 1},
        {"/h/.local/share/yare/x", 2},
    };
    const char *roots[] = {"/r"};
    struct own_dirs own_dirs = {
        .made = true, .v = {(char *)"/h/.config/yare", (char *)"/h/.local/share/yare"}, .n = 2};
    struct chain c = {
        .home = (char *)"/h", .roots = (char **)roots, .n_roots = 1, .own = &own_dirs};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool own = false;
        const char *what = path_protected(&c, cases[i].path, false, &own);
        int got = own ? 2 : what ? 1 : 0;
        if (got != cases[i].want)
            fail_msg("%s: %d, should be %d", cases[i].path, got, cases[i].want);
    }
    bool own = false;
    assert_non_null(path_protected(&c, "/h/.config", true, &own));
    assert_true(own);
}

/* Within a decision one answer holds: what was asked on the way to where a name leads, and through links what they lead to. */
static void
test_one_answer(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "f"), *none = fs_join(dir, "none"),
         *link = fs_join(dir, "link"), *lost = fs_join(dir, "lost");
    struct stat st;
    temp_file_write(dir, "f", "four");
    assert_int_equal(symlink("f", link), 0);
    assert_int_equal(symlink("nowhere", lost), 0);
    /* one after the other: names may share a place of the cache */
    struct path_cache *before = path_cache_begin();
    free(path_resolve(file));
    temp_file_write(dir, "f", "longer");
    assert_true(path_stat(file, &st));
    assert_int_equal(st.st_size, 4);
    free(path_resolve(none));
    temp_file_write(dir, "none", "");
    assert_false(path_stat(none, &st));
    free(path_resolve(link));
    assert_true(path_stat(link, &st) && S_ISREG(st.st_mode));
    free(path_resolve(lost));
    assert_false(path_stat(lost, &st));
    path_cache_end(before);
    assert_true(path_stat(none, &st));
    free(file);
    free(none);
    free(link);
    free(lost);
    temp_dir_remove(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_every_name_counts),
        cmocka_unit_test(test_user_file_anchor),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_names_follow_links),
        cmocka_unit_test(test_one_answer),
        cmocka_unit_test(test_protected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
