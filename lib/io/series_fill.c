/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From the rows of a table to a series: lays them on the axis, fills what a rule may fill and
 * reports it. */
#include "io/series.h"

#include <math.h>
#include <string.h>

static const char *const rule_names[] = {"refuse", "hold", "linear", "the other series"};

static int32_t slot_of(const ckpd__table *table, const ckpd__row *row)
{
    return (int32_t)((row->utc - table->rows[0].utc) / table->step_s);
}

/* --- one column ------------------------------------------------------------------------------ */

typedef struct filling {
    const ckpd__table *table;
    ckpd_series *series;
    int32_t column;
    const ckpd__wanted_column *wanted;
} filling;

/* Row of a slot, or NULL when the file has none. */
static const ckpd__row *row_of(const ckpd__table *table, int32_t slot)
{
    int32_t low = 0, high = table->row_count - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (slot_of(table, &table->rows[middle]) < slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return slot_of(table, &table->rows[low]) == slot ? &table->rows[low] : NULL;
}

static int32_t cannot_fill(const filling *f, int32_t slot, const char *why)
{
    const ckpd__table *table = f->table;
    const char *name = f->series->columns[f->column].name;
    const ckpd__row *row = row_of(table, slot);
    char time[CKPD__TIME_TEXT], place[64] = "no row";
    ckpd__wall_print(
        f->series->start_s + (int64_t)slot * table->step_s + f->series->local_offset[slot], time);
    if (row != NULL) {
        ckpd__format(place, sizeof place, "row %L", row->line);
    }
    return ckpd__fail(table->context, CKPD_ERR_MISSING, name, row != NULL ? row->line : -1,
                      (double)NAN, "%s%s (slot from %s), column '%s': no value%s", table->source,
                      place, time, name, why);
}

static int32_t fill_from_other(filling *f, int32_t first, int32_t end)
{
    const ckpd_series *other = f->wanted->other;
    const ckpd__column *source = &other->columns[f->wanted->other_column];
    ckpd__column *column = &f->series->columns[f->column];
    if (other->step_s != f->series->step_s || source->quantity != column->quantity) {
        return cannot_fill(f, first, ", and the other series has another slot length or unit");
    }
    for (int32_t slot = first; slot < end; slot++) {
        int64_t distance = f->series->start_s + (int64_t)slot * f->series->step_s - other->start_s;
        int64_t there = distance / other->step_s;
        if (distance < 0 || distance % other->step_s != 0 || there >= other->slots) {
            return cannot_fill(f, slot, ", and the other series has none for that time");
        }
        column->values[slot] = source->values[there];
    }
    return CKPD_OK;
}

/* Fills slots first..end-1, which are all missing. */
static int32_t fill_run(filling *f, int32_t first, int32_t end)
{
    ckpd__column *column = &f->series->columns[f->column];
    int32_t rule = f->wanted != NULL ? f->wanted->fill : CKPD__FILL_REFUSE;
    double longest_s = f->table->options->values[CKPD__OPTION_LONGEST_GAP] * 3600;
    if (rule == CKPD__FILL_REFUSE) {
        return cannot_fill(f, first, " (a fill rule for the column would be used)");
    }
    if ((double)(end - first) * f->table->step_s > longest_s) {
        return cannot_fill(f, first,
                           ", and the run without values is longer than longest_gap_hours");
    }
    if (rule == CKPD__FILL_FROM) {
        int32_t status = fill_from_other(f, first, end);
        if (status != CKPD_OK) {
            return status;
        }
    } else if (first == 0) {
        return cannot_fill(f, first, ", and none before it to fill from");
    } else if (rule == CKPD__FILL_LINEAR && end == f->series->slots) {
        return cannot_fill(f, first, ", and none after it for the linear rule");
    }
    for (int32_t slot = first; slot < end && rule != CKPD__FILL_FROM; slot++) {
        double before = column->values[first - 1];
        double after = rule == CKPD__FILL_LINEAR ? column->values[end] : before;
        column->values[slot] = before + (after - before) * (slot - first + 1) / (end - first + 1);
    }
    for (int32_t slot = first; slot < end; slot++) {
        if (ckpd__series_mark_filled(f->series, f->column, slot) != CKPD_OK) {
            return ckpd__no_memory(f->table->context);
        }
    }
    return CKPD_OK;
}

static int32_t fill_column(filling *f)
{
    ckpd__column *column = &f->series->columns[f->column];
    int32_t first_filled = -1;
    for (int32_t slot = 0; slot < f->series->slots; slot++) {
        int32_t end = slot;
        while (end < f->series->slots && isnan(column->values[end])) {
            end++;
        }
        if (end > slot) {
            int32_t status = fill_run(f, slot, end);
            if (status != CKPD_OK) {
                return status;
            }
            first_filled = first_filled < 0 ? slot : first_filled;
            slot = end;
        }
    }
    if (first_filled >= 0) {
        char time[CKPD__TIME_TEXT];
        ckpd__wall_print(f->series->start_s + (int64_t)first_filled * f->series->step_s +
                             f->series->local_offset[first_filled],
                         time);
        ckpd__log(f->table->context, CKPD_LOG_WARNING, CKPD_MSG_FILE,
                  "%scolumn '%s': %d of %d values filled by %s, the first for %s", f->table->source,
                  column->name, column->filled, f->series->slots, rule_names[f->wanted->fill],
                  time);
    }
    return CKPD_OK;
}

/* --- axis ------------------------------------------------------------------------------------ */

/* A local clock that goes back inside the series would give stamps that come twice: those get an
 * offset. */
static void settle_style(ckpd_series *series)
{
    for (int32_t i = 1; series->style.clock == CKPD__CLOCK_LOCAL && i < series->slots; i++) {
        if (series->local_offset[i] < series->local_offset[i - 1]) {
            series->style.clock = CKPD__CLOCK_OFFSET;
            series->style.date_only = false;
        }
    }
}

static void lay_out(ckpd_series *series, const ckpd__table *table)
{
    const ckpd__row *row = table->rows, *end = row + table->row_count;
    series->start_s = row->utc;
    series->step_s = table->step_s;
    series->label_end = table->label_end;
    series->style = table->style;
    int32_t stamp = row->offset_s, local = row->local_s;
    for (int32_t slot = 0; slot < series->slots; slot++) {
        int64_t utc = series->start_s + (int64_t)slot * series->step_s;
        const double *values = NULL;
        if (row < end && row->utc == utc) {
            stamp = row->offset_s;
            local = row->local_s;
            values = table->values + (size_t)row->values * (size_t)table->column_count;
            row++;
        } else if (table->zone != NULL) {
            local = ckpd__zone_offset(table->zone, utc);
            stamp = series->style.clock == CKPD__CLOCK_LOCAL ? local : stamp;
        }
        series->stamp_offset[slot] = stamp;
        series->local_offset[slot] = local;
        for (int32_t c = 0; c < table->column_count; c++) {
            /* Energy of a slot becomes its mean power. */
            double scale =
                table->columns[c].unit.quantity == CKPD__ENERGY ? 3600.0 / series->step_s : 1;
            series->columns[c].values[slot] = values != NULL ? values[c] * scale : (double)NAN;
        }
    }
    settle_style(series);
}

int32_t ckpd__table_build(ckpd_series **out, const ckpd__table *table)
{
    int32_t slots = slot_of(table, &table->rows[table->row_count - 1]) + 1;
    ckpd_series *series = ckpd__series_new(table->context, slots, table->column_count);
    if (series == NULL) {
        return ckpd__no_memory(table->context);
    }
    int32_t status = CKPD_OK;
    for (int32_t c = 0; c < table->column_count; c++) {
        ckpd__column *column = &series->columns[c];
        column->name = ckpd__strdup(table->context, table->columns[c].name);
        status = column->name != NULL ? status : ckpd__no_memory(table->context);
        column->quantity = table->columns[c].unit.quantity == CKPD__ENERGY
                               ? CKPD__POWER
                               : table->columns[c].unit.quantity;
    }
    if (status == CKPD_OK) {
        lay_out(series, table);
    }
    for (int32_t c = 0; c < table->column_count && status == CKPD_OK; c++) {
        filling f = {table, series, c, table->columns[c].wanted};
        status = fill_column(&f);
    }
    if (status != CKPD_OK) {
        ckpd_series_free(series);
        return status;
    }
    *out = series;
    return CKPD_OK;
}
