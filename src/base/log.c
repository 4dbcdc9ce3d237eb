#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"

/* Set before the second thread starts; afterwards only turned off, by a thread that cannot write. */
static _Atomic(enum log_level) log_level;
static int log_fd = -1;

enum { TEXT_MAX = 16384 };

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

static enum log_level
parse_level(struct str s)
{
    for (int i = LOG_DEBUG; i > LOG_OFF; i--)
        if (str_is(s, level_names[i]))
            return (enum log_level)i;
    return LOG_OFF;
}

void
log_setup(const char *spec, const char *default_path)
{
    if (!spec || !*spec)
        return;
    struct str rest = str_from(spec), part;
    char *path = xstrdup(default_path);
    while (str_split(&rest, ',', &part)) {
        if (str_starts(part, "file=")) {
            free(path);
            path = str_dup(str_sub(part, 5, part.len));
        } else {
            log_level = parse_level(part);
        }
    }
    if (log_level != LOG_OFF && path) {
        char *dir = fs_dirname(path);
        if (fs_mkdirs(dir, 0700, NULL))
            log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        free(dir);
        if (log_fd < 0) {
            fprintf(stderr, "yare: cannot open the log file '%s'\n", path);
            log_level = LOG_OFF;
        }
    }
    free(path);
}

bool
log_on(enum log_level level)
{
    return log_fd >= 0 && level <= log_level;
}

void
log_write(enum log_level level, const char *module, const char *file, int line, const char *fmt,
          ...)
{
    struct buf text, out;
    va_list ap;

    buf_init(&text, TEXT_MAX);
    buf_init(&out, (size_t)16 * TEXT_MAX); /* escapes are longer than what they show */
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    if (buf_full(&text))
        buf_adds(&text, "(a text too long for the log)");
    clock_iso8601(clock_wall_ms(), &out);
    buf_addf(&out, " %-5s [%d] %s %s:%d ", level_names[level], (int)gettid(), module,
             fs_basename(file), line);
    text_visible(&out, buf_str(&text));
    for (size_t i = 0; i < out.len; i++)
        if (out.data[i] == '\n')
            out.data[i] = ' ';
    buf_addc(&out, '\n');
    if (!fs_write_all(log_fd, buf_str(&out), NULL))
        log_level = LOG_OFF; /* the disk is full or gone: a log must not disturb the work */
    buf_release(&text);
    buf_release(&out);
}
