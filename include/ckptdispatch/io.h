/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file io.h
 * Case files and plan files (JSON), series (CSV). The format, field by field: docs/case-format.md.
 *
 * Only this part of the library opens files. Paths and names are UTF-8 (on POSIX systems: any
 * bytes) and are handed to the system unchanged. Numbers are read and written with '.' whatever the
 * locale of the host.
 */
#ifndef CKPTDISPATCH_IO_H
#define CKPTDISPATCH_IO_H

#include <ckptdispatch/base.h>
#include <ckptdispatch/dispatch.h>
#include <ckptdispatch/graph.h>
#include <ckptdispatch/modes.h>
#include <ckptdispatch/shape.h>
#include <ckptdispatch/site.h>
#include <ckptdispatch/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- case ------------------------------------------------------------------------------------ */

/** Version of the case and plan formats this library reads and writes. */
#define CKPD_CASE_SCHEMA_VERSION 1

/**
 * A case: site, hardware, rules, jobs with their mode sets, options. Confined; never changes after
 * it was loaded.
 */
typedef struct ckpd_case ckpd_case;

/**
 * Reads a case file, checks all of it, and builds the mode set of every job.
 * @param[out] out   the new case, owned by the caller
 * @param      path  of the file; series files it names are looked for beside it
 * @return CKPD_OK; CKPD_ERR_FILE, CKPD_ERR_SYNTAX (message with line, column and path of the
 *          place), CKPD_ERR_SCHEMA (kind or version of the file, or a value of the wrong type),
 *          CKPD_ERR_UNKNOWN_NAME (with the nearest known name), CKPD_ERR_DUPLICATE,
 *          CKPD_ERR_MISSING, CKPD_ERR_RANGE, CKPD_ERR_LENGTH, CKPD_ERR_INCONSISTENT,
 *          CKPD_ERR_NO_MODE, CKPD_ERR_NOT_SUPPORTED (second battery or GPU type),
 *          CKPD_ERR_NO_MEMORY. The error's field is the path of the place, such as
 *          "jobs[1].task.layers". @since 0.1
 */
CKPD_API int32_t ckpd_case_load(ckpd_case **out, ckpd_context *context, const char *path);
/**
 * The same from memory.
 * @param text    UTF-8, `length` bytes, may start with a byte order mark
 * @param beside  path of a file beside which series files are looked for; NULL: in the working
 *                folder
 * @return as ckpd_case_load() @since 0.1
 */
CKPD_API int32_t ckpd_case_parse(ckpd_case **out, ckpd_context *context, const char *text,
                                 size_t length, const char *beside);
/** Ends a case; NULL is fine. What was built from it lives on. Any thread. @since 0.1 */
CKPD_API void ckpd_case_free(ckpd_case *loaded);

/** Name, borrowed. @since 0.1 */
CKPD_API const char *ckpd_case_name(const ckpd_case *loaded);
/** Description, borrowed, "" when none. @since 0.1 */
CKPD_API const char *ckpd_case_description(const ckpd_case *loaded);
/** Start of the first slot as written in the file, borrowed, "" when none. @since 0.1 */
CKPD_API const char *ckpd_case_start(const ckpd_case *loaded);
/**
 * Time at which a slot begins, with the offset that holds there; "" when neither horizon.start nor
 * a series file says when the case takes place.
 * @param size  of the buffer; 48 is enough
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (slot), CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_case_stamp(const ckpd_case *loaded, int32_t slot, char *buffer, size_t size);
/**
 * Digest of what decides the plan: everything but name, description, solve options and published
 * figures. "fnv1a64:" and 16 hexadecimal digits: FNV-1a, 64 bits, of the canonical text. It guards
 * against mix-ups, not against malice. Borrowed. @since 0.1
 */
CKPD_API const char *ckpd_case_digest(const ckpd_case *loaded);
/** Number of slots. @since 0.1 */
CKPD_API int32_t ckpd_case_slots(const ckpd_case *loaded);
/** Slot length in hours. @since 0.1 */
CKPD_API double ckpd_case_slot_hours(const ckpd_case *loaded);
/** The site with its battery, borrowed. @since 0.1 */
CKPD_API const ckpd_site *ckpd_case_site(const ckpd_case *loaded);
/** The battery, borrowed; NULL when there is none. @since 0.1 */
CKPD_API const ckpd_battery *ckpd_case_battery(const ckpd_case *loaded);
/** The GPU type, borrowed; NULL when the file has none. @since 0.1 */
CKPD_API const ckpd_hardware *ckpd_case_hardware(const ckpd_case *loaded);
/** Number of jobs. @since 0.1 */
CKPD_API int32_t ckpd_case_job_count(const ckpd_case *loaded);
/** Task of a job (its name is the job's), borrowed; NULL out of range. @since 0.1 */
CKPD_API const ckpd_task *ckpd_case_task(const ckpd_case *loaded, int32_t job);
/** Mode set of a job, borrowed; NULL out of range. @since 0.1 */
CKPD_API const ckpd_mode_set *ckpd_case_mode_set(const ckpd_case *loaded, int32_t job);
/**
 * Measured runs that anchor the modes of a job, with their residuals, borrowed; NULL when it has
 * none. @since 0.1
 */
CKPD_API const ckpd_anchor *ckpd_case_anchor(const ckpd_case *loaded, int32_t job);

/**
 * Builds the checkpoint-state graph of a job with the options and transition rules of the file.
 * @return as ckpd_graph_build(), CKPD_ERR_RANGE (job) @since 0.1
 */
CKPD_API int32_t ckpd_case_build_graph(ckpd_graph **out, const ckpd_case *loaded, int32_t job);
/**
 * Builds the dispatch problem: the site and the graphs of all jobs, in the order of the file.
 * @return as ckpd_graph_build(), ckpd_problem_new() and ckpd_problem_add_job() @since 0.1
 */
CKPD_API int32_t ckpd_case_build_problem(ckpd_problem **out, const ckpd_case *loaded);
/** Makes the solve options of the file. @return CKPD_OK, CKPD_ERR_NO_MEMORY @since 0.1 */
CKPD_API int32_t ckpd_case_build_options(ckpd_solve_options **out, const ckpd_case *loaded);

/**
 * Writes the case in canonical form, from the handles: fixed order, defaults left out, shortest
 * numbers that read back. Reading the result and writing it again gives the same bytes.
 * @return CKPD_OK, CKPD_ERR_CALLBACK, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_case_write(const ckpd_case *loaded, ckpd_write_fn write, void *user);
/** The same to a file, which is replaced. @return as ckpd_case_write(), CKPD_ERR_FILE @since 0.1 */
CKPD_API int32_t ckpd_case_save(const ckpd_case *loaded, const char *path);

/** A figure that others published for the case. */
typedef struct ckpd_published {
    size_t size;        /**< sizeof(ckpd_published), set by the caller */
    int32_t scenario;   /**< CKPD_SCENARIO_..., 0 when it belongs to none */
    int32_t reserved;   /**< 0 */
    const char *job;    /**< name, borrowed from the case, "" when it belongs to none */
    const char *figure; /**< name such as "curtailment_mwh", borrowed from the case */
    double value;       /**< in the unit of the figure */
} ckpd_published;
/** Number of published figures. @since 0.1 */
CKPD_API int32_t ckpd_case_published_count(const ckpd_case *loaded);
/** Copies a published figure. @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_case_published_get(const ckpd_case *loaded, int32_t index,
                                         ckpd_published *out);
/** Where they were published, borrowed, "" when not said. @since 0.1 */
CKPD_API const char *ckpd_case_published_source(const ckpd_case *loaded);

/* --- description of the format -------------------------------------------------------------- */

/** One member of an object of the case format. All texts have static storage. */
typedef struct ckpd_member_info {
    size_t size;            /**< sizeof(ckpd_member_info), set by the caller */
    int32_t required;       /**< 1: must be given */
    int32_t reserved;       /**< 0 */
    const char *object;     /**< path of the object, "" for the file as a whole, "jobs[].task" */
    const char *object_doc; /**< what the object is */
    const char *name;       /**< with its unit */
    const char *type;     /**< "number", "integer", "flag", "choice", "text", "series", "integers",
                             "choices",     "points", "pairs", "object", "objects" */
    const char *unit;     /**< "" for pure numbers */
    const char *doc;      /**< one line */
    const char *choices;  /**< separated by '|', else "" */
    double minimum;       /**< smallest allowed value, may be -infinity */
    double maximum;       /**< largest allowed value, may be infinity */
    double default_value; /**< NaN when there is none; position for choices */
} ckpd_member_info;
/** Number of members of all objects. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_case_member_count(void);
/**
 * Describes a member; objects follow one another. Any thread.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE @since 0.1
 */
CKPD_API int32_t ckpd_case_member_info(int32_t index, ckpd_member_info *out);
/**
 * Writes the format as a JSON Schema document (draft 2020-12).
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_CALLBACK @since 0.1
 */
CKPD_API int32_t ckpd_case_write_schema(ckpd_context *context, ckpd_write_fn write, void *user);

/* --- plan files ------------------------------------------------------------------------------ */

/** Forms in which a solution is written. */
enum {
    CKPD_PLAN_JSON = 1, /**< everything, with schema version and the digest of the case */
    CKPD_PLAN_CSV = 2   /**< one row per slot; columns: docs/case-format.md */
};
/**
 * Writes a solution of a problem built from this case. Without a plan the JSON holds outcome and
 * causes.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (form), CKPD_ERR_INCONSISTENT (jobs or slots
 *          of another case), CKPD_ERR_STATE (CSV without a plan), CKPD_ERR_CALLBACK,
 *          CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_case_write_solution(const ckpd_case *loaded, const ckpd_solution *solution,
                                          int32_t form, ckpd_write_fn write, void *user);
/** The same to a file, which is replaced. @return as above, CKPD_ERR_FILE @since 0.1 */
CKPD_API int32_t ckpd_case_save_solution(const ckpd_case *loaded, const ckpd_solution *solution,
                                         int32_t form, const char *path);

/** What a plan file says beside the plan. */
typedef struct ckpd_plan_info {
    size_t size;      /**< sizeof(ckpd_plan_info), set by the caller */
    int32_t scenario; /**< CKPD_SCENARIO_... */
    int32_t outcome;  /**< CKPD_OUTCOME_... as claimed by the file */
    double cost;      /**< as claimed by the file; NaN when it does not say */
    double bound;     /**< as claimed by the file; -infinity when it does not say */
} ckpd_plan_info;
/**
 * Reads a plan file back, for ckpd_problem_verify() or as a start for ckpd_problem_resolve().
 * @param[out] out   the plan, owned by the caller
 * @param[out] info  or NULL
 * @return CKPD_OK; CKPD_ERR_INCONSISTENT when its digest is that of another case; CKPD_ERR_STATE
 *          when the file holds no plan; else as ckpd_case_load() @since 0.1
 */
CKPD_API int32_t ckpd_case_load_plan(ckpd_plan **out, ckpd_plan_info *info, const ckpd_case *loaded,
                                     const char *path);
/** The same from memory. @since 0.1 */
CKPD_API int32_t ckpd_case_parse_plan(ckpd_plan **out, ckpd_plan_info *info,
                                      const ckpd_case *loaded, const char *text, size_t length);

/* --- shaping cases ---------------------------------------------------------------------------- */

/** Number of members of all objects of shaping cases. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_shape_member_count(void);
/** Describes a member; errors as for ckpd_case_member_info(). Any thread. @since 0.1 */
CKPD_API int32_t ckpd_shape_member_info(int32_t index, ckpd_member_info *out);
/** Writes the format of shaping cases as a JSON Schema document; errors as for
 * ckpd_case_write_schema(). @since 0.1 */
CKPD_API int32_t ckpd_shape_write_schema(ckpd_context *context, ckpd_write_fn write, void *user);

/**
 * Reads a shaping case: pool, microgrid, events, fillers and parameters (docs/shaping.md, "Case
 * files").
 * @param[out] shape  the problem, owned by the caller
 * @param[out] grid   the microgrid, owned by the caller, or NULL when it is not wanted
 * @param      path   of the file; a CSV file of fillers that it names is looked for beside it
 * @return as ckpd_case_load() @since 0.1
 */
CKPD_API int32_t ckpd_shape_load(ckpd_shape **shape, ckpd_microgrid **grid, ckpd_context *context,
                                 const char *path);
/**
 * The same from memory.
 * @param text    UTF-8, `length` bytes
 * @param beside  path of a file beside which a CSV file is looked for; NULL: in the working folder
 * @return as ckpd_shape_load() @since 0.1
 */
CKPD_API int32_t ckpd_shape_parse(ckpd_shape **shape, ckpd_microgrid **grid, ckpd_context *context,
                                  const char *text, size_t length, const char *beside);
/**
 * Adds filler types from CSV with a header row: type, gpus_per_replica, batch, power_per_gpu_W,
 * batch_time_s, and optionally planned (0 or 1), axis (value on the second axis of the table) and
 * every field of a filler by its name, of which the type's first row counts; other columns are
 * ignored. Rows of a type follow one another in order of axis, then of batch. After an error
 * nothing has been added.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_SYNTAX, CKPD_ERR_MISSING (column), CKPD_ERR_LENGTH
 *          (more than 64 columns or 256 types), and as ckpd_filler_set_table() and
 *          ckpd_shape_add_filler(); the error's index is the line
 * @since 0.1
 */
CKPD_API int32_t ckpd_shape_add_fillers_csv(ckpd_shape *shape, const char *text, size_t length);

/* --- plan files as records -------------------------------------------------------------------- */

/**
 * A plan file as it stands, read without its case: for comparisons and archives. What it says is
 * not checked against anything; ckpd_case_load_plan() and ckpd_problem_verify() do that. Immutable
 * after load.
 */
typedef struct ckpd_record ckpd_record;

/**
 * Reads a plan file.
 * @return CKPD_OK, CKPD_ERR_FILE, CKPD_ERR_SYNTAX, CKPD_ERR_SCHEMA, CKPD_ERR_UNKNOWN_NAME,
 *          CKPD_ERR_MISSING, CKPD_ERR_RANGE, CKPD_ERR_DUPLICATE, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_record_load(ckpd_record **out, ckpd_context *context, const char *path);
/** The same from memory. @since 0.1 */
CKPD_API int32_t ckpd_record_parse(ckpd_record **out, ckpd_context *context, const char *text,
                                   size_t length);
/** Ends a record; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_record_free(ckpd_record *record);
/**
 * A text by name: "case", "case_digest", "scenario", "outcome", "backend"; "" when it is not there.
 * @since 0.1
 */
CKPD_API const char *ckpd_record_text(const ckpd_record *record, const char *name);
/**
 * A number by name: "cost", "bound", "relative_gap" or a figure of the report; NaN when it is not
 * there. @since 0.1
 */
CKPD_API double ckpd_record_number(const ckpd_record *record, const char *name);
/** Number of jobs, 0 without a plan. @since 0.1 */
CKPD_API int32_t ckpd_record_job_count(const ckpd_record *record);
/** Name of a job, borrowed; NULL out of range. @since 0.1 */
CKPD_API const char *ckpd_record_job_name(const ckpd_record *record, int32_t job);
/** Number of steps of a job, 0 out of range. @since 0.1 */
CKPD_API int32_t ckpd_record_step_count(const ckpd_record *record, int32_t job);
/**
 * Copies a step.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE @since 0.1
 */
CKPD_API int32_t ckpd_record_get_step(const ckpd_record *record, int32_t job, int32_t index,
                                      ckpd_step *out);

#ifdef __cplusplus
}
#endif
#endif
