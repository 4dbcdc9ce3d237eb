/* From the tree's command, assignment and declaration nodes to decoded words. */
#include <string.h>

#include "perm/shell.h"

static bool
is_redirect(TSNode n)
{
    return node_is(n, "file_redirect") || node_is(n, "herestring_redirect") ||
           node_is(n, "heredoc_redirect");
}

static void
add_assign(struct sh *sh, struct command *c, const struct perm_assign *a)
{
    struct perm_assign *v = arena_alloc(sh->a, (c->n_assigns + 1) * sizeof *v);
    if (c->n_assigns)
        memcpy(v, c->assigns, c->n_assigns * sizeof *v);
    v[c->n_assigns++] = *a;
    c->assigns = v;
}

/* name=value at `n`. Prefix: for this command's environment; else the shell's own variable, which is set. */
static void
read_assignment(struct sh *sh, TSNode n, struct command *c, bool prefix, bool exported)
{
    struct str t = node_text(sh, n);
    size_t eq = str_find(t, '=', 0);
    uint32_t start = ts_node_start_byte(n);
    bool append = eq != (size_t)-1 && eq > 0 && t.ptr[eq - 1] == '+';
    struct str name = str_sub(t, 0, eq == (size_t)-1 ? t.len : eq - append);
    if (eq == (size_t)-1 || !is_name(name) || ts_node_has_error(n)) {
        sh_incomplete(sh, "an assignment evaluates its subscript");
        word_scan_rest(sh, n, start, ts_node_end_byte(n));
        command_bad_env(sh, c, name);
        return;
    }
    uint32_t from = start + (uint32_t)eq + 1, to = ts_node_end_byte(n);
    struct words ws = {0};
    TSNode value = ts_node_child_by_field_name(n, "value", 5);
    bool array = !ts_node_is_null(value) && node_is(value, "array");
    if (array) {
        uint32_t k = ts_node_child_count(value);
        for (uint32_t i = 0; i < k; i++) {
            TSNode e = ts_node_child(value, i);
            if (ts_node_is_named(e) && !node_is(e, "comment"))
                word_decode(sh, value, ts_node_start_byte(e), ts_node_end_byte(e), WORD_ARG, &ws);
            if (i > 0 && !gap_is_blank(sh, ts_node_end_byte(ts_node_child(value, i - 1)),
                                       ts_node_start_byte(e), true))
                sh_incomplete(sh, "the parser passed over a part of an array");
        }
    } else {
        word_decode(sh, n, from, to, WORD_ASSIGN, &ws);
    }
    struct word v = !array && ws.n == 1 ? ws.v[0] : word_unknown(str_sub(t, eq + 1, t.len), false);
    struct perm_assign a = {.name = name, .value = v.w, .exported_only_here = prefix};
    add_assign(sh, c, &a);
    bool safe = env_name_safe(name) && env_value_safe(name, &v) && !append;
    if (!safe && (prefix || exported || !env_plain_name(name)))
        command_bad_env(sh, c, name);
    if (!prefix)
        state_set(sh, name,
                  append || array || !v.w.known ? v.numeric && !append ? VAR_NUMBER : VAR_UNKNOWN
                                                : VAR_TEXT,
                  v.w.text);
}

void
walk_assignments(struct sh *sh, TSNode node, const struct redirs *rd)
{
    struct command c = {.source = node_text(sh, node), .redirs = rd};
    if (node_is(node, "variable_assignment")) {
        read_assignment(sh, node, &c, false, false);
    } else {
        uint32_t n = ts_node_child_count(node);
        for (uint32_t i = 0; i < n && sh_spend(sh, 1); i++) {
            TSNode k = ts_node_child(node, i);
            if (node_is(k, "variable_assignment"))
                read_assignment(sh, k, &c, false, false);
            else
                sh_incomplete(sh, "an assignment is not understood");
        }
    }
    leaf_command(sh, &c);
}

void
walk_bare_redirects(struct sh *sh, const struct redirs *rd, struct str source)
{
    struct command c = {.source = source, .redirs = rd};
    leaf_command(sh, &c);
}

/* A run of bytes that is one word: nodes that touch are one. */
struct piece {
    uint32_t from, to;
};

struct pieces {
    struct piece *v;
    size_t n, cap;
};

static void
add_piece(struct sh *sh, struct pieces *ps, uint32_t from, uint32_t to)
{
    if (ps->n && ps->v[ps->n - 1].to == from) {
        ps->v[ps->n - 1].to = to;
        return;
    }
    if (ps->n == ps->cap) {
        size_t cap = ps->cap ? ps->cap * 2 : 8;
        struct piece *v = arena_alloc(sh->a, cap * sizeof *v);
        if (ps->n)
            memcpy(v, ps->v, ps->n * sizeof *v);
        ps->v = v;
        ps->cap = cap;
    }
    ps->v[ps->n++] = (struct piece){from, to};
}

static void
read_child(struct sh *sh, TSNode n, struct command *c, struct pieces *ps, struct words *extra,
           bool *named)
{
    if (node_is(n, "variable_assignment") && !*named) {
        read_assignment(sh, n, c, true, false);
    } else if (is_redirect(n)) {
        redirs_collect(sh, n, c, extra);
    } else if (node_is(n, "subshell") || node_is(n, "ERROR")) {
        sh_incomplete(sh, "a command is followed by what no command may have");
        walk_stmt(sh, n, NULL);
    } else if (!node_is(n, "comment")) {
        *named = *named || node_is(n, "command_name");
        add_piece(sh, ps, ts_node_start_byte(n), ts_node_end_byte(n));
    }
}

/* "IFS= read -r line": the separators are those of this one builtin and of nothing that runs. */
static void
separators_for_read(struct command *c)
{
    bool only = c->n_assigns == 1 && str_is(c->assigns[0].name, "IFS") && c->assigns[0].value.known;
    if (only && c->n && c->argv[0].w.known && str_is(c->argv[0].w.text, "read")) {
        c->bad_env = false;
        c->bad_env_name = NULL;
    }
}

void
walk_command(struct sh *sh, TSNode node, const struct redirs *rd)
{
    struct command c = {.source = node_text(sh, node), .redirs = rd};
    struct pieces ps = {0};
    struct words extra = {0}, ws = {0};
    bool named = false;
    TSTreeCursor cur = ts_tree_cursor_new(node);
    uint32_t end = ts_node_start_byte(node);
    bool more = ts_tree_cursor_goto_first_child(&cur);
    while (more && sh_spend(sh, 1)) {
        TSNode n = ts_tree_cursor_current_node(&cur);
        if (!gap_is_blank(sh, end, ts_node_start_byte(n), false))
            sh_incomplete(sh, "the parser and the shell split the words in different ways");
        end = ts_node_end_byte(n);
        read_child(sh, n, &c, &ps, &extra, &named);
        more = ts_tree_cursor_goto_next_sibling(&cur);
    }
    ts_tree_cursor_delete(&cur);
    for (size_t i = 0; i < ps.n; i++)
        word_decode(sh, node, ps.v[i].from, ps.v[i].to, WORD_ARG, &ws);
    for (size_t i = 0; i < extra.n; i++)
        words_add(sh, &ws, &extra.v[i]);
    c.argv = ws.v;
    c.n = ws.n;
    separators_for_read(&c);
    leaf_command(sh, &c);
}

/* export, declare, typeset, readonly, local, unset: the grammar knows them by name, the shell as commands. */
void
walk_declaration(struct sh *sh, TSNode node, const struct redirs *rd)
{
    struct command c = {.source = node_text(sh, node), .redirs = rd};
    struct words ws = {0};
    uint32_t n = ts_node_child_count(node);
    uint32_t end = n ? ts_node_end_byte(ts_node_child(node, 0)) : ts_node_end_byte(node);
    struct str keyword = n ? node_text(sh, ts_node_child(node, 0)) : c.source;
    bool exported = str_is(keyword, "export");
    struct word name = word_literal(sh, keyword);
    words_add(sh, &ws, &name);
    for (uint32_t i = 1; i < n && sh_spend(sh, 1); i++) {
        TSNode k = ts_node_child(node, i);
        if (!gap_is_blank(sh, end, ts_node_start_byte(k), false))
            sh_incomplete(sh, "the parser and the shell split the words in different ways");
        end = ts_node_end_byte(k);
        if (node_is(k, "variable_assignment")) {
            struct word w = word_literal(sh, node_text(sh, k));
            size_t before = c.n_assigns;
            read_assignment(sh, k, &c, false, exported);
            if (c.n_assigns > before) {
                const struct perm_assign *a = &c.assigns[before];
                w.w.known = a->value.known;
                if (a->value.known)
                    w.w.text =
                        str_from(arena_printf(sh->a, "%.*s=%.*s", (int)a->name.len, a->name.ptr,
                                              (int)a->value.text.len, a->value.text.ptr));
            } else {
                w.w.known = false;
            }
            words_add(sh, &ws, &w);
        } else {
            word_decode(sh, node, ts_node_start_byte(k), ts_node_end_byte(k), WORD_ARG, &ws);
        }
    }
    c.argv = ws.v;
    c.n = ws.n;
    leaf_command(sh, &c);
}
