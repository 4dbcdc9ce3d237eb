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

/* The notice says what was left out, also where it stood last. */
static void
test_a_second_call_of_one_id_is_named(void **state)
{
    (void)state;
    struct list l = {0};
    struct validator_report r;
    validator_report_init(&r);
    add(&l, U(TEXT("go")));
    add(&l, A(USE("t1") "," USE("t1")));
    add(&l, U(RES("t1")));
    validator_mend(&l.m, &l.n, &r);
    assert_int_equal(l.m[1]->n_blocks, 1);
    assert_non_null(strstr(buf_cstr(&r.text), "a second tool_use with the same id"));
    assert_null(strstr(buf_cstr(&r.text), "thinking"));
    validator_report_release(&r);
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

/* ---- what was proved stays proved ---- */

/* edition: of the list, or 0 */
static void
run_more(struct validator_proof *p, struct list *l, uint64_t edition,
         const struct validator_limits *limits, struct validator_report *r)
{
    const struct message **fresh;
    size_t n, changes = r->changes;
    bool mended = validator_mend_more(p, l->m, l->n, edition, limits, r, &fresh, &n);
    assert_int_equal(mended, r->changes > changes);
    if (!mended)
        return;
    for (size_t i = 0; i < l->n; i++)
        message_free(l->m[i]);
    free(l->m);
    l->m = fresh;
    l->n = n;
}

static size_t
mend_more(struct validator_proof *p, struct list *l, size_t *ret_looked)
{
    static const struct validator_limits none;
    struct validator_report r;
    validator_report_init(&r);
    run_more(p, l, 0, &none, &r);
    size_t changes = r.changes;
    *ret_looked = r.looked;
    validator_report_release(&r);
    assert_null(legal_check(l->m, l->n));
    return changes;
}

static void
add_turn(struct list *l, int i)
{
    char use[200], res[200];
    snprintf(use, sizeof use, A(TEXT("on it") "," USE("t%d")), i);
    snprintf(res, sizeof res, U(RES("t%d")), i);
    add(l, use);
    add(l, res);
}

/* A request late in a long conversation is no dearer than an early one. */
static void
test_a_long_history_is_looked_at_once(void **state)
{
    (void)state;
    struct list l = {0};
    struct validator_proof p = {0};
    size_t looked, most = 0;
    add(&l, U(TEXT("go")));
    for (int i = 0; i < 500; i++) {
        add_turn(&l, i);
        assert_int_equal(mend_more(&p, &l, &looked), 0);
        most = looked > most ? looked : most;
    }
    assert_true(most <= 4);
    assert_int_equal(mend_more(&p, &l, &looked), 0);
    assert_int_equal(looked, 0);
    assert_int_equal(p.list[p.n - 1].m == l.m[l.n - 1], 1);
    validator_proof_release(&p);
    drop(&l);
}

/* Whatever is wrong with what is new is mended by what stood before too: an id that was used, a call left open, two in a row. */
static void
test_new_messages_are_mended_against_the_old(void **state)
{
    (void)state;
    struct list l = {0};
    struct validator_proof p = {0};
    size_t looked;
    add(&l, U(TEXT("go")));
    for (int i = 0; i < 20; i++)
        add_turn(&l, i);
    assert_int_equal(mend_more(&p, &l, &looked), 0);
    const struct message *old = l.m[10];
    add(&l, A(USE("t3")));
    add(&l, U(RES("t3") "," TEXT("and")));
    assert_true(mend_more(&p, &l, &looked) > 0);
    assert_true(str_is(l.m[41]->blocks[0].id, "t3_2"));
    add(&l, U(TEXT("one more thing")));
    assert_true(mend_more(&p, &l, &looked) > 0);
    assert_int_equal(l.n, 43);
    add(&l, A(USE("open")));
    assert_true(mend_more(&p, &l, &looked) > 0);
    assert_int_equal(l.n, 45);
    assert_ptr_equal(l.m[10], old);
    assert_int_equal(mend_more(&p, &l, &looked), 0);
    validator_proof_release(&p);
    drop(&l);
}

/* An edit in the middle (a tier, a repair) is seen, though nobody says so. */
static void
test_an_edit_in_the_middle_is_seen(void **state)
{
    (void)state;
    struct list l = {0};
    struct validator_proof p = {0};
    size_t looked;
    struct err err = {0};
    add(&l, U(TEXT("go")));
    for (int i = 0; i < 20; i++)
        add_turn(&l, i);
    assert_int_equal(mend_more(&p, &l, &looked), 0);
    message_free(l.m[20]);
    l.m[20] = message_parse(STR(U(TEXT("the result is gone"))), &err);
    assert_true(mend_more(&p, &l, &looked) > 0);
    assert_true(looked >= 20);
    /* shorter than before: what was dropped is forgotten */
    while (l.n > 5)
        message_free(l.m[--l.n]);
    add_turn(&l, 90);
    assert_int_equal(mend_more(&p, &l, &looked), 0);
    add_turn(&l, 15); /* its id went with the others */
    assert_int_equal(mend_more(&p, &l, &looked), 0);
    validator_proof_release(&p);
    drop(&l);
}

/* A list that says its edition is not compared again while it only grows; another edition is, whatever it holds. */
static void
test_an_edition_is_gone_on_from(void **state)
{
    (void)state;
    struct list l = {0};
    struct validator_proof p = {0};
    struct validator_report r;
    static const struct validator_limits none;
    struct err err = {0};
    uint64_t edition = message_edition_new();
    validator_report_init(&r);
    add(&l, U(TEXT("go")));
    for (int i = 0; i < 20; i++) {
        add_turn(&l, i);
        run_more(&p, &l, edition, &none, &r);
        assert_int_equal(p.edition, edition);
    }
    size_t looked = r.looked;
    run_more(&p, &l, edition, &none, &r);
    run_more(&p, &l, 0, &none, &r); /* not known: compared, and found the same */
    assert_int_equal(r.looked, looked);
    message_free(l.m[20]);
    l.m[20] = message_parse(STR(U(TEXT("the result is gone"))), &err);
    run_more(&p, &l, message_edition_new(), &none, &r);
    assert_true(r.changes > 0);
    assert_int_equal(p.edition, 0); /* what was mended is another list */
    assert_null(legal_check(l.m, l.n));
    edition = message_edition_new();
    run_more(&p, &l, edition, &none, &r);
    add(&l, A(USE("t3"))); /* an id that was used, and no result */
    size_t changes = r.changes;
    run_more(&p, &l, edition, &none, &r);
    assert_true(r.changes > changes);
    assert_null(legal_check(l.m, l.n));
    validator_report_release(&r);
    validator_proof_release(&p);
    drop(&l);
}

/* Any history, handed over in any pieces, ends as it would have in one. */
static void
test_pieces_end_as_the_whole_does(void **state)
{
    (void)state;
    static const char *const parts[] = {
        U(TEXT("one")),
        U(RES("a")),
        U(RES("b") "," TEXT("x")),
        A(TEXT("hm")),
        A(USE("a")),
        A(USE("b") "," USE("c")),
        A(THINK),
        A(THINK "," TEXT("y")),
        U(TEXT("  ")),
        A(TEXT("")),
        A(USE("a b")),
        U(RES("c") "," RES("b")),
    };
    uint64_t dice = 7;
    for (int round = 0; round < 400; round++) {
        struct list l = {0};
        struct validator_proof p = {0};
        size_t looked;
        for (int i = 0; i < 30; i++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            add(&l, parts[(dice >> 33) % ARRAY_LEN(parts)]);
            if (dice >> 60 < 6)
                mend_more(&p, &l, &looked);
        }
        mend_more(&p, &l, &looked);
        assert_int_equal(mend(&l), 0); /* the whole has nothing to add */
        validator_proof_release(&p);
        drop(&l);
    }
}

static void
test_names_that_may_not_be_sent(void **state)
{
    (void)state;
    struct list l = {0};
    add(&l, U(TEXT("go")));
    add(&l,
        A("{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"mcp: read file\",\"input\":{\"k\":1}}"));
    add(&l, U(RES("a")));
    assert_true(mend(&l) > 0);
    assert_true(str_is(l.m[1]->blocks[0].name, "mcp__read_file"));
    assert_true(str_is(l.m[1]->blocks[0].input, "{\"k\":1}"));
    assert_int_equal(mend(&l), 0);
    drop(&l);
}

/* ---- images ---- */

/* The first bytes of a PNG of w by h pixels, as base64. */
static char *
png(uint32_t w, uint32_t h)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char b[24] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                           0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    for (int i = 0; i < 4; i++) {
        b[16 + i] = (unsigned char)(w >> (24 - 8 * i));
        b[20 + i] = (unsigned char)(h >> (24 - 8 * i));
    }
    char *out = xcalloc(33, 1);
    for (size_t i = 0, k = 0; i < 24; i += 3) {
        uint32_t v = (uint32_t)b[i] << 16 | (uint32_t)b[i + 1] << 8 | b[i + 2];
        for (int s = 18; s >= 0; s -= 6)
            out[k++] = set[v >> s & 63];
    }
    return out;
}

static void
add_image(struct list *l, const char *type, uint32_t w, uint32_t h, const char *call)
{
    char *data = png(w, h);
    char *image = xasprintf("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"%"
                            "s\",\"data\":\"%s\"}}",
                            type, data);
    char *json =
        call ? xasprintf(U("{\"type\":\"tool_result\",\"tool_use_id\":\"%s\",\"content\":[" TEXT(
                             "see") ",%s]}"),
                         call, image)
             : xasprintf(U(TEXT("look") ",%s"), image);
    add(l, json);
    free(json);
    free(image);
    free(data);
}

static void
test_images_that_may_not_be_sent(void **state)
{
    (void)state;
    struct list l = {0};
    add_image(&l, "image/png", 8001, 10, NULL);
    add(&l, A(TEXT("ok")));
    add_image(&l, "image/tiff", 10, 10, NULL);
    add(&l, A(USE("a")));
    add_image(&l, "image/png", 10, 9000, "a");
    add(&l, A(USE("b")));
    add_image(&l, "image/png", 640, 480, "b");
    const struct message *good = l.m[6];
    assert_true(mend(&l) > 0);
    assert_null(legal_check(l.m, l.n));
    for (size_t i = 0; i <= 4; i += 2)
        assert_false(str_contains(l.m[i]->json, STR("base64")));
    assert_true(str_contains(l.m[0]->json, STR("more than 8,000 pixels")));
    assert_true(str_contains(l.m[4]->json, STR("\"see\"")));
    assert_ptr_equal(l.m[6], good);
    assert_int_equal(mend(&l), 0);
    drop(&l);
}

static size_t
count_images(const struct list *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += str_contains(l->m[i]->json, STR("base64"));
    return n;
}

static void
mend_within(struct validator_proof *p, struct list *l, struct validator_limits limits)
{
    struct validator_report r;
    validator_report_init(&r);
    run_more(p, l, 0, &limits, &r);
    validator_report_release(&r);
    assert_null(legal_check(l->m, l->n));
}

static void
test_too_many_images_and_too_large_ones(void **state)
{
    (void)state;
    struct list l = {0};
    struct validator_proof p = {0};
    for (int i = 0; i < 20; i++) {
        add_image(&l, "image/png", i == 3 ? 3000 : 100, 100, NULL);
        add(&l, A(TEXT("ok")));
    }
    mend_within(&p, &l, (struct validator_limits){.images = 100});
    assert_int_equal(count_images(&l), 20); /* twenty may be as large as they like */
    add_image(&l, "image/png", 100, 100, NULL);
    mend_within(&p, &l, (struct validator_limits){.images = 100});
    assert_int_equal(count_images(&l), 20);
    assert_false(str_contains(l.m[6]->json, STR("base64")));
    mend_within(&p, &l, (struct validator_limits){.images = 10});
    assert_int_equal(count_images(&l), 5);
    assert_true(str_contains(l.m[l.n - 1]->json, STR("base64"))); /* the newest stay */
    mend_within(&p, &l, (struct validator_limits){.bytes = 1000});
    assert_int_equal(count_images(&l), 0);
    validator_proof_release(&p);
    drop(&l);
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
        cmocka_unit_test(test_a_second_call_of_one_id_is_named),
        cmocka_unit_test(test_bare_string_content_can_be_joined),
        cmocka_unit_test(test_random_lists),
        cmocka_unit_test(test_a_long_history_is_looked_at_once),
        cmocka_unit_test(test_new_messages_are_mended_against_the_old),
        cmocka_unit_test(test_an_edit_in_the_middle_is_seen),
        cmocka_unit_test(test_an_edition_is_gone_on_from),
        cmocka_unit_test(test_pieces_end_as_the_whole_does),
        cmocka_unit_test(test_names_that_may_not_be_sent),
        cmocka_unit_test(test_images_that_may_not_be_sent),
        cmocka_unit_test(test_too_many_images_and_too_large_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
