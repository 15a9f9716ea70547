/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The one place that turns numbers into text and back, whatever the locale of the host. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "base/base.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* snprintf writes the decimal mark of the locale, possibly several bytes: all that is no digit,
   sign or exponent becomes one '.'. */
static void use_point(char text[CKPD__NUMBER_LENGTH])
{
    char *to = text;
    bool marked = false;
    for (const char *from = text; *from != '\0'; from++) {
        if (strchr("+-0123456789e", *from) != NULL) {
            *to++ = *from;
        } else if (!marked) {
            *to++ = '.';
            marked = true;
        }
    }
    *to = '\0';
}

static double parse_c(const char *text)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        return strtod(text, NULL);
    }
    double value = strtod_l(text, NULL, c);
    freelocale(c);
    return value;
}

void ckpd__format_digits(double value, int digits, char text[CKPD__NUMBER_LENGTH])
{
    if (isnan(value)) {
        memcpy(text, "nan", 4);
    } else if (isinf(value)) {
        memcpy(text, value > 0 ? "inf" : "-inf", value > 0 ? 4 : 5);
    } else {
        digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
        snprintf(text, CKPD__NUMBER_LENGTH, "%.*g", digits, value == 0 ? 0.0 : value);
        use_point(text);
    }
}

void ckpd__format_double(double value, char text[CKPD__NUMBER_LENGTH])
{
    for (int digits = 15; digits <= 17; digits++) {
        ckpd__format_digits(value, digits, text);
        if (!isfinite(value) || parse_c(text) == value) {
            return;
        }
    }
}

static size_t skip_digits(const char *text, size_t at, size_t length)
{
    while (at < length && text[at] >= '0' && text[at] <= '9') {
        at++;
    }
    return at;
}

/* sign? (digits ('.' digits?)? | '.' digits) ([eE] sign? digits)? */
static bool is_number(const char *text, size_t length)
{
    size_t at = length > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    size_t whole = skip_digits(text, at, length);
    size_t mantissa = whole - at;
    at = whole;
    if (at < length && text[at] == '.') {
        size_t fraction = skip_digits(text, at + 1, length);
        mantissa += fraction - at - 1;
        at = fraction;
    }
    if (mantissa == 0) {
        return false;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < length && (text[at] == '-' || text[at] == '+') ? 1 : 0;
        size_t end = skip_digits(text, at, length);
        if (end == at) {
            return false;
        }
        at = end;
    }
    return at == length;
}

bool ckpd__parse_double(const char *text, size_t length, double *value)
{
    char copy[512];
    if (length == 0 || length >= sizeof copy || !is_number(text, length)) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    double parsed = parse_c(copy);
    if (!isfinite(parsed)) {
        return false;
    }
    *value = parsed;
    return true;
}
