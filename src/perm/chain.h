#pragma once
/*
 * The permission chain: eight layers and the rules, each a row of one table, each adding findings; the verdict is
 * their maximum in the lattice deny > ask > allow > none, and what nothing allowed asks.
 *
 * perm_chain_check is pure: no I/O but path resolution, no prompt, no waiting. Thread-safe over immutable input.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/verdict.h"
#include "perm/rules.h"

struct cJSON;

struct perm_request {
    const char *tool;
    const struct cJSON *input;
    enum perm_mode mode;
    const struct perm_rules *rules;
    const char *root, *cwd, *home;
    const char *start_cwd; /* where the session began, for relative paths of rules; NULL: cwd */
    const char *config_dir, *data_dir; /* yare's own, protected; NULL: the defaults below home */
    const char *const *additional_dirs;
    size_t n_additional_dirs;
    const char *const
        *read_roots; /* implicit read-only roots: this session's spill and plan folders */
    size_t n_read_roots;
    bool trusted;
    bool interactive;     /* someone can answer */
    const char *shell;    /* NULL: bash */
    int case_insensitive; /* -1: probe */
    /* Tool flags by its row (F1). */
    bool tool_read_only, tool_destructive, tool_known;
    /* Circumstances of `perm check` records and of other layers: */
    enum verdict hook; /* a PreToolUse hook's answer, VERDICT_NONE: no hook */
    const char *mcp_server;
    bool mcp_definition_changed, nested_repo;
    const char *trusted_root, *commondir;
    enum scope mcp_scope;  /* where the MCP server was configured */
    enum scope mode_scope; /* where the mode came from */
    bool sandbox_auto_allow, sandbox_available, sandbox_unsandboxed;
};

/* Fills ret (decision_init is done here; decision_release is the caller's). In auto mode an ask that the classifier may lift
 * stays an ask even where nobody answers; perm_chain_apply_classifier ends it. */
void perm_chain_check(const struct perm_request *req, struct decision *ret);

/* Is this Bash command proven free of writes (may overlap with other calls)? */
bool perm_chain_bash_read_only(const struct perm_request *req);

/* What a classifier said of an ask. */
struct perm_opinion {
    const char *verdict; /* "allow", "block"; anything else, also NULL, asks */
    double confidence;   /* below PERM_CONFIDENT every verdict asks */
    const char *reason;  /* its words, fit to be shown; NULL: none */
    const char
        *failure; /* why there is no verdict: "it did not answer within 20 s"; NULL: there is one */
    bool kept;    /* it said so of the same call before */
};
#define PERM_CONFIDENT 0.8
/* May the classifier decide this? In auto mode an ask that no rule, hook or protected place has reserved for a person. */
bool perm_chain_classifier_may(const struct decision *d);
/* Applies its opinion to an ask that it may lift, as a finding of L6; an ask that stays is denied where nobody can answer. */
void perm_chain_apply_classifier(struct decision *d, const struct perm_opinion *o,
                                 bool interactive);

/* The narrowest useful rules to save for "always": at most 5, one a part that needed it; never for interpreters,
 * shells, wrappers, package runners or dynamic leaves (then 0 and ret_why says so, borrowed). Strings are yours. */
size_t perm_chain_suggest(const struct perm_request *req, char *ret_rules[5], const char **ret_why);

/* Layers in order, for help and docs: id and what it judges. */
struct perm_layer {
    const char *id, *what;
};
const struct perm_layer *perm_chain_layers(size_t *ret_n);
