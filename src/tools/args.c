#include "tools/args.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"

enum { DESCRIBED_MAX = 4000 };

bool
tool_read_num(const struct cJSON *n, double *ret)
{
    if (json_is_num(n)) {
        *ret = json_value_num(n);
        return true;
    }
    struct str s = json_value_str(n);
    if (!s.ptr || !s.len || s.len > 32)
        return false;
    char text[33], *end;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    errno = 0;
    double v = strtod(text, &end);
    if (*end || errno || !isfinite(v) || text[0] == ' ')
        return false;
    *ret = v;
    return true;
}

bool
tool_read_int(const struct cJSON *n, int64_t *ret)
{
    double v;

    if (!tool_read_num(n, &v) || v != floor(v) || v < -9e15 || v > 9e15)
        return false;
    *ret = (int64_t)v;
    return true;
}

bool
tool_read_bool(const struct cJSON *n, bool *ret)
{
    struct str s = json_value_str(n);

    if (json_is_bool(n))
        *ret = json_bool(n, "", false);
    else if (s.ptr && (str_is(s, "true") || str_is(s, "True")))
        *ret = true;
    else if (s.ptr && (str_is(s, "false") || str_is(s, "False")))
        *ret = false;
    else
        return false;
    return true;
}

struct str
tool_arg_str(const struct cJSON *input, const char *key)
{
    const struct cJSON *m = json_get(input, key);

    return m ? json_value_str(m) : str_make(NULL, 0);
}

bool
tool_arg_bool(const struct cJSON *input, const char *key, bool fallback)
{
    const struct cJSON *m = json_get(input, key);
    bool v;

    return m && tool_read_bool(m, &v) ? v : fallback;
}

int64_t
tool_arg_int(const struct cJSON *input, const char *key, int64_t fallback)
{
    const struct cJSON *m = json_get(input, key);
    int64_t v;

    return m && tool_read_int(m, &v) ? v : fallback;
}

char *
tool_path_arg(const struct tool_ctx *ctx, const struct cJSON *input, const char *key)
{
    struct str s = tool_arg_str(input, key);

    if (!s.ptr || !s.len)
        return NULL;
    char *path = str_dup(s), *full;
    if (ctx->home && (strcmp(path, "~") == 0 || strncmp(path, "~/", 2) == 0))
        full = fs_normalize(ctx->home, path[1] ? path + 2 : ".");
    else
        full = fs_normalize(ctx->cwd, path);
    free(path);
    return full;
}

const char *
tool_path_shown(const char *path, const char *cwd)
{
    size_t n = cwd ? strlen(cwd) : 0;

    if (n > 1 && strncmp(path, cwd, n) == 0 && path[n] == '/' && path[n + 1])
        return path + n + 1;
    return path;
}

void
tool_describe_path(const struct cJSON *input, const char *key, const char *cwd, struct buf *out)
{
    struct str s = tool_arg_str(input, key);

    if (!s.ptr)
        return;
    char *path = str_dup(s);
    buf_adds(out, tool_path_shown(path, cwd));
    free(path);
}

char *
tool_describe(const struct tool *t, const struct cJSON *input, const char *cwd)
{
    struct buf line;

    buf_init(&line, BUF_MAX);
    if (t && t->describe && input)
        t->describe(input, cwd, &line);
    if (line.len > DESCRIBED_MAX) {
        buf_truncate(&line, tool_char_start(buf_str(&line), DESCRIBED_MAX));
        buf_adds(&line, " ...");
    }
    return buf_take(&line);
}

size_t
tool_clean_text(struct buf *out, struct str s)
{
    size_t replaced = 0;

    while (s.len) {
        const char *nul = memchr(s.ptr, '\0', s.len);
        size_t n = nul ? (size_t)(nul - s.ptr) : s.len;
        replaced += text_repair(out, str_sub(s, 0, n));
        if (nul) {
            buf_adds(out, "\xEF\xBF\xBD");
            replaced++;
            n++;
        }
        s = str_sub(s, n, s.len);
    }
    return replaced;
}

size_t
tool_count_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return n;
}

size_t
tool_char_offset(struct str s, size_t n)
{
    for (size_t i = 0; i < s.len; i++)
        if (((unsigned char)s.ptr[i] & 0xC0) != 0x80 && n-- == 0)
            return i;
    return s.len;
}

size_t
tool_char_start(struct str s, size_t at)
{
    for (int back = 0; at > 0 && at < s.len && back < 3; back++, at--)
        if (((unsigned char)s.ptr[at] & 0xC0) != 0x80)
            break;
    return at;
}
