/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The canonical text of a case, written from its handles. */
#include "io/case.h"
#include "io/file.h"

#include <math.h>
#include <string.h>

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/*
 * Writes the fields whose value differs from `base`, a handle of the same type with nothing set, as
 * an object named `wrap` (only when there are any) or, with NULL, into the object that is open.
 */
int32_t ckpd__case_write_fields(ckpd__writer *writer, const char *wrap,
                                const ckpd__handle_type *type, const void *handle, const void *base)
{
    int32_t count = type->count();
    bool wrapped = false;
    for (int32_t i = 0; i < count; i++) {
        ckpd_field_info info = {.size = sizeof info};
        double value, normal;
        int32_t status = type->info(i, &info);
        status = status == CKPD_OK ? type->get(handle, info.name, &value) : status;
        status = status == CKPD_OK ? type->get(base, info.name, &normal) : status;
        if (status != CKPD_OK) {
            return status;
        }
        if (same(value, normal) || !isfinite(value)) {
            continue;
        }
        if (wrap != NULL && !wrapped) {
            ckpd__write_open(writer, wrap, '{');
            wrapped = true;
        }
        if (info.kind == CKPD_FIELD_CHOICE) {
            char text[64];
            ckpd__choice_text(info.choices, value, text, sizeof text);
            ckpd__write_text(writer, info.name, text);
        } else if (info.kind == CKPD_FIELD_FLAG) {
            ckpd__write_flag(writer, info.name, value != 0);
        } else {
            ckpd__write_number(writer, info.name, value);
        }
    }
    if (wrapped) {
        ckpd__write_close(writer, '}');
    }
    return CKPD_OK;
}

static void write_optional_text(ckpd__writer *writer, const char *key, const char *text)
{
    if (text != NULL) {
        ckpd__write_text(writer, key, text);
    }
}

/* --- site
 * ------------------------------------------------------------------------------------------ */

static void write_constant(ckpd__writer *writer, const char *key, double value)
{
    if (isinf(value)) {
        ckpd__write_text(writer, key, "unlimited");
    } else {
        ckpd__write_number(writer, key, value);
    }
}

/* A file reference as it was given, members in the order of the format. */
static void write_reference(ckpd__writer *writer, const char *key, const ckpd__json *source)
{
    const ckpd__object *object = &ckpd__objects[CKPD__AT_FILE];
    ckpd__write_open(writer, key, '{');
    for (int32_t i = 0; i < ckpd__member_count(object); i++) {
        ckpd__member member;
        double ignored;
        const ckpd__json *value = ckpd__member_at(object, i, &member, &ignored)
                                      ? ckpd__json_member(source, member.name)
                                      : NULL;
        if (value == NULL) {
            continue;
        }
        if (value->kind == CKPD__JSON_TEXT) {
            ckpd__write_text(writer, member.name, value->text);
        } else if (value->kind == CKPD__JSON_FLAG) {
            ckpd__write_flag(writer, member.name, value->number != 0);
        } else if (value->kind == CKPD__JSON_NUMBER) {
            ckpd__write_number(writer, member.name, value->number);
        } else {
            ckpd__write_open_flat(writer, member.name, '[');
            for (int32_t pair = 0; pair < value->count; pair++) {
                ckpd__write_open(writer, NULL, '[');
                ckpd__write_text(writer, NULL, value->items[pair].items[0].text);
                ckpd__write_text(writer, NULL, value->items[pair].items[1].text);
                ckpd__write_close(writer, ']');
            }
            ckpd__write_close(writer, ']');
        }
    }
    ckpd__write_close(writer, '}');
}

static int32_t write_series(const ckpd_case *loaded, ckpd__writer *writer, double *values,
                            bool for_digest)
{
    int32_t count = ckpd_site_series_count();
    for (int32_t i = 0; i < count; i++) {
        ckpd_field_info info = {.size = sizeof info};
        int32_t status = ckpd_site_series_info(i, &info);
        status = status == CKPD_OK
                     ? ckpd_site_get_series(loaded->site, info.name, values, loaded->slots)
                     : status;
        if (status != CKPD_OK) {
            return status;
        }
        bool constant = true;
        for (int32_t t = 1; t < loaded->slots; t++) {
            constant = constant && values[t] == values[0];
        }
        if (!for_digest && loaded->sources[i].kind == CKPD__JSON_OBJECT) {
            write_reference(writer, info.name, &loaded->sources[i]);
        } else if (!constant) {
            ckpd__write_numbers(writer, info.name, values, loaded->slots);
        } else if (!same(values[0], info.default_value)) {
            write_constant(writer, info.name, values[0]);
        }
    }
    return CKPD_OK;
}

static int32_t write_battery(const ckpd_case *loaded, ckpd__writer *writer)
{
    if (loaded->battery == NULL) {
        return CKPD_OK;
    }
    ckpd_battery *base = NULL;
    int32_t status = ckpd_battery_new(&base, loaded->context);
    if (status == CKPD_OK) {
        ckpd__write_open(writer, "batteries", '[');
        ckpd__write_open(writer, NULL, '{');
        status = ckpd__case_write_fields(writer, NULL, &ckpd__battery_type, loaded->battery, base);
        ckpd__write_close(writer, '}');
        ckpd__write_close(writer, ']');
    }
    ckpd_battery_free(base);
    return status;
}

static void write_curves(const ckpd_case *loaded, ckpd__writer *writer)
{
    if (loaded->curve_count == 0) {
        return;
    }
    ckpd__member argument;
    ckpd__member_find(&ckpd__objects[CKPD__AT_CURVE], "argument", &argument);
    ckpd__write_open(writer, "cost_curves", '[');
    for (int32_t i = 0; i < loaded->curve_count; i++) {
        const ckpd__curve *curve = &loaded->curves[i];
        char text[32];
        ckpd__choice_text(argument.choices, curve->argument - 1, text, sizeof text);
        ckpd__write_open_flat(writer, NULL, '{');
        if (curve->slot >= 0) {
            ckpd__write_integer(writer, "slot", curve->slot);
        }
        ckpd__write_text(writer, "argument", text);
        ckpd__write_open(writer, "points", '[');
        for (int32_t p = 0; p < curve->count; p++) {
            double pair[2] = {curve->x_kw[p], curve->money_per_hour[p]};
            ckpd__write_numbers(writer, NULL, pair, 2);
        }
        ckpd__write_close(writer, ']');
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
}

static int32_t write_site(const ckpd_case *loaded, ckpd__writer *writer, bool for_digest)
{
    double *values = ckpd__calloc(loaded->context, (size_t)loaded->slots, sizeof *values);
    if (values == NULL) {
        return ckpd__no_memory(loaded->context);
    }
    ckpd__write_open(writer, "site", '{');
    int32_t status = write_series(loaded, writer, values, for_digest);
    status = status == CKPD_OK ? write_battery(loaded, writer) : status;
    write_curves(loaded, writer);
    ckpd__write_close(writer, '}');
    ckpd__free(loaded->context, values);
    return status;
}

/* --- hardware and rules
 * ------------------------------------------------------------------------------ */

static int32_t write_hardware(const ckpd_case *loaded, ckpd__writer *writer)
{
    if (loaded->hardware == NULL) {
        return CKPD_OK;
    }
    ckpd_hardware *base = NULL;
    const char *preset = ckpd_hardware_name(loaded->hardware);
    int32_t status = ckpd_hardware_new(&base, loaded->context, preset);
    if (status == CKPD_OK) {
        ckpd__write_open(writer, "hardware", '[');
        ckpd__write_open(writer, NULL, '{');
        ckpd__write_text(writer, "preset", preset);
        status =
            ckpd__case_write_fields(writer, NULL, &ckpd__hardware_type, loaded->hardware, base);
        ckpd__write_close(writer, '}');
        ckpd__write_close(writer, ']');
    }
    ckpd_hardware_free(base);
    return status;
}

static int32_t write_rule_list(ckpd__writer *writer, const char *name, const ckpd_mode_rules *rules,
                               const ckpd_mode_rules *base)
{
    enum { MOST = 64 };
    int32_t values[MOST], others[MOST], count = 0, other_count = 0;
    int32_t status = ckpd_mode_rules_get_list(rules, name, MOST, values, &count);
    status = status == CKPD_OK ? ckpd_mode_rules_get_list(base, name, MOST, others, &other_count)
                               : status;
    if (status != CKPD_OK || count == 0 ||
        (count == other_count && memcmp(values, others, (size_t)count * sizeof *values) == 0)) {
        return status;
    }
    ckpd__member member;
    bool known = ckpd__member_find(&ckpd__objects[CKPD__AT_RULES], name, &member);
    bool named = known && member.type == CKPD__MEMBER_CHOICES;
    ckpd__write_open_flat(writer, name, '[');
    for (int32_t i = 0; i < count; i++) {
        char text[32];
        if (named) {
            ckpd__choice_text(member.choices, values[i], text, sizeof text);
            ckpd__write_text(writer, NULL, text);
        } else {
            ckpd__write_integer(writer, NULL, values[i]);
        }
    }
    ckpd__write_close(writer, ']');
    return CKPD_OK;
}

static int32_t write_rules(ckpd_context *context, ckpd__writer *writer,
                           const ckpd_mode_rules *rules, const ckpd_mode_rules *base)
{
    ckpd_mode_rules *fresh = NULL;
    int32_t status = base == NULL ? ckpd_mode_rules_new(&fresh, context) : CKPD_OK;
    base = base == NULL ? fresh : base;
    ckpd__write_open(writer, "mode_rules", '{');
    status = status == CKPD_OK
                 ? ckpd__case_write_fields(writer, NULL, &ckpd__rules_type, rules, base)
                 : status;
    for (int32_t i = 0; i < ckpd_mode_rules_list_count() && status == CKPD_OK; i++) {
        status = write_rule_list(writer, ckpd_mode_rules_list_name(i), rules, base);
    }
    ckpd__write_close(writer, '}');
    ckpd_mode_rules_free(fresh);
    return status;
}

/* --- jobs
 * --------------------------------------------------------------------------------------------- */

static int32_t write_task(ckpd_context *context, ckpd__writer *writer, const ckpd__case_job *job)
{
    ckpd_task *base = NULL;
    int32_t status = ckpd_task_new(&base, context, ckpd_task_name(job->task));
    if (status == CKPD_OK && job->model != NULL) {
        status = ckpd_task_set_model(base, job->model);
    }
    if (status == CKPD_OK && job->reference != NULL) {
        status = ckpd_task_set_reference(base, job->reference);
    }
    ckpd__write_open(writer, "task", '{');
    write_optional_text(writer, "model", job->model);
    write_optional_text(writer, "reference", job->reference);
    status = status == CKPD_OK
                 ? ckpd__case_write_fields(writer, NULL, &ckpd__task_type, job->task, base)
                 : status;
    ckpd__write_close(writer, '}');
    ckpd_task_free(base);
    return status;
}

static void write_table(ckpd__writer *writer, const ckpd__measured *table)
{
    ckpd__write_open(writer, "modes", '[');
    for (int32_t i = 0; i < table->count; i++) {
        ckpd__write_open_flat(writer, NULL, '{');
        ckpd__write_integer(writer, "gpus", table->gpus[i]);
        ckpd__write_number(writer, "rate_per_s", table->rate[i]);
        ckpd__write_number(writer, "power_kw", table->power_kw[i]);
        if (table->idle) {
            ckpd__write_number(writer, "idle_power_kw", table->idle_power_kw[i]);
        }
        if (table->layouts) {
            ckpd__write_integer(writer, "tp", table->tp[i]);
            ckpd__write_integer(writer, "pp", table->pp[i]);
            ckpd__write_integer(writer, "dp", table->dp[i]);
            ckpd__write_integer(writer, "micro_batch", table->micro_batch[i]);
        }
        write_optional_text(writer, "label", table->label[i]);
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
}

static void write_transitions(ckpd__writer *writer, const ckpd__case_job *job)
{
    if (job->transitions != CKPD__TRANSITIONS_ANY) {
        ckpd__member member;
        char text[32];
        ckpd__member_find(&ckpd__objects[CKPD__AT_JOB], "transitions", &member);
        ckpd__choice_text(member.choices, job->transitions, text, sizeof text);
        ckpd__write_text(writer, "transitions", text);
    }
    if (job->forbidden_count == 0) {
        return;
    }
    ckpd__write_open(writer, "forbidden_transitions", '[');
    for (int32_t i = 0; i < job->forbidden_count; i++) {
        ckpd__write_open_flat(writer, NULL, '[');
        ckpd__write_text(writer, NULL, ckpd_mode_set_label(job->modes, job->forbidden[2 * i]));
        ckpd__write_text(writer, NULL, ckpd_mode_set_label(job->modes, job->forbidden[2 * i + 1]));
        ckpd__write_close(writer, ']');
    }
    ckpd__write_close(writer, ']');
}

static int32_t write_jobs(const ckpd_case *loaded, ckpd__writer *writer)
{
    int32_t status = CKPD_OK;
    ckpd__write_open(writer, "jobs", '[');
    for (int32_t i = 0; i < loaded->job_count && status == CKPD_OK; i++) {
        const ckpd__case_job *job = &loaded->jobs[i];
        ckpd__write_open(writer, NULL, '{');
        ckpd__write_text(writer, "name", ckpd_task_name(job->task));
        status = write_task(loaded->context, writer, job);
        if (status == CKPD_OK && job->rules != NULL) {
            status = write_rules(loaded->context, writer, job->rules, loaded->rules);
        }
        if (job->table != NULL) {
            write_table(writer, job->table);
        }
        ckpd__case_write_runs(writer, job);
        status =
            status == CKPD_OK ? ckpd__case_write_changes(loaded->context, writer, job) : status;
        write_transitions(writer, job);
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
    return status;
}

/* --- options and published figures
 * ----------------------------------------------------------------- */

static int32_t write_graph(const ckpd_case *loaded, ckpd__writer *writer)
{
    ckpd_graph_options *base = NULL;
    int32_t status = ckpd_graph_options_new(&base, loaded->context);
    if (status == CKPD_OK) {
        status = ckpd__case_write_fields(writer, "graph", &ckpd__graph_type, loaded->graph, base);
    }
    ckpd_graph_options_free(base);
    return status;
}

static int32_t write_solve(const ckpd_case *loaded, ckpd__writer *writer)
{
    ckpd_solve_options *base = NULL;
    const char *wrap = loaded->backend == NULL ? "solve" : NULL;
    int32_t status = ckpd_solve_options_new(&base, loaded->context);
    if (wrap == NULL) {
        ckpd__write_open(writer, "solve", '{');
        ckpd__write_text(writer, "backend", loaded->backend);
    }
    if (status == CKPD_OK) {
        status = ckpd__case_write_fields(writer, wrap, &ckpd__solve_type, loaded->solve, base);
    }
    if (wrap == NULL) {
        ckpd__write_close(writer, '}');
    }
    ckpd_solve_options_free(base);
    return status;
}

static void write_published(const ckpd_case *loaded, ckpd__writer *writer)
{
    if (!loaded->has_published) {
        return;
    }
    ckpd__write_open(writer, "published", '{');
    write_optional_text(writer, "source", loaded->published_source);
    ckpd__write_open(writer, "figures", '[');
    for (int32_t i = 0; i < loaded->figure_count; i++) {
        const ckpd__figure *figure = &loaded->figures[i];
        char scenario[3] = {'S', (char)('0' + figure->scenario), '\0'};
        ckpd__write_open_flat(writer, NULL, '{');
        write_optional_text(writer, "scenario", figure->scenario > 0 ? scenario : NULL);
        write_optional_text(writer, "job", figure->job);
        ckpd__write_text(writer, "figure", figure->figure);
        ckpd__write_number(writer, "value", figure->value);
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
    ckpd__write_close(writer, '}');
}

int32_t ckpd__case_write(const ckpd_case *loaded, ckpd__writer *writer, bool for_digest)
{
    ckpd__write_open(writer, NULL, '{');
    ckpd__write_text(writer, "schema", "ckptdispatch-case");
    ckpd__write_integer(writer, "schema_version", CKPD_CASE_SCHEMA_VERSION);
    if (!for_digest) {
        ckpd__write_text(writer, "name", loaded->name);
        write_optional_text(writer, "description", loaded->description);
    }
    ckpd__write_open(writer, "horizon", '{');
    ckpd__write_integer(writer, "slots", loaded->slots);
    ckpd__write_number(writer, "slot_minutes", loaded->slot_minutes);
    write_optional_text(writer, "start", loaded->start);
    ckpd__write_close(writer, '}');
    int32_t status = write_site(loaded, writer, for_digest);
    status = status == CKPD_OK ? write_hardware(loaded, writer) : status;
    status = status == CKPD_OK ? write_rules(loaded->context, writer, loaded->rules, NULL) : status;
    status = status == CKPD_OK ? write_jobs(loaded, writer) : status;
    status = status == CKPD_OK ? write_graph(loaded, writer) : status;
    if (!for_digest && status == CKPD_OK) {
        status = write_solve(loaded, writer);
        write_published(loaded, writer);
    }
    ckpd__write_close(writer, '}');
    int32_t end = ckpd__writer_end(writer);
    return status == CKPD_OK ? end : status;
}

int32_t ckpd_case_write(const ckpd_case *loaded, ckpd_write_fn write, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (write == NULL) {
        return ckpd__null_argument(loaded->context, "write");
    }
    ckpd__writer writer;
    ckpd__writer_begin(&writer, loaded->context, write, user);
    return ckpd__case_write(loaded, &writer, false);
}

int32_t ckpd_case_save(const ckpd_case *loaded, const char *path)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (path == NULL) {
        return ckpd__null_argument(loaded->context, "path");
    }
    ckpd__file *file;
    int32_t status = ckpd__file_create(&file, loaded->context, path);
    if (status != CKPD_OK) {
        return status;
    }
    return ckpd__file_close(file, ckpd_case_write(loaded, ckpd__file_write, file));
}

/* --- digest
 * -------------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits: offset basis and prime as published by Fowler, Noll and Vo. */
static int32_t hash_text(const char *text, size_t length, void *user)
{
    uint64_t *hash = user;
    for (size_t i = 0; i < length; i++) {
        *hash = (*hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return 0;
}

int32_t ckpd__case_make_digest(ckpd_case *loaded)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    ckpd__writer writer;
    ckpd__writer_begin(&writer, loaded->context, hash_text, &hash);
    int32_t status = ckpd__case_write(loaded, &writer, true);
    memcpy(loaded->digest, "fnv1a64:", 8);
    for (int32_t i = 0; i < 16; i++) {
        loaded->digest[8 + i] = "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
    }
    loaded->digest[24] = '\0';
    return status;
}
