/* What a leaf does to files, as absolute paths. A relative path is resolved against each folder it may run in. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perm/shell.h"

/* Takes "x/.." away by text where x is no symlink; else the kernel's view of x. Works on a terminated path in place of
 * `b`; false: it cannot be told. */
static bool
go_up(struct buf *b)
{
    struct stat st;
    char real[4096];
    if (b->len <= 1)
        return true;
    /* Descriptors are links into the process that looks: ours are not the command's. */
    if (strcmp(buf_cstr(b), "/dev/fd") == 0)
        return false;
    if (lstat(buf_cstr(b), &st) == 0 && S_ISLNK(st.st_mode)) {
        if (!realpath(buf_cstr(b), real))
            return false;
        buf_clear(b);
        buf_adds(b, real);
    }
    size_t cut = b->len;
    while (cut > 0 && b->data[cut - 1] != '/')
        cut--;
    buf_truncate(b, cut > 1 ? cut - 1 : cut);
    if (b->len == 0)
        buf_addc(b, '/');
    return true;
}

static bool
append(struct buf *b, struct str p)
{
    struct str part;
    while (str_split(&p, '/', &part)) {
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            if (!go_up(b))
                return false;
            continue;
        }
        if (b->len == 0 || b->data[b->len - 1] != '/')
            buf_addc(b, '/');
        buf_add_str(b, part);
    }
    return true;
}

const char *
path_clean(struct arena *a, const char *cwd, struct str p)
{
    bool absolute = p.len && p.ptr[0] == '/';
    if (!absolute && !cwd)
        return p.len ? NULL : "/";
    struct buf b;
    buf_init(&b, 64 * 1024);
    bool ok = (absolute || append(&b, str_from(cwd))) && append(&b, p);
    if (b.len == 0)
        buf_addc(&b, '/');
    char *r = ok && !buf_full(&b) ? arena_dup(a, b.data, b.len) : NULL;
    buf_release(&b);
    return r;
}

const char *
path_by_text(struct arena *a, const char *cwd, struct str p)
{
    struct buf b;
    struct str parts[2] = {str_from(p.len && p.ptr[0] == '/' ? NULL : cwd), p}, part;
    buf_init(&b, 64 * 1024);
    for (size_t i = 0; i < 2; i++)
        while (str_split(&parts[i], '/', &part)) {
            if (str_is(part, "..")) {
                while (b.len > 0 && b.data[b.len - 1] != '/')
                    buf_truncate(&b, b.len - 1);
                if (b.len > 0)
                    buf_truncate(&b, b.len - 1);
            } else if (part.len && !str_is(part, ".")) {
                buf_addc(&b, '/');
                buf_add_str(&b, part);
            }
        }
    if (b.len == 0)
        buf_addc(&b, '/');
    char *r = arena_dup(a, buf_cstr(&b), b.len);
    buf_release(&b);
    return r;
}

/* At or below a link or a copied tree that this very command line makes: where it leads cannot be seen yet. */
static bool
is_fresh(const struct sh *sh, const char *path)
{
    for (size_t i = 0; i < sh->n_fresh; i++) {
        size_t n = strlen(sh->fresh[i]);
        if (strncmp(path, sh->fresh[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return true;
    }
    return false;
}

/* The folder of a pattern up to its first component with a wildcard. */
static const char *
fixed_folder(struct arena *a, const char *path)
{
    size_t cut = strcspn(path, "*?[\\");
    while (cut > 0 && path[cut - 1] != '/')
        cut--;
    return arena_dup(a, path, cut > 1 ? cut - 1 : cut);
}

void
effect_fresh(struct sh *sh, size_t leaf)
{
    const struct perm_leaf *l = leaf_at(sh, leaf);
    if (!sh->fresh)
        sh->fresh = arena_alloc(sh->a, SH_MAX_FRESH * sizeof *sh->fresh);
    for (size_t i = 0; l && i < l->n_effects; i++) {
        const struct perm_effect *e = &l->effects[i];
        if (e->kind != EFFECT_WRITE || e->redirect)
            continue;
        if (!e->path || sh->n_fresh >= SH_MAX_FRESH)
            sh_incomplete(sh, "makes links or copies whose place is not known");
        else
            sh->fresh[sh->n_fresh++] = e->glob ? fixed_folder(sh->a, e->path) : e->path;
    }
}

static bool
no_effect(const char *path)
{
    static const char *const devices[] = {"/dev/null",    "/dev/stdout", "/dev/stderr",
                                          "/dev/stdin",   "/dev/tty",    "/dev/zero",
                                          "/dev/urandom", "/dev/random", "/dev/full"};
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (strcmp(path, devices[i]) == 0)
            return true;
    if (strncmp(path, "/dev/fd/", 8) != 0 || !path[8])
        return false;
    return strspn(path + 8, "0123456789") == strlen(path + 8);
}

static void
push(struct sh *sh, size_t leaf, const struct perm_effect *e)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    if (!l)
        return;
    size_t n = l->n_effects;
    if (n >= SH_MAX_WORDS) {
        sh_incomplete(sh, "the command touches too many files");
        return;
    }
    if ((n & (n - 1)) == 0) {
        struct perm_effect *v = arena_alloc(sh->a, (n ? 2 * n : 1) * sizeof *v);
        if (n)
            memcpy(v, l->effects, n * sizeof *v);
        l->effects = v;
    }
    ((struct perm_effect *)l->effects)[n] = *e;
    l->n_effects++;
}

/* A pattern followed by "..": what the pattern stands for decides where it leads. */
static bool
up_after_glob(struct str p)
{
    bool glob = false;
    struct str part;
    while (str_split(&p, '/', &part)) {
        if (glob && str_is(part, ".."))
            return true;
        glob = glob || memchr(part.ptr, '*', part.len) || memchr(part.ptr, '?', part.len) ||
               memchr(part.ptr, '[', part.len);
    }
    return false;
}

/* Takes kind and flags from e. */
static void
add(struct sh *sh, size_t leaf, struct perm_effect e, const struct word *w)
{
    if (w->below.len && (!e.redirect || (e.kind == EFFECT_READ && !w->split))) {
        effect_below(sh, leaf, e.kind, w);
        return;
    }
    e.glob = w->w.glob;
    e.shown = arena_dup(sh->a, w->src.ptr, w->src.len);
    struct str t = w->w.text;
    if (!w->w.known || (w->w.glob && up_after_glob(t))) {
        if (!w->procsub)
            push(sh, leaf, &e);
        return;
    }
    if (e.redirect && (str_starts(t, "/dev/tcp/") || str_starts(t, "/dev/udp/"))) {
        struct str host = str_sub(t, 9, t.len - 9);
        size_t slash = str_find(host, '/', 0);
        e.kind = EFFECT_NET;
        e.path = arena_dup(sh->a, host.ptr, slash == (size_t)-1 ? host.len : slash);
        push(sh, leaf, &e);
        return;
    }
    if (t.len == 0)
        return; /* an empty name is an error, not a file */
    const struct cwdset *c = &sh->st.cwd;
    size_t n = t.ptr[0] == '/' || c->unknown || c->n == 0 ? 1 : c->n;
    for (size_t i = 0; i < n; i++) {
        e.path = path_clean(sh->a, c->n && !c->unknown ? c->dir[i] : NULL, t);
        if (e.path && is_fresh(sh, e.path)) {
            e.path = NULL;
            effect_unknown(sh, leaf, "a path leads through what this command line makes");
        }
        if (!e.path || !no_effect(e.path))
            push(sh, leaf, &e);
    }
}

void
effect_add(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w)
{
    add(sh, leaf, (struct perm_effect){.kind = kind}, w);
}

void
effect_itself(struct sh *sh, size_t leaf, const struct word *w)
{
    struct str t = w->w.text;
    bool follows = str_ends(t, "/") || str_ends(t, "/.") || str_ends(t, "..") || str_is(t, ".");
    add(sh, leaf, (struct perm_effect){.kind = EFFECT_READ, .itself = w->w.known && !follows}, w);
}

void
effect_write_below(struct sh *sh, size_t leaf, const struct word *w)
{
    add(sh, leaf, (struct perm_effect){.kind = EFFECT_WRITE, .below = true}, w);
}

void
effect_span(struct sh *sh, size_t leaf, const struct word *w, enum perm_span span)
{
    add(sh, leaf, (struct perm_effect){.kind = EFFECT_READ_TREE, .span = span}, w);
}

void
effect_only(struct sh *sh, size_t leaf, const struct word *w, struct str only)
{
    struct perm_effect e = {.kind = EFFECT_READ_TREE};
    e.only = only.len ? arena_dup(sh->a, only.ptr, only.len) : NULL;
    add(sh, leaf, e, w);
}

void
effect_redirect(struct sh *sh, size_t leaf, enum perm_effect_kind kind, const struct word *w)
{
    add(sh, leaf, (struct perm_effect){.kind = kind, .redirect = true}, w);
}

void
effect_text(struct sh *sh, size_t leaf, enum perm_effect_kind kind, struct str path)
{
    struct word w = word_literal(sh, path);
    add(sh, leaf, (struct perm_effect){.kind = kind}, &w);
}

void
effect_net(struct sh *sh, size_t leaf, struct str host)
{
    struct perm_effect e = {.kind = EFFECT_NET};
    if (host.len)
        e.path = arena_dup(sh->a, host.ptr, host.len);
    e.shown = e.path ? e.path : "";
    push(sh, leaf, &e);
}

void
effect_unknown(struct sh *sh, size_t leaf, const char *why)
{
    struct perm_leaf *l = leaf_at(sh, leaf);
    if (!l)
        return;
    l->effects_unknown = true;
    if (!l->unknown_why)
        l->unknown_why = why;
}

static bool
stat_word(struct sh *sh, const struct word *w, struct stat *st)
{
    if (!w->w.known || w->w.glob)
        return false;
    const struct cwdset *c = &sh->st.cwd;
    const char *p = path_clean(sh->a, c->n && !c->unknown ? c->dir[0] : NULL, w->w.text);
    return p && stat(p, st) == 0;
}

bool
path_exists(struct sh *sh, const struct word *w)
{
    struct stat st;
    return w->w.text.len > 0 && stat_word(sh, w, &st);
}

bool
path_is_link(struct sh *sh, const struct word *w)
{
    struct stat st;
    const struct cwdset *c = &sh->st.cwd;
    if (!w->w.known || w->w.glob || !w->w.text.len || str_ends(w->w.text, "/") || c->unknown)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const char *p = path_clean(sh->a, c->dir[i], w->w.text);
        if (!p || lstat(p, &st) != 0 || !S_ISLNK(st.st_mode))
            return false;
    }
    return c->n > 0;
}

bool
path_is_dir(struct sh *sh, const struct word *w)
{
    struct stat st;
    if (w->w.known && str_ends(w->w.text, "/"))
        return true;
    if (stat_word(sh, w, &st))
        return S_ISDIR(st.st_mode);
    const struct cwdset *c = &sh->st.cwd;
    const char *p = w->w.known && !w->w.glob
                        ? path_clean(sh->a, c->n && !c->unknown ? c->dir[0] : NULL, w->w.text)
                        : NULL;
    for (size_t i = 0; p && i < sh->n_made; i++)
        if (strcmp(sh->made[i], p) == 0)
            return true;
    return false;
}
