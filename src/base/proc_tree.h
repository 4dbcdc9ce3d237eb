#pragma once
/* The processes below one, as /proc shows them now: for people to look at, never to act on. Any thread. */
#include <stddef.h>
#include <sys/types.h>

#define PROC_COMMAND_MAX 160

struct proc_node {
    pid_t pid;
    int depth; /* 0: a child of the root */
    /* its words joined by blanks, cut; raw bytes as the process chose them */
    char command[PROC_COMMAND_MAX];
};

/* Descendants of root, each before its children; the root itself is left out. At most `max` of them are looked at. Returns how
 * many. */
size_t proc_tree(pid_t root, struct proc_node *ret, size_t max);
