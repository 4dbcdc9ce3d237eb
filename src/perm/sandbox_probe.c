/* What stands on this machine, found by really starting it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/supervise.h"
#include "perm/confine.h"
#include "perm/sandbox_parts.h"

enum { TRY_MS = 10000, SAID_MAX = 4096 };

/* Where only the system's own owner can put one: a project's could be anything. */
static char *
find_bwrap(void)
{
    static const char *const dirs[] = {"/usr/bin", "/bin", "/usr/local/bin",
                                       "/run/current-system/sw/bin"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        char *path = fs_join(dirs[i], "bwrap");
        struct stat st;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
            !(st.st_mode & (S_IWGRP | S_IWOTH)) && access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* NULL: it ended well; else why not, yours. */
static char *
try_it(const char *const *argv)
{
    struct proc_spec spec = {.argv = argv, .new_session = true, .cwd = "/"};
    struct err err = {0};
    struct buf said;
    int status;
    char *why = NULL;
    buf_init(&said, SAID_MAX);
    if (!proc_run(&spec, NULL, TRY_MS, &said, &status, &err)) {
        why = xstrdup(err.text);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        struct str line = str_trim(buf_str(&said));
        size_t nl = str_find(line, '\n', 0);
        line = nl == (size_t)-1 ? line : str_sub(line, 0, nl);
        why = line.len ? str_dup(line) : xasprintf("it ended with status %d", status);
    }
    buf_release(&said);
    return why;
}

static void
try_bwrap(struct sandbox_probe *p)
{
    char *path = find_bwrap();
    if (!path) {
        p->bwrap_why = xstrdup("bubblewrap is not installed (the package is called bubblewrap)");
        return;
    }
    const char *const argv[] = {path,
                                "--unshare-user",
                                "--unshare-pid",
                                "--unshare-ipc",
                                "--unshare-uts",
                                "--unshare-net",
                                "--cap-drop",
                                "ALL",
                                "--new-session",
                                "--ro-bind",
                                "/",
                                "/",
                                "--dev",
                                "/dev",
                                "--proc",
                                "/proc",
                                "--perms",
                                "0555",
                                "--tmpfs",
                                "/run",
                                "--remount-ro",
                                "/run",
                                "--",
                                "true",
                                NULL};
    char *why = try_it(argv);
    if (!why) {
        p->bwrap = path;
        return;
    }
    p->bwrap_why = xasprintf("%s makes no sandbox here: %s", path, why);
    free(why);
    free(path);
}

static void
try_landlock(struct sandbox_probe *p)
{
    const char *const argv[] = {"/proc/self/exe", "--confine", "try", NULL};
    const char *lower = getenv("YARE_TEST_LANDLOCK_ABI"); /* tests: as on an older kernel */
    p->landlock_abi = confine_landlock_abi();
    if (lower && atoi(lower) < p->landlock_abi)
        p->landlock_abi = atoi(lower) > 0 ? atoi(lower) : 0;
    if (!p->landlock_abi) {
        p->landlock_why = xstrdup("this kernel has no Landlock, or it is not switched on");
        return;
    }
    p->landlock_why = try_it(argv);
    if (p->landlock_why)
        p->landlock_abi = 0;
}

static struct sandbox_probe found;

static void
probe(void)
{
    if (confine_is_possible()) {
        try_bwrap(&found);
        try_landlock(&found);
    } else {
        found.bwrap_why = xstrdup("this program does not start sandboxes");
        found.landlock_why = xstrdup(found.bwrap_why);
    }
    found.cgroup = supervise_has_cgroup();
}

const struct sandbox_probe *
sandbox_probe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, probe);
    return &found;
}

const char *
sandbox_kind_name(enum sandbox_kind k)
{
    static const char *const names[] = {"off", "bwrap", "landlock"};
    return names[k];
}

bool
sandbox_want_parse(const char *s, enum sandbox_want *ret)
{
    static const char *const names[] = {"off", "auto", "bwrap", "landlock"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(s, names[i]) == 0) {
            *ret = (enum sandbox_want)i;
            return true;
        }
    return false;
}

enum sandbox_kind
sandbox_choose(enum sandbox_want want, const struct sandbox_probe *p, char **ret_why)
{
    *ret_why = NULL;
    if (want == SANDBOX_WANT_OFF)
        return SANDBOX_NONE;
    if (want != SANDBOX_WANT_LANDLOCK && p->bwrap)
        return SANDBOX_BWRAP;
    if (want != SANDBOX_WANT_BWRAP && p->landlock_abi)
        return SANDBOX_LANDLOCK;
    if (want == SANDBOX_WANT_BWRAP)
        *ret_why = xstrdup(p->bwrap_why);
    else if (want == SANDBOX_WANT_LANDLOCK)
        *ret_why = xstrdup(p->landlock_why);
    else
        *ret_why = xasprintf("%s; %s", p->bwrap_why, p->landlock_why);
    return SANDBOX_NONE;
}
