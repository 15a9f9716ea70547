/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Simulation: policies act on jittering launches and durations; the deficit does not depend on the
 * filler. */
#include "shape/run.h"
#include "shape/control.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)
static const double BEFORE_S = 10.0, AFTER_S = 40.0; /* simulated around an event */
static const double TICK_S = 0.1;                    /* between steps of the control */

/* Sum of twelve uniform numbers less six: close to normal, bounded, and the same on every machine.
 */
static double bell(ckpd__random *random)
{
    double sum = -6.0;
    for (int32_t i = 0; i < 12; i++) {
        sum += ckpd__random_uniform(random);
    }
    return sum;
}

static double trace_at(const ckpd_power_event *event, double since_s)
{
    int32_t n = event->trace_count;
    const double *t = event->trace_s, *w = t + n;
    if (since_s < t[0] || since_s > t[n - 1]) {
        return 0.0;
    }
    int32_t low = 0, high = n - 1;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (t[middle] <= since_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return w[low] + (w[high] - w[low]) * (since_s - t[low]) / (t[high] - t[low]);
}

double ckpd__real_deficit(const ckpd__simulation *sim, double time_s)
{
    double sum = 0.0;
    for (int32_t i = 0; i < sim->shape->events; i++) {
        const ckpd__real *real = &sim->real[i];
        double since = time_s - real->values[EVENT_ONSET_S];
        const ckpd_power_event *event = sim->shape->event[real->event];
        if (event->trace_count > 0) {
            sum += trace_at(event, since);
            continue;
        }
        double share = ckpd__event_shape(real->values, since);
        if (share > 0.0) {
            double ripple = sim->truth.ripple_w *
                            sin(2.0 * 3.14159265358979323846 * sim->truth.ripple_hz * since);
            sum += share * (real->values[EVENT_DEPTH_W] + ripple);
        }
    }
    return sum;
}

double ckpd__ran_end_s(const ckpd__simulation *sim, const ckpd__ran *ran)
{
    const ckpd__profile *p = &sim->rig.profile[ran->row];
    double run = p->duration_s * ran->factor;
    return ran->start_s + (ran->stop_s < run ? ran->stop_s : run) + p->down_s;
}

int32_t ckpd__run_launch(ckpd__simulation *sim, double time_s, int32_t row, int32_t groups)
{
    while (sim->groups + groups > sim->capacity) {
        int64_t capacity = 2 * sim->capacity + 1024;
        ckpd__ran *grown = ckpd__realloc(sim->context, sim->ran, (size_t)capacity, sizeof *grown);
        if (grown == NULL) {
            return ckpd__no_memory(sim->context);
        }
        sim->ran = grown;
        sim->capacity = capacity;
    }
    for (int32_t i = 0; i < groups; i++) {
        double delay = sim->rig.latency_s + sim->rig.jitter_s * fabs(bell(&sim->random));
        double factor = 1.0 + sim->rig.spread * bell(&sim->random);
        ckpd__ran *ran = &sim->ran[sim->groups++];
        ran->command_s = time_s;
        ran->start_s = time_s + delay;
        ran->factor = factor > 0.1 ? factor : 0.1;
        ran->stop_s = INF;
        ran->row = row;
        ran->reported = 0;
    }
    sim->live += groups;
    sim->peak_live = sim->live > sim->peak_live ? sim->live : sim->peak_live;
    return CKPD_OK;
}

/* Collects groups that have ended since; their numbers go to sim->finished. */
static int32_t collect_finished(ckpd__simulation *sim, double time_s)
{
    int32_t count = 0;
    bool oldest = true;
    for (int64_t i = sim->oldest; i < sim->groups; i++) {
        ckpd__ran *ran = &sim->ran[i];
        if (!ran->reported && ckpd__ran_end_s(sim, ran) <= time_s) {
            ran->reported = 1;
            sim->finished[count++] = i;
        }
        oldest = oldest && ran->reported;
        sim->oldest = oldest ? i + 1 : sim->oldest;
    }
    sim->live -= count;
    return count;
}

static int32_t row_of(const ckpd__rig *rig, int32_t filler, int32_t batch)
{
    int32_t row = rig->first_row[filler];
    while (rig->profile[row].batch != batch) {
        row++;
    }
    return row;
}

static int32_t carry_out(ckpd__simulation *sim, double time_s, int32_t actions)
{
    for (int32_t i = 0; i < actions; i++) {
        ckpd_control_action action = {.size = sizeof action};
        int32_t status = ckpd_control_action_at(sim->control, i, &action);
        if (status == CKPD_OK && action.kind == CKPD_ACTION_LAUNCH) {
            status = ckpd__run_launch(sim, time_s, row_of(&sim->rig, action.filler, action.batch),
                                      action.groups);
        }
        for (int32_t g = 0; action.kind == CKPD_ACTION_STOP && g < action.groups; g++) {
            ckpd__ran *ran = &sim->ran[action.first_group + g];
            ran->stop_s = time_s + sim->rig.latency_s - ran->start_s;
        }
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

static int32_t control_step(ckpd__simulation *sim, double time_s)
{
    ckpd_control_input in = {.size = sizeof in, .time_s = time_s, .has_sample = 1};
    in.sample_s = time_s - sim->rig.latency_s;
    in.deficit_w = ckpd__real_deficit(sim, in.sample_s);
    in.finished_count = collect_finished(sim, time_s);
    in.finished = sim->finished;
    bool told = sim->shape->values[SHAPE_SIGNALS] > 0.0;
    for (int32_t i = 0; told && i < sim->shape->events; i++) {
        ckpd__real *real = &sim->real[i];
        double onset = real->values[EVENT_ONSET_S],
               recovery = onset + real->values[EVENT_DURATION_S];
        if (!real->onset_told && in.onset == 0 && onset <= time_s + 1e-9) {
            real->onset_told = true;
            in.onset = 1 + real->event;
            in.onset_s = onset;
        }
        if (!real->recovery_told && in.recovery == 0 && recovery <= time_s + 1e-9) {
            real->recovery_told = true;
            in.recovery = 1 + real->event;
            in.recovery_s = recovery;
        }
    }
    int32_t actions;
    int32_t status = ckpd_control_step(sim->control, &in, &actions);
    return status == CKPD_OK ? carry_out(sim, time_s, actions) : status;
}

static int32_t simulate_stretch(ckpd__simulation *sim, const ckpd__stretch *stretch)
{
    memcpy(sim->left, sim->rig.queue, (size_t)sim->rig.fillers * sizeof *sim->left);
    int64_t ticks = (int64_t)floor((stretch->end_s - stretch->start_s) / TICK_S);
    double every = sim->shape->values[SHAPE_STEP_S], next = stretch->start_s;
    for (int64_t i = 0; i < ticks; i++) {
        double t = stretch->start_s + (double)i * TICK_S;
        int32_t status = CKPD_OK;
        if (sim->policy == CKPD_POLICY_PLAN) {
            status = control_step(sim, t);
        } else if (sim->policy != CKPD_POLICY_NONE && t >= next - 1e-9) {
            collect_finished(sim, t);
            status = ckpd__greedy_step(sim, t);
            next += every;
        }
        if (status != CKPD_OK) {
            return status;
        }
    }
    collect_finished(sim, INF);
    return CKPD_OK;
}

/* Real events in order of onset, and the stretches of time around them. */
static void make_real(ckpd__simulation *sim)
{
    const ckpd_shape *shape = sim->shape;
    for (int32_t i = 0; i < shape->events; i++) {
        ckpd__real real = {.event = i};
        memcpy(real.values, shape->event[i]->values, sizeof real.values);
        double depth = sim->truth.depth_error_w, late = sim->truth.onset_error_s;
        if (sim->truth.draw_errors) {
            depth +=
                (2.0 * ckpd__random_uniform(&sim->random) - 1.0) * real.values[EVENT_DEPTH_ERROR_W];
            late +=
                (2.0 * ckpd__random_uniform(&sim->random) - 1.0) * real.values[EVENT_ONSET_ERROR_S];
        }
        depth += real.values[EVENT_DEPTH_W];
        real.values[EVENT_DEPTH_W] = depth > 0.0 ? depth : 0.0;
        real.values[EVENT_ONSET_S] += late;
        double duration = real.values[EVENT_DURATION_S] + sim->truth.duration_error_s;
        real.values[EVENT_DURATION_S] = duration > 0.0 ? duration : 0.0;
        int32_t at = i;
        while (at > 0 && sim->real[at - 1].values[EVENT_ONSET_S] > real.values[EVENT_ONSET_S]) {
            sim->real[at] = sim->real[at - 1];
            at--;
        }
        sim->real[at] = real;
    }
    for (int32_t i = 0; i < shape->events; i++) {
        const double *v = sim->real[i].values, *plan = shape->event[sim->real[i].event]->values;
        double onset =
            v[EVENT_ONSET_S] < plan[EVENT_ONSET_S] ? v[EVENT_ONSET_S] : plan[EVENT_ONSET_S];
        /* The grid of ticks goes through the predicted onset. */
        double start =
            plan[EVENT_ONSET_S] - ceil((plan[EVENT_ONSET_S] - onset + BEFORE_S) / TICK_S) * TICK_S;
        double end = v[EVENT_ONSET_S] + v[EVENT_DURATION_S] + v[EVENT_RISE_S] + AFTER_S;
        ckpd__stretch *last = sim->stretches > 0 ? &sim->stretch[sim->stretches - 1] : NULL;
        if (last != NULL && start <= last->end_s) {
            last->end_s = end > last->end_s ? end : last->end_s;
        } else {
            sim->stretch[sim->stretches++] = (ckpd__stretch){start, end};
        }
    }
}

static int32_t prepare(ckpd__simulation *sim, const ckpd_shape_plan *plan)
{
    ckpd_context *context = sim->context;
    size_t events = (size_t)sim->shape->events;
    int32_t status = ckpd__rig_build(&sim->rig, sim->shape);
    if (status != CKPD_OK) {
        return status;
    }
    sim->real = ckpd__calloc(context, events, sizeof *sim->real);
    sim->stretch = ckpd__calloc(context, events, sizeof *sim->stretch);
    sim->left = ckpd__calloc(context, (size_t)sim->rig.fillers, sizeof *sim->left);
    sim->finished = ckpd__calloc(context, (size_t)sim->rig.groups + 1, sizeof *sim->finished);
    if (sim->real == NULL || sim->stretch == NULL || sim->left == NULL || sim->finished == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__random_seed(&sim->random, sim->truth.seed, 0x5eed);
    make_real(sim);
    return sim->policy == CKPD_POLICY_PLAN ? ckpd_control_new(&sim->control, sim->shape, plan)
                                           : CKPD_OK;
}

static int32_t simulate(ckpd__simulation *sim, const ckpd_shape_plan *plan, ckpd_shape_run *run)
{
    int32_t status = prepare(sim, plan);
    for (int32_t i = 0; status == CKPD_OK && i < sim->stretches; i++) {
        status = simulate_stretch(sim, &sim->stretch[i]);
    }
    if (status == CKPD_OK) {
        status = ckpd__run_respond(sim, run);
    }
    ckpd_context *context = sim->context;
    ckpd_control_free(sim->control);
    ckpd__rig_free(&sim->rig);
    ckpd__free(context, sim->real);
    ckpd__free(context, sim->stretch);
    ckpd__free(context, sim->left);
    ckpd__free(context, sim->finished);
    ckpd__free(context, sim->ran);
    return status;
}

static int32_t check_run(const ckpd_shape *shape, const ckpd_microgrid *grid,
                         const ckpd_shape_plan *plan, int32_t policy, const ckpd_shape_truth *given,
                         ckpd_shape_truth *truth)
{
    ckpd_context *context = shape->context;
    if (policy < CKPD_POLICY_NONE || policy > CKPD_POLICY_PLAN ||
        (policy == CKPD_POLICY_PLAN) != (plan != NULL)) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "policy", -1, (double)policy,
                          "shaping run: policy %d does not exist or does not go with%s a plan",
                          policy, plan == NULL ? "out" : "");
    }
    if (shape->events == 0) {
        return ckpd__fail(context, CKPD_ERR_MISSING, "event", -1, (double)NAN,
                          "shaping run: there is no event");
    }
    if (given != NULL) {
        int32_t status = CKPD__STRUCT_IN(context, shape_truth, given, truth);
        if (status != CKPD_OK) {
            return status;
        }
    }
    const struct {
        const char *name;
        double value, most;
    } number[] = {{"depth_error_w", truth->depth_error_w, 1e12},
                  {"onset_error_s", truth->onset_error_s, 3600.0},
                  {"duration_error_s", truth->duration_error_s, 3600.0},
                  {"ripple_w", truth->ripple_w, 1e12},
                  {"ripple_hz", truth->ripple_hz, 50.0}};
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        int32_t status = ckpd__check_range(context, number[i].name, -1, number[i].value,
                                           -number[i].most, number[i].most);
        if (status != CKPD_OK) {
            return status;
        }
    }
    return ckpd_microgrid_check(grid);
}

int32_t ckpd_shape_run_new(ckpd_shape_run **out, const ckpd_shape *shape,
                           const ckpd_microgrid *grid, const ckpd_shape_plan *plan, int32_t policy,
                           const ckpd_shape_truth *truth)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    CKPD__REFUSE_FOREIGN(shape, grid, CKPD__MICROGRID);
    CKPD__REFUSE_FOREIGN(shape, plan, CKPD__SHAPE_PLAN);
    if (out == NULL || shape == NULL || grid == NULL) {
        return shape == NULL ? CKPD_ERR_ARGUMENT
                             : ckpd__null_argument(shape->context, out == NULL ? "out" : "grid");
    }
    ckpd__simulation sim = {
        .context = shape->context, .shape = shape, .grid = grid, .policy = policy};
    int32_t status = check_run(shape, grid, plan, policy, truth, &sim.truth);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_shape_run *run = ckpd__calloc(shape->context, 1, sizeof *run);
    if (run == NULL) {
        return ckpd__no_memory(shape->context);
    }
    ckpd__handle_begin(run, CKPD__SHAPE_RUN, shape->context);
    status = simulate(&sim, plan, run);
    if (status != CKPD_OK) {
        ckpd_shape_run_free(run);
        return status;
    }
    *out = run;
    return CKPD_OK;
}
