#pragma once
/*
 * Rows of the program tables and what judges their operands.
 *
 *   programs_text.c, _system.c, _tools.c, _write.c   the rows: which options keep a program a reader, which write, run or connect
 *   programs_table.c     finds a row; programs.c reads the options by it and calls the judge
 *   programs_read.c, _query.c, _archive.c, _edit.c   the judges; git and find have files of their own
 *   programs_version.c   what version queries of toolchains may run
 *
 * To add a program: one row, with only those options that neither write, run, connect nor load a file that could make it. When
 * in doubt an option is left out: then it asks.
 */
#include "perm/shell.h"

struct program;
struct judged {
    struct sh *sh;
    size_t leaf;
    const struct command *c;
    const struct program *p;
    struct options o;
    enum perm_class cls; /* the row's own at first; a judge may lower it */
};
struct program {
    const char *name;
    enum perm_class cls;
    void (*judge)(struct judged *j);
    struct optspec spec;
    bool xargs; /* whatever its operands and options are, it only reads */
};
struct program_table {
    const struct program *v;
    size_t n;
};
extern const struct program_table programs_text, programs_system, programs_tools, programs_write;

#define HELP " help version"
/* A reader, abbreviated long options as getopt takes them. */
#define READ_ROW(name_, ops_, shorts_, longs_)                                                     \
    {                                                                                              \
        .name = name_, .cls = CLASS_READER, .judge = ops_, .spec = {                               \
            .shorts = shorts_,                                                                     \
            .longs = longs_ HELP                                                                   \
        }                                                                                          \
    }
/* The same where none of its options can write or run, not even one that comes out of data. */
#define SAFE_ROW(name_, ops_, shorts_, longs_)                                                     \
    {                                                                                              \
        .name = name_, .cls = CLASS_READER, .judge = ops_,                                         \
        .spec = {.shorts = shorts_, .longs = longs_ HELP, .safe_all = true}, .xargs = true         \
    }
/* A reader whose long options are not abbreviated. */
#define EXACT_ROW(name_, ops_, shorts_, longs_)                                                    \
    {                                                                                              \
        .name = name_, .cls = CLASS_READER, .judge = ops_, .spec = {                               \
            .shorts = shorts_,                                                                     \
            .longs = longs_ HELP,                                                                  \
            .exact = true                                                                          \
        }                                                                                          \
    }

const struct program *program_find(struct str name);
/* Known to talk to the network; it has no row. */
bool program_is_network(struct str name);

/* Judges of operands: programs_read.c */
void ops_text(struct judged *j);
void ops_none(struct judged *j);
void ops_echo(struct judged *j);
void ops_read(struct judged *j);
void ops_tree(struct judged *j);
void ops_list(struct judged *j);
void ops_stat(struct judged *j);
void ops_grep(struct judged *j);
void ops_rg(struct judged *j);
void ops_jq(struct judged *j);
void ops_diff(struct judged *j);
void ops_uniq(struct judged *j);
void ops_xxd(struct judged *j);
void ops_test(struct judged *j);
void ops_printf(struct judged *j);
void ops_date(struct judged *j);
void ops_sed(struct judged *j);
void ops_awk(struct judged *j);
void ops_wc(struct judged *j);
void ops_bat(struct judged *j);
void ops_kill(struct judged *j);

/* programs_query.c */
void ops_shuf(struct judged *j);
void ops_zgrep(struct judged *j);
void ops_unpack(struct judged *j);
void ops_xml(struct judged *j);
void ops_yq(struct judged *j);
void ops_fd(struct judged *j);
void ops_who(struct judged *j);
void ops_ps(struct judged *j);
void ops_ip(struct judged *j);
void ops_top(struct judged *j);
void ops_lsof(struct judged *j);
void ops_netstat(struct judged *j);

/* programs_archive.c */
void ops_binary(struct judged *j);
void ops_ar(struct judged *j);
void ops_clang_format(struct judged *j);
void ops_tar(struct judged *j);
void ops_unzip(struct judged *j);
void ops_zipinfo(struct judged *j);
void ops_dpkg(struct judged *j);
void ops_verb(struct judged *j);

/* programs_edit.c */
void ops_cp(struct judged *j);
void ops_mkdir(struct judged *j);
void ops_write(struct judged *j);
void ops_tee(struct judged *j);
void ops_rm(struct judged *j);
void ops_rmdir(struct judged *j);
void ops_ln(struct judged *j);
void ops_chmod(struct judged *j);
void ops_dd(struct judged *j);

/* follow.c: an access for each link below a folder (or below what a pattern stands for). False: not all of them are known, which
 * the leaf was told. */
enum follow_how {
    FOLLOW_READ,       /* the whole tree is read, through links */
    FOLLOW_READ_NAMES, /* what the links in the folder itself lead to is told of */
    FOLLOW_WRITE,      /* the whole tree is changed, through links */
};
bool follow_links(struct sh *sh, size_t leaf, const struct word *w, enum follow_how how);
/* The same of the operands from `first` on, or of the folder it runs in. */
void judged_follow(struct judged *j, size_t first, enum follow_how how);
/* Of a packer that is not judged by its row: what its options make it follow. */
void follow_guess(struct sh *sh, size_t leaf, const struct command *c, struct str name);
/* programs_version.c: "node --version" and the like; true: it was one and is judged. */
bool version_run(struct sh *sh, size_t leaf, const struct command *c);
/* No file up the folders from where it runs lets the project choose what a toolchain's name stands for. */
bool version_pinned_here(struct sh *sh, const char *files);

/* Why a script of sed that is known is not safe: it may hold the command e. */
#define SED_SCRIPT_WHY "the sed script writes, runs or is not understood"
/* What the judges have in common. */
/* The row's word counts no longer: why. */
void judged_unknown(struct judged *j, const char *why);
/* Borrowed; NULL past the last. */
const struct word *judged_operand(const struct judged *j, size_t i);
/* The operands from `first` on are read; "-" is the standard input. */
void judged_read(struct judged *j, size_t first, enum perm_effect_kind kind);
/* There may be n operands or fewer: names that a command prints may be none at all. */
bool judged_lacks(const struct judged *j, size_t n);
