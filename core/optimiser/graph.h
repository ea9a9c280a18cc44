#pragma once

// Private to the optimiser: an instance with the data that every algorithm needs: order, consumers, bounds by node, and
// the windows of stages in which a node can be useful.

#include <cstdint>
#include <vector>

#include "optimiser/bounds.h"
#include "optimiser/instance.h"

namespace hopscope::optimiser {

// An instance whose nodes and types are plain indices. Construction is linear, times the number of types. Keeps a
// reference to the instance.
struct Graph : Bounds {
    explicit Graph(const Instance& instance);

    const Instance& in;
    int count = 0, types = 1, last = 1, first = 0;  // stages first..last
    std::vector<int> order, position;               // topological, ties by index
    std::vector<std::vector<int>> consumers;        // each once, ascending by index
    std::vector<std::vector<int>> operands;         // src and loc, each once
    std::vector<std::uint8_t> frontier;             // an op that can be computed on frontier rows
    // The windows of stages, both ends included. If the earliest stage of a hop is after its latest, there is no legal
    // placement.
    std::vector<int> earliest;   // stage in which the node can be computed on D, if there is one (0: from `first` on)
    std::vector<int> earliestF;  // stage in which an op can be computed on frontier rows
    std::vector<int> latest;     // stage in which a hop can run
    std::vector<int> lastD;      // stage in which D rows can be useful, or never
    std::vector<int> lastF;      // the same for frontier rows, by node * types + type

    [[nodiscard]] const Node& node(int v) const { return in.nodes[static_cast<std::size_t>(v)]; }
    [[nodiscard]] bool isInput(int v) const { return node(v).kind == NodeKind::Input; }
    [[nodiscard]] bool isHop(int v) const { return node(v).kind == NodeKind::Hop; }
    [[nodiscard]] int type(int v) const { return node(v).type.index; }
    [[nodiscard]] int lastFrontier(int v, int t) const { return lastF[static_cast<std::size_t>(v) * types + t]; }
    [[nodiscard]] int lastUse(int v) const;  // on any rows
    [[nodiscard]] int
    firstRead(int v) const;  // earliest stage in which it can be read on D; on frontier rows from 1 on
    [[nodiscard]] double readF(int v, int t) const { return node(v).readF.empty() ? 0 : node(v).readF[t]; }
    [[nodiscard]] double computeF(int v, int t) const { return node(v).computeF.empty() ? 0 : node(v).computeF[t]; }
    [[nodiscard]] bool usesSrc(int v, int u) const;  // u is gathered by v
    [[nodiscard]] bool usesLoc(int v, int u) const;
    // True if the windows alone prove that there is no legal placement. They seldom can: false proves nothing.
    [[nodiscard]] bool impossible() const;

private:
    void connect();
    void sort();
    void findEarliest();
    void findLatest();
    void findUses();
    void useOf(int v, int consumer);
    [[nodiscard]] int firstOnFrontier(int u, int consumer) const;
};

}  // namespace hopscope::optimiser
