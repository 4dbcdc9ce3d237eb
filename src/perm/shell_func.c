/*
 * Functions of the command line. All definitions of a text are found before the walk, for a loop may call what is defined below. A call
 * walks each body of that name in the state of the call; bodies that nothing seen calls, and all of them where calls may be out of
 * sight, are walked at the end in an unknown state.
 */
#include <string.h>

#include "perm/shell.h"

enum { MAX_CALLS = 8 };

static bool
name_is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("\\'\"$`*?[", s.ptr[i]))
            return false;
    return s.len > 0;
}

static void
add_function(struct sh *sh, struct unit *u, TSNode def)
{
    TSNode name = ts_node_child_by_field_name(def, "name", 4);
    TSNode body = ts_node_child_by_field_name(def, "body", 4);
    if (ts_node_is_null(name) || ts_node_is_null(body) || !sh_spend(sh, 4))
        return;
    if (sh->n_funcs == sh->cap_funcs) {
        size_t cap = sh->cap_funcs ? sh->cap_funcs * 2 : 8;
        struct func *f = arena_alloc(sh->a, cap * sizeof *f);
        if (sh->n_funcs)
            memcpy(f, sh->funcs, sh->n_funcs * sizeof *f);
        sh->funcs = f;
        sh->cap_funcs = cap;
    }
    TSNode parent = ts_node_parent(def), next = ts_node_next_sibling(def);
    uint32_t a = ts_node_start_byte(name);
    struct func f = {.unit = u, .def = def};
    f.name = str_sub(u->s.text, a, ts_node_end_byte(name) - a);
    f.straight = sh->wraps == 1 && !ts_node_is_null(parent) && node_is(parent, "program") &&
                 (ts_node_is_null(next) || !node_is(next, "&")) && name_is_plain(f.name) &&
                 !str_contains(u->s.text, STR("unset"));
    sh->funcs[sh->n_funcs++] = f;
}

void
funcs_find(struct sh *sh, struct unit *u)
{
    if (!str_contains(u->s.text, STR("function")) && !memchr(u->s.text.ptr, '(', u->s.text.len))
        return;
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(u->tree));
    for (bool more = true; more;) {
        TSNode n = ts_tree_cursor_current_node(&c);
        if (node_is(n, "function_definition"))
            add_function(sh, u, n);
        more = ts_tree_cursor_goto_first_child(&c) || ts_tree_cursor_goto_next_sibling(&c);
        while (!more && ts_tree_cursor_goto_parent(&c))
            more = ts_tree_cursor_goto_next_sibling(&c);
    }
    ts_tree_cursor_delete(&c);
}

bool
funcs_have(const struct sh *sh, struct str name)
{
    for (size_t i = 0; i < sh->n_funcs; i++)
        if (str_eq(sh->funcs[i].name, name))
            return true;
    return false;
}

void
walk_function(struct sh *sh, TSNode n)
{
    for (size_t i = 0; i < sh->n_funcs; i++)
        if (sh->funcs[i].unit == sh->unit && ts_node_eq(sh->funcs[i].def, n)) {
            sh->funcs[i].defined = true;
            return;
        }
    sh_incomplete(sh, "a function is not understood");
    sh->calls_hidden = true;
    word_scan_rest(sh, n, ts_node_start_byte(n), ts_node_end_byte(n));
}

static void
lose_place(struct sh *sh)
{
    state_lose_vars(sh);
    sh->st.cwd = (struct cwdset){.unknown = true};
    sh_settle(sh);
}

/* Walks the body in the present state. */
static void
walk_body(struct sh *sh, const struct func *f)
{
    struct unit *outer = sh->unit;
    bool scope_last = sh->scope_last;
    TSNode redirect = ts_node_child_by_field_name(f->def, "redirect", 8);
    struct redirs rd = {.node = redirect};
    sh->unit = f->unit;
    sh->scope_last = false;
    sh->in_func++;
    walk_stmt(sh, ts_node_child_by_field_name(f->def, "body", 4),
              ts_node_is_null(redirect) ? NULL : &rd);
    sh->in_func--;
    sh->scope_last = scope_last;
    sh->unit = outer;
}

void
funcs_leave(struct sh *sh, struct unit *u)
{
    for (size_t i = 0; i < sh->n_funcs; i++) {
        struct func *f = &sh->funcs[i];
        if (f->unit != u)
            continue;
        if (!f->walked || f->again || sh->calls_hidden) {
            struct state saved = state_copy(sh, &sh->st);
            struct func now = *f;
            lose_place(sh);
            walk_body(sh, &now);
            sh->st = saved;
            sh_settle(sh);
        }
        sh->funcs[i].unit = NULL; /* the tree goes */
    }
}

/* The body may end early, before or after it moved or set something. */
static bool
ends_early(const struct func *f)
{
    static const char *const moves[] = {"cd",      "pushd",     "popd", "=",      "read", "mapfile",
                                        "getopts", "printf -v", "eval", "source", ". "};
    uint32_t a = ts_node_start_byte(f->def);
    struct str t = str_sub(f->unit->s.text, a, ts_node_end_byte(f->def) - a);
    if (!str_contains(t, STR("return")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        if (str_contains(t, str_from(moves[i])))
            return true;
    return false;
}

/* Names that were local to the body have their old values again. */
static void
drop_locals(struct sh *sh, size_t from)
{
    for (size_t i = from; i < sh->n_locals; i++)
        state_set(sh, sh->locals[i], VAR_UNKNOWN, str_from(NULL));
    sh->n_locals = from;
}

void
func_local(struct sh *sh, struct str name)
{
    if (sh->in_func == 0)
        return;
    if (sh->n_locals == ARRAY_LEN(sh->locals)) {
        sh->attrs_seen = true; /* what is global again is not known */
        state_lose_vars(sh);
        return;
    }
    sh->locals[sh->n_locals++] = name;
}

static void
call_body(struct sh *sh, size_t i)
{
    struct func f = sh->funcs[i];
    if (!f.unit || f.busy || sh->n_calls >= MAX_CALLS || !sh_spend(sh, 10)) {
        sh->funcs[i].again = true; /* it also runs in states that are not followed */
        lose_place(sh);
        return;
    }
    size_t locals = sh->n_locals;
    sh->funcs[i].walked = sh->funcs[i].busy = true;
    sh->n_calls++;
    walk_body(sh, &f);
    sh->n_calls--;
    sh->funcs[i].busy = false;
    drop_locals(sh, locals);
    if (ends_early(&f))
        lose_place(sh);
}

/* Certain: the one definition has been passed on the straight way to here. */
static bool
is_certain(const struct sh *sh, struct str name)
{
    size_t n = 0;
    bool defined = false;
    for (size_t i = 0; i < sh->n_funcs; i++)
        if (str_eq(sh->funcs[i].name, name)) {
            n++;
            defined = sh->funcs[i].defined && sh->funcs[i].straight;
        }
    return n == 1 && defined && sh->wraps == 1;
}

/* The shell's own commands do other things to the state than a program of that name. */
static bool
is_shell_word(struct str name)
{
    static const char *const names[] = {"export",  "declare", "typeset",   "readonly", "local",
                                        "unset",   "set",     "eval",      ".",        "source",
                                        "exec",    "cd",      "pushd",     "popd",     "read",
                                        "printf",  "mapfile", "readarray", "getopts",  "let",
                                        "command", "builtin", "time",      "exit",     "shift"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

void
func_call(struct sh *sh, size_t leaf, const struct command *c)
{
    struct str name = c->argv[0].w.text;
    bool certain = is_certain(sh, name);
    if (certain)
        leaf_at(sh, leaf)->cls = CLASS_READER; /* what it does are the leaves of its body */
    else
        effect_unknown(sh, leaf, "may call a function of this command line");
    if (certain)
        program_guess_reads(sh, leaf, c, 1);
    for (size_t i = 0; i < c->n_assigns; i++)
        state_set(sh, c->assigns[i].name, VAR_UNKNOWN, str_from(NULL));
    struct state entry = state_copy(sh, &sh->st), end = entry;
    if (!certain) {
        sh_settle(sh);
        leaf_judge_program(sh, leaf, c);
        sh->st.cwd = sh->ok;
        cwd_join(&sh->st.cwd, &sh->fail);
        end = state_copy(sh, &sh->st);
    }
    bool have_end = !certain;
    for (size_t i = 0; i < sh->n_funcs; i++) {
        if (!str_eq(sh->funcs[i].name, name))
            continue;
        sh->st = state_copy(sh, &entry);
        call_body(sh, i);
        if (have_end)
            state_join(sh, &end);
        end = state_copy(sh, &sh->st);
        have_end = true;
    }
    sh->st = end;
    for (size_t i = 0; i < c->n_assigns; i++)
        state_set(sh, c->assigns[i].name, VAR_UNKNOWN, str_from(NULL));
    if (is_shell_word(name))
        lose_place(sh);
    sh_settle(sh);
}
