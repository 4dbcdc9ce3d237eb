/* What "always" saves for commands of real days: the same and its variant run without a question, with five rules at most, and none of
 * them opens an interpreter, a shell, a runner or a wrapper. */
#include "unit/tool_cases.h"

#include "unit/perm_world.h"

#include "perm/chain.h"

enum want {
    VARIANT, /* the same and the variant run */
    EXACT,   /* only the very same: nothing narrow would do for the variant */
    SESSION, /* no rule; the very same text, until the session ends */
    FREE,    /* asks for nothing, and neither does the variant */
};

static const struct day {
    enum want want;
    const char *command, *variant;
} days[] = {
    /* tests, builds */
    {VARIANT, "npm test && npm run lint 2>&1 | tail",
     "npm test -- src/a.test.js && npm run lint 2>&1 | tail -n 20"},
    {VARIANT, "cd web && npm ci", "cd web && npm ci --no-audit"},
    {VARIANT, "npm run build", "npm run build -- --mode production"},
    {SESSION, "FOO=1 make -j8 test | tee log", "FOO=1 make -j4 test | tee log"},
    {SESSION, "make -j$(nproc) check 2>&1 | tail -40", "make -j$(nproc) check 2>&1 | tail -80"},
    {VARIANT, "cargo test --workspace 2>&1 | tail -n 30", "cargo test -p core 2>&1 | grep FAILED"},
    {VARIANT, "cargo build --release && cargo clippy -- -D warnings",
     "cargo build && cargo clippy"},
    {VARIANT, "go test ./... && go vet ./...", "go test ./pkg/... && go vet ./pkg"},
    {VARIANT, "pytest -x tests/test_a.py | head -50", "pytest tests/test_b.py::test_c | head"},
    {VARIANT, "cmake --build build -j 8 && ctest --test-dir build",
     "cmake --build build -j 2 && ctest --test-dir build -R unit"},
    {EXACT, "cmake -S . -B build -G Ninja", "cmake -S . -B build -G Ninja -DX=1"},
    {EXACT, "ninja -C build test_a && ./build/test_a",
     "ninja -C build test_a && ./build/test_a --verbose"},
    {VARIANT, "mvn -q test 2>&1 | tail -20", "mvn -q test 2>&1 | tail -50"},
    {VARIANT, "./gradlew test --info", "./gradlew test"},
    {VARIANT, "dotnet test --filter Name=X", "dotnet test"},
    {VARIANT, "bundle install && rake test", "bundle install --quiet && rake test"},
    {VARIANT, "tsc --noEmit && eslint src --fix", "tsc --noEmit && eslint lib"},
    {VARIANT, "ruff check . && mypy src", "ruff check src && mypy ."},
    {VARIANT, "timeout 60 cargo test", "timeout 120 cargo test foo"},
    {VARIANT, "time make test", "time make test V=1"},
    {VARIANT, "(cd web && npm run build)", "(cd web && npm run build -- --watch=false)"},
    {EXACT, "npm install --save-dev jest", "npm install lodash"},
    {EXACT, "pip install -r requirements.txt", "pip install requests"},
    {VARIANT, "yarn install && yarn build", "yarn install --frozen-lockfile && yarn build"},
    {EXACT, "pnpm install --filter web", "pnpm install"},
    /* git */
    {VARIANT, "git add -A && git commit -m \"fix: the parser\"",
     "git add -A && git commit -m \"feat: other words\""},
    {VARIANT, "git add src/x.c && git commit -m 'one' && git push",
     "git add README.md && git commit -m 'two' && git push"},
    {VARIANT, "git commit -m \"$(cat <<'EOF'\nfix: a thing\n\nlonger text\nEOF\n)\"",
     "git commit -m \"$(cat <<'EOF'\nfeat: another\nEOF\n)\""},
    {VARIANT, "git commit -F - <<'EOF'\nsubject\n\nbody\nEOF",
     "git commit -F - <<'EOF'\nanother\nEOF"},
    {VARIANT, "git checkout -b feature/x", "git checkout -b feature/y"},
    {VARIANT, "git fetch origin && git rebase origin/main",
     "git fetch origin && git rebase origin/dev"},
    {VARIANT, "git stash push -m wip", "git stash push -m other"},
    {VARIANT, "git pull --rebase", "git pull"},
    {VARIANT, "git rm --cached src/x.c", "git rm --cached README.md"},
    {VARIANT, "git -C web add x && git -C web commit -m y",
     "git -C web add z && git -C web commit -m w"},
    /* containers, clouds */
    {SESSION, "docker compose up -d && docker compose logs",
     "docker compose up -d web && docker compose logs --tail 20"},
    {VARIANT, "docker compose logs web | tail && docker compose ps",
     "docker compose logs db && docker compose ps -a"},
    {SESSION, "docker build -t app . && docker images", "docker build -t app:2 . && docker images"},
    {SESSION, "kubectl get pods -n dev", "kubectl get pods -n dev -o wide"},
    {VARIANT, "terraform plan -out p", "terraform plan"},
    {VARIANT, "gh pr view 12 --json title", "gh pr view 13"},
    /* files */
    {FREE, "find . -name '*.md' | xargs grep y", "find . -name '*.c' | xargs grep z"},
    {FREE, "ls -la && git status --short | head", "ls src && git status | head -3"},
    {VARIANT, "mkdir -p out && cp README.md out/", "mkdir -p out && cp src/x.c out/"},
    {VARIANT, "sed -i 's/a/b/' src/x.c && git diff --stat", "sed -i 's/c/d/' src/x.c && git diff"},
    {VARIANT, "rm -f build/a.o build/b.o", "rm -f build/a.o build/b.o"},
    {VARIANT, "for f in a b; do make $f; done", "for f in a b; do make $f; done"},
    {VARIANT, "for t in unit e2e; do npm run $t; done", "for t in e2e unit; do npm run $t; done"},
    {VARIANT, "for f in src/*.c; do clang-format -i \"$f\"; done",
     "for f in src/*.h; do clang-format -i \"$f\"; done"},
    {VARIANT, "clang-format -i src/x.c", "clang-format -i src/y.c"},
    {VARIANT, "npm run dev > dev.log 2>&1 &", "npm run dev > dev.log 2>&1 &"},
    {VARIANT, "curl -s http://localhost:8080/health", "curl -s http://localhost:8080/health"},
    {EXACT, "chmod +x scripts/run.sh && ./scripts/run.sh",
     "chmod +x scripts/run.sh && ./scripts/run.sh all"},
    /* nothing narrow: an interpreter, a shell, a runner or a wrapper would be open */
    {SESSION, "python3 -c 'print(1)'", "python3 -c 'print(2)'"},
    {SESSION, "python3 scripts/gen.py --all", "python3 scripts/other.py"},
    {SESSION, "bash -lc 'npm test'", "bash -lc 'npm run x'"},
    {SESSION, "npx tsc --noEmit", "npx rimraf ."},
    {SESSION, "node build.js && npm test", "node other.js && npm test"},
    {SESSION, "sudo make install", "sudo make uninstall"},
    {SESSION, "env X=1 ./run", "env X=1 ./walk"},
    {SESSION, "xargs rm < list", "xargs rm < other"},
    {SESSION, "uv run pytest", "uv run x"},
    {SESSION, "docker run --rm app test", "docker run --rm evil"},
    {SESSION, "ssh host uptime", "ssh host reboot"},
    {SESSION, "make $(cat targets)", "make $(cat others)"},
};

static enum verdict
decide(const char *command, const struct perm_rules *rules)
{
    struct decision d;
    struct cJSON *input = world_bash_input(command);
    struct perm_request req = world_request("Bash", input, rules);
    perm_chain_check(&req, &d);
    enum verdict v = d.verdict;
    decision_release(&d);
    json_free(input);
    return v;
}

/* What lies behind such words is anything. */
static void
check_rule(const char *rule)
{
    static const char *const open_words[] = {
        "python", "python3", "node", "ruby",   "perl",    "bash",    "sh",       "zsh",
        "npx",    "bunx",    "sudo", "env",    "xargs",   "timeout", "nice",     "time",
        "exec",   "run",     "dlx",  "docker", "kubectl", "ssh",     "find",     "make",
        "npm",    "git",     "-c",   "-C",     "compose", "watch",   "parallel",
    };
    struct str body = str_from(rule), word = {0}, last = {0}, before = {0};
    if (!str_starts(body, "Bash(") || !str_ends(body, ":*)"))
        return;
    body = str_sub(body, 5, body.len - 3);
    while (body.len && str_split(&body, ' ', &word)) {
        before = last;
        last = word;
    }
    for (size_t i = 0; i < ARRAY_LEN(open_words); i++)
        if (str_is(last, open_words[i]))
            fail_msg("%s leaves open what runs", rule);
    if (str_is(before, "-C"))
        fail_msg("%s names a folder and not what is done there", rule);
}

/* The rules for it into `rules`; how many. */
static size_t
suggest(const char *command, struct perm_rules *rules, struct buf *said)
{
    char *offered[5];
    const char *why;
    struct cJSON *input = world_bash_input(command);
    struct perm_request req = world_request("Bash", input, rules);
    size_t n = perm_chain_suggest(&req, offered, &why);
    buf_addf(said, "%s:", command);
    for (size_t i = 0; i < n; i++) {
        assert_true(perm_rules_add(rules, VERDICT_ALLOW, offered[i], SCOPE_LOCAL, false, NULL, 0));
        buf_addf(said, " %s", offered[i]);
        check_rule(offered[i]);
        free(offered[i]);
    }
    if (!n)
        buf_addf(said, " (%s)", why ? why : "?");
    json_free(input);
    return n;
}

static bool
check_day(const struct day *d, struct buf *said)
{
    struct perm_rules rules;
    perm_rules_init(&rules);
    size_t n = suggest(d->command, &rules, said);
    bool same = decide(d->command, &rules) == VERDICT_ALLOW;
    bool other = decide(d->variant, &rules) == VERDICT_ALLOW;
    buf_addf(said, "  same %d variant %d\n", same, other);
    bool ok = d->want == VARIANT ? n > 0 && same && other
              : d->want == EXACT ? n > 0 && same && !other
              : d->want == FREE  ? n == 0 && same && other
                                 : n == 0 && !same && !other;
    perm_rules_release(&rules);
    return ok;
}

static void
always_holds_for_the_same_and_its_variant(void **state)
{
    (void)state;
    size_t bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(days); i++) {
        struct buf said;
        buf_init(&said, BUF_MAX);
        bool ok = check_day(&days[i], &said);
        if (!ok || getenv("YARE_SHOW"))
            print_error("%s%s", ok ? "     " : "BAD  ", buf_cstr(&said));
        bad += !ok;
        buf_release(&said);
    }
    assert_int_equal(bad, 0);
}

static int
setup(void **state)
{
    static const char *const files[] = {
        "proj/.git/HEAD",        "proj/README.md", "proj/src/x.c",      "proj/src/y.c",
        "proj/web/package.json", "proj/build/a.o", "home/dev/.profile",
    };
    (void)state;
    world = temp_dir_make();
    proj = fs_join(world, "proj");
    home = fs_join(world, "home/dev");
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        temp_file_write(world, files[i], "y\n");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_holds_for_the_same_and_its_variant),
    };
    return cmocka_run_group_tests(tests, setup, world_teardown);
}
