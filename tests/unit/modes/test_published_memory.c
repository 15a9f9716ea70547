/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Measured peaks of memory (BLOOM trials, A100-80GB) against the model. */
#include "support/published.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

static ckpd_context *context;
static published_peak *peaks;
static int32_t count;

static bool start(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    peaks = published_peaks(&count);
    if (peaks == NULL) {
        ckpd_context_free(context);
        return false;
    }
    published_predict_peaks(context, peaks, count);
    return true;
}

static void stop(void)
{
    free(peaks);
    ckpd_context_free(context);
}

static published_errors errors_of(bool complete, bool left_out)
{
    double *errors = calloc((size_t)count, sizeof *errors);
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        const published_peak *p = &peaks[i];
        if (!p->out_of_memory && p->measured_gb > 0 && (p->complete || !complete)) {
            errors[used++] = (left_out ? p->left_out_gb : p->predicted_gb) / p->measured_gb - 1;
        }
    }
    published_errors summary = published_summary(errors, used);
    free(errors);
    return summary;
}

START_TEST(running_rows)
{
    if (!start()) {
        return;
    }
    published_errors all = errors_of(false, false), complete = errors_of(true, false);
    published_errors out = errors_of(false, true);
    printf("all running rows: %d, mean %.2f %%, median %.2f %%\n", all.rows, 100 * all.mean,
           100 * all.median);
    printf("layers and heads printed: %d, mean %.2f %%, median %.2f %%, largest %.1f %%\n",
           complete.rows, 100 * complete.mean, 100 * complete.median, 100 * complete.largest);
    printf("each model size predicted from the others: mean %.2f %%, median %.2f %%\n",
           100 * out.mean, 100 * out.median);
    fflush(stdout);
    ck_assert_int_ge(all.rows, 70);
    ck_assert_double_le(all.mean, 0.045);
    stop();
}
END_TEST

START_TEST(limits)
{
    if (!start()) {
        return;
    }
    int32_t refused = 0;
    for (int32_t i = 0; i < count; i++) {
        const published_peak *p = &peaks[i];
        if (p->out_of_memory && p->complete) {
            ck_assert_msg(p->predicted_gb > 80, "line %d runs out of memory, predicted %g GB",
                          p->line, p->predicted_gb);
            refused++;
        } else if (!p->out_of_memory && p->measured_gb > 0 && p->measured_gb < 78) {
            ck_assert_msg(p->predicted_gb <= 80, "line %d runs in %g GB, predicted %g GB", p->line,
                          p->measured_gb, p->predicted_gb);
        }
    }
    ck_assert_int_ge(refused, 4);
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {running_rows, limits, NULL};
    return test_run(test_suite("published memory", tests));
}
