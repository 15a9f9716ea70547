/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

#define FIGURE(name, unit, doc)                                                                  \
    {                                                                                            \
        name, unit, doc, CKPD_FIELD_NUMBER, 0, -(double)INFINITY, (double)INFINITY, (double)NAN, \
            NULL                                                                                 \
    }

static const ckpd__field figure_fields[] = {
    FIGURE("cost", "money", "all costs - export_revenue - end_value"),
    FIGURE("import_cost", "money", "energy bought at the import price"),
    FIGURE("export_revenue", "money", "energy sold at the export price"),
    FIGURE("curtailment_cost", "money", "curtailed energy at its penalty"),
    FIGURE("throughput_cost", "money", "battery wear on charge and on discharge"),
    FIGURE("end_value", "money", "worth of the energy left in the battery"),
    FIGURE("custom_cost", "money", "custom cost curves"),
    FIGURE("edge_cost", "money", "amounts of training edges"),
    FIGURE("penalty_cost", "money", "limits that were passed, at their prices"),
    FIGURE("load_mwh", "MWh", "site load without the battery"),
    FIGURE("import_mwh", "MWh", "energy bought"),
    FIGURE("export_mwh", "MWh", "energy sold"),
    FIGURE("curtailment_mwh", "MWh", "renewable energy not used"),
    FIGURE("renewable_mwh", "MWh", "renewable energy used"),
    FIGURE("charge_mwh", "MWh", "energy into the battery, on the site's side"),
    FIGURE("discharge_mwh", "MWh", "energy out of the battery, on the site's side"),
    FIGURE("green_share", "", "renewable energy used / (renewable energy used + import)"),
    FIGURE("min_site_load_kw", "kW", "least site load of a slot"),
    FIGURE("max_site_load_kw", "kW", "largest site load of a slot"),
};
_Static_assert(sizeof figure_fields / sizeof figure_fields[0] == CKPD__FIGURES,
               "the enum follows the table");

static const ckpd__field_table figure_table = {"report", figure_fields, CKPD__FIGURES};

/* One broken plan should not fill the memory: the first faults tell the story. */
enum { MOST_VIOLATIONS = 10000 };

void ckpd__report_violation(ckpd_report *report, int32_t kind, int32_t job, int32_t slot,
                            double amount, const char *text)
{
    if (report->count >= MOST_VIOLATIONS) {
        return;
    }
    if (report->count == report->room) {
        int32_t room = 2 * report->room + 8;
        ckpd_violation *grown =
            ckpd__realloc(report->context, report->violation, (size_t)room, sizeof *grown);
        if (grown == NULL) {
            report->out_of_memory = true;
            return;
        }
        report->violation = grown;
        report->room = room;
    }
    ckpd_violation *v = &report->violation[report->count++];
    memset(v, 0, sizeof *v);
    v->size = sizeof *v;
    v->kind = kind;
    v->job = job;
    v->slot = slot;
    v->amount = amount;
    ckpd__format(v->message, sizeof v->message, "%s", text);
}

void ckpd__report_overrun(ckpd_report *report, const ckpd_overrun *overrun)
{
    if (report->overruns == report->overrun_room) {
        int32_t room = 2 * report->overrun_room + 8;
        ckpd_overrun *grown =
            ckpd__realloc(report->context, report->overrun, (size_t)room, sizeof *grown);
        if (grown == NULL) {
            report->out_of_memory = true;
            return;
        }
        report->overrun = grown;
        report->overrun_room = room;
    }
    report->overrun[report->overruns++] = *overrun;
}

void ckpd_report_free(ckpd_report *report)
{
    CKPD__NULL_IF_FOREIGN(report, CKPD__REPORT);
    if (report != NULL) {
        ckpd_context *context = report->context;
        ckpd__free(context, report->violation);
        ckpd__free(context, report->overrun);
        ckpd__handle_end(report);
    }
}

int32_t ckpd_report_violation_count(const ckpd_report *report)
{
    CKPD__NULL_IF_FOREIGN(report, CKPD__REPORT);
    return report != NULL ? report->count : 0;
}

int32_t ckpd_report_get_violation(const ckpd_report *report, int32_t index, ckpd_violation *out)
{
    CKPD__REFUSE_FOREIGN(NULL, report, CKPD__REPORT);
    if (report == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (index < 0 || index >= report->count) {
        return CKPD_ERR_RANGE;
    }
    return CKPD__STRUCT_OUT(NULL, violation, out, &report->violation[index]);
}

int32_t ckpd_report_overrun_count(const ckpd_report *report)
{
    CKPD__NULL_IF_FOREIGN(report, CKPD__REPORT);
    return report != NULL ? report->overruns : 0;
}

int32_t ckpd_report_get_overrun(const ckpd_report *report, int32_t index, ckpd_overrun *out)
{
    CKPD__REFUSE_FOREIGN(NULL, report, CKPD__REPORT);
    if (report == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (index < 0 || index >= report->overruns) {
        return CKPD_ERR_RANGE;
    }
    return CKPD__STRUCT_OUT(NULL, overrun, out, &report->overrun[index]);
}

int32_t ckpd_report_get(const ckpd_report *report, const char *name, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, report, CKPD__REPORT);
    return report == NULL ? CKPD_ERR_ARGUMENT
                          : ckpd__fields_get(NULL, &figure_table, report->figure, name, value);
}

int32_t ckpd_report_field_count(void)
{
    return figure_table.count;
}

int32_t ckpd_report_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &figure_table, index, out);
}
