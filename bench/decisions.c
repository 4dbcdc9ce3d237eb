/*
 * How fast the permission chain decides, on one core and without the classifier: simple commands a second, and the 99th percentile
 * for compounds of about 2 kB and 10 kB. `decisions PROJECT` prints a JSON object; the project is a git repository.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "perm/chain.h"

enum { SIMPLE_ROUNDS = 2000, COMPOUND_ROUNDS = 400, RULES = 40 };

static const char *const simple[] = {
    "ls -la src",
    "git status",
    "grep -n main src/a.c",
    "make -j4",
    "npm test",
    "cat README.md",
    "rm -rf build",
    "echo done > out.txt",
    "cd src && make test",
    "python3 setup.py x",
    "git push origin main",
    "sed -n 1,5p Makefile",
};

/* Of this process: what else the machine does is no matter. */
static int64_t
cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct cJSON *
input_of(const char *command)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"command\":");
    json_quote(&b, str_from(command));
    buf_addc(&b, '}');
    struct cJSON *t = json_parse(buf_str(&b), NULL);
    buf_release(&b);
    return t;
}

static void
add_rules(struct perm_rules *rs)
{
    for (int i = 0; i < RULES; i++) {
        char *text = xasprintf("Bash(tool%d *)", i);
        perm_rules_add(rs, VERDICT_ALLOW, text, SCOPE_USER, false, NULL, 0);
        free(text);
    }
    perm_rules_add(rs, VERDICT_ALLOW, "Bash(make:*)", SCOPE_USER, false, NULL, 0);
    perm_rules_add(rs, VERDICT_DENY, "Bash(git push:*)", SCOPE_USER, false, NULL, 0);
    perm_rules_add(rs, VERDICT_DENY, "Read(.env)", SCOPE_USER, false, NULL, 0);
}

static int64_t
decide_us(struct perm_request *req, const struct cJSON *input)
{
    struct decision d;
    int64_t from = cpu_us();
    req->input = input;
    perm_chain_check(req, &d);
    decision_release(&d);
    return cpu_us() - from;
}

static double
simple_rate(struct perm_request *req)
{
    struct cJSON *inputs[ARRAY_LEN(simple)];
    for (size_t i = 0; i < ARRAY_LEN(simple); i++)
        inputs[i] = input_of(simple[i]);
    int64_t from = cpu_us();
    for (int n = 0; n < SIMPLE_ROUNDS; n++)
        for (size_t i = 0; i < ARRAY_LEN(simple); i++)
            decide_us(req, inputs[i]);
    double us = (double)(cpu_us() - from);
    for (size_t i = 0; i < ARRAY_LEN(simple); i++)
        json_free(inputs[i]);
    return (double)SIMPLE_ROUNDS * ARRAY_LEN(simple) * 1e6 / us;
}

static int
by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Milliseconds of the 99th percentile for a compound of about that many bytes. */
static double
compound_p99(struct perm_request *req, size_t bytes)
{
    int64_t times[COMPOUND_ROUNDS];
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; b.len < bytes; i++)
        buf_addf(&b, "%s%s x%zu.c 2>&1 | head -%zu", i ? " && " : "", simple[i % ARRAY_LEN(simple)],
                 i, i + 1);
    struct cJSON *input = input_of(buf_cstr(&b));
    for (int i = 0; i < COMPOUND_ROUNDS; i++)
        times[i] = decide_us(req, input);
    qsort(times, COMPOUND_ROUNDS, sizeof *times, by_time);
    json_free(input);
    buf_release(&b);
    return (double)times[COMPOUND_ROUNDS * 99 / 100] / 1000;
}

int
main(int argc, char **argv)
{
    struct perm_rules rules;
    if (argc != 2) {
        fprintf(stderr, "usage: decisions PROJECT\n");
        return 2;
    }
    perm_rules_init(&rules);
    add_rules(&rules);
    struct perm_request req = {.tool = "Bash",
                               .rules = &rules,
                               .root = argv[1],
                               .cwd = argv[1],
                               .home = "/nonexistent",
                               .trusted = true,
                               .interactive = true,
                               .case_insensitive = -1,
                               .mode_scope = SCOPE_USER};
    double rate = simple_rate(&req), p99 = compound_p99(&req, 2000),
           big = compound_p99(&req, 10000);
    printf("{\"simple_per_second\":%.0f,\"p99_2kb_ms\":%.3f,\"p99_10kb_ms\":%.3f}\n", rate, p99,
           big);
    perm_rules_release(&rules);
    return 0;
}
