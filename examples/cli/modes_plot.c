/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The picture of a mode set: throughput against IT power, the frontier, and what was dropped below
 * it. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_block(FILE *out, const char *name, int job)
{
    fprintf(out, "$%s%d << EOD\n", name, job);
}

/* Rows: kW, thousand units a second, GPUs, band; an empty block would be an error for gnuplot. */
static void put_modes(FILE *out, const ckpd_mode_set *modes, int job)
{
    put_block(out, "kept", job);
    for (int32_t i = 0; i < ckpd_mode_set_count(modes); i++) {
        ckpd_mode m = {.size = sizeof m};
        if (ckpd_mode_set_get(modes, i, &m) == CKPD_OK) {
            double band = isfinite(m.rate_error) ? m.rate_error : 0;
            fprintf(out, "%.9g %.9g %d %.9g %.9g %d\n", m.power_kw, m.rate, (int)m.gpus,
                    m.rate * (1 - band), m.rate * (1 + band), (m.flags & CKPD_MODE_BASELINE) != 0);
        }
    }
    fputs("EOD\n", out);
    put_block(out, "dropped", job);
    fputs("NaN NaN\n", out);
    for (int32_t i = 0; i < ckpd_mode_set_dropped_count(modes); i++) {
        ckpd_mode m = {.size = sizeof m};
        int32_t reason = CKPD_DROP_NONE;
        if (ckpd_mode_set_dropped_get(modes, i, &m, &reason, NULL, 0) == CKPD_OK &&
            (reason == CKPD_DROP_DOMINATED || reason == CKPD_DROP_EQUAL)) {
            fprintf(out, "%.9g %.9g\n", m.power_kw, m.rate);
        }
    }
    fputs("EOD\n", out);
}

static void put_title(FILE *out, const char *name, const ckpd_mode_set *modes)
{
    fputs("set title '", out);
    for (const char *c = name; *c != '\0'; c++) {
        fputs(*c == '\'' ? "''" : "", out);
        fputc((unsigned char)*c < 0x20 || *c == '\'' ? ' ' : *c, out);
    }
    fprintf(out, ": %d of %d feasible modes kept' noenhanced\n", (int)ckpd_mode_set_count(modes),
            (int)ckpd_mode_set_feasible_count(modes));
}

static void put_job(FILE *out, const ckpd_mode_set *modes, const char *name, int job)
{
    ckpd_mode first = {.size = sizeof first};
    bool user =
        ckpd_mode_set_get(modes, 0, &first) == CKPD_OK && (first.flags & CKPD_MODE_USER) != 0;
    put_title(out, name, modes);
    fprintf(out, "set ylabel '%s'\n", user ? "rate, units/s" : "throughput, tokens/s");
    fprintf(out,
            "plot $kept%d using 1:4:5 with filledcurves lc rgb '#dbe9f6' title 'error band', \\\n"
            "     $dropped%d using 1:2 with points pt 7 ps 0.35 lc rgb '#a0a0a0' title "
            "'dominated', \\\n"
            "     $kept%d using 1:2 with linespoints pt 7 ps 0.7 lw 1.5 lc rgb '#1f5a99' title "
            "'kept', \\\n"
            "     $kept%d using ($6 == 1 ? $1 : NaN):2 with points pt 6 ps 2 lw 2 lc rgb '#c0392b' "
            "title "
            "'baseline', \\\n"
            "     $kept%d using 1:2:(sprintf('%%d', $3)) every %d with labels offset 0,-1 font "
            "',8' notitle\n",
            job, job, job, job, job, (int)(ckpd_mode_set_count(modes) / 12 + 1));
}

static bool wanted(const ckpd_case *loaded, int32_t job, const char *only)
{
    return only == NULL || strcmp(only, ckpd_task_name(ckpd_case_task(loaded, job))) == 0;
}

static bool write_script(const ckpd_case *loaded, const char *only, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return false;
    }
    int panels = 0;
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        if (wanted(loaded, job, only)) {
            put_modes(out, ckpd_case_mode_set(loaded, job), (int)job);
            panels++;
        }
    }
    fprintf(
        out,
        "if (!exists('form')) form = 'svg'\n"
        "if (form eq 'png') set terminal pngcairo size 900,%d font 'sans,10'; set output "
        "'modes.png'\n"
        "if (form eq 'svg') set terminal svg size 900,%d font 'sans,10' background rgb 'white'; "
        "set output "
        "'modes.svg'\n"
        "set multiplot layout %d,1\nset xlabel 'IT power, kW (labels: GPUs)'\nset grid lc rgb "
        "'#e4e4e4'\n"
        "set key left top\nset xrange [0:*]\nset yrange [0:*]\nset border 3\nset tics nomirror\n"
        "set format y '%%.0s%%c'\n",
        420 * panels, 420 * panels, panels);
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        if (wanted(loaded, job, only)) {
            put_job(out, ckpd_case_mode_set(loaded, job),
                    ckpd_task_name(ckpd_case_task(loaded, job)), (int)job);
        }
    }
    fputs("unset multiplot\n", out);
    return fclose(out) == 0;
}

int cli_modes_plot(cli *tool, const ckpd_case *loaded, const char *only, const char *folder)
{
    int status = cli_make_folder(tool, folder);
    if (status >= 0) {
        return status;
    }
    char *path = cli_join(folder, "modes.gp");
    bool written = path != NULL && write_script(loaded, only, path);
    if (!written) {
        status = cli_usage(tool, "--plot: cannot write %s", path != NULL ? path : folder);
    } else {
        int drawn = cli_run_gnuplot(folder, "modes.gp", "svg");
        drawn = drawn == 0 ? cli_run_gnuplot(folder, "modes.gp", "png") : drawn;
        if (drawn != 0) {
            fprintf(stderr, "ckptdispatch: gnuplot %s: no picture drawn (modes.gp holds it)\n",
                    drawn == 127 ? "was not found" : "failed");
        }
    }
    free(path);
    return status;
}
