#pragma once
/*
 * An engine that answers by the text of the prompt, for tests of the screen: it stands in for engine.h at link time.
 * What was posted and called is written as lines to `fd` ("submit hello", "cancel 1").
 *
 *   hold     starts a turn that ends when it is cancelled
 *   stream N sends N deltas
 *   ask      asks for permission and ends with the answer
 *   offer    offers "/connect nearby", and answers
 *   else     answers "you said: TEXT"
 */
#include <stdbool.h>

struct engine *engine_fake_new(int fd, bool trusted);
/* What QUERY_SETTINGS is answered with from here on; kept, not copied. */
void engine_fake_settings(const char *json);
