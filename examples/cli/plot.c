/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The picture of a day: a gnuplot script with its data inside, so that it can be changed and run
 * again. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ROWS = 40, WIDTH_PX = 1000, ROW_PX = 34, POWER_PX = 300, SIDE_PX = 92 };

/* Series of the plan, in the order of the data block of the script. */
enum { WIND, SOLAR, CURTAILMENT, IMPORT, EXPORT, CHARGE, DISCHARGE, LOAD, PRICE, SERIES };
static const char *const SERIES_NAMES[SERIES] = {
    "wind_kw",   "solar_kw",     "curtailment_kw", "import_kw",           "export_kw",
    "charge_kw", "discharge_kw", "site_load_kw",   "import_price_per_mwh"};

typedef struct picture {
    FILE *out;
    const ckpd_case *loaded;
    const ckpd_solution *solution;
    const ckpd_plan *plan;
    int slots, rows;
    double hours, end;      /* slot length and horizon, h */
    double *series[SERIES]; /* [slots] */
    double *soc;            /* [slots + 1] */
    bool battery;
    int32_t largest; /* GPUs of the largest step */
} picture;

/* A text inside single quotes of gnuplot. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputc('\'', out);
        }
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
    fputc('\'', out);
}

static bool read_series(picture *p)
{
    double *block = calloc((size_t)(SERIES + 1) * (size_t)(p->slots + 1), sizeof *block);
    p->soc = block;
    for (int i = 0; i < SERIES && block != NULL; i++) {
        p->series[i] = block + (size_t)(i + 1) * (size_t)(p->slots + 1);
        if (ckpd_plan_get_series(p->plan, SERIES_NAMES[i], p->series[i], p->slots) != CKPD_OK) {
            return false;
        }
    }
    return block != NULL && (!p->battery || ckpd_plan_get_series(p->plan, "soc_kwh", p->soc,
                                                                 p->slots + 1) == CKPD_OK);
}

/* Both ends of each slot, so that areas have upright edges. */
static void put_data(const picture *p)
{
    fputs("# hour wind renewables used +discharge +import load load+charge+export price\n$slots << "
          "EOD\n",
          p->out);
    for (int t = 0; t < p->slots; t++) {
        double renewables = p->series[WIND][t] + p->series[SOLAR][t];
        double used = renewables - p->series[CURTAILMENT][t];
        double discharged = used + p->series[DISCHARGE][t];
        double demand = p->series[LOAD][t] + p->series[CHARGE][t] + p->series[EXPORT][t];
        for (int end = 0; end < 2; end++) {
            fprintf(p->out, "%.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g\n", (t + end) * p->hours,
                    p->series[WIND][t], renewables, used, discharged,
                    discharged + p->series[IMPORT][t], p->series[LOAD][t], demand,
                    p->series[PRICE][t]);
        }
    }
    fputs("EOD\n", p->out);
    if (p->battery) {
        fputs("$soc << EOD\n", p->out);
        for (int t = 0; t <= p->slots; t++) {
            fprintf(p->out, "%.6g %.6g\n", t * p->hours, p->soc[t]);
        }
        fputs("EOD\n", p->out);
    }
}

static void put_head(const picture *p, int height)
{
    double step = p->end <= 12 ? 1 : p->end <= 30 ? 3 : p->end <= 60 ? 6 : p->end <= 200 ? 24 : 168;
    fprintf(p->out,
            "# Run with: gnuplot plan.gp\n"
            "if (!exists('form')) form = 'svg'\n"
            "if (form eq 'svg') {\n"
            "    set terminal svg size %d,%d noenhanced font 'Helvetica,13' background '#ffffff'\n"
            "    set output 'plan.svg'\n"
            "} else {\n"
            "    if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
            "        set terminal pngcairo size %d,%d noenhanced font 'Sans,13' fontscale 1.4\n"
            "    } else {\n"
            "        set terminal png size %d,%d noenhanced\n"
            "    }\n"
            "    set output 'plan.png'\n"
            "}\n",
            WIDTH_PX, height, 2 * WIDTH_PX, 2 * height, 2 * WIDTH_PX, 2 * height);
    fprintf(p->out,
            "set encoding utf8\nset multiplot\nset lmargin at screen 0.105\nset rmargin at screen "
            "0.975\n"
            "set xrange [0:%.6g]\nset xtics %g nomirror scale 0.5 format ''\nset ytics nomirror "
            "scale 0.5\n"
            "set grid xtics ytics lt 1 lc rgb '#e2e2e2' lw 0.8\nset border 3 lc rgb '#606060'\n"
            "set tics textcolor rgb '#303030'\nset style fill solid 1 noborder\n",
            p->end, step);
}

static double largest_of(const picture *p, int series)
{
    double most = 0;
    for (int t = 0; t < p->slots; t++) {
        most = p->series[series][t] > most ? p->series[series][t] : most;
    }
    return most;
}

/* A round distance of tics that cuts `range` into two to four parts. */
static double tic_step(double range)
{
    double rough = range / 3, power = pow(10, floor(log10(rough > 0 ? rough : 1)));
    return power * (rough / power < 1.5   ? 1
                    : rough / power < 3.5 ? 2
                    : rough / power < 7.5 ? 5
                                          : 10);
}

static void put_frame(const picture *p, double top, double bottom, const char *label)
{
    fprintf(p->out,
            "set tmargin at screen %.4f\nset bmargin at screen %.4f\n"
            "set label 2 \"%s\" at screen 0.022,%.4f center rotate by 90 font ',12'\n",
            top, bottom, label, (top + bottom) / 2);
}

static const char *scenario_text(int32_t scenario)
{
    static const char *const TEXTS[] = {
        "",
        "continuous training, no battery",
        "continuous training with checkpoints, no battery",
        "no checkpoint continuity (a bound, not executable)",
        "checkpoint waiting and mode changes, no battery",
        "continuous training, battery",
        "checkpoint waiting and mode changes, battery",
    };
    return scenario >= 1 && scenario <= 6 ? TEXTS[scenario] : "";
}

static void put_title(const picture *p, double top)
{
    char title[400];
    snprintf(title, sizeof title, "%s, %s", ckpd_case_name(p->loaded),
             scenario_text(ckpd_solution_scenario(p->solution)));
    fputs("set label 1 ", p->out);
    put_quoted(p->out, title);
    fprintf(p->out, " at screen 0.105,%.4f left font ',15'\n", 1 - 0.30 * (1 - top));
    snprintf(title, sizeof title,
             "S%d: cost %.2f, %s; load %.3f, bought %.3f, curtailed %.3f MWh; green share %.2f %%",
             (int)ckpd_solution_scenario(p->solution), ckpd_solution_cost(p->solution),
             cli_outcome(p->solution), cli_figure(p->solution, "load_mwh"),
             cli_figure(p->solution, "import_mwh"), cli_figure(p->solution, "curtailment_mwh"),
             100 * cli_figure(p->solution, "green_share"));
    fputs("set label 3 ", p->out);
    put_quoted(p->out, title);
    fprintf(p->out, " at screen 0.105,%.4f left font ',11' textcolor rgb '#404040'\n",
            1 - 0.54 * (1 - top));
}

static void put_power(const picture *p, double top, double bottom)
{
    put_frame(p, top, bottom, "power, kW");
    put_title(p, top);
    fprintf(p->out,
            "set yrange [0:*]\nset key horizontal Left reverse left at screen 0.1,%.4f samplen 1.4 "
            "width -2 "
            "height 0 maxrows 1 font ',11'\n"
            "plot $slots using 1:(0):2 with filledcurves lc rgb '#6fa8a3' title 'wind', \\\n"
            "     '' using 1:2:3 with filledcurves lc rgb '#f3c95b' title 'solar', \\\n"
            "     '' using 1:5:6 with filledcurves lc rgb '#b4b4b4' title 'grid', \\\n",
            1 - 0.80 * (1 - top));
    if (p->battery) {
        fputs("     '' using 1:4:5 with filledcurves lc rgb '#8a63b5' title 'battery', \\\n",
              p->out);
    }
    if (largest_of(p, CURTAILMENT) > 1e-6) {
        fputs("     '' using 1:4:3 with filledcurves lc rgb '#fbeaea' notitle, \\\n"
              "     '' using 1:4:3 with filledcurves fs transparent pattern 4 lc rgb '#c0392b' "
              "title 'curtailed', \\\n",
              p->out);
    }
    bool charging = largest_of(p, CHARGE) > 1e-6, exporting = largest_of(p, EXPORT) > 1e-6;
    if (charging || exporting) {
        fprintf(p->out,
                "     '' using 1:7:8 with filledcurves fs transparent pattern 5 lc rgb '#5b3a8c' "
                "title '%s', \\\n",
                !exporting ? "charging"
                : charging ? "charging, export"
                           : "export");
    }
    fputs("     '' using 1:7 with lines lc rgb '#000000' lw 2.2 title 'site load'\n"
          "unset label 1\nunset label 3\nunset key\n",
          p->out);
}

static void put_price(const picture *p, double top, double bottom)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int t = 0; t < p->slots; t++) {
        low = fmin(low, p->series[PRICE][t]);
        high = fmax(high, p->series[PRICE][t]);
    }
    double step = tic_step(high - low > 0 ? high - low : 1);
    put_frame(p, top, bottom, "price,\\nper MWh");
    fprintf(p->out, "set yrange [%.6g:%.6g]\nset ytics %.6g\n", step * (ceil(low / step) - 1),
            step * (floor(high / step) + 1), step);
    fputs("plot $slots using 1:9 with lines lc rgb '#1f5fa8' lw 2 notitle\n", p->out);
}

static void put_soc(const picture *p, double top, double bottom)
{
    double size = 0;
    ckpd_battery_get(ckpd_case_battery(p->loaded), "energy_kwh", &size);
    put_frame(p, top, bottom, "stored,\\nkWh");
    fprintf(p->out,
            "set yrange [0:%.6g]\nset ytics %.6g\n"
            "plot $soc using 1:2 with filledcurves x1 lc rgb '#e4daef' notitle, \\\n"
            "     '' using 1:2 with lines lc rgb '#8a63b5' lw 2 notitle\n",
            size > 0 ? size : 1, tic_step(size > 0 ? size : 1));
}

/* From light to dark blue with the share of the largest mode. */
static unsigned colour_of(const picture *p, int32_t gpus)
{
    static const double LIGHT[3] = {198, 219, 239}, DARK[3] = {8, 64, 129};
    double share = p->largest > 0 ? (double)gpus / p->largest : 0;
    unsigned colour = 0;
    for (int i = 0; i < 3; i++) {
        colour = colour * 256 + (unsigned)lround(LIGHT[i] + share * (DARK[i] - LIGHT[i]));
    }
    return colour;
}

static void put_bar(const picture *p, double from, double to, double y, const char *style)
{
    fprintf(p->out, "set object rectangle from %.6g,%.3f to %.6g,%.3f %s\n", from, y - 0.36, to,
            y + 0.36, style);
}

static void put_step(const picture *p, const ckpd_step *step, double y)
{
    double from = step->from_slot * p->hours, to = step->to_slot * p->hours;
    char style[120];
    snprintf(style, sizeof style, "fc rgb '#%06x' fs solid 1 border lc rgb '#ffffff'",
             colour_of(p, step->gpus));
    put_bar(p, from, to, y, style);
    int segments = step->to_segment - step->from_segment;
    for (int k = 1; k <= segments; k++) {
        double at = from + k * (to - from) / segments;
        fprintf(p->out, "set arrow from %.6g,%.3f to %.6g,%.3f nohead lc rgb '%s' lw %s front\n",
                at, y - 0.36, at, k == segments ? y + 0.36 : y - 0.16,
                k == segments ? "#d62728" : "#ffffff", k == segments ? "1.8" : "1.2");
    }
}

/* One number for all steps that follow one another in the same mode, in the longest of them: in the
 * middle of all a line may stand. */
static void put_gpus(const picture *p, const ckpd_step *run, const ckpd_step *longest, double y)
{
    int32_t gpus = run->gpus, from_slot = longest->from_slot, to_slot = longest->to_slot;
    if ((run->to_slot - run->from_slot) * p->hours / p->end > 0.035) {
        fprintf(p->out, "set label '%d' at %.6g,%.3f center font ',10' textcolor rgb '%s' front\n",
                (int)gpus, (from_slot + to_slot) / 2.0 * p->hours, y,
                2 * gpus >= p->largest ? "#ffffff" : "#202020");
    }
}

static void put_wait(const picture *p, int32_t from_slot, int32_t to_slot, double y)
{
    put_bar(p, from_slot * p->hours, to_slot * p->hours, y,
            "fc rgb '#f2f2f2' fs solid 1 border lc rgb '#b0b0b0'");
    if ((to_slot - from_slot) * p->hours / p->end > 0.045) {
        fprintf(p->out, "set label 'wait' at %.6g,%.3f center font ',10' textcolor rgb '#707070'\n",
                (from_slot + to_slot) / 2.0 * p->hours, y);
    }
}

static void put_job(const picture *p, int32_t job, double y)
{
    ckpd_step run = {.size = sizeof run, .mode = -1}; /* steps so far in one mode, without a wait */
    ckpd_step longest = run;
    int32_t count = ckpd_plan_step_count(p->plan, job);
    for (int32_t i = 0; i < count; i++) {
        ckpd_step step = {.size = sizeof step};
        if (ckpd_plan_get_step(p->plan, job, i, &step) != CKPD_OK) {
            return;
        }
        bool goes_on = i > 0 && step.mode == run.mode && step.from_slot == run.to_slot;
        if (i > 0 && !goes_on) {
            put_gpus(p, &run, &longest, y);
        }
        if (i > 0 && step.from_slot > run.to_slot) {
            put_wait(p, run.to_slot, step.from_slot, y);
        }
        put_step(p, &step, y);
        int32_t slots = step.to_slot - step.from_slot;
        longest = goes_on && longest.to_slot - longest.from_slot >= slots ? longest : step;
        step.from_slot = goes_on ? run.from_slot : step.from_slot;
        run = step;
    }
    if (count > 0) {
        put_gpus(p, &run, &longest, y);
    }
}

static void put_jobs(const picture *p, double top, double bottom)
{
    int jobs = (int)ckpd_case_job_count(p->loaded);
    fprintf(p->out,
            "set tmargin at screen %.4f\nset bmargin at screen %.4f\nset yrange [%.1f:0.4]\n"
            "unset label 2\nunset grid\nset grid xtics lt 1 lc rgb '#e2e2e2' lw 0.8\n"
            "set xtics format '%%g'\nset xlabel 'hours from %s' offset 0,0.4\nset ytics scale 0 (",
            top, bottom, p->rows + 0.6,
            ckpd_case_start(p->loaded)[0] != '\0' ? ckpd_case_start(p->loaded) : "the start");
    for (int i = 0; i < p->rows; i++) {
        fputs(i > 0 ? ", " : "", p->out);
        put_quoted(p->out, ckpd_task_name(ckpd_case_task(p->loaded, i)));
        fprintf(p->out, " %d", i + 1);
    }
    fputs(")\n", p->out);
    for (int i = 0; i < p->rows; i++) {
        put_job(p, i, i + 1);
    }
    fprintf(p->out,
            "set label 'GPUs in use; red line: checkpoint at which the job may wait or change "
            "mode; white tick: "
            "checkpoint passed' at screen 0.105,%.4f left font ',10' textcolor rgb '#505050'\n",
            bottom * 0.1);
    if (jobs > p->rows) {
        fprintf(p->out,
                "set label '%d more jobs not shown' at screen 0.975,%.4f right font ',10'\n",
                jobs - p->rows, bottom * 0.1);
    }
    fputs("plot NaN notitle\nunset multiplot\nunset output\n", p->out);
}

static void put_script(picture *p)
{
    int panels = p->battery ? 2 : 1, jobs_px = ROW_PX * (p->rows > 0 ? p->rows : 1) + 10, gap = 14;
    int head = 96, foot = 66;
    int height = head + POWER_PX + panels * SIDE_PX + jobs_px + (panels + 1) * gap + foot;
    double scale = 1.0 / height;
    int at = height - head;
    put_data(p);
    put_head(p, height);
    put_power(p, at * scale, (at - POWER_PX) * scale);
    at -= POWER_PX + gap;
    put_price(p, at * scale, (at - SIDE_PX) * scale);
    at -= SIDE_PX + gap;
    if (p->battery) {
        put_soc(p, at * scale, (at - SIDE_PX) * scale);
        at -= SIDE_PX + gap;
    }
    put_jobs(p, at * scale, (at - jobs_px) * scale);
}

/* gnuplot inside the folder; 127: not found. */
int cli_run_gnuplot(const char *folder, const char *script, const char *form)
{
    char setting[32];
    snprintf(setting, sizeof setting, "form='%s'", form);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) == 0) {
            execlp("gnuplot", "gnuplot", "-e", setting, script, (char *)NULL);
        }
        _exit(127);
    }
    int result = 0;
    while (child > 0 && waitpid(child, &result, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(result) ? WEXITSTATUS(result) : 1;
}

static void find_largest(picture *p)
{
    for (int32_t job = 0; job < p->rows; job++) {
        for (int32_t i = 0; i < ckpd_plan_step_count(p->plan, job); i++) {
            ckpd_step step = {.size = sizeof step};
            if (ckpd_plan_get_step(p->plan, job, i, &step) == CKPD_OK && step.gpus > p->largest) {
                p->largest = step.gpus;
            }
        }
    }
}

int cli_plot(cli *tool, const ckpd_case *loaded, const ckpd_solution *solution, const char *folder)
{
    int32_t scenario = ckpd_solution_scenario(solution), jobs = ckpd_case_job_count(loaded);
    picture p = {.loaded = loaded,
                 .solution = solution,
                 .plan = ckpd_solution_plan(solution),
                 .slots = ckpd_case_slots(loaded),
                 .rows = jobs < MOST_ROWS ? jobs : MOST_ROWS,
                 .hours = ckpd_case_slot_hours(loaded),
                 .battery = scenario >= CKPD_SCENARIO_S5};
    p.end = p.slots * p.hours;
    find_largest(&p);
    char *path = cli_join(folder, "plan.gp");
    bool ready = path != NULL && read_series(&p);
    p.out = ready ? fopen(path, "w") : NULL;
    int status = -1;
    if (p.out == NULL) {
        status = cli_usage(tool, "cannot write %s", path != NULL ? path : "plan.gp");
    } else {
        put_script(&p);
        status = fclose(p.out) == 0 ? -1 : cli_usage(tool, "cannot write %s", path);
    }
    free(path);
    free(p.soc);
    if (status >= 0) {
        return status;
    }
    int drawn = cli_run_gnuplot(folder, "plan.gp", "svg");
    drawn = drawn == 0 ? cli_run_gnuplot(folder, "plan.gp", "png") : drawn;
    if (drawn == 127) {
        fputs("ckptdispatch: gnuplot was not found: no picture drawn (plan.gp holds it)\n", stderr);
    } else if (drawn != 0) {
        fputs("ckptdispatch: gnuplot failed: no picture drawn (plan.gp holds it)\n", stderr);
    }
    return -1;
}
