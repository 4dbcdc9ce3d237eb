/*
 * What the context tiers cost: processor time of each over three long sessions of 500,000 tokens, and of an extract from 2 MB. `tiers`
 * prints a JSON object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/extract.h"
#include "engine/tiers.h"
#include "fakes/talks.h"

enum { TOKENS = 500000, WINDOW = 600000, GOAL = 270000 };

static const struct {
    const char *name;
    tier_fn fn;
} tiers[] = {{"snip", tier_snip}, {"micro", tier_micro}, {"collapse", tier_collapse}};
static const char *const kinds[] = {"any", "refactor", "debug", "research"};

static int64_t
cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct tier_view
view_of(const struct talk *t)
{
    struct tier_view v = {.messages = t->m,
                          .n = t->n,
                          .bytes_per_token = 4,
                          .window = WINDOW,
                          .goal = GOAL,
                          .keep_dir = "/tmp"};
    for (size_t i = 0; i < t->n; i++)
        v.used += tier_tokens(&v, t->m[i]);
    v.keep_from = tier_keep_from(&v);
    return v;
}

static int64_t
measure(const struct talk *t, tier_fn fn, struct tier_result *ret)
{
    const struct tier_view v = view_of(t);
    int64_t from = cpu_us();
    size_t n;
    fn(&v, ret);
    const struct message **m = tier_apply(&v, ret, &n);
    int64_t us = cpu_us() - from;
    for (size_t i = 0; i < n; i++)
        message_free(m[i]);
    free(m);
    return us;
}

static int64_t
extract_us(void)
{
    struct talk t = {.random = 5};
    char *a = talk_code(&t, 25000), *b = talk_prose(&t, 17000);
    const struct str texts[] = {str_from(a), str_from(b)};
    struct buf out;
    buf_init(&out, BUF_MAX);
    int64_t from = cpu_us();
    extract_sentences(texts, 2, 8000, &out);
    int64_t us =
        (int64_t)((double)(cpu_us() - from) * (2 << 20) / (double)(texts[0].len + texts[1].len));
    buf_release(&out);
    free(a);
    free(b);
    return us;
}

int
main(void)
{
    printf("{\"extract_2mb_ms\":%.1f", (double)extract_us() / 1000);
    for (int kind = TALK_REFACTOR; kind <= TALK_RESEARCH; kind++) {
        struct talk t;
        talk_make(&t, (enum talk_kind)kind, 42, TOKENS);
        for (size_t i = 0; i < ARRAY_LEN(tiers); i++) {
            struct tier_result r = {0};
            int64_t us = measure(&t, tiers[i].fn, &r);
            printf(",\"%s_%s_ms\":%.1f,\"%s_%s_after\":%.0f", kinds[kind], tiers[i].name,
                   (double)us / 1000, kinds[kind], tiers[i].name, (double)r.after);
            tier_result_release(&r);
        }
        talk_release(&t);
    }
    printf("}\n");
    return 0;
}
