/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The only file of the library that opens files. Paths are bytes handed to the system as they are.
 */
#ifndef CKPD_LIB_IO_FILE_H
#define CKPD_LIB_IO_FILE_H

#include "base/base.h"

/* Whole file, ended by a zero byte that *length does not count; ckpd__free() it. At most 1 GiB. */
int32_t ckpd__file_read(ckpd_context *context, const char *path, char **text, size_t *length);

typedef struct ckpd__file ckpd__file;
int32_t ckpd__file_create(ckpd__file **out, ckpd_context *context, const char *path);
/* Write callback; `file` is a ckpd__file. */
int32_t ckpd__file_write(const char *text, size_t length, void *file);
/* Closes; the path is reported when anything could not be written. `status` of the writer goes
 * first. */
int32_t ckpd__file_close(ckpd__file *file, int32_t status);

/* `name` relative to the folder of the file `beside` ("" or NULL: the working folder); absolute as
 * it is. */
char *ckpd__file_beside(ckpd_context *context, const char *beside, const char *name);

#endif
