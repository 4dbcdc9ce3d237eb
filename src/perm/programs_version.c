/*
 * "node --version" and the like: one word that makes a toolchain print a line before it loads anything. Left out are those that
 * start the project's own code for it: yarn (yarnPath), pnpm (another version of itself), mvn and gradle (options and wrappers of
 * the project), pytest (plugins), eslint and its kind.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "perm/name_index.h"
#include "perm/programs.h"

/* Shims of version managers look for these; a path in one stands for a program of the project's. */
#define SHIMS ".tool-versions "

static const struct {
    const char *name, *words, *pins; /* see version_pinned_here */
} queries[] = {
    {"node", "--version -v --help -h", SHIMS},
    {"nodejs", "--version -v", SHIMS},
    {"npm", "--version -v", SHIMS},
    {"npx", "--version -v", SHIMS},
    {"deno", "--version -V", SHIMS},
    {"bun", "--version -v --revision", SHIMS},
    {"python", "--version -V -VV --help -h", SHIMS ".python-version"},
    {"python2", "--version -V", SHIMS ".python-version"},
    {"python3", "--version -V -VV --help -h", SHIMS ".python-version"},
    {"pip", "--version -V --help", SHIMS ".python-version"},
    {"pip3", "--version -V --help", SHIMS ".python-version"},
    {"ruff", "--version -V --help version", SHIMS},
    {"uv", "--version -V --help", SHIMS},
    {"uvx", "--version", SHIMS},
    {"ruby", "--version -v", SHIMS ".ruby-version"},
    {"perl", "--version -v", SHIMS ".perl-version"},
    {"php", "--version -v", SHIMS ".php-version"},
    {"lua", "-v", SHIMS},
    {"java", "--version -version", SHIMS ".java-version"},
    {"javac", "--version -version", SHIMS ".java-version"},
    {"dotnet", "--version", SHIMS "global.json"},
    {"rustc", "--version -V -vV --help", SHIMS "rust-toolchain rust-toolchain.toml"},
    {"cargo", "--version -V -vV --help --list", SHIMS "rust-toolchain rust-toolchain.toml"},
    {"rustup", "--version", NULL},
    {"rustfmt", "--version", SHIMS "rust-toolchain rust-toolchain.toml"},
    {"go", "help --help", SHIMS "!go.mod !go.work"},
    {"zig", "version", SHIMS},
    {"gcc", "--version -v -dumpversion -dumpmachine --help", NULL},
    {"g++", "--version -v -dumpversion -dumpmachine --help", NULL},
    {"cc", "--version -v -dumpversion -dumpmachine --help", NULL},
    {"c++", "--version -v -dumpversion -dumpmachine --help", NULL},
    {"clang", "--version -v -dumpversion -dumpmachine --help", NULL},
    {"clang++", "--version -v -dumpversion -dumpmachine --help", NULL},
    {"ld", "--version -v", NULL},
    {"as", "--version", NULL},
    {"clang-tidy", "--version", NULL},
    {"cmake", "--version --help", SHIMS},
    {"ctest", "--version --help", SHIMS},
    {"cpack", "--version", SHIMS},
    {"ninja", "--version --help", SHIMS},
    {"meson", "--version", SHIMS},
    {"make", "--version -v --help", NULL},
    {"gmake", "--version -v --help", NULL},
    {"autoconf", "--version", NULL},
    {"automake", "--version", NULL},
    {"pkg-config", "--version", NULL},
    {"gdb", "--version", NULL},
    {"valgrind", "--version", NULL},
    {"docker", "--version -v --help", NULL},
    {"podman", "--version -v", NULL},
    {"kubectl", "--help", NULL},
    {"helm", "--help", SHIMS},
    {"gh", "--version --help", NULL},
    {"aws", "--version", SHIMS},
    {"curl", "--version -V --help", NULL},
    {"wget", "--version -V --help", NULL},
    {"ssh", "-V", NULL},
    {"openssl", "version", NULL},
    {"bash", "--version", NULL},
    {"zsh", "--version", NULL},
    {"fish", "--version", NULL},
    {"vim", "--version", NULL},
    {"nvim", "--version", NULL},
    {"emacs", "--version", NULL},
    {"tmux", "-V", NULL},
    {"sqlite3", "--version -version", NULL},
    {"psql", "--version -V", NULL},
    {"mysql", "--version -V", NULL},
    {"redis-server", "--version -v", NULL},
    {"shellcheck", "--version -V", SHIMS},
    {"rsync", "--version", NULL},
    {"ffmpeg", "-version", NULL},
    {"xargs", "--version --help", NULL},
    {"parallel", "--version", NULL},
    {"timeout", "--version --help", NULL},
    {"env", "--version --help", NULL},
    {"tree-sitter", "--version", SHIMS},
    {"terraform", "--help -help", SHIMS},
    {"delta", "--version -V --help", NULL},
    {"tokei", "--version -V", NULL},
    {"hyperfine", "--version -V --help", NULL},
    {"lsd", "--version -V", NULL},
    {"just", "--version -V --help", SHIMS},
    {"watchexec", "--version -V", NULL},
    {"ldd", "--version", NULL},
    {"split", "--version --help", NULL},
    {"tee", "--version --help", NULL},
    {"install", "--version --help", NULL},
    {"patch", "--version --help", NULL},
    {"gpg", "--version", NULL},
    {"zstd", "--version -V", NULL},
    {"jj", "--version -V", NULL},
    {"hg", "--version", NULL},
    {"svn", "--version", NULL},
    {"redis-cli", "--version -v", NULL},
    {"golangci-lint", "--version version", SHIMS},
    {"pre-commit", "--version -V", SHIMS ".python-version"},
    {"poetry", "--version -V", SHIMS ".python-version"},
};

/* The file says no more than a version: it has no path and no table of paths. */
static bool
plain_pin(const char *path)
{
    char block[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return access(path, F_OK) != 0;
    ssize_t n = read(fd, block, sizeof block);
    close(fd);
    if (n < 0 || (size_t)n == sizeof block)
        return false;
    struct str s = str_make(block, (size_t)n);
    return !memchr(s.ptr, '/', s.len) && !memchr(s.ptr, '\\', s.len) &&
           !str_contains(s, STR("path"));
}

/* The files in dir and in all above it. */
static bool
pins_plain(struct sh *sh, const char *dir, struct str files)
{
    struct str name, rest;
    for (struct str d = str_from(dir); d.len;) {
        for (rest = files; str_split(&rest, ' ', &name);) {
            bool any = str_starts(name, "!"); /* none at all, whatever it says */
            name = str_sub(name, any, name.len);
            const char *at = arena_printf(sh->a, "%.*s/%.*s", (int)(d.len > 1 ? d.len : 0), d.ptr,
                                          (int)name.len, name.ptr);
            if (name.len && (any ? access(at, F_OK) == 0 : !plain_pin(at)))
                return false;
        }
        size_t cut = d.len;
        while (cut > 0 && d.ptr[cut - 1] != '/')
            cut--;
        if (d.len <= 1)
            break;
        d.len = cut > 1 ? cut - 1 : 1;
    }
    return true;
}

/* An earlier part of the command line writes one of them. */
static bool
written_before(const struct sh *sh)
{
    for (size_t i = 0; i < sh->ret->n_leaves; i++)
        for (size_t k = 0; k < sh->ret->leaves[i].n_effects; k++)
            if (sh->ret->leaves[i].effects[k].kind == EFFECT_WRITE)
                return true;
    return false;
}

bool
version_pinned_here(struct sh *sh, const char *files)
{
    const struct cwdset *c = &sh->st.cwd;
    if (!files)
        return true;
    if (c->unknown || c->n == 0 || written_before(sh))
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (!pins_plain(sh, c->dir[i], str_from(files)))
            return false;
    return true;
}

static bool
one_of(const char *list, struct str s)
{
    struct str rest = str_from(list), part;
    while (str_split(&rest, ' ', &part))
        if (part.len && str_eq(part, s))
            return true;
    return false;
}

bool
version_run(struct sh *sh, size_t leaf, const struct command *c)
{
    bool trusted;
    struct str name = program_name(c->argv[0].w.text, &trusted);
    if (c->n != 2 || !trusted || !c->argv[1].w.known || c->argv[1].w.glob)
        return false;
    static struct name_index index;
    for (size_t i = name_first(&index, queries, ARRAY_LEN(queries), sizeof *queries, name);
         i != NAME_NONE; i = name_next(&index, i)) {
        if (!one_of(queries[i].words, c->argv[1].w.text))
            continue;
        if (!version_pinned_here(sh, queries[i].pins))
            return false;
        leaf_at(sh, leaf)->cls = CLASS_READER;
        return true;
    }
    return false;
}
