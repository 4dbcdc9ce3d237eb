/*
 * Parameter expansion. Only the plain forms have a value here; the others are unknown, and those that evaluate text again
 * (${!x}, ${x@P}, subscripts and offsets with names) make the analysis incomplete.
 */
#include <string.h>

#include "perm/shell.h"

static void
put_unknown(struct sh *sh, struct xword *x, bool dq, bool many)
{
    xword_add(sh, x, 0, (uint8_t)(XU | (dq && !many ? 0 : XS)));
}

static bool
holds_blank(struct str text)
{
    return text.len && (memchr(text.ptr, ' ', text.len) || memchr(text.ptr, '\t', text.len) ||
                        memchr(text.ptr, '\n', text.len));
}

/* The value of a known variable, where it stands unquoted: it is split, and its globs count. */
static void
put_value(struct sh *sh, struct xword *x, struct str text, bool pattern, bool dq)
{
    if (!dq && sh->ifs_seen && text.len) {
        put_unknown(sh, x, dq, true);
        return;
    }
    /* A value made of itself doubles with each assignment: a long one is not followed, and all of them cost work. */
    if (text.len > SH_MAX_VALUE || x->n > SH_MAX_VALUE || !sh_spend(sh, text.len / 16)) {
        put_unknown(sh, x, dq, !dq);
        return;
    }
    if (!dq && holds_blank(text)) {
        put_unknown(sh, x, dq, true);
        return;
    }
    for (size_t i = 0; i < text.len; i++)
        xword_add(sh, x, text.ptr[i], pattern || !dq ? XV : XQ);
    if (dq)
        xword_add(sh, x, 0, XM);
}

static void
put_var(struct sh *sh, struct xword *x, struct str name, bool dq)
{
    const struct var *v = state_get(&sh->st, name);
    if (v && v->kind == VAR_NUMBER)
        xword_add(sh, x, 0, XU | XN);
    else if (v && v->kind == VAR_TOKEN && !sh->ifs_seen)
        xword_add(sh, x, 0, (uint8_t)(XU | XT | (dq ? 0 : XS)));
    else if (v && v->kind == VAR_FOUND)
        xword_add(sh, x, found_mark(sh, v->found), (uint8_t)(XU | (dq ? 0 : XS)));
    else if (v && v->kind != VAR_UNKNOWN)
        put_value(sh, x, v->text, v->kind == VAR_GLOB, dq);
    else if (!v && !sh->st.vars_lost && str_is(name, "HOME") && sh->env->home)
        put_value(sh, x, str_from(sh->env->home), false, dq);
    else if (!v && !sh->st.vars_lost && str_is(name, "PWD") && sh->st.cwd.n == 1)
        put_value(sh, x, str_from(sh->st.cwd.dir[0]), false, dq);
    else
        put_unknown(sh, x, dq, false);
}

static size_t
name_length(struct str s)
{
    size_t n = 0;
    while (n < s.len && is_name(str_sub(s, 0, n + 1)))
        n++;
    return n;
}

static void
simple(struct sh *sh, struct str t, bool dq, struct xword *x)
{
    struct str name = str_sub(t, 1, t.len - 1);
    if (is_name(name)) {
        put_var(sh, x, name, dq);
        return;
    }
    if (name.len != 1)
        sh_incomplete(sh, "a parameter is not understood");
    bool number = name.len == 1 && strchr("?#$!", name.ptr[0]);
    bool many = name.len == 1 && name.ptr[0] == '@';
    if (number)
        xword_add(sh, x, 0, XU | XN);
    else
        put_unknown(sh, x, dq, many);
}

/* [@], [*] or [digits]: its length; 0 when it is no plain subscript. */
static size_t
subscript(struct str rest)
{
    size_t end = str_find(rest, ']', 0);
    if (rest.len < 3 || rest.ptr[0] != '[' || end == (size_t)-1)
        return 0;
    struct str in = str_sub(rest, 1, end - 1);
    int64_t v;
    bool ok = str_is(in, "@") || str_is(in, "*") || arith_value(in, &v);
    return ok ? end + 1 : 0;
}

static bool
offset_is_plain(struct str rest)
{
    for (size_t i = 0; i < rest.len; i++)
        if (!strchr("0123456789:- ", rest.ptr[i]))
            return false;
    return true;
}

/* `rest` comes after the name: what the operator does. False: not understood or evaluated again. */
static bool
operator_is_plain(struct str rest)
{
    if (rest.len == 0)
        return true;
    char c = rest.ptr[0], d = rest.len > 1 ? rest.ptr[1] : '\0';
    if (c == ':' && !(d && strchr("-+?=", d)))
        return offset_is_plain(rest);
    return strchr(":-+?=#%/^,", c) != NULL;
}

static void
braced(struct sh *sh, TSNode node, struct str t, bool dq, struct xword *x)
{
    struct str body = str_sub(t, 2, t.len - 3);
    bool length = body.len > 1 && body.ptr[0] == '#' && is_name(str_sub(body, 1, 1));
    if (length)
        body = str_sub(body, 1, body.len - 1);
    size_t n = name_length(body);
    struct str name = str_sub(body, 0, n), rest = str_sub(body, n, body.len - n);
    size_t sub = n ? subscript(rest) : 0;
    bool plain_name = n > 0 && rest.len == 0;
    if (n == 0 && body.len && strchr("0123456789@*#?$!-", body.ptr[0])) {
        for (n = 1; n < body.len && body.ptr[0] >= '0' && body.ptr[0] <= '9' &&
                    body.ptr[n] >= '0' && body.ptr[n] <= '9';)
            n++;
        rest = str_sub(body, n, body.len - n);
        if (body.ptr[0] == '!' && body.len > 1)
            rest = STR("@P");
    }
    rest = str_sub(rest, sub, rest.len - sub);
    /* In double quotes bash decodes $'\x24(x)' there first and then runs what came of it. */
    if (n == 0 || !operator_is_plain(rest) || str_contains(rest, STR("$'")))
        sh_incomplete(sh, "an expansion evaluates text again");
    uint32_t start = ts_node_start_byte(node);
    word_scan_rest(sh, node, start + 2, ts_node_end_byte(node) - 1);
    bool assigns = rest.len && (rest.ptr[0] == '=' ||
                                (rest.len > 1 && rest.ptr[1] == '=' && rest.ptr[0] == ':'));
    if (assigns && is_name(name)) {
        state_set(sh, name, VAR_UNKNOWN, str_from(NULL));
        if (!env_plain_name(name))
            sh_incomplete(sh, "an expansion sets a variable that programs act on");
    }
    if (length && rest.len == 0)
        xword_add(sh, x, 0, XU | XN);
    else if (plain_name && !length)
        put_var(sh, x, name, dq);
    else
        put_unknown(sh, x, dq, sub > 0 || (body.len && body.ptr[0] == '@'));
}

void
param_expand(struct sh *sh, TSNode node, bool dq, struct xword *x)
{
    struct str t = node_text(sh, node);
    if (t.len >= 4 && t.ptr[1] == '{' && t.ptr[t.len - 1] == '}') {
        braced(sh, node, t, dq, x);
    } else if (t.len >= 2 && t.ptr[1] != '{') {
        simple(sh, t, dq, x);
    } else {
        sh_incomplete(sh, "a parameter is not understood");
        put_unknown(sh, x, dq, true);
    }
}
