#include "commands.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "commands_session.h"
#include "doctor.h"
#include "front.h"
#include "perm/check.h"
#include "setup.h"
#include "store/session.h"

static int
fail(const struct err *err, int code)
{
    fprintf(stderr, "yare: %s\n", err->text);
    return code;
}

static int
perm_audit_log(struct setup *s)
{
    struct session_info *list;
    size_t n;
    int code = 0;
    struct err err = {0};
    if (!session_list(s->data_dir, s->root, &list, &n, &err))
        return fail(&err, 1);
    for (size_t i = n; i-- > 0;) {
        struct session_paths paths;
        struct buf text;
        bool found;
        buf_init(&text, BUF_MAX);
        session_paths_make(s->data_dir, s->root, list[i].id, &paths);
        if (!fs_read_if(paths.audit, BUF_MAX, &text, &found, &err))
            code = fail(&err, 1);
        fwrite(buf_cstr(&text), 1, text.len, stdout);
        session_paths_release(&paths);
        buf_release(&text);
    }
    session_list_free(list, n);
    return code;
}

static int
run_perm(int argc, char **argv, struct setup *s)
{
    const char *what = argc > 0 ? argv[0] : "";
    if (strcmp(what, "check") == 0 && argc == 1)
        return perm_check_run(stdin, stdout);
    if (strcmp(what, "explain") == 0 && argc == 2) {
        setup_load(s);
        return perm_explain_run(argv[1], s->config, s->trusted, s->cwd, s->root, stdout);
    }
    if (strcmp(what, "log") == 0 && argc == 1)
        return perm_audit_log(s);
    fprintf(stderr, "yare: usage: yare perm check | yare perm explain 'COMMAND' | yare perm log\n");
    return 2;
}

static int
run_replay(int argc, char **argv, struct setup *s)
{
    return front_replay(argc, argv, s->options);
}

static int
run_tour(int argc, char **argv, struct setup *s)
{
    (void)argv;
    if (argc > 0) {
        fprintf(stderr, "yare: usage: yare tour\n");
        return 2;
    }
    return front_tour(s->options);
}

static int
run_missing(int argc, char **argv, struct setup *s)
{
    (void)argc, (void)argv, (void)s;
    return 2;
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv, struct setup *s); /* argv behind the command's name */
} table[] = {
    {"perm", run_perm},     {"sessions", commands_sessions_run},
    {"doctor", doctor_run}, {"export", commands_export_run},
    {"replay", run_replay}, {"tour", run_tour},
    {"mcp", run_missing},   {"worker", run_missing},
};

int
commands_run(int argc, char **argv, struct options *o)
{
    struct setup s;
    struct err err = {0};
    if (!setup_init(&s, o, &err))
        return fail(&err, 1);
    int code = 2;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (strcmp(o->command, table[i].name) != 0)
            continue;
        if (table[i].run == run_missing)
            fprintf(stderr, "yare: '%s' is not available in yare yet\n", o->command);
        else
            code = table[i].run(argc - o->rest, argv + o->rest, &s);
    }
    setup_release(&s);
    return code;
}

int
commands_sessions(void)
{
    struct options o = {0};
    struct setup s;
    struct err err = {0};
    if (!setup_init(&s, &o, &err))
        return fail(&err, 1);
    int code = commands_sessions_run(0, NULL, &s);
    setup_release(&s);
    return code;
}
