/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Writes JSON with stable bytes: fixed order, shortest numbers that read back, one layout. */
#ifndef CKPD_LIB_IO_WRITER_H
#define CKPD_LIB_IO_WRITER_H

#include "base/base.h"

enum { CKPD__WRITER_DEEPEST = 32 };

typedef struct ckpd__writer {
    ckpd_context *context;
    int32_t (*write)(const char *text, size_t length, void *user);
    void *user;
    int32_t status; /* of the first failure; everything after it is ignored */
    int32_t depth;
    int32_t width;                     /* bytes on the current line, for wrapped arrays */
    bool inside[CKPD__WRITER_DEEPEST]; /* something was written at this depth */
    bool flat[CKPD__WRITER_DEEPEST];   /* members of this depth stay on one line */
    size_t used;
    char buffer[4096];
} ckpd__writer;

void ckpd__writer_begin(ckpd__writer *writer, ckpd_context *context,
                        int32_t (*write)(const char *, size_t, void *), void *user);
/* Flushes; returns the status of the whole text. */
int32_t ckpd__writer_end(ckpd__writer *writer);

/* Text as it is, outside of JSON (CSV, HTML). */
void ckpd__write_raw(ckpd__writer *writer, const char *text);
void ckpd__write_raw_number(ckpd__writer *writer, double value);

/* `key` is NULL for array items and for the outermost value. */
void ckpd__write_open(ckpd__writer *writer, const char *key, char bracket);
void ckpd__write_open_flat(ckpd__writer *writer, const char *key, char bracket); /* on one line */
void ckpd__write_close(ckpd__writer *writer, char bracket);
void ckpd__write_number(ckpd__writer *writer, const char *key,
                        double value); /* null unless finite */
void ckpd__write_integer(ckpd__writer *writer, const char *key, int64_t value);
void ckpd__write_flag(ckpd__writer *writer, const char *key, bool value);
void ckpd__write_text(ckpd__writer *writer, const char *key, const char *text);
/* Numbers in lines of at most about 100 columns; +infinity is written as the text "unlimited". */
void ckpd__write_numbers(ckpd__writer *writer, const char *key, const double *values,
                         int32_t count);

#endif
