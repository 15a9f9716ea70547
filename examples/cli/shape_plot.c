/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The picture of a shaped checkpoint: power before and after, fill by type, frequency, battery. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILLERS = 24 };

typedef struct picture {
    FILE *out;
    int64_t points;
    int fillers, kept;
    double *time, *deficit, *fill, *before_hz, *after_hz, *before_w, *after_w;
    double *by_filler[MOST_FILLERS];
    const char *name[MOST_FILLERS];
    double load_w, deadband_hz, f0_hz;
    int64_t first, last; /* points drawn: first <= i < last */
} picture;

static double *trace(const ckpd_shape_run *run, const char *name, int64_t *points)
{
    int64_t count = 0;
    if (ckpd_shape_run_trace(run, name, 0, NULL, &count) != CKPD_OK) {
        return NULL;
    }
    double *values = calloc((size_t)count, sizeof *values);
    if (values != NULL && ckpd_shape_run_trace(run, name, count, values, &count) != CKPD_OK) {
        free(values);
        return NULL;
    }
    *points = count;
    return values;
}

static bool read_traces(picture *p, const ckpd_shape *shape, const ckpd_shape_run *none,
                        const ckpd_shape_run *run)
{
    int64_t other = 0;
    p->time = trace(run, "time_s", &p->points);
    p->deficit = trace(run, "deficit_w", &p->points);
    p->fill = trace(run, "fill_w", &p->points);
    p->after_hz = trace(run, "deviation_hz", &p->points);
    p->after_w = trace(run, "battery_w", &p->points);
    p->before_hz = trace(none, "deviation_hz", &other);
    p->before_w = trace(none, "battery_w", &other);
    bool good = p->time != NULL && p->deficit != NULL && p->fill != NULL && p->after_hz != NULL &&
                p->after_w != NULL && p->before_hz != NULL && p->before_w != NULL &&
                other == p->points;
    for (int k = 0; good && k < ckpd_shape_filler_count(shape) && p->fillers < MOST_FILLERS; k++) {
        char name[80];
        snprintf(name, sizeof name, "fill_w:%s", ckpd_shape_filler_name(shape, k));
        double *values = trace(run, name, &other), most = 0.0;
        good = values != NULL;
        for (int64_t i = 0; good && i < p->points; i++) {
            most = fmax(most, values[i]);
        }
        if (most > 0.0) {
            p->name[p->fillers] = ckpd_shape_filler_name(shape, k);
            p->by_filler[p->fillers++] = values;
        } else {
            free(values);
        }
    }
    return good;
}

static void free_traces(picture *p)
{
    double *blocks[] = {p->time,     p->deficit,  p->fill,   p->before_hz,
                        p->after_hz, p->before_w, p->after_w};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        free(blocks[i]);
    }
    for (int k = 0; k < p->fillers; k++) {
        free(p->by_filler[k]);
    }
}

/* Drawn is the first event (and what overlaps with it), from 5 s before to 15 s after: the window
 * of the figures. Traces jump between events. */
static void find_window(picture *p)
{
    int64_t end = 1, from = -1, to = 0;
    while (end < p->points && p->time[end] - p->time[end - 1] < 1.0) {
        end++;
    }
    for (int64_t i = 0; i < end; i++) {
        if (p->deficit[i] > 0.0) {
            from = from < 0 ? i : from;
            to = i;
        }
    }
    from = from < 0 ? 0 : from;
    for (p->first = from; p->first > 0 && p->time[from] - p->time[p->first] < 5.0; p->first--) {
    }
    for (p->last = to; p->last < end && p->time[p->last] - p->time[to] < 15.0; p->last++) {
    }
    p->last = p->last > p->first + 1 ? p->last : end;
}

static void put_data(const picture *p)
{
    fputs("# s  load before  load after  deficit  cumulated fill by type ...  Hz before  after  "
          "battery before  after\n"
          "$run << EOD\n",
          p->out);
    for (int64_t i = p->first; i < p->last; i += 5) {
        fprintf(p->out, "%.6g %.6g %.6g %.6g", p->time[i], (p->load_w - p->deficit[i]) / 1e6,
                (p->load_w - p->deficit[i] + p->fill[i]) / 1e6, p->deficit[i] / 1e6);
        double sum = 0.0;
        for (int k = 0; k < p->fillers; k++) {
            sum += p->by_filler[k][i];
            fprintf(p->out, " %.6g", sum / 1e6);
        }
        fprintf(p->out, " %.6g %.6g %.6g %.6g\n", p->before_hz[i], p->after_hz[i],
                p->before_w[i] / 1e6, p->after_w[i] / 1e6);
    }
    fputs("EOD\n", p->out);
}

static void put_panel(const picture *p, const char *label, bool last)
{
    fprintf(p->out, "set ylabel '%s'\n%s\n", label,
            last ? "set xlabel 'time (s)'\nset format x '%g'" : "unset xlabel\nset format x ''");
}

static void put_line(const picture *p, double hz, const char *look, const char *title)
{
    fprintf(p->out, ", %.6g w l %s %s%s%s", hz, look, title != NULL ? "t '" : "notitle",
            title != NULL ? title : "", title != NULL ? "'" : "");
}

/* Least and largest value of two traces in the window. */
static void range_of(const picture *p, const double *a, const double *b, double *low, double *high)
{
    *low = *high = 0.0;
    for (int64_t i = p->first; i < p->last; i++) {
        *low = fmin(*low, fmin(a[i], b[i]));
        *high = fmax(*high, fmax(a[i], b[i]));
    }
}

/* Limits of ISO 8528-5 G2 and IEEE 1547 as lines, or in words where the frequency stays far inside:
 * lines would flatten the curve. */
static void put_frequency(const picture *p, int column)
{
    double band = 0.015 * p->f0_hz, above = 0.02 * p->f0_hz, below = -0.025 * p->f0_hz, low, high;
    range_of(p, p->before_hz, p->after_hz, &low, &high);
    bool near = fmax(-low, high) > 0.4 * band;
    if (near) {
        fprintf(p->out, "set yrange [%.4g:%.4g]\nset key bottom right\n", 1.1 * fmin(low, below),
                1.1 * fmax(high, above));
    } else {
        double room = fmax(high - low, 0.02);
        fprintf(p->out,
                "set yrange [%.4g:%.4g]\n"
                "set label 1 'limits outside the picture: ISO 8528-5 G2 band +-%.2f Hz, IEEE 1547 "
                "trips %+.2f and %+.2f Hz' at graph 0.99,0.07 right font ',10'\n",
                low - 0.2 * room, high + 0.1 * room, band, above, below);
    }
    fprintf(p->out,
            "plot $run u 1:%d w l lc '#999999' lw 1.5 t 'without filler', '' u 1:%d w l lc "
            "'#aa3377' lw 2 t 'with filler'",
            column, column + 1);
    put_line(p, p->deadband_hz, "lc '#228833' dt 2", "battery dead band");
    put_line(p, -p->deadband_hz, "lc '#228833' dt 2", NULL);
    if (near) {
        put_line(p, band, "lc '#cc3311' dt 2", "ISO 8528-5 G2 band");
        put_line(p, -band, "lc '#cc3311' dt 2", NULL);
        put_line(p, above, "lc '#cc3311' lw 1.5", "IEEE 1547 trips after 300 s");
        put_line(p, below, "lc '#cc3311' lw 1.5", NULL);
    }
    fputs("\nunset label 1\nset key top right\n", p->out);
}

static void put_script(const picture *p)
{
    static const char *const COLOUR[] = {"#4477aa", "#66ccee", "#228833", "#ccbb44",
                                         "#ee6677", "#aa3377", "#bbbbbb", "#004488"};
    int hz = 5 + p->fillers;
    fputs("# Run with: gnuplot shape.gp\n"
          "if (!exists('form')) form = 'svg'\n"
          "if (form eq 'svg') set terminal svg size 1000,1100 dynamic font 'sans,13' background "
          "'#ffffff'; else "
          "set terminal pngcairo size 1000,1100 font 'sans,11'\n"
          "set output 'shape.'.form\n",
          p->out);
    put_data(p);
    fprintf(p->out,
            "set multiplot layout 4,1 margins 0.09,0.97,0.06,0.97 spacing 0.02\n"
            "set grid lc '#dddddd'\nset key top right opaque samplen 2\nset xrange [%.6g:%.6g]\n",
            p->time[p->first], p->time[p->last - 1]);
    put_panel(p, "load (MW)", false);
    fputs("plot $run u 1:2 w l lc '#999999' lw 1.5 t 'training dip alone', "
          "'' u 1:3 w l lc '#004488' lw 2 t 'with filler'\n",
          p->out);
    put_panel(p, "deficit and fill (MW)", false);
    fputs("plot ", p->out);
    for (int k = p->fillers - 1; k >= 0; k--) {
        fprintf(p->out, "$run u 1:%d w filledcurves y1=0 lc '%s' t '%s', ", 5 + k, COLOUR[k % 8],
                p->name[k]);
    }
    fputs("$run u 1:4 w l lc '#000000' lw 2 t 'deficit'\n", p->out);
    put_panel(p, "frequency deviation (Hz)", false);
    put_frequency(p, hz);
    put_panel(p, "battery (MW, charging up)", true);
    double low, high;
    range_of(p, p->before_w, p->after_w, &low, &high);
    double room = fmax(1.05e-6 * (high - low), 0.05);
    fprintf(p->out,
            "set yrange [%.3g:%.3g]\n"
            "plot $run u 1:%d w l lc '#999999' lw 1.5 t 'without filler', '' u 1:%d w l lc "
            "'#228833' lw 2 t 'with filler'\nunset multiplot\n",
            low / 1e6 - 0.1 * room, high / 1e6 + 0.1 * room, hz + 2, hz + 3);
}

int cli_shape_plot(cli *tool, const ckpd_shape *shape, const ckpd_shape_run *none,
                   const ckpd_shape_run *run, const ckpd_microgrid *grid, const char *folder)
{
    picture p;
    memset(&p, 0, sizeof p);
    bool ready = ckpd_microgrid_get(grid, "load_w", &p.load_w) == CKPD_OK &&
                 ckpd_microgrid_get(grid, "battery_deadband_hz", &p.deadband_hz) == CKPD_OK &&
                 ckpd_microgrid_get(grid, "f0_hz", &p.f0_hz) == CKPD_OK &&
                 read_traces(&p, shape, none, run);
    char *path = cli_join(folder, "shape.gp");
    p.out = ready && path != NULL ? fopen(path, "w") : NULL;
    int status = -1;
    if (p.out == NULL) {
        status = cli_usage(tool, "cannot write %s", path != NULL ? path : "shape.gp");
    } else {
        find_window(&p);
        put_script(&p);
        status = fclose(p.out) == 0 ? -1 : cli_usage(tool, "cannot write %s", path);
    }
    free(path);
    free_traces(&p);
    if (status >= 0) {
        return status;
    }
    int drawn = cli_run_gnuplot(folder, "shape.gp", "svg");
    drawn = drawn == 0 ? cli_run_gnuplot(folder, "shape.gp", "png") : drawn;
    if (drawn != 0) {
        fprintf(stderr, "ckptdispatch: gnuplot %s: no picture drawn (shape.gp holds it)\n",
                drawn == 127 ? "was not found" : "failed");
    }
    return -1;
}
