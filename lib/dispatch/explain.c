/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a plan pays for: beside S1, at the margin, and what it leaves open. */
#include "dispatch/explain.h"

#include <math.h>
#include <string.h>

static const char *const series_names[CKPD__EXPLAINED_SERIES] = {
    [CKPD__EXPLAINED_UP] = "marginal_up_per_mwh",
    [CKPD__EXPLAINED_DOWN] = "marginal_down_per_mwh",
    [CKPD__EXPLAINED_SHED_KW] = "shed_kw",
    [CKPD__EXPLAINED_SHED_SLOTS] = "shed_slots",
    [CKPD__EXPLAINED_SHED_COST] = "shed_cost",
    [CKPD__EXPLAINED_ADD_KW] = "add_kw",
    [CKPD__EXPLAINED_ADD_SLOTS] = "add_slots",
    [CKPD__EXPLAINED_ADD_COST] = "add_cost",
    [CKPD__EXPLAINED_BATTERY_SHED] = "battery_shed_kw",
    [CKPD__EXPLAINED_BATTERY_ADD] = "battery_add_kw",
};

/* --- what the parts read ---------------------------------------------------------------------- */

/* Power of one edge; of the running one only the end lies inside of the horizon. */
static void add_edge(const ckpd_graph *graph, const ckpd_step *step, double *kw)
{
    const ckpd__graph_spec *s = &graph->spec;
    double length = ckpd__graph_length(s, step->mode, step->to_segment - step->from_segment, 0);
    double last = ckpd__graph_last_power(s, step->mode, length, ckpd__graph_slots(length));
    for (int32_t t = step->from_slot; t < step->to_slot; t++) {
        kw[t] += t == step->to_slot - 1 && s->prorated ? last : s->mode[step->mode].power_kw;
    }
}

void ckpd__explain_profile(const ckpd_graph *graph, const ckpd_step *step, int32_t count,
                           bool continuous, double *kw)
{
    int32_t first = 0;
    /* Where going on does not fit, the first step only looks like the rest of the running edge. */
    bool goes_on = graph->going_slots == 0 || ckpd__going_fits(graph);
    if (continuous && count > 0 && goes_on && ckpd__is_running_step(graph, &step[0])) {
        add_edge(graph, &step[first++], kw);
    }
    if (continuous && count > first) {
        ckpd_step whole = step[first];
        whole.to_slot = step[count - 1].to_slot;
        whole.to_segment = step[count - 1].to_segment;
        add_edge(graph, &whole, kw);
        return;
    }
    for (int32_t i = first; i < count; i++) {
        add_edge(graph, &step[i], kw);
    }
}

static void job_profiles(const ckpd_problem *problem, const ckpd_solution *solution, double *kw)
{
    size_t slots = (size_t)problem->site->slots;
    for (int32_t j = 0; j < problem->jobs; j++) {
        const ckpd__steps *steps = &solution->plan->steps[j];
        ckpd__explain_profile(problem->job[j], steps->step, steps->count,
                              ckpd__scenario_is_continuous(solution->scenario),
                              kw + (size_t)j * slots);
    }
}

/* Slot curves beyond what the plan needs, so that there is something on either side of it. */
static int32_t make_curves(ckpd__explain *e)
{
    ckpd_context *context = e->problem->context;
    const ckpd_site *site = e->problem->site;
    double *const *plan = e->solution->plan->series;
    ckpd__model model;
    int32_t status = ckpd__model_build(&model, e->problem, e->solution->scenario);
    for (int32_t t = 0; t < site->slots && status == CKPD_OK; t++) {
        double high = model.draw_high_kw[t];
        double margin = fmax(1.0, fabs(high));
        ckpd__tariff tariff;
        e->draw_kw[t] = plan[CKPD__PLAN_SITE_LOAD][t] + plan[CKPD__PLAN_CHARGE][t] -
                        plan[CKPD__PLAN_DISCHARGE][t];
        double low = model.draw_low_kw[t] - margin;
        status = ckpd__tariff_make(context, site, t, low, high + margin, &tariff);
        if (status == CKPD_OK) {
            status =
                ckpd__tariff_curve(context, site, t, &tariff, low, high + margin, &e->curve[t]);
            ckpd__tariff_free(context, &tariff);
        }
        if (status == CKPD_OK) {
            ckpd__pwl_tidy(&e->curve[t]);
        }
    }
    ckpd__model_free(&model);
    return status;
}

/* --- jobs beside S1 --------------------------------------------------------------------------- */

/* Price of a change of load where both directions may cost differently: the finite ones' mean. */
static double middle_price(const ckpd_explanation *out, int32_t t)
{
    double up = out->series[CKPD__EXPLAINED_UP][t];
    double down = out->series[CKPD__EXPLAINED_DOWN][t];
    return !isfinite(up) ? down : !isfinite(down) ? up : (up + down) / 2;
}

static void compare_job(const ckpd__explain *e, int32_t job, const double *s1_kw)
{
    const ckpd_site *site = e->problem->site;
    ckpd_job_explanation *out = &e->out->job[job];
    const double *kw = e->job_kw + (size_t)job * (size_t)site->slots;
    double left_money = 0;
    double taken_money = 0;
    for (int32_t t = 0; t < site->slots; t++) {
        double more = (kw[t] - s1_kw[t]) * site->series[CKPD__PUE][t] * site->slot_hours / 1000.0;
        double price = middle_price(e->out, t);
        if (more > 0) {
            out->taken_mwh += more;
            taken_money += more * price;
        } else if (more < 0) {
            out->left_mwh -= more;
            left_money -= more * price;
        }
    }
    if (out->left_mwh > 0) {
        out->left_price_per_mwh = left_money / out->left_mwh;
    }
    if (out->taken_mwh > 0) {
        out->taken_price_per_mwh = taken_money / out->taken_mwh;
    }
    if (out->left_mwh > 0 && out->taken_mwh > 0) {
        out->break_even_spread_per_mwh =
            out->taken_price_per_mwh * (out->taken_mwh - out->left_mwh) / out->left_mwh;
    }
}

static void describe_job(const ckpd__explain *e, int32_t job)
{
    const ckpd__steps *steps = &e->solution->plan->steps[job];
    ckpd_job_explanation *out = &e->out->job[job];
    *out = (ckpd_job_explanation){.size = sizeof *out,
                                  .left_price_per_mwh = (double)NAN,
                                  .taken_price_per_mwh = (double)NAN,
                                  .break_even_spread_per_mwh = (double)NAN};
    int32_t boundary = e->problem->job[job]->spec.release;
    for (int32_t i = 0; i < steps->count; i++) {
        out->waiting_slots += steps->step[i].from_slot - boundary;
        out->mode_changes += i > 0 && steps->step[i].mode != steps->step[i - 1].mode;
        boundary = steps->step[i].to_slot;
    }
}

/* S1 as the yardstick, where every job has a baseline mode. */
static int32_t compare_with_s1(ckpd__explain *e, const ckpd_solve_options *options)
{
    ckpd_problem *problem = (ckpd_problem *)e->problem;
    size_t slots = (size_t)problem->site->slots;
    for (int32_t j = 0; j < problem->jobs; j++) {
        if (problem->job[j]->spec.baseline < 0) {
            return CKPD_OK;
        }
    }
    int32_t status = ckpd_problem_solve(&e->out->baseline, problem, CKPD_SCENARIO_S1, options);
    if (status != CKPD_OK || e->out->baseline->plan == NULL) {
        return status;
    }
    double *kw = ckpd__calloc(problem->context, (size_t)problem->jobs * slots, sizeof *kw);
    if (kw == NULL) {
        return ckpd__no_memory(problem->context);
    }
    job_profiles(problem, e->out->baseline, kw);
    for (int32_t j = 0; j < problem->jobs; j++) {
        compare_job(e, j, kw + (size_t)j * slots);
    }
    ckpd__free(problem->context, kw);
    return CKPD_OK;
}

/* --- entry ------------------------------------------------------------------------------------ */

static int32_t make_out(ckpd_explanation **out, const ckpd_problem *problem)
{
    ckpd_context *context = problem->context;
    ckpd_explanation *made = ckpd__calloc(context, 1, sizeof *made);
    if (made == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(made, CKPD__EXPLANATION, context);
    made->jobs = problem->jobs;
    made->slots = problem->site->slots;
    made->job = ckpd__calloc(context, (size_t)problem->jobs, sizeof *made->job);
    bool complete = made->job != NULL;
    for (int32_t s = 0; s < CKPD__EXPLAINED_SERIES && complete; s++) {
        made->series[s] = ckpd__calloc(context, (size_t)made->slots, sizeof(double));
        complete = made->series[s] != NULL;
    }
    if (!complete) {
        ckpd_explanation_free(made);
        return ckpd__no_memory(context);
    }
    *out = made;
    return CKPD_OK;
}

static int32_t run_explain(ckpd__explain *e, const ckpd_solve_options *options)
{
    ckpd_context *context = e->problem->context;
    size_t slots = (size_t)e->problem->site->slots;
    size_t jobs = (size_t)e->problem->jobs;
    e->curve = ckpd__calloc(context, slots, sizeof *e->curve);
    e->draw_kw = ckpd__calloc(context, slots, sizeof *e->draw_kw);
    e->job_kw = ckpd__calloc(context, jobs * slots, sizeof *e->job_kw);
    bool ready = e->curve != NULL && e->draw_kw != NULL && e->job_kw != NULL;
    int32_t status = ready ? make_curves(e) : ckpd__no_memory(context);
    if (status == CKPD_OK) {
        job_profiles(e->problem, e->solution, e->job_kw);
        ckpd__explain_marginals(e);
        for (int32_t j = 0; j < e->problem->jobs; j++) {
            describe_job(e, j);
        }
        status = compare_with_s1(e, options);
    }
    if (status == CKPD_OK) {
        status = ckpd__explain_flexibility(e);
    }
    for (size_t t = 0; e->curve != NULL && t < slots; t++) {
        ckpd__pwl_free(context, &e->curve[t]);
    }
    ckpd__free(context, e->curve);
    ckpd__free(context, e->draw_kw);
    ckpd__free(context, e->job_kw);
    return status;
}

int32_t ckpd_problem_explain(ckpd_explanation **out, ckpd_problem *problem,
                             const ckpd_solution *solution, const ckpd_solve_options *options)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, solution, CKPD__SOLUTION);
    CKPD__REFUSE_FOREIGN(problem, options, CKPD__SOLVE_OPTIONS);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    if (out == NULL || solution == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "solution");
    }
    if (solution->plan == NULL || solution->scenario == CKPD_SCENARIO_S3) {
        return ckpd__fail(context, CKPD_ERR_STATE, "solution", -1, solution->scenario,
                          solution->plan == NULL
                              ? "the solution has no plan to explain"
                              : "S3 is not executable: there is no plan to explain");
    }
    if (solution->plan->jobs != problem->jobs || solution->plan->slots != problem->site->slots) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "solution", -1, solution->plan->jobs,
                          "the solution has %d jobs and %d slots, the problem %d and %d",
                          solution->plan->jobs, solution->plan->slots, problem->jobs,
                          problem->site->slots);
    }
    int32_t status = ckpd__scenario_check(problem, solution->scenario);
    ckpd__explain e = {.problem = problem, .solution = solution};
    if (status == CKPD_OK) {
        status = make_out(&e.out, problem);
    }
    if (status != CKPD_OK) {
        return status;
    }
    status = run_explain(&e, options);
    if (status != CKPD_OK) {
        ckpd_explanation_free(e.out);
        return status;
    }
    *out = e.out;
    return CKPD_OK;
}

void ckpd_explanation_free(ckpd_explanation *explanation)
{
    CKPD__NULL_IF_FOREIGN(explanation, CKPD__EXPLANATION);
    if (explanation == NULL) {
        return;
    }
    ckpd_context *context = explanation->context;
    for (int32_t s = 0; s < CKPD__EXPLAINED_SERIES; s++) {
        ckpd__free(context, explanation->series[s]);
    }
    ckpd__free(context, explanation->job);
    ckpd_solution_free(explanation->baseline);
    ckpd__handle_end(explanation);
}

const ckpd_solution *ckpd_explanation_baseline(const ckpd_explanation *explanation)
{
    CKPD__NULL_IF_FOREIGN(explanation, CKPD__EXPLANATION);
    return explanation != NULL ? explanation->baseline : NULL;
}

int32_t ckpd_explanation_get_series(const ckpd_explanation *explanation, const char *name,
                                    double *values, int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, explanation, CKPD__EXPLANATION);
    if (explanation == NULL || name == NULL || values == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    for (int32_t s = 0; s < CKPD__EXPLAINED_SERIES; s++) {
        if (strcmp(series_names[s], name) != 0) {
            continue;
        }
        if (count != explanation->slots) {
            return CKPD_ERR_LENGTH;
        }
        memcpy(values, explanation->series[s], (size_t)count * sizeof *values);
        return CKPD_OK;
    }
    return CKPD_ERR_UNKNOWN_NAME;
}

int32_t ckpd_explanation_get_job(const ckpd_explanation *explanation, int32_t job,
                                 ckpd_job_explanation *out)
{
    CKPD__REFUSE_FOREIGN(NULL, explanation, CKPD__EXPLANATION);
    if (explanation == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (job < 0 || job >= explanation->jobs) {
        return CKPD_ERR_RANGE;
    }
    return CKPD__STRUCT_OUT(NULL, job_explanation, out, &explanation->job[job]);
}
