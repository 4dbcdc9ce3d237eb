/* One frame: the panes, the prompt between them, and what the program itself has to say. */
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/app_private.h"
#include "ui/lines.h"
#include "ui/term.h"

/* A line on the rule above the prompt, at its right end; without a rule in the prompt itself while that is empty. */
static void
draw_word(struct app *a, const struct layout *l, enum style st, struct str s)
{
    struct canvas *c = &a->canvas;
    bool rule = l->prompt.y > 0 && l->h >= 8;
    int room = rule ? l->prompt.w - 2 : l->prompt.w - INPUT_PREFIX - 1;
    struct buf cut;
    int width;
    if (room < 4 || (!rule && !input_empty(&a->input)))
        return;
    buf_init(&cut, 4096);
    fold_end(&cut, s, room, a->ascii);
    s = buf_str(&cut);
    width = text_width(s);
    struct rect r = rule ? (struct rect){l->prompt.x, l->prompt.y - 1, l->prompt.w, 1} : l->prompt;
    int x = rule ? r.w - width - 2 : INPUT_PREFIX + 1;
    if (rule) {
        /* what stands there already is cut in sight */
        const struct cell *left = x > 1 ? &c->cells[r.y * c->w + r.x + x - 1] : NULL;
        bool over = left && left->text[0] && strcmp(left->text, "…") != 0 &&
                    left->style != ST_BORDER && left->style != ST_BORDER_FOCUS;
        canvas_text(c, r, x, 0, over ? ST_DIM : st,
                    over ? a->ascii ? STR(">") : STR("…") : STR(" "));
        canvas_text(c, r, x + 1 + width, 0, st, STR(" "));
        x++;
    }
    canvas_text(c, r, x, 0, st, s);
    buf_release(&cut);
}

/* Where the trust box stands: over the transcript, or, when it was asked for while a request fills a small window, over that one. */
static struct rect
trust_room(const struct app *a, const struct layout *l)
{
    return a->trust_open && !trust_box_fits(l->transcript) ? l->approval : l->transcript;
}

static void
draw_words(struct app *a, const struct layout *l, int64_t now)
{
    struct buf b;
    buf_init(&b, 4096);
    enum style st = ST_WARN;
    if (app_shows_trust_box(a) && trust_box_fits(trust_room(a, l))) {
        buf_clear(&b); /* the box has the keys */
    } else if (app_tour_words(a, &b)) {
    } else if (a->note_until_ms > now) {
        buf_adds(&b, a->note);
    } else if (a->focus != PANE_APPROVAL && a->view.n_asks && !input_empty(&a->input)) {
        buf_addf(&b, "%zu waiting: %s", a->view.n_asks, keys_shown(keys_of(ACT_PANE3)));
    } else if (a->n_offers && !a->n_queued) {
        buf_addf(&b, "%s yes, ", keys_shown(keys_of(ACT_OFFER_YES)));
        buf_addf(&b, "%s no: ", keys_shown(keys_of(ACT_OFFER_NO)));
        text_visible(&b, str_from(a->offers[0].text));
        st = ST_PROMPT;
    } else if (app_queue_words(a, &b)) {
        st = ST_DIM;
    } else if (a->line == LINE_PROMPT && input_is_shell(&a->input)) {
        buf_adds(&b, a->canvas.w >= 60 ? "shell: runs as you, its output joins the conversation"
                                       : "shell command");
    } else if (a->chord) {
        buf_adds(&b, "Ctrl+X ...");
        st = ST_DIM;
    } else {
        (void)app_trust_hint(a, &b);
    }
    if (b.len)
        draw_word(a, l, st, buf_str(&b));
    buf_release(&b);
}

/* "search: " or "history: " in place of the prompt. */
static void
draw_line(struct app *a, struct rect r)
{
    struct canvas *c = &a->canvas;
    struct str label = a->line == LINE_SEARCH ? STR("search: ") : STR("history: ");
    int x = canvas_text(c, r, 0, 0, ST_PROMPT, label);
    int w = a->line == LINE_SEARCH ? r.w - x : (r.w - x) / 3;
    (void)field_draw(&a->field, c, (struct rect){r.x + x, r.y, w > 1 ? w : 1, 1}, ST_TEXT,
                     a->ascii);
    if (a->line != LINE_HISTORY)
        return;
    size_t at = a->history_at;
    const char *hit = at < a->history.n ? a->history.texts[at] : NULL;
    struct rect rest = {r.x + x + w + 1, r.y, r.w - x - w - 1, 1};
    canvas_text(c, rest, 0, 0, hit ? ST_TEXT : ST_DIM,
                hit                 ? str_from(hit)
                : a->field.text.len ? STR("(none)")
                                    : STR("type a part of it"));
}

static void
draw_prompt(struct app *a, const struct layout *l)
{
    if (a->line != LINE_PROMPT) {
        draw_line(a, l->prompt);
        return;
    }
    if (a->o->replay)
        app_replay_draw(a, l->prompt);
    else
        input_draw(&a->input, &a->canvas, l->prompt);
    if (a->focus != PANE_PROMPT)
        canvas_cursor(&a->canvas, -1, -1);
}

/* What a newcomer needs before there is anything else to show. */
static void
draw_welcome(struct app *a, const struct layout *l)
{
    struct canvas *c = &a->canvas;
    struct rect r = l->transcript;
    if (a->view.n_items || !a->view.session_id || r.h < 6)
        return;
    canvas_textf(c, r, 1, 1, ST_BOLD, "yare " YARE_VERSION);
    if (a->view.cwd)
        canvas_textf(c, r, 1, 2, ST_DIM, "in %s", a->view.cwd);
    if (a->view.offline) {
        canvas_text(c, r, 1, 4, ST_TEXT,
                    r.w > 50 ? STR("No model is connected: the offline pilot answers.")
                             : STR("No model: the offline pilot answers."));
        canvas_text(c, r, 1, 5, ST_TEXT, STR("Type help, or tour to be shown around."));
    } else {
        canvas_text(c, r, 1, 4, ST_TEXT,
                    r.w > 51 ? STR("Type a request and press Enter. F1 shows the keys.")
                             : STR("Type a request. F1 shows the keys."));
    }
}

/* What a key did behind a page or picker, on its last row. */
static void
draw_box_note(struct app *a)
{
    struct canvas *c = &a->canvas;
    struct rect row = {2, c->h - 1, c->w - 4, 1};
    if (c->h < 4)
        return;
    canvas_fill(c, row, ST_TEXT, NULL); /* the keys that stand there come back */
    canvas_text(c, row, 0, 0, ST_WARN, str_from(a->note));
}

void
app_draw(struct app *a, int64_t now)
{
    struct layout l;
    int w = a->canvas.w, h = a->canvas.h;
    canvas_clear(&a->canvas);
    a->view.ask_rows = 0;
    layout_make(&a->view, w, h, 1, &l);
    if (a->view.n_asks)
        a->view.ask_rows = approval_rows(&a->approval, &a->view, l.approval.w, a->ascii);
    layout_make(&a->view, w, h, input_rows(&a->input, l.prompt.w), &l);
    draw_prompt(a, &l);
    app_activity_follow(a);
    struct panes p = {.view = &a->view,
                      .transcript = a->transcript,
                      .approval = &a->approval,
                      .focus = a->focus,
                      .selected = a->selected,
                      .ascii = a->ascii,
                      .now_ms = now};
    panes_draw(&p, &l, &a->canvas);
    bool full = a->focus == PANE_APPROVAL && approval_full(&a->approval) && a->view.n_asks;
    if (!full)
        draw_welcome(a, &l);
    bool trust = app_shows_trust_box(a);
    struct rect room = trust_room(a, &l);
    app_trust_drawn(a, trust, trust_box_fits(room), now);
    if (trust)
        trust_box_draw(&a->trust, &a->canvas, room, a->view.cwd, a->held == 'y', a->ascii);
    if (!full)
        draw_words(a, &l, now);
    if (a->focus == PANE_PROMPT && a->line == LINE_PROMPT)
        complete_draw(&a->complete, &a->canvas, l.prompt, l.prompt.y - (l.prompt.y > 1), a->ascii);
    if (a->log.id) {
        bool asks = a->view.n_asks > 0;
        log_view_draw(&a->log, &a->canvas, a->ascii,
                      asks                     ? STR("a request waits: q closes this")
                      : a->note_until_ms > now ? str_from(a->note)
                                               : STR(""));
    }
    if (a->page.type)
        page_draw(&a->page, &a->view, &a->canvas, a->ascii);
    if (a->picker.type)
        picker_draw(&a->picker, &a->canvas, a->ascii, clock_wall_ms());
    if (app_box_open(a) && a->note_until_ms > now)
        draw_box_note(a);
}

void
app_paint(struct app *a)
{
    int w, h;
    int64_t now = clock_mono_ms();
    term_size(&w, &h);
    if (w != a->canvas.w || h != a->canvas.h)
        canvas_resize(&a->canvas, w, h);
    app_draw(a, now);
    term_draw(&a->canvas);
    a->paint_ms = now;
    a->dirty = a->urgent = false;
}
