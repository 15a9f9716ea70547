/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* New series from old: windows, other slot lengths; and the way into a site. */
#include "io/series.h"

#include <math.h>
#include <string.h>

/* An empty series with the columns of another, for slots first, first + stride, ... of it. */
static int32_t like(ckpd_series **out, const ckpd_series *from, int32_t slots)
{
    ckpd_series *series = ckpd__series_new(from->context, slots, from->column_count);
    if (series == NULL) {
        return ckpd__no_memory(from->context);
    }
    series->start_s = from->start_s;
    series->step_s = from->step_s;
    series->label_end = from->label_end;
    series->style = from->style;
    for (int32_t c = 0; c < from->column_count; c++) {
        series->columns[c].quantity = from->columns[c].quantity;
        series->columns[c].name = ckpd__strdup(from->context, from->columns[c].name);
        if (series->columns[c].name == NULL) {
            ckpd_series_free(series);
            return ckpd__no_memory(from->context);
        }
    }
    *out = series;
    return CKPD_OK;
}

static int32_t copy_filled(ckpd_series *to, const ckpd_series *from, int32_t to_slot,
                           int32_t from_slot)
{
    for (int32_t c = 0; c < to->column_count; c++) {
        if (ckpd_series_is_filled(from, c, from_slot) &&
            ckpd__series_mark_filled(to, c, to_slot) != CKPD_OK) {
            return ckpd__no_memory(from->context);
        }
    }
    return CKPD_OK;
}

/* --- windows --------------------------------------------------------------------------------- */

/* Slot that begins at the bound, `slots` for the end of the series, -1 when there is none. */
static int32_t slot_at(const ckpd_series *series, const ckpd__bound *bound)
{
    for (int32_t i = 0; i <= series->slots; i++) {
        int64_t utc = ckpd_series_start_s(series, i);
        int64_t wall = utc + series->local_offset[i < series->slots ? i : series->slots - 1];
        if ((bound->is_utc ? utc : wall) == bound->time) {
            return i;
        }
        /* A midnight that the clock jumps over is where it jumps. */
        if (!bound->is_utc && i > 0 && i < series->slots && wall > bound->time &&
            utc + series->local_offset[i - 1] == bound->time) {
            return i;
        }
    }
    return -1;
}

/* Says how far outside the series the bound lies, or that it lies inside a slot. */
static int32_t refuse_bound(const ckpd_series *series, const char *field, const char *text,
                            const ckpd__bound *bound)
{
    const ckpd__stamp_style style = {
        .clock = CKPD__CLOCK_OFFSET, .between = 'T', .offset_form = ':'};
    int32_t before = series->local_offset[0], after = series->local_offset[series->slots - 1];
    int64_t begin = series->start_s, end = ckpd_series_start_s(series, series->slots);
    int64_t early = begin + (bound->is_utc ? 0 : before) - bound->time;
    int64_t late = bound->time - end - (bound->is_utc ? 0 : after);
    char first[CKPD__TIME_TEXT], last[CKPD__TIME_TEXT],
        where[64] = "is no boundary of a slot of the series";
    ckpd__label_print(&style, begin, before, first);
    ckpd__label_print(&style, end, after, last);
    if (early > 0 || late > 0) {
        int64_t far = early > 0 ? early : late;
        bool hours = far % 3600 == 0;
        ckpd__format(where, sizeof where, "lies %g %s %s the series",
                     (double)far / (hours ? 3600 : 60), hours ? "h" : "minutes",
                     early > 0 ? "before" : "after");
    }
    return ckpd__fail(series->context, CKPD_ERR_MISSING, field, -1, (double)NAN,
                      "%s = '%s' %s, which goes from %s to %s in slots of %g minutes", field, text,
                      where, first, last, series->step_s / 60.0);
}

static int32_t find_bound(const ckpd_series *series, const char *field, const char *text,
                          int32_t otherwise, int32_t *slot)
{
    ckpd__bound bound;
    const char *wrong = ckpd__bound_parse(text, &bound);
    if (wrong != NULL) {
        return ckpd__fail(series->context, CKPD_ERR_SYNTAX, field, -1, (double)NAN, "%s = '%s': %s",
                          field, text, wrong);
    }
    *slot = bound.given ? slot_at(series, &bound) : otherwise;
    if (*slot >= 0) {
        return CKPD_OK;
    }
    return refuse_bound(series, field, text, &bound);
}

int32_t ckpd_series_cut(ckpd_series **out, const ckpd_series *series, const char *from,
                        const char *until)
{
    CKPD__REFUSE_FOREIGN(NULL, series, CKPD__SERIES);
    if (series == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = series->context;
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    int32_t first, end;
    int32_t status = find_bound(series, "from", from, 0, &first);
    status = status == CKPD_OK ? find_bound(series, "until", until, series->slots, &end) : status;
    if (status != CKPD_OK) {
        return status;
    }
    if (end <= first) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "until", -1, (double)NAN,
                          "the window from '%s' until '%s' is empty", from != NULL ? from : "",
                          until != NULL ? until : "");
    }
    ckpd_series *cut;
    status = like(&cut, series, end - first);
    if (status != CKPD_OK) {
        return status;
    }
    size_t slots = (size_t)(end - first);
    cut->start_s = ckpd_series_start_s(series, first);
    memcpy(cut->stamp_offset, series->stamp_offset + first, slots * sizeof *cut->stamp_offset);
    memcpy(cut->local_offset, series->local_offset + first, slots * sizeof *cut->local_offset);
    for (int32_t c = 0; c < cut->column_count; c++) {
        memcpy(cut->columns[c].values, series->columns[c].values + first, slots * sizeof(double));
    }
    for (int32_t i = 0; i < cut->slots && status == CKPD_OK; i++) {
        status = copy_filled(cut, series, i, first + i);
    }
    if (status != CKPD_OK) {
        ckpd_series_free(cut);
        return status;
    }
    *out = cut;
    return CKPD_OK;
}

/* --- slot length ----------------------------------------------------------------------------- */

/* Mean of equal numbers is that number to the last bit. */
static double mean(const double *values, int32_t count)
{
    double sum = 0;
    for (int32_t i = 1; i < count; i++) {
        sum += values[i] - values[0];
    }
    return values[0] + sum / count;
}

static double least(const double *values, int32_t count)
{
    double found = values[0];
    for (int32_t i = 1; i < count; i++) {
        found = fmin(found, values[i]);
    }
    return found;
}

static int32_t make_longer(ckpd_series *to, const ckpd_series *from, int32_t ratio,
                           double (*join)(const double *, int32_t))
{
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < to->slots && status == CKPD_OK; i++) {
        int32_t first = i * ratio;
        to->stamp_offset[i] = from->stamp_offset[from->label_end ? first + ratio - 1 : first];
        to->local_offset[i] = from->local_offset[first];
        for (int32_t c = 0; c < to->column_count; c++) {
            to->columns[c].values[i] = join(from->columns[c].values + first, ratio);
        }
        for (int32_t k = 0; k < ratio && status == CKPD_OK; k++) {
            status = copy_filled(to, from, i, first + k);
        }
    }
    return status;
}

static int32_t make_shorter(ckpd_series *to, const ckpd_series *from, int32_t ratio)
{
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < to->slots && status == CKPD_OK; i++) {
        to->stamp_offset[i] = from->stamp_offset[i / ratio];
        to->local_offset[i] = from->local_offset[i / ratio];
        for (int32_t c = 0; c < to->column_count; c++) {
            to->columns[c].values[i] = from->columns[c].values[i / ratio];
        }
        status = copy_filled(to, from, i, i / ratio);
    }
    return status;
}

/* Checks that whole slots of `step` seconds can be made; *slots is their number. */
static int32_t plan_resample(const ckpd_series *series, int32_t step, int32_t *slots)
{
    ckpd_context *context = series->context;
    double minutes = step / 60.0, own = series->step_s / 60.0;
    if (step % series->step_s != 0 && series->step_s % step != 0) {
        return ckpd__fail(context, CKPD_ERR_NOT_SUPPORTED, "slot_minutes", -1, minutes,
                          "slots of %g minutes cannot be made from slots of %g minutes: one must "
                          "be a multiple of the "
                          "other",
                          minutes, own);
    }
    if (step < series->step_s) {
        int64_t count = (int64_t)series->slots * (series->step_s / step);
        *slots = (int32_t)count;
        return count <= CKPD_SERIES_MOST_SLOTS
                   ? CKPD_OK
                   : ckpd__fail(context, CKPD_ERR_RANGE, "slot_minutes", -1, minutes,
                                "slots of %g minutes would be %L; at most %d are supported",
                                minutes, count, CKPD_SERIES_MOST_SLOTS);
    }
    int64_t wall = series->start_s + series->local_offset[0];
    if (wall - ckpd__floor_div(wall, step) * step != 0) {
        char text[CKPD__TIME_TEXT];
        ckpd__wall_print(wall, text);
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "slot_minutes", 0, minutes,
                          "the series begins at %s, not on a boundary of slots of %g minutes", text,
                          minutes);
    }
    int32_t ratio = step / series->step_s;
    if (series->slots % ratio != 0) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "slot_minutes", -1, minutes,
                          "%d slots of %g minutes do not make whole slots of %g minutes",
                          series->slots, own, minutes);
    }
    *slots = series->slots / ratio;
    return CKPD_OK;
}

static int32_t resample(ckpd_series **out, const ckpd_series *series, double slot_minutes,
                        double (*join)(const double *, int32_t))
{
    if (series == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = series->context;
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    int32_t status = ckpd__check_range(context, "slot_minutes", -1, slot_minutes, 1, 1440);
    if (status != CKPD_OK) {
        return status;
    }
    int32_t step = (int32_t)(slot_minutes * 60 + 0.5), slots = 0;
    if (fabs(slot_minutes * 60 - step) > 1e-6) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "slot_minutes", -1, slot_minutes,
                          "slot_minutes = %g is not a whole number of seconds", slot_minutes);
    }
    ckpd_series *made = NULL;
    status = plan_resample(series, step, &slots);
    if (status == CKPD_OK) {
        status = like(&made, series, slots);
    }
    if (status == CKPD_OK) {
        made->step_s = step;
        status = step >= series->step_s ? make_longer(made, series, step / series->step_s, join)
                                        : make_shorter(made, series, series->step_s / step);
    }
    if (status != CKPD_OK) {
        ckpd_series_free(made);
        return status;
    }
    *out = made;
    return CKPD_OK;
}

int32_t ckpd_series_resample(ckpd_series **out, const ckpd_series *series, double slot_minutes)
{
    CKPD__REFUSE_FOREIGN(NULL, series, CKPD__SERIES);
    return resample(out, series, slot_minutes, mean);
}

int32_t ckpd_series_resample_cap(ckpd_series **out, const ckpd_series *series, double slot_minutes)
{
    CKPD__REFUSE_FOREIGN(NULL, series, CKPD__SERIES);
    return resample(out, series, slot_minutes, least);
}

/* --- site ------------------------------------------------------------------------------------ */

static int32_t check_unit(ckpd_context *context, const ckpd__column *column, const char *name)
{
    ckpd_field_info info = {.size = sizeof info};
    for (int32_t i = 0; i < ckpd_site_series_count(); i++) {
        ckpd_site_series_info(i, &info);
        if (strcmp(info.name, name) == 0) {
            const char *unit = ckpd__unit_text(column->quantity);
            if (strcmp(unit, info.unit) == 0 ||
                (info.unit[0] != 'k' && info.unit[0] != 'm' && unit[0] == '\0')) {
                return CKPD_OK;
            }
            return ckpd__fail(context, CKPD_ERR_INCONSISTENT, column->name, -1, (double)NAN,
                              "column '%s' %s%s, %s needs %s%s", column->name,
                              unit[0] != '\0' ? "is in " : "has no unit", unit, name, info.unit,
                              unit[0] != '\0'       ? ""
                              : info.unit[0] == 'm' ? ": give its unit, such as EUR/MWh or ct/kWh"
                                                    : ": give its unit, such as MW or kWh");
        }
    }
    return CKPD_OK; /* the site knows which names there are */
}

int32_t ckpd_series_to_site(const ckpd_series *series, int32_t column, double factor,
                            ckpd_site *site, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, series, CKPD__SERIES);
    CKPD__REFUSE_FOREIGN(series, site, CKPD__SITE);
    if (series == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = series->context;
    if (site == NULL || name == NULL) {
        return ckpd__null_argument(context, site == NULL ? "site" : "name");
    }
    if (column < 0 || column >= series->column_count) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "column", column, column,
                          "the series has %d columns, no column %d", series->column_count, column);
    }
    const ckpd__column *c = &series->columns[column];
    int32_t status = ckpd__check_finite(context, "factor", -1, factor);
    status = status == CKPD_OK ? check_unit(context, c, name) : status;
    if (status == CKPD_OK && fabs(ckpd_site_slot_hours(site) * 3600 - series->step_s) > 1e-6) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, name, -1, ckpd_series_slot_hours(series),
                          "column '%s' has slots of %g hours, the site slots of %g hours", c->name,
                          ckpd_series_slot_hours(series), ckpd_site_slot_hours(site));
    }
    if (status != CKPD_OK) {
        return status;
    }
    double *scaled = ckpd__memdup(context, c->values, (size_t)series->slots, sizeof *scaled);
    if (scaled == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t i = 0; i < series->slots; i++) {
        scaled[i] *= factor;
    }
    status = ckpd_site_set_series(site, name, scaled, series->slots);
    ckpd__free(context, scaled);
    return status;
}
