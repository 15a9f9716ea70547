/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Time labels as they stand in files: ISO 8601 and RFC 3339, epoch seconds, other date orders,
 * hours of their own. */
#include "io/series.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads `least` to `most` digits; the number of digits read, 0 when there are too few. */
static int32_t digits(const char **at, int32_t least, int32_t most, int32_t *value)
{
    int32_t count = 0, number = 0;
    while (count < most && is_digit((*at)[count])) {
        number = number * 10 + ((*at)[count++] - '0');
    }
    if (count < least) {
        return 0;
    }
    *at += count;
    *value = number;
    return count;
}

static bool take(const char **at, char wanted)
{
    if (**at == wanted) {
        ++*at;
        return true;
    }
    return false;
}

static const char DAY_NUMBER[] =
    "a spreadsheet's day number: format the column as a date, YYYY-MM-DD hh:mm, before saving";

static const char *read_epoch(const char *text, ckpd__label *label)
{
    const char *at = text + (text[0] == '-');
    size_t length = strlen(at);
    int64_t seconds = 0;
    if (length == 5 && at[0] >= '2') {
        return DAY_NUMBER;
    }
    if (length < 9 || at[0] == '0') {
        return length == 8 ? "a date without dashes: write YYYY-MM-DD"
                           : "neither a date nor epoch seconds";
    }
    if ((length == 12 || length == 14) && (at[0] == '1' || at[0] == '2') && at[4] <= '1') {
        return "a date and time without dashes: write YYYY-MM-DD hh:mm";
    }
    if (length > 11) {
        return "epoch time in milliseconds or finer: seconds are expected";
    }
    for (; *at != '\0'; at++) {
        seconds = seconds * 10 + (*at - '0');
    }
    label->wall = text[0] == '-' ? -seconds : seconds;
    label->offset_s = 0;
    label->style = (ckpd__stamp_style){.clock = CKPD__CLOCK_EPOCH};
    return NULL;
}

static const char *read_date(const char **at, int32_t order, ckpd__label *label)
{
    int32_t part[3] = {0}; /* year, month, day in the order of the text */
    int32_t year = order == CKPD__YMD ? 0 : 2, month = order == CKPD__MDY ? 0 : 1;
    int32_t day = order == CKPD__YMD ? 2 : order == CKPD__MDY ? 1 : 0;
    char separator = '\0';
    bool short_part = false;
    for (int32_t i = 0; i < 3; i++) {
        int32_t count = i == year ? digits(at, 4, 4, &part[i]) : digits(at, 1, 2, &part[i]);
        int32_t ignored;
        if (count == 0 && i == year && i > 0 && digits(at, 2, 2, &ignored) > 0) {
            return "the year has two digits: write four";
        }
        if (count == 0 && i > 0 && (**at | 0x20) >= 'a' && (**at | 0x20) <= 'z') {
            return "not a date in numbers: write the month as 01 to 12";
        }
        if (count == 0) {
            return order == CKPD__YMD ? "not a date YYYY-MM-DD"
                                      : "not a date in the order of date_order";
        }
        short_part = short_part || count == 1;
        if (i < 2 && ((i == 1 && **at != separator) || (separator = **at) == '\0' ||
                      strchr("-/.", separator) == NULL)) {
            return "not a date YYYY-MM-DD";
        }
        *at += i < 2;
    }
    if (part[year] < 1 || part[month] < 1 || part[month] > 12 || part[day] < 1 ||
        part[day] > ckpd__days_in_month(part[year], part[month])) {
        return "there is no such date";
    }
    label->wall = ckpd__days_of_date(part[year], part[month], part[day]) * 86400;
    label->style.foreign = order != CKPD__YMD || separator != '-' || short_part;
    return NULL;
}

static const char *read_clock(const char **at, ckpd__label *label)
{
    int32_t hour, minute, second = 0;
    if (digits(at, 1, 2, &hour) == 0 || !take(at, ':') || digits(at, 2, 2, &minute) == 0) {
        return "no time hh:mm after the date";
    }
    if (take(at, ':')) {
        if (digits(at, 2, 2, &second) == 0) {
            return "no time hh:mm:ss after the date";
        }
        label->style.seconds = true;
        if (take(at, '.')) {
            int32_t fraction, count = digits(at, 1, 9, &fraction);
            if (count == 0 || fraction != 0) {
                return "fractions of a second are not supported";
            }
            label->style.fraction = (char)count;
        }
    }
    const char *half = *at + (**at == ' ');
    char letter = (char)(*half | 0x20);
    if ((letter == 'a' || letter == 'p') && (half[1] | 0x20) == 'm') {
        if (hour < 1 || hour > 12) {
            return "there is no such time of day on a clock of 12 hours";
        }
        hour = hour % 12 + (letter == 'p' ? 12 : 0);
        label->style.foreign = true;
        *at = half + 2;
    }
    if (hour > 24 || minute > 59 || second > 59 || (hour == 24 && (minute > 0 || second > 0))) {
        return "there is no such time of day";
    }
    label->wall += hour * 3600 + minute * 60 + second;
    return NULL;
}

static const char *read_offset(const char **at, ckpd__label *label)
{
    ckpd__stamp_style *style = &label->style;
    style->space_before_offset = take(at, ' ');
    if (take(at, 'Z') || take(at, 'z')) {
        style->clock = CKPD__CLOCK_Z;
        return NULL;
    }
    bool negative = **at == '-';
    if (!negative && **at != '+') {
        return "text after the time that is no offset (zone letters are not read: set zone)";
    }
    ++*at;
    int32_t hours, minutes = 0;
    if (digits(at, 2, 2, &hours) == 0) {
        return "not an offset +hh:mm";
    }
    style->offset_form = '2';
    if (take(at, ':')) {
        style->offset_form = ':';
    } else if (is_digit(**at)) {
        style->offset_form = '4';
    }
    if ((style->offset_form != '2' && digits(at, 2, 2, &minutes) == 0) || hours > 18 ||
        minutes > 59) {
        return "not an offset +hh:mm";
    }
    style->clock = CKPD__CLOCK_OFFSET;
    label->offset_s = (hours * 60 + minutes) * (negative ? -60 : 60);
    style->minus_zero = negative && label->offset_s == 0;
    return NULL;
}

const char *ckpd__label_parse(const char *text, int32_t date_order, ckpd__label *label)
{
    *label =
        (ckpd__label){.style = {.clock = CKPD__CLOCK_LOCAL, .between = 'T', .offset_form = ':'}};
    const char *first_other = text + (text[0] == '-');
    while (is_digit(*first_other)) {
        first_other++;
    }
    if (*first_other == '\0' && first_other > text) {
        return read_epoch(text, label);
    }
    if (first_other == text + 5 && *first_other == '.' && text[0] >= '2' && text[0] <= '9' &&
        first_other[1 + strspn(first_other + 1, "0123456789")] == '\0') {
        return DAY_NUMBER;
    }
    const char *at = text;
    const char *wrong = read_date(&at, date_order, label);
    if (wrong == NULL && *at == '\0') {
        label->style.date_only = true;
        return NULL;
    }
    if (wrong == NULL) {
        label->style.between = *at;
        wrong = take(&at, 'T') || take(&at, 't') || take(&at, ' ')
                    ? read_clock(&at, label)
                    : "text after the date that is no time";
    }
    if (wrong == NULL && *at != '\0') {
        wrong = read_offset(&at, label);
    }
    return wrong == NULL && *at != '\0' ? "text after the time" : wrong;
}

const char *ckpd__label_parse_range(const char *text, int32_t date_order, bool end,
                                    ckpd__label *label)
{
    const char *dash = strstr(text, " - ");
    if (dash == NULL) {
        return ckpd__label_parse(text, date_order, label);
    }
    char first[CKPD__TIME_TEXT];
    size_t length = (size_t)(dash - text);
    if (length >= sizeof first) {
        return "not a range of two times";
    }
    memcpy(first, text, length);
    first[length] = '\0';
    ckpd__label from, until;
    const char *wrong = ckpd__label_parse(first, date_order, &from);
    if (wrong == NULL) {
        wrong = ckpd__label_parse(dash + 3, date_order, &until);
    }
    if (wrong != NULL) {
        return wrong;
    }
    /* Local times go back where the clock does: by an hour at most. */
    int64_t seconds = until.wall - until.offset_s - (from.wall - from.offset_s);
    if (seconds < (from.style.clock == CKPD__CLOCK_LOCAL ? -3600 : 1)) {
        return "the range ends before it begins";
    }
    *label = end ? until : from;
    label->style.foreign = true;
    return NULL;
}

const char *ckpd__label_add_period(const char *text, ckpd__label *label, int32_t *period)
{
    if (!label->style.date_only) {
        return "the time column already holds times of day, not dates alone";
    }
    if (digits(&text, 1, 5, period) == 0 || *text != '\0' || *period < 1) {
        return "not the number of a slot of the day, which counts from 1";
    }
    label->style.date_only = false;
    label->style.seconds = true;
    label->style.foreign = true;
    return NULL;
}

const char *ckpd__label_add_hour(const char *text, ckpd__label *label)
{
    int32_t hour = 0, minute = 0;
    if (!label->style.date_only) {
        return "the time column already holds times of day, not dates alone";
    }
    if (digits(&text, 1, 2, &hour) == 0 ||
        (take(&text, ':') && digits(&text, 2, 2, &minute) == 0) ||
        (take(&text, ':') && digits(&text, 2, 2, &(int32_t){0}) == 0) || *text != '\0' ||
        minute > 59) {
        return "not an hour";
    }
    if (hour * 60 + minute > 24 * 60) {
        return "there is no such hour: rows of a repeated hour need times with offset or a "
               "repeat_column, numbers of slots of the day a period_column";
    }
    label->wall += hour * 3600 + minute * 60;
    label->style.date_only = false;
    label->style.seconds = true;
    label->style.foreign = true;
    return NULL;
}

static void put_two(char **at, int64_t value)
{
    *(*at)++ = (char)('0' + value / 10 % 10);
    *(*at)++ = (char)('0' + value % 10);
}

static char *put_date(char *at, int64_t wall)
{
    ckpd__date date = ckpd__date_of_days(ckpd__floor_div(wall, 86400));
    put_two(&at, date.year / 100);
    put_two(&at, date.year);
    *at++ = '-';
    put_two(&at, date.month);
    *at++ = '-';
    put_two(&at, date.day);
    return at;
}

void ckpd__wall_print(int64_t wall, char text[CKPD__TIME_TEXT])
{
    int64_t second = wall - ckpd__floor_div(wall, 86400) * 86400;
    char *at = put_date(text, wall);
    *at++ = 'T';
    put_two(&at, second / 3600);
    *at++ = ':';
    put_two(&at, second / 60 % 60);
    if (second % 60 != 0) {
        *at++ = ':';
        put_two(&at, second % 60);
    }
    *at = '\0';
}

static char *put_offset(char *at, const ckpd__stamp_style *style, int32_t offset_s)
{
    int32_t minutes = (offset_s < 0 ? -offset_s : offset_s) / 60;
    if (style->space_before_offset) {
        *at++ = ' ';
    }
    *at++ = offset_s < 0 || (offset_s == 0 && style->minus_zero) ? '-' : '+';
    put_two(&at, minutes / 60);
    if (style->offset_form == ':') {
        *at++ = ':';
    }
    if (style->offset_form != '2' || minutes % 60 != 0) {
        put_two(&at, minutes % 60);
    }
    return at;
}

void ckpd__label_print(const ckpd__stamp_style *style, int64_t utc, int32_t offset_s,
                       char text[CKPD__TIME_TEXT])
{
    if (style->clock == CKPD__CLOCK_EPOCH) {
        ckpd__format(text, CKPD__TIME_TEXT, "%L", utc);
        return;
    }
    int64_t wall = style->clock == CKPD__CLOCK_Z ? utc : utc + offset_s;
    int64_t second = wall - ckpd__floor_div(wall, 86400) * 86400;
    char *at = put_date(text, wall);
    if (style->date_only && second == 0) {
        *at = '\0';
        return;
    }
    *at++ = style->between;
    put_two(&at, second / 3600);
    *at++ = ':';
    put_two(&at, second / 60 % 60);
    if (style->seconds || second % 60 != 0) {
        *at++ = ':';
        put_two(&at, second % 60);
    }
    if (style->fraction > 0) {
        *at++ = '.';
        memset(at, '0', (size_t)style->fraction);
        at += style->fraction;
    }
    if (style->clock == CKPD__CLOCK_OFFSET || style->foreign) {
        at = put_offset(at, style, offset_s);
    } else if (style->clock == CKPD__CLOCK_Z) {
        if (style->space_before_offset) {
            *at++ = ' ';
        }
        *at++ = 'Z';
    }
    *at = '\0';
}

const char *ckpd__bound_parse(const char *text, ckpd__bound *bound)
{
    *bound = (ckpd__bound){.given = text != NULL && text[0] != '\0'};
    if (!bound->given) {
        return NULL;
    }
    ckpd__label label;
    const char *wrong = ckpd__label_parse(text, CKPD__YMD, &label);
    bound->is_utc = label.style.clock != CKPD__CLOCK_LOCAL;
    bound->time = label.wall - label.offset_s;
    return wrong;
}
