#include "model/pilot_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"

/* What stands in a user message and was not asked of the pilot: yare's own words, and what the person ran in the shell. */
static bool
is_aside(struct str text)
{
    text = str_trim(text);
    return str_starts(text, "<system-reminder>") || str_starts(text, "<bash-input>");
}

static bool
has_results(const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].kind == BLOCK_TOOL_RESULT)
            return true;
    return false;
}

/* The person stopped the turn there: what they say next is a plan of its own. */
static bool
was_stopped(const struct message *m)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind == BLOCK_TOOL_RESULT && b->is_error && str_starts(b->text, "interrupted"))
            return true;
    }
    return false;
}

static void
add_prompt_text(const struct message *m, struct buf *out)
{
    for (size_t i = 0; i < m->n_blocks; i++) {
        const struct block *b = &m->blocks[i];
        if (b->kind != BLOCK_TEXT || is_aside(b->text))
            continue;
        if (out->len)
            buf_adds(out, " then ");
        buf_add_str(out, b->text);
    }
}

/* The newest user message that is a prompt; what was typed into the running turn after it joins the plan. Gives the index behind the
 * prompt. */
static size_t
find_plan(const struct model_request *req, struct pilot_plan *ret)
{
    struct buf text;
    size_t from = 0;
    buf_init(&text, BUF_MAX);
    for (size_t i = req->n_messages; i-- > 0 && !text.len;) {
        const struct message *m = req->messages[i];
        if (m->role != ROLE_USER || (has_results(m) && !was_stopped(m)) || m->hidden)
            continue;
        add_prompt_text(m, &text);
        from = i + 1;
    }
    for (size_t i = from; i < req->n_messages; i++)
        if (req->messages[i]->role == ROLE_USER && has_results(req->messages[i]))
            add_prompt_text(req->messages[i], &text);
    pilot_parse(buf_str(&text), ret);
    buf_release(&text);
    return from;
}

/* False: not one of the pilot's ids (another model began this conversation). */
static bool
parse_id(struct str id, size_t *ret_step, int *ret_tries)
{
    char text[128];
    if (!str_starts(id, PILOT_ID_PREFIX) || id.len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)id.len, id.ptr);
    return sscanf(text + strlen(PILOT_ID_PREFIX), "%6zu_%4d_", ret_step, ret_tries) == 2;
}

static void
take_block(struct pilot_state *s, const struct block *b)
{
    size_t step;
    int tries;
    if ((b->kind != BLOCK_TOOL_USE && b->kind != BLOCK_TOOL_RESULT) ||
        !parse_id(b->id, &step, &tries) || step >= s->plan.n)
        return;
    struct pilot_past *past = &s->past[step];
    if (b->kind == BLOCK_TOOL_USE)
        *past = (struct pilot_past){.use = b, .tries = tries};
    else if (past->use && str_eq(past->use->id, b->id))
        past->result = b;
}

void
pilot_state_init(struct pilot_state *s, const struct model_request *req)
{
    *s = (struct pilot_state){.fresh = true};
    size_t after = find_plan(req, &s->plan), step;
    int tries;
    s->past = xcalloc(s->plan.n + 1, sizeof *s->past);
    for (size_t i = after; i < req->n_messages; i++)
        for (size_t k = 0; k < req->messages[i]->n_blocks; k++)
            take_block(s, &req->messages[i]->blocks[k]);
    const struct message *last =
        req->n_messages > after ? req->messages[req->n_messages - 1] : NULL;
    for (size_t k = 0; last && s->fresh && k < last->n_blocks; k++) {
        const struct block *b = &last->blocks[k];
        if (b->kind == BLOCK_TOOL_RESULT && parse_id(b->id, &step, &tries) && step < s->plan.n) {
            s->from = step;
            s->fresh = false;
        }
    }
}

void
pilot_state_release(struct pilot_state *s)
{
    pilot_plan_release(&s->plan);
    free(s->past);
}

char *
pilot_path(const struct model_request *req, const char *path)
{
    return req->cwd ? fs_join(req->cwd, path) : xstrdup(path);
}

static bool
is_error_result(const struct model_request *req, size_t from, struct str id)
{
    for (size_t i = from; i < req->n_messages; i++)
        for (size_t k = 0; k < req->messages[i]->n_blocks; k++) {
            const struct block *b = &req->messages[i]->blocks[k];
            if (b->kind == BLOCK_TOOL_RESULT && str_eq(b->id, id))
                return b->is_error;
        }
    return true; /* no result: nothing is known of the file */
}

static bool
is_of_file(const struct block *b, const char *full)
{
    if (b->kind != BLOCK_TOOL_USE ||
        !(str_is(b->name, "Read") || str_is(b->name, "Write") || str_is(b->name, "Edit")))
        return false;
    struct cJSON *input = json_parse(b->input, NULL);
    bool same = str_is(json_str(input, "file_path"), full);
    json_free(input);
    return same;
}

bool
pilot_file_known(const struct model_request *req, const char *path)
{
    char *full = pilot_path(req, path);
    bool known = false;
    for (size_t i = 0; i < req->n_messages && !known; i++)
        for (size_t k = 0; k < req->messages[i]->n_blocks && !known; k++) {
            const struct block *b = &req->messages[i]->blocks[k];
            known = is_of_file(b, full) && !is_error_result(req, i + 1, b->id);
        }
    free(full);
    return known;
}
