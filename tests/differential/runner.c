/*
 * Runs command lines in a bash, one after the other, and tells what each of them called and changed.
 *
 *   runner prepare DIR        makes the tree in which all lines run
 *   runner run DIR HOME BUILTINS < lines > results
 *
 * `lines` are NUL-terminated. It is process 1 of a namespace of its own, so what a line leaves in the background is waited for, then killed.
 * A result: "N TIMED_OUT CALLS CHANGES ERRORS\n" and that many bytes each: the recorder's records, the changed paths
 * (NUL-terminated), the beginning of what was written to standard error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tree.h"

enum { LINE_MS = 1500, REST_MS = 300, ENTRIES_MAX = 4096, OLD = 1000000000 };

static void
die(const char *what)
{
    perror(what);
    exit(3);
}

/* ---- the tree ---- */

static void
make_tree(const char *dir)
{
    if (chdir(dir) != 0)
        die(dir);
    for (size_t i = 0; i < sizeof tree / sizeof tree[0]; i++) {
        const struct entry *e = &tree[i];
        if (e->link) {
            if (symlink(e->link, e->path) != 0)
                die(e->path);
        } else if (!e->text) {
            if (mkdir(e->path, 0755) != 0)
                die(e->path);
        } else {
            int fd = open(e->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
            size_t n = strlen(e->text);
            if (fd < 0 || write(fd, e->text, n) != (ssize_t)n)
                die(e->path);
            close(fd);
        }
    }
    for (size_t i = sizeof tree / sizeof tree[0]; i-- > 0;) {
        struct timespec old[2] = {{.tv_sec = OLD}, {.tv_sec = OLD}};
        utimensat(AT_FDCWD, tree[i].path, old, AT_SYMLINK_NOFOLLOW);
    }
    if (chdir("/") != 0)
        die("/");
}

static char *seen[ENTRIES_MAX];
static size_t n_seen;
static bool changed;
static FILE *changes;

static void
report(const char *path)
{
    changed = true;
    fputs(path, changes);
    fputc('\0', changes);
}

/* A folder changes with its entries, which are told by themselves. */
static int
look(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    size_t i = 0;
    while (i < n_seen && strcmp(seen[i], path) != 0)
        i++;
    if (i == n_seen || (type != FTW_D && type != FTW_DP && st->st_mtime != OLD))
        report(path);
    return 0;
}

static int
remember(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    if (n_seen == ENTRIES_MAX || !(seen[n_seen++] = strdup(path)))
        die("too many files");
    return 0;
}

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    if (at->level > 0 && remove(path) != 0 && errno != ENOENT)
        die(path);
    return 0;
}

static void
empty(const char *dir)
{
    nftw(dir, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
}

static void
find_changes(const char *dir, const char *home)
{
    static const char *const places[] = {"/tmp", "/log/work"};
    changed = false;
    nftw(dir, look, 32, FTW_PHYS);
    nftw(home, look, 32, FTW_PHYS);
    for (size_t i = 0; i < n_seen; i++)
        if (access(seen[i], F_OK) != 0) {
            struct stat st;
            if (lstat(seen[i], &st) != 0)
                report(seen[i]);
        }
    for (size_t i = 0; i < 2; i++)
        nftw(places[i], look, 32, FTW_PHYS);
    if (!changed)
        return;
    empty(dir);
    empty(home);
    empty("/tmp");
    empty("/log/work");
    make_tree(dir);
}

/* ---- one line ---- */

static const char script[] = "__yare_note() { builtin pwd -P >| /log/cwd; } 2>/dev/null\n"
                             "trap __yare_note EXIT\n"
                             "__yare_command=$1\n"
                             "shift\n"
                             "eval \"$__yare_command\"\n"
                             "__yare_status=$?\n"
                             "__yare_note\n"
                             "builtin exit \"$__yare_status\"\n";

static void
limit(int what, rlim_t n)
{
    struct rlimit l = {n, n};
    setrlimit(what, &l);
}

static void
child(const char *line, const char *dir, const char *home, const char *builtins)
{
    char home_entry[PATH_MAX], pwd[PATH_MAX];
    snprintf(home_entry, sizeof home_entry, "HOME=%s", home);
    snprintf(pwd, sizeof pwd, "PWD=%s", dir);
    char *env[] = {home_entry,
                   pwd,
                   (char[]){"PATH=/bin"},
                   (char[]){"LANG=C.UTF-8"},
                   (char[]){"TERM=dumb"},
                   (char[]){"PAGER=cat"},
                   (char[]){"YARE=1"},
                   (char[]){"BASH_ENV=/rt/env"},
                   NULL};
    if (strcmp(builtins, "real") == 0)
        env[7] = NULL;
    char *argv[] = {(char[]){"bash"},
                    (char[]){"--norc"},
                    (char[]){"--noprofile"},
                    (char[]){"-c"},
                    (char *)script,
                    (char[]){"bash"},
                    (char *)line,
                    NULL};
    int in = open("/dev/null", O_RDONLY),
        out = open("/log/out", O_WRONLY | O_CREAT | O_TRUNC, 0600),
        err = open("/log/err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(126);
    for (int fd = 3; fd < 32; fd++)
        close(fd);
    limit(RLIMIT_CPU, 2);
    limit(RLIMIT_FSIZE, 1 << 20);
    limit(RLIMIT_CORE, 0);
    setsid();
    if (chdir(dir) == 0)
        execve("/rt/bash", argv, env);
    _exit(127);
}

static long
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reaps until `pid` (0: everyone) is gone or the time is up; SIGCHLD is blocked and waited for. */
static bool
reap(pid_t pid, long ms)
{
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    long end = now_ms() + ms;
    for (;;) {
        pid_t got = waitpid(-1, NULL, WNOHANG);
        if (got < 0 || (pid && got == pid))
            return true;
        if (got > 0)
            continue;
        long left = end - now_ms();
        if (left <= 0)
            return false;
        struct timespec t = {left / 1000, left % 1000 * 1000000};
        sigtimedwait(&chld, NULL, &t);
    }
}

static size_t
read_some(const char *path, char **ret, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    *ret = NULL;
    if (fd < 0)
        return 0;
    size_t n = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0, have = 0;
    n = n > max ? max : n;
    *ret = malloc(n + 1);
    for (ssize_t k = 1; *ret && have < n && k > 0; have += k > 0 ? (size_t)k : 0)
        k = read(fd, *ret + have, n - have);
    close(fd);
    return have;
}

static void
run_line(size_t no, const char *line, const char *dir, const char *home, const char *builtins)
{
    unlink("/log/calls");
    pid_t pid = fork();
    if (pid == 0)
        child(line, dir, home, builtins);
    bool late = !reap(pid, LINE_MS);
    if (!reap(0, late ? 0 : REST_MS)) {
        kill(-1, SIGKILL);
        while (!reap(0, 1000))
            kill(-1, SIGKILL);
    }
    char *list = NULL, *calls, *errors;
    size_t list_len = 0;
    changes = open_memstream(&list, &list_len);
    find_changes(dir, home);
    fclose(changes);
    size_t n = read_some("/log/calls", &calls, 8 << 20), k = read_some("/log/err", &errors, 400);
    printf("%zu %d %zu %zu %zu\n", no, late, n, list_len, k);
    if (n)
        fwrite(calls, 1, n, stdout);
    fwrite(list, 1, list_len, stdout);
    if (k)
        fwrite(errors, 1, k, stdout);
    free(calls);
    free(errors);
    free(list);
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "prepare") == 0) {
        make_tree(argv[2]);
        return 0;
    }
    if (argc != 5 || strcmp(argv[1], "run") != 0) {
        fputs("usage: runner prepare DIR | runner run DIR HOME fake|real\n", stderr);
        return 2;
    }
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    if (getpid() != 1)
        die("not process 1: what a line leaves behind could not be ended");
    sigprocmask(SIG_BLOCK, &chld, NULL);
    empty(argv[2]);
    make_tree(argv[2]);
    nftw(argv[2], remember, 32, FTW_PHYS);
    nftw(argv[3], remember, 32, FTW_PHYS);
    remember("/tmp", NULL, 0, NULL);
    remember("/log/work", NULL, 0, NULL);
    char *line = NULL;
    size_t cap = 0;
    for (size_t no = 0; getdelim(&line, &cap, '\0', stdin) > 0; no++)
        run_line(no, line, argv[3 - 1], argv[3], argv[4]);
    fflush(stdout);
    return 0;
}
