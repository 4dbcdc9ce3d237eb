/* Any bytes as a record of edits, over a conversation that stands there: refused whole, or made so that the validator has a legal list. */
#include <stdlib.h>
#include <string.h>

#include "engine/tiers.h"
#include "engine/validator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N 7

/* Uuids as the corpus has them: 00000000-0000-4000-8000-00000000000N. */
static void
make(const struct message *m[N])
{
    static const char *const json[N] = {
        "{\"role\":\"user\",\"content\":\"begin\"}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":"
        "\"Read\","
        "\"input\":{}}]}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
        "\"content\":"
        "\"text\"},{\"type\":\"text\",\"text\":\"and\"}]}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go on\"}]}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"yes\"}]}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"more\"}]}"};
    for (size_t i = 0; i < N; i++) {
        struct message *one = message_parse(str_from(json[i]), NULL);
        memcpy(one->uuid, "00000000-0000-4000-8000-000000000000", 37);
        one->uuid[35] = (char)('0' + i);
        m[i] = one;
    }
}

static void
check(const struct message *const *m, const struct tier_result *r)
{
    const struct tier_view v = {.messages = m, .n = N, .bytes_per_token = 4};
    struct validator_report report;
    size_t n, at = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (r->edits[i].from < at || r->edits[i].to <= r->edits[i].from || r->edits[i].to > N)
            abort();
        at = r->edits[i].to;
    }
    const struct message **list = tier_apply(&v, r, &n);
    validator_report_init(&report);
    validator_mend(&list, &n, &report);
    size_t changes = report.changes;
    validator_mend(&list, &n, &report);
    if (report.changes != changes)
        abort();
    validator_report_release(&report);
    for (size_t i = 0; i < n; i++)
        message_free(list[i]);
    free(list);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct message *m[N];
    struct tier_result r;
    make(m);
    if (tier_read(str_make((const char *)data, size), m, N, &r))
        check(m, &r);
    else if (r.n || r.edits)
        abort();
    tier_result_release(&r);
    for (size_t i = 0; i < N; i++)
        message_free(m[i]);
    return 0;
}
