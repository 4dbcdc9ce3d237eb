/* What the actions do that hold wherever the focus is. */
#include "ui/app_private.h"
#include "ui/app_transcript.h"
#include "ui/term.h"

void
app_interrupt(struct app *a)
{
    app_queue_interrupt(a);
    if (a->engine)
        engine_cancel(a->engine, CANCEL_USER);
    app_note(a, INTERRUPTING);
}

void
app_leave_asks(struct app *a)
{
    for (size_t i = 0; a->focus == PANE_APPROVAL && i < a->view.n_asks; i++)
        if (a->view.asks[i].serial > a->asks_left)
            a->asks_left = a->view.asks[i].serial;
}

void
app_focus(struct app *a, enum pane pane)
{
    a->focus = pane;
    a->focus_taken = a->edit_sent = false;
    a->line = LINE_PROMPT;
    app_activity_leave(a);
    /* Who went there by a key means the next key for it: only a request that is new itself stays guarded. */
    if (pane == PANE_APPROVAL) {
        a->approval.focused = true;
        a->approval.shown_since_ms = a->approval.taken_ms;
    }
}

static bool
set_mode(struct app *a, enum perm_mode mode, bool stepped)
{
    if (!a->engine || a->engine_closed) {
        app_note(a, "the engine is not there: the mode stays as it is");
        return false;
    }
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = mode;
    op->stepped = stepped;
    engine_post(a->engine, op);
    a->view.mode = mode; /* shown at once; the engine's word follows */
    if (stepped && a->view.n_asks)
        app_note(a, "mode: %s; what waits is yours to answer all the same", perm_mode_shown(mode));
    else if (app_covered(a))
        app_note(a, "mode: %s", perm_mode_shown(mode));
    return true;
}

static void
toggle_afk(struct app *a)
{
    if (a->view.mode == PERM_AUTO) {
        if (set_mode(a, a->afk_set ? a->mode_before : PERM_DEFAULT, false)) {
            a->afk_set = false;
            app_note(a, "AFK off");
        }
        return;
    }
    enum perm_mode before = a->view.mode;
    if (!set_mode(a, PERM_AUTO, false))
        return;
    a->mode_before = before;
    a->afk_set = true;
    app_note(a, a->view.offline ? "AFK on, but no model is there to decide: requests wait for you"
                                : "AFK on: the classifier decides for you");
}

/* Like the command typed: beside a turn, or behind it. */
static void
toggle_fast(struct app *a)
{
    if (a->o->replay)
        app_note(a, "a recording has no other speed of its model");
    else if (!a->engine || a->engine_closed)
        app_note(a, "the engine is not there: the speed stays as it is");
    else
        app_submit_text(a, STR("/fast"));
}

/* Ctrl+C: the running turn, else the text, else twice to quit. */
static void
ctrl_c(struct app *a, int64_t now)
{
    if (a->line != LINE_PROMPT) {
        a->line = LINE_PROMPT;
    } else if (app_running(a)) {
        app_interrupt(a);
    } else if (!input_empty(&a->input)) {
        input_clear(&a->input);
        history_leave(&a->history);
    } else if (a->ctrl_c_ms && now - a->ctrl_c_ms <= TWICE_MS) {
        app_quit(a, 0);
    } else {
        a->ctrl_c_ms = now;
        app_note(a, "Ctrl+C again quits");
        a->note_until_ms = now + TWICE_MS; /* no longer than it is true */
        return;
    }
    a->ctrl_c_ms = 0;
}

/* Esc, in this order: line, pane, turn, rewind. Overlay and the permission pane's own come before. */
static void
escape(struct app *a, int64_t now)
{
    if (a->line != LINE_PROMPT) {
        a->line = LINE_PROMPT;
    } else if (a->focus != PANE_PROMPT) {
        if (a->focus == PANE_TRANSCRIPT)
            transcript_search_end(a->transcript);
        app_leave_asks(a);
        app_focus(a, PANE_PROMPT);
        a->last_key_ms = now;
    } else if (app_tour_skip(a)) {
        a->esc_ms = 0;
    } else if (app_running(a)) {
        app_interrupt(a);
    } else if (input_empty(&a->input)) {
        if (a->esc_ms && now - a->esc_ms <= TWICE_MS) {
            app_note(a, "rewind is not available yet");
            a->esc_ms = 0;
            return;
        }
        a->esc_ms = now;
        return;
    }
    a->esc_ms = 0;
}

void
app_line_open(struct app *a, enum line_mode mode)
{
    app_focus(a, PANE_PROMPT);
    a->line = mode;
    field_clear(&a->field);
    a->history_at = (size_t)-1;
}

static void
go_to_pane(struct app *a, enum pane pane)
{
    if (pane == PANE_APPROVAL && !a->view.n_asks)
        app_note(a, "nothing waits for an answer");
    else
        app_focus(a, pane);
}

/* What another part of the screen is for: a pane, a page, a picker, a line that asks. */
static bool
show_action(struct app *a, enum key_action act)
{
    switch (act) {
    case ACT_FULL:
        a->view.full = !a->view.full;
        return true;
    case ACT_TODOS:
        a->view.show_todos = !a->view.show_todos;
        return true;
    case ACT_METERS:
        app_open_page(a, &page_meters);
        return true;
    case ACT_MODEL:
        app_open_picker(a, &picker_models);
        return true;
    case ACT_HELP:
        app_open_page(a, &page_help);
        return true;
    case ACT_PANE1:
        app_leave_asks(a);
        app_focus(a, PANE_PROMPT);
        return true;
    case ACT_PANE2:
        app_leave_asks(a);
        app_focus(a, PANE_TRANSCRIPT);
        return true;
    case ACT_PANE3:
        go_to_pane(a, PANE_APPROVAL);
        return true;
    case ACT_PANE4:
        app_leave_asks(a);
        app_focus(a, PANE_ACTIVITY);
        return true;
    case ACT_HISTORY:
        app_line_open(a, LINE_HISTORY);
        return true;
    case ACT_SEARCH:
        app_line_open(a, LINE_SEARCH);
        return true;
    default:
        return false;
    }
}

bool
app_action_steady(enum key_action act)
{
    return act == ACT_MODE || act == ACT_AFK || act == ACT_REDRAW || act == ACT_MOUSE ||
           act == ACT_SUSPEND;
}

bool
app_action(struct app *a, enum key_action act, int64_t now)
{
    switch (act) {
    case ACT_INTERRUPT:
        ctrl_c(a, now);
        return true;
    case ACT_ESCAPE:
        escape(a, now);
        return true;
    case ACT_EOF:
        if (!input_empty(&a->input) && !app_tour_wrote_it(a))
            return false;
        app_quit(a, 0);
        return true;
    case ACT_MODE:
        (void)set_mode(a, perm_mode_next(a->view.mode, a->view.bypass_allowed), true);
        return true;
    case ACT_AFK:
        toggle_afk(a);
        return true;
    case ACT_FAST:
        toggle_fast(a);
        return true;
    case ACT_OFFER_YES:
    case ACT_OFFER_NO:
        return app_offer_answer(a, act == ACT_OFFER_YES);
    case ACT_BACKGROUND:
        app_background(a);
        return true;
    case ACT_REDRAW:
        term_redraw();
        return true;
    case ACT_MOUSE:
        app_note(a, term_mouse_toggle() ? "mouse on" : "mouse off: the terminal selects");
        return true;
    case ACT_SUSPEND:
        term_suspend();
        return true;
    case ACT_EDITOR:
        app_edit_prompt(a);
        return true;
    case ACT_SCROLL_UP:
    case ACT_SCROLL_DOWN:
        transcript_page(a->transcript, &a->view, act == ACT_SCROLL_UP ? -1 : 1);
        return true;
    default:
        return show_action(a, act);
    }
}
