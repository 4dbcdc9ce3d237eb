#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/text_form.h"
#include "perm/looks.h"
#include "perm/overlap.h"
#include "perm/rules_match.h"

enum { PATTERN_MAX = 16384 };

/* A rule's body against one set of anchors. */
struct pattern {
    struct buf glob; /* without the leading '/' */
    bool anywhere;   /* deny and ask: at any depth, also outside the working folder */
    unsigned flags;
};

/* A folder's name is no pattern. */
static void
add_folder(struct buf *out, const char *dir)
{
    for (const char *p = dir; *p; p++) {
        if (strchr("*?[]\\{}", *p))
            buf_addc(out, '\\');
        buf_addc(out, *p);
    }
}

static void
anchored(struct pattern *p, const char *dir, struct str rest)
{
    char *clean = fs_normalize("/", dir ? dir : "/");
    /* "../x" climbs from the anchor. */
    while (str_starts(rest, "../") || str_starts(rest, "./")) {
        if (rest.ptr[1] == '.') {
            char *up = fs_dirname(clean);
            free(clean);
            clean = up;
        }
        rest = str_sub(rest, rest.ptr[1] == '.' ? 3 : 2, rest.len);
    }
    if (strcmp(clean, "/") != 0) {
        add_folder(&p->glob, clean + 1);
        buf_addc(&p->glob, '/');
    }
    buf_add_str(&p->glob, rest);
    free(clean);
}

/* One folder name and then "everything below". */
static bool
single_folder_tree(struct str s)
{
    size_t slash = str_find(s, '/', 0);
    return slash != (size_t)-1 && slash > 0 && str_is(str_sub(s, slash + 1, s.len), "**") &&
           !str_is(str_sub(s, 0, slash), "**") && !str_is(str_sub(s, 0, slash), "..") &&
           !str_is(str_sub(s, 0, slash), ".") && s.ptr[0] != '~';
}

/* "/x" of a file: the project, the settings folder of the user's .claude file, the folder of a --settings file. */
static char *
slash_anchor(const struct perm_rule *r, const struct perm_anchor *an)
{
    if (r->claude && r->scope == SCOPE_USER && an->config_home)
        return xstrdup(an->config_home);
    if (r->scope == SCOPE_CLI && r->file && r->file[0] == '/')
        return fs_dirname(r->file);
    return xstrdup(an->root ? an->root : "/");
}

/* A path that is anchored nowhere else: at the folder the session began in. */
static bool
is_relative(const struct perm_rule *r)
{
    struct str s = str_from(r->body);
    bool anywhere = str_find(s, '/', 0) == (size_t)-1 || str_starts(s, "**/") ||
                    (r->verdict != VERDICT_ALLOW && single_folder_tree(s));
    return !anywhere && s.len && s.ptr[0] != '/' && !str_starts(s, "~/");
}

/* "/home/me/x" in deny and ask: who writes out the home or the project's own folder means the path of the system. */
static bool
is_whole_path(struct str s, const struct perm_anchor *an)
{
    const char *const dirs[] = {an->root, an->home};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        size_t n = dirs[i] ? strlen(dirs[i]) : 0;
        if (n > 1 && str_starts(s, dirs[i]) && (s.len == n || s.ptr[n] == '/'))
            return true;
    }
    return false;
}

/* base: where relative paths start. */
static void
pattern_init(struct pattern *p, const struct perm_rule *r, const struct perm_anchor *an,
             const char *base)
{
    bool strict = r->verdict != VERDICT_ALLOW;
    struct buf body;
    *p = (struct pattern){.flags = an->fold_case ? GLOB_FOLD_CASE : 0};
    buf_init(&p->glob, PATTERN_MAX);
    buf_init(&body, PATTERN_MAX);
    buf_adds(&body, r->body);
    if (body.len && body.data[body.len - 1] == '/') /* "dir/" is what lies in it */
        buf_adds(&body, "**");
    struct str s = buf_str(&body);
    if (strchr(r->body, '{'))
        p->flags |= GLOB_BRACES;

    if (str_starts(s, "//")) {
        buf_add_str(&p->glob, str_sub(s, 2, s.len));
    } else if (str_starts(s, "~/") || str_is(s, "~")) {
        anchored(p, an->home, str_sub(s, 2, s.len));
    } else if (strict && is_whole_path(s, an)) {
        buf_add_str(&p->glob, str_sub(s, 1, s.len));
    } else if (s.ptr[0] == '/') {
        char *dir = slash_anchor(r, an);
        anchored(p, dir, str_sub(s, 1, s.len));
        free(dir);
    } else if (str_find(s, '/', 0) == (size_t)-1 || str_starts(s, "**/") ||
               (strict && single_folder_tree(s))) {
        p->anywhere = strict;
        if (!strict)
            anchored(p, base, (struct str){0});
        if (!str_starts(s, "**/"))
            buf_adds(&p->glob, "**/");
        buf_add_str(&p->glob, s);
    } else {
        anchored(p, base, s);
    }
    buf_release(&body);
}

/* Where relative paths of a rule start: the folder the session began in. A deny or ask rule also holds where the shell stands by now. */
static size_t
bases(const struct perm_rule *r, const struct perm_anchor *an, const char *ret[2])
{
    ret[0] = an->start ? an->start : an->cwd;
    ret[1] = an->cwd;
    bool both = r->verdict != VERDICT_ALLOW && an->start && an->cwd &&
                strcmp(an->start, an->cwd) != 0 && is_relative(r);
    return both ? 2 : 1;
}

static const char *
below(const char *path, const char *dir)
{
    size_t n = dir ? strlen(dir) : 0;
    while (n > 1 && dir[n - 1] == '/')
        n--;
    if (!n || n == 1 || strncmp(path, dir, n) != 0 || path[n] != '/')
        return NULL;
    return path + n;
}

/* Patterns for any depth do not look at the folders that hold the project itself. */
static const char *
relative(const struct pattern *p, const char *path, const struct perm_anchor *an)
{
    const char *rest = NULL;
    if (p->anywhere) {
        rest = below(path, an->root);
        if (!rest)
            rest = below(path, an->cwd);
        if (!rest)
            rest = below(path, an->home);
    }
    rest = rest ? rest : path;
    return *rest == '/' ? rest + 1 : rest;
}

static bool
glob_or_below(const struct pattern *p, struct str path, bool strict)
{
    if (glob_match(buf_str(&p->glob), path, p->flags))
        return true;
    if (!strict)
        return false;
    /* As in .gitignore a folder that is named stands for all that lies in it. */
    struct buf b;
    buf_init(&b, PATTERN_MAX + 4);
    buf_add_str(&b, buf_str(&p->glob));
    buf_adds(&b, "/**");
    bool match = glob_match(buf_str(&b), path, p->flags);
    buf_release(&b);
    return match;
}

/* The same name in another spelling: composed or not, in full width letters, with signs that do not show. */
static bool
other_form_matches(const struct pattern *p, struct str path)
{
    struct pattern q = {.flags = p->flags};
    struct buf name;
    buf_init(&q.glob, PATTERN_MAX);
    buf_init(&name, BUF_MAX);
    bool glob = text_one_form(buf_str(&p->glob), &q.glob), other = text_one_form(path, &name);
    if (!glob)
        buf_add_str(&q.glob, buf_str(&p->glob));
    if (!other)
        buf_add_str(&name, path);
    bool match = (glob || other) && glob_or_below(&q, buf_str(&name), true);
    buf_release(&q.glob);
    buf_release(&name);
    return match;
}

/* Names that the braces stand for, at most. */
static size_t
alternatives(const struct pattern *p)
{
    enum { ALTERNATIVES_MAX = 1024 };
    size_t all = 1, group = 1;
    for (size_t i = 0; (p->flags & GLOB_BRACES) && i < p->glob.len && all < ALTERNATIVES_MAX; i++) {
        char ch = p->glob.data[i];
        group = ch == '{' ? 1 : group + (ch == ',');
        all *= ch == '}' ? group : 1;
    }
    return all;
}

static bool
is_ascii(struct str s)
{
    size_t i = 0;
    while (i < s.len && (unsigned char)s.ptr[i] < 0x80)
        i++;
    return i == s.len;
}

/* False: too much. Of what is beyond doubt little the steps are counted behind it. */
static bool
may_hold(const struct pattern *p, struct str path)
{
    enum { STEPS_LITTLE = 1 << 18, STEPS = 16 };
    size_t len = path.len, braces = p->flags & GLOB_BRACES ? p->glob.len : 0;
    size_t most = p->glob.len * (alternatives(p) * len + braces);
    size_t form = is_ascii(path) && is_ascii(buf_str(&p->glob)) ? 0 : len + p->glob.len;
    return may_look((most > STEPS_LITTLE ? most / STEPS : 0) + 2 * form + form * form / 256);
}

static bool
holds(const struct pattern *p, struct str path, bool strict)
{
    enum { STEPS = 8 };
    size_t before = glob_work();
    if (!may_hold(p, path))
        return false;
    bool hit = glob_or_below(p, path, strict) || (strict && other_form_matches(p, path));
    (void)may_look((glob_work() - before) / STEPS);
    return hit;
}

static size_t
count_hits(const struct perm_rule *r, const char *const *paths, size_t n,
           const struct perm_anchor *an, const char *base)
{
    bool strict = r->verdict != VERDICT_ALLOW;
    struct pattern p;
    size_t hits = 0;
    if (!may_look(LOOK_RULE))
        return 0;
    pattern_init(&p, r, an, base);
    for (size_t i = 0; i < n; i++) {
        struct str path = str_from(relative(&p, paths[i], an));
        hits += may_look(LOOK_RULE) && holds(&p, path, strict);
    }
    if (buf_full(&p.glob))
        hits = strict ? n : 0;
    buf_release(&p.glob);
    return hits;
}

static bool
names_match(const struct perm_rule *r, const char *const *paths, size_t n,
            const struct perm_anchor *an)
{
    const char *base[2];
    if (r->verdict == VERDICT_ALLOW) {
        bases(r, an, base);
        return n > 0 && count_hits(r, paths, n, an, base[0]) == n;
    }
    size_t n_base = bases(r, an, base);
    for (size_t i = 0; i < n_base; i++)
        if (count_hits(r, paths, n, an, base[i]))
            return true;
    return false;
}

/* Read rules speak for Grep and Glob; in allow an Edit rule lets read too; in deny and ask a tool's name may be a glob. */
static bool
tool_speaks(const struct perm_rule *r, const char *tool)
{
    char first = r->tool[0]; /* most are for other tools */
    if (r->param)
        return false;
    if (first == tool[0] && strcmp(r->tool, tool) == 0)
        return true;
    if (r->verdict == VERDICT_ALLOW)
        return first == 'E' && strcmp(tool, "Read") == 0 && strcmp(r->tool, "Edit") == 0;
    if (r->verdict == VERDICT_DENY && first == 'R' && strcmp(tool, "Edit") == 0 &&
        strcmp(r->tool, "Read") == 0)
        return r->body != NULL; /* what may not be read may not be changed */
    return !r->body && strchr(r->tool, '*') &&
           perm_rules_name_glob(str_from(r->tool), str_from(tool));
}

const struct perm_rule *
rules_match_path(const struct perm_rules *rs, const struct rule_filter *f, const char *tool,
                 const char *const *paths, size_t n, const struct perm_anchor *an)
{
    bool looked = rs && may_pass(rs->n);
    for (size_t i = 0; looked && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (rule_counts(r, f) && tool_speaks(r, tool) && (!r->body || names_match(r, paths, n, an)))
            return r;
    }
    return NULL;
}

const struct perm_rule *
perm_rules_match_path(const struct perm_rules *rs, enum verdict list, const char *tool,
                      const char *const *paths, size_t n, const struct perm_anchor *an)
{
    struct rule_filter f = {.list = list};
    const char *speaks = perm_rules_path_tool(tool);
    return rules_match_path(rs, &f, speaks ? speaks : tool, paths, n, an);
}

static bool
one_overlaps(const struct pattern *p, const char *glob, struct str shell, bool tree, bool fold)
{
    struct buf below_it;
    buf_init(&below_it, PATTERN_MAX + 4);
    buf_addf(&below_it, "%s/**", glob);
    bool hit = path_overlap(str_from(glob), shell, tree, fold) ||
               path_overlap(buf_str(&below_it), shell, tree, fold) || buf_full(&p->glob);
    buf_release(&below_it);
    return hit;
}

static bool
overlaps_from(const struct perm_rule *r, struct str full, struct str rel, bool tree,
              const struct perm_anchor *an, const char *base)
{
    struct pattern p;
    char **list = NULL;
    size_t n = 0;
    bool hit = false;
    if (!may_look(2 * LOOK_RULE))
        return false;
    pattern_init(&p, r, an, base);
    struct str shell = p.anywhere ? rel : full;
    if (!(p.flags & GLOB_BRACES))
        hit = one_overlaps(&p, buf_cstr(&p.glob), shell, tree, an->fold_case);
    else if (!glob_expand(buf_str(&p.glob), &list, &n))
        hit = true;
    for (size_t i = 0; i < n && !hit && may_look(LOOK_RULE); i++)
        hit = one_overlaps(&p, list[i], shell, tree, an->fold_case);
    glob_expand_free(list, n);
    buf_release(&p.glob);
    return hit;
}

static bool
rule_overlaps(const struct perm_rule *r, struct str full, struct str rel, bool tree,
              const struct perm_anchor *an)
{
    const char *base[2];
    size_t n = bases(r, an, base);
    bool hit = !r->body;
    for (size_t i = 0; i < n && !hit; i++)
        hit = overlaps_from(r, full, rel, tree, an, base[i]);
    return hit;
}

const struct perm_rule *
rules_overlap_path(const struct perm_rules *rs, const struct rule_filter *f, const char *tool,
                   const char *path, bool tree, const struct perm_anchor *an)
{
    static const struct pattern any = {.anywhere = true};
    const struct perm_rule *found = NULL;
    const char *below_it = tree ? "/**" : "";
    struct buf full, rel;
    bool looked = rs && may_pass(rs->n);
    buf_init(&full, PATTERN_MAX);
    buf_init(&rel, PATTERN_MAX);
    for (size_t i = 0; looked && i < rs->n && !found; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f) || !tool_speaks(r, tool))
            continue;
        if (!full.len) {
            buf_addf(&full, "%s%s", path + (*path == '/'), below_it);
            buf_addf(&rel, "%s%s", relative(&any, path, an), below_it);
        }
        if (rule_overlaps(r, buf_str(&full), buf_str(&rel), tree, an))
            found = r;
    }
    buf_release(&full);
    buf_release(&rel);
    return found;
}
