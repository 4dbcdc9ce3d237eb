/* `yare perm check` alone: reads records on stdin, answers on stdout, whatever the arguments. For scoring cases quickly. */
#include "perm/check.h"

int
main(void)
{
    return perm_check_run(stdin, stdout);
}
