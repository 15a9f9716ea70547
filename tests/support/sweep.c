/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <stdio.h>
#include <stdlib.h>

static bool refuses(sweep_memory *memory)
{
    int call = atomic_fetch_add(&memory->calls, 1) + 1;
    int fail_at = atomic_load(&memory->fail_at);
    if (fail_at == 0 || atomic_load(&memory->paused)) {
        return false;
    }
    bool refused = call == fail_at || (call > fail_at && atomic_load(&memory->fail_after));
    if (refused) {
        atomic_store(&memory->has_failed, 1);
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

/* One run with failure number `fail_at`; returns how many allocations it made. */
static long long run_once(const sweep_scenario *scenario, long long fail_at, int fail_after)
{
    sweep_memory storage;
    sweep_memory *memory = &storage;
    sweep_memory_init(memory);
    atomic_store(&memory->fail_at, (int)fail_at);
    atomic_store(&memory->fail_after, fail_after);
    ckpd_context *context = NULL;
    SWEEP(ckpd_context_new(&context, &memory->allocator));
    memory->context = context;
    scenario->body(memory, context);
    ckpd_context_free(context);
    ck_assert_msg(atomic_load(&memory->live) == 0,
                  "%s: %lld blocks leaked when allocation %lld failed", scenario->name,
                  (long long)atomic_load(&memory->live), fail_at);
    return atomic_load(&memory->calls);
}

static const sweep_scenario *table;

START_TEST(sweep)
{
    const sweep_scenario *scenario = &table[_i];
    long long count = run_once(scenario, 0, 0);
    ck_assert_msg(count > 0, "%s allocates nothing: there is nothing to sweep", scenario->name);
    long long stride = scenario->stride > 1 ? scenario->stride : 1;
    if (test_fast()) {
        stride *= 7;
    }
    for (long long i = 1; i <= count; i += i < 100 ? 1 : stride) {
        run_once(scenario, i, 0);
        run_once(scenario, i, 1);
    }
    printf("%s: %lld allocations swept\n", scenario->name, count);
    fflush(stdout);
}
END_TEST

int sweep_main(const char *name, const sweep_scenario *scenarios, int32_t count)
{
    table = scenarios;
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create("sweep");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, sweep, 0, count);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
