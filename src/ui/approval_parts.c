#include "ui/approval_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define PARTS_MAX 256
#define HANG 7 /* columns before a part: "  ask  " */

/* What the layers of the chain look at (docs/permissions.md), in a word; others say it themselves. */
static const struct {
    const char *id, *named;
} layers[] = {
    {"L1", "L1 tool"},  {"L2", "L2 shell"},      {"L3", "L3 wrappers"}, {"L4", "L4 environment"},
    {"L5", "L5 reach"}, {"L6", "L6 classifier"}, {"L7", "L7 record"},   {"L8", "L8 sandbox"},
};

static const char *const lifts[] = {
    [LIFT_NONE] = "",
    [LIFT_PERSON] = "; only a person's yes lets it run",
    [LIFT_CLASSIFIER] = "; your yes lets it run, in auto mode also the classifier's",
};

/* ---- findings by part ---- */

struct part {
    const char *text; /* NULL: the request as a whole */
    enum verdict worst;
};

/* NULL: the request as a whole, also where a finding names nothing. */
static const char *
part_of(const struct finding *f)
{
    return f->part && *f->part ? f->part : NULL;
}

static bool
is_of(const struct finding *f, const char *part)
{
    const char *own = part_of(f);
    return own == part || (own && part && strcmp(own, part) == 0);
}

/* Distinct parts in the order they were first spoken of; *ret_more counts those past the cap. */
static size_t
find_parts(const struct decision *d, struct part *parts, size_t *ret_more)
{
    size_t n = 0;
    *ret_more = 0;
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct finding *f = &d->findings[i];
        size_t k = 0;
        while (k < n && !is_of(f, parts[k].text))
            k++;
        if (k == n && n == PARTS_MAX) {
            *ret_more += 1;
            continue;
        }
        if (k == n)
            parts[n++] = (struct part){part_of(f), VERDICT_NONE};
        if (f->verdict > parts[k].worst)
            parts[k].worst = f->verdict;
    }
    return n;
}

static struct str
verdict_word(enum verdict v)
{
    return v == VERDICT_DENY    ? STR("deny")
           : v == VERDICT_ASK   ? STR("ask")
           : v == VERDICT_ALLOW ? STR("ok")
                                : STR("-");
}

static enum style
verdict_style(enum verdict v)
{
    return v == VERDICT_DENY    ? ST_ERROR
           : v == VERDICT_ASK   ? ST_WARN
           : v == VERDICT_ALLOW ? ST_OK
                                : ST_DIM;
}

static struct str
layer_named(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(layers); i++)
        if (strcmp(layers[i].id, id) == 0)
            return str_from(layers[i].named);
    return str_from(id);
}

/* "L5 paths: outside the project", "rule Bash(rm:*)  asked for by a rule" */
static void
add_reason(struct flow *f, const struct finding *x, bool ascii)
{
    if (x->rule && strcmp(x->layer, "rules") == 0)
        flow_add(f, ST_DIM, STR("rule"));
    else
        strict_add(f, ST_DIM, layer_named(x->layer), ascii);
    if (x->rule) {
        flow_add(f, ST_TEXT, STR(" "));
        strict_add(f, ST_TEXT, str_from(x->rule), ascii);
    }
    if (x->reason) {
        flow_add(f, ST_TEXT, x->rule ? STR("  ") : STR(": "));
        strict_add(f, ST_TEXT, str_from(x->reason), ascii);
    }
}

struct parts {
    struct lines *out;
    const struct decision *d;
    struct str command;
    enum detail detail;
    int width;
    bool ascii, folded;
    int spare; /* rows for what would be cut */
    int more;  /* rows for reasons beyond the first of each part */
};

static void
begin_word(struct parts *p, enum verdict v)
{
    struct str word = verdict_word(v);
    lines_begin(p->out, false);
    lines_raw(p->out, ST_TEXT, STR("  "));
    lines_raw(p->out, verdict_style(v), word);
    lines_raw(p->out, ST_TEXT, str_sub(STR("     "), 0, 5 - word.len));
}

/* "  ok   make  rules Bash(make:*)", one row */
static void
ok_row(struct parts *p, const struct part *part)
{
    struct flow f;
    flow_init(&f);
    begin_word(p, part->worst);
    if (part->text) {
        strict_add(&f, ST_TEXT, str_from(part->text), p->ascii);
        flow_add(&f, ST_TEXT, STR("  "));
    }
    for (size_t i = 0; i < p->d->n_findings; i++)
        if (is_of(&p->d->findings[i], part->text) && p->d->findings[i].verdict == part->worst) {
            add_reason(&f, &p->d->findings[i], p->ascii);
            break;
        }
    for (size_t i = 0; i < f.text.len; i++)
        if (f.text.data[i] == '\n')
            f.text.data[i] = ' ';
    flow_cut(&f, p->out, p->width - HANG, p->ascii);
    flow_release(&f);
}

/* The text of a part behind its word: one or two rows of it. */
static void
part_text(struct parts *p, const char *text)
{
    struct buf b, cut;
    struct flow f;
    int room = p->width - HANG, rows = p->detail >= DETAIL_LINE ? 1 : 2;
    buf_init(&b, BUF_MAX);
    buf_init(&cut, BUF_MAX);
    flow_init(&f);
    strict_visible(&b, str_from(text), p->ascii);
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] == '\n')
            b.data[i] = ' ';
    p->folded |= fold_middle(&cut, buf_str(&b), (room < 1 ? 1 : room) * rows, p->ascii);
    flow_add(&f, ST_BOLD, buf_str(&cut));
    /* broken like the command, and the first piece goes behind the word */
    struct lines tmp;
    lines_init(&tmp);
    flow_break(&f, &tmp, &(struct indent){.width = room < 1 ? 1 : room});
    for (size_t i = 0; i < tmp.n; i++) {
        if (i) {
            lines_begin(p->out, true);
            lines_raw(p->out, ST_TEXT, STR("       "));
        }
        lines_raw(p->out, ST_BOLD, lines_text(&tmp, i));
    }
    lines_release(&tmp);
    flow_release(&f);
    buf_release(&cut);
    buf_release(&b);
}

/* The rows of a reason there are rows for: the last of them is cut. */
static void
some_rows(struct parts *p, struct flow *f, bool behind)
{
    struct lines all;
    struct flow last;
    lines_init(&all);
    flow_init(&last);
    flow_wrap(f, &all, &(struct indent){.width = p->width - HANG, .rest = STR("  ")});
    size_t n = all.n <= (size_t)p->spare ? all.n : (size_t)p->spare + 1;
    p->spare -= n ? (int)n - 1 : 0;
    for (size_t i = 0; i < all.n; i++) {
        if (i < n && !(i == 0 && behind)) {
            lines_begin(p->out, i > 0);
            lines_raw(p->out, ST_TEXT, STR("       "));
        }
        if (i + 1 < n || all.n == n) {
            lines_raw(p->out, ST_TEXT, lines_text(&all, i));
            continue;
        }
        struct str s = lines_text(&all, i);
        flow_add(&last, ST_TEXT, i + 1 == n ? s : str_trim(s));
        flow_add(&last, ST_TEXT, STR(" "));
    }
    if (all.n > n)
        flow_cut(&last, p->out, p->width - HANG, p->ascii);
    flow_release(&last);
    lines_release(&all);
}

/* A reason beyond the first of its part, as far as there are rows for it. */
static void
further_rows(struct parts *p, const struct finding *x)
{
    struct flow f;
    size_t before = p->out->n;
    int spare = p->spare;
    flow_init(&f);
    add_reason(&f, x, p->ascii);
    p->spare = p->more - 1;
    some_rows(p, &f, false);
    p->spare = spare;
    p->more -= (int)(p->out->n - before);
    flow_release(&f);
}

static void
reason_rows(struct parts *p, const struct finding *x, bool behind)
{
    struct flow f;
    struct lines tmp;
    flow_init(&f);
    lines_init(&tmp);
    add_reason(&f, x, p->ascii);
    if (p->spare > 0) {
        some_rows(p, &f, behind);
    } else if (p->detail >= DETAIL_FIRST) {
        if (!behind) {
            lines_begin(p->out, false);
            lines_raw(p->out, ST_TEXT, STR("       "));
        }
        flow_cut(&f, p->out, p->width - HANG, p->ascii);
    } else {
        flow_wrap(&f, &tmp, &(struct indent){.width = p->width - HANG, .rest = STR("  ")});
        for (size_t i = 0; i < tmp.n; i++)
            if (i == 0 && behind) {
                lines_raw(p->out, ST_TEXT, lines_text(&tmp, 0));
            } else {
                lines_begin(p->out, i > 0);
                lines_raw(p->out, ST_TEXT, STR("       "));
                lines_raw(p->out, ST_TEXT, lines_text(&tmp, i));
            }
    }
    lines_release(&tmp);
    flow_release(&f);
}

static void
asked_rows(struct parts *p, const struct part *part, bool alone)
{
    bool whole = !part->text || (alone && p->command.ptr && str_is(p->command, part->text));
    bool behind = whole, said = false;
    begin_word(p, part->worst);
    if (!whole)
        part_text(p, part->text);
    if (p->detail >= DETAIL_LINE && !whole)
        return;
    for (size_t i = 0; i < p->d->n_findings; i++) {
        const struct finding *x = &p->d->findings[i];
        if (!is_of(x, part->text) || x->verdict < VERDICT_ASK)
            continue;
        if (p->detail < DETAIL_FIRST || !said)
            reason_rows(p, x, behind);
        else if (p->more > 0)
            further_rows(p, x);
        behind = false;
        said = true;
    }
}

static bool
asks(const struct part *p)
{
    return p->worst >= VERDICT_ASK;
}

/* Those that ask as far as the rows reach; returns how many were left out. */
static size_t
put_asked(struct parts *p, const struct part *parts, size_t n, int max_rows)
{
    size_t start = p->out->n, left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!asks(&parts[i]))
            continue;
        struct lines_mark before = lines_mark(p->out);
        if (!left)
            asked_rows(p, &parts[i], n == 1);
        /* one row stays for the count of those left out */
        if (left || (max_rows > 0 && p->out->n - start > (size_t)max_rows - (i + 1 < n ? 1 : 0))) {
            lines_back(p->out, before);
            left++;
        }
    }
    return left;
}

bool
parts_lines(struct lines *out, const struct decision *d, struct str command, enum detail detail,
            int width, int rows, bool ascii)
{
    struct part *parts = xcalloc(PARTS_MAX, sizeof(*parts));
    struct parts p = {out, d, command, detail, width, ascii, false, 0, 0};
    size_t more, n = find_parts(d, parts, &more), ok = 0;
    p.spare = detail == DETAIL_FIRST ? rows : 0;
    struct lines_mark start = lines_mark(out);
    size_t left = put_asked(&p, parts, n, detail == DETAIL_COUNT ? rows : 0) + more;
    if (p.spare > 0) { /* the first reasons are whole: others get what is left */
        p.more = p.spare;
        p.spare = rows;
        lines_back(out, start);
        left = put_asked(&p, parts, n, 0) + more;
    }
    if (left) {
        lines_begin(out, false);
        lines_addf(out, ST_WARN, "  %s %zu more ask, w shows all", ascii ? ".." : "…", left);
        p.folded = true;
    }
    for (size_t i = 0; i < n; i++) {
        if (asks(&parts[i]) || parts[i].worst == VERDICT_NONE)
            continue;
        ok++;
        if (detail == DETAIL_ALL)
            ok_row(&p, &parts[i]);
    }
    if (ok && detail == DETAIL_NO_OK) {
        begin_word(&p, VERDICT_ALLOW);
        lines_addf(out, ST_DIM, "%zu more, w shows", ok);
    }
    free(parts);
    return p.folded;
}

/* ---- the whole chain ---- */

static void
chain_finding(struct lines *out, const struct finding *x, int width, bool ascii)
{
    struct flow f;
    flow_init(&f);
    flow_add(&f, verdict_style(x->verdict), verdict_word(x->verdict));
    flow_add(&f, ST_TEXT, str_sub(STR("     "), 0, 5 - verdict_word(x->verdict).len));
    strict_add(&f, ST_BOLD, layer_named(x->layer), ascii);
    flow_add(&f, ST_TEXT, STR("  "));
    strict_add(&f, ST_TEXT, str_from(x->reason), ascii);
    flow_wrap(&f, out, &(struct indent){.width = width, .rest = STR("     ")});
    if (x->rule) {
        flow_add(&f, ST_DIM, STR("rule "));
        strict_add(&f, ST_TEXT, str_from(x->rule), ascii);
        flow_wrap(&f, out,
                  &(struct indent){.width = width, .first = STR("     "), .rest = STR("       ")});
    }
    if (x->file) {
        struct buf b;
        buf_init(&b, 64);
        strict_add(&f, ST_DIM, str_from(x->file), ascii);
        if (x->line > 0)
            buf_addf(&b, ":%d", x->line);
        flow_add(&f, ST_DIM, buf_str(&b));
        buf_release(&b);
        flow_break(&f, out,
                   &(struct indent){.width = width, .first = STR("     "), .rest = STR("       ")});
    }
    if (x->confidence < 1) {
        lines_begin(out, false);
        lines_addf(out, ST_DIM, "     confidence %.2f", x->confidence);
    }
    flow_release(&f);
}

static void
put_verdict(struct lines *out, const struct decision *d, int width)
{
    struct flow f;
    struct buf b;
    flow_init(&f);
    buf_init(&b, 1024);
    buf_addf(&b, "verdict %s%s", verdict_name(d->verdict), lifts[d->liftable_by]);
    flow_add(&f, ST_DIM, buf_str(&b));
    flow_wrap(&f, out, &(struct indent){.width = width});
    buf_release(&b);
    flow_release(&f);
}

void
chain_lines(struct lines *out, const struct decision *d, int width, bool ascii)
{
    struct part *parts = xcalloc(PARTS_MAX, sizeof(*parts));
    size_t more, n = find_parts(d, parts, &more);
    struct flow f;
    flow_init(&f);
    for (size_t k = 0; k < n; k++) {
        if (out->n)
            lines_begin(out, false);
        strict_add(&f, ST_BOLD, parts[k].text ? str_from(parts[k].text) : STR("the request"),
                   ascii);
        flow_break(&f, out,
                   &(struct indent){.width = width, .rest = PARTS_BAR(ascii), .style = ST_DIM});
        for (size_t i = 0; i < d->n_findings; i++)
            if (is_of(&d->findings[i], parts[k].text))
                chain_finding(out, &d->findings[i], width, ascii);
    }
    if (more) {
        lines_begin(out, false);
        lines_addf(out, ST_WARN, "%zu findings of more parts: the audit log has them", more);
    }
    if (out->n)
        lines_begin(out, false);
    put_verdict(out, d, width);
    flow_release(&f);
    free(parts);
}
