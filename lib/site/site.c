/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "site/site.h"

#include <math.h>
#include <string.h>

/* Beyond these a horizon is a mistake in units, not a plan. */
enum { MOST_SLOTS = 100000 };
static const double SHORTEST_SLOT_H = 1.0 / 3600.0;
static const double LONGEST_SLOT_H = 168.0;

static const double HIGHEST_PRICE = 1e9;

#define NOT_GIVEN ((double)NAN)
#define NO_LIMIT ((double)INFINITY)

/* One row a series; `required` ones have no default. */
static const ckpd__field series_fields[] = {
    {"import_price_per_mwh", "money/MWh", "price of energy bought", CKPD_FIELD_NUMBER, 1, -1e9, 1e9,
     NOT_GIVEN, NULL},
    {"export_price_per_mwh", "money/MWh", "price of energy sold", CKPD_FIELD_NUMBER, 0, -1e9, 1e9,
     0, NULL},
    {"curtailment_penalty_per_mwh", "money/MWh", "cost of renewable energy not used",
     CKPD_FIELD_NUMBER, 0, 0, 1e9, 0, NULL},
    {"wind_kw", "kW", "wind power available", CKPD_FIELD_NUMBER, 0, 0, 1e12, 0, NULL},
    {"solar_kw", "kW", "solar power available", CKPD_FIELD_NUMBER, 0, 0, 1e12, 0, NULL},
    {"base_it_kw", "kW", "IT power of everything but the jobs, idle GPUs included",
     CKPD_FIELD_NUMBER, 0, 0, 1e12, 0, NULL},
    {"pue", "", "site power / IT power", CKPD_FIELD_NUMBER, 0, 1, 10, 1, NULL},
    {"site_cap_kw", "kW", "limit of the site load (IT power x PUE)", CKPD_FIELD_NUMBER, 0, 0,
     NO_LIMIT, NO_LIMIT, NULL},
    {"gpu_cap", "GPUs", "whole GPUs the jobs may use together", CKPD_FIELD_INTEGER, 1, 0, NO_LIMIT,
     NOT_GIVEN, NULL},
    {"import_cap_kw", "kW", "limit of power bought", CKPD_FIELD_NUMBER, 0, 0, NO_LIMIT, NO_LIMIT,
     NULL},
    {"export_cap_kw", "kW", "limit of power sold", CKPD_FIELD_NUMBER, 0, 0, NO_LIMIT, 0, NULL},
    {"import_cap_price_per_mwh", "money/MWh",
     "what import above import_cap_kw costs besides; unlimited: none may be", CKPD_FIELD_NUMBER, 0,
     0, NO_LIMIT, NO_LIMIT, NULL},
    {"site_cap_price_per_mwh", "money/MWh",
     "what site load above site_cap_kw costs; unlimited: none may be", CKPD_FIELD_NUMBER, 0, 0,
     NO_LIMIT, NO_LIMIT, NULL},
    {"gpu_cap_price_per_gpu_hour", "money/GPU-h",
     "what GPUs above gpu_cap cost; unlimited: none may be", CKPD_FIELD_NUMBER, 0, 0, NO_LIMIT,
     NO_LIMIT, NULL},
};
_Static_assert(sizeof series_fields / sizeof series_fields[0] == CKPD__SERIES_COUNT,
               "the enum follows the table");

static const ckpd__field_table series_table = {"site", series_fields, CKPD__SERIES_COUNT};

double ckpd__site_cap_price(const ckpd_site *site, ckpd__series cap, int32_t slot)
{
    switch (cap) {
    case CKPD__IMPORT_CAP:
        return site->series[CKPD__IMPORT_CAP_PRICE][slot] / 1000.0;
    case CKPD__SITE_CAP:
        return site->series[CKPD__SITE_CAP_PRICE][slot] / 1000.0;
    case CKPD__GPU_CAP:
        return site->series[CKPD__GPU_CAP_PRICE][slot];
    default:
        return NO_LIMIT;
    }
}

double ckpd__site_hard_cap(const ckpd_site *site, ckpd__series cap, int32_t slot)
{
    return isfinite(ckpd__site_cap_price(site, cap, slot)) ? NO_LIMIT : site->series[cap][slot];
}

/* Position of a series; an unknown name is answered with the nearest known one. */
static int32_t find_series(ckpd_context *context, const char *name, int32_t *series)
{
    if (name == NULL) {
        return ckpd__null_argument(context, "name");
    }
    double ignored[CKPD__SERIES_COUNT];
    int32_t found = ckpd__fields_find(&series_table, name);
    if (found < 0) {
        return ckpd__fields_unset(context, &series_table, ignored, name);
    }
    *series = found;
    return CKPD_OK;
}

int32_t ckpd_site_new(ckpd_site **out, ckpd_context *context, int32_t slots, double slot_hours)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    int32_t status = ckpd__check_range(context, "slots", -1, slots, 1, MOST_SLOTS);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "slot_hours", -1, slot_hours, SHORTEST_SLOT_H,
                                   LONGEST_SLOT_H);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_site *site = ckpd__calloc(context, 1, sizeof *site);
    if (site == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(site, CKPD__SITE, context);
    site->slots = slots;
    site->slot_hours = slot_hours;
    for (int32_t s = 0; s < CKPD__SERIES_COUNT; s++) {
        if (series_fields[s].required) {
            continue;
        }
        status =
            ckpd_site_set_constant(site, series_fields[s].name, series_fields[s].default_value);
        if (status != CKPD_OK) {
            ckpd_site_free(site);
            return status;
        }
    }
    *out = site;
    return CKPD_OK;
}

void ckpd_site_free(ckpd_site *site)
{
    CKPD__NULL_IF_FOREIGN(site, CKPD__SITE);
    if (site == NULL) {
        return;
    }
    ckpd_context *context = site->context;
    for (int32_t s = 0; s < CKPD__SERIES_COUNT; s++) {
        ckpd__free(context, site->series[s]);
    }
    ckpd__site_free_curves(context, site->curves, site->curve_count);
    ckpd__handle_end(site);
}

int32_t ckpd_site_slots(const ckpd_site *site)
{
    CKPD__NULL_IF_FOREIGN(site, CKPD__SITE);
    return site != NULL ? site->slots : 0;
}

double ckpd_site_slot_hours(const ckpd_site *site)
{
    CKPD__NULL_IF_FOREIGN(site, CKPD__SITE);
    return site != NULL ? site->slot_hours : 0;
}

/* Takes values that are checked; the old ones stay when memory runs out. */
static int32_t store(ckpd_site *site, int32_t series, const double *values)
{
    double *copy = ckpd__memdup(site->context, values, (size_t)site->slots, sizeof *copy);
    if (copy == NULL) {
        return ckpd__no_memory(site->context);
    }
    ckpd__free(site->context, site->series[series]);
    site->series[series] = copy;
    return CKPD_OK;
}

/*
 * What bounds alone do not tell. Half a GPU is a slip (a scaled or averaged series), not a limit:
 * none is rounded in silence. A price of a soft cap is a price or "unlimited", nothing between.
 */
static int32_t check_value(const ckpd_site *site, int32_t series, int32_t index, double value)
{
    const ckpd__field *field = &series_fields[series];
    if (series >= CKPD__IMPORT_CAP_PRICE && isfinite(value)) {
        return ckpd__check_range(site->context, field->name, index, value, 0, HIGHEST_PRICE);
    }
    if (field->kind != CKPD_FIELD_INTEGER || value == floor(value)) {
        return CKPD_OK;
    }
    char place[32] = "";
    if (index >= 0) {
        ckpd__format(place, sizeof place, "[%d]", index);
    }
    return ckpd__fail(site->context, CKPD_ERR_RANGE, field->name, index, value,
                      "%s%s = %g is not a whole number", field->name, place, value);
}

static int32_t check_values(const ckpd_site *site, int32_t series, const double *values)
{
    const ckpd__field *field = &series_fields[series];
    int32_t status = ckpd__check_series(site->context, field->name, values, site->slots,
                                        field->minimum, field->maximum);
    for (int32_t t = 0; t < site->slots && status == CKPD_OK; t++) {
        status = check_value(site, series, t, values[t]);
    }
    return status;
}

static int32_t check_length(const ckpd_site *site, const char *name, int32_t count)
{
    if (count == site->slots) {
        return CKPD_OK;
    }
    return ckpd__fail(site->context, CKPD_ERR_LENGTH, name, -1, count,
                      "%s has %d values, the horizon has slots = %d", name, count, site->slots);
}

/* A series by its name, for one value per slot. */
static int32_t find_whole(const ckpd_site *site, const char *name, const double *values,
                          int32_t count, int32_t *series)
{
    int32_t status = find_series(site->context, name, series);
    if (status == CKPD_OK && values == NULL) {
        status = ckpd__null_argument(site->context, "values");
    }
    return status == CKPD_OK ? check_length(site, name, count) : status;
}

int32_t ckpd_site_set_series(ckpd_site *site, const char *name, const double *values, int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t series = 0;
    int32_t status = find_whole(site, name, values, count, &series);
    if (status == CKPD_OK) {
        status = check_values(site, series, values);
    }
    return status == CKPD_OK ? store(site, series, values) : status;
}

int32_t ckpd_site_set_constant(ckpd_site *site, const char *name, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t series = 0;
    int32_t status = find_series(site->context, name, &series);
    if (status == CKPD_OK) {
        const ckpd__field *field = &series_fields[series];
        status = ckpd__check_range(site->context, name, -1, value, field->minimum, field->maximum);
        status = status == CKPD_OK ? check_value(site, series, -1, value) : status;
    }
    if (status != CKPD_OK) {
        return status;
    }
    double *values = ckpd__calloc(site->context, (size_t)site->slots, sizeof *values);
    if (values == NULL) {
        return ckpd__no_memory(site->context);
    }
    for (int32_t t = 0; t < site->slots; t++) {
        values[t] = value;
    }
    ckpd__free(site->context, site->series[series]);
    site->series[series] = values;
    return CKPD_OK;
}

int32_t ckpd_site_get_series(const ckpd_site *site, const char *name, double *values, int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t series = 0;
    int32_t status = find_whole(site, name, values, count, &series);
    if (status != CKPD_OK) {
        return status;
    }
    if (site->series[series] == NULL) {
        return ckpd__fail(site->context, CKPD_ERR_MISSING, name, -1, (double)NAN,
                          "site: %s has not been given", name);
    }
    memcpy(values, site->series[series], (size_t)count * sizeof *values);
    return CKPD_OK;
}

int32_t ckpd_site_series_count(void)
{
    return series_table.count;
}

int32_t ckpd_site_series_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &series_table, index, out);
}

int32_t ckpd_site_set_profile(ckpd_site *site, const char *name, ckpd_profile_fn profile,
                              void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t series = 0;
    int32_t status = find_series(site->context, name, &series);
    if (status == CKPD_OK && profile == NULL) {
        status = ckpd__null_argument(site->context, "profile");
    }
    if (status != CKPD_OK) {
        return status;
    }
    double *values = ckpd__calloc(site->context, (size_t)site->slots, sizeof *values);
    if (values == NULL) {
        return ckpd__no_memory(site->context);
    }
    for (int32_t t = 0; t < site->slots && status == CKPD_OK; t++) {
        int32_t failed = 0;
        values[t] = profile(t, t * site->slot_hours, site->slot_hours, &failed, user);
        if (failed != 0) {
            status = ckpd__fail(site->context, CKPD_ERR_CALLBACK, name, t, failed,
                                "profile of %s stopped in slot %d with %d", name, t, failed);
        }
    }
    if (status == CKPD_OK) {
        status = check_values(site, series, values);
    }
    if (status != CKPD_OK) {
        ckpd__free(site->context, values);
        return status;
    }
    ckpd__free(site->context, site->series[series]);
    site->series[series] = values;
    return CKPD_OK;
}

int32_t ckpd__site_check(ckpd_context *context, const ckpd_site *site)
{
    for (int32_t s = 0; s < CKPD__SERIES_COUNT; s++) {
        if (site->series[s] == NULL) {
            return ckpd__fail(context, CKPD_ERR_MISSING, series_fields[s].name, -1, (double)NAN,
                              "site: %s is missing (%d values needed)", series_fields[s].name,
                              site->slots);
        }
    }
    return CKPD_OK;
}

static bool copy_curves(ckpd_context *context, ckpd_site *to, const ckpd_site *from)
{
    to->curves = ckpd__calloc(context, (size_t)from->curve_count, sizeof *to->curves);
    if (to->curves == NULL) {
        return false;
    }
    for (int32_t i = 0; i < from->curve_count; i++) {
        ckpd__cost_curve curve = from->curves[i];
        curve.x_kw = ckpd__memdup(context, curve.x_kw, 2 * (size_t)curve.count, sizeof(double));
        if (curve.x_kw == NULL) {
            return false;
        }
        curve.money_per_hour = curve.x_kw + curve.count;
        to->curves[to->curve_count++] = curve;
    }
    return true;
}

ckpd_site *ckpd__site_copy(ckpd_context *context, const ckpd_site *site)
{
    ckpd_site *copy = ckpd__calloc(context, 1, sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *site;
    copy->context = ckpd__context_retain(context);
    copy->curves = NULL;
    copy->curve_count = 0;
    memset(copy->series, 0, sizeof copy->series);
    bool complete = copy_curves(context, copy, site);
    for (int32_t s = 0; s < CKPD__SERIES_COUNT && complete; s++) {
        if (site->series[s] != NULL) {
            copy->series[s] =
                ckpd__memdup(context, site->series[s], (size_t)site->slots, sizeof(double));
            complete = copy->series[s] != NULL;
        }
    }
    if (!complete) {
        ckpd_site_free(copy);
        return NULL;
    }
    return copy;
}
