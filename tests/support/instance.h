/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Path views for solver tests: random small ones, and the golden cases straight from their neutral
 * files. */
#ifndef TESTS_SUPPORT_INSTANCE_H
#define TESTS_SUPPORT_INSTANCE_H

#include <ckptdispatch/backend.h>
#include <stdbool.h>

enum { INSTANCE_JOBS = 512, INSTANCE_BLOCKS = 8192 };

/* A view with the arrays behind it; all blocks are freed by instance_free. */
typedef struct instance {
    ckpd_path_view view;
    ckpd_path_job jobs[INSTANCE_JOBS];
    const ckpd_path_job *job[INSTANCE_JOBS];
    ckpd_path_storage storage;
    void *blocks[INSTANCE_BLOCKS];
    int block_count;
} instance;

void *instance_alloc(instance *made, size_t count, size_t bytes);
void instance_free(instance *made);

/* What instance_random may use; 0 everywhere gives convex curves, free moves, no storage. */
typedef struct instance_features {
    int32_t jobs, slots, segments, modes;
    int32_t storage, nonconvex, caps, transitions, edge_costs, prorated, fixed;
    int32_t slotwise;    /* 1: some jobs, 2: all */
    int32_t recovery;    /* with storage: it may start below its minimum, on a floor that rises */
    int32_t soft_end;    /* with storage: the end may be missed at a price */
    int32_t soft_caps;   /* load and GPU caps that may be passed at a price */
    int32_t equal_power; /* the modes of a job differ in GPUs and speed only */
} instance_features;
#define INSTANCE_SMALL .jobs = 2, .slots = 5, .segments = 2, .modes = 2
/* What path jobs beside a storage can have, in a size that can be enumerated. Members of an
 * initializer. */
#define INSTANCE_EVERYTHING                                                                     \
    INSTANCE_SMALL, .storage = 1, .nonconvex = 1, .caps = 1, .transitions = 1, .edge_costs = 1, \
                    .prorated = 1, .fixed = 1
/* The same seed gives the same instance. May be infeasible. */
instance *instance_random(uint64_t seed, const instance_features *features);

/*
 * A neutral case file (tests/../shared/cases): each slot is repeated `split` times with shorter
 * slots, K segments (0: the file's). Jobs are path jobs, or slot-wise ones (S3). NULL when the file
 * is absent.
 */
instance *instance_golden(const char *file, int32_t split, int32_t segments, bool slotwise,
                          bool storage);

/* Result with its own plan arrays. */
typedef struct instance_result {
    ckpd_path_result result;
    ckpd_path_plan plan; /* of the result */
    int32_t *ints;
    double *reals;
} instance_result;
/* `made` stays where it is: its result points into it. */
void instance_result_init(instance_result *made, const ckpd_path_view *view);
void instance_result_free(instance_result *made);

#endif
