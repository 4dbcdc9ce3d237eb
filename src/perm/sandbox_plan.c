/* The policy of a session's commands, from the place, the settings and the deny rules. */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/protected.h"
#include "perm/rules_match.h"
#include "perm/sandbox_parts.h"
#include "perm/sandbox_tmp.h"

enum { ITEMS_MAX = 256, ENTRIES_MAX = 200000, KEY_FILES_MAX = 50, FIXED_MAX = 400 };
#define MB ((int64_t)1 << 20)

static char *
setting_path(const struct sandbox_place *at, struct str value)
{
    char *text = str_dup(value), *full;
    if (text[0] == '~' && (text[1] == '/' || !text[1]))
        full = fs_normalize(at->home, text[1] ? text + 2 : ".");
    else
        full = fs_normalize(at->root, text[0] == '/' && text[1] == '/' ? text + 1 : text);
    free(text);
    return full;
}

/* What is not there cannot be mounted, nor does it hold anything yet. */
static void
setting_paths(struct sandbox_paths *l, const struct sandbox_place *at, const struct config *cfg,
              const char *key, bool only_trusted)
{
    struct config_item items[ITEMS_MAX];
    size_t n = cfg ? config_list(cfg, key, only_trusted, items, ITEMS_MAX) : 0;
    for (size_t i = 0; i < n && i < ITEMS_MAX; i++) {
        char *path = setting_path(at, items[i].value);
        size_t len = strlen(path);
        if (len > 3 && strcmp(path + len - 3, "/**") == 0)
            path[len - 3] = '\0';
        paths_take(l, paths_real(path));
        free(path);
    }
}

static bool
add_writable(struct sandbox_plan *p, const struct sandbox_place *at, struct err *err)
{
    char *root = paths_real(at->root);
    if (!root)
        return err_sys(err, errno, "the sandbox cannot open the project '%s'", at->root);
    p->root = root;
    paths_add(&p->writable, root);
    for (size_t i = 0; i < at->n_additional_dirs; i++)
        paths_take(&p->writable, paths_real(at->additional_dirs[i]));
    return true;
}

/* A setting may not open what is protected. */
static void
add_allowed_writes(struct sandbox_plan *p, const struct sandbox_place *at, const struct config *cfg)
{
    struct sandbox_paths asked = {0};
    setting_paths(&asked, at, cfg, "sandbox.filesystem.allowWrite", !at->trusted);
    for (size_t i = 0; i < asked.n; i++) {
        const char *below =
            fs_is_within(asked.v[i], p->root) ? asked.v[i] + strlen(p->root) : asked.v[i];
        if (!protected_by_name(below) && strcmp(asked.v[i], "/") != 0)
            paths_add(&p->writable, asked.v[i]);
    }
    paths_release(&asked);
}

static void
hide(struct sandbox_plan *p, const char *dir, const char *name)
{
    char *path = dir ? fs_join(dir, name) : xstrdup(name);
    char *real = path ? paths_real(path) : NULL;
    /* Never what holds a folder that the commands are to work in, nor the home itself. */
    bool holds = !real || strcmp(real, "/") == 0;
    for (size_t i = 0; !holds && i < p->writable.n; i++)
        holds = strcmp(p->writable.v[i], real) == 0;
    if (!holds && p->home && fs_is_within(p->home, real))
        holds = true;
    if (!holds)
        paths_add(&p->unreadable, real);
    free(real);
    free(path);
}

static bool
is_key_file(const char *name)
{
    struct str s = str_from(name);
    return str_ends(s, ".pem") || str_ends(s, ".key") || str_ends(s, ".p12") ||
           str_ends(s, ".pfx") || str_starts(s, "id_rsa") || str_starts(s, "id_ed25519");
}

/* HOME may have been set to another folder; the account's own has the same secrets. */
static void
hide_account_home(struct sandbox_plan *p, const char *const *names, size_t n)
{
    const struct passwd *pw = getpwuid(geteuid());
    for (size_t i = 0; pw && pw->pw_dir && i < n; i++)
        hide(p, pw->pw_dir, names[i]);
}

static void
add_secrets(struct sandbox_plan *p, const struct sandbox_place *at)
{
    size_t n, found = 0;
    const char *const *names = secret_home_names(&n);
    for (size_t i = 0; i < n; i++)
        hide(p, p->home, names[i]);
    hide_account_home(p, names, n);
    names = secret_system_paths(&n);
    for (size_t i = 0; i < n; i++)
        if (geteuid() != 0 || strcmp(names[i], "/root") != 0)
            hide(p, NULL, names[i]);
    if (at->config_dir)
        hide(p, NULL, at->config_dir);
    if (at->data_dir)
        hide(p, NULL, at->data_dir);
    DIR *d = opendir(p->home);
    for (struct dirent *e; d && found < KEY_FILES_MAX && (e = readdir(d));)
        if (is_key_file(e->d_name) && e->d_type == DT_REG) {
            hide(p, p->home, e->d_name);
            found++;
        }
    if (d)
        closedir(d);
}

/* allowRead beats the secrets and denyRead at the same path; below one it is a hole. */
static void
add_holes(struct sandbox_plan *p, const struct sandbox_place *at, const struct config *cfg)
{
    setting_paths(&p->readable, at, cfg, "sandbox.filesystem.allowRead", !at->trusted);
    if (at->spill_dir)
        paths_take(&p->readable, paths_real(at->spill_dir));
    for (size_t i = 0; i < at->n_kept_dirs; i++)
        paths_take(&p->readable, paths_real(at->kept_dirs[i]));
    for (size_t i = 0; i < p->unreadable.n;) {
        if (!paths_has(&p->readable, p->unreadable.v[i])) {
            i++;
            continue;
        }
        free(p->unreadable.v[i]);
        p->unreadable.v[i] = p->unreadable.v[--p->unreadable.n];
    }
}

static void
add_protected(struct sandbox_plan *p, const struct sandbox_place *at,
              const struct perm_rules *rules)
{
    char *claude = fs_join(p->home, ".claude");
    const struct perm_anchor an = {.root = p->root,
                                   .cwd = at->cwd ? at->cwd : p->root,
                                   .home = p->home,
                                   .config_home = claude};
    struct sandbox_guards g = {&p->writable, &p->read_only, &p->missing};
    bool many;
    sandbox_deny_rules(p, rules, &an, &many);
    struct sandbox_walk w = {
        .plan = p, .rules = many ? rules : NULL, .anchor = &an, .entries_left = ENTRIES_MAX};
    size_t tops = p->writable.n; /* git adds more, which need no walk */
    for (size_t i = 0; i < tops; i++) {
        char *top = xstrdup(p->writable.v[i]);
        if (fs_is_dir(top)) {
            sandbox_guard_top(&g, top, strcmp(top, p->home) == 0);
            sandbox_walk(&w, top);
        }
        free(top);
    }
    free(claude);
}

/* A mount goes along when a folder above it is renamed, and leaves its place to another; a mount itself cannot be renamed. */
static void
fix_folders(struct sandbox_plan *p)
{
    const struct sandbox_paths *kept[] = {&p->read_only, &p->missing, &p->writable};
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        for (size_t k = 0; k < kept[i]->n; k++)
            if (p->fixed.n < FIXED_MAX)
                paths_above(&p->writable, kept[i]->v[k], &p->fixed);
    if (p->fixed.n >= FIXED_MAX)
        paths_take(&p->unproven, xstrdup("protected files lie in so many folders that not all of "
                                         "them can be kept from being renamed"));
}

static int64_t
number(const struct config *cfg, const char *key, bool only_trusted, int64_t fallback, int64_t max)
{
    long long v = cfg ? config_int(cfg, key, only_trusted, -1) : -1;
    return v < 0 ? fallback : v > max ? max : v;
}

static void
set_caps(struct sandbox_plan *p, const struct config *cfg, bool only_trusted)
{
    struct sysinfo si;
    int64_t ram = sysinfo(&si) == 0 ? (int64_t)si.totalram * si.mem_unit / MB : 0;
    p->caps = (struct sandbox_caps){
        .memory_bytes =
            number(cfg, "sandbox.limits.memoryMB", only_trusted, ram / 4 * 3, (int64_t)1 << 40) *
            MB,
        .file_bytes =
            number(cfg, "sandbox.limits.fileMB", only_trusted, 4096, (int64_t)1 << 40) * MB,
        .processes =
            (int)number(cfg, "sandbox.limits.processes", only_trusted, 2048, 4 * 1024 * 1024),
        .cpu_seconds = (int)number(cfg, "sandbox.limits.cpuSeconds", only_trusted, 0, 1000000000)};
}

static void
set_network(struct sandbox_plan *p, const struct sandbox_place *at, const struct config *cfg)
{
    struct config_item items[ITEMS_MAX];
    size_t n =
        cfg ? config_list(cfg, "sandbox.network.allowedDomains", !at->trusted, items, ITEMS_MAX)
            : 0;
    size_t denied = cfg ? config_list(cfg, "sandbox.network.deniedDomains", false, NULL, 0) : 0;
    for (size_t i = 0; i < n && i < ITEMS_MAX; i++)
        if (str_is(items[i].value, "*") && !denied) /* with exceptions it is the proxy's to keep */
            p->network = true;
    if (!p->network && at->proxy_socket && p->kind == SANDBOX_BWRAP)
        p->proxy_socket = xstrdup(at->proxy_socket);
}

struct sandbox_plan *
sandbox_plan_new(enum sandbox_kind kind, const struct sandbox_place *at, const struct config *cfg,
                 const struct perm_rules *rules, struct err *err)
{
    struct sandbox_plan *p = xcalloc(1, sizeof *p);
    p->kind = kind;
    p->marks = marks_new();
    p->home = paths_real(at->home ? at->home : fs_home());
    if (!p->home)
        p->home = xstrdup("/nonexistent");
    if (kind == SANDBOX_BWRAP)
        p->bwrap = xstrdup(sandbox_probe()->bwrap);
    if (kind == SANDBOX_NONE || (kind == SANDBOX_BWRAP && !p->bwrap)) {
        err_set(err, ERR_UNSUPPORTED, "there is no sandbox of that kind here");
        goto fail;
    }
    if (!add_writable(p, at, err) || !sandbox_tmp_make(at->tmp, &p->tmp, &p->own_tmp, err))
        goto fail;
    add_allowed_writes(p, at, cfg);
    setting_paths(&p->read_only, at, cfg, "sandbox.filesystem.denyWrite", false);
    setting_paths(&p->unreadable, at, cfg, "sandbox.filesystem.denyRead", false);
    add_secrets(p, at);
    add_protected(p, at, rules);
    fix_folders(p);
    add_holes(p, at, cfg);
    set_caps(p, cfg, !at->trusted);
    set_network(p, at, cfg);
    return p;
fail:
    sandbox_plan_free(p);
    return NULL;
}

void
sandbox_plan_free(struct sandbox_plan *p)
{
    if (!p)
        return;
    struct sandbox_paths *lists[] = {&p->writable,   &p->read_only, &p->missing, &p->fixed,
                                     &p->unreadable, &p->readable,  &p->unproven};
    if (p->own_tmp)
        sandbox_tmp_remove(p->tmp);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        paths_release(lists[i]);
    marks_free(p->marks);
    free(p->proxy_socket);
    free(p->tmp);
    free(p->root);
    free(p->home);
    free(p->bwrap);
    free(p);
}

bool
sandbox_plan_proves(const struct sandbox_plan *p)
{
    return p && p->kind == SANDBOX_BWRAP && !p->unproven.n;
}
