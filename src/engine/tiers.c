#include "engine/tiers.h"

#include <stdlib.h>
#include <string.h>

#include "engine/hidden.h"
#include "engine/tier_private.h"

#define KEEP_MOST 40    /* messages */
#define KEEP_LEAST 2    /* messages, whatever they weigh */
#define KEEP_PERCENT 30 /* of the window, of the last few */

/* ---- results ---- */

void
tier_result_release(struct tier_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < r->edits[i].n_with; k++)
            message_free(r->edits[i].with[k]);
        free(r->edits[i].with);
        free(r->edits[i].what);
    }
    for (size_t i = 0; i < r->n_keeps; i++) {
        message_free(r->keeps[i].m);
        free(r->keeps[i].path);
    }
    free(r->edits);
    free(r->keeps);
    *r = (struct tier_result){0};
}

struct tier_edit *
tier_edit_add(struct tier_result *r)
{
    ARRAY_GROW(r->edits, r->n, r->cap);
    r->edits[r->n] = (struct tier_edit){0};
    return &r->edits[r->n++];
}

void
tier_result_finish(const struct tier_view *v, struct tier_result *r)
{
    r->before = r->after = v->used;
    for (size_t i = 0; i < r->n; i++)
        r->after -= r->edits[i].saved;
    if (r->after < 0)
        r->after = 0;
}

char *
tier_keep_path(const char *dir, struct str id, struct str text)
{
    uint64_t h = str_hash_more(str_hash(id), text);
    return xasprintf("%s/old-%016llx.txt", dir, (unsigned long long)h);
}

void
tier_keep_add(struct tier_result *r, const struct message *m, size_t block, char *take_path)
{
    ARRAY_GROW(r->keeps, r->n_keeps, r->cap_keeps);
    r->keeps[r->n_keeps++] = (struct tier_keep){message_ref(m), block, take_path};
}

/* ---- weighing ---- */

/* A result whose content is an image has no text, and its bytes say nothing of its price. */
static bool
holds_image(const struct block *b)
{
    return b->kind == BLOCK_IMAGE ||
           (b->kind == BLOCK_TOOL_RESULT && b->raw.len > 2 * TIER_IMAGE_BYTES &&
            b->raw.len / 2 > b->text.len &&
            str_contains(str_sub(b->raw, 0, 1024), STR("\"type\":\"image\"")));
}

size_t
tier_weight(const struct message *m)
{
    size_t n = m->json.len;
    for (size_t i = 0; i < m->n_blocks; i++)
        if (m->blocks[i].raw.len > TIER_IMAGE_BYTES && holds_image(&m->blocks[i]))
            n -= m->blocks[i].raw.len - TIER_IMAGE_BYTES;
    return n;
}

int64_t
tier_tokens(const struct tier_view *v, const struct message *m)
{
    return (int64_t)((double)tier_weight(m) / v->bytes_per_token) + 1;
}

size_t
tier_keep_from(const struct tier_view *v)
{
    size_t from = v->n > TIERS_KEEP_LAST ? v->n - TIERS_KEEP_LAST : 0;
    int64_t sum = 0, room = v->window / 10;
    for (size_t i = from; i < v->n; i++)
        sum += tier_tokens(v, v->messages[i]);
    /* In a small window the last few alone may be more than what is to be left over. */
    for (; v->window > 0 && sum > v->window * KEEP_PERCENT / 100 && v->n - from > KEEP_LEAST;
         from++)
        sum -= tier_tokens(v, v->messages[from]);
    while (from > 0 && v->n - from < KEEP_MOST) {
        sum += tier_tokens(v, v->messages[from - 1]);
        if (sum > room)
            break;
        from--;
    }
    return from;
}

/* ---- who said it ---- */

bool
tier_is_typed(const struct message *m, size_t block)
{
    const struct block *b = &m->blocks[block];
    if (m->role != ROLE_USER || m->hidden || b->kind == BLOCK_TOOL_RESULT)
        return false;
    return b->kind != BLOCK_TEXT || !str_starts(b->text, HIDDEN_TAG);
}

bool
tier_is_fold(const struct message *m)
{
    return m->role == ROLE_USER && m->n_blocks && m->blocks[0].kind == BLOCK_TEXT &&
           str_starts(m->blocks[0].text, HIDDEN_TAG "\n[folded: ");
}

bool
tier_is_kept_tool(struct str name)
{
    static const char *const names[] = {"TodoWrite", "AskUserQuestion", "ExitPlanMode",
                                        "Skill",     "Agent",           "Task"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* ---- the edited list ---- */

static void
push(const struct message **list, size_t *n, const struct message *m)
{
    list[(*n)++] = message_ref(m);
}

const struct message **
tier_apply(const struct tier_view *v, const struct tier_result *r, size_t *ret_n)
{
    size_t cap = v->n + 1, n = 0, at = 0;
    for (size_t i = 0; i < r->n; i++)
        cap += r->edits[i].n_with;
    const struct message **list = xcalloc(cap, sizeof *list);
    for (size_t i = 0; i < r->n; i++) {
        const struct tier_edit *e = &r->edits[i];
        for (; at < e->from; at++)
            push(list, &n, v->messages[at]);
        for (size_t k = 0; k < e->n_with; k++)
            push(list, &n, e->with[k]);
        at = e->to;
    }
    for (; at < v->n; at++)
        push(list, &n, v->messages[at]);
    *ret_n = n;
    return list;
}
