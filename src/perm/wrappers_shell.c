/* Shells, su and runuser: scripts, strings and what is fed to them. */
#include <string.h>

#include "perm/wrappers.h"

/* Options of a shell up to the first word that is none; *ret_c: -c was among them. */
static size_t
shell_options(const struct command *c, bool su, bool *ret_c)
{
    size_t i = 1;
    *ret_c = false;
    for (; i < c->n; i++) {
        struct str s = c->argv[i].w.text;
        if (str_is(s, "-")) /* as "--" */
            return i + 1;
        if (s.len < 2 || (s.ptr[0] != '-' && s.ptr[0] != '+'))
            break;
        if (str_is(s, "--"))
            return i + 1;
        if (str_is(s, "--command")) {
            *ret_c = true;
            return i + 1;
        }
        if (str_starts(s, "--command=") || str_starts(s, "--session-command=")) {
            *ret_c = true;
            return i;
        }
        if (str_is(s, "--rcfile") || str_is(s, "--init-file"))
            i++;
        if (s.ptr[1] == '-')
            continue;
        *ret_c = *ret_c || memchr(s.ptr, 'c', s.len);
        if (su && memchr(s.ptr, 'c', s.len))
            return i + 1;
        char last = s.ptr[s.len - 1];
        if (last == 'O' || last == 'o' || (su && strchr("gGsuw", last)))
            i++;
    }
    return i;
}

/* sh may be another shell than bash: only text that both read in the same way. */
static bool
plain_sh(struct str text)
{
    static const char *const bashisms[] = {"$'", "$\"", "$[", "&>", "|&", "<<<", "[[", "((",
                                           "<(", ">(",  ";&", "~+", "~-", "+=",  "=("};
    for (size_t i = 0; i < ARRAY_LEN(bashisms); i++)
        if (str_contains(text, str_from(bashisms[i])))
            return false;
    /* "11>a" is a descriptor for one, a word and a '>' for the other. */
    for (size_t i = 2; i < text.len; i++)
        if (strchr("<>", text.ptr[i]) && strchr("0123456789", text.ptr[i - 1]) &&
            strchr("0123456789", text.ptr[i - 2]))
            return false;
    /* {a,b} is a word for one and two for the other; ${x}, "{ " and {} are the same for both. */
    for (size_t i = 0; i < text.len; i++) {
        char next = i + 1 < text.len ? text.ptr[i + 1] : ' ';
        if (text.ptr[i] == '{' && !(i > 0 && text.ptr[i - 1] == '$') && !strchr(" \n}", next))
            return false;
    }
    return true;
}

static bool
is_bash(struct str name)
{
    return str_is(name, "bash") || str_is(name, "/bin/bash") || str_is(name, "/usr/bin/bash");
}

/* sh -c 'LITERAL' and bash -c 'LITERAL', with nothing else. */
static bool
literal_shell(const struct command *c)
{
    if (c->n != 3 || !arg_is(c, 1, "-c"))
        return false;
    const struct word *text = &c->argv[2];
    struct str name = c->argv[0].w.text;
    bool sh = str_is(name, "sh") || str_is(name, "/bin/sh") || str_is(name, "/usr/bin/sh");
    return text->w.known && !text->w.glob && (is_bash(name) || (sh && plain_sh(text->w.text)));
}

/* runuser -u USER [--] COMMAND... runs the words behind its options, no string. */
static bool
runs_words(struct wrap *x)
{
    static const struct optspec spec = {.shorts = "u:g:G:lmpw:T",
                                        .longs = "user= group= supp-group= login "
                                                 "preserve-environment whitelist-environment= pty",
                                        .posix = true};
    if (!str_is(str_from(x->w->name), "runuser"))
        return false;
    options_parse(x->sh, x->leaf, x->c, 1, &spec, &x->o);
    return x->o.seen['u'] || x->o.long_seen || x->o.unknown;
}

/* The text that the leaves from `from` on were read from is not the whole one. */
static void
words_are_guessed(struct sh *sh, size_t from)
{
    for (size_t i = from; i < sh->ret->n_leaves; i++) {
        leaf_at(sh, i)->argv_known = false;
        effect_unknown(sh, i, "it is a part of a text that is not known");
    }
}

/* "bash -s -- a": the operands are the script's, which comes from the input. */
static bool
shell_reads_input(const struct command *c, size_t end)
{
    for (size_t i = 1; i < end; i++) {
        struct str s = c->argv[i].w.text;
        if (s.len > 1 && s.ptr[0] == '-' && s.ptr[1] != '-' && memchr(s.ptr, 's', s.len))
            return true;
    }
    return false;
}

/* "--command=TEXT" and TEXT. */
static struct str
command_value(struct str s)
{
    size_t eq = str_find(s, '=', 0);
    return str_starts(s, "--command=") || str_starts(s, "--session-command=")
               ? str_sub(s, eq + 1, s.len)
               : s;
}

/* runuser with a command of its own. */
static void
wrap_runuser(struct wrap *x)
{
    wrap_opaque(x, "runs another program as another user");
    if (x->o.unknown)
        wrap_guess(x, 1);
    else
        leaf_inner(x->sh, x->leaf, x->c, wrap_inner(x), false);
}

/* "su USER -c STRING" and "su USER --command=STRING", from the first operand on; true and where the string is. */
static bool
su_string(const struct command *c, size_t first, size_t *ret)
{
    for (size_t k = first; k + 1 < c->n; k++)
        if (str_is(c->argv[k].w.text, "-c") || str_is(c->argv[k].w.text, "--command")) {
            *ret = k + 1;
            return true;
        }
    for (size_t k = first; k < c->n; k++)
        if (str_starts(c->argv[k].w.text, "--command=")) {
            *ret = k;
            return true;
        }
    return false;
}

/* A text that the shell runs; of one that is not known there may be more. */
static void
run_text(struct wrap *x, const struct word *w, struct str text)
{
    size_t from = x->sh->ret->n_leaves;
    leaf_inner_text(x->sh, x->leaf, text, false);
    if (!w->w.known)
        words_are_guessed(x->sh, from);
}

/* What echo or printf prints for a word, into b: of printf's escapes newlines and tabs. False: that is not known. */
static bool
printed_plainly(struct str s, bool format, struct buf *b)
{
    for (size_t i = 0; i < s.len; i++) {
        char next = i + 1 < s.len ? s.ptr[i + 1] : '\0';
        if (s.ptr[i] == '\\' && format && (next == 'n' || next == 't')) {
            buf_addc(b, next == 'n' ? '\n' : '\t');
            i++;
        } else if (s.ptr[i] == '\\' || (format && s.ptr[i] == '%')) {
            return false;
        } else {
            buf_addc(b, s.ptr[i]);
        }
    }
    return !buf_full(b);
}

/* "echo TEXT | sh" and "printf TEXT | sh". False: what is fed is not known. */
bool
input_is_printed(struct sh *sh, struct str *ret)
{
    size_t last = sh->n_stages ? sh->stages[sh->n_stages - 1] : SIZE_MAX;
    const struct perm_leaf *l = last == SIZE_MAX ? NULL : leaf_at(sh, last);
    if (!l || !l->argv_known || l->n_argv < 2 || l->n_effects || l->wrapper != SIZE_MAX)
        return false;
    bool print = str_is(l->argv[0].text, "printf") && l->n_argv == 2;
    bool plain = (print || str_is(l->argv[0].text, "echo")) && !str_starts(l->argv[1].text, "-");
    struct buf b;
    buf_init(&b, SH_PARSE_BYTES);
    for (size_t i = 1; i < l->n_argv && plain; i++) {
        plain = printed_plainly(l->argv[i].text, print, &b) && buf_addc(&b, ' ');
    }
    *ret = plain ? arena_str(sh->a, buf_str(&b)) : str_from(NULL);
    buf_release(&b);
    return plain;
}

/* "/dev/fd/3", "/proc/self/fd/3": the number; "/dev/stdin": 0; -1: another file. */
static int
descriptor_of(const char *path)
{
    const char *fd = strstr(path, "/fd/");
    if (strcmp(path, "/dev/stdin") == 0)
        return 0;
    bool place = strncmp(path, "/dev/fd/", 8) == 0 || (strncmp(path, "/proc/", 6) == 0 && fd);
    if (!place || !fd[4] || strspn(fd + 4, "0123456789") != strlen(fd + 4))
        return -1;
    return strcmp(fd + 4, "0") == 0 ? 0 : 1;
}

/* The same of a word: a pipe of the shell's own making counts as one that is not the input. */
static int
word_descriptor(struct sh *sh, const struct word *w)
{
    const struct cwdset *c = &sh->st.cwd;
    int fd = w->procsub ? 1 : -1;
    for (size_t i = 0; w->w.known && i < (c->n ? c->n : 1) && fd < 0; i++) {
        const char *cwd = c->n && !c->unknown ? c->dir[i] : NULL;
        const char *path = path_clean(sh->a, cwd, w->w.text);
        fd = path ? descriptor_of(path) : -1;
        if (fd < 0 && (path = path_by_text(sh->a, cwd, w->w.text)))
            fd = descriptor_of(path);
    }
    return fd;
}

bool
word_is_input(struct sh *sh, const struct word *w)
{
    return word_descriptor(sh, w) >= 0;
}

static bool
sets_start_file(const struct perm_assign *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(v[i].name, "BASH_ENV") || str_is(v[i].name, "ENV"))
            return true;
    return false;
}

/* A file, or what is fed to it, that a variable makes it run first. */
static bool
reads_start_file(const struct command *c)
{
    return sets_start_file(c->assigns, c->n_assigns) || sets_start_file(c->around, c->n_around);
}

/* "bash -n FILE" reads the file and runs nothing of it. */
static bool
only_checks(const struct wrap *x)
{
    const struct command *c = x->c;
    return x->trusted && !x->w->power && c->n == 3 && arg_is(c, 1, "-n") && c->argv[2].w.known &&
           !c->argv[2].w.glob && c->argv[2].w.text.len && !strchr("-+", c->argv[2].w.text.ptr[0]) &&
           !reads_start_file(c);
}

void
wrap_shell(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    bool with_c, su = x->w->power;
    struct str fed;
    if (runs_words(x)) {
        wrap_runuser(x);
        return;
    }
    if (reads_start_file(c)) /* before anything else */
        leaf_inner_text(sh, x->leaf, STR("\"$stdin\""), false);
    if (only_checks(x)) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        effect_add(sh, x->leaf, EFFECT_READ, &c->argv[2]);
        return;
    }
    size_t i = shell_options(c, su, &with_c);
    with_c = with_c || (su && su_string(c, i, &i));
    if (literal_shell(c)) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        leaf_inner_text(sh, x->leaf, c->argv[2].w.text, true);
        return;
    }
    wrap_opaque(x, "runs a shell");
    bool script = i < c->n && !with_c && !su && !shell_reads_input(c, i);
    int fd = script ? word_descriptor(sh, &c->argv[i]) : 0;
    if (with_c && i < c->n && !plain_sh(c->argv[i].w.text) && !is_bash(c->argv[0].w.text))
        sh_incomplete(sh, "another shell may read this text in another way");
    if (with_c && i < c->n) {
        run_text(x, &c->argv[i], command_value(c->argv[i].w.text));
    } else if (script && fd < 0) {
        effect_add(sh, x->leaf, EFFECT_READ, &c->argv[i]);
        effect_add(sh, x->leaf, EFFECT_EXEC, &c->argv[i]);
    } else if (fd > 0) {
        leaf_inner_text(sh, x->leaf, STR("\"$stdin\""), false);
    } else if (c->doc) {
        leaf_inner_text(sh, x->leaf, c->doc->body, false);
    } else if (c->herestring) {
        run_text(x, c->herestring, c->herestring->w.text);
    } else if (!su && input_is_printed(sh, &fed)) {
        leaf_inner_text(sh, x->leaf, fed, false);
    } else if (!su) { /* what comes through the pipe may be anything */
        leaf_inner_text(sh, x->leaf, STR("\"$stdin\""), false);
    }
}
