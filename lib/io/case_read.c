/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/case.h"

#include <math.h>
#include <string.h>

int32_t ckpd__handle_copy(const ckpd__handle_type *type, const void *from, void *to)
{
    int32_t count = type->count();
    for (int32_t i = 0; i < count; i++) {
        ckpd_field_info info = {.size = sizeof info};
        double value;
        int32_t status = type->info(i, &info);
        status = status == CKPD_OK ? type->get(from, info.name, &value) : status;
        if (status == CKPD_OK && !isnan(value)) {
            char text[64];
            ckpd__choice_text(info.choices, value, text, sizeof text);
            status = info.kind == CKPD_FIELD_CHOICE ? type->set_text(to, info.name, text)
                                                    : type->set(to, info.name, value);
        }
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

/* Copies a text member when it is there. */
static int32_t keep_text(ckpd_context *context, const ckpd__json *object, const char *name,
                         char **to)
{
    const char *text = ckpd__member_text(object, name);
    if (text != NULL) {
        *to = ckpd__strdup(context, text);
        if (*to == NULL) {
            return ckpd__no_memory(context);
        }
    }
    return CKPD_OK;
}

/* Times from horizon.start, at its own offset throughout. */
static int32_t set_times(ckpd_case *loaded, const ckpd__place *place)
{
    ckpd__label label = {0};
    const char *wrong = ckpd__label_parse(loaded->start, CKPD__YMD, &label);
    if (wrong == NULL && label.style.clock != CKPD__CLOCK_Z &&
        label.style.clock != CKPD__CLOCK_OFFSET) {
        wrong = "give the offset from UTC too, as in 2024-04-09T00:00-07:00 or 2024-04-09T07:00Z";
    }
    if (wrong != NULL) {
        return ckpd__refuse(loaded->context, place, CKPD_ERR_SYNTAX, (double)NAN, wrong);
    }
    loaded->offset_s =
        ckpd__calloc(loaded->context, (size_t)loaded->slots, sizeof *loaded->offset_s);
    if (loaded->offset_s == NULL) {
        return ckpd__no_memory(loaded->context);
    }
    for (int32_t t = 0; t < loaded->slots; t++) {
        loaded->offset_s[t] = label.offset_s;
    }
    loaded->has_times = true;
    loaded->style = label.style;
    loaded->start_utc = label.wall - label.offset_s;
    return CKPD_OK;
}

static int32_t read_horizon(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *node)
{
    ckpd__place place = {root, "horizon", 0};
    ckpd_context *context = loaded->context;
    int32_t status = ckpd__read_object(context, &place, node, &ckpd__objects[CKPD__AT_HORIZON]);
    status = status == CKPD_OK ? keep_text(context, node, "start", &loaded->start) : status;
    if (status != CKPD_OK) {
        return status;
    }
    loaded->slots = (int32_t)ckpd__member_number(node, "slots", 0);
    loaded->slot_minutes = ckpd__member_number(node, "slot_minutes", 0);
    ckpd__place start_place = {&place, "start", 0};
    status = loaded->start != NULL ? set_times(loaded, &start_place) : CKPD_OK;
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd_site_new(&loaded->site, context, loaded->slots, loaded->slot_minutes / 60);
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &place, status);
}

static int32_t read_hardware(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *list)
{
    ckpd__place list_place = {root, "hardware", 0}, place = {&list_place, NULL, 0};
    ckpd_context *context = loaded->context;
    if (list == NULL || list->count == 0) {
        return CKPD_OK;
    }
    if (list->count > 1) {
        ckpd__place second = {&list_place, NULL, 1};
        return ckpd__refuse(context, &second, CKPD_ERR_NOT_SUPPORTED, list->count,
                            "a second GPU type is not supported yet");
    }
    const ckpd__json *node = &list->items[0];
    const ckpd__object *object = &ckpd__objects[CKPD__AT_HARDWARE];
    int32_t status = ckpd__read_object(context, &place, node, object);
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd_hardware_new(&loaded->hardware, context, ckpd__member_text(node, "preset"));
    if (status != CKPD_OK) {
        ckpd__place here = {&place, "preset", 0};
        return ckpd__refuse_with(context, &here, status);
    }
    return ckpd__read_fields(context, &place, node, object, loaded->hardware);
}

/* The values of a list as numbers of the rules; names of recomputation become their codes. */
static int32_t read_rule_list(ckpd_context *context, const ckpd__place *place,
                              const ckpd__json *node, const ckpd__member *member,
                              ckpd_mode_rules *rules)
{
    enum { MOST = 64 };
    int32_t values[MOST];
    ckpd__place here = {place, member->name, 0};
    if (node->count == 0 || node->count > MOST) {
        return ckpd__refuse(context, &here, CKPD_ERR_LENGTH, node->count,
                            "expected 1 to 64 values");
    }
    for (int32_t i = 0; i < node->count; i++) {
        values[i] = member->type == CKPD__MEMBER_CHOICES
                        ? ckpd__choice_position(member->choices, node->items[i].text)
                        : (int32_t)node->items[i].number;
    }
    int32_t status = ckpd_mode_rules_set_list(rules, member->name, node->count, values);
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &here, status);
}

int32_t ckpd__case_read_rules(ckpd_context *context, const ckpd__place *place,
                              const ckpd__json *node, ckpd_mode_rules *rules)
{
    const ckpd__object *object = &ckpd__objects[CKPD__AT_RULES];
    int32_t status = ckpd__read_object(context, place, node, object);
    status = status == CKPD_OK ? ckpd__read_fields(context, place, node, object, rules) : status;
    for (int32_t i = 0; i < object->count && status == CKPD_OK; i++) {
        const ckpd__json *list = ckpd__json_member(node, object->members[i].name);
        if (list != NULL) {
            status = read_rule_list(context, place, list, &object->members[i], rules);
        }
    }
    return status;
}

static int32_t read_rules(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *node)
{
    ckpd__place place = {root, "mode_rules", 0};
    int32_t status = ckpd_mode_rules_new(&loaded->rules, loaded->context);
    return status == CKPD_OK ? ckpd__case_read_rules(loaded->context, &place, node, loaded->rules)
                             : status;
}

static int32_t read_options(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *node)
{
    ckpd_context *context = loaded->context;
    ckpd__place graph_place = {root, "graph", 0}, solve_place = {root, "solve", 0};
    const ckpd__json *graph = ckpd__json_member(node, "graph");
    const ckpd__json *solve = ckpd__json_member(node, "solve");
    const ckpd__object *graph_object = &ckpd__objects[CKPD__AT_GRAPH];
    const ckpd__object *solve_object = &ckpd__objects[CKPD__AT_SOLVE];
    int32_t status = ckpd_graph_options_new(&loaded->graph, context);
    status = status == CKPD_OK ? ckpd_solve_options_new(&loaded->solve, context) : status;
    if (status == CKPD_OK && graph != NULL) {
        status = ckpd__read_object(context, &graph_place, graph, graph_object);
        status = status == CKPD_OK
                     ? ckpd__read_fields(context, &graph_place, graph, graph_object, loaded->graph)
                     : status;
    }
    if (status == CKPD_OK && solve != NULL) {
        status = ckpd__read_object(context, &solve_place, solve, solve_object);
        status = status == CKPD_OK
                     ? ckpd__read_fields(context, &solve_place, solve, solve_object, loaded->solve)
                     : status;
        status =
            status == CKPD_OK ? keep_text(context, solve, "backend", &loaded->backend) : status;
    }
    return status;
}

static int32_t read_figure(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                           ckpd__figure *figure)
{
    const ckpd__object *object = &ckpd__objects[CKPD__AT_FIGURE];
    int32_t status = ckpd__read_object(loaded->context, place, node, object);
    if (status != CKPD_OK) {
        return status;
    }
    const char *scenario = ckpd__member_text(node, "scenario");
    figure->scenario = scenario != NULL ? scenario[1] - '0' : 0;
    figure->value = ckpd__member_number(node, "value", 0);
    status = keep_text(loaded->context, node, "job", &figure->job);
    return status == CKPD_OK ? keep_text(loaded->context, node, "figure", &figure->figure) : status;
}

static int32_t read_published(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *node)
{
    if (node == NULL) {
        return CKPD_OK;
    }
    ckpd_context *context = loaded->context;
    ckpd__place place = {root, "published", 0}, list = {&place, "figures", 0};
    int32_t status = ckpd__read_object(context, &place, node, &ckpd__objects[CKPD__AT_PUBLISHED]);
    status =
        status == CKPD_OK ? keep_text(context, node, "source", &loaded->published_source) : status;
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__json *figures;
    int32_t count = ckpd__member_items(node, "figures", &figures);
    loaded->has_published = true;
    loaded->figures = ckpd__calloc(context, (size_t)count, sizeof *loaded->figures);
    if (loaded->figures == NULL) {
        return ckpd__no_memory(context);
    }
    loaded->figure_count = count;
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        ckpd__place here = {&list, NULL, i};
        status = read_figure(loaded, &here, &figures[i], &loaded->figures[i]);
    }
    return status;
}

/* Kind and version first: a file of another kind must not be reported as full of unknown fields. */
static int32_t read_header(ckpd_case *loaded, const ckpd__json *root)
{
    ckpd_context *context = loaded->context;
    const ckpd__json *schema = ckpd__json_member(root, "schema");
    const ckpd__json *version = ckpd__json_member(root, "schema_version");
    if (root->kind != CKPD__JSON_OBJECT || schema == NULL || schema->kind != CKPD__JSON_TEXT ||
        strcmp(schema->text, "ckptdispatch-case") != 0) {
        return ckpd__fail(
            context, CKPD_ERR_SCHEMA, "schema", -1, (double)NAN,
            "this is no case file: an object with \"schema\": \"ckptdispatch-case\" is "
            "expected%s%s",
            schema != NULL && schema->kind == CKPD__JSON_TEXT ? ", this one is of schema " : "",
            schema != NULL && schema->kind == CKPD__JSON_TEXT ? schema->text : "");
    }
    double number =
        version != NULL && version->kind == CKPD__JSON_NUMBER ? version->number : (double)NAN;
    if (number != CKPD_CASE_SCHEMA_VERSION) {
        return ckpd__fail(
            context, CKPD_ERR_SCHEMA, "schema_version", -1, number,
            "schema_version: the file is of version %g, this library reads version %d", number,
            CKPD_CASE_SCHEMA_VERSION);
    }
    return CKPD_OK;
}

int32_t ckpd__case_read(ckpd_case *loaded, const ckpd__json *root, const char *beside)
{
    ckpd_context *context = loaded->context;
    ckpd__place top = {NULL, NULL, 0};
    int32_t status = read_header(loaded, root);
    status = status == CKPD_OK
                 ? ckpd__read_object(context, &top, root, &ckpd__objects[CKPD__AT_CASE])
                 : status;
    status = status == CKPD_OK ? keep_text(context, root, "name", &loaded->name) : status;
    status =
        status == CKPD_OK ? keep_text(context, root, "description", &loaded->description) : status;
    if (status == CKPD_OK) {
        status = read_horizon(loaded, &top, ckpd__json_member(root, "horizon"));
    }
    if (status == CKPD_OK) {
        status = ckpd__case_read_site(loaded, &top, ckpd__json_member(root, "site"), beside);
    }
    if (status == CKPD_OK) {
        status = read_hardware(loaded, &top, ckpd__json_member(root, "hardware"));
    }
    if (status == CKPD_OK) {
        status = read_rules(loaded, &top, ckpd__json_member(root, "mode_rules"));
    }
    status = status == CKPD_OK ? read_options(loaded, &top, root) : status;
    if (status == CKPD_OK) {
        status = ckpd__case_read_jobs(loaded, &top, ckpd__json_member(root, "jobs"));
    }
    return status == CKPD_OK ? read_published(loaded, &top, ckpd__json_member(root, "published"))
                             : status;
}
