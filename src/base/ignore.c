#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

/* Most patterns are a plain name ("node_modules") or a suffix ("*.o"): those two are told apart when read, so that a walk
 * over many files compares bytes and seldom matches a pattern. */
enum rule_kind { RULE_NAME, RULE_SUFFIX, RULE_GLOB };

struct rule {
    char *pattern; /* without "!", leading and closing "/"; for a suffix without its star */
    size_t len;
    enum rule_kind kind;
    bool negated, dir_only, anchored;
};

struct ignore {
    struct ignore *parent;
    char *dir; /* "" or "src/" */
    size_t dir_len;
    struct rule *rules;
    size_t n, cap;
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
    for (size_t i = 0; i < ig->n; i++)
        free(ig->rules[i].pattern);
    free(ig->rules);
    free(ig->dir);
    free(ig);
}

static bool
has_wildcard(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("*?[\\", s.ptr[i]) && s.ptr[i])
            return true;
    return false;
}

/* Blanks at the end do not count unless escaped. */
static struct str
trim_line(struct str line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    while (line.len && line.ptr[line.len - 1] == ' ' &&
           !(line.len > 1 && line.ptr[line.len - 2] == '\\'))
        line.len--;
    return line;
}

static void
add_line(struct ignore *ig, struct str line)
{
    struct rule r = {.kind = RULE_GLOB};

    line = trim_line(line);
    if (!line.len || line.ptr[0] == '#')
        return;
    if (line.ptr[0] == '!') {
        r.negated = true;
        line = str_sub(line, 1, line.len);
    }
    if (line.len && line.ptr[line.len - 1] == '/') {
        r.dir_only = true;
        line.len--;
    }
    r.anchored = str_find(line, '/', 0) != (size_t)-1;
    if (line.len && line.ptr[0] == '/')
        line = str_sub(line, 1, line.len);
    if (!line.len)
        return;
    if (!r.anchored && !has_wildcard(line)) {
        r.kind = RULE_NAME;
    } else if (!r.anchored && line.len > 1 && line.ptr[0] == '*' &&
               !has_wildcard(str_sub(line, 1, line.len))) {
        r.kind = RULE_SUFFIX;
        line = str_sub(line, 1, line.len);
    }
    r.pattern = str_dup(line);
    r.len = line.len;
    ARRAY_GROW(ig->rules, ig->n, ig->cap);
    ig->rules[ig->n++] = r;
}

void
ignore_add_text(struct ignore *ig, struct str text)
{
    struct str line;

    if (text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0)
        text = str_sub(text, 3, text.len);
    while (str_split(&text, '\n', &line))
        add_line(ig, line);
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
    case RULE_GLOB:
        break;
    }
    return glob_match(str_make(r->pattern, r->len), r->anchored ? rel : base, 0);
}

bool
ignore_match(const struct ignore *ig, struct str path, bool is_dir)
{
    size_t slash = path.len;
    while (slash && path.ptr[slash - 1] != '/')
        slash--;
    struct str base = str_sub(path, slash, path.len);

    for (; ig; ig = ig->parent) {
        if (path.len <= ig->dir_len || memcmp(path.ptr, ig->dir, ig->dir_len) != 0)
            continue;
        struct str rel = str_sub(path, ig->dir_len, path.len);
        for (size_t i = ig->n; i-- > 0;)
            if (rule_matches(&ig->rules[i], rel, base, is_dir))
                return !ig->rules[i].negated;
    }
    return false;
}
