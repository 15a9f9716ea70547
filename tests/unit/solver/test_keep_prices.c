/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A host that takes no prices: they are a hint, and the solve goes on. */
#include "solver/native/native.h"
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"

static int32_t answer_with;

static int32_t refuse_prices(const ckpd_path_prices *prices, void *user)
{
    (void)prices, (void)user;
    return answer_with;
}

START_TEST(refused_prices_end_no_solve)
{
    static const struct {
        int32_t answer, status;
    } cases[] = {{CKPD_OK, CKPD_OK},
                 {CKPD_ERR_RANGE, CKPD_OK},
                 {CKPD_ERR_STRUCT_SIZE, CKPD_OK},
                 {CKPD_ERR_NO_MEMORY, CKPD_ERR_NO_MEMORY}};
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    instance *made = instance_golden("cases/aidc2048-golden.json", 1, 0, false, false);
    if (made != NULL) {
        instance_result found;
        ckpd_solve_params params;
        ckpd__solve_control control = {0};
        ckpd_host host;
        ckpd__host_state state;
        instance_result_init(&found, &made->view);
        ck_assert_int_eq(ckpd__params_read(context, NULL, &params), CKPD_OK);
        ckpd__host_start(&host, &state, context, &control, 60);
        host.keep_prices = refuse_prices;
        answer_with = cases[_i].answer;
        ck_assert_int_eq(ckpd__native_solve_paths(&host, &made->view, &params, &found.result, NULL),
                         cases[_i].status);
        instance_result_free(&found);
        instance_free(made);
    }
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: prices that nobody keeps");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, refused_prices_end_no_solve, 0, 4);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
