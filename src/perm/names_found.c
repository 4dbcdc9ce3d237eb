/*
 * Names that one command prints and that become words of another without xargs: by $(git ls-files), by a variable that holds that, as
 * the values of a for loop, or by "read" in a loop at the end of a pipe. Only where the shell's splitting and its patterns leave each
 * name as it is, which what lies there now tells.
 */
#include <string.h>

#include "perm/shell.h"

char
found_mark(struct sh *sh, const struct found *f)
{
    for (size_t i = 0; i < sh->n_found; i++)
        if (sh->found[i] == f)
            return (char)(i + 1);
    if (sh->n_found == ARRAY_LEN(sh->found))
        return 0;
    sh->found[sh->n_found++] = f;
    return (char)sh->n_found;
}

static const struct found *
found_new(struct sh *sh, const struct names *n, bool one, bool none)
{
    const struct cwdset *cwd = &sh->st.cwd;
    if (!names_are_plain(sh, n, true))
        return NULL;
    struct found *f = arena_alloc(sh->a, sizeof *f);
    *f = (struct found){.n = *n, .cwd = cwd->dir[0], .one = one, .none = none};
    return f;
}

const struct found *
found_each(struct sh *sh, const struct found *f)
{
    struct found *one = arena_alloc(sh->a, sizeof *one);
    *one = *f;
    one->one = true;
    one->none = false;
    return one;
}

const struct found *
found_in_pipe(struct sh *sh)
{
    struct names n;
    if (!names_of_stages(sh, sh->stages, sh->n_stages, &n))
        return NULL;
    return found_new(sh, &n, true, false);
}

/* "head -1" and its kin: a line at most. */
static bool
is_one_line(const struct perm_leaf *l)
{
    static const char *const ones[] = {"-1", "-n1", "--lines=1"};
    if (!l->argv_known || l->n_argv < 2 ||
        (!str_is(l->argv[0].text, "head") && !str_is(l->argv[0].text, "tail")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(ones); i++)
        if (l->n_argv == 2 && str_is(l->argv[1].text, ones[i]))
            return true;
    return l->n_argv == 3 && str_is(l->argv[1].text, "-n") && str_is(l->argv[2].text, "1");
}

/* A simple command, or a pipe of simple commands: their number; 0: something else. */
static size_t
plain_parts(const struct sh *sh, TSNode st)
{
    uint32_t count = node_is(st, "pipeline") ? ts_node_child_count(st) : 1;
    size_t parts = 0;
    for (uint32_t i = 0; i < count; i++) {
        TSNode c = count > 1 ? ts_node_child(st, i) : st;
        if (count > 1 && !ts_node_is_named(c)) {
            if (!str_is(node_text(sh, c), "|"))
                return 0;
            continue;
        }
        bool redirected = node_is(c, "redirected_statement");
        for (uint32_t k = 1; redirected && k < ts_node_child_count(c); k++)
            if (!str_is(node_text(sh, ts_node_child(c, k)), "2>/dev/null"))
                return 0;
        if (redirected)
            c = ts_node_child(c, 0);
        if (!node_is(c, "command"))
            return 0;
        parts++;
    }
    return parts;
}

char
found_in_substitution(struct sh *sh, TSNode node, size_t first)
{
    size_t stages[8], parts;
    struct names n;
    if (ts_node_child_count(node) != 3 || node_text(sh, node).ptr[0] == '`')
        return 0;
    parts = plain_parts(sh, ts_node_child(node, 1));
    /* as many commands as parts: none holds another one */
    if (parts == 0 || parts > ARRAY_LEN(stages) || sh->ret->n_leaves - first != parts)
        return 0;
    for (size_t i = 0; i < parts; i++)
        stages[i] = first + i;
    if (!names_of_stages(sh, stages, parts, &n) || n.nul)
        return 0;
    const struct found *f = found_new(sh, &n, is_one_line(leaf_at(sh, first + parts - 1)), true);
    return f ? found_mark(sh, f) : 0;
}

/* The text in front of the names: "./" changes nothing, and the folder they lie in has to be there when they are told without it. */
static bool
prefix_fits(const struct found *f, struct str prefix)
{
    struct str in = f->n.inside;
    if (!in.len)
        return !prefix.len || (f->n.bare && str_is(prefix, "./"));
    while (in.len > 1 && in.ptr[in.len - 1] == '/')
        in.len--;
    return prefix.len == in.len + 1 && prefix.ptr[in.len] == '/' &&
           str_eq(str_sub(prefix, 0, in.len), in);
}

void
found_word(struct sh *sh, const struct xword *x, bool assigned, struct word *w)
{
    const struct cwdset *cwd = &sh->st.cwd;
    const struct found *f = NULL;
    bool splits = false;
    for (size_t i = 0; i < x->n; i++) {
        if (!(x->v[i].f & XU))
            continue;
        size_t mark = (unsigned char)x->v[i].c;
        if (f || mark == 0 || mark > sh->n_found)
            return;
        f = sh->found[mark - 1];
        splits = x->v[i].f & XS;
        for (size_t k = i + 1; k < x->n; k++)
            if (!(x->v[k].f & XM))
                return; /* more text behind it */
    }
    if (!f || cwd->n != 1 || cwd->unknown || strcmp(cwd->dir[0], f->cwd) != 0)
        return;
    bool many = splits && (!f->one || f->none), joined = !splits && !f->one;
    if (!assigned && !w->prefix.len && f->n.inside.len && !sh->ifs_seen)
        w->found = f; /* no names from here, but a loop may go through them */
    if (assigned ? w->prefix.len > 0 : !prefix_fits(f, w->prefix) || joined)
        return;
    if (!assigned && splits && (sh->ifs_seen || (w->prefix.len && !f->one)))
        return;
    w->below = f->n.below[0];
    w->tracked = f->n.tracked;
    w->only = f->n.only;
    w->no_links = f->n.no_links;
    w->found = f;
    w->split = many;
}

/* ---- loops ---- */

static bool
has_word(const struct perm_leaf *l, const char *start)
{
    for (size_t i = 1; i < l->n_argv; i++)
        if (str_starts(l->argv[i].text, start))
            return true;
    return false;
}

/* It takes nothing from its standard input: it never does, or it was given files. */
static bool
leaves_input(const struct perm_leaf *l)
{
    static const char *const never[] = {
        "echo",    "printf", "test", "[",    "[[",   ":",    "true", "false", "basename",
        "dirname", "cd",     "pwd",  "read", "date", "seq",  "expr", "sleep", "continue",
        "break",   "exit",   "ls",   "stat", "find", "file", "local"};
    size_t files = 0, wanted = has_word(l, "-f") || has_word(l, "--f") ? 2 : 1;
    if (!l->fed || l->n_argv == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (str_is(l->argv[0].text, never[i]) && wanted == 1)
            return true;
    if (l->cls == CLASS_GIT_READ)
        return !has_word(l, "--stdin") && wanted == 1;
    for (size_t i = 1; i < l->n_argv; i++)
        if (l->argv[i].split || str_is(l->argv[i].text, "-") ||
            str_starts(l->argv[i].text, "/dev/") || str_starts(l->argv[i].text, "/proc/"))
            return false;
    for (size_t i = 0; i < l->n_effects; i++)
        files += !l->effects[i].redirect && l->effects[i].path &&
                 (l->effects[i].kind == EFFECT_READ || l->effects[i].kind == EFFECT_READ_TREE);
    return l->cls == CLASS_READER && files >= wanted;
}

void
found_in_loop(struct sh *sh, size_t from)
{
    bool changes = false, eaten = false;
    for (size_t i = from; i < sh->ret->n_leaves; i++) {
        changes = changes || leaf_changes(leaf_at(sh, i));
        eaten = eaten || (sh->feed && !leaves_input(leaf_at(sh, i)));
    }
    for (size_t i = from; i < sh->ret->n_leaves && (changes || eaten); i++)
        if (leaf_at(sh, i)->looked)
            effect_unknown(sh, i,
                           changes ? "what the loop changes may be what it reads"
                                   : "a command in the loop may take a part of the next name");
}
