#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"

static char top[64];

static int
setup(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/tmp/yare-fs-XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int
teardown(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        execlp("rm", "rm", "-rf", top, (char *)NULL);
    waitpid(pid, NULL, 0);
    return 0;
}

static void
normalizing(void **state)
{
    static const char *const rows[][3] = {
        {"/a/b", "c", "/a/b/c"}, {"/a/b", "../c", "/a/c"}, {"/a", "/x/../y/./z//", "/y/z"},
        {"/", "..", "/"},        {"/a", "../../..", "/"},  {"/a", ".", "/a"},
        {"/a", "", "/a"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *got = fs_normalize(rows[i][0], rows[i][1]);
        assert_string_equal(got, rows[i][2]);
        free(got);
    }
}

static void
resolving(void **state)
{
    struct err err = {0};
    (void)state;
    char *dir = fs_join(top, "d"), *link = fs_join(top, "l"), *dangling = fs_join(top, "dangling"),
         *loop = fs_join(top, "loop");
    assert_true(fs_mkdirs(dir, 0700, &err));
    assert_int_equal(symlink("d", link), 0);
    assert_int_equal(symlink("d/none/x", dangling), 0);
    assert_int_equal(symlink("loop", loop), 0);
    char *in = fs_join(link, "no/such"), *want = fs_join(dir, "no/such"),
         *got = fs_resolve(in, &err);
    char *real_top = realpath(top, NULL);
    assert_string_equal(got + strlen(real_top), want + strlen(top));
    free(got);
    got = fs_resolve(dangling, &err); /* where a write through it would land */
    assert_non_null(got);
    assert_string_equal(got + strlen(real_top), "/d/none/x");
    free(got);
    assert_null(fs_resolve(loop, &err));
    free(real_top), free(in), free(want), free(dir), free(link), free(dangling), free(loop);
}

static void
atomic_writes(void **state)
{
    struct err err = {0};
    struct stat st;
    struct buf b;
    (void)state;
    buf_init(&b, BUF_MAX);
    char *file = fs_join(top, "f"), *link = fs_join(top, "fl");
    assert_true(fs_write_atomic(file, STR("one"), 0640, &err));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod(file, 0755), 0);
    assert_int_equal(symlink("f", link), 0);
    assert_true(fs_write_atomic(link, STR("two"), 0600, &err)); /* the target, not the link */
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    assert_true(fs_read(file, 100, &b, &err));
    assert_string_equal(b.data, "two");
    assert_true(fs_write_soon(link, STR("own"), 0600, &err)); /* all of this but the sync */
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    buf_clear(&b);
    assert_true(fs_read(file, 100, &b, &err));
    assert_string_equal(b.data, "own");
    assert_true(fs_write_soon(file, STR("two"), 0600, &err));
    assert_false(fs_write_soon("/nonexistent-dir/x", STR(""), 0600, &err));
    assert_false(fs_read(file, 2, &b, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    struct buf full; /* a file just as large as the buffer may get */
    buf_init(&full, 3);
    assert_true(fs_read(file, 3, &full, &err));
    assert_string_equal(full.data, "two");
    buf_release(&full);
    assert_false(fs_read("/nonexistent-file", 10, &b, &err));
    assert_int_equal(err.sys, ENOENT);
    bool found = true;
    assert_true(fs_read_if("/nonexistent-file", 10, &b, &found, &err));
    assert_false(found);
    assert_false(fs_read(top, 10, &b, &err)); /* a folder */
    assert_false(fs_write_atomic("/nonexistent-dir/x", STR(""), 0600, &err));
    assert_false(fs_write_atomic(top, STR(""), 0600, &err));
    free(file), free(link);
    buf_release(&b);
}

/* Renaming over it would take a device away from everybody on the machine. */
static void
only_regular_files_are_replaced(void **state)
{
    struct err err = {0};
    struct stat st;
    (void)state;
    char *pipe = fs_join(top, "pipe"), *link = fs_join(top, "to-pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("pipe", link), 0);
    for (int i = 0; i < 2; i++) {
        assert_false(fs_write_atomic(i ? link : pipe, STR("x"), 0600, &err));
        assert_non_null(strstr(err.text, "not a regular file"));
    }
    assert_int_equal(stat(link, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    free(pipe), free(link);
}

static void
within(void **state)
{
    (void)state;
    assert_true(fs_is_within("/a/b", "/a/b"));
    assert_true(fs_is_within("/a/b/c", "/a/b"));
    assert_false(fs_is_within("/a/bc", "/a/b"));
    assert_false(fs_is_within("/a", "/a/b"));
    assert_true(fs_is_within("/a", "/"));
}

static void
finding_upwards(void **state)
{
    struct err err = {0};
    (void)state;
    char *low = fs_join(top, "up/x/y"), *mark = fs_join(top, "up/.mark"),
         *git = fs_join(top, "up/.git");
    assert_true(fs_mkdirs(low, 0700, &err));
    assert_true(fs_write_atomic(mark, STR(""), 0600, &err));
    char *found = fs_find_up(low, ".mark");
    assert_non_null(found);
    assert_true(str_ends(str_from(found), "/up"));
    assert_null(fs_find_up(low, ".no-such-mark-anywhere"));

    assert_null(fs_git_dir(found));
    assert_true(fs_write_atomic(git, STR("gitdir: ../elsewhere/.git\n"), 0600, &err));
    char *dir = fs_git_dir(found), *want = fs_join(top, "elsewhere/.git");
    assert_string_equal(dir, want);
    char *all[] = {low, mark, git, found, dir, want};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i]);
}

static void
slugs_and_locks(void **state)
{
    struct err err = {0};
    (void)state;
    char *slug = fs_slug("/home/a b/x_1");
    assert_string_equal(slug, "-home-a-b-x-1");
    free(slug);
    char *path = fs_join(top, "lock");
    int fd = fs_lock(path, 0, &err);
    assert_true(fd >= 0);
    assert_int_equal(fs_lock(path, 20, &err), -1);
    assert_int_equal(err.code, ERR_TIMEOUT);
    fs_unlock(path, fd);
    assert_false(fs_exists(path));
    fd = fs_lock(path, 0, &err);
    assert_true(fd >= 0);
    fs_unlock(path, fd);
    free(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(normalizing),
                                       cmocka_unit_test(resolving),
                                       cmocka_unit_test(atomic_writes),
                                       cmocka_unit_test(within),
                                       cmocka_unit_test(finding_upwards),
                                       cmocka_unit_test(slugs_and_locks),
                                       cmocka_unit_test(only_regular_files_are_replaced)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
