/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Plan files read without their case. */
#include "io/file.h"
#include "io/plan.h"

#include <math.h>
#include <string.h>

struct ckpd_record {
    CKPD__HANDLE;
    ckpd__json *root;
    const ckpd__json *jobs; /* inside root */
    int32_t job_count;
};

static int32_t check_jobs(ckpd_context *context, const ckpd__json *jobs, int32_t count)
{
    ckpd__place list = {NULL, "jobs", 0};
    int32_t status = CKPD_OK;
    for (int32_t j = 0; j < count && status == CKPD_OK; j++) {
        ckpd__place here = {&list, NULL, j};
        status = ckpd__plan_check_steps(context, &here, &jobs[j]);
    }
    return status;
}

static int32_t parse(ckpd_record **out, ckpd_context *context, const char *source, const char *text,
                     size_t length)
{
    ckpd_record *record = ckpd__calloc(context, 1, sizeof *record);
    if (record == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(record, CKPD__RECORD, context);
    int32_t status = ckpd__json_parse(context, source, text, length, &record->root);
    status = status == CKPD_OK ? ckpd__plan_check(context, record->root) : status;
    if (status == CKPD_OK) {
        record->job_count = ckpd__member_items(record->root, "jobs", &record->jobs);
        status = check_jobs(context, record->jobs, record->job_count);
    }
    if (status != CKPD_OK) {
        ckpd_record_free(record);
        return status;
    }
    *out = record;
    return CKPD_OK;
}

int32_t ckpd_record_parse(ckpd_record **out, ckpd_context *context, const char *text, size_t length)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || text == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "text");
    }
    return parse(out, context, "plan", text, length);
}

int32_t ckpd_record_load(ckpd_record **out, ckpd_context *context, const char *path)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || path == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "path");
    }
    char *text;
    size_t length;
    int32_t status = ckpd__file_read(context, path, &text, &length);
    if (status != CKPD_OK) {
        return status;
    }
    status = parse(out, context, path, text, length);
    ckpd__free(context, text);
    return status;
}

void ckpd_record_free(ckpd_record *record)
{
    CKPD__NULL_IF_FOREIGN(record, CKPD__RECORD);
    if (record != NULL) {
        ckpd_context *context = record->context;
        ckpd__json_free(context, record->root);
        ckpd__handle_end(record);
    }
}

static const ckpd__json *member_of(const ckpd_record *record, const char *name, int32_t kind)
{
    if (record == NULL || name == NULL) {
        return NULL;
    }
    const ckpd__json *found = ckpd__json_member(record->root, name);
    if (found == NULL) {
        found = ckpd__json_member(ckpd__json_member(record->root, "figures"), name);
    }
    return found != NULL && found->kind == kind ? found : NULL;
}

const char *ckpd_record_text(const ckpd_record *record, const char *name)
{
    CKPD__NULL_IF_FOREIGN(record, CKPD__RECORD);
    const ckpd__json *found = member_of(record, name, CKPD__JSON_TEXT);
    return found != NULL ? found->text : "";
}

double ckpd_record_number(const ckpd_record *record, const char *name)
{
    CKPD__NULL_IF_FOREIGN(record, CKPD__RECORD);
    const ckpd__json *found = member_of(record, name, CKPD__JSON_NUMBER);
    return found != NULL ? found->number : (double)NAN;
}

int32_t ckpd_record_job_count(const ckpd_record *record)
{
    CKPD__NULL_IF_FOREIGN(record, CKPD__RECORD);
    return record != NULL ? record->job_count : 0;
}

static const ckpd__json *job_of(const ckpd_record *record, int32_t job)
{
    return record != NULL && job >= 0 && job < record->job_count ? &record->jobs[job] : NULL;
}

const char *ckpd_record_job_name(const ckpd_record *record, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(record, CKPD__RECORD);
    const ckpd__json *node = job_of(record, job);
    return node != NULL ? ckpd__member_text(node, "name") : NULL;
}

int32_t ckpd_record_step_count(const ckpd_record *record, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(record, CKPD__RECORD);
    const ckpd__json *node = job_of(record, job), *steps;
    return node != NULL ? ckpd__member_items(node, "steps", &steps) : 0;
}

int32_t ckpd_record_get_step(const ckpd_record *record, int32_t job, int32_t index, ckpd_step *out)
{
    CKPD__REFUSE_FOREIGN(NULL, record, CKPD__RECORD);
    if (record == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (index < 0 || index >= ckpd_record_step_count(record, job)) {
        return CKPD_ERR_RANGE; /* not recorded: the handle is shared, the context is not */
    }
    const ckpd__json *steps;
    ckpd__member_items(job_of(record, job), "steps", &steps);
    ckpd_step step = ckpd__plan_step(&steps[index]);
    return CKPD__STRUCT_OUT(NULL, step, out, &step);
}
