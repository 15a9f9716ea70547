/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Checked access to parsed JSON: every refusal names the path of the place. */
#ifndef CKPD_LIB_IO_READER_H
#define CKPD_LIB_IO_READER_H

#include "io/json.h"
#include "io/members.h"

/* A place in the document; lives on the stack of the reading functions. */
typedef struct ckpd__place {
    const struct ckpd__place *parent; /* NULL: top of the document */
    const char *key;                  /* member name, or NULL for an array item */
    int32_t index;                    /* array item */
} ckpd__place;

/* "jobs[1].task"; "the file" at the top. */
void ckpd__place_print(const ckpd__place *place, char *text, size_t size);
/* Records an error about a place: "PATH: message", field = path. */
int32_t ckpd__refuse(ckpd_context *context, const ckpd__place *place, int32_t code, double value,
                     const char *message);
/* Puts the path in front of the last error of the context, which has this status. */
int32_t ckpd__refuse_with(ckpd_context *context, const ckpd__place *place, int32_t status);

/*
 * Checks that `node` is an object whose members are all known to `object` (nearest known name in
 * the message), have their type and whose required members are there. Fields are only checked for
 * their JSON type here; their values are checked by the handle.
 */
int32_t ckpd__read_object(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                          const ckpd__object *object);
/* Gives the members of a checked object that are fields of its handle to the handle. */
int32_t ckpd__read_fields(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                          const ckpd__object *object, void *handle);

/* Members of a checked object. */
double ckpd__member_number(const ckpd__json *object, const char *name, double otherwise);
const char *ckpd__member_text(const ckpd__json *object, const char *name); /* NULL when absent */
int32_t ckpd__member_items(const ckpd__json *object, const char *name, const ckpd__json **items);

/* Position of `text` among "a|b|c", -1 when it is none of them. */
int32_t ckpd__choice_position(const char *choices, const char *text);

#endif
