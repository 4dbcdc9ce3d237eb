#include "fakes/talks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

uint64_t
talk_random(struct talk *t)
{
    uint64_t x = t->random ? t->random : 88172645463325252u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    t->random = x;
    return x * 2685821657736338717u;
}

size_t
talk_below(struct talk *t, size_t n)
{
    return n ? (size_t)((talk_random(t) >> 11) % n) : 0;
}

#define PICK(t, list) ((list)[talk_below((t), ARRAY_LEN(list))])

static const char *const nouns[] = {"buffer", "parser", "queue",  "session", "token",  "index",
                                    "cache",  "stream", "record", "window",  "handle", "socket"};
static const char *const verbs[] = {"open",  "read",  "flush", "merge",
                                    "split", "check", "store", "drop"};
static const char *const dirs[] = {"src/core", "src/net", "src/store", "lib", "tests/unit"};

/* ---- messages ---- */

static const struct message *
push(struct talk *t, struct message_builder *take_b)
{
    struct message *m = message_build(take_b);
    snprintf(m->uuid, sizeof m->uuid, "%08llx-0000-4000-8000-%012llx",
             (unsigned long long)t->random & 0xffffffffu, (unsigned long long)++t->serial);
    m->wall_ms = 1700000000000 + (int64_t)t->serial * 1000;
    ARRAY_GROW(t->m, t->n, t->cap);
    t->m[t->n++] = m;
    t->bytes += m->json.len;
    return m;
}

const struct message *
talk_user(struct talk *t, const char *text)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, str_from(text));
    return push(t, b);
}

const struct message *
talk_say(struct talk *t, const char *text)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    message_add_text(b, str_from(text));
    return push(t, b);
}

const struct message *
talk_calls(struct talk *t, const char *said, const struct talk_call *calls, size_t n)
{
    struct message_builder *b = message_builder_new(ROLE_ASSISTANT);
    struct message_builder *r = message_builder_new(ROLE_USER);
    if (t->serial % 3 == 0)
        message_add_thinking(b, STR("let me see what is there"), STR("c2lnbmF0dXJl"));
    if (said)
        message_add_text(b, str_from(said));
    for (size_t i = 0; i < n; i++) {
        char id[40];
        snprintf(id, sizeof id, "toolu_%06llu_%zu", (unsigned long long)t->serial, i);
        message_add_tool_use(b, str_from(id), str_from(calls[i].name), str_from(calls[i].input));
        message_add_tool_result(r, str_from(id), str_from(calls[i].result), calls[i].failed);
    }
    push(t, b);
    return push(t, r);
}

void
talk_release(struct talk *t)
{
    for (size_t i = 0; i < t->n; i++)
        message_free(t->m[i]);
    free(t->m);
    *t = (struct talk){0};
}

/* ---- texts ---- */

char *
talk_code(struct talk *t, size_t lines)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < lines; i++) {
        const char *n = PICK(t, nouns), *v = PICK(t, verbs);
        switch (talk_below(t, 5)) {
        case 0:
            buf_addf(&b, "%5zu\tstatic int %s_%s(struct %s *p, size_t n)\n", i + 1, n, v, n);
            break;
        case 1:
            buf_addf(&b, "%5zu\t    if (!p->%s || n > %zu) return -1; /* \"%s\" */\n", i + 1, n,
                     talk_below(t, 9000), v);
            break;
        case 2:
            buf_addf(&b, "%5zu\t    p->%s = %s_%s(p, n + %zu);\n", i + 1, n, PICK(t, nouns), v,
                     talk_below(t, 90));
            break;
        case 3:
            buf_addf(&b, "%5zu\t}\n", i + 1);
            break;
        default:
            buf_addf(&b, "%5zu\t/* the %s is %s before the %s */\n", i + 1, n, v, PICK(t, nouns));
        }
    }
    return buf_take(&b);
}

char *
talk_prose(struct talk *t, size_t sentences)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < sentences; i++) {
        static const char *const forms[] = {
            "The %s must be %s before the %s. ", "I looked at the %s, which does %s the %s. ",
            "Next I %s the %s and then the %s. ", "That %s fails because nobody does %s the %s. "};
        const char *form = PICK(t, forms);
        const char *n = PICK(t, nouns), *v = PICK(t, verbs), *o = PICK(t, nouns);
        bool third = strstr(form, "Next I") != NULL;
        buf_addf(&b, "%s", "");
        struct buf one;
        buf_init(&one, 512);
        const char *words[3] = {third ? v : n, third ? n : v, o};
        size_t w = 0;
        for (const char *p = form; *p; p++) {
            if (p[0] == '%' && p[1] == 's') {
                buf_adds(&one, words[w++]);
                p++;
            } else {
                buf_addc(&one, *p);
            }
        }
        buf_add_str(&b, buf_str(&one));
        buf_release(&one);
    }
    return buf_take(&b);
}

static char *
a_path(struct talk *t)
{
    return xasprintf("%s/%s_%s.c", PICK(t, dirs), PICK(t, nouns), PICK(t, verbs));
}

/* ---- steps ---- */

static void
step_read(struct talk *t, const char *path, size_t lines)
{
    char *code = talk_code(t, lines), *said = talk_prose(t, 1);
    char *input = talk_below(t, 3)
                      ? xasprintf("{\"file_path\":\"%s\"}", path)
                      : xasprintf("{\"file_path\":\"%s\",\"offset\":%zu,\"limit\":%zu}", path,
                                  1 + talk_below(t, 3) * lines, lines);
    const struct talk_call c = {"Read", input, code, false};
    talk_calls(t, talk_below(t, 2) ? said : NULL, &c, 1);
    free(code);
    free(said);
    free(input);
}

static void
step_edit(struct talk *t, const char *path)
{
    char *input = xasprintf("{\"file_path\":\"%s\",\"old_string\":\"%s\",\"new_string\":\"%s\"}",
                            path, PICK(t, nouns), PICK(t, nouns));
    char *result = xasprintf("The file %s has been changed.", path);
    const struct talk_call c = {"Edit", input, result, false};
    talk_calls(t, NULL, &c, 1);
    free(input);
    free(result);
}

static void
step_test(struct talk *t, bool failed)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    size_t n = 40 + talk_below(t, 160);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "[%3zu/%zu] test %s_%s ... %s\n", i, n, PICK(t, nouns), PICK(t, verbs),
                 failed && talk_below(t, 20) == 0 ? "FAILED: assertion 'p != NULL' failed" : "ok");
    buf_addf(&b, failed ? "error: %zu tests failed\n" : "all %zu tests passed\n", n / 20);
    const struct talk_call c = {"Bash", "{\"command\":\"make test\"}", buf_cstr(&b), failed};
    talk_calls(t, "I run the tests.", &c, 1);
    buf_release(&b);
}

static void
step_grep(struct talk *t, size_t hits)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < hits; i++) {
        char *p = a_path(t);
        buf_addf(&b, "%s:%zu:    %s_%s(p, %zu);\n", p, talk_below(t, 900), PICK(t, nouns),
                 PICK(t, verbs), talk_below(t, 90));
        free(p);
    }
    char *input = xasprintf("{\"pattern\":\"%s_%s\",\"output_mode\":\"content\"}", PICK(t, nouns),
                            PICK(t, verbs));
    const struct talk_call c = {"Grep", input, buf_cstr(&b), false};
    talk_calls(t, NULL, &c, 1);
    free(input);
    buf_release(&b);
}

static void
step_todo(struct talk *t)
{
    char *input = xasprintf("{\"todos\":[{\"content\":\"%s the %s\",\"status\":\"pending\"}]}",
                            PICK(t, verbs), PICK(t, nouns));
    const struct talk_call c = {"TodoWrite", input, "The list is kept.", false};
    talk_calls(t, NULL, &c, 1);
    free(input);
}

static void
step_many(struct talk *t)
{
    struct talk_call c[4];
    char *owned[8];
    size_t n = 2 + talk_below(t, 3);
    for (size_t i = 0; i < n; i++) {
        char *p = a_path(t);
        owned[2 * i] = xasprintf("{\"file_path\":\"%s\"}", p);
        owned[2 * i + 1] = talk_code(t, 5 + talk_below(t, 60));
        c[i] = (struct talk_call){"Read", owned[2 * i], owned[2 * i + 1], talk_below(t, 9) == 0};
        free(p);
    }
    talk_calls(t, "I look at several files at once.", c, n);
    for (size_t i = 0; i < 2 * n; i++)
        free(owned[i]);
}

static void
step(struct talk *t, enum talk_kind kind)
{
    char *path = a_path(t);
    size_t dice = talk_below(t, 100);
    if (kind == TALK_DEBUG && dice < 45)
        step_test(t, talk_below(t, 4) != 0);
    else if (kind == TALK_RESEARCH && dice < 60)
        step_grep(t, 20 + talk_below(t, 150));
    else if (kind == TALK_REFACTOR && dice < 20)
        step_edit(t, path);
    else if (dice < 55)
        step_read(t, path, 40 + talk_below(t, 260));
    else if (dice < 65)
        step_edit(t, path);
    else if (dice < 75)
        step_test(t, talk_below(t, 2) == 0);
    else if (dice < 82)
        step_grep(t, 5 + talk_below(t, 40));
    else if (dice < 86)
        step_todo(t);
    else
        step_many(t);
    free(path);
}

void
talk_more(struct talk *t, enum talk_kind kind, size_t tokens)
{
    size_t until = t->bytes + tokens * 4;
    while (t->bytes < until) {
        char *ask = talk_prose(t, 1 + talk_below(t, 3));
        char *asked = xasprintf("Task %llu: %s", (unsigned long long)t->serial, ask);
        talk_user(t, asked);
        size_t steps = kind == TALK_ANY ? talk_below(t, 6) : 4 + talk_below(t, 22);
        for (size_t i = 0; i < steps && t->bytes < until; i++)
            step(t, kind == TALK_ANY ? (enum talk_kind)talk_below(t, 4) : kind);
        char *answer = talk_prose(t, 2 + talk_below(t, 6));
        talk_say(t, answer);
        free(ask);
        free(asked);
        free(answer);
    }
}

void
talk_make(struct talk *t, enum talk_kind kind, uint64_t seed, size_t tokens)
{
    *t = (struct talk){.random = seed * 2654435761u + 99};
    talk_more(t, kind, tokens);
}
