#pragma once
/*
 * Finds a row by its name in a table that never changes. Each command is looked up in a dozen tables of up to two hundred rows: the first
 * look-up makes a hash over the names, which stays for as long as the program runs. Any thread may look up.
 *
 *     static struct name_index index;
 *     for (size_t i = name_first(&index, rows, n, sizeof *rows, name); i != NAME_NONE; i = name_next(&index, i))
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define NAME_NONE ((size_t)-1)

struct name_slots;
struct name_index {
    _Atomic(struct name_slots *) slots; /* NULL: not made yet */
};

/* The first row of that name, or NAME_NONE. A row begins with its name, a const char *; the index is for these rows alone. */
size_t name_first(struct name_index *ix, const void *rows, size_t n, size_t row_bytes,
                  struct str name);
/* The next row of the same name, or NAME_NONE. */
size_t name_next(const struct name_index *ix, size_t row);
