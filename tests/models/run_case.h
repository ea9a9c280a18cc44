#pragma once

#include <string>

#include "models/cases.h"

namespace hopscope::models {

struct Outcome {
    bool passed = false;
    std::string verdict;  // "equal", "refused", "WRONG", ...
    std::string detail;   // stages, largest error, or what failed and where
};

// Loads, analyses and runs a model with every strategy, batch size and order on every graph, and compares. The plans
// made for the first graph also run the others, as long as its guards hold there. `device` as executor::Options has it.
Outcome runCase(const Case& c, const std::string& device = "cpu");

}  // namespace hopscope::models
