#include "store/conversation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/conversation_impl.h"
#include "store/journal_scan.h"
#include "store/records.h"

/* A record larger than this does not stay in memory when the next one is asked for. */
#define RECORD_KEPT ((size_t)1 << 20)

struct conversation *
conversation_open(const char *path, conversation_note note, void *user, struct err *err)
{
    struct conversation *t = xcalloc(1, sizeof *t);
    t->path = xstrdup(path);
    t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0)
        err_sys(err, errno, "cannot open '%s'", path);
    else if (conversation_scan(t, note, user, err))
        return t;
    conversation_free(t);
    return NULL;
}

void
conversation_free(struct conversation *t)
{
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    free(t->path);
    free(t->entries);
    free(t->first);
    free(t->record);
    free(t);
}

/* ---- where they stand ---- */

/* From here on messages are not numbered as entries are. */
static void
number_apart(struct conversation *t)
{
    t->cap_first = t->n_messages + 64;
    t->first = xcalloc(t->cap_first, sizeof *t->first);
    for (size_t i = 0; i < t->n_messages; i++)
        t->first[i] = i;
}

void
conversation_take_entry(struct conversation *t, const struct conversation_entry *e)
{
    ARRAY_GROW(t->entries, t->n, t->cap);
    t->entries[t->n++] = *e;
    if (e->more && !t->first)
        number_apart(t);
    if (e->more)
        return;
    if (t->first) {
        ARRAY_GROW(t->first, t->n_messages, t->cap_first);
        t->first[t->n_messages] = t->n - 1;
    }
    t->n_messages++;
}

size_t
conversation_first(const struct conversation *t, size_t i)
{
    if (i >= t->n_messages)
        return t->n;
    return t->first ? t->first[i] : i;
}

size_t
conversation_len(const struct conversation *t)
{
    return t ? t->n_messages : 0;
}

size_t
conversation_live(const struct conversation *t)
{
    return t ? t->live : 0;
}

int64_t
conversation_bytes(const struct conversation *t, size_t from, size_t to)
{
    int64_t sum = 0;
    if (!t)
        return 0;
    for (size_t i = conversation_first(t, from); i < conversation_first(t, to); i++)
        sum += t->entries[i].len;
    return sum;
}

int64_t
conversation_torn(const struct conversation *t)
{
    return t->torn_bytes;
}

size_t
conversation_unread(const struct conversation *t)
{
    return t->unread;
}

bool
conversation_is_user(const struct conversation *t, size_t i)
{
    return i < conversation_len(t) && t->entries[conversation_first(t, i)].user;
}

/* ---- reading ---- */

struct str
conversation_read(struct conversation *t, size_t entry)
{
    const struct conversation_entry *e = &t->entries[entry];
    if (t->cap_record > RECORD_KEPT || t->cap_record < e->len) {
        free(t->record);
        t->cap_record = e->len;
        t->record = xmalloc(e->len + 1);
    }
    if (records_pread(t->fd, t->record, e->len, e->offset))
        return str_make(t->record, e->len);
    log_warn("store", "'%s': cannot read the record at %lld: %s", t->path, (long long)e->offset,
             strerror(errno));
    return (struct str){0};
}

struct message *
conversation_message(struct conversation *t, size_t i)
{
    struct message *m = NULL;
    if (i >= conversation_len(t))
        return NULL;
    size_t end = conversation_first(t, i + 1);
    for (size_t k = conversation_first(t, i); k < end; k++) {
        struct message *part = conversation_parse(conversation_read(t, k));
        if (!part)
            log_warn("store", "'%s': the message at %lld cannot be read", t->path,
                     (long long)t->entries[k].offset);
        m = m && part ? conversation_join(m, part) : m ? m : part;
    }
    return m;
}

/* A message may be of several records: results, and the lines that the person ran behind them. */
char *
conversation_ends(struct conversation *t, size_t i)
{
    if (!conversation_is_user(t, i))
        return NULL;
    struct buf all;
    buf_init(&all, BUF_MAX);
    size_t end = conversation_first(t, i + 1);
    for (size_t k = conversation_first(t, i); k < end; k++) {
        struct journal_want want = {.key = "toolEnds"};
        struct str record = conversation_read(t, k);
        if (!record.ptr || !journal_scan(record, &want, 1))
            continue;
        struct str list = str_trim(want.raw);
        if (!str_starts(list, "[") || !str_ends(list, "]") || list.len <= 2)
            continue;
        buf_addc(&all, all.len ? ',' : '[');
        buf_add_str(&all, str_sub(list, 1, list.len - 2));
    }
    if (all.len)
        buf_addc(&all, ']');
    if (all.len && !buf_full(&all))
        return buf_take(&all);
    buf_release(&all);
    return NULL;
}

size_t
conversation_index(const struct conversation *t, struct str uuid)
{
    size_t i = conversation_len(t);
    uint64_t want = str_hash(uuid);
    while (i > 0) {
        size_t end = conversation_first(t, i--);
        for (size_t k = conversation_first(t, i); k < end; k++)
            if (t->entries[k].uuid == want)
                return i;
    }
    return conversation_len(t);
}

bool
conversation_records(struct conversation *t, size_t i, bool (*fn)(void *user, struct str record),
                     void *user)
{
    if (i >= conversation_len(t))
        return false;
    size_t end = conversation_first(t, i + 1);
    for (size_t k = conversation_first(t, i); k < end; k++) {
        struct str record = conversation_read(t, k);
        if (!record.ptr || !fn(user, record))
            return false;
    }
    return true;
}

/* ---- what the writer does meanwhile ---- */

void
conversation_add(struct conversation *t, const struct message *m, int64_t offset, size_t len)
{
    conversation_take_entry(t, &(struct conversation_entry){.offset = offset,
                                                            .uuid = str_hash(str_from(m->uuid)),
                                                            .len = (uint32_t)len,
                                                            .user = m->role == ROLE_USER});
}

bool
conversation_rewind(struct conversation *t, const char *uuid)
{
    uint64_t want = str_hash(str_from(uuid));
    size_t keep = 0;
    for (size_t i = t->n; *uuid && i > 0 && !keep; i--)
        if (t->entries[i - 1].uuid == want)
            keep = i;
    if (*uuid && !keep)
        return false;
    t->n = keep;
    while (t->n_messages && conversation_first(t, t->n_messages - 1) >= keep)
        t->n_messages--;
    if (t->live > t->n_messages)
        t->live = t->n_messages;
    return true;
}

void
conversation_compacted(struct conversation *t)
{
    t->live = t->n_messages;
}
