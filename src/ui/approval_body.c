/* What a permission request says, in the rows there are for it: the text, what asks, the whole chain, the rule that would be saved. */
#include <string.h>

#include "base/json.h"
#include "ui/approval_parts.h"
#include "ui/approval_sheet.h"
#include "ui/diffview.h"

#define ONLY_MAX ((size_t)8 << 10)   /* bytes of an input that is looked into */
#define WHOLE_MAX ((size_t)64 << 10) /* bytes of a text shown in full by `w` */

/* The short word for it holds all there is: the only argument. */
static bool
is_all_of(const struct ask *ask)
{
    struct str input = str_from(ask->ev->u.ask.input);
    struct cJSON *tree = input.len < ONLY_MAX ? json_parse(input, NULL) : NULL;
    const struct cJSON *only = json_is_object(tree) ? json_first(tree) : NULL;
    bool all = only && !json_next(only) && ask->ev->u.ask.what &&
               str_is(json_str(tree, json_key(only)), ask->ev->u.ask.what);
    json_free(tree);
    return all;
}

/* Borrowed until the next call. */
struct str
sheet_text(struct sheet *s, const char **ret_prefix)
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
fit_findings(struct sheet *s, struct lines *out, struct str text, int rows, int need)
{
    const struct decision *d = &s->ask->ev->u.ask.decision;
    bool hidden = false, ascii = s->ascii;
    int least = need < 3 ? need : 3, all = 0, w = s->w;
    for (int detail = DETAIL_ALL; detail <= DETAIL_COUNT; detail++) {
        int room = rows - least > 1 ? rows - least : 1;
        lines_clear(out);
        hidden = parts_lines(out, d, text, (enum detail)detail, w,
                             detail == DETAIL_COUNT ? room : 0, ascii);
        all = detail == DETAIL_ALL ? (int)out->n : all;
        if ((int)out->n > room)
            continue;
        int spare = rows - need - (int)out->n;
        if (detail == DETAIL_FIRST && spare > 0) {
            lines_clear(out);
            hidden = parts_lines(out, d, text, DETAIL_FIRST, w, spare, ascii);
        }
        if (detail == DETAIL_FIRST && spare > 1 && (int)out->n < all) { /* a row to say that */
            lines_clear(out);
            hidden = parts_lines(out, d, text, DETAIL_FIRST, w, spare - 1, ascii);
        }
        if (detail == DETAIL_FIRST || (detail == DETAIL_LINE && spare > 0))
            s->missing = all > (int)out->n ? all - (int)out->n : 0;
        break;
    }
    return hidden;
}

static void
append(struct lines *out, const struct lines *from)
{
    for (size_t i = 0; i < from->n; i++)
        lines_copy(out, from, i);
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
void
sheet_main(struct sheet *s, int rows)
{
    const char *prefix;
    struct str text = sheet_text(s, &prefix);
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
    bool hidden = fit_findings(s, &found, text, rows - diff, need);
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

int
sheet_rows(struct sheet *s)
{
    const char *prefix;
    struct str text = sheet_text(s, &prefix);
    struct lines all;
    lines_init(&all);
    mode_row(s, &all);
    text_rows(&all, text, str_from(prefix), s->w, 64, s->ascii);
    (void)parts_lines(&all, &s->ask->ev->u.ask.decision, text, DETAIL_ALL, s->w, 0, s->ascii);
    int rows = (int)(s->odd.n + all.n) + (s->ask->ev->u.ask.diff ? 3 : 0);
    lines_release(&all);
    return rows;
}

void
sheet_diff(struct sheet *s, int rows)
{
    const char *prefix;
    struct str text = sheet_text(s, &prefix);
    int most = rows > 6 ? 3 : 1;
    if (rows > 1)
        (void)text_rows(&s->top, text, str_from(prefix), s->w, most, s->ascii);
    diffview_lines(&s->scroll, str_from(s->ask->ev->u.ask.diff), s->w, 0, 0);
}

void
sheet_why(struct sheet *s)
{
    const char *prefix;
    struct str text = sheet_text(s, &prefix);
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
void
sheet_always(struct sheet *s)
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
