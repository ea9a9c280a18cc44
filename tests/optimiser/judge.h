#pragma once

// A judge of placements that shares nothing with the optimiser but the plain data. It looks at one rule after the other
// instead of going through a stage as it would be run.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "optimiser/placement.h"

namespace hopscope::test {

using optimiser::Instance;
using optimiser::NodeId;
using optimiser::NodeKind;
using optimiser::Placement;
using optimiser::StagePlacement;
using optimiser::TypeId;

// Where values are in one stage, by where they come from. Rows: -1 is D, else the type of the batches.
struct Presence {
    std::set<std::pair<NodeId, int>> read, made;

    explicit Presence(const StagePlacement& s)
    {
        for (const NodeId v : s.readD) read.emplace(v, -1);
        for (const auto& c : s.readF) read.emplace(c.node, c.type.index);
        for (const NodeId v : s.hops) made.emplace(v, -1);
        for (const NodeId v : s.computeD) made.emplace(v, -1);
        for (const auto& c : s.computeF) made.emplace(c.node, c.type.index);
    }
    [[nodiscard]] bool has(NodeId v, int rows) const { return read.contains({v, rows}) || made.contains({v, rows}); }
    [[nodiscard]] bool onD(const Instance& in, NodeId v) const { return has(v, -1) || has(v, in.node(v).type.index); }
    [[nodiscard]] bool readOnD(const Instance& in, NodeId v) const
    {
        return read.contains({v, -1}) || read.contains({v, in.node(v).type.index});
    }
};

inline bool mustBeRead(const Instance& in, NodeId from, NodeId to)
{
    const bool pinned = std::ranges::any_of(in.pins, [&](const auto& p) {
        return p.kind == optimiser::PinKind::Cut && p.node == from && p.consumer == to;
    });
    return pinned || std::ranges::find(in.requiredReads, optimiser::Edge{from, to}) != in.requiredReads.end();
}

// The first operand that v lacks on these rows, or an empty text.
inline std::string lacks(const Instance& in, const Presence& there, NodeId v, int rows)
{
    const auto& node = in.node(v);
    for (const NodeId u : node.src) {
        const std::pair at{u, node.type.index};
        if (!there.has(u, at.second) || (mustBeRead(in, u, v) && !there.read.contains(at)))
            return node.name + " gathers " + in.node(u).name + " in vain";
    }
    for (const NodeId u : node.loc) {
        const bool present = rows < 0 ? there.onD(in, u) : there.has(u, rows);
        const bool wasRead = rows < 0 ? there.readOnD(in, u) : there.read.contains({u, rows});
        if (!present || (mustBeRead(in, u, v) && !wasRead)) return node.name + " lacks " + in.node(u).name;
    }
    return {};
}

inline std::string flawOfStage(const Instance& in, const StagePlacement& s, const std::map<NodeId, int>& writtenIn)
{
    const Presence there(s);
    if (s.stage < (in.allowStage0 ? 0 : 1) || s.stage > in.stages) return "no such stage";
    for (const auto& [v, rows] : there.read) {
        const bool stored = writtenIn.contains(v) && writtenIn.at(v) < s.stage;
        if (in.node(v).kind != NodeKind::Input && !stored) return in.node(v).name + " is read too early";
        if (rows >= 0 && (s.stage == 0 || in.node(v).rows == optimiser::RowKind::Edge)) return "no such rows";
    }
    for (const auto& [v, rows] : there.made) {
        if (there.read.contains({v, rows})) return in.node(v).name + " is read and computed";
        if (in.node(v).kind == NodeKind::Input) return in.node(v).name + " is an input";
        const bool edges =
            in.node(v).rows == optimiser::RowKind::Edge ||
            std::ranges::any_of(in.node(v).loc, [&](NodeId u) { return in.node(u).rows == optimiser::RowKind::Edge; });
        if (rows >= 0 && (in.node(v).kind == NodeKind::Hop || edges || s.stage == 0))
            return in.node(v).name + " cannot be computed on a frontier";
        if (std::string flaw = lacks(in, there, v, rows); !flaw.empty()) return flaw;
    }
    for (const NodeId v : s.hops)
        if (in.node(v).kind != NodeKind::Hop || s.stage == 0) return "a hop where none can be";
    for (const NodeId v : s.computeD)
        if (in.node(v).kind == NodeKind::Hop) return "a hop among the ops";
    for (const NodeId v : s.written)
        if (!there.made.contains({v, -1}) && !there.made.contains({v, in.node(v).type.index}))
            return in.node(v).name + " is written but not computed";
    return {};
}

inline std::map<NodeId, int> writes(const Placement& plan)
{
    std::map<NodeId, int> stages;
    for (const StagePlacement& s : plan.stages)
        for (const NodeId v : s.written) stages.emplace(v, s.stage);
    return stages;
}

// On the host in the fullest stage.
inline double peakOf(const Instance& in, const Placement& plan)
{
    const std::map<NodeId, int> written = writes(plan);
    double peak = 0;
    for (int stage = 0; stage <= in.stages; ++stage) {
        double here = 0;
        for (const auto& [v, from] : written) {
            bool stays = from == stage;
            if (from < stage && std::ranges::find(in.outputs, v) != in.outputs.end()) stays = true;
            for (const StagePlacement& s : plan.stages) {
                const Presence there(s);
                const auto reads = [&, node = v](const auto& r) { return r.first == node; };
                if (from < stage && s.stage >= stage && std::ranges::any_of(there.read, reads)) stays = true;
            }
            if (stays) here += in.node(v).size;
        }
        peak = std::max(peak, here);
    }
    return peak;
}

inline std::string flawOfWhole(const Instance& in, const Placement& plan)
{
    std::map<NodeId, int> timesMade, timesWritten;
    for (const StagePlacement& s : plan.stages) {
        for (const auto& made : Presence(s).made) ++timesMade[made.first];
        for (const NodeId v : s.written) ++timesWritten[v];
    }
    for (std::size_t i = 0; i < in.nodes.size(); ++i) {
        const NodeId v(i);
        const auto& node = in.nodes[i];
        const bool output = std::ranges::find(in.outputs, v) != in.outputs.end() && node.kind != NodeKind::Input;
        if (node.kind == NodeKind::Hop && timesMade[v] != 1) return node.name + " does not run once";
        if (timesWritten[v] > 1 || (output && timesWritten[v] == 0)) return node.name + " is not written once";
        if (node.noCheckpoint && !output && timesWritten[v] > 0) return node.name + " cannot be stored";
        if (node.noRecompute && timesMade[v] > 1) return node.name + " is recomputed";
    }
    for (const auto& pin : in.pins) {
        const bool written = timesWritten[pin.node] > 0;
        if (pin.kind == optimiser::PinKind::Checkpoint && !written) return "a pinned store is missing";
        if (pin.kind == optimiser::PinKind::NoCheckpoint && written) return "a forbidden store";
        if (pin.kind == optimiser::PinKind::NoRecompute && timesMade[pin.node] > 1) return "a forbidden recomputation";
        for (const StagePlacement& s : plan.stages)
            if (pin.kind == optimiser::PinKind::HopStage && s.stage != pin.stage &&
                std::ranges::find(s.hops, pin.node) != s.hops.end())
                return "a hop in another stage than pinned";
    }
    if (in.hostBudget && peakOf(in, plan) > *in.hostBudget * (1 + 1e-9) + 1e-9) return "the budget is exceeded";
    return {};
}

// Why the plan is not legal; empty if it is.
inline std::string flaw(const Instance& in, const Placement& plan)
{
    const std::map<NodeId, int> written = writes(plan);
    for (const StagePlacement& s : plan.stages)
        if (std::string found = flawOfStage(in, s, written); !found.empty())
            return "stage " + std::to_string(s.stage) + ": " + found;
    return flawOfWhole(in, plan);
}

inline double costOf(const Instance& in, const Placement& plan)
{
    double cost = 0;
    for (const StagePlacement& s : plan.stages) {
        std::set<int> relations;
        for (const NodeId v : s.hops) relations.insert(in.node(v).relation.index);
        for (const int r : relations)
            if (r >= 0) cost += in.relations[static_cast<std::size_t>(r)].structureCost;
        for (const NodeId v : s.hops) cost += in.node(v).computeD;
        for (const NodeId v : s.computeD) cost += in.node(v).computeD;
        for (const auto& c : s.computeF) cost += in.node(c.node).computeF.at(c.type.at());
        for (const NodeId v : s.readD) cost += in.node(v).readD;
        for (const auto& c : s.readF) cost += in.node(c.node).readF.at(c.type.at());
        for (const NodeId v : s.written) cost += in.node(v).write;
        if (!s.hops.empty() || !s.computeD.empty() || !s.computeF.empty()) cost += in.stageCost;
    }
    return cost;
}

}  // namespace hopscope::test
