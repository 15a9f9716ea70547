/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A thousand broken cases. A seeded mutator changes valid case files: numbers, names, members,
 * lengths, characters. Each result is either solved, with a plan that the verifier takes, or
 * refused with a message that names a field and says more than its status; or proven infeasible
 * with causes that name a limit and an amount. Nothing crashes, nothing takes long. The text at
 * work lies in broken.json of the scratch folder when something goes wrong.
 */
#include "support/support.h"

#include "base/base.h"
#include "fuzz/case_text.h"
#include <ckptdispatch.h>
#include <ckptdispatch/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 1000, LONGEST = 16384, MOST_TOKENS = 2048, LONGEST_S = 20 };

/* --- the valid cases ------------------------------------------------------------------------- */

/* B0 with battery b0: no jobs, arbitrage alone. */
static const char storage_case[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"b0\",\n"
    " \"horizon\": {\"slots\": 4, \"slot_minutes\": 60},\n"
    " \"site\": {\"import_price_per_mwh\": [20, 60, 20, 60], \"gpu_cap\": 0, \"base_it_kw\": "
    "10000,\n"
    "  \"import_cap_kw\": 100000, \"export_price_per_mwh\": -5, \"export_cap_kw\": 3000,\n"
    "  \"cost_curves\": [{\"slot\": 1, \"argument\": \"import\", \"points\": [[0, 0], [5000, 10], "
    "[9000, 30]]}],\n"
    "  \"batteries\": [{\"energy_kwh\": 20000, \"charge_kw\": 10000, \"discharge_kw\": 10000, "
    "\"eta_charge\": 0.9,\n"
    "   \"eta_discharge\": 0.9, \"soc_min_kwh\": 0, \"soc_max_kwh\": 20000, \"soc_start_kwh\": "
    "10000,\n"
    "   \"soc_end_kwh\": 10000, \"terminal\": \"at_least\", \"throughput_cost_per_mwh\": 2}]},\n"
    " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}\n";

/* Two jobs with windows, segments, start states, a rule between modes, PUE and caps by slot. */
static const char jobs_case[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"two jobs\", "
    "\"description\": \"d\",\n"
    " \"horizon\": {\"slots\": 6, \"slot_minutes\": 30},\n"
    " \"site\": {\"import_price_per_mwh\": [10, 45, 12, 50, 50, 10], \"gpu_cap\": [32, 32, 16, 32, "
    "32, 32],\n"
    "  \"pue\": [1.1, 1.1, 1.2, 1.3, 1.2, 1.1], \"wind_kw\": [1, 9, 30, 4, 2, 0], \"solar_kw\": "
    "0,\n"
    "  \"site_cap_kw\": 90, \"import_cap_kw\": 80, \"curtailment_penalty_per_mwh\": 20},\n"
    " \"mode_rules\": {\"installed_gpus\": 32},\n"
    " \"jobs\": [{\"name\": \"A\", \"task\": {\"tranche_baseline_hours\": 1.5, \"baseline_gpus\": "
    "8, \"segments\": 3,\n"
    "   \"deadline\": 5}, \"modes\": [{\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4}, "
    "{\"gpus\": 16,\n"
    "   \"rate_per_s\": 1.9, \"power_kw\": 8}]},\n"
    "  {\"name\": \"B\", \"task\": {\"tranche_baseline_hours\": 1, \"baseline_gpus\": 16, "
    "\"segments\": 2, \"release\": 1},\n"
    "   \"modes\": [{\"gpus\": 16, \"rate_per_s\": 2, \"power_kw\": 30}, {\"gpus\": 32, "
    "\"rate_per_s\": 3.5,\n"
    "   \"power_kw\": 55}]}]}\n";

/* --- mutation -------------------------------------------------------------------------------- */

typedef struct token {
    char kind; /* 'n' number, 's' text, 'k' name of a member, or the character itself */
    size_t start, end;
} token;

typedef struct mutator {
    ckpd__random random;
    char text[LONGEST];
    token tokens[MOST_TOKENS];
    int32_t count;
} mutator;

static int32_t below(mutator *m, int32_t limit)
{
    return (int32_t)(ckpd__random_next(&m->random) % (uint32_t)limit);
}

static void find_tokens(mutator *m)
{
    m->count = 0;
    for (size_t i = 0; m->text[i] != '\0' && m->count < MOST_TOKENS;) {
        token t = {m->text[i], i, i + 1};
        if (t.kind == '"') {
            while (m->text[t.end] != '\0' && m->text[t.end] != '"') {
                t.end++;
            }
            t.end += m->text[t.end] == '"';
            t.kind = m->text[t.end] == ':' ? 'k' : 's';
        } else if (strchr("+-.0123456789", t.kind) != NULL) {
            while (m->text[t.end] != '\0' && strchr("+-.eE0123456789", m->text[t.end]) != NULL) {
                t.end++;
            }
            t.kind = 'n';
        }
        i = t.end;
        if (strchr(" \n", t.kind) == NULL) {
            m->tokens[m->count++] = t;
        }
    }
}

static void replace(mutator *m, size_t start, size_t end, const char *by)
{
    char changed[2 * LONGEST];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)start, m->text, by, m->text + end);
    if (strlen(changed) < LONGEST) {
        strcpy(m->text, changed);
    }
}

/* A random token of that kind, or NULL. */
static const token *pick(mutator *m, char kind)
{
    int32_t count = 0, wanted;
    for (int32_t i = 0; i < m->count; i++) {
        count += m->tokens[i].kind == kind;
    }
    wanted = count > 0 ? below(m, count) : -1;
    for (int32_t i = 0; i < m->count; i++) {
        if (m->tokens[i].kind == kind && wanted-- == 0) {
            return &m->tokens[i];
        }
    }
    return NULL;
}

static void change_number(mutator *m)
{
    static const char *const odd[] = {"-1",    "0",     "1",   "2",    "3",   "1e9",  "-1e300",
                                      "1e300", "1e400", "0.5", "1e-9", "NaN", "null", "\"12\"",
                                      "[1]",   "true",  "{}",  "-0",   "1e5", "7.25"};
    const token *t = pick(m, 'n');
    if (t == NULL) {
        return;
    }
    char number[64];
    double value;
    int32_t how = below(m, 4);
    if (how < 1 || !ckpd__parse_double(m->text + t->start, t->end - t->start, &value)) {
        replace(m, t->start, t->end, odd[below(m, sizeof odd / sizeof odd[0])]);
        return;
    }
    static const double factors[] = {-1, 0.1, 0.5, 2, 10, 1000, 1e-6};
    ckpd__format_double(value * factors[below(m, 7)], number);
    replace(m, t->start, t->end, number);
}

static void change_name(mutator *m, char kind)
{
    const token *t = pick(m, kind);
    if (t == NULL || t->end - t->start < 3) {
        return;
    }
    size_t at = t->start + 1 + (size_t)below(m, (int32_t)(t->end - t->start) - 2);
    char letter[3] = {(char)('a' + below(m, 26)), '\0', '\0'};
    switch (below(m, 4)) {
    case 0: /* a letter lost */
        replace(m, at, at + 1, "");
        break;
    case 1: /* another letter */
        replace(m, at, at + 1, letter);
        break;
    case 2: /* a letter more */
        replace(m, at, at, letter);
        break;
    default:
        replace(m, t->start + 1, t->end - 1, "");
    }
}

/* From a token to the comma or bracket after it: an element or a member goes, or comes twice. */
static void change_element(mutator *m)
{
    const token *t = pick(m, below(m, 2) == 0 ? 'n' : 'k');
    if (t == NULL) {
        return;
    }
    size_t end = t->end;
    int32_t depth = 0;
    while (m->text[end] != '\0' && (depth > 0 || strchr(",]}", m->text[end]) == NULL)) {
        depth += strchr("[{", m->text[end]) != NULL;
        depth -= strchr("]}", m->text[end]) != NULL;
        end++;
    }
    if (m->text[end] != ',') {
        return;
    }
    if (below(m, 2) == 0) {
        replace(m, t->start, end + 1, "");
    } else {
        char twice[LONGEST];
        snprintf(twice, sizeof twice, "%.*s", (int)(end + 1 - t->start), m->text + t->start);
        replace(m, t->start, t->start, twice);
    }
}

static void change_character(mutator *m)
{
    static const char letters[] = "{}[]\",:0-e.\\ \xff\x01n";
    size_t length = strlen(m->text), at = (size_t)below(m, (int32_t)length);
    char letter[2] = {letters[below(m, sizeof letters - 1)], '\0'};
    if (below(m, 4) == 0) {
        m->text[at] = '\0'; /* cut short */
    } else {
        replace(m, at, at + (size_t)below(m, 2), letter);
    }
}

static void break_case(mutator *m, int32_t number)
{
    static const char *const bases[] = {case_text, storage_case, jobs_case};
    strcpy(m->text, bases[number % 3]);
    for (int32_t changes = 1 + below(m, 3) / 2; changes > 0 && m->text[0] != '\0'; changes--) {
        find_tokens(m);
        int32_t what = below(m, 20);
        if (what < 14) {
            change_number(m);
        } else if (what < 16) {
            change_name(m, 'k');
        } else if (what < 17) {
            change_name(m, 's');
        } else if (what < 19) {
            change_element(m);
        } else {
            change_character(m);
        }
    }
}

/* --- judgement ------------------------------------------------------------------------------- */

typedef struct tally {
    int32_t solved, refused, infeasible;
} tally;

static void judge_refusal(const ckpd_context *context, int32_t status, int32_t number)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_msg(error.code == status, "case %d: %d returned, %d recorded", number, status,
                  error.code);
    ck_assert_msg(status != CKPD_ERR_INTERNAL && status != CKPD_ERR_NO_MEMORY &&
                      status != CKPD_ERR_VERIFY && status != CKPD_ERR_BACKEND,
                  "case %d: %s: %s", number, ckpd_status_name(status), error.message);
    ck_assert_msg(error.field[0] != '\0', "case %d names no field: %s", number, error.message);
    ck_assert_msg(strlen(error.message) > strlen(error.field) + 5 &&
                      strcmp(error.message, ckpd_strerror(status)) != 0,
                  "case %d says too little: %s", number, error.message);
}

static void judge_causes(const ckpd_solution *solution, int32_t number)
{
    ck_assert_msg(ckpd_solution_cause_count(solution) > 0, "case %d is infeasible without a cause",
                  number);
    for (int32_t i = 0; i < ckpd_solution_cause_count(solution); i++) {
        const char *cause = ckpd_solution_cause(solution, i);
        ck_assert_msg(strpbrk(cause, "0123456789") != NULL && strlen(cause) > 20,
                      "case %d: cause '%s'", number, cause);
    }
}

static void judge_plan(ckpd_problem *problem, const ckpd_solution *solution, int32_t scenario,
                       int32_t number)
{
    ckpd_report *report = NULL;
    ck_assert_int_eq(ckpd_problem_verify(&report, problem, scenario, ckpd_solution_plan(solution),
                                         ckpd_solution_cost(solution)),
                     CKPD_OK);
    ckpd_violation violation = {.size = sizeof violation};
    if (ckpd_report_violation_count(report) > 0) {
        ckpd_report_get_violation(report, 0, &violation);
        ck_abort_msg("case %d: %s", number, violation.message);
    }
    ck_assert(isfinite(ckpd_solution_cost(solution)));
    ckpd_report_free(report);
}

static void judge(ckpd_context *context, const char *text, int32_t number, tally *sum)
{
    static const int32_t scenarios[] = {CKPD_SCENARIO_S6, CKPD_SCENARIO_S4, CKPD_SCENARIO_S1,
                                        CKPD_SCENARIO_S3, CKPD_SCENARIO_S5};
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    int32_t scenario = scenarios[number / 3 % 5];
    int32_t status = ckpd_case_parse(&loaded, context, text, strlen(text), NULL);
    status = status == CKPD_OK ? ckpd_case_build_problem(&problem, loaded) : status;
    status = status == CKPD_OK ? ckpd_case_build_options(&options, loaded) : status;
    status = status == CKPD_OK ? ckpd_solve_options_set(options, "time_limit_s", 10 * LONGEST_S)
                               : status;
    status = status == CKPD_OK ? ckpd_problem_solve(&solution, problem, scenario, options) : status;
    if (status != CKPD_OK) {
        judge_refusal(context, status, number);
        sum->refused++;
    } else {
        int32_t outcome = ckpd_solution_outcome(solution);
        if (outcome == CKPD_OUTCOME_INFEASIBLE) {
            judge_causes(solution, number);
            sum->infeasible++;
        } else {
            ck_assert_msg(outcome == CKPD_OUTCOME_OPTIMAL, "case %d: outcome %d, backend %s",
                          number, outcome, ckpd_solution_backend(solution));
            judge_plan(problem, solution, scenario, number);
            sum->solved++;
        }
    }
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
}

START_TEST(test_a_thousand_broken_cases)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    mutator *m = calloc(1, sizeof *m);
    ck_assert_ptr_nonnull(m);
    ckpd__random_seed(&m->random, 20240410, 6);
    tally sum = {0};
    for (int32_t number = 0; number < (test_fast() ? CASES / 5 : CASES); number++) {
        break_case(m, number);
        FILE *file = fopen("broken.json", "wb");
        ck_assert_ptr_nonnull(file);
        fputs(m->text, file);
        fclose(file);
        double start = test_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        judge(context, m->text, number, &sum);
        double took = test_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
        ck_assert_msg(took < LONGEST_S * (test_fast() ? 10 : 1), "case %d took %g s", number, took);
    }
    printf("broken cases: %d solved, %d refused, %d infeasible\n", sum.solved, sum.refused,
           sum.infeasible);
    /* All three kinds must occur often, or the mutator has lost its bite. */
    ck_assert_int_gt(sum.solved, 20);
    ck_assert_int_gt(sum.refused, 60);
    ck_assert_int_gt(sum.infeasible, 5);
    free(m);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {test_a_thousand_broken_cases, NULL};
    return test_run(test_suite("golden/broken_cases", tests));
}
