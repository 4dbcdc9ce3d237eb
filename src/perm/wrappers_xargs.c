/* xargs: the operands of what it runs come from data. */
#include <string.h>

#include "perm/programs.h"
#include "perm/wrappers.h"

/* Options that only say how the data is cut up. */
static bool
xargs_options_plain(const struct options *o)
{
    static const char odd[] = "apoEe";
    for (size_t i = 0; odd[i]; i++)
        if (o->seen[(unsigned char)odd[i]])
            return false;
    return !o->unknown && !o->bad && !o->long_seen;
}

/* An option of it that a name turns out to be may read more, but writes and runs nothing. */
static bool
bears_options(struct str name)
{
    static const char *const more[] = {"wc", "grep", "egrep", "fgrep", "du"};
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (str_is(name, more[i]))
            return true;
    return program_harmless(name);
}

/* Names below known folders in the place of what is not known. False: they are not known well enough. */
static bool
xargs_names(struct wrap *x, struct command *in, size_t from, struct str mark, bool reads)
{
    struct names n;
    bool nul = x->o.seen['0'];
    if (!names_from_pipe(x->sh, x->c, &n) || n.nul != nul || (!reads && n.named))
        return false;
    if (reads && n.bare && !bears_options(in->argv[from].w.text))
        return false;
    if (reads && !nul && !names_are_plain(x->sh, &n, false))
        return false;
    struct word *all = arena_alloc(x->sh->a, (in->n * (n.n + 1) + n.n) * sizeof *all);
    size_t count = 0;
    for (size_t k = 0; k < in->n; k++) {
        const struct word *w = &in->argv[k];
        bool place = mark.len && w->w.known && str_contains(w->w.text, mark);
        if (k >= from && place && !str_eq(w->w.text, mark))
            return false; /* a name inside another word */
        for (size_t i = 0; place && k >= from && i < n.n; i++)
            all[count++] = names_word(x->sh, w->src, &n, i, false);
        if (!(place && k >= from))
            all[count++] = *w;
    }
    for (size_t i = 0; !mark.len && i < n.n; i++)
        all[count++] = names_word(x->sh, STR("\"$@\""), &n, i, true);
    in->argv = all;
    in->n = count;
    return true;
}

/* A word that a name is put into: not known, but for deny its text is read with a variable in the name's place. */
static struct word
marked_word(struct sh *sh, const struct word *w, struct str mark)
{
    struct word v = word_unknown(w->src, false);
    struct buf b;
    buf_init(&b, SH_PARSE_BYTES);
    for (size_t i = 0; i < w->w.text.len; i++) {
        if (!str_eq(str_sub(w->w.text, i, mark.len), mark)) {
            buf_addc(&b, w->w.text.ptr[i]);
            continue;
        }
        buf_adds(&b, "$name");
        i += mark.len - 1;
    }
    v.w.text = arena_str(sh->a, buf_str(&b));
    buf_release(&b);
    return v;
}

/* Without names that are known one unknown word stands for them. */
static void
xargs_unknown(struct wrap *x, struct command *in, size_t from, struct str mark)
{
    struct word *all = arena_alloc(x->sh->a, (in->n + 1) * sizeof *all);
    memcpy(all, in->argv, in->n * sizeof *all);
    for (size_t k = from; k < in->n && mark.len; k++)
        if (all[k].w.known && str_contains(all[k].w.text, mark))
            all[k] = marked_word(x->sh, &in->argv[k], mark);
    if (!mark.len)
        all[in->n++] = word_unknown(STR("\"$@\""), true);
    in->argv = all;
}

/* Operands come from data. */
void
wrap_xargs(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    size_t i = wrap_inner(x);
    if (i >= c->n) {
        /* echo by default: it prints its words whatever they are, none of its options does more. */
        if (x->trusted && xargs_options_plain(&x->o))
            leaf_at(sh, x->leaf)->cls = CLASS_READER;
        else
            wrap_opaque(x, "its operands come from data");
        return;
    }
    const struct word *place = x->o.value['I'] ? x->o.value['I'] : x->o.value['i'];
    bool replaces = x->o.seen['I'] || x->o.seen['i'];
    struct str mark = !replaces ? STR("") : place && place->w.text.len ? place->w.text : STR("{}");
    bool trusted, plain = x->trusted && xargs_options_plain(&x->o);
    struct str name = program_name(c->argv[i].w.text, &trusted);
    struct command in = *c;
    plain = plain && c->argv[i].w.known && trusted && (!place || place->w.known);
    const struct program *p = plain ? program_find(name) : NULL;
    bool reads = p && p->cls == CLASS_READER && p->judge;
    if (!xargs_names(x, &in, i, mark, reads)) {
        xargs_unknown(x, &in, i, mark);
        reads = plain && program_harmless(name);
    }
    if (reads && leaf_inner_reads(sh, x->leaf, &in, i)) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        return;
    }
    wrap_opaque(x, "its operands come from data");
    if (reads)
        return;
    if (x->o.unknown)
        wrap_guess(x, 1);
    else
        leaf_inner(sh, x->leaf, &in, i, false);
}
