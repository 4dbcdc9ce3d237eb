#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/approval.h"
#include "ui/approval_parts.h"
#include "ui/diffview.h"
#include "ui/fmt.h"
#include "ui/keys.h"

#define ONLY_MAX ((size_t)8 << 10)   /* bytes of an input that is looked into */
#define WHOLE_MAX ((size_t)64 << 10) /* bytes of a text shown in full by `w` */

/* A pane being drawn: a head and a foot that stay, and in between what stays and what scrolls. */
struct sheet {
    struct approval *a;
    const struct view *v;
    const struct ask *ask;
    int w, h;
    bool focus, ascii;
    int64_t now_ms;
    struct lines odd, top, scroll, foot;
    struct buf words; /* of a search, for ask_text */
    bool shortened;   /* even what scrolls is not all of it */
};

/* The short word for it holds all there is: the only argument. */
static bool
is_all_of(const struct ask *ask)
{
    struct str input = str_from(ask->ev->u.ask.input);
    struct err err;
    struct cJSON *tree = input.len < ONLY_MAX ? json_parse(input, &err) : NULL;
    const struct cJSON *only = json_is_object(tree) ? json_first(tree) : NULL;
    bool all = only && !json_next(only) && ask->ev->u.ask.what &&
               str_is(json_str(tree, json_key(only)), ask->ev->u.ask.what);
    json_free(tree);
    return all;
}

/* Borrowed until the next call. */
static struct str
ask_text(struct sheet *s, const char **ret_prefix)
{
    const struct ask *ask = s->ask;
    *ret_prefix = ask->ev->u.ask.command ? "$ " : "> ";
    if (ask->ev->u.ask.command)
        return str_from(ask->ev->u.ask.command);
    if (ask->ev->u.ask.diff || !ask->ev->u.ask.input || is_all_of(ask))
        return str_from(ask->ev->u.ask.what);
    struct str input = str_from(ask->ev->u.ask.input);
    buf_clear(&s->words);
    return search_lines(&s->words, str_from(ask->ev->u.ask.tool), input) ? buf_str(&s->words)
                                                                         : input;
}

/* ---- what is asked ---- */

/* The findings in the most detail that leaves some of `rows` to the text, which has need of so many. True: some that asks is not wholly there. */
static bool
fit_findings(struct lines *out, const struct decision *d, struct str text, int rows, int need,
             int w, bool ascii)
{
    bool hidden = false;
    int least = need < 3 ? need : 3;
    for (int detail = DETAIL_ALL; detail <= DETAIL_COUNT; detail++) {
        int room = rows - least > 1 ? rows - least : 1;
        lines_clear(out);
        hidden = parts_lines(out, d, text, (enum detail)detail, w,
                             detail == DETAIL_COUNT ? room : 0, ascii);
        if ((int)out->n > room)
            continue;
        int spare = rows - need - (int)out->n;
        if (detail == DETAIL_FIRST && spare > 0) {
            lines_clear(out);
            hidden = parts_lines(out, d, text, DETAIL_FIRST, w, spare, ascii);
        }
        break;
    }
    return hidden;
}

static void
append(struct lines *out, const struct lines *from)
{
    for (size_t i = 0; i < from->n; i++) {
        lines_begin(out, from->line[i].soft);
        for (uint32_t k = 0; k < from->line[i].n_spans; k++) {
            const struct span *x = &from->spans[from->line[i].span + k];
            lines_raw(out, (enum style)x->style, str_sub(buf_str(&from->text), x->off, x->len));
        }
    }
}

static void
wrapped(struct lines *out, enum style st, const char *text, const char *first, int w, bool strict,
        bool ascii)
{
    struct flow f;
    struct buf b;
    flow_init(&f);
    buf_init(&b, BUF_MAX);
    if (strict)
        strict_visible(&b, str_from(text), ascii);
    flow_add(&f, st, strict ? buf_str(&b) : str_from(text));
    if (strict)
        flow_break(&f, out,
                   &(struct indent){.width = w, .first = str_from(first), .rest = STR("    ")});
    else
        flow_wrap(&f, out,
                  &(struct indent){.width = w, .first = str_from(first), .rest = str_from(first)});
    buf_release(&b);
    flow_release(&f);
}

/* Inside the sandbox or not, where there is one and a row is left for it. */
static void
sandbox_row(struct sheet *s, int rows)
{
    const struct decision *d = &s->ask->ev->u.ask.decision;
    struct lines found;
    lines_init(&found);
    for (size_t i = 0; i < d->n_findings && !found.n; i++)
        if (strcmp(d->findings[i].layer, "L8") == 0 && d->findings[i].verdict == VERDICT_NONE)
            wrapped(&found, ST_DIM, d->findings[i].reason, "  ", s->w, true, s->ascii);
    if ((int)(s->top.n + found.n) <= rows)
        append(&s->top, &found);
    lines_release(&found);
}

/* What the mode means comes before any other reason: who answers yes makes an exception from it. */
static void
mode_row(struct sheet *s, struct lines *out)
{
    const struct decision *d = &s->ask->ev->u.ask.decision;
    for (size_t i = 0; s->v->mode == PERM_PLAN && i < d->n_findings && !out->n; i++)
        if (strcmp(d->findings[i].layer, "mode") == 0)
            wrapped(out, ST_WARN, "plan mode changes nothing: yes makes an exception", "  ", s->w,
                    false, s->ascii);
}

/* What is not what it seems, in at most so many rows. Returns how many. */
static int
put_odd(struct sheet *s, struct lines *out, int most)
{
    int all = (int)s->odd.n, n = all <= most ? all : most - 1;
    for (int i = 0; i < n; i++) {
        lines_begin(out, false);
        lines_raw(out, ST_WARN, lines_text(&s->odd, (size_t)i));
    }
    if (all <= most || most < 1)
        return n < 0 ? 0 : n;
    lines_begin(out, false);
    lines_addf(out, ST_WARN, "! %d%s of odd signs, w shows", all - n,
               n         ? " more kinds"
               : all > 1 ? " kinds"
                         : " kind");
    return most;
}

/* The request and its findings in `rows`: what asks comes first, the text gets what is left. */
static void
main_lines(struct sheet *s, int rows)
{
    const char *prefix;
    struct str text = ask_text(s, &prefix);
    struct lines whole, found;
    struct lines mode;
    lines_init(&mode);
    lines_init(&whole);
    lines_init(&found);
    mode_row(s, &mode);
    if (rows > 4 + (int)mode.n)
        rows -= (int)mode.n;
    else
        lines_clear(&mode);
    int odd = put_odd(s, &s->top, rows > 3 ? rows * 2 / 5 : rows - 2);
    rows -= odd;
    text_rows(&whole, text, str_from(prefix), s->w, 64, s->ascii);
    int need = (int)whole.n, diff = s->ask->ev->u.ask.diff && rows > 6 ? 3 : 0;
    bool hidden =
        fit_findings(&found, &s->ask->ev->u.ask.decision, text, rows - diff, need, s->w, s->ascii);
    int room = rows - diff - (int)found.n;
    bool cut = text_rows(&s->top, text, str_from(prefix), s->w, room < 1 ? 1 : room, s->ascii);
    append(&s->top, &mode);
    rows += (int)mode.n + odd;
    append(&s->top, &found);
    sandbox_row(s, rows - diff);
    lines_release(&mode);
    if (s->ask->ev->u.ask.diff)
        diffview_lines(&s->scroll, str_from(s->ask->ev->u.ask.diff), s->w, 2, 0);
    s->a->seen.text |= !hidden && !cut && (int)s->top.n <= rows;
    s->a->seen.diff |= (int)(s->top.n + s->scroll.n) <= rows;
    s->a->folded = !s->a->seen.text || !s->a->seen.diff;
    lines_release(&whole);
    lines_release(&found);
}

static void
why_lines(struct sheet *s)
{
    const char *prefix;
    struct str text = ask_text(s, &prefix);
    struct lines *out = &s->scroll;
    (void)put_odd(s, out, (int)s->odd.n);
    int most = text.len > 2 * WHOLE_MAX ? 2000 : 1 << 20;
    s->shortened = text_rows(out, text, str_from(prefix), s->w, most, s->ascii);
    chain_lines(out, &s->ask->ev->u.ask.decision, s->w, s->ascii);
    if (s->ask->ev->u.ask.diff) {
        lines_begin(out, false);
        diffview_lines(out, str_from(s->ask->ev->u.ask.diff), s->w, 2, 0);
    }
}

/* What "always" would save, and where, before it is saved. */
static void
always_lines(struct sheet *s)
{
    const struct event *e = s->ask->ev;
    const char *head = !e->u.ask.rules_file
                           ? "No narrow rule would do. Allow exactly this until the session ends:"
                       : e->u.ask.n_rules == 1 ? "Always allow by this rule:"
                                               : "Always allow by these rules:";
    wrapped(&s->top, ST_BOLD, head, "", s->w, false, s->ascii);
    for (size_t i = 0; i < e->u.ask.n_rules; i++)
        wrapped(&s->scroll, ST_CODE, e->u.ask.rules[i], "  ", s->w, true, s->ascii);
    if (e->u.ask.rules_file) {
        wrapped(&s->scroll, ST_TEXT, "saved in", "", s->w, false, s->ascii);
        wrapped(&s->scroll, ST_TEXT, e->u.ask.rules_file, "  ", s->w, true, s->ascii);
    }
}

/* ---- drawing ---- */

static int
draw_lines(const struct lines *l, struct canvas *c, struct rect r, int y, int from, int rows)
{
    for (int i = from; i < (int)l->n && i - from < rows; i++)
        lines_draw(l, (size_t)i, c, r, 0, y++);
    return y;
}

/* "Bash   main agent        waited 3s" */
static void
draw_head(const struct sheet *s, struct canvas *c, struct rect r)
{
    struct buf b;
    const char *agent = s->ask->ev->agent;
    buf_init(&b, 1 << 16);
    buf_adds(&b, s->w < 24 ? "" : "waited ");
    fmt_seconds(&b, s->now_ms - s->ask->since_ms);
    int right = text_width(buf_str(&b)), room = s->w - right - 1;
    struct rect left = {r.x, r.y, room > 0 ? room : 0, 1};
    if (room > 0)
        canvas_text(c, r, s->w - right, 0, ST_DIM, buf_str(&b));
    buf_clear(&b);
    strict_visible(&b, str_from(s->ask->ev->u.ask.tool), s->ascii);
    int x = canvas_text(c, left, 0, 0, ST_TOOL, buf_str(&b));
    buf_clear(&b);
    strict_visible(&b, str_from(agent ? agent : "main agent"), s->ascii);
    canvas_text(c, left, x < 5 ? 7 : x + 2, 0, agent ? ST_WARN : ST_DIM, buf_str(&b));
    buf_release(&b);
}

static void
draw_field(struct sheet *s, struct canvas *c, struct rect r)
{
    struct rect in = r;
    if (s->a->typing_reason) {
        int x = canvas_text(c, r, 0, 0, ST_DIM,
                            s->w >= 24 ? STR("reason (may be empty): ") : STR("reason: "));
        if (s->w - x < 16 && r.h > 1) {
            in.y++;
            in.h--;
        } else {
            in.x += x;
            in.w -= x;
        }
    } else {
        canvas_text(c, r, 0, 0, ST_DIM, STR("$ "));
        in.x += 2;
        in.w -= 2;
    }
    int cx = c->cursor_x, cy = c->cursor_y;
    field_draw(&s->a->field, c, in, ST_TEXT, s->ascii);
    if (!s->focus)
        canvas_cursor(c, cx, cy);
}

static int
field_height(const struct sheet *s)
{
    if (s->a->editing)
        return field_rows(&s->a->field, s->w - 2);
    if (!s->a->typing_reason)
        return 0;
    int label = s->w >= 24 ? 23 : 8;
    if (s->w - label < 16)
        return 1 + field_rows(&s->a->field, s->w);
    return field_rows(&s->a->field, s->w - label);
}

/* Fills the body. Whether all of the request fits is found out in every mode: the keys that are offered hang on it. */
static void
make_body(struct sheet *s, int rows)
{
    lines_clear(&s->top);
    lines_clear(&s->scroll);
    main_lines(s, rows);
    if (!s->a->editing && !s->a->confirm_always && !s->a->diff_open && !s->a->why)
        return;
    lines_clear(&s->top);
    lines_clear(&s->scroll);
    if (s->a->editing)
        return;
    if (s->a->confirm_always)
        always_lines(s);
    else if (s->a->diff_open)
        diffview_lines(&s->scroll, str_from(s->ask->ev->u.ask.diff), s->w, 0, 0);
    else
        why_lines(s);
}

/* Where one is in what scrolls, at the end of its last row. */
static void
draw_more(const struct sheet *s, struct canvas *c, struct rect r, int y, int rows)
{
    int left = (int)s->scroll.n - s->a->scroll - rows;
    if (left <= 0 || rows < 1)
        return;
    struct buf b;
    buf_init(&b, 128);
    buf_addf(&b, " %d more, PgDn ", left);
    int x = s->w - text_width(buf_str(&b));
    canvas_text(c, r, x > 0 ? x : 0, y, ST_SELECT, buf_str(&b));
    buf_release(&b);
}

/* One row for all of it: the keys, then what they would answer. */
static void
draw_row_only(struct sheet *s, struct canvas *c, struct rect r)
{
    const char *prefix;
    struct str text = ask_text(s, &prefix);
    int x = 0;
    const enum key_action acts[] = {s->focus ? ACT_ONCE : ACT_PANE3, ACT_NO};
    for (int i = 0; i <= s->focus; i++) {
        const char *k = keys_of(acts[i]);
        if (k)
            x += canvas_textf(c, (struct rect){r.x + x, r.y, r.w - x, 1}, 0, 0, ST_KEY, "%s ",
                              keys_shown(k));
    }
    s->w = r.w - x;
    if (s->w < 1)
        return;
    s->a->folded = true;
    memset(&s->a->seen, 0, sizeof s->a->seen);
    (void)text_rows(&s->top, text, str_from(prefix), s->w, 1, s->ascii);
    lines_draw(&s->top, 0, c, (struct rect){r.x + x, r.y, s->w, 1}, 0, 0);
}

/* What scrolls has been on the screen as far as it was gone through from its start, without a jump. */
static void
note_seen(struct sheet *s, int room)
{
    struct approval *a = s->a;
    enum {
        MAIN,
        DIFF,
        WHY,
        RULES,
        FIELD
    } view = a->editing          ? FIELD
             : a->confirm_always ? RULES
             : a->diff_open      ? DIFF
             : a->why            ? WHY
                                 : MAIN;
    if (a->seen.view != (int)view || a->seen.w != s->w)
        a->seen.to = 0;
    a->seen.view = (int)view;
    a->seen.w = s->w;
    if (!s->focus || view == FIELD)
        return;
    bool covered = a->scroll < a->max_scroll && room > 1; /* the last row, by draw_more */
    int end = a->scroll + room - covered;
    if (a->scroll <= a->seen.to && end > a->seen.to)
        a->seen.to = end;
    bool all = a->seen.to >= (int)s->scroll.n && !s->shortened;
    a->seen.rules |= all && view == RULES;
    a->seen.diff |= all && view != RULES;
    a->seen.text |= all && view == WHY;
}

struct split {
    int head, field, foot, rows,
        top; /* rows of the head, a field, the foot; of the body, and those of it that stay */
};

static struct split
lay_out(struct sheet *s)
{
    struct split p = {.head = s->h >= 4};
    s->a->folded = false; /* the longest foot first: making it again below never needs more rows */
    approval_foot(&s->foot, s->a, s->v, s->w, s->h);
    p.foot = (int)s->foot.n < s->h - p.head ? (int)s->foot.n : s->h - p.head;
    p.field = field_height(s);
    if (p.field && s->h == 1) /* what is typed comes before the keys */
        p.foot = 0;
    p.rows = s->h - p.head - p.foot;
    int most = s->a->editing ? p.rows : p.rows > 3 ? p.rows / 2 : 1;
    p.field = p.field > most ? most : p.field;
    p.rows -= p.field;
    make_body(s, p.rows);
    if (s->a->folded) {
        lines_clear(&s->foot);
        approval_foot(&s->foot, s->a, s->v, s->w, s->h);
        int spare = p.foot - (int)s->foot.n;
        if (spare > 0) { /* without "always" there is a row more */
            p.foot -= spare;
            p.rows += spare;
            make_body(s, p.rows);
            s->a->folded = true;
        }
    }
    p.top = (int)s->top.n < p.rows ? (int)s->top.n : p.rows;
    return p;
}

static void
draw_sheet(struct sheet *s, struct canvas *c, struct rect r)
{
    struct split p = lay_out(s);
    int room = p.rows - p.top;
    s->a->max_scroll = (int)s->scroll.n > room ? (int)s->scroll.n - room : 0;
    s->a->page = room;
    if (s->a->scroll > s->a->max_scroll)
        s->a->scroll = s->a->max_scroll;
    bool was_folded = s->a->folded;
    note_seen(s, room);
    s->a->folded &= !s->a->seen.text || !s->a->seen.diff;
    if (was_folded &&
        !s->a->folded) { /* the last of it came into view just now: "always" has to be among the keys */
        lines_clear(&s->foot);
        p = lay_out(s);
        room = p.rows - p.top;
    }
    if (p.head)
        draw_head(s, c, r);
    draw_lines(&s->top, c, r, p.head, 0, p.top);
    draw_lines(&s->scroll, c, r, p.head + p.top, s->a->scroll, room);
    draw_more(s, c, r, p.head + p.rows - 1, room);
    if (p.field > 0)
        draw_field(s, c,
                   (struct rect){r.x, r.y + p.head + (s->a->editing ? 0 : p.rows), r.w, p.field});
    draw_lines(&s->foot, c, r, s->h - p.foot, 0, p.foot);
}

void
approval_draw(struct approval *a, const struct view *v, struct canvas *c, struct rect r, bool focus,
              bool ascii, int64_t now_ms)
{
    struct sheet s = {.a = a,
                      .v = v,
                      .ask = approval_ask(a, v),
                      .w = r.w,
                      .h = r.h,
                      .focus = focus,
                      .ascii = ascii,
                      .now_ms = now_ms};
    /* who types into the prompt while the focus moves here must not answer by that */
    if ((focus && !a->focused) || a->drawn != a->serial)
        a->shown_since_ms = now_ms;
    a->focused = focus;
    if (r.w > 0 && r.h > 0)
        a->drawn = a->serial; /* also beside the prompt: who then goes there by a key saw it */
    if (r.w < 1 || r.h < 1)
        return;
    if (!s.ask) {
        canvas_text(c, r, 0, 0, ST_DIM,
                    v->n_asks ? STR("answered, the engine has it") : STR("nothing waits"));
        return;
    }
    const char *prefix;
    lines_init(&s.odd);
    lines_init(&s.top);
    lines_init(&s.scroll);
    lines_init(&s.foot);
    buf_init(&s.words, BUF_MAX);
    odd_lines(&s.odd, ask_text(&s, &prefix), false, s.w, ascii);
    odd_lines(&s.odd, str_from(s.ask->ev->u.ask.diff), true, s.w, ascii);
    if (r.h == 1 && !a->typing_reason && !a->editing && !a->confirm_always)
        draw_row_only(&s, c, r);
    else
        draw_sheet(&s, c, r);
    lines_release(&s.odd);
    lines_release(&s.top);
    lines_release(&s.scroll);
    lines_release(&s.foot);
    buf_release(&s.words);
}
