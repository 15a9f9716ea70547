/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Views and answers as bytes, between two processes of one machine that run the same version of the
 * library: structs as they lie in memory, each array behind its struct. The same code writes and
 * reads, so the two cannot differ.
 */
#ifndef CKPD_LIB_SOLVER_WIRE_H
#define CKPD_LIB_SOLVER_WIRE_H

#include "solver/solver.h"

#include <sys/socket.h>

typedef struct ckpd__wire {
    ckpd_context *context;
    bool reading;
    unsigned char *data; /* belongs to the wire */
    size_t used;         /* written or read so far */
    size_t size;         /* reading: length of the data; writing: room */
    bool no_memory, broken;
} ckpd__wire;

/* `reading` says which way. Structs behind the views are taken from the context while reading. */
void ckpd__wire_bytes(ckpd__wire *wire, void *bytes, size_t count);
void ckpd__wire_array(ckpd__wire *wire, const void **array, size_t count, size_t bytes);
void ckpd__wire_milp(ckpd__wire *wire, ckpd_milp_view *view);
/* The blocks made for the structs of a view that was read. */
typedef struct ckpd__wire_paths {
    ckpd_path_job *job;
    const ckpd_path_job **jobs;
    ckpd_path_storage storage;
    ckpd_path_plan start;
} ckpd__wire_paths;
void ckpd__wire_path(ckpd__wire *wire, ckpd_path_view *view, ckpd__wire_paths *behind);
void ckpd__wire_plan(ckpd__wire *wire, const ckpd_path_view *view, ckpd_path_plan *plan);
void ckpd__wire_free(ckpd__wire *wire);

/* Frames on the socket: kind, then length of what follows. */
typedef struct ckpd__frame {
    uint32_t kind; /* CKPD__FRAME_... */
    uint32_t reserved;
    uint64_t length;
} ckpd__frame;
enum {
    CKPD__FRAME_REQUEST = 0x636b7131,
    CKPD__FRAME_REPORT, /* four doubles: incumbent, bound, iterations, nodes */
    CKPD__FRAME_POINT,  /* x, or a plan; then the bound */
    CKPD__FRAME_ANSWER  /* status, result, arrays */
};
/* A peer that is gone is an error, not a signal; where the flag is missing, SO_NOSIGPIPE is set. */
#ifdef MSG_NOSIGNAL
#define CKPD__SEND_FLAGS MSG_NOSIGNAL
#else
#define CKPD__SEND_FLAGS 0
#endif
bool ckpd__socket_send(int fd, const void *bytes, size_t count);
bool ckpd__socket_receive(int fd, void *bytes, size_t count);

#endif
