/* Redirections: read by their bytes, so that what the parser misreads still shows its target. */
#include <ctype.h>
#include <string.h>

#include "perm/shell.h"

static struct str
operator_at(struct str t, size_t at)
{
    static const char *const ops[] = {"&>>", "<<<", "&>", ">>", ">|", ">&", "<&", "<>", "<", ">"};
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_starts(str_sub(t, at, t.len - at), ops[i]))
            return str_from(ops[i]);
    return str_from(NULL);
}

static const struct heredoc *
doc_at(const struct sh *sh, size_t at)
{
    for (size_t i = 0; i < sh->unit->s.n_docs; i++)
        if (sh->unit->s.docs[i].at == at)
            return &sh->unit->s.docs[i];
    return NULL;
}

static struct redirect *
add(struct sh *sh, struct command *c)
{
    if (c->n_rv == c->cap_rv) {
        size_t cap = c->cap_rv ? c->cap_rv * 2 : 1;
        struct redirect *v = arena_alloc(sh->a, cap * sizeof *v);
        if (c->n_rv)
            memcpy(v, c->rv, c->n_rv * sizeof *v);
        c->rv = v;
        c->cap_rv = cap;
    }
    return &c->rv[c->n_rv++];
}

/* "1", "1-", "-": a descriptor and not a file. */
static bool
is_descriptor(struct str s)
{
    size_t n = 0;
    while (n < s.len && isdigit((unsigned char)s.ptr[n]))
        n++;
    if (n < s.len && s.ptr[n] == '-')
        n++;
    return n > 0 && n == s.len;
}

static void
note_input(struct command *c, struct redirect *r, const struct heredoc *doc)
{
    if (r->fd > 0)
        return;
    if (doc)
        c->doc = doc;
    else if (str_is(r->op, "<<<"))
        c->herestring = &r->target;
    else if (r->op.ptr[0] == '<')
        c->stdin_file = true;
}

static bool
expands_to_itself(const struct word *w)
{
    for (size_t i = 0; w->w.known && i < w->w.text.len; i++)
        if (!w->w.text.ptr[i] || strchr("$`\\'\"*?[]{}~!() \t\n", w->w.text.ptr[i]))
            return false;
    return w->w.known;
}

/* Digits or {name} with the next redirection's '<' right behind them. */
static bool
is_descriptor_of(struct str text, uint32_t from, uint32_t to)
{
    struct str word = str_sub(text, from, to - from);
    bool digits = word.len > 0;
    for (size_t i = 0; i < word.len; i++)
        digits = digits && isdigit((unsigned char)word.ptr[i]);
    bool variable = word.len > 2 && word.ptr[0] == '{' && word.ptr[word.len - 1] == '}' &&
                    is_name(str_sub(word, 1, word.len - 2));
    return (digits || variable) && to < text.len && (text.ptr[to] == '<' || text.ptr[to] == '>');
}

/* The words behind the operator: the first is the target, others belong to the command. */
static void
read_targets(struct sh *sh, TSNode node, size_t from, struct redirect *r, struct words *extra)
{
    uint32_t n = ts_node_child_count(node), end = (uint32_t)from;
    size_t words = 0;
    struct words target = {0};
    for (uint32_t i = 0; i < n; i++) {
        TSNode c = ts_node_child(node, i);
        uint32_t a = ts_node_start_byte(c), b = ts_node_end_byte(c);
        if (a < from)
            continue;
        if (!ts_node_is_named(c) || node_is(c, "ERROR") || !gap_is_blank(sh, end, a, false))
            sh_incomplete(sh, "a redirection is not understood");
        if (a == end && words > 0)
            sh_incomplete(sh, "a redirection is not understood");
        end = b;
        if (words > 0 && is_descriptor_of(sh->unit->s.text, a, b))
            continue;
        word_decode(sh, node, a, b, WORD_ARG, words++ == 0 ? &target : extra);
    }
    struct str t = node_text(sh, node);
    if (words == 0 && from < ts_node_start_byte(node) + t.len) {
        /* ">&-" and the like: the tree gives no word. */
        r->target =
            word_literal(sh, str_sub(sh->unit->s.text, from, ts_node_end_byte(node) - from));
    } else if (target.n == 1) {
        r->target = target.v[0];
    } else {
        r->target = word_unknown(t, false);
        if (words == 0)
            sh_incomplete(sh, "a redirection has no target");
    }
}

/* The word that ends right before `end` is digits alone: for the shell it is the descriptor of the redirection, for the grammar a
 * word, which the command leaves out. -1: it is none. */
static int
descriptor_before(struct str text, size_t end, struct str op)
{
    size_t i = end;
    int fd = 0;
    while (i > 0 && isdigit((unsigned char)text.ptr[i - 1]))
        i--;
    if (i == end || str_starts(op, "&") || !(i == 0 || strchr(" \t\n;&|()<>", text.ptr[i - 1])))
        return -1;
    for (size_t k = i; k < end && fd < 100000; k++)
        fd = fd * 10 + (text.ptr[k] - '0');
    return fd;
}

/* "{name}>file": the shell sets the variable to the descriptor; for the grammar it is a word, which the command leaves out. */
static bool
descriptor_variable(struct sh *sh, uint32_t end)
{
    struct str t = sh->unit->s.text;
    uint32_t i = end;
    while (i > 0 && !strchr(" \t\n;&|()<>", t.ptr[i - 1]))
        i--;
    struct str name = str_sub(t, i + 1, end - i - 2);
    if (end - i < 3 || t.ptr[i] != '{' || !is_name(name) || !env_plain_name(name))
        return false;
    state_set(sh, name, VAR_UNKNOWN, str_from(NULL));
    return true;
}

void
redirs_collect(struct sh *sh, TSNode node, struct command *c, struct words *extra)
{
    struct str t = node_text(sh, node);
    uint32_t start = ts_node_start_byte(node);
    size_t i = 0;
    struct redirect r = {.fd = -1};
    while (i < t.len && isdigit((unsigned char)t.ptr[i]) && i < 6) {
        r.fd = (r.fd < 0 ? 0 : r.fd) * 10 + (t.ptr[i] - '0');
        i++;
    }
    r.op = operator_at(t, i);
    size_t op_len = r.op.len;
    for (size_t k = 0; k < sh->unit->s.n_stand_ins; k++)
        if (sh->unit->s.stand_ins[k].at == start + i)
            r.op = str_from(sh->unit->s.stand_ins[k].op);
    if (ts_node_has_error(node) || r.op.len == 0 ||
        (start > 0 && sh->unit->s.text.ptr[start - 1] == '}' && !str_starts(r.op, "&") &&
         !descriptor_variable(sh, start)))
        sh_incomplete(sh, "a redirection is not understood");
    if (r.op.len == 0) {
        word_scan_rest(sh, node, start, start + (uint32_t)t.len);
        return;
    }
    if (start > 0 && r.fd < 0)
        r.fd = descriptor_before(sh->unit->s.text, start, r.op);
    const struct heredoc *doc = doc_at(sh, start + i);
    read_targets(sh, node, start + i + op_len, &r, extra);
    /* A here-string is no argument: tildes behind colons count, globs do not. */
    if (str_is(r.op, "<<<") && (r.target.w.glob || memchr(r.target.src.ptr, '~', r.target.src.len)))
        r.target.w.known = r.target.w.glob = false; /* the text stays, for deny */
    if (doc) {
        r.op = STR("<<");
        if (!doc->quoted)
            word_heredoc(sh, doc->body);
    }
    bool amp = str_is(r.op, ">&") || str_is(r.op, "<&");
    if (amp && r.target.src.len > 1 && r.target.src.ptr[0] == '-')
        sh_incomplete(sh, "a redirection is not understood"); /* "-" closes, the rest is a word */
    r.dup = amp && ((r.target.w.known && is_descriptor(r.target.w.text)) || r.target.numeric);
    /* ">& FILE": bash expands what came out of the first expansion once more, quoted or not. */
    if (str_is(r.op, ">&") && !r.dup && !expands_to_itself(&r.target))
        sh_incomplete(sh, "the file name behind >& is expanded twice");
    struct redirect *stored = add(sh, c);
    *stored = r;
    struct redirect *kept = arena_alloc(sh->a, sizeof *kept);
    *kept = r;
    note_input(c, kept, doc);
}

void
redirs_apply(struct sh *sh, size_t leaf, const struct command *c)
{
    for (size_t i = 0; i < c->n_rv; i++) {
        const struct redirect *r = &c->rv[i];
        if (r->dup || str_is(r->op, "<<") || str_is(r->op, "<<<"))
            continue;
        if (str_is(r->op, "<&"))
            effect_unknown(sh, leaf, "a descriptor is not known");
        bool reads = str_is(r->op, "<") || str_is(r->op, "<>");
        if (reads)
            effect_redirect(sh, leaf, EFFECT_READ, &r->target);
        if (!str_is(r->op, "<") && !str_is(r->op, "<&"))
            effect_redirect(sh, leaf, EFFECT_WRITE, &r->target);
    }
}
