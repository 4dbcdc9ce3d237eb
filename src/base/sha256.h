#pragma once
/* SHA-256 (FIPS 180-4), for binding a decision to what was seen. Pure; thread-safe. */
#include <stdint.h>

#include "base/buf.h"

#define SHA256_HEX 64

struct sha256 {
    uint32_t h[8];
    uint64_t total;
    unsigned char block[64];
};
void sha256_init(struct sha256 *c);
void sha256_add(struct sha256 *c, struct str data);
void sha256_hex(struct sha256 *c, char out[SHA256_HEX + 1]); /* ends it */
