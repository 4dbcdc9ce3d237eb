#pragma once
/*
 * The runtime sandbox: what this machine can confine with, what a session's commands may do, and the argv that starts one
 * inside. The chain says what may run; this is the wall for the day it is wrong. docs/sandbox.md has the whole mechanism.
 *
 *     probe once -> sandbox_choose -> sandbox_plan_new (policy of the session)
 *     each command: sandbox_command_init -> proc_start (argv, caps) -> sandbox_explain (its failure) -> sandbox_command_release
 *
 * A confined command is started as `yare --supervise ... -- yare --confine PLAN -- bash ...`: --confine (perm/confine.h) reads the plan,
 * sets limits, no_new_privs and seccomp, then either starts bubblewrap or restricts itself by Landlock, and executes
 * the command. It fails closed: what cannot be confined as planned does not run, and says which step failed.
 *
 * Back ends and what they promise:
 *   bwrap     own user, mount, pid, ipc, uts and net namespace (loopback works inside, nothing else), no capability, new session; writes
 *             only to the writable roots, protected paths below them read-only (also the first-level ones that do not exist yet), denied
 *             reads masked, /run and the sockets of the machine hidden, /tmp is the plan's own folder
 *   landlock  + seccomp: writes outside the roots, reads of the secrets outside the roots, all sockets but pairs (when the network is off),
 *             ptrace, mounts, and what the ABI adds (6: signals to outside). No hole inside a granted root: protected paths and denied
 *             reads below a root are NOT enforced, so nothing is auto-allowed on its strength
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/proc.h"

enum sandbox_kind { SANDBOX_NONE, SANDBOX_BWRAP, SANDBOX_LANDLOCK };
const char *sandbox_kind_name(enum sandbox_kind k); /* "off", "bwrap", "landlock" */

/* What a person asked for: --sandbox, else sandbox.enabled. */
enum sandbox_want {
    SANDBOX_WANT_OFF,
    SANDBOX_WANT_AUTO,
    SANDBOX_WANT_BWRAP,
    SANDBOX_WANT_LANDLOCK
};
bool sandbox_want_parse(const char *s, enum sandbox_want *ret);

/* Found by trying, once a process (it starts both back ends: some 20 ms), from any thread; later calls return the same. */
struct sandbox_probe {
    char *bwrap;        /* its path; NULL: not installed, or it could not make a sandbox here */
    char *bwrap_why;    /* why not, for people; NULL when usable */
    int landlock_abi;   /* 0: the kernel has none, or it could not be used */
    char *landlock_why; /* why not; NULL when usable */
    bool cgroup;        /* memory and pids caps by the kernel; else the supervisor counts */
};
const struct sandbox_probe *sandbox_probe(void);
/* What `want` gives on this machine; SANDBOX_NONE with *ret_why (yours; NULL when it was wanted off) when it cannot be had. */
enum sandbox_kind sandbox_choose(enum sandbox_want want, const struct sandbox_probe *p,
                                 char **ret_why);

struct sandbox_caps { /* 0: no cap */
    int64_t
        memory_bytes; /* of the whole tree; sandbox.limits.memoryMB, default 75 % of the machine's */
    int64_t file_bytes; /* one file (RLIMIT_FSIZE); sandbox.limits.fileMB, default 4096 */
    int processes; /* of the whole tree; sandbox.limits.processes, default 2048; threads count too */
    int cpu_seconds; /* one process (RLIMIT_CPU); sandbox.limits.cpuSeconds, default none */
};

struct sandbox_paths {
    char **v;
    size_t n, cap;
};

/* The policy of a session's commands. Owns its strings; immutable once made, so any thread may read it (the placeholders
 * of running commands have their own lock). */
struct sandbox_marks;
struct sandbox_plan {
    enum sandbox_kind kind; /* never SANDBOX_NONE */
    char *bwrap;
    char *root, *home;
    struct sandbox_paths
        writable; /* absolute, resolved: root, additional folders, repository parts, allowWrite */
    struct sandbox_paths read_only; /* below the writable ones: protected paths and denyWrite */
    struct sandbox_paths
        missing; /* protected names that are not there: kept from being made ('/' at the end: a folder) */
    struct sandbox_paths
        fixed; /* writable folders on the way to read_only, missing and other writable ones: they keep their names */
    struct sandbox_paths unreadable; /* secrets, denyRead and Read deny rules; files or folders */
    struct sandbox_paths readable;   /* holes in unreadable: allowRead, the session's kept output */
    struct sandbox_paths
        unproven; /* what this plan cannot keep, a sentence each: sandbox_plan_proves is false */
    char *tmp;    /* the commands' own temporary folder, TMPDIR inside; bwrap: also what /tmp is */
    bool own_tmp; /* made here, removed by sandbox_plan_free */
    bool network; /* open; false: none but the proxy below */
    char *
        proxy_socket; /* unix socket of the proxy (perm/proxy.h); NULL: no network at all. bwrap only */
    struct sandbox_caps caps;
    struct sandbox_marks *marks;
};

/* sandbox.NAME of the settings; an untrusted project's own files give it its tighter value alone. */
bool sandbox_flag(const struct config *cfg, bool trusted, const char *name, bool tighter,
                  bool fallback);
/* Is each part of the command named by sandbox.excludedCommands, or known to read only, and one at least named? Judged as allow rules
 * are, so that nothing hides in an excluded command. */
struct perm_request;
bool sandbox_excludes(const struct config *cfg, const struct perm_request *of);

/* Port on 127.0.0.1 inside at which --confine offers proxy_socket; HTTP_PROXY, HTTPS_PROXY and ALL_PROXY (either case) name it. */
#define SANDBOX_PROXY_PORT 3128

/* Reads sandbox.* of the settings and the Read/Edit deny rules; NULL with err when it cannot be made. Relative paths of settings
 * count from root. What widens (allowWrite, allowRead, limits, a network without bounds: allowedDomains with "*") counts from an
 * untrusted project's own files not at all. Walks the writable roots (bounded, some ms): not on the way to the first frame. */
struct perm_rules;
struct sandbox_place {
    const char *root, *cwd, *home, *config_dir, *data_dir;
    const char
        *spill_dir; /* the session's kept output: readable though it lies in data_dir; NULL: none */
    const char *const *kept_dirs; /* the same of the sessions that this one is a fork of */
    size_t n_kept_dirs;
    const char *const *additional_dirs;
    size_t n_additional_dirs;
    const char *
        tmp; /* a folder for temporary files that the caller keeps, 0700; NULL: made and removed here */
    const char *proxy_socket; /* NULL: none */
    bool trusted;             /* the folder */
};
struct sandbox_plan *sandbox_plan_new(enum sandbox_kind kind, const struct sandbox_place *at,
                                      const struct config *cfg, const struct perm_rules *rules,
                                      struct err *err);
void
sandbox_plan_free(struct sandbox_plan *p); /* after its last command was released; NULL is fine */

/* Does the plan hold what `sandbox.autoAllowBashIfSandboxed` stands on (bwrap: yes, unless something is unproven; landlock: no)? */
bool sandbox_plan_proves(const struct sandbox_plan *p);

/* One command. The strings live until sandbox_command_release, which also takes the placeholders away; call it when the whole tree is
 * gone (a background command: at its end), not when the first process ended. Any thread. */
struct sandbox_command {
    const char **argv;     /* NULL-terminated: for proc_spec.argv */
    struct proc_caps caps; /* for proc_spec.caps (by pointer: must outlive the start) */
    /* The rest is sandbox.c's. */
    int plan_fd, note_fd;
    char *plan_path, *note_path;
    struct sandbox_marks *marks;
    struct sandbox_paths placed;
    char *cwd;
    char *script; /* the last word of what was given: a shell's script */
};
/* cwd: where it will run (proc_spec.cwd). own_file: one more file that it may write, wherever that lies (where Bash's shell
 * notes its folder); NULL: none. Environment: TMPDIR and the proxy variables are set, agents' and displays' addresses
 * unset, by --confine; the caller gives the environment that it would without. */
bool sandbox_command_init(struct sandbox_command *c, const struct sandbox_plan *p, const char *cwd,
                          const char *own_file, const char *const *argv,
                          struct err *err) MUST_CHECK;
void sandbox_command_release(struct sandbox_command *c); /* zeroed, released: fine */

/* A sentence or two for the model and the person when the sandbox is the likely cause of a command's failure ("the sandbox has no network:
 * ..."), with what would lift it. Looks at the note, the exit status and the output, and checks the paths it names against the plan. False:
 * nothing points to it. */
bool sandbox_explain(const struct sandbox_plan *p, const struct sandbox_command *c, int wait_status,
                     struct str output, struct buf *out);

/* Lines for doctor and /permissions: what is confined and what is not, {"name","value"} pairs appended to a JSON array opened by the caller. */
struct jw;
void sandbox_describe(const struct sandbox_plan *p, const struct sandbox_probe *probe,
                      struct jw *w);
