/* Pages, pickers, offers and what the screen asks of the engine by itself. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "ui/app_private.h"
#include "ui/term.h"

#define COMMANDS_SEQ (((uint64_t)1 << 43) + 1)
#define SETTINGS_SEQ (((uint64_t)1 << 43) + 2)

/* False: nobody is there to answer; the op is gone. */
static bool
ask(struct app *a, struct op *take_op)
{
    if (!take_op)
        return true;
    if (!a->engine || a->engine_closed) {
        op_free(take_op);
        return false;
    }
    engine_post(a->engine, take_op);
    return true;
}

void
app_open_page(struct app *a, const struct page_type *type)
{
    picker_close(&a->picker);
    a->note_until_ms = 0; /* what was said to an earlier key */
    if (!ask(a, page_open(&a->page, type)))
        a->page.seq = 0; /* asked again when the engine is there */
    if (!a->engine && !a->start && type->query >= 0)
        a->page.problem = xstrdup("the engine is not running: see the transcript");
    a->dirty = true;
}

void
app_open_picker(struct app *a, const struct picker_type *type)
{
    page_close(&a->page);
    a->note_until_ms = 0; /* what was said to an earlier key */
    if (!ask(a, picker_open(&a->picker, type)))
        a->picker.seq = 0;
    picker_mark(&a->picker, type == &picker_modes      ? perm_mode_name(a->view.mode)
                            : type == &picker_sessions ? a->view.session_id
                                                       : NULL);
    a->dirty = true;
}

void
app_open_sessions(struct app *a, struct str words)
{
    page_close(&a->page);
    a->note_until_ms = 0;
    if (!ask(a, picker_open_with(&a->picker, &picker_sessions, words)))
        a->picker.seq = 0;
    picker_mark(&a->picker, a->view.session_id);
    a->dirty = true;
}

bool
app_box_open(const struct app *a)
{
    return a->page.type || a->picker.type;
}

/* What was chosen is a command like one that was typed. */
static void
run_chosen(struct app *a, char *take_command)
{
    if (take_command)
        app_submit_text(a, str_from(take_command));
    free(take_command);
}

bool
app_covered(const struct app *a)
{
    return app_box_open(a) || a->log.id ||
           (a->focus == PANE_APPROVAL && approval_full(&a->approval) && a->view.n_asks);
}

bool
app_box_key(struct app *a, int key, struct str typed)
{
    struct op *op = NULL;
    if (a->page.type) {
        page_key(&a->page, key, typed, &op);
        bool command = op && op->kind == OP_COMMAND;
        (void)ask(a, op);
        if (command)
            (void)ask(a, page_refresh(&a->page, true));
    } else if (a->picker.type) {
        char *command;
        picker_key(&a->picker, key, typed, &op, &command);
        (void)ask(a, op);
        run_chosen(a, command);
    } else {
        return false;
    }
    return true;
}

/* ---- answers ---- */

static void
take_settings(struct app *a, struct str json)
{
    struct cJSON *tree = json_parse(json, NULL);
    const char *notify = json_cstr(tree, "notify", "bell");
    a->notify = strcmp(notify, "osc9") == 0  ? NOTIFY_OSC9
                : strcmp(notify, "off") == 0 ? NOTIFY_OFF
                                             : NOTIFY_BELL;
    const char *theme = json_cstr(tree, "theme", "auto");
    term_theme(strncmp(theme, "light", 5) == 0 ? 1 : strncmp(theme, "dark", 4) == 0 ? 0 : -1);
    a->exit_lines = json_int(tree, "exit_lines", EXIT_LINES);
    term_ambiguous((int)json_int(tree, "ambiguous_width", 0));
    if (json_at(tree, "hyperlinks"))
        term_hyperlinks(json_bool(tree, "hyperlinks", true));
    json_free(tree);
}

void
app_take_answer(struct app *a, const struct event *ev)
{
    struct op *op = NULL;
    page_answer(&a->page, ev);
    picker_answer(&a->picker, ev, &op);
    trust_box_answer(&a->trust, ev);
    (void)ask(a, op);
    run_chosen(a, picker_only(&a->picker));
    if (a->page.type && a->page.again)
        (void)ask(a, page_refresh(&a->page, true));
    if (ev->seq == COMMANDS_SEQ)
        commands_take(&a->commands, str_from(ev->u.answer.json));
    else if (ev->seq == SETTINGS_SEQ)
        take_settings(a, str_from(ev->u.answer.json));
    a->dirty = true;
}

static void
ask_plain(struct app *a, enum query_kind query, uint64_t seq)
{
    struct op *op = op_new(OP_QUERY, NULL);
    op->query = query;
    op->seq = seq;
    (void)ask(a, op);
}

void
app_greet(struct app *a, bool trusted)
{
    if (!a->greeted) {
        ask_plain(a, QUERY_COMMANDS, COMMANDS_SEQ);
        ask_plain(a, QUERY_SETTINGS, SETTINGS_SEQ);
        a->greeted = true;
    }
    if (!trusted && !a->trust_done && !a->trust.answer && !a->trust.seq)
        (void)ask(a, trust_box_ask(&a->trust));
    if (a->page.type && !a->page.answer && !a->page.seq)
        (void)ask(a, page_refresh(&a->page, true));
    if (a->picker.type && !a->picker.seq)
        (void)ask(a, picker_refresh(&a->picker));
}

void
app_pages_turn_ended(struct app *a)
{
    (void)ask(a, page_refresh(&a->page, false));
}

/* ---- offers ---- */

static void
offer_drop(struct app *a)
{
    free(a->offers[0].text);
    free(a->offers[0].command);
    a->n_offers--;
    memmove(a->offers, a->offers + 1, a->n_offers * sizeof *a->offers);
}

void
app_offer(struct app *a, const struct event *ev)
{
    if (a->n_offers == OFFERS_MAX || !ev->u.offer.text || !ev->u.offer.command)
        return;
    for (size_t i = 0; i < a->n_offers; i++)
        if (strcmp(a->offers[i].command, ev->u.offer.command) == 0)
            return;
    a->offers[a->n_offers++] =
        (struct offer){xstrdup(ev->u.offer.text), xstrdup(ev->u.offer.command)};
    a->dirty = true;
}

/* Whoever has begun is not new here. */
void
app_offer_outdated(struct app *a)
{
    if (!a->n_offers || strcmp(a->offers[0].command, "/tour") != 0)
        return;
    offer_drop(a);
    a->dirty = true;
}

bool
app_offer_answer(struct app *a, bool take)
{
    if (!a->n_offers)
        return false;
    if (take) {
        char *command = xstrdup(a->offers[0].command);
        app_submit_text(a, str_from(command));
        free(command);
    }
    offer_drop(a);
    a->dirty = true;
    return true;
}

void
app_offers_release(struct app *a)
{
    while (a->n_offers)
        offer_drop(a);
}
