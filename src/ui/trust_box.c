#include "ui/trust_box.h"

#include "base/json.h"
#include "ui/approval_parts.h"
#include "ui/keys.h"
#include "ui/lines.h"
#include "ui/page.h"

#define BOX_WIDEST 84

void
trust_box_init(struct trust_box *t)
{
    *t = (struct trust_box){0};
}

void
trust_box_release(struct trust_box *t)
{
    json_free(t->answer);
    t->answer = NULL;
}

struct op *
trust_box_ask(struct trust_box *t)
{
    struct op *op = op_new(OP_QUERY, NULL);
    op->query = QUERY_TRUST;
    op->seq = t->seq = TRUST_SEQ;
    return op;
}

void
trust_box_answer(struct trust_box *t, const struct event *ev)
{
    if (!t->seq || ev->seq != t->seq)
        return;
    t->seq = 0;
    json_free(t->answer);
    t->answer = json_parse(str_from(ev->u.answer.json), NULL);
    t->scroll = t->seen_to = 0;
}

bool
trust_box_key(struct trust_box *t, int key)
{
    int page = t->seen > 1 ? t->seen - 1 : 1;
    int by = key == YK_UP     ? -1
             : key == YK_DOWN ? 1
             : key == YK_PGUP ? -page
             : key == YK_PGDN ? page
                              : 0;
    if (!by || t->rows <= t->seen)
        return false;
    t->scroll += by;
    return true;
}

/* As strict as the approval pane: nothing in these texts may hide or look like another line of the box. */
static void
strict_line(struct buf *out, struct str s, bool ascii)
{
    strict_visible(out, s, ascii);
    for (size_t i = 0; i < out->len; i++)
        if (out->data[i] == '\n')
            out->data[i] = ' ';
}

static void
write_held(const struct cJSON *h, struct lines *out, int width, bool ascii)
{
    struct buf b, shown;
    buf_init(&b, 8192);
    buf_init(&shown, BUF_MAX);
    buf_addf(&b, "%s, %s", json_cstr(h, "what", ""), json_cstr(h, "file", ""));
    strict_line(&shown, buf_str(&b), ascii);
    page_para(out, ST_BOLD, buf_str(&shown), width);
    for (const struct cJSON *i = json_first(json_at(h, "items")); i; i = json_next(i)) {
        struct flow f;
        flow_init(&f);
        buf_clear(&shown);
        strict_line(&shown, json_value_str(i), ascii);
        flow_add(&f, ST_CODE, buf_str(&shown));
        flow_break(&f, out,
                   &(struct indent){.width = width, .first = STR("  "), .rest = STR("    ")});
        flow_release(&f);
    }
    buf_release(&shown);
    buf_release(&b);
}

static void
write_box(const struct trust_box *t, struct lines *out, int width, const char *root, bool ascii)
{
    const struct cJSON *held = json_at(t->answer, "held");
    struct buf shown;
    buf_init(&shown, BUF_MAX);
    strict_line(&shown, str_from(root ? root : ""), ascii);
    page_para(out, ST_TEXT, buf_str(&shown), width);
    buf_release(&shown);
    if (!t->answer) {
        page_para(out, ST_DIM, STR("looking at its settings ..."), width);
    } else if (!json_len(held)) {
        page_para(
            out, ST_TEXT,
            STR("It brings no settings of its own. Trusted, \"always\" answers are saved for it."),
            width);
    } else {
        page_para(out, ST_TEXT,
                  STR("It brings settings of its own. They stay off until you trust it:"), width);
        for (const struct cJSON *h = json_first(held); h; h = json_next(h))
            write_held(h, out, width, ascii);
    }
}

bool
trust_box_gives(const struct trust_box *t)
{
    return json_len(json_at(t->answer, "held")) > 0;
}

bool
trust_box_all_seen(const struct trust_box *t)
{
    return t->seen_to >= t->rows;
}

static struct str
keys_words(const struct trust_box *t, int w, bool armed)
{
    if (armed && trust_box_gives(t) && !trust_box_all_seen(t))
        return w < 44 ? STR(" PgDn first ") : STR(" PgDn: the rest first  Esc back ");
    if (armed && trust_box_gives(t))
        return w < 44 ? STR(" Enter trusts ") : STR(" Enter trusts it  Esc back ");
    if (w < 44)
        return STR(" y trust  n no ");
    return t->answer && !trust_box_gives(t) ? STR(" y trust it  n not now ")
                                            : STR(" y trust it  n keep them off ");
}

/* The keys are on the lower border, and so always there. */
static void
draw_keys(const struct trust_box *t, struct canvas *c, struct rect r, bool armed)
{
    struct rect line = {r.x + 1, r.y + r.h - 1, r.w - 2, 1};
    canvas_text(c, line, 1, 0, ST_WARN, keys_words(t, line.w, armed));
    if (t->rows > t->seen && line.w >= 34)
        canvas_textf(c, line, line.w - 15, 0, ST_DIM, " %d-%d of %d ", t->scroll + 1,
                     t->scroll + t->seen, t->rows);
}

bool
trust_box_fits(struct rect r)
{
    return r.h >= 4 && r.w >= 20;
}

void
trust_box_draw(struct trust_box *t, struct canvas *c, struct rect r, const char *root, bool armed,
               bool ascii)
{
    struct lines l;
    int w = r.w > BOX_WIDEST ? BOX_WIDEST : r.w;
    if (!trust_box_fits(r))
        return;
    lines_init(&l);
    write_box(t, &l, w - 4, root, ascii);
    int h = (int)l.n + 2 > r.h ? r.h : (int)l.n + 2;
    struct rect box = {r.x + (r.w - w) / 2, r.y + (r.h - h) / 2, w, h};
    struct rect in = {box.x + 2, box.y + 1, box.w - 4, box.h - 2};
    if (t->wide != w) /* rows of another width are other rows */
        t->scroll = t->seen_to = 0;
    t->wide = w;
    t->rows = (int)l.n;
    t->seen = in.h;
    if (t->scroll > t->rows - t->seen)
        t->scroll = t->rows - t->seen;
    if (t->scroll < 0)
        t->scroll = 0;
    if (t->answer && t->scroll <= t->seen_to && t->scroll + t->seen > t->seen_to)
        t->seen_to = t->scroll + t->seen;
    canvas_fill(c, box, ST_TEXT, NULL);
    canvas_box(c, box, ST_BORDER_FOCUS, STR("trust this folder?"), ascii);
    for (int y = 0; y < in.h && y + t->scroll < t->rows; y++)
        lines_draw(&l, (size_t)(y + t->scroll), c, in, 0, y);
    draw_keys(t, c, box, armed);
    lines_release(&l);
}
