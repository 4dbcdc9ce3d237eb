#define PCRE2_CODE_UNIT_WIDTH 8
#include "tools/grep_pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "tools/grep_literal.h"

enum { MATCH_LIMIT = 1000000, JIT_STACK_MAX = 1 << 20, PATTERN_MAX = 100000 };

struct grep_pattern {
    pcre2_code *bytes, *utf;
    bool by_line;
    struct buf literal;
};

struct grep_matcher {
    const struct grep_pattern *p;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

static pcre2_code *
compile(struct str pattern, uint32_t options, struct err *err)
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
        pcre2_jit_compile(c, PCRE2_JIT_COMPLETE); /* without JIT it is slower and no less right */
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
    buf_init(&p->literal, 1000);
    if (!ignore_case && !multiline)
        grep_required_literal(pattern, &p->literal);
    if (ignore_case)
        options |= PCRE2_CASELESS;
    if (multiline)
        options |= PCRE2_DOTALL;
    p->by_line = !multiline && looks_around(pattern);
    p->utf = compile(pattern, options | PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, err);
    if (p->utf && grep_is_ascii(pattern))
        p->bytes = compile(pattern, options, NULL);
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
    buf_release(&p->literal);
    free(p);
}

bool
grep_pattern_by_line(const struct grep_pattern *p)
{
    return p->by_line;
}

struct str
grep_pattern_literal(const struct grep_pattern *p)
{
    return buf_str(&p->literal);
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
    const pcre2_code *code = ascii && m->p->bytes ? m->p->bytes : m->p->utf;
    const char *text = s.ptr ? s.ptr : "";
    int rc = pcre2_match(code, (PCRE2_SPTR)text, s.len, from, 0, m->data, m->context);

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
