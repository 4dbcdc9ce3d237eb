#pragma once
/* The system's calls that the world replaces at link time (--wrap, sim.cmake), and the real ones; for world.c. */
#include <poll.h>
#include <pthread.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __real_pthread_join(pthread_t t, void **ret);
int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until);
int __real_pthread_cond_signal(pthread_cond_t *c);
int __real_pthread_cond_broadcast(pthread_cond_t *c);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_clock_gettime(clockid_t id, struct timespec *ret);
int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __real_usleep(useconds_t us);
time_t __real_time(time_t *ret);
ssize_t __real_getrandom(void *p, size_t n, unsigned flags);

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_join(pthread_t t, void **ret);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_usleep(useconds_t us);
time_t __wrap_time(time_t *ret);
ssize_t __wrap_getrandom(void *p, size_t n, unsigned flags);
