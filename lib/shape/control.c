/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The control's step: what is believed, what has ended, what is due. */
#include "shape/control.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)
static const double FAR_S = 300.0; /* launches planned later than this from now are not looked at */
static const double DUE_S = 1e-6;  /* a moment this near counts as reached */

/* --- groups ------------------------------------------------------------------------------------
 */

static int32_t find_group(const ckpd_control *c, int64_t id)
{
    int32_t low = 0, high = c->state.live;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (c->live[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->state.live && c->live[low].id == id ? low : -1;
}

static void remove_finished(ckpd_control *c, const ckpd_control_input *in)
{
    for (int32_t i = 0; i < in->finished_count; i++) {
        int32_t at = find_group(c, in->finished[i]);
        if (at >= 0) {
            c->live[at].row = -1;
        }
    }
    bool reported = c->shape->values[SHAPE_COMPLETION_REPORTS] > 0.0;
    int32_t kept = 0;
    for (int32_t i = 0; i < c->state.live; i++) {
        const ckpd__group *g = &c->live[i];
        bool gone = g->row < 0;
        if (!gone && !reported) {
            const ckpd__profile *p = &c->rig.profile[g->row];
            double run = g->stopping && g->stopped_s - g->start_s < p->duration_s
                             ? g->stopped_s - g->start_s
                             : p->duration_s;
            gone = c->time_s >= g->start_s + c->rig.delay_s + run + p->down_s;
        }
        if (!gone) {
            c->live[kept++] = *g;
        }
    }
    c->state.live = kept;
}

static ckpd_control_action *new_action(ckpd_control *c, int32_t kind)
{
    ckpd_control_action *action = &c->action[c->actions++];
    memset(action, 0, sizeof *action);
    action->size = sizeof *action;
    action->kind = kind;
    return action;
}

static void stop_due(ckpd_control *c)
{
    for (int32_t i = 0; i < c->state.live; i++) {
        ckpd__group *g = &c->live[i];
        const ckpd__belief *b = &c->belief[g->event];
        if (g->stopping || isinf(g->stop_s) ||
            c->time_s < ckpd__control_stop_s(c, g->event, g->stop_s) - DUE_S) {
            continue;
        }
        /* Stages at or after the recovery wait for it. */
        const double *plan = c->shape->event[g->event]->values;
        if (!b->ended && g->stop_s >= plan[EVENT_ONSET_S] + plan[EVENT_DURATION_S] - DUE_S) {
            continue;
        }
        g->stopping = true;
        g->stopped_s = c->time_s;
        c->state.stopped++;
        ckpd_control_action *last = c->actions > 0 ? &c->action[c->actions - 1] : NULL;
        if (last != NULL && last->kind == CKPD_ACTION_STOP &&
            last->first_group + last->groups == g->id) {
            last->groups++;
            continue;
        }
        ckpd_control_action *action = new_action(c, CKPD_ACTION_STOP);
        action->first_group = g->id;
        action->groups = 1;
        action->event = g->event;
    }
}

void ckpd__control_launch(ckpd_control *c, int32_t row, int32_t planned_row, int32_t event,
                          double stop_s, int32_t groups, double until_s)
{
    int32_t room = c->rig.groups - c->state.live;
    int32_t now = groups < room ? groups : room;
    if (now > 0 && c->actions < c->action_capacity) {
        ckpd_control_action *action = new_action(c, CKPD_ACTION_LAUNCH);
        int32_t filler = 0;
        while (row >= c->rig.first_row[filler + 1]) {
            filler++;
        }
        action->filler = filler;
        action->batch = c->rig.profile[row].batch;
        action->planned_batch = planned_row < 0 ? 0 : c->rig.profile[planned_row].batch;
        action->first_group = c->next_id;
        action->groups = now;
        action->event = event;
        for (int32_t i = 0; i < now; i++) {
            ckpd__group *g = &c->live[c->state.live++];
            memset(g, 0, sizeof *g);
            g->id = c->next_id++;
            g->row = row;
            g->event = event;
            g->start_s = c->time_s;
            g->stop_s = stop_s;
        }
        c->used[filler] += now;
        c->state.launched += now;
        c->state.changed += planned_row >= 0 && row != planned_row ? now : 0;
        c->state.refilled += planned_row < 0 ? now : 0;
        groups -= now;
    }
    if (groups > 0 && c->time_s < until_s && c->waits < c->wait_capacity) {
        c->wait[c->waits++] = (ckpd__wait){row, planned_row, event, groups, stop_s, until_s, false};
        c->state.retried += groups;
    } else {
        c->state.dropped += groups > 0 ? groups : 0;
    }
}

static void retry(ckpd_control *c)
{
    int32_t waits = c->waits;
    c->waits = 0;
    int64_t retried = c->state.retried;
    for (int32_t i = 0; i < waits; i++) {
        ckpd__wait w = c->wait[i]; /* launching may write this place again, never a later one */
        if (w.held || c->belief[w.event].ended) {
            if (w.held && !c->belief[w.event].ended) {
                c->wait[c->waits++] = w;
            }
            continue;
        }
        ckpd__control_launch(c, w.row, w.planned_row, w.event, w.stop_s, w.groups, w.until_s);
    }
    c->state.retried = retried; /* counted once, when they first had to wait */
}

/* --- the cohort --------------------------------------------------------------------------------
 */

/* Joins groups to the entry of their filler and stop stage; false when the cohort is full. */
static bool join(ckpd_control *c, int32_t event, int32_t row, double stop_s, int32_t groups)
{
    int32_t filler = 0, e = 0;
    while (row >= c->rig.first_row[filler + 1]) {
        filler++;
    }
    while (e < c->entries && !(c->entry[e].filler == filler && c->entry[e].stop_s == stop_s &&
                               c->entry[e].event == event && c->entry[e].planned_row == row)) {
        e++;
    }
    int32_t *count = c->count + (size_t)e * (size_t)(c->most_rows + 1);
    if (e == c->entries) {
        if (e == COHORT_ENTRIES) {
            return false;
        }
        int32_t first = c->rig.first_row[filler];
        c->entry[e] =
            (ckpd__entry){event, filler, first, c->rig.first_row[filler + 1] - first, stop_s, row};
        c->entries++;
        memset(count, 0, (size_t)(c->most_rows + 1) * sizeof *count);
    }
    count[row - c->entry[e].first_row] += groups;
    return true;
}

static bool is_due(const ckpd_control *c, const ckpd__launch *l)
{
    const ckpd__belief *b = &c->belief[l->event];
    const double *plan = c->shape->event[l->event]->values;
    if (c->time_s < ckpd__control_shifted(c, l->event, l->start_s) - DUE_S) {
        return false;
    }
    return b->begun ||
           l->start_s < plan[EVENT_ONSET_S] - DUE_S; /* only early launches go by prediction */
}

static void collect(ckpd_control *c)
{
    c->entries = 0;
    int32_t kept = 0;
    bool any = false;
    while (c->next < c->launches && c->done[c->next]) {
        c->next++;
    }
    for (int32_t i = c->next; i < c->launches && c->launch[i].start_s < c->time_s + FAR_S; i++) {
        const ckpd__launch *l = &c->launch[i];
        if (c->done[i]) {
            continue;
        }
        if (c->belief[l->event].ended) {
            c->done[i] = 1;
            continue;
        }
        if (is_due(c, l)) {
            c->done[i] = 1;
            any = true;
            if (!join(c, l->event, l->row, l->stop_s, l->groups)) {
                ckpd__control_launch(c, l->row, l->row, l->event, l->stop_s, l->groups,
                                     c->time_s + c->shape->values[SHAPE_RETRY_S]);
            }
        }
    }
    for (int32_t i = 0; i < c->waits; i++) {
        ckpd__wait w = c->wait[i];
        if (!(any && w.held && join(c, w.event, w.row, w.stop_s, w.groups))) {
            c->wait[kept++] = w;
        }
    }
    c->waits = kept;
}

static void start_cohort(ckpd_control *c)
{
    double until = c->time_s + c->shape->values[SHAPE_RETRY_S];
    for (int32_t e = 0; e < c->entries; e++) {
        const ckpd__entry *entry = &c->entry[e];
        const int32_t *count = c->count + (size_t)e * (size_t)(c->most_rows + 1);
        for (int32_t r = 0; r < entry->rows; r++) {
            if (count[r] > 0) {
                ckpd__control_launch(c, entry->first_row + r, entry->planned_row, entry->event,
                                     entry->stop_s, count[r], until);
            }
        }
        if (count[entry->rows] > 0 && c->waits < c->wait_capacity) {
            c->wait[c->waits++] = (ckpd__wait){entry->planned_row,
                                               entry->planned_row,
                                               entry->event,
                                               count[entry->rows],
                                               entry->stop_s,
                                               INF,
                                               true};
        }
    }
}

/* --- interface ----------------------------------------------------------------------------------
 */

static int32_t check_input(const ckpd_control *c, const ckpd_control_input *in)
{
    ckpd_context *context = c->context;
    if (!isfinite(in->time_s)) {
        return ckpd__fail(context, CKPD_ERR_NOT_FINITE, "time_s", -1, in->time_s,
                          "control: time_s is not finite");
    }
    if (c->started && in->time_s < c->time_s) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "time_s", -1, in->time_s,
                          "control: time goes back from %g s to %g s", c->time_s, in->time_s);
    }
    if (in->has_sample && !(in->sample_s <= in->time_s + DUE_S)) {
        return ckpd__fail(context, isfinite(in->sample_s) ? CKPD_ERR_RANGE : CKPD_ERR_NOT_FINITE,
                          "sample_s", -1, in->sample_s,
                          "control: a measurement of %g s cannot be known at %g s", in->sample_s,
                          in->time_s);
    }
    const int32_t event[2] = {in->onset, in->recovery};
    const double moment[2] = {in->onset_s, in->recovery_s};
    for (int32_t i = 0; i < 2; i++) {
        if (event[i] < 0 || event[i] > c->shape->events) {
            return ckpd__fail(context, CKPD_ERR_ARGUMENT, i == 0 ? "onset" : "recovery", event[i],
                              (double)event[i], "control: event %d does not exist, there are %d",
                              event[i] - 1, c->shape->events);
        }
        if (event[i] > 0 && !(moment[i] <= in->time_s + DUE_S)) {
            return ckpd__fail(context, isfinite(moment[i]) ? CKPD_ERR_RANGE : CKPD_ERR_NOT_FINITE,
                              i == 0 ? "onset_s" : "recovery_s", event[i] - 1, moment[i],
                              "control: a signal of %g s cannot be known at %g s", moment[i],
                              in->time_s);
        }
    }
    if (in->finished_count < 0 || (in->finished_count > 0 && in->finished == NULL)) {
        return ckpd__null_argument(context, "finished");
    }
    for (int32_t i = 0; i < in->finished_count; i++) {
        if (in->finished[i] < 0 || in->finished[i] >= c->next_id) {
            return ckpd__fail(context, CKPD_ERR_ARGUMENT, "finished", i, (double)in->finished[i],
                              "control: group %L was never started", in->finished[i]);
        }
    }
    return CKPD_OK;
}

int32_t ckpd_control_step(ckpd_control *c, const ckpd_control_input *input, int32_t *actions)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CONTROL);
    if (c == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (input == NULL || actions == NULL) {
        return ckpd__null_argument(c->context, input == NULL ? "input" : "actions");
    }
    ckpd_control_input in;
    int32_t status = CKPD__STRUCT_IN(c->context, control_input, input, &in);
    if (status == CKPD_OK) {
        status = check_input(c, &in);
    }
    if (status != CKPD_OK) {
        return status;
    }
    c->sample_s = c->started ? c->sample_s : -INF;
    c->started = true;
    c->time_s = in.time_s;
    c->actions = 0;
    c->state.steps++;
    if (in.onset > 0 && !c->belief[in.onset - 1].begun) {
        ckpd__belief_begin(c, in.onset - 1, in.onset_s);
    }
    if (in.recovery > 0 && !c->belief[in.recovery - 1].ended) {
        ckpd__belief_end(c, in.recovery - 1, in.recovery_s);
    }
    ckpd__belief_sample(c, &in);
    ckpd__belief_move(c);
    remove_finished(c, &in);
    stop_due(c);
    retry(c);
    collect(c);
    bool correct = c->shape->values[SHAPE_CORRECT] > 0.0;
    if (c->entries > 0) {
        if (correct) {
            ckpd__control_adjust(c);
        }
        start_cohort(c);
    }
    if (correct) {
        ckpd__control_refill(c);
    }
    c->state.predicted_w = ckpd__control_live_w(c, c->time_s);
    *actions = c->actions;
    return CKPD_OK;
}

int32_t ckpd_control_action_at(const ckpd_control *c, int32_t index, ckpd_control_action *out)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CONTROL);
    if (c == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (index < 0 || index >= c->actions) {
        return ckpd__fail(c->context, CKPD_ERR_ARGUMENT, "index", index, (double)index,
                          "control: action %d does not exist, there are %d", index, c->actions);
    }
    return CKPD__STRUCT_OUT(c->context, control_action, out, &c->action[index]);
}

int32_t ckpd_control_get_state(const ckpd_control *c, ckpd_control_state *out)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CONTROL);
    return c == NULL ? CKPD_ERR_ARGUMENT
                     : CKPD__STRUCT_OUT(c->context, control_state, out, &c->state);
}

static bool allocate(ckpd_control *c)
{
    ckpd_context *context = c->context;
    for (int32_t k = 0; k < c->rig.fillers; k++) {
        int32_t rows = c->rig.first_row[k + 1] - c->rig.first_row[k];
        c->most_rows = rows > c->most_rows ? rows : c->most_rows;
    }
    size_t columns = (size_t)c->most_rows + 1;
    c->wait_capacity = 2 * c->launches + 64;
    c->action_capacity = c->rig.groups + c->wait_capacity + c->launches * (int32_t)columns +
                         c->rig.first_row[c->rig.fillers] * REFILL_STAGES;
    c->used = ckpd__calloc(context, (size_t)c->rig.fillers, sizeof *c->used);
    c->left = ckpd__calloc(context, (size_t)c->rig.fillers, sizeof *c->left);
    c->done = ckpd__calloc(context, (size_t)c->launches, sizeof *c->done);
    c->belief = ckpd__calloc(context, (size_t)c->shape->events, sizeof *c->belief);
    c->live = ckpd__calloc(context, (size_t)c->rig.groups, sizeof *c->live);
    c->wait = ckpd__calloc(context, (size_t)c->wait_capacity, sizeof *c->wait);
    c->action = ckpd__calloc(context, (size_t)c->action_capacity, sizeof *c->action);
    c->count = ckpd__calloc(context, COHORT_ENTRIES * columns, sizeof *c->count);
    c->profile =
        ckpd__calloc(context, COHORT_ENTRIES * columns * HORIZON_POINTS, sizeof *c->profile);
    return c->used != NULL && c->left != NULL && c->done != NULL && c->belief != NULL &&
           c->live != NULL && c->wait != NULL && c->action != NULL && c->count != NULL &&
           c->profile != NULL;
}

int32_t ckpd_control_new(ckpd_control **out, const ckpd_shape *shape, const ckpd_shape_plan *plan)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    CKPD__REFUSE_FOREIGN(shape, plan, CKPD__SHAPE_PLAN);
    if (out == NULL || shape == NULL || plan == NULL) {
        return shape == NULL ? CKPD_ERR_ARGUMENT
                             : ckpd__null_argument(shape->context, out == NULL ? "out" : "plan");
    }
    ckpd_context *context = shape->context;
    if (plan->fingerprint != ckpd__shape_fingerprint(shape)) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "plan", -1, (double)NAN,
                          "control: the plan was made for other events or fillers");
    }
    ckpd_control *c = ckpd__calloc(context, 1, sizeof *c);
    if (c == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(c, CKPD__CONTROL, context);
    c->ratio = 1.0;
    c->launches = plan->count;
    c->state.size = sizeof c->state;
    c->launch = ckpd__memdup(context, plan->launch, (size_t)plan->count, sizeof *c->launch);
    int32_t status = c->launch == NULL && plan->count > 0 ? ckpd__no_memory(context)
                                                          : ckpd__shape_copy(&c->shape, shape);
    if (status == CKPD_OK) {
        status = ckpd__rig_build(&c->rig, shape);
    }
    if (status == CKPD_OK && !allocate(c)) {
        status = ckpd__no_memory(context);
    }
    if (status != CKPD_OK) {
        ckpd_control_free(c);
        return status;
    }
    for (int32_t row = 0; row < c->rig.first_row[c->rig.fillers]; row++) {
        c->ahead_s = fmax(c->ahead_s, c->rig.profile[row].up_s);
    }
    c->ahead_s += c->rig.delay_s + c->shape->values[SHAPE_STEP_S];
    c->refill_s = -INF;
    for (int32_t i = 0; i < c->shape->events; i++) {
        memcpy(c->belief[i].values, c->shape->event[i]->values, sizeof c->belief[i].values);
    }
    *out = c;
    return CKPD_OK;
}

void ckpd_control_free(ckpd_control *c)
{
    CKPD__NULL_IF_FOREIGN(c, CKPD__CONTROL);
    if (c == NULL) {
        return;
    }
    ckpd_context *context = c->context;
    ckpd_shape_free(c->shape);
    ckpd__rig_free(&c->rig);
    ckpd__free(context, c->launch);
    ckpd__free(context, c->used);
    ckpd__free(context, c->left);
    ckpd__free(context, c->done);
    ckpd__free(context, c->belief);
    ckpd__free(context, c->live);
    ckpd__free(context, c->wait);
    ckpd__free(context, c->action);
    ckpd__free(context, c->count);
    ckpd__free(context, c->profile);
    ckpd__handle_end(c);
}
