#include "engine/extract.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct sentence {
    const char *ptr;
    uint32_t len;
    bool cut, edge; /* edge: the first or the last of its text */
    float score;
};
struct term {
    uint64_t hash;       /* 0: free */
    uint32_t uses, last; /* in how many sentences; the sentence that was counted last, + 1 */
};
struct work {
    struct sentence *s;
    size_t n, cap;
    struct term *terms; /* open addressing, at most half full */
    size_t n_terms, cap_terms;
};

/* ---- terms ---- */

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool
is_stop_word(const char *p, size_t len)
{
    static const char *const words[] = {
        "the",   "and",   "for",  "that", "this",  "with",  "are",    "was",  "were",
        "will",  "have",  "has",  "had",  "not",   "but",   "you",    "your", "its",
        "from",  "they",  "them", "then", "than",  "there", "here",   "what", "when",
        "where", "which", "who",  "can",  "could", "would", "should", "may",  "also",
        "into",  "out",   "all",  "any",  "some",  "now",   "let",    "just"};
    if (len < 3)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == len && strncasecmp(words[i], p, len) == 0)
            return true;
    return false;
}

/* The next word of s at or after *at, hashed without case; 0: none. */
static uint64_t
next_term(struct str s, size_t *at)
{
    for (;;) {
        while (*at < s.len && !is_word(s.ptr[*at]))
            ++*at;
        size_t from = *at;
        uint64_t h = 14695981039346656037u;
        while (*at < s.len && is_word(s.ptr[*at])) {
            unsigned char c = (unsigned char)s.ptr[(*at)++];
            c = c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
            h = (h ^ c) * 1099511628211u;
        }
        if (*at == from)
            return 0;
        if (!is_stop_word(s.ptr + from, *at - from))
            return h ? h : 1;
    }
}

static struct term *
slot_of(struct term *terms, size_t cap, uint64_t hash)
{
    size_t i = (size_t)(hash ^ (hash >> 29)) & (cap - 1);
    while (terms[i].hash && terms[i].hash != hash)
        i = (i + 1) & (cap - 1);
    return &terms[i];
}

static struct term *
term_of(struct work *w, uint64_t hash)
{
    if (w->n_terms * 2 >= w->cap_terms) {
        size_t cap = w->cap_terms ? w->cap_terms * 2 : 1024;
        struct term *terms = xcalloc(cap, sizeof *terms);
        for (size_t i = 0; i < w->cap_terms; i++)
            if (w->terms[i].hash)
                *slot_of(terms, cap, w->terms[i].hash) = w->terms[i];
        free(w->terms);
        w->terms = terms;
        w->cap_terms = cap;
    }
    struct term *t = slot_of(w->terms, w->cap_terms, hash);
    w->n_terms += !t->hash;
    t->hash = hash;
    return t;
}

static struct str
bytes_of(const struct sentence *s)
{
    return str_make(s->ptr, s->len);
}

static void
count_terms(struct work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        size_t at = 0;
        uint64_t h;
        while ((h = next_term(bytes_of(&w->s[i]), &at))) {
            struct term *t = term_of(w, h);
            t->uses += t->last != i + 1;
            t->last = (uint32_t)i + 1;
        }
    }
}

/* ---- what weighs more ---- */

static bool
holds_one(struct str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(words[i]);
        for (size_t at = 0; at + len <= s.len; at++)
            if ((s.ptr[at] | 32) == words[i][0] && strncasecmp(s.ptr + at, words[i], len) == 0)
                return true;
    }
    return false;
}

static bool
names_a_path(struct str s)
{
    for (size_t i = 1; i + 1 < s.len; i++)
        if ((s.ptr[i] == '/' || s.ptr[i] == '.') && is_word(s.ptr[i - 1]) && is_word(s.ptr[i + 1]))
            return true;
    return false;
}

static double
weight(const struct sentence *s)
{
    static const char *const errors[] = {"error", "fail", "cannot", "panic", "exception", "assert"};
    static const char *const decided[] = {"decid", "because", "instead", "root cause", "must ",
                                          "never", "always",  "chose",   "fixed",      "todo"};
    struct str t = bytes_of(s);
    size_t letters = 0, digits = 0;
    for (size_t i = 0; i < t.len; i++) {
        digits += t.ptr[i] >= '0' && t.ptr[i] <= '9';
        letters += is_word(t.ptr[i]);
    }
    double w = s->edge ? 1.2 : 1;
    w *= names_a_path(t) ? 1.3 : 1;
    w *= holds_one(t, errors, ARRAY_LEN(errors)) ? 2.5 : 1;
    w *= holds_one(t, decided, ARRAY_LEN(decided)) ? 1.5 : 1;
    w *= memchr(t.ptr, '`', t.len) ? 1.2 : 1;
    w *= digits && digits * 3 < letters ? 1.15 : 1;
    w *= letters * 5 < t.len * 2 || digits * 2 > letters
             ? 0.4
             : 1; /* rulers, tables of numbers, hashes */
    w *= t.len < 20 ? 0.5 : 1;
    return s->cut ? w * 0.5 : w;
}

static void
score(struct work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        size_t at = 0, n = 0;
        uint64_t h;
        double sum = 0;
        while ((h = next_term(bytes_of(&w->s[i]), &at))) {
            const struct term *t = slot_of(w->terms, w->cap_terms, h);
            sum += log(1 + t->uses) * log((double)(w->n + 1) / t->uses);
            n++;
        }
        w->s[i].score = n ? (float)(sum / sqrt((double)n + 4) * weight(&w->s[i])) : 0;
    }
}

/* ---- gathering and choosing ---- */

static void
take_sentence(void *user, struct str s, bool cut)
{
    struct work *w = user;
    ARRAY_GROW(w->s, w->n, w->cap);
    w->s[w->n++] = (struct sentence){.ptr = s.ptr, .len = (uint32_t)s.len, .cut = cut};
}

static void
gather(struct work *w, const struct str *texts, size_t n)
{
    for (size_t i = 0; i < n && w->n < UINT32_MAX / 2; i++) {
        size_t from = w->n;
        extract_split(texts[i], take_sentence, w);
        if (w->n > from)
            w->s[from].edge = w->s[w->n - 1].edge = true;
    }
}

static int
by_score(const void *a, const void *b)
{
    const struct sentence *x = *(struct sentence *const *)a, *y = *(struct sentence *const *)b;
    if (x->score > y->score || x->score < y->score)
        return x->score > y->score ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int
by_place(const void *a, const void *b)
{
    const struct sentence *x = *(struct sentence *const *)a, *y = *(struct sentence *const *)b;
    return x < y ? -1 : x > y;
}

/* Letters and digits alone, without case: what says the same is the same. */
static uint64_t
meaning(const struct sentence *s)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < s->len; i++) {
        unsigned char c = (unsigned char)s->ptr[i];
        if (is_word((char)c))
            h = (h ^ (c >= 'A' && c <= 'Z' ? c + 32u : c)) * 1099511628211u;
    }
    return h ? h : 1;
}

#define CUT_MARK "..."

static void
write_sentence(const struct sentence *s, struct buf *out)
{
    bool blank = false;
    for (size_t i = 0; i < s->len; i++) {
        char c = s->ptr[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            blank = true;
            continue;
        }
        if (blank)
            buf_addc(out, ' ');
        blank = false;
        buf_addc(out, c);
    }
    buf_adds(out, s->cut ? CUT_MARK "\n" : "\n");
}

/* The best that fit, moved to the front of `order`. */
static size_t
choose(struct work *w, struct sentence **order, size_t max_bytes)
{
    struct work seen = {0};
    size_t taken = 0, bytes = 0;
    for (size_t i = 0; i < w->n && bytes < max_bytes; i++) {
        size_t cost = order[i]->len + sizeof CUT_MARK;
        if (order[i]->score <= 0 || cost > max_bytes - bytes)
            continue;
        struct term *t = term_of(&seen, meaning(order[i]));
        if (t->uses++)
            continue;
        bytes += cost;
        order[taken++] = order[i];
    }
    free(seen.terms);
    return taken;
}

size_t
extract_sentences(const struct str *texts, size_t n, size_t max_bytes, struct buf *out)
{
    struct work w = {0};
    gather(&w, texts, n);
    count_terms(&w);
    score(&w);
    struct sentence **order = xcalloc(w.n + 1, sizeof *order);
    for (size_t i = 0; i < w.n; i++)
        order[i] = &w.s[i];
    qsort(order, w.n, sizeof *order, by_score);
    size_t taken = choose(&w, order, max_bytes);
    qsort(order, taken, sizeof *order, by_place);
    for (size_t i = 0; i < taken; i++)
        write_sentence(order[i], out);
    free(order);
    free(w.s);
    free(w.terms);
    return taken;
}
