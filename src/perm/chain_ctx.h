#pragma once
/*
 * One decision in the making, shared by the layers and by nobody else. Layers only add findings; an ask's force says what
 * may still take it away, and only the rows for hook, sandbox and mode take any away (they turn it into a note).
 */
#include <string.h>
#include <sys/stat.h>

#include "base/str_set.h"
#include "perm/chain.h"
#include "perm/leaf.h"
#include "perm/looks.h"
#include "perm/rules_match.h"

/* What may lift an ask. */
enum force {
    FORCE_PLAIN,  /* the classifier, a hook, a confined child, bypass mode, a person */
    FORCE_PERSON, /* a person, or bypass mode */
    FORCE_HARD,   /* a person in every mode */
};

/* How a leaf is covered by an allow rule, or runs free. */
struct cover {
    struct leaf_match rule; /* how is MATCH_NONE where no rule counts */
    bool free;              /* a reader, or a git reader in the project's own repository */
    bool editor;            /* covered by accept edits mode where its effects lie inside */
    bool carried;           /* needs none of its own: see why */
    bool env_named;         /* a rule names its assignments */
    const char *why;        /* why it is not covered, borrowed; NULL: no rule speaks of it */
};

enum tool_kind {
    TOOL_KIND_UNKNOWN,
    TOOL_KIND_SHELL,
    TOOL_KIND_READ,
    TOOL_KIND_EDIT,
    TOOL_KIND_FETCH,
    TOOL_KIND_NAMED, /* Agent, Skill, WebSearch: rules decide */
    TOOL_KIND_FREE,  /* touches nothing outside the session */
    TOOL_KIND_ASK,   /* exists to be answered by a person */
    TOOL_KIND_MCP,
};

/* A file's spellings: cleaned by text, with links followed, and as the kernel walks it where ".." stands behind a link. */
struct path_names {
    char *v[3];
    size_t n;
    bool lost; /* a loop, too long, no access: where it leads cannot be told */
};

struct access {
    enum perm_effect_kind kind;
    const char *path;  /* as given, absolute or relative to the session's folder; NULL: unknown */
    const char *shown; /* for findings */
    bool glob, redirect;
    bool by_name;        /* a removal below path, of what has certain names */
    bool cd;             /* a change of folder: Cd rules speak of it too */
    bool itself;         /* a link is not followed */
    bool below;          /* a write that changes whatever lies below */
    enum perm_span span; /* of a recursive read */
    const char *only;    /* of a recursive read: a pattern for the files' names, or NULL */
    const char
        *types;   /* of what is done below: ends of the files' names, parted by blanks, or NULL */
    bool filters; /* the tool itself leaves out what deny and ask rules name below path */
    const struct cover
        *cover; /* of the command whose argument it is, or NULL: a tool's own access */
    const struct perm_rule *tool_rule; /* an allow rule for the bare tool, or NULL */
    const struct perm_leaf *leaf;      /* that command, or NULL */
    const char *cwd;                   /* of the leaf, for critical removals; NULL: the session's */
};

/* yare's own folders, named and resolved. */
struct own_dirs {
    bool made;
    char *v[16];
    size_t n;
};

struct chain {
    const struct perm_request *req;
    struct decision *d;
    unsigned char *force;
    size_t cap_force;

    enum tool_kind kind;
    enum perm_mode mode;  /* the one in force */
    bool trusted;         /* the project's own files may widen */
    const char *distrust; /* why not, borrowed */
    struct rule_filter allow, ask, deny;
    bool denies_read, denies_edit; /* there are deny rules for Read, for Edit */
    struct perm_anchor anchor;
    bool fold;

    char *root, *cwd, *home; /* cleaned by text */
    char *start;             /* ... NULL: cwd */
    struct own_dirs *own;    /* yare's own folders, found when first asked for: chain_own */
    char **roots;            /* root and further folders, named and resolved by turns */
    size_t n_roots;
    char **read_roots;
    size_t n_read_roots;
    char *config_home;

    struct str command; /* of the shell tool */
    struct perm_analysis sh;
    bool has_sh;
    struct cover *covers;
    struct leaf_texts *texts;
    bool clean; /* plan mode: no write and no unknown effect in the whole call */
    struct path_cache *cache_before;
    struct looks looks_before;
    bool spent_told;
    struct str_set seen;                                      /* accesses judged already */
    struct arena *keys;                                       /* what it holds; NULL: none yet */
    enum { CONFIG_UNREAD, CONFIG_PLAIN, CONFIG_RUNS } config; /* of the root's repository */
    struct buf key;                                           /* the next one, in the making */
};

/* Findings. part may be NULL; rule may be NULL. */
void chain_add(struct chain *c, const char *layer, enum verdict v, enum force force,
               const struct perm_rule *rule, const char *part, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));
/* An ask counts no longer: it becomes a note. How many asks of at most that force were there. */
size_t chain_lift(struct chain *c, enum force most);
/* True: the same was asked before, and has been judged. Takes the key. */
bool chain_seen(struct chain *c, char *take);
/* The same for what is asked most, without a text of its own: `who`, its numbers and two texts. */
bool chain_seen_parts(struct chain *c, char who, const size_t *numbers, size_t n, const char *a,
                      const char *b);

/* chain_setup.c */
const struct own_dirs *chain_own(const struct chain *c);
void chain_init(struct chain *c, const struct perm_request *req, struct decision *d);
void chain_release(struct chain *c);

/* paths.c */
bool path_inside(const char *path, const char *dir,
                 bool fold); /* dir itself, or below it, by components */
/* fs_resolve, which within a decision asks once for each folder. Yours. */
char *path_resolve(const char *path);
/* stat of what links lead to; false: there is nothing that can be asked. One answer for a decision. */
bool path_stat(const char *path, struct stat *ret_st);
/* Around a decision, on its thread; end takes what begin gave. */
struct path_cache;
struct path_cache *path_cache_begin(void);
void path_cache_end(struct path_cache *before);
void path_names_init(struct path_names *n, const char *base, const char *path, bool fold);
/* The same where a link in the last place is not followed. */
void path_names_init_itself(struct path_names *n, const char *base, const char *path, bool fold);
void path_names_release(struct path_names *n);
bool path_in_roots(const struct chain *c, const struct path_names *n, bool for_read);
/* Probes whether the volume of dir ignores case. */
bool path_probe_fold(const char *dir);

/* protected.c */
/* A folder or file that is never written without a person: what it is; own: yare's own or .claude's. With `tree` what lies below
 * counts too. */
const char *path_protected(const struct chain *c, const char *path, bool tree, bool *ret_own);
/* The same of a pattern that nothing matches yet: what some name that it may stand for would be. *ret_own: as it was, or true. */
const char *path_pattern_protected(const struct chain *c, const char *pattern, bool *ret_own);
/* protected_below.c: asks where something of that kind lies below the folder now, all of which a changes; true: it did. */
bool judge_protected_below(struct chain *c, const struct access *a, const char *path);
/* The same where a changes whatever "find FOLDER -exec" gives to its leaf, with nothing that leaves names out. */
void judge_protected_found(struct chain *c, const struct access *a);
bool path_device_harmless(const char *path);
bool path_leads_anywhere(const char *path); /* a link of a process: where to, only it can tell */
const char *path_special(const char *path, bool write); /* why it is no plain file, or NULL */
const char *path_secret(const struct chain *c,
                        const char *path); /* credentials outside the roots */
const char *path_critical(const struct chain *c, const struct access *a, const char *path);

/* hardlink.c */
bool path_has_other_names(const struct path_names *n);
/* The deny or ask rule that names this very file by another of its names, or NULL. */
const struct perm_rule *path_other_name_rule(const struct chain *c, const struct rule_filter *f,
                                             const char *tool, const struct path_names *n);

/* reach.c: the rule of that list which a recursive read or write below n, by a->leaf, can really reach, or NULL. */
const struct perm_rule *tree_reaches(const struct chain *c, const struct access *a,
                                     const struct rule_filter *f, const char *tool,
                                     const struct path_names *n);

/* access.c */
void judge_access(struct chain *c, const struct access *a);

/* access_rules.c */
/* What rules say of it; false: it is denied. */
bool access_rules(struct chain *c, const struct access *a, const struct path_names *n);
struct access_kind {
    const char *verb, *name; /* "reads", "read" */
    bool write, tree;        /* it changes; it takes all that lies below */
};
extern const struct access_kind access_kinds[]; /* by enum effect_kind */
/* Whose path rules are about it: "Read" or "Edit". */
const char *access_rule_tool(const struct access *a);

/* operands.c */
/* The operands of a program whose effects are not known: yare's own files, and trees that hold what a deny rule names. */
void judge_operands(struct chain *c, const struct perm_leaf *l);

/* repo_config.c */
/* The project's own git configuration names a program that a read-only form would run, and that the environment cannot switch
 * off (filters, external diffs and textconv, signature checks, hooks), or pulls in another file. Read at each decision. */
bool repo_config_runs(const char *root);
bool repo_config_runs_at(const char *root, int depth); /* depth: of repositories in repositories */
/* repo_modules.c: the same of the repositories that the index of `git` lists below root. */
bool repo_modules_run(const char *root, const char *git, int depth);

/* repo.c */
/* Where git works when it is started in `from`: by its -C, as they are written. Yours; NULL: unknown, or another option chooses. */
char *repo_git_folder(const struct perm_leaf *leaf, const char *from);
/* A git command works in the project's own repository, in whichever of its folders it runs (-C counted). */
bool repo_git_is_own(const struct chain *c, const struct perm_leaf *leaf);
/* cover_options.c: why a rule that begins with the program's name does not reach an option of this call, or NULL. */
const char *options_gap(const struct perm_leaf *l, const struct perm_rule *r);
/* cover_places.c: the same of an option by which it works in a folder outside, and of a path that leaves the rule's folder. */
const char *place_option_gap(const struct chain *c, const struct perm_leaf *l);
const char *dots_gap(const struct perm_leaf *l, const struct perm_rule *r);
/* ... and of a rule for git as a whole: what runs a program, or names git's own folder. */
const char *git_inside_gap(const struct perm_leaf *l);

/* layers.c */
/* The program is called this, in whatever folder; every leaf is asked for dozens of names. */
static inline bool
leaf_is(const struct perm_leaf *leaf, const char *program)
{
    size_t n = strlen(program);
    if (!leaf->n_argv || !leaf->argv[0].known || leaf->argv[0].text.len < n)
        return false;
    const char *whole = leaf->argv[0].text.ptr, *base = whole + leaf->argv[0].text.len - n;
    return (base == whole || base[-1] == '/') && memcmp(base, program, n) == 0;
}
bool leaf_is_any(const struct perm_leaf *leaf, const char *const *programs, size_t n);
/* find with a test of names, joined to nothing else by -o or !, means what they match, not the folder it starts from. */
bool leaf_finds_by_name(const struct perm_leaf *l);

/* cover.c */
void covers_make(struct chain *c);
void covers_release(struct chain *c);

/* The layers' functions. */
void layer_tool(struct chain *c);
void layer_rules(struct chain *c);
void layer_shell(struct chain *c);
void layer_wrappers(struct chain *c);
void layer_env(struct chain *c);
void layer_paths(struct chain *c);
void layer_trust(struct chain *c);
void layer_hook(struct chain *c);
void layer_sandbox(struct chain *c);
void layer_mode(struct chain *c);
void layer_classifier(struct chain *c);

/* tools.c */
enum tool_kind tool_kind_of(const struct chain *c);
