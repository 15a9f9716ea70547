/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* MILP views as text for other solvers, and their solutions read back. No files here: io does
 * those. */
#ifndef CKPD_LIB_SOLVER_EXCHANGE_H
#define CKPD_LIB_SOLVER_EXCHANGE_H

#include "solver/path_milp.h"

/* Takes the next part of a text; false ends the writing with CKPD_ERR_FILE. */
typedef bool (*ckpd__write_fn)(const char *text, size_t length, void *user);

/* Names of columns and rows: letters, digits, underscores, shorter than CKPD__NAME_LENGTH, unique.
 */
typedef struct ckpd__milp_names {
    void (*column)(const void *user, int32_t index, char name[CKPD__NAME_LENGTH]);
    void (*row)(const void *user, int32_t index, char name[CKPD__NAME_LENGTH]);
    const void *user;
} ckpd__milp_names;

/* "move_j0_s0_t3_k4_m5" and so on, of a derived model. */
ckpd__milp_names ckpd__path_milp_names(const ckpd__path_milp *model);

/* In both forms the constant of the objective is a last column "constant", fixed at 1. */
/* Free MPS: what CBC, GLPK (--freemps), HiGHS, SCIP and the commercial solvers read. */
int32_t ckpd__milp_write_mps(ckpd_context *context, const ckpd_milp_view *view,
                             const ckpd__milp_names *names, ckpd__write_fn write, void *user);
/* CPLEX LP, for people. */
int32_t ckpd__milp_write_lp(ckpd_context *context, const ckpd_milp_view *view,
                            const ckpd__milp_names *names, ckpd__write_fn write, void *user);

/* What a foreign solution file says beside its values. */
typedef struct ckpd__foreign_solution {
    const char *format; /* "cbc", "highs", "glpk", "glpk-table", "plain" */
    double objective;   /* as claimed, NaN when not said */
    int32_t assigned;   /* columns that got a value; the rest is 0, as cbc leaves zeros out */
    int32_t claims_optimal;
    int32_t claims_none; /* its solver found no solution; what follows are left-overs */
} ckpd__foreign_solution;

/*
 * Reads a solution of the written model: cbc -solu, highs --solution_file, glpsol -w (exact) or
 * -o (six digits), or plain "name value" lines. x has the columns of `view`. Unknown names, numbers
 * that are none, columns given twice and files without a value are errors that tell the line, and
 * so is a file whose solver says that there is no solution.
 */
int32_t ckpd__milp_read_solution(ckpd_context *context, const ckpd_milp_view *view,
                                 const ckpd__milp_names *names, const char *text, size_t length,
                                 double *x, ckpd__foreign_solution *said);

#endif
