#include "tools/grep_find.h"

#include <ctype.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static unsigned
frequency(unsigned char c)
{
    /* Frequent in code first. */
    static const char order[] =
        " etaonirslcdpumfh_,.)(;gby\"=-v0>*k1/w{}x:TESIRANCLO2D&P3'[]M+FU\t\n";
    const char *at = c ? strchr(order, tolower(c)) : NULL;

    return at ? (unsigned)(sizeof order - (size_t)(at - order)) : 0;
}

/* The rarest byte that does not stand at `but`. */
static size_t
rarest(struct str text, size_t but)
{
    unsigned least = ~0U;
    size_t at = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned f = frequency((unsigned char)text.ptr[i]);
        if (i != but && f < least) {
            least = f;
            at = i;
        }
    }
    return at;
}

static struct grep_pair
rarest_pair(struct str text, bool fold)
{
    size_t a = rarest(text, text.len), b = rarest(text, a);
    struct grep_pair p = {.at = a < b ? a : b, .gap = a < b ? b - a : a - b};

    for (size_t k = 0; k < 2; k++) {
        unsigned char c = (unsigned char)text.ptr[p.at + k * p.gap];
        p.byte[k] = c;
        p.mask[k] = fold && c >= 'a' && c <= 'z' ? 0x20 : 0;
        memset(p.wide[k], p.byte[k], sizeof p.wide[k]);
        memset(p.wide[2 + k], p.mask[k], sizeof p.wide[k]);
    }
    return p;
}

void
grep_finder_init(struct grep_finder *f, const struct literals *l, bool fold)
{
    *f = (struct grep_finder){.l = l, .fold = fold};
    for (size_t i = 0; i < l->n; i++) {
        f->pairs[i] = rarest_pair(buf_str(&l->text[i]), fold);
        if (f->pairs[i].gap > f->reach)
            f->reach = f->pairs[i].gap;
    }
}

static bool
same_folded(const char *text, struct str literal)
{
    for (size_t i = 0; i < literal.len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        if (c != (unsigned char)literal.ptr[i])
            return false;
    }
    return true;
}

/* Does a literal stand where its pair is at p? Not one that begins before `from`. */
static bool
check(const struct grep_finder *f, struct str s, size_t from, size_t p, size_t *ret)
{
    const unsigned char *t = (const unsigned char *)s.ptr + p;

    for (size_t i = 0; i < f->l->n; i++) {
        const struct grep_pair *q = &f->pairs[i];
        struct str lit = buf_str(&f->l->text[i]);
        if ((t[0] | q->mask[0]) != q->byte[0])
            continue;
        if (p < from + q->at || s.len - (p - q->at) < lit.len)
            continue;
        if ((t[q->gap] | q->mask[1]) != q->byte[1])
            continue;
        const char *start = s.ptr + (p - q->at);
        if (f->fold ? same_folded(start, lit) : memcmp(start, lit.ptr, lit.len) == 0) {
            *ret = p - q->at;
            return true;
        }
    }
    return false;
}

#ifdef __SSE2__
static inline __m128i
load(const void *p)
{
    return _mm_loadu_si128(p);
}

/* Not 0 at each of the sixteen places from t at which some pair stands. */
static inline __m128i
places(const struct grep_finder *f, const char *t)
{
    const __m128i a = load(t);
    __m128i any = _mm_setzero_si128();

    for (size_t i = 0; i < f->l->n; i++) {
        const struct grep_pair *q = &f->pairs[i];
        __m128i x = _mm_cmpeq_epi8(_mm_or_si128(a, load(q->wide[2])), load(q->wide[0]));
        __m128i y =
            _mm_cmpeq_epi8(_mm_or_si128(load(t + q->gap), load(q->wide[3])), load(q->wide[1]));
        any = _mm_or_si128(any, _mm_and_si128(x, y));
    }
    return any;
}

/* The same for one literal, with what does not change held in registers, over 64 places. Where it stopped comes back. */
static size_t
skip_empty(const struct grep_finder *f, struct str s, size_t at)
{
    const struct grep_pair *q = &f->pairs[0];
    const __m128i b0 = load(q->wide[0]), b1 = load(q->wide[1]);
    const __m128i m0 = load(q->wide[2]), m1 = load(q->wide[3]);
    const size_t gap = q->gap;

    for (; at + gap + 64 <= s.len; at += 64) {
        __m128i any = _mm_setzero_si128();
        for (size_t k = 0; k < 64; k += 16) {
            const char *t = s.ptr + at + k;
            __m128i x = _mm_or_si128(load(t), m0);
            __m128i y = _mm_or_si128(load(t + gap), m1);
            any = _mm_or_si128(any, _mm_and_si128(_mm_cmpeq_epi8(x, b0), _mm_cmpeq_epi8(y, b1)));
        }
        if (_mm_movemask_epi8(any))
            break;
    }
    return at;
}
#endif

size_t
grep_find(const struct grep_finder *f, struct str s, size_t from)
{
    size_t at = from, hit;

#ifdef __SSE2__
    while (at + f->reach + 16 <= s.len) {
        unsigned bits = (unsigned)_mm_movemask_epi8(places(f, s.ptr + at));
        for (; bits; bits &= bits - 1)
            if (check(f, s, from, at + (size_t)__builtin_ctz(bits), &hit))
                return hit;
        at += 16;
        if (f->l->n == 1)
            at = skip_empty(f, s, at);
    }
#endif
    for (; at < s.len; at++)
        if (check(f, s, from, at, &hit))
            return hit;
    return (size_t)-1;
}
