/*
 * What a command's whole tree may take. A cgroup of its own where one can be made, for each of the two controllers in version 1 or 2;
 * for what is left the supervisor counts its descendants, four times a second, and ends them all.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/supervise.h"

enum {
    COUNT_MS = 250,
    BOMB_ROUNDS = 8,
    OWN_PROCESSES = 4, /* what stands between the supervisor and the command */
    TEXT_MAX = 65536,
    REMOVE_TRIES = 100
};

/* ---- files ---- */

static bool
read_text(const char *dir, const char *name, char *to, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s%s%s", dir, *name ? "/" : "", name) >= (int)sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t got = 0;
    for (ssize_t n; got < size - 1 && (n = read(fd, to + got, size - 1 - got)) > 0;)
        got += (size_t)n;
    close(fd);
    to[got] = '\0';
    return true;
}

static bool
write_text(const char *dir, const char *name, const char *text)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool
write_number(const char *dir, const char *name, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    return write_text(dir, name, text);
}

/* Splits the next line off *rest; NULL: there is none. */
static char *
next_line(char **rest)
{
    char *line = *rest, *end = line + strcspn(line, "\n");
    if (!*line)
        return NULL;
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return line;
}

/* ---- where this process's cgroups are ---- */

/* Is `word` one of the list parted by commas? */
static bool
listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

/* This process's path below the hierarchy; controller NULL: version 2. "N:list:path" */
static bool
own_path(const char *controller, char *to, size_t size)
{
    static char text[TEXT_MAX];
    char *rest = text;
    if (!read_text("/proc/self/cgroup", "", text, sizeof text))
        return false;
    for (char *line; (line = next_line(&rest));) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        if (controller ? listed(list + 1, controller) : !strcmp(line, "0:"))
            return (size_t)snprintf(to, size, "%s", path) < size;
    }
    return false;
}

struct place {
    char root[1024], mount[1024];
};
/* Where the hierarchy is mounted, and which part of it. "id parent dev root mount options ... - type source super" */
static bool
mounted_at(const char *controller, struct place *ret)
{
    static char text[TEXT_MAX];
    char *rest = text;
    if (!read_text("/proc/self/mountinfo", "", text, sizeof text))
        return false;
    for (char *line; (line = next_line(&rest));) {
        char type[32], super[256], *behind = strstr(line, " - ");
        if (!behind || sscanf(behind, " - %31s %*s %255s", type, super) != 2 ||
            sscanf(line, "%*s %*s %*s %1023s %1023s", ret->root, ret->mount) != 2)
            continue;
        if (controller ? !strcmp(type, "cgroup") && listed(super, controller)
                       : !strcmp(type, "cgroup2"))
            return true;
    }
    return false;
}

static bool
own_folder(const char *controller, char *to, size_t size)
{
    struct place at;
    char path[1024];
    if (!own_path(controller, path, sizeof path) || !mounted_at(controller, &at))
        return false;
    const char *below = path;
    size_t n = strlen(at.root);
    if (n > 1 && strncmp(path, at.root, n) == 0)
        below += n;
    if (strstr(below, ".."))
        return false; /* it lies outside of what is mounted here */
    return (size_t)snprintf(to, size, "%s%s", at.mount, strcmp(below, "/") ? below : "") < size;
}

/* ---- a cgroup of our own ---- */

/* In `parent`, when `file` (the cap) comes with it. */
static bool
make_in(const char *parent, const char *file, char *to, size_t size)
{
    char probe[PATH_MAX];
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if ((size_t)snprintf(to, size, "%s/yare-%d-%ld", parent, (int)getpid(), t.tv_nsec) >= size ||
        mkdir(to, 0755) < 0)
        return false;
    snprintf(probe, sizeof probe, "%s/%s", to, file);
    if (access(probe, W_OK) == 0)
        return true;
    rmdir(to);
    return false;
}

/* Version 2 gives the controllers to siblings only: a cgroup with processes hands none down. */
static bool
make_group(const char *controller, const char *file1, const char *file2, struct supervise_group *g)
{
    char at[2048];
    g->v2 = false;
    g->dir[0] = '\0';
    if (getenv("YARE_TEST_NO_CGROUP")) /* tests: as on a machine without one */
        return false;
    if (own_folder(controller, at, sizeof at) && make_in(at, file1, g->dir, sizeof g->dir))
        return true;
    g->v2 = true;
    if (own_folder(NULL, at, sizeof at)) {
        if (make_in(at, file2, g->dir, sizeof g->dir))
            return true;
        char *slash = strrchr(at, '/');
        if (slash && slash != at) {
            *slash = '\0';
            if (make_in(at, file2, g->dir, sizeof g->dir))
                return true;
        }
    }
    g->dir[0] = '\0';
    return false;
}

static void
remove_group(struct supervise_group *g)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; g->dir[0] && rmdir(g->dir) < 0 && errno == EBUSY && i < REMOVE_TRIES; i++)
        nanosleep(&pause, NULL); /* its last process is still being taken apart */
    g->dir[0] = '\0';
}

static void
begin_memory(struct supervise_caps *c)
{
    struct supervise_group *g = &c->memory;
    if (!make_group("memory", "memory.limit_in_bytes", "memory.max", g))
        return;
    bool ok = write_number(g->dir, g->v2 ? "memory.max" : "memory.limit_in_bytes", c->memory_bytes);
    /* With swap there would be twice as much; kernels without its accounting have no such file. */
    write_number(g->dir, g->v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes",
                 g->v2 ? 0 : c->memory_bytes);
    if (!ok)
        remove_group(g);
}

static void
begin_processes(struct supervise_caps *c)
{
    struct supervise_group *g = &c->pids;
    if (make_group("pids", "pids.max", "pids.max", g) &&
        !write_number(g->dir, "pids.max", c->processes + OWN_PROCESSES))
        remove_group(g);
}

bool
supervise_has_cgroup(void)
{
    struct supervise_caps c = {0};
    bool memory = make_group("memory", "memory.limit_in_bytes", "memory.max", &c.memory);
    bool pids = make_group("pids", "pids.max", "pids.max", &c.pids);
    supervise_caps_end(&c);
    return memory && pids;
}

void
supervise_caps_begin(struct supervise_caps *c)
{
    if (c->memory_bytes > 0)
        begin_memory(c);
    if (c->processes > 0)
        begin_processes(c);
}

void
supervise_caps_end(struct supervise_caps *c)
{
    remove_group(&c->memory);
    remove_group(&c->pids);
}

/* The kernel counts an account's processes wherever they run: a brake on what outruns the counting, for accounts that it holds for. */
static void
brake(int processes)
{
    struct rlimit now;
    int others = supervise_count_account();
    if (getrlimit(RLIMIT_NPROC, &now) < 0)
        return;
    rlim_t to = (rlim_t)others + (rlim_t)processes + OWN_PROCESSES;
    if (now.rlim_max != RLIM_INFINITY && to > now.rlim_max)
        to = now.rlim_max;
    setrlimit(RLIMIT_NPROC, &(struct rlimit){to, to});
}

bool
supervise_caps_enter(const struct supervise_caps *c)
{
    bool ok = (!c->memory.dir[0] || write_text(c->memory.dir, "cgroup.procs", "0")) &&
              (!c->pids.dir[0] || write_text(c->pids.dir, "cgroup.procs", "0"));
    if (c->processes > 0 && !c->pids.dir[0] && geteuid() != 0)
        brake(c->processes);
    return ok;
}

/* ---- what was hit ---- */

static void
note(const struct supervise_caps *c, bool *noted, const char *text)
{
    int fd = c->note && !*noted ? open(c->note, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    *noted = true;
    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0)
        *noted = false;
    close(fd);
}

/* N of "key N" on a line of its own. */
static long long
counted(const struct supervise_group *g, const char *file, const char *key)
{
    char text[4096];
    if (!g->dir[0] || !read_text(g->dir, file, text, sizeof text))
        return 0;
    size_t n = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at += n)
        if ((at == text || at[-1] == '\n') && at[n] == ' ')
            return atoll(at + n);
    return 0;
}

void
supervise_caps_note(struct supervise_caps *c)
{
    if (counted(&c->memory, c->memory.v2 ? "memory.events" : "memory.oom_control", "oom_kill") > 0)
        note(c, &c->noted_memory, "memory\n");
    if (counted(&c->pids, "pids.events", "max") > 0)
        note(c, &c->noted_processes, "processes\n");
}

/* The cgroup only refuses; what goes on trying is no program that will end, and it keeps the whole machine busy. */
static bool
bombs(struct supervise_caps *c)
{
    long long refused = counted(&c->pids, "pids.events", "max");
    c->refused_rounds = refused > c->refused ? c->refused_rounds + 1 : 0;
    c->refused = refused;
    if (c->refused_rounds < BOMB_ROUNDS)
        return false;
    note(c, &c->noted_processes, "processes\n");
    return true;
}

static bool
over(const struct supervise_group *g, int64_t cap, int64_t now)
{
    return cap > 0 && !g->dir[0] && now > cap;
}

int
supervise_caps_count(struct supervise_caps *c, bool *ret_over)
{
    bool count = (c->memory_bytes > 0 && !c->memory.dir[0]) || c->processes > 0;
    struct timespec t;
    *ret_over = false;
    if (!count)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &t);
    long long now = (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    if (now < c->next_ms)
        return (int)(c->next_ms - now);
    c->next_ms = now + COUNT_MS;
    *ret_over = c->pids.dir[0] && bombs(c);
    if (*ret_over || (c->pids.dir[0] && (c->memory.dir[0] || !c->memory_bytes)))
        return COUNT_MS;
    struct supervise_usage u;
    supervise_count_tree(&u, c->memory_bytes > 0 && !c->memory.dir[0]);
    if (over(&c->pids, c->processes, u.processes - OWN_PROCESSES + 1)) {
        note(c, &c->noted_processes, "processes\n");
        *ret_over = true;
    }
    if (over(&c->memory, c->memory_bytes, u.memory_bytes)) {
        note(c, &c->noted_memory, "memory\n");
        *ret_over = true;
    }
    return COUNT_MS;
}
