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

/* A mode set made before the task said what runs would be planned as if nothing ran. */
START_TEST(modes_of_an_earlier_task_are_refused)
{
    const int32_t gpus[] = {8, 16};
    const double rate[] = {1, 2}, power[] = {5, 10};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 2,
                                   .installed_gpus = 16,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power};
    ckpd_task *task = NULL;
    ckpd_mode_set *before = NULL, *after = NULL;
    ckpd_graph *graph = NULL;
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_baseline_hours", 4), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "segments", 2), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_from_table(&before, context, task, &table), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "running_mode", 1), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "running_slots_done", 0), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "running_segments", 1), CKPD_OK);
    expect_error(ckpd_graph_build(&graph, context, task, before, 8, 1.0, NULL),
                 CKPD_ERR_INCONSISTENT, "running_mode", "make the mode set again");
    ck_assert_ptr_null(graph);
    ck_assert_msg(ckpd_mode_set_from_table(&after, context, task, &table) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_graph_build(&graph, context, task, after, 8, 1.0, NULL), CKPD_OK);
    ckpd_graph_free(graph);
    ckpd_mode_set_free(after);
    ckpd_mode_set_free(before);
    ckpd_task_free(task);
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
    const TTest *const tests[] = {bad_jobs_are_refused, modes_of_an_earlier_task_are_refused,
                                  absurd_sizes_are_refused, options_are_fields, NULL};
    return run_graph_tests("graph/input", tests);
}
