#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "perm/rules_match.h"
#include "perm/url.h"
#include "perm/wild.h"

/* "mcp__server__..." with the very server's name; without a known name a rule with a wildcard must not guess where a name that
 * holds "__" ends. */
static bool
mcp_match(const struct perm_rule *r, const struct tool_match *m)
{
    struct str rule = str_from(r->tool), tool = str_from(m->tool);
    bool strict = r->verdict == VERDICT_ALLOW;
    bool whole_server = !strchr(r->tool, '*') && str_starts(tool, r->tool) &&
                        strncmp(m->tool + rule.len, "__", 2) == 0;

    if (!str_eq(rule, tool) && !whole_server && !wild_match(rule, tool))
        return false;
    if (!strict)
        return true;
    struct str rest = str_sub(rule, 5, rule.len);
    if (m->mcp_server) {
        size_t n = strlen(m->mcp_server);
        return str_starts(rest, m->mcp_server) &&
               (rest.len == n || strncmp(rest.ptr + n, "__", 2) == 0);
    }
    if (str_eq(rule, tool))
        return true;
    const char *end = strstr(m->tool + 5, "__");
    return end && !strstr(end + 2, "__") && end[2];
}

static bool
domain_match(const struct perm_rule *r, const struct tool_match *m)
{
    struct url_host h;
    url_host_parse(json_str(m->input, "url"), &h);
    bool strict = r->verdict == VERDICT_ALLOW;
    /* Every host, also one that is a number or cannot be read. */
    bool all = !strict && strcmp(r->body, "domain:*") == 0;
    bool match = all || (url_domain_match(str_from(r->body + 7), &h) && !(strict && h.userinfo));
    url_host_release(&h);
    return match;
}

/* Agent(name) and Skill(name), Skill(name *): any of the fields that name it. */
static bool
name_match(const struct perm_rule *r, const struct cJSON *input, const char *const *fields,
           size_t n)
{
    struct str body = str_from(r->body);
    bool boundary = str_ends(body, " *") || str_ends(body, ":*");
    if (boundary)
        body = str_trim(str_sub(body, 0, body.len - 2));
    for (size_t i = 0; i < n; i++) {
        struct str s = str_trim(json_str(input, fields[i]));
        if (!s.ptr)
            continue;
        /* A command line names the skill in its first word. */
        if (s.len && s.ptr[0] == '/')
            s = str_sub(s, 1, s.len);
        size_t blank = str_find(s, ' ', 0);
        struct str first = blank == (size_t)-1 ? s : str_sub(s, 0, blank);
        bool strict = r->verdict == VERDICT_ALLOW;
        if (wild_match(body, s) || ((boundary || !strict) && wild_match(body, first)))
            return true;
        return false;
    }
    return false;
}

static bool
param_text(const struct cJSON *v, struct buf *out)
{
    if (json_is_str(v))
        return buf_add_str(out, json_value_str(v));
    if (json_is_num(v) || json_is_bool(v) || json_is_null(v)) {
        json_print(v, out);
        return true;
    }
    return false;
}

/* Tool(param:value): a scalar field of the input, '*' the wildcard. */
static bool
param_match(const struct perm_rule *r, const struct cJSON *input)
{
    struct str body = str_from(r->body);
    size_t colon = str_find(body, ':', 0);
    if (colon == (size_t)-1 || r->verdict == VERDICT_ALLOW)
        return false;
    struct str key = str_sub(body, 0, colon), value = str_trim(str_sub(body, colon + 1, body.len));
    for (const struct cJSON *m = json_first(input); m; m = json_next(m)) {
        struct buf text;
        const char *name = json_key(m);
        if (!name || !str_is(key, name))
            continue;
        buf_init(&text, BUF_MAX);
        bool match = param_text(m, &text) && wild_match(value, buf_str(&text));
        buf_release(&text);
        return match;
    }
    return false;
}

static bool
body_match(const struct perm_rule *r, const struct tool_match *m)
{
    static const char *const agent[] = {"subagent_type", "agent", "name"};
    static const char *const skill[] = {"skill", "command", "name"};
    if (strcmp(m->tool, "WebFetch") == 0 && strncmp(r->body, "domain:", 7) == 0)
        return domain_match(r, m);
    bool is_agent = strcmp(m->tool, "Agent") == 0 || strcmp(m->tool, "Task") == 0;
    if (is_agent && name_match(r, m->input, agent, ARRAY_LEN(agent)))
        return true;
    if (strcmp(m->tool, "Skill") == 0 && name_match(r, m->input, skill, ARRAY_LEN(skill)))
        return true;
    return param_match(r, m->input);
}

static bool
name_ok(const struct perm_rule *r, const struct tool_match *m)
{
    const char *tool = strcmp(m->tool, "Task") == 0 ? "Agent" : m->tool;
    if (strncmp(r->tool, "mcp__", 5) == 0 && strncmp(tool, "mcp__", 5) == 0)
        return mcp_match(r, m);
    if (strcmp(r->tool, tool) == 0)
        return true;
    const char *speaks = perm_rules_path_tool(tool);
    if (!r->body && speaks && strcmp(speaks, r->tool) == 0)
        return true;
    return r->verdict != VERDICT_ALLOW && wild_match(str_from(r->tool), str_from(tool));
}

bool
perm_rules_hide_tool(const struct perm_rules *rs, const char *tool)
{
    struct tool_match m = {.tool = tool};
    for (size_t i = 0; rs && i < rs->n; i++)
        if (rs->rules[i].verdict == VERDICT_DENY && !rs->rules[i].body &&
            name_ok(&rs->rules[i], &m))
            return true;
    return false;
}

const struct perm_rule *
rules_match_tool(const struct perm_rules *rs, const struct rule_filter *f,
                 const struct tool_match *m)
{
    for (size_t i = 0; rs && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (rule_counts(r, f) && name_ok(r, m) && (!r->body || body_match(r, m)))
            return r;
    }
    return NULL;
}

const struct perm_rule *
perm_rules_match_tool(const struct perm_rules *rs, enum verdict list, const char *tool,
                      const struct cJSON *input)
{
    struct rule_filter f = {.list = list};
    struct tool_match m = {.tool = tool, .input = input};
    return rules_match_tool(rs, &f, &m);
}
