/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/context.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------------------ */

typedef struct text_sink {
    char *buffer;
    size_t size, length;
} text_sink;

static void put(text_sink *sink, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++, sink->length++) {
        if (sink->length + 1 < sink->size) {
            sink->buffer[sink->length] = text[i];
        }
    }
}

static void put_integer(text_sink *sink, int64_t value)
{
    char digits[24];
    size_t length = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[sizeof digits - ++length] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        digits[sizeof digits - ++length] = '-';
    }
    put(sink, digits + sizeof digits - length, length);
}

/* Length of a text that was cut after `length` bytes, without the half of a UTF-8 character at its
 * end. */
static size_t whole_characters(const char *text, size_t length)
{
    size_t start = length, needed = 1;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u) {
        start--;
    }
    if (start > 0) {
        unsigned char lead = (unsigned char)text[start - 1];
        needed = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : lead >= 0xC0u ? 2 : 1;
    }
    return start > 0 && needed > length - (start - 1) ? start - 1 : length;
}

/* The C library's printf family is not used here: it follows the locale. */
static size_t format_text(char *buffer, size_t size, const char *format, va_list arguments)
{
    text_sink sink = {buffer, size, 0};
    for (const char *c = format; *c != '\0'; c++) {
        if (*c != '%') {
            put(&sink, c, 1);
            continue;
        }
        c++;
        if (*c == 's') {
            const char *text = va_arg(arguments, const char *);
            text = text != NULL ? text : "(null)";
            put(&sink, text, strlen(text));
        } else if (*c == 'd') {
            put_integer(&sink, va_arg(arguments, int));
        } else if (*c == 'L') {
            put_integer(&sink, va_arg(arguments, int64_t));
        } else if (*c == 'z') {
            put_integer(&sink, (int64_t)va_arg(arguments, size_t));
        } else if (*c == 'g') {
            char number[CKPD__NUMBER_LENGTH];
            ckpd__format_digits(va_arg(arguments, double), 12, number);
            put(&sink, number, strlen(number));
        } else {
            put(&sink, c, 1);
        }
        if (*c == '\0') {
            break;
        }
    }
    if (size > 0) {
        buffer[sink.length < size ? sink.length : whole_characters(buffer, size - 1)] = '\0';
    }
    return sink.length;
}

size_t ckpd__format(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = format_text(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}

/* --- last error ------------------------------------------------------------------------------ */

void ckpd__clear_error(ckpd_context *context)
{
    memset(&context->error, 0, sizeof context->error);
    context->error.size = sizeof context->error;
    context->error.index = -1;
    context->error.value = (double)NAN;
}

int32_t ckpd__fail(ckpd_context *context, int32_t code, const char *field, int64_t index,
                   double value, const char *format, ...)
{
    if (context == NULL) {
        return code;
    }
    ckpd_error error = {.size = sizeof error, .code = code, .index = index, .value = value};
    ckpd__format(error.field, sizeof error.field, "%s", field != NULL ? field : "");
    va_list arguments;
    va_start(arguments, format);
    format_text(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    context->error = error;
    ckpd__log(context, CKPD_LOG_ERROR, -code, "%s", error.message);
    return code;
}

int32_t ckpd__no_memory(ckpd_context *context)
{
    return ckpd__fail(context, CKPD_ERR_NO_MEMORY, NULL, -1, (double)NAN, "out of memory");
}

int32_t ckpd__null_argument(ckpd_context *context, const char *name)
{
    return ckpd__fail(context, CKPD_ERR_ARGUMENT, name, -1, (double)NAN, "argument '%s' is NULL",
                      name);
}

int32_t ckpd_context_last_error(const ckpd_context *context, ckpd_error *out)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return CKPD__STRUCT_OUT(NULL, error, out, &context->error);
}

const char *ckpd_context_last_message(const ckpd_context *context)
{
    CKPD__NULL_IF_FOREIGN(context, CKPD__CONTEXT);
    return context != NULL ? context->error.message : "";
}

/* --- log -------------------------------------------------------------------------------------- */

bool ckpd__logs(const ckpd_context *context, int32_t level)
{
    return context != NULL && context->log != NULL && level <= context->log_level;
}

void ckpd__log(ckpd_context *context, int32_t level, int32_t code, const char *format, ...)
{
    if (!ckpd__logs(context, level)) {
        return;
    }
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    format_text(message, sizeof message, format, arguments);
    va_end(arguments);
    context->log(level, code, message, context->log_user);
}
