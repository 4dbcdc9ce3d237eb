/* The question whether the folder is trusted: when its box stands over the transcript, and the keys that answer it. Only a box that was
 * drawn a while ago takes a `y`, and where a yes switches something on it counts with an Enter behind it, once all that is listed was
 * seen: one letter and a pause are also how a slow sentence begins, and whoever cannot see what is switched on does not switch it on. */
#include "base/json.h"
#include "ui/app_private.h"

static bool
is_asked(const struct app *a)
{
    return !a->o->replay && a->view.session_id && !a->view.trusted;
}

/* Warnings at the start are no conversation: the question stays open above them. */
static bool
has_talked(const struct app *a)
{
    for (size_t i = 0; i < a->view.n_items; i++)
        if (a->view.items[i].kind != ITEM_NOTICE && a->view.items[i].kind != ITEM_ERROR)
            return true;
    return a->said;
}

bool
app_shows_trust_box(const struct app *a)
{
    bool by_itself = !a->trust_done && !a->view.n_asks && !has_talked(a);
    return is_asked(a) && (a->trust_open || by_itself) && a->focus == PANE_PROMPT &&
           a->line == LINE_PROMPT && input_empty(&a->input) && !a->log.id && !app_box_open(a);
}

bool
app_trust_hint(const struct app *a, struct buf *out)
{
    if (!is_asked(a) || a->trust_done || !json_len(json_at(a->trust.answer, "held")))
        return false;
    buf_adds(out, a->canvas.w >= 80   ? "This folder's own settings are off: /trust to look at them"
                  : a->canvas.w >= 50 ? "Folder settings are off: /trust to look"
                                      : "Settings off: /trust");
    return true;
}

bool
app_trust_open(struct app *a)
{
    if (a->o->replay || (a->view.session_id && a->view.trusted))
        return false; /* the engine says so */
    if (!a->view.session_id || !a->engine || a->engine_closed) {
        app_note(a, "the engine is not there yet: /trust again in a moment");
        return true;
    }
    app_focus(a, PANE_PROMPT);
    a->trust_open = true;
    a->trust_seen = false;
    engine_post(a->engine, trust_box_ask(&a->trust));
    return true;
}

/* The letter was the start of a word after all. */
static void
held_is_text(struct app *a)
{
    char letter = a->held;
    a->held = 0;
    input_insert(&a->input, str_make(&letter, 1));
    a->dirty = true;
}

/* Where the folder brings settings, a line above the prompt goes on telling of them (app_trust_hint). */
static void
tell_it_went(struct app *a)
{
    if (is_asked(a) && !a->trust_done && !trust_box_gives(&a->trust) && !input_empty(&a->input))
        app_note(a, a->canvas.w >= 60 ? "not trusted for now: /trust asks again"
                                      : "not trusted: /trust asks");
}

void
app_trust_drawn(struct app *a, bool shown, bool fits, int64_t now)
{
    bool seen = shown && fits && a->trust.answer;
    if (a->trust_seen && !shown && !a->held)
        tell_it_went(a);
    if (seen && !a->trust_seen)
        a->trust_seen_ms = now;
    a->trust_seen = seen;
    if (a->held && !seen)
        held_is_text(a); /* what it answered is gone */
    if (shown && !fits && a->trust_open) {
        a->trust_open = false;
        app_note(a, "too small a window to show what trust switches on");
    }
}

int64_t
app_trust_due(const struct app *a)
{
    bool by_time = a->held == 'n' || (a->held && !trust_box_gives(&a->trust));
    return by_time ? a->held_ms + TRUST_HOLD_MS : -1;
}

void
app_held_is_answer(struct app *a)
{
    if (a->held == 'y') {
        app_post(a, OP_TRUST, NULL);
        a->view.trusted = true;
        app_note(a, "the folder is trusted");
    } else {
        app_note(a, "the folder stays restricted: /trust lifts that");
    }
    a->held = 0;
    a->trust_done = true;
    a->trust_open = false;
    a->dirty = true;
}

static bool
scrolls(int key)
{
    return key == YK_UP || key == YK_DOWN || key == YK_PGUP || key == YK_PGDN;
}

/* What came behind a letter that is held. True: it is used up. */
static bool
settle(struct app *a, int key)
{
    if (key == YK_ENTER) {
        if (a->held == 'n' || !trust_box_gives(&a->trust) || trust_box_all_seen(&a->trust))
            app_held_is_answer(a);
        return true;
    }
    if (a->held == 'y' && trust_box_gives(&a->trust) && scrolls(key)) {
        (void)trust_box_key(&a->trust, key);
        return true;
    }
    if (key == YK_ESC)
        a->held = 0;
    else
        held_is_text(a);
    return key == YK_ESC;
}

bool
app_trust_key(struct app *a, int key, int64_t now)
{
    if (a->held)
        return settle(a, key);
    if (!app_shows_trust_box(a))
        return false;
    if (a->trust_seen && now - a->trust_seen_ms >= TRUST_GUARD_MS && (key == 'y' || key == 'n')) {
        a->held = (char)key;
        a->held_ms = now;
        return true;
    }
    if (key != YK_ESC)
        return trust_box_key(&a->trust, key);
    a->held = 'n'; /* closes it; /trust opens it again */
    app_held_is_answer(a);
    return true;
}
