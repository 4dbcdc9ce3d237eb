/* What every layer looks up: folders, anchors, trust, the mode in force and which rules count. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "perm/chain_ctx.h"
#include "perm/shell.h"

/* Adds a folder by its name and by what it leads to. */
static void
add_dir(char ***dirs, size_t *n, const char *base, const char *dir)
{
    char *named = fs_normalize(base, dir), *real = path_resolve(named);
    *dirs = xreallocarray(*dirs, *n + 2, sizeof **dirs);
    (*dirs)[(*n)++] = named;
    if (real && strcmp(real, named) != 0)
        (*dirs)[(*n)++] = real;
    else
        free(real);
}

/* Takes the name. */
static void
add_own(struct own_dirs *own, char *take)
{
    char *real = path_resolve(take);
    if (own->n + 2 > ARRAY_LEN(own->v)) {
        free(take);
        free(real);
        return;
    }
    own->v[own->n++] = take;
    if (real && strcmp(real, take) != 0)
        own->v[own->n++] = real;
    else
        free(real);
}

/* Most decisions write nothing and need not know. */
const struct own_dirs *
chain_own(const struct chain *c)
{
    struct own_dirs *own = c->own;
    if (own->made)
        return own;
    own->made = true;
    add_own(own, fs_join(c->home, ".config/yare"));
    add_own(own, fs_join(c->home, ".local/share/yare"));
    add_own(own, fs_join(c->home, ".yare"));
    add_own(own, fs_join(c->home, ".claude"));
    add_own(own, fs_join(c->home, ".claude.json"));
    if (c->req->config_dir)
        add_own(own, fs_normalize(c->home, c->req->config_dir));
    if (c->req->data_dir)
        add_own(own, fs_normalize(c->home, c->req->data_dir));
    return own;
}

/* Trust belongs to one folder: it is not inherited by a repository inside it, nor by one that borrows another's data. */
static void
setup_trust(struct chain *c, const struct perm_request *req)
{
    c->trusted = req->trusted;
    if (!req->trusted)
        c->distrust = "this folder is not trusted";
    if (req->nested_repo) {
        c->trusted = false;
        c->distrust = "this is a repository of its own inside the trusted one";
    }
    char *root = req->trusted_root ? fs_normalize(c->root, req->trusted_root) : NULL;
    if (root && strcmp(root, c->root) != 0) {
        c->trusted = false;
        c->distrust = "another folder was trusted, not this one";
    }
    free(root);
    if (req->commondir && *req->commondir) {
        char *at = fs_normalize(c->root, req->commondir), *common = path_resolve(at);
        if (!common || !path_inside(common, c->roots[c->n_roots > 1 ? 1 : 0], c->fold)) {
            c->trusted = false;
            c->distrust = "the repository's data lies in another folder";
        }
        free(at);
        free(common);
    }
}

static void
setup_mode(struct chain *c, const struct perm_request *req)
{
    bool repo_mode = req->mode_scope == SCOPE_PROJECT || req->mode_scope == SCOPE_LOCAL;
    c->mode = req->mode;
    if (repo_mode && !c->trusted && req->mode != PERM_DONT_ASK && req->mode != PERM_PLAN)
        c->mode = PERM_DEFAULT;
    if (repo_mode && (req->mode == PERM_AUTO || req->mode == PERM_BYPASS))
        c->mode = PERM_DEFAULT; /* only a person may say so, whatever a trusted project says */
    c->allow = (struct rule_filter){.list = VERDICT_ALLOW,
                                    .untrusted = !c->trusted,
                                    .narrow = c->mode == PERM_AUTO,
                                    .fold_case = c->fold};
    c->ask = (struct rule_filter){.list = VERDICT_ASK, .fold_case = c->fold};
    c->deny = (struct rule_filter){.list = VERDICT_DENY, .fold_case = c->fold};
    c->denies_read = rules_any(req->rules, &c->deny, "Read");
    c->denies_edit = rules_any(req->rules, &c->deny, "Edit");
}

static void
setup_shell(struct chain *c)
{
    struct perm_shell_env env = {.cwd = c->cwd,
                                 .home = c->home,
                                 .root = c->root,
                                 .shell = c->req->shell ? c->req->shell : "bash"};
    struct str command = json_str(c->req->input, "command");
    if (c->kind != TOOL_KIND_SHELL || !command.ptr)
        return;
    c->command = command;
    perm_shell_analyse(command, &env, &c->sh);
    c->has_sh = true;
}

/* Of the command, or of the other tools' texts together: what it may take grows with them. */
static size_t
input_bytes(const struct perm_request *req)
{
    size_t n = 0;
    for (const struct cJSON *i = json_first(req->input); i; i = json_next(i))
        n += json_value_str(i).len;
    return n;
}

void
chain_init(struct chain *c, const struct perm_request *req, struct decision *d)
{
    *c = (struct chain){.req = req, .d = d, .clean = true, .cache_before = path_cache_begin()};
    c->looks_before = looks_begin(input_bytes(req));
    buf_init(&c->key, BUF_MAX);
    c->home = fs_normalize("/", req->home && *req->home ? req->home : fs_home());
    c->cwd = fs_normalize(c->home, req->cwd ? req->cwd : "/");
    c->root = fs_normalize(c->cwd, req->root ? req->root : c->cwd);
    c->start = req->start_cwd ? fs_normalize(c->cwd, req->start_cwd) : NULL;
    c->fold = req->case_insensitive < 0 ? path_probe_fold(c->root) : req->case_insensitive > 0;
    add_dir(&c->roots, &c->n_roots, c->cwd, c->root);
    for (size_t i = 0; i < req->n_additional_dirs; i++)
        add_dir(&c->roots, &c->n_roots, c->cwd, req->additional_dirs[i]);
    for (size_t i = 0; i < req->n_read_roots; i++)
        add_dir(&c->read_roots, &c->n_read_roots, c->cwd, req->read_roots[i]);
    c->config_home = fs_join(c->home, ".claude");
    c->anchor = (struct perm_anchor){.root = c->root,
                                     .cwd = c->cwd,
                                     .start = c->start,
                                     .home = c->home,
                                     .config_home = c->config_home,
                                     .fold_case = c->fold};
    c->own = xcalloc(1, sizeof *c->own);
    setup_trust(c, req);
    setup_mode(c, req);
    c->kind = tool_kind_of(c);
    setup_shell(c);
    if (c->has_sh)
        covers_make(c);
}

static void
free_all(char **v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i]);
}

/* Looked up by a borrowed key, which is copied where it is new. */
static bool
seen_key(struct chain *c, struct str key)
{
    if (str_set_has(&c->seen, key))
        return true;
    if (!c->keys)
        c->keys = arena_new();
    str_set_add(&c->seen, arena_str(c->keys, key));
    return false;
}

bool
chain_seen(struct chain *c, char *take)
{
    bool seen = seen_key(c, str_from(take));
    free(take);
    return seen;
}

bool
chain_seen_parts(struct chain *c, char who, const size_t *numbers, size_t n, const char *a,
                 const char *b)
{
    buf_clear(&c->key);
    buf_addc(&c->key, who);
    buf_add(&c->key, numbers, n * sizeof *numbers);
    buf_add(&c->key, a, strlen(a) + 1);
    buf_adds(&c->key, b);
    return seen_key(c, buf_str(&c->key));
}

void
chain_release(struct chain *c)
{
    path_cache_end(c->cache_before);
    looks_end(c->looks_before);
    str_set_release(&c->seen);
    arena_free(c->keys);
    buf_release(&c->key);
    if (c->has_sh) {
        covers_release(c);
        perm_analysis_release(&c->sh);
    }
    free_all(c->own->v, c->own->n);
    free(c->own);
    free_all(c->roots, c->n_roots);
    free_all(c->read_roots, c->n_read_roots);
    free(c->roots);
    free(c->read_roots);
    free(c->force);
    free(c->root);
    free(c->cwd);
    free(c->start);
    free(c->home);
    free(c->config_home);
}
