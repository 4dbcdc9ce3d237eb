#pragma once
/*
 * What yare tells the model in texts of its own: how those begin that are known again by it, wherever they stand, and what such a
 * text is in one line for the person. Pure.
 */
#include "base/buf.h"

#define HIDDEN_TAG "<system-reminder>"
#define HIDDEN_END "</system-reminder>"
/* A file that the person named: its name and content follow. */
#define HIDDEN_FILE HIDDEN_TAG "\nThe person named "
#define HIDDEN_FILE_CONTENT ". Its content:\n" /* between the two */
/* Instruction files, of the session or of a folder. */
#define HIDDEN_RULES "Instructions that the person keeps "
#define HIDDEN_MODE "The permission mode is now "

/* Yours; NULL: its own first line says it. */
char *hidden_brief(struct str text);
