/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Field tables: the named scalar parameters of a handle, described once. A handle that has fields
 * keeps a `double values[COUNT]` (indexed by its own enum in table order); choices are stored as
 * their position. NaN means "not given". From the table come setters, getters, describe, JSON and
 * error texts.
 */
#ifndef CKPD_LIB_BASE_FIELDS_H
#define CKPD_LIB_BASE_FIELDS_H

#include "base/base.h"

typedef struct ckpd__field {
    const char *name; /* with its unit: "curtailment_penalty_per_mwh" */
    const char *unit; /* "money/MWh"; "" for pure numbers */
    const char *doc;  /* one line */
    int32_t kind;     /* CKPD_FIELD_... */
    int32_t required; /* 1: no default, must be given */
    double minimum, maximum;
    double default_value; /* NaN: not given; position for choices */
    const char *choices;  /* "a|b|c" for CKPD_FIELD_CHOICE, else NULL */
} ckpd__field;

typedef struct ckpd__field_table {
    const char *object; /* "battery": used in messages */
    const ckpd__field *fields;
    int32_t count;
} ckpd__field_table;

void ckpd__fields_defaults(const ckpd__field_table *table, double *values);
int32_t ckpd__fields_find(const ckpd__field_table *table, const char *name); /* -1 when unknown */
/* Sets by name; refuses unknown names (with the nearest known one), NaN, out of range,
 * non-integers. */
int32_t ckpd__fields_set(ckpd_context *context, const ckpd__field_table *table, double *values,
                         const char *name, double value);
/* Back to the default ("not given" or the default value). */
int32_t ckpd__fields_unset(ckpd_context *context, const ckpd__field_table *table, double *values,
                           const char *name);
int32_t ckpd__fields_set_text(ckpd_context *context, const ckpd__field_table *table, double *values,
                              const char *name, const char *text);
int32_t ckpd__fields_get(ckpd_context *context, const ckpd__field_table *table,
                         const double *values, const char *name, double *value);
/* Borrowed static text of a choice; copied to *text. */
int32_t ckpd__fields_get_text(ckpd_context *context, const ckpd__field_table *table,
                              const double *values, const char *name, char *buffer, size_t size);
/* Fills a public description; index 0..count-1. */
int32_t ckpd__fields_info(ckpd_context *context, const ckpd__field_table *table, int32_t index,
                          ckpd_field_info *out);
/* First required field that is not given, as an error "battery: energy_kwh is missing". */
int32_t ckpd__fields_check_required(ckpd_context *context, const ckpd__field_table *table,
                                    const double *values);

#endif
