/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "task/task.h"

#include <math.h>
#include <string.h>

enum { LONGEST_NAME = 255 };

int32_t ckpd_task_new(ckpd_task **out, ckpd_context *context, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || name == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "name");
    }
    size_t length = strlen(name);
    if (length == 0 || length > LONGEST_NAME) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "name", -1, (double)length,
                          "task: name has %z bytes, 1 to %d are allowed", length, LONGEST_NAME);
    }
    ckpd_task *task = ckpd__calloc(context, 1, sizeof *task);
    char *copy = ckpd__strdup(context, name);
    if (task == NULL || copy == NULL) {
        ckpd__free(context, task);
        ckpd__free(context, copy);
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(task, CKPD__TASK, context);
    task->name = copy;
    ckpd__fields_defaults(&ckpd__task_table, task->values);
    *out = task;
    return CKPD_OK;
}

void ckpd_task_free(ckpd_task *task)
{
    CKPD__NULL_IF_FOREIGN(task, CKPD__TASK);
    if (task != NULL) {
        ckpd_context *context = task->context;
        ckpd__free(context, task->name);
        ckpd__handle_end(task);
    }
}

const char *ckpd_task_name(const ckpd_task *task)
{
    CKPD__NULL_IF_FOREIGN(task, CKPD__TASK);
    return task != NULL ? task->name : NULL;
}

int32_t ckpd_task_set(ckpd_task *task, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_set(task->context, &ckpd__task_table, task->values, field, value);
}

int32_t ckpd_task_set_text(ckpd_task *task, const char *field, const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_set_text(task->context, &ckpd__task_table, task->values, field, text);
}

int32_t ckpd_task_get(const ckpd_task *task, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_get(task->context, &ckpd__task_table, task->values, field, value);
}

int32_t ckpd_task_get_text(const ckpd_task *task, const char *field, char *buffer, size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t index = field != NULL ? ckpd__fields_find(&ckpd__task_table, field) : -1;
    if (index >= 0 && isnan(task->values[index]) && buffer != NULL && size > 0 &&
        ckpd__task_table.fields[index].kind == CKPD_FIELD_CHOICE) {
        buffer[0] = '\0';
        return CKPD_OK;
    }
    return ckpd__fields_get_text(task->context, &ckpd__task_table, task->values, field, buffer,
                                 size);
}

int32_t ckpd_task_unset(ckpd_task *task, const char *field)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_unset(task->context, &ckpd__task_table, task->values, field);
}

int32_t ckpd_task_field_count(void)
{
    return ckpd__task_table.count;
}

int32_t ckpd_task_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__task_table, index, out);
}

bool ckpd__task_given(const ckpd_task *task, int32_t field)
{
    return !isnan(task->values[field]);
}

int32_t ckpd__task_integer(const ckpd_task *task, int32_t field, int32_t otherwise)
{
    return ckpd__task_given(task, field) ? (int32_t)task->values[field] : otherwise;
}
