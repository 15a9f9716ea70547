/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From labelled rows to a regular axis: slot length, starts of slots, order of rows, absent rows.
 */
#include "io/series.h"

#include <math.h>
#include <stdlib.h>

enum { SECONDS_OF_DAY = 86400 };

static int compare_rows(const void *left, const void *right)
{
    const ckpd__row *a = left, *b = right;
    if (a->utc != b->utc) {
        return a->utc < b->utc ? -1 : 1;
    }
    return (a->line > b->line) - (a->line < b->line);
}

static void sort_when_asked(ckpd__table *table)
{
    if (table->options->values[CKPD__OPTION_SORT] != 0) {
        qsort(table->rows, (size_t)table->row_count, sizeof *table->rows, compare_rows);
    }
}

/* The distance most neighbours have (Boyer and Moore's majority vote), else the smallest. 0: there
 * is none. */
static int64_t usual_distance(const ckpd__table *table)
{
    int64_t candidate = 0, votes = 0, smallest = INT64_MAX, count = 0, total = 0;
    for (int32_t i = 1; i < table->row_count; i++) {
        int64_t distance = table->rows[i].utc - table->rows[i - 1].utc;
        if (distance <= 0) {
            continue;
        }
        smallest = distance < smallest ? distance : smallest;
        if (votes == 0) {
            candidate = distance;
        }
        votes += distance == candidate ? 1 : -1;
        total++;
    }
    for (int32_t i = 1; i < table->row_count; i++) {
        count += table->rows[i].utc - table->rows[i - 1].utc == candidate;
    }
    return total == 0 ? 0 : 2 * count > total ? candidate : smallest;
}

static int32_t find_step(ckpd__table *table)
{
    double minutes = table->options->values[CKPD__OPTION_SLOT_MINUTES];
    int64_t step = isnan(minutes) ? usual_distance(table) : (int64_t)(minutes * 60 + 0.5);
    if (!isnan(minutes) && fabs(minutes * 60 - (double)step) > 1e-6) {
        return ckpd__fail(table->context, CKPD_ERR_RANGE, "slot_minutes", -1, minutes,
                          "%sslot_minutes = %g is not a whole number of seconds", table->source,
                          minutes);
    }
    if (step == 0 && table->row_count > 1) {
        step = 3600; /* no time goes forward: the check of the order says so */
    }
    if (step == 0) {
        return ckpd__fail(table->context, CKPD_ERR_MISSING, "slot_minutes", table->rows[0].line,
                          (double)NAN, "%sthere is only one row: give slot_minutes", table->source);
    }
    if (step > SECONDS_OF_DAY) {
        return ckpd__fail(table->context, CKPD_ERR_RANGE, "slot_minutes", table->rows[0].line,
                          (double)step / 60,
                          "%srows are %g minutes apart; at most a day is supported", table->source,
                          (double)step / 60);
    }
    table->step_s = (int32_t)step;
    return CKPD_OK;
}

/* Counted from midnight in slots, a day has as many as it has, also when the clock is changed. */
static int32_t place_period(const ckpd__table *table, ckpd__row *row)
{
    int64_t midnight = ckpd__zone_first_instant(table->zone, row->wall);
    int64_t day = ckpd__zone_first_instant(table->zone, row->wall + SECONDS_OF_DAY) - midnight;
    if ((int64_t)row->period * table->step_s > day) {
        char date[CKPD__TIME_TEXT];
        ckpd__wall_print(row->wall, date);
        date[10] = '\0'; /* without the time of day */
        return ckpd__fail(table->context, CKPD_ERR_RANGE, "time", row->line, row->period,
                          "%srow %L: slot %d of %s, but that day has %L slots of %g minutes in %s",
                          table->source, row->line, row->period, date, day / table->step_s,
                          table->step_s / 60.0, ckpd__zone_name(table->zone));
    }
    row->utc = midnight + (int64_t)(row->period - 1) * table->step_s;
    row->local_s = row->offset_s = ckpd__zone_offset(table->zone, row->utc);
    row->wall = row->utc + row->local_s;
    return CKPD_OK;
}

/* Labels of ends go back by one slot: on the local clock where that is all there is ("hour
 * ending"), else in UTC. */
static int32_t find_starts(ckpd__table *table)
{
    bool local = table->style.clock == CKPD__CLOCK_LOCAL;
    if (local && table->zone == NULL) {
        return ckpd__fail(
            table->context, CKPD_ERR_MISSING, "zone", table->rows[0].line, (double)NAN,
            "%srow %L: the time has no UTC offset: give the zone it is meant in (Europe/Berlin, "
            "America/Chicago, ..., or UTC where no clock is ever changed)",
            table->source, table->rows[0].line);
    }
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < table->row_count && status == CKPD_OK; i++) {
        ckpd__row *row = &table->rows[i];
        if (row->period > 0) {
            status = place_period(table, row);
            continue;
        }
        row->utc -= table->label_end ? table->step_s : 0;
        row->local_s =
            local || table->zone == NULL ? row->offset_s : ckpd__zone_offset(table->zone, row->utc);
        row->wall = row->utc + row->local_s;
    }
    return status;
}

static int32_t order_error(const ckpd__table *table, int32_t code, const ckpd__row *before,
                           const ckpd__row *row, const char *what)
{
    char first[CKPD__TIME_TEXT], second[CKPD__TIME_TEXT];
    ckpd__wall_print(before->wall, first);
    ckpd__wall_print(row->wall, second);
    return ckpd__fail(
        table->context, code, "time", row->line, (double)(row->utc - before->utc) / 60,
        "%srow %L (slot from %s) %s row %L (slot from %s); slots have %g minutes", table->source,
        row->line, second, what, before->line, first, table->step_s / 60.0);
}

static int32_t gap_error(const ckpd__table *table, const ckpd__row *before, const ckpd__row *row,
                         bool too_long)
{
    char first[CKPD__TIME_TEXT];
    ckpd__wall_print(before->wall + table->step_s, first);
    int64_t absent = (row->utc - before->utc) / table->step_s - 1;
    const char *advice = too_long ? "; that is longer than longest_gap_hours allows to fill"
                                  : "; set gaps to missing and a fill rule to fill them";
    return ckpd__fail(table->context, CKPD_ERR_MISSING, "time", row->line, (double)absent,
                      "%s%L slot%s of %g minutes absent from %s on, between row %L and row %L%s",
                      table->source, absent, absent == 1 ? "" : "s", table->step_s / 60.0, first,
                      before->line, row->line, advice);
}

/* Comes first: among rows in no order the slot length itself is a guess. */
static int32_t check_forward(const ckpd__table *table)
{
    for (int32_t i = 1; i < table->row_count; i++) {
        const ckpd__row *before = &table->rows[i - 1], *row = &table->rows[i];
        if (row->utc == before->utc) {
            return order_error(table, CKPD_ERR_DUPLICATE, before, row, "has the same time as");
        }
        if (row->utc < before->utc) {
            return order_error(table, CKPD_ERR_INCONSISTENT, before, row,
                               "lies before, in time (set sort for files in another order),");
        }
    }
    return CKPD_OK;
}

static int32_t check_distances(const ckpd__table *table)
{
    bool may_lack = table->options->values[CKPD__OPTION_GAPS] != 0;
    double longest_s = table->options->values[CKPD__OPTION_LONGEST_GAP] * 3600;
    for (int32_t i = 1; i < table->row_count; i++) {
        const ckpd__row *before = &table->rows[i - 1], *row = &table->rows[i];
        int64_t distance = row->utc - before->utc;
        if (distance == table->step_s) {
            continue;
        }
        if (distance < table->step_s) {
            return order_error(table, CKPD_ERR_INCONSISTENT, before, row, "overlaps");
        }
        if (distance % table->step_s != 0) {
            return order_error(table, CKPD_ERR_INCONSISTENT, before, row,
                               "is no whole number of slots after");
        }
        bool too_long = may_lack && (double)(distance - table->step_s) > longest_s;
        if (!may_lack || too_long) {
            return gap_error(table, before, row, too_long);
        }
    }
    int64_t slots =
        (table->rows[table->row_count - 1].utc - table->rows[0].utc) / table->step_s + 1;
    return slots <= CKPD_SERIES_MOST_SLOTS
               ? CKPD_OK
               : ckpd__fail(table->context, CKPD_ERR_RANGE, "time", -1, (double)slots,
                            "%s%L slots; at most %d are supported", table->source, slots,
                            CKPD_SERIES_MOST_SLOTS);
}

int32_t ckpd__table_axis(ckpd__table *table)
{
    sort_when_asked(table);
    int32_t status = find_step(table);
    if (status == CKPD_OK) {
        status = find_starts(table);
    }
    if (status == CKPD_OK) {
        status = ckpd__table_window(table);
    }
    if (status == CKPD_OK) {
        status = ckpd__table_localize(table);
    }
    if (status == CKPD_OK) {
        sort_when_asked(table); /* hours that come twice lie in another order now */
        status = check_forward(table);
    }
    if (status == CKPD_OK) {
        status = check_distances(table);
    }
    return status == CKPD_OK ? ckpd__table_covers(table) : status;
}
