/* Any bytes as a session file: its records lie inside the file, in order, and its messages can be read back. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_records(const struct journal_index *ix, size_t size)
{
    int64_t at = 0;
    for (size_t i = 0; i < ix->n; i++) {
        struct str record = journal_record(ix, i);
        if (ix->entries[i].offset < at ||
            ix->entries[i].offset + ix->entries[i].len > (int64_t)size)
            abort();
        at = ix->entries[i].offset + ix->entries[i].len;
        if (record.len != ix->entries[i].len)
            abort();
        struct str uuid = journal_member(ix, i, "uuid");
        if (uuid.ptr && (uuid.ptr < record.ptr || uuid.ptr + uuid.len > record.ptr + record.len))
            abort();
    }
    if (ix->torn_at >= 0 && ix->torn_at + ix->torn_bytes != (int64_t)size)
        abort();
}

static void
check_messages(const struct journal_index *ix)
{
    struct err err;
    size_t n = 0;
    struct message **all = journal_messages(ix, &n, &err);
    for (size_t i = 0; all && i < n; i++) {
        struct message *again = message_parse(all[i]->json, NULL);
        if (!again || again->n_blocks != all[i]->n_blocks)
            abort();
        message_free(again);
        message_free(all[i]);
    }
    free(all);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    struct journal_index ix;
    struct err err;
    int fd = memfd_create("journal", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!journal_index_load(path, &ix, &err))
        abort();
    check_records(&ix, size);
    check_messages(&ix);
    journal_index_release(&ix);
    close(fd);
    return 0;
}
