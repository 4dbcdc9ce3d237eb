#include "ui/approval.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ui/keys.h"

#define GUARD_MS 300
#define HELD_MS 150    /* a key that comes again so soon is held down */
#define EDITED_MS 1000 /* how long the engine may take to judge a changed command */

void
approval_init(struct approval *a)
{
    *a = (struct approval){.folded = true};
    field_init(&a->field);
}

void
approval_release(struct approval *a)
{
    field_release(&a->field);
}

static bool
is_answered(const struct approval *a, uint64_t serial)
{
    for (size_t i = 0; i < ARRAY_LEN(a->answered) && i < a->n_answered; i++)
        if (a->answered[i] == serial)
            return true;
    return false;
}

const struct ask *
approval_ask(const struct approval *a, const struct view *v)
{
    for (size_t i = 0; a->serial && i < v->n_asks; i++)
        if (v->asks[i].serial == a->serial)
            return &v->asks[i];
    return NULL;
}

size_t
approval_pending(const struct approval *a, const struct view *v, size_t *ret_place)
{
    size_t n = 0;
    *ret_place = 0;
    for (size_t i = 0; i < v->n_asks; i++) {
        if (is_answered(a, v->asks[i].serial))
            continue;
        if (v->asks[i].serial == a->serial)
            *ret_place = n;
        n++;
    }
    return n;
}

bool
approval_full(const struct approval *a)
{
    return a->serial && (a->diff_open || a->why);
}

bool
approval_waiting(const struct approval *a, const struct view *v)
{
    return approval_ask(a, v) != NULL;
}

void
approval_title(const struct approval *a, const struct view *v, struct buf *out)
{
    size_t place, n = approval_pending(a, v, &place);
    buf_adds(out, "permission");
    if (n)
        buf_addf(out, " %zu of %zu", place + 1, n);
}

static void
show(struct approval *a, const struct ask *ask)
{
    a->serial = ask ? ask->serial : 0;
    a->shown = ask ? ask->id : 0;
    a->offer = ask ? ask->ev->u.ask.offer : 0;
    a->why = a->confirm_always = a->typing_reason = a->diff_open = a->editing = false;
    a->folded = true; /* until drawing has seen it whole */
    memset(&a->seen, 0, sizeof a->seen);
    a->chosen = false;
    a->note = NULL;
    a->scroll = a->max_scroll = 0;
    field_clear(&a->field);
}

/* The request that was shown, told anew: its reasons or what "always" would do changed (another mode, trust). */
static const struct ask *
told_anew(const struct approval *a, const struct view *v)
{
    for (size_t i = 0; a->serial && i < v->n_asks; i++)
        if (v->asks[i].id == a->shown && !is_answered(a, v->asks[i].serial))
            return &v->asks[i];
    return NULL;
}

/* What was being written about it still is. */
static void
show_anew(struct approval *a, const struct ask *ask)
{
    bool reason = a->typing_reason, edit = a->editing;
    struct field field = a->field;
    field_init(&a->field);
    show(a, ask);
    field_release(&a->field);
    a->field = field;
    a->typing_reason = reason;
    a->editing = edit;
}

void
approval_sync(struct approval *a, const struct view *v, int64_t now_ms)
{
    if (approval_ask(a, v))
        return;
    const struct ask *next = told_anew(a, v);
    if (next && approval_typing(a)) {
        show_anew(a, next);
        a->shown_since_ms = now_ms;
        return;
    }
    for (size_t i = 0; i < v->n_asks && !next; i++)
        if (!is_answered(a, v->asks[i].serial))
            next = &v->asks[i];
    if (!next && !a->serial)
        return;
    bool typing = approval_typing(a);
    show(a, next);
    a->typed_on = typing;
    if (typing)
        a->note = "what you were writing about is gone; this is another request";
    if (next && a->edited_ms)
        a->note = "a changed command needs a yes of its own";
    if (next)
        a->edited_ms = 0;
    a->taken_ms = a->shown_since_ms = now_ms;
}

int64_t
approval_holds_until(const struct approval *a)
{
    return a->edited_ms ? a->edited_ms + EDITED_MS : -1;
}

void
approval_let_go(struct approval *a)
{
    a->edited_ms = 0;
}

bool
approval_can_always(const struct approval *a, const struct ask *ask)
{
    return ask->ev->u.ask.n_rules > 0 && !a->folded;
}

bool
approval_can_edit(const struct ask *ask)
{
    return ask->ev->u.ask.command && ask->ev->u.ask.input;
}

/* ---- answers ---- */

static struct op *
answer(struct approval *a, enum perm_answer what, const char *reason, char *take_input)
{
    struct op *op = op_new(OP_PERM_ANSWER, NULL);
    op->perm.ask_id = a->shown;
    op->perm.answer = what;
    op->perm.offer = a->offer;
    op->perm.reason = xstrdup(reason);
    op->perm.edited_input = take_input;
    a->answered[a->n_answered % ARRAY_LEN(a->answered)] = a->serial;
    a->n_answered++;
    show(a, NULL);
    return op;
}

/* The input with another command, all its other members byte for byte; NULL: it is no object. */
static char *
edited_input(const struct ask *ask, struct str command)
{
    struct str input = str_from(ask->ev->u.ask.input);
    struct err err;
    struct buf out;
    struct jw w;
    struct cJSON *tree = json_parse(input, &err);
    if (!json_is_object(tree)) {
        json_free(tree);
        return NULL;
    }
    buf_init(&out, BUF_MAX);
    jw_init(&w, &out);
    jw_object(&w);
    for (const struct cJSON *m = json_first(tree); m; m = json_next(m)) {
        if (strcmp(json_key(m), "command") == 0)
            jw_kstr(&w, "command", command);
        else
            jw_kraw(&w, json_key(m), json_raw_member(input, json_key(m)));
    }
    jw_end(&w);
    json_free(tree);
    return buf_take(&out);
}

/* ---- keys ---- */

static struct op *
key_reason(struct approval *a, int key, struct str typed)
{
    if (key == YK_ENTER) {
        struct str s = str_trim(buf_str(&a->field.text));
        char *reason = s.len ? str_dup(s) : NULL;
        struct op *op = answer(a, PERM_ANSWER_NO, reason, NULL);
        free(reason);
        return op;
    }
    if (key == YK_ESC) {
        a->typing_reason = false;
        field_clear(&a->field);
    } else {
        field_key(&a->field, key, typed);
    }
    return NULL;
}

static struct op *
key_edit(struct approval *a, const struct ask *ask, int key, struct str typed, int64_t now_ms)
{
    if (key == YK_ENTER) {
        struct str s = buf_str(&a->field.text);
        if (!str_trim(s).len) {
            a->note = "an empty command: Esc goes back, n says no";
            return NULL;
        }
        if (str_is(s, ask->ev->u.ask.command))
            return answer(a, PERM_ANSWER_ONCE, NULL, NULL);
        char *input = edited_input(ask, s);
        if (input) {
            a->edited_ms = now_ms;
            return answer(a, PERM_ANSWER_ONCE, NULL, input);
        }
        a->note = "this input cannot be edited";
        return NULL;
    }
    a->note = NULL;
    if (key == YK_ESC) {
        a->editing = false;
        field_clear(&a->field);
    } else {
        field_key(&a->field, key, typed);
    }
    return NULL;
}

static struct op *
key_confirm(struct approval *a, const struct ask *ask, int key)
{
    if (key == YK_ENTER && approval_can_always(a, ask)) {
        if (a->seen.rules)
            return answer(a, PERM_ANSWER_ALWAYS, NULL, NULL);
        a->note = "not yet: PgDn shows the rest of what would be saved";
    }
    if (key == YK_ESC || keys_action_in(KEYS_APPROVAL, key, 0) == ACT_NO) {
        a->confirm_always = false;
        a->scroll = 0;
    }
    return NULL;
}

static bool
key_scroll(struct approval *a, int key)
{
    int page = a->page > 2 ? a->page - 1 : 1;
    int by = key == YK_UP || key == YK_WHEEL_UP       ? -1
             : key == YK_DOWN || key == YK_WHEEL_DOWN ? 1
             : key == YK_PGUP                         ? -page
             : key == YK_PGDN                         ? page
             : key == YK_HOME                         ? -(1 << 20)
             : key == YK_END                          ? 1 << 20
                                                      : 0;
    if (by == 0)
        return false;
    a->scroll += by;
    if (a->scroll > a->max_scroll)
        a->scroll = a->max_scroll;
    if (a->scroll < 0)
        a->scroll = 0;
    return true;
}

/* The next (1) or previous (-1) request that was not answered, round and round. */
static void
key_other(struct approval *a, const struct view *v, int dir)
{
    size_t at = 0, n = v->n_asks;
    while (at < n && v->asks[at].serial != a->serial)
        at++;
    for (size_t k = 1; k < n; k++) {
        const struct ask *x = &v->asks[dir > 0 ? (at + k) % n : (at + n - k) % n];
        if (!is_answered(a, x->serial)) {
            show(a, x);
            a->chosen = true;
            return;
        }
    }
    a->note = "no other request waits";
}

static void
key_always(struct approval *a, const struct ask *ask)
{
    if (approval_can_always(a, ask)) {
        a->confirm_always = true;
        a->seen.rules = false;
        a->scroll = 0;
    } else if (ask->ev->u.ask.n_rules > 0) {
        a->note = "always is not offered before all of it was seen: w and PgDn show it";
    } else {
        a->note = "always is not offered for this one";
    }
}

static void
key_toggle(struct approval *a, bool *what, bool *other)
{
    *what = !*what;
    *other = false;
    a->scroll = 0;
}

/* The pane's own actions; false: it is none of them. */
static bool
act_main(struct approval *a, const struct view *v, const struct ask *ask, enum key_action act,
         struct op **ret_op)
{
    switch (act) {
    case ACT_ONCE:
        *ret_op = answer(a, PERM_ANSWER_ONCE, NULL, NULL);
        break;
    case ACT_ALWAYS:
        key_always(a, ask);
        break;
    case ACT_NO:
        a->typing_reason = true;
        break;
    case ACT_WHY:
        key_toggle(a, &a->why, &a->diff_open);
        break;
    case ACT_EDIT:
        if (approval_can_edit(ask)) {
            a->editing = true;
            field_set(&a->field, str_from(ask->ev->u.ask.command));
        } else {
            a->note = "only a command can be edited here";
        }
        break;
    case ACT_ASK_NEXT:
    case ACT_ASK_BACK:
        key_other(a, v, act == ACT_ASK_NEXT ? 1 : -1);
        break;
    case ACT_DIFF:
        if (ask->ev->u.ask.diff)
            key_toggle(a, &a->diff_open, &a->why);
        break;
    default:
        return false;
    }
    return true;
}

static struct op *
key_main(struct approval *a, const struct view *v, const struct ask *ask, int key, bool *ret_used)
{
    struct op *op = NULL;
    enum key_action act = keys_action_in(KEYS_APPROVAL, key, 0);
    if (act_main(a, v, ask, act, &op) || key_scroll(a, key))
        return op;
    if (key == YK_ESC) {
        *ret_used = a->why || a->diff_open;
        a->why = a->diff_open = false;
        a->scroll = 0;
    } else { /* a letter that means nothing here begins a sentence, whose next one might mean something */
        *ret_used = key == YK_PASTE;
    }
    return NULL;
}

/* What is typed before the eye can have seen the request is meant for something else. */
bool
approval_guarded(const struct approval *a, int64_t now_ms)
{
    return !a->focused || a->drawn != a->serial || now_ms - a->shown_since_ms < GUARD_MS;
}

bool
approval_means_nothing(const struct approval *a, const struct view *v, int key, int64_t now_ms)
{
    return approval_ask(a, v) && !approval_guarded(a, now_ms) &&
           keys_action_in(KEYS_APPROVAL, key, 0) == ACT_NONE;
}

/* A key that came too early: while one goes on typing, or holds the key that answered, no time passes. */
static void
keep_guard(struct approval *a, int key, int64_t now_ms)
{
    bool held = key == a->answer_key && now_ms - a->answer_ms < HELD_MS;
    if (held)
        a->answer_ms = now_ms;
    if (held || a->typed_on)
        a->shown_since_ms = now_ms;
}

static bool
is_looking(const struct approval *a, enum key_action act)
{
    return a->focused && a->chosen && (act == ACT_ASK_NEXT || act == ACT_ASK_BACK);
}

/* A person may have given an answer a key with Ctrl or Alt. */
static bool
is_own_key(int key)
{
    enum key_action act = keys_action_in(KEYS_APPROVAL, key, 0);
    return act != ACT_NONE && keys_at((size_t)act - 1)->context == KEYS_APPROVAL;
}

bool
approval_typing(const struct approval *a)
{
    return a->serial && (a->typing_reason || a->editing);
}

bool
approval_action(struct approval *a, const struct view *v, enum key_action act, int64_t now_ms,
                struct op **ret_op)
{
    const struct ask *ask = approval_ask(a, v);
    *ret_op = NULL;
    bool guarded = approval_guarded(a, now_ms) && !is_looking(a, act);
    if (!ask || guarded || approval_typing(a) || a->confirm_always)
        return false;
    a->note = NULL;
    return act_main(a, v, ask, act, ret_op);
}

void
approval_wheel(struct approval *a, int key)
{
    (void)key_scroll(a, key);
}

static struct op *
take_key(struct approval *a, const struct view *v, int key, struct str typed, int64_t now_ms,
         bool *ret_used)
{
    const struct ask *ask = approval_ask(a, v);
    *ret_used = false;
    bool field = a->typing_reason || a->editing;
    if (!ask || ((key & (KM_CTRL | KM_ALT)) && !field && !is_own_key(key)))
        return NULL;
    bool looking = is_looking(a, keys_action_in(KEYS_APPROVAL, key, 0));
    if (key != YK_ESC && approval_guarded(a, now_ms) && !looking) {
        *ret_used = key < KEY_NAMED || key == YK_ENTER || key == YK_PASTE;
        keep_guard(a, key, now_ms);
        return NULL;
    }
    a->typed_on = false;
    if (field) {
        /* editing keys with Ctrl are the field's, all others with Ctrl or Alt the app's */
        struct str none = STR("");
        if (a->editing && keys_action_in(KEYS_PROMPT, key, 0) == ACT_NEWLINE) {
            *ret_used = field_key(&a->field, YK_PASTE, STR("\n")); /* as in the prompt */
            return NULL;
        }
        if (key & (KM_CTRL | KM_ALT)) {
            *ret_used = field_key(&a->field, key, none);
            return NULL;
        }
        *ret_used = key < KEY_NAMED || (key >= YK_ENTER && key <= YK_PGDN && key != YK_BACKTAB) ||
                    key == YK_PASTE;
        if (!*ret_used)
            return NULL;
        return a->typing_reason ? key_reason(a, key, typed) : key_edit(a, ask, key, typed, now_ms);
    }
    a->note = NULL;
    *ret_used = true;
    if (a->confirm_always) {
        if (key_scroll(a, key))
            return NULL;
        *ret_used = key < KEY_NAMED || key == YK_ENTER || key == YK_ESC || key == YK_PASTE;
        return key_confirm(a, ask, key);
    }
    return key_main(a, v, ask, key, ret_used);
}

struct op *
approval_key(struct approval *a, const struct view *v, int key, struct str typed, int64_t now_ms,
             bool *ret_used)
{
    struct op *op = take_key(a, v, key, typed, now_ms, ret_used);
    if (op) {
        a->answer_key = key;
        a->answer_ms = now_ms;
    }
    return op;
}
