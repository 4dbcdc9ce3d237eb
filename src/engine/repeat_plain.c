/* What two commands have in common that differ only in how they are laid out and remarked on. */
#include <string.h>

#include "engine/repeat.h"

struct plain {
    struct str s;
    size_t at;
    char gap;     /* to be written before the next word: 0, ' ' or '\n' */
    bool in_word; /* a number sign here would be part of one */
    struct buf *ret;
};

static bool
sees(const struct plain *p, const char *what)
{
    return str_starts(str_sub(p->s, p->at, SIZE_MAX), what);
}

static void
add(struct plain *p, size_t n)
{
    if (p->gap && p->ret->len)
        buf_addc(p->ret, p->gap);
    p->gap = 0;
    p->in_word = n != 1 || !strchr(";&|()<>", p->s.ptr[p->at]);
    buf_add_str(p->ret, str_sub(p->s, p->at, n));
    p->at += n < p->s.len - p->at ? n : p->s.len - p->at;
}

/* How long what begins here with a quote is; 0: a substitution stands in it. What is open goes to the end. */
static size_t
quoted(const struct plain *p)
{
    bool dollar = sees(p, "$'");
    size_t i = p->at + dollar;
    char q = p->s.ptr[i++];
    for (; i < p->s.len && p->s.ptr[i] != q; i++) {
        char next = i + 1 < p->s.len ? p->s.ptr[i + 1] : 0;
        if (q == '"' && (p->s.ptr[i] == '`' || (p->s.ptr[i] == '$' && next == '(')))
            return 0;
        if (p->s.ptr[i] == '\\' && (q == '"' || dollar))
            i++;
    }
    return i + 1 - p->at;
}

/* The length of a ${name}; 0: there is more to it. */
static size_t
parameter(const struct plain *p)
{
    size_t i = p->at + 2;
    while (i < p->s.len && p->s.ptr[i] != '}' && !strchr(" \t\n#'\"`$\\", p->s.ptr[i]))
        i++;
    return i < p->s.len && p->s.ptr[i] == '}' ? i + 1 - p->at : 0;
}

/* The length of what stands here as one; 0: from here on nothing is plain. */
static size_t
length_here(const struct plain *p)
{
    char c = p->s.ptr[p->at];
    if (c == '\\')
        return 2;
    if (c == '\'' || c == '"' || sees(p, "$'"))
        return quoted(p);
    if (sees(p, "${"))
        return parameter(p);
    if (sees(p, "<<<"))
        return 3;
    return sees(p, "<<") ? 0 : 1;
}

void
repeat_plain(struct str command, struct buf *ret)
{
    struct plain p = {.s = command, .ret = ret};
    while (p.at < command.len) {
        char c = command.ptr[p.at];
        if (c == ' ' || c == '\t' || c == '\n') {
            p.gap = p.gap == '\n' || c == '\n' ? '\n' : ' ';
            p.at++;
        } else if (sees(&p, "\\\n")) {
            p.at += 2;
        } else if (c == '#' && (p.gap || !p.in_word)) {
            while (p.at < command.len && command.ptr[p.at] != '\n')
                p.at++;
        } else {
            size_t n = length_here(&p);
            add(&p, n ? n : SIZE_MAX);
        }
    }
}
