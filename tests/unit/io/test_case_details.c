/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What cases rarely say: rules for changes of mode, options of a series file, idle powers,
 * references of tasks. Graphs are compared with ones whose rule is written down here by hand.
 */
#include "support/sink.h"
#include "support/support.h"

#include <ckptdispatch/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

#define HEAD                                                                \
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": " \
    "\"n\", \"horizon\": {\"slots\": 8, \"slot_minutes\": 60},"

/* Three modes of one job; `more` are members of the job. */
static ckpd_case *three_modes(const char *more)
{
    char text[2000];
    ckpd_case *loaded = NULL;
    snprintf(text, sizeof text,
             HEAD
             " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 64},"
             " \"mode_rules\": {\"installed_gpus\": 64},"
             " \"jobs\": [{\"name\": \"A\", \"task\": {\"segments\": 3, \"baseline_gpus\": 8,"
             "   \"tranche_baseline_hours\": 6}, %s \"modes\": ["
             "   {\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4, \"label\": \"small\"},"
             "   {\"gpus\": 16, \"rate_per_s\": 1.9, \"power_kw\": 8, \"label\": \"middle\"},"
             "   {\"gpus\": 32, \"rate_per_s\": 3, \"power_kw\": 16, \"label\": \"large\"}]}]}",
             more);
    ck_assert_msg(ckpd_case_parse(&loaded, context, text, strlen(text), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    return loaded;
}

static ckpd_graph_counts counts_of(ckpd_graph *graph)
{
    ckpd_graph_counts counts = {.size = sizeof counts};
    ck_assert_int_eq(ckpd_graph_count(graph, &counts), CKPD_OK);
    ckpd_graph_free(graph);
    return counts;
}

/* The graph of the case is the one with this matrix, and not the free one. */
static void expect_rule(const ckpd_case *loaded, const uint8_t *allowed)
{
    ckpd_graph *ours = NULL, *by_hand = NULL, *any = NULL;
    ckpd_graph_options *options = NULL;
    const ckpd_task *task = ckpd_case_task(loaded, 0);
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, 0);
    int32_t count = ckpd_mode_set_count(modes);
    ck_assert_int_eq(ckpd_graph_options_new(&options, context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_build(&any, context, task, modes, 8, 1, options), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, count, allowed), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_build(&by_hand, context, task, modes, 8, 1, options), CKPD_OK);
    ck_assert_msg(ckpd_case_build_graph(&ours, loaded, 0) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ckpd_graph_options_free(options);
    ckpd_graph_counts a = counts_of(ours), b = counts_of(by_hand), free_one = counts_of(any);
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert_mem_ne(&a, &free_one, sizeof a);
}

START_TEST(no_change_of_mode)
{
    static const uint8_t allowed[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ckpd_case *loaded = three_modes("\"transitions\": \"none\",");
    expect_rule(loaded, allowed);
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(forbidden_pairs)
{
    static const uint8_t allowed[] = {1, 0, 1, 1, 1, 1, 0, 1, 1}; /* not 0 to 1, not 2 to 0 */
    ckpd_case *loaded = three_modes("\"forbidden_transitions\": [[\"small\", \"middle\"], "
                                    "[\"large\", \"small\"]],");
    expect_rule(loaded, allowed);
    ckpd_case_free(loaded);
}
END_TEST

/* LLaMA-65B in layouts of several tp and pp: only dp may change. */
START_TEST(changes_of_dp_alone)
{
    static const char text[] =
        HEAD " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 2048},"
             " \"hardware\": [{\"preset\": \"a100-80gb\"}],"
             " \"mode_rules\": {\"installed_gpus\": 2048, \"dp\": [16, 32], \"pp\": [8, 16]},"
             " \"jobs\": [{\"name\": \"A\", \"transitions\": \"same_tp_pp\", \"task\": {\"model\": "
             "\"llama-65b\", \"tranche_share\": 0.002, \"segments\": 2}}]}";
    ckpd_case *loaded = NULL;
    ck_assert_msg(ckpd_case_parse(&loaded, context, text, strlen(text), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, 0);
    int32_t count = ckpd_mode_set_count(modes), changes = 0, refused = 0;
    uint8_t *allowed = calloc((size_t)count * (size_t)count, 1);
    ck_assert_ptr_nonnull(allowed);
    for (int32_t i = 0; i < count * count; i++) {
        ckpd_mode from = {.size = sizeof from}, to = {.size = sizeof to};
        ck_assert_int_eq(ckpd_mode_set_get(modes, i / count, &from), CKPD_OK);
        ck_assert_int_eq(ckpd_mode_set_get(modes, i % count, &to), CKPD_OK);
        allowed[i] = from.tp == to.tp && from.pp == to.pp;
        changes += allowed[i] && from.dp != to.dp;
        refused += !allowed[i];
    }
    ck_assert(changes > 0 && refused > 0);
    expect_rule(loaded, allowed);
    free(allowed);
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(jobs_that_are_not_there)
{
    ckpd_case *loaded = three_modes("");
    ckpd_graph *graph = NULL;
    ck_assert_int_eq(ckpd_case_build_graph(&graph, loaded, 1), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_case_build_graph(&graph, loaded, -1), CKPD_ERR_RANGE);
    ck_assert_ptr_null(graph);
    ckpd_case_free(loaded);
}
END_TEST

/* --- written as it was given ------------------------------------------------------------------ */

/* Reads, writes, reads and writes again: the two texts are the same. The first is returned. */
static const char *round_trip(const char *text, ckpd_case **loaded)
{
    static sink once, twice;
    ckpd_case *again = NULL;
    once.used = twice.used = 0;
    ck_assert_msg(ckpd_case_parse(loaded, context, text, strlen(text), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_write(*loaded, sink_take, &once), CKPD_OK);
    ck_assert_msg(ckpd_case_parse(&again, context, once.text, once.used, NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_write(again, sink_take, &twice), CKPD_OK);
    ck_assert_str_eq(once.text, twice.text);
    ck_assert_str_eq(ckpd_case_digest(*loaded), ckpd_case_digest(again));
    ckpd_case_free(again);
    return once.text;
}

START_TEST(a_file_with_many_nodes)
{
    static const char text[] =
        HEAD " \"site\": {\"gpu_cap\": 8, \"import_price_per_mwh\": {\"file\": \"nodes.csv\","
             " \"column\": \"price\", \"unit\": \"EUR/MWh\", \"factor\": 2, \"sort\": true,"
             " \"slot_minutes\": 60, \"filters\": [[\"node\", \"A\"], [\"market\", \"DAM\"]]}},"
             " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}";
    ckpd_case *loaded = NULL;
    double price[8];
    FILE *out = fopen("nodes.csv", "w");
    ck_assert_ptr_nonnull(out);
    fputs("time,node,market,price\n", out);
    for (int hour = 7; hour >= 0; hour--) { /* backwards: sorted when read */
        fprintf(out, "2024-04-09T%02d:00Z,A,DAM,%d\n", hour, 10 + hour);
        fprintf(out, "2024-04-09T%02d:00Z,B,DAM,99\n", hour);
        fprintf(out, "2024-04-09T%02d:00Z,A,RTM,98\n", hour);
    }
    fclose(out);
    const char *written = round_trip(text, &loaded);
    ck_assert_ptr_nonnull(
        strstr(written, "\"filters\": [[\"node\", \"A\"], [\"market\", \"DAM\"]]"));
    ck_assert_ptr_nonnull(strstr(written, "\"sort\": true"));
    ck_assert_ptr_nonnull(strstr(written, "\"factor\": 2"));
    const ckpd_site *site = ckpd_case_site(loaded);
    ck_assert_int_eq(ckpd_site_get_series(site, "import_price_per_mwh", price, 8), CKPD_OK);
    for (int hour = 0; hour < 8; hour++) {
        ck_assert_double_eq(price[hour], 2 * (10 + hour));
    }
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(idle_power_and_unlimited_caps)
{
    static const char text[] =
        HEAD " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 64,"
             "   \"export_cap_kw\": \"unlimited\", \"site_cap_kw\": \"unlimited\"},"
             " \"mode_rules\": {\"installed_gpus\": 64},"
             " \"graph\": {\"last_slot_power\": \"prorated\"},"
             " \"published\": {\"source\": \"a table\", \"figures\": ["
             "   {\"scenario\": \"S4\", \"figure\": \"cost\", \"value\": 12.5}]},"
             " \"jobs\": [{\"name\": \"A\", \"task\": {\"segments\": 2, \"baseline_gpus\": 8,"
             "   \"tranche_baseline_hours\": 2}, \"modes\": ["
             "   {\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4, \"idle_power_kw\": 0.5}]}]}";
    ckpd_case *loaded = NULL;
    ckpd_mode mode = {.size = sizeof mode};
    ckpd_published figure = {.size = sizeof figure};
    const char *written = round_trip(text, &loaded);
    ck_assert_ptr_nonnull(strstr(written, "\"idle_power_kw\": 0.5"));
    ck_assert_ptr_nonnull(strstr(written, "\"last_slot_power\": \"prorated\""));
    ck_assert_int_eq(ckpd_mode_set_get(ckpd_case_mode_set(loaded, 0), 0, &mode), CKPD_OK);
    ck_assert_double_eq(mode.idle_power_kw, 0.5);
    ck_assert_str_eq(ckpd_case_published_source(loaded), "a table");
    ck_assert_str_eq(ckpd_case_published_source(NULL), "");
    ck_assert_int_eq(ckpd_case_published_get(loaded, 0, &figure), CKPD_OK);
    ck_assert_int_eq(figure.scenario, CKPD_SCENARIO_S4);
    ck_assert_double_eq(figure.value, 12.5);
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(a_reference_run)
{
    static const char text[] =
        HEAD " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 2048},"
             " \"hardware\": [{\"preset\": \"a100-80gb\"}],"
             " \"mode_rules\": {\"installed_gpus\": 2048, \"dp\": [32]},"
             " \"jobs\": [{\"name\": \"A\", \"task\": {\"model\": \"llama-65b\", \"reference\": "
             "\"llama-65b\", \"tranche_share\": 0.001, \"segments\": 2}}]}";
    ckpd_case *loaded = NULL;
    const char *written = round_trip(text, &loaded);
    ck_assert_ptr_nonnull(strstr(written, "\"reference\": \"llama-65b\""));
    ck_assert_ptr_null(strstr(written, "reference_gpu_hours")); /* it comes with the name */
    ckpd_case_free(loaded);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("details of cases");
    TCase *tests = tcase_create("details");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, no_change_of_mode);
    tcase_add_test(tests, forbidden_pairs);
    tcase_add_test(tests, changes_of_dp_alone);
    tcase_add_test(tests, jobs_that_are_not_there);
    tcase_add_test(tests, a_file_with_many_nodes);
    tcase_add_test(tests, idle_power_and_unlimited_caps);
    tcase_add_test(tests, a_reference_run);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
