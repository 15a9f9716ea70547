/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file series.h
 * Time series from CSV: prices, wind, solar, load, carbon on one regular time axis. docs/series.md.
 *
 * An error about a row carries the 1-based line of the file as its index and the column as its
 * field. Times are seconds since 1970-01-01T00:00Z; a slot is the half-open interval that begins at
 * its start.
 */
#ifndef CKPTDISPATCH_SERIES_H
#define CKPTDISPATCH_SERIES_H

#include <ckptdispatch/base.h>
#include <ckptdispatch/site.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Most slots of a series. */
enum { CKPD_SERIES_MOST_SLOTS = 4000000 };

/**
 * Columns on a regular time axis. Immutable after build: what reads values, times and stamps may be
 * called from any thread; what makes something new from a series uses its context and is confined
 * as that is.
 */
typedef struct ckpd_series ckpd_series;

/** How a CSV text is to be read. Confined. */
typedef struct ckpd_series_options ckpd_series_options;

/** Makes options with the defaults. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since
 * 0.1 */
CKPD_API int32_t ckpd_series_options_new(ckpd_series_options **out, ckpd_context *context);
/** Ends the options; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_series_options_free(ckpd_series_options *options);
/**
 * Sets a number or flag: slot_minutes, longest_gap_hours, header_row, sort. Units, bounds,
 * defaults: ckpd_series_options_field_info().
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE, CKPD_ERR_ARGUMENT
 * @since 0.1
 */
CKPD_API int32_t ckpd_series_options_set(ckpd_series_options *options, const char *field,
                                         double value);
/**
 * Sets a choice (label, decimal, delimiter, date_order, gaps) or a text (time_column, hour_column,
 * period_column, repeat_column, zone, zone_folder, from, until). Texts are copied and checked when
 * the file is read.
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (longer than 255
 * bytes), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_series_options_set_text(ckpd_series_options *options, const char *field,
                                              const char *text);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_series_options_field_count(void);
/** Describes the i-th field. Any thread. @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_series_options_field_info(int32_t index, ckpd_field_info *out);

/**
 * Asks for a column. When none is asked for, all but those of time and filters are read.
 * @param column  as in the header, with or without its unit in brackets
 * @param unit    "kW", "MW", "kWh", "EUR/MWh", "ct/kWh", "g/kWh", ... or "1" for a pure number;
 * NULL: what the header says ("wind_mw", "price_usd_per_mwh", "Wind [MW]"), a pure number when it
 * says nothing
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_DUPLICATE, CKPD_ERR_UNKNOWN_NAME (unit),
 * CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_series_options_add_column(ckpd_series_options *options, const char *column,
                                                const char *unit);
/**
 * What to do where a column that was asked for has no value (empty, null, nan, n/a, inf): "refuse"
 * (default), "hold" (the value before) or "linear" (between the neighbours). Runs longer than
 * longest_gap_hours are refused in any case.
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME (column, rule), CKPD_ERR_ARGUMENT @since 0.1
 */
CKPD_API int32_t ckpd_series_options_set_fill(ckpd_series_options *options, const char *column,
                                              const char *rule);
/**
 * Missing values come from `source` of another series at the same times, which must have the same
 * slot length and unit; the other series is held by the options.
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME (column, source), CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_series_options_set_fill_from(ckpd_series_options *options, const char *column,
                                                   const ckpd_series *other, const char *source);
/**
 * Keeps only the rows whose field in `column` is `text`, byte for byte. Several filters must all
 * hold.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_series_options_add_filter(ckpd_series_options *options, const char *column,
                                                const char *text);

/**
 * Reads CSV text of `length` bytes (UTF-8). Powers come out in kW, energies per slot as mean power
 * in kW, prices in money/MWh, intensities in kg/MWh.
 * @param options  NULL for the defaults
 * @return CKPD_OK; CKPD_ERR_SYNTAX (a row, number or time that cannot be read),
 * CKPD_ERR_UNKNOWN_NAME (column, zone, unit), CKPD_ERR_MISSING (value, row, zone, or nothing in the
 * window), CKPD_ERR_DUPLICATE (time or column), CKPD_ERR_INCONSISTENT (rows out of order,
 * overlapping or irregular; local times that do not exist or come twice), CKPD_ERR_LENGTH,
 * CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_series_read_text(ckpd_series **out, ckpd_context *context, const char *text,
                                       size_t length, const ckpd_series_options *options);
/** The same from a file. @return as ckpd_series_read_text(), CKPD_ERR_FILE @since 0.1 */
CKPD_API int32_t ckpd_series_read_file(ckpd_series **out, ckpd_context *context, const char *path,
                                       const ckpd_series_options *options);
/** Ends a series; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_series_free(ckpd_series *series);

/** Number of slots. @since 0.1 */
CKPD_API int32_t ckpd_series_slots(const ckpd_series *series);
/** Slot length in hours. @since 0.1 */
CKPD_API double ckpd_series_slot_hours(const ckpd_series *series);
/** Number of columns. @since 0.1 */
CKPD_API int32_t ckpd_series_column_count(const ckpd_series *series);
/** Name of a column as in the header, borrowed; NULL out of range. @since 0.1 */
CKPD_API const char *ckpd_series_column_name(const ckpd_series *series, int32_t column);
/** Unit of a column as its values are given: "kW", "money/MWh", "kg/MWh" or "", static; NULL out of
 * range. @since 0.1 */
CKPD_API const char *ckpd_series_column_unit(const ckpd_series *series, int32_t column);
/** Position of a column by name, -1 when there is none. @since 0.1 */
CKPD_API int32_t ckpd_series_find_column(const ckpd_series *series, const char *name);
/**
 * Copies the values of a column; `count` must equal the number of slots.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (column), CKPD_ERR_LENGTH @since 0.1
 */
CKPD_API int32_t ckpd_series_get(const ckpd_series *series, int32_t column, double *values,
                                 int32_t count);
/** Slots of a column whose value was filled by a rule; -1 out of range. @since 0.1 */
CKPD_API int32_t ckpd_series_filled_count(const ckpd_series *series, int32_t column);
/** 1 when the value of that slot was filled by a rule, else 0. @since 0.1 */
CKPD_API int32_t ckpd_series_is_filled(const ckpd_series *series, int32_t column, int32_t slot);

/** Start of a slot in seconds since 1970-01-01T00:00Z; the end of the series for slot = slots.
 * @since 0.1 */
CKPD_API int64_t ckpd_series_start_s(const ckpd_series *series, int32_t slot);
/**
 * The time stamp of a slot in the form of the file: the same text for a slot that was read from an
 * ISO-8601 or epoch label (of the slot's end where the file labels ends). Other date orders come
 * back as ISO-8601 with offset.
 * @param size  of the buffer; 48 is enough
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (slot), CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_series_stamp(const ckpd_series *series, int32_t slot, char *buffer,
                                   size_t size);

/**
 * Cuts the window [from, until) out. Each is a date ("2024-04-09", its midnight), a local date and
 * time, or one with 'Z' or offset; NULL or "" leaves that side open. Local is the zone of the
 * options, or the offset written in the rows. The series must cover the window exactly.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_SYNTAX, CKPD_ERR_MISSING (with what the series
 * covers), CKPD_ERR_INCONSISTENT (until not after from), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_series_cut(ckpd_series **out, const ckpd_series *series, const char *from,
                                 const char *until);
/**
 * Changes the slot length to a multiple or a divisor. Longer slots take the mean (energy is
 * conserved; a mean price is exact for a load that is constant over the slot), shorter ones repeat
 * (exact for both).
 * @param slot_minutes  1..1440
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_NOT_SUPPORTED (neither multiple nor
 * divisor), CKPD_ERR_INCONSISTENT (first slot not on a boundary of the longer slots),
 * CKPD_ERR_LENGTH (last one not full), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_series_resample(ckpd_series **out, const ckpd_series *series,
                                      double slot_minutes);
/**
 * The same for caps: a longer slot takes the least of its values, because a limit holds all the
 * time. @return as ckpd_series_resample() @since 0.1
 */
CKPD_API int32_t ckpd_series_resample_cap(ckpd_series **out, const ckpd_series *series,
                                          double slot_minutes);
/**
 * Sets a series of a site (ckpd_site_set_series()) from a column, times `factor`. The units must
 * fit: a column without unit is refused for a power or a price.
 * @param name  of the site's series
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (column; value out of bounds),
 * CKPD_ERR_NOT_FINITE (factor), CKPD_ERR_LENGTH (slots differ), CKPD_ERR_INCONSISTENT (slot hours
 * or units differ), CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_series_to_site(const ckpd_series *series, int32_t column, double factor,
                                     ckpd_site *site, const char *name);

#ifdef __cplusplus
}
#endif
#endif
