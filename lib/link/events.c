/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Checkpoints of a plan as power events, and their staggering. */
#include "link/link.h"

#include "shape/shape.h"

#include <math.h>
#include <string.h>

/* Adds the saves of one step. */
static int32_t add_step(const ckpd_link *link, ckpd_shape *shape, const ckpd__link_job *job,
                        const ckpd_step *step, double slot_s)
{
    double start = step->from_slot * slot_s, length = (step->to_slot - step->from_slot) * slot_s;
    double interval = ckpd__link_interval_s(job, step->mode),
           duration = ckpd__link_duration_s(job, step->mode);
    int32_t saves = ckpd__link_saves(job, step->mode, length), status = CKPD_OK;
    for (int32_t k = 1; k <= saves && status == CKPD_OK; k++) {
        double end = k * interval < length ? start + k * interval : start + length;
        ckpd_power_event *event = NULL;
        status = ckpd_power_event_new(&event, link->context);
        if (status == CKPD_OK) {
            event->values[EVENT_ONSET_S] = end - duration;
            event->values[EVENT_DURATION_S] = duration;
            event->values[EVENT_DEPTH_W] = ckpd__link_depth_w(job, step->mode);
            event->values[EVENT_FALL_S] = link->values[LINK_FALL_S];
            event->values[EVENT_RISE_S] = link->values[LINK_RISE_S];
            status = ckpd_shape_add_event(shape, event);
        }
        ckpd_power_event_free(event);
    }
    return status;
}

static int32_t add_job_events(const ckpd_link *link, ckpd_shape *shape, const ckpd_plan *plan,
                              int32_t index, double slot_s)
{
    const ckpd__link_job *job = &link->job[index];
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < ckpd_plan_step_count(plan, index) && status == CKPD_OK; i++) {
        ckpd_step step = {.size = sizeof step};
        status = ckpd_plan_get_step(plan, index, i, &step);
        if (status == CKPD_OK && (step.mode < 0 || step.mode >= job->modes)) {
            status = ckpd__fail(link->context, CKPD_ERR_INCONSISTENT, "mode", i, (double)step.mode,
                                "link: job %s runs mode %d in step %d but has %d modes", job->name,
                                step.mode, i, job->modes);
        }
        status = status == CKPD_OK ? add_step(link, shape, job, &step, slot_s) : status;
    }
    return status;
}

int32_t ckpd_link_add_events(const ckpd_link *link, ckpd_shape *shape, const ckpd_plan *plan,
                             double slot_hours, int32_t *added)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    CKPD__REFUSE_FOREIGN(link, shape, CKPD__SHAPE);
    CKPD__REFUSE_FOREIGN(link, plan, CKPD__PLAN);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = link->context;
    if (shape == NULL || plan == NULL) {
        return ckpd__null_argument(context, shape == NULL ? "shape" : "plan");
    }
    int32_t status = ckpd__check_range(context, "slot_hours", -1, slot_hours, 1.0 / 3600.0, 168.0);
    if (status == CKPD_OK && ckpd_plan_job_count(plan) != link->jobs) {
        status = ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "jobs", -1, (double)ckpd_plan_job_count(plan),
            "link: the plan has %d jobs, the link %d", ckpd_plan_job_count(plan), link->jobs);
    }
    if (status != CKPD_OK) {
        return status;
    }
    int32_t before = shape->events;
    for (int32_t i = 0; i < link->jobs && status == CKPD_OK; i++) {
        status = add_job_events(link, shape, plan, i, 3600.0 * slot_hours);
    }
    while (status != CKPD_OK && shape->events > before) {
        ckpd_power_event_free(shape->event[--shape->events]);
    }
    if (status == CKPD_OK && added != NULL) {
        *added = shape->events - before;
    }
    return status;
}

/* --- staggering ------------------------------------------------------------------------------- */

/* Deepest sum of placed events that meet the one at `onset`, itself included; `placed` in any
 * order. */
static double deepest(const ckpd_link *link, const ckpd_shape *shape, const int32_t *placed,
                      int32_t count, int32_t event, double onset)
{
    double settle = link->values[LINK_SETTLE_S], most = 0.0;
    const double *v = shape->event[event]->values;
    double from = onset, until = onset + v[EVENT_DURATION_S] + v[EVENT_RISE_S] + settle;
    /* A sum of boxes is largest where one of them begins. */
    for (int32_t a = -1; a < count; a++) {
        double t = a < 0 ? from : shape->event[placed[a]]->values[EVENT_ONSET_S],
               sum = v[EVENT_DEPTH_W];
        if (t < from || t >= until) {
            continue;
        }
        for (int32_t b = 0; b < count; b++) {
            const double *other = shape->event[placed[b]]->values;
            double last =
                other[EVENT_ONSET_S] + other[EVENT_DURATION_S] + other[EVENT_RISE_S] + settle;
            sum += t >= other[EVENT_ONSET_S] && t < last ? other[EVENT_DEPTH_W] : 0.0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static double deepest_of_all(const ckpd_link *link, const ckpd_shape *shape, int32_t *order)
{
    double most = 0.0;
    for (int32_t i = 0; i < shape->events; i++) {
        int32_t others = 0;
        for (int32_t j = 0; j < shape->events; j++) {
            if (j != i) {
                order[others++] = j;
            }
        }
        double sum = deepest(link, shape, order, others, i, shape->event[i]->values[EVENT_ONSET_S]);
        most = sum > most ? sum : most;
    }
    return most;
}

/* Event numbers from the deepest on, equal ones in order of onset. */
static void order_by_depth(const ckpd_shape *shape, int32_t *order)
{
    for (int32_t i = 0; i < shape->events; i++) {
        int32_t at = i;
        const double *v = shape->event[i]->values;
        while (at > 0) {
            const double *w = shape->event[order[at - 1]]->values;
            if (w[EVENT_DEPTH_W] > v[EVENT_DEPTH_W] ||
                (w[EVENT_DEPTH_W] == v[EVENT_DEPTH_W] && w[EVENT_ONSET_S] <= v[EVENT_ONSET_S])) {
                break;
            }
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

int32_t ckpd_link_stagger(const ckpd_link *link, ckpd_shape *shape, double *offset_s, int32_t count,
                          double *before_w, double *after_w)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    CKPD__REFUSE_FOREIGN(link, shape, CKPD__SHAPE);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = link->context;
    if (shape == NULL) {
        return ckpd__null_argument(context, "shape");
    }
    if (count != shape->events) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "count", -1, (double)count,
                          "link: the shaping problem has %d events, not %d", shape->events, count);
    }
    int32_t *order = ckpd__calloc(context, (size_t)count, sizeof *order);
    int32_t *scratch = ckpd__calloc(context, (size_t)count, sizeof *scratch);
    if (order == NULL || scratch == NULL) {
        ckpd__free(context, order);
        ckpd__free(context, scratch);
        return ckpd__no_memory(context);
    }
    if (before_w != NULL) {
        *before_w = deepest_of_all(link, shape, scratch);
    }
    order_by_depth(shape, order);
    int32_t moves =
        (int32_t)floor(link->values[LINK_SHIFT_MAX_S] / link->values[LINK_SHIFT_STEP_S] + 1e-9);
    for (int32_t i = 0; i < count; i++) {
        double *values = shape->event[order[i]]->values, planned = values[EVENT_ONSET_S];
        double best = deepest(link, shape, order, i, order[i], planned);
        int32_t chosen = 0;
        for (int32_t k = 1; k <= moves && best > values[EVENT_DEPTH_W]; k++) {
            double onset = planned - k * link->values[LINK_SHIFT_STEP_S];
            double sum = onset < shape->values[SHAPE_START_S]
                             ? (double)INFINITY
                             : deepest(link, shape, order, i, order[i], onset);
            if (sum < best - 1e-6) {
                best = sum;
                chosen = k;
            }
        }
        values[EVENT_ONSET_S] = planned - chosen * link->values[LINK_SHIFT_STEP_S];
        if (offset_s != NULL) {
            offset_s[order[i]] = values[EVENT_ONSET_S] - planned;
        }
    }
    if (after_w != NULL) {
        *after_w = deepest_of_all(link, shape, scratch);
    }
    ckpd__free(context, order);
    ckpd__free(context, scratch);
    return CKPD_OK;
}
