/*
 * Removals that no leaf shows: in code of another language, in a job for later, in a variable that becomes a command, in what is printed into
 * a shell. The words are cut at blanks, quotes and operators; `rm -r` of a critical folder among them asks, and so does a library's
 * call for it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"
#include "perm/danger.h"

enum { OPERANDS_MAX = 24 };

static bool
parts(char ch)
{
    return !ch || isspace((unsigned char)ch) || strchr("'\"`;|&(){}[]<>!=,\\$", ch);
}

static bool
next_word(struct str s, size_t *at, struct str *ret)
{
    while (*at < s.len && parts(s.ptr[*at]))
        ++*at;
    size_t from = *at;
    while (*at < s.len && !parts(s.ptr[*at]))
        ++*at;
    *ret = str_sub(s, from, *at - from);
    return ret->len > 0;
}

/* "~", "$HOME/", "/", "/usr", ".", "..": the place, named for a person, or NULL. */
static const char *
critical_word(const struct chain *c, struct str s)
{
    static const char *const homes[] = {"~", "HOME", "Dir.home", "homedir", "os.homedir"};
    while (s.len > 1 && (s.ptr[s.len - 1] == '/' || s.ptr[s.len - 1] == '*'))
        s.len--;
    for (size_t i = 0; i < ARRAY_LEN(homes); i++)
        if (str_is(s, homes[i]))
            return "the home folder";
    if (str_is(s, ".") || str_is(s, "..") || str_is(s, "*"))
        return "the working folder";
    if (!s.len || s.ptr[0] != '/')
        return NULL;
    char *text = str_dup(s), *path = fs_normalize("/", text);
    const char *what = strcmp(path, "/") == 0      ? "the whole system"
                       : strcmp(path, "/tmp") == 0 ? NULL
                       : !strchr(path + 1, '/')    ? "a first-level folder of the system"
                       : c->home && path_inside(c->home, path, c->fold) ? "the home folder"
                       : c->root && path_inside(c->root, path, c->fold) ? "the project"
                                                                        : NULL;
    free(path);
    free(text);
    return what;
}

static bool
is_rm(struct str s)
{
    return str_is(s, "rm") || str_ends(s, "/rm") || str_ends(s, ":rm");
}

/* From the word behind rm on: options with an 'r', and a critical place among the next operands. */
static const char *
removal_at(const struct chain *c, struct str s, size_t at)
{
    bool tree = false;
    struct str word;
    const char *what = NULL;
    for (size_t n = 0; n < OPERANDS_MAX && next_word(s, &at, &word); n++) {
        if (str_is(word, "IFS"))
            continue;
        if (word.ptr[0] == '-')
            tree = tree || str_is(word, "--recursive") ||
                   (word.len > 1 && word.ptr[1] != '-' &&
                    (memchr(word.ptr, 'r', word.len) || memchr(word.ptr, 'R', word.len)));
        else if (!what)
            what = critical_word(c, word);
        if (tree && what)
            return what;
        if (is_rm(word) || (word.ptr[0] != '-' && !what && n > 6))
            break;
    }
    return NULL;
}

/* shutil.rmtree('/'), fs.rmSync("/"), FileUtils.rm_rf(Dir.home): what is called, then a critical place as its first word. */
static const char *
call_at(const struct chain *c, struct str s, size_t at, struct str name)
{
    static const char *const calls[] = {"rmtree",    "rmSync",         "rmdirSync",   "removeSync",
                                        "rm_rf",     "rm_r",           "remove_tree", "rimraf",
                                        "RemoveAll", "remove_dir_all", "delete_tree", "remove_all",
                                        "rimrafSync"};
    struct str word;
    bool is = false;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        is = is || str_is(name, calls[i]) ||
             (name.len > strlen(calls[i]) && str_ends(name, calls[i]) &&
              strchr(".:", name.ptr[name.len - strlen(calls[i]) - 1]));
    for (size_t n = 0; is && n < 3 && next_word(s, &at, &word); n++) {
        const char *what = critical_word(c, word);
        if (what)
            return what;
    }
    return NULL;
}

static const char *
text_removes(const struct chain *c, struct str s)
{
    struct str word;
    const char *what = NULL;
    for (size_t at = 0; !what && next_word(s, &at, &word);) {
        what = is_rm(word) ? removal_at(c, s, at) : NULL;
        if (!what)
            what = call_at(c, s, at, word);
    }
    return what;
}

/* A command whose name, or whose whole text, is only known when it runs. */
static bool
runs_unknown(const struct perm_leaf *l)
{
    return l->n_argv && !l->argv[0].known;
}

static void
judge_text(struct chain *c, struct str text, const char *shown)
{
    const char *what = text_removes(c, text);
    if (what)
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown, "its text seems to remove %s",
                  what);
}

/* ---- yare's own files, by a name that is only known when it runs ---- */

static bool
names_own_text(struct str s)
{
    static const char *const names[] = {".yare", ".claude", "/yare/"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_contains(s, str_from(names[i])))
            return true;
    return false;
}

/* A program that is no reader, and a word or a written path of it that nobody knows yet. */
static bool
changes_unknown(const struct perm_leaf *l)
{
    bool reads = (l->cls == CLASS_READER || l->cls == CLASS_GIT_READ) && !l->effects_unknown;
    for (size_t i = 0; i < l->n_effects; i++) {
        const struct perm_effect *e = &l->effects[i];
        bool writes =
            e->kind == EFFECT_WRITE || e->kind == EFFECT_DELETE || e->kind == EFFECT_DELETE_TREE;
        if (writes && (!e->path || path_leads_anywhere(e->path)))
            return true;
    }
    for (size_t i = 1; i < l->n_argv && !reads && l->n_argv > 1; i++)
        if (!l->argv[i].known && l->role == LEAF_INNER)
            return true;
    return false;
}

static void
judge_own_names(struct chain *c)
{
    if (!names_own_text(c->command))
        return;
    for (size_t i = 0; i < c->sh.n_leaves; i++)
        if (changes_unknown(&c->sh.leaves[i])) {
            char *shown = str_dup(buf_str(&c->texts[i].exact));
            chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, shown,
                      "what it changes is only known when it runs, and the command names yare's "
                      "own or an agent's settings");
            free(shown);
            return;
        }
}

void
danger_judge_texts(struct chain *c)
{
    bool whole = false;
    for (size_t i = 0; i < c->sh.n_leaves; i++) {
        const struct perm_leaf *l = &c->sh.leaves[i];
        const char *shown = buf_cstr(&c->texts[i].exact);
        for (size_t k = 0; k < l->n_hidden; k++)
            judge_text(c, l->hidden[k].text, shown);
        for (size_t k = 1; k < l->n_argv && l->cls == CLASS_DANGER; k++)
            if (l->argv[k].known)
                judge_text(c, l->argv[k].text, shown);
        if (l->role == LEAF_INNER && l->cls == CLASS_UNKNOWN && l->n_argv &&
            !is_rm(l->argv[0].text))
            judge_text(c, buf_str(&c->texts[i].exact), shown); /* "* * * * * rm -rf ~" */
        whole = whole || runs_unknown(l);
    }
    if (whole)
        judge_text(c, c->command, NULL);
    judge_own_names(c);
}
