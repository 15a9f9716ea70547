/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/members.h"

#include <ckptdispatch/io.h>
#include <math.h>
#include <string.h>

#define ANY -HUGE_VAL, HUGE_VAL
#define TEXT(name, required, doc)                             \
    {                                                         \
        name, CKPD__MEMBER_TEXT, required, "", doc, NULL, ANY \
    }
#define OBJECT(name, required, doc)                             \
    {                                                           \
        name, CKPD__MEMBER_OBJECT, required, "", doc, NULL, ANY \
    }
#define OBJECTS(name, required, doc)                             \
    {                                                            \
        name, CKPD__MEMBER_OBJECTS, required, "", doc, NULL, ANY \
    }
#define LIST(name, doc)                                           \
    {                                                             \
        name, CKPD__MEMBER_INTEGERS, 0, "", doc, NULL, 1, 1048576 \
    }

static const ckpd__member CASE[] = {
    {"schema", CKPD__MEMBER_CHOICE, 1, "", "what kind of file this is", "ckptdispatch-case", ANY},
    {"schema_version", CKPD__MEMBER_INTEGER, 1, "", "version of the format", NULL, 1, 1},
    TEXT("name", 1, "short name of the case, shown in reports"),
    TEXT("description", 0, "what the case is and where its figures come from"),
    OBJECT("horizon", 1, "time grid"),
    OBJECT("site", 1, "prices, renewables, load, limits, storage"),
    OBJECTS("hardware", 0, "GPU types; one for now. Needed by jobs without a mode table"),
    OBJECT("mode_rules", 1, "which layouts are tried and kept, for all jobs"),
    OBJECTS("jobs", 1, "training jobs; may be empty"),
    OBJECT("graph", 0, "how checkpoint-state graphs are built"),
    OBJECT("solve", 0, "solver and limits"),
    OBJECT("published", 0, "figures that others published for this case, shown beside ours"),
};

static const ckpd__member HORIZON[] = {
    {"slots", CKPD__MEMBER_INTEGER, 1, "", "number of slots", NULL, 1, 100000},
    {"slot_minutes", CKPD__MEMBER_NUMBER, 1, "min", "length of a slot", NULL, 1.0 / 60, 10080},
    TEXT("start", 0,
         "start of the first slot, ISO 8601 with offset or Z; series files are cut to it"),
};

static const ckpd__member SITE[] = {
    OBJECTS("batteries", 0, "battery storage; at most one for now"),
    OBJECTS("cost_curves", 0, "convex piecewise-linear costs beside the tariff"),
};

static const ckpd__member SERIES_FILE[] = {
    TEXT("file", 1, "CSV file, relative to the case file (docs/series.md)"),
    TEXT("column", 1, "name of the column in the header row"),
    TEXT("unit", 0, "unit of the column, when the header does not say it"),
    {"factor", CKPD__MEMBER_NUMBER, 0, "", "every value is multiplied by it (default 1)", NULL,
     ANY},
    {"fill", CKPD__MEMBER_CHOICE, 0, "", "what stands in for missing values (default: refuse)",
     "refuse|hold|linear", ANY},
    TEXT("fill_column", 0, "missing values come from this column at the same times, not by a rule"),
    TEXT("fill_file", 0, "file of fill_column, read with the same options (default: file)"),
    TEXT("fill_unit", 0, "unit of fill_column, when the header does not say it (default: unit)"),
    {"filters", CKPD__MEMBER_PAIRS, 0, "", "[column, text]: only rows that have this text there",
     NULL, ANY},
};

static const ckpd__member CURVE[] = {
    {"slot", CKPD__MEMBER_INTEGER, 0, "", "slot of the curve; absent: every slot", NULL, 0, 99999},
    {"argument", CKPD__MEMBER_CHOICE, 1, "", "flow that is charged for",
     "import|export|net_load|curtailment", ANY},
    {"points", CKPD__MEMBER_POINTS, 1, "kW, money/h",
     "[kW, money per hour] pairs, kW ascending, slopes not falling", NULL, ANY},
};

static const ckpd__member HARDWARE[] = {
    TEXT("preset", 1, "GPU type whose published figures are the defaults of the other fields"),
};

static const ckpd__member RULES[] = {
    LIST("tp", "tensor-parallel sizes tried (default: powers of two up to the node)"),
    LIST("pp", "pipeline stages tried (default: divisors of the layers)"),
    LIST("dp", "data-parallel sizes tried (default: divisors of the batch)"),
    LIST("cp", "context-parallel sizes tried (default: 1)"),
    LIST("ep", "expert-parallel sizes tried (default: 1)"),
    LIST("micro_batch", "sequences per micro-batch tried (default: 1, 2, 4, 8)"),
    LIST("interleave", "model chunks per stage tried (default: 1)"),
    {"recompute", CKPD__MEMBER_CHOICES, 0, "",
     "activation recomputation tried (default: all three)", "none|selective|full", ANY},
};

static const ckpd__member JOB[] = {
    TEXT("name", 1, "unique among the jobs"),
    OBJECT("task", 1, "model, training run, tranche due, deadline, start state"),
    OBJECT("mode_rules", 0, "rules for this job, on top of those of the case"),
    OBJECTS("modes", 0, "measured modes, instead of the analytic model"),
    OBJECTS("runs", 0,
            "measured runs of this model on this hardware, which anchor the analytic model"),
    {"fit", CKPD__MEMBER_CHOICES, 0, "", "what the runs fit besides the efficiency",
     "layer_overhead|network|link|memory|power", ANY},
    OBJECT("checkpoint", 0,
           "what saving, restarting and changing modes costs, charged on each start of a mode"),
    OBJECTS("change_costs", 0, "the same as measured; later entries replace earlier ones"),
    {"transitions", CKPD__MEMBER_CHOICE, 0, "",
     "mode changes allowed between checkpoints: any (default), only of dp, or none",
     "any|same_tp_pp|none", ANY},
    {"forbidden_transitions", CKPD__MEMBER_PAIRS, 0, "",
     "[from, to] labels of modes that must not follow one another", NULL, ANY},
};

static const ckpd__member TASK[] = {
    TEXT("model", 0, "published model whose architecture fills the fields that are not given"),
    TEXT("reference", 0, "published model whose training run calibrates the modes"),
};

static const ckpd__member MODE[] = {
    {"gpus", CKPD__MEMBER_INTEGER, 1, "", "GPUs held", NULL, 1, 1e7},
    {"rate_per_s", CKPD__MEMBER_NUMBER, 1, "1/s",
     "work done per second in any unit, the same for all modes of the job", NULL, 0, HUGE_VAL},
    {"power_kw", CKPD__MEMBER_NUMBER, 1, "kW", "IT power of all GPUs of the mode while training",
     NULL, 0, HUGE_VAL},
    {"idle_power_kw", CKPD__MEMBER_NUMBER, 0, "kW", "IT power of the same GPUs idle", NULL, 0,
     HUGE_VAL},
    {"tp", CKPD__MEMBER_INTEGER, 0, "", "tensor parallel; layouts: all four or none", NULL, 1, 1e6},
    {"pp", CKPD__MEMBER_INTEGER, 0, "", "pipeline stages", NULL, 1, 1e6},
    {"dp", CKPD__MEMBER_INTEGER, 0, "", "data parallel", NULL, 1, 1e6},
    {"micro_batch", CKPD__MEMBER_INTEGER, 0, "", "sequences per micro-batch", NULL, 1, 1e6},
    TEXT("label", 0, "name shown in reports"),
};

static const ckpd__member RUN[] = {
    {"tp", CKPD__MEMBER_INTEGER, 0, "", "tensor parallel; what is not known is left out", NULL, 1,
     1e6},
    {"pp", CKPD__MEMBER_INTEGER, 0, "", "pipeline stages", NULL, 1, 1e6},
    {"dp", CKPD__MEMBER_INTEGER, 0, "", "data parallel", NULL, 1, 1e6},
    {"micro_batch", CKPD__MEMBER_INTEGER, 0, "", "sequences per micro-batch", NULL, 1, 1e6},
    {"cp", CKPD__MEMBER_INTEGER, 0, "", "context parallel (default 1)", NULL, 1, 1e6},
    {"ep", CKPD__MEMBER_INTEGER, 0, "", "expert parallel (default 1)", NULL, 1, 1e6},
    {"interleave", CKPD__MEMBER_INTEGER, 0, "", "model chunks per stage (default 1)", NULL, 1, 1e6},
    {"recompute", CKPD__MEMBER_CHOICE, 0, "", "activation recomputation", "none|selective|full",
     ANY},
    {"gpus", CKPD__MEMBER_INTEGER, 0, "", "GPUs, when tp, pp and dp are not all given", NULL, 1,
     1e7},
    {"iteration_s", CKPD__MEMBER_NUMBER, 0, "s",
     "time of an iteration; this, the rate or the GPU-hours", NULL, 0, HUGE_VAL},
    {"tokens_per_s", CKPD__MEMBER_NUMBER, 0, "1/s", "rate of the whole run", NULL, 0, HUGE_VAL},
    {"gpu_hours", CKPD__MEMBER_NUMBER, 0, "GPU-h", "over all tokens of the task", NULL, 0,
     HUGE_VAL},
    {"memory_gb", CKPD__MEMBER_NUMBER, 0, "GB", "peak of the fullest GPU", NULL, 0, HUGE_VAL},
    {"power_kw", CKPD__MEMBER_NUMBER, 0, "kW", "IT power of all GPUs of the run", NULL, 0,
     HUGE_VAL},
};

static const ckpd__member CHANGE[] = {
    TEXT("from", 0,
         "label of the mode that ran last; \"\": none has run yet; absent: whatever ran"),
    TEXT("to", 0, "label of the mode that starts; absent: any"),
    {"hours", CKPD__MEMBER_NUMBER, 0, "h", "before training goes on (default 0)", NULL, 0, 1e6},
    {"money", CKPD__MEMBER_NUMBER, 0, "money", "of each start (default 0)", NULL, -1e12, 1e12},
};

static const ckpd__member SOLVE[] = {
    TEXT("backend", 0, "solver by name; absent: the library chooses"),
};

static const ckpd__member PUBLISHED[] = {
    TEXT("source", 0, "where the figures were published"),
    OBJECTS("figures", 1, "the figures"),
};

static const ckpd__member FIGURE[] = {
    {"scenario", CKPD__MEMBER_CHOICE, 0, "", "scenario the figure belongs to", "S1|S2|S3|S4|S5|S6",
     ANY},
    TEXT("job", 0, "job the figure belongs to"),
    TEXT("figure", 1,
         "a figure of the report, saving_share (against S1), feasible_modes, retained_modes"),
    {"value", CKPD__MEMBER_NUMBER, 1, "", "its published value", NULL, ANY},
};

#define OWN(list) list, (int32_t)(sizeof list / sizeof list[0])

const ckpd__object ckpd__objects[CKPD__AT_COUNT] = {
    [CKPD__AT_CASE] = {"", "the file as a whole", OWN(CASE), NULL},
    [CKPD__AT_HORIZON] = {"horizon", "the time grid", OWN(HORIZON), NULL},
    [CKPD__AT_SITE] = {"site", "series of the site: a number for all slots, or an array", OWN(SITE),
                       &ckpd__series_type},
    [CKPD__AT_FILE] = {"site.*", "a series that is read from a file", OWN(SERIES_FILE),
                       &ckpd__series_options_type},
    [CKPD__AT_BATTERY] = {"site.batteries[]", "a battery", NULL, 0, &ckpd__battery_type},
    [CKPD__AT_CURVE] = {"site.cost_curves[]", "a custom cost", OWN(CURVE), NULL},
    [CKPD__AT_HARDWARE] = {"hardware[]", "a GPU type", OWN(HARDWARE), &ckpd__hardware_type},
    [CKPD__AT_RULES] = {"mode_rules", "rules of enumeration", OWN(RULES), &ckpd__rules_type},
    [CKPD__AT_JOB] = {"jobs[]", "a training job", OWN(JOB), NULL},
    [CKPD__AT_TASK] = {"jobs[].task", "a training task", OWN(TASK), &ckpd__task_type},
    [CKPD__AT_MODE] = {"jobs[].modes[]", "a measured mode", OWN(MODE), NULL},
    [CKPD__AT_RUN] = {"jobs[].runs[]", "a measured run", OWN(RUN), NULL},
    [CKPD__AT_CHECKPOINT] = {"jobs[].checkpoint", "costs of checkpoints and mode changes", NULL, 0,
                             &ckpd__checkpoint_type},
    [CKPD__AT_CHANGE] = {"jobs[].change_costs[]", "what starting a mode costs", OWN(CHANGE), NULL},
    [CKPD__AT_GRAPH] = {"graph", "graph options", NULL, 0, &ckpd__graph_type},
    [CKPD__AT_SOLVE] = {"solve", "solve options", OWN(SOLVE), &ckpd__solve_type},
    [CKPD__AT_PUBLISHED] = {"published", "published figures", OWN(PUBLISHED), NULL},
    [CKPD__AT_FIGURE] = {"published.figures[]", "a published figure", OWN(FIGURE), NULL},
};

const ckpd__document ckpd__case_document = {"Case file of ckptdispatch", ckpd__objects,
                                            CKPD__AT_COUNT};

const char *const ckpd__member_type_names[] = {"number", "integer", "flag",     "choice",
                                               "text",   "series",  "integers", "choices",
                                               "points", "pairs",   "object",   "objects"};

static void from_field(const ckpd__handle_type *type, const ckpd_field_info *info,
                       ckpd__member *out)
{
    static const int32_t TYPES[] = {0,
                                    CKPD__MEMBER_NUMBER,
                                    CKPD__MEMBER_INTEGER,
                                    CKPD__MEMBER_FLAG,
                                    CKPD__MEMBER_CHOICE,
                                    CKPD__MEMBER_TEXT};
    bool known = info->kind >= CKPD_FIELD_NUMBER && info->kind <= CKPD_FIELD_TEXT;
    *out = (ckpd__member){.name = info->name,
                          .type = type == &ckpd__series_type ? CKPD__MEMBER_SERIES
                                  : known                    ? TYPES[info->kind]
                                                             : CKPD__MEMBER_NUMBER,
                          .required = info->required,
                          .unit = info->unit,
                          .doc = info->doc,
                          .choices = info->choices,
                          .minimum = info->minimum,
                          .maximum = info->maximum};
}

int32_t ckpd__member_count(const ckpd__object *object)
{
    return object->count + (object->fields != NULL ? object->fields->count() : 0);
}

bool ckpd__member_at(const ckpd__object *object, int32_t index, ckpd__member *out,
                     double *default_value)
{
    *default_value = (double)NAN;
    if (index < object->count) {
        *out = object->members[index];
        return true;
    }
    ckpd_field_info info = {.size = sizeof info};
    if (object->fields == NULL || object->fields->info(index - object->count, &info) != CKPD_OK) {
        return false;
    }
    from_field(object->fields, &info, out);
    *default_value = info.default_value;
    return true;
}

bool ckpd__member_find(const ckpd__object *object, const char *name, ckpd__member *out)
{
    int32_t count = ckpd__member_count(object);
    double ignored;
    for (int32_t i = 0; i < count; i++) {
        if (ckpd__member_at(object, i, out, &ignored) && strcmp(out->name, name) == 0) {
            return true;
        }
    }
    return false;
}

int32_t ckpd__document_member_count(const ckpd__document *d)
{
    int32_t count = 0;
    for (int32_t i = 0; i < d->count; i++) {
        count += ckpd__member_count(&d->objects[i]);
    }
    return count;
}

int32_t ckpd__document_member_info(const ckpd__document *d, int32_t index, ckpd_member_info *out)
{
    if (out == NULL || index < 0) {
        return CKPD_ERR_ARGUMENT;
    }
    for (int32_t i = 0; i < d->count; i++) {
        int32_t count = ckpd__member_count(&d->objects[i]);
        ckpd__member member;
        double value;
        if (index >= count) {
            index -= count;
            continue;
        }
        if (!ckpd__member_at(&d->objects[i], index, &member, &value)) {
            return CKPD_ERR_INTERNAL;
        }
        ckpd_member_info info = {.size = sizeof info,
                                 .required = member.required,
                                 .object = d->objects[i].path,
                                 .object_doc = d->objects[i].doc,
                                 .name = member.name,
                                 .type = ckpd__member_type_names[member.type],
                                 .unit = member.unit != NULL ? member.unit : "",
                                 .doc = member.doc,
                                 .choices = member.choices != NULL ? member.choices : "",
                                 .minimum = member.minimum,
                                 .maximum = member.maximum,
                                 .default_value = value};
        return CKPD__STRUCT_OUT(NULL, member_info, out, &info);
    }
    return CKPD_ERR_RANGE;
}

int32_t ckpd_case_member_count(void)
{
    return ckpd__document_member_count(&ckpd__case_document);
}

int32_t ckpd_case_member_info(int32_t index, ckpd_member_info *out)
{
    return ckpd__document_member_info(&ckpd__case_document, index, out);
}
