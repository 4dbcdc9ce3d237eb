#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static struct store *
open_memory(void)
{
    struct err err;
    struct store *s = store_open("memory:", &err);
    assert_non_null(s);
    return s;
}

static void
expect_stored(struct store *s, const char *key, const char *want, uint64_t *ret_version)
{
    struct buf b;
    struct err err;
    buf_init(&b, 1000);
    assert_true(store_get(s, key, &b, ret_version, &err));
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static void
unknown_scheme_names_those_there_are(void **state)
{
    (void)state;
    struct err err;
    assert_null(store_open("carrier-pigeon://x", &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "'memory:'"));
    store_close(NULL);
}

static void
versions_guard_every_put(void **state)
{
    (void)state;
    struct store *s = open_memory();
    struct err err;
    uint64_t v0 = 99, v1, v2;
    expect_stored(s, "k", "", &v0);
    assert_int_equal(v0, 0);
    assert_true(store_put(s, "k", STR("one"), 0, &v1, &err));
    assert_false(store_put(s, "k", STR("again"), 0, NULL, &err));
    assert_int_equal(err.code, ERR_STALE);
    assert_true(store_put(s, "k", STR("two"), v1, &v2, &err));
    assert_false(store_put(s, "k", STR("late"), v1, NULL, &err));
    expect_stored(s, "k", "two", &v1);
    assert_int_equal(v1, v2);
    assert_true(store_put(s, "k", STR("three"), STORE_ANY, NULL, &err));
    assert_true(store_del(s, "k", &err));
    assert_true(store_del(s, "k", &err));
    expect_stored(s, "k", "", &v0);
    assert_int_equal(v0, 0);
    assert_false(store_put(s, "k", STR("ghost"), v2, NULL, &err));
    assert_true(store_put(s, "k", STR("new"), 0, &v1, &err));
    assert_true(v1 > v2);
    struct buf small;
    buf_init(&small, 2);
    assert_false(store_get(s, "k", &small, NULL, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    buf_release(&small);
    store_close(s);
}

struct walk {
    struct store *s;
    char keys[200];
    size_t left;
};

static bool
visit(void *user, const char *key, struct str value)
{
    struct walk *w = user;
    size_t n = strlen(w->keys);
    snprintf(w->keys + n, sizeof w->keys - n, "%s=%.*s ", key, (int)value.len, value.ptr);
    /* A visitor may change what it walks over. */
    assert_true(store_del(w->s, key, NULL));
    return --w->left > 0;
}

static void
each_walks_one_prefix_in_order(void **state)
{
    (void)state;
    struct store *s = open_memory();
    static const char *const keys[] = {"b:2", "a:9", "b:10", "b:1", "c", "b"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_true(store_put(s, keys[i], str_from(keys[i] + 1), 0, NULL, NULL));
    struct walk w = {.s = s, .left = 2};
    assert_true(store_each(s, "b:", visit, &w, NULL));
    assert_string_equal(w.keys, "b:1=:1 b:10=:10 ");
    w = (struct walk){.s = s, .left = 100};
    assert_true(store_each(s, "", visit, &w, NULL));
    assert_string_equal(w.keys, "a:9=:9 b= b:2=:2 c= ");
    store_close(s);
}

enum { THREADS = 4, EACH = 500 };

static void *
count_up(void *store)
{
    for (int i = 0; i < EACH;) {
        struct buf b;
        char text[32];
        uint64_t version;
        buf_init(&b, 100);
        if (!store_get(store, "n", &b, &version, NULL))
            abort();
        snprintf(text, sizeof text, "%ld", strtol(buf_cstr(&b), NULL, 10) + 1);
        i += store_put(store, "n", str_from(text), version, NULL, NULL);
        buf_release(&b);
    }
    return NULL;
}

static void
no_update_is_lost(void **state)
{
    (void)state;
    struct store *s = open_memory();
    pthread_t t[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, count_up, s), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    expect_stored(s, "n", "2000", NULL);
    store_close(s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_scheme_names_those_there_are),
        cmocka_unit_test(versions_guard_every_put),
        cmocka_unit_test(each_walks_one_prefix_in_order),
        cmocka_unit_test(no_update_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
