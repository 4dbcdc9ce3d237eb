#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/canvas.h"
#include "ui/lines.h"

static void
expect_dump(const struct canvas *c, const char *want)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    canvas_dump(c, &b);
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static struct rect
all(const struct canvas *c)
{
    return (struct rect){0, 0, c->w, c->h};
}

static void
draws_inside_the_clip(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 10, 3);
    struct rect r = {2, 1, 5, 1};
    assert_int_equal(canvas_text(&c, r, 0, 0, ST_BOLD, STR("hello world")), 5);
    assert_int_equal(canvas_text(&c, r, 0, 1, ST_BOLD, STR("below")), 0);
    assert_int_equal(canvas_text(&c, r, 0, -1, ST_BOLD, STR("above")), 0);
    expect_dump(&c, "\n  hello\n");
    assert_int_equal(c.cells[12].style, ST_BOLD);
    canvas_text(&c, r, -3, 0, ST_BOLD, STR("abcdef"));
    expect_dump(&c, "\n  deflo\n");
    canvas_release(&c);
}

static void
wide_clusters_keep_their_halves_together(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 6, 1);
    assert_int_equal(canvas_text(&c, all(&c), 0, 0, ST_TEXT, STR("日本語")), 6);
    assert_int_equal(c.cells[0].width, 2);
    assert_int_equal(c.cells[1].width, 0);
    canvas_text(&c, all(&c), 1, 0, ST_TEXT, STR("x"));
    expect_dump(&c, " x本語");
    canvas_text(&c, all(&c), 4, 0, ST_TEXT, STR("y"));
    expect_dump(&c, " x本y");
    canvas_text(&c, all(&c), 1, 0, ST_TEXT, STR("語"));
    expect_dump(&c, " 語 y");
    /* no room for the second half */
    canvas_clear(&c);
    canvas_text(&c, (struct rect){0, 0, 3, 1}, 0, 0, ST_TEXT, STR("日本"));
    expect_dump(&c, "日");
    canvas_release(&c);
}

static void
clusters_are_one_cell(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 8, 1);
    int x = canvas_text(&c, all(&c), 0, 0, ST_TEXT, STR("e\xCC\x81|"));
    assert_int_equal(x, 2);
    assert_string_equal(c.cells[0].text, "e\xCC\x81");
    canvas_clear(&c);
    x = canvas_text(&c, all(&c), 0, 0, ST_TEXT, STR("👨‍👩‍👧|"));
    assert_int_equal(x, 3);
    assert_string_equal(c.cells[2].text, "|");
    canvas_release(&c);
}

static void
control_bytes_never_reach_a_cell(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 60, 1);
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    for (size_t at = 0; at < 256; at++) {
        canvas_clear(&c);
        canvas_text(&c, all(&c), 0, 0, ST_TEXT, str_make(bytes + at, 256 - at));
        canvas_text(&c, all(&c), 50, 0, ST_TEXT, STR("\xE2\x80\xAE\x1b["));
        for (int i = 0; i < c.w; i++) {
            struct str s = str_from(c.cells[i].text);
            assert_true(text_valid_utf8(s));
            assert_false(text_has_unsafe(s));
            assert_null(strpbrk(c.cells[i].text, "\n\t\r\x1b"));
        }
    }
    canvas_clear(&c);
    canvas_text(&c, all(&c), 0, 0, ST_TEXT, STR("a\tb\nc\x1b[31m"));
    expect_dump(&c, "a       b c^[[31m");
    canvas_release(&c);
}

static void
boxes_in_both_alphabets(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 12, 3);
    canvas_box(&c, all(&c), ST_BORDER, STR("title"), false);
    expect_dump(&c, "┌ title ───┐\n│          │\n└──────────┘");
    canvas_clear(&c);
    canvas_box(&c, all(&c), ST_BORDER, STR("a title too long"), true);
    expect_dump(&c, "+ a title t+\n|          |\n+----------+");
    canvas_release(&c);
}

static void
no_size_crashes(void **state)
{
    (void)state;
    struct canvas c;
    for (int w = 0; w < 4; w++) {
        for (int h = 0; h < 4; h++) {
            canvas_init(&c, w, h);
            canvas_box(&c, (struct rect){-1, -1, 9, 9}, ST_BORDER, STR("t"), false);
            canvas_fill(&c, (struct rect){-5, 0, 100, 100}, ST_DIM, "語");
            canvas_style(&c, (struct rect){1, 1, -3, 2}, ST_DIM);
            canvas_text(&c, all(&c), -1, 0, ST_TEXT, STR("語語語"));
            canvas_cursor(&c, w, h);
            assert_int_equal(c.cursor_x, -1);
            canvas_release(&c);
        }
    }
    canvas_init(&c, 1 << 30, 1 << 30);
    assert_true(c.w <= 1000 && c.h <= 500);
    canvas_release(&c);
    canvas_init(&c, -3, 4);
    assert_int_equal(c.w, 0);
    canvas_release(&c);
}

static void
long_lines_cost_only_what_is_seen(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 20, 1);
    size_t n = (size_t)8 << 20;
    char *s = xmalloc(n);
    memset(s, 'x', n);
    for (int i = 0; i < 1000; i++)
        canvas_text(&c, all(&c), 0, 0, ST_TEXT, str_make(s, n));
    expect_dump(&c, "xxxxxxxxxxxxxxxxxxxx");
    free(s);
    canvas_release(&c);
}

/* Code and output: behind a blank where one stands in the second half of the row, and copied as it was. */
static void
rows_break_at_blanks(void **state)
{
    static const struct {
        const char *text;
        bool drop;
        const char *rows;
    } cases[] = {
        {"rm -rf /tmp/objects", false, "rm -rf |/tmp/objec|ts"},
        {"aaaaaaaaaa bb", false, "aaaaaaaaaa| bb"}, /* a command shows each blank */
        {"aaaaaaaaaa bb", true, "aaaaaaaaaa|bb"},
        {"aaaaaaaaaa  bb", true, "aaaaaaaaaa|  bb"},
        {"a bcdefghijkl", false, "a bcdefghi|jkl"},
        {"        indented", false, "        in|dented"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct lines l;
        struct flow f;
        struct buf got, copied;
        lines_init(&l);
        flow_init(&f);
        buf_init(&got, BUF_MAX);
        buf_init(&copied, BUF_MAX);
        flow_add(&f, ST_TEXT, str_from(cases[i].text));
        flow_break(&f, &l, &(struct indent){.width = 10, .drop = cases[i].drop});
        for (size_t k = 0; k < l.n; k++)
            buf_addf(&got, "%s%.*s", k ? "|" : "", (int)lines_text(&l, k).len,
                     lines_text(&l, k).ptr);
        assert_string_equal(buf_cstr(&got), cases[i].rows);
        lines_logical(&l, (struct lines_place){0, 0}, (struct lines_place){l.n, 0}, &copied);
        assert_string_equal(buf_cstr(&copied), cases[i].text);
        buf_release(&copied);
        buf_release(&got);
        flow_release(&f);
        lines_release(&l);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_inside_the_clip),
        cmocka_unit_test(wide_clusters_keep_their_halves_together),
        cmocka_unit_test(clusters_are_one_cell),
        cmocka_unit_test(rows_break_at_blanks),
        cmocka_unit_test(control_bytes_never_reach_a_cell),
        cmocka_unit_test(boxes_in_both_alphabets),
        cmocka_unit_test(no_size_crashes),
        cmocka_unit_test(long_lines_cost_only_what_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
