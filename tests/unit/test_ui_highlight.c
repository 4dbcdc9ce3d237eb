#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/canvas.h"
#include "ui/highlight.h"

/* A letter for each byte: k keyword, s string, # comment, f function, t type, 1 number, c constant, o operator, . plain. */
static char *
letters(const char *lang, const char *text)
{
    static const char of[ST_COUNT] = {
        [ST_SYN_KEYWORD] = 'k',  [ST_SYN_STRING] = 's',   [ST_SYN_COMMENT] = '#',
        [ST_SYN_FUNCTION] = 'f', [ST_SYN_TYPE] = 't',     [ST_SYN_NUMBER] = '1',
        [ST_SYN_CONSTANT] = 'c', [ST_SYN_OPERATOR] = 'o', [ST_CODE] = '.',
        [ST_ADD] = '+',          [ST_DEL] = '-',          [ST_HUNK] = '@',
        [ST_DIM] = 'd'};
    size_t len = strlen(text);
    struct highlight *h = highlight_new(str_from(lang));
    uint8_t *styles = xmalloc(len + 1);
    char *out = xmalloc(len + 1);
    assert_non_null(h);
    highlight_add(h, str_from(text));
    highlight_styles(h, 0, len, styles);
    for (size_t i = 0; i < len; i++)
        out[i] = of[styles[i]] ? of[styles[i]] : '?';
    out[len] = '\0';
    highlight_free(h);
    free(styles);
    return out;
}

static void
check(const char *lang, const char *text, const char *want)
{
    char *have = letters(lang, text);
    if (strcmp(have, want) != 0)
        fail_msg("%s\n%s\nis\n%s\nnot\n%s", lang, text, have, want);
    free(have);
}

static void
every_language_has_its_colours(void **state)
{
    (void)state;
    check("c", "int f(void) { return 12; } // x", "ttt.f.tttt....kkkkkk.11....####");
    check("C", "#define MAX \"s\"", "kkkkkkk.ccc....");
    check("py", "def f(x):\n    return None # no", "kkk.f.........kkkkkk.cccc.####");
    check("json", "{\"a\": [1, true]}", ".fff...1..cccc..");
    check("sh", "if ls; then echo \"x\"; fi", "kk.ff..kkkk.ffff.sss..kk");
    check("go", "func main() { return nil }", "kkkk.ffff.....kkkkkk.ccc..");
    check("rust", "fn f() -> u32 { 7 }", "kk.f......ttt...c..");
    check("js", "const a = f('x');", "kkkkk...o.f.sss..");
    check("ts", "let a: string = f(1);", "kkk....tttttt.o.f.1..");
    check("tsx", "let a: string = <b>x</b>;", "kkk....tttttt.o..t....t..");
    check("diff", "@@ 1\n- a\n+ b\n c", "@@@@@----++++..");
}

static void
what_is_unknown_stays_plain(void **state)
{
    (void)state;
    assert_null(highlight_new(STR("")));
    assert_null(highlight_new(STR("brainfuck")));
    assert_null(highlight_new(STR("c sh")));
    highlight_free(NULL);
}

/* Text past the cap is plain, and nothing that is asked for is out of range. */
static void
long_code_stays_plain(void **state)
{
    (void)state;
    struct highlight *h = highlight_new(STR("c"));
    uint8_t styles[64];
    struct buf b;
    buf_init(&b, BUF_MAX);
    while (b.len < HIGHLIGHT_MAX - 100)
        buf_adds(&b, "int x = 1; /* and so on */\n");
    highlight_add(h, buf_str(&b));
    highlight_styles(h, 0, 3, styles);
    assert_int_equal(styles[0], ST_SYN_TYPE);
    highlight_add(h, buf_str(&b));
    highlight_styles(h, b.len, 64, styles);
    for (size_t i = 0; i < sizeof styles; i++)
        assert_int_equal(styles[i], ST_CODE);
    buf_release(&b);
    highlight_free(h);
}

/* Line by line the same as at once, for code without errors; and bytes of any kind do no harm. */
static void
parts_and_junk(void **state)
{
    (void)state;
    static const char *const langs[] = {"c",   "py",   "sh", "js",   "ts",
                                        "tsx", "rust", "go", "json", "diff"};
    unsigned seed = 3;
    for (size_t i = 0; i < ARRAY_LEN(langs); i++) {
        for (int n = 0; n < 20; n++) {
            struct highlight *h = highlight_new(str_from(langs[i]));
            uint8_t styles[100];
            for (size_t at = 0, len; at < 2000; at += len) {
                char junk[100];
                len = 1 + seed % 90;
                for (size_t k = 0; k < len; k++) {
                    seed = seed * 1103515245u + 12345u;
                    junk[k] = n % 2 ? (char)(seed >> 16)
                                    : "{}()[]'\"`/*#$\\<> \nif x=1;"[(seed >> 16) % 25];
                }
                highlight_add(h, str_make(junk, len));
                highlight_styles(h, at, len, styles);
                for (size_t k = 0; k < len; k++)
                    assert_true(styles[k] < ST_COUNT);
            }
            highlight_free(h);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_language_has_its_colours),
        cmocka_unit_test(what_is_unknown_stays_plain),
        cmocka_unit_test(long_code_stays_plain),
        cmocka_unit_test(parts_and_junk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
