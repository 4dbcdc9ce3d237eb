#include "engine/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/core.h"
#include "tools/task.h"

#define WHAT_MAX 200
#define REMINDER_TAIL 1200 /* bytes of output in a reminder */

/* ---- events ---- */

/* The first line of the command. */
static struct str
short_command(const struct task_info *i)
{
    struct str s = str_trim(str_from(i->command));
    size_t nl = str_find(s, '\n', 0);
    return text_start(str_sub(s, 0, nl == (size_t)-1 ? s.len : nl), WHAT_MAX);
}

enum tool_state
tasks_shown_state(const struct task_info *i)
{
    if (i->state == TASK_RUNNING)
        return TOOL_RUNNING;
    if (i->state == TASK_STOPPED)
        return TOOL_CANCELLED;
    return task_failed(i) ? TOOL_FAILED : TOOL_DONE;
}

static struct event *
make_event(struct core *c, const struct task_info *i)
{
    struct event *e = event_new(EV_TASK);
    struct buf b, why;
    struct jw w;
    buf_init(&b, BUF_MAX);
    buf_init(&why, BUF_MAX);
    task_say_state(i, &why);
    jw_init(&w, &b);
    jw_object(&w);
    jw_key(&w, "task");
    jw_object(&w);
    jw_kcstr(&w, "id", i->id);
    jw_kcstr(&w, "tool_use_id", i->tool_use_id);
    jw_kcstr(&w, "name", "Bash");
    jw_kstr(&w, "what", short_command(i));
    jw_kcstr(&w, "state", tool_state_name(tasks_shown_state(i)));
    jw_kstr(&w, "why", buf_str(&why));
    jw_kint(&w, "pid", i->pid);
    jw_kint(&w, "bytes", (int64_t)i->bytes);
    jw_kint(&w, "elapsed_ms", i->elapsed_ms);
    jw_kcstr(&w, "last_line", i->last_line);
    if (i->spill_path)
        jw_kcstr(&w, "file", i->spill_path);
    jw_end(&w);
    jw_kint(&w, "running", (int64_t)task_count_running(c->tasks));
    jw_end(&w);
    buf_release(&why);
    e->u.task.json = buf_take(&b);
    return e;
}

static void
emit(struct core *c, struct task *t)
{
    struct task_info i;
    task_get(t, &i);
    core_emit(c, make_event(c, &i));
    task_info_release(&i);
}

/* The keeper's thread: only the queue and the table are touched. Where the reader is behind, this is left out. */
static void
on_progress(void *user, struct task *t)
{
    struct core *c = user;
    struct task_info i;
    task_get(t, &i);
    struct event *e = make_event(c, &i);
    if (!queue_try_push(c->out, e))
        event_free(e);
    task_info_release(&i);
}

static void
on_ended(void *user)
{
    struct core *c = user;
    waker_signal(c->wake);
}

/* ---- from start to end ---- */

void
tasks_init(struct core *c)
{
    const char *off = getenv("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS");
    const struct task_host host = {.user = c,
                                   .ended = on_ended,
                                   .progress = on_progress,
                                   .front_only = off && strcmp(off, "1") == 0};
    c->tasks = task_table_new(&host);
}

void
tasks_close(struct core *c)
{
    task_table_close(c->tasks);
    tasks_pump(c);
}

/* So that a later run of the session knows what the model waits to hear of. */
static void
note_task(struct core *c, const struct task_info *i, const char *state)
{
    struct buf b;
    struct jw w;
    buf_init(&b, BUF_MAX);
    jw_init(&w, &b);
    jw_object(&w);
    jw_kcstr(&w, "task", i->id);
    jw_kstr(&w, "what", short_command(i));
    jw_kcstr(&w, "state", state);
    jw_end(&w);
    core_note(c, "task", NULL, buf_str(&b));
    buf_release(&b);
}

void
tasks_announce(struct core *c, const char *id)
{
    struct task *t = task_find(c->tasks, str_from(id));
    if (!t)
        return;
    struct task_info i;
    task_get(t, &i);
    i.state = TASK_RUNNING; /* an end that came meanwhile is told next */
    core_emit(c, make_event(c, &i));
    note_task(c, &i, "running");
    task_info_release(&i);
    task_announce(t);
    task_unref(t);
    tasks_pump(c);
}

void
tasks_drop(struct core *c, const char *id)
{
    struct task *t = task_find(c->tasks, str_from(id));
    if (!t)
        return;
    task_forget(t);
    task_stop(t, true);
    task_unref(t);
}

void
tasks_pump(struct core *c)
{
    struct task *t;
    while ((t = task_table_next_ended(c->tasks)) != NULL) {
        emit(c, t);
        task_unref(t);
    }
}

bool
tasks_stop(struct core *c, struct str id)
{
    struct task *t = task_find(c->tasks, id);
    bool stopped = t && task_stop(t, true);
    if (stopped) {
        struct task_info i;
        task_get(t, &i);
        struct str what = short_command(&i);
        core_notice(c, "stopping %s (%.*s): interrupted first, killed if that is not enough", i.id,
                    (int)what.len, what.ptr);
        task_info_release(&i);
    }
    task_unref(t);
    return stopped;
}

void
tasks_session_changed(struct core *c, bool stop, const char *also)
{
    struct buf names;
    struct task *t;
    size_t n = task_count_running(c->tasks);
    if (!n)
        return;
    buf_init(&names, BUF_MAX);
    for (size_t k = 0; k < n && (t = task_running(c->tasks, k)) != NULL; k++) {
        struct task_info i;
        task_get(t, &i);
        struct str what = short_command(&i);
        buf_addf(&names, "%s%s (%.*s, pid %d)", k ? ", " : "", i.id, (int)what.len, what.ptr,
                 (int)i.pid);
        task_info_release(&i);
        task_forget(t); /* this model has not heard of it */
        if (stop)
            task_stop(t, true);
        task_unref(t);
    }
    if (stop)
        core_notice(c, "stopping what ran in the background: %s", buf_cstr(&names));
    else
        core_notice(c, "still running in the background: %s. Stop them in the activity pane%s",
                    buf_cstr(&names), also);
    buf_release(&names);
}

/* ---- to the model ---- */

static void
add_ending(struct core *c, struct task *t, struct buf *out)
{
    struct task_info i;
    struct buf tail;
    uint64_t from;
    task_get(t, &i);
    buf_init(&tail, BUF_MAX);
    task_read_tail(t, REMINDER_TAIL, &tail, &from, NULL);
    struct str what = short_command(&i), text = str_trim(buf_str(&tail));
    buf_addf(out, "\nBackground command %s (", i.id);
    buf_add_str(out, what);
    buf_adds(out, ") is over: ");
    task_say_state(&i, out);
    buf_addf(out, " after %.1f s, %llu bytes of output", (double)i.elapsed_ms / 1000,
             (unsigned long long)i.bytes);
    if (i.spill_path)
        buf_addf(out, " in %s", i.spill_path);
    buf_adds(out, text.len ? (from ? ". The end of it:\n" : ":\n") : ".");
    buf_add_str(out, text);
    if (i.sandbox_why)
        buf_addf(out, "\n[%s]", i.sandbox_why);
    note_task(c, &i, "told");
    buf_release(&tail);
    task_info_release(&i);
}

void
tasks_add_reminders(struct core *c, struct buf *out)
{
    struct task *t;
    while ((t = task_table_next_untold(c->tasks, c->session_id)) != NULL) {
        add_ending(c, t, out);
        task_unref(t);
    }
}
