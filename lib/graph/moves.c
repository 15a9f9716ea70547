/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The move table: how long s segments take in a mode, and which moves a split replaces without
 * loss. */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

/* Rounding of work / rate must not cost a slot. */
static const double LENGTH_TOLERANCE = 1e-9;
enum { MOST_CLASSES = 255 };

double ckpd__graph_length(const ckpd__graph_spec *spec, int32_t mode, int32_t segments,
                          double overhead_hours)
{
    double training_h = segments * (spec->work / spec->segments) / (3600.0 * spec->mode[mode].rate);
    return (training_h / (1.0 - spec->save_share) + overhead_hours) / spec->slot_hours;
}

int32_t ckpd__graph_slots(double length)
{
    double slots = ceil(length * (1.0 - LENGTH_TOLERANCE));
    if (!(slots < CKPD__NEVER)) {
        return CKPD__NEVER;
    }
    return slots < 1 ? 1 : (int32_t)slots;
}

double ckpd__graph_last_power(const ckpd__graph_spec *spec, int32_t mode, double length,
                              int32_t slots)
{
    const ckpd_mode *m = &spec->mode[mode];
    if (!spec->prorated) {
        return m->power_kw;
    }
    double share = fmin(fmax(length - (slots - 1), 0.0), 1.0);
    return share * m->power_kw + (1.0 - share) * m->idle_power_kw;
}

int32_t ckpd__graph_class(const uint8_t *transition, int32_t modes, int32_t state, int32_t mode)
{
    return transition == NULL ? 1 : transition[(size_t)state * (size_t)modes + (size_t)mode];
}

/* Number of the class with these overheads, appended when new; 0 when there are too many. */
static int32_t class_of(double *hours, double *cost, int32_t *classes, double hour, double money)
{
    for (int32_t c = 1; c <= *classes; c++) {
        if (hours[c] == hour && cost[c] == money) {
            return c;
        }
    }
    if (*classes == MOST_CLASSES) {
        return 0;
    }
    ++*classes;
    hours[*classes] = hour;
    cost[*classes] = money;
    return *classes;
}

int32_t ckpd__graph_classes(ckpd_context *context, const ckpd__graph_spec *spec,
                            uint8_t **transition, double **class_hours, double **class_cost,
                            int32_t *classes)
{
    double *hours = ckpd__calloc(context, MOST_CLASSES + 1, sizeof *hours);
    double *cost = ckpd__calloc(context, MOST_CLASSES + 1, sizeof *cost);
    bool stateful =
        spec->allowed != NULL || spec->overhead_hours != NULL || spec->overhead_cost != NULL;
    size_t modes = (size_t)spec->modes;
    uint8_t *table = stateful ? ckpd__calloc(context, (modes + 1) * modes, 1) : NULL;
    int32_t status = CKPD_OK;
    if (hours == NULL || cost == NULL || (stateful && table == NULL)) {
        status = ckpd__no_memory(context);
    }
    *classes = stateful ? 0 : 1;
    for (size_t i = 0; stateful && status == CKPD_OK && i < (modes + 1) * modes; i++) {
        if (spec->allowed != NULL && i >= modes && spec->allowed[i - modes] == 0) {
            continue;
        }
        double hour = spec->overhead_hours != NULL ? spec->overhead_hours[i] : 0;
        double money = spec->overhead_cost != NULL ? spec->overhead_cost[i] : 0;
        table[i] = (uint8_t)class_of(hours, cost, classes, hour, money);
        if (table[i] == 0) {
            status = ckpd__fail(context, CKPD_ERR_RANGE, "transition_overheads", (int64_t)i, hour,
                                "more than %d different transition overheads", MOST_CLASSES);
        }
    }
    if (status != CKPD_OK) {
        ckpd__free(context, hours);
        ckpd__free(context, cost);
        ckpd__free(context, table);
        return status;
    }
    *transition = table;
    *class_hours = hours;
    *class_cost = cost;
    return CKPD_OK;
}

void ckpd__graph_free_moves(ckpd_context *context, ckpd__moves *moves)
{
    ckpd__free(context, moves->mode);
    ckpd__free(context, moves->slots);
    ckpd__free(context, moves->segments);
    ckpd__free(context, moves->transition_class);
    ckpd__free(context, moves->last_kw);
    memset(moves, 0, sizeof *moves);
}

static bool allocate_moves(ckpd_context *context, ckpd__moves *moves, size_t count, bool classes,
                           bool prorated)
{
    moves->mode = ckpd__calloc(context, count, sizeof *moves->mode);
    moves->slots = ckpd__calloc(context, count, sizeof *moves->slots);
    moves->segments = ckpd__calloc(context, count, sizeof *moves->segments);
    if (classes) {
        moves->transition_class = ckpd__calloc(context, count, sizeof(int32_t));
    }
    if (prorated) {
        moves->last_kw = ckpd__calloc(context, count, sizeof *moves->last_kw);
    }
    return moves->mode != NULL && moves->slots != NULL && moves->segments != NULL &&
           (!classes || moves->transition_class != NULL) && (!prorated || moves->last_kw != NULL);
}

/*
 * True when s = a + b with a first in the given class and b going on in the same mode occupies no
 * more slots: the same power in the same slots, so nothing is lost. first[] and next[] hold slots
 * by segments. Only such a need a look as are not replaced themselves: a longer first part could be
 * cut once more, and joining what follows it never takes more slots.
 */
static bool split_replaces(const int32_t *first, const int32_t *next, const int32_t *kept,
                           int32_t count, int32_t s)
{
    for (int32_t i = count - 1; i >= 0; i--) {
        if (first[kept[i]] + next[s - kept[i]] <= first[s]) {
            return true;
        }
    }
    return false;
}

static bool any_state_starts(const ckpd__graph_spec *spec, const uint8_t *transition, int32_t mode,
                             int32_t transition_class)
{
    int32_t states = transition != NULL ? spec->modes + 1 : 1;
    for (int32_t q = 0; q < states; q++) {
        if (ckpd__graph_class(transition, spec->modes, q, mode) == transition_class) {
            return true;
        }
    }
    return false;
}

/* States in which the mode may be started in this class, or (class 0) must not be started. */
static int64_t states_of(const ckpd__graph_spec *spec, const uint8_t *transition, int32_t mode,
                         int32_t transition_class)
{
    int64_t count = 0;
    int32_t states = transition != NULL ? spec->modes + 1 : 1;
    for (int32_t q = 0; q < states; q++) {
        count += ckpd__graph_class(transition, spec->modes, q, mode) == transition_class;
    }
    return count;
}

/* Places in the time-by-segments grid where a move fits. */
static int64_t places(int32_t window, int32_t slots, int32_t to_do, int32_t segments)
{
    return slots > window || segments > to_do
               ? 0
               : (int64_t)(window - slots + 1) * (int64_t)(to_do - segments + 1);
}

typedef struct move_builder {
    const ckpd__graph_spec *spec;
    const uint8_t *transition;
    const double *class_hours, *class_cost;
    int32_t longest, window, to_do;
    int32_t *first, *next, *kept; /* [to_do + 1] scratch */
    ckpd__moves *moves;
    ckpd_graph_counts *counts; /* may be NULL */
} move_builder;

static void add_move(const move_builder *b, int32_t mode, int32_t segments,
                     int32_t transition_class)
{
    ckpd__moves *moves = b->moves;
    int32_t i = moves->count++;
    moves->mode[i] = mode;
    moves->slots[i] = b->first[segments];
    moves->segments[i] = segments;
    if (moves->transition_class != NULL) {
        moves->transition_class[i] = transition_class;
    }
    if (moves->last_kw != NULL) {
        double length =
            ckpd__graph_length(b->spec, mode, segments, b->class_hours[transition_class]);
        moves->last_kw[i] = ckpd__graph_last_power(b->spec, mode, length, b->first[segments]);
    }
}

static void add_class(const move_builder *b, int32_t mode, int32_t transition_class)
{
    const ckpd__graph_spec *spec = b->spec;
    int32_t self =
        ckpd__graph_class(b->transition, spec->modes, b->transition != NULL ? mode + 1 : 0, mode);
    bool lossless = spec->reduce && !spec->prorated && spec->edge_cost == NULL && self != 0 &&
                    b->class_cost[self] == 0;
    int64_t states = states_of(spec, b->transition, mode, transition_class);
    for (int32_t s = 1; s <= b->to_do; s++) {
        b->first[s] =
            ckpd__graph_slots(ckpd__graph_length(spec, mode, s, b->class_hours[transition_class]));
        b->next[s] =
            self == 0 ? CKPD__NEVER
                      : ckpd__graph_slots(ckpd__graph_length(spec, mode, s, b->class_hours[self]));
    }
    int32_t kept = 0;
    for (int32_t s = 1; s <= b->to_do && b->first[s] <= b->longest; s++) {
        int64_t edges = states * places(b->window, b->first[s], b->to_do, s);
        bool redundant = lossless && split_replaces(b->first, b->next, b->kept, kept, s);
        if (b->counts != NULL) {
            b->counts->full_training_edges += edges;
            b->counts->redundant_edges += redundant ? edges : 0;
        }
        if (!redundant) {
            b->kept[kept++] = s;
            add_move(b, mode, s, transition_class);
        }
    }
}

/* Edges that would exist without the rule: their length is that of a change without overhead. */
static void count_forbidden(const move_builder *b, int32_t mode)
{
    int64_t states = states_of(b->spec, b->transition, mode, 0);
    for (int32_t s = 1; s <= b->to_do && states > 0; s++) {
        int32_t slots = ckpd__graph_slots(ckpd__graph_length(b->spec, mode, s, 0));
        int64_t edges = states * places(b->window, slots, b->to_do, s);
        b->counts->full_training_edges += edges;
        b->counts->forbidden_edges += edges;
    }
}

int32_t ckpd__graph_moves(ckpd_context *context, const ckpd__graph_spec *spec, int32_t longest,
                          const uint8_t *transition, const double *class_hours,
                          const double *class_cost, int32_t classes, ckpd__moves *moves,
                          ckpd_graph_counts *counts, int32_t window)
{
    bool fixed = spec->running >= 0 && !spec->may_lose;
    int32_t done = spec->start_segments + (fixed ? spec->running_segments : 0);
    int32_t to_do = spec->segments - done;
    size_t most = 0;
    for (int32_t m = 0; m < spec->modes; m++) {
        for (int32_t c = 1; c <= classes; c++) {
            most += any_state_starts(spec, transition, m, c) ? (size_t)to_do : 0;
        }
    }
    int32_t *scratch = ckpd__calloc(context, 3 * ((size_t)to_do + 1), sizeof *scratch);
    bool made = allocate_moves(context, moves, most, transition != NULL, spec->prorated != 0);
    if (scratch == NULL || !made) {
        ckpd__free(context, scratch);
        ckpd__graph_free_moves(context, moves);
        return ckpd__no_memory(context);
    }
    move_builder builder = {.spec = spec,
                            .transition = transition,
                            .class_hours = class_hours,
                            .class_cost = class_cost,
                            .longest = longest,
                            .window = window,
                            .to_do = to_do,
                            .first = scratch,
                            .next = scratch + (to_do + 1),
                            .kept = scratch + 2 * (size_t)(to_do + 1),
                            .moves = moves,
                            .counts = counts};
    for (int32_t m = 0; m < spec->modes; m++) {
        for (int32_t c = 1; c <= classes; c++) {
            if (any_state_starts(spec, transition, m, c)) {
                add_class(&builder, m, c);
            }
        }
        if (counts != NULL && transition != NULL) {
            count_forbidden(&builder, m);
        }
    }
    ckpd__free(context, scratch);
    return CKPD_OK;
}
