/* A file that calls itself a recording: it is read to its end whatever stands in it, and an event that was understood is the same once
 * more when it is written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "engine/event.h"
#include "engine/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
write_twice(const struct event *e)
{
    struct buf once, twice;
    struct err err = {0};
    buf_init(&once, BUF_MAX);
    buf_init(&twice, BUF_MAX);
    event_write(e, &once);
    struct event *again = event_read(buf_str(&once), &err);
    if (!again)
        abort();
    event_write(again, &twice);
    if (!str_eq(buf_str(&once), buf_str(&twice)))
        abort();
    event_free(again);
    buf_release(&once);
    buf_release(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char header[] = "{\"recording\":\"yare events\"}\n";
    struct recording_reader in;
    struct recording_line l;
    struct err err = {0};
    char path[64];
    int fd = memfd_create("recording", MFD_CLOEXEC);
    if (fd < 0 || write(fd, header, sizeof header - 1) < 0 ||
        (size && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!recording_read_open(&in, path, &err))
        abort();
    int number = 0;
    while (recording_read(&in, &l)) {
        if (l.number <= number || (l.kind == RECORDING_BAD) != (l.err.code != ERR_NONE))
            abort();
        number = l.number;
        if (l.kind == RECORDING_EVENT)
            write_twice(l.event);
        event_free(l.event);
    }
    if (in.taken != (int64_t)(size + sizeof header - 1))
        abort();
    recording_read_close(&in);
    close(fd);
    return 0;
}
