/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/case.h"
#include "io/file.h"

#include <math.h>

void ckpd__measured_free(ckpd_context *context, ckpd__measured *table)
{
    if (table == NULL) {
        return;
    }
    for (int32_t i = 0; table->label != NULL && i < table->count; i++) {
        ckpd__free(context, table->label[i]);
    }
    ckpd__free(context, table->label);
    ckpd__free(context, table->gpus);
    ckpd__free(context, table->tp);
    ckpd__free(context, table->pp);
    ckpd__free(context, table->dp);
    ckpd__free(context, table->micro_batch);
    ckpd__free(context, table->rate);
    ckpd__free(context, table->power_kw);
    ckpd__free(context, table->idle_power_kw);
    ckpd__free(context, table);
}

static void free_job(ckpd_context *context, ckpd__case_job *job)
{
    ckpd_task_free(job->task);
    ckpd__free(context, job->model);
    ckpd__free(context, job->reference);
    ckpd_mode_rules_free(job->rules);
    ckpd__measured_free(context, job->table);
    ckpd__free(context, job->runs);
    ckpd_anchor_free(job->anchor);
    ckpd_checkpoint_free(job->checkpoint);
    ckpd__free(context, job->changes);
    ckpd__free(context, job->forbidden);
    ckpd_mode_set_free(job->modes);
}

static void free_lists(ckpd_context *context, ckpd_case *loaded)
{
    for (int32_t i = 0; loaded->sources != NULL && i < ckpd_site_series_count(); i++) {
        ckpd__json_clear(context, &loaded->sources[i]);
    }
    for (int32_t i = 0; loaded->curves != NULL && i < loaded->curve_count; i++) {
        ckpd__free(context, loaded->curves[i].x_kw);
        ckpd__free(context, loaded->curves[i].money_per_hour);
    }
    for (int32_t i = 0; loaded->jobs != NULL && i < loaded->job_count; i++) {
        free_job(context, &loaded->jobs[i]);
    }
    for (int32_t i = 0; loaded->figures != NULL && i < loaded->figure_count; i++) {
        ckpd__free(context, loaded->figures[i].job);
        ckpd__free(context, loaded->figures[i].figure);
    }
    ckpd__free(context, loaded->sources);
    ckpd__free(context, loaded->curves);
    ckpd__free(context, loaded->jobs);
    ckpd__free(context, loaded->figures);
}

void ckpd_case_free(ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    if (loaded == NULL) {
        return;
    }
    ckpd_context *context = loaded->context;
    free_lists(context, loaded);
    ckpd__free(context, loaded->name);
    ckpd__free(context, loaded->description);
    ckpd__free(context, loaded->start);
    ckpd__free(context, loaded->offset_s);
    ckpd__free(context, loaded->backend);
    ckpd__free(context, loaded->published_source);
    ckpd_site_free(loaded->site);
    ckpd_battery_free(loaded->battery);
    ckpd_hardware_free(loaded->hardware);
    ckpd_mode_rules_free(loaded->rules);
    ckpd_graph_options_free(loaded->graph);
    ckpd_solve_options_free(loaded->solve);
    ckpd__handle_end(loaded);
}

/* `source` names the text in syntax errors. */
static int32_t parse(ckpd_case **out, ckpd_context *context, const char *source, const char *text,
                     size_t length, const char *beside)
{
    ckpd__json *root = NULL;
    int32_t status = ckpd__json_parse(context, source, text, length, &root);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_case *loaded = ckpd__calloc(context, 1, sizeof *loaded);
    if (loaded == NULL) {
        ckpd__json_free(context, root);
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(loaded, CKPD__CASE, context);
    status = ckpd__case_read(loaded, root, beside);
    ckpd__json_free(context, root);
    status = status == CKPD_OK ? ckpd__case_make_digest(loaded) : status;
    if (status != CKPD_OK) {
        ckpd_case_free(loaded);
        return status;
    }
    *out = loaded;
    return CKPD_OK;
}

int32_t ckpd_case_parse(ckpd_case **out, ckpd_context *context, const char *text, size_t length,
                        const char *beside)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || text == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "text");
    }
    return parse(out, context, "case", text, length, beside);
}

int32_t ckpd_case_load(ckpd_case **out, ckpd_context *context, const char *path)
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
    status = parse(out, context, path, text, length, path);
    ckpd__free(context, text);
    return status;
}

const char *ckpd_case_name(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->name : "";
}

const char *ckpd_case_description(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL && loaded->description != NULL ? loaded->description : "";
}

const char *ckpd_case_start(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL && loaded->start != NULL ? loaded->start : "";
}

int32_t ckpd_case_stamp(const ckpd_case *loaded, int32_t slot, char *buffer, size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (buffer == NULL || size == 0) {
        return ckpd__null_argument(loaded->context, "buffer");
    }
    if (slot < 0 || slot >= loaded->slots) {
        return ckpd__fail(loaded->context, CKPD_ERR_RANGE, "slot", slot, slot,
                          "the case has %d slots, no slot %d", loaded->slots, slot);
    }
    char text[CKPD__TIME_TEXT] = "";
    if (loaded->has_times) {
        int64_t step = (int64_t)(loaded->slot_minutes * 60 + 0.5);
        ckpd__label_print(&loaded->style, loaded->start_utc + slot * step, loaded->offset_s[slot],
                          text);
    }
    if (ckpd__format(buffer, size, "%s", text) >= size) {
        return ckpd__fail(loaded->context, CKPD_ERR_BUFFER, "size", -1, (double)size,
                          "a stamp needs %d bytes", CKPD__TIME_TEXT);
    }
    return CKPD_OK;
}

const char *ckpd_case_digest(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->digest : "";
}

int32_t ckpd_case_slots(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->slots : 0;
}

double ckpd_case_slot_hours(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->slot_minutes / 60 : (double)NAN;
}

const ckpd_site *ckpd_case_site(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->site : NULL;
}

const ckpd_battery *ckpd_case_battery(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->battery : NULL;
}

const ckpd_hardware *ckpd_case_hardware(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->hardware : NULL;
}

int32_t ckpd_case_job_count(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->job_count : 0;
}

const ckpd_task *ckpd_case_task(const ckpd_case *loaded, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL && job >= 0 && job < loaded->job_count ? loaded->jobs[job].task : NULL;
}

const ckpd_mode_set *ckpd_case_mode_set(const ckpd_case *loaded, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL && job >= 0 && job < loaded->job_count ? loaded->jobs[job].modes : NULL;
}

const ckpd_anchor *ckpd_case_anchor(const ckpd_case *loaded, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL && job >= 0 && job < loaded->job_count ? loaded->jobs[job].anchor : NULL;
}

int32_t ckpd_case_published_count(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL ? loaded->figure_count : 0;
}

int32_t ckpd_case_published_get(const ckpd_case *loaded, int32_t index, ckpd_published *out)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (index < 0 || index >= loaded->figure_count) {
        return ckpd__fail(loaded->context, CKPD_ERR_RANGE, "index", index, index,
                          "the case has %d published figures, no figure %d", loaded->figure_count,
                          index);
    }
    const ckpd__figure *figure = &loaded->figures[index];
    ckpd_published copy = {.size = sizeof copy,
                           .scenario = figure->scenario,
                           .job = figure->job != NULL ? figure->job : "",
                           .figure = figure->figure,
                           .value = figure->value};
    return CKPD__STRUCT_OUT(loaded->context, published, out, &copy);
}

const char *ckpd_case_published_source(const ckpd_case *loaded)
{
    CKPD__NULL_IF_FOREIGN(loaded, CKPD__CASE);
    return loaded != NULL && loaded->published_source != NULL ? loaded->published_source : "";
}
