#pragma once
/*
 * What a shell command line really does, as a list of leaves: one for each simple command that will run in any list, pipe,
 * group, branch, loop, function, substitution or wrapper, with decoded argv, known or unknown cwd, assignments and
 * effects. All layers consume leaves; none ever sees text. Closed world: a node, builtin,
 * option or value that is not understood is `unknown`, which asks.
 *
 * Pure but for lstat/readlink-like path resolution and glob expansion against the real file system. Thread-safe.
 * The analysis owns everything it points to.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct perm_word {
    struct str text; /* decoded: quotes, escapes and expansions of known values applied */
    bool known;      /* false: the value cannot be known before running; text holds the source */
    bool glob;       /* holds an unquoted *, ? or [ that bash would expand; text is the pattern */
    bool split;      /* not known and unquoted: may become any number of words */
};

enum perm_effect_kind {
    EFFECT_READ,
    EFFECT_READ_TREE, /* recursive read below path */
    EFFECT_WRITE,     /* create, truncate, append, change */
    EFFECT_DELETE,
    EFFECT_DELETE_TREE,
    EFFECT_EXEC, /* runs the file at path */
    EFFECT_NET,  /* path is the host or NULL */
};
enum perm_span {
    SPAN_DISK,    /* the files there */
    SPAN_TRACKED, /* what git's index lists there, in any revision */
    SPAN_UNSEEN,  /* files that need not lie there now: anything may be among them */
};
struct perm_effect {
    enum perm_effect_kind kind;
    const char *path;  /* absolute, cleaned by text (not symlink-resolved); NULL: unknown */
    const char *shown; /* as it was written */
    bool redirect;     /* by a redirection, not an argument */
    bool glob;         /* path is a pattern: judge what it matches now and its fixed folder */
    bool itself;       /* of a link the link is read, not what it leads to */
    bool below; /* of a write: whatever lies below path is changed too, links are passed by */
    enum perm_span span; /* of a recursive read: what lies below path */
    const char *only;    /* of a recursive read: files whose names match this; NULL: all */
};

struct perm_assign {
    struct str name;
    struct perm_word value;
    bool exported_only_here; /* a prefix assignment of this command */
};

enum perm_leaf_role {
    LEAF_RUN, /* runs as it stands: allow must cover it, deny and ask look at it */
    LEAF_WRAPPER, /* wraps another leaf. transparent ones need no allow of their own when the inner leaf is allowed */
    LEAF_INNER, /* found inside an opaque wrapper (sudo, xargs, find -exec ...): deny and ask look at it, an
                      allow of the wrapper's own text is needed too; carries wrapper */
    LEAF_ASSIGN, /* assignments alone, no command */
};

/* What is known of the program by its table row, given these very options. */
enum perm_class {
    CLASS_UNKNOWN,  /* no table row, or an option the table does not know */
    CLASS_READER,   /* proven read-only; runs free inside the roots */
    CLASS_GIT_READ, /* read-only git form: free in the trusted project's own repository */
    CLASS_EDITOR, /* mkdir, touch, mv, cp, sed -i with fully known operands: acceptEdits covers it */
    CLASS_KNOWN,  /* effects fully known, but it is no reader (rm, tee, chmod ...) */
    CLASS_DANGER, /* raises power or evaluates: eval, source, sudo, ssh, docker, interpreters with code */
};

struct perm_leaf {
    const struct perm_word
        *argv; /* after assignments; n_argv 0: assignments or redirections alone */
    size_t n_argv;
    bool argv_known; /* every word is known (globs count as known text) */
    bool name_known; /* the command word is known */
    bool given;  /* words that are not known are names below folders that are among the effects */
    bool fed;    /* its standard input is a pipe that the loop around it reads names from */
    bool looked; /* what it does was told by what lies there now */
    const char *cwd; /* absolute, where it runs when all before it went well; NULL: unknown */
    const char *const *cwds; /* every folder it may run in, cwd first; none: unknown */
    size_t n_cwds;
    const struct perm_assign *assigns;
    size_t n_assigns;
    const struct perm_effect *effects;
    size_t n_effects;
    const struct perm_word
        *hidden; /* words that may hold commands which are no leaf of their own */
    size_t n_hidden;
    bool effects_unknown;    /* there may be more effects than listed */
    const char *unknown_why; /* why something is unknown, or NULL */
    enum perm_leaf_role role;
    /* role LEAF_WRAPPER: timeout, nice, nohup, time, stdbuf, command, sh -c LITERAL */
    bool transparent;
    bool raises_power; /* sudo, doas, docker, ssh, ...: a finding of its own */
    size_t wrapper;    /* index of the leaf that wraps this one, or SIZE_MAX */
    enum perm_class cls;
    bool bad_env; /* an assignment outside the known-safe names or of unknown value (layer L4) */
    const char *bad_env_name;
    struct str source; /* the bytes it was parsed from */
};

struct perm_analysis {
    struct perm_leaf *leaves;
    size_t n_leaves;
    /* a cap, a parse error or an unknown construct: at least ask; deny still runs over the leaves */
    bool incomplete;
    const char *why; /* the first reason for incomplete, or NULL */
    bool unparsable; /* control bytes, NUL, invalid UTF-8, other shell: leaves may be empty */
    bool read_only;  /* every leaf is a reader and nothing writes: may overlap with other calls */
    size_t work;     /* steps that were taken; capped, whatever the input */
    void *arena;
};

struct perm_shell_env {
    const char *cwd, *home;
    const char *root;  /* project root */
    const char *shell; /* "bash"; another one cannot be analysed */
};
/* Never fails: what goes wrong is in the analysis. */
void perm_shell_analyse(struct str command, const struct perm_shell_env *env,
                        struct perm_analysis *ret);
void perm_analysis_release(struct perm_analysis *a);

/* The text rules are matched against: decoded argv joined by one blank, words with blanks or metacharacters quoted as a
 * shell would need them. skip_git_globals: git's global options (-C dir, --no-pager ...) left out, program name without its
 * folder, for deny and ask (spell group). */
void perm_leaf_text(const struct perm_leaf *leaf, bool for_deny, struct buf *out);
