#include "ui/field.h"

#include "base/text.h"
#include "ui/keys.h"

void
field_init(struct field *f)
{
    *f = (struct field){0};
    buf_init(&f->text, FIELD_MAX);
}

void
field_release(struct field *f)
{
    buf_release(&f->text);
    f->cursor = 0;
}

void
field_clear(struct field *f)
{
    buf_clear(&f->text);
    f->cursor = 0;
    f->refused = false;
}

void
field_set(struct field *f, struct str s)
{
    field_clear(f);
    buf_add_str(&f->text, s);
    f->cursor = f->text.len;
}

static void
replace(struct field *f, size_t from, size_t to, struct str with)
{
    struct buf b;
    f->refused = f->text.len - (to - from) + with.len > FIELD_MAX;
    if (f->refused)
        return;
    buf_init(&b, FIELD_MAX);
    buf_add_str(&b, str_sub(buf_str(&f->text), 0, from));
    buf_add_str(&b, with);
    buf_add_str(&b, str_sub(buf_str(&f->text), to, f->text.len));
    buf_release(&f->text);
    f->text = b;
    f->cursor = from + with.len;
}

static size_t
after(const struct field *f, size_t off)
{
    int w;
    return off < f->text.len ? off + text_grapheme(buf_str(&f->text), off, &w) : off;
}

static size_t
before(const struct field *f, size_t off)
{
    return off ? text_grapheme_before(buf_str(&f->text), off) : 0;
}

static size_t
word_before(const struct field *f)
{
    size_t off = f->cursor;
    while (off && !text_in_word(f->text.data[before(f, off)]))
        off = before(f, off);
    while (off && text_in_word(f->text.data[before(f, off)]))
        off = before(f, off);
    return off;
}

static size_t
word_after(const struct field *f)
{
    size_t off = f->cursor;
    while (off < f->text.len && !text_in_word(f->text.data[off]))
        off = after(f, off);
    while (off < f->text.len && text_in_word(f->text.data[off]))
        off = after(f, off);
    return off;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* By blanks, as a shell cuts a word. */
static size_t
blank_before(const struct field *f)
{
    size_t off = f->cursor;
    while (off && is_blank(f->text.data[before(f, off)]))
        off = before(f, off);
    while (off && !is_blank(f->text.data[before(f, off)]))
        off = before(f, off);
    return off;
}

static bool
go_to(struct field *f, size_t off)
{
    f->cursor = off;
    return true;
}

static bool
cut(struct field *f, size_t from, size_t to)
{
    replace(f, from, to, STR(""));
    return true;
}

/* What the prompt does at these keys, also at those that a person gave it. */
static bool
prompt_action(struct field *f, enum key_action act)
{
    switch (act) {
    case ACT_LINE_START:
        return go_to(f, 0);
    case ACT_LINE_END:
        return go_to(f, f->text.len);
    case ACT_WORD_BACK:
        return go_to(f, word_before(f));
    case ACT_WORD_FORWARD:
        return go_to(f, word_after(f));
    case ACT_KILL_START:
        return cut(f, 0, f->cursor);
    case ACT_KILL_END:
        return cut(f, f->cursor, f->text.len);
    case ACT_KILL_WORD:
        return cut(f, blank_before(f), f->cursor);
    case ACT_KILL_WORD_ON:
        return cut(f, f->cursor, word_after(f));
    default:
        return false;
    }
}

static bool
named_key(struct field *f, int key)
{
    switch (key) {
    case YK_LEFT:
        return go_to(f, before(f, f->cursor));
    case YK_RIGHT:
        return go_to(f, after(f, f->cursor));
    case YK_LEFT | KM_CTRL:
    case YK_LEFT | KM_ALT:
        return go_to(f, word_before(f));
    case YK_RIGHT | KM_CTRL:
    case YK_RIGHT | KM_ALT:
        return go_to(f, word_after(f));
    case YK_HOME:
    case YK_HOME | KM_CTRL:
        return go_to(f, 0);
    case YK_END:
    case YK_END | KM_CTRL:
        return go_to(f, f->text.len);
    case YK_BACKSPACE:
    case YK_BACKSPACE | KM_SHIFT:
        return cut(f, before(f, f->cursor), f->cursor);
    case YK_BACKSPACE | KM_ALT:
    case YK_BACKSPACE | KM_CTRL:
        return cut(f, word_before(f), f->cursor);
    case YK_DELETE:
        return cut(f, f->cursor, after(f, f->cursor));
    default:
        return false;
    }
}

/* What comes from outside is text here too: valid UTF-8 without NUL, lines that end in a newline. */
static void
paste(struct field *f, struct str typed)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    (void)text_repair(&b, typed);
    size_t n = 0;
    for (size_t i = 0; i < b.len; i++) {
        if (b.data[i] == '\r' && i + 1 < b.len && b.data[i + 1] == '\n')
            continue;
        if (b.data[i])
            b.data[n++] = b.data[i];
        if (n && b.data[n - 1] == '\r')
            b.data[n - 1] = '\n';
    }
    replace(f, f->cursor, f->cursor, b.len ? str_sub(buf_str(&b), 0, n) : STR(""));
    buf_release(&b);
}

bool
field_key(struct field *f, int key, struct str typed)
{
    char utf8[4];
    f->refused = false;
    if (key == YK_PASTE) {
        paste(f, typed);
        return true;
    }
    if (named_key(f, key) || prompt_action(f, keys_action_in(KEYS_PROMPT, key, 0)))
        return true;
    if (key < 0x20 || key == 0x7f || key >= KEY_NAMED)
        return false;
    replace(f, f->cursor, f->cursor, str_make(utf8, text_encode(key, utf8)));
    return true;
}

/* Walks the graphemes as they are placed; both drawing and measuring go this way. */
struct place {
    int x, y, width;
    bool ascii;
};

static struct str
shown(struct str g, struct buf *tmp, bool ascii)
{
    if (g.ptr[0] == '\n')
        return ascii ? STR("/") : STR("↵");
    buf_clear(tmp);
    if (g.ptr[0] == '\t')
        buf_adds(tmp, "^I");
    else
        text_visible(tmp, g);
    return buf_str(tmp);
}

static void
put(struct place *p, struct str s, bool newline, struct canvas *c, struct rect r, int top,
    enum style st)
{
    int w = text_width(s);
    if (p->x + w > p->width && p->x > 0) {
        p->x = 0;
        p->y++;
    }
    if (c)
        canvas_text(c, r, p->x, p->y - top, newline ? ST_DIM : st, s);
    p->x += w;
    if (newline) {
        p->x = 0;
        p->y++;
    }
}

static struct place
walk(const struct field *f, size_t upto, struct canvas *c, struct rect r, int top, enum style st,
     bool ascii)
{
    struct place p = {.width = r.w < 1 ? 1 : r.w, .ascii = ascii};
    struct buf tmp;
    buf_init(&tmp, 4096);
    struct str s = str_sub(buf_str(&f->text), 0, upto);
    for (size_t off = 0; off < s.len;) {
        int w;
        size_t n = text_grapheme(s, off, &w);
        struct str g = str_sub(s, off, n);
        put(&p, shown(g, &tmp, ascii), g.ptr[0] == '\n', c, r, top, st);
        off += n;
    }
    if (p.x >= p.width) { /* the cursor needs a cell of its own */
        p.x = 0;
        p.y++;
    }
    buf_release(&tmp);
    return p;
}

int
field_rows(const struct field *f, int width)
{
    return walk(f, f->text.len, NULL, (struct rect){0, 0, width, 1}, 0, ST_TEXT, false).y + 1;
}

int
field_draw(const struct field *f, struct canvas *c, struct rect r, enum style st, bool ascii)
{
    if (r.w < 1 || r.h < 1)
        return 0;
    if (f->refused) {
        canvas_text(c, r, 0, 0, ST_WARN, STR("too long for here: not taken"));
        canvas_cursor(c, r.x, r.y);
        return 1;
    }
    struct place at = walk(f, f->cursor, NULL, r, 0, st, ascii);
    int top = at.y >= r.h ? at.y - r.h + 1 : 0;
    int rows = walk(f, f->text.len, c, r, top, st, ascii).y + 1 - top;
    canvas_cursor(c, r.x + at.x, r.y + at.y - top);
    return rows > r.h ? r.h : rows;
}
