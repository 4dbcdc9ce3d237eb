#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/config.h"
#include "base/json.h"
#include "unit/temp_dir.h"

struct fixture {
    char *dir, *home, *config_dir, *root, *system;
    struct config_paths paths;
    struct config *c;
};

static int
set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    unsetenv("CLAUDE_CONFIG_DIR");
    f->dir = temp_dir_make();
    f->home = fs_join(f->dir, "home");
    f->config_dir = fs_join(f->dir, "home/.config/yare");
    f->root = fs_join(f->dir, "project");
    f->system = fs_join(f->dir, "etc");
    f->paths = (struct config_paths){.home = f->home,
                                     .config_dir = f->config_dir,
                                     .project_root = f->root,
                                     .system_dir = f->system};
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    config_free(f->c);
    temp_dir_remove(f->dir);
    free(f->home);
    free(f->config_dir);
    free(f->root);
    free(f->system);
    free(f);
    return 0;
}

static const struct config *
load(struct fixture *f)
{
    config_free(f->c);
    return f->c = config_load(&f->paths);
}

static void
nothing_there_is_no_problem(void **state)
{
    const struct config *c = load(*state);
    const struct config_problem *p;
    const struct config_source *s;
    assert_int_equal(config_problems(c, &p), 0);
    assert_int_equal(config_sources(c, &s), 0);
    assert_string_equal(config_str(c, "model", false, "none"), "none");
    assert_int_equal(config_int(c, "cleanupPeriodDays", false, 30), 30);
    assert_true(config_bool(c, "verbose", false, true));
    assert_int_equal(config_list(c, "permissions.allow", false, NULL, 0), 0);
    assert_null(config_origin(c, "model", false));
}

/* Every file of every scope, the highest first. */
static const struct {
    const char *file, *name;
} order[] = {
    {"etc/yare/settings.json", "managed"},
    {"etc/claude-code/managed-settings.d/20.json", "managed"},
    {"etc/claude-code/managed-settings.d/10.json", "managed"},
    {"etc/claude-code/managed-settings.json", "managed"},
    {"cli.json", "cli"},
    {"project/.yare/settings.local.json", "local"},
    {"project/.claude/settings.local.json", "local"},
    {"project/.yare/settings.json", "project"},
    {"project/.claude/settings.json", "project"},
    {"home/.config/yare/settings.json", "user"},
    {"home/.claude/settings.json", "user"},
};

static void
scopes_stand_in_order(void **state)
{
    struct fixture *f = *state;
    char *cli = fs_join(f->dir, "cli.json");
    struct config_item items[32];
    f->paths.cli_settings = cli;
    /* From the lowest up, each new file wins the scalar and comes first in the list. */
    for (size_t i = ARRAY_LEN(order); i-- > 0;) {
        char text[256];
        snprintf(
            text, sizeof text,
            "{\n \"model\": \"m%zu\",\n \"permissions\": {\"allow\": [\n  \"same\",\n  \"r%zu\"]}}",
            i, i);
        temp_file_write(f->dir, order[i].file, text);
        const struct config *c = load(f);
        char want[32];
        snprintf(want, sizeof want, "m%zu", i);
        assert_string_equal(config_str(c, "model", false, ""), want);
        assert_string_equal(scope_name(config_origin(c, "model", false)->scope), order[i].name);
        assert_int_equal(config_list(c, "permissions.allow", false, items, 32),
                         ARRAY_LEN(order) - i + 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        const struct config_item *it = &items[i + 1];
        char want[32];
        snprintf(want, sizeof want, "r%zu", i);
        assert_true(str_is(it->value, want));
        assert_int_equal(it->line, 5);
        assert_true(str_ends(str_from(it->source->file), order[i].file));
        assert_int_equal(it->source->claude, strstr(order[i].file, "claude") != NULL);
    }
    const struct config *c = f->c;
    /* Without the project's own: managed (4), cli, user (2), and "same". */
    assert_int_equal(config_list(c, "permissions.allow", true, items, 32), 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(items[i].source->scope != SCOPE_PROJECT &&
                    items[i].source->scope != SCOPE_LOCAL);
    /* A short array gets the first ones; the count is the whole. */
    assert_int_equal(config_list(c, "permissions.allow", false, items, 1), ARRAY_LEN(order) + 1);
    free(cli);
}

static void
untrusted_project_cannot_set_scalars(void **state)
{
    struct fixture *f = *state;
    temp_file_write(f->dir, "project/.claude/settings.json",
                    "{\"model\":\"evil\",\"baseUrl\":\"http://evil\"}");
    temp_file_write(f->dir, "home/.claude/settings.json", "{\"model\":\"mine\"}");
    const struct config *c = load(f);
    assert_string_equal(config_str(c, "model", false, ""), "evil");
    assert_string_equal(config_str(c, "model", true, ""), "mine");
    assert_null(config_str(c, "baseUrl", true, NULL));
    assert_int_equal(config_origin(c, "model", true)->scope, SCOPE_USER);
}

static void
inline_settings_and_missing_file(void **state)
{
    struct fixture *f = *state;
    const struct config_problem *p;
    f->paths.cli_settings = " {\"model\":\"inline\",\"verbose\":true,\"cleanupPeriodDays\":7}";
    const struct config *c = load(f);
    assert_string_equal(config_str(c, "model", true, ""), "inline");
    assert_true(config_bool(c, "verbose", true, false));
    assert_int_equal(config_int(c, "cleanupPeriodDays", true, 30), 7);
    assert_string_equal(config_origin(c, "model", true)->file, "");
    f->paths.cli_settings = "/no/such/settings.json";
    c = load(f);
    assert_int_equal(config_problems(c, &p), 1);
    assert_string_equal(p[0].file, "/no/such/settings.json");
}

static void
broken_files_are_named_with_their_line(void **state)
{
    struct fixture *f = *state;
    const struct config_problem *p;
    temp_file_write(f->dir, "home/.claude/settings.json",
                    "{\n  \"model\": \"x\",\n  // no comments\n}\n");
    temp_file_write(f->dir, "project/.yare/settings.json", "[1]");
    temp_file_write(f->dir, "project/.claude/settings.json", "\xEF\xBB\xBF{\"model\":\"bom\"}");
    temp_file_write(f->dir, "home/.config/yare/settings.json", "  \n");
    const struct config *c = load(f);
    assert_int_equal(config_problems(c, &p), 2);
    assert_true(str_ends(str_from(p[0].file), "project/.yare/settings.json"));
    assert_true(str_ends(str_from(p[1].file), ".claude/settings.json"));
    assert_int_equal(p[1].line, 3);
    assert_ptr_equal(config_broken(c), &p[0]);
    assert_string_equal(config_str(c, "model", false, ""), "bom");
    char *text = temp_file_read(f->dir, "home/.claude/settings.json");
    assert_non_null(strstr(text, "// no comments"));
    free(text);
}

static void
wrong_types_and_unknown_keys_are_told(void **state)
{
    struct fixture *f = *state;
    const struct config_problem *p;
    struct config_item items[8];
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\n\"model\": 5,\n\"permissions\": {\"deny\": \"Bash\",\n \"allow\": "
                    "[\"a\",\n 7, \"b\"]},\n"
                    "\"inventedKey\": {\"x\": 1}}");
    temp_file_write(f->dir, "home/.claude/settings.json", "{\"model\":\"below\"}");
    const struct config *c = load(f);
    assert_null(config_broken(c)); /* what else these files say counts */
    assert_int_equal(config_problems(c, &p), 3);
    for (size_t i = 0; i < 3; i++) {
        if (strstr(p[i].text, "permissions.allow"))
            assert_int_equal(p[i].line, 5);
        else if (strstr(p[i].text, "permissions.deny"))
            assert_int_equal(p[i].line, 3);
        else
            assert_int_equal(p[i].line, 2);
    }
    assert_string_equal(config_str(c, "model", false, ""), "below");
    assert_int_equal(config_list(c, "permissions.allow", false, items, 8), 2);
    assert_int_equal(items[1].line, 5);
    assert_int_equal(config_unknown(c, &p), 1);
    assert_int_equal(p[0].line, 6);
    assert_non_null(strstr(p[0].text, "inventedKey"));
}

/* A limit under a wrong name, of a wrong type or out of range would be no limit. */
static void
the_afk_settings_are_checked(void **state)
{
    struct fixture *f = *state;
    const struct config_problem *p;
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\"afk\": {\"model\": 5,\n\"timeout\": 0,\n\"max_wait\": -1,\n"
                    "\"max_wiat\": 60}}");
    const struct config *c = load(f);
    assert_int_equal(config_problems(c, &p), 4);
    assert_string_equal(p[0].text, "'afk.model' must be a string; it is ignored");
    assert_string_equal(p[1].text, "'afk.timeout' must be from 1 to 300; it is ignored");
    assert_int_equal(p[1].line, 2);
    assert_string_equal(p[2].text, "'afk.max_wait' must be from 0 to 604800; it is ignored");
    assert_string_equal(p[3].text,
                        "'afk.max_wiat' is not known and has no effect; did you mean 'max_wait'?");
    assert_int_equal(p[3].line, 4);
}

/* A number out of its range does not count: the next scope's does, or the default; and what it is multiplied with cannot run over. */
static void
a_number_out_of_its_range_does_not_count(void **state)
{
    static const struct {
        const char *path, *json, *told;
    } odd[] = {
        {"compact.at", "{\"compact\": {\"at\": -5}}", "50 to 95"},
        {"compact.at", "{\"compact\": {\"at\": 1e300}}", "50 to 95"},
        {"autoCompactWindow", "{\"autoCompactWindow\": -1}", "1000 to"},
        {"autoCompactWindow", "{\"autoCompactWindow\": 1}", "1000 to"},
        {"contextWindow", "{\"contextWindow\": 3}", "1000 to"},
        {"contextWindow", "{\"contextWindow\": 1e300}", "1000 to"},
        {"api.stall", "{\"api\": {\"stall\": 1e300}}", "0 to 86400"},
        {"api.stall", "{\"api\": {\"stall\": -7}}", "0 to 86400"},
        {"budget.session", "{\"budget\": {\"session\": -3}}", "0 to"},
        {"budget.day", "{\"budget\": {\"day\": 1e300}}", "0 to"},
        {"afk.timeout", "{\"afk\": {\"timeout\": 1e300}}", "1 to 300"},
    };
    struct fixture *f = *state;
    const struct config_problem *p;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        temp_file_write(f->dir, "home/.config/yare/settings.json", odd[i].json);
        const struct config *c = load(f);
        assert_int_equal(config_int(c, odd[i].path, false, 77), 77);
        assert_int_equal(config_num(c, odd[i].path, false, 77), 77);
        assert_int_equal(config_problems(c, &p), 1);
        assert_int_equal(p[0].line, 1);
        assert_non_null(strstr(p[0].file, "home/.config/yare/settings.json"));
        assert_non_null(strstr(p[0].text, odd[i].told));
        assert_non_null(strstr(p[0].text, "it is ignored"));
    }
    temp_file_write(f->dir, "home/.claude/settings.json", "{\"compact\": {\"at\": 60}}");
    temp_file_write(f->dir, "home/.config/yare/settings.json", "{\"compact\": {\"at\": 6}}");
    assert_int_equal(config_int(load(f), "compact.at", false, 77), 60);
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\"budget\": {\"session\": 0.25}, \"compact\": {\"att\": 6}}");
    const struct config *c = load(f);
    assert_true(config_num(c, "budget.session", false, 0) == 0.25);
    assert_int_equal(config_problems(c, &p), 1);
    assert_non_null(strstr(p[0].text, "did you mean 'at'?"));
}

/* A list of deny rules under a name that is nearly right would be no rule at all. */
static void
a_misspelt_permissions_key_is_told(void **state)
{
    struct fixture *f = *state;
    const struct config_problem *p;
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\"permissions\": {\n \"dney\": [\"Read(.env)\"],\n \"Allow\": [],\n"
                    " \"forbidden\": [],\n \"deny\": [\"Read(x)\"]\n},\n\"permisions\": {}}");
    const struct config *c = load(f);
    assert_int_equal(config_problems(c, &p), 4);
    assert_string_equal(p[0].text,
                        "'permissions.dney' is not known and has no effect; did you mean 'deny'?");
    assert_true(str_ends(str_from(p[0].file), ".config/yare/settings.json"));
    assert_int_equal(p[0].line, 2);
    assert_non_null(strstr(p[1].text, "did you mean 'allow'?"));
    assert_int_equal(p[1].line, 3);
    assert_string_equal(p[2].text, "'permissions.forbidden' is not known and has no effect");
    assert_string_equal(p[3].text,
                        "'permisions' is not known and has no effect; did you mean 'permissions'?");
    assert_int_equal(p[3].line, 7);
    assert_int_equal(config_unknown(c, &p), 0);
}

/* A word of the screen's settings that means nothing; the longer names of other tools' themes do. */
static void
words_that_mean_nothing_are_told(void **state)
{
    struct fixture *f = *state;
    const struct config_problem *p;
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\"theme\":\"pink\",\n\"notify\":\"loud\"}");
    assert_int_equal(config_problems(load(f), &p), 2);
    assert_string_equal(p[0].text,
                        "'theme' must be auto, dark or light, not 'pink'; it is ignored");
    assert_int_equal(p[1].line, 2);
    assert_non_null(strstr(p[1].text, "bell, osc9 or off, not 'loud'"));
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\"theme\":\"dark-daltonized\",\"notify\":\"off\"}");
    assert_int_equal(config_problems(load(f), &p), 0);
}

static void
some_lists_replace(void **state)
{
    struct fixture *f = *state;
    struct config_item items[8];
    temp_file_write(f->dir, "home/.config/yare/settings.json",
                    "{\"availableModels\":[\"a\",\"b\"]}");
    temp_file_write(f->dir, "etc/yare/settings.json", "{\"availableModels\":[\"c\"]}");
    assert_int_equal(config_list(load(f), "availableModels", false, items, 8), 1);
    assert_true(str_is(items[0].value, "c"));
}

static void
moved_claude_folder_and_home_as_project(void **state)
{
    struct fixture *f = *state;
    const struct config_source *s;
    temp_file_write(f->dir, "moved/settings.json", "{\"model\":\"moved\"}");
    temp_file_write(f->dir, "home/.claude/settings.json", "{\"model\":\"home\"}");
    char *moved = fs_join(f->dir, "moved");
    setenv("CLAUDE_CONFIG_DIR", moved, 1);
    assert_string_equal(config_str(load(f), "model", false, ""), "moved");
    unsetenv("CLAUDE_CONFIG_DIR");
    free(moved);
    f->paths.project_root = f->home;
    const struct config *c = load(f);
    assert_int_equal(config_sources(c, &s), 1);
    assert_int_equal(s[0].scope, SCOPE_USER);
    f->paths.project_root = NULL;
    assert_string_equal(config_str(load(f), "model", true, ""), "home");
}

static void
objects_by_source(void **state)
{
    struct fixture *f = *state;
    const struct config_source *s;
    temp_file_write(f->dir, "home/.claude/settings.json", "{\"env\":{\"A\":\"1\"},\"x\":1}");
    const struct config *c = load(f);
    assert_int_equal(config_sources(c, &s), 1);
    assert_string_equal(json_cstr(config_value(c, 0, "env"), "A", ""), "1");
    assert_null(config_value(c, 0, "hooks"));
    assert_null(config_value(c, 1, "env"));
    assert_true(str_contains(config_text(c, 0), STR("\"A\"")));
}

static void
a_huge_list_stays_cheap(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, BUF_MAX);
    buf_adds(&text, "{\"permissions\":{\"deny\":[\"first\"");
    for (int i = 0; i < 150000; i++)
        buf_addf(&text, ",\n\"Bash(cmd%d)\"", i);
    buf_adds(&text, "]}}");
    temp_file_write(f->dir, "project/.claude/settings.json", buf_cstr(&text));
    buf_release(&text);
    const struct config *c = load(f);
    struct config_item *items = xcalloc(150001, sizeof *items);
    assert_int_equal(config_list(c, "permissions.deny", false, items, 150001), 150001);
    assert_int_equal(items[150000].line, 150001);
    free(items);
}

/* ---- adding to a file ---- */

static void
add(struct fixture *f, const char *name, const char *value)
{
    char *file = fs_join(f->dir, name);
    struct err err;
    if (!config_add_to_list(file, "permissions.allow", value, &err))
        fail_msg("%s", err.text);
    free(file);
}

static void
adding_makes_file_and_folder(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    add(f, "project/.yare/settings.local.json", "Bash(ls \"*\")");
    add(f, "project/.yare/settings.local.json", "Read(/tmp/**)");
    add(f, "project/.yare/settings.local.json", "Read(/tmp/**)");
    char *text = temp_file_read(f->root, ".yare/settings.local.json");
    assert_string_equal(text,
                        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls \\\"*\\\")\",\n"
                        "      \"Read(/tmp/**)\"\n    ]\n  }\n}\n");
    free(text);
    char *file = fs_join(f->root, ".yare/settings.local.json");
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    free(file);
}

static const struct {
    const char *before, *after;
} splices[] = {
    {"{}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"v\"\n    ]\n  }\n}"},
    {"", "{\n  \"permissions\": {\n    \"allow\": [\n      \"v\"\n    ]\n  }\n}\n"},
    {"{\"permissions\":{\"allow\":[]}}", "{\"permissions\":{\"allow\":[\n      \"v\"\n    ]}}"},
    {"{\"permissions\":{\"allow\":[\"a\",\"b\"]}}",
     "{\"permissions\":{\"allow\":[\"a\",\"b\",\"v\"]}}"},
    {"{ \"big\": 12345678901234567890, \"permissions\": { \"allow\": [ \"]}\\\"\" ] } }\n",
     "{ \"big\": 12345678901234567890, \"permissions\": { \"allow\": [ \"]}\\\"\", \"v\" ] } }\n"},
    {"{\n\t\"z\": {\"permissions\": 1},\n\t\"permissions\": {\n\t\t\"deny\": "
     "[\n\t\t\t\"d\"\n\t\t]\n\t}\n}",
     "{\n\t\"z\": {\"permissions\": 1},\n\t\"permissions\": {\n\t\t\"deny\": "
     "[\n\t\t\t\"d\"\n\t\t],\n\t\t\"allow\": [\n"
     "      \"v\"\n    ]\n\t}\n}"},
    {"{\"permissions\":{\"allow\":[\"v\"]}}", "{\"permissions\":{\"allow\":[\"v\"]}}"},
};

static void
adding_keeps_every_other_byte(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(splices); i++) {
        temp_file_write(f->dir, "s.json", splices[i].before);
        add(f, "s.json", "v");
        char *text = temp_file_read(f->dir, "s.json");
        assert_string_equal(text, splices[i].after);
        free(text);
    }
}

static void
adding_refuses_what_it_cannot_read(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "{\"permissions\": {\"allow\": [\"a\",]}}",
        "[]",
        "{\"permissions\": []}",
        "{\"permissions\": {\"allow\": \"all\"}}",
        "{\"permissions\": null}",
        "{\"\\u0070ermissions\": {\"allow\": [\"a\"]}}",
        "{\"permissions\": {\"allow\": [\"a\"]}} tail",
    };
    char *file = fs_join(f->dir, "bad.json");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};
        temp_file_write(f->dir, "bad.json", bad[i]);
        assert_false(config_add_to_list(file, "permissions.allow", "v", &err));
        assert_non_null(strstr(err.text, "bad.json"));
        char *text = temp_file_read(f->dir, "bad.json");
        assert_string_equal(text, bad[i]);
        free(text);
    }
    free(file);
}

static void
a_hand_edit_between_stays(void **state)
{
    struct fixture *f = *state;
    struct config_item items[8];
    add(f, "project/.yare/settings.local.json", "one");
    load(f); /* what a running program holds in memory */
    temp_file_write(
        f->root, ".yare/settings.local.json",
        "{\n  \"theme\": \"mine\",\n  \"permissions\": {\"allow\": [\"by hand\"]}\n}\n");
    add(f, "project/.yare/settings.local.json", "two");
    const struct config *c = load(f);
    assert_string_equal(config_str(c, "theme", false, ""), "mine");
    assert_int_equal(config_list(c, "permissions.allow", false, items, 8), 2);
    assert_true(str_is(items[0].value, "by hand"));
    assert_true(str_is(items[1].value, "two"));
}

static void
processes_add_side_by_side(void **state)
{
    struct fixture *f = *state;
    enum { PROCESSES = 4, EACH = 15 };
    char *file = fs_join(f->root, ".yare/settings.local.json");
    struct config_item items[PROCESSES * EACH];
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++) {
                char value[32];
                snprintf(value, sizeof value, "Bash(p%d-%d)", p, i);
                if (!config_add_to_list(file, "permissions.allow", value, NULL))
                    _exit(1);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    assert_int_equal(config_list(load(f), "permissions.allow", false, items, PROCESSES * EACH),
                     PROCESSES * EACH);
    free(file);
}

static void
folders_come_from_the_environment(void **state)
{
    struct fixture *f = *state;
    setenv("HOME", f->home, 1);
    unsetenv("YARE_CONFIG_DIR");
    unsetenv("XDG_CONFIG_HOME");
    char *dir = config_dir();
    assert_true(str_ends(str_from(dir), "home/.config/yare"));
    free(dir);
    setenv("XDG_CONFIG_HOME", "relative/is/ignored", 1);
    dir = config_dir();
    assert_true(str_ends(str_from(dir), "home/.config/yare"));
    free(dir);
    setenv("XDG_CONFIG_HOME", "/xdg", 1);
    dir = config_dir();
    assert_string_equal(dir, "/xdg/yare");
    free(dir);
    setenv("YARE_CONFIG_DIR", "/own", 1);
    dir = config_dir();
    assert_string_equal(dir, "/own");
    free(dir);
    setenv("YARE_DATA_DIR", "/data", 1);
    dir = config_data_dir();
    assert_string_equal(dir, "/data");
    free(dir);

    char *deep = fs_join(f->root, "a/b"), *git = fs_join(f->root, ".git");
    assert_true(fs_mkdirs(deep, 0700, NULL));
    dir = config_project_root(deep);
    assert_string_equal(dir, deep);
    free(dir);
    assert_true(fs_mkdirs(git, 0700, NULL));
    dir = config_project_root(deep);
    assert_string_equal(dir, f->root);
    free(dir);
    free(git);
    free(deep);
}

/* ---- setting strings ---- */

static const struct {
    const char *before, *key, *value, *after;
} settings_cases[] = {
    {"{}\n", "model", "m", "{\n  \"model\": \"m\"\n}\n"},
    {"", "model", "m\"x", "{\n  \"model\": \"m\\\"x\"\n}\n"},
    {"{ \"a\" : 1 }", "model", "m", "{ \"a\" : 1,\n  \"model\": \"m\" }"},
    {"{\"model\" : \"old\" ,\"b\":[1, 2]}", "model", "new", "{\"model\" : \"new\" ,\"b\":[1, 2]}"},
    {"{\"model\": {\"x\": 1}}", "model", "new", "{\"model\": \"new\"}"},
    {"{\"a\":1, \"model\": \"old\",\n \"b\":2}", "model", NULL, "{\"a\":1, \"b\":2}"},
    {"{\"a\":1,\n \"model\": \"old\"\n}", "model", NULL, "{\"a\":1\n}"},
    {"{\"model\": \"old\"}", "model", NULL, "{}"},
    {"{\"a\": {\"model\": 1}}", "model", NULL, "{\"a\": {\"model\": 1}}"},
    {"{ broken", "model", "m", NULL},
    {"[1]", "model", "m", NULL},
};

static void
setting_keeps_every_other_byte(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "below/settings.json");
    for (size_t i = 0; i < ARRAY_LEN(settings_cases); i++) {
        struct err err = {0};
        const struct config_pair pair = {settings_cases[i].key, settings_cases[i].value};
        const char *want = settings_cases[i].after;
        temp_file_write(dir, "below/settings.json", settings_cases[i].before);
        assert_int_equal(config_set_strings(file, &pair, 1, &err), want != NULL);
        char *now = temp_file_read(dir, "below/settings.json");
        assert_string_equal(now, want ? want : settings_cases[i].before);
        free(now);
    }
    free(file);
    temp_dir_remove(dir);
}

static void
setting_is_all_or_nothing_and_lines_are_known(void **state)
{
    (void)state;
    char *dir = temp_dir_make(), *file = fs_join(dir, "settings.json");
    const struct config_pair pairs[] = {
        {"provider", "openai"}, {"baseUrl", "http://x"}, {"gone", NULL}};
    struct err err = {0};
    temp_file_write(dir, "settings.json", "{\n  \"provider\": \"offline\",\n  \"gone\": 1\n}\n");
    assert_true(config_set_strings(file, pairs, ARRAY_LEN(pairs), &err));
    struct config_paths paths = {.home = dir, .config_dir = dir, .system_dir = dir};
    struct config *c = config_load(&paths);
    const struct config_source *from = config_origin(c, "baseUrl", false);
    assert_string_equal(config_str(c, "provider", false, ""), "openai");
    assert_string_equal(config_str(c, "baseUrl", false, ""), "http://x");
    assert_int_equal(config_line(c, from, "provider"), 2);
    assert_int_equal(config_line(c, from, "baseUrl"), 3);
    assert_int_equal(config_line(c, from, "gone"), 0);
    assert_int_equal(config_line(c, NULL, "provider"), 0);
    config_free(c);
    free(file);
    temp_dir_remove(dir);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nothing_there_is_no_problem),
        CASE(scopes_stand_in_order),
        CASE(untrusted_project_cannot_set_scalars),
        CASE(inline_settings_and_missing_file),
        CASE(broken_files_are_named_with_their_line),
        CASE(wrong_types_and_unknown_keys_are_told),
        CASE(a_misspelt_permissions_key_is_told),
        CASE(the_afk_settings_are_checked),
        CASE(a_number_out_of_its_range_does_not_count),
        CASE(words_that_mean_nothing_are_told),
        CASE(some_lists_replace),
        CASE(moved_claude_folder_and_home_as_project),
        CASE(objects_by_source),
        CASE(a_huge_list_stays_cheap),
        CASE(adding_makes_file_and_folder),
        CASE(adding_keeps_every_other_byte),
        CASE(adding_refuses_what_it_cannot_read),
        CASE(a_hand_edit_between_stays),
        CASE(processes_add_side_by_side),
        cmocka_unit_test(setting_keeps_every_other_byte),
        cmocka_unit_test(setting_is_all_or_nothing_and_lines_are_known),
        CASE(folders_come_from_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
