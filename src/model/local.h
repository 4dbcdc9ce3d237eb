#pragma once
/*
 * Model servers on this machine, at their usual addresses: Ollama 127.0.0.1:11434 (or where OLLAMA_HOST says), llama.cpp 8080, LM Studio
 * 1234, vLLM 8000. They are offered by name, never chosen silently. A look costs one connect each where nothing listens; libcurl is
 * loaded only when something does. YARE_LOCAL_SERVERS=url,url in place of the usual addresses; empty: none.
 * Any thread.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "model/server.h"

struct local_list {
    struct model_server *servers[8]; /* those that answered as model servers */
    size_t n;
};
/* getenv's view of the world comes from the caller: override is $YARE_LOCAL_SERVERS, ollama_host $OLLAMA_HOST; both may be NULL. */
void local_find(const char *override, const char *ollama_host, struct cancel *cancel,
                struct local_list *ret);
void local_release(struct local_list *l);
/* "ollama", "llama.cpp", "lmstudio", "vllm" in any spelling: the usual address (yours), or NULL when the name is none of them. */
char *local_url_of(const char *name, const char *override, const char *ollama_host);
/* "qwen3:8b, llama3:8b, 2 more"; "no model" */
void local_describe_models(struct model_server *s, size_t shown, struct buf *out);
/* What the person types to take it: "/connect ollama qwen3:8b", "/connect http://127.0.0.1:9999/v1 m". */
void local_command(struct model_server *s, struct buf *out);
