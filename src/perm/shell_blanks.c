/*
 * For the grammar the blanks before an expansion in double quotes belong to it ("$a $b": the second begins at the blank). The words
 * are decoded from their bytes and look for a node at each '$': so such a text is parsed once more with those blanks made visible.
 * The text itself stays as it is, and each byte keeps its place.
 */
#include <string.h>

#include "perm/shell.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The blanks that node n begins with, behind which its own opener stands. */
static uint32_t
blanks_of(const struct unit *u, TSNode n)
{
    struct str t = u->s.text;
    uint32_t from = ts_node_start_byte(n), end = ts_node_end_byte(n), i = from;
    if (!node_is(n, "simple_expansion") && !node_is(n, "expansion") &&
        !node_is(n, "command_substitution") && !node_is(n, "arithmetic_expansion"))
        return 0;
    while (i < end && is_blank(t.ptr[i]))
        i++;
    return i < end && (t.ptr[i] == '$' || t.ptr[i] == '`') ? i - from : 0;
}

bool
blanks_show(struct sh *sh, const struct unit *u, struct str *ret)
{
    struct str t = u->s.text;
    if (!str_contains(t, STR(" $")) && !str_contains(t, STR(" `")) &&
        !str_contains(t, STR("\t$")) && !str_contains(t, STR("\t`")))
        return false;
    char *copy = NULL;
    bool more = true;
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(u->tree));
    while (more) {
        TSNode n = ts_tree_cursor_current_node(&c);
        uint32_t blanks = blanks_of(u, n);
        if (blanks && node_is(ts_node_parent(n), "string")) {
            copy = copy ? copy : arena_dup(sh->a, t.ptr, t.len);
            memset(copy + ts_node_start_byte(n), '-', blanks);
        }
        more = ts_tree_cursor_goto_first_child(&c) || ts_tree_cursor_goto_next_sibling(&c);
        while (!more && ts_tree_cursor_goto_parent(&c))
            more = ts_tree_cursor_goto_next_sibling(&c);
    }
    ts_tree_cursor_delete(&c);
    *ret = copy ? str_make(copy, t.len) : t;
    return copy != NULL;
}
