/* Any bytes as a shell command: the analyser may ask, it may not crash, hang or leak. Build with YARE_FUZZ. */
#include <stddef.h>
#include <stdint.h>

#include "perm/leaf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct perm_shell_env env = {.cwd = "/proj", .home = "/home/dev", .root = "/proj"};
    struct perm_analysis a;
    struct buf text;
    perm_shell_analyse(str_make((const char *)data, size), &env, &a);
    buf_init(&text, BUF_MAX);
    for (size_t i = 0; i < a.n_leaves; i++) {
        perm_leaf_text(&a.leaves[i], false, &text);
        perm_leaf_text(&a.leaves[i], true, &text);
    }
    buf_release(&text);
    perm_analysis_release(&a);
    return 0;
}
