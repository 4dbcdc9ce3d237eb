#pragma once
/*
 * What travels over the seam between a front end and the engine: ops in, events out, tagged
 * unions that own their strings. Whoever pops one frees it. Every start gets its end, also on abort.
 *
 * Plain `char *` members are owned and may be NULL where a comment says so.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/verdict.h"

/* ---- ops: front end to engine ---- */

enum op_kind {
    OP_SUBMIT, /* text: a prompt; text may hold an @file or start with '/' or '!' (OP_COMMAND does those) */
    /* text: typed while a turn runs; joins the conversation after the running tool batch, or becomes the next prompt; after an interrupt
     * (EV_RESULT, exit "aborted...") it does neither, and is its sender's again */
    OP_STEER,
    /* text: of an OP_STEER that shall not join after all, the newest such; answered by EV_ANSWER with the same seq,
     * {"taken_back":bool}: false when it joined already or became the next prompt */
    OP_UNSTEER,
    OP_PERM_ANSWER,     /* perm */
    OP_SET_MODE,        /* mode */
    OP_SET_MODEL,       /* text: model id or alias */
    OP_COMMAND,         /* text: "/clear" ... as typed */
    OP_COMPACT,         /* text: what to keep, or NULL */
    OP_REWIND,          /* text: message uuid */
    OP_RESUME,          /* text: session id, prefix or title */
    OP_QUESTION_ANSWER, /* text */
    OP_STOP_TOOL,       /* text: tool_use id, or a background task's id */
    OP_BACKGROUND_TOOL, /* text: tool_use id of a running command that shall go on beside the turn; NULL: the newest */
    OP_TRUST, /* the person trusts the folder */
    OP_QUERY, /* query, text: argument; answered by EV_ANSWER with the same seq */
    OP_QUIT,
};

/* Each answer is one JSON object in EV_ANSWER; one that could not be given has "error" and perhaps the rest. */
enum query_kind {
    /* text: index of the message before which the page ends, "" for the last page. {"from","to","total","events":[...]}:
     * messages from..to-1 as the replayed events that panes show them by (event_write's form). */
    QUERY_HISTORY,
    /* text: words that title or prompts hold, or "". {"sessions":[{"id","title","cwd","created_ms","last_ms","messages",
     * "bytes","print","excerpt"}],"complete":bool}, newest first; excerpt: of the prompt that holds the words. Only the newest
     * 1,000 files are looked at, then complete is false. */
    QUERY_SESSIONS,
    /* {"mode","trusted","rules":[{"list","rule","scope","file","line","removable"}],"problems":[{"file","line","text"}],
     * "session":[{"id","tool","command","folder","background":bool,"who","at_ms"} or {"folder","who":"--add-dir"}],"sandbox":{...}} (engine/permit_sandbox.h);
     * removable: `/permissions remove LIST RULE` takes it out of its file. session: what a person allowed until the session ends, exactly
     * so in that folder, and the folders of --add-dir; `/permissions remove session ID` (or FOLDER) takes it back. */
    QUERY_RULES,
    /* text: part of a path. {"files":[...],"complete":bool} */
    QUERY_FILES,
    /* text: what to find, without case. {"hits":[{"index","uuid","role","excerpt"}],"complete":bool}; index: as in
     * QUERY_HISTORY. */
    QUERY_SEARCH,
    QUERY_CHECKPOINTS,
    QUERY_STATE,
    /* {"context":{"used","window","state","estimated"}, "sources":[{"name","tokens"}] (system, tools, memory, messages, results),
     * "models":[{"model","requests","input","output","cache_read","cache_write","cost_usd" or null}], "agents":[the same with
     * "agent"], "requests":[{"turn","purpose","model","input","output","cache_read","cache_write","cost_usd","context"}] (the
     * newest 200), "cache_breaks":[{"turn","reason","tokens","expected","cost_usd"}], "tiers":[{"id","name","percent","before","after"}] (tiers and states of
     * the fill by where they begin; before, after: tokens of the tier's last run), "about" (lines on
     * compaction, pins and folds), "budget_usd","cost_usd",
     * "api_ms","tool_ms","estimated"} */
    QUERY_METERS,
    /* {"models":[{"id","shown","provider","context","max_output","price":{"in","out"} or null,"current":bool,"where"}]}: the
     * catalogue's for the provider in use, and those its server names. */
    QUERY_MODELS,
    /* text: tool_use or task id, and perhaps a blank and how many bytes of text are wanted. {"id","name","what","state","text","bytes","from","processes":[{"pid","depth","command"}]}: what a
     * tool put out so far, its last 256 KiB; from: bytes left out before it. */
    QUERY_TOOL_LOG,
    /* {"commands":[{"name","args","what"}]}: the slash commands that OP_COMMAND takes. */
    QUERY_COMMANDS,
    /* {"trusted":bool,"held":[{"what","file","items":[...]}]}: what the project's own files would switch on once the folder is
     * trusted. */
    QUERY_TRUST,
    /* {"theme":"auto"|"dark"|"light","notify":"bell"|"osc9"|"off","exit_lines":N,"ambiguous_width":1|2,"hyperlinks":bool}: how
     * the screen should look, and how it calls a person who is elsewhere. The last three only where they are set. */
    QUERY_SETTINGS,
};

enum perm_answer { PERM_ANSWER_ONCE, PERM_ANSWER_ALWAYS, PERM_ANSWER_NO };
struct op {
    enum op_kind kind;
    char *text; /* may be NULL */
    enum perm_mode mode;
    /* the mode is one of a cycle that is gone through: no request that waits for a person runs by it */
    bool stepped;
    enum query_kind query;
    uint64_t seq;
    struct {
        uint64_t ask_id; /* of EV_PERM_ASK: the answer goes to the request that was shown */
        enum perm_answer answer;
        uint64_t offer;     /* always: of the EV_PERM_ASK that was shown */
        char *reason;       /* no: for the model; NULL */
        char *edited_input; /* a changed input JSON (goes through the chain again); NULL */
    } perm;
};
struct op *op_new(enum op_kind kind, const char *text); /* text may be NULL */
void op_free(struct op *op);

/* ---- events: engine to front end ---- */

enum event_phase { PHASE_START, PHASE_DELTA, PHASE_END };

enum event_kind {
    EV_SESSION,      /* session: at start, after /clear, resume */
    EV_USER,         /* user: a user message is in the journal and synced (acknowledged) */
    EV_TURN,         /* phase; turn: one request-and-tools round of the loop */
    EV_BLOCK,        /* phase; block: a block of the assistant message as it streams */
    EV_MESSAGE,      /* message: a whole message as appended to the conversation and journal */
    EV_TOOL,         /* phase; tool */
    EV_PERM_ASK,     /* ask */
    EV_PERM_DECIDED, /* decided */
    EV_MODE,         /* mode changed */
    EV_USAGE,        /* usage: totals so far */
    EV_CONTEXT,      /* context fill */
    EV_TRANSITION,   /* transition of the loop, or its exit */
    EV_TASK,         /* background tasks and todos: task.json */
    EV_NOTICE,       /* notice: a line for the person */
    EV_ERROR,        /* error: something failed that the person must know */
    EV_COMPACT,      /* phase; compact: a tier changes what the model is sent */
    EV_TOOL_SUMMARY, /* tool_summary: a line over a finished batch of calls */
    EV_CACHE_BREAK,  /* cache_break: tokens were paid again though they had been cached */
    EV_RETRY,        /* retry: an attempt failed, the next comes in delay_ms */
    EV_ANSWER,       /* answer to an OP_QUERY: seq, json */
    EV_RESULT,       /* result: a submit is over */
    EV_RAW,          /* answer.json: the provider's own stream event (engine_config.partial_raw) */
    EV_OFFER,        /* offer: something the person may take up with a key; never done unasked */
    EV_CLOSED,       /* the engine has stopped; the last event */
};

enum event_block { EVBLOCK_TEXT, EVBLOCK_THINKING, EVBLOCK_TOOL_USE };
enum tool_state {
    TOOL_WAITING,
    TOOL_ASKING,
    TOOL_JUDGING, /* the classifier is asked */
    TOOL_RUNNING,
    TOOL_DONE,
    TOOL_FAILED,
    TOOL_DENIED,
    TOOL_CANCELLED
};
const char *tool_state_name(enum tool_state s);

struct event {
    enum event_kind kind;
    enum event_phase phase;
    int64_t wall_ms;
    uint64_t seq; /* EV_ANSWER: of the query */
    char *agent;  /* NULL: the main agent */
    /* EV_USER, EV_BLOCK, EV_TOOL, EV_MESSAGE: place in the conversation, from 1, of the message it belongs to; 0: not known.
     * A tool belongs to the message that calls it. */
    int64_t place;
    union {
        struct {
            char *id, *model, *cwd, *root, *version, *provider;
            char *model_shown; /* its short name, for people; NULL: it has none */
            char *title;       /* the person's name for the session; NULL: none */
            enum perm_mode mode;
            bool resumed, trusted, cleared;
            int64_t context_window;
            char *tools_json; /* ["Bash",...] */
            bool offline;     /* the pilot: say so */
            bool bypass_allowed;
            bool fast; /* requests go out in fast mode */
        } session;
        struct {
            char *uuid; /* NULL: a '!' line about to run; its message follows with the output */
            char *text;
            bool hidden; /* a message of yare's own, folded in the transcript */
            /* hidden: what it is, in a line for the person; NULL: its first line says it */
            char *brief;
            bool replayed; /* from a resumed journal */
        } user;
        struct {
            int64_t n;
        } turn;
        struct {
            enum event_block type;
            int index;         /* in its message */
            char *tool_use_id; /* TOOL_USE; NULL else */
            char *name;        /* TOOL_USE; NULL else */
            char *text;        /* DELTA: what was added; START, END: NULL */
            bool replayed;
        } block;
        struct {
            /* the whole message, API shape: role and content; an answer of the model also has id, model, stop_reason, usage
             * (no "type") */
            char *json;
            char *uuid;
            bool assistant, hidden, partial;
            /* user message of results: array of their tool_use_result objects, or NULL */
            char *tool_results_json;
        } message;
        struct {
            char *id, *name;
            enum tool_state state;
            char *what;    /* one line: "make test", "src/parse.c" */
            char *input;   /* START: the input JSON; NULL else */
            char *output;  /* DELTA: the last output line; END: display text (diff, output) */
            char *summary; /* END: "212 lines" */
            bool is_diff;  /* END: output is a unified diff */
            bool is_error;
            int64_t bytes, elapsed_ms;
            bool replayed;
        } tool;
        struct {
            uint64_t id;
            char *tool_use_id, *tool, *what, *input;
            char *command;            /* Bash: the whole command; NULL else */
            char *diff;               /* unified diff for edits; NULL else */
            struct decision decision; /* the full chain */
            /* "always": what would be saved; n_rules 0: not offered, rules_why says why */
            char **rules;
            size_t n_rules;
            char *rules_why; /* or NULL */
            char *rules_file;
            /* grows when the same request (id) is told anew, since its reasons or its offer changed */
            uint64_t offer;
        } ask;
        struct {
            uint64_t ask_id; /* 0: nobody was asked */
            char *tool_use_id, *tool, *what;
            struct decision decision;
            char *who; /* "person", "chain", "classifier", "abort" */
            bool allowed;
            int64_t waited_ms;
        } decided;
        struct {
            enum perm_mode mode;
        } mode;
        struct {
            int64_t input, output, cache_read, cache_write; /* session totals */
            int64_t turn_input, turn_output;                /* of the running request */
            double cost_usd;                                /* negative: unknown */
            double budget_usd;                              /* 0: none */
            bool estimated;
        } usage;
        struct {
            int64_t used, window;
            const char *state; /* "ok" "warn" "error" "blocking" (static) */
        } context;
        struct {
            const char *name; /* static: "next_turn", "completed", ... */
            bool is_exit;
            const char *file; /* static */
            int line;
            int64_t turn;
        } transition;
        struct {
            char *json; /* {"todos":[..]} or a task */
        } task;
        struct {
            char *text;
            bool answer; /* of the slash command that runs: its result's text has it too */
        } notice;
        struct {
            struct err err;
            char *request_id; /* or NULL */
        } error;
        struct {
            int attempt, max_attempts;
            int64_t delay_ms;
            struct err err;
        } retry;
        struct {
            /* static: "budget" "snip" "micro" "collapse" "trim" "auto" "person" "reactive"; "" when replayed */
            const char *tier;
            int64_t before, after; /* tokens; START: after 0 */
            char *text;            /* END: one line for the person; NULL */
            bool failed, answer;   /* answer: as of a notice */
        } compact;
        struct {
            char *calls; /* JSON array of tool_use ids */
            char *text;  /* one line */
        } tool_summary;
        struct {
            /* "tool Bash changed", "the cache expired (7 min since the request before)" */
            char *reason;
            int64_t tokens, turn;
            double cost_usd; /* more than with the cache; negative: unknown */
            /* it follows from what the person or yare did: another model, /compact, an edit of the context */
            bool expected;
        } cache_break;
        struct {
            char *json;
        } answer;
        struct {
            char *kind;    /* "provider", "tour" */
            char *text;    /* one line: "Ollama answers on 127.0.0.1:11434 (qwen3:8b)" */
            char *command; /* what taking it up posts as OP_COMMAND: "/connect ..." */
        } offer;
        struct {
            /* static: "success" "error_max_turns" "error_during_execution" ... */
            const char *subtype;
            const char *exit; /* static: the loop's exit name */
            char *text;       /* the final answer */
            bool is_error;
            int exit_code; /* 0, 1, 130, 143 */
            int64_t duration_ms, api_ms, turns;
            double cost_usd;
            char *stop_reason; /* or NULL */
            char *errors;      /* JSON array of texts, or NULL */
            char *model_usage; /* JSON object: modelUsage of a result */
            char *usage;       /* JSON object */
            char *denials;     /* JSON array of permission_denials */
        } result;
    } u;
};
struct event *event_new(enum event_kind kind);
void event_free(struct event *e);
/* Queue merge: folds text deltas of one block, deltas of one tool, and repeated usage or context into the one queued
 * last. A merged text stays under 64 KiB, so that a slow reader still slows the writer. */
bool event_merge(struct event *last, struct event *item);
const char *event_kind_name(enum event_kind k);
/* What an end's name (result.exit) means to a person: "interrupted". Of a name that is not known: that it stopped. */
const char *event_end_words(const char *exit);
/* One JSON object, without newline: for --events FILE and replay. */
void event_write(const struct event *e, struct buf *out);
struct event *event_read(struct str json, struct err *err); /* what event_write wrote */

/* ---- a recording of the events: --events FILE (docs/replay.md; engine/recording.h reads it) ---- */

struct recording;
/* Opens `path` to record in, mode 0600; a header goes first. A recording that is there gets a new part at its end; another file with
 * something in it is refused. width, height: of the screen, 0: there is none. */
struct recording *recording_open(const char *path, int width, int height, struct err *err);
bool recording_event(struct recording *r, const struct event *e, struct err *err) MUST_CHECK;
bool recording_size(struct recording *r, int width, int height, struct err *err) MUST_CHECK;
void recording_close(struct recording *r); /* NULL is fine */
