#pragma once
/*
 * Memory for the parser while a command is analysed: it asks for some thousand small pieces and gives all of them back before the
 * analysis is done. They come out of one stretch that the thread keeps for its next analysis, in lists by size. Whoever else
 * uses the parser's library, on whatever thread, has malloc as before.
 *
 * Between enter and leave, which nest, the thread frees whatever it takes, and no other thread gets any of it.
 */
void shell_memory_enter(void);
void shell_memory_leave(void);
