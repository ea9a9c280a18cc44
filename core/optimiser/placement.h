#pragma once

// An answer to an Instance: the values that each stage computes, reads and writes, and the cost. Plain data.

#include <string>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// A value on the frontier rows of the batches whose destinations have this type.
struct OnFrontier {
    NodeId node;
    TypeId type;
    auto operator<=>(const OnFrontier&) const = default;
};

// All lists are in topological order. A value of type t in computeF@t or readF@t also exists on D, and is not listed in
// computeD or readD again.
struct StagePlacement {
    int stage = 0;
    std::vector<NodeId> hops;
    std::vector<NodeId> computeD;      // ops
    std::vector<OnFrontier> computeF;  // ops
    std::vector<NodeId> readD;
    std::vector<OnFrontier> readF;
    std::vector<NodeId> written;
    bool operator==(const StagePlacement&) const = default;
};

struct Cost {
    double write = 0, read = 0, compute = 0, structure = 0, stage = 0;
    [[nodiscard]] double total() const { return write + read + compute + structure + stage; }
};

struct Placement {
    std::vector<StagePlacement> stages;  // those in which anything happens, ascending
    Cost cost;
    double hostPeak = 0;  // see hostPeak()
};

// The same in stages without gaps, from stage 1 on, or from stage 0 if it is used; unchanged if pins of the instance
// name stages. Costs and peak do not change.
Placement withoutGaps(const Instance& instance, Placement placement);

// The stored values, outputs included, by id.
std::vector<NodeId> writtenSet(const Placement& placement);

// The stage that writes each node, or -1. By node.
std::vector<int> writeStages(const Instance& instance, const Placement& placement);

// The stage that reads each node last, or -1. By node.
std::vector<int> lastReads(const Instance& instance, const Placement& placement);

}  // namespace hopscope::optimiser
