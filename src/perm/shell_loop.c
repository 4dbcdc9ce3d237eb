/* Loops and case. A loop is walked until one more round would change nothing that is known. */
#include <string.h>

#include "perm/shell.h"

struct loop {
    TSNode body;
    TSNode cond; /* while: the statement whose condition comes first, or null */
    uint32_t cond_to;
    struct str var;            /* for: unknown in each round */
    const struct found *found; /* ... or the name of something */
    bool token;                /* ... or a revision */
};

static void
walk_body(struct sh *sh, TSNode body)
{
    uint32_t n = ts_node_child_count(body);
    bool group = node_is(body, "do_group") || node_is(body, "compound_statement");
    if (!group || n < 2 || ts_node_is_missing(ts_node_child(body, n - 1))) {
        sh_incomplete(sh, "a loop is not understood");
        walk_stmt(sh, body, NULL);
        return;
    }
    walk_statements(sh, body, 1, n - 1);
}

static void
walk_round(struct sh *sh, const struct loop *l)
{
    if (l->var.len && l->found)
        state_set_found(sh, l->var, l->found);
    else if (l->var.len)
        state_set(sh, l->var, l->token ? VAR_TOKEN : VAR_UNKNOWN, str_from(NULL));
    if (!ts_node_is_null(l->cond)) {
        walk_statements(sh, l->cond, 1, l->cond_to);
        cwd_join(&sh->st.cwd, &sh->fail);
    }
    walk_body(sh, l->body);
}

static void
walk_rounds(struct sh *sh, const struct loop *l)
{
    if (sh->depth >= SH_MAX_DEPTH || !sh_spend(sh, 1)) {
        sh_incomplete(sh, "the command is nested too deeply");
        return;
    }
    size_t leaves = sh->ret->n_leaves;
    for (int round = 0; round < 4; round++) {
        if (round == 3) {
            sh->st.cwd = (struct cwdset){.unknown = true};
            state_lose_vars(sh);
        }
        struct state entry = state_copy(sh, &sh->st);
        if (l->var.len)
            state_set(sh, l->var, VAR_UNKNOWN, str_from(NULL));
        struct state start = state_copy(sh, &sh->st);
        walk_round(sh, l);
        state_join(sh, &entry);
        state_join(sh, &start);
        if (round == 3 || state_equal(&sh->st, &start))
            break;
        sh->ret->n_leaves = leaves;
    }
    found_in_loop(sh, leaves);
    sh_settle(sh);
}

void
walk_while(struct sh *sh, TSNode n)
{
    TSNode body = ts_node_child_by_field_name(n, "body", 4);
    uint32_t count = ts_node_child_count(n), to = 1;
    while (to < count && !node_is(ts_node_child(n, to), "do_group"))
        to++;
    if (ts_node_is_null(body)) {
        sh_incomplete(sh, "a loop is not understood");
        return;
    }
    walk_rounds(sh, &(struct loop){.body = body, .cond = n, .cond_to = to});
}

void
walk_c_for(struct sh *sh, TSNode n)
{
    TSNode body = ts_node_child_by_field_name(n, "body", 4);
    uint32_t count = ts_node_child_count(n), open = 0, close = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (node_is(ts_node_child(n, i), "(("))
            open = ts_node_end_byte(ts_node_child(n, i));
        if (node_is(ts_node_child(n, i), "))"))
            close = ts_node_start_byte(ts_node_child(n, i));
    }
    if (ts_node_is_null(body) || open == 0 || close < open) {
        sh_incomplete(sh, "a loop is not understood");
        return;
    }
    if (!arith_check(sh, n, open, close))
        sh_incomplete(sh, "arithmetic with names can run code");
    walk_rounds(sh, &(struct loop){.body = body});
}

/* The values of a for loop: decoded words; false when there are none written. */
static bool
for_values(struct sh *sh, TSNode n, struct words *out)
{
    uint32_t count = ts_node_child_count(n);
    bool any = false;
    for (uint32_t i = 0; i < count && sh_spend(sh, 1); i++) {
        const char *field = ts_node_field_name_for_child(n, i);
        TSNode c = ts_node_child(n, i);
        if (field && strcmp(field, "value") == 0) {
            any = true;
            word_decode(sh, n, ts_node_start_byte(c), ts_node_end_byte(c), WORD_ARG, out);
        }
        if (i > 0 && !gap_is_blank(sh, ts_node_end_byte(ts_node_child(n, i - 1)),
                                   ts_node_start_byte(c), true))
            sh_incomplete(sh, "the parser passed over a part of a loop");
    }
    return any;
}

static bool
can_unroll(struct sh *sh, TSNode body, const struct words *ws)
{
    struct str t = node_text(sh, body);
    static const char *const moves[] = {"cd",      "pushd",     "popd", "=",      "read", "mapfile",
                                        "getopts", "printf -v", "eval", "source", ". "};
    bool leaves_early = str_contains(t, STR("break")) || str_contains(t, STR("continue")) ||
                        str_contains(t, STR("return"));
    if (ws->n == 0 || ws->n > SH_MAX_UNROLL)
        return false;
    /* A round that ends early may leave a state that no full round leaves. */
    for (size_t i = 0; i < ARRAY_LEN(moves) && leaves_early; i++)
        if (str_contains(t, str_from(moves[i])))
            return false;
    for (size_t i = 0; i < ws->n; i++)
        if (!ws->v[i].w.known)
            return false;
    return true;
}

void
walk_for(struct sh *sh, TSNode n)
{
    TSNode body = ts_node_child_by_field_name(n, "body", 4);
    TSNode var = ts_node_child_by_field_name(n, "variable", 8);
    if (ts_node_is_null(body) || ts_node_is_null(var)) {
        sh_incomplete(sh, "a loop is not understood");
        return;
    }
    struct str name = node_text(sh, var);
    struct words ws = {0};
    bool any = for_values(sh, n, &ws);
    bool select = str_is(node_text(sh, ts_node_child(n, 0)), "select");
    if (!env_plain_name(name) && !env_name_safe(name)) {
        struct command c = {.source = node_text(sh, n), .bad_env = true};
        c.bad_env_name = arena_dup(sh->a, name.ptr, name.len);
        leaf_command(sh, &c);
    }
    if (!any || select || !can_unroll(sh, body, &ws)) {
        const struct found *f = ws.n == 1 && any && !select ? ws.v[0].found : NULL;
        walk_rounds(sh, &(struct loop){.body = body,
                                       .var = name,
                                       .found = f ? found_each(sh, f) : NULL,
                                       .token = ws.n == 1 && any && !select && ws.v[0].pure});
        return;
    }
    struct state before = state_copy(sh, &sh->st);
    for (size_t i = 0; i < ws.n && sh_spend(sh, 1); i++) {
        state_set(sh, name, ws.v[i].w.glob ? VAR_GLOB : VAR_TEXT, ws.v[i].w.text);
        walk_body(sh, body);
    }
    state_join(sh, &before);
    sh_settle(sh);
}

static void
case_item(struct sh *sh, TSNode item)
{
    uint32_t n = ts_node_child_count(item), from = 0;
    for (uint32_t i = 0; i < n && from == 0; i++) {
        TSNode c = ts_node_child(item, i);
        struct words ws = {0};
        if (ts_node_is_named(c) && !node_is(c, "comment"))
            word_decode(sh, item, ts_node_start_byte(c), ts_node_end_byte(c), WORD_TEXT, &ws);
        else if (node_is(c, ")"))
            from = i + 1;
        if (i > 0 && !gap_is_blank(sh, ts_node_end_byte(ts_node_child(item, i - 1)),
                                   ts_node_start_byte(c), true))
            sh_incomplete(sh, "the parser passed over a part of a case");
    }
    if (from == 0) {
        sh_incomplete(sh, "a case is not understood");
        return;
    }
    walk_statements(sh, item, from, n);
}

void
walk_case(struct sh *sh, TSNode n)
{
    TSNode value = ts_node_child_by_field_name(n, "value", 5);
    struct words ws = {0};
    if (!ts_node_is_null(value))
        word_decode(sh, n, ts_node_start_byte(value), ts_node_end_byte(value), WORD_TEXT, &ws);
    struct state entry = state_copy(sh, &sh->st), end = state_copy(sh, &sh->st);
    uint32_t count = ts_node_child_count(n);
    for (uint32_t i = 0; i < count && sh_spend(sh, 1); i++) {
        TSNode c = ts_node_child(n, i);
        if (!gap_is_blank(sh, i ? ts_node_end_byte(ts_node_child(n, i - 1)) : ts_node_start_byte(n),
                          ts_node_start_byte(c), true))
            sh_incomplete(sh, "the parser passed over a part of a case");
        if (!node_is(c, "case_item")) {
            if (node_is(c, "ERROR"))
                walk_stmt(sh, c, NULL);
            continue;
        }
        sh->st = state_copy(sh, &end);
        case_item(sh, c);
        state_join(sh, &end);
        end = state_copy(sh, &sh->st);
    }
    sh->st = end;
    state_join(sh, &entry);
    sh_settle(sh);
}
