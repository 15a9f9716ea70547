/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Status codes are part of the ABI: the numbers below are a second, hand-kept copy that must never
 * change. */
#include "support/support.h"

#include <ckptdispatch/base.h>
#include <string.h>

static const struct {
    int32_t number;
    const char *name;
} pinned[] = {
    {0, "CKPD_OK"},
    {-1, "CKPD_ERR_NO_MEMORY"},
    {-2, "CKPD_ERR_ARGUMENT"},
    {-3, "CKPD_ERR_STRUCT_SIZE"},
    {-4, "CKPD_ERR_NOT_SUPPORTED"},
    {-5, "CKPD_ERR_STATE"},
    {-6, "CKPD_ERR_BUFFER"},
    {-7, "CKPD_ERR_VERSION"},
    {-20, "CKPD_ERR_RANGE"},
    {-21, "CKPD_ERR_NOT_FINITE"},
    {-22, "CKPD_ERR_LENGTH"},
    {-23, "CKPD_ERR_UNKNOWN_NAME"},
    {-24, "CKPD_ERR_DUPLICATE"},
    {-25, "CKPD_ERR_INCONSISTENT"},
    {-26, "CKPD_ERR_MISSING"},
    {-27, "CKPD_ERR_NOT_CONVEX"},
    {-40, "CKPD_ERR_NO_MODE"},
    {-60, "CKPD_ERR_SYNTAX"},
    {-61, "CKPD_ERR_FILE"},
    {-62, "CKPD_ERR_SCHEMA"},
    {-80, "CKPD_ERR_BACKEND"},
    {-81, "CKPD_ERR_VERIFY"},
    {-82, "CKPD_ERR_NO_BACKEND"},
    {-90, "CKPD_ERR_INTERNAL"},
    {-100, "CKPD_ERR_CALLBACK"},
};
enum { PINNED = sizeof pinned / sizeof pinned[0] };

START_TEST(test_numbers_are_pinned)
{
    for (int i = 0; i < PINNED; i++) {
        ck_assert_str_eq(ckpd_status_name(pinned[i].number), pinned[i].name);
    }
}
END_TEST

START_TEST(test_list_is_complete)
{
    ck_assert_int_ge(ckpd_status_count(), PINNED);
    for (int32_t i = 0; i < ckpd_status_count(); i++) {
        int32_t status = ckpd_status_at(i);
        ck_assert_int_le(status, 0);
        ck_assert_str_ne(ckpd_strerror(status), "unknown status");
        ck_assert_ptr_eq(strstr(ckpd_status_name(status), "CKPD_"), ckpd_status_name(status));
        for (int32_t k = 0; k < i; k++) {
            ck_assert_int_ne(ckpd_status_at(k), status);
            ck_assert_str_ne(ckpd_strerror(ckpd_status_at(k)), ckpd_strerror(status));
        }
    }
}
END_TEST

START_TEST(test_unknown_numbers)
{
    ck_assert_int_eq(ckpd_status_at(-1), 1);
    ck_assert_int_eq(ckpd_status_at(ckpd_status_count()), 1);
    ck_assert_str_eq(ckpd_strerror(1), "unknown status");
    ck_assert_str_eq(ckpd_status_name(-12345), "CKPD_UNKNOWN");
}
END_TEST

START_TEST(test_version)
{
    ck_assert_int_eq(ckpd_version(),
                     CKPD_VERSION_MAJOR * 10000 + CKPD_VERSION_MINOR * 100 + CKPD_VERSION_PATCH);
    ck_assert_str_eq(ckpd_version_string(), CKPD_VERSION_STRING);
    ck_assert_int_eq(ckpd_abi_version(), CKPD_ABI_VERSION);
}
END_TEST

START_TEST(test_features)
{
    ck_assert_int_eq(ckpd_feature("json"), 1);
    ck_assert_int_eq(ckpd_feature("threads"), 1);
#ifdef CKPD_HAVE_GLPK
    ck_assert_int_eq(ckpd_feature("glpk"), 1);
#else
    ck_assert_int_eq(ckpd_feature("glpk"), 0);
#endif
    ck_assert_int_eq(ckpd_feature("jso"), 0);
    ck_assert_int_eq(ckpd_feature(""), 0);
    ck_assert_int_eq(ckpd_feature(NULL), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {test_numbers_are_pinned, test_list_is_complete,
                                  test_unknown_numbers,    test_version,
                                  test_features,           NULL};
    return test_run(test_suite("base/status", tests));
}
