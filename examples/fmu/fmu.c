/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * An FMI 2.0 co-simulation FMU of the planner. A master sets the measured state (measured = true)
 * and the forecasts, steps one slot, and reads the set-points of that slot. With measured = false
 * the FMU follows its own plan. Variables and their value references: variables.h; the description
 * is written by describe.py from the same file. Each instance has its own context, whose memory
 * comes from the master.
 */
#include "fmi2.h"
#include "planner.h"
#include "variables.h"

#include "guid.h" /* FMU_GUID, made by describe.py */
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_PATH = 4096 };

typedef enum { INSTANTIATED, INITIALIZING, STEPPING, TERMINATED, BROKEN } phase;

typedef struct instance {
    fmi2CallbackFunctions callback;
    char *name;
    char own_case[LONGEST_PATH], case_path[LONGEST_PATH];
    phase phase;
    int32_t logging;
    int32_t measured;
    double time_s;
    planner planner;
    int32_t open;
} instance;

static void say(const instance *c, fmi2Status status, const char *text)
{
    if (c->callback.logger != NULL && (status >= fmi2Discard || c->logging)) {
        c->callback.logger(c->callback.componentEnvironment, c->name, status,
                           status >= fmi2Error     ? "logStatusError"
                           : status >= fmi2Discard ? "logStatusDiscard"
                                                   : "logAll",
                           "%s", text);
    }
}

static fmi2Status refuse(const instance *c, fmi2Status status, const char *text)
{
    say(c, status, text);
    return status;
}

static void on_log(int32_t level, int32_t code, const char *message, void *user)
{
    (void)code;
    say(user, level <= CKPD_LOG_WARNING ? fmi2Warning : fmi2OK, message);
}

/* The master's memory, with the size in front: FMI has no realloc. */
typedef union block {
    size_t bytes;
    max_align_t align;
} block;

static void *take(size_t bytes, void *user)
{
    const instance *c = user;
    block *made = bytes < SIZE_MAX - sizeof(block)
                      ? c->callback.allocateMemory(1, sizeof(block) + bytes)
                      : NULL;
    if (made == NULL) {
        return NULL;
    }
    made->bytes = bytes;
    return made + 1;
}

static void give(void *pointer, void *user)
{
    const instance *c = user;
    c->callback.freeMemory((block *)pointer - 1);
}

static void *retake(void *pointer, size_t bytes, void *user)
{
    void *grown = take(bytes, user);
    if (grown != NULL && pointer != NULL) {
        size_t before = ((block *)pointer - 1)->bytes;
        memcpy(grown, pointer, before < bytes ? before : bytes);
        give(pointer, user);
    }
    return grown;
}

/* --- life ------------------------------------------------------------------------------------- */

/* "file:///a%20b" and plain paths. */
static int resource_path(const char *uri, const char *file, char *path, size_t size)
{
    const char *from = strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
    from = strncmp(from, "localhost/", 10) == 0 ? from + 9 : from;
    size_t n = 0;
    for (; *from != '\0' && n + 1 < size; from++) {
        unsigned code;
        if (from[0] == '%' && sscanf(from + 1, "%2x", &code) == 1) {
            path[n++] = (char)code;
            from += 2;
        } else {
            path[n++] = *from;
        }
    }
    while (n > 0 && path[n - 1] == '/') {
        n--;
    }
    int written = snprintf(path + n, size - n, "/%s", file);
    return *from == '\0' && written > 0 && (size_t)written < size - n;
}

FMI2_EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

FMI2_EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}

FMI2_EXPORT void fmi2FreeInstance(fmi2Component component)
{
    instance *c = component;
    if (c == NULL) {
        return;
    }
    planner_close(&c->planner);
    ckpd_context_free(c->planner.context);
    void (*release)(void *) = c->callback.freeMemory;
    release(c->name);
    release(c);
}

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid,
                                          fmi2String resources,
                                          const fmi2CallbackFunctions *functions,
                                          fmi2Boolean visible, fmi2Boolean logging)
{
    (void)visible;
    if (functions == NULL || functions->allocateMemory == NULL || functions->freeMemory == NULL) {
        return NULL;
    }
    const instance told = {.callback = *functions, .name = (char *)(name != NULL ? name : "")};
    if (name == NULL || name[0] == '\0' || type != fmi2CoSimulation || guid == NULL ||
        strcmp(guid, FMU_GUID) != 0 || resources == NULL) {
        say(&told, fmi2Error,
            guid != NULL && strcmp(guid, FMU_GUID) != 0
                ? "the GUID is not that of this FMU"
                : "a name, co-simulation and a place for the resources are needed");
        return NULL;
    }
    instance *c = functions->allocateMemory(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->callback = *functions;
    c->logging = logging != fmi2False;
    c->name = functions->allocateMemory(strlen(name) + 1, 1);
    const ckpd_allocator memory = {
        .size = sizeof memory, .malloc_fn = take, .realloc_fn = retake, .free_fn = give, .user = c};
    if (c->name == NULL ||
        !resource_path(resources, "case.json", c->own_case, sizeof c->own_case) ||
        ckpd_context_new(&c->planner.context, &memory) != CKPD_OK) {
        say(&told, fmi2Error, "out of memory, or the resources lie too deep");
        if (c->name != NULL) {
            functions->freeMemory(c->name);
        }
        functions->freeMemory(c);
        return NULL;
    }
    strcpy(c->name, name);
    strcpy(c->case_path, c->own_case);
    ckpd_context_set_log(c->planner.context, CKPD_LOG_INFO, on_log, c);
    return c;
}

static fmi2Status open_case(instance *c)
{
    ckpd_context *context = c->planner.context;
    const int32_t status = planner_open(&c->planner, context, c->case_path);
    c->open = status == CKPD_OK;
    if (!c->open) {
        c->phase = BROKEN;
        say(c, fmi2Error, planner_message(&c->planner));
        planner_close(&c->planner);
        return fmi2Error;
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count,
                                           const fmi2String categories[])
{
    (void)count, (void)categories;
    ((instance *)component)->logging = on != fmi2False;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance,
                                           fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop,
                                           fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    instance *c = component;
    if (c->phase != INSTANTIATED) {
        return refuse(c, fmi2Error, "fmi2SetupExperiment comes before the initialization");
    }
    c->time_s = start;
    return c->open ? fmi2OK : open_case(c);
}

FMI2_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    instance *c = component;
    if (c->phase != INSTANTIATED) {
        return refuse(c, fmi2Error, "fmi2EnterInitializationMode is called a second time");
    }
    if (!c->open && open_case(c) != fmi2OK) {
        return fmi2Error;
    }
    c->phase = INITIALIZING;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    instance *c = component;
    if (c->phase != INITIALIZING) {
        return refuse(c, fmi2Error, "fmi2ExitInitializationMode without entering it");
    }
    c->phase = STEPPING;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2Terminate(fmi2Component component)
{
    instance *c = component;
    if (c->phase != STEPPING) {
        return refuse(c, fmi2Error, "fmi2Terminate of an FMU that does not run");
    }
    c->phase = TERMINATED;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2Reset(fmi2Component component)
{
    instance *c = component;
    c->measured = 0;
    c->time_s = 0;
    planner_close(&c->planner);
    c->open = 0;
    strcpy(c->case_path, c->own_case);
    c->phase = INSTANTIATED;
    return fmi2OK;
}

/* --- the step --------------------------------------------------------------------------------- */

FMI2_EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time_s, fmi2Real step_s,
                                  fmi2Boolean no_set_state)
{
    (void)no_set_state;
    instance *c = component;
    if (c->phase != STEPPING) {
        return refuse(c, fmi2Error, "fmi2DoStep outside of a simulation");
    }
    const double slot_s = c->planner.slot_hours * 3600;
    const double slot = time_s / slot_s;
    if (fabs(slot - round(slot)) > 1e-6 || fabs(step_s / slot_s - 1) > 1e-6) {
        return refuse(c, fmi2Error, "a step is one slot of the case and begins at its boundary");
    }
    if (slot < -1e-6 || round(slot) >= c->planner.slots) {
        return refuse(c, fmi2Discard, "the horizon of the case is over");
    }
    const int32_t status = planner_plan(&c->planner, (int32_t)round(slot));
    if (status != CKPD_OK) {
        c->phase = BROKEN;
        return refuse(c, fmi2Error, planner_message(&c->planner));
    }
    if (!c->measured) {
        planner_follow(&c->planner);
    }
    c->time_s = time_s + step_s;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2CancelStep(fmi2Component component)
{
    return refuse(component, fmi2Error, "steps are not asynchronous");
}

/* --- variables -------------------------------------------------------------------------------- */

static fmi2Status unknown(const instance *c, fmi2ValueReference reference)
{
    char text[80];
    snprintf(text, sizeof text, "no such variable, or not open yet: value reference %u", reference);
    return refuse(c, fmi2Error, text);
}

/* Where a real variable lives; NULL when there is none. Outputs are found for reading only. */
static double *real_at(instance *c, fmi2ValueReference reference, int writing)
{
    planner *p = &c->planner;
    const unsigned group = reference / VR_GROUP, index = reference % VR_GROUP;
    if (!c->open) {
        return NULL;
    }
    if (group == VR_WIND || group == VR_SOLAR || group == VR_PRICE) {
        return index < (unsigned)p->slots ? &p->forecast[group - VR_WIND][index] : NULL;
    }
    switch (reference) {
    case VR_SOC:
        return &p->soc_kwh;
    case VR_GAP_TARGET:
        return &p->relative_gap;
    default:
        break;
    }
    if (writing) {
        return NULL;
    }
    switch (reference) {
    case VR_GRID:
        return &p->grid_kw;
    case VR_BATTERY:
        return &p->battery_kw;
    case VR_COST:
        return &p->cost;
    case VR_GAP:
        return &p->gap;
    default:
        return group == VR_JOB_POWER && index < (unsigned)p->jobs ? &p->order[index].power_kw
                                                                  : NULL;
    }
}

static int32_t *integer_at(instance *c, fmi2ValueReference reference, int writing)
{
    planner *p = &c->planner;
    const unsigned group = reference / VR_GROUP, index = reference % VR_GROUP;
    if (!c->open || index >= (unsigned)p->jobs) {
        return NULL;
    }
    switch (group) {
    case VR_JOB_DONE:
        return &p->job[index].segments_done;
    case VR_JOB_RUNS:
        return &p->job[index].mode;
    case VR_JOB_RUNS_SLOTS:
        return &p->job[index].slots_done;
    case VR_JOB_RUNS_SEGMENTS:
        return &p->job[index].segments_running;
    case VR_JOB_MODE:
        return writing ? NULL : &p->order[index].mode;
    case VR_JOB_GPUS:
        return writing ? NULL : &p->order[index].gpus;
    default:
        return NULL;
    }
}

FMI2_EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[],
                                   size_t count, fmi2Real value[])
{
    for (size_t i = 0; i < count; i++) {
        const double *at = real_at(component, vr[i], 0);
        if (at == NULL) {
            return unknown(component, vr[i]);
        }
        value[i] = *at;
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[],
                                   size_t count, const fmi2Real value[])
{
    instance *c = component;
    if (c->phase == INSTANTIATED && !c->open && open_case(c) != fmi2OK) {
        return fmi2Error;
    }
    for (size_t i = 0; i < count; i++) {
        double *at = real_at(c, vr[i], 1);
        if (at == NULL) {
            return unknown(c, vr[i]);
        }
        if (!isfinite(value[i])) {
            return refuse(c, fmi2Error, "an input is NaN or infinite");
        }
        *at = value[i];
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference vr[],
                                      size_t count, fmi2Integer value[])
{
    for (size_t i = 0; i < count; i++) {
        const int32_t *at = integer_at(component, vr[i], 0);
        if (at == NULL) {
            return unknown(component, vr[i]);
        }
        value[i] = *at;
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference vr[],
                                      size_t count, const fmi2Integer value[])
{
    instance *c = component;
    if (c->phase == INSTANTIATED && !c->open && open_case(c) != fmi2OK) {
        return fmi2Error;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t *at = integer_at(c, vr[i], 1);
        if (at == NULL) {
            return unknown(c, vr[i]);
        }
        *at = value[i];
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference vr[],
                                      size_t count, fmi2Boolean value[])
{
    for (size_t i = 0; i < count; i++) {
        if (vr[i] != VR_MEASURED) {
            return unknown(component, vr[i]);
        }
        value[i] = ((instance *)component)->measured;
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference vr[],
                                      size_t count, const fmi2Boolean value[])
{
    for (size_t i = 0; i < count; i++) {
        if (vr[i] != VR_MEASURED) {
            return unknown(component, vr[i]);
        }
        ((instance *)component)->measured = value[i] != fmi2False;
    }
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference vr[],
                                     size_t count, fmi2String value[])
{
    for (size_t i = 0; i < count; i++) {
        if (vr[i] != VR_CASE) {
            return unknown(component, vr[i]);
        }
        value[i] = ((instance *)component)->case_path;
    }
    return fmi2OK;
}

/* Another case of the same shape: before anything else is set. "" keeps the one inside the FMU. */
FMI2_EXPORT fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference vr[],
                                     size_t count, const fmi2String value[])
{
    instance *c = component;
    for (size_t i = 0; i < count; i++) {
        if (vr[i] != VR_CASE) {
            return unknown(c, vr[i]);
        }
        if (value[i] == NULL || value[i][0] == '\0') {
            continue;
        }
        if (c->open || strlen(value[i]) >= sizeof c->case_path) {
            return refuse(c, fmi2Error, "the case is set before every other variable");
        }
        strcpy(c->case_path, value[i]);
    }
    return fmi2OK;
}

/* --- what this FMU does not have -------------------------------------------------------------- */

#define NOT_SUPPORTED(name, ...)                                        \
    FMI2_EXPORT fmi2Status name(fmi2Component component, __VA_ARGS__)   \
    {                                                                   \
        return refuse(component, fmi2Error, #name " is not supported"); \
    }
/* The names of the arguments do not matter to a function that refuses. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOT_SUPPORTED(fmi2GetFMUstate, fmi2FMUstate *state)
NOT_SUPPORTED(fmi2SetFMUstate, fmi2FMUstate state)
NOT_SUPPORTED(fmi2FreeFMUstate, fmi2FMUstate *state)
NOT_SUPPORTED(fmi2SerializedFMUstateSize, fmi2FMUstate state, size_t *size)
NOT_SUPPORTED(fmi2SerializeFMUstate, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
NOT_SUPPORTED(fmi2DeSerializeFMUstate, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
NOT_SUPPORTED(fmi2GetDirectionalDerivative, const fmi2ValueReference unknowns[], size_t rows,
              const fmi2ValueReference knowns[], size_t columns, const fmi2Real by[],
              fmi2Real out[])
NOT_SUPPORTED(fmi2SetRealInputDerivatives, const fmi2ValueReference vr[], size_t count,
              const fmi2Integer order[], const fmi2Real value[])
NOT_SUPPORTED(fmi2GetRealOutputDerivatives, const fmi2ValueReference vr[], size_t count,
              const fmi2Integer order[], fmi2Real value[])
NOT_SUPPORTED(fmi2GetStatus, fmi2StatusKind kind, fmi2Status *value)
NOT_SUPPORTED(fmi2GetIntegerStatus, fmi2StatusKind kind, fmi2Integer *value)
NOT_SUPPORTED(fmi2GetStringStatus, fmi2StatusKind kind, fmi2String *value)

FMI2_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component component, fmi2StatusKind kind,
                                         fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime) {
        return refuse(component, fmi2Discard, "no such status");
    }
    *value = ((instance *)component)->time_s;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component component, fmi2StatusKind kind,
                                            fmi2Boolean *value)
{
    const instance *c = component;
    if (kind != fmi2Terminated) {
        return refuse(c, fmi2Discard, "no such status");
    }
    *value = c->open && c->time_s >= c->planner.slots * c->planner.slot_hours * 3600 - 1e-6;
    return fmi2OK;
}
