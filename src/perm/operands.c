/*
 * Layer 5 for programs whose effects are not known: their words may name files that they open or change. yare's own files, folders that
 * hold what a deny rule names, what an Edit deny rule names, and code that names such a file ask, wherever the command may run.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/looks.h"
#include "perm/matches.h"
#include "perm/operands.h"
#include "perm/outputs.h"
#include "perm/trees.h"

enum { PIECES_MAX = 1024, PATH_LONGEST = 4096 };

/* ---- one name ---- */

/* The deny rule for edits that names what the program is given: the path itself, or all that lies in that folder. */
static const struct perm_rule *
edit_rule(const struct chain *c, const struct path_names *n)
{
    const char *const *v = (const char *const *)n->v;
    const struct perm_rule *r =
        rules_match_path(c->req->rules, &c->deny, "Edit", v, n->n, &c->anchor);
    struct path_names deep = {.n = n->n};
    for (size_t i = 0; i < n->n; i++)
        deep.v[i] = xasprintf("%s/\x02", n->v[i]);
    if (!r)
        r = rules_match_path(c->req->rules, &c->deny, "Edit", (const char *const *)deep.v, deep.n,
                             &c->anchor);
    path_names_release(&deep);
    return r;
}

struct look {
    struct chain *c;
    bool edits;   /* it may change what it names */
    bool writes;  /* it does */
    bool opens;   /* a file that is one of its words is opened, for all that is known of it */
    bool certain; /* this name is such a word */
    bool reads;   /* what is read there is denied by rules that other layers have not looked at */
};

static void
name_from(const struct look *k, const char *cwd, const char *text)
{
    struct chain *c = k->c;
    struct path_names n;
    bool own = false;
    const size_t how[] = {k->edits, k->writes, k->certain, k->reads};
    if (chain_seen_parts(c, 'o', how, ARRAY_LEN(how), cwd, text))
        return;
    path_names_init(&n, cwd, text, c->fold);
    for (size_t i = 0; i < n.n; i++) {
        const char *what = path_protected(c, n.v[i], false, &own);
        if (!what || !own)
            continue;
        chain_add(c, "L5", VERDICT_ASK, FORCE_HARD, NULL, text,
                  "what it does to '%s' is not known: %s", n.v[i], what);
        break;
    }
    const char *const *v = (const char *const *)n.v;
    const struct perm_rule *r = k->edits ? edit_rule(c, &n) : NULL;
    if (r)
        chain_add(c, "rules", k->writes ? VERDICT_DENY : VERDICT_ASK, FORCE_HARD, r, text,
                  "it %s '%s', which a deny rule is about", k->writes ? "writes" : "may change",
                  text);
    r = k->reads ? rules_match_path(c->req->rules, &c->deny, "Read", v, n.n, &c->anchor) : NULL;
    if (r)
        chain_add(c, "rules", k->certain ? VERDICT_DENY : VERDICT_ASK, FORCE_HARD, r, text,
                  "%s names '%s', which a deny rule is about", k->certain ? "it" : "the code",
                  text);
    path_names_release(&n);
}

static void
judge_name(const struct look *k, const struct perm_leaf *l, struct str s)
{
    if (!s.len || s.len >= PATH_LONGEST || memchr(s.ptr, '\0', s.len))
        return;
    char *text = str_dup(s);
    for (size_t i = 0; i < l->n_cwds; i++)
        name_from(k, l->cwds[i], text);
    if (!l->n_cwds)
        name_from(k, k->c->cwd, text);
    free(text);
}

/* What the shell makes of a pattern. */
static void
judge_matches(const struct look *k, const struct perm_leaf *l, struct str pattern)
{
    enum { MATCHES_MAX = 2000 };
    for (size_t i = 0; i < (l->n_cwds ? l->n_cwds : 1); i++) {
        const char *cwd = l->n_cwds ? l->cwds[i] : k->c->cwd;
        char *text = str_dup(pattern), *path = fs_normalize(cwd, text);
        glob_t g;
        int failed = path_glob(path, &g);
        const struct perm_rule *r = NULL;
        if ((failed && failed != GLOB_NOMATCH) || g.gl_pathc > MATCHES_MAX)
            r = rules_overlap_path(k->c->req->rules, &k->c->deny, "Edit", path, true,
                                   &k->c->anchor);
        if (r)
            chain_add(k->c, "rules", VERDICT_ASK, FORCE_HARD, r, text,
                      "it may change what '%s' stands for, which a deny rule is about", text);
        for (size_t m = 0; !r && !failed && m < g.gl_pathc; m++)
            name_from(k, cwd, g.gl_pathv[m]);
        globfree(&g);
        free(path);
        free(text);
    }
}

/* ---- names inside a word ---- */

static bool
is_name_char(char ch)
{
    return isalnum((unsigned char)ch) || (ch && strchr("_./~-", ch));
}

/* What a bound leaves out may be what a rule is about. */
static void
too_much(const struct look *k, const struct perm_leaf *l, const char *what)
{
    char *shown = str_dup(l->argv[0].text);
    chain_add(k->c, "rules", VERDICT_ASK, FORCE_HARD, NULL, shown,
              "it names more %s than are held against the rules for files", what);
    free(shown);
}

/* "x@.env", "src=.env,dst=/x", "open('.yare/a')": whatever looks like a path, also behind letters of options ("-so.yare/a"). */
static void
judge_pieces(const struct look *k, const struct perm_leaf *l, struct str s)
{
    size_t looked = 0;
    struct look in = *k;
    in.reads = k->c->denies_read;
    for (size_t i = 0; i < s.len;) {
        size_t n = 0, letters = 0;
        while (i + n < s.len && is_name_char(s.ptr[i + n]))
            n++;
        struct str part = str_sub(s, i, n);
        i += n ? n : 1;
        if (!n || (!memchr(part.ptr, '.', n) && !memchr(part.ptr, '/', n)))
            continue;
        if (looked++ == PIECES_MAX) {
            too_much(k, l, "places");
            break;
        }
        bool whole = n == s.len || (part.ptr > s.ptr && part.ptr[-1] == '@');
        in.certain = k->opens && whole && part.ptr[0] != '-';
        judge_name(&in, l, part);
        in.certain = false;
        if (part.ptr[0] != '-' || n < 3 || part.ptr[1] == '-')
            continue;
        for (letters = 2; letters < n && letters < 6; letters++)
            judge_name(&in, l, str_sub(part, letters, n));
    }
}

static void
judge_word(const struct look *k, const struct perm_leaf *l, struct str s, bool code)
{
    size_t eq = str_find(s, '=', 0);
    bool one = !memchr(s.ptr, ' ', s.len) && !memchr(s.ptr, '\n', s.len);
    if (s.ptr[0] != '-')
        judge_name(k, l, s);
    if (eq != (size_t)-1)
        judge_name(k, l, str_sub(s, eq + 1, s.len));
    if (s.ptr[0] == '-' && s.ptr[1] != '-' && s.len > 2)
        judge_name(k, l, str_sub(s, 2, s.len));
    /* a sentence, as in a commit's message, names nothing that is opened */
    if ((one || code) && !str_starts(s, "--exclude") && !str_starts(s, "--ignore"))
        judge_pieces(k, l, s);
}

/* "a/.": what lies in the folder, not the folder. */
static bool
is_contents(struct str s)
{
    return str_is(s, ".") || str_is(s, "..") || str_ends(s, "/.") || str_ends(s, "/..") ||
           str_ends(s, "/./");
}

static bool
is_onto(struct str s)
{
    return str_is(s, "--no-target-directory") ||
           (s.len > 1 && s.ptr[0] == '-' && s.ptr[1] != '-' && memchr(s.ptr, 'T', s.len));
}

/* rsync, cp -T, cp -r a/. b: what lies in the folders that are copied comes to lie in the last one. */
static void
judge_copied(const struct look *k, const struct perm_leaf *l)
{
    enum { ENTRIES_MAX = 2000 };
    const char *cwd = l->cwd ? l->cwd : k->c->cwd;
    size_t last, skip, looked = 0;
    struct str target = copies_target(l, &last, &skip);
    for (size_t i = 1; i < last && target.len; i++) {
        struct str s = l->argv[i].text;
        if (i == skip || !l->argv[i].known || !s.len || s.ptr[0] == '-' || s.len >= PATH_LONGEST)
            continue;
        char *text = str_dup(s), *dir = fs_normalize(cwd, text);
        char *into = str_dup(target);
        DIR *d = opendir(dir);
        /* without a closing slash the folder itself is copied: rsync alone */
        bool itself = s.ptr[s.len - 1] != '/' && leaf_is(l, "rsync");
        if (d && itself) {
            char *to = fs_join(into, fs_basename(dir));
            judge_name(k, l, str_from(to));
            free(to);
        }
        for (struct dirent *e; d && !itself && looked <= ENTRIES_MAX && (e = readdir(d));
             looked++) {
            if (looked == ENTRIES_MAX || !may_walk(LOOK_NAME)) {
                looked = ENTRIES_MAX;
                too_much(k, l, "files");
                continue;
            }
            char *to = fs_join(into, e->d_name);
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                judge_name(k, l, str_from(to));
            free(to);
        }
        if (d)
            closedir(d);
        free(into);
        free(dir);
        free(text);
    }
}

static bool
copies_into(const struct perm_leaf *l)
{
    bool into = false;
    for (size_t i = 1; leaf_is(l, "cp") && i < l->n_argv; i++)
        into = into || is_onto(l->argv[i].text) || is_contents(l->argv[i].text);
    into = into || leaf_is(l, "ditto") || leaf_is(l, "rsync") ||
           (leaf_is(l, "cmake") && trees_has(l, "-E copy_directory*"));
    return l->n_argv > 2 && into;
}

/* yare's own files and those of an agent, behind another name from now on. */
static void
judge_links(struct chain *c, const struct perm_leaf *l)
{
    /* a file of two names is changed by either */
    if (!leaf_is(l, "ln"))
        return;
    bool hard = !trees_has(l, "~s|--symbolic");
    bool edits = c->denies_edit;
    for (size_t i = 1; i < l->n_argv; i++) {
        /* a link in the place of a folder decides what lies in it */
        struct look k = {.c = c, .edits = edits && (hard || i + 1 == l->n_argv)};
        if (l->argv[i].known && l->argv[i].text.len && l->argv[i].text.ptr[0] != '-')
            judge_name(&k, l, l->argv[i].text);
    }
}

void
judge_operands(struct chain *c, const struct perm_leaf *l)
{
    bool edit_rules = c->denies_edit, code = operands_are_code(l);
    bool commands = operands_hold_commands(l);
    judge_links(c, l);
    judge_copies(c, l);
    if (copies_into(l))
        judge_copied(&(struct look){.c = c, .edits = edit_rules}, l);
    if (!l->effects_unknown)
        return;
    judge_outputs(c, l);
    judge_trees(c, l);
    judge_mounts(c, l);
    judge_patch(c, l);
    bool leaves = l->role == LEAF_WRAPPER || operands_are_left(l), output = false, written = false;
    if (edit_rules && !leaves && trees_is_given_found(c, l) && !trees_found(c, l))
        trees_ask_of_anything(c, l);
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool here = output || (s.len && (option_is_output(s) || option_is_written(l, s)));
        bool text = code && (memchr(s.ptr, ' ', s.len) || memchr(s.ptr, '(', s.len));
        struct look k = {
            .c = c, .edits = edit_rules && (!leaves || here || text), .opens = !leaves && !code};
        k.writes = k.edits && (written || (memchr(s.ptr, '=', s.len) && option_is_written(l, s)));
        if (l->argv[i].known && s.len && s.len < (1 << 16))
            judge_word(&k, l, s, code || commands);
        if (k.edits && l->argv[i].known && l->argv[i].glob && s.len < PATH_LONGEST)
            judge_matches(&k, l, s);
        struct str file = l->argv[i].known ? operand_download(l, s) : str_from(NULL);
        if (file.len && edit_rules)
            judge_name(&(struct look){.c = c, .edits = true, .writes = true}, l, file);
        output = here && s.len && s.ptr[0] == '-' && !memchr(s.ptr, '=', s.len);
        written = output && option_is_written(l, s);
    }
    struct look k = {.c = c, .edits = edit_rules && code};
    for (size_t i = 0; code && i < l->n_hidden; i++)
        if (l->hidden[i].text.len)
            judge_pieces(&k, l, l->hidden[i].text);
}
