#include "unit/tool_cases.h"

#include "base/buf.h"
#include "base/diff.h"

static void
check(const char *before, const char *after, unsigned context, const char *want)
{
    struct diff d;
    struct buf out;

    diff_make(str_from(before), str_from(after), context, &d);
    buf_init(&out, BUF_MAX);
    diff_write(&d, &out);
    assert_string_equal(buf_cstr(&out), want);
    buf_release(&out);
    diff_release(&d);
}

static void
test_hunks(void **state)
{
    (void)state;
    check("", "", 3, "");
    check("a\n", "a\n", 3, "");
    check("", "a\nb\n", 3, "@@ -0,0 +1,2 @@\n+a\n+b\n");
    check("a\n", "", 3, "@@ -1 +0,0 @@\n-a\n");
    check("a\nb\nc\n", "a\nx\nc\n", 1, "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    check("a\nb\nc\n", "a\nx\nc\n", 0, "@@ -2 +2 @@\n-b\n+x\n");
    check("a\nb\n", "a\nnew\nb\n", 0, "@@ -1,0 +2 @@\n+new\n");
    check("a", "a\n", 3, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    check("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nX\n3\n4\n5\n6\n7\nY\n9\n", 1,
          "@@ -1,3 +1,3 @@\n 1\n-2\n+X\n 3\n@@ -7,3 +7,3 @@\n 7\n-8\n+Y\n 9\n");
    check("1\n2\n3\n4\n5\n", "1\nX\n3\nY\n5\n", 1, "@@ -1,5 +1,5 @@\n 1\n-2\n+X\n 3\n-4\n+Y\n 5\n");
    check("a\r\nb\n", "a\nb\n", 3, "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n");
}

static void
test_counts(void **state)
{
    (void)state;
    struct diff d;

    diff_make(STR("a\nb\nc\nd\n"), STR("b\nc\nX\nY\nd\n"), 3, &d);
    assert_int_equal(d.added, 2);
    assert_int_equal(d.removed, 1);
    assert_int_equal(d.n_hunks, 1);
    assert_int_equal(d.hunks[0].old_start, 1);
    assert_int_equal(d.hunks[0].old_lines, 4);
    assert_int_equal(d.hunks[0].new_lines, 5);
    diff_release(&d);
}

/* Two files with nothing in common and many lines: the cap must answer at once with a replacement. */
static void
test_cap(void **state)
{
    (void)state;
    struct buf a, b;
    struct diff d;

    buf_init(&a, BUF_MAX);
    buf_init(&b, BUF_MAX);
    for (int i = 0; i < 50000; i++) {
        buf_addf(&a, "old %d\n", i);
        buf_addf(&b, "new %d\n", i);
    }
    diff_make(buf_str(&a), buf_str(&b), 3, &d);
    assert_int_equal(d.added, 50000);
    assert_int_equal(d.removed, 50000);
    diff_release(&d);
    buf_release(&a);
    buf_release(&b);
}

static uint32_t seed = 7;

static uint32_t
random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

static void
random_text(struct buf *b)
{
    uint32_t n = random_below(20);

    for (uint32_t i = 0; i < n; i++)
        buf_addf(b, "%c\n", 'a' + (int)random_below(4));
    if (random_below(3) == 0)
        buf_adds(b, "tail");
}

/* The line at *at in text with its newline; steps past it. */
static struct str
take_line(struct str text, size_t *at)
{
    size_t nl = str_find(text, '\n', *at);
    size_t end = nl == (size_t)-1 ? text.len : nl + 1;
    struct str line = str_sub(text, *at, end - *at);

    *at = end;
    return line;
}

/* Applies hunks to the text before, checking each line they claim to know. */
static void
apply(struct str before, const struct diff *d, struct buf *out)
{
    size_t at = 0, line = 1;

    for (size_t i = 0; i < d->n_hunks; i++) {
        const struct diff_hunk *h = &d->hunks[i];
        size_t first = h->old_start + (h->old_lines == 0);
        for (; line < first; line++)
            buf_add_str(out, take_line(before, &at));
        for (size_t k = 0; k < h->n_lines; k++) {
            struct str l = h->lines[k];
            bool bare = k + 1 < h->n_lines && h->lines[k + 1].ptr[0] == '\\';
            if (l.ptr[0] == '\\')
                continue;
            if (l.ptr[0] != '+') {
                struct str old = take_line(before, &at);
                assert_int_equal(old.len, l.len - 1 + !bare);
                assert_memory_equal(old.ptr, l.ptr + 1, l.len - 1);
                line++;
            }
            if (l.ptr[0] != '-')
                buf_addf(out, "%.*s%s", (int)l.len - 1, l.ptr + 1, bare ? "" : "\n");
        }
    }
    while (at < before.len)
        buf_add_str(out, take_line(before, &at));
}

/* The hunks applied to the text before must give the text after. */
static void
test_applies(void **state)
{
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct buf a, b, got;
        struct diff d;
        buf_init(&a, BUF_MAX);
        buf_init(&b, BUF_MAX);
        buf_init(&got, BUF_MAX);
        random_text(&a);
        random_text(&b);
        diff_make(buf_str(&a), buf_str(&b), random_below(4), &d);
        apply(buf_str(&a), &d, &got);
        assert_string_equal(buf_cstr(&got), buf_cstr(&b));
        diff_release(&d);
        buf_release(&a);
        buf_release(&b);
        buf_release(&got);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hunks),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_applies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
