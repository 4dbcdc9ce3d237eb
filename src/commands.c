#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "commands_perm.h"
#include "commands_session.h"
#include "doctor.h"
#include "front.h"
#include "setup.h"

static int
fail(const struct err *err, int code)
{
    fprintf(stderr, "yare: %s\n", err->text);
    return code;
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
    return front_tour(s->options, false);
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
    {"perm", commands_perm_run}, {"sessions", commands_sessions_run},
    {"doctor", doctor_run},      {"export", commands_export_run},
    {"replay", run_replay},      {"tour", run_tour},
    {"mcp", run_missing},        {"worker", run_missing},
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
