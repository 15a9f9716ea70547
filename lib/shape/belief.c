/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a control believes of its events: the plan, moved by signals and measurements. */
#include "shape/control.h"

#include <math.h>

static const double SURE_SHARE =
    0.5; /* share of full depth from which a measurement tells the depth */
static const double SEEN_SHARE = 0.1; /* share of full depth at which a drop is noticed */
static const double LATE_SHARE = 0.3; /* more than expected of a return: it has not begun */

double ckpd__control_shifted(const ckpd_control *c, int32_t event, double planned_s)
{
    return planned_s + c->belief[event].values[EVENT_ONSET_S] -
           c->shape->event[event]->values[EVENT_ONSET_S];
}

/* Stops follow the recovery. */
double ckpd__control_stop_s(const ckpd_control *c, int32_t event, double planned_s)
{
    const double *plan = c->shape->event[event]->values, *now = c->belief[event].values;
    return planned_s + now[EVENT_ONSET_S] + now[EVENT_DURATION_S] - plan[EVENT_ONSET_S] -
           plan[EVENT_DURATION_S];
}

static double believed_w(const ckpd_control *c, double time_s)
{
    double sum = 0.0;
    for (int32_t i = 0; i < c->shape->events; i++) {
        const double *v = c->belief[i].values;
        sum += v[EVENT_DEPTH_W] * ckpd__event_shape(v, time_s - v[EVENT_ONSET_S]);
    }
    return sum;
}

double ckpd__control_deficit(const ckpd_control *c, double time_s)
{
    return c->ratio * believed_w(c, time_s);
}

void ckpd__belief_begin(ckpd_control *c, int32_t event, double onset_s)
{
    c->belief[event].begun = true;
    c->belief[event].values[EVENT_ONSET_S] = onset_s;
}

void ckpd__belief_end(ckpd_control *c, int32_t event, double recovery_s)
{
    double *v = c->belief[event].values;
    c->belief[event].ended = true;
    v[EVENT_DURATION_S] = recovery_s > v[EVENT_ONSET_S] ? recovery_s - v[EVENT_ONSET_S] : 0.0;
}

/* What the other events under way account for. */
static double others_w(const ckpd_control *c, int32_t event, double sample_s)
{
    double sum = 0.0;
    for (int32_t j = 0; j < c->shape->events; j++) {
        if (j != event && c->belief[j].begun) {
            const double *v = c->belief[j].values;
            sum += v[EVENT_DEPTH_W] * ckpd__event_shape(v, sample_s - v[EVENT_ONSET_S]);
        }
    }
    return sum;
}

/* Sees a drop or a return that was not signalled. */
static void detect(ckpd_control *c, double sample_s, double sample_w)
{
    for (int32_t i = 0; i < c->shape->events; i++) {
        ckpd__belief *b = &c->belief[i];
        const double *plan = c->shape->event[i]->values;
        double depth = plan[EVENT_DEPTH_W];
        if (b->ended || depth <= 0.0 ||
            sample_s < plan[EVENT_ONSET_S] - plan[EVENT_ONSET_ERROR_S] - 5.0) {
            continue;
        }
        double share = (sample_w - others_w(c, i, sample_s)) / depth;
        if (!b->begun && share > SEEN_SHARE) {
            double since = (share < 1.0 ? share : 1.0) * plan[EVENT_FALL_S];
            ckpd__belief_begin(c, i, sample_s - since);
        } else if (b->begun && c->ratio > 0.0 && share < 0.5 * c->ratio &&
                   sample_s > b->values[EVENT_ONSET_S] + plan[EVENT_FALL_S] +
                                  0.5 * plan[EVENT_DURATION_S]) {
            double since = (1.0 - share / c->ratio) * plan[EVENT_RISE_S];
            ckpd__belief_end(c, i, sample_s - (since > 0.0 ? since : 0.0));
        }
    }
}

/* Sees that a return which is due by the plan has not come. */
static void see_overdue(ckpd_control *c, double sample_s, double sample_w)
{
    for (int32_t i = 0; i < c->shape->events; i++) {
        ckpd__belief *b = &c->belief[i];
        const double *plan = c->shape->event[i]->values;
        double since = sample_s - b->values[EVENT_ONSET_S], depth = plan[EVENT_DEPTH_W];
        b->overdue = b->begun && !b->ended && depth > 0.0 && since > plan[EVENT_DURATION_S] &&
                     (sample_w - others_w(c, i, sample_s)) / depth >
                         c->ratio * (ckpd__event_shape(plan, since) + LATE_SHARE);
    }
}

/* Events that have not shown themselves begin no earlier than now, and last until they end. */
void ckpd__belief_move(ckpd_control *c)
{
    bool plan_only = c->shape->values[SHAPE_SIGNALS] <= 0.0;
    for (int32_t i = 0; i < c->shape->events; i++) {
        ckpd__belief *b = &c->belief[i];
        const double *plan = c->shape->event[i]->values;
        if (!b->begun && c->time_s >= plan[EVENT_ONSET_S]) {
            b->values[EVENT_ONSET_S] = plan_only ? plan[EVENT_ONSET_S] : c->time_s;
            b->begun = plan_only;
        }
        if (b->begun && !b->ended &&
            c->time_s >= b->values[EVENT_ONSET_S] + plan[EVENT_DURATION_S]) {
            b->values[EVENT_DURATION_S] =
                plan_only ? plan[EVENT_DURATION_S]
                          : c->time_s - b->values[EVENT_ONSET_S] + (b->overdue ? c->ahead_s : 0.0);
            b->ended = plan_only;
        }
    }
}

void ckpd__belief_sample(ckpd_control *c, const ckpd_control_input *in)
{
    bool busy = false;
    for (int32_t i = 0; i < c->shape->events; i++) {
        busy = busy || (c->belief[i].begun && !c->belief[i].ended);
    }
    if (in->has_sample && !isfinite(in->deficit_w)) {
        c->state.lost++;
    } else if (in->has_sample && in->sample_s == c->sample_s) {
        c->state.duplicate++;
    } else if (in->has_sample && in->sample_s < c->sample_s) {
        c->state.late++;
    } else if (in->has_sample) {
        double before_s = c->sample_s;
        c->state.samples++;
        c->sample_s = in->sample_s;
        if (c->shape->values[SHAPE_DETECT] > 0.0) {
            detect(c, in->sample_s, in->deficit_w);
        }
        double full = 0.0, believed = 0.0;
        for (int32_t i = 0; i < c->shape->events; i++) {
            const double *v = c->belief[i].values;
            double share = ckpd__event_shape(v, in->sample_s - v[EVENT_ONSET_S]);
            if (c->belief[i].begun && !c->belief[i].ended && share >= SURE_SHARE) {
                full += v[EVENT_DEPTH_W];
            }
            believed += c->belief[i].begun ? v[EVENT_DEPTH_W] * share : 0.0;
        }
        if (full > 0.0 && believed > 0.0) {
            double ratio = in->deficit_w / believed;
            ratio = ratio < 0.0 ? 0.0 : ratio > 3.0 ? 3.0 : ratio;
            /* The mean of the first measurements, then a low pass: one alone counts in full, and
             * a ripple averages out. */
            double lag = c->shape->values[SHAPE_CORRECTION_S];
            double pass = lag > 0.0 ? 1.0 - exp((before_s - in->sample_s) / lag) : 1.0;
            double mean = 1.0 / (1.0 + c->measured++);
            c->ratio += (pass > mean ? pass : mean) * (ratio - c->ratio);
        } else if (!busy) {
            c->ratio = 1.0;
            c->measured = 0;
        }
        see_overdue(c, in->sample_s, in->deficit_w);
    }
    c->state.degraded = busy && c->time_s - c->sample_s > c->shape->values[SHAPE_HOLD_S];
    c->state.gaps += c->state.degraded;
    c->state.correction = c->ratio;
}
