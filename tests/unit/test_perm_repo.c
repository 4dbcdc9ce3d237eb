/* git's read-only forms run free only where the project's own configuration names no program. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "perm/chain.h"
#include "unit/temp_dir.h"

static enum verdict
decide(const char *root, const char *command)
{
    struct perm_rules rules;
    struct decision d;
    struct buf text;
    struct jw w;

    buf_init(&text, BUF_MAX);
    jw_init(&w, &text);
    jw_object(&w);
    jw_kcstr(&w, "command", command);
    jw_end(&w);
    struct cJSON *input = json_parse(buf_str(&text), NULL);
    perm_rules_init(&rules);
    struct perm_request req = {.tool = "Bash",
                               .input = input,
                               .rules = &rules,
                               .root = root,
                               .cwd = root,
                               .home = "/nonexistent-home",
                               .trusted = true,
                               .interactive = true,
                               .case_insensitive = 0,
                               .tool_known = true};
    perm_chain_check(&req, &d);
    enum verdict v = d.verdict;
    decision_release(&d);
    perm_rules_release(&rules);
    json_free(input);
    buf_release(&text);
    return v;
}

static void
configurations(void **state)
{
    static const struct {
        const char *text;
        enum verdict want;
    } rows[] = {
        {"[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = "
         "x\n[user]\n\tname = external\n",
         VERDICT_ALLOW},
        {"[filter \"x\"]\n\tclean = touch pwned\n", VERDICT_ASK},
        {"[diff]\n\texternal = touch pwned\n", VERDICT_ASK},
        {"[diff \"x\"]\n\ttextconv = touch pwned\n", VERDICT_ASK},
        {"[DIFF]EXTERNAL=touch pwned\n", VERDICT_ASK},
        {"[include]\n\tpath = ../evil\n", VERDICT_ASK},
        {"[gpg]\n\tprogram = ./x\n", VERDICT_ASK},
        {"[core]\n\thooksPath = hooks\n", VERDICT_ASK},
        {"[merge \"x\"]\n\tdriver = touch pwned\n", VERDICT_ASK},
        {"[diff \"]\"] command = touch pwned\n", VERDICT_ASK},
        {"[remote \"origin\"]\n\tpromisor = true\n", VERDICT_ASK},
        {"# [filter \"x\"]\n", VERDICT_ALLOW},
    };
    (void)state;
    char *root = temp_dir_make();
    temp_file_write(root, ".git/HEAD", "ref: refs/heads/main\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        temp_file_write(root, ".git/config", rows[i].text);
        if (decide(root, "git status") != rows[i].want)
            fail_msg("row %zu: %s", i, rows[i].text);
    }
    temp_dir_remove(root);
}

/* The index lists a repository below: its configuration counts too. */
static void
repository_below(void **state)
{
    /* header, one entry: 24 bytes of times and places, the mode, owner, group, size, an object name, flags, the name */
    static const char head[] = "DIRC\0\0\0\2\0\0\0\1", mode[] = "\0\0\xE0\0";
    char index[120] = {0};
    (void)state;
    memcpy(index, head, 12);
    memcpy(index + 12 + 24, mode, 4);
    memcpy(index + 12 + 24 + 4 + 12 + 20 + 2, "sub", 3);
    char *root = temp_dir_make();
    temp_file_write(root, ".git/HEAD", "ref: refs/heads/main\n");
    temp_file_write(root, ".git/config", "[core]\n\tbare = false\n");
    temp_file_write(root, "sub/.git/config", "[filter \"x\"]\n\tclean = touch pwned\n");
    assert_int_equal(decide(root, "git status"), VERDICT_ALLOW);
    char *path = fs_join(root, ".git/index");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(index, 1, sizeof index, f), sizeof index);
    fclose(f);
    assert_int_equal(decide(root, "git status"), VERDICT_ASK);
    temp_file_write(root, "sub/.git/config", "[core]\n\tbare = false\n");
    assert_int_equal(decide(root, "git status"), VERDICT_ALLOW);
    /* A split index keeps its entries in another file. */
    char *shared = fs_join(root, ".git/sharedindex.3349f31948fe1b2faf8d7e8abc258cb6ebb1b562");
    assert_int_equal(rename(path, shared), 0);
    assert_int_equal(decide(root, "git status"), VERDICT_ALLOW);
    temp_file_write(root, "sub/.git/config", "[filter \"x\"]\n\tclean = touch pwned\n");
    assert_int_equal(decide(root, "git status"), VERDICT_ASK);
    /* A pipe in its place ends no decision, and hangs none. */
    assert_int_equal(unlink(shared), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(decide(root, "git status"), VERDICT_ALLOW);
    free(shared);
    free(path);
    temp_dir_remove(root);
}

/* status writes the index and runs this hook. */
static void
hook_of_the_index(void **state)
{
    (void)state;
    char *root = temp_dir_make();
    temp_file_write(root, ".git/config", "[core]\n\tbare = false\n");
    temp_file_write(root, ".git/hooks/post-index-change", "#!/bin/sh\n");
    char *path = fs_join(root, ".git/hooks/post-index-change");
    assert_int_equal(decide(root, "git status"), VERDICT_ALLOW);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(decide(root, "git status"), VERDICT_ASK);
    free(path);
    temp_dir_remove(root);
}

static void
linked_work_tree(void **state)
{
    (void)state;
    char *root = temp_dir_make();
    temp_file_write(root, "main/.git/config", "[filter \"x\"]\n\tclean = touch pwned\n");
    temp_file_write(root, "main/.git/worktrees/w/commondir", "../..\n");
    temp_file_write(root, "w/.git", "gitdir: ../main/.git/worktrees/w\n");
    char *w = fs_join(root, "w");
    assert_int_equal(decide(w, "git log -1"), VERDICT_ASK);
    temp_file_write(root, "main/.git/config", "[core]\n\tbare = false\n");
    assert_int_equal(decide(w, "git log -1"), VERDICT_ALLOW);
    free(w);
    temp_dir_remove(root);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations), cmocka_unit_test(repository_below),
        cmocka_unit_test(hook_of_the_index), cmocka_unit_test(linked_work_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
