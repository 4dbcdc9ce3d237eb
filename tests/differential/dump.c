/* What the shell analysis says of command lines: NUL-terminated lines in, a JSON object for each out. Bytes are written as the code
 * points of their values, so that nothing is lost that is no UTF-8. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perm/leaf.h"

static const char *const roles[] = {"run", "wrapper", "inner", "assign"};
static const char *const classes[] = {"unknown", "reader", "git-read", "editor", "known", "danger"};
static const char *const kinds[] = {"read",        "read-tree", "write", "delete",
                                    "delete-tree", "exec",      "net"};

static void
put(struct str s)
{
    putchar('"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static const char *
yes(bool b)
{
    return b ? "true" : "false";
}

static void
put_text_or_null(const char *s)
{
    if (s)
        put(str_from(s));
    else
        fputs("null", stdout);
}

static void
put_effects(const struct perm_leaf *l)
{
    fputs("],\"effects\":[", stdout);
    for (size_t i = 0; i < l->n_effects; i++) {
        const struct perm_effect *e = &l->effects[i];
        printf("%s{\"kind\":\"%s\",\"redirect\":%s,\"glob\":%s,\"path\":", i ? "," : "",
               kinds[e->kind], yes(e->redirect), yes(e->glob));
        put_text_or_null(e->path);
        putchar('}');
    }
}

static void
put_leaf(const struct perm_leaf *l)
{
    printf("{\"role\":\"%s\",\"class\":\"%s\",\"argv_known\":%s,\"name_known\":%s,"
           "\"effects_unknown\":%s,\"transparent\":%s,\"wrapper\":%lld,\"bad_env\":%s,\"argv\":[",
           roles[l->role], classes[l->cls], yes(l->argv_known), yes(l->name_known),
           yes(l->effects_unknown), yes(l->transparent),
           l->wrapper == SIZE_MAX ? -1LL : (long long)l->wrapper, yes(l->bad_env));
    for (size_t i = 0; i < l->n_argv; i++) {
        fputs(i ? ",[" : "[", stdout);
        put(l->argv[i].text);
        printf(",%s,%s]", yes(l->argv[i].known), yes(l->argv[i].glob));
    }
    fputs("],\"why\":", stdout);
    put_text_or_null(l->unknown_why);
    fputs(",\"cwds\":[", stdout);
    for (size_t i = 0; i < l->n_cwds; i++) {
        fputs(i ? "," : "", stdout);
        put(str_from(l->cwds[i]));
    }
    fputs("],\"assigns\":[", stdout);
    for (size_t i = 0; i < l->n_assigns; i++) {
        const struct perm_assign *a = &l->assigns[i];
        fputs(i ? ",[" : "[", stdout);
        put(a->name);
        putchar(',');
        put(a->value.text);
        printf(",%s,%s]", yes(a->value.known), yes(a->exported_only_here));
    }
    put_effects(l);
    fputs("]}", stdout);
}

static void
put_analysis(const struct perm_analysis *a)
{
    printf("{\"incomplete\":%s,\"unparsable\":%s,\"why\":", yes(a->incomplete), yes(a->unparsable));
    put_text_or_null(a->why);
    fputs(",\"leaves\":[", stdout);
    for (size_t i = 0; i < a->n_leaves; i++) {
        fputs(i ? "," : "", stdout);
        put_leaf(&a->leaves[i]);
    }
    fputs("]}\n", stdout);
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: perm_dump FOLDER HOME < lines\n", stderr);
        return 2;
    }
    struct perm_shell_env env = {.cwd = argv[1], .home = argv[2], .root = argv[1], .shell = "bash"};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getdelim(&line, &cap, '\0', stdin)) > 0) {
        struct perm_analysis a;
        size_t len = line[n - 1] == '\0' ? (size_t)n - 1 : (size_t)n;
        perm_shell_analyse(str_make(line, len), &env, &a);
        put_analysis(&a);
        perm_analysis_release(&a);
    }
    free(line);
    return 0;
}
