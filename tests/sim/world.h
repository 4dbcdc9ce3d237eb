#pragma once
/*
 * A world with a clock of its own and one thread at a time. Every thread of the program that is made between world_begin and
 * world_end is an actor; one of them has the baton and runs, the others wait for it. The baton changes hands where a thread blocks:
 * poll, a condition, a join, a sleep, a lock that another holds. Who is next is drawn from the seed, so a seed has one outcome. When
 * nobody can run, time jumps to the next deadline: nothing sleeps, and a Retry-After of ten minutes costs nothing.
 *
 * It stands in for the system at link time (-Wl,--wrap, tests/sim/sim.cmake): the engine is the real one, unchanged. Real
 * descriptors are looked at with real polls that never wait. What blocks elsewhere (a child process) has no place in a world.
 */
#include <stdbool.h>
#include <stdint.h>

void world_begin(uint64_t seed); /* the caller is the first actor */
/* Waits until every other actor has ended; how many did not. */
int world_end(void);

int64_t world_now_ms(void);
int64_t world_real_us(void);         /* the real clock, to measure with */
uint64_t world_random(void);         /* of the seed */
bool world_chance(unsigned in_1000); /* of the seed */
unsigned world_pick(unsigned n);     /* 0..n-1 of the seed */
uint64_t world_steps(void);          /* how often an actor was looked at, since world_begin */
/* Until no other actor can run without time passing. */
void world_settle(void);
void world_sleep(int64_t ms);

/* Called instead of going on when nobody can ever run again, or nothing but running happens. */
extern void (*world_stuck)(const char *why);
void world_describe(void); /* who waits for what, on stderr */
#define WORLD_STEPS_MAX 20000000u
