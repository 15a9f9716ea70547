/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include "base/base.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

/*
 * Where an allocation comes from: return addresses, innermost first, from the call in the library
 * that wanted memory. The calls around it belong to the place: another caller has other things to
 * clean up.
 */
enum { PLACE_DEPTH = 4, TRACE_DEPTH = 12 };
struct trace {
    int depth, wanted;
    uintptr_t at[TRACE_DEPTH];
};

static void *counting_malloc(size_t bytes, void *user);
static void *counting_realloc(void *block, size_t bytes, void *user);

/* A function between the one that wants memory and the host's allocator. */
static bool passes_on(uintptr_t function)
{
    return function == (uintptr_t)counting_malloc || function == (uintptr_t)counting_realloc ||
           function == (uintptr_t)ckpd__calloc || function == (uintptr_t)ckpd__realloc ||
           function == (uintptr_t)ckpd__memdup || function == (uintptr_t)ckpd__strdup;
}

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *frame, void *user)
{
    struct trace *trace = user;
    uintptr_t at = (uintptr_t)_Unwind_GetIP(frame);
    if (at == 0 || trace->depth == trace->wanted) {
        return _URC_END_OF_STACK;
    }
    if (passes_on((uintptr_t)_Unwind_GetRegionStart(frame))) {
        trace->depth = 0; /* and what lies below it, here */
    } else {
        trace->at[trace->depth++] = at;
    }
    return _URC_NO_REASON;
}

static uint64_t trace_hash(const struct trace *trace)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (int i = 0; i < trace->depth; i++) {
        hash = (hash ^ trace->at[i]) * 1099511628211u;
    }
    return hash;
}

/* CKPD_TEST_SWEPT names a file for the places that were made to fail, one a line: this program, the
 * address of sweep_main, the trace. tests/coverage.py makes source lines of them. */
static void write_place(void)
{
    static uint64_t known[4096];
    const char *path = getenv("CKPD_TEST_SWEPT");
    if (path == NULL) {
        return;
    }
    struct trace trace = {.wanted = TRACE_DEPTH};
    _Unwind_Backtrace(one_frame, &trace);
    uint64_t hash = trace_hash(&trace);
    if (known[hash % 4096] == hash) {
        return; /* a place that is pushed out of the table is only written again */
    }
    known[hash % 4096] = hash;
    char line[4096];
    ssize_t length = readlink("/proc/self/exe", line, 3000);
    ck_assert_int_gt(length, 0);
    length += sprintf(line + length, " %llx", (unsigned long long)(uintptr_t)sweep_main);
    for (int i = 0; i < trace.depth; i++) {
        length += sprintf(line + length, " %llx", (unsigned long long)trace.at[i]);
    }
    line[length++] = '\n';
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ck_assert_msg(file >= 0 && write(file, line, (size_t)length) == length, "%s: not written",
                  path);
    close(file);
}

static void note_place(sweep_memory *memory, int call)
{
    struct trace trace = {.wanted = PLACE_DEPTH};
    _Unwind_Backtrace(one_frame, &trace);
    if (call > memory->room) {
        memory->room = 2 * call;
        memory->place = realloc(memory->place, (size_t)memory->room * sizeof *memory->place);
        ck_assert_ptr_nonnull(memory->place);
    }
    memory->place[call - 1] = trace_hash(&trace);
}

static bool refuses(sweep_memory *memory)
{
    int call = atomic_fetch_add(&memory->calls, 1) + 1;
    int fail_at = atomic_load(&memory->fail_at);
    if (memory->notes) {
        note_place(memory, call);
    }
    if (fail_at == 0 || atomic_load(&memory->paused)) {
        return false;
    }
    bool refused = call == fail_at || (call > fail_at && atomic_load(&memory->fail_after));
    if (refused) {
        atomic_store(&memory->has_failed, 1);
        write_place();
    }
    return refused;
}

static void *counting_malloc(size_t bytes, void *user)
{
    sweep_memory *memory = user;
    if (refuses(memory)) {
        return NULL;
    }
    void *block = malloc(bytes);
    if (block != NULL) {
        atomic_fetch_add(&memory->live, 1);
    }
    return block;
}

static void *counting_realloc(void *block, size_t bytes, void *user)
{
    sweep_memory *memory = user;
    if (refuses(memory)) {
        return NULL;
    }
    void *grown = realloc(block, bytes);
    if (grown != NULL && block == NULL) {
        atomic_fetch_add(&memory->live, 1);
    }
    return grown;
}

static void counting_free(void *block, void *user)
{
    sweep_memory *memory = user;
    if (block != NULL) {
        atomic_fetch_sub(&memory->live, 1);
    }
    free(block);
}

void sweep_memory_init(sweep_memory *memory)
{
    *memory = (sweep_memory){.allocator = {sizeof(ckpd_allocator), counting_malloc,
                                           counting_realloc, counting_free, memory}};
}

bool sweep_repeat(sweep_memory *memory, int32_t status, const char *call)
{
    if (status != CKPD_ERR_NO_MEMORY) {
        return false;
    }
    ck_assert_msg(atomic_load(&memory->has_failed) && !atomic_load(&memory->paused),
                  "%s: out of memory though every allocation was granted", call);
    atomic_store(&memory->paused, 1);
    atomic_store(&memory->reported, 1);
    return true;
}

void sweep_resume(sweep_memory *memory, int32_t status, const char *call)
{
    ck_assert_msg(status != CKPD_ERR_NO_MEMORY, "%s: out of memory again though memory is at hand",
                  call);
    atomic_store(&memory->paused, 0);
}

const char *sweep_message(const sweep_memory *memory)
{
    return memory->context != NULL ? ckpd_context_last_message(memory->context) : "";
}

/* One run with failure number `fail_at`; returns how many allocations it made. With `place` it
 * tells where each comes from; the caller frees that list. */
static int run_once(const sweep_scenario *scenario, int fail_at, int fail_after, uint64_t **place)
{
    sweep_memory storage;
    sweep_memory *memory = &storage;
    sweep_memory_init(memory);
    memory->notes = place != NULL;
    atomic_store(&memory->fail_at, fail_at);
    atomic_store(&memory->fail_after, fail_after);
    ckpd_context *context = NULL;
    SWEEP(ckpd_context_new(&context, &memory->allocator));
    memory->context = context;
    scenario->body(memory, context);
    ck_assert_msg(!atomic_load(&memory->has_failed) || atomic_load(&memory->reported),
                  "%s: no call told that allocation %d failed", scenario->name, fail_at);
    ckpd_context_free(context);
    ck_assert_msg(atomic_load(&memory->live) == 0, "%s: %d blocks leaked when allocation %d failed",
                  scenario->name, atomic_load(&memory->live), fail_at);
    if (place != NULL) {
        *place = memory->place;
    }
    return atomic_load(&memory->calls);
}

typedef struct occurrence {
    uint64_t place;
    int call;
} occurrence;

static int by_place(const void *left, const void *right)
{
    const occurrence *a = left;
    const occurrence *b = right;
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return (a->call > b->call) - (a->call < b->call);
}

/* Marks in `chosen` the first, the second and the last allocation of every place; returns how many
 * places there are. */
static int choose(const uint64_t *place, int count, bool *chosen)
{
    occurrence *all = malloc((size_t)count * sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < count; i++) {
        all[i] = (occurrence){place[i], i + 1};
    }
    qsort(all, (size_t)count, sizeof *all, by_place);
    int places = 0;
    for (int i = 0, rank = 0; i < count; i++) {
        bool first = i == 0 || all[i - 1].place != all[i].place;
        bool last = i == count - 1 || all[i + 1].place != all[i].place;
        rank = first ? 0 : rank + 1;
        places += first;
        chosen[all[i].call - 1] = rank < 2 || last;
    }
    free(all);
    return places;
}

static const sweep_scenario *table;

START_TEST(sweep)
{
    const sweep_scenario *scenario = &table[_i];
    uint64_t *place = NULL;
    int count = run_once(scenario, 0, 0, &place);
    ck_assert_msg(count > 0, "%s allocates nothing: there is nothing to sweep", scenario->name);
    bool *chosen = calloc((size_t)count, sizeof *chosen);
    ck_assert_ptr_nonnull(chosen);
    int places = choose(place, count, chosen);
    int failed = 0;
    for (int i = 1; i <= count; i++) {
        if (chosen[i - 1] || test_long()) {
            run_once(scenario, i, 0, NULL);
            run_once(scenario, i, 1, NULL);
            failed++;
        }
    }
    printf("%s: %d allocations in %d places, %d made to fail\n", scenario->name, count, places,
           failed);
    fflush(stdout);
    free(chosen);
    free(place);
}
END_TEST

int sweep_main(const char *name, const sweep_scenario *scenarios, int32_t count)
{
    table = scenarios;
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create("sweep");
    tcase_set_timeout(tc, test_long() ? 3600 : 600);
    tcase_add_loop_test(tc, sweep, 0, count);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
