/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Checkpoint-state graphs from the inside. A graph is implicit: a table of moves (mode, segments,
 * slots) that may start at any open node, and the set of open nodes. Because waiting is always
 * allowed, the boundaries at which a (state, segments) pair lies on a path are an interval; nothing
 * is enumerated edge by edge.
 */
#ifndef CKPD_LIB_GRAPH_H
#define CKPD_LIB_GRAPH_H

#include "base/base.h"

#include <ckptdispatch/graph.h>
#include <stdatomic.h>

/* What a graph is made from. Borrowed by ckpd__graph_make(), which keeps a copy for later rebuilds.
 */
typedef struct ckpd__graph_spec {
    const char *name;
    int32_t slots;
    int32_t release, deadline; /* boundaries */
    int32_t may_be_late;       /* 1: the deadline may be missed */
    double late_price;         /* money per hour after it */
    int32_t last;              /* boundary that no edge may pass: the deadline or the horizon;
                                  ckpd__graph_make() fills it */
    int32_t segments, start_segments;
    double slot_hours;
    double work; /* rate unit x seconds, all segments */
    int32_t modes;
    int32_t baseline; /* mode number, -1 when the task names none */
    int32_t running;  /* mode of the edge that runs at boundary 0, -1 when none */
    int32_t running_slots, running_segments; /* already run; of the whole edge */
    int32_t may_lose;                        /* 1: the running edge may be given up at boundary 0 */
    const ckpd_mode *mode;                   /* [modes] */
    const char *const *label;                /* [modes] */
    int32_t reduce, prorated;
    double save_share;      /* of each segment's time, [0, 1) */
    const uint8_t *allowed; /* [modes * modes] from, to; NULL: everything */
    /* What starting a mode costs in a state (0: no mode yet, 1 + m: last ran m): [(modes + 1) *
       modes], added to the edge. NULL: nothing. */
    const double *overhead_hours;
    const double *overhead_cost;
    ckpd_edge_cost_fn edge_cost;
    void *edge_cost_user;
} ckpd__graph_spec;

typedef struct ckpd__moves {
    int32_t count;
    int32_t *mode, *slots, *segments;
    int32_t *transition_class; /* NULL: all of class 1 */
    double *last_kw;           /* NULL: the mode's power */
} ckpd__moves;

enum { CKPD__NEVER = INT32_MAX / 2 };

struct ckpd_graph {
    CKPD__HANDLE;
    atomic_int_least32_t holders; /* graphs are immutable: problems share them */
    ckpd__graph_spec spec;        /* its arrays belong to the graph */
    int32_t source_slot, source_segment, source_state;
    int32_t states;
    /* The rest of a running edge that may be given up: a move of its own, from the source at
       boundary 0; 0 slots: none. */
    int32_t going_slots, going_segments, going_mode;
    double going_last_kw;
    int32_t has_path;
    ckpd__moves moves;
    uint8_t *transition;    /* [states * modes] class or 0; NULL: everything is class 1 */
    uint8_t *node_open;     /* [states][slots + 1][segments + 1] */
    double *edge_cost;      /* [moves][slots][segments] or NULL */
    double *fixed_power_kw; /* [slots] or NULL */
    int32_t *fixed_gpus;    /* [slots] or NULL */
    int32_t *mode_gpus;     /* [modes] */
    double *mode_power_kw;  /* [modes] */
    ckpd_graph_counts counts;
};

ckpd_graph *ckpd__graph_retain(const ckpd_graph *graph);

/* Makes a graph from a spec that is checked here. Errors as ckpd_graph_build(). */
int32_t ckpd__graph_make(ckpd_graph **out, ckpd_context *context, const ckpd__graph_spec *spec);
/* The same task with another number of segments. */
int32_t ckpd__graph_resegment(ckpd_graph **out, ckpd_context *context, const ckpd_graph *graph,
                              int32_t segments);

/* Slots of `segments` segments in a mode before rounding up, with overhead. */
double ckpd__graph_length(const ckpd__graph_spec *spec, int32_t mode, int32_t segments,
                          double overhead_hours);
/* Occupied slots of such a length; CKPD__NEVER when no horizon holds it. */
int32_t ckpd__graph_slots(double length);
/* IT power in the last of `slots` occupied slots. */
double ckpd__graph_last_power(const ckpd__graph_spec *spec, int32_t mode, double length,
                              int32_t slots);

/* moves.c: classes of transitions and the move table, moves longer than `longest` slots left out.
 */
int32_t ckpd__graph_classes(ckpd_context *context, const ckpd__graph_spec *spec,
                            uint8_t **transition, double **class_hours, double **class_cost,
                            int32_t *classes);
int32_t ckpd__graph_moves(ckpd_context *context, const ckpd__graph_spec *spec, int32_t longest,
                          const uint8_t *transition, const double *class_hours,
                          const double *class_cost, int32_t classes, ckpd__moves *moves,
                          ckpd_graph_counts *counts, int32_t window);
void ckpd__graph_free_moves(ckpd_context *context, ckpd__moves *moves);

/*
 * reach.c. Earliest boundary of each (state, segments) from the source, CKPD__NEVER when later than
 * `limit`; latest one from which the sink is reached by `deadline`, -1 when none. Arrays [states *
 * (segments + 1)].
 */
typedef struct ckpd__reach_problem {
    const ckpd__moves *moves;
    const uint8_t *transition;
    int32_t states, modes, segments;
    int32_t source_slot, source_segment, source_state;
    int32_t going_slot, going_segment, going_state; /* a second source; going_slot 0: none */
} ckpd__reach_problem;
void ckpd__graph_earliest(const ckpd__reach_problem *problem, int32_t limit, int32_t *earliest);
void ckpd__graph_latest(const ckpd__reach_problem *problem, int32_t deadline, int32_t *latest);
/* Class of starting `mode` in `state`, 0 when forbidden. */
int32_t ckpd__graph_class(const uint8_t *transition, int32_t modes, int32_t state, int32_t mode);

/* Index of node_open and of edge_cost. */
size_t ckpd__graph_node(const ckpd_graph *graph, int32_t state, int32_t slot, int32_t segment);
size_t ckpd__graph_edge(const ckpd_graph *graph, int32_t move, int32_t slot, int32_t segment);
/* Money for a job that finishes at a boundary; 0 in time. */
double ckpd__graph_late_cost(const ckpd__graph_spec *spec, int32_t boundary);
/* Number of the move (mode, segments, class), -1 when the table has none. */
int32_t ckpd__graph_find_move(const ckpd_graph *graph, int32_t mode, int32_t segments,
                              int32_t transition_class);

/* options.c */
typedef enum ckpd__graph_field {
    CKPD__GRAPH_REDUCE,
    CKPD__GRAPH_SAVE_SHARE,
    CKPD__GRAPH_LAST_SLOT_POWER,
    CKPD__GRAPH_FIELDS
} ckpd__graph_field;

struct ckpd_graph_options {
    CKPD__HANDLE;
    double values[CKPD__GRAPH_FIELDS];
    int32_t transition_modes;
    uint8_t *allowed;
    ckpd_transition_fn rule;
    void *rule_user;
    int32_t change_modes; /* 0: changes cost nothing */
    double *change_hours; /* [(change_modes + 1) * change_modes] or NULL */
    double *change_money; /* the same */
    ckpd_edge_cost_fn edge_cost;
    void *edge_cost_user;
};

#endif
