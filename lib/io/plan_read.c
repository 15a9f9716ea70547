/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/file.h"
#include "io/plan.h"

#include <math.h>
#include <string.h>

#define ANY -HUGE_VAL, HUGE_VAL
#define MEMBER(name, type, required)                           \
    {                                                          \
        name, CKPD__MEMBER_##type, required, "", "", NULL, ANY \
    }

/* What a plan file may hold. Derived figures are read by people and other programs, not by this
 * one. */
static const ckpd__member PLAN[] = {
    MEMBER("schema", TEXT, 1),
    MEMBER("schema_version", INTEGER, 1),
    MEMBER("case", TEXT, 0),
    MEMBER("case_digest", TEXT, 1),
    {"scenario", CKPD__MEMBER_CHOICE, 1, "", "", "S1|S2|S3|S4|S5|S6", ANY},
    {"outcome", CKPD__MEMBER_CHOICE, 0, "", "", ckpd__outcomes, ANY},
    MEMBER("proven", FLAG, 0),
    MEMBER("backend", TEXT, 0),
    MEMBER("cost", SERIES, 0),
    MEMBER("bound", SERIES, 0),
    MEMBER("absolute_gap", SERIES, 0),
    MEMBER("relative_gap", SERIES, 0),
    MEMBER("iterations", INTEGER, 0),
    MEMBER("nodes", INTEGER, 0),
    MEMBER("causes", SERIES, 0),
    MEMBER("figures", OBJECT, 0),
    MEMBER("overruns", OBJECTS, 0),
    MEMBER("jobs", OBJECTS, 0),
    MEMBER("series", OBJECT, 0)};
static const ckpd__member PLAN_JOB[] = {MEMBER("name", TEXT, 1), MEMBER("steps", OBJECTS, 1)};
#define COUNT(name, required)                                       \
    {                                                               \
        name, CKPD__MEMBER_INTEGER, required, "", "", NULL, -1, 1e7 \
    }
static const ckpd__member STEP[] = {
    COUNT("from_slot", 1), COUNT("to_slot", 1), COUNT("from_segment", 1), COUNT("to_segment", 1),
    COUNT("mode", 1),      COUNT("gpus", 1),    MEMBER("label", TEXT, 0)};
#define OWN(path, list)                                               \
    {                                                                 \
        path, "", list, (int32_t)(sizeof list / sizeof list[0]), NULL \
    }
static const ckpd__object plan_object = OWN("", PLAN), job_object = OWN("jobs[]", PLAN_JOB),
                          step_object = OWN("jobs[].steps[]", STEP);

int32_t ckpd__plan_check(ckpd_context *context, const ckpd__json *root)
{
    const ckpd__json *schema = ckpd__json_member(root, "schema");
    if (schema == NULL || schema->kind != CKPD__JSON_TEXT ||
        strcmp(schema->text, "ckptdispatch-plan") != 0) {
        return ckpd__fail(
            context, CKPD_ERR_SCHEMA, "schema", -1, (double)NAN,
            "this is no plan file: an object with \"schema\": \"ckptdispatch-plan\" is "
            "expected%s%s",
            schema != NULL && schema->kind == CKPD__JSON_TEXT ? ", this one is of schema " : "",
            schema != NULL && schema->kind == CKPD__JSON_TEXT ? schema->text : "");
    }
    ckpd__place top = {NULL, NULL, 0};
    int32_t status = ckpd__read_object(context, &top, root, &plan_object);
    if (status != CKPD_OK) {
        return status;
    }
    double version = ckpd__member_number(root, "schema_version", 0);
    if (version != CKPD_CASE_SCHEMA_VERSION) {
        return ckpd__fail(
            context, CKPD_ERR_SCHEMA, "schema_version", -1, version,
            "schema_version: this library reads version %d, the file is of version %g",
            CKPD_CASE_SCHEMA_VERSION, version);
    }
    return CKPD_OK;
}

int32_t ckpd__plan_check_steps(ckpd_context *context, const ckpd__place *place,
                               const ckpd__json *node)
{
    int32_t status = ckpd__read_object(context, place, node, &job_object);
    const ckpd__json *steps;
    int32_t count = status == CKPD_OK ? ckpd__member_items(node, "steps", &steps) : 0;
    ckpd__place list = {place, "steps", 0};
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        ckpd__place here = {&list, NULL, i};
        status = ckpd__read_object(context, &here, &steps[i], &step_object);
    }
    return status;
}

ckpd_step ckpd__plan_step(const ckpd__json *node)
{
    return (ckpd_step){.size = sizeof(ckpd_step),
                       .from_slot = (int32_t)ckpd__member_number(node, "from_slot", 0),
                       .to_slot = (int32_t)ckpd__member_number(node, "to_slot", 0),
                       .from_segment = (int32_t)ckpd__member_number(node, "from_segment", 0),
                       .to_segment = (int32_t)ckpd__member_number(node, "to_segment", 0),
                       .mode = (int32_t)ckpd__member_number(node, "mode", 0),
                       .gpus = (int32_t)ckpd__member_number(node, "gpus", 0)};
}

static int32_t read_head(const ckpd_case *loaded, const ckpd__json *root, ckpd_plan_info *info)
{
    ckpd_context *context = loaded->context;
    int32_t status = ckpd__plan_check(context, root);
    if (status != CKPD_OK) {
        return status;
    }
    const char *digest = ckpd__member_text(root, "case_digest");
    if (strcmp(digest, loaded->digest) != 0) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "case_digest", -1, (double)NAN,
            "the plan was made for another case: its case_digest is %s, that of case '%s' "
            "is %s",
            digest, loaded->name, loaded->digest);
    }
    const ckpd__json *cost = ckpd__json_member(root, "cost"),
                     *bound = ckpd__json_member(root, "bound");
    const char *outcome = ckpd__member_text(root, "outcome");
    info->scenario = ckpd__member_text(root, "scenario")[1] - '0';
    info->outcome = outcome != NULL ? 1 + ckpd__choice_position(ckpd__outcomes, outcome) : 0;
    info->cost = cost != NULL && cost->kind == CKPD__JSON_NUMBER ? cost->number : (double)NAN;
    info->bound = bound != NULL && bound->kind == CKPD__JSON_NUMBER ? bound->number : -HUGE_VAL;
    return CKPD_OK;
}

static int32_t read_steps(const ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                          int32_t job, ckpd_plan *plan)
{
    ckpd_context *context = loaded->context;
    int32_t status = ckpd__plan_check_steps(context, place, node);
    const char *expected = ckpd_task_name(loaded->jobs[job].task);
    if (status == CKPD_OK && strcmp(ckpd__member_text(node, "name"), expected) != 0) {
        char message[320];
        ckpd__place here = {place, "name", 0};
        ckpd__format(message, sizeof message, "the case names this job '%s'", expected);
        return ckpd__refuse(context, &here, CKPD_ERR_INCONSISTENT, (double)NAN, message);
    }
    const ckpd__json *steps;
    int32_t count = status == CKPD_OK ? ckpd__member_items(node, "steps", &steps) : 0;
    ckpd__place list = {place, "steps", 0};
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        ckpd__place here = {&list, NULL, i};
        ckpd_step step = ckpd__plan_step(&steps[i]);
        status = ckpd_plan_add_step(plan, job, &step);
        status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &here, status);
    }
    return status;
}

static int32_t read_flow(const ckpd_case *loaded, const ckpd__json *series, const char *name,
                         ckpd_plan *plan)
{
    ckpd_context *context = loaded->context;
    ckpd__place list = {NULL, "series", 0}, place = {&list, name, 0};
    const ckpd__json *array = ckpd__json_member(series, name);
    if (array == NULL || array->kind != CKPD__JSON_ARRAY) {
        return ckpd__refuse(context, &place, array == NULL ? CKPD_ERR_MISSING : CKPD_ERR_SCHEMA,
                            (double)NAN, "expected an array of numbers");
    }
    double *values = ckpd__calloc(context, (size_t)array->count, sizeof *values);
    int32_t status = values != NULL ? CKPD_OK : ckpd__no_memory(context);
    for (int32_t i = 0; i < array->count && status == CKPD_OK; i++) {
        ckpd__place here = {&place, NULL, i};
        values[i] = array->items[i].number;
        if (array->items[i].kind != CKPD__JSON_NUMBER) {
            status =
                ckpd__refuse(context, &here, CKPD_ERR_SCHEMA, (double)NAN, "expected a number");
        }
    }
    if (status == CKPD_OK) {
        status = ckpd_plan_set_series(plan, name, values, array->count);
        status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &place, status);
    }
    ckpd__free(context, values);
    return status;
}

static int32_t read_plan(const ckpd_case *loaded, const ckpd__json *root, ckpd_plan *plan)
{
    const ckpd__json *jobs, *series = ckpd__json_member(root, "series");
    int32_t count = ckpd__member_items(root, "jobs", &jobs), status = CKPD_OK;
    ckpd__place list = {NULL, "jobs", 0};
    if (count != loaded->job_count) {
        return ckpd__fail(loaded->context, CKPD_ERR_LENGTH, "jobs", -1, count,
                          "jobs: the plan has %d jobs, the case has %d", count, loaded->job_count);
    }
    for (int32_t j = 0; j < count && status == CKPD_OK; j++) {
        ckpd__place here = {&list, NULL, j};
        status = read_steps(loaded, &here, &jobs[j], j, plan);
    }
    for (int32_t i = 0; i < CKPD__FLOWS && status == CKPD_OK; i++) {
        status = read_flow(loaded, series, ckpd__plan_series[i], plan);
    }
    return status == CKPD_OK ? read_flow(loaded, series, "soc_kwh", plan) : status;
}

static int32_t parse(ckpd_plan **out, ckpd_plan_info *info, const ckpd_case *loaded,
                     const char *source, const char *text, size_t length)
{
    ckpd_context *context = loaded->context;
    ckpd__json *root = NULL;
    ckpd_plan *plan = NULL;
    ckpd_plan_info known = {.size = sizeof known};
    int32_t status = ckpd__json_parse(context, source, text, length, &root);
    status = status == CKPD_OK ? read_head(loaded, root, &known) : status;
    if (status == CKPD_OK && ckpd__json_member(root, "jobs") == NULL) {
        status = ckpd__fail(context, CKPD_ERR_STATE, "jobs", -1, (double)NAN, "%s holds no plan",
                            source);
    }
    status = status == CKPD_OK ? ckpd_plan_new(&plan, context, loaded->job_count, loaded->slots)
                               : status;
    status = status == CKPD_OK ? read_plan(loaded, root, plan) : status;
    if (status == CKPD_OK && info != NULL) {
        status = CKPD__STRUCT_OUT(context, plan_info, info, &known);
    }
    ckpd__json_free(context, root);
    if (status != CKPD_OK) {
        ckpd_plan_free(plan);
        return status;
    }
    *out = plan;
    return CKPD_OK;
}

int32_t ckpd_case_parse_plan(ckpd_plan **out, ckpd_plan_info *info, const ckpd_case *loaded,
                             const char *text, size_t length)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || text == NULL) {
        return ckpd__null_argument(loaded->context, out == NULL ? "out" : "text");
    }
    return parse(out, info, loaded, "plan", text, length);
}

int32_t ckpd_case_load_plan(ckpd_plan **out, ckpd_plan_info *info, const ckpd_case *loaded,
                            const char *path)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || path == NULL) {
        return ckpd__null_argument(loaded->context, out == NULL ? "out" : "path");
    }
    char *text;
    size_t length;
    int32_t status = ckpd__file_read(loaded->context, path, &text, &length);
    if (status != CKPD_OK) {
        return status;
    }
    status = parse(out, info, loaded, path, text, length);
    ckpd__free(loaded->context, text);
    return status;
}
