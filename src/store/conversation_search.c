/* Finding in a transcript, one record at a time. */
#include <stdlib.h>
#include <string.h>

#include "store/conversation_impl.h"
#include "store/find.h"

static bool
look(struct conversation *t, size_t i, struct str what, struct conversation_hit *ret)
{
    struct message *m = conversation_message(t, i);
    bool found = false;
    for (size_t k = 0; m && k < m->n_blocks && !found; k++) {
        const struct block *b = &m->blocks[k];
        struct str text = b->kind == BLOCK_TOOL_USE ? b->input : b->text;
        size_t len, at = b->kind == BLOCK_IMAGE ? SIZE_MAX : find_fold(text, what, &len);
        found = at != SIZE_MAX;
        if (!found)
            continue;
        *ret = (struct conversation_hit){.index = i, .user = m->role == ROLE_USER};
        memcpy(ret->uuid, m->uuid, sizeof ret->uuid);
        ret->excerpt = find_excerpt(text, at);
    }
    message_free(m);
    return found;
}

static bool
may_hold(struct conversation *t, size_t i, const struct finder *f)
{
    size_t end = conversation_first(t, i + 1);
    for (size_t k = conversation_first(t, i); k < end; k++)
        if (finder_may_hold(f, conversation_read(t, k)))
            return true;
    return false;
}

struct conversation_hit *
conversation_search(struct conversation *t, struct str what, size_t max, size_t *ret_n,
                    bool *ret_all)
{
    struct finder f;
    struct conversation_hit *hits = xcalloc(max + 1, sizeof *hits);
    size_t n = 0, i = what.len ? conversation_len(t) : 0;
    finder_init(&f, what);
    while (i > 0 && n < max) {
        i--;
        if (may_hold(t, i, &f) && look(t, i, what, &hits[n]))
            n++;
    }
    for (size_t k = 0; k < n / 2; k++) {
        struct conversation_hit other = hits[k];
        hits[k] = hits[n - 1 - k];
        hits[n - 1 - k] = other;
    }
    *ret_n = n;
    *ret_all = i == 0;
    return hits;
}

void
conversation_hits_free(struct conversation_hit *hits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(hits[i].excerpt);
    free(hits);
}
