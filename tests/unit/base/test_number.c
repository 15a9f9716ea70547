/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Numbers to text and back. Expected texts are decimal constants written by hand; the round trip
 * needs none. */
#define _GNU_SOURCE
#include "support/support.h"

#include "base/base.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_round_trip(double value)
{
    char text[CKPD__NUMBER_LENGTH];
    double back = -1;
    ckpd__format_double(value, text);
    ck_assert_msg(ckpd__parse_double(text, strlen(text), &back), "%s does not read back", text);
    ck_assert_msg(bits_of(back) == bits_of(value), "%a became %s and then %a", value, text, back);
}

START_TEST(test_round_trip_of_special_values)
{
    const double values[] = {0.0,
                             1.0,
                             -1.0,
                             0.1,
                             1.0 / 3.0,
                             380.527,
                             1e23,
                             9007199254740993.0,
                             DBL_MAX,
                             -DBL_MAX,
                             DBL_MIN,
                             DBL_EPSILON,
                             DBL_TRUE_MIN,
                             -DBL_TRUE_MIN,
                             DBL_MIN - DBL_TRUE_MIN,
                             0x1p-44,
                             5e-324,
                             2.2250738585072011e-308};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        check_round_trip(values[i]);
        double next = nextafter(values[i], INFINITY);
        if (isfinite(next) && next != 0) { /* -0 is written as 0 by intent */
            check_round_trip(next);
        }
    }
}
END_TEST

START_TEST(test_round_trip_of_random_bits)
{
    ckpd__random random;
    ckpd__random_seed(&random, 20240409, 1);
    for (int i = 0; i < (test_fast() ? 5000 : 200000); i++) {
        uint64_t bits = (uint64_t)ckpd__random_next(&random) << 32 | ckpd__random_next(&random);
        if (i % 4 == 0) {
            bits &= UINT64_C(0x800fffffffffffff); /* subnormal */
        }
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value != 0) {
            check_round_trip(value);
        }
    }
}
END_TEST

START_TEST(test_text_of_numbers)
{
    static const struct {
        double value;
        const char *text;
    } table[] = {
        {0.1, "0.1"},
        {-0.0, "0"},
        {0.0, "0"},
        {1e300, "1e+300"},
        {380.527, "380.527"},
        {-7.25, "-7.25"},
        {1e15, "1e+15"},
        {123456789012345.0, "123456789012345"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
    };
    char text[CKPD__NUMBER_LENGTH];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ckpd__format_double(table[i].value, text);
        ck_assert_str_eq(text, table[i].text);
    }
}
END_TEST

START_TEST(test_digits)
{
    char text[CKPD__NUMBER_LENGTH];
    ckpd__format_digits(2.0 / 3.0, 3, text);
    ck_assert_str_eq(text, "0.667");
    ckpd__format_digits(1234.5678, 2, text);
    ck_assert_str_eq(text, "1.2e+03");
    ckpd__format_digits(-1e-9, 6, text);
    ck_assert_str_eq(text, "-1e-09");
    ckpd__format_digits(1.0 / 3.0, 0, text); /* held to 1..17 */
    ck_assert_str_eq(text, "0.3");
    ckpd__format_digits(-DBL_MAX, 99, text);
    ck_assert_str_eq(text, "-1.7976931348623157e+308");
}
END_TEST

START_TEST(test_accepted)
{
    static const struct {
        const char *text;
        double value;
    } table[] = {
        {"0", 0},
        {"-0", 0},
        {"+3", 3},
        {"1.5", 1.5},
        {".5", 0.5},
        {"5.", 5},
        {"1e3", 1000},
        {"1E-3", 0.001},
        {"-.5e+1", -5},
        {"00012", 12},
        {"4.9406564584124654e-324", DBL_TRUE_MIN},
        {"1e-400", 0}, /* below the smallest double: 0 is the nearest */
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double value = -77;
        ck_assert_msg(ckpd__parse_double(table[i].text, strlen(table[i].text), &value), "%s",
                      table[i].text);
        ck_assert_msg(value == table[i].value, "%s gave %a", table[i].text, value);
    }
}
END_TEST

START_TEST(test_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "-",
        "+",
        ".",
        "e5",
        "1e",
        "1e+",
        "1.2.3",
        "1,5",
        "1 ",
        " 1",
        "0x10",
        "1_000",
        "1e5x",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "infinity",
        "1e999",
        "-1e999",
        "1.797693134862315900e308",
        "--1",
        "1e5.5",
        "\xd9\xa1", /* ARABIC-INDIC DIGIT ONE */
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = -77;
        ck_assert_msg(!ckpd__parse_double(texts[i], strlen(texts[i]), &value),
                      "'%s' was read as %g", texts[i], value);
        ck_assert_double_eq(value, -77);
    }
}
END_TEST

START_TEST(test_length_is_respected)
{
    double value = -77;
    ck_assert(ckpd__parse_double("12345", 2, &value));
    ck_assert_double_eq(value, 12);
    ck_assert(!ckpd__parse_double("1\0002", 3, &value));
    char text[4096];
    memset(text, '0', sizeof text);
    text[sizeof text - 1] = '1';
    ck_assert(ckpd__parse_double(text + sizeof text - 500, 500, &value));
    ck_assert_double_eq(value, 1);
    ck_assert(
        !ckpd__parse_double(text, sizeof text, &value)); /* longer than any number worth reading */
}
END_TEST

/* glibc's newlocale loses the copy of LOCPATH it makes, which a leak checker blames on the test. */
#if defined(__SANITIZE_ADDRESS__)
#define LEAK_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAK_CHECKED 1
#endif
#endif
#ifndef LEAK_CHECKED
#define LEAK_CHECKED 0
#endif

/* A locale with a decimal comma: the system's, or one compiled into the scratch folder of the test.
 */
static locale_t comma_locale(void)
{
    locale_t locale = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    if (locale != (locale_t)0 || LEAK_CHECKED) {
        return locale;
    }
    if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >localedef.log 2>&1") != 0) {
        return (locale_t)0;
    }
    setenv("LOCPATH", ".", 1);
    return newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
}

START_TEST(test_decimal_comma_of_the_host)
{
    locale_t comma = comma_locale();
    if (comma == (locale_t)0) {
        test_skip("no locale with a decimal comma and no localedef to make one");
        return;
    }
    locale_t before = uselocale(comma);
    ck_assert_str_eq(localeconv()->decimal_point, ",");
    ck_assert_double_eq(strtod("1.5", NULL), 1.0); /* what the library must not do */
    char text[CKPD__NUMBER_LENGTH], message[64];
    double value = 0;
    bool read = ckpd__parse_double("1.5", 3, &value);
    bool read_comma = ckpd__parse_double("1,5", 3, &value);
    ckpd__format_double(-1234567.5, text);
    ckpd__format(message, sizeof message, "%g kW", 0.25);
    uselocale(before);
    freelocale(comma);
    ck_assert(read && !read_comma);
    ck_assert_double_eq(value, 1.5);
    ck_assert_str_eq(text, "-1234567.5");
    ck_assert_str_eq(message, "0.25 kW");
}
END_TEST

/* Output of the reference implementation for seed 42, stream 54 (pcg-c-basic, pcg32-demo, first
 * round). */
START_TEST(test_random_is_pcg32)
{
    static const uint32_t expected[] = {0xa15c02b7u, 0x7b47f409u, 0xba1d3330u,
                                        0x83d2f293u, 0xbfa4784bu, 0xcbed606eu};
    ckpd__random random;
    ckpd__random_seed(&random, 42, 54);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(ckpd__random_next(&random), expected[i]);
    }
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double u = ckpd__random_uniform(&random);
        ck_assert(u >= 0 && u < 1);
        sum += u;
    }
    ck_assert_double_eq_tol(sum / 10000, 0.5, 0.015); /* 5 standard deviations of the mean */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {test_round_trip_of_special_values,
                                  test_round_trip_of_random_bits,
                                  test_text_of_numbers,
                                  test_digits,
                                  test_accepted,
                                  test_refused,
                                  test_length_is_respected,
                                  test_decimal_comma_of_the_host,
                                  test_random_is_pcg32,
                                  NULL};
    return test_run(test_suite("base/number", tests));
}
