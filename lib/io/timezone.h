/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Calendar and time zones without the C library's: TZ, localtime and tzset are state of the whole
 * process. A zone is read from a TZif file (RFC 8536, RFC 9636) of the system's tzdata. Times are
 * int64_t seconds since 1970-01-01T00:00 without leap seconds; a wall time is the same count of the
 * local clock. Any thread.
 */
#ifndef CKPD_LIB_IO_TIMEZONE_H
#define CKPD_LIB_IO_TIMEZONE_H

#include "base/base.h"

/* --- calendar (proleptic Gregorian) ---------------------------------------------------------- */

typedef struct ckpd__date {
    int32_t year, month, day; /* month 1..12 */
} ckpd__date;

/* Days since 1970-01-01. */
int64_t ckpd__days_of_date(int32_t year, int32_t month, int32_t day);
ckpd__date ckpd__date_of_days(int64_t days);
int32_t ckpd__days_in_month(int32_t year, int32_t month);
/* Rounded down, also for negative numbers; b > 0. */
int64_t ckpd__floor_div(int64_t a, int64_t b);

/* --- rule of the years after the table (POSIX TZ text) --------------------------------------- */

typedef struct ckpd__zone_change {
    char kind; /* 'M': month.week.day, 'J': day 1..365, 'D': day 0..365 */
    int32_t month, week, day;
    int32_t time_s; /* local time of the change, -167 h..167 h */
} ckpd__zone_change;

typedef struct ckpd__zone_rule {
    bool given, has_dst;
    int32_t standard_s, dst_s; /* local time = UTC + this */
    ckpd__zone_change start, end;
} ckpd__zone_rule;

bool ckpd__zone_rule_parse(ckpd__zone_rule *rule, const char *text, size_t length);
int32_t ckpd__zone_rule_offset(const ckpd__zone_rule *rule, int64_t utc);

/* --- zones ----------------------------------------------------------------------------------- */

typedef struct ckpd__zone ckpd__zone;

/* From the bytes of a TZif file. `name` is used in messages. */
int32_t ckpd__zone_parse(ckpd__zone **out, ckpd_context *context, const char *name,
                         const void *bytes, size_t length);
/*
 * By name: "UTC", a fixed offset "+10:00", or an IANA name such as "Europe/Berlin" looked for in
 * `folder`, or in the usual folders of the system when that is NULL or "".
 */
int32_t ckpd__zone_load(ckpd__zone **out, ckpd_context *context, const char *name,
                        const char *folder);
/* The last of these three alone; timezone_file.c. */
int32_t ckpd__zone_load_file(ckpd__zone **out, ckpd_context *context, const char *name,
                             const char *folder);
void ckpd__zone_free(ckpd_context *context, ckpd__zone *zone);
const char *ckpd__zone_name(const ckpd__zone *zone);
/* Local time minus UTC at an instant, in seconds. */
int32_t ckpd__zone_offset(const ckpd__zone *zone, int64_t utc);
/* Instants with that wall time, ascending: 0 (the clock jumps over it), 1, or 2 (it comes twice).
 */
int32_t ckpd__zone_instants(const ckpd__zone *zone, int64_t wall, int64_t utc[2]);
/* The instant a wall time stands for; one that is jumped over counts from the offset before the
 * jump. */
int64_t ckpd__zone_first_instant(const ckpd__zone *zone, int64_t wall);

#endif
