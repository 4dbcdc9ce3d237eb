/*
 * What was typed and is not the engine's yet, in the order it was typed. A prompt joins the running turn (OP_STEER) and stands here until
 * the engine says that it did; a `!` line or a command that cannot run beside a turn waits for the turn's end, and all that was typed
 * behind it waits too. An interrupt stops what waits: it goes back to the prompt, or stays here and is shown until Up fetches it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/app_private.h"

#define UNSTEER_SEQ (((uint64_t)1 << 43) + 3)

void
app_queue_add(struct app *a, const char *text, enum queue_state state)
{
    ARRAY_GROW(a->queued, a->n_queued, a->cap_queued);
    a->queued[a->n_queued++] = (struct queued){xstrdup(text), state};
}

/* The text, yours. */
static char *
queue_pull(struct app *a, size_t i)
{
    char *text = a->queued[i].text;
    a->n_queued--;
    memmove(a->queued + i, a->queued + i + 1, (a->n_queued - i) * sizeof(*a->queued));
    a->dirty = true;
    return text;
}

static void
queue_remove(struct app *a, size_t i)
{
    free(queue_pull(a, i));
}

void
app_queue_clear(struct app *a)
{
    while (a->n_queued)
        queue_remove(a, a->n_queued - 1);
}

size_t
app_queue_count(const struct app *a, enum queue_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_queued; i++)
        n += a->queued[i].state == state;
    return n;
}

/* ---- out to the engine ---- */

static void
send_command(struct app *a, size_t i)
{
    char *text = queue_pull(a, i);
    a->shell_runs = app_is_shell(str_from(text));
    a->submitted |= a->shell_runs;
    app_post(a, OP_COMMAND, text);
    free(text);
}

static void
send_prompt(struct app *a, size_t i, bool joins)
{
    if (joins) {
        a->queued[i].state = QUEUE_STEERED;
        app_post(a, OP_STEER, a->queued[i].text);
        return;
    }
    char *text = queue_pull(a, i);
    app_post(a, OP_SUBMIT, text);
    a->submitted = true;
    free(text);
}

void
app_queue_pump(struct app *a)
{
    a->interrupting = a->interrupting && app_running(a);
    a->shell_runs = a->shell_runs && app_running(a);
    if (!a->engine || a->engine_closed || a->interrupting)
        return;
    for (size_t i = 0; i < a->n_queued && !a->shell_runs;) {
        struct str text = str_from(a->queued[i].text);
        bool busy = app_running(a) || app_queue_count(a, QUEUE_STEERED);
        if (a->queued[i].state != QUEUE_WAITING) {
            i++;
        } else if (!app_is_command(a, text)) {
            send_prompt(a, i, busy);
        } else if (busy && app_waits(a, text)) {
            return; /* and what is behind it */
        } else {
            send_command(a, i);
        }
    }
}

/* ---- what became of it ---- */

/* Where a text stands as one whole prompt of those that were sent together; -1: nowhere. */
static ptrdiff_t
find_piece(struct str all, size_t from, struct str piece)
{
    for (size_t i = from; piece.len && i + piece.len <= all.len; i++) {
        size_t end = i + piece.len;
        if (str_eq(str_sub(all, i, piece.len), piece) && (i == 0 || all.ptr[i - 1] == '\n') &&
            (end == all.len || all.ptr[end] == '\n'))
            return (ptrdiff_t)i;
    }
    return -1;
}

/* The conversation has some of it now. */
void
app_queue_joined(struct app *a, const char *prompt)
{
    struct str all = str_from(prompt ? prompt : "");
    size_t from = 0;
    for (size_t i = 0; i < a->n_queued;) {
        struct str piece = str_trim(str_from(a->queued[i].text));
        ptrdiff_t at = a->queued[i].state == QUEUE_STEERED ? find_piece(all, from, piece) : -1;
        if (at < 0) {
            i++;
            continue;
        }
        from = (size_t)at + piece.len;
        queue_remove(a, i);
    }
}

void
app_queue_interrupt(struct app *a)
{
    a->interrupting = true;
    for (size_t i = 0; i < a->n_queued; i++)
        if (a->queued[i].state == QUEUE_WAITING)
            a->queued[i].state = QUEUE_KEPT;
}

/* As one text in the prompt, unless that would make a command of what is none, or something stands there. */
static void
give_back(struct app *a)
{
    bool commands = false;
    for (size_t i = 0; i < a->n_queued; i++)
        commands |=
            a->queued[i].state == QUEUE_KEPT && app_is_command(a, str_from(a->queued[i].text));
    size_t n = app_queue_count(a, QUEUE_KEPT);
    if (!n || !input_empty(&a->input) || (commands && n > 1))
        return;
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < a->n_queued;) {
        if (a->queued[i].state != QUEUE_KEPT) {
            i++;
            continue;
        }
        buf_addf(&b, "%s%s", b.len ? "\n" : "", a->queued[i].text);
        queue_remove(a, i);
    }
    input_set(&a->input, buf_str(&b));
    buf_release(&b);
    app_note(a, "not sent, back in the prompt");
}

void
app_queue_turn_ended(struct app *a, bool aborted)
{
    bool stopped = a->interrupting || aborted;
    a->interrupting = a->shell_runs = false;
    for (size_t i = 0; aborted && i < a->n_queued; i++)
        if (a->queued[i].state == QUEUE_STEERED)
            a->queued[i].state = QUEUE_KEPT; /* the engine has let go of it */
    if (stopped) /* what an earlier interrupt kept stays where it is shown: the next words are being typed */
        give_back(a);
}

void
app_queue_give_back(struct app *a)
{
    for (size_t i = 0; i < a->n_queued; i++)
        a->queued[i].state = QUEUE_KEPT;
    give_back(a);
}

/* ---- Up ---- */

bool
app_queue_take_back(struct app *a)
{
    if (!a->n_queued)
        return false;
    if (a->taking_back)
        return true; /* the answer is on its way */
    struct queued *newest = &a->queued[a->n_queued - 1];
    if (newest->state != QUEUE_STEERED) {
        char *text = queue_pull(a, a->n_queued - 1);
        input_set(&a->input, str_from(text));
        free(text);
        return true;
    }
    if (!a->engine || a->engine_closed)
        return false;
    a->taking_back = xstrdup(newest->text);
    struct op *op = op_new(OP_UNSTEER, a->taking_back);
    op->seq = UNSTEER_SEQ;
    engine_post(a->engine, op);
    return true;
}

/* It may have joined the conversation meanwhile: then there is nothing to take back. */
void
app_queue_answer(struct app *a, const struct event *ev)
{
    if (ev->seq != UNSTEER_SEQ || !a->taking_back)
        return;
    struct cJSON *tree = json_parse(str_from(ev->u.answer.json), NULL);
    char *text = a->taking_back;
    a->taking_back = NULL;
    if (!json_bool(tree, "taken_back", false)) {
        app_note(a, "too late: the model has it");
    } else {
        size_t i = a->n_queued;
        while (i > 0 && strcmp(a->queued[i - 1].text, text) != 0)
            i--;
        if (i)
            queue_remove(a, i - 1);
        if (input_empty(&a->input))
            input_set(&a->input, str_from(text));
        else
            app_note(a, "taken back: the history has it");
    }
    free(text);
    json_free(tree);
}

/* ---- on the rule above the prompt ---- */

bool
app_queue_words(const struct app *a, struct buf *out)
{
    size_t kept = app_queue_count(a, QUEUE_KEPT), n = a->n_queued - kept;
    size_t i = 0, shown = n ? n : kept;
    if (!a->n_queued)
        return false;
    while (n && a->queued[i].state == QUEUE_KEPT)
        i++;
    if (!n) /* the one that Up takes */
        i = a->n_queued - 1;
    /* on a prompt with text Up goes through the history */
    const char *up = n                        ? ""
                     : input_empty(&a->input) ? ", Up takes it back"
                                              : ", Up in the empty prompt takes it back";
    if (shown > 1)
        buf_addf(out, "%s of %zu%s): ", n ? "queued (first" : "not sent (last", shown, up);
    else
        buf_addf(out, "%s%s: ", n ? "queued" : "not sent", up);
    struct str first = str_from(a->queued[i].text);
    size_t end = str_find(first, '\n', 0);
    text_visible(out, str_sub(first, 0, end == (size_t)-1 || end > 200 ? 200 : end));
    return true;
}
