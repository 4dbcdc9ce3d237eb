#pragma once
/*
 * The shell analyser's own parts, shared by its files and by nobody else. The way of a command line:
 *
 *   shell_scan.c   bytes are judged, line continuations joined, here-documents taken out
 *   shell.c        the text is parsed (tree-sitter-bash), the two readings of here-documents are compared
 *   shell_keyword.c  time and coproc, which the grammar does not know, are blanked out
 *   shell_walk.c   one walk over the tree, node kinds are a positive list
 *   shell_func.c   functions: found first, walked where they are called
 *   shell_words.c  words are decoded from their bytes; the tree only says where substitutions are
 *   shell_leaf.c   a decoded simple command becomes a leaf; wrappers.c peels, programs.c judges
 *
 * Everything lives in one arena until perm_analysis_release. Nothing here is shared between threads.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tree_sitter/api.h>

#include "perm/leaf.h"

enum {
    SH_MAX_BYTES = 10000,       /* more asks */
    SH_PARSE_BYTES = 64 * 1024, /* more is not even looked at */
    SH_MAX_DEPTH = 60,          /* nested nodes */
    SH_MAX_WRAPS = 12,          /* wrappers in wrappers, shell strings in shell strings */
    SH_MAX_LEAVES = 400,
    SH_MAX_WORDS = 2000,      /* words of one command after brace expansion */
    SH_MAX_BRACES = 256,      /* words one brace expression may give */
    SH_MAX_WORK = 60000,      /* nodes and words looked at in all */
    SH_MAX_FRESH = 64,        /* links and copied trees a command line may make */
    SH_MAX_VALUE = 16 * 1024, /* bytes of a variable's value; more is not known */
    SH_MAX_UNROLL = 16,       /* for-loop values walked one by one */
};

/* ---- arena ---- */
struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t n); /* zeroed, aligned; never NULL */
char *arena_dup(struct arena *a, const char *p, size_t n);
struct str arena_str(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- scanned text ---- */
struct heredoc {
    size_t at;        /* offset of the '<' that stands for it in `text` */
    size_t joined_at; /* offset of its delimiter word in `joined` */
    struct str body;
    bool quoted; /* the body is taken as it is */
};
/* A '<' in the text that stands for an operator which the grammar does not know there. */
struct stand_in {
    size_t at;
    const char *op; /* "<>" or "<<<" */
};
struct scanned {
    /* for the parser: here-documents are "<HEREDOC" redirections, their bodies gone */
    struct str text;
    struct str joined; /* line continuations joined, here-documents in place */
    struct heredoc *docs;
    size_t n_docs;
    struct stand_in *stand_ins;
    size_t n_stand_ins;
    const char *bad; /* what could not be read with certainty, or NULL */
};
/* Bytes that no command needs and that hide things; false and the reason. */
bool scan_bytes(struct str s, const char **ret_why);
void scan_text(struct arena *a, struct str s, struct scanned *ret);

/* ---- words ---- */
struct found;
struct xword;
struct word {
    struct perm_word w;
    struct str src;    /* its bytes */
    struct str prefix; /* of an unknown word: what is known to come first */
    bool split;        /* unknown and unquoted: may become any number of words */
    bool procsub;      /* <(...) or >(...): a pipe, no file of the tree */
    bool numeric;      /* unknown, but only digits */
    /* addresses for sed with numbers that are not known, a 1 in the place of each */
    struct str counted;
    bool quoted; /* holds quoting of any kind */
    /* unknown, but the name of something in this folder: find's {}, names through xargs */
    struct str below;
    bool tracked;    /* ... that git's index lists */
    struct str only; /* ... whose last part matches this pattern; empty: any */
    bool no_links;   /* ... that is no link */
    /* unknown, but a revision or a text with one in it: one word at most, no option, no pattern */
    bool token;
    bool pure;                 /* ... and no other text in it */
    const struct found *found; /* ... or in one of these folders; NULL: `below` is the only one */
    bool assign;               /* operand of declare and its kin that the walk has set already */
};
struct words {
    struct word *v;
    size_t n, cap;
};

/* ---- state ---- */
struct cwdset {
    const char *dir[4];
    size_t n;
    bool unknown;
};
enum var_kind {
    VAR_UNKNOWN,
    VAR_TEXT,
    VAR_NUMBER,
    VAR_GLOB,
    VAR_FOUND,
    VAR_TOKEN, /* see struct word */
};
struct var {
    struct str name, text;
    enum var_kind kind;
    const struct found *found; /* VAR_FOUND: names that a command prints */
};
struct state {
    struct cwdset cwd;
    struct cwdset old; /* where "cd -" may lead; none: nowhere yet */
    struct var *vars;
    size_t n_vars, cap_vars;
    bool vars_lost; /* anything may have been assigned */
};

/* ---- one parsed text ---- */
struct unit {
    struct scanned s;
    TSTree *tree;
    /* Where commands begin whose keyword was blanked out. */
    struct taken {
        uint32_t at;
        char kind; /* 'c': coproc, it runs beside this shell; '!': negated */
    } taken[8];
    size_t n_taken;
};

struct redirs {
    TSNode node;
    const struct redirs *next; /* outer ones follow */
};

/* A function of the command line. */
struct func {
    struct str name;
    struct unit *unit; /* NULL: the body cannot be walked any more */
    TSNode def;
    bool straight; /* a statement of the command line itself */
    bool defined;  /* the walk has passed it */
    bool walked, busy;
    bool again; /* to be walked in an unknown state too */
};

struct sh {
    struct arena *a;
    const struct perm_shell_env *env;
    struct perm_analysis *ret;
    size_t cap_leaves;
    struct unit *unit;
    struct state st;
    struct cwdset ok,
        fail; /* where the last statement leaves the shell when it succeeds or fails */
    const struct state *ok_st; /* variables when the last && list succeeded, or NULL */
    size_t depth, wraps, work;
    int64_t parse_us;   /* CPU time that the parser has taken so far */
    bool inner;         /* below an opaque wrapper: leaves are LEAF_INNER */
    size_t wrapper;     /* of the leaves to come, or SIZE_MAX */
    struct func *funcs; /* of the texts being walked */
    size_t n_funcs, cap_funcs, n_calls;
    bool calls_hidden;     /* functions may be called where it cannot be seen */
    struct str locals[64]; /* names made local in the bodies being walked */
    size_t n_locals;
    const char **fresh; /* links and copied trees made earlier in this command line */
    size_t n_fresh;
    const char **made; /* folders made earlier in this command line */
    size_t n_made;
    const struct found *found[32]; /* names that commands print: see names_found.c */
    size_t n_found;
    const struct found *feed; /* what the loop being walked reads from its pipe, or NULL */
    bool fed;                 /* and that is the standard input here */
    size_t stages[8]; /* leaves of the earlier parts of this pipe; SIZE_MAX: no simple command */
    size_t n_stages;
    bool ifs_seen;    /* IFS may have been set: unquoted values are split in ways not known */
    bool cdpath_seen; /* CDPATH may have been set */
    /* attributes change what is assigned (-i, -u, -n ...): no value is known any more */
    bool attrs_seen;
    bool frozen_seen; /* readonly: an assignment may fail and the command still runs */
    struct str frozen[16];
    size_t n_frozen;
    /* the list to come is the last part of a pipe: its first command runs in a subshell */
    bool scope_first;
    size_t in_func; /* function bodies around this place */
    /* the list to come is the first part of a pipe: its last command runs in a subshell */
    bool scope_last;
};

/* shell.c */
void sh_incomplete(struct sh *sh, const char *why);
bool sh_spend(struct sh *sh, size_t n); /* false: the work cap is used up (then incomplete) */
/* Parses and walks text as a script in the present state. */
void sh_run_text(struct sh *sh, struct str text);

/* shell_keyword.c */
/* Blanks out "time" and "coproc" where they change how the rest is read; true: the text must be parsed again. */
bool keywords_take_out(struct sh *sh, struct unit *u);
/* shell_blanks.c: *ret is the text to parse instead, in which no expansion begins with a blank; false: it has none. */
bool blanks_show(struct sh *sh, const struct unit *u, struct str *ret);
/* The keyword that was blanked out before node n, told once: 'c', '!' or 0. */
char keyword_before(struct sh *sh, TSNode n);

/* shell_walk.c */
void walk_program(struct sh *sh, TSNode root);
void walk_statements(struct sh *sh, TSNode parent, uint32_t from, uint32_t to);
void walk_stmt(struct sh *sh, TSNode n, const struct redirs *rd);

struct command;
/* shell_func.c */
void funcs_find(struct sh *sh, struct unit *u);
/* The end of a text: bodies that were not walked are, and its definitions go. */
void funcs_leave(struct sh *sh, struct unit *u);
bool funcs_have(const struct sh *sh, struct str name);
void walk_function(struct sh *sh, TSNode n);
void func_call(struct sh *sh, size_t leaf, const struct command *c);
/* A name that a body makes local. */
void func_local(struct sh *sh, struct str name);

/* shell_loop.c */
void walk_for(struct sh *sh, TSNode n);
void walk_c_for(struct sh *sh, TSNode n);
void walk_while(struct sh *sh, TSNode n);
void walk_case(struct sh *sh, TSNode n);

/* shell_subst.c */
/* A substitution's statements, in a subshell. */
void walk_substitution(struct sh *sh, TSNode node);
/* $(cat <<'EOF' ...) and the like whose value is literal; true and the text. */
bool walk_literal_substitution(struct sh *sh, TSNode node, struct str *ret);
/* The substitution, just walked, whose leaves begin with `first`, prints this text: a folder. False: it is not known. */
bool substitution_folder(struct sh *sh, TSNode node, size_t first, struct str *ret);
/* ... or the name of a branch, a tag or a commit, or nothing. */
bool substitution_revision(struct sh *sh, TSNode node, size_t first);
/* The substitution, just walked, prints one number and nothing else, or nothing at all. */
bool substitution_counts(struct sh *sh, TSNode node);
/* Asked some twenty times for each node, so it is here, and most differ in their first letter. */
static inline bool
type_is(const char *is, const char *type)
{
    return is[0] == type[0] && strcmp(is, type) == 0;
}
static inline bool
node_is(TSNode n, const char *type)
{
    return type_is(ts_node_type(n), type);
}
struct str node_text(const struct sh *sh, TSNode n);
bool gap_is_blank(const struct sh *sh, uint32_t from, uint32_t to, bool newlines);

/* shell_test.c */
void walk_test(struct sh *sh, TSNode node, const struct redirs *rd);
void walk_arithmetic(struct sh *sh, TSNode node, uint32_t from, uint32_t to);
/* Bytes of an arithmetic expression: false when evaluating them could run code or is not understood. */
bool arith_check(struct sh *sh, TSNode node, uint32_t from, uint32_t to);
bool arith_value(struct str s, int64_t *ret);

/* shell_words.c */
enum word_mode {
    WORD_ARG,    /* all expansions */
    WORD_ASSIGN, /* value of an assignment: no braces, no splitting, no globs */
    WORD_TEXT,   /* case words, operands of [[: likewise, without the tilde after ':' */
};
/* Decodes bytes [from, to) whose substitutions are found below `node`. */
void word_decode(struct sh *sh, TSNode node, uint32_t from, uint32_t to, enum word_mode mode,
                 struct words *out);
/* Walks all substitutions below node; an opener without a node makes the analysis incomplete. */
/* The length of the substitution that begins at byte `at` below node, walked, when it prints a number; else 0. */
uint32_t word_counted_at(struct sh *sh, TSNode node, uint32_t at);
void word_scan_rest(struct sh *sh, TSNode node, uint32_t from, uint32_t to);
/* An unquoted here-document's body: its substitutions are walked; true when it is literal. */
bool word_heredoc(struct sh *sh, struct str body);
void words_add(struct sh *sh, struct words *ws, const struct word *w);
struct word word_literal(struct sh *sh, struct str text);
struct word word_unknown(struct str src, bool split);

/* expand.c */
struct xchar {
    char c;
    uint8_t f;
};
enum {
    XQ = 1,   /* quoted */
    XU = 2,   /* stands for an unknown value */
    XS = 4,   /* ... that may split */
    XP = 8,   /* ... of a process substitution */
    XN = 16,  /* ... that is a number */
    XV = 32,  /* from an unquoted variable: globs count, braces and tildes do not */
    XM = 64,  /* a mark that quotes were here; no character */
    XT = 128, /* ... that holds no blank, no special of patterns, and is no option (with XU) */
};
struct xword {
    struct xchar *v;
    size_t n, cap;
};
void xword_add(struct sh *sh, struct xword *x, char c, uint8_t f);
/* Brace expansion; false: too many words. Without a brace *ret and *ret_n stay: the word itself is all there is. */
bool expand_braces(struct sh *sh, const struct xword *x, struct xword **ret, size_t *ret_n);
void expand_finish(struct sh *sh, struct xword *x, struct str src, enum word_mode mode,
                   struct words *out);

/* shell_param.c */
/* $name or ${...} at [from, to): its value is appended to x. */
void param_expand(struct sh *sh, TSNode node, bool dq, struct xword *x);

/* shell_state.c */
const struct var *state_get(const struct state *st, struct str name);
void state_set(struct sh *sh, struct str name, enum var_kind kind, struct str text);
void state_set_found(struct sh *sh, struct str name, const struct found *f);
void state_lose_vars(struct sh *sh);
/* The same, and how words are split from here on: text that is not known was run. */
void state_lose_shell(struct sh *sh);
struct state state_copy(struct sh *sh, const struct state *st);
/* After a branch: what differs from `other` becomes unknown. */
void state_join(struct sh *sh, const struct state *other);
bool state_equal(const struct state *a, const struct state *b);
void cwd_join(struct cwdset *a, const struct cwdset *b);
void sh_settle(struct sh *sh); /* ok = fail = the present cwd */
bool is_name(struct str s);

/* env.c: assignments */
bool env_name_safe(struct str name);  /* exported or prefix: a known-safe name */
bool env_plain_name(struct str name); /* of the shell alone: lower case, not special */
bool env_value_safe(struct str name, const struct word *v);

/* effects.c */
const char *path_clean(struct arena *a, const char *cwd, struct str p);
/* The same with "x/.." taken away by text alone, as cd does it. */
const char *path_by_text(struct arena *a, const char *cwd, struct str p);
/* What the leaf wrote may be a link: later paths through it are not known. */
void effect_fresh(struct sh *sh, size_t leaf);
void effect_add(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w);
void effect_redirect(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w);
void effect_text(struct sh *sh, size_t leaf, enum perm_effect_kind kind, struct str path);
/* A link of that name is read, not what it leads to; where the word ends in a slash it is followed all the same. */
void effect_itself(struct sh *sh, size_t leaf, const struct word *w);
/* All below is changed with it, links are passed by. */
void effect_write_below(struct sh *sh, size_t leaf, const struct word *w);
/* The text of what git tracks below path, or of what is not to be seen from here. */
void effect_span(struct sh *sh, size_t leaf, const struct word *w, enum perm_span span);
/* Of what lies below path the files whose names match. */
void effect_only(struct sh *sh, size_t leaf, const struct word *w, struct str only);
void effect_net(struct sh *sh, size_t leaf, struct str host);
void effect_unknown(struct sh *sh, size_t leaf, const char *why);
bool path_is_dir(struct sh *sh, const struct word *w);
bool path_exists(struct sh *sh, const struct word *w);
/* Wherever it runs; a slash at its end follows it. */
bool path_is_link(struct sh *sh, const struct word *w);

/* shell_redir.c */
struct redirect {
    struct str op; /* "<", ">", ">>", ">|", "<>", ">&", "<&", "&>", "&>>", "<<<", or "<<" */
    int fd;        /* -1: the operator's own */
    struct word target;
    bool dup; /* of a descriptor, or closing one */
};

/* shell_leaf.c */
struct command {
    struct word *argv;
    size_t n;
    struct perm_assign *assigns;
    size_t n_assigns;
    struct str source;
    bool bad_env;
    const char *bad_env_name;
    const struct perm_assign *around; /* assignments before the wrapper of this command */
    size_t n_around;
    bool program;                /* wrapped: functions do not count */
    const struct redirs *redirs; /* still to be read */
    struct redirect *rv;         /* read */
    size_t n_rv, cap_rv;
    const struct heredoc *doc; /* feeds its standard input */
    const struct word *herestring;
    bool stdin_file; /* standard input is a file or descriptor */
};
/* Word i is known, and this one. */
static inline bool
arg_is(const struct command *c, size_t i, const char *s)
{
    return i < c->n && c->argv[i].w.known && str_is(c->argv[i].w.text, s);
}
/* Decodes redirections into c->rv; words that the parser took for further targets go to `extra`. */
void redirs_collect(struct sh *sh, TSNode node, struct command *c, struct words *extra);
void redirs_apply(struct sh *sh, size_t leaf, const struct command *c);

/* Makes the leaf and those it wraps; redirections are applied. Returns its index or SIZE_MAX at the cap. */
size_t leaf_command(struct sh *sh, struct command *c);
struct perm_leaf *leaf_at(struct sh *sh, size_t i);
/* Judges argv of an existing leaf: builtin, wrapper or program; functions of the command line do not count. */
void leaf_judge_program(struct sh *sh, size_t leaf, const struct command *c);
/* A command found inside another: its words from argv[from] on. */
void leaf_inner(struct sh *sh, size_t outer, const struct command *c, size_t from,
                bool transparent);
/* The same, as one that runs in the place of `outer`; false: it does more than read, and is only inner. */
bool leaf_inner_reads(struct sh *sh, size_t outer, const struct command *c, size_t from);
/* `outer` runs the leaves from `first` on out of sight after all. */
void leaf_is_opaque(struct sh *sh, size_t outer, size_t first);
/* A shell string inside another: parsed and walked. */
void leaf_inner_text(struct sh *sh, size_t outer, struct str text, bool transparent);
void walk_command(struct sh *sh, TSNode node, const struct redirs *rd);
void walk_declaration(struct sh *sh, TSNode node, const struct redirs *rd);
void walk_assignments(struct sh *sh, TSNode node, const struct redirs *rd);
void walk_bare_redirects(struct sh *sh, const struct redirs *rd, struct str source);
void command_bad_env(struct sh *sh, struct command *c, struct str name);
/* "/usr/bin/git" and "git" give "git"; *ret_trusted: it is the plain name or in a system folder. */
struct str program_name(struct str word, bool *ret_trusted);

/* builtins.c, wrappers.c: true when argv[0] is theirs. */
bool builtin_run(struct sh *sh, size_t leaf, const struct command *c);
bool wrapper_run(struct sh *sh, size_t leaf, const struct command *c);

/* programs.c */
void program_run(struct sh *sh, size_t leaf, const struct command *c);
/* Best effort for deny: operands that look like paths are read. */
void program_guess_reads(struct sh *sh, size_t leaf, const struct command *c, size_t from);
/* Whether no option and no operand of this reader can write or run anything (xargs). */
bool program_harmless(struct str name);

/* names.c: names that one command finds and another is given. */
struct names {
    struct str *below; /* folders (or files), as written; all names begin with one of them */
    size_t n;
    bool nul;        /* each ends with a NUL byte, no newline */
    bool named;      /* only some: they were chosen by name */
    bool tracked;    /* they are what git's index lists there */
    struct str only; /* their last part matches this; empty: any */
    /* they are told without this folder in front; empty: as they are seen from here */
    struct str inside;
    bool quoted;   /* git puts names that are not ASCII into quotes */
    bool flat;     /* nothing deeper than the folder itself */
    bool no_links; /* none of them is a link */
    bool bare;     /* no folder stands before them: one may be an option by the time it runs */
};
/* Where find starts; false: it may follow links, or (prints) its output is not just names below there. */
bool names_of_find(struct sh *sh, const struct command *c, bool prints, struct names *ret);
/* It may make or change files. */
bool leaf_changes(const struct perm_leaf *l);
/* A part of the command line before leaf `to` may change what lies on the disk. */
bool changed_before(const struct sh *sh, size_t to);
/* What the n leaves, parts of one pipe, print at its end; false: that is not known to be names. */
bool names_of_stages(struct sh *sh, const size_t *stages, size_t n, struct names *ret);
/* What the earlier parts of the pipe feed to this command; false: that is not known. */
bool names_from_pipe(struct sh *sh, const struct command *c, struct names *ret);
/* The word src that stands for any name (many: any number of them) below the i-th folder. */
struct word names_word(struct sh *sh, struct str src, const struct names *n, size_t i, bool many);

/* names_git.c: git's index names them. */
bool names_of_git(struct sh *sh, const struct command *c, struct names *ret);

/* names_found.c: names that a command prints become words of another, by $(...), a variable or read. */
struct found {
    struct names n;
    const char *cwd; /* where they are names */
    bool one;        /* one of them at most */
    bool none;       /* perhaps not even that */
};
/* What the substitution just walked prints, whose leaves begin with `first`; 0: not known to be names. A mark for struct xchar. */
char found_in_substitution(struct sh *sh, TSNode node, size_t first);
/* What this part of a pipe reads; NULL: that is not known. */
const struct found *found_in_pipe(struct sh *sh);
/* One of them: the variable of a loop over them. */
const struct found *found_each(struct sh *sh, const struct found *f);
char found_mark(struct sh *sh, const struct found *f);
/* The word x stands for such names; *w, which is not known otherwise, is told of it. */
void found_word(struct sh *sh, const struct xword *x, bool assigned, struct word *w);
/* The leaves from `from` on run again and again: what was looked at may have been changed by those behind it, and what is read of a
 * pipe may be no whole name any more. */
void found_in_loop(struct sh *sh, size_t from);

/* names_below.c */
/* No name there could be an option or, cut at blanks, several others, or (globs) be taken for a pattern. */
bool names_are_plain(struct sh *sh, const struct names *n, bool globs);
/* An effect on what the word of names_word stands for; reading is told of the folder and of each link below. */
void effect_below(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w);

/* options.c */
struct optspec {
    /* Letters with a kind behind each, "n:rf<o>": nothing flag, ':' text, '<' file read, '>' file written, '?' text only when
     * attached, '|' a pattern, '~' a pattern file, '!' writes, runs or talks (flag), '+' the same with a value,
     * '@' a file that names other files to read. */
    const char *shorts;
    /* Names parted by blanks, each "name[/x][=kind]": x is the letter that means the same, kind as above. */
    const char *longs;
    bool numbers;  /* -20 */
    bool plus;     /* +20 is an option too */
    bool single;   /* long options with one dash (find-like) are not read at all: operands stay */
    bool posix;    /* options end at the first operand */
    bool safe_all; /* no option of the program writes, runs or talks */
    bool exact;    /* no abbreviations */
};
struct options {
    size_t *operands; /* indexes into argv */
    size_t n_operands;
    size_t n_before_end; /* operands before "--"; n_operands without one */
    bool seen[128];
    const struct word *patterns[16]; /* values of '|' options */
    size_t n_patterns;
    bool pattern;   /* a '|' or '~' option was given */
    bool unknown;   /* an option that the table does not know, or one that cannot be known */
    bool bad;       /* a '!' or '+' option, or '>' (writes) */
    bool writes;    /* a '>' option */
    bool long_seen; /* a long option without a letter of its own was given */
    bool uncounted; /* the number of operands is not known */
    bool ended;     /* there was a "--" */
    const struct word *value[128]; /* last value of a letter; attached ones are made words */
};
void options_parse(struct sh *sh, size_t leaf, const struct command *c, size_t from,
                   const struct optspec *spec, struct options *ret);
/* Only these letters were given, and all that was given is understood. */
bool names_options(const struct options *o, const char *letters);
/* Could the word, or one that its pattern matches, begin with this character ('-' of options, '@' of option files)? */
bool word_may_begin(struct sh *sh, const struct word *w, char first);

/* programs_git.c, programs_find.c, script_sed.c, script_awk.c: special judges. */
void judge_git(struct sh *sh, size_t leaf, const struct command *c);
void judge_find(struct sh *sh, size_t leaf, const struct command *c);
/* Index of the sub-command behind git's global options, 0: none; *ret_plain: none of them matters. */
size_t git_subcommand(const struct perm_word *argv, size_t n, bool *ret_plain);
bool script_sed_safe(struct sh *sh, size_t leaf, struct str script);
bool script_awk_safe(struct sh *sh, struct str program);
