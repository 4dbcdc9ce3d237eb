/* One command: what its file system is made of now, written to a sealed file in memory that --confine opens by its name in /proc. No name in
 * the file system, so nothing that a command could change. */
#include "perm/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "perm/confine.h"
#include "perm/protected.h"
#include "perm/sandbox_parts.h"

enum { PLAN_MAX = 4 << 20 };
#define INSIDE_PROXY "/run/yare-proxy"

static void
record(struct buf *out, const char *key, const char *value)
{
    buf_addf(out, "%s=%s", key, value);
    buf_addc(out, '\0');
}

static void
record_number(struct buf *out, const char *key, int64_t value)
{
    buf_addf(out, "%s=%lld", key, (long long)value);
    buf_addc(out, '\0');
}

static void
add_all(struct mounts *m, enum mount_kind kind, const struct sandbox_paths *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (fs_exists(l->v[i]))
            mounts_add(m, kind, l->v[i]);
}

/* What git reads must be readable: settings without any, and a commondir that names the folder it is in. NULL: nobody needs to. */
static const char *
content_of(const char *name)
{
    if (strcmp(name, "commondir") == 0)
        return ".\n";
    return protected_by_name(name) || strcmp(name, "config") == 0 ? NULL : "\n";
}

/* A guarded name that is there is read-only; one that is not becomes something empty. */
static bool
guard_one(struct sandbox_command *c, struct mounts *m, const struct sandbox_plan *p,
          const char *marked, struct err *err)
{
    size_t len = strlen(marked);
    bool folder = len && marked[len - 1] == '/';
    char *path = str_dup(str_make(marked, folder ? len - 1 : len));
    const char *content = folder ? NULL : content_of(fs_basename(path));
    enum mark how = MARK_REAL;
    struct stat st;
    bool ok = marks_acquire(p->marks, path, folder, content, &how, err);
    if (ok && how == MARK_PLACED) {
        paths_add(&c->placed, path);
        mounts_add(m, content ? MOUNT_READ_ONLY : folder ? MOUNT_EMPTY : MOUNT_HIDE, path);
    } else if (ok && how == MARK_REAL && lstat(path, &st) == 0) {
        bool git = strcmp(fs_basename(path), ".git") == 0 && sandbox_is_repository(path);
        char *real = S_ISLNK(st.st_mode) ? paths_real(path) : xstrdup(path);
        if (real && !git)
            mounts_add(m, MOUNT_READ_ONLY, real);
        free(real);
    }
    free(path);
    return ok;
}

static bool
guard_all(struct sandbox_command *c, struct mounts *m, const struct sandbox_plan *p,
          const struct sandbox_paths *missing, struct err *err)
{
    for (size_t i = 0; i < missing->n; i++)
        if (!guard_one(c, m, p, missing->v[i], err))
            return false;
    return true;
}

/* A repository made since the plan was. */
static bool
guard_new_git(struct sandbox_command *c, struct mounts *m, const struct sandbox_plan *p,
              struct err *err)
{
    char *git = fs_join(p->root, ".git");
    bool ok = true;
    if (sandbox_is_repository(git) && !paths_has(&p->writable, git) &&
        !paths_has(&c->placed, git)) {
        struct sandbox_paths w = {0}, r = {0}, missing = {0};
        paths_add(&w, p->root);
        struct sandbox_paths fixed = {0};
        sandbox_git(&(struct sandbox_guards){&w, &r, &missing}, p->root);
        const struct sandbox_paths *kept[] = {&r, &missing, &w};
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            for (size_t k = 0; k < kept[i]->n; k++)
                paths_above(&w, kept[i]->v[k], &fixed);
        add_all(m, MOUNT_WRITE, &w);
        add_all(m, MOUNT_FIXED, &fixed);
        add_all(m, MOUNT_READ_ONLY, &r);
        ok = guard_all(c, m, p, &missing, err);
        paths_release(&fixed);
        paths_release(&w);
        paths_release(&r);
        paths_release(&missing);
    }
    free(git);
    return ok;
}

/* Parts of /run that programs need on some systems, and that hold no sockets. */
static void
show_run(struct mounts *m, const struct sandbox_plan *p)
{
    static const char *const shown[] = {"/run/current-system", "/run/booted-system",
                                        "/run/opengl-driver", "/run/wrappers"};
    for (size_t i = 0; i < ARRAY_LEN(shown); i++)
        if (fs_exists(shown[i]))
            mounts_add(m, MOUNT_SHOW, shown[i]);
    char *resolver = p->network ? paths_real("/etc/resolv.conf") : NULL;
    if (resolver)
        mounts_add(m, MOUNT_SHOW, resolver);
    free(resolver);
}

static bool
collect(struct sandbox_command *c, struct mounts *m, const struct sandbox_plan *p,
        const char *own_file, struct err *err)
{
    struct stat st;
    mounts_add(m, MOUNT_DEV, "/dev");
    mounts_add(m, MOUNT_PROC, "/proc");
    mounts_add(m, MOUNT_EMPTY, "/run");
    if (lstat("/var/run", &st) == 0 && S_ISDIR(st.st_mode))
        mounts_add(m, MOUNT_EMPTY, "/var/run");
    show_run(m, p);
    if (!paths_hold(&p->writable, "/tmp"))
        mounts_add(m, MOUNT_TMP, "/tmp");
    mounts_add(m, MOUNT_WRITE, p->tmp);
    add_all(m, MOUNT_WRITE, &p->writable);
    add_all(m, MOUNT_FIXED, &p->fixed);
    add_all(m, MOUNT_READ_ONLY, &p->read_only);
    add_all(m, MOUNT_HIDE, &p->unreadable);
    add_all(m, MOUNT_SHOW, &p->readable);
    if (own_file)
        mounts_add(m, MOUNT_WRITE, own_file);
    if (!guard_all(c, m, p, &p->missing, err) || !guard_new_git(c, m, p, err))
        return false;
    mounts_add(m, MOUNT_SHOW, c->cwd); /* without effect where it can be seen anyway */
    mounts_settle(m);
    return true;
}

static void
write_bwrap(const struct mounts *m, const struct sandbox_plan *p, const char *cwd, struct buf *out)
{
    static const char *const always[] = {"--unshare-user",
                                         "--unshare-pid",
                                         "--unshare-ipc",
                                         "--unshare-uts",
                                         "--unshare-cgroup-try",
                                         "--cap-drop",
                                         "ALL",
                                         "--new-session",
                                         "--as-pid-1",
                                         "--ro-bind",
                                         "/",
                                         "/"};
    struct sandbox_paths sockets = {0};
    mounts_find_sockets(m, p->tmp, &sockets);
    for (size_t i = 0; i < sockets.n; i++)
        if (!p->proxy_socket || strcmp(sockets.v[i], p->proxy_socket) != 0)
            record(out, "s", sockets.v[i]);
    paths_release(&sockets);
    buf_add(out, "bwrap-args", sizeof "bwrap-args");
    if (!p->network)
        buf_add(out, "--unshare-net", sizeof "--unshare-net");
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        buf_add(out, always[i], strlen(always[i]) + 1);
    mounts_write(m, p->tmp, p->proxy_socket, INSIDE_PROXY, out);
    buf_add(out, "--chdir", sizeof "--chdir");
    buf_add(out, cwd, strlen(cwd) + 1);
}

static void
write_landlock(const struct sandbox_plan *p, const char *own_file, struct buf *out)
{
    record_number(out, "abi", sandbox_probe()->landlock_abi);
    record(out, "w", p->tmp);
    if (own_file)
        record(out, "w", own_file);
    for (size_t i = 0; i < p->writable.n; i++)
        record(out, "w", p->writable.v[i]);
    for (size_t i = 0; i < p->unreadable.n; i++)
        if (!paths_hold(&p->writable, p->unreadable.v[i]))
            record(out, "x", p->unreadable.v[i]);
    for (size_t i = 0; i < p->readable.n; i++)
        record(out, "r", p->readable.v[i]);
    buf_add(out, "bwrap-args", sizeof "bwrap-args");
}

static bool
write_plan(struct sandbox_command *c, const struct sandbox_plan *p, const char *own_file,
           struct buf *out, struct err *err)
{
    bool bwrap = p->kind == SANDBOX_BWRAP;
    record(out, "kind", sandbox_kind_name(p->kind));
    record(out, "note", c->note_path);
    record(out, "tmp", p->tmp);
    record(out, "net", p->network ? "1" : "0");
    record_number(out, "file", p->caps.file_bytes);
    record_number(out, "cpu", p->caps.cpu_seconds);
    if (!bwrap) {
        write_landlock(p, own_file, out);
        return true;
    }
    struct mounts m = {0};
    record(out, "bwrap", p->bwrap);
    if (p->proxy_socket)
        record(out, "proxy", INSIDE_PROXY);
    bool ok = collect(c, &m, p, own_file, err);
    if (ok)
        write_bwrap(&m, p, c->cwd, out);
    mounts_release(&m);
    return ok;
}

static char *
memory_file(const char *name, unsigned flags, int *ret_fd, struct err *err)
{
    *ret_fd = memfd_create(name, MFD_CLOEXEC | flags);
    if (*ret_fd < 0) {
        err_sys(err, errno, "the sandbox cannot make its %s", name);
        return NULL;
    }
    return xasprintf("/proc/%d/fd/%d", (int)getpid(), *ret_fd);
}

static bool
seal(int fd, struct str text, struct err *err)
{
    if (!fs_write_all(fd, text, err))
        return false;
    return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0 ||
           err_sys(err, errno, "the sandbox cannot seal its plan");
}

static void
make_argv(struct sandbox_command *c, const char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    c->argv = xcalloc(n + 5, sizeof *c->argv);
    /* The supervisor's own program, also after an upgrade on disk. */
    c->argv[0] = "/proc/self/exe";
    c->argv[1] = "--confine";
    c->argv[2] = c->plan_path;
    c->argv[3] = "--";
    memcpy(c->argv + 4, argv, n * sizeof *argv);
}

/* The words are the caller's and gone when the command ends. */
static const char *
last_word(const char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    return n ? argv[n - 1] : "";
}

bool
sandbox_command_init(struct sandbox_command *c, const struct sandbox_plan *p, const char *cwd,
                     const char *own_file, const char *const *argv, struct err *err)
{
    struct buf text;
    *c = (struct sandbox_command){.plan_fd = -1, .note_fd = -1, .marks = p->marks};
    if (!confine_is_possible())
        return err_set(err, ERR_UNSUPPORTED, "this program does not start sandboxes");
    c->cwd = paths_real(cwd);
    c->script = xstrdup(last_word(argv));
    if (!c->cwd)
        return err_sys(err, errno, "the sandbox cannot open '%s'", cwd);
    buf_init(&text, PLAN_MAX);
    c->note_path = memory_file("note", 0, &c->note_fd, err);
    bool ok = c->note_path &&
              (c->plan_path = memory_file("plan", MFD_ALLOW_SEALING, &c->plan_fd, err)) &&
              write_plan(c, p, own_file, &text, err);
    if (ok && buf_full(&text))
        ok = err_set(err, ERR_LIMIT, "the sandbox's plan is larger than 4 MB");
    ok = ok && seal(c->plan_fd, buf_str(&text), err);
    if (ok) {
        make_argv(c, argv);
        c->caps = (struct proc_caps){.memory_bytes = p->caps.memory_bytes,
                                     .processes = p->caps.processes,
                                     .note = c->note_path};
    } else {
        sandbox_command_release(c);
    }
    buf_release(&text);
    return ok;
}

void
sandbox_command_release(struct sandbox_command *c)
{
    for (size_t i = 0; i < c->placed.n; i++)
        marks_release(c->marks, c->placed.v[i]);
    paths_release(&c->placed);
    if (c->plan_path && c->plan_fd >= 0)
        close(c->plan_fd);
    if (c->note_path && c->note_fd >= 0)
        close(c->note_fd);
    free(c->argv);
    free(c->cwd);
    free(c->script);
    free(c->plan_path);
    free(c->note_path);
    *c = (struct sandbox_command){.plan_fd = -1, .note_fd = -1};
}
