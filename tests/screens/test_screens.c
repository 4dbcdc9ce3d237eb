/*
 * Whole screens. tests/screens/NAME.jsonl is a recording (docs/replay.md), read by the reader that `yare replay` uses and given to
 * the real program's screen on a canvas, with steps between the events:
 *   {"key":"alt+m"}       a key, written as in keybindings.json; a letter alone goes to where the focus is
 *   {"type":"text"}       these letters, one after the other
 *   {"paste":"text"}
 *   {"prompt":"text"}     what stands in the prompt
 *   {"focus":"approval"}  prompt transcript approval activity
 *   {"do":"page_up"}      page_up page_down home end prev_prompt next_prompt toggle up down (transcript), todos, full, ascii,
 *                         tour (the guide, before the session) and replay (a recording is played)
 *   {"advance_ms":1000}   the clock goes on
 *   {"resize":[80,24]}    the screen is drawn at another size from here on
 * NAME.WxH.txt is what is to be seen in the end. YARE_SCREENS_UPDATE=1 writes these files anew; scripts/golden makes both of a recording.
 * With a path as argument the program runs on that one recording alone, and with a size behind it prints its screen.
 */
#include "unit/unit.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/recording.h"
#include "ui/app_private.h"

static const int sizes[][2] = {{40, 12}, {80, 24}, {120, 36}, {200, 60}};

/* ---- an engine that is there and says nothing: its events are the recording's ---- */

struct engine {
    int unused;
};

void
engine_post(struct engine *e, struct op *take_op)
{
    (void)e;
    op_free(take_op);
}

void
engine_cancel(struct engine *e, enum cancel_reason reason)
{
    (void)e, (void)reason;
}

struct event *
engine_next_event(struct engine *e, int timeout_ms)
{
    (void)e, (void)timeout_ms;
    return NULL;
}

int
engine_event_fd(struct engine *e)
{
    (void)e;
    return -1;
}

void
engine_stop(struct engine *e)
{
    (void)e;
}

void
engine_free(struct engine *e)
{
    (void)e;
}

/* ---- the screen ---- */

struct screen {
    struct app app;
    struct engine engine;
    struct app_options options;
    struct clock_fake clock;
    int lines;
};

static void
screen_init(struct screen *s, int w, int h)
{
    *s = (struct screen){.clock = {.mono_us = 1000000000, .wall_ms = 1000}};
    clock_set_fake(&s->clock);
    assert_true(keys_load(STR("{}"), NULL));
    app_init(&s->app, &s->options, w, h);
    s->app.engine = &s->engine;
}

static void
screen_release(struct screen *s)
{
    app_release(&s->app);
    clock_set_fake(NULL);
}

static void
draw(struct screen *s)
{
    int64_t now = clock_mono_ms();
    app_tick(&s->app, now);
    app_draw(&s->app, now);
}

/* ---- steps ---- */

static void
press(struct screen *s, const char *name)
{
    int keys[2];
    if (!keys_parse(name, keys))
        fail_msg("unknown key '%s'", name);
    for (int i = 0; i < 2 && keys[i]; i++)
        app_key(&s->app, keys[i], STR(""), clock_mono_ms());
}

static void
type(struct screen *s, struct str text)
{
    int32_t cp;
    for (size_t at = 0; at < text.len;) {
        at += text_decode(text, at, &cp);
        app_key(&s->app, cp, STR(""), clock_mono_ms());
    }
}

static void
transcript_step(struct app *a, const char *what)
{
    struct transcript *t = a->transcript;
    if (strcmp(what, "page_up") == 0)
        transcript_page(t, &a->view, -1);
    else if (strcmp(what, "page_down") == 0)
        transcript_page(t, &a->view, 1);
    else if (strcmp(what, "home") == 0)
        transcript_home(t, &a->view);
    else if (strcmp(what, "end") == 0)
        transcript_end(t);
    else if (strcmp(what, "prev_prompt") == 0)
        transcript_prompt_jump(t, &a->view, -1);
    else if (strcmp(what, "next_prompt") == 0)
        transcript_prompt_jump(t, &a->view, 1);
    else if (strcmp(what, "toggle") == 0)
        transcript_toggle(t, &a->view);
    else if (strcmp(what, "up") == 0)
        transcript_move(t, &a->view, -1);
    else if (strcmp(what, "down") == 0)
        transcript_move(t, &a->view, 1);
    else
        fail_msg("unknown step '%s'", what);
}

static void
do_step(struct screen *s, const char *what)
{
    struct app *a = &s->app;
    if (strcmp(what, "tour") == 0)
        s->options.tour = true;
    else if (strcmp(what, "replay") == 0)
        s->options.replay = true;
    else if (strcmp(what, "todos") == 0)
        a->view.show_todos = !a->view.show_todos;
    else if (strcmp(what, "full") == 0)
        a->view.full = !a->view.full;
    else if (strcmp(what, "ascii") == 0)
        a->ascii = true;
    else
        transcript_step(a, what);
}

static enum pane
pane_named(const char *name)
{
    return strcmp(name, "transcript") == 0 ? PANE_TRANSCRIPT
           : strcmp(name, "approval") == 0 ? PANE_APPROVAL
           : strcmp(name, "activity") == 0 ? PANE_ACTIVITY
                                           : PANE_PROMPT;
}

static void
step(struct screen *s, const struct cJSON *o)
{
    struct app *a = &s->app;
    if (json_at(o, "advance_ms"))
        s->clock.mono_us += json_int(o, "advance_ms", 0) * 1000;
    if (json_at(o, "key"))
        press(s, json_cstr(o, "key", ""));
    if (json_at(o, "type"))
        type(s, json_str(o, "type"));
    if (json_at(o, "paste"))
        app_key(a, YK_PASTE, json_str(o, "paste"), clock_mono_ms());
    if (json_at(o, "do"))
        do_step(s, json_cstr(o, "do", ""));
    if (json_at(o, "focus"))
        a->focus = pane_named(json_cstr(o, "focus", ""));
    if (json_at(o, "resize"))
        canvas_resize(&a->canvas, (int)json_int(o, "resize.0", 80),
                      (int)json_int(o, "resize.1", 24));
    if (json_at(o, "prompt"))
        input_set(&a->input, json_str(o, "prompt"));
    draw(s);
}

static void
apply(struct screen *s, const struct recording_line *l, const char *path)
{
    struct err err;
    struct cJSON *o;
    s->lines++;
    switch (l->kind) {
    case RECORDING_EVENT:
        app_take(&s->app, l->event);
        /* draw now and then, as the real one does: nothing may depend on when */
        if (s->lines % 3 == 0)
            draw(s);
        break;
    case RECORDING_STEP:
        o = json_parse(l->text, &err);
        step(s, o);
        json_free(o);
        break;
    case RECORDING_PART:
        break;
    case RECORDING_BAD:
        fail_msg("%s:%d: %s", path, l->number, l->err.text);
    }
}

static void
play(struct screen *s, const char *path)
{
    struct recording_reader in;
    struct recording_line l;
    struct err err;
    if (!recording_read_open(&in, path, &err))
        fail_msg("%s", err.text);
    while (recording_read(&in, &l))
        apply(s, &l, path);
    recording_read_close(&in);
    draw(s);
}

/* ---- what is to be seen ---- */

static void
read_whole(const char *path, struct buf *out)
{
    struct err err;
    if (!fs_read(path, BUF_MAX, out, &err))
        fail_msg("%s (YARE_SCREENS_UPDATE=1 makes it)", err.text);
}

/* Row by row: - is what the file says, + what is drawn. */
static void
print_difference(const char *path, struct str want, struct str have)
{
    struct str w, h;
    print_error("%s is not what is drawn:\n", path);
    for (int row = 1; want.ptr || have.ptr; row++) {
        w = h = (struct str){0};
        if (want.ptr)
            str_split(&want, '\n', &w);
        if (have.ptr)
            str_split(&have, '\n', &h);
        if (str_eq(w, h))
            continue;
        print_error("%3d - %.*s\n    + %.*s\n", row, (int)w.len, w.ptr ? w.ptr : "", (int)h.len,
                    h.ptr ? h.ptr : "");
    }
    print_error("YARE_SCREENS_UPDATE=1 takes what is drawn; look at it before you commit it\n");
}

static void
write_whole(const char *path, struct str have)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(have.ptr, 1, have.len, f), have.len);
    assert_int_equal(fclose(f), 0);
}

static bool
compare(const char *path, struct str have)
{
    struct buf want;
    if (getenv("YARE_SCREENS_UPDATE")) {
        write_whole(path, have);
        return true;
    }
    buf_init(&want, BUF_MAX);
    read_whole(path, &want);
    bool same = str_eq(buf_str(&want), have);
    if (!same)
        print_difference(path, buf_str(&want), have);
    buf_release(&want);
    return same;
}

/* The cursor as _ where it stands on nothing. */
static void
show_cursor(struct canvas *c)
{
    if (c->cursor_x < 0 || c->cursor_y < 0)
        return;
    struct rect r = {c->cursor_x, c->cursor_y, 1, 1};
    struct buf row;
    buf_init(&row, 65536);
    canvas_dump(c, &row);
    struct str rest = buf_str(&row), line = {0};
    for (int y = 0; y <= c->cursor_y; y++)
        str_split(&rest, '\n', &line);
    size_t at = text_fit(line, c->cursor_x, NULL);
    if (at >= line.len || line.ptr[at] == ' ')
        canvas_text(c, r, 0, 0, ST_TEXT, STR("_"));
    buf_release(&row);
}

static void
see(const char *recording, int w, int h, struct buf *out)
{
    struct screen s;
    screen_init(&s, w, h);
    play(&s, recording);
    show_cursor(&s.app.canvas);
    canvas_dump(&s.app.canvas, out);
    buf_addc(out, '\n');
    screen_release(&s);
}

/* PATH.jsonl against PATH.WxH.txt at each size. */
static int
check_recording(const char *path)
{
    int different = 0;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct buf dump;
        char golden[512];
        buf_init(&dump, BUF_MAX);
        see(path, sizes[i][0], sizes[i][1], &dump);
        snprintf(golden, sizeof golden, "%.*s.%dx%d.txt", (int)strlen(path) - 6, path, sizes[i][0],
                 sizes[i][1]);
        different += !compare(golden, buf_str(&dump));
        buf_release(&dump);
    }
    return different;
}

/* ---- the tests ---- */

static bool
next_recording(DIR *d, char path[512])
{
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (!str_ends(str_from(e->d_name), ".jsonl"))
            continue;
        snprintf(path, 512, "%s/screens/%s", TEST_DIR, e->d_name);
        return true;
    }
    return false;
}

static void
all_screens_are_as_recorded(void **state)
{
    (void)state;
    DIR *d = opendir(TEST_DIR "/screens");
    char path[512];
    int n = 0, different = 0;
    assert_non_null(d);
    while (next_recording(d, path)) {
        different += check_recording(path);
        n++;
    }
    closedir(d);
    assert_true(n >= 5);
    assert_int_equal(different, 0);
}

/* All lines of all recordings in any order, drawn at any size: nothing crashes, nothing is drawn outside. */
static void
any_order_at_any_size(void **state)
{
    (void)state;
    static struct recording_line lines[8192];
    char path[512];
    size_t n = 0;
    unsigned seed = 5;
    struct screen s;
    DIR *d = opendir(TEST_DIR "/screens");
    assert_non_null(d);
    while (n < ARRAY_LEN(lines) && next_recording(d, path)) {
        struct recording_reader in;
        assert_true(recording_read_open(&in, path, NULL));
        while (n < ARRAY_LEN(lines) && recording_read(&in, &lines[n])) {
            event_free(lines[n].event);
            lines[n].text = str_from(str_dup(lines[n].text));
            n++;
        }
        recording_read_close(&in);
    }
    closedir(d);
    screen_init(&s, 80, 24);
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1103515245u + 12345u;
        struct recording_line l = lines[(seed >> 8) % n];
        l.event = l.kind == RECORDING_EVENT ? event_read(l.text, NULL) : NULL;
        apply(&s, &l, "noise");
        if (i % 4 == 0)
            canvas_resize(&s.app.canvas, (int)(seed >> 10) % (i % 8 ? 12 : 130) + 1,
                          (int)(seed >> 20) % (i % 8 ? 6 : 40) + 1);
        draw(&s);
    }
    screen_release(&s);
    while (n)
        free((char *)(uintptr_t)lines[--n].text.ptr);
}

int
main(int argc, char **argv)
{
    int w, h;
    if (argc > 2 && sscanf(argv[2], "%dx%d", &w, &h) == 2) {
        struct buf dump;
        buf_init(&dump, BUF_MAX);
        see(argv[1], w, h, &dump);
        fputs(buf_cstr(&dump), stdout);
        buf_release(&dump);
        return 0;
    }
    if (argc > 1)
        return check_recording(argv[1]) != 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_screens_are_as_recorded),
        cmocka_unit_test(any_order_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
