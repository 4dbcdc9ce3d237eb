/* One piece of work from its text to EV_RESULT: 1 the system prompt stands, frozen with the session;
 * 2 the input is processed; 3 the transcript is on disk before any request; 4 the loop; 5 the result. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "base/uuid.h"
#include "engine/attach.h"
#include "engine/context.h"
#include "engine/engine_private.h"
#include "engine/executor.h"
#include "engine/hidden.h"
#include "engine/loop.h"
#include "engine/permit.h"
#include "store/shell_line.h"

#define ATTACH_MAX ((size_t)256 << 10)
#define ATTACHED_FILES 16
#define NOT_ATTACHED "not attached: %s: %s"

/* ---- @files ---- */

/* A line of what is told below the prompt, in words for the person. */
__attribute__((format(printf, 2, 3))) static void
say_attached(struct buf *told, const char *fmt, ...)
{
    va_list ap;
    if (told->len)
        buf_addc(told, '\n');
    va_start(ap, fmt);
    buf_vaddf(told, fmt, ap);
    va_end(ap);
}

/* May the file be read? The deny rules hold here as they do for the Read tool. Why not, under the name that was typed, goes to `told`. */
static bool
may_read(struct core *c, const char *path, const char *name, struct buf *told)
{
    const struct tool *read = c->seams.tool_find(STR("Read"));
    if (!read)
        return false;
    struct buf raw, reason;
    buf_init(&raw, BUF_MAX);
    buf_init(&reason, BUF_MAX);
    buf_adds(&raw, "{\"file_path\":");
    json_quote(&raw, str_from(path));
    buf_addc(&raw, '}');
    char id[UUID_LEN + 1];
    uuid_make(id);
    struct cJSON *tree = json_parse(buf_str(&raw), NULL);
    const struct permit_call call = {
        .id = id, .tool = read, .input = tree, .raw = buf_str(&raw), .person = true};
    uint64_t ask;
    bool ok = tree && permit_judge(c->permit, &call, &reason, &ask) == PERMIT_ALLOW;
    if (!ok) {
        struct buf plain;
        buf_init(&plain, BUF_MAX);
        permit_for_person(buf_str(&reason), &plain);
        const char *why = buf_cstr(&plain), denied[] = "permission denied: ";
        size_t known = strncmp(why, denied, sizeof denied - 1) == 0 ? sizeof denied - 1 : 0;
        say_attached(told, NOT_ATTACHED, name, why + known);
        buf_release(&plain);
    }
    json_free(tree);
    buf_release(&raw);
    buf_release(&reason);
    return ok;
}

/* `name` is what the person wrote of it; what came of it is a line of `told`. */
static void
attach(struct core *c, struct message_builder *b, const char *path, const char *name,
       struct buf *told)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        say_attached(told,
                     errno == ENOENT || errno == ENOTDIR ? "no such file: %s"
                                                         : "cannot be looked at: %s",
                     name);
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        say_attached(told,
                     S_ISDIR(st.st_mode) ? "a folder, not attached: %s"
                                         : "not a file, not attached: %s",
                     name);
        return;
    }
    if (!may_read(c, path, name, told))
        return;
    struct buf content, text;
    struct err err = {0};
    buf_init(&content, ATTACH_MAX);
    buf_init(&text, BUF_MAX);
    if (!fs_read(path, ATTACH_MAX, &content, &err)) {
        say_attached(told, NOT_ATTACHED, name, err.text);
    } else if (!text_valid_utf8(buf_str(&content)) || memchr(content.data, 0, content.len)) {
        say_attached(told, NOT_ATTACHED, name, "it is no text");
    } else {
        buf_addf(&text, HIDDEN_FILE "%s" HIDDEN_FILE_CONTENT, path);
        buf_add_str(&text, buf_str(&content));
        buf_adds(&text, "\n" HIDDEN_END);
        message_add_text(b, buf_str(&text));
        say_attached(told, "attached %s", name);
        size_t n = text_lines(buf_str(&content));
        buf_addf(told, " (%zu line%s)", n, n == 1 ? "" : "s");
        file_state_note(c->files, path, fs_mtime_ns(&st), buf_str(&content));
    }
    buf_release(&content);
    buf_release(&text);
}

static bool
is_space(char ch)
{
    return ch == ' ' || ch == '\n' || ch == '\t';
}

/* The name after an '@', which ends at a blank, or at the second quote of @"a name with blanks". */
static struct str
named_file(struct str text, size_t *at)
{
    size_t from = *at, end = from;
    if (from < text.len && text.ptr[from] == '"') {
        end = str_find(text, '"', from + 1);
        size_t newline = str_find(text, '\n', from);
        if (end != (size_t)-1 && (newline == (size_t)-1 || end < newline)) {
            *at = end + 1;
            return str_sub(text, from + 1, end - from - 1);
        }
        end = from;
    }
    while (end < text.len && !is_space(text.ptr[end]))
        end++;
    *at = end;
    return str_sub(text, from, end - from);
}

/* A mark that ends the sentence is not the name's, unless there is such a file. */
static char *
path_of(const struct core *c, char *name)
{
    char *path = name[0] ? fs_normalize(c->cwd, name) : NULL;
    struct stat st;
    size_t n = strlen(name);
    while (path && n > 1 && strchr(".,;:!?)", name[n - 1]) && stat(path, &st) != 0) {
        name[--n] = '\0';
        free(path);
        path = fs_normalize(c->cwd, name);
    }
    return path;
}

static void
attach_files(struct core *c, struct message_builder *b, struct str text, struct buf *told)
{
    int left = ATTACHED_FILES;
    /* what came over a pipe is no person's word: it names no files */
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\n' && str_starts(str_sub(text, i, text.len), "\n" PIPED_BEGIN "\n"))
            text.len = i;
    for (size_t i = 0; i < text.len && left > 0; i++) {
        if (text.ptr[i] != '@' || (i > 0 && !is_space(text.ptr[i - 1])))
            continue;
        size_t end = i + 1;
        struct str word = named_file(text, &end);
        char *name = str_dup(word);
        char *path = path_of(c, name);
        if (path) {
            attach(c, b, path, name, told);
            left--;
        }
        free(name);
        free(path);
        i = end;
    }
}

void
submit_attach_files(struct core *c, struct message_builder *b, const char *text)
{
    struct buf told;
    buf_init(&told, (size_t)1 << 20);
    attach_files(c, b, str_from(text), &told);
    if (told.len)
        core_notice(c, "%s", buf_cstr(&told));
    buf_release(&told);
}

/* ---- the result ---- */

static char *
as_json(void (*write)(const void *, struct buf *), const void *what)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    write(what, &b);
    return buf_take(&b);
}

static void
write_models(const void *p, struct buf *out)
{
    usage_write_models(p, out);
}

static void
write_usage(const void *p, struct buf *out)
{
    usage_write(p, out);
}

static void
write_denials(const void *p, struct buf *out)
{
    permit_write_denials(p, out);
}

char *
submit_errors(const struct err *err)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_array(&w);
    jw_cstr(&w, err->text);
    jw_end(&w);
    return buf_take(&b);
}

static void
emit_result(struct engine *e, const struct loop_result *r, struct cancel *turn, int64_t began_ms,
            int64_t turns, char *take_text)
{
    struct core *c = &e->core;
    struct event *ev = event_new(EV_RESULT);
    ev->u.result.subtype = loop_exit_subtype(r->exit);
    ev->u.result.exit = loop_exit_name(r->exit);
    ev->u.result.exit_code = loop_exit_code(r->exit, cancel_fired(turn));
    ev->u.result.is_error = ev->u.result.exit_code != 0;
    ev->u.result.text = take_text;
    ev->u.result.duration_ms = clock_mono_ms() - began_ms;
    ev->u.result.api_ms = r->api_ms;
    ev->u.result.turns = turns;
    ev->u.result.cost_usd = c->usage.cost_usd;
    if (r->stop != STOP_NONE)
        ev->u.result.stop_reason = xstrdup(stop_reason_name(r->stop));
    if (r->err.text[0])
        ev->u.result.errors = submit_errors(&r->err);
    ev->u.result.model_usage = as_json(write_models, &c->passport);
    ev->u.result.usage = as_json(write_usage, &c->usage.submit);
    ev->u.result.denials = as_json(write_denials, c->permit);
    core_emit(c, ev);
}

/* ---- a prompt ---- */

/* Memory goes before the first prompt, as a message of yare's own. */
static bool
append_memory(struct core *c, struct err *err)
{
    if (c->state.n)
        return true;
    if (c->prompt.left_out.len)
        core_notice(c, "instructions were left out: %s", buf_cstr(&c->prompt.left_out));
    if (!c->prompt.memory.len)
        return true;
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, buf_str(&c->prompt.memory));
    struct message *m = message_build(b);
    if (!m)
        return true;
    m->hidden = true;
    return core_append(c, m, err);
}

/* On disk and synced, then acknowledged. */
static bool
append_prompt(struct core *c, const char *text, struct err *err)
{
    struct message_builder *b = message_builder_new(ROLE_USER);
    message_add_text(b, str_from(text));
    if (!message_builder_len(b)) {
        message_builder_free(b);
        return err_set(err, ERR_INVALID, "the prompt is empty");
    }
    struct buf told;
    buf_init(&told, (size_t)1 << 20);
    bool pins[PINS_MAX]; /* what cannot be written now is told with the next prompt */
    enum perm_mode mode = c->told_mode;
    memcpy(pins, c->pins.told, sizeof pins);
    attach_files(c, b, str_from(text), &told);
    attach_all(c, b);
    struct message *m = message_build(b);
    if (!m) {
        buf_release(&told);
        return err_set(err, ERR_LIMIT, "the prompt is too large");
    }
    bool ok = append_memory(c, err) && core_append(c, message_ref(m), err);
    if (!ok) {
        memcpy(c->pins.told, pins, sizeof pins);
        c->told_mode = mode;
    }
    ok = ok && core_sync(c, err);
    if (ok)
        core_emit_user(c, m, text, false);
    if (ok)
        attach_emit(c, m);
    if (ok && told.len)
        core_notice(c, "%s", buf_cstr(&told));
    buf_release(&told);
    message_free(m);
    return ok;
}

/* What was typed and did not join becomes the next prompt. After an interrupt it does not: nobody wants it to start by itself then, and
 * whoever posted it has it. */
static void
requeue_steers(struct engine *e, enum loop_exit exit)
{
    struct buf b;
    bool dropped = exit == EXIT_ABORTED_STREAMING || exit == EXIT_ABORTED_TOOLS;
    buf_init(&b, BUF_MAX);
    for (size_t i = 0; i < e->n_steer; i++) {
        if (dropped) {
            free(e->steer[i]);
            continue;
        }
        if (b.len)
            buf_adds(&b, "\n\n");
        buf_adds(&b, e->steer[i]);
        free(e->steer[i]);
    }
    e->n_steer = 0;
    if (b.len)
        ops_queue_work(e, WORK_PROMPT, buf_cstr(&b), true, true);
    buf_release(&b);
}

static void
run_prompt(struct engine *e, const char *text, struct cancel *turn, struct loop_result *r)
{
    struct core *c = &e->core;
    core_need_messages(c);
    if (!append_prompt(c, text, &r->err)) {
        r->exit = EXIT_MODEL_ERROR;
        core_error(c, &r->err, NULL);
        return;
    }
    core_save_passport(c, SESSION_RUNNING, NULL);
    loop_run(e, turn, r);
    c->passport.turns += c->state.turn;
}

/* ---- a command typed with '!' ---- */

static bool
append_shell(struct core *c, const char *command, struct str output, const char *ends,
             struct err *err)
{
    struct buf b;
    buf_init(&b, BUF_MAX);
    shell_line_write(&b, str_from(command), output);
    struct message_builder *mb = message_builder_new(ROLE_USER);
    message_add_text(mb, buf_str(&b));
    if (ends)
        message_set_ends(mb, str_from(ends));
    buf_release(&b);
    struct message *m = message_build(mb);
    if (!m)
        return err_set(err, ERR_LIMIT, "the output is too large");
    return core_append(c, m, err) && core_sync(c, err);
}

/* The line stands above its output on every screen, so it is told before it runs. */
static void
emit_shell_line(struct core *c, const char *command)
{
    struct event *e = event_new(EV_USER);
    e->place = core_next_place(c);
    e->u.user.text = xasprintf("!%s", command);
    core_emit(c, e);
}

static void
wait_shell(struct engine *e, struct cancel *turn)
{
    struct core *c = &e->core;
    while (!executor_done(c->executor)) {
        if (cancel_fired(turn) == CANCEL_NONE)
            waker_wait(c->wake, -1);
        waker_clear(c->wake);
        ops_drain(e);
        if (cancel_fired(turn) != CANCEL_NONE)
            executor_abort(c->executor, cancel_fired(turn));
        else
            executor_pump(c->executor);
    }
}

static char *
run_shell(struct engine *e, const char *line, struct cancel *turn, struct loop_result *r)
{
    struct core *c = &e->core;
    struct str command = str_trim(str_from(line));
    char *cmd = str_dup(str_trim(str_sub(command, 1, command.len)));
    struct buf input, text;
    buf_init(&input, BUF_MAX);
    buf_init(&text, BUF_MAX);
    buf_adds(&input, "{\"command\":");
    json_quote(&input, str_from(cmd));
    buf_addc(&input, '}');
    char uuid[UUID_LEN + 1];
    uuid_make(uuid);
    char *id = xasprintf("person_%s", uuid);
    bool failed = false;
    emit_shell_line(c, cmd);
    executor_begin(c->executor, turn, true);
    executor_add(c->executor, str_from(id), STR("Bash"), buf_str(&input), false);
    wait_shell(e, turn);
    char *ends;
    executor_person_result(c->executor, &text, &ends, &failed);
    r->exit = cancel_fired(turn) != CANCEL_NONE ? EXIT_ABORTED_TOOLS : EXIT_COMPLETED;
    if (!append_shell(c, cmd, buf_str(&text), ends, &r->err)) {
        r->exit = EXIT_MODEL_ERROR;
        core_error(c, &r->err, NULL);
    }
    free(id);
    free(cmd);
    free(ends);
    buf_release(&input);
    return buf_take(&text);
}

/* ---- all kinds ---- */

void
submit_run(struct engine *e, struct work *take_w)
{
    struct core *c = &e->core;
    struct loop_result r = {.exit = EXIT_COMPLETED};
    int64_t began = clock_mono_ms();
    struct cancel *turn = engine_begin_turn(e);
    char *text = NULL;
    state_begin_submit(&c->state, c->passport.turns);
    permit_begin_submit(c->permit);
    c->usage.submit = (struct usage){0};
    if (take_w->kind == WORK_PROMPT) {
        permit_hear(c->permit, take_w->text);
        run_prompt(e, take_w->text, turn, &r);
    } else if (take_w->kind == WORK_SHELL) {
        text = run_shell(e, take_w->text, turn, &r);
    } else {
        struct buf answer;
        buf_init(&answer, BUF_MAX);
        if (!command_run(e, take_w->text, &answer, &r.err))
            r.exit = EXIT_COMMAND_FAILED;
        text = buf_take(&answer);
    }
    if (take_w->kind == WORK_PROMPT)
        text = loop_final_text(&c->state);
    engine_end_turn(e);
    bool failed = loop_exit_code(r.exit, cancel_fired(turn)) != 0;
    core_save_passport(c, failed ? SESSION_ERROR : SESSION_IDLE, r.err.text[0] ? r.err.text : NULL);
    if (take_w->wants_result)
        emit_result(e, &r, turn, began, c->state.turn, text);
    else
        free(text);
    requeue_steers(e, r.exit);
    cancel_free(turn);
    work_free(take_w);
}
