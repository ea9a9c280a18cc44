#include "optimiser/placement.h"

#include <algorithm>

namespace hopscope::optimiser {

Placement withoutGaps(const Instance& instance, Placement placement)
{
    const auto counted = [](const Pin& pin) { return pin.stage > 0; };
    if (placement.stages.empty() || std::ranges::any_of(instance.pins, counted)) return placement;
    int next = std::min(placement.stages.front().stage, 1);
    for (StagePlacement& s : placement.stages) s.stage = next++;
    return placement;
}

std::vector<NodeId> writtenSet(const Placement& placement)
{
    std::vector<NodeId> all;
    for (const StagePlacement& s : placement.stages) all.insert(all.end(), s.written.begin(), s.written.end());
    std::ranges::sort(all);
    return all;
}

std::vector<int> writeStages(const Instance& instance, const Placement& placement)
{
    std::vector<int> stages(instance.nodes.size(), -1);
    for (const StagePlacement& s : placement.stages)
        for (const NodeId v : s.written) stages[v.at()] = s.stage;
    return stages;
}

std::vector<int> lastReads(const Instance& instance, const Placement& placement)
{
    std::vector<int> last(instance.nodes.size(), -1);
    for (const StagePlacement& s : placement.stages) {
        for (const NodeId v : s.readD) last[v.at()] = s.stage;
        for (const OnFrontier& c : s.readF) last[c.node.at()] = s.stage;
    }
    return last;
}

}  // namespace hopscope::optimiser
