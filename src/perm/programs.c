/* Judges a program by its table row; what has no row is unknown, and its operands are guessed at for deny. */
#include <string.h>
#include <strings.h>

#include "perm/programs.h"

void
judged_unknown(struct judged *j, const char *why)
{
    j->cls = CLASS_UNKNOWN;
    effect_unknown(j->sh, j->leaf, why);
}

const struct word *
judged_operand(const struct judged *j, size_t i)
{
    return i < j->o.n_operands ? &j->c->argv[j->o.operands[i]] : NULL;
}

bool
judged_lacks(const struct judged *j, size_t n)
{
    size_t sure = 0;
    for (size_t i = 0; i < j->o.n_operands; i++)
        sure += !(judged_operand(j, i)->split && judged_operand(j, i)->below.len);
    return sure <= n;
}

/* Host of a URL operand, or of user@host:path; empty: none. */
static struct str
url_host(struct str s)
{
    for (size_t i = 0; i + 2 < s.len; i++) {
        if (s.ptr[i] != ':' || s.ptr[i + 1] != '/' || s.ptr[i + 2] != '/')
            continue;
        struct str h = str_sub(s, i + 3, s.len);
        size_t end = 0;
        while (end < h.len && !strchr("/?#", h.ptr[end]))
            end++;
        h.len = end;
        for (size_t k = h.len; k-- > 0;)
            if (h.ptr[k] == '@') {
                h = str_sub(h, k + 1, h.len);
                break;
            }
        size_t port = h.len && h.ptr[0] == '[' ? str_find(h, ']', 0) : str_find(h, ':', 0);
        if (port != (size_t)-1)
            h.len = h.ptr[0] == '[' ? port + 1 : port;
        return h;
    }
    return str_from(NULL);
}

static void
network(struct sh *sh, size_t leaf, const struct command *c)
{
    bool any = false;
    for (size_t i = 1; i < c->n; i++) {
        struct str host = c->argv[i].w.known ? url_host(c->argv[i].w.text) : str_from(NULL);
        if (host.len)
            effect_net(sh, leaf, host);
        any = any || host.len;
    }
    if (!any)
        effect_net(sh, leaf, str_from(NULL));
}

/* A word that names a file: it looks like a path, or there is such a file. */
static bool
looks_like_path(struct sh *sh, const struct word *w)
{
    struct str s = w->w.text;
    if (!w->w.known || s.len == 0 || s.len > 4096 || s.ptr[0] == '-' || url_host(s).len)
        return false;
    return s.ptr[0] == '/' || s.ptr[0] == '.' || w->w.glob || memchr(s.ptr, '/', s.len) ||
           path_exists(sh, w);
}

/* "type=bind,source=PATH,...": the path in it. */
static bool
path_in_list(struct str s, struct str *ret)
{
    struct str part;
    while (str_split(&s, ',', &part)) {
        size_t skip = str_starts(part, "src=") ? 4 : str_starts(part, "source=") ? 7 : 0;
        *ret = str_sub(part, skip, part.len);
        if (skip && ret->len)
            return true;
    }
    return false;
}

/* A file that stands behind something else in its word: "@path", "name=@path", "name=<path", "name@/path",
 * "name=/path", "file://host/path". */
static bool
path_behind(const struct word *w, struct str *ret)
{
    struct str s = w->w.text;
    if (!w->w.known || s.len < 2)
        return false;
    bool file = s.len > 7 && strncasecmp(s.ptr, "file://", 7) == 0;
    size_t from = file ? str_find(s, '/', 7) : (size_t)-1;
    for (size_t i = 0; i + 1 < s.len && from == (size_t)-1; i++) {
        bool named = i == 0 || s.ptr[i - 1] == '=';
        if ((s.ptr[i] == '@' && (named || s.ptr[i + 1] == '/')) ||
            (s.ptr[i] == '<' && i > 0 && named) || (s.ptr[i] == '=' && s.ptr[i + 1] == '/'))
            from = i + 1;
    }
    if (from == (size_t)-1)
        return path_in_list(s, ret);
    *ret = str_sub(s, from, s.len);
    return true;
}

void
program_guess_reads(struct sh *sh, size_t leaf, const struct command *c, size_t from)
{
    for (size_t i = from; i < c->n && sh_spend(sh, 4); i++) {
        const struct word *w = &c->argv[i];
        struct word part = *w;
        struct str s = w->w.text;
        bool behind = path_behind(w, &part.w.text) && looks_like_path(sh, &part);
        if (behind)
            effect_add(sh, leaf, EFFECT_READ, &part);
        if (looks_like_path(sh, w)) {
            effect_add(sh, leaf, EFFECT_READ, w);
            continue;
        }
        if (behind)
            continue;
        /* --option=path, -Tpath, @path, name=@path, rev:path */
        size_t cut = w->w.known ? str_find(s, '=', 0) : (size_t)-1;
        if (cut == (size_t)-1 && w->w.known && s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-')
            cut = 1;
        if (cut == (size_t)-1 && w->w.known && s.len > 1 && s.ptr[0] == '@')
            cut = 0;
        if (cut == (size_t)-1 && w->w.known && !url_host(s).len)
            cut = str_find(s, ':', 0);
        if (cut == (size_t)-1 || cut + 1 >= s.len)
            continue;
        part.w.text = str_sub(s, cut + 1, s.len);
        if (part.w.text.len > 1 && part.w.text.ptr[0] == '@')
            part.w.text = str_sub(part.w.text, 1, part.w.text.len);
        if (looks_like_path(sh, &part))
            effect_add(sh, leaf, EFFECT_READ, &part);
    }
}

static void
no_row(struct sh *sh, size_t leaf, const struct command *c, struct str name)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    l->cls = CLASS_UNKNOWN;
    effect_unknown(sh, leaf, "what this program does is not known");
    if (program_is_network(name))
        network(sh, leaf, c);
    program_guess_reads(sh, leaf, c, 1);
}

/* --arg NAME VALUE and --argjson take two words, which the option table cannot say: they are left out. */
static struct command
without_jq_args(struct sh *sh, const struct command *c)
{
    struct command d = *c;
    d.argv = arena_alloc(sh->a, (c->n + 1) * sizeof *d.argv);
    d.n = 0;
    bool ended = false;
    for (size_t i = 0; i < c->n; i++) {
        ended = ended || arg_is(c, i, "--");
        bool arg = !ended && c->argv[i].w.known &&
                   (str_is(c->argv[i].w.text, "--arg") || str_is(c->argv[i].w.text, "--argjson"));
        if (arg && i + 2 < c->n && !c->argv[i + 1].split && !c->argv[i + 2].split)
            i += 2;
        else
            d.argv[d.n++] = c->argv[i];
    }
    return d;
}

/* Programs whose operands from `first` on are files, any number of them; those before are a pattern or a script. */
static const struct file_operands {
    void (*judge)(struct judged *);
    size_t first;
    bool always; /* no option brings the pattern instead */
} file_operands[] = {{ops_read, 0, false}, {ops_wc, 0, false},    {ops_stat, 0, false},
                     {ops_echo, 0, false}, {ops_list, 0, false},  {ops_tree, 0, false},
                     {ops_diff, 0, false}, {ops_bat, 0, false},   {ops_grep, 1, false},
                     {ops_rg, 1, false},   {ops_zgrep, 1, false}, {ops_sed, 1, false},
                     {ops_jq, 1, true},    {ops_awk, 1, true},    {ops_yq, 1, true},
                     {ops_fd, 1, true},    {ops_printf, 1, true}};

static const struct file_operands *
find_file_operands(const struct judged *j)
{
    for (size_t i = 0; i < ARRAY_LEN(file_operands); i++)
        if (file_operands[i].judge == j->p->judge)
            return &file_operands[i];
    return NULL;
}

/* How many operands come before the files. */
static size_t
before_files(const struct judged *j, const struct file_operands *f)
{
    return j->o.pattern && !f->always ? 0 : f->first;
}

/* "grep -r $x src": a value without quotes in the pattern's place may be several words, all but one of which are files. */
static void
read_split(struct judged *j)
{
    const struct file_operands *f = find_file_operands(j);
    size_t n = f && f->judge != ops_printf ? before_files(j, f) : 0;
    for (size_t k = 0; k < n && k < j->o.n_operands; k++) {
        const struct word *w = judged_operand(j, k);
        if (w->split && !w->w.known && !w->below.len)
            effect_add(j->sh, j->leaf, EFFECT_READ, w);
    }
}

/* Names that a command prints stand where any number of files may. */
static bool
names_fit(const struct judged *j)
{
    const struct file_operands *f = find_file_operands(j);
    for (size_t k = 0; f && k < before_files(j, f) && k < j->o.n_operands; k++)
        if (judged_operand(j, k)->found && judged_operand(j, k)->split)
            return false;
    if (f)
        return true;
    for (size_t k = 1; k < j->c->n; k++)
        if (j->c->argv[k].found && j->c->argv[k].split)
            return false;
    return true;
}

static void
by_row(struct sh *sh, size_t leaf, const struct command *c, const struct program *p)
{
    struct judged j = {.sh = sh, .leaf = leaf, .c = c, .p = p, .cls = p->cls};
    struct command d;
    if (p->judge == ops_jq) {
        d = without_jq_args(sh, c);
        j.c = &d;
    }
    options_parse(sh, leaf, j.c, 1, &p->spec, &j.o);
    p->judge(&j);
    read_split(&j);
    if (!names_fit(&j))
        judged_unknown(&j, "names stand where none of a file may");
    if (j.o.unknown)
        judged_unknown(&j, "an option of the program is not known");
    if (j.o.bad)
        judged_unknown(&j, "an option of the program writes, runs or connects");
    if (j.o.writes && j.cls == CLASS_READER)
        j.cls = CLASS_KNOWN;
    if (j.cls == CLASS_UNKNOWN)
        program_guess_reads(sh, leaf, c, 1);
    leaf_at(sh, leaf)->cls = j.cls;
}

void
program_run(struct sh *sh, size_t leaf, const struct command *c)
{
    bool trusted;
    struct str name = program_name(c->argv[0].w.text, &trusted);
    const struct program *p = program_find(name);
    if (str_is(name, "git"))
        judge_git(sh, leaf, c);
    else if (str_is(name, "find"))
        judge_find(sh, leaf, c);
    else if (p)
        by_row(sh, leaf, c, p);
    else
        no_row(sh, leaf, c, name);
    if (leaf_at(sh, leaf)->cls == CLASS_UNKNOWN)
        follow_guess(sh, leaf, c, name);
    if (!trusted)
        effect_add(sh, leaf, EFFECT_EXEC, &c->argv[0]);
    if (!trusted && leaf_at(sh, leaf)->cls != CLASS_DANGER) {
        leaf_at(sh, leaf)->cls = CLASS_UNKNOWN;
        effect_unknown(sh, leaf, "a program of that name in another folder");
    }
}

bool
program_harmless(struct str name)
{
    const struct program *p = program_find(name);
    return p && p->xargs;
}
