/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a run is judged by. */
#include "shape/run.h"

#include <math.h>
#include <string.h>

typedef struct sums {
    double time_s, hz_s, tracking_w_s, tracking_s;
    double charge_w_s, discharge_w_s;
} sums;

/* true in the window of any event; *tracked when power is tracked there. */
static bool in_window(const ckpd__simulation *sim, double t, bool *tracked)
{
    bool inside = false;
    *tracked = false;
    for (int32_t i = 0; i < sim->shape->events; i++) {
        const double *v = sim->real[i].values;
        double onset = v[EVENT_ONSET_S], recovery = onset + v[EVENT_DURATION_S];
        inside = inside || (t >= onset - 5.0 - 1e-9 && t <= recovery + 15.0 + 1e-9);
        *tracked = *tracked || (t >= onset - 1e-9 && t <= recovery + 1e-9);
    }
    return inside;
}

static void add_point(const ckpd__simulation *sim, ckpd_shape_run *run, int64_t i, sums *s)
{
    ckpd_shape_metrics *m = &run->metrics;
    bool tracked;
    double f = run->trace[TRACE_DEVIATION][i], battery = run->trace[TRACE_BATTERY][i],
           h = run->step_s;
    if (!in_window(sim, run->trace[TRACE_TIME][i], &tracked)) {
        return;
    }
    s->time_s += h;
    s->hz_s += h * fabs(f);
    s->charge_w_s += h * (battery > 0.0 ? battery : 0.0);
    s->discharge_w_s += h * (battery < 0.0 ? -battery : 0.0);
    m->max_abs_hz = fabs(f) > m->max_abs_hz ? fabs(f) : m->max_abs_hz;
    m->zenith_hz = f > m->zenith_hz ? f : m->zenith_hz;
    m->nadir_hz = f < m->nadir_hz ? f : m->nadir_hz;
    m->battery_peak_charge_w =
        battery > m->battery_peak_charge_w ? battery : m->battery_peak_charge_w;
    int64_t back = (int64_t)floor(0.1 / h + 0.5);
    if (i >= back &&
        fabs(run->trace[TRACE_TIME][i] - run->trace[TRACE_TIME][i - back] - 0.1) < 1e-6) {
        double rate = fabs(f - run->trace[TRACE_DEVIATION][i - back]) / 0.1;
        m->rocof_hz_s = rate > m->rocof_hz_s ? rate : m->rocof_hz_s;
    }
    if (tracked) {
        s->tracking_s += h;
        s->tracking_w_s += h * fabs(run->trace[TRACE_DEFICIT][i] - run->trace[TRACE_FILL][i]);
    }
}

static void measure_groups(const ckpd__simulation *sim, ckpd_shape_metrics *m)
{
    double wasted = 0.0, whole = 0.0, stretch = 0.0;
    for (int64_t g = 0; g < sim->groups; g++) {
        const ckpd__ran *ran = &sim->ran[g];
        const ckpd__profile *p = &sim->rig.profile[ran->row];
        double natural = p->duration_s * ran->factor;
        bool stopped = ran->stop_s < natural;
        double run_s = stopped ? (ran->stop_s > 0.0 ? ran->stop_s : 0.0) : natural;
        whole += run_s;
        wasted += stopped ? run_s : 0.0;
        stretch += p->stretch;
        m->stretch_max = p->stretch > m->stretch_max ? p->stretch : m->stretch_max;
        if (!stopped) {
            m->requests += p->requests;
            m->tokens += p->tokens;
        }
    }
    m->groups = sim->groups;
    m->peak_gpus = (int64_t)sim->peak_live * sim->rig.group_size;
    m->waste_share = whole > 0.0 ? wasted / whole : 0.0;
    m->stretch_mean = sim->groups > 0 ? stretch / (double)sim->groups : 0.0;
}

/* ISO 8528-5 class G2: back within 1.5 % of nominal in 5 s, at most +12 % and -10 %. */
static void judge_iso(ckpd_shape_run *run, double f0)
{
    ckpd_shape_metrics *m = &run->metrics;
    double band = 0.015 * f0, out_for = 0.0;
    for (int64_t i = 0; i < run->points; i++) {
        out_for = fabs(run->trace[TRACE_DEVIATION][i]) > band ? out_for + run->step_s : 0.0;
        m->iso_recovery_s = out_for > m->iso_recovery_s ? out_for : m->iso_recovery_s;
    }
    m->iso_g2 = m->iso_recovery_s <= 5.0 && m->zenith_hz <= 0.12 * f0 && m->nadir_hz >= -0.10 * f0;
}

/* Default trips of IEEE 1547-2018: frequency (at 60 Hz, scaled to f0) beyond a limit for a time. */
static void judge_ieee(ckpd_shape_run *run, double f0)
{
    static const struct {
        double hz, seconds;
        int32_t above;
    } trip[] = {{62.0, 0.16, 1}, {61.2, 300.0, 1}, {58.5, 300.0, 0}, {56.5, 0.16, 0}};
    run->metrics.ieee_1547 = 1;
    for (size_t k = 0; k < sizeof trip / sizeof trip[0]; k++) {
        double limit = (trip[k].hz / 60.0 - 1.0) * f0, beyond = 0.0;
        for (int64_t i = 0; i < run->points; i++) {
            double f = run->trace[TRACE_DEVIATION][i];
            beyond = (trip[k].above ? f > limit : f < limit) ? beyond + run->step_s : 0.0;
            if (beyond > trip[k].seconds) {
                run->metrics.ieee_1547 = 0;
            }
        }
    }
}

void ckpd__run_measure(const ckpd__simulation *sim, ckpd_shape_run *run,
                       const ckpd__machine *machine)
{
    ckpd_shape_metrics *m = &run->metrics;
    sums s;
    memset(&s, 0, sizeof s);
    m->size = sizeof *m;
    double fill_w_s = 0.0;
    for (int64_t i = 0; i < run->points; i++) {
        add_point(sim, run, i, &s);
        fill_w_s += run->trace[TRACE_FILL][i] * run->step_s;
    }
    m->mean_abs_hz = s.time_s > 0.0 ? s.hz_s / s.time_s : 0.0;
    m->battery_charge_wh = s.charge_w_s / 3600.0;
    m->battery_discharge_wh = s.discharge_w_s / 3600.0;
    double energy = sim->grid->values[GRID_BATTERY_ENERGY_WH];
    m->battery_soc_end = energy > 0.0 && sim->grid->values[GRID_BATTERY_POWER_W] > 0.0
                             ? machine->soc_wh / energy
                             : (double)NAN;
    m->tracking_w = s.tracking_s > 0.0 ? s.tracking_w_s / s.tracking_s : 0.0;
    measure_groups(sim, m);
    m->filler_kwh = fill_w_s / 3.6e6;
    m->energy_per_token_j = m->tokens > 0.0 ? fill_w_s / m->tokens : (double)NAN;
    m->saturated = machine->saturated;
    judge_iso(run, sim->grid->values[GRID_F0_HZ]);
    judge_ieee(run, sim->grid->values[GRID_F0_HZ]);
}
