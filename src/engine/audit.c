#include "engine/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"

/* Inputs past this are cut in the log: a Write holds the whole file. */
#define INPUT_MAX ((size_t)16 << 10)

static void
write_entry(const struct audit_entry *e, struct buf *out)
{
    struct buf when;
    buf_init(&when, 64);
    clock_iso8601(clock_wall_ms(), &when);
    struct jw w;
    jw_init(&w, out);
    jw_object(&w);
    jw_kstr(&w, "time", buf_str(&when));
    jw_kcstr(&w, "session_id", e->session_id);
    jw_kcstr(&w, "tool_use_id", e->tool_use_id);
    jw_kcstr(&w, "tool", e->tool);
    jw_kcstr(&w, "what", e->what);
    jw_kcstr(&w, "cwd", e->cwd);
    jw_kcstr(&w, "mode", perm_mode_name(e->mode));
    if (e->input.len <= INPUT_MAX)
        jw_kstr(&w, "input", e->input);
    else
        jw_kstr(&w, "input_start", str_sub(e->input, 0, INPUT_MAX));
    jw_kcstr(&w, "who", e->who);
    jw_kbool(&w, "allowed", e->allowed);
    jw_kint(&w, "waited_ms", e->waited_ms);
    decision_write(e->decision, &w);
    jw_end(&w);
    buf_addc(out, '\n');
    buf_release(&when);
}

/* Half a line that a full disk or a power cut left must not take the next entry with it. */
static bool
ends_in_half_a_line(int fd)
{
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

bool
audit_append(const char *path, const struct audit_entry *e, struct err *err)
{
    char *dir = fs_dirname(path);
    bool ok = fs_mkdirs(dir, 0700, err);
    free(dir);
    if (!ok)
        return err_wrap(err, "audit log");
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_sys(err, errno, "cannot open the audit log '%s'", path);
    struct buf line;
    buf_init(&line, BUF_MAX);
    if (ends_in_half_a_line(fd))
        buf_addc(&line, '\n');
    write_entry(e, &line);
    ok = buf_full(&line) ? err_set(err, ERR_LIMIT, "an entry is too large")
                         : fs_write_all(fd, buf_str(&line), err);
    if (close(fd) != 0 && ok)
        ok = err_sys(err, errno, "cannot write");
    buf_release(&line);
    return ok ? true : err_wrap(err, "audit log '%s'", path);
}
