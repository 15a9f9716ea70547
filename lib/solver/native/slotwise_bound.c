/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/slotwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double share(const nat_slotwise *s, const nat_combination *c, int32_t j)
{
    return s->required[j] > 0 ? (double)c->work[j] / (double)s->required[j] : 0;
}

static double reduced(const nat_slotwise *s, const nat_combination *c, const double *multiplier)
{
    double cost = c->cost;
    for (int32_t j = 0; j < s->model.jobs; j++) {
        cost -= multiplier[j] * share(s, c, j);
    }
    return cost;
}

static double stage_best(const nat_slotwise *s, const nat_stage *stage, const double *multiplier,
                         int32_t *best)
{
    double least = (double)INFINITY;
    for (int32_t i = 0; i < stage->count; i++) {
        double cost = reduced(s, &stage->combination[i], multiplier);
        if (cost < least) {
            least = cost;
            *best = i;
        }
    }
    return least;
}

/* Value of the bound, and its subgradient: the work that is missing. */
static double evaluate(const nat_slotwise *s, int32_t from, const double *need,
                       const double *multiplier, double *missing)
{
    double value = 0;
    for (int32_t j = 0; j < s->model.jobs; j++) {
        value += multiplier[j] * need[j];
        missing[j] = need[j];
    }
    for (int32_t t = from; t < s->model.slots; t++) {
        int32_t best = 0;
        value += stage_best(s, &s->stage[t], multiplier, &best);
        for (int32_t j = 0; j < s->model.jobs; j++) {
            missing[j] -= share(s, &s->stage[t].combination[best], j);
        }
    }
    return value;
}

/*
 * Subgradient steps towards a target just above the best value, which comes closer when it is not
 * met (Nedic and Bertsekas, SIAM J. Optim. 12 (2001), dynamic step size with target levels).
 */
double ckpd__nat_slotwise_multipliers(nat_slotwise *s, int32_t from, const double *need,
                                      double *multiplier, int32_t rounds)
{
    double at[NAT_SLOTWISE_JOBS], missing[NAT_SLOTWISE_JOBS];
    memcpy(at, multiplier, sizeof at);
    double best = evaluate(s, from, need, at, missing), value = best;
    double room = 0.1 * fabs(best) + 1e-6, moved = 0;
    for (int32_t round = 0; round < rounds && room > 1e-9 * (fabs(best) + 1); round++) {
        if (s->stop || (s->host->should_stop && (s->stop = s->host->should_stop(s->host->user)))) {
            break;
        }
        double length = 0;
        for (int32_t j = 0; j < s->model.jobs; j++) {
            if (at[j] <= 0 && missing[j] < 0) {
                missing[j] = 0;
            }
            length += missing[j] * missing[j];
        }
        if (!(length > 0)) {
            break;
        }
        double step = (best + room - value) / length;
        moved += step * sqrt(length);
        for (int32_t j = 0; j < s->model.jobs; j++) {
            at[j] = fmax(at[j] + step * missing[j], 0);
        }
        value = evaluate(s, from, need, at, missing);
        if (value > best) {
            moved = value > best + room / 2 ? 0 : moved;
            best = value;
            memcpy(multiplier, at, sizeof at);
        }
        if (moved > 20 * room || (round % 10 == 9 && value < best)) {
            room /= 2;
            moved = 0;
            memcpy(at, multiplier, sizeof at);
            value = evaluate(s, from, need, at, missing);
        }
    }
    return best;
}

/* --- preparation
 * ---------------------------------------------------------------------------------- */

static int by_excess(const void *left, const void *right)
{
    const nat_combination *a = left, *b = right;
    if (a->excess < b->excess || a->excess > b->excess) {
        return a->excess < b->excess ? -1 : 1;
    }
    return memcmp(a->mode, b->mode, sizeof a->mode);
}

/* Slots with a clear choice first: their labels stay few, and the bound of the rest is the better
 * one. */
static int by_clearness(const void *left, const void *right)
{
    const nat_stage *a = left, *b = right;
    double first = a->count > 1 ? a->combination[1].excess : (double)INFINITY;
    double second = b->count > 1 ? b->combination[1].excess : (double)INFINITY;
    if (first < second || first > second) {
        return first > second ? -1 : 1;
    }
    return a->slot - b->slot;
}

static void fill_most(nat_slotwise *s)
{
    int32_t T = s->model.slots;
    memset(s->most[T], 0, sizeof s->most[T]);
    for (int32_t t = T - 1; t >= 0; t--) {
        for (int32_t j = 0; j < s->model.jobs; j++) {
            int64_t most = 0;
            for (int32_t i = 0; i < s->stage[t].count; i++) {
                int64_t work = s->stage[t].combination[i].work[j];
                most = work > most ? work : most;
            }
            s->most[t][j] = s->most[t + 1][j] + most;
        }
    }
}

void ckpd__nat_slotwise_prepare(nat_slotwise *s)
{
    enum { ROOT_ROUNDS = 2000, STAGE_ROUNDS = 60 };
    int32_t T = s->model.slots, J = s->model.jobs;
    double need[NAT_SLOTWISE_JOBS] = {0};
    for (int32_t j = 0; j < J; j++) {
        need[j] = s->required[j] > 0;
    }
    s->root_bound = ckpd__nat_slotwise_multipliers(s, 0, need, s->multiplier, ROOT_ROUNDS);
    for (int32_t t = 0; t < T; t++) {
        nat_stage *stage = &s->stage[t];
        int32_t best = 0;
        double least = stage_best(s, stage, s->multiplier, &best);
        for (int32_t i = 0; i < stage->count; i++) {
            stage->combination[i].excess =
                reduced(s, &stage->combination[i], s->multiplier) - least;
        }
        qsort(stage->combination, (size_t)stage->count, sizeof *stage->combination, by_excess);
    }
    qsort(s->stage, (size_t)T, sizeof *s->stage, by_clearness);
    fill_most(s);

    s->root_value[T] = s->ahead_value[T] = 0;
    memcpy(s->ahead[T], s->multiplier, sizeof s->multiplier);
    double left[NAT_SLOTWISE_JOBS] = {0};
    for (int32_t t = T - 1; t >= 0; t--) {
        int32_t best = 0;
        s->root_value[t] = s->root_value[t + 1] + stage_best(s, &s->stage[t], s->multiplier, &best);
        for (int32_t j = 0; j < J; j++) {
            left[j] += share(s, &s->stage[t].combination[best], j);
        }
        memcpy(s->ahead[t], s->ahead[t + 1], sizeof s->ahead[t]);
        double value = ckpd__nat_slotwise_multipliers(s, t, left, s->ahead[t], STAGE_ROUNDS);
        for (int32_t j = 0; j < J; j++) {
            value -= s->ahead[t][j] * left[j];
        }
        s->ahead_value[t] = value;
    }
}
