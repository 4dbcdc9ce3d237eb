/*
 * A sed script, read command by command. Only commands that transform text are accepted; r gives a read, w a write to the
 * leaf; e and the e flag run programs and are refused, as is all that is not understood.
 */
#include <ctype.h>
#include <string.h>

#include "perm/shell.h"

struct sed {
    struct sh *sh;
    size_t leaf;
    struct str s;
    size_t i;
    bool writes;
};

static char
cur(const struct sed *p)
{
    return p->i < p->s.len ? p->s.ptr[p->i] : '\0';
}

static void
blanks(struct sed *p, bool ends)
{
    while (p->i < p->s.len &&
           (cur(p) == ' ' || cur(p) == '\t' || (ends && (cur(p) == '\n' || cur(p) == ';'))))
        p->i++;
}

/* A bracket expression of a regular expression at '[': some versions of sed end the whole at a delimiter inside, others do not,
 * so that one is refused. */
static bool
bracket(struct sed *p, char delim)
{
    p->i++;
    if (cur(p) == '^')
        p->i++;
    bool first = true;
    for (; p->i < p->s.len; p->i++, first = false) {
        if (cur(p) == delim || cur(p) == '\\' || cur(p) == '\n')
            return false;
        if (cur(p) == '[' && p->i + 1 < p->s.len && strchr(":.=", p->s.ptr[p->i + 1])) {
            char kind = p->s.ptr[p->i + 1];
            for (p->i += 2; p->i + 1 < p->s.len; p->i++)
                if (cur(p) == delim || (cur(p) == kind && p->s.ptr[p->i + 1] == ']'))
                    break;
            if (cur(p) != kind)
                return false;
            p->i++;
        } else if (cur(p) == ']' && !first) {
            return true;
        }
    }
    return false;
}

/* Past the next unescaped delimiter; in a regular expression one in brackets is none. */
static bool
past(struct sed *p, char delim, bool regex)
{
    for (; p->i < p->s.len; p->i++) {
        if (cur(p) == '\\') {
            p->i++;
        } else if (cur(p) == delim) {
            p->i++;
            return true;
        } else if (regex && cur(p) == '[' && !bracket(p, delim)) {
            return false;
        }
    }
    return false;
}

static bool
number(struct sed *p)
{
    size_t from = p->i;
    while (isdigit((unsigned char)cur(p)))
        p->i++;
    return p->i > from;
}

/* One address; *ret_any: there was one. */
static bool
address(struct sed *p, bool *ret_any)
{
    char c = cur(p);
    *ret_any = true;
    if (isdigit((unsigned char)c)) {
        number(p);
        blanks(p, false);
        if (cur(p) == '~') {
            p->i++;
            return number(p);
        }
        return true;
    }
    if (c == '$') {
        p->i++;
        return true;
    }
    if (c == '+' || c == '~') {
        p->i++;
        return number(p);
    }
    if (c == '/' || c == '\\') {
        p->i++;
        if (c == '\\') {
            c = cur(p);
            p->i++;
            if (c == '\n' || c == '\0' || c == '\\')
                return false;
        }
        if (!past(p, c, true))
            return false;
        while (cur(p) == 'I' || cur(p) == 'M')
            p->i++;
        return true;
    }
    *ret_any = false;
    return true;
}

static bool
addresses(struct sed *p)
{
    bool any;
    if (!address(p, &any))
        return false;
    blanks(p, false);
    if (any && cur(p) == ',') {
        p->i++;
        blanks(p, false);
        if (!address(p, &any) || !any)
            return false;
        blanks(p, false);
    }
    while (cur(p) == '!' || cur(p) == ' ')
        p->i++;
    return true;
}

static struct str
to_line_end(struct sed *p)
{
    blanks(p, false);
    size_t from = p->i;
    while (p->i < p->s.len && cur(p) != '\n')
        p->i++;
    return str_sub(p->s, from, p->i - from);
}

static bool
file_command(struct sed *p, bool write)
{
    struct str f = to_line_end(p);
    if (f.len == 0)
        return false;
    effect_text(p->sh, p->leaf, write ? EFFECT_WRITE : EFFECT_READ, f);
    p->writes = p->writes || write;
    return !write;
}

/* a, i, c: text to the end of the line, lines ending in a backslash go on. */
static bool
text_command(struct sed *p)
{
    while (p->i < p->s.len && cur(p) != '\n') {
        if (cur(p) == '\\') {
            p->i++;
            if (p->i >= p->s.len)
                return false; /* goes on in the next -e */
        }
        p->i++;
    }
    return true;
}

static bool
substitute(struct sed *p)
{
    char delim = cur(p);
    p->i++;
    if (delim == '\0' || delim == '\n' || delim == '\\' || !past(p, delim, true) ||
        !past(p, delim, false))
        return false;
    for (;; p->i++) {
        char c = cur(p);
        if (c == 'w') {
            p->i++;
            return file_command(p, true);
        }
        if (!c || !(strchr("gpiImM", c) || isdigit((unsigned char)c)))
            return true; /* what follows is checked as the end of the command */
    }
}

static bool
transliterate(struct sed *p)
{
    char delim = cur(p);
    p->i++;
    return delim && delim != '\n' && delim != '\\' && past(p, delim, false) &&
           past(p, delim, false);
}

/* After a command: a newline, a semicolon, a closing brace or the end. */
static bool
command_end(struct sed *p)
{
    blanks(p, false);
    char c = cur(p);
    return p->i >= p->s.len || c == '\n' || c == ';' || c == '}' || c == '#';
}

static bool
command(struct sed *p)
{
    char c = cur(p);
    p->i++;
    if (c == '{' || c == '}')
        return true;
    if (c && strchr("=dDgGhHnNpPxzF", c))
        return command_end(p);
    if (c == 'q' || c == 'Q' || c == 'l' || c == 'L') {
        blanks(p, false);
        number(p);
        return command_end(p);
    }
    if (c == ':' || c == 'b' || c == 't' || c == 'T') {
        blanks(p, false);
        while (isalnum((unsigned char)cur(p)) || cur(p) == '_' || cur(p) == '-')
            p->i++;
        if (c == ':' && cur(p) == '}')
            return false; /* a part of the label or not */
        return command_end(p);
    }
    if (c == 'a' || c == 'i' || c == 'c')
        return text_command(p);
    if (c == 's')
        return substitute(p) && command_end(p);
    if (c == 'y')
        return transliterate(p) && command_end(p);
    if (c == 'r' || c == 'R')
        return file_command(p, false);
    if (c == 'w' || c == 'W')
        return file_command(p, true);
    return false;
}

bool
script_sed_safe(struct sh *sh, size_t leaf, struct str script)
{
    struct sed p = {.sh = sh, .leaf = leaf, .s = script};
    if (str_starts(script, "#n\n"))
        p.i = 2;
    for (;;) {
        blanks(&p, true);
        if (p.i >= p.s.len)
            return !p.writes;
        if (cur(&p) == '#') {
            to_line_end(&p);
            continue;
        }
        if (!addresses(&p) || !command(&p))
            return false;
    }
}
