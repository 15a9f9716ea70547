#include "base/fields.h"
#include <ckptdispatch/dispatch.h>
#include <math.h>
#include <string.h>
int32_t ckpd_problem_new(ckpd_problem **out, ckpd_context *context, const ckpd_site *site){(void)out;(void)context;(void)site; return CKPD_ERR_NOT_SUPPORTED;}
void ckpd_problem_free(ckpd_problem *problem){(void)problem; }
int32_t ckpd_problem_add_job(ckpd_problem *problem, const ckpd_graph *graph){(void)problem;(void)graph; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_job_count(const ckpd_problem *problem){(void)problem; return 0;}
const char * ckpd_problem_job_name(const ckpd_problem *problem, int32_t job){(void)problem;(void)job; return 0;}
const ckpd_graph * ckpd_problem_job_graph(const ckpd_problem *problem, int32_t job){(void)problem;(void)job; return 0;}
int32_t ckpd_problem_set_site(ckpd_problem *problem, const ckpd_site *site){(void)problem;(void)site; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_set_segments(ckpd_problem *problem, int32_t job, int32_t segments){(void)problem;(void)job;(void)segments; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_set_gpu_cap(ckpd_problem *problem, double gpus){(void)problem;(void)gpus; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_solve_options_set_progress(ckpd_solve_options *options, ckpd_progress_fn progress,
                                                 void *user){(void)options;(void)progress;(void)user; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_solve_options_set_cancel(ckpd_solve_options *options, const ckpd_cancel *cancel){(void)options;(void)cancel; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_plan_new(ckpd_plan **out, ckpd_context *context, int32_t jobs, int32_t slots){(void)out;(void)context;(void)jobs;(void)slots; return CKPD_ERR_NOT_SUPPORTED;}
void ckpd_plan_free(ckpd_plan *plan){(void)plan; }
int32_t ckpd_plan_add_step(ckpd_plan *plan, int32_t job, const ckpd_step *step){(void)plan;(void)job;(void)step; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_plan_set_series(ckpd_plan *plan, const char *name, const double *values,
                                      int32_t count){(void)plan;(void)name;(void)values;(void)count; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_plan_get_series(const ckpd_plan *plan, const char *name, double *values,
                                      int32_t count){(void)plan;(void)name;(void)values;(void)count; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_plan_job_count(const ckpd_plan *plan){(void)plan; return 0;}
int32_t ckpd_plan_slots(const ckpd_plan *plan){(void)plan; return 0;}
int32_t ckpd_plan_step_count(const ckpd_plan *plan, int32_t job){(void)plan;(void)job; return 0;}
int32_t ckpd_plan_get_step(const ckpd_plan *plan, int32_t job, int32_t index, ckpd_step *out){(void)plan;(void)job;(void)index;(void)out; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_verify(ckpd_report **out, const ckpd_problem *problem, int32_t scenario,
                                     const ckpd_plan *plan, double claimed_cost){(void)out;(void)problem;(void)scenario;(void)plan;(void)claimed_cost; return CKPD_ERR_NOT_SUPPORTED;}
void ckpd_report_free(ckpd_report *report){(void)report; }
int32_t ckpd_report_violation_count(const ckpd_report *report){(void)report; return 0;}
int32_t ckpd_report_get_violation(const ckpd_report *report, int32_t index, ckpd_violation *out){(void)report;(void)index;(void)out; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_report_get(const ckpd_report *report, const char *name, double *value){(void)report;(void)name;(void)value; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_report_field_count(void){ return 0;}
int32_t ckpd_report_field_info(int32_t index, ckpd_field_info *out){(void)index;(void)out; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_solve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                    const ckpd_solve_options *options){(void)out;(void)problem;(void)scenario;(void)options; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_resolve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                      const ckpd_solve_options *options, const ckpd_plan *start){(void)out;(void)problem;(void)scenario;(void)options;(void)start; return CKPD_ERR_NOT_SUPPORTED;}
void ckpd_solution_free(ckpd_solution *solution){(void)solution; }
int32_t ckpd_solution_outcome(const ckpd_solution *solution){(void)solution; return 0;}
int32_t ckpd_solution_is_proven(const ckpd_solution *solution){(void)solution; return 0;}
int32_t ckpd_solution_scenario(const ckpd_solution *solution){(void)solution; return 0;}
double ckpd_solution_cost(const ckpd_solution *solution){(void)solution; return 0;}
double ckpd_solution_bound(const ckpd_solution *solution){(void)solution; return 0;}
double ckpd_solution_absolute_gap(const ckpd_solution *solution){(void)solution; return 0;}
double ckpd_solution_relative_gap(const ckpd_solution *solution){(void)solution; return 0;}
const char * ckpd_solution_backend(const ckpd_solution *solution){(void)solution; return 0;}
int64_t ckpd_solution_iterations(const ckpd_solution *solution){(void)solution; return CKPD_ERR_NOT_SUPPORTED;}
int64_t ckpd_solution_nodes(const ckpd_solution *solution){(void)solution; return CKPD_ERR_NOT_SUPPORTED;}
const ckpd_plan * ckpd_solution_plan(const ckpd_solution *solution){(void)solution; return 0;}
const ckpd_report * ckpd_solution_report(const ckpd_solution *solution){(void)solution; return 0;}
int32_t ckpd_solution_cause_count(const ckpd_solution *solution){(void)solution; return 0;}
const char * ckpd_solution_cause(const ckpd_solution *solution, int32_t index){(void)solution;(void)index; return 0;}
int32_t ckpd_solution_progress(const ckpd_solution *solution, int32_t job, double *share,
                                        int32_t count){(void)solution;(void)job;(void)share;(void)count; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_export(const ckpd_problem *problem, int32_t scenario, int32_t format,
                                     ckpd_write_fn write, void *user){(void)problem;(void)scenario;(void)format;(void)write;(void)user; return CKPD_ERR_NOT_SUPPORTED;}
int32_t ckpd_problem_import(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                     const char *text, size_t length){(void)out;(void)problem;(void)scenario;(void)text;(void)length; return CKPD_ERR_NOT_SUPPORTED;}

struct ckpd_solve_options{ckpd_context*c;double v[8];};
static const ckpd__field F[]={{"relative_gap","","gap",1,0,0,1,1e-6,NULL},{"absolute_gap","money","gap",1,0,0,1e18,0,NULL},{"time_limit_s","s","limit",1,0,0,HUGE_VAL,HUGE_VAL,NULL},{"threads","","threads",2,0,1,64,1,NULL},{"seed","","seed",2,0,0,1e9,0,NULL}};
static const ckpd__field_table T={"solve options",F,5};
int32_t ckpd_solve_options_new(ckpd_solve_options**o,ckpd_context*c){*o=ckpd__calloc(c,1,sizeof**o);(*o)->c=ckpd__context_retain(c);ckpd__fields_defaults(&T,(*o)->v);return 0;}
void ckpd_solve_options_free(ckpd_solve_options*o){if(o){ckpd_context*c=o->c;ckpd__free(c,o);ckpd__context_release(c);}}
int32_t ckpd_solve_options_set(ckpd_solve_options*o,const char*f,double v){return ckpd__fields_set(o->c,&T,o->v,f,v);}
int32_t ckpd_solve_options_get(const ckpd_solve_options*o,const char*f,double*v){return ckpd__fields_get(o->c,&T,o->v,f,v);}
int32_t ckpd_solve_options_field_count(void){return 5;}
int32_t ckpd_solve_options_field_info(int32_t i,ckpd_field_info*o){return ckpd__fields_info(NULL,&T,i,o);}
int32_t ckpd_solve_options_set_backend(ckpd_solve_options*o,const char*n){(void)o;(void)n;return 0;}
