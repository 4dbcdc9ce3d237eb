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
