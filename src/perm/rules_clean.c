/* A rule's path: what is doubtful about it, and for deny and ask without the parts that say nothing and would keep it from ever
 * counting. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perm/rules_reading.h"

enum { PARTS_MAX = 256 };

/* What anchors the path: "//", "~/", "/", "./" or nothing. */
static struct str
anchor_of(struct str s)
{
    static const char *const anchors[] = {"//", "~/", "/", "./"};
    for (size_t i = 0; i < ARRAY_LEN(anchors); i++)
        if (str_starts(s, anchors[i]))
            return str_sub(s, 0, strlen(anchors[i]));
    return (struct str){0};
}

/* "a/.." says nothing, where a is no pattern. */
static bool
goes_back(const struct str *parts, size_t n)
{
    return n > 0 && !str_is(parts[n - 1], "..") && !memchr(parts[n - 1].ptr, '*', parts[n - 1].len);
}

/* "x/" is x as well, which need not be a folder; of a pattern only the folders are meant. */
static bool
is_name(struct str part)
{
    for (size_t i = 0; i < part.len; i++)
        if (strchr("*?[", part.ptr[i]))
            return false;
    return !str_is(part, "..");
}

static size_t
split_parts(struct str rest, struct str parts[PARTS_MAX], bool *ret_folder, bool *ret_back)
{
    struct str part;
    size_t n = 0;
    *ret_folder = true;
    while (n < PARTS_MAX && str_split(&rest, '/', &part)) {
        bool nothing = !part.len || str_is(part, "."), up = str_is(part, "..");
        *ret_folder = nothing || up;
        if (nothing)
            continue;
        if (up && goes_back(parts, n)) {
            *ret_back = true;
            n--;
            continue;
        }
        parts[n++] = part;
    }
    return n;
}

/* Yours. */
static char *
clean_path(struct str body)
{
    struct str parts[PARTS_MAX], s = str_trim(body), anchor = anchor_of(s);
    struct buf out;
    bool folder, back = false;
    /* braces and escapes may hold a slash of their own */
    if (!s.len || memchr(s.ptr, '{', s.len) || memchr(s.ptr, '\\', s.len))
        return str_dup(s);
    size_t n = split_parts(str_sub(s, anchor.len, s.len), parts, &folder, &back);
    if (n == PARTS_MAX)
        return str_dup(s);
    buf_init(&out, RULE_LEN_MAX + 4);
    buf_add_str(&out, anchor);
    if (!anchor.len && (back || !n))
        buf_adds(&out, "./");
    for (size_t i = 0; i < n; i++) {
        buf_add_str(&out, parts[i]);
        if (i + 1 < n || (folder && !is_name(parts[i])))
            buf_addc(&out, '/');
    }
    return buf_take(&out);
}

static const char *
path_doubt(struct str s)
{
    static const char *const system[] = {"etc", "usr", "home", "root", "proc", "sys",
                                         "dev", "opt", "boot", "run",  "Users"};
    if (s.len > 1 && s.ptr[0] == '~' && s.ptr[1] != '/')
        return "names no home folder: '~name' is not looked up, write it from the root as "
               "//home/...";
    if (str_starts(s, "//") || s.ptr[0] != '/')
        return NULL;
    struct str first = str_sub(s, 1, s.len);
    size_t end = str_find(first, '/', 0);
    first = str_sub(first, 0, end == (size_t)-1 ? first.len : end);
    for (size_t i = 0; i < ARRAY_LEN(system); i++)
        if (str_is(first, system[i]))
            return "speaks of a folder of the project: a path of the whole system begins with //";
    return NULL;
}

static void
ask_for_path(struct reading *x, struct str part)
{
    const char *tool = perm_rules_path_tool(x->r->tool);
    part = str_trim(part);
    if (!part.len || !tool || x->rs->n >= RULES_MAX)
        return;
    struct perm_rule r = {.verdict = VERDICT_ASK,
                          .broken = true,
                          .scope = x->r->scope,
                          .claude = x->r->claude,
                          .line = x->r->line,
                          .text = xstrdup(x->r->text),
                          .tool = xstrdup(tool),
                          .body = clean_path(part),
                          .file = xstrdup(x->r->file)};
    ARRAY_GROW(x->rs->rules, x->rs->n, x->rs->cap);
    x->rs->rules[x->rs->n++] = r;
}

/* "src, gen": one rule names one path. Those that were meant ask until it is mended. */
static void
ask_for_list(struct reading *x)
{
    struct str rest = x->body, part;
    if (!memmem(rest.ptr, rest.len, ", ", 2) || memchr(rest.ptr, '{', rest.len))
        return;
    reading_unread(x,
                   "IS NOT IN FORCE as written, its paths ask until it is mended: write one rule "
                   "for each");
    while (str_split(&rest, ',', &part))
        ask_for_path(x, part);
}

void
reading_path(struct reading *x)
{
    if (reading_strict(x))
        ask_for_list(x);
    const char *doubt = path_doubt(x->body);
    if (doubt)
        reading_say(x, "%s", doubt);
    char *clean = reading_strict(x) ? clean_path(x->body) : NULL;
    if (clean && *clean && !str_is(x->body, clean)) {
        size_t n = strlen(clean);
        if (!(x->body.len == n + 1 && str_ends(x->body, "/") && str_starts(x->body, clean)))
            reading_say(x, "is read as %s(%s)", x->r->tool, clean);
        x->owned = clean;
        x->body = str_from(clean);
    } else {
        free(clean);
    }
}
