/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Baselines: each control step the gap to the deficit is filled with the type of the largest power,
 * then the next, at the first planned batch. The reactive one sees the measured deficit, the
 * predictive one the predicted deficit of the moment at which a launch is half up; neither stops
 * groups or looks to the end of the event.
 */
#include "shape/run.h"

#include <math.h>

/* The row that greedy uses of a filler, -1 when it has none. */
static int32_t first_planned(const ckpd__rig *rig, int32_t filler)
{
    for (int32_t row = rig->first_row[filler]; row < rig->first_row[filler + 1]; row++) {
        if (rig->profile[row].planned) {
            return row;
        }
    }
    return -1;
}

static double expected_w(const ckpd__simulation *sim, double time_s, bool as_if_up)
{
    double sum = 0.0;
    for (int64_t i = sim->oldest; i < sim->groups; i++) {
        const ckpd__profile *p = &sim->rig.profile[sim->ran[i].row];
        double since = time_s - sim->ran[i].command_s - sim->rig.delay_s;
        /* What was commanded counts in full at once, else the rise would be filled twice. */
        since = as_if_up && since < p->up_s ? p->up_s : since;
        sum += ckpd__profile_power(p, since, (double)INFINITY);
    }
    return sum;
}

/* Longest rise of the types in use. */
static double up_s(const ckpd__rig *rig)
{
    double up = 0.0;
    for (int32_t k = 0; k < rig->fillers; k++) {
        int32_t row = first_planned(rig, k);
        up = row >= 0 && rig->profile[row].up_s > up ? rig->profile[row].up_s : up;
    }
    return up;
}

int32_t ckpd__greedy_step(ckpd__simulation *sim, double time_s)
{
    bool predictive = sim->policy == CKPD_POLICY_GREEDY_PREDICTIVE;
    double ahead = time_s + sim->rig.latency_s + 0.5 * up_s(&sim->rig);
    double gap = predictive ? ckpd__shape_deficit(sim->shape, ahead) - expected_w(sim, ahead, true)
                            : ckpd__real_deficit(sim, time_s - sim->rig.latency_s) -
                                  expected_w(sim, time_s, true);
    double below = (double)INFINITY;
    for (;;) {
        int32_t best = -1, best_filler = -1;
        for (int32_t k = 0; k < sim->rig.fillers; k++) {
            int32_t row = first_planned(&sim->rig, k);
            if (row >= 0 && sim->rig.profile[row].power_w < below &&
                (best < 0 || sim->rig.profile[row].power_w > sim->rig.profile[best].power_w)) {
                best = row;
                best_filler = k;
            }
        }
        if (best < 0 || gap < 0.5 * sim->rig.profile[best].power_w) {
            return CKPD_OK;
        }
        double power = sim->rig.profile[best].power_w;
        double wanted = floor(gap / power + 0.5);
        int64_t room = sim->rig.groups - sim->live;
        int64_t groups =
            wanted < (double)sim->left[best_filler] ? (int64_t)wanted : sim->left[best_filler];
        groups = groups < room ? groups : room;
        int32_t status = ckpd__run_launch(sim, time_s, best, (int32_t)groups);
        if (status != CKPD_OK) {
            return status;
        }
        sim->left[best_filler] -= groups;
        gap -= (double)groups * power;
        below = power;
    }
}
