/* See option_words.h. */
#include <string.h>
#include <strings.h>

#include "perm/chain_ctx.h"
#include "perm/option_words.h"
#include "perm/shell.h"

static void
in_next(const struct perm_leaf *l, size_t i, struct option_value *ret)
{
    bool is = i < l->n_argv;
    *ret = (struct option_value){.word = i, .text = is ? l->argv[i].text : str_from(NULL)};
}

static void
in_word(size_t i, struct str text, struct option_value *ret)
{
    *ret = (struct option_value){.word = i, .text = text, .attached = true};
}

static struct str
undashed(struct str s)
{
    size_t n = 0;
    while (n < 2 && n < s.len && s.ptr[n] == '-')
        n++;
    return str_sub(s, n, s.len);
}

/* "--name", "--na", "-name"; cut short only behind two dashes. */
static bool
is_long(const struct perm_leaf *l, size_t i, struct str option, struct option_value *ret)
{
    struct str s = l->argv[i].text;
    size_t eq = str_find(s, '=', 0);
    struct str said = str_sub(s, 0, eq), name = undashed(said), whole = undashed(option);
    bool cut = str_starts(s, "--") && str_starts(option, "--");
    bool is = name.len && said.len > name.len &&
              (name.len == whole.len || (cut && name.len < whole.len)) &&
              strncasecmp(name.ptr, whole.ptr, name.len) == 0;
    if (is && eq != (size_t)-1)
        in_word(i, str_sub(s, eq + 1, s.len), ret);
    else if (is)
        in_next(l, i + 1, ret);
    return is;
}

/* "-oN" of one dash and two letters: the value may follow at once. */
static bool
is_pair(const struct perm_leaf *l, size_t i, struct str option, struct option_value *ret)
{
    struct str s = l->argv[i].text;
    if (option.len != 3 || option.ptr[1] == '-' || s.len < 4 || memcmp(s.ptr, option.ptr, 3) != 0)
        return false;
    in_word(i, str_sub(s, s.ptr[3] == '=' ? 4 : 3, s.len), ret);
    return true;
}

/* "tar cfz FILE": the values follow in the order of their letters. */
static bool
in_old_bundle(const struct perm_leaf *l, char letter, const char *letters, struct option_value *ret)
{
    struct str s = l->argv[1].text;
    size_t value = 2;
    for (size_t at = 0; at < s.len; at++) {
        if (s.ptr[at] == letter) {
            in_next(l, value, ret);
            return true;
        }
        value += s.ptr[at] && strchr(letters, s.ptr[at]) != NULL;
    }
    return false;
}

static bool
in_bundle(const struct perm_leaf *l, size_t i, char letter, const char *letters,
          struct option_value *ret)
{
    struct str s = l->argv[i].text;
    bool alone = strcmp(letters, NO_BUNDLES) == 0;
    size_t at = 1;
    while (at < s.len && s.ptr[at] != letter && s.ptr[at] != '=' && s.ptr[at] && !alone &&
           !strchr(letters, s.ptr[at]))
        at++;
    if (at >= s.len || s.ptr[at] != letter)
        return false;
    if (at + 1 == s.len)
        in_next(l, i + 1, ret);
    else
        in_word(i, str_sub(s, at + 1 + (s.ptr[at + 1] == '='), s.len), ret);
    return true;
}

bool
option_is_word(const struct perm_leaf *l, size_t i, struct str option, const char *letters,
               struct option_value *ret)
{
    static const char *const packers[] = {"tar", "gtar", "bsdtar", "jar"};
    struct str s = l->argv[i].text;
    bool tar = leaf_is_any(l, packers, ARRAY_LEN(packers));
    if (option.len == 2 && i == 1 && tar && s.len && s.ptr[0] != '-')
        return in_old_bundle(l, option.ptr[1], letters, ret);
    if (s.len < 2 || s.ptr[0] != '-')
        return false;
    if (option.len > 2)
        return is_long(l, i, option, ret) || is_pair(l, i, option, ret);
    if (s.ptr[1] == '-') /* Go's "--o FILE" */
        return s.len > 2 && s.ptr[2] == option.ptr[1] && (s.len == 3 || s.ptr[3] == '=') &&
               is_long(l, i, option, ret);
    return in_bundle(l, i, option.ptr[1], letters, ret);
}
