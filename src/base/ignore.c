#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

/* Most patterns are a plain name ("node_modules") or a suffix ("*.o"): those are told apart when read, so that a walk over many
 * files compares bytes and seldom matches a pattern. */
enum rule_kind { RULE_NAME, RULE_SUFFIX, RULE_NAME_GLOB, RULE_PATH };

struct rule {
    const char *pattern; /* without "!", leading and closing "/"; for a suffix without its star */
    size_t len, fixed;   /* fixed: bytes before the first wildcard, compared as they are */
    enum rule_kind kind;
    bool negated, dir_only;
};

struct ignore {
    struct ignore *parent;
    size_t dir_len; /* of "src/" */
    char *dir;
    struct rule *rules;
    size_t n, cap;
    char **texts; /* what the rules point into */
    size_t n_texts, cap_texts;
};

struct ignore *
ignore_new(struct ignore *parent, const char *dir_rel)
{
    struct ignore *ig = xcalloc(1, sizeof *ig);

    ig->parent = parent;
    ig->dir = *dir_rel ? xasprintf("%s/", dir_rel) : xstrdup("");
    ig->dir_len = strlen(ig->dir);
    return ig;
}

void
ignore_free(struct ignore *ig)
{
    if (!ig)
        return;
    for (size_t i = 0; i < ig->n_texts; i++)
        free(ig->texts[i]);
    free(ig->texts);
    free(ig->rules);
    free(ig->dir);
    free(ig);
}

static size_t
fixed_part(struct str s)
{
    size_t i = 0;

    while (i < s.len && !memchr("*?[\\", s.ptr[i], 4))
        i++;
    return i;
}

/* A line ends at its NUL, or at a carriage return before the newline; blanks at the end do not count unless escaped. */
static struct str
trim_line(struct str line)
{
    const char *nul = line.len ? memchr(line.ptr, '\0', line.len) : NULL;
    size_t keep = 0;

    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (nul && (size_t)(nul - line.ptr) < line.len)
        line.len = (size_t)(nul - line.ptr);
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '\\')
            i++;
        else if (line.ptr[i] == ' ')
            continue;
        keep = i + 1;
    }
    return str_sub(line, 0, keep);
}

static enum rule_kind
kind_of(struct str *line)
{
    if (str_find(*line, '/', 0) != (size_t)-1) {
        if (line->ptr[0] == '/')
            *line = str_sub(*line, 1, line->len);
        return RULE_PATH;
    }
    if (fixed_part(*line) == line->len)
        return RULE_NAME;
    struct str rest = str_sub(*line, 1, line->len);
    if (line->ptr[0] != '*' || fixed_part(rest) < rest.len)
        return RULE_NAME_GLOB;
    *line = rest;
    return RULE_SUFFIX;
}

static void
add_line(struct ignore *ig, struct str line)
{
    struct rule r = {.negated = false};

    if (line.len && line.ptr[0] == '#')
        return;
    line = trim_line(line);
    if (line.len && line.ptr[0] == '!') {
        r.negated = true;
        line = str_sub(line, 1, line.len);
    }
    if (line.len && line.ptr[line.len - 1] == '/') {
        r.dir_only = true;
        line.len--;
    }
    if (!line.len)
        return;
    r.kind = kind_of(&line);
    r.pattern = line.ptr;
    r.len = line.len;
    r.fixed = fixed_part(line);
    ARRAY_GROW(ig->rules, ig->n, ig->cap);
    ig->rules[ig->n++] = r;
}

void
ignore_add_text(struct ignore *ig, struct str text)
{
    struct str line;

    if (text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0)
        text = str_sub(text, 3, text.len);
    if (!text.len)
        return;
    ARRAY_GROW(ig->texts, ig->n_texts, ig->cap_texts);
    text.ptr = ig->texts[ig->n_texts++] = str_dup(text);
    while (str_split(&text, '\n', &line))
        add_line(ig, line);
}

static bool
is_literal(const struct rule *r, struct str rel)
{
    return r->fixed == r->len && rel.len == r->len;
}

static bool
rule_matches(const struct rule *r, struct str rel, struct str base, bool is_dir)
{
    if (r->dir_only && !is_dir)
        return false;
    switch (r->kind) {
    case RULE_NAME:
        return base.len == r->len && memcmp(base.ptr, r->pattern, r->len) == 0;
    case RULE_SUFFIX:
        return base.len >= r->len && memcmp(base.ptr + base.len - r->len, r->pattern, r->len) == 0;
    case RULE_NAME_GLOB:
        return wildmatch(str_make(r->pattern, r->len), base, false);
    case RULE_PATH:
        break;
    }
    if (rel.len < r->fixed || memcmp(rel.ptr, r->pattern, r->fixed) != 0)
        return false;
    /* The rest stands alone: git, too, takes "a/b**" + "/c" for "a/b" and then "**" + "/c". */
    return is_literal(r, rel) || wildmatch(str_make(r->pattern + r->fixed, r->len - r->fixed),
                                           str_sub(rel, r->fixed, rel.len), true);
}

enum ignore_verdict
ignore_check(const struct ignore *ig, struct str path, bool is_dir)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    struct str base = slash ? str_sub(path, (size_t)(slash - path.ptr) + 1, path.len) : path;

    for (; ig; ig = ig->parent) {
        if (!ig->n || path.len <= ig->dir_len || memcmp(path.ptr, ig->dir, ig->dir_len) != 0)
            continue;
        struct str rel = str_sub(path, ig->dir_len, path.len);
        for (size_t i = ig->n; i-- > 0;)
            if (rule_matches(&ig->rules[i], rel, base, is_dir))
                return ig->rules[i].negated ? IGNORE_KEEP : IGNORE_SKIP;
    }
    return IGNORE_NONE;
}

bool
ignore_match(const struct ignore *ig, struct str path, bool is_dir)
{
    return ignore_check(ig, path, is_dir) == IGNORE_SKIP;
}
