/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Verifier, part two: power flows, battery, cost, from site data and the plan alone. */
#include "dispatch/dispatch.h"

#include <math.h>

#define VIOLATION(check, kind, slot, amount, ...)                               \
    do {                                                                        \
        char text_[256];                                                        \
        ckpd__format(text_, sizeof text_, __VA_ARGS__);                         \
        ckpd__report_violation((check)->report, kind, -1, slot, amount, text_); \
    } while (0)

double ckpd__check_tolerance(double largest)
{
    return 1e-6 * fmax(1.0, fabs(largest));
}

static void check_upper(ckpd__check *check, int32_t kind, const char *what, int32_t slot,
                        double value, double cap)
{
    if (value > cap + ckpd__check_tolerance(fmax(fabs(value), isinf(cap) ? 0 : cap))) {
        VIOLATION(check, kind, slot, value - cap, "%s: %g above the limit %g in slot %d", what,
                  value, cap, slot);
    }
}

static void check_flow(ckpd__check *check, ckpd__plan_series series, const char *what, int32_t slot,
                       double cap)
{
    double value = check->plan->series[series][slot];
    check_upper(check, CKPD_VIOLATION_LIMIT, what, slot, value, cap);
    if (value < -ckpd__check_tolerance(value)) {
        VIOLATION(check, CKPD_VIOLATION_LIMIT, slot, -value, "%s: %g below 0 in slot %d", what,
                  value, slot);
    }
}

/* A cap that may have a price. */
typedef struct limit {
    ckpd__series cap;
    int32_t kind, limit; /* CKPD_VIOLATION_..., CKPD_LIMIT_... */
    const char *what, *unit;
} limit;

static const limit gpu_limit = {CKPD__GPU_CAP, CKPD_VIOLATION_GPU_CAP, CKPD_LIMIT_GPU_CAP, "GPUs",
                                "GPUs"};
static const limit site_limit = {CKPD__SITE_CAP, CKPD_VIOLATION_SITE_CAP, CKPD_LIMIT_SITE_CAP,
                                 "site load", "kW"};
static const limit import_limit = {CKPD__IMPORT_CAP, CKPD_VIOLATION_LIMIT, CKPD_LIMIT_IMPORT_CAP,
                                   "import", "kW"};

/* `price` is money in the slot for each unit above the cap, infinite for a hard one. */
static void check_cap(ckpd__check *check, const limit *l, int32_t slot, double value, double price)
{
    double cap = check->problem->site->series[l->cap][slot];
    if (isinf(price)) {
        check_upper(check, l->kind, l->what, slot, value, cap);
        return;
    }
    double over = value - cap;
    if (over <= 1e-9 * fmax(1.0, fabs(value))) {
        return;
    }
    ckpd_overrun overrun = {.size = sizeof overrun,
                            .limit = l->limit,
                            .job = -1,
                            .slot = slot,
                            .amount = over,
                            .cost = price * over};
    ckpd__format(overrun.message, sizeof overrun.message, "%s: %g %s above the limit %g in slot %d",
                 l->what, over, l->unit, cap, slot);
    ckpd__report_overrun(check->report, &overrun);
}

static void check_exclusive(ckpd__check *check, int32_t slot, ckpd__plan_series a,
                            ckpd__plan_series b, const char *what)
{
    double x = check->plan->series[a][slot];
    double y = check->plan->series[b][slot];
    double both = fmin(x, y);
    if (both > ckpd__check_tolerance(fmax(x, y))) {
        VIOLATION(check, CKPD_VIOLATION_EXCLUSIVITY, slot, both, "%s in slot %d: %g kW and %g kW",
                  what, slot, x, y);
    }
}

static void check_slot(ckpd__check *check, int32_t t)
{
    double *const *site = check->problem->site->series;
    double *const *plan = check->plan->series;
    const double *battery = check->problem->site->battery;
    bool storage = ckpd__scenario_has_storage(check->scenario) && check->problem->site->has_battery;
    double load = site[CKPD__PUE][t] * check->it_kw[t];
    double wind = site[CKPD__WIND][t];
    double solar = site[CKPD__SOLAR][t];
    double h = check->problem->site->slot_hours;
    check_cap(check, &gpu_limit, t, check->gpus[t], site[CKPD__GPU_CAP_PRICE][t] * h);
    check_cap(check, &site_limit, t, load, site[CKPD__SITE_CAP_PRICE][t] * h / 1000.0);
    check_cap(check, &import_limit, t, plan[CKPD__PLAN_IMPORT][t],
              site[CKPD__IMPORT_CAP_PRICE][t] * h / 1000.0);
    check_flow(check, CKPD__PLAN_IMPORT, "import", t, (double)INFINITY);
    check_flow(check, CKPD__PLAN_EXPORT, "export", t, site[CKPD__EXPORT_CAP][t]);
    check_flow(check, CKPD__PLAN_CURTAILMENT, "curtailment", t, wind + solar);
    check_flow(check, CKPD__PLAN_CHARGE, "charge", t, storage ? battery[CKPD__BATTERY_CHARGE] : 0);
    check_flow(check, CKPD__PLAN_DISCHARGE, "discharge", t,
               storage ? battery[CKPD__BATTERY_DISCHARGE] : 0);
    check_exclusive(check, t, CKPD__PLAN_IMPORT, CKPD__PLAN_EXPORT, "import and export");
    check_exclusive(check, t, CKPD__PLAN_CHARGE, CKPD__PLAN_DISCHARGE, "charge and discharge");

    const double terms[] = {wind,
                            solar,
                            -plan[CKPD__PLAN_CURTAILMENT][t],
                            plan[CKPD__PLAN_IMPORT][t],
                            -plan[CKPD__PLAN_EXPORT][t],
                            plan[CKPD__PLAN_DISCHARGE][t],
                            -plan[CKPD__PLAN_CHARGE][t],
                            -load};
    double sum = 0;
    double largest = 0;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        sum += terms[i];
        largest = fmax(largest, fabs(terms[i]));
    }
    if (fabs(sum) > ckpd__check_tolerance(largest)) {
        VIOLATION(check, CKPD_VIOLATION_BALANCE, t, sum, "balance of slot %d is off by %g kW", t,
                  sum);
    }
}

/* --- battery ---------------------------------------------------------------------------------- */

/*
 * Energy after slot t that charging as fast as possible reaches from `reach`: with the battery's
 * power and what the grid leaves beside the load no plan can avoid. A cap with a price may be
 * passed.
 */
static double reach_after(const ckpd__check *check, int32_t t, double reach, double kept)
{
    const ckpd_site *site = check->problem->site;
    const double *b = site->battery;
    double cap = isfinite(site->series[CKPD__IMPORT_CAP_PRICE][t])
                     ? (double)INFINITY
                     : site->series[CKPD__IMPORT_CAP][t];
    double supply = cap + site->series[CKPD__WIND][t] + site->series[CKPD__SOLAR][t];
    double spare = fmax(0.0, supply - site->series[CKPD__PUE][t] * check->forced_kw[t]);
    double in = fmin(b[CKPD__BATTERY_CHARGE], spare) * b[CKPD__BATTERY_ETA_CHARGE];
    return fmin(b[CKPD__BATTERY_SOC_MAX], reach * kept + in * site->slot_hours);
}

/* The energy after a slot lies between `least` and the maximum. */
static void check_level(ckpd__check *check, int32_t t, double least)
{
    const double *b = check->problem->site->battery;
    const double *soc = check->plan->series[CKPD__PLAN_SOC];
    double low = b[CKPD__BATTERY_SOC_MIN];
    double high = b[CKPD__BATTERY_SOC_MAX];
    double tolerance = ckpd__check_tolerance(high);
    if (soc[t + 1] >= least - tolerance && soc[t + 1] <= high + tolerance) {
        return;
    }
    if (soc[t + 1] < least && soc[t] < low - tolerance) {
        VIOLATION(check, CKPD_VIOLATION_SOC, t, soc[t + 1] - least,
                  "SOC is below its minimum in slot %d: charging as fast as possible leads to %g "
                  "kWh at least, the plan has %g",
                  t, least, soc[t + 1]);
        return;
    }
    VIOLATION(check, CKPD_VIOLATION_SOC, t, soc[t + 1],
              "SOC at boundary %d is %g kWh, outside %g..%g", t + 1, soc[t + 1], least, high);
}

/* An end that misses what is wanted is a violation, or has a price. */
static void check_end(ckpd__check *check, double end, double tolerance)
{
    const double *b = check->problem->site->battery;
    int32_t terminal = (int32_t)b[CKPD__BATTERY_TERMINAL];
    double wanted = b[CKPD__BATTERY_SOC_END];
    bool below = terminal != CKPD__TERMINAL_FREE && end < wanted;
    bool above = terminal == CKPD__TERMINAL_EQUAL && end > wanted;
    double off = fabs(end - wanted);
    if (!below && !above) {
        return;
    }
    if (isnan(b[CKPD__BATTERY_SOC_END_PRICE])) {
        if (off > tolerance) {
            VIOLATION(check, CKPD_VIOLATION_SOC, check->plan->slots - 1, end - wanted,
                      "SOC ends at %g kWh, %s %g wanted", end,
                      terminal == CKPD__TERMINAL_EQUAL ? "exactly" : "at least", wanted);
        }
        return;
    }
    if (off <= 1e-9 * fmax(1.0, wanted)) {
        return;
    }
    ckpd_overrun overrun = {.size = sizeof overrun,
                            .limit = CKPD_LIMIT_END_SOC,
                            .job = -1,
                            .slot = -1,
                            .amount = off,
                            .cost = b[CKPD__BATTERY_SOC_END_PRICE] * off / 1000.0};
    ckpd__format(overrun.message, sizeof overrun.message,
                 "battery ends at %g kWh, %g kWh %s the %g that are wanted", end, off,
                 below ? "below" : "above", wanted);
    ckpd__report_overrun(check->report, &overrun);
}

static void check_soc(ckpd__check *check)
{
    const ckpd_site *site = check->problem->site;
    const double *b = site->battery;
    const double *soc = check->plan->series[CKPD__PLAN_SOC];
    double h = site->slot_hours;
    double kept = exp(h * log1p(-b[CKPD__BATTERY_SELF_DISCHARGE]));
    double low = b[CKPD__BATTERY_SOC_MIN];
    double tolerance = ckpd__check_tolerance(b[CKPD__BATTERY_SOC_MAX]);
    double reach = b[CKPD__BATTERY_SOC_START];
    bool recovers = b[CKPD__BATTERY_RECOVER_SOC] != 0 && reach < low;
    if (fabs(soc[0] - b[CKPD__BATTERY_SOC_START]) > tolerance) {
        VIOLATION(check, CKPD_VIOLATION_SOC, 0, soc[0], "SOC starts at %g kWh, not at %g", soc[0],
                  b[CKPD__BATTERY_SOC_START]);
    }
    for (int32_t t = 0; t < site->slots; t++) {
        double in = check->plan->series[CKPD__PLAN_CHARGE][t] * b[CKPD__BATTERY_ETA_CHARGE] * h;
        double out =
            check->plan->series[CKPD__PLAN_DISCHARGE][t] / b[CKPD__BATTERY_ETA_DISCHARGE] * h;
        double wanted = soc[t] * kept + in - out;
        if (fabs(soc[t + 1] - wanted) > ckpd__check_tolerance(fmax(fmax(soc[t], in), out))) {
            VIOLATION(check, CKPD_VIOLATION_SOC, t, soc[t + 1] - wanted,
                      "SOC at boundary %d is %g kWh, the flows give %g", t + 1, soc[t + 1], wanted);
        }
        reach = reach_after(check, t, reach, kept);
        check_level(check, t, recovers ? fmin(low, reach) : low);
    }
    check_end(check, soc[site->slots], tolerance);
}

/* --- cost ------------------------------------------------------------------------------------- */

/* A user's curve in money per hour: the chord that holds x, or the outer one continued. */
static double custom_money(const ckpd__cost_curve *curve, double x)
{
    int32_t right = 1;
    while (right < curve->count - 1 && curve->x_kw[right] < x) {
        right++;
    }
    double x0 = curve->x_kw[right - 1];
    double x1 = curve->x_kw[right];
    double y0 = curve->money_per_hour[right - 1];
    double y1 = curve->money_per_hour[right];
    return (y0 * (x1 - x) + y1 * (x - x0)) / (x1 - x0);
}

static double custom_of_slot(const ckpd__check *check, int32_t t)
{
    const ckpd_site *site = check->problem->site;
    double *const *plan = check->plan->series;
    double sum = 0;
    for (int32_t c = -1; (c = ckpd__next_curve(site, t, c)) >= 0;) {
        const ckpd__cost_curve *curve = &site->curves[c];
        double import = plan[CKPD__PLAN_IMPORT][t];
        double export = plan[CKPD__PLAN_EXPORT][t];
        double curtailed = plan[CKPD__PLAN_CURTAILMENT][t];
        switch (curve->argument) {
        case CKPD_COST_IMPORT:
            sum += custom_money(curve, import);
            break;
        case CKPD_COST_EXPORT:
            sum += custom_money(curve, export);
            break;
        case CKPD_COST_NET_LOAD:
            sum += custom_money(curve, import - export - curtailed);
            break;
        default:
            sum += custom_money(curve, curtailed);
            break;
        }
    }
    return sum;
}

static void add_slot(const ckpd__check *check, int32_t t, double *figure)
{
    double *const *site = check->problem->site->series;
    double *const *plan = check->plan->series;
    double h = check->problem->site->slot_hours;
    double mwh = h / 1000.0;
    double load = site[CKPD__PUE][t] * check->it_kw[t];
    double import = plan[CKPD__PLAN_IMPORT][t] * mwh;
    double export = plan[CKPD__PLAN_EXPORT][t] * mwh;
    double curtailed = plan[CKPD__PLAN_CURTAILMENT][t] * mwh;
    double charge = plan[CKPD__PLAN_CHARGE][t] * mwh;
    double discharge = plan[CKPD__PLAN_DISCHARGE][t] * mwh;
    figure[CKPD__FIGURE_IMPORT_COST] += site[CKPD__IMPORT_PRICE][t] * import;
    figure[CKPD__FIGURE_EXPORT_REVENUE] += site[CKPD__EXPORT_PRICE][t] * export;
    figure[CKPD__FIGURE_CURTAILMENT_COST] += site[CKPD__CURTAILMENT_PENALTY][t] * curtailed;
    figure[CKPD__FIGURE_CUSTOM_COST] += custom_of_slot(check, t) * h;
    figure[CKPD__FIGURE_LOAD] += load * mwh;
    figure[CKPD__FIGURE_IMPORT] += import;
    figure[CKPD__FIGURE_EXPORT] += export;
    figure[CKPD__FIGURE_CURTAILMENT] += curtailed;
    figure[CKPD__FIGURE_RENEWABLE] +=
        (site[CKPD__WIND][t] + site[CKPD__SOLAR][t]) * mwh - curtailed;
    figure[CKPD__FIGURE_CHARGE] += charge;
    figure[CKPD__FIGURE_DISCHARGE] += discharge;
    figure[CKPD__FIGURE_MIN_LOAD] = fmin(figure[CKPD__FIGURE_MIN_LOAD], load);
    figure[CKPD__FIGURE_MAX_LOAD] = fmax(figure[CKPD__FIGURE_MAX_LOAD], load);
}

static void fill_figures(const ckpd__check *check)
{
    double *f = check->report->figure;
    f[CKPD__FIGURE_MIN_LOAD] = (double)INFINITY;
    for (int32_t t = 0; t < check->plan->slots; t++) {
        add_slot(check, t, f);
    }
    if (ckpd__scenario_has_storage(check->scenario) && check->problem->site->has_battery) {
        const double *b = check->problem->site->battery;
        double end = check->plan->series[CKPD__PLAN_SOC][check->plan->slots];
        f[CKPD__FIGURE_THROUGHPUT_COST] =
            b[CKPD__BATTERY_THROUGHPUT_COST] * (f[CKPD__FIGURE_CHARGE] + f[CKPD__FIGURE_DISCHARGE]);
        f[CKPD__FIGURE_END_VALUE] = b[CKPD__BATTERY_END_VALUE] * end / 1000.0;
    }
    f[CKPD__FIGURE_EDGE_COST] = check->edge_cost;
    for (int32_t i = 0; i < check->report->overruns; i++) {
        f[CKPD__FIGURE_PENALTY_COST] += check->report->overrun[i].cost;
    }
    f[CKPD__FIGURE_COST] = f[CKPD__FIGURE_IMPORT_COST] - f[CKPD__FIGURE_EXPORT_REVENUE] +
                           f[CKPD__FIGURE_CURTAILMENT_COST] + f[CKPD__FIGURE_THROUGHPUT_COST] -
                           f[CKPD__FIGURE_END_VALUE] + f[CKPD__FIGURE_CUSTOM_COST] +
                           f[CKPD__FIGURE_EDGE_COST] + f[CKPD__FIGURE_PENALTY_COST];
    double used = f[CKPD__FIGURE_RENEWABLE] + f[CKPD__FIGURE_IMPORT];
    f[CKPD__FIGURE_GREEN_SHARE] = used > 0 ? f[CKPD__FIGURE_RENEWABLE] / used : 0;
    for (int32_t i = 0; i < CKPD__FIGURES; i++) {
        f[i] += 0.0; /* no figure is -0 */
    }
}

static void check_cost(ckpd__check *check, double claimed)
{
    const double *f = check->report->figure;
    double largest = 0;
    for (int32_t i = CKPD__FIGURE_COST; i <= CKPD__FIGURE_PENALTY_COST; i++) {
        largest = fmax(largest, fabs(f[i]));
    }
    double off = claimed - f[CKPD__FIGURE_COST];
    if (!isnan(claimed) && !(fabs(off) <= ckpd__check_tolerance(largest))) {
        VIOLATION(check, CKPD_VIOLATION_COST, -1, off, "claimed cost %g, recomputed %g", claimed,
                  f[CKPD__FIGURE_COST]);
    }
}

/* --- entry ------------------------------------------------------------------------------------ */

static int32_t check_shape(const ckpd_problem *problem, int32_t scenario, const ckpd_plan *plan)
{
    int32_t status = ckpd__scenario_check(problem, scenario);
    if (status == CKPD_OK && plan->jobs != problem->jobs) {
        status = ckpd__fail(problem->context, CKPD_ERR_LENGTH, "jobs", -1, plan->jobs,
                            "the plan has %d jobs, the problem %d", plan->jobs, problem->jobs);
    }
    if (status == CKPD_OK && plan->slots != problem->site->slots) {
        status =
            ckpd__fail(problem->context, CKPD_ERR_LENGTH, "slots", -1, plan->slots,
                       "the plan has %d slots, the problem %d", plan->slots, problem->site->slots);
    }
    return status;
}

int32_t ckpd_problem_verify(ckpd_report **out, const ckpd_problem *problem, int32_t scenario,
                            const ckpd_plan *plan, double claimed_cost)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, plan, CKPD__PLAN);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    if (out == NULL || plan == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "plan");
    }
    int32_t status = check_shape(problem, scenario, plan);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_report *report = ckpd__calloc(context, 1, sizeof *report);
    double *slots = ckpd__calloc(context, 3 * (size_t)plan->slots, sizeof *slots);
    if (report == NULL || slots == NULL) {
        ckpd__free(context, report);
        ckpd__free(context, slots);
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(report, CKPD__REPORT, context);
    ckpd__check check = {problem,
                         plan,
                         scenario,
                         report,
                         slots,
                         slots + plan->slots,
                         slots + 2 * (size_t)plan->slots,
                         0};
    ckpd__check_jobs(&check);
    for (int32_t t = 0; t < plan->slots; t++) {
        check_slot(&check, t);
    }
    if (ckpd__scenario_has_storage(scenario) && problem->site->has_battery) {
        check_soc(&check);
    }
    fill_figures(&check);
    check_cost(&check, claimed_cost);
    ckpd__free(context, slots);
    if (report->out_of_memory) {
        ckpd_report_free(report);
        return ckpd__no_memory(context);
    }
    *out = report;
    return CKPD_OK;
}
