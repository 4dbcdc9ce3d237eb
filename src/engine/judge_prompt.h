#pragma once
/*
 * What the classifier is told of a call, as JSON: everything that comes from the call, the person or a file is a string in it, with
 * control bytes and what hides text made visible. Two parts: `call` (what runs; must be whole, so one that does not fit is not
 * judged) and what stands around it, where each part has a cap of its own.
 *
 * Never in it: tool results, file content (also that of a Write or Edit), what the model says, the "description" that it gives to a
 * command, instruction files of the project.
 *
 * Pure but for a look whether a file that is written exists. Any thread.
 */
#include "engine/judge.h"

struct cJSON;
struct config;
struct decision;
struct perm_rules;

#define JUDGE_CALL_MAX ((size_t)24 << 10)
#define JUDGE_SAID_MAX 6 /* of the person's messages, the newest */
#define JUDGE_PAST_MAX 12

/* What became of a call. */
struct judge_past {
    char *tool, *what;
    const char *who; /* static: "person", "rules", "classifier", ... */
    bool allowed;
};

struct judge_call { /* borrowed */
    const char *tool;
    const struct cJSON *input;
    bool shell; /* input.command is a shell command */
    const char *root, *cwd, *home;
};
struct judge_world { /* borrowed */
    const char *root, *home;
    const char *const *dirs; /* further folders of the work */
    size_t n_dirs;
    const char *const *said; /* oldest first */
    size_t n_said;
    struct str memory;           /* the person's own instructions */
    const struct config *config; /* autoMode.*, of the person's own files; NULL */
    const struct perm_rules *rules;
    bool trusted; /* allow rules of the project's files count */
};
struct judge_history {
    const struct judge_past *past; /* oldest first */
    size_t n_past;
    int row, total; /* blocks */
};

/* False: it did not fit, or could not be told whole. */
bool judge_prompt_call(const struct judge_call *c, struct buf *out);
/* The members "person", "rules" and "place". */
void judge_prompt_world(const struct judge_world *w, struct buf *out);
/* The members "history" and "asks". */
void judge_prompt_history(const struct judge_history *h, const struct decision *d, struct buf *out);
