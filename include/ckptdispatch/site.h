/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file site.h
 * The place where jobs run: time grid, series, PUE, caps, tariff, battery, custom profiles and
 * costs.
 */
#ifndef CKPTDISPATCH_SITE_H
#define CKPTDISPATCH_SITE_H

#include <ckptdispatch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Battery energy storage. Confined. */
typedef struct ckpd_battery ckpd_battery;

/**
 * Makes a battery with no values.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_battery_new(ckpd_battery **out, ckpd_context *context);
/** Ends a battery; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_battery_free(ckpd_battery *battery);
/**
 * Sets a field by name: energy_kwh, charge_kw, discharge_kw, eta_charge, eta_discharge,
 * self_discharge_per_hour, soc_min_kwh, soc_max_kwh, soc_start_kwh, soc_end_kwh, end_value_per_mwh,
 * throughput_cost_per_mwh (on charge and on discharge), recover_soc (flag: a start below soc_min is
 * taken with a warning instead of refused; until it is back at soc_min the battery does not
 * discharge and charges with all that its power and the grid leave beside the load that no plan can
 * avoid), soc_end_price_per_mwh (the end may then miss soc_end_kwh, for "equal" in both directions,
 * at this price). See ckpd_battery_field_info() for units, bounds, defaults.
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE @since 0.1
 */
CKPD_API int32_t ckpd_battery_set(ckpd_battery *battery, const char *field, double value);
/** Sets a choice: "terminal" to "equal" (default), "at_least" or "free". @since 0.1 */
CKPD_API int32_t ckpd_battery_set_text(ckpd_battery *battery, const char *field, const char *text);
/** Reads a field. @since 0.1 */
CKPD_API int32_t ckpd_battery_get(const ckpd_battery *battery, const char *field, double *value);
/**
 * Reads a choice as text; `size` bytes of `buffer`, 16 are enough.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_battery_get_text(const ckpd_battery *battery, const char *field, char *buffer,
                                       size_t size);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_battery_field_count(void);
/** Describes the i-th field. @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_battery_field_info(int32_t index, ckpd_field_info *out);

/** Site over a horizon. Confined. */
typedef struct ckpd_site ckpd_site;

/**
 * Makes a site with a horizon of `slots` slots of `slot_hours` hours.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (slots 1..100000, slot_hours 1/3600..168),
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_site_new(ckpd_site **out, ckpd_context *context, int32_t slots,
                               double slot_hours);
/** Ends a site; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_site_free(ckpd_site *site);
/** Number of slots. @since 0.1 */
CKPD_API int32_t ckpd_site_slots(const ckpd_site *site);
/** Slot length in hours. @since 0.1 */
CKPD_API double ckpd_site_slot_hours(const ckpd_site *site);

/**
 * Sets a series, one value per slot, copied. Names: import_price_per_mwh (required),
 * export_price_per_mwh, curtailment_penalty_per_mwh, wind_kw, solar_kw, base_it_kw, pue,
 * site_cap_kw, gpu_cap (required), import_cap_kw, export_cap_kw, and the prices
 * import_cap_price_per_mwh, site_cap_price_per_mwh, gpu_cap_price_per_gpu_hour at which those caps
 * may be passed (+infinity: never). Units, bounds and defaults:
 * ckpd_site_series_info(). Caps may be +infinity; gpu_cap is whole.
 * @param count must equal the number of slots
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_LENGTH (names both lengths),
 * CKPD_ERR_NOT_FINITE, CKPD_ERR_RANGE (index = slot), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_site_set_series(ckpd_site *site, const char *name, const double *values,
                                      int32_t count);
/** The same value in every slot. @since 0.1 */
CKPD_API int32_t ckpd_site_set_constant(ckpd_site *site, const char *name, double value);
/** Copies a series to `values`; `count` must equal the number of slots. @since 0.1 */
CKPD_API int32_t ckpd_site_get_series(const ckpd_site *site, const char *name, double *values,
                                      int32_t count);
/** Number of series names. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_site_series_count(void);
/** Describes the i-th series. @since 0.1 */
CKPD_API int32_t ckpd_site_series_info(int32_t index, ckpd_field_info *out);

/**
 * Mean power in kW of one slot of a renewable source; `start_hours` is the slot's start after the
 * horizon's start. Non-zero `*failed` stops the call with CKPD_ERR_CALLBACK.
 */
typedef double (*ckpd_profile_fn)(int32_t slot, double start_hours, double length_hours,
                                  int32_t *failed, void *user);
/**
 * Fills wind_kw or solar_kw (or any other series) from a callback, asked once per slot, in order,
 * during this call. @return as ckpd_site_set_series(), CKPD_ERR_CALLBACK (index = slot) @since 0.1
 */
CKPD_API int32_t ckpd_site_set_profile(ckpd_site *site, const char *name, ckpd_profile_fn profile,
                                       void *user);

/** What a custom cost curve is a function of, in kW. Net load = import - export - curtailment. */
enum {
    CKPD_COST_IMPORT = 1,
    CKPD_COST_EXPORT = 2,
    CKPD_COST_NET_LOAD = 3,
    CKPD_COST_CURTAILMENT = 4
};
/**
 * Adds a convex piecewise-linear cost in money per hour to the tariff of one slot (or of all, slot
 * -1): linear between the points, continued with the first and last slope outside of them. Curves
 * of several calls add up. Copied.
 * @param argument CKPD_COST_...
 * @param count    at least 2 points, x_kw strictly ascending
 * @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE, CKPD_ERR_NOT_CONVEX (index = slot),
 * CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_site_add_cost_curve(ckpd_site *site, int32_t slot, int32_t argument,
                                          int32_t count, const double *x_kw,
                                          const double *money_per_hour);
/**
 * Fills at most `capacity` points of the curve of a slot and returns their number (0: no curve in
 * this slot), or a negative number to stop the call with CKPD_ERR_CALLBACK.
 */
typedef int32_t (*ckpd_cost_curve_fn)(int32_t slot, int32_t capacity, double *x_kw,
                                      double *money_per_hour, void *user);
/**
 * Adds curves from a callback, asked once per slot, in order, during this call. All or none are
 * added.
 * @since 0.1
 */
CKPD_API int32_t ckpd_site_add_cost_callback(ckpd_site *site, int32_t argument,
                                             ckpd_cost_curve_fn curve, void *user);

/**
 * Adds a battery, copied. At most one for now.
 * @return CKPD_OK; CKPD_ERR_MISSING (required field), CKPD_ERR_INCONSISTENT (SOC outside its
 * bounds, named with both numbers), CKPD_ERR_NOT_SUPPORTED (second battery), CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_site_add_battery(ckpd_site *site, const ckpd_battery *battery);
/** Removes the battery, if any. @since 0.1 */
CKPD_API int32_t ckpd_site_remove_battery(ckpd_site *site);
/** 1 when there is a battery. @since 0.1 */
CKPD_API int32_t ckpd_site_has_battery(const ckpd_site *site);

#ifdef __cplusplus
}
#endif
#endif
