/*
 * What a patch changes stands in it: "git apply x.patch" and "patch -p1 < x.patch" are held against rules for Edit by the names in the file.
 * A patch that cannot be read here (from a pipe, too long, none) may change anything: any rule for what lies there asks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/repo.h"
#include "perm/trees.h"

enum { PATCH_MAX = 4 << 20, STRIP_MAX = 8, NAME_LONGEST = 4096, NAMES_MAX = 20000 };

struct patch {
    struct chain *c;
    const struct perm_leaf *l;
    struct path_names dir; /* where it is applied */
    struct path_names top; /* ... and of git the repository, from which it may count */
    const char *shown;
    int strip;      /* leading folders that are taken off; -1: not known */
    size_t n_names; /* that were held against the rules */
    bool names, done;
    bool lost; /* a name in it is not spelt out, or there are too many */
};

static bool
is_patcher(const struct perm_leaf *l)
{
    if (leaf_is(l, "patch"))
        return !trees_has(l, "--dry-run|-C");
    if (!leaf_is(l, "git") || trees_has(l, "--abort|--quit|--show-current-patch"))
        return false;
    return trees_has(l, "am") || (trees_has(l, "apply") && !trees_has(l, "stash") &&
                                  (trees_has(l, "--apply") ||
                                   !trees_has(l, "--check|--stat|--numstat|--summary|--cached")));
}

/* ---- names ---- */

static void
held_against(struct patch *p, struct str name, bool certain)
{
    struct chain *c = p->c;
    if (!name.len || str_is(name, "/dev/null"))
        return;
    char *rel = str_dup(name);
    const struct perm_rule *deny = trees_edit_rule(c, &c->deny, &p->dir, rel);
    if (!deny && p->top.n)
        deny = trees_edit_rule(c, &c->deny, &p->top, rel);
    const struct perm_rule *ask = deny ? NULL : trees_edit_rule(c, &c->ask, &p->dir, rel);
    if (!deny && !ask && p->top.n)
        ask = trees_edit_rule(c, &c->ask, &p->top, rel);
    if (deny || ask) {
        chain_add(c, "rules", deny && certain ? VERDICT_DENY : VERDICT_ASK, FORCE_HARD,
                  deny ? deny : ask, p->shown, "the patch changes '%s', which %s rule names", rel,
                  deny ? "a deny" : "an ask");
        p->done = true;
    }
    free(rel);
}

/* Quotes, and the date behind a tab, are no part of it. */
static struct str
bare(struct str s)
{
    size_t tab = str_find(s, '\t', 0);
    s = tab == (size_t)-1 ? s : str_sub(s, 0, tab);
    while (s.len && (s.ptr[s.len - 1] == '\r' || s.ptr[s.len - 1] == ' '))
        s.len--;
    if (s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"')
        s = str_sub(s, 1, s.len - 1);
    return s;
}

static void
judge_patch_name(struct patch *p, struct str s)
{
    p->names = true;
    p->lost = p->lost || s.len >= NAME_LONGEST || ++p->n_names > NAMES_MAX;
    if (s.len >= NAME_LONGEST || p->n_names > NAMES_MAX)
        return;
    s = bare(s);
    /* "a/l\151b.c" in quotes, a quote within one half, "../" */
    p->lost = p->lost || memchr(s.ptr, '\\', s.len) || memchr(s.ptr, '"', s.len) ||
              str_contains(s, STR("../"));
    for (int i = 0; i < STRIP_MAX && s.len && !p->done; i++) {
        if (p->strip < 0 || i == p->strip)
            held_against(p, s, p->strip >= 0);
        size_t slash = str_find(s, '/', 0);
        if (slash == (size_t)-1)
            break;
        s = str_sub(s, slash + 1, s.len);
    }
}

/* "diff --git a/x b/x": both halves. */
static void
judge_git_line(struct patch *p, struct str s)
{
    size_t half = str_find(s, ' ', 0);
    p->lost = p->lost || s.len >= 2 * NAME_LONGEST;
    while (half != (size_t)-1 && !p->done && s.len < 2 * NAME_LONGEST) {
        judge_patch_name(p, str_sub(s, half + 1, s.len));
        half = str_find(s, ' ', half + 1);
    }
}

/* patch takes one that is indented, quoted in a mail or marked with X. */
static struct str
outdented(const struct patch *p, struct str line)
{
    if (str_starts(line, "- --- "))
        return str_sub(line, 2, line.len);
    while (leaf_is(p->l, "patch") && line.len && strchr(" \tX", line.ptr[0]))
        line = str_sub(line, 1, line.len);
    return line;
}

static void
read_patch(struct patch *p, struct str text)
{
    static const char *const marks[] = {"+++ ", "--- ", "*** ", "Index: "};
    static const char *const whole[] = {"rename to ", "copy to ", "rename from "};
    struct str line;
    while (!p->done && p->n_names <= NAMES_MAX && str_split(&text, '\n', &line)) {
        line = outdented(p, line);
        for (size_t i = 0; i < ARRAY_LEN(marks); i++)
            if (str_starts(line, marks[i]))
                judge_patch_name(p, str_sub(line, strlen(marks[i]), line.len));
        if (str_starts(line, "diff --git "))
            judge_git_line(p, str_sub(line, strlen("diff --git "), line.len));
        int strip = p->strip;
        p->strip = 0; /* these are never cut */
        for (size_t i = 0; i < ARRAY_LEN(whole); i++)
            if (str_starts(line, whole[i]))
                judge_patch_name(p, str_sub(line, strlen(whole[i]), line.len));
        p->strip = strip;
    }
}

/* ---- where the patch is ---- */

static int
strip_of(const struct perm_leaf *l)
{
    int strip = leaf_is(l, "git") ? 1 : -1;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (str_starts(s, "-p") && s.len == 3 && s.ptr[2] >= '0' && s.ptr[2] <= '7')
            strip = s.ptr[2] - '0';
        else if (str_starts(s, "-p") || str_starts(s, "--strip") || str_starts(s, "--directory"))
            return -1;
    }
    return strip;
}

/* It is in a file that can be read: all of them are, by the operands and the standard input. */
static bool
read_files(struct patch *p)
{
    bool any = false;
    for (size_t i = 0; i < p->l->n_effects && !p->done; i++) {
        const struct perm_effect *e = &p->l->effects[i];
        struct buf text;
        struct err err = {0};
        if (e->kind != EFFECT_READ || !e->path || e->glob || fs_is_dir(e->path))
            continue;
        buf_init(&text, PATCH_MAX);
        if (!fs_read(e->path, PATCH_MAX, &text, &err)) {
            buf_release(&text);
            return false;
        }
        p->names = false;
        read_patch(p, buf_str(&text));
        buf_release(&text);
        if (e->redirect && !p->names)
            return false;
        any = any || p->names;
    }
    return any;
}

/* It takes its patch from a file, and no other part of the call writes one first. */
static bool
comes_from_file(const struct chain *c, const struct perm_leaf *l)
{
    size_t operands = 0;
    bool redirect = false;
    for (size_t i = 1; i < l->n_argv; i++)
        operands += l->argv[i].text.len && l->argv[i].text.ptr[0] != '-';
    for (size_t i = 0; i < l->n_effects; i++)
        redirect = redirect || (l->effects[i].redirect && l->effects[i].kind == EFFECT_READ);
    for (size_t i = 0; i < c->sh.n_leaves; i++) {
        const struct perm_leaf *o = &c->sh.leaves[i];
        bool wraps = o->role == LEAF_WRAPPER || o->wrapper < c->sh.n_leaves;
        if (o != l && o->effects_unknown && !wraps)
            return false;
        for (size_t k = 0; o != l && k < o->n_effects; k++)
            if (o->effects[k].kind == EFFECT_WRITE)
                return false;
    }
    if (!l->argv_known || l->n_cwds != 1 || trees_has(l, "-"))
        return false;
    if (leaf_is(l, "git"))
        return operands > 1 || redirect;
    return redirect || operands > 1 || trees_has(l, "-i|-i*|--input*");
}

/* Where it is applied, and that no option leads to another folder. */
static const char *
folder_of(const struct perm_leaf *l)
{
    bool elsewhere = trees_has(l, "-d|-d*|~d|--dir*|-C|--work-tree*|--git-dir*") ||
                     (leaf_is(l, "git") && trees_has(l, "-c"));
    return l->cwd && !elsewhere ? l->cwd : NULL;
}

static void
ask_of_anything(struct patch *p, const char *dir)
{
    struct chain *c = p->c;
    const struct perm_rules *rs = c->req->rules;
    const struct perm_rule *r = rules_overlap_path(rs, &c->deny, "Edit", dir, true, &c->anchor);
    if (!r)
        r = rules_overlap_path(rs, &c->ask, "Edit", dir, true, &c->anchor);
    if (r)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, r, p->shown,
                  "what the patch changes cannot be told, and the rule names some of what may be");
}

void
judge_patch(struct chain *c, const struct perm_leaf *l)
{
    if (!l->n_argv || !l->name_known || !is_patcher(l) || !trees_rules_exist(c, true))
        return;
    const char *dir = folder_of(l);
    struct patch p = {.c = c, .l = l, .strip = dir ? strip_of(l) : -1};
    char *program = str_dup(l->argv[0].text);
    p.shown = program;
    path_names_init(&p.dir, c->cwd, dir ? dir : c->root, c->fold);
    char *top = leaf_is(l, "git") && dir ? repo_find_top(dir) : NULL;
    if (top)
        path_names_init(&p.top, c->cwd, top, c->fold);
    bool read = comes_from_file(c, l) && read_files(&p) && dir && !p.lost;
    if (!read && !p.done)
        ask_of_anything(&p, c->root);
    path_names_release(&p.dir);
    path_names_release(&p.top);
    free(top);
    free(program);
}
