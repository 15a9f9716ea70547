/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The part of the C interface of FMI 2.0 for co-simulation (fmi-standard.org) that this FMU needs:
 * types, status codes and callbacks with the sizes and numbers the standard fixes for its default
 * platform. Written for this example; it replaces the standard's headers where they are not at
 * hand.
 */
#ifndef CKPTDISPATCH_EXAMPLES_FMI2_H
#define CKPTDISPATCH_EXAMPLES_FMI2_H

#include <stddef.h>

#define FMI2_EXPORT __attribute__((visibility("default")))

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
enum { fmi2False = 0, fmi2True = 1 };

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;

typedef struct fmi2CallbackFunctions {
    void (*logger)(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                   fmi2String category, fmi2String message, ...);
    void *(*allocateMemory)(size_t count, size_t bytes); /* cleared */
    void (*freeMemory)(void *block);
    void (*stepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

#endif
