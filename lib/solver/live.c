/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Which nodes and moves of a job can be on any plan at all: caps of single moves, then
 * reachability. */
#include "solver/path_milp.h"

#include <math.h>
#include <string.h>

double ckpd__slot_base_kw(const ckpd_path_view *view, int32_t slot)
{
    double it_kw = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        it_kw += view->job[j]->fixed_power_kw != NULL ? view->job[j]->fixed_power_kw[slot] : 0;
    }
    return view->base_load_kw[slot] + view->load_factor[slot] * it_kw;
}

double ckpd__slot_fixed_gpus(const ckpd_path_view *view, int32_t slot)
{
    double gpus = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        gpus += view->job[j]->fixed_gpus != NULL ? view->job[j]->fixed_gpus[slot] : 0;
    }
    return gpus;
}

/* Room left for one job beside what is fixed. */
static void slot_room(const ckpd_path_view *view, double *room_kw, double *room_gpus)
{
    for (int32_t t = 0; t < view->slots; t++) {
        double most = view->curve_x_kw[view->curve_start[t + 1] - 1];
        if (view->storage != NULL) {
            most += view->storage->discharge_max_kw;
        }
        most = fmin(most, view->load_cap_kw[t]);
        room_kw[t] = most + ckpd__tolerance(most) - ckpd__slot_base_kw(view, t);
        room_gpus[t] = view->gpu_cap[t] * (1 + 1e-12) - ckpd__slot_fixed_gpus(view, t);
    }
}

static void mark_usable(const ckpd_path_view *view, const ckpd_path_job *job, const double *room_kw,
                        const double *room_gpus, uint8_t *usable)
{
    for (int32_t i = 0; i < job->moves; i++) {
        double gpus = job->mode_gpus[job->move_mode[i]];
        int32_t length = job->move_slots[i];
        for (int32_t t = job->source_slot; t < view->slots; t++) {
            bool fits = length <= job->deadline - t;
            for (int32_t s = 0; fits && s < length; s++) {
                fits = gpus <= room_gpus[t + s] &&
                       view->load_factor[t + s] * ckpd__move_power(job, i, s) <= room_kw[t + s];
            }
            usable[(size_t)i * (size_t)view->slots + (size_t)t] = fits;
        }
    }
}

static bool can_wait(const ckpd_path_view *view, const ckpd_path_job *job, int32_t q, int32_t t,
                     int32_t k)
{
    return job->may_wait && t < view->slots &&
           job->node_open[ckpd__node_index(view, job, q, t, k)] &&
           job->node_open[ckpd__node_index(view, job, q, t + 1, k)];
}

static void mark_from(const ckpd_path_view *view, const ckpd_path_job *job, const uint8_t *usable,
                      int32_t q, int32_t t, int32_t k, uint8_t *reached)
{
    if (can_wait(view, job, q, t, k)) {
        reached[ckpd__node_index(view, job, q, t + 1, k)] = 1;
    }
    for (int32_t i = 0; i < job->moves && t < view->slots; i++) {
        if (usable[(size_t)i * (size_t)view->slots + (size_t)t] &&
            ckpd__move_exists(view, job, i, q, t, k)) {
            reached[ckpd__node_index(view, job, ckpd__move_state(job, i), t + job->move_slots[i],
                                     k + job->move_segments[i])] = 1;
        }
    }
}

/* Whether a node leads on to a live one. */
static bool leads_on(const ckpd_path_view *view, const ckpd_path_job *job, const uint8_t *usable,
                     int32_t q, int32_t t, int32_t k, const uint8_t *live)
{
    if (can_wait(view, job, q, t, k) && live[ckpd__node_index(view, job, q, t + 1, k)]) {
        return true;
    }
    for (int32_t i = 0; i < job->moves && t < view->slots; i++) {
        if (usable[(size_t)i * (size_t)view->slots + (size_t)t] &&
            ckpd__move_exists(view, job, i, q, t, k) &&
            live[ckpd__node_index(view, job, ckpd__move_state(job, i), t + job->move_slots[i],
                                  k + job->move_segments[i])]) {
            return true;
        }
    }
    return false;
}

static void mark_live(const ckpd_path_view *view, const ckpd_path_job *job, const uint8_t *usable,
                      uint8_t *node)
{
    size_t source =
        ckpd__node_index(view, job, job->source_state, job->source_slot, job->source_segment);
    node[source] = job->node_open[source];
    for (int32_t t = job->source_slot; t <= view->slots; t++) {
        for (int32_t q = 0; q < job->states; q++) {
            for (int32_t k = job->source_segment; k < job->segments; k++) {
                if (node[ckpd__node_index(view, job, q, t, k)]) {
                    mark_from(view, job, usable, q, t, k, node);
                }
            }
        }
    }
    for (int32_t t = view->slots; t >= job->source_slot; t--) {
        for (int32_t q = 0; q < job->states; q++) {
            for (int32_t k = job->source_segment; k < job->segments; k++) {
                size_t n = ckpd__node_index(view, job, q, t, k);
                node[n] = node[n] && leads_on(view, job, usable, q, t, k, node);
            }
        }
    }
}

int32_t ckpd__live_nodes(ckpd_context *context, const ckpd_path_view *view,
                         const ckpd_path_job *job, ckpd__live *live)
{
    size_t slots = (size_t)view->slots;
    bool paths = job->kind == CKPD_JOB_PATHS;
    size_t choices = (size_t)(paths ? job->moves : job->modes);
    live->node = NULL;
    live->usable = ckpd__calloc(context, choices, slots);
    double *room = ckpd__calloc(context, slots, 2 * sizeof(double));
    if (paths) {
        size_t nodes = ckpd__node_index(view, job, job->states, 0, 0);
        live->node = ckpd__calloc(context, nodes, 1);
    }
    if (live->usable == NULL || room == NULL || (paths && live->node == NULL)) {
        ckpd__free(context, live->usable);
        ckpd__free(context, live->node);
        ckpd__free(context, room);
        return ckpd__no_memory(context);
    }
    slot_room(view, room, room + slots);
    if (paths) {
        mark_usable(view, job, room, room + slots, live->usable);
        mark_live(view, job, live->usable, live->node);
    } else {
        for (int32_t m = 0; m < job->modes; m++) {
            for (int32_t t = job->source_slot; t < job->deadline; t++) {
                live->usable[(size_t)m * slots + (size_t)t] =
                    job->mode_gpus[m] <= room[slots + (size_t)t] &&
                    view->load_factor[t] * job->mode_power_kw[m] <= room[t];
            }
        }
    }
    ckpd__free(context, room);
    return CKPD_OK;
}

/* --- one path ------------------------------------------------------------------------------------
 */

typedef struct reach {
    const ckpd_path_view *view;
    const ckpd_path_job *job;
    uint8_t *node;     /* [states][slots + 1][segments + 1] reached from the source */
    uint8_t *gathered; /* [modes][classes][segments + 1] reached, by the moves that may follow */
    int32_t classes;
} reach;

static uint8_t *reach_row(const reach *r, int32_t q, int32_t t)
{
    return r->node + ckpd__node_index(r->view, r->job, q, t, 0);
}

/* What moves of each mode and class may start from in slot t, whatever the state. */
static void gather(const reach *r, int32_t t)
{
    const ckpd_path_job *job = r->job;
    size_t width = (size_t)job->segments + 1;
    memset(r->gathered, 0, (size_t)job->modes * (size_t)r->classes * width);
    for (int32_t q = 0; q < job->states; q++) {
        const uint8_t *from = reach_row(r, q, t);
        for (int32_t m = 0; m < job->modes; m++) {
            int32_t rule = job->transition != NULL
                               ? job->transition[(size_t)q * (size_t)job->modes + (size_t)m]
                               : 1;
            if (rule < 1 || rule > r->classes) {
                continue;
            }
            uint8_t *to =
                r->gathered + ((size_t)m * (size_t)r->classes + (size_t)(rule - 1)) * width;
            for (size_t k = 0; k < width; k++) {
                to[k] |= from[k];
            }
        }
    }
}

static void follow_moves(const reach *r, const uint8_t *usable, int32_t t)
{
    const ckpd_path_view *view = r->view;
    const ckpd_path_job *job = r->job;
    size_t width = (size_t)job->segments + 1;
    for (int32_t i = 0; i < job->moves; i++) {
        int32_t rule = job->move_class != NULL ? job->move_class[i] : 1, d = job->move_segments[i];
        if (!usable[(size_t)i * (size_t)view->slots + (size_t)t] || rule < 1 || rule > r->classes ||
            d > job->segments) {
            continue;
        }
        const uint8_t *from =
            r->gathered +
            ((size_t)job->move_mode[i] * (size_t)r->classes + (size_t)(rule - 1)) * width;
        uint8_t *to = reach_row(r, ckpd__move_state(job, i), t + job->move_slots[i]) + d;
        const uint8_t *closed = job->edge_closed != NULL
                                    ? job->edge_closed + ckpd__edge_index(view, job, i, t, 0)
                                    : NULL;
        for (int32_t k = 0; k + d <= job->segments; k++) {
            to[k] |= closed == NULL ? from[k] : from[k] && !closed[k];
        }
    }
}

/* Nodes that are not open are not reached; waits lead on. */
static bool settle_slot(const reach *r, int32_t t)
{
    const ckpd_path_job *job = r->job;
    bool finished = false;
    for (int32_t q = 0; q < job->states; q++) {
        uint8_t *row = reach_row(r, q, t);
        const uint8_t *open = job->node_open + ckpd__node_index(r->view, job, q, t, 0);
        for (int32_t k = 0; k <= job->segments; k++) {
            row[k] = row[k] && open[k];
        }
        finished = finished || row[job->segments];
        if (job->may_wait && t < r->view->slots) {
            uint8_t *next = reach_row(r, q, t + 1);
            for (int32_t k = 0; k < job->segments; k++) {
                next[k] |= row[k];
            }
        }
    }
    return finished;
}

static int32_t classes_of(const ckpd_path_job *job)
{
    int32_t classes = 1;
    for (int32_t i = 0; job->move_class != NULL && i < job->moves; i++) {
        classes = job->move_class[i] > classes ? job->move_class[i] : classes;
    }
    return classes < 256 ? classes : 255; /* classes of transitions are bytes */
}

int32_t ckpd__job_is_possible(ckpd_context *context, const ckpd_path_view *view,
                              const ckpd_path_job *job, bool *possible)
{
    size_t slots = (size_t)view->slots, width = (size_t)job->segments + 1;
    reach r = {.view = view, .job = job, .classes = classes_of(job)};
    uint8_t *usable = ckpd__calloc(context, (size_t)job->moves, slots);
    double *room = ckpd__calloc(context, slots, 2 * sizeof(double));
    r.node = ckpd__calloc(context, ckpd__node_index(view, job, job->states, 0, 0), 1);
    r.gathered = ckpd__calloc(context, (size_t)job->modes * (size_t)r.classes, width);
    bool ready = usable != NULL && room != NULL && r.node != NULL && r.gathered != NULL;
    *possible = false;
    if (ready) {
        slot_room(view, room, room + slots);
        mark_usable(view, job, room, room + slots, usable);
        reach_row(&r, job->source_state, job->source_slot)[job->source_segment] = 1;
    }
    for (int32_t t = job->source_slot; ready && t <= view->slots && !*possible; t++) {
        *possible = settle_slot(&r, t);
        if (t < view->slots && !*possible) {
            gather(&r, t);
            follow_moves(&r, usable, t);
        }
    }
    ckpd__free(context, usable);
    ckpd__free(context, room);
    ckpd__free(context, r.node);
    ckpd__free(context, r.gathered);
    return ready ? CKPD_OK : ckpd__no_memory(context);
}
