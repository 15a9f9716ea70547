/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The cheapest combination of activities of one slot, at its exact cost, under a price per
 * activity. */
#ifndef CKPD_LIB_SOLVER_NATIVE_SLOT_H
#define CKPD_LIB_SOLVER_NATIVE_SLOT_H

#include "solver/native/model.h"

/* A total of GPUs and power that some combination of the first jobs reaches. */
typedef struct nat_level {
    double gpus, kw;
} nat_level;

/*
 * Stage j holds the levels of the jobs 0..j-1 (stage 0: one level of zero). next[j] leads from a
 * level of stage j over an activity of job j to a level of stage j + 1 (-1: above every cap),
 * prev[j] back. Where the totals are multiples of one number of GPUs, the levels are all its
 * multiples and the way back is the same number of levels, shift[j], everywhere: what no
 * combination reaches has infinite cost.
 */
typedef struct nat_stack {
    int32_t jobs;
    int32_t *levels;  /* [jobs + 1] */
    int32_t **next;   /* [jobs] -> [levels of stage][activities]; NULL on a lattice */
    int32_t **prev;   /* [jobs] -> [activities][levels of the stage above]; NULL on a lattice */
    int32_t **shift;  /* [jobs] -> [activities] on a lattice, else NULL */
    nat_level *total; /* levels of the last stage */
    double *cost;     /* [slots][last levels] exact cost of the slot; +infinity over a cap */
    double *charge; /* [slots][last levels] storage draw that goes with it, NULL without storage */
    int32_t widest;
} nat_stack;

typedef struct nat_slot_work {
    double *ahead;   /* [slots or 1][jobs + 1][widest] */
    double *behind;  /* [jobs + 1][widest], for marginals */
    double *rest;    /* [widest], for marginals */
    size_t per_slot; /* distance between the tables of two slots; 0 when they share one */
} nat_slot_work;

/* The level of stage j + 1 that activity a of job j leads to, or -1 above every cap. */
static inline int32_t nat_level_after(const nat_stack *stack, const nat_model *model, int32_t j,
                                      int32_t a, int32_t level)
{
    if (!stack->shift)
        return stack->next[j][level * model->job[j].activities + a];
    level += stack->shift[j][a];
    return level < stack->levels[j + 1] ? level : -1;
}

/*
 * True when the combinations of a slot can be told apart in good time: few jobs, or totals that
 * fall on few levels because the GPU counts share a divisor and power follows from them.
 */
bool ckpd__nat_stack_is_small(const nat_model *model);
/* Builds the levels; *exact becomes false (and nothing is built) when there are more than `limit`.
 */
int32_t ckpd__nat_stack_build(nat_stack *stack, nat_memory *memory, const nat_model *model,
                              int32_t limit, bool *exact);
/* `keep`: the work area holds the combinations of every slot, not only of the last one. */
bool ckpd__nat_slot_work_init(nat_slot_work *work, nat_memory *memory, const nat_stack *stack,
                              int32_t slots, bool keep);
/* Fills cost[t] from the curves and, with storage, the worth of a kWh in store after the slot. */
void ckpd__nat_stack_cost(nat_stack *stack, const nat_model *model, int32_t t, double worth);

/*
 * For each level of the last stage the best combination of slot t without the cost of the slot:
 * minus the sum of prices (+infinity when nothing leads there). price[j][a * slots + t];
 * forbidden[j] may be NULL.
 */
const double *ckpd__nat_slot_climb(nat_slot_work *work, const nat_stack *stack,
                                   const nat_model *model, int32_t t, const double *const *price,
                                   const uint8_t *const *forbidden);
/* The activities of the combination of a level after a climb of slot t at these prices. */
void ckpd__nat_slot_choice(const nat_slot_work *work, const nat_stack *stack,
                           const nat_model *model, int32_t t, const double *const *price,
                           const uint8_t *const *forbidden, int32_t level, int32_t *choice);

/*
 * min over combinations of cost - sum of prices; choice[j] gets the activities, *level the total.
 */
double ckpd__nat_slot_solve(nat_slot_work *work, const nat_stack *stack, const nat_model *model,
                            int32_t t, const double *const *price, const uint8_t *const *forbidden,
                            int32_t *choice, int32_t *level);
/*
 * After a solve: the same minimum with activity a of job j fixed, for all a and j:
 * marginal[offset[j] + a * slots + t].
 */
void ckpd__nat_slot_marginals(nat_slot_work *work, const nat_stack *stack, const nat_model *model,
                              int32_t t, const double *const *price,
                              const uint8_t *const *forbidden, double *marginal,
                              const size_t *offset);

#endif
