/* The way in: bytes are judged, text is parsed and walked, and the whole is summed up. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perm/shell.h"
#include "perm/shell_memory.h"

const TSLanguage *tree_sitter_bash(void);

/* For all texts of one command line together. The longest lines that are followed take a tenth of it; the parser's
 * recovery from errors can take any time. */
enum { PARSE_MS = 30, MAX_PIPES = 400 };

void
sh_incomplete(struct sh *sh, const char *why)
{
    sh->ret->incomplete = true;
    if (!sh->ret->why)
        sh->ret->why = why;
}

bool
sh_spend(struct sh *sh, size_t n)
{
    if (sh->work <= SH_MAX_WORK)
        sh->work += n;
    if (sh->work <= SH_MAX_WORK)
        return true;
    sh_incomplete(sh, "the command is too complex to be followed");
    return false;
}

static int64_t
now_us(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Of this thread alone: a machine that does other things must not turn a deny into an ask. */
static int64_t
cpu_us(void)
{
    return now_us(CLOCK_THREAD_CPUTIME_ID);
}

/* Until the wall's has passed the thread cannot have used its time either, and the kernel need not be asked. */
struct deadline {
    int64_t wall, cpu;
};

static bool
parse_progress(TSParseState *state)
{
    const struct deadline *d = state->payload;
    return now_us(CLOCK_MONOTONIC) > d->wall && cpu_us() > d->cpu;
}

static const char *
parse_read(void *payload, uint32_t byte, TSPoint point, uint32_t *ret_n)
{
    const struct str *s = payload;
    (void)point;
    *ret_n = byte < s->len ? (uint32_t)(s->len - byte) : 0;
    return byte < s->len ? s->ptr + byte : "";
}

/* The step behind a character: over what is quoted, as well as that can be told without a parser. */
static size_t
past(struct str s, size_t i)
{
    char c = s.ptr[i];
    if (c == '\\')
        return i + 2;
    const char *end = c == '\'' || c == '"' ? memchr(s.ptr + i + 1, c, s.len - i - 1) : NULL;
    return end ? (size_t)(end - s.ptr) + 1 : i + 1;
}

/* The parser's recovery from an error takes the square of the pipes before it, and cannot be stopped within. */
static bool
pipe_too_long(struct str s)
{
    size_t pipes = 0, all = 0;
    bool fresh = false; /* a '|' stood last: a line end does not end the pipe */
    for (size_t at = 0; (at = str_find(s, '|', at)) != (size_t)-1; at++)
        all++;
    if (all <= MAX_PIPES)
        return false;
    for (size_t i = 0; i < s.len; i = past(s, i)) {
        char c = s.ptr[i];
        if (c == '|') {
            pipes = fresh && s.ptr[i - 1] == '\n' ? 1 : pipes + 1; /* the next row of a table */
            if (pipes > MAX_PIPES)
                return true;
            fresh = true;
        } else if (c == ';' || (c == '\n' && !fresh)) {
            pipes = 0;
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '&') {
            fresh = false;
        }
    }
    return false;
}

/* NULL when it takes too long. */
static TSTree *
parse(struct sh *sh, struct str s)
{
    int64_t start = cpu_us(), left = PARSE_MS * 1000 - sh->parse_us;
    if (left <= 0 || pipe_too_long(s))
        return NULL;
    struct deadline deadline = {.cpu = start + left, .wall = now_us(CLOCK_MONOTONIC) + left};
    TSParser *p = ts_parser_new();
    ts_parser_set_language(p, tree_sitter_bash());
    TSInput in = {.payload = &s, .read = parse_read, .encoding = TSInputEncodingUTF8};
    TSParseOptions opt = {.payload = &deadline, .progress_callback = parse_progress};
    TSTree *t = ts_parser_parse_with_options(p, NULL, in, opt);
    ts_parser_delete(p);
    sh->parse_us += cpu_us() - start;
    return t;
}

/* How many here-documents the parser sees at places where the scanner saw one too; *ret_all: how many it sees. */
static size_t
count_docs(const TSTree *t, const struct scanned *s, size_t *ret_all)
{
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(t));
    size_t both = 0;
    bool more = true;
    *ret_all = 0;
    while (more) {
        TSNode n = ts_tree_cursor_current_node(&c);
        if (strcmp(ts_node_type(n), "heredoc_start") == 0) {
            (*ret_all)++;
            for (size_t i = 0; i < s->n_docs; i++)
                both += s->docs[i].joined_at == ts_node_start_byte(n);
        }
        more = ts_tree_cursor_goto_first_child(&c) || ts_tree_cursor_goto_next_sibling(&c);
        while (!more && ts_tree_cursor_goto_parent(&c))
            more = ts_tree_cursor_goto_next_sibling(&c);
    }
    ts_tree_cursor_delete(&c);
    return both;
}

/* The scanner took the here-documents out. Where the parser reads the line in another way, what was taken out may be
 * live code: it is walked as such (for deny) and the whole asks. */
static void
check_docs(struct sh *sh, const struct scanned *s)
{
    size_t all = 0, both = 0;
    TSTree *t = parse(sh, s->joined);
    if (t)
        both = count_docs(t, s, &all);
    ts_tree_delete(t);
    if (t && both == s->n_docs && all == s->n_docs && !s->bad)
        return;
    sh_incomplete(sh, s->bad ? s->bad : "the here-documents can be read in two ways");
    bool inner = sh->inner;
    sh->inner = true;
    for (size_t i = 0; i < s->n_docs; i++)
        sh_run_text(sh, s->docs[i].body);
    sh->inner = inner;
}

void
sh_run_text(struct sh *sh, struct str text)
{
    if (sh->wraps >= SH_MAX_WRAPS || !sh_spend(sh, 20)) {
        sh_incomplete(sh, "commands are nested too deeply in strings");
        return;
    }
    if (text.len > SH_PARSE_BYTES) {
        sh_incomplete(sh, "the command is too long to be read");
        text.len = SH_PARSE_BYTES;
    }
    struct unit *u = arena_alloc(sh->a, sizeof *u), *outer = sh->unit;
    struct str shown;
    scan_text(sh->a, text, &u->s);
    sh->wraps++;
    if (u->s.n_docs)
        check_docs(sh, &u->s);
    else if (u->s.bad)
        sh_incomplete(sh, u->s.bad);
    u->tree = parse(sh, u->s.text);
    for (int i = 0; i < 4 && u->tree && sh_spend(sh, 20) && keywords_take_out(sh, u); i++) {
        ts_tree_delete(u->tree);
        u->tree = parse(sh, u->s.text);
    }
    if (u->tree && sh_spend(sh, 20) && blanks_show(sh, u, &shown)) {
        ts_tree_delete(u->tree);
        u->tree = parse(sh, shown);
    }
    if (u->tree) {
        sh->unit = u;
        if (ts_node_has_error(ts_tree_root_node(u->tree)))
            sh_incomplete(sh, "it cannot be parsed as shell");
        funcs_find(sh, u);
        walk_program(sh, ts_tree_root_node(u->tree));
        funcs_leave(sh, u);
        sh->unit = outer;
        ts_tree_delete(u->tree);
    } else {
        sh_incomplete(sh, "the command takes too long to parse");
    }
    sh->wraps--;
}

static bool
leaf_reads_only(const struct perm_leaf *l)
{
    if (l->bad_env || l->effects_unknown || (l->n_argv && !l->name_known))
        return false;
    for (size_t i = 0; i < l->n_effects; i++)
        if (l->effects[i].kind != EFFECT_READ && l->effects[i].kind != EFFECT_READ_TREE)
            return false;
    return l->role == LEAF_ASSIGN || (l->role == LEAF_WRAPPER && l->transparent) ||
           (l->role == LEAF_RUN && l->n_argv == 0) || l->cls == CLASS_READER ||
           l->cls == CLASS_GIT_READ;
}

static void
sum_up(struct perm_analysis *a)
{
    a->read_only = !a->incomplete && a->n_leaves > 0;
    for (size_t i = 0; i < a->n_leaves && a->read_only; i++)
        a->read_only = leaf_reads_only(&a->leaves[i]);
}

static void
unparsable(struct perm_analysis *ret, const char *why)
{
    ret->incomplete = ret->unparsable = true;
    ret->why = why;
}

void
perm_shell_analyse(struct str command, const struct perm_shell_env *env, struct perm_analysis *ret)
{
    *ret = (struct perm_analysis){0};
    ret->arena = arena_new();
    const char *why = NULL;
    if (env->shell && strcmp(env->shell, "bash") != 0) {
        unparsable(ret, "the shell is not bash: its commands cannot be analysed");
        return;
    }
    bool clean = scan_bytes(command, &why);
    struct sh sh = {.a = ret->arena, .env = env, .ret = ret, .wrapper = SIZE_MAX};
    if (!clean) {
        /* What can still be read is read, so that deny sees it. */
        unparsable(ret, arena_printf(sh.a, "the command %s", why));
        if (memchr(command.ptr, '\0', command.len))
            return;
    }
    if (command.len > SH_MAX_BYTES)
        sh_incomplete(&sh, "the command is longer than 10,000 bytes");
    if (env->cwd)
        sh.st.cwd = (struct cwdset){.dir = {path_clean(sh.a, NULL, str_from(env->cwd))}, .n = 1};
    else
        sh.st.cwd.unknown = true;
    shell_memory_enter();
    if (str_trim(command).len == 0)
        sh_incomplete(&sh, "the command is empty");
    else
        sh_run_text(&sh, arena_str(sh.a, command));
    shell_memory_leave();
    ret->work = sh.work;
    sum_up(ret);
}

void
perm_analysis_release(struct perm_analysis *a)
{
    if (!a)
        return;
    free(a->leaves);
    arena_free(a->arena);
    *a = (struct perm_analysis){0};
}
