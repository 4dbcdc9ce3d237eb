/*
 * An awk program that provably only reads its input: no character or word in it that could redirect, pipe, run, load or reach the
 * environment. Strings and regular expressions are told apart from code only where that is certain.
 */
#include <ctype.h>
#include <string.h>

#include "perm/shell.h"

/* Where the word stands first, SIZE_MAX: nowhere. */
static size_t
word_at(struct str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.len; i++)
        if (memcmp(s.ptr + i, word, n) == 0)
            return i;
    return SIZE_MAX;
}

/* The program with what stands in its strings and regular expressions blanked out. Where a slash may divide or a
 * quote stands in a regular expression it is left as it is: then all of it counts as code. */
static struct str
code_only(struct sh *sh, struct str program, bool *ret_plain)
{
    char *out = arena_dup(sh->a, program.ptr, program.len), before = '{';
    *ret_plain = false;
    for (size_t i = 0; i < program.len; i++) {
        char c = program.ptr[i];
        bool regex = c == '/' && strchr("{(,;!~&|\n", before);
        if (c == '#' || (c == '/' && !regex))
            return program;
        if (c == '"' || regex) {
            size_t to = i + 1;
            while (to < program.len && program.ptr[to] != c) {
                if (program.ptr[to] == '\n' || (regex && strchr("\"[", program.ptr[to])))
                    return program;
                to += program.ptr[to] == '\\' ? 2 : 1;
            }
            if (to >= program.len)
                return program;
            memset(out + i + 1, ' ', to - i - 1);
            i = to;
        }
        if (c != ' ' && c != '\t')
            before = c == '/' && regex ? 'x' : c;
    }
    *ret_plain = true;
    return str_make(out, program.len);
}

static bool
word_here(struct str s, size_t i, const char *word)
{
    size_t n = strlen(word);
    return i + n <= s.len && memcmp(s.ptr + i, word, n) == 0;
}

/*
 * '>' redirects in print and printf alone, and there only outside of parentheses: within them, and in what comes before the first
 * print or after the ';' or brace that ends one, it compares. A newline is no such end, for a print goes on behind a comma. Only
 * for code whose strings and regular expressions are blanked out: a parenthesis there would count.
 */
static bool
redirects(struct str code)
{
    bool prints = false;
    size_t depth = 0;
    for (size_t i = 0; i < code.len; i++) {
        char c = code.ptr[i], next = i + 1 < code.len ? code.ptr[i + 1] : '\0';
        if (word_here(code, i, "print"))
            prints = true;
        depth += c == '(';
        if (c == ')' && depth-- == 0)
            return true;
        if (depth == 0 && (c == ';' || c == '{' || c == '}'))
            prints = false;
        if (c == '>' && next != '=' && prints && depth == 0)
            return true;
    }
    return depth != 0;
}

/* The same where not all of it is known to be code. */
static bool
may_redirect(struct str program)
{
    size_t prints = word_at(program, "print");
    for (size_t i = 0; i < program.len; i++)
        if (program.ptr[i] == '>' && i > prints &&
            (i + 1 == program.len || program.ptr[i + 1] != '='))
            return true;
    return false;
}

bool
script_awk_safe(struct sh *sh, struct str program)
{
    static const char *const words[] = {"system",    "getline", "ENVIRON",   "PROCINFO", "ARGV",
                                        "ARGIND",    "ARGC",    "SYMTAB",    "FUNCTAB",  "include",
                                        "namespace", "load",    "extension", "close",    "fflush"};
    bool plain;
    program = code_only(sh, program, &plain);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (word_at(program, words[i]) != SIZE_MAX)
            return false;
    if (plain ? redirects(program) : may_redirect(program))
        return false;
    for (size_t i = 0; i < program.len; i++) {
        char c = program.ptr[i], next = i + 1 < program.len ? program.ptr[i + 1] : '\0';
        if (c == '@' || (c == '\\' && (next == '\n' || next == '\0')))
            return false; /* indirect calls; a continued line could split a word */
        if (c == '|') {
            if (next != '|' || (i + 2 < program.len && program.ptr[i + 2] == '|'))
                return false;
            i++;
        }
    }
    return true;
}
