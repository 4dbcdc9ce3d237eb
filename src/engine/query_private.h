#pragma once
/* The writers behind OP_QUERY, one a question (query.c has the table): each appends one JSON object. Engine thread. */
#include "base/buf.h"

struct engine;
void query_history(struct engine *e, struct str arg, struct buf *out);
void query_sessions(struct engine *e, struct str arg, struct buf *out);
void query_models(struct engine *e, struct str arg, struct buf *out);
void query_search(struct engine *e, struct str arg, struct buf *out);
void query_trust(struct engine *e, struct str arg, struct buf *out);
void query_settings(struct engine *e, struct str arg, struct buf *out);
/* command.c */
void command_write_list(struct engine *e, struct str arg, struct buf *out);
