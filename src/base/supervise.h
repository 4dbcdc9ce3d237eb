#pragma once
/* The supervisor process behind base/proc.h: `yare --supervise DEATH_FD STATUS_FD [--tty FD] -- ARGV...`. Entered from
 * main before anything else is set up; never returns. Links nothing but libc. */
_Noreturn void supervise_main(int argc, char **argv);
