/* Which variables may be set without asking. */
#include <string.h>

#include "perm/shell.h"

/* Known-safe in the environment of a program, with a literal value. */
static const char *const safe_names[] = {
    "NODE_ENV",
    "CI",
    "NO_COLOR",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "TZ",
    "TERM",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "PYTHONUNBUFFERED",
    "CGO_ENABLED",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LANGUAGE",
    "COLUMNS",
    "LINES",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "PYTHONDONTWRITEBYTECODE",
    "GOOS",
    "GOARCH",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "NO_UPDATE_NOTIFIER",
    "CARGO_TERM_COLOR",
    "RUST_TEST_THREADS",
    "GOMAXPROCS",
    "OMP_NUM_THREADS",
    "DEBIAN_FRONTEND",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "BLOCKSIZE",
    "GREP_COLORS",
    "LS_COLORS",
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "GH_PAGER",
    "GIT_EDITOR",
};

/* These name a program: safe only with one that does nothing. */
static const struct {
    const char *name, *values;
} tame[] = {
    {"PAGER", "cat "},    {"GIT_PAGER", "cat "},     {"MANPAGER", "cat "},
    {"GH_PAGER", "cat "}, {"GIT_EDITOR", "true : "},
};

/* Lower-case names that programs or the shell itself act on. */
static const char *const special_lower[] = {
    "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "auto_resume", "histchars",
};

/* Names that scripts give their own variables and nothing acts on. */
static const char *const script_names[] = {
    "VERSION",   "BRANCH",    "CURRENT_BRANCH",
    "FILE",      "FILES",     "DIR",
    "DIRS",      "COUNT",     "NAME",
    "TAG",       "SHA",       "COMMIT",
    "OUTPUT",    "OUT",       "RESULT",
    "RESULTS",   "STATUS",    "MSG",
    "MESSAGE",   "ROOT",      "SRC",
    "DEST",      "HASH",      "DATE",
    "NOW",       "TIMESTAMP", "TOTAL",
    "TITLE",     "BODY",      "PR",
    "PR_NUMBER", "ISSUE",     "ID",
    "N",         "I",         "F",
    "D",         "LINE",      "TEXT",
    "PATTERN",   "PKG",       "PACKAGE",
    "BASE",      "HEAD",      "CHANGED",
    "CHANGES",   "DIFF",      "RESPONSE",
    "EXIT_CODE", "RC",        "START",
    "END",       "ELAPSED",   "FOUND",
    "MISSING",   "REPO",      "BASE_SHA",
    "HEAD_SHA",  "LAST_TAG",  "LATEST_TAG",
    "FOO",       "BAR",       "BAZ",
    "URL",       "FILENAME",  "FILEPATH",
    "SIZE",      "SUM",       "NUM",
    "MIN",       "MAX",       "LEN",
    "INDEX",     "VALUE",     "VAR",
    "LIST",      "ITEM",      "ITEMS",
    "INPUT",     "LOGFILE",   "WORD",
};

bool
env_name_safe(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(safe_names); i++)
        if (str_is(name, safe_names[i]))
            return true;
    return false;
}

bool
env_plain_name(struct str name)
{
    if (!is_name(name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(script_names); i++)
        if (str_is(name, script_names[i]))
            return true;
    if (name.len == 1)
        return true;
    bool lower = false;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] >= 'A' && name.ptr[i] <= 'Z')
            return false;
        lower = lower || (name.ptr[i] >= 'a' && name.ptr[i] <= 'z');
    }
    for (size_t i = 0; i < ARRAY_LEN(special_lower); i++)
        if (str_is(name, special_lower[i]))
            return false;
    return lower || str_is(name, "_");
}

bool
env_value_safe(struct str name, const struct word *v)
{
    if (!v->w.known)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(tame); i++) {
        struct str rest = str_from(tame[i].values), word;
        bool ok = !str_is(name, tame[i].name);
        while (!ok && str_split(&rest, ' ', &word))
            ok = str_eq(word, v->w.text);
        if (!ok)
            return false;
    }
    /* TZ=:/file and locale names with a folder make the C library read a file. */
    bool file_like = str_is(name, "TZ") || str_is(name, "TERM") || str_starts(name, "LANG") ||
                     str_starts(name, "LC_");
    struct str s = v->w.text;
    for (size_t i = 0; i < s.len; i++) {
        if (file_like && i == 0 && (s.ptr[i] == '/' || s.ptr[i] == ':'))
            return false;
        if (file_like && s.ptr[i] == '.' && i + 1 < s.len && s.ptr[i + 1] == '.')
            return false;
        if (file_like && s.ptr[i] == '/' && !str_is(name, "TZ"))
            return false;
    }
    return true;
}
