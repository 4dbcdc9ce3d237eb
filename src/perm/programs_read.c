/* Operands of programs that read. */
#include <string.h>

#include "perm/programs.h"

static bool
is_dash(const struct word *w)
{
    return w->w.known && str_is(w->w.text, "-");
}

void
judged_follow(struct judged *j, size_t first, enum follow_how how)
{
    struct word here = word_literal(j->sh, STR("."));
    bool all = true;
    if (judged_lacks(j, first))
        all = follow_links(j->sh, j->leaf, &here, how);
    for (size_t i = first; i < j->o.n_operands; i++)
        all = follow_links(j->sh, j->leaf, judged_operand(j, i), how) && all;
    if (!all)
        j->cls = CLASS_UNKNOWN;
}

void
judged_read(struct judged *j, size_t first, enum perm_effect_kind kind)
{
    for (size_t i = first; i < j->o.n_operands; i++)
        if (!is_dash(judged_operand(j, i)))
            effect_add(j->sh, j->leaf, kind, judged_operand(j, i));
}

/* The folder it runs in. */
static void
read_here(struct judged *j, enum perm_effect_kind kind)
{
    effect_text(j->sh, j->leaf, kind, STR("."));
}

void
ops_text(struct judged *j)
{
    (void)j;
}

/* A pattern lists the names in its folder: the part before the first component with a special. */
static void
list_folder(struct judged *j, const struct word *w)
{
    struct word dir = *w;
    size_t end = 0;
    for (size_t i = 0; i < w->w.text.len && !strchr("*?[\\", w->w.text.ptr[i]); i++)
        if (w->w.text.ptr[i] == '/')
            end = i + 1;
    dir.w.glob = false;
    dir.w.text = str_sub(w->w.text, 0, end);
    if (end)
        effect_add(j->sh, j->leaf, EFFECT_READ, &dir);
}

void
ops_echo(struct judged *j)
{
    for (size_t i = 1; i < j->c->n; i++)
        if (j->c->argv[i].w.known && j->c->argv[i].w.glob)
            list_folder(j, &j->c->argv[i]);
}

void
ops_none(struct judged *j)
{
    if (j->o.n_operands)
        judged_unknown(j, "an operand is not understood");
}

void
ops_read(struct judged *j)
{
    judged_read(j, 0, EFFECT_READ);
}

void
ops_wc(struct judged *j)
{
    judged_read(j, 0, EFFECT_READ);
}

/* tree takes the value of a letter in the middle of a bundle from the next word, and goes on with the bundle. */
static bool
tree_bundle_odd(const struct word *w)
{
    struct str s = w->w.known ? w->w.text : w->prefix;
    if (s.len < 3 || s.ptr[0] != '-' || s.ptr[1] == '-')
        return false;
    size_t i = 1;
    while (i < s.len && !strchr("LPIo", s.ptr[i]))
        i++;
    for (i++; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return true;
    return false;
}

void
ops_tree(struct judged *j)
{
    for (size_t i = 1; i < j->c->n && str_is(str_from(j->p->name), "tree"); i++)
        if (tree_bundle_odd(&j->c->argv[i]))
            judged_unknown(j, "the options are not understood");
    if (judged_lacks(j, 0))
        read_here(j, EFFECT_READ_TREE);
    judged_read(j, 0, EFFECT_READ_TREE);
    /* "tree -l" and "du -L" go through links. */
    if (j->o.seen[str_is(str_from(j->p->name), "tree") ? 'l' : 'L'])
        judged_follow(j, 0, FOLLOW_READ);
}

/* Links among the operands of ls are shown as links: with -d, and in a long listing that no later option turns into another. */
static bool
shows_links(const struct judged *j)
{
    static const char others[] = "CxmfHLP";
    bool is_long = j->o.seen['l'] || j->o.seen['g'] || j->o.seen['n'] || j->o.seen['o'];
    if (j->o.unknown || j->o.seen['H'] || j->o.seen['L'])
        return false;
    for (size_t i = 0; others[i]; i++)
        is_long = is_long && !j->o.seen[(unsigned char)others[i]];
    return j->o.seen['d'] || is_long || (j->o.seen['F'] && !j->o.seen['p'] && !j->o.long_seen);
}

void
ops_list(struct judged *j)
{
    bool ls = str_is(str_from(j->p->name), "ls"), links = ls && shows_links(j);
    bool tree = j->o.seen['R'] || (!ls && j->o.seen['T']);
    enum perm_effect_kind kind = tree ? EFFECT_READ_TREE : EFFECT_READ;
    if (judged_lacks(j, 0))
        read_here(j, kind);
    if (!links)
        judged_read(j, 0, kind);
    for (size_t i = 0; links && i < j->o.n_operands; i++)
        if (path_is_link(j->sh, judged_operand(j, i)) || (!tree && judged_operand(j, i)->w.glob))
            effect_itself(j->sh, j->leaf, judged_operand(j, i));
        else
            effect_add(j->sh, j->leaf, kind, judged_operand(j, i));
    if (ls && j->o.seen['L'])
        judged_follow(j, 0, j->o.seen['R'] ? FOLLOW_READ : FOLLOW_READ_NAMES);
}

/* stat tells of a link itself unless -L is given. */
void
ops_stat(struct judged *j)
{
    for (size_t i = 0; i < j->o.n_operands; i++)
        if (j->o.seen['L'] || j->o.seen['f'] || j->o.unknown)
            effect_add(j->sh, j->leaf, EFFECT_READ, judged_operand(j, i));
        else
            effect_itself(j->sh, j->leaf, judged_operand(j, i));
}

void
ops_grep(struct judged *j)
{
    size_t first = j->o.pattern ? 0 : 1;
    const struct word *d = j->o.value['d'];
    bool tree =
        j->o.seen['r'] || j->o.seen['R'] || (d && !(d->w.known && str_is(d->w.text, "skip")));
    enum perm_effect_kind kind = tree ? EFFECT_READ_TREE : EFFECT_READ;
    if (judged_lacks(j, first) && tree)
        read_here(j, kind);
    judged_read(j, first, kind);
    if (j->o.seen['R'])
        judged_follow(j, first, FOLLOW_READ);
    /* "grep -r x $f": the value may bring an option or several files; none of grep's options writes. */
}

void
ops_rg(struct judged *j)
{
    size_t first = j->o.pattern || j->o.seen['1'] || j->o.seen['2'] ? 0 : 1;
    if (judged_lacks(j, first))
        read_here(j, EFFECT_READ_TREE);
    judged_read(j, first, EFFECT_READ_TREE);
    if (j->o.seen['L'])
        judged_follow(j, first, FOLLOW_READ);
}

static bool
word_char(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The word stands alone in a jq filter; ".env" is a field and no word. */
static bool
jq_has_word(struct str f, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= f.len; i++) {
        if (memcmp(f.ptr + i, word, n) != 0 || (i + n < f.len && word_char(f.ptr[i + n])))
            continue;
        bool field = i > 0 && f.ptr[i - 1] == '.' && !(i > 1 && f.ptr[i - 2] == '.');
        if (!field && !(i > 0 && word_char(f.ptr[i - 1])))
            return true;
    }
    return false;
}

/* A filter that cannot see the environment or load code. */
static bool
jq_filter_safe(struct str f)
{
    static const char *const words[] = {"env",     "ENV",        "import",
                                        "include", "modulemeta", "get_search_list"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (jq_has_word(f, words[i]))
            return false;
    return true;
}

void
ops_jq(struct judged *j)
{
    const struct word *f = judged_operand(j, 0);
    if (!f || !f->w.known || f->w.glob || !jq_filter_safe(f->w.text))
        judged_unknown(j, "the jq program may read what it should not");
    judged_read(j, 1, EFFECT_READ);
}

void
ops_diff(struct judged *j)
{
    /* Without -r folders are compared too, file by file and no deeper. */
    bool tree = j->o.seen['r'];
    for (size_t i = 0; i < j->o.n_operands; i++) {
        const struct word *w = judged_operand(j, i);
        tree = tree || w->w.glob || path_is_dir(j->sh, w) || (w->below.len && !w->no_links);
    }
    judged_read(j, 0, tree ? EFFECT_READ_TREE : EFFECT_READ);
    if (tree && !j->o.seen['1'])
        judged_follow(j, 0, FOLLOW_READ);
}

/* The second operand is written. */
void
ops_uniq(struct judged *j)
{
    const struct word *in = judged_operand(j, 0), *out = judged_operand(j, 1);
    if (in && !is_dash(in))
        effect_add(j->sh, j->leaf, EFFECT_READ, in);
    if (out && !is_dash(out)) {
        effect_add(j->sh, j->leaf, EFFECT_WRITE, out);
        j->o.writes = true;
    }
    if (j->o.uncounted || j->o.n_operands > 2)
        judged_unknown(j, "a second operand would be written");
}

/* An option of xxd: one letter, perhaps with a number. */
static bool
xxd_option_plain(struct str s)
{
    if (s.len < 3 || s.ptr[0] != '-' || str_is(s, "-ps"))
        return true;
    for (size_t i = 2; i < s.len; i++)
        if (!strchr("0123456789", s.ptr[i]))
            return false;
    return strchr("cglos", s.ptr[1]) != NULL;
}

void
ops_xxd(struct judged *j)
{
    ops_uniq(j);
    for (size_t i = 1; i < j->c->n; i++)
        if (!xxd_option_plain(j->c->argv[i].w.text))
            judged_unknown(j, "an option of xxd is not understood");
}

/* "$f" alone, the value of a loop over a pattern: one word, the name of some file. */
static bool
quoted_value(const struct word *w)
{
    struct str s = w->src;
    size_t from = str_starts(s, "\"${") ? 3 : 2, to = from == 3 ? 2 : 1;
    bool quoted = str_starts(s, "\"$") && str_ends(s, from == 3 ? "}\"" : "\"");
    return quoted && s.len > from + to && is_name(str_sub(s, from, s.len - from - to));
}

/* test and [: -v and -R take a name and evaluate its subscript. */
void
ops_test(struct judged *j)
{
    const struct command *c = j->c;
    for (size_t i = 1; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        bool known = w->w.known && !w->w.glob;
        if (w->split || (w->w.glob && !quoted_value(w)))
            judged_unknown(j, "an unquoted value may become an operator");
        /* With three operands and an operator in the middle the value is data. */
        size_t n = c->n - 1 - (str_is(c->argv[0].w.text, "[") ? 1 : 0);
        bool middle = n == 3 && c->argv[2].w.known && c->argv[2].w.text.len &&
                      strchr("=!<>-", c->argv[2].w.text.ptr[0]);
        bool behind_op = i > 1 && c->argv[i - 1].w.known && c->argv[i - 1].w.text.len == 2 &&
                         c->argv[i - 1].w.text.ptr[0] == '-' &&
                         strchr("abcdefghknoprstuwxzGLNOS", c->argv[i - 1].w.text.ptr[1]) && n <= 3;
        bool after_not = n == 3 && i == 3 && arg_is(c, 1, "!");
        if (!known && !w->numeric && !middle && !behind_op && n != 1 && !after_not)
            judged_unknown(j, "a value may become an operator");
        bool name_op = w->w.known && (str_is(w->w.text, "-v") || str_is(w->w.text, "-R"));
        if (name_op && i + 1 < c->n && !(c->argv[i + 1].w.known && is_name(c->argv[i + 1].w.text)))
            judged_unknown(j, "a test evaluates a name");
    }
}

void
ops_printf(struct judged *j)
{
    const struct command *c = j->c;
    const struct word *f = c->n > 1 ? &c->argv[1] : NULL;
    ops_echo(j);
    if (!f)
        return;
    struct str s = f->w.known ? f->w.text : f->prefix;
    if (f->split || f->w.glob || (!f->w.known && s.len == 0 && !f->numeric)) {
        judged_unknown(j, "the format may be an option");
        return;
    }
    if (!str_starts(s, "-") || str_is(s, "--") || str_is(s, "-"))
        return;
    bool name = str_is(s, "-v") && c->n > 2 && c->argv[2].w.known && is_name(c->argv[2].w.text);
    judged_unknown(j, "printf -v sets a variable");
    if (name && env_plain_name(c->argv[2].w.text)) {
        j->cls = CLASS_KNOWN;
        state_set(j->sh, c->argv[2].w.text, VAR_UNKNOWN, str_from(NULL));
    } else {
        j->cls = CLASS_DANGER;
        state_lose_vars(j->sh);
    }
}

/* An operand that is no +FORMAT sets the clock. */
void
ops_date(struct judged *j)
{
    if (j->o.n_operands)
        judged_unknown(j, "an operand sets the clock");
}

void
ops_awk(struct judged *j)
{
    const struct word *f = judged_operand(j, 0);
    if (!f || !f->w.known || f->w.glob || !script_awk_safe(j->sh, f->w.text))
        judged_unknown(j, "the awk program may write, run or read more");
    for (size_t i = 1; i < j->o.n_operands; i++) {
        const struct word *w = judged_operand(j, i);
        size_t eq = w->w.known ? str_find(w->w.text, '=', 0) : (size_t)-1;
        if (is_dash(w) || (eq != (size_t)-1 && is_name(str_sub(w->w.text, 0, eq))))
            continue; /* an assignment */
        if (w->w.known && w->w.text.len && w->w.text.ptr[0] == '/' &&
            str_starts(w->w.text, "/inet"))
            judged_unknown(j, "awk opens a connection");
        effect_add(j->sh, j->leaf, EFFECT_READ, w);
    }
    if (j->o.value['v'] && !j->o.value['v']->w.known)
        judged_unknown(j, "an awk variable is not known");
}
