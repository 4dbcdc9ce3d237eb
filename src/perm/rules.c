#include "perm/rules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perm/rules_match.h"

enum { RULES_MAX = 5000, RULE_LEN_MAX = 4096, PROBLEMS_MAX = 500 };

static const char *const list_names[] = {"none", "allow", "ask", "deny"};

/* Tools whose rules name paths, and the rule name that speaks for them. */
static const struct {
    const char *tool, *speaks;
} path_tools[] = {
    {"Read", "Read"},      {"Grep", "Read"},         {"Glob", "Read"},
    {"LS", "Read"},        {"Edit", "Edit"},         {"Write", "Edit"},
    {"MultiEdit", "Edit"}, {"NotebookEdit", "Edit"}, {"Cd", "Cd"},
};
static const char *const other_tools[] = {
    "Bash",      "WebFetch",        "WebSearch",    "Agent",      "Task",      "Skill",
    "TodoWrite", "AskUserQuestion", "ExitPlanMode", "BashOutput", "KillShell",
};

void
perm_rules_init(struct perm_rules *rs)
{
    *rs = (struct perm_rules){0};
}

static void
rule_release(struct perm_rule *r)
{
    free(r->text);
    free(r->tool);
    free(r->body);
    free(r->pattern);
    free(r->file);
}

void
perm_rules_release(struct perm_rules *rs)
{
    for (size_t i = 0; i < rs->n; i++)
        rule_release(&rs->rules[i]);
    for (size_t i = 0; i < rs->n_problems; i++) {
        free(rs->problems[i].file);
        free(rs->problems[i].text);
    }
    free(rs->rules);
    free(rs->problems);
    perm_rules_init(rs);
}

/* Takes the text. */
static void
problem(struct perm_rules *rs, const char *file, int line, char *take_text)
{
    if (rs->n_problems >= PROBLEMS_MAX) {
        free(take_text);
        return;
    }
    ARRAY_GROW(rs->problems, rs->n_problems, rs->cap_problems);
    rs->problems[rs->n_problems++] =
        (struct config_problem){.file = xstrdup(file), .line = line, .text = take_text};
}

const char *
perm_rules_path_tool(const char *tool)
{
    for (size_t i = 0; i < ARRAY_LEN(path_tools); i++)
        if (strcmp(path_tools[i].tool, tool) == 0)
            return path_tools[i].speaks;
    return NULL;
}

const char *
perm_rules_tool_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(path_tools); i++)
        if (strcasecmp(path_tools[i].tool, name) == 0)
            return path_tools[i].tool;
    for (size_t i = 0; i < ARRAY_LEN(other_tools); i++)
        if (strcasecmp(other_tools[i], name) == 0)
            return other_tools[i];
    return NULL;
}

static bool
tool_bytes_ok(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (!isalnum(c) && !strchr("_-*.", c) && !(c == ' ' && str_starts(s, "mcp__")))
            return false;
    }
    return s.len > 0;
}

/* "\(", "\)" and "\\" stand for the second byte; another backslash stays. */
static char *
unescape(struct str s)
{
    struct buf b;
    buf_init(&b, RULE_LEN_MAX);
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\\' && i + 1 < s.len && strchr("()\\", s.ptr[i + 1]))
            i++;
        buf_addc(&b, s.ptr[i]);
    }
    return buf_take(&b);
}

/* Brackets that no backslash escapes come in pairs. */
static bool
brackets_pair(struct str s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\\' && i + 1 < s.len)
            i++;
        else if (s.ptr[i] == '(')
            depth++;
        else if (s.ptr[i] == ')' && depth-- == 0)
            return false;
    }
    return depth == 0;
}

/* "Tool" or "Tool(body)"; false and the reason. */
static bool
split_rule(struct str s, struct str *ret_tool, struct str *ret_body, const char **ret_why)
{
    size_t open = str_find(s, '(', 0);
    *ret_tool = open == (size_t)-1 ? s : str_sub(s, 0, open);
    *ret_body = (struct str){0};
    *ret_why = "the tool's name holds odd characters";
    if (!tool_bytes_ok(*ret_tool))
        return false;
    if (open == (size_t)-1)
        return true;
    size_t slashes = 0;
    while (slashes + 2 < s.len && s.ptr[s.len - 2 - slashes] == '\\')
        slashes++;
    *ret_why = "the closing bracket is missing";
    if (s.ptr[s.len - 1] != ')' || slashes % 2)
        return false;
    *ret_body = str_sub(s, open + 1, s.len - open - 2);
    *ret_why = "its brackets do not pair, write \\( and \\) for brackets of the text";
    if (!brackets_pair(*ret_body))
        return false;
    *ret_why = "there is nothing between the brackets";
    return str_trim(*ret_body).len > 0;
}

/* What a broken rule seems to name asks until it is mended: it grants nothing, and a deny that cannot be read must not leave its
 * command open. */
static void
keep_broken(struct perm_rules *rs, struct str s, struct perm_rule r)
{
    size_t n = 0, end = s.len;
    while (n < s.len && (isalnum((unsigned char)s.ptr[n]) || strchr("_-", s.ptr[n])))
        n++;
    size_t from = n;
    while (from < end && strchr("([{ \t:", s.ptr[from]))
        from++;
    size_t close = str_find(s, ')', from);
    if (close != (size_t)-1)
        end = close;
    while (end > from && strchr("]} \t*:", s.ptr[end - 1]))
        end--;
    struct str body = str_sub(s, from, end - from);
    if (!n || rs->n >= RULES_MAX || memchr(body.ptr, '\n', body.len))
        return;
    char *name = str_dup(str_sub(s, 0, n));
    const char *real = perm_rules_tool_name(name);
    if (real && body.len) {
        r.verdict = VERDICT_ASK;
        r.text = str_dup(s);
        r.file = xstrdup(r.file);
        r.tool = xstrdup(perm_rules_path_tool(real) ? perm_rules_path_tool(real) : real);
        r.body = str_dup(body);
        if (strcmp(real, "Bash") == 0)
            perm_rules_compile_bash(body, &r.pattern, &r.boundary);
        r.boundary = true;
        ARRAY_GROW(rs->rules, rs->n, rs->cap);
        rs->rules[rs->n++] = r;
    }
    free(name);
}

static bool
text_ok(struct str s, const char **ret_why)
{
    *ret_why = "it is empty or too long";
    if (!s.len || s.len > RULE_LEN_MAX)
        return false;
    *ret_why = "it holds control characters";
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return false;
    return true;
}

/* An allow rule may use '*' in a tool's name only behind "mcp__server__". */
static bool
allow_name_ok(const char *tool)
{
    const char *star = strchr(tool, '*');
    if (!star)
        return true;
    if (strncmp(tool, "mcp__", 5) != 0)
        return false;
    const char *end = strstr(tool + 5, "__");
    return end && end > tool + 5 && end + 2 <= star;
}

/* "name:value" with a plain name, for deny and ask rules over an input's fields. */
static bool
looks_like_param(const char *body)
{
    size_t n = strspn(body, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && body[n] == ':' && body[n + 1];
}

static bool
body_use_ok(const struct perm_rule *r, const char **ret_why)
{
    if (strcmp(r->tool, "WebFetch") == 0) {
        *ret_why = "write it as WebFetch(domain:HOST)";
        return strncmp(r->body, "domain:", 7) == 0 && r->body[7];
    }
    if (strncmp(r->tool, "mcp__", 5) == 0 || strchr(r->tool, '*')) {
        *ret_why = "only deny and ask rules may name a field of the input";
        return r->verdict != VERDICT_ALLOW && looks_like_param(r->body);
    }
    if (strcmp(r->tool, "Bash") == 0 && !r->pattern) {
        *ret_why = "it names no command";
        return false;
    }
    return true;
}

/* Rules spelled for a tool that another one speaks for. */
static bool
fold_path_tool(struct perm_rules *rs, struct perm_rule *r)
{
    const char *speaks = perm_rules_path_tool(r->tool);
    if (!speaks || !r->body || strcmp(speaks, r->tool) == 0)
        return true;
    if (r->verdict == VERDICT_ALLOW) {
        problem(
            rs, r->file, r->line,
            xasprintf("allow rule '%s' is ignored: write it as %s(%s)", r->text, speaks, r->body));
        return false;
    }
    problem(rs, r->file, r->line,
            xasprintf("%s rule '%s' is read as %s(%s)", list_names[r->verdict], r->text, speaks,
                      r->body));
    free(r->tool);
    r->tool = xstrdup(speaks);
    return true;
}

static bool
fold_tool_case(struct perm_rules *rs, struct perm_rule *r)
{
    const char *real = perm_rules_tool_name(r->tool);
    if (strcmp(r->tool, "Task") == 0)
        real = "Agent";
    else if (!real || strcmp(real, r->tool) == 0)
        return true;
    else if (r->verdict == VERDICT_ALLOW) {
        problem(rs, r->file, r->line,
                xasprintf("allow rule '%s' is ignored: the tool is called %s", r->text, real));
        return false;
    } else {
        problem(
            rs, r->file, r->line,
            xasprintf("%s rule '%s' is read as one for %s", list_names[r->verdict], r->text, real));
    }
    free(r->tool);
    r->tool = xstrdup(real);
    return true;
}

static bool
compile(struct perm_rules *rs, struct perm_rule *r, struct str tool, struct str body)
{
    const char *why = NULL;
    r->tool = str_dup(tool);
    if (!fold_tool_case(rs, r))
        return false;
    if (body.ptr) {
        char *plain = unescape(body);
        struct str t = str_trim(str_from(plain));
        bool all = str_is(t, "*");
        if (strcmp(r->tool, "Bash") == 0 && !all)
            perm_rules_compile_bash(t, &r->pattern, &r->boundary);
        if (!all)
            r->body = str_dup(perm_rules_path_tool(r->tool) ? str_from(plain) : t);
        free(plain);
    }
    if (r->verdict == VERDICT_ALLOW && !allow_name_ok(r->tool)) {
        problem(rs, r->file, r->line,
                xasprintf("allow rule '%s' grants nothing: name the tool, or the server as in "
                          "mcp__server__*",
                          r->text));
        return false;
    }
    if (r->body && !body_use_ok(r, &why)) {
        problem(rs, r->file, r->line,
                xasprintf("%s rule '%s' is ignored: %s", list_names[r->verdict], r->text, why));
        return false;
    }
    return fold_path_tool(rs, r);
}

bool
perm_rules_add(struct perm_rules *rs, enum verdict list, const char *text, enum scope scope,
               bool claude, const char *file, int line)
{
    struct perm_rule r = {.verdict = list, .scope = scope, .claude = claude, .line = line};
    struct str s = str_trim(str_from(text)), tool, body;
    const char *why = "there are too many rules";

    bool readable = rs->n < RULES_MAX && text_ok(s, &why);
    if (!readable || !split_rule(s, &tool, &body, &why)) {
        struct str shown = str_sub(s, 0, 200);
        problem(rs, file, line,
                xasprintf("%s rule '%.*s' %s: %s", list_names[list], (int)shown.len, shown.ptr,
                          list == VERDICT_ALLOW ? "grants nothing" : "IS NOT IN FORCE", why));
        r.file = (char *)file;
        if (readable)
            keep_broken(rs, s, r);
        return false;
    }
    r.text = str_dup(s);
    r.file = xstrdup(file);
    if (!compile(rs, &r, tool, body)) {
        rule_release(&r);
        return false;
    }
    ARRAY_GROW(rs->rules, rs->n, rs->cap);
    rs->rules[rs->n++] = r;
    return true;
}

static void
load_list(struct perm_rules *rs, const struct config *c, enum verdict list, const char *path)
{
    size_t n = config_list(c, path, false, NULL, 0);
    if (n > RULES_MAX)
        n = RULES_MAX;
    struct config_item *items = xcalloc(n + 1, sizeof *items);
    size_t have = config_list(c, path, false, items, n);
    for (size_t i = 0; i < have && i < n; i++) {
        char *text = str_dup(items[i].value);
        const struct config_source *from = items[i].source;
        const char *file = from && from->file && *from->file ? from->file : NULL;
        perm_rules_add(rs, list, text, from ? from->scope : SCOPE_CLI, from && from->claude, file,
                       items[i].line);
        free(text);
    }
    free(items);
}

void
perm_rules_load(struct perm_rules *rs, const struct config *c)
{
    load_list(rs, c, VERDICT_DENY, "permissions.deny");
    load_list(rs, c, VERDICT_ASK, "permissions.ask");
    load_list(rs, c, VERDICT_ALLOW, "permissions.allow");
    perm_rules_audit(rs);
}

/* Does everything that `a` names also fall under `b`? Said only when it is plain. */
static bool
rule_shadows(const struct perm_rule *b, const struct perm_rule *a)
{
    if (strcmp(a->tool, b->tool) != 0)
        return strchr(b->tool, '*') && !b->body &&
               perm_rules_name_glob(str_from(b->tool), str_from(a->tool));
    if (!b->body)
        return true;
    if (!a->body)
        return false;
    if (a->pattern && b->pattern && b->boundary)
        return perm_rules_bash_covers(b, str_from(a->pattern));
    return strcmp(a->body, b->body) == 0;
}

void
perm_rules_audit(struct perm_rules *rs)
{
    for (size_t i = 0; i < rs->n; i++) {
        const struct perm_rule *a = &rs->rules[i];
        for (size_t k = 0; a->verdict == VERDICT_ALLOW && k < rs->n; k++) {
            const struct perm_rule *b = &rs->rules[k];
            if (b->verdict == VERDICT_ALLOW || !rule_shadows(b, a))
                continue;
            problem(rs, a->file, a->line,
                    xasprintf("allow rule '%s' never counts: %s rule '%s' comes first", a->text,
                              list_names[b->verdict], b->text));
            break;
        }
    }
}
