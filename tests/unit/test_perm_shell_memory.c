#include "unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "perm/shell.h"

enum { THREADS = 3, ROUNDS = 30 };

/* Long enough for more than one stretch, and with an analysis inside of the analysis. */
static const char piece[] = "echo \"$(cat a | sort)\" && bash -c 'ls -la; rm x' | head -3 ; ";

static char *
long_command(size_t n)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < n; i++)
        buf_adds(&b, piece);
    return buf_take(&b);
}

static size_t
leaves_of(const char *command)
{
    struct perm_shell_env env = {.cwd = "/", .home = "/nonexistent"};
    struct perm_analysis a;
    perm_shell_analyse(str_from(command), &env, &a);
    size_t n = a.n_leaves;
    perm_analysis_release(&a);
    return n;
}

static void *
analyse(void *arg)
{
    size_t *odd = arg, short_leaves = leaves_of(piece);
    char *command = long_command(8);
    size_t leaves = leaves_of(command);
    for (int i = 0; i < ROUNDS; i++)
        *odd += leaves_of(command) != leaves || leaves_of(piece) != short_leaves;
    *odd += leaves <= short_leaves || short_leaves < 5;
    free(command);
    return NULL;
}

static void
threads_analyse_at_once(void **state)
{
    pthread_t threads[THREADS];
    size_t odd[THREADS] = {0};
    (void)state;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, analyse, &odd[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(odd[i], 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_analyse_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
