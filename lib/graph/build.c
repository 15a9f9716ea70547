/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From task, mode set and options to the spec of a graph. */
#include "graph/graph.h"
#include "task/task.h"

#include <math.h>
#include <string.h>

/* What is gathered for the spec and freed after the build. */
typedef struct gathered {
    ckpd_mode *modes;
    const char **labels;
    uint8_t *allowed;
} gathered;

static void free_gathered(ckpd_context *context, gathered *g)
{
    ckpd__free(context, g->modes);
    ckpd__free(context, (void *)g->labels);
    ckpd__free(context, g->allowed);
}

static int32_t gather_modes(ckpd_context *context, const ckpd_mode_set *set, gathered *g)
{
    int32_t count = ckpd_mode_set_count(set);
    g->modes = ckpd__calloc(context, (size_t)count, sizeof *g->modes);
    g->labels = ckpd__calloc(context, (size_t)count, sizeof *g->labels);
    if (g->modes == NULL || g->labels == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t m = 0; m < count; m++) {
        g->modes[m].size = sizeof g->modes[m];
        int32_t status = ckpd_mode_set_get(set, m, &g->modes[m]);
        if (status != CKPD_OK) {
            return status;
        }
        g->labels[m] = ckpd_mode_set_label(set, m);
    }
    return CKPD_OK;
}

/* Matrix and callback together: a change needs both to allow it. */
static int32_t gather_transitions(ckpd_context *context, const ckpd_graph_options *options,
                                  int32_t modes, gathered *g)
{
    if (options == NULL || (options->allowed == NULL && options->rule == NULL)) {
        return CKPD_OK;
    }
    if (options->allowed != NULL && options->transition_modes != modes) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "transitions", -1, options->transition_modes,
                          "the transition matrix is for %d modes, the mode set has %d",
                          options->transition_modes, modes);
    }
    size_t pairs = (size_t)modes * (size_t)modes;
    g->allowed = ckpd__calloc(context, pairs, 1);
    if (g->allowed == NULL) {
        return ckpd__no_memory(context);
    }
    for (size_t i = 0; i < pairs; i++) {
        const ckpd_mode *from = &g->modes[i / (size_t)modes];
        const ckpd_mode *to = &g->modes[i % (size_t)modes];
        bool allowed = options->allowed == NULL || options->allowed[i] != 0;
        g->allowed[i] =
            allowed && (options->rule == NULL || options->rule(from, to, options->rule_user) != 0);
    }
    return CKPD_OK;
}

static void read_options(ckpd__graph_spec *spec, const ckpd_graph_options *options)
{
    spec->reduce = 1;
    if (options == NULL) {
        return;
    }
    spec->reduce = options->values[CKPD__GRAPH_REDUCE] != 0;
    spec->save_share = options->values[CKPD__GRAPH_SAVE_SHARE];
    spec->prorated = options->values[CKPD__GRAPH_LAST_SLOT_POWER] != 0;
    spec->overhead_hours = options->change_hours;
    spec->overhead_cost = options->change_money;
    spec->edge_cost = options->edge_cost;
    spec->edge_cost_user = options->edge_cost_user;
}

static void read_task(ckpd__graph_spec *spec, const ckpd_task *task, const ckpd_mode_set *set)
{
    spec->name = ckpd_task_name(task);
    spec->release = ckpd__task_integer(task, CKPD__TASK_RELEASE, 0);
    spec->deadline = ckpd__task_integer(task, CKPD__TASK_DEADLINE, spec->slots);
    spec->may_be_late = !isnan(task->values[CKPD__TASK_DEADLINE_PRICE]);
    spec->late_price = spec->may_be_late ? task->values[CKPD__TASK_DEADLINE_PRICE] : 0;
    spec->may_lose = task->values[CKPD__TASK_INTERRUPTION] != 0;
    spec->segments = ckpd__task_integer(task, CKPD__TASK_SEGMENTS, 1);
    spec->start_segments = ckpd__task_integer(task, CKPD__TASK_START_SEGMENTS, 0);
    spec->baseline = ckpd_mode_set_baseline(set);
    spec->running = ckpd_mode_set_running(set);
    spec->running_slots = ckpd__task_integer(task, CKPD__TASK_RUNNING_SLOTS_DONE, 0);
    spec->running_segments = ckpd__task_integer(task, CKPD__TASK_RUNNING_SEGMENTS, 1);
    spec->work = ckpd_mode_set_work(set);
}

/* The mode set knows what runs; a task that was changed after it was made would be planned as if
 * nothing ran. */
static int32_t check_same_running(ckpd_context *context, const ckpd_task *task,
                                  const ckpd_mode_set *modes)
{
    int32_t asked = ckpd__task_integer(task, CKPD__TASK_RUNNING_MODE, -1);
    if (asked < 0 || ckpd_mode_set_running(modes) >= 0) {
        return CKPD_OK;
    }
    return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "running_mode", -1, asked,
                      "task '%s' has running_mode %d, but its modes were made before: make the "
                      "mode set again from this task",
                      ckpd_task_name(task), asked);
}

int32_t ckpd_graph_build(ckpd_graph **out, ckpd_context *context, const ckpd_task *task,
                         const ckpd_mode_set *modes, int32_t slots, double slot_hours,
                         const ckpd_graph_options *options)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, task, CKPD__TASK);
    CKPD__REFUSE_FOREIGN(context, modes, CKPD__MODE_SET);
    CKPD__REFUSE_FOREIGN(context, options, CKPD__GRAPH_OPTIONS);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || task == NULL || modes == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : task == NULL ? "task" : "modes");
    }
    ckpd__graph_spec spec = {.slots = slots, .slot_hours = slot_hours};
    gathered g = {NULL, NULL, NULL};
    read_options(&spec, options);
    read_task(&spec, task, modes);
    int32_t status = check_same_running(context, task, modes);
    if (status == CKPD_OK) {
        status = gather_modes(context, modes, &g);
    }
    if (status == CKPD_OK) {
        status = gather_transitions(context, options, ckpd_mode_set_count(modes), &g);
    }
    if (status == CKPD_OK && options != NULL && options->change_modes > 0 &&
        options->change_modes != ckpd_mode_set_count(modes)) {
        status = ckpd__fail(context, CKPD_ERR_LENGTH, "change_costs", -1, options->change_modes,
                            "the costs of changes are for %d modes, the mode set has %d",
                            options->change_modes, ckpd_mode_set_count(modes));
    }
    if (status == CKPD_OK) {
        spec.modes = ckpd_mode_set_count(modes);
        spec.mode = g.modes;
        spec.label = g.labels;
        spec.allowed = g.allowed;
        status = ckpd__graph_make(out, context, &spec);
    }
    free_gathered(context, &g);
    return status;
}

int32_t ckpd_graph_count(const ckpd_graph *graph, ckpd_graph_counts *out)
{
    CKPD__REFUSE_FOREIGN(NULL, graph, CKPD__GRAPH);
    if (graph == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return CKPD__STRUCT_OUT(NULL, graph_counts, out, &graph->counts);
}

const char *ckpd_graph_name(const ckpd_graph *graph)
{
    CKPD__NULL_IF_FOREIGN(graph, CKPD__GRAPH);
    return graph != NULL ? graph->spec.name : NULL;
}

int32_t ckpd_graph_segments(const ckpd_graph *graph)
{
    CKPD__NULL_IF_FOREIGN(graph, CKPD__GRAPH);
    return graph != NULL ? graph->spec.segments : 0;
}
