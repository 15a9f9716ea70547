/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A foreign solver runs on a thread of its own: with its own stack and thread-local state, with no
 * signal delivered to it, while the thread that called the library serves limits, cancel and
 * progress.
 */
#ifndef CKPD_LIB_SOLVER_GUEST_H
#define CKPD_LIB_SOLVER_GUEST_H

#include "solver/solver.h"
#include <pthread.h>

typedef struct ckpd__guest {
    const ckpd_host *host;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int_least32_t stop; /* 0 go on, 1 time limit, 2 cancelled; the guest looks at it often */
    bool finished;
    double incumbent, bound; /* as last told, for progress */
    int64_t iterations, nodes;
    double *point,
        *handed; /* [columns] the best point, as told and as handed on; NULL: not wanted */
    size_t columns;
    bool fresh; /* `point` was not handed on yet */
} ckpd__guest;

/* Runs work(argument) on a private thread and returns when it has ended; false: no thread to be
 * had. */
bool ckpd__guest_run(ckpd__guest *guest, const ckpd_host *host, void (*work)(void *argument),
                     void *argument);
/*
 * Before the run: makes room for points if the host wants them; false when out of memory. `guest`
 * is zero-filled. After the run ckpd__guest_free.
 */
bool ckpd__guest_want_points(ckpd__guest *guest, const ckpd_host *host, int32_t columns);
void ckpd__guest_free(ckpd__guest *guest, const ckpd_host *host);
/* From the guest's thread: its best point. */
void ckpd__guest_point(ckpd__guest *guest, const double *x);
/* From the guest's thread: how far it is. */
void ckpd__guest_tell(ckpd__guest *guest, double incumbent, double bound, int64_t iterations,
                      int64_t nodes);
/* From the guest's thread: 0, 1 or 2 as `stop`. */
int32_t ckpd__guest_stop(ckpd__guest *guest);
/* From the guest's thread: lets a moment pass. */
void ckpd__guest_pause(ckpd__guest *guest);

#endif
