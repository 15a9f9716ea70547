/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The site as the rooms above read it: series, cost curves, battery values. */
#ifndef CKPD_LIB_SITE_H
#define CKPD_LIB_SITE_H

#include "base/base.h"
#include "base/fields.h"

#include <ckptdispatch/site.h>

/* In the order of the series table. */
typedef enum ckpd__series {
    CKPD__IMPORT_PRICE,
    CKPD__EXPORT_PRICE,
    CKPD__CURTAILMENT_PENALTY,
    CKPD__WIND,
    CKPD__SOLAR,
    CKPD__BASE_IT,
    CKPD__PUE,
    CKPD__SITE_CAP,
    CKPD__GPU_CAP,
    CKPD__IMPORT_CAP,
    CKPD__EXPORT_CAP,
    CKPD__IMPORT_CAP_PRICE, /* infinite: the cap is hard */
    CKPD__SITE_CAP_PRICE,
    CKPD__GPU_CAP_PRICE, /* per GPU-hour */
    CKPD__SERIES_COUNT
} ckpd__series;

/* In the order of the battery's field table. */
typedef enum ckpd__battery_field {
    CKPD__BATTERY_ENERGY,
    CKPD__BATTERY_CHARGE,
    CKPD__BATTERY_DISCHARGE,
    CKPD__BATTERY_ETA_CHARGE,
    CKPD__BATTERY_ETA_DISCHARGE,
    CKPD__BATTERY_SELF_DISCHARGE,
    CKPD__BATTERY_SOC_MIN,
    CKPD__BATTERY_SOC_MAX,
    CKPD__BATTERY_SOC_START,
    CKPD__BATTERY_SOC_END,
    CKPD__BATTERY_END_VALUE,
    CKPD__BATTERY_THROUGHPUT_COST,
    CKPD__BATTERY_RECOVER_SOC,
    CKPD__BATTERY_TERMINAL,
    CKPD__BATTERY_SOC_END_PRICE, /* NaN: the terminal rule is hard */
    CKPD__BATTERY_FIELDS
} ckpd__battery_field;

/* Positions of the choices of "terminal". */
enum { CKPD__TERMINAL_EQUAL = 0, CKPD__TERMINAL_AT_LEAST = 1, CKPD__TERMINAL_FREE = 2 };

typedef struct ckpd__cost_curve {
    int32_t slot; /* -1: every slot */
    int32_t argument;
    int32_t count;
    double *x_kw; /* one block: x_kw[count], then money_per_hour[count] */
    double *money_per_hour;
} ckpd__cost_curve;

struct ckpd_battery {
    CKPD__HANDLE;
    double values[CKPD__BATTERY_FIELDS];
};

struct ckpd_site {
    CKPD__HANDLE;
    int32_t slots;
    int32_t has_battery;
    double slot_hours;
    double *series[CKPD__SERIES_COUNT]; /* NULL: required and not given */
    ckpd__cost_curve *curves;           /* by slot, those of every slot first */
    int32_t curve_count;
    /* Defaults of SOC_MAX and SOC_END filled in, SOC_START within the bounds (or below with
     * recovery). */
    double battery[CKPD__BATTERY_FIELDS];
};

/* A copy made from another context's memory; NULL when out of memory (no error is set). */
ckpd_site *ckpd__site_copy(ckpd_context *context, const ckpd_site *site);
/* The first required series that is missing, as an error. */
int32_t ckpd__site_check(ckpd_context *context, const ckpd_site *site);
/* A cap of the slot, infinite where it may be passed at a price. */
double ckpd__site_hard_cap(const ckpd_site *site, ckpd__series cap, int32_t slot);
/* Price of passing a cap, in money per kWh or GPU-hour; infinite for a hard one. */
double ckpd__site_cap_price(const ckpd_site *site, ckpd__series cap, int32_t slot);
/* The next curve that counts in the slot after number `after` (-1 to begin), -1 when there is none.
 */
int32_t ckpd__next_curve(const ckpd_site *site, int32_t slot, int32_t after);
void ckpd__site_free_curves(ckpd_context *context, ckpd__cost_curve *curves, int32_t count);

#endif
