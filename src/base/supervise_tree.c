/* Finding every descendant of this process. Being a child subreaper, orphans come back to it, so that the parent links
 * in /proc reach also those that changed their session, group or parent. */
#include "base/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    pid_t pid, parent;
    bool zombie, ours;
};

struct table {
    struct entry *e;
    size_t n, cap;
};

/* Fields of /proc/PID/stat after the command's name, which may itself hold blanks and brackets. */
static bool
read_entry(const char *name, struct entry *ret)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *after = strrchr(text, ')');
    char state;
    int parent;
    if (!after || sscanf(after + 1, " %c %d", &state, &parent) != 2)
        return false;
    *ret = (struct entry){.pid = (pid_t)strtol(name, NULL, 10),
                          .parent = (pid_t)parent,
                          .zombie = state == 'Z' || state == 'X'};
    return true;
}

static bool
table_add(struct table *t, const struct entry *e)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 512;
        struct entry *more = reallocarray(t->e, cap, sizeof *more);
        if (!more)
            return false; /* the next pass sees the rest */
        t->e = more;
        t->cap = cap;
    }
    t->e[t->n++] = *e;
    return true;
}

static int
by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct entry *)a)->pid, y = ((const struct entry *)b)->pid;
    return (x > y) - (x < y);
}

static void
table_load(struct table *t)
{
    DIR *dir = opendir("/proc");
    if (!dir)
        return;
    struct dirent *d;
    struct entry e;
    while ((d = readdir(dir)))
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9' && read_entry(d->d_name, &e) &&
            !table_add(t, &e))
            break;
    closedir(dir);
    if (t->n)
        qsort(t->e, t->n, sizeof *t->e, by_pid);
}

static bool
parent_is_ours(const struct table *t, pid_t parent, pid_t self)
{
    if (parent == self)
        return true;
    struct entry key = {.pid = parent};
    const struct entry *p = bsearch(&key, t->e, t->n, sizeof key, by_pid);
    return p && p->ours;
}

/* Parents mostly have smaller numbers than their children: one or two rounds do. */
static void
mark_descendants(struct table *t, pid_t self)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < t->n; i++) {
            struct entry *e = &t->e[i];
            if (!e->ours && e->pid != self && parent_is_ours(t, e->parent, self))
                e->ours = changed = true;
        }
    }
}

int
supervise_signal_tree(int sig)
{
    struct table t = {0};
    int found = 0;
    table_load(&t);
    mark_descendants(&t, getpid());
    for (size_t i = 0; i < t.n; i++) {
        if (!t.e[i].ours || t.e[i].zombie)
            continue;
        found++;
        kill(t.e[i].pid, sig);
        /* A stopped process acts on TERM only after it goes on. */
        if (sig != SIGKILL)
            kill(t.e[i].pid, SIGCONT);
    }
    free(t.e);
    return found;
}

/* Resident, less what is shared: pages of /proc/PID/statm. */
static int64_t
private_bytes(pid_t pid)
{
    char path[64], text[256];
    long long size, resident, shared;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    if (sscanf(text, "%lld %lld %lld", &size, &resident, &shared) != 3 || resident < shared)
        return 0;
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

void
supervise_count_tree(struct supervise_usage *ret, bool memory)
{
    struct table t = {0};
    *ret = (struct supervise_usage){0};
    table_load(&t);
    mark_descendants(&t, getpid());
    for (size_t i = 0; i < t.n; i++) {
        if (!t.e[i].ours || t.e[i].zombie)
            continue;
        ret->processes++;
        if (memory)
            ret->memory_bytes += private_bytes(t.e[i].pid);
    }
    free(t.e);
}

static int
threads_of(const char *pid)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%.20s/task", pid);
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));)
        n += d->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

int
supervise_count_account(void)
{
    DIR *dir = opendir("/proc");
    struct stat st;
    int n = 0;
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9' &&
            fstatat(dirfd(dir), d->d_name, &st, 0) == 0 && st.st_uid == getuid())
            n += threads_of(d->d_name);
    if (dir)
        closedir(dir);
    return n;
}
