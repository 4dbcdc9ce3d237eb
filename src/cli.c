#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/uuid.h"
#include "base/verdict.h"

enum kind { FLAG, TEXT, MAYBE_TEXT, LIST, INTEGER, NUMBER };

struct option_row {
    const char *name, *brief; /* brief: "-p" or NULL */
    enum kind kind;
    size_t field;  /* offset in struct options */
    size_t field2; /* MAYBE_TEXT: of the text; 0 else */
    const char *arg, *help;
};

#define AT(m) offsetof(struct options, m)
static const struct option_row rows[] = {
    {"--print", "-p", FLAG, AT(print), 0, NULL,
     "answer one prompt (argument or standard input) and exit"},
    {"--continue", "-c", FLAG, AT(go_on), 0, NULL, "go on with the newest session of this folder"},
    {"--resume", "-r", MAYBE_TEXT, AT(resume), AT(resume_id), "[ID]",
     "go on with a session, by id or title"},
    {"--fork-session", NULL, FLAG, AT(fork_session), 0, NULL, "with -c or -r: go on in a copy"},
    {"--session-id", NULL, TEXT, AT(session_id), 0, "UUID", "the id of the new session"},
    {"--model", NULL, TEXT, AT(model), 0, "MODEL", "model id or alias (opus, sonnet, haiku)"},
    {"--fallback-model", NULL, TEXT, AT(fallback_model), 0, "A,B",
     "used in that order when the model does not answer"},
    {"--permission-mode", NULL, TEXT, AT(permission_mode), 0, "MODE",
     "default, acceptEdits, plan, auto, dontAsk, bypass"},
    {"--allowedTools", NULL, LIST, AT(allowed), 0, "RULES",
     "allow rules, comma or blank separated"},
    {"--disallowedTools", NULL, LIST, AT(disallowed), 0, "RULES", "deny rules"},
    {"--max-turns", NULL, INTEGER, AT(max_turns), 0, "N", "stop after N turns"},
    {"--max-budget-usd", NULL, NUMBER, AT(max_budget_usd), 0, "USD",
     "stop when this much was spent"},
    {"--output-format", NULL, TEXT, AT(output_format_name), 0, "FORMAT",
     "text, json, stream-json (with -p)"},
    {"--input-format", NULL, TEXT, AT(input_format), 0, "FORMAT", "text, stream-json (with -p)"},
    {"--include-partial-messages", NULL, FLAG, AT(partial), 0, NULL,
     "stream-json: raw stream events too"},
    {"--settings", NULL, TEXT, AT(settings), 0, "FILE|JSON", "further settings"},
    {"--mcp-config", NULL, LIST, AT(mcp_configs), 0, "FILE", "MCP servers (not available yet)"},
    {"--add-dir", NULL, LIST, AT(add_dirs), 0, "DIR", "a further working folder"},
    {"--append-system-prompt", NULL, TEXT, AT(append_system_prompt), 0, "TEXT",
     "added to the system prompt"},
    {"--system-prompt", NULL, TEXT, AT(system_prompt), 0, "TEXT", "instead of the system prompt"},
    {"--provider", NULL, TEXT, AT(provider), 0, "NAME", "anthropic, openai, offline"},
    {"--base-url", NULL, TEXT, AT(base_url), 0, "URL", "where the provider is"},
    {"--store", NULL, TEXT, AT(store), 0, "URL", "state store: memory:"},
    {"--sandbox", NULL, TEXT, AT(sandbox), 0, "KIND",
     "confine commands: auto, bwrap, landlock, off"},
    {"--events", NULL, TEXT, AT(events), 0, "FILE", "record the event stream"},
    {"--no-color", NULL, FLAG, AT(no_color), 0, NULL, "no colours"},
    {"--no-mouse", NULL, FLAG, AT(no_mouse), 0, NULL, "leave the mouse to the terminal"},
    {"--no-alt-screen", NULL, FLAG, AT(no_alt_screen), 0, NULL, "stay on the normal screen"},
    {"--linear", NULL, FLAG, AT(linear), 0, NULL, "plain lines instead of panes"},
    {"--trust", NULL, FLAG, AT(trust), 0, NULL, "trust this folder (for scripts)"},
    {"--verbose", NULL, FLAG, AT(verbose), 0, NULL, "accepted, never required"},
    {"--debug", NULL, FLAG, AT(debug), 0, NULL, "log at level debug"},
    {"--version", "-v", FLAG, AT(version), 0, NULL, "print the version"},
    {"--help", "-h", FLAG, AT(help), 0, NULL, "print this help"},
};

/* Options of the ecosystem that yare knows and does not have. */
static const char *const not_here[] = {
    "--name",
    "-n",
    "--no-session-persistence",
    "--effort",
    "--agent",
    "--agents",
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--tools",
    "--permission-prompt-tool",
    "--json-schema",
    "--include-hook-events",
    "--replay-user-messages",
    "--forward-subagent-text",
    "--strict-mcp-config",
    "--setting-sources",
    "--system-prompt-file",
    "--append-system-prompt-file",
    "--plugin-dir",
    "--bare",
    "--safe-mode",
    "--debug-file",
    "--betas",
    "--init",
    "--maintenance",
    "--worktree",
    "-w",
    "--ax-screen-reader",
};

static const char *const commands[] = {"perm", "sessions", "resume", "export", "replay",
                                       "tour", "doctor",   "mcp",    "worker"};

static const struct option_row *
find_row(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(name, rows[i].name) || (rows[i].brief && str_is(name, rows[i].brief)))
            return &rows[i];
    return NULL;
}

static bool
unknown_option(struct str name, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(not_here); i++)
        if (str_is(name, not_here[i]))
            return err_set(err, ERR_UNSUPPORTED, "'%s' is not available in yare", not_here[i]);
    return err_set(err, ERR_INVALID, "unknown option '%.*s'; yare --help lists the options",
                   (int)name.len, name.ptr);
}

static void
add_item(const char ***list, struct str item)
{
    size_t n = 0;
    while (*list && (*list)[n])
        n++;
    *list = xreallocarray(*list, n + 2, sizeof **list);
    (*list)[n] = str_dup(item);
    (*list)[n + 1] = NULL;
}

/* "Bash(git log:*), Read" splits at commas and blanks outside brackets. */
static void
add_list(const char ***list, struct str s)
{
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i <= s.len; i++) {
        char c = i < s.len ? s.ptr[i] : ',';
        depth += c == '(' ? 1 : c == ')' && depth > 0 ? -1 : 0;
        if (i < s.len && (depth > 0 || !(c == ',' || c == ' ' || c == '\t' || c == '\n')))
            continue;
        struct str item = str_trim(str_sub(s, start, i - start));
        if (item.len)
            add_item(list, item);
        start = i + 1;
    }
}

static bool
set_number(const struct option_row *row, const char *value, void *at, struct err *err)
{
    char *end;
    errno = 0;
    if (row->kind == INTEGER) {
        long v = strtol(value, &end, 10);
        if (*end || end == value || errno || v < 1 || v > 1000000)
            return err_set(err, ERR_INVALID, "%s wants a whole number from 1 on, not '%s'",
                           row->name, value);
        *(int *)at = (int)v;
        return true;
    }
    double v = strtod(value, &end);
    if (*end || end == value || errno || !(v > 0))
        return err_set(err, ERR_INVALID, "%s wants a number above 0, not '%s'", row->name, value);
    *(double *)at = v;
    return true;
}

static bool
set_value(const struct option_row *row, const char *value, struct options *o, struct err *err)
{
    void *at = (char *)o + row->field;
    switch (row->kind) {
    case FLAG:
        *(bool *)at = true;
        return true;
    case TEXT:
        *(const char **)at = value;
        return true;
    case MAYBE_TEXT:
        *(bool *)at = true;
        *(const char **)((char *)o + row->field2) = value;
        return true;
    case LIST:
        if (row->field == AT(add_dirs) || row->field == AT(mcp_configs))
            add_item(at, str_from(value));
        else
            add_list(at, str_from(value));
        return true;
    case INTEGER:
    case NUMBER:
        return set_number(row, value, at, err);
    }
    return true;
}

static bool
parse_one(int argc, char **argv, int *i, struct options *o, struct err *err)
{
    const char *arg = argv[*i];
    struct str name = str_from(arg);
    size_t eq = str_starts(name, "--") ? str_find(name, '=', 0) : (size_t)-1;
    const char *value = NULL;
    if (eq != (size_t)-1) {
        value = arg + eq + 1;
        name = str_sub(name, 0, eq);
    }
    const struct option_row *row = find_row(name);
    if (!row)
        return unknown_option(name, err);
    if (row->kind == FLAG && value)
        return err_set(err, ERR_INVALID, "%s takes no value", row->name);
    if (row->kind == MAYBE_TEXT && !value && *i + 1 < argc && argv[*i + 1][0] != '-')
        value = argv[++*i];
    else if (row->kind != FLAG && row->kind != MAYBE_TEXT && !value) {
        if (*i + 1 >= argc)
            return err_set(err, ERR_INVALID, "%s wants a value: %s %s", row->name, row->name,
                           row->arg);
        value = argv[++*i];
    }
    return set_value(row, value, o, err);
}

static bool
is_one_of(const char *value, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(value, *names) == 0)
            return true;
    return false;
}

static bool
check(struct options *o, struct err *err)
{
    static const char *const outputs[] = {"text", "json", "stream-json", NULL};
    static const char *const inputs[] = {"text", "stream-json", NULL};
    static const char *const providers[] = {"anthropic", "openai", "offline", NULL};
    static const char *const sandboxes[] = {"auto", "bwrap", "landlock", "off", NULL};
    enum perm_mode mode;

    if (o->output_format_name && !is_one_of(o->output_format_name, outputs))
        return err_set(err, ERR_INVALID, "--output-format is text, json or stream-json, not '%s'",
                       o->output_format_name);
    if (o->input_format && !is_one_of(o->input_format, inputs))
        return err_set(err, ERR_INVALID, "--input-format is text or stream-json, not '%s'",
                       o->input_format);
    if (o->provider && !is_one_of(o->provider, providers))
        return err_set(err, ERR_INVALID, "--provider is anthropic, openai or offline, not '%s'",
                       o->provider);
    if (o->events && strcmp(o->events, "-") == 0)
        return err_set(err, ERR_INVALID,
                       "--events records into a file, and '-' is none: name one (./- if it is to "
                       "have that name)");
    if (o->sandbox && !is_one_of(o->sandbox, sandboxes))
        return err_set(err, ERR_INVALID, "--sandbox is auto, bwrap, landlock or off, not '%s'",
                       o->sandbox);
    if (o->permission_mode && !perm_mode_parse(o->permission_mode, &mode))
        return err_set(
            err, ERR_INVALID,
            "--permission-mode is default, acceptEdits, plan, auto, dontAsk or bypass, not '%s'",
            o->permission_mode);
    if (o->session_id && !uuid_valid(o->session_id))
        return err_set(err, ERR_INVALID, "--session-id wants a UUID, not '%s'", o->session_id);
    if (!o->print && (o->output_format_name || o->input_format || o->partial))
        return err_set(err, ERR_INVALID,
                       "--output-format, --input-format and --include-partial-messages go with -p");
    if (o->output_format_name && strcmp(o->output_format_name, "json") == 0)
        o->output = OUTPUT_JSON;
    else if (o->output_format_name && strcmp(o->output_format_name, "stream-json") == 0)
        o->output = OUTPUT_STREAM_JSON;
    o->stream_input = o->input_format && strcmp(o->input_format, "stream-json") == 0;
    if (o->partial && o->output != OUTPUT_STREAM_JSON)
        return err_set(err, ERR_INVALID,
                       "--include-partial-messages goes with --output-format stream-json");
    if (o->fork_session && !o->go_on && !o->resume)
        return err_set(err, ERR_INVALID, "--fork-session goes with --continue or --resume");
    if (o->resume && !o->resume_id && o->print)
        return err_set(err, ERR_INVALID,
                       "--resume wants a session id with -p; yare sessions lists them");
    if (o->mcp_configs)
        return err_set(err, ERR_UNSUPPORTED, "'--mcp-config' is not available in yare yet");
    return true;
}

bool
cli_parse(int argc, char **argv, struct options *ret, struct err *err)
{
    *ret = (struct options){.rest = argc};
    bool only_free = false;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!only_free && strcmp(arg, "--") == 0) {
            only_free = true;
        } else if (!only_free && arg[0] == '-' && arg[1]) {
            if (!parse_one(argc, argv, &i, ret, err))
                return false;
        } else if (!ret->prompt && !ret->command) {
            for (size_t k = 0; !only_free && !ret->print && k < ARRAY_LEN(commands); k++)
                if (strcmp(arg, commands[k]) == 0)
                    ret->command = commands[k];
            if (ret->command && strcmp(ret->command, "resume") == 0) {
                /* `yare resume ID` is --resume ID in a verb's clothes: options and a prompt may follow. */
                ret->command = NULL;
                ret->resume = true;
                if (i + 1 < argc && argv[i + 1][0] != '-')
                    ret->resume_id = argv[++i];
                continue;
            }
            if (ret->command) {
                ret->rest = i + 1;
                break; /* what follows belongs to the command */
            }
            ret->prompt = arg;
        } else {
            return err_set(err, ERR_INVALID,
                           "one prompt only: put it in quotes%s ('%s' is left over)",
                           ret->resume_id ? ", and a title of several words too" : "", arg);
        }
    }
    return check(ret, err);
}

static void
free_list(const char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free((void *)(uintptr_t)list[i]);
    free((void *)(uintptr_t)list);
}

void
cli_release(struct options *o)
{
    free_list(o->allowed);
    free_list(o->disallowed);
    free_list(o->add_dirs);
    free_list(o->mcp_configs);
}

void
cli_help(void)
{
    puts(
        "yare: a keyboard-driven coding agent that fills the terminal\n\n"
        "usage: yare [options] [prompt]         the full screen; a prompt is submitted at once\n"
        "       yare -p [options] [prompt]      print mode; prompt from the argument or standard "
        "input\n"
        "       yare perm check                 decide calls given as JSON lines, without running "
        "anything\n"
        "       yare perm explain 'COMMAND'     why a shell command would run, ask or be denied\n"
        "       yare perm log [OPTIONS]         what was decided in this folder: --session ID, "
        "--tool "
        "NAME,\n"
        "                                       --decision allow|ask|deny, --who WHO, --rule TEXT, "
        "--path P,\n"
        "                                       --since 2h, --until TIME, --last N, --json, --all "
        "(folders)\n"
        "       yare sessions | resume ID       sessions of this folder; go on with one\n"
        "       yare export ID                  a session written out\n"
        "       yare tour                       two minutes through the screen, in a scratch "
        "folder\n"
        "       yare replay FILE                plays a recording of --events (--speed N|max, "
        "--linear)\n"
        "       yare doctor                     what was found: terminal, settings, providers, "
        "model "
        "servers,\n"
        "                                       rules, sessions; exit 1 when something is "
        "broken\n\noptions:");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s %s", rows[i].brief ? rows[i].brief : "",
                 rows[i].brief ? ", " : "    ", rows[i].name, rows[i].arg ? rows[i].arg : "");
        printf("  %-32s %s\n", left, rows[i].help);
    }
    puts("\nWithout a provider yare starts its offline pilot, which is no language model. To "
         "connect one, set\n"
         "ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another server), or OPENAI_BASE_URL (with "
         "its "
         "/v1) and\n"
         "OPENAI_API_KEY; a model server on this machine is offered by name (/connect). Exit "
         "codes: 0 "
         "done,\n"
         "1 the run failed, 2 wrong usage, 130 interrupted, 143 terminated.");
}
