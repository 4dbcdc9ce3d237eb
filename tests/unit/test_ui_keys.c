#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ui/keydec.h"
#include "ui/keys.h"

static struct keydec dec;
static int64_t now_ms;

static int
setup(void **state)
{
    (void)state;
    keydec_init(&dec, 0);
    now_ms = 1000;
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    keydec_release(&dec);
    return 0;
}

static void
feed(const char *bytes)
{
    keydec_feed(&dec, str_from(bytes), now_ms);
}

static int
next(void)
{
    struct str paste;
    int wait;
    return keydec_next(&dec, now_ms, &paste, &wait);
}

static void
one_key(const char *bytes, int want)
{
    feed(bytes);
    int key = next();
    if (key != want)
        print_error("bytes \"%s\": key %x, wanted %x\n", bytes + 1, (unsigned)key, (unsigned)want);
    assert_int_equal(key, want);
    assert_int_equal(next(), -1);
    assert_int_equal(dec.in.len, 0);
}

static void
known_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int key;
    } cases[] = {
        {"a", 'a'},
        {"\r", YK_ENTER},
        {"\n", 'j' | KM_CTRL},
        {"\t", YK_TAB},
        {"\x7f", YK_BACKSPACE},
        {"\b", YK_BACKSPACE},
        {"\x01", 'a' | KM_CTRL},
        {"\x1f", '_' | KM_CTRL},
        {"\x1a", 'z' | KM_CTRL},
        {"é", 0xE9},
        {"日", 0x65E5},
        {"😀", 0x1F600},
        {"\xff", 0xFFFD},
        {"\x1b[A", YK_UP},
        {"\x1bOA", YK_UP},
        {"\x1b[1;5D", YK_LEFT | KM_CTRL},
        {"\x1b[1;3C", YK_RIGHT | KM_ALT},
        {"\x1b[1;2B", YK_DOWN | KM_SHIFT},
        {"\x1b[H", YK_HOME},
        {"\x1b[1~", YK_HOME},
        {"\x1b[7~", YK_HOME},
        {"\x1bOF", YK_END},
        {"\x1b[5~", YK_PGUP},
        {"\x1b[6;5~", YK_PGDN | KM_CTRL},
        {"\x1b[3~", YK_DELETE},
        {"\x1b[Z", YK_BACKTAB},
        {"\x1b[9;2u", YK_BACKTAB},
        {"\x1bOP", YK_F1},
        {"\x1b[11~", YK_F1},
        {"\x1b[[A", YK_F1},
        {"\x1b[13;2u", YK_ENTER | KM_SHIFT},
        {"\x1b[13;5u", YK_ENTER | KM_CTRL},
        {"\x1b[27;2;13~", YK_ENTER | KM_SHIFT},
        {"\x1b[27u", YK_ESC},
        {"\x1b[99;5u", 'c' | KM_CTRL},
        {"\x1b[97;3u", 'a' | KM_ALT},
        {"\x1b[97:65;2u", 'a'},
        {"\x1b[27;5;106~", 'j' | KM_CTRL},
        {"\x1b\r", YK_ENTER | KM_ALT},
        {"\x1b"
         "a",
         'a' | KM_ALT},
        {"\x1b"
         "1",
         '1' | KM_ALT},
        {"\x1b\x7f", YK_BACKSPACE | KM_ALT},
        {"\x1bö", 0xF6 | KM_ALT},
        {"\x1b\x1b[A", YK_UP | KM_ALT},
        {"\x1b[<64;10;5M", YK_WHEEL_UP},
        {"\x1b[<65;10;5M", YK_WHEEL_DOWN},
        {"\x1b[I", YK_FOCUS_IN},
        {"\x1b[O", YK_FOCUS_OUT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        one_key(cases[i].bytes, cases[i].key);
}

static void
the_left_button(void **state)
{
    (void)state;
    one_key("\x1b[<0;3;4M", YK_MOUSE_DOWN);
    assert_int_equal(dec.mouse_x, 2);
    assert_int_equal(dec.mouse_y, 3);
    one_key("\x1b[<32;120;40M", YK_MOUSE_DRAG);
    one_key("\x1b[<0;121;40m", YK_MOUSE_UP);
    assert_int_equal(dec.mouse_x, 120);
    assert_int_equal(dec.mouse_y, 39);
}

static void
swallows_what_is_no_key(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "\x1b[<4;3;4M", /* with Shift */
        "\x1b[<1;3;4M", /* the middle button */
        "\x1b[M !!",
        "\x1b[?62;4c",
        "\x1b[12;40R",
        "\x1b[97;1:3u",
        "\x1b[?2026;2$y",
        "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
        "\x1b[99999999999999999999u",
        "\x1b]52;c;AAAA\a",
        "\x1bP1$r0m\x1b\\",
        "\x1b[57358u",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        one_key(cases[i], -1);
    assert_true(dec.sync_update);
    assert_int_equal(dec.background, BACKGROUND_DARK);
    one_key("\x1b]11;rgb:ffff/ffff/dddd\a", -1);
    assert_int_equal(dec.background, BACKGROUND_LIGHT);
    one_key("\x1b[1;3R", -1);
    assert_int_equal(dec.ambiguous, 2);
    one_key("\x1b[1;2R", -1);
    assert_int_equal(dec.ambiguous, 1);
    one_key("\x1b[?2026;0$y", -1);
    assert_false(dec.sync_update);
}

/* Every key also comes whole when its bytes lie 40 ms apart. */
static void
split_40_ms_apart(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int key;
    } cases[] = {{"\x1b[A", YK_UP},
                 {"\x1b\r", YK_ENTER | KM_ALT},
                 {"\x1b[1;5D", YK_LEFT | KM_CTRL},
                 {"\x1b"
                  "a",
                  'a' | KM_ALT},
                 {"\x1b[<64;10;5M", YK_WHEEL_UP},
                 {"日", 0x65E5},
                 {"\x1b[13;2u", YK_ENTER | KM_SHIFT},
                 {"\x1bOB", YK_DOWN}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = strlen(cases[i].bytes);
        for (size_t k = 0; k < n; k++) {
            keydec_feed(&dec, str_make(cases[i].bytes + k, 1), now_ms);
            assert_int_equal(next(), k + 1 < n ? -1 : cases[i].key);
            now_ms += 40;
            if (k + 1 < n)
                assert_int_equal(next(), -1);
        }
    }
}

static void
lone_escape_acts_in_time(void **state)
{
    (void)state;
    struct str paste;
    int wait;
    feed("\x1b");
    assert_int_equal(keydec_next(&dec, now_ms, &paste, &wait), -1);
    assert_int_equal(wait, KEYDEC_ESC_MS);
    assert_true(wait >= 50 && wait <= 100);
    now_ms += wait;
    assert_int_equal(keydec_next(&dec, now_ms, &paste, &wait), YK_ESC);
    assert_int_equal(wait, -1);
    /* twice at once */
    feed("\x1b\x1b");
    now_ms += KEYDEC_ESC_MS;
    assert_int_equal(next(), YK_ESC);
    assert_int_equal(next(), YK_ESC);
    assert_int_equal(next(), -1);
    /* an arrow whose rest never comes is no Esc and no text */
    feed("\x1b[1;");
    now_ms += 10 * KEYDEC_ESC_MS;
    assert_int_equal(next(), -1);
    assert_int_equal(dec.in.len, 0);
    /* half a character */
    feed("\xe6\x97");
    now_ms += 10 * KEYDEC_ESC_MS;
    assert_int_equal(next(), 0xFFFD);
    one_key("x", 'x');
}

static void
expect_paste(const char *bytes, const char *want)
{
    struct str paste;
    int wait;
    feed(bytes);
    assert_int_equal(keydec_next(&dec, now_ms, &paste, &wait), YK_PASTE);
    assert_int_equal(paste.len, strlen(want));
    assert_memory_equal(paste.ptr, want, paste.len);
}

static void
pastes(void **state)
{
    (void)state;
    expect_paste("\x1b[200~hello\nworld\x1b[201~", "hello\nworld");
    /* end marker and Enter in one read: the Enter comes once, after it */
    expect_paste("\x1b[200~rm -rf\r\x1b[201~\r", "rm -rf\n");
    assert_int_equal(next(), YK_ENTER);
    assert_int_equal(next(), -1);
    expect_paste("\x1b[200~a\rb\x1b[201~", "a\nb");
    expect_paste("\x1b[200~a\r\nb\r\n\x1b[201~", "a\r\nb\r\n");
    expect_paste("\x1b[200~\x1b[201~", "");
    expect_paste("\x1b[200~\x1b[A\x03\x1b[20\x1b[201~", "\x1b[A\x03\x1b[20");
    /* byte by byte */
    const char *s = "\x1b[200~one\x1b[201~x";
    int got = 0;
    for (; *s; s++) {
        keydec_feed(&dec, str_make(s, 1), now_ms);
        int key = next();
        got += key == YK_PASTE;
        assert_true(key == -1 || key == YK_PASTE || key == 'x');
    }
    assert_int_equal(got, 1);
    /* the end never comes */
    feed("\x1b[200~lost");
    assert_int_equal(next(), -1);
    now_ms += 6000;
    assert_int_equal(next(), YK_PASTE);
    one_key("y", 'y');
}

static void
a_big_paste_is_whole(void **state)
{
    (void)state;
    size_t n = (size_t)1 << 20;
    char *s = xmalloc(n);
    for (size_t i = 0; i < n; i++)
        s[i] = (char)(i % 80 == 79 ? '\n' : ' ' + (char)(i % 90));
    feed("\x1b[200~");
    struct str paste;
    int wait;
    for (size_t off = 0; off < n; off += 4096) {
        keydec_feed(&dec, str_make(s + off, n - off < 4096 ? n - off : 4096), now_ms);
        assert_int_equal(keydec_next(&dec, now_ms, &paste, &wait), -1);
    }
    feed("\x1b[201~\r");
    assert_int_equal(keydec_next(&dec, now_ms, &paste, &wait), YK_PASTE);
    assert_int_equal(paste.len, n);
    assert_memory_equal(paste.ptr, s, n);
    assert_int_equal(next(), YK_ENTER);
    free(s);
}

static void
an_endless_paste_is_capped(void **state)
{
    (void)state;
    size_t n = (size_t)8 << 20;
    char *s = xmalloc(n);
    memset(s, 'x', n);
    feed("\x1b[200~");
    for (int i = 0; i < 6; i++) {
        keydec_feed(&dec, str_make(s, n), now_ms);
        assert_int_equal(next(), -1);
        assert_true(dec.paste.len <= ((size_t)32 << 20) + 6);
    }
    feed("\x1b[20");
    assert_int_equal(next(), -1);
    feed("1~z");
    assert_int_equal(next(), YK_PASTE);
    assert_int_equal(next(), 'z');
    free(s);
}

static void
own_strings_of_the_terminal(void **state)
{
    (void)state;
    keydec_own(&dec, "\x1b[[5~", YK_PGUP);
    keydec_own(&dec, "x", YK_PGUP); /* no sequence: not taken */
    one_key("\x1b[[5~", YK_PGUP);
    one_key("x", 'x');
}

static void
parses_key_names(void **state)
{
    (void)state;
    int k[2];
    assert_true(keys_parse("ctrl+x a", k));
    assert_int_equal(k[0], 'x' | KM_CTRL);
    assert_int_equal(k[1], 'a');
    assert_true(keys_parse("Shift+Tab", k));
    assert_int_equal(k[0], YK_BACKTAB);
    assert_int_equal(k[1], 0);
    assert_true(keys_parse("ctrl+alt+PageUp", k));
    assert_int_equal(k[0], YK_PGUP | KM_CTRL | KM_ALT);
    assert_true(keys_parse("?", k));
    assert_true(keys_parse("ctrl++", k));
    assert_int_equal(k[0], '+' | KM_CTRL);
    assert_false(keys_parse("", k));
    assert_false(keys_parse("ctrl+nosuch", k));
    assert_false(keys_parse("a b c", k));
    assert_string_equal(keys_shown("ctrl+x a"), "Ctrl+X A");
    assert_string_equal(keys_shown("shift+tab"), "Shift+Tab");
    assert_string_equal(keys_shown("alt+1"), "Alt+1");
    assert_string_equal(keys_shown("{"), "{");
}

static void
the_table_holds_together(void **state)
{
    (void)state;
    keys_reset();
    size_t n = 0;
    for (const struct key_row *r; (r = keys_at(n)); n++) {
        int k[2];
        assert_true(keys_parse(r->key, k));
        assert_true(r->help[0] && r->name[0]);
        enum key_action a =
            k[1] ? keys_action_in(r->context, k[1], k[0]) : keys_action_in(r->context, k[0], 0);
        /* the action of the first row of that name */
        const struct key_row *first = r;
        for (size_t i = n; i-- > 0;)
            if (strcmp(keys_at(i)->name, r->name) == 0)
                first = keys_at(i);
        assert_int_equal(a, first->action);
    }
    assert_int_equal(n, ACT_COUNT - 1);
    assert_true(keys_is_chord_start(KEYS_PROMPT, 'x' | KM_CTRL));
    assert_false(keys_is_chord_start(KEYS_ANYWHERE, 'a'));
    assert_int_equal(keys_action('a', 'x' | KM_CTRL), ACT_AFK);
    assert_int_equal(keys_action('a' | KM_ALT, 0), ACT_AFK);
    assert_int_equal(keys_action('q', 0), ACT_NONE);
}

static void
a_persons_own_keys(void **state)
{
    (void)state;
    struct err err = {0};
    keys_reset();
    assert_true(keys_load(STR("{\"bindings\":[{\"context\":\"Chat\",\"bindings\":{"
                              "\"ctrl+e\":\"chat:externalEditor\",\"ctrl+t\":null}}]}"),
                          &err));
    assert_int_equal(keys_action_in(KEYS_PROMPT, 'e' | KM_CTRL, 0), ACT_EDITOR);
    assert_int_equal(keys_action_in(KEYS_PROMPT, 't' | KM_CTRL, 0), ACT_NONE);
    assert_int_equal(keys_action_in(KEYS_PROMPT, 'g' | KM_CTRL, 0), ACT_EDITOR);
    assert_string_equal(keys_of(ACT_EDITOR), "ctrl+e");
    assert_null(keys_of(ACT_TODOS));
    /* what is wrong is named, the rest holds */
    assert_false(keys_load(STR("{\"bindings\":[{\"bindings\":{\"ctrl+c\":\"app:todos\","
                               "\"f1\":\"no:such\",\"ctrl+q\":\"app:help\"}}]}"),
                           &err));
    assert_non_null(strstr(err.text, "ctrl+c"));
    assert_int_equal(keys_action('c' | KM_CTRL, 0), ACT_INTERRUPT);
    assert_int_equal(keys_action('q' | KM_CTRL, 0), ACT_HELP);
    assert_false(keys_load(STR("[1,2"), &err));
    assert_false(keys_load(STR(""), &err));
    keys_reset();
}

/* A file of another shape is not passed over in silence, and keys of a place that is not here do not hold everywhere. */
static void
a_key_file_of_another_shape(void **state)
{
    (void)state;
    struct err err = {0};
    static const char *const wrong[] = {"[1,2]",
                                        "null",
                                        "5",
                                        "{\"bindings\":5}",
                                        "{\"bindings\":{\"ctrl+e\":\"app:todos\"}}",
                                        "{\"bindings\":[1]}",
                                        "{\"bindings\":[{\"bindings\":[\"ctrl+e\"]}]}",
                                        "{\"bindings\":[{\"context\":7,\"bindings\":{}}]}",
                                        "{\"bindings\":[{\"bindings\":{\"ctrl+e\":7}}]}"};
    keys_reset();
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        err = (struct err){0};
        if (keys_load(str_from(wrong[i]), &err) || !strstr(err.text, "key bindings"))
            fail_msg("%s: '%s'", wrong[i], err.text);
    }
    assert_false(keys_load(
        STR("{\"bindings\":[{\"context\":\"Elsewhere\",\"bindings\":{\"ctrl+q\":\"app:todos\"}},"
            "{\"context\":\"Global\",\"bindings\":{\"ctrl+n\":\"app:todos\"}}]}"),
        &err));
    assert_non_null(strstr(err.text, "Elsewhere"));
    assert_int_equal(keys_action('q' | KM_CTRL, 0), ACT_NONE);
    assert_int_equal(keys_action('n' | KM_CTRL, 0), ACT_TODOS);
    assert_true(keys_load(STR("{}"), &err));
    keys_reset();
}

/* Two keys have it by default; the one that is one key is the one to tell of, until it is taken away. */
static void
a_single_key_is_shown_before_a_chord(void **state)
{
    (void)state;
    struct err err;
    assert_true(keys_load(STR("{}"), &err));
    assert_string_equal(keys_of(ACT_AFK), "alt+a");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(known_sequences),
        T(a_key_file_of_another_shape),
        T(the_left_button),
        T(swallows_what_is_no_key),
        T(split_40_ms_apart),
        T(lone_escape_acts_in_time),
        T(pastes),
        T(a_big_paste_is_whole),
        T(an_endless_paste_is_capped),
        T(own_strings_of_the_terminal),
        T(parses_key_names),
        T(the_table_holds_together),
        T(a_persons_own_keys),
        cmocka_unit_test(a_single_key_is_shown_before_a_chord),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
