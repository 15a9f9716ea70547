/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Context, allocator, holders, cancel token, structs with a size. */
#include "support/support.h"

#include "base/base.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Counts blocks; fails from the `limit`-th allocation on. */
typedef struct pool {
    long alive, asked, limit;
} pool;

static void *pool_malloc(size_t bytes, void *user)
{
    pool *p = user;
    if (p->asked++ >= p->limit) {
        return NULL;
    }
    void *block = malloc(bytes);
    p->alive += block != NULL;
    return block;
}

static void *pool_realloc(void *block, size_t bytes, void *user)
{
    pool *p = user;
    return p->asked++ >= p->limit ? NULL : realloc(block, bytes);
}

static void pool_free(void *block, void *user)
{
    pool *p = user;
    p->alive--;
    free(block);
}

static ckpd_allocator pool_allocator(pool *p)
{
    return (ckpd_allocator){sizeof(ckpd_allocator), pool_malloc, pool_realloc, pool_free, p};
}

START_TEST(test_allocator_is_used)
{
    pool p = {0, 0, 1000};
    ckpd_allocator allocator = pool_allocator(&p);
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_OK);
    memset(&allocator, 0, sizeof allocator); /* it was copied */
    ck_assert_int_eq(p.alive, 1);
    char *text = ckpd__strdup(context, "wind");
    ck_assert_str_eq(text, "wind");
    int32_t numbers[] = {1, 2, 3};
    int32_t *copy = ckpd__memdup(context, numbers, 3, sizeof numbers[0]);
    ck_assert_mem_eq(copy, numbers, sizeof numbers);
    copy = ckpd__realloc(context, copy, 6, sizeof numbers[0]);
    ck_assert_mem_eq(copy, numbers, sizeof numbers);
    unsigned char *zero = ckpd__calloc(context, 7, 3);
    for (int i = 0; i < 21; i++) {
        ck_assert_uint_eq(zero[i], 0);
    }
    void *empty = ckpd__calloc(context, 0, 8);
    ck_assert_ptr_nonnull(empty);
    void *fresh = ckpd__realloc(context, NULL, 0, 8);
    ck_assert_ptr_nonnull(fresh);
    ck_assert_int_eq(p.alive, 6);
    ckpd__free(context, text);
    ckpd__free(context, copy);
    ckpd__free(context, zero);
    ckpd__free(context, empty);
    ckpd__free(context, fresh);
    ckpd__free(context, NULL);
    ckpd_context_free(context);
    ckpd_context_free(NULL);
    ck_assert_int_eq(p.alive, 0);
}
END_TEST

START_TEST(test_out_of_memory)
{
    pool p = {0, 0, 0};
    ckpd_allocator allocator = pool_allocator(&p);
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_ERR_NO_MEMORY);
    ck_assert_ptr_null(context);
    p.limit = 2;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_OK);
    ckpd_cancel *cancel = NULL;
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context), CKPD_ERR_NO_MEMORY);
    ck_assert_ptr_null(cancel);
    ck_assert_str_eq(ckpd_context_last_message(context), "out of memory");
    p.limit = 100;
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context),
                     CKPD_OK); /* the context is as good as before */
    ckpd_cancel_free(cancel);
    ckpd_context_free(context);
    ck_assert_int_eq(p.alive, 0);
}
END_TEST

START_TEST(test_sizes_that_overflow)
{
    pool p = {0, 0, 1000};
    ckpd_allocator allocator = pool_allocator(&p);
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_OK);
    long asked = p.asked;
    ck_assert_ptr_null(ckpd__calloc(context, SIZE_MAX / 4, 8));
    ck_assert_ptr_null(ckpd__calloc(context, SIZE_MAX, SIZE_MAX));
    ck_assert_ptr_null(ckpd__realloc(context, NULL, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(ckpd__memdup(context, "", SIZE_MAX, 2));
    ck_assert_int_eq(p.asked, asked);
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_bad_allocators)
{
    pool p = {0, 0, 1000};
    ckpd_context *context = NULL;
    ckpd_allocator allocator = pool_allocator(&p);
    ck_assert_int_eq(ckpd_context_new(NULL, &allocator), CKPD_ERR_ARGUMENT);
    allocator.free_fn = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_ERR_ARGUMENT);
    allocator = pool_allocator(&p);
    allocator.size = 0;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_ERR_STRUCT_SIZE);
    allocator.size = sizeof allocator - 1;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_ERR_STRUCT_SIZE);
    ck_assert_ptr_null(context);
    ck_assert_int_eq(p.asked, 0);
}
END_TEST

START_TEST(test_context_freed_before_handles)
{
    pool p = {0, 0, 1000};
    ckpd_allocator allocator = pool_allocator(&p);
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_OK);
    ckpd_cancel *first = NULL, *second = NULL;
    ck_assert_int_eq(ckpd_cancel_new(&first, context), CKPD_OK);
    ck_assert_int_eq(ckpd_cancel_new(&second, context), CKPD_OK);
    ckpd_context_free(context);
    ck_assert_int_eq(p.alive, 3); /* the handles hold it */
    ckpd_cancel_request(first);
    ck_assert_int_eq(ckpd_cancel_requested(first), 1);
    ckpd_cancel_free(first);
    ck_assert_int_eq(p.alive, 2);
    ckpd_cancel_free(second);
    ck_assert_int_eq(p.alive, 0);
}
END_TEST

/* The second call has nothing to give back: what is left belongs to the handle. */
START_TEST(test_context_freed_twice)
{
    pool p = {0, 0, 1000};
    ckpd_allocator allocator = pool_allocator(&p);
    ckpd_context *context = NULL;
    ckpd_cancel *token = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, &allocator), CKPD_OK);
    ck_assert_int_eq(ckpd_cancel_new(&token, context), CKPD_OK);
    ckpd_context_free(context);
    ckpd_context_free(context);
    ck_assert_int_eq(p.alive, 2);
    ckpd_cancel_free(token);
    ck_assert_int_eq(p.alive, 0);
}
END_TEST

START_TEST(test_cancel)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd_cancel *cancel = NULL;
    ck_assert_int_eq(ckpd_cancel_new(NULL, context), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_cancel_new(&cancel, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context), CKPD_OK);
    ck_assert_int_eq(ckpd_cancel_requested(cancel), 0);
    ckpd_cancel_request(cancel);
    ckpd_cancel_request(cancel);
    ck_assert_int_eq(ckpd_cancel_requested(cancel), 1);
    ckpd_cancel_reset(cancel);
    ck_assert_int_eq(ckpd_cancel_requested(cancel), 0);
    ckpd_cancel_request(NULL);
    ckpd_cancel_reset(NULL);
    ck_assert_int_eq(ckpd_cancel_requested(NULL), 0);
    ckpd_cancel_free(NULL);
    ckpd_cancel_free(cancel);
    ckpd_context_free(context);
}
END_TEST

static void *request_and_free(void *argument)
{
    ckpd_cancel **pair = argument;
    ckpd_cancel_request(pair[0]);
    ckpd_cancel_free(pair[1]);
    return NULL;
}

/* A token is asked from, and another freed on, a thread that did not make them. */
START_TEST(test_cancel_from_other_threads)
{
    enum { THREADS = 4 };
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd_cancel *pairs[THREADS][2];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(ckpd_cancel_new(&pairs[i][0], context), CKPD_OK);
        ck_assert_int_eq(ckpd_cancel_new(&pairs[i][1], context), CKPD_OK);
    }
    ckpd_context_free(context);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, request_and_free, pairs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        while (ckpd_cancel_requested(pairs[i][0]) == 0) {
        }
        pthread_join(threads[i], NULL);
        ckpd_cancel_free(pairs[i][0]);
    }
}
END_TEST

/* The library's struct of this test, and how an older and a newer program see it. */
typedef struct known {
    size_t size;
    double a;
    double b;
} known;
typedef struct older {
    size_t size;
    double a;
} older;
typedef struct newer {
    size_t size;
    double a, b, c;
} newer;

START_TEST(test_struct_in)
{
    known got;
    older old = {sizeof old, 1};
    ck_assert_int_eq(ckpd__struct_in(NULL, "x", &old, &got, sizeof got, sizeof old), CKPD_OK);
    ck_assert_double_eq(got.a, 1);
    ck_assert_double_eq(got.b, 0);
    ck_assert_uint_eq(got.size, sizeof got);
    known same = {sizeof same, 1, 2};
    ck_assert_int_eq(ckpd__struct_in(NULL, "x", &same, &got, sizeof got, sizeof old), CKPD_OK);
    ck_assert_double_eq(got.b, 2);
    newer next = {sizeof next, 3, 4, 0};
    ck_assert_int_eq(ckpd__struct_in(NULL, "x", &next, &got, sizeof got, sizeof old), CKPD_OK);
    ck_assert_double_eq(got.a, 3);
    ck_assert_double_eq(got.b, 4);
    ck_assert_uint_eq(got.size, sizeof got);
}
END_TEST

START_TEST(test_struct_in_refuses)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    known got = {7, 8, 9}, before = got;
    newer next = {sizeof next, 3, 4, 5}; /* uses a member this library does not know */
    ck_assert_int_eq(ckpd__struct_in(context, "x", &next, &got, sizeof got, sizeof(older)),
                     CKPD_ERR_STRUCT_SIZE);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "does not know"));
    const size_t wrong[] = {0, 1, sizeof(older) - 1, 4097, (size_t)-1};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        next = (newer){wrong[i], 1, 2, 0};
        ck_assert_int_eq(ckpd__struct_in(context, "x", &next, &got, sizeof got, sizeof(older)),
                         CKPD_ERR_STRUCT_SIZE);
    }
    ck_assert_mem_eq(&got, &before, sizeof got);
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_struct_out)
{
    const known answer = {sizeof answer, 1, 2};
    struct {
        older seen;
        double guard;
    } old = {{sizeof(older), -1}, -5};
    ck_assert_int_eq(ckpd__struct_out(NULL, "x", &old.seen, &answer, sizeof answer, sizeof(older)),
                     CKPD_OK);
    ck_assert_uint_eq(old.seen.size, sizeof(older));
    ck_assert_double_eq(old.seen.a, 1);
    ck_assert_double_eq(old.guard, -5);
    newer next = {sizeof next, -1, -1, -1};
    ck_assert_int_eq(ckpd__struct_out(NULL, "x", &next, &answer, sizeof answer, sizeof(older)),
                     CKPD_OK);
    ck_assert_uint_eq(next.size, sizeof next);
    ck_assert_double_eq(next.b, 2);
    ck_assert_double_eq(next.c, 0); /* unknown members read as zero */
    const size_t wrong[] = {0, sizeof(older) - 1, 4097};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        next = (newer){wrong[i], -1, -1, -1};
        ck_assert_int_eq(ckpd__struct_out(NULL, "x", &next, &answer, sizeof answer, sizeof(older)),
                         CKPD_ERR_STRUCT_SIZE);
        ck_assert_double_eq(next.a, -1);
    }
}
END_TEST

START_TEST(test_last_error_of_other_sizes)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd__fail(context, CKPD_ERR_RANGE, "pue", 2, 0.5, "pue");
    struct {
        ckpd_error error;
        double future;
    } next = {{.size = sizeof next}, 1};
    ck_assert_int_eq(ckpd_context_last_error(context, &next.error), CKPD_OK);
    ck_assert_str_eq(next.error.field, "pue");
    ck_assert_double_eq(next.future, 0);
    next.error.size = 0;
    ck_assert_int_eq(ckpd_context_last_error(context, &next.error), CKPD_ERR_STRUCT_SIZE);
    ck_assert_int_eq(ckpd_context_last_error(context, NULL), CKPD_ERR_ARGUMENT);
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_clock_goes_forward)
{
    double start = ckpd__clock_s();
    ck_assert_double_ge(ckpd__clock_s(), start);
    ck_assert(isfinite(start));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {test_allocator_is_used,
                                  test_out_of_memory,
                                  test_sizes_that_overflow,
                                  test_bad_allocators,
                                  test_context_freed_before_handles,
                                  test_context_freed_twice,
                                  test_cancel,
                                  test_cancel_from_other_threads,
                                  test_struct_in,
                                  test_struct_in_refuses,
                                  test_struct_out,
                                  test_last_error_of_other_sizes,
                                  test_clock_goes_forward,
                                  NULL};
    return test_run(test_suite("base/context", tests));
}
