#pragma once

// Options of the pipeline as plain data, independent of where they come from (command line, request, test).

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
    bool reassociate = false;  // as in the settings: products before aggregations (analysis/analyse.h)
    bool trusted = false;      // its code may be run, whether or not the user has agreed before (pipeline/trust.h)
};

// One of several processes that compute a run together, in a folder that all of them see.
struct ShardOptions {
    int index = 1, count = 1;                       // from 1; with a dealer both are 0: any number of processes
    std::optional<double> patience = std::nullopt;  // seconds to wait for others at one point; none: without end
    executor::Dealer* dealer = nullptr;             // assigns the work of this process; must outlive the run
};

struct PlanSource {
    std::string file;       // empty: a new plan is made from the settings
    std::string pins = {};  // a file; empty: none
};

}  // namespace hopscope::pipeline
