/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Every object of a case file: its own members (listed in members.c) and the fields of the handle
 * it describes. Reading, `describe`, the JSON Schema and the tables of docs/case-format.md come
 * from here.
 */
#ifndef CKPD_LIB_IO_MEMBERS_H
#define CKPD_LIB_IO_MEMBERS_H

#include "base/base.h"
#include "io/handles.h"

#include <ckptdispatch/io.h>

/* Types of a member, with the names that ckpd_case_member_info() gives. */
enum {
    CKPD__MEMBER_NUMBER = 0,
    CKPD__MEMBER_INTEGER = 1,
    CKPD__MEMBER_FLAG = 2,
    CKPD__MEMBER_CHOICE = 3,
    CKPD__MEMBER_TEXT = 4,
    CKPD__MEMBER_SERIES = 5, /* number, array with a value per slot, or file reference */
    CKPD__MEMBER_INTEGERS = 6,
    CKPD__MEMBER_CHOICES = 7, /* array of names */
    CKPD__MEMBER_POINTS = 8,  /* array of [x, y] */
    CKPD__MEMBER_PAIRS = 9,   /* array of [text, text] */
    CKPD__MEMBER_OBJECT = 10,
    CKPD__MEMBER_OBJECTS = 11
};

typedef struct ckpd__member {
    const char *name;
    int32_t type;
    int32_t required;
    const char *unit;
    const char *doc;
    const char *choices; /* "a|b|c" or NULL */
    double minimum, maximum;
} ckpd__member;

/* Objects of a case file. */
enum {
    CKPD__AT_CASE = 0,
    CKPD__AT_HORIZON,
    CKPD__AT_SITE,
    CKPD__AT_FILE,
    CKPD__AT_BATTERY,
    CKPD__AT_CURVE,
    CKPD__AT_HARDWARE,
    CKPD__AT_RULES,
    CKPD__AT_JOB,
    CKPD__AT_TASK,
    CKPD__AT_MODE,
    CKPD__AT_RUN,
    CKPD__AT_CHECKPOINT,
    CKPD__AT_CHANGE,
    CKPD__AT_GRAPH,
    CKPD__AT_SOLVE,
    CKPD__AT_PUBLISHED,
    CKPD__AT_FIGURE,
    CKPD__AT_COUNT
};

typedef struct ckpd__object {
    const char *path; /* "jobs[].task" */
    const char *doc;
    const ckpd__member *members;
    int32_t count;
    const ckpd__handle_type *fields; /* or NULL */
} ckpd__object;

extern const ckpd__object ckpd__objects[CKPD__AT_COUNT];

/* All objects of one kind of file; the first is the file as a whole. */
typedef struct ckpd__document {
    const char *title;
    const ckpd__object *objects;
    int32_t count;
} ckpd__document;
extern const ckpd__document ckpd__case_document;
/* What ckpd_case_member_count(), ..._info() and ckpd_case_write_schema() say, of any document. */
int32_t ckpd__document_member_count(const ckpd__document *document);
int32_t ckpd__document_member_info(const ckpd__document *document, int32_t index,
                                   ckpd_member_info *out);
int32_t ckpd__document_write_schema(const ckpd__document *document, ckpd_context *context,
                                    ckpd_write_fn write, void *user);

extern const char *const ckpd__member_type_names[];

/* Member or field by name; false when the object has none of that name. */
bool ckpd__member_find(const ckpd__object *object, const char *name, ckpd__member *out);
/* The i-th member (own ones first, then fields); index < ckpd__member_count(). */
int32_t ckpd__member_count(const ckpd__object *object);
bool ckpd__member_at(const ckpd__object *object, int32_t index, ckpd__member *out,
                     double *default_value);

#endif
