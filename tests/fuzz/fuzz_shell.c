/* Any bytes as a shell command: the analyser may ask, it may not crash, hang or leak. Build with YARE_FUZZ. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "perm/leaf.h"

enum { WORK_MAX = 64000 }; /* the analyser's cap and its last step */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct perm_shell_env env = {.cwd = "/proj", .home = "/home/dev", .root = "/proj"};
    struct perm_analysis a;
    struct buf text;
    perm_shell_analyse(str_make((const char *)data, size), &env, &a);
    /* Work, not time: the cap holds on every machine. */
    if (a.work > WORK_MAX || (size > 100000 && !a.incomplete))
        abort();
    buf_init(&text, BUF_MAX);
    for (size_t i = 0; i < a.n_leaves; i++) {
        perm_leaf_text(&a.leaves[i], false, &text);
        perm_leaf_text(&a.leaves[i], true, &text);
    }
    buf_release(&text);
    perm_analysis_release(&a);
    return 0;
}
