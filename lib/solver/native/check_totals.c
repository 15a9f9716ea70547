/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/check_totals.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

/* Finds unit and kw_per_gpu; false when the power of some activity is not that of its GPUs. */
static bool measure(check_totals *totals)
{
    const nat_certificate *proof = totals->proof;
    int64_t most = 0;
    for (int32_t j = 0; j < proof->jobs; j++) {
        int32_t own = 0;
        for (int32_t a = 0; a < proof->activities[j]; a++) {
            int32_t gpus = proof->gpus[j][a];
            if (totals->kw_per_gpu <= 0 && gpus > 0)
                totals->kw_per_gpu = proof->kw[j][a] / gpus;
            if (fabs(proof->kw[j][a] - totals->kw_per_gpu * gpus) > 1e-12 * proof->kw[j][a])
                return false;
            own = gpus > own ? gpus : own;
            while (gpus > 0) {
                int32_t rest = totals->unit % gpus;
                totals->unit = gpus;
                gpus = rest;
            }
        }
        most += own;
        totals->activities += proof->activities[j];
    }
    if (totals->unit == 0 || most / totals->unit > 1000000)
        return false;
    totals->totals = (int32_t)(most / totals->unit) + 1;
    return true;
}

bool ckpd__check_totals_init(check_totals *totals, const ckpd_host *host,
                             const nat_certificate *proof, bool *no_memory)
{
    *totals = (check_totals){.proof = proof};
    *no_memory = false;
    if (!measure(totals))
        return false;
    size_t levels = (size_t)totals->totals, table = ((size_t)proof->jobs + 1) * levels,
           activities = (size_t)totals->activities;
    double *block =
        host->allocate((levels + 2 * activities + 2 * table) * sizeof *block, host->user);
    *no_memory = block == NULL;
    if (!block)
        return false;
    totals->cost = block;
    totals->price = totals->cost + levels;
    totals->least = totals->price + activities;
    totals->before = totals->least + activities;
    totals->after = totals->before + table;
    return true;
}

void ckpd__check_totals_free(check_totals *totals, const ckpd_host *host)
{
    if (totals->cost)
        host->release(totals->cost, host->user);
}

/* One job more (from the front) or one more to come (from the back). */
static void add_job(const check_totals *totals, int32_t j, const double *price, const double *from,
                    double *to, bool forward)
{
    const nat_certificate *proof = totals->proof;
    for (int32_t l = 0; l < totals->totals; l++) {
        to[l] = NONE;
        for (int32_t a = 0; a < proof->activities[j]; a++) {
            int32_t step = proof->gpus[j][a] / totals->unit, other = forward ? l - step : l + step;
            if (other >= 0 && other < totals->totals)
                to[l] = fmin(to[l], from[other] + price[a]);
        }
    }
}

double ckpd__check_totals_slot(check_totals *totals)
{
    const nat_certificate *proof = totals->proof;
    size_t L = (size_t)totals->totals;
    int32_t jobs = proof->jobs, first = 0;
    for (size_t l = 0; l < L; l++)
        totals->before[l] = l == 0 ? 0 : NONE;
    for (int32_t j = 0; j < jobs; j++) {
        double *here = totals->before + (size_t)j * L;
        add_job(totals, j, totals->price + first, here, here + L, true);
        first += proof->activities[j];
    }
    memcpy(totals->after + (size_t)jobs * L, totals->cost, L * sizeof *totals->cost);
    for (int32_t j = jobs - 1; j >= 0; j--) {
        double *here = totals->after + (size_t)j * L, *before = totals->before + (size_t)j * L;
        first -= proof->activities[j];
        add_job(totals, j, totals->price + first, here + L, here, false);
        for (int32_t a = 0; a < proof->activities[j]; a++) {
            size_t step = (size_t)(proof->gpus[j][a] / totals->unit);
            double least = NONE;
            for (size_t l = 0; l + step < L; l++)
                least = fmin(least, before[l] + totals->price[first + a] + here[L + l + step]);
            totals->least[first + a] = least;
        }
    }
    return totals->after[0];
}
