#include "engine/spend_day.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"

#define FILE_MAX_ ((size_t)4096)
#define LOCK_MS 2000

/* The day of the person's clock. */
static void
name_day(char out[16])
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm tm = {0};
    (void)localtime_r(&now, &tm);
    (void)strftime(out, 16, "%Y-%m-%d", &tm);
}

/* A file that cannot be read as one counts as empty: money that was spent is not brought back by an error at each request. */
static bool
read_sum(const char *path, const char *day, double *ret_usd, struct err *err)
{
    struct buf b;
    bool found = false;
    buf_init(&b, FILE_MAX_);
    bool ok = fs_read_if(path, FILE_MAX_, &b, &found, err);
    struct cJSON *tree = ok && found ? json_parse(buf_str(&b), NULL) : NULL;
    double usd = str_is(json_str(tree, "day"), day) ? json_num(tree, "usd", 0) : 0;
    if (ok)
        *ret_usd = usd > 0 ? usd : 0;
    json_free(tree);
    buf_release(&b);
    return ok;
}

bool
spend_day_read(const char *data_dir, double *ret_usd, struct err *err)
{
    char day[16];
    name_day(day);
    char *path = fs_join(data_dir, "spend.json");
    bool ok = read_sum(path, day, ret_usd, err);
    free(path);
    return ok;
}

static bool
write_sum(const char *path, const char *day, double usd, struct err *err)
{
    struct buf b;
    buf_init(&b, FILE_MAX_);
    buf_addf(&b, "{\"day\":\"%s\",\"usd\":%.9f}\n", day, usd);
    /* Twice a disk's commit for each answer is too much for a sum of cents: a power cut may cost the newest of them. */
    bool ok = fs_write_soon(path, buf_str(&b), 0600, err);
    buf_release(&b);
    return ok;
}

bool
spend_day_add(const char *data_dir, double usd, struct err *err)
{
    char day[16];
    double sum = 0;
    name_day(day);
    char *path = fs_join(data_dir, "spend.json"), *lock = fs_join(data_dir, "spend.lock");
    int fd = -1;
    bool ok = fs_mkdirs(data_dir, 0700, err) && (fd = fs_lock(lock, LOCK_MS, err)) >= 0 &&
              read_sum(path, day, &sum, err) && write_sum(path, day, sum + usd, err);
    fs_unlock(lock, fd);
    free(path);
    free(lock);
    return ok;
}
