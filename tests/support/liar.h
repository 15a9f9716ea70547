/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A backend "liar" in a context made anew for each test: `lie_now` says what it tells. */
#ifndef TESTS_SUPPORT_LIAR_H
#define TESTS_SUPPORT_LIAR_H

#include "support/support.h"

#include <ckptdispatch/backend.h>

extern ckpd_context *context;
extern int32_t lie_now;

/* The table needs capabilities and function only; `&lie_now` is what the function gets as `user`.
 */
void liar_register(ckpd_backend_table table);

/* A test case with the context as its fixture. */
TCase *liar_tests(const char *name);

#endif
