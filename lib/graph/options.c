/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/fields.h"
#include "graph/graph.h"

#include <math.h>

static const ckpd__field option_fields[] = {
    {"reduce", "",
     "1: leave out edges that a split replaces without loss, and nodes that are on no path",
     CKPD_FIELD_FLAG, 0, 0, 1, 1, NULL},
    {"checkpoint_save_share", "", "share of each segment's time spent saving its checkpoint",
     CKPD_FIELD_NUMBER, 0, 0, 0.99, 0, NULL},
    {"last_slot_power", "", "power in the partly used last slot of an edge", CKPD_FIELD_CHOICE, 0,
     0, 1, 0, "occupied|prorated"},
};
_Static_assert(sizeof option_fields / sizeof option_fields[0] == CKPD__GRAPH_FIELDS,
               "the enum follows the table");

static const ckpd__field_table option_table = {"graph", option_fields, CKPD__GRAPH_FIELDS};

int32_t ckpd_graph_options_new(ckpd_graph_options **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_graph_options *options = ckpd__calloc(context, 1, sizeof *options);
    if (options == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(options, CKPD__GRAPH_OPTIONS, context);
    ckpd__fields_defaults(&option_table, options->values);
    *out = options;
    return CKPD_OK;
}

void ckpd_graph_options_free(ckpd_graph_options *options)
{
    CKPD__NULL_IF_FOREIGN(options, CKPD__GRAPH_OPTIONS);
    if (options == NULL) {
        return;
    }
    ckpd_context *context = options->context;
    ckpd__free(context, options->allowed);
    ckpd__free(context, options->change_hours);
    ckpd__free(context, options->change_money);
    ckpd__handle_end(options);
}

int32_t ckpd_graph_options_set(ckpd_graph_options *options, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    return options == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(options->context, &option_table, options->values, field, value);
}

int32_t ckpd_graph_options_set_text(ckpd_graph_options *options, const char *field,
                                    const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    return options == NULL ? CKPD_ERR_ARGUMENT
                           : ckpd__fields_set_text(options->context, &option_table, options->values,
                                                   field, text);
}

int32_t ckpd_graph_options_get_text(const ckpd_graph_options *options, const char *field,
                                    char *buffer, size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    return options == NULL ? CKPD_ERR_ARGUMENT
                           : ckpd__fields_get_text(options->context, &option_table, options->values,
                                                   field, buffer, size);
}

int32_t ckpd_graph_options_get(const ckpd_graph_options *options, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    return options == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(options->context, &option_table, options->values, field, value);
}

int32_t ckpd_graph_options_field_count(void)
{
    return option_table.count;
}

int32_t ckpd_graph_options_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &option_table, index, out);
}

int32_t ckpd_graph_options_set_transitions(ckpd_graph_options *options, int32_t modes,
                                           const uint8_t *allowed)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    uint8_t *copy = NULL;
    if (allowed != NULL) {
        int32_t status = ckpd__check_range(options->context, "modes", -1, modes, 1, 1 << 15);
        if (status != CKPD_OK) {
            return status;
        }
        copy = ckpd__memdup(options->context, allowed, (size_t)modes * (size_t)modes, 1);
        if (copy == NULL) {
            return ckpd__no_memory(options->context);
        }
    }
    ckpd__free(options->context, options->allowed);
    options->allowed = copy;
    options->transition_modes = copy != NULL ? modes : 0;
    return CKPD_OK;
}

int32_t ckpd_graph_options_set_transition_rule(ckpd_graph_options *options, ckpd_transition_fn rule,
                                               void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    options->rule = rule;
    options->rule_user = user;
    return CKPD_OK;
}

int32_t ckpd_graph_options_set_edge_cost(ckpd_graph_options *options, ckpd_edge_cost_fn cost,
                                         void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    options->edge_cost = cost;
    options->edge_cost_user = user;
    return CKPD_OK;
}

static int32_t copy_costs(ckpd_context *context, const char *field, const double *given,
                          int64_t count, double least, double **copy)
{
    if (given == NULL) {
        return CKPD_OK;
    }
    int32_t status = ckpd__check_series(context, field, given, count, least, 1e12);
    if (status != CKPD_OK) {
        return status;
    }
    *copy = ckpd__memdup(context, given, (size_t)count, sizeof *given);
    return *copy != NULL ? CKPD_OK : ckpd__no_memory(context);
}

int32_t ckpd_graph_options_set_change_costs(ckpd_graph_options *options, int32_t modes,
                                            const double *hours, const double *money)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = options->context;
    double *own_hours = NULL, *own_money = NULL;
    int32_t status = ckpd__check_range(context, "modes", -1, modes, 1, 1 << 15);
    int64_t count = ((int64_t)modes + 1) * modes;
    if (status == CKPD_OK) {
        status = copy_costs(context, "change_hours", hours, count, 0, &own_hours);
    }
    if (status == CKPD_OK) {
        status = copy_costs(context, "change_money", money, count, -1e12, &own_money);
    }
    if (status != CKPD_OK) {
        ckpd__free(context, own_hours);
        return status;
    }
    ckpd__free(context, options->change_hours);
    ckpd__free(context, options->change_money);
    options->change_hours = own_hours;
    options->change_money = own_money;
    options->change_modes = own_hours != NULL || own_money != NULL ? modes : 0;
    return CKPD_OK;
}

int32_t ckpd_graph_options_set_checkpoint(ckpd_graph_options *options,
                                          const ckpd_checkpoint *checkpoint,
                                          const ckpd_mode_set *modes)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__GRAPH_OPTIONS);
    CKPD__REFUSE_FOREIGN(options, checkpoint, CKPD__CHECKPOINT);
    CKPD__REFUSE_FOREIGN(options, modes, CKPD__MODE_SET);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = options->context;
    if (checkpoint == NULL || modes == NULL) {
        return ckpd__null_argument(context, checkpoint == NULL ? "checkpoint" : "modes");
    }
    int32_t count = ckpd_mode_set_count(modes), status = CKPD_OK;
    size_t pairs = ((size_t)count + 1) * (size_t)count;
    double *hours = ckpd__calloc(context, pairs, sizeof *hours);
    double *money = ckpd__calloc(context, pairs, sizeof *money);
    if (hours == NULL || money == NULL) {
        status = ckpd__no_memory(context);
    }
    for (size_t i = 0; status == CKPD_OK && i < pairs; i++) {
        ckpd_change_cost cost = {.size = sizeof cost};
        int32_t from = (int32_t)(i / (size_t)count) - 1, to = (int32_t)(i % (size_t)count);
        status = ckpd_checkpoint_change(checkpoint, modes, from, to, &cost);
        hours[i] = cost.hours;
        money[i] = cost.money;
    }
    if (status == CKPD_OK) {
        status = ckpd_graph_options_set_change_costs(options, count, hours, money);
    }
    ckpd__free(context, hours);
    ckpd__free(context, money);
    return status;
}
