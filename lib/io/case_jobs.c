/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/case.h"

#include <math.h>
#include <string.h>

static int32_t keep_text(ckpd_context *context, const char *text, char **to)
{
    if (text == NULL) {
        return CKPD_OK;
    }
    *to = ckpd__strdup(context, text);
    return *to != NULL ? CKPD_OK : ckpd__no_memory(context);
}

/* A model or reference by name; the setter's error gets the path of the member. */
static int32_t use_preset(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                          const char *member, ckpd_task *task,
                          int32_t (*set)(ckpd_task *, const char *), char **kept)
{
    const char *name = ckpd__member_text(node, member);
    if (name == NULL) {
        return CKPD_OK;
    }
    int32_t status = set(task, name);
    if (status != CKPD_OK) {
        ckpd__place here = {place, member, 0};
        return ckpd__refuse_with(context, &here, status);
    }
    return keep_text(context, name, kept);
}

static int32_t read_task(ckpd_context *context, const ckpd__place *job_place,
                         const ckpd__json *node, const char *name, ckpd__case_job *job)
{
    ckpd__place place = {job_place, "task", 0}, name_place = {job_place, "name", 0};
    const ckpd__object *object = &ckpd__objects[CKPD__AT_TASK];
    int32_t status = ckpd__read_object(context, &place, node, object);
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd_task_new(&job->task, context, name);
    if (status != CKPD_OK) {
        return ckpd__refuse_with(context, &name_place, status);
    }
    status =
        use_preset(context, &place, node, "model", job->task, ckpd_task_set_model, &job->model);
    status = status == CKPD_OK ? use_preset(context, &place, node, "reference", job->task,
                                            ckpd_task_set_reference, &job->reference)
                               : status;
    return status == CKPD_OK ? ckpd__read_fields(context, &place, node, object, job->task) : status;
}

/* --- measured modes --------------------------------------------------------------------------- */

static ckpd__measured *new_table(ckpd_context *context, int32_t count)
{
    ckpd__measured *table = ckpd__calloc(context, 1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    size_t n = (size_t)count;
    table->count = count;
    table->gpus = ckpd__calloc(context, n, sizeof *table->gpus);
    table->tp = ckpd__calloc(context, n, sizeof *table->tp);
    table->pp = ckpd__calloc(context, n, sizeof *table->pp);
    table->dp = ckpd__calloc(context, n, sizeof *table->dp);
    table->micro_batch = ckpd__calloc(context, n, sizeof *table->micro_batch);
    table->rate = ckpd__calloc(context, n, sizeof *table->rate);
    table->power_kw = ckpd__calloc(context, n, sizeof *table->power_kw);
    table->idle_power_kw = ckpd__calloc(context, n, sizeof *table->idle_power_kw);
    table->label = ckpd__calloc(context, n, sizeof *table->label);
    if (table->gpus == NULL || table->tp == NULL || table->pp == NULL || table->dp == NULL ||
        table->micro_batch == NULL || table->rate == NULL || table->power_kw == NULL ||
        table->idle_power_kw == NULL || table->label == NULL) {
        ckpd__measured_free(context, table);
        return NULL;
    }
    return table;
}

/* How many modes have the member: all or none is what a table can hold. */
static int32_t check_all_or_none(ckpd_context *context, const ckpd__place *list, const char *name,
                                 const ckpd__json *items, int32_t count, bool *all)
{
    int32_t given = 0, first_without = -1;
    for (int32_t i = 0; i < count; i++) {
        bool has = ckpd__json_member(&items[i], name) != NULL;
        given += has;
        first_without = !has && first_without < 0 ? i : first_without;
    }
    *all = given == count;
    if (given == 0 || given == count) {
        return CKPD_OK;
    }
    ckpd__place item = {list, NULL, first_without}, here = {&item, name, 0};
    char message[128];
    ckpd__format(message, sizeof message, "missing here but given for %d of %d modes", given,
                 count);
    return ckpd__refuse(context, &here, CKPD_ERR_MISSING, (double)NAN, message);
}

static int32_t check_table_columns(ckpd_context *context, const ckpd__place *list,
                                   const ckpd__json *items, int32_t count, ckpd__measured *table)
{
    static const char *const LAYOUT[] = {"tp", "pp", "dp", "micro_batch"};
    int32_t layouts = 0, status = CKPD_OK;
    for (int32_t i = 0; i < 4 && status == CKPD_OK; i++) {
        bool all = false;
        status = check_all_or_none(context, list, LAYOUT[i], items, count, &all);
        layouts += all;
    }
    if (status == CKPD_OK && layouts != 0 && layouts != 4) {
        ckpd__place item = {list, NULL, 0};
        status = ckpd__refuse(context, &item, CKPD_ERR_MISSING, (double)NAN,
                              "tp, pp, dp and micro_batch go together: give all four or none");
    }
    table->layouts = layouts == 4;
    return status == CKPD_OK
               ? check_all_or_none(context, list, "idle_power_kw", items, count, &table->idle)
               : status;
}

static int32_t read_table(ckpd_context *context, const ckpd__place *job_place,
                          const ckpd__json *array, ckpd__case_job *job)
{
    ckpd__place list = {job_place, "modes", 0};
    if (array->count == 0) {
        return ckpd__refuse(context, &list, CKPD_ERR_LENGTH, 0, "a job needs at least one mode");
    }
    ckpd__measured *table = new_table(context, array->count);
    if (table == NULL) {
        return ckpd__no_memory(context);
    }
    job->table = table;
    for (int32_t i = 0; i < array->count; i++) {
        const ckpd__json *node = &array->items[i];
        ckpd__place here = {&list, NULL, i};
        int32_t status = ckpd__read_object(context, &here, node, &ckpd__objects[CKPD__AT_MODE]);
        status = status == CKPD_OK
                     ? keep_text(context, ckpd__member_text(node, "label"), &table->label[i])
                     : status;
        if (status != CKPD_OK) {
            return status;
        }
        table->labels = table->labels || table->label[i] != NULL;
        table->gpus[i] = (int32_t)ckpd__member_number(node, "gpus", 0);
        table->rate[i] = ckpd__member_number(node, "rate_per_s", 0);
        table->power_kw[i] = ckpd__member_number(node, "power_kw", 0);
        table->idle_power_kw[i] = ckpd__member_number(node, "idle_power_kw", 0);
        table->tp[i] = (int32_t)ckpd__member_number(node, "tp", 0);
        table->pp[i] = (int32_t)ckpd__member_number(node, "pp", 0);
        table->dp[i] = (int32_t)ckpd__member_number(node, "dp", 0);
        table->micro_batch[i] = (int32_t)ckpd__member_number(node, "micro_batch", 0);
    }
    return check_table_columns(context, &list, array->items, array->count, table);
}

/* --- modes and transitions -------------------------------------------------------------------- */

static int32_t from_table(ckpd_case *loaded, const ckpd__case_job *job,
                          const ckpd_mode_rules *rules, ckpd_mode_set **modes)
{
    const ckpd__measured *own = job->table;
    double installed, keep_dominated;
    int32_t status = ckpd_mode_rules_get(rules, "installed_gpus", &installed);
    status =
        status == CKPD_OK ? ckpd_mode_rules_get(rules, "keep_dominated", &keep_dominated) : status;
    if (status != CKPD_OK) {
        return status;
    }
    if (isnan(installed)) {
        return ckpd__fail(loaded->context, CKPD_ERR_MISSING, "mode_rules.installed_gpus", -1,
                          (double)NAN, "mode_rules.installed_gpus is missing");
    }
    ckpd_mode_table table = {.size = sizeof table,
                             .count = own->count,
                             .installed_gpus = (int32_t)installed,
                             .gpus = own->gpus,
                             .rate = own->rate,
                             .power_kw = own->power_kw,
                             .idle_power_kw = own->idle ? own->idle_power_kw : NULL,
                             .tp = own->layouts ? own->tp : NULL,
                             .pp = own->layouts ? own->pp : NULL,
                             .dp = own->layouts ? own->dp : NULL,
                             .micro_batch = own->layouts ? own->micro_batch : NULL,
                             .labels = own->labels ? (const char *const *)own->label : NULL,
                             .baseline_index = -1,
                             .keep_dominated = keep_dominated != 0};
    return ckpd_mode_set_from_table(modes, loaded->context, job->task, &table);
}

static int32_t build_modes(ckpd_case *loaded, const ckpd__place *place, ckpd__case_job *job)
{
    const ckpd_mode_rules *rules = job->rules != NULL ? job->rules : loaded->rules;
    int32_t status;
    if (job->table != NULL) {
        status = from_table(loaded, job, rules, &job->modes);
    } else if (loaded->hardware == NULL) {
        return ckpd__refuse(loaded->context, place, CKPD_ERR_MISSING, (double)NAN,
                            "the job has no mode table, so the case needs hardware");
    } else if (job->run_count > 0) {
        ckpd_hardware *anchored = NULL;
        status = ckpd__case_anchored_hardware(loaded, place, job, rules, &anchored);
        if (status != CKPD_OK) {
            return status;
        }
        status = ckpd_mode_set_build(&job->modes, loaded->context, job->task, anchored, rules);
        ckpd_hardware_free(anchored);
    } else {
        status =
            ckpd_mode_set_build(&job->modes, loaded->context, job->task, loaded->hardware, rules);
    }
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(loaded->context, place, status);
}

int32_t ckpd__case_find_label(const ckpd_mode_set *modes, const char *label)
{
    for (int32_t i = 0; i < ckpd_mode_set_count(modes); i++) {
        if (strcmp(ckpd_mode_set_label(modes, i), label) == 0) {
            return i;
        }
    }
    return -1;
}

static int32_t read_forbidden(ckpd_case *loaded, const ckpd__place *job_place,
                              const ckpd__json *job_node, ckpd__case_job *job)
{
    const ckpd__json *pairs;
    int32_t count = ckpd__member_items(job_node, "forbidden_transitions", &pairs);
    ckpd__place list = {job_place, "forbidden_transitions", 0};
    job->forbidden = ckpd__calloc(loaded->context, 2 * (size_t)count, sizeof *job->forbidden);
    if (job->forbidden == NULL) {
        return ckpd__no_memory(loaded->context);
    }
    job->forbidden_count = count;
    for (int32_t i = 0; i < 2 * count; i++) {
        const char *label = pairs[i / 2].items[i % 2].text;
        job->forbidden[i] = ckpd__case_find_label(job->modes, label);
        if (job->forbidden[i] < 0) {
            ckpd__place here = {&list, NULL, i / 2};
            char message[300];
            ckpd__format(message, sizeof message,
                         "no retained mode of this job is labelled '%s' (see `modes`)", label);
            return ckpd__refuse(loaded->context, &here, CKPD_ERR_UNKNOWN_NAME, (double)NAN,
                                message);
        }
    }
    return CKPD_OK;
}

/* --- jobs
 * ------------------------------------------------------------------------------------------ */

static int32_t read_job_rules(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                              ckpd__case_job *job)
{
    const ckpd__json *own = ckpd__json_member(node, "mode_rules");
    if (own == NULL) {
        return CKPD_OK;
    }
    ckpd__place here = {place, "mode_rules", 0};
    int32_t status = ckpd_mode_rules_new(&job->rules, loaded->context);
    status = status == CKPD_OK ? ckpd__handle_copy(&ckpd__rules_type, loaded->rules, job->rules)
                               : status;
    for (int32_t i = 0; i < ckpd_mode_rules_list_count() && status == CKPD_OK; i++) {
        enum { MOST = 64 };
        int32_t values[MOST], count = 0;
        const char *list = ckpd_mode_rules_list_name(i);
        status = ckpd_mode_rules_get_list(loaded->rules, list, MOST, values, &count);
        if (status == CKPD_OK && count > 0) {
            status = ckpd_mode_rules_set_list(job->rules, list, count, values);
        }
    }
    return status == CKPD_OK ? ckpd__case_read_rules(loaded->context, &here, own, job->rules)
                             : status;
}

static int32_t read_job(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                        ckpd__case_job *job)
{
    ckpd_context *context = loaded->context;
    const ckpd__object *object = &ckpd__objects[CKPD__AT_JOB];
    int32_t status = ckpd__read_object(context, place, node, object);
    if (status != CKPD_OK) {
        return status;
    }
    status = read_task(context, place, ckpd__json_member(node, "task"),
                       ckpd__member_text(node, "name"), job);
    status = status == CKPD_OK ? read_job_rules(loaded, place, node, job) : status;
    const ckpd__json *modes = ckpd__json_member(node, "modes");
    status = status == CKPD_OK && modes != NULL ? read_table(context, place, modes, job) : status;
    status = status == CKPD_OK ? ckpd__case_read_runs(loaded, place, node, job) : status;
    status = status == CKPD_OK ? build_modes(loaded, place, job) : status;
    status = status == CKPD_OK ? ckpd__case_read_changes(loaded, place, node, job) : status;
    const char *transitions = ckpd__member_text(node, "transitions");
    if (transitions != NULL) {
        ckpd__member member;
        ckpd__member_find(object, "transitions", &member);
        job->transitions = ckpd__choice_position(member.choices, transitions);
    }
    return status == CKPD_OK ? read_forbidden(loaded, place, node, job) : status;
}

static int32_t check_unique(ckpd_case *loaded, const ckpd__place *list, int32_t last)
{
    const char *name = ckpd_task_name(loaded->jobs[last].task);
    for (int32_t i = 0; i < last; i++) {
        if (strcmp(ckpd_task_name(loaded->jobs[i].task), name) == 0) {
            ckpd__place item = {list, NULL, last}, here = {&item, "name", 0};
            char message[360];
            ckpd__format(message, sizeof message, "'%s' is also the name of jobs[%d]", name, i);
            return ckpd__refuse(loaded->context, &here, CKPD_ERR_DUPLICATE, (double)NAN, message);
        }
    }
    return CKPD_OK;
}

int32_t ckpd__case_read_jobs(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *array)
{
    ckpd__place list = {root, "jobs", 0};
    loaded->jobs = ckpd__calloc(loaded->context, (size_t)array->count, sizeof *loaded->jobs);
    if (loaded->jobs == NULL) {
        return ckpd__no_memory(loaded->context);
    }
    loaded->job_count = array->count;
    for (int32_t i = 0; i < array->count; i++) {
        ckpd__place here = {&list, NULL, i};
        int32_t status = read_job(loaded, &here, &array->items[i], &loaded->jobs[i]);
        status = status == CKPD_OK ? check_unique(loaded, &list, i) : status;
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}
