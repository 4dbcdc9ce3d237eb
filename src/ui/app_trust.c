/* The question whether the folder is trusted: when its box stands over the transcript, and the keys that answer it. Only a box that was
 * drawn, with all that it lists, takes a `y`: whoever cannot see what is switched on does not switch it on. */
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

void
app_trust_drawn(struct app *a, bool shown, bool fits)
{
    a->trust_seen = shown && fits && a->trust.answer;
    if (shown && !fits && a->trust_open) {
        a->trust_open = false;
        app_note(a, "too small a window to show what trust switches on");
    }
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

/* What came behind a letter that is held. True: it is used up. */
static bool
settle(struct app *a, int key)
{
    if (key == YK_ENTER) {
        app_held_is_answer(a);
        return true;
    }
    char letter = a->held;
    a->held = 0;
    if (key == YK_ESC)
        return true;
    input_insert(&a->input, str_make(&letter, 1)); /* the start of a word after all */
    return false;
}

bool
app_trust_key(struct app *a, int key, int64_t now)
{
    if (a->held)
        return settle(a, key);
    if (!app_shows_trust_box(a))
        return false;
    if (a->trust_seen && (key == 'y' || key == 'n')) {
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
