#include "base/slash.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"

struct str
slash_name(struct str line, struct str *ret_arg)
{
    struct str s = str_trim(line);
    size_t end = str_starts(s, "/") ? 1 : 0;
    while (end && end < s.len && s.ptr[end] != ' ' && s.ptr[end] != '\n' && s.ptr[end] != '\t')
        end++;
    if (ret_arg)
        *ret_arg = str_trim(str_sub(s, end, s.len));
    return end ? str_sub(s, 1, end - 1) : STR("");
}

bool
slash_is_command(struct str line)
{
    struct str name = slash_name(line, NULL);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '/' || name.ptr[i] == '.')
            return false;
    if (!name.len)
        return false;
    struct stat st;
    char *path = xasprintf("/%.*s", (int)name.len, name.ptr);
    bool is_file = lstat(path, &st) == 0;
    free(path);
    return !is_file;
}
