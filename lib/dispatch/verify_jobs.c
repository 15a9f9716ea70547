/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Verifier, part one: what the jobs do. Written against the definitions of docs/model.md alone;
 * lengths, powers and rules are worked out here once more, so that an error in the graph or in a
 * view cannot hide.
 */
#include "dispatch/dispatch.h"

#include <math.h>

#define VIOLATION(check, kind, job, slot, amount, ...)                           \
    do {                                                                         \
        char text_[256];                                                         \
        ckpd__format(text_, sizeof text_, __VA_ARGS__);                          \
        ckpd__report_violation((check)->report, kind, job, slot, amount, text_); \
    } while (0)

/* Where a job stands while its steps are walked. */
typedef struct walker {
    int32_t job;
    const ckpd_graph *graph;
    const ckpd__graph_spec *spec;
    int32_t boundary;  /* the job is free from here on */
    int32_t complete;  /* segments */
    int32_t last_mode; /* -1: none yet */
    int32_t next;      /* step to look at */
} walker;

/* Slots that `segments` segments need, as a real number. */
static double needed_slots(const ckpd__graph_spec *s, int32_t mode, int32_t segments,
                           double overhead_h)
{
    double share = (double)segments / s->segments;
    double seconds = share * s->work / s->mode[mode].rate / (1.0 - s->save_share);
    return (seconds / 3600.0 + overhead_h) / s->slot_hours;
}

/* The least whole number that covers them, a relative 1e-9 forgiven. */
static double whole_slots(double needed)
{
    double whole = floor(needed);
    if (whole < needed * (1.0 - 1e-9)) {
        whole += 1;
    }
    return whole < 1 ? 1 : whole;
}

static double overhead(const walker *w, int32_t mode, const double *table)
{
    return table == NULL
               ? 0.0
               : table[(size_t)(w->last_mode + 1) * (size_t)w->spec->modes + (size_t)mode];
}

/* IT power of an edge of `needed` real slots in its slot number `ran`. */
static double edge_power(const ckpd__graph_spec *s, int32_t mode, double needed, int32_t ran)
{
    const ckpd_mode *m = &s->mode[mode];
    int32_t whole = (int32_t)fmin(whole_slots(needed), CKPD__NEVER);
    if (!s->prorated || ran != whole - 1) {
        return m->power_kw;
    }
    double active = needed - (whole - 1);
    active = active > 1 ? 1 : active < 0 ? 0 : active;
    return active * m->power_kw + (1 - active) * m->idle_power_kw;
}

/* Books power and GPUs of one edge. `needed` real slots, of which `skipped` lie before the horizon.
 */
static void book(ckpd__check *check, const walker *w, const ckpd_step *step, double needed,
                 int32_t skipped)
{
    const ckpd_mode *mode = &w->spec->mode[step->mode];
    for (int32_t t = step->from_slot; t < step->to_slot; t++) {
        check->it_kw[t] += edge_power(w->spec, step->mode, needed, t - step->from_slot + skipped);
        check->gpus[t] += mode->gpus;
    }
}

/* Amount the owner's table holds for an edge. One that was left out because a split costs the same
 * costs what a shorter one of its mode and start does; what else is not in the table is no edge and
 * costs nothing here. */
static double edge_money(const walker *w, const ckpd_step *step)
{
    const ckpd_graph *graph = w->graph;
    const ckpd__graph_spec *s = w->spec;
    if (graph->edge_cost == NULL || step->from_slot >= s->slots || step->from_segment < 0 ||
        step->from_segment >= s->segments) {
        return 0;
    }
    int32_t start_class = 1;
    if (graph->transition != NULL) {
        start_class =
            graph->transition[(size_t)(w->last_mode + 1) * (size_t)s->modes + (size_t)step->mode];
    }
    double money = 0;
    for (int32_t i = 0; i < graph->moves.count; i++) {
        int32_t longer = step->to_segment - step->from_segment - graph->moves.segments[i];
        bool same_class = graph->moves.transition_class == NULL ||
                          graph->moves.transition_class[i] == start_class;
        if (graph->moves.mode[i] == step->mode && same_class && longer >= 0) {
            size_t at =
                ((size_t)i * (size_t)s->slots + (size_t)step->from_slot) * (size_t)s->segments +
                (size_t)step->from_segment;
            money = graph->edge_cost[at];
            if (longer == 0) {
                return money;
            }
        }
    }
    return money;
}

/* --- one step --------------------------------------------------------------------------------- */

/* What holds for every step in every scenario; false when the rest would make no sense. */
static bool check_step(ckpd__check *check, const walker *w, const ckpd_step *step)
{
    const ckpd__graph_spec *s = w->spec;
    if (step->mode < 0 || step->mode >= s->modes) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot, step->mode,
                  "job '%s': step at slot %d has mode %d of %d", s->name, step->from_slot,
                  step->mode, s->modes);
        return false;
    }
    if (step->from_slot < w->boundary) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot,
                  w->boundary - step->from_slot,
                  "job '%s': step starts at boundary %d, the job is free from %d on", s->name,
                  step->from_slot, w->boundary);
    }
    int32_t last = s->may_be_late ? s->slots : s->deadline;
    if (step->to_slot > last) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot, step->to_slot - last,
                  "job '%s': step ends at boundary %d, after the deadline %d", s->name,
                  step->to_slot, last);
    }
    if (step->gpus != s->mode[step->mode].gpus) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot, step->gpus,
                  "job '%s': step at slot %d claims %d GPUs, its mode has %d", s->name,
                  step->from_slot, step->gpus, s->mode[step->mode].gpus);
    }
    return true;
}

static bool check_segments(ckpd__check *check, const walker *w, const ckpd_step *step)
{
    if (step->from_segment == w->complete && step->to_segment > step->from_segment &&
        step->to_segment <= w->spec->segments) {
        return true;
    }
    VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot, step->from_segment,
              "job '%s': step at slot %d covers segments %d..%d, %d of %d are complete",
              w->spec->name, step->from_slot, step->from_segment, step->to_segment, w->complete,
              w->spec->segments);
    return false;
}

static void check_length(ckpd__check *check, const walker *w, const ckpd_step *step, double wanted)
{
    int32_t slots = step->to_slot - step->from_slot;
    if (slots != wanted) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot, slots - wanted,
                  "job '%s': step at slot %d takes %d slots, %d segments in mode %d take %g",
                  w->spec->name, step->from_slot, slots, step->to_segment - step->from_segment,
                  step->mode, wanted);
    }
}

static void check_change(ckpd__check *check, const walker *w, const ckpd_step *step)
{
    const ckpd__graph_spec *s = w->spec;
    if (w->last_mode >= 0 && s->allowed != NULL &&
        s->allowed[(size_t)w->last_mode * (size_t)s->modes + (size_t)step->mode] == 0) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, step->from_slot, step->mode,
                  "job '%s': mode %d after mode %d at slot %d is not allowed", s->name, step->mode,
                  w->last_mode, step->from_slot);
    }
}

/* --- scenarios -------------------------------------------------------------------------------- */

/* Whether continuous training can end in time after a running edge that needs `left` slots more. */
static bool rest_fits(const ckpd__graph_spec *s, double left)
{
    double start_h =
        s->overhead_hours == NULL
            ? 0
            : s->overhead_hours[(size_t)(s->running + 1) * (size_t)s->modes + (size_t)s->baseline];
    int32_t rest = s->segments - s->start_segments - s->running_segments;
    double slots = rest > 0 ? whole_slots(needed_slots(s, s->baseline, rest, start_h)) : 0;
    return left + slots <= (s->may_be_late ? s->slots : s->deadline);
}

/* The edge that runs when the horizon starts has to come first and to end as it must. */
static void walk_running(ckpd__check *check, walker *w)
{
    const ckpd__graph_spec *s = w->spec;
    const ckpd__steps *steps = &check->plan->steps[w->job];
    if (s->running < 0) {
        return;
    }
    double needed = needed_slots(s, s->running, s->running_segments, 0);
    double left = fmin(whole_slots(needed) - s->running_slots, s->slots);
    const ckpd_step *step = steps->count > 0 ? &steps->step[0] : NULL;
    bool good = step != NULL && step->from_slot == 0 && step->to_slot == left &&
                step->mode == s->running && step->from_segment == s->start_segments &&
                step->to_segment == s->start_segments + s->running_segments;
    /* Continuous training goes on where that fits; elsewhere it begins again, and in S2 a first
     * step of the shape of the running edge is part of that. */
    bool again =
        s->may_lose && ckpd__scenario_is_continuous(check->scenario) && !rest_fits(s, left);
    if (again || (!good && s->may_lose)) {
        w->last_mode = s->running; /* given up, with what it had done */
        return;
    }
    if (!good) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, 0, left,
                  "job '%s': mode %d runs at the start and has to go on until boundary %g", s->name,
                  s->running, left);
        return;
    }
    check_step(check, w, step);
    book(check, w, step, needed, s->running_slots);
    w->boundary = step->to_slot;
    w->complete = step->to_segment;
    w->last_mode = step->mode;
    w->next = 1;
}

static void walk_free(ckpd__check *check, walker *w)
{
    const ckpd__steps *steps = &check->plan->steps[w->job];
    for (int32_t i = w->next; i < steps->count; i++) {
        const ckpd_step *step = &steps->step[i];
        if (!check_step(check, w, step)) {
            continue;
        }
        double needed = needed_slots(w->spec, step->mode, step->to_segment - step->from_segment,
                                     overhead(w, step->mode, w->spec->overhead_hours));
        if (check_segments(check, w, step)) {
            check_length(check, w, step, whole_slots(needed));
        }
        check_change(check, w, step);
        book(check, w, step, needed, 0);
        check->edge_cost += edge_money(w, step);
        w->boundary = step->to_slot;
        w->complete = step->to_segment;
        w->last_mode = step->mode;
    }
}

/* S1, S2, S5: one edge without a pause; in S2 cut at the boundaries where checkpoints are complete.
 */
static void walk_continuous(ckpd__check *check, walker *w)
{
    const ckpd__graph_spec *s = w->spec;
    const ckpd__steps *steps = &check->plan->steps[w->job];
    int32_t start = w->boundary;
    int32_t first = w->complete;
    int32_t parts = steps->count - w->next;
    double start_h = overhead(w, s->baseline, s->overhead_hours);
    if (parts > 1 && check->scenario != CKPD_SCENARIO_S2) {
        VIOLATION(check, CKPD_VIOLATION_PATH, w->job, start, parts,
                  "job '%s': continuous training in %d steps", s->name, parts);
    }
    for (int32_t i = w->next; i < steps->count; i++) {
        const ckpd_step *step = &steps->step[i];
        if (!check_step(check, w, step)) {
            continue;
        }
        if (step->mode != s->baseline || step->from_slot != w->boundary) {
            VIOLATION(
                check, CKPD_VIOLATION_PATH, w->job, step->from_slot, step->mode,
                "job '%s': continuous training in mode %d from boundary %d is not mode %d from %d",
                s->name, step->mode, step->from_slot, s->baseline, w->boundary);
        }
        if (check_segments(check, w, step)) {
            double until =
                whole_slots(needed_slots(s, step->mode, step->to_segment - first, start_h));
            check_length(check, w, step, start + until - step->from_slot);
        }
        w->boundary = step->to_slot;
        w->complete = step->to_segment;
    }
    if (w->complete > first && w->boundary > start && s->baseline >= 0) {
        ckpd_step whole = {.from_slot = start,
                           .to_slot = w->boundary,
                           .from_segment = first,
                           .to_segment = w->complete,
                           .mode = s->baseline};
        book(check, w, &whole, needed_slots(s, s->baseline, w->complete - first, start_h), 0);
        check->edge_cost += edge_money(w, &whole);
    }
}

/* S3: whatever mode in whatever slot; only the work counts. */
static void walk_slotwise(ckpd__check *check, walker *w)
{
    const ckpd__graph_spec *s = w->spec;
    const ckpd__steps *steps = &check->plan->steps[w->job];
    double needed = s->work * (s->segments - w->complete) / s->segments;
    /* What a running edge has done counts here even where it may be given up. */
    double done = s->running >= 0 && s->may_lose
                      ? s->running_slots * s->slot_hours * 3600.0 * s->mode[s->running].rate *
                            (1.0 - s->save_share)
                      : 0;
    for (int32_t i = w->next; i < steps->count; i++) {
        const ckpd_step *step = &steps->step[i];
        if (!check_step(check, w, step)) {
            continue;
        }
        int32_t slots = step->to_slot - step->from_slot;
        done += slots * s->slot_hours * 3600.0 * s->mode[step->mode].rate * (1.0 - s->save_share);
        for (int32_t t = step->from_slot; t < step->to_slot; t++) {
            check->it_kw[t] += s->mode[step->mode].power_kw;
            check->gpus[t] += s->mode[step->mode].gpus;
        }
        w->boundary = step->to_slot;
    }
    if (done < needed * (1.0 - 1e-6)) {
        VIOLATION(check, CKPD_VIOLATION_COMPLETION, w->job, -1, needed - done,
                  "job '%s': %g %% of its work is done", s->name, 100.0 * done / needed);
    }
}

/* A job that finishes after a deadline that has a price. */
static void add_lateness(ckpd__check *check, const walker *w)
{
    const ckpd__graph_spec *s = w->spec;
    int32_t slots = w->boundary - s->deadline;
    ckpd_overrun overrun = {.size = sizeof overrun,
                            .limit = CKPD_LIMIT_DEADLINE,
                            .job = w->job,
                            .slot = -1,
                            .amount = slots,
                            .cost = s->late_price * slots * s->slot_hours};
    ckpd__format(overrun.message, sizeof overrun.message,
                 "job '%s' ends at boundary %d, %d slots after its deadline", s->name, w->boundary,
                 slots);
    ckpd__report_overrun(check->report, &overrun);
}

/* Continuous training leaves no choice; elsewhere only running edges that must go on do not. */
static void add_forced(ckpd__check *check)
{
    const double *base = check->problem->site->series[CKPD__BASE_IT];
    bool continuous = ckpd__scenario_is_continuous(check->scenario);
    for (int32_t t = 0; t < check->plan->slots; t++) {
        check->forced_kw[t] = continuous ? check->it_kw[t] : base[t];
    }
    for (int32_t j = 0; j < check->problem->jobs && !continuous; j++) {
        const ckpd__graph_spec *s = &check->problem->job[j]->spec;
        if (s->running < 0 || s->may_lose) {
            continue;
        }
        double needed = needed_slots(s, s->running, s->running_segments, 0);
        double left = whole_slots(needed) - s->running_slots;
        for (int32_t t = 0; t < check->plan->slots && t < left; t++) {
            check->forced_kw[t] += edge_power(s, s->running, needed, t + s->running_slots);
        }
    }
}

static void check_job(ckpd__check *check, int32_t job)
{
    const ckpd_graph *graph = check->problem->job[job];
    const ckpd__graph_spec *s = &graph->spec;
    walker w = {job, graph, s, s->release, s->start_segments, -1, 0};
    walk_running(check, &w);
    if (check->scenario == CKPD_SCENARIO_S3) {
        walk_slotwise(check, &w);
        return;
    }
    if (ckpd__scenario_is_continuous(check->scenario)) {
        walk_continuous(check, &w);
    } else {
        walk_free(check, &w);
    }
    if (w.complete != s->segments) {
        VIOLATION(check, CKPD_VIOLATION_COMPLETION, job, -1, s->segments - w.complete,
                  "job '%s': %d of %d segments are complete at its end", s->name, w.complete,
                  s->segments);
    } else if (s->may_be_late && w.boundary > s->deadline) {
        add_lateness(check, &w);
    }
}

void ckpd__check_jobs(ckpd__check *check)
{
    const double *base = check->problem->site->series[CKPD__BASE_IT];
    for (int32_t t = 0; t < check->plan->slots; t++) {
        check->it_kw[t] = base[t];
        check->gpus[t] = 0;
    }
    for (int32_t j = 0; j < check->problem->jobs; j++) {
        check_job(check, j);
    }
    add_forced(check);
}
