#pragma once

// From a few decisions to a whole placement.

#include <optional>
#include <vector>

#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

struct Decisions {
    std::vector<NodeId> stored;   // candidates: what no later stage reads is not written after all (outputs always are)
    std::vector<int> hopStage;    // by node; ignored for nodes other than hops. Empty: the earliest stages
    std::vector<int> writeStage;  // by node, -1: the earliest possible. Empty: all -1
};

// Demand-driven from the last stage to the first: what is needed on some rows is read where it is stored earlier, or
// computed, whichever is estimated to be cheaper. The result is legal (pins and required reads included, the host budget
// not) and cheap, not the cheapest: with one class of rows and no sharing it is the cheapest for these stores. Fails with
// Unsupported, naming the value that is needed but neither stored nor computable. About linear in what is computed.
base::Result<Placement> complete(const Instance& instance, const Decisions& decisions);

}  // namespace hopscope::optimiser
