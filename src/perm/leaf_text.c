/* The text that rules are matched against. */
#include <string.h>

#include "perm/shell.h"

static bool
bare_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || (c && strchr("_-./:=@%+,^~#!]", c));
}

static bool
needs_quotes(struct str s)
{
    if (s.len == 0 || s.ptr[0] == '~' || s.ptr[0] == '#')
        return true;
    if (str_is(s, "[") || str_is(s, "[[") || str_is(s, "{}"))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!bare_char(s.ptr[i]))
            return true;
    return false;
}

static void
add_word(const struct perm_word *w, struct buf *out)
{
    if (!w->known || w->glob || !needs_quotes(w->text)) {
        buf_add_str(out, w->text);
        return;
    }
    buf_addc(out, '\'');
    for (size_t i = 0; i < w->text.len; i++) {
        if (w->text.ptr[i] == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, w->text.ptr[i]);
    }
    buf_addc(out, '\'');
}

void
perm_leaf_text(const struct perm_leaf *leaf, bool for_deny, struct buf *out)
{
    if (leaf->n_argv == 0)
        return;
    struct perm_word name = leaf->argv[0];
    bool trusted, plain;
    size_t next = 1;
    if (for_deny && name.known) {
        name.text = program_name(name.text, &trusted);
        if (str_is(name.text, "git"))
            next = git_subcommand(leaf->argv, leaf->n_argv, &plain);
        if (next == 0)
            next = 1;
    }
    add_word(&name, out);
    for (size_t i = next; i < leaf->n_argv; i++) {
        buf_addc(out, ' ');
        add_word(&leaf->argv[i], out);
    }
}
