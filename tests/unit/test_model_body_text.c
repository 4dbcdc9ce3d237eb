/* The text of a conversation that is kept from one request to the next: what goes out with it is what would go out without. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/openai_body.h"
#include "model/provider.h"

#define ALL_CAPS ((1u << OPENAI_N_CAPS) - 1)

static uint64_t dice = 11;

static unsigned
pick(unsigned n)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice >> 33) % n;
}

/* ---- a conversation ---- */

struct talk {
    struct message *m[400];
    size_t n;
    int calls;
};

static void
put(struct talk *t, char *take_json)
{
    struct err err = {0};
    t->m[t->n] = message_parse(str_from(take_json), &err);
    if (!t->m[t->n++])
        fail_msg("%s: %s", err.text, take_json);
    free(take_json);
}

static void
put_turn(struct talk *t)
{
    int a = t->calls++, b = t->calls++;
    bool image = pick(8) == 0;
    put(t, xasprintf("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"w%d\"},"
                     "{\"type\":\"tool_use\",\"id\":\"t%d\",\"name\":\"X\",\"input\":{ \"n\":%d}},"
                     "{\"type\":\"tool_use\",\"id\":\"t%d\",\"name\":\"X\",\"input\":{}}]}",
                     a, a, a, b));
    put(t, xasprintf("{\"role\":\"user\",\"content\":["
                     "{\"type\":\"tool_result\",\"tool_use_id\":\"t%d\",\"content\":\"r\\n%d\"},"
                     "{\"type\":\"tool_result\",\"tool_use_id\":\"t%d\",\"content\":%s}%s]}",
                     a, a, b,
                     image ? "[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":"
                             "\"image/png\",\"data\":\"iVBO\"}}]"
                           : "\"\"",
                     pick(3) ? "" : ",{\"type\":\"text\",\"text\":\"and\"}"));
}

static void
talk_begin(struct talk *t)
{
    *t = (struct talk){.n = 0};
    put(t, xstrdup("{\"role\":\"user\",\"content\":\"go \\u0041\"}"));
}

static void
talk_drop(struct talk *t, size_t from)
{
    while (t->n > from)
        message_free(t->m[--t->n]);
}

/* ---- bodies ---- */

/* without: of the chat completions; UINT32_MAX: the Messages API. NULL: nothing is kept. */
static char *
body(const struct model_request *req, struct body_text *kept, unsigned without, unsigned *ret_used)
{
    struct body_text own = {0}, *text = kept ? kept : &own;
    struct str slices[BODY_SLICES];
    struct buf scratch, whole;
    buf_init(&scratch, BUF_MAX);
    buf_init(&whole, BUF_MAX);
    *ret_used = 0;
    size_t n = without == UINT32_MAX ? anthropic_body(req, text, &scratch, slices)
                                     : openai_body(req, text, without, &scratch, slices, ret_used);
    assert_true(n <= BODY_SLICES);
    for (size_t i = 0; i < n; i++)
        buf_add_str(&whole, slices[i]);
    buf_release(&scratch);
    body_text_release(&own);
    return buf_take(&whole);
}

static void
check_same(const struct model_request *req, struct body_text *kept, unsigned without)
{
    unsigned used, used_new;
    char *is = body(req, kept, without, &used), *want = body(req, NULL, without, &used_new);
    assert_string_equal(is, want);
    assert_int_equal(used, used_new);
    free(is);
    free(want);
}

static void
set_breaks(struct model_request *req)
{
    req->message_break[1] = req->n_messages - 1;
    req->message_break[0] = pick(4) ? pick((unsigned)req->n_messages) : SIZE_MAX;
}

static void
grow_and_check(unsigned without)
{
    struct talk t;
    struct body_text kept = {0};
    struct str system = STR("be \"kind\"");
    struct model_request req = {.model = "m",
                                .max_tokens = 9,
                                .system = &system,
                                .n_system = 1,
                                .system_break = {SIZE_MAX, SIZE_MAX},
                                .messages = (const struct message *const *)t.m};
    talk_begin(&t);
    req.edition = message_edition_new();
    for (int i = 0; i < 30; i++) {
        if (t.n > 1 && pick(3) == 0) { /* an answer at the end, whose results come with the next */
            req.n_messages = t.n - 1;
            set_breaks(&req);
            check_same(&req, &kept, without);
        }
        req.n_messages = t.n;
        set_breaks(&req);
        check_same(&req, &kept, without);
        if (pick(4) == 0)
            check_same(&req, &kept, without); /* asked again */
        if (pick(10) == 0) {                  /* what a tier does */
            talk_drop(&t, 1 + pick((unsigned)(t.n + 1) / 2) * 2);
            req.edition = message_edition_new();
        }
        put_turn(&t);
        if (pick(3) == 0)
            put_turn(&t);
    }
    body_text_release(&kept);
    talk_drop(&t, 0);
}

static void
kept_or_new_it_is_the_same_body(void **state)
{
    (void)state;
    grow_and_check(UINT32_MAX);
    grow_and_check(0);
    for (unsigned i = 0; i < OPENAI_N_CAPS; i++)
        grow_and_check(1u << i);
    for (unsigned i = 0; i < 60; i++)
        grow_and_check(pick(ALL_CAPS + 1));
}

/* ---- what it costs ---- */

static size_t written;

static void
count_write(void *ctx, const struct model_request *req, size_t i, struct buf *out,
            struct body_part *part)
{
    (void)ctx;
    part->images++;
    buf_addc(out, ',');
    buf_add_str(out, req->messages[i]->json);
    written++;
}

static size_t
follow(struct body_text *t, const struct model_request *req, uint64_t shape)
{
    written = 0;
    body_text_follow(t, req, shape, count_write, NULL);
    assert_int_equal(t->n, req->n_messages);
    assert_int_equal(body_text_all(t).images, req->n_messages);
    assert_int_equal(body_text_all(t).end, t->text.len);
    return written;
}

static void
only_what_is_new_is_written(void **state)
{
    struct talk t;
    struct body_text kept = {0};
    struct model_request req = {.messages = (const struct message *const *)t.m};
    (void)state;
    talk_begin(&t);
    req.edition = message_edition_new();
    for (int i = 0; i < 100; i++) {
        req.n_messages = t.n;
        assert_true(follow(&kept, &req, 1) <= 3);
        put_turn(&t);
    }
    assert_true(str_set_has(&kept.ids, STR("t0")));
    assert_int_equal(follow(&kept, &req, 1), 1);              /* the last, in case */
    assert_int_equal(follow(&kept, &req, 2), req.n_messages); /* another shape */
    req.edition = message_edition_new();
    assert_int_equal(follow(&kept, &req, 2), req.n_messages);
    req.n_messages = 5; /* no list of an edition gets shorter; if one did, it is seen */
    assert_int_equal(follow(&kept, &req, 2), 5);
    assert_false(str_set_has(&kept.ids, STR("t90")));
    req.edition = 0;
    assert_int_equal(follow(&kept, &req, 2), 5);
    assert_int_equal(follow(&kept, &req, 2), 5); /* nothing is known of it */
    body_text_release(&kept);
    talk_drop(&t, 0);
}

/* A conversation that got short does not hold the memory of the long one. */
static void
memory_goes_with_what_it_was_for(void **state)
{
    struct talk t;
    struct body_text kept = {0};
    struct model_request req = {.messages = (const struct message *const *)t.m};
    (void)state;
    talk_begin(&t);
    for (int i = 0; i < 100; i++)
        put_turn(&t);
    req.n_messages = t.n;
    req.edition = message_edition_new();
    follow(&kept, &req, 1);
    size_t cap = kept.text.cap;
    req.n_messages = 1;
    req.edition = message_edition_new();
    follow(&kept, &req, 1);
    assert_true(kept.text.cap < cap / 8);
    body_text_release(&kept);
    assert_int_equal(kept.n + kept.text.len, 0);
    body_text_release(&kept);
    talk_drop(&t, 0);
}

/* What does not fit is never sent in part, and is not gone on from. */
static void
too_much_is_said(void **state)
{
    struct talk t;
    struct body_text kept = {0};
    struct model_request req = {.messages = (const struct message *const *)t.m};
    (void)state;
    talk_begin(&t);
    put_turn(&t);
    req.n_messages = 1;
    req.edition = message_edition_new();
    follow(&kept, &req, 1);
    kept.text.max = kept.text.len + 10;
    req.n_messages = t.n;
    follow(&kept, &req, 1);
    assert_true(buf_full(&kept.text));
    assert_int_equal(follow(&kept, &req, 1), t.n);
    assert_false(buf_full(&kept.text));
    body_text_release(&kept);
    talk_drop(&t, 0);
}

/* ---- editions ---- */

static void *
take_editions(void *arg)
{
    uint64_t *list = arg;
    for (size_t i = 0; i < 1000; i++)
        list[i] = message_edition_new();
    return NULL;
}

static int
by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sessions on several threads take from one count. */
static void
no_edition_comes_twice(void **state)
{
    static uint64_t all[4 * 1000];
    pthread_t threads[4];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_editions, all + i * 1000), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    qsort(all, ARRAY_LEN(all), sizeof *all, by_number);
    assert_true(all[0] > 0);
    for (size_t i = 1; i < ARRAY_LEN(all); i++)
        assert_true(all[i] != all[i - 1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_or_new_it_is_the_same_body),
        cmocka_unit_test(only_what_is_new_is_written),
        cmocka_unit_test(memory_goes_with_what_it_was_for),
        cmocka_unit_test(too_much_is_said),
        cmocka_unit_test(no_edition_comes_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
