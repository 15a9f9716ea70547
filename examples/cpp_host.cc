/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A C++17 host: handles in unique_ptr, statuses as exceptions, a progress callback into an object.
 * An exception must not pass through the library: the callback keeps it and stops the solve.
 */
#include <ckptdispatch.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

template <auto Free>
struct Deleter {
    template <class T>
    void operator()(T *handle) const noexcept
    {
        Free(handle);
    }
};
template <class T, auto Free>
using Handle = std::unique_ptr<T, Deleter<Free>>;

using Context = Handle<ckpd_context, ckpd_context_free>;
using Case = Handle<ckpd_case, ckpd_case_free>;
using Problem = Handle<ckpd_problem, ckpd_problem_free>;
using Options = Handle<ckpd_solve_options, ckpd_solve_options_free>;
using Solution = Handle<ckpd_solution, ckpd_solution_free>;

class Error : public std::runtime_error {
public:
    Error(int32_t status, const std::string &message) : std::runtime_error(message), code(status) {}
    const int32_t code;
};

void check(const Context &context, int32_t status)
{
    if (status != CKPD_OK)
        throw Error(status, context ? ckpd_context_last_message(context.get()) : "no context");
}

/* Calls a constructor of the library, which fills its first argument, and owns what it made. */
template <class Owner, class Make, class... Arguments>
Owner make(const Context &context, Make *function, Arguments... arguments)
{
    typename Owner::pointer handle = nullptr;
    check(context, function(&handle, arguments...));
    return Owner(handle);
}

struct Progress {
    int calls = 0;
    std::exception_ptr thrown;

    static int32_t callback(const ckpd_progress *progress, void *user) noexcept
    {
        auto *self = static_cast<Progress *>(user);
        try {
            self->on(*progress);
            return 0;
        } catch (...) {
            self->thrown = std::current_exception();
            return 1;
        }
    }

private:
    void on(const ckpd_progress &) { calls++; }
};

Solution solve(const Context &context, const Problem &problem, int32_t scenario)
{
    Progress progress;
    auto options = make<Options>(context, ckpd_solve_options_new, context.get());
    check(context, ckpd_solve_options_set(options.get(), "relative_gap", 1e-3));
    check(context, ckpd_solve_options_set_progress(options.get(), Progress::callback, &progress));
    auto solution =
        make<Solution>(context, ckpd_problem_solve, problem.get(), scenario, options.get());
    if (progress.thrown)
        std::rethrow_exception(progress.thrown);
    return solution;
}

void run(const std::string &path)
{
    auto context = make<Context>(Context(), ckpd_context_new, nullptr);
    auto day = make<Case>(context, ckpd_case_load, context.get(), path.c_str());
    auto problem = make<Problem>(context, ckpd_case_build_problem, day.get());
    for (const int32_t scenario : {CKPD_SCENARIO_S1, CKPD_SCENARIO_S4}) {
        const auto solution = solve(context, problem, scenario);
        const ckpd_plan *plan = ckpd_solution_plan(solution.get());
        if (plan == nullptr)
            throw std::runtime_error("no plan");
        std::vector<double> load(static_cast<std::size_t>(ckpd_plan_slots(plan)));
        check(context,
              ckpd_plan_get_series(plan, "site_load_kw", load.data(), ckpd_plan_slots(plan)));
        double mwh = 0;
        for (const double kw : load)
            mwh += kw * ckpd_case_slot_hours(day.get()) / 1000;
        std::printf("S%d: cost %.2f, site load %.2f MWh\n", scenario,
                    ckpd_solution_cost(solution.get()), mwh);
    }
    /* A failure arrives as an exception with the library's words, and nothing leaks. */
    try {
        make<Case>(context, ckpd_case_load, context.get(), "no-such-case.json");
    } catch (const Error &error) {
        if (error.code != CKPD_ERR_FILE)
            throw;
        std::printf("as expected: %s\n", error.what());
        return;
    }
    throw std::runtime_error("a missing file was read");
}

} // namespace

int main(int count, char **words)
{
    try {
        run(count > 1 ? words[1] : "examples/cases/j4-b.json");
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
