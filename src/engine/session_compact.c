/* The conversation begins anew with what a compaction left of it. */
#include <string.h>

#include "base/uuid.h"
#include "engine/session_private.h"

/* The boundary and the message are two records: where the second does not get written the first counts for nothing (what follows hangs
 * on the message before it). */
static bool
write_anew(struct core *c, const struct message *m, struct str members, struct err *err)
{
    char before[UUID_LEN + 1] = {0};
    int64_t offset;
    size_t len;
    strncpy(before, journal_parent(c->journal), UUID_LEN);
    if (!journal_compacted(c->journal, c->session_id, members, err))
        return false;
    if (!journal_append_message(c->journal, c->session_id, c->cwd, m, err)) {
        journal_set_parent(c->journal, before);
        return false;
    }
    journal_last(c->journal, &offset, &len);
    conversation_compacted(c->conv);
    conversation_add(c->conv, m, offset, len);
    return true;
}

bool
core_compact(struct core *c, const struct message *take_m, struct str members, struct err *err)
{
    struct state *st = &c->state;
    if (!session_need_journal(c, err) || !session_write_unsaved(c, err) ||
        !write_anew(c, take_m, members, err)) {
        message_free(take_m);
        return false;
    }
    const struct message **list = xcalloc(1, sizeof *list);
    list[0] = take_m;
    state_replace_messages(st, list, 1);
    st->n_sent = 0;
    st->context_tokens = 0; /* nothing of it was counted yet */
    st->n_counted = 0;
    return true;
}
