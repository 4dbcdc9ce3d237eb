/*
 * One rule's text, read. A rule that says something else than it was perhaps meant to is told at load; a deny or ask rule that
 * cannot be read as it stands never leaves open what it seems to name.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/glob.h"
#include "base/text.h"
#include "base/text_form.h"
#include "perm/rules_reading.h"

const char *
rule_list_name(enum verdict list)
{
    static const char *const names[] = {"none", "allow", "ask", "deny"};
    return names[list];
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

static void
add_broken(struct perm_rules *rs, struct str s, struct perm_rule r, const char *real,
           struct str body)
{
    r.verdict = VERDICT_ASK;
    r.broken = true;
    r.text = str_dup(s);
    r.file = xstrdup(r.file);
    r.tool = xstrdup(perm_rules_path_tool(real) ? perm_rules_path_tool(real) : real);
    r.body = body.len ? str_dup(body) : NULL;
    r.pattern = NULL;
    r.boundary = body.len > 0;
    r.param = false;
    if (r.body && strcmp(real, "Bash") == 0) {
        perm_rules_compile_bash(body, true, &r.pattern, &r.boundary);
        r.boundary = true;
    }
    ARRAY_GROW(rs->rules, rs->n, rs->cap);
    rs->rules[rs->n++] = r;
}

/* What a broken rule seems to name asks until it is mended: it grants nothing, and a deny that cannot be read must not leave its
 * command open. real: the tool that is meant, NULL: as written. */
static void
keep_broken(struct perm_rules *rs, struct str s, struct perm_rule r, const char *real)
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
    bool server = !real && strncmp(name, "mcp__", 5) == 0;
    if (!real)
        real = server ? name : perm_rules_tool_name(name);
    if (server)
        body.len = 0;
    /* With nothing between the brackets it seems to name every call. */
    if (real && (body.len || r.verdict != VERDICT_ALLOW))
        add_broken(rs, s, r, real, body);
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

/* ---- bodies that are read in another way than they were written ---- */

static char *
about_rule(const struct reading *x, const char *fmt, va_list ap)
{
    struct buf b;
    buf_init(&b, (size_t)4 * RULE_LEN_MAX);
    buf_addf(&b, "%s rule '%s' ", rule_list_name(x->r->verdict), x->r->text);
    buf_vaddf(&b, fmt, ap);
    return buf_take(&b);
}

void
reading_say(const struct reading *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    rules_problem(x->rs, x->r->file, x->r->line, about_rule(x, fmt, ap));
    va_end(ap);
}

void
reading_unread(const struct reading *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    rules_unread(x->rs, x->r->file, x->r->line, x->r->verdict, about_rule(x, fmt, ap));
    va_end(ap);
}

bool
reading_strict(const struct reading *x)
{
    return x->r->verdict != VERDICT_ALLOW;
}

/* Rules spelled for a tool that another one speaks for. */
static bool
fold_path_tool(struct reading *x)
{
    struct perm_rule *r = x->r;
    const char *speaks = perm_rules_path_tool(r->tool);
    if (!speaks || !x->body.ptr || strcmp(speaks, r->tool) == 0)
        return true;
    if (!reading_strict(x)) {
        reading_say(x, "is ignored: write it as %s(%.*s)", speaks, (int)x->body.len, x->body.ptr);
        return false;
    }
    reading_say(x, "is read as %s(%.*s)", speaks, (int)x->body.len, x->body.ptr);
    free(r->tool);
    r->tool = xstrdup(speaks);
    return true;
}

static bool
fold_tool_case(struct reading *x)
{
    struct perm_rule *r = x->r;
    const char *real = perm_rules_tool_name(r->tool);
    if (strcmp(r->tool, "Task") == 0) {
        real = "Agent";
    } else if (!real || strcmp(real, r->tool) == 0) {
        return true;
    } else if (!reading_strict(x)) {
        reading_say(x, "is ignored: the tool is called %s", real);
        return false;
    } else {
        reading_say(x, "is read as one for %s", real);
    }
    free(r->tool);
    r->tool = xstrdup(real);
    return true;
}

/* The whole body in one pair of quotes: without them it names what was meant. */
static bool
unquote(struct reading *x)
{
    struct str s = str_trim(x->body);
    char q = s.len > 2 ? s.ptr[0] : 0;
    if ((q != '\'' && q != '"') || str_find(s, q, 1) != s.len - 1)
        return true;
    s = str_trim(str_sub(s, 1, s.len - 2));
    if (!s.len)
        return true;
    if (!reading_strict(x)) {
        reading_say(x, "grants nothing: leave the quotes around the text out");
        return false;
    }
    reading_say(x, "is read as %s(%.*s): leave the quotes out", x->r->tool, (int)s.len, s.ptr);
    x->body = s;
    return true;
}

/* "https://host/path" and "host" for WebFetch(domain:host). */
static bool
read_host(struct reading *x)
{
    struct str s = str_trim(x->body), host = s;
    if (str_starts(host, "domain:"))
        host = str_trim(str_sub(host, 7, host.len));
    bool plain = host.len && host.len + 7 == s.len;
    const char *scheme = host.len ? memmem(host.ptr, host.len, "://", 3) : NULL;
    if (scheme)
        host = str_sub(host, (size_t)(scheme - host.ptr) + 3, host.len);
    for (size_t i = 0; i < host.len; i++)
        if (strchr("/?# ", host.ptr[i]))
            host.len = i;
    const char *port = host.len && host.ptr[0] != '[' ? memchr(host.ptr, ':', host.len) : NULL;
    if (port)
        host.len = (size_t)(port - host.ptr);
    plain = plain && host.len + 7 == s.len;
    for (size_t i = 0; reading_strict(x) && i < host.len; i++)
        if ((unsigned char)host.ptr[i] >= 0x80) {
            reading_unread(x, "IS NOT IN FORCE as written, every WebFetch asks until it is mended: "
                              "write the host as it is sent, with xn--");
            keep_broken(x->rs, str_from(x->r->tool), *x->r, x->r->tool);
            return false;
        }
    if (plain)
        return true;
    if (!reading_strict(x) || !host.len) {
        reading_say(x, "is ignored: write it as WebFetch(domain:%.*s)",
                    host.len ? (int)host.len : 4, host.len ? host.ptr : "HOST");
        return false;
    }
    reading_say(x, "is read as WebFetch(domain:%.*s)", (int)host.len, host.ptr);
    x->owned = xasprintf("domain:%.*s", (int)host.len, host.ptr);
    x->body = str_from(x->owned);
    return true;
}

/* ---- the whole body ---- */

static bool
read_field(struct reading *x, const char *better)
{
    struct perm_rule *r = x->r;
    if (!reading_strict(x)) {
        reading_say(x, "is ignored: only deny and ask rules may name a field of the input");
        return false;
    }
    if (better)
        reading_say(x, "looks at the text of the field alone: write it as %s", better);
    r->param = true;
    return true;
}

static bool
read_body(struct reading *x)
{
    struct perm_rule *r = x->r;
    const char *better;
    if (rule_names_field(r->tool, str_trim(x->body), &better))
        return read_field(x, better);
    if (strncmp(r->tool, "mcp__", 5) == 0 || strchr(r->tool, '*')) {
        if (reading_strict(x)) {
            reading_unread(x,
                           "IS NOT IN FORCE as written, its tools ask until it is mended: only a "
                           "field of the input may stand here, as in (name:value)");
            keep_broken(x->rs, str_from(r->tool), *r, r->tool);
            return false;
        }
        reading_say(
            x, "is ignored: only a field of the input may stand here, as in (name:value), and only "
               "in deny and ask rules");
        return false;
    }
    if (!unquote(x))
        return false;
    if (strcmp(r->tool, "WebFetch") == 0)
        return read_host(x);
    if (strcmp(r->tool, "Bash") == 0)
        return reading_command(x);
    if (!perm_rules_path_tool(r->tool))
        return true;
    reading_path(x);
    return fold_path_tool(x);
}

/* A tool that yare does not have: a slip of the pen, or another agent's. A deny or ask rule for what was meant asks. */
static void
doubt_name(struct reading *x, struct str whole)
{
    const struct perm_rule *r = x->r;
    if (strchr(r->tool, '*') || strncmp(r->tool, "mcp__", 5) == 0 || perm_rules_tool_name(r->tool))
        return;
    const char *near = perm_rules_near_tool(r->tool);
    if (!near) {
        reading_say(x, "names no tool of yare");
        return;
    }
    reading_unread(x, "%s: no tool is called '%s', did you mean '%s'?",
                   reading_strict(x) ? "IS NOT IN FORCE" : "grants nothing", r->tool, near);
    if (reading_strict(x))
        keep_broken(x->rs, whole, *r, near);
}

static bool
compile(struct reading *x, struct str whole, struct str tool, struct str body)
{
    struct perm_rule *r = x->r;
    char *plain = body.ptr ? unescape(body) : NULL;
    bool ok = true;
    if (reading_strict(x) && tool.len > 7 && str_starts(tool, "mcp__") && str_ends(tool, "__"))
        tool.len -= 2; /* the server */
    r->tool = str_dup(tool);
    doubt_name(x, whole);
    ok = fold_tool_case(x);
    if (ok && !reading_strict(x) && !allow_name_ok(r->tool)) {
        reading_say(x, "grants nothing: name the tool, or the server as in mcp__server__*");
        ok = false;
    }
    if (ok && plain && !str_is(str_trim(str_from(plain)), "*")) {
        bool path = perm_rules_path_tool(r->tool) != NULL;
        x->body = path ? str_from(plain) : str_trim(str_from(plain));
        ok = read_body(x);
        r->body = ok ? str_dup(x->body) : NULL;
    }
    free(x->owned);
    free(plain);
    return ok;
}

/* Of a rule that is too long or holds control bytes: what stands before that. */
static struct str
readable_part(struct str s)
{
    size_t n = 0;
    while (n < s.len && n < RULE_LEN_MAX && (unsigned char)s.ptr[n] >= ' ' && s.ptr[n] != 0x7f)
        n++;
    return str_sub(s, 0, n);
}

/* No command is run that holds signs which do not show or turn the text around: a rule for one would never count. */
static bool
shows(struct str tool, struct str body, const char **ret_why)
{
    *ret_why = "it holds signs that do not show, and no command may";
    return !(tool.len == 4 && strncasecmp(tool.ptr, "bash", 4) == 0 && text_has_unsafe(body));
}

/* Each alternative of braces is matched by itself. */
static bool
few_alternatives(struct str tool, struct str s, const char **ret_why)
{
    enum { ALTERNATIVES_MAX = 256 };
    char **list = NULL;
    size_t n = 0;
    *ret_why = "its braces make more than 256 alternatives, write several rules";
    if (!s.len || !memchr(s.ptr, '{', s.len) ||
        (tool.len == 4 && strncasecmp(tool.ptr, "bash", 4) == 0))
        return true;
    bool ok = glob_expand(s, &list, &n);
    if (ok)
        glob_expand_free(list, n);
    return ok && n <= ALTERNATIVES_MAX;
}

/* Told, and what it seems to name asks from now on. */
static void
refuse(struct perm_rules *rs, struct perm_rule r, struct str s, const char *why)
{
    struct buf shown, plain;
    buf_init(&shown, 4096);
    buf_init(&plain, RULE_LEN_MAX);
    text_visible(&shown, str_sub(s, 0, 200));
    rules_unread(rs, r.file, r.line, r.verdict,
                 xasprintf("%s rule '%s' %s: %s", rule_list_name(r.verdict), buf_cstr(&shown),
                           r.verdict == VERDICT_ALLOW ? "grants nothing" : "IS NOT IN FORCE", why));
    s = readable_part(s);
    keep_broken(rs, text_one_form(s, &plain) ? buf_str(&plain) : s, r, NULL);
    buf_release(&shown);
    buf_release(&plain);
}

bool
perm_rules_add(struct perm_rules *rs, enum verdict list, const char *text, enum scope scope,
               bool claude, const char *file, int line)
{
    struct perm_rule r = {.verdict = list, .scope = scope, .claude = claude, .line = line};
    struct str s = str_trim(str_from(text)), tool, body;
    const char *why = "there are too many rules";

    if (rs->n >= RULES_MAX || !text_ok(s, &why) || !split_rule(s, &tool, &body, &why) ||
        !shows(tool, body, &why)) {
        r.file = (char *)file;
        refuse(rs, r, s, why);
        return false;
    }
    if (!few_alternatives(tool, body, &why)) {
        r.file = (char *)file;
        refuse(rs, r, s, why);
        if (list != VERDICT_ALLOW && !rs->broken) /* what it names cannot be told */
            rs->broken =
                xasprintf("a %s rule at %s:%d", rule_list_name(list), file ? file : "-", line);
        return false;
    }
    r.text = str_dup(s);
    r.file = xstrdup(file);
    struct reading x = {.rs = rs, .r = &r};
    if (!compile(&x, s, tool, body)) {
        rule_release(&r);
        return false;
    }
    ARRAY_GROW(rs->rules, rs->n, rs->cap);
    rs->rules[rs->n++] = r;
    return true;
}
