/* How much of a command a rule for it has to hold, so that it says what is done and leaves open with what. */
#include <string.h>

#include "perm/leaf.h"
#include "perm/suggest.h"

/* How many words name what a program is told to do. */
static const struct {
    const char *words;
    size_t arity;
} arity[] = {
    {"git", 2},
    {"git remote", 3},
    {"git stash", 3},
    {"git worktree", 3},
    {"git submodule", 3},
    {"git config", 3},
    {"npm", 2},
    {"npm run", 3},
    {"yarn", 2},
    {"yarn run", 3},
    {"yarn workspace", 4},
    {"pnpm", 2},
    {"pnpm run", 3},
    {"bun", 2},
    {"bun run", 3},
    {"cargo", 2},
    {"go", 2},
    {"go mod", 3},
    {"make", 2},
    {"cmake", 2},
    {"cmake --build", 3},
    {"./gradlew", 2},
    {"./mvnw", 2},
    {"ninja", 1},
    {"meson", 2},
    {"ctest", 1},
    {"gradle", 2},
    {"mvn", 2},
    {"dotnet", 2},
    {"pip", 2},
    {"pip3", 2},
    {"uv", 2},
    {"poetry", 2},
    {"pytest", 1},
    {"tox", 1},
    {"ruff", 2},
    {"mypy", 1},
    {"eslint", 1},
    {"prettier", 1},
    {"tsc", 1},
    {"jest", 1},
    {"vitest", 2},
    {"gh", 3},
    {"glab", 3},
    {"aws", 3},
    {"gcloud", 3},
    {"terraform", 2},
    {"helm", 2},
    {"systemctl", 2},
    {"brew", 2},
    {"apt-cache", 2},
    {"rustup", 2},
    {"rake", 2},
    {"bundle", 2},
    {"rails", 2},
    {"composer", 2},
    {"mix", 2},
    {"swift", 2},
    {"flutter", 2},
    {"dart", 2},
    {"stack", 2},
    {"cabal", 2},
    {"zig", 2},
    {"docker", 2},
    {"docker compose", 3},
    {"docker image", 3},
    {"docker container", 3},
    {"kubectl", 2},
    {"just", 2},
    {"task", 2},
    {"clang-format", 1},
    {"clang-tidy", 1},
    {"shellcheck", 1},
};
/* Told with these words a program runs whatever comes next. */
static const char *const runners[] = {
    "npm exec",
    "npm x",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "uv run",
    "uv tool",
    "poetry run",
    "bundle exec",
    "cargo run",
    "go run",
    "dotnet run",
    "docker run",
    "docker exec",
    "docker compose",
    "kubectl exec",
    "kubectl run",
    "npm run",
    "pnpm run",
    "yarn run",
    "bun run",
    "make",
    "just",
    "task",
    "git config",
    "git bisect",
    "git submodule foreach",
    "gh api",
    "gh extension",
    "go generate",
    "swift run",
    "mix run",
};

/* What comes behind these is somebody's code, which is fetched and mostly run: a yes to one package is none to the next. What installs
 * only what the project's own files name (npm ci, bundle install) is not among them. */
static const char *const installers[] = {
    "npm install",  "npm i",        "npm add",      "npm update",    "pnpm install",
    "pnpm i",       "pnpm add",     "pnpm update",  "yarn add",      "yarn upgrade",
    "bun install",  "bun add",      "pip install",  "pip3 install",  "uv add",
    "uv pip",       "poetry add",   "cargo add",    "cargo install", "go get",
    "go install",   "brew install", "brew upgrade", "bundle add",    "composer require",
    "dotnet add",   "flutter pub",  "dart pub",     "cabal install", "stack install",
    "helm install",
};

/* Of programs that are as good as a shell, what only tells of what is there, or writes what the words before name. */
static const char *const tame[] = {
    "docker compose logs", "docker compose ps", "docker compose images", "docker compose top",
    "docker images",       "docker ps",         "docker logs",           "docker inspect",
    "docker stats",        "docker version",    "docker info",           "docker history",
};

static bool
plain_word(const struct perm_word *w)
{
    if (!w->known || w->glob || !w->text.len)
        return false;
    for (size_t i = 0; i < w->text.len; i++) {
        unsigned char c = (unsigned char)w->text.ptr[i];
        if (c <= ' ' || c == 0x7f || strchr("*?[]()\\'\"$`;&|<>{}", c))
            return false;
    }
    return true;
}

static size_t
arity_of(const char *words)
{
    for (size_t k = 0; k < ARRAY_LEN(arity); k++)
        if (strcmp(arity[k].words, words) == 0)
            return arity[k].arity;
    return 0;
}

static bool
is_listed(const char *const *list, size_t n, struct str words)
{
    for (size_t k = 0; k < n; k++)
        if (str_is(words, list[k]))
            return true;
    return false;
}

static void
add_word(struct buf *out, struct str word)
{
    if (out->len)
        buf_addc(out, ' ');
    buf_add_str(out, word);
}

/* "-C DIR" behind git: what is done stands after it, and the folder belongs to the rule. */
static bool
is_git_folder(const struct perm_leaf *l, size_t i)
{
    return i + 1 < l->n_argv && str_is(l->argv[0].text, "git") && l->argv[i].known &&
           str_is(l->argv[i].text, "-C") && plain_word(&l->argv[i + 1]) &&
           l->argv[i + 1].text.ptr[0] != '-';
}

void
suggest_prefix(const struct perm_leaf *l, struct buf *out)
{
    size_t want = 0, have = 0;
    struct buf named; /* without what only says where */
    buf_init(&named, 4096);
    for (size_t i = 0; i < l->n_argv && (have == 0 || have < want); i++) {
        struct str word = l->argv[i].text;
        if (have == 1 && is_git_folder(l, i)) {
            add_word(out, word);
            add_word(out, l->argv[++i].text);
            continue;
        }
        if (!plain_word(&l->argv[i]))
            break;
        add_word(&named, word);
        size_t n = arity_of(buf_cstr(&named));
        if (word.ptr[0] == '-' && !n)
            break;
        add_word(out, word);
        want = n ? n : want;
        have++;
    }
    if (!want || have < want || is_listed(runners, ARRAY_LEN(runners), buf_str(&named)) ||
        is_listed(installers, ARRAY_LEN(installers), buf_str(&named)))
        buf_clear(out);
    buf_release(&named);
}

bool
suggest_is_tame(struct str prefix)
{
    return is_listed(tame, ARRAY_LEN(tame), prefix);
}
