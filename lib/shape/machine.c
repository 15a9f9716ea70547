/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Swing equation, governor, turbine and battery; classical Runge-Kutta of order 4. */
#include "shape/machine.h"

#include <math.h>
#include <string.h>

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void ckpd__machine_start(ckpd__machine *machine, const ckpd_microgrid *grid)
{
    const double *p = grid->values;
    memset(machine, 0, sizeof *machine);
    machine->p = p;
    machine->start_power = p[GRID_LOAD_W] / p[GRID_RATED_VA];
    machine->start_valve = p[GRID_GOVERNOR] > 0.0
                               ? machine->start_power / p[GRID_TURBINE_GAIN] + p[GRID_NO_LOAD_VALVE]
                               : machine->start_power;
    machine->x[STATE_VALVE] = machine->start_valve;
    machine->x[STATE_TURBINE] = machine->start_power;
    machine->soc_wh = p[GRID_BATTERY_SOC_START] * p[GRID_BATTERY_ENERGY_WH];
}

/* Valve movement with its limits: at a limit it only moves back (anti-windup), never faster than
 * its rate. */
static double valve_rate(const double *p, double valve, double rate)
{
    rate = clamp(rate, -p[GRID_VALVE_RATE], p[GRID_VALVE_RATE]);
    if ((valve >= p[GRID_VALVE_MAX] && rate > 0.0) || (valve <= p[GRID_VALVE_MIN] && rate < 0.0)) {
        return 0.0;
    }
    return rate;
}

static double battery_target(const ckpd__machine *machine, double speed)
{
    const double *p = machine->p;
    double off = speed * p[GRID_F0_HZ], band = p[GRID_BATTERY_DEADBAND_HZ];
    double beyond = off > band ? off - band : off < -band ? off + band : 0.0;
    double target = clamp(p[GRID_BATTERY_GAIN_W_PER_HZ] * beyond, -p[GRID_BATTERY_POWER_W],
                          p[GRID_BATTERY_POWER_W]);
    if ((target > 0.0 && !machine->may_charge) || (target < 0.0 && !machine->may_discharge)) {
        return 0.0;
    }
    return target;
}

static void derive(const ckpd__machine *machine, const double *x, double deficit_w, double *d)
{
    const double *p = machine->p;
    double speed = x[STATE_SPEED];
    d[STATE_SPEED] = (x[STATE_TURBINE] - machine->start_power +
                      (deficit_w - x[STATE_BATTERY]) / p[GRID_RATED_VA] - p[GRID_DAMPING] * speed) /
                     (2.0 * p[GRID_INERTIA_S]);
    if (p[GRID_GOVERNOR] > 0.0) {
        double error = p[GRID_DROOP] * (x[STATE_SECONDARY] / p[GRID_TURBINE_GAIN] -
                                        (x[STATE_VALVE] - machine->start_valve)) -
                       speed;
        double wanted = machine->start_valve + p[GRID_PID_KP] * error + x[STATE_INTEGRAL];
        double rate = valve_rate(
            p, x[STATE_VALVE],
            (clamp(wanted, p[GRID_VALVE_MIN], p[GRID_VALVE_MAX]) - x[STATE_VALVE]) / p[GRID_T1_S]);
        d[STATE_VALVE] = rate;
        int32_t wound = (wanted > p[GRID_VALVE_MAX] && error > 0.0) ||
                        (wanted < p[GRID_VALVE_MIN] && error < 0.0);
        d[STATE_INTEGRAL] = wound ? 0.0 : p[GRID_PID_KI_PER_S] * error;
        d[STATE_TURBINE] =
            (p[GRID_TURBINE_GAIN] * (x[STATE_VALVE] - p[GRID_NO_LOAD_VALVE]) - x[STATE_TURBINE]) /
            p[GRID_T2_S];
    } else {
        d[STATE_VALVE] = valve_rate(
            p, x[STATE_VALVE],
            (machine->start_power + x[STATE_SECONDARY] - speed / p[GRID_DROOP] - x[STATE_VALVE]) /
                p[GRID_T1_S]);
        d[STATE_TURBINE] = (x[STATE_VALVE] - x[STATE_TURBINE]) / p[GRID_T2_S];
        d[STATE_INTEGRAL] = 0.0;
    }
    d[STATE_BATTERY] =
        p[GRID_BATTERY_POWER_W] > 0.0
            ? (battery_target(machine, speed) - x[STATE_BATTERY]) / p[GRID_BATTERY_TAU_S]
            : 0.0;
    double shift = -p[GRID_SECONDARY_PER_S] * speed;
    d[STATE_SECONDARY] =
        (x[STATE_SECONDARY] >= 1.0 && shift > 0.0) || (x[STATE_SECONDARY] <= -1.0 && shift < 0.0)
            ? 0.0
            : shift;
}

/* Battery power is linear between b0 and b1 over h seconds; its positive and negative parts apart.
 */
static void count_energy(ckpd__machine *machine, double h, double b0, double b1)
{
    double whole = 0.5 * (b0 + b1), positive, negative;
    if (b0 >= 0.0 && b1 >= 0.0) {
        positive = whole;
        negative = 0.0;
    } else if (b0 <= 0.0 && b1 <= 0.0) {
        positive = 0.0;
        negative = -whole;
    } else {
        double up = b0 > 0.0 ? b0 : b1;
        positive = 0.5 * up * up / fabs(b1 - b0);
        negative = positive - whole;
    }
    machine->charge_wh += positive * h / 3600.0;
    machine->discharge_wh += negative * h / 3600.0;
    machine->integral_wh += whole * h / 3600.0;
    machine->soc_wh += (positive * machine->p[GRID_BATTERY_ETA_CHARGE] -
                        negative / machine->p[GRID_BATTERY_ETA_DISCHARGE]) *
                       h / 3600.0;
}

void ckpd__machine_step(ckpd__machine *machine, double h, double p0, double p1)
{
    const double *p = machine->p;
    double k[4][STATES], at[STATES], *x = machine->x;
    double energy = p[GRID_BATTERY_ENERGY_WH];
    machine->may_charge = machine->soc_wh < p[GRID_BATTERY_SOC_MAX] * energy;
    machine->may_discharge = machine->soc_wh > p[GRID_BATTERY_SOC_MIN] * energy;
    double middle = 0.5 * (p0 + p1), before = x[STATE_BATTERY];
    derive(machine, x, p0, k[0]);
    for (int i = 0; i < STATES; i++) {
        at[i] = x[i] + 0.5 * h * k[0][i];
    }
    derive(machine, at, middle, k[1]);
    for (int i = 0; i < STATES; i++) {
        at[i] = x[i] + 0.5 * h * k[1][i];
    }
    derive(machine, at, middle, k[2]);
    for (int i = 0; i < STATES; i++) {
        at[i] = x[i] + h * k[2][i];
    }
    derive(machine, at, p1, k[3]);
    for (int i = 0; i < STATES; i++) {
        x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    if (x[STATE_VALVE] >= p[GRID_VALVE_MAX] || x[STATE_VALVE] <= p[GRID_VALVE_MIN] ||
        (p[GRID_BATTERY_POWER_W] > 0.0 &&
         fabs(x[STATE_BATTERY]) >= 0.999 * p[GRID_BATTERY_POWER_W])) {
        machine->saturated = 1;
    }
    count_energy(machine, h, before, x[STATE_BATTERY]);
}

void ckpd__machine_advance(ckpd__machine *machine, double whole, double p0, double p1)
{
    /* The small slack keeps 0.01 / 0.01 from becoming two steps. */
    int64_t steps = (int64_t)ceil(whole / machine->p[GRID_STEP_S] - 1e-6);
    steps = steps < 1 ? 1 : steps;
    double h = whole / (double)steps;
    for (int64_t i = 0; i < steps; i++) {
        double a = (double)i / (double)steps, b = (double)(i + 1) / (double)steps;
        ckpd__machine_step(machine, h, p0 + a * (p1 - p0), p0 + b * (p1 - p0));
    }
}
