/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Training power events: a trapezoid of missing power, optionally with the trace that really ran.
 */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

static const double INF = (double)INFINITY;

static const ckpd__field event_field[EVENT_FIELDS] = {
    {"onset_s", "s", "start of the power drop", CKPD_FIELD_NUMBER, 1, -1e9, 1e9, NAN, NULL},
    {"duration_s", "s", "from onset to recovery", CKPD_FIELD_NUMBER, 1, 1e-3, 86400.0, NAN, NULL},
    {"depth_w", "W", "power missing at full depth", CKPD_FIELD_NUMBER, 1, 0.0, 1e12, NAN, NULL},
    {"fall_s", "s", "length of the drop", CKPD_FIELD_NUMBER, 0, 0.0, 3600.0, 0.5, NULL},
    {"rise_s", "s", "length of the return", CKPD_FIELD_NUMBER, 0, 0.0, 3600.0, 1.0, NULL},
    {"depth_error_w", "W", "half width of the uncertainty of the depth", CKPD_FIELD_NUMBER, 0, 0.0,
     1e12, 0.0, NULL},
    {"onset_error_s", "s", "half width of the uncertainty of the onset", CKPD_FIELD_NUMBER, 0, 0.0,
     3600.0, 0.0, NULL},
    {"kind", "", "full or differential checkpoint", CKPD_FIELD_CHOICE, 0, 0.0, 1.0, 0.0,
     "full|differential"},
};
const ckpd__field_table ckpd__event_fields = {"power event", event_field, EVENT_FIELDS};

int32_t ckpd_power_event_new(ckpd_power_event **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (out == NULL || context == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(context, "out");
    }
    ckpd_power_event *event = ckpd__calloc(context, 1, sizeof *event);
    if (event == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(event, CKPD__POWER_EVENT, context);
    ckpd__fields_defaults(&ckpd__event_fields, event->values);
    *out = event;
    return CKPD_OK;
}

void ckpd_power_event_free(ckpd_power_event *event)
{
    CKPD__NULL_IF_FOREIGN(event, CKPD__POWER_EVENT);
    if (event == NULL) {
        return;
    }
    ckpd_context *context = event->context;
    ckpd__free(context, event->trace_s);
    ckpd__handle_end(event);
}

int32_t ckpd_power_event_set(ckpd_power_event *event, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, event, CKPD__POWER_EVENT);
    return event == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(event->context, &ckpd__event_fields, event->values, field, value);
}

int32_t ckpd_power_event_set_text(ckpd_power_event *event, const char *field, const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, event, CKPD__POWER_EVENT);
    return event == NULL ? CKPD_ERR_ARGUMENT
                         : ckpd__fields_set_text(event->context, &ckpd__event_fields, event->values,
                                                 field, text);
}

int32_t ckpd_power_event_get(const ckpd_power_event *event, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, event, CKPD__POWER_EVENT);
    return event == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(event->context, &ckpd__event_fields, event->values, field, value);
}

int32_t ckpd_power_event_field_count(void)
{
    return EVENT_FIELDS;
}

int32_t ckpd_power_event_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__event_fields, index, out);
}

int32_t ckpd_power_event_set_trace(ckpd_power_event *event, int32_t count, const double *since_s,
                                   const double *deficit_w)
{
    CKPD__REFUSE_FOREIGN(NULL, event, CKPD__POWER_EVENT);
    if (event == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = event->context;
    double *trace = NULL;
    if (count != 0) {
        if (since_s == NULL || deficit_w == NULL) {
            return ckpd__null_argument(context, since_s == NULL ? "since_s" : "deficit_w");
        }
        if (count < 2) {
            return ckpd__fail(context, CKPD_ERR_LENGTH, "trace", -1, (double)count,
                              "power event: a trace needs at least 2 points, not %d", count);
        }
        int32_t status = ckpd__check_series(context, "since_s", since_s, count, -1e9, 1e9);
        if (status == CKPD_OK) {
            status = ckpd__check_series(context, "deficit_w", deficit_w, count, -1e12, 1e12);
        }
        if (status != CKPD_OK) {
            return status;
        }
        for (int32_t i = 1; i < count; i++) {
            if (since_s[i] <= since_s[i - 1]) {
                return ckpd__fail(
                    context, CKPD_ERR_INCONSISTENT, "since_s", i, since_s[i],
                    "power event: trace times must ascend, but point %d is at %g s after %g s", i,
                    since_s[i], since_s[i - 1]);
            }
        }
        trace = ckpd__calloc(context, 2 * (size_t)count, sizeof *trace);
        if (trace == NULL) {
            return ckpd__no_memory(context);
        }
        memcpy(trace, since_s, (size_t)count * sizeof *trace);
        memcpy(trace + count, deficit_w, (size_t)count * sizeof *trace);
    }
    ckpd__free(context, event->trace_s);
    event->trace_s = trace;
    event->trace_count = count;
    return CKPD_OK;
}

double ckpd__event_shape(const double *values, double since_s)
{
    double fall = values[EVENT_FALL_S], rise = values[EVENT_RISE_S],
           duration = values[EVENT_DURATION_S];
    if (since_s < 0.0 || since_s >= duration + rise) {
        return 0.0;
    }
    if (since_s <= duration) {
        return since_s >= fall ? 1.0 : since_s / fall;
    }
    /* A checkpoint shorter than its fall returns from the level that it reached. */
    double reached = duration >= fall ? 1.0 : duration / fall;
    return reached * (1.0 - (since_s - duration) / rise);
}

double ckpd_power_event_deficit_w(const ckpd_power_event *event, double time_s)
{
    CKPD__NULL_IF_FOREIGN(event, CKPD__POWER_EVENT);
    if (event == NULL || isnan(event->values[EVENT_ONSET_S]) ||
        isnan(event->values[EVENT_DURATION_S]) || isnan(event->values[EVENT_DEPTH_W])) {
        return (double)NAN;
    }
    if (!(time_s > -INF && time_s < INF)) {
        return isnan(time_s) ? (double)NAN : 0.0;
    }
    return event->values[EVENT_DEPTH_W] *
           ckpd__event_shape(event->values, time_s - event->values[EVENT_ONSET_S]);
}

int32_t ckpd__event_copy(ckpd_power_event **out, ckpd_context *context,
                         const ckpd_power_event *event)
{
    ckpd_power_event *copy;
    int32_t status = ckpd_power_event_new(&copy, context);
    if (status != CKPD_OK) {
        return status;
    }
    memcpy(copy->values, event->values, sizeof copy->values);
    if (event->trace_count > 0) {
        status = ckpd_power_event_set_trace(copy, event->trace_count, event->trace_s,
                                            event->trace_s + event->trace_count);
        if (status != CKPD_OK) {
            ckpd_power_event_free(copy);
            return status;
        }
    }
    *out = copy;
    return CKPD_OK;
}
