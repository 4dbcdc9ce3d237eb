#pragma once
/* Around a command: the script that runs it and notes where it ended, and what its exit status means. */
#include <stdbool.h>

#include "base/buf.h"

#define BASH_SCRIPT_MARK                                                                           \
    "__yare_note() { builtin pwd -P >| " /* how each such script begins: what shows processes knows it by that */

/* A script for `bash -c SCRIPT bash COMMAND`: evaluates COMMAND, and however it ends (also by exit) writes the shell's folder to
 * cwd_file. Its exit status is the command's. */
void bash_script(const char *cwd_file, struct buf *out);
/* What exit status 1 of this command says when it is an answer and no error ("no matches found"); NULL else. Looks at the last
 * simple command; one that cannot be told from text (groups, loops, substitutions) is none. */
const char *bash_benign_exit(struct str command);
