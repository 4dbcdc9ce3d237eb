#include "store/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "store/export_md.h"

static const char *const suffixes[] = {
    [EXPORT_MARKDOWN] = "md", [EXPORT_JSON] = "json", [EXPORT_JSONL] = "jsonl"};

bool
export_format_parse(const char *name, enum export_format *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (strcmp(name, suffixes[i]))
            continue;
        *ret = (enum export_format)i;
        return true;
    }
    return false;
}

const char *
export_format_suffix(enum export_format f)
{
    return suffixes[f];
}

/* ---- JSON ---- */

static void
write_json(struct conversation *conv, FILE *out)
{
    bool first = true;
    fputs("[", out);
    for (size_t i = 0; i < conversation_len(conv); i++) {
        struct message *m = conversation_message(conv, i);
        if (m) {
            fputs(first ? "\n" : ",\n", out);
            fwrite(m->json.ptr, 1, m->json.len, out);
            first = false;
        }
        message_free(m);
    }
    fputs("\n]\n", out);
}

static bool
write_record(void *user, struct str record)
{
    FILE *out = user;
    fwrite(record.ptr, 1, record.len, out);
    return fputc('\n', out) != EOF;
}

static void
write_jsonl(struct conversation *conv, FILE *out)
{
    for (size_t i = 0; i < conversation_len(conv) && !ferror(out); i++)
        (void)conversation_records(conv, i, write_record, out);
}

bool
export_write(struct conversation *conv, const struct export_head *head, enum export_format f,
             FILE *out)
{
    if (f == EXPORT_JSON)
        write_json(conv, out);
    else if (f == EXPORT_JSONL)
        write_jsonl(conv, out);
    else
        export_markdown(conv, head, out);
    return fflush(out) == 0 && !ferror(out);
}

/* ---- the file ---- */

static int
open_target(const char *path, bool force, char **ret_temp, struct err *err)
{
    *ret_temp = force ? xasprintf("%s.XXXXXX", path) : NULL;
    int fd = force ? mkostemp(*ret_temp, O_CLOEXEC)
                   : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && !force && errno == EEXIST)
        err_set(err, ERR_INVALID, "'%s' is there already: name another file, or use --force", path);
    else if (fd < 0 && errno == ENOENT)
        err_set(err, ERR_INVALID, "'%s' is in a folder that is not there: make it, or name another",
                path);
    else if (fd < 0)
        err_sys(err, errno, "cannot make '%s'", path);
    return fd;
}

/* False: errno says why, that of the first thing that failed. */
static bool
write_and_close(int fd, struct conversation *conv, const struct export_head *head,
                enum export_format f)
{
    FILE *out = fdopen(fd, "w");
    if (!out) {
        int errnum = errno;
        close(fd);
        errno = errnum;
        return false;
    }
    errno = 0;
    bool ok = export_write(conv, head, f, out) && fsync(fd) == 0;
    int errnum = errno;
    if (fclose(out) != 0 && ok)
        return false;
    errno = errnum;
    return ok;
}

bool
export_file(struct conversation *conv, const struct export_head *head, enum export_format f,
            const char *path, bool force, struct err *err)
{
    /* A device or a pipe must not become a file, nor a link: what it leads to is replaced. */
    char *target = force ? fs_replaceable(path, err) : xstrdup(path), *temp = NULL;
    int fd = target ? open_target(target, force, &temp, err) : -1;
    bool ok = fd >= 0;
    if (ok && !(write_and_close(fd, conv, head, f) && (!force || rename(temp, target) == 0))) {
        ok = err_sys(err, errno ? errno : EIO, "cannot write '%s'", path);
        unlink(force ? temp : target);
    }
    free(temp);
    free(target);
    return ok;
}
