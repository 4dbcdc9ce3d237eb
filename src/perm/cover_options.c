/*
 * Options by which a program that runs nothing by itself runs another one: "rg --pre", "tar --to-command", "git push --receive-pack".
 * A rule that only begins with the program's name was not written for these, unless it names the option.
 */
#include <ctype.h>
#include <string.h>

#include "perm/chain_ctx.h"

/* Blanks part the options. A long one ("--name") may be shortened as far as getopt takes it; "-I" may have its value attached. */
static const struct {
    const char *program, *sub, *options;
} rows[] = {
    {"rg", NULL, "--pre --hostname-bin"},
    {"sort", NULL, "--compress-program"},
    {"tar", NULL,
     "--to-command --checkpoint-action --use-compress-program -I --info-script "
     "--new-volume-script -F --rsh-command --rmt-command"},
    {"bsdtar", NULL, "--use-compress-program"},
    {"rsync", NULL, "-e --rsh --rsync-path"},
    {"scp", NULL, "-S"},
    {"sftp", NULL, "-S"},
    {"zip", NULL, "-TT --unzip-command"},
    {"man", NULL, "-P --pager -H --html"},
    {"split", NULL, "--filter"},
    {"go", NULL, "-toolexec --toolexec -exec --exec -vettool --vettool"},
    {"cargo", NULL, "--config"},
    {"npm", NULL, "--script-shell --node-options"},
    {"pnpm", NULL, "--script-shell --node-options"},
    {"gcc", NULL, "-wrapper -fplugin"},
    {"g++", NULL, "-wrapper -fplugin"},
    {"cc", NULL, "-wrapper -fplugin"},
    {"git", "push", "--receive-pack --exec"},
    {"git", "send-pack", "--receive-pack --exec"},
    {"git", "fetch", "--upload-pack"},
    {"git", "pull", "--upload-pack"},
    {"git", "clone", "--upload-pack -u --template"},
    {"git", "ls-remote", "--upload-pack --exec"},
    {"git", "archive", "--exec"},
    {"git", "grep", "--open-files-in-pager -O"},
};

/* Compressors and the usual transport, without options that name a program in turn. */
static bool
value_is_usual(struct str value)
{
    static const char *const usual[] = {"ssh",  "gzip", "pigz",   "bzip2",  "pbzip2", "lbzip2",
                                        "xz",   "pixz", "zstd",   "zstdmt", "pzstd",  "lz4",
                                        "lzip", "lzop", "unzstd", "gunzip", "unxz",   "bunzip2"};
    struct str first = str_sub(value, 0, str_find(value, ' ', 0));
    if (str_contains(value, STR("ommand")) || str_contains(value, STR("-F")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (str_is(first, usual[i]))
            return true;
    return false;
}

/* Word i is the option; *ret: its value, empty: it has none that is known. */
static bool
word_is_option(const struct perm_leaf *l, size_t i, struct str option, struct str *ret)
{
    struct str s = l->argv[i].text, next = {0};
    size_t eq = str_find(s, '=', 0);
    bool is_long = str_starts(option, "--");
    if (i + 1 < l->n_argv && l->argv[i + 1].known)
        next = l->argv[i + 1].text;
    if (is_long || option.len > 2) {
        struct str name = str_sub(s, 0, eq);
        /* As short as "--to-c" may be clear, and never as short as "--". */
        bool is = name.len > (is_long ? 4 : option.len - 1) && name.len <= option.len &&
                  memcmp(name.ptr, option.ptr, name.len) == 0 && !str_is(name, "--checkpoint");
        *ret = eq == (size_t)-1 ? next : str_sub(s, eq + 1, s.len);
        return is;
    }
    size_t at =
        1; /* in a bundle it may come later, but not behind a letter that takes the rest as its value */
    while (at < s.len && s.ptr[at] != option.ptr[1] && isalpha((unsigned char)s.ptr[at]) &&
           !strchr("ofCi", s.ptr[at]))
        at++;
    if (s.len < 2 || s.ptr[0] != '-' || at >= s.len || s.ptr[at] != option.ptr[1])
        return false;
    *ret = at + 1 < s.len ? str_sub(s, at + 1, s.len) : next;
    return true;
}

static bool
head_names(const struct perm_rule *r, struct str word)
{
    struct str head = rule_head(r), part;
    struct str name = str_sub(word, 0, str_find(word, '=', 0));
    while (str_split(&head, ' ', &part))
        if (str_eq(str_sub(part, 0, str_find(part, '=', 0)), name))
            return true;
    return false;
}

static bool
has_sub(const struct perm_leaf *l, const char *sub, size_t *ret_from)
{
    *ret_from = 1;
    for (size_t i = 1; sub && i < l->n_argv; i++)
        if (l->argv[i].known && str_is(l->argv[i].text, sub)) {
            *ret_from = i + 1;
            return true;
        }
    return !sub;
}

const char *
options_gap(const struct perm_leaf *l, const struct perm_rule *r)
{
    size_t from;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (!leaf_is(l, rows[k].program) || !has_sub(l, rows[k].sub, &from))
            continue;
        for (size_t i = from; i < l->n_argv; i++) {
            struct str list = str_from(rows[k].options), option, value;
            if (str_is(l->argv[i].text, "--"))
                break;
            while (str_split(&list, ' ', &option))
                if (word_is_option(l, i, option, &value) && !value_is_usual(value) &&
                    !head_names(r, l->argv[i].text))
                    return "the rule does not name the option that runs another program";
        }
    }
    return NULL;
}
