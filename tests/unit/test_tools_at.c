/*
 * What is opened is what was judged: while a thread swaps links in and out of a path, Read, Edit, Write and Grep run again and again,
 * and nothing outside is ever read or written.
 */
#include "unit/tool_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tools/at.h"

enum { ROUNDS = 2000 };

struct race {
    struct bench b;
    char *outside; /* a folder next to the project */
    char *spot;    /* proj/spot: a folder, then a link to outside, and so on */
    char *aside;   /* where the folder waits meanwhile */
    char *leaf;    /* proj/leaf: a file, then a link to outside/secret */
    atomic_bool stop;
    atomic_uint swaps;
    unsigned made; /* folders that Write made meanwhile */
    atomic_bool broke;
};

/* Write makes the folder anew when it finds it gone between two steps of a swap: that one goes out of the way. */
static bool
out_of_the_way(struct race *r)
{
    char *made = xasprintf("%s-%u", r->aside, r->made++);
    bool ok = !atomic_load(&r->stop) && (rename(r->spot, made) == 0 || errno == ENOENT);
    free(made);
    return ok;
}

static bool
put_link(struct race *r)
{
    if (rename(r->spot, r->aside) != 0)
        return false;
    while (symlink(r->outside, r->spot) != 0)
        if (errno != EEXIST || !out_of_the_way(r))
            return false;
    return true;
}

static bool
put_folder(struct race *r)
{
    if (unlink(r->spot) != 0)
        return false;
    while (rename(r->aside, r->spot) != 0)
        if ((errno != ENOTEMPTY && errno != EEXIST) || !out_of_the_way(r))
            return false;
    return true;
}

static void *
swap_folder(void *arg)
{
    struct race *r = arg;
    while (!atomic_load(&r->stop)) {
        if (!put_link(r))
            break;
        sched_yield();
        if (!put_folder(r))
            break;
        atomic_fetch_add(&r->swaps, 1);
        sched_yield(); /* in both states alike, or one core sees one of them alone */
    }
    atomic_store(&r->broke, !atomic_load(&r->stop));
    return NULL;
}

static void *
swap_leaf(void *arg)
{
    struct race *r = arg;
    char *secret = fs_join(r->outside, "secret"), *link = fs_join(r->b.root, "link.tmp"),
         *file = fs_join(r->b.root, "file.tmp");
    while (!atomic_load(&r->stop)) {
        if (symlink(secret, link) != 0 || rename(link, r->leaf) != 0)
            break;
        sched_yield();
        int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, "inside\n", 7) != 7)
            break;
        close(fd);
        if (rename(file, r->leaf) != 0)
            break;
        atomic_fetch_add(&r->swaps, 1);
        sched_yield();
    }
    atomic_store(&r->broke, !atomic_load(&r->stop));
    free(secret);
    free(link);
    free(file);
    return NULL;
}

static void
race_init(struct race *r)
{
    memset(r, 0, sizeof *r);
    bench_init(&r->b);
    r->outside = xasprintf("%s-outside", r->b.root);
    r->spot = fs_join(r->b.root, "spot");
    r->aside = fs_join(r->b.root, "aside");
    r->leaf = fs_join(r->b.root, "leaf");
    bench_put(&r->b, "spot/secret", STR("inside\n"));
    bench_put(&r->b, "leaf", STR("inside\n"));
    char *secret = fs_join(r->outside, "secret");
    struct err err;
    assert_int_equal(mkdir(r->outside, 0755), 0);
    assert_true(fs_write_atomic(secret, STR("OUTSIDE\n"), 0644, &err));
    free(secret);
}

/* Nothing came to be outside, and what was there is as it was. */
static void
race_end(struct race *r)
{
    char *secret = fs_join(r->outside, "secret"), *made = fs_join(r->outside, "new"),
         *deep = fs_join(r->outside, "deep");
    struct buf text;
    struct err err;
    buf_init(&text, BUF_MAX);
    assert_true(fs_read(secret, BUF_MAX - 1, &text, &err));
    assert_string_equal(buf_cstr(&text), "OUTSIDE\n");
    assert_false(fs_exists(made));
    assert_false(fs_exists(deep));
    char *argv[] = {"rm", "-rf", r->outside, NULL};
    test_run(argv);
    buf_release(&text);
    free(secret);
    free(made);
    free(deep);
    free(r->outside);
    free(r->spot);
    free(r->aside);
    free(r->leaf);
    bench_release(&r->b);
}

/* The places that the decision was about, as the engine hands them down. */
static void
judge(struct race *r, const char *judged[3], char *own[2], const char *a, const char *b)
{
    own[0] = fs_join(r->b.root, a);
    own[1] = fs_join(r->b.root, b);
    judged[0] = own[0];
    judged[1] = own[1];
    judged[2] = NULL;
    r->b.ctx.judged = judged;
}

static void
never_outside(const struct race *r)
{
    if (strstr(buf_cstr(&r->b.r.text), "OUTSIDE"))
        fail_msg("what lies outside was read: %s", buf_cstr(&r->b.r.text));
}

static void
test_a_folder_is_swapped(void **state)
{
    (void)state;
    struct race r;
    const char *judged[3];
    char *own[2];
    pthread_t t;
    size_t good = 0, stale = 0;
    race_init(&r);
    judge(&r, judged, own, "spot/secret", "spot/new");
    assert_int_equal(pthread_create(&t, NULL, swap_folder, &r), 0);
    while (atomic_load(&r.swaps) < 10)
        sched_yield();
    for (int i = 0; i < ROUNDS || !good || !stale; i++) {
        assert_false(atomic_load(&r.broke)); /* nothing is swapped any more */
        bench_run(&r.b, "Read", "{'file_path':'spot/secret'}");
        never_outside(&r);
        good += !r.b.r.is_error;
        stale += r.b.r.is_error && strstr(buf_cstr(&r.b.r.text), "between the decision") != NULL;
        bench_run(&r.b, "Edit",
                  "{'file_path':'spot/secret','old_string':'inside','new_string':'within'}");
        bench_run(&r.b, "Write", "{'file_path':'spot/new','content':'x%d'}", i);
        bench_run(&r.b, "Write", "{'file_path':'spot/secret','content':'inside %d\\n'}", i);
        never_outside(&r);
        bench_run(&r.b, "Grep",
                  "{'pattern':'OUTSIDE','path':'spot/secret','output_mode':'content'}");
        never_outside(&r);
    }
    atomic_store(&r.stop, true);
    pthread_join(t, NULL);
    assert_true(good > 0);
    assert_true(stale > 0);
    free(own[0]);
    free(own[1]);
    race_end(&r);
}

static void
test_a_file_is_swapped(void **state)
{
    (void)state;
    struct race r;
    const char *judged[3];
    char *own[2];
    pthread_t t;
    size_t good = 0;
    race_init(&r);
    judge(&r, judged, own, "leaf", "leaf");
    assert_int_equal(pthread_create(&t, NULL, swap_leaf, &r), 0);
    while (atomic_load(&r.swaps) < 10)
        sched_yield();
    for (int i = 0; i < ROUNDS || !good; i++) {
        assert_false(atomic_load(&r.broke));
        bench_run(&r.b, "Read", "{'file_path':'leaf'}");
        never_outside(&r);
        good += !r.b.r.is_error;
        bench_run(&r.b, "Write", "{'file_path':'leaf','content':'inside %d\\n'}", i);
        bench_run(&r.b, "Grep", "{'pattern':'OUTSIDE','path':'leaf','output_mode':'content'}");
        never_outside(&r);
    }
    atomic_store(&r.stop, true);
    pthread_join(t, NULL);
    assert_true(good > 0);
    free(own[0]);
    free(own[1]);
    race_end(&r);
}

/* Each way in which a path may lead elsewhere by the time of the use. */
static void
test_what_changed_is_refused(void **state)
{
    (void)state;
    struct race r;
    struct err err;
    const char *name;
    race_init(&r);
    char *file = fs_join(r.b.root, "spot/secret"), *deep = fs_join(r.b.root, "spot/deep/er/x");
    int fd = at_open(file, O_RDONLY, &err);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(rename(r.spot, r.aside), 0);
    assert_int_equal(symlink(r.outside, r.spot), 0);
    assert_int_equal(at_open(file, O_RDONLY, &err), -1);
    assert_int_equal(err.code, ERR_STALE);
    assert_has(err.text, "changed between the decision and the use");
    assert_int_equal(at_open_folder(deep, true, &name, &err), -1);
    assert_int_equal(err.code, ERR_STALE);
    free(file);
    free(deep);
    race_end(&r);
}

static void
test_a_link_in_the_place_of_the_file_is_replaced_not_followed(void **state)
{
    (void)state;
    struct race r;
    struct err err;
    struct stat st;
    int64_t mtime;
    const char *name;
    race_init(&r);
    char *secret = fs_join(r.outside, "secret"), *made = fs_join(r.b.root, "new");
    int dir = at_open_folder(made, false, &name, &err);
    assert_true(dir >= 0);
    /* where nothing may stand */
    assert_int_equal(symlink(secret, made), 0);
    assert_false(at_replace(dir, name, made, STR("x"), NULL, 0644, &mtime, &err));
    assert_int_equal(err.code, ERR_STALE);
    /* where another file stood */
    assert_int_equal(stat(r.leaf, &st), 0);
    assert_int_equal(unlink(r.leaf), 0);
    assert_int_equal(symlink(secret, r.leaf), 0);
    assert_false(at_replace(dir, "leaf", r.leaf, STR("x"), &st, 0, &mtime, &err));
    assert_int_equal(err.code, ERR_STALE);
    close(dir);
    free(secret);
    free(made);
    race_end(&r);
}

/* Another name of a file outside keeps what it had. */
static void
test_a_hard_link_is_cut(void **state)
{
    (void)state;
    struct race r;
    race_init(&r);
    char *secret = fs_join(r.outside, "secret");
    assert_int_equal(unlink(r.leaf), 0);
    assert_int_equal(link(secret, r.leaf), 0);
    bench_run(&r.b, "Read", "{'file_path':'leaf'}");
    bench_run(&r.b, "Edit", "{'file_path':'leaf','old_string':'OUTSIDE','new_string':'mine'}");
    assert_false(r.b.r.is_error);
    struct buf got = bench_get(&r.b, "leaf");
    assert_string_equal(buf_cstr(&got), "mine\n");
    buf_release(&got);
    free(secret);
    race_end(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_folder_is_swapped),
        cmocka_unit_test(test_a_file_is_swapped),
        cmocka_unit_test(test_what_changed_is_refused),
        cmocka_unit_test(test_a_link_in_the_place_of_the_file_is_replaced_not_followed),
        cmocka_unit_test(test_a_hard_link_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
