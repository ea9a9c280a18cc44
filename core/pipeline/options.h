#pragma once

// The options of the pipeline as plain data, independent of their origin (command line, request, test).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.h"

namespace hopscope::executor {
class Dealer;
}

namespace hopscope::pipeline {

struct ModelOptions {
    std::string model;
    std::vector<std::string> data, roles;
    bool reassociate = false;  // multiplies by weights before aggregations (analysis/analyse.h)
    bool trusted = false;      // runs the model's code even if the user has not agreed to it (pipeline/opening/trust.h)
};

// The options of one of several processes that compute a run together, in a folder to which all have access.
struct ShardOptions {
    int index = 1, count = 1;                       // from 1; with a dealer both are 0: any number of processes
    std::optional<double> patience = std::nullopt;  // the most seconds of each wait for others; none: no limit
    executor::Dealer* dealer = nullptr;             // assigns the work of this process; must outlive the run
};

struct PlanSource {
    std::string file;       // empty: a new plan is made from the settings
    std::string pins = {};  // a file; empty: none
};

}  // namespace hopscope::pipeline
