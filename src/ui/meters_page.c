/* The page behind Alt+M: where the context went, what it cost, request by request. Drawn from QUERY_METERS alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/fmt.h"
#include "ui/meters_context.h"
#include "ui/page.h"
#include "ui/plot.h"
#include "ui/table.h"

#define PLOT_ROWS 6

struct mp {
    const struct cJSON *a; /* the answer */
    struct lines *out;
    int width;
    bool ascii;
};

static void
add_usd(struct buf *b, const struct cJSON *row)
{
    const struct cJSON *cost = json_at(row, "cost_usd");
    if (json_is_num(cost) && json_value_num(cost) >= 0)
        fmt_usd(b, json_value_num(cost));
    else
        buf_adds(b, "n/a");
}

static int64_t
all_input(const struct cJSON *row)
{
    return json_count(row, "input") + json_count(row, "cache_read") +
           json_count(row, "cache_write");
}

/* "96%", or "-" where nothing went in. */
static void
add_hit_rate(struct buf *b, const struct cJSON *row)
{
    int64_t in = all_input(row);
    if (in > 0)
        buf_addf(b, "%d%%", meters_whole((double)json_count(row, "cache_read") * 100 / (double)in));
    else
        buf_adds(b, "-");
}

/* ---- totals ---- */

static void
write_pair(struct mp *m, const char *name, const char *value)
{
    struct flow f;
    char first[32];
    (void)snprintf(first, sizeof first, "%-15s", name);
    flow_init(&f);
    flow_add(&f, ST_TEXT, str_from(value));
    flow_wrap(&f, m->out,
              &(struct indent){.width = m->width,
                               .first = str_from(first),
                               .rest = STR("               "),
                               .style = ST_DIM});
    flow_release(&f);
}

static void
sum_models(const struct cJSON *a, int64_t ret[4])
{
    static const char *const names[] = {"input", "cache_read", "cache_write", "output"};
    for (const struct cJSON *r = json_first(json_at(a, "models")); r; r = json_next(r))
        for (size_t i = 0; i < 4; i++)
            ret[i] += json_count(r, names[i]);
}

static void
write_times(struct mp *m)
{
    struct buf b;
    buf_init(&b, 128);
    fmt_ms(&b, json_count(m->a, "api_ms"));
    buf_adds(&b, " model, ");
    fmt_ms(&b, json_count(m->a, "tool_ms"));
    buf_adds(&b, " tools");
    write_pair(m, "time", buf_cstr(&b));
    buf_release(&b);
}

/* A price that is not known hides the rest no more than it must: what the other models cost is said beside it. */
static void
write_cost(struct mp *m, struct buf *b, const char *est)
{
    double known = 0, budget = json_num(m->a, "budget_usd", 0);
    for (const struct cJSON *r = json_first(json_at(m->a, "models")); r; r = json_next(r))
        known += json_num(r, "cost_usd", 0);
    bool na = !json_is_num(json_at(m->a, "cost_usd"));
    add_usd(b, m->a);
    if (budget > 0) {
        buf_adds(b, " of ");
        fmt_usd(b, budget);
    }
    buf_adds(b, na ? ": a model has no known price" : est);
    if (na && known > 0) {
        buf_adds(b, ", the others ");
        fmt_usd(b, known);
    }
}

static void
write_totals(struct mp *m)
{
    static const char *const shown[] = {"input", "cache read", "cache written", "output"};
    int64_t sum[4] = {0};
    const char *est = json_bool(m->a, "estimated", false) ? " (est)" : "";
    struct buf b;
    buf_init(&b, 512);
    page_heading(m->out, "session");
    sum_models(m->a, sum);
    write_cost(m, &b, est);
    write_pair(m, "cost", buf_cstr(&b));
    for (size_t i = 0; i < 4; i++) {
        buf_clear(&b);
        fmt_count(&b, sum[i]);
        buf_adds(&b, est);
        write_pair(m, shown[i], buf_cstr(&b));
    }
    buf_clear(&b);
    int64_t in = sum[0] + sum[1] + sum[2];
    if (in > 0)
        buf_addf(&b, "%d%% of all input", meters_whole((double)sum[1] * 100 / (double)in));
    else
        buf_adds(&b, "n/a");
    write_pair(m, "cache hits", buf_cstr(&b));
    write_times(m);
    buf_release(&b);
}

/* ---- who and what ---- */

static void
count_cell(struct buf *b, int64_t n)
{
    buf_clear(b);
    fmt_count(b, n);
}

/* One row of models or agents. */
static void
sum_row(struct mp *m, const struct table_column *cols, const struct table_fit *f,
        const struct cJSON *r, const char *name)
{
    struct buf b[6];
    struct str cells[6];
    for (size_t i = 0; i < 6; i++)
        buf_init(&b[i], 4096);
    buf_adds(&b[0], name);
    buf_addf(&b[1], "%lld", (long long)json_count(r, "requests"));
    count_cell(&b[2], all_input(r));
    add_hit_rate(&b[3], r);
    count_cell(&b[4], json_count(r, "output"));
    add_usd(&b[5], r);
    if (json_bool(r, "estimated", false))
        buf_adds(&b[4], "~");
    for (size_t i = 0; i < 6; i++)
        cells[i] = buf_str(&b[i]);
    table_row(cols, f, cells, ST_TEXT, m->ascii, m->out);
    for (size_t i = 0; i < 6; i++)
        buf_release(&b[i]);
}

static void
write_sums(struct mp *m, const char *list, const char *member)
{
    const struct table_column cols[] = {
        {member, 12, false, true, 9},  {"requests", 8, true, false, 1},
        {"input", 6, true, false, 5},  {"cached", 6, true, false, 2},
        {"output", 7, true, false, 4}, {"cost", 8, true, false, 8}};
    struct table_fit f;
    char title[32] = "by ";
    strncat(title, member, sizeof title - 4);
    page_heading(m->out, title);
    table_fit(cols, ARRAY_LEN(cols), m->width, &f);
    table_head(cols, &f, m->ascii, m->out);
    for (const struct cJSON *r = json_first(json_at(m->a, list)); r; r = json_next(r))
        sum_row(m, cols, &f, r, json_cstr(r, member, ""));
    if (!json_len(json_at(m->a, list)))
        page_para(m->out, ST_DIM, STR("no requests yet"), m->width);
}

/* ---- over the turns ---- */

static void
plot_lines(struct mp *m, const struct plot *p, const char *top, const char *bottom)
{
    for (int row = 0; row < p->height; row++) {
        const char *label = row == 0 ? top : row == p->height - 1 ? bottom : "";
        lines_begin(m->out, false);
        lines_addf(m->out, ST_DIM, "%7s %s", label, m->ascii ? "|" : "│");
        plot_row(p, row, m->ascii, m->out);
    }
}

/* "turn 3" under the first column and "turn 41" under the last one. */
static void
plot_axis(struct mp *m, const struct plot *p, int64_t first, int64_t last)
{
    int shown = (int)plot_shown(p);
    lines_begin(m->out, false);
    lines_addf(m->out, ST_DIM, "%9sturn %lld", "", (long long)first);
    int gap = 9 + shown - lines_width(m->out, m->out->n - 1) - 6;
    if (last != first && gap > 0)
        lines_addf(m->out, ST_DIM, "%*s%6lld", gap, "", (long long)last);
    else if (last != first)
        lines_addf(m->out, ST_DIM, " to %lld", (long long)last);
}

static void
write_plots(struct mp *m)
{
    const struct cJSON *list = json_at(m->a, "requests");
    size_t n = json_len(list), i = 0;
    double *ctx = xcalloc(n ? n : 1, sizeof *ctx), *cost = xcalloc(n ? n : 1, sizeof *cost);
    double window = json_num(m->a, "context.window", 0), most_ctx = 0, most_cost = 0;
    int64_t turns[2] = {0, 0};
    struct plot p = {.n = n, .width = m->width - 9, .height = PLOT_ROWS, .mark_row = -1};
    size_t from = n - plot_shown(&p);
    for (const struct cJSON *r = json_first(list); r; r = json_next(r), i++) {
        ctx[i] = json_num(r, "context", 0);
        cost[i] = json_num(r, "cost_usd", -1);
        most_ctx = ctx[i] > most_ctx ? ctx[i] : most_ctx;
        most_cost = cost[i] > most_cost ? cost[i] : most_cost;
        if (i == from)
            turns[0] = json_count(r, "turn");
        turns[1] = json_count(r, "turn");
    }
    struct buf top;
    buf_init(&top, 128);
    if (n && p.width >= 8) {
        page_heading(m->out, "context by request");
        p.values = ctx;
        p.max = window > 0 && most_ctx > window / 8 ? window : most_ctx > 0 ? most_ctx : 1;
        p.style = ST_METER_ON;
        fmt_count(&top, p.max < 1e15 ? (int64_t)p.max : (int64_t)1e15);
        plot_lines(m, &p, buf_cstr(&top), "0");
        plot_axis(m, &p, turns[0], turns[1]);
        page_heading(m->out, "cost by request (? not known)");
        p.values = cost;
        p.max = most_cost > 0 ? most_cost : 1;
        p.style = ST_OK;
        buf_clear(&top);
        fmt_usd(&top, most_cost);
        plot_lines(m, &p, most_cost > 0 ? buf_cstr(&top) : "", "$0");
        plot_axis(m, &p, turns[0], turns[1]);
    }
    buf_release(&top);
    free(ctx);
    free(cost);
}

/* ---- lists ---- */

static void
write_breaks(struct mp *m)
{
    const struct cJSON *list = json_at(m->a, "cache_breaks");
    page_heading(m->out, "cache breaks");
    for (const struct cJSON *b = json_first(list); b; b = json_next(b)) {
        struct buf s;
        buf_init(&s, 4096);
        buf_addf(&s, "turn %lld: ", (long long)json_count(b, "turn"));
        fmt_count(&s, json_count(b, "tokens"));
        buf_addf(&s, " tokens again, %s", json_cstr(b, "reason", "not known why"));
        if (json_is_num(json_at(b, "cost_usd"))) {
            buf_adds(&s, " (");
            fmt_usd(&s, json_num(b, "cost_usd", 0));
            buf_addc(&s, ')');
        }
        page_para(m->out, json_bool(b, "expected", false) ? ST_DIM : ST_WARN, buf_str(&s),
                  m->width);
        buf_release(&s);
    }
    if (!json_len(list))
        page_para(m->out, ST_DIM, STR("none"), m->width);
}

static const struct table_column request_cols[] = {
    {"turn", 5, true, false, 8},   {"purpose", 8, false, false, 7}, {"model", 10, false, true, 4},
    {"agent", 8, false, false, 1}, {"input", 6, true, false, 5},    {"cached", 6, true, false, 3},
    {"output", 7, true, false, 6}, {"cost", 8, true, false, 9},     {"context", 7, true, false, 2},
};

static void
request_row(struct mp *m, const struct table_fit *f, const struct cJSON *r)
{
    struct buf b[ARRAY_LEN(request_cols)];
    struct str cells[ARRAY_LEN(request_cols)];
    for (size_t i = 0; i < ARRAY_LEN(b); i++)
        buf_init(&b[i], 4096);
    buf_addf(&b[0], "%lld", (long long)json_count(r, "turn"));
    buf_adds(&b[1], json_cstr(r, "purpose", ""));
    buf_adds(&b[2], json_cstr(r, "model", ""));
    buf_adds(&b[3], json_cstr(r, "agent", ""));
    fmt_count(&b[4], all_input(r));
    add_hit_rate(&b[5], r);
    fmt_count(&b[6], json_count(r, "output"));
    if (json_bool(r, "estimated", false))
        buf_addc(&b[6], '~');
    add_usd(&b[7], r);
    fmt_count(&b[8], json_count(r, "context"));
    for (size_t i = 0; i < ARRAY_LEN(b); i++)
        cells[i] = buf_str(&b[i]);
    table_row(request_cols, f, cells, ST_TEXT, m->ascii, m->out);
    for (size_t i = 0; i < ARRAY_LEN(b); i++)
        buf_release(&b[i]);
}

/* The newest first. */
static void
write_requests(struct mp *m)
{
    const struct cJSON *list = json_at(m->a, "requests");
    size_t n = json_len(list), i = n;
    const struct cJSON **rows = xcalloc(n ? n : 1, sizeof *rows);
    struct table_fit f;
    for (const struct cJSON *r = json_first(list); r; r = json_next(r))
        rows[--i] = r;
    page_heading(m->out, "requests, the newest first (~ estimated)");
    table_fit(request_cols, ARRAY_LEN(request_cols), m->width, &f);
    table_head(request_cols, &f, m->ascii, m->out);
    for (i = 0; i < n; i++)
        request_row(m, &f, rows[i]);
    if (!n)
        page_para(m->out, ST_DIM, STR("no requests yet"), m->width);
    free(rows);
}

static void
write_meters(struct page *p, const struct view *v, struct lines *out, int width, bool ascii)
{
    (void)v;
    struct mp m = {p->answer, out, width, ascii};
    meters_context(p->answer, out, width, ascii);
    write_totals(&m);
    write_sums(&m, "models", "model");
    write_sums(&m, "agents", "agent");
    write_plots(&m);
    write_breaks(&m);
    write_requests(&m);
}

const struct page_type page_meters = {
    .title = "meters", .query = QUERY_METERS, .live = true, .write = write_meters};

static void
write_about(struct mp *m)
{
    struct str rest = str_from(json_cstr(m->a, "about", "")), line;
    if (rest.len)
        lines_begin(m->out, false);
    while (rest.len && str_split(&rest, '\n', &line))
        page_para(m->out, ST_TEXT, line, m->width);
}

static void
write_context_page(struct page *p, const struct view *v, struct lines *out, int width, bool ascii)
{
    (void)v;
    struct mp m = {p->answer, out, width, ascii};
    meters_context(p->answer, out, width, ascii);
    write_about(&m);
    write_breaks(&m);
    lines_begin(out, false);
    page_para(out, ST_DIM,
              STR("Nobody counts the parts one by one: they share the whole by their size. "
                  "/context preview: what the next tier would drop. Alt+M shows all meters."),
              width);
}

const struct page_type page_context = {
    .title = "context", .query = QUERY_METERS, .live = true, .write = write_context_page};
