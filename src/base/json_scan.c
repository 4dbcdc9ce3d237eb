#include "base/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

struct scan {
    struct str s;
    size_t at;
    size_t copied; /* bytes of s already in *repaired, once a repair began */
    struct buf *repaired;
    uint64_t *keys; /* hashes of the keys of all open objects, innermost last */
    size_t n_keys, cap_keys;
    struct err *err;
};

static bool
fail(struct scan *sc, const char *what)
{
    int line = 1;
    for (size_t i = 0; i < sc->at && i < sc->s.len; i++)
        line += sc->s.ptr[i] == '\n';
    return err_set(sc->err, ERR_PARSE, "%s at byte %zu (line %d)", what, sc->at, line);
}

static int
peek(const struct scan *sc)
{
    return sc->at < sc->s.len ? (unsigned char)sc->s.ptr[sc->at] : -1;
}

static void
skip_blanks(struct scan *sc)
{
    int c;
    while ((c = peek(sc)) == ' ' || c == '\t' || c == '\n' || c == '\r')
        sc->at++;
}

static int
hex4(struct str s, size_t at)
{
    int v = 0;
    if (at + 4 > s.len)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        int c = s.ptr[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* A lone surrogate cannot be written as UTF-8: U+FFFD takes its place in the copy that is parsed. */
static void
repair_escape(struct scan *sc)
{
    buf_add_str(sc->repaired, str_sub(sc->s, sc->copied, sc->at - sc->copied));
    buf_adds(sc->repaired, "\\ufffd");
    sc->copied = sc->at + 6;
}

/* At a backslash. Advances past the escape and adds what it stands for to the hash. */
static bool
scan_escape(struct scan *sc, uint64_t *hash)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int c = sc->at + 1 < sc->s.len ? sc->s.ptr[sc->at + 1] : 0;
    const char *p = c ? strchr(plain, c) : NULL;
    if (p) {
        *hash = str_hash_more(*hash, str_make(&meant[p - plain], 1));
        sc->at += 2;
        return true;
    }
    int v = c == 'u' ? hex4(sc->s, sc->at + 2) : -1;
    if (v < 0)
        return fail(sc, "bad escape in a string");
    if (v == 0)
        return fail(sc, "a NUL character (\\u0000) in a string");
    int32_t cp = v;
    size_t used = 6;
    if (v >= 0xD800 && v <= 0xDBFF && sc->at + 12 <= sc->s.len && sc->s.ptr[sc->at + 6] == '\\' &&
        sc->s.ptr[sc->at + 7] == 'u') {
        int low = hex4(sc->s, sc->at + 8);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            cp = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
            used = 12;
        }
    }
    if (cp >= 0xD800 && cp <= 0xDFFF) {
        repair_escape(sc);
        cp = 0xFFFD;
    }
    char utf8[4];
    *hash = str_hash_more(*hash, str_make(utf8, text_encode(cp, utf8)));
    sc->at += used;
    return true;
}

static bool
scan_string(struct scan *sc, uint64_t *ret_hash)
{
    uint64_t hash = str_hash(STR(""));
    sc->at++;
    for (;;) {
        int c = peek(sc);
        if (c < 0)
            return fail(sc, "a string without its end");
        if (c == '"')
            break;
        if (c < 0x20)
            return fail(sc, "a control byte in a string");
        if (c == '\\') {
            if (!scan_escape(sc, &hash))
                return false;
            continue;
        }
        size_t n = 1;
        if (c >= 0x80) {
            int32_t cp;
            n = text_decode(sc->s, sc->at, &cp);
            if (n == 1)
                return fail(sc, "invalid UTF-8");
        }
        hash = str_hash_more(hash, str_sub(sc->s, sc->at, n));
        sc->at += n;
    }
    sc->at++;
    *ret_hash = hash;
    return true;
}

static void
skip_digits(struct scan *sc)
{
    while (peek(sc) >= '0' && peek(sc) <= '9')
        sc->at++;
}

static bool
scan_number(struct scan *sc)
{
    if (peek(sc) == '-')
        sc->at++;
    size_t start = sc->at;
    skip_digits(sc);
    if (sc->at == start || (sc->s.ptr[start] == '0' && sc->at - start > 1))
        return fail(sc, "a bad number");
    if (peek(sc) == '.') {
        start = ++sc->at;
        skip_digits(sc);
        if (sc->at == start)
            return fail(sc, "a bad number");
    }
    if (peek(sc) == 'e' || peek(sc) == 'E') {
        sc->at++;
        if (peek(sc) == '+' || peek(sc) == '-')
            sc->at++;
        start = sc->at;
        skip_digits(sc);
        if (sc->at == start)
            return fail(sc, "a bad number");
    }
    return true;
}

static bool
scan_word(struct scan *sc)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_starts(str_sub(sc->s, sc->at, sc->s.len), words[i])) {
            sc->at += strlen(words[i]);
            return true;
        }
    }
    return fail(sc, "not a JSON value");
}

static int
compare_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The keys of the object that closes are the last ones; equal hashes count as equal keys (a forged collision only gets its
 * own text refused). */
static bool
close_object(struct scan *sc, size_t first_key)
{
    size_t n = sc->n_keys - first_key;
    if (n > 1)
        qsort(sc->keys + first_key, n, sizeof *sc->keys, compare_hash);
    for (size_t i = first_key + 1; i < sc->n_keys; i++)
        if (sc->keys[i] == sc->keys[i - 1])
            return fail(sc, "a key that stands twice in one object");
    sc->n_keys = first_key;
    return true;
}

static bool
scan_key(struct scan *sc)
{
    uint64_t hash;
    skip_blanks(sc);
    if (peek(sc) != '"')
        return fail(sc, "a key was expected");
    if (!scan_string(sc, &hash))
        return false;
    ARRAY_GROW(sc->keys, sc->n_keys, sc->cap_keys);
    sc->keys[sc->n_keys++] = hash;
    skip_blanks(sc);
    if (peek(sc) != ':')
        return fail(sc, "':' was expected");
    sc->at++;
    return true;
}

static bool
scan_scalar(struct scan *sc)
{
    uint64_t hash;
    int c = peek(sc);
    if (c == '"')
        return scan_string(sc, &hash);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(sc);
    return scan_word(sc);
}

struct level {
    char close;
    size_t first_key;
};

/* After a value: closes levels as far as they close, and stops where the next value begins. *depth 0: done. */
static bool
after_value(struct scan *sc, struct level *levels, size_t *depth)
{
    while (*depth) {
        struct level *l = &levels[*depth - 1];
        skip_blanks(sc);
        int c = peek(sc);
        if (c == ',') {
            sc->at++;
            return l->close == ']' || scan_key(sc);
        }
        if (c != l->close)
            return fail(sc,
                        l->close == '}' ? "',' or '}' was expected" : "',' or ']' was expected");
        sc->at++;
        if (l->close == '}' && !close_object(sc, l->first_key))
            return false;
        --*depth;
    }
    return true;
}

static bool
scan_value(struct scan *sc)
{
    struct level levels[JSON_DEPTH];
    size_t depth = 0;
    do {
        skip_blanks(sc);
        int c = peek(sc);
        if (c == '{' || c == '[') {
            if (depth == JSON_DEPTH)
                return fail(sc, "nested too deep");
            levels[depth++] = (struct level){c == '{' ? '}' : ']', sc->n_keys};
            sc->at++;
            skip_blanks(sc);
            if (peek(sc) != levels[depth - 1].close) {
                if (c == '{' && !scan_key(sc))
                    return false;
                continue;
            }
        } else if (!scan_scalar(sc)) {
            return false;
        }
        if (!after_value(sc, levels, &depth))
            return false;
        if (depth == 0)
            return true;
    } while (true);
}

bool
json_scan(struct str s, struct buf *repaired, struct err *err)
{
    struct scan sc = {.s = s, .repaired = repaired, .err = err};
    bool ok = scan_value(&sc);
    if (ok) {
        skip_blanks(&sc);
        if (sc.at != s.len)
            ok = fail(&sc, "bytes after the value");
    }
    if (ok && sc.copied) {
        buf_add_str(repaired, str_sub(s, sc.copied, s.len));
        if (buf_full(repaired))
            ok = err_set(err, ERR_LIMIT, "JSON larger than %zu bytes", repaired->max);
    }
    free(sc.keys);
    return ok;
}
