/*
 * Runs a fuzz target over the files of folders, and over each of them cut short. With --ms-per-kb N first it measures
 * instead: the CPU time of each whole file against N ms per KB begun; for a release build on a corpus that a fuzzer left.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double limit; /* ms per KB; 0: runs, and does not measure */
static int over;

static double
cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The better of two runs: a machine that is busy is slower, never faster. */
static void
measure_file(const char *path, const struct buf *b)
{
    double best = 0, kb = (double)((b->len + 1023) / 1024);
    for (int i = 0; i < 2; i++) {
        double start = cpu_ms();
        (void)LLVMFuzzerTestOneInput((const uint8_t *)b->data, b->len);
        double took = cpu_ms() - start;
        best = i == 0 || took < best ? took : best;
    }
    if (b->len && best / kb > limit) {
        printf("%s: %zu bytes, %.1f ms\n", path, b->len, best);
        over++;
    }
}

static void
run_file(const char *path)
{
    struct buf b;
    struct err err;
    buf_init(&b, (size_t)1 << 20);
    if (!fs_read(path, b.max, &b, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    if (limit > 0) {
        measure_file(path, &b);
        buf_release(&b);
        return;
    }
    /* a long one is cut at fewer places: each costs its whole length */
    size_t step = b.len / (b.len > 2000 ? 12 : 200) + 1;
    for (size_t n = 0; n <= b.len; n += step) {
        /* memory of that very size, so that a sanitizer sees a step too far */
        uint8_t *copy = xmalloc(n + 1);
        if (n)
            memcpy(copy, b.data, n);
        (void)LLVMFuzzerTestOneInput(copy, n);
        free(copy);
    }
    buf_release(&b);
}

int
main(int argc, char **argv)
{
    int files = 0, first = 1;
    if (argc > 2 && strcmp(argv[1], "--ms-per-kb") == 0) {
        limit = strtod(argv[2], NULL);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        for (struct dirent *e; d && (e = readdir(d));) {
            if (e->d_name[0] == '.')
                continue;
            char *path = fs_join(argv[i], e->d_name);
            run_file(path);
            free(path);
            files++;
        }
        if (d)
            closedir(d);
    }
    printf("%d files", files);
    if (limit > 0)
        printf(", %d over %.0f ms per KB", over, limit);
    printf("\n");
    return files && !over ? 0 : 1;
}
