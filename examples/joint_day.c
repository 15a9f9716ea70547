/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Dispatch and shaping together. Two training jobs share 12,000 GPUs of an islanded site for eight
 * hours. Planned apart, the dispatch takes every GPU in the two cheapest hours: both jobs save at
 * once and no GPU is left to fill the dip. Planned together, it keeps GPUs for inference work, pays
 * for what they could not fill, and saves are staggered: a little more for energy, less in all.
 * (Prices, powers and saves are made up.)
 */
#include <ckptdispatch.h>
#include <stdio.h>

enum { SLOTS = 8, GPUS = 12000 };
static const double PRICE_PER_MW = 20; /* of a save's unfilled depth */
static const char *const JOB[] = {"north", "south"};

static ckpd_context *context;

/* Ends with the library's message at the first error. */
static int failed(int32_t status)
{
    if (status != CKPD_OK) {
        fprintf(stderr, "%s\n", ckpd_context_last_message(context));
    }
    return status != CKPD_OK;
}
#define TRY(call)         \
    do {                  \
        if (failed(call)) \
            return 1;     \
    } while (0)

/* A job of four hours on 3,000 GPUs or two on 6,000, in two segments. */
static int add_job(ckpd_problem *problem, const char *name, ckpd_link *priced)
{
    static const int32_t gpus[] = {3000, 6000};
    static const double rate[] = {1, 2}, power_kw[] = {1800, 3500};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 2,
                                   .installed_gpus = 6000,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw};
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_graph_options *options = NULL;
    ckpd_graph *graph = NULL;
    TRY(ckpd_task_new(&task, context, name));
    TRY(ckpd_task_set(task, "tranche_baseline_hours", 4));
    TRY(ckpd_task_set(task, "segments", 2));
    TRY(ckpd_mode_set_from_table(&modes, context, task, &table));
    TRY(ckpd_graph_options_new(&options, context));
    if (priced != NULL)
        TRY(ckpd_link_price(priced, options, 1));
    TRY(ckpd_graph_build(&graph, context, task, modes, SLOTS, 1, options));
    TRY(ckpd_problem_add_job(problem, graph));
    ckpd_graph_free(graph);
    ckpd_graph_options_free(options);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    return 0;
}

/* The cheapest day with `kept` GPUs left to filler work; saves cost money when `priced` is given.
 */
static int solve_day(ckpd_solution **day, ckpd_link *priced, double kept)
{
    static const double price[SLOTS] = {30, 30, 34, 34, 40, 40, 40, 40};
    ckpd_site *site = NULL;
    ckpd_problem *problem = NULL;
    TRY(ckpd_site_new(&site, context, SLOTS, 1));
    TRY(ckpd_site_set_series(site, "import_price_per_mwh", price, SLOTS));
    TRY(ckpd_site_set_constant(site, "gpu_cap", GPUS));
    if (priced != NULL)
        TRY(ckpd_link_reserve(priced, site, kept));
    TRY(ckpd_problem_new(&problem, context, site));
    for (int j = 0; j < 2; j++)
        if (add_job(problem, JOB[j], priced) != 0)
            return 1;
    TRY(ckpd_problem_solve(day, problem, CKPD_SCENARIO_S4, NULL));
    ckpd_problem_free(problem);
    ckpd_site_free(site);
    return 0;
}

/* What the saves of a plan cost beyond the energy when the filler takes `fillable_w` of each. */
static double saves_cost(ckpd_link *link, const ckpd_plan *plan, double fillable_w)
{
    double sum = 0;
    ckpd_link_set(link, "fillable_w", fillable_w);
    for (int32_t j = 0; j < 2; j++) {
        for (int32_t i = 0; i < ckpd_plan_step_count(plan, j); i++) {
            ckpd_step step = {.size = sizeof step};
            if (ckpd_plan_get_step(plan, j, i, &step) == CKPD_OK)
                sum += ckpd_link_step_cost(link, JOB[j], step.mode, step.to_slot - step.from_slot);
        }
    }
    return sum;
}

static int new_shape(ckpd_shape **shape, double gpus)
{
    ckpd_gpu_pool *pool = NULL;
    TRY(ckpd_gpu_pool_new(&pool, context));
    TRY(ckpd_gpu_pool_set(pool, "gpu_count", gpus));
    TRY(ckpd_shape_new(shape, context, pool));
    ckpd_gpu_pool_free(pool);
    for (int32_t i = 0; i < ckpd_filler_builtin_count(); i++) {
        ckpd_filler *filler = NULL;
        TRY(ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(i)));
        TRY(ckpd_shape_add_filler(*shape, filler));
        ckpd_filler_free(filler);
    }
    return 0;
}

/* Largest frequency deviation of the day's saves, filled by what GPUs were kept. */
static int simulate(const ckpd_link *link, const ckpd_plan *plan, double gpus, int stagger,
                    double *hz)
{
    ckpd_shape *shape = NULL;
    ckpd_shape_plan *filled = NULL;
    ckpd_shape_run *run = NULL;
    ckpd_microgrid *grid = NULL;
    ckpd_shape_metrics metrics = {.size = sizeof metrics};
    int32_t events = 0;
    if (new_shape(&shape, gpus) != 0)
        return 1;
    TRY(ckpd_link_add_events(link, shape, plan, 1, &events));
    if (stagger)
        TRY(ckpd_link_stagger(link, shape, NULL, events, NULL, NULL));
    TRY(ckpd_microgrid_new(&grid, context, NULL));
    TRY(ckpd_shape_plan_new(&filled, shape, NULL, NULL));
    TRY(ckpd_shape_run_new(&run, shape, grid, filled, CKPD_POLICY_PLAN, NULL));
    TRY(ckpd_shape_run_get_metrics(run, &metrics));
    *hz = metrics.max_abs_hz;
    ckpd_shape_run_free(run);
    ckpd_shape_plan_free(filled);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    return 0;
}

static void print_row(const char *name, double energy, double unfilled, double hz)
{
    printf("%-18s %8.2f  %14.2f %7.2f %6.3f Hz\n", name, energy, unfilled, energy + unfilled, hz);
}

static int compare(void)
{
    static const double depth_w[] = {1.2e6, 2.4e6}, save_s[] = {30, 30}, every_s[] = {14400, 7200};
    ckpd_link *link = NULL;
    ckpd_shape *sized = NULL;
    ckpd_solution *apart = NULL, *joint = NULL;
    double kept, hz_apart, hz_staggered, hz_joint;
    TRY(ckpd_link_new(&link, context));
    for (int j = 0; j < 2; j++)
        TRY(ckpd_link_add_job_numbers(link, JOB[j], 2, depth_w, save_s, every_s));
    TRY(ckpd_link_set(link, "price_per_mw", PRICE_PER_MW));

    if (solve_day(&apart, NULL, 0) != 0 ||
        simulate(link, ckpd_solution_plan(apart), 0, 0, &hz_apart) != 0 ||
        simulate(link, ckpd_solution_plan(apart), 0, 1, &hz_staggered) != 0)
        return 1;
    double energy = ckpd_solution_cost(apart);
    double unfilled = saves_cost(link, ckpd_solution_plan(apart), 0);
    puts("                     energy  unfilled saves  in all   max|df|");
    print_row("apart", energy, unfilled, hz_apart);
    print_row("apart, staggered", energy, unfilled, hz_staggered);

    /* Together: GPUs for one deep save are kept, and what they can fill costs nothing. */
    if (new_shape(&sized, GPUS) != 0)
        return 1;
    TRY(ckpd_link_filler_gpus(link, sized, depth_w[1], &kept));
    TRY(ckpd_link_set(link, "fillable_w", depth_w[1]));
    if (solve_day(&joint, link, kept) != 0 ||
        simulate(link, ckpd_solution_plan(joint), kept, 1, &hz_joint) != 0)
        return 1;
    unfilled = saves_cost(link, ckpd_solution_plan(joint), depth_w[1]);
    print_row("together", ckpd_solution_cost(joint) - unfilled, unfilled, hz_joint);
    printf("together keeps %.0f GPUs for inference work\n", kept);
    ckpd_solution_free(apart);
    ckpd_solution_free(joint);
    ckpd_shape_free(sized);
    ckpd_link_free(link);
    return 0;
}

int main(void)
{
    if (ckpd_context_new(&context, NULL) != CKPD_OK)
        return 1;
    int status = 0;
    if (ckpd_feature("glpk") == 0)
        puts("built without GLPK: no solver for linear programs");
    else
        status = compare();
    ckpd_context_free(context);
    return status;
}
