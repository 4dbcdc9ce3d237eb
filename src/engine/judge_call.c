/* The call itself, for the classifier: nothing of it may be cut. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "engine/judge_prompt.h"
#include "engine/judge_write.h"
#include "perm/leaf.h"

static void
put(struct jw *w, const char *key, struct str s)
{
    judge_put(w, key, s, BUF_MAX);
}

/* ---- a shell command ---- */

static void
write_word(struct jw *w, const struct perm_word *word)
{
    if (word->known && !word->glob) {
        put(w, NULL, word->text);
        return;
    }
    jw_object(w);
    put(w, word->known ? "pattern" : "unknown", word->text);
    jw_end(w);
}

static const char *const effect_verbs[] = {
    [EFFECT_READ] = "reads",   [EFFECT_READ_TREE] = "reads all below",
    [EFFECT_WRITE] = "writes", [EFFECT_DELETE] = "deletes",
    [EFFECT_EXEC] = "runs",    [EFFECT_DELETE_TREE] = "deletes all below",
    [EFFECT_NET] = "talks to",
};

static void
write_effects(struct jw *w, const struct perm_leaf *l)
{
    jw_key(w, "effects");
    jw_array(w);
    for (size_t i = 0; i < l->n_effects; i++) {
        const struct perm_effect *e = &l->effects[i];
        jw_object(w);
        put(w, effect_verbs[e->kind], str_from(e->path ? e->path : "?"));
        jw_end(w);
    }
    jw_end(w);
    if (l->effects_unknown)
        put(w, "more_effects", str_from(l->unknown_why ? l->unknown_why : "not known"));
}

/* A value that could be run, opened or taken for options is part of what happens; one plain word, which may be a secret, is not told. */
static bool
tells_value(const struct perm_word *value)
{
    static const char plain[] = "_.+=:@%,-";
    struct str s = value->text;
    if (!value->known || !s.len)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (!memchr(plain, c, sizeof plain - 1) || (c == '-' && i == 0)))
            return true;
    }
    return false;
}

static void
write_assigns(struct jw *w, const struct perm_leaf *l)
{
    bool any = false;
    jw_key(w, "sets");
    jw_array(w);
    for (size_t i = 0; i < l->n_assigns; i++) {
        put(w, NULL, l->assigns[i].name);
        any = any || tells_value(&l->assigns[i].value);
    }
    jw_end(w);
    if (!any)
        return;
    jw_key(w, "values");
    jw_array(w);
    for (size_t i = 0; i < l->n_assigns; i++) {
        if (!tells_value(&l->assigns[i].value))
            continue;
        jw_object(w);
        put(w, "of", l->assigns[i].name);
        put(w, "is", l->assigns[i].value.text);
        jw_end(w);
    }
    jw_end(w);
}

static void
write_leaf(struct jw *w, const struct perm_leaf *l, const char *cwd)
{
    jw_object(w);
    jw_key(w, "argv");
    jw_array(w);
    for (size_t i = 0; i < l->n_argv; i++)
        write_word(w, &l->argv[i]);
    jw_end(w);
    if (!l->cwd)
        jw_kcstr(w, "cwd", NULL);
    else if (strcmp(l->cwd, cwd) != 0)
        put(w, "cwd", str_from(l->cwd));
    if (l->n_assigns)
        write_assigns(w, l);
    if (l->role == LEAF_WRAPPER || l->role == LEAF_INNER)
        jw_kcstr(w, "role", l->role == LEAF_WRAPPER ? "runs the next" : "is run by another");
    if (l->raises_power)
        jw_kbool(w, "raises_power", true);
    write_effects(w, l);
    jw_end(w);
}

/* A word that is made as the command runs: what it is made of may stand elsewhere, as in `for c in 'rm x'; do $c; done`. */
static bool
has_unknown_word(const struct perm_analysis *a)
{
    for (size_t i = 0; i < a->n_leaves; i++)
        for (size_t k = 0; k < a->leaves[i].n_argv; k++)
            if (!a->leaves[i].argv[k].known)
                return true;
    return false;
}

/* What the leaves do not hold is shown as it was written: what could not be taken apart, and what a here-document feeds in. */
static bool
needs_text(const struct perm_analysis *a, struct str command)
{
    return a->incomplete || has_unknown_word(a) || a->unparsable || a->n_leaves == 0 ||
           str_contains(command, STR("<<"));
}

static bool
write_shell(struct jw *w, const struct judge_call *c)
{
    struct str command = json_str(c->input, "command");
    const struct perm_shell_env env = {
        .cwd = c->cwd, .home = c->home, .root = c->root, .shell = "bash"};
    struct perm_analysis a;
    if (!command.ptr)
        return false;
    perm_shell_analyse(command, &env, &a);
    jw_key(w, "leaves");
    jw_array(w);
    for (size_t i = 0; i < a.n_leaves; i++)
        write_leaf(w, &a.leaves[i], c->cwd);
    jw_end(w);
    if (a.incomplete || a.unparsable)
        put(w, "not_understood", str_from(a.why ? a.why : "it cannot be taken apart"));
    if (needs_text(&a, command))
        put(w, "text", command);
    perm_analysis_release(&a);
    if (json_bool(c->input, "run_in_background", false))
        jw_kbool(w, "in_background", true);
    if (json_bool(c->input, "dangerouslyDisableSandbox", false))
        jw_kbool(w, "without_sandbox", true);
    return true;
}

/* ---- files ---- */

/* By its size and kind; the content stays out, so that it cannot argue. */
static void
write_change(struct jw *w, const struct judge_call *c, const char *path_field)
{
    static const char *const sizes[][2] = {{"content", "bytes"},
                                           {"old_string", "bytes_before"},
                                           {"new_string", "bytes_after"},
                                           {"new_source", "bytes"}};
    struct str path = json_str(c->input, path_field);
    char *named = str_dup(path), *full = fs_normalize(c->cwd, named);
    put(w, "path", str_from(full));
    jw_kcstr(w, "change",
             !fs_exists(full)               ? "makes a file"
             : json_at(c->input, "content") ? "writes a file anew"
                                            : "changes a file");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (json_is_str(json_at(c->input, sizes[i][0])))
            jw_kint(w, sizes[i][1], (int64_t)json_str(c->input, sizes[i][0]).len);
    if (json_bool(c->input, "replace_all", false))
        jw_kbool(w, "everywhere_in_it", true);
    if (json_is_array(json_at(c->input, "edits")))
        jw_kint(w, "edits", (int64_t)json_len(json_at(c->input, "edits")));
    free(named);
    free(full);
}

/* ---- the rest ---- */

/* Tools whose other members are prose of the model's or say nothing of what happens: these alone are told. */
static const struct {
    const char *tool, *members[4];
} told[] = {
    {"Read", {"file_path"}},
    {"NotebookRead", {"notebook_path"}},
    {"LS", {"path"}},
    {"Glob", {"pattern", "path"}},
    {"Grep", {"pattern", "path", "glob"}},
    {"WebFetch", {"url"}},
    {"WebSearch", {"query"}},
    {"Skill", {"skill", "args"}},
    {"Agent", {"subagent_type", "prompt", "isolation"}},
    {"Task", {"subagent_type", "prompt", "isolation"}},
};

static void
write_other(struct jw *w, const struct judge_call *c)
{
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        if (strcmp(told[i].tool, c->tool) != 0)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(told[i].members) && told[i].members[k]; k++)
            if (json_is_str(json_at(c->input, told[i].members[k])))
                put(w, told[i].members[k], json_str(c->input, told[i].members[k]));
        return;
    }
    struct buf whole;
    buf_init(&whole, BUF_MAX);
    json_print(c->input, &whole);
    put(w, "input", buf_str(&whole));
    buf_release(&whole);
}

static const char *
changed_path(const char *tool)
{
    if (strcmp(tool, "NotebookEdit") == 0)
        return "notebook_path";
    return strcmp(tool, "Write") == 0 || strcmp(tool, "Edit") == 0 || strcmp(tool, "MultiEdit") == 0
               ? "file_path"
               : NULL;
}

bool
judge_prompt_call(const struct judge_call *c, struct buf *out)
{
    struct buf whole;
    struct jw w;
    bool ok = true;
    buf_init(&whole, BUF_MAX);
    jw_init(&w, &whole);
    jw_object(&w);
    put(&w, "tool", str_from(c->tool));
    put(&w, "cwd", str_from(c->cwd));
    const char *path_field = changed_path(c->tool);
    if (c->shell)
        ok = write_shell(&w, c);
    else if (path_field && json_is_str(json_at(c->input, path_field)))
        write_change(&w, c, path_field);
    else
        write_other(&w, c);
    jw_end(&w);
    ok = ok && !buf_full(&whole) && whole.len <= JUDGE_CALL_MAX;
    if (ok)
        buf_add_str(out, buf_str(&whole));
    buf_release(&whole);
    return ok;
}
