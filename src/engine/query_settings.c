/* What a front end asks of the settings: how it should look and call, and what trusting the folder would switch on, the
 * widening settings of the project's own files. */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/engine_private.h"
#include "engine/query_private.h"

#define ITEMS_MAX 200
#define ITEM_BYTES 4000

/* Settings that give something, by how a person would call them. Whatever else stands in such a file is named by its key. */
static const struct {
    const char *path, *what;
} widening[] = {
    {"permissions.allow", "allow rules"},
    {"permissions.defaultMode", "permission mode"},
    {"permissions.additionalDirectories", "more folders"},
    {"env", "environment variables"},
    {"hooks", "hooks (commands that run by themselves)"},
    {"mcpServers", "MCP servers"},
    {"apiKeyHelper", "a command that gives the API key"},
    {"statusLine", "a command for the status line"},
    {"model", "model"},
    {"baseUrl", "where requests go"},
    {"provider", "provider"},
    {"sandbox", "sandbox"},
};

/* What is cut is said to be. */
static void
write_text(struct jw *w, struct str s)
{
    struct buf b;
    struct str start = text_start(s, ITEM_BYTES);
    buf_init(&b, ITEM_BYTES + 100);
    buf_add_str(&b, start);
    if (start.len < s.len)
        buf_addf(&b, " ... and %zu bytes more, look into the file", s.len - start.len);
    jw_str(w, buf_str(&b));
    buf_release(&b);
}

static void
write_member(struct jw *w, const struct cJSON *m)
{
    struct buf b;
    buf_init(&b, (size_t)1 << 20);
    if (json_key(m))
        buf_addf(&b, "%s: ", json_key(m));
    if (json_is_str(m))
        buf_add_str(&b, json_value_str(m));
    else
        json_print(m, &b);
    write_text(w, buf_str(&b));
    buf_release(&b);
}

/* A plain value as it is, a list's elements, an object's keys with their values. */
static void
write_items(struct jw *w, const struct cJSON *v)
{
    struct buf b;
    size_t n = 0, all = json_len(v);
    bool plain = !json_is_object(v) && !json_is_array(v);
    buf_init(&b, (size_t)1 << 20);
    jw_key(w, "items");
    jw_array(w);
    if (json_is_str(v))
        write_text(w, json_value_str(v));
    else if (plain) {
        json_print(v, &b);
        write_text(w, buf_str(&b));
    }
    for (const struct cJSON *m = plain ? NULL : json_first(v); m && n < ITEMS_MAX;
         m = json_next(m), n++)
        write_member(w, m);
    if (!plain && n < all) {
        buf_addf(&b, "... and %zu more, look into the file", all - n);
        jw_str(w, buf_str(&b));
    }
    jw_end(w);
    buf_release(&b);
}

static void
write_held(struct jw *w, const char *what, const char *file, const struct cJSON *v)
{
    jw_object(w);
    jw_kcstr(w, "what", what);
    jw_kcstr(w, "file", file);
    write_items(w, v);
    jw_end(w);
}

static bool
is_named(const char *path)
{
    for (size_t k = 0; k < ARRAY_LEN(widening); k++)
        if (strcmp(widening[k].path, path) == 0)
            return true;
    return config_reach(path) != CONFIG_TRUSTED; /* it counts in any folder, or in none */
}

/* Everything else, by its key: a setting that nobody thought of here must not take effect unseen. */
static void
write_rest(struct jw *w, const struct cJSON *object, const char *below, const char *file)
{
    for (const struct cJSON *m = json_first(object); m; m = json_next(m)) {
        char *path = xasprintf("%s%s", below, json_key(m) ? json_key(m) : "");
        bool empty = (json_is_object(m) || json_is_array(m)) && !json_len(m);
        if (strcmp(path, "permissions") == 0)
            write_rest(w, m, "permissions.", file);
        else if (!is_named(path) && !empty && !json_is_null(m))
            write_held(w, path, file, m);
        free(path);
    }
}

static void
write_source(struct jw *w, const struct config *cfg, size_t i, const char *file)
{
    for (size_t k = 0; k < ARRAY_LEN(widening); k++) {
        const struct cJSON *v = config_value(cfg, i, widening[k].path);
        if (v && (!(json_is_object(v) || json_is_array(v)) || json_len(v)))
            write_held(w, widening[k].what, file, v);
    }
    struct cJSON *tree = json_parse(config_text(cfg, i), NULL);
    write_rest(w, tree, "", file);
    json_free(tree);
}

/* .mcp.json is no settings file. */
static void
write_mcp(struct jw *w, const struct core *c)
{
    struct buf b;
    struct err err = {0};
    bool found = false;
    char *file = fs_join(c->root, ".mcp.json");
    buf_init(&b, (size_t)4 << 20);
    if (fs_read_if(file, b.max, &b, &found, &err) && found) {
        struct cJSON *tree = json_parse(buf_str(&b), &err);
        if (json_len(json_at(tree, "mcpServers")))
            write_held(w, "MCP servers", ".mcp.json", json_at(tree, "mcpServers"));
        json_free(tree);
    }
    buf_release(&b);
    free(file);
}

static struct config *
load_settings(const struct core *c)
{
    const struct config_paths paths = {.home = c->home,
                                       .config_dir = c->config_dir,
                                       .project_root = c->root,
                                       .cli_settings = c->given.settings};
    return config_load(&paths);
}

void
query_trust(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    const struct core *c = &e->core;
    struct config *cfg = load_settings(c);
    const struct config_source *src;
    size_t n = config_sources(cfg, &src), root = strlen(c->root);
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kbool(&w, "trusted", c->trusted);
    jw_key(&w, "held");
    jw_array(&w);
    for (size_t i = 0; i < n; i++) {
        if (src[i].scope != SCOPE_PROJECT && src[i].scope != SCOPE_LOCAL)
            continue;
        const char *file = src[i].file;
        if (strncmp(file, c->root, root) == 0 && file[root] == '/')
            file += root + 1;
        write_source(&w, cfg, i, file);
    }
    write_mcp(&w, c);
    jw_end(&w);
    jw_end(&w);
    config_free(cfg);
}

/* The ecosystem's names for the ways to call, and ours. */
static const char *
notify_of(const struct config *cfg, bool only_trusted)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"terminal_bell", "bell"}, {"iterm2", "osc9"},  {"iterm2_with_bell", "osc9"},
                 {"kitty", "osc9"},         {"ghostty", "osc9"}, {"notifications_disabled", "off"}};
    const char *theirs = config_str(cfg, "preferredNotifChannel", only_trusted, "");
    const char *fallback = "bell";
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(theirs, names[i].theirs) == 0)
            fallback = names[i].ours;
    return config_str(cfg, "notify", only_trusted, fallback);
}

/* What stands under "ui", where it is set: the screen has its own mind about the rest. */
static void
write_ui(struct jw *w, const struct config *cfg, bool only_trusted)
{
    long long lines = config_int(cfg, "ui.exitLines", only_trusted, -1),
              width = config_int(cfg, "ui.ambiguousWidth", only_trusted, 0);
    bool links = config_bool(cfg, "ui.hyperlinks", only_trusted, false);
    if (lines >= 0)
        jw_kint(w, "exit_lines", lines);
    if (width == 1 || width == 2)
        jw_kint(w, "ambiguous_width", width);
    if (links == config_bool(cfg, "ui.hyperlinks", only_trusted, true))
        jw_kbool(w, "hyperlinks", links);
}

void
query_settings(struct engine *e, struct str arg, struct buf *out)
{
    (void)arg;
    const struct core *c = &e->core;
    struct config *cfg = load_settings(c);
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kcstr(&w, "theme", config_str(cfg, "theme", !c->trusted, "auto"));
    jw_kcstr(&w, "notify", notify_of(cfg, !c->trusted));
    write_ui(&w, cfg, !c->trusted);
    jw_end(&w);
    config_free(cfg);
}
