/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file base.h
 * Version, status codes, context, field descriptions, cancel token.
 *
 * Conventions that hold for every header of this library:
 *  - Power is in kW, energy in kWh, prices in money per MWh, cost in money, memory in bytes,
 *    time in hours unless a name carries another unit. Slots are 0..T-1, slot boundaries 0..T.
 *  - A function returns a status (int32_t, CKPD_OK or a negative CKPD_ERR_ code) unless it cannot
 *    fail. After an error nothing has changed and out-parameters are untouched.
 *  - `_new` and `_build` functions hand the object to the caller, who ends it with `_free`;
 * pointers that come back by return are borrowed from the object and live as long as it.
 *  - A handle built from others copies what it needs: handles may be freed in any order and on any
 *    thread. `_free(NULL)` does nothing.
 *  - The message behind a status is the context's last error. Functions that read an object which
 * is immutable after build, and those that know no context, say a status alone, as other threads
 * may be reading too: the last error then stays that of an earlier call.
 *  - A handle of another kind, of another version of the library in the same process, or freed (as
 * far as its memory still tells) is refused: CKPD_ERR_ARGUMENT or CKPD_ERR_VERSION. Functions
 * without a status take it for NULL.
 *  - Thread words: *confined* (one thread at a time), *immutable after build* (share it freely),
 *    *any thread*.
 *  - A public struct starts with `size_t size`, set by the caller to sizeof of its own definition.
 */
#ifndef CKPTDISPATCH_BASE_H
#define CKPTDISPATCH_BASE_H

#include <stddef.h>
#include <stdint.h>

/** Marks what the library exports. */
#if defined(__GNUC__) && (defined(CKPD_BUILDING) || !defined(_WIN32))
#define CKPD_API __attribute__((visibility("default")))
#else
#define CKPD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Major version. */
#define CKPD_VERSION_MAJOR 0
/** Minor version. */
#define CKPD_VERSION_MINOR 1
/** Patch version. */
#define CKPD_VERSION_PATCH 0
/** Version as text. */
#define CKPD_VERSION_STRING "0.1.0"

/** Number of the binary interface; equal to the soname. */
#define CKPD_ABI_VERSION 0

/**
 * Every status code, its number and its text. The numbers never change; gaps are left for more
 * codes of the same kind. ckpd_strerror() and docs/errors.md are made from this list.
 */
#define CKPD_STATUS_MAP(X)                                                    \
    X(CKPD_OK, 0, "success")                                                  \
    X(CKPD_ERR_NO_MEMORY, -1, "out of memory")                                \
    X(CKPD_ERR_ARGUMENT, -2, "argument is NULL or not allowed here")          \
    X(CKPD_ERR_STRUCT_SIZE, -3, "size of a struct does not fit this library") \
    X(CKPD_ERR_NOT_SUPPORTED, -4, "not supported")                            \
    X(CKPD_ERR_STATE, -5, "object is not in a state that allows this")        \
    X(CKPD_ERR_BUFFER, -6, "buffer is too small")                             \
    X(CKPD_ERR_VERSION, -7, "made for another version of the library")        \
    X(CKPD_ERR_RANGE, -20, "number is outside its range")                     \
    X(CKPD_ERR_NOT_FINITE, -21, "number is NaN or infinite")                  \
    X(CKPD_ERR_LENGTH, -22, "lengths differ")                                 \
    X(CKPD_ERR_UNKNOWN_NAME, -23, "unknown name")                             \
    X(CKPD_ERR_DUPLICATE, -24, "name or item given twice")                    \
    X(CKPD_ERR_INCONSISTENT, -25, "values contradict one another")            \
    X(CKPD_ERR_MISSING, -26, "required value is missing")                     \
    X(CKPD_ERR_NOT_CONVEX, -27, "cost curve is not convex")                   \
    X(CKPD_ERR_NO_MODE, -40, "no feasible mode")                              \
    X(CKPD_ERR_SYNTAX, -60, "file or text cannot be parsed")                  \
    X(CKPD_ERR_FILE, -61, "file cannot be read or written")                   \
    X(CKPD_ERR_SCHEMA, -62, "file is of an unknown kind or version")          \
    X(CKPD_ERR_BACKEND, -80, "solver backend failed")                         \
    X(CKPD_ERR_VERIFY, -81, "solution violates the problem")                  \
    X(CKPD_ERR_NO_BACKEND, -82, "no backend can solve this problem")          \
    X(CKPD_ERR_INTERNAL, -90, "internal error")                               \
    X(CKPD_ERR_CALLBACK, -100, "stopped by a callback of the caller")

/** Status codes; see CKPD_STATUS_MAP. */
enum {
#define CKPD_STATUS_ENUM(name, number, text) name = number,
    CKPD_STATUS_MAP(CKPD_STATUS_ENUM)
#undef CKPD_STATUS_ENUM
        CKPD_STATUS_FORCE_INT32 = 0x7fffffff
};

/** Log levels, most urgent first. */
enum { CKPD_LOG_ERROR = 1, CKPD_LOG_WARNING = 2, CKPD_LOG_INFO = 3, CKPD_LOG_DEBUG = 4 };

/** Library version as MAJOR * 10000 + MINOR * 100 + PATCH. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_version(void);
/** Library version as text, static storage. Any thread. @since 0.1 */
CKPD_API const char *ckpd_version_string(void);
/** CKPD_ABI_VERSION of the loaded library, for wrappers to check on load. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_abi_version(void);
/**
 * 1 when this build has the named feature, else 0: "glpk", "json", "threads".
 * Any thread. @since 0.1
 */
CKPD_API int32_t ckpd_feature(const char *name);
/** Text of a status code, static storage, never NULL. Any thread. @since 0.1 */
CKPD_API const char *ckpd_strerror(int32_t status);
/** Name of a status code such as "CKPD_ERR_RANGE", static storage, never NULL. Any thread. @since
 * 0.1 */
CKPD_API const char *ckpd_status_name(int32_t status);
/** Number of status codes; ckpd_status_at(i) lists them for bindings. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_status_count(void);
/** The i-th status code in the order of CKPD_STATUS_MAP, or 1 when i is out of range. @since 0.1 */
CKPD_API int32_t ckpd_status_at(int32_t index);

/**
 * Memory functions of the host. `user` is handed to each. The functions must behave like their C
 * namesakes and be callable from every thread that uses handles of the context.
 * The memory of GLPK and of the JSON library is theirs and does not come from here.
 */
typedef struct ckpd_allocator {
    size_t size;                                                /**< sizeof(ckpd_allocator) */
    void *(*malloc_fn)(size_t bytes, void *user);               /**< as malloc */
    void *(*realloc_fn)(void *block, size_t bytes, void *user); /**< as realloc */
    void (*free_fn)(void *block, void *user); /**< as free; NULL is never handed to it */
    void *user;                               /**< handed to each function */
} ckpd_allocator;

/** Library context: allocator, log, last error. Confined; handles made from it may be freed
 * anywhere. */
typedef struct ckpd_context ckpd_context;

/**
 * Makes a context.
 * @param[out] out        the new context, owned by the caller
 * @param      allocator  copied; NULL for the C library's
 * @return CKPD_OK, CKPD_ERR_ARGUMENT (a function is NULL), CKPD_ERR_STRUCT_SIZE, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_context_new(ckpd_context **out, const ckpd_allocator *allocator);

/**
 * Drops the caller's hold on the context. Handles made from it keep it alive until the last of them
 * is freed. Any thread. @since 0.1
 */
CKPD_API void ckpd_context_free(ckpd_context *context);

/**
 * Receives one finished UTF-8 line, without a line end. `code` is stable for each kind of message.
 * Called on the thread that called the library. Inside it no function of the same context may be
 * called.
 */
typedef void (*ckpd_log_fn)(int32_t level, int32_t code, const char *message, void *user);

/**
 * Sets (or with NULL removes) the log callback; messages above `level` are not made. Default:
 * silence.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (level) @since 0.1
 */
CKPD_API int32_t ckpd_context_set_log(ckpd_context *context, int32_t level, ckpd_log_fn callback,
                                      void *user);

/** What went wrong in the last failing call of a context. */
typedef struct ckpd_error {
    size_t size;       /**< sizeof(ckpd_error), set by the caller */
    int32_t code;      /**< CKPD_ERR_..., CKPD_OK when nothing has failed yet */
    int32_t reserved;  /**< 0 */
    int64_t index;     /**< element, slot or row the error is about, -1 when none */
    double value;      /**< the offending value, NaN when none */
    char field[64];    /**< name of the field, "" when none */
    char message[512]; /**< finished text, UTF-8 */
} ckpd_error;

/** Copies the last error. Confined. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since
 * 0.1 */
CKPD_API int32_t ckpd_context_last_error(const ckpd_context *context, ckpd_error *out);
/** Text of the last error, borrowed until the next call; "" when none. Confined. @since 0.1 */
CKPD_API const char *ckpd_context_last_message(const ckpd_context *context);

/** Kinds of field. */
enum {
    CKPD_FIELD_NUMBER = 1,  /**< real number */
    CKPD_FIELD_INTEGER = 2, /**< whole number, carried in a double */
    CKPD_FIELD_FLAG = 3,    /**< 0 or 1 */
    CKPD_FIELD_CHOICE = 4,  /**< one of the names in `choices`; set and read as text */
    CKPD_FIELD_TEXT = 5     /**< free text, "" when not given */
};

/** Description of one named field of a handle, for bindings, `describe` and documentation. */
typedef struct ckpd_field_info {
    size_t size;          /**< sizeof(ckpd_field_info), set by the caller */
    int32_t kind;         /**< CKPD_FIELD_... */
    int32_t required;     /**< 1 when there is no default */
    const char *name;     /**< with its unit, static storage */
    const char *unit;     /**< "" for pure numbers */
    const char *doc;      /**< one line */
    const char *choices;  /**< names separated by '|' for CKPD_FIELD_CHOICE, else "" */
    double minimum;       /**< smallest allowed value, may be -infinity */
    double maximum;       /**< largest allowed value, may be infinity */
    double default_value; /**< NaN when required or "not given" */
} ckpd_field_info;

/**
 * Cancel token. Any thread, also a signal handler for ckpd_cancel_request(): the flag is a
 * lock-free atomic. It may be shared by several solves and must outlive them.
 */
typedef struct ckpd_cancel ckpd_cancel;

/** Makes a token. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1 */
CKPD_API int32_t ckpd_cancel_new(ckpd_cancel **out, ckpd_context *context);
/** Ends a token that no running call uses. Any thread. @since 0.1 */
CKPD_API void ckpd_cancel_free(ckpd_cancel *cancel);
/** Asks every call that was given the token to stop as soon as it can. Any thread,
 * async-signal-safe. @since 0.1 */
CKPD_API void ckpd_cancel_request(ckpd_cancel *cancel);
/** Withdraws the request. Any thread. @since 0.1 */
CKPD_API void ckpd_cancel_reset(ckpd_cancel *cancel);
/** 1 when a stop was asked for, else 0; 0 for NULL. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_cancel_requested(const ckpd_cancel *cancel);

/** State of a running solve. */
typedef struct ckpd_progress {
    size_t size;         /**< size of the struct as the library fills it */
    double elapsed_s;    /**< seconds since the call */
    double incumbent;    /**< cost of the best plan so far, +infinity when none */
    double bound;        /**< lower bound as the backend knows it, -infinity when none */
    double relative_gap; /**< see docs/model.md; infinity when no plan or no bound */
    int64_t iterations;  /**< work units of the backend */
    int64_t nodes;       /**< branch-and-bound nodes */
} ckpd_progress;

/**
 * Called now and then during a solve on the calling thread; non-zero cancels it. Inside it no
 * function of the same context may be called except ckpd_cancel_request().
 */
typedef int32_t (*ckpd_progress_fn)(const ckpd_progress *progress, void *user);

#ifdef __cplusplus
}
#endif
#endif
