/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * How public structs grow. A struct begins with its size and members are only ever added at its
 * end. A program built against an older header passes a smaller size, and that has to work for
 * ever, so the smallest size that is accepted is the one of the first version: it ends with the
 * member named here. These lines are frozen; a new member changes none of them.
 *
 *  - To add a member: put it at the end of the struct, let zero mean "as before", and pass the
 *    struct through CKPD__STRUCT_IN or CKPD__STRUCT_OUT (a caller's shorter struct reads as zero).
 *  - A new struct gets a line with its last member, and a size in tests/support/struct_size.c.
 *  - A member must not fall into what was padding at the end: older callers leave anything there.
 *    Structs end on a full word for that, with a member `reserved` where needed.
 *  - A struct never lies inside another one, only behind a pointer.
 */
#ifndef CKPD_LIB_OLDEST_H
#define CKPD_LIB_OLDEST_H

#include <stddef.h>

#define CKPD__SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))
/* Size of the first version of ckpd_NAME. */
#define CKPD__OLDEST(name) CKPD__SIZE_UP_TO(ckpd_##name, CKPD__FIRST_##name)

/* The last member of each struct in its first version. */
#define CKPD__FIRST_allocator user
#define CKPD__FIRST_anchor_report power_error
#define CKPD__FIRST_backend_table user
#define CKPD__FIRST_change_cost money
#define CKPD__FIRST_checkpoint_cost daly_h
#define CKPD__FIRST_control_action event
#define CKPD__FIRST_control_input finished
#define CKPD__FIRST_control_state predicted_w
#define CKPD__FIRST_error message
#define CKPD__FIRST_field_info default_value
#define CKPD__FIRST_graph_counts forbidden_edges
#define CKPD__FIRST_job_explanation break_even_spread_per_mwh
#define CKPD__FIRST_layout recompute
#define CKPD__FIRST_member_info default_value
#define CKPD__FIRST_milp_result message
#define CKPD__FIRST_milp_view reserved
#define CKPD__FIRST_mode checkpoint_kw
#define CKPD__FIRST_mode_table keep_dominated
#define CKPD__FIRST_model_info reserved
#define CKPD__FIRST_overrun message
#define CKPD__FIRST_path_job work_required
#define CKPD__FIRST_path_plan discharge_kw
#define CKPD__FIRST_path_prices storage_worth
#define CKPD__FIRST_path_result message
#define CKPD__FIRST_path_storage throughput_cost_per_kwh
#define CKPD__FIRST_path_view start
#define CKPD__FIRST_plan_info bound
#define CKPD__FIRST_published value
#define CKPD__FIRST_relaxation message
#define CKPD__FIRST_residual power_error
#define CKPD__FIRST_run power_kw
#define CKPD__FIRST_shape_launch stop_s
#define CKPD__FIRST_shape_metrics reserved
#define CKPD__FIRST_shape_plan_info waste_share
#define CKPD__FIRST_shape_truth reserved
#define CKPD__FIRST_solve_params memory_limit_mb
#define CKPD__FIRST_step gpus
#define CKPD__FIRST_violation message
#define CKPD__FIRST_workload calibration

#endif
