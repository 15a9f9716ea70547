/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Runs a path solver by itself, with an allocator and limits that tests can watch and break. */
#ifndef CKPD_TESTS_NATIVE_RUN_H
#define CKPD_TESTS_NATIVE_RUN_H

#include <ckptdispatch/backend.h>

typedef int32_t (*native_solve_fn)(const ckpd_host *, const ckpd_path_view *,
                                   const ckpd_solve_params *, ckpd_path_result *, void *);

typedef struct native_run {
    native_solve_fn solve;
    ckpd_solve_params params;
    int64_t fail_after;    /* allocations that succeed; < 0: all */
    int64_t allocations;   /* after the run */
    int64_t held;          /* blocks not released after the run: must be 0 */
    int32_t cancel_at;     /* polls of should_stop after which it asks for a stop; 0: never */
    _Atomic int32_t polls; /* should_stop is asked from every thread of a backend */
    double started;
    double polled;  /* processor time of the last poll; with one thread */
    double longest; /* most of it between two polls, start and end included */
    double stopped; /* processor time of the first poll that asked for a stop; with one thread */
    double late;    /* processor time from there to the end, after the run */
} native_run;

/* Gap 1e-6, no limits, one thread. `solve` is ckpd__native_solve_paths or a function like it. */
native_run native_run_default(native_solve_fn solve);
/* Status of the solve. */
int32_t native_run_solve(native_run *run, const ckpd_path_view *view, ckpd_path_result *result);

#endif
