/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The coupling's parameters and jobs; prices and reservations in the dispatch. */
#include "link/link.h"

#include "shape/shape.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)

static const ckpd__field link_field[LINK_FIELDS] = {
    {"pue", "", "power at the grid connection over IT power", CKPD_FIELD_NUMBER, 0, 1.0, 10.0, 1.0,
     NULL},
    {"fall_s", "s", "length of the drop of a checkpoint", CKPD_FIELD_NUMBER, 0, 0.0, 3600.0, 0.5,
     NULL},
    {"rise_s", "s", "length of the return", CKPD_FIELD_NUMBER, 0, 0.0, 3600.0, 1.0, NULL},
    {"shift_max_s", "s", "most that a checkpoint may be moved earlier", CKPD_FIELD_NUMBER, 0, 0.0,
     86400.0, 300.0, NULL},
    {"shift_step_s", "s", "grid of these moves", CKPD_FIELD_NUMBER, 0, 0.1, 3600.0, 1.0, NULL},
    {"settle_s", "s", "pause after a recovery that keeps events apart", CKPD_FIELD_NUMBER, 0, 0.0,
     3600.0, 10.0, NULL},
    {"fillable_w", "W", "part of a deficit that filler work takes and that costs nothing",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e12, 0.0, NULL},
    {"price_per_mw", "money/MW", "price of a save for each MW beyond that", CKPD_FIELD_NUMBER, 0,
     0.0, 1e12, 0.0, NULL},
    {"wear_per_mwh", "money/MWh", "price of the energy beyond that, which a battery has to take",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e12, 0.0, NULL},
};
static const ckpd__field_table link_fields = {"link", link_field, LINK_FIELDS};

int32_t ckpd_link_new(ckpd_link **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (out == NULL || context == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(context, "out");
    }
    ckpd_link *link = ckpd__calloc(context, 1, sizeof *link);
    if (link == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(link, CKPD__LINK, context);
    ckpd__fields_defaults(&link_fields, link->values);
    *out = link;
    return CKPD_OK;
}

void ckpd_link_free(ckpd_link *link)
{
    CKPD__NULL_IF_FOREIGN(link, CKPD__LINK);
    if (link == NULL) {
        return;
    }
    ckpd_context *context = link->context;
    for (int32_t i = 0; i < link->jobs; i++) {
        ckpd__free(context, link->job[i].name);
        ckpd__free(context, link->job[i].number);
    }
    ckpd__free(context, link->job);
    ckpd__handle_end(link);
}

int32_t ckpd_link_set(ckpd_link *link, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    return link == NULL ? CKPD_ERR_ARGUMENT
                        : ckpd__fields_set(link->context, &link_fields, link->values, field, value);
}

int32_t ckpd_link_get(const ckpd_link *link, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    return link == NULL ? CKPD_ERR_ARGUMENT
                        : ckpd__fields_get(link->context, &link_fields, link->values, field, value);
}

int32_t ckpd_link_field_count(void)
{
    return LINK_FIELDS;
}

int32_t ckpd_link_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &link_fields, index, out);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int32_t find_job(const ckpd_link *link, const char *name)
{
    for (int32_t i = 0; i < link->jobs; i++) {
        if (strcmp(link->job[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Takes over `number` when it succeeds. */
static int32_t append_job(ckpd_link *link, const char *name, int32_t modes, double *number)
{
    ckpd_context *context = link->context;
    if (find_job(link, name) >= 0) {
        return ckpd__fail(context, CKPD_ERR_DUPLICATE, "name", -1, (double)NAN,
                          "link: job %s is there already", name);
    }
    ckpd__link_job *grown =
        ckpd__realloc(context, link->job, (size_t)link->jobs + 1, sizeof *grown);
    if (grown == NULL) {
        return ckpd__no_memory(context);
    }
    link->job = grown;
    char *copy = ckpd__strdup(context, name);
    if (copy == NULL) {
        return ckpd__no_memory(context);
    }
    grown[link->jobs++] = (ckpd__link_job){copy, modes, number};
    return CKPD_OK;
}

int32_t ckpd_link_add_job_numbers(ckpd_link *link, const char *name, int32_t modes,
                                  const double *depth_w, const double *duration_s,
                                  const double *interval_s)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = link->context;
    if (name == NULL || depth_w == NULL || duration_s == NULL || interval_s == NULL) {
        return ckpd__null_argument(context, name == NULL         ? "name"
                                            : depth_w == NULL    ? "depth_w"
                                            : duration_s == NULL ? "duration_s"
                                                                 : "interval_s");
    }
    if (modes < 1) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "modes", -1, (double)modes,
                          "link: job %s has %d modes", name, modes);
    }
    int32_t status = ckpd__check_series(context, "depth_w", depth_w, modes, 0.0, 1e12);
    status = status == CKPD_OK
                 ? ckpd__check_series(context, "duration_s", duration_s, modes, 1e-3, 86400.0)
                 : status;
    status = status == CKPD_OK
                 ? ckpd__check_series(context, "interval_s", interval_s, modes, 1.0, 1e9)
                 : status;
    if (status != CKPD_OK) {
        return status;
    }
    double *number = ckpd__calloc(context, 3 * (size_t)modes, sizeof *number);
    if (number == NULL) {
        return ckpd__no_memory(context);
    }
    memcpy(number, depth_w, (size_t)modes * sizeof *number);
    memcpy(number + modes, duration_s, (size_t)modes * sizeof *number);
    memcpy(number + 2 * modes, interval_s, (size_t)modes * sizeof *number);
    status = append_job(link, name, modes, number);
    if (status != CKPD_OK) {
        ckpd__free(context, number);
    }
    return status;
}

/* Depth, length and interval of one mode. */
static int32_t evaluate(const ckpd_link *link, const char *name, const ckpd_mode_set *modes,
                        const ckpd_checkpoint *checkpoint, int32_t mode, double *depth_w,
                        double *duration_s, double *interval_s)
{
    ckpd_mode known = {.size = sizeof known};
    ckpd_checkpoint_cost cost = {.size = sizeof cost};
    int32_t status = ckpd_mode_set_get(modes, mode, &known);
    status =
        status == CKPD_OK ? ckpd_checkpoint_evaluate(checkpoint, modes, mode, 0.0, &cost) : status;
    if (status != CKPD_OK) {
        return status;
    }
    if (!isfinite(known.checkpoint_kw)) {
        return ckpd__fail(
            link->context, CKPD_ERR_MISSING, "checkpoint_kw", mode, known.checkpoint_kw,
            "link: job %s has no checkpoint power in mode %d; give its depths as numbers", name,
            mode);
    }
    double depth = 1000.0 * link->values[LINK_PUE] * (known.power_kw - known.checkpoint_kw);
    *depth_w = depth > 0.0 ? depth : 0.0;
    *duration_s = cost.stall_s > 1e-3 ? cost.stall_s : 1e-3;
    *interval_s = 3600.0 * cost.interval_h;
    return CKPD_OK;
}

int32_t ckpd_link_add_job(ckpd_link *link, const char *name, const ckpd_mode_set *modes,
                          const ckpd_checkpoint *checkpoint)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    CKPD__REFUSE_FOREIGN(link, modes, CKPD__MODE_SET);
    CKPD__REFUSE_FOREIGN(link, checkpoint, CKPD__CHECKPOINT);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = link->context;
    if (name == NULL || modes == NULL) {
        return ckpd__null_argument(context, name == NULL ? "name" : "modes");
    }
    int32_t count = ckpd_mode_set_count(modes), status = CKPD_OK;
    ckpd_checkpoint *own = NULL;
    if (checkpoint == NULL) {
        status = ckpd_checkpoint_new(&own, context);
    }
    double *number = ckpd__calloc(context, 3 * (size_t)count, sizeof *number);
    if (status == CKPD_OK && number == NULL) {
        status = ckpd__no_memory(context);
    }
    for (int32_t m = 0; m < count && status == CKPD_OK; m++) {
        status = evaluate(link, name, modes, own != NULL ? own : checkpoint, m, &number[m],
                          &number[count + m], &number[2 * count + m]);
    }
    if (status == CKPD_OK) {
        status = ckpd_link_add_job_numbers(link, name, count, number, number + count,
                                           number + 2 * count);
    }
    ckpd__free(context, number);
    ckpd_checkpoint_free(own);
    return status;
}

int32_t ckpd__link_saves(const ckpd__link_job *job, int32_t mode, double length_s)
{
    double saves = floor(length_s / ckpd__link_interval_s(job, mode) * (1.0 + 1e-9));
    return saves < 1.0 ? 1 : (int32_t)fmin(saves, INT32_MAX);
}

/* --- prices and reservations ------------------------------------------------------------------ */

double ckpd_link_step_cost(const ckpd_link *link, const char *name, int32_t mode, double hours)
{
    CKPD__NULL_IF_FOREIGN(link, CKPD__LINK);
    int32_t index = link == NULL || name == NULL ? -1 : find_job(link, name);
    if (index < 0 || mode < 0 || mode >= link->job[index].modes || !(hours >= 0.0)) {
        return (double)NAN;
    }
    const ckpd__link_job *job = &link->job[index];
    double beyond = ckpd__link_depth_w(job, mode) - link->values[LINK_FILLABLE_W];
    if (beyond <= 0.0) {
        return 0.0;
    }
    double mw = beyond / 1e6;
    double save = mw * link->values[LINK_PRICE_PER_MW] +
                  mw * ckpd__link_duration_s(job, mode) / 3600.0 * link->values[LINK_WEAR_PER_MWH];
    return save * ckpd__link_saves(job, mode, 3600.0 * hours);
}

static double edge_cost(const char *name, const ckpd_edge *edge, int32_t *failed, void *user)
{
    const ckpd_link *link = user;
    double cost = ckpd_link_step_cost(link, name, edge->mode,
                                      (edge->to_slot - edge->from_slot) * link->slot_hours);
    *failed = isnan(cost);
    return cost;
}

int32_t ckpd_link_price(ckpd_link *link, ckpd_graph_options *options, double slot_hours)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    CKPD__REFUSE_FOREIGN(link, options, CKPD__GRAPH_OPTIONS);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (options == NULL) {
        return ckpd__null_argument(link->context, "options");
    }
    int32_t status =
        ckpd__check_range(link->context, "slot_hours", -1, slot_hours, 1.0 / 3600.0, 168.0);
    if (status != CKPD_OK) {
        return status;
    }
    link->slot_hours = slot_hours;
    return ckpd_graph_options_set_edge_cost(options, edge_cost, link);
}

int32_t ckpd_link_filler_gpus(const ckpd_link *link, const ckpd_shape *shape, double deficit_w,
                              double *gpus)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    CKPD__REFUSE_FOREIGN(link, shape, CKPD__SHAPE);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (shape == NULL || gpus == NULL) {
        return ckpd__null_argument(link->context, shape == NULL ? "shape" : "gpus");
    }
    int32_t status = ckpd__check_range(link->context, "deficit_w", -1, deficit_w, 0.0, 1e12);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__rig rig;
    status = ckpd__rig_build(&rig, shape);
    if (status != CKPD_OK) {
        return status;
    }
    /* Mean over planned rows of the power that a group gives over the time it holds its GPUs. */
    double power = 0.0;
    int32_t rows = 0;
    for (int32_t row = 0; row < rig.first_row[rig.fillers]; row++) {
        const ckpd__profile *p = &rig.profile[row];
        if (p->planned) {
            double full = p->duration_s - 0.5 * p->up_s -
                          0.5 * (1.0 - p->tail_level) * (p->duration_s - p->tail_s);
            power += p->power_w * full / (p->duration_s + rig.delay_s + p->down_s);
            rows++;
        }
    }
    double groups = rows > 0 ? ceil(deficit_w / (power / rows) / rig.margin) : 0.0;
    int32_t size = rig.group_size;
    ckpd__rig_free(&rig);
    if (rows == 0) {
        return ckpd__fail(link->context, CKPD_ERR_MISSING, "filler", -1, (double)NAN,
                          "link: the shaping problem has no filler that plans may use");
    }
    *gpus = groups * size;
    return CKPD_OK;
}

int32_t ckpd_link_reserve(const ckpd_link *link, ckpd_site *site, double gpus)
{
    CKPD__REFUSE_FOREIGN(NULL, link, CKPD__LINK);
    CKPD__REFUSE_FOREIGN(link, site, CKPD__SITE);
    if (link == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = link->context;
    if (site == NULL) {
        return ckpd__null_argument(context, "site");
    }
    int32_t status = ckpd__check_range(context, "gpus", -1, gpus, 0.0, 1e9);
    if (status != CKPD_OK) {
        return status;
    }
    int32_t slots = ckpd_site_slots(site);
    double *cap = ckpd__calloc(context, (size_t)slots, sizeof *cap);
    if (cap == NULL) {
        return ckpd__no_memory(context);
    }
    status = ckpd_site_get_series(site, "gpu_cap", cap, slots);
    for (int32_t t = 0; t < slots && status == CKPD_OK; t++) {
        if (cap[t] < gpus) {
            status = ckpd__fail(context, CKPD_ERR_RANGE, "gpus", t, gpus,
                                "link: %g GPUs cannot be reserved in slot %d, which has %g", gpus,
                                t, cap[t]);
        }
        cap[t] -= gpus;
    }
    status = status == CKPD_OK ? ckpd_site_set_series(site, "gpu_cap", cap, slots) : status;
    ckpd__free(context, cap);
    return status;
}
