/* Any bytes as a session file: its records lie inside the file, in order, and its messages can be read back. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/conversation.h"
#include "store/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_lines(const char *path, size_t size)
{
    struct records l;
    struct str line;
    int64_t offset, at = 0;
    if (!records_open(&l, path, NULL))
        abort();
    if (l.torn_at >= 0 && l.torn_at + l.torn_bytes != (int64_t)size)
        abort();
    while (records_next(&l, &line, &offset)) {
        if (offset < at || offset + (int64_t)line.len > (int64_t)size)
            abort();
        at = offset + (int64_t)line.len;
    }
    if (!records_close(&l, path, NULL))
        abort();
}

static void
check_messages(struct conversation *t)
{
    bool all;
    size_t n;
    if (conversation_live(t) > conversation_len(t))
        abort();
    for (size_t i = 0; i < conversation_len(t); i++) {
        struct message *m = conversation_message(t, i);
        if (!m)
            continue;
        struct message *again = message_parse(m->json, NULL);
        if (!again || again->n_blocks != m->n_blocks)
            abort();
        message_free(again);
        message_free(m);
    }
    struct conversation_hit *hits = conversation_search(t, STR("e\""), 5, &n, &all);
    conversation_hits_free(hits, n); /* n is known only now */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    struct err err;
    int fd = memfd_create("journal", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check_lines(path, size);
    struct conversation *t = conversation_open(path, NULL, NULL, &err);
    if (!t)
        abort();
    check_messages(t);
    conversation_free(t);
    close(fd);
    return 0;
}
