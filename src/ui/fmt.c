#include "ui/fmt.h"

#include <math.h>
#include <stdio.h>

/* One digit after the point below ten, none above: 1.2k, 91k. Rounding never gives "1000k". */
static void
fmt_scaled(struct buf *out, int64_t n, const char *unit)
{
    static const char *const steps[] = {"", "k", "M", "G", "T", "P", "E"};
    if (n < 0)
        n = 0;
    if (n < 1000) {
        buf_addf(out, "%lld%s", (long long)n, unit);
        return;
    }
    double v = (double)n;
    size_t step = 0;
    while (v >= 999.5 && step + 1 < ARRAY_LEN(steps)) {
        v /= 1000;
        step++;
    }
    if (v < 9.95)
        buf_addf(out, "%.1f%s%s", v, steps[step], unit);
    else
        buf_addf(out, "%.0f%s%s", v, steps[step], unit);
}

void
fmt_count(struct buf *out, int64_t n)
{
    fmt_scaled(out, n, "");
}

void
fmt_bytes(struct buf *out, int64_t n)
{
    fmt_scaled(out, n, "B");
}

static void
fmt_long(struct buf *out, int64_t s)
{
    if (s < 3600)
        buf_addf(out, "%lldm%02llds", (long long)(s / 60), (long long)(s % 60));
    else
        buf_addf(out, "%lldh%02lldm", (long long)(s / 3600), (long long)(s % 3600 / 60));
}

void
fmt_ms(struct buf *out, int64_t ms)
{
    if (ms < 0)
        ms = 0;
    if (ms < 1000)
        buf_addf(out, "%lldms", (long long)ms);
    else if (ms < 60000)
        buf_addf(out, "%lld.%llds", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
    else
        fmt_long(out, ms / 1000);
}

void
fmt_seconds(struct buf *out, int64_t ms)
{
    int64_t s = ms < 0 ? 0 : ms / 1000;
    if (s < 60)
        buf_addf(out, "%llds", (long long)s);
    else
        fmt_long(out, s);
}

/* Four or three places, less the zeros behind the second: what grows little by little is seen to grow. */
static void
add_small_usd(struct buf *out, double usd)
{
    char s[32];
    int n = snprintf(s, sizeof s, "$%.*f", usd < 0.00995 ? 4 : 3, usd);
    for (; n > 5 && s[n - 1] == '0'; n--)
        s[n - 1] = '\0';
    buf_adds(out, s);
}

void
fmt_usd(struct buf *out, double usd)
{
    if (usd <= 0)
        buf_adds(out, "$0");
    else if (usd < 0.00005)
        buf_adds(out, "<$0.0001");
    else if (usd < 0.1)
        add_small_usd(out, usd);
    else if (fabs(usd - round(usd)) < 0.005)
        buf_addf(out, "$%.0f", usd);
    else
        buf_addf(out, "$%.2f", usd);
}

static const struct {
    const char *mark, *ascii, *word;
    enum style style;
} states[] = {
    [TOOL_WAITING] = {"·", ".", "waiting", ST_DIM},
    [TOOL_ASKING] = {"?", "?", "asks", ST_WARN},
    [TOOL_JUDGING] = {"◌", "~", "classifying", ST_DIM},
    [TOOL_RUNNING] = {"●", "*", "running", ST_TOOL},
    [TOOL_DONE] = {"✓", "+", "", ST_OK},
    [TOOL_FAILED] = {"✗", "x", "failed", ST_ERROR},
    [TOOL_DENIED] = {"!", "!", "denied", ST_ERROR},
    [TOOL_CANCELLED] = {"–", "-", "cancelled", ST_WARN},
};

const char *
fmt_mark(enum tool_state s, bool ascii)
{
    if ((size_t)s >= ARRAY_LEN(states))
        return "?";
    return ascii ? states[s].ascii : states[s].mark;
}

enum style
fmt_mark_style(enum tool_state s)
{
    return (size_t)s < ARRAY_LEN(states) ? states[s].style : ST_DIM;
}

const char *
fmt_state_word(enum tool_state s)
{
    return (size_t)s < ARRAY_LEN(states) ? states[s].word : "unknown";
}
