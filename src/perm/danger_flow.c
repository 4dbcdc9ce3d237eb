/* Dangers that no single word shows: what comes from the network and runs, functions that call themselves, pushes that overwrite. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/chain_ctx.h"
#include "perm/danger.h"

static bool
is_one_of(const struct perm_leaf *l, const char *const *names, size_t n)
{
    size_t at;
    struct str name = danger_name(l, &at);
    for (size_t i = 0; i < n && name.len; i++)
        if (names[i][0] == name.ptr[0] && str_is(name, names[i]))
            return true;
    return false;
}

static bool
fetches(const struct perm_leaf *l)
{
    static const char *const names[] = {"curl",  "wget", "fetch", "aria2c", "nc",  "ncat",
                                        "socat", "lynx", "http",  "xh",     "ftp", "ssh"};
    if (is_one_of(l, names, ARRAY_LEN(names)) || (leaf_is(l, "gh") && danger_has(l, "api")))
        return true;
    for (size_t i = 0; i < l->n_effects; i++) {
        if (l->effects[i].kind == EFFECT_NET && l->effects[i].redirect)
            return true; /* /dev/tcp */
    }
    return false;
}

/* It runs what it reads: no script and no code of its own is among its words. */
static bool
runs_input(const struct perm_leaf *l)
{
    static const char *const shells[] = {"sh",  "bash", "zsh", "dash", "ksh",
                                         "ash", "fish", "csh", "tcsh"};
    static const char *const others[] = {"python", "python2", "python3",   "perl", "ruby",
                                         "node",   "nodejs",  "php",       "lua",  "deno",
                                         "bun",    "tclsh",   "osascript", "pwsh"};
    static const char *const evaluate[] = {"eval", "source", "."};
    static const char *const jobs[] = {"at", "batch", "crontab", "parallel", "Rscript", "julia"};
    if (l->n_argv == 1 && !l->argv[0].known)
        return l->role == LEAF_RUN; /* $SHELL */
    if (is_one_of(l, jobs, ARRAY_LEN(jobs)))
        return !danger_has(l, ":::") && !danger_has(l, "-l");
    if (leaf_is(l, "make"))
        return danger_has(l, "-");
    if (leaf_is(l, "awk") || leaf_is(l, "gawk"))
        return l->n_argv > 1 && str_contains(l->argv[1].text, STR("system($"));
    bool shell = is_one_of(l, shells, ARRAY_LEN(shells)), code = false;
    if (is_one_of(l, evaluate, ARRAY_LEN(evaluate))) {
        for (size_t i = 1; i < l->n_argv; i++)
            code |= !l->argv[i].known || str_is(l->argv[i].text, "/dev/stdin");
        return code;
    }
    if (!shell && !is_one_of(l, others, ARRAY_LEN(others)))
        return false;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (!l->argv[i].known)
            return true;
        if (str_is(s, "--") || (shell && str_starts(s, "-") && !str_starts(s, "--") &&
                                memchr(s.ptr, 's', s.len) && !memchr(s.ptr, 'c', s.len)))
            return shell; /* what follows are its arguments */
        if (str_is(s, "-") || str_is(s, "/dev/stdin"))
            return true;
        if (s.len && s.ptr[0] != '-')
            return false; /* a script, a module, a value */
        if (str_is(s, "--version") || str_is(s, "--help") || str_is(s, "-V"))
            return false;
    }
    return true;
}

/* The text as a path, where the leaf runs in one known folder; yours, or NULL. */
static char *
path_of(const struct perm_leaf *l, struct str s)
{
    if (!s.len || (!l->cwd && s.ptr[0] != '/'))
        return NULL;
    char *text = str_dup(s), *path = fs_normalize(l->cwd ? l->cwd : "/", text);
    free(text);
    return path;
}

/* An option of a shell or an interpreter behind which a word is its value, and not the script. */
static bool
takes_value(struct str s)
{
    static const char *const names[] = {
        "-o",        "+o",          "-O",       "-W",       "-X",         "-I",
        "-r",        "-C",          "-E",       "-d",       "-l",         "--rcfile",
        "--require", "--init-file", "--import", "--loader", "--env-file", "--conditions"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(s, names[i]))
            return true;
    /* "sh -xo errexit" */
    return s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-' && s.ptr[s.len - 1] == 'o';
}

/* The file that the leaf runs: its program by a path, or the script of a shell, an interpreter or `source`; yours, or NULL. */
static char *
file_run(const struct perm_leaf *l)
{
    static const char *const runners[] = {"sh",  "bash",    "zsh",  "dash", "ksh",  "ash",
                                          ".",   "source",  "fish", "perl", "ruby", "python",
                                          "php", "python3", "node", "lua"};
    size_t i = 1;
    if (!l->n_argv || !l->argv[0].known)
        return NULL;
    if (memchr(l->argv[0].text.ptr, '/', l->argv[0].text.len) &&
        !is_one_of(l, runners, ARRAY_LEN(runners)))
        return path_of(l, l->argv[0].text);
    if (!is_one_of(l, runners, ARRAY_LEN(runners)))
        return NULL;
    while (i < l->n_argv && l->argv[i].known &&
           (str_starts(l->argv[i].text, "-") || str_starts(l->argv[i].text, "+o")))
        i += takes_value(l->argv[i].text) ? 2 : 1;
    return i < l->n_argv && l->argv[i].known ? path_of(l, l->argv[i].text) : NULL;
}

/* The leaf's word names this file: as it stands, behind an option ("-ox", "--output=x") or as the end of an address. */
static bool
word_writes(const struct perm_leaf *l, struct str s, const char *file)
{
    struct str ends[4] = {s};
    size_t n = 1, eq = str_find(s, '=', 0), slash = s.len;
    if (str_starts(s, "-") && s.len > 2)
        ends[n++] = str_sub(s, eq == (size_t)-1 ? 2 : eq + 1, s.len);
    while (slash > 0 && s.ptr[slash - 1] != '/')
        slash--;
    if (slash > 0 && slash < s.len && !str_starts(s, "-") && s.ptr[0] != '/')
        ends[n++] = str_sub(s, slash, s.len);
    for (size_t i = 0; i < n; i++) {
        char *path = path_of(l, ends[i]);
        bool same = path && strcmp(path, file) == 0;
        free(path);
        if (same)
            return true;
    }
    return false;
}

static bool
brings_file(const struct perm_leaf *l, const char *file)
{
    for (size_t i = 0; i < l->n_effects; i++)
        if (l->effects[i].kind == EFFECT_WRITE && l->effects[i].path &&
            strcmp(l->effects[i].path, file) == 0)
            return true;
    for (size_t i = 1; i < l->n_argv; i++)
        if (l->argv[i].known && word_writes(l, l->argv[i].text, file))
            return true;
    return false;
}

/* "tee x", or "mv y x" where y was fetched. */
static bool
hands_on(const struct perm_leaf *l, const struct perm_leaf *fetch, const char *file)
{
    static const char *const moves[] = {"mv", "cp", "ln", "install"};
    if (leaf_is(l, "tee"))
        return brings_file(l, file);
    bool fetched = false;
    for (size_t i = 1; i < l->n_argv && !fetched && leaf_is_any(l, moves, ARRAY_LEN(moves)); i++) {
        char *path = l->argv[i].known ? path_of(l, l->argv[i].text) : NULL;
        fetched = path && brings_file(fetch, path);
        free(path);
    }
    return fetched && brings_file(l, file);
}

/* "curl ... -o x; sh x": by way of a file it is the same as through a pipe. */
static void
judge_stored_download(struct chain *c, size_t fetch)
{
    for (size_t i = fetch + 1; i < c->sh.n_leaves; i++) {
        char *file = file_run(&c->sh.leaves[i]);
        bool brought = file && brings_file(&c->sh.leaves[fetch], file);
        for (size_t k = fetch + 1; k < i && file && !brought; k++)
            brought = hands_on(&c->sh.leaves[k], &c->sh.leaves[fetch], file);
        if (brought)
            chain_add(c, "L1", VERDICT_ASK, FORCE_HARD, NULL, buf_cstr(&c->texts[i].exact),
                      "it runs '%s', which the same command brings from the network, unseen", file);
        free(file);
        if (brought)
            return;
    }
}

static void
judge_downloads(struct chain *c)
{
    size_t from = 0, to = 0;
    bool fetch = false, run = false;
    for (size_t i = 0; i < c->sh.n_leaves; i++) {
        if (!fetch && fetches(&c->sh.leaves[i])) {
            fetch = true;
            from = i;
        }
        if (!run && runs_input(&c->sh.leaves[i])) {
            run = true;
            to = i;
        }
    }
    for (size_t i = from; i < c->sh.n_leaves && fetch; i++)
        if (fetches(&c->sh.leaves[i]))
            judge_stored_download(c, i);
    if (!fetch || !run)
        return;
    char *shown = str_dup(buf_str(&c->texts[to].exact));
    char *source = str_dup(buf_str(&c->texts[from].exact));
    chain_add(c, "L1", VERDICT_ASK, FORCE_HARD, NULL, shown,
              "'%.40s' runs what '%.200s' brings from the network, unseen", shown, source);
    free(shown);
    free(source);
}

/* ---- :(){ :|:& };: ---- */

static bool
is_name(char ch)
{
    return ch && !strchr(" \t\n;&|(){}<>\"'`$", ch);
}

/* A function whose body calls it twice, in a pipe or in the background. Blanks are gone. */
static bool
is_bomb(const char *text)
{
    for (const char *p = text; (p = strstr(p, "(){")); p++) {
        const char *name = p;
        while (name > text && is_name(name[-1]))
            name--;
        size_t n = (size_t)(p - name);
        const char *body = p + 3, *end = strchr(body, '}');
        size_t calls = 0;
        if (n > 8 && strncmp(name, "function", 8) == 0) {
            name += 8;
            n -= 8;
        }
        for (const char *q = body; n && end && q + n <= end; q++)
            if (strncmp(q, name, n) == 0 && !is_name(q[n]) && (q == body || !is_name(q[-1])) &&
                (q[n] == '|' || q[n] == '&' || (q > body && q[-1] == '|')))
                calls++;
        if (calls > 1 || (calls == 1 && end && memchr(body, '&', (size_t)(end - body))))
            return true;
    }
    return false;
}

static void
judge_bomb(struct chain *c)
{
    struct buf b;
    if (!memchr(c->command.ptr, '(', c->command.len))
        return;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < c->command.len; i++)
        if (!strchr(" \t\n", c->command.ptr[i]) || !c->command.ptr[i])
            buf_addc(&b, c->command.ptr[i]);
    if (is_bomb(buf_cstr(&b)))
        chain_add(
            c, "L1", VERDICT_ASK, FORCE_HARD, NULL, NULL,
            "a function calls itself without end (a fork bomb): the machine would stand still");
    buf_release(&b);
}

/* ---- pushes ---- */

/* "--forc": git takes what begins one option alone. */
static bool
begins_option(struct str s)
{
    static const char *const names[] = {"--force", "--mirror", "--delete", "--prune"};
    for (size_t i = 0; s.len > 4 && i < ARRAY_LEN(names); i++)
        if (s.len <= strlen(names[i]) && strncmp(names[i], s.ptr, s.len) == 0)
            return true;
    return false;
}

bool
danger_push_setting(struct str s)
{
    size_t push = str_find(s, '=', 0);
    return str_starts(s, "remote.") && push != (size_t)-1 &&
           (str_contains(s, STR(".mirror=")) || str_contains(s, STR(".push=+")) ||
            str_contains(s, STR(".push=:")));
}

bool
danger_push_forces(struct str s)
{
    return begins_option(s) || str_is(s, "--force") || str_is(s, "-f") || str_is(s, "--mirror") ||
           str_is(s, "--delete") || str_is(s, "-d") || str_is(s, "--prune") ||
           str_starts(s, "--force-with-lease") ||
           (s.len > 1 && (s.ptr[0] == '+' || s.ptr[0] == ':')) ||
           (s.len > 2 && s.ptr[0] == '-' && s.ptr[1] != '-' &&
            (memchr(s.ptr, 'f', s.len) || memchr(s.ptr, 'd', s.len)));
}

/* Branches that others build on. */
static bool
is_shared_branch(struct str s)
{
    static const char *const names[] = {"main",       "master", "trunk", "develop",
                                        "production", "prod",   "stable"};
    size_t colon = str_find(s, ':', 0);
    if (colon != (size_t)-1)
        s = str_sub(s, colon + 1, s.len);
    if (s.len && s.ptr[0] == '+')
        s = str_sub(s, 1, s.len);
    if (str_starts(s, "refs/heads/"))
        s = str_sub(s, 11, s.len);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(s, names[i]))
            return true;
    return str_starts(s, "release");
}

/* Overwriting a branch of one's own that is named is for the mode to decide; a shared one, or one that is not named, for a person. */
static void
judge_push(struct chain *c, size_t i)
{
    const struct perm_leaf *l = &c->sh.leaves[i];
    size_t at, places = 0;
    bool push = false, forced = false, deletes = false, shared = false;
    if (!danger_is(l, "git", &at))
        return;
    for (size_t k = at; k < l->n_argv; k++) {
        struct str s = l->argv[k].text;
        if (!push) {
            forced |= l->argv[k].known && danger_push_setting(s);
            push = l->argv[k].known && (str_is(s, "push") || str_is(s, "send-pack"));
            continue;
        }
        bool option = s.len && s.ptr[0] == '-';
        shared |= !l->argv[k].known || str_is(s, "--mirror") || str_is(s, "--all") ||
                  (!option && is_shared_branch(s));
        forced |= l->argv[k].known && danger_push_forces(s);
        deletes |= str_is(s, "--delete") || str_is(s, "-d") || (s.len > 1 && s.ptr[0] == ':');
        places += !option;
    }
    enum match_how how = c->covers[i].rule.how;
    if (!push || !forced || (!shared && places > 1) || how == MATCH_PREFIX || how == MATCH_EXACT)
        return;
    char *shown = str_dup(buf_str(&c->texts[i].exact));
    chain_add(c, "L1", VERDICT_ASK, FORCE_HARD, NULL, shown, "a %s push %s what others have of %s",
              danger_has(l, "--mirror") ? "mirror"
              : deletes                 ? "deleting"
                                        : "forced",
              deletes ? "removes" : "overwrites",
              shared ? "a shared branch" : "whatever branch is out");
    free(shown);
}

void
danger_judge_flows(struct chain *c)
{
    if (!c->has_sh)
        return;
    judge_downloads(c);
    judge_bomb(c);
    for (size_t i = 0; i < c->sh.n_leaves; i++)
        judge_push(c, i);
}
