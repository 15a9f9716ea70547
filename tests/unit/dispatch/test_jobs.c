/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Whole problems against a search that enumerates what every job may do straight from
 * docs/model.md, and cases worked out by hand: transitions, edge costs, prorated power, saving,
 * custom curves.
 */
#include "base/base.h"
#include "support/day.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 6, MOST_MODES = 3, MOST_PROFILES = 20000 };

/* --- the search ------------------------------------------------------------------------------- */

typedef struct profile {
    double kw[SLOTS];
    int32_t gpus[SLOTS];
    double money;
} profile;

typedef struct search_job {
    day_job job;
    day_mode mode[MOST_MODES];
    const uint8_t *allowed; /* [modes * modes] or NULL */
    bool prorated, priced;
    profile *list;
    int32_t count;
} search_job;

/* The price of an edge in cases that have one. */
static double edge_price(int32_t slot, int32_t segment, int32_t mode)
{
    return 3.0 * ((slot * 7 + segment * 5 + mode * 11) % 13) - 12.0;
}

static double priced_edge(const char *job, const ckpd_edge *edge, int32_t *failed, void *user)
{
    (void)job;
    (void)failed;
    (void)user;
    return edge_price(edge->from_slot, edge->from_segment, edge->mode);
}

static void extend(search_job *s, profile p, int32_t last, int32_t slot, int32_t segment)
{
    int32_t deadline = s->job.deadline > 0 ? s->job.deadline : SLOTS;
    if (segment == s->job.segments) {
        ck_assert_int_lt(s->count, MOST_PROFILES);
        s->list[s->count++] = p;
        return;
    }
    if (slot >= deadline) {
        return;
    }
    extend(s, p, last, slot + 1, segment);
    for (int32_t m = 0; m < s->job.modes; m++) {
        if (s->allowed != NULL && last >= 0 && s->allowed[last * s->job.modes + m] == 0) {
            continue;
        }
        for (int32_t n = 1; segment + n <= s->job.segments; n++) {
            double hours = n * s->mode[m].hours;
            int32_t slots = (int32_t)ceil(hours - 1e-6);
            if (slot + slots > deadline) {
                break;
            }
            profile q = p;
            for (int32_t t = slot; t < slot + slots; t++) {
                double share = s->prorated ? fmin(1, hours - (t - slot)) : 1;
                q.kw[t] += 1000 * (share * s->mode[m].mw + (1 - share) * s->mode[m].idle_mw);
                q.gpus[t] += s->mode[m].gpus;
            }
            q.money += s->priced ? edge_price(slot, segment, m) : 0;
            extend(s, q, m, slot + slots, segment + n);
        }
    }
}

typedef struct search_site {
    double price[SLOTS], export_price[SLOTS], wind[SLOTS];                   /* money/MWh, MW */
    double pue, base_mw, penalty, import_cap, export_cap, site_cap, gpu_cap; /* MW */
} search_site;

/* Least money of a slot: one of the flows stands at a bound. All in MW. */
static double slot_money(const search_site *s, int32_t t, double load)
{
    double net = load - s->wind[t];
    double best = (double)INFINITY;
    double import_cap = fmin(s->import_cap, load);
    double export_cap = fmin(s->export_cap, s->wind[t]);
    const double import[] = {0, import_cap, net, net + s->wind[t]};
    for (int32_t i = 0; i < 4; i++) {
        double curtailed = import[i] - net;
        if (import[i] > -1e-12 && import[i] <= import_cap + 1e-9 && curtailed > -1e-9 &&
            curtailed <= s->wind[t] + 1e-9) {
            best = fmin(best, s->price[t] * import[i] + s->penalty * curtailed);
        }
    }
    const double exported[] = {0, export_cap, -net, s->wind[t] - load};
    for (int32_t i = 0; i < 4; i++) {
        double curtailed = -net - exported[i];
        if (exported[i] > -1e-12 && exported[i] <= export_cap + 1e-9 && curtailed > -1e-9 &&
            curtailed <= s->wind[t] + 1e-9) {
            best = fmin(best, s->penalty * curtailed - s->export_price[t] * exported[i]);
        }
    }
    return best;
}

/* Least cost of two jobs together, infinity when nothing fits. */
static double search(const search_site *s, const search_job *a, const search_job *b)
{
    double best = (double)INFINITY;
    for (int32_t i = 0; i < a->count; i++) {
        for (int32_t j = 0; j < b->count; j++) {
            double money = a->list[i].money + b->list[j].money;
            for (int32_t t = 0; t < SLOTS && money < best + 1e5; t++) {
                double load = s->pue * (s->base_mw + (a->list[i].kw[t] + b->list[j].kw[t]) / 1000);
                bool fits = load <= s->site_cap + 1e-9 &&
                            a->list[i].gpus[t] + b->list[j].gpus[t] <= s->gpu_cap;
                money += fits ? slot_money(s, t, load) : (double)INFINITY;
            }
            best = fmin(best, money);
        }
    }
    return best;
}

/* --- random problems -------------------------------------------------------------------------- */

static ckpd__random rng;

static int32_t pick(int32_t low, int32_t high)
{
    return low + (int32_t)(ckpd__random_uniform(&rng) * (high - low + 1));
}

static search_site random_site(bool wild)
{
    search_site s = {.pue = 1 + 0.25 * pick(0, 2),
                     .base_mw = pick(0, 4),
                     .penalty = pick(0, 3) * 5,
                     .import_cap = pick(0, 2) == 0 ? (double)INFINITY : pick(15, 40),
                     .export_cap = wild ? pick(0, 20) : 0,
                     .site_cap = pick(0, 2) == 0 ? (double)INFINITY : pick(18, 40),
                     .gpu_cap = pick(2, 6) * 8};
    for (int32_t t = 0; t < SLOTS; t++) {
        s.price[t] = wild ? pick(-40, 90) : pick(10, 90);
        s.export_price[t] = wild ? pick(-20, 90) : 0;
        s.wind[t] = pick(0, 3) == 0 ? 0 : pick(0, 25);
    }
    return s;
}

static day make_day(const search_site *s)
{
    day d = day_new(SLOTS, 1, s->price, s->base_mw);
    day_set_mw(&d, "export_price_per_mwh", s->export_price);
    day_set_mw(&d, "wind_kw", s->wind);
    day_set(&d, "pue", s->pue);
    day_set(&d, "curtailment_penalty_per_mwh", s->penalty);
    day_set(&d, "import_cap_kw", 1000 * s->import_cap);
    day_set(&d, "export_cap_kw", 1000 * s->export_cap);
    day_set(&d, "site_cap_kw", 1000 * s->site_cap);
    day_set(&d, "gpu_cap", s->gpu_cap);
    return d;
}

static search_job random_job(const char *name, int32_t kind, uint8_t *allowed)
{
    search_job j = {.job = {.name = name, .segments = pick(1, 3), .modes = pick(1, 2)}};
    for (int32_t m = 0; m < j.job.modes; m++) {
        double hours = 0.4 + 0.2 * pick(0, 8);
        /* ascending GPUs: mode sets number modes in that order */
        j.mode[m] = (day_mode){8 * (2 * m + pick(1, 2)), hours, pick(2, 12), pick(0, 2)};
    }
    j.job.release = pick(0, 2) == 0 ? 1 : 0;
    j.job.deadline = pick(0, 2) == 0 ? SLOTS - 1 : 0;
    j.prorated = kind == 1;
    j.priced = kind == 2;
    for (int32_t i = 0; i < 4; i++) {
        allowed[i] = pick(0, 2) != 0;
    }
    j.allowed = kind == 3 ? allowed : NULL;
    j.list = calloc(MOST_PROFILES, sizeof *j.list);
    ck_assert_ptr_nonnull(j.list);
    extend(&j, (profile){{0}, {0}, 0}, -1, j.job.release, 0);
    return j;
}

static void add_job(day *d, search_job *j)
{
    ckpd_graph_options *options = NULL;
    j->job.mode = j->mode;
    ck_assert_int_eq(ckpd_graph_options_new(&options, d->context), CKPD_OK);
    if (j->prorated) {
        ck_assert_int_eq(ckpd_graph_options_set_text(options, "last_slot_power", "prorated"),
                         CKPD_OK);
    }
    if (j->priced) {
        ck_assert_int_eq(ckpd_graph_options_set_edge_cost(options, priced_edge, NULL), CKPD_OK);
    }
    if (j->allowed != NULL) {
        ck_assert_int_eq(ckpd_graph_options_set_transitions(options, j->job.modes, j->allowed),
                         CKPD_OK);
    }
    int32_t status = day_add_job(d, &j->job, options);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(d->context));
    ckpd_graph_options_free(options);
}

static void expect_infeasible(day *d)
{
    ckpd_solution *s = day_solve(d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 1);
    ck_assert_int_ge(ckpd_solution_cause_count(s), 1);
    ckpd_solution_free(s);
}

START_TEST(random_problems_match_the_search)
{
    int32_t solved = 0;
    int32_t hopeless = 0;
    int32_t rounds = test_fast() ? 24 : 160;
    ckpd__random_seed(&rng, 4711, 1);
    for (int32_t round = 0; round < rounds; round++) {
        uint8_t allowed[2][4];
        search_site s = random_site(round % 2 == 1);
        search_job a = random_job("A", round / 2 % 4, allowed[0]);
        search_job b = random_job("B", round / 8 % 4, allowed[1]);
        double wanted = search(&s, &a, &b);
        day d = make_day(&s);
        add_job(&d, &a);
        add_job(&d, &b);
        if (isinf(wanted)) {
            expect_infeasible(&d);
            hopeless++;
        } else {
            day_expect(&d, CKPD_SCENARIO_S4, wanted);
            solved++;
        }
        day_free(&d);
        free(a.list);
        free(b.list);
    }
    ck_assert_int_gt(solved, rounds / 3);
    ck_assert_int_gt(hopeless, rounds / 20);
}
END_TEST

/* S3 <= S4 <= S1 and S6 <= S4, S6 <= S5 <= S1 whenever they exist; S2 = S1. */
START_TEST(scenarios_are_ordered)
{
    ckpd__random_seed(&rng, 99, 2);
    int32_t compared = 0;
    for (int32_t round = 0; round < 20; round++) {
        uint8_t allowed[4];
        double cost[7];
        search_site s = random_site(round % 2 == 1);
        search_job a = random_job("A", 0, allowed);
        day d = make_day(&s);
        const day_battery battery = {.energy_mwh = 6,
                                     .power_mw = 3,
                                     .eta = 0.9,
                                     .start_mwh = 3,
                                     .end_mwh = 3,
                                     .terminal = "equal"};
        day_add_battery(&d, &battery);
        add_job(&d, &a);
        for (int32_t scenario = 1; scenario <= 6; scenario++) {
            ckpd_solution *found = day_solve(&d, scenario, NULL);
            cost[scenario] = ckpd_solution_outcome(found) == CKPD_OUTCOME_OPTIMAL
                                 ? ckpd_solution_cost(found)
                                 : (double)INFINITY;
            ckpd_solution_free(found);
        }
        double slack = 1e-4;
        ck_assert_double_le(cost[3], cost[4] + slack);
        ck_assert_double_le(cost[4], cost[1] + slack);
        ck_assert_double_le(cost[6], cost[4] + slack);
        ck_assert_double_le(cost[6], cost[5] + slack);
        ck_assert_double_le(cost[5], cost[1] + slack);
        ck_assert(cost[1] == cost[2]);
        compared += isfinite(cost[1]);
        day_free(&d);
        free(a.list);
    }
    ck_assert_int_ge(compared, 5);
}
END_TEST

/* With a battery the backends check one another: GLPK without the structure layer, the enumerator,
   the native solver. */
START_TEST(backends_agree_with_a_battery)
{
    static const char *const terminals[] = {"equal", "at_least", "free"};
    static const char *const backends[] = {"native", "glpk", "enumerate"};
    int32_t rounds = test_fast() ? 8 : 40;
    int32_t compared = 0;
    ckpd__random_seed(&rng, 2026, 8);
    for (int32_t round = 0; round < rounds; round++) {
        uint8_t allowed[4];
        search_site s = random_site(round % 2 == 1);
        search_job a = random_job("A", round % 4, allowed);
        day d = make_day(&s);
        const day_battery battery = {.energy_mwh = 8,
                                     .power_mw = pick(1, 6),
                                     .eta = 0.8 + 0.1 * pick(0, 2),
                                     .start_mwh = 4,
                                     .end_mwh = 4,
                                     .throughput_cost = pick(0, 5),
                                     .end_value = pick(0, 30),
                                     .terminal = terminals[round % 3]};
        day_add_battery(&d, &battery);
        add_job(&d, &a);
        ckpd_solve_options *options = NULL;
        double first = (double)NAN;
        ck_assert_int_eq(ckpd_solve_options_new(&options, d.context), CKPD_OK);
        ck_assert_int_eq(ckpd_solve_options_set(options, "structure_presolve", 0), CKPD_OK);
        for (int32_t b = 0; b < 3; b++) {
            ckpd_solution *found = NULL;
            if (ckpd_backend_capabilities(d.context, backends[b]) == 0) {
                continue;
            }
            ck_assert_int_eq(ckpd_solve_options_set_backend(options, backends[b]), CKPD_OK);
            int32_t status = ckpd_problem_solve(&found, d.problem, CKPD_SCENARIO_S6, options);
            ck_assert_msg(status == CKPD_OK, "round %d by %s: %s", (int)round, backends[b],
                          ckpd_context_last_message(d.context));
            double cost = ckpd_solution_outcome(found) == CKPD_OUTCOME_OPTIMAL
                              ? ckpd_solution_cost(found)
                              : (double)INFINITY;
            ckpd_solution_free(found);
            first = isnan(first) ? cost : first;
            bool same =
                isinf(first) ? isinf(cost) : fabs(cost - first) <= 3e-6 * fmax(1, fabs(first));
            ck_assert_msg(same, "round %d: %s says %.9g, another %.9g", (int)round, backends[b],
                          cost, first);
            compared += isfinite(cost);
        }
        ckpd_solve_options_free(options);
        day_free(&d);
        free(a.list);
    }
    ck_assert_int_gt(compared, rounds);
}
END_TEST

/* --- by hand ---------------------------------------------------------------------------------- */

/*
 * Two 1 h segments. Mode 0 (5 MW, 2 h a segment) and mode 1 (20 MW, 1 h). Prices 10 10 50 50 10 90:
 * free, both segments in mode 0 cost 5 x (10+10) + 5 x (50+10) = 400; mode 1 at slots 0 and 1: 400;
 * one of each: mode 0 in 0..1 (100) and mode 1 in 4 (200) = 300. With 0 -> 1 forbidden the other
 * order: mode 1 in slot 0 (200), mode 0 from 1: 10 + 50 -> 300 -> 500, or mode 0 in 3..4: 50 + 10
 * -> 500: best is now 400. The wait between the segments must not wash the rule out.
 */
START_TEST(a_forbidden_change_costs_what_it_should)
{
    const double price[6] = {10, 10, 50, 50, 10, 90};
    const day_mode modes[] = {{8, 2.0, 5, 0}, {16, 1.0, 20, 0}};
    const day_job job = {.name = "job", .segments = 2, .modes = 2, .mode = modes};
    const uint8_t allowed[] = {1, 0, 1, 1};
    ckpd_graph_options *options = NULL;
    day d = day_new(6, 1, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 300);
    ckpd_problem_free(d.problem);
    d.problem = NULL;
    ck_assert_int_eq(ckpd_graph_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, 2, allowed), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, options), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 400);
    /* a job that has run mode 0 until the horizon may not go on in mode 1 either */
    const day_job running = {.name = "running",
                             .segments = 2,
                             .modes = 2,
                             .mode = modes,
                             .running_mode = 1,
                             .running_slots = 1,
                             .running_segments = 1};
    ckpd_problem_free(d.problem);
    d.problem = NULL;
    ck_assert_int_eq(day_add_job(&d, &running, options), CKPD_OK);
    /* slot 0 is fixed (50); then mode 0 in 1..2: 300, or 3..4: 300 */
    day_expect(&d, CKPD_SCENARIO_S4, 350);
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, 0, NULL), CKPD_OK);
    ckpd_problem_free(d.problem);
    d.problem = NULL;
    ck_assert_int_eq(day_add_job(&d, &running, options), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 250);
    ckpd_graph_options_free(options);
    day_free(&d);
}
END_TEST

static int32_t only_upwards(const ckpd_mode *from, const ckpd_mode *to, void *user)
{
    ++*(int32_t *)user;
    return to->gpus >= from->gpus;
}

START_TEST(the_rule_may_be_a_callback)
{
    const double price[4] = {90, 10, 10, 90};
    const day_mode modes[] = {{8, 1.0, 4, 0}, {16, 1.0, 6, 0}};
    const day_job job = {.name = "job", .segments = 2, .modes = 2, .mode = modes};
    ckpd_graph_options *options = NULL;
    int32_t asked = 0;
    day d = day_new(4, 1, price, 0);
    ck_assert_int_eq(ckpd_graph_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_transition_rule(options, only_upwards, &asked),
                     CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, options), CKPD_OK);
    ck_assert_int_eq(asked, 4);
    day_expect(&d, CKPD_SCENARIO_S4, 80);
    const uint8_t matrix[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, 3, matrix), CKPD_OK);
    const day_job other = {.name = "other", .segments = 2, .modes = 2, .mode = modes};
    ck_assert_int_eq(day_add_job(&d, &other, options), CKPD_ERR_LENGTH);
    ckpd_graph_options_free(options);
    day_free(&d);
}
END_TEST

/* A segment of 1.5 h at 10 MW, 2 MW idle: prorated its second slot averages 6 MW. */
START_TEST(prorated_power_moves_the_money)
{
    const double price[4] = {10, 100, 20, 20};
    const day_mode modes[] = {{8, 1.5, 10, 2}};
    const day_job job = {.name = "job", .segments = 1, .modes = 1, .mode = modes};
    ckpd_graph_options *options = NULL;
    day d = day_new(4, 1, price, 0);
    ck_assert_int_eq(ckpd_graph_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 400);
    day_expect(&d, CKPD_SCENARIO_S1, 1100);
    ckpd_problem_free(d.problem);
    d.problem = NULL;
    ck_assert_int_eq(ckpd_graph_options_set_text(options, "last_slot_power", "prorated"), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, options), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 200 + 120);
    day_expect(&d, CKPD_SCENARIO_S1, 100 + 600);
    day_expect(&d, CKPD_SCENARIO_S2, 100 + 600);
    day_expect(&d, CKPD_SCENARIO_S3, 100 + 200);
    ckpd_graph_options_free(options);
    day_free(&d);
}
END_TEST

/* Edge costs: starting at slot 0 costs 1000, so the job waits although slot 0 is cheap; S1 must
 * pay. */
static double late_is_free(const char *job, const ckpd_edge *edge, int32_t *failed, void *user)
{
    (void)job;
    (void)failed;
    (void)user;
    return edge->from_slot == 0 ? 1000 : -7;
}

START_TEST(edge_costs_count_once)
{
    const double price[4] = {10, 20, 30, 40};
    const day_mode modes[] = {{8, 1.0, 10, 0}};
    const day_job job = {.name = "job", .segments = 2, .modes = 1, .mode = modes};
    ckpd_graph_options *options = NULL;
    day d = day_new(4, 1, price, 0);
    ck_assert_int_eq(ckpd_graph_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_edge_cost(options, late_is_free, NULL), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, options), CKPD_OK);
    /* two edges of one segment earn 14, one of two segments 7 */
    day_expect(&d, CKPD_SCENARIO_S4, 500 - 14);
    day_expect(&d, CKPD_SCENARIO_S1, 300 + 1000);
    day_expect(&d, CKPD_SCENARIO_S2, 300 + 1000);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq(day_figure(s, "edge_cost"), -14);
    ckpd_solution_free(s);
    ckpd_graph_options_free(options);
    day_free(&d);
}
END_TEST

START_TEST(custom_curves_shape_the_plan)
{
    /* 10 MW for two of four hours at a price of 20. Import above 8 MW costs 100 more per MWh. */
    const double price[4] = {20, 20, 20, 20};
    const double wind[4] = {0, 3, 1, 1};
    const day_mode modes[] = {{8, 1.0, 10, 0}};
    const day_job job = {.name = "job", .segments = 2, .modes = 1, .mode = modes};
    const double x[3] = {0, 8000, 9000};
    const double y[3] = {0, 0, 100};
    day d = day_new(4, 1, price, 0);
    day_set_mw(&d, "wind_kw", wind);
    ck_assert_int_eq(ckpd_site_add_cost_curve(d.site, -1, CKPD_COST_IMPORT, 3, x, y), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    /* slot 1: 7 MW bought, 140; slot 2 or 3: 9 MW, 180 + 100 */
    day_expect(&d, CKPD_SCENARIO_S4, 140 + 280);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq_tol(day_figure(s, "custom_cost"), 100, 1e-9);
    ckpd_solution_free(s);
    /* net load and curtailment curves in one slot: 5 for each MW of either, slot 1 with the job: 7
     * x 5 */
    const double line[2] = {0, 1000};
    const double five[2] = {0, 5};
    ck_assert_int_eq(ckpd_site_add_cost_curve(d.site, 1, CKPD_COST_NET_LOAD, 2, line, five),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_problem_set_site(d.problem, d.site), CKPD_OK);
    /* slot 1 with the job costs 140 + 35; without it 3 MW are curtailed: net load -3, -15 */
    day_expect(&d, CKPD_SCENARIO_S4, 140 + 35 + 280);
    ck_assert_int_eq(ckpd_site_add_cost_curve(d.site, 3, CKPD_COST_CURTAILMENT, 2, line, five),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_problem_set_site(d.problem, d.site), CKPD_OK);
    /* idle slot 3 would now pay 5 for its curtailed MW: the job takes it instead of slot 2 */
    day_expect(&d, CKPD_SCENARIO_S4, 140 + 35 + 280);
    s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq(day_value(s, "it_power_kw", 3), 10000);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(two_faults_are_both_named)
{
    const double price[4] = {20, 20, 20, 20};
    const day_mode slow[] = {{8, 3.0, 1, 0}};
    const day_job late = {.name = "late", .segments = 2, .modes = 1, .mode = slow};
    const double cap[4] = {5, 2, 5, 5};
    day d = day_new(4, 1, price, 3);
    day_set_mw(&d, "site_cap_kw", cap);
    ck_assert_int_eq(day_add_job(&d, &late, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_solution_cause_count(s), 2);
    ck_assert_str_eq(
        ckpd_solution_cause(s, 0),
        "job 'late' cannot finish by its deadline (boundary 4): 1 of 2 segments at most; the "
        "earliest feasible deadline is boundary 6");
    ck_assert_str_eq(ckpd_solution_cause(s, 1), "site cap in slots 1-1: 1000 kW short");
    ckpd_solution_free(s);
    s = day_solve(&d, CKPD_SCENARIO_S1, NULL);
    ck_assert_str_eq(
        ckpd_solution_cause(s, 0),
        "job 'late' needs 6 slots of its baseline mode from boundary 0 on, 4 are left before its "
        "deadline; the earliest feasible deadline is boundary 6");
    ckpd_solution_free(s);
    s = day_solve(&d, CKPD_SCENARIO_S3, NULL);
    ck_assert_str_eq(ckpd_solution_cause(s, 0),
                     "job 'late' can do 66.6666666667 % of its work by its deadline "
                     "at most");
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        random_problems_match_the_search,
        scenarios_are_ordered,
        backends_agree_with_a_battery,
        a_forbidden_change_costs_what_it_should,
        the_rule_may_be_a_callback,
        prorated_power_moves_the_money,
        edge_costs_count_once,
        custom_curves_shape_the_plan,
        two_faults_are_both_named,
        NULL,
    };
    return test_run(test_suite("jobs", tests));
}
