#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "base/sha256.h"
#include "base/trust.h"
#include "unit/temp_dir.h"

struct fixture {
    char *dir, *config, *root;
};

static int
set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->dir = temp_dir_make();
    f->config = fs_join(f->dir, "config");
    f->root = fs_join(f->dir, "project");
    temp_file_write(f->dir, "project/main.c", "int x;");
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    temp_dir_remove(f->dir);
    free(f->config);
    free(f->root);
    free(f);
    return 0;
}

static void
grant(struct fixture *f, const char *root)
{
    struct err err;
    if (!trust_grant(f->config, root, &err))
        fail_msg("%s", err.text);
}

static void
sha256_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
        int times;
    } v[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 1},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 1},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", 1},
        {"aaaaaaaaaa", "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", 100000},
    };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct sha256 c;
        char hex[SHA256_HEX + 1];
        sha256_init(&c);
        for (int n = 0; n < v[i].times; n++)
            sha256_add(&c, str_from(v[i].text));
        sha256_hex(&c, hex);
        assert_string_equal(hex, v[i].hex);
    }
}

static void
trust_is_given_by_hand_and_lasts(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    assert_int_equal(trust_check(f->config, f->root), TRUST_NO);
    grant(f, f->root);
    assert_int_equal(trust_check(f->config, f->root), TRUST_YES);
    char *other = fs_join(f->dir, "other"), *file = fs_join(f->config, "trust.json");
    assert_true(fs_mkdirs(other, 0700, NULL));
    assert_int_equal(trust_check(f->config, other), TRUST_NO);
    grant(f, other);
    assert_int_equal(trust_check(f->config, f->root), TRUST_YES);
    assert_int_equal(trust_check(f->config, other), TRUST_YES);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* Through a link it is the same folder. */
    char *link = fs_join(f->dir, "link");
    assert_int_equal(symlink(f->root, link), 0);
    assert_int_equal(trust_check(f->config, link), TRUST_YES);
    free(link);
    free(file);
    free(other);
}

static void
changed_settings_ask_again(void **state)
{
    struct fixture *f = *state;
    static const char *const files[] = {".yare/settings.json", ".claude/settings.json",
                                        ".mcp.json"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        grant(f, f->root);
        temp_file_write(f->root, files[i], "{\"hooks\":{}}");
        assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
        grant(f, f->root);
        assert_int_equal(trust_check(f->config, f->root), TRUST_YES);
        temp_file_write(f->root, files[i], "{\"hooks\":{ }}");
        assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
        temp_file_write(f->root, files[i], "{\"hooks\":{}}");
        assert_int_equal(trust_check(f->config, f->root), TRUST_YES);
    }
    char *path = fs_join(f->root, files[2]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
    /* Something that cannot be read as a file is no reason to trust. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
    free(path);
}

static void
moving_bytes_between_files_is_a_change(void **state)
{
    struct fixture *f = *state;
    temp_file_write(f->root, ".yare/settings.json", "{}");
    grant(f, f->root);
    char *from = fs_join(f->root, ".yare/settings.json"), *to = fs_join(f->root, ".mcp.json");
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
    free(from);
    free(to);
}

static void
subfolders_and_repositories(void **state)
{
    struct fixture *f = *state;
    char *sub = fs_join(f->root, "a/b"), *git = fs_join(f->root, "a/.git");
    assert_true(fs_mkdirs(sub, 0700, NULL));
    grant(f, f->root);
    assert_int_equal(trust_check(f->config, sub), TRUST_YES);
    temp_file_write(f->root, "a/b/.claude/settings.json", "{}");
    assert_int_equal(trust_check(f->config, sub), TRUST_NO);
    grant(f, sub);
    assert_int_equal(trust_check(f->config, sub), TRUST_YES);
    free(sub);
    sub = fs_join(f->root, "a/c");
    assert_true(fs_mkdirs(sub, 0700, NULL));
    assert_int_equal(trust_check(f->config, sub), TRUST_YES);
    assert_true(fs_mkdirs(git, 0700, NULL));
    assert_int_equal(trust_check(f->config, sub), TRUST_NO);
    temp_file_write(f->root, ".mcp.json", "{}");
    char *plain = fs_join(f->root, "d");
    assert_true(fs_mkdirs(plain, 0700, NULL));
    assert_int_equal(trust_check(f->config, plain), TRUST_CHANGED);
    free(plain);
    free(git);
    free(sub);
}

static void
write_index(struct fixture *f, char version, const char *path)
{
    struct buf index;
    buf_init(&index, 4096);
    buf_add(&index, "DIRC\0\0\0", 7);
    buf_addc(&index, version);
    buf_add(&index, "\0\0\0\1", 4);
    buf_add(&index, path, strlen(path) + 1);
    char *file = fs_join(f->root, ".git/index"), *git = fs_join(f->root, ".git");
    struct err err;
    assert_true(fs_mkdirs(git, 0700, &err));
    assert_true(fs_write_atomic(file, buf_str(&index), 0600, &err));
    free(git);
    free(file);
    buf_release(&index);
}

static void
local_settings_count_when_git_tracks_them(void **state)
{
    struct fixture *f = *state;
    write_index(f, 2, "main.c");
    grant(f, f->root);
    temp_file_write(f->root, ".claude/settings.local.json", "{\"permissions\":{}}");
    temp_file_write(f->root, ".yare/settings.local.json", "{\"permissions\":{}}");
    assert_int_equal(trust_check(f->config, f->root), TRUST_YES);
    write_index(f, 2, ".claude/settings.local.json");
    assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
    write_index(f, 4, "main.c"); /* shortened paths: nobody knows */
    assert_int_equal(trust_check(f->config, f->root), TRUST_CHANGED);
}

static void
a_broken_list_trusts_nobody_and_stays(void **state)
{
    struct fixture *f = *state;
    struct err err;
    grant(f, f->root);
    temp_file_write(f->config, "trust.json", "{\"folders\": {broken");
    assert_int_equal(trust_check(f->config, f->root), TRUST_NO);
    assert_false(trust_grant(f->config, f->root, &err));
    assert_non_null(strstr(err.text, "trust.json"));
    char *text = temp_file_read(f->config, "trust.json");
    assert_string_equal(text, "{\"folders\": {broken");
    free(text);
}

/* Bytes flipped anywhere: it is read, or put aside by name; afterwards a folder can be trusted. */
static void
a_damaged_list_is_put_aside(void **state)
{
    struct fixture *f = *state;
    grant(f, f->root);
    char *good = temp_file_read(f->config, "trust.json");
    size_t len = strlen(good), aside = 0;
    assert_null(trust_mend(f->config));
    for (size_t i = 0; i < len; i++) {
        char *bad = xstrdup(good);
        bad[i] = (char)(bad[i] ^ 0x15);
        temp_file_write(f->config, "trust.json", bad);
        char *told = trust_mend(f->config);
        if (told) {
            assert_non_null(strstr(told, "trust.json' was damaged"));
            assert_non_null(strstr(told, "trust.json.damaged-1"));
            char *kept = temp_file_read(f->config, "trust.json.damaged-1");
            assert_string_equal(kept, bad);
            free(kept);
            char *path = fs_join(f->config, "trust.json.damaged-1");
            assert_int_equal(unlink(path), 0);
            free(path);
            aside++;
        }
        free(told);
        free(bad);
        grant(f, f->root);
        assert_int_equal(trust_check(f->config, f->root), TRUST_YES);
    }
    assert_true(aside > 5);
    free(good);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_vectors),
        CASE(trust_is_given_by_hand_and_lasts),
        CASE(changed_settings_ask_again),
        CASE(moving_bytes_between_files_is_a_change),
        CASE(subfolders_and_repositories),
        CASE(local_settings_count_when_git_tracks_them),
        CASE(a_broken_list_trusts_nobody_and_stays),
        CASE(a_damaged_list_is_put_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
