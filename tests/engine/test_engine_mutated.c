/* Sessions on disk in any state: lines lost, doubled, swapped and torn, bytes flipped, ids mixed up, blocks emptied. Each opens, goes on, and
 * sends nothing a server would refuse. YARE_MUTATED_RUNS (default 120) runs from YARE_MUTATED_SEED (default 1) on; one that fails names its
 * seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "fakes/rig.h"
#include "store/session.h"

#define ID "11111111-2222-4333-8444-555555555555"
#define LINES_MAX 400

struct journal {
    uint64_t random;
    char *lines[LINES_MAX];
    size_t n;
};

static unsigned
pick(struct journal *j, unsigned n)
{
    j->random ^= j->random << 13;
    j->random ^= j->random >> 7;
    j->random ^= j->random << 17;
    return n ? (unsigned)(j->random >> 16) % n : 0;
}

static void
load(struct journal *j)
{
    static const char *const names[] = {"plain",   "tools", "compacted",    "cut_turn",
                                        "rewound", "torn",  "unknown_types"};
    char *file =
        xasprintf(TEST_DIR "/fixtures/sessions/v1/%s.jsonl", names[pick(j, ARRAY_LEN(names))]);
    struct buf b;
    struct err err = {0};
    buf_init(&b, BUF_MAX);
    assert_true(fs_read(file, BUF_MAX, &b, &err));
    struct str rest = buf_str(&b), line;
    while (j->n < LINES_MAX && str_split(&rest, '\n', &line))
        if (line.len)
            j->lines[j->n++] = str_dup(line);
    buf_release(&b);
    free(file);
}

/* ---- what may have happened to it ---- */

static void
lose(struct journal *j, size_t i)
{
    free(j->lines[i]);
    j->n--;
    memmove(j->lines + i, j->lines + i + 1, (j->n - i) * sizeof *j->lines);
}

static void
insert(struct journal *j, size_t i, char *take)
{
    if (j->n == LINES_MAX) {
        free(take);
        return;
    }
    memmove(j->lines + i + 1, j->lines + i, (j->n - i) * sizeof *j->lines);
    j->lines[i] = take;
    j->n++;
}

/* Every `from` of the line becomes `to`. */
static void
replace(struct journal *j, size_t i, const char *from, const char *to)
{
    struct buf b;
    const char *at, *line = j->lines[i];
    buf_init(&b, BUF_MAX);
    while ((at = strstr(line, from))) {
        buf_add(&b, line, (size_t)(at - line));
        buf_adds(&b, to);
        line = at + strlen(from);
    }
    buf_adds(&b, line);
    free(j->lines[i]);
    j->lines[i] = buf_take(&b);
}

static void
rename_things(struct journal *j, size_t i)
{
    static const char *const swaps[][2] = {
        {"\"tool_use\"", "\"tool_result\""},
        {"\"tool_result\"", "\"tool_use\""},
        {"\"role\":\"user\"", "\"role\":\"assistant\""},
        {"\"role\":\"assistant\"", "\"role\":\"user\""},
        {"\"type\":\"text\"", "\"type\":\"thinking\""},
        {"\"text\":\"", "\"text\":\" \",\"was\":\""},
        {"\"content\":[", "\"content\":[{},"},
        {"\"content\":[", "\"content\":[{\"type\":\"image\"},"},
        {"\"id\":\"", "\"id\":\"a b/"},
        {"\"tool_use_id\":\"", "\"tool_use_id\":\"x"},
        {"\"input\":{", "\"input\":[{"},
        {"\"parentUuid\":", "\"parent\":"},
        {"\"uuid\":\"", "\"uuid\":\"0"},
        {"\"name\":\"", "\"name\":\"a b."},
    };
    unsigned k = pick(j, ARRAY_LEN(swaps));
    replace(j, i, swaps[k][0], swaps[k][1]);
}

static void
flip(struct journal *j, size_t i)
{
    size_t len = strlen(j->lines[i]);
    for (unsigned n = 1 + pick(j, 6); len && n; n--) {
        char c = (char)(1 + pick(j, 255));
        j->lines[i][pick(j, (unsigned)len)] = c == '\n' ? ' ' : c;
    }
}

static void
mutate(struct journal *j)
{
    size_t i = pick(j, (unsigned)j->n), k = pick(j, (unsigned)j->n);
    char *line;
    switch (pick(j, 7)) {
    case 0:
        lose(j, i);
        break;
    case 1:
        insert(j, k, xstrdup(j->lines[i]));
        break;
    case 2:
        line = j->lines[i];
        j->lines[i] = j->lines[k];
        j->lines[k] = line;
        break;
    case 3:
        j->lines[i][pick(j, (unsigned)strlen(j->lines[i]))] = '\0'; /* torn */
        break;
    case 4:
        flip(j, i);
        break;
    default:
        rename_things(j, i);
        break;
    }
}

/* ---- it opens ---- */

static void
write_out(struct journal *j, struct rig *r)
{
    struct session_paths p;
    struct err err = {0};
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < j->n; i++) {
        buf_adds(&b, j->lines[i]);
        if (i + 1 < j->n || pick(j, 2))
            buf_addc(&b, '\n');
        free(j->lines[i]);
    }
    session_paths_make(r->data, r->root, ID, &p);
    assert_true(fs_mkdirs(p.dir, 0700, &err));
    assert_true(fs_write_atomic(p.journal, buf_str(&b), 0600, &err));
    session_paths_release(&p);
    buf_release(&b);
}

static void
one_run(uint64_t seed_of_run)
{
    struct rig r;
    struct journal j = {.random = seed_of_run * 0x9e3779b97f4a7c15u | 1};
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed_of_run);
    rig_init(&r);
    load(&j);
    for (unsigned n = 1 + pick(&j, 8); n && j.n; n--)
        mutate(&j);
    write_out(&j, &r);
    r.cfg.resume_id = ID;
    for (int i = 0; i < 3; i++) {
        rig_says(&r, "welcome back");
    }
    rig_start(&r);
    for (int i = 0; i < 2; i++) {
        rig_post(&r, OP_SUBMIT, "go on");
        const struct event *e = rig_result(&r);
        assert_string_equal(e->u.result.exit, "completed");
        assert_string_equal(e->u.result.text, "welcome back");
    }
    rig_end(&r); /* both requests were legal */
}

static uint64_t
number(const char *name, uint64_t otherwise)
{
    const char *s = getenv(name);
    return s ? strtoull(s, NULL, 10) : otherwise;
}

static void
test_a_session_in_any_state_opens(void **state)
{
    (void)state;
    uint64_t first = number("YARE_MUTATED_SEED", 1), runs = number("YARE_MUTATED_RUNS", 120);
    for (uint64_t i = 0; i < runs; i++)
        one_run(first + i);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_session_in_any_state_opens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
