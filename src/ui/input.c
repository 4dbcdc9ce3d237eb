#include "ui/input_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define UNDO_MAX 200
#define UNDO_BYTES ((size_t)4 << 20)

void
input_init(struct input *in)
{
    *in = (struct input){.goal = -1, .width = 78};
    buf_init(&in->text, INPUT_MAX);
    buf_init(&in->cut, INPUT_MAX);
}

static void
drop_undo(struct input *in)
{
    for (size_t i = 0; i < in->n_undo; i++)
        free(in->undo[i].text);
    in->n_undo = 0;
}

static void
drop_chips(struct input *in)
{
    for (size_t i = 0; i < in->n_chips; i++)
        free(in->chips[i].text);
    in->n_chips = 0;
}

void
input_release(struct input *in)
{
    drop_undo(in);
    drop_chips(in);
    free(in->undo);
    buf_release(&in->text);
    buf_release(&in->cut);
    *in = (struct input){0};
}

void
input_clear(struct input *in)
{
    buf_clear(&in->text);
    if (in->cut.data && memchr(in->cut.data, CHIP_MARK, in->cut.len))
        buf_clear(&in->cut); /* its chip is gone */
    drop_undo(in);
    drop_chips(in);
    in->cursor = 0;
    in->goal = -1;
    in->top = 0;
    in->cutting = in->typing = false;
}

bool
input_is_shell(const struct input *in)
{
    return in->text.len && in->text.data[0] == '!';
}

bool
input_empty(const struct input *in)
{
    return in->text.len == 0;
}

/* Before a change: what stands there can be had again. */
void
input_keep(struct input *in)
{
    size_t bytes = in->text.len;
    for (size_t i = 0; i < in->n_undo; i++)
        bytes += in->undo[i].len;
    while (in->n_undo && (in->n_undo >= UNDO_MAX || bytes > UNDO_BYTES)) {
        bytes -= in->undo[0].len;
        free(in->undo[0].text);
        in->n_undo--;
        memmove(in->undo, in->undo + 1, in->n_undo * sizeof(*in->undo));
    }
    if (in->text.len > UNDO_BYTES)
        return;
    ARRAY_GROW(in->undo, in->n_undo, in->cap_undo);
    in->undo[in->n_undo++] = (struct input_state){
        str_dup(buf_str(&in->text)),
        in->text.len,
        in->cursor,
    };
}

bool
input_undo(struct input *in)
{
    if (!in->n_undo)
        return false;
    struct input_state s = in->undo[--in->n_undo];
    buf_clear(&in->text);
    buf_add(&in->text, s.text, s.len);
    in->cursor = s.cursor;
    free(s.text);
    return true;
}

/* Puts bytes that are fit for the text at the cursor. */
static void
splice_in(struct input *in, struct str s)
{
    size_t after = in->text.len - in->cursor;
    if (!buf_reserve(&in->text, s.len + 1))
        return; /* full: a prompt of INPUT_MAX takes no more */
    memmove(in->text.data + in->cursor + s.len, in->text.data + in->cursor, after);
    memcpy(in->text.data + in->cursor, s.ptr, s.len);
    buf_commit(&in->text, s.len);
    in->cursor += s.len;
    in->goal = -1;
}

void
input_cut_range(struct input *in, size_t from, size_t to, bool keep_cut)
{
    if (from >= to || to > in->text.len)
        return;
    if (keep_cut) {
        bool before = from < in->cursor;
        struct str gone = str_make(in->text.data + from, to - from);
        struct buf joined;
        buf_init(&joined, INPUT_MAX);
        if (in->cutting && !before)
            buf_add_str(&joined, buf_str(&in->cut));
        buf_add_str(&joined, gone);
        if (in->cutting && before)
            buf_add_str(&joined, buf_str(&in->cut));
        buf_release(&in->cut);
        in->cut = joined;
    }
    memmove(in->text.data + from, in->text.data + to, in->text.len - to);
    buf_truncate(&in->text, in->text.len - (to - from));
    in->cursor = from;
    in->goal = -1;
}

/* Valid UTF-8 without NUL. A newline stays, a lone CR becomes one. */
static void
clean(struct buf *out, struct str s)
{
    struct buf valid;
    buf_init(&valid, INPUT_MAX);
    text_repair(&valid, s);
    struct str rest = buf_str(&valid), part;
    while (str_split(&rest, '\0', &part))
        buf_add_str(out, part);
    buf_release(&valid);
    for (size_t i = 0; i < out->len; i++) {
        if (out->data[i] == '\r' && (i + 1 == out->len || out->data[i + 1] != '\n'))
            out->data[i] = '\n';
    }
}

void
input_insert(struct input *in, struct str s)
{
    if (!s.len)
        return;
    bool word = s.len <= 4 && s.ptr[0] != ' ' && s.ptr[0] != '\n';
    if (!(in->typing && word))
        input_keep(in);
    in->typing = word;
    in->cutting = false;
    struct buf b;
    buf_init(&b, INPUT_MAX);
    clean(&b, s);
    splice_in(in, buf_str(&b));
    buf_release(&b);
}

static size_t
count_lines(struct str s)
{
    size_t n = 1;
    for (size_t off = 0; (off = str_find(s, '\n', off)) != (size_t)-1; off++)
        n += off + 1 < s.len;
    return n;
}

static void
insert_chip(struct input *in, char *take_text, size_t len, size_t lines)
{
    char mark[2] = {CHIP_MARK, (char)(0x80 + in->n_chips)};
    in->chips[in->n_chips++] = (struct chip){take_text, len, lines};
    input_keep(in);
    in->typing = in->cutting = false;
    splice_in(in, str_make(mark, 2));
}

void
input_paste(struct input *in, struct str s)
{
    size_t lines = count_lines(s);
    if ((lines <= CHIP_LINES && s.len <= CHIP_BYTES) || in->n_chips == INPUT_CHIPS) {
        in->typing = false;
        input_insert(in, s);
        in->typing = false;
        return;
    }
    struct buf b;
    buf_init(&b, INPUT_MAX);
    text_repair(&b, s);
    /* an op's text ends at a NUL */
    size_t n = 0;
    for (size_t i = 0; i < b.len; i++) {
        if (b.data[i])
            b.data[n++] = b.data[i];
    }
    buf_truncate(&b, n);
    insert_chip(in, buf_take(&b), n, lines);
}

void
input_set(struct input *in, struct str s)
{
    input_keep(in);
    buf_clear(&in->text);
    in->cursor = 0;
    in->typing = in->cutting = false;
    if (s.len > CHIP_BYTES * 20)
        input_paste(in, s);
    else
        input_insert(in, s);
    in->typing = false;
}

void
input_expand(const struct input *in, struct buf *out)
{
    struct str s = buf_str(&in->text);
    for (size_t off = 0; off < s.len;) {
        size_t mark = str_find(s, CHIP_MARK, off);
        if (mark == (size_t)-1 || mark + 1 >= s.len) {
            buf_add_str(out, str_sub(s, off, s.len));
            return;
        }
        buf_add_str(out, str_sub(s, off, mark - off));
        size_t i = (unsigned char)s.ptr[mark + 1] - 0x80u;
        if (i < in->n_chips)
            buf_add(out, in->chips[i].text, in->chips[i].len);
        off = mark + 2;
    }
}

size_t
input_next(const struct input *in, size_t off)
{
    struct str s = buf_str(&in->text);
    if (off >= s.len)
        return s.len;
    if (s.ptr[off] == CHIP_MARK)
        return off + 2 <= s.len ? off + 2 : s.len;
    int width;
    size_t n = text_grapheme(s, off, &width);
    /* a chip never joins a cluster */
    const char *mark = memchr(s.ptr + off, CHIP_MARK, n);
    return mark ? (size_t)(mark - s.ptr) : off + n;
}

size_t
input_before(const struct input *in, size_t off)
{
    if (off == 0)
        return 0;
    if (off >= 2 && in->text.data[off - 2] == CHIP_MARK)
        return off - 2;
    size_t at = text_grapheme_before(buf_str(&in->text), off);
    return at && in->text.data[at - 1] == CHIP_MARK ? at + 1 : at;
}

bool
input_enter(struct input *in)
{
    if (in->cursor == 0 || in->text.data[in->cursor - 1] != '\\')
        return true;
    input_keep(in);
    in->typing = false;
    input_cut_range(in, in->cursor - 1, in->cursor, false);
    splice_in(in, STR("\n"));
    return false;
}
