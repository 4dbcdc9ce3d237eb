/* Far from a parser of awk: it tells strings, regular expressions and comments from the rest, and looks for what reaches out in that. */
#include <ctype.h>
#include <string.h>

#include "perm/cover_words.h"

struct awk {
    struct str s;
    size_t at;
    char
        before; /* the last character that is no blank; 'a' for a name, '0' for a number, 'k' for a keyword before an expression */
    bool printing; /* since "print", at that depth of parentheses: '>' names a file */
    int depth, at_depth;
    bool getting; /* since "getline": so does '<' */
    bool reaches;
};

static char
peek(const struct awk *a, size_t by)
{
    return a->at + by < a->s.len ? a->s.ptr[a->at + by] : '\0';
}

/* What is left, taken as it stands. */
static bool
rest_may_reach(const struct awk *a)
{
    struct str rest = str_sub(a->s, a->at, a->s.len);
    return memchr(rest.ptr, '|', rest.len) || memchr(rest.ptr, '@', rest.len) ||
           str_contains(rest, STR("system")) || str_contains(rest, STR("getline")) ||
           (str_contains(rest, STR("print")) && memchr(rest.ptr, '>', rest.len));
}

/* Over a string; *ret is its inside. False: it has no end. */
static bool
take_string(struct awk *a, struct str *ret)
{
    size_t from = ++a->at;
    while (a->at < a->s.len && a->s.ptr[a->at] != '"' && a->s.ptr[a->at] != '\n')
        a->at += peek(a, 0) == '\\' && a->at + 1 < a->s.len ? 2 : 1;
    if (peek(a, 0) != '"')
        return false;
    *ret = str_sub(a->s, from, a->at - from);
    a->at++;
    a->before = '"';
    return true;
}

static bool
take_regex(struct awk *a)
{
    bool bracket = false;
    for (a->at++; a->at < a->s.len && a->s.ptr[a->at] != '\n'; a->at++) {
        char c = a->s.ptr[a->at];
        if (c == '\\')
            a->at++;
        else if (c == '[')
            bracket = true; /* "[/]": awks differ in whether that ends it */
        else if (c == '/' && bracket)
            return false;
        else if (c == ']')
            bracket = false;
        else if (c == '/') {
            a->at++;
            a->before = '"';
            return true;
        }
    }
    return false;
}

static void
take_name(struct awk *a)
{
    static const char *const keywords[] = {"return", "else", "do", "in"};
    size_t from = a->at;
    while (isalnum((unsigned char)peek(a, 0)) || peek(a, 0) == '_')
        a->at++;
    struct str name = str_sub(a->s, from, a->at - from);
    a->before = 'a';
    if (str_is(name, "system"))
        a->reaches = true;
    if (str_is(name, "getline"))
        a->getting = true;
    if (str_is(name, "print") || str_is(name, "printf")) {
        a->printing = true;
        a->at_depth = a->depth;
        a->before = 'k';
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (str_is(name, keywords[i]))
            a->before = 'k';
}

/* A literal that names a file below this folder and nothing protected, and nothing that would go on with the name. */
static bool
is_plain_target(struct awk *a)
{
    struct str name, part;
    while (strchr(" \t>", peek(a, 0)) && a->at < a->s.len)
        a->at++;
    if (peek(a, 0) != '"' || !take_string(a, &name))
        return false;
    while (a->at < a->s.len && strchr(" \t", peek(a, 0)))
        a->at++;
    if (a->at < a->s.len && !strchr(";}\n#", peek(a, 0)))
        return false;
    if (str_is(name, "/dev/stderr") || str_is(name, "/dev/stdout"))
        return true;
    struct str rest = name;
    while (str_split(&rest, '/', &part))
        if (!part.len || !(isalnum((unsigned char)part.ptr[0]) || part.ptr[0] == '_'))
            return false;
    for (size_t i = 0; i < name.len; i++)
        if (!isalnum((unsigned char)name.ptr[i]) && !strchr("_-./", name.ptr[i]))
            return false;
    return name.len > 0;
}

static void
take_slash(struct awk *a)
{
    bool divides = a->before == '0' || a->before == ']';
    bool begins = a->before == 'k' || a->before == '\0' || strchr("(,~!&|{;\n=<>?:%*", a->before);
    if (divides)
        a->at++;
    else if (!begins || !take_regex(a)) {
        a->reaches = rest_may_reach(a);
        a->at = a->s.len;
    }
    if (divides)
        a->before = '/';
}

static void
take_sign(struct awk *a)
{
    char c = peek(a, 0);
    bool twice = peek(a, 1) == c;
    if (c == '@' || (c == '|' && !twice) || (c == '<' && a->getting))
        a->reaches = true;
    if (c == '>' && a->printing && a->depth == a->at_depth) {
        a->at++;
        a->reaches = a->reaches || !is_plain_target(a);
        a->printing = false;
        return;
    }
    a->depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (strchr(";}\n{", c))
        a->printing = a->getting = false;
    if (c == ')')
        a->getting = false;
    if (c != ' ' && c != '\t')
        a->before = c == '+' || c == '-' ? (twice ? ')' : '=') : c;
    a->at += twice && strchr("|&+-", c) ? 2 : 1;
}

bool
awk_word_reaches(struct str s)
{
    struct awk a = {.s = s};
    struct str skipped;
    while (a.at < a.s.len && !a.reaches) {
        char c = peek(&a, 0);
        if (c == '"') {
            if (!take_string(&a, &skipped))
                return rest_may_reach(&(struct awk){.s = s});
        } else if (c == '/') {
            take_slash(&a);
        } else if (c == '#') {
            while (a.at < a.s.len && peek(&a, 0) != '\n')
                a.at++;
        } else if (c == '\\') {
            a.at += 2; /* a line that goes on */
        } else if (isdigit((unsigned char)c)) {
            while (isalnum((unsigned char)peek(&a, 0)) || peek(&a, 0) == '.')
                a.at++;
            a.before = '0';
        } else if (isalpha((unsigned char)c) || c == '_') {
            take_name(&a);
        } else {
            take_sign(&a);
        }
    }
    return a.reaches;
}
