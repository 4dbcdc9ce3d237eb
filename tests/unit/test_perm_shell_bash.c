/*
 * The analyser and bash itself over many command lines made of awkward pieces: where the analyser says that it knows the words,
 * they are the words that bash passes on. Skipped where there is no bash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "perm/leaf.h"

static const char *const pieces[] = {
    "a",       "b",         "c1",      "{a,b}",     "{1..3}",     "{a..c}",      "{01..3}",
    "~",       "~/x",       " ",       "  ",        "\t",         "x=y",         "-n",
    "--",      "$HOME",     "${HOME}", "\\n",       "\\'",        "\\\"",        "''",
    "\"\"",    "'a b'",     "\"a b\"", "\"c1\"",    "\"\\$x\"",   "\"$HOME/x\"", "{",
    "}",       ",",         "{,}",     "a{b,c}d",   "{a,{b,c}}",  "{a}",         "$",
    "\"$\"",   "#",         "a#b",     "!",         "=",          "@",           "%",
    "^",       "\\ ",       "\\\n",    "$'\\x41'",  "$'\\n'",     "$'a\\'b'",    "\"a'b\"",
    "'a\"b'",  ":",         "x=~",     "]",         "$((1+2))",   "\"`\"",       "-",
    "+",       "/",         "../x",    "\\\\",      "{a,b}{c,d}", "{3..1}",      "{1..6..2}",
    "'{a,b}'", "\"{a,b}\"", "{'a',b}", "{a\\,b,c}",
};

/* A small generator with a fixed seed: the same lines in every run. */
static uint32_t
next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void
make_line(uint32_t *seed, struct buf *out)
{
    size_t n = 1 + next(seed) % 7;
    buf_adds(out, "f ");
    for (size_t i = 0; i < n; i++) {
        buf_adds(out, pieces[next(seed) % ARRAY_LEN(pieces)]);
        if (next(seed) % 3 == 0)
            buf_addc(out, ' ');
    }
}

/* What we know of the words, each behind a newline-free marker; false: nothing is claimed. */
static bool
ours(struct str line, const char *cwd, struct buf *out)
{
    struct perm_shell_env env = {.cwd = cwd, .home = "/home/dev", .root = cwd};
    struct perm_analysis a;
    perm_shell_analyse(line, &env, &a);
    bool known = !a.incomplete && a.n_leaves == 1 && a.leaves[0].argv_known;
    for (size_t i = 1; known && i < a.leaves[0].n_argv; i++) {
        known = !a.leaves[0].argv[i].glob;
        buf_addc(out, '<');
        buf_add_str(out, a.leaves[0].argv[i].text);
        buf_addc(out, '>');
    }
    perm_analysis_release(&a);
    return known;
}

/* All lines in one bash: it prints "\1" and the words of each. */
static void
run_bash(const char *script, const char *cwd, struct buf *out)
{
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], 1);
        close(fd[0]);
        close(fd[1]);
        if (chdir(cwd) == 0) {
            setenv("HOME", "/home/dev", 1);
            execlp("bash", "bash", "--norc", "--noprofile", script, (char *)NULL);
        }
        _exit(127);
    }
    close(fd[1]);
    char block[4096];
    ssize_t n;
    while ((n = read(fd[0], block, sizeof block)) > 0)
        buf_add(out, block, (size_t)n);
    close(fd[0]);
    waitpid(pid, NULL, 0);
}

static void
test_same_words(void **state)
{
    (void)state;
    if (access("/bin/bash", X_OK) != 0 && access("/usr/bin/bash", X_OK) != 0)
        skip();
    char dir[] = "/tmp/yare-words-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *script = xasprintf("%s.sh", dir);
    FILE *f = fopen(script, "w");
    assert_non_null(f);
    fputs("f() { for w; do printf '<%s>' \"$w\"; done; }\n", f);
    struct buf line, want, got;
    buf_init(&line, BUF_MAX);
    buf_init(&want, BUF_MAX);
    buf_init(&got, BUF_MAX);
    uint32_t seed = 20261130;
    size_t claimed = 0;
    for (int i = 0; i < 4000; i++) {
        buf_clear(&line);
        make_line(&seed, &line);
        size_t before = want.len;
        buf_addc(&want, '\1');
        if (!ours(buf_str(&line), dir, &want)) {
            buf_truncate(&want, before);
            continue;
        }
        claimed++;
        fprintf(f, "printf '\\1'\n%s\n", buf_cstr(&line));
    }
    fclose(f);
    run_bash(script, dir, &got);
    assert_true(claimed > 1500);
    size_t same = 0;
    while (same < want.len && same < got.len && want.data[same] == got.data[same])
        same++;
    if (same < want.len || same < got.len) {
        size_t from = same > 60 ? same - 60 : 0;
        fail_msg("words differ: ours ...%.120s\n bash ...%.120s", buf_cstr(&want) + from,
                 buf_cstr(&got) + from);
    }
    unlink(script);
    rmdir(dir);
    free(script);
    buf_release(&line);
    buf_release(&want);
    buf_release(&got);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
