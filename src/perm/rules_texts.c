/* The texts of a leaf that rules are matched against. */
#include "perm/rules_match.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "perm/wild.h"

enum { TEXT_MAX = 1 << 20 };

/* Stands for an unknown word while a leaf's text is made; letters and digits, so that nothing quotes it. A command that really
 * holds it is judged as if that word were unknown, which only narrows. */
static const char unknown_word[] = "0yare0unknown0word0";

/* Unknown words become WILD_GAP; with `absorb` so do the blanks around them, since such a word may vanish or become many. */
static void
put_gaps(struct buf *b, bool absorb)
{
    struct buf out;
    const char *p = buf_cstr(b), *at;
    size_t n = sizeof unknown_word - 1;

    if (!strstr(p, unknown_word) && strlen(p) == b->len)
        return;
    buf_init(&out, TEXT_MAX);
    while ((at = strstr(p, unknown_word)) != NULL) {
        buf_add(&out, p, (size_t)(at - p));
        while (absorb && out.len && out.data[out.len - 1] == ' ')
            buf_truncate(&out, out.len - 1);
        buf_addc(&out, WILD_GAP);
        p = at + n;
        while (absorb && *p == ' ')
            p++;
    }
    buf_adds(&out, p);
    buf_release(b);
    *b = out;
}

/* A program's name in letters that may only look like others, full width ones or another alphabet's. */
static bool
looks_like_any(struct str name)
{
    bool odd = false;
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '/')
            return false; /* a file of somebody's own, under its place */
        odd = odd || (unsigned char)name.ptr[i] >= 0x80;
    }
    return odd;
}

static bool
word_is_sure(const struct perm_word *w, bool is_name, bool for_deny)
{
    return w->known && !(w->glob && (is_name || for_deny)) &&
           !(is_name && for_deny && looks_like_any(w->text));
}

/* The leaf with its unsure words replaced. */
static void
gap_text(const struct perm_leaf *leaf, bool for_deny, bool normalise, bool absorb, struct buf *out)
{
    struct perm_word *words = xcalloc(leaf->n_argv + 1, sizeof *words);
    struct perm_leaf copy = *leaf;
    for (size_t i = 0; i < leaf->n_argv; i++) {
        words[i] = leaf->argv[i];
        if (!word_is_sure(&words[i], i == 0, for_deny))
            words[i] = (struct perm_word){.text = str_from(unknown_word), .known = true};
    }
    copy.argv = words;
    copy.argv_known = copy.name_known = true;
    perm_leaf_text(&copy, normalise, out);
    put_gaps(out, absorb);
    free(words);
}

static void
env_text(const struct perm_leaf *leaf, struct str exact, struct buf *out)
{
    for (size_t i = 0; i < leaf->n_assigns; i++) {
        const struct perm_assign *a = &leaf->assigns[i];
        buf_add_str(out, a->name);
        buf_addc(out, '=');
        if (a->value.known && a->value.text.len)
            rule_canonical_token(a->value.text, false, out);
        else if (!a->value.known)
            buf_addc(out, WILD_GAP);
        buf_addc(out, ' ');
    }
    if (leaf->n_assigns && exact.len)
        buf_add_str(out, exact);
    else if (out->len)
        buf_truncate(out, out->len - 1);
}

/* Where the link that the name is in this folder leads to, under another name, or NULL. Yours. */
static char *
link_leads(const char *cwd, const char *name)
{
    struct stat st;
    char *path = fs_normalize(cwd, name), *real = NULL;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        real = fs_resolve(path, NULL);
    if (real && strcmp(fs_basename(real), fs_basename(path)) == 0) {
        free(real);
        real = NULL;
    }
    free(path);
    return real;
}

/* "./tool x", where ./tool leads to /usr/bin/curl: "curl x". */
static void
linked_text(const struct perm_leaf *leaf, struct buf *out)
{
    const struct perm_word *name = &leaf->argv[0];
    if (!name->known || !memchr(name->text.ptr, '/', name->text.len) ||
        name->text.len >= PATH_MAX || memchr(name->text.ptr, '\0', name->text.len))
        return;
    char *text = str_dup(name->text), *real = NULL;
    for (size_t i = 0; i < leaf->n_cwds && !real; i++)
        real = link_leads(leaf->cwds[i], text);
    if (real) {
        struct perm_word *words = xcalloc(leaf->n_argv, sizeof *words);
        struct perm_leaf copy = *leaf;
        memcpy(words, leaf->argv, leaf->n_argv * sizeof *words);
        words[0].text = str_from(fs_basename(real));
        copy.argv = words;
        perm_leaf_text(&copy, true, out);
        free(words);
    }
    free(real);
    free(text);
}

void
leaf_texts_init(struct leaf_texts *t, const struct perm_leaf *leaf)
{
    bool sure = true, exact = true;
    buf_init(&t->exact, TEXT_MAX);
    buf_init(&t->with_env, TEXT_MAX);
    buf_init(&t->plain, TEXT_MAX);
    buf_init(&t->deny, TEXT_MAX);
    buf_init(&t->gap_plain, TEXT_MAX);
    buf_init(&t->gap_deny, TEXT_MAX);
    buf_init(&t->linked, TEXT_MAX);
    t->name_known = leaf->n_argv && word_is_sure(&leaf->argv[0], true, false);
    for (size_t i = 0; i < leaf->n_argv; i++) {
        sure = sure && word_is_sure(&leaf->argv[i], i == 0, true);
        exact = exact && word_is_sure(&leaf->argv[i], i == 0, false);
    }
    if (leaf->n_argv) {
        perm_leaf_text(leaf, false, &t->plain);
        if (exact && t->plain.len) {
            buf_add_str(&t->exact, buf_str(&t->plain));
            put_gaps(&t->exact, false);
        } else {
            gap_text(leaf, false, false, false, &t->exact);
        }
        perm_leaf_text(leaf, true, &t->deny);
        linked_text(leaf, &t->linked);
    }
    if (!sure) {
        gap_text(leaf, true, false, true, &t->gap_plain);
        gap_text(leaf, true, true, true, &t->gap_deny);
    }
    env_text(leaf, buf_str(&t->exact), &t->with_env);
    t->hidden = NULL;
    t->n_hidden = 0;
    hidden_init(t, leaf);
}

void
leaf_texts_release(struct leaf_texts *t)
{
    buf_release(&t->exact);
    buf_release(&t->with_env);
    buf_release(&t->plain);
    buf_release(&t->deny);
    buf_release(&t->gap_plain);
    buf_release(&t->gap_deny);
    buf_release(&t->linked);
    free(t->hidden);
}
