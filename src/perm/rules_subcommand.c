/*
 * Deny and ask rules of the kind PROGRAM SUB [SUB2] against a command with options between these words: "npm --prefix web
 * publish" is "npm publish". Which options take the next word is a table; where it does not say, both readings are tried, and
 * what only such a reading matches is MATCH_MAY.
 */
#include <string.h>
#include <strings.h>

#include "perm/rules_match.h"
#include "perm/shell.h"

/* Options before and between the sub-commands: those that take the next word, and those that never do. */
struct globals {
    const char *name;
    const char *valued, *flags;
    bool list; /* operands are a list of tasks: each of them is one */
};
#define KUBE                                                                                       \
    " -n --namespace --context --kubeconfig --cluster --user -s --server --token --as "            \
    "--as-group --request-timeout -v "
#define NPM " --prefix -C -w --workspace --registry --tag --otp --userconfig --loglevel --cache "
#define NPM_FLAGS " -s --silent -q --quiet -g --global -d --verbose --workspaces -f --force "
#define PIP " --proxy --python --log --retries --timeout --cert --client-cert --cache-dir "
#define PIP_FLAGS " -q --quiet -v --verbose --no-input --isolated --no-cache-dir --no-color "
#define MAKE " -C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if "
#define MAKE_FLAGS " -B -e -i -k -n -q -r -R -s -S -t -w -j -l --silent --quiet --jobs --dry-run "
#define BOX " -H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey "
static const struct globals table[] = {
    {"npm", NPM, NPM_FLAGS, false},
    {"pnpm", NPM " --dir -F --filter ", " -s --silent -r --recursive -g --global ", false},
    {"yarn", " --cwd ", " -s --silent --verbose --json --offline ", false},
    {"docker", BOX " -f --file -p --project-name --profile --project-directory --env-file ",
     " -D --debug --tls --tlsverify ", false},
    {"podman", BOX " --url --connection -r --root ", " --remote ", false},
    {"kubectl", KUBE, " --insecure-skip-tls-verify --warnings-as-errors ", false},
    {"helm", KUBE " --kube-context --registry-config --repository-cache ", " --debug ", false},
    {"cargo", " -C -Z --config --color --manifest-path ",
     " -q --quiet -v --verbose --locked --offline --frozen ", false},
    {"aws", " --profile --region --output --endpoint-url --query --color --ca-bundle ",
     " --debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager ", false},
    {"gcloud", " --project --account --configuration --format --verbosity ", " -q --quiet ", false},
    {"gh", " -R --repo --hostname ", "", false},
    {"go", " -C ", "", false},
    {"terraform", "", "", false},
    {"systemctl", " -t --type -p --property -H --host -M --machine -n -o --output --root ",
     " --user --system --now -q --quiet --no-block --no-pager -f --force -a --all ", false},
    {"pip", PIP, PIP_FLAGS, false},
    {"pip3", PIP, PIP_FLAGS, false},
    {"apt-get", " -o -c -t --option --config-file --target-release ",
     " -y --yes -q --quiet -qq -f -s --simulate -d ", false},
    {"apt", " -o -c -t --option --config-file --target-release ", " -y --yes -q --quiet ", false},
    {"brew", "", " -v --verbose -q --quiet -d --debug ", false},
    {"make", MAKE, MAKE_FLAGS, true},
    {"gmake", MAKE, MAKE_FLAGS, true},
    {"git", " -C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source ",
     " -p -P --paginate --no-pager --bare --no-replace-objects --no-optional-locks "
     "--literal-pathspecs ",
     false},
};

enum { SUB_NO, SUB_MAY, SUB_SURE };
struct search {
    const struct perm_leaf *leaf;
    const struct globals *g;
    bool boundary, fold;
    size_t steps; /* what would be too much work is answered with "may" */
};

static bool
listed(const char *list, struct str s)
{
    const char *p = list;
    while (s.len && (p = strstr(p, " ")) && *++p)
        if (strncmp(p, s.ptr, s.len) == 0 && p[s.len] == ' ')
            return true;
    return false;
}

static bool
word_is(const struct search *x, struct str a, struct str b)
{
    return a.len == b.len &&
           (x->fold ? strncasecmp(a.ptr, b.ptr, a.len) : memcmp(a.ptr, b.ptr, a.len)) == 0;
}

/* Does the option take the next word? SUB_MAY: not known. */
static int
takes_next(const struct search *x, struct str s)
{
    if (memchr(s.ptr, '=', s.len) || str_is(s, "--"))
        return SUB_NO;
    if (!x->g)
        return SUB_MAY;
    if (listed(x->g->valued, s))
        return SUB_SURE;
    if (listed(x->g->flags, s))
        return SUB_NO;
    /* "-j4", "-nx": a letter of the table with its value attached, or letters of which the last may take one */
    bool known = s.len > 2 && s.ptr[1] != '-' && listed(x->g->valued, str_sub(s, 0, 2));
    return known ? SUB_NO : SUB_MAY;
}

static int search_from(struct search *x, struct str rest, size_t i);

/* The words from i on are those of the rule so far as `rest` goes. */
static int
words_match(struct search *x, struct str rest, size_t i)
{
    size_t blank = str_find(rest, ' ', 0);
    struct str word = blank == (size_t)-1 ? rest : str_sub(rest, 0, blank);
    if (!word_is(x, word, x->leaf->argv[i].text))
        return SUB_NO;
    if (blank != (size_t)-1)
        return search_from(x, str_sub(rest, blank + 1, rest.len - blank - 1), i + 1);
    return x->boundary || i + 1 == x->leaf->n_argv ? SUB_SURE : SUB_NO;
}

static int
weaker(int a, int b)
{
    return a < b ? a : b;
}

static int
stronger(int a, int b)
{
    return a > b ? a : b;
}

static int
search_from(struct search *x, struct str rest, size_t i)
{
    if (++x->steps > 2000)
        return SUB_MAY;
    if (i >= x->leaf->n_argv)
        return SUB_NO;
    const struct perm_word *w = &x->leaf->argv[i];
    if (!w->known || w->glob)
        return SUB_MAY; /* an option, the sub-command or nothing */
    int here = words_match(x, rest, i);
    if (here == SUB_SURE || w->text.len == 0)
        return here;
    char c = w->text.ptr[0];
    bool passed = x->g && (x->g->list || (c == '+' && strcmp(x->g->name, "cargo") == 0));
    if (c != '-')
        return passed ? stronger(here, search_from(x, rest, i + 1)) : here;
    int takes = takes_next(x, w->text);
    int without = takes == SUB_SURE ? SUB_NO : search_from(x, rest, i + 1);
    int with = takes == SUB_NO ? SUB_NO : search_from(x, rest, i + 2);
    int found = stronger(without, with);
    if (takes == SUB_MAY && weaker(without, with) != SUB_SURE)
        found = weaker(found, SUB_MAY);
    return stronger(here, found);
}

enum match_how
rule_match_subcommand(struct str pattern, bool boundary, const struct perm_leaf *leaf, bool fold)
{
    struct str base = rule_without_folder(pattern);
    size_t blank = str_find(base, ' ', 0);
    bool trusted;
    if (blank == (size_t)-1 || blank + 1 >= base.len || leaf->n_argv < 2 || !leaf->argv[0].known ||
        memchr(base.ptr, '*', base.len) || base.ptr[blank + 1] == '-')
        return MATCH_NONE;
    struct search x = {.leaf = leaf, .boundary = boundary, .fold = fold};
    struct str name = program_name(leaf->argv[0].text, &trusted);
    if (!word_is(&x, str_sub(base, 0, blank), name))
        return MATCH_NONE;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (word_is(&x, str_from(table[i].name), name))
            x.g = &table[i];
    int found = search_from(&x, str_sub(base, blank + 1, base.len - blank - 1), 1);
    return found == SUB_SURE ? MATCH_PREFIX : found == SUB_MAY ? MATCH_MAY : MATCH_NONE;
}
