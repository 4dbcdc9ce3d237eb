#include "tools/patch.h"

#include <stdio.h>

#include "base/diff.h"
#include "base/json.h"
#include "tools/args.h"
#include "tools/page.h"

enum { CONTEXT = 3, ORIGINAL_MAX = 256 << 10 };

static void
write_unified(const struct diff *d, const char *shown_path, struct buf *out)
{
    if (!d->n_hunks)
        return;
    buf_addf(out, "--- %s\n+++ %s\n", shown_path, shown_path);
    diff_write(d, out);
}

void
patch_unified(struct str before, struct str after, const char *shown_path, struct buf *out)
{
    struct diff d;

    diff_make(before, after, CONTEXT, &d);
    write_unified(&d, shown_path, out);
    diff_release(&d);
}

static void
write_structured(const struct diff *d, struct jw *w)
{
    jw_key(w, "structuredPatch");
    jw_array(w);
    for (size_t i = 0; i < d->n_hunks; i++) {
        const struct diff_hunk *h = &d->hunks[i];
        jw_object(w);
        jw_kint(w, "oldStart", (int64_t)h->old_start);
        jw_kint(w, "oldLines", (int64_t)h->old_lines);
        jw_kint(w, "newStart", (int64_t)h->new_start);
        jw_kint(w, "newLines", (int64_t)h->new_lines);
        jw_key(w, "lines");
        jw_array(w);
        for (size_t k = 0; k < h->n_lines; k++)
            jw_str(w, h->lines[k]);
        jw_end(w);
        jw_end(w);
    }
    jw_end(w);
}

void
patch_result(struct str before, struct str after, const char *shown_path, struct tool_result *ret,
             struct jw *w)
{
    struct diff d;

    diff_make(before, after, CONTEXT, &d);
    write_unified(&d, shown_path, &ret->display);
    snprintf(ret->summary, sizeof ret->summary, "+%zu -%zu", d.added, d.removed);
    write_structured(&d, w);
    diff_release(&d);
}

void
patch_original(struct jw *w, struct str before)
{
    jw_key(w, "originalFile");
    if (before.len > ORIGINAL_MAX)
        jw_null(w);
    else
        jw_str(w, before);
}

void
patch_snippet(struct str text, size_t from, size_t to, struct buf *out)
{
    struct buf plain;
    struct page p = {.out = out, .plain = &plain, .max_chars = 20000};

    if (from < 1)
        from = 1;
    buf_init(&plain, BUF_MAX);
    p.first = (int64_t)from;
    p.limit = (int64_t)(to - from + 1);
    page_text(&p, text);
    buf_release(&plain);
}

void
patch_short(struct str before, struct str after, size_t max_lines, struct buf *out)
{
    struct buf whole;
    struct diff d;
    size_t at = 0;

    diff_make(before, after, 1, &d);
    buf_init(&whole, BUF_MAX);
    diff_write(&d, &whole);
    struct str s = buf_str(&whole);
    for (size_t n = 0; n < max_lines && at < s.len; n++) {
        size_t nl = str_find(s, '\n', at);
        struct str line = str_sub(s, at, nl == (size_t)-1 ? s.len : nl - at);
        tool_clean_text(out,
                        str_sub(line, 0, tool_char_start(line, line.len < 300 ? line.len : 300)));
        buf_addc(out, '\n');
        at = nl == (size_t)-1 ? s.len : nl + 1;
    }
    if (at < s.len)
        buf_adds(out, "[... more changes ...]\n");
    buf_release(&whole);
    diff_release(&d);
}
