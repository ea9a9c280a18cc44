#pragma once

// Private to the optimiser: converts a placement to a Boolean table and back.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "optimiser/graph.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

// Numbers the cells (node, stage) and (node, type, stage) of a graph.
struct CellIndex {
    int count = 0, types = 1, stages = 1;  // stages 0..S: S + 1 of them
    explicit CellIndex(const Graph& g) : count(g.count), types(g.types), stages(g.last + 1) {}
    [[nodiscard]] std::size_t d(int v, int s) const { return static_cast<std::size_t>(v) * stages + s; }
    [[nodiscard]] std::size_t f(int v, int t, int s) const
    {
        return (static_cast<std::size_t>(v) * types + t) * stages + s;
    }
    [[nodiscard]] std::size_t sizeD() const { return static_cast<std::size_t>(count) * stages; }
    [[nodiscard]] std::size_t sizeF() const { return static_cast<std::size_t>(count) * types * stages; }
};

struct Cells {
    explicit Cells(const Graph& g)
        : at(g),
          computeD(at.sizeD(), 0),
          readD(at.sizeD(), 0),
          write(at.sizeD(), 0),
          computeF(at.sizeF(), 0),
          readF(at.sizeF(), 0)
    {}
    CellIndex at;
    std::vector<std::uint8_t> computeD, readD, write, computeF, readF;
};

// Returns the decisions of a placement as a table. Omits stages that the graph does not have, and nodes with image -1;
// an empty image stands for the identity.
Cells cellsOf(const Graph& g, const Placement& placement, const std::vector<int>& image = {});

// Returns the placement of `g` that takes its decisions from `cells`, the table of another graph. `image` maps the
// nodes of `g` to those of the other graph (-1: the node is computed wherever it is needed; empty: identity). Omits
// needless computations and writes that nothing reads. Sets cost and peak. Fails with Internal if a decision is
// missing.
base::Result<Placement> realise(const Graph& g, const Cells& cells, const std::vector<int>& image = {});

}  // namespace hopscope::optimiser
