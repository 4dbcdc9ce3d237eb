#include "tools/edit_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "tools/args.h"
#include "tools/at.h"
#include "tools/filestate.h"
#include "tools/newfile.h"
#include "tools/patch.h"

enum { DIFF_LINES_SHOWN = 40, LINES_NAMED = 10 };

void
edit_plan_init(struct edit_plan *p)
{
    *p = (struct edit_plan){.is_new = false};
    text_file_init(&p->file);
    buf_init(&p->after, (size_t)TEXT_FILE_MAX * 3);
    buf_init(&p->raw, TEXT_FILE_MAX);
    buf_init(&p->why, BUF_MAX);
}

void
edit_plan_release(struct edit_plan *p)
{
    text_file_release(&p->file);
    buf_release(&p->after);
    buf_release(&p->raw);
    buf_release(&p->why);
    free(p->path);
    free(p->resolved);
}

static bool refuse(struct edit_plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool
refuse(struct edit_plan *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&p->why, fmt, ap);
    va_end(ap);
    return false;
}

static bool
refuse_stale(struct edit_plan *p, const struct tool_ctx *ctx)
{
    struct buf before, decoded;

    refuse(p, "File has been modified since it was read: %s. Read it again before changing it.",
           p->shown);
    buf_init(&before, BUF_MAX);
    buf_init(&decoded, BUF_MAX);
    if (file_state_content(ctx->files, p->resolved, &before)) {
        struct text_file old;
        text_file_init(&old);
        buf_add_str(&old.raw, buf_str(&before));
        text_file_decode(&old);
        buf_adds(&p->why, " What changed:\n");
        patch_short(buf_str(&old.text), buf_str(&p->file.text), DIFF_LINES_SHOWN, &p->why);
        text_file_release(&old);
    }
    buf_release(&decoded);
    buf_release(&before);
    return false;
}

static bool
check_known(struct edit_plan *p, const struct tool_ctx *ctx)
{
    if (!ctx->files)
        return true;
    switch (file_state_check(ctx->files, p->resolved, p->file.mtime_ns, buf_str(&p->file.raw))) {
    case FILE_FRESH:
        return true;
    case FILE_CHANGED:
        return refuse_stale(p, ctx);
    case FILE_UNSEEN:
        break;
    }
    return refuse(p, "File has not been read yet: %s. Read it first before writing to it.",
                  p->shown);
}

bool
edit_plan_open(struct edit_plan *p, const struct tool_ctx *ctx, const struct cJSON *input)
{
    struct err err = {.code = ERR_NONE};

    p->path = tool_path_arg(ctx, input, "file_path");
    if (!p->path)
        return refuse(p, "'file_path' must not be empty");
    p->shown = tool_path_shown(p->path, ctx->cwd);
    p->resolved = at_resolve(ctx, p->path, &err);
    if (!p->resolved)
        return refuse(p, "%s", err.text);
    text_file_release(&p->file);
    if (text_file_load(p->resolved, &p->file, &err))
        return check_known(p, ctx);
    if (err.sys != ENOENT)
        return refuse(p, "%s", err.text);
    p->is_new = true;
    return true;
}

/* The line ending in use around `at`: that of the next line end, else of the one before. */
static bool
uses_crlf(struct str text, size_t at)
{
    size_t nl = str_find(text, '\n', at);

    if (nl == (size_t)-1) {
        const char *p = at ? memrchr(text.ptr, '\n', at) : NULL;
        if (!p)
            return false;
        nl = (size_t)(p - text.ptr);
    }
    return nl > 0 && text.ptr[nl - 1] == '\r';
}

static void
add_with_crlf(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\n' && (i == 0 || s.ptr[i - 1] != '\r'))
            buf_addc(out, '\r');
        buf_addc(out, s.ptr[i]);
    }
}

/* Bytes that both begin with, and end with past that, cut at characters. They stay as they are in the file, so that its own
 * quotes, blanks and line ends in unchanged parts survive. */
static void
common_ends(struct str a, struct str b, size_t *ret_head, size_t *ret_tail)
{
    size_t head = 0, tail = 0, n = a.len < b.len ? a.len : b.len;

    while (head < n && a.ptr[head] == b.ptr[head])
        head++;
    while (head > 0 && head < a.len && ((unsigned char)a.ptr[head] & 0xC0) == 0x80)
        head--;
    while (head > 0 && head < b.len && ((unsigned char)b.ptr[head] & 0xC0) == 0x80)
        head--;
    while (tail < n - head && a.ptr[a.len - 1 - tail] == b.ptr[b.len - 1 - tail])
        tail++;
    while (tail > 0 && ((unsigned char)a.ptr[a.len - tail] & 0xC0) == 0x80)
        tail--;
    *ret_head = head;
    *ret_tail = tail;
}

struct replacing {
    struct edit_plan *p;
    struct str old, new_text;
    const struct edit_matches *ms;
    struct text_change *changes;
    struct buf crlf; /* the inserted text with "\r\n" */
};

static void
make_changes(struct replacing *r)
{
    struct str text = buf_str(&r->p->file.text), middle;
    size_t head = 0, tail = 0;

    if (!r->ms->bytes)
        common_ends(r->old, r->new_text, &head, &tail);
    middle = str_sub(r->new_text, head, r->new_text.len - head - tail);
    add_with_crlf(&r->crlf, middle);
    r->changes = xcalloc(r->ms->n, sizeof *r->changes);
    for (size_t i = 0; i < r->ms->n; i++) {
        struct edit_place pl = r->ms->places[i];
        size_t from = pl.at, to = pl.at + pl.len;
        if (!r->ms->bytes) {
            from = edit_match_offset(text, pl, r->old, head, r->ms->tolerance);
            to = edit_match_offset(text, pl, r->old, r->old.len - tail, r->ms->tolerance);
        }
        if (to < from)
            to = from;
        bool crlf = !r->ms->bytes && uses_crlf(text, from);
        r->changes[i] = (struct text_change){from, to - from, crlf ? buf_str(&r->crlf) : middle};
    }
}

static void
make_after(struct edit_plan *p, const struct text_change *changes, size_t n)
{
    struct str text = buf_str(&p->file.text);
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        buf_add_str(&p->after, str_sub(text, at, changes[i].at - at));
        if (i == 0)
            p->first_at = p->after.len;
        buf_add_str(&p->after, changes[i].with);
        p->last_end = p->after.len;
        at = changes[i].at + changes[i].len;
    }
    buf_add_str(&p->after, str_sub(text, at, text.len));
    p->n_changes = n;
}

static bool
refuse_missing(struct edit_plan *p, struct str old)
{
    size_t number;
    struct str line, want;

    refuse(p, "String to replace was not found in %s.", p->shown);
    if (edit_nearest_line(buf_str(&p->file.text), old, &number, &line, &want)) {
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        refuse(p, " The nearest line is %zu:\n  in the file: ", number);
        edit_show_line(&p->why, line);
        buf_adds(&p->why, "\n  old_string:  ");
        edit_show_line(&p->why, want);
        if (str_eq(line, want))
            buf_adds(&p->why, "\nThese are the same; the lines around them differ.");
        else if (str_eq(str_trim(line), str_trim(want)))
            buf_adds(&p->why, "\nOnly blanks differ (→ is a tab, · a space).");
        else
            buf_adds(&p->why, "\n(→ is a tab, · a space at an end.)");
    }
    return refuse(p, "\nRead that part of the file again and copy the text exactly.");
}

static bool
refuse_many(struct edit_plan *p, const struct edit_matches *ms)
{
    refuse(p,
           "Found %zu%s matches of the string to replace in %s, but replace_all is false. Set "
           "replace_all to "
           "replace them all, or give more of the lines around the one that is meant. They are at "
           "line ",
           ms->n, ms->more ? "+" : "", p->shown);
    for (size_t i = 0; i < ms->n && i < LINES_NAMED; i++)
        refuse(p, "%s%zu", i ? ", " : "",
               edit_line_number(buf_str(&p->file.text), ms->places[i].at));
    return refuse(p, "%s.", ms->n > LINES_NAMED ? ", ..." : "");
}

static bool
replace(struct edit_plan *p, struct str old, struct str new_text, const struct edit_matches *ms)
{
    struct replacing r = {.p = p, .old = old, .new_text = new_text, .ms = ms};
    struct err err;

    buf_init(&r.crlf, BUF_MAX);
    make_changes(&r);
    make_after(p, r.changes, ms->n);
    bool ok = text_file_apply(&p->file, r.changes, ms->n, &p->raw, &err);
    if (ok && (buf_full(&p->after) || buf_full(&r.crlf)))
        ok = err_set(&err, ERR_LIMIT, "the file would become too large");
    if (!ok)
        refuse(p, "%s", err.text);
    free(r.changes);
    buf_release(&r.crlf);
    p->tolerance = ms->tolerance;
    return ok;
}

/* Without "\r": "\n" in it stands for any line end. */
static void
to_lf(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.len; i++)
        if (!(s.ptr[i] == '\r' && i + 1 < s.len && s.ptr[i + 1] == '\n'))
            buf_addc(out, s.ptr[i]);
}

static bool
edit_existing(struct edit_plan *p, struct str old, struct str new_text, bool all)
{
    struct edit_matches ms;
    struct buf lf_old, lf_new;
    bool ok;

    buf_init(&lf_old, BUF_MAX);
    buf_init(&lf_new, BUF_MAX);
    edit_match(buf_str(&p->file.text), old, &ms);
    if (!ms.n && str_find(old, '\r', 0) != (size_t)-1) {
        to_lf(old, &lf_old);
        to_lf(new_text, &lf_new);
        old = buf_str(&lf_old);
        new_text = buf_str(&lf_new);
        free(ms.places);
        edit_match(buf_str(&p->file.text), old, &ms);
    }
    if (!ms.n)
        ok = refuse_missing(p, old);
    else if (ms.more || (ms.n > 1 && !all))
        ok = ms.more && all ? refuse(p, "More than %d matches; use sed for that.", EDIT_MAX_PLACES)
                            : refuse_many(p, &ms);
    else
        ok = replace(p, old, new_text, &ms);
    free(ms.places);
    buf_release(&lf_old);
    buf_release(&lf_new);
    return ok;
}

bool
edit_plan_edit(struct edit_plan *p, const struct cJSON *input)
{
    struct str old = tool_arg_str(input, "old_string"),
               new_text = tool_arg_str(input, "new_string");

    if (p->is_new && old.len)
        return refuse(
            p, "File does not exist: %s. To make it, use Write, or Edit with an empty old_string.",
            p->path);
    if (!old.len && !p->is_new && p->file.text.len)
        return refuse(p,
                      "old_string is empty, but %s exists and is not empty. Say what to replace, "
                      "or use Write.",
                      p->shown);
    if (!old.len)
        return edit_plan_write(p, new_text);
    return edit_existing(p, old, new_text, tool_arg_bool(input, "replace_all", false));
}

/* Every line end of the text is "\r\n", and there is one. */
static bool
all_crlf(struct str text)
{
    size_t nl, at = 0, n = 0;

    for (; (nl = str_find(text, '\n', at)) != (size_t)-1; at = nl + 1, n++)
        if (nl == 0 || text.ptr[nl - 1] != '\r')
            return false;
    return n > 0;
}

bool
edit_plan_write(struct edit_plan *p, struct str content)
{
    struct err err;

    if (!p->is_new && str_find(content, '\r', 0) == (size_t)-1 && all_crlf(buf_str(&p->file.text)))
        add_with_crlf(&p->after, content);
    else
        buf_add_str(&p->after, content);
    p->n_changes = 1;
    p->last_end = p->after.len;
    if (buf_full(&p->after))
        return refuse(p, "the content is too large");
    if (!text_file_encode(&p->file, buf_str(&p->after), &p->raw, &err))
        return refuse(p, "%s", err.text);
    return true;
}

bool
edit_plan_commit(struct edit_plan *p, const struct tool_ctx *ctx)
{
    struct err err;
    int64_t mtime_ns;
    bool ok = p->is_new ? new_file_create(p->resolved, buf_str(&p->raw), &mtime_ns, &err)
                        : text_file_save(&p->file, p->resolved, buf_str(&p->raw), &mtime_ns, &err);

    if (!ok)
        return refuse(p, "%s", err.text);
    if (ctx->files)
        file_state_note(ctx->files, p->resolved, mtime_ns, buf_str(&p->raw));
    return true;
}
