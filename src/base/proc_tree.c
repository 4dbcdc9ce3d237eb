/* By /proc/PID/task/TID/children: the cost grows with the tree, not with the machine. */
#include "base/proc_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 32, THREADS_MAX = 64, CHILDREN_TEXT = 4096 };

/* Up to cap - 1 bytes, NUL-terminated; how many. */
static size_t
read_some(const char *path, char *out, size_t cap)
{
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n;
        while (len < cap - 1 && (n = read(fd, out + len, cap - 1 - len)) > 0)
            len += (size_t)n;
        close(fd);
    }
    out[len] = '\0';
    return len;
}

/* The command line; a kernel thread or a zombie has none, its name stands in. */
static void
read_command(pid_t pid, char out[PROC_COMMAND_MAX])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    size_t n = read_some(path, out, PROC_COMMAND_MAX);
    while (n && !out[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        if (!out[i])
            out[i] = ' ';
    if (n)
        return;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    n = read_some(path, out, PROC_COMMAND_MAX);
    if (n && out[n - 1] == '\n')
        out[n - 1] = '\0';
}

struct walk {
    struct proc_node *nodes;
    size_t n, max;
};

static void add_children(struct walk *w, pid_t pid, int depth);

static void
add_listed(struct walk *w, char *list, int depth)
{
    char *rest = list, *word;
    while (w->n < w->max && (word = strsep(&rest, " \n"))) {
        long pid = strtol(word, NULL, 10);
        if (pid <= 0)
            continue;
        struct proc_node *node = &w->nodes[w->n++];
        *node = (struct proc_node){.pid = (pid_t)pid, .depth = depth};
        read_command(node->pid, node->command);
        if (depth + 1 < DEPTH_MAX)
            add_children(w, node->pid, depth + 1);
    }
}

static void
add_children(struct walk *w, pid_t pid, int depth)
{
    char path[96], list[CHILDREN_TEXT];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    struct dirent *d;
    for (int threads = 0; threads < THREADS_MAX && w->n < w->max && (d = readdir(dir));) {
        if (d->d_name[0] < '1' || d->d_name[0] > '9')
            continue;
        threads++;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, d->d_name);
        size_t n = read_some(path, list, sizeof list);
        while (n == sizeof list - 1 && n && list[n - 1] != ' ')
            list[--n] = '\0'; /* a number that was cut is another process */
        if (n)
            add_listed(w, list, depth);
    }
    closedir(dir);
}

size_t
proc_tree(pid_t root, struct proc_node *ret, size_t max)
{
    struct walk w = {.nodes = ret, .max = max};
    if (root > 0)
        add_children(&w, root, 0);
    return w.n;
}
