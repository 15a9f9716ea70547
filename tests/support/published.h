/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Published training runs, read from ../shared/data/published when it is there (facts of public
 * pages, none of them committed), and what the mode model says of them. Uses the public interface
 * alone.
 */
#ifndef TESTS_PUBLISHED_H
#define TESTS_PUBLISHED_H

#include <ckptdispatch/modes.h>
#include <stdbool.h>

/* The five sources that the accuracy targets speak of, then others that are reported beside them.
 */
enum {
    PUBLISHED_BLOOM_TRIALS,
    PUBLISHED_BLOOM_RUNS,
    PUBLISHED_KORTHIKANTI,
    PUBLISHED_SC21,
    PUBLISHED_MT_NLG,
    PUBLISHED_MLPERF,
    PUBLISHED_TARGETS,
    PUBLISHED_OTHER = PUBLISHED_TARGETS,
    PUBLISHED_MCORE = PUBLISHED_TARGETS,
    PUBLISHED_MPT_A100,
    PUBLISHED_MPT_H100,
    PUBLISHED_ZERO3,
    PUBLISHED_NEMO,
    PUBLISHED_SOURCES
};
extern const char *const published_names[PUBLISHED_SOURCES];

typedef struct published_row {
    int32_t line;   /* row of the file, from 0 */
    int32_t source; /* PUBLISHED_... */
    char stack[48]; /* source, software version and precision in one word */
    char group[48]; /* rows of one trial table, for rank correlation; "" when none */
    char model[32];
    const char *gpu; /* preset */
    bool guessed;    /* layers or heads are not printed beside the row */
    bool plain;      /* nothing that is known of the machine is set: the preset alone */
    double parameters;
    int32_t layers, hidden, heads, kv_heads, ffn, gated, vocabulary, sequence, batch;
    int32_t gpus;
    ckpd_run run;       /* layout and measured time */
    double efficiency;  /* that makes the model exact for this row alone; <= 0: nothing does */
    double predicted_s; /* anchored on the stack's median row */
    double default_s;   /* with the preset's own efficiency */
    int32_t stands_micro_batch, stands_recompute; /* of the layout that stands for the run */
    bool anchor;                                  /* the stack's anchor row */
    char refused[160];                            /* why no layout explains it, "" when one does */
} published_row;

/* NULL after a SKIP line when the file is absent. The caller frees. */
published_row *published_read(int32_t *count);
/* Fills efficiency, predicted_s, default_s, anchor and refused of every row. */
void published_predict(ckpd_context *context, published_row *rows, int32_t count);
/* Hardware and task as this row's stack has them; the caller frees both. */
ckpd_hardware *published_hardware(ckpd_context *context, const published_row *row);
ckpd_task *published_task(ckpd_context *context, const published_row *row);
/* The row's layout under this efficiency; 0: the preset's. */
ckpd_mode published_mode(ckpd_context *context, const published_row *row, double efficiency);

/* A measured peak of memory. */
typedef struct published_peak {
    int32_t line;
    char model[16], state[24]; /* state: which numbers a parameter has */
    bool complete;             /* layers and heads are printed */
    bool out_of_memory;
    double measured_gb; /* 0 when it ran out of memory without a figure */
    published_row row;  /* architecture and layout */
    double predicted_gb,
        left_out_gb; /* left_out: factor and offset fitted on the other model sizes */
    double states_gb, activations_gb, working_gb;
} published_peak;

/* NULL after a SKIP line when the file is absent. The caller frees. */
published_peak *published_peaks(int32_t *count);
/* Fills what the model says of each. */
void published_predict_peaks(ckpd_context *context, published_peak *peaks, int32_t count);

/* Cells of one line of a CSV file with quotes; `line` is cut up in place. Returns their number. */
int32_t published_cells(char *line, char **cells, int32_t most);
/* Value of a cell of digits and a '.', whatever the locale. */
double published_number(const char *cell);
/* Next line of `*text`, without its end; NULL at the end. Advances *text. */
char *published_line(char **text);

typedef struct published_errors {
    int32_t rows;
    double mean, median, largest; /* of |error| */
} published_errors;
/* Sorts `errors` by size. */
published_errors published_summary(double *errors, int32_t count);
/* Spearman's rank correlation of two lists (mean ranks for ties). */
double published_spearman(const double *a, const double *b, int32_t count);

/* Rank correlation of measured and predicted times inside one trial table. */
typedef struct published_group {
    char name[48];
    int32_t rows;
    double correlation;
} published_group;
/* Tables of at least five rows with printed layers and heads; returns their number, at most `most`.
 */
int32_t published_groups(const published_row *rows, int32_t count, published_group *groups,
                         int32_t most);

#endif
