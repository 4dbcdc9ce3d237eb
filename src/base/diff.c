#include "base/diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Edits searched for before a whole-block replacement stands in: the trace costs the square of it, 4 bytes each. */
enum { EDIT_CAP = 1500 };

static const char no_newline[] = "\\ No newline at end of file";

struct lines {
    struct str *at; /* with their newline, so that a missing last one is a difference */
    uint32_t *id;   /* equal lines have equal ids, on both sides */
    bool *changed;
    size_t n;
};

static void
split(struct str text, struct lines *ret)
{
    size_t cap = 0;

    *ret = (struct lines){.n = 0};
    for (size_t at = 0; at < text.len;) {
        size_t nl = str_find(text, '\n', at);
        size_t end = nl == (size_t)-1 ? text.len : nl + 1;
        ARRAY_GROW(ret->at, ret->n, cap);
        ret->at[ret->n++] = str_sub(text, at, end - at);
        at = end;
    }
    ret->id = xcalloc(ret->n + 1, sizeof *ret->id);
    ret->changed = xcalloc(ret->n + 1, sizeof *ret->changed);
}

static void
lines_release(struct lines *l)
{
    free(l->at);
    free(l->id);
    free(l->changed);
}

static uint64_t
hash_line(struct str s)
{
    uint64_t h = str_hash(s);

    return h ^ (h >> 29);
}

struct names {
    struct str *slot;
    uint32_t *id;
    size_t mask;
    uint32_t next;
};

static void
number(struct names *t, struct lines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        size_t s = (size_t)hash_line(l->at[i]) & t->mask;
        while (t->slot[s].ptr && !str_eq(t->slot[s], l->at[i]))
            s = (s + 1) & t->mask;
        if (!t->slot[s].ptr) {
            t->slot[s] = l->at[i];
            t->id[s] = ++t->next;
        }
        l->id[i] = t->id[s];
    }
}

static void
number_both(struct lines *a, struct lines *b)
{
    struct names t = {.mask = 15};

    while (t.mask < 2 * (a->n + b->n))
        t.mask = t.mask * 2 + 1;
    t.slot = xcalloc(t.mask + 1, sizeof *t.slot);
    t.id = xcalloc(t.mask + 1, sizeof *t.id);
    number(&t, a);
    number(&t, b);
    free(t.slot);
    free(t.id);
}

struct span {
    size_t a, b, na, nb; /* what is left between the common head and tail */
};

static struct span
trim_common(const struct lines *a, const struct lines *b)
{
    struct span s = {0, 0, a->n, b->n};

    while (s.na && s.nb && a->id[s.a] == b->id[s.b]) {
        s.a++;
        s.b++;
        s.na--;
        s.nb--;
    }
    while (s.na && s.nb && a->id[s.a + s.na - 1] == b->id[s.b + s.nb - 1]) {
        s.na--;
        s.nb--;
    }
    return s;
}

/* Did the path to diagonal k of round d come from above (an inserted line)? v: the round before. */
static bool
came_down(const int32_t *v, int k, int d)
{
    return k == -d || (k != d && v[k - 1] < v[k + 1]);
}

/* Walks the trace back from the end and marks what was deleted and inserted. trace[d] holds x for k = -d..d. */
static void
mark_back(struct span s, int32_t **trace, int d, struct lines *a, struct lines *b)
{
    int32_t x = (int32_t)s.na, y = (int32_t)s.nb;

    for (; d > 0; d--) {
        const int32_t *v = trace[d - 1] + (d - 1);
        bool down = came_down(v, x - y, d);
        int k = down ? x - y + 1 : x - y - 1;
        x = v[k];
        y = x - k;
        if (down)
            b->changed[s.b + (size_t)y] = true;
        else
            a->changed[s.a + (size_t)x] = true;
    }
}

/* Myers' greedy search, forwards, keeping each round's furthest points. False past EDIT_CAP edits. */
static bool
myers(struct span s, struct lines *a, struct lines *b)
{
    int32_t *trace[EDIT_CAP + 1], n = (int32_t)s.na, m = (int32_t)s.nb;
    int d, found = -1;

    for (d = 0; d <= EDIT_CAP && found < 0; d++) {
        trace[d] = xcalloc((size_t)(2 * d + 1), sizeof **trace);
        int32_t *v = trace[d] + d;
        const int32_t *old = d ? trace[d - 1] + (d - 1) : NULL;
        for (int k = -d; k <= d && found < 0; k += 2) {
            int32_t x = 0;
            if (d)
                x = came_down(old, k, d) ? old[k + 1] : old[k - 1] + 1;
            int32_t y = x - k;
            while (x < n && y < m && a->id[s.a + (size_t)x] == b->id[s.b + (size_t)y]) {
                x++;
                y++;
            }
            v[k] = x;
            if (x >= n && y >= m)
                found = d;
        }
    }
    if (found >= 0)
        mark_back(s, trace, found, a, b);
    while (d > 0)
        free(trace[--d]);
    return found >= 0;
}

static void
mark_changes(struct lines *a, struct lines *b)
{
    number_both(a, b);
    struct span s = trim_common(a, b);
    bool small = s.na < INT32_MAX / 2 && s.nb < INT32_MAX / 2;

    if (s.na && s.nb && small && myers(s, a, b))
        return;
    for (size_t i = 0; i < s.na; i++)
        a->changed[s.a + i] = true;
    for (size_t i = 0; i < s.nb; i++)
        b->changed[s.b + i] = true;
}

/* Builds hunks; line texts go to `text` as offsets first, since it moves while it grows. */
struct builder {
    struct diff *d;
    struct buf text;
    size_t cap_hunks, cap_lines;
};

static void
add_line(struct builder *w, char sign, struct str line)
{
    struct diff_hunk *h = &w->d->hunks[w->d->n_hunks - 1];
    bool ended = line.len && line.ptr[line.len - 1] == '\n';
    size_t at = w->text.len;

    buf_addc(&w->text, sign);
    buf_add(&w->text, line.ptr, line.len - ended);
    ARRAY_GROW(h->lines, h->n_lines, w->cap_lines);
    h->lines[h->n_lines++] = str_make((const char *)(uintptr_t)at, w->text.len - at);
    buf_addc(&w->text, '\n');
    h->old_lines += sign != '+';
    h->new_lines += sign != '-';
    w->d->removed += sign == '-';
    w->d->added += sign == '+';
    if (ended)
        return;
    at = w->text.len;
    buf_adds(&w->text, no_newline);
    ARRAY_GROW(h->lines, h->n_lines, w->cap_lines);
    h->lines[h->n_lines++] = str_make((const char *)(uintptr_t)at, w->text.len - at);
    buf_addc(&w->text, '\n');
}

static void
begin_hunk(struct builder *w, size_t old_at, size_t new_at)
{
    ARRAY_GROW(w->d->hunks, w->d->n_hunks, w->cap_hunks);
    w->d->hunks[w->d->n_hunks++] = (struct diff_hunk){.old_start = old_at, .new_start = new_at};
    w->cap_lines = 0;
}

/* Starts are counted from 1; an empty side names the line before it, as diff does. */
static void
end_hunk(struct builder *w)
{
    struct diff_hunk *h = &w->d->hunks[w->d->n_hunks - 1];

    h->old_start += h->old_lines > 0;
    h->new_start += h->new_lines > 0;
}

static void
build(struct builder *w, const struct lines *a, const struct lines *b, size_t context)
{
    size_t i = 0, j = 0, quiet = 0; /* quiet: unchanged lines pending since the last change */
    bool open = false;

    while (i < a->n || j < b->n) {
        bool del = i < a->n && a->changed[i], ins = j < b->n && b->changed[j];
        if (!del && !ins) {
            i++;
            j++;
            quiet++;
            continue;
        }
        bool join = open && quiet <= 2 * context;
        size_t lead = quiet < context ? quiet : context;
        if (open) /* the context behind the change before, whole when the hunks touch */
            for (size_t n = join ? quiet : lead, k = 0; k < n; k++)
                add_line(w, ' ', a->at[i - quiet + k]);
        if (!join) {
            if (open)
                end_hunk(w);
            begin_hunk(w, i - lead, j - lead);
            for (size_t k = 0; k < lead; k++)
                add_line(w, ' ', a->at[i - lead + k]);
        }
        open = true;
        quiet = 0;
        while (i < a->n && a->changed[i])
            add_line(w, '-', a->at[i++]);
        while (j < b->n && b->changed[j])
            add_line(w, '+', b->at[j++]);
    }
    if (!open)
        return;
    for (size_t k = 0; k < quiet && k < context; k++)
        add_line(w, ' ', a->at[i - quiet + k]);
    end_hunk(w);
}

void
diff_make(struct str before, struct str after, unsigned context, struct diff *ret)
{
    struct lines a, b;
    struct builder w = {.d = ret};

    *ret = (struct diff){.n_hunks = 0};
    split(before, &a);
    split(after, &b);
    mark_changes(&a, &b);
    buf_init(&w.text, SIZE_MAX / 2);
    build(&w, &a, &b, context);
    ret->text = buf_take(&w.text);
    for (size_t i = 0; i < ret->n_hunks; i++)
        for (size_t k = 0; k < ret->hunks[i].n_lines; k++) {
            struct str *s = &ret->hunks[i].lines[k];
            s->ptr = ret->text + (uintptr_t)s->ptr;
        }
    buf_release(&w.text);
    lines_release(&a);
    lines_release(&b);
}

void
diff_release(struct diff *d)
{
    for (size_t i = 0; i < d->n_hunks; i++)
        free(d->hunks[i].lines);
    free(d->hunks);
    free(d->text);
    *d = (struct diff){.n_hunks = 0};
}

static void
write_range(struct buf *out, char sign, size_t start, size_t n)
{
    if (n == 1)
        buf_addf(out, " %c%zu", sign, start);
    else
        buf_addf(out, " %c%zu,%zu", sign, start, n);
}

void
diff_write(const struct diff *d, struct buf *out)
{
    for (size_t i = 0; i < d->n_hunks; i++) {
        const struct diff_hunk *h = &d->hunks[i];
        buf_adds(out, "@@");
        write_range(out, '-', h->old_start, h->old_lines);
        write_range(out, '+', h->new_start, h->new_lines);
        buf_adds(out, " @@\n");
        for (size_t k = 0; k < h->n_lines; k++) {
            buf_add_str(out, h->lines[k]);
            buf_addc(out, '\n');
        }
    }
}
