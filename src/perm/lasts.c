/* What a rule may have behind its last slash. */
#include "perm/lasts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/text_form.h"
#include "perm/looks.h"
#include "perm/rules.h"

/* Steps of glob_match, and names that differ in a letter, for one part of what may be looked at. */
enum { FORM_MAX = 16384, STEPS = 8, REJECTED = 8 };

/* The letter stands for itself. */
static char
plain(char c)
{
    return (unsigned char)c < 0x80 && !strchr("*?[]\\{}", c) ? c : '\0';
}

/* "gen" of "x/gen/y": no wildcard, and no other spelling. */
static char *
plain_parent(const char *pattern)
{
    const char *end = strrchr(pattern, '/'), *at = end;
    while (at && at > pattern && at[-1] != '/' && plain(at[-1]))
        at--;
    bool whole = at && at < end && (at == pattern || at[-1] == '/') && at[0] != '~' && at[0] != '.';
    return whole ? str_dup(str_make(at, (size_t)(end - at))) : NULL;
}

static void
add_text(struct lasts *l, const char *pattern, struct str text)
{
    ARRAY_GROW(l->v, l->n, l->cap);
    l->v[l->n++] = (struct last){.text = str_dup(text),
                                 .parent = plain_parent(pattern),
                                 .first = text.len ? plain(text.ptr[0]) : '\0',
                                 .end = text.len ? plain(text.ptr[text.len - 1]) : '\0'};
}

static void
add_last(struct lasts *l, const char *pattern)
{
    const char *last = strrchr(pattern, '/');
    struct buf form;
    last = last ? last + 1 : pattern;
    add_text(l, pattern, *last ? str_from(last) : STR("**")); /* "dir/" is what lies in it */
    buf_init(&form, FORM_MAX);
    if (text_one_form(str_from(last), &form))
        add_text(l, pattern, buf_str(&form));
    buf_release(&form);
}

void
lasts_init(struct lasts *l, const struct perm_rule *rule)
{
    char **list = NULL;
    size_t n = 0;
    *l = (struct lasts){0};
    if (!strchr(rule->body, '{'))
        add_last(l, rule->body);
    else if (!glob_expand(str_from(rule->body), &list, &n))
        add_last(l, "**");
    for (size_t i = 0; i < n; i++)
        add_last(l, list[i]);
    glob_expand_free(list, n);
}

void
lasts_release(struct lasts *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].text);
        free(l->v[i].parent);
    }
    free(l->v);
    *l = (struct lasts){0};
}

void
last_name_init(struct last_name *n, const char *path, size_t rules)
{
    struct buf form;
    const char *name = fs_basename(path), *slash = name > path ? name - 1 : path, *at = slash;
    while (at > path && at[-1] != '/' && (unsigned char)at[-1] < 0x80)
        at--;
    bool known = at > path && at[-1] == '/';
    *n = (struct last_name){.name = name, .len = strlen(name)};
    if (known || (at == path && slash > path))
        n->parent = str_make(at, (size_t)(slash - at));
    buf_init(&form, FORM_MAX);
    if (text_one_form(str_from(name), &form)) {
        (void)may_walk(form.len);
        n->form = buf_take(&form);
    }
    (void)may_walk(rules / REJECTED);
    buf_release(&form);
}

void
last_name_release(struct last_name *n)
{
    free(n->form);
}

/* Where case does not count, a letter past ASCII may be one of ASCII. */
static bool
differs(char want, char is, bool fold)
{
    if (fold)
        return want && (unsigned char)is < 0x80 &&
               tolower((unsigned char)want) != tolower((unsigned char)is);
    return want && want != is;
}

static bool
matches(const struct last *l, const char *name, size_t len, struct str parent, bool fold)
{
    if (parent.len && l->parent && !fold && !str_is(parent, l->parent))
        return false;
    if (len && (differs(l->first, name[0], fold) || differs(l->end, name[len - 1], fold)))
        return false;
    size_t before = glob_work();
    bool match = glob_match(str_from(l->text), str_make(name, len), fold ? GLOB_FOLD_CASE : 0);
    return !may_walk(1 + (glob_work() - before) / STEPS) || match;
}

bool
lasts_may(const struct lasts *l, const struct last_name *n, bool fold)
{
    bool may = n->form && strchr(n->form, '/'); /* a letter that stands for several */
    may = may || (l->n > REJECTED && !may_walk(l->n / REJECTED));
    for (size_t i = 0; i < l->n && !may; i++)
        may = strcmp(l->v[i].text, "**") == 0 ||
              matches(&l->v[i], n->name, n->len, n->parent, fold) ||
              (n->form && matches(&l->v[i], n->form, strlen(n->form), n->parent, fold));
    return may;
}
