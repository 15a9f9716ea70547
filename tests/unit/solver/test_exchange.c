/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Models written for other solvers, solved by them, and their solutions read back, decoded and
 * verified. */
#include "solver/exchange.h"
#include "support/instance.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;
static instance *made;
static ckpd__path_milp *model;
static ckpd__milp_names names;
static double *x;
static ckpd__foreign_solution said;

/* x0, x1, ... and r0, r1, ... */
static void plain_column(const void *user, int32_t index, char name[CKPD__NAME_LENGTH])
{
    (void)user;
    snprintf(name, CKPD__NAME_LENGTH, "x%d", (int)index);
}

static void plain_row(const void *user, int32_t index, char name[CKPD__NAME_LENGTH])
{
    (void)user;
    snprintf(name, CKPD__NAME_LENGTH, "r%d", (int)index);
}

static const ckpd__milp_names plain = {plain_column, plain_row, NULL};

static bool to_file(const char *text, size_t length, void *user)
{
    return fwrite(text, 1, length, user) == length;
}

static void build(const char *file, bool storage)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    made = instance_golden(file, 1, 0, false, storage);
    if (made == NULL) {
        return;
    }
    ck_assert_int_eq(ckpd__path_milp_new(&model, context, &made->view, 0), CKPD_OK);
    names = ckpd__path_milp_names(model);
    x = calloc((size_t)model->milp.columns, sizeof(double));
}

static void drop(void)
{
    ckpd__path_milp_free(model);
    model = NULL;
    instance_free(made);
    ckpd_context_free(context);
    free(x);
    x = NULL;
}

static bool have(const char *program)
{
    char command[128], skip[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    snprintf(skip, sizeof skip, "%s is not installed", program);
    bool found = system(command) == 0;
    if (!found) {
        test_skip(skip);
    }
    return found;
}

static void write_models(void)
{
    FILE *file = fopen("model.mps", "wb");
    ck_assert_int_eq(ckpd__milp_write_mps(context, &model->milp, &names, to_file, file), CKPD_OK);
    fclose(file);
    file = fopen("model.lp", "wb");
    ck_assert_int_eq(ckpd__milp_write_lp(context, &model->milp, &names, to_file, file), CKPD_OK);
    fclose(file);
}

/* Runs a solver, reads its solution, decodes and verifies it; the objective is the golden one. */
static void expect(const char *command, const char *format, double objective)
{
    remove("model.sol");
    ck_assert_int_eq(system(command), 0);
    size_t length;
    char *text = test_read_file("model.sol", &length);
    int32_t status =
        ckpd__milp_read_solution(context, &model->milp, &names, text, length, x, &said);
    ck_assert_msg(status == CKPD_OK, "%s: %s", command, ckpd_context_last_message(context));
    free(text);
    ck_assert_str_eq(said.format, format);
    ck_assert_int_eq(said.claims_optimal, 1);
    if (!isnan(said.objective)) {
        ck_assert_double_eq_tol(said.objective, objective, 1e-5 * objective);
    }
    instance_result found;
    instance_result_init(&found, &made->view);
    ckpd__path_milp_decode(model, x, &found.plan);
    double cost;
    status = ckpd__path_plan_check(context, &made->view, &found.plan, &cost, NULL, false);
    ck_assert_msg(status == CKPD_OK, "%s: %s", command, ckpd_context_last_message(context));
    ck_assert_double_eq_tol(cost, objective, 1e-6 * objective);
    instance_result_free(&found);
}

static void with_solvers(bool storage, double objective)
{
    build("cases/aidc2048-golden.json", storage);
    if (made == NULL) {
        ckpd_context_free(context);
        return;
    }
    write_models();
    if (have("cbc")) {
        expect("cbc model.mps ratioGap 0 solve solu model.sol >cbc.log 2>&1", "cbc", objective);
    }
    if (have("glpsol")) {
        expect("glpsol --freemps model.mps -w model.sol >glpsol.log 2>&1", "glpk", objective);
        expect("glpsol --lp model.lp -o model.sol >glpsol.log 2>&1", "glpk-table", objective);
    }
    if (have("highs") && !test_fast()) {
        expect("highs model.mps --solution_file model.sol >highs.log 2>&1", "highs", objective);
    }
    drop();
}

START_TEST(test_golden_s4_by_other_solvers)
{
    with_solvers(false, 305.41);
}
END_TEST

START_TEST(test_golden_s6_by_other_solvers)
{
    with_solvers(true, 303.113684211);
}
END_TEST

/*
 * Every kind of bound and row. min x0 - x1 - 3 x2 - 2 x3 + x4 - x5 with 2 <= x0 + x2 <= 7, x0 >=
 * -1.5, x3 + x5 <= 3.5, x1 + x5 = 4.25; x0 free, x1 <= 4, x2 >= 0 and x3 <= 3 integer, x4 = 2, x5 0
 * or 1. By hand: x5 = 1 as x1 <= 4, so x1 = 3.25 and x3 = 2; x0 = -1.5 makes room for x2 = 8:
 * -31.75.
 */
START_TEST(test_bounds_of_every_kind)
{
    static const double cost[] = {1, -1, -3, -2, 1, -1};
    static const double lower[] = {-INFINITY, -INFINITY, 0, -INFINITY, 2, 0};
    static const double upper[] = {INFINITY, 4, INFINITY, 3, 2, 1};
    static const uint8_t integer[] = {0, 0, 1, 1, 0, 1};
    static const double row_lower[] = {2, -1.5, -INFINITY, 4.25},
                        row_upper[] = {7, INFINITY, 3.5, 4.25};
    static const int64_t first[] = {0, 2, 3, 4, 5, 5, 7};
    static const int32_t index[] = {0, 1, 3, 0, 2, 2, 3};
    static const double value[] = {1, 1, 1, 1, 1, 1, 1};
    static const double expected[] = {-1.5, 3.25, 8, 2, 2, 1};
    static const struct {
        const char *program, *command;
    } solvers[] = {{"glpsol", "glpsol --freemps model.mps -w model.sol >log 2>&1"},
                   {"glpsol", "glpsol --lp model.lp -w model.sol >log 2>&1"},
                   {"cbc", "cbc model.mps solve solu model.sol >log 2>&1"},
                   {"cbc", "cbc model.lp solve solu model.sol >log 2>&1"}};
    const ckpd_milp_view view = {.size = sizeof view,
                                 .columns = 6,
                                 .rows = 4,
                                 .nonzeros = 7,
                                 .cost = cost,
                                 .lower = lower,
                                 .upper = upper,
                                 .integer = integer,
                                 .row_lower = row_lower,
                                 .row_upper = row_upper,
                                 .start = first,
                                 .index = index,
                                 .value = value};
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    FILE *file = fopen("model.mps", "wb");
    ck_assert_int_eq(ckpd__milp_write_mps(context, &view, &plain, to_file, file), CKPD_OK);
    fclose(file);
    file = fopen("model.lp", "wb");
    ck_assert_int_eq(ckpd__milp_write_lp(context, &view, &plain, to_file, file), CKPD_OK);
    fclose(file);
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        if (!have(solvers[i].program)) {
            continue;
        }
        double found[6];
        size_t length;
        remove("model.sol");
        ck_assert_int_eq(system(solvers[i].command), 0);
        char *text = test_read_file("model.sol", &length);
        int32_t status =
            ckpd__milp_read_solution(context, &view, &plain, text, length, found, &said);
        ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
        free(text);
        for (int j = 0; j < 6; j++) {
            ck_assert_msg(fabs(found[j] - expected[j]) < 1e-6, "%s: x%d = %g", solvers[i].command,
                          j, found[j]);
        }
        ck_assert_double_eq_tol(said.objective, -31.75, 1e-6);
    }
    ckpd_context_free(context);
}
END_TEST

/* --- reading ---------------------------------------------------------------------------------- */

static const double zero[3], one[3] = {1, 1, 1};
static const int64_t start[4];
static const ckpd_milp_view tiny = {
    .size = sizeof tiny, .columns = 3, .cost = zero, .lower = zero, .upper = one, .start = start};
static double tiny_x[3];

static int32_t read_text(const char *text)
{
    return ckpd__milp_read_solution(context, &tiny, &plain, text, strlen(text), tiny_x, &said);
}

static void expect_values(const char *text, const char *format, double a, double b, double c)
{
    int32_t status = read_text(text);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_str_eq(said.format, format);
    ck_assert(tiny_x[0] == a && tiny_x[1] == b && tiny_x[2] == c);
}

START_TEST(test_formats)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    expect_values("Optimal - objective value 2.50000000\n      1 x1    1   0\r\n** 2 x2 0.5 0\n",
                  "cbc", 0, 1, 0.5);
    ck_assert_double_eq(said.objective, 2.5);
    expect_values(
        "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 7\n# Columns 3\n"
        "x0 1\nx1 0\nx2 0.25\n# Rows 0\n\n# Dual solution values\nNone\n",
        "highs", 1, 0, 0.25);
    expect_values("c Problem:\nc\ns mip 1 3 o 12.5\ni 1 3\nj 1 0\nj 2 1\nj 3 1e-1\ne o f\n", "glpk",
                  0, 1, 0.1);
    expect_values("s bas 1 3 f f 2\ni 1 b 3 0\nj 1 l 0 2\nj 2 b 0.5 0\nj 3 u 1 0\n", "glpk", 0, 0.5,
                  1);
    expect_values("Problem:    m\nStatus:     INTEGER OPTIMAL\nObjective:  cost = 3 (MINimum)\n\n"
                  "   No.   Row name        Activity     Lower bound   Upper bound\n"
                  "------ ------------    ------------- ------------- -------------\n"
                  "     1 r0                          1            0\n\n"
                  "   No. Column name       Activity     Lower bound   Upper bound\n"
                  "------ ------------    ------------- ------------- -------------\n"
                  "     1 x0           *              1             0             1\n"
                  "     2 x1\n                    *              0             0             1\n"
                  "     3 x2           B            0.5             0             1\n\nInteger "
                  "feasibility conditions:\n",
                  "glpk-table", 1, 0, 0.5);
    expect_values("solution status: optimal\nobjective value: 3\nx2 1 (obj:1)\n", "plain", 0, 0, 1);
    expect_values("# ours\nx0 0.5\nconstant 1\n", "plain", 0.5, 0, 0);
    ckpd_context_free(context);
}
END_TEST

static void expect_error(const char *text, int32_t code, const char *message)
{
    ck_assert_int_eq(read_text(text), code);
    ck_assert_str_eq(ckpd_context_last_message(context), message);
}

START_TEST(test_bad_solutions)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    expect_error("", CKPD_ERR_SYNTAX, "line 0: the solution is empty");
    expect_error("\n\n# nothing\n", CKPD_ERR_SYNTAX, "line 3: the solution has no values");
    expect_error("x0 1\n\ny7 1\n", CKPD_ERR_UNKNOWN_NAME, "line 3: the model has no column \"y7\"");
    expect_error("x0 1\nx0 1\n", CKPD_ERR_SYNTAX, "line 2: a column has a second value");
    expect_error("x0 nan\n", CKPD_ERR_SYNTAX, "line 1: a number is missing or malformed");
    expect_error("x0 1,5\n", CKPD_ERR_SYNTAX, "line 1: a number is missing or malformed");
    expect_error("x0\n", CKPD_ERR_SYNTAX, "line 1: a number is missing or malformed");
    /* Headers as cbc 2.10.8, glpsol 5.0 and HiGHS write them for models without a solution. */
    static const char *const without[] = {
        "Infeasible - objective value 4.50700000\n      0 x0 1 0\n",
        "Integer infeasible - objective value 4.5\n      0 x0 1 0\n",
        "Model status\nInfeasible\n\n# Primal solution values\nNone\n",
        "c Problem:\ns bas 1 3 u u 0\nj 1 l 0 0\n",
        "c Problem:\ns mip 1 3 n 0\nj 1 0\n",
        "Problem:    m\nStatus:     INTEGER EMPTY\n",
    };
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        ck_assert_int_eq(read_text(without[i]), CKPD_ERR_VERIFY);
        ck_assert_ptr_nonnull(
            strstr(ckpd_context_last_message(context), "its solver found the model infeasible"));
    }
    expect_error("s mip 1 3 o 1\nj 5 1\n", CKPD_ERR_SYNTAX, "line 2: the model has no such column");
    expect_error("s mip 1 3 o 1\nj 1e300 1\n", CKPD_ERR_SYNTAX,
                 "line 2: the model has no such column");
    ckpd_context_free(context);
}
END_TEST

/* Whatever the bytes, the reader ends with a status: for the sanitizers. */
START_TEST(test_damaged_solutions)
{
    static const char *const seeds[] = {
        "Optimal - objective value 2.5\n 1 x1 1 0\n** 2 x2 0.5 0\n",
        "Model status\nOptimal\n# Columns 3\nx0 1\nx1 0\nx2 0.25\n# Rows 0\n",
        "c Problem:\ns mip 1 3 o 12.5\nj 1 0\nj 2 1\nj 3 1e-1\ne o f\n",
        ("Problem: m\nStatus: INTEGER OPTIMAL\nObjective:  cost = 3 (MINimum)\nNo. Column "
         "name\n------\n 1 x0 * 1\n 2 x1\n * 0\n"),
        "x0 1\nx1 0.5 2 3 4 5 6 7 8 9\nx2 1e300\n"};
    ckpd__random random;
    ckpd__random_seed(&random, 5, 5);
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    for (int round = 0; round < 20000; round++) {
        const char *seed = seeds[round % 5];
        size_t length = strlen(seed), cut = ckpd__random_next(&random) % (length + 1);
        char *text = malloc(cut + 1); /* exact size: reading beyond it is seen */
        memcpy(text, seed, cut);
        for (int change = 0; change < 3 && cut > 0; change++) {
            static const char bytes[] = "\n \0xj9.e#*-\377";
            text[ckpd__random_next(&random) % cut] =
                bytes[ckpd__random_next(&random) % (sizeof bytes - 1)];
        }
        text = realloc(text, cut > 0 ? cut : 1);
        ckpd__milp_read_solution(context, &tiny, &plain, text, cut, tiny_x, &said);
        ck_assert_int_le(said.assigned, 3);
        free(text);
    }
    ckpd_context_free(context);
}
END_TEST

static bool refuse(const char *text, size_t length, void *user)
{
    (void)text, (void)length, (void)user;
    return false;
}

START_TEST(test_writer_stops)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd__milp_write_mps(context, &tiny, &plain, refuse, NULL), CKPD_ERR_FILE);
    ck_assert_int_eq(ckpd__milp_write_lp(context, &tiny, &plain, refuse, NULL), CKPD_ERR_FILE);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: exchange with other solvers");
    TCase *tests = tcase_create("exchange");
    tcase_add_test(tests, test_golden_s4_by_other_solvers);
    tcase_add_test(tests, test_golden_s6_by_other_solvers);
    tcase_add_test(tests, test_bounds_of_every_kind);
    tcase_add_test(tests, test_formats);
    tcase_add_test(tests, test_bad_solutions);
    tcase_add_test(tests, test_damaged_solutions);
    tcase_add_test(tests, test_writer_stops);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
