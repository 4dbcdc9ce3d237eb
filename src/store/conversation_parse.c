/* A record of a journal as a message. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/uuid.h"
#include "store/conversation_impl.h"
#include "store/journal_scan.h"

/* A message as the API takes it: role and content alone, byte for byte. Other programs keep more in there. */
static struct message *
parse_message(struct str raw)
{
    struct journal_want want[] = {
        {.key = "role"}, {.key = "content"}, {.key = "id"}, {.key = "model"}};
    if (!journal_scan(raw, want, ARRAY_LEN(want)))
        return NULL;
    if (journal_scan_count(raw) == 2)
        return message_parse(raw, NULL);
    struct buf json;
    struct jw w;
    buf_init(&json, BUF_MAX);
    jw_init(&w, &json);
    jw_object(&w);
    if (want[0].raw.len && want[1].raw.len) {
        jw_kraw(&w, "role", want[0].raw);
        jw_kraw(&w, "content", want[1].raw);
    }
    jw_end(&w);
    struct message *m = buf_full(&json) ? NULL : message_parse(buf_str(&json), NULL);
    if (m && !m->api_id)
        m->api_id = journal_decode(want[2].raw);
    if (m && !m->model)
        m->model = journal_decode(want[3].raw);
    buf_release(&json);
    return m;
}

static void
take_text(char **to, struct str raw)
{
    if (!raw.ptr)
        return;
    free(*to);
    *to = journal_decode(raw);
}

struct message *
conversation_parse(struct str record)
{
    struct journal_want want[] = {{.key = "message"},   {.key = "isMeta"}, {.key = "partial"},
                                  {.key = "timestamp"}, {.key = "model"},  {.key = "apiId"},
                                  {.key = "uuid"}};
    journal_scan(record, want, ARRAY_LEN(want));
    struct message *m = parse_message(want[0].raw);
    if (!m)
        return NULL;
    struct str uuid = journal_plain(want[6].raw);
    if (uuid.len == UUID_LEN) {
        memcpy(m->uuid, uuid.ptr, UUID_LEN);
        m->uuid[UUID_LEN] = '\0';
    }
    m->hidden = str_is(want[1].raw, "true");
    m->partial = str_is(want[2].raw, "true");
    m->wall_ms = journal_time(want[3].raw);
    take_text(&m->model, want[4].raw);
    take_text(&m->api_id, want[5].raw);
    return m;
}

struct message *
conversation_join(struct message *take_a, struct message *take_b)
{
    struct buf json;
    buf_init(&json, BUF_MAX);
    buf_adds(&json, "{\"role\":\"assistant\",\"content\":[");
    const struct message *both[] = {take_a, take_b};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->n_blocks; i++) {
            if (json.data[json.len - 1] != '[')
                buf_addc(&json, ',');
            buf_add_str(&json, both[k]->blocks[i].raw);
        }
    buf_adds(&json, "]}");
    struct message *m = buf_full(&json) ? NULL : message_parse(buf_str(&json), NULL);
    buf_release(&json);
    if (!m) { /* larger than anything may be */
        message_free(take_b);
        return take_a;
    }
    memcpy(m->uuid, take_b->uuid, sizeof m->uuid);
    m->model = xstrdup(take_b->model);
    m->api_id = xstrdup(take_b->api_id);
    m->hidden = take_b->hidden;
    m->partial = take_b->partial;
    m->wall_ms = take_b->wall_ms;
    message_free(take_a);
    message_free(take_b);
    return m;
}
