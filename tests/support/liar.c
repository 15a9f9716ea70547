/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "liar.h"

ckpd_context *context;
int32_t lie_now;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

void liar_register(ckpd_backend_table table)
{
    table.size = sizeof table;
    table.abi = CKPD_BACKEND_ABI;
    table.name = "liar";
    table.version = "1";
    table.user = &lie_now;
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
}

TCase *liar_tests(const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, setup, teardown);
    return tests;
}
