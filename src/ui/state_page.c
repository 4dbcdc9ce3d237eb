/* /state: the loop's State and its last transitions, as the engine tells them. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "ui/approval_parts.h"
#include "ui/page.h"
#include "ui/table.h"

#define ALLOWED "extensions.allowed"

static const struct table_column transition_cols[] = {
    {"turn", 5, true, false, 5}, {"what", 14, false, true, 9}, {"where", 22, false, false, 1}};

static void
write_transitions(const struct cJSON *list, struct lines *out, int width, bool ascii)
{
    struct table_fit f;
    table_fit(transition_cols, ARRAY_LEN(transition_cols), width, &f);
    page_heading(out, "transitions");
    table_head(transition_cols, &f, ascii, out);
    for (const struct cJSON *t = json_first(list); t; t = json_next(t)) {
        char turn[32], where[128];
        const char *file = json_cstr(t, "file", ""), *slash = strrchr(file, '/');
        (void)snprintf(turn, sizeof turn, "%lld", (long long)json_int(t, "turn", 0));
        (void)snprintf(where, sizeof where, "%s:%lld", slash ? slash + 1 : file,
                       (long long)json_int(t, "line", 0));
        struct str cells[] = {str_from(turn), str_from(json_cstr(t, "name", "")), str_from(where)};
        table_row(transition_cols, &f, cells,
                  json_bool(t, "exit", json_bool(t, "is_exit", false)) ? ST_BOLD : ST_TEXT, ascii,
                  out);
    }
}

/* What a person allowed until the session ends, a line each. */
static void
write_allowed(const struct cJSON *list, struct lines *out, int width, bool ascii)
{
    if (!json_len(list))
        return;
    page_heading(out, "allowed until the session ends");
    for (const struct cJSON *k = json_first(list); k; k = json_next(k)) {
        struct buf b;
        buf_init(&b, BUF_MAX);
        buf_addf(&b, "%s  ", json_cstr(k, "tool", json_cstr(k, "who", "")));
        strict_visible(&b, str_from(json_cstr(k, "command", json_cstr(k, "folder", ""))), ascii);
        for (size_t i = 0; i < b.len; i++)
            if (b.data[i] == '\n')
                b.data[i] = ' ';
        page_para(out, ST_TEXT, buf_str(&b), width);
        buf_release(&b);
    }
}

/* A member that is no list: "name  value", with its path for what lies deeper. */
static void
write_value(const struct cJSON *n, const char *name, struct lines *out, int width)
{
    struct buf b;
    buf_init(&b, 1 << 16);
    buf_addf(&b, "%s  ", name);
    if (json_is_str(n))
        buf_add_str(&b, json_value_str(n));
    else
        json_print(n, &b);
    page_para(out, ST_TEXT, buf_str(&b), width);
    buf_release(&b);
}

static void
write_members(const struct cJSON *o, const char *above, struct lines *out, int width)
{
    for (const struct cJSON *m = json_first(o); m; m = json_next(m)) {
        char name[160];
        (void)snprintf(name, sizeof name, "%s%s%s", above, *above ? "." : "", json_key(m));
        if (json_is_object(m))
            write_members(m, name, out, width);
        else if (!json_is_array(m))
            write_value(m, name, out, width);
        else if (strcmp(name, "transitions") != 0 && strcmp(name, ALLOWED) != 0)
            write_value(m, name, out, width);
    }
}

static void
write_state(struct page *p, const struct view *v, struct lines *out, int width, bool ascii)
{
    (void)v;
    page_heading(out, "state");
    write_members(p->answer, "", out, width);
    write_allowed(json_at(p->answer, ALLOWED), out, width, ascii);
    write_transitions(json_at(p->answer, "transitions"), out, width, ascii);
}

const struct page_type page_state = {
    .title = "state", .query = QUERY_STATE, .live = true, .write = write_state};
