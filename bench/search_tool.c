/* Runs one tool call and prints its result, so that bench/search.py can time a search as a process of its own:
 *   search_tool Grep '{"pattern":"x"}' FOLDER
 * With SEARCH_PEAK set, its largest resident size goes to the descriptor of that number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tools/filestate.h"
#include "tools/tool.h"

/* The VmHWM line: what getrusage says holds the memory of the parent, from before exec. */
static void
write_peak(const char *fd)
{
    FILE *in = fopen("/proc/self/status", "r"), *out = fdopen(atoi(fd), "w");
    char line[256];

    while (in && out && fgets(line, sizeof line, in))
        if (strncmp(line, "VmHWM:", 6) == 0)
            fputs(line + 6, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

int
main(int argc, char **argv)
{
    const struct tool *t = argc == 4 ? tool_find(str_from(argv[1])) : NULL;
    struct err err = {.text = "usage: search_tool TOOL JSON FOLDER"};
    struct cJSON *input = t ? json_parse(str_from(argv[2]), &err) : NULL;
    struct tool_result r;

    if (!input || !tool_validate(t, input, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    struct tool_ctx ctx = {.session_id = "bench",
                           .tool_use_id = "bench",
                           .root = argv[3],
                           .cwd = argv[3],
                           .home = "/",
                           .files = file_state_new(),
                           .cancel = cancel_new(NULL)};
    tool_result_init(&r);
    t->run(&ctx, input, &r);
    fwrite(buf_cstr(&r.text), 1, r.text.len, stdout);
    int status = r.is_error;
    if (getenv("SEARCH_PEAK"))
        write_peak(getenv("SEARCH_PEAK"));
    tool_result_release(&r);
    json_free(input);
    cancel_free(ctx.cancel);
    file_state_unref(ctx.files);
    return status;
}
