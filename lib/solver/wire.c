/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/wire.h"

#include <errno.h>
#include <string.h>

enum { ALIGNMENT = 8 };

void ckpd__wire_free(ckpd__wire *wire)
{
    ckpd__free(wire->context, wire->data);
    wire->data = NULL;
}

/* The next `count` bytes of the wire, aligned; NULL when they are not there. */
static unsigned char *next_bytes(ckpd__wire *wire, size_t count)
{
    size_t start = (wire->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (wire->no_memory || wire->broken || count > SIZE_MAX / 4 || start > SIZE_MAX / 4) {
        wire->broken = wire->broken || !wire->no_memory;
        return NULL;
    }
    if (start + count > wire->size) {
        if (wire->reading) {
            wire->broken = true;
            return NULL;
        }
        size_t room = 2 * (start + count) + 4096;
        unsigned char *grown = ckpd__realloc(wire->context, wire->data, room, 1);
        if (grown == NULL) {
            wire->no_memory = true;
            return NULL;
        }
        wire->data = grown;
        wire->size = room;
    }
    if (!wire->reading) {
        memset(wire->data + wire->used, 0, start - wire->used);
    }
    wire->used = start + count;
    return wire->data + start;
}

void ckpd__wire_bytes(ckpd__wire *wire, void *bytes, size_t count)
{
    unsigned char *at = next_bytes(wire, count);
    if (at == NULL || count == 0) {
        return;
    }
    if (wire->reading) {
        memcpy(bytes, at, count);
    } else {
        memcpy(at, bytes, count);
    }
}

/* Whether the array is there at all goes ahead of it. */
void ckpd__wire_array(ckpd__wire *wire, const void **array, size_t count, size_t bytes)
{
    int32_t present = !wire->reading && *array != NULL;
    ckpd__wire_bytes(wire, &present, sizeof present);
    if (present == 0 || wire->broken || wire->no_memory) {
        *array = NULL;
        return;
    }
    if (bytes != 0 && count > SIZE_MAX / 8 / bytes) {
        wire->broken = true;
        return;
    }
    unsigned char *at = next_bytes(wire, count * bytes);
    if (at != NULL && wire->reading) {
        *array = at;
    } else if (at != NULL && count * bytes > 0) {
        memcpy(at, *array, count * bytes);
    }
}

#define ARRAY(member, count) \
    ckpd__wire_array(wire, (const void **)(void *)&(member), (size_t)(count), sizeof *(member))

void ckpd__wire_milp(ckpd__wire *wire, ckpd_milp_view *view)
{
    ckpd__wire_bytes(wire, view, sizeof *view);
    ARRAY(view->cost, view->columns);
    ARRAY(view->lower, view->columns);
    ARRAY(view->upper, view->columns);
    ARRAY(view->integer, view->columns);
    ARRAY(view->row_lower, view->rows);
    ARRAY(view->row_upper, view->rows);
    ARRAY(view->start, (size_t)view->columns + 1);
    ARRAY(view->index, view->nonzeros);
    ARRAY(view->value, view->nonzeros);
    ARRAY(view->start_point, view->columns);
}

static void wire_job(ckpd__wire *wire, const ckpd_path_view *view, ckpd_path_job *job)
{
    size_t T = (size_t)view->slots;
    ckpd__wire_bytes(wire, job, sizeof *job);
    size_t M = (size_t)job->moves, K = (size_t)job->segments, modes = (size_t)job->modes;
    job->name = NULL;
    ARRAY(job->mode_gpus, modes);
    ARRAY(job->mode_power_kw, modes);
    ARRAY(job->move_mode, M);
    ARRAY(job->move_slots, M);
    ARRAY(job->move_segments, M);
    ARRAY(job->move_class, M);
    ARRAY(job->move_last_kw, M);
    ARRAY(job->transition, (size_t)job->states * modes);
    ARRAY(job->node_open, (size_t)job->states * (T + 1) * (K + 1));
    ARRAY(job->edge_cost, M * T * K);
    ARRAY(job->edge_closed, M * T * K);
    ARRAY(job->fixed_power_kw, T);
    ARRAY(job->fixed_gpus, T);
    ARRAY(job->mode_work_per_slot, modes);
}

void ckpd__wire_plan(ckpd__wire *wire, const ckpd_path_view *view, ckpd_path_plan *plan)
{
    size_t T = (size_t)view->slots, J = (size_t)view->jobs;
    plan->size = sizeof *plan;
    ARRAY(plan->step_count, J);
    ARRAY(plan->step_slot, J * T);
    ARRAY(plan->step_move, J * T);
    ARRAY(plan->slot_mode, J * T);
    ARRAY(plan->charge_kw, T);
    ARRAY(plan->discharge_kw, T);
}

static void wire_jobs(ckpd__wire *wire, ckpd_path_view *view, ckpd__wire_paths *behind)
{
    size_t jobs = (size_t)view->jobs;
    if (wire->reading && !wire->broken && jobs <= wire->size / sizeof(ckpd_path_job)) {
        behind->job = ckpd__calloc(wire->context, jobs, sizeof *behind->job);
        behind->jobs = ckpd__calloc(wire->context, jobs, sizeof *behind->jobs);
        wire->no_memory = behind->job == NULL || behind->jobs == NULL;
        view->job = behind->jobs;
    } else if (wire->reading) {
        wire->broken = true;
    }
    for (size_t j = 0; j < jobs && !wire->broken && !wire->no_memory; j++) {
        ckpd_path_job job = wire->reading ? (ckpd_path_job){.size = 0} : *view->job[j];
        wire_job(wire, view, &job);
        if (wire->reading) {
            behind->job[j] = job;
            behind->jobs[j] = &behind->job[j];
        }
    }
}

void ckpd__wire_path(ckpd__wire *wire, ckpd_path_view *view, ckpd__wire_paths *behind)
{
    ckpd__wire_bytes(wire, view, sizeof *view);
    size_t T = (size_t)view->slots;
    int32_t has_storage = view->storage != NULL, has_start = view->start != NULL;
    view->prices = NULL;
    wire_jobs(wire, view, behind);
    ARRAY(view->base_load_kw, T);
    ARRAY(view->load_factor, T);
    ARRAY(view->load_cap_kw, T);
    ARRAY(view->gpu_cap, T);
    ARRAY(view->curve_start, T + 1);
    size_t points = view->curve_start != NULL && !wire->broken ? (size_t)view->curve_start[T] : 0;
    ARRAY(view->curve_x_kw, points);
    ARRAY(view->curve_cost, points);
    ARRAY(view->curve_convex, T);
    ARRAY(view->load_soft_kw, T);
    ARRAY(view->load_over_cost, T);
    ARRAY(view->gpu_soft, T);
    ARRAY(view->gpu_over_cost, T);
    if (has_storage) {
        behind->storage = wire->reading ? behind->storage : *view->storage;
        ckpd__wire_bytes(wire, &behind->storage, sizeof behind->storage);
        ARRAY(behind->storage.soc_floor_kwh, T + 1);
        view->storage = &behind->storage;
    }
    if (has_start) {
        behind->start = wire->reading ? behind->start : *view->start;
        ckpd__wire_plan(wire, view, &behind->start);
        view->start = &behind->start;
    }
}

/* --- sockets -----------------------------------------------------------------------------------
 */

bool ckpd__socket_send(int fd, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        ssize_t sent = send(fd, at, count, CKPD__SEND_FLAGS);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

bool ckpd__socket_receive(int fd, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    while (count > 0) {
        ssize_t got = recv(fd, at, count, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        count -= (size_t)got;
    }
    return true;
}
