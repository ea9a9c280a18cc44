#pragma once

#include <string>
#include <vector>

#include "models/configurations.h"

namespace hopscope::models {

struct Outcome {
    bool passed = false;
    std::string verdict;             // "equal", "refused", "WRONG", ...
    std::string detail;              // stages, largest error, or what failed
    std::string configuration = {};  // in which it failed
    bool optimumAsked = false;       // whether an optimal plan was among those to be run
};

// Loads and analyses a model, runs it in each of the configurations, which are ordered by graph, and compares. What was
// prepared for the first graph also runs the others, as long as its guards hold there.
Outcome runCase(const Case& c, const std::vector<Configuration>& jobs);

}  // namespace hopscope::models
