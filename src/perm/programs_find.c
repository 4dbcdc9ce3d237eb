/* find: paths, then an expression whose words are a positive list with their arity. */
#include <string.h>

#include "perm/programs.h"

enum find_kind { F_PLAIN, F_READ, F_WRITE, F_DELETE, F_EXEC };
struct predicate {
    const char *name;
    size_t args;
    enum find_kind kind;
};
static const struct predicate predicates[] = {
    {"-maxdepth", 1, F_PLAIN},  {"-mindepth", 1, F_PLAIN},
    {"-name", 1, F_PLAIN},      {"-iname", 1, F_PLAIN},
    {"-path", 1, F_PLAIN},      {"-ipath", 1, F_PLAIN},
    {"-wholename", 1, F_PLAIN}, {"-iwholename", 1, F_PLAIN},
    {"-regex", 1, F_PLAIN},     {"-iregex", 1, F_PLAIN},
    {"-regextype", 1, F_PLAIN}, {"-type", 1, F_PLAIN},
    {"-xtype", 1, F_PLAIN},     {"-size", 1, F_PLAIN},
    {"-mtime", 1, F_PLAIN},     {"-mmin", 1, F_PLAIN},
    {"-atime", 1, F_PLAIN},     {"-amin", 1, F_PLAIN},
    {"-ctime", 1, F_PLAIN},     {"-cmin", 1, F_PLAIN},
    {"-perm", 1, F_PLAIN},      {"-user", 1, F_PLAIN},
    {"-group", 1, F_PLAIN},     {"-uid", 1, F_PLAIN},
    {"-gid", 1, F_PLAIN},       {"-links", 1, F_PLAIN},
    {"-inum", 1, F_PLAIN},      {"-lname", 1, F_PLAIN},
    {"-ilname", 1, F_PLAIN},    {"-fstype", 1, F_PLAIN},
    {"-printf", 1, F_PLAIN},    {"-newermt", 1, F_PLAIN},
    {"-used", 1, F_PLAIN},      {"-newer", 1, F_READ},
    {"-anewer", 1, F_READ},     {"-cnewer", 1, F_READ},
    {"-samefile", 1, F_READ},   {"-print", 0, F_PLAIN},
    {"-print0", 0, F_PLAIN},    {"-ls", 0, F_PLAIN},
    {"-prune", 0, F_PLAIN},     {"-quit", 0, F_PLAIN},
    {"-empty", 0, F_PLAIN},     {"-readable", 0, F_PLAIN},
    {"-writable", 0, F_PLAIN},  {"-executable", 0, F_PLAIN},
    {"-true", 0, F_PLAIN},      {"-false", 0, F_PLAIN},
    {"-depth", 0, F_PLAIN},     {"-d", 0, F_PLAIN},
    {"-mount", 0, F_PLAIN},     {"-xdev", 0, F_PLAIN},
    {"-noleaf", 0, F_PLAIN},    {"-daystart", 0, F_PLAIN},
    {"-follow", 0, F_PLAIN},    {"-nouser", 0, F_PLAIN},
    {"-nogroup", 0, F_PLAIN},   {"-ignore_readdir_race", 0, F_PLAIN},
    {"-not", 0, F_PLAIN},       {"-a", 0, F_PLAIN},
    {"-and", 0, F_PLAIN},       {"-o", 0, F_PLAIN},
    {"-or", 0, F_PLAIN},        {"!", 0, F_PLAIN},
    {"(", 0, F_PLAIN},          {")", 0, F_PLAIN},
    {",", 0, F_PLAIN},          {"-help", 0, F_PLAIN},
    {"--help", 0, F_PLAIN},     {"-version", 0, F_PLAIN},
    {"--version", 0, F_PLAIN},  {"-fprint", 1, F_WRITE},
    {"-fprint0", 1, F_WRITE},   {"-fls", 1, F_WRITE},
    {"-fprintf", 2, F_WRITE},   {"-delete", 0, F_DELETE},
    {"-exec", 0, F_EXEC},       {"-execdir", 0, F_EXEC},
    {"-ok", 0, F_EXEC},         {"-okdir", 0, F_EXEC},
};

/* "-newerXY": the time X of a file against the time Y of another, or against a date where Y is t. */
static const struct predicate *
newer_predicate(struct str s)
{
    static const struct predicate date = {"-newerXt", 1, F_PLAIN}, file = {"-newerXY", 1, F_READ};
    if (s.len != 8 || !str_starts(s, "-newer") || !strchr("aBcm", s.ptr[6]) || !s.ptr[6])
        return NULL;
    if (s.ptr[7] == 't')
        return &date;
    return s.ptr[7] && strchr("aBcm", s.ptr[7]) ? &file : NULL;
}

static const struct predicate *
find_predicate(struct str s)
{
    for (size_t i = 0; i < ARRAY_LEN(predicates); i++)
        if (str_is(s, predicates[i].name))
            return &predicates[i];
    return newer_predicate(s);
}

/* Index of the word that ends -exec: ";" or the "+" of "{} +". */
static size_t
exec_end(const struct command *c, size_t from)
{
    size_t to = from;
    while (to < c->n && !(c->argv[to].w.known && (str_is(c->argv[to].w.text, ";") ||
                                                  (str_is(c->argv[to].w.text, "+") && to > from &&
                                                   str_is(c->argv[to - 1].w.text, "{}")))))
        to++;
    return to;
}

/* A reader told what to read by the names that find starts from: it runs as if it were given those folders. */
static bool
exec_reads(const struct command *c, size_t from, size_t to)
{
    bool trusted = false;
    const struct word *w = &c->argv[from];
    if (from >= to || to >= c->n || !w->w.known || !str_is(c->argv[from - 1].w.text, "-exec"))
        return false;
    const struct program *p = program_find(program_name(w->w.text, &trusted));
    for (size_t i = from; i < to; i++)
        if (str_contains(c->argv[i].w.text, STR("{}")) && !str_is(c->argv[i].w.text, "{}"))
            return false;
    return p && trusted && p->cls == CLASS_READER && p->judge;
}

/* The command behind -exec is a leaf of its own. Returns the index of the closing word. */
static size_t
exec_words(struct sh *sh, size_t leaf, const struct command *c, size_t from, bool *ret_reads)
{
    struct names n = {0};
    size_t to = exec_end(c, from);
    bool roots = names_of_find(sh, c, false, &n), reads = roots && exec_reads(c, from, to);
    bool many = to < c->n && str_is(c->argv[to].w.text, "+");
    struct command in = {.argv = arena_alloc(sh->a, (to - from) * (n.n + 1) * sizeof *in.argv + 1),
                         .source = c->source};
    for (size_t i = from; i < to; i++) {
        bool place = c->argv[i].w.known && str_contains(c->argv[i].w.text, STR("{}"));
        /* What was chosen by name is some of it, no more: not the whole is removed. */
        bool below = roots && str_is(c->argv[i].w.text, "{}") && (reads || !n.named);
        for (size_t k = 0; place && below && k < n.n; k++)
            in.argv[in.n++] = names_word(sh, c->argv[i].w.text, &n, k, many);
        if (place && !below)
            in.argv[in.n++] = word_unknown(c->argv[i].w.text, false);
        else if (!place)
            in.argv[in.n++] = c->argv[i];
    }
    struct cwdset cwd = sh->st.cwd;
    struct str exec = c->argv[from - 1].w.text;
    if (str_is(exec, "-execdir") || str_is(exec, "-okdir")) /* in the folder of each file */
        sh->st.cwd = (struct cwdset){.unknown = true};
    if (reads)
        reads = leaf_inner_reads(sh, leaf, &in, 0);
    else
        leaf_inner(sh, leaf, &in, 0, false);
    sh->st.cwd = cwd;
    *ret_reads = reads;
    return to;
}

static enum perm_class
lower(enum perm_class a, enum perm_class b)
{
    return a == CLASS_READER ? b : a == CLASS_KNOWN && b == CLASS_UNKNOWN ? b : a;
}

struct finding_run {
    enum perm_class cls;
    bool deletes;
};

/* The predicate at i; returns the index of its last word. */
static size_t
one_predicate(struct sh *sh, size_t leaf, const struct command *c, size_t i, struct finding_run *r)
{
    const struct word *w = &c->argv[i];
    bool reads = false;
    const struct predicate *p = w->w.known && !w->w.glob ? find_predicate(w->w.text) : NULL;
    if (w->w.known && str_is(w->w.text, "-files0-from")) {
        struct word any = word_unknown(w->src, true);
        effect_add(sh, leaf, EFFECT_READ, &any);
    }
    if (!p || i + p->args >= c->n) {
        effect_unknown(sh, leaf, "a part of find's expression is not known");
        r->cls = CLASS_UNKNOWN;
        return i;
    }
    for (size_t k = 1; k <= p->args; k++)
        if (c->argv[i + k].split || c->argv[i + k].w.glob) {
            effect_unknown(sh, leaf, "a part of find's expression is not known");
            r->cls = CLASS_UNKNOWN;
        }
    switch (p->kind) {
    case F_PLAIN:
        break;
    case F_READ:
        effect_add(sh, leaf, EFFECT_READ, &c->argv[i + 1]);
        break;
    case F_WRITE:
        effect_add(sh, leaf, EFFECT_WRITE, &c->argv[i + 1]);
        r->cls = lower(r->cls, CLASS_KNOWN);
        break;
    case F_DELETE:
        r->deletes = true;
        r->cls = lower(r->cls, CLASS_KNOWN);
        break;
    case F_EXEC:
        i = exec_words(sh, leaf, c, i + 1, &reads);
        if (!reads) {
            effect_unknown(sh, leaf, "find runs a command");
            r->cls = CLASS_DANGER;
        }
        return i;
    }
    return i + p->args;
}

/* "-O3": how hard it thinks. */
static bool
is_debug_option(struct str s)
{
    return s.len == 3 && str_starts(s, "-O") && s.ptr[2] >= '0' && s.ptr[2] <= '3';
}

void
judge_find(struct sh *sh, size_t leaf, const struct command *c)
{
    struct finding_run r = {.cls = CLASS_READER};
    size_t i = 1, paths, inner = sh->ret->n_leaves;
    bool follows = false;
    while (i < c->n && c->argv[i].w.known &&
           (str_is(c->argv[i].w.text, "-H") || str_is(c->argv[i].w.text, "-L") ||
            str_is(c->argv[i].w.text, "-P") || is_debug_option(c->argv[i].w.text)))
        follows = str_is(c->argv[i++].w.text, "-L") || follows;
    size_t first = i;
    for (; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        struct str s = w->w.known ? w->w.text : w->prefix;
        if (s.len && strchr("-(!),", s.ptr[0]))
            break;
        if (w->split || (!w->w.known && s.len == 0) || (w->w.glob && strchr("*?[", s.ptr[0]))) {
            effect_unknown(sh, leaf, "a path may become a part of find's expression");
            r.cls = CLASS_UNKNOWN;
        }
        effect_add(sh, leaf, EFFECT_READ_TREE, w);
    }
    paths = i;
    for (; i < c->n && sh_spend(sh, 2); i++) {
        follows = follows || str_is(c->argv[i].w.text, "-follow");
        i = one_predicate(sh, leaf, c, i, &r);
    }
    struct word here = word_literal(sh, STR("."));
    if (paths == first)
        effect_add(sh, leaf, EFFECT_READ_TREE, &here);
    for (size_t k = first; r.deletes && k < paths; k++)
        effect_add(sh, leaf, EFFECT_DELETE_TREE, &c->argv[k]);
    if (r.deletes && paths == first)
        effect_add(sh, leaf, EFFECT_DELETE_TREE, &here);
    for (size_t k = first; follows && k < (paths == first ? first + 1 : paths); k++)
        if (!follow_links(sh, leaf, paths == first ? &here : &c->argv[k], FOLLOW_READ))
            r.cls = CLASS_UNKNOWN;
    leaf_at(sh, leaf)->cls = r.cls;
    if (r.cls != CLASS_READER)
        leaf_is_opaque(sh, leaf, inner);
}
