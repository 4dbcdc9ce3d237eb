/* Operands of programs that tell of the machine, unpack to standard output or have a small language of their own. */
#include <ctype.h>
#include <string.h>

#include "perm/programs.h"

static bool
made_of(struct str s, const char *letters)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr(letters, s.ptr[i]))
            return false;
    return true;
}

/* With -e and -i its operands are text. */
void
ops_shuf(struct judged *j)
{
    if (!j->o.seen['e'] && !j->o.seen['i'])
        judged_read(j, 0, EFFECT_READ);
}

/* Old ones of these scripts run parts of a file name that holds a newline: only names that are written out. */
void
ops_zgrep(struct judged *j)
{
    for (size_t i = 1; i < j->c->n; i++)
        if (!j->c->argv[i].w.known || j->c->argv[i].w.glob ||
            memchr(j->c->argv[i].w.text.ptr, '\n', j->c->argv[i].w.text.len))
            judged_unknown(j, "a name is not known");
    judged_read(j, j->o.pattern ? 0 : 1, EFFECT_READ);
}

void
ops_unpack(struct judged *j)
{
    if (!j->o.seen['c'] && !j->o.seen['l'] && !j->o.seen['t'] && j->o.n_operands)
        judged_unknown(j, "it puts another file in the place of the one it is given");
    judged_read(j, 0, EFFECT_READ);
}

/* It opens addresses as well as files. */
void
ops_xml(struct judged *j)
{
    for (size_t i = 0; i < j->o.n_operands; i++)
        if (!judged_operand(j, i)->w.known ||
            str_contains(judged_operand(j, i)->w.text, STR("://")))
            judged_unknown(j, "it may read from an address");
    judged_read(j, 0, EFFECT_READ);
}

/* A yq filter of paths and of functions that only look at the document; others load files and read the environment. */
static bool
yq_filter_safe(struct str f)
{
    static const char words[] =
        " select map map_values length keys has any all sort sort_by group_by unique unique_by "
        "join split "
        "first last not and or true false null to_entries from_entries with_entries add min max "
        "type tag "
        "kind tostring tonumber to_number to_string contains test match capture upcase downcase "
        "trim "
        "flatten reverse pick omit del path paths sum ascii_downcase ascii_upcase empty range ";
    for (size_t i = 0; i < f.len;) {
        char c = f.ptr[i];
        if (c == '"') {
            for (i++; i < f.len && f.ptr[i] != '"'; i++)
                if (f.ptr[i] == '\\')
                    return false;
            i++;
            continue;
        }
        if (!isalnum((unsigned char)c) && !strchr("._[]|,:()=!<>*+/- ?\n\t", c))
            return false;
        size_t n = 0;
        while (i + n < f.len && (isalnum((unsigned char)f.ptr[i + n]) || f.ptr[i + n] == '_'))
            n++;
        char word[32] = " ";
        bool field = i > 0 && f.ptr[i - 1] == '.', digit = isdigit((unsigned char)c);
        if (n && !field && !digit) {
            if (n > sizeof word - 3)
                return false;
            memcpy(word + 1, f.ptr + i, n);
            word[n + 1] = ' ';
            if (!strstr(words, word))
                return false;
        }
        i += n ? n : 1;
    }
    return true;
}

void
ops_yq(struct judged *j)
{
    static const char *const evals[] = {"eval", "e", "eval-all", "ea"};
    size_t at = 0;
    const struct word *f = judged_operand(j, 0);
    for (size_t i = 0; f && i < ARRAY_LEN(evals); i++)
        if (f->w.known && str_is(f->w.text, evals[i]))
            at = 1;
    f = judged_operand(j, at);
    if (j->o.seen['i'])
        judged_unknown(j, "it changes its files");
    if (!f || !f->w.known || f->w.glob || !yq_filter_safe(f->w.text))
        judged_unknown(j, "the filter may read what it should not");
    /* a file that stands alone is read, with the filter "." */
    judged_read(j, j->o.n_operands == at + 1 ? at : at + 1, EFFECT_READ);
}

/* A pager is a program that is run. */
void
ops_bat(struct judged *j)
{
    const struct word *paging = j->o.value['9'];
    if (paging && !(paging->w.known && str_is(paging->w.text, "never")))
        judged_unknown(j, "it may start a pager");
    judged_read(j, 0, EFFECT_READ);
}

/* "kill -l" and "kill -l 9" tell of signals, all else sends one. */
void
ops_kill(struct judged *j)
{
    const struct command *c = j->c;
    bool lists = arg_is(c, 1, "-l");
    struct str s = c->n == 3 ? c->argv[2].w.text : STR("");
    for (size_t i = 0; i < s.len; i++)
        lists = lists && isalnum((unsigned char)s.ptr[i]);
    bool asks = arg_is(c, 1, "-0") && c->n == 3 && (c->argv[2].numeric || c->argv[2].w.known) &&
                !c->argv[2].w.glob;
    if (asks) /* whether the process is there */
        return;
    if (!lists || c->n > 3 || (c->n == 3 && !c->argv[2].w.known))
        judged_unknown(j, "it sends a signal");
}

/* ip shows: "ip -br a", "ip route show". Other words add, change, or run something in another name space. */
void
ops_ip(struct judged *j)
{
    static const char *const options[] = {"-4",     "-6", "-o",     "-s", "-d",    "-br",
                                          "-brief", "-c", "-color", "-j", "-json", "-p"};
    static const char *const objects[] = {"a",     "addr",  "address", "l",  "link", "r",
                                          "route", "neigh", "n",       "ru", "rule"};
    static const char *const shows[] = {"show", "list", "ls"};
    const struct command *c = j->c;
    size_t i = 1;
    bool found = false;
    for (; i < c->n; i++) {
        bool option = false;
        for (size_t k = 0; k < ARRAY_LEN(options); k++)
            option = option || arg_is(c, i, options[k]);
        if (!option)
            break;
    }
    for (size_t k = 0; k < ARRAY_LEN(objects); k++)
        found = found || arg_is(c, i, objects[k]);
    bool bare = found && i + 1 == c->n, shown = false;
    for (size_t k = 0; found && k < ARRAY_LEN(shows); k++)
        shown = shown || (arg_is(c, i + 1, shows[k]) && i + 2 == c->n);
    if (!bare && !shown)
        judged_unknown(j, "this form of ip may change the network");
}

/* "-x", "--exec-batch" or a bundle that ends in it: what stands behind it is run. */
static bool
is_fd_exec(struct str s)
{
    if (str_is(s, "--exec") || str_is(s, "--exec-batch"))
        return true;
    char last = s.len > 1 && s.ptr[0] == '-' && s.ptr[1] != '-' ? s.ptr[s.len - 1] : 0;
    return last == 'x' || last == 'X';
}

/* fd [PATTERN [FOLDER...]]: lists names. */
void
ops_fd(struct judged *j)
{
    size_t first = j->sh->ret->n_leaves;
    for (size_t i = 1; i + 1 < j->c->n; i++)
        if (is_fd_exec(j->c->argv[i].w.text))
            leaf_inner(j->sh, j->leaf, j->c, i + 1, false);
    if (j->sh->ret->n_leaves > first)
        leaf_is_opaque(j->sh, j->leaf, first);
    struct word here = word_literal(j->sh, STR("."));
    if (j->o.n_operands < 2)
        effect_add(j->sh, j->leaf, EFFECT_READ, &here);
    judged_read(j, 1, EFFECT_READ);
    if (j->o.seen['L'])
        judged_follow(j, 1, FOLLOW_READ);
}

/* "who FILE" reads another record of logins, "who am i" does not. */
void
ops_who(struct judged *j)
{
    if (j->o.n_operands != 2)
        judged_read(j, 0, EFFECT_READ);
}

/* ps: "aux" and "-ef". A BSD 'e' prints other programs' environment, and "-auxe" is read as that where there is no user "xe". */
void
ops_ps(struct judged *j)
{
    static const char *const flags[] = {"--no-headers", "--no-heading", "--headers",
                                        "--forest",     "--help",       "--version"},
                             *const valued[] = {"-p",     "-o",     "-C",    "-u", "-U",    "-t",
                                                "--ppid", "--sort", "--pid", "-g", "--user"};
    const struct command *c = j->c;
    for (size_t i = 1; i < c->n; i++) {
        struct str s = c->argv[i].w.text;
        bool ok = c->argv[i].w.known && !c->argv[i].w.glob, value = false;
        for (size_t k = 0; k < ARRAY_LEN(valued); k++)
            value = value || str_is(s, valued[k]);
        /* "-eo FORMAT" */
        value = value || (s.len > 2 && s.ptr[0] == '-' && s.ptr[s.len - 1] == 'o' &&
                          made_of(str_sub(s, 0, s.len - 1), "-eAafLlwj"));
        bool flag = str_starts(s, "--sort=") || str_starts(s, "--ppid=") || str_starts(s, "--pid=");
        for (size_t k = 0; k < ARRAY_LEN(flags); k++)
            flag = flag || str_is(s, flags[k]);
        if (value && i + 1 < c->n) {
            i++;
            ok = ok && !c->argv[i].split && !c->argv[i].w.glob &&
                 (c->argv[i].w.known || c->argv[i].numeric) &&
                 !str_contains(c->argv[i].w.text, STR("env"));
        } else if (!flag) {
            bool dash = str_starts(s, "-");
            ok = ok && (dash ? made_of(s, "-eAflLjwHFTMdN") : made_of(s, "axuflwjhTr0123456789,"));
        }
        if (!ok)
            judged_unknown(j, "it may print the environment of other programs");
    }
}

void
ops_top(struct judged *j)
{
    if (!j->o.seen['b'])
        judged_unknown(j, "it takes keys that end programs");
}

/* Without -n the names of hosts are looked up. "-i :8080" is an option and its value. */
void
ops_lsof(struct judged *j)
{
    if (!j->o.seen['n'])
        judged_unknown(j, "it looks up the names of hosts; -n leaves that out");
    for (size_t i = 0; i < j->o.n_operands; i++) {
        struct str s = judged_operand(j, i)->w.text;
        bool net = str_starts(s, ":") || str_starts(s, "TCP") || str_starts(s, "UDP") ||
                   str_starts(s, "tcp") || str_starts(s, "udp");
        if (!net || !judged_operand(j, i)->w.known)
            effect_add(j->sh, j->leaf, EFFECT_READ, judged_operand(j, i));
    }
}

void
ops_netstat(struct judged *j)
{
    if (!j->o.seen['n'])
        judged_unknown(j, "it looks up the names of hosts; -n leaves that out");
}
