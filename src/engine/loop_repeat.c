/* The loop detector's place in the loop: what was called and answered, and the pause. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/loop_private.h"
#include "engine/repeat.h"

/* A call as it counts. */
struct called {
    uint64_t key;
    bool
        waits; /* a command that begins by waiting looks again at what may have changed meanwhile */
};

/* All of the input but the two members, either of which may be missing. */
static uint64_t
hash_without(uint64_t key, struct str input, struct str a, struct str b)
{
    struct str cuts[2] = {a, b};
    if (a.ptr > b.ptr) {
        cuts[0] = b;
        cuts[1] = a;
    }
    size_t at = 0;
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        if (!cuts[i].ptr)
            continue;
        size_t from = (size_t)(cuts[i].ptr - input.ptr);
        key = str_hash_more(key, str_sub(input, at, from - at));
        at = from + cuts[i].len;
    }
    return str_hash_more(key, str_sub(input, at, SIZE_MAX));
}

/* Of a command all but its layout, its comments and what the model says it is for, which it words anew each time. */
static struct called
called_of(const struct core *c, const struct block *use)
{
    const struct tool *t = c->seams.tool_find(use->name);
    uint64_t key = str_hash(use->name);
    struct cJSON *input = t && (t->flags & TOOL_SHELL) ? json_parse(use->input, NULL) : NULL;
    if (!input)
        return (struct called){.key = str_hash_more(key, use->input)};
    struct buf plain;
    buf_init(&plain, use->input.len);
    repeat_plain(json_str(input, "command"), &plain);
    key = str_hash_more(key, buf_str(&plain));
    struct called is = {.key = hash_without(key, use->input,
                                            json_raw_member(use->input, "description"),
                                            json_raw_member(use->input, "command")),
                        .waits = str_starts(buf_str(&plain), "sleep ")};
    buf_release(&plain);
    json_free(input);
    return is;
}

/* Made at once: a circle needs answers to go on from. */
static bool
is_second(const struct called *calls, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (calls[i].key == calls[at].key)
            return true;
    return false;
}

void
loop_note_calls(struct loop *l, const struct message *results)
{
    struct core *c = l->core;
    const struct message *answer = c->state.n >= 2 ? c->state.messages[c->state.n - 2] : NULL;
    struct called *calls = xcalloc(answer ? answer->n_blocks + 1 : 1, sizeof *calls);
    for (size_t i = 0; answer && i < answer->n_blocks; i++) {
        const struct block *use = &answer->blocks[i];
        const struct block *res =
            use->kind == BLOCK_TOOL_USE ? message_result_of(results, use->id) : NULL;
        if (use->kind == BLOCK_TOOL_USE)
            calls[i] = called_of(c, use);
        if (!res || is_second(calls, i))
            continue;
        const struct tool *t = c->seams.tool_find(use->name);
        const struct repeat_call call = {
            .what = calls[i].key,
            .answer = str_hash(res->text),
            .failed = res->is_error,
            .read_only = t && (t->flags & TOOL_READ_ONLY),
            .polls = t && (strcmp(t->name, "TaskOutput") == 0 || calls[i].waits),
        };
        repeat_note(&c->repeat, &call);
    }
    free(calls);
}

/* What the last call was, for the person. */
static char *
last_call(const struct core *c)
{
    for (size_t i = c->state.n; i-- > 0;) {
        const struct message *m = c->state.messages[i];
        for (size_t k = m->role == ROLE_ASSISTANT ? m->n_blocks : 0; k-- > 0;) {
            const struct block *b = &m->blocks[k];
            if (b->kind != BLOCK_TOOL_USE)
                continue;
            struct cJSON *tree = json_parse(b->input, NULL);
            char *what = tool_describe(c->seams.tool_find(b->name), tree, c->cwd);
            char *text = xasprintf("%.*s %.120s", (int)(b->name.len < 60 ? b->name.len : 60),
                                   b->name.ptr, what);
            json_free(tree);
            free(what);
            return text;
        }
    }
    return xstrdup("");
}

bool
loop_goes_round(struct loop *l)
{
    struct core *c = l->core;
    size_t n;
    const char *why = repeat_seen(&c->repeat, &n);
    if (!why || !config_bool(permit_config(c->permit), "pauseOnRepeat", !c->trusted, true))
        return false;
    char *call = last_call(c);
    err_set(
        &l->result->err, ERR_LIMIT,
        "stopped, the model goes round in a circle: %s (the last %zu calls; %s). Say what to do "
        "otherwise, or 'go on'",
        why, n, call);
    core_notice(c, "%s", l->result->err.text);
    free(c->repeat_told);
    c->repeat_told = xasprintf(
        "<system-reminder>\nYou were stopped because you went round in a circle: %s (the last %zu "
        "calls). Do not do the same again: look at what the answers say, and try another way or "
        "ask.\n</system-reminder>",
        why, n);
    free(call);
    return true;
}

bool
loop_tell_repeat(struct loop *l)
{
    struct core *c = l->core;
    repeat_reset(&c->repeat);
    if (!c->repeat_told)
        return true;
    bool ok = loop_append_hidden(l, c->repeat_told);
    free(c->repeat_told);
    c->repeat_told = NULL;
    return ok;
}
