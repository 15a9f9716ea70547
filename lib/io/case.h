/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef CKPD_LIB_IO_CASE_H
#define CKPD_LIB_IO_CASE_H

#include "io/json.h"
#include "io/reader.h"
#include "io/series.h"
#include "io/writer.h"

#include <ckptdispatch/io.h>

enum { CKPD__DIGEST_BYTES = 25 }; /* "fnv1a64:" + 16 digits + 0 */

typedef struct ckpd__curve {
    int32_t slot; /* -1: every slot */
    int32_t argument;
    int32_t count;
    double *x_kw, *money_per_hour;
} ckpd__curve;

/* A user's modes, as given. */
typedef struct ckpd__measured {
    int32_t count;
    bool layouts, idle, labels;
    int32_t *gpus, *tp, *pp, *dp, *micro_batch;
    double *rate, *power_kw, *idle_power_kw;
    char **label;
} ckpd__measured;

enum { CKPD__TRANSITIONS_ANY = 0, CKPD__TRANSITIONS_DP = 1, CKPD__TRANSITIONS_NONE = 2 };

/* What starting a mode costs; later entries replace earlier ones. */
typedef struct ckpd__change {
    int32_t from, to; /* CKPD__CHANGE_ANY, CKPD__CHANGE_NONE (no mode has run) or a mode number */
    double hours, money;
} ckpd__change;
enum { CKPD__CHANGE_ANY = -2, CKPD__CHANGE_NONE = -1 };

typedef struct ckpd__case_job {
    ckpd_task *task;
    char *model, *reference; /* or NULL */
    ckpd_mode_rules *rules;  /* NULL: those of the case */
    ckpd__measured *table;   /* NULL: analytic model */
    int32_t run_count;
    ckpd_run *runs;
    int32_t fit;                 /* CKPD_FIT_... */
    ckpd_anchor *anchor;         /* of the runs, NULL when there are none */
    ckpd_checkpoint *checkpoint; /* NULL: none */
    int32_t change_count;
    ckpd__change *changes;
    int32_t transitions; /* CKPD__TRANSITIONS_... */
    int32_t forbidden_count;
    int32_t *forbidden; /* [2 * count] mode numbers, from and to */
    ckpd_mode_set *modes;
} ckpd__case_job;

typedef struct ckpd__figure {
    int32_t scenario;
    char *job, *figure;
    double value;
} ckpd__figure;

struct ckpd_case {
    CKPD__HANDLE;
    char *name, *description, *start;
    int32_t slots;
    double slot_minutes;
    bool has_times;
    int64_t start_utc;       /* s since 1970-01-01T00:00Z */
    int32_t *offset_s;       /* [slots] local time minus UTC */
    ckpd__stamp_style style; /* how times are written */
    ckpd_site *site;
    ckpd__json *sources; /* [ckpd_site_series_count()] file references as given; kind NULL: none */
    ckpd_battery *battery; /* NULL: none */
    int32_t curve_count;
    ckpd__curve *curves;
    ckpd_hardware *hardware; /* NULL: none */
    ckpd_mode_rules *rules;
    ckpd_graph_options *graph;
    ckpd_solve_options *solve;
    char *backend; /* NULL: automatic */
    int32_t job_count;
    ckpd__case_job *jobs;
    bool has_published;
    char *published_source;
    int32_t figure_count;
    ckpd__figure *figures;
    char digest[CKPD__DIGEST_BYTES];
};

/* Fills an empty case; what was read so far hangs on it when this fails. */
int32_t ckpd__case_read(ckpd_case *loaded, const ckpd__json *root, const char *beside);
int32_t ckpd__case_read_jobs(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *jobs);
int32_t ckpd__case_read_site(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *site,
                             const char *beside);
/* Rules object onto a handle: fields and lists. */
int32_t ckpd__case_read_rules(ckpd_context *context, const ckpd__place *place,
                              const ckpd__json *node, ckpd_mode_rules *rules);
/* A series of the site from the file that an object names. */
int32_t ckpd__case_read_file(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                             const char *beside);
/* Copies fields (and nothing else) from one handle to another of the same type. */
int32_t ckpd__handle_copy(const ckpd__handle_type *type, const void *from, void *to);
/* case_runs.c: measured runs and `fit` of a job; the hardware as they anchor it (the caller frees).
 */
int32_t ckpd__case_read_runs(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                             ckpd__case_job *job);
int32_t ckpd__case_anchored_hardware(const ckpd_case *loaded, const ckpd__place *place,
                                     ckpd__case_job *job, const ckpd_mode_rules *rules,
                                     ckpd_hardware **out);
void ckpd__case_write_runs(ckpd__writer *writer, const ckpd__case_job *job);
/* case_changes.c: costs of checkpoints and mode changes of a job, after its modes are built. */
int32_t ckpd__case_read_changes(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                                ckpd__case_job *job);
int32_t ckpd__case_set_changes(ckpd_context *context, ckpd_graph_options *options,
                               const ckpd__case_job *job);
int32_t ckpd__case_write_changes(ckpd_context *context, ckpd__writer *writer,
                                 const ckpd__case_job *job);
/* case_write.c: fields that differ from those of `base`, as an object `wrap` or into the open one.
 */
int32_t ckpd__case_write_fields(ckpd__writer *writer, const char *wrap,
                                const ckpd__handle_type *type, const void *handle,
                                const void *base);
/* case_jobs.c: number of the retained mode with a label, -1 when there is none. */
int32_t ckpd__case_find_label(const ckpd_mode_set *modes, const char *label);
void ckpd__measured_free(ckpd_context *context, ckpd__measured *table);
/* The canonical text; `for_digest` leaves out what does not decide the plan and resolves files. */
int32_t ckpd__case_write(const ckpd_case *loaded, ckpd__writer *writer, bool for_digest);
int32_t ckpd__case_make_digest(ckpd_case *loaded);

#endif
