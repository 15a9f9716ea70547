/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Measured runs of a job: they anchor the hardware before its modes are built. */
#include "io/case.h"

#include <math.h>

/* In the order of the choices of jobs[].fit. */
static const int32_t fits[] = {CKPD_FIT_LAYER_OVERHEAD, CKPD_FIT_NETWORK, CKPD_FIT_LINK,
                               CKPD_FIT_MEMORY, CKPD_FIT_POWER};

static void read_run(const ckpd__json *node, ckpd_run *run)
{
    const char *recompute = ckpd__member_text(node, "recompute");
    ckpd__member member;
    ckpd__member_find(&ckpd__objects[CKPD__AT_RUN], "recompute", &member);
    *run = (ckpd_run){
        .size = sizeof *run,
        .tp = (int32_t)ckpd__member_number(node, "tp", 0),
        .pp = (int32_t)ckpd__member_number(node, "pp", 0),
        .dp = (int32_t)ckpd__member_number(node, "dp", 0),
        .micro_batch = (int32_t)ckpd__member_number(node, "micro_batch", 0),
        .cp = (int32_t)ckpd__member_number(node, "cp", 0),
        .ep = (int32_t)ckpd__member_number(node, "ep", 0),
        .interleave = (int32_t)ckpd__member_number(node, "interleave", 0),
        .recompute = recompute != NULL ? ckpd__choice_position(member.choices, recompute) : -1,
        .gpus = (int32_t)ckpd__member_number(node, "gpus", 0),
        .iteration_s = ckpd__member_number(node, "iteration_s", 0),
        .tokens_per_s = ckpd__member_number(node, "tokens_per_s", 0),
        .gpu_hours = ckpd__member_number(node, "gpu_hours", 0),
        .memory_gb = ckpd__member_number(node, "memory_gb", 0),
        .power_kw = ckpd__member_number(node, "power_kw", 0),
    };
}

int32_t ckpd__case_read_runs(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                             ckpd__case_job *job)
{
    ckpd__place list = {place, "runs", 0}, fit_place = {place, "fit", 0};
    const ckpd__json *items = NULL, *names = NULL;
    int32_t count = ckpd__member_items(node, "runs", &items);
    int32_t named = ckpd__member_items(node, "fit", &names);
    ckpd__member member;
    ckpd__member_find(&ckpd__objects[CKPD__AT_JOB], "fit", &member);
    for (int32_t i = 0; i < named; i++) {
        job->fit |= fits[ckpd__choice_position(member.choices, names[i].text)];
    }
    if (count == 0) {
        return named == 0 ? CKPD_OK
                          : ckpd__refuse(loaded->context, &fit_place, CKPD_ERR_MISSING, (double)NAN,
                                         "nothing can be fitted without runs");
    }
    if (job->table != NULL) {
        return ckpd__refuse(loaded->context, &list, CKPD_ERR_INCONSISTENT, count,
                            "runs anchor the analytic model, but the job has a mode table");
    }
    job->runs = ckpd__calloc(loaded->context, (size_t)count, sizeof *job->runs);
    if (job->runs == NULL) {
        return ckpd__no_memory(loaded->context);
    }
    for (int32_t i = 0; i < count; i++) {
        ckpd__place here = {&list, NULL, i};
        int32_t status =
            ckpd__read_object(loaded->context, &here, &items[i], &ckpd__objects[CKPD__AT_RUN]);
        if (status != CKPD_OK) {
            return status;
        }
        read_run(&items[i], &job->runs[i]);
        job->run_count++;
    }
    return CKPD_OK;
}

/* Rules for layouts that are not fully given: those of the job, but stages may also be uneven. */
static int32_t new_anchor(ckpd_context *context, const ckpd_hardware *hardware,
                          const ckpd_mode_rules *rules, ckpd__case_job *job)
{
    ckpd_mode_rules *loose = NULL;
    int32_t status = ckpd_mode_rules_new(&loose, context);
    status = status == CKPD_OK ? ckpd__handle_copy(&ckpd__rules_type, rules, loose) : status;
    status = status == CKPD_OK ? ckpd_mode_rules_set(loose, "uneven_stages", 1) : status;
    status = status == CKPD_OK ? ckpd_anchor_new(&job->anchor, context, hardware, loose) : status;
    ckpd_mode_rules_free(loose);
    return status;
}

static int32_t add_runs(ckpd_context *context, const ckpd__place *list, ckpd__case_job *job)
{
    for (int32_t i = 0; i < job->run_count; i++) {
        ckpd__place here = {list, NULL, i};
        int32_t status = ckpd_anchor_add(job->anchor, job->task, &job->runs[i]);
        if (status != CKPD_OK) {
            return ckpd__refuse_with(context, &here, status);
        }
    }
    return CKPD_OK;
}

int32_t ckpd__case_anchored_hardware(const ckpd_case *loaded, const ckpd__place *place,
                                     ckpd__case_job *job, const ckpd_mode_rules *rules,
                                     ckpd_hardware **out)
{
    ckpd__place list = {place, "runs", 0};
    ckpd_hardware *hardware = NULL;
    int32_t status =
        ckpd_hardware_new(&hardware, loaded->context, ckpd_hardware_name(loaded->hardware));
    status = status == CKPD_OK ? ckpd__handle_copy(&ckpd__hardware_type, loaded->hardware, hardware)
                               : status;
    status = status == CKPD_OK ? new_anchor(loaded->context, hardware, rules, job) : status;
    status = status == CKPD_OK ? add_runs(loaded->context, &list, job) : status;
    if (status == CKPD_OK) {
        status = ckpd_anchor_fit(job->anchor, job->fit, hardware, NULL);
        status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(loaded->context, &list, status);
    }
    if (status != CKPD_OK) {
        ckpd_hardware_free(hardware);
        return status;
    }
    *out = hardware;
    return CKPD_OK;
}

/* --- writing
 * ---------------------------------------------------------------------------------------- */

static void write_positive(ckpd__writer *writer, const char *key, double value)
{
    if (value > 0) {
        ckpd__write_number(writer, key, value);
    }
}

static void write_choice(ckpd__writer *writer, const char *key, int32_t object, const char *name,
                         int32_t position)
{
    ckpd__member member;
    char text[32];
    ckpd__member_find(&ckpd__objects[object], name, &member);
    ckpd__choice_text(member.choices, position, text, sizeof text);
    ckpd__write_text(writer, key, text);
}

static void write_run(ckpd__writer *writer, const ckpd_run *run)
{
    ckpd__write_open_flat(writer, NULL, '{');
    write_positive(writer, "tp", run->tp);
    write_positive(writer, "pp", run->pp);
    write_positive(writer, "dp", run->dp);
    write_positive(writer, "micro_batch", run->micro_batch);
    write_positive(writer, "cp", run->cp);
    write_positive(writer, "ep", run->ep);
    write_positive(writer, "interleave", run->interleave);
    if (run->recompute >= 0) {
        write_choice(writer, "recompute", CKPD__AT_RUN, "recompute", run->recompute);
    }
    write_positive(writer, "gpus", run->gpus);
    write_positive(writer, "iteration_s", run->iteration_s);
    write_positive(writer, "tokens_per_s", run->tokens_per_s);
    write_positive(writer, "gpu_hours", run->gpu_hours);
    write_positive(writer, "memory_gb", run->memory_gb);
    write_positive(writer, "power_kw", run->power_kw);
    ckpd__write_close(writer, '}');
}

void ckpd__case_write_runs(ckpd__writer *writer, const ckpd__case_job *job)
{
    if (job->run_count == 0) {
        return;
    }
    ckpd__write_open(writer, "runs", '[');
    for (int32_t i = 0; i < job->run_count; i++) {
        write_run(writer, &job->runs[i]);
    }
    ckpd__write_close(writer, ']');
    if (job->fit != 0) {
        ckpd__write_open_flat(writer, "fit", '[');
        for (int32_t i = 0; i < (int32_t)(sizeof fits / sizeof *fits); i++) {
            if ((job->fit & fits[i]) != 0) {
                write_choice(writer, NULL, CKPD__AT_JOB, "fit", i);
            }
        }
        ckpd__write_close(writer, ']');
    }
}
