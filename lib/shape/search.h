/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The state of the search for whole groups. */
#ifndef CKPD_LIB_SHAPE_SEARCH_H
#define CKPD_LIB_SHAPE_SEARCH_H

#include "shape/window.h"

typedef struct ckpd__search {
    const ckpd__window *w;
    int32_t *groups;
    int32_t *held;          /* [slots] */
    int64_t *left;          /* [fillers] queue */
    double *error;          /* [samples] target less fit */
    double *missed;         /* [samples + 1] sum of weighted |error| left of a sample */
    double *before, *after; /* [samples + 1] largest |error| left of / from a sample on */
    int32_t *first_column;  /* [slots + 1] columns are in order of slots */
    int32_t capped;         /* samples from here on have no limit before an onset */
    double waste_used;
    double plain, price; /* sum of |error|; of the groups */
} ckpd__search;

/* false without memory; to be ended all the same. */
bool ckpd__search_start(ckpd__search *search, const ckpd__window *window);
void ckpd__search_end(ckpd__search *search);
/* Back to the given groups, or to none with NULL. */
void ckpd__search_reset(ckpd__search *search, const int32_t *groups);
/* true when `by` more groups (it may be negative) of column j break no limit. */
bool ckpd__search_allowed(const ckpd__search *search, int32_t j, int32_t by);
/* true when the limit of waste holds, which dropping a group that runs to its end may break. */
bool ckpd__search_waste_holds(const ckpd__search *search);
/* Changes groups and errors; sums and peaks are stale until ckpd__search_refresh(). */
void ckpd__search_apply(ckpd__search *search, int32_t j, int32_t by);
void ckpd__search_refresh(ckpd__search *search);
double ckpd__search_objective(const ckpd__search *search);
/* The objective if `by` groups of column j were added. */
double ckpd__search_objective_with(const ckpd__search *search, int32_t j, int32_t by);

#endif
