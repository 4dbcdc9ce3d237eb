#include "base/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/sha256.h"

enum { LOCK_TIMEOUT_MS = 10000, SETTINGS_MAX = 8 << 20, INDEX_MAX = 256 << 20 };

static const struct {
    const char *name;
    bool only_tracked;
} bound[] = {
    {".yare/settings.json", false},
    {".claude/settings.json", false},
    {".mcp.json", false},
    {".yare/settings.local.json", true},
    {".claude/settings.local.json", true},
};

/* ---- does git track a file? ---- */

static bool
index_names(struct str index, const char *name)
{
    /* "DIRC", then the version. Version 4 shortens paths, so that a search says nothing: assume the worst. */
    if (index.len < 12 || !str_starts(index, "DIRC") || (unsigned char)index.ptr[7] > 3)
        return index.len != 0;
    return memmem(index.ptr, index.len, name, strlen(name) + 1) != NULL;
}

/* A path that only ends like `name` also counts: at worst one is asked once more. */
static bool
is_tracked(const char *root, const char *name)
{
    char *dir = fs_git_dir(root);
    if (!dir)
        return false;
    char *file = fs_join(dir, "index");
    struct buf index;
    bool found, tracked;
    buf_init(&index, INDEX_MAX);
    tracked = !fs_read_if(file, INDEX_MAX - 1, &index, &found, NULL) ||
              (found && index_names(buf_str(&index), name));
    buf_release(&index);
    free(file);
    free(dir);
    return tracked;
}

/* ---- the hash of what a folder brings ---- */

static bool
add_file(struct sha256 *hash, const char *root, size_t i, bool *ret_any)
{
    char *path = fs_join(root, bound[i].name);
    struct buf text;
    bool found = false, ok = true;
    buf_init(&text, SETTINGS_MAX + 1);
    if (fs_exists(path) && (!bound[i].only_tracked || is_tracked(root, bound[i].name)))
        ok = fs_read_if(path, SETTINGS_MAX, &text, &found, NULL);
    if (ok && found) {
        /* Name and length first, so that no two sets of files read alike. */
        struct buf line;
        buf_init(&line, 128);
        buf_addf(&line, "%s %zu\n", bound[i].name, text.len);
        sha256_add(hash, buf_str(&line));
        sha256_add(hash, buf_str(&text));
        buf_release(&line);
        *ret_any = true;
    }
    buf_release(&text);
    free(path);
    return ok;
}

static bool
hash_folder(const char *root, char ret[SHA256_HEX + 1], bool *ret_any)
{
    struct sha256 hash;
    sha256_init(&hash);
    *ret_any = false;
    for (size_t i = 0; i < ARRAY_LEN(bound); i++)
        if (!add_file(&hash, root, i, ret_any))
            return false;
    sha256_hex(&hash, ret);
    return true;
}

/* ---- trust.json: {"folders": {"/real/path": {"hash": "...", "granted": "..."}}} ---- */

static struct cJSON *
read_list(const char *file, bool *ret_missing, struct err *err)
{
    struct buf text;
    bool found = false;
    struct cJSON *tree = NULL;
    buf_init(&text, BUF_MAX);
    *ret_missing = false;
    if (fs_read_if(file, BUF_MAX - 1, &text, &found, err)) {
        *ret_missing = !found || str_trim(buf_str(&text)).len == 0;
        if (!*ret_missing)
            tree = json_parse(buf_str(&text), err);
    }
    buf_release(&text);
    return tree;
}

static const struct cJSON *
entry_of(const struct cJSON *list, const char *real)
{
    return json_get(json_at(list, "folders"), real);
}

static enum trust
check_entry(const struct cJSON *entry, const char *real)
{
    char hash[SHA256_HEX + 1];
    bool any;
    if (!hash_folder(real, hash, &any))
        return TRUST_CHANGED;
    return str_is(json_str(entry, "hash"), hash) ? TRUST_YES : TRUST_CHANGED;
}

static bool
is_repository(const char *dir)
{
    char *git = fs_join(dir, ".git");
    bool yes = fs_exists(git);
    free(git);
    return yes;
}

static bool
brings_settings(const char *dir)
{
    char hash[SHA256_HEX + 1];
    bool any;
    return !hash_folder(dir, hash, &any) || any;
}

/* Upwards from a folder without an entry of its own. */
static enum trust
check_parents(const struct cJSON *list, const char *real)
{
    char *dir = xstrdup(real);
    enum trust answer = TRUST_NO;
    while (strcmp(dir, "/") && !is_repository(dir) && !brings_settings(dir)) {
        char *up = fs_dirname(dir);
        free(dir);
        dir = up;
        const struct cJSON *entry = entry_of(list, dir);
        if (entry) {
            answer = check_entry(entry, dir);
            break;
        }
    }
    free(dir);
    return answer;
}

enum trust
trust_check(const char *config_dir, const char *root)
{
    char *file = fs_join(config_dir, "trust.json"), *real = fs_resolve(root, NULL);
    bool missing;
    struct cJSON *list = read_list(file, &missing, NULL);
    enum trust answer = TRUST_NO;
    if (list && real) {
        const struct cJSON *entry = entry_of(list, real);
        answer = entry ? check_entry(entry, real) : check_parents(list, real);
    }
    json_free(list);
    free(real);
    free(file);
    return answer;
}

/* The list as it is, with this folder's entry new. Unknown members of the file do not exist: it is yare's alone. */
static void
write_list(const struct cJSON *list, const char *real, const char *hash, struct buf *out)
{
    struct jw w;
    struct buf when;
    buf_init(&when, 64);
    clock_iso8601(clock_wall_ms(), &when);
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "folders");
    jw_object(&w);
    for (const struct cJSON *e = json_first(json_at(list, "folders")); e; e = json_next(e)) {
        struct buf raw;
        if (!json_key(e) || !strcmp(json_key(e), real))
            continue;
        buf_init(&raw, BUF_MAX);
        json_print(e, &raw);
        jw_kraw(&w, json_key(e), buf_str(&raw));
        buf_release(&raw);
    }
    jw_key(&w, real);
    jw_object(&w);
    jw_kcstr(&w, "hash", hash);
    jw_kstr(&w, "granted", buf_str(&when));
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    buf_addc(out, '\n');
    buf_release(&when);
}

static bool
grant_locked(const char *file, const char *real, struct err *err)
{
    char hash[SHA256_HEX + 1];
    bool any, missing;
    struct buf out;
    struct cJSON *list = read_list(file, &missing, err);
    if (!list && !missing)
        return err_wrap(err, "'%s' is left as it is: mend or remove it", file);
    buf_init(&out, BUF_MAX);
    bool ok = hash_folder(real, hash, &any) ||
              err_set(err, ERR_INVALID, "a settings file in '%s' cannot be read", real);
    if (ok) {
        write_list(list, real, hash, &out);
        ok = buf_full(&out) ? err_set(err, ERR_LIMIT, "'%s' is full", file)
                            : fs_write_atomic(file, buf_str(&out), 0600, err);
    }
    buf_release(&out);
    json_free(list);
    return ok;
}

bool
trust_grant(const char *config_dir, const char *root, struct err *err)
{
    char *file = fs_join(config_dir, "trust.json"), *lock = fs_join(config_dir, ".trust.lock");
    char *real = fs_resolve(root, err);
    bool ok = real && fs_mkdirs(config_dir, 0700, err);
    if (ok) {
        int fd = fs_lock(lock, LOCK_TIMEOUT_MS, err);
        ok = fd >= 0 && grant_locked(file, real, err);
        fs_unlock(lock, fd);
    }
    free(real);
    free(lock);
    free(file);
    return ok;
}

/* NULL: another yare mended it first, or it cannot be moved. */
static char *
put_aside(const char *file, const char *why)
{
    char *aside = NULL, *text = NULL;
    for (int i = 1; i < 100 && !text; i++) {
        free(aside);
        aside = xasprintf("%s.damaged-%d", file, i);
        if (fs_exists(aside))
            continue;
        if (rename(file, aside) != 0)
            break;
        text =
            xasprintf("'%s' was damaged (%s): it is kept as '%s', folders have to be trusted again",
                      file, why, aside);
    }
    free(aside);
    return text;
}

char *
trust_mend(const char *config_dir)
{
    char *file = fs_join(config_dir, "trust.json"), *lock = fs_join(config_dir, ".trust.lock");
    struct err err = {0};
    bool missing;
    char *text = NULL;
    struct cJSON *list = read_list(file, &missing, &err);
    if (!list && !missing && err.code == ERR_PARSE) {
        int fd = fs_lock(lock, LOCK_TIMEOUT_MS, NULL);
        struct cJSON *again = read_list(file, &missing, &err); /* it may be mended by now */
        if (!again && !missing && err.code == ERR_PARSE)
            text = put_aside(file, err.text);
        json_free(again);
        fs_unlock(lock, fd);
    }
    json_free(list);
    free(lock);
    free(file);
    return text;
}
