#include "tools/bash_script.h"

#include <string.h>

#include "base/text.h"

void
bash_script(const char *cwd_file, struct buf *out)
{
    /* The trap is for a command that exits; the lines behind are for one that sets a trap of its own. eval keeps an unfinished
     * command from swallowing them, and the command's line numbers right. The file's name is in no variable: who sets one needs no
     * approval, and would have the folder's name written over any file. */
    buf_adds(out, BASH_SCRIPT_MARK);
    text_shell_quote(out, str_from(cwd_file));
    buf_adds(out, "; } 2>/dev/null\n"
                  "readonly -f __yare_note\n"
                  "trap __yare_note EXIT\n"
                  "__yare_command=$1\n"
                  "shift\n"
                  "eval \"$__yare_command\"\n"
                  "builtin set -- \"$?\"\n"
                  "__yare_note\n"
                  "builtin exit \"$1\"\n");
}

struct benign {
    const char *name, *meaning;
};
static const struct benign benign[] = {
    {"grep", "No matches found"},
    {"rg", "No matches found"},
    {"egrep", "No matches found"},
    {"fgrep", "No matches found"},
    {"find", "Some folders could not be read"},
    {"diff", "Files differ"},
    {"test", "The condition is false"},
    {"[", "The condition is false"},
    {"git diff", "Files differ"},
    {"git grep", "No matches found"},
};

/* Words of the last simple command: the text after the last unquoted separator. False when the text holds what this does not
 * follow. */
static bool
last_command(struct str s, struct str *ret)
{
    size_t start = 0, end = s.len;
    char quote = '\0';

    while (end && strchr(" \t\n;", s.ptr[end - 1]))
        end--;
    for (size_t i = 0; i < end; i++) {
        char c = s.ptr[i];
        if (c == '\\' && quote != '\'') {
            i++;
        } else if (quote) {
            if (c == quote)
                quote = '\0';
            else if (quote == '"' && (c == '`' || (c == '$' && i + 1 < end && s.ptr[i + 1] == '(')))
                return false;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '{' && i + 1 < end && s.ptr[i + 1] == '}') {
            i++; /* find's own */
        } else if (c == '!' &&
                   !(i > 0 && s.ptr[i - 1] == ' ' && i + 1 < end && s.ptr[i + 1] == '=')) {
            return false;
        } else if (strchr("`(){}#", c) || (c == '<' && i + 1 < end && s.ptr[i + 1] == '<')) {
            return false;
        } else if (c == '&' && i > 0 && (s.ptr[i - 1] == '>' || s.ptr[i - 1] == '<')) {
            continue; /* 2>&1 */
        } else if (c == '&' && i + 1 < end && s.ptr[i + 1] == '>') {
            i++; /* &> */
        } else if (strchr("|;&\n", c)) {
            start = i + 1;
        }
    }
    *ret = str_trim(str_sub(s, start, end - start));
    return quote == '\0';
}

static bool
next_word(struct str *rest, struct str *ret)
{
    size_t n = 0;

    *rest = str_trim(*rest);
    while (n < rest->len && !strchr(" \t\n", rest->ptr[n]))
        n++;
    *ret = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->len);
    return n > 0;
}

const char *
bash_benign_exit(struct str command)
{
    struct str rest, word, second;
    bool git = false;

    if (!last_command(command, &rest))
        return NULL;
    do {
        if (!next_word(&rest, &word))
            return NULL;
    } while (str_find(word, '=', 1) != (size_t)-1); /* X=1 grep ... */
    const char *slash = memrchr(word.ptr, '/', word.len);
    if (slash)
        word = str_sub(word, (size_t)(slash - word.ptr) + 1, word.len);
    git = str_is(word, "git") && next_word(&rest, &second);
    for (size_t i = 0; i < ARRAY_LEN(benign); i++) {
        const char *name = benign[i].name;
        if (str_is(word, name))
            return benign[i].meaning;
        if (git && strncmp(name, "git ", 4) == 0 && str_is(second, name + 4))
            return benign[i].meaning;
    }
    return NULL;
}
