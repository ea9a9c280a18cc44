#pragma once

// Options of the pipeline as plain data, independent of where they come from (command line, request, test).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fuse.h"
#include "base/reorder.h"
#include "base/store_type.h"
#include "placement/cost_model.h"

namespace hopscope::executor {
class Dealer;
}

namespace hopscope::pipeline {

struct ModelOptions {
    std::string model;
    std::vector<std::string> data, roles;
    bool reassociate = false;  // products before aggregations (analysis/analyse.h)
    bool trusted = false;      // its code may be run, whether or not the user has agreed before (pipeline/trust.h)
};

struct DeviceOptions {
    std::string device = "auto";
    std::optional<std::int64_t> memory;                     // bytes on the executing device
    std::optional<std::int64_t> batch;                      // none: auto
    std::optional<std::int64_t> hostMemory = std::nullopt;  // bytes of stores; none: stores stay until the end
    int threads = 0;                                        // cores of the CPU; 0: all
    std::vector<base::Fuse> fuse = base::allFuse();         // patterns that a CPU computes in one pass over the edges
    base::Reorder reorder = base::Reorder::Auto;            // in which order a CPU computes nodes
    base::StoreType store = base::StoreType::Exact;         // of checkpoints
    std::string cache = {};  // a folder for what later runs with the same edges need not make again; empty: none
};

// One of several processes that compute a run together, in a folder that all of them see.
struct ShardOptions {
    int index = 1, count = 1;                       // from 1; with a dealer both are 0: any number of processes
    std::optional<double> patience = std::nullopt;  // seconds to wait for others at one point; none: without end
    executor::Dealer* dealer = nullptr;             // says what this process is to compute; must outlive the run
};

struct PlanSource {  // a file, or made by a strategy
    std::string file;
    base::Strategy strategy = base::Strategy::Optimal;
    base::Objective objective = base::Objective::Time;
    std::string pins = {};                          // a file; empty: none
    std::optional<int> stages = std::nullopt;       // at most
    std::optional<double> deadline = std::nullopt;  // seconds
};

}  // namespace hopscope::pipeline
