/* The keys of the permission pane, as far as they do something now. */
#include <string.h>

#include "ui/approval.h"
#include "ui/keys.h"

#define SHORT 6 /* rows of a pane whose keys get no second row */

struct foot {
    const struct approval *a;
    const struct view *v;
    const struct ask *ask;
    int w, h;
    bool focus;
};

static void
key(struct flow *f, const char *k, const char *what, const char *between)
{
    if (f->text.len)
        flow_add(f, ST_TEXT, str_from(between));
    flow_add(f, ST_KEY, str_from(k));
    if (!what)
        return;
    flow_add(f, ST_DIM, STR(" "));
    flow_add(f, ST_TEXT, str_from(what));
}

/* What a key is called now; none where the person took it off. */
static void
own_key(struct flow *f, enum key_action act, const char *what, const char *between)
{
    const char *k = keys_of(act);
    if (k)
        key(f, keys_shown(k), what, between);
}

/* A question of yare's own has words of its own for yes and no. */
static bool
is_budget(const struct foot *s)
{
    const struct event *e = s->ask->ev;
    return e->u.ask.tool && strcmp(e->u.ask.tool, "Budget") == 0 && !e->u.ask.command;
}

static void
main_keys(const struct foot *s, struct flow *f, const char *between, bool brief)
{
    own_key(f, ACT_ONCE, brief ? NULL : is_budget(s) ? "raise" : "once", between);
    if (approval_can_always(s->a, s->ask))
        own_key(f, ACT_ALWAYS,
                brief                          ? NULL
                : s->ask->ev->u.ask.rules_file ? "always"
                                               : "this session",
                between);
    own_key(f, ACT_NO, brief ? NULL : is_budget(s) ? "stop" : "no", between);
    own_key(f, ACT_WHY, brief ? NULL : s->a->why ? "less" : "why", between);
    if (s->ask->ev->u.ask.diff)
        own_key(f, ACT_DIFF, brief ? NULL : s->a->diff_open ? "less" : "diff", between);
    if (approval_can_edit(s->ask))
        own_key(f, ACT_EDIT, brief ? NULL : "edit", between);
    size_t place;
    if (approval_pending(s->a, s->v, &place) > 1) {
        own_key(f, ACT_ASK_NEXT, NULL, between);
        own_key(f, ACT_ASK_BACK, brief || s->w < 48 ? NULL : "others", " ");
    }
}

static void
keys_flow(const struct foot *s, struct flow *f, const char *between, bool brief)
{
    if (!s->focus) {
        own_key(f, ACT_PANE3, brief ? NULL : "to answer", between);
    } else if (s->a->typing_reason) {
        key(f, "Enter", brief ? NULL : "says no", between);
        key(f, "Esc", brief ? NULL : "back", between);
    } else if (s->a->editing) {
        key(f, "Enter", brief ? NULL : "checks this", between);
        if (keys_of(ACT_NEWLINE) && !brief && s->w >= 52)
            own_key(f, ACT_NEWLINE, "new line", between);
        key(f, "Esc", brief ? NULL : "back", between);
    } else if (s->a->confirm_always) {
        key(f, "Enter",
            brief                          ? NULL
            : s->ask->ev->u.ask.rules_file ? "saves and allows"
                                           : "allows",
            between);
        key(f, "Esc", brief ? NULL : "back", between);
    } else {
        main_keys(s, f, between, brief);
    }
}

void
approval_foot(struct lines *out, const struct approval *a, const struct view *v, int w, int h)
{
    struct flow f;
    const struct foot *s = &(struct foot){a, v, approval_ask(a, v), w, h, a->focused};
    const struct event *e = s->ask->ev;
    const char *note = s->a->note;
    flow_init(&f);
    if (note && s->h > 4) {
        bool why = strstr(note, "always") && e->u.ask.n_rules == 0 && e->u.ask.rules_why;
        flow_add(&f, ST_WARN, str_from(note));
        if (why) {
            flow_add(&f, ST_WARN, STR(": "));
            flow_add(&f, ST_WARN, str_from(e->u.ask.rules_why));
        }
        flow_wrap(&f, out, &(struct indent){.width = s->w});
    }
    keys_flow(s, &f, "  ", false);
    if (flow_width(&f) > s->w) {
        flow_clear(&f);
        keys_flow(s, &f, " ", false);
    }
    if (flow_width(&f) > s->w && s->h < SHORT) {
        flow_clear(&f);
        keys_flow(s, &f, " ", true);
    }
    flow_wrap(&f, out, &(struct indent){.width = s->w});
    flow_release(&f);
}
