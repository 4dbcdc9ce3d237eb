/*
 * Other names of the same sub-command, kind of thing or option. All that is found here only asks: that "npm i" is "npm install" is
 * sure, but the rule did not say it.
 */
#include "perm/rules_subcommand.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *program, *sub;
    const char *names;
} names[] = {
    {"npm", "install", " i in ins inst insta instal isnt isnta isntal isntall add "},
    {"npm", "run", " run-script rum urn "},
    {"npm", "test", " t tst "},
    {"npm", "exec", " x "},
    {"npm", "uninstall", " remove rm r un unlink "},
    {"npm", "update", " up upgrade udpate "},
    {"npm", "login", " adduser add-user "},
    {"npm", "version", " verison "},
    {"npm", "ci", " clean-install ic install-clean isntall-clean "},
    {"npm", "link", " ln "},
    {"npm", "init", " create innit "},
    {"npm", "owner", " author "},
    {"npm", "view", " info show v "},
    {"npm", "config", " c get set "},
    {"npm", "dist-tag", " dist-tags "},
    {"pnpm", "install", " i "},
    {"pnpm", "run", " run-script "},
    {"pnpm", "test", " t tst "},
    {"pnpm", "remove", " rm uninstall un "},
    {"pnpm", "update", " up upgrade "},
    {"bun", "install", " i "},
    {"bun", "add", " a "},
    {"bun", "remove", " rm "},
    {"cargo", "run", " r "},
    {"cargo", "build", " b "},
    {"cargo", "test", " t "},
    {"cargo", "check", " c "},
    {"cargo", "doc", " d "},
    {"cargo", "remove", " rm "},
    {"docker", "rmi", " rm remove "}, /* of images */
    {"docker", "rm", " remove "},
    {"docker", "ps", " ls list "},
    {"docker", "images", " ls list "},
    {"podman", "rmi", " rm "},
    {"podman", "rm", " remove "},
    {"helm", "uninstall", " del delete un "},
    {"helm", "list", " ls "},
    {"brew", "uninstall", " remove rm "},
    {"git", "add", " stage "},
    {"svn", "commit", " ci "},
    {"svn", "delete", " del remove rm "},
    {"svn", "checkout", " co "},
    {"svn", "update", " up "},
    {"svn", "switch", " sw "},
    {"svn", "move", " mv rename ren "},
    {"hg", "commit", " ci "},
    {"kubectl", "pod", " pods po "},
    {"kubectl", "deployment", " deployments deploy deployment.apps deployments.apps "},
    {"kubectl", "service", " services svc "},
    {"kubectl", "namespace", " namespaces ns "},
    {"kubectl", "node", " nodes no "},
    {"kubectl", "secret", " secrets "},
    {"kubectl", "configmap", " configmaps cm "},
    {"kubectl", "statefulset", " statefulsets sts "},
    {"kubectl", "daemonset", " daemonsets ds "},
    {"kubectl", "job", " jobs "},
    {"kubectl", "cronjob", " cronjobs cj "},
    {"kubectl", "ingress", " ingresses ing "},
    {"kubectl", "persistentvolumeclaim", " persistentvolumeclaims pvc "},
};

/* One name of the group stands for each other one of it. */
static bool
in_group(const char *sub, const char *others, struct str word)
{
    return str_is(word, sub) || words_list(others, word);
}

bool
spelling_of(const struct globals *g, struct str sub, struct str word, bool fold)
{
    if (!g || !sub.len || !word.len)
        return false;
    if (g->shortens && word.len < sub.len && spelled_same(str_sub(sub, 0, word.len), word, fold))
        return true;
    const char *program = strcmp(g->name, "oc") == 0 ? "kubectl" : g->name;
    struct str plain = word;
    if (strcmp(program, "kubectl") == 0) { /* "pod/web", "pods,secrets" */
        size_t end = 0;
        while (end < word.len && word.ptr[end] != '/' && word.ptr[end] != ',')
            end++;
        plain = str_sub(word, 0, end);
        if (end < word.len && spelled_same(sub, plain, fold))
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i].program, program) == 0 && in_group(names[i].sub, names[i].names, sub) &&
            in_group(names[i].sub, names[i].names, plain))
            return true;
    return false;
}

/* ---- options ---- */

static const struct {
    char letter;
    const char *name;
} letters[] = {
    {'f', "--force"}, {'r', "--recursive"}, {'R', "--recursive"}, {'d', "--delete"},
    {'a', "--all"},   {'y', "--yes"},       {'g', "--global"},    {'n', "--no-verify"},
    {'e', "--eval"},  {'c', "--command"},
};

/* "-rf": letters, not the long option with one dash that some programs have. */
static bool
is_bundle(struct str s)
{
    if (s.len < 2 || s.len > 5 || s.ptr[0] != '-')
        return false;
    for (size_t i = 1; i < s.len; i++)
        if (!isalpha((unsigned char)s.ptr[i]))
            return false;
    return true;
}

static bool
has_letter(struct str word, char letter)
{
    return is_bundle(word) && memchr(word.ptr + 1, letter, word.len - 1);
}

/* "--rec": long options may be cut short. */
static bool
begins_name(struct str word, struct str name)
{
    return word.len > 3 && word.len < name.len && str_starts(word, "--") &&
           memcmp(word.ptr, name.ptr, word.len) == 0;
}

/* The option as it stands, cut short, or with a value attached. */
static bool
has_name(struct str word, struct str name)
{
    if (begins_name(word, name))
        return true;
    return str_starts(word, "-") && word.len >= name.len &&
           memcmp(word.ptr, name.ptr, name.len) == 0 &&
           (word.len == name.len || word.ptr[name.len] == '=');
}

/* Names and letters that say the same as this letter: rm -R is rm -r. */
static bool
says_letter(struct str word, char letter)
{
    if (has_letter(word, letter))
        return true;
    for (size_t k = 0; k < ARRAY_LEN(letters); k++) {
        if (letters[k].letter != letter)
            continue;
        if (has_name(word, str_from(letters[k].name)))
            return true;
        for (size_t m = 0; m < ARRAY_LEN(letters); m++)
            if (strcmp(letters[m].name, letters[k].name) == 0 &&
                has_letter(word, letters[m].letter))
                return true;
    }
    return false;
}

/* Does some word of the leaf say what this letter says? */
static bool
letter_there(char letter, const struct perm_leaf *leaf, size_t i, size_t end)
{
    for (; i < end; i++)
        if (says_letter(leaf->argv[i].text, letter))
            return true;
    return false;
}

static bool
option_there(struct str option, const struct perm_leaf *leaf, size_t i, size_t end)
{
    bool all = is_bundle(option);
    for (size_t k = i; k < end; k++)
        if (has_name(leaf->argv[k].text, option))
            return true;
    for (size_t k = 0; k < ARRAY_LEN(letters) && !all; k++)
        if (str_is(option, letters[k].name) && letter_there(letters[k].letter, leaf, i, end))
            return true;
    for (size_t k = 1; k < option.len && all; k++)
        all = letter_there(option.ptr[k], leaf, i, end);
    return all;
}

bool
spelling_options(struct str options, const struct perm_leaf *leaf, size_t i, bool exact)
{
    size_t end = i;
    while (end < leaf->n_argv && !str_is(leaf->argv[end].text, "--"))
        end++;
    for (size_t k = i; k < leaf->n_argv && exact; k++)
        if (!str_starts(leaf->argv[k].text, "-"))
            return false;
    struct str rest = options, option;
    while (str_split(&rest, ' ', &option))
        if (!str_starts(option, "-") || memchr(option.ptr, '*', option.len) ||
            !option_there(option, leaf, i, end))
            return false;
    return true;
}
