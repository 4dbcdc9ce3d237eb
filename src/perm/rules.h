#pragma once
/*
 * Permission rules (docs/permissions.md). A rule set is immutable once built; thread-safe then.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/config.h"
#include "base/err.h"
#include "base/verdict.h"
#include "perm/leaf.h"

struct perm_rule {
    enum verdict verdict; /* the list it stands in */
    char *text;           /* as written */
    char *tool;           /* "Bash", "Edit", "mcp__github__*", ... */
    char *body; /* between the brackets, unescaped; NULL: bare tool, which "Tool(*)" is too */
    char *
        pattern; /* Bash: the canonical text to match, '*' the wildcard; NULL: bare or another tool */
    bool
        boundary; /* ... a prefix that ends at a word: the pattern itself and all that begins with it and a blank */
    bool broken; /* it could not be read: what it seems to name asks */
    bool param;  /* the body is "field:value" of the tool's input; deny and ask alone */
    enum scope scope;
    bool claude;
    char *file; /* where it stands, or NULL (session, cli) */
    int line;
};
struct perm_rules {
    struct perm_rule *rules;
    size_t n, cap;
    struct config_problem *problems; /* mistyped, ignored, shadowed: file, line, text */
    size_t n_problems, cap_problems;
    char *
        broken; /* "FILE:LINE" of a settings file that cannot be read: what it denies is not known; NULL: none */
};
void perm_rules_init(struct perm_rules *rs);
void perm_rules_release(struct perm_rules *rs);
/* Parses one rule. One that cannot be read or grants nothing becomes a problem and false (what one
 * with a broken bracket seems to name asks until it is mended); one that is read in another way than
 * it was perhaps meant becomes a problem and true. */
bool perm_rules_add(struct perm_rules *rs, enum verdict list, const char *text, enum scope scope,
                    bool claude, const char *file, int line);
/* permissions.{allow,ask,deny} of every source, then what perm_rules_audit sees. */
void perm_rules_load(struct perm_rules *rs, const struct config *c);
/* Adds a problem for each rule that contradicts another one or never counts because of it, that adds nothing to another of its file,
 * or that is too broad. */
void perm_rules_audit(struct perm_rules *rs);
/* An allow rule that does not count while that mode lasts: auto mode sets aside what leaves room for anything ("Bash", interpreters,
 * runners of packages, Agent), so that it does not stand in for the classifier. */
bool perm_rules_suspended(const struct perm_rule *r, enum perm_mode mode);
/* The name the settings use for a tool when only the case differs ("bash"), or NULL. */
const char *perm_rules_tool_name(const char *name);

/* A deny rule takes the tool away as a whole, so that the model need not be told of it: by its name, by a glob ("mcp__*", "Web*"),
 * by its server, or as the tool that speaks for it ("Read" for Grep). */
bool perm_rules_hide_tool(const struct perm_rules *rs, const char *tool);

/* Roots that anchors need. */
struct perm_anchor {
    const char *root, *cwd, *home;
    const char *
        start; /* the folder the session began in, where relative paths of rules start; NULL: cwd */
    const char *config_home; /* of a .claude user file: ~/.claude */
    bool fold_case;
};
/* The first matching rule of that list for a leaf, or NULL. Allow matches the exact decoded argv; deny and ask match the
 * base name, past global options. */
const struct perm_rule *perm_rules_match_leaf(const struct perm_rules *rs, enum verdict list,
                                              const struct perm_leaf *leaf);
/* ... for a file access: tool "Read" or "Edit"; `paths` are the spellings to match (as named, resolved). Allow needs every
 * one to match, deny and ask any. */
const struct perm_rule *perm_rules_match_path(const struct perm_rules *rs, enum verdict list,
                                              const char *tool, const char *const *paths, size_t n,
                                              const struct perm_anchor *an);
/* ... for any other tool: bare names, mcp globs, WebFetch(domain:h), Agent(name), Skill(name). */
struct cJSON;
const struct perm_rule *perm_rules_match_tool(const struct perm_rules *rs, enum verdict list,
                                              const char *tool, const struct cJSON *input);
