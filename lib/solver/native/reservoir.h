/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * All slots and the storage as one block. For given prices the best worths of stored energy need no
 * search of their own: replace each slot's cost over the energy it takes out of the store by its
 * convex hull, and a shortest path over the level of the store, with convex piecewise-linear
 * values, gives the bound, the worths and the mixture of combinations of each slot that goes with
 * them.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_RESERVOIR_H
#define CKPD_LIB_SOLVER_NATIVE_RESERVOIR_H

#include "solver/native/model.h"

/* A corner of a slot's hull: one of its levels of load and the storage draw beside it. */
typedef struct nat_corner {
    double energy; /* taken out of the store */
    double cost;
    double draw;
    int32_t level;
} nat_corner;

/* A convex function on an interval: value y at its left end x, then pieces of rising slope. */
typedef struct nat_convex {
    double x, y;
    int32_t count, room;
    double *length, *slope;
} nat_convex;

/* What the block chose in a slot: corners `left` and `left + 1` of its hull, the latter with share
 * `part`. */
typedef struct nat_mixture {
    int32_t left;
    double part;
} nat_mixture;

typedef struct nat_reservoir {
    const nat_model *model;
    const ckpd_host *host;
    int32_t most;          /* candidates of a slot at most */
    int32_t *candidates;   /* [slots] */
    nat_corner *candidate; /* [slots][most] every corner that some prices can make one, by energy */
    int32_t *live;         /* [slots] of them at levels that are not forbidden, side by side: */
    int32_t *origin;       /* [slots][most] among the candidates */
    double *cost;          /* [slots][most] */
    int32_t *level;        /* [slots][most] */
    int32_t *run;          /* [slots][most] end of the run with this one's energy */
    int32_t *corners;      /* [slots] */
    nat_corner *corner;    /* [slots][most] the hull under the prices at hand */
    nat_convex *value;     /* [slots + 1] cost from boundary t on, by level */
    nat_mixture *mixture;  /* [slots] */
    bool failed;           /* out of memory */
    int32_t levels;
    const double *extra; /* [slots][levels] while the candidates are made */
} nat_reservoir;

/*
 * load[slots][levels]: the site loads between which the slots choose, +infinity for one that does
 * not fit; extra[slots][levels]: what a level costs besides, NULL for nothing. False when out of
 * memory.
 */
bool ckpd__nat_reservoir_init(nat_reservoir *reservoir, nat_memory *memory, const nat_model *model,
                              int32_t levels, const double *load, const double *extra);
void ckpd__nat_reservoir_free(nat_reservoir *reservoir);
/*
 * Leaves out what no hull of slot t needs while the levels without a combination (top[level]
 * infinite) stay without and the draw stays between low and high.
 */
void ckpd__nat_reservoir_narrow(nat_reservoir *reservoir, int32_t t, const double *top, double low,
                                double high);
/* The hull of slot t; top[level] is what the cheapest combination of that level costs beside the
 * slot itself. */
void ckpd__nat_reservoir_slot(nat_reservoir *reservoir, int32_t t, const double *top);
/* Lets the slot take any energy from nowhere, or leave it there, at this much money per kWh. */
void ckpd__nat_reservoir_soften(nat_reservoir *reservoir, int32_t t, double money);
/* Bound of the block once every hull is there; worth[slots] and the mixtures are filled. */
double ckpd__nat_reservoir_solve(nat_reservoir *reservoir, double *worth);

#endif
