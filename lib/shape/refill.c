/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A checkpoint that lasts longer than planned has no launches left. While the measurement shows
 * that it goes on, the gap to the measured deficit is filled with the shortest work that the free
 * GPUs allow, since the end may come at any moment; it is stopped in stages when it has come.
 */
#include "shape/control.h"

#include <math.h>

/* What the queues hold after what was started and what the plan will still start. */
static void count_left(ckpd_control *c)
{
    for (int32_t k = 0; k < c->rig.fillers; k++) {
        c->left[k] = c->rig.queue[k] - c->used[k];
    }
    for (int32_t i = c->next; i < c->launches; i++) {
        const ckpd__launch *l = &c->launch[i];
        const ckpd__belief *b = &c->belief[l->event];
        if (!c->done[i] && b->begun && !b->ended) {
            c->left[l->filler] -= l->groups;
        }
    }
}

/*
 * The shortest row that runs two steps at full power and of which `room` groups give `gap_w`;
 * where none gives that much, the row of the largest power. Where nothing may be stopped, the
 * shortest row all the same: it runs on when the end has come. -1: nothing is left.
 */
static int32_t choose_row(const ckpd_control *c, double gap_w, int32_t room, int32_t *filler)
{
    double least = 2.0 * c->shape->values[SHAPE_STEP_S];
    bool stops = c->shape->values[SHAPE_RETIRE] > 0.0;
    int32_t best = -1;
    for (int32_t k = 0; k < c->rig.fillers; k++) {
        for (int32_t row = c->rig.first_row[k]; row < c->rig.first_row[k + 1]; row++) {
            const ckpd__profile *p = &c->rig.profile[row];
            if (!p->allowed || p->power_w <= 0.0 || c->left[k] < 1 || p->tail_s - p->up_s < least) {
                continue;
            }
            const ckpd__profile *b = best < 0 ? NULL : &c->rig.profile[best];
            bool gives = !stops || p->power_w * room >= gap_w;
            bool best_gives = b != NULL && (!stops || b->power_w * room >= gap_w);
            if (b == NULL || (gives && (!best_gives || p->duration_s < b->duration_s)) ||
                (!gives && !best_gives && p->power_w > b->power_w)) {
                best = row;
                *filler = k;
            }
        }
    }
    return best;
}

/* Starts groups that stop in equal stages while the deficit returns, once it does. */
static void start(ckpd_control *c, int32_t event, int32_t row, int32_t groups)
{
    const double *v = c->shape->values, *plan = c->shape->event[event]->values;
    if (v[SHAPE_RETIRE] <= 0.0) {
        ckpd__control_launch(c, row, -1, event, (double)INFINITY, groups, c->time_s);
        return;
    }
    double recovery = plan[EVENT_ONSET_S] + plan[EVENT_DURATION_S];
    double span = fmin(plan[EVENT_RISE_S], v[SHAPE_RETIRE_S]);
    int32_t stages = (int32_t)fmin(1.0 + floor(span / v[SHAPE_STEP_S] + 1e-6), REFILL_STAGES);
    for (int32_t i = 0; i < stages; i++) {
        int32_t part = groups * (i + 1) / stages - groups * i / stages;
        double stop = recovery + (stages > 1 ? span * i / (stages - 1) : 0.0);
        if (part > 0) {
            ckpd__control_launch(c, row, -1, event, stop, part, c->time_s);
        }
    }
}

static void refill_event(ckpd_control *c, int32_t event)
{
    double at = c->time_s + c->ahead_s - c->shape->values[SHAPE_STEP_S];
    double gap =
        ckpd__control_deficit(c, at) - ckpd__control_live_w(c, at) - ckpd__control_later_w(c, at);
    if (gap < c->shape->values[SHAPE_DEAD_ZONE_W]) {
        return;
    }
    int32_t room = (int32_t)floor(c->rig.margin * c->rig.groups + 1e-9) - c->state.live;
    int32_t rows = c->rig.first_row[c->rig.fillers];
    for (int32_t turn = 0; turn < rows && room > 0; turn++) {
        int32_t filler = 0, row = choose_row(c, gap, room, &filler);
        double power = row < 0 ? 0.0 : c->rig.profile[row].power_w;
        if (row < 0 || gap < 0.5 * power) {
            return;
        }
        double wanted = fmin(floor(gap / power + 0.5), (double)room);
        int32_t groups = (int32_t)fmin(wanted, (double)c->left[filler]);
        start(c, event, row, groups);
        c->left[filler] -= groups;
        room -= groups;
        gap -= groups * power;
    }
}

void ckpd__control_refill(ckpd_control *c)
{
    bool busy = false;
    int32_t overdue = -1;
    for (int32_t i = 0; i < c->shape->events; i++) {
        const ckpd__belief *b = &c->belief[i];
        busy = busy || (b->begun && !b->ended);
        overdue = overdue < 0 && b->overdue && !b->ended ? i : overdue;
    }
    /* The queues have filled up again by the next event. */
    for (int32_t k = 0; !busy && c->state.live == 0 && k < c->rig.fillers; k++) {
        c->used[k] = 0;
    }
    if (overdue >= 0 && !c->state.degraded &&
        c->time_s > c->refill_s + c->shape->values[SHAPE_STEP_S] - 1e-6) {
        c->refill_s = c->time_s;
        count_left(c);
        refill_event(c, overdue); /* the gap is that of all events together */
    }
}
