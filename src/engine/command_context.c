#include "engine/command_context.h"

#include <stdlib.h>
#include <string.h>

#include "engine/compact.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/meters.h"
#include "engine/pins.h"

#define BAR 20

/* ---- /compact ---- */

void
command_compact(struct engine *e, struct str arg)
{
    struct compact_report r;
    char *keep = arg.len ? str_dup(arg) : NULL;
    compact_run(e, COMPACT_PERSON, keep, e->turn ? e->turn : e->cancel, &r);
    if (!r.done && !r.nothing)
        core_refused(&e->core, &r.err);
    free(keep);
}

/* ---- /pin ---- */

static bool
number_of(struct str s, size_t *ret)
{
    char *text = str_dup(str_trim(s)), *end = NULL;
    unsigned long n = strtoul(text, &end, 10);
    bool ok = *text >= '0' && *text <= '9' && !*end && n < 100000;
    free(text);
    *ret = ok ? (size_t)n : 0;
    return ok;
}

void
command_pin(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    struct err err = {0};
    struct buf b;
    size_t number;
    bool remove = str_is(arg, "remove") || str_starts(arg, "remove "), ok = true;
    if (remove && !number_of(str_sub(arg, 6, arg.len), &number))
        ok = err_set(&err, ERR_INVALID, "which one? /pin remove N (/pin lists them)");
    else if (remove)
        ok = pins_remove(c, number, &err);
    else if (arg.len)
        ok = pins_add(c, arg, &err);
    if (!ok) {
        core_refuse(c, "%s", err.text);
        return;
    }
    buf_init(&b, BUF_MAX);
    if (arg.len && c->pins.n)
        buf_adds(&b, remove ? "still pinned:\n" : "pinned, and kept word for word:\n");
    pins_say(c, &b);
    core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
}

/* ---- /context ---- */

static void
add_tokens(struct buf *out, int64_t n)
{
    struct buf b;
    buf_init(&b, 64);
    compact_count(&b, n);
    buf_addf(out, "%6s", buf_cstr(&b));
    buf_release(&b);
}

static void
add_row(struct buf *out, const char *name, int64_t tokens, int64_t whole)
{
    int on = whole > 0 ? (int)((double)tokens * BAR / (double)whole + 0.5) : 0;
    on = on > BAR ? BAR : on < 0 ? 0 : on;
    buf_addf(out, "\n%-9s", name);
    for (int i = 0; i < BAR; i++)
        buf_adds(out, i < on ? "▓" : "░");
    add_tokens(out, tokens);
    if (whole > 0)
        buf_addf(out, " %3d%%", (int)((double)tokens * 100 / (double)whole + 0.5));
}

static void
add_limit(struct engine *e, struct buf *out)
{
    int64_t limit = compact_limit(&e->core), window = context_window(&e->core);
    const char *why;
    if (limit <= 0) {
        buf_adds(out, window > 0 ? "automatic compaction is off (autoCompactEnabled)"
                                 : "no automatic compaction: the model's window is unknown "
                                   "(contextWindow sets it)");
        return;
    }
    buf_adds(out, "compacted by itself at ");
    compact_count(out, limit);
    if (window > 0)
        buf_addf(out, " (%d%%)", (int)((double)limit * 100 / (double)window + 0.5));
    if (compact_breaker_open(e, &why))
        buf_addf(out, ", but not any more: %s; /compact tries again", why);
}

static void
add_pinned(const struct core *c, struct buf *out)
{
    if (c->pins.n)
        buf_addf(out, "\npinned: %zu (/pin lists them)", c->pins.n);
}

void
command_context_about(struct engine *e, struct buf *out)
{
    struct buf folds;
    add_limit(e, out);
    add_pinned(&e->core, out);
    buf_init(&folds, BUF_MAX);
    context_list_folds(&e->core, &folds);
    struct str s = str_trim(buf_str(&folds));
    if (s.len)
        buf_addf(out, "\n%.*s", (int)s.len, s.ptr);
    buf_release(&folds);
}

static void
show_context(struct engine *e)
{
    struct core *c = &e->core;
    int64_t used = context_used(c), window = context_window(c), tokens[METERS_SOURCES];
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "context ");
    compact_count(&b, used);
    if (window > 0) {
        buf_adds(&b, " of ");
        compact_count(&b, window);
        buf_addf(&b, " tokens (%d%%), %s", (int)((double)used * 100 / (double)window + 0.5),
                 context_state_name(used, window));
    } else {
        buf_adds(&b, " tokens");
    }
    meters_sources(c, tokens);
    for (size_t i = 0; i < METERS_SOURCES; i++)
        add_row(&b, meters_source_names[i], tokens[i], window > 0 ? window : used);
    if (window > 0)
        add_row(&b, "free", window > used ? window - used : 0, window);
    buf_adds(&b, "\n");
    command_context_about(e, &b);
    buf_adds(&b, "\n");
    context_preview(c, &b);
    struct str text = str_trim(buf_str(&b));
    core_notice(c, "%.*s", (int)text.len, text.ptr);
    buf_release(&b);
}

void
command_context(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    struct err err = {0};
    size_t number;
    core_need_messages(c);
    if (!str_is(arg, "open") && !str_starts(arg, "open ")) {
        show_context(e);
    } else if (!number_of(str_sub(arg, 4, arg.len), &number)) {
        core_refuse(c, "which one? /context open N (/context lists the folds)");
    } else if (context_open(c, number, &err)) {
        core_notice(c, "fold %zu is open again: the model is sent its messages as they were",
                    number);
        context_emit(c);
    } else {
        core_refuse(c, "%s", err.text);
    }
}
