#include "engine/spend_day.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"

#define FILE_MAX_ ((size_t)4096)
#define LOCK_MS 2000
/* Of the day's sum, at most this part may be lost in a power cut. */
#define UNSURE_PART 0.05

struct day_files {
    char day[16], *sum, *kept, *lock; /* kept: the sum as it was when it last waited for the disk */
};
struct day_sum {
    double usd, kept;
};

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
read_one(const char *path, const char *day, double *ret_usd, bool *ret_found, struct err *err)
{
    struct buf b;
    buf_init(&b, FILE_MAX_);
    bool ok = fs_read_if(path, FILE_MAX_, &b, ret_found, err);
    struct cJSON *tree = ok && *ret_found ? json_parse(buf_str(&b), NULL) : NULL;
    double usd = str_is(json_str(tree, "day"), day) ? json_num(tree, "usd", 0) : 0;
    if (ok)
        *ret_usd = usd > 0 ? usd : 0;
    json_free(tree);
    buf_release(&b);
    return ok;
}

/* A power cut may have left an empty file, or an older one: then what is kept for sure counts. Where no file is, nothing does. */
static bool
read_sum(const struct day_files *f, struct day_sum *ret, struct err *err)
{
    bool found = false, found_kept = false;
    *ret = (struct day_sum){0};
    if (!read_one(f->sum, f->day, &ret->usd, &found, err))
        return false;
    if (!found)
        return true;
    if (!read_one(f->kept, f->day, &ret->kept, &found_kept, err))
        return false;
    if (ret->kept > ret->usd)
        ret->usd = ret->kept;
    return true;
}

static void
name_files(struct day_files *f, const char *data_dir)
{
    name_day(f->day);
    f->sum = fs_join(data_dir, "spend.json");
    f->kept = fs_join(data_dir, "spend.kept.json");
    f->lock = fs_join(data_dir, "spend.lock");
}

static void
release_files(struct day_files *f)
{
    free(f->sum);
    free(f->kept);
    free(f->lock);
}

bool
spend_day_read(const char *data_dir, double *ret_usd, struct err *err)
{
    struct day_files f;
    struct day_sum sum;
    name_files(&f, data_dir);
    bool ok = read_sum(&f, &sum, err);
    if (ok)
        *ret_usd = sum.usd;
    release_files(&f);
    return ok;
}

/* Twice a disk's commit for each answer is too much for a sum of cents: it waits for the disk only where a twentieth of the day has come
 * together since it did. */
static bool
write_sum(const struct day_files *f, double usd, double kept, struct err *err)
{
    struct buf b;
    buf_init(&b, FILE_MAX_);
    buf_addf(&b, "{\"day\":\"%s\",\"usd\":%.9f}\n", f->day, usd);
    bool ok = fs_write_soon(f->sum, buf_str(&b), 0600, err);
    struct err unsure;
    /* it is added by now: an error would have it added once more */
    if (ok && usd * (1 - UNSURE_PART) > kept &&
        !fs_write_atomic(f->kept, buf_str(&b), 0600, &unsure))
        log_warn("spend", "%s", unsure.text);
    buf_release(&b);
    return ok;
}

bool
spend_day_add(const char *data_dir, double usd, struct err *err)
{
    struct day_files f;
    struct day_sum sum;
    int fd = -1;
    name_files(&f, data_dir);
    bool ok = fs_mkdirs(data_dir, 0700, err) && (fd = fs_lock(f.lock, LOCK_MS, err)) >= 0 &&
              read_sum(&f, &sum, err) && write_sum(&f, sum.usd + usd, sum.kept, err);
    fs_unlock(f.lock, fd);
    release_files(&f);
    return ok;
}
