/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The problem as the native solver sees it: a compact copy of the path view, with what it implies.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_MODEL_H
#define CKPD_LIB_SOLVER_NATIVE_MODEL_H

#include "solver/native/certificate.h"
#include <stdbool.h>

/* Memory of one solve: taken from the host on the calling thread, released as a whole. */
typedef struct nat_memory {
    const ckpd_host *host;
    struct nat_block *blocks;
} nat_memory;

/* Zero-filled array, NULL when out of memory; count 0 gives a valid block. */
void *ckpd__nat_alloc(nat_memory *memory, size_t count, size_t bytes);
void ckpd__nat_release(nat_memory *memory);

/*
 * What a job does in a slot is an *activity*: a distinct pair of GPUs held and IT power drawn.
 * Activity 0 is idle. A move runs activity `body` in all of its slots but the last and `last`
 * there.
 */
typedef struct nat_move {
    int32_t slots, segments;
    int32_t body, last; /* activities */
    int32_t mode;
    int32_t rule;  /* transition class, 1 without transitions */
    int32_t index; /* in the view */
    int32_t after; /* first later move with another body */
} nat_move;

typedef struct nat_job {
    const ckpd_path_job *in;
    int32_t segments;
    int32_t stride; /* of a row of nodes: room beyond the last for the longest move */
    int32_t source_slot, source_segment, source_state, deadline, states;
    bool wait;
    int32_t activities;
    double *kw;    /* [activities] */
    int32_t *gpus; /* [activities] */
    int32_t moves; /* without those that two shorter ones replace at no loss */
    nat_move *move;
    int32_t *low,
        *high; /* [slots + 1] segments of the first and last open node; low > high: none */
} nat_job;

typedef struct nat_model {
    const ckpd_path_view *view;
    int32_t slots, jobs;
    nat_job *job;
    int32_t activities;            /* largest number of one job */
    int32_t stride, states, moves; /* largest of one job */
    double *fixed_kw;              /* [slots] site load without the jobs' moves */
    double *gpus_free;             /* [slots] */
    double *fixed_gpus;            /* [slots] held without the jobs' moves */
    const ckpd_path_storage *storage;
    int32_t stop; /* what host->should_stop said while the model was built: then it is not whole */
    bool convex;  /* every curve is convex */
    bool separable; /* a single job and no storage: one shortest path is the answer */
} nat_model;

/* Builds the model of a view that has passed the library's checks. */
int32_t ckpd__nat_model_build(nat_model *model, nat_memory *memory, const ckpd_path_view *view);

/* The part of it that every kind of job needs: fixed_kw, gpus_free, convex; slots, jobs and view
 * are set. */
int32_t ckpd__nat_slots_build(nat_model *model, nat_memory *memory);

/* The activity with these GPUs and this power, or -1. */
int32_t ckpd__nat_activity(const nat_job *job, int32_t gpus, double kw);
/* Cost of slot t at net draw x; +infinity outside of the curve (by more than rounding). */
double ckpd__nat_curve(const nat_model *model, int32_t t, double x);
/* Site load of slot t with `kw` of IT power in moves. */
static inline double nat_load(const nat_model *model, int32_t t, double kw)
{
    return model->fixed_kw[t] + model->view->load_factor[t] * kw;
}
/* What load and GPUs of moves above the soft caps of slot t cost. */
double ckpd__nat_soft(const nat_model *model, int32_t t, double gpus, double load);
/* True when `gpus` and `kw` of moves fit under the caps of slot t. */
bool ckpd__nat_fits(const nat_model *model, int32_t t, double gpus, double kw);

/* Starts a certificate: the activities of the jobs, no nodes yet. False when out of memory (then it
 * is empty). */
bool ckpd__nat_certificate_start(nat_certificate *certificate, const nat_model *model,
                                 const ckpd_host *host);

static inline bool nat_open(const nat_model *model, const nat_job *job, int32_t q, int32_t t,
                            int32_t k)
{
    return job->in->node_open[((size_t)q * ((size_t)model->slots + 1) + (size_t)t) *
                                  ((size_t)job->segments + 1) +
                              (size_t)k] != 0;
}
static inline size_t nat_edge(const nat_model *model, const nat_job *job, int32_t index, int32_t t)
{
    return ((size_t)index * (size_t)model->slots + (size_t)t) * (size_t)job->segments;
}

#endif
