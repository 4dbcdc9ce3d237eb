/* Names that git prints: only where all of them stand in its index, which is looked at (names_below.c), or lie on the disk. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/repo.h"
#include "perm/shell.h"

static void
names_here(struct sh *sh, bool tracked, struct names *ret)
{
    *ret = (struct names){.below = arena_alloc(sh->a, sizeof *ret->below),
                          .n = 1,
                          .tracked = tracked,
                          .quoted = true,
                          .bare = true};
    ret->below[0] = STR(".");
}

/* Each says which names, none says of which place they are. */
static bool
pathspecs_plain(const struct command *c, const struct options *o, size_t from)
{
    for (size_t i = from; i < o->n_operands; i++) {
        const struct word *w = &c->argv[o->operands[i]];
        if (!w->w.known || w->w.glob || !w->w.text.len || strchr("/:", w->w.text.ptr[0]) ||
            str_contains(w->w.text, STR("..")))
            return false;
    }
    return true;
}

/* "git ls-files [-z] [PATHSPEC...]", -m and -d: names of the index below its folder; -o: of the others there. */
static bool
of_ls_files(struct sh *sh, const struct command *c, struct names *ret)
{
    static const struct optspec spec = {
        .shorts = "czmdo",
        .longs = "cached/c modified/m deleted/d others/o exclude-standard/x",
        .exact = true};
    struct options o;
    options_parse(sh, SIZE_MAX, c, 2, &spec, &o);
    bool others = o.seen['o'], index = o.seen['c'] || o.seen['m'] || o.seen['d'];
    names_here(sh, !others, ret);
    ret->nul = o.seen['z'];
    return names_options(&o, "czmdox") && !(others && index) && pathspecs_plain(c, &o, 0);
}

/* The folder is where the repository's names begin. */
static bool
at_top(const struct sh *sh)
{
    const struct cwdset *cwd = &sh->st.cwd;
    char *top = cwd->n == 1 && !cwd->unknown ? repo_find_top(cwd->dir[0]) : NULL;
    bool at = top && strcmp(top, cwd->dir[0]) == 0;
    free(top);
    return at;
}

/* A revision or path; no range, and no form that stands for several. */
static bool
is_one_revision(const struct word *w)
{
    static const char *const ranges[] = {"..", "^!", "^@", "^-", ":", "@{"};
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (str_contains(w->w.text, str_from(ranges[i])))
            return false;
    return w->w.known && !w->w.glob && w->w.text.len && w->w.text.ptr[0] != '^';
}

/* Of --diff-filter: what was deleted is left out, so that each name is one of the index. */
static bool
leaves_out_deleted(const struct word *filter)
{
    if (!filter || !filter->w.known || !filter->w.text.len)
        return false;
    struct str s = filter->w.text;
    for (size_t i = 0; i < s.len; i++)
        if (!strchr("ACMRT", s.ptr[i]))
            return str_is(s, "d");
    return true;
}

/* "git diff --name-only": of the work tree names of the index; beside a revision or HEAD deleted ones are none. */
static bool
of_diff(struct sh *sh, const struct command *c, struct names *ret)
{
    static const struct optspec spec = {
        .shorts = "zwb",
        .longs = "name-only/9 cached/c staged/c diff-filter/f= no-renames/n no-ext-diff/n "
                 "no-color/n",
        .exact = true};
    struct options o;
    options_parse(sh, SIZE_MAX, c, 2, &spec, &o);
    size_t before = o.n_before_end;
    names_here(sh, true, ret);
    ret->nul = o.seen['z'];
    if (!o.seen['9'] || !names_options(&o, "9zwbcfn") || before > 1 || !at_top(sh))
        return false;
    if (before == 1 && !is_one_revision(&c->argv[o.operands[0]]))
        return false;
    return (before == 0 && !o.seen['c']) || leaves_out_deleted(o.value['f']);
}

/* "git grep -l PATTERN [-- PATHSPEC...]" in the work tree. */
static bool
of_grep(struct sh *sh, const struct command *c, struct names *ret)
{
    static const struct optspec spec = {
        .shorts = "lLiwEFPGvIne|",
        .longs = "name-only/l files-with-matches/l files-without-match/L ignore-case/i",
        .exact = true};
    struct options o;
    options_parse(sh, SIZE_MAX, c, 2, &spec, &o);
    size_t first = o.pattern ? 0 : 1;
    names_here(sh, true, ret);
    if ((!o.seen['l'] && !o.seen['L']) || !names_options(&o, "lLiwEFPGvIne") || !at_top(sh))
        return false;
    /* a word before "--" may be a revision, whose names begin with it */
    char *modules = fs_join(sh->st.cwd.dir[0], ".gitmodules");
    bool alone = !fs_exists(modules);
    free(modules);
    return alone && o.n_operands >= first && o.n_before_end <= first &&
           pathspecs_plain(c, &o, first);
}

bool
names_of_git(struct sh *sh, const struct command *c, struct names *ret)
{
    static const struct {
        const char *name;
        bool (*prints)(struct sh *, const struct command *, struct names *);
    } rows[] = {{"ls-files", of_ls_files}, {"diff", of_diff}, {"grep", of_grep}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (arg_is(c, 1, rows[i].name))
            return rows[i].prints(sh, c, ret);
    return false;
}
