/* /permissions: the rules in force, where each stands and what is wrong with them; what is allowed until the session ends. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/verdict.h"
#include "ui/approval_parts.h"
#include "ui/keys.h"
#include "ui/page.h"
#include "ui/view.h"

/* The i-th rule in the order shown: by list, those that forbid first. */
static const char *const lists[] = {"deny", "ask", "allow"};

static const struct cJSON *
rule_at(const struct page *p, size_t at)
{
    at -= json_len(json_at(p->answer, "session")); /* those come first */
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (const struct cJSON *r = json_first(json_at(p->answer, "rules")); r; r = json_next(r))
            if (strcmp(json_cstr(r, "list", ""), lists[l]) == 0 && at-- == 0)
                return r;
    return NULL;
}

static const struct cJSON *
kept_at(const struct page *p, size_t at)
{
    const struct cJSON *k = json_first(json_at(p->answer, "session"));
    while (k && at--)
        k = json_next(k);
    return k;
}

static enum style
list_style(const char *list)
{
    return strcmp(list, "deny") == 0 ? ST_ERROR : strcmp(list, "ask") == 0 ? ST_WARN : ST_OK;
}

static bool
can_remove(const struct cJSON *r)
{
    return json_bool(r, "removable", false);
}

/* "deny  Bash(rm:*)" and below it where that stands: the path may be long. */
static void
write_rule(struct page *p, const struct cJSON *r, struct lines *out, int width)
{
    const char *list = json_cstr(r, "list", ""), *file = json_cstr(r, "file", "");
    long long line = json_int(r, "line", 0);
    struct flow f;
    struct buf b;
    flow_init(&f);
    buf_init(&b, 1 << 16);
    buf_addf(&b, "%-6s", list);
    flow_add(&f, list_style(list), buf_str(&b));
    flow_add(&f, ST_TEXT, str_from(json_cstr(r, "rule", "")));
    size_t at = out->n;
    flow_break(&f, out, &(struct indent){.width = width, .rest = STR("      ")});
    if (out->n > at)
        page_mark_row(p, at);
    buf_clear(&b);
    buf_addf(&b, "%s%s%s", json_cstr(r, "scope", ""), *file ? ", " : "", file);
    if (*file && line > 0)
        buf_addf(&b, ":%lld", line);
    flow_add(&f, ST_DIM, buf_str(&b));
    flow_break(&f, out,
               &(struct indent){.width = width, .first = STR("      "), .rest = STR("      ")});
    flow_release(&f);
    buf_release(&b);
}

/* "Bash  sh ./x.sh" and below it where, by whom and since when. As strict as the request was. */
static void
write_kept(struct page *p, const struct cJSON *k, struct lines *out, int width, bool ascii)
{
    time_t at = (time_t)(json_int(k, "at_ms", 0) / 1000);
    struct tm tm;
    char since[16] = "";
    struct flow f;
    struct buf b;
    buf_init(&b, BUF_MAX);
    flow_init(&f);
    strict_visible(&b, str_from(json_cstr(k, "command", "")), ascii);
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] == '\n')
            b.data[i] = ' ';
    flow_add(&f, ST_OK, STR("allow "));
    flow_add(&f, ST_CODE, buf_str(&b));
    size_t row = out->n;
    flow_break(&f, out,
               &(struct indent){
                   .width = width, .rest = ascii ? STR("    | ") : STR("    │ "), .style = ST_DIM});
    if (out->n > row)
        page_mark_row(p, row);
    if (at && localtime_r(&at, &tm))
        (void)strftime(since, sizeof since, " at %H:%M", &tm);
    buf_clear(&b);
    buf_addf(&b, "%s%s, in ", json_cstr(k, "tool", ""),
             json_bool(k, "background", false) ? " in the background" : "");
    strict_visible(&b, str_from(json_cstr(k, "folder", "")), ascii);
    buf_addf(&b, ", by you%s", since);
    flow_add(&f, ST_DIM, buf_str(&b));
    flow_break(&f, out,
               &(struct indent){.width = width, .first = STR("      "), .rest = STR("      ")});
    flow_release(&f);
    buf_release(&b);
}

/* "allow files in /srv/lib": a folder of --add-dir. */
static void
write_folder(struct page *p, const struct cJSON *k, struct lines *out, int width, bool ascii)
{
    struct flow f;
    flow_init(&f);
    flow_add(&f, ST_OK, STR("allow "));
    flow_add(&f, ST_TEXT, STR("files in "));
    strict_add(&f, ST_CODE, str_from(json_cstr(k, "folder", "")), ascii);
    size_t row = out->n;
    flow_break(&f, out, &(struct indent){.width = width, .rest = STR("      ")});
    if (out->n > row)
        page_mark_row(p, row);
    flow_add(&f, ST_DIM, str_from(json_cstr(k, "who", "")));
    flow_break(&f, out, &(struct indent){.width = width, .first = STR("      ")});
    flow_release(&f);
}

static void
write_session(struct page *p, struct lines *out, int width, bool ascii)
{
    const struct cJSON *k;
    for (size_t i = 0; (k = kept_at(p, i)); i++) {
        if (i == 0)
            page_heading(out, "until the session ends (d takes it back)");
        if (json_at(k, "command"))
            write_kept(p, k, out, width, ascii);
        else
            write_folder(p, k, out, width, ascii);
    }
}

static void
write_problems(const struct page *p, struct lines *out, int width)
{
    const struct cJSON *list = json_at(p->answer, "problems");
    if (!json_len(list))
        return;
    page_heading(out, "problems");
    for (const struct cJSON *x = json_first(list); x; x = json_next(x)) {
        struct buf b;
        buf_init(&b, 1 << 16);
        const char *file = json_cstr(x, "file", "");
        long long line = json_int(x, "line", 0);
        if (*file && line > 0)
            buf_addf(&b, "! %s:%lld: ", file, line);
        else
            buf_addf(&b, "! %s%s", file, *file ? ": " : "");
        buf_adds(&b, json_cstr(x, "text", json_cstr(x, "problem", "")));
        page_para(out, ST_WARN, buf_str(&b), width);
        buf_release(&b);
    }
}

/* What confines commands, and what that keeps. */
static void
write_sandbox(const struct page *p, struct lines *out, int width)
{
    const struct cJSON *s = json_at(p->answer, "sandbox");
    const char *backend = json_cstr(s, "backend", ""), *why = json_cstr(s, "why", "");
    struct buf b;
    if (!s)
        return;
    page_heading(out, "sandbox");
    buf_init(&b, 1 << 16);
    buf_addf(&b, "%s (%s)%s%s: %s. /sandbox switches it.", json_cstr(s, "level", ""),
             json_cstr(s, "by", ""), *backend ? ", " : "", backend, json_cstr(s, "what", ""));
    page_para(out, ST_TEXT, buf_str(&b), width);
    buf_clear(&b);
    buf_addf(&b, "it cannot be had here: %s", why);
    if (*why)
        page_para(out, ST_WARN, buf_str(&b), width);
    for (const struct cJSON *l = json_first(json_at(s, "lines")); l; l = json_next(l)) {
        buf_clear(&b);
        buf_addf(&b, "%s: %s", json_cstr(l, "name", ""), json_cstr(l, "value", ""));
        page_para(out, ST_DIM, buf_str(&b), width);
    }
    buf_release(&b);
}

static void
write_rules(struct page *p, const struct view *v, struct lines *out, int width, bool ascii)
{
    (void)v;
    enum perm_mode mode = PERM_DEFAULT;
    const struct cJSON *rules = json_at(p->answer, "rules");
    (void)perm_mode_parse(json_cstr(p->answer, "mode", "default"), &mode);
    page_heading(out, "in force");
    struct buf b;
    buf_init(&b, 1024);
    buf_addf(&b, "mode %s (Shift+Tab changes it); the folder is %s", perm_mode_shown(mode),
             json_bool(p->answer, "trusted", false)
                 ? "trusted"
                 : "not trusted: what its own files allow does not count");
    page_para(out, ST_TEXT, buf_str(&b), width);
    buf_release(&b);
    write_problems(p, out, width);
    write_session(p, out, width, ascii);
    page_heading(out, "rules: deny before ask before allow");
    const struct cJSON *r;
    for (size_t i = json_len(json_at(p->answer, "session")); (r = rule_at(p, i)); i++)
        write_rule(p, r, out, width);
    if (!json_len(rules))
        page_para(
            out, ST_DIM,
            STR("none. \"Always\" in the permission pane adds one; settings.json holds them."),
            width);
    write_sandbox(p, out, width);
}

/* What takes the selected row back. */
static struct op *
removal(const struct cJSON *kept, const struct cJSON *rule)
{
    char *line;
    if (kept && json_at(kept, "command"))
        line = xasprintf("/permissions remove session %lld", (long long)json_int(kept, "id", 0));
    else if (kept)
        line = xasprintf("/permissions remove session %s", json_cstr(kept, "folder", ""));
    else
        line = xasprintf("/permissions remove %s %s", json_cstr(rule, "list", ""),
                         json_cstr(rule, "rule", ""));
    struct op *op = op_new(OP_COMMAND, line);
    free(line);
    return op;
}

/* `d`, then `y`: the engine takes the rule out of the file, or forgets what was allowed for the session. */
static enum page_key
rules_key(struct page *p, int key, struct op **ret_op)
{
    const struct cJSON *kept = p->n_rows ? kept_at(p, p->selected) : NULL;
    const struct cJSON *r = p->n_rows && !kept ? rule_at(p, p->selected) : NULL;
    bool confirmed = p->confirm && key == 'y';
    p->confirm = false;
    if (confirmed && (kept || r)) {
        *ret_op = removal(kept, r);
        p->again = true;
        return PAGE_KEY_USED;
    }
    if (key != 'd' || (!kept && !r))
        return PAGE_KEY_NONE;
    p->confirm = kept || can_remove(r);
    bool in_file = r && *json_cstr(r, "file", "");
    p->note = p->confirm && !in_file ? "y takes it back, n keeps it"
              : p->confirm           ? "y takes it out of its file, n keeps it"
                                     : "not yare's own file: edit it by hand";
    return PAGE_KEY_USED;
}

const struct page_type page_rules = {.title = "permissions",
                                     .query = QUERY_RULES,
                                     .live = true,
                                     .foot = "d remove",
                                     .write = write_rules,
                                     .key = rules_key};
