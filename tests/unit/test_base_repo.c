/* What the walk knows of git beside ignore files: the index, the configuration, nested repositories, where a walk starts. */
#include "unit/tool_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_tree.h"
#include "base/fs.h"
#include "base/git_config.h"
#include "base/git_index.h"
#include "base/glob.h"
#include "base/repo.h"

struct world {
    char *root;
};

static void
put_bytes(const struct world *w, const char *rel, struct str bytes)
{
    char *path = fs_join(w->root, rel), *dir = fs_dirname(path);
    struct err err;

    assert_true(fs_mkdirs(dir, 0755, &err));
    assert_true(fs_write_atomic(path, bytes, 0644, &err));
    free(dir);
    free(path);
}

static void
put(const struct world *w, const char *rel, const char *text)
{
    put_bytes(w, rel, str_from(text));
}

static void
world_init(struct world *w)
{
    char tmpl[] = "/tmp/yare-repo-XXXXXX";

    assert_non_null(mkdtemp(tmpl));
    w->root = fs_resolve(tmpl, NULL);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("XDG_CONFIG_HOME", w->root, 1); /* the person's files: none unless a test puts them */
    setenv("GIT_CONFIG_GLOBAL", "/nonexistent", 1);
}

static void
world_release(struct world *w)
{
    char *argv[] = {"rm", "-rf", w->root, NULL};

    test_run(argv);
    free(w->root);
}

/* The files below root/rel, blank-separated. Yours. */
static char *
files_of(const struct world *w, const char *rel)
{
    char *root = *rel ? fs_join(w->root, rel) : xstrdup(w->root);
    struct file_tree *t = file_tree_read(&(struct file_tree_options){.root = root, .threads = 3});
    struct buf out, path;
    size_t at;

    buf_init(&out, BUF_MAX);
    buf_init(&path, BUF_MAX);
    for (size_t i = 0; i < file_tree_count(t); i++) {
        file_tree_path(t, i, &path, &at);
        buf_addf(&out, "%s%s", i ? " " : "", path.data + at);
    }
    buf_release(&path);
    file_tree_free(t);
    free(root);
    return buf_take(&out);
}

#define assert_files(w, rel, want)                                                                 \
    do {                                                                                           \
        char *got_ = files_of(w, rel);                                                             \
        assert_string_equal(got_, want);                                                           \
        free(got_);                                                                                \
    } while (0)

static void
test_ignore_beats_gitignore(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    put(&w, "t/.git/HEAD", "x");
    put(&w, "t/.gitignore", "*.log\nbuild/\n");
    put(&w, "t/.ignore", "!build/\n*.c\n");
    put(&w, "t/a.log", "");
    put(&w, "t/b.c", "");
    put(&w, "t/build/x", "");
    put(&w, "t/sub/.gitignore", "!b.c\n");
    put(&w, "t/sub/b.c", "");
    assert_files(&w, "t", ".gitignore .ignore build/x sub/.gitignore");
    world_release(&w);
}

static void
test_nested_repository_has_its_own_rules(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    put(&w, "t/.git/HEAD", "x");
    put(&w, "t/.gitignore", "*.o\nhidden/\n");
    put(&w, "t/.ignore", "never\n");
    put(&w, "t/sub/.git/HEAD", "x");
    put(&w, "t/sub/.git/info/exclude", "own\n");
    put(&w, "t/sub/a.o", "");
    put(&w, "t/sub/own", "");
    put(&w, "t/sub/never", "");
    put(&w, "t/hidden/.git/HEAD", "x");
    put(&w, "t/hidden/f", "");
    put(&w, "t/bogus/.git/nothing", "x"); /* no repository: the rules around hold */
    put(&w, "t/bogus/b.o", "");
    assert_files(&w, "t", ".gitignore .ignore sub/a.o");
    world_release(&w);
}

static void
test_walk_starts_anywhere(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    put(&w, "t/.git/HEAD", "x");
    put(&w, "t/.gitignore", "/build/\n*.tmp\ndoc/old/**\n");
    put(&w, "t/build/out/a.tmp", "");
    put(&w, "t/doc/old/x", "");
    put(&w, "t/doc/new.tmp", "");
    put(&w, "t/doc/b", "");
    assert_files(&w, "t/doc", "b");
    assert_files(&w, "t/build", "out/a.tmp"); /* who names an ignored folder wants to see it */
    assert_files(&w, "t/build/out", "a.tmp");
    assert_files(&w, "t/doc/old", "");
    char *link = fs_join(w.root, "link"), *inner = fs_join(w.root, "t/doc/up");
    assert_int_equal(symlink("t/doc", link), 0);
    assert_int_equal(symlink("..", inner), 0);
    assert_files(&w, "link",
                 "b up"); /* the start may be a link; links below are listed, not followed */
    assert_files(&w, "t/doc/nowhere", "");
    free(link);
    free(inner);
    world_release(&w);
}

static void
test_without_a_repository(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    put(&w, ".gitignore", "*.c\n"); /* above the start, and no repository joins them */
    put(&w, "t/.gitignore", "*.o\n");
    put(&w, "t/.ignore", "x\n");
    put(&w, "t/a.o", "");
    put(&w, "t/a.c", "");
    put(&w, "t/x", "");
    assert_files(&w, "t", ".gitignore .ignore a.c");
    put(&w, "git/ignore", "a.*\n"); /* the person's own excludes */
    assert_files(&w, "t", ".gitignore .ignore");
    world_release(&w);
}

static bool
note_name(void *user, const char *rel, bool is_dir)
{
    char *last = user;

    assert_false(is_dir);
    assert_true(strcmp(last, rel) < 0);
    assert_true(strlen(rel) < 60);
    memcpy(last, rel, strlen(rel) + 1);
    last[63]++;
    return true;
}

/* More names in one folder than are sorted at once. */
static void
test_large_folder_is_sorted(void **state)
{
    (void)state;
    enum { N = 20011 };
    struct world w;
    char last[64] = "";
    struct buf path;

    world_init(&w);
    buf_init(&path, BUF_MAX);
    for (int i = 0; i < N; i++) {
        buf_clear(&path);
        buf_addf(&path, "%s/f%d", w.root, i * 7919 % N);
        FILE *f = fopen(buf_cstr(&path), "w");
        assert_non_null(f);
        fclose(f);
    }
    assert_true(glob_walk(&(struct glob_walk){.root = w.root, .visit = note_name, .user = last}));
    assert_int_equal((unsigned char)last[63], N & 0xff);
    struct file_tree *t = file_tree_read(&(struct file_tree_options){.root = w.root});
    assert_int_equal(file_tree_count(t), N);
    file_tree_free(t);
    buf_release(&path);
    world_release(&w);
}

/* ---- the index ---- */

static void
put_be(struct buf *b, uint32_t v, int bytes)
{
    while (bytes-- > 0)
        buf_addc(b, (char)(v >> (8 * bytes)));
}

static void
put_entry(struct buf *b, const char *name)
{
    size_t start = b->len;

    for (int i = 0; i < 60; i++)
        buf_addc(b, '\0');
    put_be(b, (uint32_t)strlen(name), 2);
    buf_add(b, name, strlen(name) + 1);
    while ((b->len - start) % 8)
        buf_addc(b, '\0');
}

static struct buf
make_index(const char *const *names, size_t n)
{
    struct buf b;

    buf_init(&b, BUF_MAX);
    buf_adds(&b, "DIRC");
    put_be(&b, 2, 4);
    put_be(&b, (uint32_t)n, 4);
    for (size_t i = 0; i < n; i++)
        put_entry(&b, names[i]);
    for (int i = 0; i < 20; i++)
        buf_addc(&b, 'h');
    return b;
}

static void
test_tracked_files_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"a.o", "build/deep/kept.o", "build/gone.o"};
    struct world w;

    world_init(&w);
    struct buf index = make_index(names, ARRAY_LEN(names));
    put_bytes(&w, "t/.git/index", buf_str(&index));
    put(&w, "t/.git/HEAD", "x");
    put(&w, "t/.gitignore", "*.o\nbuild/\n");
    put(&w, "t/a.o", "");
    put(&w, "t/b.o", "");
    put(&w, "t/build/deep/kept.o", "");
    put(&w, "t/build/deep/not.o", "");
    put(&w, "t/build/other/x.o", "");
    assert_files(&w, "t", ".gitignore a.o build/deep/kept.o");
    put_bytes(&w, "t/.git/index",
              str_sub(buf_str(&index), 0, 100)); /* damaged: nothing is tracked */
    assert_files(&w, "t", ".gitignore");
    buf_release(&index);
    world_release(&w);
}

static bool
count_name(void *arg, struct str name)
{
    size_t *n = arg;
    assert_true(str_starts(name, "dir"));
    return ++*n <= 300;
}

/* Each cut of an index is refused or read; many names are found again. */
static void
test_an_index_says_what_is_tracked_and_a_cut_one_fails(void **state)
{
    (void)state;
    char *names[300];
    struct world w;
    struct err err;

    world_init(&w);
    for (int i = 0; i < 300; i++)
        names[i] = xasprintf("dir%02d/file%03d", i / 10, i);
    struct buf index = make_index((const char *const *)names, 300);
    put_bytes(&w, "index", buf_str(&index));
    struct git_index *ix = git_index_read(w.root, 20, &err);
    assert_non_null(ix);
    assert_int_equal(git_index_count(ix), 300);
    for (int i = 0; i < 300; i++)
        assert_true(git_index_has(ix, str_from(names[i])));
    size_t told = 0;
    assert_true(git_index_each(ix, count_name, &told));
    assert_int_equal(told, 300);
    told = 290;
    assert_false(git_index_each(ix, count_name, &told));
    assert_int_equal(told, 301);
    assert_false(git_index_has(ix, STR("dir00")));
    assert_false(git_index_has(ix, STR("zzz")));
    assert_false(git_index_has(ix, STR("")));
    assert_true(git_index_has_below(ix, STR("dir29")));
    assert_false(git_index_has_below(ix, STR("dir2")));
    assert_false(git_index_has_below(ix, STR("dir29/file299")));
    git_index_free(ix);
    for (size_t cut = 0; cut < 700; cut += 7) {
        put_bytes(&w, "index", str_sub(buf_str(&index), 0, cut));
        assert_null(git_index_read(w.root, 20, &err));
        assert_non_null(strstr(err.text, "index"));
    }
    buf_release(&index);
    for (int i = 0; i < 300; i++)
        free(names[i]);
    world_release(&w);
}

static void
note_key(void *user, const char *key, const char *value)
{
    buf_addf(user, "%s=%s;", key, value);
}

static void
test_configuration_is_read_as_git_reads_it(void **state)
{
    (void)state;
    struct world w;
    struct buf out;

    world_init(&w);
    put(&w, "config",
        "; first\n[Core]\n\tExcludesFile = \"a b\" c ; no\n bare\n[remote \"O\\\"x\"] url = "
        "q\\tz\r\n"
        "[a]k=1\\\n2\n[include]\npath = more\n[broken\n= x\n[b]bad = \"open\n ok = #\n");
    put(&w, "more", "[x]\ny = z\n[include]\npath = config\n"); /* a ring ends */
    buf_init(&out, BUF_MAX);
    char *path = fs_join(w.root, "config");
    git_config_read(path, note_key, &out);
    assert_true(str_starts(buf_str(&out),
                           "core.excludesfile=a b c;core.bare=true;remote.O\"x.url=q\tz;"
                           "a.k=12;include.path=more;x.y=z;include.path=config;"));
    assert_true(str_ends(buf_str(&out), "b.ok=;"));
    free(path);
    buf_release(&out);
    world_release(&w);
}

static void
a_line_joins_the_excludes_once(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    struct buf b;
    bool added;
    world_init(&w);
    assert_false(repo_exclude_add(w.root, "a/b", &added, &err)); /* no repository */
    put(&w, ".git/HEAD", "ref: refs/heads/main\n");
    put(&w, ".git/info/exclude", "# mine\n*.tmp");
    assert_true(repo_exclude_add(w.root, "a/b", &added, &err));
    assert_true(added);
    assert_true(repo_exclude_add(w.root, "a/b", &added, &err));
    assert_false(added);
    char *file = fs_join(w.root, ".git/info/exclude");
    buf_init(&b, BUF_MAX);
    assert_true(fs_read(file, BUF_MAX, &b, &err));
    assert_string_equal(buf_cstr(&b), "# mine\n*.tmp\na/b\n");
    buf_release(&b);
    /* what is no plain file is not replaced */
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("/dev/null", file), 0);
    assert_false(repo_exclude_add(w.root, "a/b", &added, &err));
    assert_non_null(strstr(err.text, "no plain file"));
    free(file);
    world_release(&w);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_joins_the_excludes_once),
        cmocka_unit_test(test_ignore_beats_gitignore),
        cmocka_unit_test(test_nested_repository_has_its_own_rules),
        cmocka_unit_test(test_walk_starts_anywhere),
        cmocka_unit_test(test_without_a_repository),
        cmocka_unit_test(test_large_folder_is_sorted),
        cmocka_unit_test(test_tracked_files_are_found),
        cmocka_unit_test(test_an_index_says_what_is_tracked_and_a_cut_one_fails),
        cmocka_unit_test(test_configuration_is_read_as_git_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
