#include "tools/read_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tools/hash.h"

enum { CHUNK = 256 << 10 };

struct stream {
    struct page *page;
    struct buf line; /* the beginning of the line at hand */
    uint64_t line_len;
};

/* A line that is no UTF-8 is shown as latin-1, as a small file would be. */
static void
feed_line(struct stream *s)
{
    struct str line = buf_str(&s->line);
    struct buf latin;

    if (line.len && line.ptr[line.len - 1] == '\r' && s->line_len == line.len) {
        line.len--;
        s->line_len--;
    }
    bool whole = s->line_len == line.len;
    size_t end = line.len; /* a cut may have gone through a character */
    for (int i = 0; !whole && i < 3 && end && ((unsigned char)line.ptr[end - 1] & 0xC0) == 0x80;
         i++)
        end--;
    if (!whole && end && (unsigned char)line.ptr[end - 1] >= 0xC0)
        end--;
    line.len = end;
    if (text_valid_utf8(line)) {
        page_line(s->page, line, s->line_len);
    } else {
        buf_init(&latin, PAGE_LINE_BYTES * 4);
        for (size_t i = 0; i < line.len; i++) {
            char c[4];
            buf_add(&latin, c, text_encode((unsigned char)line.ptr[i], c));
        }
        page_line(s->page, buf_str(&latin), s->line_len > latin.len ? s->line_len : latin.len);
        buf_release(&latin);
    }
    buf_clear(&s->line);
    s->line_len = 0;
}

static void
keep_part(struct stream *s, struct str part)
{
    size_t room = s->line.max - s->line.len;
    bool wanted = !s->page->done && s->page->lines + 1 >= s->page->first;

    s->line_len += part.len;
    if (wanted)
        buf_add_str(&s->line, str_sub(part, 0, room < part.len ? room : part.len));
}

static void
feed_chunk(struct stream *s, struct str chunk)
{
    while (chunk.len) {
        size_t nl = str_find(chunk, '\n', 0);
        if (nl == (size_t)-1) {
            keep_part(s, chunk);
            return;
        }
        keep_part(s, str_sub(chunk, 0, nl));
        feed_line(s);
        chunk = str_sub(chunk, nl + 1, chunk.len);
    }
}

bool
read_stream(int fd, struct page *p, bool through, struct cancel *cancel, struct read_stream *ret,
            struct err *err)
{
    struct stream s = {.page = p};
    struct file_hash hash;
    char *chunk = xmalloc(CHUNK);
    bool ok = true;

    *ret = (struct read_stream){.to_end = false};
    file_hash_init(&hash);
    buf_init(&s.line, PAGE_LINE_BYTES + 4);
    while (through || !p->done) {
        ssize_t n = read(fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ok = err_sys(err, errno, "cannot read the file");
            break;
        }
        if (cancel_fired(cancel) != CANCEL_NONE) {
            ok = err_set(err, ERR_CANCELLED, "reading was interrupted");
            break;
        }
        if (n == 0) {
            ret->to_end = true;
            break;
        }
        struct str piece = str_make(chunk, (size_t)n);
        if (through)
            file_hash_add(&hash, piece);
        feed_chunk(&s, piece);
        ret->size += (uint64_t)n;
    }
    if (ok && s.line_len)
        feed_line(&s);
    file_hash_end(&hash, ret->hash);
    buf_release(&s.line);
    free(chunk);
    return ok;
}
