#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>

#include "base/text.h"
#include "pty.h"
#include "ui/term.h"
#include "ui/theme.h"

#define WOMAN "\xF0\x9F\x91\xA9"
#define FAMILY WOMAN "\xE2\x80\x8D" WOMAN "\xE2\x80\x8D\xF0\x9F\x91\xA6"
#define PASTE_ON "\x1b[?2004h"

/* A box with the line's end in it, as the program has its prompt. */
static void
echo_draw(struct canvas *c, const struct buf *line)
{
    struct str tail = buf_str(line);
    canvas_clear(c);
    canvas_box(c, (struct rect){0, 0, c->w, c->h}, ST_BORDER, STR("box"), term_ascii());
    if (tail.len > 20)
        tail = str_sub(tail, tail.len - 20, 20);
    int x = canvas_text(c, (struct rect){0, 0, c->w, c->h}, 2, c->h - 2, ST_TEXT, tail);
    canvas_cursor(c, x, c->h - 2);
    term_draw(c);
}

/* The next key; -1: the terminal is gone. */
static int
echo_key(struct str *ret_paste)
{
    struct pollfd f = {term_fd(), POLLIN, 0};
    for (int wait = -1;; (void)poll(&f, 1, wait)) {
        int key = term_key(ret_paste, &wait);
        if (key >= 0 || term_gone())
            return key;
    }
}

/* Writes what the key was, or does what it stands for; false: the end. */
static bool
echo_do(int key, struct str paste, struct buf *line, int *code)
{
    switch (key) {
    case 'q':
    case -1:
        return false;
    case 'S':
        term_suspend();
        buf_adds(line, "back");
        break;
    case 'C':
        raise(SIGSEGV);
        break;
    case 'A':
        die("broken");
    case 'F':
        buf_adds(line, FAMILY);
        break;
    case 'W': /* the first of the family alone */
        buf_clear(line);
        buf_adds(line, WOMAN);
        break;
    case YK_PASTE:
        *code = (int)(paste.len % 251);
        buf_addf(line, "[%zu]", paste.len);
        break;
    case YK_UP:
        buf_adds(line, "<up>");
        break;
    case YK_ESC:
        buf_adds(line, "<esc>");
        break;
    case YK_ENTER:
        buf_adds(line, "<enter>");
        break;
    default:
        buf_addc(line, (char)key);
        break;
    }
    return true;
}

static int
echo_child(void *user)
{
    struct term_options o = *(struct term_options *)user;
    struct err err;
    if (!term_open(&o, &err)) {
        fprintf(stdout, "refused: %s\n", err.text);
        fflush(stdout);
        return 3;
    }
    struct canvas c;
    struct buf line;
    struct str paste;
    int w, h, key, code = 0;
    buf_init(&line, BUF_MAX);
    term_size(&w, &h);
    canvas_init(&c, w, h);
    do {
        echo_draw(&c, &line);
        key = echo_key(&paste);
    } while (echo_do(key, paste, &line, &code));
    term_close();
    canvas_release(&c);
    buf_release(&line);
    return code;
}

static void
start(struct pty *p, const struct term_options *o, int w, int h)
{
    pty_start(p, w, h, echo_child, (void *)(uintptr_t)o);
    assert_true(pty_until(p, 0, PASTE_ON, 10000));
    (void)pty_until(p, 0, NULL, 50);
}

static void
sanitizers_aside(void)
{
#if defined(__SANITIZE_ADDRESS__)
    skip();
#endif
}

static void
everything_is_put_back(void **state)
{
    (void)state;
    static const struct term_options options[] = {
        {0}, {.no_mouse = true}, {.no_alt_screen = true}, {.no_color = true, .ascii = true}};
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        struct pty p;
        start(&p, &options[i], 80, 24);
        assert_false(pty_line_same(&p));
        assert_false(pty_restored(&p));
        pty_sends(&p, "hello");
        assert_true(pty_until(&p, 0, "o", 5000));
        pty_sends(&p, "q");
        int status = pty_wait(&p);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_true(pty_restored(&p));
        struct str all = buf_str(&p.out);
        assert_int_equal(str_contains(all, STR("\x1b[?1002h")), !options[i].no_mouse);
        if (options[i].no_color)
            assert_false(str_contains(all, STR("\x1b[38;5;")));
        pty_finish(&p);
    }
}

static void
no_alt_screen_keeps_what_stands_there(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {.no_alt_screen = true};
    start(&p, &o, 80, 24);
    pty_sends(&p, "q");
    (void)pty_wait(&p);
    const char *on = memmem(p.out.data, p.out.len, "\x1b[?1049h", 8);
    const char *off = memmem(p.out.data, p.out.len, "\x1b[?1049l", 8);
    const char *clear = memmem(p.out.data, p.out.len, "\x1b[2J", 4);
    if (!clear)
        clear = memmem(p.out.data, p.out.len, "\x1b[J", 3);
    assert_true(!on || (off && off > on && (!clear || off < clear)));
    /* what comes next is written below the picture */
    assert_non_null(memmem(p.out.data, p.out.len, "\x1b[24;1H\r", 8));
    pty_finish(&p);
}

static void
a_crash_puts_it_back_too(void **state)
{
    (void)state;
    sanitizers_aside();
    static const struct {
        const char *key;
        int sig;
    } ways[] = {{"C", SIGSEGV}, {"A", SIGABRT}};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pty p;
        struct term_options o = {0};
        start(&p, &o, 80, 24);
        pty_sends(&p, ways[i].key);
        int status = pty_wait(&p);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), ways[i].sig);
        assert_true(pty_restored(&p));
        pty_finish(&p);
    }
}

static void
suspend_and_back(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {0};
    int status;
    start(&p, &o, 80, 24);
    size_t from = p.out.len;
    pty_sends(&p, "S");
    /* the child leads an orphaned process group, so the stop is not carried out: it comes back at once */
    assert_true(pty_until(&p, from, "back", 5000));
    struct str since = str_sub(buf_str(&p.out), from, p.out.len);
    assert_true(str_contains(since, STR("\x1b[?2004l")));
    assert_true(str_contains(since, STR("\x1b[?1049l")));
    assert_true(pty_until(&p, from, "\x1b[?1049h", 1000));
    assert_true(pty_until(&p, from, PASTE_ON, 1000));
    pty_sends(&p, "q");
    status = pty_wait(&p);
    assert_true(WIFEXITED(status));
    assert_true(pty_restored(&p));
    pty_finish(&p);
}

static void
a_key_costs_few_bytes(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {0};
    start(&p, &o, 80, 24);
    pty_sends(&p, "\x1b[?2026;2$y"); /* and with brackets */
    (void)pty_until(&p, 0, NULL, 50);
    for (char c = 'a'; c < 'm'; c++) {
        size_t from = p.out.len;
        pty_send(&p, &c, 1);
        assert_true(pty_until(&p, from, "\x1b[?2026l", 5000));
        (void)pty_until(&p, from, NULL, 20);
        size_t cost = p.out.len - from;
        if (cost > 200)
            print_error("%zu bytes\n", cost);
        assert_true(cost <= 200 && cost >= 1);
        assert_null(memmem(p.out.data + from, cost, "\x1b[2J", 4));
        assert_true(str_starts(str_sub(buf_str(&p.out), from, cost), "\x1b[?2026h"));
    }
    pty_sends(&p, "q");
    (void)pty_wait(&p);
    pty_finish(&p);
}

/* Curses holds the first character of a cluster: the whole one goes over it, and the cells behind it, which a terminal that does not
 * join it writes over, come again in their places. */
static void
clusters_are_written_whole(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {0};
    start(&p, &o, 80, 24);
    size_t from = p.out.len;
    pty_sends(&p, "F");
    assert_true(pty_until(&p, from, FAMILY "\x1b[23;5H", 5000));
    assert_true(pty_until(&p, from,
                          "\x1b[?7h\x1b"
                          "8",
                          5000));
    from = p.out.len;
    pty_sends(&p, "x");
    assert_true(pty_until(&p, from, "\x1b[23;3H", 5000));
    assert_true(pty_until(&p, from, FAMILY "\x1b[23;5H", 5000));
    assert_true(pty_until(&p, from,
                          "\x1b[?7h\x1b"
                          "8",
                          5000));
    from = p.out.len;
    pty_sends(&p, "W");
    assert_true(pty_until(&p, from, WOMAN, 5000));
    pty_sends(&p, "q");
    (void)pty_wait(&p); /* all that it drew is here now */
    assert_null(memmem(p.out.data + from, p.out.len - from, FAMILY, strlen(FAMILY)));
    pty_finish(&p);
}

static void
no_brackets_where_nobody_asked_for_them(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {0};
    start(&p, &o, 80, 24);
    pty_sends(&p, "\x1b[?2026;0$yabcq");
    (void)pty_wait(&p);
    assert_false(str_contains(buf_str(&p.out), STR("\x1b[?2026h")));
    pty_finish(&p);
}

static void
sleep_ms(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    (void)nanosleep(&t, NULL);
}

static void
split_keys_arrive_whole(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {.esc_ms = 400}; /* a loaded machine sleeps longer than asked */
    start(&p, &o, 80, 24);
    size_t from = p.out.len;
    for (const char *s = "\x1b[A"; *s; s++) {
        pty_send(&p, s, 1);
        sleep_ms(40); /* the terminal's slowness is what is tested */
    }
    assert_true(pty_until(&p, from, "<up>", 5000));
    assert_false(str_contains(buf_str(&p.out), STR("esc")));
    pty_sends(&p, "\x1b");
    assert_true(pty_until(&p, from, "<esc>", 5000));
    pty_sends(&p, "q");
    (void)pty_wait(&p);
    pty_finish(&p);
}

static void
big_paste(void **state)
{
    (void)state;
    struct pty p;
    struct term_options o = {0};
    size_t n = (size_t)1 << 20;
    char *s = xmalloc(n);
    memset(s, 'x', n);
    for (size_t i = 100; i < n; i += 100)
        s[i] = '\n';
    start(&p, &o, 80, 24);
    size_t from = p.out.len;
    pty_sends(&p, "\x1b[200~");
    pty_send(&p, s, n);
    pty_sends(&p, "\x1b[201~\r");
    assert_true(pty_until(&p, from, "[1048576]", 10000));
    assert_true(pty_until(&p, from, "<enter>", 5000));
    pty_sends(&p, "q");
    int status = pty_wait(&p);
    assert_int_equal(WEXITSTATUS(status), (int)(n % 251));
    pty_finish(&p);
    free(s);
}

static void
any_size_and_resize(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 3}, {3, 3}, {20, 6}, {400, 100}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct pty p;
        struct term_options o = {0};
        start(&p, &o, sizes[i][0], sizes[i][1]);
        pty_sends(&p, "abq");
        int status = pty_wait(&p);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        pty_finish(&p);
    }
}

/* Says the size that was found, and ends. */
static int
size_child(void *user)
{
    struct term_options o = *(struct term_options *)user;
    struct err err;
    int w, h;
    if (!term_open(&o, &err))
        return 3;
    term_size(&w, &h);
    term_close();
    printf("size %dx%d", w, h);
    fflush(stdout);
    return 0;
}

static void
expect_size(int w, int h, const char *columns, const char *lines, const char *want)
{
    struct pty p;
    struct term_options o = {0};
    setenv("COLUMNS", columns, 1);
    setenv("LINES", lines, 1);
    pty_start(&p, w, h, size_child, &o);
    int status = pty_wait(&p);
    unsetenv("COLUMNS");
    unsetenv("LINES");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(str_contains(buf_str(&p.out), str_from(want)));
    if (w && h < 500) { /* the lines that scroll are those that there are */
        struct buf region;
        buf_init(&region, 64);
        buf_addf(&region, "\x1b[1;%dr", h);
        assert_true(str_contains(buf_str(&p.out), buf_str(&region)));
        buf_release(&region);
    }
    pty_finish(&p);
}

static void
the_size_is_the_terminals_not_the_environments(void **state)
{
    (void)state;
    expect_size(100, 30, "40", "10", "size 100x30");
    expect_size(80, 24, "99999999", "99999999", "size 80x24");
    expect_size(65535, 65535, "80", "24", "size 1000x500");
    expect_size(0, 0, "50", "12", "size 50x12"); /* a serial line knows none */
    expect_size(0, 0, "99999999", "12", "size 80x24");
    expect_size(0, 0, "-3", "x", "size 80x24");
}

static void
expect_refusal(const char *term, const char *want)
{
    char *old = xstrdup(getenv("TERM"));
    struct pty p;
    struct term_options o = {0};
    setenv("TERM", term, 1);
    pty_start(&p, 80, 24, echo_child, &o);
    int status = pty_wait(&p);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_true(str_contains(buf_str(&p.out), str_from(want)));
    assert_true(str_contains(buf_str(&p.out), STR("use yare -")));
    assert_true(pty_line_same(&p));
    pty_finish(&p);
    setenv("TERM", old, 1);
    free(old);
}

static void
says_when_there_is_no_screen(void **state)
{
    (void)state;
    expect_refusal("dumb", "dumb");
    expect_refusal("", "TERM");
    expect_refusal("no-such-terminal-9", "no-such-terminal-9");
}

static void
other_terminals(void **state)
{
    (void)state;
    static const char *const names[] = {"vt100", "linux", "screen", "tmux-256color", "xterm"};
    char *old = xstrdup(getenv("TERM"));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct pty p;
        struct term_options o = {0};
        setenv("TERM", names[i], 1);
        pty_start(&p, 80, 24, echo_child, &o);
        assert_true(pty_until(&p, 0, "box", 10000));
        pty_sends(&p, "abcq");
        int status = pty_wait(&p);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_true(pty_restored(&p));
        pty_finish(&p);
    }
    setenv("TERM", old, 1);
    free(old);
}

static double
channel(uint32_t v)
{
    double c = (double)v / 255.0;
    /* a cheap, close form of the sRGB curve: ((c + 0.055) / 1.055) ^ 2.4 */
    if (c <= 0.03928)
        return c / 12.92;
    double b = (c + 0.055) / 1.055;
    double root = b; /* b ^ 0.4 by Newton on x^5 = b^2 */
    for (int i = 0; i < 60; i++)
        root -= (root * root * root * root * root - b * b) / (5 * root * root * root * root);
    return b * b * root;
}

static double
luminance(uint32_t rgb)
{
    return 0.2126 * channel(rgb >> 16 & 255) + 0.7152 * channel(rgb >> 8 & 255) +
           0.0722 * channel(rgb & 255);
}

/* 4.5 to 1 or more on the backgrounds that terminals have. Eight colours: bold is shown as the bright one. */
static void
readable(enum style st, bool light, int colors)
{
    static const uint32_t grounds[2][3] = {{0x000000, 0x1E1E1E, 0x282C34},
                                           {0xFFFFFF, 0xFDF6E3, 0xF2F2F2}};
    struct theme_style s = theme_style(st, light, colors);
    if (s.color == THEME_DEFAULT)
        return;
    bool bright = colors == 8 && s.attrs & TA_BOLD && !light;
    double fg = luminance(theme_rgb(s.color < 8 && bright ? s.color + 8 : s.color));
    for (size_t i = 0; i < (colors == 256 ? 3 : 1); i++) {
        double bg = luminance(grounds[light][i]);
        double ratio = ((fg > bg ? fg : bg) + 0.05) / ((fg > bg ? bg : fg) + 0.05);
        if (ratio < 4.5)
            print_error("style %d of %d colours on %06x: %.2f\n", (int)st, colors,
                        (unsigned)grounds[light][i], ratio);
        assert_true(ratio >= 4.5);
    }
}

static void
themes_can_be_read(void **state)
{
    (void)state;
    for (int st = 0; st < ST_COUNT; st++) {
        for (int light = 0; light < 2; light++) {
            readable((enum style)st, light, 256);
            readable((enum style)st, light, 16);
            readable((enum style)st, light, 8);
        }
        assert_int_equal(theme_style((enum style)st, false, 0).color, THEME_DEFAULT);
        assert_true(theme_style((enum style)st, false, 8).color < 8);
        assert_true(theme_style((enum style)st, true, 16).color < 16);
    }
    assert_true(theme_is_light("0;15"));
    assert_true(theme_is_light("0;default;15"));
    assert_false(theme_is_light("15;0"));
    assert_false(theme_is_light("junk"));
    assert_false(theme_is_light(NULL));
    assert_string_equal(theme_ascii("┌", 1), "+");
    assert_string_equal(theme_ascii("日", 2), "??");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_put_back),
        cmocka_unit_test(no_alt_screen_keeps_what_stands_there),
        cmocka_unit_test(a_crash_puts_it_back_too),
        cmocka_unit_test(suspend_and_back),
        cmocka_unit_test(a_key_costs_few_bytes),
        cmocka_unit_test(clusters_are_written_whole),
        cmocka_unit_test(no_brackets_where_nobody_asked_for_them),
        cmocka_unit_test(split_keys_arrive_whole),
        cmocka_unit_test(big_paste),
        cmocka_unit_test(any_size_and_resize),
        cmocka_unit_test(the_size_is_the_terminals_not_the_environments),
        cmocka_unit_test(says_when_there_is_no_screen),
        cmocka_unit_test(other_terminals),
        cmocka_unit_test(themes_can_be_read),
    };
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLORFGBG");
    unsetenv("NO_COLOR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
