/*
 * The table of outputs.c: files that programs of unknown effects write for sure, and which of their options take a value. To add a program:
 * a row; where it has an operand or bundles of letters, one in `values` too, whole from its manual.
 */
#include "perm/outputs_table.h"

#include <string.h>

#include "perm/chain_ctx.h"
#include "perm/shell.h"

static const struct output_row rows[] = {
    {"curl", NULL,
     "-o --output --output-dir -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr "
     "--etag-save --hsts --alt-svc --libcurl --ssl-sessions",
     NO_OPERAND},
    {"wget", NULL,
     "-O --output-document -o --output-file -a --append-output -P --directory-prefix "
     "--save-cookies --warc-file --warc-tempdir --hsts-file --rejected-log",
     NO_OPERAND},
    {"aria2c", NULL, "-o --out -d --dir -l --log --save-session --save-cookies", NO_OPERAND},
    {"yt-dlp", NULL, "-o --output -P --paths --cache-dir --cookies --download-archive", NO_OPERAND},
    {"ssh", NULL, "-E", NO_OPERAND},
    {"gcc", NULL, "-o --output -MF -Map -aux-info -dumpbase -dumpdir", NO_OPERAND},
    {"g++", NULL, "-o --output -MF -Map -aux-info -dumpbase -dumpdir", NO_OPERAND},
    {"cc", NULL, "-o --output -MF -Map -aux-info -dumpbase -dumpdir", NO_OPERAND},
    {"c++", NULL, "-o --output -MF -Map -aux-info -dumpbase -dumpdir", NO_OPERAND},
    {"clang", NULL, "-o --output -MF -Map -aux-info -dumpbase -dumpdir", NO_OPERAND},
    {"clang++", NULL, "-o --output -MF -Map -aux-info -dumpbase -dumpdir", NO_OPERAND},
    {"rustc", NULL, "-o --out-dir", NO_OPERAND},
    {"ld", NULL, "-o --output -Map --dependency-file --out-implib", NO_OPERAND},
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
    {"gpg", NULL, "-o --output --log-file --logger-file --status-file --attribute-file",
     NO_OPERAND},
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
    {"tar", "~c|~r|~u|~A|--cr*|--ap*|--up*|--cat*|--con*|--del*", "-f --file", NO_OPERAND},
    {"tar", NULL, "-g --listed-incremental --index-file --volno-file", NO_OPERAND},
    {"bsdtar", "~c|~r|~u|~A|--cr*|--ap*|--up*|--cat*|--con*|--del*", "-f --file", NO_OPERAND},
    {"bsdtar", NULL, "-g --listed-incremental --index-file --volno-file", NO_OPERAND},
    {"python3", "json.tool", NULL, SECOND},
    {"python", "json.tool", NULL, SECOND},
    {"zip", NULL, "-O --output-file -lf --logfile-path -b --temp-path", FIRST},
    {"7z", "a|u|d|rn", NULL, FIRST},
    {"patch", NULL, "-o --output -d --directory -r --reject-file -B --prefix", FIRST},
    {"mkfifo", NULL, NULL, EACH},
    {"gzip", NULL, NULL, EACH},
    {"gunzip", NULL, NULL, EACH},
    {"zstd", NULL, "-o --output-dir-flat --output-dir-mirror", EACH},
    {"mktemp", NULL, "-p --tmpdir", EACH},
    {"cargo", NULL, "--target-dir --root --out-dir --artifact-dir", NO_OPERAND},
    {"cargo", "new", NULL, FIRST},
    {"cargo", "init|vendor", NULL, FIRST},
    {"cmake", NULL, "-B --prefix --install-prefix --graphviz --trace-redirect --profiling-output",
     NO_OPERAND},
    {"cmake", "-E", NULL, LAST},
    {"gh", "clone", NULL, SECOND},
    {"convert", NULL, "-write", LAST},
    {"magick", NULL, "-write", LAST},
    {"split", NULL, NULL, SECOND},
    {"csplit", NULL, "-f --prefix", NO_OPERAND},
    {"ffmpeg", NULL, "-passlogfile -vstats_file -progress", EACH},
    {"git", "format-patch", "-o --output-directory", NO_OPERAND},
    {"git", "archive", "-o --output", NO_OPERAND},
    {"git", "checkout-index", "--prefix", NO_OPERAND},
    {"git", "apply", "--directory", NO_OPERAND},
    {"git", "bundle create", NULL, FIRST},
    {"git", "worktree add", NULL, FIRST},
    {"git", "worktree move", NULL, LAST},
    {"git", "config", "-f --file", NO_OPERAND},
    {"git", "clone", "--separate-git-dir", SECOND},
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
    {"tshark", NULL, "-w --export-objects", NO_OPERAND},
    {"nmap", NULL, "-oN -oX -oG -oA", NO_OPERAND},
    {"xsltproc", NULL, "-o --output", NO_OPERAND},
    {"psql", NULL, "-o --output -L --log-file", NO_OPERAND},
    {"mongodump", NULL, "-o --out", NO_OPERAND},
    {"redis-cli", NULL, "--rdb", NO_OPERAND},
    {"http", NULL, "-o --output", NO_OPERAND},
    {"age", NULL, "-o --output", NO_OPERAND},
    {"ctags", NULL, "-f -o", NO_OPERAND},
    {"git", "init", "--separate-git-dir", NO_OPERAND},
    {"strip", NULL, "-o", NO_OPERAND},
    {"objcopy", NULL, NULL, SECOND},
    {"bison", NULL, "-o --output -b --file-prefix", NO_OPERAND},
    {"flex", NULL, "-o --outfile --header-file", NO_OPERAND},
    {"lcov", NULL, "-o --output-file", NO_OPERAND},
    {"msgfmt", NULL, "-o --output-file", NO_OPERAND},
    {"rsvg-convert", NULL, "-o --output", NO_OPERAND},
    {"inkscape", NULL, "-o --export-filename", NO_OPERAND},
    {"wget2", NULL, "-O --output-document -o --output-file -P --directory-prefix", NO_OPERAND},
    {"pg_basebackup", NULL, "-D --pgdata", NO_OPERAND},
    {"pip3", "download", "-d --dest", NO_OPERAND},
    {"python3", "venv", NULL, EACH},
    {"python", "venv", NULL, EACH},
    {"xz", NULL, NULL, EACH},
    {"pigz", NULL, NULL, EACH},
    {"lz4", NULL, NULL, SECOND},
    {"pdftotext", NULL, NULL, SECOND},
    {"qpdf", NULL, NULL, LAST},
    {"jar", "~c|~u|--create|--update", "-f --file", NO_OPERAND},
    {"gtar", "~c|~r|~u|~A|--cr*|--ap*|--up*|--cat*|--con*|--del*", "-f --file", NO_OPERAND},
};

const struct output_rows outputs_table = {rows, ARRAY_LEN(rows)};

#define GCC_LETTERS NO_BUNDLES
#define TAR_LETTERS "bCfgHKLNTVXIF"

/* `with`: of that row of the program alone. */
static const struct value_row {
    const char *program, *with, *letters, *names;
} values[] = {
    {"curl", NULL, "AbcCdDeEFHKmoPQrtTuUwxXyYz", ""},
    {"wget", NULL, "oaiBtOTwQPUlARDIXen", ""},
    {"ssh", NULL, "BbcDEeFIiJLlmOopQRSWw", ""},
    {"gcc", NULL, GCC_LETTERS, ""},
    {"g++", NULL, GCC_LETTERS, ""},
    {"cc", NULL, GCC_LETTERS, ""},
    {"c++", NULL, GCC_LETTERS, ""},
    {"clang", NULL, GCC_LETTERS, ""},
    {"clang++", NULL, GCC_LETTERS, ""},
    {"ld", NULL, GCC_LETTERS, ""},
    {"go", NULL, NO_BUNDLES, ""},
    {"javac", NULL, NO_BUNDLES, ""},
    {"javadoc", NULL, NO_BUNDLES, ""},
    {"cmake", NULL, NO_BUNDLES, ""},
    {"ctest", NULL, NO_BUNDLES, ""},
    {"openssl", NULL, NO_BUNDLES, ""},
    {"xmllint", NULL, NO_BUNDLES, ""},
    {"tar", NULL, TAR_LETTERS, ""},
    {"gtar", NULL, TAR_LETTERS, ""},
    {"bsdtar", NULL, TAR_LETTERS "s", ""},
    {"jar", NULL, "fmeC", ""},
    {"pg_dump", NULL, "deEfFhjnNpStTUZ", ""},
    {"psql", NULL, "cdfFhLopPRTUv", ""},
    {"tcpdump", NULL, "BcCDEFGijMrsTVwWyz", ""},
    {"python3", NULL, "WXc", "--indent"},
    {"python", NULL, "WXc", "--indent"},
    {"zip", NULL, "btPOsxinZ",
     "-tt -sp -lf -la --suffixes --exclude --include --password --split-size --from-date "
     "--before-date"},
    {"7z", NULL, "", ""},
    {"patch", NULL, "BdDFgioprVxYz",
     "--ifdef --fuzz --get --input --strip --version-control --debug --basename-prefix --suffix "
     "--quoting-style --read-only --reject-format"},
    {"mkfifo", NULL, "m", "--mode"},
    {"mktemp", NULL, "p", "--suffix"},
    {"gzip", NULL, "bS", "--suffix --bits"},
    {"xz", NULL, "FCSTM", "--format --check --suffix --threads --memlimit --files"},
    {"pigz", NULL, "bSpIJ", "--suffix --blocksize --processes --iterations"},
    {"lz4", NULL, "", ""},
    {"objcopy", NULL, "IOBFjRGKLNWS",
     "--output-target --input-target --only-section --remove-section --add-section"},
    {"gunzip", NULL, "bS", "--suffix --bits"},
    {"zstd", NULL, "oDM", "--filelist --dict --maxdict --trace"},
    {"split", NULL, "abClnt",
     "--suffix-length --additional-suffix --bytes --line-bytes --lines --number --separator "
     "--filter"},
    {"cargo", NULL, "ZC", "--name --vcs --edition --registry --color --config --manifest-path"},
    {"gh", NULL, "uR", "--upstream-remote-name --repo"},
    {"ffmpeg", NULL, NO_BUNDLES, "-i"},
    {"git", "bundle create", "", "--version"},
    {"git", "worktree add", "bB", "--reason"},
    {"git", "worktree move", "", ""},
    {"git", "mv", "", ""},
    {"git", "clone", "bjouc",
     "--branch --depth --jobs --origin --upload-pack --config --filter --reference "
     "--reference-if-able --template --shallow-since --shallow-exclude --server-option "
     "--bundle-uri --ref-format --revision"},
    {"sphinx-build", NULL, "bMdwcDAjt",
     "--builder --conf-dir --define --html-define --tag --jobs --doctree-dir --warning-file"},
    {"uv", NULL, "pi",
     "--python --prompt --index-url --extra-index-url --index --default-index --find-links "
     "--cache-dir --config-file --directory --project --link-mode --exclude-newer --color"},
};

/* The row that tells which options of the call take a value, or NULL. */
static const struct value_row *
find_values(const struct perm_leaf *l, const struct output_row *r)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (leaf_is(l, values[i].program) &&
            (!values[i].with || (r && r->with && strcmp(r->with, values[i].with) == 0)))
            return &values[i];
    return NULL;
}

const char *
outputs_letters(const struct perm_leaf *l, const struct output_row *r)
{
    const struct value_row *v = find_values(l, r);
    return v ? v->letters : "";
}

/* Word i is one of the listed options, and its value is the next word. */
static bool
takes_next(const struct perm_leaf *l, size_t i, const char *list, const char *letters)
{
    struct str options = str_from(list), option;
    struct option_value value;
    while (list && str_split(&options, ' ', &option))
        if (option.len && option_is_word(l, i, option, letters, &value) && !value.attached)
            return true;
    return false;
}

enum option_takes
outputs_takes(const struct perm_leaf *l, const struct output_row *r, size_t i)
{
    const struct value_row *v = find_values(l, r);
    struct str s = l->argv[i].text;
    const char *letters = v ? v->letters : "";
    bool bundles = strcmp(letters, NO_BUNDLES) != 0, is_long = str_starts(s, "--");
    if (takes_next(l, i, r->options, letters) || (v && takes_next(l, i, v->names, letters)))
        return TAKES_NEXT;
    if (memchr(s.ptr, '=', s.len) || (v && is_long && bundles))
        return TAKES_NONE;
    if (!v || !bundles)
        return TAKES_UNKNOWN;
    for (size_t at = 1; at < s.len; at++)
        if (s.ptr[at] && strchr(letters, s.ptr[at]))
            return at + 1 == s.len ? TAKES_NEXT : TAKES_NONE;
    return TAKES_NONE;
}
