#include "base/supervise.h"
bool
supervise_has_cgroup(void)
{
    return false;
}
