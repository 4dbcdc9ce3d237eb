#pragma once
/*
 * One model server and what it says of itself: which program it is, which models it has, and how many tokens each really takes in.
 * Ollama's /v1 cuts a prompt to its num_ctx without a word, llama.cpp and vLLM are started with a size: what counts is asked for, not
 * guessed from the model's name (Ollama: /api/ps, /api/show; llama.cpp: /props; LM Studio: /api/v0/models; vLLM: max_model_len).
 *
 *     struct model_server *s = model_server_new("http://127.0.0.1:11434/v1", NULL);
 *     if (model_server_ask(s, NULL, 1500, &err)) ...
 *
 * Thread-safe; answers are kept, and no lock is held while one is waited for. Only the list of models (GET {base}/models) is asked of servers
 * elsewhere, with the key; the key goes nowhere else.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"

enum server_kind {
    SERVER_OTHER, /* speaks chat completions; which program it is, it does not say */
    SERVER_OLLAMA,
    SERVER_LLAMACPP,
    SERVER_LMSTUDIO,
    SERVER_VLLM,
};
const char *server_kind_name(enum server_kind k); /* "Ollama"; SERVER_OTHER: "a model server" */

struct server_model {
    char *id;
    int64_t context; /* what the server takes in now, when its list says so; 0: it does not */
};

struct model_server;
/* base_url: with or without /v1; api_key may be NULL. */
struct model_server *model_server_new(const char *base_url, const char *api_key);
void model_server_free(struct model_server *s); /* NULL is fine */
/* Asks what it is and has. Errors: it does not answer in time, or not as such a server. */
bool model_server_ask(struct model_server *s, struct cancel *cancel, int timeout_ms,
                      struct err *err) MUST_CHECK;
/* How long ago it was asked last with success; INT64_MAX: never. */
int64_t model_server_age_ms(struct model_server *s);
/* What the last model_server_ask found. The kind; copies of the models, in the server's order (server_models_free). */
enum server_kind model_server_kind(struct model_server *s);
struct server_model *model_server_models(struct model_server *s, size_t *ret_n);
void server_models_free(struct server_model *list, size_t n);
const char *model_server_place(const struct model_server *s); /* "127.0.0.1:11434" */
const char *
model_server_url(const struct model_server *s); /* with its /v1, as a provider wants it */
/* How many tokens this model takes in, 0: the server does not say. *ret_sure false: the model is not loaded yet, and what is given is
 * the server's usual size; it is worth asking again after the first answer. What was sure is not asked for twice. */
int64_t model_server_window(struct model_server *s, const char *model, struct cancel *cancel,
                            int timeout_ms, bool *ret_sure);
/* How to make it larger, for people; static. */
const char *server_kind_advice(enum server_kind k);

/* For tests: the pure half. */
struct str;
int64_t server_num_ctx(struct str parameters); /* Ollama's /api/show "parameters"; 0: not set */
