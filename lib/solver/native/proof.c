/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the search leaves behind for the checker. */
#include "solver/native/search.h"

#include <math.h>
#include <string.h>

/*
 * Evaluates the prices of the node, and with that the worths that go with them. Where the storage
 * cannot do what the slots ask of it at all, worths that show it come from energy at a price that
 * is far too high.
 */
static void evaluate(nat_search *search)
{
    double value = ckpd__nat_dual_evaluate(&search->dual, search->forbidden);
    if (value < (double)INFINITY || !search->model->storage)
        return;
    double money = 1e3 * search->ceiling / (1 + fabs(search->model->storage->soc_max_kwh));
    for (int tries = 0; tries < 4; tries++, money *= 100) {
        search->dual.soft = money;
        value = ckpd__nat_dual_evaluate(&search->dual, search->forbidden);
        search->dual.soft = 0;
        if (value >= ckpd__nat_search_cutoff(search))
            break;
    }
}

int32_t ckpd__nat_search_record(nat_search *search)
{
    nat_certificate *certificate = search->certificate;
    if (!certificate || search->lost_proof)
        return -1;
    evaluate(search);
    nat_proof *node = ckpd__nat_certificate_add(certificate);
    if (!node) {
        search->lost_proof = true;
        return -1;
    }
    nat_proof at = search->at;
    at.price = node->price;
    at.worth = node->worth;
    *node = at;
    memcpy(node->price, search->dual.price, certificate->prices * sizeof *node->price);
    if (search->model->storage)
        memcpy(node->worth, search->dual.worth, (size_t)certificate->slots * sizeof *node->worth);
    return certificate->nodes - 1;
}

/* --- one way left
 * ---------------------------------------------------------------------------------- */

typedef struct leaf {
    nat_search *search;
    double *low, *high; /* [slots] of the storage draw */
    int32_t budget;     /* nodes that may still be written */
} leaf;

typedef struct bend {
    int32_t slot; /* < 0: none */
    double draw, height;
} bend;

/* The bend that lies highest above a mixture of what is left and right of it. */
static bend highest_bend(const nat_reservoir *r)
{
    bend best = {.slot = -1};
    for (int32_t t = 0; t < r->model->slots; t++) {
        size_t first = (size_t)t * (size_t)r->most;
        const nat_corner *corner = r->corner + first + r->mixture[t].left;
        const nat_corner *candidate = r->candidate + first;
        int32_t from = 0, to = r->live[t] - 1;
        if (r->corners[t] < 2 || r->mixture[t].part <= 0 || r->mixture[t].part >= 1)
            continue;
        while (from < to && candidate[r->origin[first + (size_t)from]].energy < corner[0].energy)
            from++;
        while (to > from && candidate[r->origin[first + (size_t)to]].energy > corner[1].energy)
            to--;
        const nat_corner *a = &candidate[r->origin[first + (size_t)from]],
                         *b = &candidate[r->origin[first + (size_t)to]];
        for (int32_t i = from + 1; i < to; i++) {
            const nat_corner *at = &candidate[r->origin[first + (size_t)i]];
            double share = (at->energy - a->energy) / (b->energy - a->energy);
            double height = at->cost - (a->cost + share * (b->cost - a->cost));
            if (height > best.height && at->draw < a->draw && at->draw > b->draw)
                best = (bend){t, at->draw, height};
        }
    }
    return best;
}

static void narrow(leaf *l, int32_t t)
{
    nat_dual *dual = &l->search->dual;
    const double *top = ckpd__nat_slot_climb(&dual->slot_work, dual->stack, l->search->model, t,
                                             dual->job_price, dual->job_forbidden);
    ckpd__nat_reservoir_narrow(&dual->reservoir, t, top, l->low[t], l->high[t]);
}

static void prove(leaf *l, nat_proof at)
{
    nat_search *search = l->search;
    search->at = at;
    int32_t number = ckpd__nat_search_record(search);
    if (number < 0 || search->dual.value >= ckpd__nat_search_cutoff(search) || --l->budget < 0)
        return;
    bend split = highest_bend(&search->dual.reservoir);
    if (split.slot < 0)
        return;
    for (int side = 0; side < 2; side++) {
        double *end = (side == 0 ? l->high : l->low) + split.slot, kept = *end;
        *end = split.draw;
        narrow(l, split.slot);
        prove(l, (nat_proof){.parent = number,
                             .job = NAT_SPLIT_DRAW,
                             .slot = split.slot,
                             .side = side,
                             .kw = split.draw});
        *end = kept;
        narrow(l, split.slot);
    }
}

void ckpd__nat_search_record_leaf(nat_search *search, int32_t parent)
{
    enum { MOST_NODES = 2000 };
    size_t T = (size_t)search->model->slots;
    nat_memory scratch = {.host = search->host};
    if (!search->certificate || search->lost_proof)
        return;
    leaf l = {.search = search, .budget = search->model->storage ? MOST_NODES : 0};
    l.low = ckpd__nat_alloc(&scratch, T, sizeof *l.low);
    l.high = ckpd__nat_alloc(&scratch, T, sizeof *l.high);
    search->lost_proof = !l.low || !l.high;
    for (size_t t = 0; !search->lost_proof && t < T; t++) {
        l.low[t] = -(double)INFINITY;
        l.high[t] = (double)INFINITY;
    }
    if (!search->lost_proof)
        prove(&l, (nat_proof){.parent = parent, .job = NAT_WHOLE});
    ckpd__nat_release(&scratch);
}
