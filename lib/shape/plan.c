/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The upper layer over all events: clusters of events, windows within a cluster, equal clusters
 * solved once. */
#include "shape/window.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)
static const double AFTER_S = 4.5; /* planned after the last return, so that late ends are seen */

typedef struct planning {
    const ckpd_shape *shape;
    ckpd_shape_plan *plan;
    const char *backend;
    const ckpd_cancel *cancel;
    int32_t *order;          /* [events] by onset */
    int32_t *cluster;        /* [events + 1] first position in order of each cluster */
    int32_t *cluster_launch; /* [events + 1] first launch of each cluster */
    int32_t clusters;
    double error_sum, relaxed_error_sum; /* W times samples */
    int64_t samples;
    double waste_s, run_s;
} planning;

static const double *event_values(const planning *p, int32_t position)
{
    return p->shape->event[p->order[position]]->values;
}

static double event_end(const planning *p, int32_t position)
{
    const double *v = event_values(p, position);
    double rise = v[EVENT_RISE_S], stage = p->shape->values[SHAPE_RETIRE_S];
    return v[EVENT_ONSET_S] + v[EVENT_DURATION_S] + (rise > stage ? rise : stage) + AFTER_S;
}

static double lead(const planning *p)
{
    return p->shape->values[SHAPE_EARLY] > 0.0 ? p->shape->values[SHAPE_EARLY_S] : 0.0;
}

/* Events in order of onset, cut where one has died away before the next begins. */
static void make_clusters(planning *p)
{
    int32_t events = p->shape->events;
    for (int32_t i = 0; i < events; i++) {
        int32_t at = i;
        while (at > 0 &&
               event_values(p, at - 1)[EVENT_ONSET_S] > p->shape->event[i]->values[EVENT_ONSET_S]) {
            p->order[at] = p->order[at - 1];
            at--;
        }
        p->order[at] = i;
    }
    double end = -INF;
    for (int32_t i = 0; i < events; i++) {
        if (event_values(p, i)[EVENT_ONSET_S] - lead(p) > end) {
            p->cluster[p->clusters++] = i;
            end = -INF;
        }
        end = event_end(p, i) > end ? event_end(p, i) : end;
    }
    p->cluster[p->clusters] = events;
}

/* true when both clusters differ by a shift in time only. */
static bool same_cluster(const planning *p, int32_t a, int32_t b)
{
    int32_t count = p->cluster[a + 1] - p->cluster[a];
    if (p->cluster[b + 1] - p->cluster[b] != count) {
        return false;
    }
    double shift = event_values(p, p->cluster[b])[EVENT_ONSET_S] -
                   event_values(p, p->cluster[a])[EVENT_ONSET_S];
    for (int32_t i = 0; i < count; i++) {
        const double *va = event_values(p, p->cluster[a] + i),
                     *vb = event_values(p, p->cluster[b] + i);
        if (fabs(vb[EVENT_ONSET_S] - va[EVENT_ONSET_S] - shift) > 1e-6 ||
            va[EVENT_DURATION_S] != vb[EVENT_DURATION_S] ||
            va[EVENT_DEPTH_W] != vb[EVENT_DEPTH_W] || va[EVENT_FALL_S] != vb[EVENT_FALL_S] ||
            va[EVENT_RISE_S] != vb[EVENT_RISE_S]) {
            return false;
        }
    }
    return true;
}

static int32_t add_launch(ckpd_shape_plan *plan, const ckpd__launch *launch)
{
    if (plan->count == plan->capacity) {
        int32_t capacity = plan->capacity == 0 ? 256 : 2 * plan->capacity;
        ckpd__launch *grown =
            ckpd__realloc(plan->context, plan->launch, (size_t)capacity, sizeof *grown);
        if (grown == NULL) {
            return ckpd__no_memory(plan->context);
        }
        plan->launch = grown;
        plan->capacity = capacity;
    }
    plan->launch[plan->count++] = *launch;
    return CKPD_OK;
}

static int32_t keep_launches(planning *p, const ckpd__window *w, const int32_t *groups)
{
    for (int32_t j = 0; j < w->columns; j++) {
        const ckpd__column *column = &w->column[j];
        const ckpd__slot *slot = &w->slot[column->slot];
        if (groups[j] == 0 || slot->time_s >= w->commit_s) {
            continue;
        }
        ckpd__launch launch = {.start_s = w->origin_s + slot->time_s,
                               .stop_s = w->origin_s + column->stop_s,
                               .event = slot->event,
                               .row = column->row,
                               .filler = column->filler,
                               .groups = groups[j]};
        int32_t status = add_launch(p->plan, &launch);
        if (status != CKPD_OK) {
            return status;
        }
        p->waste_s += groups[j] * column->waste_s;
        p->run_s += groups[j] * column->run_s;
    }
    return CKPD_OK;
}

/* Linear program, whole groups near it, and on request the integer program from there. */
static int32_t solve_window(planning *p, const ckpd__window *w, int32_t *groups, double *x)
{
    ckpd_shape_plan_info *info = &p->plan->info;
    ckpd__fit_answer answer = {.x = x};
    double objective, error;
    int32_t status = ckpd__fit_solve(w, p->backend, p->cancel, false, NULL, &answer);
    if (status == CKPD_OK) {
        status = ckpd__fit_round(w, &answer, groups, &objective, &error);
    }
    if (status != CKPD_OK) {
        return status;
    }
    info->relaxed_objective += answer.objective * w->unit_w;
    p->relaxed_error_sum += answer.error * w->unit_w * w->samples;
    info->nonzeros = answer.nonzeros > info->nonzeros ? answer.nonzeros : info->nonzeros;
    if (p->shape->values[SHAPE_EXACT] > 0.0) {
        ckpd__fit_answer exact = {.x = x};
        status = ckpd__fit_solve(w, p->backend, p->cancel, true, groups, &exact);
        if (status != CKPD_OK) {
            return status;
        }
        if (exact.found && exact.objective < objective) {
            for (int32_t j = 0; j < w->columns; j++) {
                groups[j] = (int32_t)floor(x[j] + 0.5);
            }
            objective = exact.objective;
            error = exact.error;
        }
    }
    info->objective += objective * w->unit_w;
    p->error_sum += error * w->unit_w * w->samples;
    return CKPD_OK;
}

static int32_t plan_window(planning *p, int32_t cluster, double start_s, double end_s,
                           double commit_s)
{
    int32_t first = p->cluster_launch[cluster];
    ckpd__window w = {.context = p->shape->context,
                      .shape = p->shape,
                      .rig = &p->plan->rig,
                      .event = p->order + p->cluster[cluster],
                      .events = p->cluster[cluster + 1] - p->cluster[cluster],
                      .origin_s = event_values(p, p->cluster[cluster])[EVENT_ONSET_S],
                      .start_s = start_s,
                      .end_s = end_s,
                      .commit_s = commit_s,
                      .unit_w = 0.0};
    for (int32_t i = 0; i < w.events; i++) {
        w.unit_w += event_values(p, p->cluster[cluster] + i)[EVENT_DEPTH_W];
    }
    if (!(w.unit_w > 0.0)) {
        return CKPD_OK; /* nothing is missing, nothing to fill */
    }
    int32_t status = ckpd__window_build(
        &w, p->plan->launch == NULL ? NULL : p->plan->launch + first, p->plan->count - first);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_shape_plan_info *info = &p->plan->info;
    info->windows++;
    info->columns = w.columns > info->columns ? w.columns : info->columns;
    info->samples = w.samples > info->samples ? w.samples : info->samples;
    p->samples += w.samples;
    if (w.columns == 0) {
        for (int32_t i = 0; i < w.samples; i++) {
            p->error_sum += fabs(w.target[i]) * w.unit_w;
            p->relaxed_error_sum += fabs(w.target[i]) * w.unit_w;
        }
        ckpd__window_free(&w);
        return CKPD_OK;
    }
    int32_t *groups = ckpd__calloc(w.context, (size_t)w.columns, sizeof *groups);
    double *x = ckpd__calloc(w.context, (size_t)w.columns, sizeof *x);
    status =
        groups == NULL || x == NULL ? ckpd__no_memory(w.context) : solve_window(p, &w, groups, x);
    if (status == CKPD_OK) {
        status = keep_launches(p, &w, groups);
    }
    ckpd__free(w.context, x);
    ckpd__free(w.context, groups);
    ckpd__window_free(&w);
    return status;
}

static int32_t copy_cluster(planning *p, int32_t from, int32_t to)
{
    double shift = event_values(p, p->cluster[to])[EVENT_ONSET_S] -
                   event_values(p, p->cluster[from])[EVENT_ONSET_S];
    for (int32_t i = p->cluster_launch[from]; i < p->cluster_launch[from + 1]; i++) {
        ckpd__launch launch = p->plan->launch[i];
        int32_t position = p->cluster[from];
        while (p->order[position] != launch.event) {
            position++;
        }
        launch.event = p->order[position - p->cluster[from] + p->cluster[to]];
        launch.start_s += shift;
        launch.stop_s += shift;
        int32_t status = add_launch(p->plan, &launch);
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

static int32_t plan_cluster(planning *p, int32_t cluster)
{
    for (int32_t earlier = 0; earlier < cluster; earlier++) {
        if (same_cluster(p, earlier, cluster)) {
            return copy_cluster(p, earlier, cluster);
        }
    }
    double origin = event_values(p, p->cluster[cluster])[EVENT_ONSET_S];
    double start = -lead(p), end = start;
    for (int32_t i = p->cluster[cluster]; i < p->cluster[cluster + 1]; i++) {
        double last = ckpd__window_round(event_end(p, i) - origin);
        end = last > end ? last : end;
    }
    double length = p->shape->values[SHAPE_WINDOW_S], step = p->shape->values[SHAPE_STEP_S];
    double hop = floor(0.5 * length / step) * step;
    for (;;) {
        bool last = start + length >= end;
        int32_t status = plan_window(p, cluster, start, last ? end : start + length,
                                     last ? INF : start + hop - 1e-7);
        if (status != CKPD_OK || last) {
            return status;
        }
        start += hop;
    }
}

static int32_t plan_all(planning *p)
{
    make_clusters(p);
    for (int32_t c = 0; c < p->clusters; c++) {
        p->cluster_launch[c] = p->plan->count;
        int32_t status = plan_cluster(p, c);
        if (status != CKPD_OK) {
            return status;
        }
        p->cluster_launch[c + 1] = p->plan->count;
    }
    ckpd_shape_plan_info *info = &p->plan->info;
    info->size = sizeof *info;
    info->launches = p->plan->count;
    for (int32_t i = 0; i < p->plan->count; i++) {
        info->groups += p->plan->launch[i].groups;
    }
    info->error_w = p->samples > 0 ? p->error_sum / (double)p->samples : 0.0;
    info->relaxed_error_w = p->samples > 0 ? p->relaxed_error_sum / (double)p->samples : 0.0;
    info->waste_share = p->run_s > 0.0 ? p->waste_s / p->run_s : 0.0;
    return CKPD_OK;
}

/* The first registered backend that can do what is asked. */
static int32_t choose_backend(const ckpd_shape *shape, const char **backend)
{
    uint32_t need = shape->values[SHAPE_EXACT] > 0.0 ? CKPD_CAP_MILP | CKPD_CAP_LP : CKPD_CAP_LP;
    for (int32_t i = 0; *backend == NULL && i < ckpd_backend_count(shape->context); i++) {
        const char *name = ckpd_backend_name(shape->context, i);
        if ((ckpd_backend_capabilities(shape->context, name) & need) == need) {
            *backend = name;
        }
    }
    return *backend != NULL
               ? CKPD_OK
               : ckpd__fail(shape->context, CKPD_ERR_NO_BACKEND, "backend", -1, (double)NAN,
                            "shaping plan: no registered backend solves linear programs");
}

int32_t ckpd_shape_plan_new(ckpd_shape_plan **out, const ckpd_shape *shape, const char *backend,
                            const ckpd_cancel *cancel)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    CKPD__REFUSE_FOREIGN(shape, cancel, CKPD__CANCEL);
    if (out == NULL || shape == NULL) {
        return shape == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(shape->context, "out");
    }
    ckpd_context *context = shape->context;
    int32_t status = choose_backend(shape, &backend);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_shape_plan *plan = ckpd__calloc(context, 1, sizeof *plan);
    if (plan == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(plan, CKPD__SHAPE_PLAN, context);
    plan->fingerprint = ckpd__shape_fingerprint(shape);
    planning p = {.shape = shape, .plan = plan, .backend = backend, .cancel = cancel};
    size_t events = (size_t)shape->events + 1;
    p.order = ckpd__calloc(context, events, sizeof *p.order);
    p.cluster = ckpd__calloc(context, events + 1, sizeof *p.cluster);
    p.cluster_launch = ckpd__calloc(context, events + 1, sizeof *p.cluster_launch);
    status = p.order == NULL || p.cluster == NULL || p.cluster_launch == NULL
                 ? ckpd__no_memory(context)
                 : ckpd__rig_build(&plan->rig, shape);
    if (status == CKPD_OK) {
        status = plan_all(&p);
    }
    ckpd__free(context, p.order);
    ckpd__free(context, p.cluster);
    ckpd__free(context, p.cluster_launch);
    if (status != CKPD_OK) {
        ckpd_shape_plan_free(plan);
        return status;
    }
    *out = plan;
    return CKPD_OK;
}

void ckpd_shape_plan_free(ckpd_shape_plan *plan)
{
    CKPD__NULL_IF_FOREIGN(plan, CKPD__SHAPE_PLAN);
    if (plan == NULL) {
        return;
    }
    ckpd_context *context = plan->context;
    ckpd__rig_free(&plan->rig);
    ckpd__free(context, plan->launch);
    ckpd__handle_end(plan);
}

/* A plan may be shared by threads, its context may not: what only reads it records no error. */
int32_t ckpd_shape_plan_get_info(const ckpd_shape_plan *plan, ckpd_shape_plan_info *out)
{
    CKPD__REFUSE_FOREIGN(NULL, plan, CKPD__SHAPE_PLAN);
    return plan == NULL ? CKPD_ERR_ARGUMENT
                        : CKPD__STRUCT_OUT(NULL, shape_plan_info, out, &plan->info);
}

int32_t ckpd_shape_plan_launch(const ckpd_shape_plan *plan, int32_t index, ckpd_shape_launch *out)
{
    CKPD__REFUSE_FOREIGN(NULL, plan, CKPD__SHAPE_PLAN);
    if (plan == NULL || index < 0 || index >= plan->count) {
        return CKPD_ERR_ARGUMENT;
    }
    const ckpd__launch *from = &plan->launch[index];
    ckpd_shape_launch launch = {.size = sizeof launch,
                                .event = from->event,
                                .filler = from->filler,
                                .batch = plan->rig.profile[from->row].batch,
                                .groups = from->groups,
                                .start_s = from->start_s,
                                .stop_s = from->stop_s};
    return CKPD__STRUCT_OUT(NULL, shape_launch, out, &launch);
}

double ckpd_shape_plan_power_w(const ckpd_shape_plan *plan, double time_s)
{
    CKPD__NULL_IF_FOREIGN(plan, CKPD__SHAPE_PLAN);
    if (plan == NULL || isnan(time_s)) {
        return (double)NAN;
    }
    double sum = 0.0;
    for (int32_t i = 0; i < plan->count; i++) {
        const ckpd__launch *launch = &plan->launch[i];
        sum += launch->groups *
               ckpd__profile_power(&plan->rig.profile[launch->row],
                                   time_s - launch->start_s - plan->rig.delay_s,
                                   ckpd__rig_run_s(&plan->rig, launch->start_s, launch->stop_s));
    }
    return sum;
}
