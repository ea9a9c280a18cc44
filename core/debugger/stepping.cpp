#include "debugger/stepping.h"

#include <algorithm>
#include <mutex>

#include "debugger/breakpoints.h"
#include "debugger/capture.h"

namespace hopscope::debugger {

struct Stepping::State final : executor::Probe {
    State(const analysis::Analysis& a, const plan::Plan& p, Steps wantsToStop, Hold untilItGoesOn)
        : analysis(a),
          plan(p),
          steps(std::move(wantsToStop)),
          hold(std::move(untilItGoesOn))
    {}

    [[nodiscard]] bool everyOperator() const override { return true; }

    void computed(const executor::Probed& result) override
    {
        const std::int64_t batch = batches.number(result);
        const bool hit = isHit(result);
        if (hit || steps()) hold({seenNow(analysis, result, batch), hit});
    }

    bool isHit(const executor::Probed& result)
    {
        const std::lock_guard lock(mutex);
        return std::ranges::any_of(breakpoints, [&](const ResolvedBreakpoint& b) { return holds(b, result); });
    }

    const analysis::Analysis& analysis;
    const plan::Plan& plan;
    Steps steps;
    Hold hold;
    BatchCounter batches;
    std::mutex mutex;
    std::vector<ResolvedBreakpoint> breakpoints;
};

Stepping::Stepping(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Stepping::~Stepping() = default;

base::Result<std::unique_ptr<Stepping>> Stepping::make(const analysis::Analysis& analysis, const plan::Plan& plan,
                                                       const std::vector<Breakpoint>& breakpoints, Steps steps,
                                                       Hold hold)
{
    std::unique_ptr<Stepping> made(
        new Stepping(std::make_unique<State>(analysis, plan, std::move(steps), std::move(hold))));
    if (const base::Status set = made->setBreakpoints(breakpoints); !set) return base::forward(set);
    return made;
}

base::Status Stepping::setBreakpoints(const std::vector<Breakpoint>& breakpoints)
{
    auto resolved = resolveBreakpoints(m_state->analysis, m_state->plan, breakpoints);
    if (!resolved) return base::forward(resolved);
    const std::lock_guard lock(m_state->mutex);
    m_state->breakpoints = std::move(*resolved);
    return {};
}

executor::Probe& Stepping::probe() { return *m_state; }

}  // namespace hopscope::debugger
