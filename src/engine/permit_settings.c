#include "engine/permit_settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/log.h"
#include "engine/core.h"

#define DIRS_MAX 64

void
permit_settings_init(struct permit_settings *s)
{
    memset(s, 0, sizeof *s);
    perm_rules_init(&s->rules);
}

static void
drop_strings(char **v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i]);
    free(v);
}

void
permit_settings_release(struct permit_settings *s)
{
    config_free(s->config);
    perm_rules_release(&s->rules);
    drop_strings(s->dirs, s->n_dirs);
    drop_strings(s->files, s->n_files);
    free(s->seen);
    permit_settings_init(s);
}

static void
look_at(const char *file, long long *mtime_ns, long long *size, long long *inode)
{
    struct stat st;
    *mtime_ns = *size = *inode = -1;
    if (stat(file, &st) != 0)
        return;
    *mtime_ns = (long long)st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
    *size = (long long)st.st_size;
    *inode = (long long)st.st_ino;
}

static void
watch(struct permit_settings *s, char *take_file)
{
    for (size_t i = 0; i < s->n_files; i++) {
        if (strcmp(s->files[i], take_file) == 0) {
            free(take_file);
            return;
        }
    }
    if (s->n_files >= s->cap_files) {
        s->cap_files = s->cap_files ? s->cap_files * 2 : 16;
        s->files = xreallocarray(s->files, s->cap_files, sizeof *s->files);
        s->seen = xreallocarray(s->seen, s->cap_files, sizeof *s->seen);
    }
    size_t i = s->n_files++;
    s->files[i] = take_file;
    look_at(take_file, &s->seen[i].mtime_ns, &s->seen[i].size, &s->seen[i].inode);
}

/* The places where a settings file counts; most do not exist, and one that appears is seen. */
static void
watch_known(struct permit_settings *s, const struct core *c)
{
    static const char *const in_root[] = {".yare/settings.json", ".yare/settings.local.json",
                                          ".claude/settings.json", ".claude/settings.local.json"};
    for (size_t i = 0; i < ARRAY_LEN(in_root); i++)
        watch(s, fs_join(c->root, in_root[i]));
    watch(s, fs_join(c->config_dir, "settings.json"));
    watch(s, fs_join(c->home, ".claude/settings.json"));
    watch(s, xstrdup("/etc/yare/managed-settings.json"));
    watch(s, xstrdup("/etc/claude-code/managed-settings.json"));
}

static bool
changed(const struct permit_settings *s)
{
    for (size_t i = 0; i < s->n_files; i++) {
        long long m, z, n;
        look_at(s->files[i], &m, &z, &n);
        if (m != s->seen[i].mtime_ns || z != s->seen[i].size || n != s->seen[i].inode)
            return true;
    }
    return false;
}

static void
add_dir(struct permit_settings *s, const struct core *c, struct str dir)
{
    if (s->n_dirs >= DIRS_MAX || !dir.len)
        return;
    char *text = str_dup(dir);
    ARRAY_GROW(s->dirs, s->n_dirs, s->cap_dirs);
    s->dirs[s->n_dirs++] =
        str_starts(dir, "~/") ? fs_normalize(c->home, text + 2) : fs_normalize(c->root, text);
    free(text);
}

static void
load(struct permit_settings *s, const struct core *c)
{
    const struct config_paths paths = {
        .home = c->home,
        .config_dir = c->config_dir,
        .project_root = c->root,
        .cli_settings = c->cli_settings,
    };
    watch_known(s, c);
    s->trusted = c->trusted;
    s->config = config_load(&paths);
    const struct config_source *src;
    size_t n = config_sources(s->config, &src);
    for (size_t i = 0; i < n; i++)
        if (src[i].file && src[i].file[0] == '/')
            watch(s, xstrdup(src[i].file));
    perm_rules_load(&s->rules, s->config);
    for (size_t i = 0; c->allowed_tools[i]; i++)
        perm_rules_add(&s->rules, VERDICT_ALLOW, c->allowed_tools[i], SCOPE_CLI, false, NULL, 0);
    for (size_t i = 0; c->disallowed_tools[i]; i++)
        perm_rules_add(&s->rules, VERDICT_DENY, c->disallowed_tools[i], SCOPE_CLI, false, NULL, 0);
    struct config_item items[DIRS_MAX];
    n = config_list(s->config, "permissions.additionalDirectories", !c->trusted, items, DIRS_MAX);
    for (size_t i = 0; i < n && i < DIRS_MAX; i++)
        add_dir(s, c, items[i].value);
    for (size_t i = 0; c->add_dirs[i]; i++)
        add_dir(s, c, str_from(c->add_dirs[i]));
}

bool
permit_settings_refresh(struct permit_settings *s, const struct core *c)
{
    if (s->config && s->trusted == c->trusted && !changed(s))
        return false;
    permit_settings_release(s);
    load(s, c);
    log_info("permit", "settings loaded: %zu rules, %zu files watched", s->rules.n, s->n_files);
    return true;
}
