/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The microgrid as numbers to integrate. */
#ifndef CKPD_LIB_SHAPE_MACHINE_H
#define CKPD_LIB_SHAPE_MACHINE_H

#include "shape/shape.h"

enum {
    GRID_F0_HZ,
    GRID_RATED_VA,
    GRID_INERTIA_S,
    GRID_DAMPING,
    GRID_GOVERNOR,
    GRID_DROOP,
    GRID_T1_S,
    GRID_T2_S,
    GRID_VALVE_MIN,
    GRID_VALVE_MAX,
    GRID_VALVE_RATE,
    GRID_PID_KP,
    GRID_PID_KI_PER_S,
    GRID_TURBINE_GAIN,
    GRID_NO_LOAD_VALVE,
    GRID_SECONDARY_PER_S,
    GRID_LOAD_W,
    GRID_BATTERY_POWER_W,
    GRID_BATTERY_ENERGY_WH,
    GRID_BATTERY_GAIN_W_PER_HZ,
    GRID_BATTERY_DEADBAND_HZ,
    GRID_BATTERY_TAU_S,
    GRID_BATTERY_SOC_START,
    GRID_BATTERY_SOC_MIN,
    GRID_BATTERY_SOC_MAX,
    GRID_BATTERY_ETA_CHARGE,
    GRID_BATTERY_ETA_DISCHARGE,
    GRID_STEP_S,
    GRID_FIELDS
};
extern const ckpd__field_table ckpd__grid_fields;

struct ckpd_microgrid {
    CKPD__HANDLE;
    const char *name; /* of the preset */
    double values[GRID_FIELDS];
};

enum {
    STATE_SPEED,
    STATE_VALVE,
    STATE_TURBINE,
    STATE_BATTERY,
    STATE_SECONDARY,
    STATE_INTEGRAL,
    STATES
};

typedef struct ckpd__machine {
    const double *p; /* the microgrid's values */
    double x[STATES];
    double start_power; /* per unit */
    double start_valve;
    double soc_wh;
    double charge_wh, discharge_wh, integral_wh; /* of the battery power, at its terminals */
    int32_t may_charge, may_discharge;
    int32_t saturated;
} ckpd__machine;

void ckpd__machine_start(ckpd__machine *machine, const ckpd_microgrid *grid);
/* One Runge-Kutta step of length h with the net deficit linear from p0 to p1 (W). */
void ckpd__machine_step(ckpd__machine *machine, double h, double p0, double p1);
/* `whole` split in steps of at most the field step_s. */
void ckpd__machine_advance(ckpd__machine *machine, double whole, double p0, double p1);

static inline double ckpd__machine_hz(const ckpd__machine *machine)
{
    return machine->x[STATE_SPEED] * machine->p[GRID_F0_HZ];
}

#endif
