/*
 * An awk program that provably only reads its input: no character or word in it that could redirect, pipe, run, load or reach the
 * environment. Strings are not told apart from code: strict, but a regular expression cannot hide a quote then.
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

bool
script_awk_safe(struct str program)
{
    static const char *const words[] = {"system",    "getline", "ENVIRON",   "PROCINFO", "ARGV",
                                        "ARGIND",    "ARGC",    "SYMTAB",    "FUNCTAB",  "include",
                                        "namespace", "load",    "extension", "close",    "fflush"};
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
