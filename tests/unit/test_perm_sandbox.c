/* The parts of the sandbox that need none: plans, mounts, placeholders, what is blamed on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/supervise.h"
#include "perm/confine.h"
#include "perm/protected.h"
#include "perm/sandbox_parts.h"
#include "perm/sandbox_tmp.h"

static char *base;

static char *
put(const char *name, const char *text)
{
    char *path = fs_join(base, name), *dir = fs_dirname(path);
    struct err err;
    assert_true(fs_mkdirs(dir, 0755, &err));
    free(dir);
    if (text)
        assert_true(fs_write_atomic(path, str_from(text), 0644, &err));
    else
        assert_true(fs_mkdirs(path, 0755, &err));
    return path;
}

static void
put_only(const char *name, const char *text)
{
    free(put(name, text));
}

static int
make_base(void **state)
{
    char dir[] = "/var/tmp/yare-sbx-XXXXXX";
    (void)state;
    base = mkdtemp(dir) ? realpath(dir, NULL) : NULL;
    put_only("project/file", "x");
    put_only("home/.ssh/id", "key");
    put_only("home/.bashrc", "mine");
    put_only("data/auth", "key");
    return base ? 0 : -1;
}

static int
remove_base(void **state)
{
    (void)state;
    sandbox_tmp_remove(base);
    free(base);
    return 0;
}

static struct sandbox_plan *
plan_of(const char *settings, const struct perm_rules *rules, bool trusted)
{
    char *root = fs_join(base, "project"), *home = fs_join(base, "home"),
         *data = fs_join(base, "data");
    struct config *cfg = settings ? config_load(&(struct config_paths){.home = home,
                                                                       .config_dir = base,
                                                                       .project_root = root,
                                                                       .system_dir = base,
                                                                       .cli_settings = NULL})
                                  : NULL;
    struct err err = {0};
    /* Landlock's plan needs no program. */
    struct sandbox_plan *p = sandbox_plan_new(
        SANDBOX_LANDLOCK,
        &(struct sandbox_place){
            .root = root, .cwd = root, .home = home, .data_dir = data, .trusted = trusted},
        cfg, rules, &err);
    assert_non_null(p);
    config_free(cfg);
    free(root);
    free(home);
    free(data);
    return p;
}

static bool
listed(const struct sandbox_paths *l, const char *below)
{
    char *path = fs_join(base, below);
    bool has = paths_has(l, path);
    free(path);
    return has;
}

static void
test_plan_of_a_project(void **state)
{
    (void)state;
    put_only("project/.git/HEAD", "ref: refs/heads/main\n");
    put_only("project/.git/objects", NULL);
    put_only("project/.git/hooks/x", "");
    put_only("project/.git/config", "[core]\n\thooksPath = tools/hooks\n");
    put_only("project/tools/hooks/pre-commit", "");
    put_only("project/sub/.mcp.json", "{}");
    put_only("project/node_modules/x/.idea/y", "");
    struct sandbox_plan *p = plan_of(NULL, NULL, true);
    assert_true(listed(&p->writable, "project"));
    assert_true(listed(&p->writable, "project/.git"));
    assert_true(listed(&p->read_only, "project/.git/hooks"));
    assert_true(listed(&p->read_only, "project/.git/config"));
    assert_true(listed(&p->read_only, "project/tools/hooks"));
    assert_true(listed(&p->read_only, "project/sub/.mcp.json"));
    assert_true(listed(&p->missing, "project/.claude/"));
    assert_true(listed(&p->missing, "project/.git/commondir"));
    assert_true(listed(&p->unreadable, "home/.ssh"));
    assert_true(listed(&p->unreadable, "data"));
    assert_false(listed(&p->unreadable, "home"));
    assert_int_equal(p->unproven.n, 0);
    assert_false(sandbox_plan_proves(p)); /* Landlock keeps no hole */
    p->kind = SANDBOX_BWRAP;
    assert_true(sandbox_plan_proves(p));
    sandbox_plan_free(p);
}

static void
test_plan_link_is_unproven(void **state)
{
    (void)state;
    char *link = fs_join(base, "project/.claude");
    put_only("project/agents/x", "");
    assert_int_equal(symlink("agents", link), 0);
    struct sandbox_plan *p = plan_of(NULL, NULL, true);
    p->kind = SANDBOX_BWRAP;
    assert_false(sandbox_plan_proves(p));
    assert_true(listed(&p->read_only, "project/agents"));
    sandbox_plan_free(p);
    free(link);
}

static void
test_plan_false_git_file(void **state)
{
    (void)state;
    char *text = xasprintf("gitdir: %s/elsewhere\n", base);
    put_only("project/.git", text);
    put_only("elsewhere/HEAD", "x");
    put_only("elsewhere/objects", NULL);
    struct sandbox_plan *p = plan_of(NULL, NULL, true);
    assert_false(listed(&p->writable, "elsewhere"));
    assert_true(listed(&p->read_only, "project/.git"));
    sandbox_plan_free(p);
    free(text);
}

/* The project's own settings widen only where the folder is trusted. */
static void
test_plan_trust(void **state)
{
    (void)state;
    char *text = xasprintf("{\"sandbox\":{\"filesystem\":{\"allowWrite\":[\"%s/"
                           "open\"],\"allowRead\":[\"%s/home/.ssh\"],"
                           "\"denyRead\":[\"%s/shut\"]},\"network\":{\"allowedDomains\":[\"*\"]},"
                           "\"limits\":{\"fileMB\":7}}}",
                           base, base, base);
    put_only("open/x", "");
    put_only("shut/x", "");
    put_only("project/.yare/settings.json", text);
    struct sandbox_plan *p = plan_of("", NULL, false);
    assert_false(listed(&p->writable, "open"));
    assert_true(listed(&p->unreadable, "home/.ssh"));
    assert_true(listed(&p->unreadable, "shut"));
    assert_false(p->network);
    assert_true(p->caps.file_bytes != 7 << 20);
    sandbox_plan_free(p);
    p = plan_of("", NULL, true);
    assert_true(listed(&p->writable, "open"));
    assert_false(listed(&p->unreadable, "home/.ssh"));
    assert_true(p->network);
    assert_int_equal(p->caps.file_bytes, 7 << 20);
    sandbox_plan_free(p);
    free(text);
}

static void
test_plan_deny_rules(void **state)
{
    (void)state;
    struct perm_rules rules;
    char *abs = xasprintf("Read(/%s/abs/**)", base);
    put_only("abs/x", "");
    put_only("project/.env", "");
    put_only("project/a/b/.env.local", "");
    put_only("project/kept/x", "");
    put_only("home/notes", "");
    perm_rules_init(&rules);
    const char *const texts[] = {abs, "Read(.env*)", "Edit(./kept/**)", "Read(~/notes)",
                                 "Bash(rm *)"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_true(perm_rules_add(&rules, VERDICT_DENY, texts[i], SCOPE_USER, false, NULL, 0));
    struct sandbox_plan *p = plan_of(NULL, &rules, true);
    assert_true(listed(&p->unreadable, "abs"));
    assert_true(listed(&p->unreadable, "project/.env"));
    assert_true(listed(&p->unreadable, "project/a/b/.env.local"));
    assert_true(listed(&p->unreadable, "home/notes"));
    assert_true(listed(&p->read_only, "project/kept"));
    assert_false(listed(&p->unreadable, "project/file"));
    sandbox_plan_free(p);
    perm_rules_release(&rules);
    free(abs);
}

static void
test_mounts_order(void **state)
{
    (void)state;
    struct mounts m = {0};
    enum mount_kind kind;
    mounts_add(&m, MOUNT_HIDE, "/a/b/secret");
    mounts_add(&m, MOUNT_WRITE, "/a/b-c");
    mounts_add(&m, MOUNT_READ_ONLY, "/a/b/kept");
    mounts_add(&m, MOUNT_WRITE, "/a/b/kept"); /* the stronger one counts */
    mounts_add(&m, MOUNT_WRITE, "/a/b");
    mounts_add(&m, MOUNT_READ_ONLY, "/z");          /* is so already */
    mounts_add(&m, MOUNT_HIDE, "/a/b/secret/more"); /* hidden already */
    mounts_add(&m, MOUNT_SHOW, "/a/b/file");        /* can be seen */
    mounts_add(&m, MOUNT_SHOW, "/a/b/secret/but");
    mounts_settle(&m);
    const char *const want[] = {"/a/b", "/a/b/kept", "/a/b/secret", "/a/b/secret/but", "/a/b-c"};
    assert_int_equal(m.n, ARRAY_LEN(want));
    for (size_t i = 0; i < m.n; i++)
        assert_string_equal(m.v[i].path, want[i]);
    assert_true(mounts_at(&m, "/a/b/kept/x", &kind));
    assert_int_equal(kind, MOUNT_READ_ONLY);
    assert_true(mounts_at(&m, "/a/b-c/x", &kind));
    assert_int_equal(kind, MOUNT_WRITE);
    assert_false(mounts_at(&m, "/b", &kind));
    mounts_release(&m);
}

static void
acquire(struct sandbox_marks *m, const char *path, enum mark want)
{
    enum mark how;
    struct err err;
    assert_true(marks_acquire(m, path, true, NULL, &how, &err));
    assert_int_equal(how, want);
}

static void
test_marks(void **state)
{
    (void)state;
    char *path = fs_join(base, "project/.mcp.json");
    struct sandbox_marks *a = marks_new(), *b = marks_new();
    acquire(a, path, MARK_PLACED);
    acquire(a, path, MARK_PLACED);
    acquire(b, path, MARK_PLACED); /* another program's */
    marks_release(a, path);
    assert_true(fs_is_dir(path));
    marks_release(a, path);
    assert_true(fs_is_dir(path)); /* the other one's mount stands on it */
    marks_release(b, path);
    assert_false(fs_exists(path));
    put_only("project/.mcp.json", "{}");
    acquire(a, path, MARK_REAL);
    marks_free(a);
    marks_free(b);
    assert_true(fs_exists(path));
    free(path);
}

static void
test_marks_nowhere(void **state)
{
    (void)state;
    struct sandbox_marks *m = marks_new();
    char *path = fs_join(base, "nowhere/.mcp.json");
    acquire(m, path, MARK_IMPOSSIBLE);
    marks_free(m);
    free(path);
}

/* What a command that failed had said, and a word of the explanation; NULL: the sandbox is not to blame. */
static void
explain(struct sandbox_plan *p, const char *output, const char *want)
{
    struct sandbox_command c = {.note_fd = -1, .plan_fd = -1, .cwd = p->root};
    struct buf why;
    buf_init(&why, 65536);
    char *full = xstrdup(output);
    bool found = sandbox_explain(p, &c, 1 << 8, str_from(full), &why);
    if (!want && found)
        fail_msg("'%s' was blamed: %s", output, buf_cstr(&why));
    if (want && !strstr(buf_cstr(&why), want))
        fail_msg("'%s' gave '%s'", output, buf_cstr(&why));
    free(full);
    buf_release(&why);
}

/* The same of what a command was told to do and how it ended, with what it said. */
static void
explain_silent(struct sandbox_plan *p, const char *script, int code, const char *output,
               const char *want)
{
    char *copy = xstrdup(script);
    struct sandbox_command c = {.note_fd = -1, .plan_fd = -1, .cwd = p->root, .script = copy};
    struct buf why;
    buf_init(&why, 65536);
    bool found = sandbox_explain(p, &c, code << 8, str_from(output), &why);
    if (found != (want != NULL) || (want && !strstr(buf_cstr(&why), want)))
        fail_msg("'%s' gave '%s'", script, buf_cstr(&why));
    free(copy);
    buf_release(&why);
}

static void
test_explain_silence(void **state)
{
    (void)state;
    struct sandbox_plan *p = plan_of(NULL, NULL, true);
    p->kind = SANDBOX_BWRAP;
    explain_silent(p, "curl -s https://x.example/a", 6, "", "no network");
    explain_silent(p, "curl -sf https://x.example/a -o a && make", 7, "", "no network");
    explain_silent(p, "curl -s https://x.example/a", 6, "some other output", "no network");
    explain_silent(p, "curl -s http://localhost:8080/", 7, "", "loopback");
    explain_silent(p, "wget -q https://x.example/a", 4, "", "no network");
    explain_silent(p, "git fetch -q 2>/dev/null", 128, "", "no network");
    explain_silent(p, "pip install -q x 2>/dev/null", 1, "", "no network");
    explain_silent(p, "npm ci --silent", 1, "\n", "no network");
    /* their own failures */
    explain_silent(p, "./tests 6", 6, "", NULL);
    explain_silent(p, "exit 7", 7, "", NULL);
    explain_silent(p, "curl --version && exit 7", 7, "", NULL);
    explain_silent(p, "curl -s https://x.example/a", 22, "", NULL);
    explain_silent(p, "wget -q https://x.example/a", 8, "", NULL);
    explain_silent(p, "git fetch", 128, "fatal: not a git repository", NULL);
    explain_silent(p, "git clone -q /srv/x.git", 128, "", NULL);
    explain_silent(p, "git status -q", 128, "", NULL);
    explain_silent(p, "npm test --silent", 1, "", NULL);
    explain_silent(p, "npm ci --silent", 1, "npm error lock file is out of date", NULL);
    explain_silent(p, "grep -q x src/a.c", 1, "", NULL);
    explain_silent(p, "touch out.txt 2>/dev/null", 1, "", NULL);
    explain_silent(p, "curl -s https://x.example/a", 0, "", NULL);
    /* files */
    char *secret = xasprintf("cat %s/home/.ssh/id 2>/dev/null", base);
    explain_silent(p, secret, 1, "", "hides");
    explain_silent(p, secret, 1, "what another part said", NULL);
    free(secret);
    explain_silent(p, "touch /etc/x 2>/dev/null", 1, "", "'/etc/x' lies outside");
    explain_silent(p, "touch /etc/x 2>/dev/null; make -s", 2, "", NULL);
    explain_silent(p, "cat /etc/hosts 2>/dev/null; false", 1, "", NULL);
    p->network = true;
    explain_silent(p, "curl -s https://x.example/a", 6, "", NULL);
    sandbox_plan_free(p);
}

static void
test_explain(void **state)
{
    (void)state;
    struct sandbox_plan *p = plan_of(NULL, NULL, true);
    p->kind = SANDBOX_BWRAP;
    explain(p, "touch: cannot touch '/etc/x': Read-only file system", "'/etc/x' lies outside");
    explain(p, "bash: line 1: .mcp.json: Is a directory", ".mcp.json");
    explain(p, "Error: EROFS: read-only file system, open '/usr/x'", "'/usr/x' lies outside");
    explain(p, "curl: (6) Could not resolve host: example.com", "no network");
    explain(p, "PermissionError: [Errno 13] Permission denied: '/etc/no'", NULL);
    explain(p, "bash: ./run.sh: Permission denied", NULL);
    explain(p, "make: *** No rule to make target 'x'.  Stop.", NULL);
    explain(p, "cp: cannot stat 'a': No such file or directory", NULL);
    explain(p, "File too large", "4096 MB");
    explain(p, "", NULL);
    explain(p, ":::'''((( \xe2\x80\x98\xe2\x80\x99 \xff\xfe Permission denied", NULL);
    char *text = xasprintf("cat: %s/home/.ssh/id: Permission denied", base);
    explain(p, text, "hides");
    free(text);
    text = xasprintf("\xe2\x80\x98%s/data/auth\xe2\x80\x99: Permission denied", base);
    explain(p, text, "hides");
    free(text);
    p->network = true;
    explain(p, "curl: (6) Could not resolve host: example.com", NULL);
    sandbox_plan_free(p);
}

static void
test_choose(void **state)
{
    (void)state;
    char *why;
    struct sandbox_probe none = {.bwrap_why = (char[]){"no bwrap"},
                                 .landlock_why = (char[]){"no landlock"}};
    struct sandbox_probe both = {.bwrap = (char[]){"/usr/bin/bwrap"}, .landlock_abi = 7};
    struct sandbox_probe ll = {.bwrap_why = (char[]){"no bwrap"}, .landlock_abi = 1};
    assert_int_equal(sandbox_choose(SANDBOX_WANT_AUTO, &both, &why), SANDBOX_BWRAP);
    assert_null(why);
    assert_int_equal(sandbox_choose(SANDBOX_WANT_LANDLOCK, &both, &why), SANDBOX_LANDLOCK);
    assert_int_equal(sandbox_choose(SANDBOX_WANT_AUTO, &ll, &why), SANDBOX_LANDLOCK);
    assert_int_equal(sandbox_choose(SANDBOX_WANT_BWRAP, &ll, &why), SANDBOX_NONE);
    assert_string_equal(why, "no bwrap");
    free(why);
    assert_int_equal(sandbox_choose(SANDBOX_WANT_AUTO, &none, &why), SANDBOX_NONE);
    assert_string_equal(why, "no bwrap; no landlock");
    free(why);
    assert_int_equal(sandbox_choose(SANDBOX_WANT_OFF, &both, &why), SANDBOX_NONE);
    assert_null(why);
}

static void
test_tmp_removal_follows_no_link(void **state)
{
    (void)state;
    char *tmp = NULL, *given = put("tmp", NULL);
    bool own;
    struct err err;
    setenv("TMPDIR", given, 1);
    assert_true(sandbox_tmp_make(NULL, &tmp, &own, &err));
    assert_true(own);
    char *link = fs_join(tmp, "link"), *target = fs_join(base, "project");
    assert_int_equal(symlink(target, link), 0);
    sandbox_tmp_remove(tmp);
    assert_false(fs_exists(tmp));
    char *file = fs_join(base, "project/file");
    assert_true(fs_exists(file));
    unsetenv("TMPDIR");
    free(file);
    free(link);
    free(target);
    free(tmp);
    free(given);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--supervise"))
        supervise_main(argc, argv);
    confine_entry(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan_of_a_project, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_plan_link_is_unproven, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_plan_false_git_file, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_plan_trust, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_plan_deny_rules, make_base, remove_base),
        cmocka_unit_test(test_mounts_order),
        cmocka_unit_test_setup_teardown(test_marks, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_marks_nowhere, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_explain, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_explain_silence, make_base, remove_base),
        cmocka_unit_test(test_choose),
        cmocka_unit_test_setup_teardown(test_tmp_removal_follows_no_link, make_base, remove_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
