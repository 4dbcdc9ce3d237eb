#pragma once
/*
 * A small world for permission tests: /proj is the project (a git repository, trusted), /home/dev the home, /srv/lib a folder
 * outside. Paths in texts are moved below a temporary folder. Needs cmocka.h included before.
 */
#include "unit/temp_dir.h"

#include "base/json.h"
#include "perm/chain.h"
#include "perm/check.h"

/* Made before the tests of a program and removed behind them, by world_setup and world_teardown of its group. */
static char *world, *proj, *home;

static inline void
world_replace(struct buf *out, const char *text, const char *to)
{
    static const char *const moved[] = {"/home/dev", "/proj", "/srv/lib"};
    while (*text) {
        size_t i = 0;
        while (i < ARRAY_LEN(moved) && strncmp(text, moved[i], strlen(moved[i])) != 0)
            i++;
        if (i < ARRAY_LEN(moved)) {
            buf_adds(out, to);
            buf_adds(out, moved[i]);
            text += strlen(moved[i]);
        } else {
            buf_addc(out, *text++);
        }
    }
}

static inline void
world_link(const char *name, const char *target)
{
    char *path = fs_join(world, name), *to = fs_join(world, target);
    assert_int_equal(symlink(to, path), 0);
    free(path);
    free(to);
}

static inline void
world_hard_link(const char *name, const char *target)
{
    char *path = fs_join(world, name), *to = fs_join(world, target);
    assert_int_equal(link(to, path), 0);
    free(path);
    free(to);
}

static inline int
world_setup(void **state)
{
    (void)state;
    static const char *const files[] = {
        "proj/.git/HEAD",
        "proj/.env",
        "proj/README.md",
        "proj/src/x.c",
        "proj/.yare/settings.json",
        "proj/vendor/lib/.git/HEAD",
        "proj/vendor/b/HEAD",
        "proj/vendor/b/objects/x",
        "proj/vendor/b/refs/x",
        "home/dev/.ssh/id_rsa",
        "srv/lib/x",
    };
    world = temp_dir_make();
    proj = fs_join(world, "proj");
    home = fs_join(world, "home/dev");
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        temp_file_write(world, files[i], "");
    world_link("proj/link", "proj/.env");
    world_link("proj/lnk", "home/dev");
    world_link("proj/src/lnk", "home/dev");
    world_link("proj/own", "proj/.yare");
    temp_file_write(world, "srv/lib/curl", "");
    world_link("proj/get", "srv/lib/curl");
    temp_file_write(world, "proj/keys.txt", "");
    world_hard_link("proj/hard", "proj/keys.txt");
    return 0;
}

static inline int
world_teardown(void **state)
{
    (void)state;
    free(proj);
    free(home);
    temp_dir_remove(world);
    return 0;
}

/* A call in the project by the person at home, who is there to answer. Borrows input and rules. */
static inline struct perm_request
world_request(const char *tool, const struct cJSON *input, const struct perm_rules *rules)
{
    return (struct perm_request){.tool = tool,
                                 .input = input,
                                 .rules = rules,
                                 .root = proj,
                                 .cwd = proj,
                                 .home = home,
                                 .trusted = true,
                                 .interactive = true,
                                 .case_insensitive = 0,
                                 .mode_scope = SCOPE_USER};
}

/* The input of a Bash call. */
static inline struct cJSON *
world_bash_input(const char *command)
{
    struct buf b;
    struct err err;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "{\"command\":");
    json_quote(&b, str_from(command));
    buf_addc(&b, '}');
    struct cJSON *t = json_parse(buf_str(&b), &err);
    assert_non_null(t);
    buf_release(&b);
    return t;
}

/* The answer lines to these record lines; yours. Not inlined: gcc 12 then takes what open_memstream allocated for a local. */
static __attribute__((noinline, unused)) char *
world_ask(const char *records, size_t len)
{
    char *answer = NULL;
    size_t n = 0;
    FILE *in = fmemopen((void *)(uintptr_t)records, len, "r"), *out = open_memstream(&answer, &n);
    assert_non_null(in);
    assert_non_null(out);
    assert_int_equal(perm_check_run(in, out), 0);
    fclose(in);
    fclose(out);
    return answer;
}
