/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The last step of a search whose gap is small: every plan that could be better than the best one
 * is written down. Under the prices at hand a plan costs the bound plus what its paths lie above
 * the shortest ones plus what its combinations lie above the cheapest ones, slot by slot; with a
 * storage that sum is a bound of what it costs. So the slots are walked in order, and a beginning
 * whose sum leaves the room below the cutoff is given up with all that could follow it.
 */
#include "solver/native/search.h"
#include "solver/native/storage.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

enum {
    MOST_SPOTS = 6000, /* places of jobs remembered at once, and some more for each slot */
    SPOTS_PER_SLOT = 40,
    FIRST_SPOTS = 500, /* room for so many at once; it grows */
    MOST_SLOTS = 4096,
    POLL_EVERY = 1000,
    DONE = INT32_MAX /* `end` of a job that has all its segments */
};

/* Where a job is in a slot: on its way to the node (state, end, segment). */
typedef struct spot {
    int32_t end, segment, state;
    int32_t activity; /* in the slot at hand */
    int32_t move;     /* under way, -1: none */
    int32_t from;     /* spot of the slot before, -1: none */
    bool starts;      /* the move starts here */
    double slack;     /* of the path so far above a shortest one */
} spot;

/* What a job can do in a slot: spots with the same activity. */
typedef struct group {
    int32_t activity, first, count;
    double least;
} group;

/* A slot on the way: what each job can do there, and what is tried at the moment. */
typedef struct frame {
    int32_t spots;   /* in use before this slot */
    double slack;    /* of the combinations before this slot */
    group *group;    /* [jobs][activities] */
    int32_t *groups; /* [jobs] */
    int32_t *chosen; /* [jobs] */
} frame;

typedef struct finish {
    nat_search *search;
    const nat_model *model;
    nat_memory memory;
    nat_path_work *work;   /* [jobs] ways on under the prices */
    nat_path_work *dearer; /* [jobs] under the prices with the combinations' share */
    double *idle;          /* [jobs][slots + 1] that share when the job idles from here on */
    double *least;         /* [slots] cheapest combination */
    double bound;
    spot *spot;
    int32_t spots, spot_room, most_spots;
    frame *frame; /* [slots] */
    int64_t next_poll;
    int64_t steps, most; /* places and combinations looked at */
    bool gave_up;
} finish;

/* --- what the prices say ---------------------------------------------------------------------- */

static bool price_all(finish *f)
{
    nat_dual *dual = &f->search->dual;
    const nat_model *model = f->model;
    f->bound = model->view->cost_offset;
    for (int32_t j = 0; j < model->jobs; j++) {
        dual->job_forbidden[j] = f->search->forbidden + dual->layout.job[j];
        f->bound += ckpd__nat_path_solve(&f->work[j], model, &model->job[j], dual->job_price[j],
                                         dual->job_forbidden[j]);
    }
    for (int32_t t = 0; t < model->slots; t++) {
        int32_t level;
        if (model->storage)
            ckpd__nat_stack_cost(dual->stack, model, t, dual->worth[t]);
        f->least[t] = ckpd__nat_slot_solve(
            &dual->slot_work, dual->stack, model, t, dual->job_price, dual->job_forbidden,
            dual->choice + 2 * (size_t)t * (size_t)model->jobs, &level);
        ckpd__nat_slot_marginals(&dual->slot_work, dual->stack, model, t, dual->job_price,
                                 dual->job_forbidden, f->search->excess, dual->layout.job);
        f->bound += f->least[t];
    }
    if (model->storage)
        f->bound += ckpd__nat_storage_levels(model, dual->worth);
    f->bound -= 1e-10 * (1 + fabs(f->bound));
    return f->bound > -NONE && f->bound < NONE;
}

/* What the slack of a plan may add up to; falls when a better plan is found. */
static double room(const finish *f)
{
    return ckpd__nat_search_cutoff(f->search) - f->bound;
}

static double slot_slack(const finish *f, int32_t t, const frame *at)
{
    const nat_dual *dual = &f->search->dual;
    const nat_stack *stack = dual->stack;
    int32_t level = 0;
    double paid = 0;
    for (int32_t j = 0; j < f->model->jobs; j++) {
        int32_t a = at->group[j * f->model->activities + at->chosen[j]].activity;
        level = nat_level_after(stack, f->model, j, a, level);
        if (level < 0)
            return NONE;
        paid += dual->job_price[j][(size_t)a * (size_t)f->model->slots + (size_t)t];
    }
    return stack->cost[(size_t)t * (size_t)stack->levels[stack->jobs] + (size_t)level] - paid -
           f->least[t];
}

/* Turns the marginals into prices with the combinations' share, and finds the ways on under them.
 */
static void price_dearer(finish *f)
{
    nat_dual *dual = &f->search->dual;
    const nat_model *model = f->model;
    size_t T = (size_t)model->slots;
    double most = 2 * (fabs(room(f)) + 1); /* more than that closes an activity as well */
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        double *own = f->search->excess + dual->layout.job[j],
               *idle = f->idle + (size_t)j * (T + 1);
        for (size_t i = 0; i < (size_t)job->activities * T; i++)
            own[i] = fmin(own[i] - f->least[i % T], most);
        idle[T] = 0;
        for (size_t t = T; t-- > 0;)
            idle[t] = idle[t + 1] + own[t];
        for (size_t i = 0; i < (size_t)job->activities * T; i++)
            own[i] += dual->job_price[j][i];
        ckpd__nat_path_solve(&f->dearer[j], model, job, own, dual->job_forbidden[j]);
    }
}

/* --- the next slot ---------------------------------------------------------------------------- */

/* What is to come for a job at a spot of slot t, in combinations and beyond its shortest path. */
static double ahead(const finish *f, int32_t j, int32_t t, const spot *s)
{
    const nat_job *job = &f->model->job[j];
    double idle = f->idle[(size_t)j * ((size_t)f->model->slots + 1) + (size_t)t];
    if (s->end == DONE)
        return idle;
    const nat_move *move = s->move >= 0 ? &job->move[s->move] : NULL;
    return idle +
           ckpd__nat_path_rest(&f->dearer[j], f->model, job, move, t, s->state, s->end,
                               s->segment) -
           ckpd__nat_path_rest(&f->work[j], f->model, job, move, t, s->state, s->end, s->segment);
}

/* Twice the room for spots, up to the limit. */
static bool more_spots(finish *f)
{
    int32_t twice = f->spot_room > 0 ? 2 * f->spot_room : FIRST_SPOTS;
    int32_t room = twice < f->most_spots ? twice : f->most_spots;
    spot *more = ckpd__nat_alloc(&f->memory, (size_t)room, sizeof *more);
    if (!more) {
        f->search->failed = true;
        return false;
    }
    if (f->spots > 0)
        memcpy(more, f->spot, (size_t)f->spots * sizeof *more);
    f->spot = more;
    f->spot_room = room;
    return true;
}

/* Adds a spot to the list that starts at `first`, unless the same place is there already. */
static void add_spot(finish *f, int32_t first, const spot *s)
{
    for (int32_t i = first; i < f->spots; i++) {
        spot *other = &f->spot[i];
        if (other->end == s->end && other->segment == s->segment && other->state == s->state &&
            other->activity == s->activity && (other->move == s->move || s->end == DONE)) {
            if (s->slack < other->slack)
                *other = *s;
            return;
        }
    }
    if (f->spots == f->spot_room && (f->spots == f->most_spots || !more_spots(f))) {
        f->gave_up = true;
        return;
    }
    f->spot[f->spots++] = *s;
}

static void try_spot(finish *f, int32_t j, int32_t t, int32_t first, const spot *s, double most)
{
    if (s->slack <= most && s->slack + ahead(f, j, t, s) <= most)
        add_spot(f, first, s);
}

/* All ways on from a node at boundary t; `from` is the number of the spot that leads there. */
static void leave_node(finish *f, int32_t j, int32_t t, int32_t first, int32_t from, double most)
{
    const nat_job *job = &f->model->job[j];
    const nat_path_work *work = &f->work[j];
    const spot at = f->spot[from];
    spot next = {.end = DONE,
                 .segment = at.segment,
                 .state = at.state,
                 .move = -1,
                 .from = from,
                 .slack = at.slack};
    if (at.segment == job->segments) {
        try_spot(f, j, t, first, &next, most);
        return;
    }
    f->steps += job->moves;
    next.end = t + 1;
    next.slack += ckpd__nat_path_excess(work, f->model, job, NULL, at.state, t, at.segment);
    try_spot(f, j, t, first, &next, most);
    for (int32_t i = 0; i < job->moves; i++) {
        const nat_move *move = &job->move[i];
        next = (spot){.end = t + move->slots,
                      .segment = at.segment + move->segments,
                      .state = job->states == 1 ? 0 : 1 + move->mode,
                      .activity = move->slots > 1 ? move->body : move->last,
                      .move = i,
                      .from = from,
                      .starts = true};
        next.slack =
            at.slack + ckpd__nat_path_excess(work, f->model, job, move, at.state, t, at.segment);
        try_spot(f, j, t, first, &next, most);
    }
}

static void go_on(finish *f, int32_t j, int32_t t, int32_t first, int32_t from, double most)
{
    spot next = f->spot[from];
    if (next.move >= 0 && t + 1 == next.end)
        next.activity = f->model->job[j].move[next.move].last;
    next.starts = false;
    next.from = from;
    try_spot(f, j, t, first, &next, most);
}

/* Puts the spots from `first` on in order of activity, which makes them groups. */
static int32_t make_groups(finish *f, int32_t first, group *group_of)
{
    int32_t groups = 0;
    for (int32_t i = first + 1; i < f->spots; i++) {
        spot moved = f->spot[i];
        int32_t to = i;
        for (; to > first && f->spot[to - 1].activity > moved.activity; to--)
            f->spot[to] = f->spot[to - 1];
        f->spot[to] = moved;
    }
    for (int32_t i = first; i < f->spots; i++) {
        const spot *s = &f->spot[i];
        if (i == first || s->activity != f->spot[i - 1].activity)
            group_of[groups++] = (group){s->activity, i, 0, NONE};
        group *g = &group_of[groups - 1];
        g->count++;
        g->least = s->slack < g->least ? s->slack : g->least;
    }
    return groups;
}

static group *group_at(const finish *f, const frame *at, int32_t j)
{
    return &at->group[(size_t)j * (size_t)f->model->activities + (size_t)at->chosen[j]];
}

/* Fills the frame of slot t from what was chosen in the slot before; false when nothing leads on.
 */
static bool enter_slot(finish *f, int32_t t, double slack)
{
    const nat_model *model = f->model;
    frame *at = &f->frame[t], *before = at - 1;
    double others = 0;
    at->spots = f->spots;
    at->slack = slack;
    for (int32_t j = 0; j < model->jobs; j++)
        others += t > 0 ? group_at(f, before, j)->least : 0;
    for (int32_t j = 0; j < model->jobs; j++) {
        group source = t > 0 ? *group_at(f, before, j) : (group){.first = j, .count = 1};
        int32_t first = f->spots;
        double most = room(f) - slack - (others - source.least);
        f->steps += source.count;
        for (int32_t i = source.first; i < source.first + source.count && !f->gave_up; i++)
            if (f->spot[i].end == t)
                leave_node(f, j, t, first, i, most);
            else
                go_on(f, j, t, first, i, most);
        at->groups[j] = make_groups(f, first, at->group + (size_t)j * (size_t)model->activities);
        at->chosen[j] = 0;
        if (at->groups[j] == 0)
            return false;
    }
    return !f->gave_up;
}

/* The next combination of the slot, in a fixed order; false when there is none. */
static bool next_choice(const finish *f, frame *at)
{
    for (int32_t j = 0; j < f->model->jobs; j++) {
        if (++at->chosen[j] < at->groups[j])
            return true;
        at->chosen[j] = 0;
    }
    return false;
}

/* --- plans ------------------------------------------------------------------------------------ */

static void read_path(const finish *f, int32_t j, nat_path *path)
{
    const nat_job *job = &f->model->job[j];
    const group *last = group_at(f, &f->frame[f->model->slots - 1], j);
    int32_t at = last->first, started[MOST_SLOTS];
    for (int32_t i = last->first; i < last->first + last->count; i++)
        at = f->spot[i].slack < f->spot[at].slack ? i : at;
    path->steps = 0;
    memset(path->activity, 0, (size_t)f->model->slots * sizeof *path->activity);
    for (int32_t t = f->model->slots - 1; t >= 0; t--, at = f->spot[at].from) {
        path->activity[t] = f->spot[at].activity;
        started[t] = f->spot[at].starts ? f->spot[at].move : -1;
    }
    for (int32_t t = job->source_slot; t < f->model->slots; t++)
        if (started[t] >= 0) {
            path->slot[path->steps] = t;
            path->move[path->steps++] = started[t];
        }
}

static void offer(finish *f)
{
    f->steps += f->model->storage ? 3 * f->model->slots : f->model->slots;
    for (int32_t j = 0; j < f->model->jobs; j++)
        read_path(f, j, &f->search->trial.path[j]);
    ckpd__nat_search_offer_trial(f->search);
}

static bool must_give_up(finish *f)
{
    nat_search *search = f->search;
    if (++f->steps >= f->next_poll && search->stop == 0 && search->host->should_stop) {
        search->stop = search->host->should_stop(search->host->user);
        f->next_poll = f->steps + POLL_EVERY;
    }
    return f->gave_up || search->stop != 0 || f->steps > f->most;
}

/* True when every plan below the cutoff was seen. */
static bool walk(finish *f)
{
    int32_t t = 0, last = f->model->slots - 1;
    bool entered = enter_slot(f, 0, 0);
    while (t >= 0) {
        frame *at = &f->frame[t];
        bool open = entered;
        for (; open; open = next_choice(f, at)) {
            if (must_give_up(f))
                return false;
            double slack = at->slack + slot_slack(f, t, at), paths = 0;
            for (int32_t j = 0; j < f->model->jobs; j++)
                paths += group_at(f, at, j)->least;
            if (!(slack + paths <= room(f)))
                continue;
            if (t == last)
                offer(f);
            else if (enter_slot(f, t + 1, slack))
                break;
            else if (f->gave_up)
                return false;
            else
                f->spots = f->frame[t + 1].spots;
        }
        if (open) {
            t++;
            entered = true;
            continue;
        }
        f->spots = at->spots;
        t--;
        entered = t >= 0 && next_choice(f, &f->frame[t]);
    }
    return true;
}

static bool begin(finish *f)
{
    const nat_model *model = f->model;
    size_t J = (size_t)model->jobs, T = (size_t)model->slots, A = (size_t)model->activities;
    f->work = ckpd__nat_alloc(&f->memory, J, sizeof *f->work);
    f->dearer = ckpd__nat_alloc(&f->memory, J, sizeof *f->dearer);
    f->idle = ckpd__nat_alloc(&f->memory, J * (T + 1), sizeof *f->idle);
    f->least = ckpd__nat_alloc(&f->memory, T, sizeof *f->least);
    f->most_spots = MOST_SPOTS + SPOTS_PER_SLOT * model->slots;
    f->frame = ckpd__nat_alloc(&f->memory, T, sizeof *f->frame);
    group *groups = ckpd__nat_alloc(&f->memory, T * J * A, sizeof *groups);
    int32_t *numbers = ckpd__nat_alloc(&f->memory, 2 * T * J, sizeof *numbers);
    if (!f->work || !f->dearer || !f->idle || !f->least || !more_spots(f) || !f->frame || !groups ||
        !numbers)
        return false;
    for (size_t t = 0; t < T; t++) {
        f->frame[t].group = groups + t * J * A;
        f->frame[t].groups = numbers + 2 * t * J;
        f->frame[t].chosen = numbers + (2 * t + 1) * J;
    }
    for (size_t j = 0; j < J; j++) {
        const nat_job *job = &model->job[j];
        if (!ckpd__nat_path_work_init(&f->work[j], &f->memory, model) ||
            !ckpd__nat_path_work_init(&f->dearer[j], &f->memory, model))
            return false;
        f->spot[f->spots++] = (spot){.end = job->source_slot,
                                     .segment = job->source_segment,
                                     .state = job->source_state,
                                     .move = -1,
                                     .from = -1};
    }
    return true;
}

bool ckpd__nat_search_finish(nat_search *search, int64_t most)
{
    finish f = {.search = search, .model = search->model, .most = most};
    f.memory.host = search->host;
    if (search->model->slots > MOST_SLOTS || search->model->jobs == 0)
        return false;
    search->failed = search->failed || !begin(&f);
    bool whole = !search->failed && price_all(&f);
    if (whole) {
        price_dearer(&f);
        whole = walk(&f);
    }
    ckpd__nat_release(&f.memory);
    return whole;
}
