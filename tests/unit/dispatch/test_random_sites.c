/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Random small sites with everything at once - battery, export (at times dearer than import),
 * prices below zero, caps on import, export, site and GPUs, curtailment at a price, renewables, PUE
 * by slot, releases and deadlines: every plan one after the other (enumerate), the native solver,
 * GLPK alone and behind the structure presolve find the same cost; the native plan is the same bits
 * whatever the number of threads and whatever the allocator. A solve from the solution of the same
 * site before a price, the battery and a checkpoint changed finds that cost, too.
 */
#include "support/day.h"
#include "support/dice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 6, JOBS = 2, INSTANCES = 200 };

static void set_random(day *site, dice *d, const char *series, double low, double high)
{
    double values[SLOTS];
    for (int32_t t = 0; t < SLOTS; t++)
        values[t] = between(d, low, high);
    day_set_mw(site, series, values);
}

/* Three things that change while a plan is carried out. */
static void change_price(day *site, int32_t slot)
{
    double values[SLOTS];
    ck_assert_int_eq(ckpd_site_get_series(site->site, "import_price_per_mwh", values, SLOTS),
                     CKPD_OK);
    values[slot] *= 1.3;
    ck_assert_int_eq(ckpd_site_set_series(site->site, "import_price_per_mwh", values, SLOTS),
                     CKPD_OK);
}

static int32_t add_jobs(day *site, dice *d, bool later)
{
    for (int32_t j = 0; j < JOBS; j++) {
        day_mode modes[2];
        for (int32_t m = 0; m < 2; m++) {
            int32_t gpus = 50 * pick(d, 2, 10);
            modes[m] = (day_mode){.gpus = gpus,
                                  .hours = between(d, 300, 500) / gpus,
                                  .mw = 0.01 * gpus * between(d, 0.8, 1.2)};
        }
        day_job job = {.name = j ? "second" : "first",
                       .segments = pick(d, 1, 2),
                       .modes = 2,
                       .mode = modes,
                       .release = pick(d, 0, 3) ? 0 : 1,
                       .deadline = pick(d, 0, 1) ? 0 : pick(d, SLOTS - 2, SLOTS)};
        job.start_segments = later && j == 0 && job.segments > 1;
        int32_t status = day_add_job(site, &job, NULL);
        if (status != CKPD_OK)
            return status;
    }
    return CKPD_OK;
}

/* False when a job has no way through its own graph. `later`: a little has changed. */
static bool make(day *site, uint64_t seed, const ckpd_allocator *allocator, bool later)
{
    dice d = {seed};
    *site = (day){NULL, NULL, NULL};
    ck_assert_int_eq(ckpd_context_new(&site->context, allocator), CKPD_OK);
    ck_assert_int_eq(ckpd_site_new(&site->site, site->context, SLOTS, 1), CKPD_OK);
    set_random(site, &d, "import_price_per_mwh", pick(&d, 0, 1) ? -80 : 10, 110);
    if (later)
        change_price(site, (int32_t)(seed % SLOTS));
    set_random(site, &d, "export_price_per_mwh", -20, pick(&d, 0, 2) ? 30 : 120);
    set_random(site, &d, "curtailment_penalty_per_mwh", 0, 60);
    set_random(site, &d, "wind_kw", 0, 4);
    set_random(site, &d, "solar_kw", 0, pick(&d, 0, 1) ? 8 : 0.1);
    set_random(site, &d, "base_it_kw", 0.5, 2);
    set_random(site, &d, "pue", 1.05, 1.4);
    set_random(site, &d, "import_cap_kw", pick(&d, 0, 1) ? 8 : 20, 25);
    set_random(site, &d, "export_cap_kw", 0, pick(&d, 0, 1) ? 0.5 : 6);
    set_random(site, &d, "site_cap_kw", pick(&d, 0, 2) ? 20 : 8, 25);
    day_set(site, "gpu_cap", 50 * pick(&d, 8, 20));
    static const char *const terminal[] = {"equal", "at_least", "free"};
    double energy = between(&d, 2, 8), start = between(&d, 0.2, 0.9) * energy;
    day_add_battery(site, &(day_battery){.energy_mwh = energy,
                                         .power_mw = between(&d, 0.5, 4),
                                         .eta = between(&d, 0.8, 1),
                                         .start_mwh = later ? 0.95 * start : start,
                                         .end_mwh = start,
                                         .terminal = terminal[pick(&d, 0, 2)],
                                         .throughput_cost = pick(&d, 0, 1) ? 0 : between(&d, 0, 6),
                                         .end_value = pick(&d, 0, 1) ? 0 : between(&d, 0, 50),
                                         .soc_min_mwh = 0.1 * energy});
    return add_jobs(site, &d, later) == CKPD_OK;
}

static ckpd_solution *solve(day *site, const char *backend, int32_t presolve, int32_t threads)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, site->context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, backend), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "structure_presolve", presolve), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "threads", threads), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "relative_gap", 1e-9), CKPD_OK);
    int32_t status = ckpd_problem_solve(&solution, day_problem(site), CKPD_SCENARIO_S6, options);
    ck_assert_msg(status == CKPD_OK, "%s: %s", backend ? backend : "auto",
                  ckpd_context_last_message(site->context));
    ckpd_solve_options_free(options);
    return solution;
}

static void expect_same_cost(const ckpd_solution *a, const ckpd_solution *b, int seed,
                             const char *who)
{
    ck_assert_msg(ckpd_solution_outcome(a) == ckpd_solution_outcome(b),
                  "seed %d: enumerate %d, %s %d", seed, ckpd_solution_outcome(a), who,
                  ckpd_solution_outcome(b));
    if (ckpd_solution_outcome(a) != CKPD_OUTCOME_OPTIMAL)
        return;
    double x = ckpd_solution_cost(a), y = ckpd_solution_cost(b);
    ck_assert_msg(fabs(x - y) <= 1e-7 * fmax(1, fabs(x)), "seed %d: enumerate %.12g, %s %.12g",
                  seed, x, who, y);
    ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(b)), 0);
}

static void expect_same_bits(const ckpd_solution *a, const ckpd_solution *b)
{
    static const char *const series[] = {"import_kw", "export_kw", "curtailment_kw", "charge_kw",
                                         "discharge_kw"};
    ck_assert_int_eq(ckpd_solution_outcome(a), ckpd_solution_outcome(b));
    if (ckpd_solution_outcome(a) != CKPD_OUTCOME_OPTIMAL)
        return;
    const ckpd_plan *p = ckpd_solution_plan(a), *q = ckpd_solution_plan(b);
    double x[SLOTS], y[SLOTS];
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        ck_assert_int_eq(ckpd_plan_get_series(p, series[i], x, SLOTS), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_get_series(q, series[i], y, SLOTS), CKPD_OK);
        ck_assert_mem_eq(x, y, sizeof x);
    }
    for (int32_t j = 0; j < JOBS; j++) {
        ck_assert_int_eq(ckpd_plan_step_count(p, j), ckpd_plan_step_count(q, j));
        for (int32_t i = 0; i < ckpd_plan_step_count(p, j); i++) {
            ckpd_step one = {.size = sizeof one}, other = {.size = sizeof other};
            ck_assert_int_eq(ckpd_plan_get_step(p, j, i, &one), CKPD_OK);
            ck_assert_int_eq(ckpd_plan_get_step(q, j, i, &other), CKPD_OK);
            ck_assert_mem_eq(&one, &other, sizeof one);
        }
    }
    double one = ckpd_solution_cost(a), other = ckpd_solution_cost(b);
    ck_assert_mem_eq(&one, &other, sizeof one);
}

/* An allocator whose blocks lie elsewhere and start as rubbish. */
static void *take(size_t bytes, void *user)
{
    (void)user;
    unsigned char *block = malloc(bytes + 48);
    if (block == NULL)
        return NULL;
    memset(block, 0xA5, bytes + 48);
    memcpy(block, &bytes, sizeof bytes);
    return block + 16;
}

static void give(void *block, void *user)
{
    (void)user;
    free((unsigned char *)block - 16);
}

static void *resize(void *block, size_t bytes, void *user)
{
    size_t held = 0;
    void *more = take(bytes, user);
    if (block == NULL || more == NULL)
        return more;
    memcpy(&held, (unsigned char *)block - 16, sizeof held);
    memcpy(more, block, held < bytes ? held : bytes);
    give(block, user);
    return more;
}

static void compare(day *site, uint64_t seed, const ckpd_solution *native)
{
    ckpd_solution *all = solve(site, "enumerate", 0, 1);
    expect_same_cost(all, native, (int)seed, "native");
#ifdef CKPD_HAVE_GLPK
    for (int32_t presolve = 0; presolve < 2; presolve++) {
        ckpd_solution *glpk = solve(site, "glpk", presolve, 1);
        expect_same_cost(all, glpk, (int)seed, presolve ? "glpk behind presolve" : "glpk");
        ckpd_solution_free(glpk);
    }
#endif
    ckpd_solution_free(all);
}

START_TEST(backends_threads_allocators)
{
    const ckpd_allocator other = {
        .size = sizeof other, .malloc_fn = take, .realloc_fn = resize, .free_fn = give};
    int optimal = 0, infeasible = 0, impossible = 0;
    for (uint64_t seed = 1; seed <= (test_fast() ? INSTANCES / 10 : INSTANCES); seed++) {
        day site, elsewhere;
        bool possible = make(&site, seed, NULL, false);
        ck_assert_int_eq(make(&elsewhere, seed, &other, false), possible);
        if (possible) {
            ckpd_solution *native = solve(&site, "native", 1, 1);
            ckpd_solution *threads = solve(&site, "native", 1, 3);
            ckpd_solution *again = solve(&elsewhere, "native", 1, 2);
            compare(&site, seed, native);
            expect_same_bits(native, threads);
            expect_same_bits(native, again);
            optimal += ckpd_solution_outcome(native) == CKPD_OUTCOME_OPTIMAL;
            infeasible += ckpd_solution_outcome(native) == CKPD_OUTCOME_INFEASIBLE;
            ckpd_solution_free(native);
            ckpd_solution_free(threads);
            ckpd_solution_free(again);
        }
        impossible += !possible;
        day_free(&site);
        day_free(&elsewhere);
    }
    printf("%d optimal, %d infeasible, %d with a job that has no way\n", optimal, infeasible,
           impossible);
    ck_assert_int_gt(optimal, 2 * infeasible);
}
END_TEST

START_TEST(from_the_last)
{
    int optimal = 0;
    for (uint64_t seed = 1; seed <= (test_fast() ? INSTANCES / 10 : INSTANCES / 2); seed++) {
        day before, after;
        bool possible = make(&before, seed, NULL, false);
        possible = make(&after, seed, NULL, true) && possible;
        if (possible) {
            ckpd_solve_options *options = NULL;
            ckpd_solution *last = solve(&before, "native", 1, 1), *warm = NULL;
            ck_assert_int_eq(ckpd_solve_options_new(&options, after.context), CKPD_OK);
            ck_assert_int_eq(ckpd_solve_options_set(options, "relative_gap", 1e-9), CKPD_OK);
            ck_assert_int_eq(ckpd_problem_resolve_from(&warm, day_problem(&after), CKPD_SCENARIO_S6,
                                                       options, last, 0),
                             CKPD_OK);
            compare(&after, seed, warm);
            optimal += ckpd_solution_outcome(warm) == CKPD_OUTCOME_OPTIMAL;
            ckpd_solution_free(last);
            ckpd_solution_free(warm);
            ckpd_solve_options_free(options);
        }
        day_free(&before);
        day_free(&after);
    }
    ck_assert_int_gt(optimal, test_fast() ? 4 : 40);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dispatch: random sites");
    TCase *tests = tcase_create("random");
    tcase_add_test(tests, backends_threads_allocators);
    tcase_add_test(tests, from_the_last);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
