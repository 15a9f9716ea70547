/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Shaping cases: JSON to pool, microgrid, events, fillers and parameters. */
#include "io/file.h"
#include "io/reader.h"
#include "io/shape_table.h"

#include <ckptdispatch/io.h>

#include <math.h>
#include <string.h>

#define ANY -HUGE_VAL, HUGE_VAL
#define NUMBERS(name)                                                           \
    static int32_t name##_set(void *it, const char *field, double value)        \
    {                                                                           \
        return ckpd_##name##_set(it, field, value);                             \
    }                                                                           \
    static int32_t name##_get(const void *it, const char *field, double *value) \
    {                                                                           \
        return ckpd_##name##_get(it, field, value);                             \
    }
#define TEXTS(name)                                                               \
    static int32_t name##_set_text(void *it, const char *field, const char *text) \
    {                                                                             \
        return ckpd_##name##_set_text(it, field, text);                           \
    }
#define TYPE(name, object, texts)                                            \
    static const ckpd__handle_type name##_type = {object,                    \
                                                  ckpd_##name##_field_count, \
                                                  ckpd_##name##_field_info,  \
                                                  name##_set,                \
                                                  texts,                     \
                                                  name##_get}

NUMBERS(gpu_pool)
NUMBERS(microgrid)
TEXTS(microgrid)
NUMBERS(power_event)
TEXTS(power_event)
NUMBERS(filler)
NUMBERS(shape)
TYPE(gpu_pool, "GPU pool", NULL);
TYPE(microgrid, "microgrid", microgrid_set_text);
TYPE(power_event, "power event", power_event_set_text);
TYPE(filler, "filler", NULL);
TYPE(shape, "shape", NULL);

static const ckpd__member top_member[] = {
    {"schema", CKPD__MEMBER_CHOICE, 1, "", "what kind of file this is", "ckptdispatch-shape", ANY},
    {"schema_version", CKPD__MEMBER_INTEGER, 1, "", "version of the format", NULL, 1, 1},
    {"name", CKPD__MEMBER_TEXT, 1, "", "short name", NULL, ANY},
    {"description", CKPD__MEMBER_TEXT, 0, "", "what the case is", NULL, ANY},
    {"pool", CKPD__MEMBER_OBJECT, 1, "", "GPUs for filler work", NULL, ANY},
    {"microgrid", CKPD__MEMBER_OBJECT, 0, "", "machine and battery", NULL, ANY},
    {"events", CKPD__MEMBER_OBJECTS, 0, "", "checkpoints, unless they come from a plan", NULL, ANY},
    {"fillers", CKPD__MEMBER_OBJECTS, 0, "", "inference types; absent: all that ship", NULL, ANY},
    {"fillers_csv", CKPD__MEMBER_TEXT, 0, "", "file of further types, relative to the case", NULL,
     ANY},
    {"shape", CKPD__MEMBER_OBJECT, 0, "", "parameters of plan and control", NULL, ANY},
};
static const ckpd__member grid_member[] = {
    {"preset", CKPD__MEMBER_TEXT, 0, "", "microgrid whose numbers are the defaults", NULL, ANY},
};
static const ckpd__member event_member[] = {
    {"trace", CKPD__MEMBER_POINTS, 0, "s, W",
     "[seconds since onset, deficit] as measured: what runs simulate; plans keep the trapezoid",
     NULL, ANY},
};
static const ckpd__member filler_member[] = {
    {"name", CKPD__MEMBER_TEXT, 1, "", "of a type that ships, or with a table of a new one", NULL,
     ANY},
    {"table", CKPD__MEMBER_OBJECTS, 0, "", "rows with ascending batch", NULL, ANY},
    {"planned", CKPD__MEMBER_INTEGERS, 0, "", "batches that plans may use", NULL, 1, 1e6},
};
static const ckpd__member row_member[] = {
    {"axis", CKPD__MEMBER_NUMBER, 0, "",
     "value on the second axis, the same batches for each; all rows have it or none", NULL, -1e12,
     1e12},
    {"batch", CKPD__MEMBER_INTEGER, 1, "", "batch size", NULL, 1, 1e6},
    {"power_w_per_gpu", CKPD__MEMBER_NUMBER, 1, "W", "power of a GPU", NULL, 0, 1e6},
    {"duration_s", CKPD__MEMBER_NUMBER, 1, "s", "duration of a batch job", NULL, 1e-3, 86400},
};

enum { AT_CASE, AT_POOL, AT_GRID, AT_EVENT, AT_FILLER, AT_ROW, AT_SHAPE, AT_COUNT };

#define OWN(list) list, sizeof(list) / sizeof(list)[0]
static const ckpd__object objects[AT_COUNT] = {
    [AT_CASE] = {"", "the file as a whole", OWN(top_member), NULL},
    [AT_POOL] = {"pool", "GPUs that may run filler work", NULL, 0, &gpu_pool_type},
    [AT_GRID] = {"microgrid", "machine, governor and battery", OWN(grid_member), &microgrid_type},
    [AT_EVENT] = {"events[]", "a checkpoint: a drop of training power", OWN(event_member),
                  &power_event_type},
    [AT_FILLER] = {"fillers[]", "a type of inference work", OWN(filler_member), &filler_type},
    [AT_ROW] = {"fillers[].table[]", "a row of a type's table, in order of axis, then batch",
                OWN(row_member), NULL},
    [AT_SHAPE] = {"shape", "parameters of planning and control", NULL, 0, &shape_type},
};
static const ckpd__document document = {"Shaping case of ckptdispatch", objects, AT_COUNT};

int32_t ckpd_shape_member_count(void)
{
    return ckpd__document_member_count(&document);
}

int32_t ckpd_shape_member_info(int32_t index, ckpd_member_info *out)
{
    return ckpd__document_member_info(&document, index, out);
}

int32_t ckpd_shape_write_schema(ckpd_context *context, ckpd_write_fn write, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    return ckpd__document_write_schema(&document, context, write, user);
}

/* Checks an object and hands its fields to the handle; `status` is that of making the handle. */
static int32_t fill(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                    const ckpd__object *object, void *handle, int32_t status)
{
    if (status == CKPD_OK) {
        status = ckpd__read_object(context, place, node, object);
    }
    return status == CKPD_OK ? ckpd__read_fields(context, place, node, object, handle) : status;
}

static int32_t read_pool(ckpd_context *context, const ckpd__json *top, ckpd_shape **shape)
{
    const ckpd__place root = {NULL, NULL, 0}, place = {&root, "pool", 0};
    ckpd_gpu_pool *pool = NULL;
    int32_t status = ckpd_gpu_pool_new(&pool, context);
    status = fill(context, &place, ckpd__json_member(top, "pool"), &objects[AT_POOL], pool, status);
    if (status == CKPD_OK) {
        status = ckpd_shape_new(shape, context, pool);
        status = status == CKPD_OK ? status : ckpd__refuse_with(context, &place, status);
    }
    ckpd_gpu_pool_free(pool);
    return status;
}

static int32_t read_grid(ckpd_context *context, const ckpd__json *top, ckpd_microgrid **grid)
{
    const ckpd__place root = {NULL, NULL, 0}, place = {&root, "microgrid", 0};
    const ckpd__json *node = ckpd__json_member(top, "microgrid");
    if (node == NULL) {
        return ckpd_microgrid_new(grid, context, NULL);
    }
    int32_t status = ckpd__read_object(context, &place, node, &objects[AT_GRID]);
    if (status == CKPD_OK) {
        status = ckpd_microgrid_new(grid, context, ckpd__member_text(node, "preset"));
        status = status == CKPD_OK ? status : ckpd__refuse_with(context, &place, status);
    }
    return status == CKPD_OK ? ckpd__read_fields(context, &place, node, &objects[AT_GRID], *grid)
                             : status;
}

static int32_t read_trace(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                          ckpd_power_event *event)
{
    const ckpd__json *points;
    int32_t count = ckpd__member_items(node, "trace", &points);
    if (count == 0) {
        return CKPD_OK;
    }
    double *since_s = ckpd__calloc(context, 2 * (size_t)count, sizeof *since_s);
    if (since_s == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t i = 0; i < count; i++) {
        since_s[i] = points[i].items[0].number;
        since_s[count + i] = points[i].items[1].number;
    }
    int32_t status = ckpd_power_event_set_trace(event, count, since_s, since_s + count);
    ckpd__free(context, since_s);
    const ckpd__place here = {place, "trace", 0};
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &here, status);
}

static int32_t read_events(ckpd_context *context, const ckpd__json *top, ckpd_shape *shape)
{
    const ckpd__json *items;
    int32_t count = ckpd__member_items(top, "events", &items), status = CKPD_OK;
    const ckpd__place root = {NULL, NULL, 0}, list = {&root, "events", 0};
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        const ckpd__place place = {&list, NULL, i};
        ckpd_power_event *event = NULL;
        status = ckpd_power_event_new(&event, context);
        status = fill(context, &place, &items[i], &objects[AT_EVENT], event, status);
        status = status == CKPD_OK ? read_trace(context, &place, &items[i], event) : status;
        if (status == CKPD_OK) {
            status = ckpd_shape_add_event(shape, event);
            status = status == CKPD_OK ? status : ckpd__refuse_with(context, &place, status);
        }
        ckpd_power_event_free(event);
    }
    return status;
}

/* Rows of a table, each checked, to the filler. */
static int32_t read_table(ckpd_context *context, const ckpd__place *place, const ckpd__json *items,
                          int32_t count, ckpd_filler *filler)
{
    const ckpd__place list = {place, "table", 0};
    ckpd__table_row *rows = ckpd__calloc(context, (size_t)count, sizeof *rows);
    int32_t status = rows == NULL ? ckpd__no_memory(context) : CKPD_OK;
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        const ckpd__place here = {&list, NULL, i};
        status = ckpd__read_object(context, &here, &items[i], &objects[AT_ROW]);
        if (status == CKPD_OK) {
            rows[i].axis = ckpd__member_number(&items[i], "axis", (double)NAN);
            rows[i].batch = (int32_t)ckpd__member_number(&items[i], "batch", 0.0);
            rows[i].power_w = ckpd__member_number(&items[i], "power_w_per_gpu", 0.0);
            rows[i].duration_s = ckpd__member_number(&items[i], "duration_s", 0.0);
        }
    }
    if (status == CKPD_OK) {
        status = ckpd__table_rows_set(context, filler, rows, count);
        status = status == CKPD_OK ? status : ckpd__refuse_with(context, &list, status);
    }
    ckpd__free(context, rows);
    return status;
}

static int32_t read_planned(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                            ckpd_filler *filler)
{
    const ckpd__json *items;
    int32_t count = ckpd__member_items(node, "planned", &items);
    if (count == 0) {
        return CKPD_OK;
    }
    int32_t *batch = ckpd__calloc(context, (size_t)count, sizeof *batch);
    if (batch == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t i = 0; i < count; i++) {
        batch[i] = (int32_t)items[i].number;
    }
    int32_t status = ckpd_filler_set_planned(filler, count, batch);
    ckpd__free(context, batch);
    const ckpd__place here = {place, "planned", 0};
    return status == CKPD_OK ? status : ckpd__refuse_with(context, &here, status);
}

static int32_t read_filler(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                           ckpd_shape *shape)
{
    int32_t status = ckpd__read_object(context, place, node, &objects[AT_FILLER]);
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__json *rows;
    int32_t count = ckpd__member_items(node, "table", &rows);
    const char *name = ckpd__member_text(node, "name");
    ckpd_filler *filler = NULL;
    status = count > 0 ? ckpd_filler_new(&filler, context, name)
                       : ckpd_filler_builtin(&filler, context, name);
    if (status != CKPD_OK) {
        return ckpd__refuse_with(context, place, status);
    }
    status = count > 0 ? read_table(context, place, rows, count, filler) : status;
    status = status == CKPD_OK
                 ? ckpd__read_fields(context, place, node, &objects[AT_FILLER], filler)
                 : status;
    status = status == CKPD_OK ? read_planned(context, place, node, filler) : status;
    if (status == CKPD_OK) {
        status = ckpd_shape_add_filler(shape, filler);
        status = status == CKPD_OK ? status : ckpd__refuse_with(context, place, status);
    }
    ckpd_filler_free(filler);
    return status;
}

static int32_t add_shipped(ckpd_context *context, ckpd_shape *shape)
{
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < ckpd_filler_builtin_count() && status == CKPD_OK; i++) {
        ckpd_filler *filler = NULL;
        status = ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(i));
        status = status == CKPD_OK ? ckpd_shape_add_filler(shape, filler) : status;
        ckpd_filler_free(filler);
    }
    return status;
}

/* The same error with the name of the file before its text, which knows lines only. */
static int32_t name_file(ckpd_context *context, const char *name, int32_t status)
{
    ckpd_error error = {.size = sizeof error};
    if (status == CKPD_ERR_NO_MEMORY || ckpd_context_last_error(context, &error) != CKPD_OK) {
        return status;
    }
    return ckpd__fail(context, status, error.field, error.index, error.value, "%s: %s", name,
                      error.message);
}

static int32_t read_fillers(ckpd_context *context, const ckpd__json *top, const char *beside,
                            ckpd_shape *shape)
{
    const ckpd__json *items;
    const char *csv = ckpd__member_text(top, "fillers_csv");
    int32_t count = ckpd__member_items(top, "fillers", &items), status = CKPD_OK;
    const ckpd__place root = {NULL, NULL, 0}, list = {&root, "fillers", 0};
    if (count == 0 && csv == NULL) {
        return add_shipped(context, shape);
    }
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        const ckpd__place place = {&list, NULL, i};
        status = read_filler(context, &place, &items[i], shape);
    }
    if (status != CKPD_OK || csv == NULL) {
        return status;
    }
    char *path = ckpd__file_beside(context, beside, csv), *text;
    size_t length;
    if (path == NULL) {
        return ckpd__no_memory(context);
    }
    status = ckpd__file_read(context, path, &text, &length);
    ckpd__free(context, path);
    if (status == CKPD_OK) {
        status = ckpd_shape_add_fillers_csv(shape, text, length);
        ckpd__free(context, text);
        status = status == CKPD_OK ? status : name_file(context, csv, status);
    }
    const ckpd__place place = {&root, "fillers_csv", 0};
    return status == CKPD_OK ? status : ckpd__refuse_with(context, &place, status);
}

static int32_t read_case(ckpd_context *context, const ckpd__json *top, const char *beside,
                         ckpd_shape **shape, ckpd_microgrid **grid)
{
    const ckpd__place root = {NULL, NULL, 0}, place = {&root, "shape", 0};
    int32_t status = ckpd__read_object(context, &root, top, &objects[AT_CASE]);
    status = status == CKPD_OK ? read_pool(context, top, shape) : status;
    const ckpd__json *parameters = ckpd__json_member(top, "shape");
    if (parameters != NULL) {
        status = fill(context, &place, parameters, &objects[AT_SHAPE], *shape, status);
    }
    status = status == CKPD_OK ? read_grid(context, top, grid) : status;
    status = status == CKPD_OK ? read_fillers(context, top, beside, *shape) : status;
    return status == CKPD_OK ? read_events(context, top, *shape) : status;
}

static int32_t parse(ckpd_shape **shape, ckpd_microgrid **grid, ckpd_context *context,
                     const char *source, const char *text, size_t length, const char *beside)
{
    ckpd__json *top;
    ckpd_shape *made = NULL;
    ckpd_microgrid *made_grid = NULL;
    int32_t status = ckpd__json_parse(context, source, text, length, &top);
    if (status != CKPD_OK) {
        return status;
    }
    status = read_case(context, top, beside, &made, &made_grid);
    ckpd__json_free(context, top);
    if (status != CKPD_OK) {
        ckpd_shape_free(made);
        ckpd_microgrid_free(made_grid);
        return status;
    }
    *shape = made;
    if (grid != NULL) {
        *grid = made_grid;
    } else {
        ckpd_microgrid_free(made_grid);
    }
    return CKPD_OK;
}

int32_t ckpd_shape_parse(ckpd_shape **shape, ckpd_microgrid **grid, ckpd_context *context,
                         const char *text, size_t length, const char *beside)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (shape == NULL || text == NULL) {
        return ckpd__null_argument(context, shape == NULL ? "shape" : "text");
    }
    return parse(shape, grid, context, "the case", text, length, beside);
}

int32_t ckpd_shape_load(ckpd_shape **shape, ckpd_microgrid **grid, ckpd_context *context,
                        const char *path)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (shape == NULL || path == NULL) {
        return ckpd__null_argument(context, shape == NULL ? "shape" : "path");
    }
    char *text;
    size_t length;
    int32_t status = ckpd__file_read(context, path, &text, &length);
    if (status != CKPD_OK) {
        return status;
    }
    status = parse(shape, grid, context, path, text, length, path);
    ckpd__free(context, text);
    return status;
}
