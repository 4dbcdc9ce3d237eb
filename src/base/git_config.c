#include "base/git_config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/log.h"

enum { CONFIG_MAX = 1 << 20, INCLUDE_DEPTH = 10 };

struct reader {
    const char *path;
    int depth;
    struct str rest;
    struct buf section; /* "core", "remote.origin" */
    void (*set)(void *user, const char *key, const char *value);
    void *user;
};

static void read_file(const char *path, int depth,
                      void (*set)(void *user, const char *key, const char *value), void *user);

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool
is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* The next byte, -1 at the end; "\r\n" is one newline. */
static int
next(struct reader *r)
{
    if (!r->rest.len)
        return -1;
    if (r->rest.len > 1 && r->rest.ptr[0] == '\r' && r->rest.ptr[1] == '\n')
        r->rest = str_sub(r->rest, 1, r->rest.len);
    int c = (unsigned char)r->rest.ptr[0];
    r->rest = str_sub(r->rest, 1, r->rest.len);
    return c;
}

static void
skip_line(struct reader *r)
{
    for (int c = next(r); c >= 0 && c != '\n'; c = next(r))
        ;
}

/* After "[": the section's name, with a quoted subsection as it stands. */
static void
read_section(struct reader *r)
{
    int c = next(r);

    buf_clear(&r->section);
    for (; c >= 0 && c != ']' && c != '\n' && c != '"'; c = next(r))
        if (c != ' ' && c != '\t')
            buf_addc(&r->section, lower((char)c));
    if (c != '"')
        return;
    buf_addc(&r->section, '.');
    for (c = next(r); c >= 0 && c != '"' && c != '\n'; c = next(r)) {
        if (c == '\\')
            c = next(r);
        if (c >= 0)
            buf_addc(&r->section, (char)c);
    }
    while (c >= 0 && c != ']' && c != '\n')
        c = next(r);
}

static bool
add_escape(struct reader *r, struct buf *value)
{
    int c = next(r);

    if (c == '\n')
        return true; /* the line goes on */
    if (c < 0 || !strchr("tbn\\\"", c))
        return false;
    buf_addc(value, (char)(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'b' ? '\b' : c));
    return true;
}

/* After "=": false when it is malformed. */
static bool
read_value(struct reader *r, struct buf *value)
{
    bool quoted = false, comment = false;
    size_t keep = 0; /* blanks at the end do not count */

    for (int c = next(r); c >= 0 && c != '\n'; c = next(r)) {
        bool blank = c == ' ' || c == '\t';
        if (comment || (blank && !quoted && !value->len))
            continue;
        if (!quoted && (c == '#' || c == ';')) {
            comment = true;
            continue;
        }
        if (c == '"') {
            quoted = !quoted;
            continue;
        }
        if (c != '\\')
            buf_addc(value, (char)c);
        else if (!add_escape(r, value))
            return false;
        if (!blank || quoted)
            keep = value->len;
    }
    buf_truncate(value, keep);
    return !quoted;
}

/* A path as the config file at `file` means it: "~/x", or relative to its folder. Yours. */
static char *
config_path(const char *file, const char *value)
{
    if (value[0] == '~' && value[1] == '/')
        return fs_join(fs_home(), value + 2);
    char *dir = fs_dirname(file), *path = fs_join(dir, value);
    free(dir);
    return path;
}

static void
take_key(struct reader *r, const char *key, const char *value)
{
    r->set(r->user, key, value);
    if (strcmp(key, "include.path") != 0 || r->depth >= INCLUDE_DEPTH)
        return;
    char *path = config_path(r->path, value);
    read_file(path, r->depth + 1, r->set, r->user);
    free(path);
}

static void
read_key(struct reader *r, int c)
{
    struct buf key, value;

    buf_init(&key, CONFIG_MAX);
    buf_init(&value, CONFIG_MAX);
    buf_addf(&key, "%s.", buf_cstr(&r->section));
    for (; c >= 0 && is_key_char((char)c); c = next(r))
        buf_addc(&key, lower((char)c));
    while (c == ' ' || c == '\t')
        c = next(r);
    if (c == '=') {
        if (read_value(r, &value))
            take_key(r, buf_cstr(&key), buf_cstr(&value));
    } else {
        take_key(r, buf_cstr(&key), "true");
        if (c >= 0 && c != '\n')
            skip_line(r);
    }
    buf_release(&key);
    buf_release(&value);
}

static void
read_file(const char *path, int depth, void (*set)(void *user, const char *key, const char *value),
          void *user)
{
    struct reader r = {.path = path, .depth = depth, .set = set, .user = user};
    struct buf text;
    struct err err;
    bool found;

    buf_init(&text, CONFIG_MAX);
    buf_init(&r.section, 4096);
    if (!fs_read_if(path, CONFIG_MAX, &text, &found, &err))
        log_warn("git_config", "not used: %s", err.text);
    r.rest = buf_str(&text);
    if (str_starts(r.rest, "\xEF\xBB\xBF"))
        r.rest = str_sub(r.rest, 3, r.rest.len);
    for (int c; (c = next(&r)) >= 0;) {
        if (c == '[')
            read_section(&r);
        else if (c == '#' || c == ';')
            skip_line(&r);
        else if (is_key_char((char)c) && r.section.len)
            read_key(&r, c);
    }
    buf_release(&text);
    buf_release(&r.section);
}

void
git_config_read(const char *path, void (*set)(void *user, const char *key, const char *value),
                void *user)
{
    read_file(path, 0, set, user);
}

struct wanted {
    const char *key;
    char *value;
};

static void
keep_wanted(void *user, const char *key, const char *value)
{
    struct wanted *w = user;

    if (strcmp(key, w->key) != 0)
        return;
    free(w->value);
    w->value = xstrdup(value);
}

/* A file of git's config folder; yours. */
static char *
xdg_path(const char *name)
{
    const char *xdg = getenv("XDG_CONFIG_HOME");

    if (xdg && xdg[0])
        return xasprintf("%s/git/%s", xdg, name);
    return xasprintf("%s/.config/git/%s", fs_home(), name);
}

static bool
env_true(const char *name)
{
    const char *v = getenv(name);

    return v && v[0] && strcmp(v, "0") != 0 && strcasecmp(v, "false") != 0 &&
           strcasecmp(v, "no") != 0 && strcasecmp(v, "off") != 0;
}

char *
git_config_get(const char *common_dir, const char *key)
{
    struct wanted w = {.key = key};
    const char *system = getenv("GIT_CONFIG_SYSTEM"), *global = getenv("GIT_CONFIG_GLOBAL");

    if (!env_true("GIT_CONFIG_NOSYSTEM"))
        git_config_read(system ? system : "/etc/gitconfig", keep_wanted, &w);
    if (global) {
        git_config_read(global, keep_wanted, &w);
    } else {
        char *xdg = xdg_path("config"), *home = fs_join(fs_home(), ".gitconfig");
        git_config_read(xdg, keep_wanted, &w);
        git_config_read(home, keep_wanted, &w);
        free(xdg);
        free(home);
    }
    if (common_dir) {
        char *own = fs_join(common_dir, "config");
        git_config_read(own, keep_wanted, &w);
        free(own);
    }
    return w.value;
}

char *
git_config_excludes(const char *common_dir)
{
    char *value = git_config_get(common_dir, "core.excludesfile"), *path;

    if (!value)
        return xdg_path("ignore");
    if (value[0] != '~' || value[1] != '/')
        return value;
    path = fs_join(fs_home(), value + 2);
    free(value);
    return path;
}
