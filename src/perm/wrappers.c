/*
 * Programs that run other programs. Two ways to see through them: all of them for deny, only those whose
 * options are fully understood for allow. The first is a leaf marked inner, the second runs in the place of its wrapper.
 */
#include <string.h>

#include "perm/programs.h"
#include "perm/wrappers.h"

void
wrap_opaque(struct wrap *x, const char *why)
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
size_t
wrap_inner(const struct wrap *x)
{
    size_t k = x->w->skip;
    if (k >= x->o.n_operands)
        return x->c->n;
    size_t i = x->o.operands[k];
    while (x->w->kind == W_ENV && i < x->c->n && arg_is(x->c, i, "-"))
        i++; /* the old form of -i */
    bool assigns = x->w->kind == W_ENV || x->w->power || str_is(str_from(x->w->name), "cross-env");
    while (assigns && i < x->c->n && is_assignment(&x->c->argv[i]))
        i++;
    return i;
}

/* The wrapper's options are not understood: deny looks at each word that may be the inner command's name. */
void
wrap_guess(struct wrap *x, size_t from)
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
    size_t i = wrap_inner(x);
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
    wrap_opaque(x, "its options are not understood");
    if (x->o.unknown)
        wrap_guess(x, x->from);
    else
        leaf_inner(sh, x->leaf, c, i, false);
}

/* The command `name` with the words from argv[k] on. */
static void
inner_named(struct wrap *x, const struct word *name, size_t k)
{
    const struct command *c = x->c;
    struct command in = *c;
    k = k < c->n ? k : c->n;
    in.argv = arena_alloc(x->sh->a, (c->n - k + 1) * sizeof *in.argv);
    in.argv[0] = *name;
    memcpy(in.argv + 1, c->argv + k, (c->n - k) * sizeof *in.argv);
    in.n = c->n - k + 1;
    leaf_inner(x->sh, x->leaf, &in, 0, false);
}

/* docker run --entrypoint PROGRAM IMAGE OPERANDS... */
static void
run_entrypoint(struct wrap *x)
{
    inner_named(x, x->o.value['K'], wrap_inner(x));
}

/* What an image starts by itself is no shell as a rule. */
static bool
runs_image(const struct wrap *x)
{
    static const char *const boxes[] = {"docker", "podman", "nerdctl", "kubectl", "oc"};
    for (size_t i = 0; i < ARRAY_LEN(boxes); i++)
        if (str_is(str_from(x->w->name), boxes[i]))
            return true;
    return false;
}

/* Without a command of its own it starts a shell, or reads what it is to run: from what is fed to it. */
static void
run_input(struct wrap *x)
{
    const struct command *c = x->c;
    if (c->doc)
        leaf_inner_text(x->sh, x->leaf, c->doc->body, false);
    else if (c->herestring)
        leaf_inner_text(x->sh, x->leaf, c->herestring->w.text, false);
    else if ((x->sh->n_stages || c->stdin_file) && !runs_image(x))
        leaf_inner_text(x->sh, x->leaf, STR("\"$stdin\""), false);
}

static void
run_words(struct wrap *x)
{
    wrap_opaque(x, x->w->kind == W_RUNNER ? "runs another program"
                                          : "runs another program out of sight");
    /* "yarn exec 'PROGRAM A'" is a command line in one word */
    size_t first = wrap_inner(x);
    if (x->w->kind == W_RUNNER && first < x->c->n && x->c->argv[first].quoted &&
        memchr(x->c->argv[first].w.text.ptr, ' ', x->c->argv[first].w.text.len))
        leaf_inner_text(x->sh, x->leaf, x->c->argv[first].w.text, false);
    size_t version = first < x->c->n ? str_find(x->c->argv[first].w.text, '@', 1) : (size_t)-1;
    if (x->w->kind == W_RUNNER && version != (size_t)-1) { /* npx npm@latest */
        struct word name = x->c->argv[first];
        name.w.text = str_sub(name.w.text, 0, version);
        inner_named(x, &name, first + 1);
    }
    if (x->o.value['c'] && x->o.value['c']->w.known && x->w->kind == W_RUNNER)
        leaf_inner_text(x->sh, x->leaf, x->o.value['c']->w.text, false);
    for (size_t i = 2; i + 1 < x->c->n && str_is(str_from(x->w->name), "nix"); i++)
        if (str_is(x->c->argv[i].w.text, "-c") || str_is(x->c->argv[i].w.text, "--command"))
            leaf_inner(x->sh, x->leaf, x->c, i + 1, false);
    hide_words(x->sh, x->leaf, x->from, x->o.unknown ? x->c->n : wrap_inner(x), x->o.unknown);
    wrap_hide_image(x);
    if (x->o.value['K'])
        run_entrypoint(x);
    if (x->o.unknown)
        wrap_guess(x, x->from);
    else if (x->o.seen['s'] && str_is(str_from(x->w->name), "entr") && wrap_inner(x) < x->c->n)
        leaf_inner_text(x->sh, x->leaf, x->c->argv[wrap_inner(x)].w.text, false);
    else
        leaf_inner(x->sh, x->leaf, x->c, wrap_inner(x), false);
    if (wrap_inner(x) >= x->c->n)
        run_input(x);
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
    wrap_opaque(x, "runs a string out of sight");
    if (x->w->power)
        effect_net(x->sh, x->leaf, str_from(NULL));
    size_t i = wrap_inner(x);
    while (i < x->c->n && str_is(x->c->argv[i].w.text, "--")) /* ssh HOST -- COMMAND */
        i++;
    hide_words(x->sh, x->leaf, x->from, x->o.unknown ? x->c->n : i, x->o.unknown);
    if (i < x->c->n)
        leaf_inner_text(x->sh, x->leaf, join(x->sh, x->c, i, x->c->n), false);
    if (str_is(str_from(x->w->name), "parallel"))
        parallel_operands(x, i);
    if (i >= x->c->n)
        run_input(x);
    if (x->o.unknown)
        wrap_guess(x, x->from);
}

/* concurrently "a" "b", nodemon --exec "a", nix-shell --run "a" */
static void
run_words_text(struct wrap *x)
{
    wrap_opaque(x, "runs strings out of sight");
    hide_words(x->sh, x->leaf, x->from, x->c->n, x->o.unknown);
    if (x->o.value['x'])
        leaf_inner_text(x->sh, x->leaf, x->o.value['x']->w.text, false);
    for (size_t i = x->w->skip; i < x->o.n_operands; i++)
        leaf_inner_text(x->sh, x->leaf, x->c->argv[x->o.operands[i]].w.text, false);
    if (x->o.unknown)
        wrap_guess(x, x->from);
    if (!x->o.n_operands && !x->o.value['x'])
        run_input(x);
}

static void
run_flock(struct wrap *x)
{
    wrap_opaque(x, "runs another program out of sight");
    const struct word *s = x->o.value['c'];
    size_t i = wrap_inner(x);
    /* "flock FILE -c STRING": the option comes behind the operand. */
    for (size_t k = 1; k + 1 < x->c->n && !s; k++)
        if (x->c->argv[k].w.known &&
            (str_is(x->c->argv[k].w.text, "-c") || str_is(x->c->argv[k].w.text, "--command")))
            s = &x->c->argv[k + 1];
    for (size_t k = 1; k + 1 < x->c->n && !s && i >= x->c->n; k++)
        if (str_is(x->c->argv[k].w.text, "--")) /* script FILE -- COMMAND */
            i = k + 1;
    /* script FILE COMMAND, as BSD has it */
    if (!s && i >= x->c->n && x->o.n_operands > 1 && str_is(str_from(x->w->name), "script"))
        i = x->o.operands[1];
    if (s)
        leaf_inner_text(x->sh, x->leaf, s->w.text, false);
    else if (i < x->c->n)
        leaf_inner(x->sh, x->leaf, x->c, i, false);
    else
        run_input(x);
}

/* "env -S '-i PROGRAM' A" is "env -i PROGRAM A", for deny. */
static void
env_split(struct wrap *x)
{
    struct buf b;
    struct str s = str_trim(x->o.value['S']->w.text);
    if (!str_starts(s, "-")) {
        leaf_inner_text(x->sh, x->leaf, s, false);
        return;
    }
    buf_init(&b, SH_PARSE_BYTES);
    buf_adds(&b, "env ");
    buf_add_str(&b, s);
    buf_addc(&b, ' ');
    buf_add_str(&b, join(x->sh, x->c, x->o.n_operands ? x->o.operands[0] : x->c->n, x->c->n));
    leaf_inner_text(x->sh, x->leaf, arena_str(x->sh->a, buf_str(&b)), false);
    buf_release(&b);
}

static void
run_env(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    size_t i = wrap_inner(x), first = x->o.n_operands ? x->o.operands[0] : c->n;
    bool safe = x->trusted && first == 1 && !x->o.unknown && !arg_is(c, first, "-");
    for (size_t k = first; k < i; k++) {
        struct word v = c->argv[k];
        if (arg_is(c, k, "-"))
            continue;
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
    wrap_opaque(x, i < c->n ? "runs another program" : "prints the environment");
    if (i >= c->n && !x->o.unknown && !x->o.value['S'])
        leaf_at(sh, x->leaf)->cls = CLASS_UNKNOWN;
    if (x->o.value['S'])
        env_split(x);
    if (x->o.unknown || (i < c->n && arg_is(c, first, "-") && str_starts(c->argv[i].w.text, "-")))
        wrap_guess(x, x->from);
    else
        leaf_inner(sh, x->leaf, c, i, false);
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
    inner_named(x, name, wrap_inner(x)); /* "-mpip": its value is no word of its own */
}

static void
run_interpreter(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    size_t i = wrap_inner(x);
    bool version =
        c->n == 2 && (str_is(c->argv[1].w.text, "--version") || str_is(c->argv[1].w.text, "-V") ||
                      str_is(c->argv[1].w.text, "-v"));
    bool stdin_code = i >= c->n || arg_is(c, i, "-") || word_is_input(sh, &c->argv[i]);
    bool code = x->o.bad || x->w->sub || (stdin_code && !version && !x->o.seen['m']);
    effect_unknown(sh, x->leaf,
                   code ? "runs code of another language" : "what this program does is not known");
    leaf_at(sh, x->leaf)->cls = code ? CLASS_DANGER : CLASS_UNKNOWN;
    if (i < c->n && !code)
        effect_add(sh, x->leaf, EFFECT_EXEC, &c->argv[i]);
    program_guess_reads(sh, x->leaf, c, 1);
    hide_words(sh, x->leaf, 1, c->n, code && !stdin_code);
    if (stdin_code)
        hide_input(sh, x->leaf, c);
    else if (!x->o.bad && !x->o.seen['m'])
        wrap_hide_script(x, i);
    if (x->o.seen['m'])
        run_module(x);
}

/* "!CMD" of editors and debuggers, "shell CMD", ".shell CMD". */
static struct str
without_escape(struct str s)
{
    static const char *const verbs[] = {"shell ", ".shell ", ".system ",      "platform shell ",
                                        "exec ",  "spawn ",  "split-window ", "new-window "};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_starts(s, verbs[i]))
            return str_sub(s, strlen(verbs[i]), s.len);
    size_t bang = str_find(s, '!', 0);
    return bang < 12 && bang + 1 < s.len ? str_sub(s, bang + 1, s.len) : s;
}

static void
guess_text(struct wrap *x, struct str s)
{
    size_t eq = str_find(s, '=', 0), blank = str_find(s, ' ', 0);
    if (str_starts(s, "-") && eq < blank) /* "--run=COMMAND" */
        s = str_sub(s, eq + 1, s.len);
    else if (str_starts(s, "-") && s.len > 2 && s.ptr[1] != '-')
        s = str_sub(s, 2, s.len); /* "-xCOMMAND" */
    leaf_inner_text(x->sh, x->leaf, without_escape(s), false);
}

/* What it is told to run, for deny: each operand may be a command line, or begin one. */
enum { GUESS_TEXTS = 24, GUESS_WORDS = 8 };

static void
guess_words(struct wrap *x, size_t end)
{
    const struct command *c = x->c;
    for (size_t i = x->from; i < end && i < GUESS_TEXTS; i++)
        if (c->argv[i].w.known && c->argv[i].quoted && c->argv[i].w.text.len > 1 &&
            memchr(c->argv[i].w.text.ptr, ' ', c->argv[i].w.text.len))
            guess_text(x, c->argv[i].w.text);
    /* new-session -d COMMAND..., screen -dm COMMAND... */
    for (size_t i = x->from; i < c->n && end == c->n; i++)
        if (i < x->from + GUESS_WORDS && c->argv[i].w.known && c->argv[i].w.text.len &&
            c->argv[i].w.text.ptr[0] != '-' && !c->argv[i].quoted)
            leaf_inner(x->sh, x->leaf, c, i, false);
}

/* at, batch and "crontab -" read what they are to run. */
static bool
reads_commands(const struct wrap *x)
{
    const struct command *c = x->c;
    struct str name = str_from(x->w->name);
    if (str_is(name, "crontab"))
        return c->n > 1 && str_is(c->argv[c->n - 1].w.text, "-");
    if (!str_is(name, "at") && !str_is(name, "batch"))
        return false;
    for (size_t i = 1; i < c->n; i++)
        if (!c->argv[i].w.known || (c->argv[i].w.text.len > 1 && c->argv[i].w.text.ptr[0] == '-' &&
                                    strchr("fldrcV", c->argv[i].w.text.ptr[1])))
            return false;
    return true;
}

static void
run_guess(struct wrap *x)
{
    const struct command *c = x->c;
    wrap_opaque(x, "runs or steers something out of sight");
    hide_words(x->sh, x->leaf, x->from, c->n, true);
    hide_input(x->sh, x->leaf, c);
    size_t dashes = x->from;
    while (dashes < c->n && !str_is(c->argv[dashes].w.text, "--") &&
           !str_is(c->argv[dashes].w.text, "--args"))
        dashes++;
    if (dashes + 1 < c->n)
        leaf_inner(x->sh, x->leaf, c, dashes + 1, false);
    guess_words(x, dashes);
    if (c->doc)
        leaf_inner_text(x->sh, x->leaf, c->doc->body, false);
    else if (c->herestring)
        leaf_inner_text(x->sh, x->leaf, c->herestring->w.text, false);
    else if (reads_commands(x))
        leaf_inner_text(x->sh, x->leaf, STR("\"$stdin\""), false);
}

/* kubectl exec POD [-c NAME] -- COMMAND */
static void
run_dashes(struct wrap *x)
{
    const struct command *c = x->c;
    wrap_opaque(x, "runs another program out of sight");
    size_t i = x->from;
    while (i < c->n && !str_is(c->argv[i].w.text, "--"))
        i++;
    hide_words(x->sh, x->leaf, x->from, i, false);
    if (x->o.value['c'] && x->o.value['c']->quoted)
        leaf_inner_text(x->sh, x->leaf, x->o.value['c']->w.text, false);
    if (i + 1 < c->n)
        leaf_inner(x->sh, x->leaf, c, i + 1, false);
    else
        wrap_guess(x, x->from);
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

/* Programs that are another one under a longer or a shorter name, for deny: "git-push x" is "git push x", "uv pip" is "pip". */
static void
run_alias(struct wrap *x, struct str name)
{
    const struct command *c = x->c;
    if (str_is(name, "uv") && c->n > 1 && str_is(c->argv[1].w.text, "pip"))
        leaf_inner(x->sh, x->leaf, c, 1, false);
    if (!str_starts(name, "git-") || name.len < 5)
        return;
    struct command in = *c;
    in.argv = arena_alloc(x->sh->a, (c->n + 1) * sizeof *in.argv);
    in.argv[0] = in.argv[1] = c->argv[0];
    in.argv[0].w.text = STR("git");
    in.argv[1].w.text = str_sub(name, 4, name.len - 4);
    memcpy(in.argv + 2, c->argv + 1, (c->n - 1) * sizeof *in.argv);
    in.n = c->n + 1;
    leaf_inner(x->sh, x->leaf, &in, 0, false);
}

bool
wrapper_run(struct sh *sh, size_t leaf, const struct command *c)
{
    struct wrap x = {.sh = sh, .leaf = leaf, .c = c};
    struct str name = program_name(c->argv[0].w.text, &x.trusted);
    run_alias(&x, name);
    if (version_run(sh, leaf, c))
        return true;
    x.w = wrapper_find(name, c, &x.from);
    struct str plain = without_version(name);
    if (!x.w && plain.len < name.len) {
        const struct wrapper *w = wrapper_find(plain, c, &x.from);
        x.w = w && w->kind == W_INTERP ? w : NULL;
    }
    if (x.w && x.w->kind == W_GUESS && c->n == 1 && program_find(name))
        x.w = NULL; /* "arch" alone tells of the machine */
    if (!x.w)
        return false;
    static void (*const run[])(struct wrap *) = {
        [W_CLEAR] = run_clear,        [W_RUN] = run_words,
        [W_RUNNER] = run_words,       [W_DASHES] = run_dashes,
        [W_TEXT] = run_text,          [W_WORDS_TEXT] = run_words_text,
        [W_SHELL] = wrap_shell,       [W_ENV] = run_env,
        [W_XARGS] = wrap_xargs,       [W_FLOCK] = run_flock,
        [W_INTERP] = run_interpreter, [W_GUESS] = run_guess,
    };
    if (x.w->kind != W_SHELL && x.w->kind != W_GUESS)
        options_parse(sh, leaf, c, x.from, &x.w->spec, &x.o);
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
