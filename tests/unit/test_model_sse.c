#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/sse.h"

static const char events[] = "\xEF\xBB\xBF: comment\r\nevent: a\r\ndata: one\r\n\r\ndata: "
                             "two\ndata: lines\n\nevent: c\rdata:x\r\r\n"
                             "event: nothing\n\nid: 5\nretry: 7\ndata: {\"a\": "
                             "\"\xC3\xA9\"}\n\ndata\n\ndata:  two blanks\n\n"
                             "event: last\ndata: cut off";
static const char expected[] = "a=one;=two\nlines;c=x;={\"a\": \"\xC3\xA9\"};=;= two blanks;";

static void
take(struct sse *p, struct buf *got)
{
    struct str event, data;
    while (sse_next(p, &event, &data))
        buf_addf(got, "%.*s=%.*s;", (int)event.len, event.ptr, (int)data.len, data.ptr);
}

static void
feed_in_steps(size_t first, size_t step)
{
    struct sse p;
    struct buf got;
    sse_init(&p);
    buf_init(&got, BUF_MAX);
    for (size_t at = 0; at < sizeof events - 1;) {
        size_t n = at == 0 ? first : step;
        sse_feed(&p, str_sub(str_from(events), at, n));
        take(&p, &got);
        at += n;
    }
    assert_string_equal(buf_cstr(&got), expected);
    assert_false(sse_overflowed(&p));
    buf_release(&got);
    sse_release(&p);
}

/* Two pieces cut at every place, and dribbles of every size: always the same events. */
static void
cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof events; i++) {
        feed_in_steps(i, sizeof events);
        feed_in_steps(i, i);
        for (size_t step = 1; step <= 7; step++)
            feed_in_steps(i, step);
    }
}

/* Fed whole before anything is taken out. */
static void
many_at_once(void **state)
{
    struct sse p;
    struct buf all, got, want;
    (void)state;
    sse_init(&p);
    buf_init(&all, BUF_MAX);
    buf_init(&got, BUF_MAX);
    buf_init(&want, BUF_MAX);
    for (int i = 0; i < 20000; i++) {
        buf_addf(&all, "event: e\ndata: %d\n\n", i);
        buf_addf(&want, "e=%d;", i);
    }
    sse_feed(&p, buf_str(&all));
    take(&p, &got);
    assert_string_equal(buf_cstr(&got), buf_cstr(&want));
    buf_release(&all);
    buf_release(&got);
    buf_release(&want);
    sse_release(&p);
}

static void
marks_are_not_eaten(void **state)
{
    static const char *const rows[][2] = {
        {"\xEF\xBB"
         "data: x\n\n",
         ""}, /* half a mark is a field nobody knows */
        {"\xEF\xBB\xBF"
         "data: x\n\n",
         "=x;"},
        {"data: \xEF\xBB\xBFx\n\n", "=\xEF\xBB\xBFx;"},
        {"\n\n\ndata: x\n\n", "=x;"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sse p;
        struct buf got;
        sse_init(&p);
        buf_init(&got, BUF_MAX);
        for (const char *c = rows[i][0]; *c; c++) {
            sse_feed(&p, str_make(c, 1));
            take(&p, &got);
        }
        assert_string_equal(buf_cstr(&got), rows[i][1]);
        buf_release(&got);
        sse_release(&p);
    }
}

/* An event past the cap ends the parsing; it is not handed out cut, whether by one line or by many. */
static void
events_are_capped(void **state)
{
    (void)state;
    char *chunk = xmalloc(1 << 20);
    for (int lines = 0; lines <= 1; lines++) {
        struct sse p;
        struct str event, data;
        sse_init(&p);
        memset(chunk, 'x', 1 << 20);
        if (lines)
            memcpy(chunk, "\ndata: ", 7);
        sse_feed(&p, STR("data: "));
        for (int i = 0; i < 20; i++) {
            sse_feed(&p, str_make(chunk, 1 << 20));
            assert_false(sse_next(&p, &event, &data));
        }
        sse_feed(&p, STR("\n\n"));
        assert_false(sse_next(&p, &event, &data));
        assert_true(sse_overflowed(&p));
        sse_release(&p);
    }
    free(chunk);
}

/* The largest event in 7-byte pieces: quadratic work would take hours. */
static void
dribbles_are_linear(void **state)
{
    struct sse p;
    struct str event, data = {0};
    size_t want = (8 << 20) / 7 * 7;
    (void)state;
    sse_init(&p);
    sse_feed(&p, STR("data: "));
    for (size_t at = 0; at < want; at += 7) {
        sse_feed(&p, STR("abcdefg"));
        assert_false(sse_next(&p, &event, &data));
    }
    sse_feed(&p, STR("\n\n"));
    assert_true(sse_next(&p, &event, &data));
    assert_int_equal(data.len, want);
    sse_release(&p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere),        cmocka_unit_test(many_at_once),
        cmocka_unit_test(marks_are_not_eaten), cmocka_unit_test(events_are_capped),
        cmocka_unit_test(dribbles_are_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
