/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Inside of the series: axis, columns, options, and the steps of reading. */
#ifndef CKPD_LIB_IO_SERIES_H
#define CKPD_LIB_IO_SERIES_H

#include "base/base.h"
#include "io/timezone.h"

#include <ckptdispatch/series.h>
#include <stdatomic.h>

/* --- units ----------------------------------------------------------------------------------- */

typedef enum ckpd__quantity {
    CKPD__PLAIN,    /* values as they are */
    CKPD__POWER,    /* kW */
    CKPD__ENERGY,   /* kWh per slot, turned into kW when the slot length is known */
    CKPD__PRICE,    /* money/MWh */
    CKPD__INTENSITY /* kg/MWh */
} ckpd__quantity;

typedef struct ckpd__unit {
    ckpd__quantity quantity;
    double factor; /* value in our unit = value in the file * factor */
} ckpd__unit;

/* "MW", "EUR/MWh", "1"; false when unknown. */
bool ckpd__unit_parse(const char *text, size_t length, ckpd__unit *unit);
/* From a header "Wind [MW]" or "wind_mw"; *base is the length of the name without a bracket. False:
 * none there. */
bool ckpd__unit_of_header(const char *header, ckpd__unit *unit, size_t *base);
const char *ckpd__unit_text(ckpd__quantity quantity);

/* --- time labels ----------------------------------------------------------------------------- */

enum { CKPD__YMD, CKPD__MDY, CKPD__DMY }; /* positions of the choice "date_order" */
enum { CKPD__TIME_TEXT = 48 };

typedef enum ckpd__clock {
    CKPD__CLOCK_LOCAL,  /* no offset written */
    CKPD__CLOCK_OFFSET, /* +hh:mm or the like */
    CKPD__CLOCK_Z,
    CKPD__CLOCK_EPOCH
} ckpd__clock;

/* How a label is written; kept so that stamps come back the same. */
typedef struct ckpd__stamp_style {
    ckpd__clock clock;
    char between;     /* 'T', 't' or ' ' */
    char offset_form; /* ':' for +hh:mm, '4' for +hhmm, '2' for +hh */
    char fraction;    /* zeros after the seconds: "12:00:00.000" has 3 */
    bool seconds, date_only, minus_zero, space_before_offset;
    bool foreign; /* not ISO-8601: comes back as ISO-8601 with offset */
} ckpd__stamp_style;

typedef struct ckpd__label {
    int64_t wall;     /* local clock; epoch seconds for epoch labels */
    int32_t offset_s; /* of labels that carry one */
    ckpd__stamp_style style;
} ckpd__label;

/* NULL, or what is wrong with the text. */
const char *ckpd__label_parse(const char *text, int32_t date_order, ckpd__label *label);
/* The same for "TIME - TIME" too, of which the first time counts, or the last where `end`. */
const char *ckpd__label_parse_range(const char *text, int32_t date_order, bool end,
                                    ckpd__label *label);
/* Number of the slot in the day of a label, from 1 on. NULL or what is wrong. */
const char *ckpd__label_add_period(const char *text, ckpd__label *label, int32_t *period);
/* Hour of a label in a column of its own: "7", "07:00", "24:00". NULL or what is wrong. */
const char *ckpd__label_add_hour(const char *text, ckpd__label *label);
void ckpd__label_print(const ckpd__stamp_style *style, int64_t utc, int32_t offset_s,
                       char text[CKPD__TIME_TEXT]);
/* "2024-03-10T01:00" of a wall time, for messages. */
void ckpd__wall_print(int64_t wall, char text[CKPD__TIME_TEXT]);

/* A side of a window. NULL or what is wrong with the text. */
typedef struct ckpd__bound {
    bool given, is_utc;
    int64_t time; /* UTC or wall */
} ckpd__bound;
const char *ckpd__bound_parse(const char *text, ckpd__bound *bound);

/* --- options --------------------------------------------------------------------------------- */

enum { CKPD__MOST_COLUMNS = 256, CKPD__MOST_FILTERS = 16 };
enum { CKPD__FILL_REFUSE, CKPD__FILL_HOLD, CKPD__FILL_LINEAR, CKPD__FILL_FROM };
enum { CKPD__LABEL_AUTO, CKPD__LABEL_START, CKPD__LABEL_END };

/* In the order of the field table. */
enum {
    CKPD__OPTION_SLOT_MINUTES,
    CKPD__OPTION_LONGEST_GAP,
    CKPD__OPTION_HEADER_ROW,
    CKPD__OPTION_SORT,
    CKPD__OPTION_LABEL,
    CKPD__OPTION_DECIMAL,
    CKPD__OPTION_DELIMITER,
    CKPD__OPTION_DATE_ORDER,
    CKPD__OPTION_GAPS,
    CKPD__OPTION_FIRST_TEXT,
    CKPD__OPTION_TIME_COLUMN = CKPD__OPTION_FIRST_TEXT,
    CKPD__OPTION_HOUR_COLUMN,
    CKPD__OPTION_PERIOD_COLUMN,
    CKPD__OPTION_REPEAT_COLUMN,
    CKPD__OPTION_ZONE,
    CKPD__OPTION_ZONE_FOLDER,
    CKPD__OPTION_FROM,
    CKPD__OPTION_UNTIL,
    CKPD__OPTION_COUNT
};
enum { CKPD__TEXT_OPTIONS = CKPD__OPTION_COUNT - CKPD__OPTION_FIRST_TEXT };

typedef struct ckpd__wanted_column {
    char *name;
    bool has_unit;
    ckpd__unit unit;
    int32_t fill;
    ckpd_series *other; /* held */
    int32_t other_column;
} ckpd__wanted_column;

typedef struct ckpd__filter {
    char *column, *text;
} ckpd__filter;

struct ckpd_series_options {
    CKPD__HANDLE;
    double values[CKPD__OPTION_COUNT];
    char *texts[CKPD__TEXT_OPTIONS]; /* NULL: not given */
    ckpd__wanted_column *columns;
    ckpd__filter *filters;
    int32_t column_count, filter_count;
};

/* "" when not given; `option` is CKPD__OPTION_TIME_COLUMN or a later one. */
const char *ckpd__option_text(const ckpd_series_options *options, int32_t option);

/* --- series ---------------------------------------------------------------------------------- */

typedef struct ckpd__column {
    char *name;
    ckpd__quantity quantity;
    int32_t filled;
    double *values;
    unsigned char *is_filled; /* NULL when nothing was */
} ckpd__column;

struct ckpd_series {
    CKPD__HANDLE;
    atomic_int_least32_t holders;
    int32_t slots, column_count;
    int64_t start_s;
    int32_t step_s;
    bool label_end;
    ckpd__stamp_style style;
    int32_t *stamp_offset; /* of the label, one per slot */
    int32_t *local_offset; /* of the local clock at the slot's start, for windows by date */
    ckpd__column *columns;
};

/* Room for slots and columns, all zero; NULL when out of memory. */
ckpd_series *ckpd__series_new(ckpd_context *context, int32_t slots, int32_t columns);
ckpd_series *ckpd__series_retain(const ckpd_series *series);
int32_t ckpd__series_mark_filled(ckpd_series *series, int32_t column, int32_t slot);

/* --- reading --------------------------------------------------------------------------------- */

typedef struct ckpd__row {
    int64_t line;
    int64_t wall;     /* local clock at the slot's start, once the slot length is known; else of the
                         label */
    int64_t utc;      /* start of the slot */
    int32_t offset_s; /* of the label */
    int32_t local_s;  /* offset of the local clock at the start */
    int32_t values;   /* position of the row's values */
    int32_t period;   /* number of the slot in the day `wall`, 0: `wall` is a time */
    bool second;      /* the repeat column says: second pass of a repeated hour */
} ckpd__row;

typedef struct ckpd__source_column {
    const ckpd__wanted_column *wanted; /* NULL: taken because none was asked for */
    char *name;
    int32_t field; /* position in the rows of the file */
    ckpd__unit unit;
} ckpd__source_column;

/* The text of a CSV file as rows of times and numbers, before they become an axis. */
typedef struct ckpd__table {
    ckpd_context *context;
    const ckpd_series_options *options;
    const char *source; /* "" or "FILE: " */
    ckpd__zone *zone;   /* NULL when none was given */
    ckpd__source_column *columns;
    int32_t column_count;
    ckpd__row *rows;
    int32_t row_count, row_room;
    double *values; /* row after row; NaN: missing */
    ckpd__stamp_style style;
    bool label_end;
    int32_t step_s;
    ckpd__bound from, until; /* of the window, once read */
} ckpd__table;

int32_t ckpd__table_read(ckpd__table *table, const char *text, size_t length); /* series_read.c */
/* Slot length, starts, order; then nothing is missing but what `gaps` allows. */
int32_t ckpd__table_axis(ckpd__table *table);   /* series_axis.c */
int32_t ckpd__table_window(ckpd__table *table); /* series_window.c */
int32_t ckpd__table_localize(ckpd__table *table);
int32_t ckpd__table_covers(const ckpd__table *table);
int32_t ckpd__table_build(ckpd_series **out, const ckpd__table *table); /* series_fill.c */

#endif
