/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Message formatting, the last error, the log, argument checks. */
#include "support/support.h"

#include "base/base.h"
#include <math.h>
#include <string.h>

static ckpd_context *new_context(void)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    return context;
}

static ckpd_error last_error(const ckpd_context *context)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    return error;
}

START_TEST(test_format)
{
    char text[128];
    size_t length = ckpd__format(text, sizeof text, "%s|%d|%L|%z|%g|%%|%s", "a", -7, INT64_MIN,
                                 (size_t)42, 1.0 / 3.0, (const char *)NULL);
    ck_assert_str_eq(text, "a|-7|-9223372036854775808|42|0.333333333333|%|(null)");
    ck_assert_uint_eq(length, strlen(text));
    ckpd__format(text, sizeof text, "%L %d %g %g", INT64_MAX, 2147483647, (double)NAN,
                 -(double)INFINITY);
    ck_assert_str_eq(text, "9223372036854775807 2147483647 nan -inf");
    ckpd__format(text, sizeof text, "%d", (int)INT32_MIN);
    ck_assert_str_eq(text, "-2147483648");
}
END_TEST

START_TEST(test_format_cuts_cleanly)
{
    char text[8];
    memset(text, 'x', sizeof text);
    ck_assert_uint_eq(ckpd__format(text, 4, "abcdefgh"), 8);
    ck_assert_str_eq(text, "abc");
    ck_assert_int_eq(text[4], 'x');
    ck_assert_uint_eq(ckpd__format(NULL, 0, "abc"), 3);
    ck_assert_uint_eq(ckpd__format(text, 1, "abc"), 3);
    ck_assert_str_eq(text, "");
    /* Cut inside a two-byte character: the whole character goes. */
    ckpd__format(text, 4, "ab\xc3\xb6z");
    ck_assert_str_eq(text, "ab");
    ckpd__format(text, 5, "ab\xc3\xb6z");
    ck_assert_str_eq(text, "ab\xc3\xb6");
    for (size_t room = 1; room <= 8; room++) { /* three- and four-byte characters at every cut */
        memset(text, '\x80', sizeof text);     /* what lies in the buffer must not matter */
        ckpd__format(text, room, "\xe2\x82\xac\xf0\x9f\x98\x80z");
        ck_assert_uint_eq(strlen(text), room < 4 ? 0 : room < 8 ? 3 : 7);
    }
    ckpd__format(text, sizeof text, "100%%%"); /* a lone % at the end */
    ck_assert_str_eq(text, "100%");
}
END_TEST

START_TEST(test_fail_records_everything)
{
    ckpd_context *context = new_context();
    ckpd_error error = last_error(context);
    ck_assert_int_eq(error.code, CKPD_OK);
    ck_assert_int_eq(error.index, -1);
    ck_assert(isnan(error.value));
    ck_assert_str_eq(ckpd_context_last_message(context), "");

    int32_t status = ckpd__fail(context, CKPD_ERR_RANGE, "price", 7, 2.5, "price[%d] = %g", 7, 2.5);
    ck_assert_int_eq(status, CKPD_ERR_RANGE);
    error = last_error(context);
    ck_assert_int_eq(error.code, CKPD_ERR_RANGE);
    ck_assert_int_eq(error.index, 7);
    ck_assert_double_eq(error.value, 2.5);
    ck_assert_str_eq(error.field, "price");
    ck_assert_str_eq(error.message, "price[7] = 2.5");
    ck_assert_str_eq(ckpd_context_last_message(context), "price[7] = 2.5");

    ckpd__no_memory(context);
    error = last_error(context);
    ck_assert_int_eq(error.code, CKPD_ERR_NO_MEMORY);
    ck_assert_int_eq(error.index, -1);
    ck_assert_str_eq(error.field, "");

    ckpd__clear_error(context);
    ck_assert_int_eq(last_error(context).code, CKPD_OK);
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_fail_with_long_names)
{
    ckpd_context *context = new_context();
    char name[2000];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, name, -1, 0, "no field '%s'", name);
    ckpd_error error = last_error(context);
    ck_assert_uint_eq(strlen(error.field), sizeof error.field - 1);
    ck_assert_uint_eq(strlen(error.message), sizeof error.message - 1);
    ckpd_context_free(context);
}
END_TEST

/* Without a context there is nowhere to record: the code still comes back. */
START_TEST(test_fail_without_context)
{
    ck_assert_int_eq(ckpd__fail(NULL, CKPD_ERR_RANGE, "x", 0, 0, "%s", "x"), CKPD_ERR_RANGE);
    ck_assert_str_eq(ckpd_context_last_message(NULL), "");
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_context_last_error(NULL, &error), CKPD_ERR_ARGUMENT);
}
END_TEST

typedef struct heard {
    int32_t count, level, code;
    char message[1100];
} heard;

static void listen(int32_t level, int32_t code, const char *message, void *user)
{
    heard *all = user;
    all->count++;
    all->level = level;
    all->code = code;
    strncpy(all->message, message, sizeof all->message - 1);
}

START_TEST(test_log)
{
    ckpd_context *context = new_context();
    heard all = {0};
    ckpd__log(context, CKPD_LOG_ERROR, 1, "nobody listens");
    ck_assert_int_eq(ckpd_context_set_log(context, CKPD_LOG_INFO, listen, &all), CKPD_OK);
    ckpd__log(context, CKPD_LOG_DEBUG, 1, "too deep");
    ck_assert_int_eq(all.count, 0);
    ck_assert(!ckpd__logs(context, CKPD_LOG_DEBUG));
    ck_assert(ckpd__logs(context, CKPD_LOG_INFO));
    ckpd__log(context, CKPD_LOG_INFO, CKPD_MSG_SOLVER, "gap %g %%", 1.5);
    ck_assert_int_eq(all.count, 1);
    ck_assert_int_eq(all.level, CKPD_LOG_INFO);
    ck_assert_int_eq(all.code, CKPD_MSG_SOLVER);
    ck_assert_str_eq(all.message, "gap 1.5 %");
    ckpd__fail(context, CKPD_ERR_RANGE, "x", -1, 0, "x is bad");
    ck_assert_int_eq(all.count, 2);
    ck_assert_int_eq(all.level, CKPD_LOG_ERROR);
    ck_assert_int_eq(all.code, 20);

    ck_assert_int_eq(ckpd_context_set_log(context, 0, listen, &all), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_context_set_log(context, 5, listen, &all), CKPD_ERR_RANGE);
    ck_assert_int_eq(all.count, 4); /* the refusals were logged through the listener that stayed */
    ck_assert_int_eq(ckpd_context_set_log(context, 99, NULL, NULL), CKPD_OK);
    ckpd__log(context, CKPD_LOG_ERROR, 1, "nobody listens");
    ck_assert_int_eq(all.count, 4);
    ck_assert_int_eq(ckpd_context_set_log(NULL, CKPD_LOG_INFO, listen, &all), CKPD_ERR_ARGUMENT);
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_check_range)
{
    ckpd_context *context = new_context();
    const double inf = (double)INFINITY;
    ck_assert_int_eq(ckpd__check_range(context, "pue", 3, 1.0, 1, 5), CKPD_OK);
    ck_assert_int_eq(ckpd__check_range(context, "pue", 3, 5.0, 1, 5), CKPD_OK);
    ck_assert_int_eq(ckpd__check_range(context, "pue", 3, 0.9, 1, 5), CKPD_ERR_RANGE);
    ck_assert_str_eq(ckpd_context_last_message(context), "pue[3] = 0.9 is below the minimum 1");
    ck_assert_int_eq(ckpd__check_range(context, "pue", -1, 5.5, 1, 5), CKPD_ERR_RANGE);
    ck_assert_str_eq(ckpd_context_last_message(context), "pue = 5.5 is above the maximum 5");
    ck_assert_int_eq(ckpd__check_range(context, "pue", 0, (double)NAN, 1, 5), CKPD_ERR_NOT_FINITE);
    ck_assert_str_eq(ckpd_context_last_message(context), "pue[0] is NaN");
    ck_assert_int_eq(ckpd__check_range(context, "pue", -1, inf, 1, 5), CKPD_ERR_NOT_FINITE);
    ck_assert_str_eq(ckpd_context_last_message(context), "pue is infinite");
    ck_assert_int_eq(ckpd__check_range(context, "cap", -1, inf, 0, inf), CKPD_OK);
    ck_assert_int_eq(ckpd__check_range(context, "cap", -1, -inf, 0, inf), CKPD_ERR_NOT_FINITE);
    ck_assert_str_eq(ckpd_context_last_message(context), "cap is minus infinity");
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_check_series)
{
    ckpd_context *context = new_context();
    const double values[] = {1, 2, -3, (double)NAN};
    ck_assert_int_eq(ckpd__check_series(context, "wind_kw", values, 2, 0, 10), CKPD_OK);
    ck_assert_int_eq(ckpd__check_series(context, "wind_kw", values, 4, 0, 10), CKPD_ERR_RANGE);
    ckpd_error error = last_error(context);
    ck_assert_int_eq(error.index, 2);
    ck_assert_double_eq(error.value, -3);
    ck_assert_int_eq(ckpd__check_series(context, "wind_kw", values, 4, -10, 10),
                     CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(last_error(context).index, 3);
    ckpd_context_free(context);
}
END_TEST

START_TEST(test_nearest)
{
    static const char *const names[] = {"soc_start_kwh", "soc_min_kwh", "eta_charge"};
    ck_assert_str_eq(ckpd__nearest("soc_strat_kwh", names, 3), "soc_start_kwh");
    ck_assert_str_eq(ckpd__nearest("eta_chrge", names, 3), "eta_charge");
    ck_assert_str_eq(ckpd__nearest("soc_min_kwh", names, 3), "soc_min_kwh");
    ck_assert_ptr_null(ckpd__nearest("wind", names, 3));
    ck_assert_ptr_null(ckpd__nearest("", names, 3));
    ck_assert_ptr_null(ckpd__nearest("soc_min_kwh", names, 0));
    char longer[400];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    ck_assert_ptr_null(ckpd__nearest(longer, names, 3));
    const char *const odd[] = {longer, "aaaa"};
    ck_assert_str_eq(ckpd__nearest("aaab", odd, 2), "aaaa");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {test_format,
                                  test_format_cuts_cleanly,
                                  test_fail_records_everything,
                                  test_fail_with_long_names,
                                  test_fail_without_context,
                                  test_log,
                                  test_check_range,
                                  test_check_series,
                                  test_nearest,
                                  NULL};
    return test_run(test_suite("base/error", tests));
}
