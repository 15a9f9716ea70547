/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Calendar arithmetic and the POSIX TZ text at the end of a TZif file (IEEE 1003.1 section 8.3,
   with the wider hours of RFC 9636 section 3.3.2). */
#include "io/timezone.h"

/* --- calendar -------------------------------------------------------------------------------- */

int64_t ckpd__floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t ckpd__days_in_month(int32_t year, int32_t month)
{
    static const int32_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Years are counted from March, so that the leap day is the last of its year: then month starts
   follow (153 m + 2) / 5, and 400 years have 146097 days. */
int64_t ckpd__days_of_date(int32_t year, int32_t month, int32_t day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t m = month > 2 ? month - 3 : month + 9;
    int64_t era = ckpd__floor_div(y, 400), year_of_era = y - era * 400;
    int64_t day_of_year = (153 * m + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468; /* 0000-03-01 lies 719468 days before 1970-01-01 */
}

ckpd__date ckpd__date_of_days(int64_t days)
{
    int64_t shifted = days + 719468, era = ckpd__floor_div(shifted, 146097);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t m = (5 * day_of_year + 2) / 153;
    int64_t month = m < 10 ? m + 3 : m - 9;
    return (ckpd__date){(int32_t)(era * 400 + year_of_era + (month <= 2)), (int32_t)month,
                        (int32_t)(day_of_year - (153 * m + 2) / 5 + 1)};
}

/* --- text ------------------------------------------------------------------------------------ */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take(cursor *c, char wanted)
{
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool take_number(cursor *c, int32_t minimum, int32_t maximum, int32_t *value)
{
    int32_t number = 0;
    const char *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9' && number <= maximum) {
        number = number * 10 + (*c->at++ - '0');
    }
    *value = number;
    return c->at > start && number >= minimum && number <= maximum;
}

/* Three letters or more, or anything but '>' between angle brackets. */
static bool take_name(cursor *c)
{
    const char *start = c->at;
    if (take(c, '<')) {
        while (c->at < c->end && *c->at != '>') {
            c->at++;
        }
        return take(c, '>');
    }
    while (c->at < c->end &&
           ((*c->at >= 'a' && *c->at <= 'z') || (*c->at >= 'A' && *c->at <= 'Z'))) {
        c->at++;
    }
    return c->at - start >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(cursor *c, int32_t most_hours, int32_t *seconds)
{
    bool negative = take(c, '-');
    if (!negative) {
        take(c, '+');
    }
    int32_t hours, minutes = 0, rest = 0;
    if (!take_number(c, 0, most_hours, &hours) ||
        (take(c, ':') && !take_number(c, 0, 59, &minutes)) ||
        (take(c, ':') && !take_number(c, 0, 59, &rest))) {
        return false;
    }
    int32_t total = hours * 3600 + minutes * 60 + rest;
    *seconds = negative ? -total : total;
    return true;
}

static bool take_change(cursor *c, ckpd__zone_change *change)
{
    *change = (ckpd__zone_change){.kind = 'D', .month = 1, .week = 1, .time_s = 7200};
    bool good;
    if (take(c, 'M')) {
        change->kind = 'M';
        good = take_number(c, 1, 12, &change->month) && take(c, '.') &&
               take_number(c, 1, 5, &change->week) && take(c, '.') &&
               take_number(c, 0, 6, &change->day);
    } else if (take(c, 'J')) {
        change->kind = 'J';
        good = take_number(c, 1, 365, &change->day);
    } else {
        good = take_number(c, 0, 365, &change->day);
    }
    return good && (!take(c, '/') || take_time(c, 167, &change->time_s));
}

bool ckpd__zone_rule_parse(ckpd__zone_rule *rule, const char *text, size_t length)
{
    ckpd__zone_rule read = {.given = true};
    cursor c = {text, text + length};
    if (!take_name(&c) || !take_time(&c, 24, &read.standard_s)) {
        return false;
    }
    read.standard_s = -read.standard_s; /* POSIX counts west of Greenwich */
    if (c.at < c.end) {
        read.has_dst = true;
        read.dst_s = read.standard_s + 3600;
        if (!take_name(&c)) {
            return false;
        }
        if (c.at < c.end && *c.at != ',') {
            if (!take_time(&c, 24, &read.dst_s)) {
                return false;
            }
            read.dst_s = -read.dst_s;
        }
        if (!take(&c, ',') || !take_change(&c, &read.start) || !take(&c, ',') ||
            !take_change(&c, &read.end)) {
            return false;
        }
    }
    if (c.at != c.end) {
        return false;
    }
    *rule = read;
    return true;
}

/* --- offsets --------------------------------------------------------------------------------- */

static int64_t change_day(const ckpd__zone_change *change, int32_t year)
{
    int64_t first = ckpd__days_of_date(year, 1, 1);
    if (change->kind == 'J') { /* 29 February is never counted */
        return first + change->day - 1 + (is_leap(year) && change->day >= 60);
    }
    if (change->kind == 'D') {
        return first + change->day;
    }
    int64_t month_start = ckpd__days_of_date(year, change->month, 1);
    int64_t weekday =
        (month_start + 4) - ckpd__floor_div(month_start + 4, 7) * 7; /* 1970-01-01: Thursday */
    int64_t day = (change->day - weekday + 7) % 7 + 7 * (change->week - 1);
    return month_start + (day < ckpd__days_in_month(year, change->month) ? day : day - 7);
}

/* The last change at or before the instant decides. Changes may lie up to a week outside of their
 * year. */
int32_t ckpd__zone_rule_offset(const ckpd__zone_rule *rule, int64_t utc)
{
    if (!rule->has_dst) {
        return rule->standard_s;
    }
    int32_t year = ckpd__date_of_days(ckpd__floor_div(utc + rule->standard_s, 86400)).year;
    int64_t latest = INT64_MIN;
    int32_t offset = rule->standard_s;
    for (int32_t y = year - 1; y <= year + 1; y++) {
        int64_t end = change_day(&rule->end, y) * 86400 + rule->end.time_s - rule->dst_s;
        int64_t start = change_day(&rule->start, y) * 86400 + rule->start.time_s - rule->standard_s;
        if (end <= utc && end > latest) {
            latest = end;
            offset = rule->standard_s;
        }
        if (start <= utc &&
            start >= latest) { /* all-year DST ends and starts at the same instant */
            latest = start;
            offset = rule->dst_s;
        }
    }
    return offset;
}
