/*
 * Files that programs of unknown effects write for sure: values of their options and operands that can be nothing else. Each is an
 * access of its own like that of `cp`: rules for Edit, protected places and the end of the project hold for it, whatever rule
 * lets the program run. What such a program writes beside these is not known.
 *
 * To add one: a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/outputs.h"
#include "perm/shell.h"
#include "perm/trees.h"
#include "perm/trees_match.h"

enum operand { NO_OPERAND, FIRST, SECOND, LAST };

/* `with`: words that must be there, as in a row of trees.h. Options are parted by blanks; their values may be attached. */
static const struct output_row {
    const char *program, *with, *options;
    enum operand
        operand; /* this operand is written, of those behind `with` where it names a sub-command */
} rows[] = {
    {"curl", NULL,
     "-o --output --output-dir -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr "
     "--etag-save --hsts --alt-svc --libcurl",
     NO_OPERAND},
    {"wget", NULL,
     "-O --output-document -o --output-file -a --append-output -P --directory-prefix "
     "--save-cookies --warc-file --hsts-file",
     NO_OPERAND},
    {"aria2c", NULL, "-o --out -d --dir", NO_OPERAND},
    {"yt-dlp", NULL, "-o --output -P --paths", NO_OPERAND},
    {"ssh", NULL, "-E", NO_OPERAND},
    {"gcc", NULL, "-o", NO_OPERAND},
    {"g++", NULL, "-o", NO_OPERAND},
    {"cc", NULL, "-o", NO_OPERAND},
    {"c++", NULL, "-o", NO_OPERAND},
    {"clang", NULL, "-o", NO_OPERAND},
    {"clang++", NULL, "-o", NO_OPERAND},
    {"rustc", NULL, "-o --out-dir", NO_OPERAND},
    {"ld", NULL, "-o --output", NO_OPERAND},
    {"go", "build|test|install", "-o", NO_OPERAND},
    {"tsc", NULL, "--outDir --outFile", NO_OPERAND},
    {"esbuild", NULL, "--outfile --outdir", NO_OPERAND},
    {"rollup", NULL, "-o --file -d --dir", NO_OPERAND},
    {"eslint", NULL, "-o --output-file", NO_OPERAND},
    {"jest", NULL, "--outputFile --coverageDirectory", NO_OPERAND},
    {"pytest", NULL, "--junitxml --junit-xml --basetemp", NO_OPERAND},
    {"pandoc", NULL, "-o --output", NO_OPERAND},
    {"dot", NULL, "-o", NO_OPERAND},
    {"xmllint", NULL, "-o --output", NO_OPERAND},
    {"gpg", NULL, "-o --output", NO_OPERAND},
    {"openssl", NULL, "-out -keyout", NO_OPERAND},
    {"sops", NULL, "--output", NO_OPERAND},
    {"less", NULL, "-o -O --log-file --LOG-FILE", NO_OPERAND},
    {"terraform", "plan", "-out", NO_OPERAND},
    {"tofu", "plan", "-out", NO_OPERAND},
    {"helm", "template|package", "--output-dir -d --destination", NO_OPERAND},
    {"kustomize", NULL, "-o --output", NO_OPERAND},
    {"docker", "save|export", "-o --output", NO_OPERAND},
    {"pg_dump", NULL, "-f --file", NO_OPERAND},
    {"mysqldump", NULL, "-r --result-file", NO_OPERAND},
    {"gh", "download", "-D --dir -O --output", NO_OPERAND},
    {"npm", "pack", "--pack-destination", NO_OPERAND},
    {"pip", "download", "-d --dest", NO_OPERAND},
    {"pip", "install", "-t --target --root --prefix", NO_OPERAND},
    {"pip3", "install", "-t --target --root --prefix", NO_OPERAND},
    {"unzip", NULL, "-d", NO_OPERAND},
    {"tar", "~c|~r|~u|--create|--append|--update", "-f --file", NO_OPERAND},
    {"bsdtar", "~c|~r|~u|--create|--append|--update", "-f --file", NO_OPERAND},
    {"python3", "json.tool", NULL, SECOND},
    {"python", "json.tool", NULL, SECOND},
    {"zip", NULL, NULL, FIRST},
    {"7z", "a", NULL, FIRST},
    {"patch", NULL, "-o --output -d --directory", FIRST},
    {"mkfifo", NULL, NULL, FIRST},
    {"gzip", NULL, NULL, FIRST},
    {"gunzip", NULL, NULL, FIRST},
    {"zstd", NULL, "-o", FIRST},
    {"mktemp", NULL, "-p --tmpdir", NO_OPERAND},
    {"cargo", NULL, "--target-dir --root --out-dir --artifact-dir", NO_OPERAND},
    {"cargo", "new", NULL, FIRST},
    {"cargo", "init", NULL, FIRST},
    {"cmake", NULL, "-B --prefix --install-prefix", NO_OPERAND},
    {"cmake", "-E", NULL, LAST},
    {"gh", "clone", NULL, LAST},
    {"convert", NULL, NULL, LAST},
    {"magick", NULL, NULL, LAST},
    {"split", NULL, NULL, SECOND},
    {"csplit", NULL, "-f --prefix", NO_OPERAND},
    {"ffmpeg", NULL, NULL, LAST},
    {"git", "format-patch", "-o --output-directory", NO_OPERAND},
    {"git", "archive", "-o --output", NO_OPERAND},
    {"git", "checkout-index", "--prefix", NO_OPERAND},
    {"git", "apply", "--directory", NO_OPERAND},
    {"git", "bundle create", NULL, FIRST},
    {"git", "worktree add", NULL, FIRST},
    {"git", "worktree move", NULL, LAST},
    {"git", "config", "-f --file", NO_OPERAND},
    {"git", "clone", NULL, SECOND},
    {"git", "mv", NULL, LAST},
    {"go", "test",
     "-coverprofile --coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace "
     "-outputdir",
     NO_OPERAND},
    {"ruff", NULL, "-o --output-file --cache-dir", NO_OPERAND},
    {"mypy", NULL,
     "--html-report --txt-report --xml-report --xslt-html-report --xslt-txt-report "
     "--any-exprs-report --cobertura-xml-report --linecount-report --linecoverage-report "
     "--lineprecision-report --junit-xml --cache-dir",
     NO_OPERAND},
    {"pytest", NULL, "--log-file --html --report-log --json-report-file", NO_OPERAND},
    {"ctest", NULL, "-O --output-log --output-junit", NO_OPERAND},
    {"pylint", NULL, "--output", NO_OPERAND},
    {"flake8", NULL, "--output-file", NO_OPERAND},
    {"bandit", NULL, "-o --output", NO_OPERAND},
    {"coverage", NULL, "-o -d --directory --data-file", NO_OPERAND},
    {"sphinx-build", NULL, "-d -w", SECOND},
    {"mkdocs", "build", "-d --site-dir", NO_OPERAND},
    {"pip-compile", NULL, "-o --output-file", NO_OPERAND},
    {"poetry", "export", "-o --output", NO_OPERAND},
    {"uv", "export|compile", "-o --output-file", NO_OPERAND},
    {"uv", "venv", NULL, FIRST},
    {"virtualenv", NULL, NULL, FIRST},
    {"vitest", NULL, "--outputFile --coverage.reportsDirectory", NO_OPERAND},
    {"webpack", NULL, "-o --output-path", NO_OPERAND},
    {"vite", "build", "--outDir", NO_OPERAND},
    {"swc", NULL, "-o --out-file -d --out-dir", NO_OPERAND},
    {"babel", NULL, "-o --out-file -d --out-dir", NO_OPERAND},
    {"postcss", NULL, "-o --output -d --dir", NO_OPERAND},
    {"terser", NULL, "-o --output", NO_OPERAND},
    {"uglifyjs", NULL, "-o --output", NO_OPERAND},
    {"stylelint", NULL, "-o --output-file", NO_OPERAND},
    {"typedoc", NULL, "--out --json", NO_OPERAND},
    {"nyc", NULL, "--report-dir --temp-dir", NO_OPERAND},
    {"c8", NULL, "-o --reports-dir --temp-directory", NO_OPERAND},
    {"playwright", NULL, "--output", NO_OPERAND},
    {"tsup", NULL, "-d --out-dir", NO_OPERAND},
    {"tsc", NULL, "--declarationDir --tsBuildInfoFile", NO_OPERAND},
    {"bun", "build", "--outfile --outdir", NO_OPERAND},
    {"deno", "compile|bundle", "-o --output", NO_OPERAND},
    {"gotestsum", NULL, "--junitfile --jsonfile", NO_OPERAND},
    {"mockgen", NULL, "-destination", NO_OPERAND},
    {"stringer", NULL, "-output", NO_OPERAND},
    {"buf", NULL, "-o --output", NO_OPERAND},
    {"protoc", NULL, "-o --descriptor_set_out --cpp_out --go_out --python_out --java_out --js_out",
     NO_OPERAND},
    {"javac", NULL, "-d -s -h", NO_OPERAND},
    {"javadoc", NULL, "-d", NO_OPERAND},
    {"kotlinc", NULL, "-d", NO_OPERAND},
    {"mvn", NULL, "-l --log-file", NO_OPERAND},
    {"dotnet", "build|publish|pack|test", "-o --output --results-directory", NO_OPERAND},
    {"rustdoc", NULL, "-o --out-dir", NO_OPERAND},
    {"wasm-pack", NULL, "-d --out-dir", NO_OPERAND},
    {"as", NULL, "-o", NO_OPERAND},
    {"nasm", NULL, "-o", NO_OPERAND},
    {"meson", "setup", NULL, FIRST},
    {"pdflatex", NULL, "-output-directory --output-directory", NO_OPERAND},
    {"xelatex", NULL, "-output-directory --output-directory", NO_OPERAND},
    {"latexmk", NULL, "-outdir -output-directory -auxdir", NO_OPERAND},
    {"asciidoctor", NULL, "-o --out-file -D --destination-dir", NO_OPERAND},
    {"mdbook", NULL, "-d --dest-dir", NO_OPERAND},
    {"hugo", NULL, "-d --destination", NO_OPERAND},
    {"zola", NULL, "-o --output-dir", NO_OPERAND},
    {"mmdc", NULL, "-o --output", NO_OPERAND},
    {"docker", "build", "-o --output --iidfile --metadata-file", NO_OPERAND},
    {"podman", "build", "--iidfile --metadata-file", NO_OPERAND},
    {"terraform", "apply", "-state-out -backup", NO_OPERAND},
    {"perf", "record", "-o --output", NO_OPERAND},
    {"valgrind", NULL, "--log-file --xml-file", NO_OPERAND},
    {"hyperfine", NULL,
     "--export-json --export-markdown --export-csv --export-asciidoc --export-orgmode", NO_OPERAND},
    {"tcpdump", NULL, "-w", NO_OPERAND},
    {"tshark", NULL, "-w", NO_OPERAND},
    {"nmap", NULL, "-oN -oX -oG -oA", NO_OPERAND},
    {"xsltproc", NULL, "-o --output", NO_OPERAND},
    {"psql", NULL, "-o --output -L --log-file", NO_OPERAND},
    {"mongodump", NULL, "-o --out", NO_OPERAND},
    {"redis-cli", NULL, "--rdb", NO_OPERAND},
    {"http", NULL, "-o --output", NO_OPERAND},
    {"age", NULL, "-o --output", NO_OPERAND},
    {"ctags", NULL, "-f -o", NO_OPERAND},
};

/* Where the row's last sub-command stands, for programs that have some; 0: the row does not speak of this call. */
static size_t
behind_words(const struct perm_leaf *l, const struct output_row *r)
{
    bool plain, git = leaf_is(l, "git");
    size_t sub = git ? git_subcommand(l->argv, l->n_argv, &plain) : 0;
    if (!r->with)
        return 1;
    if (!git)
        return trees_has(l, r->with) ? 1 : 0;
    struct str rest = str_from(r->with), word;
    while (str_split(&rest, ' ', &word)) {
        if (!sub || sub >= l->n_argv || !str_eq(l->argv[sub].text, word))
            return 0;
        sub++;
    }
    return sub;
}

/* The place that is there to be filled, and what nobody put into it but for that: the folder of a test's project lies there too. */
static bool
is_scratch(const struct chain *c, struct str s)
{
    if (!str_starts(s, "/tmp/") || str_contains(s, STR("/../")) || str_ends(s, "/.."))
        return false;
    size_t end = str_find(s, '/', 5);
    char *top = str_dup(str_sub(s, 0, end));
    struct stat st;
    bool held = (c->home && path_inside(c->home, top, c->fold)) ||
                (c->root && path_inside(c->root, top, c->fold));
    bool link = lstat(top, &st) == 0 && S_ISLNK(st.st_mode);
    free(top);
    return !held && !link;
}

/* "go build -C svc -o ../x", "git -C sub archive -o x": from there; yours. */
static char *
base_of(const struct perm_leaf *l, const char *cwd)
{
    for (size_t i = 1; i + 1 < l->n_argv && (leaf_is(l, "go") || leaf_is(l, "git")); i++)
        if (l->argv[i].known && str_is(l->argv[i].text, "-C") && l->argv[i + 1].known) {
            char *dir = str_dup(l->argv[i + 1].text), *base = fs_normalize(cwd, dir);
            free(dir);
            return base;
        }
    return xstrdup(cwd);
}

static void
judge_file(struct chain *c, const struct perm_leaf *l, struct str s, bool known)
{
    struct access a = {
        .kind = EFFECT_WRITE, .cover = &c->covers[l - c->sh.leaves], .leaf = l, .cwd = l->cwd};
    if (known && (!s.len || str_is(s, "-") || is_scratch(c, s)))
        return;
    char *text = str_dup(s);
    a.shown = *text ? text : "a file";
    for (size_t i = 0; known && i < l->n_cwds; i++) {
        char *base = base_of(l, l->cwds[i]), *path = fs_normalize(base, text);
        a.path = path;
        judge_access(c, &a);
        free(path);
        free(base);
    }
    if (!known || (!l->n_cwds && *text != '/')) {
        a.path = NULL;
        judge_access(c, &a);
    } else if (!l->n_cwds) {
        a.path = text;
        judge_access(c, &a);
    }
    free(text);
}

/* "-o FILE", "-oFILE", "-so FILE", "--output=FILE": does word i say so, and where is the value? *ret_next: in the next word. */
static bool
names_file(const struct perm_leaf *l, size_t i, struct str option, struct str *ret, bool *ret_next)
{
    struct str s = l->argv[i].text;
    bool is_long = option.len > 2, dashed = s.len > 1 && s.ptr[0] == '-';
    /* bundles of letters are theirs alone */
    bool tar = leaf_is(l, "tar") || leaf_is(l, "bsdtar");
    bool bundles = leaf_is(l, "curl") || leaf_is(l, "wget") || tar;
    *ret_next = false;
    if (is_long && s.len > option.len && s.ptr[option.len] == '=' &&
        memcmp(s.ptr, option.ptr, option.len) == 0) {
        *ret = str_sub(s, option.len + 1, s.len);
        return true;
    }
    bool old = tar && i == 1 && !dashed; /* tar cf FILE */
    bool last = (bundles && dashed && s.ptr[1] != '-') || old;
    if (str_eq(s, option) || (!is_long && last && s.ptr[s.len - 1] == option.ptr[1])) {
        *ret_next = true;
        return true;
    }
    /* behind letters that take nothing ("-so/x"); gcc's "-object" is none of its "-o" */
    size_t at = 1;
    while (bundles && dashed && at < s.len && s.ptr[at] && strchr("sSfLkvqncNjiz", s.ptr[at]) &&
           s.ptr[at] != option.ptr[1])
        at++;
    bool attached = !is_long && dashed && at + 1 < s.len && s.ptr[at] == option.ptr[1] &&
                    strchr("/.~", s.ptr[at + 1]) && s.ptr[at + 1];
    bool valued = !is_long && dashed && s.len > 2 && s.ptr[1] == option.ptr[1] && s.ptr[2] == '=';
    if (attached || valued)
        *ret = str_sub(s, valued ? 3 : at + 1, s.len);
    return attached || valued;
}

static void
judge_options(struct chain *c, const struct perm_leaf *l, const struct output_row *r, size_t from)
{
    for (size_t i = from; r->options && i < l->n_argv; i++) {
        struct str list = str_from(r->options), option, value;
        bool next;
        if (!l->argv[i].known || !l->argv[i].text.len || str_is(l->argv[i].text, "--"))
            continue;
        while (str_split(&list, ' ', &option)) {
            if (!names_file(l, i, option, &value, &next) || (next && i + 1 >= l->n_argv))
                continue;
            const struct perm_word *w = next ? &l->argv[i + 1] : &l->argv[i];
            judge_file(c, l, next ? w->text : value, w->known && !w->glob);
            i += next;
            break;
        }
    }
}

/* Of rsync and scp "host:path" is elsewhere. */
static bool
is_remote(struct str s)
{
    size_t colon = str_find(s, ':', 0), slash = str_find(s, '/', 0);
    return colon != (size_t)-1 && (slash == (size_t)-1 || colon < slash);
}

/* The next word is that option's: "git clone -b main ADDRESS DIR". */
static bool
takes_next(const struct perm_leaf *l, struct str option)
{
    static const char *const names[] = {"-b", "-B", "--branch", "--depth", "-j",       "-o",
                                        "-u", "-c", "--origin", "--jobs",  "--config", "--filter"};
    for (size_t i = 0; i < ARRAY_LEN(names) && leaf_is(l, "git"); i++)
        if (str_is(option, names[i]))
            return true;
    return false;
}

static void
judge_operand(struct chain *c, const struct perm_leaf *l, const struct output_row *r, size_t from)
{
    size_t found = 0, n = 0;
    for (size_t i = from; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (l->argv[i].known && s.len && s.ptr[0] == '-') {
            i += takes_next(l, s);
            continue;
        }
        if (r->with && !leaf_is(l, "git") && str_is(s, r->with))
            continue;
        n++;
        if (r->operand == LAST || n == (r->operand == FIRST ? 1 : 2))
            found = i;
    }
    if (!found || (r->operand == LAST && n < 2) || !l->argv[found].known || l->argv[found].glob ||
        is_remote(l->argv[found].text))
        return;
    judge_file(c, l, l->argv[found].text, true);
}

/* ---- rows of trees.h ---- */

/* Its place is a folder of the project, of which rules for what lies there speak elsewhere. */
static bool
is_own_folder(const struct chain *c, const char *path)
{
    struct path_names n;
    struct stat st;
    path_names_init(&n, c->cwd, path, c->fold);
    bool own = path_in_roots(c, &n, false) || strcmp(n.v[0], c->cwd) == 0;
    path_names_release(&n);
    return own && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What an editor, a formatter or a packer changes in place: its operands, but for code. */
static void
judge_edited(struct chain *c, const struct perm_leaf *l, size_t from)
{
    static const char *const code[] = {"-e", "-E", "-f", "-n", "-r", "--expression", "-c"};
    bool is_code = false, script = leaf_is(l, "yq") || leaf_is(l, "sd") || leaf_is(l, "rename");
    for (size_t i = from; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool option = s.len && s.ptr[0] == '-', skip = is_code;
        is_code = false;
        for (size_t k = 0; k < ARRAY_LEN(code); k++)
            is_code = is_code || str_is(s, code[k]);
        is_code = is_code || (option && s.len > 2 && s.ptr[1] != '-' && str_ends(s, "e"));
        if (option || skip || !l->argv[i].known || l->argv[i].glob || !s.len ||
            memchr(s.ptr, ' ', s.len))
            continue;
        if (script) { /* the first operand is code */
            script = false;
            continue;
        }
        char *text = str_dup(s), *path = fs_normalize(l->cwd ? l->cwd : c->cwd, text);
        if (!is_own_folder(c, path))
            judge_file(c, l, s, true);
        free(path);
        free(text);
    }
}

static void
judge_tree_row(struct chain *c, const struct perm_leaf *l, const struct tree_row *r, size_t at)
{
    char options[128];
    struct output_row made = {.program = r->program};
    if (r->does == TREE_WRITES && (r->where == AT_OPERANDS || r->where == AT_OPERANDS_OR_HERE)) {
        judge_edited(c, l, at + 1);
    } else if (r->does == TREE_FILLS && r->where == AT_TARGET) {
        made.operand = LAST;
        judge_operand(c, l, &made, at + 1);
    } else if (r->does == TREE_FILLS && r->where == AT_OPTION && r->option) {
        snprintf(options, sizeof options, "%s", r->option);
        for (char *p = options; *p; p++)
            if (*p == '|')
                *p = ' ';
        made.options = options;
        judge_options(c, l, &made, at + 1);
    }
}

static void
judge_tree_rows(struct chain *c, const struct perm_leaf *l)
{
    bool runner = trees_runner(l), trusted;
    size_t at;
    struct str name = program_name(l->argv[0].text, &trusted);
    char first = name.len ? name.ptr[0] : '\0'; /* nearly every row differs in it */
    for (size_t i = 0; i < trees_write.n; i++) {
        const struct tree_row *r = &trees_write.v[i];
        if (!runner && r->program[0] != first)
            continue;
        bool git = strcmp(r->program, "git") == 0;
        if (!git && trees_runs(l, runner, r->program, &at) && trees_row_speaks(l, r))
            judge_tree_row(c, l, r, at);
    }
}

void
judge_outputs(struct chain *c, const struct perm_leaf *l)
{
    if (l->effects_unknown && l->n_argv && l->name_known)
        judge_tree_rows(c, l);
    for (size_t k = 0; l->effects_unknown && k < ARRAY_LEN(rows); k++) {
        size_t from = leaf_is(l, rows[k].program) ? behind_words(l, &rows[k]) : 0;
        if (!from)
            continue;
        judge_options(c, l, &rows[k], from);
        if (rows[k].operand != NO_OPERAND)
            judge_operand(c, l, &rows[k], from);
    }
}
