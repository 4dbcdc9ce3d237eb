/*
 * "time" and "coproc" are words of bash's grammar; the parser takes them for programs, and so it does with a '!' before another '!' or a
 * group. Before an ordinary word that makes no difference and wrappers.c looks through them. Before an assignment, a group or another
 * keyword the line is read in another way: there the keyword is blanked out and the text parsed again.
 */
#include <ctype.h>
#include <string.h>

#include "perm/shell.h"

static bool
ends_word(struct str t, size_t i)
{
    return i >= t.len || strchr(" \t\n;&|()<>", t.ptr[i]) != NULL;
}

static size_t
skip_blanks(struct str t, size_t i)
{
    while (i < t.len && (t.ptr[i] == ' ' || t.ptr[i] == '\t'))
        i++;
    return i;
}

static bool
word_at(struct str t, size_t i, const char *word)
{
    return str_starts(str_sub(t, i, t.len - i), word) && ends_word(t, i + strlen(word));
}

static size_t
name_at(struct str t, size_t i)
{
    size_t n = 0;
    while (i + n < t.len && is_name(str_sub(t, i, n + 1)))
        n++;
    return n;
}

/* A group, a loop, a test: what a coprocess may have a name before. */
static bool
compound_at(struct str t, size_t i)
{
    static const char *const words[] = {"{", "if", "for", "while", "until", "case", "select", "[["};
    if (i < t.len && t.ptr[i] == '(')
        return true;
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (word_at(t, i, words[k]))
            return true;
    return false;
}

static bool
assignment_at(struct str t, size_t i)
{
    size_t n = name_at(t, i);
    struct str rest = str_sub(t, i + n, t.len);
    return n > 0 && (str_starts(rest, "=") || str_starts(rest, "+=") || str_starts(rest, "["));
}

/* Where the text after "time" at `i` is read in another way than the words of a program, or 0. */
static size_t
after_time(struct str t, size_t i)
{
    i = skip_blanks(t, i);
    if (word_at(t, i, "-p"))
        i = skip_blanks(t, i + 2);
    if (word_at(t, i, "--"))
        i = skip_blanks(t, i + 2);
    bool other = compound_at(t, i) || assignment_at(t, i) || word_at(t, i, "!") ||
                 word_at(t, i, "time") || word_at(t, i, "coproc") || word_at(t, i, "function");
    return other ? i : 0;
}

static size_t
after_coproc(struct str t, size_t i)
{
    i = skip_blanks(t, i);
    if (compound_at(t, i) || assignment_at(t, i))
        return i;
    size_t n = name_at(t, i), next = skip_blanks(t, i + n);
    return n > 0 && ends_word(t, i + n) && compound_at(t, next) ? next : 0;
}

/* "coproc NAME {": the shell sets the variable to the descriptors. */
static void
coproc_sets(struct sh *sh, struct str t, size_t i)
{
    struct str name = str_sub(t, i, name_at(t, i));
    if (env_plain_name(name) || name.len == 1 || str_is(name, "COPROC"))
        state_set(sh, name, VAR_UNKNOWN, str_from(NULL));
    else
        sh_incomplete(sh, "a coprocess sets a variable that decides what runs");
}

/* The command node's name is a keyword that matters: it is blanked out. */
static bool
take_out(struct sh *sh, struct unit *u, TSNode command)
{
    TSNode name = ts_node_child(command, 0);
    if (ts_node_is_null(name) || !node_is(name, "command_name"))
        return false;
    uint32_t from = ts_node_start_byte(name), end = ts_node_end_byte(name);
    struct str t = u->s.text, word = str_sub(t, from, end - from);
    bool coproc = str_is(word, "coproc"), bang = str_is(word, "!");
    if (!coproc && !bang && !str_is(word, "time"))
        return false;
    size_t to = coproc ? after_coproc(t, end) : bang ? skip_blanks(t, end) : after_time(t, end);
    if (to == 0 || to == end || u->n_taken == ARRAY_LEN(u->taken))
        return false;
    if (coproc && !compound_at(t, skip_blanks(t, end)) && !assignment_at(t, skip_blanks(t, end)))
        coproc_sets(sh, t, skip_blanks(t, end));
    if (coproc || bang)
        u->taken[u->n_taken++] = (struct taken){(uint32_t)to, coproc ? 'c' : '!'};
    char *copy = arena_dup(sh->a, t.ptr, t.len);
    memset(copy + from, ' ', to - from);
    u->s.text = str_make(copy, t.len);
    return true;
}

/* "! { ...": the parser takes the group's first word for a program. */
static bool
take_out_bang(struct sh *sh, struct unit *u, TSNode negated)
{
    uint32_t n = ts_node_child_count(negated), at = ts_node_start_byte(negated);
    TSNode body = n ? ts_node_child(negated, n - 1) : negated;
    uint32_t to = ts_node_start_byte(body);
    bool group = n && node_is(body, "command") && compound_at(u->s.text, to);
    if (!group || u->n_taken == ARRAY_LEN(u->taken))
        return false;
    u->taken[u->n_taken++] = (struct taken){to, '!'};
    char *copy = arena_dup(sh->a, u->s.text.ptr, u->s.text.len);
    copy[at] = ' ';
    u->s.text = str_make(copy, u->s.text.len);
    return true;
}

bool
keywords_take_out(struct sh *sh, struct unit *u)
{
    if (!str_contains(u->s.text, STR("time")) && !str_contains(u->s.text, STR("coproc")) &&
        !memchr(u->s.text.ptr, '!', u->s.text.len))
        return false;
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(u->tree));
    bool taken = false, more = true;
    while (more) {
        TSNode n = ts_tree_cursor_current_node(&c);
        if (node_is(n, "command"))
            taken = take_out(sh, u, n) || taken;
        else if (node_is(n, "negated_command"))
            taken = take_out_bang(sh, u, n) || taken;
        more = ts_tree_cursor_goto_first_child(&c) || ts_tree_cursor_goto_next_sibling(&c);
        while (!more && ts_tree_cursor_goto_parent(&c))
            more = ts_tree_cursor_goto_next_sibling(&c);
    }
    ts_tree_cursor_delete(&c);
    return taken;
}

char
keyword_before(struct sh *sh, TSNode n)
{
    struct unit *u = sh->unit;
    if (u->n_taken == 0 || node_is(n, "list") || node_is(n, "pipeline"))
        return 0;
    for (size_t i = u->n_taken; i-- > 0;)
        if (u->taken[i].at == ts_node_start_byte(n)) {
            u->taken[i].at = UINT32_MAX;
            return u->taken[i].kind;
        }
    return 0;
}
