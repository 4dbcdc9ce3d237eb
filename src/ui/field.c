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
after(const struct field *f)
{
    int w;
    if (f->cursor >= f->text.len)
        return f->cursor;
    return f->cursor + text_grapheme(buf_str(&f->text), f->cursor, &w);
}

static size_t
before(const struct field *f)
{
    return f->cursor ? text_grapheme_before(buf_str(&f->text), f->cursor) : 0;
}

static bool
move_key(struct field *f, int key)
{
    switch (key) {
    case YK_LEFT:
        f->cursor = before(f);
        return true;
    case YK_RIGHT:
        f->cursor = after(f);
        return true;
    case YK_HOME:
    case 'a' | KM_CTRL:
        f->cursor = 0;
        return true;
    case YK_END:
    case 'e' | KM_CTRL:
        f->cursor = f->text.len;
        return true;
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
    switch (key) {
    case YK_BACKSPACE:
        replace(f, before(f), f->cursor, STR(""));
        return true;
    case YK_DELETE:
        replace(f, f->cursor, after(f), STR(""));
        return true;
    case 'u' | KM_CTRL:
        replace(f, 0, f->cursor, STR(""));
        return true;
    case 'k' | KM_CTRL:
        replace(f, f->cursor, f->text.len, STR(""));
        return true;
    case YK_PASTE:
        paste(f, typed);
        return true;
    default:
        break;
    }
    if (move_key(f, key))
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
