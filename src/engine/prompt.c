#include "engine/prompt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "engine/core.h"
#include "engine/permit.h"
#include "perm/rules.h"
#include "tools/tool.h"

extern const char prompt_attribution_md[], prompt_static_md[], prompt_global_md[],
    prompt_dynamic_md[];

void
prompt_init(struct prompt *p)
{
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < PROMPT_SEGMENTS; i++)
        buf_init(&p->seg[i], BUF_MAX);
    buf_init(&p->tools, BUF_MAX);
    buf_init(&p->memory, BUF_MAX);
    buf_init(&p->left_out, BUF_MAX);
    memory_init(&p->files);
    p->breaks[0] = p->breaks[1] = SIZE_MAX;
}

void
prompt_release(struct prompt *p)
{
    for (size_t i = 0; i < PROMPT_SEGMENTS; i++)
        buf_release(&p->seg[i]);
    buf_release(&p->tools);
    buf_release(&p->memory);
    buf_release(&p->left_out);
    memory_release(&p->files);
}

size_t
prompt_bytes(const struct prompt *p)
{
    size_t n = p->tools.len;
    for (size_t i = 0; i < p->n_system; i++)
        n += p->system[i].len;
    return n;
}

/* ---- git ---- */

void
prompt_git_head(const char *root, struct buf *out)
{
    char *dir = fs_git_dir(root);
    if (!dir)
        return;
    char *head = fs_join(dir, "HEAD");
    struct buf b;
    struct err err = {0};
    bool found = false;
    buf_init(&b, 4096);
    if (fs_read_if(head, 4096, &b, &found, &err) && found) {
        struct str s = str_trim(buf_str(&b));
        if (str_starts(s, "ref: refs/heads/"))
            buf_add_str(out, str_sub(s, 16, s.len));
        else if (s.len >= 12 && !str_starts(s, "ref:"))
            buf_addf(out, "detached at %.12s", s.ptr);
    }
    buf_release(&b);
    free(head);
    free(dir);
}

/* ---- segments ---- */

/* Replaces {{name}} by its value; an unknown name stays as it is written. */
static void
fill(struct buf *out, struct str text, const char *const names[], const char *const values[],
     size_t n)
{
    while (text.len) {
        const char *open = memmem(text.ptr, text.len, "{{", 2);
        if (!open)
            break;
        buf_add(out, text.ptr, (size_t)(open - text.ptr));
        struct str rest = str_sub(text, (size_t)(open - text.ptr), text.len);
        size_t used = 2;
        for (size_t i = 0; i < n; i++) {
            size_t len = strlen(names[i]);
            if (rest.len < len + 4 || memcmp(rest.ptr + 2, names[i], len) != 0 ||
                memcmp(rest.ptr + 2 + len, "}}", 2) != 0)
                continue;
            buf_adds(out, values[i]);
            used = len + 4;
            break;
        }
        if (used == 2)
            buf_adds(out, "{{");
        text = str_sub(rest, used, rest.len);
    }
    buf_add_str(out, text);
}

static void
add_dynamic(struct prompt *p, const struct core *c)
{
    struct buf date, git;
    struct utsname u;
    buf_init(&date, 64);
    buf_init(&git, 512);
    clock_iso8601(clock_wall_ms(), &date);
    buf_truncate(&date, date.len < 10 ? date.len : 10);
    prompt_git_head(c->root, &git);
    if (!git.len)
        buf_adds(&git, "not a git repository");
    bool known = uname(&u) == 0;
    char *platform =
        known ? xasprintf("%s %s (%s)", u.sysname, u.release, u.machine) : xstrdup("unknown");
    const char *names[] = {"cwd", "root", "git", "date", "platform"};
    const char *values[] = {c->cwd, c->root, buf_cstr(&git), buf_cstr(&date), platform};
    fill(&p->seg[PROMPT_DYNAMIC], str_from(prompt_dynamic_md), names, values, ARRAY_LEN(names));
    if (c->given.append_system_prompt)
        buf_addf(&p->seg[PROMPT_DYNAMIC], "\n%s\n", c->given.append_system_prompt);
    free(platform);
    buf_release(&date);
    buf_release(&git);
}

/* Tools that a bare deny rule takes out of the request altogether. */
static void
build_tools(struct prompt *p, struct core *c)
{
    const struct perm_rules *rs = permit_rules(c->permit);
    const struct tool *t;
    size_t n = 0, all = 0;
    while (tool_at(all))
        all++;
    const char **denied = xcalloc(all + 1, sizeof *denied);
    for (size_t i = 0; (t = tool_at(i)); i++)
        if (perm_rules_hide_tool(rs, t->name))
            denied[n++] = t->name;
    c->seams.tools_schema(denied, &p->tools);
    free(denied);
}

/* ---- all of it ---- */

static void
set_breaks(struct prompt *p)
{
    size_t at[PROMPT_SEGMENTS];
    for (size_t i = 0; i < PROMPT_SEGMENTS; i++) {
        at[i] = SIZE_MAX;
        if (!p->seg[i].len)
            continue;
        at[i] = p->n_system;
        p->system[p->n_system++] = buf_str(&p->seg[i]);
    }
    for (size_t i = PROMPT_BOUNDARY; i-- > 0;) {
        if (at[i] != SIZE_MAX) {
            p->breaks[0] = at[i];
            break;
        }
    }
    p->breaks[1] = at[PROMPT_DYNAMIC];
}

/* ---- what it is made of ---- */

static struct str
unquoted(struct str s)
{
    return s.len >= 2 && s.ptr[0] == '"' ? str_sub(s, 1, s.len - 2) : s;
}

/* Each tool of the array by its name. */
static void
add_tool_parts(struct ledger_parts *parts, struct str tools)
{
    size_t at = json_skip_blanks(tools, 0);
    while (at < tools.len && tools.ptr[at] != ']') {
        size_t from = json_skip_blanks(tools, at + 1), end = json_skip_value(tools, from);
        struct str tool = str_sub(tools, from, end - from);
        char *name = str_dup(unquoted(json_raw_member(tool, "name")));
        if (tool.len)
            ledger_part_add(parts, "tool", name, tool);
        free(name);
        size_t next = json_skip_blanks(tools, end);
        if (next <= at)
            break;
        at = next;
    }
}

static void
name_parts(struct prompt *p)
{
    static const char *const names[] = {
        [PROMPT_ATTRIBUTION] = "(attribution)",
        [PROMPT_STATIC] = "(static)",
        [PROMPT_GLOBAL] = "(global)",
        [PROMPT_DYNAMIC] = "(dynamic)",
    };
    memset(&p->parts, 0, sizeof p->parts);
    if (p->tools.len)
        add_tool_parts(&p->parts, buf_str(&p->tools));
    for (size_t i = 0; i < PROMPT_SEGMENTS; i++)
        if (p->seg[i].len)
            ledger_part_add(&p->parts, "system prompt", names[i], buf_str(&p->seg[i]));
    if (p->memory.len)
        ledger_part_add(&p->parts, "memory", "", buf_str(&p->memory));
}

void
prompt_build(struct prompt *p, struct core *c)
{
    prompt_release(p);
    prompt_init(p);
    buf_adds(&p->seg[PROMPT_ATTRIBUTION], prompt_attribution_md);
    if (c->given.system_prompt) {
        buf_adds(&p->seg[PROMPT_GLOBAL], c->given.system_prompt);
    } else {
        buf_adds(&p->seg[PROMPT_STATIC], prompt_static_md);
        buf_adds(&p->seg[PROMPT_GLOBAL], prompt_global_md);
    }
    add_dynamic(p, c);
    set_breaks(p);
    build_tools(p, c);
    prompt_build_memory(p, c);
    name_parts(p);
}
