#include "engine/recording.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "engine/event.h"

#define CHUNK 65536

static bool
is_object_with(struct str line, const char *key)
{
    struct cJSON *tree = json_parse(line, NULL);
    bool has = json_is_object(tree) && json_get(tree, key);
    json_free(tree);
    return has;
}

bool
recording_is_one(struct str first_line)
{
    struct str s = str_trim(first_line);
    return is_object_with(s, "recording") || is_object_with(s, "event");
}

/* More bytes of the file; false: there are none, or a line is too long for the buffer. */
static bool
read_more(struct recording_reader *r)
{
    if (r->at) {
        buf_remove_front(&r->in, r->at);
        r->at = 0;
    }
    char *to = r->ended ? NULL : buf_reserve(&r->in, CHUNK);
    if (!to)
        return false;
    ssize_t n;
    do {
        n = read(r->fd, to, CHUNK);
    } while (n < 0 && errno == EINTR);
    if (n > 0)
        buf_commit(&r->in, (size_t)n);
    r->ended = n <= 0;
    return n > 0;
}

/* A line that does not fit into memory is given cut, its rest is passed over. */
static void
skip_rest(struct recording_reader *r)
{
    for (;;) {
        r->taken += (int64_t)(r->in.len - r->at);
        buf_clear(&r->in);
        r->at = 0;
        if (!read_more(r))
            return;
        size_t nl = str_find(buf_str(&r->in), '\n', 0);
        if (nl == (size_t)-1)
            continue;
        r->at = nl + 1;
        r->taken += (int64_t)r->at;
        return;
    }
}

/* *ret_whole false: the file ends without a newline, or the line was too long. */
static bool
next_line(struct recording_reader *r, struct str *ret, bool *ret_whole)
{
    size_t from = 0, nl;
    for (;;) {
        struct str have = str_sub(buf_str(&r->in), r->at, r->in.len);
        nl = str_find(have, '\n', from);
        if (nl != (size_t)-1)
            break;
        from = have.len;
        if (read_more(r))
            continue;
        *ret = str_sub(buf_str(&r->in), r->at, r->in.len);
        *ret_whole = false;
        if (r->ended) {
            r->taken += (int64_t)ret->len;
            r->at = r->in.len;
        }
        r->number += ret->len > 0;
        return ret->len > 0;
    }
    *ret = str_sub(buf_str(&r->in), r->at, nl);
    *ret_whole = true;
    r->at += nl + 1;
    r->taken += (int64_t)nl + 1;
    r->number++;
    return true;
}

size_t
recording_find(struct str text, struct str needle)
{
    if (!needle.len)
        return (size_t)-1;
    const char both[] = {(char)tolower((unsigned char)needle.ptr[0]),
                         (char)toupper((unsigned char)needle.ptr[0])};
    for (size_t i = 0; i + needle.len <= text.len; i++)
        if ((text.ptr[i] == both[0] || text.ptr[i] == both[1]) &&
            strncasecmp(text.ptr + i, needle.ptr, needle.len) == 0)
            return i;
    return (size_t)-1;
}

/* Nearly every line is an event as event_write puts it: read once. */
static bool
judge_event(struct str s, struct recording_line *ret)
{
    if (!str_starts(s, "{\"event\":"))
        return false;
    ret->event = event_read(s, &ret->err);
    ret->kind = ret->event ? RECORDING_EVENT : RECORDING_BAD;
    return true;
}

static void
judge(struct str s, struct recording_line *ret)
{
    if (judge_event(s, ret))
        return;
    struct cJSON *tree = json_parse(s, &ret->err);
    ret->kind = RECORDING_BAD;
    if (tree && !json_is_object(tree))
        err_set(&ret->err, ERR_INVALID, "it is no JSON object");
    else if (json_get(tree, "event"))
        ret->event = event_read(s, &ret->err);
    if (ret->event)
        ret->kind = RECORDING_EVENT;
    else if (json_get(tree, "recording"))
        ret->kind = RECORDING_PART;
    else if (json_is_object(tree) && !json_get(tree, "event"))
        ret->kind = RECORDING_STEP;
    json_free(tree);
}

bool
recording_read(struct recording_reader *r, struct recording_line *ret)
{
    struct str line;
    bool whole;
    while (next_line(r, &line, &whole)) {
        *ret = (struct recording_line){.number = r->number, .text = str_trim(line)};
        ret->offset = r->taken - (int64_t)line.len - whole;
        if (!ret->text.len || (r->only.len && recording_find(line, r->only) == (size_t)-1))
            continue;
        if (!whole && !r->ended) {
            ret->kind = RECORDING_BAD;
            err_set(&ret->err, ERR_LIMIT, "it is longer than %zu bytes", r->in.max);
            skip_rest(r);
            ret->text = STR("");
            return true;
        }
        judge(ret->text, ret);
        if (ret->kind == RECORDING_BAD && !whole)
            err_set(&ret->err, ERR_INVALID,
                    "it is cut off: the recording ends in the middle of it");
        return true;
    }
    return false;
}

static bool
check_first(struct recording_reader *r, const char *path, struct err *err)
{
    size_t nl;
    bool more;
    do {
        more = read_more(r);
        nl = str_find(buf_str(&r->in), '\n', 0);
    } while (more && nl == (size_t)-1 && r->in.len < CHUNK * 16);
    struct str first = str_sub(buf_str(&r->in), 0, nl == (size_t)-1 ? r->in.len : nl);
    if (recording_is_one(first))
        return true;
    if (!r->in.len)
        return err_set(err, ERR_INVALID, "'%s' is empty: nothing was recorded in it", path);
    return err_set(err, ERR_INVALID,
                   "'%s' is no recording: its first line is none that yare --events FILE writes",
                   path);
}

bool
recording_read_open(struct recording_reader *r, const char *path, struct err *err)
{
    *r = (struct recording_reader){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    char probe;
    buf_init(&r->in, BUF_MAX);
    if (r->fd < 0)
        return err_sys(err, errno, "cannot open the recording '%s'", path);
    if (read(r->fd, &probe, 0) < 0) {
        err_sys(err, errno, "cannot read the recording '%s'", path);
        recording_read_close(r);
        return false;
    }
    if (check_first(r, path, err))
        return true;
    recording_read_close(r);
    return false;
}

bool
recording_read_seek(struct recording_reader *r, int64_t offset, struct err *err)
{
    if (lseek(r->fd, offset, SEEK_SET) < 0)
        return err_sys(err, errno, "cannot read the recording");
    buf_clear(&r->in);
    r->at = 0;
    r->taken = offset;
    r->ended = false;
    return true;
}

void
recording_read_close(struct recording_reader *r)
{
    if (r->fd > 0)
        (void)close(r->fd);
    r->fd = -1;
    buf_release(&r->in);
}
