/* Which instruction files are read, in which order, and what of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ext/memory.h"
#include "ext/memory_text.h"
#include "unit/temp_dir.h"

struct world {
    char *top, *home, *root, *cwd, *config, *etc;
    struct memory m;
    struct memory_options o;
};

static int
set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof *w);
    char *made = temp_dir_make();
    w->top = realpath(made, NULL);
    free(made);
    w->home = fs_join(w->top, "home");
    w->root = fs_join(w->top, "home/code/proj");
    w->cwd = fs_join(w->top, "home/code/proj/src/deep");
    w->config = fs_join(w->top, "home/.config/yare");
    w->etc = fs_join(w->top, "etc");
    temp_file_write(w->cwd, "x.c", "int x;\n");
    w->o = (struct memory_options){.home = w->home,
                                   .config_dir = w->config,
                                   .system_dir = w->etc,
                                   .root = w->root,
                                   .cwd = w->cwd};
    memory_init(&w->m);
    *state = w;
    return 0;
}

static int
tear_down(void **state)
{
    struct world *w = *state;
    memory_release(&w->m);
    temp_dir_remove(w->top);
    free(w->home);
    free(w->root);
    free(w->cwd);
    free(w->config);
    free(w->etc);
    free(w);
    return 0;
}

static const char *
loaded(struct world *w)
{
    memory_release(&w->m);
    memory_init(&w->m);
    memory_load(&w->o, &w->m);
    return buf_cstr(&w->m.text);
}

static const struct memory_file *
row_of(const struct world *w, const char *end)
{
    for (size_t i = 0; i < w->m.n; i++)
        if (str_ends(str_from(w->m.files[i].path), end))
            return &w->m.files[i];
    return NULL;
}

/* The words stand in this order. */
static void
in_order(const char *text, const char *const *words)
{
    const char *at = text;
    for (; *words; words++) {
        const char *found = strstr(at, *words);
        if (!found)
            fail_msg("'%s' is not there, or not in its place, in:\n%s", *words, text);
        at = found;
    }
}

static void
test_what_is_nearest_is_read_last(void **state)
{
    struct world *w = *state;
    temp_file_write(w->etc, "claude-code/CLAUDE.md", "MANAGED\n");
    temp_file_write(w->home, ".claude/CLAUDE.md", "USER\n");
    temp_file_write(w->home, ".claude/rules/a.md", "USERRULE\n");
    temp_file_write(w->config, "AGENTS.md", "OWN\n");
    temp_file_write(w->home, "code/CLAUDE.md", "ABOVE\n");
    temp_file_write(w->root, ".claude/CLAUDE.md", "ROOT\n");
    temp_file_write(w->root, "CLAUDE.local.md", "LOCAL\n");
    temp_file_write(w->root, ".claude/rules/sub/b.md", "---\nname: b\n---\nRULE\n");
    temp_file_write(w->root, "src/CLAUDE.md", "SRC\n");
    temp_file_write(w->root, "src/deep/CLAUDE.md", "DEEP\n");
    temp_file_write(w->root, "other/CLAUDE.md", "OTHER\n");
    const char *text = loaded(w);
    in_order(text, (const char *const[]){"MANAGED", "USER", "USERRULE", "OWN", "ABOVE", "ROOT",
                                         "LOCAL", "RULE", "SRC", "DEEP", NULL});
    assert_null(strstr(text, "OTHER"));
    assert_null(strstr(text, "name: b"));
    assert_int_equal(w->m.n, 10);
}

static void
test_agents_counts_where_no_claude_file_is(void **state)
{
    struct world *w = *state;
    temp_file_write(w->root, "AGENTS.md", "AGENTS\n");
    temp_file_write(w->root, "src/AGENTS.md", "NESTED\n");
    in_order(loaded(w), (const char *const[]){"AGENTS", "NESTED", NULL});

    temp_file_write(w->root, "src/deep/CLAUDE.md", "CLAUDE\n");
    const char *text = loaded(w);
    assert_null(strstr(text, "AGENTS"));
    assert_non_null(strstr(text, "CLAUDE\n"));

    w->o.both = true;
    in_order(loaded(w), (const char *const[]){"AGENTS", "NESTED", "CLAUDE\n", NULL});
}

static void
test_a_link_to_the_same_file_is_read_once(void **state)
{
    struct world *w = *state;
    w->o.both = true;
    temp_file_write(w->root, "CLAUDE.md", "ONCE\n");
    char *link = fs_join(w->root, "AGENTS.md");
    assert_int_equal(symlink("CLAUDE.md", link), 0);
    free(link);
    const char *first = strstr(loaded(w), "ONCE");
    assert_non_null(first);
    assert_null(strstr(first + 1, "ONCE"));
}

static void
test_imports_are_followed_outside_code_alone(void **state)
{
    struct world *w = *state;
    temp_file_write(
        w->root, "CLAUDE.md",
        "See @docs/style.md, and (@docs/with\\ blank.md). Ask @someone, me@docs/mail.md.\n"
        "`@docs/code.md` and\n```\n@docs/fence.md\n```\n@~/own.md @../../elsewhere.md\n");
    temp_file_write(w->root, "docs/style.md", "STYLE @one.md\n");
    temp_file_write(w->root, "docs/one.md", "ONE @two.md\n");
    temp_file_write(w->root, "docs/two.md", "TWO @three.md @style.md\n");
    temp_file_write(w->root, "docs/three.md", "THREE @four.md\n");
    temp_file_write(w->root, "docs/four.md", "FOUR\n");
    temp_file_write(w->root, "docs/with blank.md", "BLANK\n");
    temp_file_write(w->root, "docs/mail.md", "MAIL\n");
    temp_file_write(w->root, "docs/code.md", "CODE\n");
    temp_file_write(w->root, "docs/fence.md", "FENCE\n");
    temp_file_write(w->home, "own.md", "OWN\n");
    temp_file_write(w->home, "elsewhere.md", "ELSEWHERE\n");
    const char *text = loaded(w);
    in_order(text,
             (const char *const[]){"See @docs", "STYLE", "ONE", "TWO", "THREE", "BLANK", NULL});
    static const char *const not_in[] = {"FOUR", "MAIL", "CODE", "FENCE", "OWN", "ELSEWHERE"};
    for (size_t i = 0; i < ARRAY_LEN(not_in); i++)
        assert_null(strstr(text, not_in[i]));
    assert_string_equal(row_of(w, "docs/four.md")->left_out, "imports go 4 deep at most");
    assert_non_null(strstr(row_of(w, "/own.md")->left_out, "outside the project"));
    assert_true(str_ends(str_from(row_of(w, "docs/one.md")->imported_by), "docs/style.md"));
}

static void
test_the_users_own_file_imports_from_anywhere(void **state)
{
    struct world *w = *state;
    temp_file_write(w->home, ".claude/CLAUDE.md", "USER @~/own.md @/nowhere/at/all.md\n");
    temp_file_write(w->home, "own.md", "OWN\n");
    in_order(loaded(w), (const char *const[]){"USER", "OWN", NULL});
}

static void
test_a_project_leads_nowhere_by_link(void **state)
{
    struct world *w = *state;
    temp_file_write(w->home, ".ssh/id", "SECRET\n");
    temp_file_write(w->root, "CLAUDE.md", "@docs/inside.md\n");
    temp_file_write(w->root, "docs/x.md", "x\n");
    char *target = fs_join(w->home, ".ssh/id"), *inside = fs_join(w->root, "docs/inside.md"),
         *local = fs_join(w->root, "CLAUDE.local.md");
    assert_int_equal(symlink(target, inside), 0);
    assert_int_equal(symlink(target, local), 0);
    assert_null(strstr(loaded(w), "SECRET"));
    assert_non_null(strstr(row_of(w, "CLAUDE.local.md")->left_out, "a link to"));
    assert_non_null(row_of(w, "docs/inside.md")->left_out);
    free(target);
    free(inside);
    free(local);
}

static bool
refuse_env(void *user, const char *path)
{
    (void)user;
    return !str_ends(str_from(path), ".env");
}

static void
test_what_is_denied_excluded_or_waiting_stays_out(void **state)
{
    struct world *w = *state;
    char *exclude = fs_join(w->root, "src/**");
    char *list[] = {exclude, NULL};
    w->o.excludes = list;
    w->o.may_read = refuse_env;
    temp_file_write(w->root, "CLAUDE.md",
                    "ROOT @.env\n<!-- note\nof mine -->\nafter\n```\n<!-- kept -->\n```\n");
    temp_file_write(w->root, ".env", "KEY=1\n");
    temp_file_write(w->root, "src/CLAUDE.md", "EXCLUDED\n");
    temp_file_write(w->root, ".claude/rules/paths.md", "---\npaths:\n  - '*.py'\n---\nPYTHON\n");
    const char *text = loaded(w);
    in_order(text, (const char *const[]){"ROOT", "after", "<!-- kept -->", NULL});
    assert_null(strstr(text, "of mine"));
    assert_null(strstr(text, "KEY"));
    assert_null(strstr(text, "EXCLUDED"));
    assert_null(strstr(text, "PYTHON"));
    assert_string_equal(row_of(w, ".env")->left_out, "a rule denies reading it");
    assert_non_null(strstr(row_of(w, "paths.md")->left_out, "waits"));
    assert_null(row_of(w, "src/CLAUDE.md"));
    free(exclude);
}

/* As some editors save it: the model would get junk, and the person would think that it has read it. */
static void
test_another_encoding_is_told(void **state)
{
    struct world *w = *state;
    temp_file_write(w->root, "CLAUDE.md", "\xff\xfeR");
    temp_file_write(w->root, "src/CLAUDE.md", "\xfe\xff");
    temp_file_write(w->root, "src/deep/CLAUDE.md",
                    "\xef\xbb\xbf"
                    "deep rule");
    assert_non_null(strstr(loaded(w), "deep rule"));
    assert_string_equal(row_of(w, "proj/CLAUDE.md")->left_out,
                        "it is written in UTF-16; save it in UTF-8");
    assert_non_null(row_of(w, "src/CLAUDE.md")->left_out);
    assert_null(row_of(w, "deep/CLAUDE.md")->left_out);
}

static void
test_too_much_is_told(void **state)
{
    struct world *w = *state;
    char *big = xmalloc(MEMORY_FILE_MAX + 2);
    memset(big, 'x', MEMORY_FILE_MAX + 1);
    big[MEMORY_FILE_MAX + 1] = '\0';
    temp_file_write(w->root, "CLAUDE.md", big);
    big[MEMORY_FILE_MAX - 500] = '\0';
    temp_file_write(w->root, "src/CLAUDE.md", big);
    big[1000] = '\0';
    temp_file_write(w->root, "src/deep/CLAUDE.md", big);
    loaded(w);
    assert_non_null(strstr(row_of(w, "proj/CLAUDE.md")->left_out, "larger than"));
    assert_null(row_of(w, "src/CLAUDE.md")->left_out);
    assert_non_null(strstr(row_of(w, "deep/CLAUDE.md")->left_out, "all instructions together"));
    free(big);
}

static void
test_too_many_files_are_told(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < MEMORY_FILES_MAX + 20; i++) {
        char name[64];
        snprintf(name, sizeof name, ".claude/rules/%c/r%03d.md", i % 2 ? 'a' : 'b', i);
        temp_file_write(w->root, name, "a rule\n");
    }
    loaded(w);
    assert_int_equal(w->m.n, MEMORY_FILES_MAX + 1);
    assert_non_null(strstr(w->m.files[MEMORY_FILES_MAX].left_out, "only 200 files"));
}

/* Links that lead back up make a tree without end of a few names. */
static void
test_folders_that_lead_back_are_read_a_bounded_number_of_times(void **state)
{
    struct world *w = *state;
    temp_file_write(w->root, ".claude/rules/x.md", "the rule\n");
    for (int i = 0; i < 12; i++) {
        char name[64];
        snprintf(name, sizeof name, ".claude/rules/back%02d", i);
        char *link = fs_join(w->root, name);
        assert_int_equal(symlink(".", link), 0);
        free(link);
    }
    in_order(loaded(w), (const char *const[]){"the rule", NULL});
    size_t told = 0;
    for (size_t i = 0; i < w->m.n; i++)
        told += w->m.files[i].left_out && strstr(w->m.files[i].left_out, "only 200 folders");
    assert_int_equal(told, 1);
}

static void
test_only_whole_comments_are_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text, *plain;
    } rows[] = {
        {"<!-- never closed\nx", "<!-- never closed\nx"},
        {"<!-- a --> b\n", " b\n"},
        {"a <!-- b -->\n", "a <!-- b -->\n"},
        {"````\n<!-- a -->\n```\n<!-- b -->\n````\n<!-- c -->\nd",
         "````\n<!-- a -->\n```\n<!-- b -->\n````\nd"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        memory_strip(str_from(rows[i].text), &b);
        assert_string_equal(buf_cstr(&b), rows[i].plain);
        buf_release(&b);
    }
    struct str body;
    assert_false(memory_has_paths(STR("---\npaths: x\nno end"), &body));
    assert_true(memory_has_paths(STR("---\r\npaths: x\r\n---\r\nbody"), &body));
    assert_true(str_is(body, "body"));
}

/* What waits in folders and for paths comes when a file there is looked at, once. */
static void
test_what_waits_comes_when_it_is_touched(void **state)
{
    struct world *w = *state;
    temp_file_write(w->root, "CLAUDE.md", "ROOT\n");
    temp_file_write(w->root, "lib/CLAUDE.md", "LIB\n");
    temp_file_write(w->root, "lib/sub/AGENTS.md", "NOT-THIS\n");
    temp_file_write(w->root, "lib/sub/CLAUDE.local.md", "LOCAL\n");
    temp_file_write(w->root, "lib/.claude/rules/c.md", "---\npaths: \"**/*.{c,h}\"\n---\nC-RULE\n");
    temp_file_write(w->root, ".claude/rules/py.md",
                    "---\npaths:\n  - tools/**/*.py\n---\nPY-RULE\n");
    const char *text = loaded(w);
    assert_non_null(strstr(text, "ROOT"));
    assert_null(strstr(text, "LIB"));
    char *c = fs_join(w->root, "lib/sub/a.c"), *py = fs_join(w->root, "tools/x/y.py");
    char *outside = fs_join(w->home, "other/CLAUDE.md");
    buf_clear(&w->m.text);
    memory_touch(&w->o, &w->m, c, false);
    text = buf_cstr(&w->m.text);
    assert_non_null(strstr(text, "LIB"));
    assert_non_null(strstr(text, "LOCAL"));
    assert_non_null(strstr(text, "C-RULE"));
    assert_null(strstr(text, "NOT-THIS"));
    assert_null(strstr(text, "ROOT"));
    assert_null(strstr(text, "paths:"));
    assert_null(strstr(text, "PY-RULE"));
    buf_clear(&w->m.text);
    memory_touch(&w->o, &w->m, c, true);
    memory_touch(&w->o, &w->m, c, false);
    assert_int_equal(w->m.text.len, 0);
    memory_touch(&w->o, &w->m, outside, false);
    assert_int_equal(w->m.text.len, 0);
    memory_touch(&w->o, &w->m, py, false);
    assert_non_null(strstr(buf_cstr(&w->m.text), "PY-RULE"));
    free(c);
    free(py);
    free(outside);
}

static void
test_the_globs_of_paths(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path;
        bool match;
    } cases[] = {
        {"---\npaths: src/**/*.c\n---\n", "src/a/b.c", true},
        {"---\npaths: src/**/*.c\n---\n", "lib/b.c", false},
        {"---\npaths: \"*.md\", '*.{c,h}'\n---\n", "x.h", true},
        {"---\npaths: [\"a/**\", b/*]\n---\n", "b/c", true},
        {"---\npaths:\n  - ./a/*\n  - \"b/*\"\nother:\n  - c/*\n---\n", "a/x", true},
        {"---\npaths:\n  - ./a/*\nother:\n  - c/*\n---\n", "c/x", false},
        {"no front matter\npaths: *\n", "x", false},
        {"---\npaths:\n---\n", "x", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (memory_paths_match(str_from(cases[i].text), str_from(cases[i].path)) != cases[i].match)
            fail_msg("case %zu: %s %s", i, cases[i].text, cases[i].path);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_what_is_nearest_is_read_last),
        T(test_agents_counts_where_no_claude_file_is),
        T(test_a_link_to_the_same_file_is_read_once),
        T(test_imports_are_followed_outside_code_alone),
        T(test_the_users_own_file_imports_from_anywhere),
        T(test_a_project_leads_nowhere_by_link),
        T(test_what_is_denied_excluded_or_waiting_stays_out),
        T(test_another_encoding_is_told),
        T(test_too_much_is_told),
        T(test_too_many_files_are_told),
        T(test_folders_that_lead_back_are_read_a_bounded_number_of_times),
        T(test_what_waits_comes_when_it_is_touched),
        cmocka_unit_test(test_only_whole_comments_are_cut),
        cmocka_unit_test(test_the_globs_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
