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
code_only(struct sh *sh, struct str program)
{
    char *out = arena_dup(sh->a, program.ptr, program.len), before = '{';
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
    return str_make(out, program.len);
}

bool
script_awk_safe(struct sh *sh, struct str program)
{
    static const char *const words[] = {"system",    "getline", "ENVIRON",   "PROCINFO", "ARGV",
                                        "ARGIND",    "ARGC",    "SYMTAB",    "FUNCTAB",  "include",
                                        "namespace", "load",    "extension", "close",    "fflush"};
    program = code_only(sh, program);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (word_at(program, words[i]) != SIZE_MAX)
            return false;
    /* '>' redirects in print and printf alone: before the first of them it compares. */
    size_t prints = word_at(program, "print");
    for (size_t i = 0; i < program.len; i++) {
        char c = program.ptr[i], next = i + 1 < program.len ? program.ptr[i + 1] : '\0';
        if (c == '@' || (c == '\\' && (next == '\n' || next == '\0')))
            return false; /* indirect calls; a continued line could split a word */
        if (c == '>' && next != '=' && i > prints)
            return false;
        if (c == '|') {
            if (next != '|' || (i + 2 < program.len && program.ptr[i + 2] == '|'))
                return false;
            i++;
        }
    }
    return true;
}
