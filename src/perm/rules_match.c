#include "perm/rules_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/wild.h"

enum { TEXT_MAX = 1 << 20 };

/* Stands for an unknown word while a leaf's text is made; letters and digits, so that nothing quotes it. A command that really
 * holds it is judged as if that word were unknown, which only narrows. */
static const char unknown_word[] = "0yare0unknown0word0";

/* Interpreters, shells, wrappers and runners: a rule that leaves their operands open allows anything. */
static const char *const broad_programs[] = {
    "python",   "python2", "python3", "node",      "deno",      "bun",   "ruby",  "perl",
    "php",      "lua",     "tclsh",   "osascript", "sh",        "bash",  "zsh",   "dash",
    "ksh",      "fish",    "eval",    "exec",      "source",    ".",     "xargs", "env",
    "sudo",     "doas",    "su",      "ssh",       "npx",       "bunx",  "pnpx",  "uvx",
    "pipx",     "ts-node", "tsx",     "awk",       "gawk",      "watch", "nohup", "timeout",
    "parallel", "docker",  "podman",  "kubectl",   "nix-shell", "nix",   "find",  "script",
    "tmux",     "screen",
};
static const char *const broad_pairs[] = {
    "npm exec",  "npm run",  "npm x",      "pnpm dlx",    "pnpm exec",  "pnpm run",   "yarn dlx",
    "yarn exec", "yarn run", "bun run",    "bun x",       "uv run",     "poetry run", "pipenv run",
    "cargo run", "go run",   "devbox run", "bundle exec", "dotnet run", "make",
};

/* ---- the canonical form of a rule ---- */

static bool
decode_token(struct str s, struct buf *out)
{
    char quote = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '\\' && quote != '\'' && i + 1 < s.len &&
                   (!quote || strchr("\\\"$`", s.ptr[i + 1]))) {
            buf_addc(out, s.ptr[++i]);
        } else if (quote != '\'' && (c == '$' || c == '`')) {
            return false;
        } else {
            buf_addc(out, c);
        }
    }
    return !quote;
}

/* Quoted words get the quoting that leaves have; everything else stays as it was written. */
static void
canonical_token(struct str s, struct buf *out)
{
    struct buf plain;
    buf_init(&plain, TEXT_MAX);
    bool quoted =
        memchr(s.ptr, '\'', s.len) || memchr(s.ptr, '"', s.len) || memchr(s.ptr, '\\', s.len);
    if (quoted && !memchr(s.ptr, '*', s.len) && decode_token(s, &plain)) {
        struct perm_word w = {.text = buf_str(&plain), .known = true};
        struct perm_leaf leaf = {.argv = &w, .n_argv = 1, .argv_known = true, .name_known = true};
        perm_leaf_text(&leaf, false, out);
    } else {
        buf_add_str(out, s);
    }
    buf_release(&plain);
}

/* The next word of a rule: blanks inside quotes belong to it. */
static bool
next_token(struct str *rest, struct str *ret)
{
    size_t i = 0, start;
    char quote = 0;
    while (i < rest->len && (rest->ptr[i] == ' ' || rest->ptr[i] == '\t'))
        i++;
    for (start = i; i < rest->len; i++) {
        char c = rest->ptr[i];
        if (c == '\\' && quote != '\'' && i + 1 < rest->len)
            i++;
        else if (c == quote)
            quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        else if (!quote && (c == ' ' || c == '\t'))
            break;
    }
    *ret = str_sub(*rest, start, i - start);
    *rest = str_sub(*rest, i, rest->len);
    return ret->len > 0;
}

void
perm_rules_compile_bash(struct str body, char **ret_pattern, bool *ret_boundary)
{
    struct buf out;
    struct str token;
    bool boundary = false;

    if (str_ends(body, ":*")) {
        boundary = true;
        body = str_trim(str_sub(body, 0, body.len - 2));
    } else if (str_ends(body, " *")) {
        boundary = true;
        body = str_trim(str_sub(body, 0, body.len - 2));
    }
    *ret_pattern = NULL;
    *ret_boundary = boundary;
    if (!body.len)
        return;
    buf_init(&out, TEXT_MAX);
    while (next_token(&body, &token)) {
        if (out.len)
            buf_addc(&out, ' ');
        canonical_token(token, &out);
    }
    *ret_pattern = buf_take(&out);
}

struct str
rule_head(const struct perm_rule *r)
{
    struct str p = str_from(r->pattern);
    size_t star = str_find(p, '*', 0);
    return star == (size_t)-1 ? p : str_sub(p, 0, star);
}

static bool
pattern_match(struct str pattern, bool boundary, struct str text)
{
    if (wild_match(pattern, text))
        return true;
    if (!boundary)
        return false;
    struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_add_str(&b, pattern);
    buf_adds(&b, " *");
    bool match = wild_match(buf_str(&b), text);
    buf_release(&b);
    return match;
}

static bool
pattern_may(struct str pattern, bool boundary, struct str text)
{
    if (wild_overlap(pattern, text))
        return true;
    if (!boundary)
        return false;
    struct buf b;
    buf_init(&b, TEXT_MAX);
    buf_add_str(&b, pattern);
    buf_adds(&b, " *");
    bool may = wild_overlap(buf_str(&b), text);
    buf_release(&b);
    return may;
}

bool
perm_rules_bash_covers(const struct perm_rule *r, struct str text)
{
    return pattern_match(str_from(r->pattern), r->boundary, text);
}

bool
perm_rules_name_glob(struct str pattern, struct str name)
{
    return wild_match(pattern, name);
}

/* ---- the texts of a leaf ---- */

/* Unknown words become WILD_GAP; with `absorb` so do the blanks around them, since such a word may vanish or become many. */
static void
put_gaps(struct buf *b, bool absorb)
{
    struct buf out;
    const char *p = buf_cstr(b), *at;
    size_t n = sizeof unknown_word - 1;

    buf_init(&out, TEXT_MAX);
    while ((at = strstr(p, unknown_word)) != NULL) {
        buf_add(&out, p, (size_t)(at - p));
        while (absorb && out.len && out.data[out.len - 1] == ' ')
            buf_truncate(&out, out.len - 1);
        buf_addc(&out, WILD_GAP);
        p = at + n;
        while (absorb && *p == ' ')
            p++;
    }
    buf_adds(&out, p);
    buf_release(b);
    *b = out;
}

static bool
word_is_sure(const struct perm_word *w, bool is_name, bool for_deny)
{
    return w->known && !(w->glob && (is_name || for_deny));
}

/* The leaf with its unsure words replaced. */
static void
gap_text(const struct perm_leaf *leaf, bool for_deny, bool normalise, bool absorb, struct buf *out)
{
    struct perm_word *words = xcalloc(leaf->n_argv + 1, sizeof *words);
    struct perm_leaf copy = *leaf;
    for (size_t i = 0; i < leaf->n_argv; i++) {
        words[i] = leaf->argv[i];
        if (!word_is_sure(&words[i], i == 0, for_deny))
            words[i] = (struct perm_word){.text = str_from(unknown_word), .known = true};
    }
    copy.argv = words;
    copy.argv_known = copy.name_known = true;
    perm_leaf_text(&copy, normalise, out);
    put_gaps(out, absorb);
    free(words);
}

static void
env_text(const struct perm_leaf *leaf, struct str exact, struct buf *out)
{
    for (size_t i = 0; i < leaf->n_assigns; i++) {
        const struct perm_assign *a = &leaf->assigns[i];
        buf_add_str(out, a->name);
        buf_addc(out, '=');
        if (a->value.known && a->value.text.len)
            canonical_token(a->value.text, out);
        else if (!a->value.known)
            buf_addc(out, WILD_GAP);
        buf_addc(out, ' ');
    }
    if (leaf->n_assigns && exact.len)
        buf_add_str(out, exact);
    else if (out->len)
        buf_truncate(out, out->len - 1);
}

void
leaf_texts_init(struct leaf_texts *t, const struct perm_leaf *leaf)
{
    bool sure = true;
    buf_init(&t->exact, TEXT_MAX);
    buf_init(&t->with_env, TEXT_MAX);
    buf_init(&t->plain, TEXT_MAX);
    buf_init(&t->deny, TEXT_MAX);
    buf_init(&t->gap_plain, TEXT_MAX);
    buf_init(&t->gap_deny, TEXT_MAX);
    t->name_known = leaf->n_argv && word_is_sure(&leaf->argv[0], true, false);
    if (leaf->n_argv) {
        gap_text(leaf, false, false, false, &t->exact);
        perm_leaf_text(leaf, false, &t->plain);
        perm_leaf_text(leaf, true, &t->deny);
    }
    for (size_t i = 0; i < leaf->n_argv; i++)
        sure = sure && word_is_sure(&leaf->argv[i], i == 0, true);
    if (!sure) {
        gap_text(leaf, true, false, true, &t->gap_plain);
        gap_text(leaf, true, true, true, &t->gap_deny);
    }
    env_text(leaf, buf_str(&t->exact), &t->with_env);
}

void
leaf_texts_release(struct leaf_texts *t)
{
    buf_release(&t->exact);
    buf_release(&t->with_env);
    buf_release(&t->plain);
    buf_release(&t->deny);
    buf_release(&t->gap_plain);
    buf_release(&t->gap_deny);
}

/* ---- one rule, one leaf ---- */

static enum match_how
allow_match(const struct perm_rule *r, const struct leaf_texts *t)
{
    struct str p = str_from(r->pattern);
    bool wild = r->boundary || str_find(p, '*', 0) != (size_t)-1;
    struct str exact = buf_str(&t->exact), env = buf_str(&t->with_env);

    if (!t->name_known && exact.len)
        return MATCH_NONE;
    bool match =
        pattern_match(p, r->boundary, exact) || (env.len && pattern_match(p, r->boundary, env));
    return !match ? MATCH_NONE : wild ? MATCH_PREFIX : MATCH_EXACT;
}

/* A deny rule may name the program with its folder or without. */
static struct str
without_folder(struct str pattern)
{
    size_t end = str_find(pattern, ' ', 0), from = 0;
    if (end == (size_t)-1)
        end = pattern.len;
    for (size_t i = 0; i < end; i++)
        if (pattern.ptr[i] == '/')
            from = i + 1;
    return from < end ? str_sub(pattern, from, pattern.len) : pattern;
}

static char *
lower(struct str s)
{
    char *copy = str_dup(s);
    for (size_t i = 0; i < s.len; i++)
        copy[i] = (char)tolower((unsigned char)copy[i]);
    return copy;
}

static enum match_how
deny_match(struct str p, bool boundary, const struct str text[4])
{
    struct str base = without_folder(p);
    if (pattern_match(p, boundary, text[0]) || pattern_match(p, boundary, text[1]) ||
        pattern_match(base, boundary, text[1]))
        return MATCH_PREFIX;
    if (text[2].len && (pattern_may(p, boundary, text[2]) || pattern_may(p, boundary, text[3]) ||
                        pattern_may(base, boundary, text[3])))
        return MATCH_MAY;
    return MATCH_NONE;
}

/* On a volume that ignores case "GIT" runs git. */
static enum match_how
deny_match_folded(const struct perm_rule *r, const struct str text[4])
{
    char *p = lower(str_from(r->pattern)), *copies[4];
    struct str low[4];
    for (size_t i = 0; i < 4; i++) {
        copies[i] = lower(text[i]);
        low[i] = str_make(copies[i], text[i].len);
    }
    enum match_how how = deny_match(str_from(p), r->boundary, low);
    for (size_t i = 0; i < 4; i++)
        free(copies[i]);
    free(p);
    return how;
}

enum match_how
rule_match_leaf(const struct perm_rule *r, const struct leaf_texts *t, const struct perm_leaf *leaf,
                bool fold_case)
{
    if (strcmp(r->tool, "Bash") != 0)
        return r->verdict != VERDICT_ALLOW && !r->body &&
                       perm_rules_name_glob(str_from(r->tool), STR("Bash"))
                   ? MATCH_BLANKET
                   : MATCH_NONE;
    if (!r->body)
        return MATCH_BLANKET;
    if (!leaf->n_argv && !t->with_env.len)
        return MATCH_NONE;
    if (r->verdict == VERDICT_ALLOW)
        return allow_match(r, t);
    const struct str text[4] = {buf_str(&t->plain), buf_str(&t->deny), buf_str(&t->gap_plain),
                                buf_str(&t->gap_deny)};
    enum match_how how = deny_match(str_from(r->pattern), r->boundary, text);
    if (how != MATCH_PREFIX && fold_case)
        how = deny_match_folded(r, text);
    return how;
}

static bool
word_listed(struct str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, list[i]))
            return true;
    return false;
}

bool
rule_program_is_broad(struct str word)
{
    word = without_folder(word);
    /* "python3.12" is python too. */
    while (word.len > 1 && !word_listed(word, broad_programs, ARRAY_LEN(broad_programs))) {
        char c = word.ptr[word.len - 1];
        if (!isdigit((unsigned char)c) && c != '.')
            return false;
        word.len--;
    }
    return word_listed(word, broad_programs, ARRAY_LEN(broad_programs));
}

/* As good as "everything", so auto mode does not let it stand in for the classifier. */
static bool
rule_is_broad(const struct perm_rule *r)
{
    if (strcmp(r->tool, "Agent") == 0)
        return true;
    if (strcmp(r->tool, "Bash") != 0)
        return false;
    if (!r->body)
        return true;
    if (!r->boundary && !strchr(r->pattern, '*'))
        return false;
    struct str head = str_trim(rule_head(r)), rest = head, word;
    if (!head.len || !str_split(&rest, ' ', &word))
        return true;
    return word_listed(head, broad_pairs, ARRAY_LEN(broad_pairs)) || rule_program_is_broad(word);
}

bool
rule_counts(const struct perm_rule *r, const struct rule_filter *f)
{
    if (r->verdict != f->list)
        return false;
    if (r->verdict != VERDICT_ALLOW)
        return true;
    if (f->untrusted && (r->scope == SCOPE_PROJECT || r->scope == SCOPE_LOCAL))
        return false;
    return !(f->narrow && rule_is_broad(r));
}

/* ---- the list ---- */

struct leaf_match
rules_match_leaf(const struct perm_rules *rs, const struct rule_filter *f,
                 const struct leaf_texts *t, const struct perm_leaf *leaf)
{
    struct leaf_match best = {0};
    for (size_t i = 0; rs && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f))
            continue;
        enum match_how how = rule_match_leaf(r, t, leaf, f->fold_case);
        if (how > best.how)
            best = (struct leaf_match){r, how};
    }
    return best;
}

bool
rules_name_env(const struct perm_rules *rs, const struct rule_filter *f, const struct leaf_texts *t)
{
    for (size_t i = 0; rs && i < rs->n; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f) || !r->pattern || strcmp(r->tool, "Bash") != 0)
            continue;
        struct str head = rule_head(r);
        size_t eq = str_find(head, '=', 0), blank = str_find(head, ' ', 0);
        if (eq == (size_t)-1 || (blank != (size_t)-1 && blank < eq))
            continue;
        if (t->with_env.len && perm_rules_bash_covers(r, buf_str(&t->with_env)))
            return true;
    }
    return false;
}

bool
rules_any(const struct perm_rules *rs, const struct rule_filter *f, const char *tool)
{
    for (size_t i = 0; rs && i < rs->n; i++)
        if (rule_counts(&rs->rules[i], f) &&
            perm_rules_name_glob(str_from(rs->rules[i].tool), str_from(tool)))
            return true;
    return false;
}

/* Text with every run of blanks, quotes and operators as one blank. */
static void
raw_words(struct str s, struct buf *out)
{
    buf_addc(out, ' ');
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\'' || c == '"' || c == '\\')
            continue;
        if (isspace((unsigned char)c) || strchr(";|&(){}<>`$/", c))
            c = ' ';
        if (c != ' ' || out->data[out->len - 1] != ' ')
            buf_addc(out, c);
    }
    buf_addc(out, ' ');
}

const struct perm_rule *
rules_match_raw(const struct perm_rules *rs, const struct rule_filter *f, struct str command)
{
    const struct perm_rule *found = NULL;
    struct buf text;
    buf_init(&text, BUF_MAX);
    raw_words(command, &text);
    for (size_t i = 0; rs && i < rs->n && !found; i++) {
        const struct perm_rule *r = &rs->rules[i];
        if (!rule_counts(r, f) || strcmp(r->tool, "Bash") != 0)
            continue;
        struct buf head;
        buf_init(&head, TEXT_MAX);
        if (r->pattern)
            raw_words(without_folder(str_trim(rule_head(r))), &head);
        if (!r->body || (head.len > 2 && str_contains(buf_str(&text), buf_str(&head))))
            found = r;
        buf_release(&head);
    }
    buf_release(&text);
    return found;
}

const struct perm_rule *
perm_rules_match_leaf(const struct perm_rules *rs, enum verdict list, const struct perm_leaf *leaf)
{
    struct rule_filter f = {.list = list};
    struct leaf_texts t;
    leaf_texts_init(&t, leaf);
    struct leaf_match m = rules_match_leaf(rs, &f, &t, leaf);
    leaf_texts_release(&t);
    return m.how > MATCH_MAY ? m.rule : NULL;
}
