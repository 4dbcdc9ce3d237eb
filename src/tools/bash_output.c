#include "tools/bash_output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "tools/args.h"
#include "tools/spill.h"

enum { LAST_LINE_MAX = 400 };

void
bash_output_init(struct bash_output *o, const char *spill_dir, const char *name)
{
    *o = (struct bash_output){
        .spill_dir = xstrdup(spill_dir), .name = xstrdup(name), .spill_fd = -1};
    buf_init(&o->head, BASH_HEAD_BYTES);
    buf_init(&o->last_line, LAST_LINE_MAX);
}

void
bash_output_release(struct bash_output *o)
{
    buf_release(&o->head);
    buf_release(&o->last_line);
    free(o->tail);
    free(o->spill_path);
    free(o->spill_dir);
    free(o->name);
    bash_output_end(o);
    o->tail = o->spill_path = o->spill_dir = o->name = NULL;
}

void
bash_output_end(struct bash_output *o)
{
    if (o->spill_fd >= 0)
        close(o->spill_fd);
    o->spill_fd = -1;
}

void
bash_output_drop(struct bash_output *o)
{
    free(o->tail);
    o->tail = NULL;
    buf_release(&o->head);
    buf_init(&o->head, BASH_HEAD_BYTES);
    o->gone = true;
}

static void
spill(struct bash_output *o, struct str bytes)
{
    uint64_t room = BASH_SPILL_MAX - o->spilled;

    if (o->spill_failed || !room)
        return;
    const struct tool_ctx where = {.spill_dir = o->spill_dir, .tool_use_id = o->name};
    if (o->spill_fd < 0)
        o->spill_fd = spill_open(&where, &o->spill_path, &o->spill_err);
    if (bytes.len > room)
        bytes.len = (size_t)room;
    if (o->spill_fd >= 0 && fs_write_all(o->spill_fd, bytes, &o->spill_err)) {
        o->spilled += bytes.len;
        return;
    }
    o->spill_failed = true;
    log_warn("bash", "output not kept: %s", o->spill_err.text);
}

static void
ring_add(struct bash_output *o, struct str bytes)
{
    if (!o->tail)
        o->tail = xmalloc(BASH_TAIL_BYTES);
    if (bytes.len > BASH_TAIL_BYTES)
        bytes = str_sub(bytes, bytes.len - BASH_TAIL_BYTES, BASH_TAIL_BYTES);
    size_t first = BASH_TAIL_BYTES - o->tail_at;
    if (first > bytes.len)
        first = bytes.len;
    memcpy(o->tail + o->tail_at, bytes.ptr, first);
    memcpy(o->tail, bytes.ptr + first, bytes.len - first);
    o->tail_at = (o->tail_at + bytes.len) % BASH_TAIL_BYTES;
}

static void
note_line(struct bash_output *o, struct str bytes)
{
    size_t end = bytes.len, start;

    while (end && (bytes.ptr[end - 1] == '\n' || bytes.ptr[end - 1] == '\r'))
        end--;
    if (!end) {
        o->line_ended = true;
        return;
    }
    const char *nl = memrchr(bytes.ptr, '\n', end);
    start = nl ? (size_t)(nl - bytes.ptr) + 1 : 0;
    if (nl || o->line_ended)
        buf_clear(&o->last_line);
    struct str line = str_sub(bytes, start, end - start);
    size_t room = LAST_LINE_MAX - o->last_line.len;
    buf_add_str(&o->last_line, str_sub(line, 0, room));
    o->line_ended = end < bytes.len;
}

void
bash_output_add(struct bash_output *o, struct str bytes)
{
    size_t room = BASH_HEAD_BYTES - o->head.len;
    struct str rest = str_sub(bytes, room, bytes.len);
    bool kept = o->spill_fd >= 0;

    if (!bytes.len)
        return;
    note_line(o, bytes);
    buf_add_str(&o->head, str_sub(bytes, 0, room));
    o->total += bytes.len;
    if (rest.len && !kept)
        spill(o, buf_str(&o->head));
    if (kept || rest.len)
        spill(o, kept ? bytes : rest);
    if (rest.len)
        ring_add(o, rest);
}

bool
bash_output_keep(struct bash_output *o)
{
    if (o->spill_fd < 0)
        spill(o, buf_str(&o->head)); /* past the head it would be open already */
    return o->spill_fd >= 0 && !o->spill_failed;
}

/* What is held at the end, in order, appended to out. */
static void
add_tail(const struct bash_output *o, struct buf *out)
{
    uint64_t past_head = o->total - o->head.len;

    if (!past_head)
        return;
    if (past_head >= BASH_TAIL_BYTES) {
        buf_add(out, o->tail + o->tail_at, BASH_TAIL_BYTES - o->tail_at);
        buf_add(out, o->tail, o->tail_at);
    } else {
        buf_add(out, o->tail, (size_t)past_head);
    }
}

uint64_t
bash_output_tail(const struct bash_output *o, size_t max, struct buf *out)
{
    size_t from_head = 0, past_head = (size_t)(o->total - o->head.len);
    size_t in_ring = past_head < BASH_TAIL_BYTES ? past_head : BASH_TAIL_BYTES;
    struct buf tail;

    if (o->gone)
        return o->total;
    if (max > BASH_TAIL_BYTES)
        max = BASH_TAIL_BYTES;
    if (max > in_ring && past_head == in_ring) {
        from_head = max - in_ring < o->head.len ? max - in_ring : o->head.len;
        buf_add_str(out, str_sub(buf_str(&o->head), o->head.len - from_head, from_head));
    }
    buf_init(&tail, BUF_MAX);
    add_tail(o, &tail);
    size_t n = tail.len < max - from_head ? tail.len : max - from_head;
    buf_add_str(out, str_sub(buf_str(&tail), tail.len - n, n));
    buf_release(&tail);
    return o->total - from_head - n;
}

static void
note_cut(const struct bash_output *o, struct buf *out)
{
    buf_addf(out, "\n\n[... output cut here: %llu bytes in all", (unsigned long long)o->total);
    if (!o->spill_path || o->spill_failed)
        buf_addf(out, "; the full text could not be kept: %s", o->spill_err.text);
    else if (o->spilled < o->total)
        buf_addf(out, "; the first %llu are in %s", (unsigned long long)o->spilled, o->spill_path);
    else
        buf_addf(out, "; the full text is in %s", o->spill_path);
    buf_adds(out, " ...]\n\n");
}

void
bash_output_write(struct bash_output *o, size_t max_chars, struct buf *out, size_t *ret_replaced)
{
    uint64_t past_head = o->total - o->head.len;
    bool gap = past_head > BASH_TAIL_BYTES;
    struct buf raw, clean;

    buf_init(&raw, BUF_MAX);
    buf_init(&clean, BUF_MAX);
    buf_add_str(&raw, buf_str(&o->head));
    if (!gap)
        add_tail(o, &raw);
    *ret_replaced = tool_clean_text(&clean, buf_str(&raw));
    struct str text = buf_str(&clean);
    size_t chars = tool_count_chars(text);
    if (!gap && chars <= max_chars) {
        buf_add_str(out, text);
    } else {
        size_t head_chars = max_chars * 2 / 3, tail_chars = max_chars - head_chars;
        buf_add(out, text.ptr, tool_char_offset(text, head_chars));
        if (!o->spill_path)
            spill(o, buf_str(&raw));
        note_cut(o, out);
        if (gap) {
            buf_clear(&raw);
            buf_clear(&clean);
            add_tail(o, &raw);
            *ret_replaced += tool_clean_text(&clean, buf_str(&raw));
            text = buf_str(&clean);
            chars = tool_count_chars(text);
        }
        size_t from = tool_char_offset(text, chars > tail_chars ? chars - tail_chars : 0);
        buf_add_str(out, str_sub(text, from, text.len));
    }
    buf_release(&raw);
    buf_release(&clean);
}
