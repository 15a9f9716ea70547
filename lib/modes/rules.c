/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Limits and lists of the enumeration. */
#include "modes/modes.h"

#include <math.h>
#include <string.h>

static const ckpd__field fields[CKPD__RULE_FIELDS] = {
    [CKPD__RULE_INSTALLED_GPUS] = {"installed_gpus", "GPUs",
                                   "GPUs of the site; no mode may use more", CKPD_FIELD_INTEGER, 1,
                                   1, 1e7, NAN, NULL},
    [CKPD__RULE_MINIMUM_GPUS] = {"minimum_gpus", "GPUs", "no mode may use fewer",
                                 CKPD_FIELD_INTEGER, 0, 1, 1e7, 1, NULL},
    [CKPD__RULE_MEMORY_MARGIN_GB] = {"memory_margin_gb", "GB", "kept free below the usable memory",
                                     CKPD_FIELD_NUMBER, 0, 0, 1e6, 0, NULL},
    [CKPD__RULE_KEEP_DOMINATED] = {"keep_dominated", "", "1: no pruning", CKPD_FIELD_FLAG, 0, 0, 1,
                                   0, NULL},
    [CKPD__RULE_UNEVEN_STAGES] =
        {"uneven_stages", "",
         "1: pp may also divide layers + 2 (embedding and head take a slot each)", CKPD_FIELD_FLAG,
         0, 0, 1, 0, NULL},
};

const ckpd__field_table ckpd__rules_table = {"mode rules", fields, CKPD__RULE_FIELDS};

static const char *const list_names[CKPD__LISTS] = {
    "tp", "pp", "dp", "cp", "ep", "micro_batch", "interleave", "recompute",
};

int32_t ckpd_mode_rules_new(ckpd_mode_rules **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_mode_rules *rules = ckpd__calloc(context, 1, sizeof *rules);
    if (rules == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(rules, CKPD__MODE_RULES, context);
    ckpd__fields_defaults(&ckpd__rules_table, rules->values);
    *out = rules;
    return CKPD_OK;
}

void ckpd_mode_rules_free(ckpd_mode_rules *rules)
{
    CKPD__NULL_IF_FOREIGN(rules, CKPD__MODE_RULES);
    if (rules != NULL) {
        ckpd__handle_end(rules);
    }
}

int32_t ckpd_mode_rules_set(ckpd_mode_rules *rules, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, rules, CKPD__MODE_RULES);
    if (rules == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_set(rules->context, &ckpd__rules_table, rules->values, field, value);
}

int32_t ckpd_mode_rules_get(const ckpd_mode_rules *rules, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, rules, CKPD__MODE_RULES);
    if (rules == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_get(rules->context, &ckpd__rules_table, rules->values, field, value);
}

int32_t ckpd_mode_rules_unset(ckpd_mode_rules *rules, const char *field)
{
    CKPD__REFUSE_FOREIGN(NULL, rules, CKPD__MODE_RULES);
    if (rules == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_unset(rules->context, &ckpd__rules_table, rules->values, field);
}

int32_t ckpd_mode_rules_field_count(void)
{
    return ckpd__rules_table.count;
}

int32_t ckpd_mode_rules_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__rules_table, index, out);
}

int32_t ckpd_mode_rules_list_count(void)
{
    return CKPD__LISTS;
}

const char *ckpd_mode_rules_list_name(int32_t index)
{
    return index >= 0 && index < CKPD__LISTS ? list_names[index] : NULL;
}

static int32_t find_list(ckpd_context *context, const char *name, int32_t *index)
{
    if (name == NULL) {
        return ckpd__null_argument(context, "list");
    }
    for (int32_t i = 0; i < CKPD__LISTS; i++) {
        if (strcmp(list_names[i], name) == 0) {
            *index = i;
            return CKPD_OK;
        }
    }
    const char *nearest = ckpd__nearest(name, list_names, CKPD__LISTS);
    if (nearest != NULL) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, name, -1, (double)NAN,
                          "mode rules have no list '%s'; did you mean '%s'?", name, nearest);
    }
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, name, -1, (double)NAN,
                      "mode rules have no list '%s'", name);
}

static int32_t insert_sorted(ckpd_context *context, const char *name, ckpd__list *list,
                             int32_t index, int32_t value)
{
    int32_t at = list->count;
    while (at > 0 && list->values[at - 1] > value) {
        list->values[at] = list->values[at - 1];
        at--;
    }
    if (at > 0 && list->values[at - 1] == value) {
        return ckpd__fail(context, CKPD_ERR_DUPLICATE, name, index, value,
                          "mode rules: %s[%d] = %d is given twice", name, index, value);
    }
    list->values[at] = value;
    list->count++;
    return CKPD_OK;
}

int32_t ckpd_mode_rules_set_list(ckpd_mode_rules *rules, const char *name, int32_t count,
                                 const int32_t *values)
{
    CKPD__REFUSE_FOREIGN(NULL, rules, CKPD__MODE_RULES);
    if (rules == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t which = 0;
    int32_t status = find_list(rules->context, name, &which);
    if (status != CKPD_OK) {
        return status;
    }
    if (count < 0 || count > CKPD__LIST_LENGTH) {
        return ckpd__fail(rules->context, CKPD_ERR_LENGTH, name, -1, count,
                          "mode rules: %s has %d values, at most %d", name, count,
                          CKPD__LIST_LENGTH);
    }
    if (count > 0 && values == NULL) {
        return ckpd__null_argument(rules->context, "values");
    }
    bool recompute = which == CKPD__LIST_RECOMPUTE;
    ckpd__list list = {0, {0}};
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        status = ckpd__check_range(rules->context, name, i, values[i], recompute ? 0 : 1,
                                   recompute ? CKPD_RECOMPUTE_FULL : 1e6);
        if (status == CKPD_OK) {
            status = insert_sorted(rules->context, name, &list, i, values[i]);
        }
    }
    if (status == CKPD_OK) {
        rules->lists[which] = list;
    }
    return status;
}

int32_t ckpd_mode_rules_get_list(const ckpd_mode_rules *rules, const char *name, int32_t capacity,
                                 int32_t *values, int32_t *count)
{
    CKPD__REFUSE_FOREIGN(NULL, rules, CKPD__MODE_RULES);
    if (rules == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (count == NULL || (values == NULL && capacity > 0)) {
        return ckpd__null_argument(rules->context, count == NULL ? "count" : "values");
    }
    int32_t which = 0;
    int32_t status = find_list(rules->context, name, &which);
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__list *list = &rules->lists[which];
    *count = list->count;
    for (int32_t i = 0; i < list->count && i < capacity; i++) {
        values[i] = list->values[i];
    }
    return list->count <= capacity ? CKPD_OK
                                   : ckpd__fail(rules->context, CKPD_ERR_BUFFER, name, -1, capacity,
                                                "mode rules: %s has %d values, room for %d", name,
                                                list->count, capacity);
}
