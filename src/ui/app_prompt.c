/* Keys of the prompt, and of what its line asks for in place of a prompt: a search, the history. */
#include "ui/app_private.h"
#include "ui/app_transcript.h"

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
recall(struct app *a, struct str text)
{
    input_set(&a->input, text);
    complete_hush(&a->complete, &a->input);
}

static void
history_line_key(struct app *a, int key, struct str paste)
{
    if (key == YK_ENTER || key == YK_TAB) {
        a->line = LINE_PROMPT;
        if (a->history_at < a->history.n)
            recall(a, str_from(a->history.texts[a->history_at]));
    } else if (field_key(&a->field, key, paste)) {
        a->history_at = (size_t)-1;
        history_find(a);
    }
}

void
app_line_key(struct app *a, int key, struct str paste, int64_t now)
{
    enum key_action act = keys_action(key, 0);
    if (act == ACT_HISTORY && a->line == LINE_HISTORY)
        history_find(a);
    else if (act == ACT_INTERRUPT || act == ACT_ESCAPE)
        (void)app_action(a, act, now);
    else if (a->line == LINE_SEARCH)
        search_line_key(a, key, paste);
    else
        history_line_key(a, key, paste);
}

static void
history_step(struct app *a, int dir)
{
    struct buf now;
    buf_init(&now, BUF_MAX);
    input_expand(&a->input, &now);
    struct str s = history_move(&a->history, dir, buf_str(&now));
    if (s.ptr)
        recall(a, s);
    buf_release(&now);
}

static void
tab(struct app *a)
{
    if (!input_empty(&a->input))
        input_insert(&a->input, STR("\t"));
    else
        app_focus(a, a->view.n_asks ? PANE_APPROVAL : PANE_TRANSCRIPT);
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
submit(struct app *a)
{
    if (input_enter(&a->input))
        app_submit(a);
}

bool
app_prompt_action(struct app *a, enum key_action act)
{
    if (a->o->replay)
        return false;
    if (act != ACT_SUBMIT)
        return input_action(&a->input, act);
    submit(a);
    return true;
}

void
app_prompt_key(struct app *a, int key, int64_t now)
{
    enum key_action act = keys_action_in(KEYS_PROMPT, key, 0);
    if (a->o->replay && app_replay_key(a, key))
        return;
    if (input_empty(&a->input) && empty_prompt_key(a, key))
        return;
    if (complete_key(&a->complete, &a->input, key))
        return;
    if (act == ACT_SUBMIT) {
        submit(a);
    } else if (key == YK_TAB) {
        tab(a);
    } else if (app_action(a, act, now)) {
        return;
    } else if (!input_key(&a->input, key)) {
        if (key == YK_UP && input_empty(&a->input) && app_queue_take_back(a))
            return;
        if (key == YK_UP || key == ('p' | KM_CTRL))
            history_step(a, -1);
        else if (key == YK_DOWN || key == ('n' | KM_CTRL))
            history_step(a, 1);
    }
}
