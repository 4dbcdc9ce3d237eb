/* Layer 1: what kind of tool is called, and the accesses of those that name files or hosts themselves. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "perm/chain_ctx.h"
#include "perm/url.h"

static const struct row {
    const char *tool;
    enum tool_kind kind;
    const char *path; /* the input's field that names the file or folder */
    /* the field may be missing; everything below is read, but for what rules keep back: it filters that itself */
    bool optional, tree;
} rows[] = {
    {"Bash", TOOL_KIND_SHELL, NULL, false, false},
    {"Read", TOOL_KIND_READ, "file_path", false, false},
    {"NotebookRead", TOOL_KIND_READ, "notebook_path", false, false},
    {"LS", TOOL_KIND_READ, "path", true, false},
    {"Glob", TOOL_KIND_READ, "path", true, false},
    {"Grep", TOOL_KIND_READ, "path", true, true},
    {"Edit", TOOL_KIND_EDIT, "file_path", false, false},
    {"Write", TOOL_KIND_EDIT, "file_path", false, false},
    {"MultiEdit", TOOL_KIND_EDIT, "file_path", false, false},
    {"NotebookEdit", TOOL_KIND_EDIT, "notebook_path", false, false},
    {"WebFetch", TOOL_KIND_FETCH, NULL, false, false},
    {"WebSearch", TOOL_KIND_NAMED, NULL, false, false},
    {"Agent", TOOL_KIND_NAMED, NULL, false, false},
    {"Task", TOOL_KIND_NAMED, NULL, false, false},
    {"Skill", TOOL_KIND_NAMED, NULL, false, false},
    {"TodoWrite", TOOL_KIND_FREE, NULL, false, false},
    {"TodoRead", TOOL_KIND_FREE, NULL, false, false},
    {"AskUserQuestion", TOOL_KIND_FREE, NULL, false, false},
    {"BashOutput", TOOL_KIND_FREE, NULL, false, false},
    {"TaskOutput", TOOL_KIND_FREE, NULL, false, false},
    {"KillShell", TOOL_KIND_FREE, NULL, false, false},
    {"TaskStop", TOOL_KIND_FREE, NULL, false, false},
    {"ExitPlanMode", TOOL_KIND_ASK, NULL, false, false},
};

static const struct row *
row_of(const char *tool)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].tool, tool) == 0)
            return &rows[i];
    return NULL;
}

enum tool_kind
tool_kind_of(const struct chain *c)
{
    const char *tool = c->req->tool ? c->req->tool : "";
    const struct row *r = row_of(tool);
    if (r)
        return r->kind;
    if (strncmp(tool, "mcp__", 5) == 0)
        return TOOL_KIND_MCP;
    return c->req->tool_known && c->req->tool_read_only && !c->req->tool_destructive
               ? TOOL_KIND_FREE
               : TOOL_KIND_UNKNOWN;
}

/* ---- files ---- */

/* Every reading that a "~" may get. */
static void
judge_file(struct chain *c, struct access *a, const char *path, const struct perm_rule *tool_rule)
{
    a->path = path;
    a->shown = path;
    a->tool_rule = tool_rule;
    if (text_has_unsafe(str_from(path)) || strpbrk(path, "\n\r\t"))
        chain_add(c, "L5", VERDICT_ASK, FORCE_PERSON, NULL, path,
                  "the name holds characters that do not show");
    judge_access(c, a);
    if (path[0] == '~' && (path[1] == '/' || !path[1])) {
        char *home = fs_join(c->home, path[1] ? path + 2 : ".");
        a->path = home;
        judge_access(c, a);
        free(home);
    }
}

/* A Glob pattern may climb or be absolute: the folder that its fixed part names is what is read. */
static char *
glob_folder(const struct chain *c, struct str pattern, const char *path)
{
    size_t wild = 0, cut = 0;
    if (str_starts(pattern, "~/")) {
        path = c->home;
        pattern = str_sub(pattern, 2, pattern.len);
    }
    while (wild < pattern.len && !strchr("*?[{\\", pattern.ptr[wild]))
        wild++;
    for (size_t i = 0; i < wild; i++)
        if (pattern.ptr[i] == '/')
            cut = i + 1;
    char *head = str_dup(str_sub(pattern, 0, cut));
    char *dir = *head ? fs_join(path, head) : xstrdup(path);
    free(head);
    return dir;
}

/* ".." as a part of the path or of a brace, behind the first sign that is no plain one. */
static bool
climbs_after_wild(struct str pattern)
{
    size_t wild = 0;
    while (wild < pattern.len && !strchr("*?[{\\", pattern.ptr[wild]))
        wild++;
    for (size_t i = wild; i + 1 < pattern.len; i++) {
        if (pattern.ptr[i] != '.' || pattern.ptr[i + 1] != '.')
            continue;
        bool begins = i == 0 || strchr("/{,", pattern.ptr[i - 1]),
             ends = i + 2 == pattern.len || strchr("/},", pattern.ptr[i + 2]);
        if (begins && ends)
            return true;
    }
    return false;
}

static void
judge_tool_file(struct chain *c, const struct row *row, const struct perm_rule *tool_rule)
{
    struct str path = json_str(c->req->input, row->path);
    bool edit = row->kind == TOOL_KIND_EDIT;
    struct access a = {.kind = edit        ? EFFECT_WRITE
                               : row->tree ? EFFECT_READ_TREE
                                           : EFFECT_READ,
                       .filters = row->tree};
    bool wrong_type = json_at(c->req->input, row->path) && !path.ptr;
    if (!path.len && (!row->optional || wrong_type)) {
        chain_add(c, "L1", VERDICT_DENY, FORCE_HARD, NULL, NULL, "the input of %s lacks '%s'",
                  row->tool, row->path);
        return;
    }
    char *named = path.len ? str_dup(path) : xstrdup(c->cwd);
    struct str pattern = json_str(c->req->input, "pattern");
    if (strcmp(row->tool, "Glob") == 0 && pattern.ptr) {
        char *dir = glob_folder(c, pattern, named);
        free(named);
        named = dir;
        if (climbs_after_wild(pattern))
            chain_add(c, "L5", VERDICT_ASK, FORCE_PLAIN, NULL, NULL,
                      "the pattern climbs out of the folders it names");
    }
    if (a.kind == EFFECT_READ_TREE) {
        /* One file is no tree: rules over its folder do not speak of it. */
        char *full = fs_normalize(c->cwd, named);
        if (fs_exists(full) && !fs_is_dir(full))
            a.kind = EFFECT_READ;
        free(full);
    }
    judge_file(c, &a, named, tool_rule);
    free(named);
}

/* ---- hosts ---- */

static void
judge_fetch(struct chain *c, const struct perm_rule *allow)
{
    struct str url = json_str(c->req->input, "url");
    struct url_host h;
    if (!url.ptr) {
        chain_add(c, "L1", VERDICT_DENY, FORCE_HARD, NULL, NULL,
                  "the input of WebFetch lacks 'url'");
        return;
    }
    url_host_parse(url, &h);
    char *shown = str_dup(str_sub(url, 0, 300));
    const char *host = buf_cstr(&h.name);
    if (h.bad)
        chain_add(c, "L1", VERDICT_ASK,
                  rules_any(c->req->rules, &c->deny, "WebFetch") ? FORCE_HARD : FORCE_PLAIN, NULL,
                  shown, "the address cannot be trusted: %s", h.bad);
    else if (h.userinfo)
        chain_add(c, "L1", VERDICT_ASK, FORCE_PLAIN, NULL, shown,
                  "the address hides its host '%s' behind a user name", host);
    else if (allow && !allow->body && url_is_metadata(&h))
        chain_add(c, "L1", VERDICT_ASK, FORCE_PLAIN, NULL, shown,
                  "'%s' gives out the machine's credentials, and no rule names it", host);
    else if (allow)
        chain_add(c, "rules", VERDICT_ALLOW, FORCE_PLAIN, allow, shown, "an allow rule covers '%s'",
                  host);
    else
        chain_add(c, "L1", VERDICT_ASK, FORCE_PLAIN, NULL, shown,
                  "it connects to '%s' and no rule covers that", host);
    free(shown);
    url_host_release(&h);
}

/* ---- the rest ---- */

static void
judge_named(struct chain *c, const struct perm_rule *allow, const char *what)
{
    const char *tool = c->req->tool;
    if (allow && c->mode == PERM_PLAN &&
        (c->kind == TOOL_KIND_MCP || c->kind == TOOL_KIND_UNKNOWN) &&
        !(c->req->tool_known && c->req->tool_read_only))
        chain_add(c, "mode", VERDICT_ASK, FORCE_PLAIN, allow, tool,
                  "plan mode: rules let through only what is known to change nothing");
    else if (allow)
        chain_add(c, "rules", VERDICT_ALLOW, FORCE_PLAIN, allow, tool, "an allow rule covers %s",
                  tool);
    else
        chain_add(c, "L1", VERDICT_ASK, FORCE_PLAIN, NULL, tool, "%s and no rule allows it", what);
}

static void
tool_rules(struct chain *c, const struct tool_match *m)
{
    const struct perm_rule *r = rules_match_tool(c->req->rules, &c->deny, m);
    if (r)
        chain_add(c, "rules", VERDICT_DENY, FORCE_HARD, r, m->tool, "a deny rule names %s",
                  m->tool);
    r = rules_match_tool(c->req->rules, &c->ask, m);
    if (r)
        chain_add(c, "rules", VERDICT_ASK, FORCE_HARD, r, m->tool, "an ask rule names %s", m->tool);
}

static bool
input_ok(struct chain *c)
{
    const char *why = NULL;
    if (!c->req->tool || !*c->req->tool)
        why = "the call names no tool";
    else if (!json_is_object(c->req->input))
        why = "the call's input is no object";
    else if (c->kind == TOOL_KIND_SHELL && !c->has_sh)
        why = "the input of Bash lacks 'command'";
    if (why)
        chain_add(c, "L1", VERDICT_DENY, FORCE_HARD, NULL, NULL, "%s", why);
    return !why;
}

void
layer_tool(struct chain *c)
{
    if (!input_ok(c))
        return;
    struct tool_match m = {
        .tool = c->req->tool, .input = c->req->input, .mcp_server = c->req->mcp_server};
    tool_rules(c, &m);
    const struct perm_rule *allow = rules_match_tool(c->req->rules, &c->allow, &m);
    const struct row *row = row_of(c->req->tool);
    switch (c->kind) {
    case TOOL_KIND_SHELL:
        break; /* the other layers look at its leaves */
    case TOOL_KIND_READ:
    case TOOL_KIND_EDIT:
        if (c->kind == TOOL_KIND_EDIT && c->mode == PERM_PLAN)
            allow = NULL;
        judge_tool_file(c, row, allow && !allow->body ? allow : NULL);
        break;
    case TOOL_KIND_FETCH:
        judge_fetch(c, allow);
        break;
    case TOOL_KIND_FREE:
        chain_add(c, "L1", VERDICT_ALLOW, FORCE_PLAIN, NULL, m.tool,
                  "%s changes nothing outside the session", m.tool);
        break;
    case TOOL_KIND_ASK:
        chain_add(c, "L1", VERDICT_ASK, FORCE_HARD, NULL, m.tool, "%s is a question to a person",
                  m.tool);
        break;
    case TOOL_KIND_NAMED:
        judge_named(c, allow, "it acts outside this conversation");
        break;
    case TOOL_KIND_MCP:
        judge_named(c, allow, "it is another program's tool");
        break;
    case TOOL_KIND_UNKNOWN:
        judge_named(c, allow, "the tool is not known");
        break;
    }
}
