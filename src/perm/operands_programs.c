/*
 * What programs whose effects are not known do with the names among their words, as far as it can be told: read them as code, leave them
 * as they are, or write them. A name that none of these tables speaks of may be changed (operands.c).
 *
 * To add a program: one name in a list.
 */
#include "perm/operands.h"
#include "perm/outputs_table.h"
#include "perm/trees.h"

bool
operands_are_code(const struct perm_leaf *l)
{
    static const char *const programs[] = {"awk",  "gawk",  "mawk",    "nawk",   "sqlite3",
                                           "psql", "mysql", "mariadb", "duckdb", "socat",
                                           "gcc",  "cc",    "clang",   "cpp",    "as"};
    return l->cls == CLASS_DANGER || leaf_is_any(l, programs, ARRAY_LEN(programs));
}

bool
operands_hold_commands(const struct perm_leaf *l)
{
    static const char *const programs[] = {"vim",   "vi", "nvim", "ex",   "view",   "gvim",
                                           "emacs", "ed", "less", "more", "vimdiff"};
    return leaf_is_any(l, programs, ARRAY_LEN(programs));
}

static bool
has_word(const struct perm_leaf *l, const char *word)
{
    for (size_t i = 1; i < l->n_argv; i++)
        if (l->argv[i].known && str_is(l->argv[i].text, word))
            return true;
    return false;
}

/* git's sub-commands that write the working tree. */
static bool
git_changes_files(const struct perm_leaf *l)
{
    static const char *const subs[] = {
        "checkout", "restore", "rm", "bundle",    "mv",    "clean",      "apply",         "clone",
        "worktree", "init",    "am", "submodule", "reset", "merge-file", "checkout-index"};
    if (has_word(l, "--cached") || (has_word(l, "--staged") && !has_word(l, "--worktree")))
        return false; /* the index alone */
    if (has_word(l, "reset"))
        return has_word(l, "--hard") || has_word(l, "--merge") || has_word(l, "--keep");
    if (has_word(l, "config") && trees_has(l, "-f|--file|--file=*"))
        return !trees_has(l, "--get|--get-all|--get-regexp|--list|-l");
    for (size_t i = 0; i < ARRAY_LEN(subs); i++)
        if (has_word(l, subs[i]))
            return true;
    return false;
}

/* Runners with a word that makes or changes what is named behind it. */
static bool
copies_or_edits(const struct perm_leaf *l)
{
    static const struct {
        const char *program, *word;
    } rows[] = {{"docker", "cp"},     {"podman", "cp"},   {"kubectl", "cp"},  {"cmake", "-E"},
                {"cargo", "new"},     {"cargo", "init"},  {"gh", "clone"},    {"dotnet", "new"},
                {"terraform", "fmt"}, {"uv", "init"},     {"poetry", "new"},  {"npm", "init"},
                {"npm", "create"},    {"pnpm", "create"}, {"yarn", "create"}, {"bun", "create"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (leaf_is(l, rows[i].program) && has_word(l, rows[i].word))
            return true;
    if (!leaf_is(l, "perl") && !leaf_is(l, "ruby"))
        return false;
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (s.len > 1 && s.ptr[0] == '-' &&
            (s.ptr[1] == 'i' || str_starts(s, "-pi") || str_starts(s, "-ni")))
            return true;
    }
    return false;
}

bool
operands_are_left(const struct perm_leaf *l)
{
    static const char *const checkers[] = {"eslint",        "ruff",         "prettier", "black",
                                           "biome",         "stylelint",    "rubocop",  "isort",
                                           "rustfmt",       "markdownlint", "shfmt",    "gofmt",
                                           "golangci-lint", "oxlint",       "standard"};
    static const char *const fixes[] = {"--fix",      "--write", "-w",         "-i",
                                        "-a",         "-A",      "--in-place", "--autocorrect",
                                        "--fix-only", "format"};
    static const char *const looks[] = {"--check", "--diff", "--list-different", "-l", "-d", "-c"};
    static const char *const always[] = {"black", "isort",
                                         "rustfmt"}; /* rewrite unless told not to */
    static const char *const runners[] = {"pytest",
                                          "py.test",
                                          "jest",
                                          "vitest",
                                          "mocha",
                                          "ava",
                                          "tap",
                                          "mypy",
                                          "pyright",
                                          "flake8",
                                          "pylint",
                                          "tsc",
                                          "cargo",
                                          "node",
                                          "nodejs",
                                          "python",
                                          "python3",
                                          "bash",
                                          "sh",
                                          "zsh",
                                          "ruby",
                                          "deno",
                                          "bun",
                                          "tsx",
                                          "ts-node",
                                          "phpunit",
                                          "rspec",
                                          "ctest",
                                          "make",
                                          "cmake",
                                          "npm",
                                          "npx",
                                          "yarn",
                                          "pnpm",
                                          "docker",
                                          "podman",
                                          "kubectl",
                                          "helm",
                                          "terraform",
                                          "gh",
                                          "go",
                                          "dotnet",
                                          "mvn",
                                          "gradle",
                                          "java",
                                          "shellcheck",
                                          "hadolint",
                                          "yamllint",
                                          "codespell",
                                          "ninja",
                                          "meson",
                                          "bazel",
                                          "just",
                                          "task",
                                          "uv",
                                          "poetry",
                                          "playwright",
                                          "cypress",
                                          "tox",
                                          "nox",
                                          "coverage",
                                          "perl",
                                          "php",
                                          "lua",
                                          "ansible-playbook",
                                          "docker-compose",
                                          "k6",
                                          "locust",
                                          "git",
                                          "clang-tidy",
                                          "cppcheck"};
    if (leaf_is(l, "git"))
        return !git_changes_files(l);
    if (copies_or_edits(l))
        return false;
    if (leaf_is_any(l, runners, ARRAY_LEN(runners)))
        return true;
    if (!leaf_is_any(l, checkers, ARRAY_LEN(checkers)))
        return false;
    bool changes = leaf_is_any(l, always, ARRAY_LEN(always));
    for (size_t i = 0; i < ARRAY_LEN(fixes); i++)
        changes |= has_word(l, fixes[i]);
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        changes &= !has_word(l, looks[i]);
    return !changes;
}

bool
option_is_output(struct str option)
{
    static const char *const names[] = {"-o",
                                        "-O",
                                        "--output",
                                        "--out",
                                        "--out-dir",
                                        "--outDir",
                                        "--outdir",
                                        "--outfile",
                                        "--output-dir",
                                        "--output-file",
                                        "--pack-destination",
                                        "--dest",
                                        "-d",
                                        "--download-dir",
                                        "--prefix",
                                        "--target-dir",
                                        "--cwd",
                                        "-C",
                                        "-B",
                                        "-D",
                                        "--dir",
                                        "--directory",
                                        "DESTDIR",
                                        "PREFIX"};
    size_t eq = str_find(option, '=', 0);
    struct str name = eq == (size_t)-1 ? option : str_sub(option, 0, eq);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

bool
option_is_written(const struct perm_leaf *l, struct str option)
{
    static const char *const names[] = {"-o", "--output", "--output-file", "--outfile",
                                        "--output-document"};
    size_t eq = str_find(option, '=', 0);
    struct str name = eq == (size_t)-1 ? option : str_sub(option, 0, eq);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    /* "-so FILE", "-qO FILE" */
    char letter = leaf_is(l, "wget") ? 'O' : leaf_is(l, "curl") ? 'o' : 0;
    return letter && name.len > 1 && name.ptr[0] == '-' && name.ptr[1] != '-' &&
           name.ptr[name.len - 1] == letter;
}

/* curl: the option by which the address names the file; wget and aria2c: the one that names another. */
static bool
names_download(const struct perm_leaf *l)
{
    static const char *const curl[] = {"-O", "--remote-name", "--remote-name-all"},
                             *const wget[] = {"-O", "--output-document"},
                             *const aria2c[] = {"-o", "--out"};
    const char *const *names = leaf_is(l, "curl") ? curl : leaf_is(l, "wget") ? wget : aria2c;
    size_t n = leaf_is(l, "curl") ? ARRAY_LEN(curl) : ARRAY_LEN(wget);
    const char *letters = outputs_letters(l, NULL);
    struct option_value v;
    for (size_t i = 1; i < l->n_argv; i++)
        for (size_t k = 0; k < n; k++)
            if (option_is_word(l, i, str_from(names[k]), letters, &v))
                return true;
    return false;
}

struct str
operand_download(const struct perm_leaf *l, struct str s)
{
    bool wget = leaf_is(l, "wget") || leaf_is(l, "aria2c");
    if (!s.len || s.ptr[0] == '-' || (!wget && !leaf_is(l, "curl")) || names_download(l) == wget)
        return str_from(NULL);
    size_t end = 0;
    while (end < s.len && s.ptr[end] != '#' && (wget || s.ptr[end] != '?'))
        end++;
    struct str path = str_sub(s, 0, end);
    size_t from = path.len;
    while (from > 0 && path.ptr[from - 1] != '/')
        from--;
    return str_sub(path, from, path.len - from);
}
