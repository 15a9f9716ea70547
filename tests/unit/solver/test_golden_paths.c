/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Golden objectives through the path view; expected values from the independent files beside the
 * cases. */
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"

#ifndef CKPD_HAVE_GLPK

int main(void)
{
    test_skip("this build has no GLPK");
    return 77;
}

#else

#include <math.h>
#include <stdio.h>

static void expect(const char *backend, const char *file, int32_t split, int32_t segments,
                   bool slotwise, bool storage, double objective)
{
    instance *made = instance_golden(file, split, segments, slotwise, storage);
    if (made == NULL) {
        return;
    }
    ckpd_context *context;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    instance_result found;
    instance_result_init(&found, &made->view);
    double before = ckpd__clock_s();
    int32_t status = ckpd_path_solve(context, backend, &made->view, NULL, NULL, &found.result);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    printf("%s %s split %d K %d %s%s: %.9g, bound %.9g, outcome %d, %lld nodes, %lld iterations, "
           "%.2f s\n",
           backend, file, split, segments, slotwise ? "S3" : "S4", storage ? " + storage" : "",
           found.result.objective, found.result.bound, found.result.outcome,
           (long long)found.result.nodes, (long long)found.result.iterations,
           ckpd__clock_s() - before);
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(found.result.objective, objective, 1e-6 * objective);
    instance_result_free(&found);
    ckpd_context_free(context);
    instance_free(made);
}

START_TEST(test_golden_s4)
{
    expect("glpk", "cases/aidc2048-golden.json", 1, 0, false, false, 305.41);
}
END_TEST

START_TEST(test_golden_s6)
{
    expect("glpk", "cases/aidc2048-golden.json", 1, 0, false, true, 303.113684211);
}
END_TEST

START_TEST(test_steep_s4)
{
    expect("glpk", "cases/aidc2048-steep.json", 1, 0, false, false, 376.8735);
}
END_TEST

START_TEST(test_steep_s6)
{
    expect("glpk", "cases/aidc2048-steep.json", 1, 0, false, true, 353.525583);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: golden path problems");
    TCase *tests = tcase_create("golden");
    tcase_add_test(tests, test_golden_s4);
    tcase_add_test(tests, test_golden_s6);
    tcase_add_test(tests, test_steep_s4);
    tcase_add_test(tests, test_steep_s6);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

#endif
