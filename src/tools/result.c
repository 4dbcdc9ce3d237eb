#include <stdarg.h>
#include <stdlib.h>

#include "base/log.h"
#include "tools/args.h"
#include "tools/spill.h"
#include "tools/tool.h"

enum { DEFAULT_MAX_CHARS = 50000, PREVIEW_CHARS = 4000 };

void
tool_result_init(struct tool_result *r)
{
    *r = (struct tool_result){.is_error = false};
    buf_init(&r->text, BUF_MAX);
    buf_init(&r->display, BUF_MAX);
    buf_init(&r->data, BUF_MAX);
    buf_init(&r->image, BUF_MAX);
    buf_init(&r->log, BUF_MAX);
}

void
tool_result_release(struct tool_result *r)
{
    buf_release(&r->text);
    buf_release(&r->display);
    buf_release(&r->data);
    buf_release(&r->image);
    buf_release(&r->log);
    free(r->new_cwd);
    free(r->spill_path);
    free(r->task_id);
    r->new_cwd = r->spill_path = r->task_id = NULL;
}

void
tool_result_fail(struct tool_result *r, const char *fmt, ...)
{
    va_list ap;

    r->is_error = true;
    buf_clear(&r->text);
    va_start(ap, fmt);
    buf_vaddf(&r->text, fmt, ap);
    va_end(ap);
}

/* The first 3/4 and the last 1/4 of the preview: errors stand at ends. */
static void
write_preview(struct buf *out, struct str full, const char *path, size_t chars, size_t preview,
              const char *trouble)
{
    size_t head = tool_char_offset(full, preview - preview / 4);
    size_t tail = tool_char_offset(full, chars - preview / 4);

    if (path)
        buf_addf(out, "The result is too long to show (%zu characters). Full text: %s\n", chars,
                 path);
    else
        buf_addf(out,
                 "The result is too long to show (%zu characters), and its full text could not "
                 "be kept: %s\n",
                 chars, trouble);
    buf_adds(out, "Its beginning and end:\n\n");
    buf_add(out, full.ptr, head);
    buf_addf(out, "\n\n[... %zu characters left out ...]\n\n",
             tool_count_chars(str_sub(full, head, tail - head)));
    buf_add(out, full.ptr + tail, full.len - tail);
}

void
tool_result_cap(const struct tool_ctx *ctx, struct tool_result *r, int64_t max)
{
    struct str full = buf_str(&r->text);
    struct err err = {.code = ERR_NONE};
    size_t limit = max > 0 ? (size_t)max : DEFAULT_MAX_CHARS;

    if (full.len <= limit)
        return;
    size_t chars = tool_count_chars(full), preview = PREVIEW_CHARS;
    if (chars <= limit)
        return;
    if (preview > limit / 2)
        preview = limit / 2;
    if (!r->spill_path)
        r->spill_path = spill_text(ctx, full, &err);
    if (!r->spill_path)
        log_warn("tools", "result not spilled: %s", err.text);
    struct buf text;
    buf_init(&text, BUF_MAX);
    write_preview(&text, full, r->spill_path, chars, preview, err.text);
    buf_release(&r->text);
    r->text = text;
}
