/* What the clients of databases do beside asking the database. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "perm/cover_words.h"

/* "select 1" of "--command=select 1", "-cselect 1" and "select 1". */
static struct str
text_of(struct str s)
{
    size_t eq = str_find(s, '=', 0);
    if (str_starts(s, "--"))
        return eq == (size_t)-1 ? STR("") : str_sub(s, eq + 1, s.len);
    return s.len > 2 && s.ptr[0] == '-' && strchr("ce", s.ptr[1]) ? str_sub(s, 2, s.len) : s;
}

static struct str
first_word(struct str s)
{
    size_t n = 0;
    while (n < s.len && !isspace((unsigned char)s.ptr[n]))
        n++;
    return str_sub(s, 0, n);
}

static bool
is_listed(struct str word, const char *list)
{
    struct str rest = str_from(list), one;
    while (str_split(&rest, ' ', &one))
        if (text_equal_fold(word, one))
            return true;
    return false;
}

static bool
has_both(struct str s, const char *a, const char *b)
{
    return text_has_fold(s, str_from(a)) && text_has_fold(s, str_from(b));
}

/* "\dt+" looks; "\o", "\g", "\copy", "\i" and most others reach out, and so does a name in back quotes or behind a bar. */
static bool
backslash_looks(struct str line)
{
    struct str word = first_word(line);
    if (memchr(line.ptr, '`', line.len) || memchr(line.ptr, '|', line.len))
        return false;
    return str_starts(word, "\\d") ||
           is_listed(word, "\\l \\l+ \\list \\z \\conninfo \\x \\timing \\encoding \\h \\? \\a \\t "
                           "\\sf \\sv \\q \\c \\connect \\pset \\f");
}

bool
sql_word_reaches(struct str s)
{
    struct str rest = str_trim(text_of(s)), line;
    if (str_starts(rest, "\\") && !backslash_looks(rest))
        return true;
    if (str_contains(rest, STR("\\!")) || has_both(rest, "copy", "program") ||
        has_both(rest, "into", "outfile") || has_both(rest, "into", "dumpfile"))
        return true;
    /* mysql takes its own commands at the beginning of a statement */
    for (size_t i = 0, from = 0; i <= rest.len; i++) {
        if (i < rest.len && rest.ptr[i] != ';' && rest.ptr[i] != '\n')
            continue;
        line = str_trim(str_sub(rest, from, i - from));
        from = i + 1;
        if (is_listed(first_word(line), "system tee pager source edit \\t \\p \\. \\e") &&
            first_word(line).len < line.len)
            return true;
    }
    return false;
}

/* Names of its commands may be cut short; those that are known to look only are few. ".cache.db" is a file. */
static bool
is_dot_command(struct str s)
{
    struct str word = first_word(s);
    bool name = word.len > 1 && word.ptr[0] == '.';
    for (size_t i = 1; i < word.len && name; i++)
        name = isalnum((unsigned char)word.ptr[i]);
    return name &&
           !is_listed(word, ".tables .schema .mode .headers .header .dump .indexes .indices "
                            ".databases .width .help .show .timer .nullvalue .separator "
                            ".explain .stats .fullschema .bail .changes .echo .print .quit "
                            ".exit .eqp .limit .lint .dbinfo .version .timeout .columns "
                            ".describe .maxrows");
}

bool
sqlite_word_reaches(struct str s)
{
    static const char *const functions[] = {"writefile", "readfile", "load_extension",
                                            "edit(",     "attach ",  "attach\t",
                                            "attach\n",  "attach'",  "attach\""};
    struct str rest = s, line;
    while (str_split(&rest, '\n', &line))
        if (is_dot_command(str_trim(line)))
            return true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (text_has_fold(s, str_from(functions[i])))
            return true;
    return has_both(s, "vacuum", "into");
}
