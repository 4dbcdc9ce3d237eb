#pragma once
/* Rows of the program table (programs_table.c) and what judges their operands (programs.c). */
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
const struct program *program_find(struct str name);
/* Known to talk to the network; it has no row. */
bool program_is_network(struct str name);

/* Judges of operands. */
void ops_text(struct judged *j);
void ops_none(struct judged *j);
void ops_echo(struct judged *j);
void ops_read(struct judged *j);
void ops_tree(struct judged *j);
void ops_list(struct judged *j);
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

void ops_cp(struct judged *j);
void ops_mkdir(struct judged *j);
void ops_write(struct judged *j);
void ops_rm(struct judged *j);
void ops_rmdir(struct judged *j);
void ops_ln(struct judged *j);
void ops_chmod(struct judged *j);
void ops_dd(struct judged *j);

/* follow.c: reads what the links below a folder lead to. */
void follow_links(struct judged *j, const struct word *w);
void judged_unknown(struct judged *j, const char *why);
const struct word *judged_operand(const struct judged *j, size_t i);
