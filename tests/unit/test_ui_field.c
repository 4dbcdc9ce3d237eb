/* The field of a pane is edited with the prompt's keys. */
#include "unit/unit.h"

#include "ui/field.h"
#include "ui/keys.h"

static struct field f;

/* A command, the keys on it from its end, and what is left with '|' at the cursor. */
static void
edits(const char *text, const int *keys, const char *want)
{
    struct buf b;
    field_set(&f, str_from(text));
    for (; *keys; keys++)
        assert_true(field_key(&f, *keys, STR("")));
    buf_init(&b, BUF_MAX);
    buf_add_str(&b, str_sub(buf_str(&f.text), 0, f.cursor));
    buf_addc(&b, '|');
    buf_add_str(&b, str_sub(buf_str(&f.text), f.cursor, f.text.len));
    assert_string_equal(buf_cstr(&b), want);
    buf_release(&b);
}

static void
words_are_cut_and_passed(void **state)
{
    (void)state;
    edits("touch a && git push origin main",
          (int[]){'w' | KM_CTRL, 'w' | KM_CTRL, 'w' | KM_CTRL, 0}, "touch a && git |");
    edits("ls --color=auto", (int[]){YK_BACKSPACE | KM_ALT, 0}, "ls --color=|");
    edits("ls --color=auto", (int[]){YK_BACKSPACE | KM_CTRL, 0}, "ls --color=|");
    edits("ls --color=auto", (int[]){'b' | KM_ALT, 'b' | KM_ALT, 0}, "ls --|color=auto");
    edits("ls --color=auto", (int[]){YK_LEFT | KM_CTRL, YK_LEFT | KM_ALT, 0}, "ls --|color=auto");
    edits("rm über x", (int[]){YK_HOME, YK_RIGHT | KM_CTRL, 'f' | KM_ALT, 0}, "rm über| x");
    edits("rm über x", (int[]){'a' | KM_CTRL, 'd' | KM_ALT, 0}, "| über x");
    edits("rm über x", (int[]){'b' | KM_ALT, 'k' | KM_CTRL, 0}, "rm über |");
    edits("rm über x", (int[]){'b' | KM_ALT, 'u' | KM_CTRL, 'e' | KM_CTRL, 0}, "x|");
    edits("", (int[]){'w' | KM_CTRL, 'b' | KM_ALT, 'd' | KM_ALT, YK_BACKSPACE | KM_ALT, 0}, "|");
}

static void
other_keys_are_not_the_field_s(void **state)
{
    (void)state;
    field_set(&f, STR("ls"));
    assert_false(field_key(&f, YK_ENTER, STR("")));
    assert_false(field_key(&f, YK_ESC, STR("")));
    assert_false(field_key(&f, 'm' | KM_ALT, STR("")));
    assert_string_equal(buf_cstr(&f.text), "ls");
}

static int
setup(void **state)
{
    (void)state;
    field_init(&f);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    field_release(&f);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_cut_and_passed),
                                       cmocka_unit_test(other_keys_are_not_the_field_s)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
