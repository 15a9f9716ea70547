/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Which limits have to give way. Everything is relaxed at first; then one limit after the other is
 * put back where a plan still exists (a deletion filter: what is left over is a set without a
 * superfluous member), and the amounts of the rest are halved down.
 */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

/* Short names; limits are put back in this order, those that are hardest to change first. */
enum {
    GPUS = CKPD__RELAX_GPUS,
    SITE = CKPD__RELAX_SITE,
    IMPORT = CKPD__RELAX_IMPORT,
    DEADLINE = CKPD__RELAX_DEADLINE,
    SOC = CKPD__RELAX_SOC,
    KINDS = CKPD__RELAX_KINDS
};
/* Amounts in kW and kWh are found to this share of their range. */
static const double AMOUNT_SHARE = 1.0 / 4096.0;
/* A level whose plan is hard to find or to rule out must not use up the time of all others. */
static const double TRIAL_SHARE = 1.0 / 8.0;

struct ckpd_diagnosis {
    CKPD__HANDLE;
    int32_t outcome, minimal;
    ckpd_relaxation *relaxation;
    int32_t count, room;
    ckpd__causes causes;
    ckpd_solution *solution;
};

typedef struct search {
    ckpd_context *context;
    const ckpd_problem *problem;
    int32_t scenario;
    const ckpd_solve_options *options; /* the caller's, may be NULL */
    double ends_s;                     /* clock at the end of the time limit */
    double most[KINDS]; /* how far a limit can usefully be moved, 0 when not at all */
    double level[KINDS];
    ckpd_diagnosis *diagnosis;
} search;

/* --- the search ------------------------------------------------------------------------------- */

/* Any plan of the problem at the present levels, in a share of the time that is left. *found says
 * whether there is one. */
static int32_t try_levels(search *s, double share, bool *found)
{
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    ckpd_solve_options options;
    ckpd__solve_options_read(s->options, &options);
    options.values[CKPD__SOLVE_RELATIVE_GAP] = 1;
    options.values[CKPD__SOLVE_ABSOLUTE_GAP] = 1e300;
    options.values[CKPD__SOLVE_TIME_LIMIT] = share * fmax(0.0, s->ends_s - ckpd__clock_s());
    int32_t status = ckpd__relaxed_problem(s->problem, s->level, &problem);
    if (status == CKPD_OK) {
        status = ckpd_problem_solve(&solution, problem, s->scenario, &options);
    }
    ckpd_problem_free(problem);
    if (status != CKPD_OK) {
        return status;
    }
    *found = solution->plan != NULL;
    if (*found) {
        ckpd_solution_free(s->diagnosis->solution);
        s->diagnosis->solution = solution;
        return CKPD_OK;
    }
    if (solution->outcome != CKPD_OUTCOME_INFEASIBLE) {
        s->diagnosis->minimal = 0;
        s->diagnosis->outcome = solution->outcome;
    }
    ckpd_solution_free(solution);
    return CKPD_OK;
}

static double largest_cap_gap(const search *s, ckpd__series series, double need)
{
    double most = 0;
    for (int32_t t = 0; t < s->problem->site->slots; t++) {
        most = fmax(most, need - s->problem->site->series[series][t]);
    }
    return most;
}

/* Beyond these amounts a limit cannot bind any more. */
static void find_ranges(search *s)
{
    const ckpd_site *site = s->problem->site;
    double gpus = 0;
    double it_kw = 0;
    double base = 0;
    double pue = 1;
    for (int32_t j = 0; j < s->problem->jobs; j++) {
        const ckpd__graph_spec *spec = &s->problem->job[j]->spec;
        double job_gpus = 0;
        double job_kw = 0;
        for (int32_t m = 0; m < spec->modes; m++) {
            job_gpus = fmax(job_gpus, spec->mode[m].gpus);
            job_kw = fmax(job_kw, spec->mode[m].power_kw);
        }
        gpus += job_gpus;
        it_kw += job_kw;
        s->most[DEADLINE] = fmax(s->most[DEADLINE], spec->slots - spec->deadline);
    }
    for (int32_t t = 0; t < site->slots; t++) {
        base = fmax(base, site->series[CKPD__BASE_IT][t]);
        pue = fmax(pue, site->series[CKPD__PUE][t]);
    }
    bool storage = ckpd__scenario_has_storage(s->scenario);
    double load = pue * (base + it_kw);
    s->most[GPUS] = largest_cap_gap(s, CKPD__GPU_CAP, gpus);
    s->most[SITE] = largest_cap_gap(s, CKPD__SITE_CAP, load);
    s->most[IMPORT] = largest_cap_gap(s, CKPD__IMPORT_CAP,
                                      load + (storage ? site->battery[CKPD__BATTERY_CHARGE] : 0));
    if (storage && site->battery[CKPD__BATTERY_TERMINAL] != CKPD__TERMINAL_FREE) {
        s->most[SOC] = fmax(1e-6, site->battery[CKPD__BATTERY_SOC_END]);
    }
}

static bool is_whole(int32_t kind)
{
    return kind == GPUS || kind == DEADLINE;
}

/* Halves the amount of one limit down, the others as they are. */
static int32_t shrink(search *s, int32_t kind)
{
    double low = 0;
    double high = is_whole(kind) ? ceil(s->most[kind]) : s->most[kind];
    double width = is_whole(kind) ? 1 : fmax(1e-3, s->most[kind] * AMOUNT_SHARE);
    int32_t status = CKPD_OK;
    while (status == CKPD_OK && high - low > width) {
        bool found = false;
        double middle = is_whole(kind) ? floor((low + high) / 2) : (low + high) / 2;
        s->level[kind] = middle;
        status = try_levels(s, TRIAL_SHARE, &found);
        low = found ? low : middle;
        high = found ? middle : high;
    }
    s->level[kind] = high;
    return status;
}

/* Puts back what is not needed, then shrinks the rest; the last solve leaves the plan of the final
 * levels. */
static int32_t filter(search *s)
{
    bool found = false;
    for (int32_t kind = 0; kind < KINDS; kind++) {
        double relaxed = s->level[kind];
        if (relaxed <= 0) {
            continue;
        }
        s->level[kind] = 0;
        int32_t status = try_levels(s, TRIAL_SHARE, &found);
        if (status != CKPD_OK) {
            return status;
        }
        s->level[kind] = found ? 0 : relaxed;
    }
    for (int32_t kind = 0; kind < KINDS; kind++) {
        int32_t status = s->level[kind] > 0 ? shrink(s, kind) : CKPD_OK;
        if (status != CKPD_OK) {
            return status;
        }
    }
    int32_t status = try_levels(s, 1, &found);
    s->diagnosis->outcome = found ? CKPD_OUTCOME_FEASIBLE : s->diagnosis->outcome;
    return status;
}

/* --- what is said ----------------------------------------------------------------------------- */

static int32_t add_relaxation(ckpd_diagnosis *d, const ckpd_relaxation *relaxation)
{
    if (d->count == d->room) {
        int32_t room = 2 * d->room + 4;
        ckpd_relaxation *grown =
            ckpd__realloc(d->context, d->relaxation, (size_t)room, sizeof *grown);
        if (grown == NULL) {
            return ckpd__no_memory(d->context);
        }
        d->relaxation = grown;
        d->room = room;
    }
    d->relaxation[d->count++] = *relaxation;
    return CKPD_OK;
}

/* Slots in which the plan of the final levels goes beyond the original cap, and by how much at
 * most: the plan itself proves that so much is enough, the halving stops a little above it. */
static void find_slots(const search *s, int32_t kind, ckpd_relaxation *r)
{
    static const ckpd__series caps[] = {CKPD__GPU_CAP, CKPD__SITE_CAP, CKPD__IMPORT_CAP};
    static const ckpd__plan_series flows[] = {CKPD__PLAN_GPUS, CKPD__PLAN_SITE_LOAD,
                                              CKPD__PLAN_IMPORT};
    const double *cap = s->problem->site->series[caps[kind]];
    const double *flow = s->diagnosis->solution->plan->series[flows[kind]];
    double most = 0;
    for (int32_t t = 0; t < s->problem->site->slots; t++) {
        most = fmax(most, flow[t] - cap[t]);
        if (flow[t] > cap[t] + ckpd__check_tolerance(cap[t])) {
            r->first_slot = r->first_slot < 0 ? t : r->first_slot;
            r->last_slot = t;
        }
    }
    r->amount = most > 0 ? fmin(most, r->amount) : r->amount;
}

static int32_t say_cap(const search *s, int32_t kind)
{
    static const char *const names[] = {"GPU cap", "site cap", "import cap"};
    ckpd_relaxation r = {sizeof r, kind + 1, -1, -1, -1, s->level[kind], ""};
    find_slots(s, kind, &r);
    ckpd__format(r.message, sizeof r.message, "raise the %s by %g %s in slots %d-%d", names[kind],
                 r.amount, kind == GPUS ? "GPUs" : "kW", r.first_slot, r.last_slot);
    return add_relaxation(s->diagnosis, &r);
}

/* One entry for each job whose plan ends after its own deadline. */
static int32_t say_deadlines(const search *s)
{
    int32_t status = CKPD_OK;
    for (int32_t j = 0; j < s->problem->jobs && status == CKPD_OK; j++) {
        const ckpd__graph_spec *spec = &s->problem->job[j]->spec;
        const ckpd__steps *steps = &s->diagnosis->solution->plan->steps[j];
        int32_t end = steps->count > 0 ? steps->step[steps->count - 1].to_slot : 0;
        if (end <= spec->deadline) {
            continue;
        }
        ckpd_relaxation r = {sizeof r, CKPD_LIMIT_DEADLINE,  j, spec->deadline,
                             end - 1,  end - spec->deadline, ""};
        ckpd__format(r.message, sizeof r.message,
                     "move the deadline of job '%s' by %d slots, from boundary %d to %d",
                     spec->name, end - spec->deadline, spec->deadline, end);
        status = add_relaxation(s->diagnosis, &r);
    }
    return status;
}

static int32_t say_soc(const search *s)
{
    double end = s->problem->site->battery[CKPD__BATTERY_SOC_END];
    double reached = s->diagnosis->solution->plan->series[CKPD__PLAN_SOC][s->problem->site->slots];
    ckpd_relaxation r = {sizeof r, CKPD_LIMIT_END_SOC, -1, -1, -1, s->level[SOC], ""};
    ckpd__format(r.message, sizeof r.message, "let the battery end at %g kWh instead of %g kWh",
                 reached, end);
    return add_relaxation(s->diagnosis, &r);
}

static int32_t say_levels(const search *s)
{
    int32_t status = CKPD_OK;
    for (int32_t kind = 0; kind < KINDS && status == CKPD_OK; kind++) {
        if (s->level[kind] > 0) {
            status = kind == DEADLINE ? say_deadlines(s)
                     : kind == SOC    ? say_soc(s)
                                      : say_cap(s, kind);
        }
    }
    return status;
}

/* --- entry ------------------------------------------------------------------------------------ */

static int32_t run_search(search *s)
{
    ckpd_diagnosis *d = s->diagnosis;
    ckpd__model model;
    bool found = false;
    int32_t status = try_levels(s, 0.5, &found);
    if (status != CKPD_OK || found) {
        d->outcome = CKPD_OUTCOME_OPTIMAL;
        return status;
    }
    status = ckpd__model_build(&model, s->problem, s->scenario);
    if (status == CKPD_OK) {
        ckpd__causes_before(&d->causes, &model);
        ckpd__causes_after(&d->causes, &model);
        status = d->causes.out_of_memory ? ckpd__no_memory(s->context) : CKPD_OK;
    }
    ckpd__model_free(&model);
    if (status != CKPD_OK || d->minimal == 0) {
        return status;
    }
    find_ranges(s);
    memcpy(s->level, s->most, sizeof s->level);
    status = try_levels(s, 0.5, &found);
    if (status != CKPD_OK || !found) {
        return status;
    }
    status = filter(s);
    return status == CKPD_OK && d->outcome == CKPD_OUTCOME_FEASIBLE ? say_levels(s) : status;
}

int32_t ckpd_problem_diagnose(ckpd_diagnosis **out, ckpd_problem *problem, int32_t scenario,
                              const ckpd_solve_options *options)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, options, CKPD__SOLVE_OPTIONS);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    int32_t status = ckpd__scenario_check(problem, scenario);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_diagnosis *diagnosis = ckpd__calloc(context, 1, sizeof *diagnosis);
    if (diagnosis == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(diagnosis, CKPD__DIAGNOSIS, context);
    diagnosis->causes.context = context;
    diagnosis->outcome = CKPD_OUTCOME_INFEASIBLE;
    diagnosis->minimal = 1;
    ckpd_solve_options known;
    ckpd__solve_options_read(options, &known);
    search s = {.context = context,
                .problem = problem,
                .scenario = scenario,
                .options = options,
                .ends_s = ckpd__clock_s() + known.values[CKPD__SOLVE_TIME_LIMIT],
                .diagnosis = diagnosis};
    status = run_search(&s);
    if (status != CKPD_OK) {
        ckpd_diagnosis_free(diagnosis);
        return status;
    }
    *out = diagnosis;
    return CKPD_OK;
}

void ckpd_diagnosis_free(ckpd_diagnosis *diagnosis)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    if (diagnosis == NULL) {
        return;
    }
    ckpd_context *context = diagnosis->context;
    ckpd_solution_free(diagnosis->solution);
    ckpd__causes_free(&diagnosis->causes);
    ckpd__free(context, diagnosis->relaxation);
    ckpd__handle_end(diagnosis);
}

int32_t ckpd_diagnosis_outcome(const ckpd_diagnosis *diagnosis)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    return diagnosis != NULL ? diagnosis->outcome : CKPD_OUTCOME_NONE;
}

int32_t ckpd_diagnosis_is_minimal(const ckpd_diagnosis *diagnosis)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    return diagnosis != NULL ? diagnosis->minimal : 0;
}

int32_t ckpd_diagnosis_relaxation_count(const ckpd_diagnosis *diagnosis)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    return diagnosis != NULL ? diagnosis->count : 0;
}

int32_t ckpd_diagnosis_get_relaxation(const ckpd_diagnosis *diagnosis, int32_t index,
                                      ckpd_relaxation *out)
{
    CKPD__REFUSE_FOREIGN(NULL, diagnosis, CKPD__DIAGNOSIS);
    if (diagnosis == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (index < 0 || index >= diagnosis->count) {
        return CKPD_ERR_RANGE;
    }
    return CKPD__STRUCT_OUT(NULL, relaxation, out, &diagnosis->relaxation[index]);
}

int32_t ckpd_diagnosis_cause_count(const ckpd_diagnosis *diagnosis)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    return diagnosis != NULL ? diagnosis->causes.count : 0;
}

const char *ckpd_diagnosis_cause(const ckpd_diagnosis *diagnosis, int32_t index)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    return diagnosis != NULL && index >= 0 && index < diagnosis->causes.count
               ? diagnosis->causes.text[index]
               : NULL;
}

const ckpd_solution *ckpd_diagnosis_solution(const ckpd_diagnosis *diagnosis)
{
    CKPD__NULL_IF_FOREIGN(diagnosis, CKPD__DIAGNOSIS);
    return diagnosis != NULL ? diagnosis->solution : NULL;
}
