#define PCRE2_CODE_UNIT_WIDTH 8
#include "tools/grep_pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "tools/grep_find.h"

enum { MATCH_LIMIT = 1000000, JIT_STACK_MAX = 1 << 20, PATTERN_MAX = 100000 };

struct grep_pattern {
    pcre2_code *bytes, *utf;
    bool bytes_jit, utf_jit;
    bool by_line;
    struct literals literals;
    struct grep_finder finder;
    enum grep_finder_text finder_text;
};

struct grep_matcher {
    const struct grep_pattern *p;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

static pcre2_code *
compile(struct str pattern, uint32_t options, bool *ret_jit, struct err *err)
{
    pcre2_compile_context *cc = pcre2_compile_context_create(NULL);
    int code;
    PCRE2_SIZE offset;

    if (!cc)
        die_oom();
    pcre2_set_newline(cc, PCRE2_NEWLINE_ANYCRLF);
    pcre2_code *c =
        pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len, options, &code, &offset, cc);
    pcre2_compile_context_free(cc);
    if (c) {
        /* without JIT it is slower and no less right */
        *ret_jit = pcre2_jit_compile(c, PCRE2_JIT_COMPLETE) == 0;
        return c;
    }
    PCRE2_UCHAR text[200] = "unknown error";
    pcre2_get_error_message(code, text, sizeof text);
    err_set(err, ERR_INVALID, "the pattern does not compile: %s at offset %zu", (const char *)text,
            (size_t)offset);
    return NULL;
}

/* Looking around, anchors of the whole text, atomic and possessive parts make a match in a long text differ from the one in
 * its line alone. */
static bool
looks_around(struct str p)
{
    for (size_t i = 0; i + 1 < p.len; i++) {
        char c = p.ptr[i], next = p.ptr[i + 1];
        if (c == '\\') {
            if (strchr("AzZGKRXC", next) || (next >= '1' && next <= '9'))
                return true;
            i++;
        } else if (c == '(' && next == '*') {
            return true;
        } else if (c == '(' && next == '?' && i + 2 < p.len && !strchr(":imsxn-", p.ptr[i + 2])) {
            return true;
        } else if (strchr("*+?}", c) && next == '+') {
            return true;
        }
    }
    return false;
}

/* Beyond ASCII, 's' and 'k' without case are also the long s and the Kelvin sign; a literal beyond ASCII stands for a character, which
 * is other bytes in latin-1. */
static enum grep_finder_text
finder_text(const struct literals *l, bool fold)
{
    enum grep_finder_text text = GREP_FINDS_IN_BYTES;

    for (size_t i = 0; i < l->n; i++) {
        struct str s = buf_str(&l->text[i]);
        if (fold && (str_find(s, 's', 0) != (size_t)-1 || str_find(s, 'k', 0) != (size_t)-1))
            return GREP_FINDS_IN_ASCII;
        if (!grep_is_ascii(s))
            text = GREP_FINDS_IN_UTF8;
    }
    return text;
}

struct grep_pattern *
grep_pattern_new(struct str pattern, bool ignore_case, bool multiline, struct err *err)
{
    uint32_t options = PCRE2_MULTILINE;
    struct grep_pattern *p;

    if (pattern.len > PATTERN_MAX) {
        err_set(err, ERR_LIMIT, "the pattern is longer than %d bytes", PATTERN_MAX);
        return NULL;
    }
    p = xcalloc(1, sizeof *p);
    grep_required_literals(pattern, ignore_case, &p->literals);
    if (p->literals.n)
        grep_finder_init(&p->finder, &p->literals, ignore_case);
    p->finder_text = finder_text(&p->literals, ignore_case);
    if (ignore_case)
        options |= PCRE2_CASELESS;
    if (multiline)
        options |= PCRE2_DOTALL;
    p->by_line = !multiline && looks_around(pattern);
    p->utf = compile(pattern, options | PCRE2_UTF | PCRE2_UCP, &p->utf_jit, err);
    if (p->utf && grep_is_ascii(pattern))
        p->bytes = compile(pattern, options, &p->bytes_jit, NULL);
    if (p->utf)
        return p;
    grep_pattern_free(p);
    return NULL;
}

void
grep_pattern_free(struct grep_pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->bytes);
    pcre2_code_free(p->utf);
    grep_literals_release(&p->literals);
    free(p);
}

bool
grep_pattern_by_line(const struct grep_pattern *p)
{
    return p->by_line;
}

const struct grep_finder *
grep_pattern_finder(const struct grep_pattern *p)
{
    return p->literals.n ? &p->finder : NULL;
}

enum grep_finder_text
grep_pattern_finder_text(const struct grep_pattern *p)
{
    return p->finder_text;
}

bool
grep_pattern_exact(const struct grep_pattern *p)
{
    return p->literals.exact;
}

struct grep_matcher *
grep_matcher_new(const struct grep_pattern *p)
{
    struct grep_matcher *m = xcalloc(1, sizeof *m);

    m->p = p;
    m->data = pcre2_match_data_create(1, NULL);
    m->context = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK_MAX, NULL);
    if (!m->data || !m->context || !m->stack)
        die_oom();
    pcre2_set_match_limit(m->context, MATCH_LIMIT);
    pcre2_set_heap_limit(m->context, 20000);
    pcre2_jit_stack_assign(m->context, NULL, m->stack);
    return m;
}

void
grep_matcher_free(struct grep_matcher *m)
{
    if (!m)
        return;
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    pcre2_jit_stack_free(m->stack);
    free(m);
}

enum grep_found
grep_match(struct grep_matcher *m, struct str s, size_t from, bool ascii, size_t *ret_start,
           size_t *ret_end)
{
    bool bytes = ascii && m->p->bytes;
    const pcre2_code *code = bytes ? m->p->bytes : m->p->utf;
    PCRE2_SPTR text = (PCRE2_SPTR)(s.ptr ? s.ptr : "");
    bool jit = bytes ? m->p->bytes_jit : m->p->utf_jit;
    int rc = jit ? pcre2_jit_match(code, text, s.len, from, 0, m->data, m->context)
                 : pcre2_match(code, text, s.len, from, PCRE2_NO_UTF_CHECK, m->data, m->context);

    if (rc == PCRE2_ERROR_NOMATCH)
        return GREP_NONE;
    if (rc < 0)
        return GREP_TOO_HARD;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(m->data);
    *ret_start = at[0];
    *ret_end = at[1] > at[0] ? at[1] : at[0];
    return GREP_FOUND;
}

bool
grep_is_ascii(struct str s)
{
    unsigned char any = 0;
    size_t i = 0;

    for (; i + 4096 <= s.len;
         i += 4096) { /* in blocks, so that the compiler makes wide loads of it */
        for (size_t k = 0; k < 4096; k++)
            any |= (unsigned char)s.ptr[i + k];
        if (any & 0x80)
            return false;
    }
    for (; i < s.len; i++)
        any |= (unsigned char)s.ptr[i];
    return !(any & 0x80);
}
