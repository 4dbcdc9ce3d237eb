/*
 * Landlock: rights are granted below folders, and only ever more of them further down. So writing is granted for the roots
 * alone, and reading for everything beside the hidden paths: a folder with a hidden one below is granted child by child. What
 * lies hidden below a root cannot be kept (sandbox_plan_proves says no). Constants are our own: headers are older than kernels.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/confine.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum {
    LL_EXECUTE = 1 << 0,
    LL_WRITE_FILE = 1 << 1,
    LL_READ_FILE = 1 << 2,
    LL_READ_DIR = 1 << 3,
    LL_REMOVE_DIR = 1 << 4,
    LL_REMOVE_FILE = 1 << 5,
    LL_MAKE_CHAR = 1 << 6,
    LL_MAKE_DIR = 1 << 7,
    LL_MAKE_REG = 1 << 8,
    LL_MAKE_SOCK = 1 << 9,
    LL_MAKE_FIFO = 1 << 10,
    LL_MAKE_BLOCK = 1 << 11,
    LL_MAKE_SYM = 1 << 12,
    LL_REFER = 1 << 13,     /* 2 */
    LL_TRUNCATE = 1 << 14,  /* 3 */
    LL_IOCTL_DEV = 1 << 15, /* 5 */
    LL_CREATE_VERSION = 1,
    LL_RULE_PATH_BENEATH = 1,
    LL_BIND_TCP = 1 << 0, /* 4 */
    LL_CONNECT_TCP = 1 << 1,
    LL_SCOPE_ABSTRACT = 1 << 0, /* 6 */
    LL_SCOPE_SIGNAL = 1 << 1,
    ABI_REFER = 2,
    ABI_TRUNCATE = 3,
    ABI_TCP = 4,
    ABI_IOCTL = 5,
    ABI_SCOPES = 6,
    DEPTH_MAX = 64
};
struct ll_attr {
    uint64_t fs, net, scoped;
};
struct ll_beneath {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

int
confine_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_CREATE_VERSION);
    return abi < 0 ? 0 : abi > 1000 ? 1000 : (int)abi;
}

/* Older kernels take a shorter struct, and no larger one with anything in it. */
static size_t
attr_size(int abi)
{
    return abi >= ABI_SCOPES ? sizeof(struct ll_attr)
           : abi >= ABI_TCP  ? 2 * sizeof(uint64_t)
                             : sizeof(uint64_t);
}

static uint64_t
write_rights(int abi)
{
    uint64_t r = LL_WRITE_FILE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_CHAR | LL_MAKE_DIR |
                 LL_MAKE_REG | LL_MAKE_SOCK | LL_MAKE_FIFO | LL_MAKE_BLOCK | LL_MAKE_SYM;
    if (abi >= ABI_REFER)
        r |= LL_REFER;
    if (abi >= ABI_TRUNCATE)
        r |= LL_TRUNCATE;
    if (abi >= ABI_IOCTL)
        r |= LL_IOCTL_DEV;
    return r;
}

/* A path that is gone or a link grants nothing, which is the safe side. */
static bool
grant(int ruleset, const char *path, uint64_t rights)
{
    const uint64_t of_files =
        LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV;
    struct stat st;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR;
    bool ok = fstat(fd, &st) == 0;
    if (ok && !S_ISDIR(st.st_mode))
        rights &= of_files;
    if (ok && rights && !S_ISLNK(st.st_mode)) {
        struct ll_beneath b = {.allowed = rights, .parent_fd = fd};
        ok = syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &b, 0) == 0;
    }
    close(fd);
    return ok;
}

static bool
is_listed(const char *path, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(path, list[i]) == 0)
            return true;
    return false;
}

static bool
holds_listed(const char *dir, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fs_is_within(list[i], dir))
            return true;
    return false;
}

static bool
grant_reading(int ruleset, const struct confine *c, const char *dir, int depth)
{
    if (is_listed(dir, c->hidden, c->n_hidden))
        return true;
    if (!holds_listed(dir, c->hidden, c->n_hidden))
        return grant(ruleset, dir, LL_READ_FILE);
    DIR *d = depth < DEPTH_MAX ? opendir(dir) : NULL;
    if (!d) /* cannot be looked into, so nothing in it can be read by name either */
        return depth < DEPTH_MAX;
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || e->d_type == DT_LNK)
            continue;
        char *child = fs_join(dir, e->d_name);
        ok = grant_reading(ruleset, c, child, depth + 1);
        free(child);
    }
    closedir(d);
    return ok;
}

static bool
grant_all(int ruleset, const struct confine *c, int abi, const char **ret_step)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    const uint64_t on_devices = write_rights(abi) & (LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV);
    *ret_step = "what may be written";
    for (size_t i = 0; i < c->n_write; i++)
        if (!grant(ruleset, c->write[i],
                   (write_rights(abi) & ~(uint64_t)LL_IOCTL_DEV) | LL_READ_FILE))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (!grant(ruleset, devices[i], on_devices | LL_READ_FILE))
            return false;
    *ret_step = "what may be read";
    for (size_t i = 0; i < c->n_shown; i++)
        if (!grant(ruleset, c->shown[i], LL_READ_FILE))
            return false;
    return grant_reading(ruleset, c, "/", 0);
}

/* Nothing of /dev but what is granted by name: there are the terminals of this account, in which a command could read what a person types
 * and write what they read, the memory that programs share, and for the superuser the disks themselves. */
static const char **
hidden_with_devices(const struct confine *c)
{
    const char **v = xcalloc(c->n_hidden + 1, sizeof *v);
    for (size_t i = 0; i < c->n_hidden; i++)
        v[i] = c->hidden[i];
    v[c->n_hidden] = "/dev";
    return v;
}

static int
make_ruleset(struct ll_attr attr, int abi)
{
    return (int)syscall(SYS_landlock_create_ruleset, &attr, attr_size(abi), 0);
}

bool
confine_landlock(const struct confine *c, const char **ret_step)
{
    int abi = confine_landlock_abi();
    struct ll_attr attr = {.fs = write_rights(abi) | LL_READ_FILE};
    *ret_step = "Landlock";
    if (c->abi > 0 && c->abi < abi)
        abi = c->abi;
    if (abi <= 0) {
        errno = EOPNOTSUPP;
        return false;
    }
    attr.fs = write_rights(abi) | LL_READ_FILE;
    if (abi >= ABI_TCP && !c->network)
        attr.net = LL_BIND_TCP | LL_CONNECT_TCP;
    if (abi >= ABI_SCOPES)
        attr.scoped = LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL;
    int ruleset = make_ruleset(attr, abi);
    if (ruleset < 0)
        return false;
    struct confine own = *c;
    const char **hidden = hidden_with_devices(c);
    own.hidden = hidden;
    own.n_hidden++;
    bool ok = grant_all(ruleset, &own, abi, ret_step);
    free(hidden);
    if (ok && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0) {
        *ret_step = "Landlock";
        ok = false;
    }
    int saved = errno;
    close(ruleset);
    errno = saved;
    return ok;
}

bool
confine_landlock_scopes(void)
{
    int abi = confine_landlock_abi();
    if (abi < ABI_SCOPES)
        return false;
    int ruleset =
        make_ruleset((struct ll_attr){.scoped = LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL}, abi);
    if (ruleset < 0)
        return false;
    bool ok = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok;
}
