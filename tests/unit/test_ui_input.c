#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/input.h"
#include "ui/keys.h"

static struct input in;

static int
setup(void **state)
{
    (void)state;
    input_init(&in);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    input_release(&in);
    return 0;
}

static void
type(const char *s)
{
    struct str all = str_from(s);
    for (size_t off = 0; off < all.len;) {
        int32_t cp;
        off += text_decode(all, off, &cp);
        assert_true(input_key(&in, cp == '\n' ? ('j' | KM_CTRL) : cp));
    }
}

static void
expect(const char *want)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    input_expand(&in, &b);
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static void
edits(void **state)
{
    (void)state;
    type("hello world");
    input_key(&in, 'w' | KM_CTRL);
    expect("hello ");
    input_key(&in, 'y' | KM_CTRL);
    expect("hello world");
    input_key(&in, 'a' | KM_CTRL);
    input_key(&in, 'f' | KM_ALT);
    input_key(&in, 'k' | KM_CTRL);
    expect("hello");
    input_key(&in, 'u' | KM_CTRL);
    expect("");
    input_key(&in, 'y' | KM_CTRL);
    expect("hello world");
    type("é日");
    input_key(&in, YK_BACKSPACE);
    expect("hello worldé");
    input_key(&in, YK_LEFT);
    input_key(&in, YK_DELETE);
    expect("hello world");
    input_key(&in, 'b' | KM_ALT);
    input_key(&in, 'd' | KM_ALT);
    expect("hello ");
    input_key(&in, YK_HOME);
    input_key(&in, YK_BACKSPACE);
    input_key(&in, YK_LEFT);
    expect("hello ");
    assert_false(input_key(&in, YK_ESC));
    assert_false(input_key(&in, YK_TAB));
}

static void
undo_goes_back_in_steps(void **state)
{
    (void)state;
    type("one two");
    input_key(&in, 'w' | KM_CTRL);
    expect("one ");
    input_key(&in, '_' | KM_CTRL);
    expect("one two");
    input_key(&in, '_' | KM_CTRL);
    assert_true(in.text.len < 7);
    for (int i = 0; i < 10; i++)
        input_key(&in, '_' | KM_CTRL);
    expect("");
    for (int i = 0; i < 1000; i++) {
        type("a ");
    }
    assert_true(in.n_undo <= 200);
}

static void
newlines_and_enter(void **state)
{
    (void)state;
    type("a\\");
    assert_false(input_enter(&in));
    expect("a\n");
    type("b");
    input_key(&in, YK_ENTER | KM_ALT);
    input_key(&in, YK_ENTER | KM_SHIFT);
    expect("a\nb\n\n");
    assert_true(input_enter(&in));
    assert_int_equal(input_rows(&in, 40), 4);
}

static void
clusters_are_one_step(void **state)
{
    (void)state;
    input_insert(&in, STR("x👨‍👩‍👧e\xCC\x81"));
    input_key(&in, YK_BACKSPACE);
    expect("x👨‍👩‍👧");
    input_key(&in, YK_BACKSPACE);
    expect("x");
    /* bytes that no terminal should send */
    input_insert(&in, STR("\xff\x80\xfe"));
    assert_true(text_valid_utf8(buf_str(&in.text)));
}

static void
rows_and_cursor(void **state)
{
    (void)state;
    struct canvas c;
    canvas_init(&c, 13, 3); /* ten columns of text */
    struct rect r = {0, 0, 13, 3};
    type("0123456789abc");
    assert_int_equal(input_rows(&in, 13), 2);
    input_draw(&in, &c, r);
    struct buf b;
    buf_init(&b, BUF_MAX);
    canvas_dump(&c, &b);
    assert_string_equal(buf_cstr(&b), "> 0123456789\n  abc\n");
    assert_int_equal(c.cursor_x, 5);
    assert_int_equal(c.cursor_y, 1);
    assert_true(input_key(&in, YK_UP));
    assert_int_equal(in.cursor, 3);
    assert_false(input_key(&in, YK_UP));
    assert_true(input_key(&in, YK_DOWN));
    assert_int_equal(in.cursor, 13);
    assert_false(input_key(&in, YK_DOWN));
    /* the column is kept over a shorter row */
    input_clear(&in);
    type("abcdef\nx\nabcdef");
    assert_true(input_key(&in, YK_UP));
    assert_int_equal(in.cursor, 8);
    assert_true(input_key(&in, YK_UP));
    assert_int_equal(in.cursor, 6);
    /* wide clusters never straddle the edge */
    input_clear(&in);
    type("日本語日本語");
    assert_int_equal(input_rows(&in, 13), 2);
    input_clear(&in);
    for (int i = 0; i < 500; i++)
        type("line\n");
    canvas_clear(&c);
    input_draw(&in, &c, r);
    assert_int_equal(c.cursor_y, 2);
    assert_int_equal(c.cursor_x, 2);
    input_key(&in, YK_HOME | KM_CTRL);
    canvas_clear(&c);
    input_draw(&in, &c, r);
    assert_int_equal(c.cursor_y, 0);
    /* a cell wide */
    input_draw(&in, &c, (struct rect){0, 0, 1, 1});
    input_draw(&in, &c, (struct rect){0, 0, 0, 0});
    buf_release(&b);
    canvas_release(&c);
}

static char *
many_lines(size_t n)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "line %zu\n", i);
    return buf_take(&b);
}

static void
big_pastes_are_chips(void **state)
{
    (void)state;
    char *s = many_lines(20000);
    type("see ");
    input_paste(&in, str_from(s));
    type("!");
    struct canvas c;
    struct buf b;
    buf_init(&b, BUF_MAX);
    canvas_init(&c, 60, 2);
    input_draw(&in, &c, (struct rect){0, 0, 60, 2});
    canvas_dump(&c, &b);
    assert_string_equal(buf_cstr(&b), "> see [paste 1: 20,000 lines, 209kB]!\n");
    buf_clear(&b);
    input_expand(&in, &b);
    assert_int_equal(b.len, strlen(s) + 5);
    assert_memory_equal(b.data + 4, s, strlen(s));
    /* one step, and back by undo and by yank */
    input_key(&in, YK_LEFT);
    input_key(&in, YK_BACKSPACE);
    expect("see !");
    input_key(&in, '_' | KM_CTRL);
    input_key(&in, YK_END);
    input_key(&in, 'u' | KM_CTRL);
    expect("");
    input_key(&in, 'y' | KM_CTRL);
    buf_clear(&b);
    input_expand(&in, &b);
    assert_int_equal(b.len, strlen(s) + 5);
    input_key(&in, 'a' | KM_CTRL);
    input_key(&in, YK_RIGHT | KM_CTRL);
    /* a small one is text */
    input_clear(&in);
    input_paste(&in, STR("a\nb\n"));
    assert_int_equal(in.n_chips, 0);
    expect("a\nb\n");
    /* combining marks and prepended signs do not melt into a chip */
    input_clear(&in);
    input_insert(&in, STR("\xD8\x80"));
    input_paste(&in, str_from(s));
    input_insert(&in, STR("\xCC\x81"));
    for (int i = 0; i < 3; i++)
        input_key(&in, YK_BACKSPACE);
    expect("");
    canvas_release(&c);
    buf_release(&b);
    free(s);
}

static void
any_keys_hold_the_text_together(void **state)
{
    (void)state;
    static const int keys[] = {
        'a',           ' ',           0x65E5,        0x301,         0x1F600,
        0x200D,        0x600,         'w' | KM_CTRL, 'k' | KM_CTRL, 'u' | KM_CTRL,
        'y' | KM_CTRL, '_' | KM_CTRL, YK_LEFT,       YK_RIGHT,      YK_UP,
        YK_DOWN,       YK_BACKSPACE,  YK_DELETE,     'j' | KM_CTRL, 'b' | KM_ALT,
        'f' | KM_ALT,  'd' | KM_ALT,  YK_HOME,       YK_END,        'a' | KM_CTRL};
    char *s = many_lines(20);
    uint32_t seed = 7;
    struct canvas c;
    canvas_init(&c, 17, 4);
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        if (seed % 97 == 0)
            input_paste(&in, str_from(s));
        else
            (void)input_key(&in, keys[(seed >> 8) % ARRAY_LEN(keys)]);
        assert_true(in.cursor <= in.text.len);
        if (in.cursor < in.text.len && in.cursor)
            assert_true(in.text.data[in.cursor - 1] != CHIP_MARK);
        if (i % 16 == 0)
            input_draw(&in, &c, (struct rect){0, 0, 17, 4});
        if (in.n_chips > 90)
            input_clear(&in);
    }
    struct buf b;
    buf_init(&b, BUF_MAX);
    input_expand(&in, &b);
    assert_true(text_valid_utf8(buf_str(&b)));
    buf_release(&b);
    canvas_release(&c);
    free(s);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(edits),
        T(undo_goes_back_in_steps),
        T(newlines_and_enter),
        T(clusters_are_one_step),
        T(rows_and_cursor),
        T(big_pastes_are_chips),
        T(any_keys_hold_the_text_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
