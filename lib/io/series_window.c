/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The window by date, and local times on their way to UTC. */
#include "io/series.h"

#include <math.h>

/* --- window ---------------------------------------------------------------------------------- */

static int32_t read_bound(const ckpd__table *table, int32_t option, const char *field,
                          ckpd__bound *bound)
{
    const char *text = ckpd__option_text(table->options, option);
    const char *wrong = ckpd__bound_parse(text, bound);
    return wrong == NULL ? CKPD_OK
                         : ckpd__fail(table->context, CKPD_ERR_SYNTAX, field, -1, (double)NAN,
                                      "%s%s = '%s': %s", table->source, field, text, wrong);
}

/* True when rows are times of the local clock, which are no instants yet. */
static bool is_local(const ckpd__table *table)
{
    return table->style.clock == CKPD__CLOCK_LOCAL && table->rows[0].period == 0;
}

/* Local bounds are compared on the local clock for local times and where no zone is known, else in
 * UTC. */
static void settle_bound(const ckpd__table *table, ckpd__bound *bound)
{
    if (bound->given && table->zone != NULL && !bound->is_utc && !is_local(table)) {
        bound->time = ckpd__zone_first_instant(table->zone, bound->time);
        bound->is_utc = true;
    }
}

/* A local time that comes twice is inside when one of its instants is: which one it means shows
 * later. */
static bool is_inside(const ckpd__table *table, const ckpd__row *row, bool local)
{
    const ckpd__bound *from = &table->from, *until = &table->until;
    int64_t utc[2] = {row->utc, row->utc};
    if (local && (from->is_utc || until->is_utc)) {
        int32_t count = ckpd__zone_instants(table->zone, row->wall, utc);
        utc[0] = count > 0 ? utc[0] : ckpd__zone_first_instant(table->zone, row->wall);
        utc[1] = count > 1 ? utc[1] : utc[0];
    }
    return (!from->given || (from->is_utc ? utc[1] : row->wall) >= from->time) &&
           (!until->given || (until->is_utc ? utc[0] : row->wall) < until->time);
}

static int32_t keep_inside(ckpd__table *table, bool local)
{
    char first[CKPD__TIME_TEXT], last[CKPD__TIME_TEXT];
    ckpd__wall_print(table->rows[0].wall, first);
    ckpd__wall_print(table->rows[table->row_count - 1].wall + table->step_s, last);
    int32_t kept = 0;
    for (int32_t i = 0; i < table->row_count; i++) {
        if (is_inside(table, &table->rows[i], local)) {
            table->rows[kept++] = table->rows[i];
        }
    }
    table->row_count = kept;
    return kept > 0
               ? CKPD_OK
               : ckpd__fail(
                     table->context, CKPD_ERR_MISSING, "from", -1, (double)NAN,
                     "%sno row lies in the window from '%s' until '%s'; the rows go from %s to %s",
                     table->source, ckpd__option_text(table->options, CKPD__OPTION_FROM),
                     ckpd__option_text(table->options, CKPD__OPTION_UNTIL), first, last);
}

int32_t ckpd__table_window(ckpd__table *table)
{
    int32_t status = read_bound(table, CKPD__OPTION_FROM, "from", &table->from);
    if (status == CKPD_OK) {
        status = read_bound(table, CKPD__OPTION_UNTIL, "until", &table->until);
    }
    if (status != CKPD_OK) {
        return status;
    }
    settle_bound(table, &table->from);
    settle_bound(table, &table->until);
    return keep_inside(table, is_local(table));
}

/* True when the instant, whose local time is `wall`, is the bound. */
static bool is_at(const ckpd__table *table, const ckpd__bound *bound, int64_t utc, int64_t wall)
{
    if (bound->is_utc || table->zone == NULL) {
        return bound->time == (bound->is_utc ? utc : wall);
    }
    return ckpd__zone_first_instant(table->zone, bound->time) == utc || wall == bound->time;
}

int32_t ckpd__table_covers(const ckpd__table *table)
{
    const ckpd__row *first = &table->rows[0], *last = &table->rows[table->row_count - 1];
    char text[CKPD__TIME_TEXT];
    if (table->from.given && !is_at(table, &table->from, first->utc, first->wall)) {
        ckpd__wall_print(first->wall, text);
        return ckpd__fail(table->context, CKPD_ERR_MISSING, "from", first->line, (double)NAN,
                          "%sthe window begins at '%s', its first row %L at %s", table->source,
                          ckpd__option_text(table->options, CKPD__OPTION_FROM), first->line, text);
    }
    if (table->until.given &&
        !is_at(table, &table->until, last->utc + table->step_s, last->wall + table->step_s)) {
        ckpd__wall_print(last->wall + table->step_s, text);
        return ckpd__fail(table->context, CKPD_ERR_MISSING, "until", last->line, (double)NAN,
                          "%sthe window ends at '%s', its last row %L at %s", table->source,
                          ckpd__option_text(table->options, CKPD__OPTION_UNTIL), last->line, text);
    }
    return CKPD_OK;
}

/* --- local times ----------------------------------------------------------------------------- */

/* Names the date with the slots that it has and the rows that the file has for it. */
static int32_t refuse_local_time(const ckpd__table *table, const ckpd__row *row, const char *what,
                                 const char *advice)
{
    int64_t midnight = ckpd__floor_div(row->wall, 86400) * 86400;
    int64_t length = ckpd__zone_first_instant(table->zone, midnight + 86400) -
                     ckpd__zone_first_instant(table->zone, midnight);
    int32_t rows = 0;
    for (int32_t i = 0; i < table->row_count; i++) {
        rows += table->rows[i].wall >= midnight && table->rows[i].wall < midnight + 86400;
    }
    char time[CKPD__TIME_TEXT], date[CKPD__TIME_TEXT];
    ckpd__wall_print(row->wall, time);
    ckpd__wall_print(midnight, date);
    date[10] = '\0'; /* without the time of day */
    return ckpd__fail(table->context, CKPD_ERR_INCONSISTENT, "time", row->line, (double)rows,
                      "%srow %L: local time %s %s in %s; %s has %L slots of %g minutes there, the "
                      "file has %d rows "
                      "for it%s",
                      table->source, row->line, time, what, ckpd__zone_name(table->zone), date,
                      length / table->step_s, table->step_s / 60.0, rows, advice);
}

int32_t ckpd__table_localize(ckpd__table *table)
{
    if (!is_local(table)) {
        return CKPD_OK;
    }
    bool has_repeat = ckpd__option_text(table->options, CKPD__OPTION_REPEAT_COLUMN)[0] != '\0';
    for (int32_t i = 0; i < table->row_count; i++) {
        ckpd__row *row = &table->rows[i];
        int64_t utc[2];
        int32_t count = ckpd__zone_instants(table->zone, row->wall, utc);
        if (count == 0) {
            return refuse_local_time(table, row, "does not exist (the clock jumps over it)", "");
        }
        if (count == 2 && !has_repeat) {
            return refuse_local_time(table, row, "is an ambiguous local time (it comes twice)",
                                     ": write times with UTC offset, or name a repeat_column");
        }
        row->utc = utc[count == 2 && row->second];
        row->local_s = (int32_t)(row->wall - row->utc);
        row->offset_s = row->local_s;
    }
    return table->from.is_utc || table->until.is_utc ? keep_inside(table, false) : CKPD_OK;
}
