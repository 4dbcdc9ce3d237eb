#pragma once
/* Programs that stand whole in a word of the command line: which of them do more than a rule for their interpreter was written for. Any thread. */
#include <stdbool.h>

#include "base/buf.h"

/* An awk program, or any other word of awk's: it runs a program, or reads or writes files that are no plain names below the folder it runs in. Where the
 * text is not certain (a '/' that begins a regular expression or divides), what only may do so counts. */
bool awk_word_reaches(struct str s);

/* A word of psql or mysql: commands of the client that run a program or write a file, and SQL that makes the server do so. */
bool sql_word_reaches(struct str s);
/* A word of sqlite3 or duckdb. */
bool sqlite_word_reaches(struct str s);
