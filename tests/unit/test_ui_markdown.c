#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/markdown.h"

/* Each line's text; with_styles: and behind it its spans, "3:15 5:2". */
static char *
joined(const struct lines *l, bool with_styles)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < l->n; i++) {
        buf_add_str(&b, lines_text(l, i));
        for (uint32_t k = 0; with_styles && k < l->line[i].n_spans; k++)
            buf_addf(&b, " %u:%d", l->spans[l->line[i].span + k].len,
                     l->spans[l->line[i].span + k].style);
        buf_addc(&b, '\n');
    }
    return buf_take(&b);
}

static char *
streamed_as(const char *text, size_t chunk, int width, bool with_styles)
{
    struct lines l;
    struct mdstream m;
    struct md_options o = {.width = width};
    size_t len = strlen(text);
    lines_init(&l);
    mdstream_init(&m);
    for (size_t at = chunk < len ? chunk : len;; at = at + chunk < len ? at + chunk : len) {
        o.open = at < len;
        mdstream_update(&m, &l, str_make(text, at), &o);
        if (at == len)
            break;
    }
    char *s = joined(&l, with_styles);
    mdstream_release(&m);
    lines_release(&l);
    return s;
}

static char *
streamed(const char *text, size_t chunk, int width)
{
    return streamed_as(text, chunk, width, false);
}

static void
check(const char *text, int width, const char *want)
{
    char *whole = streamed(text, strlen(text), width);
    assert_string_equal(whole, want);
    free(whole);
}

static void
blocks(void **state)
{
    (void)state;
    check("# One\nText\n\n## Two", 40, "# One\n\nText\n\n## Two\n");
    check("a\n\n\n\nb", 40, "a\n\nb\n");
    check("one two three four", 9, "one two\nthree\nfour\n");
    check("> quoted\n> more\n\nafter", 40, "│ quoted\n│ more\n\nafter\n");
    check("x\n\n---\n\ny", 5, "x\n\n─────\n\ny\n");
    check("title\n=====\ntext", 40, "# title\n\ntext\n");
    check("a &amp; b &#65; &lt;", 40, "a & b A <\n");
    check("<b>html</b> stays", 40, "<b>html</b> stays\n");
}

static void
spans(void **state)
{
    (void)state;
    check("**b** *e* `c` ~~d~~", 40, "b e `c` ~~d~~\n");
    check("[text](https://x.org/a)", 60, "text (https://x.org/a)\n");
    check("<https://x.org/a> and https://x.org/b", 60, "https://x.org/a and https://x.org/b\n");
    check("![alt](pic.png)", 60, "[image alt] (pic.png)\n");
    check("[1]: https://x.org", 60, "[1]: https://x.org\n"); /* nothing gets lost */

    struct lines l;
    struct md_options o = {.width = 40};
    lines_init(&l);
    md_render(&l, STR("a **b** `c`"), &o);
    assert_int_equal(l.n, 1);
    assert_int_equal(l.line[0].n_spans, 4);
    assert_int_equal(l.spans[0].style, ST_TEXT);
    assert_int_equal(l.spans[1].style, ST_BOLD);
    assert_int_equal(l.spans[3].style, ST_CODE);
    lines_release(&l);
}

static void
lists(void **state)
{
    (void)state;
    check("- a\n- b\n  - c\n    - d\n\nend", 40, "• a\n• b\n  ◦ c\n    • d\n\nend\n");
    check("3. a\n4. b", 40, "3. a\n4. b\n");
    check("1. a long item that wraps\n2. b", 14, "1. a long item\n   that wraps\n2. b\n");
    check("- a\n\n  second\n- b", 40, "• a\n\n  second\n\n• b\n");
    check("- [x] done\n- [ ] open", 40, "• [x] done\n• [ ] open\n");
    check("- a\n  ```c\n  x;\n  ```\n- b", 40, "• a\n    ── c\n    x;\n• b\n");
    check("-\n- b", 40, "• \n• b\n");
    struct buf deep;
    buf_init(&deep, BUF_MAX);
    for (int i = 0; i < 40; i++)
        buf_addf(&deep, "%*s- x\n", i * 2, "");
    free(streamed(buf_cstr(&deep), 7, 20)); /* nests without end, stays within the width */
    buf_release(&deep);
}

static void
code(void **state)
{
    (void)state;
    check("a\n```c\nint x;\n\n\ty();\n```\nb", 40, "a\n\n  ── c\n  int x;\n\n      y();\n\nb\n");
    check("```\nopen", 40, "  open\n");
    check("```\nopen\n``", 40, "  open\n");
    check("~~~ sh -e\nls\n~~~", 40, "  ── sh\n  ls\n");
    check("```\na\n~~~\n````\nb", 40, "  a\n  ~~~\n\nb\n");
    check("```\nabcdefghij\n```", 7, "  abcde\n  fghij\n");
    check("``` a`b\ntext", 40, "``` a`b\ntext\n"); /* a backtick behind it: no fence */
}

static void
tables(void **state)
{
    (void)state;
    check("|a|b|\n|---|--:|\n|1|22|\n|日本|3|", 40, "a    │  b\n─────┼───\n1    │ 22\n日本 │  3\n");
    check("|name|text|\n|---|---|\n|x|a very long cell indeed|", 20,
          "name │ text\n─────┼──────────────\nx    │ a very long …\n");
    struct buf wide;
    buf_init(&wide, BUF_MAX);
    buf_addc(&wide, '|');
    for (int i = 0; i < 100; i++)
        buf_adds(&wide, "col|");
    buf_adds(&wide, "\n|");
    for (int i = 0; i < 100; i++)
        buf_adds(&wide, "---|");
    free(streamed(buf_cstr(&wide), 13, 10));
    buf_release(&wide);
}

static void
unsafe_text_is_made_visible(void **state)
{
    (void)state;
    check("a\x1b[31mred", 40, "a^[[31mred\n");
    check("`x\xE2\x80\xAEy`", 40, "`x<U+202E>y`\n");
    check("```\n\x07\n```", 40, "  ^G\n");
    check("bad \xff byte", 40, "bad \xEF\xBF\xBD byte\n");
    check("&#x202e;", 40, "<U+202E>\n");
}

static const char *const samples[] = {
    "# T\n\ntext **bold** more\n\n- a\n- b\n\n  para\n- c\n\n1. x\n2. y\n\n```c\nint "
    "x;\n```\nafter\n\n|a|b|\n|---|---|\n|1|2|\n\nend",
    "- item\n  ```\n  code\n\n  more\n  ```\n- next\n\ntext\n\n> quote\n> ```\n> code\n\nout",
    "para\n```\nunclosed\n\nstill code",
    "1. one\n\n2. two\n\n3. three\n   ~~~\n   x\n   ~~~\n\n    indented after\n\nend\n",
    "a\r\nb\r\n\r\nc\r\n```\r\ncode\r\n```\r\nd",
    "x\n\n    indented code\n\n    more of it\n\ny",
    "```c\n/* a comment\n   goes on */ int x = 1;\nif (x) {\n\tcall(\"s\");\n}\n```\n- in a list\n "
    " ```py\n  def f(x):\n      "
    "return None\n  ```\n\n```rust\nfn open() -> u32 {\n  7",
    "```json\n{\"a\": [1, true]}\n```",
    "***\n\n- - nested\n\n\n\n* other\n+ third\n",
};

/* How a text comes in must not change how it looks in the end. */
static void
chunks_make_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char *whole = streamed_as(samples[i], strlen(samples[i]), 30, true);
        for (size_t chunk = 1; chunk < 12; chunk++) {
            char *s = streamed_as(samples[i], chunk, 30, true);
            assert_string_equal(s, whole);
            free(s);
        }
        free(whole);
    }
}

static void
random_text_streams_like_it_stands(void **state)
{
    (void)state;
    static const char *const bits[] = {"# ",    "\n",  "\n\n", "- ",   "  ",   "```", "```c\n",
                                       "~~~\n", "|",   "-|",   "> ",   "1. ",  "a ",  "word",
                                       "**",    "`",   "[x](", ")",    "    ", "日",  "\t",
                                       "\r\n",  "***", "<b>",  "&amp;"};
    unsigned seed = 99;
    for (int n = 0; n < 2000; n++) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        for (int i = 0; i < 60; i++) {
            seed = seed * 1103515245u + 12345u;
            buf_adds(&b, bits[(seed >> 12) % (sizeof(bits) / sizeof(bits[0]))]);
        }
        char *whole = streamed_as(buf_cstr(&b), b.len, 25, true),
             *parts = streamed_as(buf_cstr(&b), 1 + seed % 9, 25, true);
        if (strcmp(whole, parts) != 0)
            fail_msg("'%s' streams to\n%s\nbut stands as\n%s", buf_cstr(&b), parts, whole);
        free(whole);
        free(parts);
        buf_release(&b);
    }
}

/* md4c reads on behind a text that ends inside a link; streaming has the rest of the text right there. */
static void
a_cut_link_is_not_read_past_its_end(void **state)
{
    (void)state;
    static const char text[] = "&amp;- \t~~~\n日)word\n-|# <b>`\n> word\n\n# ~~~\n|\tword    "
                               "***\t\n\n- \t# - - > `\n|a ~~~\n- ``1. word>     "
                               "\n\n  [x](  **-|)> ```word\n\n```c\n\r\n~~~\nword  \t";
    for (size_t n = 0; n < sizeof(text); n++) {
        struct lines l;
        lines_init(&l);
        md_render(&l, str_make(text, n), &(struct md_options){.width = 40});
        lines_release(&l);
    }
}

static void
every_line_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        for (int width = 1; width < 40; width++) {
            struct lines l;
            struct mdstream m;
            lines_init(&l);
            mdstream_init(&m);
            mdstream_update(&m, &l, str_from(samples[i]), &(struct md_options){.width = width});
            for (size_t k = 0; width >= 6 && k < l.n; k++)
                if (lines_width(&l, k) > width)
                    fail_msg("sample %zu width %d: '%.*s'", i, width, (int)lines_text(&l, k).len,
                             lines_text(&l, k).ptr);
            mdstream_release(&m);
            lines_release(&l);
        }
}

/* The work left undone at any time stays small, however long the text and however few its paragraphs. */
static void
the_open_end_stays_short(void **state)
{
    (void)state;
    static const char *const kinds[] = {"word ", "line of text\n", "- item\n", "code();\n"};
    for (size_t k = 0; k < 4; k++) {
        struct buf b;
        struct lines l;
        struct mdstream m;
        buf_init(&b, BUF_MAX);
        lines_init(&l);
        mdstream_init(&m);
        if (k == 3)
            buf_adds(&b, "```\n");
        for (int i = 0; i < 30000; i++) {
            buf_adds(&b, kinds[k]);
            if (i % 50)
                continue;
            mdstream_update(&m, &l, buf_str(&b), &(struct md_options){.width = 80, .open = true});
            assert_true(b.len - m.done < 20000);
        }
        mdstream_release(&m);
        lines_release(&l);
        buf_release(&b);
    }
}

/* The style of the first line that holds the word, at the word. */
static int
style_at(const struct lines *l, const char *word)
{
    for (size_t i = 0; i < l->n; i++) {
        struct str s = lines_text(l, i);
        const char *at = memmem(s.ptr, s.len, word, strlen(word));
        if (!at)
            continue;
        for (uint32_t k = 0; k < l->line[i].n_spans; k++) {
            const struct span *p = &l->spans[l->line[i].span + k];
            if ((size_t)(at - l->text.data) - p->off < p->len)
                return p->style;
        }
    }
    fail_msg("no '%s'", word);
    return -1;
}

/* An open fence has the colours that its code up to there gives, never those of a line that is not whole yet. */
static void
code_has_colours(void **state)
{
    (void)state;
    static const char text[] = "```c\nint one(void);\nreturn 7";
    struct lines l;
    struct mdstream m;
    struct md_options o = {.width = 40, .open = true};
    lines_init(&l);
    mdstream_init(&m);
    mdstream_update(&m, &l, str_from(text), &o);
    assert_int_equal(style_at(&l, "int"), ST_SYN_TYPE);
    assert_int_equal(style_at(&l, "one"), ST_SYN_FUNCTION);
    assert_int_equal(style_at(&l, "return"), ST_CODE);
    o.open = false;
    mdstream_update(&m, &l, str_from(text), &o);
    assert_int_equal(style_at(&l, "return"), ST_SYN_KEYWORD);
    assert_int_equal(l.n, 3);
    mdstream_release(&m);
    lines_clear(&l);
    mdstream_update(&m, &l, STR("```brainfuck\nint x;\n```\n```diff\n- a\n+ b\n```"), &o);
    assert_int_equal(style_at(&l, "int"), ST_CODE);
    assert_int_equal(style_at(&l, "- a"), ST_DEL);
    assert_int_equal(style_at(&l, "+ b"), ST_ADD);
    mdstream_release(&m);
    lines_release(&l);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(spans),
        cmocka_unit_test(lists),
        cmocka_unit_test(code),
        cmocka_unit_test(tables),
        cmocka_unit_test(unsafe_text_is_made_visible),
        cmocka_unit_test(chunks_make_no_difference),
        cmocka_unit_test(random_text_streams_like_it_stands),
        cmocka_unit_test(a_cut_link_is_not_read_past_its_end),
        cmocka_unit_test(every_line_fits),
        cmocka_unit_test(the_open_end_stays_short),
        cmocka_unit_test(code_has_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
