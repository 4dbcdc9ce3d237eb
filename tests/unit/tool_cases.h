#pragma once
/*
 * Text cases for the tests of tools and globs: blocks of n lines with a blank line between, "#" starts a comment line. Files
 * stand in tests/cases. Also small helpers for temporary trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct text_case {
    char *line[8];
    int number; /* of the first line */
};

static inline int
cases_run(const char *path, int lines, void (*check)(const struct text_case *c))
{
    FILE *f = fopen(path, "r");
    struct text_case c = {.number = 0};
    int have = 0, n = 0, number = 0;
    char *line = NULL;
    size_t cap = 0;

    assert_non_null(f);
    while (getline(&line, &cap, f) >= 0) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (have == 0 && (*line == '#' || *line == '\0'))
            continue;
        if (have == 0)
            c.number = number;
        c.line[have++] = strdup(line);
        if (have < lines)
            continue;
        check(&c);
        while (have > 0)
            free(c.line[--have]);
        n++;
    }
    if (have)
        fail_msg("%s: a case at line %d is cut short", path, c.number);
    free(line);
    fclose(f);
    return n;
}

extern char **environ;

static inline void
test_run(char *const argv[])
{
    pid_t pid;
    int status;

    assert_int_equal(posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ), 0);
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_int_equal(status, 0);
}
