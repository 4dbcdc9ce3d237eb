#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/validator.h"
#include "fakes/legal.h"

struct list {
    const struct message **m;
    size_t n;
};

static void
add(struct list *l, const char *json)
{
    struct err err = {0};
    struct message *m = message_parse(str_from(json), &err);
    assert_non_null(m);
    l->m = xreallocarray(l->m, l->n + 1, sizeof *l->m);
    l->m[l->n++] = m;
}

static void
drop(struct list *l)
{
    for (size_t i = 0; i < l->n; i++)
        message_free(l->m[i]);
    free(l->m);
}

static size_t
mend(struct list *l)
{
    struct validator_report r;
    validator_report_init(&r);
    validator_mend(&l->m, &l->n, &r);
    size_t changes = r.changes;
    validator_report_release(&r);
    return changes;
}

#define U(c) "{\"role\":\"user\",\"content\":[" c "]}"
#define A(c) "{\"role\":\"assistant\",\"content\":[" c "]}"
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define USE(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Read\",\"input\":{}}"
#define RES(id) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":\"r\"}"
#define THINK "{\"type\":\"thinking\",\"thinking\":\"h\\u006dm\",\"signature\":\"s1\"}"

static void
test_a_legal_history_keeps_its_bytes(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, U(TEXT("go")));
    add(&l, A(THINK "," USE("a")));
    add(&l, U(RES("a") "," TEXT("and")));
    const struct message *before[3] = {l.m[0], l.m[1], l.m[2]};
    assert_int_equal(mend(&l), 0);
    assert_int_equal(l.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(l.m[i], before[i]);
    drop(&l);
}

static void
test_missing_results_are_given(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, U(TEXT("go")));
    add(&l, A(USE("a") "," USE("b")));
    add(&l, U(TEXT("hello") "," RES("b")));
    assert_true(mend(&l) > 0);
    assert_null(legal_check(l.m, l.n));
    assert_true(str_is(l.m[2]->blocks[0].id, "a"));
    assert_true(l.m[2]->blocks[0].is_error);
    assert_int_equal(mend(&l), 0);
    drop(&l);
}

static void
test_an_open_call_at_the_end_is_closed(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, U(TEXT("go")));
    add(&l, A(USE("a")));
    mend(&l);
    assert_int_equal(l.n, 3);
    assert_null(legal_check(l.m, l.n));
    drop(&l);
}

static void
test_neighbours_join_and_thinking_keeps_its_bytes(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, A(TEXT("lost start")));
    add(&l, U(TEXT("one")));
    add(&l, U(TEXT("two") "," TEXT("  ")));
    add(&l, A(THINK));
    add(&l, A(THINK "," TEXT("x")));
    mend(&l);
    assert_null(legal_check(l.m, l.n));
    assert_int_equal(l.n, 4);
    assert_true(str_contains(l.m[3]->json, STR(THINK)));
    drop(&l);
}

static void
test_a_repeated_id_is_renamed_with_its_result(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, U(TEXT("go")));
    add(&l, A(USE("a")));
    add(&l, U(RES("a")));
    add(&l, A(USE("a")));
    add(&l, U(RES("a")));
    mend(&l);
    assert_null(legal_check(l.m, l.n));
    assert_true(str_is(l.m[3]->blocks[0].id, "a_2"));
    assert_true(str_is(l.m[4]->blocks[0].id, "a_2"));
    assert_false(l.m[4]->blocks[0].is_error);
    drop(&l);
}

static void
test_an_id_that_may_not_be_sent_is_replaced(void **state)
{
    (void)state;
    static const char *const ids[] = {"a b/\u00fc", "functions.Read:0", "x|y"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct list l = {0};
        struct buf b;
        buf_init(&b, BUF_MAX);
        add(&l, U(TEXT("go")));
        buf_addf(&b, A(USE("%s")), ids[i]);
        add(&l, buf_cstr(&b));
        buf_clear(&b);
        buf_addf(&b, U(RES("%s")), ids[i]);
        add(&l, buf_cstr(&b));
        buf_release(&b);
        assert_true(mend(&l) > 0);
        assert_null(legal_check(l.m, l.n));
        struct str id = l.m[1]->blocks[0].id;
        assert_int_equal(strspn(id.ptr, "abcdefghijklmnopqrstuvwxyzR_-0123456789"), id.len);
        assert_false(l.m[2]->blocks[0].is_error);
        assert_int_equal(mend(&l), 0);
        drop(&l);
    }
}

static void
test_a_block_without_a_type_is_left_out(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, U(TEXT("go")));
    add(&l, A("{\"tipe\":\"text\",\"text\":\"x\"}," TEXT("y") ",{\"type\":\"new_kind\"}"));
    assert_true(mend(&l) > 0);
    assert_int_equal(l.m[1]->n_blocks, 2);
    assert_int_equal(mend(&l), 0);
    drop(&l);
}

static void
test_bare_string_content_can_be_joined(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, "{\"role\":\"user\",\"content\":\"one\"}");
    add(&l, "{\"role\":\"user\",\"content\":\"two\"}");
    mend(&l);
    assert_int_equal(l.n, 1);
    assert_null(legal_check(l.m, l.n));
    drop(&l);
}

/* ---- any list of messages becomes legal, and stays as it is then ---- */

static uint32_t seed;

static uint32_t
rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void
random_block(struct buf *b)
{
    char id = (char)('a' + (int)rnd(6));
    switch (rnd(9)) {
    case 0:
        buf_adds(b, TEXT("some text"));
        break;
    case 1:
        buf_adds(b, TEXT(" \\n"));
        break;
    case 2:
        buf_adds(b, THINK);
        break;
    case 3:
        buf_adds(b, "{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"\"}");
        break;
    case 4:
    case 5:
        buf_addf(b, "{\"type\":\"tool_use\",\"id\":\"%c\",\"name\":\"T\",\"input\":{\"n\":%u}}", id,
                 rnd(9));
        break;
    case 6:
    case 7:
        buf_addf(b,
                 "{\"type\":\"tool_result\",\"tool_use_id\":\"%c\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"r\"}]}",
                 id);
        break;
    default:
        buf_adds(b, "{\"type\":\"redacted_thinking\",\"data\":\"zz\"}");
        break;
    }
}

static void
random_list(struct list *l)
{
    size_t n = rnd(9);
    for (size_t i = 0; i < n; i++) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        buf_addf(&b, "{\"role\":\"%s\",\"content\":[", rnd(2) ? "user" : "assistant");
        size_t k = rnd(5);
        for (size_t j = 0; j < k; j++) {
            if (j)
                buf_addc(&b, ',');
            random_block(&b);
        }
        buf_adds(&b, "]}");
        add(l, buf_cstr(&b));
        buf_release(&b);
    }
}

static void
test_random_lists(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        seed = i * 2654435761u + 1;
        struct list l = {0};
        random_list(&l);
        mend(&l);
        const char *why = legal_check(l.m, l.n);
        if (why)
            fail_msg("seed %u: %s", i, why);
        if (mend(&l) != 0)
            fail_msg("seed %u: the second run changed something", i);
        drop(&l);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_legal_history_keeps_its_bytes),
        cmocka_unit_test(test_missing_results_are_given),
        cmocka_unit_test(test_an_open_call_at_the_end_is_closed),
        cmocka_unit_test(test_neighbours_join_and_thinking_keeps_its_bytes),
        cmocka_unit_test(test_a_repeated_id_is_renamed_with_its_result),
        cmocka_unit_test(test_an_id_that_may_not_be_sent_is_replaced),
        cmocka_unit_test(test_a_block_without_a_type_is_left_out),
        cmocka_unit_test(test_bare_string_content_can_be_joined),
        cmocka_unit_test(test_random_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
