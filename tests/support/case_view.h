/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Neutral golden cases (../shared/cases) as path views, for tests and benchmarks of solvers. */
#ifndef CKPD_TESTS_CASE_VIEW_H
#define CKPD_TESTS_CASE_VIEW_H

#include <ckptdispatch/backend.h>

typedef struct case_options {
    int32_t repeat;   /* each value of the series counts for this many slots; 0 means 1 */
    int32_t segments; /* 0: as in the file */
    int32_t storage;  /* 1: with the battery */
    int32_t slotwise; /* 1: scenario S3 */
} case_options;

typedef struct case_view {
    ckpd_path_view view;
    void **blocks;
    size_t count;
} case_view;

/* Reads a case; 0 when the file is not there or is not a case. */
int case_view_read(case_view *out, const char *file, const case_options *options);
void case_view_free(case_view *view);
/* Zero-filled array that lives as long as the view. Ends the program when out of memory. */
void *case_view_alloc(case_view *view, size_t count, size_t bytes);
/* Opens the nodes between source and sinks. `open` is [states][slots + 1][segments + 1], filled. */
void case_view_open_nodes(const ckpd_path_job *job, int32_t slots, uint8_t *open);
/* A plan with arrays for the view. */
ckpd_path_plan *case_view_plan(case_view *view);

#endif
