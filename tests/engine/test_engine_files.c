/* Completion of file names: answered from a thread beside the engine, bounded, always answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "fakes/rig.h"

static void
put(const char *root, const char *rel, const char *text)
{
    char *path = fs_join(root, rel), *dir = fs_dirname(path);
    struct err err;

    assert_true(fs_mkdirs(dir, 0755, &err));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(dir);
    free(path);
}

static void
make_files(const char *root, int n)
{
    put(root, ".git/HEAD", "ref: refs/heads/main\n");
    put(root, ".gitignore", "*.o\n");
    for (int i = 0; i < n; i++) {
        char name[40];
        snprintf(name, sizeof name, "src/d%d/file%04d.c", i / 500, i);
        put(root, name, "");
    }
    put(root, "src/file0001.o", "");
}

static void
post(struct rig *r, const char *word, uint64_t seq)
{
    struct op *op = op_new(OP_QUERY, word);

    op->query = QUERY_FILES;
    op->seq = seq;
    engine_post(r->e, op);
}

/* The answer of that seq; yours. */
static struct cJSON *
answer(struct rig *r, uint64_t seq)
{
    const struct event *e = rig_kind(r, EV_ANSWER);

    assert_int_equal(e->seq, seq);
    struct cJSON *tree = json_parse(str_from(e->u.answer.json), NULL);
    assert_non_null(tree);
    return tree;
}

static void
test_files_are_found_and_bounded(void **state)
{
    (void)state;
    struct rig r;

    rig_init(&r);
    make_files(r.root, 2500);
    rig_start(&r);
    post(&r, "file0001", 7);
    struct cJSON *tree = answer(&r, 7);
    assert_int_equal(json_len(json_at(tree, "files")), 1);
    assert_true(str_is(json_value_str(json_first(json_at(tree, "files"))), "src/d0/file0001.c"));
    assert_true(json_bool(tree, "complete", false));
    json_free(tree);
    post(&r, "", 8);
    tree = answer(&r, 8);
    assert_int_equal(json_len(json_at(tree, "files")), 2000);
    assert_false(json_bool(tree, "complete", true));
    json_free(tree);
    rig_end(&r);
}

/* A new word does not wait for the walk of the last one, and neither is left without an answer. */
static void
test_each_query_is_answered(void **state)
{
    (void)state;
    struct rig r;

    rig_init(&r);
    make_files(r.root, 300);
    rig_start(&r);
    for (uint64_t i = 1; i <= 20; i++)
        post(&r, "nothing like it", i);
    for (uint64_t i = 1; i <= 20; i++)
        json_free(answer(&r, i));
    post(&r, "file", 21); /* still under way when the engine ends */
    rig_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_found_and_bounded),
        cmocka_unit_test(test_each_query_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
