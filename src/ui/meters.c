#include <string.h>

#include "base/text.h"
#include "ui/fmt.h"
#include "ui/lines.h"
#include "ui/view.h"

#define BAR 10
#define REASON_WIDTH 40 /* of a retry; with more of it the rest of the line would give way */
#define FRAME_MS 100    /* of the spinner */

/* The pieces of the line, in the order shown. Each has forms from the longest to the shortest. */
enum piece { P_MODE, P_TRUST, P_MODEL, P_CONTEXT, P_TOKENS, P_COST, P_TURN, P_RUN, P_COUNT };

/* What gives way first when the line is too long. A piece is named as often as it can shrink; the last time it is left out. */
static const enum piece give_way[] = {P_TURN,  P_TOKENS,  P_CONTEXT, P_TRUST, P_TOKENS,
                                      P_MODEL, P_TRUST,   P_MODEL,   P_COST,  P_RUN,
                                      P_COST,  P_CONTEXT, P_RUN};

struct meters {
    const struct view *v;
    bool ascii;
    int64_t now_ms;
    struct lines text[P_COUNT]; /* one line each */
};

static void
add_run(struct meters *m, int level)
{
    static const char *const spin[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    static const char *const spin_ascii[] = {"|", "/", "-", "\\"};
    struct lines *l = &m->text[P_RUN];
    struct buf b;
    buf_init(&b, 1 << 16);
    if (m->v->retry) {
        buf_adds(&b, "retry in ");
        fmt_seconds(&b, m->v->retry_at_ms > m->now_ms ? m->v->retry_at_ms - m->now_ms + 999 : 0);
        if (level ==
            0) { /* "retry 2 of 10 in 4s: overloaded"; the transcript has the reason in full */
            const char *why = strstr(m->v->retry, ": ");
            buf_clear(&b);
            buf_addf(&b, "%.*s in ", (int)(why ? why - m->v->retry : 5), m->v->retry);
            fmt_seconds(&b,
                        m->v->retry_at_ms > m->now_ms ? m->v->retry_at_ms - m->now_ms + 999 : 0);
            if (why)
                fold_end(&b, str_from(why), REASON_WIDTH, m->ascii);
        }
        if (level < 2)
            lines_add(l, ST_WARN, buf_str(&b));
    } else if (m->v->running && level < 2) {
        int64_t spent = m->now_ms > m->v->running_since_ms ? m->now_ms - m->v->running_since_ms : 0;
        size_t step = (size_t)(spent / FRAME_MS);
        buf_addf(&b, "%s %s",
                 m->ascii ? spin_ascii[step % ARRAY_LEN(spin_ascii)] : spin[step % ARRAY_LEN(spin)],
                 m->v->compacting ? "compacting " : "");
        fmt_seconds(&b, spent);
        lines_add(l, ST_STATUS, buf_str(&b));
    }
    buf_release(&b);
}

static void
add_mode(struct meters *m, int level)
{
    (void)level;
    bool loud = m->v->mode == PERM_AUTO || m->v->mode == PERM_BYPASS;
    lines_add(&m->text[P_MODE], loud ? ST_WARN : ST_STATUS, str_from(perm_mode_shown(m->v->mode)));
}

/* Its own settings only narrow, and "always" is not offered: worth a word as long as there is room. */
static void
add_trust(struct meters *m, int level)
{
    if (level < 2 && m->v->session_id && !m->v->trusted)
        lines_add(&m->text[P_TRUST], ST_WARN, level ? STR("untrusted") : STR("not trusted"));
}

static void
add_model(struct meters *m, int level)
{
    struct str s = str_from(m->v->model ? m->v->model : "no model");
    struct buf b;
    if (level >= 2)
        return;
    if (m->v->offline) {
        lines_add(&m->text[P_MODEL], ST_STATUS, level ? STR("offline") : STR("offline pilot"));
        return;
    }
    if (str_starts(s, "claude-"))
        s = str_sub(s, 7, s.len);
    buf_init(&b, 1 << 16);
    fold_end(&b, s, level ? 12 : 32, m->ascii);
    if (m->v->fast)
        buf_adds(&b, " fast");
    lines_add(&m->text[P_MODEL], ST_STATUS, buf_str(&b));
    buf_release(&b);
}

/* "ctx ▓▓▓▓▓░░░░░ 48%", with a sign when a tier is near. */
static void
add_context(struct meters *m, int level)
{
    struct lines *l = &m->text[P_CONTEXT];
    const struct view *v = m->v;
    if (v->ctx_window <= 0 || level >= 2)
        return;
    int64_t percent =
        v->ctx_used <= 0 ? 0 : (int64_t)((double)v->ctx_used * 100 / (double)v->ctx_window + 0.5);
    int on = percent >= 100 ? BAR : (int)(percent + 5) / (100 / BAR);
    const char *state = v->ctx_state ? v->ctx_state : "ok";
    bool warn = strcmp(state, "warn") == 0,
         bad = strcmp(state, "error") == 0 || strcmp(state, "blocking") == 0;
    lines_add(l, ST_STATUS, STR("ctx "));
    if (level == 0) {
        for (int i = 0; i < BAR; i++)
            lines_add(l, i < on ? ST_METER_ON : ST_METER_OFF,
                      str_from(i < on ? (m->ascii ? "#" : "▓") : (m->ascii ? "." : "░")));
        lines_add(l, ST_STATUS, STR(" "));
    }
    lines_addf(l,
               bad    ? ST_ERROR
               : warn ? ST_WARN
                      : ST_STATUS,
               "%lld%%%s", (long long)percent,
               bad    ? "!!"
               : warn ? "!"
                      : "");
}

static void
add_tokens(struct meters *m, int level)
{
    const struct view *v = m->v;
    int64_t in = v->in + v->cache_read + v->cache_write;
    struct buf b;
    if ((in <= 0 && v->out <= 0) || level >= 2)
        return;
    buf_init(&b, 256);
    buf_adds(&b, "in ");
    fmt_count(&b, in);
    if (level == 0 && in > 0)
        buf_addf(&b, " (cache %lld%%)",
                 (long long)((double)v->cache_read * 100 / (double)in + 0.5));
    buf_adds(&b, " out ");
    fmt_count(&b, v->out);
    if (v->estimated)
        buf_adds(&b, " est");
    lines_add(&m->text[P_TOKENS], ST_STATUS, buf_str(&b));
    buf_release(&b);
}

static void
add_cost(struct meters *m, int level)
{
    const struct view *v = m->v;
    struct buf b;
    if (v->offline || level >= 2)
        return;
    buf_init(&b, 256);
    if (v->cost < 0)
        buf_adds(&b, "cost n/a");
    else
        fmt_usd(&b, v->cost);
    if (v->cost >= 0 && v->estimated)
        buf_adds(&b, " est");
    if (v->budget > 0 && level == 0) {
        buf_adds(&b, " of ");
        fmt_usd(&b, v->budget);
    }
    lines_add(&m->text[P_COST], v->budget > 0 && v->cost >= v->budget ? ST_ERROR : ST_STATUS,
              buf_str(&b));
    buf_release(&b);
}

static void
add_turn(struct meters *m, int level)
{
    if (m->v->turn > 0 && level == 0)
        lines_addf(&m->text[P_TURN], ST_STATUS, "turn %lld", (long long)m->v->turn);
}

static void (*const makers[P_COUNT])(struct meters *m, int level) = {
    [P_RUN] = add_run,     [P_MODE] = add_mode,       [P_TRUST] = add_trust,
    [P_MODEL] = add_model, [P_CONTEXT] = add_context, [P_TOKENS] = add_tokens,
    [P_COST] = add_cost,   [P_TURN] = add_turn,
};

static void
make(struct meters *m, enum piece p, int level)
{
    lines_clear(&m->text[p]);
    lines_begin(&m->text[p], false);
    makers[p](m, level);
}

static int
total(const struct meters *m, int between)
{
    int sum = 0, n = 0;
    for (int i = 0; i < P_COUNT; i++) {
        int w = lines_width(&m->text[i], 0);
        sum += w;
        n += w > 0;
    }
    return n ? sum + between * (n - 1) : 0;
}

void
meters_draw(const struct view *v, struct canvas *c, struct rect r, bool tiny, bool ascii,
            int64_t now_ms)
{
    struct meters m = {.v = v, .ascii = ascii, .now_ms = now_ms};
    int level[P_COUNT] = {0};
    struct str between = tiny ? STR("  ") : ascii ? STR(" - ") : STR(" ─ ");
    if (r.w < 1 || r.h < 1)
        return;
    for (int i = 0; i < P_COUNT; i++) {
        lines_init(&m.text[i]);
        make(&m, (enum piece)i, 0);
    }
    for (size_t i = 0;
         i < ARRAY_LEN(give_way) && total(&m, text_width(between)) > r.w - (tiny ? 0 : 1); i++)
        make(&m, give_way[i], ++level[give_way[i]]);
    int x = 0;
    if (!tiny && total(&m, 3))
        canvas_fill(c, (struct rect){r.x - 1, r.y, 1, 1}, ST_TEXT, "");
    for (int i = 0, first = 1; i < P_COUNT; i++) {
        int w = lines_width(&m.text[i], 0);
        if (w && !first)
            x = canvas_text(c, r, x, 0, ST_BORDER, between);
        if (w) {
            lines_draw(&m.text[i], 0, c, r, x, 0);
            x += w;
            first = 0;
        }
        lines_release(&m.text[i]);
    }
    if (!tiny && x < r.w)
        canvas_fill(c, (struct rect){r.x + x, r.y, 1, 1}, ST_TEXT, "");
}
