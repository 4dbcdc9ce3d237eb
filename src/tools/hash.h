#pragma once
/* A 128-bit content hash for telling whether a file changed, fed in pieces; fast, not meant against an adversary. Any split into
 * pieces gives the same value. */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct file_hash {
    uint64_t a, b, len;
    unsigned char part[16];
    size_t n_part;
};
void file_hash_init(struct file_hash *h);
void file_hash_add(struct file_hash *h, struct str s);
void file_hash_end(struct file_hash *h, uint64_t ret[2]);
