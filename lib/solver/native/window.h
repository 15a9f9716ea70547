/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A tighter split, without storage: the slots come in windows of two, which overlap. A *change* is
 * what a job does in a slot and in the next one, the same twice included. Each window takes the
 * cheapest combination of changes, each job a shortest path, under one price per (job, change,
 * window); a slot of two windows has half of its cost in each. Prices of activities are the special
 * case that tells a window nothing of how its two slots hang together.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_WINDOW_H
#define CKPD_LIB_SOLVER_NATIVE_WINDOW_H

#include "solver/native/path.h"
#include "solver/native/slot.h"
#include "solver/native/weave.h"

/* A way that a job may change in the window at hand: steps up the totals of its two slots. */
typedef struct nat_change {
    int32_t up[2];
    int32_t index; /* first activity * activities + second */
    double cost;
} nat_change;

/* Totals of both slots that the jobs so far can reach. */
typedef struct nat_reach {
    int32_t low[2], high[2];
} nat_reach;

typedef struct nat_window {
    const nat_model *model;
    const nat_stack *stack; /* a lattice */
    int32_t windows;        /* slots - 1 */
    nat_layout layout;      /* [activities * activities][windows] per job */
    double *price;          /* [layout.size] current point */
    uint8_t *forbidden;     /* [layout.size] of the node at hand */
    double *excess;         /* [layout.size] */
    double *burden;         /* of one job: its prices and the excesses of the windows */
    /* Paths of one job. A node is a slot, the activity before or from there on, the segments. */
    double *stay;   /* [activities][slots] prefix sums of staying */
    int32_t *clear; /* [activities][slots] first window at or after that forbids staying */
    double *rest;   /* [slots + 1] price of idling from a slot to the end */
    double *after,
        *from; /* [slots + 1][activities][stride] cheapest way on after, from an activity */
    double *reach_after, *reach_from; /* the same for the ways there */
    int32_t stride;
    /* Combinations of one window. */
    int32_t width;     /* totals of a slot, and of a row */
    double *share;     /* [slots][width] cost of a total, in each window that the slot is part of */
    double *stage;     /* [jobs + 1][width][width] */
    double *behind[2]; /* [width][width] */
    nat_change *change; /* [jobs][most] */
    int32_t *changes;   /* [jobs] */
    nat_reach *reach;   /* [jobs + 1] */
    nat_path *path;     /* [jobs] answers */
    int32_t **step;     /* [jobs][windows] changes of the paths */
    double *path_value; /* [jobs] */
    int32_t *choice;    /* [windows][jobs] */
    double *slot_value; /* [windows] */
    nat_answer answer;
} nat_window;

/* True when every job and the caps are of the kind that windows know, and not too many. */
bool ckpd__nat_window_fits(const nat_model *model, const nat_stack *stack);
bool ckpd__nat_window_init(nat_window *window, nat_memory *memory, const nat_model *model,
                           const nat_stack *stack);
/* Prices and what is forbidden from those of activities (layout of nat_dual): the same bound. */
void ckpd__nat_window_take(nat_window *window, const nat_layout *layout, const double *price,
                           const uint8_t *forbidden);
/*
 * The bound at window->price, less what rounding may have added; answers in window->answer. When
 * the host ends it: -infinity, with *stop set.
 */
double ckpd__nat_window_evaluate(nat_window *window, const ckpd_host *host, int32_t *stop);
/*
 * After an evaluation: excess[] becomes how far any plan with that change lies above the bound, at
 * least. False when the host ends it, with *stop set.
 */
bool ckpd__nat_window_excess(nat_window *window, const ckpd_host *host, int32_t *stop);

/* --- window_path.c ------------------------------------------------------------------------------
 */

/* Cheapest path of a job under prices of its changes; +infinity: none. */
double ckpd__nat_window_path(nat_window *window, int32_t j, const double *price);
/* After that: the path, and its changes. */
void ckpd__nat_window_trace(const nat_window *window, int32_t j, const double *price,
                            nat_path *path, int32_t *step);
/* After that: cost of the cheapest path with each change. */
void ckpd__nat_window_path_marginals(nat_window *window, int32_t j, const double *price,
                                     double *marginal);

/* --- window_slot.c ------------------------------------------------------------------------------
 */

/* Cheapest combination of window t under window->price. */
double ckpd__nat_window_solve(nat_window *window, int32_t t, int32_t *choice);
/* After that: the same with each change of each job that is not forbidden, less `value`. */
void ckpd__nat_window_marginals(nat_window *window, int32_t t, double value, double *marginal);

#endif
