/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A small job and its graph, for the tests of this folder: one context per test. */
#ifndef TESTS_UNIT_GRAPH_SMALL_JOB_H
#define TESTS_UNIT_GRAPH_SMALL_JOB_H

#include "graph/graph.h"
#include "support/support.h"

#include <string.h>

static ckpd_context *context;

static inline void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static inline void teardown(void)
{
    ckpd_context_free(context);
}

static inline void expect_error(int32_t status, int32_t code, const char *field, const char *part)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_msg(status == code, "%d, not %d: %s", status, code, error.message);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, part) != NULL, "'%s' lacks '%s'", error.message, part);
}

enum { MOST_MODES = 3 };
static ckpd_mode modes[MOST_MODES];

/* A job whose segment takes hours[m] hours in mode m. */
static inline ckpd__graph_spec spec_of(int32_t slots, int32_t segments, int32_t count,
                                       const double *hours)
{
    for (int32_t m = 0; m < count; m++) {
        modes[m] = (ckpd_mode){.size = sizeof modes[m],
                               .gpus = 8 * (m + 1),
                               .rate = 1.0 / hours[m],
                               .power_kw = 10.0 * (m + 1),
                               .idle_power_kw = 2.0 * (m + 1)};
    }
    return (ckpd__graph_spec){.name = "job",
                              .slots = slots,
                              .deadline = slots,
                              .segments = segments,
                              .slot_hours = 1,
                              .work = 3600.0 * segments,
                              .modes = count,
                              .running = -1,
                              .mode = modes,
                              .reduce = 1};
}

static inline ckpd_graph *make(const ckpd__graph_spec *spec)
{
    ckpd_graph *graph = NULL;
    int32_t status = ckpd__graph_make(&graph, context, spec);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return graph;
}

static inline int run_graph_tests(const char *name, const TTest *const *tests)
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, setup, teardown);
    for (int i = 0; tests[i] != NULL; i++) {
        tcase_add_test(tc, tests[i]);
    }
    suite_add_tcase(suite, tc);
    return test_run(suite);
}

#endif
