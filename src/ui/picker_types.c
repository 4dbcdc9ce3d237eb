/* What can be chosen from a list: sessions, models, modes. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/verdict.h"
#include "ui/fmt.h"
#include "ui/picker.h"

/* "now", "5m", "3h", "12d" ago, and the day where that says more. */
static void
add_age(struct buf *b, int64_t then_ms, int64_t now_ms)
{
    int64_t s = (now_ms - then_ms) / 1000;
    if (then_ms <= 0) {
        buf_adds(b, "-");
    } else if (s < 60) {
        buf_adds(b, "now");
    } else if (s < 3600) {
        buf_addf(b, "%lldm ago", (long long)(s / 60));
    } else if (s < 86400) {
        buf_addf(b, "%lldh ago", (long long)(s / 3600));
    } else if (s < 30 * 86400) {
        buf_addf(b, "%lldd ago", (long long)(s / 86400));
    } else {
        time_t t = (time_t)(then_ms / 1000);
        struct tm tm;
        char day[16] = "";
        if (localtime_r(&t, &tm))
            (void)strftime(day, sizeof day, "%Y-%m-%d", &tm);
        buf_adds(b, day);
    }
}

/* ---- sessions ---- */

static const struct table_column session_cols[] = {
    {"", 1, false, false, 8},           {"what", 20, false, true, 9},
    {"last used", 10, false, false, 8}, {"messages", 8, true, false, 4},
    {"size", 6, true, false, 2},        {"id", 8, false, false, 5},
    {"folder", 20, false, false, 1},
};

static void
session_cells(const struct cJSON *row, int64_t now_ms, struct buf *cells)
{
    const char *title = json_cstr(row, "title", ""), *cwd = json_cstr(row, "cwd", "");
    const char *slash = strrchr(cwd, '/');
    buf_adds(&cells[1], *title ? title : "(no prompt yet)");
    if (json_bool(row, "print", false))
        buf_adds(&cells[1], " (-p)");
    add_age(&cells[2], json_int(row, "last_ms", 0), now_ms);
    buf_addf(&cells[3], "%lld", (long long)json_count(row, "messages"));
    if (json_at(row, "bytes"))
        fmt_bytes(&cells[4], json_count(row, "bytes"));
    buf_addf(&cells[5], "%.8s", json_cstr(row, "id", ""));
    buf_adds(&cells[6], slash && slash[1] ? slash + 1 : cwd);
}

static void
session_command(const struct cJSON *row, struct buf *out)
{
    buf_addf(out, "/resume %s", json_cstr(row, "id", ""));
}

const struct picker_type picker_sessions = {
    .title = "sessions of this project",
    .verb = "goes on with it",
    .query = QUERY_SESSIONS,
    .list = "sessions",
    .key = "id",
    .engine_sifts = true,
    .empty = "no session yet: what is said here becomes the first one",
    .cols = session_cols,
    .n_cols = ARRAY_LEN(session_cols),
    .cells = session_cells,
    .command = session_command,
};

/* ---- models ---- */

static const struct table_column model_cols[] = {
    {"", 1, false, false, 8},
    {"model", 18, false, true, 9},
    {"context", 7, true, false, 6},
    {"out", 6, true, false, 3},
    {"$ in/out MTok", 13, true, false, 7},
    {"provider", 10, false, false, 2},
    {"known from", 10, false, false, 1},
};

static void
add_price(struct buf *b, const struct cJSON *price)
{
    if (!json_is_object(price)) {
        buf_adds(b, "n/a");
        return;
    }
    fmt_usd(b, json_num(price, "in", 0));
    buf_addc(b, '/');
    fmt_usd(b, json_num(price, "out", 0));
}

static void
add_known(struct buf *b, int64_t n)
{
    if (n > 0)
        fmt_count(b, n);
    else
        buf_adds(b, "n/a");
}

static void
model_cells(const struct cJSON *row, int64_t now_ms, struct buf *cells)
{
    (void)now_ms;
    const char *id = json_cstr(row, "id", ""), *shown = json_cstr(row, "shown", "");
    buf_adds(&cells[0], json_bool(row, "current", false) ? "*" : "");
    buf_adds(&cells[1], id);
    if (*shown && strcmp(shown, id) != 0)
        buf_addf(&cells[1], "  %s", shown);
    add_known(&cells[2], json_count(row, "context"));
    add_known(&cells[3], json_count(row, "max_output"));
    add_price(&cells[4], json_at(row, "price"));
    buf_adds(&cells[5], json_cstr(row, "provider", ""));
    buf_adds(&cells[6], json_cstr(row, "where", ""));
}

static void
model_command(const struct cJSON *row, struct buf *out)
{
    buf_addf(out, "/model %s", json_cstr(row, "id", ""));
}

const struct picker_type picker_models = {
    .title = "models",
    .verb = "uses it",
    .query = QUERY_MODELS,
    .list = "models",
    .empty = "no model is known: /model NAME takes any",
    .cols = model_cols,
    .n_cols = ARRAY_LEN(model_cols),
    .cells = model_cells,
    .command = model_command,
};

/* ---- modes ---- */

static const struct table_column mode_cols[] = {
    {"", 1, false, false, 8}, {"mode", 14, false, false, 9}, {"what it does", 20, false, true, 5}};

static void
mode_cells(const struct cJSON *row, int64_t now_ms, struct buf *cells)
{
    (void)now_ms;
    buf_adds(&cells[1], json_cstr(row, "name", ""));
    buf_adds(&cells[2], json_cstr(row, "what", ""));
}

static void
mode_command(const struct cJSON *row, struct buf *out)
{
    buf_addf(out, "/mode %s", json_cstr(row, "name", ""));
}

const struct picker_type picker_modes = {
    .title = "permission mode",
    .verb = "sets it",
    .query = -1,
    .rows =
        "{\"modes\":["
        "{\"name\":\"default\",\"what\":\"asks before edits and commands that no rule allows\"},"
        "{\"name\":\"acceptEdits\",\"what\":\"edits, mkdir, touch, mv, cp, sed in the project "
        "run\"},"
        "{\"name\":\"plan\",\"what\":\"reads and plans, changes nothing\"},"
        "{\"name\":\"auto\",\"what\":\"AFK: as acceptEdits; the classifier decides the rest\"},"
        "{\"name\":\"dontAsk\",\"what\":\"what would be asked is refused\"}"
        "]}",
    .list = "modes",
    .key = "name",
    .empty = "",
    .cols = mode_cols,
    .n_cols = ARRAY_LEN(mode_cols),
    .cells = mode_cells,
    .command = mode_command,
};
