#include "model/pilot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool
is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

/* An apostrophe inside a word ("don't") opens nothing. */
static bool
opens_quote(struct str s, size_t i)
{
    return is_quote(s.ptr[i]) && (i == 0 || strchr(" \t\n(=,", s.ptr[i - 1]));
}

/* Index behind the quoted part that begins at i; i + 1 when the quote never closes. */
static size_t
skip_quoted(struct str s, size_t i)
{
    size_t end = str_find(s, s.ptr[i], i + 1);
    return end == (size_t)-1 ? i + 1 : end + 1;
}

static bool
word_at(struct str s, size_t i, const char *word)
{
    size_t n = strlen(word);
    if (i + n > s.len || strncasecmp(s.ptr + i, word, n) != 0)
        return false;
    bool left = i == 0 || strchr(" \t\n,;", s.ptr[i - 1]);
    bool right = i + n == s.len || strchr(" \t\n,:", s.ptr[i + n]);
    return left && right;
}

/* Where `word` stands as a word of its own outside quotes, at or after from; (size_t)-1: nowhere. */
static size_t
find_word(struct str s, const char *word, size_t from)
{
    for (size_t i = from; i < s.len;) {
        if (opens_quote(s, i))
            i = skip_quoted(s, i);
        else if (word_at(s, i, word))
            return i;
        else
            i++;
    }
    return (size_t)-1;
}

static size_t
find_last_word(struct str s, const char *word)
{
    size_t last = (size_t)-1;
    for (size_t at = find_word(s, word, 0); at != (size_t)-1; at = find_word(s, word, at + 1))
        last = at;
    return last;
}

static struct str
clean(struct str s)
{
    s = str_trim(s);
    while (s.len && strchr(",;", s.ptr[s.len - 1]))
        s = str_trim(str_sub(s, 0, s.len - 1));
    if (s.len > 4 && strncasecmp(s.ptr + s.len - 4, " and", 4) == 0)
        s = str_trim(str_sub(s, 0, s.len - 4));
    return s;
}

/* Only when the first quote closes at the very end: 'a' 'b' is two words of a command. */
static char *
unquote(struct str s)
{
    s = str_trim(s);
    if (s.len >= 2 && is_quote(s.ptr[0]) && str_find(s, s.ptr[0], 1) == s.len - 1)
        s = str_sub(s, 1, s.len - 2);
    return str_dup(s);
}

/* Cuts "the file x" and "file x" down to x; a file may well be called "file". "@x" is how the prompt completes a file. */
static struct str
operand(struct str s)
{
    static const char *const fillers[] = {"the", "file", "files", "folder", "directory"};
    s = str_trim(s);
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
        if (word_at(s, 0, fillers[i]) && s.len > strlen(fillers[i]))
            s = str_trim(str_sub(s, strlen(fillers[i]), s.len));
    return s.len > 1 && s.ptr[0] == '@' ? str_sub(s, 1, s.len) : s;
}

/* The part up to the next comma outside quotes. */
static bool
next_item(struct str *rest, struct str *ret)
{
    if (!rest->ptr)
        return false;
    size_t i = 0;
    while (i < rest->len && rest->ptr[i] != ',')
        i = opens_quote(*rest, i) ? skip_quoted(*rest, i) : i + 1;
    *ret = str_trim(str_sub(*rest, 0, i));
    *rest = i < rest->len ? str_sub(*rest, i + 1, rest->len) : (struct str){0};
    return true;
}

static bool
parse_todo(struct str rest, struct pilot_step *step)
{
    struct buf items;
    struct str part;
    buf_init(&items, BUF_MAX);
    while (next_item(&rest, &part)) {
        char *item = unquote(part);
        for (char *p = item; *p; p++)
            if (*p == '\n')
                *p = ' ';
        if (items.len && *item)
            buf_addc(&items, '\n');
        buf_adds(&items, item);
        free(item);
    }
    step->a = buf_take(&items);
    return step->a[0] != '\0';
}

/* PATTERN, or PATTERN in FOLDER. */
static bool
parse_search(struct str rest, struct pilot_step *step)
{
    if (word_at(rest, 0, "for"))
        rest = str_trim(str_sub(rest, 3, rest.len));
    size_t in = find_last_word(rest, "in");
    if (in == 0)
        in = (size_t)-1;
    step->a = unquote(str_sub(rest, 0, in == (size_t)-1 ? rest.len : in));
    step->b = in == (size_t)-1 ? NULL : unquote(operand(str_sub(rest, in + 2, rest.len)));
    if (step->b && !step->b[0]) {
        free(step->b);
        step->b = NULL;
    }
    return step->a[0] != '\0';
}

/* The first of the words that stands outside quotes; (size_t)-1: none. */
static size_t
find_one_of(struct str s, const char *const *words, size_t *ret_len)
{
    size_t best = (size_t)-1;
    for (; *words; words++) {
        size_t at = find_word(s, *words, 0);
        if (at >= best)
            continue;
        best = at;
        *ret_len = strlen(*words);
    }
    return best;
}

/* A with B in FILE, A to B in FILE, A by B in FILE; or in FILE A with B. */
static bool
parse_replace(struct str rest, struct pilot_step *step)
{
    static const char *const joints[] = {"with", "by", "to", "into", NULL};
    size_t len = 0, with = find_one_of(rest, joints, &len), in = find_last_word(rest, "in");
    if (with == (size_t)-1 || in == (size_t)-1 || in < with)
        return false;
    step->a = unquote(str_sub(rest, 0, with));
    step->b = unquote(str_sub(rest, with + len, in - with - len));
    step->c = unquote(operand(str_sub(rest, in + 2, rest.len)));
    return step->a[0] && step->c[0];
}

/* TEXT to FILE, TEXT into FILE. */
static bool
parse_write(struct str rest, struct pilot_step *step)
{
    size_t to = find_last_word(rest, "to"), into = find_last_word(rest, "into"), len = 2;
    if (into != (size_t)-1 && (to == (size_t)-1 || into > to)) {
        to = into;
        len = 4;
    }
    if (to == (size_t)-1)
        return false;
    step->a = unquote(str_sub(rest, 0, to));
    step->b = unquote(operand(str_sub(rest, to + len, rest.len)));
    return step->b[0] != '\0';
}

/* FILE with TEXT, FILE containing TEXT. */
static bool
parse_create(struct str rest, struct pilot_step *step)
{
    static const char *const joints[] = {"with", "containing", "saying", "that says", NULL};
    size_t len = 0, with = find_one_of(rest, joints, &len);
    if (with == (size_t)-1)
        return false;
    step->b = unquote(operand(str_sub(rest, 0, with)));
    step->a = unquote(str_sub(rest, with + len, rest.len));
    return step->b[0] != '\0';
}

static bool
parse_operand(struct str rest, struct pilot_step *step)
{
    step->a = unquote(operand(rest));
    return step->a[0] != '\0';
}

/* Longer ones before what they begin with. */
static const struct verb {
    const char *word;
    enum pilot_verb verb;
    bool (*parse)(struct str rest, struct pilot_step *step); /* NULL: the verb's own */
} verbs[] = {
    {"show me around", PILOT_TOUR, NULL},
    {"show me", PILOT_READ, NULL},
    {"look at", PILOT_READ, NULL},
    {"look into", PILOT_READ, NULL},
    {"what is in", PILOT_READ, NULL},
    {"what's in", PILOT_READ, NULL},
    {"list the files in", PILOT_LIST, NULL},
    {"list files in", PILOT_LIST, NULL},
    {"list the files", PILOT_LIST, NULL},
    {"list files", PILOT_LIST, NULL},
    {"which files are in", PILOT_LIST, NULL},
    {"which files are there", PILOT_LIST, NULL},
    {"search for", PILOT_FIND, NULL},
    {"look for", PILOT_FIND, NULL},
    {"where is", PILOT_FIND, NULL},
    {"where are", PILOT_FIND, NULL},
    {"who uses", PILOT_FIND, NULL},
    {"find files named", PILOT_GLOB, NULL},
    {"find files", PILOT_GLOB, NULL},
    {"find the files", PILOT_GLOB, NULL},
    {"run the command", PILOT_RUN, NULL},
    {"make a todo list", PILOT_TODO, NULL},
    {"todo list", PILOT_TODO, NULL},
    {"todos", PILOT_TODO, NULL},
    {"what can you do", PILOT_HELP, NULL},
    {"read", PILOT_READ, NULL},
    {"show", PILOT_READ, NULL},
    {"open", PILOT_READ, NULL},
    {"cat", PILOT_READ, NULL},
    {"list", PILOT_LIST, NULL},
    {"ls", PILOT_LIST, NULL},
    {"find", PILOT_FIND, NULL},
    {"search", PILOT_FIND, NULL},
    {"grep", PILOT_FIND, NULL},
    {"files", PILOT_GLOB, NULL},
    {"glob", PILOT_GLOB, NULL},
    {"run", PILOT_RUN, NULL},
    {"execute", PILOT_RUN, NULL},
    {"replace", PILOT_REPLACE, NULL},
    {"change", PILOT_REPLACE, NULL},
    {"rename", PILOT_REPLACE, NULL},
    {"write", PILOT_WRITE, NULL},
    {"create", PILOT_WRITE, parse_create},
    {"make a file", PILOT_WRITE, parse_create},
    {"todo", PILOT_TODO, NULL},
    {"help", PILOT_HELP, NULL},
    {"tour", PILOT_TOUR, NULL},
};

static const struct verb *
verb_at(struct str s, size_t i)
{
    for (size_t k = 0; k < ARRAY_LEN(verbs); k++)
        if (word_at(s, i, verbs[k].word))
            return &verbs[k];
    return NULL;
}

static bool
parse_rest(struct str rest, struct pilot_step *step)
{
    switch (step->verb) {
    case PILOT_READ:
        return parse_operand(rest, step);
    case PILOT_LIST:
        parse_operand(word_at(rest, 0, "in") ? str_sub(rest, 2, rest.len) : rest, step);
        return true;
    case PILOT_FIND:
    case PILOT_GLOB:
        return parse_search(rest, step);
    case PILOT_RUN:
        step->a = unquote(rest);
        return step->a[0] != '\0';
    case PILOT_REPLACE:
        return parse_replace(rest, step);
    case PILOT_WRITE:
        return parse_write(rest, step);
    case PILOT_TODO:
        return parse_todo(rest, step);
    case PILOT_HELP:
    case PILOT_TOUR:
        return rest.len == 0;
    case PILOT_UNKNOWN:
        break;
    }
    return false;
}

static void
release_step(struct pilot_step *s)
{
    free(s->a);
    free(s->b);
    free(s->c);
}

static struct pilot_step
parse_step(struct str text)
{
    const struct verb *v = verb_at(text, 0);
    if (v) {
        struct pilot_step step = {.verb = v->verb};
        struct str rest = str_trim(str_sub(text, strlen(v->word), text.len));
        if (rest.len && rest.ptr[0] == ':')
            rest = str_trim(str_sub(rest, 1, rest.len));
        if (v->parse ? v->parse(rest, &step) : parse_rest(rest, &step))
            return step;
        release_step(&step);
    }
    return (struct pilot_step){.verb = PILOT_UNKNOWN, .a = str_dup(text)};
}

static struct pilot_step *
add_step(struct pilot_plan *p, struct str text)
{
    ARRAY_GROW(p->steps, p->n, p->cap);
    p->steps[p->n] = parse_step(text);
    return &p->steps[p->n++];
}

/* "and" or a comma outside quotes, at or after from; *ret_end: behind it. */
static size_t
find_joint(struct str s, size_t from, size_t *ret_end)
{
    for (size_t i = from; i < s.len;) {
        if (opens_quote(s, i)) {
            i = skip_quoted(s, i);
            continue;
        }
        if (s.ptr[i] == ',' || word_at(s, i, "and")) {
            *ret_end = i + (s.ptr[i] == ',' ? 1 : 3);
            return i;
        }
        i++;
    }
    *ret_end = s.len;
    return s.len;
}

/* "read a, b and c": one answer reads them all. What begins with a verb ("read a and list src") is given back: a step of its own. */
static struct str
add_reads(struct pilot_plan *p, struct str text, size_t verb_len)
{
    size_t at = verb_len, end;
    bool first = true;
    while (at < text.len) {
        size_t to = find_joint(text, at, &end);
        struct str file = str_trim(str_sub(text, at, to - at));
        const struct verb *v = first ? NULL : verb_at(file, 0);
        if (v && file.len > strlen(v->word))
            return str_sub(text, (size_t)(file.ptr - text.ptr), text.len);
        if (file.len) {
            char *one = xasprintf("read %.*s", (int)file.len, file.ptr);
            add_step(p, str_from(one))->with_previous = !first;
            free(one);
            first = false;
        }
        at = end;
    }
    if (first)
        add_step(p, text);
    return (struct str){0};
}

/* Gives back what is still to be added. */
static struct str
add_part(struct pilot_plan *p, struct str text)
{
    const struct verb *v = verb_at(text, 0);
    if (v && v->verb == PILOT_READ)
        return add_reads(p, text, strlen(v->word));
    else
        add_step(p, text);
    return (struct str){0};
}

/* "Could you please ... for me, please?" Of a command nothing is cut at the end: it may mean it. */
static struct str
without_manners(struct str s)
{
    static const char *const openings[] = {
        "please",          "first", "now",    "can you", "could you", "would you", "i want you to",
        "i'd like you to", "let's", "go and", "and",     "then",      "also"};
    static const char *const endings[] = {"please", "for me", "now", "thanks"};
    for (size_t i = 0; i < ARRAY_LEN(openings); i++) {
        if (!word_at(s, 0, openings[i]) || s.len == strlen(openings[i]))
            continue;
        s = clean(str_sub(s, strlen(openings[i]), s.len));
        i = (size_t)-1;
    }
    struct str bare = s;
    while (bare.len && strchr("?!", bare.ptr[bare.len - 1]))
        bare = clean(str_sub(bare, 0, bare.len - 1));
    const struct verb *v = verb_at(bare, 0);
    if (!v || v->verb == PILOT_RUN || v->verb == PILOT_WRITE || v->verb == PILOT_TODO)
        return s;
    if (v->verb != PILOT_GLOB)
        s = bare;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        size_t n = strlen(endings[i]);
        if (s.len <= n + strlen(v->word) + 1 || !word_at(s, s.len - n, endings[i]))
            continue;
        s = clean(str_sub(s, 0, s.len - n));
        i = (size_t)-1;
    }
    return s;
}

void
pilot_parse(struct str prompt, struct pilot_plan *ret)
{
    *ret = (struct pilot_plan){0};
    prompt = str_trim(prompt);
    while (prompt.len) {
        size_t then = find_word(prompt, "then", 0);
        struct str part = clean(str_sub(prompt, 0, then == (size_t)-1 ? prompt.len : then));
        part = without_manners(part);
        while (part.len)
            part = add_part(ret, part);
        prompt =
            then == (size_t)-1 ? (struct str){0} : str_trim(str_sub(prompt, then + 4, prompt.len));
    }
}

void
pilot_plan_release(struct pilot_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        release_step(&p->steps[i]);
    free(p->steps);
    *p = (struct pilot_plan){0};
}
