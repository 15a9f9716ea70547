/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

#define NO_LIMIT ((double)INFINITY)

static const ckpd__field option_fields[] = {
    {"relative_gap", "", "stop when the gap is at most this share of the larger of cost and bound",
     CKPD_FIELD_NUMBER, 0, 0, 1, 1e-6, NULL},
    {"absolute_gap", "money", "stop when cost - bound is at most this", CKPD_FIELD_NUMBER, 0, 0,
     1e300, 0, NULL},
    {"time_limit_s", "s", "stop after this time with the best plan so far", CKPD_FIELD_NUMBER, 0, 0,
     NO_LIMIT, NO_LIMIT, NULL},
    {"node_limit", "", "stop after this many branch-and-bound nodes; -1: none", CKPD_FIELD_INTEGER,
     0, -1, 1e15, -1, NULL},
    {"iteration_limit", "", "stop after this many iterations of the backend; -1: none",
     CKPD_FIELD_INTEGER, 0, -1, 1e15, -1, NULL},
    {"threads", "", "threads the backend may use", CKPD_FIELD_INTEGER, 0, 1, 1024, 1, NULL},
    {"structure_presolve", "", "1: bounds and removed edges from the structure of the problem",
     CKPD_FIELD_FLAG, 0, 0, 1, 1, NULL},
    {"backend_presolve", "", "1: the backend may use its own presolve", CKPD_FIELD_FLAG, 0, 0, 1, 1,
     NULL},
    {"seed", "", "seed of whatever is random in a backend", CKPD_FIELD_INTEGER, 0, 0, 2147483647, 0,
     NULL},
};
_Static_assert(sizeof option_fields / sizeof option_fields[0] == CKPD__SOLVE_FIELDS,
               "the enum follows the table");

static const ckpd__field_table option_table = {"solve", option_fields, CKPD__SOLVE_FIELDS};

int32_t ckpd_solve_options_new(ckpd_solve_options **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_solve_options *options = ckpd__calloc(context, 1, sizeof *options);
    if (options == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(options, CKPD__SOLVE_OPTIONS, context);
    ckpd__fields_defaults(&option_table, options->values);
    *out = options;
    return CKPD_OK;
}

void ckpd_solve_options_free(ckpd_solve_options *options)
{
    CKPD__NULL_IF_FOREIGN(options, CKPD__SOLVE_OPTIONS);
    if (options != NULL) {
        ckpd__handle_end(options);
    }
}

int32_t ckpd_solve_options_set(ckpd_solve_options *options, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SOLVE_OPTIONS);
    return options == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(options->context, &option_table, options->values, field, value);
}

int32_t ckpd_solve_options_get(const ckpd_solve_options *options, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SOLVE_OPTIONS);
    return options == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(options->context, &option_table, options->values, field, value);
}

int32_t ckpd_solve_options_field_count(void)
{
    return option_table.count;
}

int32_t ckpd_solve_options_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &option_table, index, out);
}

int32_t ckpd_solve_options_set_backend(ckpd_solve_options *options, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SOLVE_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (name == NULL || strcmp(name, "auto") == 0) {
        name = "";
    }
    size_t length = strlen(name);
    if (length >= sizeof options->backend) {
        return ckpd__fail(options->context, CKPD_ERR_RANGE, "backend", -1, (double)length,
                          "backend name of %z bytes is longer than %z", length,
                          sizeof options->backend - 1);
    }
    memcpy(options->backend, name, length + 1);
    return CKPD_OK;
}

int32_t ckpd_solve_options_set_worker(ckpd_solve_options *options, const char *program)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SOLVE_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    size_t length = program != NULL ? strlen(program) : 0;
    if (length >= sizeof options->worker) {
        return ckpd__fail(options->context, CKPD_ERR_RANGE, "worker", -1, (double)length,
                          "path of a worker program of %z bytes is longer than %z", length,
                          sizeof options->worker - 1);
    }
    memcpy(options->worker, program != NULL ? program : "", length + 1);
    return CKPD_OK;
}

int32_t ckpd_solve_options_set_progress(ckpd_solve_options *options, ckpd_progress_fn progress,
                                        void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SOLVE_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    options->progress = progress;
    options->progress_user = user;
    return CKPD_OK;
}

int32_t ckpd_solve_options_set_cancel(ckpd_solve_options *options, const ckpd_cancel *cancel)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SOLVE_OPTIONS);
    CKPD__REFUSE_FOREIGN(options, cancel, CKPD__CANCEL);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    options->cancel = cancel;
    return CKPD_OK;
}

void ckpd__solve_options_read(const ckpd_solve_options *options, ckpd_solve_options *out)
{
    if (options != NULL) {
        *out = *options;
    } else {
        memset(out, 0, sizeof *out);
        ckpd__handle_stamp(out, CKPD__SOLVE_OPTIONS, NULL);
        ckpd__fields_defaults(&option_table, out->values);
    }
    out->context = NULL;
}
