/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Graphs against counts made by hand and against an enumeration that knows neither moves nor nodes:
 * every way to fill the slots with runs of segments in a mode.
 */
#include "unit/graph/small_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- sets of slot patterns -------------------------------------------------------------------- */

/* A pattern holds the mode of each slot (1 + m, 0 for none) to the base 4: at most 15 slots. */
typedef struct patterns {
    int64_t *value;
    size_t count, room;
    int64_t paths;
} patterns;

static void add_pattern(patterns *set, int64_t value)
{
    set->paths++;
    for (size_t i = 0; i < set->count; i++) {
        if (set->value[i] == value) {
            return;
        }
    }
    if (set->count == set->room) {
        set->room = 2 * set->room + 64;
        set->value = realloc(set->value, set->room * sizeof *set->value);
        ck_assert_ptr_nonnull(set->value);
    }
    set->value[set->count++] = value;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t occupy(int64_t pattern, int32_t slot, int32_t slots, int32_t mode)
{
    for (int32_t t = slot; t < slot + slots; t++) {
        pattern += (int64_t)(mode + 1) << (2 * t);
    }
    return pattern;
}

/* Every path of a graph, as backend.h describes them. */
static void walk(const ckpd_graph *g, int32_t state, int32_t slot, int32_t segment, int64_t pattern,
                 patterns *set)
{
    if (!g->node_open[ckpd__graph_node(g, state, slot, segment)]) {
        return;
    }
    if (segment == g->spec.segments) {
        add_pattern(set, pattern);
        return;
    }
    if (slot < g->spec.deadline) {
        walk(g, state, slot + 1, segment, pattern, set);
    }
    for (int32_t i = 0; i < g->moves.count; i++) {
        int32_t mode = g->moves.mode[i];
        int32_t wanted = g->moves.transition_class != NULL ? g->moves.transition_class[i] : 1;
        if (slot + g->moves.slots[i] > g->spec.deadline ||
            segment + g->moves.segments[i] > g->spec.segments ||
            ckpd__graph_class(g->transition, g->spec.modes, state, mode) != wanted) {
            continue;
        }
        walk(g, g->transition != NULL ? mode + 1 : 0, slot + g->moves.slots[i],
             segment + g->moves.segments[i], occupy(pattern, slot, g->moves.slots[i], mode), set);
    }
}

static patterns patterns_of(const ckpd_graph *graph)
{
    patterns set = {NULL, 0, 0, 0};
    walk(graph, graph->source_state, graph->source_slot, graph->source_segment, 0, &set);
    qsort(set.value, set.count, sizeof *set.value, by_value);
    return set;
}

/* The same from the definition: lengths as ceil of hours, the rule asked at every change. */
static void define(const ckpd__graph_spec *s, const double *hours, int32_t last, int32_t slot,
                   int32_t segment, int64_t pattern, patterns *set)
{
    if (segment == s->segments) {
        add_pattern(set, pattern);
        return;
    }
    if (slot >= s->deadline) {
        return;
    }
    define(s, hours, last, slot + 1, segment, pattern, set);
    for (int32_t m = 0; m < s->modes; m++) {
        if (s->allowed != NULL && last >= 0 && !s->allowed[last * s->modes + m]) {
            continue;
        }
        for (int32_t n = 1; segment + n <= s->segments; n++) {
            int32_t slots = (int32_t)ceil(n * hours[m] - 1e-6);
            slots = slots < 1 ? 1 : slots;
            if (slot + slots <= s->deadline) {
                define(s, hours, m, slot + slots, segment + n, occupy(pattern, slot, slots, m),
                       set);
            }
        }
    }
}

static patterns patterns_by_definition(const ckpd__graph_spec *spec, const double *hours)
{
    patterns set = {NULL, 0, 0, 0};
    define(spec, hours, -1, spec->release, spec->start_segments, 0, &set);
    qsort(set.value, set.count, sizeof *set.value, by_value);
    return set;
}

static void expect_same(const patterns *a, const patterns *b)
{
    ck_assert_int_eq((int64_t)a->count, (int64_t)b->count);
    ck_assert_int_eq(memcmp(a->value, b->value, a->count * sizeof *a->value), 0);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Segment 1.5 h, K = 3, 6 slots: lengths 2, 3 and 5 (= 2 + 3, redundant). Places 5x3, 4x2, 2x1.
   On a path: boundaries k0 0..1, k1 2..3, k2 3..4, k3 5..6. */
START_TEST(counts_made_by_hand)
{
    const double hours[] = {1.5};
    ckpd__graph_spec spec = spec_of(6, 3, 1, hours);
    ckpd_graph *graph = make(&spec);
    ckpd_graph_counts counts = {.size = sizeof counts};
    ck_assert_int_eq(ckpd_graph_count(graph, &counts), CKPD_OK);
    ck_assert_int_eq(counts.full_training_edges, 15 + 8 + 2);
    ck_assert_int_eq(counts.redundant_edges, 2);
    ck_assert_int_eq(counts.training_edges, 2 + 1 + 2 + 2 + 2);
    ck_assert_int_eq(counts.unreachable_edges, 25 - 2 - 9);
    ck_assert_int_eq(counts.forbidden_edges, 0);
    ck_assert_int_eq(counts.nodes, 8);
    ck_assert_int_eq(counts.wait_edges, 3);
    ck_assert_int_eq(graph->moves.count, 2);
    ck_assert_int_eq(graph->moves.slots[0], 2);
    ck_assert_int_eq(graph->moves.slots[1], 3);
    ckpd_graph_free(graph);

    spec.reduce = 0;
    graph = make(&spec);
    ck_assert_int_eq(ckpd_graph_count(graph, &counts), CKPD_OK);
    ck_assert_int_eq(counts.training_edges, 25);
    ck_assert_int_eq(counts.redundant_edges, 0);
    ck_assert_int_eq(counts.unreachable_edges, 0);
    ck_assert_int_eq(counts.nodes, 7 * 4);
    ck_assert_int_eq(graph->moves.count, 3);
    ckpd_graph_free(graph);
}
END_TEST

START_TEST(rounding_never_costs_a_slot)
{
    /* 24 units in 12 segments at rate 1: 2 slots each, and all 12 in 24, whatever the rounding */
    const double exact[] = {2.0};
    const double above[] = {2.0 * (1 + 1e-12)};
    const double more[] = {2.0 * (1 + 1e-8)};
    ckpd__graph_spec spec = spec_of(24, 12, 1, exact);
    ck_assert_int_eq(ckpd__graph_slots(ckpd__graph_length(&spec, 0, 12, 0)), 24);
    spec = spec_of(24, 12, 1, above);
    ck_assert_int_eq(ckpd__graph_slots(ckpd__graph_length(&spec, 0, 12, 0)), 24);
    spec = spec_of(24, 12, 1, more);
    ck_assert_int_eq(ckpd__graph_slots(ckpd__graph_length(&spec, 0, 12, 0)), 25);
    ck_assert_int_eq(ckpd__graph_slots(1e-30), 1);
    ck_assert_int_eq(ckpd__graph_slots(1e300), CKPD__NEVER);
    ck_assert_int_eq(ckpd__graph_slots((double)INFINITY), CKPD__NEVER);
}
END_TEST

/* The reduced graph has the same slot patterns as the definition, and so has the full one. */
START_TEST(reduction_loses_nothing)
{
    static const struct {
        int32_t slots, segments, count, release, start;
        double hours[MOST_MODES];
    } cases[] = {
        {6, 3, 1, 0, 0, {1.5, 0, 0}},     {7, 4, 2, 0, 0, {1.5, 0.7, 0}},
        {8, 3, 2, 1, 0, {2.2, 1.0, 0}},   {6, 4, 2, 0, 1, {1.3, 0.4, 0}},
        {6, 3, 3, 0, 0, {1.9, 1.4, 0.5}}, {5, 5, 2, 0, 0, {0.6, 0.3, 0}},
        {3, 4, 1, 0, 0, {0.75, 0, 0}},    {9, 2, 2, 2, 0, {3.4, 1.6, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ckpd__graph_spec spec =
            spec_of(cases[i].slots, cases[i].segments, cases[i].count, cases[i].hours);
        spec.release = cases[i].release;
        spec.start_segments = cases[i].start;
        patterns wanted = patterns_by_definition(&spec, cases[i].hours);
        int64_t paths[2];
        for (int32_t reduce = 0; reduce < 2; reduce++) {
            spec.reduce = reduce;
            ckpd_graph *graph = make(&spec);
            patterns found = patterns_of(graph);
            ck_assert_int_gt((int64_t)found.count, 0);
            expect_same(&found, &wanted);
            paths[reduce] = found.paths;
            free(found.value);
            ckpd_graph_free(graph);
        }
        ck_assert_int_le(paths[1], paths[0]);
        free(wanted.value);
    }
}
END_TEST

/* After mode 1 only mode 1; after mode 0 anything: exact also when the job waited in between. */
START_TEST(transitions_hold_across_waits)
{
    const double hours[] = {2.0, 1.0};
    const uint8_t allowed[] = {1, 1, 0, 1};
    ckpd__graph_spec spec = spec_of(6, 3, 2, hours);
    spec.allowed = allowed;
    patterns wanted = patterns_by_definition(&spec, hours);
    for (int32_t reduce = 0; reduce < 2; reduce++) {
        spec.reduce = reduce;
        ckpd_graph *graph = make(&spec);
        ck_assert_int_eq(graph->states, 3);
        patterns found = patterns_of(graph);
        expect_same(&found, &wanted);
        /* By hand: the slot patterns of 3 segments, 0 before 1. With a 0s of 2 slots and b = 3 - a
           1s of one slot in 6 slots, runs kept whole: C(6 - a, 3) placings, times one order: 20 +
           10 + 4 + 1. */
        ck_assert_int_eq((int64_t)found.count, 20 + 10 + 4 + 1);
        free(found.value);
        ckpd_graph_counts c = {.size = sizeof c};
        ck_assert_int_eq(ckpd_graph_count(graph, &c), CKPD_OK);
        ck_assert_int_eq(c.full_training_edges, c.training_edges + c.redundant_edges +
                                                    c.unreachable_edges + c.forbidden_edges);
        /* Mode 0 may not start in the state after mode 1: 5x3 + 3x2 + 1x1 places. */
        ck_assert_int_eq(c.forbidden_edges, 15 + 6 + 1);
        ckpd_graph_free(graph);
    }
    free(wanted.value);

    /* No self-transition: nothing may be split, so nothing is redundant. */
    const uint8_t never[] = {0, 1, 1, 0};
    spec.allowed = never;
    spec.reduce = 1;
    wanted = patterns_by_definition(&spec, hours);
    ckpd_graph *graph = make(&spec);
    ck_assert_int_eq(graph->counts.redundant_edges, 0);
    patterns found = patterns_of(graph);
    expect_same(&found, &wanted);
    free(found.value);
    free(wanted.value);
    ckpd_graph_free(graph);
}
END_TEST

START_TEST(transition_overheads_lengthen_edges)
{
    /* 1 h segments; starting from nothing is free, a change costs 1 h and 5, going on is free. */
    const double hours[] = {1.0, 1.0};
    const double overhead[] = {0, 0, 0, 1, 1, 0};
    const double cost[] = {0, 0, 0, 5, 5, 0};
    ckpd__graph_spec spec = spec_of(4, 2, 2, hours);
    spec.overhead_hours = overhead;
    spec.overhead_cost = cost;
    ckpd_graph *graph = make(&spec);
    ck_assert_int_eq(ckpd__graph_class(graph->transition, 2, 0, 1), 1);
    ck_assert_int_eq(ckpd__graph_class(graph->transition, 2, 1, 0), 1);
    ck_assert_int_eq(ckpd__graph_class(graph->transition, 2, 1, 1), 2);
    int32_t plain = ckpd__graph_find_move(graph, 1, 1, 1);
    int32_t change = ckpd__graph_find_move(graph, 1, 1, 2);
    ck_assert_int_eq(graph->moves.slots[plain], 1);
    ck_assert_int_eq(graph->moves.slots[change], 2);
    ck_assert_double_eq(graph->edge_cost[ckpd__graph_edge(graph, change, 1, 1)], 5);
    ck_assert_double_eq(graph->edge_cost[ckpd__graph_edge(graph, plain, 0, 0)], 0);
    /* By hand: two segments in one mode, 4 slots: C(4,2) = 6 patterns a mode; with a change 1 + 2
       slots: placings of a 1-run and a later 2-run in 4 slots: 3 an order. */
    patterns found = patterns_of(graph);
    ck_assert_int_eq((int64_t)found.count, 6 + 6 + 3 + 3);
    free(found.value);
    ckpd_graph_free(graph);
}
END_TEST

START_TEST(running_edge_is_fixed)
{
    /* J0 split at hour 1: a 2 h segment, one hour run. Boundary 1, segment complete. */
    const double hours[] = {2.0};
    ckpd__graph_spec spec = spec_of(5, 1, 1, hours);
    spec.running = 0;
    spec.running_slots = 1;
    spec.running_segments = 1;
    ckpd_graph *graph = make(&spec);
    ck_assert_int_eq(graph->source_slot, 1);
    ck_assert_int_eq(graph->source_segment, 1);
    ck_assert_double_eq(graph->fixed_power_kw[0], 10);
    ck_assert_double_eq(graph->fixed_power_kw[1], 0);
    ck_assert_int_eq(graph->fixed_gpus[0], 8);
    ck_assert_int_eq(graph->counts.nodes, 1);
    ck_assert(graph->has_path);
    ckpd_graph_free(graph);

    /* Three segments, one running with 1.5 h each: slots 0..1 less one run, then two segments are
     * left. */
    const double longer[] = {1.5};
    spec = spec_of(6, 3, 1, longer);
    spec.running = 0;
    spec.running_slots = 1;
    spec.running_segments = 1;
    spec.prorated = 1;
    graph = make(&spec);
    ck_assert_int_eq(graph->source_slot, 1);
    ck_assert_double_eq_tol(graph->fixed_power_kw[0], 0.5 * 10 + 0.5 * 2, 1e-12);
    patterns found = patterns_of(graph);
    /* By hand: 5 slots, one run of 3 (3 places) or two runs of 2 (3 places), and adjacent 2 + 2 is
       4 long: all different patterns. */
    ck_assert_int_eq((int64_t)found.count, 3 + 3);
    free(found.value);
    ckpd_graph_free(graph);

    /* It ends after the deadline: built, without a path. */
    spec.deadline = 1;
    spec.running_slots = 0;
    graph = make(&spec);
    ck_assert(!graph->has_path);
    ck_assert_int_eq(graph->counts.nodes, 0);
    ck_assert_double_eq(graph->fixed_power_kw[0], 10);
    ckpd_graph_free(graph);

    spec.running_slots = 2;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "running_slots_done",
                 "2 slots of the running edge are done, it takes 2");
    spec.running_slots = 0;
    spec.running_segments = 4;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_RANGE, "running_segments", "4");
}
END_TEST

START_TEST(complete_and_hopeless_jobs)
{
    const double hours[] = {1.0};
    ckpd__graph_spec spec = spec_of(4, 3, 1, hours);
    spec.start_segments = 3;
    ckpd_graph *graph = make(&spec);
    ck_assert(graph->has_path);
    ck_assert_int_eq(graph->counts.nodes, 1);
    ck_assert_int_eq(graph->counts.training_edges, 0);
    ckpd_graph_free(graph);

    const double slow[] = {2.0};
    spec = spec_of(4, 3, 1, slow);
    graph = make(&spec);
    ck_assert(!graph->has_path);
    ck_assert_int_eq(graph->counts.nodes, 0);
    ckpd_graph_free(graph);

    /* One slot, one segment. */
    spec = spec_of(1, 1, 1, hours);
    graph = make(&spec);
    ck_assert_int_eq(graph->counts.training_edges, 1);
    ck_assert_int_eq(graph->counts.nodes, 2);
    ckpd_graph_free(graph);
}
END_TEST

START_TEST(saving_takes_a_share_of_each_segment)
{
    const double hours[] = {1.8};
    ckpd__graph_spec spec = spec_of(8, 2, 1, hours);
    ck_assert_int_eq(ckpd__graph_slots(ckpd__graph_length(&spec, 0, 1, 0)), 2);
    spec.save_share = 0.1; /* 1.8 / 0.9 = 2.0 */
    ck_assert_int_eq(ckpd__graph_slots(ckpd__graph_length(&spec, 0, 1, 0)), 2);
    spec.save_share = 0.11;
    ck_assert_int_eq(ckpd__graph_slots(ckpd__graph_length(&spec, 0, 1, 0)), 3);
}
END_TEST

START_TEST(prorated_power_in_the_last_slot)
{
    /* 1.5 h at 10 kW with 2 kW idle: the second slot averages 6 kW; nothing is left out. */
    const double hours[] = {1.5};
    ckpd__graph_spec spec = spec_of(6, 3, 1, hours);
    spec.prorated = 1;
    ckpd_graph *graph = make(&spec);
    ck_assert_int_eq(graph->moves.count, 3);
    ck_assert_double_eq_tol(graph->moves.last_kw[0], 6, 1e-12);
    ck_assert_double_eq_tol(graph->moves.last_kw[1], 10, 1e-12);
    ck_assert_double_eq_tol(graph->moves.last_kw[2], 6, 1e-12);
    ckpd_graph_free(graph);
    modes[0].idle_power_kw = (double)NAN;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_MISSING, "idle_power_kw",
                 "idle power of mode 0");
}
END_TEST

static double late_costs_more(const char *job, const ckpd_edge *edge, int32_t *failed, void *user)
{
    int32_t *asked = user;
    ck_assert_str_eq(job, "job");
    ck_assert_uint_eq(edge->size, sizeof *edge);
    ck_assert_int_eq(edge->to_slot - edge->from_slot, edge->to_segment - edge->from_segment == 1 ? 2
                                                      : edge->to_segment - edge->from_segment == 2
                                                          ? 3
                                                          : 5);
    ++*asked;
    *failed = *asked == 1000 ? 3 : 0;
    return *asked == 2000 ? (double)NAN : edge->from_slot + 0.25 * edge->from_segment;
}

START_TEST(edge_costs_are_asked_once_an_edge)
{
    const double hours[] = {1.5};
    int32_t asked = 0;
    ckpd__graph_spec spec = spec_of(6, 3, 1, hours);
    spec.edge_cost = late_costs_more;
    spec.edge_cost_user = &asked;
    ckpd_graph *graph = make(&spec);
    /* The 9 edges of the case by hand and the two of all three segments, which no split may replace
     * now. */
    ck_assert_int_eq(graph->moves.count, 3);
    ck_assert_int_eq(graph->counts.training_edges, 11);
    ck_assert_int_eq(asked, 11);
    ck_assert_double_eq(graph->edge_cost[ckpd__graph_edge(graph, 0, 3, 2)], 3.5);
    ckpd_graph_free(graph);
    asked = 995;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_CALLBACK, "edge_cost",
                 "with 3");
    asked = 1995;
    expect_error(ckpd__graph_make(&graph, context, &spec), CKPD_ERR_NOT_FINITE, "edge_cost", "NaN");
}
END_TEST

START_TEST(graphs_are_shared_and_resegmented)
{
    const double hours[] = {1.5};
    ckpd__graph_spec spec = spec_of(6, 3, 1, hours);
    ckpd_graph *graph = make(&spec);
    ckpd_graph *other = NULL;
    ck_assert_ptr_eq(ckpd__graph_retain(graph), graph);
    ckpd_graph_free(graph);
    /* 4.5 h of work in one segment: 5 slots, two places. */
    ck_assert_int_eq(ckpd__graph_resegment(&other, context, graph, 1), CKPD_OK);
    ck_assert_int_eq(other->counts.training_edges, 2);
    ck_assert_str_eq(ckpd_graph_name(other), "job");
    ck_assert_int_eq(ckpd_graph_segments(other), 1);
    ckpd_graph_free(graph);
    ckpd_graph_free(other);
    ckpd_graph_free(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        counts_made_by_hand,
        rounding_never_costs_a_slot,
        reduction_loses_nothing,
        transitions_hold_across_waits,
        transition_overheads_lengthen_edges,
        running_edge_is_fixed,
        complete_and_hopeless_jobs,
        saving_takes_a_share_of_each_segment,
        prorated_power_in_the_last_slot,
        edge_costs_are_asked_once_an_edge,
        graphs_are_shared_and_resegmented,
        NULL,
    };
    return run_graph_tests("graph", tests);
}
