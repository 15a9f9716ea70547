/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The master of the prices per slot: from the paths that earlier prices led to, the mixture of
 * paths whose load costs the slots least, and the prices that go with it. A quadratic distance from
 * the best prices so far keeps the steps short (a proximal bundle method with a bundle per job;
 * Lemarechal 1978, Kiwiel 1990). It guides and proves nothing: every bound is evaluated for itself.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_MASTER_H
#define CKPD_LIB_SOLVER_NATIVE_MASTER_H

#include "solver/native/path.h"

/* One way of a block: its row of loads and what it costs beside the prices on them. */
typedef struct nat_column {
    double cost;
    double share; /* in the mixture; those of a block add up to 1 */
    float *load;  /* [rows] */
} nat_column;

/*
 * A row is the load of a slot, or in a second run of slots its GPUs (with prices of at least 0).
 * Block j < jobs holds paths of job j; with storage one block more holds the loads that the slots
 * and the store ask for, with the opposite sign.
 */
typedef struct nat_master {
    const nat_model *model;
    int32_t rows, blocks, most;
    nat_column **column; /* [blocks][most] */
    int32_t *columns;    /* [blocks] */
    nat_path **path;     /* [jobs][most] of the columns */
    double *load;        /* [rows] of the mixture */
    double *room;        /* [rows] the load that the slot takes at no price, or the free GPUs */
    double *centre;      /* [rows] best prices */
    double *price;       /* [rows] of the mixture */
    double *value;       /* [most] */
    double best;         /* value at the centre */
    double length;       /* weight of the distance: longer steps when it is large */
    double miss;         /* by how much the columns have promised too much, last time */
    double gain;         /* of the last point over the centre */
    int32_t vain;        /* points in a row that were no better */
    bool started;
    const ckpd_host *host;
    int32_t stop; /* what host->should_stop said */
    /* Where the costs of the slots are known as they are: loads between which they are linear. */
    int32_t levels;
    int32_t *count;    /* [slots], NULL when they are not */
    double *at, *cost; /* [slots][levels], ascending */
} nat_master;

bool ckpd__nat_master_init(nat_master *master, nat_memory *memory, const nat_model *model,
                           int32_t rows, int32_t most);
/* The answer of a block at some prices, block by block: its load, its value at those prices. */
void ckpd__nat_master_add(nat_master *master, int32_t block, const double *price,
                          const double *load, double value, const nat_path *path);
/* After the answers: the bound at those prices. The first ones become the centre. */
void ckpd__nat_master_note(nat_master *master, const double *price, double value, double length);
/* The next prices to evaluate. */
void ckpd__nat_master_next(nat_master *master, double *price);
/* Power of the mixture of paths, slot by slot. */
void ckpd__nat_master_target(const nat_master *master, double *kw);
/* The column of a block at position `draw` in [0, 1) of its shares; draw < 0: the largest share. */
const nat_path *ckpd__nat_master_pick(const nat_master *master, int32_t job, double draw);

#endif
