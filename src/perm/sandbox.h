#pragma once
/*
 * The runtime sandbox: what this machine can confine with, what a session's commands may do, and the argv that starts one
 * inside. The chain says what may run; this is the wall for the day it is wrong.
 *
 *     probe once -> sandbox_plan (policy of the session) -> sandbox_argv (each command) -> proc_start -> sandbox_explain (its failure)
 *
 * A confined command is started as `yare --supervise ... -- yare --confine FD|FILE -- bash ...`: --confine (perm/confine.h) reads the plan,
 * sets caps, no_new_privs and seccomp, then either executes bubblewrap or restricts itself by Landlock, and executes
 * the command. It fails closed: what cannot be confined as planned does not run, and says which step failed.
 *
 * Back ends and what they promise:
 *   bwrap     own user, mount, pid, ipc, uts and net namespace, no capability, new session; writes only to the writable roots,
 *             protected paths below them read-only (also ones that do not exist yet), denied reads masked, /run and agent sockets hidden
 *   landlock  + seccomp: writes outside the roots, network, ptrace, mounts, and what the ABI adds. No hole inside a granted root:
 *             protected paths and denied reads below a root are NOT enforced, so nothing is auto-allowed on its strength
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"

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

/* Found by trying, once a process (it starts bwrap: some 10 ms), from any thread; later calls return the same. */
struct sandbox_probe {
    char *bwrap;      /* its path; NULL: not on PATH, or it could not make a sandbox here */
    char *bwrap_why;  /* why not, for people; NULL when usable */
    int landlock_abi; /* 0: the kernel has none */
    bool seccomp;
    bool cgroup; /* a cgroup where memory and pids caps can be set */
};
const struct sandbox_probe *sandbox_probe(void);
/* What `want` gives on this machine; SANDBOX_NONE with *ret_why (yours) when it cannot be had. */
enum sandbox_kind sandbox_choose(enum sandbox_want want, const struct sandbox_probe *p,
                                 char **ret_why);

struct sandbox_caps {     /* 0: no cap */
    int64_t memory_bytes; /* of the whole tree */
    int64_t file_bytes;   /* one file (RLIMIT_FSIZE) */
    int processes;        /* of the whole tree */
    int cpu_seconds;      /* one process (RLIMIT_CPU) */
};

/* The policy of a session's commands. Owns its strings; immutable once made, so any thread may read it. */
struct sandbox_plan {
    enum sandbox_kind kind; /* never SANDBOX_NONE */
    char *bwrap;
    char **writable;   /* absolute, resolved: root, cwd's repository parts, temp, allowWrite */
    char **read_only;  /* below the writable ones: protected paths, also where nothing is yet */
    char **unreadable; /* secrets and denyRead, files or folders */
    char **readable;   /* holes in unreadable: allowRead, toolchains */
    char *tmp;         /* the command's own temporary folder, TMPDIR inside */
    bool network;      /* open; false: none but the proxy below */
    char *
        proxy_socket; /* unix socket of the loopback proxy (perm/proxy.h), NULL: no network at all */
    struct sandbox_caps caps;
};

/* Reads sandbox.* of the settings and the Read/Edit deny rules; NULL with err when the settings are bad. Relative paths count from root. */
struct perm_rules;
struct sandbox_place {
    const char *root, *cwd, *home, *config_dir, *data_dir, *spill_dir;
    const char *const *additional_dirs;
    size_t n_additional_dirs;
};
struct sandbox_plan *sandbox_plan_new(enum sandbox_kind kind, const struct sandbox_place *at,
                                      const struct config *cfg, const struct perm_rules *rules,
                                      struct err *err);
void sandbox_plan_free(struct sandbox_plan *p);

/* Does the plan hold what `sandbox.autoAllowBashIfSandboxed` stands on (bwrap: yes; landlock: no)? */
bool sandbox_plan_proves(const struct sandbox_plan *p);

/* One command. The strings live until sandbox_command_release, which also removes what the command left of placeholders. */
struct sandbox_command {
    char **argv; /* NULL-terminated: for proc_spec.argv */
    char *
        note; /* the file in which --confine and the supervisor write which limit was hit; NULL: none */
};
bool sandbox_command_init(struct sandbox_command *c, const struct sandbox_plan *p, const char *cwd,
                          const char *const *argv, struct err *err) MUST_CHECK;
void sandbox_command_release(struct sandbox_command *c);

/* A line for the model and the person when the sandbox is the likely cause of a command's failure ("the sandbox has no network:
 * ..."), with what would lift it. Looks at the note, the exit status and the output. False: nothing points to it. */
bool sandbox_explain(const struct sandbox_plan *p, const struct sandbox_command *c, int wait_status,
                     struct str output, struct buf *out);

/* Lines for doctor and /permissions: what is confined and what is not, {"name","value"} pairs appended to a JSON array opened by the caller. */
struct jw;
void sandbox_describe(const struct sandbox_plan *p, const struct sandbox_probe *probe,
                      struct jw *w);
