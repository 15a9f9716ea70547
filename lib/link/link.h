/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef CKPD_LIB_LINK_H
#define CKPD_LIB_LINK_H

#include "base/base.h"
#include "base/fields.h"

#include <ckptdispatch/link.h>

enum {
    LINK_PUE,
    LINK_FALL_S,
    LINK_RISE_S,
    LINK_SHIFT_MAX_S,
    LINK_SHIFT_STEP_S,
    LINK_SETTLE_S,
    LINK_FILLABLE_W,
    LINK_PRICE_PER_MW,
    LINK_WEAR_PER_MWH,
    LINK_FIELDS
};

/* Checkpoints of one job, by mode. */
typedef struct ckpd__link_job {
    char *name;
    int32_t modes;
    double *number; /* [3][modes]: depth_w, duration_s, interval_s */
} ckpd__link_job;

struct ckpd_link {
    CKPD__HANDLE;
    double values[LINK_FIELDS];
    int32_t jobs;
    ckpd__link_job *job;
    double slot_hours; /* of the graphs that are priced */
};

static inline double ckpd__link_depth_w(const ckpd__link_job *job, int32_t mode)
{
    return job->number[mode];
}

static inline double ckpd__link_duration_s(const ckpd__link_job *job, int32_t mode)
{
    return job->number[job->modes + mode];
}

static inline double ckpd__link_interval_s(const ckpd__link_job *job, int32_t mode)
{
    return job->number[2 * job->modes + mode];
}

/* Saves in a step of this length, at least one. */
int32_t ckpd__link_saves(const ckpd__link_job *job, int32_t mode, double length_s);

#endif
