/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Small MILP views and what every solve of a view needs. */
#ifndef TESTS_SUPPORT_VIEWS_H
#define TESTS_SUPPORT_VIEWS_H

#include <ckptdispatch/backend.h>

/* This gap, one thread, presolve, and no limit. */
ckpd_solve_params test_params(double relative_gap);

/* min -5x - 4y, 6x + 4y <= 24, x + 2y <= 6, 0 <= x, y <= 10: with `integer` {1, 1} x = 4, y = 0,
 * cost -20, by enumeration. */
ckpd_milp_view view_two_rows(const uint8_t integer[2]);

/* min cost x, value x <= room, 0 <= x <= upper; two columns, whole where `integer` (NULL: nowhere)
 * says so. The arrays stay the caller's. */
ckpd_milp_view view_one_row(const double cost[2], const double upper[2], const double value[2],
                            const double room[1], const uint8_t *integer);

#endif
