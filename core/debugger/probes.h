#pragma once

// Private to debugger: runs a plan under a probe.

#include <map>

#include "debugger/debugger.h"
#include "executor/probe.h"

namespace hopscope::debugger {

// Runs the plan on a CPU, batch by batch, and passes all results to the probe.
base::Status runProbed(const Subject& subject, const plan::Plan& plan, const base::TensorMap& inputs,
                       executor::Probe& probe, const Settings& settings, std::stop_token stop);

// Numbers the batches of each stage, from 1.
class BatchCounter {
public:
    std::int64_t number(const executor::Probed& result);

private:
    plan::StageId m_stage{0};
    ir::SpaceId m_loop;
    std::int64_t m_first = -1, m_number = 0;
};

}  // namespace hopscope::debugger
