/* Operands of tools around binaries, archives and packages. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "perm/programs.h"

/* "@file" stands for the options in that file. */
static void
no_option_files(struct judged *j)
{
    for (size_t i = 1; i < j->c->n; i++)
        if (word_may_begin(j->sh, &j->c->argv[i], '@'))
            judged_unknown(j, "a word that begins with '@' names a file with further options");
}

void
ops_binary(struct judged *j)
{
    no_option_files(j);
    if (!str_is(str_from(j->p->name), "c++filt") && !str_is(str_from(j->p->name), "addr2line"))
        judged_read(j, 0, EFFECT_READ);
}

/* ar t FILE, ar p FILE */
void
ops_ar(struct judged *j)
{
    const struct command *c = j->c;
    no_option_files(j);
    bool ok = arg_is(c, 1, "t") || arg_is(c, 1, "tv") || arg_is(c, 1, "-t") ||
              arg_is(c, 1, "-tv") || arg_is(c, 1, "p");
    for (size_t i = 2; i < c->n; i++)
        ok = ok && !word_may_begin(j->sh, &c->argv[i], '-');
    if (!ok || c->n < 3)
        judged_unknown(j, "it may change the archive");
    if (c->n >= 3)
        effect_add(j->sh, j->leaf, EFFECT_READ, &c->argv[2]);
}

/* Prints the formatted text, or with --dry-run what differs. -i is not here. */
void
ops_clang_format(struct judged *j)
{
    static const char *const options[] = {"-n",
                                          "--dry-run",
                                          "-dry-run",
                                          "-Werror",
                                          "--Werror",
                                          "--verbose",
                                          "-style=file",
                                          "--style=file",
                                          "--style=llvm",
                                          "--style=LLVM",
                                          "--style=gnu",
                                          "--style=google",
                                          "--style=Google",
                                          "--style=WebKit",
                                          "--fallback-style=none",
                                          "-",
                                          "--help",
                                          "--version",
                                          "--dump-config",
                                          "-dump-config",
                                          "--ferror-limit=0",
                                          "--style=Chromium",
                                          "--style=Mozilla"};
    no_option_files(j);
    for (size_t i = 1; i < j->c->n; i++) {
        const struct word *w = &j->c->argv[i];
        bool known = false;
        for (size_t k = 0; k < ARRAY_LEN(options); k++)
            known = known || arg_is(j->c, i, options[k]);
        if (!known && word_may_begin(j->sh, w, '-'))
            judged_unknown(j, "an option of the program is not known");
        else if (!known)
            effect_add(j->sh, j->leaf, EFFECT_READ, w);
    }
}

/* ---- tar ---- */

/* "host:file" is on another machine, reached by a program of its own. */
static bool
tar_file(struct judged *j, const struct word *w)
{
    if (!w->w.known || w->w.glob || memchr(w->w.text.ptr, ':', w->w.text.len))
        return false;
    if (!str_is(w->w.text, "-"))
        effect_add(j->sh, j->leaf, EFFECT_READ, w);
    return true;
}

/* What a command line of tar asks for. */
struct tar {
    bool list, extract, to_stdout;
};

/* A bundle of letters: what it does, and whether the archive's name comes next. */
static bool
tar_letters(struct str s, struct tar *t, bool *file)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!c || !strchr("txOvzjJaf", c) || (c == 'f' && i + 1 < s.len))
            return false;
        t->list = t->list || c == 't';
        t->extract = t->extract || c == 'x';
        t->to_stdout = t->to_stdout || c == 'O';
        *file = *file || c == 'f';
    }
    return s.len > 0;
}

/* A long option that changes nothing but what is shown. */
static bool
tar_long(struct str s, struct tar *t)
{
    static const char *const plain[] = {"--verbose", "--gzip", "--bzip2",    "--xz",
                                        "--zstd",    "--list", "--wildcards"};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_is(s, plain[i])) {
            t->list = t->list || str_is(s, "--list");
            return true;
        }
    t->to_stdout = t->to_stdout || str_is(s, "--to-stdout");
    t->extract = t->extract || str_is(s, "--extract") || str_is(s, "--get");
    return str_is(s, "--to-stdout") || str_is(s, "--extract") || str_is(s, "--get") ||
           str_starts(s, "--exclude=");
}

void
ops_tar(struct judged *j)
{
    const struct command *c = j->c;
    struct tar t = {0};
    bool ok = true, named = false;
    for (size_t i = 1; i < c->n; i++) {
        const struct word *w = &c->argv[i];
        struct str s = w->w.text;
        bool file = false;
        if (!w->w.known || w->split)
            ok = false;
        else if (tar_long(s, &t))
            continue;
        else if (str_is(s, "--file"))
            file = true;
        else if (str_starts(s, "--file=")) {
            struct word v = *w;
            v.w.text = str_sub(s, 7, s.len);
            named = ok = ok && tar_file(j, &v);
        } else if (str_starts(s, "-") || i == 1)
            ok = ok && tar_letters(str_sub(s, s.ptr[0] == '-', s.len), &t, &file);
        else
            ok = ok && !word_may_begin(j->sh, w, '-'); /* a member */
        if (file)
            named = ok = ok && ++i < c->n && tar_file(j, &c->argv[i]);
    }
    /* Unpacked to standard output nothing is written. */
    if (!ok || !named || (t.extract ? !t.to_stdout : !t.list))
        judged_unknown(j, "it does more than list an archive");
}

/* ---- others ---- */

void
ops_unzip(struct judged *j)
{
    static const char reads[] = "lvtpcZ";
    bool ok = false;
    for (size_t i = 0; reads[i]; i++)
        ok = ok || j->o.seen[(unsigned char)reads[i]];
    if (!ok)
        judged_unknown(j, "it unpacks the archive");
    if (judged_operand(j, 0))
        effect_add(j->sh, j->leaf, EFFECT_READ, judged_operand(j, 0));
}

void
ops_zipinfo(struct judged *j)
{
    if (judged_operand(j, 0))
        effect_add(j->sh, j->leaf, EFFECT_READ, judged_operand(j, 0));
}

void
ops_dpkg(struct judged *j)
{
    static const char reads[] = "lLSspW";
    bool ok = false;
    for (size_t i = 0; reads[i]; i++)
        ok = ok || j->o.seen[(unsigned char)reads[i]];
    if (!ok)
        judged_unknown(j, "it may change packages");
}

/* Sub-commands that tell what is installed or set, and reach neither the network nor the project's own code. */
static const struct {
    const char *program, *verbs, *second; /* second: words that must follow, or NULL */
    const char *pins;                     /* see version_pinned_here */
} verbs[] = {
    {"docker", "ps images", NULL, ""},
    {"docker", "container image volume network", "ls", ""},
    {"docker", "version info top port", NULL, ""},
    {"docker", "compose", "ls", ""},
    {"systemctl",
     "is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers "
     "list-sockets list-dependencies get-default",
     NULL, ""},
    {"apt", "list show search policy depends rdepends", NULL, ""},
    {"apt-cache", "policy show showpkg search depends rdepends madison stats pkgnames", NULL, ""},
    {"npm", "ls list ll la explain why root prefix", NULL, ".tool-versions"},
    {"npm", "config", "get list ls", ".tool-versions"},
    {"npm", "pkg", "get", ".tool-versions"},
    {"pip", "list show freeze check", NULL, ".python-version .tool-versions"},
    {"pip3", "list show freeze check", NULL, ".python-version .tool-versions"},
    {"go", "version env", NULL, ".tool-versions !go.mod !go.work"},
};

static bool
one_of(const char *list, const struct word *w)
{
    struct str rest = str_from(list), part;
    while (w && w->w.known && str_split(&rest, ' ', &part))
        if (str_eq(part, w->w.text))
            return true;
    return false;
}

/* The person chose no other machine for it: then it asks the daemon of this one. */
static bool
docker_is_here(struct judged *j)
{
    if (!j->sh->env->home)
        return false;
    struct buf text;
    bool found = false;
    char *path = fs_join(j->sh->env->home, ".docker/config.json");
    buf_init(&text, 256 * 1024);
    bool read = fs_read_if(path, 256 * 1024, &text, &found, NULL);
    bool here = read && !(found && str_contains(buf_str(&text), STR("currentContext")));
    free(path);
    buf_release(&text);
    return here;
}

void
ops_verb(struct judged *j)
{
    const char *pins = NULL;
    for (size_t i = 0; i < ARRAY_LEN(verbs) && !pins; i++)
        if (str_is(str_from(j->p->name), verbs[i].program) &&
            one_of(verbs[i].verbs, judged_operand(j, 0)) &&
            (!verbs[i].second || one_of(verbs[i].second, judged_operand(j, 1))))
            pins = verbs[i].pins;
    for (size_t i = 0; i < j->o.n_operands; i++)
        if (!judged_operand(j, i)->w.known)
            pins = NULL;
    if (pins && str_is(str_from(j->p->name), "docker") && !docker_is_here(j))
        pins = NULL;
    if (!pins)
        judged_unknown(j, "what this program does is not known");
    else if (!version_pinned_here(j->sh, pins))
        judged_unknown(j, "a file of the project says which program this name stands for");
}
