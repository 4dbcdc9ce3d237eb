#include "base/slash.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"

bool
slash_is_command(struct str line)
{
    struct str s = str_trim(line);
    size_t i = 1;
    if (s.len < 2 || s.ptr[0] != '/')
        return false;
    for (; i < s.len && s.ptr[i] != ' ' && s.ptr[i] != '\n' && s.ptr[i] != '\t'; i++)
        if (s.ptr[i] == '/' || s.ptr[i] == '.')
            return false;
    if (i == 1)
        return false;
    struct stat st;
    char *name = str_dup(str_sub(s, 0, i));
    bool is_file = lstat(name, &st) == 0;
    free(name);
    return !is_file;
}
