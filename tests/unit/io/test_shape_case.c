/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Shaping cases and filler types from files. */
#include "shape/shape.h"
#include "unit/shape/scenario.h"

#include <ckptdispatch/io.h>
#include <stdlib.h>

static ckpd_shape *shape;
static ckpd_microgrid *grid;

static int32_t parse(const char *text)
{
    shape = NULL;
    grid = NULL;
    return ckpd_shape_parse(&shape, &grid, context, text, strlen(text), NULL);
}

static void end(void)
{
    ckpd_shape_free(shape);
    ckpd_microgrid_free(grid);
}

#define HEAD                                                                                  \
    "{\"schema\":\"ckptdispatch-shape\",\"schema_version\":1,\"name\":\"t\",\"pool\":{\"gpu_" \
    "count\":5600}"

START_TEST(cases_in_the_tree_are_the_scenarios)
{
    scenario_context();
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "examples/cases/shape-%c.json", 'a' + i);
        OK(ckpd_shape_load(&shape, &grid, context, test_src_path(name)));
        ck_assert_int_eq(ckpd_shape_event_count(shape), 1);
        ck_assert_int_eq(ckpd_shape_filler_count(shape), ckpd_filler_builtin_count());
        ckpd_shape_truth truth = {.size = sizeof truth};
        ckpd_shape_metrics m = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
        const double golden[] = {0.2171, 0.3681,
                                 0.5186}; /* docs/shaping.md of the independent trial */
        ck_assert_double_eq_tol(m.max_abs_hz, golden[i], 1e-4);
        end();
    }
    ckpd_context_free(context);
}
END_TEST

START_TEST(every_part_is_read)
{
    scenario_context();
    OK(parse(HEAD
             ",\"shape\":{\"early\":false,\"horizon_s\":6},"
             "\"microgrid\":{\"preset\":\"campus-gas-2\",\"inertia_s\":2.5,\"governor\":\"lag\"},"
             "\"fillers\":[{\"name\":\"qwen3-8b-chat\",\"queue_groups\":12,\"planned\":[128]},"
             "{\"name\":\"own\",\"up_s\":0.2,\"table\":[{\"batch\":1,\"power_w_per_gpu\":300,"
             "\"duration_s\":2},"
             "{\"batch\":4,\"power_w_per_gpu\":500,\"duration_s\":3}]}],"
             "\"events\":[{\"onset_s\":5,\"duration_s\":9,\"depth_w\":1e5,\"kind\":"
             "\"differential\"}]}"));
    double value;
    OK(ckpd_shape_get(shape, "early", &value));
    ck_assert_double_eq(value, 0.0);
    OK(ckpd_shape_get(shape, "horizon_s", &value));
    ck_assert_double_eq(value, 6.0);
    OK(ckpd_microgrid_get(grid, "inertia_s", &value));
    ck_assert_double_eq(value, 2.5);
    OK(ckpd_microgrid_get(grid, "rated_va", &value));
    ck_assert_double_eq(value, 40.5e6);
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 2);
    ck_assert_str_eq(ckpd_shape_filler_name(shape, 1), "own");
    ck_assert_int_eq(ckpd_shape_event_count(shape), 1);
    end();
    ckpd_context_free(context);
}
END_TEST

/* Power and duration of a filler of the problem at a batch. */
static void at(int32_t filler, double batch, double *power_w, double *duration_s)
{
    OK(ckpd_filler_at(shape->filler[filler], batch, power_w, duration_s));
}

#define ROW(axis, batch, power, duration)                                  \
    "{\"axis\":" #axis ",\"batch\":" #batch ",\"power_w_per_gpu\":" #power \
    ",\"duration_s\":" #duration "}"
#define TABLE(value, rows)                                                           \
    HEAD ",\"fillers\":[{\"name\":\"budget\",\"planned\":[16],\"axis_value\":" value \
         ",\"table\":[" rows "]}]}"

/* A token budget as second axis; expected values by linear interpolation done by hand. */
START_TEST(tables_have_a_second_axis)
{
    scenario_context();
    double power, duration;
    OK(parse(TABLE("1280", ROW(1024, 8, 400, 4) "," ROW(1024, 16, 500, 6) "," ROW(
                               2048, 8, 600, 2) "," ROW(2048, 16, 700, 3))));
    at(0, 16.0, &power, &duration);
    ck_assert_double_eq_tol(power, 550.0, 1e-9);
    ck_assert_double_eq_tol(duration, 5.25, 1e-9);
    end();
    OK(parse(TABLE("1024", ROW(1024, 8, 400, 4) "," ROW(1024, 16, 500, 6))));
    at(0, 8.0, &power, &duration);
    ck_assert_double_eq(power, 400.0);
    end();
    REFUSED(CKPD_ERR_RANGE, "axis_value 4096",
            parse(TABLE("4096", ROW(1024, 16, 500, 6) "," ROW(2048, 16, 700, 3))));
    REFUSED(CKPD_ERR_INCONSISTENT, "fillers[0].table",
            parse(TABLE("1024",
                        ROW(1024, 8, 400, 4) "," ROW(1024, 16, 500, 6) "," ROW(2048, 8, 600, 2))));
    REFUSED(CKPD_ERR_INCONSISTENT, "same 2 batches",
            parse(TABLE("1024", ROW(1024, 8, 400, 4) "," ROW(1024, 16, 500, 6) "," ROW(
                                    2048, 8, 600, 2) "," ROW(2048, 32, 700, 3))));
    REFUSED(CKPD_ERR_INCONSISTENT, "ascend",
            parse(TABLE("1024", ROW(2048, 16, 500, 6) "," ROW(1024, 16, 700, 3))));
    REFUSED(CKPD_ERR_INCONSISTENT, "second axis",
            parse(TABLE("1024", ROW(1024, 16, 500, 6) ",{\"batch\":32,\"power_w_per_gpu\":1,"
                                                      "\"duration_s\":1}")));
    ckpd_context_free(context);
}
END_TEST

/* A measured trace is what a run sees: 0.2 MW where the trapezoid says 1 MW. */
START_TEST(events_have_a_trace)
{
    scenario_context();
    OK(parse(HEAD ",\"events\":[{\"onset_s\":20,\"duration_s\":10,\"depth_w\":1e6,"
                  "\"trace\":[[0,0],[1,2e5],[10,2e5],[11,0]]}]}"));
    ckpd_shape_truth truth = {.size = sizeof truth};
    ckpd_shape_metrics m = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    ck_assert_double_eq_tol(m.tracking_w, 1.9e5, 100.0); /* mean of the trace over 10 s */
    end();
    REFUSED(CKPD_ERR_INCONSISTENT, "events[0].trace",
            parse(HEAD ",\"events\":[{\"onset_s\":20,\"duration_s\":10,\"depth_w\":1e6,"
                       "\"trace\":[[1,0],[1,2]]}]}"));
    ckpd_context_free(context);
}
END_TEST

START_TEST(refusals_name_the_place)
{
    scenario_context();
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "pool.gpu_cout",
            parse("{\"schema\":\"ckptdispatch-shape\",\"schema_version\":1,"
                  "\"name\":\"t\",\"pool\":{\"gpu_cout\":1}}"));
    REFUSED(CKPD_ERR_RANGE, "events[0].depth_w",
            parse(HEAD ",\"events\":[{\"onset_s\":0,\"duration_s\":1,\"depth_w\":-5}]}"));
    REFUSED(CKPD_ERR_MISSING, "events[0]",
            parse(HEAD ",\"events\":[{\"onset_s\":0,\"duration_s\":1}]}"));
    REFUSED(CKPD_ERR_SCHEMA, "microgrid.droop", parse(HEAD ",\"microgrid\":{\"droop\":\"big\"}}"));
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "nobody", parse(HEAD ",\"fillers\":[{\"name\":\"nobody\"}]}"));
    REFUSED(CKPD_ERR_INCONSISTENT, "fillers[0].table",
            parse(HEAD ",\"fillers\":[{\"name\":\"x\",\"table\":[{\"batch\":4,\"power_w_per_gpu\":"
                       "1,\"duration_s\":1},"
                       "{\"batch\":2,\"power_w_per_gpu\":1,\"duration_s\":1}]}]}"));
    REFUSED(CKPD_ERR_RANGE, "fillers[0].planned",
            parse(HEAD ",\"fillers\":[{\"name\":\"qwen3-8b-chat\",\"planned\":[9]}]}"));
    ck_assert_int_eq(parse("{"), CKPD_ERR_SYNTAX);
    ck_assert_int_eq(parse("{\"schema\":\"other\",\"schema_version\":1,\"name\":\"t\",\"pool\":{"
                           "\"gpu_count\":8}}"),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_ptr_null(shape);
    ck_assert_ptr_null(grid);
    ck_assert_int_eq(ckpd_shape_load(&shape, &grid, context, "/nowhere/at/all.json"),
                     CKPD_ERR_FILE);
    ckpd_context_free(context);
}
END_TEST

#define COLUMNS "type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s,planned,remark\n"

static int32_t add_csv(const char *text)
{
    return ckpd_shape_add_fillers_csv(shape, text, strlen(text));
}

START_TEST(types_come_from_csv)
{
    scenario_context();
    ckpd_gpu_pool *pool = scenario_pool(800.0);
    OK(ckpd_shape_new(&shape, context, pool));
    ckpd_gpu_pool_free(pool);
    OK(add_csv(COLUMNS "a,1,8,400,2,0,x\na,1,16,500,3,1,\nb,8,4,600,5,1,y\n"));
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 2);
    ck_assert_str_eq(ckpd_shape_filler_name(shape, 1), "b");
    double value;
    OK(ckpd_filler_get(shape->filler[1], "gpus_per_replica", &value));
    ck_assert_double_eq(value, 8.0);
    /* Fields by their name, from the first row; an axis for one type and none for the other. */
    OK(add_csv("axis,up_s,type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s,planned,axis_"
               "value,queue_groups\n"
               "1024,0.2,p,1,8,400,4,0,1536,70\n1024,,p,1,16,500,6,1,,\n2048,,p,1,8,600,2,0,,\n"
               "2048,,p,1,16,700,3,1,,\n,,q,1,4,300,1,1,,\n"));
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 4);
    double power, duration;
    at(2, 16.0, &power, &duration);
    ck_assert_double_eq_tol(power, 600.0, 1e-9);
    ck_assert_double_eq_tol(duration, 4.5, 1e-9);
    OK(ckpd_filler_get(shape->filler[2], "up_s", &value));
    ck_assert_double_eq(value, 0.2);
    OK(ckpd_filler_get(shape->filler[2], "queue_groups", &value));
    ck_assert_double_eq(value, 70.0);
    OK(ckpd_filler_get(shape->filler[3], "up_s", &value));
    ck_assert_double_eq(value, 0.6);
    REFUSED(CKPD_ERR_RANGE, "up_s",
            add_csv("type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s,up_s\n"
                    "c,1,8,400,2,-1\n"));
    REFUSED(CKPD_ERR_SYNTAX, "gpus_per_replica is ''", add_csv(COLUMNS "c,,8,400,2,0,\n"));
    REFUSED(CKPD_ERR_MISSING, "batch_time_s",
            add_csv("type,gpus_per_replica,batch,power_per_gpu_W\nc,1,8,400\n"));
    REFUSED(CKPD_ERR_SYNTAX, "line 3", add_csv(COLUMNS "c,1,8,400,2,0,\nc,1,16,many,3,1,\n"));
    REFUSED(CKPD_ERR_RANGE, "batch", add_csv(COLUMNS "c,1,8.5,400,2,0,\n"));
    REFUSED(CKPD_ERR_INCONSISTENT, "ascend", add_csv(COLUMNS "c,1,8,400,2,0,\nc,1,8,500,3,1,\n"));
    REFUSED(CKPD_ERR_DUPLICATE, "a is there", add_csv(COLUMNS "c,1,8,400,2,0,\na,1,8,500,3,1,\n"));
    ck_assert_int_eq(add_csv(""), CKPD_ERR_MISSING);
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 4); /* nothing of a refused file stays */
    ckpd_shape_free(shape);
    const char *path = test_shared_path("data/inference-power/task-types.csv");
    if (path != NULL) {
        size_t size;
        char *text = test_read_file(path, &size);
        pool = scenario_pool(800.0);
        OK(ckpd_shape_new(&shape, context, pool));
        ckpd_gpu_pool_free(pool);
        OK(ckpd_shape_add_fillers_csv(shape, text, size));
        ck_assert_int_eq(ckpd_shape_filler_count(shape), 8);
        ckpd_shape_free(shape);
        free(text);
    }
    ckpd_context_free(context);
}
END_TEST

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

/* The file lies beside the case; its refusals name the member that says where it is. */
START_TEST(types_come_from_a_file_beside_the_case)
{
    scenario_context();
    put("shape.json",
        HEAD ",\"fillers\":[{\"name\":\"qwen3-8b-chat\"}],\"fillers_csv\":\"t.csv\"}");
    put("t.csv", "type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s\na,2,8,400,2\n");
    OK(ckpd_shape_load(&shape, &grid, context, "shape.json"));
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 2);
    ck_assert_str_eq(ckpd_shape_filler_name(shape, 1), "a");
    end();
    put("t.csv", "type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s\na,2,8,many,2\n");
    REFUSED(CKPD_ERR_SYNTAX, "fillers_csv", ckpd_shape_load(&shape, &grid, context, "shape.json"));
    char wide[2][400] = {"type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s", "a,2,8,400,2"};
    for (int i = 5; i < 64; i++) {
        strcat(wide[0], i == 63 ? ",up_s" : ",x");
        strcat(wide[1], i == 63 ? ",0.2" : ",");
    }
    char text[1000];
    double value = 0;
    snprintf(text, sizeof text, "%s\n%s\n", wide[0], wide[1]);
    put("t.csv", text);
    OK(ckpd_shape_load(&shape, &grid, context, "shape.json"));
    OK(ckpd_filler_get(shape->filler[1], "up_s", &value)); /* of the last column there may be */
    ck_assert_double_eq(value, 0.2);
    end();
    snprintf(text, sizeof text, "%s,x\n%s,\n", wide[0], wide[1]);
    put("t.csv", text);
    REFUSED(CKPD_ERR_LENGTH, "fillers_csv: t.csv: line 1: 65 columns are more than 64",
            ckpd_shape_load(&shape, &grid, context, "shape.json"));
    ck_assert_int_eq(remove("t.csv"), 0);
    REFUSED(CKPD_ERR_FILE, "fillers_csv", ckpd_shape_load(&shape, &grid, context, "shape.json"));
    remove("shape.json");
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {cases_in_the_tree_are_the_scenarios,
                                  every_part_is_read,
                                  tables_have_a_second_axis,
                                  events_have_a_trace,
                                  refusals_name_the_place,
                                  types_come_from_csv,
                                  types_come_from_a_file_beside_the_case,
                                  NULL};
    return test_run(test_suite("shape cases", tests));
}
