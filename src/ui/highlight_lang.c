#define PCRE2_CODE_UNIT_WIDTH 8
#include "ui/highlight_lang.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ui/canvas.h"

const TSLanguage *tree_sitter_bash(void);
const TSLanguage *tree_sitter_c(void);
const TSLanguage *tree_sitter_go(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_json(void);
const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_rust(void);
const TSLanguage *tree_sitter_tsx(void);
const TSLanguage *tree_sitter_typescript(void);

/* The packages' query files, embedded. */
#define QUERY(name) extern const char name[]
QUERY(query_bash);
QUERY(query_c);
QUERY(query_go);
QUERY(query_javascript);
QUERY(query_jsx);
QUERY(query_json);
QUERY(query_python);
QUERY(query_rust);
QUERY(query_typescript);

/* Names as fences have them, and extensions of files; queries in the order in which later ones go over earlier ones. */
static const struct {
    const char *names;
    const TSLanguage *(*grammar)(void);
    const char *queries[3];
} table[] = {
    {"bash sh shell zsh console", tree_sitter_bash, {query_bash}},
    {"c h", tree_sitter_c, {query_c}},
    {"go golang", tree_sitter_go, {query_go}},
    {"javascript js jsx mjs cjs node", tree_sitter_javascript, {query_javascript, query_jsx}},
    {"json jsonc json5", tree_sitter_json, {query_json}},
    {"python py pyi python3", tree_sitter_python, {query_python}},
    {"rust rs", tree_sitter_rust, {query_rust}},
    {"tsx", tree_sitter_tsx, {query_javascript, query_jsx, query_typescript}},
    {"typescript ts mts cts", tree_sitter_typescript, {query_javascript, query_typescript}},
};
static struct {
    bool tried;
    struct hl_lang lang;
} made[ARRAY_LEN(table)];

/* The first part of a capture's name that stands here says its look. */
static const struct {
    const char *name;
    enum style style;
} looks[] = {
    {"keyword", ST_SYN_KEYWORD},
    {"string.special.key", ST_SYN_FUNCTION},
    {"string", ST_SYN_STRING},
    {"escape", ST_SYN_CONSTANT},
    {"comment", ST_SYN_COMMENT},
    {"function", ST_SYN_FUNCTION},
    {"constructor", ST_SYN_TYPE},
    {"type", ST_SYN_TYPE},
    {"tag", ST_SYN_TYPE},
    {"attribute", ST_SYN_CONSTANT},
    {"number", ST_SYN_NUMBER},
    {"constant", ST_SYN_CONSTANT},
    {"variable.builtin", ST_SYN_CONSTANT},
    {"operator", ST_SYN_OPERATOR},
    {"variable", ST_CODE},
    {"property", ST_CODE},
    {"embedded", ST_CODE},
    {"punctuation", ST_CODE},
    {"delimiter", ST_CODE},
    {"label", ST_CODE},
};

static uint8_t
look_of(struct str capture)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        size_t n = strlen(looks[i].name);
        if (str_starts(capture, looks[i].name) && (capture.len == n || capture.ptr[n] == '.'))
            return (uint8_t)looks[i].style;
    }
    return HL_SKIP;
}

/* The packages do not agree on whether the first or the last word on a node holds; that the more exact one does ("string.special.key"
 * before "string", anything before "variable") suits all of them. */
static uint8_t
rank_of(struct str capture)
{
    uint8_t rank = !str_is(capture, "variable");
    for (size_t i = 0; i < capture.len; i++)
        if (capture.ptr[i] == '.' && rank < UINT8_MAX)
            rank++;
    return rank;
}

/* ---- predicates: (#eq? @a "x"), (#match? @a "regex"), (#any-of? @a "x" "y"), with "not-" for the opposite ---- */

enum test_kind { TEST_EQ, TEST_MATCH, TEST_ANY, TEST_NEVER };
struct one_test {
    enum test_kind kind;
    bool negated, two_captures;
    uint32_t capture, other;
    struct str *words;
    size_t n_words;
    pcre2_code *regex;
};
struct hl_test {
    struct one_test *tests;
    size_t n;
};

static struct str
string_at(const TSQuery *q, uint32_t id)
{
    uint32_t len;
    const char *s = ts_query_string_value_for_id(q, id, &len);
    return str_make(s, len);
}

static pcre2_code *
regex_of(struct str pattern)
{
    int code;
    PCRE2_SIZE at;
    return pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len, PCRE2_UTF, &code, &at, NULL);
}

/* One predicate of n steps, its name first. False: it is always true here. */
static bool
test_make(const TSQuery *q, const TSQueryPredicateStep *s, uint32_t n, struct one_test *t)
{
    struct str name = string_at(q, s[0].value_id);
    *t = (struct one_test){.kind = TEST_NEVER};
    if (str_is(name, "is-not?") || str_is(name, "is?") || str_is(name, "set!"))
        return false; /* about scopes, which are not followed, or a setting */
    if (n < 3 || s[1].type != TSQueryPredicateStepTypeCapture)
        return true;
    if (str_starts(name, "not-")) {
        t->negated = true;
        name = str_sub(name, 4, name.len);
    }
    t->capture = s[1].value_id;
    t->words = xcalloc(n - 2, sizeof(*t->words));
    for (uint32_t i = 2; i < n; i++)
        if (s[i].type == TSQueryPredicateStepTypeString)
            t->words[t->n_words++] = string_at(q, s[i].value_id);
    if (str_is(name, "eq?")) {
        t->two_captures = s[2].type == TSQueryPredicateStepTypeCapture;
        t->other = s[2].value_id;
        t->kind = TEST_EQ;
    } else if (str_is(name, "any-of?")) {
        t->kind = TEST_ANY;
    } else if (str_is(name, "match?") && t->n_words) {
        t->regex = regex_of(t->words[0]);
        t->kind = t->regex ? TEST_MATCH : TEST_NEVER;
    }
    return true;
}

static struct hl_test *
pattern_tests(const TSQuery *q, uint32_t pattern)
{
    uint32_t n, from = 0;
    const TSQueryPredicateStep *s = ts_query_predicates_for_pattern(q, pattern, &n);
    struct hl_test *all = NULL;
    size_t cap = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct one_test t;
        if (s[i].type != TSQueryPredicateStepTypeDone)
            continue;
        if (i > from && test_make(q, s + from, i - from, &t)) {
            if (!all)
                all = xcalloc(1, sizeof(*all));
            ARRAY_GROW(all->tests, all->n, cap);
            all->tests[all->n++] = t;
        }
        from = i + 1;
    }
    return all;
}

static struct str
captured(const TSQueryMatch *m, uint32_t capture, struct str text)
{
    for (uint16_t i = 0; i < m->capture_count; i++) {
        if (m->captures[i].index != capture)
            continue;
        uint32_t from = ts_node_start_byte(m->captures[i].node),
                 to = ts_node_end_byte(m->captures[i].node);
        return str_sub(text, from, to - from);
    }
    return STR("");
}

static bool
matches(const pcre2_code *regex, struct str s)
{
    static pcre2_match_data *data;
    if (!data)
        data = pcre2_match_data_create(1, NULL);
    return data && pcre2_match(regex, (PCRE2_SPTR)s.ptr, s.len, 0, 0, data, NULL) >= 0;
}

static bool
test_passes(const struct one_test *t, const TSQueryMatch *m, struct str text)
{
    struct str s = captured(m, t->capture, text);
    bool yes = false;
    switch (t->kind) {
    case TEST_EQ:
        yes = str_eq(s, t->two_captures ? captured(m, t->other, text)
                        : t->n_words    ? t->words[0]
                                        : STR(""));
        break;
    case TEST_MATCH:
        yes = matches(t->regex, s);
        break;
    case TEST_ANY:
        for (size_t i = 0; i < t->n_words && !yes; i++)
            yes = str_eq(s, t->words[i]);
        break;
    case TEST_NEVER:
        return false;
    }
    return yes != t->negated;
}

bool
hl_lang_passes(const struct hl_lang *l, const TSQueryMatch *m, struct str text)
{
    const struct hl_test *all = l->tests[m->pattern_index];
    for (size_t i = 0; all && i < all->n; i++)
        if (!test_passes(&all->tests[i], m, text))
            return false;
    return true;
}

/* ---- languages ---- */

static bool
lang_make(size_t row, struct hl_lang *l)
{
    struct buf text;
    uint32_t at;
    TSQueryError error;
    buf_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(table[row].queries) && table[row].queries[i]; i++) {
        buf_adds(&text, table[row].queries[i]);
        buf_addc(&text, '\n');
    }
    l->grammar = table[row].grammar();
    l->query = ts_query_new(l->grammar, text.data, (uint32_t)text.len, &at, &error);
    buf_release(&text);
    if (!l->query) {
        log_warn("ui", "highlight query of '%s': error %d at byte %u", table[row].names, error, at);
        return false;
    }
    uint32_t n = ts_query_capture_count(l->query), patterns = ts_query_pattern_count(l->query);
    l->styles = xcalloc(n + 1, sizeof(*l->styles));
    l->ranks = xcalloc(n + 1, sizeof(*l->ranks));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len;
        const char *name = ts_query_capture_name_for_id(l->query, i, &len);
        l->styles[i] = look_of(str_make(name, len));
        l->ranks[i] = rank_of(str_make(name, len));
    }
    l->tests = xcalloc(patterns + 1, sizeof(struct hl_test *));
    for (uint32_t i = 0; i < patterns; i++)
        l->tests[i] = pattern_tests(l->query, i);
    return true;
}

static bool
is_named(const char *names, struct str name)
{
    struct str rest = str_from(names), one;
    while (str_split(&rest, ' ', &one))
        if (one.len == name.len && strncasecmp(one.ptr, name.ptr, one.len) == 0)
            return true;
    return false;
}

const struct hl_lang *
hl_lang_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!name.len || !is_named(table[i].names, name))
            continue;
        if (!made[i].tried) {
            made[i].tried = true;
            if (!lang_make(i, &made[i].lang))
                made[i].lang.query = NULL;
        }
        return made[i].lang.query ? &made[i].lang : NULL;
    }
    return NULL;
}
