/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "views.h"

#include <math.h>

static const double nothing[] = {0, 0}, below_all[] = {-(double)INFINITY, -(double)INFINITY};

ckpd_solve_params test_params(double relative_gap)
{
    return (ckpd_solve_params){.size = sizeof(ckpd_solve_params),
                               .time_limit_s = (double)INFINITY,
                               .relative_gap = relative_gap,
                               .node_limit = -1,
                               .iteration_limit = -1,
                               .threads = 1,
                               .presolve = 1};
}

ckpd_milp_view view_two_rows(const uint8_t integer[2])
{
    static const double cost[] = {-5, -4}, upper[] = {10, 10}, row_upper[] = {24, 6};
    static const int64_t start[] = {0, 2, 4};
    static const int32_t index[] = {0, 1, 0, 1};
    static const double value[] = {6, 1, 4, 2};
    return (ckpd_milp_view){.size = sizeof(ckpd_milp_view),
                            .columns = 2,
                            .rows = 2,
                            .nonzeros = 4,
                            .cost = cost,
                            .lower = nothing,
                            .upper = upper,
                            .integer = integer,
                            .row_lower = below_all,
                            .row_upper = row_upper,
                            .start = start,
                            .index = index,
                            .value = value};
}

ckpd_milp_view view_one_row(const double cost[2], const double upper[2], const double value[2],
                            const double room[1], const uint8_t *integer)
{
    static const int64_t start[] = {0, 1, 2};
    static const int32_t index[] = {0, 0};
    return (ckpd_milp_view){.size = sizeof(ckpd_milp_view),
                            .columns = 2,
                            .rows = 1,
                            .nonzeros = 2,
                            .cost = cost,
                            .lower = nothing,
                            .upper = upper,
                            .integer = integer,
                            .row_lower = below_all,
                            .row_upper = room,
                            .start = start,
                            .index = index,
                            .value = value};
}
