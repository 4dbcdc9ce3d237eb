/* How full the context is and of what: a bar by source, the tiers marked under it. */
#include "ui/meters_context.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/fmt.h"
#include "ui/page.h"
#include "ui/plot.h"

#define BAR_WIDEST 100

struct mc {
    const struct cJSON *a; /* the answer */
    struct lines *out;
    int width;
    bool ascii;
};

static const struct {
    const char *name, *sign, *sign_ascii;
    enum style style;
} sources[] = {
    {"system", "█", "s", ST_METER_ON}, {"tools", "▓", "t", ST_TOOL},
    {"memory", "▒", "m", ST_CODE},     {"messages", "░", "c", ST_USER},
    {"results", "▚", "r", ST_WARN},
};

/* Rounded, within what is shown of any number from outside. */
int
meters_whole(double v)
{
    return !(v > -1e6) ? -1000000 : v > 1e6 ? 1000000 : (int)(v < 0 ? v - 0.5 : v + 0.5);
}

static size_t
source_at(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (strcmp(name, sources[i].name) == 0)
            return i;
    return ARRAY_LEN(sources) - 1;
}

/* "snip 60%, micro 68%": what the marks mean; a name and its figure stay on one row. */
static void
write_tiers(struct mc *m, const struct cJSON *tiers)
{
    struct buf line, item;
    buf_init(&line, 4096);
    buf_init(&item, 512);
    buf_adds(&line, m->ascii ? "^ " : "▲ ");
    for (const struct cJSON *t = json_first(tiers); t; t = json_next(t)) {
        bool last = !json_next(t);
        buf_clear(&item);
        buf_addf(&item, "%s %d%%%s", json_cstr(t, "name", ""),
                 meters_whole(json_num(t, "percent", 0)), last ? "" : ",");
        if (text_width(buf_str(&line)) + text_width(buf_str(&item)) > m->width && line.len > 4) {
            page_para(m->out, ST_DIM, buf_str(&line), m->width);
            buf_clear(&line);
            buf_adds(&line, "  ");
        }
        buf_add_str(&line, buf_str(&item));
        buf_adds(&line, last ? "" : " ");
    }
    page_para(m->out, ST_DIM, buf_str(&line), m->width);
    buf_release(&line);
    buf_release(&item);
}

/* A row of marks under the bar: where the tiers begin. */
static void
write_marks(struct mc *m, int bar)
{
    const struct cJSON *tiers = json_at(m->a, "tiers");
    struct buf line;
    buf_init(&line, 4096);
    int at = 0;
    for (const struct cJSON *t = json_first(tiers); t; t = json_next(t)) {
        int x = meters_whole(json_num(t, "percent", 0) * bar / 100);
        x = x >= bar ? bar - 1 : x;
        if (x < at)
            continue;
        buf_addf(&line, "%*s%s", x - at, "", m->ascii ? "^" : "▲");
        at = x + 1;
    }
    lines_begin(m->out, false);
    lines_add(m->out, ST_DIM, buf_str(&line));
    buf_release(&line);
    write_tiers(m, tiers);
}

static void
write_source(struct mc *m, const struct cJSON *s, double window)
{
    size_t i = source_at(json_cstr(s, "name", ""));
    int64_t tokens = json_count(s, "tokens");
    struct buf b;
    buf_init(&b, 512);
    lines_begin(m->out, false);
    lines_add(m->out, sources[i].style,
              str_from(m->ascii ? sources[i].sign_ascii : sources[i].sign));
    fmt_count(&b, tokens);
    lines_addf(m->out, ST_TEXT, " %-9s %6s", sources[i].name, buf_cstr(&b));
    if (window > 0)
        lines_addf(m->out, ST_DIM, " %3d%%", meters_whole((double)tokens * 100 / window));
    int room = m->width - 24 > 40 ? 40 : m->width - 24;
    double used = json_num(m->a, "context.used", 0);
    if (room >= 8 && used > 0) {
        int n = meters_whole((double)tokens / used * room);
        lines_add(m->out, ST_TEXT, STR("  "));
        for (int k = 0; k < n && k < room; k++)
            lines_raw(m->out, sources[i].style,
                      str_from(m->ascii ? sources[i].sign_ascii : sources[i].sign));
    }
    buf_release(&b);
}

void
meters_context(const struct cJSON *answer, struct lines *out, int width, bool ascii)
{
    struct mc *m = &(struct mc){answer, out, width, ascii};
    double used = json_num(m->a, "context.used", 0), window = json_num(m->a, "context.window", 0);
    struct plot_part parts[ARRAY_LEN(sources)] = {0};
    int bar = m->width > BAR_WIDEST ? BAR_WIDEST : m->width;
    const char *state = json_cstr(m->a, "context.state", "ok");
    struct buf b;
    buf_init(&b, 512);
    page_heading(m->out, "context");
    fmt_count(&b, json_count(m->a, "context.used"));
    if (window > 0) {
        buf_adds(&b, " of ");
        fmt_count(&b, json_count(m->a, "context.window"));
        buf_addf(&b, " tokens, %d%%, %s", meters_whole(used * 100 / window), state);
    } else {
        buf_adds(&b, " tokens; the model's window is not known");
    }
    if (json_bool(m->a, "context.estimated", false))
        buf_adds(&b, " (est)");
    page_para(m->out, strcmp(state, "ok") == 0 ? ST_TEXT : ST_WARN, buf_str(&b), m->width);
    for (const struct cJSON *s = json_first(json_at(m->a, "sources")); s; s = json_next(s)) {
        size_t i = source_at(json_cstr(s, "name", ""));
        parts[i] = (struct plot_part){parts[i].value + json_num(s, "tokens", 0), sources[i].sign,
                                      sources[i].sign_ascii, sources[i].style};
    }
    lines_begin(m->out, false);
    plot_bar(parts, ARRAY_LEN(parts), window > 0 ? window : used, bar, m->ascii, m->out);
    if (json_len(json_at(m->a, "tiers")))
        write_marks(m, bar);
    for (const struct cJSON *s = json_first(json_at(m->a, "sources")); s; s = json_next(s))
        write_source(m, s, window);
    if (window > 0) {
        buf_clear(&b);
        fmt_count(&b, window > used ? (int64_t)(window - used) : 0);
        lines_begin(m->out, false);
        lines_addf(m->out, ST_TEXT, "  %-9s %6s", "free", buf_cstr(&b));
        lines_addf(m->out, ST_DIM, " %3d%%",
                   meters_whole((window > used ? window - used : 0) * 100 / window));
    }
    buf_release(&b);
}
