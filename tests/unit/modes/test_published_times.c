/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Iteration times of published runs against the model, anchored on one row of each software stack:
 * the one with the median residual. Every figure compared with is published; the limits are the
 * project's targets.
 */
#include "support/published.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ckpd_context *context;
static published_row *rows;
static int32_t count;

static bool start(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    rows = published_read(&count);
    if (rows == NULL) {
        ckpd_context_free(context);
        return false;
    }
    published_predict(context, rows, count);
    return true;
}

static void stop(void)
{
    free(rows);
    ckpd_context_free(context);
}

static published_errors errors_of(int32_t source, bool guessed)
{
    double *errors = calloc((size_t)count + 1, sizeof *errors);
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        const published_row *r = &rows[i];
        bool wanted = source < 0 ? r->source < PUBLISHED_TARGETS : r->source == source;
        if (wanted && r->efficiency > 0 && !r->anchor && (guessed || !r->guessed)) {
            errors[used++] = r->predicted_s / r->run.iteration_s - 1;
        }
    }
    published_errors summary = published_summary(errors, used);
    free(errors);
    return summary;
}

START_TEST(anchored_errors)
{
    if (!start()) {
        return;
    }
    published_errors all = errors_of(-1, false), more = errors_of(-1, true);
    printf("together: %d rows, mean %.2f %%, median %.2f %% (with guessed layers or heads: %d "
           "rows, %.2f, "
           "%.2f)\n",
           all.rows, 100 * all.mean, 100 * all.median, more.rows, 100 * more.mean,
           100 * more.median);
    for (int32_t source = 0; source < PUBLISHED_SOURCES; source++) {
        published_errors e = errors_of(source, false);
        printf("  %-14s %3d rows, mean %5.2f %%, median %5.2f %%, largest %5.1f %%\n",
               published_names[source], e.rows, 100 * e.mean, 100 * e.median, 100 * e.largest);
        if (source < PUBLISHED_TARGETS) {
            ck_assert_double_le(e.mean, 0.08);
        }
    }
    ck_assert_int_ge(all.rows, 100);
    ck_assert_double_le(all.mean, 0.05);
    ck_assert_double_le(all.median, 0.035);
    stop();
}
END_TEST

/* Layouts of one trial table in order of measured speed, beside the order of the model. */
START_TEST(ranks_of_layouts)
{
    if (!start()) {
        return;
    }
    published_group groups[16];
    double found[16];
    int32_t number = published_groups(rows, count, groups, 16);
    for (int32_t i = 0; i < number; i++) {
        found[i] = groups[i].correlation;
        printf("  %-28s %2d rows, rank correlation %.2f\n", groups[i].name, groups[i].rows,
               found[i]);
    }
    ck_assert_int_ge(number, 5);
    published_errors summary = published_summary(found, number);
    printf("median group: %.2f\n", summary.median);
    fflush(stdout);
    ck_assert_double_ge(summary.median, 0.85);
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {anchored_errors, ranks_of_layouts, NULL};
    return test_run(test_suite("published times", tests));
}
