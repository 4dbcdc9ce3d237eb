/* From the tree's command, assignment and declaration nodes to decoded words. */
#include <string.h>

#include "perm/shell.h"

static bool
is_redirect(TSNode n)
{
    const char *type = ts_node_type(n);
    return type_is(type, "file_redirect") || type_is(type, "herestring_redirect") ||
           type_is(type, "heredoc_redirect");
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

enum assign_kind {
    ASSIGN_PREFIX,  /* for this command's environment */
    ASSIGN_SHELL,   /* the shell's own variable, which is set */
    ASSIGN_DECLARE, /* the same as an operand of declare */
    ASSIGN_EXPORT,
    ASSIGN_LOCAL, /* outside a function it fails */
};

/* "[x]=1" in a list of values: the shell computes x, and what that holds. */
static bool
computes_key(struct str e)
{
    size_t i = 1, open = str_find(e, '[', 0);
    if (open == (size_t)-1 || open > 2) /* a brace or a quote may stand before it */
        return false;
    for (i = open + 1; i < e.len && strchr("0123456789", e.ptr[i]); i++)
        ;
    bool number = i > open + 1 && i < e.len && e.ptr[i] == ']';
    return !number && str_find(e, '=', 0) != (size_t)-1;
}

/* The elements of "(a b c)". */
static void
read_array(struct sh *sh, TSNode array, struct words *out)
{
    uint32_t n = ts_node_child_count(array);
    for (uint32_t i = 0; i < n; i++) {
        TSNode e = ts_node_child(array, i);
        if (computes_key(node_text(sh, e)))
            sh_incomplete(sh, "an array in an assignment evaluates its subscripts");
        if (ts_node_is_named(e) && !node_is(e, "comment"))
            word_decode(sh, array, ts_node_start_byte(e), ts_node_end_byte(e), WORD_ARG, out);
        if (i > 0 && !gap_is_blank(sh, ts_node_end_byte(ts_node_child(array, i - 1)),
                                   ts_node_start_byte(e), true))
            sh_incomplete(sh, "the parser passed over a part of an array");
    }
}

/* name=value from the start of `n` to `end`: the parser may have cut the value short, its rest lies in `outer`. */
static void
read_assignment(struct sh *sh, TSNode outer, TSNode n, uint32_t end, struct command *c,
                enum assign_kind kind)
{
    bool prefix = kind == ASSIGN_PREFIX;
    struct str t = str_sub(sh->unit->s.text, ts_node_start_byte(n), end - ts_node_start_byte(n));
    size_t eq = str_find(t, '=', 0);
    uint32_t start = ts_node_start_byte(n);
    bool append = eq != (size_t)-1 && eq > 0 && t.ptr[eq - 1] == '+';
    struct str name = str_sub(t, 0, eq == (size_t)-1 ? t.len : eq - append);
    if (eq == (size_t)-1 || !is_name(name) || ts_node_has_error(n)) {
        sh_incomplete(sh, "an assignment evaluates its subscript");
        word_scan_rest(sh, outer, start, end);
        command_bad_env(sh, c, name);
        return;
    }
    uint32_t from = start + (uint32_t)eq + 1;
    struct words ws = {0};
    TSNode value = ts_node_child_by_field_name(n, "value", 5);
    bool array = !ts_node_is_null(value) && node_is(value, "array");
    if (array && end != ts_node_end_byte(n))
        sh_incomplete(sh, "an array in a word is not understood");
    if (array)
        read_array(sh, value, &ws);
    else
        word_decode(sh, outer, from, end, WORD_ASSIGN, &ws);
    struct word v = !array && ws.n == 1 ? ws.v[0] : word_unknown(str_sub(t, eq + 1, t.len), false);
    struct perm_assign a = {.name = name, .value = v.w, .exported_only_here = prefix};
    /* Operands of a command: their braces are expanded, which plain assignments' are not. */
    bool braces = !prefix && kind != ASSIGN_SHELL && memchr(t.ptr + eq + 1, '{', t.len - eq - 1);
    if (braces)
        v = word_unknown(str_sub(t, eq + 1, t.len), false);
    if (braces || sh->attrs_seen || (prefix && (append || sh->frozen_seen)))
        a.value = word_unknown(str_sub(t, eq + 1, t.len), false).w;
    add_assign(sh, c, &a);
    bool safe = env_name_safe(name) && env_value_safe(name, &v) && !append;
    if (!safe && (prefix || kind == ASSIGN_EXPORT || !env_plain_name(name)))
        command_bad_env(sh, c, name);
    bool fails = kind == ASSIGN_LOCAL && sh->in_func == 0;
    if (!prefix)
        state_set(sh, name,
                  append || array || fails || !v.w.known
                      ? v.numeric && !append ? VAR_NUMBER : VAR_UNKNOWN
                      : VAR_TEXT,
                  v.w.text);
    bool plain = kind == ASSIGN_SHELL && !append && !array && !fails;
    if (plain && v.pure)
        state_set(sh, name, VAR_TOKEN, str_from(NULL));
    if (plain && v.found)
        state_set_found(sh, name, v.found);
}

/* Where the assignment that is child `i` ends: nodes that touch it belong to its value. */
static uint32_t
assignment_end(struct sh *sh, TSNode node, uint32_t i)
{
    uint32_t end = ts_node_end_byte(ts_node_child(node, i)), n = ts_node_child_count(node);
    while (++i < n && sh_spend(sh, 1)) {
        TSNode k = ts_node_child(node, i);
        if (ts_node_start_byte(k) != end || is_redirect(k))
            break;
        end = ts_node_end_byte(k);
    }
    return end;
}

void
walk_assignments(struct sh *sh, TSNode node, const struct redirs *rd)
{
    struct command c = {.source = node_text(sh, node), .redirs = rd};
    if (node_is(node, "variable_assignment")) {
        read_assignment(sh, node, node, ts_node_end_byte(node), &c, ASSIGN_SHELL);
    } else {
        uint32_t n = ts_node_child_count(node);
        for (uint32_t i = 0; i < n && sh_spend(sh, 1); i++) {
            TSNode k = ts_node_child(node, i);
            if (node_is(k, "variable_assignment"))
                read_assignment(sh, node, k, assignment_end(sh, node, i), &c, ASSIGN_SHELL);
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

/* The children of a command node while they are read. */
struct reading {
    struct command *c;
    struct pieces ps;
    struct words extra;
    bool named;
    uint32_t end; /* of the child before */
    bool redirect_before;
};

/* "0<file": the grammar takes the digits before '<' for a word of their own. */
static void
drop_descriptor(struct sh *sh, struct pieces *ps, uint32_t redirect)
{
    const char *t = sh->unit->s.text.ptr;
    if (!ps->n || ps->v[ps->n - 1].to != redirect || t[redirect] == '&')
        return;
    struct piece p = ps->v[ps->n - 1];
    struct str name = p.to - p.from > 2 ? str_make(t + p.from + 1, p.to - p.from - 2) : STR("");
    if (t[p.from] == '{' && t[p.to - 1] == '}' && is_name(name)) {
        ps->n--;
        return;
    }
    for (uint32_t i = p.from; i < p.to; i++)
        if (t[i] < '0' || t[i] > '9')
            return;
    ps->n--;
}

/* Reads n, which is child `i` of node; gives the index of the last one that was used up. */
static uint32_t
read_child(struct sh *sh, TSNode node, TSNode n, uint32_t i, struct reading *r)
{
    uint32_t start = ts_node_start_byte(n);
    bool touches = r->redirect_before && start == r->end;
    r->end = ts_node_end_byte(n);
    r->redirect_before = is_redirect(n);
    if (node_is(n, "variable_assignment") && !r->named) {
        r->end = assignment_end(sh, node, i);
        read_assignment(sh, node, n, r->end, r->c, ASSIGN_PREFIX);
        while (i + 1 < ts_node_child_count(node) &&
               ts_node_end_byte(ts_node_child(node, i + 1)) <= r->end)
            i++;
    } else if (is_redirect(n)) {
        drop_descriptor(sh, &r->ps, start);
        redirs_collect(sh, n, r->c, &r->extra);
        touches = false;
    } else if (node_is(n, "subshell") || node_is(n, "ERROR")) {
        sh_incomplete(sh, "a command is followed by what no command may have");
        walk_stmt(sh, n, NULL);
    } else if (!node_is(n, "comment")) {
        r->named = r->named || node_is(n, "command_name");
        add_piece(sh, &r->ps, start, r->end);
    }
    if (touches)
        sh_incomplete(sh, "the parser and the shell split the words in different ways");
    return i;
}

/* "IFS= read -r line": the separators are those of this one builtin and of nothing that runs. */
static void
separators_for_read(struct command *c)
{
    bool only = c->n_assigns == 1 && str_is(c->assigns[0].name, "IFS") && c->assigns[0].value.known;
    if (only && arg_is(c, 0, "read")) {
        c->bad_env = false;
        c->bad_env_name = NULL;
    }
}

/* "name=": where the parser took the rest of one assignment for the command, the next one is an argument for it. */
static bool
looks_assigned(const struct sh *sh, struct piece p)
{
    struct str t = str_sub(sh->unit->s.text, p.from, p.to - p.from);
    size_t eq = str_find(t, '=', 0);
    return eq != (size_t)-1 && is_name(str_sub(t, 0, eq - (eq > 0 && t.ptr[eq - 1] == '+')));
}

void
walk_command(struct sh *sh, TSNode node, const struct redirs *rd)
{
    struct command c = {.source = node_text(sh, node), .redirs = rd};
    struct reading r = {.c = &c, .end = ts_node_start_byte(node)};
    struct words ws = {0};
    uint32_t count = ts_node_child_count(node);
    for (uint32_t i = 0; i < count && sh_spend(sh, 1); i++) {
        TSNode n = ts_node_child(node, i); /* found by counting */
        if (!gap_is_blank(sh, r.end, ts_node_start_byte(n), false))
            sh_incomplete(sh, "the parser and the shell split the words in different ways");
        i = read_child(sh, node, n, i, &r);
    }
    if (r.ps.n && !r.named && looks_assigned(sh, r.ps.v[0]))
        sh_incomplete(sh, "the parser and the shell split the words in different ways");
    for (const struct redirs *o = rd; o; o = o->next)
        drop_descriptor(sh, &r.ps, ts_node_start_byte(o->node));
    for (size_t i = 0; i < r.ps.n; i++)
        word_decode(sh, node, r.ps.v[i].from, r.ps.v[i].to, WORD_ARG, &ws);
    for (size_t i = 0; i < r.extra.n; i++)
        words_add(sh, &ws, &r.extra.v[i]);
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
    enum assign_kind kind = str_is(keyword, "export")  ? ASSIGN_EXPORT
                            : str_is(keyword, "local") ? ASSIGN_LOCAL
                                                       : ASSIGN_DECLARE;
    struct word name = word_literal(sh, keyword);
    words_add(sh, &ws, &name);
    for (uint32_t i = 1; i < n && sh_spend(sh, 1); i++) {
        TSNode k = ts_node_child(node, i);
        if (!gap_is_blank(sh, end, ts_node_start_byte(k), false))
            sh_incomplete(sh, "the parser and the shell split the words in different ways");
        end = ts_node_end_byte(k);
        if (node_is(k, "variable_assignment")) {
            size_t before = c.n_assigns;
            end = assignment_end(sh, node, i);
            struct word w = word_literal(
                sh, str_sub(sh->unit->s.text, ts_node_start_byte(k), end - ts_node_start_byte(k)));
            read_assignment(sh, node, k, end, &c, kind);
            while (i + 1 < n && ts_node_end_byte(ts_node_child(node, i + 1)) <= end)
                i++;
            w.assign = true;
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
