/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/writer.h"

#include <math.h>
#include <string.h>

enum { LINE_WIDTH = 100 };

static void flush(ckpd__writer *writer)
{
    if (writer->status == CKPD_OK && writer->used > 0 &&
        writer->write(writer->buffer, writer->used, writer->user) != 0) {
        writer->status = ckpd__fail(writer->context, CKPD_ERR_CALLBACK, "write", -1, (double)NAN,
                                    "the write callback refused the text");
    }
    writer->used = 0;
}

static void put(ckpd__writer *writer, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t room = sizeof writer->buffer - writer->used;
        size_t part = length - at < room ? length - at : room;
        memcpy(writer->buffer + writer->used, text + at, part);
        writer->used += part;
        at += part;
        if (writer->used == sizeof writer->buffer) {
            flush(writer);
        }
    }
    writer->width += (int32_t)length;
}

static void put_text(ckpd__writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

void ckpd__writer_begin(ckpd__writer *writer, ckpd_context *context,
                        int32_t (*write)(const char *, size_t, void *), void *user)
{
    memset(writer, 0, sizeof *writer);
    writer->context = context;
    writer->write = write;
    writer->user = user;
}

int32_t ckpd__writer_end(ckpd__writer *writer)
{
    flush(writer);
    return writer->status;
}

void ckpd__write_raw(ckpd__writer *writer, const char *text)
{
    put_text(writer, text);
}

void ckpd__write_raw_number(ckpd__writer *writer, double value)
{
    char number[CKPD__NUMBER_LENGTH];
    ckpd__format_double(value, number);
    put_text(writer, number);
}

static void line_end(ckpd__writer *writer)
{
    put(writer, "\n", 1);
    writer->width = 0;
    for (int32_t i = 0; i < writer->depth; i++) {
        put(writer, "  ", 2);
    }
}

static void put_quoted(ckpd__writer *writer, const char *text)
{
    static const char HEX[] = "0123456789abcdef";
    put(writer, "\"", 1);
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        const char *named = strchr("\"\"\\\\\bb\ff\nn\rr\tt", *c);
        if (byte == '"' || byte == '\\') {
            char escape[2] = {'\\', *c};
            put(writer, escape, 2);
        } else if (byte < 0x20 && named != NULL) {
            char escape[2] = {'\\', named[1]};
            put(writer, escape, 2);
        } else if (byte < 0x20 || byte == 0x7f) {
            char escape[6] = {'\\', 'u', '0', '0', HEX[byte >> 4], HEX[byte & 15]};
            put(writer, escape, 6);
        } else {
            put(writer, c, 1);
        }
    }
    put(writer, "\"", 1);
}

/* Comma, line end and key before a value. */
static void lead(ckpd__writer *writer, const char *key)
{
    int32_t depth = writer->depth;
    if (depth > 0) {
        bool first = !writer->inside[depth];
        writer->inside[depth] = true;
        if (!first) {
            put(writer, ",", 1);
        }
        if (!writer->flat[depth]) {
            line_end(writer);
        } else if (!first) {
            put(writer, " ", 1);
        }
    }
    if (key != NULL) {
        put_quoted(writer, key);
        put(writer, ": ", 2);
    }
}

static void open(ckpd__writer *writer, const char *key, char bracket, bool flat)
{
    lead(writer, key);
    put(writer, &bracket, 1);
    if (writer->depth + 1 < CKPD__WRITER_DEEPEST) {
        bool inherit = writer->depth > 0 && writer->flat[writer->depth];
        writer->depth++;
        writer->inside[writer->depth] = false;
        writer->flat[writer->depth] = flat || inherit;
    }
}

void ckpd__write_open(ckpd__writer *writer, const char *key, char bracket)
{
    open(writer, key, bracket, false);
}

void ckpd__write_open_flat(ckpd__writer *writer, const char *key, char bracket)
{
    open(writer, key, bracket, true);
}

void ckpd__write_close(ckpd__writer *writer, char bracket)
{
    bool lines = writer->inside[writer->depth] && !writer->flat[writer->depth];
    writer->depth--;
    if (lines) {
        line_end(writer);
    }
    put(writer, &bracket, 1);
    if (writer->depth == 0) {
        put(writer, "\n", 1);
    }
}

static void put_number(ckpd__writer *writer, double value)
{
    if (isfinite(value)) {
        ckpd__write_raw_number(writer, value);
    } else {
        put_text(writer, "null");
    }
}

void ckpd__write_number(ckpd__writer *writer, const char *key, double value)
{
    lead(writer, key);
    put_number(writer, value);
}

void ckpd__write_integer(ckpd__writer *writer, const char *key, int64_t value)
{
    char text[CKPD__NUMBER_LENGTH];
    ckpd__format(text, sizeof text, "%L", value);
    lead(writer, key);
    put_text(writer, text);
}

void ckpd__write_flag(ckpd__writer *writer, const char *key, bool value)
{
    lead(writer, key);
    put_text(writer, value ? "true" : "false");
}

void ckpd__write_text(ckpd__writer *writer, const char *key, const char *text)
{
    lead(writer, key);
    put_quoted(writer, text);
}

void ckpd__write_numbers(ckpd__writer *writer, const char *key, const double *values, int32_t count)
{
    lead(writer, key);
    put(writer, "[", 1);
    writer->depth++;
    for (int32_t i = 0; i < count; i++) {
        if (i > 0) {
            put(writer, ",", 1);
        }
        if (writer->width > LINE_WIDTH - 8) {
            line_end(writer);
        } else if (i > 0) {
            put(writer, " ", 1);
        }
        if (isinf(values[i]) && values[i] > 0) {
            put_text(writer, "\"unlimited\"");
        } else {
            put_number(writer, values[i]);
        }
    }
    writer->depth--;
    put(writer, "]", 1);
}
