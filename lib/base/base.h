/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What every room uses: memory, errors, log, argument checks, structs with a size. */
#ifndef CKPD_LIB_BASE_H
#define CKPD_LIB_BASE_H

#include "base/handle.h"
#include "base/oldest.h"
#include <ckptdispatch/base.h>
#include <stdbool.h>

/* --- context ------------------------------------------------------------------------------- */

/* Handles keep the context alive: retain when made, release when freed. Atomic. */
ckpd_context *ckpd__context_retain(ckpd_context *context);
void ckpd__context_release(ckpd_context *context);

/* --- memory (all through the context's allocator; NULL when out of memory, no error is set) --- */

/* Zero-filled array; overflow of count * bytes counts as out of memory; count 0 gives a valid
 * block. */
void *ckpd__calloc(ckpd_context *context, size_t count, size_t bytes);
/* Grows or shrinks to count * bytes; new bytes are not cleared; the old block stays on failure. */
void *ckpd__realloc(ckpd_context *context, void *block, size_t count, size_t bytes);
void ckpd__free(ckpd_context *context, void *block);
char *ckpd__strdup(ckpd_context *context, const char *text);
void *ckpd__memdup(ckpd_context *context, const void *block, size_t count, size_t bytes);

/* --- errors ---------------------------------------------------------------------------------- */

/*
 * Records an error and returns `code`. `field` may be NULL, index -1 and value NaN when there is
 * none. The format knows only %s, %d (int32_t/int), %L (int64_t), %z (size_t), %g (double, up to 12
 * significant digits, always with '.'), %%. No memory is allocated.
 */
int32_t ckpd__fail(ckpd_context *context, int32_t code, const char *field, int64_t index,
                   double value, const char *format, ...);
int32_t ckpd__no_memory(ckpd_context *context); /* records and returns CKPD_ERR_NO_MEMORY */
int32_t ckpd__null_argument(ckpd_context *context, const char *name);
void ckpd__clear_error(ckpd_context *context);

/* --- log: same format rules ------------------------------------------------------------------ */

void ckpd__log(ckpd_context *context, int32_t level, int32_t code, const char *format, ...);
bool ckpd__logs(const ckpd_context *context, int32_t level);

/* Stable log message codes. */
enum {
    CKPD_MSG_PRUNED_MODES = 101,
    CKPD_MSG_GRAPH_SIZE = 201,
    CKPD_MSG_SOC_CLAMPED = 301,
    CKPD_MSG_SOLVER = 401,
    CKPD_MSG_FALLBACK = 402,
    CKPD_MSG_PROGRESS = 403,
    CKPD_MSG_VERIFY = 404,
    CKPD_MSG_PROFILE = 501,
    CKPD_MSG_FILE = 601,
    CKPD_MSG_SHAPE = 701
};

/* --- argument checks (one place for each kind) ------------------------------------------------ */

int32_t ckpd__check_finite(ckpd_context *context, const char *field, int64_t index, double value);
/* minimum <= value <= maximum; NaN refused; infinity only if the bound itself is infinite and
 * allowed. */
int32_t ckpd__check_range(ckpd_context *context, const char *field, int64_t index, double value,
                          double minimum, double maximum);
int32_t ckpd__check_series(ckpd_context *context, const char *field, const double *values,
                           int64_t count, double minimum, double maximum);

/* --- structs with a size ---------------------------------------------------------------------- */

/*
 * Reads a caller's struct: copies min(given, known) bytes into `known` (zero-filled beyond), where
 * `oldest` is the size of the first version. A larger struct is fine when its unknown tail is zero.
 * CKPD__STRUCT_IN(context, path_view, given, &known) knows the sizes by itself; oldest.h says how a
 * struct grows.
 */
int32_t ckpd__struct_in(ckpd_context *context, const char *name, const void *given, void *known,
                        size_t known_size, size_t oldest);
/* Writes `known` into the caller's struct, at most its size; the size member is kept. NULL is
 * refused as "out". */
int32_t ckpd__struct_out(ckpd_context *context, const char *name, void *given, const void *known,
                         size_t known_size, size_t oldest);
#define CKPD__STRUCT_IN(context, name, given, known) \
    ckpd__struct_in(context, #name, given, known, sizeof(ckpd_##name), CKPD__OLDEST(name))
#define CKPD__STRUCT_OUT(context, name, given, known) \
    ckpd__struct_out(context, #name, given, known, sizeof(ckpd_##name), CKPD__OLDEST(name))

/* --- numbers and names (locale-free) ---------------------------------------------------------- */

enum { CKPD__NUMBER_LENGTH = 32 };
/* The first of 15, 16, 17 significant digits that reads back as the same double, trailing zeros
   dropped ("0.1", "1e+300", "nan", "inf"); -0 becomes "0". */
void ckpd__format_double(double value, char text[CKPD__NUMBER_LENGTH]);
/* `digits` significant digits (1..17), trailing zeros dropped. */
void ckpd__format_digits(double value, int digits, char text[CKPD__NUMBER_LENGTH]);
/* Reads one number that must fill [text, text + length); false when it does not. Accepts no NaN or
 * infinity. */
bool ckpd__parse_double(const char *text, size_t length, double *value);
/* Writes a formatted text (format rules of ckpd__fail), always terminated; returns its full length.
 */
size_t ckpd__format(char *buffer, size_t size, const char *format, ...);
/* The first candidate that begins with `name` (3 characters or more), else the one nearest in
   spelling (edit distance <= half its length), or NULL. */
const char *ckpd__nearest(const char *name, const char *const *candidates, size_t count);

/* --- deterministic pseudo-random numbers (PCG32 of O'Neill 2014) ------------------------------ */

typedef struct ckpd__random {
    uint64_t state, stream;
} ckpd__random;
void ckpd__random_seed(ckpd__random *random, uint64_t seed, uint64_t stream);
uint32_t ckpd__random_next(ckpd__random *random);
double ckpd__random_uniform(ckpd__random *random); /* [0, 1) */

/* Seconds of a monotonic clock: the one use of a clock in the library (limits and progress). */
double ckpd__clock_s(void);

#endif
