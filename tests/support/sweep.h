/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Allocation sweeps. A scenario is run once to count its allocations and to note which call, made
 * by whom, wants each of them. Then it is run with the first, with the second and with the last
 * allocation of every such place failing (`make check-long`: with every single one), once with that
 * one alone and once with all later ones too. One of its calls has to tell of it.
 *
 * In a scenario every call of the library that may allocate goes through SWEEP(call). When the call
 * reports CKPD_ERR_NO_MEMORY, which has to be because of the injected failure, it is made once more
 * with memory at hand and then has to succeed: the failure has left every handle usable. So a
 * scenario reads as straight-line code, and its own assertions at the end hold in every run.
 *
 * A room joins by a file tests/fail/test_alloc_ROOM.c that ends in `return sweep_main("ROOM",
 * scenarios, count);`.
 */
#ifndef TESTS_SUPPORT_SWEEP_H
#define TESTS_SUPPORT_SWEEP_H

#include "support/support.h"

#include <ckptdispatch/base.h>
#include <stdatomic.h>
#include <stdint.h>

/* The failing allocator; also of use alone as one that counts. */
typedef struct sweep_memory {
    ckpd_allocator allocator;
    atomic_int calls;      /* malloc and realloc so far */
    atomic_int fail_at;    /* number of the call that fails, from 1; 0: none */
    atomic_int fail_after; /* 1: all later calls fail too */
    atomic_int live;       /* blocks not freed */
    atomic_int has_failed;
    atomic_int paused;     /* 1: nothing fails (second attempt) */
    atomic_int reported;   /* 1: a call has told of the failure */
    ckpd_context *context; /* for the texts of failed assertions */
    bool notes;            /* the run that only counts: `place` of each allocation */
    int room;
    uint64_t *place;
} sweep_memory;

void sweep_memory_init(sweep_memory *memory);

/* The scenario: makes its own handles from `context`, frees them all, asserts what it computed. */
typedef void (*sweep_body)(sweep_memory *memory, ckpd_context *context);

typedef struct sweep_scenario {
    const char *name;
    sweep_body body;
} sweep_scenario;

int sweep_main(const char *name, const sweep_scenario *scenarios, int32_t count);

/* Bookkeeping of SWEEP: may the call be repeated, and what to assert when not. */
bool sweep_repeat(sweep_memory *memory, int32_t status, const char *call);
const char *sweep_message(const sweep_memory *memory);
void sweep_resume(sweep_memory *memory, int32_t status, const char *call);

#define SWEEP_STATUS(status, call)                   \
    do {                                             \
        (status) = (call);                           \
        if (sweep_repeat(memory, (status), #call)) { \
            (status) = (call);                       \
            sweep_resume(memory, (status), #call);   \
        }                                            \
    } while (0)

/* The call has to succeed, at the latest the second time. Uses the local name `memory`. */
#define SWEEP(call)                                                           \
    do {                                                                      \
        int32_t sweep_status;                                                 \
        SWEEP_STATUS(sweep_status, call);                                     \
        ck_assert_msg(sweep_status == CKPD_OK, "%s: %s: %s", #call,           \
                      ckpd_status_name(sweep_status), sweep_message(memory)); \
    } while (0)

#endif
