/*
 * Words of a leaf that may hold a command which nobody found for sure: code of another language, values of options that run
 * something, what follows a program whose options are not known. Deny and ask rules look for their own words in them and ask;
 * nothing else does.
 */
#include <string.h>

#include "perm/name_index.h"
#include "perm/wrappers.h"

static bool
is_text(const struct word *w)
{
    struct str s = w->w.text;
    bool valued = s.len > 1 && s.ptr[0] == '-' && memchr(s.ptr, '=', s.len);
    return valued || (s.len > 1 && (memchr(s.ptr, ' ', s.len) || memchr(s.ptr, '\t', s.len)));
}

void
hide_words(struct sh *sh, size_t leaf, size_t from, size_t to, bool all)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    if (!l || to <= from || to > l->n_argv)
        return;
    struct perm_word *v = arena_alloc(sh->a, (l->n_hidden + to - from) * sizeof *v);
    if (l->n_hidden)
        memcpy(v, l->hidden, l->n_hidden * sizeof *v);
    for (size_t i = from; i < to; i++) {
        struct word w = {.w = l->argv[i]};
        if (all || is_text(&w))
            v[l->n_hidden++] = l->argv[i];
    }
    l->hidden = v;
}

static void
hide_text(struct sh *sh, size_t leaf, struct perm_word w)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    if (!l)
        return;
    struct perm_word *v = arena_alloc(sh->a, (l->n_hidden + 1) * sizeof *v);
    if (l->n_hidden)
        memcpy(v, l->hidden, l->n_hidden * sizeof *v);
    v[l->n_hidden++] = w;
    l->hidden = v;
}

void
hide_input(struct sh *sh, size_t leaf, const struct command *c)
{
    struct str fed = {0};
    if (c->herestring)
        hide_text(sh, leaf, c->herestring->w);
    if (c->doc)
        hide_text(sh, leaf, (struct perm_word){.text = c->doc->body, .known = true});
    if (!c->doc && !c->herestring && input_is_printed(sh, &fed))
        hide_text(sh, leaf, (struct perm_word){.text = fed, .known = true});
}

/* Programs with options that run what they are given; all: what follows need not be one word. */
static const struct {
    const char *name;
    bool all;
} programs[] = {
    {"tar", false},       {"bsdtar", false},
    {"sort", false},      {"rg", true},
    {"ag", true},         {"ack", true},
    {"bat", true},        {"batcat", true},
    {"fd", true},         {"fdfind", true},
    {"find", false},      {"awk", false},
    {"gawk", false},      {"mawk", false},
    {"nawk", false},      {"sed", false},
    {"split", false},     {"zip", false},
    {"cpio", false},      {"rsync", false},
    {"scp", true},        {"sftp", true},
    {"less", false},      {"man", true},
    {"vim", false},       {"vi", false},
    {"nvim", false},      {"ex", false},
    {"view", false},      {"emacs", false},
    {"ed", true},         {"red", true},
    {"rvim", false},      {"rview", false},
    {"gvim", false},      {"vimdiff", false},
    {"nvimdiff", false},  {"emacsclient", false},
    {"more", false},      {"most", false},
    {"mail", false},      {"mailx", false},
    {"mutt", false},      {"telnet", true},
    {"nmap", false},      {"osascript", false},
    {"ghci", true},       {"irb", true},
    {"pry", true},        {"ipython", true},
    {"gdb", false},       {"printf", true},
    {"test", true},       {"[", true},
    {"read", true},       {"unset", true},
    {"mysql", false},     {"psql", false},
    {"sqlite3", false},   {"make", true},
    {"gmake", false},     {"apt", false},
    {"apt-get", false},   {"dpkg", false},
    {"bind", true},       {"complete", true},
    {"compgen", true},    {"fc", true},
    {"history", true},    {"hash", true},
    {"enable", true},     {"trap", false},
    {"alias", true},      {"curl", false},
    {"wget", false},      {"date", false},
    {"jq", false},        {"ssh", false},
    {"tclsh", true},      {"guile", true},
    {"R", true},          {"erl", true},
    {"elixir", true},     {"iex", true},
    {"ghc", true},        {"ocaml", true},
    {"swift", true},      {"groovy", true},
    {"jshell", true},     {"rake", true},
    {"gnuplot", true},    {"octave", true},
    {"maxima", true},     {"lftp", true},
    {"ftp", true},        {"bc", true},
    {"dc", true},         {"m4", true},
    {"redis-cli", true},  {"tcpdump", true},
    {"gcc", true},        {"clang", true},
    {"cc", true},         {"g++", true},
    {"go", true},         {"cargo", true},
    {"ninja", true},      {"task", true},
    {"just", true},       {"multipass", true},
    {"limactl", true},    {"salt", true},
    {"fab", true},        {"et", true},
    {"turbo", true},      {"cmake", true},
    {"gpg-agent", true},  {"with-lockfile", true},
    {"osh", true},        {"sbcl", true},
    {"clisp", true},      {"nim", true},
    {"racket", true},     {"let", true},
    {"fzf", false},       {"sk", false},
    {"ts-node", true},    {"tsx", true},
    {"esno", true},       {"babel-node", true},
    {"zx", true},         {"coffee", true},
    {"jruby", true},      {"pypy", true},
    {"pypy3", true},      {"luajit", true},
    {"scala", true},      {"kotlin", true},
    {"crystal", true},    {"raku", true},
    {"gjs", true},        {"qjs", true},
    {"mongosh", true},    {"duckdb", true},
    {"rpm", true},        {"pdflatex", true},
    {"xelatex", true},    {"lualatex", true},
    {"latex", true},      {"tex", true},
    {"groff", true},      {"runghc", true},
    {"bpython", true},    {"hy", true},
    {"gpg", false},       {"convert", true},
    {"magick", true},     {"ffmpeg", false},
    {"exiftool", true},   {"busctl", true},
    {"gdbus", true},      {"dbus-send", true},
    {"logrotate", false}, {"nginx", false},
    {"openvpn", true},    {"ip", true},
    {"tailscale", true},  {"jj", true},
    {"hg", true},         {"delta", false},
    {"helm", true},       {"kustomize", false},
    {"svn", true},        {"pylint", false},
    {"latexmk", false},   {"rustc", false},
};

void
hide_program(struct sh *sh, size_t leaf, const struct command *c)
{
    const struct perm_leaf *l = leaf_at(sh, leaf);
    bool trusted;
    if (!l || !(l->effects_unknown || l->cls == CLASS_UNKNOWN || l->cls == CLASS_DANGER))
        return;
    struct str name = program_name(c->argv[0].w.text, &trusted);
    static struct name_index index;
    for (size_t i = name_first(&index, programs, ARRAY_LEN(programs), sizeof *programs, name);
         i != NAME_NONE; i = name_next(&index, i)) {
        hide_words(sh, leaf, 1, c->n, programs[i].all);
        hide_input(sh, leaf, c);
    }
    /* line editors run what stands behind a '!' in their input */
    bool lines = str_is(name, "ed") || str_is(name, "red") || str_is(name, "ex");
    if (lines && !c->doc && !c->herestring && (sh->n_stages || c->stdin_file))
        leaf_inner_text(sh, leaf, STR("\"$stdin\""), false);
    if (str_is(name, "git"))
        wrap_git(sh, leaf, c);
    if ((str_is(name, "make") || str_is(name, "gmake")) && c->herestring)
        leaf_inner_text(sh, leaf, c->herestring->w.text, false);
    /* "--script-shell=x", "config set script-shell x" */
    for (size_t i = 1; i < c->n && str_is(name, "npm"); i++)
        if (c->argv[i].w.known && str_contains(c->argv[i].w.text, STR("shell")))
            hide_words(sh, leaf, 1, c->n, true);
}
