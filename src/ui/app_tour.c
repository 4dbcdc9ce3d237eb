/*
 * The tour: a guide over the real screen. Each step says one thing to do, in the transcript at length and on the rule above the prompt
 * in a few words, and waits until it was done: by a key, or by what the engine says of it. Nothing here acts for the person but
 * writing a request into the empty prompt. To add a step: a row.
 */
#include <stdlib.h>
#include <string.h>

#include "ui/app_private.h"

enum tour_want {
    WANT_ENTER,   /* Enter on the empty prompt */
    WANT_RESULT,  /* the turn is over */
    WANT_ASK,     /* a request waits */
    WANT_DECIDED, /* it was answered, and the turn is over */
    WANT_RUNNING, /* a command runs */
    WANT_AUTO,
    WANT_NOT_AUTO,
    WANT_CLEARED,
    WANT_RESUMED,
    WANT_ACTION, /* the step's action */
    WANT_BOX,    /* Esc out of what lay over the panes */
    WANT_FOLD,   /* Enter in the transcript */
    WANT_SEARCH  /* Enter behind what is searched for */
};

/* %KEY in the texts is the key that the action has. */
static const struct tour_step {
    enum tour_want want;
    enum key_action action;
    const char *fill; /* written into the prompt; NULL: nothing */
    const char *brief, *text;
} steps[] = {
    {WANT_ENTER, ACT_NONE, NULL, "Enter starts, Esc skips",
     "Welcome aboard. This is a scratch folder with two notes; your own files are far away. The "
     "offline "
     "pilot answers (no language model) and does what plain requests say. The line above the "
     "prompt says "
     "what to press. Esc skips a step, Ctrl+D leaves, and the folder goes with you."},
    {WANT_RESULT, ACT_NONE, "find colour in notes", "Enter sends the search",
     "A request stands in the prompt. It could be any other; Enter sends it. Reading and searching "
     "asks nobody."},
    {WANT_RESULT, ACT_NONE, "read notes/list.txt", "Enter sends it",
     "Each tool call is one line, with what came of it. Now the file itself."},
    {WANT_FOLD, ACT_PANE2, NULL, "%KEY, then Enter: a fold",
     "What the pilot says of it stands open; the tool's own output is folded into the call's line. "
     "%KEY goes to the transcript, j and k go from item to item, "
     "Enter opens the fold of the one at the cursor."},
    {WANT_ASK, ACT_NONE, "replace `teh` with `the` in notes/list.txt", "Enter sends the edit",
     "An edit changes a file, so it asks first."},
    {WANT_DECIDED, ACT_PANE3, NULL, "y allows it, w says why",
     "The change is shown before it happens. The request takes the keys after a quiet second, or "
     "with %KEY. y allows it once, w shows the "
     "whole chain of reasons."},
    {WANT_ASK, ACT_NONE, "run rm notes/list.txt", "Enter sends it",
     "Now something you may not want."},
    {WANT_DECIDED, ACT_PANE3, NULL, "n, a reason, Enter",
     "Say no: n, then a reason for the model (or none), then Enter. The model reads the reason and "
     "can do it another way."},
    {WANT_AUTO, ACT_AFK, NULL, "%KEY turns AFK on",
     "You go away from the keyboard: %KEY turns AFK on, at any time. The classifier, a small "
     "model, decides what would "
     "ask then; the pilot is none, so here it still waits for you."},
    {WANT_NOT_AUTO, ACT_AFK, NULL, "%KEY turns AFK off",
     "And back again, with the same key. Shift+Tab goes through default, accept edits, plan "
     "and auto; /mode lists them all."},
    {WANT_RUNNING, ACT_NONE, "run for i in 1 2 3 4 5 6 7 8 9; do echo working $i; sleep 2; done",
     "Enter starts a command",
     "A command that takes its time. It only prints and waits, so it may run unasked."},
    {WANT_ACTION, ACT_PANE4, NULL, "%KEY: the activity pane",
     "What runs stands in the activity pane, with its time and its last line (on small screens in "
     "one line). %KEY goes there."},
    {WANT_RESULT, ACT_ACT_STOP, NULL, "%KEY stops it",
     "Enter would show its whole output. %KEY stops it, or wait until it is done."},
    {WANT_BOX, ACT_METERS, NULL, "%KEY: meters, Esc closes",
     "How full the context is, what it costs, where the tokens went: in short in the last line, in "
     "full with %KEY. Esc closes it again, as it "
     "closes every page, leaves a pane, or interrupts the turn."},
    {WANT_RESULT, ACT_NONE, "todo look around, change a file, ask why", "Enter sends the list",
     "For longer work a list is kept that both of you see."},
    {WANT_ACTION, ACT_TODOS, NULL, "%KEY: the list", "%KEY shows the list, and hides it again."},
    {WANT_SEARCH, ACT_SEARCH, NULL, "%KEY, a word, Enter",
     "%KEY searches in all that was said: type colour, then Enter."},
    {WANT_CLEARED, ACT_NONE, "/clear", "Enter: a new session",
     "Commands begin with a slash. /clear begins anew; what was said stays on disk."},
    {WANT_RESUMED, ACT_NONE, "/resume", "Enter brings it back",
     "And /resume brings the session back, today or next week."},
    {WANT_ENTER, ACT_HELP, NULL, "Enter ends the tour",
     "That was it. %KEY shows all keys, yare perm explain 'COMMAND' says why a command asks, /help "
     "lists the commands. To connect a model "
     "set ANTHROPIC_API_KEY or OPENAI_BASE_URL, or ask /connect. Enter ends the tour and removes "
     "its folder."},
};

static const struct tour_step *
now(const struct app *a)
{
    return a->o->tour && a->tour.at < ARRAY_LEN(steps) ? &steps[a->tour.at] : NULL;
}

/* The text with the step's key in it. */
static void
add_text(struct buf *out, const struct tour_step *s, const char *text)
{
    struct str rest = str_from(text);
    const char *key;
    while ((key = memmem(rest.ptr, rest.len, "%KEY", 4))) {
        size_t n = (size_t)(key - rest.ptr);
        const char *bound = keys_of(s->action);
        buf_add_str(out, str_sub(rest, 0, n));
        buf_adds(out, bound ? keys_shown(bound) : "(no key)");
        rest = str_sub(rest, n + 4, rest.len);
    }
    buf_add_str(out, rest);
}

/* ---- from step to step ---- */

static void
fill_prompt(struct app *a, const struct tour_step *s)
{
    a->focus = PANE_PROMPT;
    a->line = LINE_PROMPT;
    if (!input_empty(&a->input))
        return; /* the person is writing */
    char *text = s->want == WANT_RESUMED && a->tour.session
                     ? xasprintf("%s %s", s->fill, a->tour.session)
                     : xstrdup(s->fill);
    input_set(&a->input, str_from(text));
    free(a->tour.filled);
    a->tour.filled = text;
}

bool
app_tour_wrote_it(const struct app *a)
{
    return now(a) && a->tour.filled && str_is(buf_str(&a->input.text), a->tour.filled);
}

/* After the event that led here was applied: a cleared transcript would take the words with it. */
void
app_tour_speak(struct app *a)
{
    const struct tour_step *s = now(a);
    if (!s || !a->tour.unsaid)
        return;
    a->tour.unsaid = false;
    struct buf b;
    struct event *ev = event_new(EV_NOTICE);
    buf_init(&b, 4096);
    buf_addf(&b, "%zu/%zu  ", a->tour.at + 1, ARRAY_LEN(steps));
    add_text(&b, s, s->text);
    ev->u.notice.text = buf_take(&b);
    view_apply(&a->view, ev);
    size_t n = view_len(&a->view);
    if (n)
        view_at(&a->view, n - 1)->aside = true;
    /* what was just found stays in sight: the line of hints says how to go on */
    if (a->tour.at == 0 || steps[a->tour.at - 1].want != WANT_SEARCH)
        transcript_end(a->transcript);
    if (s->fill)
        fill_prompt(a, s);
    a->dirty = true;
}

static void
advance(struct app *a)
{
    a->tour.at++;
    a->tour.unsaid = true;
    if (!now(a))
        app_quit(a, 0);
}

static void
is_done(struct app *a, enum tour_want want)
{
    const struct tour_step *s = now(a);
    if (s && s->want == want)
        advance(a);
}

/* The next step that does not hang on what this one has brought about. */
static void
leave(struct app *a)
{
    size_t at = a->tour.at + 1;
    while (at < ARRAY_LEN(steps) && !steps[at].fill &&
           (steps[at].want == WANT_DECIDED || steps[at].want == WANT_RESULT ||
            steps[at].action == ACT_PANE4))
        at++;
    a->tour.at = at - 1;
    advance(a);
}

/* A turn's end ends the steps that were about that turn, whichever way it went. */
static void
turn_is_over(struct app *a)
{
    const struct tour_step *s = now(a);
    if (s && (s->want == WANT_RESULT || s->want == WANT_ASK || s->want == WANT_DECIDED ||
              s->want == WANT_RUNNING || s->action == ACT_PANE4))
        leave(a);
}

bool
app_tour_skip(struct app *a)
{
    if (!now(a))
        return false;
    bool ran = app_running(a);
    if (ran)
        app_interrupt(a);
    input_clear(&a->input);
    /* The end of the turn that was interrupted must not end the next step too. */
    a->tour.ends_to_skip += ran;
    leave(a);
    return true;
}

/* ---- what happens ---- */

void
app_tour_event(struct app *a, const struct event *ev)
{
    if (!a->o->tour || ev->agent)
        return;
    switch (ev->kind) {
    case EV_SESSION:
        if (!a->tour.session && ev->u.session.id) {
            a->tour.session = xstrdup(ev->u.session.id);
            a->tour.unsaid = true;
        } else if (ev->u.session.resumed) {
            a->tour.resumed = true;
        } else if (ev->u.session.cleared) {
            is_done(a, WANT_CLEARED);
        }
        break;
    case EV_CONTEXT: /* behind the history */
        if (a->tour.resumed)
            is_done(a, WANT_RESUMED);
        break;
    case EV_PERM_ASK:
        is_done(a, WANT_ASK);
        break;
    case EV_TOOL:
        if (ev->phase != PHASE_END && ev->u.tool.state == TOOL_RUNNING && !ev->u.tool.replayed)
            is_done(a, WANT_RUNNING);
        break;
    case EV_MODE:
        is_done(a, ev->u.mode.mode == PERM_AUTO ? WANT_AUTO : WANT_NOT_AUTO);
        break;
    case EV_RESULT:
        if (a->tour.ends_to_skip)
            a->tour.ends_to_skip--;
        else
            turn_is_over(a);
        break;
    default:
        break;
    }
}

void
app_tour_key(struct app *a, int key, const struct app_before *before)
{
    const struct tour_step *s = now(a);
    if (!s || a->quit || a->tour.at != before->tour_at)
        return;
    bool enter = key == YK_ENTER;
    bool done = false;
    switch (s->want) {
    case WANT_ENTER:
        done = enter && before->focus == PANE_PROMPT && before->line == LINE_PROMPT &&
               before->empty && !before->box;
        break;
    case WANT_ACTION:
        done = !before->box && keys_action(key, 0) == s->action;
        break;
    case WANT_BOX:
        done = before->box && key == YK_ESC;
        break;
    case WANT_FOLD:
        done = enter && before->focus == PANE_TRANSCRIPT;
        break;
    case WANT_SEARCH:
        done = enter && before->line == LINE_SEARCH;
        break;
    default:
        break;
    }
    if (done)
        advance(a);
}

bool
app_tour_words(const struct app *a, struct buf *out)
{
    const struct tour_step *s = now(a);
    if (!s || !a->tour.session)
        return false;
    buf_addf(out, "%zu/%zu ", a->tour.at + 1, ARRAY_LEN(steps));
    add_text(out, s, s->brief);
    return true;
}

/* ---- on the way to it ---- */

bool
app_tour_takes(struct app *a, enum op_kind kind, const char *text)
{
    struct str s = str_trim(str_from(text));
    bool asked = (kind == OP_COMMAND && str_is(s, "/tour")) ||
                 (kind == OP_SUBMIT && a->view.offline && (str_is(s, "tour") || str_is(s, "Tour")));
    if (a->o->tour && (kind == OP_SUBMIT || kind == OP_STEER) &&
        (str_is(s, "skip") || str_is(s, "Skip")))
        return app_tour_skip(a);
    if (!asked)
        return false;
    if (a->o->tour) {
        app_note(a, "this is the tour");
    } else if (!a->o->ret_tour) {
        app_note(a, "the tour is not available here: yare tour");
    } else {
        free(*a->o->ret_tour);
        *a->o->ret_tour =
            xstrdup((a->said || a->talked) && a->view.session_id ? a->view.session_id : "");
        app_quit(a, 0);
    }
    return true;
}
