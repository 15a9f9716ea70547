/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <string.h>

static void cancel_token(sweep_memory *memory, ckpd_context *context)
{
    ckpd_cancel *cancel = NULL;
    SWEEP(ckpd_cancel_new(&cancel, context));
    ckpd_cancel_request(cancel);
    ck_assert_int_eq(ckpd_cancel_requested(cancel), 1);
    ckpd_cancel_free(cancel);
}

/* The error of a failed allocation is readable although no memory could be had for it. */
static void error_text(sweep_memory *memory, ckpd_context *context)
{
    ckpd_cancel *cancel = NULL;
    int32_t status = ckpd_cancel_new(&cancel, context);
    if (sweep_repeat(memory, status, "ckpd_cancel_new")) {
        ckpd_error error = {.size = sizeof error};
        ck_assert_ptr_null(cancel);
        ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
        ck_assert_int_eq(error.code, CKPD_ERR_NO_MEMORY);
        ck_assert_uint_gt(strlen(error.message), 0);
        SWEEP(ckpd_cancel_new(&cancel, context));
    }
    ckpd_cancel_free(cancel);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"cancel token", cancel_token},
        {"error text", error_text},
    };
    return sweep_main("base", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
