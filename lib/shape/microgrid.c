/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Microgrids: fields, presets, the stability test, steady state and response. */
#include "shape/machine.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)

static const ckpd__field grid_field[GRID_FIELDS] = {
    {"f0_hz", "Hz", "nominal frequency", CKPD_FIELD_NUMBER, 0, 1.0, 1000.0, 60.0, NULL},
    {"rated_va", "VA", "rating, base of the per-unit values", CKPD_FIELD_NUMBER, 0, 1.0, 1e12, 20e6,
     NULL},
    {"inertia_s", "s", "inertia constant H", CKPD_FIELD_NUMBER, 0, 1e-3, 100.0, 1.5, NULL},
    {"damping", "", "load damping D, per unit power per unit frequency", CKPD_FIELD_NUMBER, 0, 0.0,
     100.0, 1.0, NULL},
    {"governor", "", "lag: droop and two lags; pid: proportional-integral governor of GGOV1 kind",
     CKPD_FIELD_CHOICE, 0, 0.0, 1.0, 0.0, "lag|pid"},
    {"droop", "", "droop R", CKPD_FIELD_NUMBER, 0, 1e-4, 10.0, 0.05, NULL},
    {"t1_s", "s", "time constant of the governor or actuator", CKPD_FIELD_NUMBER, 0, 1e-3, 1000.0,
     0.2, NULL},
    {"t2_s", "s", "time constant of the turbine", CKPD_FIELD_NUMBER, 0, 1e-3, 1000.0, 0.3, NULL},
    {"valve_min", "", "lower valve limit", CKPD_FIELD_NUMBER, 0, -1.0, 2.0, 0.2, NULL},
    {"valve_max", "", "upper valve limit", CKPD_FIELD_NUMBER, 0, 0.0, 2.0, 1.05, NULL},
    {"valve_rate_per_s", "1/s", "fastest valve movement", CKPD_FIELD_NUMBER, 0, 1e-6, INF, INF,
     NULL},
    {"pid_kp", "", "proportional gain of the pid governor", CKPD_FIELD_NUMBER, 0, 0.0, 1e4, 10.0,
     NULL},
    {"pid_ki_per_s", "1/s", "integral gain of the pid governor", CKPD_FIELD_NUMBER, 0, 0.0, 1e4,
     2.0, NULL},
    {"turbine_gain", "", "pid governor: power per valve travel", CKPD_FIELD_NUMBER, 0, 1e-3, 100.0,
     1.5, NULL},
    {"no_load_valve", "", "pid governor: valve at no load", CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.2,
     NULL},
    {"secondary_per_s", "1/s",
     "secondary control: per unit power per second and per unit frequency; 0: none",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e3, 0.0, NULL},
    {"load_w", "W", "load before any event", CKPD_FIELD_NUMBER, 0, 0.0, 1e12, 12e6, NULL},
    {"battery_power_w", "W", "power of the battery either way; 0: no battery", CKPD_FIELD_NUMBER, 0,
     0.0, 1e12, 4e6, NULL},
    {"battery_energy_wh", "Wh", "energy of the battery", CKPD_FIELD_NUMBER, 0, 0.0, 1e15, 2e6,
     NULL},
    {"battery_gain_w_per_hz", "W/Hz", "battery power per frequency beyond the dead band",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e12, 4e6, NULL},
    {"battery_deadband_hz", "Hz", "half width of the dead band", CKPD_FIELD_NUMBER, 0, 0.0, 100.0,
     0.10, NULL},
    {"battery_tau_s", "s", "time constant of the converter", CKPD_FIELD_NUMBER, 0, 1e-3, 100.0,
     0.05, NULL},
    {"battery_soc_start", "", "share of energy at the start", CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.5,
     NULL},
    {"battery_soc_min", "", "no discharge at or below", CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.1, NULL},
    {"battery_soc_max", "", "no charge at or above", CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.9, NULL},
    {"battery_eta_charge", "", "efficiency of charging", CKPD_FIELD_NUMBER, 0, 0.01, 1.0, 0.95,
     NULL},
    {"battery_eta_discharge", "", "efficiency of discharging", CKPD_FIELD_NUMBER, 0, 0.01, 1.0,
     0.95, NULL},
    {"step_s", "s", "longest step of integration", CKPD_FIELD_NUMBER, 0, 1e-5, 0.05, 0.005, NULL},
};
const ckpd__field_table ckpd__grid_fields = {"microgrid", grid_field, GRID_FIELDS};

typedef struct preset {
    const char *name, *source;
    double rated_va, load_share, inertia, damping, droop, t1, t2, valve_min, valve_max;
    double pid; /* 1: pid governor with the gains of the field defaults and a valve rate of 0.1/s */
} preset;

static const preset presets[] = {
    {"gas-2x10", "two 10-MVA gas turbines; numbers assumed, near campus-gas-2", 20e6, 0.6, 1.5, 1.0,
     0.05, 0.2, 0.3, 0.2, 1.05, 0},
    {"campus-gas-1",
     "OpenIPSL UniversityCampus/CampusA (8155c73f), 53.9-MVA GAST, droop 4 %; unstable alone",
     53.9e6, 0.6, 1.5, 0.0, 0.04, 0.5, 0.7, 0.2, 1.3, 0},
    {"campus-gas-2", "OpenIPSL UniversityCampus/CampusA (8155c73f), 40.5-MVA GAST, droop 5 %",
     40.5e6, 0.6, 1.486, 0.0, 0.05, 0.2, 0.3, 0.2, 1.05, 0},
    {"campus-steam",
     "OpenIPSL UniversityCampus/CampusA (8155c73f), 32-MVA set with TGOV1; its lead of 1 ms left "
     "out",
     32e6, 0.6, 2.43, 0.0, 0.05, 0.2, 0.3, 0.0, 1.0, 0},
    {"diesel-degov",
     "OpenIPSL IEEEMicrogrid: H and actuator lags of DEGOV (T5 + T6, TD); droop of 5 % assumed in "
     "place of its integrator",
     5e6, 0.6, 1.07, 0.0, 0.05, 0.0474, 0.024, 0.0, 1.1, 0},
    {"cim-gast", "CIM typical GAST (smart-data-models GovGAST); unstable alone", 20e6, 0.6, 1.5,
     1.0, 0.04, 0.5, 0.5, 0.2, 1.05, 0},
    {"cim-ggov1", "CIM typical GGOV1 (smart-data-models GovCT1); H = 3 s assumed", 20e6, 0.6, 3.0,
     1.0, 0.04, 0.5, 0.5, 0.15, 1.0, 1},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

int32_t ckpd_microgrid_preset_count(void)
{
    return PRESETS;
}

const char *ckpd_microgrid_preset_name(int32_t index)
{
    return index >= 0 && index < PRESETS ? presets[index].name : NULL;
}

const char *ckpd_microgrid_preset_source(int32_t index)
{
    return index >= 0 && index < PRESETS ? presets[index].source : NULL;
}

static void apply(double *values, const preset *from)
{
    ckpd__fields_defaults(&ckpd__grid_fields, values);
    values[GRID_RATED_VA] = from->rated_va;
    values[GRID_LOAD_W] = from->load_share * from->rated_va;
    values[GRID_INERTIA_S] = from->inertia;
    values[GRID_DAMPING] = from->damping;
    values[GRID_DROOP] = from->droop;
    values[GRID_T1_S] = from->t1;
    values[GRID_T2_S] = from->t2;
    values[GRID_VALVE_MIN] = from->valve_min;
    values[GRID_VALVE_MAX] = from->valve_max;
    values[GRID_GOVERNOR] = from->pid;
    if (from->pid > 0.0) {
        values[GRID_VALVE_RATE] = 0.1;
    }
}

int32_t ckpd_microgrid_new(ckpd_microgrid **out, ckpd_context *context, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (out == NULL || context == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(context, "out");
    }
    const char *names[PRESETS];
    int32_t index = 0;
    for (int32_t i = 0; i < PRESETS; i++) {
        names[i] = presets[i].name;
    }
    while (name != NULL && index < PRESETS && strcmp(names[index], name) != 0) {
        index++;
    }
    if (index == PRESETS) {
        const char *nearest = ckpd__nearest(name, names, PRESETS);
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "preset", -1, (double)NAN,
                          "no microgrid preset '%s'%s%s", name,
                          nearest == NULL ? "" : "; nearest: ", nearest == NULL ? "" : nearest);
    }
    ckpd_microgrid *grid = ckpd__calloc(context, 1, sizeof *grid);
    if (grid == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(grid, CKPD__MICROGRID, context);
    grid->name = presets[index].name;
    apply(grid->values, &presets[index]);
    *out = grid;
    return CKPD_OK;
}

void ckpd_microgrid_free(ckpd_microgrid *grid)
{
    CKPD__NULL_IF_FOREIGN(grid, CKPD__MICROGRID);
    if (grid != NULL) {
        ckpd__handle_end(grid);
    }
}

int32_t ckpd_microgrid_set(ckpd_microgrid *grid, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, grid, CKPD__MICROGRID);
    return grid == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(grid->context, &ckpd__grid_fields, grid->values, field, value);
}

int32_t ckpd_microgrid_set_text(ckpd_microgrid *grid, const char *field, const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, grid, CKPD__MICROGRID);
    return grid == NULL ? CKPD_ERR_ARGUMENT
                        : ckpd__fields_set_text(grid->context, &ckpd__grid_fields, grid->values,
                                                field, text);
}

int32_t ckpd_microgrid_get(const ckpd_microgrid *grid, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, grid, CKPD__MICROGRID);
    return grid == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(grid->context, &ckpd__grid_fields, grid->values, field, value);
}

int32_t ckpd_microgrid_field_count(void)
{
    return GRID_FIELDS;
}

int32_t ckpd_microgrid_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__grid_fields, index, out);
}

/* --- stability ------------------------------------------------------------------------------- */

enum { MOST_ORDER = 6 };

/* product += factor * a * b; coefficients from the constant term up, arrays of MOST_ORDER + 1. */
static void add_product(double *product, double factor, const double *a, const double *b)
{
    for (int i = 0; i <= MOST_ORDER; i++) {
        for (int j = 0; i + j <= MOST_ORDER; j++) {
            product[i + j] += factor * a[i] * b[j];
        }
    }
}

/* Characteristic polynomial of the machine alone, linear about its operating point. */
static int characteristic(const double *p, double *out)
{
    double swing[MOST_ORDER + 1] = {p[GRID_DAMPING], 2.0 * p[GRID_INERTIA_S]};
    double turbine[MOST_ORDER + 1] = {1.0, p[GRID_T2_S]};
    double valve[MOST_ORDER + 1] = {1.0, p[GRID_T1_S]};
    double drive[MOST_ORDER + 1] = {1.0 / p[GRID_DROOP]};
    double secondary = p[GRID_SECONDARY_PER_S];
    int order = 3;
    if (p[GRID_GOVERNOR] > 0.0) {
        double kp = p[GRID_PID_KP], ki = p[GRID_PID_KI_PER_S], gain = p[GRID_TURBINE_GAIN];
        memset(valve, 0, sizeof valve);
        valve[0] = p[GRID_DROOP] * ki;
        valve[1] = 1.0 + p[GRID_DROOP] * kp;
        valve[2] = p[GRID_T1_S];
        drive[0] = gain * ki;
        drive[1] = gain * kp;
        order = 4;
        secondary *= p[GRID_DROOP] / gain;
    } else {
        secondary *= p[GRID_DROOP];
    }
    double lags[MOST_ORDER + 1] = {0}, loop[MOST_ORDER + 1] = {0};
    add_product(lags, 1.0, turbine, valve);
    add_product(loop, 1.0, swing, lags);
    if (secondary > 0.0) {
        double s[MOST_ORDER + 1] = {0.0, 1.0}, with[MOST_ORDER + 1] = {secondary, 1.0};
        memset(out, 0, (MOST_ORDER + 1) * sizeof *out);
        add_product(out, 1.0, s, loop);
        add_product(out, 1.0, drive, with);
        return order + 1;
    }
    for (int i = 0; i <= MOST_ORDER; i++) {
        out[i] = loop[i] + drive[i];
    }
    return order;
}

/* Routh's array; true when its first column keeps one sign. */
static bool stable(const double *polynomial, int order)
{
    double row[MOST_ORDER + 2][MOST_ORDER + 2] = {{0}};
    for (int i = 0; i <= order; i++) {
        row[i % 2][i / 2] = polynomial[order - i];
    }
    for (int r = 2; r <= order; r++) {
        if (!(row[r - 1][0] > 0.0)) {
            return false;
        }
        for (int c = 0; c <= order / 2; c++) {
            row[r][c] = (row[r - 1][0] * row[r - 2][c + 1] - row[r - 2][0] * row[r - 1][c + 1]) /
                        row[r - 1][0];
        }
    }
    return row[order][0] > 0.0 && row[0][0] > 0.0;
}

static int32_t check_limits(const ckpd_microgrid *grid)
{
    const double *p = grid->values;
    ckpd_context *context = grid->context;
    if (!(p[GRID_VALVE_MIN] < p[GRID_VALVE_MAX])) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "valve_min", -1, p[GRID_VALVE_MIN],
                          "microgrid %s: valve_min %g must be below valve_max %g", grid->name,
                          p[GRID_VALVE_MIN], p[GRID_VALVE_MAX]);
    }
    ckpd__machine machine;
    ckpd__machine_start(&machine, grid);
    if (machine.start_valve < p[GRID_VALVE_MIN] || machine.start_valve > p[GRID_VALVE_MAX]) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "load_w", -1, p[GRID_LOAD_W],
                          "microgrid %s: a load of %g W needs a valve at %g, outside %g to %g",
                          grid->name, p[GRID_LOAD_W], machine.start_valve, p[GRID_VALVE_MIN],
                          p[GRID_VALVE_MAX]);
    }
    if (p[GRID_BATTERY_POWER_W] > 0.0 && !(p[GRID_BATTERY_SOC_MIN] <= p[GRID_BATTERY_SOC_START] &&
                                           p[GRID_BATTERY_SOC_START] <= p[GRID_BATTERY_SOC_MAX])) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "battery_soc_start", -1, p[GRID_BATTERY_SOC_START],
            "microgrid %s: battery_soc_start %g lies outside %g to %g", grid->name,
            p[GRID_BATTERY_SOC_START], p[GRID_BATTERY_SOC_MIN], p[GRID_BATTERY_SOC_MAX]);
    }
    return CKPD_OK;
}

int32_t ckpd_microgrid_check(const ckpd_microgrid *grid)
{
    CKPD__REFUSE_FOREIGN(NULL, grid, CKPD__MICROGRID);
    if (grid == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t status = check_limits(grid);
    if (status != CKPD_OK) {
        return status;
    }
    double a[MOST_ORDER + 1] = {0};
    int order = characteristic(grid->values, a);
    if (stable(a, order)) {
        return CKPD_OK;
    }
    if (order == 3) {
        return ckpd__fail(grid->context, CKPD_ERR_INCONSISTENT, "governor", -1, a[2] * a[1],
                          "microgrid %s is unstable as a lone machine: Routh's test needs a2 a1 = "
                          "%g above a3 a0 = %g; "
                          "raise inertia_s or droop, or shorten t1_s or t2_s",
                          grid->name, a[2] * a[1], a[3] * a[0]);
    }
    return ckpd__fail(
        grid->context, CKPD_ERR_INCONSISTENT, "governor", -1, (double)order,
        "microgrid %s is unstable as a lone machine: Routh's array of order %d changes sign",
        grid->name, order);
}

int32_t ckpd_microgrid_steady_hz(const ckpd_microgrid *grid, double deficit_w, double *deviation_hz)
{
    CKPD__REFUSE_FOREIGN(NULL, grid, CKPD__MICROGRID);
    if (grid == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (deviation_hz == NULL) {
        return ckpd__null_argument(grid->context, "deviation_hz");
    }
    int32_t status = ckpd__check_finite(grid->context, "deficit_w", -1, deficit_w);
    if (status != CKPD_OK) {
        return status;
    }
    const double *p = grid->values;
    double gain =
        p[GRID_GOVERNOR] > 0.0 ? p[GRID_TURBINE_GAIN] / p[GRID_DROOP] : 1.0 / p[GRID_DROOP];
    double per_hz = p[GRID_RATED_VA] * (gain + p[GRID_DAMPING]) / p[GRID_F0_HZ];
    double off = deficit_w / per_hz, band = p[GRID_BATTERY_DEADBAND_HZ];
    if (p[GRID_BATTERY_POWER_W] > 0.0 && fabs(off) > band) {
        double battery = p[GRID_BATTERY_GAIN_W_PER_HZ];
        off = (deficit_w + (off > 0.0 ? 1.0 : -1.0) * battery * band) / (per_hz + battery);
    }
    *deviation_hz = off;
    return CKPD_OK;
}

int32_t ckpd_microgrid_response(const ckpd_microgrid *grid, int64_t count, double sample_s,
                                const double *deficit_w, double *deviation_hz, double *battery_w,
                                double *mechanical_w)
{
    CKPD__REFUSE_FOREIGN(NULL, grid, CKPD__MICROGRID);
    if (grid == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = grid->context;
    if (deficit_w == NULL || deviation_hz == NULL) {
        return ckpd__null_argument(context, deficit_w == NULL ? "deficit_w" : "deviation_hz");
    }
    if (count < 2) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "count", -1, (double)count,
                          "microgrid: a response needs at least 2 samples, not %L", count);
    }
    int32_t status = ckpd__check_range(context, "sample_s", -1, sample_s, 1e-6, 60.0);
    if (status == CKPD_OK) {
        status = ckpd__check_series(context, "deficit_w", deficit_w, count, -1e12, 1e12);
    }
    if (status == CKPD_OK) {
        status = ckpd_microgrid_check(grid);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__machine machine;
    ckpd__machine_start(&machine, grid);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) {
            ckpd__machine_advance(&machine, sample_s, deficit_w[i - 1], deficit_w[i]);
        }
        deviation_hz[i] = ckpd__machine_hz(&machine);
        if (battery_w != NULL) {
            battery_w[i] = machine.x[STATE_BATTERY];
        }
        if (mechanical_w != NULL) {
            mechanical_w[i] = machine.x[STATE_TURBINE] * grid->values[GRID_RATED_VA];
        }
    }
    return CKPD_OK;
}
