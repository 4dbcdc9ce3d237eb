/*
 * Whole screens: tests/screens/NAME.jsonl is a list of events as event_write writes them, and of steps
 *   {"advance_ms":1000}   the clock goes on
 *   {"key":"w"}           to the permission pane: a letter, or Enter Esc Up Down PgUp PgDn
 *   {"do":"page_up"}      page_up page_down home end prev_prompt next_prompt toggle up down (transcript), todos, full, ascii
 *   {"focus":"approval"}  prompt transcript approval activity
 *   {"prompt":"text"}     what stands in the prompt
 *   {"size":[80,24]}      the screen is drawn at another size from here on
 * and NAME.WxH.txt what is to be seen in the end. YARE_SCREENS_UPDATE=1 writes the files anew.
 */
#include "unit/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "ui/keys.h"
#include "ui/view.h"

static const int sizes[][2] = {{40, 12}, {80, 24}, {120, 36}, {200, 60}};

struct screen {
    struct view view;
    struct transcript *transcript;
    struct approval approval;
    struct canvas canvas;
    struct layout layout;
    enum pane focus;
    bool ascii;
    char *prompt;
    struct clock_fake clock;
};

static void
draw(struct screen *s)
{
    int64_t now = clock_mono_ms();
    struct panes p = {&s->view, s->transcript, &s->approval, s->focus, 0, s->ascii, now};
    approval_sync(&s->approval, &s->view, now);
    layout_make(&s->view, s->canvas.w, s->canvas.h, 1, &s->layout);
    canvas_clear(&s->canvas);
    if (s->layout.prompt.h) {
        int x = canvas_text(&s->canvas, s->layout.prompt, 0, 0, ST_PROMPT, STR("> "));
        canvas_text(&s->canvas, s->layout.prompt, x, 0, ST_TEXT, str_from(s->prompt ? s->prompt : "_"));
    }
    panes_draw(&p, &s->layout, &s->canvas);
}

static int
key_named(const char *name)
{
    static const struct {
        const char *name;
        int key;
    } keys[] = {{"Enter", YK_ENTER}, {"Esc", YK_ESC}, {"Up", YK_UP}, {"Down", YK_DOWN}, {"PgUp", YK_PGUP}, {"PgDn", YK_PGDN}};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(name, keys[i].name) == 0)
            return keys[i].key;
    return name[0];
}

static void
transcript_step(struct screen *s, const char *what)
{
    struct transcript *t = s->transcript;
    if (strcmp(what, "page_up") == 0)
        transcript_page(t, &s->view, -1);
    else if (strcmp(what, "page_down") == 0)
        transcript_page(t, &s->view, 1);
    else if (strcmp(what, "home") == 0)
        transcript_home(t, &s->view);
    else if (strcmp(what, "end") == 0)
        transcript_end(t);
    else if (strcmp(what, "prev_prompt") == 0)
        transcript_prompt_jump(t, &s->view, -1);
    else if (strcmp(what, "next_prompt") == 0)
        transcript_prompt_jump(t, &s->view, 1);
    else if (strcmp(what, "toggle") == 0)
        transcript_toggle(t, &s->view);
    else if (strcmp(what, "up") == 0)
        transcript_move(t, &s->view, -1);
    else if (strcmp(what, "down") == 0)
        transcript_move(t, &s->view, 1);
    else
        fail_msg("unknown step '%s'", what);
}

static void
do_step(struct screen *s, const char *what)
{
    if (strcmp(what, "todos") == 0)
        s->view.show_todos = !s->view.show_todos;
    else if (strcmp(what, "full") == 0)
        s->view.full = !s->view.full;
    else if (strcmp(what, "ascii") == 0)
        s->ascii = true;
    else
        transcript_step(s, what);
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
    bool used;
    if (json_at(o, "advance_ms"))
        s->clock.mono_us += json_int(o, "advance_ms", 0) * 1000;
    if (json_at(o, "key"))
        op_free(approval_key(&s->approval, &s->view, key_named(json_cstr(o, "key", "")), STR(""), clock_mono_ms(), &used));
    if (json_at(o, "do"))
        do_step(s, json_cstr(o, "do", ""));
    if (json_at(o, "focus"))
        s->focus = pane_named(json_cstr(o, "focus", ""));
    if (json_at(o, "size"))
        canvas_resize(&s->canvas, (int)json_int(o, "size.0", 80), (int)json_int(o, "size.1", 24));
    if (json_at(o, "prompt")) {
        free(s->prompt);
        s->prompt = xstrdup(json_cstr(o, "prompt", ""));
    }
    draw(s);
}

static void
apply_line(struct screen *s, struct str line, const char *path, int number)
{
    struct err err;
    struct cJSON *o = json_parse(line, &err);
    if (!o)
        fail_msg("%s:%d: %s", path, number, err.text);
    if (json_at(o, "event")) {
        struct event *e = event_read(line, &err);
        if (!e)
            fail_msg("%s:%d: %s", path, number, err.text);
        view_apply(&s->view, e);
        /* draw now and then, as the real one does: nothing may depend on when */
        if (number % 3 == 0)
            draw(s);
    } else {
        step(s, o);
    }
    json_free(o);
}

static void
read_whole(const char *path, struct buf *out)
{
    struct err err;
    if (!fs_read(path, BUF_MAX, out, &err))
        fail_msg("%s", err.text);
}

static void
compare(const char *path, struct str have)
{
    struct buf want;
    buf_init(&want, BUF_MAX);
    if (getenv("YARE_SCREENS_UPDATE")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(have.ptr, 1, have.len, f), have.len);
        assert_int_equal(fclose(f), 0);
        return;
    }
    read_whole(path, &want);
    if (!str_eq(buf_str(&want), have)) {
        print_error("%s is not what is drawn:\n%.*s", path, (int)have.len, have.ptr);
        fail();
    }
    buf_release(&want);
}

static void
screen_init(struct screen *s, int w, int h)
{
    *s = (struct screen){.clock = {.mono_us = 1000000000, .wall_ms = 1000}};
    clock_set_fake(&s->clock);
    view_init(&s->view);
    approval_init(&s->approval);
    s->transcript = transcript_new();
    canvas_init(&s->canvas, w, h);
}

static void
screen_release(struct screen *s)
{
    canvas_release(&s->canvas);
    transcript_free(s->transcript);
    approval_release(&s->approval);
    view_release(&s->view);
    free(s->prompt);
    clock_set_fake(NULL);
}

static void
run_screen(const char *name, int w, int h)
{
    struct screen s;
    struct buf text, dump;
    struct str rest, line;
    char path[512];
    int number = 0;

    screen_init(&s, w, h);
    buf_init(&text, BUF_MAX);
    buf_init(&dump, BUF_MAX);
    snprintf(path, sizeof path, "%s/screens/%s.jsonl", TEST_DIR, name);
    read_whole(path, &text);
    rest = buf_str(&text);
    while (str_split(&rest, '\n', &line)) {
        number++;
        if (line.len)
            apply_line(&s, line, path, number);
    }
    draw(&s);
    canvas_dump(&s.canvas, &dump);
    buf_addc(&dump, '\n');
    snprintf(path, sizeof path, "%s/screens/%s.%dx%d.txt", TEST_DIR, name, w, h);
    compare(path, buf_str(&dump));
    buf_release(&dump);
    buf_release(&text);
    screen_release(&s);
}

/* All lines of all lists in any order, drawn at any size: nothing crashes, nothing is drawn outside. */
static void
any_order_at_any_size(void **state)
{
    (void)state;
    char *lines[4096];
    size_t n = 0;
    unsigned seed = 5;
    struct screen s;
    DIR *d = opendir(TEST_DIR "/screens");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[512];
        struct buf text;
        struct str rest, line;
        if (!str_ends(str_from(e->d_name), ".jsonl"))
            continue;
        snprintf(path, sizeof path, "%s/screens/%s", TEST_DIR, e->d_name);
        buf_init(&text, BUF_MAX);
        read_whole(path, &text);
        rest = buf_str(&text);
        while (n < ARRAY_LEN(lines) && str_split(&rest, '\n', &line))
            if (line.len)
                lines[n++] = str_dup(line);
        buf_release(&text);
    }
    closedir(d);
    screen_init(&s, 80, 24);
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1103515245u + 12345u;
        apply_line(&s, str_from(lines[(seed >> 8) % n]), "noise", i);
        if (i % 4 == 0)
            canvas_resize(&s.canvas, (int)(seed >> 10) % (i % 8 ? 12 : 130) + 1, (int)(seed >> 20) % (i % 8 ? 6 : 40) + 1);
        draw(&s);
    }
    screen_release(&s);
    while (n)
        free(lines[--n]);
}

static void
all_screens_are_as_recorded(void **state)
{
    (void)state;
    DIR *d = opendir(TEST_DIR "/screens");
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct str name = str_from(e->d_name);
        if (!str_ends(name, ".jsonl"))
            continue;
        char *base = str_dup(str_sub(name, 0, name.len - 6));
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
            run_screen(base, sizes[i][0], sizes[i][1]);
        free(base);
        n++;
    }
    closedir(d);
    assert_true(n >= 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_screens_are_as_recorded),
        cmocka_unit_test(any_order_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
