#pragma once
/*
 * The command line: one table of options, from which parsing and --help are made. Parsing touches no
 * file, no environment and no library, so that --version and --help answer at once.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum output_format { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_STREAM_JSON };

struct options {
    bool print, go_on, resume, fork_session, partial, verbose, debug, no_color, no_mouse,
        no_alt_screen, linear, trust, version, help;
    const char *resume_id, *session_id, *model, *fallback_model, *permission_mode,
        *output_format_name, *input_format, *settings, *append_system_prompt, *system_prompt,
        *provider, *base_url, *store, *sandbox, *events;
    enum output_format output;
    bool stream_input;
    int max_turns;
    double max_budget_usd;
    const char **allowed, **disallowed, **add_dirs, **mcp_configs; /* NULL-terminated, yours */
    const char *command; /* a sub-command's name, or NULL */
    const char *prompt;  /* the free argument, or NULL */
    int rest;            /* index in argv of the first argument behind the command */
};

/* False: wrong usage (exit code 2), err says what to do. */
bool cli_parse(int argc, char **argv, struct options *ret, struct err *err) MUST_CHECK;
void cli_release(struct options *o);
void cli_help(void); /* prints the help on stdout */
