/* Command and process substitution. */
#include <string.h>

#include "perm/shell.h"

/* Backslashes inside backticks are taken away before the inner parse, which the grammar does not know. */
static bool
ticks_are_plain(struct sh *sh, TSNode node)
{
    struct str t = node_text(sh, node);
    return !(t.len && t.ptr[0] == '`' && memchr(t.ptr, '\\', t.len));
}

void
walk_substitution(struct sh *sh, TSNode node)
{
    uint32_t n = ts_node_child_count(node);
    if (n < 2 || ts_node_is_missing(ts_node_child(node, n - 1)) || !ticks_are_plain(sh, node))
        sh_incomplete(sh, "a substitution is not understood");
    if (n < 2)
        return;
    TSNode last = ts_node_child(node, n - 1), body = ts_node_child(node, 1);
    struct cwdset ok = sh->ok, bad = sh->fail;
    const struct state *ok_st = sh->ok_st;
    struct state saved = state_copy(sh, &sh->st);
    if (sh->depth >= SH_MAX_DEPTH) {
        sh_incomplete(sh, "the command is nested too deeply");
    } else if (n == 3 && node_is(body, "file_redirect")) {
        struct redirs rd = {.node = body};
        walk_bare_redirects(sh, &rd, node_text(sh, node));
    } else {
        sh->depth++;
        walk_statements(sh, node, 1, n - 1);
        sh->depth--;
    }
    if (!gap_is_blank(sh, ts_node_end_byte(ts_node_child(node, n - 2)), ts_node_start_byte(last),
                      true))
        sh_incomplete(sh, "the parser passed over a part of a substitution");
    sh->st = saved;
    sh->ok = ok;
    sh->fail = bad;
    sh->ok_st = ok_st;
}

static const struct heredoc *
doc_at(const struct sh *sh, TSNode redirect)
{
    for (size_t i = 0; i < sh->unit->s.n_docs; i++)
        if (sh->unit->s.docs[i].at == ts_node_start_byte(redirect))
            return &sh->unit->s.docs[i];
    return NULL;
}

static bool
has_expansion(struct str body)
{
    return memchr(body.ptr, '$', body.len) || memchr(body.ptr, '`', body.len) ||
           memchr(body.ptr, '\\', body.len);
}

/* $( cat <<'EOF' ) and nothing else: the body without its last newlines. */
bool
walk_literal_substitution(struct sh *sh, TSNode node, struct str *ret)
{
    if (ts_node_named_child_count(node) != 1 || node_text(sh, node).ptr[0] == '`')
        return false;
    TSNode st = ts_node_named_child(node, 0);
    if (!node_is(st, "redirected_statement") || ts_node_named_child_count(st) != 2)
        return false;
    TSNode cmd = ts_node_named_child(st, 0), rd = ts_node_named_child(st, 1);
    if (!node_is(cmd, "command") || !str_is(node_text(sh, cmd), "cat") ||
        !node_is(rd, "file_redirect"))
        return false;
    const struct heredoc *doc = doc_at(sh, rd);
    if (!doc || (!doc->quoted && has_expansion(doc->body)) || ts_node_named_child_count(rd) != 1)
        return false;
    if (funcs_have(sh, STR("cat")))
        return false;
    walk_substitution(sh, node);
    *ret = doc->body;
    while (ret->len && ret->ptr[ret->len - 1] == '\n')
        ret->len--;
    return true;
}

/* ---- what prints a number ---- */

static bool
argv_is(const struct perm_leaf *l, size_t i, const char *text)
{
    return i < l->n_argv && l->argv[i].known && !l->argv[i].glob && str_is(l->argv[i].text, text);
}

/* They print a number and know nothing else. */
static bool
leaf_prints_number(const struct perm_leaf *l)
{
    static const char *const rows[][4] = {{"nproc"},
                                          {"date", "+%s"},
                                          {"id", "-u"},
                                          {"id", "-g"},
                                          {"git", "rev-list", "--count", "HEAD"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t n = 0;
        while (n < 4 && rows[i][n] && argv_is(l, n, rows[i][n]))
            n++;
        if (n == l->n_argv && (n == 4 || !rows[i][n]))
            return true;
    }
    return false;
}

/* "wc -l" of its input and "grep -c PATTERN" of that or of one file. */
static bool
leaf_counts(struct sh *sh, const struct perm_leaf *l)
{
    static const char *const counts[] = {"-l", "-w", "-c", "-m"};
    bool wc = argv_is(l, 0, "wc") && l->n_argv == 2, grep = argv_is(l, 0, "grep"), found = false;
    if (!l->argv_known || l->bad_env || !l->n_argv || funcs_have(sh, l->argv[0].text))
        return false;
    if (leaf_prints_number(l))
        return true;
    for (size_t i = 0; wc && i < ARRAY_LEN(counts); i++)
        found = found || argv_is(l, 1, counts[i]);
    if (!grep || l->n_argv < 3 || l->n_argv > 4 || !str_starts(l->argv[1].text, "-c"))
        return found;
    for (size_t i = 2; i < l->argv[1].text.len; i++)
        if (!strchr("EFGivwx", l->argv[1].text.ptr[i]))
            return false;
    return !str_starts(l->argv[2].text, "-") && !l->argv[2].glob &&
           (l->n_argv == 3 || (!str_starts(l->argv[3].text, "-") && !l->argv[3].glob));
}

/* The redirections add nothing to what is printed. */
static bool
redirects_silent(struct sh *sh, TSNode st)
{
    for (uint32_t i = 1; i < ts_node_named_child_count(st); i++) {
        struct str t = node_text(sh, ts_node_named_child(st, i));
        if (!str_is(t, "2>/dev/null") && !(str_starts(t, "<") && !str_starts(t, "<<")))
            return false;
    }
    return true;
}

bool
substitution_counts(struct sh *sh, TSNode node)
{
    const struct perm_leaf *last = sh->ret->n_leaves ? leaf_at(sh, sh->ret->n_leaves - 1) : NULL;
    if (!last || ts_node_child_count(node) != 3 || node_text(sh, node).ptr[0] == '`')
        return false;
    TSNode st = ts_node_child(node, 1);
    if (node_is(st, "redirected_statement")) {
        if (!redirects_silent(sh, st))
            return false;
        st = ts_node_named_child(st, 0);
    }
    if (node_is(st, "pipeline"))
        st = ts_node_named_child(st, ts_node_named_child_count(st) - 1);
    if (node_is(st, "redirected_statement") && redirects_silent(sh, st))
        st = ts_node_named_child(st, 0);
    if (!node_is(st, "command") || !last->n_argv || !leaf_counts(sh, last))
        return false;
    struct str name = last->argv[0].text, text = node_text(sh, st);
    return str_eq(str_sub(text, 0, name.len), name) &&
           (text.len == name.len || text.ptr[name.len] == ' ');
}
