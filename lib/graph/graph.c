/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Building a graph from its spec: source, moves, open nodes, edge costs, counts. */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

size_t ckpd__graph_node(const ckpd_graph *graph, int32_t state, int32_t slot, int32_t segment)
{
    size_t row = (size_t)state * (size_t)(graph->spec.slots + 1) + (size_t)slot;
    return row * (size_t)(graph->spec.segments + 1) + (size_t)segment;
}

size_t ckpd__graph_edge(const ckpd_graph *graph, int32_t move, int32_t slot, int32_t segment)
{
    size_t row = (size_t)move * (size_t)graph->spec.slots + (size_t)slot;
    return row * (size_t)graph->spec.segments + (size_t)segment;
}

int32_t ckpd__graph_find_move(const ckpd_graph *graph, int32_t mode, int32_t segments,
                              int32_t transition_class)
{
    const ckpd__moves *moves = &graph->moves;
    for (int32_t i = 0; i < moves->count; i++) {
        if (moves->mode[i] == mode && moves->segments[i] == segments &&
            (moves->transition_class == NULL || moves->transition_class[i] == transition_class)) {
            return i;
        }
    }
    return -1;
}

double ckpd__graph_late_cost(const ckpd__graph_spec *spec, int32_t boundary)
{
    return boundary > spec->deadline && spec->may_be_late
               ? spec->late_price * spec->slot_hours * (boundary - spec->deadline)
               : 0.0;
}

/* --- ownership -------------------------------------------------------------------------------- */

ckpd_graph *ckpd__graph_retain(const ckpd_graph *graph)
{
    ckpd_graph *held = (ckpd_graph *)graph; /* only the count of holders changes */
    atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
    return held;
}

static void free_spec(ckpd_context *context, ckpd__graph_spec *spec)
{
    for (int32_t m = 0; spec->label != NULL && m < spec->modes; m++) {
        ckpd__free(context, (void *)spec->label[m]);
    }
    ckpd__free(context, (void *)spec->label);
    ckpd__free(context, (void *)spec->name);
    ckpd__free(context, (void *)spec->mode);
    ckpd__free(context, (void *)spec->allowed);
    ckpd__free(context, (void *)spec->overhead_hours);
    ckpd__free(context, (void *)spec->overhead_cost);
}

void ckpd_graph_free(ckpd_graph *graph)
{
    CKPD__NULL_IF_FOREIGN(graph, CKPD__GRAPH);
    if (graph == NULL || atomic_fetch_sub_explicit(&graph->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    ckpd_context *context = graph->context;
    free_spec(context, &graph->spec);
    ckpd__graph_free_moves(context, &graph->moves);
    ckpd__free(context, graph->transition);
    ckpd__free(context, graph->node_open);
    ckpd__free(context, graph->edge_cost);
    ckpd__free(context, graph->fixed_power_kw);
    ckpd__free(context, graph->fixed_gpus);
    ckpd__free(context, graph->mode_gpus);
    ckpd__free(context, graph->mode_power_kw);
    ckpd__handle_end(graph);
}

/* A copy of an optional array; *missing is set when memory ran out. */
static const void *copy_array(ckpd_context *context, const void *from, size_t count, size_t bytes,
                              bool *missing)
{
    const void *copy = from != NULL ? ckpd__memdup(context, from, count, bytes) : NULL;
    *missing = *missing || (from != NULL && copy == NULL);
    return copy;
}

static int32_t copy_spec(ckpd_graph *graph, const ckpd__graph_spec *from)
{
    ckpd_context *context = graph->context;
    size_t modes = (size_t)from->modes;
    bool missing = false;
    ckpd__graph_spec *to = &graph->spec;
    *to = *from;
    to->label = NULL;
    to->name = copy_array(context, from->name, strlen(from->name) + 1, 1, &missing);
    to->mode = copy_array(context, from->mode, modes, sizeof *from->mode, &missing);
    to->allowed = copy_array(context, from->allowed, modes * modes, 1, &missing);
    to->overhead_hours =
        copy_array(context, from->overhead_hours, (modes + 1) * modes, sizeof(double), &missing);
    to->overhead_cost =
        copy_array(context, from->overhead_cost, (modes + 1) * modes, sizeof(double), &missing);
    const char **labels = ckpd__calloc(context, modes, sizeof *labels);
    missing = missing || labels == NULL;
    to->label = labels;
    for (size_t m = 0; labels != NULL && from->label != NULL && m < modes; m++) {
        const char *label = from->label[m] != NULL ? from->label[m] : "";
        labels[m] = copy_array(context, label, strlen(label) + 1, 1, &missing);
    }
    graph->mode_gpus = ckpd__calloc(context, modes, sizeof *graph->mode_gpus);
    graph->mode_power_kw = ckpd__calloc(context, modes, sizeof *graph->mode_power_kw);
    if (missing || graph->mode_gpus == NULL || graph->mode_power_kw == NULL) {
        return ckpd__no_memory(context);
    }
    for (size_t m = 0; m < modes; m++) {
        graph->mode_gpus[m] = from->mode[m].gpus;
        graph->mode_power_kw[m] = from->mode[m].power_kw;
    }
    return CKPD_OK;
}

/* --- checks ----------------------------------------------------------------------------------- */

static int32_t check_window(ckpd_context *context, const ckpd__graph_spec *s)
{
    if (s->slots < 1 || s->slots > 100000) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "slots", -1, s->slots,
                          "job '%s': %d slots are outside 1..100000", s->name, s->slots);
    }
    if (!(s->slot_hours >= 1.0 / 3600.0 && s->slot_hours <= 168)) {
        return ckpd__check_range(context, "slot_hours", -1, s->slot_hours, 1.0 / 3600.0, 168);
    }
    if (s->deadline > s->slots) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "deadline", -1, s->deadline,
                          "job '%s': deadline %d is beyond the horizon of %d slots", s->name,
                          s->deadline, s->slots);
    }
    if (s->release < 0 || s->release >= s->deadline) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "release", -1, s->release,
                          "job '%s': release %d is not before deadline %d", s->name, s->release,
                          s->deadline);
    }
    if (s->segments < 1) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "segments", -1, s->segments,
                          "job '%s': %d checkpoint segments, at least 1 needed", s->name,
                          s->segments);
    }
    if (s->start_segments < 0 || s->start_segments > s->segments) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "start_segments", -1, s->start_segments,
                          "job '%s': starts with %d segments complete of %d", s->name,
                          s->start_segments, s->segments);
    }
    return CKPD_OK;
}

static int32_t check_modes(ckpd_context *context, const ckpd__graph_spec *s)
{
    if (s->modes < 1) {
        return ckpd__fail(context, CKPD_ERR_NO_MODE, "modes", -1, s->modes, "job '%s' has no mode",
                          s->name);
    }
    if (!(s->work > 0) || !isfinite(s->work)) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "work", -1, s->work,
                          "job '%s': work of %g is not positive", s->name, s->work);
    }
    for (int32_t m = 0; m < s->modes; m++) {
        if (!(s->mode[m].rate > 0) || !isfinite(s->mode[m].rate) || !(s->mode[m].power_kw >= 0) ||
            !isfinite(s->mode[m].power_kw) || s->mode[m].gpus < 1) {
            return ckpd__fail(context, CKPD_ERR_RANGE, "modes", m, s->mode[m].rate,
                              "job '%s': mode %d has rate %g, power %g kW, %d GPUs", s->name, m,
                              s->mode[m].rate, s->mode[m].power_kw, s->mode[m].gpus);
        }
        if (s->prorated && !(s->mode[m].idle_power_kw >= 0 && isfinite(s->mode[m].idle_power_kw))) {
            return ckpd__fail(
                context, CKPD_ERR_MISSING, "idle_power_kw", m, s->mode[m].idle_power_kw,
                "job '%s': prorated last slots need the idle power of mode %d", s->name, m);
        }
    }
    return CKPD_OK;
}

/* The edge that runs at boundary 0: its slots are fixed and the job is free after it. */
static int32_t check_running(ckpd_context *context, const ckpd__graph_spec *s)
{
    if (s->running < 0) {
        return CKPD_OK;
    }
    if (s->running >= s->modes) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "running_mode", -1, s->running,
                          "job '%s': running mode %d of %d", s->name, s->running, s->modes);
    }
    if (s->release != 0) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "release", -1, s->release,
                          "job '%s' runs at the start of the horizon but is released at %d",
                          s->name, s->release);
    }
    if (s->running_segments < 1 || s->running_segments > s->segments - s->start_segments) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "running_segments", -1, s->running_segments,
                          "job '%s': the running edge covers %d segments, %d of %d are open",
                          s->name, s->running_segments, s->segments - s->start_segments,
                          s->segments);
    }
    int32_t slots = ckpd__graph_slots(ckpd__graph_length(s, s->running, s->running_segments, 0));
    if (s->running_slots < 0 || s->running_slots >= slots) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "running_slots_done", -1, s->running_slots,
                          "job '%s': %d slots of the running edge are done, it takes %d (an edge "
                          "that is done counts in start_segments)",
                          s->name, s->running_slots, slots);
    }
    return CKPD_OK;
}

static int32_t check_spec(ckpd_context *context, const ckpd__graph_spec *spec)
{
    int32_t status = check_window(context, spec);
    if (status == CKPD_OK) {
        status = check_modes(context, spec);
    }
    return status == CKPD_OK ? check_running(context, spec) : status;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* A running edge that may be given up fixes nothing: going on with it is one of the choices. */
static void make_going(ckpd_graph *graph)
{
    const ckpd__graph_spec *s = &graph->spec;
    double length = ckpd__graph_length(s, s->running, s->running_segments, 0);
    int32_t slots = ckpd__graph_slots(length);
    graph->source_state = graph->states > 1 ? s->running + 1 : 0;
    if (slots - s->running_slots <= s->last) {
        graph->going_slots = slots - s->running_slots;
        graph->going_segments = s->running_segments;
        graph->going_mode = s->running;
        graph->going_last_kw = ckpd__graph_last_power(s, s->running, length, slots);
    }
}

/* Source node, and the power and GPUs that the running edge holds. */
static int32_t make_source(ckpd_graph *graph)
{
    const ckpd__graph_spec *s = &graph->spec;
    graph->source_slot = s->release;
    graph->source_segment = s->start_segments;
    graph->source_state = 0;
    if (s->running < 0) {
        return CKPD_OK;
    }
    if (s->may_lose) {
        make_going(graph);
        return CKPD_OK;
    }
    graph->fixed_power_kw = ckpd__calloc(graph->context, (size_t)s->slots, sizeof(double));
    graph->fixed_gpus = ckpd__calloc(graph->context, (size_t)s->slots, sizeof(int32_t));
    if (graph->fixed_power_kw == NULL || graph->fixed_gpus == NULL) {
        return ckpd__no_memory(graph->context);
    }
    double length = ckpd__graph_length(s, s->running, s->running_segments, 0);
    int32_t slots = ckpd__graph_slots(length);
    int32_t left = slots - s->running_slots;
    for (int32_t t = 0; t < left && t < s->slots; t++) {
        graph->fixed_power_kw[t] = t == left - 1
                                       ? ckpd__graph_last_power(s, s->running, length, slots)
                                       : s->mode[s->running].power_kw;
        graph->fixed_gpus[t] = s->mode[s->running].gpus;
    }
    graph->source_slot = left;
    graph->source_segment += s->running_segments;
    graph->source_state = graph->states > 1 ? s->running + 1 : 0;
    return CKPD_OK;
}

typedef struct interval {
    int32_t first, last; /* boundaries, empty when first > last */
} interval;

static interval open_interval(const ckpd_graph *graph, const int32_t *earliest,
                              const int32_t *latest, int32_t state, int32_t segment)
{
    size_t i = (size_t)state * (size_t)(graph->spec.segments + 1) + (size_t)segment;
    interval open = {earliest[i], latest[i]};
    /* A job that is complete at the start has nowhere to go. */
    if (graph->source_segment == graph->spec.segments && segment == graph->spec.segments) {
        open.last = open.first == CKPD__NEVER ? -1 : open.first;
    }
    return open;
}

static void count_parts(ckpd_graph *graph, const int32_t *earliest, const int32_t *latest)
{
    const ckpd__graph_spec *s = &graph->spec;
    ckpd_graph_counts *counts = &graph->counts;
    for (int32_t q = 0; q < graph->states; q++) {
        for (int32_t k = graph->source_segment; k <= s->segments; k++) {
            interval from = open_interval(graph, earliest, latest, q, k);
            if (from.first > from.last) {
                continue;
            }
            counts->nodes += from.last - from.first + 1;
            counts->wait_edges += k < s->segments ? from.last - from.first : 0;
            for (int32_t i = 0; i < graph->moves.count; i++) {
                int32_t mode = graph->moves.mode[i];
                int32_t wanted =
                    graph->moves.transition_class != NULL ? graph->moves.transition_class[i] : 1;
                int32_t end = k + graph->moves.segments[i];
                if (end > s->segments ||
                    ckpd__graph_class(graph->transition, s->modes, q, mode) != wanted) {
                    continue;
                }
                int32_t state = graph->transition != NULL ? mode + 1 : 0;
                interval to = open_interval(graph, earliest, latest, state, end);
                int32_t slots = graph->moves.slots[i];
                int32_t first = from.first > to.first - slots ? from.first : to.first - slots;
                int32_t last = from.last < to.last - slots ? from.last : to.last - slots;
                counts->training_edges += first <= last ? last - first + 1 : 0;
            }
        }
    }
    counts->unreachable_edges = counts->full_training_edges - counts->training_edges -
                                counts->redundant_edges - counts->forbidden_edges;
}

/* Opens the nodes; without reduction the whole grid between source and deadline. */
static int32_t open_nodes(ckpd_graph *graph)
{
    const ckpd__graph_spec *s = &graph->spec;
    size_t cells = (size_t)graph->states * (size_t)(s->segments + 1);
    size_t nodes = (size_t)graph->states * (size_t)(s->slots + 1);
    graph->node_open = ckpd__calloc(graph->context, nodes, (size_t)(s->segments + 1));
    int32_t *earliest = ckpd__calloc(graph->context, 2 * cells, sizeof *earliest);
    if (graph->node_open == NULL || earliest == NULL) {
        ckpd__free(graph->context, earliest);
        return ckpd__no_memory(graph->context);
    }
    int32_t *latest = earliest + cells;
    ckpd__reach_problem reach = {
        &graph->moves,         graph->transition,
        graph->states,         s->modes,
        s->segments,           graph->source_slot,
        graph->source_segment, graph->source_state,
        graph->going_slots,    graph->source_segment + graph->going_segments,
        graph->source_state};
    ckpd__graph_earliest(&reach, s->last, earliest);
    ckpd__graph_latest(&reach, s->last, latest);
    size_t source =
        (size_t)graph->source_state * (size_t)(s->segments + 1) + (size_t)graph->source_segment;
    bool goes_on = graph->going_slots > 0 &&
                   graph->going_slots <= latest[source + (size_t)graph->going_segments];
    latest[source] = goes_on && latest[source] < 0 ? 0 : latest[source];
    graph->has_path = graph->source_slot <= latest[source];
    for (size_t i = 0; i < cells; i++) {
        int32_t segment = (int32_t)(i % (size_t)(s->segments + 1));
        if (!graph->has_path || segment < graph->source_segment) {
            earliest[i] = CKPD__NEVER;
        } else if (!s->reduce) {
            earliest[i] = graph->source_slot;
            latest[i] = s->last;
        }
    }
    count_parts(graph, earliest, latest);
    for (int32_t q = 0; q < graph->states; q++) {
        for (int32_t k = graph->source_segment; k <= s->segments; k++) {
            interval open = open_interval(graph, earliest, latest, q, k);
            for (int32_t t = open.first; t <= open.last; t++) {
                graph->node_open[ckpd__graph_node(graph, q, t, k)] = 1;
            }
        }
    }
    ckpd__free(graph->context, earliest);
    return CKPD_OK;
}

static bool edge_is_open(const ckpd_graph *graph, int32_t move, int32_t slot, int32_t segment)
{
    const ckpd__moves *moves = &graph->moves;
    int32_t mode = moves->mode[move];
    int32_t wanted = moves->transition_class != NULL ? moves->transition_class[move] : 1;
    int32_t end = slot + moves->slots[move];
    int32_t state = graph->transition != NULL ? mode + 1 : 0;
    if (end > graph->spec.last || segment + moves->segments[move] > graph->spec.segments ||
        !graph->node_open[ckpd__graph_node(graph, state, end, segment + moves->segments[move])]) {
        return false;
    }
    for (int32_t q = 0; q < graph->states; q++) {
        if (graph->node_open[ckpd__graph_node(graph, q, slot, segment)] &&
            ckpd__graph_class(graph->transition, graph->spec.modes, q, mode) == wanted) {
            return true;
        }
    }
    return false;
}

/* Amount of one edge: what its class costs plus what the callback says. */
static int32_t ask_edge_cost(const ckpd_graph *graph, const double *class_cost, int32_t move,
                             int32_t slot, int32_t segment, double *cost)
{
    const ckpd__graph_spec *s = &graph->spec;
    const ckpd__moves *moves = &graph->moves;
    int32_t mode = moves->mode[move];
    *cost = class_cost[moves->transition_class != NULL ? moves->transition_class[move] : 1];
    if (s->edge_cost == NULL) {
        return CKPD_OK;
    }
    ckpd_edge edge = {.size = sizeof edge,
                      .from_slot = slot,
                      .to_slot = slot + moves->slots[move],
                      .from_segment = segment,
                      .to_segment = segment + moves->segments[move],
                      .mode = mode,
                      .gpus = s->mode[mode].gpus,
                      .power_kw = s->mode[mode].power_kw,
                      .last_slot_power_kw =
                          moves->last_kw != NULL ? moves->last_kw[move] : s->mode[mode].power_kw};
    int32_t failed = 0;
    double amount = s->edge_cost(s->name, &edge, &failed, s->edge_cost_user);
    if (failed != 0) {
        return ckpd__fail(graph->context, CKPD_ERR_CALLBACK, "edge_cost", slot, failed,
                          "edge cost of job '%s' stopped at slot %d with %d", s->name, slot,
                          failed);
    }
    *cost += amount;
    return ckpd__check_range(graph->context, "edge_cost", slot, amount, -1e15, 1e15);
}

static int32_t make_edge_costs(ckpd_graph *graph, const double *class_cost)
{
    const ckpd__graph_spec *s = &graph->spec;
    if (s->edge_cost == NULL && s->overhead_cost == NULL) {
        return CKPD_OK;
    }
    size_t row = (size_t)s->slots * (size_t)s->segments;
    graph->edge_cost =
        ckpd__calloc(graph->context, (size_t)graph->moves.count, row * sizeof(double));
    if (graph->edge_cost == NULL) {
        return ckpd__no_memory(graph->context);
    }
    for (int32_t i = 0; i < graph->moves.count && graph->has_path; i++) {
        for (int32_t t = graph->source_slot; t < s->last; t++) {
            for (int32_t k = graph->source_segment; k < s->segments; k++) {
                if (!edge_is_open(graph, i, t, k)) {
                    continue;
                }
                double *cost = &graph->edge_cost[ckpd__graph_edge(graph, i, t, k)];
                int32_t status = ask_edge_cost(graph, class_cost, i, t, k, cost);
                if (status != CKPD_OK) {
                    return status;
                }
            }
        }
    }
    return CKPD_OK;
}

/* What no machine would finish is refused with the number to change. */
static int32_t check_size(const ckpd_graph *graph)
{
    static const double most_nodes = 2e9;
    static const double most_steps = 2e10;
    const ckpd__graph_spec *s = &graph->spec;
    double cells = (double)graph->states * (s->segments + 1.0);
    double nodes = cells * (s->slots + 1.0);
    double steps = cells * (graph->moves.count + 1.0);
    if (nodes <= most_nodes && steps <= most_steps) {
        return CKPD_OK;
    }
    return ckpd__fail(
        graph->context, CKPD_ERR_RANGE, "segments", -1, s->segments,
        "job '%s': %d segments, %d slots and %d moves make a graph of %g nodes; use fewer segments",
        s->name, s->segments, s->slots, graph->moves.count, nodes);
}

static int32_t make_parts(ckpd_graph *graph)
{
    const ckpd__graph_spec *s = &graph->spec;
    double *class_hours = NULL;
    double *class_cost = NULL;
    int32_t classes = 0;
    int32_t status = ckpd__graph_classes(graph->context, s, &graph->transition, &class_hours,
                                         &class_cost, &classes);
    graph->states = graph->transition != NULL ? s->modes + 1 : 1;
    if (status == CKPD_OK) {
        status = make_source(graph);
    }
    if (status == CKPD_OK) {
        int32_t window = s->last - graph->source_slot;
        status = ckpd__graph_moves(graph->context, s, window, graph->transition, class_hours,
                                   class_cost, classes, &graph->moves, &graph->counts, window);
    }
    if (status == CKPD_OK) {
        status = check_size(graph);
    }
    if (status == CKPD_OK) {
        status = open_nodes(graph);
    }
    if (status == CKPD_OK) {
        status = make_edge_costs(graph, class_cost);
    }
    ckpd__free(graph->context, class_hours);
    ckpd__free(graph->context, class_cost);
    return status;
}

int32_t ckpd__graph_make(ckpd_graph **out, ckpd_context *context, const ckpd__graph_spec *spec)
{
    int32_t status = check_spec(context, spec);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_graph *graph = ckpd__calloc(context, 1, sizeof *graph);
    if (graph == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(graph, CKPD__GRAPH, context);
    atomic_init(&graph->holders, 1);
    graph->counts.size = sizeof graph->counts;
    status = copy_spec(graph, spec);
    graph->spec.last = spec->may_be_late ? spec->slots : spec->deadline;
    if (status == CKPD_OK) {
        status = make_parts(graph);
    }
    if (status != CKPD_OK) {
        ckpd_graph_free(graph);
        return status;
    }
    ckpd__log(context, CKPD_LOG_DEBUG, CKPD_MSG_GRAPH_SIZE,
              "job '%s': %L nodes, %L training edges of %L", graph->spec.name, graph->counts.nodes,
              graph->counts.training_edges, graph->counts.full_training_edges);
    *out = graph;
    return CKPD_OK;
}

int32_t ckpd__graph_resegment(ckpd_graph **out, ckpd_context *context, const ckpd_graph *graph,
                              int32_t segments)
{
    ckpd__graph_spec spec = graph->spec;
    spec.segments = segments;
    return ckpd__graph_make(out, context, &spec);
}
