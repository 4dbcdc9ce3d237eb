#pragma once
/*
 * Tools: what the model can call. One const row each in tools/registry.c; the API schema, the help and the checks are made
 * from the rows. A tool runs on a worker thread with an execution context; it sees no State and writes nothing but
 * the files it is for, the file-state table (which has its own lock) and its result.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"

struct cJSON;
struct confinement; /* perm/confinement.h */
struct file_state;  /* tools/filestate.h */
struct task_table;  /* tools/task.h */

struct tool_ctx {
    const char *session_id, *tool_use_id;
    const char *root, *cwd, *home;
    const char *spill_dir;        /* full texts of capped results; made on first use, mode 0700 */
    const char *const *child_env; /* for child processes: whitelisted, NULL-terminated */
    struct file_state *files;     /* what was read, with mtime, size and hash */
    /* shell commands run inside this sandbox; NULL: unconfined. The caller holds it for the call, a command of its own accord */
    struct confinement *confinement;
    struct cancel *cancel;     /* this call's token */
    struct cancel *background; /* fired: the command goes on beside the turn; may be NULL */
    struct task_table *tasks;  /* commands that run; NULL: none can go to the background */
    bool may_outlive; /* at its time-out the command goes to the background, else it is killed */
    int64_t max_result_chars; /* 0: 50,000 */
    /* Reports progress; callable from the tool's thread at any time; text is the last output line, bytes so far. */
    void (*progress)(void *user, struct str last_line, int64_t bytes);
    void *user;
    /* Reads a session variable; NULL: not set. The string is yours. May be NULL. */
    char *(*get_variable)(void *user, const char *name);
    const struct tool_host *host; /* what only the floor above can do; may be NULL */
    /* May a search show what this file holds, or its name? path is absolute; callable from any thread. NULL: all of them. Grep and Glob
     * ask for each file before it is opened or listed (tools/readable.h), and leave the others out. */
    bool (*may_read)(void *user, const char *path);
    /* Where the files of this call led when it was decided about, NULL-terminated: a tool opens no other place (tools/at.h). NULL: it
     * runs outside a decision. */
    const char *const *judged;
    const char *kept_by; /* what a file is left out by: "a deny rule"; NULL: that */
};

/* What only the floor above can do, handed down as function pointers. */
struct tool_host {
    void *user;
    void (*todos)(void *user, const char *todos_json); /* TodoWrite: the list changed */
};

/* Filled by run. Init and release by the executor. */
struct tool_result {
    struct buf text; /* to the model; capped by the executor after run */
    bool is_error;   /* tool_result is_error */
    /* a non-zero exit that is no error (grep found nothing): does not cancel siblings */
    bool benign;
    struct buf display; /* for the person when it differs: a unified diff, a listing; empty: text */
    char summary[160];  /* one line: "212 lines", "+12 -7", "17 matches in 4 files", "exit 1" */
    /* tool_use_result JSON for stream-json and hooks; empty: none */
    struct buf data;
    char *new_cwd;    /* Bash: the shell's folder after the command, NULL: unchanged; yours */
    struct buf image; /* base64 of an image result, media type in image_type; empty: none */
    char image_type[32];
    char *spill_path; /* the full text was spilled here; NULL: not */
    /* what it put out, longer than text, for a person to look at; empty: text says it all */
    struct buf log;
    int64_t log_from; /* bytes that came before log */
    char *task_id;    /* Bash: the command goes on in the background under this id; NULL: not */
};
void tool_result_init(struct tool_result *r);
void tool_result_release(struct tool_result *r);
/* Sets an error result: the text and is_error. */
void tool_result_fail(struct tool_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

enum tool_flag {
    TOOL_READ_ONLY = 1,
    TOOL_CONCURRENCY_SAFE = 2,
    TOOL_DESTRUCTIVE = 4,
    TOOL_SHELL = 8, /* read-only and safe are asked of the permission analyser per input */
};

struct tool {
    const char *name;
    const char *aliases; /* blank-separated old names, or NULL */
    unsigned flags;
    const char *description; /* for the model, from assets */
    const char *schema;      /* JSON schema of the input, compact */
    /* Checks types, required and unknown fields beyond the schema; false with a precise error. NULL: schema only. */
    bool (*validate)(const struct cJSON *input, struct err *err);
    /* Runs. The failure of the work is a result with is_error; run itself never fails. */
    void (*run)(struct tool_ctx *ctx, const struct cJSON *input, struct tool_result *ret);
    /* One line for panes: "make test", "src/parse.c". Appends. */
    void (*describe)(const struct cJSON *input, const char *cwd, struct buf *out);
    /* What the call would change, as a unified diff for the approval pane; appends nothing when it cannot tell. May be
     * NULL. Reads files only. */
    void (*preview)(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *out);
    /* False: it would fail for what the session knows already (a file inside the project that it has not read), so that nobody
     * need be asked; why is appended. May be NULL. Reads files only. */
    bool (*precheck)(const struct tool_ctx *ctx, const struct cJSON *input, struct buf *ret_why);
};

const struct tool *tool_find(struct str name); /* exact name or alias; NULL */
const struct tool *tool_at(size_t i);          /* NULL past the end; stable order (prompt cache) */
/* describe's line for the input, yours; one past 4,000 bytes is cut and says so. "" when there is nothing to tell. */
char *tool_describe(const struct tool *t, const struct cJSON *input, const char *cwd);
/* Checks the input against the schema (object, required, types, enums, no unknown keys) and the tool's own validate. */
bool tool_validate(const struct tool *t, const struct cJSON *input, struct err *err) MUST_CHECK;
/* Appends {"name","description","input_schema"}: toolToAPISchema of the reference. */
void tool_schema_write(const struct tool *t, struct buf *out);
/* Appends the array of all tools but those named in `denied` (NULL-terminated, may be NULL). Same bytes for same input. */
void tools_schema_write(const char *const *denied, struct buf *out);
/* Caps the result's text to `max` characters with a preview and the path of the full text, spilled to ctx->spill_dir. */
void tool_result_cap(const struct tool_ctx *ctx, struct tool_result *r, int64_t max);
