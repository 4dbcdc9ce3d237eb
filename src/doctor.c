#include "doctor.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/fs.h"
#include "base/http.h"
#include "base/json.h"
#include "base/text.h"
#include "ext/memory.h"
#include "model/catalog.h"
#include "model/local.h"
#include "perm/rules.h"
#include "perm/sandbox.h"
#include "setup.h"
#include "store/session.h"
#include "store/store.h"
#include "ui/term.h"

#define MODELS_SHOWN 4
#define FREE_LEAST ((uint64_t)100 << 20)
#define LIST_SHOWN 20
#define LABEL_COLUMNS 11
#define COLUMNS_LEAST 40 /* on less the terminal may break lines as it likes */

#define ANSWER_MS 1500 /* of the server that the environment names */

struct report {
    struct setup *s;
    size_t broken, warnings;
    bool pilot; /* no model was chosen */
};

/* Columns of the terminal that the lines go to; 0: they are not broken. */
static int
columns(void)
{
    struct winsize size = {0};
    bool is_tty = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return is_tty && size.ws_col >= COLUMNS_LEAST ? size.ws_col : 0;
}

/* "label      text"; what comes from files and servers may hold anything. */
static void
row(const char *label, const char *fmt, ...)
{
    struct buf text, shown;
    va_list ap;
    buf_init(&text, BUF_MAX);
    buf_init(&shown, BUF_MAX);
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    text_visible(&shown, buf_str(&text));
    int room = columns() ? columns() - LABEL_COLUMNS : INT_MAX;
    struct str rest = buf_str(&shown), line;
    for (; text_wrap(&rest, room, &line); label = "")
        printf("%-10s %.*s\n", label, (int)line.len, line.ptr);
    buf_release(&text);
    buf_release(&shown);
}

static void
broken(struct report *r, const char *text)
{
    r->broken++;
    row("  BROKEN", "%s", text);
}

/* ---- the program and its terminal ---- */

static void
report_version(struct report *r)
{
    row("version", "yare %s", YARE_VERSION);
    row("project", "%s (%s)", r->s->root,
        r->s->trusted ? "trusted" : "not trusted: its settings only narrow");
}

static const char *
colours(void)
{
    const char *term = getenv("TERM"), *more = getenv("COLORTERM"), *none = getenv("NO_COLOR");
    if (none && *none)
        return "no colours (NO_COLOR)";
    if (more && (strstr(more, "truecolor") || strstr(more, "24bit")))
        return "true colour";
    if (term && strstr(term, "256"))
        return "256 colours";
    return "the colours of its description";
}

static void
report_terminal(struct report *r)
{
    struct winsize size = {0};
    struct err why = {0};
    bool is_tty = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    const char *term = getenv("TERM");
    (void)r;
    (void)setlocale(LC_CTYPE, "");
    row("terminal", "%s, %s, %s", term && *term ? term : "TERM is not set", colours(),
        strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "UTF-8"
                                                   : "no UTF-8 locale: ASCII borders and marks");
    if (is_tty)
        row("", "%d x %d, synchronized updates unknown (asked for while the screen runs)",
            size.ws_col, size.ws_row);
    else
        row("", "standard output is no terminal here");
    if (is_tty && !term_usable(&why))
        row("", "%s: plain lines in place of the full screen", why.text);
}

/* ---- programs ---- */

static char *
find_program(const char *name)
{
    struct str rest = str_from(getenv("PATH")), dir;
    while (str_split(&rest, ':', &dir)) {
        char *path = xasprintf("%.*s/%s", (int)dir.len, dir.ptr, name);
        if (dir.len && dir.ptr[0] == '/' && access(path, X_OK) == 0 && !fs_is_dir(path))
            return path;
        free(path);
    }
    return NULL;
}

static void
report_programs(struct report *r)
{
    static const struct {
        const char *name, *without;
    } programs[] = {
        {"git", "not found: no branch names, no git commands"},
        {"bwrap", "not found: no sandbox by bubblewrap"},
        {"rg", "not found, and not needed: Grep and Glob are built in"},
    };
    (void)r;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        char *path = find_program(programs[i].name);
        row(programs[i].name, "%s", path ? path : programs[i].without);
        free(path);
    }
}

/* ---- the sandbox ---- */

static const char *
sandbox_when(const struct report *r)
{
    const struct config *cfg = r->s->config;
    const char *given = r->s->options->sandbox;
    bool on = config_bool(cfg, "sandbox.enabled", !r->s->trusted, false);
    bool off = !config_bool(cfg, "sandbox.enabled", !r->s->trusted, true);
    if (given)
        return strcmp(given, "off") == 0 ? "no command (--sandbox off)"
                                         : "every command of the model (--sandbox)";
    return on ? "every command of the model (sandbox.enabled)"
           : off
               ? "no command (sandbox.enabled)"
               : "in auto mode, what only the classifier lets through (sandbox.enabled is not set)";
}

/* What its lines say, in rows. */
static void
sandbox_rows(const struct sandbox_plan *plan)
{
    struct buf json;
    struct jw w;
    struct err err = {0};
    buf_init(&json, BUF_MAX);
    jw_init(&w, &json);
    jw_array(&w);
    sandbox_describe(plan, sandbox_probe(), &w);
    jw_end(&w);
    struct cJSON *lines = json_parse(buf_str(&json), &err);
    for (const struct cJSON *l = json_first(lines); l; l = json_next(l))
        row("", "%s: %s", json_cstr(l, "name", ""), json_cstr(l, "value", ""));
    json_free(lines);
    buf_release(&json);
}

static void
report_sandbox(struct report *r)
{
    struct err err = {0};
    enum sandbox_want want = SANDBOX_WANT_AUTO;
    const char *given = r->s->options->sandbox;
    char *why = NULL;
    if (given && strcmp(given, "off") != 0)
        (void)sandbox_want_parse(given, &want); /* the command line saw to that */
    enum sandbox_kind kind = sandbox_choose(want, sandbox_probe(), &why);
    row("sandbox", "%s: %s", kind == SANDBOX_NONE ? "none" : sandbox_kind_name(kind),
        sandbox_when(r));
    if (kind == SANDBOX_NONE) {
        row("", "%s: commands run unconfined", why ? why : "it cannot be had here");
        free(why);
        return;
    }
    struct perm_rules rules;
    perm_rules_init(&rules);
    perm_rules_load(&rules, r->s->config);
    const struct sandbox_place at = {.root = r->s->root,
                                     .cwd = r->s->cwd,
                                     .home = fs_home(),
                                     .config_dir = r->s->config_dir,
                                     .data_dir = r->s->data_dir,
                                     .trusted = r->s->trusted};
    struct sandbox_plan *plan = sandbox_plan_new(kind, &at, r->s->config, &rules, &err);
    if (plan)
        sandbox_rows(plan);
    else
        broken(r, err.text);
    sandbox_plan_free(plan);
    perm_rules_release(&rules);
    free(why);
}

/* ---- providers ---- */

/* Would it start? Without the key helper and without the network. */
static void
check_provider(struct report *r, const char *name)
{
    struct err err = {0};
    const char *from, *base = setup_base_url(r->s, name, &from), *key;
    if (strcmp(name, "offline") == 0)
        return;
    if (strcmp(name, "anthropic") != 0 && strcmp(name, "openai") != 0) {
        broken(r, "no such provider: anthropic, openai or offline");
        return;
    }
    key = setup_credentials(r->s, name);
    if (base)
        row("  where", "%s (%s)", base, from);
    row("  key", "%s", key ? key : base ? "none" : "none: set ANTHROPIC_API_KEY or OPENAI_API_KEY");
    if (base && !setup_check_url(base, from, &err))
        broken(r, err.text);
    else if (!key && !base)
        broken(r, "it has no credentials");
    if (!http_load(&err))
        broken(r, err.text);
}

static void
server_row(struct model_server *server, bool first, const char *from)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    local_describe_models(server, MODELS_SHOWN, &b);
    row(first ? "servers" : "", "%s on %s%s: %s", server_kind_name(model_server_kind(server)),
        model_server_place(server), from, buf_cstr(&b));
    buf_release(&b);
}

/* The server that OPENAI_BASE_URL names, unless it was found already. True: a row says what is known of it; one elsewhere that is silent
 * has none, for this is about what runs here. */
static bool
named_server_row(struct report *r, const struct local_list *l)
{
    struct err err = {0};
    const char *base = setup_env(r->s, "OPENAI_BASE_URL");
    if (!base || !setup_check_url(base, "OPENAI_BASE_URL", &err))
        return false; /* an address that is none was reported with the provider */
    struct model_server *server = model_server_new(base, setup_env(r->s, "OPENAI_API_KEY"));
    bool found = false;
    for (size_t i = 0; i < l->n; i++)
        found |= strcmp(model_server_url(l->servers[i]), model_server_url(server)) == 0;
    bool answers = !found && model_server_ask(server, r->s->cancel, ANSWER_MS, &err);
    bool silent = !found && !answers && http_is_loopback(base);
    if (answers)
        server_row(server, !l->n, " (OPENAI_BASE_URL)");
    else if (silent)
        row(l->n ? "" : "servers", "%s (OPENAI_BASE_URL) does not say which models it has: %s",
            model_server_place(server), err.text);
    model_server_free(server);
    return answers || silent;
}

static void
report_provider(struct report *r)
{
    const char *why, *name = setup_provider(r->s, &why);
    row("provider", "%s (%s%s)", name, strcmp(why, SETUP_NOTHING) == 0 ? "" : "by ", why);
    check_provider(r, name);
    r->pilot = strcmp(name, "offline") == 0 && strcmp(why, SETUP_NOTHING) == 0;
    struct local_list l;
    local_find(getenv("YARE_LOCAL_SERVERS"), setup_env(r->s, "OLLAMA_HOST"), r->s->cancel, &l);
    for (size_t i = 0; i < l.n; i++)
        server_row(l.servers[i], i == 0, "");
    if (!named_server_row(r, &l) && !l.n)
        row("servers", "no model server answers on this machine");
    local_release(&l);
}

/* ---- settings ---- */

static void
list_notes(const char *label, const struct config_problem *list, size_t n)
{
    for (size_t i = 0; i < n && i < LIST_SHOWN; i++)
        row(label, "%s:%d %s", list[i].file && list[i].file[0] ? list[i].file : "--settings",
            list[i].line, list[i].text);
    if (n > LIST_SHOWN)
        row(label, "and %zu more", n - LIST_SHOWN);
}

static void
report_settings(struct report *r)
{
    const struct config_problem *list;
    const struct config_source *sources;
    size_t n = config_sources(r->s->config, &sources);
    row("settings", "%s", n ? "in this order (the first wins, lists join)" : "none found");
    for (size_t i = 0; i < n; i++)
        row("", "%-8s %s", scope_name(sources[i].scope),
            sources[i].file[0] ? sources[i].file : "--settings");
    n = config_problems(r->s->config, &list);
    list_notes("  BROKEN", list, n);
    r->broken += n;
    n = config_unknown(r->s->config, &list);
    list_notes("  warning", list, n);
    r->warnings += n;
}

/* A rule that should keep something away and does not is broken; what only makes yare ask more, or says less than it seems to, is a
 * warning. */
static void
rule_notes(struct report *r, const struct perm_rules *rules, bool broken)
{
    struct config_problem *list = xcalloc(rules->n_problems + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < rules->n_problems; i++)
        if (rules->problems[i].broken == broken)
            list[n++] = rules->problems[i];
    list_notes(broken ? "  BROKEN" : "  warning", list, n);
    *(broken ? &r->broken : &r->warnings) += n;
    free(list);
}

static void
report_rules(struct report *r)
{
    struct perm_rules rules;
    perm_rules_init(&rules);
    perm_rules_load(&rules, r->s->config);
    row("rules", "%zu", rules.n);
    rule_notes(r, &rules, true);
    rule_notes(r, &rules, false);
    perm_rules_release(&rules);
}

static void
report_catalogue(struct report *r)
{
    struct err err = {0};
    char *file = fs_join(r->s->config_dir, "models.json");
    catalog_load(file, &err);
    if (fs_exists(file))
        row("models", "%s", file);
    if (err.code != ERR_NONE)
        broken(r, err.text);
    free(file);
}

static void
report_memory(struct report *r)
{
    struct memory m;
    const struct memory_options o = {.home = fs_home(),
                                     .claude_dir = getenv("CLAUDE_CONFIG_DIR"),
                                     .config_dir = r->s->config_dir,
                                     .root = r->s->root,
                                     .cwd = r->s->cwd};
    memory_init(&m);
    memory_load(&o, &m);
    for (size_t i = 0; i < m.n && i < LIST_SHOWN; i++)
        row(i ? "" : "memory", "%-8s %s%s%s", memory_kind_name(m.files[i].kind), m.files[i].path,
            m.files[i].left_out ? ": left out, " : "",
            m.files[i].left_out ? m.files[i].left_out : "");
    if (m.n > LIST_SHOWN)
        row("", "and %zu more", m.n - LIST_SHOWN);
    if (!m.n)
        row("memory", "no AGENTS.md or CLAUDE.md");
    memory_release(&m);
}

/* ---- what is kept ---- */

static void
report_store(struct report *r)
{
    struct err err = {0};
    const char *url = r->s->options->store ? r->s->options->store : "memory:";
    struct store *store = store_open(url, &err);
    if (r->s->options->store || !store)
        row("store", "%s (--store)", url);
    if (!store)
        broken(r, err.text);
    store_close(store);
}

static void
report_data(struct report *r)
{
    struct err err = {0};
    struct statvfs v;
    const char *dir = r->s->data_dir;
    bool ok = fs_mkdirs(dir, 0700, &err);
    if (ok && access(dir, W_OK) != 0)
        ok = err_set(&err, ERR_DENIED, "'%s' is not writable: no session can be kept", dir);
    row("data", "%s%s", dir, ok ? ", writable" : "");
    if (!ok) {
        broken(r, err.text);
        return;
    }
    if (statvfs(dir, &v) == 0) {
        uint64_t room = (uint64_t)v.f_bavail * v.f_frsize;
        row("", "%llu MB free", (unsigned long long)(room >> 20));
        if (room < FREE_LEAST)
            broken(r, "less than 100 MB are free: sessions may not be kept");
    }
}

static void
report_sessions(struct report *r)
{
    struct session_info *list;
    size_t n;
    struct err err = {0};
    if (!session_list(r->s->data_dir, r->s->root, &list, &n, &err)) {
        row("sessions", "cannot be listed");
        broken(r, err.text);
        return;
    }
    row("sessions", "%zu of this folder", n);
    session_list_free(list, n);
}

static void (*const table[])(struct report *r) = {
    report_version,  report_terminal, report_programs, report_provider,
    report_settings, report_rules,    report_sandbox,  report_catalogue,
    report_memory,   report_store,    report_data,     report_sessions,
};

static void
report_result(const struct report *r)
{
    struct buf b;
    buf_init(&b, 512);
    if (r->broken)
        buf_addf(&b, "%zu thing%s broken, see BROKEN above", r->broken,
                 r->broken == 1 ? " is" : "s are");
    else
        buf_adds(&b, r->warnings ? "nothing is broken" : "all is well");
    if (r->warnings)
        buf_addf(&b, "; %zu warning%s", r->warnings, r->warnings == 1 ? "" : "s");
    row("result", "%s", buf_cstr(&b));
    buf_release(&b);
    if (r->pilot)
        row("",
            "no model is chosen: the offline pilot answers, which is no language model. Connect "
            "one with ANTHROPIC_API_KEY, OPENAI_BASE_URL, or /connect in yare");
}

int
doctor_run(int argc, char **argv, struct setup *s)
{
    (void)argv;
    struct report r = {.s = s};
    if (argc > 0) {
        fprintf(stderr, "yare: usage: yare doctor\n");
        return 2;
    }
    setup_load(s);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        table[i](&r);
    report_result(&r);
    return r.broken ? 1 : 0;
}
