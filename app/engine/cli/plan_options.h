#pragma once

// The options of `plan` about what it tells beside the plan.

#include <optional>
#include <string>

#include "pipeline/owners.h"

namespace CLI {
class App;
}

namespace hopscope::engine {

struct PlanTexts {
    std::string explain, steps;
    int workers = 0;       // 0: not asked for
    double network = 2.8;  // GB/s
    int replicas = 1;
};

void addPlanOptions(CLI::App& command, PlanTexts& texts);
std::optional<pipeline::WorkersRequest> workersOf(const PlanTexts& texts);

}  // namespace hopscope::engine
