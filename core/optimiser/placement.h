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

// The optimiser lists values in topological order. A value of type t in computeF@t or readF@t also exists on D. Such a
// value is listed in readD again only if it is in computeF@t and a consumer on D has to read it.
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
    std::vector<StagePlacement> stages;  // those that do anything, in ascending order
    Cost cost;
    double hostPeak = 0;  // see hostPeak() in evaluate.h
};

// Renumbers stages without gaps, from stage 0 if it is used and otherwise from stage 1. Returns the placement unchanged
// if pins of the instance name stages. Costs and peak do not change.
Placement withoutGaps(const Instance& instance, Placement placement);

// Returns the stored values, outputs included, in the order of their ids.
std::vector<NodeId> writtenSet(const Placement& placement);

// Returns, by node, the stage that writes it, or -1.
std::vector<int> writeStages(const Instance& instance, const Placement& placement);

// Returns, by node, the last stage that reads it, or -1.
std::vector<int> lastReads(const Instance& instance, const Placement& placement);

}  // namespace hopscope::optimiser
