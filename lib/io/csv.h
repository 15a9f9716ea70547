/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* CSV text as rows of fields with their line numbers. The only user of libcsv is csv.c. */
#ifndef CKPD_LIB_IO_CSV_H
#define CKPD_LIB_IO_CSV_H

#include "base/base.h"

typedef struct ckpd__csv_row {
    int64_t line;  /* of the file, from 1, where the row begins */
    int32_t count; /* of fields */
    /* UTF-8, zero-terminated, without surrounding spaces; live during the call. */
    const char *const *fields;
} ckpd__csv_row;

/* Called for each row that is neither blank nor a comment (first character '#'); not CKPD_OK stops
 * the reading. */
typedef int32_t (*ckpd__csv_row_fn)(const ckpd__csv_row *row, void *user);

/*
 * Splits RFC 4180 text: LF, CRLF or CR line ends, quotes with "" inside, a byte order mark, an
 * Excel line "sep=;".
 * @param delimiter  ',', ';', '\t', or 0: the one that occurs most in the first row read
 * @param header_line  what stands above this line is left out, whatever it is; 1: nothing is
 * @param source     begins messages: "" or "FILE: "
 * @return CKPD_OK, what the callback returned, CKPD_ERR_SYNTAX (index = line), CKPD_ERR_NO_MEMORY
 */
int32_t ckpd__csv_read(ckpd_context *context, const char *source, const char *text, size_t length,
                       char delimiter, int64_t header_line, ckpd__csv_row_fn row, void *user);

#endif
