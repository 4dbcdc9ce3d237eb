#pragma once
/* Markdown out of a conversation. Only export.c includes this. */
#include "store/export.h"

void export_markdown(struct conversation *conv, const struct export_head *head, FILE *out);
