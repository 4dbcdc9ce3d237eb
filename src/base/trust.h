#pragma once
/*
 * Folder trust (MISSION F12): nothing from a project's own files takes effect as more than narrowing before the
 * person trusted the folder. Kept in <config dir>/trust.json, keyed by the real path and bound to a hash of the
 * project's settings files (.yare/settings.json, .claude/settings.json, .mcp.json): a changed file asks again. A
 * subfolder with a git repository of its own is not covered by its parent.
 */
#include <stdbool.h>

#include "base/err.h"

enum trust { TRUST_NO, TRUST_YES, TRUST_CHANGED };
enum trust trust_check(const char *config_dir, const char *root);
bool trust_grant(const char *config_dir, const char *root, struct err *err) MUST_CHECK;
