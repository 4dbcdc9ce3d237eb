#pragma once
/*
 * Folder trust: nothing from a project's own files takes effect as more than narrowing before the
 * person trusted the folder. Kept in <config dir>/trust.json, keyed by the real path and bound to a hash of the
 * project's settings files (.yare/settings.json, .claude/settings.json, .mcp.json): a changed file asks again. The
 * settings.local.json files belong to the person and change with every saved approval, so they count only when git
 * tracks them: then they came with the repository. A folder is covered by a trusted parent as long as no git
 * repository of its own lies between and it brings no settings files of its own.
 *
 * Thread-safe. What cannot be read is not trusted.
 */
#include <stdbool.h>

#include "base/err.h"

enum trust { TRUST_NO, TRUST_YES, TRUST_CHANGED };
enum trust trust_check(const char *config_dir, const char *root);
bool trust_grant(const char *config_dir, const char *root, struct err *err) MUST_CHECK;
/* A list that cannot be parsed is put aside under another name, so that folders can be trusted again. NULL: it was fine; else a
 * line for the person, which names both files; yours. */
char *trust_mend(const char *config_dir);
