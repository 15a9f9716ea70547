/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ckpd__file {
    ckpd_context *context;
    FILE *stream;
    int failure; /* errno of the first failed write */
    char path[]; /* for messages */
};

static const size_t LARGEST = (size_t)1 << 30;

/* strerror() is neither re-entrant nor locale-free: the usual reasons are named here. */
static const char *reason(int number)
{
    switch (number) {
    case ENOENT:
        return "no such file or folder";
    case EACCES:
    case EPERM:
        return "no permission";
    case EISDIR:
        return "it is a folder";
    case ENOTDIR:
        return "a part of the path is no folder";
    case ENOSPC:
        return "no space left on the device";
    case ENAMETOOLONG:
        return "the name is too long";
    case EROFS:
        return "the file system is read-only";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    default:
        return "input or output error";
    }
}

static int32_t file_error(ckpd_context *context, const char *verb, const char *path,
                          const char *why)
{
    return ckpd__fail(context, CKPD_ERR_FILE, "path", -1, (double)NAN, "cannot %s %s: %s", verb,
                      path, why);
}

static int32_t read_stream(ckpd_context *context, const char *path, FILE *stream, char **text,
                           size_t *length)
{
    size_t room = 65536, used = 0;
    char *block = ckpd__calloc(context, room, 1);
    while (block != NULL) {
        errno = 0;
        used += fread(block + used, 1, room - 1 - used, stream);
        if (ferror(stream) != 0) {
            int failure = errno;
            ckpd__free(context, block);
            return file_error(context, "read", path, reason(failure));
        }
        if (used < room - 1) {
            block[used] = '\0';
            *text = block;
            *length = used;
            return CKPD_OK;
        }
        if (room >= LARGEST) {
            ckpd__free(context, block);
            return file_error(context, "read", path, "it is larger than 1 GiB");
        }
        char *larger = ckpd__realloc(context, block, room * 2, 1);
        if (larger == NULL) {
            break;
        }
        block = larger;
        room *= 2;
    }
    ckpd__free(context, block);
    return ckpd__no_memory(context);
}

int32_t ckpd__file_read(ckpd_context *context, const char *path, char **text, size_t *length)
{
    errno = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return file_error(context, "open", path, reason(errno));
    }
    int32_t status = read_stream(context, path, stream, text, length);
    fclose(stream);
    return status;
}

int32_t ckpd__file_create(ckpd__file **out, ckpd_context *context, const char *path)
{
    size_t length = strlen(path);
    ckpd__file *file = ckpd__calloc(context, 1, sizeof *file + length + 1);
    if (file == NULL) {
        return ckpd__no_memory(context);
    }
    file->context = context;
    memcpy(file->path, path, length + 1);
    errno = 0;
    file->stream = fopen(path, "wb");
    if (file->stream == NULL) {
        int32_t status = file_error(context, "write", path, reason(errno));
        ckpd__free(context, file);
        return status;
    }
    *out = file;
    return CKPD_OK;
}

int32_t ckpd__file_write(const char *text, size_t length, void *user)
{
    ckpd__file *file = user;
    errno = 0;
    if (fwrite(text, 1, length, file->stream) != length) {
        file->failure = file->failure != 0 ? file->failure : errno != 0 ? errno : EIO;
        return 1;
    }
    return 0;
}

int32_t ckpd__file_close(ckpd__file *file, int32_t status)
{
    errno = 0;
    int closed = fclose(file->stream);
    if (closed != 0 && file->failure == 0) {
        file->failure = errno != 0 ? errno : EIO;
    }
    if (file->failure != 0 && (status == CKPD_OK || status == CKPD_ERR_CALLBACK)) {
        status = file_error(file->context, "write", file->path, reason(file->failure));
    }
    ckpd__free(file->context, file);
    return status;
}

char *ckpd__file_beside(ckpd_context *context, const char *beside, const char *name)
{
    const char *slash = beside != NULL && name[0] != '/' ? strrchr(beside, '/') : NULL;
    size_t folder = slash != NULL ? (size_t)(slash - beside) + 1 : 0;
    size_t length = strlen(name);
    char *path = ckpd__calloc(context, folder + length + 1, 1);
    if (path != NULL) {
        if (folder > 0) {
            memcpy(path, beside, folder);
        }
        memcpy(path + folder, name, length + 1);
    }
    return path;
}
