/*
 * Programs that run other programs. Two ways to see through them (SECURITY 1, row 10): all of them for deny, only those whose
 * options are fully understood for allow. The first is a leaf marked inner, the second runs in the place of its wrapper.
 */
#include <string.h>

#include "perm/programs.h"

enum wrap_kind {
    W_CLEAR,  /* transparent when its options are understood */
    W_RUN,    /* runs the words behind its options and `skip` operands */
    W_RUNNER, /* likewise, a package runner: a rule for it as a whole is fine */
    W_TEXT,   /* joins the words into a shell string */
    W_SHELL,
    W_ENV,
    W_XARGS,
    W_FLOCK,
    W_INTERP, /* runs code of another language */
    W_DANGER, /* runs or steers something out of sight */
};
struct wrapper {
    const char *name, *sub; /* sub: the word that must follow */
    enum wrap_kind kind;
    size_t skip;
    bool power;
    struct optspec spec;
};

#define CONTAINER_LONGS                                                                            \
    "user= workdir= env= env-file= interactive tty detach privileged rm name= volume= "            \
    "network= entrypoint= platform= mount= publish= label= memory= cpus= hostname= init pull= "    \
    "gpus= ipc= pid="

static const struct wrapper wrappers[] = {
    {"timeout",
     NULL,
     W_CLEAR,
     1,
     false,
     {.shorts = "k:s:vfp",
      .longs = "kill-after= signal= verbose foreground preserve-status",
      .posix = true}},
    {"nice",
     NULL,
     W_CLEAR,
     0,
     false,
     {.shorts = "n:", .longs = "adjustment=", .numbers = true, .posix = true}},
    {"nohup", NULL, W_CLEAR, 0, false, {.posix = true}},
    {"time", NULL, W_CLEAR, 0, false, {.shorts = "p", .posix = true}},
    {"stdbuf",
     NULL,
     W_CLEAR,
     0,
     false,
     {.shorts = "i:o:e:", .longs = "input= output= error=", .posix = true}},
    {"command", NULL, W_CLEAR, 0, false, {.shorts = "p!", .posix = true}},
    {"builtin", NULL, W_CLEAR, 0, false, {.posix = true}},
    {"coproc", NULL, W_CLEAR, 0, false, {.posix = true}},
    {"env",
     NULL,
     W_ENV,
     0,
     false,
     {.shorts = "i0u:C:S:v",
      .longs = "ignore-environment null unset= chdir= split-string/S=: debug",
      .posix = true}},
    {"xargs",
     NULL,
     W_XARGS,
     0,
     false,
     {.shorts = "0rtpxoa:d:E:I:i?L:l?n:P:s:e?",
      .longs = "null no-run-if-empty verbose interactive exit "
               "open-tty arg-file= delimiter= eof=? replace=? max-lines=? max-args= max-procs= "
               "max-chars= show-limits",
      .posix = true}},
    {"sudo",
     NULL,
     W_RUN,
     0,
     true,
     {.shorts = "ABbEeHiKklNnPSsVvC:D:g:h:p:R:r:t:T:U:u:",
      .longs = "askpass background preserve-env=? edit "
               "set-home login non-interactive preserve-groups stdin shell chdir= group= host= "
               "prompt= user= "
               "chroot= role= type= other-user= command-timeout=",
      .posix = true}},
    {"doas", NULL, W_RUN, 0, true, {.shorts = "Lnsa:C:u:", .posix = true}},
    {"pkexec",
     NULL,
     W_RUN,
     0,
     true,
     {.longs = "user= disable-internal-agent keep-cwd", .posix = true}},
    {"run0",
     NULL,
     W_RUN,
     0,
     true,
     {.shorts = "u:g:D:", .longs = "user= group= chdir=", .posix = true}},
    {"runuser", NULL, W_SHELL, 0, true, {0}},
    {"su", NULL, W_SHELL, 0, true, {0}},
    {"chroot", NULL, W_RUN, 1, true, {.longs = "userspec= groups= skip-chdir", .posix = true}},
    {"unshare",
     NULL,
     W_RUN,
     0,
     true,
     {.shorts = "muinpUCTfrcR:w:S:G:",
      .longs = "mount=? uts=? ipc=? net=? pid=? user=? cgroup=? fork "
               "map-root-user map-current-user mount-proc=? kill-child=? root= wd=",
      .posix = true}},
    {"nsenter",
     NULL,
     W_RUN,
     0,
     true,
     {.shorts = "at:muinpUCTFr", .longs = "all target=", .posix = true}},
    {"systemd-run",
     NULL,
     W_RUN,
     0,
     true,
     {.shorts = "p:u:E:tPGqd",
      .longs = "user scope unit= property= pty pipe wait setenv= uid=",
      .posix = true}},
    {"ssh",
     NULL,
     W_TEXT,
     1,
     true,
     {.shorts = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:",
      .posix = true}},
    {"setsid", NULL, W_RUN, 0, false, {.shorts = "cfw", .longs = "ctty fork wait", .posix = true}},
    {"ionice",
     NULL,
     W_RUN,
     0,
     false,
     {.shorts = "c:n:p:P:tu:", .longs = "class= classdata= pid= ignore", .posix = true}},
    {"chrt", NULL, W_RUN, 1, false, {.shorts = "bdfiormaRT:P:D:v", .posix = true}},
    {"taskset", NULL, W_RUN, 1, false, {.shorts = "acp", .posix = true}},
    {"strace",
     NULL,
     W_RUN,
     0,
     false,
     {.shorts = "cCfFiqrtTvxyhVDa:b:e:I:o:O:p:P:s:S:u:E:X:", .posix = true}},
    {"ltrace", NULL, W_RUN, 0, false, {.shorts = "cCfirtSe:o:p:s:u:", .posix = true}},
    {"watch",
     NULL,
     W_TEXT,
     0,
     false,
     {.shorts = "bcdegn:pqtwxr",
      .longs = "beep color differences=? errexit chgexit interval= precise no-title no-wrap exec",
      .posix = true}},
    {"flock",
     NULL,
     W_FLOCK,
     1,
     false,
     {.shorts = "exsunoFvE:w:c:",
      .longs = "exclusive shared unlock nonblock nb close "
               "no-fork verbose conflict-exit-code= timeout= wait= command/c=:",
      .posix = true}},
    {"parallel",
     NULL,
     W_TEXT,
     0,
     false,
     {.shorts = "j:n:N:k0I:a:X", .longs = "jobs= keep-order bar eta halt= dry-run", .posix = true}},
    {"script",
     NULL,
     W_FLOCK,
     9,
     false,
     {.shorts = "aefqc:t?O:", .longs = "append command/c=: return flush quiet", .posix = false}},
    {"busybox", NULL, W_RUN, 0, false, {.posix = true}},
    {"toybox", NULL, W_RUN, 0, false, {.posix = true}},
    {"sh", NULL, W_SHELL, 0, false, {0}},
    {"bash", NULL, W_SHELL, 0, false, {0}},
    {"dash", NULL, W_SHELL, 0, false, {0}},
    {"zsh", NULL, W_SHELL, 0, false, {0}},
    {"ksh", NULL, W_SHELL, 0, false, {0}},
    {"ash", NULL, W_SHELL, 0, false, {0}},
    {"fish", NULL, W_SHELL, 0, false, {0}},
    {"npx",
     NULL,
     W_RUNNER,
     0,
     false,
     {.shorts = "yqp:c:",
      .longs = "yes no no-install install quiet package= call/c=: prefer-offline offline "
               "ignore-existing",
      .posix = true}},
    {"pnpx", NULL, W_RUNNER, 0, false, {.posix = true}},
    {"bunx", NULL, W_RUNNER, 0, false, {.longs = "bun", .posix = true}},
    {"uvx",
     NULL,
     W_RUNNER,
     0,
     false,
     {.shorts = "p:qv", .longs = "from= with= python= isolated offline quiet", .posix = true}},
    {"npm",
     "exec",
     W_RUNNER,
     0,
     false,
     {.shorts = "yc:", .longs = "yes no package= call/c=: workspace=", .posix = true}},
    {"npm",
     "x",
     W_RUNNER,
     0,
     false,
     {.shorts = "yc:", .longs = "yes no package= call/c=:", .posix = true}},
    {"pnpm", "dlx", W_RUNNER, 0, false, {.longs = "package= silent shell-mode", .posix = true}},
    {"pnpm",
     "exec",
     W_RUNNER,
     0,
     false,
     {.shorts = "rc", .longs = "recursive parallel", .posix = true}},
    {"yarn",
     "dlx",
     W_RUNNER,
     0,
     false,
     {.shorts = "p:q", .longs = "package= quiet", .posix = true}},
    {"yarn", "exec", W_RUNNER, 0, false, {.posix = true}},
    {"bun", "x", W_RUNNER, 0, false, {.posix = true}},
    {"uv",
     "run",
     W_RUNNER,
     0,
     false,
     {.shorts = "p:qvm:",
      .longs = "with= python= extra= group= all-extras no-sync frozen locked isolated offline "
               "no-project quiet active env-file= module=",
      .posix = true}},
    {"pipx", "run", W_RUNNER, 0, false, {.longs = "spec= python= no-cache", .posix = true}},
    {"poetry", "run", W_RUNNER, 0, false, {.posix = true}},
    {"pipenv", "run", W_RUNNER, 0, false, {.posix = true}},
    {"pdm", "run", W_RUNNER, 0, false, {.posix = true}},
    {"hatch", "run", W_RUNNER, 0, false, {.posix = true}},
    {"rye", "run", W_RUNNER, 0, false, {.posix = true}},
    {"conda",
     "run",
     W_RUNNER,
     0,
     false,
     {.shorts = "n:p:", .longs = "name= prefix= no-capture-output live-stream", .posix = true}},
    {"bundle", "exec", W_RUNNER, 0, false, {.posix = true}},
    {"mise", "exec", W_RUNNER, 0, false, {.posix = true}},
    {"direnv", "exec", W_RUNNER, 1, false, {.posix = true}},
    {"devbox",
     "run",
     W_RUNNER,
     0,
     false,
     {.shorts = "qe:", .longs = "quiet env= pure", .posix = true}},
    {"docker",
     "exec",
     W_RUN,
     1,
     true,
     {.shorts = "itdu:w:e:", .longs = CONTAINER_LONGS, .posix = true}},
    {"docker",
     "run",
     W_RUN,
     1,
     true,
     {.shorts = "itdPu:w:e:v:p:m:h:l:", .longs = CONTAINER_LONGS, .posix = true}},
    {"podman",
     "exec",
     W_RUN,
     1,
     true,
     {.shorts = "itdu:w:e:", .longs = CONTAINER_LONGS, .posix = true}},
    {"podman",
     "run",
     W_RUN,
     1,
     true,
     {.shorts = "itdPu:w:e:v:p:m:h:l:", .longs = CONTAINER_LONGS, .posix = true}},
    {"kubectl",
     "exec",
     W_RUN,
     1,
     true,
     {.shorts = "itc:n:", .longs = "container= namespace= stdin tty", .posix = true}},
    {"python", NULL, W_INTERP, 0, false, {.shorts = "bBdEiIOPqsSuvxW:X:c!m:Vh?", .posix = true}},
    {"python3", NULL, W_INTERP, 0, false, {.shorts = "bBdEiIOPqsSuvxW:X:c!m:Vh?", .posix = true}},
    {"python2", NULL, W_INTERP, 0, false, {.shorts = "bBdEiIOPqsSuvxW:X:c!m:Vh?", .posix = true}},
    {"node",
     NULL,
     W_INTERP,
     0,
     false,
     {.shorts = "e!p!vicr+",
      .longs = "eval! print! version check help require=+ import=+ loader=+ test watch",
      .posix = true}},
    {"nodejs",
     NULL,
     W_INTERP,
     0,
     false,
     {.shorts = "e!p!v", .longs = "eval! print! version", .posix = true}},
    {"bun", "-e", W_INTERP, 0, false, {.posix = true}},
    {"deno", "eval", W_INTERP, 0, false, {.posix = true}},
    {"perl", NULL, W_INTERP, 0, false, {.shorts = "e!E!nplaivwcTtUuWXs0?M+m+I+", .posix = true}},
    {"ruby",
     NULL,
     W_INTERP,
     0,
     false,
     {.shorts = "e!nplavwcWsSxr+I+", .longs = "version help", .posix = true}},
    {"php",
     NULL,
     W_INTERP,
     0,
     false,
     {.shorts = "r!B!R!F!E!vmilwsn", .longs = "version", .posix = true}},
    {"lua", NULL, W_INTERP, 0, false, {.shorts = "e!iv", .posix = true}},
    {"tclsh", NULL, W_INTERP, 0, false, {.posix = true}},
    {"expect", NULL, W_INTERP, 0, false, {.shorts = "c!f:", .posix = true}},
    {"osascript", NULL, W_INTERP, 0, false, {.shorts = "e!", .posix = true}},
    {"Rscript", NULL, W_INTERP, 0, false, {.shorts = "e!", .posix = true}},
    {"julia", NULL, W_INTERP, 0, false, {.shorts = "e!E!", .posix = true}},
    {"crontab", NULL, W_DANGER, 0, false, {0}},
    {"at", NULL, W_DANGER, 0, false, {0}},
    {"batch", NULL, W_DANGER, 0, false, {0}},
    {"tmux", NULL, W_DANGER, 0, false, {0}},
    {"screen", NULL, W_DANGER, 0, false, {0}},
    {"gdb", NULL, W_DANGER, 0, false, {0}},
    {"yare", NULL, W_DANGER, 0, false, {0}},
    {"claude", NULL, W_DANGER, 0, false, {0}},
    {"codex", NULL, W_DANGER, 0, false, {0}},
};

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
    return eq != (size_t)-1 && is_name(str_sub(s, 0, eq));
}

/* Where the inner command begins: behind the skipped operands and, for sudo and env, assignments. */
static size_t
inner_start(const struct wrap *x)
{
    size_t k = x->w->skip;
    if (k >= x->o.n_operands)
        return x->c->n;
    size_t i = x->o.operands[k];
    bool assigns = x->w->kind == W_ENV || x->w->power;
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
join(struct sh *sh, const struct command *c, size_t from)
{
    struct buf b;
    buf_init(&b, SH_PARSE_BYTES);
    for (size_t i = from; i < c->n; i++) {
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
    if (x->o.unknown)
        guess_inner(x, x->w->sub ? 2 : 1);
    else
        leaf_inner(x->sh, x->leaf, x->c, inner_start(x), false);
}

static void
run_text(struct wrap *x)
{
    opaque(x, "runs a string out of sight");
    if (x->w->power)
        effect_net(x->sh, x->leaf, str_from(NULL));
    size_t i = inner_start(x);
    if (i < x->c->n)
        leaf_inner_text(x->sh, x->leaf, join(x->sh, x->c, i), false);
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
    if (x->o.value['S'])
        leaf_inner_text(sh, x->leaf, x->o.value['S']->w.text, false);
    if (x->o.unknown)
        guess_inner(x, 1);
    else
        leaf_inner(sh, x->leaf, c, i, false);
}

/* Operands come from data: one unknown word stands for them. */
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
    struct command in = *c;
    in.argv = arena_alloc(sh->a, (c->n + 1) * sizeof *in.argv);
    memcpy(in.argv, c->argv, c->n * sizeof *in.argv);
    in.argv[in.n++] = word_unknown(STR("\"$@\""), true);
    bool trusted;
    struct str name = program_name(c->argv[i].w.text, &trusted);
    if (x->trusted && i == 1 && c->argv[i].w.known && trusted && program_harmless(name)) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        leaf_inner(sh, x->leaf, &in, i, true);
        return;
    }
    opaque(x, "its operands come from data");
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

static void
run_shell(struct wrap *x)
{
    struct sh *sh = x->sh;
    const struct command *c = x->c;
    bool with_c, su = x->w->power;
    size_t i = shell_options(c, su, &with_c);
    if (su && !with_c) /* su USER -c STRING */
        for (size_t k = i; k + 1 < c->n && !with_c; k++)
            if (str_is(c->argv[k].w.text, "-c") || str_is(c->argv[k].w.text, "--command")) {
                with_c = true;
                i = k + 1;
            }
    bool posix_shell = str_is(c->argv[0].w.text, "sh") || str_is(c->argv[0].w.text, "bash") ||
                       str_is(c->argv[0].w.text, "/bin/sh") ||
                       str_is(c->argv[0].w.text, "/bin/bash");
    bool literal = posix_shell && c->n == 3 && c->argv[1].w.known &&
                   str_is(c->argv[1].w.text, "-c") && c->argv[2].w.known && !c->argv[2].w.glob;
    if (literal) {
        leaf_at(sh, x->leaf)->cls = CLASS_READER;
        leaf_inner_text(sh, x->leaf, c->argv[2].w.text, true);
        return;
    }
    opaque(x, "runs a shell");
    if (with_c && i < c->n)
        leaf_inner_text(sh, x->leaf, c->argv[i].w.text, false);
    else if (i < c->n && !su) {
        effect_add(sh, x->leaf, EFFECT_READ, &c->argv[i]);
        effect_add(sh, x->leaf, EFFECT_EXEC, &c->argv[i]);
    } else if (c->doc)
        leaf_inner_text(sh, x->leaf, c->doc->body, false);
    else if (c->herestring)
        leaf_inner_text(sh, x->leaf, c->herestring->w.text, false);
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
}

static const struct wrapper *
find_wrapper(struct str name, const struct command *c)
{
    for (size_t i = 0; i < ARRAY_LEN(wrappers); i++) {
        if (!str_is(name, wrappers[i].name))
            continue;
        if (!wrappers[i].sub ||
            (c->n > 1 && c->argv[1].w.known && str_is(c->argv[1].w.text, wrappers[i].sub)))
            return &wrappers[i];
    }
    return NULL;
}

/* python3.11, perl5.36: the name with its version taken off. */
static struct str
without_version(struct str s)
{
    while (s.len > 3 && strchr("0123456789.", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool
wrapper_run(struct sh *sh, size_t leaf, const struct command *c)
{
    struct wrap x = {.sh = sh, .leaf = leaf, .c = c};
    struct str name = program_name(c->argv[0].w.text, &x.trusted);
    x.w = find_wrapper(name, c);
    if (!x.w) {
        const struct wrapper *w = find_wrapper(without_version(name), c);
        x.w = w && w->kind == W_INTERP ? w : NULL;
    }
    if (!x.w)
        return false;
    static void (*const run[])(struct wrap *) = {
        [W_CLEAR] = run_clear, [W_RUN] = run_words,   [W_RUNNER] = run_words,
        [W_TEXT] = run_text,   [W_SHELL] = run_shell, [W_ENV] = run_env,
        [W_XARGS] = run_xargs, [W_FLOCK] = run_flock, [W_INTERP] = run_interpreter,
    };
    if (x.w->kind == W_DANGER) {
        opaque(&x, "runs or steers something out of sight");
        return true;
    }
    if (x.w->kind != W_SHELL)
        options_parse(sh, leaf, c, x.w->sub ? 2 : 1, &x.w->spec, &x.o);
    if (memchr(c->argv[0].w.text.ptr, '/', c->argv[0].w.text.len))
        effect_add(sh, leaf, EFFECT_EXEC, &c->argv[0]);
    run[x.w->kind](&x);
    /* What runs in this very shell may move it. */
    bool same_shell = str_is(name, "command") || str_is(name, "builtin") || str_is(name, "time");
    if (!same_shell)
        sh_settle(sh);
    return true;
}
