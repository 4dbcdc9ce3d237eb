/* What a key does, by where the focus is. */
#include "ui/app_private.h"
#include "ui/app_transcript.h"

#define WHEEL_ROWS 3

static bool
is_text(int key)
{
    return key >= ' ' && key < KEY_NAMED;
}

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
        app_line_open(a, LINE_SEARCH);
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

/* Something is written in a field, or lies over the panes: their keys are not meant. */
static bool
elsewhere(const struct app *a)
{
    return app_box_open(a) || a->log.id || a->line != LINE_PROMPT ||
           (a->focus == PANE_APPROVAL && approval_typing(&a->approval));
}

static enum key_context
context_of(const struct app *a)
{
    static const enum key_context of[] = {[PANE_PROMPT] = KEYS_PROMPT,
                                          [PANE_TRANSCRIPT] = KEYS_TRANSCRIPT,
                                          [PANE_APPROVAL] = KEYS_APPROVAL,
                                          [PANE_ACTIVITY] = KEYS_ACTIVITY};
    return elsewhere(a) ? KEYS_ANYWHERE : of[a->focus];
}

static void
approval_take(struct app *a, struct op *op)
{
    a->edit_sent |= op && op->perm.edited_input;
    if (op && a->engine && !a->engine_closed)
        engine_post(a->engine, op);
    else
        op_free(op);
}

static void
prompt_takes(struct app *a, int key, int64_t now)
{
    app_focus(a, PANE_PROMPT);
    app_prompt_key(a, key, now);
}

/* Nobody looks for a key to be an answer who is beginning a sentence: where the pane took the focus by itself, or a changed command
 * came back as another request, the first letter waits for what follows. */
static bool
hold_key(struct app *a, int key, int64_t now)
{
    bool came_back = a->edit_sent && !approval_guarded(&a->approval, now);
    if (!(a->focus_taken || came_back) || !is_text(key) || approval_typing(&a->approval) ||
        a->approval.confirm_always)
        return false;
    a->held_key = key;
    a->held_ms = now;
    return true;
}

/* Nothing followed: it is a key of the pane, unless it means nothing there or came before the request could be seen. */
void
app_held_key_acts(struct app *a, int64_t now)
{
    bool used;
    int key = a->held_key;
    bool meant = a->focus == PANE_APPROVAL && keys_action_in(KEYS_APPROVAL, key, 0) != ACT_NONE &&
                 !approval_guarded(&a->approval, a->held_ms);
    a->held_key = 0;
    a->focus_taken = a->edit_sent = false; /* the person is there now */
    a->dirty = true;
    if (meant)
        approval_take(a, approval_key(&a->approval, &a->view, key, STR(""), now, &used));
    else
        prompt_takes(a, key, now);
}

/* What came behind the key that is held makes it a word of the prompt, or a key of the pane. */
static void
settle_held(struct app *a, int key, int64_t now)
{
    int held = a->held_key;
    if (is_text(key) || key == YK_PASTE || key == YK_BACKSPACE) {
        a->held_key = 0;
        prompt_takes(a, held, now);
    } else if (key == YK_ESC) {
        a->held_key = 0;
    } else {
        app_held_key_acts(a, now);
    }
}

/* The focus' own keys; what is left over goes to the actions that hold anywhere, letters to the prompt. */
static void
pane_key(struct app *a, int key, struct str paste, int64_t now)
{
    bool used = false;
    if (a->focus == PANE_APPROVAL && hold_key(a, key, now))
        return;
    if (a->focus_taken && key == YK_PASTE && !approval_typing(&a->approval))
        app_focus(a, PANE_PROMPT);
    if (a->focus == PANE_APPROVAL) {
        struct op *op = approval_key(&a->approval, &a->view, key, paste, now, &used);
        a->focus_taken &= !used;
        approval_take(a, op);
    } else if (key == YK_PASTE) {
        app_focus(a, PANE_PROMPT);
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
        app_prompt_key(a, key, now);
        return;
    }
    if (key == YK_TAB) {
        app_leave_asks(a);
        app_focus(a, PANE_PROMPT);
    } else if (!app_action(a, keys_action_in(context_of(a), key, 0), now) && is_text(key) &&
               (a->focus != PANE_APPROVAL ||
                approval_means_nothing(&a->approval, &a->view, key, now))) {
        prompt_takes(a, key, now);
    }
}

static bool
pane_action(struct app *a, enum key_action act, int64_t now)
{
    struct op *op = NULL;
    bool used = false;
    switch (a->focus) {
    case PANE_APPROVAL:
        used = approval_action(&a->approval, &a->view, act, now, &op);
        approval_take(a, op);
        return used;
    case PANE_TRANSCRIPT:
        return transcript_action(a, act);
    case PANE_ACTIVITY:
        return app_activity_action(a, act);
    case PANE_PROMPT:
        return app_prompt_action(a, act);
    }
    return used;
}

/* The second key of a chord. */
static void
chord_key(struct app *a, int key, int64_t now)
{
    enum key_action act = keys_action_in(context_of(a), key, a->chord);
    bool box = a->log.id || app_box_open(a);
    a->chord = 0;
    if (box && !app_action_steady(act))
        return;
    if (elsewhere(a) || !pane_action(a, act, now))
        (void)app_action(a, act, now);
}

/* Chords, and what holds whatever lies over the panes. */
static bool
anywhere_key(struct app *a, int key, int64_t now)
{
    enum key_action act = keys_action(key, 0);
    if (a->chord)
        chord_key(a, key, now);
    else if (keys_is_chord_start(context_of(a), key) && !(elsewhere(a) && is_text(key)))
        a->chord = key;
    else if (elsewhere(a) && app_action_steady(act) && !is_text(key))
        (void)app_action(a, act, now);
    else
        return false;
    return true;
}

static void
wheel(struct app *a, int key)
{
    if (app_box_open(a))
        (void)app_box_key(a, key, STR(""));
    else if (a->log.id)
        (void)log_view_key(&a->log, key, STR(""));
    else if (app_covered(a))
        for (int i = 0; i < WHEEL_ROWS; i++)
            approval_wheel(&a->approval, key);
    else
        transcript_scroll(a->transcript, &a->view, key == YK_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
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
        wheel(a, key);
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
    if (a->held_key)
        settle_held(a, key, now);
    if (anywhere_key(a, key, now) || app_box_key(a, key, paste))
        return;
    if (a->log.id) {
        app_log_key(a, key, paste);
        return;
    }
    if (app_trust_key(a, key, now))
        return;
    if (a->line != LINE_PROMPT)
        app_line_key(a, key, paste, now);
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
    if (a->engine && a->o->key_came)
        a->o->key_came(a->o->user);
    dispatch(a, key, paste, now);
    app_tour_key(a, key, &before);
    app_tour_speak(a);
}
