#pragma once
/*
 * Matching, for the chain alone: the public functions of rules.h with a filter and with what they found. Rules never see a
 * command's text, only a leaf's decoded words.
 */
#include "perm/rules.h"

/* Which rules count. */
struct rule_filter {
    enum verdict list;
    bool untrusted; /* allow rules of the project's own files do not count */
    bool narrow;    /* auto mode: allow rules that are as good as "everything" do not count */
    bool fold_case; /* names of programs are compared without case */
};
bool rule_allow_counts(const struct perm_rule *r, const struct rule_filter *f);
/* Here, for each command meets each rule. */
static inline bool
rule_counts(const struct perm_rule *r, const struct rule_filter *f)
{
    return r->verdict == f->list && (r->verdict != VERDICT_ALLOW || rule_allow_counts(r, f));
}
static inline bool
rule_is_for_bash(const struct perm_rule *r)
{
    const char *t = r->tool;
    return t[0] == 'B' && t[1] == 'a' && t[2] == 's' && t[3] == 'h' && !t[4];
}

/* ---- reading rules (rules_parse.c, rules_names.c, rules_report.c) ---- */
enum { RULES_MAX = 20000 };
void rule_release(struct perm_rule *r);
/* Both take the text. The second is of a rule that does not count as it stands: one that should keep something away is broken. */
void rules_problem(struct perm_rules *rs, const char *file, int line, char *take_text);
void rules_unread(struct perm_rules *rs, const char *file, int line, enum verdict list,
                  char *take_text);
const char *rule_list_name(enum verdict list);
/* The tool whose name is a letter or two away, or NULL. */
const char *perm_rules_near_tool(const char *name);
/* "field:value" with a field that this tool's input has; *ret_better: how it should be written, or NULL. */
bool rule_names_field(const char *tool, struct str body, const char **ret_better);
/* A component of the text is one that is never written without a person: what it is, or NULL (protected.c). */
const char *path_name_protected(const char *path);

/* ---- commands ---- */
/* The texts of one leaf. A word whose value is not known is a WILD_GAP in the last two, and in `exact`, which only a '*' can
 * match. */
struct leaf_texts {
    struct buf exact;               /* for allow */
    struct buf with_env;            /* exact behind its assignments; empty: there are none */
    struct buf plain, deny;         /* for deny and ask, as written and normalised */
    struct buf gap_plain, gap_deny; /* what they may turn into; empty: all is known */
    struct buf linked; /* deny, with the program that its link leads to; empty: it is none */
    bool name_known;
    struct perm_word *hidden; /* pieces of words that may hold commands */
    size_t n_hidden;
};
void leaf_texts_init(struct leaf_texts *t, const struct perm_leaf *leaf);
void leaf_texts_release(struct leaf_texts *t);

enum match_how {
    MATCH_NONE,
    MATCH_MAY,     /* deny and ask: an unknown word may turn it into this */
    MATCH_PREFIX,  /* by a rule with a wildcard */
    MATCH_BLANKET, /* by "Bash" or "Bash(*)" */
    MATCH_EXACT,   /* word for word */
};
struct leaf_match {
    const struct perm_rule *rule;
    enum match_how how;
};
/* An allow rule that begins otherwise than the command, and so says nothing of it: nearly all of them do. */
static inline bool
rule_begins_otherwise(const struct perm_rule *r, const struct leaf_texts *t)
{
    char first = r->verdict == VERDICT_ALLOW && r->body && r->pattern ? *r->pattern : '\0';
    return first && first != '*' && !(t->exact.len && first == *t->exact.data) &&
           !(t->with_env.len && first == *t->with_env.data);
}
/* One rule against one leaf. */
enum match_how rule_match_leaf(const struct perm_rule *r, const struct leaf_texts *t,
                               const struct perm_leaf *leaf, bool fold_case);
/* A deny or ask rule PROGRAM SUB..., with options between these words of the leaf (rules_subcommand.c). */
enum match_how rule_match_subcommand(struct str pattern, bool boundary,
                                     const struct perm_leaf *leaf, bool fold);
/* rules_hidden.c: the leaf may run what its words hold. Does the deny or ask rule name that? */
void hidden_init(struct leaf_texts *t, const struct perm_leaf *leaf);
bool rule_match_hidden(const struct perm_rule *r, const struct leaf_texts *t, bool fold);
/* The strongest match in the list. */
struct leaf_match rules_match_leaf(const struct perm_rules *rs, const struct rule_filter *f,
                                   const struct leaf_texts *t, const struct perm_leaf *leaf);
/* Does some allow rule name the leaf's assignments too? */
bool rules_name_env(const struct perm_rules *rs, const struct rule_filter *f,
                    const struct leaf_texts *t);
/* A deny or ask rule whose fixed words stand in the raw text, for commands that could not be analysed. */
const struct perm_rule *rules_match_raw(const struct perm_rules *rs, const struct rule_filter *f,
                                        struct str command);
bool rules_any(const struct perm_rules *rs, const struct rule_filter *f, const char *tool);

/* The canonical text of a Bash rule's body. strict: of a deny or ask rule, where a '*' inside quotes is one too. */
void perm_rules_compile_bash(struct str body, bool strict, char **ret_pattern, bool *ret_boundary);
/* A quoted word of a rule with the quoting that leaves have. */
void rule_canonical_token(struct str s, bool strict, struct buf *out);
/* A deny rule may name the program with its folder or without: the pattern without. */
struct str rule_without_folder(struct str pattern);
bool perm_rules_bash_covers(const struct perm_rule *r, struct str text);
bool perm_rules_name_glob(struct str pattern, struct str name);
/* An interpreter, shell, wrapper or runner (by base name): an open-ended rule for it allows anything. */
bool rule_program_is_broad(struct str word);
/* As good as "everything", so auto mode does not let it stand in for the classifier. */
bool rule_is_broad(const struct perm_rule *r);
/* Words of a rule before its first '*'. */
struct str rule_head(const struct perm_rule *r);

/* ---- paths ---- */
/* "Read", "Edit" or "Cd" for a tool whose rules name paths, or NULL. */
const char *perm_rules_path_tool(const char *tool);
/* Like perm_rules_match_path under a filter. */
const struct perm_rule *rules_match_path(const struct perm_rules *rs, const struct rule_filter *f,
                                         const char *tool, const char *const *paths, size_t n,
                                         const struct perm_anchor *an);
/* A rule that names something which the glob pattern `path` could expand to, or (tree) something below it. */
const struct perm_rule *rules_overlap_path(const struct perm_rules *rs, const struct rule_filter *f,
                                           const char *tool, const char *path, bool tree,
                                           const struct perm_anchor *an);

/* ---- other tools ---- */
struct tool_match {
    const char *tool;
    const struct cJSON *input;
    const char *mcp_server; /* NULL: unknown */
};
const struct perm_rule *rules_match_tool(const struct perm_rules *rs, const struct rule_filter *f,
                                         const struct tool_match *m);
