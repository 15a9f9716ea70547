/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a graph refuses, with the numbers in the message, and its options. */
#include "unit/graph/small_job.h"

START_TEST(bad_jobs_are_refused)
{
    const double hours[] = {1.0, 2.0};
    ckpd_graph *graph = NULL;
    ckpd__graph_spec good = spec_of(4, 3, 2, hours);
    ckpd__graph_spec spec = good;
    spec.deadline = 5;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "deadline",
                 "deadline 5 is beyond the horizon of 4 slots");
    spec = good;
    spec.release = 4;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "release",
                 "release 4 is not before deadline 4");
    spec = good;
    spec.segments = 0;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "segments",
                 "at least 1");
    spec = good;
    spec.start_segments = 4;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "start_segments", "4");
    spec = good;
    spec.slots = 0;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "slots", "0 slots");
    spec = good;
    spec.slot_hours = 0;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "slot_hours", "below");
    spec = good;
    spec.modes = 0;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_NO_MODE, "modes", "no mode");
    spec = good;
    spec.work = 0;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "work", "not positive");
    spec = good;
    spec.running = 0;
    spec.running_segments = 1;
    spec.release = 1;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_INCONSISTENT, "release",
                 "released at 1");
    ck_assert_ptr_null(graph);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    /* a year of five-minute slots is fine, a million segments are not */
    const double hours[] = {300.0};
    const double tiny[] = {0.5};
    ckpd__graph_spec spec = spec_of(100000, 200, 1, hours);
    ckpd_graph *graph = make(&spec);
    ck_assert(graph->has_path);
    ck_assert_int_eq(graph->moves.count, 1);
    ckpd_graph_free(graph);
    spec = spec_of(100000, 1000000, 1, tiny);
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "segments",
                 "use fewer segments");
}
END_TEST

START_TEST(options_are_fields)
{
    ckpd_graph_options *options = NULL;
    double value = 0;
    const uint8_t allowed[] = {1, 0, 0, 1};
    ck_assert_int_eq(ckpd_graph_options_new(&options, context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_get(options, "reduce", &value), CKPD_OK);
    ck_assert_double_eq(value, 1);
    expect_error(ckpd_graph_options_set(options, "reduced", 1), CKPD_ERR_UNKNOWN_NAME, "reduced",
                 "reduce");
    expect_error(ckpd_graph_options_set(options, "checkpoint_save_share", 1), CKPD_ERR_RANGE,
                 "checkpoint_save_share", "0.99");
    expect_error(ckpd_graph_options_set_text(options, "last_slot_power", "full"),
                 CKPD_ERR_UNKNOWN_NAME, "last_slot_power", "occupied|prorated");
    ck_assert_int_eq(ckpd_graph_options_set_text(options, "last_slot_power", "prorated"), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, 2, allowed), CKPD_OK);
    ck_assert_int_eq(options->allowed[2], 0);
    expect_error(ckpd_graph_options_set_transitions(options, 0, allowed), CKPD_ERR_RANGE, "modes",
                 "0");
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, 0, NULL), CKPD_OK);
    ck_assert_ptr_null(options->allowed);
    ck_assert_int_eq(ckpd_graph_options_field_count(), CKPD__GRAPH_FIELDS);
    ckpd_graph_options_free(options);
    ckpd_graph_options_free(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {bad_jobs_are_refused, absurd_sizes_are_refused,
                                  options_are_fields, NULL};
    return run_graph_tests("graph/input", tests);
}
