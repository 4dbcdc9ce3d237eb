/*
 * Programs that run other programs. Two ways to see through them: all of them for deny, only those whose
 * options are fully understood for allow. The first is a leaf marked inner, the second runs in the place of its wrapper.
 */
#include <string.h>

#include "perm/programs.h"
#include "perm/wrappers.h"

struct wrap {
    struct sh *sh;
    size_t leaf;
    const struct command *c;
    const struct wrapper *w;
    struct options o;
    bool trusted;
};

static void
opaque(struct wrap *x, const char *why)
{
    struct perm_leaf *l = leaf_at(x->sh, x->leaf);
    l->cls = x->w->kind == W_RUNNER ? CLASS_UNKNOWN : CLASS_DANGER;
    l->raises_power = x->w->power;
    effect_unknown(x->sh, x->leaf, why);
}

static bool
is_assignment(const struct word *w)
{
    struct str s = w->w.known ? w->w.text : w->prefix;
    size_t eq = str_find(s, '=', 0);
    return eq != (size_t)-1; /* env and sudo take any word with a '=' for one, "a-b=c" too */
}

/* Where the inner command begins: behind the skipped operands and, for sudo and env, assignments. */
static size_t
inner_start(const struct wrap *x)
{
    size_t k = x->w->skip;
    if (k >= x->o.n_operands)
        return x->c->n;
    size_t i = x->o.operands[k];
    /* kubectl exec POD [-c NAME] -- COMMAND */
    size_t dashes = i;
    while (k > 0 && str_starts(x->c->argv[i].w.text, "-") && dashes < x->c->n &&
           !str_is(x->c->argv[dashes].w.text, "--"))
        dashes++;
    if (k > 0 && dashes < x->c->n && str_is(x->c->argv[dashes].w.text, "--"))
        i = dashes + 1;
    bool assigns = x->w->kind == W_ENV || x->w->power || str_is(str_from(x->w->name), "cross-env");
    while (assigns && i < x->c->n && is_assignment(&x->c->argv[i]))
        i++;
    return i;
}

/* The wrapper's options are not understood: deny looks at each word that may be the inner command's name. */
static void
guess_inner(struct wrap *x, size_t from)
{
    for (size_t i = from; i < x->c->n && i < from + 4; i++)
        if (!str_starts(x->c->argv[i].w.text, "-"))
            leaf_inner(x->sh, x->leaf, x->c, i, false);
}

static struct str
join(struct sh *sh, const struct command *c, size_t from, size_t to)
{
    struct buf b;
    buf_init(&b, SH_PARSE_BYTES);
    for (size_t i = from; i < to; i++) {
        if (i > from)
            buf_addc(&b, ' ');
        buf_add_str(&b, c->argv[i].w.text);
    }
    struct str s = arena_str(sh->a, buf_str(&b));
    buf_release(&b);
    return s;
}

/* timeout 5 .., nice -n 5 ..: the duration must be one. */
static bool
skipped_known(const struct wrap *x)
{
    for (size_t i = 0; i < x->w->skip && i < x->o.n_operands; i++) {
        const struct word *w = &x->c->argv[x->o.operands[i]];
        for (size_t k = 0; k < w->w.text.len; k++)
            if (!strchr("0123456789.smhd", w->w.text.ptr[k]))
                return false;
        if (!w->w.known || w->w.glob)
            return false;
    }
    return true;
}

static void
run_clear(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    bool clear = x->trusted && !x->o.unknown && !x->o.bad && skipped_known(x);
    size_t i = inner_start(x);
    bool lookup = c->n > 1 && c->argv[1].w.known && str_is(c->argv[0].w.text, "command") &&
                  (str_is(c->argv[1].w.text, "-v") || str_is(c->argv[1].w.text, "-V"));
    if (lookup) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        return;
    }
    if (clear && i < c->n) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        leaf_inner(sh, x->leaf, c, i, true);
        return;
    }
    opaque(x, "its options are not understood");
    if (x->o.unknown)
        guess_inner(x, 1);
    else
        leaf_inner(sh, x->leaf, c, i, false);
}

static void
run_words(struct wrap *x)
{
    opaque(x,
           x->w->kind == W_RUNNER ? "runs another program" : "runs another program out of sight");
    if (x->o.value['c'] && x->o.value['c']->w.known && x->w->kind == W_RUNNER)
        leaf_inner_text(x->sh, x->leaf, x->o.value['c']->w.text, false);
    for (size_t i = 2; i + 1 < x->c->n && str_is(str_from(x->w->name), "nix"); i++)
        if (str_is(x->c->argv[i].w.text, "-c") || str_is(x->c->argv[i].w.text, "--command"))
            leaf_inner(x->sh, x->leaf, x->c, i + 1, false);
    if (x->o.unknown)
        guess_inner(x, x->w->sub ? 2 : 1);
    else
        leaf_inner(x->sh, x->leaf, x->c, inner_start(x), false);
}

enum { PARALLEL_MAX = 64 };

/* "parallel COMMAND ::: A B" runs COMMAND A and COMMAND B; without a COMMAND the operands are what runs. */
static void
parallel_operands(struct wrap *x, size_t from)
{
    const struct command *c = x->c;
    size_t colons = from;
    while (colons < c->n && !str_starts(c->argv[colons].w.text, ":::"))
        colons++;
    struct str command = join(x->sh, c, from, colons);
    for (size_t i = colons + 1; i < c->n && i < colons + PARALLEL_MAX; i++) {
        struct str word = c->argv[i].w.text;
        if (str_starts(word, ":::"))
            continue;
        struct buf b;
        buf_init(&b, SH_PARSE_BYTES);
        buf_add_str(&b, command);
        if (command.len)
            buf_addc(&b, ' ');
        buf_add_str(&b, word);
        leaf_inner_text(x->sh, x->leaf, arena_str(x->sh->a, buf_str(&b)), false);
        buf_release(&b);
    }
}

static void
run_text(struct wrap *x)
{
    opaque(x, "runs a string out of sight");
    if (x->w->power)
        effect_net(x->sh, x->leaf, str_from(NULL));
    size_t i = inner_start(x);
    if (i < x->c->n)
        leaf_inner_text(x->sh, x->leaf, join(x->sh, x->c, i, x->c->n), false);
    if (str_is(str_from(x->w->name), "parallel"))
        parallel_operands(x, i);
    if (x->o.unknown)
        guess_inner(x, 1);
}

/* concurrently "a" "b", nodemon --exec "a", nix-shell --run "a" */
static void
run_words_text(struct wrap *x)
{
    opaque(x, "runs strings out of sight");
    if (x->o.value['x'])
        leaf_inner_text(x->sh, x->leaf, x->o.value['x']->w.text, false);
    for (size_t i = x->w->skip; i < x->o.n_operands; i++)
        leaf_inner_text(x->sh, x->leaf, x->c->argv[x->o.operands[i]].w.text, false);
    if (x->o.unknown)
        guess_inner(x, 1);
}

static void
run_flock(struct wrap *x)
{
    opaque(x, "runs another program out of sight");
    const struct word *s = x->o.value['c'];
    size_t i = inner_start(x);
    /* "flock FILE -c STRING": the option comes behind the operand. */
    for (size_t k = 1; k + 1 < x->c->n && !s; k++)
        if (x->c->argv[k].w.known &&
            (str_is(x->c->argv[k].w.text, "-c") || str_is(x->c->argv[k].w.text, "--command")))
            s = &x->c->argv[k + 1];
    if (s)
        leaf_inner_text(x->sh, x->leaf, s->w.text, false);
    else if (i < x->c->n)
        leaf_inner(x->sh, x->leaf, x->c, i, false);
}

static void
run_env(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    size_t i = inner_start(x), first = x->o.n_operands ? x->o.operands[0] : c->n;
    bool safe = x->trusted && first == 1 && !x->o.unknown;
    for (size_t k = first; k < i; k++) {
        struct word v = c->argv[k];
        size_t eq = str_find(v.w.text, '=', 0);
        struct str name = str_sub(v.w.text, 0, eq);
        v.w.text = str_sub(v.w.text, eq == (size_t)-1 ? v.w.text.len : eq + 1, v.w.text.len);
        if (!env_name_safe(name) || !env_value_safe(name, &v)) {
            safe = false;
            leaf_at(sh, x->leaf)->bad_env = true;
            leaf_at(sh, x->leaf)->bad_env_name = arena_dup(sh->a, name.ptr, name.len);
        }
    }
    if (safe && i < c->n && i > first) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        leaf_inner(sh, x->leaf, c, i, true);
        return;
    }
    opaque(x, i < c->n ? "runs another program" : "prints the environment");
    if (i >= c->n && !x->o.unknown && !x->o.value['S'])
        leaf_at(sh, x->leaf)->cls = CLASS_UNKNOWN;
    if (x->o.value['S'])
        leaf_inner_text(sh, x->leaf, x->o.value['S']->w.text, false);
    if (x->o.unknown)
        guess_inner(x, 1);
    else
        leaf_inner(sh, x->leaf, c, i, false);
}

/* Options that only say how the data is cut up. */
static bool
xargs_options_plain(const struct options *o)
{
    static const char odd[] = "apoEe";
    for (size_t i = 0; odd[i]; i++)
        if (o->seen[(unsigned char)odd[i]])
            return false;
    return !o->unknown && !o->bad && !o->long_seen;
}

/* An option of it that a name turns out to be may read more, but writes and runs nothing. */
static bool
bears_options(struct str name)
{
    static const char *const more[] = {"wc", "grep", "egrep", "fgrep", "du"};
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (str_is(name, more[i]))
            return true;
    return program_harmless(name);
}

/* Names below known folders in the place of what is not known. False: they are not known well enough. */
static bool
xargs_names(struct wrap *x, struct command *in, size_t from, struct str mark, bool reads)
{
    struct names n;
    bool nul = x->o.seen['0'];
    if (!names_from_pipe(x->sh, x->c, &n) || n.nul != nul || (!reads && n.named))
        return false;
    if (reads && n.bare && !bears_options(in->argv[from].w.text))
        return false;
    if (reads && !nul && !names_are_plain(x->sh, &n))
        return false;
    struct word *all = arena_alloc(x->sh->a, (in->n * (n.n + 1) + n.n) * sizeof *all);
    size_t count = 0;
    for (size_t k = 0; k < in->n; k++) {
        const struct word *w = &in->argv[k];
        bool place = mark.len && w->w.known && str_contains(w->w.text, mark);
        if (k >= from && place && !str_eq(w->w.text, mark))
            return false; /* a name inside another word */
        for (size_t i = 0; place && k >= from && i < n.n; i++)
            all[count++] = word_below(x->sh, w->src, n.below[i], false);
        if (!(place && k >= from))
            all[count++] = *w;
    }
    for (size_t i = 0; !mark.len && i < n.n; i++)
        all[count++] = word_below(x->sh, STR("\"$@\""), n.below[i], true);
    in->argv = all;
    in->n = count;
    return true;
}

/* Without names that are known one unknown word stands for them. */
static void
xargs_unknown(struct wrap *x, struct command *in, size_t from, struct str mark)
{
    struct word *all = arena_alloc(x->sh->a, (in->n + 1) * sizeof *all);
    memcpy(all, in->argv, in->n * sizeof *all);
    for (size_t k = from; k < in->n && mark.len; k++)
        if (all[k].w.known && str_contains(all[k].w.text, mark))
            all[k] = word_unknown(all[k].src, false);
    if (!mark.len)
        all[in->n++] = word_unknown(STR("\"$@\""), true);
    in->argv = all;
}

/* Operands come from data. */
static void
run_xargs(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    size_t i = inner_start(x);
    if (i >= c->n) {
        /* echo by default */
        opaque(x, "its operands come from data");
        return;
    }
    const struct word *place = x->o.value['I'] ? x->o.value['I'] : x->o.value['i'];
    bool replaces = x->o.seen['I'] || x->o.seen['i'];
    struct str mark = !replaces ? STR("") : place && place->w.text.len ? place->w.text : STR("{}");
    bool trusted, plain = x->trusted && xargs_options_plain(&x->o);
    struct str name = program_name(c->argv[i].w.text, &trusted);
    struct command in = *c;
    plain = plain && c->argv[i].w.known && trusted && (!place || place->w.known);
    const struct program *p = plain ? program_find(name) : NULL;
    bool reads = p && p->cls == CLASS_READER && p->judge;
    if (!xargs_names(x, &in, i, mark, reads)) {
        xargs_unknown(x, &in, i, mark);
        reads = plain && program_harmless(name);
    }
    if (reads && leaf_inner_reads(sh, x->leaf, &in, i)) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        return;
    }
    opaque(x, "its operands come from data");
    if (reads)
        return;
    if (x->o.unknown)
        guess_inner(x, 1);
    else
        leaf_inner(sh, x->leaf, &in, i, false);
}

/* Options of a shell up to the first word that is none; *ret_c: -c was among them. */
static size_t
shell_options(const struct command *c, bool su, bool *ret_c)
{
    size_t i = 1;
    *ret_c = false;
    for (; i < c->n; i++) {
        struct str s = c->argv[i].w.text;
        if (s.len < 2 || (s.ptr[0] != '-' && s.ptr[0] != '+'))
            break;
        if (str_is(s, "--"))
            return i + 1;
        if (str_is(s, "--command")) {
            *ret_c = true;
            return i + 1;
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
    if (c->n != 3 || !c->argv[1].w.known || !str_is(c->argv[1].w.text, "-c"))
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

static void
run_shell(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    bool with_c, su = x->w->power;
    if (runs_words(x)) {
        opaque(x, "runs another program as another user");
        if (x->o.unknown)
            guess_inner(x, 1);
        else
            leaf_inner(sh, x->leaf, c, inner_start(x), false);
        return;
    }
    size_t i = shell_options(c, su, &with_c);
    if (su && !with_c) /* su USER -c STRING */
        for (size_t k = i; k + 1 < c->n && !with_c; k++)
            if (str_is(c->argv[k].w.text, "-c") || str_is(c->argv[k].w.text, "--command")) {
                with_c = true;
                i = k + 1;
            }
    if (literal_shell(c)) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        leaf_inner_text(sh, x->leaf, c->argv[2].w.text, true);
        return;
    }
    opaque(x, "runs a shell");
    if (with_c && i < c->n && !plain_sh(c->argv[i].w.text) && !is_bash(c->argv[0].w.text))
        sh_incomplete(sh, "another shell may read this text in another way");
    size_t from = sh->ret->n_leaves;
    if (with_c && i < c->n) {
        leaf_inner_text(sh, x->leaf, c->argv[i].w.text, false);
        if (!c->argv[i].w.known)
            words_are_guessed(sh, from);
    } else if (i < c->n && !su) {
        effect_add(sh, x->leaf, EFFECT_READ, &c->argv[i]);
        effect_add(sh, x->leaf, EFFECT_EXEC, &c->argv[i]);
    } else if (c->doc)
        leaf_inner_text(sh, x->leaf, c->doc->body, false);
    else if (c->herestring) {
        leaf_inner_text(sh, x->leaf, c->herestring->w.text, false);
        if (!c->herestring->w.known)
            words_are_guessed(sh, from);
    } else if (!su) /* what comes through the pipe may be anything */
        leaf_inner_text(sh, x->leaf, STR("\"$stdin\""), false);
}

/* "python3 -m pip install x" is "pip install x", for deny. */
static void
run_module(struct wrap *x)
{
    const struct command *c = x->c;
    const struct word *name = x->o.value['m'];
    if (!name)
        return;
    size_t from = 1;
    while (from < c->n && name != &c->argv[from])
        from++;
    if (from < c->n) {
        leaf_inner(x->sh, x->leaf, c, from, false);
        return;
    }
    struct command in = *c; /* "-mpip": its value is no word of its own */
    size_t k = inner_start(x);
    in.argv = arena_alloc(x->sh->a, (c->n - k + 1) * sizeof *in.argv);
    in.argv[0] = *name;
    memcpy(in.argv + 1, c->argv + k, (c->n - k) * sizeof *in.argv);
    in.n = c->n - k + 1;
    leaf_inner(x->sh, x->leaf, &in, 0, false);
}

static void
run_interpreter(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    size_t i = inner_start(x);
    bool version =
        c->n == 2 && (str_is(c->argv[1].w.text, "--version") || str_is(c->argv[1].w.text, "-V") ||
                      str_is(c->argv[1].w.text, "-v"));
    bool stdin_code = i >= c->n || (c->argv[i].w.known && str_is(c->argv[i].w.text, "-"));
    bool code = x->o.bad || x->w->sub || (stdin_code && !version && !x->o.seen['m']);
    effect_unknown(sh, x->leaf,
                   code ? "runs code of another language" : "what this program does is not known");
    leaf_at(sh, x->leaf)->cls = code ? CLASS_DANGER : CLASS_UNKNOWN;
    if (i < c->n && !code)
        effect_add(sh, x->leaf, EFFECT_EXEC, &c->argv[i]);
    program_guess_reads(sh, x->leaf, c, 1);
    if (x->o.seen['m'])
        run_module(x);
}

/* What tmux, screen, at and crontab are told to run, for deny: each operand may be a command line, and what is fed to them. */
static void
danger_texts(struct wrap *x)
{
    const struct command *c = x->c;
    for (size_t i = 1; i < c->n && i < 24; i++)
        if (c->argv[i].w.known && c->argv[i].quoted && c->argv[i].w.text.len > 1 &&
            memchr(c->argv[i].w.text.ptr, ' ', c->argv[i].w.text.len))
            leaf_inner_text(x->sh, x->leaf, c->argv[i].w.text, false);
    for (size_t i = 1; i < c->n; i++) /* new-session -d COMMAND..., screen -dm COMMAND... */
        if (i < 8 && c->argv[i].w.known && c->argv[i].w.text.len &&
            c->argv[i].w.text.ptr[0] != '-' && !c->argv[i].quoted)
            leaf_inner(x->sh, x->leaf, c, i, false);
    if (c->doc)
        leaf_inner_text(x->sh, x->leaf, c->doc->body, false);
    if (c->herestring)
        leaf_inner_text(x->sh, x->leaf, c->herestring->w.text, false);
}

/* python3.11, perl5.36: the name with its version taken off. */
static struct str
without_version(struct str s)
{
    while (s.len > 3 && strchr("0123456789.", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* env -C, sudo -D, chroot and the like: what runs inside is in another folder, of unknown name here. */
static bool
moves_first(const struct wrap *x)
{
    if (x->w->kind == W_ENV)
        return x->o.seen['C'] || x->o.long_seen;
    struct str name = str_from(x->w->name);
    return str_is(name, "chroot") ||
           (x->o.seen['D'] && (str_is(name, "sudo") || str_is(name, "run0")));
}

bool
wrapper_run(struct sh *sh, size_t leaf, const struct command *c)
{
    struct wrap x = {.sh = sh, .leaf = leaf, .c = c};
    struct str name = program_name(c->argv[0].w.text, &x.trusted);
    if (version_run(sh, leaf, c))
        return true;
    x.w = wrapper_find(name, c);
    if (!x.w) {
        const struct wrapper *w = wrapper_find(without_version(name), c);
        x.w = w && w->kind == W_INTERP ? w : NULL;
    }
    if (!x.w)
        return false;
    static void (*const run[])(struct wrap *) = {
        [W_CLEAR] = run_clear,
        [W_RUN] = run_words,
        [W_RUNNER] = run_words,
        [W_TEXT] = run_text,
        [W_WORDS_TEXT] = run_words_text,
        [W_SHELL] = run_shell,
        [W_ENV] = run_env,
        [W_XARGS] = run_xargs,
        [W_FLOCK] = run_flock,
        [W_INTERP] = run_interpreter,
    };
    if (x.w->kind == W_DANGER) {
        opaque(&x, "runs or steers something out of sight");
        danger_texts(&x);
        return true;
    }
    if (x.w->kind != W_SHELL)
        options_parse(sh, leaf, c, x.w->sub ? 2 : 1, &x.w->spec, &x.o);
    if (!x.trusted)
        effect_add(sh, leaf, EFFECT_EXEC, &c->argv[0]);
    struct cwdset cwd = sh->st.cwd;
    bool elsewhere = moves_first(&x);
    if (elsewhere)
        sh->st.cwd = (struct cwdset){.unknown = true};
    run[x.w->kind](&x);
    if (elsewhere)
        sh->st.cwd = cwd;
    /* What runs in this very shell may move it. */
    bool same_shell = str_is(name, "command") || str_is(name, "builtin") || str_is(name, "time");
    if (!same_shell)
        sh_settle(sh);
    return true;
}
