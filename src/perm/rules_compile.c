/* What a Bash rule says: its canonical text, its program, whether it is as good as "everything". */
#include "perm/rules_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

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

/* Quoted words get the quoting that leaves have; everything else stays as it was written. A '*' inside quotes stays a wildcard, which
 * only makes a deny or an ask wider. */
void
rule_canonical_token(struct str s, bool strict, struct buf *out)
{
    struct buf plain;
    buf_init(&plain, TEXT_MAX);
    /* Brackets too: no word of a command holds them bare. */
    bool quoted = false;
    for (size_t i = 0; i < s.len; i++)
        quoted = quoted || memchr("'\"\\()", s.ptr[i], 5);
    bool star = memchr(s.ptr, '*', s.len);
    if (quoted && star && strict && decode_token(s, &plain) &&
        !memchr(plain.data, ' ', plain.len)) {
        buf_add_str(out, buf_str(&plain));
    } else if (quoted && !star && decode_token(s, &plain)) {
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
perm_rules_compile_bash(struct str body, bool strict, char **ret_pattern, bool *ret_boundary)
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
        rule_canonical_token(token, strict, &out);
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
/* A deny rule may name the program with its folder or without. */
struct str
rule_without_folder(struct str pattern)
{
    size_t end = str_find(pattern, ' ', 0), from = 0;
    if (end == (size_t)-1)
        end = pattern.len;
    for (size_t i = 0; i < end; i++)
        if (pattern.ptr[i] == '/')
            from = i + 1;
    return from < end ? str_sub(pattern, from, pattern.len) : pattern;
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
    word = rule_without_folder(word);
    /* "python3.12" is python too. */
    while (word.len > 1 && !word_listed(word, broad_programs, ARRAY_LEN(broad_programs))) {
        char c = word.ptr[word.len - 1];
        if (!isdigit((unsigned char)c) && c != '.')
            return false;
        word.len--;
    }
    return word_listed(word, broad_programs, ARRAY_LEN(broad_programs));
}

/* "npm" leaves room for "npm exec", "py*" for "python". open: the next character is free too. */
static bool
reaches_broad(struct str head, bool open)
{
    for (size_t i = 0; i < ARRAY_LEN(broad_pairs); i++)
        if (strncmp(broad_pairs[i], head.ptr, head.len) == 0 &&
            (open || broad_pairs[i][head.len] == ' '))
            return true;
    for (size_t i = 0; open && i < ARRAY_LEN(broad_programs); i++)
        if (strncmp(broad_programs[i], head.ptr, head.len) == 0)
            return true;
    return false;
}

/* As good as "everything", so auto mode does not let it stand in for the classifier. */
bool
rule_is_broad(const struct perm_rule *r)
{
    if (strcmp(r->tool, "Agent") == 0 || strcmp(r->tool, "Monitor") == 0)
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
    struct str whole = rule_head(r);
    bool open = !r->boundary && whole.ptr[whole.len - 1] != ' ';
    return word_listed(head, broad_pairs, ARRAY_LEN(broad_pairs)) || rule_program_is_broad(word) ||
           reaches_broad(head, open);
}
