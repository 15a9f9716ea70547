/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The neutral golden cases (../shared/cases/NAME.json) through the public API. */
#ifndef TESTS_GOLDEN_CASE_H
#define TESTS_GOLDEN_CASE_H

#include "support/support.h"

#include <ckptdispatch.h>

enum { GOLDEN_JOBS = 600 };

typedef struct golden_options {
    int32_t repeat; /* each value counts for this many slots of 1/repeat of the length; 0 means 1 */
    int32_t segments;  /* 0: as in the file */
    int32_t keep_full; /* 1: graphs without reduction */
} golden_options;

/* Every handle belongs to the case. */
typedef struct golden_case {
    ckpd_context *context;
    ckpd_site *site;
    ckpd_problem *problem;
    int32_t jobs;
    ckpd_task *task[GOLDEN_JOBS];
    ckpd_mode_set *modes[GOLDEN_JOBS];
    ckpd_graph *graph[GOLDEN_JOBS];
} golden_case;

/*
 * Reads cases/NAME (such as "aidc2048-golden.json") into a context of its own; `options` NULL for
 * the defaults. False after a SKIP line when the file is absent; a broken file fails the test.
 */
bool golden_open(golden_case *out, const char *name, const golden_options *options);
void golden_close(golden_case *golden);

/* A number of an expected-values file by keys such as "S4_by_gpu_cap", "768" (second key NULL: top
   level). NaN when it is null, which means infeasible. Fails the test when it is not there. */
double golden_expected(const char *name, const char *key, const char *key2);

/* Solves with the named backend (NULL: automatic) to the default gap. */
ckpd_solution *golden_solve(golden_case *golden, int32_t scenario, const char *backend);
/* Solves, asserts proven optimal and the cost within 1e-6 relative. */
void golden_expect(golden_case *golden, int32_t scenario, const char *backend, double cost);

#endif
