#include "ui/term.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "ui/keydec.h"
#include "ui/term_modes.h"
#include "ui/term_private.h"
#include "ui/term_style.h"
#include "ui/theme.h"

/* After curses.h, whose names it overlaps. */
#include <term.h>

#define READ_ROUNDS 64 /* of one call while a paste comes in */
#define MAX_W 1000
#define MAX_H 500

struct ui_term term;

static const int curses_signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};

static const char *
capability(const char *name)
{
    /* curses.h has the parameter as char *, though it is only read */
    char copy[16];
    strncpy(copy, name, sizeof(copy) - 1);
    copy[sizeof(copy) - 1] = '\0';
    const char *s = tigetstr(copy);
    return s && s != (char *)-1 ? s : NULL;
}

static void
learn_keys(void)
{
    static const struct {
        const char *cap;
        int key;
    } keys[] = {
        {"kcuu1", YK_UP},   {"kcud1", YK_DOWN},   {"kcub1", YK_LEFT},   {"kcuf1", YK_RIGHT},
        {"khome", YK_HOME}, {"kend", YK_END},     {"kpp", YK_PGUP},     {"knp", YK_PGDN},
        {"kf1", YK_F1},     {"kcbt", YK_BACKTAB}, {"kdch1", YK_DELETE},
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        keydec_own(&term.dec, capability(keys[i].cap), keys[i].key);
}

/* What the terminal itself says; false: nothing. */
static bool
told_size(struct winsize *ret)
{
    *ret = (struct winsize){0};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, ret) == 0 && ret->ws_col && ret->ws_row;
}

static bool
is_at_most(const char *variable, long most)
{
    const char *s = getenv(variable);
    return !s || strtol(s, NULL, 10) <= most;
}

/* curses would believe LINES and COLUMNS above the terminal: it takes memory for that many cells, and leaves the lines of
 * the terminal that scroll at that number. They count where the terminal says nothing, and nothing huge counts. */
static void
choose_size_source(void)
{
    struct winsize ws;
    bool known = told_size(&ws);
    use_env(!known && is_at_most("LINES", MAX_H) && is_at_most("COLUMNS", MAX_W));
    use_tioctl(known && ws.ws_row <= MAX_H && ws.ws_col <= MAX_W);
}

/* newterm installs handlers of its own for signals that are read elsewhere. */
static SCREEN *
start_curses(const char *name)
{
    struct sigaction old[ARRAY_LEN(curses_signals)];
    choose_size_source();
    for (size_t i = 0; i < ARRAY_LEN(curses_signals); i++)
        (void)sigaction(curses_signals[i], NULL, &old[i]);
    SCREEN *screen = newterm(name, stdout, stdin);
    for (size_t i = 0; i < ARRAY_LEN(curses_signals); i++)
        (void)sigaction(curses_signals[i], &old[i], NULL);
    return screen;
}

bool
term_usable(struct err *err)
{
    int status = 0;
    const char *name = getenv("TERM");
    if (!name || !*name)
        return err_set(err, ERR_UNSUPPORTED,
                       "TERM is not set, so the terminal's kind is not known");
    if (strcmp(name, "dumb") == 0 || strcmp(name, "unknown") == 0)
        return err_set(err, ERR_UNSUPPORTED, "the terminal '%s' (TERM) cannot place the cursor",
                       name);
    if (setupterm(name, STDOUT_FILENO, &status) != OK)
        return err_set(err, ERR_UNSUPPORTED,
                       "the terminal '%s' (TERM) is not described on this system", name);
    bool ok = capability("cup") != NULL;
    (void)del_curterm(cur_term);
    if (!ok)
        return err_set(err, ERR_UNSUPPORTED, "the terminal '%s' (TERM) cannot place the cursor",
                       name);
    return true;
}

static bool
check_terminal(struct err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, ERR_UNSUPPORTED,
                       "no terminal on standard input and output: use yare -p \"PROMPT\"");
    if (term_usable(err))
        return true;
    struct err why = *err;
    return err_set(err, ERR_UNSUPPORTED,
                   "%s: use yare --linear, or set TERM to what your terminal is", why.text);
}

static void
make_wish(const struct term_options *o)
{
    const char *name = getenv("TERM");
    const char *cup = capability("cup");
    bool ansi = cup && strncmp(cup, "\x1b[", 2) == 0;
    /* the linux console shows queries that it does not know as text */
    bool console = strncmp(name, "linux", 5) == 0;
    term.wish = (struct modes_wish){
        .mouse = !o->no_mouse,
        .alt_screen = !o->no_alt_screen && capability("smcup"),
        .ansi = ansi && !console,
        .ask = ansi && !console && capability("kmous"),
        .exit_alt = capability("rmcup"),
        .show_cursor = capability("cnorm"),
        .plain = capability("sgr0"),
    };
}

/* What a variable says; NULL: nothing. */
static const char *
said(const char *variable)
{
    const char *s = getenv(variable);
    return s && *s ? s : NULL;
}

/* Terminals that do not know hyperlinks swallow them, but for old ones. */
static bool
knows_links(void)
{
    const char *wish = said("YARE_HYPERLINKS"), *name = getenv("TERM");
    if (term.ascii || !term.wish.ansi)
        return false;
    if (wish)
        return strcmp(wish, "0") != 0;
    return term.wish.ask && (strncmp(name, "screen", 6) != 0 || getenv("TMUX"));
}

/* curses means to go to the other screen: let it, come back at once, make room below what stands here, and let curses
 * forget that there is another one. */
static void
stay_on_this_screen(void)
{
    (void)curs_set(1); /* also sends what curses has in its buffer */
    if (exit_ca_mode)
        modes_write(str_from(exit_ca_mode));
    modes_write(STR("\r"));
    for (int i = 0; i < LINES; i++)
        modes_write(STR("\n"));
    enter_ca_mode = NULL;
    exit_ca_mode = NULL;
}

static void
ask_size(int *ret_w, int *ret_h)
{
    struct winsize ws;
    bool known = told_size(&ws);
    int w = known ? ws.ws_col : COLS, h = known ? ws.ws_row : LINES;
    *ret_w = w < 1 ? 1 : w > MAX_W ? MAX_W : w;
    *ret_h = h < 1 ? 1 : h > MAX_H ? MAX_H : h;
}

static void
set_size(void)
{
    ask_size(&term.w, &term.h);
    if (term.w != COLS || term.h != LINES)
        (void)resizeterm(term.h, term.w);
    term.all = true;
}

static void
start_input(void)
{
    (void)raw();
    (void)noecho();
    (void)nonl();
    (void)typeahead(-1); /* else a waiting key stops an update half way */
    (void)leaveok(stdscr, FALSE);
    (void)scrollok(stdscr, FALSE);
    (void)idlok(stdscr, FALSE);
}

static bool
is_utf8(void)
{
    const char *set = setlocale(LC_CTYPE, "") ? nl_langinfo(CODESET) : NULL;
    return set && strcmp(set, "UTF-8") == 0;
}

bool
term_open(const struct term_options *o, struct err *err)
{
    if (term.open)
        return err_set(err, ERR_INVALID, "the terminal is open already");
    if (!check_terminal(err))
        return false;
    bool ascii = !is_utf8() || o->ascii;
    if (!modes_save(STDIN_FILENO, STDOUT_FILENO, err))
        return false;
    memset(&term, 0, sizeof(term));
    term.screen = start_curses(getenv("TERM"));
    if (!term.screen)
        return err_set(err, ERR_UNSUPPORTED, "cannot start the screen on '%s': use yare -p",
                       getenv("TERM"));
    term.open = term.all = true;
    term.ascii = ascii;
    term.cursor_shown = -1;
    keydec_init(&term.dec, o->esc_ms);
    make_wish(o);
    term.links = knows_links();
    const char *width = said("YARE_AMBIGUOUS_WIDTH");
    term.wide_said = width != NULL;
    term.wide = width && strcmp(width, "2") == 0;
    term_style_wide(term.wide);
    learn_keys();
    modes_arm(&term.wish);
    modes_catch_crashes();
    die_set_hook(term_emergency);
    term_style_start(o->no_color);
    term.light = term.found_light = theme_is_light(getenv("COLORFGBG"));
    term_style_set(term.light);
    start_input();
    if (!term.wish.alt_screen)
        stay_on_this_screen();
    set_size();
    return true;
}

void
term_leave(void)
{
    if (!term.open)
        return;
    modes_leave();
    if (!isendwin())
        (void)endwin();
    if (!term.wish.alt_screen) { /* below the last picture, which stays */
        const char *down = tiparm(cursor_address, LINES - 1, 0);
        modes_write(str_from(down));
        modes_write(STR("\r\n"));
    }
    modes_line_restore();
    term.entered = false;
    term.all = true;
    term.cursor_shown = -1;
}

void
term_enter(void)
{
    if (!term.open)
        return;
    keydec_clear(&term.dec);
    modes_arm(&term.wish);
    (void)reset_prog_mode();
    (void)clearok(curscr, TRUE);
    set_size();
}

void
term_close(void)
{
    if (!term.open)
        return;
    term_leave();
    term.open = false;
    modes_uncatch_crashes();
    die_set_hook(NULL);
    keydec_release(&term.dec);
    canvas_release(&term.shown);
    free(term.over);
    delscreen(term.screen);
    term.screen = NULL;
}

void
term_emergency(void)
{
    modes_emergency();
}

void
term_suspend(void)
{
    if (!term.open)
        return;
    term_leave();
    /* the whole job stops, as the terminal's own Ctrl+Z would have it */
    (void)kill(0, SIGTSTP);
    term_enter();
}

void
term_continue(void)
{
    if (!term.open || isendwin())
        return;
    modes_leave();
    modes_arm(&term.wish);
    (void)reset_prog_mode();
    if (term.wish.alt_screen && enter_ca_mode)
        modes_write(str_from(enter_ca_mode));
    term.entered = false;
    (void)clearok(curscr, TRUE);
    set_size();
}

bool
term_gone(void)
{
    return term.gone;
}

int
term_fd(void)
{
    return STDIN_FILENO;
}

static bool
read_some(void)
{
    char bytes[4096];
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    if (poll(&p, 1, 0) <= 0)
        return false;
    ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (n <= 0) {
        term.gone = term.gone || n == 0 || (errno != EINTR && errno != EAGAIN);
        return false;
    }
    keydec_feed(&term.dec, str_make(bytes, (size_t)n), clock_mono_ms());
    return true;
}

static void
use_theme(bool light)
{
    if (light == term.light)
        return;
    term.light = light;
    term_style_set(light);
    term.all = true;
}

static void
use_wide(bool wide)
{
    if (wide == term.wide)
        return;
    term.wide = wide;
    term_style_wide(wide);
    term_redraw();
}

/* The terminal's answer may change what the picture should look like. */
static void
follow_answers(void)
{
    if (term.dec.ambiguous && !term.wide_said)
        use_wide(term.dec.ambiguous == 2);
    term.dec.ambiguous = 0;
    if (term.dec.background == BACKGROUND_UNKNOWN)
        return;
    term.found_light = term.dec.background == BACKGROUND_LIGHT;
    term.dec.background = BACKGROUND_UNKNOWN;
    if (!term.wanted)
        use_theme(term.found_light);
}

int
term_key(struct str *ret_paste, int *ret_wait_ms)
{
    bool some = read_some();
    int key = keydec_next(&term.dec, clock_mono_ms(), ret_paste, ret_wait_ms);
    for (int i = 0; i < READ_ROUNDS && some && key < 0 && term.dec.pasting; i++) {
        some = read_some();
        key = keydec_next(&term.dec, clock_mono_ms(), ret_paste, ret_wait_ms);
    }
    follow_answers();
    return key;
}

void
term_mouse(int *ret_x, int *ret_y)
{
    *ret_x = term.dec.mouse_x;
    *ret_y = term.dec.mouse_y;
}

bool
term_mouse_toggle(void)
{
    term.wish.mouse = !term.wish.mouse;
    if (term.entered)
        modes_mouse(&term.wish);
    return term.wish.mouse;
}

void
term_size(int *ret_w, int *ret_h)
{
    *ret_w = term.w;
    *ret_h = term.h;
}

bool
term_resized(void)
{
    int w, h;
    ask_size(&w, &h);
    if (w == term.w && h == term.h) {
        term_redraw(); /* it was another one meanwhile, and what stood there may be gone */
        return false;
    }
    set_size();
    return true;
}

void
term_redraw(void)
{
    term.all = true;
    (void)clearok(curscr, TRUE);
}

bool
term_stale(void)
{
    return term.all;
}

void
term_ambiguous(int width)
{
    if (said("YARE_AMBIGUOUS_WIDTH") || (width != 1 && width != 2))
        return;
    term.wide_said = true;
    use_wide(width == 2);
}

void
term_hyperlinks(bool on)
{
    if (said("YARE_HYPERLINKS"))
        return;
    on = on && !term.ascii && term.wish.ansi;
    if (on != term.links)
        term_redraw();
    term.links = on;
}

void
term_theme(int light)
{
    term.wanted = light < 0 ? 0 : light ? 2 : 1;
    use_theme(light < 0 ? term.found_light : light > 0);
}

bool
term_ascii(void)
{
    return term.ascii;
}
