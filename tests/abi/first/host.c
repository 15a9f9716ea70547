/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Loads a plug-in (argument 1), expects a status (argument 2); when that is 0, solves with it. */
#include <ckptdispatch/backend.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            return 1;                                               \
        }                                                           \
    } while (0)

static int logged;
static void on_log(int32_t level, int32_t code, const char *message, void *user)
{
    (void)level, (void)code, (void)user;
    logged += strcmp(message, "first path of every job") == 0;
}

/* Two slots, one mode of 10 kW that does the one segment in one slot, 2 money per kW in every slot.
 */
static int solve(ckpd_context *context)
{
    const int32_t gpus[] = {4}, one[] = {1}, zero[] = {0};
    const double power[] = {10}, base[] = {1, 1}, factor[] = {1, 1}, cap[] = {INFINITY, INFINITY},
                 most[] = {8, 8};
    const double x[] = {0, 100, 0, 100}, cost[] = {0, 200, 0, 200};
    const int64_t curve[] = {0, 2, 4};
    const uint8_t convex[] = {1, 1}, open[] = {1, 0, 1, 1, 0, 1};
    ckpd_path_job job = {.size = sizeof job,
                         .name = "job",
                         .kind = CKPD_JOB_PATHS,
                         .segments = 1,
                         .deadline = 2,
                         .may_wait = 1,
                         .modes = 1,
                         .mode_gpus = gpus,
                         .mode_power_kw = power,
                         .moves = 1,
                         .states = 1,
                         .move_mode = zero,
                         .move_slots = one,
                         .move_segments = one,
                         .node_open = open};
    const ckpd_path_job *jobs[] = {&job};
    ckpd_path_view view = {.size = sizeof view,
                           .slots = 2,
                           .jobs = 1,
                           .slot_hours = 1,
                           .job = jobs,
                           .base_load_kw = base,
                           .load_factor = factor,
                           .load_cap_kw = cap,
                           .gpu_cap = most,
                           .curve_start = curve,
                           .curve_x_kw = x,
                           .curve_cost = cost,
                           .curve_convex = convex};
    int32_t count[1], slot[2], move[2];
    ckpd_path_plan plan = {
        .size = sizeof plan, .step_count = count, .step_slot = slot, .step_move = move};
    ckpd_path_result result = {.size = sizeof result, .plan = &plan};
    CHECK(ckpd_path_solve(context, "first-path", &view, NULL, NULL, &result) == CKPD_OK);
    CHECK(result.outcome == CKPD_OUTCOME_FEASIBLE && result.has_plan == 1);
    CHECK(result.objective == 24 &&
          result.bound == -INFINITY); /* 2 x (11 + 1), recomputed by the library */
    CHECK(count[0] == 1 && slot[0] == 0 && move[0] == 0);
    CHECK(logged == 1);
    CHECK(strcmp(ckpd_backend_version(context, "first-path"), "0.1") == 0);
    CHECK(ckpd_backend_capabilities(context, "first-path") == CKPD_CAP_PATHS);
    return 0;
}

int main(int count, char **arguments)
{
    ckpd_context *context;
    CHECK(count == 3);
    CHECK(ckpd_context_new(&context, NULL) == CKPD_OK);
    CHECK(ckpd_context_set_log(context, CKPD_LOG_DEBUG, on_log, NULL) == CKPD_OK);
    int32_t before = ckpd_backend_count(context), expected = atoi(arguments[2]);
    int32_t status = ckpd_backend_load(context, arguments[1]);
    if (status != expected) {
        fprintf(stderr, "%s: status %d, expected %d: %s\n", arguments[1], status, expected,
                ckpd_context_last_message(context));
        return 1;
    }
    CHECK(ckpd_backend_count(context) == before + (status == CKPD_OK));
    if (status == CKPD_OK) {
        CHECK(strcmp(ckpd_backend_name(context, before), "first-path") == 0);
        CHECK(solve(context) == 0);
        CHECK(ckpd_backend_load(context, arguments[1]) == CKPD_ERR_DUPLICATE);
    } else {
        CHECK(strlen(ckpd_context_last_message(context)) > 0);
    }
    ckpd_context_free(context);
    return 0;
}
