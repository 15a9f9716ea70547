/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Practices 5 and 14: the numbers of the status codes are part of the ABI and are written out here
 * a second time. */
#include "support/support.h"

#include <ckptdispatch/base.h>
#include <string.h>

static const struct {
    const char *name;
    int32_t number;
} pinned[] = {
    {"CKPD_OK", 0},
    {"CKPD_ERR_NO_MEMORY", -1},
    {"CKPD_ERR_ARGUMENT", -2},
    {"CKPD_ERR_STRUCT_SIZE", -3},
    {"CKPD_ERR_NOT_SUPPORTED", -4},
    {"CKPD_ERR_STATE", -5},
    {"CKPD_ERR_BUFFER", -6},
    {"CKPD_ERR_VERSION", -7},
    {"CKPD_ERR_RANGE", -20},
    {"CKPD_ERR_NOT_FINITE", -21},
    {"CKPD_ERR_LENGTH", -22},
    {"CKPD_ERR_UNKNOWN_NAME", -23},
    {"CKPD_ERR_DUPLICATE", -24},
    {"CKPD_ERR_INCONSISTENT", -25},
    {"CKPD_ERR_MISSING", -26},
    {"CKPD_ERR_NOT_CONVEX", -27},
    {"CKPD_ERR_NO_MODE", -40},
    {"CKPD_ERR_SYNTAX", -60},
    {"CKPD_ERR_FILE", -61},
    {"CKPD_ERR_SCHEMA", -62},
    {"CKPD_ERR_BACKEND", -80},
    {"CKPD_ERR_VERIFY", -81},
    {"CKPD_ERR_NO_BACKEND", -82},
    {"CKPD_ERR_INTERNAL", -90},
    {"CKPD_ERR_CALLBACK", -100},
};
enum { PINNED = sizeof pinned / sizeof pinned[0] };

START_TEST(numbers_are_pinned)
{
    for (size_t i = 0; i < PINNED; i++) {
        ck_assert_str_eq(ckpd_status_name(pinned[i].number), pinned[i].name);
    }
    /* A new code is added here too, so that its number is pinned from its first release on. */
    ck_assert_int_eq(ckpd_status_count(), PINNED);
}
END_TEST

START_TEST(every_code_has_its_own_text)
{
    for (int32_t i = 0; i < ckpd_status_count(); i++) {
        const char *text = ckpd_strerror(ckpd_status_at(i));
        ck_assert_uint_gt(strlen(text), 3);
        for (int32_t j = 0; j < i; j++) {
            ck_assert_str_ne(text, ckpd_strerror(ckpd_status_at(j)));
        }
    }
}
END_TEST

START_TEST(unknown_codes_have_a_text_too)
{
    static const int32_t unknown[] = {1, -8, -1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        ck_assert_ptr_nonnull(ckpd_strerror(unknown[i]));
        ck_assert_ptr_nonnull(ckpd_status_name(unknown[i]));
    }
    ck_assert_int_eq(ckpd_status_at(-1), 1);
    ck_assert_int_eq(ckpd_status_at(ckpd_status_count()), 1);
}
END_TEST

START_TEST(versions_agree)
{
    ck_assert_int_eq(ckpd_version(),
                     CKPD_VERSION_MAJOR * 10000 + CKPD_VERSION_MINOR * 100 + CKPD_VERSION_PATCH);
    ck_assert_str_eq(ckpd_version_string(), CKPD_VERSION_STRING);
    ck_assert_str_eq(ckpd_version_string(), CONFIGURED_VERSION);
    ck_assert_int_eq(ckpd_abi_version(), CKPD_ABI_VERSION);
    ck_assert_int_eq(ckpd_abi_version(), CONFIGURED_SOVERSION);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {numbers_are_pinned, every_code_has_its_own_text,
                                  unknown_codes_have_a_text_too, versions_agree, NULL};
    return test_run(test_suite("status", tests));
}
