#include "commands_perm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "engine/audit_query.h"
#include "perm/check.h"
#include "setup.h"
#include "store/session.h"

struct log_options {
    struct audit_query q;
    const char *session;
    char *path;
    bool json, all;
};

__attribute__((format(printf, 1, 2))) static bool
refuse(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("yare: perm log: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return false;
}

/* ---- options ---- */

static bool
set_decision(struct log_options *o, const char *v)
{
    o->q.outcome = strcmp(v, "allow") == 0  ? AUDIT_ALLOWED
                   : strcmp(v, "ask") == 0  ? AUDIT_ASKED
                   : strcmp(v, "deny") == 0 ? AUDIT_DENIED
                                            : AUDIT_ANY;
    return o->q.outcome != AUDIT_ANY || refuse("--decision is allow, ask or deny, not '%s'", v);
}

static bool
set_time(const char *name, const char *v, int64_t *ret)
{
    return audit_parse_time(v, clock_wall_ms(), ret) ||
           refuse("%s takes a time such as 2h, 7d, 2026-11-30 or 2026-11-30T05:29 (UTC), not '%s'",
                  name, v);
}

static bool
set_last(struct log_options *o, const char *v)
{
    char *end;
    long n = strtol(v, &end, 10);
    if (*v < '0' || *v > '9' || *end || n < 1 || n > 1000000)
        return refuse("--last takes a number from 1 on, not '%s'", v);
    o->q.last = (size_t)n;
    return true;
}

static bool
set_option(struct log_options *o, const char *name, const char *v, const char *cwd)
{
    if (strcmp(name, "--session") == 0)
        o->session = v;
    else if (strcmp(name, "--tool") == 0)
        o->q.tool = v;
    else if (strcmp(name, "--who") == 0)
        o->q.who = v;
    else if (strcmp(name, "--rule") == 0)
        o->q.rule = v;
    else if (strcmp(name, "--decision") == 0)
        return set_decision(o, v);
    else if (strcmp(name, "--since") == 0)
        return set_time(name, v, &o->q.since_ms);
    else if (strcmp(name, "--until") == 0)
        return set_time(name, v, &o->q.until_ms);
    else if (strcmp(name, "--last") == 0)
        return set_last(o, v);
    else if (strcmp(name, "--path") == 0) {
        free(o->path);
        o->path = strncmp(v, "~/", 2) == 0 ? fs_normalize(fs_home(), v + 2) : fs_normalize(cwd, v);
        o->q.path = o->path;
    } else {
        return refuse("there is no option '%s'; yare --help lists them", name);
    }
    return true;
}

/* "--tool Bash" and "--tool=Bash". */
static bool
parse_options(int argc, char **argv, const char *cwd, struct log_options *o)
{
    for (int i = 0; i < argc; i++) {
        char *name = argv[i], *value = strchr(name, '=');
        if (strcmp(name, "--json") == 0)
            o->json = true;
        else if (strcmp(name, "--all") == 0)
            o->all = true;
        else if (strncmp(name, "--", 2) != 0)
            return refuse("'%s' is no option; a session is named with --session ID", name);
        else {
            char *plain = value ? str_dup(str_make(name, (size_t)(value - name))) : xstrdup(name);
            bool ok = value || i + 1 < argc || refuse("%s lacks its value", plain);
            ok = ok && set_option(o, plain, value ? value + 1 : argv[++i], cwd);
            free(plain);
            if (!ok)
                return false;
        }
    }
    return true;
}

/* ---- reading ---- */

/* <dir>/<id>.jsonl is the journal, <dir>/<id>/audit.jsonl the log. */
static bool
read_session(struct log_options *o, const struct session_info *s, struct err *err)
{
    if (o->session && strncmp(s->id, o->session, strlen(o->session)) != 0)
        return true;
    char *dir = fs_dirname(s->path), *side = fs_join(dir, s->id),
         *file = fs_join(side, "audit.jsonl");
    bool ok = audit_query_read(&o->q, file, s->id, err);
    free(file);
    free(side);
    free(dir);
    return ok;
}

static bool
read_sessions(struct setup *s, struct log_options *o)
{
    struct session_info *list;
    size_t n;
    bool all, ok = true;
    struct err err = {0};
    if (!session_search(s->data_dir, o->all ? NULL : s->root, (struct str){0}, &list, &n, &all,
                        &err))
        return refuse("%s", err.text);
    for (size_t i = 0; i < n; i++)
        if (!read_session(o, &list[i], &err))
            ok = refuse("%s", err.text);
    if (!all)
        fprintf(stderr, "yare: perm log: only the newest %d sessions were looked at\n",
                SESSION_LIST_MAX);
    session_list_free(list, n);
    audit_query_sort(&o->q);
    return ok;
}

/* ---- printing ---- */

/* One line; whatever does not show is shown. */
static void
add_cell(struct buf *out, const char *text)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    text_visible(&b, str_from(text));
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] == '\n' || b.data[i] == '\t')
            b.data[i] = ' ';
    buf_add_str(out, buf_str(&b));
    buf_release(&b);
}

static void
print_row(const struct audit_row *r, bool columns)
{
    static const int widths[] = {24, 8, 8, 10, 8, 10, 0, 0};
    const char *outcome = r->allowed ? "allow" : r->replaced ? "ask" : "deny";
    char *waited = r->waited_ms ? xasprintf("%.1fs", (double)r->waited_ms / 1000) : xstrdup("-");
    char *id = str_dup(str_sub(str_from(r->session), 0, 8));
    const char *cells[] = {r->time, id, outcome, r->who, waited, r->tool, r->what, r->by};
    struct buf line;
    buf_init(&line, BUF_MAX);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        size_t from = line.len;
        add_cell(&line, *cells[i] ? cells[i] : "-");
        while (columns && line.len - from < (size_t)widths[i])
            buf_addc(&line, ' ');
        if (i + 1 < ARRAY_LEN(cells))
            buf_adds(&line, columns ? "  " : "\t");
    }
    printf("%s\n", buf_cstr(&line));
    buf_release(&line);
    free(waited);
    free(id);
}

static int
run_log(int argc, char **argv, struct setup *s)
{
    struct log_options o = {0};
    audit_query_init(&o.q);
    int code = 2;
    if (parse_options(argc, argv, s->cwd, &o)) {
        code = read_sessions(s, &o) ? 0 : 1;
        bool columns = isatty(STDOUT_FILENO);
        for (size_t i = 0; i < o.q.n; i++)
            if (o.json)
                printf("%s\n", o.q.rows[i].raw);
            else
                print_row(&o.q.rows[i], columns);
        if (!o.q.n && code == 0)
            fprintf(stderr, "yare: perm log: no call matches%s\n",
                    o.all ? "" : " in this folder's sessions (--all looks at every folder's)");
        if (o.q.skipped)
            fprintf(stderr, "yare: perm log: %zu line%s could not be read and %s left out\n",
                    o.q.skipped, o.q.skipped == 1 ? "" : "s", o.q.skipped == 1 ? "was" : "were");
        if (o.q.dropped)
            fprintf(stderr, "yare: perm log: only the newest %d; %zu older ones are left out\n",
                    AUDIT_ROWS_MAX, o.q.dropped);
        if (fflush(stdout) != 0)
            code = 1;
    }
    audit_query_release(&o.q);
    free(o.path);
    return code;
}

static int
run_check(void)
{
    if (isatty(STDIN_FILENO))
        fputs("yare: perm check: reads requests, a JSON object a line, for example\n"
              "  {\"tool\": \"Bash\", \"input\": {\"command\": \"ls\"}, \"mode\": \"plan\"}\n"
              "and answers each with a line; Ctrl+D ends. By your own settings:\n"
              "  yare perm explain 'COMMAND'\n",
              stderr);
    return perm_check_run(stdin, stdout);
}

int
commands_perm_run(int argc, char **argv, struct setup *s)
{
    const char *what = argc > 0 ? argv[0] : "";
    if (strcmp(what, "check") == 0 && argc == 1)
        return run_check();
    if (strcmp(what, "explain") == 0 && argc == 2) {
        setup_load(s);
        return perm_explain_run(argv[1], s->config, s->trusted, s->cwd, s->root, stdout);
    }
    if (strcmp(what, "log") == 0)
        return run_log(argc - 1, argv + 1, s);
    fprintf(stderr, "yare: usage: yare perm check | yare perm explain 'COMMAND' | yare perm log "
                    "[OPTIONS]\n");
    return 2;
}
