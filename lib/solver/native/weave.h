/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The master of the prices per job, activity and slot, without storage: from the paths and the
 * combinations that earlier prices led to, the mixtures of both that agree best, and the prices
 * that go with them; otherwise as master.h. It guides and proves nothing. What is an activity in a
 * slot here may be anything else that has a price: in window.h it is a change between two slots.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_WEAVE_H
#define CKPD_LIB_SOLVER_NATIVE_WEAVE_H

#include "solver/native/dual.h"

/* A path (an activity per slot) or a combination (an activity per job). */
typedef struct nat_strand {
    double cost;  /* beside the prices */
    double share; /* in the mixture; those of a block add up to 1 */
    int32_t *activity;
} nat_strand;

/* What the blocks answer at some prices: a path per job, then a combination per slot. */
typedef struct nat_answer {
    int32_t jobs, slots;
    const nat_layout *layout;
    const double *price;  /* [layout->size] */
    int32_t *const *path; /* [jobs][slots] activities */
    const double *path_value;
    const int32_t *choice; /* [slots][stride] of which the first [jobs] are activities */
    size_t stride;
    const double *slot_value;
    double value; /* the bound */
} nat_answer;

typedef struct nat_weave {
    const nat_answer *answer;
    int32_t blocks, most; /* jobs, then slots */
    nat_strand **strand;  /* [blocks][most] */
    int32_t *strands;     /* [blocks] */
    double *centre;       /* [prices] best so far */
    double *price;        /* [prices] of the mixture */
    double *value;        /* [most] */
    double best;          /* bound at the centre */
    double length;        /* weight of the distance from it */
    double miss;          /* by how much the strands have promised too much, last time */
    double gain;          /* of the last point over the centre */
    int32_t vain;         /* points in a row that were no better */
    bool started;
} nat_weave;

/* The answer is read at each ckpd__nat_weave_add(). */
bool ckpd__nat_weave_init(nat_weave *weave, nat_memory *memory, const nat_answer *answer,
                          int32_t most);
/* Takes in the answer; `length` is that of the first step. */
void ckpd__nat_weave_add(nat_weave *weave, double length);
/* The next prices. */
void ckpd__nat_weave_next(nat_weave *weave, double *price);
/* Gives up the strands with something forbidden. */
void ckpd__nat_weave_forbid(nat_weave *weave, const uint8_t *forbidden);
/* Takes strands and shares of another one with no more room; the next answer is the first one. */
void ckpd__nat_weave_copy(nat_weave *to, const nat_weave *from);
/* Shares of the activities in the mixture of paths. */
void ckpd__nat_weave_mean(const nat_weave *weave, double *mean);

#endif
