/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "site/site.h"

#include <math.h>
#include <string.h>

#define NOT_GIVEN ((double)NAN)

static const ckpd__field battery_fields[] = {
    {"energy_kwh", "kWh", "usable size of the battery", CKPD_FIELD_NUMBER, 1, 0, 1e12, NOT_GIVEN,
     NULL},
    {"charge_kw", "kW", "largest charging power, on the site's side", CKPD_FIELD_NUMBER, 1, 0, 1e12,
     NOT_GIVEN, NULL},
    {"discharge_kw", "kW", "largest discharging power, on the site's side", CKPD_FIELD_NUMBER, 1, 0,
     1e12, NOT_GIVEN, NULL},
    {"eta_charge", "", "share of the charged energy that is stored", CKPD_FIELD_NUMBER, 1, 0.01, 1,
     NOT_GIVEN, NULL},
    {"eta_discharge", "", "share of the withdrawn energy that arrives", CKPD_FIELD_NUMBER, 1, 0.01,
     1, NOT_GIVEN, NULL},
    {"self_discharge_per_hour", "1/h", "share of the stored energy lost in an hour",
     CKPD_FIELD_NUMBER, 0, 0, 0.999, 0, NULL},
    {"soc_min_kwh", "kWh", "least energy to be kept", CKPD_FIELD_NUMBER, 0, 0, 1e12, 0, NULL},
    {"soc_max_kwh", "kWh", "most energy to be stored; energy_kwh when not given", CKPD_FIELD_NUMBER,
     0, 0, 1e12, NOT_GIVEN, NULL},
    {"soc_start_kwh", "kWh", "energy at the start of the horizon", CKPD_FIELD_NUMBER, 1, 0, 1e12,
     NOT_GIVEN, NULL},
    {"soc_end_kwh", "kWh", "energy of the terminal rule; soc_start_kwh when not given",
     CKPD_FIELD_NUMBER, 0, 0, 1e12, NOT_GIVEN, NULL},
    {"end_value_per_mwh", "money/MWh", "worth of energy left at the end", CKPD_FIELD_NUMBER, 0,
     -1e9, 1e9, 0, NULL},
    {"throughput_cost_per_mwh", "money/MWh", "wear, counted on charge and on discharge",
     CKPD_FIELD_NUMBER, 0, 0, 1e9, 0, NULL},
    {"recover_soc", "",
     "1: a start below soc_min_kwh is taken, and brought back to it as fast as can be charged",
     CKPD_FIELD_FLAG, 0, 0, 1, 0, NULL},
    {"terminal", "", "rule for the energy at the end of the horizon", CKPD_FIELD_CHOICE, 0, 0, 2, 0,
     "equal|at_least|free"},
    {"soc_end_price_per_mwh", "money/MWh",
     "what an end that misses soc_end_kwh costs; not given: it may not miss it", CKPD_FIELD_NUMBER,
     0, 0, 1e9, NOT_GIVEN, NULL},
};
_Static_assert(sizeof battery_fields / sizeof battery_fields[0] == CKPD__BATTERY_FIELDS,
               "the enum follows the table");

static const ckpd__field_table battery_table = {"battery", battery_fields, CKPD__BATTERY_FIELDS};

int32_t ckpd_battery_new(ckpd_battery **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_battery *battery = ckpd__calloc(context, 1, sizeof *battery);
    if (battery == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(battery, CKPD__BATTERY, context);
    ckpd__fields_defaults(&battery_table, battery->values);
    *out = battery;
    return CKPD_OK;
}

void ckpd_battery_free(ckpd_battery *battery)
{
    CKPD__NULL_IF_FOREIGN(battery, CKPD__BATTERY);
    if (battery != NULL) {
        ckpd__handle_end(battery);
    }
}

int32_t ckpd_battery_set(ckpd_battery *battery, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, battery, CKPD__BATTERY);
    return battery == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(battery->context, &battery_table, battery->values, field, value);
}

int32_t ckpd_battery_set_text(ckpd_battery *battery, const char *field, const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, battery, CKPD__BATTERY);
    return battery == NULL ? CKPD_ERR_ARGUMENT
                           : ckpd__fields_set_text(battery->context, &battery_table,
                                                   battery->values, field, text);
}

int32_t ckpd_battery_get_text(const ckpd_battery *battery, const char *field, char *buffer,
                              size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, battery, CKPD__BATTERY);
    return battery == NULL ? CKPD_ERR_ARGUMENT
                           : ckpd__fields_get_text(battery->context, &battery_table,
                                                   battery->values, field, buffer, size);
}

int32_t ckpd_battery_get(const ckpd_battery *battery, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, battery, CKPD__BATTERY);
    return battery == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(battery->context, &battery_table, battery->values, field, value);
}

int32_t ckpd_battery_field_count(void)
{
    return battery_table.count;
}

int32_t ckpd_battery_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &battery_table, index, out);
}

/* A value handed over from an earlier window may miss a limit by rounding: moved onto it, with a
 * note. */
static int32_t within_soc_limits(ckpd_context *context, const char *field, const char *what,
                                 const double *values, double *soc)
{
    double low = values[CKPD__BATTERY_SOC_MIN];
    double high = values[CKPD__BATTERY_SOC_MAX];
    double slack = 1e-6 * fmax(1.0, high);
    if (*soc < low - slack) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, field, -1, *soc,
                          "%s SOC %g kWh below minimum %g kWh", what, *soc, low);
    }
    if (*soc > high + slack) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, field, -1, *soc,
                          "%s SOC %g kWh above maximum %g kWh", what, *soc, high);
    }
    double clamped = fmin(fmax(*soc, low), high);
    if (clamped != *soc) {
        ckpd__log(context, CKPD_LOG_WARNING, CKPD_MSG_SOC_CLAMPED,
                  "battery: %s SOC %g kWh moved to its limit %g kWh", what, *soc, clamped);
        *soc = clamped;
    }
    return CKPD_OK;
}

/* Fills defaults that depend on other fields, then checks what no single field can tell. */
static int32_t complete(ckpd_context *context, double *values)
{
    double energy = values[CKPD__BATTERY_ENERGY];
    if (isnan(values[CKPD__BATTERY_SOC_MAX])) {
        values[CKPD__BATTERY_SOC_MAX] = energy;
    }
    double low = values[CKPD__BATTERY_SOC_MIN];
    double high = values[CKPD__BATTERY_SOC_MAX];
    if (high > energy) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "soc_max_kwh", -1, high,
                          "maximum SOC %g kWh above the battery's size energy_kwh = %g kWh", high,
                          energy);
    }
    if (low > high) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "soc_min_kwh", -1, low,
                          "minimum SOC %g kWh above maximum SOC %g kWh", low, high);
    }
    double *start = &values[CKPD__BATTERY_SOC_START];
    bool recovers = values[CKPD__BATTERY_RECOVER_SOC] != 0 && *start < low;
    if (recovers) {
        ckpd__log(context, CKPD_LOG_WARNING, CKPD_MSG_SOC_CLAMPED,
                  "battery: initial SOC %g kWh below minimum %g kWh, let recover", *start, low);
    } else {
        int32_t status = within_soc_limits(context, "soc_start_kwh", "initial", values, start);
        if (status != CKPD_OK) {
            return status;
        }
    }
    if (values[CKPD__BATTERY_TERMINAL] == CKPD__TERMINAL_FREE) {
        return CKPD_OK;
    }
    double *end = &values[CKPD__BATTERY_SOC_END];
    if (isnan(*end)) {
        *end = fmax(*start, low);
    }
    return within_soc_limits(context, "soc_end_kwh", "final", values, end);
}

int32_t ckpd_site_add_battery(ckpd_site *site, const ckpd_battery *battery)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    CKPD__REFUSE_FOREIGN(site, battery, CKPD__BATTERY);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (battery == NULL) {
        return ckpd__null_argument(site->context, "battery");
    }
    if (site->has_battery) {
        return ckpd__fail(
            site->context, CKPD_ERR_NOT_SUPPORTED, "battery", 1, (double)NAN,
            "a second battery is not supported yet; add up equal ones or remove the first");
    }
    int32_t status = ckpd__fields_check_required(site->context, &battery_table, battery->values);
    if (status != CKPD_OK) {
        return status;
    }
    double values[CKPD__BATTERY_FIELDS];
    memcpy(values, battery->values, sizeof values);
    status = complete(site->context, values);
    if (status == CKPD_OK) {
        memcpy(site->battery, values, sizeof values);
        site->has_battery = 1;
    }
    return status;
}

int32_t ckpd_site_remove_battery(ckpd_site *site)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    site->has_battery = 0;
    return CKPD_OK;
}

int32_t ckpd_site_has_battery(const ckpd_site *site)
{
    CKPD__NULL_IF_FOREIGN(site, CKPD__SITE);
    return site != NULL ? site->has_battery : 0;
}
