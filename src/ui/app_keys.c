/* What a key does, by where the focus is. */
#include "base/clock.h"
#include "ui/app_private.h"
#include "ui/app_transcript.h"
#include "ui/term.h"

#define WHEEL_ROWS 3

static bool
is_text(int key)
{
    return key >= ' ' && key < KEY_NAMED;
}

void
app_interrupt(struct app *a)
{
    if (a->engine)
        engine_cancel(a->engine, CANCEL_USER);
    app_note(a, INTERRUPTING);
}

static void
set_focus(struct app *a, enum pane pane)
{
    a->focus = pane;
    a->line = LINE_PROMPT;
    app_activity_leave(a);
    /* Who went there by a key means the next key for it: only a request that is new itself stays guarded. */
    if (pane == PANE_APPROVAL) {
        a->approval.focused = true;
        a->approval.shown_since_ms = a->approval.taken_ms;
    }
}

static void
set_mode(struct app *a, enum perm_mode mode)
{
    if (!a->engine || a->engine_closed)
        return;
    struct op *op = op_new(OP_SET_MODE, NULL);
    op->mode = mode;
    engine_post(a->engine, op);
    a->view.mode = mode; /* shown at once; the engine's word follows */
}

static void
toggle_afk(struct app *a)
{
    if (a->view.mode == PERM_AUTO) {
        set_mode(a, a->afk_set ? a->mode_before : PERM_DEFAULT);
        a->afk_set = false;
        app_note(a, "AFK off");
        return;
    }
    a->mode_before = a->view.mode;
    a->afk_set = true;
    set_mode(a, PERM_AUTO);
    app_note(a, "AFK on: a classifier decides what would be asked");
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
        set_focus(a, PANE_PROMPT);
        a->last_key_ms = now;
    } else if (app_tour_skip(a)) {
        a->esc_ms = 0;
    } else if (app_running(a)) {
        app_interrupt(a);
    } else if (input_empty(&a->input)) {
        if (a->esc_ms && now - a->esc_ms <= TWICE_MS) {
            app_post(a, OP_COMMAND, "/rewind");
            a->esc_ms = 0;
            return;
        }
        a->esc_ms = now;
        return;
    }
    a->esc_ms = 0;
}

static void
start_line(struct app *a, enum line_mode mode)
{
    set_focus(a, PANE_PROMPT);
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
        set_focus(a, pane);
}

static bool
global_action(struct app *a, enum key_action act, int64_t now)
{
    switch (act) {
    case ACT_INTERRUPT:
        ctrl_c(a, now);
        return true;
    case ACT_ESCAPE:
        escape(a, now);
        return true;
    case ACT_EOF:
        if (!input_empty(&a->input))
            return false;
        app_quit(a, 0);
        return true;
    case ACT_MODE:
        set_mode(a, perm_mode_next(a->view.mode, a->view.bypass_allowed));
        return true;
    case ACT_AFK:
        toggle_afk(a);
        return true;
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
    case ACT_OFFER_YES:
    case ACT_OFFER_NO:
        return app_offer_answer(a, act == ACT_OFFER_YES);
    case ACT_PANE1:
        set_focus(a, PANE_PROMPT);
        return true;
    case ACT_PANE2:
        set_focus(a, PANE_TRANSCRIPT);
        return true;
    case ACT_PANE3:
        go_to_pane(a, PANE_APPROVAL);
        return true;
    case ACT_PANE4:
        set_focus(a, PANE_ACTIVITY);
        return true;
    case ACT_HISTORY:
        start_line(a, LINE_HISTORY);
        return true;
    case ACT_SEARCH:
        start_line(a, LINE_SEARCH);
        return true;
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
    case ACT_HELP:
        app_open_page(a, &page_help);
        return true;
    case ACT_SCROLL_UP:
        transcript_page(a->transcript, &a->view, -1);
        return true;
    case ACT_SCROLL_DOWN:
        transcript_page(a->transcript, &a->view, 1);
        return true;
    default:
        return false;
    }
}

/* ---- the line of a search ---- */

static void
search_line_key(struct app *a, int key, struct str paste)
{
    if (key == YK_ENTER) {
        a->line = LINE_PROMPT;
        a->focus = PANE_TRANSCRIPT;
        app_find(a, -1);
    } else {
        (void)field_key(&a->field, key, paste);
    }
}

static void
history_find(struct app *a)
{
    size_t at = a->history_at;
    if (history_search(&a->history, buf_str(&a->field.text), &at).ptr)
        a->history_at = at;
    else if (a->history_at == (size_t)-1)
        a->history_at = a->history.n;
}

static void
history_line_key(struct app *a, int key, struct str paste)
{
    if (key == YK_ENTER || key == YK_TAB) {
        a->line = LINE_PROMPT;
        if (a->history_at < a->history.n)
            input_set(&a->input, str_from(a->history.texts[a->history_at]));
    } else if (field_key(&a->field, key, paste)) {
        a->history_at = (size_t)-1;
        history_find(a);
    }
}

/* ---- panes ---- */

static bool
transcript_action(struct app *a, enum key_action act)
{
    struct transcript *t = a->transcript;
    const struct item *item;
    switch (act) {
    case ACT_PROMPT_BACK:
        transcript_prompt_jump(t, &a->view, -1);
        return true;
    case ACT_PROMPT_ON:
        transcript_prompt_jump(t, &a->view, 1);
        return true;
    case ACT_FOLD:
        (void)transcript_toggle(t, &a->view);
        return true;
    case ACT_ITEM_NEXT:
    case ACT_ITEM_BACK:
        transcript_move(t, &a->view, act == ACT_ITEM_NEXT ? 1 : -1);
        return true;
    case ACT_FIND:
        start_line(a, LINE_SEARCH);
        return true;
    case ACT_FIND_ON:
    case ACT_FIND_BACK:
        app_find(a, act == ACT_FIND_ON ? -1 : 1);
        return true;
    case ACT_TOP:
        transcript_home(t, &a->view);
        return true;
    case ACT_TAIL:
        transcript_end(t);
        return true;
    case ACT_COPY:
        app_copy(a);
        return true;
    case ACT_OPEN:
        app_open_link(a);
        return true;
    case ACT_PRINT:
        app_print_transcript(a);
        return true;
    case ACT_PAGER:
        if ((item = transcript_item(t, &a->view)))
            app_page(a, buf_str(&item->text));
        return true;
    default:
        return false;
    }
}

static bool
transcript_key(struct app *a, int key)
{
    if (transcript_action(a, keys_action_in(KEYS_TRANSCRIPT, key, 0)))
        return true;
    if (key != YK_UP && key != YK_DOWN)
        return false;
    transcript_scroll(a->transcript, &a->view, key == YK_UP ? -1 : 1);
    return true;
}

/* ---- the prompt ---- */

static void
history_step(struct app *a, int dir)
{
    struct buf now;
    buf_init(&now, BUF_MAX);
    input_expand(&a->input, &now);
    struct str s = history_move(&a->history, dir, buf_str(&now));
    if (s.ptr)
        input_set(&a->input, s);
    buf_release(&now);
}

static void
tab(struct app *a)
{
    if (!input_empty(&a->input))
        input_insert(&a->input, STR("\t"));
    else
        set_focus(a, a->view.n_asks ? PANE_APPROVAL : PANE_TRANSCRIPT);
}

void
app_follow(struct app *a)
{
    struct op *op = complete_follow(&a->complete, &a->input);
    if (op && a->start)
        app_start_question(a, op);
    else if (op && a->engine && !a->engine_closed)
        engine_post(a->engine, op);
    else
        op_free(op);
}

/* Keys that an empty prompt gives away. */
static bool
empty_prompt_key(struct app *a, int key)
{
    switch (key) {
    case '?':
        app_open_page(a, &page_help);
        return true;
    case YK_HOME:
        transcript_home(a->transcript, &a->view);
        return true;
    case YK_END:
        transcript_end(a->transcript);
        return true;
    default:
        return false;
    }
}

static void
prompt_key(struct app *a, int key, int64_t now)
{
    enum key_action act = keys_action_in(KEYS_PROMPT, key, 0);
    if (a->o->replay && app_replay_key(a, key))
        return;
    if (input_empty(&a->input) && empty_prompt_key(a, key))
        return;
    if (complete_key(&a->complete, &a->input, key))
        return;
    if (act == ACT_SUBMIT) {
        if (input_enter(&a->input))
            app_submit(a);
    } else if (key == YK_TAB) {
        tab(a);
    } else if (global_action(a, act, now)) {
        return;
    } else if (!input_key(&a->input, key)) {
        if (key == YK_UP || key == ('p' | KM_CTRL))
            history_step(a, -1);
        else if (key == YK_DOWN || key == ('n' | KM_CTRL))
            history_step(a, 1);
    }
}

/* ---- the trust question: a lone y or n on an empty prompt ---- */

void
app_held_is_answer(struct app *a)
{
    if (a->held == 'y') {
        app_post(a, OP_TRUST, NULL);
        a->view.trusted = true;
        app_note(a, "the folder is trusted");
    } else {
        app_note(a, "the folder stays restricted");
    }
    a->held = 0;
    a->trust_done = true;
    a->dirty = true;
}

/* True when the key belongs to the question. */
static bool
trust_key(struct app *a, int key, int64_t now)
{
    if (a->held) {
        if (key == YK_ENTER) {
            app_held_is_answer(a);
            return true;
        }
        /* the start of a word after all */
        input_insert(&a->input, str_make(&a->held, 1));
        a->held = 0;
        return false;
    }
    if (!app_asks_trust(a) || a->focus != PANE_PROMPT || !input_empty(&a->input) ||
        (key != 'y' && key != 'n'))
        return false;
    a->held = (char)key;
    a->held_ms = now;
    return true;
}

/* ---- dispatch ---- */

static void
approval_take(struct app *a, struct op *op)
{
    if (op && a->engine && !a->engine_closed)
        engine_post(a->engine, op);
    else
        op_free(op);
}

/* The focus' own keys; what is left over goes to the actions that hold anywhere, letters to the prompt. */
static void
pane_key(struct app *a, int key, struct str paste, int64_t now)
{
    bool used = false;
    if (a->focus == PANE_APPROVAL) {
        approval_take(a, approval_key(&a->approval, &a->view, key, paste, now, &used));
    } else if (key == YK_PASTE) {
        set_focus(a, PANE_PROMPT);
        if (!a->o->replay)
            input_paste(&a->input, paste);
        used = true;
    } else if (a->focus == PANE_TRANSCRIPT) {
        used = transcript_key(a, key);
    } else if (a->focus == PANE_ACTIVITY) {
        used = app_activity_key(a, key);
    }
    if (used)
        return;
    if (a->focus == PANE_PROMPT) {
        prompt_key(a, key, now);
        return;
    }
    if (key == YK_TAB) {
        set_focus(a, PANE_PROMPT);
    } else if (!global_action(a, keys_action(key, 0), now) && is_text(key) &&
               a->focus != PANE_APPROVAL) {
        set_focus(a, PANE_PROMPT);
        prompt_key(a, key, now);
    }
}

static void
line_key(struct app *a, int key, struct str paste, int64_t now)
{
    enum key_action act = keys_action(key, 0);
    if (act == ACT_HISTORY && a->line == LINE_HISTORY)
        history_find(a);
    else if (act == ACT_INTERRUPT || act == ACT_ESCAPE || act == ACT_REDRAW)
        (void)global_action(a, act, now);
    else if (a->line == LINE_SEARCH)
        search_line_key(a, key, paste);
    else
        history_line_key(a, key, paste);
}

static bool
wheel_or_focus(struct app *a, int key)
{
    switch (key) {
    case YK_FOCUS_IN:
    case YK_FOCUS_OUT:
        a->away = key == YK_FOCUS_OUT;
        return true;
    case YK_MOUSE_DOWN:
    case YK_MOUSE_DRAG:
    case YK_MOUSE_UP:
        if (!a->log.id && !(key == YK_MOUSE_DOWN && app_activity_press(a)))
            app_mouse(a, key);
        return true;
    case YK_WHEEL_UP:
    case YK_WHEEL_DOWN:
        if (app_box_open(a))
            (void)app_box_key(a, key, STR(""));
        else if (a->log.id)
            (void)log_view_key(&a->log, key, STR(""));
        else
            transcript_scroll(a->transcript, &a->view,
                              key == YK_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
        return true;
    default:
        return false;
    }
}

static void
dispatch(struct app *a, int key, struct str paste, int64_t now)
{
    if (wheel_or_focus(a, key))
        return;
    a->last_key_ms = now;
    if (app_box_key(a, key, paste))
        return;
    if (a->log.id) {
        app_log_key(a, key, paste);
        return;
    }
    if (a->chord) {
        int first = a->chord;
        a->chord = 0;
        (void)global_action(a, keys_action(key, first), now);
        return;
    }
    if (keys_is_chord_start(key)) {
        a->chord = key;
        return;
    }
    if (trust_key(a, key, now) || (app_shows_trust_box(a) && trust_box_key(&a->trust, key)))
        return;
    if (a->line != LINE_PROMPT)
        line_key(a, key, paste, now);
    else
        pane_key(a, key, paste, now);
    app_follow(a);
}

void
app_key(struct app *a, int key, struct str paste, int64_t now)
{
    struct app_before before = {.focus = a->focus,
                                .line = a->line,
                                .empty = input_empty(&a->input),
                                .box = app_box_open(a),
                                .tour_at = a->tour.at};
    dispatch(a, key, paste, now);
    app_tour_key(a, key, &before);
    app_tour_speak(a);
}
