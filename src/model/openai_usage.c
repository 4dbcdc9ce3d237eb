#include "model/openai_usage.h"

#include "base/json.h"

/* The first of the paths that counts anything. */
static int64_t
first_count(const struct cJSON *t, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t v = json_count(t, paths[i]);
        if (v > 0)
            return v;
    }
    return 0;
}

bool
openai_usage_read(const struct cJSON *t, struct usage *u)
{
    static const char *const in[] = {"usage.prompt_tokens", "usage.input_tokens",
                                     "x_groq.usage.prompt_tokens"};
    static const char *const out[] = {"usage.completion_tokens", "usage.output_tokens",
                                      "x_groq.usage.completion_tokens", "timings.predicted_n"};
    static const char *const cached[] = {"usage.prompt_tokens_details.cached_tokens",
                                         "usage.prompt_cache_hit_tokens",
                                         "x_groq.usage.prompt_tokens_details.cached_tokens"};
    int64_t prompt = first_count(t, in, ARRAY_LEN(in));
    int64_t read = first_count(t, cached, ARRAY_LEN(cached));
    int64_t answer = first_count(t, out, ARRAY_LEN(out));
    if (!prompt && json_count(t, "timings.prompt_n")) { /* llama.cpp, in every last chunk */
        read = json_count(t, "timings.cache_n");
        prompt = json_count(t, "timings.prompt_n") + read;
    }
    if (prompt) {
        u->cache_read = read < prompt ? read : prompt;
        u->input = prompt - u->cache_read;
    }
    if (answer)
        u->output = answer;
    return prompt > 0;
}
