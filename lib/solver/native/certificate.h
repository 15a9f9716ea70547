/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What proves a bound: the prices of every node of the search tree and how the tree was split. The
 * checker shares no code with the solver but reads the view itself; docs/algorithm.md says why the
 * numbers are a proof.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_CERTIFICATE_H
#define CKPD_LIB_SOLVER_NATIVE_CERTIFICATE_H

#include <ckptdispatch/backend.h>
#include <stdbool.h>

/* What a node is of its parent, instead of a side of a job's split. */
enum {
    NAT_WHOLE = -1, /* all of it */
    NAT_SPLIT_DRAW =
        -2 /* where the storage draw in `slot` is up to (side 0) or from (side 1) kw on */
};

/*
 * A node: the part of its parent in which the activity of `job` in `slot` is up to (side 0) or
 * beyond (side 1) the one with this power and these GPUs, by power and then by GPUs; or as above.
 */
typedef struct nat_proof {
    int32_t parent; /* < 0: the whole problem */
    int32_t job, slot, side;
    int32_t gpus;
    double kw;
    double *price; /* [prices] */
    double *worth; /* [slots] of a kWh in store at the end of the slot */
} nat_proof;

typedef struct nat_certificate {
    const ckpd_host *host;
    int32_t jobs, slots;
    int32_t many; /* 1: prices are [2 * slots], on site load and on `kw_per_gpu` times the GPUs */
    double kw_per_gpu;
    size_t prices;
    int32_t *activities; /* [jobs] */
    int32_t windows;     /* 1: a price per change: [activities * activities][slots - 1] of a job */
    size_t *offset;      /* [jobs] of the prices [activities][slots] of a job; activity 0 is idle */
    int32_t **gpus;      /* [jobs][activities] */
    double **kw;
    int32_t nodes, room;
    nat_proof *node;    /* parents before children */
    double cutoff;      /* no plan is cheaper than this, says the certificate */
    int32_t slotwise;   /* 1: slot-wise jobs, and of the above only jobs, slots and cutoff count */
    int32_t *order;     /* [slots] in which the slots are passed through */
    double *multiplier; /* [slots + 2][jobs] money for the whole work of a job, for the slots from
                           each place of the order on; the last row for all of them */
} nat_certificate;

/* Room for a node more; its arrays are there, to be filled. NULL when out of memory. */
nat_proof *ckpd__nat_certificate_add(nat_certificate *certificate);
/* Gives up the nodes before `first` and from `end` on; parents are among those kept. */
void ckpd__nat_certificate_keep(nat_certificate *certificate, int32_t first, int32_t end);
void ckpd__nat_certificate_free(nat_certificate *certificate);

/*
 * The lower bound that the certificate proves: at most its cutoff, less when a node does not hold.
 * CKPD_ERR_NOT_SUPPORTED when the combinations of a slot are too many to try one by one.
 */
int32_t ckpd__nat_certificate_check(const ckpd_host *host, const ckpd_path_view *view,
                                    const nat_certificate *certificate, double *bound);
/* The same for prices of changes (check_window.c). */
int32_t ckpd__nat_check_windows(const ckpd_host *host, const ckpd_path_view *view,
                                const nat_certificate *certificate, double *bound);
/* The same for slot-wise jobs (check_slotwise.c); CKPD_ERR_NOT_SUPPORTED also when too many
 * beginnings of plans lie below the cutoff. */
int32_t ckpd__nat_check_slotwise(const ckpd_host *host, const ckpd_path_view *view,
                                 const nat_certificate *certificate, double *bound);
/* Cost of the curve of slot t at x, +infinity outside. */
double ckpd__nat_check_curve(const ckpd_path_view *view, int32_t t, double x);

#endif
