#include "ui/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const struct key_row rows[] = {
#define X(id, name, context, key, help) {id, name, key, help, context},
    KEY_ACTIONS(X)
#undef X
};

static const struct {
    const char *name, *shown;
    int key;
} names[] = {
    {"enter", "Enter", YK_ENTER},
    {"return", "Enter", YK_ENTER},
    {"esc", "Esc", YK_ESC},
    {"escape", "Esc", YK_ESC},
    {"tab", "Tab", YK_TAB},
    {"backspace", "Backspace", YK_BACKSPACE},
    {"delete", "Delete", YK_DELETE},
    {"up", "Up", YK_UP},
    {"down", "Down", YK_DOWN},
    {"left", "Left", YK_LEFT},
    {"right", "Right", YK_RIGHT},
    {"home", "Home", YK_HOME},
    {"end", "End", YK_END},
    {"pageup", "PgUp", YK_PGUP},
    {"pagedown", "PgDn", YK_PGDN},
    {"wheelup", "wheel up", YK_WHEEL_UP},
    {"wheeldown", "wheel down", YK_WHEEL_DOWN},
    {"f1", "F1", YK_F1},
    {"space", "Space", ' '},
};

/* Names other tools' key files use for the same actions. */
static const struct {
    const char *theirs, *ours;
} aliases[] = {
    {"chat:externalEditor", "prompt:editor"},   {"chat:cycleMode", "app:cycleMode"},
    {"chat:submit", "prompt:submit"},           {"chat:undo", "prompt:undo"},
    {"chat:newline", "prompt:newline"},         {"history:search", "prompt:history"},
    {"app:toggleTranscript", "app:transcript"}, {"app:toggleTodos", "app:todos"},
};

static const struct {
    const char *name;
    enum key_context context;
} contexts[] = {
    {"Global", KEYS_ANYWHERE},       {"Chat", KEYS_PROMPT},           {"Prompt", KEYS_PROMPT},
    {"Transcript", KEYS_TRANSCRIPT}, {"Confirmation", KEYS_APPROVAL}, {"Permission", KEYS_APPROVAL},
    {"Activity", KEYS_ACTIVITY},
};

struct binding {
    int keys[2];
    enum key_action action; /* ACT_NONE: taken off */
    enum key_context context;
    char text[32];
};
#define BINDINGS_MAX 256
static struct binding bindings[BINDINGS_MAX]; /* later ones go before earlier ones */
static size_t n_bindings;

const struct key_row *
keys_at(size_t i)
{
    return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

/* One "ctrl+alt+x"; 0 when it cannot be read. */
static int
parse_one(struct str s)
{
    static const struct {
        const char *name;
        int bit;
    } mods[] = {{"ctrl+", KM_CTRL}, {"control+", KM_CTRL}, {"alt+", KM_ALT},    {"meta+", KM_ALT},
                {"opt+", KM_ALT},   {"option+", KM_ALT},   {"shift+", KM_SHIFT}};
    int bits = 0;
    for (size_t i = 0; i < ARRAY_LEN(mods); i++) {
        size_t n = strlen(mods[i].name);
        if (s.len > n && text_equal_fold(str_sub(s, 0, n), str_from(mods[i].name))) {
            bits |= mods[i].bit;
            s = str_sub(s, n, s.len);
            i = (size_t)-1;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!text_equal_fold(s, str_from(names[i].name)))
            continue;
        if (names[i].key == YK_TAB && bits & KM_SHIFT)
            return YK_BACKTAB;
        return names[i].key | bits;
    }
    int32_t cp;
    if (!s.len || text_decode(s, 0, &cp) != s.len || cp < ' ')
        return 0;
    if (bits & KM_CTRL && cp >= 'A' && cp <= 'Z')
        cp += 'a' - 'A';
    return cp | (bits & ~KM_SHIFT);
}

bool
keys_parse(const char *text, int ret_keys[2])
{
    struct str rest = str_trim(str_from(text)), part;
    int keys[2] = {0, 0};
    size_t n = 0;
    if (str_is(rest, ""))
        return false;
    while (str_split(&rest, ' ', &part)) {
        if (!part.len)
            continue;
        int key = n < 2 ? parse_one(part) : 0;
        if (!key)
            return false;
        keys[n++] = key;
    }
    ret_keys[0] = keys[0];
    ret_keys[1] = keys[1];
    return n > 0;
}

/* The first row of a name stands for all of it. */
static enum key_action
action_named(const char *name, enum key_context *ret_context)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *ret_context = rows[i].context;
            return rows[i].action;
        }
    }
    return ACT_NONE;
}

static bool
bind(const char *text, enum key_action action, enum key_context context)
{
    struct binding b = {.action = action, .context = context};
    if (n_bindings == BINDINGS_MAX || strlen(text) >= sizeof(b.text) || !keys_parse(text, b.keys))
        return false;
    strncpy(b.text, text, sizeof(b.text) - 1);
    bindings[n_bindings++] = b;
    return true;
}

void
keys_reset(void)
{
    n_bindings = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum key_context context;
        (void)bind(rows[i].key, action_named(rows[i].name, &context), rows[i].context);
    }
}

static void
need_table(void)
{
    if (!n_bindings)
        keys_reset();
}

static bool
lookup(enum key_context context, int k0, int k1, enum key_action *ret)
{
    for (size_t i = n_bindings; i-- > 0;) {
        const struct binding *b = &bindings[i];
        if (b->context == context && b->keys[0] == k0 && b->keys[1] == k1) {
            *ret = b->action;
            return true;
        }
    }
    return false;
}

enum key_action
keys_action_in(enum key_context context, int key, int pending)
{
    enum key_action a = ACT_NONE;
    need_table();
    int k0 = pending ? pending : key, k1 = pending ? key : 0;
    if (context != KEYS_ANYWHERE && lookup(context, k0, k1, &a))
        return a;
    (void)lookup(KEYS_ANYWHERE, k0, k1, &a);
    return a;
}

enum key_action
keys_action(int key, int pending)
{
    return keys_action_in(KEYS_ANYWHERE, key, pending);
}

bool
keys_is_chord_start(enum key_context context, int key)
{
    need_table();
    for (size_t i = 0; i < n_bindings; i++) {
        const struct binding *b = &bindings[i];
        if (b->keys[0] == key && b->keys[1] && b->action &&
            (b->context == context || b->context == KEYS_ANYWHERE))
            return true;
    }
    return false;
}

const char *
keys_of(enum key_action action)
{
    need_table();
    const char *chord = NULL; /* only where there is no single key for it */
    for (size_t i = n_bindings; i-- > 0;) {
        const struct binding *b = &bindings[i];
        enum key_action now = ACT_NONE;
        if (b->action != action || !lookup(b->context, b->keys[0], b->keys[1], &now) ||
            now != action)
            continue;
        if (!b->keys[1])
            return b->text;
        if (!chord)
            chord = b->text;
    }
    return chord;
}

static void
show_one(struct buf *out, int key)
{
    if (key == YK_BACKTAB) {
        buf_adds(out, "Shift+Tab");
        return;
    }
    if (key & KM_CTRL)
        buf_adds(out, "Ctrl+");
    if (key & KM_ALT)
        buf_adds(out, "Alt+");
    if (key & KM_SHIFT)
        buf_adds(out, "Shift+");
    bool bare = !(key & (KM_CTRL | KM_ALT | KM_SHIFT));
    key &= KEY_NAMED | 0x1FFFFF;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].key == key) {
            buf_adds(out, names[i].shown);
            return;
        }
    }
    char utf8[4];
    if (!bare && key >= 'a' && key <= 'z')
        key -= 'a' - 'A';
    buf_add(out, utf8, text_encode(key, utf8));
}

const char *
keys_shown(const char *key)
{
    static _Thread_local char shown[64];
    int keys[2];
    struct buf b;
    if (!key || !keys_parse(key, keys))
        return key ? key : "";
    buf_init(&b, sizeof(shown) - 1);
    show_one(&b, keys[0]);
    if (keys[1]) {
        buf_addc(&b, ' ');
        /* the second key of a chord is written as the first: Ctrl+X A */
        show_one(&b, keys[1] >= 'a' && keys[1] <= 'z' ? keys[1] - 'a' + 'A' : keys[1]);
    }
    (void)snprintf(shown, sizeof(shown), "%s", buf_cstr(&b));
    buf_release(&b);
    return shown;
}

static bool
is_fixed(const int keys[2])
{
    return !keys[1] && (keys[0] == ('c' | KM_CTRL) || keys[0] == ('d' | KM_CTRL) ||
                        keys[0] == YK_ENTER || keys[0] == ('m' | KM_CTRL));
}

static bool
load_one(enum key_context context, const struct cJSON *entry, struct err *err)
{
    int keys[2];
    const char *text = json_key(entry);
    struct str name = json_value_str(entry);
    if (!text || !keys_parse(text, keys))
        return err_set(err, ERR_INVALID, "key bindings: cannot read the key '%s'",
                       text ? text : "");
    if (is_fixed(keys))
        return err_set(err, ERR_INVALID, "key bindings: '%s' cannot be changed", text);
    if (json_is_null(entry)) {
        /* off wherever it stands */
        (void)bind(text, ACT_NONE, context);
        return bind(text, ACT_NONE, KEYS_ANYWHERE);
    }
    char ours[64];
    (void)snprintf(ours, sizeof(ours), "%.*s", (int)name.len, name.ptr ? name.ptr : "");
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
        if (strcmp(ours, aliases[i].theirs) == 0)
            (void)snprintf(ours, sizeof(ours), "%s", aliases[i].ours);
    }
    enum key_context own;
    enum key_action action = action_named(ours, &own);
    if (action == ACT_NONE)
        return err_set(err, ERR_INVALID, "key bindings: no action '%s' (for '%s')", ours, text);
    if (!bind(text, action, own == KEYS_ANYWHERE ? context : own))
        return err_set(err, ERR_LIMIT, "key bindings: too many");
    return true;
}

static bool
context_named(const char *name, enum key_context *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(contexts); i++) {
        if (strcmp(name, contexts[i].name) == 0) {
            *ret = contexts[i].context;
            return true;
        }
    }
    return false;
}

/* {"context":"Chat","bindings":{...}}; without a context they hold anywhere. */
static bool
load_block(const struct cJSON *block, struct err *err)
{
    enum key_context context = KEYS_ANYWHERE;
    const struct cJSON *place = json_at(block, "context"), *keys = json_at(block, "bindings");
    if (!json_is_object(block) || !json_is_object(keys) || (place && !json_is_str(place)))
        return err_set(
            err, ERR_INVALID,
            "key bindings: a block must be {\"context\":\"Chat\",\"bindings\":{KEY:ACTION}}");
    const char *name = json_cstr(block, "context", "Global");
    if (!context_named(name, &context))
        return err_set(err, ERR_INVALID, "key bindings: no context '%.64s', its keys are left out",
                       name);
    bool ok = true;
    for (const struct cJSON *m = json_first(keys); m; m = json_next(m))
        ok = load_one(context, m, ok ? err : NULL) && ok;
    return ok;
}

bool
keys_load(struct str json, struct err *err)
{
    need_table();
    struct cJSON *tree = json_parse(json, err);
    if (!tree)
        return err_wrap(err, "key bindings");
    const struct cJSON *list = json_at(tree, "bindings");
    bool ok = json_is_object(tree) && (!list || json_is_array(list));
    if (!ok)
        (void)err_set(err, ERR_INVALID, "key bindings: the file must be {\"bindings\":[...]}");
    for (const struct cJSON *block = json_first(list); block; block = json_next(block))
        ok = load_block(block, ok ? err : NULL) && ok;
    json_free(tree);
    return ok;
}
