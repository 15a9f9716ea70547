/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/csv.h"

#include <csv.h>
#include <math.h>
#include <string.h>

enum { MOST_FIELDS = 1024, LONGEST_FIELD = 65535, LONGEST_ROW = 1 << 20 };

typedef struct splitter {
    ckpd_context *context;
    const char *source;
    ckpd__csv_row_fn row;
    void *user;
    int32_t status;
    bool row_ended; /* since the last line began */
    int64_t line;   /* where the row began */
    int32_t count;
    size_t used; /* of `text` */
    size_t room;
    char *text; /* fields of the row, each with its zero */
    size_t starts[MOST_FIELDS];
    const char *fields[MOST_FIELDS];
} splitter;

static int32_t syntax_error(splitter *s, int64_t line, const char *what)
{
    s->status = ckpd__fail(s->context, CKPD_ERR_SYNTAX, "row", line, (double)NAN, "%srow %L: %s",
                           s->source, line, what);
    return s->status;
}

/* libcsv has no place for a user pointer in its memory functions, so it never gets to allocate: the
   field buffer is ours, and a field that would outgrow it is an error. */
static void *refuse_to_grow(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
    return NULL;
}

static void on_field(void *bytes, size_t length, void *user)
{
    splitter *s = user;
    if (s->status != CKPD_OK) {
        return;
    }
    if (s->count == MOST_FIELDS || length >= s->room - s->used) {
        syntax_error(s, s->line,
                     s->count == MOST_FIELDS ? "it has more than 1024 fields"
                                             : "it is longer than 1 MiB");
        return;
    }
    s->starts[s->count++] = s->used;
    if (length > 0) {
        memcpy(s->text + s->used, bytes, length);
    }
    s->used += length;
    s->text[s->used++] = '\0';
}

static void on_row(int terminator, void *user)
{
    splitter *s = user;
    (void)terminator;
    s->row_ended = true;
    if (s->status == CKPD_OK) {
        for (int32_t i = 0; i < s->count; i++) {
            s->fields[i] = s->text + s->starts[i];
        }
        ckpd__csv_row row = {s->line, s->count, s->fields};
        s->status = s->row(&row, s->user);
    }
    s->count = 0;
    s->used = 0;
}

/* --- what is looked at before libcsv sees it ------------------------------------------------- */

/* Length of the UTF-8 character at `at`, 0 when it is none (overlong forms and surrogates count as
 * none). */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    if (at[0] < 0x80) {
        return at[0] != 0;
    }
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool good = (at[0] != 0xe0 || at[1] >= 0xa0) && (at[0] != 0xed || at[1] < 0xa0) &&
                (at[0] != 0xf0 || at[1] >= 0x90) && (at[0] != 0xf4 || at[1] < 0x90);
    return good ? length : 0;
}

static int32_t check_utf8(splitter *s, const char *text, size_t length)
{
    int64_t line = 1;
    size_t step;
    for (size_t i = 0; i < length; i += step) {
        step = utf8_length((const unsigned char *)text + i, length - i);
        if (step == 0) {
            return syntax_error(s, line,
                                text[i] == '\0'
                                    ? "it holds a zero byte (UTF-16?); save the file as UTF-8"
                                    : "it is not UTF-8; save the file as UTF-8");
        }
        bool end = text[i] == '\n' || (text[i] == '\r' && !(i + 1 < length && text[i + 1] == '\n'));
        line += end;
    }
    return CKPD_OK;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* One past the line's end mark (LF, CRLF or CR). */
static size_t next_line(const char *text, size_t at, size_t length)
{
    while (at < length && !is_line_end(text[at])) {
        at++;
    }
    if (at + 1 < length && text[at] == '\r' && text[at + 1] == '\n') {
        return at + 2;
    }
    return at < length ? at + 1 : length;
}

static bool is_comment(const char *text, size_t at, size_t length)
{
    while (at < length && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    return at < length && text[at] == '#';
}

static bool is_blank(const char *text, size_t at, size_t length)
{
    while (at < length && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    return at == length || is_line_end(text[at]);
}

/* The candidate that occurs most outside of quotes in the first row. */
static char guess_delimiter(const char *text, size_t at, size_t length)
{
    static const char candidates[] = {',', ';', '\t'};
    while (at < length && (is_comment(text, at, length) || is_blank(text, at, length))) {
        at = next_line(text, at, length);
    }
    size_t count[sizeof candidates] = {0};
    bool quoted = false;
    for (; at < length && (quoted || !is_line_end(text[at])); at++) {
        quoted = text[at] == '"' ? !quoted : quoted;
        for (size_t i = 0; !quoted && i < sizeof candidates; i++) {
            count[i] += text[at] == candidates[i];
        }
    }
    size_t best = 0;
    for (size_t i = 1; i < sizeof candidates; i++) {
        best = count[i] > count[best] ? i : best;
    }
    return candidates[best];
}

/* Excel writes "sep=;" as a first line of its own. Returns where the rows begin. */
static size_t skip_sep_line(const char *text, size_t length, char *delimiter, int64_t *line)
{
    size_t end = next_line(text, 0, length);
    if (length < 5 || memcmp(text, "sep=", 4) != 0 || (end > 5 && !is_line_end(text[5])) ||
        is_line_end(text[4])) {
        return 0;
    }
    *delimiter = *delimiter != 0 ? *delimiter : text[4];
    *line += 1;
    return end;
}

/* --- reading --------------------------------------------------------------------------------- */

static int32_t feed(splitter *s, struct csv_parser *parser, const char *text, size_t at,
                    size_t length, int64_t line)
{
    bool in_row = false;
    while (at < length && s->status == CKPD_OK) {
        size_t end = next_line(text, at, length);
        if (in_row || !is_comment(text, at, end)) {
            s->line = in_row ? s->line : line;
            s->row_ended = false;
            if (csv_parse(parser, text + at, end - at, on_field, on_row, s) != end - at &&
                s->status == CKPD_OK) {
                return syntax_error(s, line,
                                    csv_error(parser) == CSV_EPARSE
                                        ? "a quote in the wrong place"
                                        : "a field is longer than 65535 bytes");
            }
            in_row = !s->row_ended && (in_row || !is_blank(text, at, end));
        }
        at = end;
        line++;
    }
    if (s->status == CKPD_OK && csv_fini(parser, on_field, on_row, s) != 0 &&
        s->status == CKPD_OK) {
        return syntax_error(s, s->line, "the quote that opens there is never closed");
    }
    return s->status;
}

int32_t ckpd__csv_read(ckpd_context *context, const char *source, const char *text, size_t length,
                       char delimiter, int64_t header_line, ckpd__csv_row_fn row, void *user)
{
    /* No row is longer than the text, and each of its fields gets a zero. */
    size_t field_room = length < LONGEST_FIELD ? length + 1 : LONGEST_FIELD;
    size_t row_room = length < LONGEST_ROW - MOST_FIELDS ? length + MOST_FIELDS : LONGEST_ROW;
    splitter *s = ckpd__calloc(context, 1, sizeof *s);
    char *buffer = ckpd__calloc(context, field_room, 1);
    char *row_text = ckpd__calloc(context, row_room, 1);
    int32_t status =
        s != NULL && buffer != NULL && row_text != NULL ? CKPD_OK : ckpd__no_memory(context);
    if (status == CKPD_OK) {
        *s = (splitter){.context = context,
                        .source = source,
                        .row = row,
                        .user = user,
                        .room = row_room,
                        .text = row_text};
        if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
            text += 3;
            length -= 3;
        }
        status = check_utf8(s, text, length);
    }
    if (status == CKPD_OK) {
        int64_t line = 1;
        size_t at = skip_sep_line(text, length, &delimiter, &line);
        for (; line < header_line && at < length; line++) {
            at = next_line(text, at, length);
        }
        struct csv_parser parser;
        csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
        csv_set_delim(&parser, (unsigned char)(delimiter != 0 ? delimiter
                                                              : guess_delimiter(text, at, length)));
        csv_set_realloc_func(&parser, refuse_to_grow);
        parser.entry_buf = (unsigned char *)buffer;
        parser.entry_size = field_room;
        status = feed(s, &parser, text, at, length, line);
    }
    ckpd__free(context, row_text);
    ckpd__free(context, buffer);
    ckpd__free(context, s);
    return status;
}
