/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The ckptdispatch tool: what its commands share. Built on the public API of the library alone. */
#ifndef CKPTDISPATCH_CLI_H
#define CKPTDISPATCH_CLI_H

#include <ckptdispatch.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit status of the tool. */
enum {
    CLI_OK = 0,        /* solved, or the check passed */
    CLI_NO_PLAN = 1,   /* proven infeasible, nothing found in time, or the check failed */
    CLI_BAD_INPUT = 2, /* file, field, option */
    CLI_INTERNAL = 3   /* out of memory, solver failure */
};

typedef struct cli {
    ckpd_context *context;
    ckpd_cancel *cancel; /* requested by Ctrl-C */
    const char *command;
    bool json;           /* --json */
    bool progress;       /* standard error is a terminal */
    bool progress_shown; /* a progress line stands there */
    int warning_count;
    char warnings[8][256]; /* the first of them, for the report */
} cli;

/* One option of a command; the last one has no name. */
typedef struct cli_option {
    const char *name;  /* "--gap" */
    const char *value; /* what follows, for the help; NULL for a flag */
    const char *help;
    const char **text; /* receives the value, or the name of a given flag */
} cli_option;

typedef struct cli_command {
    const char *name, *arguments, *help;
    int (*run)(cli *tool, int count, char **words);
} cli_command;

/* --- options.c
 * ------------------------------------------------------------------------------------- */

/*
 * Sorts words into options and at most `most` positional arguments, of which `least` are needed.
 * Prints help or a message; returns -1 to go on, else the exit status.
 */
int cli_parse(cli *tool, int count, char **words, const cli_option *options, const char *arguments,
              const char **positional, int least, int most);
/* Reads a number that fills the text; prints a message and returns false when it does not. */
bool cli_number(const cli *tool, const char *option, const char *text, double *value);
/* "S4" -> 4; prints a message and returns 0 when it is none. */
int cli_scenario(const cli *tool, const char *option, const char *text);

/* --- messages.c
 * ------------------------------------------------------------------------------------ */

/* Prints "ckptdispatch COMMAND: text" and returns CLI_BAD_INPUT. */
int cli_usage(const cli *tool, const char *format, ...);
/* Prints the library's last error and returns the exit status for a failed call. */
int cli_failed(cli *tool, int32_t status);
/* Names and files may hold anything; a terminal gets no control characters from them. */
void cli_put(FILE *out, const char *text);
/* Removes the progress line before other output. */
void cli_clear_progress(cli *tool);
/* Writes to a FILE; a ckpd_write_fn. */
int32_t cli_write(const char *text, size_t length, void *file);

/* --- table.c: text in columns
 * ---------------------------------------------------------------------- */

typedef struct cli_table cli_table;
/* Columns separated by '|'; a leading '>' aligns right. */
cli_table *cli_table_new(const char *columns);
void cli_table_cell(cli_table *table, const char *format, ...);
/* A number with `digits` decimals, "-" when it is not finite. */
void cli_table_number(cli_table *table, double value, int digits);
/* Prints (unless `out` is NULL) and ends the table. */
void cli_table_print(cli_table *table, FILE *out);
void cli_table_print_html(cli_table *table, FILE *out);
/* Text for HTML: what means something there is escaped. */
void cli_put_html(FILE *out, const char *text);

/* --- json.c: JSON on standard output
 * ---------------------------------------------------------------- */

typedef struct cli_json {
    FILE *out;
    int depth;
    bool inside[16];
} cli_json;
void cli_json_open(cli_json *json, const char *key, char bracket);
void cli_json_close(cli_json *json, char bracket);
void cli_json_text(cli_json *json, const char *key, const char *text);
void cli_json_number(cli_json *json, const char *key, double value);
void cli_json_flag(cli_json *json, const char *key, bool value);

/* --- solving.c
 * --------------------------------------------------------------------------------------- */

/* Options that every solving command has. */
typedef struct cli_solving {
    const char *solver, *gap, *time_limit, *threads;
} cli_solving;
#define CLI_SOLVING_OPTIONS(s)                                                        \
    {"--solver", "NAME", "backend; `ckptdispatch version` lists them", &(s).solver},  \
        {"--gap", "G", "relative gap at which to stop (default 1e-6)", &(s).gap},     \
        {"--time-limit", "SECONDS", "stop after this time with the best plan so far", \
         &(s).time_limit},                                                            \
    {                                                                                 \
        "--threads", "N", "threads a backend may use", &(s).threads                   \
    }

/* Loads a case, builds its problem and options; each may be NULL when not wanted. Returns -1 or the
 * exit status. */
int cli_open_case(cli *tool, const char *path, ckpd_case **loaded, ckpd_problem **problem);
/* The scenario asked for, else the richest that the case allows; 0 after a message. */
int cli_choose_scenario(const cli *tool, const ckpd_case *loaded, const char *text);
int cli_open_options(cli *tool, const ckpd_case *loaded, const cli_solving *solving,
                     ckpd_solve_options **options);
/* Gives every limit a price when `flag` was given. Returns -1 or the exit status. */
int cli_soften(cli *tool, ckpd_problem *problem, const char *flag);
#define CLI_SOFT_OPTION(flag)                                                                 \
    {                                                                                         \
        "--soft", NULL, "limits without a price get one: a plan comes back that passes them", \
            &(flag)                                                                           \
    }
/* Limits with a price that a plan passes, one a line; nothing when it passes none. */
void cli_print_overruns(const ckpd_report *report, FILE *out);
/* Solves with progress line and Ctrl-C; the status of the call. `seconds` gets the time it took. */
int32_t cli_solve(cli *tool, ckpd_problem *problem, int scenario, ckpd_solve_options *options,
                  const ckpd_plan *start, ckpd_solution **solution, double *seconds);
const char *cli_outcome(const ckpd_solution *solution); /* "optimal", "feasible, gap 1.2 %" */
/* A figure of the plan's report; NaN without a plan. */
double cli_figure(const ckpd_solution *solution, const char *name);
/* Share of the cost saved against another cost. */
double cli_saving(double cost, double base);
int cli_solution_exit(const ckpd_solution *solution); /* CLI_OK or CLI_NO_PLAN */
void cli_print_causes(const ckpd_solution *solution, FILE *out);
/* The schedule of each job as a table. */
cli_table *cli_schedule_table(const ckpd_case *loaded, const ckpd_solution *solution);
/* Cost by term and energies. */
cli_table *cli_figures_table(const ckpd_solution *solution);
/* Distinct modes a job uses. */
int cli_modes_used(const ckpd_plan *plan, int32_t job);
/* Writes plan.json, plan.csv and the picture to a folder, which is made. Returns -1 or the exit
 * status. */
int cli_write_plan(cli *tool, const ckpd_case *loaded, const ckpd_solution *solution,
                   const char *folder);
int cli_make_folder(cli *tool, const char *folder);
char *cli_join(const char *folder, const char *name); /* freed by the caller */

/* --- runs.c: several scenarios
 * ------------------------------------------------------------------------ */

enum { CLI_SCENARIOS = 6 };
typedef struct cli_run {
    ckpd_solution *solution; /* NULL: not solved */
    double seconds;
} cli_run;

/* "S1,S4" as wanted[1] and wanted[4]; all that the case allows when `only` is NULL. false after a
 * message. */
bool cli_choose(const cli *tool, const ckpd_case *loaded, const char *only, bool *wanted);
/* Solves what is wanted into runs[1..6]; stops early when asked to. Returns -1 or the exit status.
 */
int cli_solve_all(cli *tool, ckpd_problem *problem, ckpd_solve_options *options, const bool *wanted,
                  cli_run *runs);
void cli_free_runs(cli_run *runs);
/* The richest scenario with an executable plan, NULL when there is none. */
const ckpd_solution *cli_best_run(const cli_run *runs);
cli_table *cli_runs_table(const ckpd_case *loaded, const cli_run *runs);
cli_table *cli_published_table(const ckpd_case *loaded, const cli_run *runs);
void cli_runs_json(const ckpd_case *loaded, const cli_run *runs, FILE *out);

/* --- plot.c
 * ------------------------------------------------------------------------------------------ */

/* Writes plan.gp and runs gnuplot on it (plan.svg, plan.png). Returns -1 or the exit status. */
int cli_plot(cli *tool, const ckpd_case *loaded, const ckpd_solution *solution, const char *folder);

/* Throughput against power of each job's modes with the frontier (modes.gp, modes.svg, modes.png).
 */
int cli_modes_plot(cli *tool, const ckpd_case *loaded, const char *only, const char *folder);

/* gnuplot inside the folder; its exit status, 127 when it was not found. */
int cli_run_gnuplot(const char *folder, const char *script, const char *form);

/* The picture of a shaped run beside the run without filler (shape.gp, shape.svg, shape.png). */
int cli_shape_plot(cli *tool, const ckpd_shape *shape, const ckpd_shape_run *none,
                   const ckpd_shape_run *run, const ckpd_microgrid *grid, const char *folder);

/* --- commands
 * ---------------------------------------------------------------------------------------- */

int cli_modes(cli *tool, int count, char **words);
int cli_solve_command(cli *tool, int count, char **words);
int cli_scenarios(cli *tool, int count, char **words);
int cli_sweep(cli *tool, int count, char **words);
int cli_report(cli *tool, int count, char **words);
int cli_verify(cli *tool, int count, char **words);
int cli_explain(cli *tool, int count, char **words);
int cli_diagnose(cli *tool, int count, char **words);
int cli_export(cli *tool, int count, char **words);
int cli_import(cli *tool, int count, char **words);
int cli_compare(cli *tool, int count, char **words);
int cli_describe(cli *tool, int count, char **words);
int cli_shape(cli *tool, int count, char **words);
int cli_version(cli *tool, int count, char **words);
/* Not for people: started by the library with its standard input connected to the asking process.
 */
int cli_worker(void);

#endif
