/*
 * One walk over the tree. Node kinds are a positive list: what is not on it makes the analysis incomplete, and its children
 * are still walked so that deny sees them. The bytes between nodes must be blanks, else the parser skipped something.
 */
#include <string.h>

#include "perm/shell.h"

struct str
node_text(const struct sh *sh, TSNode n)
{
    uint32_t a = ts_node_start_byte(n);
    return str_sub(sh->unit->s.text, a, ts_node_end_byte(n) - a);
}

bool
gap_is_blank(const struct sh *sh, uint32_t from, uint32_t to, bool newlines)
{
    const char *p = sh->unit->s.text.ptr;
    for (uint32_t i = from; i < to; i++)
        if (p[i] != ' ' && p[i] != '\t' && !(newlines && p[i] == '\n'))
            return false;
    return true;
}

static void
walk_children(struct sh *sh, TSNode n)
{
    /* By a cursor: what could not be parsed may have thousands of children, and each is found by counting otherwise. */
    TSTreeCursor at = ts_tree_cursor_new(n);
    for (bool more = ts_tree_cursor_goto_first_child(&at); more && sh_spend(sh, 1);
         more = ts_tree_cursor_goto_next_sibling(&at))
        walk_stmt(sh, ts_tree_cursor_current_node(&at), NULL);
    ts_tree_cursor_delete(&at);
}

static void
scoped(struct sh *sh, TSNode n, const struct redirs *rd)
{
    struct state saved = state_copy(sh, &sh->st);
    walk_stmt(sh, n, rd);
    sh->st = saved;
    sh_settle(sh);
}

static bool
statement_token(struct sh *sh, TSNode n, bool in_case)
{
    struct str t = node_text(sh, n);
    return str_is(t, ";") || str_is(t, "&") || str_is(t, "\n") ||
           (in_case && (str_is(t, ";;") || str_is(t, ";&") || str_is(t, ";;&")));
}

void
walk_statements(struct sh *sh, TSNode parent, uint32_t from, uint32_t to)
{
    uint32_t end =
        from > 0 ? ts_node_end_byte(ts_node_child(parent, from - 1)) : ts_node_start_byte(parent);
    bool in_case = node_is(parent, "case_item");
    sh_settle(sh);
    for (uint32_t i = from; i < to && sh_spend(sh, 1); i++) {
        TSNode n = ts_node_child(parent, i);
        if (!gap_is_blank(sh, end, ts_node_start_byte(n), true))
            sh_incomplete(sh, "the parser passed over a part of the command");
        end = ts_node_end_byte(n);
        if (node_is(n, "comment"))
            continue;
        if (!ts_node_is_named(n)) {
            if (!statement_token(sh, n, in_case) || ts_node_is_missing(n))
                sh_incomplete(sh, "an operator stands where none may");
            continue;
        }
        bool background = i + 1 < to && node_is(ts_node_child(parent, i + 1), "&");
        if (background)
            scoped(sh, n, NULL);
        else
            walk_stmt(sh, n, NULL);
    }
}

void
walk_program(struct sh *sh, TSNode root)
{
    if (!node_is(root, "program")) {
        sh_incomplete(sh, "it cannot be parsed as shell");
        walk_children(sh, root);
        return;
    }
    uint32_t len = (uint32_t)sh->unit->s.text.len, n = ts_node_child_count(root);
    if (!gap_is_blank(sh, 0, ts_node_start_byte(root), true) ||
        !gap_is_blank(sh, ts_node_end_byte(root), len, true))
        sh_incomplete(sh, "the parser passed over a part of the command");
    walk_statements(sh, root, 0, n);
}

/* Redirections of a simple command, a list or a pipe belong to its last simple command. */
static void
walk_redirected(struct sh *sh, TSNode n, const struct redirs *outer)
{
    const struct redirs *rd = outer;
    TSNode body = {0};
    uint32_t count = ts_node_child_count(n);
    for (uint32_t i = count; i-- > 0;) {
        TSNode c = ts_node_child(n, i);
        if (node_is(c, "comment"))
            continue;
        if (node_is(c, "file_redirect") || node_is(c, "herestring_redirect") ||
            node_is(c, "heredoc_redirect")) {
            struct redirs *r = arena_alloc(sh->a, sizeof *r);
            *r = (struct redirs){.node = c, .next = rd};
            rd = r;
        } else if (ts_node_is_named(c) && ts_node_is_null(body) && !node_is(c, "ERROR")) {
            body = c;
        } else {
            sh_incomplete(sh, "a redirection is not understood");
            walk_stmt(sh, c, NULL);
        }
        if (i > 0 && !gap_is_blank(sh, ts_node_end_byte(ts_node_child(n, i - 1)),
                                   ts_node_start_byte(c), false))
            sh_incomplete(sh, "the parser passed over a part of a redirection");
    }
    if (ts_node_is_null(body))
        walk_bare_redirects(sh, rd, node_text(sh, n));
    else
        walk_stmt(sh, body, rd);
}

/* A list, or one whose last command has redirections. */
static bool
is_list(TSNode n)
{
    while (node_is(n, "redirected_statement") && ts_node_child_count(n))
        n = ts_node_child(n, 0);
    return node_is(n, "list");
}

/* A simple command whose standard input and output are left to the pipe. */
static bool
is_plain_part(const struct sh *sh, TSNode n)
{
    if (node_is(n, "command"))
        return true;
    if (!node_is(n, "redirected_statement") || !node_is(ts_node_child(n, 0), "command"))
        return false;
    for (uint32_t i = 1; i < ts_node_child_count(n); i++)
        if (!str_starts(node_text(sh, ts_node_child(n, i)), "2>"))
            return false;
    return true;
}

static void
add_stage(struct sh *sh, size_t leaf)
{
    if (sh->n_stages < ARRAY_LEN(sh->stages))
        sh->stages[sh->n_stages++] = leaf;
    else
        sh->stages[ARRAY_LEN(sh->stages) - 1] = SIZE_MAX;
}

/* "while read f; do ...": one read of each line, from the pipe, and no other. */
static bool
feeds_reading(const struct sh *sh, TSNode n)
{
    struct str t = node_text(sh, n), cond;
    if (!node_is(n, "while_statement") || sh->n_stages == 0 || !str_starts(t, "while"))
        return false;
    cond = node_text(sh, ts_node_child(n, 1));
    size_t at = str_find(t, 'r', 0), reads = 0;
    for (; at != (size_t)-1; at = str_find(t, 'r', at + 1))
        reads += str_starts(str_sub(t, at, t.len), "read");
    return reads == 1 && (str_starts(cond, "read ") || str_starts(cond, "IFS= read ")) &&
           node_is(ts_node_child(n, 1), "command") && !str_contains(t, STR("exec")) &&
           !str_contains(t, STR("mapfile"));
}

/* One part of a pipe. Those after it may ask which command it was: see names.c. */
static void
pipe_part(struct sh *sh, TSNode n, const struct redirs *rd)
{
    size_t before = sh->ret->n_leaves, stages = sh->n_stages;
    bool plain = is_plain_part(sh, n);
    const struct found *feed = sh->feed;
    bool fed = sh->fed;
    sh->feed = feeds_reading(sh, n) ? found_in_pipe(sh) : NULL;
    sh->fed = sh->feed || (fed && stages == 0);
    if (!plain)
        sh->n_stages = 0; /* what else reads the pipe in there is not known */
    scoped(sh, n, rd);
    sh->feed = feed;
    sh->fed = fed;
    sh->n_stages = stages;
    add_stage(sh, plain && sh->ret->n_leaves == before + 1 ? before : SIZE_MAX);
}

/* The last command of the list in front of a pipe. */
static void
list_part(struct sh *sh, TSNode list)
{
    uint32_t n = ts_node_child_count(list);
    TSNode last = n ? ts_node_child(list, n - 1) : list;
    size_t leaf = sh->ret->n_leaves;
    bool plain = node_is(list, "list") && leaf > 0 && is_plain_part(sh, last);
    if (plain && node_is(last, "redirected_statement"))
        last = ts_node_child(last, 0);
    plain = plain && str_eq(sh->ret->leaves[leaf - 1].source, node_text(sh, last));
    add_stage(sh, plain ? leaf - 1 : SIZE_MAX);
}

/* The same behind any number of pipes with redirections: "a && b >x | c >y | d". */
static bool
leads_with_list(TSNode n)
{
    while ((node_is(n, "redirected_statement") || node_is(n, "pipeline")) && ts_node_child_count(n))
        n = ts_node_child(n, 0);
    return node_is(n, "list");
}

/* "a && b >x | c": the grammar takes the list for the first part of the pipe, bash its last command alone. */
static void
walk_list_pipe(struct sh *sh, TSNode n, const struct redirs *rd)
{
    uint32_t count = ts_node_child_count(n);
    sh->scope_last = true;
    walk_stmt(sh, ts_node_child(n, 0), NULL);
    sh->scope_last = false;
    struct cwdset ok = sh->ok, bad = sh->fail;
    const struct state *ok_st = sh->ok_st;
    struct state after = state_copy(sh, &sh->st);
    if (ok_st)
        sh->st = state_copy(sh, ok_st);
    list_part(sh, ts_node_child(n, 0));
    for (uint32_t i = 1; i < count; i++) {
        TSNode c = ts_node_child(n, i);
        if (ts_node_is_named(c) && !node_is(c, "comment"))
            pipe_part(sh, c, i + 1 == count ? rd : NULL);
        if (is_list(c) || !gap_is_blank(sh, ts_node_end_byte(ts_node_child(n, i - 1)),
                                        ts_node_start_byte(c), true))
            sh_incomplete(sh, "the parser passed over a part of a pipe");
    }
    sh->st = after;
    sh->ok = ok;
    sh->fail = bad;
    sh->ok_st = ok_st;
}

static void
walk_parts(struct sh *sh, TSNode n, const struct redirs *rd)
{
    uint32_t count = ts_node_child_count(n);
    bool ends_in_list = count > 1 && is_list(ts_node_child(n, count - 1));
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        TSNode c = ts_node_child(n, i);
        if (i > 0 && !gap_is_blank(sh, end, ts_node_start_byte(c), true))
            sh_incomplete(sh, "the parser passed over a part of a pipe");
        if (i > 0 && i + 1 < count && is_list(c))
            sh_incomplete(sh, "a pipe is not understood");
        end = ts_node_end_byte(c);
        if (ts_node_is_named(c) && !node_is(c, "comment") && !(ends_in_list && i + 1 == count))
            pipe_part(sh, c, i + 1 == count ? rd : NULL);
    }
    sh_settle(sh);
    if (!ends_in_list)
        return;
    /* "a | { b; } | c && d": for the grammar all from the group on is a list, of which the pipe has the first command. */
    sh->scope_first = true;
    walk_stmt(sh, ts_node_child(n, count - 1), rd);
    sh->scope_first = false;
}

static void
walk_pipeline(struct sh *sh, TSNode n, const struct redirs *rd)
{
    size_t kept[ARRAY_LEN(sh->stages)], n_kept = sh->n_stages;
    memcpy(kept, sh->stages, sizeof kept);
    sh->n_stages = 0;
    if (ts_node_child_count(n) > 1 && leads_with_list(ts_node_child(n, 0)))
        walk_list_pipe(sh, n, rd);
    else
        walk_parts(sh, n, rd);
    memcpy(sh->stages, kept, sizeof kept);
    sh->n_stages = n_kept;
}

static void
walk_list(struct sh *sh, TSNode n, const struct redirs *rd)
{
    TSNode side[2];
    size_t k = 0;
    bool and_op = false, scope_last = sh->scope_last, scope_first = sh->scope_first;
    sh->scope_last = sh->scope_first = false;
    uint32_t count = ts_node_child_count(n), end = 0;
    for (uint32_t i = 0; i < count; i++) {
        TSNode c = ts_node_child(n, i);
        if (node_is(c, "&&"))
            and_op = true;
        else if (ts_node_is_named(c) && !node_is(c, "comment") && k < 2)
            side[k++] = c;
        if (i > 0 && !gap_is_blank(sh, end, ts_node_start_byte(c), true))
            sh_incomplete(sh, "the parser passed over a part of a list");
        end = ts_node_end_byte(c);
    }
    if (k < 2) {
        sh_incomplete(sh, "a list is not understood");
        walk_children(sh, n);
        return;
    }
    sh->scope_first = scope_first && is_list(side[0]);
    if (scope_first && !is_list(side[0]) && !node_is(side[0], "pipeline"))
        scoped(sh, side[0], NULL);
    else
        walk_stmt(sh, side[0], NULL);
    struct cwdset ok = sh->ok, bad = sh->fail;
    struct state skipped = state_copy(sh, &sh->st);
    if (and_op && sh->ok_st)
        sh->st = state_copy(sh, sh->ok_st);
    sh->st.cwd = skipped.cwd = and_op ? ok : bad;
    if (scope_last)
        scoped(sh, side[1], rd);
    else
        walk_stmt(sh, side[1], rd);
    struct state *ok_st = arena_alloc(sh->a, sizeof *ok_st);
    *ok_st = state_copy(sh, &sh->st);
    skipped.cwd = and_op ? bad : ok;
    cwd_join(and_op ? &sh->fail : &sh->ok, and_op ? &bad : &ok);
    state_join(sh, &skipped);
    sh->ok_st = and_op ? ok_st : NULL;
}

static void
walk_negated(struct sh *sh, TSNode n, const struct redirs *rd)
{
    uint32_t count = ts_node_child_count(n);
    for (uint32_t i = 0; i < count; i++)
        if (ts_node_is_named(ts_node_child(n, i)))
            walk_stmt(sh, ts_node_child(n, i), rd);
    struct cwdset t = sh->ok;
    sh->ok = sh->fail;
    sh->fail = t;
    sh->ok_st = NULL;
}

/* "( ... )" and "{ ...; }": the statements between the brackets. */
static void
walk_group(struct sh *sh, TSNode n)
{
    uint32_t count = ts_node_child_count(n);
    if (count < 2) {
        sh_incomplete(sh, "a group is not understood");
        return;
    }
    TSNode first = ts_node_child(n, 0), last = ts_node_child(n, count - 1);
    if (node_is(first, "((")) {
        walk_arithmetic(sh, n, ts_node_end_byte(first), ts_node_start_byte(last));
        return;
    }
    if (ts_node_is_missing(last) || !gap_is_blank(sh, ts_node_end_byte(ts_node_child(n, count - 2)),
                                                  ts_node_start_byte(last), true))
        sh_incomplete(sh, "a group is not understood");
    walk_statements(sh, n, 1, count - 1);
}

static void
walk_subshell(struct sh *sh, TSNode n)
{
    struct state saved = state_copy(sh, &sh->st);
    walk_group(sh, n);
    sh->st = saved;
    sh_settle(sh);
}

/* The children of an if, elif or else from `i` on: condition, then, branch. Joins all ends into *end. */
static void
walk_branches(struct sh *sh, TSNode n, struct state *end, bool *have_end, bool *has_else)
{
    uint32_t count = ts_node_child_count(n), from = 1, i = 1;
    bool is_else = node_is(n, "else_clause");
    if (!is_else) {
        while (i < count && !node_is(ts_node_child(n, i), "then"))
            i++;
        walk_statements(sh, n, 1, i);
        from = i + 1;
    } else {
        *has_else = true;
    }
    struct state cond = state_copy(sh, &sh->st);
    cond.cwd = is_else ? sh->st.cwd : sh->fail;
    if (!is_else)
        sh->st.cwd = sh->ok;
    uint32_t to = from;
    while (to < count && !node_is(ts_node_child(n, to), "elif_clause") &&
           !node_is(ts_node_child(n, to), "else_clause") && !node_is(ts_node_child(n, to), "fi"))
        to++;
    walk_statements(sh, n, from, to);
    if (*have_end)
        state_join(sh, end);
    *end = state_copy(sh, &sh->st);
    *have_end = true;
    sh->st = cond;
}

static void
walk_if(struct sh *sh, TSNode n)
{
    struct state end;
    bool have_end = false, has_else = false;
    uint32_t count = ts_node_child_count(n);
    if (!sh_spend(sh, count))
        return;
    walk_branches(sh, n, &end, &have_end, &has_else);
    for (uint32_t i = 1; i < count; i++) {
        TSNode c = ts_node_child(n, i);
        if (node_is(c, "elif_clause") || node_is(c, "else_clause"))
            walk_branches(sh, c, &end, &have_end, &has_else);
    }
    /* Without an else the last condition may fail and nothing runs; with one this is the (harmless) extra state. */
    if (has_else)
        sh->st = end;
    else
        state_join(sh, &end);
    sh_settle(sh);
    sh->ok_st = NULL;
}

struct kind {
    const char *type;
    void (*simple)(struct sh *, TSNode, const struct redirs *); /* takes the redirections itself */
    void (*compound)(struct sh *, TSNode);                      /* they are a leaf of their own */
};
static const struct kind kinds[] = {
    {"command", walk_command, NULL},
    {"redirected_statement", walk_redirected, NULL},
    {"pipeline", walk_pipeline, NULL},
    {"list", walk_list, NULL},
    {"negated_command", walk_negated, NULL},
    {"variable_assignment", walk_assignments, NULL},
    {"variable_assignments", walk_assignments, NULL},
    {"declaration_command", walk_declaration, NULL},
    {"unset_command", walk_declaration, NULL},
    {"test_command", walk_test, NULL},
    {"subshell", NULL, walk_subshell},
    {"compound_statement", NULL, walk_group},
    {"if_statement", NULL, walk_if},
    {"while_statement", NULL, walk_while},
    {"for_statement", NULL, walk_for},
    {"c_style_for_statement", NULL, walk_c_for},
    {"case_statement", NULL, walk_case},
    {"function_definition", NULL, walk_function},
};

static void
walk_kind(struct sh *sh, const struct kind *k, TSNode n, const struct redirs *rd)
{
    if (ts_node_is_missing(n))
        sh_incomplete(sh, "it cannot be parsed as shell");
    if (k->simple) {
        k->simple(sh, n, rd);
        return;
    }
    const struct found *feed = sh->feed;
    if (rd) {
        walk_bare_redirects(sh, rd, node_text(sh, n));
        sh->feed = NULL; /* it may come from elsewhere */
    }
    k->compound(sh, n);
    sh->feed = feed;
}

void
walk_stmt(struct sh *sh, TSNode n, const struct redirs *rd)
{
    sh->ok_st = NULL;
    sh_settle(sh);
    if (!sh_spend(sh, 1))
        return;
    char before = is_list(n) ? 0 : keyword_before(sh, n);
    if (before == 'c') {
        scoped(sh, n, rd);
        state_lose_vars(sh); /* it sets variables of its name */
        return;
    }
    if (before == '!') {
        walk_stmt(sh, n, rd);
        cwd_join(&sh->ok, &sh->fail);
        sh->fail = sh->ok;
        sh->ok_st = NULL;
        return;
    }
    if (sh->depth >= SH_MAX_DEPTH) {
        sh_incomplete(sh, "the command is nested too deeply");
        return;
    }
    sh->depth++;
    const struct kind *k = NULL;
    const char *type = ts_node_type(n);
    for (size_t i = 0; i < ARRAY_LEN(kinds) && !k; i++)
        if (type_is(type, kinds[i].type))
            k = &kinds[i];
    if (k) {
        walk_kind(sh, k, n, rd);
        sh->st.cwd = sh->ok;
        cwd_join(&sh->st.cwd, &sh->fail);
    } else if (ts_node_is_named(n) && !node_is(n, "comment")) {
        sh_incomplete(sh, node_is(n, "ERROR") ? "it cannot be parsed as shell"
                                              : "the command uses a form that is not understood");
        walk_children(sh, n);
        if (ts_node_child_count(n) == 0 || !node_is(n, "ERROR"))
            word_scan_rest(sh, n, ts_node_start_byte(n), ts_node_end_byte(n));
    }
    sh->depth--;
}
