/* Operands of programs that write, move and delete. */
#include <dirent.h>
#include <string.h>

#include "perm/looks.h"
#include "perm/programs.h"
#include "perm/protected.h"

enum { ENTRIES_MAX = 2000 };

static void
each(struct judged *j, size_t first, enum perm_effect_kind kind)
{
    for (size_t i = first; i < j->o.n_operands; i++)
        effect_add(j->sh, j->leaf, kind, judged_operand(j, i));
}

static void
need_known(struct judged *j)
{
    for (size_t i = 0; i < j->o.n_operands; i++)
        if (!judged_operand(j, i)->w.known)
            judged_unknown(j, "an operand is not known");
}

static void
note_made(struct sh *sh, const struct word *w)
{
    const struct cwdset *c = &sh->st.cwd;
    const char *p = w->w.known && !w->w.glob
                        ? path_clean(sh->a, c->n && !c->unknown ? c->dir[0] : NULL, w->w.text)
                        : NULL;
    if (!p || sh->n_made >= 64)
        return;
    if (!sh->made)
        sh->made = arena_alloc(sh->a, 64 * sizeof *sh->made);
    sh->made[sh->n_made++] = p;
}

void
ops_mkdir(struct judged *j)
{
    each(j, 0, EFFECT_WRITE);
    need_known(j);
    for (size_t i = 0; i < j->o.n_operands; i++)
        note_made(j->sh, judged_operand(j, i));
}

void
ops_write(struct judged *j)
{
    each(j, 0, EFFECT_WRITE);
    need_known(j);
}

/* tee: to nothing but "/dev/null" and the streams it has it only passes on what it reads. */
void
ops_tee(struct judged *j)
{
    size_t before = leaf_at(j->sh, j->leaf)->n_effects;
    ops_write(j);
    if (j->cls == CLASS_KNOWN && leaf_at(j->sh, j->leaf)->n_effects == before)
        j->cls = CLASS_READER;
}

/* dir/base of src, for a target that is a folder. */
static struct word
below_word(struct judged *j, const struct word *dir, const struct word *src)
{
    struct sh *sh = j->sh;
    struct str s = src->w.text;
    while (s.len > 1 && s.ptr[s.len - 1] == '/')
        s.len--;
    size_t cut = s.len;
    while (cut > 0 && s.ptr[cut - 1] != '/')
        cut--;
    struct word w = *dir;
    w.w.known = dir->w.known && src->w.known;
    w.w.glob = dir->w.glob || src->w.glob;
    struct str base = str_sub(s, cut, s.len - cut);
    if (str_is(base, ".") || str_is(base, ".."))
        base = STR("*");
    w.w.glob = w.w.glob || str_is(base, "*");
    w.w.text = str_from(arena_printf(sh->a, "%.*s/%.*s", (int)dir->w.text.len, dir->w.text.ptr,
                                     (int)base.len, base.ptr));
    return w;
}

static void
write_below(struct judged *j, const struct word *dir, const struct word *src)
{
    struct word w = below_word(j, dir, src);
    effect_add(j->sh, j->leaf, EFFECT_WRITE, &w);
}

/* "dir/." copies all that dir holds, ".*" all hidden names: .git and .yare may be among them. */
static bool
hidden_names(const struct word *w)
{
    struct str s = w->w.text;
    while (s.len > 1 && s.ptr[s.len - 1] == '/')
        s.len--;
    size_t cut = s.len;
    while (cut > 0 && s.ptr[cut - 1] != '/')
        cut--;
    struct str base = str_sub(s, cut, s.len - cut);
    return !w->w.known || str_is(base, ".") || str_is(base, "..") ||
           (w->w.glob && base.len && strchr(".[", base.ptr[0]));
}

/* What "dir/." brings along, looked at: nothing that is protected by its name. */
static bool
dot_is_plain(struct judged *j, const struct word *w)
{
    const struct cwdset *c = &j->sh->st.cwd;
    bool dot =
        w->w.known && !w->w.glob && (str_ends(w->w.text, "/.") || str_ends(w->w.text, "/./"));
    const char *path =
        dot && c->n == 1 && !c->unknown ? path_clean(j->sh->a, c->dir[0], w->w.text) : NULL;
    for (size_t i = 0; path && i < j->leaf; i++) { /* a new folder is empty */
        const struct perm_leaf *l = leaf_at(j->sh, i);
        if (leaf_changes(l) && !(l->n_argv && str_is(l->argv[0].text, "mkdir")))
            return false;
    }
    if (!path)
        return false;
    DIR *d = opendir(path);
    bool plain = d != NULL; /* what is not there now may be anything by then */
    size_t n = 0;
    for (const struct dirent *e; plain && d && (e = readdir(d));)
        plain = ++n <= ENTRIES_MAX && may_walk(LOOK_NAME) && !protected_by_name(e->d_name);
    if (d)
        closedir(d);
    return plain;
}

static void
source(struct judged *j, const struct word *w, bool move, bool tree)
{
    struct sh *sh = j->sh;
    bool dir = path_is_dir(sh, w);
    bool all = dir ? tree || move : tree && w->w.known && !w->w.glob && !path_exists(sh, w);
    effect_add(sh, j->leaf, all ? EFFECT_READ_TREE : EFFECT_READ, w);
    if (move)
        effect_add(sh, j->leaf, dir ? EFFECT_DELETE_TREE : EFFECT_DELETE, w);
}

/* Links in a folder that is copied with -L, and those that lie where the copies go: what is there is written through them. */
static void
tree_links(struct judged *j, const struct word *from, const struct word *to, bool below)
{
    bool ok = true;
    if (j->o.seen['L'])
        ok = follow_links(j->sh, j->leaf, from, FOLLOW_READ);
    struct word place = below ? below_word(j, to, from) : *to;
    if (place.w.glob && !to->w.glob)
        place = *to; /* any name */
    ok = follow_links(j->sh, j->leaf, &place, FOLLOW_WRITE) && ok;
    if (!ok)
        j->cls = CLASS_UNKNOWN;
}

/* The target is a folder that is there, and each of the sources known: what lies in it is written and not the folder itself. */
static bool
stays_folder(const struct judged *j, const struct word *to, size_t sources)
{
    for (size_t i = 0; i < sources; i++)
        if (!judged_operand(j, i)->w.known || judged_operand(j, i)->w.glob)
            return false;
    return to->w.known && !to->w.glob && !j->o.seen['T'] && !j->o.uncounted &&
           path_exists(j->sh, to) && path_is_dir(j->sh, to) && j->sh->st.cwd.n == 1 &&
           !j->sh->st.cwd.unknown && !changed_before(j->sh, j->leaf);
}

/* cp, mv, install: sources and a target, which may be a folder. */
void
ops_cp(struct judged *j)
{
    size_t n = j->o.n_operands;
    const struct word *dir = j->o.value['t'];
    bool move = str_is(str_from(j->p->name), "mv");
    bool tree = j->o.seen['r'] || j->o.seen['R'] || j->o.seen['a'];
    need_known(j);
    if (str_is(str_from(j->p->name), "install") && j->o.seen['d']) {
        each(j, 0, EFFECT_WRITE);
        return;
    }
    if (n == 0 || (!dir && n < 2 && !j->o.uncounted)) {
        judged_unknown(j, "an operand is missing");
        return;
    }
    size_t sources = dir ? n : n - 1;
    const struct word *to = dir ? dir : judged_operand(j, n - 1);
    if (dir && !dir->w.known)
        judged_unknown(j, "an operand is not known");
    bool below = dir || sources > 1 || to->w.glob || (sources && judged_operand(j, 0)->w.glob) ||
                 path_is_dir(j->sh, to);
    if (!(below && stays_folder(j, to, sources)))
        effect_add(j->sh, j->leaf, EFFECT_WRITE, to);
    for (size_t i = 0; i < sources; i++) {
        const struct word *w = judged_operand(j, i);
        source(j, w, move, tree);
        if (below && !j->o.seen['T'])
            write_below(j, to, w);
        if (tree)
            tree_links(j, w, to, below && !j->o.seen['T']);
        if (tree && (j->o.seen['T'] || (hidden_names(w) && !dot_is_plain(j, w))))
            judged_unknown(j, "the names it writes are not known");
    }
    if (tree || j->o.seen['d'] || j->o.seen['P'] || move)
        effect_fresh(j->sh, j->leaf);
}

void
ops_rm(struct judged *j)
{
    bool tree = j->o.seen['r'] || j->o.seen['R'];
    each(j, 0, tree ? EFFECT_DELETE_TREE : EFFECT_DELETE);
    if (j->o.uncounted)
        for (size_t i = 0; i < j->o.n_operands; i++)
            if (judged_operand(j, i)->split)
                effect_unknown(j->sh, j->leaf, "an unquoted value may become several operands");
}

void
ops_rmdir(struct judged *j)
{
    each(j, 0, EFFECT_DELETE);
}

void
ops_ln(struct judged *j)
{
    size_t n = j->o.n_operands;
    const struct word *dir = j->o.value['t'];
    size_t sources = dir || n < 2 ? n : n - 1;
    struct word here = word_literal(j->sh, STR("."));
    const struct word *to = dir ? dir : n < 2 ? &here : judged_operand(j, n - 1);
    bool below = dir || n < 2 || sources > 1 || path_is_dir(j->sh, to);
    if (dir || n >= 2)
        effect_add(j->sh, j->leaf, EFFECT_WRITE, to);
    for (size_t i = 0; i < sources; i++) {
        effect_add(j->sh, j->leaf, EFFECT_READ, judged_operand(j, i));
        if (below && !j->o.seen['T'])
            write_below(j, to, judged_operand(j, i));
    }
    effect_fresh(j->sh, j->leaf);
    need_known(j);
}

/* chmod MODE FILE..., chown OWNER FILE..., setfacl -m ENTRY FILE... */
void
ops_chmod(struct judged *j)
{
    bool reference = false;
    for (size_t i = 1; i < j->c->n; i++)
        reference = reference || str_starts(j->c->argv[i].w.text, "--ref");
    size_t first = reference || str_is(str_from(j->p->name), "setfacl") ? 0 : 1;
    if (!j->o.seen['R'])
        each(j, first, EFFECT_WRITE);
    for (size_t i = first; j->o.seen['R'] && i < j->o.n_operands; i++)
        effect_write_below(j->sh, j->leaf, judged_operand(j, i));
    if (j->o.seen['R'] && j->o.seen['L'])
        judged_follow(j, first, FOLLOW_WRITE);
}

void
ops_dd(struct judged *j)
{
    for (size_t i = 1; i < j->c->n; i++) {
        struct word w = j->c->argv[i];
        struct str s = w.w.known ? w.w.text : w.prefix;
        bool in = str_starts(s, "if="), out = str_starts(s, "of=");
        if (!in && !out && (!w.w.known || str_find(s, '=', 0) == (size_t)-1))
            judged_unknown(j, "an operand is not known");
        if (w.w.known)
            w.w.text = str_sub(s, 3, s.len);
        if (in || out)
            effect_add(j->sh, j->leaf, in ? EFFECT_READ : EFFECT_WRITE, &w);
    }
}

static void
write_backup(struct judged *j, const struct word *file, const struct word *suffix)
{
    struct word w = *file;
    w.w.known = file->w.known && suffix->w.known;
    w.w.text = str_from(arena_printf(j->sh->a, "%.*s%.*s", (int)file->w.text.len, file->w.text.ptr,
                                     (int)suffix->w.text.len, suffix->w.text.ptr));
    effect_add(j->sh, j->leaf, EFFECT_WRITE, &w);
}

static bool
sed_script(struct judged *j, const struct word *w)
{
    struct str s = w->w.known ? w->w.text : w->counted; /* "${n}p" */
    return (w->w.known || s.len) && !w->w.glob && script_sed_safe(j->sh, j->leaf, s);
}

/* sed: scripts are read; with -i the operands are changed. */
void
ops_sed(struct judged *j)
{
    struct sh *sh = j->sh;
    bool in_place = j->o.seen['i'], ok = true;
    const struct word *suffix = j->o.value['i'];
    size_t first = j->o.pattern ? 0 : 1;
    if (!j->o.pattern)
        ok = j->o.n_operands > 0 && sed_script(j, judged_operand(j, 0));
    for (size_t i = 0; i < j->o.n_patterns; i++)
        ok = sed_script(j, j->o.patterns[i]) && ok;
    if (!ok)
        judged_unknown(j, SED_SCRIPT_WHY);
    for (size_t i = first; i < j->o.n_operands; i++) {
        const struct word *w = judged_operand(j, i);
        if (w->w.known && str_is(w->w.text, "-"))
            continue;
        effect_add(sh, j->leaf, EFFECT_READ, w);
        if (in_place)
            effect_add(sh, j->leaf, EFFECT_WRITE, w);
        if (in_place && suffix && suffix->w.text.len)
            write_backup(j, w, suffix);
    }
    if (suffix && (!suffix->w.known || memchr(suffix->w.text.ptr, '/', suffix->w.text.len) ||
                   memchr(suffix->w.text.ptr, '*', suffix->w.text.len)))
        judged_unknown(j, "the backup goes to another place");
    if (in_place && j->cls == CLASS_READER) {
        j->cls = CLASS_EDITOR;
        need_known(j);
    }
}
