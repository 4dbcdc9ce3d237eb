/*
 * Programs of the system that run other programs, as data: how their options and operands are passed over to find what they run.
 * Rows of containers and remote hosts are in wrappers_boxes.c, those of package runners and interpreters in wrappers_runners.c;
 * wrappers_guess.c has those of which no more than the name is known.
 */
#include "perm/globals.h"
#include "perm/name_index.h"
#include "perm/wrappers.h"

static const struct wrapper rows[] = {
    ROW("timeout", NULL, W_CLEAR, 1, false, "k:s:vfp",
        "kill-after= signal= verbose foreground preserve-status"),
    {"nice",
     NULL,
     W_CLEAR,
     0,
     false,
     {.shorts = "n:", .longs = "adjustment=", .posix = true, .numbers = true}},
    NAMED("nohup", NULL, W_CLEAR, 0, false),
    ROW("time", NULL, W_CLEAR, 0, false,
        "pavqo>f:", "append format= output=> portability quiet verbose"),
    ROW("stdbuf", NULL, W_CLEAR, 0, false, "i:o:e:", "input= output= error="),
    ROW("command", NULL, W_CLEAR, 0, false, "p!", NULL),
    NAMED("builtin", NULL, W_CLEAR, 0, false),
    NAMED("coproc", NULL, W_CLEAR, 0, false),
    ROW("env", NULL, W_ENV, 0, false, "i0u:C:S:v",
        "ignore-environment null unset= chdir= split-string/S=: debug"),
    ROW("xargs", NULL, W_XARGS, 0, false, "0rtpxoa:d:E:I:i?L:l?n:P:s:e?",
        "null/0 no-run-if-empty/r verbose/t interactive exit open-tty arg-file= delimiter/d= eof=? "
        "replace/i=? max-lines=? max-args/n= max-procs/P= max-chars= show-limits"),
    ROW("sudo", NULL, W_RUN, 0, true, "ABbEeHiKklNnPSsVvC:D:g:h:p:R:r:t:T:U:u:",
        "askpass background preserve-env=? edit set-home login non-interactive preserve-groups "
        "stdin shell chdir= group= host= prompt= user= chroot= role= type= other-user= "
        "command-timeout="),
    ROW("doas", NULL, W_RUN, 0, true, "Lnsa:C:u:", NULL),
    ROW("pkexec", NULL, W_RUN, 0, true, NULL, "user= disable-internal-agent keep-cwd"),
    ROW("run0", NULL, W_RUN, 0, true, "u:g:D:", "user= group= chdir="),
    NAMED("runuser", NULL, W_SHELL, 0, true),
    NAMED("su", NULL, W_SHELL, 0, true),
    {"sg", NULL, W_TEXT, 1, true, {.shorts = "c", .longs = NULL}},
    ROW("chroot", NULL, W_RUN, 1, true, NULL, "userspec= groups= skip-chdir"),
    ROW("unshare", NULL, W_RUN, 0, true, "muinpUCTfrcR:w:S:G:",
        "mount=? uts=? ipc=? net=? pid=? user=? cgroup=? fork map-root-user map-current-user "
        "mount-proc=? kill-child=? root= wd="),
    ROW("nsenter", NULL, W_RUN, 0, true, "at:m?u?i?n?p?U?C?T?S:G:w?r?FZe",
        "all target= mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=? setuid= setgid= root=? "
        "wd=? wdns= no-fork preserve-credentials env"),
    ROW("systemd-run", NULL, W_RUN, 0, true, "p:u:E:tPGqd",
        "user scope unit= property= pty pipe wait setenv= uid="),
    ROW("setsid", NULL, W_RUN, 0, false, "cfw", "ctty fork wait"),
    ROW("ionice", NULL, W_RUN, 0, false, "c:n:p:P:tu:", "class= classdata= pid= ignore"),
    ROW("chrt", NULL, W_RUN, 1, false, "bdfiormaRT:P:D:v",
        "batch deadline fifo idle other rr max all-tasks reset-on-fork sched-runtime= "
        "sched-deadline= sched-period= verbose"),
    ROW("taskset", NULL, W_RUN, 1, false, "acp", NULL),
    ROW("strace", NULL, W_RUN, 0, false, "cCfFiqrtTvxyhVDa:b:e:I:o:O:p:P:s:S:u:E:X:", NULL),
    ROW("ltrace", NULL, W_RUN, 0, false, "cCfirtSe:o:p:s:u:", NULL),
    ROW("watch", NULL, W_TEXT, 0, false, "bcdegn:pqtwxr",
        "beep color differences=? errexit chgexit interval= precise no-title no-wrap exec"),
    ROW("flock", NULL, W_FLOCK, 1, false, "exsunoFvE:w:c:",
        "exclusive shared unlock nonblock nb close no-fork verbose conflict-exit-code= timeout= "
        "wait= command/c=:"),
    ROW("parallel", NULL, W_TEXT, 0, false, "j:n:N:k0I:a:X",
        "jobs= keep-order bar eta halt= dry-run"),
    {"script",
     NULL,
     W_FLOCK,
     9,
     false,
     {.shorts = "aefqc:t?O:", .longs = "append command/c=: return flush quiet"}},
    ROW("unbuffer", NULL, W_RUN, 0, false, "p", NULL),
    ROW("caffeinate", NULL, W_RUN, 0, false, "dimsut:w:", NULL),
    ROW("prlimit", NULL, W_RUN, 0, false, "p:o:c?d?e?f?i?l?m?n?q?r?s?t?u?v?x?y?",
        "noheadings raw verbose pid= output= core=? data=? nofile=? nproc=? as=? cpu=? fsize=? "
        "stack=?"),
    ROW("setarch", NULL, W_RUN, 0, false, "BFILRSTXZvq", "32bit addr-no-randomize verbose show=?"),
    ROW("linux64", NULL, W_RUN, 0, false, "BFILRSTXZv", NULL),
    ROW("linux32", NULL, W_RUN, 0, false, "BFILRSTXZv", NULL),
    ROW("choom", NULL, W_RUN, 0, false, "n:p:", "adjust= pid="),
    ROW("numactl", NULL, W_RUN, 0, false, "abci:m:N:C:p:ls",
        "all balancing interleave= membind= cpunodebind= physcpubind= localalloc preferred= show "
        "hardware"),
    ROW("cpulimit", NULL, W_RUN, 0, false, "l:p:e:P:zibfvk",
        "limit= pid= exe= path= lazy background foreground"),
    ROW("setpriv", NULL, W_RUN, 0, true, NULL,
        "reuid= regid= clear-groups keep-groups init-groups groups= inh-caps= ambient-caps= "
        "bounding-set= no-new-privs nnp reset-env pdeathsig="),
    ROW("valgrind", NULL, W_RUN, 0, false, "qvhd",
        "tool= leak-check= show-leak-kinds= track-origins= error-exitcode= log-file= suppressions= "
        "gen-suppressions= num-callers= xml= xml-file= trace-children= quiet verbose fair-sched= "
        "read-var-info= show-reachable= track-fds= child-silent-after-fork= undef-value-errors= "
        "main-stacksize= max-stackframe="),
    ROW("rr", "record", W_RUN, 0, false, "nhcw", "no-syscall-buffer chaos"),
    ROW("perf", "record", W_RUN, 0, false,
        "age:F:o:c:p:t:vqC:", "call-graph= all-cpus output= freq= event= pid="),
    ROW("perf", "stat", W_RUN, 0, false,
        "ade:r:o:x:p:vC:", "event= repeat= output= detailed field-separator="),
    ROW("perf", "trace", W_RUN, 0, false, "ae:o:p:s", "event= output= summary"),
    ROW("entr", NULL, W_RUN, 0, false, "acdnprsxz", NULL),
    NAMED("busybox", NULL, W_RUN, 0, false),
    NAMED("toybox", NULL, W_RUN, 0, false),
    NAMED("coreutils", NULL, W_RUN, 0, false),
    NAMED("sbase-box", NULL, W_RUN, 0, false),
    NAMED("ubase-box", NULL, W_RUN, 0, false),
    NAMED("sh", NULL, W_SHELL, 0, false),
    NAMED("bash", NULL, W_SHELL, 0, false),
    NAMED("dash", NULL, W_SHELL, 0, false),
    NAMED("zsh", NULL, W_SHELL, 0, false),
    NAMED("ksh", NULL, W_SHELL, 0, false),
    NAMED("ash", NULL, W_SHELL, 0, false),
    NAMED("fish", NULL, W_SHELL, 0, false),
};
const struct wrapper_table wrappers_system = {rows, ARRAY_LEN(rows)};

/* Index of the word behind the program's sub-commands `sub`, which options may precede; 0: they are not there. */
static size_t
behind_sub(const char *program, const char *sub, const struct command *c)
{
    const struct globals *g = globals_of(str_from(program), false);
    struct str rest = str_from(sub), word;
    size_t i = 1;
    while (str_split(&rest, ' ', &word)) {
        for (; i < c->n && c->argv[i].w.known && !str_eq(c->argv[i].w.text, word); i++) {
            struct str s = c->argv[i].w.text;
            enum takes takes = str_starts(s, "-") ? globals_take(g, s) : TAKES_NONE;
            /* Whether it takes the next word is not known: unless that is the sub-command itself. */
            bool next_is = i + 1 < c->n && str_eq(c->argv[i + 1].w.text, word);
            if (takes == TAKES_NEXT || (takes == TAKES_UNSURE && !next_is && i + 2 < c->n &&
                                        str_eq(c->argv[i + 2].w.text, word)))
                i++;
            else if (!str_starts(s, "-") && g && words_list(g->named, s))
                i++;
            else if (!str_starts(s, "-") && !(g && words_list(g->between, s)))
                return 0;
        }
        if (i >= c->n || !c->argv[i].w.known)
            return 0;
        i++;
    }
    return i;
}

static const struct wrapper *
find_in(const struct wrapper_table *t, struct name_index *ix, struct str name,
        const struct command *c, size_t *ret_from)
{
    for (size_t i = name_first(ix, t->v, t->n, sizeof *t->v, name); i != NAME_NONE;
         i = name_next(ix, i)) {
        const struct wrapper *w = &t->v[i];
        *ret_from = w->sub ? behind_sub(w->name, w->sub, c) : 1;
        if (*ret_from)
            return w;
    }
    return NULL;
}

const struct wrapper *
wrapper_find(struct str name, const struct command *c, size_t *ret_from)
{
    static const struct wrapper_table *const tables[] = {&wrappers_system, &wrappers_boxes,
                                                         &wrappers_runners, &wrappers_guess};
    static struct name_index index[ARRAY_LEN(tables)];
    const struct wrapper *w = NULL;
    for (size_t i = 0; i < ARRAY_LEN(tables) && !w; i++)
        w = find_in(tables[i], &index[i], name, c, ret_from);
    return w;
}
