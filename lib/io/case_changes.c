/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What checkpoints and mode changes of a job cost, in a case. */
#include "io/case.h"

#include <math.h>

/* Mode number of a label; absent and "" have their own. */
static int32_t read_label(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                          const char *member, const ckpd__case_job *job, int32_t *mode)
{
    const char *label = ckpd__member_text(node, member);
    ckpd__place here = {place, member, 0};
    char message[300];
    *mode = label == NULL      ? CKPD__CHANGE_ANY
            : label[0] == '\0' ? CKPD__CHANGE_NONE
                               : ckpd__case_find_label(job->modes, label);
    if (label == NULL || label[0] == '\0' || *mode >= 0) {
        return CKPD_OK;
    }
    ckpd__format(message, sizeof message,
                 "no retained mode of this job is labelled '%s' (see `modes`)", label);
    return ckpd__refuse(loaded->context, &here, CKPD_ERR_UNKNOWN_NAME, (double)NAN, message);
}

static int32_t read_change(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                           const ckpd__case_job *job, ckpd__change *change)
{
    int32_t status =
        ckpd__read_object(loaded->context, place, node, &ckpd__objects[CKPD__AT_CHANGE]);
    status =
        status == CKPD_OK ? read_label(loaded, place, node, "from", job, &change->from) : status;
    status = status == CKPD_OK ? read_label(loaded, place, node, "to", job, &change->to) : status;
    if (status == CKPD_OK && change->to == CKPD__CHANGE_NONE) {
        ckpd__place here = {place, "to", 0};
        return ckpd__refuse(loaded->context, &here, CKPD_ERR_UNKNOWN_NAME, (double)NAN,
                            "an empty label stands for no mode, which cannot be started");
    }
    change->hours = ckpd__member_number(node, "hours", 0);
    change->money = ckpd__member_number(node, "money", 0);
    return status;
}

int32_t ckpd__case_read_changes(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                                ckpd__case_job *job)
{
    ckpd_context *context = loaded->context;
    const ckpd__json *profile = ckpd__json_member(node, "checkpoint"), *items;
    int32_t count = ckpd__member_items(node, "change_costs", &items), status = CKPD_OK;
    ckpd__place list = {place, "change_costs", 0}, here = {place, "checkpoint", 0};
    if (profile != NULL && count > 0) {
        return ckpd__refuse(context, &list, CKPD_ERR_INCONSISTENT, count,
                            "changes cost what a checkpoint profile says or what is listed here, "
                            "not both");
    }
    if (profile != NULL) {
        const ckpd__object *object = &ckpd__objects[CKPD__AT_CHECKPOINT];
        status = ckpd__read_object(context, &here, profile, object);
        status = status == CKPD_OK ? ckpd_checkpoint_new(&job->checkpoint, context) : status;
        return status == CKPD_OK
                   ? ckpd__read_fields(context, &here, profile, object, job->checkpoint)
                   : status;
    }
    job->changes = ckpd__calloc(context, (size_t)count, sizeof *job->changes);
    if (job->changes == NULL) {
        return ckpd__no_memory(context);
    }
    job->change_count = count;
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        ckpd__place item = {&list, NULL, i};
        status = read_change(loaded, &item, &items[i], job, &job->changes[i]);
    }
    return status;
}

int32_t ckpd__case_set_changes(ckpd_context *context, ckpd_graph_options *options,
                               const ckpd__case_job *job)
{
    if (job->checkpoint != NULL) {
        return ckpd_graph_options_set_checkpoint(options, job->checkpoint, job->modes);
    }
    if (job->change_count == 0) {
        return CKPD_OK;
    }
    int32_t modes = ckpd_mode_set_count(job->modes);
    size_t pairs = ((size_t)modes + 1) * (size_t)modes;
    double *hours = ckpd__calloc(context, 2 * pairs, sizeof *hours);
    if (hours == NULL) {
        return ckpd__no_memory(context);
    }
    double *money = hours + pairs;
    for (size_t pair = 0; pair < pairs; pair++) {
        int32_t from = (int32_t)(pair / (size_t)modes) - 1, to = (int32_t)(pair % (size_t)modes);
        for (int32_t i = 0; i < job->change_count; i++) {
            const ckpd__change *change = &job->changes[i];
            if ((change->from == CKPD__CHANGE_ANY || change->from == from) &&
                (change->to == CKPD__CHANGE_ANY || change->to == to)) {
                hours[pair] = change->hours;
                money[pair] = change->money;
            }
        }
    }
    int32_t status = ckpd_graph_options_set_change_costs(options, modes, hours, money);
    ckpd__free(context, hours);
    return status;
}

static void write_label(ckpd__writer *writer, const char *key, const ckpd_mode_set *modes,
                        int32_t mode)
{
    if (mode != CKPD__CHANGE_ANY) {
        ckpd__write_text(writer, key, mode >= 0 ? ckpd_mode_set_label(modes, mode) : "");
    }
}

int32_t ckpd__case_write_changes(ckpd_context *context, ckpd__writer *writer,
                                 const ckpd__case_job *job)
{
    int32_t status = CKPD_OK;
    if (job->checkpoint != NULL) {
        ckpd_checkpoint *base = NULL;
        status = ckpd_checkpoint_new(&base, context);
        ckpd__write_open(writer, "checkpoint", '{');
        status = status == CKPD_OK ? ckpd__case_write_fields(writer, NULL, &ckpd__checkpoint_type,
                                                             job->checkpoint, base)
                                   : status;
        ckpd__write_close(writer, '}');
        ckpd_checkpoint_free(base);
    }
    if (job->change_count == 0) {
        return status;
    }
    ckpd__write_open(writer, "change_costs", '[');
    for (int32_t i = 0; i < job->change_count; i++) {
        const ckpd__change *change = &job->changes[i];
        ckpd__write_open_flat(writer, NULL, '{');
        write_label(writer, "from", job->modes, change->from);
        write_label(writer, "to", job->modes, change->to);
        if (change->hours > 0) {
            ckpd__write_number(writer, "hours", change->hours);
        }
        if (change->money < 0 || change->money > 0) {
            ckpd__write_number(writer, "money", change->money);
        }
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
    return status;
}
