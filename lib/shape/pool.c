/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The GPUs that may run filler work. */
#include "shape/shape.h"

#include <math.h>

static const ckpd__field pool_field[POOL_FIELDS] = {
    {"gpu_count", "", "GPUs that may run filler work", CKPD_FIELD_INTEGER, 1, 0.0, 1e7, NAN, NULL},
    {"group_size", "", "GPUs started and stopped together", CKPD_FIELD_INTEGER, 0, 1.0, 1e6, 8.0,
     NULL},
    {"idle_w_per_gpu", "W", "power of an idle GPU with its context loaded", CKPD_FIELD_NUMBER, 0,
     0.0, 1e5, 120.0, NULL},
    {"facility_factor", "", "power at the grid connection over GPU power", CKPD_FIELD_NUMBER, 0,
     1.0, 10.0, 1.15, NULL},
    {"latency_s", "s",
     "least time from a launch command to the first power, and from a stop command to its effect",
     CKPD_FIELD_NUMBER, 0, 0.0, 60.0, 0.1, NULL},
    {"jitter_s", "s", "further delay of launches: the size of a normal number of this deviation",
     CKPD_FIELD_NUMBER, 0, 0.0, 60.0, 0.15, NULL},
    {"duration_spread", "", "relative standard deviation of batch durations", CKPD_FIELD_NUMBER, 0,
     0.0, 1.0, 0.08, NULL},
    {"plan_margin", "", "share of the pool that a plan may use", CKPD_FIELD_NUMBER, 0, 0.0, 1.0,
     0.97, NULL},
};
const ckpd__field_table ckpd__pool_fields = {"GPU pool", pool_field, POOL_FIELDS};

int32_t ckpd_gpu_pool_new(ckpd_gpu_pool **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (out == NULL || context == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(context, "out");
    }
    ckpd_gpu_pool *pool = ckpd__calloc(context, 1, sizeof *pool);
    if (pool == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(pool, CKPD__GPU_POOL, context);
    ckpd__fields_defaults(&ckpd__pool_fields, pool->values);
    *out = pool;
    return CKPD_OK;
}

void ckpd_gpu_pool_free(ckpd_gpu_pool *pool)
{
    CKPD__NULL_IF_FOREIGN(pool, CKPD__GPU_POOL);
    if (pool != NULL) {
        ckpd__handle_end(pool);
    }
}

int32_t ckpd_gpu_pool_set(ckpd_gpu_pool *pool, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, pool, CKPD__GPU_POOL);
    return pool == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(pool->context, &ckpd__pool_fields, pool->values, field, value);
}

int32_t ckpd_gpu_pool_get(const ckpd_gpu_pool *pool, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, pool, CKPD__GPU_POOL);
    return pool == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(pool->context, &ckpd__pool_fields, pool->values, field, value);
}

int32_t ckpd_gpu_pool_field_count(void)
{
    return POOL_FIELDS;
}

int32_t ckpd_gpu_pool_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__pool_fields, index, out);
}
