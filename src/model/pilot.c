#include "model/pilot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char pilot_help[] = "I am yare's offline pilot, **not a language model**: I follow plain "
                          "instructions with yare's real tools, so that you can try "
                          "the screen, the keys and the permissions.\n\n"
                          "| say | what I do |\n|---|---|\n"
                          "| `read FILE` | show a file to the conversation |\n"
                          "| `list` or `list DIR` | list files |\n"
                          "| `find PATTERN` or `find PATTERN in DIR` | search file contents |\n"
                          "| `files GLOB` | find files by name |\n"
                          "| `run COMMAND` | run a shell command |\n"
                          "| `replace A with B in FILE` | edit a file |\n"
                          "| `write TEXT to FILE` | make or overwrite a file |\n"
                          "| `todo A, B, C` | keep a todo list |\n"
                          "| `help` | this |\n\n"
                          "Join several with `then`; quote texts that hold such words.\n\n"
                          "To connect a model, set `ANTHROPIC_API_KEY` (and `ANTHROPIC_BASE_URL` "
                          "for another server) and start yare again. "
                          "`--provider` and the setting `provider` choose by hand.\n";

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

static char *
unquote(struct str s)
{
    s = str_trim(s);
    if (s.len >= 2 && is_quote(s.ptr[0]) && s.ptr[s.len - 1] == s.ptr[0])
        s = str_sub(s, 1, s.len - 2);
    return str_dup(s);
}

/* Cuts "the file x" and "file x" down to x. */
static struct str
operand(struct str s)
{
    static const char *const fillers[] = {"the", "file", "files", "folder", "directory"};
    s = str_trim(s);
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
        if (word_at(s, 0, fillers[i]) && s.len > strlen(fillers[i]))
            s = str_trim(str_sub(s, strlen(fillers[i]), s.len));
    return s;
}

static void
parse_todo(struct str rest, struct pilot_step *step)
{
    struct buf items;
    struct str part;
    buf_init(&items, BUF_MAX);
    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (items.len && part.len)
            buf_addc(&items, '\n');
        buf_add_str(&items, part);
    }
    step->a = buf_take(&items);
}

static bool
parse_find(struct str rest, struct pilot_step *step)
{
    size_t in = find_last_word(rest, "in");
    step->a = unquote(str_sub(rest, 0, in == (size_t)-1 ? rest.len : in));
    step->b = in == (size_t)-1 ? NULL : unquote(operand(str_sub(rest, in + 2, rest.len)));
    return step->a[0] != '\0';
}

static bool
parse_replace(struct str rest, struct pilot_step *step)
{
    size_t with = find_word(rest, "with", 0), in = find_last_word(rest, "in");
    if (with == (size_t)-1 || in == (size_t)-1 || in < with)
        return false;
    step->a = unquote(str_sub(rest, 0, with));
    step->b = unquote(str_sub(rest, with + 4, in - with - 4));
    step->c = unquote(operand(str_sub(rest, in + 2, rest.len)));
    return step->a[0] && step->c[0];
}

static bool
parse_write(struct str rest, struct pilot_step *step)
{
    size_t to = find_last_word(rest, "to");
    if (to == (size_t)-1)
        return false;
    step->a = unquote(str_sub(rest, 0, to));
    step->b = unquote(operand(str_sub(rest, to + 2, rest.len)));
    return step->b[0] != '\0';
}

static bool
parse_operand(struct str rest, struct pilot_step *step)
{
    step->a = unquote(operand(rest));
    return step->a[0] != '\0';
}

static const struct verb {
    const char *word;
    enum pilot_verb verb;
} verbs[] = {
    {"read", PILOT_READ}, {"show", PILOT_READ},       {"list", PILOT_LIST},
    {"ls", PILOT_LIST},   {"find", PILOT_FIND},       {"search", PILOT_FIND},
    {"grep", PILOT_FIND}, {"files", PILOT_GLOB},      {"glob", PILOT_GLOB},
    {"run", PILOT_RUN},   {"replace", PILOT_REPLACE}, {"write", PILOT_WRITE},
    {"todo", PILOT_TODO}, {"help", PILOT_HELP},
};

static bool
parse_rest(struct str rest, struct pilot_step *step)
{
    switch (step->verb) {
    case PILOT_READ:
    case PILOT_GLOB:
        return parse_operand(rest, step);
    case PILOT_LIST:
        parse_operand(rest, step);
        return true;
    case PILOT_FIND:
        return parse_find(word_at(rest, 0, "for") ? str_trim(str_sub(rest, 3, rest.len)) : rest,
                          step);
    case PILOT_RUN:
        step->a = unquote(rest);
        return step->a[0] != '\0';
    case PILOT_REPLACE:
        return parse_replace(rest, step);
    case PILOT_WRITE:
        return parse_write(rest, step);
    case PILOT_TODO:
        parse_todo(rest, step);
        return step->a[0] != '\0';
    case PILOT_HELP:
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
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (!word_at(text, 0, verbs[i].word))
            continue;
        struct pilot_step step = {.verb = verbs[i].verb};
        struct str rest = str_trim(str_sub(text, strlen(verbs[i].word), text.len));
        if (rest.len && rest.ptr[0] == ':')
            rest = str_trim(str_sub(rest, 1, rest.len));
        if (parse_rest(rest, &step))
            return step;
        release_step(&step);
    }
    return (struct pilot_step){.verb = PILOT_UNKNOWN, .a = str_dup(text)};
}

static void
add_step(struct pilot_plan *p, struct str text)
{
    ARRAY_GROW(p->steps, p->n, p->cap);
    p->steps[p->n++] = parse_step(text);
}

void
pilot_parse(struct str prompt, struct pilot_plan *ret)
{
    *ret = (struct pilot_plan){0};
    prompt = str_trim(prompt);
    while (prompt.len) {
        size_t then = find_word(prompt, "then", 0);
        struct str part = clean(str_sub(prompt, 0, then == (size_t)-1 ? prompt.len : then));
        if (part.len)
            add_step(ret, part);
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
