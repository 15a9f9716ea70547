/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Value references: single variables, and groups of one per slot or job, group * VR_GROUP + index.
 * describe.py reads this file.
 */
#ifndef CKPTDISPATCH_EXAMPLES_VARIABLES_H
#define CKPTDISPATCH_EXAMPLES_VARIABLES_H

enum {
    VR_SOC = 0,
    VR_GAP_TARGET = 1,
    VR_MEASURED = 2,
    VR_CASE = 3,
    VR_GRID = 10,
    VR_BATTERY = 11,
    VR_COST = 12,
    VR_GAP = 13,
    VR_GROUP = 1000,
    VR_WIND = 1,
    VR_SOLAR = 2,
    VR_PRICE = 3,
    VR_JOB_POWER = 4,
    VR_JOB_DONE = 5,
    VR_JOB_RUNS = 6,
    VR_JOB_RUNS_SLOTS = 7,
    VR_JOB_RUNS_SEGMENTS = 8,
    VR_JOB_MODE = 9,
    VR_JOB_GPUS = 10
};

#endif
