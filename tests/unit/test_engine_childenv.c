#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/childenv.h"
#include "engine/core.h"

static const char *
find(char *const *env, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
            return env[i] + len + 1;
    return NULL;
}

static void
test_secrets_never_pass(void **state)
{
    (void)state;
    static const char *const in[] = {
        "PATH=/usr/bin:.::/bin:rel",
        "HOME=/h",
        "LC_ALL=C",
        "XDG_RUNTIME_DIR=/run",
        "ANTHROPIC_API_KEY=sk",
        "ANTHROPIC_BASE_URL=http://x",
        "OPENAI_API_KEY=sk",
        "AWS_PROFILE=p",
        "GITHUB_TOKEN=t",
        "MY_SECRET=s",
        "LD_PRELOAD=/evil.so",
        "BASH_ENV=/evil",
        "GIT_SSH=/evil",
        "HTTPS_PROXY=http://user:pass@proxy",
        "XDG_API_KEY=k",
        "PAGER=evil",
        "NONSENSE",
        "=x",
        NULL,
    };
    char **env = childenv_make(in, NULL);
    assert_string_equal(find(env, "PATH"), "/usr/bin:/bin");
    assert_string_equal(find(env, "HOME"), "/h");
    assert_string_equal(find(env, "LC_ALL"), "C");
    assert_string_equal(find(env, "XDG_RUNTIME_DIR"), "/run");
    static const char *const gone[] = {
        "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "AWS_PROFILE",
        "GITHUB_TOKEN",      "MY_SECRET",          "LD_PRELOAD",     "BASH_ENV",
        "GIT_SSH",           "HTTPS_PROXY",        "XDG_API_KEY",
    };
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        assert_null(find(env, gone[i]));
    assert_string_equal(find(env, "PAGER"), "cat");
    assert_string_equal(find(env, "YARE"), "1");
    assert_string_equal(find(env, "CLAUDECODE"), "1");
    assert_string_equal(find(env, "GIT_TERMINAL_PROMPT"), "0");
    assert_string_equal(find(env, "GIT_CONFIG_KEY_0"), "core.fsmonitor");
    strv_free(env);
}

static void
test_a_setting_passes_names_but_no_secret(void **state)
{
    (void)state;
    static const char *const in[] = {
        "DATABASE_HOST=h", "my_api_key=k",  "Db_Password=p", "OPENAI_ORG=o", "GIT_SSH_COMMAND=x",
        "BASH_ENV=/evil",  "LD_PRELOAD=/x", "FEATURE_X=1",   "OTHER=1",      NULL,
    };
    static const char *const more[] = {
        "DATABASE_HOST", "my_api_key", "Db_Password", "OPENAI_ORG", "GIT_SSH_COMMAND",
        "BASH_ENV",      "LD_PRELOAD", "FEATURE_X",   "MISSING",    NULL,
    };
    char **env = childenv_make(in, more);
    assert_string_equal(find(env, "DATABASE_HOST"), "h");
    assert_string_equal(find(env, "FEATURE_X"), "1");
    assert_null(find(env, "OTHER"));
    static const char *const gone[] = {"my_api_key",      "Db_Password", "OPENAI_ORG",
                                       "GIT_SSH_COMMAND", "BASH_ENV",    "LD_PRELOAD"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        assert_null(find(env, gone[i]));
    assert_string_equal(find(env, "GIT_NO_LAZY_FETCH"), "1");
    strv_free(env);
}

static void
test_no_environment_is_fine(void **state)
{
    (void)state;
    char **env = childenv_make(NULL, NULL);
    assert_string_equal(find(env, "YARE"), "1");
    strv_free(env);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets_never_pass),
        cmocka_unit_test(test_a_setting_passes_names_but_no_secret),
        cmocka_unit_test(test_no_environment_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
