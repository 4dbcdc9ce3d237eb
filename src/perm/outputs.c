/*
 * Files that programs of unknown effects write for sure: values of their options and operands that can be nothing else. Each is an
 * access of its own like that of `cp`: rules for Edit, protected places and the end of the project hold for it, whatever rule
 * lets the program run. What such a program writes beside these is not known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/operands.h"
#include "perm/outputs.h"
#include "perm/outputs_table.h"
#include "perm/shell.h"
#include "perm/trees.h"
#include "perm/trees_match.h"

/* Where the row's last sub-command stands, for programs that have some; 0: the row does not speak of this call. */
static size_t
behind_words(const struct perm_leaf *l, const struct output_row *r)
{
    bool plain, git = leaf_is(l, "git");
    size_t sub = git ? git_subcommand(l->argv, l->n_argv, &plain) : 0;
    if (!r->with)
        return 1;
    for (size_t i = 1; !git && i < l->n_argv; i++)
        if (trees_word_is(l, i, str_from(r->with)))
            return i + 1;
    if (!git)
        return 0;
    struct str rest = str_from(r->with), word;
    while (str_split(&rest, ' ', &word)) {
        if (!sub || sub >= l->n_argv || !str_eq(l->argv[sub].text, word))
            return 0;
        sub++;
    }
    return sub;
}

/* Packers that leave the files as they are. */
static bool
is_to_stdout(const struct perm_leaf *l)
{
    static const char *const packers[] = {"gzip", "gunzip", "zstd", "xz", "pigz", "lz4"};
    return leaf_is_any(l, packers, ARRAY_LEN(packers)) &&
           trees_has(l, "~c|~t|~l|--stdout|--to-stdout|--test|--list");
}

/* A file in /tmp, but not where the project or the home folder of a test's lies. */
static bool
is_in_tmp(const struct chain *c, const char *path)
{
    if (strncmp(path, "/tmp/", 5) != 0)
        return false;
    struct str s = str_from(path);
    char *top = str_dup(str_sub(s, 0, str_find(s, '/', 5)));
    bool held = (c->home && path_inside(c->home, top, c->fold)) ||
                (c->root && path_inside(c->root, top, c->fold));
    free(top);
    return !held;
}

/* The place that is there to be filled, whatever links lead on from there. */
static bool
is_scratch(const struct chain *c, struct str s)
{
    if (!str_starts(s, "/tmp/") || str_contains(s, STR("/../")) || str_ends(s, "/.."))
        return false;
    struct path_names n;
    char *path = str_dup(s);
    path_names_init(&n, "/", path, c->fold);
    bool is = !n.lost;
    for (size_t i = 0; i < n.n; i++)
        is = is && is_in_tmp(c, n.v[i]);
    path_names_release(&n);
    free(path);
    return is;
}

/* "go build -C svc -o ../x", "git -C a -C b archive -o x", "patch -d sub x": from there. Behind git's sub-command -C is another option. */
static char *
base_of(const struct perm_leaf *l, const char *cwd)
{
    bool plain, git = leaf_is(l, "git"), patch = leaf_is(l, "patch");
    size_t end = git ? git_subcommand(l->argv, l->n_argv, &plain) : l->n_argv;
    char *base = xstrdup(cwd);
    struct option_value v;
    for (size_t i = 1; (git || patch || leaf_is(l, "go")) && i < end; i++) {
        bool is = patch ? option_is_word(l, i, STR("-d"), outputs_letters(l, NULL), &v) ||
                              option_is_word(l, i, STR("--directory"), "", &v)
                        : option_is_word(l, i, STR("-C"), NO_BUNDLES, &v);
        if (!is || v.word >= l->n_argv || !l->argv[v.word].known)
            continue;
        char *dir = str_dup(v.text), *to = fs_normalize(base, dir);
        free(base);
        free(dir);
        base = to;
    }
    return base;
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

/* "-o type=local,dest=DIR" of docker, "temp:DIR" of yt-dlp: the part that is a place. */
static struct str
place_of(const struct perm_leaf *l, struct str s)
{
    static const char dest[] = "dest=";
    bool docker = leaf_is(l, "docker") || leaf_is(l, "podman");
    struct str rest = s, part;
    while (docker && str_split(&rest, ',', &part))
        if (str_starts(part, dest))
            return str_sub(part, strlen(dest), part.len);
    size_t colon = leaf_is(l, "yt-dlp") ? str_find(s, ':', 0) : (size_t)-1;
    return colon == (size_t)-1 ? s : str_sub(s, colon + 1, s.len);
}

/* A word that is not known as a whole may still say which option it is: -o"$X". The file is not known then. */
static void
judge_option(struct chain *c, const struct perm_leaf *l, const struct output_row *r, size_t i)
{
    struct str list = str_from(r->options), option;
    struct option_value v;
    while (str_split(&list, ' ', &option)) {
        if (!option_is_word(l, i, option, outputs_letters(l, r), &v) || v.word >= l->n_argv)
            continue;
        const struct perm_word *w = &l->argv[v.word];
        bool known = w->known && !w->glob;
        judge_file(c, l, known ? place_of(l, v.text) : v.text, known);
    }
}

/* curl's "-w %output{FILE}": also in the middle of a text, and with ">>" before the name. */
static void
judge_format(struct chain *c, const struct perm_leaf *l, struct str s)
{
    static const char says[] = "%output{";
    for (size_t i = 0; i + strlen(says) < s.len; i++) {
        struct str rest = str_sub(s, i, s.len);
        if (!str_starts(rest, says))
            continue;
        rest = str_sub(rest, strlen(says), rest.len);
        rest = str_sub(rest, 0, str_find(rest, '}', 0));
        judge_file(c, l, str_starts(rest, ">>") ? str_sub(rest, 2, rest.len) : rest, true);
    }
}

/* protoc's "--NAME_out=SETTINGS:DIR", of any plugin. */
static void
judge_plugin(struct chain *c, const struct perm_leaf *l, struct str s)
{
    size_t eq = str_find(s, '=', 0), from = eq + 1;
    if (!str_starts(s, "--") || eq == (size_t)-1 || !str_ends(str_sub(s, 0, eq), "_out"))
        return;
    for (size_t colon = from; (colon = str_find(s, ':', colon)) != (size_t)-1; colon++)
        from = colon + 1;
    judge_file(c, l, str_sub(s, from, s.len), true);
}

/* "-Wl,-Map,FILE", "-Wl,-o,FILE", "-Wp,-MD,FILE": what a compiler hands on. */
static void
judge_handed_on(struct chain *c, const struct perm_leaf *l, struct str s)
{
    static const char *const names[] = {"-o",  "-Map", "--Map", "--output",
                                        "-MF", "-MD",  "-MMD",  "--dependency-file"};
    struct str part;
    bool value = false;
    for (size_t i = 0; i < s.len;) {
        size_t end = i;
        while (end < s.len && s.ptr[end] != ',' && s.ptr[end] != '=')
            end++;
        part = str_sub(s, i, end - i);
        i = end + 1;
        if (value)
            judge_file(c, l, part, true);
        value = false;
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            value = value || str_is(part, names[k]);
    }
}

static void
judge_options(struct chain *c, const struct perm_leaf *l, const struct output_row *r, size_t from)
{
    for (size_t i = from; r->options && i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        if (!s.len)
            continue;
        judge_option(c, l, r, i);
        if (leaf_is(l, "curl") && l->argv[i].known)
            judge_format(c, l, s);
        if (leaf_is(l, "protoc") && l->argv[i].known)
            judge_plugin(c, l, s);
        if ((str_starts(s, "-Wl,") || str_starts(s, "-Wp,")) && l->argv[i].known)
            judge_handed_on(c, l, s);
    }
}

/* Of rsync and scp "host:path" is elsewhere. */
static bool
is_remote(struct str s)
{
    size_t colon = str_find(s, ':', 0), slash = str_find(s, '/', 0);
    return colon != (size_t)-1 && (slash == (size_t)-1 || colon < slash);
}

static void
judge_operand(struct chain *c, const struct perm_leaf *l, const struct perm_word *w)
{
    if (w->known && !w->glob && !is_remote(w->text))
        judge_file(c, l, w->text, true);
}

/*
 * Where an option of unknown kind stands before a word, that one may be its value or an operand: it is taken for either, so an operand
 * is not one place of the row but any from the fewest that came before it to the most.
 */
static void
judge_places(struct chain *c, const struct perm_leaf *l, const struct output_row *r, size_t from)
{
    size_t fewest = 0, most = 0, last = 0, sure = 0, place = r->operand == SECOND ? 2 : 1;
    enum option_takes takes = TAKES_NONE;
    bool ended = false;
    for (size_t i = from; i < l->n_argv; i++) {
        struct str s = l->argv[i].text;
        bool known = l->argv[i].known, is_value = takes == TAKES_NEXT;
        bool may_be = takes == TAKES_UNKNOWN;
        takes = TAKES_NONE;
        if (is_value)
            continue;
        if (!ended && known && s.len > 1 && s.ptr[0] == '-') {
            ended = str_is(s, "--");
            takes = ended ? TAKES_NONE : outputs_takes(l, r, i);
            continue;
        }
        if (r->operand == EACH || (r->operand != LAST && fewest < place && place <= most + 1))
            judge_operand(c, l, &l->argv[i]);
        most++;
        fewest += !may_be;
        last = i;
        sure = may_be ? sure : i;
    }
    if (r->operand == LAST && most > 1)
        judge_operand(c, l, &l->argv[last]);
    if (r->operand == LAST && fewest > 1 && sure != last) /* "convert a b -quality 9" */
        judge_operand(c, l, &l->argv[sure]);
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
        judge_places(c, l, &made, at + 1);
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

/* "wget ADDRESS", "curl -O ADDRESS": the file has the last name of the address. */
static void
judge_downloads(struct chain *c, const struct perm_leaf *l)
{
    for (size_t i = 1; i < l->n_argv; i++) {
        struct str file = l->argv[i].known ? operand_download(l, l->argv[i].text) : str_from(NULL);
        if (file.len)
            judge_file(c, l, file, true);
    }
}

void
judge_outputs(struct chain *c, const struct perm_leaf *l)
{
    if (l->effects_unknown && l->n_argv && l->name_known)
        judge_downloads(c, l);
    if (l->effects_unknown && l->n_argv && l->name_known)
        judge_tree_rows(c, l);
    for (size_t k = 0; l->effects_unknown && k < outputs_table.n; k++) {
        const struct output_row *r = &outputs_table.v[k];
        size_t from = leaf_is(l, r->program) ? behind_words(l, r) : 0;
        if (!from)
            continue;
        judge_options(c, l, r, leaf_is(l, "git") ? from : 1);
        if (r->operand != NO_OPERAND && !is_to_stdout(l))
            judge_places(c, l, r, from);
    }
}
