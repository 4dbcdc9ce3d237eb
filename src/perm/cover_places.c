/*
 * Options that make a program build, test or run another folder: "make -C /elsewhere", "cargo --manifest-path", "npm --prefix". A rule for
 * the program was written for this project, as where a cd leads elsewhere; and one for "node scripts/" does not go "scripts/../..".
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "perm/chain_ctx.h"
#include "perm/shell.h"

/* Blanks part the options; a value may be attached to a short one, and to a long one behind "=". */
static const struct {
    const char *program, *options;
} rows[] = {
    {"make", "-C --directory -f --file --makefile"},
    {"gmake", "-C --directory -f --file --makefile"},
    {"ninja", "-C -f"},
    {"cargo", "-C --manifest-path --path"},
    {"go", "-C -modfile -overlay"},
    {"npm", "-C --prefix"},
    {"pnpm", "-C --dir --prefix"},
    {"yarn", "--cwd"},
    {"bun", "--cwd"},
    {"pytest", "-c --rootdir --confcutdir"},
    {"tox", "-c"},
    {"cmake", "-P -S"},
    {"meson", "-C"},
    {"poetry", "-C -P --directory --project"},
    {"uv", "--directory --project"},
    {"mvn", "-f --file"},
    {"gradle", "-p --project-dir -b --build-file -I --init-script"},
    {"just", "-f --justfile -d --working-directory"},
    {"rake", "-f --rakefile"},
    {"jest", "-c --config --rootDir"},
    {"vitest", "-c --config -r --root"},
    {"eslint", "-c --config"},
    {"tsc", "-p --project"},
    {"terraform", "-chdir"},
    {"tofu", "-chdir"},
};

static bool
is_outside(const struct chain *c, const struct perm_leaf *l, struct str value)
{
    bool outside = false;
    if (!value.len || value.len >= 4096 || memchr(value.ptr, '\0', value.len))
        return false;
    char *text = str_dup(value);
    for (size_t i = 0; i < l->n_cwds && !outside && strcmp(text, "-") != 0; i++) {
        struct path_names n;
        path_names_init(&n, l->cwds[i], text, c->fold);
        outside = !path_in_roots(c, &n, false) && strcmp(n.v[0], c->cwd) != 0;
        path_names_release(&n);
    }
    free(text);
    return outside;
}

/* "--dir" for "--directory", "-kC" for "-k -C". */
static bool
is_option_word(const struct perm_leaf *l, struct str name, struct str option)
{
    if (str_starts(option, "--"))
        return name.len > 3 && name.len <= option.len &&
               memcmp(name.ptr, option.ptr, name.len) == 0;
    bool bundle = leaf_is(l, "make") || leaf_is(l, "gmake");
    return str_eq(name, option) ||
           (bundle && option.len == 2 && name.len > 2 && name.ptr[0] == '-' && name.ptr[1] != '-' &&
            name.ptr[name.len - 1] == option.ptr[1]);
}

/* Word i is the option: its value, else nothing. */
static struct str
value_of(const struct perm_leaf *l, size_t i, struct str option)
{
    struct str s = l->argv[i].text;
    size_t eq = str_find(s, '=', 0);
    if (is_option_word(l, str_sub(s, 0, eq), option)) {
        if (eq != (size_t)-1)
            return str_sub(s, eq + 1, s.len);
        return i + 1 < l->n_argv && l->argv[i + 1].known ? l->argv[i + 1].text : str_from(NULL);
    }
    bool attached = option.len == 2 && s.len > 2 && memcmp(s.ptr, option.ptr, 2) == 0;
    return attached ? str_sub(s, 2, s.len) : str_from(NULL);
}

/* What a container is given of the disk: a folder or a socket outside the project is as good as working there. A name alone is a
 * volume. */
static bool
mount_is_outside(const struct chain *c, const struct perm_leaf *l, struct str value)
{
    struct str part, source = {0}, all = value;
    if (str_find(value, '=', 0) != (size_t)-1 && str_find(value, ',', 0) != (size_t)-1) {
        while (str_split(&all, ',', &part)) {
            if (str_starts(part, "\"")) /* a field of CSV */
                part = str_sub(part, 1, part.len - 1);
            struct str key = str_sub(part, 0, str_find(part, '=', 0));
            if (text_equal_fold(key, STR("src")) || text_equal_fold(key, STR("source")))
                source = str_sub(part, key.len + 1, part.len);
        }
    } else {
        source = str_sub(value, 0, str_find(value, ':', 0));
    }
    bool place = source.len && strchr("/.~", source.ptr[0]);
    return place && (source.ptr[0] == '~' || is_outside(c, l, source));
}

/* The value of a volume or mount option in word i; ptr NULL: it is none. *ret_known: what stands there is known. */
static struct str
mount_value(const struct perm_leaf *l, size_t i, bool *ret_known)
{
    struct str s = l->argv[i].text, name = str_sub(s, 0, str_find(s, '=', 0)), none = {0};
    bool bundle = str_starts(s, "-") && !str_starts(s, "--"), value = name.len < s.len;
    size_t v = bundle ? str_find(name, 'v', 1) : 0;
    bool option = str_is(name, "--volume") || str_is(name, "--mount");
    *ret_known = l->argv[i].known;
    for (size_t k = 1; bundle && v != (size_t)-1 && k < v; k++)
        bundle = strchr("ditPq", s.ptr[k]) != NULL;
    if (bundle && v != (size_t)-1) { /* "-itv X", "-v=X" */
        struct str rest = str_sub(s, v + 1, s.len);
        if (rest.len)
            return str_starts(rest, "=") ? str_sub(rest, 1, rest.len) : rest;
        option = true;
        value = false;
    }
    if (!option)
        return none;
    if (value)
        return str_sub(s, name.len + 1, s.len);
    *ret_known = i + 1 < l->n_argv && l->argv[i + 1].known;
    return i + 1 < l->n_argv ? l->argv[i + 1].text : none;
}

/* "--device=/dev/sda", "--pid host" */
static bool
gives_power(const struct perm_leaf *l, size_t i)
{
    static const char *const rights[] = {"--privileged", "--device", "--cap-add", "--security-opt",
                                         "--device-cgroup-rule"};
    static const char *const spaces[] = {"--pid", "--userns", "--ipc", "--uts", "--cgroupns"};
    struct str s = l->argv[i].text, name = str_sub(s, 0, str_find(s, '=', 0)), value;
    for (size_t k = 0; k < ARRAY_LEN(rights); k++)
        if (str_is(name, rights[k]))
            return !str_is(s, "--security-opt=no-new-privileges") &&
                   !str_is(s, "--privileged=false");
    value = name.len < s.len    ? str_sub(s, name.len + 1, s.len)
            : i + 1 < l->n_argv ? l->argv[i + 1].text
                                : STR("");
    for (size_t k = 0; k < ARRAY_LEN(spaces); k++)
        if (str_is(name, spaces[k]) && str_is(value, "host"))
            return true;
    return false;
}

static const char *
mounts_gap(const struct chain *c, const struct perm_leaf *l)
{
    static const char *const programs[] = {"docker", "podman", "nerdctl"};
    bool runs = false;
    if (!leaf_is_any(l, programs, ARRAY_LEN(programs)))
        return NULL;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool known;
        runs = runs || str_is(s, "run") || str_is(s, "create");
        if (runs && gives_power(l, i))
            return "it gives a container power over the machine";
        struct str value = mount_value(l, i, &known);
        if (runs && value.ptr && !known)
            return "what it gives a container is not known before it runs";
        if (runs && value.ptr && mount_is_outside(c, l, value))
            return "it gives a container what lies outside the project";
    }
    return NULL;
}

const char *
place_option_gap(const struct chain *c, const struct perm_leaf *l)
{
    const char *mounts = mounts_gap(c, l);
    if (mounts)
        return mounts;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        for (size_t i = 1; leaf_is(l, rows[k].program) && i < l->n_argv; i++) {
            struct str list = str_from(rows[k].options), option;
            if (str_is(l->argv[i].text, "--"))
                break;
            while (str_split(&list, ' ', &option))
                if (str_eq(l->argv[i].text, option) && i + 1 < l->n_argv && !l->argv[i + 1].known)
                    return "an option leads it to a folder that cannot be known";
                else if (is_outside(c, l, value_of(l, i, option)))
                    return "an option leads it to a folder outside the project";
        }
    return NULL;
}

const char *
dots_gap(const struct perm_leaf *l, const struct perm_rule *r)
{
    struct str head = rule_head(r);
    size_t from = head.len;
    while (from > 0 && head.ptr[from - 1] != ' ')
        from--;
    struct str part = str_sub(head, from, head.len);
    if (!part.len || !memchr(part.ptr, '/', part.len) || part.ptr[0] == '-')
        return NULL;
    for (size_t i = 0; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (s.len > part.len && memcmp(s.ptr, part.ptr, part.len) == 0 &&
            (str_contains(s, STR("/../")) || str_ends(s, "/..")))
            return "it leaves by '..' the folder that the rule names";
    }
    return NULL;
}

static bool
is_letter_option(struct str s, char letter)
{
    return s.len > 1 && s.ptr[0] == '-' && s.ptr[1] != '-' && !strchr("bojuS", s.ptr[1]) &&
           memchr(s.ptr, letter, s.len);
}

const char *
git_inside_gap(const struct perm_leaf *l)
{
    static const char *const runs[] = {"remote-ext",  "remote-fd",  "shell",
                                       "hook",        "credential", "credential-store",
                                       "web--browse", "instaweb",   "daemon"};
    bool plain;
    size_t sub = git_subcommand(l->argv, l->n_argv, &plain);
    struct str name = sub ? l->argv[sub].text : str_from(NULL);
    bool x = str_is(name, "rebase") || str_is(name, "difftool");
    bool makes = str_is(name, "clone") || str_is(name, "init"), each = false;
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        if (str_is(name, runs[i]))
            return "the rule does not name the sub-command that runs another program";
    for (size_t i = sub ? sub + 1 : 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (each && (!s.len || s.ptr[0] != '-')) {
            if (!str_is(s, "git") && !str_starts(s, "git "))
                return "the rule does not name what is run in each repository";
            each = false;
        }
        each = each || (i == sub + 1 && str_is(name, "submodule") && str_is(s, "foreach"));
        if ((x && is_letter_option(s, 'x')) || (makes && str_starts(s, "--te")) ||
            (makes && (is_letter_option(s, 'c') || str_starts(s, "--con"))))
            return "the rule does not name the option that makes git run a program";
        if (str_starts(s, ".git/") || str_contains(s, STR("/.git/")) ||
            str_contains(s, STR("=.git/")))
            return "it names a file in git's own folder";
    }
    return NULL;
}
