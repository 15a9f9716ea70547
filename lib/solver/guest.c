/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/guest.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 8 << 20,
    POLL_MS = 20 /* how often the waiting thread looks at the limits */
};

typedef struct errand {
    ckpd__guest *guest;
    void (*work)(void *argument);
    void *argument;
} errand;

static void *run(void *argument)
{
    errand *given = argument;
    ckpd__guest *guest = given->guest;
    given->work(given->argument);
    pthread_mutex_lock(&guest->lock);
    guest->finished = true;
    pthread_cond_signal(&guest->changed);
    pthread_mutex_unlock(&guest->lock);
    return NULL;
}

void ckpd__guest_tell(ckpd__guest *guest, double incumbent, double bound, int64_t iterations,
                      int64_t nodes)
{
    pthread_mutex_lock(&guest->lock);
    guest->incumbent = incumbent;
    guest->bound = bound;
    guest->iterations = iterations;
    guest->nodes = nodes;
    pthread_mutex_unlock(&guest->lock);
}

bool ckpd__guest_want_points(ckpd__guest *guest, const ckpd_host *host, int32_t columns)
{
    if (host->size < offsetof(ckpd_host, keep_point) + sizeof host->keep_point ||
        host->keep_point == NULL || columns < 1) {
        return true;
    }
    guest->columns = (size_t)columns;
    guest->point = host->allocate(2 * guest->columns * sizeof(double), host->user);
    guest->handed = guest->point != NULL ? guest->point + guest->columns : NULL;
    return guest->point != NULL;
}

void ckpd__guest_free(ckpd__guest *guest, const ckpd_host *host)
{
    if (guest->point != NULL) {
        host->release(guest->point, host->user);
    }
}

void ckpd__guest_point(ckpd__guest *guest, const double *x)
{
    if (guest->point == NULL) {
        return;
    }
    pthread_mutex_lock(&guest->lock);
    memcpy(guest->point, x, guest->columns * sizeof *x);
    guest->fresh = true;
    pthread_mutex_unlock(&guest->lock);
}

int32_t ckpd__guest_stop(ckpd__guest *guest)
{
    return atomic_load_explicit(&guest->stop, memory_order_relaxed);
}

static void wait_a_little(ckpd__guest *guest)
{
#ifdef __APPLE__
    struct timespec interval = {0, POLL_MS * 1000000L};
    pthread_cond_timedwait_relative_np(&guest->changed, &guest->lock, &interval);
#else
    double until = ckpd__clock_s() + POLL_MS / 1e3; /* of the monotonic clock, like the condition */
    struct timespec at = {.tv_sec = (time_t)until};
    at.tv_nsec = (long)((until - floor(until)) * 1e9);
    pthread_cond_timedwait(&guest->changed, &guest->lock, &at);
#endif
}

void ckpd__guest_pause(ckpd__guest *guest)
{
    pthread_mutex_lock(&guest->lock);
    wait_a_little(guest);
    pthread_mutex_unlock(&guest->lock);
}

/* The caller's thread, until the guest is done. */
static void attend(ckpd__guest *guest)
{
    const ckpd_host *host = guest->host;
    double told = ckpd__clock_s(), incumbent = INFINITY, bound = -INFINITY;
    pthread_mutex_lock(&guest->lock);
    while (!guest->finished) {
        wait_a_little(guest);
        double new_incumbent = guest->incumbent, new_bound = guest->bound;
        int64_t iterations = guest->iterations, nodes = guest->nodes;
        bool fresh = guest->fresh;
        if (fresh) {
            memcpy(guest->handed, guest->point, guest->columns * sizeof(double));
            guest->fresh = false;
        }
        pthread_mutex_unlock(&guest->lock);
        if (fresh) {
            host->keep_point(guest->handed, new_bound, host->user);
        }
        double now = ckpd__clock_s();
        if (new_incumbent < incumbent || new_bound > bound || now - told > 0.2) {
            host->report(new_incumbent, new_bound, iterations, nodes, host->user);
            incumbent = new_incumbent;
            bound = new_bound;
            told = now;
        }
        atomic_store_explicit(&guest->stop, host->should_stop(host->user), memory_order_relaxed);
        pthread_mutex_lock(&guest->lock);
    }
    pthread_mutex_unlock(&guest->lock);
}

/* The thread takes no signal: the host's handlers stay on the host's threads. */
static bool start_thread(pthread_t *thread, errand *given)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, &attributes, run, given);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

bool ckpd__guest_run(ckpd__guest *guest, const ckpd_host *host, void (*work)(void *argument),
                     void *argument)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
#ifndef __APPLE__
    /* A wall clock that is set must not stretch a wait. */
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
    guest->host = host;
    guest->finished = false;
    guest->incumbent = INFINITY;
    guest->bound = -INFINITY;
    guest->iterations = guest->nodes = 0;
    atomic_init(&guest->stop, 0);
    pthread_mutex_init(&guest->lock, NULL);
    pthread_cond_init(&guest->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    errand given = {guest, work, argument};
    pthread_t thread;
    bool started = start_thread(&thread, &given);
    if (started) {
        attend(guest);
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&guest->changed);
    pthread_mutex_destroy(&guest->lock);
    return started;
}
