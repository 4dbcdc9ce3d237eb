#pragma once
/*
 * Programs that run other programs: rows of their tables (wrappers_table.c, _boxes.c, _runners.c, _guess.c) and what judges them
 * (wrappers.c, wrappers_shell.c, wrappers_xargs.c, wrappers_git.c).
 *
 * To add one whose options are known: one row. One of which only the name is known goes to wrappers_guess.c: then each of its
 * first words may begin what it runs.
 */
#include "perm/shell.h"

enum wrap_kind {
    W_CLEAR,      /* transparent when its options are understood */
    W_RUN,        /* runs the words behind its options and `skip` operands */
    W_RUNNER,     /* likewise, a package runner: a rule for it as a whole is fine */
    W_DASHES,     /* runs the words behind "--"; without one any of them may begin it */
    W_TEXT,       /* joins the words into a shell string */
    W_WORDS_TEXT, /* each operand from `skip` on, and the value of its option -x, is a shell string */
    W_SHELL,
    W_ENV,
    W_XARGS,
    W_FLOCK,
    W_INTERP, /* runs code of another language */
    W_GUESS,  /* runs or steers something out of sight: any word, any quoted string */
};
struct wrapper {
    const char *name, *sub; /* sub: the words that must follow, options aside, parted by a blank */
    enum wrap_kind kind;
    size_t skip;
    bool power; /* more power, or another place */
    struct optspec spec;
};
#define ROW(name_, sub_, kind_, skip_, power_, shorts_, longs_)                                    \
    {                                                                                              \
        .name = name_, .sub = sub_, .kind = kind_, .skip = skip_, .power = power_, .spec = {       \
            .shorts = shorts_,                                                                     \
            .longs = longs_,                                                                       \
            .posix = true                                                                          \
        }                                                                                          \
    }
#define NAMED(name_, sub_, kind_, skip_, power_) ROW(name_, sub_, kind_, skip_, power_, NULL, NULL)
#define GUESS(name_, sub_, power_) NAMED(name_, sub_, W_GUESS, 0, power_)

struct wrapper_table {
    const struct wrapper *v;
    size_t n;
};
extern const struct wrapper_table wrappers_system, wrappers_boxes, wrappers_runners, wrappers_guess;

/* The row for a program called with these words, or NULL. *ret_from: the word behind its name and sub-commands. */
const struct wrapper *wrapper_find(struct str name, const struct command *c, size_t *ret_from);

/* ---- judging one ---- */
struct wrap {
    struct sh *sh;
    size_t leaf;
    const struct command *c;
    const struct wrapper *w;
    size_t from; /* behind the name and its sub-commands */
    struct options o;
    bool trusted;
};
/* What it runs is out of sight: why. */
void wrap_opaque(struct wrap *x, const char *why);
/* Where the inner command begins: behind the skipped operands and, for sudo and env, assignments. */
size_t wrap_inner(const struct wrap *x);
/* The wrapper's options are not understood: deny looks at each word that may be the inner command's name. */
void wrap_guess(struct wrap *x, size_t from);
void wrap_shell(struct wrap *x);
void wrap_xargs(struct wrap *x);
/* wrappers_named.c: an image or a script is called as the program that a rule may name. */
void wrap_hide_image(struct wrap *x);
void wrap_hide_script(struct wrap *x, size_t i);
/* The word names the standard input or another descriptor, wherever the command runs. */
bool word_is_input(struct sh *sh, const struct word *w);
/* "echo TEXT | PROGRAM": what is fed to the command being judged. False: it is not known. */
bool input_is_printed(struct sh *sh, struct str *ret);
/* Strings and words that git's own options and sub-commands run, for deny; the leaf itself is judged by programs_git.c. */
void wrap_git(struct sh *sh, size_t leaf, const struct command *c);

/* hidden.c: words from..to of the leaf may hold commands; all: in each of them, not only in quoted ones with blanks. */
void hide_words(struct sh *sh, size_t leaf, size_t from, size_t to, bool all);
/* What is written into its standard input may. */
void hide_input(struct sh *sh, size_t leaf, const struct command *c);
/* A program that is no wrapper but has options that run something: its words count where its effects are not known. */
void hide_program(struct sh *sh, size_t leaf, const struct command *c);
