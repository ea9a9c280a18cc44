#pragma once

// Stops a run at an operator if the condition of a breakpoint holds or a step ends there.

#include <functional>
#include <memory>

#include "debugger/tensor.h"

namespace hopscope::executor {
class Probe;
}

namespace hopscope::debugger {

// The result at which a run is stopped.
struct Stopped {
    SeenTensor tensor;
    bool breakpoint = false;  // false: the run stopped at the end of a step
};

class Stepping {
public:
    // Callbacks on the run's thread. `steps` is called after each result of a batch at which no breakpoint stops, and
    // returns whether to stop there. `hold` is called at each stop, and returns when the run may continue.
    using Steps = std::function<bool()>;
    using Hold = std::function<void(Stopped)>;

    // Makes the probe. `analysis` and `plan` must outlive it. Fails with Usage if a breakpoint's `place` names neither
    // an operator nor a stage of the plan.
    static base::Result<std::unique_ptr<Stepping>> make(const analysis::Analysis& analysis, const plan::Plan& plan,
                                                        const std::vector<Breakpoint>& breakpoints, Steps steps,
                                                        Hold hold);
    ~Stepping();
    Stepping(const Stepping&) = delete;
    Stepping& operator=(const Stepping&) = delete;

    // Replaces the breakpoints, or fails as make() does. Can be called from any thread during the run.
    base::Status setBreakpoints(const std::vector<Breakpoint>& breakpoints);
    // Returns the probe for executor::Options.
    [[nodiscard]] executor::Probe& probe();

private:
    struct State;
    explicit Stepping(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

}  // namespace hopscope::debugger
