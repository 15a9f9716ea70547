/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Reading small CSV texts in tests: one context and one set of options, made anew for each test. */
#ifndef TESTS_SUPPORT_SERIES_TEXT_H
#define TESTS_SUPPORT_SERIES_TEXT_H

#include "support/support.h"

#include <ckptdispatch/series.h>

extern ckpd_context *series_context;
extern ckpd_series_options *series_options;

void series_setup(void); /* checked fixture */
void series_teardown(void);
void series_fresh(void); /* options back to the defaults */
void series_text(const char *field, const char *text);
void series_number(const char *field, double value);
void series_column(const char *column, const char *unit);
/* false after a SKIP line */
bool series_has_tzdata(void);

/* Appends rows of one day: hours first..last of the wall clock, `offset` written after each unless
 * NULL. */
void series_add_hours(char *text, const char *date, int first, int last, const char *offset);
/* Must succeed. */
ckpd_series *series_read(const char *text);
/* Must fail with that status, that line of the file as index (-2: any) and those words in the
 * message. */
void series_refused(const char *text, int32_t status, int64_t line, const char *words);
/* Values of a column, exactly. */
void series_check(const ckpd_series *series, const char *column, int32_t count,
                  const double *values);
void series_check_stamp(const ckpd_series *series, int32_t slot, const char *stamp);
/* The last error of the context holds those words. */
void series_says(const char *words);

#endif
