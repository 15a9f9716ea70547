/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A start of yesterday's problem is mended into a plan of today's, or said to be none. */
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

typedef struct setting {
    ckpd_context *context;
    instance *made;
    instance_result found; /* the optimum of the view as it was read */
    double *gpu_cap;       /* of the view, to be changed */
} setting;

static bool set_up(setting *s, bool storage)
{
    s->made = instance_golden("cases/aidc2048-golden.json", 1, 0, false, storage);
    if (s->made == NULL) {
        return false;
    }
    ck_assert_int_eq(ckpd_context_new(&s->context, NULL), CKPD_OK);
    ckpd_path_view *view = &s->made->view;
    s->gpu_cap = instance_alloc(s->made, (size_t)view->slots, sizeof *s->gpu_cap);
    memcpy(s->gpu_cap, view->gpu_cap, (size_t)view->slots * sizeof *s->gpu_cap);
    view->gpu_cap = s->gpu_cap;
    instance_result_init(&s->found, view);
    ck_assert_int_eq(ckpd_path_solve(s->context, "native", view, NULL, NULL, &s->found.result),
                     CKPD_OK);
    ck_assert_int_eq(s->found.result.has_plan, 1);
    return true;
}

static void tear_down(setting *s)
{
    instance_result_free(&s->found);
    instance_free(s->made);
    ckpd_context_free(s->context);
}

static bool make_plan(setting *s, double limit_s)
{
    ckpd__solve_control control = {0};
    bool is_plan = false;
    ck_assert_int_eq(ckpd__start_make_plan(s->context, &s->made->view, &control, limit_s,
                                           &s->found.plan, &is_plan),
                     CKPD_OK);
    double cost;
    ck_assert_int_eq(ckpd__path_plan_check(s->context, &s->made->view, &s->found.plan, &cost, NULL,
                                           true) == CKPD_OK,
                     is_plan);
    return is_plan;
}

/* Fewer GPUs than the plan holds in its fullest slot. */
static void tighten(setting *s)
{
    const ckpd_path_view *view = &s->made->view;
    double gpus[64], cost;
    ck_assert_int_le(view->slots, 64);
    double series[4][65];
    ckpd__path_series sums = {series[0], series[1], gpus, view->storage ? series[2] : NULL};
    ck_assert_int_eq(ckpd__path_plan_check(s->context, view, &s->found.plan, &cost, &sums, true),
                     CKPD_OK);
    int32_t fullest = 0;
    for (int32_t t = 0; t < view->slots; t++) {
        fullest = gpus[t] > gpus[fullest] ? t : fullest;
    }
    s->gpu_cap[fullest] = gpus[fullest] - 1;
}

START_TEST(mended)
{
    setting s;
    if (!set_up(&s, _i == 1)) {
        return;
    }
    ck_assert(make_plan(&s, INFINITY));
    double cost;
    ck_assert_int_eq(
        ckpd__path_plan_check(s.context, &s.made->view, &s.found.plan, &cost, NULL, true), CKPD_OK);
    ck_assert_double_eq_tol(cost, s.found.result.objective, 1e-9); /* a plan stays as it is */
    tighten(&s);
    ck_assert_int_eq(
        ckpd__path_plan_check(s.context, &s.made->view, &s.found.plan, &cost, NULL, true),
        CKPD_ERR_VERIFY);
    ck_assert(make_plan(&s, INFINITY));
    tear_down(&s);
}
END_TEST

START_TEST(no_plan_near_by)
{
    setting s;
    if (!set_up(&s, false)) {
        return;
    }
    tighten(&s);
    ck_assert(!make_plan(&s, 0)); /* stopped before it began */
    int32_t *move = (int32_t *)s.found.plan.step_move, was = move[0];
    for (int32_t wrong = -1; wrong < 2; wrong++) {
        move[0] = wrong < 0 ? -1 : wrong > 0 ? INT32_MAX : s.made->jobs[0].moves;
        ck_assert(!make_plan(&s, INFINITY));
    }
    move[0] = was;
    for (int32_t t = 0; t < s.made->view.slots; t++) {
        s.gpu_cap[t] = 0;
    }
    ck_assert(!make_plan(&s, INFINITY));
    tear_down(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: plans to start from");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, mended, 0, 2);
    tcase_add_test(all, no_plan_near_by);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
