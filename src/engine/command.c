/* Slash commands, for people: a row of the table and a function each. Answers are notices. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/slash.h"
#include "base/text.h"
#include "engine/command_context.h"
#include "engine/command_session.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/executor.h"
#include "engine/permit.h"
#include "engine/permit_sandbox.h"
#include "engine/query_private.h"
#include "perm/rules.h"

struct command {
    const char *name, *args, *what;
    bool immediate; /* may run beside a turn */
    void (*run)(struct engine *e, struct str arg);
};
static const struct command *commands(size_t *ret_n);

static void
run_help(struct engine *e, struct str arg)
{
    (void)arg;
    struct buf b;
    buf_init(&b, BUF_MAX);
    size_t n;
    const struct command *c = commands(&n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "/%s%s%s: %s\n", c[i].name, *c[i].args ? " " : "", c[i].args, c[i].what);
    buf_adds(&b, "!COMMAND: run a shell command; its output joins the conversation");
    core_notice(&e->core, "%s", buf_cstr(&b));
    buf_release(&b);
}

static void
run_model(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    if (!arg.len) {
        core_notice(c, "the model is %s (%s)", c->model, c->provider->name);
        return;
    }
    char *id = str_dup(arg);
    const char *why;
    bool has = core_has_model(c, id, &why);
    if (has)
        core_set_model(c, id);
    else
        core_refuse(c, "'%s' was not taken: %s. The model is still %s.", id, why, c->model);
    free(id);
    if (!has)
        return;
    core_note_model(c);
    if (!c->info)
        core_notice(c, "%s is not in the catalogue: its price and limits are unknown", c->model);
    core_notice(c, "the model is now %s", c->model);
    core_emit_session(c, false);
    context_emit(c);
    core_say_window(c);
}

static void
run_mode(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    enum perm_mode mode;
    char *name = str_dup(arg);
    if (!arg.len)
        core_notice(c, "the permission mode is %s", perm_mode_shown(c->mode));
    else if (!perm_mode_parse(name, &mode))
        core_refuse(c, "unknown mode '%s': default, acceptEdits, plan, auto, dontAsk, bypass",
                    name);
    else {
        core_set_mode(c, mode);
        executor_reconsider(c->executor, false);
    }
    free(name);
}

static void
run_cost(struct engine *e, struct str arg)
{
    (void)arg;
    const struct core *c = &e->core;
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "cost: ");
    usage_show_cost(&b, c->usage.cost_usd, c->usage.total.estimated);
    buf_addc(&b, '\n');
    for (size_t i = 0; i < c->passport.n_usage; i++) {
        const struct session_model_usage *u = &c->passport.usage[i];
        buf_addf(&b, "%s: %lld requests, %lld in, %lld out, %lld cache read, %lld cache write",
                 u->model, (long long)u->requests, (long long)u->input, (long long)u->output,
                 (long long)u->cache_read, (long long)u->cache_write);
        buf_adds(&b, ", ");
        usage_show_cost(&b, u->cost_usd, false);
        buf_addc(&b, '\n');
    }
    buf_addf(&b, "API time %.1f s, tool time %.1f s", (double)c->passport.api_ms / 1000,
             (double)c->passport.tool_ms / 1000);
    core_notice(&e->core, "%s", buf_cstr(&b));
    buf_release(&b);
}

static void
run_state(struct engine *e, struct str arg)
{
    (void)arg;
    struct buf b;
    buf_init(&b, BUF_MAX);
    state_write(&e->core.state, &b);
    core_notice(&e->core, "%s", buf_cstr(&b));
    buf_release(&b);
}

/* What was allowed until the session ends asks again, also a call that waits. */
static void
take_back(struct core *c, struct str number)
{
    struct err err = {0};
    char *what = NULL;
    if (!permit_take_back(c->permit, number, &what, &err)) {
        core_refuse_err(c, &err);
        return;
    }
    executor_reconsider(c->executor, false);
    core_notice(c, "taken back, it asks again: %s", what);
    free(what);
}

/* "remove allow Bash(make:*)", "remove session 2" */
static void
remove_rule(struct core *c, struct str arg)
{
    struct str word, rest = str_trim(str_sub(arg, 6, arg.len));
    struct err err = {0};
    if (!str_split(&rest, ' ', &word) || !str_trim(rest).len) {
        core_refuse(c, "which one? /permissions remove allow|ask|deny RULE, or session NUMBER");
        return;
    }
    if (str_is(word, "session")) {
        take_back(c, str_trim(rest));
        return;
    }
    char *list = str_dup(word), *rule = str_dup(str_trim(rest));
    if (permit_remove_rule(c->permit, list, rule, &err)) {
        executor_reconsider(c->executor, false);
        core_notice(c, "removed: %s %s", list, rule);
    } else {
        core_refuse_err(c, &err);
    }
    free(list);
    free(rule);
}

static void
run_permissions(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    if (str_is(arg, "remove") || str_starts(arg, "remove ")) {
        remove_rule(c, arg);
        return;
    }
    const struct perm_rules *rs = permit_rules(c->permit);
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_addf(&b, "mode %s, folder %s; %zu rules\n", perm_mode_shown(c->mode),
             c->trusted ? "trusted" : "not trusted (its allow rules do not count)", rs->n);
    for (size_t i = 0; i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        buf_addf(&b, "%-5s %s  (%s", verdict_name(r->verdict), r->text, scope_name(r->scope));
        if (r->file)
            buf_addf(&b, ", %s:%d", r->file, r->line);
        buf_adds(&b, ")\n");
    }
    permit_say_kept(c->permit, &b);
    for (size_t i = 0; i < rs->n_problems; i++)
        buf_addf(&b, "problem: %s\n", rs->problems[i].text);
    const struct config_problem *list;
    size_t n = config_problems(permit_config(c->permit), &list);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "problem: %s:%d %s\n", list[i].file, list[i].line, list[i].text);
    core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
}

static void
run_sandbox(struct engine *e, struct str arg)
{
    struct core *c = &e->core;
    struct buf b;
    if (arg.len && !permit_sandbox_switch(c->permit, arg)) {
        core_refuse(c, "/sandbox takes on, off or default, not '%.*s'",
                    (int)(arg.len < 40 ? arg.len : 40), arg.ptr);
        return;
    }
    if (arg.len)
        executor_reconsider(c->executor, false);
    buf_init(&b, BUF_MAX);
    permit_sandbox_say(c->permit, &b);
    core_notice(c, "%s", buf_cstr(&b));
    buf_release(&b);
}

static void
run_memory(struct engine *e, struct str arg)
{
    (void)arg;
    const struct memory *m = &e->core.prompt.files;
    struct buf b;
    buf_init(&b, BUF_MAX);
    if (!m->n)
        buf_adds(&b, "no instruction files; CLAUDE.md or AGENTS.md in the project is read");
    for (size_t i = 0; i < m->n; i++) {
        const struct memory_file *f = &m->files[i];
        buf_addf(&b, "%s%-8s %s", i ? "\n" : "", memory_kind_name(f->kind), f->path);
        if (f->left_out)
            buf_addf(&b, "  (left out: %s)", f->left_out);
        else
            buf_addf(&b, "  (%zu bytes%s%s)", f->bytes, f->imported_by ? ", imported by " : "",
                     f->imported_by ? f->imported_by : "");
    }
    core_notice(&e->core, "%s", buf_cstr(&b));
    buf_release(&b);
}

/* The way back for who said no at the start. */
static void
run_trust(struct engine *e, struct str arg)
{
    (void)arg;
    struct core *c = &e->core;
    if (c->trusted) {
        core_notice(c, "this folder is trusted already");
        return;
    }
    struct buf json, b;
    buf_init(&json, BUF_MAX);
    buf_init(&b, BUF_MAX);
    query_trust(e, STR(""), &json);
    struct cJSON *answer = json_parse(buf_str(&json), NULL);
    for (const struct cJSON *h = json_first(json_at(answer, "held")); h; h = json_next(h))
        buf_addf(&b, "\n%s, %s: %zu", json_cstr(h, "what", ""), json_cstr(h, "file", ""),
                 json_len(json_at(h, "items")));
    if (ops_trust(e))
        core_notice(c, "this folder is trusted; that switches on:%s",
                    b.len ? buf_cstr(&b) : " nothing yet, its files ask for nothing");
    json_free(answer);
    buf_release(&json);
    buf_release(&b);
}

static void
run_budget(struct engine *e, struct str arg)
{
    spend_command(&e->core, arg);
}

static void
run_fast(struct engine *e, struct str arg)
{
    fast_command(&e->core, arg);
}

static void
run_exit(struct engine *e, struct str arg)
{
    (void)arg;
    e->quit = true;
    engine_cancel(e, CANCEL_USER);
}

static const struct command table[] = {
    {"branch", "", "the same as /fork", false, command_fork},
    {"budget", "[USD | day USD | off]", "what was spent; allow so much", true, run_budget},
    {"clear", "[stop]",
     "start a new session, the old one stays on disk; stop: end background commands", false,
     command_clear},
    {"compact", "[WHAT TO KEEP]", "a summary takes the conversation's place", false,
     command_compact},
    {"connect", "[WHERE [MODEL]] [--save]", "which model servers answer; use another one", false,
     connect_run},
    {"context", "[preview|open N]", "how full the context is, and by what; open a fold", true,
     command_context},
    {"cost", "", "tokens and money so far", true, run_cost},
    {"exit", "", "end yare", true, run_exit},
    {"export", "[FILE]", "write the session to a file (Markdown; .json, .jsonl)", false,
     command_export},
    {"fast", "[on|off]", "answers at a higher speed and price; for this session", false, run_fast},
    {"fork", "", "go on in a copy of this session", false, command_fork},
    {"help", "", "this list", true, run_help},
    {"memory", "", "the instruction files the model was given", true, run_memory},
    {"mode", "[NAME]", "show or set the permission mode", true, run_mode},
    {"model", "[ID]", "show or set the model", false, run_model},
    {"permissions", "[remove LIST RULE]",
     "the rules in force, and what is allowed until the session ends", true, run_permissions},
    {"pin", "[FILE|WORDS|last|remove N]", "what is kept word for word; list it", true, command_pin},
    {"quit", "", "end yare", true, run_exit},
    {"rename", "NAME", "give this session a name", false, command_rename},
    {"resume", "ID", "go on with another session of this project", false, command_resume},
    {"sandbox", "[on|off|default]", "what confines commands; for this session", true, run_sandbox},
    {"sessions", "[WORDS]", "sessions of this project", true, command_sessions},
    {"state", "", "the loop's state and last transitions as JSON", true, run_state},
    {"trust", "", "switch on this folder's own settings, and say which", true, run_trust},
};

static const struct command *
commands(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(table);
    return table;
}

/* "/name rest": the row and the rest. */
static const struct command *
find_command(struct str line, struct str *ret_arg)
{
    struct str name = slash_name(line, ret_arg);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_is(name, table[i].name))
            return &table[i];
    return NULL;
}

bool
command_is_known(struct str line)
{
    struct str arg;
    return find_command(line, &arg) != NULL;
}

bool
command_is_immediate(struct str line)
{
    struct str arg;
    const struct command *c = find_command(line, &arg);
    return !c || c->immediate;
}

bool
command_takes_time(struct str line)
{
    struct str arg;
    const struct command *c = find_command(line, &arg);
    return c && c->run == command_compact;
}

void
command_write_list(struct engine *e, struct str arg, struct buf *out)
{
    (void)e;
    (void)arg;
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_key(&w, "commands");
    jw_array(&w);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        jw_object(&w);
        jw_kcstr(&w, "name", table[i].name);
        jw_kcstr(&w, "args", table[i].args);
        jw_kcstr(&w, "what", table[i].what);
        jw_kbool(&w, "waits", !table[i].immediate);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
}

/* Commands of other tools of this kind that people's fingers know. */
static const char elsewhere[] =
    "add-dir agents autocompact background bashes btw bug cd chrome config copy debug desktop "
    "diff doctor effort feedback hooks ide init install-github-app install-slack-app "
    "keybindings login logout mcp mobile output-style passes plan plugin pr-comments "
    "privacy-settings recap release-notes reload-plugins reload-skills remote-control "
    "remote-env review rewind security-review skills stats status statusline stickers "
    "stop tasks teleport terminal-setup theme todos tui upgrade usage vim voice web-setup";

static bool
is_known_elsewhere(struct str line)
{
    struct str name = slash_name(line, NULL), rest = str_from(elsewhere), word;
    while (str_split(&rest, ' ', &word))
        if (str_eq(name, word))
            return true;
    return false;
}

/* The few that it may be the beginning of are named. */
static void
refuse_unknown(struct engine *e, const char *line)
{
    struct str name = slash_name(str_from(line), NULL), head = text_start(str_from(line), 60);
    struct buf b;
    size_t n = 0;
    buf_init(&b, 256);
    for (size_t i = 0; name.len && i < ARRAY_LEN(table); i++) {
        struct str whole = str_from(table[i].name);
        if (whole.len > name.len && str_eq(str_sub(whole, 0, name.len), name) && n++ < 3)
            buf_addf(&b, "%s/%s", b.len ? ", " : "", table[i].name);
    }
    if (n && n <= 3)
        core_refuse(&e->core, "unknown command '%.*s': %s? /help lists them", (int)head.len,
                    head.ptr, buf_cstr(&b));
    else
        core_refuse(&e->core, "unknown command '%.*s'; /help lists them", (int)head.len, head.ptr);
    buf_release(&b);
}

static void
run_line(struct engine *e, const char *line)
{
    struct str arg = STR(""), name = slash_name(str_from(line), NULL);
    const struct command *c = find_command(str_from(line), &arg);
    if (c)
        c->run(e, arg);
    else if (str_is(str_trim(str_from(line)), "/doctor"))
        core_refuse(&e->core, "that is a command of the shell: yare doctor");
    else if (is_known_elsewhere(str_from(line)))
        core_refuse(&e->core, "'/%.*s' is not available in yare; /help lists what is",
                    (int)name.len, name.ptr);
    else
        refuse_unknown(e, line);
}

/* One may run while another does: "/pin ..." beside a /compact. */
bool
command_run(struct engine *e, const char *line, struct buf *answer, struct err *err)
{
    struct core *c = &e->core;
    struct err outer = c->refused, ours;
    struct buf *outer_answer = c->answer;
    err_clear(&c->refused);
    c->answer = answer;
    run_line(e, line);
    ours = c->refused;
    c->refused = outer;
    c->answer = outer_answer;
    if (ours.code != ERR_NONE && err)
        *err = ours;
    return ours.code == ERR_NONE;
}
