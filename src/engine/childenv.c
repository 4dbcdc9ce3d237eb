#include "engine/childenv.h"

#include <string.h>
#include <strings.h>

#include "engine/core.h"

static const char *const allowed[] = {
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "TMPDIR",
    "PWD",
    "HOSTNAME",
    "EDITOR",
    "VISUAL",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "NVM_DIR",
    "NODE_ENV",
    "PYTHONPATH",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "IS_SANDBOX",
};
static const char *const allowed_prefixes[] = {"LC_", "XDG_"};
/* Names that hold a secret whatever the lists say, in either case. */
static const char *const secret_parts[] = {
    "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE"};
/* Accounts and addresses of model providers, and what makes every child run other code: no setting lets them through. */
static const char *const never[] = {"ANTHROPIC_", "OPENAI_", "CLAUDE_",     "AWS_",     "AZURE_",
                                    "GOOGLE_",    "GEMINI_", "OPENROUTER_", "MISTRAL_", "LD_",
                                    "DYLD_",      "GIT_",    "BASH_",       "YARE_"};
static const char *const never_names[] = {"ENV",   "BASHOPTS",       "SHELLOPTS",
                                          "PS4",   "PROMPT_COMMAND", "IFS",
                                          "PAGER", "CDPATH",         "GLOBIGNORE"};

/* Always there, in place of the program's own. core.fsmonitor and core.pager run programs named by the repository.
 * diff.external cannot be switched off this way (git runs an empty value too and dies): perm/repo_config looks for it. */
static const char *const fixed[] = {
    "CLAUDECODE=1",
    "YARE=1",
    "PAGER=cat",
    "GIT_PAGER=cat",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_EDITOR=true",
    /* A read of a partial clone would fetch what is missing, with a program that the repository names. */
    "GIT_NO_LAZY_FETCH=1",
    /* Looking up a newer version of themselves is no part of what these were asked. */
    "NO_UPDATE_NOTIFIER=1",
    "npm_config_update_notifier=false",
    "PIP_DISABLE_PIP_VERSION_CHECK=1",
    "GIT_CONFIG_COUNT=3",
    "GIT_CONFIG_KEY_0=core.fsmonitor",
    "GIT_CONFIG_VALUE_0=false",
    "GIT_CONFIG_KEY_1=core.pager",
    "GIT_CONFIG_VALUE_1=cat",
    "GIT_CONFIG_KEY_2=log.showSignature",
    "GIT_CONFIG_VALUE_2=false",
};

/* strstr without case. */
static bool
holds(struct str s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.len; i++)
        if (strncasecmp(s.ptr + i, part, n) == 0)
            return true;
    return false;
}

static bool
is_secret(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(secret_parts); i++)
        if (holds(name, secret_parts[i]))
            return true;
    return false;
}

static bool
is_allowed(struct str name)
{
    if (is_secret(name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        if (str_is(name, allowed[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(allowed_prefixes); i++)
        if (str_starts(name, allowed_prefixes[i]))
            return true;
    return false;
}

static bool
may_be_named(struct str name)
{
    bool ok = name.len > 0 && name.len < 200 && !is_secret(name);
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        ok = ok && !(name.len >= strlen(never[i]) &&
                     strncasecmp(name.ptr, never[i], strlen(never[i])) == 0);
    for (size_t i = 0; i < ARRAY_LEN(never_names); i++)
        ok = ok && !str_is(name, never_names[i]);
    return ok;
}

/* A proxy address may carry a password: "scheme://user:pass@host". */
static bool
value_has_password(struct str entry)
{
    return str_contains(entry, STR("://")) && str_contains(entry, STR("@"));
}

/* PATH without empty and relative entries, which name whatever folder a command happens to run in. */
static char *
clean_path(struct str value)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    buf_adds(&b, "PATH=");
    struct str dir;
    bool any = false;
    while (str_split(&value, ':', &dir)) {
        if (!str_starts(dir, "/"))
            continue;
        if (any)
            buf_addc(&b, ':');
        buf_add_str(&b, dir);
        any = true;
    }
    if (!any)
        buf_adds(&b, "/usr/local/bin:/usr/bin:/bin");
    return buf_take(&b);
}

static bool
passed(struct str name, const char *const *more)
{
    for (size_t i = 0; more && more[i]; i++)
        if (str_is(name, more[i]) && may_be_named(name))
            return true;
    return is_allowed(name);
}

char **
childenv_make(const char *const *environ, const char *const *more)
{
    size_t n = 0, cap = 0;
    char **out = NULL;
    for (size_t i = 0; environ && environ[i]; i++) {
        struct str e = str_from(environ[i]);
        size_t eq = str_find(e, '=', 0);
        if (eq == (size_t)-1 || eq == 0 || !passed(str_sub(e, 0, eq), more) ||
            value_has_password(e))
            continue;
        if (str_starts(e, "PAGER="))
            continue;
        ARRAY_GROW(out, n, cap);
        out[n++] = str_starts(e, "PATH=") ? clean_path(str_sub(e, 5, e.len)) : xstrdup(environ[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        ARRAY_GROW(out, n, cap);
        out[n++] = xstrdup(fixed[i]);
    }
    ARRAY_GROW(out, n, cap);
    out[n] = NULL;
    return out;
}
