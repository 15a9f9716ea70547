/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Measured runs in a case file: they anchor the modes of their job, survive writing, and are
 * refused by place. */
#include "support/sink.h"
#include "support/support.h"

#include <ckptdispatch/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

/* BLOOM-176B on 384 A100: 105.22 s an iteration in production (bigscience chronicles). */
static const char RUN[] =
    "{\"tp\": 4, \"pp\": 12, \"dp\": 8, \"micro_batch\": 2, \"recompute\": \"full\", "
    "\"iteration_s\": 105.22}";

static void text_of(char *text, size_t size, const char *runs, const char *more)
{
    snprintf(text, size,
             "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"bloom\","
             " \"horizon\": {\"slots\": 4, \"slot_minutes\": 60},"
             " \"site\": {\"import_price_per_mwh\": 20, \"wind_kw\": 0, \"solar_kw\": 0, "
             "\"gpu_cap\": 384},"
             " \"hardware\": [{\"preset\": \"a100-80gb\"}],"
             " \"mode_rules\": {\"installed_gpus\": 384, \"minimum_gpus\": 96, \"pp\": [12, 24], "
             "\"recompute\": [\"full\"], \"uneven_stages\": true},"
             " \"jobs\": [{\"name\": \"A\", \"task\": {\"model\": \"bloom-176b\", "
             "\"tranche_tokens\": 1e8,"
             " \"baseline_tp\": 4, \"baseline_pp\": 12, \"baseline_dp\": 8, "
             "\"baseline_micro_batch\": 2},"
             " \"runs\": [%s]%s}]}",
             runs, more);
}

static int32_t parse(const char *runs, const char *more, ckpd_case **out)
{
    static char text[4096];
    text_of(text, sizeof text, runs, more);
    return ckpd_case_parse(out, context, text, strlen(text), NULL);
}

START_TEST(runs_anchor_the_modes)
{
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_msg(parse(RUN, "", &loaded) == CKPD_OK, "%s", ckpd_context_last_message(context));
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, 0);
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_mode_set_get(modes, ckpd_mode_set_baseline(modes), &mode), CKPD_OK);
    ck_assert_double_eq_tol(mode.iteration_s, 105.22, 1e-6);
    ck_assert_int_eq(ckpd_anchor_count(ckpd_case_anchor(loaded, 0)), 1);
    ckpd_residual residual = {.size = sizeof residual};
    ck_assert_int_eq(ckpd_anchor_residual(ckpd_case_anchor(loaded, 0), 0, &residual), CKPD_OK);
    ck_assert_double_lt(fabs(residual.iteration_error), 1e-9);
    /* The hardware of the case itself stays as it was given. */
    double efficiency = 0;
    ck_assert_int_eq(ckpd_hardware_get(ckpd_case_hardware(loaded), "efficiency", &efficiency),
                     CKPD_OK);
    ck_assert_double_eq(efficiency, 0.75);
    ck_assert_ptr_null(ckpd_case_anchor(loaded, 1));
    ckpd_case_free(loaded);
    ckpd_context_free(context);
}
END_TEST

START_TEST(written_and_read_again)
{
    static sink first, second;
    ckpd_case *loaded = NULL, *again = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    char runs[512];
    snprintf(runs, sizeof runs,
             "%s, {\"gpus\": 192, \"tokens_per_s\": 19419, \"memory_gb\": 60, \"power_kw\": 110}",
             RUN);
    ck_assert_msg(parse(runs, ", \"fit\": [\"memory\", \"power\"]", &loaded) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_write(loaded, sink_take, &first), CKPD_OK);
    ck_assert_ptr_nonnull(strstr(first.text, "\"fit\": [\"memory\", \"power\"]"));
    ck_assert_int_eq(ckpd_case_parse(&again, context, first.text, first.used, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_case_write(again, sink_take, &second), CKPD_OK);
    ck_assert_str_eq(first.text, second.text);
    ckpd_case_free(again);
    ckpd_case_free(loaded);
    ckpd_context_free(context);
}
END_TEST

static void refused(const char *runs, const char *more, int32_t code, const char *words)
{
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(parse(runs, more, &loaded), code);
    ck_assert_ptr_null(loaded);
    ck_assert_msg(strstr(ckpd_context_last_message(context), words) != NULL, "'%s' lacks '%s'",
                  ckpd_context_last_message(context), words);
}

START_TEST(refusals_name_the_run)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    refused("{\"gpus\": 384}", "", CKPD_ERR_MISSING, "jobs[0].runs[0]");
    refused("{\"gpu\": 384}", "", CKPD_ERR_UNKNOWN_NAME, "jobs[0].runs[0]");
    refused("{\"gpus\": 383, \"iteration_s\": 100}", "", CKPD_ERR_INCONSISTENT,
            "no legal layout explains it");
    refused("{\"gpus\": 384, \"iteration_s\": 1}", "", CKPD_ERR_INCONSISTENT,
            "no legal layout explains it");
    refused("", ", \"fit\": [\"memory\"]", CKPD_ERR_MISSING, "jobs[0].fit");
    refused(RUN, ", \"fit\": [\"memories\"]", CKPD_ERR_UNKNOWN_NAME, "jobs[0].fit");
    refused(RUN, ", \"fit\": [\"link\", \"network\"]", CKPD_ERR_INCONSISTENT, "1 runs are too few");
    refused(RUN, ", \"modes\": [{\"gpus\": 384, \"rate_per_s\": 1, \"power_kw\": 1}]",
            CKPD_ERR_INCONSISTENT, "jobs[0].runs");
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {runs_anchor_the_modes, written_and_read_again,
                                  refusals_name_the_run, NULL};
    return test_run(test_suite("runs in case files", tests));
}
