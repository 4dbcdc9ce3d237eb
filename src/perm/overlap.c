#include "perm/overlap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "perm/looks.h"

enum { PARTS_MAX = 128, CELLS_MAX = 1 << 20 };
/* What one part of what may be looked at is enough for. */
enum { CELLS = 32, PAIRS = 16 };

/* One element of a component's pattern. A class is taken as any character. */
enum element { EL_CHAR, EL_ANY, EL_STAR };

static enum element
element_at(struct str s, size_t at, size_t *ret_len, char *ret_char)
{
    char c = s.ptr[at];
    *ret_len = 1;
    *ret_char = c;
    if (c == '*')
        return EL_STAR;
    if (c == '?')
        return EL_ANY;
    if (c == '\\' && at + 1 < s.len) {
        *ret_len = 2;
        *ret_char = s.ptr[at + 1];
        return EL_CHAR;
    }
    if (c == '[') {
        size_t end = str_find(s, ']', at + 2);
        if (end != (size_t)-1) {
            *ret_len = end + 1 - at;
            return EL_ANY;
        }
    }
    return EL_CHAR;
}

static bool
same(char a, char b, bool fold)
{
    if (fold)
        return tolower((unsigned char)a) == tolower((unsigned char)b);
    return a == b;
}

/* Can both patterns name one component? Reachability over two positions; a multi-byte character under '?' or a class is
 * more than one byte, so EL_ANY may swallow continuation bytes. */
struct grid {
    struct str a, b;
    bool fold;
    unsigned char *seen;
};

static bool
reach(struct grid *g, size_t i, size_t j)
{
    for (;;) {
        if (i == g->a.len && j == g->b.len)
            return true;
        unsigned char *cell = &g->seen[i * (g->b.len + 1) + j];
        if (*cell)
            return false;
        *cell = 1;
        size_t la = 0, lb = 0;
        char ca = 0, cb = 0;
        enum element ea = i < g->a.len ? element_at(g->a, i, &la, &ca) : EL_CHAR;
        enum element eb = j < g->b.len ? element_at(g->b, j, &lb, &cb) : EL_CHAR;
        bool has_a = i < g->a.len, has_b = j < g->b.len;
        if (has_a && ea == EL_STAR) {
            if (reach(g, i + la, j))
                return true;
            if (!has_b)
                return false;
            j += lb;
        } else if (has_b && eb == EL_STAR) {
            if (reach(g, i, j + lb))
                return true;
            if (!has_a)
                return false;
            i += la;
        } else if (has_a && has_b && (ea == EL_ANY || eb == EL_ANY || same(ca, cb, g->fold))) {
            /* A continuation byte belongs to the character that '?' stood for. */
            if (ea == EL_ANY && eb == EL_CHAR && (unsigned char)cb >= 0x80 && reach(g, i, j + lb))
                return true;
            if (eb == EL_ANY && ea == EL_CHAR && (unsigned char)ca >= 0x80 && reach(g, i + la, j))
                return true;
            i += la;
            j += lb;
        } else {
            return false;
        }
    }
}

static bool
component_overlap(struct str rule, struct str shell, bool dots_hidden, bool fold)
{
    bool rule_dot = rule.len && (rule.ptr[0] == '.' ||
                                 (rule.ptr[0] == '\\' && rule.len > 1 && rule.ptr[1] == '.'));
    if (dots_hidden && rule_dot && shell.len && strchr("*?[", shell.ptr[0]))
        return false;
    if (rule.len + 1 > CELLS_MAX / (shell.len + 1) ||
        !may_look(1 + (rule.len + 1) * (shell.len + 1) / CELLS))
        return true;
    struct grid g = {rule, shell, fold, xcalloc((rule.len + 1) * (shell.len + 1), 1)};
    bool found = reach(&g, 0, 0);
    free(g.seen);
    return found;
}

static bool
split(struct str s, struct str *parts, size_t *ret_n)
{
    struct str part;
    size_t n = 0;
    while (str_split(&s, '/', &part)) {
        if (!part.len)
            continue;
        if (n == PARTS_MAX)
            return false;
        parts[n++] = part;
    }
    *ret_n = n;
    return true;
}

bool
path_overlap(struct str rule, struct str shell, bool tree, bool fold_case)
{
    struct str a[PARTS_MAX], b[PARTS_MAX];
    bool row[PARTS_MAX + 1], prev[PARTS_MAX + 1];
    size_t n, m;

    if (!split(rule, a, &n) || !split(shell, b, &m) || !may_look(1 + (n + 1) * (m + 1) / PAIRS))
        return true;
    /* prev[j]: the rule's parts so far and the first j of the shell's can name the same folder. */
    for (size_t i = 0; i <= n; i++) {
        bool spans = i && str_is(a[i - 1], "**");
        for (size_t j = 0; j <= m; j++) {
            bool all = tree && j == m && j && str_is(b[j - 1], "**");
            row[j] = i == 0 && j == 0;
            if (i && spans)
                row[j] = prev[j] || (j && row[j - 1]);
            if (i && j && !spans && !all)
                row[j] = row[j] ||
                         (prev[j - 1] && component_overlap(a[i - 1], b[j - 1], true, fold_case));
            if (all)
                row[j] = row[j] || row[j - 1] || (i && prev[j]);
        }
        memcpy(prev, row, sizeof row);
    }
    return prev[m];
}
