/*
 * What an image or a script is called says which program it is: "docker run hashicorp/terraform destroy", "node .../npm-cli.js publish". For
 * deny and ask rules alone, which look for their words in it.
 */
#include <string.h>

#include "perm/wrappers.h"

static struct str
after_last(struct str s, char c)
{
    size_t from = s.len;
    while (from > 0 && s.ptr[from - 1] != c)
        from--;
    return str_sub(s, from, s.len - from);
}

/* The call "NAME words from argv[i] on" is among the words that may hold a command. */
static void
hide_call(struct wrap *x, struct str name, size_t i)
{
    struct perm_leaf *l = leaf_at(x->sh, x->leaf);
    if (!l || !name.len)
        return;
    struct buf b;
    buf_init(&b, SH_PARSE_BYTES);
    buf_add_str(&b, name);
    for (; i < x->c->n; i++) {
        buf_addc(&b, ' ');
        buf_add_str(&b, x->c->argv[i].w.text);
    }
    struct perm_word *v = arena_alloc(x->sh->a, (l->n_hidden + 1) * sizeof *v);
    if (l->n_hidden)
        memcpy(v, l->hidden, l->n_hidden * sizeof *v);
    v[l->n_hidden++] = (struct perm_word){.text = arena_str(x->sh->a, buf_str(&b)), .known = true};
    l->hidden = v;
    buf_release(&b);
}

/* The image, or the service of a compose file, that stands before the command. */
void
wrap_hide_image(struct wrap *x)
{
    bool runs =
        x->w->sub && (str_ends(str_from(x->w->sub), "run") || strcmp(x->w->sub, "create") == 0);
    if (!runs || x->w->skip != 1 || x->o.n_operands < 1)
        return;
    const struct word *image = &x->c->argv[x->o.operands[0]];
    struct str name = image->w.known ? after_last(image->w.text, '/') : str_from(NULL);
    size_t tag = 0;
    while (tag < name.len && name.ptr[tag] != ':' && name.ptr[tag] != '@')
        tag++;
    hide_call(x, str_sub(name, 0, tag), x->o.operands[0] + 1);
}

/* The i-th word is the script that an interpreter runs. */
void
wrap_hide_script(struct wrap *x, size_t i)
{
    static const char *const ends[] = {".js", ".cjs", ".mjs", ".py", ".rb", ".php", "-cli"};
    if (i >= x->c->n || !x->c->argv[i].w.known)
        return;
    struct str name = after_last(x->c->argv[i].w.text, '/');
    for (size_t k = 0; k < ARRAY_LEN(ends); k++)
        if (name.len > strlen(ends[k]) && str_ends(name, ends[k]))
            name.len -= strlen(ends[k]);
    hide_call(x, name, i + 1);
}
