/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Small texts: numbers, units, time labels, rules of time zones. What is read is written and read
 * again. */
#include "io/series.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static void number(const char *text, size_t length)
{
    double value, back;
    char written[CKPD__NUMBER_LENGTH];
    if (ckpd__parse_double(text, length, &value)) {
        ckpd__format_double(value, written);
        must(ckpd__parse_double(written, strlen(written), &back) && back == value);
    }
}

static void label(const char *text)
{
    for (int32_t order = CKPD__YMD; order <= CKPD__DMY; order++) {
        ckpd__label read, again;
        char written[CKPD__TIME_TEXT];
        if (ckpd__label_parse(text, order, &read) != NULL) {
            continue;
        }
        int64_t utc = read.wall - read.offset_s;
        ckpd__label_print(&read.style, utc, read.offset_s, written);
        must(strlen(written) < CKPD__TIME_TEXT);
        must(ckpd__label_parse(written, CKPD__YMD, &again) == NULL &&
             again.wall - again.offset_s == utc);
        ckpd__wall_print(read.wall, written);
        ckpd__label_add_hour("12", &read);
    }
    ckpd__bound bound;
    ckpd__bound_parse(text, &bound);
    ckpd__label date;
    must(ckpd__label_parse("2024-04-09", CKPD__YMD, &date) == NULL);
    ckpd__label_add_hour(text, &date);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    must(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    number(text, size);
    label(text);
    ckpd__unit unit;
    size_t base;
    ckpd__unit_parse(text, size, &unit);
    if (ckpd__unit_of_header(text, &unit, &base)) {
        must(base <= strlen(text) && unit.factor > 0);
    }
    ckpd__zone_rule rule;
    if (ckpd__zone_rule_parse(&rule, text, size)) {
        for (int64_t utc = 0; utc < 2000000000; utc += 9876543) {
            int32_t offset = ckpd__zone_rule_offset(&rule, utc);
            must(offset == rule.standard_s || (rule.has_dst && offset == rule.dst_s));
        }
    }
    free(text);
    return 0;
}
