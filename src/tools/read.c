#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/at.h"
#include "tools/builtin.h"
#include "tools/filestate.h"
#include "tools/missing.h"
#include "tools/read_image.h"
#include "tools/read_stream.h"
#include "tools/text_file.h"

/* Files up to WHOLE_MAX are read whole; larger ones in pieces. NOTICE_CHARS is kept free for what is said below the page. */
enum {
    WHOLE_MAX = 4 << 20,
    NOTICE_CHARS = 500,
    PICTURE_MAX = 32 << 20,
    DEFAULT_RESULT_CHARS = 50000
};

struct reading {
    struct tool_ctx *ctx;
    struct tool_result *ret;
    const char *path;     /* as named, absolute */
    const char *resolved; /* what is opened */
    struct page page;
    bool whole_known; /* page.lines is the number of lines of the file */
    int64_t limit;    /* as asked, 0: none */
};

static void
write_data(struct reading *r)
{
    struct jw w;

    jw_init(&w, &r->ret->data);
    jw_object(&w);
    jw_kcstr(&w, "type", "text");
    jw_key(&w, "file");
    jw_object(&w);
    jw_kcstr(&w, "filePath", r->path);
    jw_kstr(&w, "content", buf_str(r->page.plain));
    jw_kint(&w, "numLines", r->page.shown);
    jw_kint(&w, "startLine", r->page.first);
    if (r->whole_known)
        jw_kint(&w, "totalLines", r->page.lines);
    if (r->page.full)
        jw_kbool(&w, "truncatedByTokenCap", true);
    jw_end(&w);
    jw_end(&w);
}

static void
say_partial(struct reading *r)
{
    int64_t last = r->page.first + r->page.shown - 1;

    buf_addf(&r->ret->text, "\n\n[PARTIAL view: lines %lld-%lld", (long long)r->page.first,
             (long long)last);
    if (r->whole_known)
        buf_addf(&r->ret->text, " of %lld", (long long)r->page.lines);
    buf_addf(&r->ret->text,
             "; the file is too long for one result. Go on with offset %lld, or use Grep to find "
             "the place.]",
             (long long)last + 1);
}

/* Everything that is said about the page once it is made. */
static void
finish_page(struct reading *r)
{
    struct page *p = &r->page;
    struct tool_result *ret = r->ret;

    if (p->full && r->limit > 0) {
        tool_result_fail(ret,
                         "The %lld lines asked for are too long for one result. Lines %lld-%lld "
                         "fit: use limit %lld, "
                         "or Grep to find the place.",
                         (long long)r->limit, (long long)p->first,
                         (long long)(p->first + p->shown - 1), (long long)p->shown);
        return;
    }
    if (!p->shown && p->lines == 0)
        buf_adds(&ret->text, "(the file exists but is empty)");
    else if (!p->shown)
        buf_addf(&ret->text, "(the file has only %lld lines; offset %lld is past its end)",
                 (long long)p->lines, (long long)p->first);
    else if (p->full)
        say_partial(r);
    snprintf(ret->summary, sizeof ret->summary, "%lld line%s%s", (long long)p->shown,
             p->shown == 1 ? "" : "s", p->full ? " (partial)" : "");
    write_data(r);
}

static void
read_in_pieces(struct reading *r, int fd, const struct stat *st)
{
    bool through = st->st_size <= TEXT_FILE_MAX;
    struct read_stream done;
    struct err err;

    if (!read_stream(fd, &r->page, through, r->ctx->cancel, &done, &err)) {
        tool_result_fail(r->ret, "%s", err.text);
        return;
    }
    r->whole_known = done.to_end;
    if (r->ctx->files)
        file_state_note_hash(r->ctx->files, r->resolved, fs_mtime_ns(st),
                             through ? done.size : (uint64_t)st->st_size,
                             through ? done.hash : NULL);
    finish_page(r);
}

static void
read_whole(struct reading *r, int fd, const struct stat *st)
{
    struct text_file f;
    struct err err;

    if (!text_file_load_fd(fd, st, r->resolved, &f, &err)) {
        tool_result_fail(r->ret, "%s", err.text);
    } else {
        page_text(&r->page, buf_str(&f.text));
        r->whole_known = true;
        if (r->ctx->files)
            file_state_note(r->ctx->files, r->resolved, f.mtime_ns, buf_str(&f.raw));
        finish_page(r);
    }
    text_file_release(&f);
}

static void
read_picture(struct reading *r, int fd, enum file_kind kind)
{
    struct buf bytes;
    struct err err;

    buf_init(&bytes, BUF_MAX);
    if (fs_read_fd(fd, r->path, PICTURE_MAX, &bytes, &err))
        read_image(buf_str(&bytes), kind, r->path, r->ret);
    else
        tool_result_fail(r->ret, "%s", err.text);
    buf_release(&bytes);
}

static void
read_by_kind(struct reading *r, int fd, const struct stat *st, struct str head)
{
    enum file_kind kind = text_file_kind(head);
    bool utf16 = head.len >= 2 &&
                 (memcmp(head.ptr, "\xff\xfe", 2) == 0 || memcmp(head.ptr, "\xfe\xff", 2) == 0);

    if (str_ends(str_from(r->path), ".ipynb"))
        tool_result_fail(
            r->ret,
            "%s is a notebook; reading notebooks is not available yet. Its JSON can be "
            "looked at with Bash (jq).",
            r->path);
    else if (kind == KIND_PDF)
        tool_result_fail(r->ret,
                         "%s is a PDF; reading PDFs is not available yet. Try pdftotext with Bash.",
                         r->path);
    else if (kind == KIND_BINARY)
        tool_result_fail(r->ret, "%s is a binary file (%lld bytes) and cannot be read as text.",
                         r->path, (long long)st->st_size);
    else if (kind != KIND_TEXT)
        read_picture(r, fd, kind);
    else if (st->st_size <= WHOLE_MAX || (utf16 && st->st_size <= TEXT_FILE_MAX))
        read_whole(r, fd, st);
    else if (utf16)
        tool_result_fail(r->ret, "%s is UTF-16 and larger than %d MB; convert it with iconv first.",
                         r->path, TEXT_FILE_MAX >> 20);
    else
        read_in_pieces(r, fd, st);
}

static void
open_and_read(struct reading *r)
{
    struct stat st;
    struct err err = {.code = ERR_NONE};
    char head[8192];
    int fd = text_file_open(r->resolved, &st, &err);

    if (fd < 0 && (err.sys == ENOENT || err.sys == ENOTDIR))
        tool_fail_missing(r->ctx, r->ret, r->path);
    else if (fd < 0 && S_ISDIR(st.st_mode))
        tool_result_fail(r->ret, "%s is a folder. List it with Glob, or with ls through Bash.",
                         r->path);
    else if (fd < 0)
        tool_result_fail(r->ret, "%s", err.text);
    if (fd < 0)
        return;
    ssize_t n = pread(fd, head, sizeof head, 0);
    if (n < 0)
        tool_result_fail(r->ret, "cannot read '%s': %s", r->path, strerror(errno));
    else
        read_by_kind(r, fd, &st, str_make(head, (size_t)n));
    close(fd);
}

void
tool_read_run(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret)
{
    int64_t max = ctx->max_result_chars > 0 ? ctx->max_result_chars : DEFAULT_RESULT_CHARS;
    struct reading r = {.ctx = ctx, .ret = ret, .limit = tool_arg_int(input, "limit", 0)};
    struct buf plain;
    struct err err;
    char *path = tool_path_arg(ctx, input, "file_path"), *resolved;

    if (!path) {
        tool_result_fail(ret, "Read: 'file_path' must not be empty");
        return;
    }
    buf_init(&plain, BUF_MAX);
    r.page = (struct page){.out = &ret->text, .plain = &plain, .limit = r.limit};
    r.page.first = tool_arg_int(input, "offset", 1);
    if (r.page.first < 1)
        r.page.first = 1;
    r.page.max_chars = max > 2 * NOTICE_CHARS ? (size_t)max - NOTICE_CHARS : (size_t)max;
    resolved = at_resolve(ctx, path, &err);
    r.path = path;
    r.resolved = resolved;
    if (tool_arg_str(input, "pages").len)
        tool_result_fail(ret, "Read: 'pages' is for PDFs, which cannot be read yet");
    else if (!resolved)
        tool_result_fail(ret, "%s", err.text);
    else
        open_and_read(&r);
    free(resolved);
    free(path);
    buf_release(&plain);
}

void
tool_read_describe(const struct cJSON *input, const char *cwd, struct buf *out)
{
    int64_t first = tool_arg_int(input, "offset", 0), n = tool_arg_int(input, "limit", 0);

    tool_describe_path(input, "file_path", cwd, out);
    if (first > 0 && n > 0)
        buf_addf(out, ":%lld-%lld", (long long)first, (long long)(first + n - 1));
    else if (first > 0)
        buf_addf(out, ":%lld-", (long long)first);
    else if (n > 0)
        buf_addf(out, ":1-%lld", (long long)n);
}
