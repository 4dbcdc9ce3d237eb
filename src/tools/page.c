#include "tools/page.h"

#include <string.h>

#include "tools/args.h"

/* The format of "cat -n", without newline. */
static void
number_line(struct buf *out, int64_t number, struct str line)
{
    buf_addf(out, "%6lld\t", (long long)number);
    tool_clean_text(out, line);
}

static void
show(struct page *p, struct str line, uint64_t whole_len)
{
    size_t cut = line.len > PAGE_LINE_CHARS ? tool_char_offset(line, PAGE_LINE_CHARS) : line.len;
    bool is_cut = cut < line.len || whole_len > line.len;
    size_t out_at = p->out->len, plain_at = p->plain->len;

    if (p->shown) {
        buf_addc(p->out, '\n');
        buf_addc(p->plain, '\n');
    }
    number_line(p->out, p->lines, str_sub(line, 0, cut));
    if (is_cut)
        buf_addf(p->out, " [... line cut here, %llu bytes in all]", (unsigned long long)whole_len);
    tool_clean_text(p->plain, line);
    size_t chars = tool_count_chars(str_sub(buf_str(p->out), out_at, p->out->len));
    size_t bytes = p->out->len - out_at;
    /* About three bytes a token: code has more, CJK one character of three bytes. */
    if (p->chars + chars > p->max_chars || (p->bytes + bytes) / 3 > PAGE_TOKENS) {
        buf_truncate(p->out, out_at);
        buf_truncate(p->plain, plain_at);
        p->full = p->done = true;
        return;
    }
    p->chars += chars;
    p->bytes += bytes;
    p->shown++;
    p->done = p->limit > 0 && p->shown >= p->limit;
}

void
page_line(struct page *p, struct str line, uint64_t whole_len)
{
    p->lines++;
    if (p->lines >= p->first && !p->done)
        show(p, line, whole_len);
}

void
page_text(struct page *p, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t nl = str_find(text, '\n', at), end = nl == (size_t)-1 ? text.len : nl;
        struct str line = str_sub(text, at, end - at);
        if (nl != (size_t)-1 && line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        page_line(p, line, line.len);
        at = end + 1;
    }
}
