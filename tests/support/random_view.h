/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Random small path views with every feature of the view, the same for the same seed. */
#ifndef CKPD_TESTS_RANDOM_VIEW_H
#define CKPD_TESTS_RANDOM_VIEW_H

#include "case_view.h"

#include <stdbool.h>

enum {
    RANDOM_STORAGE = 1,     /* a storage, with one of the terminal rules */
    RANDOM_NONCONVEX = 2,   /* some curves fall in slope */
    RANDOM_TRANSITIONS = 4, /* states and classes of moves */
    RANDOM_EDGE_COST = 8,   /* money per edge, of either sign */
    RANDOM_PRORATED = 16,   /* less power in the last slot of a move */
    RANDOM_TIGHT = 32,      /* caps that bind, some instances without any plan */
    RANDOM_RUNNING = 64,    /* fixed power, late sources, segments done, no waiting */
    RANDOM_CLOSED = 128,    /* closed edges */
    RANDOM_RECOVERY = 256,  /* with RANDOM_STORAGE: a floor that rises, an end that costs */
    RANDOM_LARGE = 512      /* odd numbers of GPUs, so that few jobs make very many sums */
};

typedef struct random_shape {
    int32_t jobs, slots, segments, modes;
    uint32_t features;
} random_shape;

/*
 * A day of a few jobs whose plain bound is loose: few large modes, a GPU cap that all of them want
 * at once, steep prices (some below zero), sunshine that is worth less than it costs to throw away.
 * segments and modes are exact; feasible unless the cap and the deadlines forbid it.
 */
void random_day_make(case_view *out, uint64_t seed, const random_shape *shape);
void random_view_make(case_view *out, uint64_t seed, const random_shape *shape);
/* Least cost by trying every combination of paths (no storage); +infinity when there is no plan. */
double random_view_brute_force(const ckpd_path_view *view);

#endif
