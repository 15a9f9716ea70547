/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/handles.h"

#include <ckptdispatch/dispatch.h>
#include <ckptdispatch/graph.h>
#include <ckptdispatch/modes.h>
#include <ckptdispatch/series.h>
#include <ckptdispatch/site.h>
#include <ckptdispatch/task.h>
#include <math.h>
#include <string.h>

/* The typed functions of a handle behind untyped ones; calling through a cast pointer would be
 * undefined. */
#define NUMBERS(handle)                                                           \
    static int32_t handle##_set(void *it, const char *field, double value)        \
    {                                                                             \
        return ckpd_##handle##_set(it, field, value);                             \
    }                                                                             \
    static int32_t handle##_get(const void *it, const char *field, double *value) \
    {                                                                             \
        return ckpd_##handle##_get(it, field, value);                             \
    }
#define CHOICES(handle)                                                             \
    static int32_t handle##_set_text(void *it, const char *field, const char *text) \
    {                                                                               \
        return ckpd_##handle##_set_text(it, field, text);                           \
    }

NUMBERS(task)
CHOICES(task)
NUMBERS(hardware)
CHOICES(hardware)
NUMBERS(mode_rules)
NUMBERS(graph_options)
CHOICES(graph_options)
NUMBERS(checkpoint)
CHOICES(checkpoint)
NUMBERS(battery)
CHOICES(battery)
NUMBERS(solve_options)
CHOICES(series_options)
static int32_t series_options_set(void *it, const char *field, double value)
{
    return ckpd_series_options_set(it, field, value);
}

const ckpd__handle_type ckpd__task_type = {"task",   ckpd_task_field_count, ckpd_task_field_info,
                                           task_set, task_set_text,         task_get};
const ckpd__handle_type ckpd__hardware_type = {
    "hardware",   ckpd_hardware_field_count, ckpd_hardware_field_info,
    hardware_set, hardware_set_text,         hardware_get};
const ckpd__handle_type ckpd__rules_type = {
    "mode rules",  ckpd_mode_rules_field_count, ckpd_mode_rules_field_info, mode_rules_set, NULL,
    mode_rules_get};
const ckpd__handle_type ckpd__graph_type = {
    "graph options",   ckpd_graph_options_field_count, ckpd_graph_options_field_info,
    graph_options_set, graph_options_set_text,         graph_options_get};
const ckpd__handle_type ckpd__checkpoint_type = {
    "checkpoint",   ckpd_checkpoint_field_count, ckpd_checkpoint_field_info,
    checkpoint_set, checkpoint_set_text,         checkpoint_get};
const ckpd__handle_type ckpd__battery_type = {
    "battery",   ckpd_battery_field_count, ckpd_battery_field_info,
    battery_set, battery_set_text,         battery_get};
const ckpd__handle_type ckpd__solve_type = {"solve options",
                                            ckpd_solve_options_field_count,
                                            ckpd_solve_options_field_info,
                                            solve_options_set,
                                            NULL,
                                            solve_options_get};
const ckpd__handle_type ckpd__series_type = {
    "site", ckpd_site_series_count, ckpd_site_series_info, NULL, NULL, NULL};

const ckpd__handle_type ckpd__series_options_type = {
    "series file",      ckpd_series_options_field_count, ckpd_series_options_field_info,
    series_options_set, series_options_set_text,         NULL};

bool ckpd__handle_find(const ckpd__handle_type *type, const char *name, ckpd_field_info *out)
{
    int32_t count = type->count();
    for (int32_t i = 0; i < count; i++) {
        memset(out, 0, sizeof *out);
        out->size = sizeof *out;
        if (type->info(i, out) == CKPD_OK && strcmp(out->name, name) == 0) {
            return true;
        }
    }
    return false;
}

void ckpd__choice_text(const char *choices, double position, char *buffer, size_t size)
{
    const char *at = choices;
    for (double i = 0; at != NULL && i < position; i++) {
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    size_t length = at != NULL && position >= 0 ? strcspn(at, "|") : 0;
    length = length < size ? length : size - 1;
    if (length > 0) {
        memcpy(buffer, at, length);
    }
    buffer[length] = '\0';
}
