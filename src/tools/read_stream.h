#pragma once
/* Reading a page of a file too big to be held: in pieces of 256 KiB with flat memory. */
#include <stdbool.h>

#include "base/cancel.h"
#include "base/err.h"
#include "tools/page.h"

struct read_stream {
    uint64_t hash[2], size;
    bool to_end; /* read through: hash and page->lines are of the whole file */
};
/* `through`: go on to the end after the page is done, for the hash and the number of lines. */
bool read_stream(int fd, struct page *p, bool through, struct cancel *cancel,
                 struct read_stream *ret, struct err *err) MUST_CHECK;
