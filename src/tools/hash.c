#include "tools/hash.h"

#include <string.h>

static uint64_t
mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    return x;
}

static void
block(struct file_hash *h, const unsigned char *p)
{
    uint64_t x, y;

    memcpy(&x, p, 8);
    memcpy(&y, p + 8, 8);
    h->a = mix(h->a ^ x) + 0x9e3779b97f4a7c15u;
    h->b = mix(h->b + (y ^ h->a));
}

void
file_hash_init(struct file_hash *h)
{
    *h = (struct file_hash){.a = 0x243f6a8885a308d3u, .b = 0x13198a2e03707344u};
}

void
file_hash_add(struct file_hash *h, struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t n = s.len;

    h->len += n;
    if (h->n_part) {
        size_t take = sizeof h->part - h->n_part < n ? sizeof h->part - h->n_part : n;
        memcpy(h->part + h->n_part, p, take);
        h->n_part += take;
        p += take;
        n -= take;
        if (h->n_part < sizeof h->part)
            return;
        block(h, h->part);
        h->n_part = 0;
    }
    for (; n >= sizeof h->part; n -= sizeof h->part, p += sizeof h->part)
        block(h, p);
    if (n)
        memcpy(h->part, p, n);
    h->n_part = n;
}

void
file_hash_end(struct file_hash *h, uint64_t ret[2])
{
    memset(h->part + h->n_part, 0, sizeof h->part - h->n_part);
    block(h, h->part);
    ret[0] = mix(h->a ^ h->len);
    ret[1] = mix(h->b + ret[0]);
}
